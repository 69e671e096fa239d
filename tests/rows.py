"""The official record of a book as plain values, written down apart from the code that makes tables."""

from __future__ import annotations

from typing import Any

from bookcoref_data.books import Book


def to_row(book: Book) -> dict[str, Any]:
    """The official record of a book, as plain lists and strings."""
    return {
        "doc_key": book.doc_key,
        "gutenberg_key": book.gutenberg_key,
        "sentences": book.sentences,
        "clusters": [[list(m) for m in cluster] for cluster in book.clusters],
        "characters": [{"name": c.name, "mentions": [list(m) for m in c.mentions]} for c in book.characters],
    }
