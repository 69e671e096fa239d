"""The best one-to-one alignment of key and response clusters, for CEAF (Luo 2005).

A maximum-weight matching of a sparse bipartite graph: only pairs of clusters that share a mention have
weight. Most of a book's graph is decided without search (`_settle`); what is left is solved exactly by scipy.
"""

import numpy as np
import numpy.typing as npt

from ..errors import DataError
from ..late import scipy

# The kinds of arrays that this room passes around
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

_REFUSED_ABOVE = 3_000_000_000
"""Rows times edges of what is left undecided. Below it the exact solution takes seconds; real systems
leave a few thousand. Only clusters made to defeat the solver come near (30,000 x 30,000 at random)."""

_MOST_ROUNDS = 60
"""A long chain of clusters would be settled link by link from its ends; the solvers are better at that."""


def best_alignment(rows: Ints, columns: Ints, weights: Floats) -> Ints:
    """The edges of a matching of greatest total weight.

    `rows`, `columns` (0-based ids) and `weights` (> 0) describe the edges, each pair at most once.
    Returns indices into them; no row and no column occurs twice. Exact: nothing is rounded or skipped.

    Raises DataError: what cannot be decided without search is so large that the search would take hours.
    """
    chosen, left = _settle(rows, columns, weights)
    if left.size == 0:
        return chosen
    r, c, w = rows[left], columns[left], weights[left]
    if np.unique(c).size < np.unique(r).size:
        r, c = c, r
    work = np.unique(r).size * left.size
    if work > _REFUSED_ABOVE:
        raise DataError(
            f"{np.unique(r).size:,} and {np.unique(c).size:,} clusters share mentions in {left.size:,} ways: "
            "their best alignment (CEAF) would take hours",
            expected="clusters that mostly share mentions with a few of the other side",
            hint="score the documents apart, or in windows (--mode gold-window)",
        )
    return np.concatenate([chosen, left[_solve_with_scipy(r, c, w)]])


def _settle(rows: Ints, columns: Ints, weights: Floats) -> tuple[Ints, Ints]:
    """Take edges that some best matching must contain, drop those it cannot need; (taken, undecided).

    An edge (i, j) is safe when it weighs at least as much as the best other edge of i and the best other
    edge of j together: any matching without it can swap those two for it. Of the columns that only row i
    touches, all but the heaviest are useless (and likewise for rows).
    """
    taken: list[Ints] = []
    alive = np.arange(rows.size)
    for _ in range(_MOST_ROUNDS):
        if not alive.size:
            break
        r, c, w = rows[alive], columns[alive], weights[alive]
        best_r, second_r = _two_best(r, w)
        best_c, second_c = _two_best(c, w)
        top_r, top_c = best_r == np.arange(alive.size), best_c == np.arange(alive.size)
        safe = top_r & top_c & (w >= second_r + second_c)
        degree_r, degree_c = np.bincount(r), np.bincount(c)
        useless = _beaten(r, w, degree_c[c] == 1) | _beaten(c, w, degree_r[r] == 1)
        taken.append(alive[safe])
        gone = useless | np.isin(r, r[safe]) | np.isin(c, c[safe])
        if not gone.any():
            break
        alive = alive[~gone]
    return np.concatenate(taken) if taken else alive, alive


def _two_best(groups: Ints, weights: Floats) -> tuple[Ints, Floats]:
    """For every edge: the position of the heaviest edge of its group, and the weight of the next one."""
    order = np.lexsort((-weights, groups))
    sorted_groups = groups[order]
    first = np.flatnonzero(np.r_[True, sorted_groups[1:] != sorted_groups[:-1]])
    sizes = np.diff(np.r_[first, groups.size])
    second = np.zeros(first.size)
    many = sizes > 1
    second[many] = weights[order[first[many] + 1]]
    best_of, second_of = np.empty(groups.size, np.int64), np.empty(groups.size)
    best_of[order], second_of[order] = np.repeat(order[first], sizes), np.repeat(second, sizes)
    return best_of, second_of


def _beaten(groups: Ints, weights: Floats, pendant: Bools) -> Bools:
    """Edges to a partner nobody else touches that are not the heaviest such edge of their group."""
    beaten = np.zeros(groups.size, bool)
    index = np.flatnonzero(pendant)
    if index.size:
        best, _ = _two_best(groups[index], weights[index])
        beaten[index] = best != np.arange(index.size)
    return beaten


def _solve_with_scipy(rows: Ints, columns: Ints, weights: Floats) -> Ints:
    """The same by scipy's sparse solver (LAPJVsp), with one spare column per row to stay alone in.

    Weights become costs, all raised by the same amount: every row is matched exactly once, so the best
    choice does not change, and no cost is 0 (scipy would drop it). Rows with few edges go first, which
    made the solver three times faster on a component of 3,000 x 3,000 clusters.
    """
    _, by_id, edges_of = np.unique(rows, return_inverse=True, return_counts=True)
    n = edges_of.size
    place = np.empty(n, np.int64)
    place[np.argsort(edges_of, kind="stable")] = np.arange(n)
    r, (column_ids, c) = place[by_id], np.unique(columns, return_inverse=True)
    m, alone = column_ids.size, 2 * float(weights.max())
    costs = np.concatenate([alone - weights, np.full(n, alone)])
    cells = np.concatenate([r, np.arange(n)]), np.concatenate([c, m + np.arange(n)])
    graph = scipy.sparse.csr_array((costs, cells), shape=(n, m + n))
    matched_rows, matched_columns = scipy.sparse.csgraph.min_weight_full_bipartite_matching(graph)
    partner = np.full(n, -1)
    partner[matched_rows] = matched_columns
    return np.flatnonzero(partner[r] == c)
