"""A few bits per released token, by which the tokens are found again in another edition.

A fingerprint is no secret: short hashes keep text from being read off, but whoever has a language model
can guess likely words that fit (docs/pack-format.md states what each size gives away). Texts in copyright
should be packed without one.
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import DataError, FormatError
from ..resources import load_toml, resource

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
    def from_bytes(cls, data: bytes, tokens: int) -> "Fingerprint":
        """Raises FormatError when there is not one code per token, or a code has more bits than stated."""
        codes = np.frombuffer(data, dtype=np.uint8, offset=1)
        if codes.size != tokens or not 1 < data[0] <= MOST_BITS:
            raise FormatError("the fingerprint of the pack is broken", expected=tokens, found=codes.size)
        if codes.size and int(codes.max()) >> data[0]:
            raise FormatError("the fingerprint of the pack is broken", expected=f"codes of {data[0]} bits")
        return cls(data[0], codes)


def make_fingerprint(tokens: Sequence[str], bits: int = BITS) -> Fingerprint:
    """The fingerprint of a token sequence. Raises DataError: a size that the format does not have."""
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


# --- folding to what editions agree on: case, accents, quotes, dashes, emphasis, British spelling

# Both sides of an alignment are folded, so a rule that is wrong for a word does no harm: it only makes two
# different words look alike if they fold to the same form.
_CHARACTERS = str.maketrans(
    {
        **dict.fromkeys("“”„«»″", '"'),
        **dict.fromkeys("‘’‚`´′", "'"),
        **dict.fromkeys("‐‑‒–—―−", "-"),
        **dict(zip("…æœßøðþ", ("...", "ae", "oe", "ss", "o", "d", "th"), strict=True)),
        **dict.fromkeys("_\ufeff\u200b\xad"),
    }
)
_COMES_AND_GOES = frozenset({".", "*"})
_DOUBLED = re.compile(r"([-.'\"*])\1+")

_TABLES = load_toml(resource("manifests", "spellings.toml"))
_SPELLINGS = [(re.compile(pattern), form) for pattern, form in _TABLES["patterns"]]
_ALONE: dict[str, str] = _TABLES["alone"]


def fold(token: str) -> str:
    """The folded token; "" for what may come and go: line ends, emphasis marks, dots.

    Words lose their dots too, so that `Mr.` and `Mr` `.` are one.
    """
    text = unicodedata.normalize("NFKD", token.translate(_CHARACTERS)).casefold().translate(_CHARACTERS)
    text = "".join(c for c in text if not unicodedata.combining(c) and not c.isspace())
    text = _DOUBLED.sub(r"\1", text)
    if not any(c.isalnum() for c in text):
        return "" if text in _COMES_AND_GOES else text
    text = text.replace(".", "").strip("-")
    if text in _ALONE:
        return _ALONE[text]
    if len(text) > 3 and _ANY_SPELLING.search(text):
        for pattern, form in _SPELLINGS:
            text = pattern.sub(form, text)
    return text


_ANY_SPELLING = re.compile("|".join(pattern.pattern for pattern, _ in _SPELLINGS))
