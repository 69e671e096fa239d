"""The records of Project Gutenberg's `rdf-files.tar.bz2`, read once, as a stream, into one table.

A thread unpacks while lxml parses. Nine tenths of a record say which files there are in which formats;
of those only the size of the plain text is wanted, so they are cut out before the record is parsed.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import queue
import re
import tarfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa
    from lxml.etree import _Element

Record = tuple[int, bytes]
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
_FORMAT, _FORMAT_END = b"<dcterms:hasFormat>", b"</dcterms:hasFormat>"
_TEXT_FILE = re.compile(rb'rdf:about="(?P<address>[^"]*\.txt(?:\.utf-8)?)"')
_EXTENT = re.compile(rb"<dcterms:extent[^>]*>(\d+)<")
_BATCH = 200  # records handed from thread to thread at once
_CHUNK = 5000  # rows kept as Python objects at once


def read_archive(archive: Path, advance: Callable[[int], None]) -> pl.DataFrame:
    """The table of all records; `advance` is called with numbers of further records.

    Raises:
        ValueError: there is no record. OSError, EOFError, tarfile.TarError, lxml.etree.LxmlError: it is no
            archive, is cut short, or a record is broken.
    """
    import polars as pl
    import pyarrow as pa

    rows: list[Row] = []
    chunks: list[pa.Table] = []
    for number, data in records(archive):
        rows.append(row_of(number, data))
        if len(rows) == _CHUNK:
            chunks.append(table_of(rows))
            advance(len(rows))
            rows = []
    if rows:
        chunks.append(table_of(rows))
        advance(len(rows))
    if not chunks:
        raise ValueError("no record cache/epub/<id>/pg<id>.rdf in the archive")
    frame = pl.from_arrow(pa.concat_tables(chunks))
    assert isinstance(frame, pl.DataFrame)  # a table gives a frame, an array a series
    return frame.sort("id")


def table_of(rows: list[Row]) -> pa.Table:
    """Rows as a table with the columns that `catalogue.py` describes."""
    import pyarrow as pa

    texts = pa.list_(pa.string())
    person = pa.struct([("role", pa.string()), ("name", pa.string()), ("aliases", texts)])
    schema = {
        "id": pa.int64(), "titles": texts, "authors": texts, "aliases": texts, "subjects": texts,
        "form": pa.string(), "downloads": pa.int64(), "languages": texts, "people": pa.list_(person),
        "text_bytes": pa.int64(), "issued": pa.string(),
    }  # fmt: skip
    # Made by pyarrow: polars takes sixty times as long for lists of structures.
    columns = {name: pa.array([row[name] for row in rows], type=kind) for name, kind in schema.items()}
    return pa.table(columns)


def records(archive: Path) -> Iterator[Record]:
    """(id, RDF) of every record, each id once; unpacking runs in a thread beside the caller's work."""
    ready: queue.Queue[list[Record] | BaseException | None] = queue.Queue(maxsize=8)
    stop = threading.Event()

    def unpack() -> None:
        try:
            for batch in _batches(archive):
                if stop.is_set():
                    return
                ready.put(batch)
            ready.put(None)
        except BaseException as error:  # raised again in the caller's thread
            ready.put(error)

    threading.Thread(target=unpack, daemon=True).start()
    seen: set[int] = set()
    try:
        while (item := ready.get()) is not None:
            if isinstance(item, BaseException):
                raise item
            for number, data in item:
                if number not in seen:
                    seen.add(number)
                    yield number, data
    finally:
        stop.set()
        while not ready.empty():  # lets a thread that waits for room see that it must stop
            ready.get_nowait()


def _batches(archive: Path) -> Iterator[list[Record]]:
    batch: list[Record] = []
    with _unpacked(archive) as stream:
        for name, content in _files(stream):
            found = _MEMBER.search(name)
            if found:
                batch.append((int(found.group(1)), content))
                if len(batch) == _BATCH:
                    yield batch
                    batch = []
    yield batch


def _files(stream: IO[bytes]) -> Iterator[tuple[str, bytes]]:
    """(name, content) of the files of a tar archive, in one pass.

    Walking with `TarFile` costs as much as half of the parsing; a header block and its content are all that
    is needed of an archive of 75,000 small files. Names beyond 100 characters are no records.
    """
    while True:
        block = stream.read(tarfile.BLOCKSIZE)
        if block == tarfile.NUL * tarfile.BLOCKSIZE:
            return
        member = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
        whole = -(-member.size // tarfile.BLOCKSIZE) * tarfile.BLOCKSIZE
        content = stream.read(whole)
        if len(content) < whole:
            raise tarfile.ReadError(f"the archive ends inside {member.name}")
        if member.isfile():
            yield member.name, content[: member.size]


def _unpacked(archive: Path) -> IO[bytes]:
    with open(archive, "rb") as stream:
        magic = stream.read(6)
    for start, opener in ((b"BZh", bz2.open), (b"\x1f\x8b", gzip.open), (b"\xfd7zXZ\x00", lzma.open)):
        if magic.startswith(start):
            return cast(IO[bytes], opener(archive, "rb"))
    return open(archive, "rb")


def row_of(number: int, data: bytes) -> Row:
    """One record as a row. Raises lxml.etree.XMLSyntaxError when it is broken."""
    from lxml import etree

    short, text_bytes = _without_formats(data)
    root = etree.fromstring(short)
    found: dict[str, list[str]] = {name: [] for name in (*_TEXTS.values(), *_VALUES.values())}
    people: list[Row] = []
    agents: dict[str | None, Row] = {}
    for child in next(root.iterchildren(f"{_PG}ebook"), ()):
        tag = str(child.tag)
        if tag in _TEXTS:
            found[_TEXTS[tag]] += [child.text] if child.text else []
        elif tag in _VALUES:
            found[_VALUES[tag]] += [v.text for v in child.iter(_VALUE) if v.text]
        elif tag == _CREATOR or tag.startswith(_RELATOR):
            role = "cre" if tag == _CREATOR else tag.removeprefix(_RELATOR)
            people += [{"role": role, **agent} for agent in _agents(child, agents)]
    authors = [person for person in people if person["role"] == "cre"]
    downloads = found["downloads"]
    return {
        "id": number,
        "titles": found["titles"] + found["other titles"],
        "authors": [person["name"] for person in authors],
        "aliases": list(dict.fromkeys(alias for person in authors for alias in person["aliases"])),
        "subjects": found["subjects"],
        "form": next(iter(found["form"]), ""),
        "downloads": int(downloads[0]) if downloads and downloads[0].isdigit() else -1,
        "languages": found["languages"],
        "people": people,
        "text_bytes": text_bytes,
        "issued": next(iter(found["issued"]), ""),
    }


def _agents(child: _Element, known: dict[str | None, Row]) -> Iterator[Row]:
    """The person in an element with a role; one named before is only pointed to (rdf:resource)."""
    agent = next(child.iterchildren(f"{_PG}agent"), None)
    if agent is None:
        pointed = known.get(child.get(f"{_RDF}resource"))
        if pointed:
            yield pointed
        return
    names = [part.text for part in agent.iterchildren(f"{_PG}name") if part.text]
    if names:
        aliases = [part.text for part in agent.iterchildren(f"{_PG}alias") if part.text]
        person: Row = {"name": names[0], "aliases": aliases}
        known[agent.get(f"{_RDF}about")] = person
        yield person


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
