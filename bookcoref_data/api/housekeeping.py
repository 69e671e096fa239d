"""Packs, recorded manifests, the cache, and publishing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import plural
from ..files import path_of
from ..outputs import files_of
from ..progress import Progress, Silent
from ..sources.store import PartSize, Store
from . import options as o
from .options import PathLike, path_or_none, text_or_none
from .tables import Reported, Result, Table

if TYPE_CHECKING:
    from ..workflows.pack import PackReport
    from ..workflows.publish import PublishReport


class Packed(Reported):
    """The packs that were made; `failed` and `left_out` (whose text cannot be had) map books to reasons."""

    report: PackReport

    def __init__(self, report: PackReport) -> None:
        super().__init__(report)
        self.left_out = dict(report.left_out)

    @property
    def table(self) -> Table:
        """One row per pack: what stands in the index."""
        return Table.of_dicts(self.to_dict()["packs"])

    def _line(self) -> str:
        return f"{plural(len(self.report.packs), 'pack')} in {self.out}, {len(self.failed)} failed"


@files_of("out", reads=("release",))
def pack(
    release: PathLike, out: PathLike, *, mirror: o.Mirror = None, books: o.BookNames = (),
    fingerprint_bits: o.Bits = 8, most_text: o.Proportion = 0.05, licence: str | None = None,
    attribution: str | None = None, texts_only: o.TextsOnly = False, expect: o.Expect = True,
    jobs: o.Jobs = 0, offline: o.Offline = False, cache_dir: o.CacheDir = None, replace: o.Overwrite = False,
    progress: Progress | None = None,
) -> Packed:  # fmt: skip
    """Turn a release and the Gutenberg texts it belongs to into one small file per book and an index.

    A pack holds what must be changed in the text, where it is cut, the annotation and checks, but not
    the text. It is read without a tokenizer: `rebuild` uses packs, `align` follows other editions by them.

    Args:
        release: a release in the official layout, or a built data set folder.
        out: a folder for the packs, or one file NAME.pack.
        most_text: refuse a pack that holds a larger share of the book's characters.
        licence: licence of the annotation (default: that of BookCoref).
        attribution: who made the annotation (default: the authors of BookCoref).

    Raises:
        UsageError, SourceError, DataError: nothing can be packed. Errors of single books are in the result.
    """
    import tempfile

    from ..formats.folder import is_folder
    from ..workflows import rebuild
    from ..workflows.pack import pack_folder, pack_plan
    from ..workflows.packed import ATTRIBUTION, LICENCE, PackSettings

    by = LICENCE if licence is None else licence, ATTRIBUTION if attribution is None else attribution
    settings = PackSettings(fingerprint_bits, most_text, *by)
    folder, target, listener = path_of(release), path_of(out), progress or Silent()
    asked = rebuild.RebuildSettings(
        out=target, release=folder, mirror=text_or_none(mirror),
        cache_dir=path_or_none(cache_dir), offline=offline, books=tuple(books), texts_only=texts_only,
        expect=expect,
    )  # fmt: skip
    if is_folder(folder):
        candidates = rebuild.candidates_of(rebuild.texts_of(asked, Store.open(asked.cache_dir), listener))
        made = pack_folder(
            folder, candidates, target, settings=settings, jobs=jobs, progress=listener, books=asked.books
        )
        return Packed(made)
    plan = rebuild.prepare(asked, listener)
    with tempfile.TemporaryDirectory(prefix="bookcoref-pack-") as work:
        built = Path(work) / "built"
        return Packed(pack_plan(plan, target, built, settings=settings, jobs=jobs, progress=listener))


@files_of(reads=("packs",))
def pack_inspect(*packs: PathLike) -> Table:
    """Show the contents of packs: counts, checksums, the text each belongs to, bytes per section.

    Args:
        packs: packs, or folders of packs.

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
        if self.file is not None:
            return {"manifest": str(self.file), "digest": self.digest}
        return {"digest": self.digest, "books": self.books}

    def _line(self) -> str:
        return f"sha256:{self.digest[:16]}, {plural(len(self.books), 'book')}"


@files_of("out", reads=("folder",))
def manifest_write(
    folder: o.MadeFolder = "bookcoref",
    out: PathLike = "bookcoref-manifest.json",
    *,
    replace: o.Overwrite = False,
) -> Digest:
    """Verify a folder and record its facts; the digest is the one string to compare.

    Args:
        out: the file to write.

    Raises:
        DataError: the folder does not verify. UsageError: `out` is there with another content.
    """
    from ..formats.folder import read_build
    from ..workflows.verify import write_manifest

    source, file = path_of(folder), path_of(out)
    return Digest(write_manifest(source, file), [book.doc_key for book in read_build(source).books], file)


