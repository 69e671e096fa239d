"""People whom the cast does not list compete for pronouns and quotes, and are left out of the result."""

from __future__ import annotations

import pytest

from bookcoref_data.annotation.cast import parse_cast
from bookcoref_data.annotation.embedded.outsiders import find_outsiders, link_outsiders
from bookcoref_data.annotation.embedded.parsing import parse_book

STORY = (
    "Mr. Ford came into the yard. Anna Hill stood at the gate.\n\n"
    + "“Good day,” said Jacob Stone to Anna Hill. Jacob Stone smiled, and he lifted his hat.\n\n" * 5
)


def test_people_outside_the_cast_are_found_and_linked_beside_it(book_of):
    book = book_of(STORY)
    cast = parse_cast("Mr. Ford\nAnna Hill [f]\n")
    parse = parse_book(book)
    outsiders = find_outsiders(book, cast, parse)
    assert [e.name for e in outsiders] == ["Jacob Stone"]
    linked = link_outsiders(book, cast, outsiders, parse, [])
    assert {m.character for m in linked} == {2}
    assert len(linked) == 10
    assert not find_outsiders(book, parse_cast("Ford\nAnna\nJacob\n"), parse)


def test_pronouns_of_an_outsider_are_given_to_nobody(annotate, said, quotes_of):
    done = annotate(STORY, "Mr. Ford\nAnna Hill [f]\n")
    assert set(said(done)) == {"Mr. Ford", "Anna Hill"}
    assert not {"he", "his"} & set(said(done)["Mr. Ford"])
    assert {speaker for _, speaker, _ in quotes_of(done)} == {None}
    assert all(0 <= m.character < 2 for m in done.state.mentions)


@pytest.mark.parametrize(
    ("sentence", "cast", "outsiders"),
    [
        ("Mrs. Bast laughed, and Mr. Bast sighed.", "Leonard Bast [m]", ["Mrs. Bast"]),
        ("Dr. Grant laughed, and Mrs. Grant sighed.", "Mrs. Grant", ["Dr. Grant"]),
        ("Mrs. Price laughed, and Miss Price sighed.", "Fanny Price; Miss Price", ["Mrs. Price"]),
        ("Miss Price laughed, and Mrs. Price sighed.", "Mrs. Price", ["Miss Price"]),
        ("Mrs. Price laughed, and Mrs. Price sighed.", "Fanny Price [f]", []),
        ("Doctor Grant laughed, and Grant sighed.", "Dr. Grant", []),
    ],
)
def test_another_of_the_same_surname_is_no_character_of_the_cast(book_of, sentence, cast, outsiders):
    book = book_of("\n\n".join([sentence] * 6))
    assert [e.name for e in find_outsiders(book, parse_cast(cast), parse_book(book))] == outsiders


@pytest.mark.parametrize(("times", "outsiders"), [(4, ["Jacob Stone"]), (3, [])])
def test_who_is_named_four_times_is_read_along(book_of, times, outsiders):
    book = book_of("Mr. Ford came.\n\n" + "Jacob Stone smiled at Mr. Ford.\n\n" * times)
    assert [e.name for e in find_outsiders(book, parse_cast("Mr. Ford"), parse_book(book))] == outsiders


@pytest.mark.parametrize(
    ("text", "cast", "outsiders"),
    [
        ("The Baron sat beside Mr. Ford.", "Mr. Ford", ["the Baron"]),
        # He is listed.
        ("The Baron sat beside Mr. Ford.", "Mr. Ford\nBaron Stein", []),
        ("“No,” said the Baron to Mr. Ford.", "Mr. Ford\nBaron Stein", []),
        ("The Doctor sat beside Mr. Ford.", "Mr. Ford\nDr. Stein", []),
        # Not a person called by a title alone.
        ("The Baron of Stein sat beside Mr. Ford.", "Mr. Ford", []),
        ("The baron sat beside Mr. Ford.", "Mr. Ford", []),
    ],
)
def test_who_is_only_called_by_a_title_is_read_along(book_of, text, cast, outsiders):
    book = book_of("\n\n".join([text] * 8))
    found = find_outsiders(book, parse_cast(cast), parse_book(book))
    assert [e.name for e in found if e.name.startswith("the ")] == outsiders


@pytest.mark.parametrize(("times", "outsiders"), [(8, ["the Baron"]), (7, [])])
def test_a_title_alone_must_be_written_eight_times(book_of, times, outsiders):
    book = book_of("\n\n".join(["The Baron sat beside Mr. Ford."] * times))
    found = find_outsiders(book, parse_cast("Mr. Ford"), parse_book(book))
    assert [e.name for e in found] == outsiders


def test_a_title_before_many_names_is_nobody_called_by_it_alone(book_of):
    names = ("Stein", "Holt", "Lamp", "Reed")
    book = book_of("\n\n".join(f"The Baron {name} sat beside Mr. Ford." for name in names * 3))
    assert find_outsiders(book, parse_cast("Mr. Ford"), parse_book(book)) == ()


def test_a_mother_whom_the_cast_does_not_list_is_not_her_daughter(annotate, said):
    text = (
        "Anna Hill came in. Miss Hill sat down. Anna smiled, and Miss Hill laughed.\n\n"
        "Mrs. Hill was in the garden. Mrs. Hill cut roses there.\n\n"
    ) * 6
    found = said(annotate(text, "Anna Hill [f]\nMr. Ford\n"))["Anna Hill"]
    assert found.count("Miss Hill") == 12
    assert "Mrs. Hill" not in found
    listed = said(annotate(text.replace("Miss Hill", "Mrs. Hill"), "Anna Hill [f]\nMr. Ford\n"))["Anna Hill"]
    assert listed.count("Mrs. Hill") == 24
