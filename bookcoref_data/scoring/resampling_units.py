"""The parts of books that resampling draws and exchanges: windows, chapters, whole books."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ..books import cut_windows
from ..errors import UsageError
from ..words import word_set
from .arrays import Ints
from .modes import BookPair, block_numbers


def block_starts(book: BookPair, unit: str, size: int, *, whole: bool) -> Ints:
    """First token of every unit of a text: a "block" of about `size` tokens, a "chapter" or the "book".

    Units are a partition. Where windows are scored on their own (not `whole`) a unit takes the windows
    that start in it; windows that overlap stay together.

    Raises:
        UsageError: chapters of a book without text, or without headings that can be found.
    """
    if unit == "book":
        return np.zeros(1, np.int64)
    if unit == "chapter":
        # Tokens that open a chapter: "Chapter" with a number where a sentence or line begins, or "CHAPTER"
        tokens, ends = book.tokens, book.sentence_ends
        if tokens is None or ends is None:
            raise UsageError(
                f"{book.doc_key}: chapters need text, and neither side has any", hint="use --unit block"
            )
        openers = {0, *ends}
        found = []
        for i, (token, following) in enumerate(pairwise(tokens)):
            if token[:1].isupper() and token.lower() in _HEADINGS:
                number = following.rstrip(".:").lower()
                roman = bool(number) and not number.strip("ivxlcdm")
                opens = i in openers or token.isupper() or tokens[i - 1] in _BEFORE_HEADING
                if opens and (roman or number.isdigit() or number in _NUMBERS):
                    found.append(i)
        if len(found) < 2:
            raise UsageError(
                f"{book.doc_key}: found {len(found)} chapter headings",
                expected="lines such as 'Chapter 1' or 'CHAPTER IV.'", hint="--unit block needs no headings"
            )  # fmt: skip
        starts = np.array(found if found[0] == 0 else [0, *found], np.int64)
    elif book.sentence_ends is None:
        # By the key alone: two systems that are compared must be cut alike.
        starts = size * block_numbers(max(book.length, 1), size, book.key.start, text=book.tokens is not None)
    else:
        starts = np.array([w.start for w in cut_windows(book.sentence_ends, size)] or [0], np.int64)
    if whole:
        return starts
    bounds = np.array(book.bounds, np.int64).reshape(-1, 2)
    group = part_of(starts, bounds[:, 0])
    first = (np.diff(group) > 0) & (bounds[1:, 0] >= bounds[:-1, 1])
    return np.concatenate([[0], bounds[1:, 0][first]])


def part_of(starts: Ints, offsets: Ints) -> Ints:
    """The part in which each offset lies."""
    return np.clip(np.searchsorted(starts, offsets, side="right") - 1, 0, None)


_HEADINGS = word_set("chapter letter canto chap. chap")
_NUMBERS = word_set("""one two three four five six seven eight nine ten eleven twelve first second third
    last the""")
_BEFORE_HEADING = {"\n", ".", "!", "?", '"', "”", "’", "'", "_", "*"}
