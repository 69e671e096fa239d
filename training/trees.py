"""Fit regression trees to the questions of the rankers: gradient boosting on a softmax over the candidates.

Each tree is fitted to the gradient of what the trees before it leave (Friedman 2001), with Newton steps, and
grown leaf by leaf from histograms of binned features, as LightGBM does (Ke et al. 2017). Pure numpy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bookcoref_data.annotation.embedded.network import LEAVES, Forest

TREES, RATE = 600, 0.05
"""Number of trees, and the share of each step that is taken."""
BINS, EDGES_FROM = 64, 50_000
"""Most values of a feature that are told apart, and the rows from which they are drawn."""
QUESTIONS, FEATURES = 0.7, 0.3
"""Shares of the questions and of the features that a tree sees."""
RIDGE, LEAST_CURVE = 5.0, 2.0
"""What is added to the curvature of a leaf, and the least that it must have."""
_SLIGHT = 1e-6


class Split(NamedTuple):
    """A leaf is split: rows whose bin of the feature is above `bin` go to a new leaf on its right."""

    leaf: int
    feature: int
    bin: int


@dataclass(frozen=True, slots=True)
class _Leaf:
    """Rows of a leaf, sums of gradient and curvature by (feature, bin), and the best split: its gain, the
    place of its feature among those seen, and its bin."""

    rows: np.ndarray
    slope: np.ndarray
    curve: np.ndarray
    gain: float
    place: int
    bin: int

    @property
    def step(self) -> float:
        """The Newton step of all rows together."""
        return float(-self.slope[0].sum() / (self.curve[0].sum() + RIDGE))


class Binned:
    """The rows of all questions with every feature cut into few values."""

    def __init__(self, rows: np.ndarray, rng: np.random.Generator) -> None:
        drawn = rows[rng.permutation(len(rows))[:EDGES_FROM]]
        self.edges = [_edges(column) for column in drawn.T]
        self.columns = [
            np.searchsorted(edges, column).astype(np.uint8)
            for edges, column in zip(self.edges, rows.T, strict=True)
        ]
        self.of_use = np.array([j for j, edges in enumerate(self.edges) if len(edges)])

    def leaves(self, splits: Sequence[Split]) -> np.ndarray:
        """The leaf of every row, in the order in which the leaves came about."""
        leaf = np.zeros(len(self.columns[0]), dtype=np.int8)
        for k, split in enumerate(splits):
            leaf[(leaf == split.leaf) & (self.columns[split.feature] > split.bin)] = k + 1
        return leaf


def _edges(column: np.ndarray) -> np.ndarray:
    """Thresholds between the values of a feature: all of them, or some at equal shares."""
    values = np.unique(column)
    if len(values) <= BINS:
        return (values[:-1] + values[1:]) / 2
    return np.unique(np.quantile(column, np.linspace(0, 1, BINS + 1)[1:-1]).astype(column.dtype))


def fit_forest(
    candidates: Sequence[np.ndarray], right: np.ndarray, weight: np.ndarray, seed: int, trees: int = TREES
) -> Forest:
    """Trees for questions: `candidates` has an array (candidates, features) per question, `right` the row
    that is right, and `weight` says how much a question counts."""
    rng = np.random.default_rng(seed)
    sizes = np.array([len(x) for x in candidates])
    first, question = np.cumsum(sizes) - sizes, np.repeat(np.arange(len(sizes)), sizes)
    data = Binned(np.concatenate(list(candidates)), rng)
    answer = np.zeros(len(question))
    answer[first + right] = 1.0
    score, counts = np.zeros(len(question)), weight[question]
    grown = []
    for _ in range(trees):
        p = _softmax(score, first, question)
        slope, curve = (p - answer) * counts, np.maximum(2 * p * (1 - p), _SLIGHT) * counts
        rows = np.flatnonzero((rng.random(len(sizes)) < QUESTIONS)[question])
        seen = rng.choice(data.of_use, max(int(len(data.of_use) * FEATURES), 1), replace=False)
        splits, steps = _grow(data, seen, rows, slope, curve)
        values = RATE * np.array(steps)
        score += values[data.leaves(splits)]
        grown.append((splits, values))
    return _forest(grown, data)


def _softmax(score: np.ndarray, first: np.ndarray, question: np.ndarray) -> np.ndarray:
    e = np.exp(score - np.maximum.reduceat(score, first)[question])
    return e / np.add.reduceat(e, first)[question]


def _grow(
    data: Binned, seen: np.ndarray, rows: np.ndarray, slope: np.ndarray, curve: np.ndarray
) -> tuple[list[Split], list[float]]:
    """One tree: its splits, and the step of every leaf. The split that gains most comes first."""
    leaves = [_leaf(rows, *_sums(data, seen, rows, slope, curve))]
    splits: list[Split] = []
    while len(leaves) < LEAVES:
        k = max(range(len(leaves)), key=lambda i: leaves[i].gain)
        leaf = leaves[k]
        if leaf.gain <= 0:
            break
        feature = int(seen[leaf.place])
        above = data.columns[feature][leaf.rows] > leaf.bin
        parts = leaf.rows[~above], leaf.rows[above]
        small = int(len(parts[1]) < len(parts[0]))
        sums = _sums(data, seen, parts[small], slope, curve)
        others = leaf.slope - sums[0], leaf.curve - sums[1]
        both = [others, others]
        both[small] = sums
        leaves[k] = _leaf(parts[0], *both[0])
        leaves.append(_leaf(parts[1], *both[1]))
        splits.append(Split(k, feature, leaf.bin))
    return splits, [leaf.step for leaf in leaves]


def _sums(
    data: Binned, seen: np.ndarray, rows: np.ndarray, slope: np.ndarray, curve: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Sums of gradient and curvature by feature and bin. Shape (features, bins) each."""
    slopes, curves = np.empty((2, len(seen), BINS))
    of_rows = slope[rows], curve[rows]
    for k, feature in enumerate(seen):
        bins = data.columns[feature][rows]
        slopes[k] = np.bincount(bins, of_rows[0], BINS)
        curves[k] = np.bincount(bins, of_rows[1], BINS)
    return slopes, curves


