"""Where a score comes from: by mention type, character frequency, distance and position in the book.

A metric that is a sum over clusters is also a sum over mentions, once each cluster's part is spread over
its members (`shares`). The shares of all mentions add up to exactly the numerators and denominators of the
score, so a breakdown explains the score printed, not another one. For mention m of cluster K whose span the
other side has in cluster R, with n shared mentions of K and R:

| metric | numerator | denominator |
|---|---|---|
| mentions | 1 | 1 |
| MUC | 1 - 1/n (the n - 1 links kept inside the piece) | 1 - 1/size of K |
| B3 | n / size of K (its definition is per mention: Bagga and Baldwin 1998) | 1 |
| LEA | (n - 1) / (size of K - 1) | 1 |

A mention the other side lacks has numerator 0.

Each key mention falls into one bin of each dimension by its own cluster in the key, each response
mention by its own cluster in the response (a response cluster has no other). The recall of a bin is
that of its key mentions, the precision that of its response mentions: the bins of a dimension add up to the
whole score. Recall and precision of one bin are therefore about different sets of mentions, and F1 joins
them in the usual way.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ..shapes import AsFields, attributes
from .assignment import Floats, Ints
from .clustering import Members
from .evaluation import BookScores, Evaluation, Rules, book_overlaps
from .mention_types import TYPES, TypeRules
from .metrics import Overlaps
from .modes import BookPair
from .scores import Score

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


class Side(NamedTuple):
    """What each mention of one side adds to a score."""

    mentions: Members
    numerator: Floats
    denominator: Floats


def shares(overlaps: Overlaps, metric: str) -> tuple[Side, Side]:
    """Recall shares of key mentions and precision shares of response mentions, by a metric of
    `BREAKDOWN_METRICS`."""
    both, parts = overlaps.of(metric), overlaps.parts(metric)
    sides = (
        (both.key, both.key_partner, parts.recall_num, parts.recall_den),
        (both.response, both.response_partner, parts.precision_num, parts.precision_den),
    )
    found = []
    for mentions, partner, numerator, denominator in sides:
        owner, sizes, there = mentions.owner, mentions.sizes, partner >= 0
        # How the members of a cluster share its numerator, in proportion
        weight = there.astype(float)
        if metric != "mentions":
            # How many members of the cluster have the same partner; 0 where it has none
            code = np.where(there, owner * np.int64(partner.max(initial=0) + 1) + partner, -1)
            _, group, counts = np.unique(code, return_inverse=True, return_counts=True)
            weight *= counts[group]
        if metric == "muc":
            weight = np.where(there, 1 - 1 / np.maximum(weight, 1), 0.0)
        elif metric == "lea":
            # A mention's links inside its piece; a singleton has one, to itself
            weight = np.where(sizes[owner] > 1, np.maximum(weight - 1, 0), weight)
        # Each cluster's numerator spread by weight, its denominator equally
        total = np.bincount(owner, weights=weight, minlength=numerator.size)
        numerator = numerator / np.where(total > 0, total, 1)
        denominator = denominator / np.maximum(sizes, 1)
        found.append(Side(mentions, numerator[owner] * weight, denominator[owner]))
    return found[0], found[1]


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
    for sides in view.shares.values():
        for side in sides:
            if id(side.mentions) not in bin_of:
                bin_of[id(side.mentions)] = _BIN_OF[dimension](view, side.mentions)
    found = {
        metric: np.array([np.bincount(bin_of[id(own[0])], v, bins) for own in sides for v in own[1:]])
        for metric, sides in view.shares.items()
    }
    first = view.shares[BREAKDOWN_METRICS[0]]
    return np.array([np.bincount(bin_of[id(side[0])], minlength=bins) for side in first]), found


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
        for metric, sides in view.shares.items():
            inside = [(m.start >= start) & (m.start < end) for m, *_ in sides]
            numbers = (v[chosen].sum() for side, chosen in zip(sides, inside, strict=True) for v in side[1:])
            scores[metric] = Score(*map(float, numbers))
            counts = int(inside[0].sum()), int(inside[1].sum())
        points.append(Point(book.doc_key, start, end, *counts, scores))
    return tuple(points)
