"""The aligner: partners are equal and in order, small cases are optimal, large ones nearly so."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from bookcoref_data.stitch.sequence import align, common_subsequence, heaviest_chain, merge_runs

few = st.lists(st.integers(0, 4), max_size=40)


def longest(a, b):
    """Length of a longest common subsequence, by the textbook table."""
    row = [0] * (len(b) + 1)
    for x in a:
        last = row[:]
        for j, y in enumerate(b):
            row[j + 1] = last[j] + 1 if x == y else max(last[j + 1], row[j])
    return row[-1]


@given(few, few)
def test_common_subsequence_is_a_longest_one(a, b):
    pairs = common_subsequence(a, b)
    assert len(pairs) == longest(a, b)
    assert all(a[i] == b[j] for i, j in pairs)
    assert all(p[0] < q[0] and p[1] < q[1] for p, q in pairwise(pairs))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 400), st.floats(0, 0.3))
def test_partners_are_equal_and_keep_order(seed, vocabulary, noise):
    random = np.random.default_rng(seed)
    old = random.integers(0, vocabulary, 6000)
    new = old[random.random(len(old)) >= noise]
    new = np.insert(new, random.integers(0, len(new), 100), random.integers(0, vocabulary, 100))
    partner = align(old, new)
    found = np.flatnonzero(partner >= 0)
    assert np.array_equal(old[found], new[partner[found]])
    assert (np.diff(partner[found]) > 0).all()


def test_long_sequences_lose_next_to_nothing_to_the_optimum():
    random = np.random.default_rng(7)
    old = random.zipf(1.3, 12_000) % 3000
    keep = random.random(len(old)) >= 0.05
    new = np.insert(old[keep], random.integers(0, keep.sum(), 300), 9999)
    matched = (align(old, new) >= 0).sum()
    assert matched >= keep.sum() * 0.998


def test_equal_and_foreign_sequences():
    items = np.arange(5000)
    assert np.array_equal(align(items, items), items)
    assert (align(items, items + 5000) == -1).all()
    assert align(items[:0], items).size == 0
    assert (align(items, items[:0]) == -1).all()


def test_the_chain_with_most_weight_wins_over_the_one_with_most_runs():
    runs = [(0, 50, 3), (10, 60, 3), (20, 0, 40), (70, 70, 3)]
    assert heaviest_chain(runs) == [(20, 0, 40), (70, 70, 3)]


def test_anchors_on_one_diagonal_become_one_run():
    at = np.array([3, 4, 5, 9, 40])
    assert merge_runs(at, at + 2, 4) == [(3, 5, 10), (40, 42, 4)]
