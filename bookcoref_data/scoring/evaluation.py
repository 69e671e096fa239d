"""Score a response against a key: the function behind `bookcoref-data evaluate`."""

from collections.abc import Hashable, Iterable
from dataclasses import asdict, dataclass
from typing import Any
from unicodedata import normalize

from .. import __version__
from ..books import Book, Record
from ..shapes import AsFields, attributes, plain
from .metrics import Overlaps, overlaps
from .modes import DEFAULT_WINDOW, MODES, BookPair, ReadyToScore, prepare
from .scores import SCORER, AddsUp, ClusterScores, Mean, Score, macro, pool

Named = Iterable[tuple[str, Iterable[tuple[int, int]]]]


@dataclass(frozen=True, slots=True)
class LinkingScores(AsFields, AddsUp):
    """`linked`: (character, span) pairs; `spans`: spans alone. `common_names`: names on both sides."""

    linked: Score
    spans: Score
    common_names: int


def score_linking(key: Named, response: Named) -> LinkingScores:
    """Compare named mentions of one book. Accents, apostrophes, blanks of names may be written in any way.

    The paper scores linking on sets of mentions (its Table 2) and leaves open whether the character's name is
    part of what is compared; both are given here.
    """
    named = ([(normalize("NFC", n).replace("’", "'"), of) for n, of in side] for side in (key, response))
    left, right = ({(" ".join(n.split()), tuple(s)) for n, spans in side for s in spans} for side in named)
    key_spans, response_spans = ({span for _, span in side} for side in (left, right))
    names = {name for name, _ in left} & {name for name, _ in right}
    return LinkingScores(score_sets(left, right), score_sets(key_spans, response_spans), len(names))


def score_sets(key: Iterable[Hashable], response: Iterable[Hashable]) -> Score:
    """Precision and recall of one set against another."""
    left, right = set(key), set(response)
    found = len(left & right)
    return Score(found, len(left), found, len(right))


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

    def to_dict(self) -> dict[str, Any]:
        return asdict(self) | {"mode_meaning": MODES[self.mode]}


@dataclass(frozen=True, slots=True, eq=False)
class BookScores:
    """Scores of one book and the sizes behind them.

    `linking` is None unless the key names characters here and the response does in some book.
    """

    doc_key: str
    scores: ClusterScores
    linking: LinkingScores | None
    units: int
    key_clusters: int
    key_mentions: int
    response_clusters: int
    response_mentions: int
    book: BookPair

    def to_dict(self) -> dict[str, Any]:
        names = "doc_key units key_clusters key_mentions response_clusters response_mentions scores linking"
        flaws = {"key_flaws": plain(self.book.key_checks), "response_flaws": plain(self.book.response_checks)}
        return attributes(self, names) | flaws


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

    @property
    def macro(self) -> dict[str, Mean]:
        """The mean over books of P, of R and of F1, by metric."""
        return macro(book.scores for book in self.books)

    @property
    def macro_linking(self) -> dict[str, Mean]:
        """The same for character linking ("linked", "spans"), over the books that are scored on it."""
        each = [book.linking for book in self.books if book.linking is not None]
        return {name: Mean.of(getattr(x, name) for x in each) for name in ("linked", "spans") if each}

    def to_dict(self) -> dict[str, Any]:
        return attributes(self) | {"macro": plain(self.macro | self.macro_linking)}


def evaluate(
    key: Iterable[Record | Book], response: Iterable[Record | Book], mode: str = "full", *,
    singletons: str = "keep", duplicates: str = "released", missing: str = "error",
    window_size: int = DEFAULT_WINDOW,
) -> Evaluation:  # fmt: skip
    """Score `response` against `key`, document by document and pooled.

    Args:
        mode: one of `MODES`.
        singletons: "keep" (as BookCoref) or "drop" clusters of one mention on both sides.
        duplicates: "released" (as BookCoref's code) or "first" (as the CoNLL scorer), see `overlap`.
        missing: "error", "skip" or "empty": key documents that the response lacks.
        window_size: tokens per window in the windowed modes.

    Raises UsageError, DataError: see `prepare`; the message says what to do.
    """
    rules = Rules(mode, singletons, duplicates, missing, window_size)
    return score_prepared(prepare(key, response, mode, missing=missing, window_size=window_size), rules)


def score_prepared(prepared: ReadyToScore, rules: Rules) -> Evaluation:
    """Score books that are paired and cut already."""
    # A system that names characters in some books is scored on all: where it names none, it missed all.
    links = any(book.response_characters for book in prepared.books)
    books: list[BookScores] = []
    notes = list(prepared.notes)
    for book in prepared.books:
        both = book_overlaps(book, rules)
        linked = links and book.key_characters
        key, response = both.chosen.key, both.chosen.response
        books.append(BookScores(
            book.doc_key, both.total(book.units),
            score_linking(book.key_characters, book.response_characters) if linked else None, book.units,
            key.cluster_unit.size, key.start.size, response.cluster_unit.size, response.start.size, book,
        ))  # fmt: skip
        for side, found in (("key", book.key_checks), ("response", book.response_checks)):
            notes += found.notes(side, book.doc_key, rules.duplicates)
    linking = [book.linking for book in books if book.linking is not None]
    # Systems that number their clusters (BookNLP) have no name in common with the key.
    unnamed = [b.doc_key for b in books if b.linking is not None and not b.linking.common_names]
    if unnamed:
        told = "no character name in common with the key, so linking on (character, span) is 0: "
        notes.append(told + ", ".join(unnamed))
    return Evaluation(
        rules, pool(book.scores for book in books), sum(linking[1:], start=linking[0]) if linking else None,
        tuple(books), prepared.missing, prepared.extra, tuple(notes),
    )  # fmt: skip


def book_overlaps(book: BookPair, rules: Rules) -> Overlaps:
    """The contingency tables of one book under the rules."""
    return overlaps(book.key, book.response, singletons=rules.singletons, duplicates=rules.duplicates)
