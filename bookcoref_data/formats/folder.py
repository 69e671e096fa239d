"""The dataset folder: parquet files, a card and a build record, written whole or not at all.

    bookcoref/README.md                     the card; `datasets` reads its YAML
    bookcoref/build.json                    counts and checksums of every book, where its text came from
    bookcoref/{full,split}/{train,validation,test}.parquet

`load_dataset("bookcoref", "split")` works from the folder's parent under datasets 2.21 to 5.x. There is
no Python file inside, which datasets 4 and 5 would refuse.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import __version__
from ..books import Book, Record, split_book
from ..books.facts import BookFacts, content_digest, facts_of
from ..errors import DataError, FormatError, SourceError, UsageError
from ..files import sha256_file, write_text
from .card import CardFacts, card_digest, render_card
from .schema import CONFIGS, SPLITS, arrow_schema, from_row, to_table

if TYPE_CHECKING:
    import pyarrow as pa

BUILD_FILE = "build.json"
BUILD_FORMAT = 1
# Config version of the layout; the content is told apart by the digest in its description.
LAYOUT_VERSION = "1.0.0"
# What the system answers when another process swapped its folder in, or the old one away, before us.
_OVERTAKEN = {errno.ENOTEMPTY, errno.EEXIST, errno.ENOENT}

BOOKCOREF_LICENCES = (
    (
        "Texts",
        "public domain in the United States (Project Gutenberg); check the law where you are. *Animal Farm* "
        "is in copyright in the United States until 2041 and its text must not be passed on.",
    ),
    (
        "Annotations",
        "BookCoref states three licences: CC BY-NC-SA 4.0 (code repository), CC BY-NC 4.0 (its badge) and "
        "CC BY-SA 4.0 (dataset card); treat them as CC BY-NC-SA 4.0, the strictest. The gold of *Animal "
        "Farm* comes from Guo et al. (2023), BSD 3-clause.",
    ),
)


@dataclass(frozen=True, slots=True)
class BuildRecord:
    """What `build.json` says. `missing` maps the doc_key of a book that is not there to the reason;
    `files` maps each file's path to its size and sha256; `inputs` is the key of everything that went in.
    """

    digest: str
    title: str
    books: tuple[BookFacts, ...]
    missing: Mapping[str, str]
    files: Mapping[str, Mapping[str, Any]]
    inputs: str = ""
    made_with: str = ""
    source: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        return {
            "format": BUILD_FORMAT,
            "title": self.title,
            "digest": self.digest,
            "made_with": self.made_with,
            "inputs": self.inputs,
            "source": dict(self.source),
            "books": [b.to_dict() for b in self.books],
            "missing": dict(self.missing),
            "files": {path: dict(facts) for path, facts in self.files.items()},
        }


class FolderWriter:
    """Collects the tables of a data set, one book at a time, in a temporary folder.

    Use through `writing_folder`; memory holds one book. Books must come split by split, in the order in
    which they should stand.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._writers: dict[tuple[str, str], Any] = {}
        self._rows: dict[tuple[str, str], int] = {}
        self._bytes: dict[tuple[str, str], int] = {}
        self.books: list[BookFacts] = []

    def add(self, facts: BookFacts, full: pa.Table, split: pa.Table) -> None:
        """Add one book: its row of the full config and its windows."""
        if facts.split not in SPLITS:
            raise DataError(f"unknown split {facts.split!r}", expected=", ".join(SPLITS))
        if any(b.doc_key == facts.doc_key for b in self.books):
            raise DataError(f"book {facts.doc_key!r} comes twice", hint="every doc_key must be unique")
        self._write("full", facts.split, full)
        self._write("split", facts.split, split)
        self.books.append(facts)

    def add_book(self, book: Book, split: str, windows: Sequence[Book] | None = None, **facts: Any) -> None:
        """Add a checked book; `windows` default to the rule of the released split config."""
        parts = split_book(book).books if windows is None else tuple(windows)
        self.add(facts_of(book, parts, split, **facts), to_table([book]), to_table(parts))

    def _write(self, config: str, split: str, table: pa.Table) -> None:
        import pyarrow.parquet as pq

        key = (config, split)
        if key not in self._writers:
            path = self._folder / config / f"{split}.parquet"
            path.parent.mkdir(exist_ok=True)
            self._writers[key] = pq.ParquetWriter(
                path, arrow_schema(), compression="zstd", write_page_index=True
            )
            self._rows[key] = self._bytes[key] = 0
        # A row group per book, and at most 100 windows: readers that page can skip to a book.
        self._writers[key].write_table(table, row_group_size=1 if config == "full" else 100)
        self._rows[key] += table.num_rows
        self._bytes[key] += table.nbytes

    def close(self) -> None:
        for writer in self._writers.values():
            writer.close()

    def finish(
        self,
        title: str,
        *,
        licences: Sequence[tuple[str, str]],
        notes: Sequence[str] = (),
        missing: Mapping[str, str] | None = None,
        inputs: str = "",
        source: Mapping[str, Any] | None = None,
        citation: str | None = None,
    ) -> BuildRecord:
        """Write card and build record; returns the record."""
        self.close()
        if not self.books:
            raise DataError("no book to write", hint="every book failed or was filtered out; see above")
        order = {split: i for i, split in enumerate(SPLITS)}
        books = tuple(sorted(self.books, key=lambda b: order[b.split]))
        paths = {key: f"{key[0]}/{key[1]}.parquet" for key in self._writers}
        digest = content_digest(books)
        counts, sizes = _by_config(self._rows), _by_config(self._bytes)
        lost = [f"not in this build: `{key}`: {reason}" for key, reason in (missing or {}).items()]
        card = CardFacts(
            title, digest, LAYOUT_VERSION, counts, sizes, [_card_row(b) for b in books], [*notes, *lost],
            licences, paths, **({"citation": citation} if citation else {}),
        )  # fmt: skip
        write_text(self._folder / "README.md", render_card(card))
        files = {p: _file_facts(self._folder / p) for p in ["README.md", *sorted(paths.values())]}
        record = BuildRecord(
            digest, title, books, missing or {}, files, inputs, f"bookcoref-data {__version__}", source or {}
        )
        write_text(
            self._folder / BUILD_FILE, json.dumps(record.to_dict(), ensure_ascii=False, indent=1) + "\n"
        )
        return record


