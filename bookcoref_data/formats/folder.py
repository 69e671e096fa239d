"""The data set folder: parquet files, a card and a build record, written whole or not at all.

    bookcoref/README.md                     the card; `datasets` reads its YAML
    bookcoref/build.json                    counts and checksums of every book, where its text came from
    bookcoref/{full,split}/{train,validation,test}.parquet
    bookcoref/reasons.jsonl                 speakers, scores and reasons, where they are known

`load_dataset("bookcoref", "split")` works from the folder's parent under datasets 2.21 to 5.x. There is
no Python file inside, which datasets 4 and 5 would refuse.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .. import __version__
from ..books import Book, Character, Mention, Record, split_by_rule
from ..books.facts import BookFacts, content_digest, facts_of, is_remapped, released_key
from ..books.stored import StoredBook, TokenBytes
from ..errors import (
    BookError,
    DataError,
    FormatError,
    SourceError,
    UsageError,
    WrongFileError,
    listed,
    require_choice,
)
from ..files import cannot_finish, read_regular, sealed, sha256_file, write_text
from ..guard import survey
from ..late import np, pa, pq
from ..outputs import Replaceable, whole
from ..shapes import attributes, check
from .card import card_digest, card_files, render_card
from .reasons import REASONS
from .schema import CARD, CONFIGS, SPLITS, arrow_schema, from_row, to_tables

BUILD_FILE = "build.json"
BUILD_FORMAT = 1
_MOST_RECORD = 256 << 20
# Files that describe a published data set beside its card; `publish` writes them.
DESCRIPTIONS = ("CITATION.cff", ".zenodo.json", "croissant.json", "publication.json")
# Every file that we write but the record itself; a record that lists another one is not ours.
_TABLES = [f"{config}/{split}.parquet" for config in CONFIGS for split in SPLITS]
_LAYOUT = frozenset(["README.md", REASONS, *DESCRIPTIONS, *_TABLES])
_LOADABLE = frozenset({".py", ".parquet", ".arrow", ".json", ".jsonl", ".csv"})
# What damaged parquet raises while its values are made: Arrow's own errors are of these kinds.
_DAMAGE = (TypeError, AttributeError, ValueError, LookupError, NotImplementedError, OverflowError)

BOOKCOREF_LICENCES: tuple[tuple[str, str], ...] = tuple(CARD["bookcoref_licences"].items())


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
        told = attributes(self, "title digest made_with inputs source books missing files")
        return {"format": BUILD_FORMAT, **told}

    def to_text(self) -> str:
        """The whole of `build.json`: the record, and the sha256 of all the rest as its last entry."""
        return sealed(self.to_dict())


class FolderWriter:
    """Collects the tables of a data set, one book at a time, in a temporary folder.

    Use through `writing_folder`; memory holds one book. Books must come split by split, in the order in
    which they should stand.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._writers: dict[tuple[str, str], Any] = {}
        self._sizes: dict[tuple[str, str], tuple[int, int]] = {}  # documents, and bytes in memory
        self.books: list[BookFacts] = []

    def add(self, facts: BookFacts, full: pa.Table, split: pa.Table, reasons: str = "") -> None:
        """Add one book: its row of the full config, its windows, and its line of reasons."""
        if facts.split not in SPLITS:
            raise DataError(f"unknown split {facts.split!r}", expected=", ".join(SPLITS))
        if any(b.doc_key == facts.doc_key for b in self.books):
            raise DataError(f"book {facts.doc_key!r} comes twice", hint="every doc_key must be unique")
        self._write("full", facts.split, full)
        self._write("split", facts.split, split)
        # The allocator keeps what the largest book needed; the next ones would come on top of it.
        pa.default_memory_pool().release_unused()
        if reasons:
            with (self._folder / REASONS).open("ab") as stream:
                stream.write(f"{reasons}\n".encode())
        self.books.append(facts)

    def add_book(
        self, book: Book, split: str, windows: Sequence[Book] | None = None, reasons: str = "", **facts: Any
    ) -> None:
        """Add a checked book; `windows` default to the rule of its split (`books.windows.WINDOW_RULES`)."""
        whole = StoredBook.of(book)
        parts = split_by_rule(whole, split).books if windows is None else tuple(map(StoredBook.of, windows))
        made = facts_of(whole, parts, split, reasons=reasons, **facts)
        self.add(made, *to_tables(whole, parts), reasons=reasons)

    def _write(self, config: str, split: str, table: pa.Table) -> None:
        key = (config, split)
        if key not in self._writers:
            path = self._folder / config / f"{split}.parquet"
            path.parent.mkdir(exist_ok=True)
            # Statistics of the keys let readers skip to a book; of tokens and numbers they say nothing.
            self._writers[key] = pq.ParquetWriter(
                path, arrow_schema(), compression="zstd", write_page_index=True,
                write_statistics=["doc_key", "gutenberg_key"],
            )  # fmt: skip
        # A row group per book, and at most 100 windows: readers that page can skip to a book.
        self._writers[key].write_table(table, row_group_size=1 if config == "full" else 100)
        rows, size = self._sizes.get(key, (0, 0))
        self._sizes[key] = rows + table.num_rows, size + table.nbytes

    def close(self) -> None:
        for writer in self._writers.values():
            writer.close()

    def finish(
        self, title: str, *, licences: Sequence[tuple[str, str]], notes: Sequence[str] = (),
        missing: Mapping[str, str] | None = None, inputs: str = "", source: Mapping[str, Any] | None = None,
        citation: str = "",
    ) -> BuildRecord:  # fmt: skip
        """Write card and build record; returns the record."""
        self.close()
        if not self.books:
            raise DataError("no book to write", hint="every book failed or was filtered out; see above")
        order = {split: i for i, split in enumerate(SPLITS)}
        books = tuple(sorted(self.books, key=lambda b: order[b.split]))
        digest = content_digest(books)
        lost = [f"not in this build: `{key}`: {reason}" for key, reason in (missing or {}).items()]
        rows = [{**b.to_dict(), "text": b.text.get("name") or b.text.get("address") or "-"} for b in books]
        page = render_card(title, digest, self._sizes, rows, [*notes, *lost], licences, citation)
        write_text(self._folder / "README.md", page)
        files = {
            name: {"bytes": path.stat().st_size, "sha256": sha256_file(path)}
            for name in ["README.md", REASONS, *sorted(f"{c}/{split}.parquet" for c, split in self._sizes)]
            for path in [self._folder / name]
            if path.is_file()
        }
        record = BuildRecord(
            digest, title, books, missing or {}, files, inputs, f"bookcoref-data {__version__}", source or {}
        )
        write_text(self._folder / BUILD_FILE, record.to_text())
        return record


