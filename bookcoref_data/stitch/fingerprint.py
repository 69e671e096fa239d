"""A few bits per released token, by which the tokens are found again in another edition.

A fingerprint is no secret: short hashes keep text from being read off, but whoever has a language model
can guess likely words that fit (docs/pack-format.md states what each size gives away). Texts in copyright
should be packed without one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import DataError, FormatError
from .normalize import fold

BITS = 8
"""Chosen by measurement: docs/results.md, "Editions that changed"."""
MOST_BITS = 8
EXACT = 63
"""Bits of codes that tell all words apart, for when both texts are at hand."""
IGNORED = 0
"""The code of tokens that may come and go."""


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """One code per token (uint8): `IGNORED`, or 1 to 2**bits - 1."""

    bits: int
    codes: np.ndarray

    def to_bytes(self) -> bytes:
        return bytes([self.bits]) + self.codes.tobytes()

    @classmethod
    def from_bytes(cls, data: bytes, tokens: int) -> Fingerprint:
        """Raises FormatError when there is not one code per token, or a code has more bits than stated."""
        codes = np.frombuffer(data, dtype=np.uint8, offset=1)
        if codes.size != tokens or not 1 < data[0] <= MOST_BITS:
            raise FormatError("the fingerprint of the pack is broken", expected=tokens, found=codes.size)
        if codes.size and int(codes.max()) >> data[0]:
            raise FormatError("the fingerprint of the pack is broken", expected=f"codes of {data[0]} bits")
        return cls(data[0], codes)


def make_fingerprint(tokens: Sequence[str], bits: int = BITS) -> Fingerprint:
    """The fingerprint of a token sequence.

    Raises:
        DataError: a size that the format does not have.
    """
    if not 1 < bits <= MOST_BITS:
        raise DataError(f"a fingerprint cannot have {bits} bits a token", expected=f"2 to {MOST_BITS}")
    return Fingerprint(bits, codes_for(tokens, bits))


def codes_for(tokens: Iterable[str], bits: int) -> np.ndarray:
    """The code of every token (uint8, int64 for more bits than a fingerprint has); 0 for the ignored ones."""
    known: dict[str, int] = {}
    tokens = list(tokens)
    for token in set(tokens):
        folded = fold(token).encode("utf-8", "surrogatepass")
        digest = hashlib.blake2b(folded, digest_size=8, person=b"bookcoref").digest()
        known[token] = 1 + int.from_bytes(digest, "little") % ((1 << bits) - 1) if folded else IGNORED
    dtype = np.uint8 if bits <= MOST_BITS else np.int64
    return np.fromiter(map(known.__getitem__, tokens), dtype=dtype, count=len(tokens))
