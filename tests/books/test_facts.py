"""The facts of a book: what is written is what is read, and nothing else is read."""

import pytest

from bookcoref_data.books import Book, split_book
from bookcoref_data.books.facts import BookFacts, content_digest, document_sha256, facts_of


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
    with pytest.raises(ValueError, match="'more' is unknown or missing"):
        BookFacts.from_dict(value | {"more": 1})
    del value[name]
    with pytest.raises(ValueError, match=f"'{name}' is unknown or missing"):
        BookFacts.from_dict(value)


def test_a_long_name_of_an_unknown_fact_is_cut(facts):
    with pytest.raises(ValueError, match=f"fact '{'x' * 40}' is unknown"):
        BookFacts.from_dict(facts.to_dict() | {"x" * 99: 1})


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
        ("notes", [1], "a list of texts"),
        ("text", [], "a table"), ("text", {"name": 1}, "a table"),
    ],
)  # fmt: skip
def test_a_fact_of_another_kind_is_refused(facts, name, value, words):
    with pytest.raises(ValueError, match=f"the fact '{name}' is not {words}"):
        BookFacts.from_dict(facts.to_dict() | {name: value})


@pytest.mark.parametrize(
    ("name", "value"),
    [("tokens", 0), ("tokens", (1 << 63) - 1), ("split", "\ud7ff"), ("split", "\ue000"), ("notes", ["x"]),
     ("text", {"name": None})],
)  # fmt: skip
def test_the_bounds_of_a_fact_are_read(facts, name, value):
    assert BookFacts.from_dict(facts.to_dict() | {name: value}).to_dict()[name] == value


def test_no_facts_at_all_are_refused():
    with pytest.raises(ValueError, match="not a table of facts"):
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
