"""The catalogue of Project Gutenberg as one compact table in the cache.

It is read once, from `rdf-files.tar.bz2` (`catalogue_records.py`) or from a metadata cache that gutenbergpy
made (`gutenbergindex.db`, read through gutenbergpy). gutenbergpy's own parser is not used: its cache keeps
the first language only, and does not say who is author and who translator, or whose alias an alias is.

The table is parquet, one row per record, keyed by the file's sha256:

    id, titles (first the title, then alternatives), authors, aliases, subjects, form ("Text", "Sound"),
    downloads, languages, people (role, name, aliases; role "cre" is an author), text_bytes, issued
"""

from __future__ import annotations

import json
import lzma
import sqlite3
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import DataError, MissingExtraError, needing
from ..files import sha256_file, unreadable
from ..progress import Progress, begun
from .http import Fetcher
from .store import Store

if TYPE_CHECKING:
    import polars as pl

ADDRESS = "https://www.gutenberg.org/cache/epub/feeds/rdf-files.tar.bz2"
ARCHIVE = "rdf-files.tar.bz2"
TABLE = "catalogue.parquet"
PART = "catalogue"
VERSION = 2  # raise it when the table changes: it is part of the cache key
_MOST_BYTES = 2 << 30
_UNREADABLE = (OSError, EOFError, ValueError, tarfile.TarError, lzma.LZMAError, SyntaxError, sqlite3.Error)


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
            import polars as pl
        return pl.read_parquet(self.table)


def catalogue(
    store: Store, archive: Path | None = None, *, offline: bool = False, progress: Progress | None = None
) -> Catalogue:
    """The catalogue made from `archive`, else from the archive in the cache, else from a download.

    `archive` is rdf-files.tar.bz2 or a gutenbergindex.db of gutenbergpy. The first time takes half a minute
    for the whole of Project Gutenberg, later the table is there.

    Raises:
        MissingExtraError: lxml or polars (or gutenbergpy, for its cache) is not installed.
        SourceError, OfflineError: the archive cannot be had.
        DataError: it is not a catalogue.
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
        from .catalogue_records import read_archive, read_cache

        with open(path, "rb") as stream:
            is_database = stream.read(16) == b"SQLite format 3\x00"  # as gutenbergpy's cache is
        with begun(progress, path.name, None, "records") as advance:
            frame = read_cache(path) if is_database else read_archive(path, advance)
    except ImportError as error:
        raise MissingExtraError.of("harvest", error.name or "lxml", "reading the catalogue") from error
    except _UNREADABLE as error:
        # lxml's XMLSyntaxError is a SyntaxError.
        raise DataError(
            f"{path} is not a catalogue of Project Gutenberg",
            expected="rdf-files.tar.bz2 with cache/epub/<id>/pg<id>.rdf, or gutenbergpy's gutenbergindex.db",
            found=str(error) or type(error).__name__,
            hint=f"fetch {ADDRESS} again; the file may be cut short",
        ) from error
    frame.write_parquet(folder / TABLE, compression="zstd")
    (folder / "facts.json").write_text(json.dumps({"records": frame.height}), encoding="utf-8")
