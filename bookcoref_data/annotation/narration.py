"""Who says "I" outside quotes, and where: one narrator for the book, others for chapters or ranges of tokens.

Jim Hawkins                the whole book, where nobody else is given
Dr. Livesey:16-18          chapters 16 to 18; also 3 or 5,7-9 or 12- (to the end)
Dr. Livesey:@40210-52000   tokens 40210 to 52000, both inclusive
"""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from ..books import Book
from ..books.layout import find_chapters
from ..errors import UsageError
from ..words.numbers import ORDINALS, ROMAN, TENS, UNITS, roman_value
from .cast import Cast, split_range


@dataclass(frozen=True, slots=True, order=True)
class Narration:
    """Cast member `narrator` says "I" outside quotes from token `start` to `end` (exclusive)."""

    start: int
    end: int
    narrator: int


def throughout(narrator: int, book: Book) -> tuple[Narration, ...]:
    """One narrator from the first token to the last; none where `narrator` is -1."""
    return (Narration(0, len(book.tokens), narrator),) if narrator >= 0 else ()


def narration_of(
    wanted: Sequence[str], cast: Cast, book: Book, chapters: Sequence[tuple[str, int]] = ()
) -> tuple[Narration, ...]:
    """The narrators that a person gives, as ranges of tokens that do not overlap.

    `wanted` are lines as at the top of this module; `chapters` are the headings (title, first token) of the
    book, looked for in its text where none are given. A name with a range goes before one without.

    Raises:
        UsageError: a name that the cast does not have, a chapter or token that the book does not have, or
            two narrators for one place.
    """
    everywhere = -1
    parts: list[tuple[Narration, str]] = []
    for line in wanted:
        name, places = split_range(line)
        who = cast.index(name)
        if not places:
            if everywhere not in (-1, who):
                what = "two narrators for the whole book"
                hint = f'say where the second one narrates: --narrator "{name}:16-18" (chapters)'
                raise UsageError(what, found=f"{cast.names[everywhere]} and {cast.names[who]}", hint=hint)
            everywhere = who
            continue
        parts += [(Narration(a, b, who), line) for a, b in _ranges(places, line, book, chapters)]
    parts.sort()
    for (first, line), (second, other) in pairwise(parts):
        if second.start < first.end and second.narrator != first.narrator:
            raise UsageError("two narrators for one place", found=f"{line!r} and {other!r}")
    if everywhere < 0:
        return tuple(part for part, _ in parts)
    # Between the ranges the narrator of the whole book tells.
    filled, at, size = list[Narration](), 0, len(book.tokens)
    for part in (*(part for part, _ in parts), Narration(size, size, everywhere)):
        if part.start > at:
            filled.append(Narration(at, part.start, everywhere))
        if part.end > part.start:
            filled.append(part)
        at = max(at, part.end)
    return tuple(filled)


def names_in_place(cast: Cast, book: Book, chapters: Sequence[tuple[str, int]] = ()) -> Cast:
    """The cast with the chapters of names such as "Catherine:18-" as tokens: "Catherine:@40210-52000".

    Raises:
        UsageError: chapters that the book does not have.
    """

    def told(alias: str) -> list[str]:
        name, places = split_range(alias)
        ranges = _ranges(places, alias, book, chapters) if places else ()
        return [f"{name}:@{a}-{b - 1}" for a, b in ranges] or [alias]

    placed = (replace(e, aliases=tuple(n for a in e.aliases for n in told(a))) for e in cast.entries)
    return replace(cast, entries=tuple(placed))


def _ranges(places: str, line: str, book: Book, chapters: Sequence[tuple[str, int]]) -> list[tuple[int, int]]:
    """The token ranges (end exclusive) of "16-18" or "@100-200"."""
    counts_tokens, size = places.startswith("@"), len(book.tokens)
    numbered = {} if counts_tokens else chapter_ranges(tuple(chapters) or find_chapters(book), size)
    known: Collection[int] = range(size) if counts_tokens else numbered
    what, found = "tokens" if counts_tokens else "chapters", []
    for piece in places.lstrip("@").split(","):
        low, dash, high = piece.partition("-")
        first, last = int(low), int(high or (max(known, default=0) if dash else low))
        if first > last or first not in known or last not in known:
            bounds = f"{what} {min(known)} to {max(known)}" if known else "a book with chapter headings"
            raise UsageError(
                f"{line!r} names {what} that {book.doc_key} does not have",
                expected=bounds,
                found=piece,
                hint="" if counts_tokens else "give tokens instead: NAME:@FIRST-LAST",
            )
        found.append((first, last + 1) if counts_tokens else (numbered[first][0], numbered[last][1]))
    return found


def chapter_ranges(chapters: Sequence[tuple[str, int]], size: int) -> dict[int, tuple[int, int]]:
    """Chapter number -> its tokens (end exclusive), for headings (title, first token) of a book of `size`.

    The number is that of the heading ("XVI", "Chapter 16") where no two headings share one; else, as in
    books whose parts count anew, the place of the heading in the book, from 1.
    """
    ordered = sorted(chapters, key=lambda chapter: chapter[1])
    ends = [*(start for _, start in ordered[1:]), size][: len(ordered)]
    numbers = [chapter_number(title) for title, _ in ordered]
    counts = Counter(n for n in numbers if n)
    if not counts or max(counts.values()) > 1:
        numbers = list(range(1, len(ordered) + 1))
    return {n: (start, end) for n, (_, start), end in zip(numbers, ordered, ends, strict=True) if n}


_CHAPTER = re.compile(
    r"(?:(?:chapter|chap|letter|stave|section|canto)\b)?[ .,:—-]*(?:the )?([a-z]+(?:-[a-z]+)?|\d+)", re.I
)
_WORDS = {word: n for words in (UNITS[1:], ORDINALS) for n, word in enumerate(words, 1)}
_WORDS |= {word: 10 * n for n, word in enumerate(TENS, 2)}
_WORDS |= {f"{ten}-{unit}": 10 * n + _WORDS[unit] for n, ten in enumerate(TENS, 2) for unit in UNITS[1:10]}


def chapter_number(title: str) -> int:
    """The number of a chapter by its heading ("XVI. The Stockade" is 16); 0 where it has none."""
    found = _CHAPTER.match(title.strip())
    if found is None:
        return 0
    word = found.group(1).lower()
    if word.isdigit():
        return int(word) if int(word) < 1000 else 0
    return _WORDS.get(word) or (roman_value(word) if re.fullmatch(ROMAN, word) else 0)
