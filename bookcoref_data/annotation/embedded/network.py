"""Small rankers in numpy: score every candidate, softmax over the candidates of one decision.

A ranker is a network of two layers. The ranker of "he" and "she" adds the scores of regression trees, which
see thresholds that a network smooths over ("three sentences back"); in quotes the trees stand alone.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from ...errors import FormatError

WEIGHTS = Path(__file__).resolve().parent.parent / "weights" / "embedded.npz"
_UNITS = 96
_NOISE = 0.5
"""Scale of the noise of a ranker that wavers: candidates win by the square of their probability."""
LEAVES = 8
"""Most leaves of a tree: one bit each in a byte."""
_FIRST_LEFT = np.array([(byte + 1 & ~byte).bit_length() - 1 for byte in range(2**LEAVES - 1)], dtype=np.intp)
"""Byte -> its lowest bit that is not set."""


@dataclass(frozen=True, slots=True)
class Forest:
    """Regression trees whose values add up.

    Leaves are numbered from left to right. A split sends a row to its right side if a feature is above a
    threshold; then the leaves of its left side are out. The row's own leaf is the first that no split has put
    out, so the splits of all trees are asked at once (Lucchese et al. 2015, QuickScorer).

    `feature`, `threshold` and `out` have shape (splits, trees), `value` (trees, LEAVES). A bit of `out` is
    set for every leaf that the split puts out. A split that a tree does not have has an infinite threshold.
    """

    feature: np.ndarray
    threshold: np.ndarray
    out: np.ndarray
    value: np.ndarray

    def scores(self, x: np.ndarray) -> np.ndarray:
        """One score per row of `x` (candidates, features)."""
        # The features were checked when the trees were loaded: "wrap" spares a second look at each.
        passed = x.take(self.feature, axis=1, mode="wrap") > self.threshold
        out = np.bitwise_or.reduce(passed.view(np.uint8) * self.out, axis=1)
        leaf = _FIRST_LEFT.take(out) + LEAVES * np.arange(len(self.value))
        total: np.ndarray = self.value.take(leaf).sum(axis=1)
        return total


ARRAYS = ("mean", "scale", "w1", "b1", "w2")
TREE_ARRAYS = {"feature": np.int16, "threshold": np.float32, "out": np.uint8, "value": np.float32}
"""Arrays of the trees, and the types in which they are stored."""


@dataclass(frozen=True, slots=True)
class Ranker:
    """Two layers: features are standardised, then `hidden` rectified units, then one score; what the trees of
    `forest` say is added."""

    mean: np.ndarray
    scale: np.ndarray
    w1: np.ndarray
    b1: np.ndarray
    w2: np.ndarray
    forest: Forest | None = None

    def scores(self, x: np.ndarray) -> np.ndarray:
        """One score per row of `x` (candidates, features)."""
        network = self._network(x)
        return network if self.forest is None else network + self.forest.scores(x)

    def _network(self, x: np.ndarray) -> np.ndarray:
        """The scores of the network alone.

        The hidden units are taken some at a time: products of this size stay below the point at which BLAS
        libraries call for threads, which cost far more than they bring here.
        """
        z = x - self.mean
        z *= self.scale
        total = np.zeros(len(x), dtype=np.float32)
        for at in range(0, len(self.b1), _UNITS):
            part = slice(at, at + _UNITS)
            units = z @ self.w1[:, part]
            units += self.b1[part]
            total += np.maximum(units, 0.0, out=units) @ self.w2[part]
        return total

    def probabilities(self, x: np.ndarray) -> np.ndarray:
        """Softmax of the scores."""
        s = self.scores(np.ascontiguousarray(x))
        np.exp(s - s.max(), out=s)
        s /= s.sum()
        return s


@dataclass(frozen=True, slots=True)
class Wavering(Ranker):
    """A ranker that draws its choice: what it is sure of stays, the rest changes. Gumbel noise on the scores
    draws each candidate in proportion to a power of its probability (Gumbel 1954)."""

    draw: np.random.Generator = field(kw_only=True)

    def scores(self, x: np.ndarray) -> np.ndarray:
        noise = self.draw.gumbel(scale=_NOISE, size=len(x)).astype(np.float32)
        return Ranker.scores(self, x) + noise


def load_rankers(path: Path = WEIGHTS) -> dict[str, Ranker]:
    """The trained rankers by name. Raises FormatError when the file is not what `save_rankers` writes."""
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as data:
            names = sorted({key.split(".")[0] for key in data.files})
            return {name: _ranker(name, data) for name in names}
    except (OSError, ValueError, KeyError, EOFError, BadZipFile) as error:
        raise FormatError(
            f"{path} does not hold the rankers",
            found=str(error),
            hint="reinstall the package, or train them: python -m training.train",
        ) from error


def _ranker(name: str, data: Mapping[str, np.ndarray]) -> Ranker:
    mean, scale, w1, b1, w2 = (data[f"{name}.{part}"].astype(np.float32) for part in ARRAYS)
    # Numbers below the normal range change no sum, but processors multiply them many times slower.
    w1[np.abs(w1) < np.finfo(np.float32).tiny] = 0
    if f"{name}.forest.feature" not in data:
        return Ranker(mean, scale, w1, b1, w2)
    feature, threshold, out, value = (data[f"{name}.forest.{part}"] for part in TREE_ARRAYS)
    if not feature.shape == threshold.shape == out.shape or value.shape != (feature.shape[1], LEAVES):
        raise ValueError(f"the trees of {name!r}: {feature.shape} splits and {value.shape} leaves")
    if feature.size and not 0 <= feature.min() <= feature.max() < len(mean):
        raise ValueError(f"the trees of {name!r} ask for a feature that there is not")
    return Ranker(mean, scale, w1, b1, w2, Forest(feature.astype(np.intp), threshold, out, value))
