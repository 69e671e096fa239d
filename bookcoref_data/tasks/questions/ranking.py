"""The hardest mentions by Copeland counts (IdentifyMe, section 6).

For every pair of mentions and every criterion the larger value gets one point, equal values half a point
each. Comparing all pairs is quadratic; the same counts follow from ranks.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .scores import MentionScores


def criteria(scores: MentionScores) -> tuple[int, int, int, int]:
    """Four values, larger is harder: minus the fuzzy score or the net distractor score, then distances."""
    first = scores.net_distractors if scores.category == "PRON" else -scores.fuzzy
    return first, scores.neighbour, scores.nominal_neighbour, scores.surface_neighbour


def copeland_counts(values: Sequence[Sequence[float]]) -> list[float]:
    """The count of each row of `values` (rows are mentions, columns are criteria)."""
    table = np.asarray(values, dtype=float)
    if not table.size:
        return [0.0] * len(table)
    total = np.zeros(len(table))
    for column in table.T:
        ordered = np.sort(column)
        smaller = np.searchsorted(ordered, column, side="left")
        up_to = np.searchsorted(ordered, column, side="right")
        total += smaller + (up_to - smaller - 1) / 2
    return [float(value) for value in total]
