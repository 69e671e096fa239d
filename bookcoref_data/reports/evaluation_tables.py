"""The tables of `bookcoref-data evaluate`: scores in percent, as the paper prints them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import plural
from ..scoring.agreement import Agreement
from ..scoring.breakdowns import BREAKDOWN_METRICS, Bin, Dimension
from ..scoring.error_analysis import Confusion, Division, ErrorAnalysis, Frequent
from ..scoring.evaluation import Evaluation
from ..scoring.labels import CharacterScore
from ..scoring.scores import LABELS, Blanc, Mean, Score
from ..scoring.significance import Interval, Resampling
from ..scoring.suggest import Suggestion
from ..scoring.typed import Coverage, TypedScores
from ..shapes import together


@dataclass(frozen=True, slots=True)
class ReportTable:
    """A title, column heads and rows of cells (text, numbers or None)."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[Sequence[Any], ...]


_SNIPPET = 96


_LINKING = {"linked": "linking (character, span)", "spans": "linking (span)"}


def score_table(evaluation: Evaluation) -> ReportTable:
    """Every metric, pooled; linking below when both sides name characters."""
    found, title = evaluation.linking, f"{_what(evaluation)} pooled; {_rules(evaluation)}"
    linking = {"linked": found.linked, "spans": found.spans} if found else {}
    return _scores(title, evaluation.pooled.named(), linking)


def macro_table(evaluation: Evaluation) -> ReportTable:
    """The mean over books of P, R and F1."""
    title = f"{_what(evaluation)}, mean over books (macro average); {_rules(evaluation)}"
    return _scores(title, evaluation.macro, evaluation.macro_linking)


def _scores(
    title: str, scores: Mapping[str, Score | Blanc | Mean], linking: Mapping[str, Score | Mean]
) -> ReportTable:
    rows = [(LABELS[name], *_percent(score)) for name, score in scores.items()]
    rows += [(_LINKING[name], *_percent(score)) for name, score in linking.items()]
    return ReportTable(title, ("metric", "P", "R", "F1"), tuple(rows))


def systems_table(systems: Sequence[tuple[str, Evaluation]], *, macro: bool = False) -> ReportTable:
    """F1 of every metric, one column a system; P and R of the CoNLL mean below."""
    sides: list[dict[str, Any]] = [dict(e.macro) if macro else e.pooled.named() for _, e in systems]
    rows: list[tuple[Any, ...]] = [(LABELS[name], *(100 * s[name].f1 for s in sides)) for name in LABELS]
    rows.append(("CoNLL P", *(100 * side["conll"].precision for side in sides)))
    rows.append(("CoNLL R", *(100 * side["conll"].recall for side in sides)))
    links: list[Any] = [e.macro_linking.get("linked") for _, e in systems]
    if not macro:
        links = [e.linking and e.linking.linked for _, e in systems]
    if any(links):
        rows.append((_LINKING["linked"], *(None if s is None else 100 * s.f1 for s in links)))
    what = "; ".join(dict.fromkeys(_what(each) for _, each in systems))
    how = "mean over books (macro average)" if macro else "pooled"
    title = f"F1: {what}, {how}; {_rules(systems[0][1])}"
    return ReportTable(title, ("metric", *(name for name, _ in systems)), tuple(rows))


def agreement_table(found: Agreement) -> ReportTable:
    """Two annotators: figures that are the same whichever of them is called the key."""
    rows = [(LABELS[name], 100 * f1) for name, f1 in found.f1.items() if name != "mentions"]
    rows += [
        ("same span (F1)", 100 * found.spans.f1), ("overlapping span (F1)", 100 * found.overlapping.f1),
        ("same entity, of shared mentions", 100 * found.same_entity), ("same entity, Cohen's kappa", 100 *
        found.kappa)
    ]  # fmt: skip
    documents = plural(found.documents, "document")
    title = f"agreement of two annotators: {documents}, {found.shared_mentions:,} shared mentions"
    return ReportTable(title, ("figure", "%"), tuple(rows))


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
    names = list(evaluation.pooled.named())
    columns = ("book", "units", "key mentions", "response mentions", *(LABELS[name] for name in names))
    rows = tuple(
        (book.doc_key, book.units, book.key_mentions, book.response_mentions, *(100 * score.f1 for score in
        book.scores.named().values())) for book in evaluation.books
    )  # fmt: skip
    return ReportTable("F1 by book", columns, rows)


