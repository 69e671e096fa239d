"""How much work a run over many books is, before it begins: books, tokens, hours."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ..formats.folder import is_folder, read_build
from .annotate_many import Shelf, book_files

BYTES_PER_TOKEN = {".txt": 5.3, ".text": 5.3, ".jsonl": 8.0}
"""Size of a plain text and of a tokenised record per token, over the 52 texts of BookCoref."""
TOKENS_PER_SECOND = {"embedded": 4_500.0}
"""Speed of one process of a backend, from file to finished annotation (docs/scale.md)."""
_PACKED = 3.0


@dataclass(frozen=True, slots=True)
class Workload:
    """What is to be done. `hours` is an estimate, None where nothing is known of the backend's speed."""

    books: int
    tokens: int
    processes: int
    hours: float | None

    def __str__(self) -> str:
        line = f"{self.books:,} books, about {self.tokens:,} tokens"
        if self.hours is None:
            return line
        processes = "1 process" if self.processes == 1 else f"{self.processes} processes"
        return f"{line}, about {self.hours:,.1f} hours with {processes}"


def workload(books: Shelf, processes: int) -> Workload:
    """The work of annotating all books, from the sizes of their files alone.

    Raises:
        UsageError: there are no books.
    """
    path = books.path
    if path.is_dir() and is_folder(path):
        tokens = sum(book.tokens for book in read_build(path).books)
    else:
        tokens = round(sum(map(_tokens, book_files(path))))
    speed = TOKENS_PER_SECOND.get(books.plan.backend)
    hours = tokens / speed / 3600 / max(1, processes) if speed else None
    return Workload(books.count(), round(tokens, -3), processes, hours)


def _tokens(path: Path) -> float:
    """About how many tokens a file holds."""
    suffixes = [suffix for suffix in path.suffixes if suffix in BYTES_PER_TOKEN]
    packed = _PACKED if path.suffix in (".gz", ".zst") else 1.0
    return path.stat().st_size * packed / BYTES_PER_TOKEN[suffixes[-1] if suffixes else ".txt"]