@contextlib.contextmanager
def writing_folder(out: Path) -> Iterator[FolderWriter]:
    """Write a dataset folder beside `out` and swap it in at the end; on any failure nothing changes.

    Raises:
        UsageError: `out` holds something that this package did not write.
        SourceError: the parent folder cannot be written, or the disk is full.
    """
    check_replaceable(out)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        part = Path(tempfile.mkdtemp(prefix=f".{out.name}.", suffix=".part", dir=out.parent))
        part.chmod(0o755)
    except OSError as error:
        raise SourceError(
            f"cannot write to {out.parent}", found=error.strerror, hint="choose another folder with --out"
        ) from error
    writer = FolderWriter(part)
    try:
        yield writer
        writer.close()
        _swap_in(part, out)
    except BaseException as error:
        # Closing writes the end of the parquet files, which a full disk refuses, too.
        with contextlib.suppress(OSError):
            writer.close()
        shutil.rmtree(part, ignore_errors=True)
        if isinstance(error, OSError):
            raise SourceError(
                f"cannot finish writing {out}", found=str(error),
                hint="free some space, or choose another folder with --out, and run the command again; "
                "nothing half-written was left",
            ) from error  # fmt: skip
        raise


def write_folder(
    out: Path,
    books: Mapping[str, Iterable[Book]],
    *,
    title: str,
    licences: Sequence[tuple[str, str]],
    notes: Sequence[str] = (),
    missing: Mapping[str, str] | None = None,
    source: Mapping[str, Any] | None = None,
    check: str = "built",
) -> BuildRecord:
    """Write books, given by split name, as a dataset folder; the simple way in for any producer."""
    with writing_folder(out) as writer:
        for split in SPLITS:
            for book in books.get(split, ()):
                writer.add_book(book, split, check=check)
        return writer.finish(title, licences=licences, notes=notes, missing=missing, source=source)


def check_replaceable(out: Path) -> None:
    """Refuse to overwrite a folder that is not a dataset folder of ours. Raises UsageError."""
    try:
        # One look: another rebuild may swap the folder at any moment.
        names = os.listdir(out)
    except FileNotFoundError:
        return
    except NotADirectoryError:
        names = [out.name]
    if names and BUILD_FILE not in names:
        raise UsageError(
            f"{out} exists and is not a dataset folder written by bookcoref-data",
            expected=f"an empty folder, or one with {BUILD_FILE}",
            hint="choose another folder with --out, or move this one away",
        )


def is_folder(path: Path) -> bool:
    """Whether `path` looks like a dataset folder (a card and parquet files)."""
    return (path / "README.md").is_file() and any((path / c).is_dir() for c in CONFIGS)


