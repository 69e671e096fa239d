"""Texts of study guides: kept pages to a folder, LiSCU's masked task, references for annotated books."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

pytest.importorskip("bs4")

from bookcoref_data.books import Book
from bookcoref_data.characters.guides import parse_page
from bookcoref_data.characters.guides.addresses import GuidePlace, site_of
from bookcoref_data.characters.guides.page import GuideEntry, GuidePage
from bookcoref_data.cli.app import make_app
from bookcoref_data.errors import FormatError, SourceError, UsageError
from bookcoref_data.formats import write_documents
from bookcoref_data.sources.http import HttpResponse
from bookcoref_data.sources.wayback import FetchedPage, PageStore, parse_address
from bookcoref_data.tasks.folder import read_rows
from bookcoref_data.tasks.guides.identification import option_in, questions_of
from bookcoref_data.tasks.guides.texts import GuideText, mask_name, references_for, split_by_title
from bookcoref_data.workflows.guide_texts import guides_plan, texts_of
from bookcoref_data.workflows.harvest import Guide

W = "https://web.archive.org/web/20230330202918/"
SPARK = "https://www.sparknotes.com/lit/lamproad/"
SHMOOP = "https://www.shmoop.com/study-guides/literature/inn"
CLIFFS = "https://www.cliffsnotes.com/literature/l/the-lamp-road/"
LIT = "https://www.litcharts.com/lit/the-lamp-road"
LONG = " ".join(["word"] * 40)
ESSAY = " ".join(["thought"] * 210)
SPARK_HEAD = (
    '<h1 class="TitleHeader_title">The Lamp Road</h1><div class="TitleHeader_authorName">Mira Holt</div>'
)
SHMOOP_HEAD = """<ul class="items"><li><a>1</a></li><li><a>2</a></li><li><a>3</a></li>
<li><a>The Inn</a></li></ul><span class="author-name"><a>Mira Holt</a></span>"""
CLIFFS_HEAD = '<div class="title-wrapper"><h1>The Lamp Road</h1><h2>Mira Holt</h2></div>'
LIT_HEAD = '<h2 class="book-title">The Lamp Road</h2>'
ITEM = '<li class="mainTextContent__list-content__item"><h3>{}</h3><p>{}</p></li>'
PAGES = {
    SPARK + "characters/": SPARK_HEAD + "<ul>"
    + ITEM.format("Ada Brook", f"Ada Brook bakes. {LONG} Read an "
                  "<a href='/lit/lamproad/character/ada-brook/'>in-depth analysis of Ada Brook.</a>")
    + ITEM.format("Sam Reed", f"Sam Reed sails with Ada. {LONG}") + ITEM.format("Old Tam", "Deaf.") + "</ul>",
    SPARK + "character/ada-brook/": SPARK_HEAD
    + f"""<span class="interior-sticky-nav__title__section">Ada Brook</span>
    <div class="mainTextContent main-container"><h3>Ada Brook</h3><p>{ESSAY}</p><p>She changes.</p></div>""",
    SPARK + "summary/": SPARK_HEAD
    + """<div id="plotoverview"><h2>Full Book Summary</h2><p>Ada leaves <em>Lampton</em> at night.</p>
    <p>Sam Reed sails away. Sam returns.</p></div>""",
    SHMOOP + "/characters": SHMOOP_HEAD + """<div data-element="main"><h2 class="title">Characters</h2>
    <h3><a href="/study-guides/literature/inn/tom">Tom</a></h3></div>""",
    SHMOOP + "/tom": SHMOOP_HEAD
    + f'<div data-element="main"><h2 class="title">Tom</h2><p>He waits.</p><h3>More</h3><p>{ESSAY}</p></div>',
}  # fmt: skip


class Shelf:
    """Stands for the network while pages are put on the shelf: what is not in `PAGES` was never captured."""

    offline = False

    def get(self, url, allow=()):
        page = PAGES.get(parse_address(url).original)
        return HttpResponse(url, 200 if page else 404, {}, (page or "none").encode())


def table(path, header, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join("\t".join(row) for row in [header, *rows]) + "\n", encoding="utf-8")


@pytest.fixture(scope="module")
def shelf(tmp_path_factory):
    """Kept pages, and the tables of a small BookWorm: book 7 has two tasks, book 8 analyses only."""
    root = tmp_path_factory.mktemp("guides")
    store = PageStore(root / "pages", Shelf())
    for original in [*PAGES, SHMOOP + "/minor-characters", SHMOOP + "/summary"]:
        store.get(W + original)
    lamp, inn = ("7", "The Lamp Road", "Mira Holt"), ("8", "The Inn", "Mira Holt")
    table(root / "bw/books.tsv", ("Id", "Title", "Author"), [lamp, inn])
    header = ("BookId", "Title", "Author", "Url")
    table(root / "bw/description_data.tsv", header, [(*lamp, W + SPARK)])
    table(root / "bw/analysis_data.tsv", header, [(*lamp, W + SPARK), (*inn, W + SHMOOP)])
    for task, rows in (("description", [lamp]), ("analysis", [lamp, inn])):
        for split in ("train", "val", "test"):
            chosen = {"test": rows[:1], "val": rows[1:], "train": []}[split]
            table(root / f"bw/splits/{task}/{split}.tsv", header[:3], chosen)
    return root


def run(*words):
    return CliRunner().invoke(make_app(), ["contexts", *map(str, words)])


@pytest.fixture(scope="module")
def collected(shelf):
    """The folder that `contexts collect` writes, and its report."""
    words = (
        "collect",
        shelf / "bw",
        "--out",
        shelf / "out",
        "--archive",
        shelf / "pages",
        "--offline",
        "--json",
    )
    result = run(*words)
    assert result.exit_code == 1, result.output  # a page is missing: the minor characters of The Inn
    return shelf / "out", json.loads(result.stdout)


def test_bookworms_tables_become_descriptions_analyses_and_summaries(collected, fits_schema):
    out, report = collected
    fits_schema("contexts-collect", report)
    (ada, sam) = read_rows(out / "description/test.jsonl")
    assert (ada["character"], ada["text"]) == ("Ada Brook", f"Ada Brook bakes. {LONG}")
    assert (sam["gutenberg_key"], sam["source"], sam["guide"]) == ("7", "sparknotes", "lit/lamproad")
    (essay,) = read_rows(out / "analysis/test.jsonl")
    assert (essay["character"], essay["text"]) == ("Ada Brook", f"{ESSAY}\n\nShe changes.")
    (tom,) = read_rows(out / "analysis/validation.jsonl")
    assert (tom["character"], tom["title"], tom["text"]) == ("Tom", "The Inn", f"He waits.\n\n{ESSAY}")
    (plot,) = read_rows(out / "summary/test.jsonl")
    assert plot["text"] == "Ada leaves Lampton at night.\n\nSam Reed sails away. Sam returns."
    assert report["texts"] == {"description": 2, "analysis": 2, "summary": 1}
    assert report["left_out"] == {"too short: description": 1}
    assert [why for _, why in report["problems"]] == ["not archived", "not archived"]


def test_a_run_that_reads_nothing_says_why_and_writes_nothing(shelf, tmp_path):
    result = run("collect", shelf / "bw", "--out", tmp_path / "out", "--archive", tmp_path, "--offline")
    assert isinstance(result.exception, SourceError)
    assert "not kept" in str(result.exception)
    assert not (tmp_path / "out").exists()


def test_the_folder_loads_with_datasets(collected):
    from datasets import load_dataset

    out, _ = collected
    for config in ("description", "identification"):
        found = load_dataset(str(out), config, cache_dir=str(out.parent / "cache"))
        assert found["test"].to_list() == read_rows(out / config / "test.jsonl")


def test_everybody_described_is_asked_for_with_the_name_masked(collected):
    out, _ = collected
    rows = {row["answer"]: row for row in read_rows(out / "identification/test.jsonl")}
    assert set(rows) == {"Ada Brook", "Sam Reed", "Old Tam"}
    assert rows["Sam Reed"]["masked_description"] == f"[MASK] sails with Ada. {LONG}"
    assert rows["Old Tam"]["masks"] == 0
    assert all(row["options"] == ["Ada Brook", "Sam Reed", "Old Tam"] for row in rows.values())


def test_identification_is_graded_with_baselines_and_by_a_model(collected, chat, tmp_path, fits_schema):
    out, _ = collected
    found = json.loads(run("identify", out, "--json").stdout)
    fits_schema("contexts-identify", found)
    assert found["frequency"]["groups"]["all"]["right"] == 1  # Sam is named most often
    assert found["overlap"]["random_baseline"] == pytest.approx(1 / 3)
    chat.answer = lambda body: "It is Ada Brook." if "bakes" in body["messages"][0]["content"] else "Zed"
    words = ("identify", out, "--endpoint", chat.url, "--model", "m", "--out", tmp_path / "a.jsonl")
    grades = json.loads(run(*words, "--json").stdout)["m"]
    assert (grades["groups"]["all"]["right"], grades["unanswered"]) == (1, 2)
    again = json.loads(run("identify", out, "--answers", tmp_path / "a.jsonl", "--json").stdout)["a"]
    assert again == grades
    assert "Who" not in run("identify", out, "--dry-run", 1).stdout
    assert isinstance(run(*words, "--answers", tmp_path / "a.jsonl").exception, UsageError)


def test_references_take_the_names_of_the_annotated_book(collected, tmp_path, fits_schema):
    out, _ = collected
    book = Book.make("lamp_7", [["Ada", "and", "Sam"]], gutenberg_key="7",
                     characters=[("Miss Ada Brook", [(0, 0)]), ("Samuel", [(2, 2)])])  # fmt: skip
    write_documents([book.to_record()], tmp_path / "b.jsonl")
    result = run("references", out, tmp_path / "b.jsonl", "--out", tmp_path / "r.jsonl", "--json")
    fits_schema("contexts-references", json.loads(result.stdout))
    assert json.loads(result.stdout) == {
        "references": 1, "without_book": 0, "without_character": ["lamp_7: Sam Reed"],
    }  # fmt: skip
    (row,) = read_rows(tmp_path / "r.jsonl")
    assert (row["doc_key"], row["character"]) == ("lamp_7", "Miss Ada Brook")
    other = Book.make("x", [["Ada"]], characters=[("Ada Brook", [(0, 0)])])
    assert references_for(read_rows(out / "description/test.jsonl"), [other]).without_book == 2


def test_bookworms_pages_are_older_than_its_ceiling_and_lists_have_none(shelf, tmp_path):
    assert guides_plan(shelf / "bw").ceiling == "20241112000000"
    assert guides_plan(tmp_path / "urls.tsv").ceiling == ""
    (tmp_path / "r.toml").write_text('[study_guides]\nceiling = "2020"\n')
    assert guides_plan(shelf / "bw", tmp_path / "r.toml", contact="a@b.c").contact == "a@b.c"
    (tmp_path / "r.toml").write_text("[study_guides]\nspeed = 3\n")
    with pytest.raises(UsageError, match="speed"):
        guides_plan(shelf / "bw", tmp_path / "r.toml")


def test_liscus_list_chooses_characters_and_splits(shelf, tmp_path):
    urls, names = tmp_path / "urls.tsv", tmp_path / "names.tsv"
    rows = [("literature", "sparknotes", W + SPARK + "summary/")]
    table(urls, ("kind", "site", "url"), [*rows, ("character", "sparknotes", W + SPARK + "characters/")])
    header = ("title", "source", "character", "split", "scraped_title", "scraped_character")
    table(names, header, [
        ("Lamp Road, The", "sparknotes", "Sam", "val", "The Lamp Road", "Sam Reed"),
        ("Lamp Road, The", "sparknotes", "Old Tam", "val", "The Lamp Road", "Old Tam"),
        ("Lamp Road, The", "sparknotes", "Zed", "val", "The Lamp Road", "Zed"),
    ])  # fmt: skip
    works = tmp_path / "works.tsv"
    table(works, ("source", "work_id", "gutenberg_id"), [("sparknotes", "lit/lamproad", "158")])
    options = ("--names", names, "--works", works, "--archive", shelf / "pages", "--offline", "--json")
    result = run("collect", urls, "--out", tmp_path / "out", *options)
    report = json.loads(result.stdout)
    assert result.exit_code == 0, report
    left_out = {"characters of the list not found": 1, "too short: description": 1}
    assert report["left_out"] == left_out | {"texts about nobody of the list": 1}
    rows = read_rows(tmp_path / "out/identification/validation.jsonl")
    assert [(row["title"], row["answer"], row["options"]) for row in rows] == [
        ("Lamp Road, The", "Sam", ["Sam", "Old Tam"]), ("Lamp Road, The", "Old Tam", ["Sam", "Old Tam"]),
    ]  # fmt: skip
    assert rows[0]["masked_description"].startswith("[MASK] Reed sails with Ada.")
    assert {row["doc_key"] for row in rows} == {"emma_158"}
    table(works, ("source", "id"), [("sparknotes", "lit/lamproad")])
    assert isinstance(run("collect", urls, "--out", tmp_path / "o2", *options).exception, FormatError)


@pytest.mark.parametrize(("text", "names", "others", "expected"), [
    ("Ada Brook's sister Jane Brook met Brook.", ["Ada Brook"], [["Jane Brook"]],
     "[MASK]'s sister Jane Brook met [MASK]."),
    ("Mrs. Bennet and Elizabeth; Miss Bennet.", ["Elizabeth Bennet", "Lizzy"], [["Mrs. Bennet"]],
     "Mrs. Bennet and [MASK]; Miss [MASK]."),
    ("Dr. Vane, or Doc, drinks. Vaneless.", ["Dr. Vane", "Doc"], [], "[MASK], or [MASK], drinks. Vaneless."),
    ("The Captain of a ship: captains.", ["The Captain"], [], "[MASK] of a ship: captains."),
    ("O’Brien and O'Brien", ["O'Brien"], [], "[MASK] and [MASK]"),
    ("Nobody.", [], [], "Nobody."),
])  # fmt: skip
def test_names_are_masked_whole_and_in_parts(text, names, others, expected):
    assert mask_name(text, names, others) == (expected, expected.count("[MASK]"))


class Reader:
    """Stands for the pages of a guide: a list that links to one person; keeps what it was asked for."""

    def __init__(self, root):
        self.root, self.asked, self.problems = root, [], []

    def read(self, address):
        self.asked.append(parse_address(address).original.removeprefix(self.root))
        return FetchedPage(address, "fetched"), None

    def read_list(self, address):
        self.asked.append(parse_address(address).original.removeprefix(self.root))
        entry = GuideEntry("Tom", link=self.root + "tom")
        return [(FetchedPage(address, "fetched"), GuidePage("list", entries=[entry]))]


@pytest.mark.parametrize(("kinds", "sites", "asked"), [
    # Descriptions stand in the list itself, but for two sites that have a page for each person.
    ({"description"}, ("sparknotes", "cliffsnotes"), ["list"]),
    ({"description"}, ("litcharts", "shmoop"), ["list", "ada", "tom"]),
    ({"analysis"}, ("sparknotes", "shmoop"), ["list", "ada", "tom"]),
    ({"description", "analysis"}, ("sparknotes", "shmoop"), ["list", "ada", "tom"]),
    ({"summary"}, ("litcharts",), ["summary"]),
])  # fmt: skip
def test_only_the_pages_that_the_wanted_texts_need_are_read(kinds, sites, asked):
    for site in sites:
        root = f"https://www.{site}.com/lit/road/"
        others = [W + root, *(W + root + name for name in ("ada", "Ada/", "about-road", "summary"))]
        place = GuidePlace(site, "/lit/road/")
        reader = Reader(root)
        lists = [W + root + "list"]
        reader.guide = Guide(place, "The Road", "Mira Holt", lists, others, frozenset(kinds))
        texts_of(reader)
        assert reader.asked == asked, site


def test_a_guide_without_summary_or_with_one_person_asks_nothing():
    one = GuideText("description", "s", "g", "T", "", "Ada bakes.", "Ada")
    summary = GuideText("summary", "s", "g", "T", "", "Ada leaves.")
    other = GuideText("description", "s", "h", "T", "", "Sam sails.", "Sam", order=1)
    assert questions_of([one, summary, other]) == []
    same = GuideText("description", "s", "g", "T", "", "Sam sails.", "Sam", order=1)
    assert [q["masked_description"] for q in questions_of([one, summary, same])] == [
        "[MASK] bakes.",
        "[MASK] sails.",
    ]


def test_the_answer_is_the_first_option_that_a_reply_names():
    options = ["Ada", "Ada Brook", "Sam"]
    replies = ["Ada Brook", "**Sam**.", "It is Ada Brook, not Sam", "Sam, then Ada", "nobody"]
    assert [option_in(reply, options) for reply in replies] == ["Ada Brook", "Sam", "Ada Brook", "Sam", ""]
    replies = ["Samuel", "Adam, or Sam", "It is SAM", "ada brook"]
    assert [option_in(reply, options) for reply in replies] == ["", "Sam", "Sam", "Ada Brook"]


def test_editions_of_a_title_share_a_split():
    assert split_by_title("The Lamp Road") == split_by_title("lamp road!")
    shares = [split_by_title(f"Book {i}") for i in range(1000)]
    assert 70 < shares.count("test") < 130
    assert 70 < shares.count("validation") < 130


SUMMARIES = {
    SHMOOP + "/summary": SHMOOP_HEAD
    + '<div data-class="SHPlotOverviewSection"><p>A <i>b</i>.</p><p>C.</p></div>',
    SPARK + "summary/": SPARK_HEAD + '<div class="mainTextContent"><p>A <i>b</i>.</p><p>C.</p></div>',
    CLIFFS + "book-summary": CLIFFS_HEAD + """<article class="copy"><h2>Book Summary</h2>
     <p class="litNoteText">A <i>b</i>.</p><p>ad</p><p class="litNoteText">C.</p></article>""",
    LIT + "/summary": LIT_HEAD + '<p class="plot-text">A <i>b</i>.</p><p class="plot-text">C.</p>',
    "https://www.gradesaver.com/the-lamp-road/study-guide/summary":
     '<h1>T</h1><article class="section__article" role="article"><p>A <i>b</i>.</p><p>C.</p></article>',
}  # fmt: skip


@pytest.mark.parametrize("address", SUMMARIES)
def test_summaries_are_read_on_every_site(address):
    page = parse_page(site_of(address), SUMMARIES[address], address)
    assert (page.kind, page.problem, page.text) == ("summary", "", "A b.\n\nC.")


def test_cliffsnotes_lists_link_to_analyses_and_a_page_without_summary_is_a_problem():
    link = "/literature/l/x/character-analysis/ada"
    body = '<article class="copy"><p><b>Ada</b> bakes.</p></article>'
    html = f'{CLIFFS_HEAD}<ul><li><a href="{link}">Ada</a></li></ul>{body}'
    assert parse_page("cliffsnotes", html, CLIFFS + "character-list").analyses == (link,)
    html = CLIFFS_HEAD + '<article class="copy"><h2>Book Summary</h2></article>'
    assert parse_page("cliffsnotes", html, CLIFFS + "book-summary").problem == "empty"
