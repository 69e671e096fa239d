"""Score a response against a key: the function behind `bookcoref-data evaluate`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass

from .. import __version__
from ..books import Book, Record
from .linking import LinkingScores, score_linking
from .metrics import Overlaps, overlaps
from .modes import DEFAULT_WINDOW, MODES, BookPair, Prepared, prepare
from .scores import SCORER, ClusterScores, pool


@dataclass(frozen=True, slots=True)
class Rules:
    """Everything that can change a number, kept with the numbers."""

    mode: str
    singletons: str = "keep"
    duplicates: str = "released"
    missing: str = "error"
    window_size: int = DEFAULT_WINDOW
    pooling: str = "numerators and denominators are summed over units and books, then divided"
    conll: str = "mean of the F1s (and of the Ps and Rs) of MUC, B3 and CEAF-e"
    scorer: str = SCORER
    package: str = f"bookcoref-data {__version__}"

    def to_dict(self) -> dict:
        return asdict(self) | {"mode_meaning": MODES[self.mode]}


@dataclass(frozen=True, slots=True, eq=False)
class BookScores:
    """Scores of one book and the sizes behind them. `linking` is None unless both sides name characters."""

    doc_key: str
    scores: ClusterScores
    linking: LinkingScores | None
    units: int
    key_clusters: int
    key_mentions: int
    response_clusters: int
    response_mentions: int
    book: BookPair

    def to_dict(self) -> dict:
        return {
            "doc_key": self.doc_key,
            "units": self.units,
            "key_clusters": self.key_clusters,
            "key_mentions": self.key_mentions,
            "response_clusters": self.response_clusters,
            "response_mentions": self.response_mentions,
            "scores": self.scores.to_dict(),
            "linking": None if self.linking is None else self.linking.to_dict(),
            "key_flaws": self.book.key_flaws.to_dict(),
            "response_flaws": self.book.response_flaws.to_dict(),
        }


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """The result of scoring: pooled and per book, with the rules used and everything worth noting."""

    rules: Rules
    pooled: ClusterScores
    linking: LinkingScores | None
    books: tuple[BookScores, ...]
    missing: tuple[str, ...]
    extra: tuple[str, ...]
    notes: tuple[str, ...]

    def to_dict(self) -> dict:
        return {
            "rules": self.rules.to_dict(),
            "pooled": self.pooled.to_dict(),
            "linking": None if self.linking is None else self.linking.to_dict(),
            "books": [book.to_dict() for book in self.books],
            "missing": list(self.missing),
            "extra": list(self.extra),
            "notes": list(self.notes),
        }


def evaluate(
    key: Iterable[Record | Book],
    response: Iterable[Record | Book],
    mode: str = "full",
    *,
    singletons: str = "keep",
    duplicates: str = "released",
    missing: str = "error",
    window_size: int = DEFAULT_WINDOW,
) -> Evaluation:
    """Score `response` against `key`, document by document and pooled.

    Args:
        mode: one of `MODES`.
        singletons: "keep" (as BookCoref) or "drop" clusters of one mention on both sides.
        duplicates: "released" (as BookCoref's code) or "first" (as the CoNLL scorer), see `overlap`.
        missing: "error", "skip" or "empty": key documents that the response lacks.
        window_size: tokens per window in the windowed modes.

    Raises:
        UsageError, DataError: see `prepare`; the message says what to do.
    """
    rules = Rules(mode, singletons, duplicates, missing, window_size)
    return score_prepared(prepare(key, response, mode, missing=missing, window_size=window_size), rules)


def score_prepared(prepared: Prepared, rules: Rules) -> Evaluation:
    """Score books that are paired and cut already."""
    books = tuple(_score_book(book, rules) for book in prepared.books)
    linking = [book.linking for book in books if book.linking is not None]
    return Evaluation(
        rules,
        pool(book.scores for book in books),
        sum(linking[1:], start=linking[0]) if linking else None,
        books,
        prepared.missing,
        prepared.extra,
        (*prepared.notes, *_flaw_notes(prepared, rules.duplicates), *_linking_notes(books)),
    )


def book_overlaps(book: BookPair, rules: Rules) -> Overlaps:
    """The contingency tables of one book under the rules."""
    return overlaps(book.key, book.response, singletons=rules.singletons, duplicates=rules.duplicates)


def _score_book(book: BookPair, rules: Rules) -> BookScores:
    both = book_overlaps(book, rules)
    named = book.key_characters and book.response_characters
    return BookScores(
        book.doc_key,
        both.total(book.units),
        score_linking(book.key_characters, book.response_characters) if named else None,
        book.units,
        both.chosen.key.cluster_unit.size,
        both.chosen.key.start.size,
        both.chosen.response.cluster_unit.size,
        both.chosen.response.start.size,
        book,
    )


def _flaw_notes(prepared: Prepared, duplicates: str) -> list[str]:
    return [
        note
        for book in prepared.books
        for side, flaws in (("key", book.key_flaws), ("response", book.response_flaws))
        for note in flaws.notes(side, book.doc_key, duplicates)
    ]


def _linking_notes(books: tuple[BookScores, ...]) -> list[str]:
    """Systems that number their clusters (BookNLP) have no name in common with the key."""
    unnamed = [b.doc_key for b in books if b.linking is not None and not b.linking.common_names]
    if not unnamed:
        return []
    return [f"no character name in common, so linking on (character, span) is 0: {', '.join(unnamed)}"]
