"""The catalogue of Project Gutenberg as one compact table in the cache.

It is read once, from `rdf-files.tar.bz2` or from a metadata cache that gutenbergpy made (`gutenbergindex.db`,
read through gutenbergpy). gutenbergpy's own parser is not used: its cache keeps the first language only, and
does not say who is author and who translator, or whose alias an alias is.

The archive is read as a stream. Nine tenths of a record say which files there are in which formats; of those
only the size of the plain text is wanted, so they are cut out before the record is parsed.

The table is parquet, one row per record, keyed by the file's sha256:

    id, titles (first the title, then alternatives), authors, aliases, subjects, form ("Text", "Sound"),
    downloads, languages, people (role, name, aliases; role "cre" is an author), text_bytes, issued
"""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import re
import sqlite3
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from ..errors import DataError, MissingExtraError, needing
from ..files import sha256_file, unreadable
from ..late import etree, pa, pl
from ..progress import Progress, begun
from ..resources import load_toml, resource
from .http import Fetcher
from .store import Store

ADDRESS = "https://www.gutenberg.org/cache/epub/feeds/rdf-files.tar.bz2"
ARCHIVE = "rdf-files.tar.bz2"
TABLE = "catalogue.parquet"
PART = "catalogue"
VERSION = 2  # raise it when the table changes: it is part of the cache key
_MOST_BYTES = 2 << 30
_UNREADABLE = (OSError, EOFError, ValueError, tarfile.TarError, lzma.LZMAError, SyntaxError, sqlite3.Error)

RdfRecord = tuple[int, bytes]
Row = dict[str, Any]

_MEMBER = re.compile(r"(?:^|/)pg(\d+)\.rdf$")
_RDF = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}"
_DC = "{http://purl.org/dc/terms/}"
_PG = "{http://www.gutenberg.org/2009/pgterms/}"
_RELATOR = "{http://id.loc.gov/vocabulary/relators/}"
_TEXTS = {
    f"{_DC}title": "titles", f"{_DC}alternative": "other titles", f"{_DC}issued": "issued",
    f"{_PG}downloads": "downloads",
}  # fmt: skip
_VALUES = {f"{_DC}subject": "subjects", f"{_DC}type": "form", f"{_DC}language": "languages"}
_VALUE = f"{_RDF}value"
_CREATOR = f"{_DC}creator"
_WANTED = (*_TEXTS, *_VALUES, _CREATOR, f"{_RELATOR}*")
_AGENT, _NAME, _ALIAS = f"{_PG}agent", f"{_PG}name", f"{_PG}alias"
_FORMAT, _FORMAT_END = b"<dcterms:hasFormat>", b"</dcterms:hasFormat>"
_TEXT_FILE = re.compile(rb'rdf:about="(?P<address>[^"]*\.txt(?:\.utf-8)?)"')
_EXTENT = re.compile(rb"<dcterms:extent[^>]*>(\d+)<")
_UNPACKED: dict[bytes, Callable[[BinaryIO], Any]] = {
    b"BZ": bz2.open, b"\x1f\x8b": gzip.open, b"\xfd7": lzma.open,
}  # fmt: skip
"""What unpacks a file that begins so."""
_CHUNK = 5000  # rows kept as Python objects at once


@dataclass(frozen=True, slots=True)
class Catalogue:
    """A catalogue on disk: the table, the checksum of the file it was read from, how many records."""

    table: Path
    sha256: str
    records: int

    @property
    def key(self) -> str:
        """What names this catalogue in the cache, and what is made from it."""
        return f"{self.sha256[:24]}-v{VERSION}"

    def frame(self) -> pl.DataFrame:
        """The table. Raises MissingExtraError without polars."""
        with needing("harvest", "polars", "matching to the catalogue"):
            return pl.read_parquet(self.table)


def catalogue(
    store: Store, archive: Path | None = None, *, offline: bool = False, progress: Progress | None = None
) -> Catalogue:
    """The catalogue made from `archive`, else from the archive in the cache, else from a download.

    `archive` is rdf-files.tar.bz2 or a gutenbergindex.db of gutenbergpy. The first time takes a minute
    for the whole of Project Gutenberg, later the table is there.

    Raises MissingExtraError: lxml or polars (or gutenbergpy, for its cache) is not installed. SourceError,
    OfflineError: the archive cannot be had. DataError: it is not a catalogue.
    """
    path = archive or store.path(PART, ARCHIVE)
    if archive is None and not path.exists():
        with store.lock(PART):
            if not path.exists():
                Fetcher(offline=offline).download(ADDRESS, path, max_bytes=_MOST_BYTES)
    try:
        sha256 = sha256_file(path)
    except OSError as error:
        raise unreadable(path, error, f"fetch {ADDRESS} and name it with --catalogue") from error
    folder = store.make(PART, f"{sha256[:24]}-v{VERSION}", lambda scratch: _read(path, scratch, progress))
    facts = json.loads((folder / "facts.json").read_text(encoding="utf-8"))
    return Catalogue(folder / TABLE, sha256, facts["records"])


