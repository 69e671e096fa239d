"""Small rankers in numpy: score every candidate, softmax over the candidates of one decision."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from ...errors import FormatError

WEIGHTS = Path(__file__).resolve().parent.parent / "weights" / "embedded.npz"


_UNITS = 96


@dataclass(frozen=True, slots=True)
class Ranker:
    """Two layers: features are standardised, then `hidden` rectified units, then one score."""

    mean: np.ndarray
    scale: np.ndarray
    w1: np.ndarray
    b1: np.ndarray
    w2: np.ndarray

    def scores(self, x: np.ndarray) -> np.ndarray:
        """One score per row of `x` (candidates, features).

        The hidden units are taken some at a time: products of this size stay below the point at which BLAS
        libraries call for threads, which cost far more than they bring here.
        """
        z = (x - self.mean) * self.scale
        total = np.zeros(len(x), dtype=np.float32)
        for at in range(0, len(self.b1), _UNITS):
            part = slice(at, at + _UNITS)
            total += np.maximum(z @ self.w1[:, part] + self.b1[part], 0.0) @ self.w2[part]
        return total

    def probabilities(self, x: np.ndarray) -> np.ndarray:
        """Softmax of the scores."""
        s = self.scores(x)
        s = np.exp(s - s.max())
        return s / s.sum()


def load_rankers(path: Path = WEIGHTS) -> dict[str, Ranker]:
    """The trained rankers by name. Raises FormatError when the file is not what `save_rankers` writes."""
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as data:
            names = sorted({key.split(".")[0] for key in data.files})
            return {
                n: Ranker(*(data[f"{n}.{part}"].astype(np.float32) for part in Ranker.__slots__))
                for n in names
            }
    except (OSError, ValueError, KeyError, EOFError, BadZipFile) as error:
        raise FormatError(
            f"{path} does not hold the rankers",
            found=str(error),
            hint="reinstall the package, or train them: python -m training.train",
        ) from error


def save_rankers(path: Path, rankers: dict[str, Ranker]) -> None:
    """Write rankers as plain float32 arrays, byte for byte the same for the same numbers."""
    arrays = {
        f"{n}.{p}": getattr(r, p).astype(np.float32) for n, r in rankers.items() for p in Ranker.__slots__
    }
    np.savez(path, **arrays)
