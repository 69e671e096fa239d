"""Confidence intervals, and tests between two systems, by resampling parts of books.

**Test.** Approximate randomisation (Noreen 1989): in a random half of the parts the two systems exchange
their output, both are scored anew, and p is the share of exchanges whose difference is at least as large
as the observed one. What is exchanged is the output of a part: all mentions that start in it, with their
clusters. Where a window is scored on its own, its clusters go over as they are; in mode `full` the
clusters of the two systems are aligned first (`exchange`), so that the parts of a mixture hang together.
The test holds when the errors of one part say nothing about those of the next. An error made all through
a book (two characters merged) breaks that, and no test on one book can see through it: only more books
can (`unit="book"`). `benchmarks/bench_significance.py` measures how often equal systems are told apart.

**Intervals.** Where scores are sums over the parts (windowed modes, whole books) the parts are drawn with
replacement. The percentiles are widened for few parts as Hesterberg (2015) does, and so is the p of the
paired bootstrap: tail z becomes z sqrt((n - 1) / n) of Student's t with n - 1 degrees of freedom. In mode
`full` a part drawn twice would hold copies of mentions, and so links that no text has. There each part is
left out once and the rest is scored (the delete-one jackknife), with Student's t.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from ..errors import UsageError
from ..progress import Progress, Silent
from .arrays import Bools, Floats, Ints
from .evaluation import Evaluation, book_overlaps
from .exchange import COUNTED, BookParts, blanc_rows
from .metrics import PARTS, blanc, overlaps
from .modes import BookPair
from .resampling_units import UNITS, part_starts, scored_unit_groups
from .scores import LABELS

METRICS = tuple(LABELS)
FEWEST_UNITS = 10
"""With fewer units false positives and too narrow intervals become common."""

_CONLL = tuple(COUNTED.index(name) for name in ("muc", "b_cubed", "ceaf_e"))
_BLANC = tuple(COUNTED.index(name) for name in ("link", "non_link", "blanc_mention"))
# Sums of the same numbers in another order: differences this small are none.
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Interval:
    """A value and the bounds of its confidence interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """One metric: F1 of the response, of the other system, and their difference (response - other).

    Without another system `other`, `difference` and the p-values are None; `p_bootstrap` is None too
    where the bootstrap does not apply (mode full, parts of a book).
    """

    metric: str
    response: Interval
    other: Interval | None = None
    difference: Interval | None = None
    p_bootstrap: float | None = None
    p_randomisation: float | None = None


@dataclass(frozen=True, slots=True)
class Resampling:
    """The result of resampling, with everything needed to repeat it.

    `intervals`: "bootstrap" or "jackknife". `notes`: what the figures can and cannot show.
    """

    unit: str
    units: int
    samples: int
    seed: int
    confidence: float
    intervals: str
    metrics: tuple[Comparison, ...]
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        return asdict(self) | {"metrics": [asdict(m) for m in self.metrics], "notes": list(self.notes)}


def resample(
    evaluation: Evaluation,
    other: Evaluation | None = None,
    *,
    samples: int = 1000,
    seed: int = 0,
    unit: str = "window",
    confidence: float = 0.95,
    few_units: bool = False,
    progress: Progress | None = None,
) -> Resampling:
    """Intervals for an evaluation, or a test against another one with the same key and rules.

    Args:
        unit: "window" (of the rules' window size), "chapter" or "book".
        few_units: go on with fewer than `FEWEST_UNITS` units; a note then says what that means.

    Raises:
        UsageError: too few units or samples, unknown unit, no chapters found, or the two evaluations are
            not about the same key documents under the same rules.
    """
    if unit not in UNITS:
        raise UsageError(f"no resampling unit {unit!r}", expected=f"one of {', '.join(UNITS)}")
    if samples < 100:
        raise UsageError("too few samples for an interval", expected="at least 100", found=samples)
    if not 0 < confidence < 1:
        raise UsageError("the confidence must lie between 0 and 1", found=confidence)
    if other is not None:
        _check_same_key(evaluation, other)
    systems = (evaluation,) if other is None else (evaluation, other)
    whole = evaluation.rules.mode == "full" and unit != "book"
    parts: _Additive | _Rescored = _Rescored(systems, unit) if whole else _Additive(systems, unit)
    _check_units(parts.units, unit, few_units)
    rng = np.random.default_rng(seed)
    low_high, p_bootstrap = parts.intervals(rng, samples, confidence)
    p_values = parts.randomise(rng, samples, progress or Silent()) if other is not None else None
    values = [_f1(parts.total(i)) for i in range(len(systems))]
    if other is not None:
        values.append(values[0] - values[1])
    found = []
    for m, metric in enumerate(METRICS):
        cells = [Interval(float(v[m]), *bounds[m]) for v, bounds in zip(values, low_high, strict=True)]
        if p_values is None:
            found.append(Comparison(metric, cells[0]))
            continue
        boot = None if p_bootstrap is None else p_bootstrap[m]
        found.append(Comparison(metric, cells[0], cells[1], cells[2], boot, float(p_values[m])))
    notes = _notes(unit, parts.units, evaluation, compared=other is not None)
    intervals = "jackknife" if whole else "bootstrap"
    return Resampling(unit, parts.units, samples, seed, confidence, intervals, tuple(found), notes)


