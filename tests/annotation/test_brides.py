"""A woman who marries in the book, and is "Mrs." and her husband's name from then on."""

from __future__ import annotations

import pytest

from bookcoref_data.annotation.embedded.parsing import parse_book
from bookcoref_data.annotation.propose import propose_cast
from bookcoref_data.annotation.workshop import make_workshop

EARLY = "Dora Brooke smiled. Miss Brooke sat down. She spoke to Anna Hill. Anna laughed. It rained.\n\n" * 12
WEDDING = "Mr. Carter was married to Dora in May. It snowed.\n\n" * 5
LATER = "Mrs. Carter smiled. Dora walked home. Mr. Carter slept. Anna Hill sang. It rained.\n\n" * 12


@pytest.fixture(scope="module")
def whose(book_of):
    """Text -> the names of whoever is called Mrs. Carter."""

    def find(text: str) -> set[str]:
        entries = propose_cast(book_of(text)).cast.entries
        return next({e.name, *e.aliases} for e in entries if "Mrs. Carter" in {e.name, *e.aliases})

    return find


BOTH = LATER.replace("It rained", "Mrs. Dale slept")


@pytest.mark.parametrize(
    ("early", "wedding", "later"),
    [
        # His mother was there before, or is called his mother.
        (EARLY.replace("It rained", "Mrs. Carter rode home"), WEDDING, LATER),
        (EARLY, WEDDING, LATER.replace("Mrs. Carter smiled", "Mrs. Carter smiled at her son")),
        # He is spoken of with one sister as with the other.
        (EARLY, WEDDING.replace("Dora in", "Dora or Anna in"), LATER),
        (EARLY, WEDDING + WEDDING.replace("Dora", "Anna")[:150], LATER),
        # She would not have him, and he took another.
        (EARLY, "Dora would not marry Mr. Carter.\n\n" * 9 + "Mr. Carter has a wife, Anna.\n\n" * 2, LATER),
        # A widow who marries again; Dora sees it.
        (EARLY.replace("rained", "saw Mrs. Dale"), WEDDING.replace("Dora", "Mrs. Dale, saw Dora,"), LATER),
        # Miss Brooke goes on, or comes no earlier.
        (EARLY, WEDDING, LATER.replace("It rained", "Miss Brooke ran")),
        ("It rained. Anna Hill sang.\n\n" * 12, WEDDING, LATER + EARLY),
        # Mr. Dale, whose wife is there, too, came to the wedding; or it was his.
        (EARLY, WEDDING.replace("Mr. Carter", "Mr. Carter saw that Mr. Dale"), BOTH),
        # There is no Mr. Carter.
        (EARLY, WEDDING.replace("Carter", "Dale"), LATER.replace("Mr. Carter", "Tom Dale")),
    ],
)
def test_mrs_carter_is_somebody_else(whose, early, wedding, later):
    assert whose(early + wedding + later) == {"Mrs. Carter"}


@pytest.mark.parametrize("title", ["Mr.", "Doctor", "Sir Henry"])
def test_the_bride_is_mrs_carter(whose, title):
    """Also where her sister was spoken of once, and where she says "Mrs. Carter" of herself."""
    told = WEDDING + "Anna saw Mr. Carter and his wife.\n\n" + "“I am Mrs. Carter now,” said Dora.\n\n"
    text = EARLY + told + LATER
    assert whose(text.replace("Mr. Carter", f"{title} Carter")) >= {"Mrs. Carter", "Dora", "Miss Brooke"}


@pytest.mark.parametrize(("wedding", "asked"), [(WEDDING[:150], True), (WEDDING[:50], False)])
def test_what_is_not_sure_is_asked(book_of, wedding, asked):
    """Three sentences make no bride, but a question; one is none. Her mother-in-law is never asked for."""
    book = book_of(EARLY + wedding + LATER)
    made = make_workshop(book, parse_book(book), "Dora Brooke\nMrs. Carter\nMr. Carter\nAnna Hill\n")
    names = [entry.name for entry, *_ in made.people]
    pairs = {(names[one], names[other]): why for one, other, _, why in made.partners if "marriage" in why}
    assert set(pairs) == ({("Dora Brooke", "Mrs. Carter")} if asked else set())
