"""A whole book scored with any of its units taken from either of two systems, or left out.

Approximate randomisation (Noreen 1989) exchanges the *output* of two systems and scores the mixture anew.
In mode `full` clusters run through the whole book, so a mixture needs to know which cluster of one system
goes on in which cluster of the other. The clusters of the two are therefore aligned first, one to one, by
the mentions they share (greatest total); an aligned pair is one cluster of every mixture, the rest keep to
themselves. The key plays no part in this, and neither system is preferred.

A unit is a part of the text or a character of the key. The contingency table of a mixture is the sum of
the tables of its units: each book is taken apart once, and a mixture costs sums and the alignment of CEAF.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from ..errors import UsageError
from .arrays import Bools, Floats, Ints
from .assignment import best_alignment
from .clustering import Contingency, ContingencyTable, Members, Overlap, align_members, overlap
from .metrics import PARTS, RELEASED_METRICS, Overlaps, blanc
from .modes import BookPair
from .resampling_units import part_of
from .scores import Blanc, Score

COUNTED = (*PARTS, "link", "non_link", "blanc_mention")
"""The rows of a count matrix: metrics that are sums, then the three parts of BLANC.

Its columns are the four numbers of a `Score`. Counts of several books or windows add up.
"""


def count_row(score: Score) -> tuple[float, float, float, float]:
    """A score as a row of a count matrix."""
    return (
        score.recall_numerator, score.recall_denominator, score.precision_numerator,
        score.precision_denominator,
    )  # fmt: skip


def blanc_rows(value: Blanc) -> list[tuple[float, float, float, float]]:
    """BLANC as the last three rows of a count matrix."""
    return [count_row(value.link), count_row(value.non_link), count_row(value.mention)]


ALIGNED = ("ceaf_e", "ceaf_m")
"""The metrics that search an alignment, which takes most of the time."""
MOST_CHAINS = 48
"""Characters of a book that are exchanged each by itself; the others go together with these."""
COARSE = 12
"""Characters and stretches into which a book is cut where both are crossed."""


class Units(Protocol):
    """How a book is taken apart: the unit of every mention of the key and of a response."""

    count: int

    def of_key(self, key: Members) -> Ints: ...

    def of_response(self, system: Overlap) -> Ints: ...


class Blocks:
    """Stretches of text by their first tokens: a mention belongs where it starts."""

    def __init__(self, starts: Ints) -> None:
        self.starts, self.count = starts, int(starts.size)

    def of_key(self, key: Members) -> Ints:
        return part_of(self.starts, key.start)

    def of_response(self, system: Overlap) -> Ints:
        return part_of(self.starts, system.response.start)


class Chains:
    """Characters of the key, the smaller ones in bins so that there are at most `most`.

    A mention that the key lacks belongs to the character with which its own cluster shares most mentions, or
    to the last unit. Clusters of several windows are one character by name, or as parts of one cluster.
    """

    def __init__(self, book: BookPair, most: int = MOST_CHAINS) -> None:
        self._book, self._known = book, dict[object, int]()
        sizes = np.bincount(self._characters(book.key)[book.key.owner], minlength=1)
        self.count = min(sizes.size, most) + 1
        self._unit = np.empty(sizes.size, np.int64)
        self._unit[np.argsort(-sizes, kind="stable")] = np.arange(sizes.size) % (self.count - 1)

    def _characters(self, key: Members) -> Ints:
        names = [self._book.name_of(c, key) if len(self._book.key_names) > 1 else None
                 for c in range(key.cluster_unit.size)]  # fmt: skip
        units = key.cluster_unit if len(self._book.key_names) > 1 else np.zeros_like(key.cluster_unit)
        found = zip(names, units.tolist(), key.source_cluster.tolist(), strict=True)
        return np.array(
            [self._known.setdefault(n or (u, i), len(self._known)) for n, u, i in found], np.int64
        )

    def of_key(self, key: Members) -> Ints:
        return self._unit[self._characters(key)[key.owner]]

    def of_response(self, system: Overlap) -> Ints:
        table, response = system.recall, system.response
        unit = self._unit[self._characters(system.key)]
        home = np.full(response.cluster_unit.size, self.count - 1)
        order = np.argsort(table.counts, kind="stable")
        home[table.columns[order]] = unit[table.rows[order]]
        found: Ints = home[response.owner]
        there = system.response_partner >= 0
        found[there] = unit[system.response_partner[there]]
        return found


class Crossings:
    """Each character in each of `COARSE` stretches of text, by stretch and then by character."""

    def __init__(self, blocks: Blocks, chains: Chains) -> None:
        self._blocks, self._chains, self.count = blocks, chains, COARSE * chains.count

    def _crossed(self, block: Ints, chain: Ints) -> Ints:
        return block * COARSE // max(self._blocks.count, COARSE) * self._chains.count + chain

    def of_key(self, key: Members) -> Ints:
        return self._crossed(self._blocks.of_key(key), self._chains.of_key(key))

    def of_response(self, system: Overlap) -> Ints:
        return self._crossed(self._blocks.of_response(system), self._chains.of_response(system))


@dataclass(frozen=True, slots=True, eq=False)
class _Cells:
    """Mentions counted by system, part of the book, key cluster and label: a table taken apart.

    `cell` numbers the distinct (row, column) pairs, which are `rows` and `columns`.
    """

    system: Ints
    part: Ints
    count: Ints
    cell: Ints
    rows: Ints
    columns: Ints

    @classmethod
    def of(cls, pieces: Sequence[tuple[Ints, Ints, Ints, Ints]]) -> _Cells:
        """From (part, row, column, count) of each system."""
        system = np.repeat(np.arange(len(pieces)), [p[0].size for p in pieces])
        part, row, column, count = (np.concatenate([p[i] for p in pieces]) for i in range(4))
        pairs, cell = np.unique(np.stack([row, column]), axis=1, return_inverse=True)
        return cls(system, part, count, cell.reshape(-1), pairs[0], pairs[1])

    def taken(self, chosen: Bools) -> Ints:
        """The count of each cell when `chosen[system, part]` says which parts are there."""
        there = chosen[self.system, self.part]
        counts = np.bincount(self.cell[there], weights=self.count[there], minlength=self.rows.size)
        return counts.astype(np.int64)


class _Mixtures:
    """Contingency tables of mixtures under one rule for duplicates."""

    def __init__(self, systems: Sequence[Overlap], units: Units, drop_singletons: bool) -> None:
        self._drop = drop_singletons
        key = systems[0].key
        self._key_part, self._key_owner = units.of_key(key), key.owner
        self._key_count, self._key_unit = key.cluster_unit.size, key.cluster_unit
        labels = _common_labels([system.response for system in systems])
        self._label_count = 1 + max((int(label.max(initial=-1)) for label in labels), default=-1)
        self._label_unit = np.zeros(self._label_count, np.int64)
        recall, precision, alignment, sizes = [], [], [], []
        for system, label in zip(systems, labels, strict=True):
            response = system.response
            part = units.of_response(system)
            own, partner = label[response.owner], system.response_partner
            self._label_unit[label] = response.cluster_unit
            sizes.append((part, np.zeros_like(own), own, np.ones_like(own)))
            recall.append(_entries(self._key_part, key.owner, system.key_partner, label))
            found = partner >= 0
            ones = np.ones(int(found.sum()), np.int64)
            precision.append((part[found], partner[found], own[found], ones))
            alignment.append(_alignment_entries(system, self._key_part, units.count, label))
        self._plain = all(system.alignment is system.recall for system in systems)
        self._sizes, self._recall = _Cells.of(sizes), _Cells.of(recall)
        self._precision = self._recall if self._plain else _Cells.of(precision)
        self._alignment = self._recall if self._plain else _Cells.of(alignment)

    def contingency(self, key_parts: Bools, chosen: Bools) -> Contingency:
        """The tables of the book with the key's `key_parts` and the systems' `chosen[system, part]`."""
        owners = self._key_owner[key_parts[self._key_part]]
        key_sizes = np.bincount(owners, minlength=self._key_count)
        response_sizes = np.zeros(self._label_count, np.int64)
        response_sizes[self._sizes.columns] = self._sizes.taken(chosen)
        least = 2 if self._drop else 1
        key_kept, response_kept = key_sizes >= least, response_sizes >= least
        new_row, new_column = np.cumsum(key_kept) - 1, np.cumsum(response_kept) - 1

        def table(cells: _Cells) -> ContingencyTable:
            counts = cells.taken(chosen)
            kept = (counts > 0) & key_kept[cells.rows] & response_kept[cells.columns]
            return ContingencyTable(new_row[cells.rows[kept]], new_column[cells.columns[kept]], counts[kept])

        recall = table(self._recall)
        key_sizes, response_sizes = key_sizes[key_kept], response_sizes[response_kept]
        return Contingency(
            key_sizes, response_sizes, self._key_unit[key_kept], self._label_unit[response_kept], recall,
            recall if self._plain else table(self._precision),
            recall if self._plain else table(self._alignment),
        )  # fmt: skip


def _entries(part: Ints, owner: Ints, partner: Ints, label: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    found = partner >= 0
    return part[found], owner[found], label[partner[found]], np.ones(int(found.sum()), np.int64)


def _alignment_entries(
    system: Overlap, key_part: Ints, parts: int, label: Ints
) -> tuple[Ints, Ints, Ints, Ints]:
    """Like the recall table, but a key member counts in every response cluster that holds its span."""
    key = system.key
    if system.alignment is system.recall:
        return _entries(key_part, key.owner, system.key_partner, label)
    apart = replace(key, owner=key.owner * np.int64(parts) + key_part)
    shape = key.cluster_unit.size * parts, system.response.cluster_unit.size
    table = align_members(apart, system.response, shape)
    return table.rows % parts, table.rows // parts, label[table.columns], table.counts


def _common_labels(systems: Sequence[Members]) -> list[Ints]:
    """For each system the label of each of its clusters; aligned clusters of two systems share one."""
    first = np.arange(systems[0].cluster_unit.size, dtype=np.int64)
    if len(systems) == 1:
        return [first]
    shared = overlap(systems[0], systems[1]).recall
    second = first.size + np.arange(systems[1].cluster_unit.size, dtype=np.int64)
    edges = best_alignment(shared.rows, shared.columns, shared.counts.astype(float))
    second[shared.columns[edges]] = shared.rows[edges]
    return [first, second]


class ExchangeParts:
    """One book of one or two systems, cut into parts, ready to be scored in any mixture."""

    def __init__(
        self, systems: Sequence[Overlaps], units: Units, *, drop_singletons: bool, windows: int = 1
    ) -> None:
        """`windows`: how many parts of the book are scored apart.

        Raises:
            UsageError: spans in several clusters under the released rule while singletons are dropped;
                which cluster a span then belongs to depends on the mixture.
        """
        repeated = any(system.chosen is not system.once for system in systems)
        if repeated and drop_singletons:
            raise UsageError(
                "spans in several clusters cannot be resampled while singletons are dropped",
                hint="use --duplicates first, or --singletons keep",
            )
        self.parts, self.systems, self._windows = units.count, len(systems), windows
        self._chosen = _Mixtures([s.chosen for s in systems], units, drop_singletons)
        self._once = (
            _Mixtures([s.once for s in systems], units, drop_singletons) if repeated else self._chosen
        )

    def counts(self, chosen: Bools, key_parts: Bools | None = None, *, align: bool = True) -> Floats:
        """The counts (`COUNTED` rows) of the mixture `chosen[system, part]`; without `align` not CEAF's."""
        keys = np.ones(self.parts, bool) if key_parts is None else key_parts
        tables = self._chosen.contingency(keys, chosen)
        once = tables if self._once is self._chosen else self._once.contingency(keys, chosen)
        rows = [
            count_row(PARTS[name](tables if name in RELEASED_METRICS else once).total())
            if align or name not in ALIGNED else (0.0, 0.0, 0.0, 0.0) for name in PARTS
        ]  # fmt: skip
        pairs = np.sum([blanc_rows(value) for value in blanc(once, self._windows)], axis=0)
        return np.array([*rows, *pairs])
