"""Every mention's share of a score: the numbers behind breakdowns, score curves and resampling.

A metric that is a sum over clusters is also a sum over mentions, once each cluster's part is spread over
its members. The shares of all mentions add up to exactly the numerators and denominators of the score,
so a breakdown explains the score printed, not another one. For mention m of cluster K whose span the
other side has in cluster R, with n shared mentions of K and R:

| metric | numerator | denominator |
|---|---|---|
| MUC | 1 - 1/n (the n - 1 links kept inside the piece) | 1 - 1/size of K |
| B3 | n / size of K (its definition is per mention: Bagga and Baldwin 1998) | 1 |
| LEA | (n - 1) / (size of K - 1) | 1 |
| CEAF-e | an equal part of the similarity of K and its partner, if m lies in the partner | 1 / size of K |
| CEAF-m | 1 if m lies in the partner of K | 1 |
| mentions | 1 | 1 |

A mention the other side lacks has numerator 0.
"""

from dataclasses import dataclass

import numpy as np

from .arrays import Bools, Floats
from .clustering import Members
from .metrics import PARTS, Overlaps
from .scores import Score

SHARED_METRICS = tuple(PARTS)


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """Shares of the mentions of one side, aligned with `mentions`."""

    mentions: Members
    numerator: Floats
    denominator: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Shares:
    """Recall shares of key mentions and precision shares of response mentions."""

    key: Side
    response: Side

    def total(self) -> Score:
        return self.where(slice(None), slice(None))

    def where(self, key: Bools | slice, response: Bools | slice) -> Score:
        """The score of the mentions picked on both sides (masks, indices or slices)."""
        picked = (
            self.key.numerator[key], self.key.denominator[key], self.response.numerator[response],
            self.response.denominator[response],
        )  # fmt: skip
        return Score(*(float(values.sum()) for values in picked))


def shares(overlaps: Overlaps, metric: str) -> Shares:
    """Shares of one of `SHARED_METRICS`; BLANC is no sum over mentions and has none."""
    both = overlaps.of(metric)
    parts = PARTS[metric](both)
    sides = (
        (both.key, both.key_partner, both.response.sizes.size, parts.recall_num, parts.recall_den),
        (both.response, both.response_partner, both.key.sizes.size, parts.precision_num, parts.precision_den),
    )
    # The cluster of the other side with which each cluster is aligned
    mates = [parts.aligned, np.full(both.response.sizes.size, -1)]
    if parts.aligned.size:
        mates[1][parts.aligned[parts.aligned >= 0]] = np.flatnonzero(parts.aligned >= 0)
    found = []
    for (mentions, partner, others, numerator, denominator), mate in zip(sides, mates, strict=True):
        # How the members of a cluster share its numerator, in proportion
        if metric == "mentions":
            weight = (partner >= 0).astype(float)
        elif metric in ("muc", "b_cubed", "lea"):
            # How many members of the cluster have the same partner; 0 where it has none
            code = np.where(partner >= 0, mentions.owner * np.int64(max(others, 1)) + partner, -1)
            _, group, counts = np.unique(code, return_inverse=True, return_counts=True)
            weight = np.where(partner >= 0, counts[group], 0).astype(float)
            if metric == "muc":
                weight = np.where(weight > 0, 1 - 1 / np.maximum(weight, 1), 0.0)
            elif metric == "lea":
                # A mention's links inside its piece; a singleton has one, to itself
                weight = np.where(mentions.sizes[mentions.owner] > 1, np.maximum(weight - 1, 0), weight)
        else:
            # 1 for members that lie in the cluster theirs is aligned with
            weight = ((partner >= 0) & (mate[mentions.owner] == partner)).astype(float)
        # Each cluster's numerator spread by weight, its denominator equally
        owner = mentions.owner
        total = np.bincount(owner, weights=weight, minlength=numerator.size)
        # CEAF with spans in several clusters can align a cluster by members its own look-up missed.
        weight = np.where(total[owner] > 0, weight, 1.0)
        total = np.where(total > 0, total, mentions.sizes)
        shared = denominator / np.maximum(mentions.sizes, 1)
        found.append(Side(mentions, (numerator / total)[owner] * weight, shared[owner]))
    return Shares(*found)