def character_table(scores: Sequence[CharacterScore], most: int) -> ReportTable:
    """The most frequent characters, each against its best aligned response cluster."""
    shown = scores[:most]
    title = "characters, each against the response cluster aligned with it"
    if len(scores) > most:
        title += f" ({most} of {len(scores)})"
    found = ((s.doc_key, s.name, s.mentions, s.found, s.pieces, s.partner, s.score) for s in shown)
    columns = ("book", "character", "mentions", "found", "pieces", "aligned with", "P", "R", "F1")
    return ReportTable(title, columns, tuple((*row, *_percent(score)) for *row, score in found))


def breakdown_tables(dimensions: Sequence[Dimension]) -> list[ReportTable]:
    """One table per dimension; recall and precision of each bin by metric."""
    tables = []
    for dimension in dimensions:
        title = f"by {dimension.name}: {dimension.meaning}"
        if dimension.unavailable:
            tables.append(ReportTable(f"{title} - {dimension.unavailable}", ("bin",), ()))
            continue
        columns = ["bin", "key mentions", "response mentions"]
        columns += [f"{LABELS[metric]} {side}" for metric in BREAKDOWN_METRICS for side in ("R", "P")]
        rows = tuple(
            (b.name, b.key_mentions, b.response_mentions, *(cell for metric in BREAKDOWN_METRICS for cell in
            _sides(b, metric))) for b in dimension.bins
        )  # fmt: skip
        tables.append(ReportTable(title, tuple(columns), rows))
    return tables


def _sides(bin_: Bin, metric: str) -> tuple[float | None, float | None]:
    """Recall without key mentions, and precision without response mentions, are not 0 but undefined."""
    score = bin_.scores[metric]
    recall = 100 * score.recall if bin_.key_mentions else None
    return recall, 100 * score.precision if bin_.response_mentions else None


def error_tables(analysis: ErrorAnalysis) -> list[ReportTable]:
    """Counts, the score after each correction, and the most expensive cases with snippets."""
    counts = tuple((c.type, c.errors, c.mentions) for c in analysis.counts)
    scores = ((step, (x.mentions, x.muc, x.b_cubed, x.ceaf_e, x.conll)) for step, x in analysis.steps)
    steps = tuple((step, *(100 * s.f1 for s in some)) for step, some in scores)
    joined = ((c.doc_key, c.home, c.other, c.mentions, c.wrong_links, _first(c)) for c in analysis.conflated)
    parts = ((d.doc_key, d.name, d.parts, d.mentions, d.lost_links, _first(d)) for d in analysis.divided)
    both = (analysis.missed, analysis.spurious)
    missed, spurious = (((c.doc_key, c.what, c.mentions, _first(c)) for c in cases) for cases in both)
    tables: tuple[tuple[str, str, Iterable[Any]], ...] = (
        ("errors (Kummerfeld and Klein 2013)", "error|errors|mentions", counts),
        ("F1 after each correction, one after the other", "correction|mentions|MUC|B3|CEAF-e|CoNLL", steps),
        ("conflated characters: mentions of one inside clusters of another, spans mended",
         "book|in the cluster of|mentions of|mentions|wrong links|example", joined),
        ("divided characters: mentions outside the largest cluster, spans mended",
         "book|character|parts|mentions|lost links|example", parts),
        ("missed mentions by character", "book|character|mentions|example", missed),
        ("spurious mentions by text", "book|text|mentions|example", spurious),
    )  # fmt: skip
    made = [ReportTable(title, tuple(columns.split("|")), tuple(rows)) for title, columns, rows in tables]
    return [table for table in made if table.rows]


