"""Rules about names, titles, addresses and pages at their borders."""

from __future__ import annotations

import pytest

from bookcoref_data.characters import names as names_module
from bookcoref_data.characters.guide_files import ListedName, NameTally, join_authors, rows_of_names
from bookcoref_data.characters.guides.addresses import (
    is_list,
    is_summary,
    list_addresses,
    place_of,
    site_of,
    summary_address,
)
from bookcoref_data.characters.guides.page import (
    GuideEntry,
    author_name,
    finish,
    first_text,
    following,
    group_heading,
    joined,
    looks_like_a_person,
    soup_of,
    summary_page,
    text_of,
    without_footers,
)
from bookcoref_data.characters.names import read_name, same_person
from bookcoref_data.characters.presence import Presence, name_words, names_shared
from bookcoref_data.characters.table import CastRow, group_casts, read_table, write_table
from bookcoref_data.characters.titles import (
    exact_author,
    fold,
    folded_author,
    folded_authors,
    generation,
    initial_authors,
    main_title,
    plain_tokens,
    second_title,
    single_author,
    squeezed,
    tokens,
    without_article,
    without_companions,
)
from bookcoref_data.errors import FormatError


@pytest.mark.parametrize(
    ("raw", "name", "aliases"),
    [
        ("Anna", "Anna", ()),
        (" Anna , ", "Anna", ()),
        ("Anna)", "Anna", ()),
        ('Anna"', "Anna", ()),
        ('"Anna"', "Anna", ()),
        ("(Anna)", "Anna", ()),
        ("“Anna”", "Anna", ()),
        ("Monsieur G—", "Monsieur G—", ()),
        ("Anna (a cook)", "Anna", ()),
        ("Anna (Annie)", "Anna", ("Annie",)),
        ("Anna (AN-na)", "Anna", ()),
        ("Anna (née Hill)", "Anna", ("Hill",)),
        ("Mrs. Ford (née Hill)", "Mrs. Ford", ("Mrs. Hill",)),
        ("Alastor (Mad-Eye) Moody", "Alastor Moody", ("Mad-Eye", "Mad-Eye Moody")),
        ('Anna "Annie" Hill', "Anna Hill", ("Annie", "Annie Hill")),
        ("Viola/Cesario", "Viola", ("Cesario",)),
        ("Anna, a cook", "Anna", ()),
        ("Anna, the Cook", "Anna", ("the Cook",)),
        ("Anna — a cook", "Anna", ()),
        ("Anna, alias Annie", "Anna", ("Annie",)),
        ("Anna, or Annie", "Anna", ("Annie",)),
        ("John Hill (Jr.)", "John Hill Jr.", ()),
        ("Ann(a)", "Anna", ("Ann",)),
        ("The boys (Tom, Ned, and Joe)", "The boys", ()),
        ("Sir Thomas, 1900", "Sir Thomas", ()),
    ],
)
def test_an_entry_is_read_to_one_person(raw, name, aliases):
    (person,) = read_name(raw).people
    assert (person.name, person.aliases) == (name, aliases)
    assert read_name(person.name).people[0].name == name


@pytest.mark.parametrize(
    ("raw", "reason", "rules"),
    [
        ("", "no letter", ("reject",)),
        ("12 (3)", "no letter", ("reject",)),
        ("Minor Characters", "heading", ("reject",)),
        ("Characters:", "heading", ("reject",)),
    ],
)
def test_an_entry_of_nobody_says_why(raw, reason, rules):
    found = read_name(raw)
    assert (found.people, found.rejected, found.rules) == ((), reason, rules)


def test_a_gloss_within_a_gloss_is_read_in_rounds():
    assert names_module.read_name("Anna (the cook (of Ford))").people[0].name == "Anna"


@pytest.mark.parametrize(
    ("name", "author", "same"),
    [
        ("Jane Austen", "Austen, Jane", True),
        ("Miss Jane Austen", "Jane Austen", True),
        ("Jane", "Jane Austen", False),
        ("Jane Hill", "Jane Austen", False),
        ("Jane Austen", "Jane Mary Austen", True),
        ("", "Jane", False),
    ],
)
def test_who_bears_the_authors_name(name, author, same):
    assert same_person(name, author) is same


