"""Breakdowns: what falls into which bin, and that the bins of a dimension make the whole score."""

from __future__ import annotations

from itertools import pairwise

import pytest

from bookcoref_data.books import Record
from bookcoref_data.scoring import evaluate
from bookcoref_data.scoring.breakdowns import BREAKDOWN_METRICS, breakdown, position_curve
from bookcoref_data.scoring.scores import NOTHING

SENTENCES = [
    ["Anna", "saw", "Ben", "."],
    ["She", "saw", "him", "and", "the", "cat", "."],
    ["Then", "Anna", "left", "."],
]
ANNA, SHE, ANNA2 = (0, 0), (4, 4), (12, 12)
BEN, HIM, CAT = (2, 2), (6, 6), (8, 9)


def by_name(dimensions):
    return {d.name: {b.name: b for b in d.bins} for d in dimensions}


@pytest.fixture
def small():
    key = Record("b", "", SENTENCES, [[ANNA, SHE, ANNA2], [BEN, HIM], [CAT]])
    response = Record("b", "", SENTENCES, [[ANNA, SHE, HIM], [BEN, ANNA2]])
    return evaluate([key], [response])


def test_types_of_a_small_text(small):
    bins = by_name(breakdown(small))["type"]
    assert {k: (b.key_mentions, b.response_mentions) for k, b in bins.items()} == {
        "name": (3, 3),
        "nominal": (1, 0),
        "pronoun": (2, 2),
    }
    assert bins["nominal"].scores["mentions"].recall == 0
    # She lies with Anna (2 of 3), him lies apart (1 of 2): per mention |K n R| / |K|.
    assert bins["pronoun"].scores["b_cubed"].recall == pytest.approx((2 / 3 + 1 / 2) / 2)


def test_frequency_is_that_of_the_own_cluster(small):
    bins = by_name(breakdown(small))["frequency"]
    assert {k: (b.key_mentions, b.response_mentions) for k, b in bins.items()} == {
        "1": (1, 0),
        "2": (2, 2),
        "3-5": (3, 3),
    }


def test_distances_to_the_previous_mention_and_to_a_name(small):
    found = by_name(breakdown(small))
    assert {k: b.key_mentions for k, b in found["previous"].items()} == {"first mention": 3, "0-10": 3}
    assert {k: b.key_mentions for k, b in found["name"].items()} == {
        "a name": 3,
        "0-10": 2,
        "no name in cluster": 1,
    }


def far_apart(gap):
    """A name, a pronoun `gap` tokens on, a pronoun 10 tokens after that."""
    words = ["Anna", *["x"] * (gap - 1), "she", *["x"] * 9, "she"]
    clusters = [[(0, 0), (gap, gap), (gap + 10, gap + 10)]]
    return Record("b", "", [words], clusters)


@pytest.mark.parametrize(("gap", "previous", "name"), [
    (10, "0-10", "0-10"),
    (11, "11-50", "11-50"),
    (51, "51-200", "51-200"),
    (1000, "201-1,000", "201-1,000"),
    (6000, "over 5,000", "over 5,000"),
])  # fmt: skip
def test_bin_edges_are_inclusive(gap, previous, name):
    book = far_apart(gap)
    found = by_name(breakdown(evaluate([book], [book])))
    assert previous in found["previous"]
    assert name in found["name"]


def test_the_nearest_name_may_follow():
    words = ["she", *["x"] * 99, "Anna", "x", "x"]
    book = Record("b", "", [words], [[(0, 0), (100, 100)]])
    assert set(by_name(breakdown(evaluate([book], [book])))["name"]) == {"a name", "51-200"}


def test_names_of_another_cluster_do_not_count():
    words = ["Ben", "she", *["x"] * 99, "Anna"]
    book = Record("b", "", [words], [[(0, 0)], [(1, 1), (101, 101)]])
    assert set(by_name(breakdown(evaluate([book], [book])))["name"]) == {"a name", "51-200"}


def test_bins_add_up_to_the_score_of_real_books(farm, real):
    for mode in ("full", "gold-window-released"):
        result = evaluate(farm["key"], real["system"], mode)
        for dimension in breakdown(result):
            for metric in BREAKDOWN_METRICS:
                total = sum((b.scores[metric] for b in dimension.bins), start=NOTHING)
                whole = getattr(result.pooled, metric)
                assert total.to_dict() == pytest.approx(whole.to_dict()), (mode, dimension.name, metric)


def test_text_is_said_to_be_missing(record):
    dimensions = breakdown(evaluate([record("b", "ab")], [record("b", "ab")]))
    assert [d.name for d in dimensions if d.unavailable] == ["type", "name"]


def test_the_curve_covers_the_book_once(farm, real):
    result = evaluate(farm["key"], real["system"])
    points = position_curve(result, result.books[0])
    assert (points[0].start, points[-1].end) == (0, 34_979)
    assert all(a.end == b.start for a, b in pairwise(points))
    assert sum(p.key_mentions for p in points) == 1705
    total = sum((p.scores["b_cubed"] for p in points), start=NOTHING)
    assert total.to_dict() == pytest.approx(result.pooled.b_cubed.to_dict())


def test_a_short_book_has_one_point(small):
    assert len(position_curve(small, small.books[0])) == 1
