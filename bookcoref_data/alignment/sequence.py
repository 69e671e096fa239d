"""Align two long sequences: anchors that occur once on both sides, then exact alignment between them.

Long common runs are found through k-grams that are unique on both sides; the heaviest chain of runs that
keeps order is the frame; between its runs the search repeats with shorter k-grams, and what is small is
aligned by an exact longest common subsequence. Deterministic, no randomness, no clock.

The result is not guaranteed to be a longest common subsequence of the whole: that is quadratic.
"""

from bisect import bisect_right
from collections.abc import Hashable, Sequence

import numpy as np

Run = tuple[int, int, int]
"""A stretch that is equal on both sides: where it begins in the old sequence, in the new one, its length."""

GRAMS = (16, 8, 5, 3, 2, 1)
"""Anchor lengths, tried from the longest; each is used inside the gaps that the one before it left."""
EXACT_CELLS = 4_000_000
"""Gaps of at most this many cells are aligned exactly (bit-parallel: 64 cells a step)."""

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


def align(old: np.ndarray, new: np.ndarray, grams: tuple[int, ...] = GRAMS) -> np.ndarray:
    """For every item of `old` the index of its partner in `new`, or -1; partners strictly increase.

    Both are arrays of whole numbers below 2**63; equal numbers are equal items.
    """
    partner = np.full(len(old), -1, dtype=np.int64)
    mixed_old, mixed_new = mix(old), mix(new)
    work = [(0, len(old), 0, len(new), 0)]
    while work:
        a0, a1, b0, b1, level = work.pop()
        # The equal beginnings and ends of a gap are matched; what is left of it goes on.
        size = min(a1 - a0, b1 - b0)
        if size and old[a0] == new[b0]:
            same = equal_beginning(old[a0 : a0 + size], new[b0 : b0 + size])
            partner[a0 : a0 + same] = np.arange(b0, b0 + same)
            a0, b0, size = a0 + same, b0 + same, size - same
        if size and old[a1 - 1] == new[b1 - 1]:
            same = equal_beginning(old[a1 - size : a1][::-1], new[b1 - size : b1][::-1])
            partner[a1 - same : a1] = np.arange(b1 - same, b1)
            a1, b1 = a1 - same, b1 - same
        if a0 == a1 or b0 == b1:
            continue
        if (a1 - a0) * (b1 - b0) <= EXACT_CELLS and (level > 0 or len(old) < 2000):
            for i, j in common_subsequence(old[a0:a1].tolist(), new[b0:b1].tolist()):
                partner[a0 + i] = b0 + j
            continue
        # Runs of the longest k-gram that has any unique match in this gap
        runs: list[Run] = []
        for deeper in range(level, len(grams)):
            at_old, at_new = unique_matches(mixed_old[a0:a1], mixed_new[b0:b1], grams[deeper])
            if at_old.size:
                runs, level = heaviest_chain(merge_runs(at_old, at_new, grams[deeper])), deeper
                break
        at_a, at_b = a0, b0
        for i, j, size in runs:
            # Neighbouring runs can share items where a text repeats itself: the later one is cut.
            begin_a, begin_b = a0 + i, b0 + j
            cut = max(0, at_a - begin_a, at_b - begin_b)
            if cut < size:
                partner[begin_a + cut : begin_a + size] = np.arange(begin_b + cut, begin_b + size)
                work.append((at_a, begin_a + cut, at_b, begin_b + cut, level + 1))
                at_a, at_b = begin_a + size, begin_b + size
        if runs:
            work.append((at_a, a1, at_b, b1, level + 1))
    return partner


def equal_beginning(a: np.ndarray, b: np.ndarray) -> int:
    """How many items are equal before the first that differs, of two arrays of one length."""
    return int(np.append(a == b, False).argmin())


def join_runs(partner: np.ndarray, old: np.ndarray, new: np.ndarray) -> np.ndarray:
    """The same alignment with as few runs as its matches allow: a run goes to its neighbour where it fits.

    A longest common subsequence does not say which of several equal items is meant. Where one side has a
    header more, the first letters of the text may be matched inside the header; between a run and the next
    one then lies a gap on one side alone, whose end reads as the run itself does. Such a run moves there.
    `partner` as `align` returns it; a new array of the same length.
    """
    settled: list[Run] = []
    # The matches as runs, in order
    at = np.flatnonzero(partner >= 0)
    for i, j, size in reversed(merge_runs(at, partner[at], 1)):
        if settled:
            next_old, next_new, length = settled[-1]
            if i + size == next_old:
                fits = np.array_equal(new[j : j + size], new[next_new - size : next_new])
            else:
                same = np.array_equal(old[i : i + size], old[next_old - size : next_old])
                fits = j + size == next_new and same
            if fits:
                settled[-1] = (next_old - size, next_new - size, length + size)
                continue
        settled.append((i, j, size))
    joined = np.full(len(partner), -1, dtype=np.int64)
    for i, j, size in settled:
        joined[i : i + size] = np.arange(j, j + size)
    return joined


