"""Confidence intervals, and tests between two systems, by taking books apart into units.

**Effects.** The difference of two systems is taken apart into what each unit of the books does to it: half
the change of the difference when the two exchange their output in that unit alone (`exchange`); of one system
alone, what the score loses without the unit (the jackknife).
**Test.** Approximate randomisation (Noreen 1989) over these effects. What they lack of the difference, since
scores are no plain sums, is shared out by size among the units that have any. **Interval** of the difference:
all that the test would not reject, so it holds 0 just where p says so; of one system: the jackknife with
Student's t. All allow for errors that reach into the next block.

**Units.** Blocks of text, or the characters of the key where errors last: with the unit "auto" the data
choose, metric by metric (`_Systems.chosen`). With ten books or more, books. docs/significance.md says when no
p-value is given; `benchmarks/bench_significance.py` measures how often equal systems are told apart.
"""

from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass, replace
from functools import partial
from math import ceil
from statistics import NormalDist

import numpy as np

from ..errors import UsageError, plural, require_choice
from ..late import scipy
from ..progress import Progress, followed
from ..shapes import AsFields
from .assignment import Bools, Floats
from .evaluation import Evaluation
from .exchange import ALIGNED, COARSE, COUNTED, Blocks, Chains, Crossings, ExchangeParts, Units, block_starts
from .metrics import PARTS, overlaps
from .scores import LABELS

METRICS = tuple(LABELS)
UNITS = ("auto", "block", "character", "chapter", "book")
DEFAULT_BLOCK = 3500
"""Tokens of a block: episodes of a story should fit into it, and a book should have ten."""
FEWEST_UNITS = 10
"""With fewer units false positives and too narrow intervals become common."""
LEAST_BEARING = 2.0
"""Least number of units that bear the difference (`_Effects.bearing`) for a p-value to be given."""
MOST_TOGETHER = 0.5
"""Standard errors by which the effects of a character may go together before characters are the units."""
FAR_MORE = 2
"""With so many times the variance of blocks, characters are the units if they go together at all."""
MOST_MEDIANS = 2
"""Times the median effect that one character counts for at most in one half of a test."""
LEVEL, POWER = 0.05, 0.8
"""Of the books that would be needed: the level of the test, and its chance to see the difference."""

_CONLL = tuple(COUNTED.index(name) for name in ("muc", "b_cubed", "ceaf_e"))
_BLANC = tuple(COUNTED.index(name) for name in ("link", "non_link", "blanc_mention"))
_SEARCHED = [METRICS.index(name) for name in (*ALIGNED, "conll")]
_SEARCHED_AS = [METRICS.index(name) for name in ("b_cubed", "lea")]
_SILENT = "no p-value for"
# Sums of the same numbers in another order: differences this small are none.
_ROUNDING = 1e-12
_HALVINGS = 14


