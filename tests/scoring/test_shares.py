"""Shares of mentions add up to the score, under every rule and in every mode."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bookcoref_data.scoring import evaluate
from bookcoref_data.scoring.breakdowns import BREAKDOWN_METRICS, shares
from bookcoref_data.scoring.clustering import members
from bookcoref_data.scoring.evaluation import book_overlaps
from bookcoref_data.scoring.metrics import overlaps
from bookcoref_data.scoring.scores import Score
from tests.drawing import drawn

SPANS = st.tuples(st.integers(0, 5), st.integers(0, 1)).map(lambda p: (p[0], p[0] + p[1]))
LISTS = st.lists(st.lists(SPANS, min_size=1, max_size=5), max_size=5)


def numbers(score):
    return list(score.to_dict().values())


def total(sides):
    return numbers(Score(*(float(values.sum()) for side in sides for values in side[1:])))


@drawn(150)
@given(LISTS, LISTS, st.sampled_from(["released", "first"]), st.sampled_from(["keep", "drop"]))
def test_shares_add_up_even_with_repeated_spans(key, response, duplicates, singletons):
    both = overlaps(members([key]), members([response]), singletons=singletons, duplicates=duplicates)
    for metric in BREAKDOWN_METRICS:
        assert total(shares(both, metric)) == pytest.approx(numbers(both.parts(metric).total()))


@pytest.mark.parametrize("mode", ["full", "gold-window-released", "gold-window"])
def test_shares_add_up_on_real_books(farm, real, mode):
    result = evaluate(farm["key"], real["system"], mode)
    both = book_overlaps(result.books[0].book, result.rules)
    for metric in BREAKDOWN_METRICS:
        expected = numbers(getattr(result.pooled, metric))
        assert total(shares(both, metric)) == pytest.approx(expected)


def test_shares_of_a_small_case(letters):
    """Key {a b c d}, response {a b}{c}: a, b share a piece of two; c is alone; d is missed."""
    both = overlaps(members([letters("abcd")]), members([letters("ab c")]))
    assert shares(both, "muc")[0].numerator.tolist() == [0.5, 0.5, 0, 0]
    assert shares(both, "b_cubed")[0].numerator.tolist() == [0.5, 0.5, 0.25, 0]
    assert shares(both, "lea")[0].numerator.tolist() == pytest.approx([1 / 3, 1 / 3, 0, 0])
    assert shares(both, "mentions")[0].numerator.tolist() == [1, 1, 1, 0]
    assert shares(both, "muc")[0].denominator.tolist() == [0.75] * 4
