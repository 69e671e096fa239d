"""The shipped cleaning recipe on real books: the guard lets them pass, nothing of the producers is left."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from bookcoref_data.cli.app import make_app
from bookcoref_data.errors import UsageError
from bookcoref_data.workflows.clean import clean_one, load_recipe, read_settings

FORBIDDEN = ("Gutenberg", "GUTENBERG", "pgdp.net", "Produced by", "Distributed Proofread", "[Illustration",
             "[Footnote")  # fmt: skip
# One for each difficulty: other works and glosses, notes at the end, plates, many footnotes, two tables of
# contents, a second table set as text, prefaces by others, notes of the transcriber, the small print.
BOOKS = {
    "2383": "WHEN that Aprilis", "28240": "BOOK I", "46597": "CHAPTER I", "82": "halter",
    "996": "COMMENDATORY",
    "580": "CHAPTER I", "47935": "I", "102": "There is no character", "66057": "CHAPTER I",
    "145": "To my dear",
    "19810": "INTRODUCTION", "1837": "I will set down a tale", "2759": "Chapter I", "6124": "LETTER I",
}  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("book", BOOKS)
def test_real_books_pass_the_guard_and_keep_nothing_of_the_producers(shared_data, book):
    path = shared_data / "gutenberg/cache/epub" / book / f"pg{book}.txt"
    cleaned = clean_one(str(path), read_settings())
    text = cleaned.body.text
    assert [word for word in FORBIDDEN if word in text] == []
    assert BOOKS[book] in text[:120]
    assert 0.4 < len(text) / cleaned.body.file_length < 0.99


def test_an_error_in_a_books_recipe_names_the_book(tmp_path):
    recipe = tmp_path / "clean.toml"
    recipe.write_text("[books.42]\ncolour = 1\n", encoding="utf-8")
    with pytest.raises(UsageError, match="42"):
        load_recipe(recipe).for_book("42")
    recipe.write_text("[boks]\n", encoding="utf-8")
    with pytest.raises(UsageError, match="boks"):
        load_recipe(recipe)


def test_a_recipe_of_ones_own_extends_the_shipped_one_unless_it_says_otherwise(tmp_path):
    recipe = tmp_path / "clean.toml"
    recipe.write_text(
        '[books.580]\ncut = [{ first = "X" }]\n[books.7]\nprefaces = "none"\n', encoding="utf-8"
    )
    own = load_recipe(recipe)
    assert own.for_book("82").prefaces == "all"
    assert own.for_book("7").prefaces == "none"
    assert [piece.first for piece in own.for_book("580").cut] == ["DETAILED CONTENTS", "X"]
    recipe.write_text("extends = false\n" + recipe.read_text(), encoding="utf-8")
    alone = load_recipe(recipe)
    assert alone.for_book("82").prefaces == "own"
    assert [piece.first for piece in alone.for_book("580").cut] == ["X"]
    recipe.write_text("extends = 1\n", encoding="utf-8")
    with pytest.raises(UsageError, match="extends"):
        load_recipe(recipe)


def test_one_refused_book_stops_no_other(tmp_path):
    good, bad = tmp_path / "good.txt", tmp_path / "bad.txt"
    good.write_text("CHAPTER I\n\n\n" + "Ada baked the bread of the village before the sun was up.\n\n" * 30)
    bad.write_text("{\\rtf1\\ansi Ada baked.}")
    arguments = [
        "clean",
        str(bad),
        str(good),
        str(tmp_path / "none.txt"),
        "--out",
        str(tmp_path / "out"),
        "--json",
    ]
    done = CliRunner().invoke(make_app(), arguments)
    assert done.exit_code == 1
    reports = json.loads(done.stdout)
    assert [report["name"] for report in reports] == ["good", str(bad), str(tmp_path / "none.txt")]
    assert "RTF" in reports[1]["error"]
    assert reports[2]["exit_code"] == 3
    assert (tmp_path / "out/good.txt").read_text().startswith("CHAPTER I")


def test_the_table_says_what_was_cut_besides_header_and_footer(tmp_path):
    book = tmp_path / "book.txt"
    prose = "Ada baked the bread of the village before the sun was up.\n\n" * 30
    book.write_text(
        "*** START OF THE PROJECT GUTENBERG EBOOK BREAD ***\n\n\nCHAPTER I\n\n\n"
        f"[Illustration: an oven]\n\n{prose}*** END OF THE PROJECT GUTENBERG EBOOK BREAD ***\n"
    )
    done = CliRunner().invoke(make_app(), ["clean", str(book), "--out", str(tmp_path / "out.txt")])
    assert done.exit_code == 0, done.output
    assert "illustration" in done.stdout
    (row,) = (line for line in done.stdout.splitlines() if "illustration" in line)
    assert "header" not in row
    assert "footer" not in row
