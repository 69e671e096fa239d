"""What there is: the published books, what of them is cached and built, and one built book in detail."""

from __future__ import annotations

import difflib
from collections import Counter
from pathlib import Path
from typing import Any

from ..books import Book, Mention, Record
from ..books.facts import released_key
from ..errors import DataError, UsageError
from ..formats.folder import BuildRecord, iter_folder, read_build
from ..sources.gutenberg import Texts
from ..sources.store import Store
from .verify import published_books

_CONTEXT = 8


def overview(folder: Path, cache_dir: Path | None) -> list[dict[str, Any]]:
    """One row per published book: keys, splits, counts (known ones first, else the paper's) and state."""
    built = _built(folder)
    texts = Texts(Store.open(cache_dir), offline=True)
    rows = []
    for book in published_books():
        gid, known = book["gutenberg_key"], book.get("known", {})
        reported = book["reported_by_paper"]
        here = built.get(book["doc_key"])
        rows.append(
            {
                "doc_key": book["doc_key"],
                "title": book["title"],
                "gutenberg_key": gid,
                "gold": book["gold"],
                "splits": book["splits"],
                "tokens": known.get("tokens", reported["tokens"]),
                "characters": reported["characters"],
                "counts_from": "release" if known else "paper",
                "text_cached": gid != "0" and bool(texts.cached(gid)),
                "built": here is not None,
            }
        )
    known_keys = {row["doc_key"] for row in rows}
    return rows + [_foreign_row(b) for key, b in built.items() if key not in known_keys]


def describe(folder: Path, name: str) -> dict[str, Any]:
    """Facts of a built book, its first words, and its characters with their most frequent mention."""
    record, book = _find(folder, name)
    facts = next(b for b in record.books if b.doc_key == book.doc_key).to_dict()
    people = sorted(
        ((c.name, len(c.mentions), _usual(book, c.mentions)) for c in book.characters),
        key=lambda row: (-row[1], row[0]),
    )
    return {"facts": facts, "begins": _begins(book), "characters": people}


def mentions_of(folder: Path, name: str, character: str) -> tuple[str, list[tuple[int, int, str]]]:
    """(name, rows of start, end, words in context) of one character of a built book.

    Raises:
        UsageError: no such character; the nearest names are suggested.
    """
    _, book = _find(folder, name)
    names = [c.name for c in book.characters]
    fits = [c for c in book.characters if c.name.lower() == character.lower()] or [
        c for c in book.characters if character.lower() in c.name.lower()
    ]
    if len(fits) != 1:
        near = [c.name for c in fits] or difflib.get_close_matches(character, names, n=5, cutoff=0.3)
        raise UsageError(
            f"{book.doc_key} has {'several characters' if fits else 'no character'} like {character!r}",
            expected=", ".join(near or names[:30]),
        )
    return fits[0].name, [(m.start, m.end, _in_context(book, m)) for m in sorted(fits[0].mentions)]


def _built(folder: Path) -> dict[str, Any]:
    try:
        return {released_key(b.doc_key): b for b in read_build(folder).books}
    except DataError:
        return {}


def _foreign_row(book) -> dict[str, Any]:
    return {
        "doc_key": book.doc_key, "title": "(not of the published data set)",
        "gutenberg_key": book.gutenberg_key, "gold": False, "splits": [book.split], "tokens": book.tokens,
        "characters": book.characters, "counts_from": "build", "text_cached": False, "built": True,
    }  # fmt: skip


def _find(folder: Path, name: str) -> tuple[BuildRecord, Book]:
    record = read_build(folder)
    keys = [b.doc_key for b in record.books]
    exact = [b.doc_key for b in record.books if name in (b.doc_key, b.gutenberg_key)]
    fits = exact or [k for k in keys if name.lower().replace(" ", "_") in k]
    if len(fits) != 1:
        near = fits or difflib.get_close_matches(name.lower().replace(" ", "_"), keys, n=5, cutoff=0.3)
        raise UsageError(
            f"{folder} has {'several books' if fits else 'no book'} like {name!r}",
            expected=", ".join(near or keys[:20]),
            hint="bookcoref-data list shows all books",
        )
    row: Record = next(r for _, r in iter_folder(folder) if r.doc_key == fits[0])
    return record, row.to_book()


def _usual(book: Book, mentions) -> str:
    return Counter(book.text_of(m) for m in mentions).most_common(1)[0][0]


def _begins(book: Book) -> str:
    return " ".join(t for t in book.tokens[:30] if t != "\n") + " …"


def _in_context(book: Book, mention: Mention) -> str:
    before = " ".join(book.tokens[max(0, mention.start - _CONTEXT) : mention.start])
    after = " ".join(book.tokens[mention.end + 1 : mention.end + 1 + _CONTEXT])
    return f"{before} [{book.text_of(mention)}] {after}".replace("\n", " ").strip()
