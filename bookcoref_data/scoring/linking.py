"""Character linking: precision, recall and F1 on (character, span) pairs, and on spans alone.

The paper scores linking on sets of mentions (its Table 2) and leaves open whether the character's name
is part of what is compared; both are given here.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass

from ..shapes import AsFields
from .scores import AddsUp, Score

Named = Iterable[tuple[str, Iterable[tuple[int, int]]]]


@dataclass(frozen=True, slots=True)
class LinkingScores(AsFields, AddsUp):
    """`linked`: (character, span) pairs; `spans`: spans alone. `common_names`: names on both sides."""

    linked: Score
    spans: Score
    common_names: int


def score_linking(key: Named, response: Named) -> LinkingScores:
    """Compare named mentions of one book. Names are equal when they are equal without outer blanks."""
    left, right = ({(n.strip(), tuple(s)) for n, spans in side for s in spans} for side in (key, response))
    key_spans, response_spans = ({span for _, span in side} for side in (left, right))
    names = {name for name, _ in left} & {name for name, _ in right}
    return LinkingScores(score_sets(left, right), score_sets(key_spans, response_spans), len(names))


def score_sets(key: Iterable[Hashable], response: Iterable[Hashable]) -> Score:
    """Precision and recall of one set against another."""
    left, right = set(key), set(response)
    found = len(left & right)
    return Score(found, len(left), found, len(right))
