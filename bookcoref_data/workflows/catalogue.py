"""What there is: the published books, what of them is cached and built, and one built book in detail."""

import difflib
from collections import Counter
from pathlib import Path
from typing import Any

from ..books import Book, Character, Record
from ..books.book import text_of
from ..books.facts import one_called, released_key
from ..errors import DataError, UsageError
from ..formats import read_documents
from ..formats.folder import BUILD_FILE, iter_folder, read_build
from ..sources.store import Store
from .verify import published_books

COLUMNS = ("doc_key", "title", "gutenberg_key", "gold", "splits", "tokens", "characters", "counts_from",
           "text_cached", "built")  # fmt: skip
_CONTEXT = 8
_AROUND = 12
"""Words shown on each side of a mention, and of a place."""


def overview(folder: Path, cache_dir: Path | None) -> list[dict[str, Any]]:
    """One row per published book: keys, splits, counts (known ones first, else the paper's) and state."""
    from ..sources.gutenberg import Texts

    built = _built(folder)
    texts = Texts(Store.open(cache_dir), offline=True)
    rows: list[tuple[Any, ...]] = []
    for book in published_books():
        gid, known, reported = book["gutenberg_key"], book.get("known", {}), book["reported_by_paper"]
        rows.append((
            book["doc_key"], book["title"], gid, book["gold"], book["splits"],
            known.get("tokens", reported["tokens"]), reported["characters"], "release" if known else "paper",
            gid != "0" and bool(texts.cached(gid)), book["doc_key"] in built,
        ))  # fmt: skip
    known_keys = {row[0] for row in rows}
    for b in (b for key, b in built.items() if key not in known_keys):
        about = (b.doc_key, "(not of the published data set)", b.gutenberg_key, False, [b.split])
        rows.append((*about, b.tokens, b.characters, "build", False, True))
    return [dict(zip(COLUMNS, row, strict=True)) for row in rows]


def describe(folder: Path, name: str) -> dict[str, Any]:
    """Facts of a built book, its first words, and its characters with their most frequent mention."""
    facts, book = _find(folder, name)
    often = ((c, Counter(map(book.text_of, c.mentions)).most_common(1)[0][0]) for c in book.characters)
    people = sorted(((c.name, len(c.mentions), most) for c, most in often), key=lambda r: (-r[1], r[0]))
    return {"facts": facts, "begins": text_of(book.tokens, 0, 29) + " …", "characters": people}


def place_of(folder: Path, name: str, token: int) -> dict[str, Any]:
    """What stands at a token of a book: the words around it, and every mention that holds it."""
    _, book = _find(folder, name)
    if not 0 <= token < len(book.tokens):
        raise UsageError(f"{book.doc_key} has no token {token:,}", expected=f"0 to {len(book.tokens) - 1:,}")
    first, last = max(0, token - _AROUND), min(len(book.tokens), token + _AROUND + 1)
    words = [*book.tokens[first:token], f"[{book.tokens[token]}]", *book.tokens[token + 1 : last]]
    named = {m for c in book.characters for m in c.mentions}
    holders = [(c.name, m) for c in book.characters for m in c.mentions]
    holders += [(str(i), m) for i, c in enumerate(book.clusters) for m in c if m not in named]
    return {
        "doc_key": book.doc_key,
        "token": token,
        "context": " ".join(words).replace("\n", " "),
        "mentions": [
            {"character": who, "start": m.start, "end": m.end, "text": book.text_of(m)}
            for who, m in sorted(holders, key=lambda pair: pair[1])
            if m.start <= token <= m.end
        ],
    }


def mentions_of(folder: Path, name: str, character: str) -> tuple[str, list[tuple[int, int, str]]]:
    """(name, rows of start, end, words in context) of one character of a built book.

    `character` is the name, a part of it, or what the text mostly calls this character and nobody else.
    """
    _, book = _find(folder, name)
    names = [c.name for c in book.characters]
    wanted = character.casefold()
    part = [c for c in book.characters if wanted in c.name.casefold()]
    fits = [c for c in part if c.name.casefold() == wanted] or part or _called(book, wanted)
    if len(fits) != 1:
        near = [c.name for c in fits] or difflib.get_close_matches(character, names, n=5, cutoff=0.3)
        what = f"{book.doc_key} has {'several characters' if fits else 'no character'} like {character!r}"
        raise UsageError(what, expected=", ".join(near or names[:30]))
    rows = []
    for m in sorted(fits[0].mentions):
        before = " ".join(book.tokens[max(0, m.start - _CONTEXT) : m.start])
        after = " ".join(book.tokens[m.end + 1 : m.end + 1 + _CONTEXT])
        rows.append((m.start, m.end, f"{before} [{book.text_of(m)}] {after}".replace("\n", " ").strip()))
    return fits[0].name, rows


def _called(book: Book, wanted: str) -> list[Character]:
    """The characters with a mention of just these words; only the first one, if most of these are theirs."""
    counts = {c.name: sum(book.text_of(m).casefold() == wanted for m in c.mentions) for c in book.characters}
    found = sorted((c for c in book.characters if counts[c.name]), key=lambda c: -counts[c.name])
    mostly = found and 2 * counts[found[0].name] > sum(counts.values())
    return found[:1] if mostly else found


def _built(folder: Path) -> dict[str, Any]:
    try:
        return {released_key(b.doc_key): b for b in read_build(folder).books}
    except DataError:
        return {}


def _find(folder: Path, name: str) -> tuple[dict[str, Any], Book]:
    """The facts of a book and the book itself.

    `folder` is a built data set, or any folder or file of books. A `name` that fits no book there may be
    the path of a folder or file with one book.
    """
    if name and Path(name).exists() and not any(name in key for key in _built(folder)):
        folder, name = Path(name), ""
    if not (folder / BUILD_FILE).is_file() and folder.exists():
        book = one_called([record.to_book() for record in read_documents(folder)], name, folder)
        # No build record describes it.
        return {
            "doc_key": book.doc_key, "gutenberg_key": book.gutenberg_key, "tokens": len(book.tokens),
            "sentences": len(book.sentence_ends), "characters": len(book.characters),
            "clusters": len(book.clusters), "mentions": book.mention_count,
        }, book  # fmt: skip
    facts = one_called(read_build(folder).books, name, folder)
    row: Record = next(r for _, r in iter_folder(folder) if r.doc_key == facts.doc_key)
    return facts.to_dict(), row.to_book()
