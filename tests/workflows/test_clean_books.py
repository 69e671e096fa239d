"""The shipped cleaning recipe on real books: the guard lets them pass, nothing of the producers is left."""

from __future__ import annotations

import pytest

from bookcoref_data.errors import UsageError
from bookcoref_data.workflows.clean import clean_one, load_recipe, read_settings

FORBIDDEN = ("Gutenberg", "GUTENBERG", "pgdp.net", "Produced by", "Distributed Proofread", "[Illustration",
             "[Footnote")  # fmt: skip
# One for each difficulty: other works and glosses, notes at the end, plates, many footnotes, two tables of
# contents, a second table set as text, prefaces by others, notes of the transcriber, the small print.
BOOKS = {
    "2383": "CANTERBURY TALES", "28240": "BOOK I", "46597": "CHAPTER I", "82": "halter",
    "996": "COMMENDATORY",
    "580": "CHAPTER I", "47935": "I", "102": "There is no character", "66057": "CHAPTER I",
    "145": "To my dear",
    "19810": "INTRODUCTION", "1837": "I will set down a tale", "2759": "Chapter I", "6124": "LETTER I",
}  # fmt: skip


@pytest.mark.parametrize("book", BOOKS)
def test_real_books_pass_the_guard_and_keep_nothing_of_the_producers(shared_data, book):
    path = shared_data / "gutenberg/cache/epub" / book / f"pg{book}.txt"
    cleaned = clean_one(str(path), read_settings(), read=None)
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
