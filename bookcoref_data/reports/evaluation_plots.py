"""Pictures of an evaluation: score along the book, confusion of characters, error types; and of `stats`.

Colours are from Okabe and Ito's palette (distinguishable with colour-blindness); line styles differ too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..books.statistics import Statistics
from ..errors import needing, plural
from ..files import safe_name, writing
from ..late import matplotlib
from ..scoring.assignment import Floats
from ..scoring.breakdowns import Point, position_curve
from ..scoring.error_analysis import ErrorAnalysis, analyse_errors
from ..scoring.evaluation import Evaluation
from ..scoring.significance import Interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#666666"
MOST_CHARACTERS = 15


def save_plots(evaluation: Evaluation, folder: Path) -> list[Path]:
    """Write the pictures of an evaluation into `folder`; returns their paths.

    `position_<book>`: recall, precision and F1 along each book, in about 40 steps of 1500 tokens or more.
    `confusion_<book>`: which characters share response clusters. `errors`: what each error type costs.
    """
    load_pyplot()
    analysis = analyse_errors(evaluation)
    figures: dict[str, Figure] = {}
    for book in evaluation.books:
        name = safe_name(book.doc_key, "document key")
        figures[f"position_{name}"] = draw_position(position_curve(evaluation, book))
        names, counts, mended = analysis.matrix[book.doc_key]
        if names:
            figures[f"confusion_{name}"] = draw_confusion(book.doc_key, names, counts, mended)
    figures["errors"] = draw_errors(analysis)
    return save_figures(figures, folder)


def save_intervals(intervals: Mapping[str, Interval], folder: Path) -> list[Path]:
    """Write `intervals`: CoNLL F1 of systems side by side with its interval; returns the paths."""
    figure, axes = _axes(figsize=(1.5 + len(intervals), 3.5))
    for x, one in enumerate(intervals.values()):
        low, high = one.value - one.low, one.high - one.value
        axes.errorbar(x, 100 * one.value, [[100 * low], [100 * high]], fmt="o", color=BLUE, capsize=4)
    axes.set_xticks(range(len(intervals)), list(intervals), rotation=20)
    axes.set_ylabel("CoNLL F1")
    return save_figures({"intervals": figure}, folder)


def save_figures(figures: Mapping[str, Figure], folder: Path) -> list[Path]:
    """Write each figure as PNG and SVG, without its date: the same scores give the same file."""
    written = []
    for name, figure in figures.items():
        for suffix in ("png", "svg"):
            path, undated = folder / f"{name}.{suffix}", {"Date": None} if suffix == "svg" else None
            with writing(path) as stream:
                figure.savefig(stream, format=suffix, dpi=150, metadata=undated)
            written.append(path)
        load_pyplot().close(figure)
    return written


def load_pyplot() -> Any:
    with needing("plots", "matplotlib", "drawing pictures"):
        matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "bookcoref-data"
    return matplotlib.pyplot


def _axes(*rows_and_columns: int, **how: Any) -> tuple[Figure, Any]:
    """A new figure and its axes, one or an array."""
    made: tuple[Figure, Any] = load_pyplot().subplots(*rows_and_columns, layout="constrained", **how)
    return made


def draw_position(points: Sequence[Point]) -> Figure:
    """Recall, precision and F1 of B3 along one book, with the number of key mentions below."""
    figure, (top, below) = _axes(2, 1, figsize=(8, 4.6), height_ratios=(4, 1), sharex=True)
    middle = np.array([(p.start + p.end) / 2 for p in points]) / 1000
    scores = [p.scores["b_cubed"] for p in points]
    # Where a side has no mention its score is not 0 but undefined: the line breaks.
    in_key, in_response = ([getattr(p, n) > 0 for p in points] for n in ("key_mentions", "response_mentions"))
    recall = np.where(in_key, [s.recall for s in scores], np.nan)
    precision = np.where(in_response, [s.precision for s in scores], np.nan)
    f1 = np.where(np.logical_or(in_key, in_response), [s.f1 for s in scores], np.nan)
    thin: dict[str, Any] = {"markersize": 4, "linewidth": 1.4}
    top.plot(middle, 100 * recall, "o--", color=BLUE, label="recall", **thin)
    top.plot(middle, 100 * precision, "s:", color=ORANGE, label="precision", **thin)
    top.plot(middle, 100 * f1, color="black", label="F1", linewidth=2)
    top.set(ylim=(0, 104), ylabel="B3 of the mentions here (%)")
    top.set_title(f"{points[0].doc_key}: score along the book" if points else "no tokens", loc="left")
    top.grid(axis="y", color="#dddddd")
    figure.legend(loc="outside lower center", ncols=3, frameon=False)
    width = [0.92 * (p.end - p.start) / 1000 for p in points]
    below.bar(middle, [p.key_mentions for p in points], width=width, color=GREY)
    below.set(xlabel="position (thousand tokens)", ylabel="key\nmentions")
    _plain(top, below)
    return figure


def draw_confusion(doc_key: str, names: Sequence[str], counts: Floats, mended: int) -> Figure:
    """Rows: characters of the key. Columns: whose response cluster their mentions are in.

    Shade: share of the row. The most frequent characters are shown, the rest is "others"; the last
    column holds mentions the response lacks. `mended` of the others have another span in the response.
    """
    names, counts = _condense(names, counts, MOST_CHARACTERS)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    n = len(names)
    side = 2.9 + 0.42 * n
    figure, axes = _axes(figsize=(side + 1.6, side - 0.4))
    image = axes.imshow(100 * shares, cmap="Blues", vmin=0, vmax=100, aspect="equal")
    columns = [short_name(name) for name in names] + ["(missed)"]
    axes.set_xticks(range(n + 1), columns, rotation=45, ha="right", rotation_mode="anchor")
    totals = counts.sum(axis=1).astype(int)
    rows = [f"{short_name(name)} ({total:,})" for name, total in zip(names, totals, strict=True)]
    axes.set_yticks(range(n), rows)
    for i, j in np.argwhere(shares >= 0.005):
        colour = "white" if shares[i, j] > 0.55 else "black"
        axes.text(j, i, f"{100 * shares[i, j]:.0f}", ha="center", va="center", color=colour, fontsize=8)
    axes.axvline(n - 0.5, color=GREY, linewidth=1)
    other = f"\n({plural(mended, 'mention')} with another span of the same head)" if mended else ""
    found = f"found in the response cluster that holds mostly ...{other}"
    title = f"{doc_key}: who is taken for whom (% of each row)"
    axes.set(xlabel=found, ylabel="mentions of (number in the key)", title=title)
    figure.colorbar(image, ax=axes, shrink=0.6, label="% of the character's mentions")
    return figure


def _condense(names: Sequence[str], counts: Floats, most: int) -> tuple[list[str], Floats]:
    """Keep the first `most` characters; add up the others in one row and column."""
    if len(names) <= most:
        return list(names), counts
    kept = most - 1
    rows = np.vstack([counts[:kept], counts[kept:].sum(axis=0)])
    others = rows[:, kept : len(names)].sum(axis=1, keepdims=True)
    condensed = np.hstack([rows[:, :kept], others, rows[:, len(names) :]])
    return [*names[:kept], f"{len(names) - kept} others"], condensed


def draw_errors(analysis: ErrorAnalysis) -> Figure:
    """Left: how many errors of each type. Right: CoNLL F1 after each correction, one after the other."""
    figure, (left, right) = _axes(1, 2, figsize=(10, 3.8))
    kinds = [count.type for count in analysis.counts]
    amounts = [count.errors for count in analysis.counts]
    colours = {"span": GREY, "extra": ORANGE, "missing": BLUE, "conflated": "black", "divided": GREEN}
    bars = left.barh(kinds, amounts, color=[colours[kind.split()[0]] for kind in kinds])
    left.bar_label(bars, labels=[f"{amount:,}" for amount in amounts], padding=3)
    left.margins(x=0.15)
    left.invert_yaxis()
    left.set(xlabel="errors", title="Errors by type")
    labels = [step for step, _ in analysis.steps]
    values = [100 * scores.conll.f1 for _, scores in analysis.steps]
    starts = [0.0, *values[:-1]]
    step_colours = [GREY, GREY, ORANGE, BLUE, "black", GREEN]
    bars = right.barh(labels, np.subtract(values, starts), left=starts, color=step_colours)
    # A correction can also cost: the bar then runs back, with the text before it.
    gains = (f"{round(value - start, 1) or 0:+.1f}" for start, value in zip(starts, values, strict=True))
    right.bar_label(bars, labels=[f"{values[0]:.1f}", *list(gains)[1:]], padding=3)
    right.invert_yaxis()
    right.set(xlim=(0, 115), xlabel="CoNLL F1", title="What each correction gains, in this order")
    _plain(left, right)
    return figure


def _plain(*axes: Axes) -> None:
    for each in axes:
        each.spines[["top", "right"]].set_visible(False)


def short_name(name: str, most: int = 22) -> str:
    """A name that fits beside an axis; `$` would start a formula."""
    return (name if len(name) <= most else f"{name[: most - 1]}…").replace("$", r"\$")


PRINTED = (
    ("OntoNotes", 467, 140), ("LongtoNotes", 674, 371), ("LitBank", 2_105, 480),
    ("WikiCoref", 1_996, 1_013), ("MovieCoref", 22_423, 7_672), ("BookCoref gold", 76_419, 34_880),
    ("BookCoref silver", 216_626, 73_432),
)  # fmt: skip
"""Table 1 of the paper: tokens per document, mention distance."""


def draw_length_and_distance(rows: Sequence[tuple[str, Statistics]]) -> Figure:
    """After Figure 1 of the BookCoref paper: tokens per document against mention distance, both on a log
    scale; the area shows the mentions. The rows of the paper's Table 1 stand behind, in grey, for scale."""
    figure, axes = _axes(figsize=(7.6, 5))
    axes.scatter([p[1] for p in PRINTED], [p[2] for p in PRINTED], s=28, facecolors="none", edgecolors=GREY,
                 label="as printed in the paper's Table 1")  # fmt: skip
    for name, length, distance in PRINTED:
        axes.annotate(name, (length, distance), (-6, 5), textcoords="offset points", color=GREY, fontsize=8,
                      ha="right")  # fmt: skip
    known = [(name, s) for name, s in rows if s.tokens_per_document and s.mention_distance]
    most = max((s.mentions for _, s in known), default=1)
    sizes = [30 + 200 * s.mentions / most for _, s in known]
    axes.scatter([s.tokens_per_document for _, s in known], [s.mention_distance for _, s in known], s=sizes,
                 color=BLUE, alpha=0.7, label="given")  # fmt: skip
    for name, s in known:
        label, place = short_name(Path(name).name or name), (s.tokens_per_document, s.mention_distance)
        axes.annotate(label, place, (9, -9), textcoords="offset points", fontsize=9)
    far = "mean distance of two mentions of a chain (tokens)"
    axes.set(xscale="log", yscale="log", xlabel="tokens per document", ylabel=far)
    axes.set_title("Length of documents and distance of mentions", loc="left")
    axes.grid(color="#dddddd", which="major")
    axes.set_axisbelow(True)
    axes.margins(x=0.18, y=0.12)
    axes.legend(loc="lower right", frameon=False)
    _plain(axes)
    return figure
