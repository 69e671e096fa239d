"""Packs as releases: the books of a pack folder, and annotation carried over to another edition."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..books import Book, split_book
from ..errors import BookcorefError, DataError
from ..files import safe_name, sha256_bytes
from ..stitch.pack import Pack
from ..stitch.remap import Example, OldText, RemapReport, remap
from .align import tokenize_edition
from .ingest import BookPart

SUFFIX = ".pack"
INDEX = "index.json"
MOST_NAMED = 12


def is_pack_release(path: Path) -> bool:
    """Whether `path` is a pack file or a folder of packs."""
    return path.suffix == SUFFIX or (path.is_dir() and next(path.glob(f"*{SUFFIX}"), None) is not None)


def pack_parts(path: Path) -> tuple[Path, list[BookPart]]:
    """The folder of a pack release and its books, in the order of its index.

    Raises:
        SourceError, FormatError: a pack that cannot be read.
        DataError: two packs of one book.
    """
    from .pack import pack_files, read_listed_pack

    parts = []
    for file, entry in pack_files(path).items():
        stated = str(entry.get("sha256", ""))
        try:
            pack, data = read_listed_pack(file, stated)
        except BookcorefError:
            # A pack that is missing or damaged stops its own book alone, when its turn comes.
            if file == path:
                raise
            parts.append(_unread(file, entry, stated))
            continue
        split = pack.split or "test"
        parts.append(BookPart(pack.doc_key, pack.gutenberg_key, split, "", "", sha256_bytes(data), file.name))
    keys = [p.doc_key for p in parts]
    if twice := sorted({k for k in keys if keys.count(k) > 1}):
        raise DataError(f"{path} holds two packs of {', '.join(twice)}", hint="remove one of them")
    return (path if path.is_dir() else path.parent), parts


def _unread(file: Path, entry: Mapping[str, Any], sha256: str) -> BookPart:
    """What the index, or the name of the file, says of a pack that cannot be read."""
    doc_key = entry.get("doc_key")
    key = safe_name(doc_key if isinstance(doc_key, str) else file.stem, "document key")
    return BookPart(key, key.rpartition("_")[2], "test", "", "", sha256 or "unread", file.name)


def exact_book(pack: Pack, text: str) -> tuple[Book, tuple[Book, ...]]:
    """The released book and its windows. Raises EditionError when the text is another edition."""
    book = pack.book(text)
    return book, pack.window_books(book) or split_book(book).books


def remapped_book(old: OldText, text: str, min_kept: float) -> tuple[Book, tuple[Book, ...], RemapReport]:
    """The annotation in the tokens of another edition; windows by the rule, since tokens differ.

    Raises:
        EditionError: another book, half a book, a translation, fewer mentions kept than `min_kept`.
    """
    result = remap(old, tokenize_edition(text))
    result.report.require(min_kept)
    return result.book, split_book(result.book).books, result.report


def _shown(example: Example) -> str:
    """The words of a mention; a pack does not know the old ones, so there their place stands for them."""
    old, new = example.old_text, example.new_text
    place = f"tokens {example.old.start}-{example.old.end} of the release"
    if old and new and old != new:
        return f"“{old}” -> “{new}”"
    return f"“{new or old}”" if new or old else place


def remap_notes(report: RemapReport) -> list[str]:
    """What the card says of a remapped book: in total, per character, and the first that was lost."""
    total = report.total
    lines = [
        f"REMAPPED onto another edition, its tokens are not the released ones: of {total.total:,} mentions "
        f"{total.kept:,} kept, {total.moved:,} moved with their passage, {total.changed:,} with changed "
        f"words, {total.lost:,} lost ({total.kept_share:.2%} kept whole)"
    ]
    worst = sorted(report.characters, key=lambda t: (-(t.lost + t.changed), t.name))
    named = [f"{t.name} {t.kept + t.moved:,}/{t.total:,}" for t in worst[:MOST_NAMED] if t.lost + t.changed]
    if named:
        lines.append("kept whole by character, worst first: " + "; ".join(named))
    shown = [f"{e.character}: {_shown(e)} {e.status}" for e in report.examples[:3]]
    return lines + (["for example " + "; ".join(shown)] if shown else []) + list(report.warnings)