def _first(case: Confusion | Division | Frequent) -> str | None:
    if not case.snippets:
        return None
    text = case.snippets[0]
    if len(text) <= _SNIPPET:
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
        rows = tuple((LABELS[m.metric], *_interval(m.response)) for m in result.metrics)
        return ReportTable(title, ("metric", "F1", "interval"), rows)
    title = f"{first} against {second}; {title}; {result.samples:,} samples, seed {result.seed}"
    several = any(m.p_adjusted is not None for m in result.metrics)
    columns = ("metric", "F1", "interval", "other F1", "other interval", "difference", "interval of it",
               "exchanged", "p", *(("p adjusted",) if several else ()))  # fmt: skip
    compared: tuple[Sequence[str | float | None], ...] = tuple(
        (LABELS[m.metric], *_interval(m.response), *_interval(m.other), *_interval(m.difference),
        plural(m.units, m.unit), _p_value(m.p), *((_p_value(m.p_adjusted),) if several else ())) for m in
        result.metrics
    )  # fmt: skip
    return ReportTable(title, columns, compared)


def groups_table(groups: Mapping[str, Sequence[Sequence[str]]]) -> ReportTable:
    """Which systems are not told apart, by metric; a system may be in several groups."""
    rows = tuple((LABELS[m], "; ".join(" = ".join(group) for group in found)) for m, found in groups.items())
    return ReportTable("systems that are not told apart (adjusted p)", ("metric", "groups"), rows)


def _p_value(p: float | None) -> str | None:
    return None if p is None else f"{p:.4f}"


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
    places = [(p.doc_key, p.start, p.end, 100 * p.worth) for p in found]
    rows = tuple((*place, told) for place, told in zip(places, classes, strict=True))
    return ReportTable("annotate next", ("document", "from token", "to", "worth", "mentions"), rows)


def typed_tables(systems: Sequence[TypedScores], most: int) -> list[ReportTable]:
    """Scores by class (one system: all metrics in one table), coverage, the weakest classes with examples."""
    shown = [_one_system(systems[0])] if len(systems) == 1 else [_metric(systems, m) for m in _TYPED_METRICS]
    sides = [("key", systems[0].key_coverage), *((s.name, s.response_coverage) for s in systems)]
    rows = tuple((name, c.mentions, _share(c.direct, c), _share(c.propagated, c)) for name, c in sides)
    columns = ("side", "mentions", "directly", "after propagation")
    coverage = ReportTable("mentions with a label (%)", columns, rows)
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
    heads = ("class", "system", "mention F1", "examples")
    return [*shown, coverage, ReportTable("weakest classes", heads, tuple(examples_of))]


def _one_system(system: TypedScores) -> ReportTable:
    rows: list[tuple[str | float | int | None, ...]] = []
    for one in system.labels:
        scores = [_known_percent(one.mentions, side) for side in ("precision", "recall")]
        scores += [_known_percent(getattr(one, metric)) for metric in _TYPED_METRICS]
        rows.append((one.label, one.key_mentions, one.response_mentions, *scores))
    rows.append(("macro average", *[None] * 4, *(_macro(system, metric) for metric in _TYPED_METRICS)))
    columns = ("class", "key", "response", "P", "R", "mention F1", "F1 (span alone)",
               "link F1, gold mentions", "link F1, shared mentions")  # fmt: skip
    return ReportTable(f"typed scores; disagreeing labels: {system.disagreeing}", columns, tuple(rows))


def _metric(systems: Sequence[TypedScores], metric: str) -> ReportTable:
    by_label = [{one.label: one for one in system.labels} for system in systems]
    labels = sorted({label for labels in by_label for label in labels})
    rows: list[tuple[str | float | int | None, ...]] = []
    for label in labels:
        found = [labels.get(label) for labels in by_label]
        known = next((one.key_mentions for one in found if one is not None), 0)
        scores = (None if one is None else _known_percent(getattr(one, metric)) for one in found)
        rows.append((label, known, *scores))
    rows.append(("macro average", None, *(_macro(system, metric) for system in systems)))
    title = f"typed {_TYPED_METRICS[metric]}; disagreeing labels: {systems[0].disagreeing}"
    return ReportTable(title, ("class", "key mentions", *(system.name for system in systems)), tuple(rows))


def _known_percent(score: Score, side: str = "f1") -> float | None:
    """A class that occurs on neither side has no score."""
    return 100 * getattr(score, side) if score.recall_denominator or score.precision_denominator else None


def _macro(system: TypedScores, metric: str) -> float | None:
    value = system.macro_f1(metric)
    return None if value is None else 100 * value


def _share(part: int, coverage: Coverage) -> float | None:
    return 100 * part / coverage.mentions if coverage.mentions else None
