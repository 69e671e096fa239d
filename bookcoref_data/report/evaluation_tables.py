"""The tables of `bookcoref-data evaluate`: scores in percent, as the paper prints them."""

from __future__ import annotations

from collections.abc import Sequence

from ..evaluate.breakdowns import BREAKDOWN_METRICS, Dimension
from ..evaluate.error_analysis import ErrorAnalysis
from ..evaluate.evaluation import Evaluation
from ..evaluate.per_character import CharacterScore
from ..evaluate.scores import LABELS
from ..evaluate.significance import Interval, Resampling
from .tables import Table

_SNIPPET = 96


def score_table(evaluation: Evaluation) -> Table:
    """Every metric, pooled; linking below when both sides name characters."""
    named = dict(evaluation.pooled.named())
    rows = [(LABELS[name], *_percent(score)) for name, score in named.items()]
    if evaluation.linking is not None:
        rows.append(("linking (character, span)", *_percent(evaluation.linking.linked)))
        rows.append(("linking (span)", *_percent(evaluation.linking.spans)))
    rules = evaluation.rules
    books = f"{len(evaluation.books)} book{'s' * (len(evaluation.books) != 1)}"
    units = sum(book.units for book in evaluation.books)
    what = books if rules.mode == "full" else f"{books}, {units} windows"
    singletons = "kept" if rules.singletons == "keep" else "dropped"
    title = f"{rules.mode}, {what} pooled; singletons {singletons}; {rules.scorer}"
    return Table(title, ("metric", "P", "R", "F1"), tuple(rows))


def book_table(evaluation: Evaluation) -> Table:
    """F1 of every metric by book."""
    names = list(evaluation.pooled.named())
    columns = ("book", "units", "key mentions", "response mentions", *(LABELS[name] for name in names))
    rows = tuple(
        (
            book.doc_key,
            book.units,
            book.key_mentions,
            book.response_mentions,
            *(100 * score.f1 for score in book.scores.named().values()),
        )
        for book in evaluation.books
    )
    return Table("F1 by book", columns, rows)


def character_table(scores: Sequence[CharacterScore], most: int) -> Table:
    """The most frequent characters, each against its best aligned response cluster."""
    shown = scores[:most]
    title = "characters, each against the response cluster aligned with it"
    if len(scores) > most:
        title += f" ({most} of {len(scores)})"
    rows = tuple(
        (s.doc_key, s.name, s.mentions, s.found, s.pieces, s.partner, *_percent(s.score)) for s in shown
    )
    return Table(
        title, ("book", "character", "mentions", "found", "pieces", "aligned with", "P", "R", "F1"), rows
    )


def breakdown_tables(dimensions: Sequence[Dimension]) -> list[Table]:
    """One table per dimension; recall and precision of each bin by metric."""
    tables = []
    for dimension in dimensions:
        title = f"by {dimension.name}: {dimension.meaning}"
        if dimension.unavailable:
            tables.append(Table(f"{title} - {dimension.unavailable}", ("bin",), ()))
            continue
        columns = ["bin", "key mentions", "response mentions"]
        columns += [f"{LABELS[metric]} {side}" for metric in BREAKDOWN_METRICS for side in ("R", "P")]
        rows = tuple(
            (
                b.name,
                b.key_mentions,
                b.response_mentions,
                *(cell for metric in BREAKDOWN_METRICS for cell in _sides(b, metric)),
            )
            for b in dimension.bins
        )
        tables.append(Table(title, tuple(columns), rows))
    return tables


def _sides(bin_, metric: str) -> tuple[float | None, float | None]:
    """Recall without key mentions, and precision without response mentions, are not 0 but undefined."""
    score = bin_.scores[metric]
    recall = 100 * score.recall if bin_.key_mentions else None
    return recall, 100 * score.precision if bin_.response_mentions else None


def error_tables(analysis: ErrorAnalysis) -> list[Table]:
    """Counts, the score after each correction, and the most expensive cases with snippets."""
    counts = tuple((c.type, c.errors, c.mentions) for c in analysis.counts)
    steps = tuple(
        (step, *(100 * s.f1 for s in (x.mentions, x.muc, x.b_cubed, x.ceaf_e, x.conll)))
        for step, x in analysis.steps
    )
    tables = [
        Table("errors (Kummerfeld and Klein 2013)", ("error", "errors", "mentions"), counts),
        Table(
            "F1 after each correction, one after the other",
            ("correction", "mentions", "MUC", "B3", "CEAF-e", "CoNLL"),
            steps,
        ),
        Table(
            "conflated characters: mentions of one inside clusters of another",
            ("book", "in the cluster of", "mentions of", "mentions", "wrong links", "example"),
            tuple(
                (c.doc_key, c.home, c.other, c.mentions, c.wrong_links, _first(c)) for c in analysis.conflated
            ),
        ),
        Table(
            "divided characters: mentions outside the largest cluster",
            ("book", "character", "parts", "mentions", "lost links", "example"),
            tuple(
                (d.doc_key, d.name, d.parts, d.mentions, d.lost_links, _first(d)) for d in analysis.divided
            ),
        ),
    ]
    for title, head, cases in (
        ("missed mentions by character", "character", analysis.missed),
        ("spurious mentions by text", "text", analysis.spurious),
    ):
        rows = tuple((case.doc_key, case.what, case.mentions, _first(case)) for case in cases)
        tables.append(Table(title, ("book", head, "mentions", "example"), rows))
    return [table for table in tables if table.rows]


def _first(case) -> str | None:
    if not case.snippets:
        return None
    text = case.snippets[0]
    return text if len(text) <= _SNIPPET else _around_mention(text)


def _around_mention(text: str) -> str:
    """Shorten a snippet on both sides of its bracketed mention."""
    opening = max(text.find("["), 0)
    start = max(0, min(opening - _SNIPPET // 2, len(text) - _SNIPPET))
    cut = text[start : start + _SNIPPET]
    return f"{'…' if start else ''}{cut}{'…' if start + _SNIPPET < len(text) else ''}"


def resampling_table(result: Resampling) -> Table:
    """Intervals, and the test when two systems were compared. All values in percent, p as it is."""
    share = f"{100 * result.confidence:g}%"
    title = (
        f"{share} intervals from {result.samples:,} samples of {result.units} {result.unit}s, "
        f"seed {result.seed}"
    )
    if result.metrics[0].difference is None:
        rows = tuple((LABELS[m.metric], *_interval(m.response)) for m in result.metrics)
        return Table(title, ("metric", "F1", "interval"), rows)
    columns = ("metric", "F1", "interval", "other F1", "other interval", "difference", "interval of it",
               "p bootstrap", "p randomisation")  # fmt: skip
    rows = tuple(
        (
            LABELS[m.metric],
            *_interval(m.response),
            *_interval(m.other),
            *_interval(m.difference),
            f"{m.p_bootstrap:.4f}",
            f"{m.p_randomisation:.4f}",
        )
        for m in result.metrics
    )
    return Table(title, columns, rows)


def _interval(interval: Interval) -> tuple[float, str]:
    return 100 * interval.value, f"{100 * interval.low:.2f} to {100 * interval.high:.2f}"


def _percent(score) -> tuple[float, float, float]:
    return 100 * score.precision, 100 * score.recall, 100 * score.f1
