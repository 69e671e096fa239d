"""The best one-to-one alignment of key and response clusters, for CEAF (Luo 2005).

A maximum-weight matching of a sparse bipartite graph: only pairs of clusters that share a mention have
weight. Most of a book's graph is decided without search (`_settle`); what is left is solved exactly, by
`_augment` here when it is small, by scipy when it is large.
"""

from __future__ import annotations

from heapq import heappop, heappush

import numpy as np

from ..errors import DataError
from .arrays import Bools, Floats, Ints

_Edges = dict[int, list[tuple[int, float, int]]]
"""(column, weight, edge) by row."""
_Owners = dict[int, tuple[int, int]]
"""(row, edge) that a column is matched by."""

_REFUSED_ABOVE = 3_000_000_000
"""Rows times edges of what is left undecided. Below it the exact solution takes seconds; real systems
leave a few thousand. Only clusters made to defeat the solver come near (30,000 x 30,000 at random)."""

_MOST_ROUNDS = 60
"""A long chain of clusters would be settled link by link from its ends; the solvers are better at that."""

_SEARCH_AT_MOST = 1_000_000
"""Rows times edges up to which `_augment` takes less time than importing scipy (0.4 s in a fresh process)."""


def best_alignment(rows: Ints, columns: Ints, weights: Floats) -> Ints:
    """The edges of a matching of greatest total weight.

    `rows`, `columns` (0-based ids) and `weights` (> 0) describe the edges, each pair at most once.
    Returns indices into them; no row and no column occurs twice. Exact: nothing is rounded or skipped.

    Raises:
        DataError: what cannot be decided without search is so large that the search would take hours.
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
    solve = _augment if work <= _SEARCH_AT_MOST else _solve_with_scipy
    return np.concatenate([chosen, left[solve(r, c, w)]])


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


def _augment(rows: Ints, columns: Ints, weights: Floats) -> Ints:
    """Maximum-weight matching by shortest augmenting paths with dual prices (Jonker and Volgenant 1987).

    Each row may also stay alone at weight 0. Work grows with rows x edges x log(edges).
    """
    by_row: _Edges = {}
    for edge, (i, j, w) in enumerate(zip(rows.tolist(), columns.tolist(), weights.tolist(), strict=True)):
        by_row.setdefault(i, []).append((j, w, edge))
    price: dict[int, float] = dict.fromkeys(columns.tolist(), 0.0)
    owner: _Owners = {}
    mate: dict[int, int] = {}
    for root in by_row:
        _grow(root, by_row, price, owner, mate)
    return np.fromiter((edge for _, edge in owner.values()), np.int64, len(owner))


def _grow(root: int, by_row: _Edges, price: dict[int, float], owner: _Owners, mate: dict[int, int]) -> None:
    """Match `root` by the path that loses least, ending at a free column or at a row that gives up.

    Every row bids `profit = max(0, max_j w_ij - price_j)`; distances are losses against those bids, never
    negative, so that the search is Dijkstra's.
    """
    distance: dict[int, float] = {}
    done: set[int] = set()
    came_from: dict[int, tuple[int, int]] = {}
    heap: list[tuple[float, int]] = []
    reached = [(root, 0.0)]
    profits = {root: max(0.0, max(w - price[j] for j, w, _ in by_row[root]))}
    retreat, retreat_row = profits[root], root
    row, so_far = root, 0.0
    end = None
    while True:
        profit = profits[row]
        for j, w, edge in by_row[row]:
            if j in done:
                continue
            loss = so_far + profit - (w - price[j])
            if loss < distance.get(j, retreat):
                distance[j] = loss
                came_from[j] = (row, edge)
                heappush(heap, (loss, j))
        column = None
        while heap:
            loss, j = heappop(heap)
            if j not in done and loss <= distance[j]:
                column = j
                break
        if column is None or loss >= retreat:
            so_far = retreat
            break
        done.add(column)
        so_far = loss
        if column not in owner:
            end = column
            break
        row, edge = owner[column]
        profits[row] = next(w for j, w, e in by_row[row] if e == edge) - price[column]
        reached.append((row, so_far))
        if so_far + profits[row] < retreat:
            retreat, retreat_row = so_far + profits[row], row
    for j in done:
        price[j] += so_far - distance[j]
    _flip(root, end, retreat_row, came_from, owner, mate)


def _flip(
    root: int,
    end: int | None,
    retreat_row: int,
    came_from: dict[int, tuple[int, int]],
    owner: _Owners,
    mate: dict[int, int],
) -> None:
    """Swap matched and unmatched edges along the path found."""
    column = end if end is not None else mate.pop(retreat_row, None)
    while column is not None:
        row, edge = came_from[column]
        owner[column] = (row, edge)
        following = mate.get(row)
        mate[row] = column
        column = following
        if row == root:
            return


def _solve_with_scipy(rows: Ints, columns: Ints, weights: Floats) -> Ints:
    """The same by scipy's sparse solver (LAPJVsp), with one spare column per row to stay alone in.

    Weights become costs, all raised by the same amount: every row is matched exactly once, so the best
    choice does not change, and no cost is 0 (scipy would drop it). Rows with few edges go first, which
    made the solver three times faster on a component of 3,000 x 3,000 clusters.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    _, by_id, edges_of = np.unique(rows, return_inverse=True, return_counts=True)
    n = edges_of.size
    place = np.empty(n, np.int64)
    place[np.argsort(edges_of, kind="stable")] = np.arange(n)
    r, (column_ids, c) = place[by_id], np.unique(columns, return_inverse=True)
    m, alone = column_ids.size, 2 * float(weights.max())
    costs = np.concatenate([alone - weights, np.full(n, alone)])
    cells = np.concatenate([r, np.arange(n)]), np.concatenate([c, m + np.arange(n)])
    graph = csr_array((costs, cells), shape=(n, m + n))
    matched_rows, matched_columns = min_weight_full_bipartite_matching(graph)
    partner = np.full(n, -1)
    partner[matched_rows] = matched_columns
    return np.flatnonzero(partner[r] == c)
