"""The tables of `bookcoref-data evaluate`: scores in percent, as the paper prints them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from ..errors import plural
from ..scoring.agreement import Agreement
from ..scoring.breakdowns import BREAKDOWN_METRICS, Dimension
from ..scoring.error_analysis import Confusion, Division, ErrorAnalysis, Frequent
from ..scoring.evaluation import Evaluation
from ..scoring.labels import CharacterScore
from ..scoring.scores import LABELS, Blanc, Mean, Score
from ..scoring.significance import Interval, Resampling
from ..scoring.typed import Suggestion, TypedScores
from ..shapes import together


@dataclass(frozen=True, slots=True)
class ReportTable:
    """A title, column heads and rows of cells (text, numbers or None)."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[Sequence[Any], ...]

    @classmethod
    def of(cls, title: str, columns: str, rows: Iterable[Sequence[Any]]) -> "ReportTable":
        """A table whose heads are told in one text, separated by bars."""
        return cls(title, tuple(columns.split("|")), tuple(rows))


_SNIPPET = 96
_NAMES = {**LABELS, "linked": "linking (character, span)", "spans": "linking (span)"}


def score_table(evaluation: Evaluation, *, macro: bool = False) -> ReportTable:
    """Every metric, pooled or as the mean over books; linking below when both sides name characters."""
    title = f"{_what(evaluation)}{', mean over books (macro average)' if macro else ' pooled'}"
    rows = ((_NAMES[name], *_percent(score)) for name, score in _scores(evaluation, macro=macro).items())
    return ReportTable.of(f"{title}; {_rules(evaluation)}", "metric|P|R|F1", rows)


def _scores(evaluation: Evaluation, *, macro: bool) -> dict[str, Score | Blanc | Mean]:
    """All scores by name, those of linking as far as there are any."""
    if macro:
        return {**evaluation.macro, **evaluation.macro_linking}
    found = evaluation.linking
    return evaluation.pooled.named() | ({"linked": found.linked, "spans": found.spans} if found else {})


def systems_table(systems: Sequence[tuple[str, Evaluation]], *, macro: bool = False) -> ReportTable:
    """F1 of every metric, one column a system; P and R of the CoNLL mean below."""
    sides = [_scores(evaluation, macro=macro) for _, evaluation in systems]
    rows: list[tuple[Any, ...]] = [(LABELS[name], *(100 * s[name].f1 for s in sides)) for name in LABELS]
    rows.append(("CoNLL P", *(100 * side["conll"].precision for side in sides)))
    rows.append(("CoNLL R", *(100 * side["conll"].recall for side in sides)))
    if any("linked" in side for side in sides):
        linked = (side.get("linked") for side in sides)
        rows.append((_NAMES["linked"], *(None if score is None else 100 * score.f1 for score in linked)))
    what = "; ".join(dict.fromkeys(_what(each) for _, each in systems))
    how = "mean over books (macro average)" if macro else "pooled"
    title = f"F1: {what}, {how}; {_rules(systems[0][1])}"
    return ReportTable(title, ("metric", *(name for name, _ in systems)), tuple(rows))


def agreement_table(found: Agreement) -> ReportTable:
    """Two annotators: figures that are the same whichever of them is called the key."""
    figures = {LABELS[name]: f1 for name, f1 in found.f1.items() if name != "mentions"}
    figures |= {"same span (F1)": found.spans.f1, "overlapping span (F1)": found.overlapping.f1}
    figures |= {
        "same entity, of shared mentions": found.same_entity,
        "same entity, Cohen's kappa": found.kappa,
    }
    documents = plural(found.documents, "document")
    title = f"agreement of two annotators: {documents}, {found.shared_mentions:,} shared mentions"
    return ReportTable.of(title, "figure|%", ((name, 100 * value) for name, value in figures.items()))


def _what(evaluation: Evaluation) -> str:
    """The mode and what was scored in it."""
    told = f"{evaluation.rules.mode}, {plural(len(evaluation.books), 'book')}"
    units = sum(book.units for book in evaluation.books)
    return told if evaluation.rules.mode == "full" else f"{told}, {plural(units, 'window')}"


def _rules(evaluation: Evaluation) -> str:
    singletons = "kept" if evaluation.rules.singletons == "keep" else "dropped"
    return f"singletons {singletons}; {evaluation.rules.scorer}"


def book_table(evaluation: Evaluation) -> ReportTable:
    """F1 of every metric by book."""
    rows = [
        (
            b.doc_key,
            b.units,
            b.key_mentions,
            b.response_mentions,
            *(100 * s.f1 for s in b.scores.named().values()),
        )
        for b in evaluation.books
    ]
    heads = "|".join(("book|units|key mentions|response mentions", *LABELS.values()))
    return ReportTable.of("F1 by book", heads, rows)


