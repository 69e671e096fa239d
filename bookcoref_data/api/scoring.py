"""`stats`, `align` and `convert` for Python."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ..errors import DataError, UsageError, counted, plural
from ..files import json_page, path_of, write_text
from ..formats import ConversionReport
from ..formats.annotated import has_reasons, note_reasons, read_with_reasons, whole_record
from ..formats.documents import SYSTEMS, detect, for_output, read_documents, require_known, write_documents
from ..outputs import files_of, outputs
from ..reports import evaluation_plots as pictures
from ..workflows import align as aligning
from . import options as o
from .books import AnnotatedBook, Books, records_of
from .options import PathLike, path_or_none, renamed
from .tables import Result, Table

if TYPE_CHECKING:
    from ..books.statistics import Sizes, Statistics


class Counts(Table):
    """Table 1 of the paper, one row per source. `totals` has the same by name, as objects.

    `books` is the table of single books, empty unless it was asked for; `notes` say what is odd; `plots` are
    the pictures written.
    """

    def __init__(self, found: Sequence[tuple[str, list[Sizes]]], *, per_book: bool) -> None:
        from ..books.statistics import corpus_statistics

        self.totals = [(name, corpus_statistics(documents)) for name, documents in found]
        several = [documents if per_book else [] for _, documents in found]
        self.of_books = [[(d.doc_key, corpus_statistics([d])) for d in documents] for documents in several]
        self.books = _table_of("doc_key", [pair for pairs in self.of_books for pair in pairs])
        odd = {"outside": ("mentions", "outside the text, counted with the others"),
               "repeated": ("spans", "listed again in the same cluster, counted for each as `evaluate` does"),
               "shared": ("spans", "in several clusters, counted for each as `evaluate` does")}  # fmt: skip
        self.notes = [f"{name}: {counted(count, things)} {what}" for name, total in self.totals
                      for kind, (things, what) in odd.items() if (count := getattr(total, kind))]  # fmt: skip
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


@files_of("plots", reads=("sources",))
def stats(
    *sources: Any, format: o.Format = None, config: Literal["full", "split"] = "full", per_book: bool = False,
    plots: PathLike | None = None, replace: o.Overwrite = False,
) -> Counts:  # fmt: skip
    """Table 1 of the BookCoref paper for any input, one row per source.

    "ment/chain" (mean over documents) and "ment. dist." (mean pairwise distance of a chain in tokens,
    weighted by its mentions) are the paper's definitions: they reproduce its LitBank row. "names %":
    mentions of characters that are the character's name.

    Args:
        sources: files, folders of files, or built data set folders.
        config: config of a data set folder.
        per_book: one row per document, too.
        plots: folder for a picture of length and distance (Figure 1; extra "plots").

    In Python a source is a path, a book, or books.

    Raises:
        UsageError: nothing to count. DataError: a source without a document. SourceError, FormatError: a
            file cannot be read.
    """
    from ..books.statistics import document_statistics

    if not sources:
        raise UsageError("nothing to count", expected="at least one path, book, or list of books")
    found = []
    for number, source in enumerate(sources, 1):
        there = isinstance(source, str | os.PathLike)
        records = read_documents(path_of(source), format, config) if there else records_of(source)
        name = str(source) if there else f"source {number}"
        found.append((name, [document_statistics(record) for record in records]))
        if not found[-1][1]:
            raise DataError(f"{name} holds no document", hint="is it the right file?")
    counts = Counts(found, per_book=per_book)
    if (folder := path_or_none(plots)) is not None:
        books = [pair for pairs in counts.of_books for pair in pairs]
        drawn = pictures.draw_length_and_distance([*counts.totals, *books])
        counts.plots = pictures.save_figures({"length_and_distance": drawn}, folder)
        unseen = (name for name, s in counts.totals if not (s.tokens_per_document and s.mention_distance))
        needs = "not in the picture, which needs a text and two mentions of somebody"
        counts.notes += [f"{name}: {needs}" for name in unseen]
    return counts


class Carried(Result):
    """An annotation carried over to another text: the books, and what became of their mentions."""

    def __init__(self, results: Sequence[aligning.Aligned], read: Sequence[Path] = ()) -> None:
        self.results, self._read = list(results), read

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
        rows = [[one.report.doc_key, t.name, t.total, t.kept, t.moved, t.changed, t.lost]
                for one in self.results if one.report for t in one.report.characters]  # fmt: skip
        return Table.of_rows(columns, rows)

    def to_dict(self) -> dict[str, Any]:
        """`documents`, what `align --json` prints: counts and examples of each document."""
        return {"documents": [one.to_dict() for one in self.results]}

    def require(self, min_kept: float) -> None:
        """Raises EditionError when a smaller share of a book's mentions was kept."""
        for one in self.results:
            if one.report:
                one.report.require(min_kept)

    def save(self, path: PathLike, format: str | None = None, *, replace: o.Overwrite = False) -> Path:
        """Write the carried annotation; the format is chosen by the suffix unless it is named."""
        with outputs(path_of(path), inputs=self._read, replace=replace):
            return self.books.save(path, format, replace=replace)

    def _line(self) -> str:
        mentions = sum(len(cluster) for one in self.results for cluster in one.record.clusters)
        state = "exact" if self.exact else "remapped"
        return f"{state}, {plural(len(self.results), 'book')}, {plural(mentions, 'mention')}"


