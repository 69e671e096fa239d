"""The tables of `bookcoref-data evaluate --typed`: scores by semantic class, systems side by side."""

from collections.abc import Sequence

from ..scoring.scores import Score
from ..scoring.suggest import Suggestion
from ..scoring.typed import Coverage, TypedScores
from ..shapes import together
from .evaluation_tables import ReportTable

METRIC_NAMES = {
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
    shown = [_one_system(systems[0])] if len(systems) == 1 else [_metric(systems, m) for m in METRIC_NAMES]
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
        for system in systems:
            scores = {one.label: one for one in system.labels}.get(label)
            if scores is None:
                continue
            examples = system.examples.get(label, ())
            texts = [f"{e.kind}: {e.text if e.text is not None else tuple(e.span)}" for e in examples[:2]]
            examples_of.append((label, system.name, 100 * scores.mentions.f1, " | ".join(texts) or None))
    heads = ("class", "system", "mention F1", "examples")
    return [*shown, coverage, ReportTable("weakest classes", heads, tuple(examples_of))]


def _one_system(system: TypedScores) -> ReportTable:
    rows: list[tuple[str | float | int | None, ...]] = [
        (
            one.label,
            one.key_mentions,
            one.response_mentions,
            *(_percent(one.mentions, side) for side in ("precision", "recall", "f1")),
            *(_percent(getattr(one, m)) for m in ("lenient", "gold_links", "shared_links")),
        )
        for one in system.labels
    ]
    macro = (_macro(system, m) for m in ("mentions", "lenient", "gold_links", "shared_links"))
    rows.append(("macro average", None, None, None, None, *macro))
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
        scores = (None if one is None else _percent(getattr(one, metric)) for one in found)
        rows.append((label, known, *scores))
    rows.append(("macro average", None, *(_macro(system, metric) for system in systems)))
    title = f"typed {METRIC_NAMES[metric]}; disagreeing labels: {systems[0].disagreeing}"
    return ReportTable(title, ("class", "key mentions", *(system.name for system in systems)), tuple(rows))


def _percent(score: Score, side: str = "f1") -> float | None:
    """A class that occurs on neither side has no score."""
    return 100 * getattr(score, side) if score.recall_denominator or score.precision_denominator else None


def _macro(system: TypedScores, metric: str) -> float | None:
    value = system.macro_f1(metric)
    return None if value is None else 100 * value


def _share(part: int, coverage: Coverage) -> float | None:
    return 100 * part / coverage.mentions if coverage.mentions else None
