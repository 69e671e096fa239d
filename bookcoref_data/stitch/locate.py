"""Find the text that a pack was made from inside a file, whatever header and footer surround it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..shapes import check

PROBE = 64
"""Characters at both ends of the body that are known by a hash."""
MOST_PLACES = 4
_BASE = 0x9E3779B97F4A7C15
_BASES = np.array([pow(_BASE, PROBE - 1 - i, 1 << 64) for i in range(PROBE)], dtype=np.uint64)


@dataclass(frozen=True, slots=True)
class Landmarks:
    """Where the body lay in the source (visible characters), and 64-bit hashes of its first and last
    `PROBE` characters (0 where it has fewer)."""

    start: int
    length: int
    first: int
    last: int

    def to_dict(self) -> dict[str, Any]:
        return {
            "start": self.start, "length": self.length,
            "first": f"{self.first:016x}", "last": f"{self.last:016x}",
        }  # fmt: skip

    @classmethod
    def from_dict(cls, value: Mapping[str, Any], what: str) -> Landmarks:
        """Raises FormatError when a field is missing or out of range."""
        check(value, "landmarks", f"{what}: the landmarks of the body")
        return cls(value["start"], value["length"], int(value["first"], 16), int(value["last"], 16))


def landmarks_of(codes: np.ndarray, start: int, length: int) -> Landmarks:
    """The landmarks of `codes[start : start + length]`."""
    if length < PROBE:
        return Landmarks(start, length, 0, 0)
    end = start + length
    return Landmarks(start, length, _probe(codes[start : start + PROBE]), _probe(codes[end - PROBE : end]))


def _probe(codes: np.ndarray) -> int:
    return int((codes.astype(np.uint64) * _BASES).sum(dtype=np.uint64))


def find_body(codes: np.ndarray, landmarks: Landmarks) -> Iterator[int]:
    """Starts at which the body may lie: where it lay in the source first, then wherever both of its
    ends are found at the right distance. Cheap when the text is the source itself."""
    start, length = landmarks.start, landmarks.length
    if start + length <= len(codes) and _fits(codes, landmarks, start):
        yield start
    if length < PROBE or length > len(codes):
        return
    # Where the hash of `PROBE` characters is that of the beginning; only windows with no hope are spared
    wide = codes[: len(codes) - length + PROBE].astype(np.uint64)
    sums = np.zeros(len(wide) - PROBE + 1, dtype=np.uint64)
    for i in range(PROBE):
        sums += wide[i : i + len(sums)] * _BASES[i]
    found = 0
    for place in np.flatnonzero(sums == np.uint64(landmarks.first)).tolist():
        if place != start and _fits(codes, landmarks, place):
            yield place
            found += 1
            if found == MOST_PLACES:
                return


def _fits(codes: np.ndarray, landmarks: Landmarks, start: int) -> bool:
    if landmarks.length < PROBE:
        return True
    end = start + landmarks.length
    return (
        _probe(codes[start : start + PROBE]) == landmarks.first
        and _probe(codes[end - PROBE : end]) == landmarks.last
    )
