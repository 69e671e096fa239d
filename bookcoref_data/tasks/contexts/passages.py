"""Paragraphs of a book, and passages of them about a character (BookWorm).

Every piece of a context keeps its tokens' place in the book, so that it can be found and quoted.
"""

import random
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from ...books import Book
from ...books.layout import find_paragraphs
from ...errors import UsageError, needing, require_choice
from ...shapes import attributes

STRATEGIES = ("coref", "bm25", "lead", "random", "chunks", "none")
BM25_PARAGRAPHS = 80
"""How many paragraphs BookWorm takes by BM25."""


class Passage(NamedTuple):
    """Tokens of the book that a context quotes; `end` is exclusive, `size` counts tokens of the budget."""

    start: int
    end: int
    size: int


@dataclass(frozen=True, slots=True)
class Context:
    """What a model reads about one character. `chunk` numbers the parts of the strategy "chunks", else 0."""

    doc_key: str
    character: str
    strategy: str
    pieces: tuple[Passage, ...]
    chunk: int = 0

    @property
    def size(self) -> int:
        return sum(piece.size for piece in self.pieces)

    def text(self, book: Book) -> str:
        """The pieces, separated by an empty line."""
        return "\n\n".join(text_of(book, piece.start, piece.end) for piece in self.pieces)

    def to_dict(self, book: Book) -> dict[str, Any]:
        pieces = [{"start": a, "end": b, "text": text_of(book, a, b)} for a, b, _ in self.pieces]
        row = attributes(self, "doc_key character strategy chunk")
        return {**row, "tokens": self.size, "pieces": pieces, "context": self.text(book)}


FEATURES: dict[str, Any] = {
    "doc_key": "string", "character": "string", "strategy": "string", "chunk": "int32", "tokens": "int32",
    "pieces": [{"start": "int32", "end": "int32", "text": "string"}], "context": "string", "prompt": "string",
}  # fmt: skip


def text_of(book: Book, start: int, end: int) -> str:
    """Tokens joined by one space; line ends inside are spaces."""
    return " ".join(t for t in book.tokens[start:end] if t.strip())


def paragraphs_of(book: Book, longest: int) -> list[Passage]:
    """The paragraphs of a book in order, each of at most `longest` tokens, line ends not counted.

    Paragraphs are those of the reading view. One that is too long is cut at sentence ends, a sentence that
    is too long at `longest` tokens.
    """
    # Counting words once makes the size of any piece one subtraction.
    counts = [0]
    for token in book.tokens:
        counts.append(counts[-1] + bool(token.strip()))
    pieces: list[Passage] = []
    ends = book.sentence_ends
    for start, end in find_paragraphs(book):
        whole = counts[end] - counts[start] <= longest
        borders = (end,) if whole else ends[bisect_right(ends, start) : bisect_right(ends, end)]
        while start < end:
            fitting = [b for b in borders if start < b and counts[b] - counts[start] <= longest]
            stop = fitting[-1] if fitting else min(bisect_right(counts, counts[start] + longest) - 1, end)
            pieces.append(Passage(start, stop, counts[stop] - counts[start]))
            start = stop
    return [piece for piece in pieces if piece.size]


Item = TypeVar("Item")


def in_parts(items: Sequence[Item], sizes: Sequence[int], most: int) -> list[list[Item]]:
    """The items in as few consecutive parts as hold at most `most` each; a larger item is a part."""
    parts: list[list[Item]] = [[]]
    left = most
    for item, size in zip(items, sizes, strict=True):
        if size > left and parts[-1]:
            parts.append([])
            left = most
        parts[-1].append(item)
        left -= size
    return [part for part in parts if part]


