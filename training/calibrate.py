"""Fit the scales that turn a ranker's score into a probability (annotation/embedded/calibration.py).

    python -m training.calibrate path/to/litbank

prints slope and shift for decisions of the narration, from the development part of LitBank. The scales for
decisions about quotes are fitted by `benchmarks/bench_dialogue.py --fit`, on novels with gold speakers.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from unittest import mock

import numpy as np

from bookcoref_data.annotation.backends import make_backend
from bookcoref_data.annotation.embedded.backend import RULE_NAMES
from bookcoref_data.annotation.embedded.calibration import SCALES
from bookcoref_data.annotation.plan import default_plan
from bookcoref_data.annotation.steps import run_steps

from .litbank import parts, read_excerpt

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


def calibration_error(scores: np.ndarray, right: np.ndarray, bins: int = 10) -> float:
    """The expected calibration error: the mean distance of score and share right in bins of the score,
    weighted by the number in each."""
    place = np.minimum((scores * bins).astype(int), bins - 1)
    return float(
        sum(
            abs(scores[place == b].mean() - right[place == b].mean()) * (place == b).mean()
            for b in np.unique(place)
        )
    )


def narration(root: Path) -> dict[str, list[tuple[float, bool]]]:
    """(raw score, whether it is right) of the links outside quotes in the development part, by kind; links on
    spans that LitBank does not annotate as a person are left out."""
    plan = default_plan("embedded")
    backend = make_backend(plan)
    kinds = {rule: kind for kind, rule in RULE_NAMES.items()}
    found: dict[str, list[tuple[float, bool]]] = {}
    for name in parts(root)["dev"]:
        excerpt = read_excerpt(root, name)
        if excerpt is None:
            continue
        with mock.patch.dict(SCALES, clear=True):
            state = run_steps(backend, excerpt.job, plan.steps)
        quoted = {i for q in state.quotes for i in range(q.start, q.end + 1)}
        for m in state.mentions:
            if m.rule in kinds and m.start not in quoted and m.mention in excerpt.kinds:
                right = m.mention in excerpt.key[m.character]
                found.setdefault(kinds[m.rule], []).append((m.score, right))
    return found


def main() -> None:
    """Print a scale for every kind of decision."""
    import sys

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("litbank", type=Path)
    for kind, judged in sorted(narration(parser.parse_args().litbank).items()):
        slope, shift = fit_scale(*zip(*judged, strict=True))
        sys.stdout.write(f'"{kind}": ({slope:.3f}, {shift:.3f}),  # {len(judged)} links\n')


if __name__ == "__main__":
    main()
