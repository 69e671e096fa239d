"""Find the tokens of a release in another edition, by codes that need not be text.

Old and new tokens are given as codes of folded tokens (`fingerprint.codes_for`, of many bits where the old
text is at hand); code 0 marks what may come and go. First everything that keeps its order is
aligned, then passages that moved are looked for, then matches that stand alone are taken back: a short
code agrees by chance now and then, and a wrong match is worse than none.
"""

from dataclasses import dataclass

import numpy as np

from ..alignment.sequence import align, merge_runs, mix, unique_matches

REACH, FAR_REACH = 6, 24
"""A match is supported by the matches at most `REACH` tokens away in one text, `FAR_REACH` in the other."""
LEAST_SUPPORT = 5
MOVED_GRAM = 10
LEAST_MOVED = 24
"""A passage counts as moved when a run of at least this many tokens is found out of order."""


@dataclass(frozen=True, slots=True)
class TokenAlignment:
    """Where old tokens are in the new text; all arrays have one entry per old token.

    `partner`: the new token that is the same, or -1. `stand_in`: the new token that stands in its place
    though it differs (one token replaced by one between two matches), or -1. `moved`: the partner was
    found out of order. `significant_new`: cumulative count of the new tokens that are not ignored.
    """

    partner: np.ndarray
    stand_in: np.ndarray
    moved: np.ndarray
    significant_old: np.ndarray
    significant_new: np.ndarray

    @property
    def matched_share(self) -> float:
        """Share of the old tokens that count (code not 0) with a partner."""
        count = int(self.significant_old[-1])
        return float((self.partner >= 0).sum()) / count if count else 0.0


def align_tokens(old: np.ndarray, new: np.ndarray) -> TokenAlignment:
    """Align two sequences of codes; see `TokenAlignment`. Deterministic."""
    old_at, new_at = np.flatnonzero(old), np.flatnonzero(new)
    a, b = old[old_at].astype(np.int64), new[new_at].astype(np.int64)
    found = align(a, b)
    found[~supported(found) | lone(found)] = -1
    # Old tokens in passages that were left over on both sides and agree there
    moved = np.full(len(a), -1, dtype=np.int64)
    free_new = np.ones(len(b), dtype=bool)
    free_new[found[found >= 0]] = False
    left_a, left_b = np.flatnonzero(found < 0), np.flatnonzero(free_new)
    if min(len(left_a), len(left_b)) >= LEAST_MOVED:
        at_a, at_b = unique_matches(mix(a[left_a]), mix(b[left_b]), MOVED_GRAM)
        for i, j, size in merge_runs(at_a, at_b, MOVED_GRAM):
            # Left-over tokens next to each other in the list may be far apart in the text.
            whole_a = left_a[i + size - 1] - left_a[i] == size - 1
            whole_b = left_b[j + size - 1] - left_b[j] == size - 1
            if size >= LEAST_MOVED and whole_a and whole_b:
                moved[left_a[i : i + size]] = left_b[j : j + size]
    found = np.where(moved >= 0, moved, found)
    # Old tokens without a partner between two matches that have exactly one new token between them
    stand = np.full(len(found), -1, dtype=np.int64)
    middle = np.flatnonzero(found < 0)
    middle = middle[(middle > 0) & (middle < len(found) - 1)]
    before, after = found[middle - 1], found[middle + 1]
    fits = (before >= 0) & (after == before + 2)
    stand[middle[fits]] = before[fits] + 1
    partner = np.full(len(old), -1, dtype=np.int64)
    stand_in, out_of_order = partner.copy(), np.zeros(len(old), dtype=bool)
    # A sentinel at the end lets -1 map to -1.
    place = np.append(new_at, -1)
    partner[old_at], stand_in[old_at], out_of_order[old_at] = place[found], place[stand], moved >= 0
    return TokenAlignment(partner, stand_in, out_of_order, _counts(old), _counts(new))


def _counts(codes: np.ndarray) -> np.ndarray:
    """[number of tokens that count before token 0, 1, ..., n]."""
    return np.concatenate(([0], np.cumsum(codes != 0)))


def supported(partner: np.ndarray) -> np.ndarray:
    """Which matches of an order-keeping alignment have `LEAST_SUPPORT` others near them.

    Near means within `REACH` on one side and `FAR_REACH` on the other: a caption or a note may be put in
    between on one side, but where text was rewritten both sides are bare.
    """
    at = np.flatnonzero(partner >= 0)
    to = partner[at]
    near = np.maximum(_neighbours(at, to, REACH, FAR_REACH), _neighbours(at, to, FAR_REACH, REACH))
    good = np.zeros(len(partner), dtype=bool)
    # In a short text there is less to be had.
    good[at[near >= min(LEAST_SUPPORT, max(len(at) - 1, 0))]] = True
    return good


def lone(partner: np.ndarray) -> np.ndarray:
    """Which matches stand alone between tokens that differ on both sides of the alignment.

    Where a few words were replaced by others, a short code makes two of them equal by chance now and
    then, and an article or a comma even in full.
    """
    at = np.flatnonzero(partner >= 0)
    to = partner[at]
    gap_old = np.diff(at, prepend=-1, append=len(partner)) - 1
    gap_new = np.diff(to, prepend=to[:1] - 1, append=to[-1:] + 1) - 1
    before, after = gap_old[:-1] + gap_new[:-1] > 0, gap_old[1:] + gap_new[1:] > 0
    replaced = (gap_old[:-1] + gap_old[1:] > 0) & (gap_new[:-1] + gap_new[1:] > 0)
    alone = np.zeros(len(partner), dtype=bool)
    alone[at[before & after & replaced]] = True
    return alone


def _neighbours(at: np.ndarray, to: np.ndarray, reach_at: int, reach_to: int) -> np.ndarray:
    """How many other matches lie within `reach_at` in `at` and within `reach_to` in `to` (both rise)."""
    low = np.maximum(np.searchsorted(at, at - reach_at), np.searchsorted(to, to - reach_to))
    high = np.minimum(
        np.searchsorted(at, at + reach_at, "right"), np.searchsorted(to, to + reach_to, "right")
    )
    return high - low - 1


def span_of_matches(partner: np.ndarray, size: int, *, near: int = 50, least: float = 0.6) -> tuple[int, int]:
    """[start, end) of the new text from the first to the last match that lies among dense matches.

    A stray match in a title page or a licence must not stretch the span.
    """
    to = np.sort(partner[partner >= 0])
    if to.size == 0:
        return 0, 0
    step = min(near, to.size - 1)
    firsts = np.flatnonzero(to[step:] - to[: to.size - step] <= near / least)
    if firsts.size == 0:
        return int(to[0]), int(to[-1]) + 1
    return int(to[firsts[0]]), min(int(to[firsts[-1] + step]) + 1, size)