def _check_units(units: int, unit: str, few_units: bool) -> None:
    if units >= FEWEST_UNITS or (few_units and units >= 2):
        return
    cure = "--unit window" if unit != "window" else "a smaller --window-size"
    force = "; --few-units goes on all the same" if units >= 2 else ""
    raise UsageError(
        f"too few units to resample: {units} {unit}{'s' * (units != 1)}",
        expected=f"at least {FEWEST_UNITS}",
        found=units,
        hint=f"try {cure}{force}",
    )


def _notes(unit: str, units: int, evaluation: Evaluation, *, compared: bool) -> tuple[str, ...]:
    notes = []
    if units < FEWEST_UNITS:
        notes.append(f"only {units} {unit}s: p-values and intervals mean little")
    if compared:
        what = "books" if unit == "book" else f"{unit}s of a book"
        notes.append(f"p: output of the two systems exchanged by {unit}; valid when errors in different "
                     f"{what} are independent")  # fmt: skip
    if compared and unit != "book":
        notes.append(
            "an error that a system makes all through a book (such as two characters merged) makes the "
            "difference look certain; no test on one book can tell it from chance, only more books can"
        )
    elif not compared and unit != "book":
        these = "this book" if len(evaluation.books) == 1 else "these books"
        notes.append(f"the intervals are about {these}, not about others")
    return tuple(notes)


def _check_same_key(a: Evaluation, b: Evaluation) -> None:
    if a.rules != b.rules:
        differing = [n for n, v in a.rules.to_dict().items() if b.rules.to_dict()[n] != v]
        raise UsageError(
            "the two systems were not scored under the same rules",
            found=f"other values of {', '.join(differing)}",
        )
    first, second = ({book.doc_key: (book.key_mentions, book.units) for book in e.books} for e in (a, b))
    lacking = [name for name in first if name not in second]
    added = [name for name in second if name not in first]
    differing = [name for name in first if name in second and first[name] != second[name]]
    if not (lacking or added or differing):
        return
    found = (
        ("only in the scores of the first", lacking),
        ("only in those of the second", added),
        ("scored on other windows or mentions of the key", differing),
    )
    raise UsageError(
        "the two systems were not scored on the same documents of the key",
        expected=f"the same {len(first)} document{'s' * (len(first) != 1)} for both",
        found="; ".join(f"{what}: {', '.join(names[:8])}" for what, names in found if names),
        hint="give both systems every document of the key, or --missing empty",
    )