class Retriever:
    """Contexts for the characters of one book; what is common to all characters is made once.

    `truncate`: where the chosen paragraphs do not fit, the end is cut off, as published (BookWorm, 4.1).
    """

    def __init__(self, book: Book, *, budget: int = 7600, seed: int = 0, truncate: bool = False) -> None:
        if budget < 1:
            raise UsageError("the budget of a context is at least one token", found=budget)
        self.book, self.budget, self.seed = book, budget, seed
        self._truncate = truncate
        self.paragraphs = paragraphs_of(book, budget)
        self._starts = [p.start for p in self.paragraphs]
        self._mentions = {c.name: c.mentions for c in book.characters}
        self._bm25: Any = None

    def contexts(self, character: str, strategy: str) -> list[Context]:
        """The context of a character by one of `STRATEGIES`; several for "chunks".

        Pieces stand in the order of the book.

        Raises UsageError: an unknown strategy or character. MissingExtraError: "bm25" without `tasks`.
        """
        if character not in self._mentions:
            expected = ", ".join([*self._mentions][:8]) or "an annotated book with named characters"
            raise UsageError(f"{self.book.doc_key} has no character {character!r}", expected=expected)
        ways: dict[str, Callable[[str], Iterable[int]]] = {
            "coref": self._by_coreference, "bm25": self._by_bm25,
            "lead": lambda _: range(len(self.paragraphs)), "random": self._at_random, "none": lambda _: (),
        }  # fmt: skip
        if strategy == "chunks":
            # The whole book in chunks of paragraphs, each within the budget; none is empty
            chunks = in_parts(self.paragraphs, [p.size for p in self.paragraphs], self.budget)
            return [
                Context(self.book.doc_key, character, "chunks", tuple(pieces), number)
                for number, pieces in enumerate(chunks)
            ]
        require_choice("strategy", strategy, STRATEGIES)
        cut = self._truncate and strategy in ("coref", "bm25")
        # Take paragraphs in the given order while they fit; `stop` ends at the first that does not.
        order = sorted(ways[strategy](character)) if cut else ways[strategy](character)
        stop = cut or strategy == "lead"
        chosen, left = [], self.budget
        for i in order:
            if self.paragraphs[i].size <= left:
                chosen.append(i)
                left -= self.paragraphs[i].size
            elif stop or not left:
                break
        pieces = tuple(self.paragraphs[i] for i in sorted(chosen))
        return [Context(self.book.doc_key, character, strategy, pieces)]

    def mention_counts(self, character: str) -> dict[int, int]:
        mentions = self._mentions[character] if self.paragraphs else ()
        # By the paragraph in which a mention starts
        return Counter(max(bisect_right(self._starts, m.start) - 1, 0) for m in mentions)

    def _by_coreference(self, character: str) -> list[int]:
        """Paragraphs with a mention, in book order: all of them, as published, while the budget lasts.

        Where they do not fit, those with most mentions for their length come first: book order alone would
        show only the beginning of a book.
        """
        counts = self.mention_counts(character)
        total = sum(self.paragraphs[i].size for i in counts)
        if total <= self.budget:
            return sorted(counts)
        return sorted(counts, key=lambda i: (-counts[i], self.paragraphs[i].size, i))

    def _by_bm25(self, character: str) -> list[int]:
        """The 80 best paragraphs for the name, best first; those without any of its words are left out."""
        with needing("tasks", "bm25s", "contexts by BM25"):
            import bm25s
        if self._bm25 is None:
            texts = [text_of(self.book, p.start, p.end) for p in self.paragraphs]
            self._bm25 = bm25s.BM25()
            self._bm25.index(bm25s.tokenize(texts, stopwords="en", show_progress=False), show_progress=False)
        most = min(BM25_PARAGRAPHS, len(self.paragraphs))
        query = bm25s.tokenize([character], stopwords="en", show_progress=False, return_ids=False)
        found, scores = self._bm25.retrieve(query, k=most, show_progress=False)
        return [int(i) for i, score in zip(found[0], scores[0], strict=True) if score > 0]

    def _at_random(self, character: str) -> list[int]:
        """All paragraphs with a mention of the character, shuffled."""
        places = sorted(self.mention_counts(character))
        random.Random(f"{self.seed} {self.book.doc_key} {character}").shuffle(places)
        return places


def sentences_about(book: Book, character: str, most: int, *, seed: int | None = None) -> list[str]:
    """Sentences that mention a character: the first `most`, or with a seed as many at random; in order."""
    mentions = next((c.mentions for c in book.characters if c.name == character), ())
    places = sorted({bisect_right(book.sentence_ends, m.start) for m in mentions})
    if seed is not None and len(places) > most:
        places = sorted(random.Random(f"{seed} {book.doc_key} {character}").sample(places, most))
    starts = (0, *book.sentence_ends)
    return [text_of(book, starts[i], book.sentence_ends[i]) for i in places[:most]]


def names_in(book: Book, start: int, end: int) -> set[str]:
    """The characters with a mention between two tokens (`end` exclusive)."""
    found = set()
    for character in book.characters:
        at = bisect_left(character.mentions, (start, -1))
        if at < len(character.mentions) and character.mentions[at].end < end:
            found.add(character.name)
    return found
