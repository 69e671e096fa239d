"""Read, correct and export annotated books from Python."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..books import Book, Record
from ..books.annotation import Annotation, annotation_of
from ..books.facts import one_called
from ..edits import Applied, Conflict, Edit, checked_edits
from ..edits import merge_edits as join_edits
from ..edits.diff import Diff
from ..edits.merging import Disagreement
from ..errors import DataError, UsageError, plural
from ..exports import export as write
from ..exports.report import write_report
from ..files import path_of, write_text
from ..formats import ConversionReport, NotKept
from ..formats.annotated import read_annotations
from ..formats.layers import note_layers
from ..outputs import files_of
from ..shapes import attributes, plain
from ..workflows import correct
from . import options as o
from .books import AnnotatedBook, records_of
from .options import PathLike, path_or_none
from .tables import Table

if TYPE_CHECKING:
    from ..reading_page.compare import Differences

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
            "file": str(self.path) if self.path else None, "bytes": len(self.html.encode("utf-8")),
            "doc_key": self.annotation.doc_key, "mentions": len(self.annotation.mentions),
            "characters": len(self.annotation.names),
            "differences": self.differences.counts() if self.differences else None,
        }  # fmt: skip

    def __fspath__(self) -> str:
        if self.path is None:
            raise TypeError("the page was not written to a file: bc.view(book, 'page.html')")
        return os.fspath(self.path)

    def __repr__(self) -> str:
        return f"<Page of {self.annotation.doc_key!r}: {len(self.annotation.mentions):,} mentions>"

    def _repr_html_(self) -> str:
        return f'<iframe srcdoc="{escape(self.html)}" width="100%" height="{_HEIGHT}"></iframe>'


@files_of("out", reads=("source", "compare", "edits"), page=True)
def view(
    source: o.AnyBooks, out: PathLike | None = None, *, book: o.OneBook = "", compare: Any = None,
    edits: PathLike | None = None, title: str = "", author: o.MadeBy = "", spoiler_safe: bool = False,
    replace: o.Overwrite = False,
) -> Page:  # fmt: skip
    """Write one HTML file that shows an annotated book: no network, no other file.

    Args:
        out: the HTML file to write.
        compare: a second annotation of the same text: show what differs.
        edits: corrections to begin with.
        title: title of the page (else the book's, where it is known).
        spoiler_safe: begin without names and places beyond the page being read.

    In Python books may be in memory; without `out` the page is kept in memory, and notebooks show it at once.

    Raises:
        UsageError: several books and none is named. SourceError, DataError: a file cannot be read.
    """
    from ..reading_page import PageOptions, render
    from ..reading_page import compare as find_differences

    annotation = one_called(annotations_of(source), book, _label(source))
    differences = None
    if compare is not None:
        others = annotations_of(compare)
        # A file of one document is compared whatever its key is.
        other = one_called(others, annotation.doc_key if others[1:] else "", _label(compare))
        labels = (_label(source).stem or "first", _label(compare).stem or "second")
        differences = find_differences(annotation, other, labels=labels)
    kept = [edit.to_dict() for edit in correct.read_edits(path_of(edits))] if edits else ()
    options = PageOptions(
        title=title or correct.title_of(annotation), author=author, spoiler_safe=spoiler_safe,
        differences=differences, edits=kept,
    )  # fmt: skip
    html = render(annotation, options)
    if (path := path_or_none(out)) is not None:
        write_text(path, html)
    return Page(html, annotation, differences, path)


class Exported(list[Path]):
    """The files that were written. `not_kept` counts what of the `books` is not in them."""

    def __init__(self, to: str, files: Iterable[Path], books: int, not_kept: Sequence[NotKept]) -> None:
        super().__init__(files)
        self.to, self.books, self.not_kept = to, books, list(not_kept)

    def to_dict(self) -> dict[str, Any]:
        """The same document as `export --json`."""
        return attributes(self, "to books") | {"files": [str(f) for f in self]} | attributes(self, "not_kept")


@files_of("out", reads=("source",))
def export(
    source: o.AnyBooks, to: str, out: PathLike, *, book: o.OneBook = "", excel: bool = False,
    replace: o.Overwrite = False,
) -> Exported:  # fmt: skip
    """Export an annotation to other tools. Offsets are characters of the file that `annotate` read.

    Args:
        to: csv, tsv, parquet (tables); graphml, gexf (network); tei, tei-standoff, webannotation, inception,
            booknlp, spacy; replaced-text, audiobook.
        out: folder, or a file for one book.
        excel: csv and tsv begin with a byte order mark, so that Excel shows accents.

    Returns the files. In Python books may be in memory.

    Raises:
        UsageError: an unknown target, `excel` for another one than csv and tsv, no such book, or other files
            in the place of tables.
    """
    losses = ConversionReport()
    books = chosen(source, book, losses)
    files = write(books, to, path_of(out), report=losses, excel=excel)
    return Exported(to, files, len(books), losses.not_kept)


@files_of("out", reads=("source",))
def report(
    source: o.AnyBooks, out: PathLike, *, book: o.OneBook = "", plots: bool = True,
    replace: o.Overwrite = False,
) -> list[Path]:  # fmt: skip
    """Write a page with the cast, counts, shares of speech, presence by chapter, and the network.

    Args:
        out: page to write: .html or .md.
        plots: draw presence and network (extras "plots" and "export").

    Returns the files. In Python books may be in memory.

    Raises:
        UsageError: `out` is neither .html nor .md, or there is no such book.
    """
    books = chosen(source, book)
    titles = {one.doc_key: correct.title_of(one) for one in books}
    return list(write_report(books, path_of(out), plots=plots, titles=titles))


class Corrected(list[Applied]):
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


@files_of("out", reads=("annotation", "edits"), in_place=("annotation",))
def apply_edits(
    annotation: PathLike, edits: PathLike | Iterable[Edit], out: PathLike, *, replace: o.Replace = False
) -> Corrected:
    """Correct an annotation.

    Args:
        annotation: folder of `annotate`, or a file in any format.
        edits: file of corrections (edits.jsonl).
        out: folder to write, or a file in .jsonl, .conll, .conllu, .ann.

    Returns what was done, one for each document; `conflicts` lists the edits that need a person.

    Raises:
        UsageError: an edit names a document that is not there, or `out` would lose books.
    """
    if isinstance(edits, str | os.PathLike):
        wanted = correct.read_edits(path_of(edits))
    else:
        wanted = checked_edits(edits)
    return Corrected(correct.apply_edits(path_of(annotation), wanted, path_of(out), replace=replace))


class Corrections(list[Edit]):
    """Corrections in order. By document, `lost` are places of the new annotation that the old text lacks, and
    `unseen` those of the old one that the new text lacks: of these nothing is said."""

    def __init__(self, edits: Iterable[Edit], found: Mapping[str, Diff]) -> None:
        super().__init__(edits)
        self.lost = {key: one.lost for key, one in found.items() if one.lost}
        self.unseen = {key: one.unseen for key, one in found.items() if one.unseen}

    @property
    def table(self) -> Table:
        """One row per correction."""
        return Table.of_dicts([edit.to_dict() for edit in self])

    def __repr__(self) -> str:
        return f"<Corrections: {plural(len(self), 'edit')}>"

    def to_dict(self) -> dict[str, Any]:
        return {"edits": [edit.to_dict() for edit in self]}


@files_of("out", reads=("old", "new"))
def diff(
    old: PathLike, new: PathLike, *, author: str = "", out: o.EditsOut = None, replace: o.Overwrite = False
) -> Corrections:
    """The corrections that lead from one annotation to another, one a line.

    Args:
        old: the annotation before.
        new: the annotation after, in any format: brat files, too.
        author: who made the changes.

    Raises:
        UsageError: a document of one is not in the other.
    """
    found = correct.diff_edits(path_of(old), path_of(new), author=author)
    edits = [edit for one in found.values() for edit in one.edits]
    if out is not None:
        correct.write_edits(edits, path_of(out))
    return Corrections(edits, found)


class MergedCorrections(list[Edit]):
    """Corrections of several people in order; `disagreements` are left out of them."""

    def __init__(self, edits: Iterable[Edit], disagreements: tuple[Disagreement, ...]) -> None:
        super().__init__(edits)
        self.disagreements = disagreements

    def to_dict(self) -> dict[str, Any]:
        return {"edits": plain(list(self)), "disagreements": plain(self.disagreements)}

    def __repr__(self) -> str:
        return f"<MergedCorrections: {plural(len(self), 'edit')}, {len(self.disagreements)} disagreements>"


@files_of("out", reads=("edits",))
def merge_edits(
    edits: Iterable[PathLike], *, out: o.EditsOut = None, replace: o.Overwrite = False
) -> MergedCorrections:
    """Make one file of the corrections that several people made of the same annotation.

    What they agree on is kept once. What two people say differently of a mention, a quote or a character is
    left out and listed: decide, and add it to the file.

    Args:
        edits: files of corrections, one for each person.

    Raises:
        UsageError: fewer than two files. SourceError, FormatError: one cannot be read.
    """
    people = [correct.read_edits(path_of(path)) for path in edits]
    if len(people) < 2:
        raise UsageError("there is nothing to merge", expected="two files of corrections or more")
    found = join_edits(people)
    if out is not None:
        correct.write_edits(found.edits, path_of(out))
    return MergedCorrections(found.edits, found.disagreements)


def annotations_of(source: Any, losses: ConversionReport | None = None) -> list[Annotation]:
    """Annotations from a path, one book, or many; `losses` hears what of a record is not in them.

    Raises:
        UsageError: none of these.
    """
    if isinstance(source, str | os.PathLike):
        return read_annotations(path_of(source), report=losses)
    if isinstance(source, Annotation):
        return [source]
    if isinstance(source, AnnotatedBook):
        return [source.annotation]
    if isinstance(source, Book | Record) or not isinstance(source, Iterable):
        note_layers(record := records_of(source)[0], losses)
        return [annotation_of(record)]
    return [found for item in source for found in annotations_of(item, losses)]


def chosen(source: Any, book: str, losses: ConversionReport | None = None) -> list[Annotation]:
    """The annotations of a source, or that of one `book`. Raises DataError where there is none."""
    found = annotations_of(source, losses)
    if not found:
        raise DataError(f"{_label(source)} holds no book", hint="is this the right file?")
    return [one_called(found, book, _label(source))] if book else found


def _label(source: Any) -> Path:
    """What a source is called in messages: its path, or its name."""
    return path_of(source) if isinstance(source, str | os.PathLike) else Path(repr(source))