def character_table(scores: Sequence[CharacterScore], most: int) -> ReportTable:
    """The most frequent characters, each against its best aligned response cluster."""
    title = "characters, each against the response cluster aligned with it"
    if len(scores) > most:
        title += f" ({most} of {len(scores)})"
    rows = (
        (s.doc_key, s.name, s.mentions, s.found, s.pieces, s.partner, *_percent(s.score))
        for s in scores[:most]
    )
    return ReportTable.of(title, "book|character|mentions|found|pieces|aligned with|P|R|F1", rows)


def breakdown_tables(dimensions: Sequence[Dimension]) -> list[ReportTable]:
    """One table per dimension; recall and precision of each bin by metric."""
    tables = []
    sides = (f"{LABELS[metric]} {side}" for metric in BREAKDOWN_METRICS for side in ("R", "P"))
    heads = "|".join(("bin|key mentions|response mentions", *sides))
    for dimension in dimensions:
        title = f"by {dimension.name}: {dimension.meaning}"
        if dimension.unavailable:
            tables.append(ReportTable(f"{title} - {dimension.unavailable}", ("bin",), ()))
            continue
        rows = []
        for b in dimension.bins:
            # Recall without key mentions, and precision without response mentions, are not 0 but undefined.
            scores = ((s.recall, s.precision) for s in map(b.scores.__getitem__, BREAKDOWN_METRICS))
            there = (b.key_mentions, b.response_mentions)
            cells = (100 * value if n else None for of in scores for value, n in zip(of, there, strict=True))
            rows.append((b.name, *there, *cells))
        tables.append(ReportTable.of(title, heads, rows))
    return tables


def error_tables(analysis: ErrorAnalysis) -> list[ReportTable]:
    """Counts, the score after each correction, and the most expensive cases with snippets."""
    counts = tuple((c.type, c.errors, c.mentions) for c in analysis.counts)
    scores = ((step, (x.mentions, x.muc, x.b_cubed, x.ceaf_e, x.conll)) for step, x in analysis.steps)
    steps = tuple((step, *(100 * s.f1 for s in some)) for step, some in scores)
    joined = ((c.doc_key, c.home, c.other, c.mentions, c.wrong_links, _first(c)) for c in analysis.conflated)
    parts = ((d.doc_key, d.name, d.parts, d.mentions, d.lost_links, _first(d)) for d in analysis.divided)
    both = (analysis.missed, analysis.spurious)
    missed, spurious = (((c.doc_key, c.what, c.mentions, _first(c)) for c in cases) for cases in both)
    conflated = "conflated characters: mentions of one inside clusters of another, spans mended"
    divided = "divided characters: mentions outside the largest cluster, spans mended"
    after = "F1 after each correction, one after the other"
    made = [
        ReportTable.of("errors (Kummerfeld and Klein 2013)", "error|errors|mentions", counts),
        ReportTable.of(after, "correction|mentions|MUC|B3|CEAF-e|CoNLL", steps),
        ReportTable.of(conflated, "book|in the cluster of|mentions of|mentions|wrong links|example", joined),
        ReportTable.of(divided, "book|character|parts|mentions|lost links|example", parts),
        ReportTable.of("missed mentions by character", "book|character|mentions|example", missed),
        ReportTable.of("spurious mentions by text", "book|text|mentions|example", spurious),
    ]
    return [table for table in made if table.rows]


