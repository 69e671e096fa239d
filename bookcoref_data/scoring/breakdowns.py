"""Where a score comes from: by mention type, character frequency, distance and position in the book.

Each key mention falls into one bin of each dimension by its own cluster in the key, each response
mention by its own cluster in the response (a response cluster has no other). The recall of a bin is
that of its key mentions, the precision that of its response mentions, both as shares of the score
(`shares`), so that the bins of a dimension add up to the whole score. Recall and precision of one bin
are therefore about different sets of mentions, and F1 joins them in the usual way.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from ..shapes import AsFields, attributes
from .arrays import Floats, Ints
from .clustering import Members
from .evaluation import BookScores, Evaluation, Rules, book_overlaps
from .mention_types import TYPES, TypeRules
from .modes import BookPair
from .scores import Score
from .shares import shares

BREAKDOWN_METRICS = ("mentions", "muc", "b_cubed", "lea")

FREQUENCY_BINS = (1, 2, 5, 10, 50, 100, 500)
DISTANCE_BINS = (10, 50, 200, 1000, 5000)
POSITIONS = 10


@dataclass(frozen=True, slots=True)
class Bin:
    """One bin of one dimension: its mentions on both sides and its scores by metric."""

    name: str
    key_mentions: int
    response_mentions: int
    scores: dict[str, Score]

    def to_dict(self) -> dict[str, Any]:
        return {"bin": self.name} | attributes(self, "key_mentions response_mentions scores")


@dataclass(frozen=True, slots=True)
class Dimension:
    """One way of sorting mentions into bins. `meaning` defines it; `unavailable` says why it is empty."""

    name: str
    meaning: str
    bins: tuple[Bin, ...]
    unavailable: str | None = None

    def to_dict(self) -> dict[str, Any]:
        return {"dimension": self.name} | attributes(self, "meaning bins unavailable")


MEANINGS = {
    "type": "name, nominal or pronoun, by the rules of mention_types",
    "frequency": "mentions of the cluster the mention belongs to, within its unit",
    "previous": "tokens from the start of the previous mention of the cluster to this one's start",
    "name": "tokens to the start of the nearest name of the same cluster, before or after; 'a name' itself",
    "position": f"tenths of the book, by the mention's start (1 to {POSITIONS})",
}


def breakdown(evaluation: Evaluation) -> tuple[Dimension, ...]:
    """Scores by every dimension, pooled over the books of an evaluation.

    The dimensions that need text are marked unavailable when some book has no tokens.
    """
    books = [_Binned(book.book, evaluation.rules) for book in evaluation.books]
    text = all(view.book.tokens is not None for view in books)
    result = []
    for name, meaning in MEANINGS.items():
        if name in ("type", "name") and not text:
            result.append(Dimension(name, meaning, (), "needs tokens, which neither side has for some book"))
            continue
        labels = _LABELS[name]
        of_books = [_count(view, name, len(labels)) for view in books]
        in_key, in_response = np.sum([counts for counts, _ in of_books], axis=0).tolist()
        sums = {metric: np.sum([of[metric] for _, of in of_books], axis=0) for metric in BREAKDOWN_METRICS}
        bins = []
        for i, label in enumerate(labels):
            if in_key[i] or in_response[i]:
                scores = {metric: Score(*found[:, i].tolist()) for metric, found in sums.items()}
                bins.append(Bin(label, in_key[i], in_response[i], scores))
        result.append(Dimension(name, meaning, tuple(bins)))
    return tuple(result)


class _Binned:
    """One book with its shares by metric and the bins of its mentions."""

    def __init__(self, book: BookPair, rules: Rules) -> None:
        self.book = book
        both = book_overlaps(book, rules)
        self.shares = {metric: shares(both, metric) for metric in BREAKDOWN_METRICS}
        self._types: TypeRules | None = None
        self._type_cache: dict[tuple[int, int], int] = {}

    def types(self, mentions: Members) -> Ints:
        """The index into TYPES of every mention."""
        if self._types is None:
            names = [name for name, _ in self.book.key_characters]
            self._types = TypeRules(self.book.tokens or (), self.book.sentence_ends or (), names)
        cache = self._type_cache
        found = np.empty(mentions.start.size, np.int64)
        for i, span in enumerate(zip(mentions.start.tolist(), mentions.end.tolist(), strict=True)):
            if span not in cache:
                cache[span] = TYPES.index(self._types.type_of(*span))
            found[i] = cache[span]
        return found


def _count(view: _Binned, dimension: str, bins: int) -> tuple[Ints, dict[str, Floats]]:
    """Of one book by bin: the mentions of key and response, and by metric the four numbers of a `Score`."""
    bin_of: dict[int, Ints] = {}
    found: dict[str, Floats] = {}
    for metric, share in view.shares.items():
        columns = []
        for side in (share.key, share.response):
            if id(side.mentions) not in bin_of:
                bin_of[id(side.mentions)] = _BIN_OF[dimension](view, side.mentions)
            for values in (side.numerator, side.denominator):
                columns.append(np.bincount(bin_of[id(side.mentions)], values, bins))
        found[metric] = np.array(columns)
    first = view.shares[BREAKDOWN_METRICS[0]]
    counts = [np.bincount(bin_of[id(side.mentions)], minlength=bins) for side in (first.key, first.response)]
    return np.array(counts), found


def _by_previous(view: _Binned, mentions: Members) -> Ints:
    """Bin 0: first of its cluster. Mentions that start together (nested) count as distance 0."""
    order = np.lexsort((-mentions.end, mentions.start, mentions.owner))
    start, owner = mentions.start[order], mentions.owner[order]
    first = np.concatenate([[True], owner[1:] != owner[:-1]])[: start.size]
    bins = 1 + np.searchsorted(DISTANCE_BINS, np.diff(start, prepend=start[:1]), side="left")
    found = np.empty(start.size, np.int64)
    found[order] = np.where(first, 0, bins)
    return found


def _by_nearest_name(view: _Binned, mentions: Members) -> Ints:
    """Bin 0: is a name. Last bin: the cluster has no name."""
    types = view.types(mentions)
    names = np.flatnonzero(types == TYPES.index("name"))
    found = np.full(types.size, len(_LABELS["name"]) - 1)
    if names.size:
        low = int(mentions.start.min())
        span = int(mentions.start.max()) - low + 1
        codes = mentions.owner * np.int64(span) + (mentions.start - low)
        name_codes = np.sort(codes[names])
        at = np.searchsorted(name_codes, codes)
        distance = np.full(types.size, np.iinfo(np.int64).max)
        for neighbour in (np.clip(at - 1, 0, None), np.clip(at, None, names.size - 1)):
            same = name_codes[neighbour] // span == mentions.owner
            distance = np.where(same, np.minimum(distance, np.abs(name_codes[neighbour] - codes)), distance)
        near = distance < np.iinfo(np.int64).max
        found[near] = 1 + np.searchsorted(DISTANCE_BINS, distance[near], side="left")
        found[names] = 0
    return found


def _range_labels(edges: tuple[int, ...], low: int) -> list[str]:
    """ "a-b" for every bin of `searchsorted(edges, x, side="left")`, the last one open."""
    labels = []
    for edge in edges:
        labels.append(f"{low:,}" if low == edge else f"{low:,}-{edge:,}")
        low = edge + 1
    return [*labels, f"over {edges[-1]:,}"]


_LABELS = {
    "type": list(TYPES), "frequency": _range_labels(FREQUENCY_BINS, 1), "previous": ["first mention",
    *_range_labels(DISTANCE_BINS, 0)], "name": ["a name", *_range_labels(DISTANCE_BINS, 0),
    "no name in cluster"], "position": [str(i + 1) for i in range(POSITIONS)]
}  # fmt: skip

_BIN_OF: dict[str, Callable[[_Binned, Members], Ints]] = {
    "type": _Binned.types,
    "frequency": lambda _, m: np.searchsorted(FREQUENCY_BINS, m.sizes[m.owner], side="left"),
    "previous": _by_previous,
    "name": _by_nearest_name,
    "position": lambda view, m: np.clip(m.start * POSITIONS // max(view.book.length, 1), 0, POSITIONS - 1),
}


@dataclass(frozen=True, slots=True)
class Point(AsFields):
    """Scores of the mentions that start in [start, end) of one book."""

    doc_key: str
    start: int
    end: int
    key_mentions: int
    response_mentions: int
    scores: dict[str, Score]


def position_curve(
    evaluation: Evaluation, book: BookScores, *, least: int = 1500, most_points: int = 40
) -> tuple[Point, ...]:
    """Scores along one book of an evaluation, as shares of the whole book's score.

    Steps are equal, of `least` tokens or more, so that there are at most `most_points`.
    """
    view = _Binned(book.book, evaluation.rules)
    length = book.book.length
    steps = max(min(length // least, most_points), 1)
    bounds = [length * i // steps for i in range(steps + 1)]
    points = []
    for start, end in pairwise(bounds):
        scores: dict[str, Score] = {}
        counts = 0, 0
        for metric, share in view.shares.items():
            sides = share.key.mentions, share.response.mentions
            inside = [(side.start >= start) & (side.start < end) for side in sides]
            scores[metric] = share.where(inside[0], inside[1])
            counts = int(inside[0].sum()), int(inside[1].sum())
        points.append(Point(book.doc_key, start, end, *counts, scores))
    return tuple(points)
