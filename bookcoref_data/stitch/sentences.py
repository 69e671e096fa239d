"""Sentences of tokens as one array of characters with cuts, and back."""

from collections.abc import Sequence
from itertools import chain

import numpy as np

from ..errors import DataError
from .chars import codes_of, text_of
from .token_boundaries import NONE, Cuts

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
    patterns = [1] * (len(words) + 1)
    gap = 0
    for sentence in sentences:
        for token in sentence:
            if token == NEWLINE_TOKEN:
                patterns[gap] = patterns[gap] << 1
            else:
                gap += 1
        patterns[gap] = patterns[gap] << 1 | 1
    # Patterns beyond 62 bits cannot be stored anyway; cut them so that the check upstairs can speak.
    cut = np.array([min(p, 1 << 62) for p in patterns], dtype=np.int64)
    return codes_of("".join(words)), Cuts(token_ends, cut)


def join_tokens(codes: np.ndarray, cuts: Cuts) -> tuple[str, np.ndarray]:
    """(all tokens, each followed by the zero character; exclusive token offsets of sentence ends).

    One string, because slicing it once at C speed is what makes a rebuild fast; its UTF-8 is also what
    the checksum of the tokens is taken over.
    """
    # Gaps with "\n" tokens, how many there are in each, exclusive token offsets of all sentence ends
    special = np.flatnonzero(cuts.patterns != NONE)
    values = cuts.patterns[special]
    newlines = np.zeros(len(special), dtype=np.int64)
    shapes = [(int(p), f"{int(p):b}"[1:]) for p in np.unique(values)]
    for pattern, shape in shapes:
        newlines[values == pattern] = shape.count("0")
    # Tokens before a gap: the words before it, and the line ends of earlier gaps.
    before = special + np.cumsum(newlines) - newlines
    places = [
        before[values == pattern] + shape[:k].count("0")
        for pattern, shape in shapes
        for k, event in enumerate(shape)
        if event == "1"
    ]
    ends = np.sort(np.concatenate(places)) if places else np.zeros(0, np.int64)
    gaps, newlines = special[newlines > 0], newlines[newlines > 0]
    # How many characters go into the gaps up to each token: its own separator, a pair for every "\n".
    before = np.zeros(len(cuts.patterns), dtype=np.int64)
    before[gaps] = 2 * newlines
    before = np.cumsum(before)
    separators = cuts.token_ends + np.arange(1, len(cuts.token_ends) + 1) + before[:-1]
    # "\n" and its separator stand in pairs behind the separator of the token before.
    first = np.concatenate(([-1], separators))[gaps] + 1
    nth = np.arange(int(newlines.sum())) - np.repeat(np.cumsum(newlines) - newlines, newlines)
    lines = np.repeat(first, newlines) + 2 * nth
    size = len(codes) + len(cuts.token_ends) + 2 * len(lines)
    joined, kept = np.zeros(size, dtype=codes.dtype), np.ones(size, dtype=bool)
    joined[lines] = ord(NEWLINE_TOKEN)
    for inserted in (separators, lines, lines + 1):
        kept[inserted] = False
    joined[kept] = codes
    return text_of(joined), ends
