"""Cut a book into consecutive windows of whole sentences, as the split config of the release does.

Two rules are known. The test windows are as released: `cumulative` with 1500 tokens gives all 152 of them.
The windows of the silver books cannot be checked here; `restart` with 1350 fits what is known of them
(`benchmarks/check_silver_windows.py` prints the evidence).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from ..errors import UsageError, require_choice
from .book import Book, Character, Mention

if TYPE_CHECKING:
    from .stored import StoredBook

Whole = TypeVar("Whole", Book, "StoredBook")
Name = TypeVar("Name")


class Window(NamedTuple):
    """A run of sentences; all ends exclusive, all counts from the start of the book."""

    first_sentence: int
    end_sentence: int
    start: int
    end: int


RULES = ("cumulative", "restart")


@dataclass(frozen=True, slots=True)
class WindowRule:
    """How the books of one split are cut: tokens per window, and one of `RULES` (see `cut_windows`)."""

    size: int = 1500
    rule: str = "cumulative"


WINDOW_RULES = {
    "train": WindowRule(1350, "restart"),
    "validation": WindowRule(1350, "restart"),
    "test": WindowRule(1500, "cumulative"),
}
"""The rule of each split of BookCoref: test as released, the others by the evidence there is."""


def cut_windows(sentence_ends: Sequence[int], size: int = 1500, rule: str = "cumulative") -> list[Window]:
    """Windows of whole sentences of about `size` tokens.

    `restart`: a window closes after the sentence with which it has more than `size` tokens, and counting
    begins anew.

    `cumulative`: windows are cut at multiples of `size` tokens of the whole book. A window closes after the
    first sentence whose end lies strictly beyond the next multiple of `size`; a sentence that ends exactly
    on a multiple does not close it. This reproduces all 152 released test windows of BookCoref. Windows
    wander around `size` but do not drift. Under either rule they are a partition.

    One sentence longer than `size` may pass several multiples: the counter still rises by one per
    window, as in the release, so the following windows close after one sentence until it has caught up.

    Raises UsageError: there is no such rule, or the size is not positive.
    """
    require_choice("rule for windows", rule, RULES)
    if size < 1:
        raise UsageError("the window size must be positive", found=size)
    firsts, start = [0] if sentence_ends else [], 0
    for i, end in enumerate(sentence_ends[:-1], 1):
        if end > (start + size if rule == "restart" else size * len(firsts)):
            firsts.append(i)
            start = end
    return windows_at(firsts, sentence_ends)


def windows_at(firsts: Sequence[int], sentence_ends: Sequence[int]) -> list[Window]:
    """The windows that begin with these sentences; the last one reaches to the end of the book."""
    starts = (0, *sentence_ends)
    return [Window(a, b, starts[a], starts[b]) for a, b in pairwise([*firsts, len(sentence_ends)])]


def window_key(doc_key: str, window: Window, size: int = 1500) -> str:
    """`<doc_key>_split<size>_S<first sentence>`, as released."""
    return f"{doc_key}_split{size}_S{window.first_sentence}"


class WindowKey(NamedTuple):
    """The parts of a window's key: its book, the window size it was cut with, its first sentence."""

    book: str
    size: int
    first_sentence: int


_KEY = re.compile(r"(?P<book>.+)_split(?P<size>[0-9]{1,9})_S(?P<first>[0-9]{1,9})\Z", re.DOTALL)


def read_window_key(doc_key: str) -> WindowKey | None:
    """The parts of a window's key, whatever its size; None when the key is a book's."""
    found = _KEY.match(doc_key)
    return WindowKey(found["book"], int(found["size"]), int(found["first"])) if found else None


@dataclass(frozen=True, slots=True)
class Windowed(Generic[Whole]):
    """The windows of one book as books, and the mentions that cross a window end and fit in none."""

    books: tuple[Whole, ...]
    lost: tuple[Mention, ...]


def split_book(
    book: Whole, *, size: int = 1500, rule: str = "cumulative", windows: Iterable[Window] | None = None
) -> Windowed[Whole]:
    """One small book per window: offsets start at 0, clusters left empty are dropped.

    A mention belongs to a window when both its ends do. `size` and `rule` are those of `cut_windows`;
    `windows` overrides them.
    """
    cuts = list(cut_windows(book.sentence_ends, size, rule) if windows is None else windows)
    clusters, lost = by_window([("", c) for c in book.clusters], cuts)
    characters, _ = by_window([(c.name, c.mentions) for c in book.characters], cuts)
    books = tuple(
        replace(
            book,
            doc_key=window_key(book.doc_key, w, size),
            tokens=book.tokens[w.start : w.end],
            sentence_ends=tuple(e - w.start for e in book.sentence_ends[w.first_sentence : w.end_sentence]),
            clusters=tuple(tuple(ms) for _, ms in clusters[i]),
            characters=tuple(Character(name, tuple(ms)) for name, ms in characters[i]),
            speakers=book.speakers[w.start : w.end],
        )
        for i, w in enumerate(cuts)
    )
    return Windowed(books, tuple(lost))


def split_by_rule(book: Whole, split: str) -> Windowed[Whole]:
    """The windows of a book by the rule of the split it belongs to (`WINDOW_RULES`)."""
    rule = WINDOW_RULES.get(split, WindowRule())
    return split_book(book, size=rule.size, rule=rule.rule)


def by_window(
    named: Iterable[tuple[Name, Iterable[tuple[int, int]]]], windows: Sequence[Window]
) -> tuple[list[list[tuple[Name, list[Mention]]]], list[Mention]]:
    """Distribute (name, mentions) over windows: per window its (name, moved mentions), and those lost."""
    starts = [w.start for w in windows]
    inside: list[list[tuple[Name, list[Mention]]]] = [[] for _ in windows]
    lost: list[Mention] = []
    for name, mentions in named:
        parts: dict[int, list[Mention]] = {}
        for start, end in mentions:
            i = bisect_right(starts, start) - 1
            if i >= 0 and end < windows[i].end:
                parts.setdefault(i, []).append(Mention(start - starts[i], end - starts[i]))
            else:
                lost.append(Mention(start, end))
        for i, part in parts.items():
            inside[i].append((name, part))
    return inside, lost
