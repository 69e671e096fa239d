"""The parts of books that resampling draws and exchanges: windows, chapters, whole books."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from ..books import cut_windows
from ..errors import UsageError
from .arrays import Ints
from .modes import BookPair, block_numbers

UNITS = ("window", "chapter", "book")


def part_starts(book: BookPair, unit: str, size: int) -> Ints:
    """First token of every part of a book; parts are a partition of it.

    Raises:
        UsageError: chapters of a book without text, or without headings that can be found.
    """
    if unit == "book":
        return np.zeros(1, np.int64)
    if unit == "chapter":
        return np.array(_chapter_starts(book), np.int64)
    if book.sentence_ends is None:
        # By the key alone: two systems that are compared must be cut alike.
        return block_numbers(max(book.length, 1), size, book.key.start, text=book.tokens is not None) * size
    return np.array([w.start for w in cut_windows(book.sentence_ends, size)] or [0], np.int64)


def part_of(starts: Ints, offsets: Ints) -> Ints:
    """The part in which each offset lies."""
    return np.clip(np.searchsorted(starts, offsets, side="right") - 1, 0, None)


def scored_unit_groups(book: BookPair, unit: str, size: int) -> tuple[Ints, int]:
    """For every unit that is scored on its own (a window): the group it is drawn with; and the groups.

    A window is a group of its own, except that overlapping windows (`gold-window-released`) stay
    together, since they share output. Chapters take the windows that start in them.
    """
    bounds = np.array(book.bounds, np.int64).reshape(-1, 2)
    if unit == "window":
        alone = np.concatenate([[True], bounds[1:, 0] >= bounds[:-1, 1]])[: len(bounds)]
        group = np.cumsum(alone) - 1
    else:
        group = part_of(part_starts(book, unit, size), bounds[:, 0])
    used, group = np.unique(group, return_inverse=True)
    return group, used.size


_HEADINGS = {"chapter", "letter", "canto", "chap.", "chap"}
_NUMBER_WORDS = """
    one two three four five six seven eight nine ten eleven twelve first second third last the
"""
_NUMBERS = set(_NUMBER_WORDS.split())
_BEFORE_HEADING = {"\n", ".", "!", "?", '"', "”", "’", "'", "_", "*"}


def _chapter_starts(book: BookPair) -> Sequence[int]:
    """Tokens that open a chapter: "Chapter" with a number where a sentence or line begins, or "CHAPTER"."""
    tokens, ends = book.tokens, book.sentence_ends
    if tokens is None or ends is None:
        raise UsageError(
            f"{book.doc_key}: chapters need text, and neither side has any", hint="use --unit window"
        )
    openers = {0, *ends}
    starts = [
        i
        for i, (token, following) in enumerate(pairwise(tokens))
        if token[:1].isupper()
        and token.lower() in _HEADINGS
        and _is_number(following)
        and (i in openers or token.isupper() or tokens[i - 1] in _BEFORE_HEADING)
    ]
    if len(starts) < 2:
        raise UsageError(
            f"{book.doc_key}: found {len(starts)} chapter headings",
            expected="lines such as 'Chapter 1' or 'CHAPTER IV.'",
            hint="--unit window needs no headings",
        )
    return starts if starts[0] == 0 else [0, *starts]


def _is_number(token: str) -> bool:
    token = token.rstrip(".:").lower()
    return token.isdigit() or token in _NUMBERS or (bool(token) and not token.strip("ivxlcdm"))
