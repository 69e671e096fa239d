"""The columns of the dataset: one place for field names, Arrow schema and the features of the card."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Sized
from itertools import accumulate
from typing import Any

from ..books import Book, Mention, Record
from ..books.book import Cluster
from ..books.stored import StoredBook, are_parts
from ..errors import DataError
from ..late import np, pa
from ..resources import load_toml, resource

CONFIGS = ("full", "split")
DESCRIPTIONS = {"full": "whole books", "split": "windows of about 1500 tokens"}
SPLITS = ("train", "validation", "test")
FIELDS = ("doc_key", "gutenberg_key", "sentences", "clusters", "characters")

CARD = load_toml(resource("manifests", "card.toml"))
"""The texts of the card, and its features."""


def arrow_schema() -> pa.Schema:
    """The explicit schema of the parquet files: plain lists, 32-bit offsets, no library metadata."""
    spans = pa.list_(pa.list_(pa.int32()))
    return pa.schema(
        [
            ("doc_key", pa.string()),
            ("gutenberg_key", pa.string()),
            ("sentences", pa.list_(pa.list_(pa.string()))),
            ("clusters", pa.list_(spans)),
            ("characters", pa.list_(pa.struct([("name", pa.string()), ("mentions", spans)]))),
        ]
    )


def to_row(record: Record) -> dict[str, Any]:
    """The fields of the official data in a record, as plain lists and strings."""
    return {
        "doc_key": record.doc_key,
        "gutenberg_key": record.gutenberg_key,
        "sentences": record.sentences,
        "clusters": [[list(m) for m in cluster] for cluster in record.clusters],
        "characters": [{"name": n, "mentions": [list(m) for m in spans]} for n, spans in record.characters],
    }


def from_row(row: dict[str, Any], source: str) -> Record:
    """The record of a row read from parquet (whose schema was checked)."""
    return Record(
        row["doc_key"], row["gutenberg_key"], row["sentences"],
        [[Mention(*span) for span in cluster] for cluster in row["clusters"]],
        [(c["name"], [Mention(*span) for span in c["mentions"]]) for c in row["characters"]], source,
    )  # fmt: skip


def to_table(books: Iterable[Book | StoredBook]) -> pa.Table:
    """An Arrow table of books with the explicit schema, built from flat arrays. Raises DataError: a token is
    no text: it holds a lone surrogate."""
    stored = [StoredBook.of(book) for book in books]
    nothing = pa.array([], pa.string())
    return _table(stored, pa.concat_arrays([nothing, *map(_strings, stored)]))


def to_tables(book: Book | StoredBook, windows: Sequence[Book | StoredBook]) -> tuple[pa.Table, pa.Table]:
    """The tables of a book and of its windows. They share their tokens, which are most of the work, where
    the windows hold just those of the book. Raises: as `to_table`."""
    whole, parts = StoredBook.of(book), [StoredBook.of(window) for window in windows]
    tokens = _strings(whole)
    return _table([whole], tokens), _table(parts, tokens) if are_parts(parts, whole) else to_table(parts)


def _strings(book: StoredBook) -> pa.StringArray:
    """The tokens of a book as Arrow holds them: their bytes, and where each begins."""
    data, offsets = book.tokens.without_zeros()
    strings = pa.StringArray.from_buffers(len(book.tokens), pa.py_buffer(offsets), pa.py_buffer(data))
    try:
        strings.validate(full=True)
    except pa.ArrowInvalid as error:
        raise DataError(
            f"book {book.doc_key!r} has a token that is no text",
            expected="characters that UTF-8 can hold", found=str(error)[:200],
        ) from error  # fmt: skip
    return strings


def _table(books: Sequence[StoredBook], tokens: pa.StringArray) -> pa.Table:
    starts = accumulate((len(book.tokens) for book in books), initial=0)
    ends = [np.array(b.sentence_ends, np.int32) + start for b, start in zip(books, starts, strict=False)]
    offsets = np.concatenate([np.zeros(1, np.int32), *ends]).astype(np.int32, copy=False)
    people = [c for b in books for c in b.characters]
    names = pa.array([c.name for c in people], pa.string())
    columns = [
        pa.array([b.doc_key for b in books], pa.string()),
        pa.array([b.gutenberg_key for b in books], pa.string()),
        _lists([b.sentence_ends for b in books], pa.ListArray.from_arrays(pa.array(offsets), tokens)),
        _lists([b.clusters for b in books], _spans([c for b in books for c in b.clusters])),
        _lists(
            [b.characters for b in books],
            pa.StructArray.from_arrays([names, _spans([c.mentions for c in people])], ["name", "mentions"]),
        ),
    ]
    return pa.Table.from_arrays(columns, schema=arrow_schema())


def _spans(clusters: Sequence[Cluster]) -> pa.ListArray:
    """Clusters as lists of [start, end]."""
    flat = np.array([m for c in clusters for m in c], dtype=np.int32).reshape(-1)
    ends = pa.array(np.arange(0, len(flat) + 1, 2, dtype=np.int32))
    return _lists(clusters, pa.ListArray.from_arrays(ends, pa.array(flat)))


def _lists(rows: Iterable[Sized], values: pa.Array) -> pa.ListArray:
    """Lists as long as `rows` of the values that stand behind each other in `values`."""
    return pa.ListArray.from_arrays(pa.array([0, *accumulate(map(len, rows))], pa.int32()), values)
