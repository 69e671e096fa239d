"""The catalogue of Project Gutenberg: from `rdf-files.tar.bz2` to one compact table in the cache.

gutenbergpy parses the records and writes its metadata cache (SQLite, the one its `query` reads). It is
kept at arm's length, because its settings are global, its objects belong to one thread and it writes into
the working folder: a process of its own does the work (`catalogue_worker.py`), with absolute paths.

Records go from the archive to gutenbergpy's own parser without being unpacked: unpacking costs three
times as much as all the parsing. In the same pass lxml reads what gutenbergpy drops and matching needs:
all languages (it keeps the first), who is author and who translator or editor, whose alias an alias is,
and the size of the plain text. Its download links are not kept: texts are fetched by `gutenberg.py`.

The table is parquet, one row per record, keyed by the archive's sha256:

    id, titles (first the title, then alternatives), authors, aliases, subjects, form ("Text", "Sound"),
    downloads, languages, people (role, name, aliases; role "cre" is an author), text_bytes, issued
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from ..errors import DataError, MissingExtraError, SourceError
from ..files import sha256_file
from ..progress import Progress, Silent
from .http import Fetcher
from .store import Store

ADDRESS = "https://www.gutenberg.org/cache/epub/feeds/rdf-files.tar.bz2"
ARCHIVE = "rdf-files.tar.bz2"
PART = "catalogue"
VERSION = 1  # raise it when the table changes: it is part of the cache key
_MOST_BYTES = 2 << 30
_WORKER = "bookcoref_data.sources.catalogue_worker"


@dataclass(frozen=True, slots=True)
class Catalogue:
    """A catalogue on disk: our table, gutenbergpy's cache, the archive's checksum, how many records."""

    table: Path
    database: Path
    sha256: str
    records: int

    def frame(self):
        """The table as a polars DataFrame. Raises MissingExtraError without polars."""
        try:
            import polars as pl
        except ImportError as error:
            raise MissingExtraError.of("harvest", "polars", "matching to the catalogue") from error
        return pl.read_parquet(self.table)


def catalogue(
    store: Store,
    archive: Path | None = None,
    *,
    offline: bool = False,
    fetcher: Fetcher | None = None,
    progress: Progress | None = None,
) -> Catalogue:
    """The catalogue made from `archive`, else from the archive in the cache, else from a download.

    The first time takes minutes for the whole of Project Gutenberg, later the table is there.

    Raises:
        MissingExtraError: gutenbergpy, lxml or polars is not installed.
        SourceError, OfflineError: the archive cannot be had.
        DataError: it is not a catalogue.
    """
    progress = progress or Silent()
    path = archive or _fetched(store, offline, fetcher)
    try:
        sha256 = sha256_file(path)
    except OSError as error:
        raise SourceError(
            f"cannot read the catalogue {path}",
            found=error.strerror,
            hint=f"fetch {ADDRESS} and name it with --catalogue",
        ) from error
    folder = store.make(PART, f"{sha256[:24]}-v{VERSION}", lambda scratch: _work(path, scratch, progress))
    facts = json.loads((folder / "facts.json").read_text(encoding="utf-8"))
    return Catalogue(folder / "catalogue.parquet", folder / "gutenbergindex.db", sha256, facts["records"])


def _fetched(store: Store, offline: bool, fetcher: Fetcher | None) -> Path:
    path = store.path(PART, ARCHIVE)
    if not path.exists():
        with store.lock(PART):
            if not path.exists():
                (fetcher or Fetcher(offline=offline)).download(ADDRESS, path, max_bytes=_MOST_BYTES)
    return path


def _work(archive: Path, folder: Path, progress: Progress) -> None:
    """Run the worker in a process of its own, in the folder it fills; pass on how far it is."""
    root = str(Path(__file__).resolve().parents[2])
    code = f"import sys; sys.path.insert(0, {root!r}); from {_WORKER} import main; main(sys.argv[1])"
    errors = folder / "errors.txt"
    progress.begin(archive.name, None, "records")
    with open(errors, "w", encoding="utf-8") as stream:
        worker = subprocess.Popen(
            [sys.executable, "-c", code, str(archive.absolute())],
            cwd=folder, stdout=subprocess.PIPE, stderr=stream, text=True,
        )  # fmt: skip
        assert worker.stdout is not None  # it was asked for: PIPE
        try:
            for line in worker.stdout:
                progress.advance(archive.name, int(line))
            status = worker.wait()
        finally:
            worker.kill()
            worker.wait()
            worker.stdout.close()
            progress.end(archive.name)
    if status:
        raise _error(archive, status, errors.read_text(encoding="utf-8").strip())
    errors.unlink()


def _error(archive: Path, code: int, trouble: str) -> Exception:
    last = trouble.splitlines()[-1] if trouble else f"exit code {code}"
    if "ModuleNotFoundError" in last:
        return MissingExtraError.of("harvest", last.rpartition(" ")[2].strip("'"), "reading the catalogue")
    return DataError(
        f"{archive} is not a catalogue of Project Gutenberg",
        expected="rdf-files.tar.bz2 with cache/epub/<id>/pg<id>.rdf",
        found=last,
        hint=f"fetch {ADDRESS} again; the file may be cut short",
    )