@pytest.mark.parametrize(
    ("name", "flags"),
    [
        ("The Hills", ("group",)),
        ("Three Sisters", ("group",)),
        ("The boss", ()),
        ("The Hill", ()),
        ("Hills", ()),
        ("Anna Hills", ()),
        ("The Duchess of Fords", ()),
        ("The Parents of Anna", ("group",)),
    ],
)
def test_groups_are_flagged(name, flags):
    assert read_name(name).people[0].flags == flags


def listed(character="", title="T", author="", source="sparknotes", **more):
    return ListedName(title=title, source=source, character=character, author=author, **more)


def test_a_list_of_names_becomes_rows_in_order():
    tally = NameTally()
    rows = list(
        rows_of_names(
            [
                listed("Anna (Annie)"),
                listed("12"),
                listed("Ann and Bob"),
                listed("Zoe", "U"),
                listed("Cid", author="A. B."),
            ],
            tally,
        )
    )
    assert [(r.work_id, r.character, r.character_aliases, r.order, r.author, r.flags) for r in rows] == [
        ("t", "Anna", ("Annie",), 0, "A. B.", ()),
        ("t", "Ann", (), 1, "A. B.", ()),
        ("t", "Bob", (), 2, "A. B.", ()),
        ("t", "Cid", (), 3, "A. B.", ()),
        ("u", "Zoe", (), 0, "", ("no-author",)),
    ]
    assert (tally.read, tally.changed, tally.rejected) == (5, 3, ["12"])


def test_authors_are_joined_by_source_and_title():
    lines = [
        listed("Anna", "The Lamp"),
        listed("", "the lamp", "A. B."),
        listed("Tom", "The Lamp", "C. D."),
        listed("Eve", "The Lamp", source="shmoop"),
    ]
    assert [(n.character, n.author) for n in join_authors(lines)] == [
        ("Anna", "C. D."),
        ("Tom", "C. D."),
        ("Eve", ""),
    ]


TEXT = "Anna Hill met Tom. Anna saw Hill. anna! Hill Hill, then Tom, Tom. Ford ford ford Ford Ford ford."


@pytest.mark.parametrize(
    ("people", "share"),
    [
        ([], 0.0),
        ([["Anna Hill"]], 1.0),
        ([["Tom Hill"]], 1.0),
        ([["Tom"]], 1.0),
        ([["Tom Dale"]], 0.4),
        ([["Ford"]], 0.0),
        ([["Dale"]], 0.0),
        ([["the cook"]], 0.0),
        ([["Mr. Tom"], ["Tom"]], 0.5),
        ([["X"], ["Dale", "Tom"]], 0.5),
        ([["Anna"]], 0.0),
    ],
)
def test_which_share_of_the_people_a_text_names(people, share):
    assert Presence(TEXT).share(people) == pytest.approx(share)


def test_names_are_compared_by_their_words():
    assert name_words("Mr. Tom of the Hills J.") == ["tom", "hills"]
    assert names_shared([["Tom Hill"], ["Anna"]], [["Hill"]]) == 0.5
    assert names_shared([["the Narrator"]], [["Hill"]]) == 1.0
    assert names_shared([["Tom"], ["the cook"]], []) == 0.0


def test_rows_keep_only_what_is_said(tmp_path):
    rows = [
        CastRow("shmoop", "a", "A", "Anna"),
        CastRow("shmoop", "b", "B", "Bob", order=0, minor=True, kinds=("x",)),
        CastRow("shmoop", "a", "A", "Cid"),
    ]
    for name in ("t.jsonl", "t.jsonl.gz"):
        assert write_table(tmp_path / name, rows) == 3
        assert list(read_table(tmp_path / name)) == rows
    assert (tmp_path / "t.jsonl").read_text().splitlines()[:2] == [
        '{"source": "shmoop", "work_id": "a", "title": "A", "character": "Anna"}',
        '{"source": "shmoop", "work_id": "b", "title": "B", "character": "Bob", "order": 0, "minor": true, '
        '"kinds": ["x"]}',
    ]
    assert [(c.work.work_id, c.characters) for c in group_casts(rows)] == [
        ("a", ("Anna", "Cid")),
        ("b", ("Bob",)),
    ]
    (tmp_path / "bad.jsonl").write_text('\n{"source": "x"}\n')
    with pytest.raises(FormatError, match=r"bad\.jsonl:2"):
        list(read_table(tmp_path / "bad.jsonl"))