@contextlib.contextmanager
def writing_folder(out: Path, *, replace: bool = False) -> Iterator[FolderWriter]:
    """Write a data set folder beside `out` and swap it in at the end; on any failure nothing changes.

    A symbolic link is followed. A cache inside `out` stays where it is. With `replace`, a folder may lose
    books, and files of the user inside it stay where they are.

    Raises UsageError: `out` holds something that this package did not write, or it holds books that the new
    folder would not have. SourceError: the parent folder cannot be written, or the disk is full.
    """
    check_replaceable(out, replace=replace)

    def old() -> Replaceable:
        if not replace:
            check_losses(out, losses(out, writer.books))
        return check_replaceable(out, replace=replace)

    with whole(out) as outputs:
        writer = FolderWriter(outputs.folder(out, old))
        try:
            yield writer
            writer.close()
        except BaseException as error:
            # Closing writes the end of the parquet files, which a full disk refuses, too.
            with contextlib.suppress(OSError):
                writer.close()
            if isinstance(error, OSError):
                raise cannot_finish(out, error) from error
            raise


def write_folder(
    out: Path, books: Mapping[str, Iterable[Book]], *, title: str, licences: Sequence[tuple[str, str]],
    notes: Sequence[str] = (), source: Mapping[str, Any] | None = None, replace: bool = False,
    reasons: Mapping[str, str] | None = None,
) -> BuildRecord:  # fmt: skip
    """Write books, given by split name, as a data set folder; the simple way in for any producer.

    Raises: as `writing_folder`.
    """
    with writing_folder(out, replace=replace) as writer:
        for split in SPLITS:
            for book in books.get(split, ()):
                writer.add_book(book, split, check="built", reasons=(reasons or {}).get(book.doc_key, ""))
        return writer.finish(title, licences=licences, notes=notes, source=source)


