"""What went wrong, in the error types of Kummerfeld and Klein (EMNLP 2013).

The response is turned into the key by five kinds of corrections, always in this order:

1. *span error*: a response mention and a key mention that are both unmatched and have the same head word
   (mention_types, rule 2) become one; ties go to the pair that overlaps most.
2. *extra mention* / *extra entity*: the remaining unmatched response mentions are removed; a response
   cluster all of whose mentions are unmatched is one extra entity.
3. *missing mention* / *missing entity*: likewise for the key. A missing mention is added to the response
   cluster that holds most of its character.
4. *conflated entity*: a response cluster with mentions of p characters is split: p - 1 errors.
5. *divided entity*: a character in q response clusters is joined: q - 1 errors.

The paper uses gold parses for heads; here heads come from fixed rules. Every step is linear in mentions
(sorting apart), so that a whole book costs milliseconds. The scores after each step say what an error
type costs; a type's cost depends on the order, which is why the order is fixed.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from ..books.book import text_of
from ..shapes import AsFields, attributes, plain, together
from .assignment import Bools, Floats, Ints
from .clustering import Members, Overlap, overlap
from .evaluation import Evaluation, book_overlaps
from .labels import Labels, snippet
from .mention_types import head_of
from .metrics import Overlaps
from .modes import BookPair
from .scores import ClusterScores, pool
from .typed import jaccard

ERROR_TYPES = (
    "span", "extra mention", "extra entity", "missing mention", "missing entity", "conflated entity",
    "divided entity",
)  # fmt: skip

STEPS = ("as it is", "spans mended", "extra removed", "missing added", "conflated split", "divided joined")


@dataclass(frozen=True, slots=True)
class ErrorCount(AsFields):
    """How often an error type occurs, and how many mentions it concerns."""

    type: str
    errors: int
    mentions: int


@dataclass(frozen=True, slots=True)
class Confusion(AsFields):
    """Mentions of `other` inside response clusters that hold mostly `home` (one book, all units).

    `wrong_links` counts the pairs (mention of home, mention of other) that the response wrongly links.
    """

    doc_key: str
    home: str
    other: str
    mentions: int
    wrong_links: int
    snippets: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Division(AsFields):
    """A character spread over several response clusters of a unit: `mentions` lie outside the largest."""

    doc_key: str
    name: str
    parts: int
    mentions: int
    lost_links: int
    snippets: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Frequent(AsFields):
    """A text or character that is often missed or spurious."""

    doc_key: str
    what: str
    mentions: int
    snippets: tuple[str, ...]


_Found = TypeVar("_Found", Confusion, Division, Frequent)
_Name = TypeVar("_Name", str, tuple[str, str])
_Cell = tuple[int, int, int]
"""Matched mentions of a key cluster and a response cluster: how many, and the two clusters."""


@dataclass(frozen=True, slots=True, eq=False)
class ErrorAnalysis:
    """All errors of an evaluation: counts by type, score after each correction, the costliest cases.

    `matrix[doc_key]` = (names, counts, mended): `counts[i, j]` mentions of character i in response clusters
    whose home is character j; the last column counts those the response lacks. As in `conflated` and
    `divided`, spans are mended: `mended` of those counted as found have another span in the response.
    """

    counts: tuple[ErrorCount, ...]
    steps: tuple[tuple[str, ClusterScores], ...]
    conflated: tuple[Confusion, ...]
    divided: tuple[Division, ...]
    missed: tuple[Frequent, ...]
    spurious: tuple[Frequent, ...]
    matrix: dict[str, tuple[tuple[str, ...], Floats, int]]

    def to_dict(self) -> dict[str, Any]:
        matrix = {
            key: {"names": names, "columns": [*names, None], "counts": seen.astype(int).tolist(), "mended": n}
            for key, (names, seen, n) in self.matrix.items()
        }
        steps = [{"step": step, "scores": scores} for step, scores in self.steps]
        cases = attributes(self, "counts conflated divided missed spurious")
        return cases | {"steps": plain(steps), "confusion_matrix": plain(matrix)}


def analyse_errors(evaluation: Evaluation, *, most: int = 10) -> ErrorAnalysis:
    """Decompose the errors of all books; lists hold the `most` expensive cases."""
    rules = evaluation.rules
    books = [_Corrections(b.book, book_overlaps(b.book, rules).once) for b in evaluation.books]
    counts = tuple(
        ErrorCount(kind, *(sum(b.counts[kind][i] for b in books) for i in (0, 1))) for kind in ERROR_TYPES
    )
    steps = tuple((step, pool(book.steps[i] for book in books)) for i, step in enumerate(STEPS))

    def costliest(cases_of: Callable[[_Corrections, int], list[_Found]]) -> tuple[_Found, ...]:
        cases = [case for book in books for case in cases_of(book, most)]
        return tuple(sorted(cases, key=lambda case: -case.mentions)[:most])

    return ErrorAnalysis(
        counts, steps, costliest(_Corrections.conflated), costliest(_Corrections.divided),
        costliest(_Corrections.missed), costliest(_Corrections.spurious),
        {book.book.doc_key: (*book.matrix(), len(book.mended)) for book in books},
    )  # fmt: skip


class _Corrections:
    """The corrections of one book.

    `key_cell[i]` is the response cluster of key mention i after spans are mended (-1: missing), and
    `response_cell[j]` the key cluster of response mention j (-1: extra).
    """

    def __init__(self, book: BookPair, both: Overlap) -> None:
        self.book, self.both = book, both
        self.labels = Labels(book)
        self.names = self.labels.of_key(both.key)
        self.key_cell, self.response_cell = both.key_partner.copy(), both.response_partner.copy()
        # Pairs (key mention, response mention), both unmatched, with the same head word; one to one
        heads: dict[tuple[int, int], tuple[list[int], list[int]]] = {}
        sides = ((both.key, both.key_partner), (both.response, both.response_partner))
        for which, (side, partner) in enumerate(sides):
            units = side.unit
            for i in np.flatnonzero(partner < 0).tolist():
                start, end = int(side.start[i]), int(side.end[i])
                head = end if book.tokens is None else head_of(book.tokens, start, end)
                if head is not None:
                    heads.setdefault((int(units[i]), head), ([], []))[which].append(i)
        self.mended: list[tuple[int, int]] = []
        spans = [list(zip(s.start.tolist(), s.end.tolist(), strict=True)) for s in (both.key, both.response)]
        for keys, responses in heads.values():
            pairs = sorted((-jaccard(spans[0][k], spans[1][r]), k, r) for k in keys for r in responses)
            for _, k, r in pairs:
                if self.key_cell[k] < 0 and self.response_cell[r] < 0:
                    self.key_cell[k], self.response_cell[r] = both.response.owner[r], both.key.owner[k]
                    self.mended.append((k, r))
        # The table of (key cluster, response cluster) with matched mentions, and each cluster's home
        found = self.key_cell >= 0
        width = np.int64(max(self.both.response.sizes.size, 1))
        cells, counts = np.unique(both.key.owner[found] * width + self.key_cell[found], return_counts=True)
        self.rows, self.columns, self.cell_counts = cells // width, cells % width, counts
        self.home = _heaviest(self.columns, self.rows, counts, self.both.response.sizes.size)
        self.home_count = np.zeros(self.home.size, np.int64)
        np.maximum.at(self.home_count, self.columns, counts)
        self.main = _heaviest(self.rows, self.columns, counts, self.both.key.sizes.size)
        # (errors, mentions) of each type
        extra, whole_extra = _unmatched(self.both.response, self.response_cell)
        missing, whole_missing = _unmatched(self.both.key, self.key_cell)
        away_from_home = self.home[self.columns] != self.rows
        away_from_main = self.main[self.rows] != self.columns
        self.counts = {
            "span": (len(self.mended), len(self.mended)),
            "extra mention": (extra, extra),
            "extra entity": whole_extra,
            "missing mention": (missing, missing),
            "missing entity": whole_missing,
            "conflated entity": (int(away_from_home.sum()), int(self.cell_counts[away_from_home].sum())),
            "divided entity": (int(away_from_main.sum()), int(self.cell_counts[away_from_main].sum())),
        }
        self.steps = self._score_steps()

    def _score_steps(self) -> list[ClusterScores]:
        """Scores before any correction and after each."""
        key, response = self.both.key, self.both.response
        units, n = self.book.units, response.sizes.size
        states = [(response.start, response.end, response.owner, response.unit)]
        mended_start, mended_end = response.start.copy(), response.end.copy()
        for k, r in self.mended:
            mended_start[r], mended_end[r] = key.start[k], key.end[k]
        states.append((mended_start, mended_end, response.owner, response.unit))
        kept = self.response_cell >= 0
        states.append((mended_start[kept], mended_end[kept], response.owner[kept], response.unit[kept]))
        owner = np.where(self.key_cell >= 0, self.key_cell, self.main[key.owner])
        owner = np.where(owner >= 0, owner, n + key.owner)
        states.append((key.start, key.end, owner, key.unit))
        split = owner * np.int64(max(key.sizes.size, 1)) + key.owner
        states.append((key.start, key.end, split, key.unit))
        states.append((key.start, key.end, key.owner, key.unit))
        found = []
        for start, end, code, unit in states:
            order = np.argsort(code, kind="stable")
            groups, owner = np.unique(code[order], return_inverse=True)
            cluster_unit = np.zeros(groups.size, np.int64)
            cluster_unit[owner] = unit[order]
            corrected = Members(start[order], end[order], owner, cluster_unit, np.arange(groups.size))
            both = overlap(key, corrected, duplicates="first")
            found.append(Overlaps(both, both).total(units))
        return found

    def conflated(self, most: int) -> list[Confusion]:
        """The costliest pairs of characters in one response cluster."""
        away = self._cells(self.home[self.columns] != self.rows)
        cases = together(
            ((self.names[int(self.home[c])], self.names[row]), (n, row, c)) for n, row, c in away
        )
        links = {pair: sum(n * int(self.home_count[c]) for n, _, c in own) for pair, own in cases.items()}
        costly = self._costliest(cases, links, most)
        return [Confusion(self.book.doc_key, *pair, n, links[pair], shown) for pair, n, shown in costly]

    def divided(self, most: int) -> list[Division]:
        """The characters with most mentions outside their largest response cluster."""
        names, counts = len(self.names), self.cell_counts
        size, squares = (np.bincount(self.rows, counts**power, minlength=names) for power in (1, 2))
        lost = Counter[str]()
        for name, links in zip(self.names, ((size**2 - squares) / 2).tolist(), strict=True):
            lost[name] += int(links)
        away = self._cells(self.main[self.rows] != self.columns)
        cases = together((self.names[row], (n, row, c)) for n, row, c in away)
        costly = self._costliest(cases, lost, most)
        parts = {name: len(own) for name, own in cases.items()}
        return [Division(self.book.doc_key, x, parts[x], n, lost[x], shown) for x, n, shown in costly]

    def _costliest(
        self, cases: Mapping[_Name, list[_Cell]], links: Mapping[_Name, int], most: int
    ) -> Iterator[tuple[_Name, int, tuple[str, ...]]]:
        """(name, mentions, snippets of its largest cell): by mentions, then links, then name."""
        mentions = {name: sum(n for n, *_ in own) for name, own in cases.items()}
        for name in sorted(cases, key=lambda name: (-mentions[name], -links[name], name))[:most]:
            _, row, column = max(cases[name])
            index = np.flatnonzero((self.both.key.owner == row) & (self.key_cell == column))
            yield name, mentions[name], self._snippets(self.both.key, index.tolist())

    def missed(self, most: int) -> list[Frequent]:
        """Characters by mentions that the response lacks."""
        lost = np.flatnonzero(self.key_cell < 0).tolist()
        groups = together((self.names[int(self.both.key.owner[i])], i) for i in lost)
        return self._frequent(groups, self.both.key, most)

    def spurious(self, most: int) -> list[Frequent]:
        """Response mentions that no key mention matches, by their text."""
        response, tokens = self.both.response, self.book.tokens
        extra = np.flatnonzero(self.response_cell < 0).tolist()
        spans = zip(response.start[extra].tolist(), response.end[extra].tolist(), strict=True)
        texts = [text_of(tokens or (), *span).lower() or "(no text)" for span in spans]
        return self._frequent(together(zip(texts, extra, strict=True)), response, most)

    def matrix(self) -> tuple[tuple[str, ...], Floats]:
        """Characters by the home of the response cluster their mentions are in; most frequent first."""
        totals = Counter[str]()
        for name, size in zip(self.names, self.both.key.sizes.tolist(), strict=True):
            totals[name] += size
        names = tuple(name for name, _ in totals.most_common())
        place = {name: i for i, name in enumerate(names)}
        index = np.array([place[name] for name in self.names], np.int64)
        counts = np.zeros((len(names), len(names) + 1))
        np.add.at(counts, (index[self.rows], index[self.home[self.columns]]), self.cell_counts)
        np.add.at(counts[:, -1], index[self.both.key.owner[self.key_cell < 0]], 1)
        return names, counts

    def _cells(self, chosen: Bools) -> Iterator[_Cell]:
        arrays = self.cell_counts[chosen], self.rows[chosen], self.columns[chosen]
        return zip(*(array.tolist() for array in arrays), strict=True)

    def _frequent(self, groups: dict[str, list[int]], side: Members, most: int) -> list[Frequent]:
        largest = sorted(groups.items(), key=lambda group: (-len(group[1]), group[0]))[:most]
        key = self.book.doc_key
        return [Frequent(key, what, len(index), self._snippets(side, index)) for what, index in largest]

    def _snippets(self, side: Members, index: list[int]) -> tuple[str, ...]:
        """Up to three of some mentions in their context, spread evenly over the list."""
        step = max(len(index) / 3, 1)
        spaced = [index[int(i * step)] for i in range(min(3, len(index)))]
        found = (snippet(self.book.tokens, int(side.start[i]), int(side.end[i])) for i in spaced)
        return tuple(text for text in found if text is not None)


def _heaviest(groups: Ints, items: Ints, weights: Ints, count: int) -> Ints:
    """For each group 0..count-1 the item of greatest weight (ties: the first item), -1 for none."""
    found = np.full(count, -1)
    order = np.lexsort((-items, weights))
    found[groups[order]] = items[order]
    return found


def _unmatched(side: Members, cell: Ints) -> tuple[int, tuple[int, int]]:
    """Unmatched mentions in clusters that are partly matched; (clusters, mentions) wholly unmatched."""
    lacking = np.bincount(side.owner, weights=cell < 0, minlength=side.sizes.size)
    whole = lacking == side.sizes
    return int(lacking[~whole].sum()), (int(whole.sum()), int(lacking[whole].sum()))
