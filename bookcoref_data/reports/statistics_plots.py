"""The picture of `bookcoref-data stats`: how long documents are, and how far apart their mentions.

After Figure 1 of the BookCoref paper. The rows of the paper's Table 1 stand behind, in grey, for scale.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..books.statistics import Statistics
from .evaluation_plots import BLUE, GREY, load_pyplot, short_name

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PRINTED = (
    ("OntoNotes", 467, 140), ("LongtoNotes", 674, 371), ("LitBank", 2_105, 480),
    ("WikiCoref", 1_996, 1_013), ("MovieCoref", 22_423, 7_672), ("BookCoref gold", 76_419, 34_880),
    ("BookCoref silver", 216_626, 73_432),
)  # fmt: skip
"""Table 1 of the paper: tokens per document, mention distance."""


def draw_length_and_distance(rows: Sequence[tuple[str, Statistics]]) -> Figure:
    """Tokens per document against mention distance, both on a log scale; the area shows the mentions."""
    pyplot = load_pyplot()
    figure: Figure
    figure, axes = pyplot.subplots(figsize=(7.6, 5), layout="constrained")
    axes.set_xscale("log")
    axes.set_yscale("log")
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
    axes.set_xlabel("tokens per document")
    axes.set_ylabel("mean distance of two mentions of a chain (tokens)")
    axes.set_title("Length of documents and distance of mentions", loc="left")
    axes.grid(color="#dddddd", which="major")
    axes.set_axisbelow(True)
    axes.margins(x=0.18, y=0.12)
    axes.legend(loc="lower right", frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    return figure
