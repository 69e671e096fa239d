"""Corrections on disk: read and write them, apply them to annotations, take them from differences."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from functools import partial
from itertools import product
from pathlib import Path

from ..books.annotation import Annotation
from ..edits import Applied, Edit, apply, diff, format_edits, parse_edits
from ..edits.diff import Diff
from ..errors import UsageError
from ..files import read_regular, utf8, write_text
from ..formats.annotated import DATASET, KIND, check_kept, read_annotations, whole_record, write_annotations
from ..formats.card import card_says
from ..formats.documents import for_output, write_documents
from ..formats.folder import is_folder, read_build, writing_folder
from ..formats.reasons import format_reasons, read_reasons
from ..formats.schema import SPLITS
from ..outputs import whole
from ..sources.editions import editions
from ..text.markers import HEAD, field, is_gutenberg
from .annotate import CORRECTIONS, LICENCES

MOST_BYTES = 64 << 20
"""The largest file of corrections that is read."""
_CORRECTED = "corrected by hand (`bookcoref-data edits apply`)"


def read_edits(path: Path) -> list[Edit]:
    """The corrections of a file."""
    return parse_edits(utf8(read_regular(path, MOST_BYTES), path), str(path))


def write_edits(edits: Iterable[Edit], path: Path) -> None:
    """Write corrections, one a line."""
    write_text(path, format_edits(edits))


def signed(edits: Iterable[Edit], author: str) -> list[Edit]:
    """Corrections with who made them, unless they say, and when."""
    return [replace(e, author=e.author or author, date=_now()) for e in edits]


def kept_edits(path: Path) -> list[Edit]:
    """The corrections in a file that may not be there yet. Raises: as `read_edits`."""
    return read_edits(path) if path.is_file() else []


def take_back(path: Path, author: str, doc_key: str | None = None) -> bool:
    """Take the author's last answer out of a file, or the last about one book; False where there is none."""
    kept = kept_edits(path)
    mine = [e for e in kept if e.author == author and (doc_key is None or e.doc_key in ("", doc_key))]
    if not mine:
        return False
    last = mine[-1].doc_key, mine[-1].group
    together = [e for e in mine if (e.doc_key, e.group) == last] if last[1] else mine[-1:]
    write_edits([e for e in kept if all(e is not gone for gone in together)], path)
    return True


def _now() -> str:
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def title_of(annotation: Annotation) -> str:
    """The title that the record gives, else Gutenberg's header, else the list of editions; else the key."""
    given = annotation.extra.get("title")
    header = annotation.source.text[:HEAD] if annotation.source else ""
    named = given if isinstance(given, str) else field(header, "Title") if is_gutenberg(header) else ""
    return named or editions().title_of(annotation.book.gutenberg_key) or annotation.doc_key


def apply_edits(path: Path, edits: Sequence[Edit], out: Path, *, replace: bool = False) -> list[Applied]:
    """Correct every document of `path` and write them to `out`: a folder, or a file of a known format."""
    annotations = read_annotations(path)
    keys = {a.doc_key for a in annotations}
    for number, edit in enumerate(edits, 1):
        if edit.doc_key and edit.doc_key not in keys:
            what = f"edit {number} is for the document {edit.doc_key!r}, which {path} does not have"
            raise UsageError(what, expected=", ".join(sorted(keys)[:8]))
    kept = partial(check_kept, out, keys, replace=replace)
    for_output(out) if out.suffix else kept()
    done = [apply(a, edits) for a in annotations]
    if out.suffix:
        write_documents((whole_record(d.annotation) for d in done), out)
    else:
        with whole(out, KIND, kept):
            write_annotations((d.annotation for d in done), out)
            # The data set that was corrected, or stands beside: an old one in `out` would contradict it.
            beside = path if path.is_dir() else path.parent
            if places := [*filter(is_folder, (out / DATASET, beside / DATASET, beside))]:
                made = sum(d.changed for d in done) + read_build(places[-1]).source.get(CORRECTIONS, 0)
                _write_corrected(places[0], done, made, out / DATASET, replace=replace)
    return done


def _write_corrected(old: Path, done: Sequence[Applied], made: int, out: Path, *, replace: bool) -> None:
    """The data set `old` with these annotations, in which `made` corrections are, and with the licences,
    citation and reasons that it has."""
    was, reasons = read_build(old), read_reasons(old)
    told, cited = card_says((old / "README.md").read_text(encoding="utf-8"))
    facts = {book.doc_key: book for book in was.books}
    with writing_folder(out, replace=replace) as writer:
        for split, a in product(SPLITS, [d.annotation for d in done]):
            book = facts.get(a.doc_key)
            if split == (book.split if book else "test"):
                line = format_reasons(a) if a.doc_key in reasons else ""
                writer.add_book(a.to_book(), split, reasons=line, text=book and book.text)
        source = {**was.source, CORRECTIONS: made}
        writer.finish(was.title, licences=told or LICENCES, notes=[_CORRECTED], citation=cited, source=source)


def diff_edits(old: Path, new: Path, *, author: str = "") -> dict[str, Diff]:
    """By document key the corrections between two annotations of the same documents, whatever their formats;
    single documents are paired whatever their keys."""
    before, after = read_annotations(old), read_annotations(new)
    alone = len(before) == len(after) == 1
    found = {before[0].doc_key if alone else a.doc_key: a for a in after}
    keys = [b.doc_key for b in before]
    for path, there, wanted in ((new, found, keys), (old, keys, found)):
        if lacks := [key for key in wanted if key not in there]:
            raise UsageError(f"{path} has no document {lacks[0]!r}", expected="the same documents in both")
    return {b.doc_key: diff(b, found[b.doc_key], author=author, date=_now()) for b in before}
