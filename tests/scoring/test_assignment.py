"""The alignment is one to one and of greatest total weight, by every route."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bookcoref_data.errors import DataError
from bookcoref_data.scoring import assignment
from bookcoref_data.scoring.assignment import best_alignment
from tests.drawing import drawn

EDGES = st.dictionaries(
    st.tuples(st.integers(0, 6), st.integers(0, 6)),
    st.one_of(st.integers(1, 4).map(float), st.floats(0.01, 1)),
    min_size=1,
    max_size=20,
)


def arrays(edges):
    rows, columns = np.array(list(edges)).T
    return rows, columns, np.array(list(edges.values()))


def exhaustive(edges):
    """The best total over all matchings, edge by edge."""

    def best(left, used):
        if not left:
            return 0.0
        (i, j), weight = left[0]
        without = best(left[1:], used)
        if ("row", i) in used or ("column", j) in used:
            return without
        return max(without, weight + best(left[1:], used | {("row", i), ("column", j)}))

    return best(list(edges.items()), frozenset())


def check(edges, chosen, arrays_):
    rows, columns, weights = arrays_
    assert len(set(rows[chosen])) == len(set(columns[chosen])) == len(chosen)
    return weights[chosen].sum()


@drawn(200)
@given(EDGES)
def test_the_total_is_the_greatest(edges):
    found = arrays(edges)
    assert check(edges, best_alignment(*found), found) == pytest.approx(exhaustive(edges))


def test_no_edges_no_alignment():
    empty = np.empty(0, np.int64)
    assert best_alignment(empty, empty, np.empty(0)).size == 0


def test_large_problems_agree_with_the_dense_solver():
    from scipy.optimize import linear_sum_assignment

    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 300, 4000), rng.integers(0, 280, 4000)
    pairs, counts = np.unique(a * 280 + b, return_counts=True)
    found = pairs // 280, pairs % 280, counts / (1 + rng.random(counts.size))
    dense = np.zeros((300, 280))
    dense[found[0], found[1]] = found[2]
    expected = dense[linear_sum_assignment(dense, maximize=True)].sum()
    assert check(None, best_alignment(*found), found) == pytest.approx(expected)


@pytest.mark.parametrize("turned", [False, True])
def test_what_would_take_hours_is_refused(monkeypatch, turned):
    """Three clusters that share mentions with four, all alike: the smaller side, times twelve ways."""
    rows, columns = np.divmod(np.arange(12), 4)[:: -1 if turned else 1]
    monkeypatch.setattr(assignment, "_REFUSED_ABOVE", 36)
    assert best_alignment(rows, columns, np.ones(12)).size == 3
    monkeypatch.setattr(assignment, "_REFUSED_ABOVE", 35)
    with pytest.raises(DataError, match="3 and 4 clusters share mentions in 12 ways"):
        best_alignment(rows, columns, np.ones(12))
