"""Named results: every score keeps its numerators and denominators, so that scores can be pooled.

Pooling documents means adding numerators and denominators, then dividing (BookCoref's evaluation, the
CoNLL scorer). An average of per-document scores is a different number: `macro`. A ratio whose
denominator is 0 is 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from ..shapes import AsFields, attributes

SCORER = "bookcoref-data scorer 1"
"""Changes when any rule changes that can change a number."""


_Said = TypeVar("_Said", bound=Hashable)
_Sum = TypeVar("_Sum", bound="AddsUp")


def ratio(numerator: float, denominator: float) -> float:
    """`numerator / denominator`, 0 when the denominator is 0."""
    return numerator / denominator if denominator else 0.0


def cohens_kappa(pairs: Mapping[tuple[_Said, _Said], int]) -> float | None:
    """Agreement beyond chance (Cohen 1960) from how often two people gave each pair of answers; None where
    it has no value: nothing was compared, or chance alone always agrees."""
    total = sum(pairs.values())
    first, second = Counter[_Said](), Counter[_Said]()
    for (one, other), times in pairs.items():
        first[one] += times
        second[other] += times
    by_chance = ratio(sum(first[said] * second[said] for said in first), total**2)
    if not total or by_chance >= 1:
        return None
    observed = sum(times for (one, other), times in pairs.items() if one == other) / total
    return (observed - by_chance) / (1 - by_chance)


def harmonic_mean(precision: float, recall: float) -> float:
    """F1 of a precision and a recall, 0 when both are 0."""
    return ratio(2 * precision * recall, precision + recall)


class AddsUp:
    """A dataclass of which two are added field by field."""

    __slots__: tuple[str, ...] = ()

    def __add__(self: _Sum, other: _Sum) -> _Sum:
        return type(self)(*(getattr(self, name) + getattr(other, name) for name in self.__slots__))


@dataclass(frozen=True, slots=True)
class Score(AddsUp):
    """Precision, recall and F1 in 0..1 from their numerators and denominators."""

    recall_numerator: float
    recall_denominator: float
    precision_numerator: float
    precision_denominator: float

    @property
    def precision(self) -> float:
        return ratio(self.precision_numerator, self.precision_denominator)

    @property
    def recall(self) -> float:
        return ratio(self.recall_numerator, self.recall_denominator)

    @property
    def f1(self) -> float:
        return harmonic_mean(self.precision, self.recall)

    def to_dict(self) -> dict[str, float]:
        """All numbers under their names."""
        return attributes(self, "precision recall f1") | attributes(self)


NOTHING = Score(0.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Mean(AsFields):
    """A plain mean of precisions, of recalls and of F1s.

    Its F1 is the mean of the F1s and not the harmonic mean of its precision and recall.
    """

    precision: float
    recall: float
    f1: float

    @classmethod
    def of(cls, scores: Iterable[Score | Blanc | Mean]) -> Mean:
        each = list(scores)
        sums = (sum(getattr(s, name) for s in each) for name in ("precision", "recall", "f1"))
        return cls(*(total / len(each) for total in sums))


@dataclass(frozen=True, slots=True)
class Blanc(AddsUp):
    """BLANC with system mentions (Luo et al. 2014): scores of coreference links and of non-links.

    Precision, recall and F1 are each the mean over the two kinds (F1 is not the harmonic mean of the
    means). A key without coreference links has its non-link scores alone, a key without non-links its
    link scores alone (Recasens and Hovy 2011, as the reference scorer); a key of fewer than two mentions
    has neither, and the scores of its mentions stand in.
    """

    link: Score
    non_link: Score
    mention: Score

    @property
    def _parts(self) -> list[Score]:
        return [part for part in (self.link, self.non_link) if part.recall_denominator] or [self.mention]

    @property
    def precision(self) -> float:
        return Mean.of(self._parts).precision

    @property
    def recall(self) -> float:
        return Mean.of(self._parts).recall

    @property
    def f1(self) -> float:
        return Mean.of(self._parts).f1

    def to_dict(self) -> dict[str, Any]:
        return attributes(self, "precision recall f1 link non_link")


@dataclass(frozen=True, slots=True)
class ClusterScores(AddsUp):
    """All cluster metrics of a document, a book or a pool of them."""

    muc: Score
    b_cubed: Score
    ceaf_e: Score
    ceaf_m: Score
    blanc: Blanc
    lea: Score
    mentions: Score

    @property
    def conll(self) -> Mean:
        """The CoNLL-2012 mean of MUC, B3 and CEAF-e: of the F1s, and likewise of P and of R."""
        return Mean.of((self.muc, self.b_cubed, self.ceaf_e))

    def named(self) -> dict[str, Score | Blanc | Mean]:
        """Every score by its name, in the order in which the field prints them."""
        return {name: getattr(self, name) for name in LABELS}

    def to_dict(self) -> dict[str, Any]:
        return attributes(self, " ".join(LABELS))


LABELS = {
    "muc": "MUC", "b_cubed": "B3", "ceaf_e": "CEAF-e", "conll": "CoNLL", "ceaf_m": "CEAF-m",
    "blanc": "BLANC", "lea": "LEA", "mentions": "mentions",
}  # fmt: skip
"""How each metric is printed."""


def macro(scores: Iterable[ClusterScores]) -> dict[str, Mean]:
    """The plain mean over documents of each P, of each R and of each F1, by metric (empty for none).

    The BookCoref paper's Table 2 has F1s that are not the harmonic mean of its P and R, as such means
    are; its evaluation code pools. Both are given, under different names.
    """
    each = [one.named() for one in scores]
    return {name: Mean.of(one[name] for one in each) for name in LABELS} if each else {}


def pool(scores: Iterable[ClusterScores]) -> ClusterScores:
    """Scores of several documents together: numerators and denominators added."""
    blanc = Blanc(NOTHING, NOTHING, NOTHING)
    return sum(scores, start=ClusterScores(NOTHING, NOTHING, NOTHING, NOTHING, blanc, NOTHING, NOTHING))
