"""How good decisions and merged documents are, against decisions that are right."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ...evaluate import ClusterScores, score_documents
from .parts import ChainRef, Decisions, SplitDocument, merge


@dataclass(frozen=True, slots=True)
class DecisionScores:
    """Counts over decisions. A link is right when the chain it chooses holds a chain of the same entity."""

    decisions: int = 0
    right: int = 0
    links: int = 0
    right_links: int = 0
    key_links: int = 0

    @property
    def precision(self) -> float:
        return self.right_links / self.links if self.links else 0.0

    @property
    def recall(self) -> float:
        return self.right_links / self.key_links if self.key_links else 0.0

    @property
    def f1(self) -> float:
        both = self.links + self.key_links
        return 2 * self.right_links / both if both else 0.0

    @property
    def accuracy(self) -> float:
        """Share of right decisions, New included."""
        return self.right / self.decisions if self.decisions else 0.0

    def __add__(self, other: DecisionScores) -> DecisionScores:
        return DecisionScores(*(getattr(self, n) + getattr(other, n) for n in self.__slots__))

    def to_dict(self) -> dict[str, Any]:
        counts = {name: getattr(self, name) for name in self.__slots__}
        return counts | {
            "precision": self.precision, "recall": self.recall, "f1": self.f1, "accuracy": self.accuracy,
        }  # fmt: skip


def score_decisions(document: SplitDocument, key: Decisions, response: Decisions) -> DecisionScores:
    """Compare the decisions of a response with the right ones."""
    entity = _entities(document, key)
    joined = _entities(document, response)
    members: dict[ChainRef, set[ChainRef]] = {}
    counts = DecisionScores()
    for part in range(len(document.numbers)):
        chains = document.of_part(part)
        for ref in chains if part else ():
            chosen, right = response.get(ref), key.get(ref)
            same = chosen is not None and right is not None and entity[ref] in members[joined[chosen]]
            counts += DecisionScores(
                1, int(same or (chosen is None and right is None)), int(chosen is not None), int(same),
                int(right is not None),
            )  # fmt: skip
        for ref in chains:
            members.setdefault(joined[ref], set()).add(entity[ref])
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
