"""A document as a file stores it: tokens as one run of bytes, never as Python strings.

Checking a data set hashes 24 million tokens; making a string of each takes longer than all the rest.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .book import Character, Cluster, require_rules


class TokenBytes:
    """Tokens in UTF-8, each followed by a zero byte (`tokens_sha256` hashes just that).

    Args:
        data: the bytes.
        ends: for every token, the offset in `data` after its zero byte; shape (tokens,).
    """

    __slots__ = ("_data", "_ends")

    def __init__(self, data: bytes | memoryview, ends: npt.NDArray[np.integer]) -> None:
        self._data, self._ends = memoryview(data), ends

    @classmethod
    def of(cls, tokens: Sequence[str]) -> TokenBytes:
        """Encode tokens."""
        data = "\0".join([*tokens, ""]).encode("utf-8", "surrogatepass")
        ends = np.flatnonzero(np.frombuffer(data, np.uint8) == 0) + 1
        if len(ends) != len(tokens):
            # Zero bytes inside tokens, too: measure every token, which takes longer.
            sizes = (len(token.encode("utf-8", "surrogatepass")) + 1 for token in tokens)
            ends = np.cumsum(np.fromiter(sizes, np.int64, len(tokens)))
        return cls(data, ends)

    def __len__(self) -> int:
        return len(self._ends)

    def part(self, first: int, last: int) -> memoryview:
        """The bytes of the tokens from `first` up to, but not including, `last`."""
        start = self._ends[first - 1] if first else 0
        return self._data[start : self._ends[last - 1] if last else 0]

    def sha256(self, first: int, last: int) -> str:
        """What `tokens_sha256` gives for the tokens from `first` up to, but not including, `last`."""
        return hashlib.sha256(self.part(first, last)).hexdigest()


@dataclass(frozen=True, slots=True)
class StoredBook:
    """A `Book` but for its words, of which only the bytes are known. Raises BookError as `Book` does."""

    doc_key: str
    gutenberg_key: str
    token_count: int
    token_bytes: memoryview
    sentence_ends: tuple[int, ...]
    clusters: tuple[Cluster, ...] = ()
    characters: tuple[Character, ...] = ()
    speakers: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        require_rules(self)

    @property
    def mention_count(self) -> int:
        return sum(map(len, self.clusters))

    def tokens_sha256(self) -> str:
        """Hex sha256 of the token sequence, the same as `Book.tokens_sha256`."""
        return hashlib.sha256(self.token_bytes).hexdigest()
