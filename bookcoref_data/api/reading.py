"""Read, correct and export annotated books from Python."""

from __future__ import annotations

import os
from collections.abc import Iterable
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..books import Book, Record
from ..errors import UsageError, plural
from ..files import path_of
from .books import AnnotatedBook, PathLike, records_of
from .tables import Table

if TYPE_CHECKING:
    from ..books.annotation import Annotation
    from ..edits import Anchor, Applied, Conflict, Edit
    from ..view.compare import Differences

_HEIGHT = 640


class Page:
    """An annotated book as one page of HTML. It can be used as a path when it was written to a file."""

    def __init__(
        self, html: str, annotation: Annotation, differences: Differences | None, path: Path | None
    ) -> None:
        self.html, self.annotation, self.differences, self.path = html, annotation, differences, path

    @property
    def name(self) -> str:
        """The name of the file, "" when there is none."""
        return self.path.name if self.path else ""

    def to_dict(self) -> dict[str, Any]:
        """The same document as `view --json`."""
        return {
            "file": str(self.path) if self.path else None,
            "bytes": len(self.html.encode("utf-8")),
            "doc_key": self.annotation.doc_key,
            "mentions": len(self.annotation.mentions),
            "characters": len(self.annotation.names),
            "differences": self.differences.counts() if self.differences else None,
        }

    def __fspath__(self) -> str:
        if self.path is None:
            raise TypeError("the page was not written to a file: bc.view(book, 'page.html')")
        return os.fspath(self.path)

    def __repr__(self) -> str:
        return f"<Page of {self.annotation.doc_key!r}: {len(self.annotation.mentions):,} mentions>"

    def _repr_html_(self) -> str:
        return f'<iframe srcdoc="{escape(self.html)}" width="100%" height="{_HEIGHT}"></iframe>'


def view(
    source: Any,
    out: PathLike | None = None,
    *,
    book: str = "",
    compare: Any = None,
    edits: PathLike | None = None,
    title: str = "",
    author: str = "",
    spoiler_safe: bool = False,
) -> Page:
    """An annotated book as one page for reading and correcting; notebooks show it at once.

    Args:
        source: a folder of `annotate`, a data set folder, a file in any format, or a book.
        out: the HTML file to write; None keeps the page in memory.
        book: the document key, where there are several.
        compare: a second annotation of the same text: the page shows what differs.
        edits: corrections to begin with.
        title: title of the page, else the document key.
        author: name written into each correction.
        spoiler_safe: begin without names and places beyond the page being read.

    Raises:
        UsageError: several books and none is named. SourceError, DataError: a file cannot be read.
    """
    from ..files import write_text
    from ..view import PageOptions, render
    from ..view import compare as find_differences
    from ..workflows.correct import one_annotation, read_edits

    annotation = one_annotation(annotations_of(source), book, _label(source))
    differences = None
    if compare is not None:
        other = one_annotation(annotations_of(compare), annotation.doc_key, _label(compare))
        labels = (_label(source).stem or "first", _label(compare).stem or "second")
        differences = find_differences(annotation, other, labels=labels)
    kept = [edit.to_dict() for edit in read_edits(path_of(edits))] if edits else ()
    options = PageOptions(
        title=title, author=author, spoiler_safe=spoiler_safe, differences=differences, edits=kept
    )
    html = render(annotation, options)
    path = None if out is None else path_of(out)
    if path is not None:
        write_text(path, html)
    return Page(html, annotation, differences, path)


def export(source: Any, to: str, out: PathLike, *, book: str = "", replace: bool = False) -> list[Path]:
    """Write annotated books as tables, networks, TEI or files of other tools; returns the files.

    Args:
        source: a folder of `annotate`, a data set folder, a file in any format, or books.
        to: csv, tsv, parquet, graphml, gexf, tei, tei-standoff, webannotation, inception, booknlp, spacy,
            replaced-text or audiobook.
        out: a folder, or a file for one book.
        book: only this document key.
        replace: overwrite files that are there and were not exported before.

    Raises:
        UsageError: an unknown target, no such book, or other files in the place of tables.
    """
    from ..export import export as write

    return write(_chosen(source, book), to, path_of(out), replace=replace)


