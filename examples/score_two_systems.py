"""Score two systems against the sample and see whether they really differ.

    python examples/score_two_systems.py

The two "systems" are made here: one loses every fifth mention, the other joins the two largest characters.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import bookcoref_data as bc


def forgetful(book: bc.AnnotatedBook) -> bc.AnnotatedBook:
    """Every fifth mention of each cluster is lost."""
    record = book.record
    kept = [[m for i, m in enumerate(cluster) if i % 5] for cluster in record.clusters]
    return bc.AnnotatedBook(type(record)(record.doc_key, record.gutenberg_key, record.sentences, kept))


def confused(book: bc.AnnotatedBook) -> bc.AnnotatedBook:
    """The two largest clusters are one."""
    record = book.record
    first, second, *rest = sorted(record.clusters, key=len, reverse=True)
    joined = [sorted([*first, *second]), *rest]
    return bc.AnnotatedBook(type(record)(record.doc_key, record.gutenberg_key, record.sentences, joined))


def main() -> None:
    """Print one table per system."""
    with tempfile.TemporaryDirectory() as folder:
        bc.rebuild(Path(folder) / "bookcoref", sample=True, cache_dir=Path(folder) / "cache")
        key = bc.load(Path(folder) / "bookcoref")
        for name, change in (("forgetful", forgetful), ("confused", confused)):
            scores = bc.evaluate(key, [change(book) for book in key])
            print(f"{name}: CoNLL F1 {100 * scores.conll_f1:.2f}")
            print(scores.to_markdown(), end="\n\n")


if __name__ == "__main__":
    main()
