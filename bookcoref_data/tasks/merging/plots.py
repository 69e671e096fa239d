"""Pictures of merged documents: lengths of chains and distances of antecedents, before and after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ...books import Record
from ...errors import MissingExtraError
from .statistics import statistics


def save_plots(corpora: Mapping[str, Sequence[Record]], folder: Path) -> list[Path]:
    """Two PNG files, one line per corpus: shares of chains by length, of mentions by distance.

    Raises:
        MissingExtraError: without the extra `plots`.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError.of("plots", "matplotlib", "drawing statistics") from error
    folder.mkdir(parents=True, exist_ok=True)
    lengths = {name: [len(c) for r in records for c in r.clusters] for name, records in corpora.items()}
    distances = {
        name: list(found[-1].distances) if (found := statistics(records)) else []
        for name, records in corpora.items()
    }
    files = []
    for values, what, name in (
        (lengths, "mentions in a chain", "chain_lengths.png"),
        (distances, "tokens back to the mention before", "antecedent_distances.png"),
    ):
        figure: Any = Figure(figsize=(7, 4), layout="constrained")
        axes = figure.subplots()
        for label, numbers in values.items():
            ordered = sorted(numbers, reverse=True)
            shares = [(i + 1) / len(ordered) for i in range(len(ordered))]
            axes.step(ordered, shares, where="post", label=f"{label} ({len(ordered):,})")
        axes.set(xscale="log", yscale="log", xlabel=what, ylabel="share with at least so many")
        axes.grid(alpha=0.3)
        axes.legend()
        figure.savefig(folder / name, dpi=120)
        files.append(folder / name)
    return files
