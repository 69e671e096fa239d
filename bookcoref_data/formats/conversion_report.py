"""What a file format could not say: collected while reading and writing, shown at the end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

_EXAMPLES = 3


@dataclass
class Loss:
    """One kind of loss: how often it happened, in which documents, and a few examples."""

    what: str
    count: int = 0
    documents: set[str] = field(default_factory=set)
    examples: list[str] = field(default_factory=list)


@dataclass
class Losses:
    """All kinds of loss of one conversion, by the sentence that describes each."""

    kinds: dict[str, Loss] = field(default_factory=dict)

    def add(self, what: str, doc_key: str, example: str = "", count: int = 1) -> None:
        """Note that `what` happened `count` times in the document `doc_key`."""
        loss = self.kinds.setdefault(what, Loss(what))
        loss.count += count
        loss.documents.add(doc_key)
        if example and len(loss.examples) < _EXAMPLES:
            loss.examples.append(f"{doc_key}: {example}")

    def __bool__(self) -> bool:
        return bool(self.kinds)

    def __iter__(self) -> Iterator[Loss]:
        return iter(self.kinds.values())

    def to_json(self) -> list[dict]:
        """One object per kind of loss."""
        return [
            {
                "what": loss.what,
                "count": loss.count,
                "documents": sorted(loss.documents),
                "examples": loss.examples,
            }
            for loss in self
        ]
