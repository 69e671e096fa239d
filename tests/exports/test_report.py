"""The report: counts that agree with the annotation, and text that stays text."""

from __future__ import annotations

import re
from dataclasses import replace
from urllib.parse import unquote

import pytest

from bookcoref_data.books import Book
from bookcoref_data.books.annotation import Annotation, Marked, Quote, SourceText
from bookcoref_data.errors import UsageError
from bookcoref_data.exports.reading import LaidOutBook
from bookcoref_data.exports.report import draw_network, draw_presence, write_report
from bookcoref_data.exports.tables import mentions
from bookcoref_data.workflows.correct import title_of

TOKENS = ["“", "I", "am", "here", ",", "”", "said", "Tom", ".", "“", "Good", ",", "”", "said", "Eve", "."]
EVIL = "Tom <script>|"


@pytest.fixture(scope="module")
def annotation():
    return Annotation(
        Book.make("talk", [TOKENS]), (EVIL, "Eve"), (Marked(1, 1, 0), Marked(7, 7, 0), Marked(14, 14, 1)),
        (Quote(0, 5, 0, (1,)), Quote(9, 12, 1, (0,))),
    )  # fmt: skip


def test_counts_and_shares_of_speech(annotation, tmp_path):
    files = write_report([annotation], tmp_path / "report.md")
    text = files[0].read_text(encoding="utf-8")
    assert "8 words in 1 chapter; 3 mentions of 2 characters; 2 quotes, 2 with a speaker." in text
    assert "| Tom <script>\\| | 2 | 1 | 1 | 1 | 1 | 1 | 1 | 3 | 75.0 % |" in text
    assert "| Eve | Tom <script>\\| | 1 | 1 |" in text
    assert "| speaker | addressee | quotes | words |\n| --- | --- | ---: | ---: |" in text
    assert {f.name for f in files[1:]} == {"report.talk.presence.png", "report.talk.network.png"}
    assert all(f.read_bytes().startswith(b"\x89PNG") for f in files[1:])


def test_pictures_are_found_beside_a_report_whose_name_has_a_blank(annotation, tmp_path):
    page, *pictures = write_report([annotation], tmp_path / "my report (1).md")
    shown = re.findall(r"!\[[^]]*\]\(([^) ]*)\)", page.read_text(encoding="utf-8"))
    assert [unquote(name) for name in shown] == [picture.name for picture in pictures]


def test_a_long_chapter_is_one_and_all_of_it_has_its_title(tmp_path):
    """The layout cuts what is longer than 6,000 tokens, for the page alone."""
    lines = [
        ["CHAPTER", "I", "\n"],
        *([["word"] * 99 + ["\n"]] * 70),
        ["CHAPTER", "II", "\n"],
        ["Eve", "left", ".", "\n"],
    ]
    book = Book.make("long", lines)
    told = Annotation(book, ("Eve",), (Marked(6900, 6900, 0), Marked(7006, 7006, 0)))
    assert len(LaidOutBook(told).layout.chapters) == 3
    assert [(c.title, c.start, c.end) for c in LaidOutBook(told).chapters] == [
        ("CHAPTER I", 0, 7003), ("CHAPTER II", 7003, 7010),
    ]  # fmt: skip
    (page,) = write_report([told], tmp_path / "r.md", plots=False)
    assert "in 2 chapters; 2 mentions of 1 character" in page.read_text(encoding="utf-8")
    assert [row["chapter_title"] for row in mentions(LaidOutBook(told))] == ["CHAPTER I", "CHAPTER II"]


def test_a_page_has_its_pictures_inside_and_names_stay_text(annotation, tmp_path):
    (file,) = write_report([annotation], tmp_path / "report.html")
    text = file.read_text(encoding="utf-8")
    assert text.count("data:image/png;base64,") == 2
    assert "<script" not in text
    assert "<td class=words>Eve</td><td class=words>Tom &lt;script&gt;|</td><td>1</td>" in text
    (plain,) = write_report([annotation], tmp_path / "plain.html", plots=False)
    assert "<img" not in plain.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("a" * 40, "a" * 40),
        ("a" * 41, "a" * 39 + "…"),
        ("a" * 100, "a" * 39 + "…"),
        ("Tom\tthe  Great\n", "Tom the Great"),
        ("$100", "\\$100"),
    ],
)
def test_a_name_in_a_picture_is_one_short_line(annotation, name, label):
    book = LaidOutBook(replace(annotation, names=(name, "Eve")))
    rows = draw_presence(book).axes[0].get_yticklabels()
    assert [row.get_text() for row in rows] == [label, "Eve"]
    assert label in [text.get_text() for text in draw_network(book).axes[0].texts]


def test_a_book_is_called_by_its_title(annotation, tmp_path):
    titles = {"talk": "Talk & Tea"}
    (page,) = write_report([annotation], tmp_path / "r.html", plots=False, titles=titles)
    text = page.read_text(encoding="utf-8")
    assert "<title>Talk &amp; Tea: characters</title>" in text
    assert "<h1>Talk &amp; Tea</h1>" in text
    (told,) = write_report([annotation], tmp_path / "r.md", plots=False, titles=titles)
    assert told.read_text(encoding="utf-8").startswith("# Talk & Tea\n")


@pytest.mark.parametrize(
    ("number", "extra", "head", "title"),
    [
        ("0", {}, "", "talk"), ("1342", {}, "", "Pride and Prejudice"), ("0", {"title": "Tea"}, "", "Tea"),
        ("0", {"title": 7}, "", "talk"),
        ("0", {}, "The Project Gutenberg eBook of Tea\n\nTitle: Tea,\n  and Toast\n\n", "Tea, and Toast"),
        ("0", {}, "Title: a heading of somebody's own\n\n", "talk"),
        ("0", {}, "The Project Gutenberg eBook" + "\n" * 6000 + "Title: of a letter in it\n\n", "talk"),
    ],
)  # fmt: skip
def test_the_title_is_the_records_the_headers_or_the_manifests(annotation, number, extra, head, title):
    source = SourceText("t.txt", "", head, (), ()) if head else None
    book = replace(annotation.book, gutenberg_key=number)
    assert title_of(replace(annotation, book=book, extra=extra, source=source)) == title


def test_a_report_is_a_page(annotation, tmp_path):
    with pytest.raises(UsageError, match="report is a page"):
        write_report([annotation], tmp_path / "report.pdf")