def report(source: Any, out: PathLike, *, book: str = "", plots: bool = True) -> list[Path]:
    """Write a page about annotated books (cast, shares of speech, presence, network); returns the files.

    Raises:
        UsageError: `out` is neither .html nor .md, or there is no such book.
    """
    from ..export.report import write_report

    return list(write_report(_chosen(source, book), path_of(out), plots=plots))


class Corrected(list["Applied"]):
    """What was done with corrections, one item for each document."""

    @property
    def conflicts(self) -> list[Conflict]:
        """The edits that need a person, with the reason."""
        return [conflict for one in self for conflict in one.conflicts]

    @property
    def table(self) -> Table:
        """One row per document: edits that changed it, that it had already, found elsewhere, left to you."""
        columns = ("doc_key", "changed", "unchanged", "moved", "conflicts")
        rows = [[d.annotation.doc_key, d.changed, d.unchanged, d.moved, len(d.conflicts)] for d in self]
        return Table.of_rows(columns, rows)

    def to_dict(self) -> dict[str, Any]:
        """`documents`: what `edits apply --json` prints."""
        return {"documents": [one.to_dict() for one in self]}

    def __repr__(self) -> str:
        changed = sum(one.changed for one in self)
        counts = (len(self), "document"), (changed, "edit"), (len(self.conflicts), "conflict")
        return f"<Corrected: {', '.join(plural(count, word) for count, word in counts)}>"


def apply_edits(
    annotation: PathLike, edits: PathLike | Iterable[Edit], out: PathLike, *, replace: bool = False
) -> Corrected:
    """Correct an annotation and write it to `out` (a folder, or a file of a known format).

    Returns what was done, one for each document; `conflicts` lists the edits that need a person. `replace`
    allows the folder `out` to lose the annotation of other books.

    Raises:
        UsageError: an edit names a document that is not there, or `out` would lose books.
    """
    from ..workflows.correct import apply_edits as run
    from ..workflows.correct import read_edits

    wanted = read_edits(path_of(edits)) if isinstance(edits, str | os.PathLike) else list(edits)
    done = run(path_of(annotation), wanted, path_of(out), replace=replace)
    return Corrected(done)


class Corrections(list["Edit"]):
    """Corrections in order. `lost` are places of the new annotation that the old text lacks, by document."""

    def __init__(self, edits: Iterable[Edit], lost: dict[str, tuple[Anchor, ...]]) -> None:
        super().__init__(edits)
        self.lost = lost

    @property
    def table(self) -> Table:
        """One row per correction."""
        return Table.of_dicts([edit.to_dict() for edit in self])

    def __repr__(self) -> str:
        return f"<Corrections: {plural(len(self), 'edit')}>"

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {"edits": [edit.to_dict() for edit in self]}


def diff(old: PathLike, new: PathLike, *, author: str = "", out: PathLike | None = None) -> Corrections:
    """The corrections that lead from one annotation to another; `out` is a file to write them to.

    Raises:
        UsageError: a document of one is not in the other.
    """
    from ..workflows.correct import diff_edits, write_edits

    found = diff_edits(path_of(old), path_of(new), author=author)
    if out is not None:
        write_edits(found.edits, path_of(out))
    return Corrections(found.edits, {key: one.lost for key, one in found.by_document.items() if one.lost})


def annotations_of(source: Any) -> list[Annotation]:
    """Annotations from a path, one book, or many. Raises UsageError: none of these."""
    from ..books.annotation import Annotation, annotation_of
    from ..formats.annotated import read_annotations

    if isinstance(source, str | os.PathLike):
        return read_annotations(path_of(source))
    if isinstance(source, Annotation):
        return [source]
    if isinstance(source, AnnotatedBook):
        return [source.annotation]
    if isinstance(source, Book | Record):
        return [annotation_of(records_of(source)[0])]
    if not isinstance(source, Iterable):
        raise UsageError(
            f"cannot read books from {type(source).__name__}", expected="a path, a book, or books"
        )
    return [found for item in source for found in annotations_of(item)]


def _chosen(source: Any, book: str) -> list[Annotation]:
    from ..workflows.correct import one_annotation

    found = annotations_of(source)
    return [one_annotation(found, book, _label(source))] if book else found


def _label(source: Any) -> Path:
    """What a source is called in messages: its path, or its name."""
    return path_of(source) if isinstance(source, str | os.PathLike) else Path(repr(source))
