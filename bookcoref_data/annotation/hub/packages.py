"""Coreference models of other packages in the steps `windows` and `groups`.

`model = "module:function"` names a function of yours. It gets the device as text and returns a callable:
sentences (lists of words) to clusters, each a list of (first word, last word), both inclusive, counted over
all sentences. docs/gpu.md shows one for xCoRe.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from ...errors import UsageError
from .maverick import Antecedent

if TYPE_CHECKING:
    import torch

Clusters = list[list[tuple[int, int]]]
Find = Callable[[Sequence[Sequence[str]]], Clusters]


class Package:
    """A coreference model that gives clusters and no scores: `find` takes sentences."""

    def __init__(self, find: Find, device: torch.device) -> None:
        self.find, self.device = find, device

    @classmethod
    def load(cls, model: str, device: torch.device) -> Package:
        """The model that a recipe or `--model` names. Raises UsageError."""
        place, _, name = model.partition(":")
        try:
            find = getattr(importlib.import_module(place), name)(str(device))
        except (ImportError, AttributeError) as error:
            raise UsageError(
                f"the model {model!r} cannot be made", found=error,
                expected="module:function, on the path of Python",
            ) from error  # fmt: skip
        return cls(find, device)


def links_of(clusters: Clusters, number: dict[tuple[int, int], int]) -> list[Antecedent]:
    """Clusters as links, each mention to the one before it, in the order of the text; `number` is that of a
    mention."""
    pairs = (pair for cluster in clusters for pair in pairwise(sorted({number[a, b] for a, b in cluster})))
    return [Antecedent(later, earlier, 1.0) for earlier, later in sorted(pairs, key=lambda pair: pair[1])]


def is_package(model: str) -> bool:
    """Whether a model is named with its package: "module:function"."""
    place, mark, name = model.partition(":")
    return (
        bool(mark) and all(part.isidentifier() for part in place.split(".")) and len(place) > 1 and bool(name)
    )