def check_replaceable(out: Path, *, replace: bool = False) -> Replaceable:
    """Refuse to write over a folder unless all in it is ours: a valid build record lists every file.

    Caches inside are no obstacle. With `replace`, other files beside those of a valid record are none
    either: they stay. A folder without a valid record is refused in any case.

    Raises UsageError: lists what is not ours. SourceError: the path cannot be used.
    """
    try:
        str(out).encode("utf-8")  # Arrow takes no other name
        (foreign, caches), files = survey(out, ()), tuple[str, ...]()
        if foreign:
            files = (BUILD_FILE, *read_build(out).files)
            foreign, caches = survey(out, files)
    except DataError as error:
        if BUILD_FILE in foreign and isinstance(error.__cause__, FileNotFoundError):
            # It was there a moment ago: another writer is putting its folder in place.
            return check_replaceable(out, replace=replace)
        raise _not_ours(out, foreign, error.what) from error
    except FileNotFoundError:
        return Replaceable()
    except NotADirectoryError:
        raise _not_ours(out, [out.name], "a file") from None
    except (OSError, UnicodeEncodeError) as error:
        raise SourceError(
            f"cannot use the folder {str(out)[:100]}",
            found=getattr(error, "strerror", "its name is not UTF-8"),
            hint="choose another folder with --out",
        ) from error
    if foreign and not replace:
        what = f"{out} holds files that bookcoref-data did not write: {listed(foreign)}"
        hint = "move them away, or add --replace: it replaces the data set and leaves these files alone"
        raise UsageError(what, expected=f"only the files that {BUILD_FILE} lists", hint=hint)
    return Replaceable(files, bool(foreign or caches))


def _not_ours(out: Path, foreign: Iterable[str], why: str) -> UsageError:
    what = f"{out} exists and is not a data set folder written by bookcoref-data"
    expected = f"an empty folder, or one with a valid {BUILD_FILE}"
    hint = "choose another folder with --out, or move this one away; nothing in it was touched"
    return UsageError(what, expected=expected, found=f"{listed(foreign)} ({why})", hint=hint)


def losses(out: Path, books: Iterable[BookFacts]) -> dict[str, str]:
    """{doc_key: what would be lost} if the folder `out` were replaced by one with `books`."""
    try:
        old = read_build(out).books
    except DataError:
        return {}
    new = {released_key(b.doc_key): b for b in books}
    lost = {}
    for book in old:
        key = released_key(book.doc_key)
        if key not in new:
            lost[key] = "the book"
        elif book.clusters and not new[key].clusters:
            lost[key] = "the annotation of"
        elif is_remapped(new[key].doc_key) and not is_remapped(book.doc_key):
            lost[key] = "the released tokens of"
    return lost


def check_losses(out: Path, lost: Mapping[str, str]) -> None:
    """Raises UsageError, with a list, when anything would be lost."""
    if lost:
        raise UsageError(
            f"{out} was left as it is: the new folder would lose "
            + listed(f"{what} {key}" for key, what in lost.items()),
            hint="write to another folder with --out, or add --replace to lose them",
        )


def is_folder(path: Path) -> bool:
    """Whether `path` looks like a data set folder (a card and parquet files)."""
    return (path / "README.md").is_file() and any((path / c).is_dir() for c in CONFIGS)