def codes_of(text: str) -> np.ndarray:
    """The code points of a string: uint16 where all fit, which most books do, else uint32."""
    narrow = text.encode("utf-16-le", "surrogatepass")
    if len(narrow) == 2 * len(text):
        return np.frombuffer(narrow, dtype="<u2")
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")


def mix(values: np.ndarray) -> np.ndarray:
    """Spread whole numbers over 64 bits (the finaliser of splitmix64)."""
    x: np.ndarray = values.astype(np.uint64) + _MULTIPLIER
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    x = x ^ (x >> np.uint64(31))
    return x


def kgrams(mixed: np.ndarray, k: int) -> np.ndarray:
    """A 64-bit hash of every run of `k` items (empty when there are fewer)."""
    if len(mixed) < k:
        return np.zeros(0, dtype=np.uint64)
    hashes = np.zeros(len(mixed) - k + 1, dtype=np.uint64)
    for step in range(k):
        hashes = hashes * _MULTIPLIER + mixed[step : step + len(hashes)]
    return hashes


def unique_matches(mixed_old: np.ndarray, mixed_new: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Positions (in old order) of the k-grams that occur exactly once on each side."""
    a_hash, a_at = _once(kgrams(mixed_old, k))
    b_hash, b_at = _once(kgrams(mixed_new, k))
    _, in_a, in_b = np.intersect1d(a_hash, b_hash, assume_unique=True, return_indices=True)
    at_old, at_new = a_at[in_a], b_at[in_b]
    order = np.argsort(at_old)
    return at_old[order], at_new[order]


def _once(hashes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    values, at, times = np.unique(hashes, return_index=True, return_counts=True)
    return values[times == 1], at[times == 1]


def merge_runs(at_old: np.ndarray, at_new: np.ndarray, k: int) -> list[Run]:
    """Join anchors that follow each other on one diagonal to runs (old start, new start, length)."""
    if at_old.size == 0:
        return []
    same = (np.diff(at_old) <= k) & (np.diff(at_old) == np.diff(at_new))
    firsts = np.flatnonzero(np.concatenate(([True], ~same)))
    lasts = np.concatenate((firsts[1:] - 1, [len(at_old) - 1]))
    sizes = at_old[lasts] - at_old[firsts] + k
    return list(zip(at_old[firsts].tolist(), at_new[firsts].tolist(), sizes.tolist(), strict=True))


def heaviest_chain(runs: list[Run]) -> list[Run]:
    """The heaviest subset of `runs` (sorted by old start) whose new starts increase; weight is length."""
    # `keys` are new starts, `best` the weight of the best chain ending at or before that start; both
    # increase, so a chain is found by bisection and dominated entries are dropped as better ones come.
    keys: list[int] = []
    best: list[int] = []
    owner: list[int] = []
    before: list[int | None] = [None] * len(runs)
    for index, (_, start, size) in enumerate(runs):
        spot = bisect_right(keys, start - 1)
        before[index] = owner[spot - 1] if spot else None
        weight = size + (best[spot - 1] if spot else 0)
        if spot < len(keys) and keys[spot] == start and best[spot] >= weight:
            continue
        end = spot
        while end < len(keys) and best[end] <= weight:
            end += 1
        keys[spot:end], best[spot:end], owner[spot:end] = [start], [weight], [index]
    chain = []
    at = owner[-1] if owner else None
    while at is not None:
        chain.append(runs[at])
        at = before[at]
    return chain[::-1]


def common_subsequence(old: Sequence[Hashable], new: Sequence[Hashable]) -> list[tuple[int, int]]:
    """A longest common subsequence as increasing pairs of indices.

    Bit-parallel (Hyyrö 2004): one big whole number holds a row of the table, so a row costs
    len(old) / 64 machine steps; the rows are kept for the walk back.
    """
    where: dict[object, int] = {}
    for i, item in enumerate(old):
        where[item] = where.get(item, 0) | (1 << i)
    full = (1 << len(old)) - 1
    row, rows = full, []
    for item in new:
        hit = row & where.get(item, 0)
        row = ((row + hit) | (row - hit)) & full
        rows.append(row)
    pairs = []
    i, j = len(old), len(new)
    while i and j:
        bit = 1 << (i - 1)
        if rows[j - 1] & bit:
            i -= 1
        elif j > 1 and not rows[j - 2] & bit:
            j -= 1
        else:
            i, j = i - 1, j - 1
            pairs.append((i, j))
    return pairs[::-1]
