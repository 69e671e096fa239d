"""Propose casts for all books of a file or folder, as cast files that a person reads and edits."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..annotation.cast import format_cast
from ..annotation.propose import Proposal, propose_cast
from ..files import safe_name, write_text
from ..shapes import attributes
from .annotate import check_language
from .annotate_many import book_files, sources_in


@dataclass(frozen=True, slots=True)
class ProposedCast:
    """The cast proposed from one book, and the file that it was written to."""

    doc_key: str
    proposal: Proposal
    file: Path | None = None

    def to_dict(self) -> dict[str, Any]:
        """The book and one value per character: names, counts, and passages that name them."""
        return attributes(self, "doc_key file") | attributes(self.proposal, "characters")


def propose_casts(path: Path, out: Path | None, language: str = "") -> Iterator[ProposedCast]:
    """Propose a cast for every book in a file or folder, one after the other.

    With `out` each is written to `out`/<document key>.txt, where `annotate --cast OUT` looks for it. A file
    that stands there already is not touched: somebody may have edited it. Raises UsageError: a book names
    nobody often enough, or is not English (see `check_language`).
    """
    for source in (source for file in book_files(path) for source in sources_in(file)):
        key = source.book.doc_key
        check_language(source.book, language)
        proposal = propose_cast(source.book)
        if out is None:
            yield ProposedCast(key, proposal)
            continue
        file = out / f"{safe_name(key, 'document key')}.txt"
        text = format_proposal(key, proposal)
        write_text(file, text)
        yield ProposedCast(key, proposal, file)


def format_proposal(doc_key: str, proposal: Proposal) -> str:
    """The text of a cast file: one line per character, behind it how often each name occurs and where."""
    head = f"# Proposed cast of {doc_key}: check names and aliases, join or delete lines, then use --cast.\n"
    return head + format_cast(proposal.cast, proposal.remarks)
