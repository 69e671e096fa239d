"""Confidence intervals and significance tests between two systems, by resampling parts of books.

Three books are too few to resample, so the resampled units are windows or chapters (Koehn 2004 resamples
sentences, Berg-Kirkpatrick et al. 2012 discuss the test). In the windowed modes a window's numerators and
denominators are those of its own clusters. In mode full the score is not cut: every unit carries the
shares (`shares`) of the mentions that start in it, so that the sum over units is the full-book score and
the point estimate is the one `evaluate` prints. Mentions of a cluster in different units are then treated
as exchangeable; a system that confuses two characters throughout a book varies less under resampling than
over new books would: the intervals speak of these books, not of books not seen.

Two tests are given: the paired bootstrap (how often the difference changes sign when units are drawn with
replacement; two-sided) and approximate randomisation (Noreen 1989: how often a random exchange of the
systems' units makes a difference as large as the observed one).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..books import cut_windows
from ..errors import UsageError
from .evaluation import Evaluation, book_overlaps
from .modes import BookPair
from .shares import SHARED_METRICS, shares

UNITS = ("window", "chapter", "book")

_CONLL = tuple(SHARED_METRICS.index(name) for name in ("muc", "b_cubed", "ceaf_e"))
METRICS = ("muc", "b_cubed", "ceaf_e", "conll", "ceaf_m", "lea", "mentions")
"""BLANC is no sum over units of a full book and is not resampled."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A value and the bounds of its confidence interval (percentiles of the resampled values)."""

    value: float
    low: float
    high: float

    def to_dict(self) -> dict:
        return {"value": self.value, "low": self.low, "high": self.high}


@dataclass(frozen=True, slots=True)
class Comparison:
    """One metric: F1 of the response, of the other system, and their difference (response - other).

    Without another system `other`, `difference` and the p-values are None.
    """

    metric: str
    response: Interval
    other: Interval | None = None
    difference: Interval | None = None
    p_bootstrap: float | None = None
    p_randomisation: float | None = None

    def to_dict(self) -> dict:
        return {
            "metric": self.metric,
            "response": self.response.to_dict(),
            "other": self.other and self.other.to_dict(),
            "difference": self.difference and self.difference.to_dict(),
            "p_bootstrap": self.p_bootstrap,
            "p_randomisation": self.p_randomisation,
        }


@dataclass(frozen=True, slots=True)
class Resampling:
    """The result of resampling, with everything needed to repeat it."""

    unit: str
    units: int
    samples: int
    seed: int
    confidence: float
    metrics: tuple[Comparison, ...]

    def to_dict(self) -> dict:
        return {
            "unit": self.unit,
            "units": self.units,
            "samples": self.samples,
            "seed": self.seed,
            "confidence": self.confidence,
            "metrics": [m.to_dict() for m in self.metrics],
        }


def resample(
    evaluation: Evaluation,
    other: Evaluation | None = None,
    *,
    samples: int = 1000,
    seed: int = 0,
    unit: str = "window",
    confidence: float = 0.95,
) -> Resampling:
    """Bootstrap an evaluation, or test it against another one with the same key and rules.

    Raises:
        UsageError: fewer than two units, too few samples, unknown unit, no chapters found, or the two
            evaluations are not about the same key documents under the same rules.
    """
    if unit not in UNITS:
        raise UsageError(f"no resampling unit {unit!r}", expected=f"one of {', '.join(UNITS)}")
    if samples < 100:
        raise UsageError("too few samples for an interval", expected="at least 100", found=samples)
    if not 0 < confidence < 1:
        raise UsageError("the confidence must lie between 0 and 1", found=confidence)
    if other is not None:
        _check_same_key(evaluation, other)
    counts = unit_counts(evaluation, unit)
    if len(counts) < 2:
        cure = "a smaller --window-size" if unit == "window" else "--unit window"
        raise UsageError(
            f"cannot resample {len(counts)} {unit}(s)", expected="two or more", hint=f"try {cure}"
        )
    rng = np.random.default_rng(seed)
    weights = rng.multinomial(len(counts), np.full(len(counts), 1 / len(counts)), size=samples)
    first = _f1(counts.sum(axis=0)), _resampled_f1(weights, counts)
    if other is None:
        found = [Comparison(m, _interval(first, i, confidence)) for i, m in enumerate(METRICS)]
        return Resampling(unit, len(counts), samples, seed, confidence, tuple(found))
    other_counts = unit_counts(other, unit)
    second = _f1(other_counts.sum(axis=0)), _resampled_f1(weights, other_counts)
    difference = first[0] - second[0], first[1] - second[1]
    p_randomisation = _randomise(counts, other_counts, np.abs(difference[0]), samples, rng)
    found = [
        Comparison(
            metric,
            *(_interval(each, i, confidence) for each in (first, second, difference)),
            _p_bootstrap(difference[0][i], difference[1][:, i]),
            float(p_randomisation[i]),
        )
        for i, metric in enumerate(METRICS)
    ]
    return Resampling(unit, len(counts), samples, seed, confidence, tuple(found))


def _check_same_key(a: Evaluation, b: Evaluation) -> None:
    books = [[(book.doc_key, book.key_mentions, book.units) for book in e.books] for e in (a, b)]
    if books[0] != books[1] or a.rules != b.rules:
        raise UsageError(
            "the two systems were not scored on the same documents of the key under the same rules",
            expected=books[0],
            found=books[1],
            hint="give both systems every document of the key, or --missing empty",
        )


