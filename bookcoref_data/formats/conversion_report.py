"""What a conversion did: how much was written, and what of the source is not in the target."""

from collections.abc import Iterable, Sized
from dataclasses import dataclass, field
from typing import Any, Protocol

from ..errors import DataError, SourceError

_EXAMPLES = 3


@dataclass
class NotKept:
    """One kind of thing that was left out: how often, in which documents, and a few examples."""

    what: str
    count: int = 0
    documents: set[str] = field(default_factory=set)
    examples: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """All fields; the documents as a sorted list."""
        return {**vars(self), "documents": sorted(self.documents)}


class Note(Protocol):
    """Notes that `what` of one document was left out `count` times; 0 times is nothing to note."""

    def __call__(self, what: str, example: str = "", count: int = 1) -> None: ...


@dataclass
class ConversionReport:
    """The account of one conversion. Readers and writers add to it as they go.

    `documents`, `tokens`, `mentions` and `clusters` count what was written; `tokens` is None where a
    document has offsets only. `complete` says whether everything that was read is in what was written.
    """

    read_as: str = ""
    written_as: str = ""
    documents: int = 0
    tokens: int | None = 0
    mentions: int = 0
    clusters: int = 0
    kinds: dict[str, NotKept] = field(default_factory=dict)
    broken: list[DataError | SourceError] = field(default_factory=list)
    """Why files could not be read to their end, where the rest goes on without them."""

    def add(self, what: str, doc_key: str, example: str = "", count: int = 1) -> None:
        """Note that `what` was left out `count` times in the document `doc_key`."""
        if count < 1:
            return
        item = self.kinds.setdefault(what, NotKept(what))
        item.count += count
        item.documents.add(doc_key)
        if example and len(item.examples) < _EXAMPLES:
            item.examples.append(f"{doc_key}: {example}")

    def note(self, doc_key: str) -> Note:
        """What notes the losses of one document."""

        def note(what: str, example: str = "", count: int = 1) -> None:
            self.add(what, doc_key, example, count)

        return note

    def wrote(self, tokens: int | None, clusters: Iterable[Sized]) -> None:
        """Note that a document was written: its number of tokens, and its clusters as they were written."""
        sizes = [len(cluster) for cluster in clusters]
        self.documents += 1
        self.tokens = None if tokens is None or self.tokens is None else self.tokens + tokens
        self.mentions += sum(sizes)
        self.clusters += sum(size > 0 for size in sizes)

    @property
    def not_kept(self) -> list[NotKept]:
        """One item for each kind of thing that was left out, in the order in which they were met."""
        return list(self.kinds.values())

    @property
    def complete(self) -> bool:
        return not self.kinds

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready: the counts of what was written, and `not_kept` as a list of objects."""
        counts = {name: value for name, value in vars(self).items() if name not in ("kinds", "broken")}
        return {**counts, "not_kept": [item.to_dict() for item in self.not_kept]}
