"""Cut a book into consecutive windows of whole sentences: the rule of the released split config."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from .book import Book, Character, Mention


class Window(NamedTuple):
    """A run of sentences; all ends exclusive, all counts from the start of the book."""

    first_sentence: int
    end_sentence: int
    start: int
    end: int


def cut_windows(sentence_ends: Sequence[int], size: int = 1500) -> list[Window]:
    """Windows of whole sentences, cut at cumulative multiples of `size` tokens of the whole book.

    A window closes after the first sentence whose end lies strictly beyond the next multiple of `size`;
    a sentence that ends exactly on a multiple does not close it. This reproduces all 152 released test
    windows of BookCoref. Windows wander around `size` but do not drift, and they are a partition.

    One sentence longer than `size` may pass several multiples: the counter still rises by one per
    window, as in the release, so the following windows close after one sentence until it has caught up.
    """
    windows: list[Window] = []
    first, start = 0, 0
    for i, end in enumerate(sentence_ends):
        if end > size * (len(windows) + 1):
            windows.append(Window(first, i + 1, start, end))
            first, start = i + 1, end
    if first < len(sentence_ends):
        windows.append(Window(first, len(sentence_ends), start, sentence_ends[-1]))
    return windows


def window_key(doc_key: str, window: Window, size: int = 1500) -> str:
    """`<doc_key>_split<size>_S<first sentence>`, as released."""
    return f"{doc_key}_split{size}_S{window.first_sentence}"


@dataclass(frozen=True, slots=True)
class SplitBook:
    """The windows of one book as books, and the mentions that cross a window end and fit in none."""

    books: tuple[Book, ...]
    lost: tuple[Mention, ...]


def split_book(
    book: Book, *, size: int = 1500, windows: Iterable[Window] | None = None, drop_singletons: bool = False
) -> SplitBook:
    """One small book per window: offsets start at 0, clusters left empty are dropped.

    A mention belongs to a window when both its ends do. `windows` overrides the rule of `cut_windows`.
    `drop_singletons` also drops what became a cluster of one mention in its window.
    """
    cuts = list(cut_windows(book.sentence_ends, size) if windows is None else windows)
    clusters, lost = _by_window([(None, c) for c in book.clusters], cuts)
    characters, _ = _by_window([(c.name, c.mentions) for c in book.characters], cuts)
    keep = 2 if drop_singletons else 1
    books = tuple(
        Book(
            window_key(book.doc_key, w, size),
            book.gutenberg_key,
            book.tokens[w.start : w.end],
            tuple(e - w.start for e in book.sentence_ends[w.first_sentence : w.end_sentence]),
            tuple(tuple(ms) for _, ms in clusters[i] if len(ms) >= keep),
            tuple(Character(name, tuple(ms)) for name, ms in characters[i] if len(ms) >= keep),
            book.speakers[w.start : w.end],
        )
        for i, w in enumerate(cuts)
    )
    return SplitBook(books, tuple(lost))


def _by_window(named, windows: Sequence[Window]):
    """Distribute (name, mentions) over windows; returns per window a list of (name, moved mentions)."""
    starts = [w.start for w in windows]
    inside: list[list] = [[] for _ in windows]
    lost: list[Mention] = []
    for name, mentions in named:
        parts: dict[int, list[Mention]] = {}
        for m in mentions:
            i = bisect_right(starts, m.start) - 1
            if i >= 0 and m.end < windows[i].end:
                parts.setdefault(i, []).append(Mention(m.start - starts[i], m.end - starts[i]))
            else:
                lost.append(m)
        for i, part in parts.items():
            inside[i].append((name, part))
    return inside, lost