def read_build(folder: Path) -> BuildRecord:
    """Read and check the shape of `build.json`.

    Raises:
        FormatError: missing, not JSON, or not in our layout.
    """
    path = folder / BUILD_FILE
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
        if value["format"] != BUILD_FORMAT:
            raise FormatError(
                f"{path}: written by another version", expected=BUILD_FORMAT, found=value["format"],
                hint="rebuild the folder, or update bookcoref-data",
            )  # fmt: skip
        return BuildRecord(
            value["digest"], value["title"], tuple(map(BookFacts.from_dict, value["books"])),
            value["missing"], value["files"], value["inputs"], value["made_with"], value["source"],
        )  # fmt: skip
    except OSError as error:
        raise FormatError(
            f"{folder} is not a built dataset folder", expected=f"a file {BUILD_FILE}", found=error.strerror,
            hint="build one with: bookcoref-data rebuild --sample",
        ) from error  # fmt: skip
    except (ValueError, KeyError, TypeError) as error:
        raise FormatError(
            f"{path} cannot be read", expected="a build record", found=f"{type(error).__name__}: {error}",
            hint="the file was changed or damaged: rebuild the folder",
        ) from error  # fmt: skip


def read_card_digest(folder: Path) -> str | None:
    """The content digest stated on the card; None when there is none."""
    try:
        return card_digest((folder / "README.md").read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return None


def iter_folder(
    folder: Path, config: str = "full", splits: Iterable[str] = SPLITS
) -> Iterator[tuple[str, Record]]:
    """(split, record) of every document of a config, reading one row group at a time.

    Raises:
        UsageError: unknown config, or a folder without files of it.
        FormatError: a parquet file that is damaged or has other columns.
    """
    if config not in CONFIGS:
        raise UsageError(f"unknown config {config!r}", expected=" or ".join(CONFIGS))
    present = [(s, folder / config / f"{s}.parquet") for s in splits]
    present = [(s, p) for s, p in present if p.is_file()]
    if not present:
        raise UsageError(
            f"{folder} has no parquet files of config {config!r}",
            hint="give the folder that `bookcoref-data rebuild` wrote",
        )
    for split, path in present:
        for i, row in enumerate(_rows(path)):
            yield split, from_row(row, f"{path}:{i + 1}")


def read_folder(folder: Path, config: str = "full", splits: Iterable[str] = SPLITS) -> list[Record]:
    """All documents of a config as records."""
    return [record for _, record in iter_folder(Path(folder), config, splits)]


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            names = file.schema_arrow.names
            if not file.schema_arrow.equals(arrow_schema()):
                raise FormatError(
                    f"{path} has other columns than the data set", expected=str(arrow_schema()),
                    found=", ".join(names), hint="rebuild the folder",
                )  # fmt: skip
            for group in range(file.num_row_groups):
                yield from file.read_row_group(group).to_pylist()
    except (pa.ArrowException, OSError) as error:
        raise FormatError(
            f"{path} cannot be read as parquet", found=str(error)[:200], hint="rebuild the folder"
        ) from error


def _by_config(values: Mapping[tuple[str, str], int]) -> dict[str, dict[str, int]]:
    return {c: {s: values.get((c, s), 0) for s in SPLITS} for c in CONFIGS}


def _card_row(facts: BookFacts) -> dict[str, object]:
    text = facts.text.get("name") or facts.text.get("address") or "-"
    return {**facts.to_dict(), "text": text}


def _file_facts(path: Path) -> dict[str, Any]:
    return {"bytes": path.stat().st_size, "sha256": sha256_file(path)}


def _swap_in(part: Path, out: Path, tries: int = 5) -> None:
    """Put a finished folder in the place of the old one; the old one is removed afterwards.

    A folder cannot be exchanged in one step everywhere: when another process puts its own there between
    our two, we go again, and the last one stays.
    """
    for left in reversed(range(tries)):
        try:
            return _swap_once(part, out)
        except OSError as error:
            if not left or error.errno not in _OVERTAKEN:
                raise


def _swap_once(part: Path, out: Path) -> None:
    old = None
    if out.exists():
        old = Path(tempfile.mkdtemp(prefix=f".{out.name}.", suffix=".old", dir=out.parent))
    try:
        if old:
            os.replace(out, old / "data")
        os.replace(part, out)
    except OSError:
        if old and (old / "data").exists() and not out.exists():
            os.replace(old / "data", out)
        raise
    finally:
        if old:
            shutil.rmtree(old, ignore_errors=True)