def _first(case: Confusion | Division | Frequent) -> str | None:
    text = next(iter(case.snippets), None)
    if text is None or len(text) <= _SNIPPET:
        return text
    # Shortened on both sides of the bracketed mention
    opening = max(text.find("["), 0)
    start = max(0, min(opening - _SNIPPET // 2, len(text) - _SNIPPET))
    cut = text[start : start + _SNIPPET]
    return f"{'…' if start else ''}{cut}{'…' if start + _SNIPPET < len(text) else ''}"


def resampling_table(result: Resampling, first: str = "response", second: str = "other") -> ReportTable:
    """Intervals, and the test when two systems were compared. All values in percent, p as it is."""
    title = f"{100 * result.confidence:g}% intervals"
    if result.metrics[0].difference is None:
        title += f" by the jackknife over {plural(result.units, result.metrics[0].unit)}"
        alone = ((LABELS[m.metric], *_interval(m.response)) for m in result.metrics)
        return ReportTable.of(title, "metric|F1|interval", alone)
    title = f"{first} against {second}; {title}; {result.samples:,} samples, seed {result.seed}"
    heads = "metric|F1|interval|other F1|other interval|difference|interval of it|exchanged|p"
    several = any(m.p_adjusted is not None for m in result.metrics)
    rows = []
    for m in result.metrics:
        values = chain.from_iterable(map(_interval, (m.response, m.other, m.difference)))
        p = [None if p is None else f"{p:.4f}" for p in (m.p, m.p_adjusted)[: 1 + several]]
        rows.append((LABELS[m.metric], *values, plural(m.units, m.unit), *p))
    return ReportTable.of(title, heads + "|p adjusted" * several, rows)


def groups_table(groups: Mapping[str, Sequence[Sequence[str]]]) -> ReportTable:
    """Which systems are not told apart, by metric; a system may be in several groups."""
    rows = ((LABELS[m], "; ".join(" = ".join(group) for group in found)) for m, found in groups.items())
    return ReportTable.of("systems that are not told apart (adjusted p)", "metric|groups", rows)


def _interval(interval: Interval | None) -> tuple[float | None, str | None]:
    if interval is None:
        return None, None
    return 100 * interval.value, f"{100 * interval.low:.2f} to {100 * interval.high:.2f}"


def _percent(score: Score | Blanc | Mean) -> tuple[float, float, float]:
    return 100 * score.precision, 100 * score.recall, 100 * score.f1


# -- scores by semantic class, systems side by side -------------------------------------------------

_TYPED_METRICS = {
    "mentions": "mention F1 (span and label)",
    "lenient": "mention F1 (span alone)",
    "gold_links": "link F1 on gold mentions",
    "shared_links": "link F1 on shared mentions",
}


def suggestion_table(found: Sequence[Suggestion]) -> ReportTable:
    """Passages to annotate next, the best first."""
    classes = [", ".join(f"{label} {n}" for label, n in p.classes.items()) for p in found]
    rows = ((p.doc_key, p.start, p.end, 100 * p.worth, c) for p, c in zip(found, classes, strict=True))
    return ReportTable.of("annotate next", "document|from token|to|worth|mentions", rows)


def typed_tables(systems: Sequence[TypedScores], most: int) -> list[ReportTable]:
    """Scores by class (one system: all metrics in one table), coverage, the weakest classes with examples."""
    shown = [_one_system(systems[0])] if len(systems) == 1 else [_metric(systems, m) for m in _TYPED_METRICS]
    sides = [("key", systems[0].key_coverage), *((s.name, s.response_coverage) for s in systems)]
    shares = ((name, c.mentions, (c.direct, c.propagated)) for name, c in sides)
    rows = ((name, n, *(100 * part / n if n else None for part in parts)) for name, n, parts in shares)
    title, heads = "mentions with a label (%)", "side|mentions|directly|after propagation"
    shown.append(ReportTable.of(title, heads, rows))
    # Classes by their mean mention F1 over the systems, the weakest first.
    every = ((one.label, one.mentions) for system in systems for one in system.labels)
    f1 = together((label, s.f1) for label, s in every if s.recall_denominator or s.precision_denominator)
    weakest = sorted(f1, key=lambda label: (sum(f1[label]) / len(f1[label]), label))[:most]
    examples_of: list[tuple[str | float | None, ...]] = []
    for label in weakest:
        for system, scores in ((s, one) for s in systems for one in s.labels if one.label == label):
            examples = system.examples.get(label, ())
            texts = [f"{e.kind}: {e.text if e.text is not None else tuple(e.span)}" for e in examples[:2]]
            examples_of.append((label, system.name, 100 * scores.mentions.f1, " | ".join(texts) or None))
    return [*shown, ReportTable.of("weakest classes", "class|system|mention F1|examples", examples_of)]


def _one_system(system: TypedScores) -> ReportTable:
    asked = (
        ("mentions", "precision"),
        ("mentions", "recall"),
        *((metric, "f1") for metric in _TYPED_METRICS),
    )
    rows: list[tuple[str | float | int | None, ...]] = [
        (s.label, s.key_mentions, s.response_mentions, *(_known(getattr(s, of), side) for of, side in asked))
        for s in system.labels
    ]
    rows.append(("macro average", *[None] * 4, *(_macro(system, metric) for metric in _TYPED_METRICS)))
    heads = (
        "class|key|response|P|R|mention F1|F1 (span alone)|link F1, gold mentions|link F1, shared mentions"
    )
    return ReportTable.of(f"typed scores; disagreeing labels: {system.disagreeing}", heads, rows)


def _metric(systems: Sequence[TypedScores], metric: str) -> ReportTable:
    by_label = [{one.label: one for one in system.labels} for system in systems]
    rows: list[tuple[str | float | int | None, ...]] = []
    for label in sorted({label for labels in by_label for label in labels}):
        found = [labels.get(label) for labels in by_label]
        known = next((one.key_mentions for one in found if one is not None), 0)
        scores = (None if one is None else _known(getattr(one, metric)) for one in found)
        rows.append((label, known, *scores))
    rows.append(("macro average", None, *(_macro(system, metric) for system in systems)))
    title = f"typed {_TYPED_METRICS[metric]}; disagreeing labels: {systems[0].disagreeing}"
    return ReportTable(title, ("class", "key mentions", *(system.name for system in systems)), tuple(rows))


def _known(score: Score, side: str = "f1") -> float | None:
    """A class that occurs on neither side has no score."""
    return 100 * getattr(score, side) if score.recall_denominator or score.precision_denominator else None


def _macro(system: TypedScores, metric: str) -> float | None:
    value = system.macro_f1(metric)
    return None if value is None else 100 * value
