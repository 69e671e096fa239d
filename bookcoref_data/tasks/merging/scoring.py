"""How good decisions and merged documents are, against decisions that are right."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ...scoring import ClusterScores, score_documents
from ...scoring.scores import AddsUp, harmonic_mean, ratio
from ...shapes import attributes
from .parts import ChainRef, Decisions, SplitDocument, merge


@dataclass(frozen=True, slots=True)
class DecisionScores(AddsUp):
    """Counts over decisions. A link is right when the chain it chooses holds a chain of the same entity."""

    decisions: int = 0
    right: int = 0
    links: int = 0
    right_links: int = 0
    key_links: int = 0

    @property
    def precision(self) -> float:
        return ratio(self.right_links, self.links)

    @property
    def recall(self) -> float:
        return ratio(self.right_links, self.key_links)

    @property
    def f1(self) -> float:
        return harmonic_mean(self.precision, self.recall)

    @property
    def accuracy(self) -> float:
        """Share of right decisions, New included."""
        return ratio(self.right, self.decisions)

    def to_dict(self) -> dict[str, Any]:
        return attributes(self) | attributes(self, "precision recall f1 accuracy")


def score_decisions(
    document: SplitDocument, key: Decisions, response: Decisions, second: Decisions | None = None
) -> DecisionScores:
    """Compare the decisions of a response with the right ones.

    A link that is right by the decisions `second` alone counts neither as right nor as made.
    """
    entity, joined = _entities(document, key), _entities(document, response)
    other = entity if second is None else _entities(document, second)
    members: dict[ChainRef, set[tuple[str, ChainRef]]] = {}
    counts = DecisionScores()
    for part in range(len(document.numbers)):
        chains = document.of_part(part)
        for ref in chains if part else ():
            chosen, right = response.get(ref), key.get(ref)
            there = members[joined[chosen]] if chosen is not None else set()
            same = right is not None and ("key", entity[ref]) in there
            made = chosen is not None and (same or second is None or ("second", other[ref]) not in there)
            counts += DecisionScores(
                1, int(same or not (made or right is not None)), int(made), int(same), int(right is not None)
            )
        for ref in chains:
            members.setdefault(joined[ref], set()).update({("key", entity[ref]), ("second", other[ref])})
    return counts


def _entities(document: SplitDocument, decisions: Decisions) -> dict[ChainRef, ChainRef]:
    """The first chain of the document chain of every chain."""
    return {ref: root for root, refs in merge(document, decisions).chains.items() for ref in refs}


def score_merged(pairs: Iterable[tuple[SplitDocument, Decisions, Decisions]]) -> ClusterScores:
    """Cluster scores of merged documents, pooled: (document, right decisions, decisions of the response)."""
    merged = [
        (merge(document, key).to_record().clusters, merge(document, response).to_record().clusters)
        for document, key, response in pairs
    ]
    return score_documents(merged)