def read_build(folder: Path) -> BuildRecord:
    """Read `build.json` and check every value in it.

    Raises FormatError: missing, not JSON, not in our layout, or it lists files that we do not write.
    """
    path = folder / BUILD_FILE
    try:
        value = json.loads(read_regular(path, _MOST_RECORD))
        if isinstance(value, dict) and value.get("format", BUILD_FORMAT) != BUILD_FORMAT:
            raise FormatError(
                f"{path}: written by another version", expected=BUILD_FORMAT,
                found=repr(value["format"])[:80], hint="rebuild the folder, or update bookcoref-data",
            )  # fmt: skip
        check(value, "build_record", "it", lambda what, **told: ValueError(f"{what}: {told['expected']}"))
        facts = tuple(BookFacts.from_dict(book) for book in value["books"])
        if len({b.doc_key for b in facts}) != len(facts):
            raise ValueError("books: a book comes twice")
        for name in value["files"].keys() - _LAYOUT:
            raise ValueError(f"files: {name[:80]!r} is not a file that we write")
        return BuildRecord(
            value["digest"], value["title"], facts, value["missing"], value["files"], value["inputs"],
            value["made_with"], value["source"],
        )  # fmt: skip
    except SourceError as error:
        raise (WrongFileError if folder.is_file() else FormatError)(
            f"{folder} is not a built data set folder", expected=f"a file {BUILD_FILE}", found=error.found,
            hint="build one with: bookcoref-data rebuild --sample",
        ) from error  # fmt: skip
    except (ValueError, RecursionError) as error:
        raise FormatError(
            f"{path} cannot be read", expected="a build record", found=str(error)[:200],
            hint="the file was changed or damaged: rebuild the folder",
        ) from error  # fmt: skip


def record_problems(folder: Path, record: BuildRecord) -> list[str]:
    """What is wrong with the build record itself, its files and the card; [] when all is as written.

    The record must be byte for byte what we write, with its own checksum, and list every file that its
    books need; the card must point to just these files. Other files that `datasets` could read or run are
    named; any other file is the user's own business.
    """
    problems = []
    if (folder / BUILD_FILE).read_bytes() != record.to_text().encode():
        problems.append(f"{BUILD_FILE} was changed since it was written")
    if content_digest(record.books) != record.digest:
        problems.append(f"the books in {BUILD_FILE} do not give its digest {record.digest[:16]}…")
    splits = {b.split for b in record.books}
    tables = {f"{config}/{split}.parquet" for config in CONFIGS for split in splits}
    unlisted = sorted({"README.md", *tables} - {*record.files})
    problems += [f"{name} is not in the build record" for name in unlisted]
    for name, facts in record.files.items():
        path = folder / name
        if not path.is_file():
            problems.append(f"{name} is missing")
        elif sha256_file(path) != facts["sha256"]:
            problems.append(f"{name} was changed since it was written")
    # What a library may read as part of the data set, or run
    for name in survey(folder, (BUILD_FILE, *record.files))[0]:
        paths = sorted((folder / name).rglob("*")) if name.endswith("/") else [folder / name]
        unknown = [p.relative_to(folder).as_posix() for p in paths if p.suffix in _LOADABLE]
        problems += [f"{name} is not in the build record" for name in unknown]
    if {*card_files(_read_card(folder))} != tables:
        problems.append("the card (README.md) points to other files than those of the build record")
    return problems


def _read_card(folder: Path) -> str:
    try:
        return (folder / "README.md").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""


def read_card_digest(folder: Path) -> str | None:
    """The content digest stated on the card; None when there is none."""
    return card_digest(_read_card(folder))


def iter_folder(
    folder: Path, config: str = "full", splits: Iterable[str] = SPLITS
) -> Iterator[tuple[str, Record]]:
    """(split, record) of every document of a config, reading one row group at a time.

    Raises UsageError: unknown config, or a folder without files of it. FormatError: a parquet file that is
    damaged or has other columns.
    """
    require_choice("config", config, CONFIGS)
    present = [(s, folder / config / f"{s}.parquet") for s in splits]
    present = [(s, p) for s, p in present if p.is_file()]
    if not present:
        there = [p.stem for p in sorted((folder / config).glob("*.parquet"))]
        raise UsageError(
            f"{folder} has no split {' or '.join(splits)} of config {config!r}",
            expected="a folder that `bookcoref-data rebuild` wrote",
            found=f"the splits {', '.join(there)}" if there else "no parquet file of this config",
            hint=f"choose another with --split {there[0]}" if there else "check the folder",
        )
    for split, path in present:
        count = 0
        for table in _row_groups(path):
            try:
                rows = table.to_pylist()
            except _DAMAGE as error:
                raise _unreadable(path, error) from error
            for number, row in enumerate(rows, count + 1):
                yield split, from_row(row, f"{path}:{number}")
            count += len(rows)


