"""Quotes of which a person has said who speaks, in a text that has nothing else."""

from __future__ import annotations

from bookcoref_data.annotation.cast import parse_cast
from bookcoref_data.annotation.embedded.parsing import parse_book
from bookcoref_data.annotation.embedded.reader import subjects_of
from training.parses import link_text


def test_a_quote_without_a_tag_says_of_nobody_who_speaks(book_of):
    book = book_of("“Rain!”\n")
    text = link_text(book, parse_cast("Anna"), parse_book(book))
    assert (len(text.speech.spans), text.markables) == (1, [])
    assert subjects_of({0: (0, ())}, text) == {}
