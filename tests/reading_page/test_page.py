"""The page as a file: what is in it, that nothing can break out of it, that places are right."""

from __future__ import annotations

import json
import re

import pytest

from bookcoref_data.books import Book
from bookcoref_data.books.annotation import Annotation, Marked
from bookcoref_data.books.layout import lay_out
from bookcoref_data.edits import Edit, apply, format_edits
from bookcoref_data.errors import EditionError, FormatError
from bookcoref_data.reading_page import PageOptions, compare, render
from bookcoref_data.reading_page.page import page_data, page_script
from bookcoref_data.reading_page.serve import EditServer, version_of

EVIL = "</script><img onerror=alert(1) src=x>"
TOKENS = [
    "CHAPTER",
    "I",
    "\n",
    "Anna",
    "-",
    "Lou",
    "said",
    "|",
    "</script>",
    "<!--",
    ".",
    "\n",
    "She",
    "left",
]


def book_of(tokens=TOKENS, mentions=((3, 5, 0), (12, 12, 0), (5, 6, 1))):
    return Annotation(
        Book.make("evil", [tokens]), (EVIL, "Lou"), tuple(sorted(Marked(*row) for row in mentions))
    )


def data_in(page):
    return json.loads(
        re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S).group(1)
    )


def test_the_page_holds_the_book_and_nothing_breaks_out_of_it():
    page = render(book_of(), PageOptions(title=EVIL + "@CSP@"))
    assert page.count("</script>") == 2
    assert "<img" not in page
    assert not re.search(r"""(?:src|href)\s*=\s*["']?(?:https?:)?//""", page)
    data = data_in(page)
    assert data["names"][0] == EVIL
    assert data["title"] == EVIL + "@CSP@"
    assert data["marker"] not in "".join(TOKENS)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page).group(1)
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy
    assert "connect-src" not in policy
    assert page_script() in page


def test_the_text_of_a_chapter_gives_every_token_back():
    annotation = book_of()
    data = page_data(annotation, PageOptions())
    text = "".join(data["texts"])
    tokens = re.findall(rf"[^ \n\t\f{re.escape(data['marker'])}]+|[\n\f]", text)
    assert tokens == TOKENS
    assert data["titles"] == ["CHAPTER I"]
    assert text.replace(data["marker"], "").startswith("CHAPTER I\nAnna-Lou said")


