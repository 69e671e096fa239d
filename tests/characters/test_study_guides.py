"""Study-guide pages in each site's structure, with the traps met there; every page in three wrappings."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("bs4")

from bookcoref_data.characters.guides import parse_page
from bookcoref_data.errors import MissingExtraError

PREFIX = "/web/20201219000000/"
TOOLBAR = """<!-- BEGIN WAYBACK TOOLBAR INSERT -->
<div id="wm-ipp-base"><h1>Internet Archive</h1><h2>Toolbar</h2><h3>12 captures</h3><p>19 Dec 2020</p>
<ul><li><a href="/web/2020*/https://www.example.com/characters/x">All</a></li></ul></div>
<!-- END WAYBACK TOOLBAR INSERT -->"""
HOSTS = {
    "sparknotes": "https://www.sparknotes.com/lit/lamproad/characters/",
    "shmoop": "https://www.shmoop.com/study-guides/literature/lamp-road/characters",
    "cliffsnotes": "https://www.cliffsnotes.com/literature/l/the-lamp-road/character-list",
    "litcharts": "https://www.litcharts.com/lit/the-lamp-road/characters",
    "gradesaver": "https://www.gradesaver.com/the-lamp-road/study-guide/character-list",
}


def bare(html, host):
    return f"<html><head><title>x</title></head><body>{html}</body></html>"


def prefixed(html, host):
    return bare(re.sub(r'href="(/[^"]*)"', rf'href="{PREFIX}{host}\1"', html), host)


def with_toolbar(html, host):
    return prefixed(TOOLBAR + html, host)


@pytest.fixture(params=[bare, prefixed, with_toolbar])
def read(request):
    """read(site, html) -> page, in one of the three wrappings."""

    def read(site, html, address=None):
        host = HOSTS[site].split("/", 3)
        return parse_page(site, request.param(html, "/".join(host[:3])), address or HOSTS[site])

    return read


def texts(page):
    return {entry.name: entry.text for entry in page.entries}


# --- SparkNotes -----------------------------------------------------------------------------------------

SPARK_HEAD = '<h1 class="TitleHeader_title">The&nbsp;Lamp  Road</h1>'
SPARK_ITEMS = (
    SPARK_HEAD
    + """<div class="TitleHeader_authorName">Mira
 Holt</div>
<div class="layout-wrapper-2018__column mainTextContent main-container">
<ul class="mainTextContent__list-content">
 <li class="mainTextContent__list-content__item" id="ada-brook">
  <h3 class="mainTextContent__list-content__item__heading"> Ada Brook </h3>
  <p>A baker who reads <i>Old Songs</i> to
her son. Read an <a href="/lit/lamproad/character/ada-brook/">in-depth analysis of Ada Brook.</a></p></li>
 <li class="mainTextContent__list-content__item other"><h3><em>Doctor</em> Vane (“Doc”)</h3><p>A healer.</p>
  <p>He drinks.</p></li>
 <li class="mainTextContent__list-content__item"><h3>Empty Tom</h3></li>
</ul></div>"""
)
SPARK_RUN = (
    SPARK_HEAD
    + """<a class="TitleHeader_authorLink" href="/author/mira-holt">Mira Holt</a>
