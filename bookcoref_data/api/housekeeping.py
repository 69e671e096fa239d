"""Packs, recorded manifests and the cache from Python."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import plural
from ..files import path_of
from .books import PathLike, path_or_none
from .results import Result
from .tables import Table

if TYPE_CHECKING:
    from ..progress import Progress
    from ..sources.store import PartSize
    from ..workflows.pack import PackReport


class Packed(Result):
    """The packs that were made; `failed` and `left_out` map books to reasons."""

    def __init__(self, report: PackReport) -> None:
        self.report = report

    @property
    def out(self) -> Path:
        """The folder of the packs, or the one file."""
        return self.report.out

    @property
    def failed(self) -> dict[str, str]:
        """Books that could not be packed, with the reason."""
        return {key: str(error) for key, error in self.report.failed.items()}

    @property
    def left_out(self) -> dict[str, str]:
        """Books whose text cannot be had, with the reason."""
        return dict(self.report.left_out)

    @property
    def table(self) -> Table:
        """One row per pack: what stands in the index."""
        return Table.of_dicts(self.to_dict()["packs"])

    def to_dict(self) -> dict[str, Any]:
        """The same document as `pack --json`."""
        return self.report.to_dict()

    def _line(self) -> str:
        return f"{plural(len(self.report.packs), 'pack')} in {self.out}, {len(self.failed)} failed"


def pack(
    release: PathLike,
    out: PathLike,
    *,
    mirror: PathLike | None = None,
    books: Iterable[str] = (),
    fingerprint_bits: int = 8,
    most_text: float = 0.05,
    licence: str | None = None,
    attribution: str | None = None,
    texts_only: bool = False,
    expect: bool = True,
    jobs: int = 0,
    offline: bool = False,
    cache_dir: PathLike | None = None,
    progress: Progress | None = None,
) -> Packed:
    """Turn a release and the Gutenberg texts it belongs to into one small file per book, without the text.

    Args:
        release: a release in the official layout, or a built data set folder.
        out: a folder for the packs, or one file NAME.pack.
        mirror: folder or address of a Gutenberg mirror.
        books: only these books, by doc_key, Gutenberg id or title.
        fingerprint_bits: bits per token by which other editions are followed; 0 for none.
        most_text: refuse a pack that holds a larger share of the book's characters.
        licence: licence of the annotation; None is that of BookCoref.
        attribution: who made the annotation; None names the authors of BookCoref.
        texts_only: accept a release without annotation.
        expect: compare tokens with the published ones.
        jobs: processes; 0 means one per core.

    Raises:
        UsageError, SourceError, DataError: nothing can be packed. Errors of single books are in the result.
    """
    import tempfile

    from ..formats.folder import is_folder
    from ..progress import Silent
    from ..sources.store import Store
    from ..workflows import setup
    from ..workflows.pack import pack_folder, pack_plan
    from ..workflows.packed import ATTRIBUTION, LICENCE, PackSettings

    settings = PackSettings(
        fingerprint_bits, most_text, LICENCE if licence is None else licence,
        ATTRIBUTION if attribution is None else attribution,
    )  # fmt: skip
    folder, target, listener = path_of(release), path_of(out), progress or Silent()
    asked = setup.RebuildSettings(
        out=target, release=folder, mirror=None if mirror is None else str(mirror),
        cache_dir=path_or_none(cache_dir), offline=offline, books=tuple(books), texts_only=texts_only,
        expect=expect,
    )  # fmt: skip
    if is_folder(folder):
        candidates = setup.candidates_of(setup.texts_of(asked, Store.open(asked.cache_dir), listener))
        made = pack_folder(folder, candidates, target, settings=settings, jobs=jobs, progress=listener)
        return Packed(made)
    plan = setup.prepare(asked, listener)
    with tempfile.TemporaryDirectory(prefix="bookcoref-pack-") as work:
        built = Path(work) / "built"
        return Packed(pack_plan(plan, target, built, settings=settings, jobs=jobs, progress=listener))


def pack_inspect(*packs: PathLike) -> Table:
    """What packs hold, one row per pack: counts, checksums, the text it belongs to, bytes per section.

    Raises:
        SourceError, FormatError: a file is missing, or is no pack.
    """
    from ..workflows.packed import describe, pack_files

    return Table.of_dicts([describe(file) for path in packs for file in pack_files(path_of(path))])


class Digest(Result):
    """The digest of a data set folder, the one string to compare; `file` is the manifest written, if any."""

    def __init__(self, digest: str, books: Sequence[str], file: Path | None = None) -> None:
        self.digest, self.books, self.file = digest, list(books), file

    @property
    def table(self) -> Table:
        """One row per book: its key."""
        return Table({"doc_key": self.books})

    def to_dict(self) -> dict[str, Any]:
        """The same document as `manifest write --json` or `manifest show --json`."""
        if self.file is not None:
            return {"manifest": str(self.file), "digest": self.digest}
        return {"digest": self.digest, "books": self.books}

    def _line(self) -> str:
        return f"sha256:{self.digest[:16]}, {plural(len(self.books), 'book')}"


def manifest_write(folder: PathLike = "bookcoref", out: PathLike = "bookcoref-manifest.json") -> Digest:
    """Verify a folder and record its facts in the file `out`, so that two people can compare.

    Raises:
        DataError: the folder does not verify. UsageError: `out` exists and is no manifest.
    """
    from ..formats.folder import read_build
    from ..workflows.verify import write_manifest

    source, file = path_of(folder), path_of(out)
    digest = write_manifest(source, file)
    return Digest(digest, [book.doc_key for book in read_build(source).books], file)


def manifest_show(folder: PathLike = "bookcoref") -> Digest:
    """The digest of a folder as its build record states it; the data are not read.

    Raises:
        DataError: the folder has no build record.
    """
    from ..formats.folder import read_build

    record = read_build(path_of(folder))
    return Digest(record.digest, [book.doc_key for book in record.books])


class CacheSize(Result):
    """Parts of the cache at `root` with their files and bytes: those there, or those removed."""

    def __init__(self, root: Path, parts: Sequence[PartSize], *, removed: bool = False) -> None:
        self.root, self.parts, self.removed = root, list(parts), removed

    @property
    def files(self) -> int:
        """The number of files."""
        return sum(part.files for part in self.parts)

    @property
    def bytes(self) -> int:
        """Their bytes."""
        return sum(part.bytes for part in self.parts)

    @property
    def table(self) -> Table:
        """One row per part."""
        return Table.of_rows(("part", "files", "bytes"), self.parts)

    def to_dict(self) -> dict[str, Any]:
        """The same document as `cache size --json` or `cache clear --json`."""
        word = "removed" if self.removed else "parts"
        parts = [part._asdict() for part in self.parts]
        return {"path": str(self.root), word: parts, "files": self.files, "bytes": self.bytes}

    def _line(self) -> str:
        return f"{plural(self.files, 'file')}, {self.bytes:,} bytes{' removed' if self.removed else ''}"


def cache_path(cache_dir: PathLike | None = None) -> Path:
    """The folder of the cache."""
    from ..sources.store import Store

    return Store.open(path_or_none(cache_dir)).root


def cache_size(cache_dir: PathLike | None = None) -> CacheSize:
    """How many files and bytes every part of the cache holds."""
    from ..sources.store import Store

    store = Store.open(path_or_none(cache_dir))
    return CacheSize(store.root, store.sizes())


def cache_clear(part: str | None = None, *, cache_dir: PathLike | None = None) -> CacheSize:
    """Remove one part of the cache, or all of it, at once and without asking; returns what was removed.

    Everything removed can be fetched or made again.

    Raises:
        UsageError: no such part, or the folder has no mark of a cache. SourceError: work is going on in it.
    """
    from ..sources.store import Store

    store = Store.open(path_or_none(cache_dir))
    return CacheSize(store.root, store.clear(part), removed=True)