def _read(path: Path, folder: Path, progress: Progress | None) -> None:
    """Write the table of the catalogue at `path` into `folder`."""
    try:
        with open(path, "rb") as stream:
            is_database = stream.read(16) == b"SQLite format 3\x00"  # as gutenbergpy's cache is
        with begun(progress, path.name, None, "records") as advance:
            frame = read_cache(path) if is_database else read_archive(path, advance)
    except ImportError as error:
        raise MissingExtraError.of("harvest", error.name or "lxml", "reading the catalogue") from error
    except _UNREADABLE as error:
        # lxml's XMLSyntaxError is a SyntaxError.
        what = f"{path} is not a catalogue of Project Gutenberg"
        expected = "rdf-files.tar.bz2 with cache/epub/<id>/pg<id>.rdf, or gutenbergpy's gutenbergindex.db"
        found = str(error) or type(error).__name__
        hint = f"fetch {ADDRESS} again; the file may be cut short"
        raise DataError(what, expected=expected, found=found, hint=hint) from error
    frame.write_parquet(folder / TABLE, compression="zstd")
    (folder / "facts.json").write_text(json.dumps({"records": frame.height}), encoding="utf-8")


# -- the records of the archive ----------------------------------------------------------------------


def read_archive(archive: Path, advance: Callable[[int], None]) -> pl.DataFrame:
    """The table of all records; `advance` is called with numbers of further records.

    Raises ValueError: there is no record. OSError, EOFError, tarfile.TarError, lxml.etree.LxmlError: it is no
    archive, is cut short, or a record is broken.
    """
    rows, chunks = (row_of(*record) for record in records(archive)), list[pa.Table]()
    while some := list(islice(rows, _CHUNK)):
        chunks.append(table_of(some))
        advance(len(some))
    if not chunks:
        raise ValueError("no record cache/epub/<id>/pg<id>.rdf in the archive")
    return _frame(pa.concat_tables(chunks))


def _frame(table: pa.Table) -> pl.DataFrame:
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)  # a table gives a frame, an array a series
    return frame.sort("id")


def table_of(rows: list[Row]) -> pa.Table:
    """Rows as the table of a catalogue."""
    texts = pa.list_(pa.string())
    person = pa.struct([("role", pa.string()), ("name", pa.string()), ("aliases", texts)])
    schema = {
        "id": pa.int64(), "titles": texts, "authors": texts, "aliases": texts, "subjects": texts,
        "form": pa.string(), "downloads": pa.int64(), "languages": texts, "people": pa.list_(person),
        "text_bytes": pa.int64(), "issued": pa.string(),
    }  # fmt: skip
    # Made by pyarrow: polars takes sixty times as long for lists of structures.
    return pa.table({name: pa.array([row[name] for row in rows], type=kind) for name, kind in schema.items()})


def records(archive: Path) -> Iterator[RdfRecord]:
    """(id, RDF) of every record, each id once."""
    seen: set[int] = set()
    with open(archive, "rb") as stream:
        magic = stream.read(2)
        stream.seek(0)
        with _UNPACKED.get(magic, nullcontext)(stream) as packed:
            for name, content in _files(packed):
                found = _MEMBER.search(name)
                if found and (number := int(found[1])) not in seen:
                    seen.add(number)
                    yield number, content


