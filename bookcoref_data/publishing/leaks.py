"""Is there text of a book in these files? Runs of words are looked for in everything that would be uploaded.

Files and book are compared by their letters alone, so that spaces, punctuation, line ends, tokenisation and
escapes hide nothing. Compressed parts are unpacked before.
"""

import gzip
import re
import zlib
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np
import zstandard

from ..alignment.sequence import codes_of, kgrams
from ..shapes import attributes
from ..stitch.container import is_container, read_container

MOST_WORDS = 12
"""Longest run of a book's words that published files may hold: a long title has that many."""

_MOST_UNPACKED = 256 << 20
_NO_LETTER = re.compile(r"[\W\d_]+")


@dataclass(frozen=True, slots=True)
class LeakedRun:
    """A run of a book's words found in a file: how many, where, and the first few of them."""

    words: int
    file: str
    doc_key: str
    begins: str = ""

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready; the words themselves are left out."""
        return attributes(self, "words file doc_key")


def contents(name: str, data: bytes) -> list[tuple[str, bytes]]:
    """(label, bytes) of everything a file holds: the sections of a pack, what is inside .gz and .zst. Raises
    FormatError: a pack that is damaged. ValueError: a compressed file that cannot be unpacked."""
    if is_container(data):
        return [(f"{name}: section {part}", raw) for part, raw in read_container(data, name).items()]
    try:
        if data[:2] == b"\x1f\x8b":
            return [(name, gzip.decompress(data))]
        if data[:4] == zstandard.FRAME_HEADER:
            return [(name, zstandard.ZstdDecompressor().decompress(data, max_output_size=_MOST_UNPACKED))]
    except (OSError, EOFError, zlib.error, zstandard.ZstdError) as error:
        raise ValueError(f"{name}: {error}") from error
    return [(name, data)]


class Uploads:
    """The letters of all files, searchable for runs of words."""

    def __init__(self, files: Iterable[tuple[str, bytes]], most_words: int = MOST_WORDS) -> None:
        # Every word has a letter, so a run of more than `most_words` words begins with that many letters.
        self._seed = most_words + 1
        inside = [part for name, data in files for part in contents(name, data)]
        self._labels = [label for label, _ in inside]
        pieces = [letters_of(raw.decode("utf-8", "replace")) for _, raw in inside]
        self._ends, self._letters = list(accumulate(map(len, pieces))), "".join(pieces)
        hashes = kgrams(codes_of(self._letters), self._seed)
        self._order = np.argsort(hashes, kind="stable")
        self._sorted = hashes[self._order]

    def longest_run(self, doc_key: str, tokens: Sequence[str]) -> LeakedRun:
        """The longest run of the book's words in any file; runs of at most `most_words` may go unseen."""
        words = [letters for token in tokens if (letters := letters_of(token))]
        text = "".join(words)
        best = LeakedRun(0, "", doc_key)
        if len(text) < self._seed or not len(self._sorted):
            return best
        starts = np.concatenate(([0], np.cumsum([len(word) for word in words])))
        firsts = starts[:-1][starts[:-1] <= len(text) - self._seed]
        wanted = kgrams(codes_of(text), self._seed)[firsts]
        low = np.searchsorted(self._sorted, wanted, "left")
        high = np.searchsorted(self._sorted, wanted, "right")
        ends = starts.tolist()
        seen: dict[int, int] = {}  # ends of runs, by how far apart they stand in file and book
        for number in np.flatnonzero(high > low).tolist():
            first = ends[number]
            for at in self._order[low[number] : high[number]].tolist():
                if seen.get(at - first, 0) > first:
                    continue  # a part of a run that was measured
                file = bisect_right(self._ends, at)
                end = first + _shared(text, first, self._letters, at, self._ends[file])
                seen[at - first] = end
                if (covered := bisect_right(ends, end) - 1 - number) > best.words:
                    begins = " ".join(words[number : number + 4])
                    best = LeakedRun(covered, self._labels[file], doc_key, begins)
        return best


def letters_of(text: str) -> str:
    """The letters of a text in one case, without anything between them."""
    return _NO_LETTER.sub("", text).casefold()


def _shared(left: str, at_left: int, right: str, at_right: int, end_right: int) -> int:
    """How many letters the two texts share from the two places on."""
    most = min(len(left) - at_left, end_right - at_right)
    done = 0
    while done < most:
        size = min(64, most - done)
        one = left[at_left + done : at_left + done + size]
        other = right[at_right + done : at_right + done + size]
        if one != other:
            return done + next(i for i, (a, b) in enumerate(zip(one, other, strict=True)) if a != b)
        done += size
    return done
