"""Reads `rdf-files.tar.bz2` in the working folder; run in a process of its own by `catalogue.py`.

Writes `gutenbergindex.db` (gutenbergpy's cache), `catalogue.parquet` and `facts.json` there, and a number
of further records on stdout every thousand.
"""

from __future__ import annotations

import io
import json
import queue
import re
import tarfile
import threading
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path

_MEMBER = re.compile(r"(?:^|/)pg(\d+)\.rdf$")
_NS = {
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "dcterms": "http://purl.org/dc/terms/",
    "pgterms": "http://www.gutenberg.org/2009/pgterms/",
}
_ABOUT = f"{{{_NS['rdf']}}}about"
_RELATOR = "{http://id.loc.gov/vocabulary/relators/}"
_CREATOR = f"{{{_NS['dcterms']}}}creator"
_EVERY = 1000


def main(archive: str) -> None:
    """Fill the working folder from `archive`.

    Raises:
        ValueError: no record is in the archive. tarfile and lxml errors pass through.
    """
    import sys

    out = sys.stdout
    sink = GutenbergpySink()
    rows = []
    for number, data in records(Path(archive)):
        from lxml import etree

        root = etree.fromstring(data)
        sink.add(number, root)
        rows.append(extra_row(number, root))
        if len(rows) % _EVERY == 0:
            out.write(f"{_EVERY}\n")
            out.flush()
    if not rows:
        raise ValueError("no record cache/epub/<id>/pg<id>.rdf in the archive")
    with redirect_stdout(io.StringIO()):  # gutenbergpy draws a progress bar on stdout
        sink.write(Path("gutenbergindex.db").absolute())
    write_table(Path("gutenbergindex.db").absolute(), rows, Path("catalogue.parquet"))
    Path("facts.json").write_text(json.dumps({"records": len(rows)}), encoding="utf-8")


def records(archive: Path) -> Iterator[tuple[int, bytes]]:
    """(id, RDF) of every record, streamed; unpacking runs in a thread beside the parsing."""
    ready: queue.Queue = queue.Queue(maxsize=256)
    stop = threading.Event()

    def unpack() -> None:
        try:
            with tarfile.open(archive, "r|*") as tar:
                for member in tar:
                    found = _MEMBER.search(member.name)
                    if stop.is_set():
                        return
                    if found and member.isfile():
                        content = tar.extractfile(member)
                        assert content is not None  # it is a file
                        ready.put((int(found.group(1)), content.read()))
                    tar.members = []  # type: ignore[attr-defined]  # the list of members would grow to the size of the catalogue
            ready.put(None)
        except BaseException as error:
            ready.put(error)

    thread = threading.Thread(target=unpack, daemon=True)
    thread.start()
    seen: set[int] = set()
    try:
        while (item := ready.get()) is not None:
            if isinstance(item, BaseException):
                raise item
            if item[0] not in seen:
                seen.add(item[0])
                yield item
    finally:
        stop.set()


class GutenbergpySink:
    """Feeds records to gutenbergpy's parser items as its RdfParser does, and writes its SQLite cache.

    Its parser reads an unpacked folder; its items and its cache do not care where a record comes from.
    """

    def __init__(self) -> None:
        from gutenbergpy.parse.cachefields import Fields
        from gutenbergpy.parse.parseitem import ParseItem
        from gutenbergpy.parse.parseitemfile import ParseItemFiles
        from gutenbergpy.parse.parseitemtitles import ParseItemTitles
        from gutenbergpy.parse.rdfparseresults import RDFParseResults

        self.fields = Fields
        self.results = RDFParseResults()
        value = "/rdf:Description/rdf:value/text()"
        agent = "//dcterms:creator/pgterms:agent/pgterms"
        sets = {
            Fields.TITLE: ParseItemTitles(xpath=["//dcterms:title/text()", "//dcterms:alternative/text()"]),
            Fields.SUBJECT: ParseItem(xpath=[f"//dcterms:subject{value}"]),
            Fields.TYPE: ParseItem(xpath=[f"//dcterms:type{value}"]),
            Fields.LANGUAGE: ParseItem(xpath=[f"//dcterms:language{value}"]),
            Fields.AUTHOR: ParseItem(xpath=[f"{agent}:name/text()"]),
            Fields.ALIASES: ParseItem(xpath=[f"{agent}:alias/text()"]),
            Fields.BOOKSHELF: ParseItem(xpath=[f"//pgterms:bookshelf{value}"]),
            Fields.FILES: ParseItemFiles(xpath=[]),  # no links: half of the time and memory for nothing
            Fields.PUBLISHER: ParseItem(xpath=["//dcterms:publisher/text()"]),
            Fields.RIGHTS: ParseItem(xpath=["//dcterms:rights/text()"]),
        }
        self.results.field_sets = [sets[index] for index in range(Fields.FIELD_COUNT)]

    def add(self, number: int, root) -> None:
        from gutenbergpy.parse.book import Book

        fields, book_id = self.fields, len(self.results.books) + 1
        got = [
            item.do(root, book_id) if item.needs_book_id() else item.do(root)
            for item in self.results.field_sets
        ]

        def first(index: int) -> int:
            return got[index][0] if got[index] else -1

        issued, downloads = _text(root, "//dcterms:issued"), _text(root, "//pgterms:downloads")
        self.results.books.append(
            Book(
                first(fields.PUBLISHER),
                first(fields.RIGHTS),
                first(fields.LANGUAGE),
                first(fields.BOOKSHELF),
                number,
                issued if issued not in ("", "None") else "1000-10-10",
                int(downloads) if downloads.isdigit() else -1,
                got[fields.TITLE],
                got[fields.SUBJECT],
                first(fields.TYPE),
                got[fields.AUTHOR],
                got[fields.ALIASES],
                got[fields.FILES],
            )
        )

    def write(self, database: Path) -> None:
        from gutenbergpy.caches.sqlitecache import SQLiteCache
        from gutenbergpy.gutenbergcachesettings import GutenbergCacheSettings

        GutenbergCacheSettings.set(CacheFilename=str(database))
        SQLiteCache().create_cache(self.results)