def _files(stream: BinaryIO) -> Iterator[tuple[str, bytes]]:
    """(name, content) of the files of a tar archive, in one pass. Names beyond 100 characters are no records.

    `TarFile` takes a damaged header, and the end of an archive that is cut short, for its end.
    """
    while (block := stream.read(tarfile.BLOCKSIZE)) != tarfile.NUL * tarfile.BLOCKSIZE:
        try:
            file = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
        except tarfile.HeaderError as error:
            raise tarfile.ReadError("a header of the archive is broken, or it is cut short") from error
        content = stream.read(-(-file.size // tarfile.BLOCKSIZE) * tarfile.BLOCKSIZE)
        if len(content) < file.size:
            raise tarfile.ReadError(f"the archive ends inside {file.name}")
        if file.isreg():
            yield file.name, content[: file.size]


def row_of(number: int, data: bytes) -> Row:
    """One record as a row. Raises lxml.etree.XMLSyntaxError when it is broken."""
    short, text_bytes = _without_formats(data)
    texts, people = _fields(etree.fromstring(short))
    authors = [person for person in people if person["role"] == "cre"]
    downloads = texts["downloads"]
    return {
        "id": number, "titles": texts["titles"] + texts["other titles"],
        "authors": [person["name"] for person in authors],
        "aliases": list(dict.fromkeys(alias for person in authors for alias in person["aliases"])),
        "subjects": texts["subjects"], "form": next(iter(texts["form"]), ""),
        "downloads": int(downloads[0]) if downloads and downloads[0].isdigit() else -1,
        "languages": texts["languages"], "people": people, "text_bytes": text_bytes,
        "issued": next(iter(texts["issued"]), ""),
    }  # fmt: skip


def _fields(root: etree._Element) -> tuple[dict[str, list[str]], list[Row]]:
    """(texts by field, people) of the book of a record.

    lxml makes an object of every element that is looked at, so it is asked for those that say something.
    """
    texts: dict[str, list[str]] = {name: [] for name in (*_TEXTS.values(), *_VALUES.values())}
    people: list[Row] = []
    agents: dict[str, Row] = {}
    book = next(root.iterchildren(f"{_PG}ebook"), None)
    for child in () if book is None else book.iterchildren(*_WANTED):
        tag = child.tag
        if tag in _VALUES:
            texts[_VALUES[tag]] += [v.text for v in child.iter(_VALUE) if v.text]
        elif tag in _TEXTS:
            texts[_TEXTS[tag]] += [child.text] if child.text else []
        else:
            role = "cre" if tag == _CREATOR else tag.removeprefix(_RELATOR)
            # A person who was named before is only pointed to.
            person = agents.get(child.get(f"{_RDF}resource", ""))
            if (agent := next(child.iterchildren(_AGENT), None)) is not None:
                names: dict[str, list[str]] = {_NAME: [], _ALIAS: []}
                for part in agent.iterchildren(_NAME, _ALIAS):
                    names[part.tag] += [part.text] if part.text else []
                person = {"name": names[_NAME][0], "aliases": names[_ALIAS]} if names[_NAME] else None
                if person and (address := agent.get(f"{_RDF}about")):
                    agents[address] = person
            people += [{"role": role, **person}] if person else []
    return texts, people


def _without_formats(data: bytes) -> tuple[bytes, int]:
    """(the record without its list of files, size of the largest plain text file or 0)."""
    first, *rest = data.split(_FORMAT)
    kept, best = [first], 0
    for piece in rest:
        file, closed, after = piece.partition(_FORMAT_END)
        if not closed:
            return data, best  # not as Gutenberg writes it; the parser says whether it is broken
        kept.append(after)
        found = _TEXT_FILE.search(file) if b".txt" in file else None
        if found and b"readme" not in found["address"]:
            size = _EXTENT.search(file)
            best = max(best, int(size.group(1)) if size else 0)
    return b"".join(kept), best


def read_cache(path: Path) -> pl.DataFrame:
    """The table of all books of the metadata cache that gutenbergpy made (`gutenbergindex.db`).

    Who works with gutenbergpy has this file and needs no archive. It is read through gutenbergpy, whose
    settings are global: the name of its file is set for the reading and then set back. The cache says less
    than the records do: one language each, nobody but authors, and not whose alias an alias is.

    Raises ImportError: gutenbergpy is not installed. ValueError: no books. sqlite3.Error: it is another
    database.
    """
    lists: dict[str, str] = load_toml(resource("manifests", "gutenbergpy.toml"))["queries"]
    every_book = lists.pop("books")
    with _cache(path) as cache:
        books: dict[int, Row] = {}
        for number, form, language, downloads, issued in cache.native_query(every_book):
            books.setdefault(int(number), {
                "id": int(number), "form": form or "", "downloads": -1 if downloads is None else downloads,
                "languages": [language] if language else [], "issued": issued or "", "text_bytes": 0,
                "people": [], **{name: [] for name in lists},
            })  # fmt: skip
        for name, query in lists.items():
            for number, text in cache.native_query(query):
                if text:
                    books[int(number)][name].append(text)
    if not books:
        raise ValueError("no book in the database")
    for book in books.values():
        # All are authors; whose an alias is nobody knows, and to the matching it is all the same.
        names, aliases = book["authors"], book["aliases"]
        book["people"] = [
            {"role": "cre", "name": n, "aliases": [] if i else aliases} for i, n in enumerate(names)
        ]
    return _frame(table_of(list(books.values())))


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
