"""Which documents belong together, and what is refused or said about them."""

from __future__ import annotations

import dataclasses

import pytest

from bookcoref_data.books import Mention
from bookcoref_data.errors import DataError
from bookcoref_data.scoring import evaluate
from bookcoref_data.scoring.documents import as_document


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
def test_characters_that_are_not_the_clusters_are_counted_and_named(record, side):
    sound = record("one", "ab cd", names=["Anna", "Carl"])
    assert evaluate([sound], [sound]).notes == ()
    odd = dataclasses.replace(sound, characters=[sound.characters[0], ("Carl", [Mention(97, 97)])])
    result = evaluate(*([[odd], [sound]] if side == "key" else [[sound], [odd]]))
    assert result.pooled.conll.f1 == 1.0
    assert f"1 of the 2 characters of the {side} have other mentions" in result.notes[0]
    assert "'Carl'" in result.notes[0]
