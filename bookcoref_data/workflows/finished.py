"""Finished books in the cache: their tables and facts, with the digest of each file.

    books/<content key>/full.parquet, split.parquet    the rows of the book
    books/<content key>/finished.json                  facts, and the sha256 of the tables; written last
    books/<part key>.exact.json                        which book was built exactly from a part of a release

A book is used again only if every digest holds; otherwise it is built again. The exact build of a book is
also what a later edition of its text is compared with, so nothing else has to be kept for that day.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from ..books import Book, Record
from ..books.facts import BookFacts
from ..files import sha256_bytes, sha256_file, writing
from ..formats.schema import from_row, to_table
from ..sources.notes import read_note, write_note

NOTE = "finished.json"
TABLES = ("full", "split")


def store_book(folder: Path, facts: BookFacts, book: Book, windows: Iterable[Book]) -> None:
    """Write the tables, then the note: a book without a note is not finished."""
    import pyarrow.parquet as pq

    for name, books in zip(TABLES, ([book], list(windows)), strict=True):
        with writing(folder / f"{name}.parquet") as stream:
            pq.write_table(to_table(books), stream, compression="zstd")
    sums = {name: sha256_file(folder / f"{name}.parquet") for name in TABLES}
    write_note(folder / NOTE, {"facts": json.loads(json.dumps(facts.to_dict())), "tables": sums})


def finished_book(folder: Path) -> BookFacts | None:
    """The facts of a finished book; None when it is not there, or a file is not what was written."""
    note = read_note(folder / NOTE)
    try:
        if note is None or any(sha256_file(folder / f"{n}.parquet") != s for n, s in note["tables"].items()):
            return None
        return BookFacts.from_dict(note["facts"])
    except (OSError, KeyError, TypeError, AttributeError):
        return None


def was_begun(folder: Path) -> bool:
    """Whether there is a note, sound or not: then a book that is not finished has been damaged."""
    return (folder / NOTE).exists()


def remember_exact(folder: Path, part_key: str) -> None:
    """Note that the finished book in `folder` has the released tokens of this part of a release."""
    write_note(_exact_note(folder.parent, part_key), {"book": folder.name})


def exact_record(books: Path, part_key: str) -> tuple[BookFacts, Record] | None:
    """The released tokens and annotation of a part, from an earlier exact build; None without one."""
    import pyarrow.parquet as pq

    note = read_note(_exact_note(books, part_key))
    folder = books / str(note["book"]) if note and "book" in note else None
    facts = finished_book(folder) if folder and folder.parent == books else None
    if folder is None or facts is None:
        return None
    path = folder / "full.parquet"
    (row,) = pq.read_table(path).to_pylist()
    return facts, from_row(row, str(path))


def _exact_note(books: Path, part_key: str) -> Path:
    return books / f"{sha256_bytes(part_key.encode())[:40]}.exact.json"
