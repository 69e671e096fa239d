"""`stats`, `align` and `convert` for Python."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import UsageError, plural
from ..files import path_of
from .books import AnnotatedBook, Books, PathLike, path_or_none, records_of
from .results import Result
from .tables import Table

if TYPE_CHECKING:
    from ..books import Record
    from ..books.statistics import DocumentStatistics, Statistics
    from ..formats import ConversionReport
    from ..workflows.align import Aligned


class Counts(Table):
    """Table 1 of the paper, one row per source. `totals` has the same by name, as objects.

    `books` is the table of single books, empty unless it was asked for; `plots` are the pictures written.
    """

    def __init__(self, found: Sequence[tuple[str, list[DocumentStatistics]]], *, per_book: bool) -> None:
        from ..books.statistics import corpus_statistics

        self.totals = [(name, corpus_statistics(documents)) for name, documents in found]
        self.of_books = [
            [(d.doc_key, corpus_statistics([d])) for d in documents] if per_book else []
            for _, documents in found
        ]
        self.books = _table_of("doc_key", [pair for pairs in self.of_books for pair in pairs])
        self.plots: list[Path] = []
        super().__init__(_table_of("source", self.totals).to_dict())

    def documents(self) -> list[dict[str, Any]]:
        """What `stats --json` prints: one document per source."""
        rows = []
        for (name, total), books in zip(self.totals, self.of_books, strict=True):
            single = [{"doc_key": key, **of_book.to_dict()} for key, of_book in books]
            rows.append({"path": name, **total.to_dict(), **({"books": single} if single else {})})
        return rows


def _table_of(first: str, rows: Sequence[tuple[str, Statistics]]) -> Table:
    made = [{first: name, **found.to_dict()} for name, found in rows]
    return Table({column: [row[column] for row in made] for column in (made[0] if made else [first])})


def stats(
    *sources: Any,
    format: str | None = None,
    config: str = "full",
    per_book: bool = False,
    plots: PathLike | None = None,
) -> Counts:
    """The paper's Table 1, one row per source; a source is a path, a book, or books.

    Args:
        format: format of the files, where their names do not say.
        config: "full" or "split", of a data set folder.
        per_book: one row per document, too: `.books`.
        plots: a folder for a picture of length and distance (Figure 1; extra `plots`).

    Raises:
        UsageError: nothing to count. SourceError, FormatError: a file cannot be read.
    """
    from ..books.statistics import document_statistics

    if not sources:
        raise UsageError("nothing to count", expected="at least one path, book, or list of books")
    found = [
        (_name_of(source, number), [document_statistics(r) for r in _records(source, format, config)])
        for number, source in enumerate(sources, 1)
    ]
    counts = Counts(found, per_book=per_book)
    if (folder := path_or_none(plots)) is not None:
        from ..report.statistics_plots import save_plots

        books = [pair for pairs in counts.of_books for pair in pairs]
        counts.plots = list(save_plots([*counts.totals, *books], folder))
    return counts


def _name_of(source: Any, number: int) -> str:
    return str(source) if isinstance(source, str | os.PathLike) else f"source {number}"


def _records(source: Any, format: str | None, config: str) -> list[Record]:
    from ..formats import read_documents

    if isinstance(source, str | os.PathLike):
        return read_documents(path_of(source), format, config)
    return records_of(source)


class Carried(Result):
    """An annotation carried over to another text: the books, and what became of their mentions."""

    def __init__(self, results: Sequence[Aligned]) -> None:
        self.results = list(results)

    @property
    def books(self) -> Books:
        """The new texts with the annotation that could be carried over."""
        return Books(AnnotatedBook(one.record) for one in self.results)

    @property
    def book(self) -> AnnotatedBook:
        """The only book. Raises UsageError when there are several: see `books`."""
        if len(self.results) != 1:
            raise UsageError(f"these are {len(self.results)} books", expected="carried.books[name]")
        return self.books[0]

    @property
    def exact(self) -> bool:
        """Whether the new text is the very edition that was annotated."""
        return all(one.report is None for one in self.results)

    @property
    def table(self) -> Table:
        """One row per character: how many of its mentions were kept, moved, changed and lost."""
        columns = ("doc_key", "character", "mentions", "kept", "moved", "changed", "lost")
        rows = [
            [one.report.doc_key, t.name, t.total, t.kept, t.moved, t.changed, t.lost]
            for one in self.results
            if one.report
            for t in one.report.characters
        ]
        return Table.of_rows(columns, rows)

    def to_dict(self) -> dict[str, Any]:
        """`documents`, what `align --json` prints: counts and examples of each document."""
        return {"documents": [one.to_dict() for one in self.results]}

    def require(self, min_kept: float) -> None:
        """Raises EditionError when a smaller share of a book's mentions was kept."""
        for one in self.results:
            if one.report:
                one.report.require(min_kept)

    def save(self, path: PathLike, format: str | None = None) -> Path:
        """Write the carried annotation; the format is chosen by the suffix unless it is named."""
        return self.books.save(path, format)

    def _line(self) -> str:
        mentions = sum(len(cluster) for one in self.results for cluster in one.record.clusters)
        state = "exact" if self.exact else "remapped"
        return f"{state}, {plural(len(self.results), 'book')}, {plural(mentions, 'mention')}"