def read_folder(folder: Path, config: str = "full", splits: Iterable[str] = SPLITS) -> list[Record]:
    """All documents of a config as records."""
    return [record for _, record in iter_folder(Path(folder), config, splits)]


def iter_stored(folder: Path, config: str, split: str) -> Iterator[tuple[str, StoredBook | BookError]]:
    """(doc_key, the checked document, or the rule that it breaks) of every row of one file.

    Made from the flat arrays of a row group, without one string per token: memory holds one group.

    Raises FormatError: the file is damaged, has other columns, or values that are missing.
    """
    path = folder / config / f"{split}.parquet"
    for table in _row_groups(path):
        try:
            # The rows of one row group
            for batch in table.combine_chunks().to_batches():
                sentences = batch.column("sentences")
                inner, firsts = sentences.values, _numbers(sentences.offsets)
                if sentences.null_count or inner.null_count or inner.values.null_count:
                    raise ValueError("values are missing")
                places, tokens = _numbers(inner.offsets), _token_bytes(inner.values)
                bare = batch.select(["doc_key", "gutenberg_key", "clusters", "characters"]).to_pylist()
                for number, row in enumerate(bare):
                    own = places[firsts[number] : firsts[number + 1] + 1]
                    ends = tuple((own[1:] - own[0]).tolist())
                    clusters = tuple(tuple(Mention(*span) for span in cluster) for cluster in row["clusters"])
                    characters = tuple(
                        Character(c["name"], tuple(Mention(*span) for span in c["mentions"]))
                        for c in row["characters"]
                    )
                    key, held = row["doc_key"], tokens[own[0] : own[-1]]
                    try:
                        book = StoredBook(key, row["gutenberg_key"], held, ends, clusters, characters)
                    except BookError as error:
                        yield key, error
                    else:
                        yield key, book
        except _DAMAGE as error:
            raise _unreadable(path, error) from error


def _numbers(offsets: pa.Int32Array) -> np.typing.NDArray[np.int32]:
    """The values of an array. Its own `to_numpy` imports pandas, which takes longer than reading a book."""
    return np.frombuffer(offsets.buffers()[1], np.int32, len(offsets), 4 * offsets.offset)


def _token_bytes(words: pa.DictionaryArray) -> TokenBytes:
    from pyarrow import _compute  # `pyarrow.compute` would make hundreds of functions first

    ended = [word.encode("utf-8") + b"\0" for word in words.dictionary.to_pylist()]
    # 64-bit offsets: a row group of any size fits. Without `pa.array`, which imports pandas, too.
    ends = np.cumsum([0, *map(len, ended)], dtype=np.int64)
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(b"".join(ended))]
    ended = pa.Array.from_buffers(pa.large_binary(), len(ended), buffers)
    bare = _compute.call_function("take", [ended, words.indices])
    _, offsets, data = bare.buffers()
    ends = np.frombuffer(offsets, np.int64, len(bare) + 1)[1:]
    return TokenBytes(b"" if data is None else memoryview(data), ends)


def _row_groups(path: Path) -> Iterator[pa.Table]:
    """The row groups of a file; tokens are numbers in a dictionary, as they are stored."""
    try:
        with pq.ParquetFile(path) as file:
            names, schema = file.schema_arrow.names, file.schema
            if not file.schema_arrow.equals(arrow_schema()):
                raise FormatError(
                    f"{path} has other columns than the data set", expected=str(arrow_schema()),
                    found=", ".join(names), hint="rebuild the folder",
                )  # fmt: skip
        columns = [schema.column(i).path for i in range(len(schema))]
        tokens = [name for name in columns if name.startswith("sentences.")]
        with pq.ParquetFile(path, read_dictionary=tokens) as file:
            for group in range(file.num_row_groups):
                yield file.read_row_group(group)
    except (pa.ArrowException, OSError, *_DAMAGE) as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: Exception) -> FormatError:
    return FormatError(f"{path} cannot be read as parquet", found=str(error)[:200], hint="rebuild the folder")
