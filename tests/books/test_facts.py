"""The facts of a book: what is written is what is read, and nothing else is read."""

from types import SimpleNamespace

import pytest

from bookcoref_data.books import Book, split_book
from bookcoref_data.books.facts import (
    BookFacts,
    books_called,
    content_digest,
    document_sha256,
    facts_of,
    one_called,
)
from bookcoref_data.errors import UsageError


@pytest.fixture(scope="module")
def facts() -> BookFacts:
    book = Book.make("a_1", [["x", "y"], ["z"]], clusters=[[(0, 0), (2, 2)]], characters=[("Ann", [(0, 0)])])
    return facts_of(book, split_book(book).books, "test", notes=["a note"])


def test_facts_are_read_as_they_were_written(facts):
    assert BookFacts.from_dict(facts.to_dict()) == facts
    counts = (facts.tokens, facts.sentences, facts.characters, facts.clusters, facts.mentions, facts.windows)
    assert counts == (3, 2, 1, 1, 2, 1)


@pytest.mark.parametrize("name", ["tokens", "doc_key", "windows_sha256"])
def test_a_missing_or_an_unknown_fact_is_refused(facts, name):
    value = facts.to_dict()
    with pytest.raises(ValueError, match="the facts: more cannot be used: one of doc_key"):
        BookFacts.from_dict(value | {"more": 1})
    del value[name]
    with pytest.raises(ValueError, match=f"{name} cannot be used: a field '{name}'"):
        BookFacts.from_dict(value)


def test_a_long_name_of_an_unknown_fact_is_cut(facts):
    with pytest.raises(ValueError, match=f"the facts: {'x' * 120} cannot"):
        BookFacts.from_dict(facts.to_dict() | {"x" * 999: 1})


def test_three_facts_may_be_left_out(facts):
    value = {k: v for k, v in facts.to_dict().items() if k not in ("text", "check", "notes")}
    read = BookFacts.from_dict(value)
    assert (read.text, read.check, read.notes) == ({}, "built", ())


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("tokens", -1, "a count"), ("tokens", 1 << 63, "a count"), ("tokens", True, "a count"),
        ("tokens", "3", "a count"), ("split", 5, "text"), ("split", "\ud800", "text"),
        ("split", "a \udfff", "text"), ("notes", "a note", "a list of texts"),
        ("notes", [1], "text"),
        ("text", [], "a table"), ("text", {"name": 1}, "string or null"),
    ],
)  # fmt: skip
def test_a_fact_of_another_kind_is_refused(facts, name, value, words):
    with pytest.raises(ValueError, match=rf"the facts: {name}\S* cannot be used: {words}"):
        BookFacts.from_dict(facts.to_dict() | {name: value})


@pytest.mark.parametrize(
    ("name", "value"),
    [("tokens", 0), ("tokens", (1 << 63) - 1), ("split", "\ud7ff"), ("split", "\ue000"), ("notes", ["x"]),
     ("text", {"name": None})],
)  # fmt: skip
def test_the_bounds_of_a_fact_are_read(facts, name, value):
    assert BookFacts.from_dict(facts.to_dict() | {name: value}).to_dict()[name] == value


def test_no_facts_at_all_are_refused():
    with pytest.raises(ValueError, match="the facts: cannot be used: a table of facts"):
        BookFacts.from_dict([])


def test_the_checksum_of_a_document_covers_all_of_its_row(facts):
    whole = {"sentences": [["x", "y"], ["z"]], "clusters": [[(0, 0), (2, 2)]], "gutenberg_key": "1",
             "characters": [("Ann", [(0, 0)])]}  # fmt: skip
    changes = [
        {}, {"sentences": [["x"], ["y", "z"]]}, {"sentences": [["x", "y"], ["w"]]}, {"gutenberg_key": "2"},
        {"clusters": [[(0, 0), (1, 2)]]}, {"clusters": [[(2, 2), (0, 0)]]},
        {"clusters": [[(0, 0)], [(2, 2)]]},
        {"characters": [("Tom", [(0, 0)])]}, {"characters": [("Ann", [(0, 1)])]},
        {"characters": [("Ann", [(0, 0)]), ("Tom", [(2, 2)])]},
    ]  # fmt: skip
    books = [Book.make("a_1", **(whole | change)) for change in changes]
    books.append(Book.make("b_1", **whole))
    assert len({document_sha256(book) for book in books}) == len(books)
    assert document_sha256(books[0], books[0].tokens_sha256()) == document_sha256(books[0])
    assert content_digest([facts]) != content_digest([facts, facts])


SHELF = {"emma_158": "158", "persuasion_105": "105", "animal_farm_0": "0", "emma_2_1580.remapped": "1580"}


def shelf():
    return [SimpleNamespace(doc_key=key, gutenberg_key=number) for key, number in SHELF.items()]


@pytest.mark.parametrize(
    ("name", "key"),
    [("emma_158", "emma_158"), ("105", "persuasion_105"), ("Animal Farm", "animal_farm_0"),
     ("emma", "emma_158"), ("suasi", "persuasion_105"), ("emma_2", "emma_2_1580.remapped"),
     ("2_1580", "emma_2_1580.remapped")],
)  # fmt: skip
def test_a_book_is_called_by_key_number_title_or_part_of_one_key(name, key):
    assert one_called(shelf(), name, "here").doc_key == key


@pytest.mark.parametrize("books", [shelf(), shelf()[:1]])
@pytest.mark.parametrize("name", ["nobody", "58", "15", "0158", "emma_15", "ma_1"])
def test_a_name_of_no_book_is_refused_even_where_there_is_one_book(name, books):
    with pytest.raises(UsageError, match=f"here has no book '{name}'") as error:
        one_called(books, name, "here")
    assert "Gutenberg id" in str(error.value.expected)
    assert "emma_158" in str(error.value.found)
    assert error.value.hint


def test_a_name_of_several_books_is_refused_and_the_nearest_are_suggested():
    with pytest.raises(UsageError, match="several books 'emm'") as error:
        one_called(shelf(), "emm", "here")
    assert error.value.found == "the books emma_158, emma_2_1580.remapped"
    assert one_called(shelf()[:1], "", "here").doc_key == "emma_158"
    with pytest.raises(UsageError, match="here holds 4 books"):
        one_called(shelf(), "", "here")
    with pytest.raises(UsageError) as error:
        books_called(["persuation"], shelf(), "here")
    assert error.value.hint == "did you mean persuasion_105?"


def test_one_number_may_stand_for_several_books_where_several_are_wanted():
    two = [*shelf(), SimpleNamespace(doc_key="other_0", gutenberg_key="0")]
    assert [b.doc_key for b in books_called(["0", "158", "0"], two, "here")] == [
        "animal_farm_0", "other_0", "emma_158",
    ]  # fmt: skip
    assert books_called([], two, "here") == two
    with pytest.raises(UsageError, match="several books '0'"):
        one_called(two, "0", "here")