@pytest.mark.parametrize(
    ("title", "main", "second"),
    [
        ("Emma", "Emma", ""),
        ("Ivanhoe: A Romance", "Ivanhoe", ""),
        ("Pamela, or Virtue Rewarded", "Pamela", "Virtue Rewarded"),
        ("A; B; C", "A; B; C", ""),
        ("Emma\nA Novel", "Emma", ""),
        ("Emma — A Novel", "Emma", ""),
        ("Black or White", "Black", "White"),
        ("or else", "or else", ""),
    ],
)
def test_titles_have_a_main_part(title, main, second):
    assert main_title(title) == main
    assert second_title(title) == second


@pytest.mark.parametrize(
    ("name", "folded", "initials"),
    [
        ("Austen, Jane", "austen jane", ("austen j",)),
        ("Jane Austen", "austen jane", ("austen j",)),
        ("Tolstoy, Leo, graf", "leo tolstoy", ("tolstoy l",)),
        ("Count Leo Tolstoy", "leo tolstoy", ("tolstoy l",)),
        ("Garcia Marquez, Gabriel", "gabriel garcia marquez", ("garcia g", "marquez g")),
        ("Miguel de Cervantes Saavedra", "cervantes de miguel saavedra", ("cervantes m", "saavedra m")),
        ("Stendhal", "stendhal", ()),
        ("Montgomery, L. M.", "l m montgomery", ("montgomery l",)),
        ("Dumas, Alexandre, 1802-1870", "alexandre dumas", ("dumas a",)),
        ("Alexandre Dumas fils", "alexandre dumas", ("dumas a",)),
        ("Dumas fils", "dumas", ()),
        ("Fils", "fils", ()),
    ],
)
def test_authors_are_read_in_every_order(name, folded, initials):
    assert folded_author(name) == folded
    assert initial_authors(name) == initials
    assert single_author(name) == (folded if " " not in folded else "")


def test_names_in_brackets_are_another_reading():
    assert folded_authors("Montgomery, L. M. (Lucy Maud)") == {"l m montgomery", "lucy maud montgomery"}
    assert folded_authors("Dumas, Alexandre (père)") == {"alexandre dumas"}
    assert exact_author("Austen, Jane (1775-1817)") == "austen jane"
    assert (generation("Dumas, Alexandre (père)"), generation("Holmes, Jr."), generation("Holmes")) == (
        "elder",
        "younger",
        "",
    )


def test_words_are_folded():
    assert fold("L'Été œuf") == "lete oeuf"
    assert fold("O'Brien") == "obrien"
    assert plain_tokens("The Été, O'Brien's!") == ("the", "été", "obriens")
    assert tokens("Été & Co.") == ("ete", "and", "co")
    assert without_article(("the", "lamp")) == ("lamp",)
    assert without_article(("the",)) == ("the",)
    assert squeezed(("box", "car")) == "boxcar"
    assert without_companions("A; B; C") == "A"


SHMOOP = "https://www.shmoop.com/study-guides/emma"


@pytest.mark.parametrize(
    ("address", "site"),
    [
        ("https://www.shmoop.com/x", "shmoop"),
        ("http://SHMOOP.com:80/x", "shmoop"),
        ("https://example.org/x", None),
        ("https://m.shmoop.com/", None),
        ("x", None),
    ],
)
def test_the_host_says_the_site(address, site):
    assert site_of(address) == site


def test_a_guide_has_lists_and_a_summary():
    assert place_of("https://example.org/x") is None
    assert list_addresses("https://example.org/x") == []
    assert summary_address("https://example.org/x") is None
    place = place_of("https://www.litcharts.com/lit/emma/characters/emma")
    assert (place.site, place.id) == ("litcharts", "lit/emma")
    (listed_at, *_) = list_addresses("https://www.litcharts.com/lit/emma")
    assert listed_at.startswith("https://www.litcharts.com/lit/emma")
    assert is_list(listed_at.upper().replace("HTTPS://WWW.LITCHARTS.COM", "https://www.litcharts.com") + "/")
    assert not is_list("https://www.litcharts.com/lit/emma")
    summary = summary_address("https://www.litcharts.com/lit/emma")
    assert summary.startswith("https://www.litcharts.com/lit/emma/")
    assert is_summary(summary)
    assert summary_address(summary) == summary
    assert summary_address("https://www.litcharts.com/") is None
    cliffs = "https://www.cliffsnotes.com/literature/e/emma/about-emma"
    assert place_of(cliffs) is not None
    assert summary_address(cliffs) is None


