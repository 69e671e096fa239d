"""The numbers of rankers as plain arrays, and the file that holds them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from bookcoref_data.annotation.embedded.network import ARRAYS, TREE_ARRAYS, Ranker


def arrays_of(ranker: Ranker) -> dict[str, np.ndarray]:
    """All numbers of a ranker by name, in the types in which they are stored."""
    arrays = {name: getattr(ranker, name).astype(np.float32) for name in ARRAYS}
    if ranker.forest is not None:
        arrays |= {f"forest.{n}": getattr(ranker.forest, n).astype(t) for n, t in TREE_ARRAYS.items()}
    return arrays


def save_rankers(path: Path, rankers: Mapping[str, Ranker]) -> None:
    """Write rankers as plain arrays, byte for byte the same for the same numbers."""
    arrays = {f"{n}.{part}": a for n in sorted(rankers) for part, a in arrays_of(rankers[n]).items()}
    np.savez(path, allow_pickle=False, **arrays)