class _Additive:
    """Parts whose counts add up to the score: windows scored on their own, whole books."""

    def __init__(self, systems: Sequence[Evaluation], unit: str) -> None:
        self._counts = [
            np.concatenate([_unit_counts(book.book, system, unit) for book in system.books])
            for system in systems
        ]
        self.units = len(self._counts[0])

    def total(self, system: int) -> Floats:
        total: Floats = self._counts[system].sum(axis=0)
        return total

    def intervals(
        self, rng: np.random.Generator, samples: int, confidence: float
    ) -> tuple[list[list[tuple[float, float]]], list[float] | None]:
        """Bounds by system (the last: of the difference) and metric, and p of the paired bootstrap."""
        n = self.units
        weights = rng.multinomial(n, np.full(n, 1 / n), size=samples).astype(float)
        drawn = [_f1(_weighted(weights, counts)) for counts in self._counts]
        if len(drawn) == 1:
            return [_percentiles(drawn[0], n, confidence)], None
        difference = drawn[0] - drawn[1]
        observed = _f1(self.total(0)) - _f1(self.total(1))
        p = [_p_bootstrap(float(observed[m]), difference[:, m], n) for m in range(len(METRICS))]
        return [_percentiles(values, n, confidence) for values in (*drawn, difference)], p

    def randomise(self, rng: np.random.Generator, samples: int, progress: Progress) -> Floats:
        """p by metric."""
        a, b = self._counts
        swap = rng.integers(0, 2, (samples, self.units)).astype(float)
        first = self.total(0) + _weighted(swap, b - a)
        second = self.total(0) + self.total(1) - first
        return _p_randomisation(_f1(first) - _f1(second), _f1(self.total(0)) - _f1(self.total(1)))


class _Rescored:
    """Parts of whole books in mode full: every mixture is scored anew."""

    def __init__(self, systems: Sequence[Evaluation], unit: str) -> None:
        rules = systems[0].rules
        self._systems = len(systems)
        self._books = [
            BookParts(
                [overlaps(s.books[i].book.key, s.books[i].book.response, duplicates=rules.duplicates)
                 for s in systems],
                part_starts(systems[0].books[i].book, unit, rules.window_size),
                drop_singletons=rules.singletons == "drop",
            )
            for i in range(len(systems[0].books))
        ]  # fmt: skip
        self.units = sum(book.parts for book in self._books)

    def total(self, system: int) -> Floats:
        rows: Floats = np.sum([b.counts(self._only(b, system)) for b in self._books], axis=0)
        return rows

    def _only(self, book: BookParts, system: int) -> Bools:
        chosen = np.zeros((self._systems, book.parts), bool)
        chosen[system] = True
        return chosen

    def intervals(
        self, rng: np.random.Generator, samples: int, confidence: float
    ) -> tuple[list[list[tuple[float, float]]], list[float] | None]:
        """Bounds by the jackknife; there is no bootstrap here (see the top of the module)."""
        without = [np.stack(self._without(system)) for system in range(self._systems)]
        values = [_f1(self.total(system)) for system in range(self._systems)]
        left_out = [_f1(counts) for counts in without]
        if self._systems == 2:
            values.append(values[0] - values[1])
            left_out.append(left_out[0] - left_out[1])
        n = self.units
        reach = _student(1 - (1 - confidence) / 2, n - 1)
        found = []
        for i, (value, others) in enumerate(zip(values, left_out, strict=True)):
            spread = (n - 1) / n * np.square(others - others.mean(axis=0)).sum(axis=0)
            lowest = -1.0 if i == 2 else 0.0
            half = reach * np.sqrt(spread)
            low, high = np.maximum(value - half, lowest), np.minimum(value + half, 1.0)
            found.append(list(zip(low.tolist(), high.tolist(), strict=True)))
        return found, None

    def _without(self, system: int) -> list[Floats]:
        """The pooled counts with each part left out."""
        whole = [book.counts(self._only(book, system)) for book in self._books]
        pooled = np.sum(whole, axis=0)
        found = []
        for book, counts in zip(self._books, whole, strict=True):
            for part in range(book.parts):
                chosen = self._only(book, system)
                chosen[system, part] = False
                found.append(pooled - counts + book.counts(chosen, chosen[system]))
        return found

    def randomise(self, rng: np.random.Generator, samples: int, progress: Progress) -> Floats:
        """p by metric."""
        differences = np.zeros((samples, len(METRICS)))
        progress.begin("exchanging output", samples, "samples")
        for sample in range(samples):
            pooled = np.zeros((2, len(COUNTED), 4))
            for book in self._books:
                swap = rng.integers(0, 2, book.parts).astype(bool)
                pooled[0] += book.counts(np.stack([~swap, swap]))
                pooled[1] += book.counts(np.stack([swap, ~swap]))
            differences[sample] = _f1(pooled[0]) - _f1(pooled[1])
            progress.advance("exchanging output")
        progress.end("exchanging output")
        return _p_randomisation(differences, _f1(self.total(0)) - _f1(self.total(1)))