def align(
    old: Any,
    new: PathLike,
    *,
    out: PathLike | None = None,
    report: PathLike | None = None,
    min_kept: float = 0.0,
    least_matched: float = 0.75,
    doc_key: str | None = None,
    old_format: str | None = None,
    new_format: str | None = None,
    to: str | None = None,
) -> Carried:
    """Carry the annotation of `old` (books, an annotated file, or a pack) over to another edition.

    Args:
        new: the other text: plain (`.txt`) or tokenised documents.
        out: a file for the carried annotation; `to` is its format, where the name does not say.
        report: a file for the full report (JSON).
        min_kept: fail when a smaller share of the mentions is kept; `out` is not written then.
        least_matched: refuse a text in which a smaller share of the tokens is found.
        doc_key: only this document of `old`.
        old_format, new_format: formats, where the names do not say.

    Raises:
        SourceError, FormatError: a file cannot be read. UsageError: documents cannot be paired.
        EditionError: `new` is no edition of the same book, or too few mentions were kept.
    """
    import json

    from ..files import write_text
    from ..workflows.align import align_files, align_records

    target = path_of(new)
    if isinstance(old, str | os.PathLike):
        path = path_of(old)
        found = align_files(path, target, old_format=old_format, new_format=new_format, doc_key=doc_key,
                            least_matched=least_matched)  # fmt: skip
    else:
        records = [r for r in records_of(old) if doc_key in (None, r.doc_key)]
        found = align_records(records, target, new_format=new_format, least_matched=least_matched)
    carried = Carried(found)
    if (path_of_report := path_or_none(report)) is not None:
        documents = carried.to_dict()["documents"]
        write_text(path_of_report, json.dumps(documents, ensure_ascii=False, indent=1) + "\n")
    carried.require(min_kept)
    if out is not None:
        carried.save(out, to)
    return carried


def convert(
    source: PathLike,
    target: PathLike,
    *,
    read_as: str | None = None,
    write_as: str | None = None,
    config: str | None = None,
    key: PathLike | None = None,
    parts: str | None = None,
    doc_key: str | None = None,
    tokenizer: str | None = None,
    segment_length: int | None = None,
) -> ConversionReport:
    """Convert a file to another format; returns what was written and what could not be kept.

    The options are those of the command line: `key` moves the mentions onto the tokens of other documents,
    `parts` joins parts of CoNLL documents, `doc_key` names JSON lines without a key, `tokenizer` and
    `segment_length` are for the formats in subwords (longdoc, dual-cache).

    Raises:
        UsageError, FormatError, DataError, SourceError: as the command line reports them.
    """
    from ..formats.convert import convert as run

    return run(
        path_of(source),
        path_of(target),
        read_as=read_as,
        write_as=write_as,
        config=config,
        key=path_or_none(key),
        parts=parts,
        doc_key=doc_key,
        tokenizer=tokenizer,
        segment_length=segment_length,
    )