def manifest_show(folder: o.MadeFolder = "bookcoref") -> Digest:
    """The digest of a folder as its build record states it; the data are not read.

    Raises:
        DataError: the folder has no build record.
    """
    from ..formats.folder import read_build

    record = read_build(path_of(folder))
    return Digest(record.digest, [book.doc_key for book in record.books])


class CacheSize(Result):
    """Parts of the cache at `root`, those there or those removed: the number of `files` and their `bytes`."""

    def __init__(self, root: Path, parts: Sequence[PartSize], *, removed: bool = False) -> None:
        self.root, self.parts, self.removed = root, list(parts), removed
        self.files, self.bytes = sum(p.files for p in parts), sum(p.bytes for p in parts)

    @property
    def table(self) -> Table:
        """One row per part."""
        return Table.of_rows(("part", "files", "bytes"), self.parts)

    def to_dict(self) -> dict[str, Any]:
        word = "removed" if self.removed else "parts"
        parts = [part._asdict() for part in self.parts]
        return {"path": str(self.root), word: parts, "files": self.files, "bytes": self.bytes}

    def _line(self) -> str:
        return f"{plural(self.files, 'file')}, {self.bytes:,} bytes{' removed' if self.removed else ''}"


def cache_path(cache_dir: o.CacheDir = None) -> Path:
    """The folder of the cache."""
    return Store.open(path_or_none(cache_dir)).root


def cache_size(cache_dir: o.CacheDir = None) -> CacheSize:
    """How many files and bytes every part of the cache holds."""
    store = Store.open(path_or_none(cache_dir))
    return CacheSize(store.root, store.sizes())


def cache_clear(part: str | None = None, *, cache_dir: o.CacheDir = None) -> CacheSize:
    """Remove one part of the cache, or all of it. Everything removed can be fetched or made again.

    Args:
        part: one part (see `cache_size`); all without it.

    Returns what was removed. A function does not ask.

    Raises:
        UsageError: no such part, or the folder has no mark of a cache. SourceError: work is going on in it.
    """
    store = Store.open(path_or_none(cache_dir))
    return CacheSize(store.root, store.clear(part), removed=True)


@o.only_with("standoff", "most_words")
@files_of("out", reads=("folder", "citation", "books"))
def publish(
    folder: PathLike, repo: str, *, books: PathLike | None = None, private: bool = False,
    standoff: bool = False, licence: str | None = None, text_licence: str | None = None,
    citation: PathLike | None = None, title: str | None = None, languages: tuple[str, ...] = ("en",),
    tag: str | None = None, most_words: o.Positive = 12, dry_run: bool = False, out: PathLike | None = None,
    mirror: o.Mirror = None, offline: o.Offline = False, cache_dir: o.CacheDir = None,
    progress: Progress | None = None,
) -> PublishReport:  # fmt: skip
    """Publish a data set on the Hugging Face Hub, in the form that its rights allow.

    Texts in the public domain with an open annotation licence go up whole. Everything else needs
    `standoff`: packs, card and checksums, but no text. Texts with unknown rights are refused. The card
    states licences, sources, counts, plausibility and limits; Croissant metadata, CITATION.cff and
    .zenodo.json go with it. One commit is made and tagged.

    Args:
        folder: a folder written by `rebuild`, `create`, `import_corpus`, `annotate` or `questions_build`.
        repo: where to on the Hub: USER/NAME.
        books: the data set that a folder of questions was made from.
        private: make the repository private.
        standoff: publish packs and a card, no text; others rebuild it.
        licence: licence of your annotation, e.g. CC-BY-4.0.
        text_licence: licence of texts that are not from Gutenberg, as you know it.
        citation: what to cite: a .bib file or a CITATION.cff.
        title: title of the data set, else the folder's.
        languages: language code of the texts; repeatable (default: en).
        tag: name of this version, e.g. v1.0.0 (default: the content digest).
        most_words: with `standoff`: longest run of a text's words in any file.
        dry_run: show what would go up; open no connection to the Hub.
        out: keep a copy of all files in this new folder.

    Raises:
        UsageError: the rights do not allow this form. DataError: the folder does not verify, or text was
        found in a standoff release. SourceError: a text or the Hub cannot be had.
    """
    from ..workflows.publish import publish as run
    from ..workflows.publish_facts import PublishSettings

    settings = PublishSettings(
        path_of(folder), repo, path_or_none(books), private=private, standoff=standoff,
        citation=path_or_none(citation), licence=licence, text_licence=text_licence, title=title,
        languages=tuple(languages), tag=tag,
        most_words=most_words, mirror=text_or_none(mirror), cache_dir=path_or_none(cache_dir),
        offline=offline,
    )  # fmt: skip
    return run(settings, dry_run=dry_run, out=path_or_none(out), progress=progress)