def _unit_counts(book: BookPair, evaluation: Evaluation, unit: str) -> Floats:
    """(groups, COUNTED, 4): the counts of every unit of a book that resampling draws as one."""
    both = book_overlaps(book, evaluation.rules)
    result = np.zeros((book.units, len(COUNTED), 4))
    for m, metric in enumerate(PARTS):
        tables, parts = both.of(metric), both.parts(metric)
        columns: tuple[tuple[Ints, Floats], ...] = (
            (tables.key.cluster_unit, parts.recall_num),
            (tables.key.cluster_unit, parts.recall_den),
            (tables.response.cluster_unit, parts.precision_num),
            (tables.response.cluster_unit, parts.precision_den),
        )
        for v, (place, values) in enumerate(columns):
            result[:, m, v] = np.bincount(place, weights=values, minlength=book.units)
    for u, value in enumerate(blanc(both.once.contingency, book.units)):
        result[u, len(PARTS) :] = blanc_rows(value)
    if unit == "book":
        whole: Floats = result.sum(axis=0, keepdims=True)
        return whole
    group, groups = scored_unit_groups(book, unit, evaluation.rules.window_size)
    grouped = np.zeros((groups, *result.shape[1:]))
    np.add.at(grouped, group, result)
    return grouped


def _weighted(weights: Floats, counts: Floats) -> Floats:
    sums: Floats = weights @ counts.reshape(len(counts), -1)
    return sums.reshape(len(weights), *counts.shape[1:])


def _f1(counts: Floats) -> Floats:
    """F1 by metric, in the order of METRICS, from (..., COUNTED, 4) sums."""
    recall = _ratio(counts[..., 0], counts[..., 1])
    precision = _ratio(counts[..., 2], counts[..., 3])
    f1 = _ratio(2 * precision * recall, precision + recall)
    special = {"conll": f1[..., list(_CONLL)].mean(axis=-1), "blanc": _blanc_f1(f1, counts)}
    columns = [special[m] if m in special else f1[..., COUNTED.index(m)] for m in METRICS]
    return np.stack(columns, axis=-1)


def _blanc_f1(f1: Floats, counts: Floats) -> Floats:
    """The mean over the kinds of links that the key has; the score of mentions where it has neither."""
    kinds = list(_BLANC[:2])
    there = counts[..., kinds, 1] > 0
    number = there.sum(axis=-1)
    mean = _ratio((f1[..., kinds] * there).sum(axis=-1), number.astype(float))
    return np.where(number > 0, mean, f1[..., _BLANC[2]])


def _ratio(a: Floats, b: Floats) -> Floats:
    return np.divide(a, b, out=np.zeros_like(a), where=b > 0)


def _student(probability: float, freedom: int) -> float:
    """The quantile of Student's t."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, probability))


def _percentiles(drawn: Floats, units: int, confidence: float) -> list[tuple[float, float]]:
    """Percentile intervals by metric, widened for few units (Hesterberg 2015, "expanded percentile")."""
    reach = _student(1 - (1 - confidence) / 2, units - 1) * (units / (units - 1)) ** 0.5
    tail = NormalDist().cdf(-reach)
    low, high = np.quantile(drawn, [tail, 1 - tail], axis=0)
    return list(zip(low.tolist(), high.tolist(), strict=True))


def _p_bootstrap(observed: float, differences: Floats, units: int) -> float:
    """Two-sided, from the share of samples without the observed sign, widened like the intervals."""
    if abs(observed) <= _ROUNDING:
        return 1.0
    from scipy.special import stdtr

    against = differences <= 0 if observed > 0 else differences >= 0
    tail = (float(against.sum()) + 1) / (differences.size + 1)
    if tail >= 0.5:
        return 1.0
    z = NormalDist().inv_cdf(tail) * ((units - 1) / units) ** 0.5
    return float(2 * stdtr(units - 1, z))


def _p_randomisation(exchanged: Floats, observed: Floats) -> Floats:
    """How often an exchange gives as large a difference; the observed one counts as one of them."""
    as_large = np.abs(exchanged) >= np.abs(observed) - _ROUNDING
    p: Floats = (as_large.sum(axis=0) + 1) / (len(exchanged) + 1)
    return p