<div class="mainTextContent main-container extra"><h2>Character List</h2>
 <h3 id="ada-brook">Ada Brook</h3><p>A baker.</p>
 <p>Read an <a href="/lit/lamproad/character/ada-brook/">in-depth analysis of Ada Brook.</a></p>
 <h3>Empty Tom</h3><h3>Sam Reed</h3><p>A sailor &amp; liar.</p></div>"""
)


def test_sparknotes_list_items(read):
    page = read("sparknotes", SPARK_ITEMS)
    assert (page.title, page.author) == ("The Lamp Road", "Mira Holt")
    assert texts(page) == {
        "Ada Brook": "A baker who reads Old Songs to her son.",
        "Doctor Vane (“Doc”)": "A healer.\n\nHe drinks.",
        "Empty Tom": None,
    }
    assert page.entries[0].link.endswith("/lit/lamproad/character/ada-brook/")


def test_sparknotes_headings_never_take_a_neighbours_text(read):
    page = read("sparknotes", SPARK_RUN)
    assert page.author == "Mira Holt"
    assert texts(page) == {"Ada Brook": "A baker.", "Empty Tom": None, "Sam Reed": "A sailor & liar."}
    links = [entry.link for entry in page.entries]
    assert links[0].endswith("/lit/lamproad/character/ada-brook/")
    assert not any(links[1:])


def test_sparknotes_old_blocks(read):
    page = read(
        "sparknotes",
        SPARK_HEAD
        + """<div class="subnav__writtenby">by <a href="/a">Mira Holt</a></div>
      <div class="content_txt" id="ada"><b>Ada Brook</b> <p><b>Ada Brook</b> - A baker.</p></div>
      <div class="content_txt" id="tom"><h4>Tom</h4></div>""",
    )
    assert texts(page) == {"Ada Brook": "A baker.", "Tom": None}
    assert page.author == "Mira Holt"


def test_sparknotes_in_depth_page_names_one_person(read):
    page = read(
        "sparknotes",
        SPARK_HEAD
        + """<span class="interior-sticky-nav__title__section">Ada Brook</span>
      <div class="mainTextContent main-container"><h3>Ada Brook</h3><p>Ada trusts nobody.</p>
      <blockquote><p>“I bake.”</p></blockquote><p>She changes.</p></div>""",
    )
    assert page.kind == "person"
    assert texts(page) == {"Ada Brook": "Ada trusts nobody.\n\n“I bake.”\n\nShe changes."}


def test_sparknotes_summary_page_gives_title_and_author(read):
    page = read(
        "sparknotes",
        SPARK_HEAD
        + """<div class="TitleHeader_authorName"> Mira
      Holt </div><div id="plotoverview" class="studyGuideText"><h2>Summary</h2><p>Ada leaves.</p></div>""",
    )
    assert (page.kind, page.title, page.author, page.problem) == ("summary", "The Lamp Road", "Mira Holt", "")


def test_sparknotes_further_pages_of_a_list_are_reported(read):
    page = read(
        "sparknotes",
        SPARK_RUN
        + """<div class="pagination-links">
      <a href="/lit/lamproad/characters/">1</a><a href="/lit/lamproad/characters/page/2/">2</a>
      <a href="/lit/lamproad/section1/page/2/">x</a></div>""",
    )
    assert [link[-len("/lit/lamproad/characters/page/2/"):] for link in page.more] == [
        "/lit/lamproad/characters/page/2/"
    ]  # fmt: skip


@pytest.mark.parametrize("words", ["Something bad happened. Sorry.", "read ECONNRESET"])
def test_sparknotes_soft_errors_are_no_pages(read, words):
    assert read("sparknotes", f'<h1 class="TitleHeader_title">{words}</h1>').problem == "soft error"


# --- Shmoop ---------------------------------------------------------------------------------------------

SHMOOP_HEAD = """<ul class="items"><li><a>Home</a></li><li><a>Study Guides</a></li><li><a>Literature</a></li>
 <li><a href="/study-guides/literature/lamp-road">The Lamp Road</a></li></ul>
