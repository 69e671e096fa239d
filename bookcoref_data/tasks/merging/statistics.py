"""Statistics of long documents by genre, and scores by size (LongtoNotes, section 8)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from ...books import Record
from ...errors import needing
from ...scoring import ClusterScores, score_documents
from ...scoring.scores import ratio
from ...shapes import attributes
from .parts import genre_of


@dataclass(frozen=True, slots=True)
class GenreStatistics:
    """Documents of one genre. Distances: tokens between a mention and the one before it in its chain.

    `chain_length`: mentions per chain. `far_mentions`: over 5,000 tokens from the one before (paper: 178).
    """

    genre: str
    documents: int
    tokens: int
    chains: int
    mentions: int
    distances: tuple[int, ...]
    tokens_per_document: float
    chains_per_document: float
    mentions_per_document: float
    chain_length: float
    mean_distance: float
    largest_distance: int
    far_mentions: int

    def to_dict(self) -> dict[str, Any]:
        return {name: value for name, value in attributes(self).items() if name != "distances"}


def statistics(records: Sequence[Record]) -> list[GenreStatistics]:
    """Statistics by genre, in the order of the names, then over "all"."""
    genres = sorted({genre_of(r.doc_key) for r in records} - {""})
    made = [_of(genre, [r for r in records if genre_of(r.doc_key) == genre]) for genre in genres]
    return [*made, _of("all", records)] if records else []


def _of(genre: str, records: Sequence[Record]) -> GenreStatistics:
    clusters = [sorted(m.start for m in cluster) for record in records for cluster in record.clusters]
    distances = tuple(b - a for starts in clusters for a, b in pairwise(starts))
    documents, chains, mentions = len(records), len(clusters), sum(map(len, clusters))
    tokens = sum(len(s) for r in records for s in r.sentences or [])
    return GenreStatistics(
        genre, documents, tokens, chains, mentions, distances, tokens / documents, chains / documents,
        mentions / documents, ratio(mentions, chains), ratio(sum(distances), len(distances)),
        max(distances, default=0), sum(distance > 5000 for distance in distances),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class BinScores:
    """The pooled scores of the documents of a bin; `label` says which."""

    label: str
    documents: int
    scores: ClusterScores

    def to_dict(self) -> dict[str, Any]:
        return {"bin": self.label, "documents": self.documents, "conll": self.scores.conll.f1,
                "scores": self.scores.to_dict()}  # fmt: skip


def scores_by_size(
    pairs: Sequence[tuple[Record, Record]], token_bins: Sequence[int], chain_bins: Sequence[int]
) -> dict[str, list[BinScores]]:
    """Scores of (key, response) documents by the tokens and by the chains of the key.

    The bins are increasing limits; bins without documents are left out.
    """
    return {
        "tokens": _binned(pairs, token_bins, lambda key: sum(map(len, key.sentences or []))),
        "chains": _binned(pairs, chain_bins, lambda key: len(key.clusters)),
    }


def _binned(
    pairs: Sequence[tuple[Record, Record]], limits: Sequence[int], size: Callable[[Record], int]
) -> list[BinScores]:
    found = []
    for low, high in pairwise((0, *limits, 2**31)):
        inside = [(k.clusters, r.clusters) for k, r in pairs if low < size(k) <= high]
        label = f"{low:,} to {high:,}" if high < 2**31 else f"over {low:,}"
        if inside:
            found.append(BinScores(label, len(inside), score_documents(inside)))
    return found


def save_plots(corpora: Mapping[str, Sequence[Record]], folder: Path) -> list[Path]:
    """Two PNG files, one line per corpus: shares of chains by length, of mentions by distance. Raises
    MissingExtraError: without the extra `plots`."""
    with needing("plots", "matplotlib", "drawing statistics"):
        from matplotlib.figure import Figure
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
