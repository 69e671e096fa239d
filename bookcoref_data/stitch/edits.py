"""Turn one stream of visible characters into another: kept runs, deletions and inserted literals.

The literals are the only characters of the released text that a pack holds.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..alignment.sequence import Run, align, codes_of, common_subsequence, equal_beginning, merge_runs
from ..errors import DataError
from .chars import BLANK_LINE, SPACE, WORD, CharStream, classes_of, text_of
from .varint import pack_numbers, unpack_numbers

ESCAPE = 0
"""In a literal, white space says what follows the character before it; after this code it is itself."""
_MARKS = {32: SPACE, 10: BLANK_LINE}
_SHORTEST_KEPT = 4
"""Shared runs inside a replaced stretch that are shorter are cheaper as literals."""


@dataclass(frozen=True, slots=True)
class Edits:
    """Operation i: keep `keep[i]` source characters, drop `drop[i]`, then insert `size[i]` literal codes.

    What is left of the source after the last operation is dropped.
    """

    keep: np.ndarray
    drop: np.ndarray
    size: np.ndarray
    literals: str

    @property
    def literal_characters(self) -> int:
        """Visible characters held as text: the leak of the pack."""
        return int((classes_of(codes_of(self.literals)) & 16 == 0).sum()) if self.literals else 0

    @property
    def longest_literal(self) -> int:
        """The longest single insertion, in characters."""
        return int(self.size.max()) if self.size.size else 0

    def to_bytes(self) -> tuple[bytes, bytes]:
        """(numbers, literals in UTF-8)."""
        columns = np.concatenate(([len(self.keep)], self.keep, self.drop, self.size))
        return pack_numbers(columns), self.literals.encode("utf-8", "surrogatepass")

    @classmethod
    def from_bytes(cls, numbers: bytes, literals: bytes) -> "Edits":
        """Raises DataError when the columns do not fit each other or the literals."""
        values = unpack_numbers(numbers, "edits of the pack")
        count = int(values[0]) if values.size else 0
        if values.size != 3 * count + 1:
            raise DataError("the edits of the pack are cut short", expected=3 * count + 1, found=values.size)
        keep, drop, size = values[1:].reshape(3, count)
        try:
            text = literals.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError as error:
            raise DataError("the literals of the pack are not UTF-8") from error
        if int(size.sum()) != len(text):
            raise DataError("the literals of the pack are cut", expected=int(size.sum()), found=len(text))
        return cls(keep, drop, size, text)

    def within_body(self) -> "tuple[Edits, int, int]":
        """(the same edits without what is dropped before and after all kept text, start and length of the
        source that they still speak of)."""
        kept = np.flatnonzero(self.keep)
        if kept.size == 0:
            return Edits(self.keep, np.zeros_like(self.drop), self.size, self.literals), 0, 0
        drop = self.drop.copy()
        lead = int(drop[: kept[0]].sum())
        drop[: kept[0]] = 0
        drop[kept[-1] :] = 0
        edits = Edits(self.keep, drop, self.size, self.literals)
        return edits, lead, edits.reach

    @property
    def reach(self) -> int:
        """How many source characters the operations speak of."""
        return int(self.keep.sum() + self.drop.sum())


def apply_edits(source: CharStream, edits: Edits) -> CharStream:
    """The edited stream. What followed a dropped character now follows the kept one before it. Raises
    DataError: the operations reach beyond the source."""
    if edits.reach > len(source):
        raise DataError("edits of the pack reach beyond the text", expected=len(source), found=edits.reach)
    kept = np.zeros(len(source), dtype=bool)
    sizes = np.column_stack((edits.keep, edits.drop)).ravel()
    kept[: edits.reach] = np.repeat(np.arange(sizes.size) % 2 == 0, sizes)
    # The strongest gap of every dropped run moves to the character before it.
    after: np.ndarray = source.after.copy()
    ends = np.cumsum(edits.keep + edits.drop)
    starts = ends - edits.drop
    inner = (edits.drop > 0) & (starts > 0)
    starts, ends = starts[inner], ends[inner]
    if starts.size:
        strongest = np.maximum.reduceat(np.append(after, 0), np.column_stack((starts, ends)).ravel())[::2]
        np.maximum.at(after, starts - 1, strongest)
    after = after[kept]
    codes = source.codes[kept]
    if not edits.literals:
        return CharStream(codes, after)
    literals = codes_of(edits.literals)
    owner = np.repeat(np.arange(len(edits.size)), edits.size)
    is_escape = literals == ESCAPE
    escaped = np.append(False, is_escape[:-1])
    marks = np.zeros(len(literals), dtype=np.uint8)
    for code, meaning in _MARKS.items():
        marks[(literals == code) & ~escaped] = meaning
    inserted = (marks == 0) & ~is_escape
    at = np.cumsum(edits.keep)[owner]
    codes = codes.astype(np.promote_types(codes.dtype, literals.dtype))
    codes, after = np.insert(codes, at[inserted], literals[inserted]), np.insert(after, at[inserted], 0)
    # A mark is about the character that stands before it now, kept or inserted.
    before = at + np.cumsum(inserted) - 1
    told = (marks > 0) & (before >= 0)
    np.maximum.at(after, before[told], marks[told])
    return CharStream(codes, after)


def make_edits(source: CharStream, target: np.ndarray, ends: np.ndarray) -> Edits:
    """Edits from `source` to the code points `target`; `ends` marks the last character of every token."""
    spaced = source.after > 0
    spaced[-1:] = True
    old, old_starts = _pieces(source.codes, spaced)
    new, new_starts = _pieces(target, ends)
    numbers: dict[str, int] = {}
    old_ids = np.array([numbers.setdefault(p, len(numbers)) for p in old], dtype=np.int64)
    new_ids = np.array([numbers.setdefault(p, len(numbers)) for p in new], dtype=np.int64)
    partner = align(old_ids, new_ids)
    # Matched pieces as runs of characters (source start, target start, length)
    old_at = np.flatnonzero(partner >= 0)
    matched = [
        (int(old_starts[i]), int(new_starts[j]), int(old_starts[i + size] - old_starts[i]))
        for i, j, size in merge_runs(old_at, partner[old_at], 1)
    ]
    # The runs, with shared characters of the stretches between them
    runs: list[Run] = []
    at = to = 0
    for i, j, size in [*matched, (len(source.codes), len(target), 0)]:
        runs += _shared(source.codes, target, at, i, to, j)
        if size:
            runs.append((i, j, size))
        at, to = i + size, j + size
    # Operations from runs; neighbouring runs that touch on both sides are one.
    operations: list[list[int]] = []
    literals: list[str] = []
    at = to = kept = 0
    for i, j, size in [*runs, (len(source.codes), len(target), 0)]:
        if i > at or j > to or not size:
            # The tail of the source needs no operation of its own unless something is inserted there.
            if size or j > to or kept:
                literal = _literal(target, ends, to, j)
                operations.append([kept, i - at if size else 0, len(literal)])
                literals.append(literal)
            kept = 0
        kept += size
        at, to = i + size, j + size
    columns = np.array(operations, dtype=np.int64).reshape(-1, 3)
    return Edits(columns[:, 0], columns[:, 1], columns[:, 2], "".join(literals))


def _pieces(codes: np.ndarray, ends: np.ndarray) -> tuple[list[str], np.ndarray]:
    """Words and single marks, cut at `ends` too; their strings, and their starts with the end appended."""
    word = (classes_of(codes) & WORD) > 0
    last = ends.copy()
    last[:-1] |= ~(word[:-1] & word[1:])
    starts = np.concatenate(([0], np.flatnonzero(last) + 1)) if len(codes) else np.zeros(1, np.int64)
    text = text_of(codes)
    return [text[a:b] for a, b in pairwise(starts.tolist())], starts


def _shared(source: np.ndarray, target: np.ndarray, a0: int, a1: int, b0: int, b1: int) -> Iterator[Run]:
    size = min(a1 - a0, b1 - b0)
    head = equal_beginning(source[a0 : a0 + size], target[b0 : b0 + size])
    rest = size - head
    tail = equal_beginning(source[a1 - rest : a1][::-1], target[b1 - rest : b1][::-1])
    if head:
        yield a0, b0, head
    a, b = source[a0 + head : a1 - tail], target[b0 + head : b1 - tail]
    if len(a) and len(b) and len(a) * len(b) <= 1_000_000:
        pairs = np.array(common_subsequence(a.tolist(), b.tolist()), dtype=np.int64).reshape(-1, 2)
        for i, j, size in merge_runs(pairs[:, 0], pairs[:, 1], 1):
            if size >= _SHORTEST_KEPT:
                yield a0 + head + i, b0 + head + j, size
    if tail:
        yield a1 - tail, b1 - tail, tail


def _literal(target: np.ndarray, ends: np.ndarray, start: int, end: int) -> str:
    """Target characters as a literal: marks where two words meet that no rule would cut."""
    if start == end:
        return ""
    first = max(start - 1, 0)
    classes = classes_of(target[first : end + 1])
    word, out = np.append((classes & WORD) > 0, False), list[str]()
    for k, at in enumerate(range(first, end)):
        if at >= start:
            escaped = classes[k] & 16 or not target[at]
            out.append(chr(ESCAPE) * bool(escaped) + chr(target[at]))
        if ends[at] and word[k] and word[k + 1]:
            out.append(" ")
    return "".join(out)
