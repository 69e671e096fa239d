"""The aligner: partners are equal and in order, small cases are optimal, large ones nearly so."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bookcoref_data.alignment import align, common_subsequence, join_runs
from bookcoref_data.alignment.sequence import heaviest_chain, merge_runs, mix
from tests.drawing import drawn

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


@drawn(40)
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


def characters(text):
    return np.array([ord(c) for c in text])


def aligned(old, new):
    a, b = characters(old), characters(new)
    return join_runs(align(a, b, (48, 16)), a, b)


@pytest.mark.long
def test_characters_survive_a_foreign_header_and_noise():
    random = np.random.default_rng(3)
    words = ["".join(random.choice(list("abcdefghij"), random.integers(1, 9))) for _ in range(20_000)]
    clean = "".join(words)
    noisy = "HEADER" * 900 + "".join("#" + w if random.random() < 0.01 else w for w in words) + "FOOTER" * 900
    matched = aligned(noisy, clean)
    found = np.flatnonzero(matched >= 0)
    assert (np.diff(matched[found]) > 0).all()
    assert len(found) > 0.999 * len(clean)
    assert (characters(noisy)[found] == characters(clean)[matched[found]]).all()


def test_runs_join_across_what_one_side_has_more():
    assert aligned("AprefaceAnnran.", "Annran.").tolist() == [-1] * 8 + list(range(7))
    assert aligned("Annran.", "AprefaceAnnran.").tolist() == list(range(8, 15))
    # Nothing moves where the gap reads otherwise.
    assert aligned("abXYc", "abc").tolist() == [0, 1, -1, -1, 2]


def test_a_letter_of_a_long_header_is_not_taken_for_the_first_letter_of_the_text():
    text = "".join(np.random.default_rng(5).choice(list("abcdefghij"), 4000))
    header = text[0] + "Z" * 3000
    assert aligned(header + text, text).tolist() == [-1] * 3001 + list(range(4000))


@given(few, few)
def test_joining_runs_keeps_the_number_of_matches_and_their_order(a, b):
    old, new = np.array(a, dtype=np.int64), np.array(b, dtype=np.int64)
    before = align(old, new)
    after = join_runs(before, old, new)
    found = np.flatnonzero(after >= 0)
    assert len(found) == (before >= 0).sum()
    assert (np.diff(after[found]) > 0).all()
    assert np.array_equal(old[found], new[after[found]])


def test_numbers_are_spread_as_splitmix64_does():
    """The first two numbers that the generator gives from the seed 0."""
    states = np.asarray([0, 0x9E3779B97F4A7C15], dtype=np.uint64)
    assert mix(states).tolist() == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4]
