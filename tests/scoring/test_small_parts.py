"""Small parts of scoring: agreement by chance, snippets, passages worth annotating, shares that add up."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bookcoref_data.books import Record
from bookcoref_data.scoring import evaluate
from bookcoref_data.scoring.labels import snippet, text_of
from bookcoref_data.scoring.scores import Score, cohens_kappa, harmonic_mean, ratio
from bookcoref_data.scoring.typed import Suggestion, best, class_weights, passages


@pytest.mark.parametrize(
    ("pairs", "kappa"),
    [
        ({}, None),
        ({("a", "a"): 5}, None),
        ({("a", "b"): 5}, 0.0),
        ({("a", "a"): 1, ("b", "b"): 1}, 1.0),
        ({("a", "b"): 1, ("b", "a"): 1}, -1.0),
        ({("a", "a"): 20, ("a", "b"): 5, ("b", "a"): 10, ("b", "b"): 15}, 0.4),
        ({("a", "a"): 0}, None),
    ],
)
def test_kappa_of_two_people(pairs, kappa):
    assert cohens_kappa(pairs) == (kappa if kappa is None else pytest.approx(kappa))


def test_ratios_of_nothing_are_nothing():
    assert (ratio(1, 0), ratio(1, 4), harmonic_mean(0, 0), harmonic_mean(0.5, 1.0)) == (
        0.0,
        0.25,
        0.0,
        pytest.approx(2 / 3),
    )
    both = Score(1, 2, 1, 4) + Score(1, 2, 0, 1)
    assert (both.recall, both.precision, both.f1) == (0.5, 0.2, pytest.approx(2 / 7))


WORDS = ["a", "b", "\n", "c", "d", "e"]


@pytest.mark.parametrize(
    ("start", "end", "width", "shown"),
    [
        (3, 3, 1, "[c] d"),
        (3, 3, 2, "b [c] d e"),
        (0, 0, 2, "[a] b"),
        (5, 5, 2, "c d [e]"),
        (0, 5, 2, "[a b c d e]"),
        (1, 3, 1, "a [b c] d"),
        (3, 2, 1, None),
        (-1, 0, 1, None),
        (5, 6, 1, None),
        (4, 5, 0, "[d e]"),
    ],
)
def test_a_mention_is_shown_between_its_neighbours(start, end, width, shown):
    assert snippet(WORDS, start, end, width) == shown
    assert snippet(None, start, end, width) is None


def test_the_snippet_has_eight_words_on_either_side():
    assert snippet([str(i) for i in range(30)], 15, 15) == "7 8 9 10 11 12 13 14 [15] 16 17 18 19 20 21 22 23"
    assert [text_of(WORDS, a, b) for a, b in ((1, 3), (-3, 0), (2, 2), (4, 9))] == ["b c", "a", "", "d e"]


def test_what_a_mention_of_a_class_is_worth():
    f1 = SimpleNamespace
    labels = [
        SimpleNamespace(label="A", mentions=f1(f1=0.5), gold_links=f1(f1=0.7), key_mentions=4),
        SimpleNamespace(label="B", mentions=f1(f1=1.0), gold_links=f1(f1=0.0), key_mentions=0),
    ]
    assert class_weights(SimpleNamespace(labels=labels)) == {"A": pytest.approx(0.1), "B": 0.5}


def test_passages_are_whole_sentences_of_about_so_many_tokens():
    labels = {(0, 1): "A", (5, 5): "A", (6, 6): "B", (9, 9): None, (10, 10): "C"}
    found = list(passages("d", [3, 6, 10, 11], labels, {"A": 1.0, "B": 0.25}, 5))
    assert found == [Suggestion("d", 0, 6, {"A": 2}, 2.0), Suggestion("d", 6, 11, {"B": 1, "C": 1}, 0.25)]
    assert next(passages("d", [3, 6, 10, 11], labels, {}, 6)).end == 6
    assert next(passages("d", [3, 6, 10, 11], labels, {}, 7)).end == 10
    assert [p.end for p in passages("d", [1999, 2000, 2001], {}, {})] == [2000, 2001]
    assert list(passages("d", [], {}, {})) == []


def test_the_best_passages_come_first():
    some = [
        Suggestion("b", 0, 1, {}, 1.0),
        Suggestion("a", 5, 6, {}, 1.0),
        Suggestion("a", 0, 1, {}, 1.0),
        Suggestion("z", 0, 1, {}, 2.0),
    ]
    assert [(p.doc_key, p.start) for p in best(some, 3)] == [("z", 0), ("a", 0), ("a", 5)]
    assert best(some, 0) == []


spans = st.lists(
    st.lists(st.integers(0, 12).map(lambda i: (i, i)), min_size=1, max_size=5, unique=True), max_size=4
)


def slow_b_cubed(one, other):
    total = sum(len(set(c) & set(d)) ** 2 / len(c) for c in one for d in other)
    return total, sum(map(len, one))


@given(spans, spans)
def test_b_cubed_is_its_definition(key, response):
    taken = set()
    key, response = (
        [[m for m in c if (side, m) not in taken and not taken.add((side, m))] for c in cs]
        for side, cs in (("k", key), ("r", response))
    )
    sentences = [["w"] * 13]
    key, response = ([c for c in cs if c] for cs in (key, response))
    found = evaluate([Record("d", "", sentences, key)], [Record("d", "", sentences, response)]).pooled.b_cubed
    assert (found.recall_numerator, found.recall_denominator) == pytest.approx(slow_b_cubed(key, response))
    assert (found.precision_numerator, found.precision_denominator) == pytest.approx(
        slow_b_cubed(response, key)
    )
