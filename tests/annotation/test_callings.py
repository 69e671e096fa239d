"""What the book says that people with a name are."""

from __future__ import annotations

import pytest

from bookcoref_data.annotation.embedded.parsing import parse_book
from bookcoref_data.annotation.embedded.phrases import find_callings, living


@pytest.mark.parametrize(
    ("text", "nouns"),
    [
        ("Mr. Hill, the surgeon, came in.", {living("surgeon")}),
        ("The surgeon, Mr. Hill, came in.", {living("surgeon")}),
        ("Mr. Hill was a surgeon.", {living("surgeon")}),
        ("Mr. Hill was a tall man and a baker.", {"man"}),
        ("Mr. Hill met the surgeon.", set()),
        ("Mr. Hill was tired.", set()),
    ],
)
def test_grammar_says_what_somebody_is(book_of, text, nouns):
    book = book_of(text + "\n")
    at = book.tokens.index("Hill")
    assert find_callings(book, parse_book(book), [(at - 1, at, 7)])[7] == nouns


def test_a_doctor_may_be_called_the_surgeon_but_not_the_lawyer():
    assert living("doctor") == living("surgeon") == living("physician")
    assert living("solicitor") == living("lawyer") != living("doctor")
    assert living("baker") == "baker"