@renamed(min_kept="least_kept")
@o.only_with("out", "to")
@files_of(reads=("old", "new"))
def align(
    old: Any, new: PathLike, *, out: PathLike | None = None, report: PathLike | None = None,
    least_kept: o.Proportion = 0.0, least_matched: o.Proportion = 0.75, doc_key: str | None = None,
    old_format: str | None = None, new_format: str | None = None, to: str | None = None,
    replace: o.Overwrite = False,
) -> Carried:  # fmt: skip
    """Carry an annotation from one text to another edition; report what was kept, moved, changed and lost.

    A pack applied to the text it was made from is exact: the released tokens, verified by checksum.
    Everything else is remapped: the tokens of the new text, the offsets moved. Another book is refused.

    Args:
        old: annotated documents (any of our formats), or a pack.
        new: the other text: plain (.txt) or tokenised documents.
        out: write the transferred annotation here (JSONL, CoNLL).
        report: write the full report here as JSON.
        least_kept: fail when a smaller share of the mentions is kept; nothing is written to `out` then.
        least_matched: refuse a text in which fewer of the tokens are found.
        doc_key: take only this document of `old`.
        old_format: format of `old`, if its name does not say.
        new_format: format of `new`, if its name does not say.
        to: format of `out`, if its name does not say.

    Raises:
        SourceError, FormatError: a file cannot be read. UsageError: documents cannot be paired.
        EditionError: `new` is no edition of the same book, or too few mentions were kept.
    """
    target, read = path_of(new), [path_of(new)]
    if isinstance(old, str | os.PathLike):
        read.append(path := path_of(old))
        found = aligning.align_files(
            path, target, old_format=old_format, new_format=new_format, doc_key=doc_key,
            least_matched=least_matched,
        )  # fmt: skip
    else:
        records = [r for r in records_of(old) if doc_key in (None, r.doc_key)]
        found = aligning.align_records(records, target, new_format=new_format, least_matched=least_matched)
    carried = Carried(found, read)
    if (path_of_report := path_or_none(report)) is not None:
        documents = carried.to_dict()["documents"]
        # Where too little is kept, the report is there all the same.
        with outputs(path_of_report, inputs=read, replace=replace):
            write_text(path_of_report, json_page(documents))
    carried.require(least_kept)
    if out is not None:
        carried.save(out, to, replace=replace)
    return carried


@files_of("target", reads=("source", "key"))
def convert(
    source: PathLike, target: PathLike, *, read_as: str | None = None, write_as: str | None = None,
    config: Literal["full", "split"] | None = None, key: PathLike | None = None,
    parts: Literal["join", "merge", "apart"] | None = None, doc_key: str | None = None,
    tokenizer: str | None = None, segment_length: int | None = None, replace: o.Overwrite = False,
) -> ConversionReport:  # fmt: skip
    """Convert between file formats, and count what the target cannot hold.

    Args:
        source: a file, a folder of files, a data set folder, a pipe, or - for stdin.
        target: the file to write; for brat and booknlp a folder. .gz and .zst pack it. - is standard output.
        read_as: format of `source`: jsonl, conll, corefud, brat, booknlp, folder (default: detected).
        write_as: format of `target`: jsonl, conll, corefud, brat, booknlp; for trainers jsonlines, wl-coref,
            fastcoref, fastcoref-text, longdoc, dual-cache (default: from its name).
        key: move all mentions onto the tokens of these documents.
        config: config of a data set folder (default: full).
        parts: parts of CoNLL documents: join them (default), merge (equal ids are one), or keep apart.
        doc_key: key of JSON lines that have none (fastcoref's).
        tokenizer: for longdoc and dual-cache: tokenizer on the Hub, or a folder with one.
        segment_length: for longdoc and dual-cache: subwords of a segment (2048).

    Raises:
        UsageError, FormatError, DataError, SourceError: as the command line reports them.
    """
    from ..formats.projection import project_all

    path, out = path_of(source), path_of(target)
    read_as = read_as or detect(path)
    write_as = SYSTEMS.get((write_as or "").lower(), write_as) or for_output(out)
    report = ConversionReport(read_as, write_as)
    require_known(write_as)
    if parts is not None and (read_as != "conll" or parts not in ("join", "merge", "apart")):
        expected = "join, merge or apart, and an input in CoNLL-2012"
        raise UsageError(f"--parts {parts} does not fit", expected=expected)
    if doc_key is not None and read_as not in ("jsonl", "jsonlines"):
        raise UsageError("--doc-key does not fit", expected="an input in JSON lines", found=read_as)
    if config is not None and read_as != "folder":
        raise UsageError("--config does not fit", expected="a data set folder", found=read_as)
    given = (("tokenizer", tokenizer), ("segment_length", segment_length))
    subwords = {name: value for name, value in given if value is not None}
    if subwords and write_as not in ("longdoc", "dual-cache"):
        expected = "--to longdoc or dual-cache"
        raise UsageError("--tokenizer and --segment-length do not fit", expected=expected, found=write_as)
    options = {name: value for name, value in (("parts", parts), ("doc_key", doc_key)) if value is not None}
    if read_as in ("jsonl", "folder") and config in (None, "full") and has_reasons(path):
        found = read_with_reasons(path)
        records = [whole_record(annotation, record) for record, annotation in found]
        for _, annotation in found:
            note_reasons(annotation, report.note(annotation.doc_key))
    else:
        records = read_documents(path, read_as, config, report=report, **options)
    if not records:
        raise DataError(f"{path} holds no document", hint="is it the right file?")
    records = records if key is None else project_all(records, read_documents(path_of(key)), report)
    write_documents(records, out, write_as, report=report, **subwords)
    return report
