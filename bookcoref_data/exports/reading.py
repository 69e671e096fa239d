"""One annotated book prepared for export: where chapters, paragraphs, quotes and words are."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, takewhile
from typing import TypeVar

from ..books.annotation import Annotation, Marked, Quote
from ..books.layout import Chapter, Layout, TokenRange, lay_out
from ..scoring.mention_types import TypeRules

K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True)
class LaidOutBook:
    """An annotation with its layout; every export starts from this."""

    annotation: Annotation

    @cached_property
    def layout(self) -> Layout:
        return lay_out(self.annotation)

    @cached_property
    def chapters(self) -> tuple[Chapter, ...]:
        """Those that have a heading: the parts that the layout cuts a long one into are one again."""
        parts = self.layout.chapters
        titled = any(part.title for part in parts)
        heads = [n for n, part in enumerate(parts) if part.title or not (n and titled)]
        return tuple(
            Chapter(
                parts[a].title, parts[a].start, parts[b - 1].end,
                tuple(p for part in parts[a:b] for p in part.paragraphs),
            )
            for a, b in pairwise([*heads, len(parts)])
        )  # fmt: skip

    @cached_property
    def paragraphs(self) -> list[TokenRange]:
        return list(self.layout.paragraphs)

    def headings(self, chapter: Chapter) -> list[str]:
        """The first paragraphs of a chapter, as far as its title has them."""
        found = (words for p in chapter.paragraphs if (words := self.words(p.start, p.end - 1)))
        return list(takewhile(chapter.title.__contains__, found))

    def chapter_of(self, token: int) -> int:
        """Number of the chapter (from 0) of a token."""
        return max(0, bisect_right(self.chapters, token, key=lambda c: c.start) - 1)

    def paragraph_of(self, token: int) -> int:
        """Number of the paragraph (from 0) of a token."""
        return max(0, bisect_right(self.paragraphs, token, key=lambda p: p.start) - 1)

    def characters(self, start: int, end: int) -> tuple[int, int]:
        """The characters [first, behind the last) of tokens `start` to `end`, both inclusive."""
        return self.layout.starts[start], self.layout.ends[end]

    def words(self, start: int, end: int) -> str:
        """The text of tokens `start` to `end` on one line."""
        return " ".join(self.layout.slice(start, end).split())

    def word_count(self, start: int, end: int) -> int:
        """Tokens with a letter or digit among `start` to `end`."""
        return sum(any(c.isalnum() for c in t) for t in self.annotation.book.tokens[start : end + 1])

    def spoken(self, by: Callable[[Quote], Iterable[K]]) -> tuple[Counter[K], Counter[K]]:
        """How many quotes, and how many words in them, each key has that `by` gives of a quote."""
        quotes, words = Counter[K](), Counter[K]()
        for q in self.annotation.quotes:
            for key in by(q):
                quotes[key] += 1
                words[key] += self.word_count(q.start, q.end)
        return quotes, words

    @cached_property
    def _rules(self) -> TypeRules:
        return TypeRules.of(self.annotation)

    def kind(self, m: Marked) -> str:
        """ "name", "nominal" or "pronoun": as annotated, else by rule."""
        return m.kind or self._rules.type_of(m.start, m.end)

    def name(self, character: int) -> str:
        """The name of a character; "" for -1."""
        return self.annotation.names[character] if character >= 0 else ""

    def addressees(self, quote: Quote) -> list[str]:
        return [self.name(c) for c in quote.addressees]

    @cached_property
    def quote_of(self) -> dict[int, int]:
        """Number of the quote by each token that stands in one."""
        return {i: n for n, q in enumerate(self.annotation.quotes) for i in range(q.start, q.end + 1)}

    def mentioned(self) -> Iterator[int]:
        """Characters that are mentioned or speak, in the order of the names."""
        for i, group in enumerate(self.annotation.by_character):
            if group or i in self.annotation.heard:
                yield i
