"""A text as its visible characters and what lies between them: the ground that a pack builds on.

White space is no part of the character stream; between two characters there is nothing, white space, or
a blank line. So wrapping, indentation, line ends and encodings make no difference to a pack, and the
paragraphs of the text are still there.
"""

from dataclasses import dataclass

import numpy as np

from ..alignment.sequence import codes_of

NOTHING, SPACE, BLANK_LINE = 0, 1, 2
WORD, LETTER, UPPER, DIGIT, WHITE = 1, 2, 4, 8, 16

_TABLE_SIZE = 1 << 16
# Frozen (pack format 1): the White_Space characters of Unicode plus the separators 0x1C to 0x1F, which
# is what Python's str.isspace() says; written out, so that no version of Unicode can move them.
_WHITE = [*range(9, 14), *range(28, 33), 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029,
          0x202F, 0x205F, 0x3000]  # fmt: skip


# Bits per code point below 0x10000; all higher ones count as lower-case letters
_CLASSES = np.zeros(_TABLE_SIZE, dtype=np.uint8)
_CLASSES[0xC0:] = WORD | LETTER
_CLASSES[0x2000:0x2C00] = 0
_CLASSES[[0xD7, 0xF7]] = 0
for first, last, bits in (
    ("a", "z", WORD | LETTER), ("A", "Z", WORD | LETTER | UPPER), ("0", "9", WORD | DIGIT),
    ("\xc0", "\xd6", WORD | LETTER | UPPER), ("\xd8", "\xde", WORD | LETTER | UPPER),
):  # fmt: skip
    _CLASSES[ord(first) : ord(last) + 1] = bits
_CLASSES[_WHITE] = WHITE
# 1 for a lower-case letter, 2 upper-case, 3 digit, else the code point: what the cutting rule sees.
_SYMBOLS = np.where(
    _CLASSES & UPPER, 2, np.where(_CLASSES & LETTER, 1, np.where(_CLASSES & DIGIT, 3, np.arange(_TABLE_SIZE)))
).astype(np.uint64)


def classes_of(codes: np.ndarray) -> np.ndarray:
    """The class bits of every code point (uint8)."""
    classes: np.ndarray = _CLASSES[_small(codes)]
    return classes


def symbols_of(codes: np.ndarray) -> np.ndarray:
    """1 for a lower-case letter, 2 for an upper-case one, 3 for a digit, else the code point (uint64)."""
    symbols: np.ndarray = _SYMBOLS[_small(codes)]
    return symbols


def _small(codes: np.ndarray) -> np.ndarray:
    return codes if codes.dtype == np.uint16 else np.minimum(codes, _TABLE_SIZE - 1)


@dataclass(frozen=True, slots=True)
class CharStream:
    """`codes`: code points (uint16 or uint32); `after[i]` (uint8): what follows character i, one of NOTHING,
    SPACE and BLANK_LINE."""

    codes: np.ndarray
    after: np.ndarray

    def __len__(self) -> int:
        return len(self.codes)


def text_of(codes: np.ndarray) -> str:
    """The string of an array of code points."""
    if codes.dtype == np.uint16 and not (bool(codes.size) and bool(((codes & 0xF800) == 0xD800).any())):
        return codes.tobytes().decode("utf-16-le")
    return codes.astype("<u4", copy=False).tobytes().decode("utf-32-le", "surrogatepass")


def visible(text: str) -> CharStream:
    """The visible characters of `text` (line ends "\\n") and what follows each."""
    codes = codes_of(text)
    shown = classes_of(codes) != WHITE
    seen = np.flatnonzero(shown)
    if seen.size == 0:
        return CharStream(codes[:0], np.zeros(0, np.uint8))
    after = np.zeros(seen.size, dtype=np.uint8)
    after[:-1] = np.diff(seen) > 1
    after[-1] = seen[-1] + 1 < codes.size
    # A gap that holds two line ends is a blank line; line ends are few, characters many.
    lines = np.cumsum(shown, dtype=np.int32)[codes == 10] - 1
    after[lines[1:][(lines[1:] == lines[:-1]) & (lines[1:] >= 0)]] = BLANK_LINE
    return CharStream(codes[seen], after)
