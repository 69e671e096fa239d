"""Corrections on disk: read and write them, apply them to annotations, take them from differences."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from functools import partial
from pathlib import Path

from ..books.annotation import Annotation
from ..edits import Applied, Edit, apply, diff, format_edits, parse_edits
from ..edits.diff import Diff
from ..errors import UsageError
from ..files import read_regular, utf8, write_text
from ..formats.annotated import DATASET, KIND, check_kept, read_annotations, whole_record, write_annotations
from ..formats.detect import for_output
from ..formats.documents import write_documents
from ..formats.folder import is_folder, read_build, write_folder
from ..formats.schema import SPLITS
from ..outputs import whole
from ..text.markers import field, is_gutenberg
from .annotate import LICENCES

MOST_BYTES = 64 << 20
"""The largest file of corrections that is read."""
_CORRECTED = "corrected by hand (`bookcoref-data edits apply`)"


def read_edits(path: Path) -> list[Edit]:
    """The corrections of a file.

    Raises:
        SourceError, DataError: as `read_regular`. FormatError: as `utf8`, or a line is no correction.
    """
    return parse_edits(utf8(read_regular(path, MOST_BYTES), path), str(path))


def write_edits(edits: Iterable[Edit], path: Path) -> None:
    """Write corrections, one a line."""
    write_text(path, format_edits(edits))


def signed(edits: Iterable[Edit], author: str) -> list[Edit]:
    """Corrections with who made them, unless they say, and when."""
    now = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    return [replace(e, author=e.author or author, date=now) for e in edits]


def title_of(annotation: Annotation) -> str:
    """The title that the record gives, else Gutenberg's header, else the list of editions; else the key."""
    from ..sources.editions import editions

    given = annotation.extra.get("title")
    header = annotation.source.text[:6000] if annotation.source else ""
    named = given if isinstance(given, str) else field(header, "Title") if is_gutenberg(header) else ""
    return named or editions().title_of(annotation.book.gutenberg_key) or annotation.doc_key


def apply_edits(path: Path, edits: Sequence[Edit], out: Path, *, replace: bool = False) -> list[Applied]:
    """Correct every document of `path` and write them to `out`: a folder, or a file of a known format.

    Raises:
        UsageError: an edit names a document that is not there; or the folder `out` has the annotation of
            other books, which would be lost, and `replace` is not given.
    """
    annotations = read_annotations(path)
    keys = {a.doc_key for a in annotations}
    for number, edit in enumerate(edits, 1):
        if edit.doc_key and edit.doc_key not in keys:
            raise UsageError(
                f"edit {number} is for the document {edit.doc_key!r}, which {path} does not have",
                expected=", ".join(sorted(keys)[:8]),
            )
    kept = partial(check_kept, out, keys, replace=replace)
    if out.suffix:
        for_output(out)
    else:
        kept()
    done = [apply(a, edits) for a in annotations]
    if out.suffix:
        write_documents((whole_record(d.annotation) for d in done), out)
    else:
        with whole(out, KIND, kept):
            write_annotations((d.annotation for d in done), out)
            # The data set beside it gets the same corrections: an old one there would contradict it.
            beside = path if path.is_dir() else path.parent
            old = next((folder / DATASET for folder in (out, beside) if is_folder(folder / DATASET)), None)
            if old is not None:
                record = read_build(old)
                splits = {book.doc_key: book.split for book in record.books}
                books = [(splits.get(d.annotation.doc_key, "test"), d.annotation.to_book()) for d in done]
                write_folder(
                    out / DATASET, {split: [book for at, book in books if at == split] for split in SPLITS},
                    title=record.title, licences=LICENCES, notes=[_CORRECTED],
                    source=record.source, replace=replace,
                )  # fmt: skip
    return done


def diff_edits(old: Path, new: Path, *, author: str = "") -> dict[str, Diff]:
    """By document key the corrections between two annotations of the same documents, whatever their formats.
    Raises UsageError: a document of one is not in the other (single documents are paired whatever their
    keys)."""
    before, after = read_annotations(old), read_annotations(new)
    date = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    if len(before) == len(after) == 1:
        return {before[0].doc_key: diff(before[0], after[0], author=author, date=date)}
    found = {a.doc_key: a for a in after}
    keys = [b.doc_key for b in before]
    for path, there, wanted in ((new, found, keys), (old, keys, found)):
        if lacks := [key for key in wanted if key not in there]:
            raise UsageError(f"{path} has no document {lacks[0]!r}", expected="the same documents in both")
    return {b.doc_key: diff(b, found[b.doc_key], author=author, date=date) for b in before}