def test_mentions_come_back_from_the_flat_numbers():
    annotation = book_of()
    data, found, at = page_data(annotation, PageOptions()), [], 0
    for k in range(0, len(data["mentions"]), 3):
        at += data["mentions"][k]
        found.append((at, at + data["codes"][data["mentions"][k + 2] // 101][3], data["mentions"][k + 1]))
    assert found == [m[:3] for m in annotation.mentions]


def test_doubtful_links_carry_the_next_best_candidates():
    doubtful = Marked(3, 3, 0, "windows", "ranker", 0.5, "name", ((1, 0.3), (0, 0.1), (1, 0.05)))
    sure = Marked(12, 12, 0, "windows", "ranker", 0.9, "pronoun", ((1, 0.1),))
    data = page_data(Annotation(book_of().book, ("Anna", "Lou"), (doubtful, sure)), PageOptions())
    assert data["others"] == {"0": [[1, 30], [0, 10]]}


def test_a_text_without_line_ends_is_cut_into_chapters_and_paragraphs():
    sentence = ["He", "went", "home", "and", "thought", "about", "it", "for", "a", "long", "time", "."]
    sentences = [["CHAPTER", "I", "."], *[sentence] * 60, ["CHAPTER", "II", "."], *[sentence] * 60]
    layout = lay_out(Annotation(Book.make("plain", sentences)))
    assert [c.title for c in layout.chapters] == ["CHAPTER I.", "CHAPTER II."]
    sizes = [p.end - p.start for p in layout.paragraphs]
    assert max(sizes) < 200
    assert sum(sizes) == len(layout.starts)
    assert layout.slice(3, 6) == "He went home and"


def test_differences_are_missed_spurious_merged_or_split():
    words = [str(i) for i in range(40)]
    first = book_of(
        words, [(i, i, 0) for i in range(10)] + [(i, i, 1) for i in range(10, 16)] + [(20, 20, 0)]
    )
    second = Annotation(
        Book.make("evil", [words]),
        ("A", "B", "C"),
        tuple(Marked(i, i, c) for i, c in zip([*range(16), 30], [0] * 7 + [1, 2, 2] + [1] * 7, strict=True)),
    )
    found = compare(first, second)
    assert found.counts() == {"missed": 1, "spurious": 1, "merged": 1, "split": 2}
    assert found.same == 13
    assert compare(first, first).rows == ()
    with pytest.raises(EditionError, match="different texts"):
        compare(first, book_of())
    other = Annotation(Book.make("evil", [[*words[:7], "other", *words[8:]]]), (), ())
    with pytest.raises(EditionError, match="token 7 is the first to differ"):
        compare(first, other)


def test_corrections_are_saved_only_over_the_version_they_were_made_on(tmp_path):
    path = tmp_path / "edits.jsonl"
    server = EditServer(lambda known: render(book_of(), PageOptions(server=known)), path)
    try:
        edits = format_edits([Edit("rename", character="Lou", name="Lou Grey")])
        first = version_of("")
        assert server.save(edits, first) == version_of(edits)
        assert path.read_text(encoding="utf-8") == edits
        assert server.save("", first) is None
        with pytest.raises(FormatError):
            server.save("no edits", version_of(edits))
        assert path.read_text(encoding="utf-8") == edits
        assert "connect-src 'self'" in server.page().decode("utf-8")
    finally:
        server._server.server_close()
    assert (
        apply(book_of(), [Edit("rename", character="Lou", name="Lou Grey")]).annotation.names[1] == "Lou Grey"
    )


def test_characters_of_one_name_are_compared_whatever_else_they_share():
    book = Book.make("b", [[f"w{i}" for i in range(9)]])

    def annotated(names, *whose):
        return Annotation(book, names, tuple(Marked(i, i, who) for i, who in enumerate(whose)))

    first = annotated(("Anna", "Tom"), 0, 0, 0, 1, 1)
    # Anna of the second has one mention of Anna's and two of Tom's; Tom two of Anna's.
    second = annotated(("Tom", "anna"), 0, 0, 1, 1, 1)
    found = compare(first, second)
    assert found.same == 1
    assert {(row.first, row.second) for row in found.rows} == {(0, 0), (1, 1)}
    other = annotated(("Mrs. X", "Mr. Y"), 0, 0, 0, 1, 1)
    assert compare(first, other).same == 5


@pytest.mark.parametrize(
    ("names", "guessed", "pairs"),
    [
        (("Anna", "Tom"), (), {(0, 0), (1, 1)}),
        (("Tom", "Anna"), (), {(0, 1), (1, 0)}),
        # A guessed name pairs nobody: then those that have most in common.
        (("Tom", "Anna"), (0, 1), {(0, 0), (1, 1)}),
        (("Tom", "X"), (), {(1, 0), (0, 1)}),
    ],
)
def test_who_is_compared_with_whom(names, guessed, pairs):
    """Anna has tokens 0 to 4 and Tom 5 to 8 in both, whatever they are called in the second."""
    book = Book.make("b", [[f"w{i}" for i in range(9)]])
    marks = tuple(Marked(i, i, int(i > 4)) for i in range(9))
    first = Annotation(book, ("Anna", "Tom"), marks)
    second = Annotation(book, names, marks, guessed=frozenset(guessed))
    found = compare(first, second, labels=("a", "b"))
    same = {(0, 0), (1, 1)} & pairs
    assert found.same == 5 * ((0, 0) in same) + 4 * ((1, 1) in same)
    assert found.to_dict()["first"] == "a"


def test_differences_are_counted_and_laid_flat():
    book = Book.make("b", [[f"w{i}" for i in range(9)]])
    first = Annotation(book, ("Anna",), (Marked(0, 0, 0), Marked(2, 4, 0)))
    second = Annotation(book, ("Anna",), (Marked(0, 0, 0), Marked(7, 7, 0)))
    found = compare(first, second)
    assert found.rows == ((2, 4, 0, 0, -1), (7, 7, 1, -1, 0))
    assert found.counts() == {"missed": 1, "spurious": 1, "merged": 0, "split": 0}
    assert found.to_dict() == {
        "rows": [2, 2, 0, 0, -1, 5, 0, 1, -1, 0],
        "names": ["Anna"],
        "same": 1,
        "first": "first",
        "second": "second",
    }
