"""A whole book scored with any of its units taken from either of two systems, or left out.

Approximate randomisation (Noreen 1989) exchanges the *output* of two systems and scores the mixture anew.
In mode `full` clusters run through the whole book, so a mixture needs to know which cluster of one system
goes on in which cluster of the other. The clusters of the two are therefore aligned first, one to one, by
the mentions they share (greatest total); an aligned pair is one cluster of every mixture, the rest keep to
themselves. The key plays no part in this, and neither system is preferred.

A unit is a part of the text or a character of the key. The contingency table of a mixture is the sum of
the tables of its units: each book is taken apart once, and a mixture costs sums and the alignment of CEAF.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from ..books import cut_windows
from ..errors import UsageError
from ..late import scipy
from ..words import word_set
from .assignment import Bools, Floats, Ints, best_alignment
from .clustering import Contingency, ContingencyTable, Members, Overlap, align_members, overlap
from .metrics import PARTS, RELEASED_METRICS, Overlaps, blanc_counts
from .modes import BookPair, block_numbers

COUNTED = (*PARTS, "link", "non_link", "blanc_mention")
"""The rows of a count matrix: metrics that are sums, then the three parts of BLANC.

Its columns are the four numbers of a `Score`. Counts of several books or windows add up.
"""

ALIGNED = ("ceaf_e", "ceaf_m")
"""The metrics that search an alignment, which takes most of the time."""
_AT_ONCE = 500_000
"""Cells of tables that are scored at once: memory, and the size of what CEAF has to search."""
MOST_CHAINS = 48
"""Characters of a book that are exchanged each by itself; the others go together with these."""
COARSE = 12
"""Characters and stretches into which a book is cut where both are crossed."""


class Blocks:
    """Stretches of text by their first tokens: a mention belongs where it starts."""

    strands = 1

    def __init__(self, starts: Ints) -> None:
        self.starts, self.count = starts, int(starts.size)

    def stretch_of(self, starts: Ints) -> Ints:
        return part_of(self.starts, starts)

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
        self.count = self.strands = min(sizes.size, most) + 1
        self._unit = np.empty(sizes.size, np.int64)
        self._unit[np.argsort(-sizes, kind="stable")] = np.arange(sizes.size) % (self.count - 1)

    def stretch_of(self, starts: Ints) -> Ints:
        return np.zeros_like(starts)

    def _characters(self, key: Members) -> Ints:
        names = [self._book.name_of(c, key) if len(self._book.key_names) > 1 else None
                 for c in range(key.cluster_unit.size)]  # fmt: skip
        units = key.cluster_unit if len(self._book.key_names) > 1 else np.zeros_like(key.cluster_unit)
        found = zip(names, units.tolist(), key.source_cluster.tolist(), strict=True)
        known = self._known
        return np.array([known.setdefault(n or (u, i), len(known)) for n, u, i in found], np.int64)

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
        self._blocks, self._chains, self.strands = blocks, chains, chains.strands
        self.count = COARSE * self.strands

    def stretch_of(self, starts: Ints) -> Ints:
        return self._blocks.stretch_of(starts) * COARSE // max(self._blocks.count, COARSE)

    def of_key(self, key: Members) -> Ints:
        return self.stretch_of(key.start) * self.strands + self._chains.of_key(key)

    def of_response(self, system: Overlap) -> Ints:
        return self.stretch_of(system.response.start) * self.strands + self._chains.of_response(system)


Units = Blocks | Chains | Crossings
"""How a book is taken apart: the unit of every mention of the key (`of_key`), of a response (`of_response`).
Units are numbered by stretch of the book (`stretch_of`, by first token), and in each stretch there are
`strands` of them."""


class _Cells:
    """Mentions counted by system, part of the book, key cluster and label: a table taken apart.

    `rows` and `columns` are the distinct (key cluster, label) pairs, the columns of the count matrix.
    """

    def __init__(self, pieces: Sequence[tuple[Ints, Ints, Ints, Ints]], parts: int) -> None:
        """From (part, row, column, count) of each system."""
        system = np.repeat(np.arange(len(pieces)), [p[0].size for p in pieces])
        part, row, column, count = (np.concatenate([p[i] for p in pieces]) for i in range(4))
        # The distinct (row, column) pairs, and for each pair given which it is
        width = int(column.max(initial=0)) + 1
        codes, cell = np.unique(row * np.int64(width) + column, return_inverse=True)
        self.rows, self.columns = codes // width, codes % width
        shape = len(pieces) * parts, self.rows.size
        cells = count.astype(float), (system * parts + part, cell)
        self._matrix = scipy.sparse.csr_array(cells, shape=shape)

    def taken(self, chosen: Bools) -> Floats:
        """The count of each cell in each mixture `chosen[mixture, system, part]`."""
        counts: Floats = chosen.reshape(len(chosen), -1).astype(float) @ self._matrix
        return counts


class _Mixtures:
    """Contingency tables of mixtures under one rule for duplicates."""

    def __init__(self, systems: Sequence[Overlap], units: Units, drop_singletons: bool) -> None:
        self._drop = drop_singletons
        key = systems[0].key
        key_part = units.of_key(key)
        self._key_unit = key.cluster_unit
        # The label of each cluster of each system; aligned clusters of two systems share one.
        labels = [np.arange(systems[0].response.cluster_unit.size, dtype=np.int64)]
        if len(systems) > 1:
            shared = overlap(systems[0].response, systems[1].response).recall
            labels.append(labels[0].size + np.arange(systems[1].response.cluster_unit.size, dtype=np.int64))
            edges = best_alignment(shared.rows, shared.columns, shared.counts.astype(float))
            labels[1][shared.columns[edges]] = shared.rows[edges]
        label_count = 1 + max((int(label.max(initial=-1)) for label in labels), default=-1)
        self._label_unit = np.zeros(label_count, np.int64)
        recall, precision, alignment, sizes = [], [], [], []
        for system, label in zip(systems, labels, strict=True):
            response = system.response
            part = units.of_response(system)
            own, partner = label[response.owner], system.response_partner
            self._label_unit[label] = response.cluster_unit
            sizes.append((part, np.zeros_like(own), own, np.ones_like(own)))
            found = system.key_partner >= 0
            ones = np.ones(int(found.sum()), np.int64)
            recall.append((key_part[found], key.owner[found], label[system.key_partner[found]], ones))
            found = partner >= 0
            precision.append((part[found], partner[found], own[found], np.ones_like(own[found])))
            if system.alignment is system.recall:
                alignment.append(recall[-1])
                continue
            # A key member counts in every response cluster that holds its span.
            apart = replace(system.key, owner=system.key.owner * np.int64(units.count) + key_part)
            shape = system.key.cluster_unit.size * units.count, response.cluster_unit.size
            table = align_members(apart, response, shape)
            part, owner = table.rows % units.count, table.rows // units.count
            alignment.append((part, owner, label[table.columns], table.counts))
        self._plain = all(system.alignment is system.recall for system in systems)
        nowhere, ones = np.zeros_like(key_part), np.ones_like(key_part)
        self._key_sizes = _Cells([(key_part, nowhere, key.owner, ones)], units.count)
        self._sizes, self._recall = _Cells(sizes, units.count), _Cells(recall, units.count)
        self._precision = self._recall if self._plain else _Cells(precision, units.count)
        self._alignment = self._recall if self._plain else _Cells(alignment, units.count)
        self.cells = max(1, self._recall.rows.size + label_count)

    def contingency(self, key_parts: Bools, chosen: Bools, windows: int) -> Contingency:
        """The tables of all mixtures, one below the other: `key_parts[mixture, part]` of the key and
        `chosen[mixture, system, part]` of the systems. Units are the windows of the first mixture, then
        those of the second."""
        key_sizes = self._spread(self._key_sizes, key_parts[:, None], self._key_unit.size)
        response_sizes = self._spread(self._sizes, chosen, self._label_unit.size)
        least = 2 if self._drop else 1
        key_kept, response_kept = key_sizes >= least, response_sizes >= least
        new_row, new_column = np.cumsum(key_kept) - 1, np.cumsum(response_kept) - 1

        def table(cells: _Cells) -> ContingencyTable:
            counts = cells.taken(chosen)
            mixture, cell = np.nonzero(counts)
            rows = mixture * self._key_unit.size + cells.rows[cell]
            columns = mixture * self._label_unit.size + cells.columns[cell]
            kept = key_kept[rows] & response_kept[columns]
            found = counts[mixture[kept], cell[kept]].astype(np.int64)
            return ContingencyTable(new_row[rows[kept]], new_column[columns[kept]], found)

        recall = table(self._recall)
        first = windows * np.arange(len(chosen))[:, None]
        return Contingency(
            key_sizes[key_kept], response_sizes[response_kept],
            (first + self._key_unit).reshape(-1)[key_kept],
            (first + self._label_unit).reshape(-1)[response_kept],
            recall, recall if self._plain else table(self._precision),
            recall if self._plain else table(self._alignment),
        )  # fmt: skip

    def _spread(self, cells: _Cells, chosen: Bools, clusters: int) -> Ints:
        sizes = np.zeros((len(chosen), clusters), np.int64)
        sizes[:, cells.columns] = cells.taken(chosen)
        return sizes.reshape(-1)


class ExchangeParts:
    """One book of one or two systems, cut into parts, ready to be scored in any mixture."""

    def __init__(
        self, systems: Sequence[Overlaps], units: Units, *, drop_singletons: bool,
        windows: Sequence[int] = (0,),
    ) -> None:  # fmt: skip
        """`windows`: first tokens of the parts of the book that are scored apart.

        Raises UsageError: spans in several clusters under the released rule while singletons are dropped;
        which cluster a span then belongs to depends on the mixture.
        """
        repeated = any(system.chosen is not system.once for system in systems)
        if repeated and drop_singletons:
            what = "spans in several clusters cannot be resampled while singletons are dropped"
            raise UsageError(what, hint="use --duplicates first, or --singletons keep")
        self.parts, self.systems, self._windows = units.count, len(systems), len(windows)
        # What is exchanged in one stretch leaves the windows of all others as they are: a mixture serves all.
        together = len(windows) > 1
        self._strands = units.strands if together else units.count
        self._stretch = units.stretch_of(np.array(windows)) if together else np.zeros(1, np.int64)
        self._chosen = _Mixtures([s.chosen for s in systems], units, drop_singletons)
        once = [s.once for s in systems]
        self._once = _Mixtures(once, units, drop_singletons) if repeated else self._chosen

    def changes(self, counts: Callable[[Bools], Floats]) -> tuple[Floats, Floats]:
        """The counts of the book as it is, and what each part adds to them when it alone is changed.

        `counts` counts mixtures by window when told which parts to change: (mixtures, windows, ...).
        """
        strand = np.arange(self.parts) % self._strands
        counted = counts(np.arange(-1, self._strands)[:, None] == strand)
        by_stretch = np.zeros((self.parts // self._strands, self._strands, *counted.shape[2:]))
        np.add.at(by_stretch, self._stretch, np.swapaxes(counted[1:] - counted[0], 0, 1))
        return counted[0].sum(axis=0), by_stretch.reshape(self.parts, *counted.shape[2:])

    def counts(self, chosen: Bools, key_parts: Bools | None = None, *, align: bool = True) -> Floats:
        """The counts of the mixtures `chosen[mixture, system, part]`: (mixtures, windows, COUNTED, 4).

        `key_parts[mixture, part]`: what is left of the key. Without `align` CEAF is not counted.
        """
        keys = np.ones((len(chosen), self.parts), bool) if key_parts is None else key_parts
        step = max(1, _AT_ONCE // self._chosen.cells)
        found = []
        for at in range(0, len(chosen), step):
            piece = chosen[at : at + step]
            asked, count = (keys[at : at + step], piece, self._windows), len(piece) * self._windows
            tables = self._chosen.contingency(*asked)
            once = tables if self._once is self._chosen else self._once.contingency(*asked)
            counted = np.zeros((count, len(COUNTED), 4))
            for row, name in enumerate(PARTS):
                if align or name not in ALIGNED:
                    both = tables if name in RELEASED_METRICS else once
                    sides = [both.key_unit] * 2 + [both.response_unit] * 2
                    for column, (unit, values) in enumerate(zip(sides, PARTS[name](both).sums, strict=True)):
                        counted[:, row, column] = np.bincount(unit, values, count)
            counted[:, len(PARTS) :] = blanc_counts(once, count)
            found.append(counted.reshape(len(piece), self._windows, len(COUNTED), 4))
        return np.concatenate(found)


# --- units of the text: windows, chapters, whole books


def block_starts(book: BookPair, unit: str, size: int, *, whole: bool) -> Ints:
    """First token of every unit of a text: a "block" of about `size` tokens, a "chapter" or the "book".

    Units are a partition. Where windows are scored on their own (not `whole`) a unit takes the windows that
    start in it; windows that overlap stay together. Raises UsageError: chapters of a book without text, or
    without headings that can be found.
    """
    if unit == "book":
        return np.zeros(1, np.int64)
    if unit == "chapter":
        # Tokens that open a chapter: "Chapter" with a number where a sentence or line begins, or "CHAPTER"
        tokens, ends = book.tokens, book.sentence_ends
        if tokens is None or ends is None:
            raise UsageError(f"{book.doc_key}: chapters need text that no side has", hint="use --unit block")
        openers = {0, *ends}
        found = []
        for i, (token, following) in enumerate(pairwise(tokens)):
            if token[:1].isupper() and token.lower() in _HEADINGS:
                number = following.rstrip(".:").lower()
                roman = bool(number) and not number.strip("ivxlcdm")
                opens = i in openers or token.isupper() or tokens[i - 1] in _BEFORE_HEADING
                if opens and (roman or number.isdigit() or number in _NUMBERS):
                    found.append(i)
        if len(found) < 2:
            what = f"{book.doc_key}: found {len(found)} chapter headings"
            expected = "lines such as 'Chapter 1' or 'CHAPTER IV.'"
            raise UsageError(what, expected=expected, hint="--unit block needs no headings")
        starts = np.array(found if found[0] == 0 else [0, *found], np.int64)
    elif book.sentence_ends is None:
        # By the key alone: two systems that are compared must be cut alike.
        starts = size * block_numbers(max(book.length, 1), size, book.key.start, text=book.tokens is not None)
    else:
        starts = np.array([w.start for w in cut_windows(book.sentence_ends, size)] or [0], np.int64)
    if whole:
        return starts
    bounds = np.array(book.bounds, np.int64).reshape(-1, 2)
    group = part_of(starts, bounds[:, 0])
    first = (np.diff(group) > 0) & (bounds[1:, 0] >= bounds[:-1, 1])
    return np.concatenate([[0], bounds[1:, 0][first]])


def part_of(starts: Ints, offsets: Ints) -> Ints:
    return np.clip(np.searchsorted(starts, offsets, side="right") - 1, 0, None)


_HEADINGS = word_set("chapter letter canto chap. chap")
_NUMBERS = word_set("""one two three four five six seven eight nine ten eleven twelve first second third
    last the""")
_BEFORE_HEADING = {"\n", ".", "!", "?", '"', "”", "’", "'", "_", "*"}