@pytest.mark.parametrize(
    ("address", "summary"),
    [
        ("x/summary", True),
        ("x/summary/", True),
        ("x/play-summary/1", True),
        ("x/play-summary/1/2", False),
        ("x/Summary", True),
        ("x/summaries", False),
        ("x/", False),
    ],
)
def test_what_a_summary_is_called(address, summary):
    assert is_summary(f"https://a.com/{address}") is summary


def test_text_of_a_page():
    soup = soup_of(
        "<div><!-- c --><script>s</script><h2> A<b>b</b><br>c </h2><p>d</p>e<p></p><h3>f</h3><p>g</p>"
        "<h2>h</h2><p>i</p></div>"
    )
    assert text_of(soup) == "Ab c d e f g h i"
    assert first_text(soup, ".no", "p", "h2") == "d"
    assert first_text(soup, ".no") == ""
    assert [text_of(n) for n in following(soup.h2, "h2")] == ["d", "", "f", "g"]
    page = summary_page(soup.select("p"), title="T", author="by A", more=["m", "m"])
    assert (page.kind, page.text, page.author, page.more, page.problem) == (
        "summary",
        "d\n\ng\n\ni",
        "A",
        ("m",),
        "",
    )
    assert summary_page([], title="T", author="").problem == "empty"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("He bakes. Read an in-depth analysis of Tom.", "He bakes."),
        ("He. Read an", "He."),
        ("He. read analysis of Tom", "He."),
        ("He. Continued on next page...", "He."),
        ("He (Click the map infographic).", "He."),
        ("He reads an essay.", "He reads an essay."),
    ],
)
def test_footers_go(text, left):
    assert without_footers(text) == left


def test_paragraphs_are_joined_and_authors_bared():
    assert joined(["a", "", "Read an", "b"]) == "a\n\nb"
    assert joined(["Read an"]) is None
    assert [author_name(a) for a in ("by A", "BY  A ", "Byron", "A by B")] == ["A", "A", "Byron", "A by B"]
    assert [group_heading(t) for t in ("Minor Characters:", "the main characters", "Characters")] == [
        True,
        False,
        None,
    ]


@pytest.mark.parametrize(
    ("name", "text", "person"),
    [
        ("Anna Hill", None, True),
        ("Anna of the Hill", None, True),
        ("Anna bakes bread", None, False),
        ("Anna bakes", None, True),
        ("The man who bakes bread", None, True),
        ("Anna, who bakes all bread", None, True),
        ("Who is Anna?", None, False),
        ("Anna!", None, False),
        ("12", None, False),
        (" ".join(["Anna"] * 15), None, True),
        (" ".join(["Anna"] * 16), None, False),
        ("Anna", "Take the quiz now", False),
        ("Anna", "She takes quizzes", True),
        ("Anna", "For members only", False),
        ("Anna", "your free trial", False),
    ],
)
def test_an_entry_looks_like_a_person(name, text, person):
    assert looks_like_a_person(GuideEntry(name, text)) is person


@pytest.mark.parametrize(
    ("people", "offers", "problem"),
    [(2, 1, ""), (1, 1, "unknown layout"), (0, 1, "unknown layout"), (0, 0, "empty"), (1, 0, "")],
)
def test_most_entries_of_a_page_must_be_people(people, offers, problem):
    entries = [GuideEntry("Anna")] * people + [GuideEntry("Ready to go?")] * offers + [GuideEntry("")]
    page = finish("list", entries, title="T", author="by A", more=["m", "m"])
    assert page.problem == problem
    assert len(page.entries) == (0 if problem else people + offers)
    assert (page.title, page.author, page.more) == ("T", "A", ("m",))