<span class="author-name"><a>Mira Holt</a></span>"""
SHMOOP_PERSON = """<div class="content-wrapper"><div class="sidebar">ad</div>
 <div data-appearance="default" data-class="SHCharacter" data-content-type="text" data-element="main">
  <h2 class="title">Ada Brook</h2>{before}
  <h3>Bread <em>and</em> Brains</h3>
  <p>Ada is <span class="wtf">sharp</span>, really.<br/>And kind.</p>
  <blockquote><p><em>I bake.</em> (1.2)</p></blockquote>
  <div style="text-align: center"><img src="x.png"/>
   <p>(Click the <a href="/c.html">character infographic</a> to download.)</p></div>
  <h3>Later On</h3><p>She meets <a href="/study-guides/literature/lamp-road/sam-reed">Sam</a>.</p>
  <div class="shmoop-video" data-url="lamp"> </div>
 </div></div>"""


@pytest.mark.parametrize("headings", ["", "<nav><h3>Guide</h3></nav>", "<h3>One</h3><h3>Two</h3>"])
def test_shmoop_person_page_that_opens_with_a_sub_heading(read, headings):
    page = read("shmoop", SHMOOP_HEAD + headings + SHMOOP_PERSON.format(before=""))
    assert (page.kind, page.title, page.author) == ("person", "The Lamp Road", "Mira Holt")
    assert texts(page) == {"Ada Brook": "Ada is sharp, really. And kind.\n\nI bake. (1.2)"}


def test_shmoop_description_is_what_stands_before_the_first_sub_heading(read):
    page = read("shmoop", SHMOOP_HEAD + SHMOOP_PERSON.format(before="<p>First.</p><p>Second.</p>"))
    assert texts(page) == {"Ada Brook": "First.\n\nSecond."}


@pytest.mark.parametrize("headings", ["", "<nav><h3>Guide</h3></nav>", "<h3>One</h3><h3>Two</h3>"])
def test_shmoop_minor_persons_keep_their_own_text(read, headings):
    page = read(
        "shmoop",
        SHMOOP_HEAD
        + headings
        + """<div class="content-wrapper">
     <div data-appearance="default" data-content-type="text" data-element="main">
      <h2 class="title">Minor Characters</h2>
      <h3>Old Tam </h3><p>Ferryman.</p><p>Deaf.</p><h3>Bib &amp; Bob</h3><p>Twins.</p><h3>Nobody</h3>
     </div></div>""",
    )
    assert page.kind == "minor"
    assert texts(page) == {"Old Tam": "Ferryman.\n\nDeaf.", "Bib & Bob": "Twins.", "Nobody": None}
    assert all(entry.minor for entry in page.entries)


def test_shmoop_list_and_title_from_meta_tags(read):
    page = read(
        "shmoop",
        """<meta name="title" content="Old Tam in The Inn in Lampton | Shmoop"/>
     <meta name="description" content="A study of Old Tam from The Inn in Lampton by Mira Holt."/>
     <div class="content-wrapper"><div>ad</div>
     <div data-content-type="text" data-element="main"><h2 class="title">Characters</h2>
      <h3><a href="/study-guides/literature/inn/ada-brook">Ada Brook</a></h3><p>Teaser.</p>
      <h3><a href="/study-guides/literature/inn/minor-characters">Minor Characters</a></h3></div></div>""",
    )
    assert page.title == "The Inn in Lampton"
    assert [entry.name for entry in page.entries] == ["Ada Brook"]
    assert page.entries[0].link.endswith("/inn/ada-brook")


def test_shmoop_menu_when_there_is_no_main_block(read):
    page = read(
        "shmoop",
        SHMOOP_HEAD
        + """<a href="/study-guides/literature/lamp-road/characters">Characters</a>
     <ul><li><a href="/study-guides/literature/lamp-road/ada-brook">Ada Brook</a></li>
     <li><a href="/study-guides/literature/lamp-road/minor-characters">Minor Characters</a></li></ul>""",
    )
    assert [entry.name for entry in page.entries] == ["Ada Brook"]


# --- CliffsNotes ----------------------------------------------------------------------------------------

CLIFFS_HEAD = (
    '<div class="title-wrapper"><h1>The Lamp Road</h1><h2 id="phsubheader_0_spAuthor">Mira Holt</h2></div>'
)
CLIFFS_BOLD = (
    CLIFFS_HEAD
    + """<article class="copy two"><h2>Character List</h2>
 <p class="litNoteText">People of the book.</p>
 <p class="litNoteText"><b>Ada Brook:</b> A baker. Ada is <b>not</b> kind.</p>
 <p class="litNoteText"><strong>Tom (T.) Reed</strong>, a <i>sailor</i> of note. Tom (T.) Reed drinks.</p>
 <p class="litNoteText">He came <b>late</b>.</p>
 <p class="litNoteText"><strong> </strong></p>
 <p class="litNoteText"><i><b>Zed [</b></i>: odd.</p>
 <p class="litNoteText">Continued on next page...</p></article>
<a class="nav-bttn-filled" href="/literature/l/the-lamp-road/character-list-2">
<span>Character List</span></a>"""
)


def test_cliffsnotes_bold_names(read):
    page = read("cliffsnotes", CLIFFS_BOLD)
    assert (page.title, page.author) == ("The Lamp Road", "Mira Holt")
    assert texts(page) == {
        "Ada Brook": "A baker. Ada is not kind.",
        "Tom (T.) Reed": "a sailor of note. Tom (T.) Reed drinks.\n\nHe came late.",
        "Zed [": "odd.",
    }
    assert len(page.more) == 1
    assert page.more[0].endswith("/the-lamp-road/character-list-2")


def test_cliffsnotes_names_as_headings(read):
    page = read(
        "cliffsnotes",
        """<div class="title-wrapper"><h1>The Lamp Road</h1></div><article class="copy">
     <p class="litNoteTextHeading">Major Characters</p><p class="litNoteTextHeading">Ada Brook*</p>
     <p class="litNoteText">A baker.</p><p class="litNoteText"><b>Note</b> She changes.</p>
     <p class="litNoteTextHeading">Minor Characters</p><p class="litNoteTextHeading">Old Tam</p>
     <p class="litNoteText">Ferryman.</p></article>""",
    )
    assert page.author == ""
    assert texts(page) == {"Ada Brook": "A baker.\n\nNote She changes.", "Old Tam": "Ferryman."}
    assert [entry.minor for entry in page.entries] == [False, True]


def test_cliffsnotes_group_headings_with_bold_names(read):
    page = read(
        "cliffsnotes",
        CLIFFS_HEAD
        + """<article class="copy"><h2><b>Character List</b></h2><h2>Major Characters</h2>
     <p><strong>Ada Brook</strong> A baker.</p><h2>Minor Characters</h2><p>They come and go.</p>
     <p><strong>Old Tam</strong>: Ferryman.</p></article>""",
    )
    assert texts(page) == {"Ada Brook": "A baker.", "Old Tam": "Ferryman."}
    assert [entry.minor for entry in page.entries] == [False, True]


def test_cliffsnotes_analysis_page(read):
    page = read(
        "cliffsnotes",
        CLIFFS_HEAD
        + """<article class="copy"><h2>Character Analysis Ada Brook</h2>
     <p class="litNoteText">Ada trusts nobody.</p><p>Unclassed.</p></article>""",
    )
    assert (page.kind, page.author) == ("person", "Mira Holt")
    assert texts(page) == {"Ada Brook": "Ada trusts nobody.\n\nUnclassed."}


# --- LitCharts ------------------------------------------------------------------------------------------

LIT_HEAD = """<h2 class="book-title">The Lamp Road</h2>
<span class="book-author"><span>by </span><h3 class="inline">Mira Holt</h3></span>"""
LIT_MENU = """<nav>
 <a class="subcomponent tappable current" href="/lit/the-lamp-road/characters">All Characters </a>
 <a class="subcomponent tappable" href="/lit/the-lamp-road/characters/ada-brook">Ada Brook</a>
 <a class="subcomponent tappable" href="/lit/the-lamp-road/themes/bread">Bread</a></nav>"""
LIT_LIST = (
    LIT_HEAD
    + LIT_MENU
    + """<div class="character index-list-item"><h2>Ada Brook</h2>
 <p>A baker… <a href="/lit/the-lamp-road/characters/ada-brook">read analysis of Ada Brook</a></p></div>
<div class="character index-list-item"><h2>Sam Reed</h2>
 <p>A sailor… <a href="/lit/the-lamp-road/characters/sam-reed">read analysis of Sam Reed</a></p></div>
<h2>Minor Characters</h2>
<div class="character readable"><div class="icon"> </div><div class="name">Old Tam</div>
 <div class="no-inline-characters no-inline-symbols no-inline-terms">
 <p>A ferryman, <em>deaf</em>.</p></div></div>
<div class="character readable"><div class="name">Nobody</div></div>"""
)


def test_litcharts_list_has_major_and_minor_persons_and_the_author_is_not_the_title(read):
    page = read("litcharts", LIT_LIST)
    assert (page.title, page.author) == ("The Lamp Road", "Mira Holt")
    assert texts(page) == {"Ada Brook": "A baker…", "Sam Reed": "A sailor…", "Old Tam": "A ferryman, deaf.",
                           "Nobody": None}  # fmt: skip
    assert [entry.minor for entry in page.entries] == [False, False, True, True]


def test_litcharts_every_major_person_has_the_own_link(read):
    links = [entry.link.rsplit("/", 1)[-1] for entry in read("litcharts", LIT_LIST).entries if entry.link]
    assert links == ["ada-brook", "sam-reed"]


def test_litcharts_menu_alone_gives_the_persons_and_stops_at_other_entries(read):
    assert [entry.name for entry in read("litcharts", LIT_HEAD + LIT_MENU).entries] == ["Ada Brook"]


def test_litcharts_person_page(read):
    page = read(
        "litcharts",
        LIT_HEAD
        + """<span class="component-title">Ada Brook</span>
     <div class="readable highlightable-content"><p>Ada <em>bakes</em>.</p><p>She changes.</p></div>""",
    )
    assert page.kind == "person"
    assert texts(page) == {"Ada Brook": "Ada bakes.\n\nShe changes."}


# --- GradeSaver -----------------------------------------------------------------------------------------


def test_gradesaver_sections_and_headings(read):
    page = read(
        "gradesaver",
        """<h1>The Lamp Road</h1><div itemprop="author"><a href="/author/mira-holt">Mira Holt</a>
     </div><ul class="navSection__list js--collapsible">
     <li><a class="navSection__link" href="/the-lamp-road/study-guide/summary">
      The Lamp Road Summary</a></li></ul>
     <article class="section__article" role="article"><h2>The Lamp Road Character List</h2>
     <section class="linkTarget" id="ada"><h2 class="toc_header">Ada Brook:</h2><div>ad</div>
      <p>A baker.</p><p>She changes.</p></section>
     <section class="linkTarget x"><h2 class="toc_header">Empty Tom</h2></section>
     <h2 class="toc_header">Sam: the Sailor</h2><p>A liar.</p></article>""",
    )
    assert (page.title, page.author) == ("The Lamp Road", "Mira Holt")
    assert texts(page) == {
        "Ada Brook": "A baker.\n\nShe changes.",
        "Empty Tom": None,
        "Sam: the Sailor": "A liar.",
    }


# --- every site -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("site", HOSTS)
def test_an_unknown_layout_is_a_problem_not_an_empty_book(read, site):
    page = read(site, "<h1>Welcome</h1><div class='new-layout-2026'><p>Ada Brook: a baker</p></div>")
    assert page.problem == "unknown layout"
    assert page.entries == ()


@pytest.mark.parametrize(("site", "html"), [
    ("cliffsnotes", CLIFFS_HEAD + '<article class="copy"><h2>List</h2><p>Nobody yet.</p></article>'),
    ("gradesaver", '<h1>T</h1><article class="section__article" role="article"><p>None.</p></article>'),
    ("litcharts", LIT_HEAD),
    ("shmoop", SHMOOP_HEAD + '<div data-element="main"><h2 class="title">Characters</h2></div>'),
    ("sparknotes", SPARK_HEAD + '<ul><li class="mainTextContent__list-content__item"><h3> </h3></li></ul>'),
])  # fmt: skip
def test_a_list_without_anybody_is_a_problem(read, site, html):
    assert read(site, html).problem == "empty"


LATER = {
    "offers": [("Sign up to continue", "Sign up for your free account to read on."),
               ("Start Your Free Trial", "Unlimited access to 30,000 guides."),
               ("The Lamp Road", "Log in to save your progress.")],
    "sections": [("Analysis", "The road stands for time."), ("Themes", "Light and water."),
                 ("Ada Brook", "A baker.")],
    "quiz": [("Take the quiz", "Test what you know."), ("What does Ada find?", "A lamp. A key."),
             ("How does the ferry sink?", "Multiple choice.")],
    "steps": [("How to write about it", "First choose a side."),
              ("Ways to read the ending", "There are three."),
              ("Ten facts about the author", "She was born by a river.")],
}  # fmt: skip
LISTS = {
    "sparknotes": "<h1 class='TitleHeader_title'>T</h1>"
                  "<ul>{}</ul>|<li class='mainTextContent__list-content__item'><h3>{}</h3><p>{}</p></li>",
    "shmoop": "<div data-element='main'><h2 class='title'>Minor Characters</h2>{}</div>|<h3>{}</h3><p>{}</p>",
    "cliffsnotes": "<article class='copy'><h2>Character List</h2>{}</article>|<p><b>{}</b> {}</p>",
    "litcharts": "<h2 class='book-title'>T</h2>{}|<div class='character readable'><div class='name'>{}</div>"
                 "<div class='no-inline-characters'>{}</div></div>",
    "gradesaver": "<article role='article'>{}</article>|"
                  "<section class='linkTarget'><h2>{}</h2><p>{}</p></section>",
}  # fmt: skip


def listed(site, entries):
    page, entry = LISTS[site].split("|")
    return page.format("".join(entry.format(*pair) for pair in entries))


@pytest.mark.parametrize("site", LISTS)
@pytest.mark.parametrize("later", LATER)
def test_what_later_pages_carry_in_the_same_elements_is_no_cast(read, site, later):
    page = read(site, listed(site, LATER[later]))
    assert (page.entries, page.problem) == ((), "unknown layout")


@pytest.mark.parametrize("site", LISTS)
def test_odd_names_among_people_stay(read, site):
    people = [("Ada Brook", "A baker."), ("The man with the yellow hat", "A stranger."), ("Benjamin", ""),
              ("Mr. and Mrs. Holt", "Her parents."), ("narrator", "He tells it all.")]  # fmt: skip
    page = read(site, listed(site, people))
    assert page.problem == ""
    assert [entry.name for entry in page.entries] == [name for name, _ in people]


@pytest.mark.parametrize("name", [
    "Edward Hyde:", "Roxane (Madeleine Robin)*", "Monsieur G—", "Jr.", "O’Brien", "Ada\u00a0 Brook",
    "<em>Ada</em> Brook",
])  # fmt: skip
def test_names_come_as_they_stand_on_the_page(read, name):
    page = read("sparknotes", f'<li class="mainTextContent__list-content__item"><h3>{name}</h3></li>')
    plain = " ".join(re.sub(r"<.*?>", "", name).split())
    assert [entry.name for entry in page.entries] == [plain]


def test_without_the_parser_the_error_has_the_install_line(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "bs4", None)
    with pytest.raises(MissingExtraError, match=r"bookcoref-data\[harvest\]"):
        parse_page("sparknotes", "<p>", HOSTS["sparknotes"])
