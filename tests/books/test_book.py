"""A Book is checked once, when made; its checksums say what they claim."""

import hashlib
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bookcoref_data.books import Book, Mention, Record
from bookcoref_data.books.annotation import Marked
from bookcoref_data.books.book import spans_sha256, tokens_sha256
from bookcoref_data.books.facts import content_digest, document_sha256, facts_of
from bookcoref_data.errors import BookcorefError, BookError, EditionError

SENTENCES = [["Ann", "saw", "her", "dog", "."], ["It", "barked", "\n"]]


def make(**changes):
    clusters = [[(0, 0), (2, 2)], [(2, 3), (5, 5)]]
    return Book.make(**{"doc_key": "k", "sentences": SENTENCES, "clusters": clusters, **changes})


def test_sentences_are_a_view_of_flat_tokens():
    book = make()
    assert book.tokens == ("Ann", "saw", "her", "dog", ".", "It", "barked", "\n")
    assert book.sentences == SENTENCES
    assert book.mention_count == 4
    assert book.text_of(Mention(5, 7)) == "It barked"
    assert book.text_of(Marked(5, 7, 0, "link", "name", 1.0)) == "It barked"


@pytest.mark.parametrize(
    ("clusters", "told"),
    [
        ([[(0, 8)]], "(0, 8) outside the 8 tokens"),
        ([[(-1, 0)]], "(-1, 0) outside"),
        ([[(3, 2)]], "(3, 2) outside"),
        ([[]], "cluster 0 has no mention"),
        ([[(0, 0)], [(1, 1), (1, 1)]], "cluster 1 holds the mention (1, 1) twice"),
    ],
)
def test_a_broken_rule_is_named(clusters, told):
    with pytest.raises(BookError, match="breaks 1 rule") as error:
        make(clusters=clusters)
    assert told in str(error.value)


def test_empty_sentences_and_wrong_ends_are_refused():
    with pytest.raises(BookError, match="a sentence is empty"):
        Book.make("k", [["a"], []])
    with pytest.raises(BookError, match="2 speakers are given for 1 tokens"):
        Book.make("k", [["a"]], speakers=[["Ann", "Bo"]])
    with pytest.raises(BookError, match="cover 1 of 2"):
        Book("k", "", ("a", "b"), (1,))


def test_a_record_without_text_is_no_book():
    with pytest.raises(BookError, match="has no sentences"):
        Record("k", clusters=[[Mention(0, 0)]]).to_book()
    assert make().to_record().to_book() == make()


def test_token_checksum_is_over_zero_terminated_utf8():
    assert tokens_sha256(["a", "é"]) == hashlib.sha256("a\0é\0".encode()).hexdigest()
    assert tokens_sha256(["ab"]) != tokens_sha256(["a", "b"])


@given(st.permutations([[(0, 0), (2, 2)], [(2, 3), (5, 5)], [(1, 1)]]))
def test_span_checksum_ignores_order(clusters):
    assert spans_sha256(clusters) == spans_sha256([list(reversed(c)) for c in clusters])
    assert spans_sha256(clusters) == spans_sha256([[(2, 2), (0, 0)], [(1, 1)], [(5, 5), (2, 3)]])
    assert spans_sha256(clusters) != spans_sha256(clusters[:2])


@pytest.mark.parametrize(
    "change",
    [
        {"clusters": [[(0, 0), (2, 2)]]},
        {"characters": [("Ann", [(0, 0)])]},
        {"gutenberg_key": "7"},
        {"doc_key": "l"},
        {"sentences": [[*SENTENCES[0], *SENTENCES[1]]]},
        {"sentences": [SENTENCES[0], ["It", "howled", "\n"]]},
        {"clusters": [[(2, 2), (0, 0)], [(2, 3), (5, 5)]]},
    ],
)
def test_document_checksum_sees_every_field_and_order(change):
    assert document_sha256(make(**change)) != document_sha256(make())


def test_content_digest_sees_splits_order_and_windows():
    a, b = make(), Book.make("other", SENTENCES)
    facts = [facts_of(a, [a], "test"), facts_of(b, [b], "test")]
    digests = {
        content_digest(facts),
        content_digest(facts[::-1]),
        content_digest([facts_of(a, [a], "train"), facts[1]]),
        content_digest([facts_of(a, [], "test"), facts[1]]),
    }
    assert len(digests) == 4


def test_errors_survive_the_way_between_processes():
    error = EditionError("book 7", expected=1, found=2, hint="do this")
    back = pickle.loads(pickle.dumps(error))  # our own object, made one line above
    assert type(back) is EditionError
    assert str(back) == str(error)
    assert "expected: 1" in str(back)
    assert "next:     do this" in str(back)
    assert isinstance(back, BookcorefError)
