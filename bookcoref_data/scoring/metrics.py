"""MUC, B3, CEAF-e, CEAF-m, BLANC, LEA and mention detection, on sparse contingency tables.

Every metric but BLANC is a sum over clusters (CEAF: over aligned clusters), so that one pass gives the
score of each unit (document, window) and of any pool of units. Formulas: `|K|`, `|R|` sizes of key and
response clusters, `n` the mentions they share.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import require_choice
from .assignment import Floats, Ints, best_alignment
from .clustering import Clusters, Contingency, ContingencyTable, Members, Overlap, members, overlap
from .scores import Blanc, ClusterScores, Score


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """What each key cluster adds to recall and each response cluster to precision (num, den).

    `partner`: for CEAF the response cluster that each key cluster is aligned with, -1 for none.
    """

    recall_num: Floats
    recall_den: Floats
    precision_num: Floats
    precision_den: Floats
    partner: Ints | None = None

    @property
    def aligned(self) -> Ints:
        """`partner`; -1 for every key cluster where the metric aligns none."""
        return np.full(self.recall_num.size, -1) if self.partner is None else self.partner

    @property
    def sums(self) -> tuple[Floats, Floats, Floats, Floats]:
        """By cluster, in the order of a `Score`."""
        return self.recall_num, self.recall_den, self.precision_num, self.precision_den

    def total(self) -> Score:
        return Score(*(float(array.sum()) for array in self.sums))


Metric = Callable[[Contingency], Parts]


def _row_sums(table: ContingencyTable, values: Floats | Ints, rows: int) -> Floats:
    sums: Floats = np.bincount(table.rows, weights=np.asarray(values, float), minlength=rows).astype(float)
    return sums


def _of_sides(side: Callable[[ContingencyTable, Ints, Ints], tuple[Floats, Floats]]) -> Metric:
    """A metric by what `side` says of the key in rows, then of the response in rows: from the table and the
    sizes of the clusters of this and of the other side, what each cluster adds (num, den)."""

    def parts(both: Contingency) -> Parts:
        recall = side(both.recall, both.key_sizes, both.response_sizes)
        return Parts(*recall, *side(both.precision.transposed(), both.response_sizes, both.key_sizes))

    return parts


@_of_sides
def _muc(table: ContingencyTable, sizes: Ints, _: Ints) -> tuple[Floats, Floats]:
    """MUC (Vilain et al. 1995): (|K| - pieces the response cuts K into) / (|K| - 1).

    A mention the response lacks is a piece of its own, so the numerator is found mentions - found pieces.
    """
    return _row_sums(table, table.counts - 1, sizes.size), (sizes - 1).astype(np.float64)


@_of_sides
def _b_cubed(table: ContingencyTable, sizes: Ints, _: Ints) -> tuple[Floats, Floats]:
    """B3 (Bagga and Baldwin 1998): sum of n^2 / |K| over |K|."""
    counts, whole = table.counts.astype(float), sizes.astype(float)
    return _row_sums(table, counts * counts, sizes.size) / whole, whole


@_of_sides
def _lea(table: ContingencyTable, sizes: Ints, other: Ints) -> tuple[Floats, Floats]:
    """LEA (Moosavi and Strube 2016): |K| x common links / links, over |K|.

    A singleton has one link, to itself, found only in a singleton of the other side (the CoNLL cases).
    """
    common = _row_sums(table, _links(table.counts), sizes.size)
    alone = _row_sums(table, (other[table.columns] == 1).astype(float), sizes.size)
    share = np.where(sizes > 1, common / np.maximum(_links(sizes), 1), alone)
    return sizes.astype(float) * share, sizes.astype(float)


@_of_sides
def _mentions(table: ContingencyTable, sizes: Ints, _: Ints) -> tuple[Floats, Floats]:
    """Mention detection: spans found on the other side, over spans."""
    return _row_sums(table, table.counts, sizes.size), sizes.astype(float)


def ceaf_e_parts(both: Contingency) -> Parts:
    """CEAF-e (Luo 2005): 2n / (|K| + |R|) summed over the best alignment, over the number of clusters."""
    table = both.alignment
    similarity = 2 * table.counts / (both.key_sizes[table.rows] + both.response_sizes[table.columns])
    return _aligned(table, similarity, np.ones(both.key_sizes.size), np.ones(both.response_sizes.size))


def ceaf_m_parts(both: Contingency) -> Parts:
    """CEAF-m (Luo 2005): n summed over the best alignment, over the number of mentions."""
    sizes = both.key_sizes.astype(float), both.response_sizes.astype(float)
    return _aligned(both.alignment, both.alignment.counts.astype(float), *sizes)


def _aligned(table: ContingencyTable, similarity: Floats, key_den: Floats, response_den: Floats) -> Parts:
    edges = best_alignment(table.rows, table.columns, similarity)
    key_num, response_num = np.zeros(key_den.size), np.zeros(response_den.size)
    key_num[table.rows[edges]] = similarity[edges]
    response_num[table.columns[edges]] = similarity[edges]
    partner = np.full(key_den.size, -1)
    partner[table.rows[edges]] = table.columns[edges]
    return Parts(key_num, key_den, response_num, response_den, partner)


def blanc_counts(both: Contingency, units: int = 1) -> Floats:
    """BLANC (Recasens and Hovy 2011; Luo et al. 2014) of each unit, in closed form: (units, 3, 4).

    By unit the links, the non-links and the mentions, each with the four numbers of a `Score`.

    Common non-links are the pairs of shared mentions that neither side links: all pairs, less those the
    key links, less those the response links, plus those both link.
    """
    table = both.recall
    found_key = np.bincount(table.rows, weights=table.counts, minlength=both.key_sizes.size)
    found_response = np.bincount(table.columns, weights=table.counts, minlength=both.response_sizes.size)
    unit_of_edge = both.key_unit[table.rows]

    def per_unit(unit: Ints, values: Floats | Ints) -> Floats:
        return np.bincount(unit, weights=np.asarray(values, float), minlength=units).astype(float)

    sides = []
    ours = (both.response_unit, both.response_sizes, found_response)
    for unit, sizes, found in ((both.key_unit, both.key_sizes, found_key), ours):
        mentions = per_unit(unit, sizes)
        linked = per_unit(unit, _links(sizes))
        sides.append((mentions, linked, _links(mentions) - linked, per_unit(unit, _links(found))))
    common = per_unit(unit_of_edge, table.counts)
    links = per_unit(unit_of_edge, _links(table.counts))
    non_links = _links(common) - sides[0][3] - sides[1][3] + links
    of_kinds = ((links, 1), (non_links, 2), (common, 0))
    rows = [np.stack([both_, sides[0][i], both_, sides[1][i]], axis=-1) for both_, i in of_kinds]
    return np.stack(rows, axis=1)


def _links(n: Floats | Ints) -> Floats:
    """Pairs among n mentions."""
    count: Floats = np.asarray(n, np.float64)
    pairs: Floats = count * (count - 1) / 2
    return pairs


PARTS = {
    "muc": _muc, "b_cubed": _b_cubed, "ceaf_e": ceaf_e_parts, "ceaf_m": ceaf_m_parts, "lea": _lea,
    "mentions": _mentions,
}  # fmt: skip
"""The metrics that are sums over clusters."""

RELEASED_METRICS = ("muc", "b_cubed", "ceaf_e")
"""The metrics of the released evaluation, to which the released rule for duplicates can apply."""


@dataclass(frozen=True, slots=True, eq=False)
class Overlaps:
    """The overlap under the chosen rule for duplicates, and the one with every span once.

    Both are the same object unless a span is repeated. The metrics that BookCoref's evaluation does not
    have are always computed with every span once: their definitions speak of sets.
    """

    chosen: Overlap
    once: Overlap

    def of(self, metric: str) -> Overlap:
        return self.chosen if metric in RELEASED_METRICS else self.once

    def parts(self, metric: str) -> Parts:
        return PARTS[metric](self.of(metric))

    def total(self, units: int = 1) -> ClusterScores:
        """Scores pooled over all units."""
        scores = {name: self.parts(name).total() for name in PARTS}
        blanc = blanc_counts(self.once, units).sum(axis=0).tolist()
        return ClusterScores(**scores, blanc=Blanc(*(Score(*row) for row in blanc)))


def overlaps(
    key: Members, response: Members, *, singletons: str = "keep", duplicates: str = "released"
) -> Overlaps:
    """Apply the rules and count. Raises UsageError for an unknown rule.

    `singletons="drop"` leaves out clusters of one mention on both sides, after duplicates are settled.
    """
    require_choice("rule for singletons", singletons, ("keep", "drop"))
    chosen = overlap(key, response, duplicates=duplicates)
    repeated = chosen.recall is not chosen.alignment
    found = [chosen, overlap(key, response, duplicates="first")] if repeated else [chosen]
    if singletons == "drop":
        found = [overlap(both.key.without_singletons(), both.response.without_singletons()) for both in found]
    return Overlaps(found[0], found[-1])


def score_clusters(
    key: Clusters, response: Clusters, *, singletons: str = "keep", duplicates: str = "released"
) -> ClusterScores:
    """All metrics of one document: clusters of (start, end) spans, both ends inclusive.

    >>> score_clusters([[(0, 0), (3, 4)], [(9, 9)]], [[(0, 0), (3, 4)]]).muc.f1
    1.0

    Raises DataError: a span is not a pair of whole numbers. UsageError: an unknown rule for singletons or
    duplicates.
    """
    return score_documents([(key, response)], singletons=singletons, duplicates=duplicates)


def score_documents(
    pairs: Sequence[tuple[Clusters, Clusters]], *, singletons: str = "keep", duplicates: str = "released"
) -> ClusterScores:
    """All metrics of several documents, pooled: (key, response) clusterings, one pair per document."""
    both = overlaps(
        members(key for key, _ in pairs), members(response for _, response in pairs), singletons=singletons,
        duplicates=duplicates,
    )  # fmt: skip
    return both.total(max(len(pairs), 1))
