"""Sentences of tokens as one array of characters with cuts, and back."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np

from ..errors import DataError
from .chars import codes_of, text_of
from .token_boundaries import Cuts

NEWLINE_TOKEN = "\n"
SEPARATOR = "\0"


def dissect(sentences: Sequence[Sequence[str]]) -> tuple[np.ndarray, Cuts]:
    """(code points of all tokens except "\\n", where they are cut).

    Raises:
        DataError: an empty sentence, an empty token, or a token that holds the zero character.
    """
    flat = list(chain.from_iterable(sentences))
    if not all(flat) or not all(sentences) or any(SEPARATOR in token for token in flat):
        raise DataError(
            "these sentences cannot be packed",
            expected="no empty sentence, no empty token, no zero character in a token",
        )
    words = [token for token in flat if token != NEWLINE_TOKEN]
    token_ends = np.cumsum(np.fromiter(map(len, words), dtype=np.int64, count=len(words))) - 1
    return codes_of("".join(words)), Cuts(token_ends, _patterns(sentences, len(words)))


def _patterns(sentences: Sequence[Sequence[str]], words: int) -> np.ndarray:
    patterns = [1] * (words + 1)
    gap = 0
    for sentence in sentences:
        for token in sentence:
            if token == NEWLINE_TOKEN:
                patterns[gap] = patterns[gap] << 1
            else:
                gap += 1
        patterns[gap] = patterns[gap] << 1 | 1
    # Patterns beyond 62 bits cannot be stored anyway; cut them so that the check upstairs can speak.
    return np.array([min(p, 1 << 62) for p in patterns], dtype=np.int64)


def join_tokens(codes: np.ndarray, cuts: Cuts) -> tuple[str, np.ndarray]:
    """(all tokens, each followed by the zero character; exclusive token offsets of sentence ends).

    One string, because slicing it once at C speed is what makes a rebuild fast; its UTF-8 is also what
    the checksum of the tokens is taken over.
    """
    newlines, ends = _events(cuts.patterns)
    where = np.concatenate(([0], cuts.token_ends + 1))
    repeat = np.ones(len(where), dtype=np.int64)
    repeat[0] = 0
    repeat += 2 * newlines
    values = np.zeros(int(repeat.sum()), dtype=codes.dtype)
    # "\n" and its separator stand in pairs at the end of what is inserted into a gap.
    first = np.cumsum(repeat) - 2 * newlines
    nth = np.arange(int(newlines.sum())) - np.repeat(np.cumsum(newlines) - newlines, newlines)
    values[np.repeat(first, newlines) + 2 * nth] = ord(NEWLINE_TOKEN)
    return text_of(np.insert(codes, np.repeat(where, repeat), values)), ends


def _events(patterns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(number of "\\n" tokens per gap, exclusive token offsets of all sentence ends)."""
    newlines = np.zeros(len(patterns), dtype=np.int64)
    shapes = [(int(p), f"{int(p):b}"[1:]) for p in np.unique(patterns)]
    for pattern, shape in shapes:
        if "0" in shape:
            newlines[patterns == pattern] = shape.count("0")
    # Tokens before a gap: the words before it, and the line ends of earlier gaps.
    before = np.arange(len(patterns)) + np.cumsum(newlines) - newlines
    ends = [
        before[patterns == pattern] + shape[:k].count("0")
        for pattern, shape in shapes
        for k, event in enumerate(shape)
        if event == "1"
    ]
    return newlines, np.sort(np.concatenate(ends)) if ends else np.zeros(0, dtype=np.int64)