@dataclass(frozen=True, slots=True)
class Interval:
    """A value and the bounds of its confidence interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """One metric: F1 of the response, of the other system, and their difference (response - other).

    Without another system `other`, `difference` and `p` are None. `p` is None, too, where the data cannot
    support one. `unit` is what was exchanged, `units` how many there were. `books_needed`: books like
    these that would show a difference like this one. `p_adjusted`: for all pairs of a family (Holm).
    """

    metric: str
    response: Interval
    other: Interval | None = None
    difference: Interval | None = None
    p: float | None = None
    p_adjusted: float | None = None
    unit: str = "block"
    units: int = 0
    books_needed: int | None = None


@dataclass(frozen=True, slots=True)
class Resampling(AsFields):
    """The result of resampling, with everything needed to repeat it.

    `units` counts those of `unit` ("auto": of blocks). `notes`: what the figures can and cannot show.
    """

    unit: str
    units: int
    block_size: int
    samples: int
    seed: int
    confidence: float
    metrics: tuple[Comparison, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class _Effects:
    """What each unit does to a value: (units, METRICS). `weights`: its share of the key's mentions."""

    unit: str
    values: Floats
    weights: Floats

    @property
    def count(self) -> int:
        return int(self.weights.size)

    def _spread(self, total: Floats) -> Floats:
        """How far each effect lies from what the size of its unit lets expect."""
        return self.values - self.weights[:, None] * total

    def _completed(self, total: Floats) -> Floats:
        """`_spread` of effects that add up to the total: what is lacking goes where there are any."""
        sizes = self.weights[:, None] * (np.abs(self.values) > _ROUNDING)
        shares = _ratio(sizes, sizes.sum(axis=0))
        return np.asarray(self._spread(total) + shares * (total - self.values.sum(axis=0)))

    def variance(self, total: Floats) -> Floats:
        """Of the sum, by metric.

        Spread around an average of few units looks smaller than it is, most of all where one is large. That
        is made good for units whose errors grow with their size.
        """
        squares, cubes = (float((self.weights**n).sum()) for n in (2, 3))
        seen = 1 - 2 * cubes / squares + squares
        own = np.square(self._spread(total)).sum(axis=0) / max(seen, 1 / self.count)
        return np.asarray(own * self._reach(total))

    def _reach(self, total: Floats) -> Floats:
        """How many times the variance grows as the effects of neighbouring blocks go together."""
        spread = self._spread(total)
        if self.unit != "block":
            return np.ones_like(total)
        both = (spread[1:] * spread[:-1]).sum(axis=0)
        return 1 + _ratio(both.clip(min=0), np.square(spread).sum(axis=0))

    def tested(
        self, total: Floats, rng: "np.random.Generator", samples: int, confidence: float
    ) -> tuple[Floats, Floats, Floats]:
        """By metric p, the share of exchanges with at least the observed sum (itself one of them), and the
        least and greatest difference that the same exchanges leave possible.

        Were `total + c` the true difference, the units would have the effects `spread - weights * c`, and an
        exchange would count where these sum to `c` or more: for all `c` from `low` < 0 to `high` > 0.
        """
        signs = rng.choice(np.array([-1.0, 1.0]), (samples, self.count))
        if self.unit == "character":
            return self._with_limits(total, signs, confidence)
        reach = np.sqrt(self._reach(total))
        sums = signs @ self._completed(total) * reach
        shares = (signs @ self.weights)[:, None] * reach
        with np.errstate(divide="ignore", invalid="ignore"):
            ends = np.stack([sums / (1 + shares), -sums / (1 - shares)])
        # An exchange of (nearly) everything counts for any difference.
        ends = np.where(np.abs(shares) < 1 - _ROUNDING, ends, np.array([-2.0, 2.0])[:, None, None])
        low, high = ends.min(axis=0) - _ROUNDING, ends.max(axis=0) + _ROUNDING
        p = (((low <= -total) & (-total <= high)).sum(axis=0) + 1) / (samples + 1)
        least = max(1, ceil((1 - confidence) * (samples + 1) - 1))
        ends = np.stack([total + np.sort(low, axis=0)[least - 1], total + np.sort(high, axis=0)[-least]])
        return p, *np.round(ends.clip(-1, 1), 11) + 0.0

    def _with_limits(self, total: Floats, signs: Floats, confidence: float) -> tuple[Floats, Floats, Floats]:
        """As `tested`, by the larger of two sums, each against its own spread: of the effects, and of the
        effects cut at `MOST_MEDIANS` times the median one. Where one character is taken for another in a
        whole book, these two drown in the first what all others say."""
        spread, still = self._completed(total), np.abs(self.values) <= _ROUNDING

        def share(c: Floats) -> Floats:
            effects = spread - self.weights[:, None] * c
            sizes = np.sort(np.where(still, 0, np.abs(effects)), axis=0)
            # The median of the units that do anything
            middle = np.minimum((still.sum(axis=0) + self.count) // 2, self.count - 1)
            most = MOST_MEDIANS * np.take_along_axis(sizes, middle[None], axis=0)
            whole, cut = (e / np.maximum(np.sqrt(np.square(e).sum(axis=0)), _ROUNDING)
                          for e in (effects, effects.clip(-most, most)))  # fmt: skip

            def larger(whole_sum: Floats, cut_sum: Floats) -> Floats:
                return np.maximum(np.abs(whole_sum), cut_sum * np.sign(whole_sum))

            own = larger(whole.sum(axis=0), cut.sum(axis=0))
            counted = (larger(signs @ whole, signs @ cut) >= own - _ROUNDING).sum(axis=0)
            return np.asarray((counted + 1) / (len(signs) + 1))

        p, ends = share(-total), []
        for side in (-1.0, 1.0):
            no_difference, rejected = side * total < 0, p < 1 - confidence
            inner = np.where(no_difference & ~rejected, np.abs(total), 0.0)
            outer = np.where(no_difference & rejected, np.abs(total), 2.0)
            for _ in range(_HALVINGS):
                between = (inner + outer) / 2
                possible = share(side * between) >= 1 - confidence
                inner, outer = np.where(possible, between, inner), np.where(possible, outer, between)
            ends.append(np.round((total + side * inner).clip(-1, 1), 11) + 0.0)
        return p, ends[0], ends[1]

    @property
    def bearing(self) -> Floats:
        """How many units bear the sum, by metric: 1 when one does alone, all when they do alike."""
        squares = np.square(self.values)
        return _ratio(np.square(squares.sum(axis=0)), np.square(squares).sum(axis=0))


def resample(
    evaluation: Evaluation, other: Evaluation | None = None, *, samples: int = 10_000, seed: int = 0, unit:
    str = "auto", block_size: int = DEFAULT_BLOCK, confidence: float = 0.95, few_units: bool = False,
    progress: Progress | None = None
) -> Resampling:  # fmt: skip
    """Intervals for an evaluation, or a test against another one with the same key and rules.

    Args:
        unit: one of `UNITS`, see the top of the module.
        block_size: tokens of a block; in the windowed modes a block holds whole windows.
        few_units: go on with fewer than `FEWEST_UNITS` units; a note then says what that means.

    Raises UsageError: too few units or samples, unknown unit, no chapters found, or the two evaluations are
    not about the same key documents under the same rules.
    """
    require_choice("resampling unit", unit, UNITS)
    if samples < 100 or block_size < 1:
        raise UsageError("too few samples or tokens", expected="at least 100 samples, a block of 1 token",
                         found=f"{samples} samples, {block_size} tokens")  # fmt: skip
    if not 0 < confidence < 1:
        raise UsageError("the confidence must lie between 0 and 1", found=confidence)
    if other is not None:
        _check_same_key(evaluation, other)
    if unit == "auto" and len(evaluation.books) >= FEWEST_UNITS:
        unit = "book"
    systems = [evaluation] if other is None else [evaluation, other]
    books = _Systems(systems, block_size, progress)
    blocks = books.by("block" if unit in ("auto", "character") else unit)
    exchanged = books.by(unit) if unit == "character" else blocks
    units = exchanged.units
    if units < FEWEST_UNITS and not (few_units and units >= 2):
        cure = "a smaller --block-size" if unit in ("auto", "block") else "--unit auto"
        force = "; --few-units goes on all the same" if units >= 2 else ""
        what = f"too few units to resample: {plural(units, 'block' if unit == 'auto' else unit)}"
        raise UsageError(what, expected=f"at least {FEWEST_UNITS}", found=units, hint=f"try {cure}{force}")
    # Of each system's score, by metric, with Student's t
    alone = []
    for i, values in enumerate(books.values):
        left = blocks.left_out(i)
        reach = scipy.special.stdtrit(left.count - 1, 1 - (1 - confidence) / 2)
        half = reach * np.sqrt(left.variance(left.values.sum(axis=0)))
        bounds = zip(values, np.maximum(values - half, 0.0), np.minimum(values + half, 1.0), strict=True)
        alone.append([Interval(*map(float, three)) for three in bounds])
    if other is None:
        found = [Comparison(m, one, unit=blocks.name, units=blocks.units)
                 for m, one in zip(METRICS, alone[0], strict=True)]  # fmt: skip
    else:
        effects = books.chosen(blocks) if unit == "auto" else [exchanged.exchanged()] * len(METRICS)
        found = _compared(books, effects, alone, seed, samples, confidence)
    notes = _notes(unit, units, evaluation, found)
    return Resampling(unit, units, block_size, samples, seed, confidence, tuple(found), notes)


def _compared(
    books: "_Systems", effects: list[_Effects], alone: list[list[Interval]], seed: int, samples: int,
    confidence: float,
) -> list[Comparison]:  # fmt: skip
    """The comparison of every metric by the effects of its units."""
    total = books.total
    tests = {of.unit: of.tested(total, np.random.default_rng(seed), samples, confidence) for of in effects}
    found = []
    for m, (metric, of) in enumerate(zip(METRICS, effects, strict=True)):
        variance, value = float(of.variance(total)[m]), float(total[m])
        tested, low, high = (float(of_all[m]) for of_all in tests[of.unit])
        same = abs(value) <= _ROUNDING
        bears = same or of.bearing[m] >= LEAST_BEARING
        p = 1.0 if same else tested if bears else None
        # Units that cannot support a p-value cannot support an interval that says what it would have said.
        apart = Interval(value, low, high) if bears else Interval(value, min(low, 0.0), max(high, 0.0))
        # Books for a test at `LEVEL` to see the difference with chance `POWER`
        reach = NormalDist().inv_cdf(1 - LEVEL / 2) + NormalDist().inv_cdf(POWER)
        needed = None if same else max(1, ceil(variance * books.count * reach**2 / value**2))
        found.append(Comparison(metric, alone[0][m], alone[1][m], apart, p, None, of.unit, of.count, needed))
    return found


@dataclass(frozen=True, slots=True, eq=False)
class _Division:
    """All books of some systems cut into units of one kind."""

    name: str
    books: list[ExchangeParts]
    weights: list[Floats]
    progress: Progress | None

    @property
    def units(self) -> int:
        return int(sum(np.count_nonzero(w) for w in self.weights))

    def exchanged(self, *, align: bool = True) -> _Effects:
        """What every unit does to the difference of the two systems; without `align` not in CEAF."""

        def counts(book: ExchangeParts, swap: Bools) -> Floats:
            both = [book.counts(np.stack(side, axis=1), align=align)
                    for side in ((~swap, swap), (swap, ~swap))]  # fmt: skip
            return np.stack(both, axis=2)

        def difference(counted: Floats) -> Floats:
            return _f1(counted[..., 0, :, :]) - _f1(counted[..., 1, :, :])

        return self._effects(counts, lambda all_, one: (difference(all_) - difference(one)) / 2)

    def left_out(self, system: int) -> _Effects:
        """What every unit adds to the score of a system, by the jackknife."""
        share = 1 - 1 / max(self.units, 1)

        def counts(book: ExchangeParts, out: Bools) -> Floats:
            chosen = np.zeros((len(out), book.systems, book.parts), bool)
            chosen[:, system] = ~out
            return book.counts(chosen, ~out)

        found = self._effects(counts, lambda all_, one: (_f1(all_) - _f1(one)) * share)
        return replace(found, weights=np.full(found.count, 1 / max(found.count, 1)))

    def _effects(
        self, counts: Callable[[ExchangeParts, Bools], Floats], effect: Callable[[Floats, Floats], Floats]
    ) -> _Effects:
        """From the counts of all books as they are, and with each unit changed."""
        wholes, changes = [], []
        both = zip(self.books, self.weights, strict=True)
        for book, weights in followed(both, self.progress, "taking apart", len(self.books), "books"):
            whole, change = book.changes(partial(counts, book))
            wholes.append(whole)
            changes.append(change[weights > 0])
        pooled = np.sum(wholes, axis=0)
        weights = np.concatenate(self.weights)
        weights = weights[weights > 0]
        values = effect(pooled, pooled + np.concatenate(changes))
        return _Effects(self.name, values, weights / max(weights.sum(), 1))


class _Systems:
    """The books of one or two systems, ready to be cut into any units. `values`: F1 by metric."""

    def __init__(self, systems: Sequence[Evaluation], block_size: int, progress: Progress | None) -> None:
        self._rules, self._size, self._progress = systems[0].rules, block_size, progress
        self._pairs = [book.book for book in systems[0].books]
        self.count = len(self._pairs)
        self._overlaps = [
            [overlaps(book.book.key, book.book.response, duplicates=self._rules.duplicates) for book in each]
            for each in zip(*(s.books for s in systems), strict=True)
        ]
        self.values = []
        for system in systems:
            counts = []
            for scores in (book.scores for book in system.books):
                links = scores.blanc.link, scores.blanc.non_link, scores.blanc.mention
                counts.append([astuple(s) for s in (*(getattr(scores, name) for name in PARTS), *links)])
            self.values.append(_f1(np.sum(counts, axis=0)))

    @property
    def total(self) -> Floats:
        """The difference of two systems, by metric."""
        return self.values[0] - self.values[1]

    def by(self, unit: str) -> _Division:
        """The books cut into "block", "character", "chapter", "book" or "cell" (character and block)."""
        books, weights = [], []
        whole = self._rules.mode == "full"
        for pair, sides in zip(self._pairs, self._overlaps, strict=True):
            text = "block" if unit in ("cell", "character") else unit
            blocks = Blocks(block_starts(pair, text, self._size, whole=whole))
            crossed = Crossings(blocks, Chains(pair, COARSE)) if unit == "cell" else blocks
            units: Units = Chains(pair) if unit == "character" else crossed
            drop = self._rules.singletons == "drop"
            windows = [start for start, _ in pair.bounds]
            books.append(ExchangeParts(sides, units, drop_singletons=drop, windows=windows))
            both = sides[0].chosen
            there = [units.of_key(both.key), *(units.of_response(side.chosen) for side in sides)]
            counts = [np.bincount(t, minlength=units.count) for t in there]
            weights.append(np.sum(counts, axis=0).astype(float))
        return _Division(unit, books, weights, self._progress)

    def chosen(self, blocks: _Division) -> list[_Effects]:
        """By metric the effects of the units that the data choose."""
        found = blocks.exchanged()
        cells = self.by("cell")
        counts = [cut.parts // COARSE for cut in cells.books]
        owners = [np.flatnonzero(w) % n for w, n in zip(cells.weights, counts, strict=True)]
        firsts = np.cumsum([0, *counts])
        each = np.concatenate([of + first for of, first in zip(owners, firsts, strict=False)])
        # How far the effects of one owner go together, in standard errors; CEAF's as those of B3 and LEA.
        # Were the errors in cells independent, the products of the effects of two cells would add up to 0.
        parts = cells.exchanged(align=False)
        spread = parts.values - parts.weights[:, None] * self.total
        sums, squares, fourth = (np.zeros((int(each.max()) + 1, len(METRICS))) for _ in range(3))
        for into, values in ((sums, spread), (squares, spread**2), (fourth, spread**4)):
            np.add.at(into, each, values)
        error = np.sqrt(2 * (np.square(squares) - fourth).sum(axis=0).clip(min=0))
        together = _ratio((np.square(sums) - squares).sum(axis=0), error)
        together[_SEARCHED] = together[_SEARCHED_AS].mean()
        if not (together > 0).any():
            return [found] * len(METRICS)
        characters = self.by("character").exchanged()
        more = characters.variance(self.total) / np.maximum(found.variance(self.total), _ROUNDING)
        last = ((together > MOST_TOGETHER) & (more > 1)) | ((together > 0) & (more > FAR_MORE))
        return [characters if one else found for one in last]


def _notes(unit: str, units: int, evaluation: Evaluation, found: Sequence[Comparison]) -> tuple[str, ...]:
    notes, name = [], "block" if unit == "auto" else unit
    if units < FEWEST_UNITS:
        notes.append(f"only {plural(units, name)}: p-values and intervals mean little")
    if unit != "book":
        these = "this book" if len(evaluation.books) == 1 else "these books"
        notes.append(f"intervals and tests are about {these}, not about others")
    silent = [c for c in found if c.difference is not None and c.p is None]
    if silent:
        needed = [c.books_needed for c in silent if c.books_needed is not None]
        notes.append(
            f"{_SILENT} {', '.join(LABELS[c.metric] for c in silent)}: the difference rests on errors "
            f"in fewer than {LEAST_BEARING:g} units; about {min(needed):,} to {max(needed):,} books like "
            "these would show one as large"
        )
    elif found and found[0].p is not None and unit != "book":
        notes.append("p: output of the two systems exchanged by unit; valid when errors in different units "
                     "are independent")  # fmt: skip
    return tuple(notes)


def adjusted(families: Sequence[Resampling], pairs: Sequence[tuple[str, str]]) -> list[Resampling]:
    """The comparisons of several pairs, p adjusted by Holm within each metric; one that is not there is 1."""
    values = np.array([[1.0 if c.p is None else c.p for c in one.metrics] for one in families])
    order = np.argsort(values, axis=0, kind="stable")
    factors = np.arange(len(values), 0, -1)[:, None]
    raised = np.minimum(np.maximum.accumulate(np.take_along_axis(values, order, 0) * factors, axis=0), 1.0)
    holm = np.empty_like(values)
    np.put_along_axis(holm, order, raised, 0)
    found = []
    for one, row, pair in zip(families, holm.tolist(), pairs, strict=True):
        metrics = [replace(c, p_adjusted=c.p and p) for c, p in zip(one.metrics, row, strict=True)]
        alone = [LABELS[c.metric] for c in metrics if c.p is not None and c.p < LEVEL <= (c.p_adjusted or 0)]
        names = f"{' and '.join(pair)}: "
        notes = [names * note.startswith(_SILENT) + note for note in one.notes]
        if alone:
            notes.append(f"{names}told apart in {', '.join(alone)} by their own interval, not by p adjusted "
                         f"for {len(families)} pairs")  # fmt: skip
        found.append(replace(one, metrics=tuple(metrics), notes=tuple(notes)))
    return found


def groups_alike(
    names: Sequence[str], pairs: Sequence[tuple[str, str]], found: Sequence[Resampling]
) -> dict[str, list[list[str]]]:
    """By metric the largest groups of systems of which no two are told apart, the best system first."""
    groups = {}
    for m, metric in enumerate(METRICS):
        values: dict[str, float] = {}
        apart = set()
        for pair, one in zip(pairs, found, strict=True):
            row = one.metrics[m]
            sides = zip(pair, (row.response, row.other), strict=True)
            values |= {name: side.value for name, side in sides if side is not None}
            if row.p_adjusted is not None and row.p_adjusted < LEVEL:
                apart.add(frozenset(pair))
        alike: list[frozenset[str]] = [frozenset()]
        for name in names:
            grown = [frozenset({o for o in g if frozenset({name, o}) not in apart} | {name}) for g in alike]
            alike = [g for g in dict.fromkeys(alike + grown) if not any(g < o for o in alike + grown)]
        order = sorted(names, key=lambda name: -values[name])
        listed = [sorted(group, key=order.index) for group in alike]
        groups[metric] = sorted(listed, key=lambda group: [order.index(name) for name in group])
    return groups


def _check_same_key(a: Evaluation, b: Evaluation) -> None:
    if a.rules != b.rules:
        differing = [n for n, v in a.rules.to_dict().items() if b.rules.to_dict()[n] != v]
        raise UsageError("two systems under different rules", found=f"other values of {', '.join(differing)}")
    first, second = ({book.doc_key: (book.key_mentions, book.units) for book in e.books} for e in (a, b))
    found = {
        "only in the scores of the first": [name for name in first if name not in second],
        "only in those of the second": [name for name in second if name not in first],
        "scored on other windows or mentions of the key":
            [name for name in first if first[name] != second.get(name, first[name])],
    }  # fmt: skip
    if any(found.values()):
        what = "the two systems were not scored on the same documents of the key"
        expected = f"the same {len(first)} document{'s' * (len(first) != 1)} for both"
        told = "; ".join(f"{kind}: {', '.join(names[:8])}" for kind, names in found.items() if names)
        hint = "give both systems every document of the key, or --missing empty"
        raise UsageError(what, expected=expected, found=told, hint=hint)


def _f1(counts: Floats) -> Floats:
    """F1 by metric, in the order of METRICS, from (..., COUNTED, 4) sums."""
    recall = _ratio(counts[..., 0], counts[..., 1])
    precision = _ratio(counts[..., 2], counts[..., 3])
    f1 = _ratio(2 * precision * recall, precision + recall)
    # BLANC: the mean over the kinds of links that the key has; the score of mentions where it has neither
    kinds = list(_BLANC[:2])
    there = counts[..., kinds, 1] > 0
    number = there.sum(axis=-1)
    mean = _ratio((f1[..., kinds] * there).sum(axis=-1), number.astype(float))
    blanc = np.where(number > 0, mean, f1[..., _BLANC[2]])
    special = {"conll": f1[..., list(_CONLL)].mean(axis=-1), "blanc": blanc}
    columns = [special[m] if m in special else f1[..., COUNTED.index(m)] for m in METRICS]
    return np.stack(columns, axis=-1)


def _ratio(a: Floats, b: Floats) -> Floats:
    return np.divide(a, b, out=np.zeros_like(a), where=b > 0)
