"""Read the metadata cache that gutenbergpy made (`gutenbergindex.db`) as a catalogue.

Who works with gutenbergpy has this file and needs no archive. It is read through gutenbergpy, whose settings
are global: the name of its file is set for the reading and then set back. The cache says less than
the records do: one language each, nobody but authors, and not whose alias an alias is.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .catalogue_records import Row, table_of

if TYPE_CHECKING:
    import polars as pl

_MAGIC = b"SQLite format 3\x00"
_BOOKS = (
    "SELECT b.gutenbergbookid, t.name, l.name, b.numdownloads, b.dateissued FROM books b "
    "LEFT JOIN types t ON b.typeid = t.id LEFT JOIN languages l ON b.languageid = l.id"
)
_LINKED = (
    "SELECT b.gutenbergbookid, x.name FROM book_{0} k JOIN books b ON k.bookid = b.id "
    "JOIN {0} x ON k.{1} = x.id ORDER BY k.rowid"
)
_LISTS = {
    "titles": "SELECT b.gutenbergbookid, t.name FROM titles t JOIN books b ON t.bookid = b.id ORDER BY t.id",
    "authors": _LINKED.format("authors", "authorid"),
    "aliases": _LINKED.format("aliases", "authorid"),
    "subjects": _LINKED.format("subjects", "subjectid"),
}


def is_cache(path: Path) -> bool:
    """Whether a file is an SQLite database, as gutenbergpy's cache is."""
    with open(path, "rb") as stream:
        return stream.read(len(_MAGIC)) == _MAGIC


def read_cache(path: Path) -> pl.DataFrame:
    """The table of all books of the cache at `path`.

    Raises:
        ImportError: gutenbergpy is not installed. ValueError: no books.
        sqlite3.Error: it is another database.
    """
    import polars as pl

    with _cache(path) as cache:
        books: dict[int, Row] = {}
        for number, form, language, downloads, issued in cache.native_query(_BOOKS):
            books.setdefault(int(number), {
                "id": int(number), "form": form or "", "downloads": -1 if downloads is None else downloads,
                "languages": [language] if language else [], "issued": issued or "", "text_bytes": 0,
                "people": [], **{name: [] for name in _LISTS},
            })  # fmt: skip
        for name, query in _LISTS.items():
            for number, text in cache.native_query(query):
                if text:
                    books[int(number)][name].append(text)
    if not books:
        raise ValueError("no book in the database")
    for book in books.values():
        # All are authors; whose an alias is nobody knows, and to the matching it is all the same.
        names, aliases = book["authors"], book["aliases"]
        book["people"] = [
            {"role": "cre", "name": name, "aliases": [] if place else aliases}
            for place, name in enumerate(names)
        ]
    frame = pl.from_arrow(table_of(list(books.values())))
    assert isinstance(frame, pl.DataFrame)  # a table gives a frame, an array a series
    return frame.sort("id")


@contextmanager
def _cache(path: Path) -> Iterator[Any]:
    """gutenbergpy's reader of the file at `path`; its global settings are as before afterwards."""
    from gutenbergpy.gutenbergcache import GutenbergCache
    from gutenbergpy.gutenbergcachesettings import GutenbergCacheSettings

    before = GutenbergCacheSettings.CACHE_FILENAME
    GutenbergCacheSettings.set(CacheFilename=str(path.absolute()))
    cache = GutenbergCache.get_cache()
    try:
        yield cache
    finally:
        GutenbergCacheSettings.set(CacheFilename=before)
        if cache.connection is not None:
            cache.connection.close()