def unit_counts(evaluation: Evaluation, unit: str) -> np.ndarray:
    """(units, metrics, 4) numerators and denominators in the order of `SHARED_METRICS` and `Score`."""
    blocks = [_book_counts(book.book, evaluation, unit) for book in evaluation.books]
    return np.concatenate(blocks)


def _book_counts(book: BookPair, evaluation: Evaluation, unit: str) -> np.ndarray:
    both = book_overlaps(book, evaluation.rules)
    own_windows = unit == "window" and evaluation.rules.mode != "full"
    bounds = None if own_windows else np.array(_starts(book, unit, evaluation.rules.window_size))
    count = book.units if own_windows else len(bounds)
    result = np.zeros((count, len(SHARED_METRICS), 4))
    for m, metric in enumerate(SHARED_METRICS):
        share = shares(both, metric)
        for s, side in enumerate((share.key, share.response)):
            if own_windows:
                place = side.mentions.unit
            else:
                place = np.clip(np.searchsorted(bounds, side.mentions.start, side="right") - 1, 0, None)
            for v, values in enumerate((side.numerator, side.denominator)):
                result[:, m, 2 * s + v] = np.bincount(place, weights=values, minlength=count)
    return result


def _starts(book: BookPair, unit: str, size: int) -> list[int]:
    """First token of every unit of a book."""
    if unit == "book":
        return [0]
    if unit == "chapter":
        return _chapter_starts(book)
    if book.sentence_ends is None:
        return list(range(0, max(book.length, 1), size))
    return [w.start for w in cut_windows(book.sentence_ends, size)]


_HEADINGS = {"chapter", "letter", "canto", "chap.", "chap"}
_NUMBER_WORDS = """
    one two three four five six seven eight nine ten eleven twelve first second third last the
"""
_NUMBERS = set(_NUMBER_WORDS.split())
_BEFORE_HEADING = {"\n", ".", "!", "?", '"', "”", "’", "'", "_", "*"}


def _chapter_starts(book: BookPair) -> list[int]:
    """Tokens that open a chapter: "Chapter" with a number where a sentence or line begins, or "CHAPTER"."""
    tokens, ends = book.tokens, book.sentence_ends
    if tokens is None or ends is None:
        raise UsageError(
            f"{book.doc_key}: chapters need text, and neither side has any", hint="use --unit window"
        )
    openers = {0, *ends}
    starts = [
        i
        for i, (token, following) in enumerate(pairwise(tokens))
        if token[:1].isupper()
        and token.lower() in _HEADINGS
        and _is_number(following)
        and (i in openers or token.isupper() or tokens[i - 1] in _BEFORE_HEADING)
    ]
    if len(starts) < 2:
        raise UsageError(
            f"{book.doc_key}: found {len(starts)} chapter headings",
            expected="lines such as 'Chapter 1' or 'CHAPTER IV.'",
            hint="--unit window needs no headings",
        )
    return starts if starts[0] == 0 else [0, *starts]


def _is_number(token: str) -> bool:
    token = token.rstrip(".:").lower()
    return token.isdigit() or token in _NUMBERS or (bool(token) and not token.strip("ivxlcdm"))


def _f1(counts: np.ndarray) -> np.ndarray:
    """F1 by metric, in the order of METRICS, from (..., metrics, 4) sums."""
    recall = _ratio(counts[..., 0], counts[..., 1])
    precision = _ratio(counts[..., 2], counts[..., 3])
    f1 = _ratio(2 * precision * recall, precision + recall)
    conll = f1[..., list(_CONLL)].mean(axis=-1)
    columns = [conll if m == "conll" else f1[..., SHARED_METRICS.index(m)] for m in METRICS]
    return np.stack(columns, axis=-1)


def _ratio(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.divide(a, b, out=np.zeros_like(a), where=b > 0)


def _resampled_f1(weights: np.ndarray, counts: np.ndarray) -> np.ndarray:
    sums = weights @ counts.reshape(len(counts), -1)
    return _f1(sums.reshape(len(weights), *counts.shape[1:]))


def _interval(values: tuple[np.ndarray, np.ndarray], i: int, confidence: float) -> Interval:
    tail = (1 - confidence) / 2
    low, high = np.quantile(values[1][:, i], [tail, 1 - tail])
    return Interval(float(values[0][i]), float(low), float(high))


def _p_bootstrap(observed: float, differences: Sequence[float]) -> float:
    """Two-sided: twice the share of samples in which the difference has not the observed sign."""
    differences = np.asarray(differences)
    against = (differences <= 0).sum() if observed > 0 else (differences >= 0).sum()
    if observed == 0:
        return 1.0
    return min(1.0, 2 * float(against + 1) / (differences.size + 1))


def _randomise(a: np.ndarray, b: np.ndarray, observed: np.ndarray, samples: int, rng) -> np.ndarray:
    """p by metric: how often exchanging the systems in random units gives as large a difference."""
    swap = rng.integers(0, 2, (samples, len(a))).astype(float)
    total, gap = a + b, (b - a).reshape(len(a), -1)
    first = a.sum(axis=0).reshape(-1) + swap @ gap
    second = total.sum(axis=0).reshape(-1) - first
    shape = (samples, *a.shape[1:])
    # Sums of shares carry rounding errors: equal differences must count as equal.
    as_large = np.abs(_f1(first.reshape(shape)) - _f1(second.reshape(shape))) >= observed - 1e-12
    return (as_large.sum(axis=0) + 1) / (samples + 1)
