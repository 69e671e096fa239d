"""Which documents belong together, and what is refused or said about them."""

from __future__ import annotations

import pytest

from bookcoref_data.books import Book, Record
from bookcoref_data.errors import DataError, UsageError
from bookcoref_data.scoring import evaluate
from bookcoref_data.scoring.documents import as_document, check_tokens, pair


def documents(*records):
    return [as_document(r) for r in records]


def test_books_pair_by_key_in_any_order(record):
    one, two = record("one", "ab cd"), record("two", "ef")
    result = evaluate([one, two], [two, one])
    assert result.pooled.conll.f1 == 1.0
    assert [b.doc_key for b in result.books] == ["one", "two"]


def test_a_missing_book_is_an_error_that_lists_it(record):
    with pytest.raises(DataError, match=r"lacks 1 of the key's 2 documents: two[\s\S]*--missing skip"):
        evaluate([record("one", "ab"), record("two", "cd")], [record("one", "ab")])


def test_missing_books_can_be_skipped_or_count_as_empty(record):
    key, response = [record("one", "ab"), record("two", "cd")], [record("one", "ab")]
    skipped = evaluate(key, response, missing="skip")
    empty = evaluate(key, response, missing="empty")
    assert (skipped.pooled.muc.recall, empty.pooled.muc.recall) == (1.0, 0.5)
    assert skipped.missing == empty.missing == ("two",)
    assert "left out" in skipped.notes[0]
    assert "as empty" in empty.notes[0]


def test_eight_documents_are_named_and_more_are_counted(record):
    many = [record(f"d{i}", "ab") for i in range(10)]
    assert evaluate(many[:1], many[:9]).notes[0].count(", d") == 7
    assert " more" not in evaluate(many[:1], many[:9]).notes[0]
    assert "d7, d8 and 1 more" in evaluate(many[:1], many).notes[0]


def test_extra_books_are_named_and_not_scored(record):
    result = evaluate([record("one", "ab")], [record("one", "ab"), record("zwei", "cd")])
    assert result.extra == ("zwei",)
    assert "zwei" in result.notes[0]
    assert result.pooled.muc.f1 == 1.0


@pytest.mark.parametrize("side", ["key", "response"])
def test_a_book_given_twice_is_refused(record, side):
    once, twice = [record("one", "ab")], [record("one", "ab"), record("one", "cd")]
    pairs = {"key": (twice, once), "response": (once, twice)}[side]
    with pytest.raises(DataError, match=f"the {side} holds document 'one' twice"):
        evaluate(*pairs)


def test_no_book_in_common_is_refused(record):
    with pytest.raises(UsageError, match="no document in common"):
        evaluate([record("one", "ab")], [record("other", "ab")])


def test_an_empty_response_file_is_refused_unless_it_counts_as_empty(record):
    with pytest.raises(UsageError, match="--missing empty"):
        evaluate([record("one", "ab")], [], missing="skip")
    assert evaluate([record("one", "ab")], [], missing="empty").pooled.conll.f1 == 0.0


def test_an_empty_key_is_refused(record):
    with pytest.raises(DataError, match="key holds no document"):
        evaluate([], [record("one", "ab")])


def test_documents_without_mentions_score_zero(record):
    assert evaluate([record("one", "ab")], [record("one", [])]).pooled.conll.f1 == 0.0


def test_the_first_differing_token_is_shown_with_its_neighbours():
    a = Book.make("b", [["the", "old", "\n", "hall", "of", "stone"]])
    b = Book.make("b", [["the", "old", "\n", "Hall", "of", "stone"]])
    with pytest.raises(DataError, match=r"token 3 is the first") as found:
        check_tokens(*documents(a, b))
    assert r"the old '\n' >>hall<< of stone" in found.value.expected
    assert ">>Hall<<" in found.value.found


@pytest.mark.parametrize(
    ("at", "shown"),
    [(0, ">>X<< 1 2 3 4"), (3, "0 1 2 >>X<< 4 5 6 7"), (6, "2 3 4 5 >>X<< 7 8 9"), (9, "5 6 7 8 >>X<<")],
)
def test_four_neighbours_of_a_difference_are_shown_on_either_side(at, shown):
    tokens = [str(i) for i in range(10)]
    other = [*tokens[:at], "X", *tokens[at + 1 :]]
    with pytest.raises(DataError, match=f"token {at} is the first") as found:
        check_tokens(*documents(Book.make("b", [tokens]), Book.make("b", [other])))
    assert found.value.found == f"{shown} (10 tokens)"


def test_a_text_that_stops_early_differs_at_its_end():
    a, b = Book.make("b", [["one", "two", "three"]]), Book.make("b", [["one", "two"]])
    with pytest.raises(DataError, match="token 2") as found:
        check_tokens(*documents(a, b))
    assert "end of text" in found.value.found


@pytest.mark.parametrize("token", ["é", "ﬁ", "\u200b", "\u00ad", "🐖", "e\u0301"])
def test_unusual_tokens_are_compared_as_they_are(token):
    same = Book.make("b", [["a", token]], clusters=[[(0, 0), (1, 1)]])
    assert evaluate([same], [same]).pooled.muc.f1 == 1.0
    with pytest.raises(DataError, match="token 1"):
        evaluate([same], [Book.make("b", [["a", "plain"]])])


def test_an_invisible_difference_is_made_visible():
    a, b = Book.make("b", [["a", "\u200b"]]), Book.make("b", [["a", "\u200c"]])
    with pytest.raises(DataError) as found:
        check_tokens(*documents(a, b))
    assert r"\u200b" in found.value.expected


def test_books_renamed_with_the_same_text_pair():
    a = Book.make("farm", [["one", "two"]], clusters=[[(0, 0), (1, 1)]])
    b = Book.make("farm_0", [["one", "two"]], clusters=[[(0, 0), (1, 1)]])
    result = evaluate([a], [b])
    assert result.books[0].doc_key == "farm"
    assert "'farm_0' of the response is 'farm' of the key" in result.notes[0]


def test_two_books_with_the_same_text_are_not_guessed_at():
    text = [["one", "two"]]
    key, response = [Book.make("farm", text)], [Book.make("x", text), Book.make("y", text)]
    with pytest.raises(UsageError, match="no document in common"):
        evaluate(key, response)


def test_tokens_are_not_needed(record):
    bare = record("b", "ab cd")
    assert pair(documents(bare), documents(bare)).notes == ()
    assert (
        evaluate([bare], [Record("b", sentences=[["x"] * 200], clusters=bare.clusters)]).pooled.conll.f1 == 1
    )


def test_characters_stand_in_for_clusters():
    """A file with characters alone is scored on them."""
    named = Record("b", characters=[("Anna", [(0, 0), (4, 4)]), ("Ben", [(2, 2), (3, 3)])])
    plain = Record("b", clusters=[[(0, 0), (4, 4)], [(2, 2), (3, 3)]])
    assert evaluate([plain], [named]).pooled.conll.f1 == 1.0


def test_clusters_are_named_by_most_of_their_mentions():
    document = as_document(
        Record(
            "b",
            clusters=[[(0, 0), (1, 1), (9, 9)], [(5, 5)]],
            characters=[("A", [(0, 0), (1, 1)]), ("B", [(9, 9)])],
        )
    )
    assert document.names == ("A", None)