def _leaf(rows: np.ndarray, slope: np.ndarray, curve: np.ndarray) -> _Leaf:
    """A leaf with its best split."""
    left, curve_left = np.cumsum(slope, axis=1)[:, :-1], np.cumsum(curve, axis=1)[:, :-1]
    whole, curve_whole = slope.sum(axis=1, keepdims=True), curve.sum(axis=1, keepdims=True)
    right, curve_right = whole - left, curve_whole - curve_left
    gain = left**2 / (curve_left + RIDGE) + right**2 / (curve_right + RIDGE)
    gain -= whole**2 / (curve_whole + RIDGE)
    gain[np.minimum(curve_left, curve_right) < LEAST_CURVE] = -1.0
    best = int(gain.argmax())
    return _Leaf(rows, slope, curve, float(gain.flat[best]), *divmod(best, gain.shape[1]))


def _forest(grown: Sequence[tuple[Sequence[Split], np.ndarray]], data: Binned) -> Forest:
    """The trees in the form in which they are asked, leaves numbered from left to right."""
    shape = LEAVES - 1, len(grown)
    feature, threshold = np.zeros(shape, np.intp), np.full(shape, np.inf, np.float32)
    out, value = np.zeros(shape, np.uint8), np.zeros((len(grown), LEAVES), np.float32)
    for t, (splits, values) in enumerate(grown):
        order, left_of = [0], []
        for k, split in enumerate(splits):
            for below in left_of:
                if split.leaf in below:
                    below.add(k + 1)
            left_of.append({split.leaf})
            order.insert(order.index(split.leaf) + 1, k + 1)
            feature[k, t] = split.feature
            threshold[k, t] = data.edges[split.feature][split.bin]
        for k, below in enumerate(left_of):
            out[k, t] = sum(1 << order.index(leaf) for leaf in below)
        value[t, : len(order)] = values[order]
    return Forest(feature, threshold, out, value)
