"""How far scores outside quotes are probabilities that hold (annotation/embedded/calibration.py).

    python -m training.calibrate path/to/litbank [--gold RELEASED.jsonl]

annotates LitBank's development part, and the books of `--gold` that have their text, with the scales of the
package. It prints for pronouns and for noun phrases of the narration what the scores say, what is right, the
calibration error, and what is right and kept of what has 0.9 or more. Beside what is right stands its
standard error over the texts, which stand or fall as wholes: one wrong chain is many wrong links. All scales
are fitted by `benchmarks/bench_dialogue.py --fit --litbank LITBANK`, whenever the weights change.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import numpy as np

from bookcoref_data.annotation.cast import make_cast
from bookcoref_data.annotation.embedded.backend import RULE_NAMES, EmbeddedBackend
from bookcoref_data.annotation.embedded.calibration import SCALES
from bookcoref_data.annotation.embedded.network import Ranker
from bookcoref_data.annotation.plan import default_plan
from bookcoref_data.annotation.steps import Job, run_steps
from bookcoref_data.books import Book, Mention
from bookcoref_data.formats.jsonl import read

from .litbank import parts, read_excerpt

BINS, LEAST = 10, 0.9
_EDGE = 1e-4
_STEPS = 25
_RIDGE = 0.01


def fit_scale(
    scores: Sequence[float], right: Sequence[bool], weight: Sequence[float] | None = None
) -> tuple[float, float]:
    """Slope and shift of the logit of `scores` that make `right` most likely (Newton's method, with a
    trace of a ridge); `weight` says how much each counts."""
    inside = np.clip(np.asarray(scores, dtype=float), _EDGE, 1 - _EDGE)
    rows = np.stack([np.log(inside / (1 - inside)), np.ones(len(inside))], axis=1)
    answers = np.asarray(right, dtype=float)
    counts = np.ones(len(inside)) if weight is None else np.asarray(weight, dtype=float)
    found = np.zeros(2)
    for _ in range(_STEPS):
        p = 1 / (1 + np.exp(-rows @ found))
        curve = (rows * (counts * p * (1 - p))[:, None]).T @ rows + _RIDGE * np.eye(2)
        found += np.linalg.solve(curve, rows.T @ (counts * (answers - p)) - _RIDGE * found)
    return float(found[0]), float(found[1])


def scaled(scores: Sequence[float], slope: float, shift: float) -> np.ndarray:
    """Scores with slope and shift applied to their logits."""
    inside = np.clip(np.asarray(scores, dtype=float), _EDGE, 1 - _EDGE)
    found: np.ndarray = 1 / (1 + np.exp(-(slope * np.log(inside / (1 - inside)) + shift)))
    return found


def bin_of(scores: np.ndarray, bins: int = BINS) -> np.ndarray:
    """The bin of each score from 0 to 1: `bins` of one width, counted from 0."""
    found: np.ndarray = np.minimum((scores * bins).astype(int), bins - 1)
    return found


def calibration_error(scores: np.ndarray, right: np.ndarray, bins: int = BINS) -> float:
    """The expected calibration error: the mean distance of score and share right in bins of the score,
    weighted by the number in each."""
    place = bin_of(scores, bins)
    return float(
        sum(
            abs(scores[place == b].mean() - right[place == b].mean()) * (place == b).mean()
            for b in np.unique(place)
        )
    )


def least_error(scores: np.ndarray, bins: int = BINS) -> float:
    """The calibration error to expect of scores that are the true probabilities: of few decisions, the share
    that is right differs from the score by chance (the mean of a half-normal distribution, in each bin)."""
    spread = np.bincount(bin_of(scores, bins), scores * (1 - scores), bins)
    return float(np.sqrt(2 / np.pi * spread).sum() / len(scores))


class Link(NamedTuple):
    """A link outside quotes: its text, the kind of decision, its score, and whether it is right."""

    text: str
    kind: str
    score: float
    right: bool


Keyed = tuple[Job, Sequence[Sequence[Mention]]]
"""A text with its cast, and the mentions of every entry."""


def excerpts(root: Path, part: str = "dev") -> Iterator[Keyed]:
    """The documents of a part of LitBank."""
    for name in parts(root)[part]:
        excerpt = read_excerpt(root, name)
        if excerpt is not None:
            yield excerpt.job, excerpt.key


def gold_books(path: Path) -> Iterator[Keyed]:
    """The books of a released file that have their text."""
    for record in read(path):
        if record.sentences is not None:
            key = record.to_book()
            bare = Book(key.doc_key, key.gutenberg_key, key.tokens, key.sentence_ends)
            job = Job(bare, make_cast(c.name for c in key.characters))
            yield job, [c.mentions for c in key.characters]


def narration(
    texts: Iterable[Keyed], raw: bool, rankers: Mapping[str, Ranker] | None = None
) -> Iterator[Link]:
    """The links that rankers make outside quotes. A link on a span that the key does not have is wrong.

    `raw` leaves the scores as the rankers give them; those of the package unless others are given.
    """
    plan = default_plan("embedded")
    backend = EmbeddedBackend(plan, rankers)
    kinds = {rule: kind for kind, rule in RULE_NAMES.items()}
    for job, key in texts:
        with mock.patch.dict(SCALES, clear=raw):
            state = run_steps(backend, job, plan.steps)
        quoted = {i for q in state.quotes for i in range(q.start, q.end + 1)}
        for m in state.mentions:
            if m.rule in kinds and m.start not in quoted:
                yield Link(job.book.doc_key, kinds[m.rule], m.score, m.mention in key[m.character])


def spread_over_texts(links: Sequence[Link]) -> float:
    """The standard error of the share right, with whole texts as the unit (of a ratio); nan for one text."""
    texts = {link.text for link in links}
    share = sum(link.right for link in links) / len(links)
    off = [sum(link.right - share for link in links if link.text == text) for text in texts]
    if len(off) == 1:
        return float("nan")
    return float(np.sqrt(np.sum(np.square(off)) * len(off) / (len(off) - 1))) / len(links)


def main() -> None:
    """Print what the scores are worth for every kind of decision."""
    import sys

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("litbank", type=Path)
    parser.add_argument("--gold", type=Path)
    options = parser.parse_args()
    sources = {"LitBank development": excerpts(options.litbank)}
    if options.gold:
        sources["gold"] = gold_books(options.gold)
    for source, texts in sources.items():
        links = list(narration(texts, raw=False))
        for kind in sorted({link.kind for link in links}):
            members = [link for link in links if link.kind == kind]
            score, right = (np.array([getattr(m, name) for m in members]) for name in ("score", "right"))
            sure = score >= LEAST
            sys.stdout.write(
                f"{source}, {kind}: {len(members)} links, said {100 * score.mean():.1f}, right "
                f"{100 * right.mean():.1f} (standard error {100 * spread_over_texts(members):.1f}), error "
                f"{100 * calibration_error(score, right):.1f}; of {LEAST} or more "
                + (f"{100 * right[sure].mean():.1f} right" if sure.any() else "nothing right")
                + f", {100 * sure.mean():.1f} kept\n"
            )


if __name__ == "__main__":
    main()
