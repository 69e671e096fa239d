"""The columns of the dataset: one place for field names, Arrow schema and the features of the card."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from ..books import Book, Mention, Record
from ..books.book import Cluster
from ..books.windows import are_parts

if TYPE_CHECKING:
    import pyarrow as pa

CONFIGS = ("full", "split")
SPLITS = ("train", "validation", "test")
FIELDS = ("doc_key", "gutenberg_key", "sentences", "clusters", "characters")

# As the card states them. `list:`, never `sequence:`: over a struct the latter means a dict of lists.
FEATURES_YAML = """\
  features:
  - name: doc_key
    dtype: string
  - name: gutenberg_key
    dtype: string
  - name: sentences
    list:
      list: string
  - name: clusters
    list:
      list:
        list: int32
  - name: characters
    list:
    - name: name
      dtype: string
    - name: mentions
      list:
        list: int32
"""


def arrow_schema() -> pa.Schema:
    """The explicit schema of the parquet files: plain lists, 32-bit offsets, no library metadata."""
    import pyarrow as pa

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


def to_row(book: Book) -> dict[str, Any]:
    """The official record of a book, as plain lists and strings."""
    return {
        "doc_key": book.doc_key,
        "gutenberg_key": book.gutenberg_key,
        "sentences": book.sentences,
        "clusters": [[list(m) for m in cluster] for cluster in book.clusters],
        "characters": [{"name": c.name, "mentions": [list(m) for m in c.mentions]} for c in book.characters],
    }


def from_row(row: dict[str, Any], source: str) -> Record:
    """The record of a row read from parquet (whose schema was checked)."""
    return Record(
        row["doc_key"],
        row["gutenberg_key"],
        row["sentences"],
        [[Mention(*span) for span in cluster] for cluster in row["clusters"]],
        [(c["name"], [Mention(*span) for span in c["mentions"]]) for c in row["characters"]],
        source,
    )


def to_table(books: Iterable[Book]) -> pa.Table:
    """An Arrow table of books with the explicit schema, built from flat arrays."""
    import pyarrow as pa

    books = list(books)
    return _table(books, pa.array([t for b in books for t in b.tokens], pa.string()))


def to_tables(book: Book, windows: Sequence[Book]) -> tuple[pa.Table, pa.Table]:
    """The tables of a book and of its windows. They share their tokens, which are most of the work, where
    the windows hold just those of the book."""
    import pyarrow as pa

    tokens = pa.array(book.tokens, pa.string())
    if not are_parts(windows, book):
        return _table([book], tokens), to_table(windows)
    return _table([book], tokens), _table(windows, tokens)


def _table(books: Sequence[Book], tokens: pa.StringArray) -> pa.Table:
    import pyarrow as pa

    columns = [
        pa.array([b.doc_key for b in books], pa.string()),
        pa.array([b.gutenberg_key for b in books], pa.string()),
        _sentences(books, tokens),
        _nested_spans([list(b.clusters) for b in books]),
        _characters(books),
    ]
    return pa.Table.from_arrays(columns, schema=arrow_schema())


def _sentences(books: Sequence[Book], tokens: pa.StringArray) -> pa.ListArray:
    import pyarrow as pa

    ends, base = [0], 0
    for book in books:
        ends.extend(base + end for end in book.sentence_ends)
        base += len(book.tokens)
    sentences = pa.ListArray.from_arrays(pa.array(ends, pa.int32()), tokens)
    return pa.ListArray.from_arrays(_offsets(len(b.sentence_ends) for b in books), sentences)


def _spans(mentions: list[Mention]) -> pa.ListArray:
    import numpy as np
    import pyarrow as pa

    flat = np.array(mentions, dtype=np.int32).reshape(-1)
    ends = pa.array(np.arange(0, len(flat) + 1, 2, dtype=np.int32))
    return pa.ListArray.from_arrays(ends, pa.array(flat))


def _clusters(clusters: list[Cluster]) -> pa.ListArray:
    import pyarrow as pa

    return pa.ListArray.from_arrays(_offsets(map(len, clusters)), _spans([m for c in clusters for m in c]))


def _nested_spans(per_book: list[list[Cluster]]) -> pa.ListArray:
    import pyarrow as pa

    return pa.ListArray.from_arrays(
        _offsets(map(len, per_book)), _clusters([c for clusters in per_book for c in clusters])
    )


def _characters(books: Sequence[Book]) -> pa.ListArray:
    import pyarrow as pa

    people = [c for b in books for c in b.characters]
    names = pa.array([c.name for c in people], pa.string())
    structs = pa.StructArray.from_arrays(
        [names, _clusters([c.mentions for c in people])], names=["name", "mentions"]
    )
    return pa.ListArray.from_arrays(_offsets(len(b.characters) for b in books), structs)


def _offsets(lengths: Iterable[int]) -> pa.Array:
    import pyarrow as pa

    return pa.array([0, *accumulate(lengths)], pa.int32())