def extra_row(number: int, root) -> dict:
    """What gutenbergpy does not keep: languages, people by role with their aliases, size of the text."""
    value = "/rdf:Description/rdf:value/text()"
    return {
        "id": number,
        "languages": [str(x) for x in root.xpath(f"//dcterms:language{value}", namespaces=_NS)],
        "people": list(_people(root)),
        "text_bytes": _text_bytes(root),
        "issued": _text(root, "//dcterms:issued"),
    }


def _people(root) -> Iterator[dict]:
    for agent in root.iter(f"{{{_NS['pgterms']}}}agent"):
        tag = agent.getparent().tag
        role = "cre" if tag == _CREATOR else tag.removeprefix(_RELATOR) if _RELATOR in tag else ""
        names = [str(x) for x in agent.xpath("pgterms:name/text()", namespaces=_NS)]
        if role and names:
            aliases = [str(x) for x in agent.xpath("pgterms:alias/text()", namespaces=_NS)]
            yield {"role": role, "name": names[0], "aliases": aliases}


def _text_bytes(root) -> int:
    """Size of the largest plain text file, 0 when the record lists none."""
    best = 0
    for file in root.iter(f"{{{_NS['pgterms']}}}file"):
        address = file.get(_ABOUT, "")
        if address.endswith((".txt", ".txt.utf-8")) and "readme" not in address:
            size = _text(file, "dcterms:extent")
            best = max(best, int(size) if size.isdigit() else 0)
    return best


def _text(root, path: str) -> str:
    found = root.xpath(f"{path}/text()", namespaces=_NS)
    return str(found[0]) if found else ""


_LISTS = {
    "titles": "SELECT b.gutenbergbookid, t.name FROM titles t JOIN books b ON t.bookid = b.id ORDER BY t.id",
    "authors": "SELECT b.gutenbergbookid, a.name FROM book_authors x JOIN books b ON x.bookid = b.id "
    "JOIN authors a ON x.authorid = a.id ORDER BY x.rowid",
    "aliases": "SELECT b.gutenbergbookid, a.name FROM book_aliases x JOIN books b ON x.bookid = b.id "
    "JOIN aliases a ON x.authorid = a.id ORDER BY x.rowid",
    "subjects": "SELECT b.gutenbergbookid, s.name FROM book_subjects x JOIN books b ON x.bookid = b.id "
    "JOIN subjects s ON x.subjectid = s.id ORDER BY x.rowid",
}
_BOOKS = (
    "SELECT b.gutenbergbookid, t.name, b.numdownloads FROM books b LEFT JOIN types t ON b.typeid = t.id "
    "ORDER BY b.gutenbergbookid"
)


def write_table(database: Path, rows: list[dict], target: Path) -> None:
    """Join gutenbergpy's cache and the extra rows into the table."""
    import sqlite3

    import polars as pl

    person = pl.Struct({"role": pl.String, "name": pl.String, "aliases": pl.List(pl.String)})
    schema = {"id": pl.Int64, "languages": pl.List(pl.String), "people": pl.List(person),
              "text_bytes": pl.Int64, "issued": pl.String}  # fmt: skip
    with sqlite3.connect(database) as connection:
        books = connection.execute(_BOOKS).fetchall()
        columns = ["id", "form", "downloads"]
        types = {"id": pl.Int64, "form": pl.String, "downloads": pl.Int64}
        table = pl.DataFrame(books, schema=types, orient="row").select(columns)
        for name, query in _LISTS.items():
            pairs = pl.DataFrame(
                connection.execute(query).fetchall(), schema={"id": pl.Int64, name: pl.String}, orient="row"
            )
            grouped = pairs.group_by("id", maintain_order=True).agg(pl.col(name))
            table = table.join(grouped, on="id", how="left")
    connection.close()
    table = table.with_columns(pl.col(list(_LISTS)).fill_null([]), pl.col("form").fill_null(""))
    extra = pl.DataFrame(rows, schema=schema)
    table.join(extra, on="id", how="left").sort("id").write_parquet(target, compression="zstd")
