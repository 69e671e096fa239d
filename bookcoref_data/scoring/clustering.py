"""Clusterings as flat arrays, and the sparse table of what key and response clusters share.

Lists of clusters are converted once; everything after is numpy on arrays as long as there are mentions.
A *unit* is what metrics are computed within: a document, or a window of it. Mentions of different units
never match, and BLANC links never cross units.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from ..errors import DataError, require_choice
from .assignment import Ints

Clusters = Sequence[Sequence[tuple[int, int]]]

DUPLICATE_RULES = ("released", "first")


@dataclass(frozen=True, slots=True, eq=False)
class Members:
    """The mentions of one side, one array entry per mention of a cluster, in the order of the clusters
    and, within one, of the text.

    `start`, `end`: token offsets, inclusive. `owner`: index of the mention's cluster (never decreasing).
    `cluster_unit`: the unit of each cluster. `source_cluster`: index of each cluster in the clustering
    first given.
    """

    start: Ints
    end: Ints
    owner: Ints
    cluster_unit: Ints
    source_cluster: Ints

    @property
    def unit(self) -> Ints:
        """The unit of each mention."""
        return self.cluster_unit[self.owner]

    @property
    def sizes(self) -> Ints:
        """Mentions per cluster."""
        return np.bincount(self.owner, minlength=self.cluster_unit.size)

    def take(self, index: Ints, unit: Ints | None = None) -> "Members":
        """Only the mentions at `index` (may repeat), regrouped by (unit, cluster); empty clusters go.

        `unit` gives the new unit of each taken mention; by default they stay where they are.
        """
        unit = self.unit[index] if unit is None else unit
        key = unit * np.int64(self.cluster_unit.size) + self.owner[index]
        order = np.argsort(key, kind="stable")
        groups, owner = np.unique(key[order], return_inverse=True)
        index = index[order]
        old, new_unit = groups % max(self.cluster_unit.size, 1), groups // max(self.cluster_unit.size, 1)
        return Members(self.start[index], self.end[index], owner, new_unit, self.source_cluster[old])

    def without_singletons(self) -> "Members":
        """Only clusters of two or more mentions."""
        many = self.sizes[self.owner] > 1
        return self if many.all() else self.take(np.flatnonzero(many))


def members(clusterings: Iterable[Clusters]) -> Members:
    """Arrays of a sequence of clusterings, one unit each. Empty clusters are left out. Raises DataError:
    something is not a pair of whole numbers."""
    clusters: list[Sequence[tuple[int, int]]] = []
    units: list[int] = []
    source: list[int] = []
    for unit, clustering in enumerate(clusterings):
        for i, cluster in enumerate(clustering):
            if len(cluster):
                clusters.append(cluster)
                units.append(unit)
                source.append(i)
    sizes = np.fromiter(map(len, clusters), np.int64, len(clusters))
    count = int(sizes.sum())
    found: object = ""
    try:
        flat = np.array(list(chain.from_iterable(chain.from_iterable(clusters))))
        right = not count or (flat.dtype.kind in "iu" and flat.shape == (2 * count,))
        found = f"{flat.size:,} values of type {flat.dtype} in {count:,} spans"
    except (TypeError, ValueError, OverflowError) as error:
        right, found = False, error
    if not right:
        expected = "clusters of [start, end] pairs of whole numbers, both ends inclusive"
        raise DataError("clusters cannot be read as token offsets", expected=expected, found=found)
    starts, ends = flat.astype(np.int64).reshape(count, 2).T
    owner = np.repeat(np.arange(len(clusters)), sizes)
    order = np.lexsort((ends, starts, owner))
    return Members(starts[order], ends[order], owner, np.array(units, np.int64), np.array(source, np.int64))


def span_codes(key: Members, response: Members) -> tuple[Ints, Ints]:
    """One number per mention on both sides: equal exactly when unit, start and end are equal.

    Offsets may be anything a flawed file holds (negative, past the text, end before start).
    """
    starts = np.concatenate([key.start, response.start])
    lengths = np.concatenate([key.end, response.end]) - starts
    if not starts.size:
        return starts, starts
    width = int(lengths.max() - lengths.min()) + 1
    range_ = int(starts.max() - starts.min()) + 1
    units = int(max(key.cluster_unit.max(initial=0), response.cluster_unit.max(initial=0))) + 1
    if width * range_ * units >= 2**62:
        found = f"starts {starts.min()} to {starts.max()}, lengths {lengths.min()} to {lengths.max()}"
        raise DataError("offsets are too far apart to be tokens of a text", found=found)
    codes = (starts - starts.min()) * width + (lengths - lengths.min())
    if units > 1:
        codes += np.concatenate([key.unit, response.unit]) * (width * range_)
    return codes[: key.start.size], codes[key.start.size :]


@dataclass(frozen=True, slots=True, eq=False)
class ContingencyTable:
    """A sparse contingency table: `counts[e]` mentions of cluster `rows[e]` found in `columns[e]`."""

    rows: Ints
    columns: Ints
    counts: Ints

    def transposed(self) -> "ContingencyTable":
        return ContingencyTable(self.columns, self.rows, self.counts)


@dataclass(frozen=True, slots=True, eq=False)
class Contingency:
    """All that the metrics look at: sizes and units of the clusters, and the tables between them.

    In every table key clusters are rows and response clusters columns; `Overlap` says what each counts.
    """

    key_sizes: Ints
    response_sizes: Ints
    key_unit: Ints
    response_unit: Ints
    recall: ContingencyTable
    precision: ContingencyTable
    alignment: ContingencyTable


@dataclass(frozen=True, slots=True, eq=False)
class Overlap(Contingency):
    """Two clusterings of the same units and what the metrics look at.

    Without repeated mentions the three tables are one (key clusters in rows). With them, under the
    released rule, `recall` counts key members by the last response cluster that lists their span,
    `precision` (key clusters still in rows) response members by the last key cluster, and `alignment`
    key members by every response cluster that holds them.

    `key_partner` / `response_partner`: for every member the cluster of the other side that the recall /
    precision table put it in, -1 for none.
    """

    key: Members
    response: Members
    key_partner: Ints
    response_partner: Ints


def overlap(key: Members, response: Members, *, duplicates: str = "released") -> Overlap:
    """Count what clusters of two sides share.

    `duplicates` says what becomes of a span that stands in several clusters, or twice in one:
    "released" is the treatment of the BookCoref code, which removes none (each listing counts as a
    member, and a span looked up belongs to the last cluster that lists it); "first" is the CoNLL scorer's
    (it stays in the cluster whose first mention opens first, once).

    Raises UsageError: there is no such rule.
    """
    require_choice("rule for duplicates", duplicates, DUPLICATE_RULES)
    key_codes, response_codes = span_codes(key, response)
    key_index, response_index = _Lookup(key_codes), _Lookup(response_codes)
    repeated = key_index.repeated or response_index.repeated
    if repeated and duplicates == "first":
        return overlap(*(_first_only(m, c) for m, c in ((key, key_codes), (response, response_codes))))
    key_partner = response_index.owner_of(key_index, response.owner)
    response_partner = key_index.owner_of(response_index, key.owner)
    shape = key.cluster_unit.size, response.cluster_unit.size
    recall = precision = alignment = _count(key.owner, key_partner, shape)
    if repeated:
        precision = _count(response.owner, response_partner, shape[::-1]).transposed()
        alignment = align_members(key, response, shape)
    return Overlap(
        key.sizes, response.sizes, key.cluster_unit, response.cluster_unit, recall, precision, alignment,
        key, response, key_partner, response_partner,
    )  # fmt: skip


class _Lookup:
    """Span codes sorted once; finds the last member with a code."""

    def __init__(self, codes: Ints) -> None:
        self.order = np.argsort(codes, kind="stable")
        self.sorted = codes[self.order]
        self.repeated = bool((self.sorted[1:] == self.sorted[:-1]).any())

    def owner_of(self, asked: "_Lookup", owner: Ints) -> Ints:
        """For every code of the other side the cluster of the last member that has it, -1 for none."""
        found = np.full(asked.sorted.size, -1)
        if self.sorted.size:
            # Sorted questions walk the sorted codes once, which keeps large books in the cache.
            at = np.searchsorted(self.sorted, asked.sorted, side="right") - 1
            same = (at >= 0) & (self.sorted[at] == asked.sorted)
            found[asked.order] = np.where(same, owner[self.order[at]], -1)
        return found


def _count(owner: Ints, partner: Ints, shape: tuple[int, int]) -> ContingencyTable:
    """The table of (cluster, partner cluster) pairs; partners of -1 are left out."""
    found = partner >= 0
    pairs = owner[found] * np.int64(shape[1]) + partner[found]
    if shape[0] * shape[1] <= max(4 * pairs.size, 200_000):
        counts = np.bincount(pairs, minlength=0)
        pairs = np.flatnonzero(counts)
        counts = counts[pairs]
    else:
        pairs, counts = np.unique(pairs, return_counts=True)
    return ContingencyTable(pairs // max(shape[1], 1), pairs % max(shape[1], 1), counts)


def align_members(key: Members, response: Members, shape: tuple[int, int]) -> ContingencyTable:
    """Key members counted in every response cluster that holds their span (CEAF-e of the release).

    `shape`: one more than the greatest owner on either side.
    """
    key_codes, response_codes = span_codes(key, response)
    spans, numbers = np.unique(np.concatenate([key_codes, response_codes]), return_inverse=True)
    holders = np.unique(numbers[key_codes.size :] * np.int64(max(shape[1], 1)) + response.owner)
    holder_span, holder_cluster = holders // max(shape[1], 1), holders % max(shape[1], 1)
    per_span = np.bincount(holder_span, minlength=spans.size)
    first = np.concatenate([[0], np.cumsum(per_span)])
    times = per_span[numbers[: key_codes.size]]
    rows = np.repeat(key.owner, times)
    within = np.arange(times.sum()) - np.repeat(np.cumsum(times) - times, times)
    partner = holder_cluster[np.repeat(first[numbers[: key_codes.size]], times) + within]
    return _count(rows, partner, shape)


def _first_only(side: Members, codes: Ints) -> Members:
    """Each span once, in the cluster whose first mention opens first (ties: longer first, then as listed)."""
    if not codes.size:
        return side
    first = np.concatenate([[0], np.flatnonzero(np.diff(side.owner)) + 1])
    opening = np.minimum.reduceat(side.start, first)
    at_opening = np.where(side.start == opening[side.owner], side.end, np.iinfo(np.int64).min)
    closing = np.maximum.reduceat(at_opening, first)
    rank = np.empty(first.size, np.int64)
    rank[np.lexsort((np.arange(first.size), -closing, opening))] = np.arange(first.size)
    order = np.lexsort((rank[side.owner], codes))
    keep = np.concatenate([[True], codes[order][1:] != codes[order][:-1]])
    return side.take(np.sort(order[keep]))
