"""Agreement of two annotators: symmetric, and right on a case worked by hand."""

from __future__ import annotations

import pytest

from bookcoref_data.scoring import evaluate
from bookcoref_data.scoring.agreement import agreement


def test_agreement_does_not_depend_on_who_is_the_key(record):
    first = record("b", [[(0, 1), (4, 4), (6, 6)], [(8, 9)]])
    second = record("b", [[(0, 1), (4, 4)], [(6, 6), (9, 9)]])
    one, other = (agreement(evaluate([a], [b])) for a, b in ((first, second), (second, first)))
    assert one.f1 == pytest.approx(other.f1)
    assert (one.same_entity, one.kappa) == pytest.approx((other.same_entity, other.kappa))


def test_a_case_by_hand(record):
    """Three shared spans; two in aligned clusters. (8, 9) and (9, 9) overlap but differ.

    By chance: the first annotator has all three in his cluster, the second two: 3/3 x 2/3 = 2/3.
    """
    first = record("b", [[(0, 1), (4, 4), (6, 6)], [(8, 9)]])
    second = record("b", [[(0, 1), (4, 4)], [(6, 6), (9, 9)]])
    found = agreement(evaluate([first], [second]))
    assert (found.spans.f1, found.overlapping.f1) == (0.75, 1.0)
    assert (found.shared_mentions, found.same_entity) == (3, pytest.approx(2 / 3))
    assert found.kappa == pytest.approx(0.0)


def test_the_same_annotation_agrees_wholly(record):
    same = record("b", "ab cd")
    found = agreement(evaluate([same], [same]))
    assert (found.kappa, found.same_entity, found.overlapping.f1, found.f1["muc"]) == (1.0, 1.0, 1.0, 1.0)
    assert found.to_dict()["documents"] == 1


def test_nothing_in_common_is_no_agreement(record):
    found = agreement(evaluate([record("b", "ab")], [record("b", "cd")]))
    assert (found.shared_mentions, found.same_entity, found.overlapping.f1) == (0, 0.0, 0.0)
