"""A data set folder: made, checked, annotated again (`link_train` makes a model for that), packed, published;
recorded manifests, and the cache."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..annotation.plan import Plan
from ..errors import plural
from ..files import path_of
from ..formats.folder import is_folder, read_build
from ..formats.schema import SPLITS
from ..outputs import files_of
from ..progress import Progress, Silent
from ..resources import resource
from ..shapes import attributes, plain
from ..sources.store import PartSize, Store
from ..workflows import link_train as training
from ..workflows import pack as packing
from ..workflows import packed, publish_facts, published
from ..workflows import publish as publishing
from ..workflows import rebuild as rebuilding
from ..workflows import regenerate as regenerating
from ..workflows import verify as verifying
from . import options as o
from .annotating import plan_for
from .options import PathLike, path_or_none, renamed, text_or_none
from .tables import Reported, Result, Table

if TYPE_CHECKING:
    from ..sources.release import ReleaseLayout

OPEN_SILVER = "open-silver"
_FACTS = ("doc_key", "split", "tokens", "sentences", "characters", "mentions", "windows", "check")


class Rebuilt(Reported):
    """What a rebuild did; `ok` is False when a book failed or was remapped."""

    report: rebuilding.RebuildReport

    @property
    def table(self) -> Table:
        """One row per book: sizes, and how its tokens were verified."""
        found = self.report.record.books if self.report.record else []
        return Table({name: [getattr(b, name) for b in found] for name in _FACTS})

    books = table

    @property
    def ok(self) -> bool:
        """Whether every book was built from the right edition, and the folder written."""
        return not self.failed and not self.report.kept and "remapped" not in self.books["check"]

    def _line(self) -> str:
        return f"{plural(len(self.books), 'book')}, {len(self.failed)} failed"

    def __repr__(self) -> str:
        return f"<Rebuilt {str(self.out)!r}: {self._line()}>"


class Verified:
    """What `verify` found. `ok`: nothing is missing and nothing differs; `problems`: all that is wrong, in
    sentences; `digest`: SHA-256 of the content, the one string to compare."""

    def __init__(self, result: verifying.Verification) -> None:
        self.result, self.ok, self.digest = result, result.exit_code == 0, result.digest
        self.problems = [f"{book.doc_key}: {problem}" for book in result.books for problem in book.problems]
        self.problems += result.problems

    def to_dict(self) -> dict[str, Any]:
        """The same document as `verify --json`."""
        return self.result.to_dict()

    def __repr__(self) -> str:
        state = "ok" if self.ok else f"{len(self.problems)} problems"
        return f"<Verified: {state}, {plural(len(self.result.books), 'book')}, sha256 {self.digest[:16]}>"


@renamed(min_kept="least_kept")
@o.only_with("!sample", "release mirror annotations delta lengths")
@files_of("out", reads=("release",))
def rebuild(
    out: o.DataSetOut = "bookcoref", *, sample: bool = False, release: PathLike | None = None,
    mirror: o.Mirror = None, books: o.BookNames = (), texts: Mapping[str, PathLike] | None = None,
    texts_only: o.TextsOnly = False, expect: o.Expect = True, least_kept: o.Proportion | None = 0.9,
    annotations: str | None = None, delta: str | None = None, lengths: str | None = None,
    replace: o.Replace = False, jobs: o.Jobs = 0, offline: o.Offline = False, cache_dir: o.CacheDir = None,
    progress: Progress | None = None,
) -> Rebuilt:  # fmt: skip
    """Rebuild BookCoref (or the sample) into a folder that `datasets.load_dataset` reads.

    The tokens of every book are verified by count and checksum before offsets are attached, finished books
    are kept in the cache, and a book that fails does not stop the others. Where Gutenberg has another
    edition by now, a pack of the book carries its annotation over: such a book is marked "remapped" and
    the card says what was kept and lost.

    Args:
        sample: rebuild the embedded sample story; needs no network.
        release: folder of a release or of packs, hf:USER/NAME[@TAG], or "open-silver", the packs that ship
            with this package (default: the official release).
        texts: tokenised text (JSONL, CoNLL) of a book that Gutenberg lacks, by its doc_key.
        least_kept: share of mentions that must survive where only another edition of a text is to be had
            and a pack can follow it.
        annotations: name of the release's annotation folder.
        delta: name of the release's delta file.
        lengths: name of its file of sentence lengths.

    With None for `least_kept`, no annotation is carried over to another edition.

    Raises:
        UsageError, SourceError, DataError: as the command line reports them.
    """
    settings = rebuilding.RebuildSettings(
        out=path_of(out), sample=sample, release=_release(release),
        mirror=text_or_none(mirror), cache_dir=path_or_none(cache_dir), offline=offline,
        books=tuple(books), texts={key: Path(path) for key, path in (texts or {}).items()},
        texts_only=texts_only, expect=expect, min_kept=least_kept, replace=replace,
        layout=_layout(annotations, delta, lengths),
    )  # fmt: skip
    listener = progress or Silent()
    return Rebuilt(rebuilding.rebuild(rebuilding.prepare(settings, listener), jobs=jobs, progress=listener))


def rebuild_plan(
    *, sample: bool = False, release: PathLike | None = None, mirror: o.Mirror = None,
    books: o.BookNames = (), annotations: str | None = None, delta: str | None = None,
    lengths: str | None = None, offline: o.Offline = False, cache_dir: o.CacheDir = None,
) -> Table:  # fmt: skip
    """What `rebuild` would download from where, one row per file; nothing is fetched or written.

    The arguments are those of `rebuild`. Actions are "fetch", "cached", "local" and "missing".
    """
    settings = rebuilding.RebuildSettings(
        out=Path(), sample=sample, release=_release(release),
        mirror=text_or_none(mirror), cache_dir=path_or_none(cache_dir), offline=offline,
        books=tuple(books), layout=_layout(annotations, delta, lengths),
    )  # fmt: skip
    return Table.of_dicts([row._asdict() for row in rebuilding.plan_fetch(settings)])


def _release(release: PathLike | None) -> Path | None:
    """The folder of a release; of the one that ships, by its name."""
    path = path_or_none(release)
    if str(path) == OPEN_SILVER and path is not None and not path.exists():
        return resource("manifests", f"{OPEN_SILVER}/index.json").parent
    return path


def _layout(annotations: str | None, delta: str | None, lengths: str | None) -> ReleaseLayout:
    from ..sources.release import ReleaseLayout

    several = {"delta": delta and (delta,), "lengths": lengths and (lengths,)}
    named: dict[str, Any] = {"annotations": annotations, **several}
    return ReleaseLayout(**{key: value for key, value in named.items() if value})


@files_of(reads=("folder", "manifest"))
def verify(
    folder: PathLike = "bookcoref", *, manifest: PathLike | None = None, complete: bool = False,
    accept_remapped: bool = False, offline: o.Offline = False, cache_dir: o.CacheDir = None,
    progress: Progress | None = None,
) -> Verified:  # fmt: skip
    """Verify that a data set folder is correct and complete.

    Reads every row, recomputes all counts and checksums and compares them with the folder's build
    record, with the published facts and, if given, with a recorded manifest. What somebody has published
    is fetched first; a release without text is verified by its packs and its manifest.

    Args:
        folder: a folder written by `rebuild`, `annotate` or `create`, or hf:USER/NAME[@TAG] on the Hub.
        manifest: compare with this file of `manifest_write`, too.
        complete: require all 53 books of the published data set.
        accept_remapped: accept books carried over to another edition.

    Raises:
        SourceError, DataError: the folder cannot be read.
    """
    path, known = path_of(folder), path_or_none(manifest)
    how: dict[str, Any] = {"manifest": known, "complete": complete, "accept_remapped": accept_remapped}
    if ":" not in str(path) and not (path / "manifest.json").is_file():
        # Neither on the Hub nor packs: what these need takes longer to import than a small folder to verify.
        return Verified(verifying.verify(path, **how))
    how |= {"cache_dir": path_or_none(cache_dir), "offline": offline, "progress": progress}
    return Verified(published.verify(path, **how))


class Regenerated(Result):
    """A data set annotated again, compared with the annotation that was there.

    `differs`: some mention is missing, spurious, or moved to another character. `failed` maps books that
    could not be annotated to the reason; `files` were written; `notes` name books left out.
    """

    def __init__(self, result: regenerating.Regeneration) -> None:
        self.result, self.files, self.notes = result, list(result.files), list(result.notes)
        self.differs = any(c.missing or c.spurious or c.moved for c in result.comparisons.values())
        self.failed = {key: str(error) for key, error in result.work.failed.items()}

    @property
    def table(self) -> Table:
        """One row per book and one for all: linking and metrics in percent, counts of mentions."""
        columns = ("book", "link P", "link R", "link F1", "MUC", "B3", "CEAF-e", "CoNLL", "same", "missing",
                   "spurious", "moved")  # fmt: skip
        rows: list[list[Any]] = []
        if found := self.result.evaluation:
            compared = self.result.comparisons
            several = [(b.doc_key, b.scores, b.linking, [compared[b.doc_key]]) for b in found.books]
            several.append(("all", found.pooled, found.linking, list(compared.values())))
            for label, scores, linking, some in several:
                link = linking.linked if linking else None
                values = [link.precision, link.recall, link.f1] if link else [0.0, 0.0, 0.0]
                values += [scores.muc.f1, scores.b_cubed.f1, scores.ceaf_e.f1, scores.conll.f1]
                counts = (sum(getattr(c, kind) for c in some) for kind in columns[-4:])
                rows.append([label, *(100 * value for value in values), *counts])
        return Table.of_rows(columns, rows)

    @property
    def examples(self) -> Table:
        """The differences that were kept as examples."""
        rows = [
            [book, d.kind, f"{d.mention.start}-{d.mention.end}", d.there or None, d.here or None, d.text]
            for book, compared in self.result.comparisons.items()
            for d in compared.examples
        ]
        return Table.of_rows(("book", "difference", "tokens", "there", "here", "text"), rows)

    def characters(self, most: int = 10) -> Table:
        """The characters with most differences."""
        every = ((book, c) for book, compared in self.result.comparisons.items() for c in compared.characters)
        found = [(-(c.missing + c.spurious + c.moved_away), book, c.name, c) for book, c in every]
        found.sort(key=lambda row: row[:3])
        columns = ("book", "character", "there", "here", "same", "missing", "spurious", "moved away",
                   "moved in")  # fmt: skip
        return Table.of_rows(columns, [[book, *asdict(c).values()] for _, book, _, c in found[:most]])

    def to_dict(self) -> dict[str, Any]:
        plan, told = self.result.plan, attributes(self.result, "evaluation files notes")
        return {
            "recipe": plan.name, "backend": plan.backend, "recipe_key": plan.key(),
            "work": self.result.work.to_dict(), "scores": self.table.to_dicts(),
            "differences": plain(self.result.comparisons), **told,
        }  # fmt: skip

    def _line(self) -> str:
        state = "differs" if self.differs else "the same"
        return f"{plural(len(self.result.comparisons), 'book')}, {state}, {len(self.failed)} failed"


@renamed(examples="most_examples")
@files_of("out", reads=("folder", "recipe"))
def regenerate(
    folder: PathLike, *, backend: o.BackendName = "embedded", recipe: o.Recipe = None,
    books: o.BookNames = (), splits: Iterable[o.SplitName] = (), models: Mapping[str, PathLike] | None = None,
    endpoint: o.Endpoint = None, out: PathLike | None = None, most_examples: o.Count = 3, jobs: o.Jobs = 0,
    replace: o.Replace = False, cache_dir: o.CacheDir = None, progress: Progress | None = None,
) -> Regenerated:  # fmt: skip
    """Annotate the books of a data set again and score the result against what is there.

    Tokens are taken as they are, the characters of a book are its cast. Per book: linking on (character,
    span), MUC, B3, CEAF-e and CoNLL (F1, percent), and how many mentions are the same, missing, spurious or
    moved to another character. Finished books are kept and reused. With the backend "hub" this is the
    paper's silver pipeline.

    Args:
        folder: a data set folder that `rebuild` wrote.
        splits: only this split; repeatable.
        models: another model for a step of the backend "hub": a name on the Hub, a folder, or of another
            package, see docs/gpu.md.
        out: folder for the new data set, in the splits of the old one.
        most_examples: differences shown per book and kind.

    Raises:
        UsageError: no data set folder, a book that is not in it, or none with named characters.
    """
    plan = _plan(backend, recipe, models, endpoint)
    return Regenerated(
        regenerating.regenerate(
            path_of(folder), plan, Store.open(path_or_none(cache_dir)).root, out=path_or_none(out),
            books=list(books), splits=list(splits) or SPLITS, workers=jobs, examples=most_examples,
            replace=replace, progress=progress,
        )
    )  # fmt: skip


def regenerate_check(
    folder: PathLike, *, backend: o.BackendName = "embedded", recipe: o.Recipe = None,
    books: o.BookNames = (), splits: Iterable[o.SplitName] = (), models: Mapping[str, PathLike] | None = None,
    endpoint: o.Endpoint = None,
) -> Table:  # fmt: skip
    """What `regenerate` would need on this machine, one row per thing; no connection is opened.

    Columns: what was looked at, what was found, and the verdict: "fine", "look" or "cannot run". Devices and
    memory, versions, files here and missing with their sizes, disk, hours (computed, not measured), and which
    settings the paper does not give. The arguments are those of `regenerate`.
    """
    plan = _plan(backend, recipe, models, endpoint)
    rows = regenerating.check(path_of(folder), plan, books=list(books), splits=list(splits))
    return Table.of_rows(("what", "found", "verdict"), rows)


@o.only_with("!data_only", "epochs steps model")
@files_of("out", reads=("source",))
def link_train(
    source: PathLike, out: PathLike, *, model: PathLike | None = None, epochs: o.Positive = 10,
    steps: o.Count = 0, seed: o.Count = 0, data_only: bool = False, replace: o.Overwrite = False,
    progress: Progress | None = None,
) -> training.LinkTraining:  # fmt: skip
    """Train the reader of the step `link` on LitBank, as the paper's Appendix B.

    The reader starts from a published one. The epoch that links the ten documents "dev" best is kept, and
    scored on the ten documents "test". `regenerate --model link=OUT` uses it. The training data are in the
    format of the public package, too.

    Args:
        source: your copy of LitBank (with coref/brat).
        out: folder for the reader and its training data.
        model: the reader to start from: a folder, or a name on the Hub (default: that of the paper's recipe).
        epochs: how often the training part is read.
        steps: stop after so many steps of eight windows; 0 means after the epochs.
        seed: another order of the windows.
        data_only: write the training data, and train nothing.

    Raises:
        SourceError, FormatError: LitBank or the reader cannot be read. UsageError: too few documents.
    """
    link = _plan("hub", None, None, None).of("link") if model is None else {"model": str(model)}
    return training.link_train(
        path_of(source), path_of(out), link, epochs=epochs, steps=steps, seed=seed, data_only=data_only,
        progress=progress,
    )  # fmt: skip


def _plan(
    backend: str, recipe: PathLike | None, models: Mapping[str, PathLike] | None, endpoint: str | None
) -> Plan:
    plan = plan_for(recipe, backend, None, "")
    return plan.with_models({step: str(model) for step, model in (models or {}).items()}, endpoint)


# -- packs, recorded manifests, the cache, publishing -----------------------------------------------


class Packed(Reported):
    """The packs that were made; `failed` and `left_out` (whose text cannot be had) map books to reasons."""

    report: packing.PackReport

    def __init__(self, report: packing.PackReport) -> None:
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
    settings: dict[str, Any] = {"fingerprint_bits": fingerprint_bits, "most_literal_share": most_text}
    by = {"licence": licence, "attribution": attribution}
    settings |= {name: told for name, told in by.items() if told is not None}
    folder, target, listener = path_of(release), path_of(out), progress or Silent()
    asked = rebuilding.RebuildSettings(
        out=target, release=folder, mirror=text_or_none(mirror),
        cache_dir=path_or_none(cache_dir), offline=offline, books=tuple(books), texts_only=texts_only,
        expect=expect,
    )  # fmt: skip
    if is_folder(folder):
        candidates = rebuilding.texts_of(asked, Store.open(asked.cache_dir, listener)).candidates
        made = packing.pack_folder(
            folder, candidates, target, settings=settings, jobs=jobs, progress=listener, books=asked.books
        )
        return Packed(made)
    plan = rebuilding.prepare(asked, listener)
    with tempfile.TemporaryDirectory(prefix="bookcoref-pack-") as work:
        built = Path(work) / "built"
        return Packed(packing.pack_plan(plan, target, built, settings=settings, jobs=jobs, progress=listener))


@files_of(reads=("packs",))
def pack_inspect(*packs: PathLike) -> Table:
    """Show the contents of packs: counts, checksums, the text each belongs to, bytes per section.

    Args:
        packs: packs, or folders of packs.

    Raises:
        SourceError, FormatError: a file is missing, or is no pack.
    """
    files = (file for path in packs for file in packed.pack_files(path_of(path)))
    return Table.of_dicts(map(packed.describe, files))


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
    source, file = path_of(folder), path_of(out)
    digest = verifying.write_manifest(source, file)
    return Digest(digest, [book.doc_key for book in read_build(source).books], file)


def manifest_show(folder: o.MadeFolder = "bookcoref") -> Digest:
    """The digest of a folder as its build record states it; the data are not read.

    Raises:
        DataError: the folder has no build record.
    """
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
) -> publishing.PublishReport:  # fmt: skip
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
    settings = publish_facts.PublishSettings(
        path_of(folder), repo, path_or_none(books), private=private, standoff=standoff,
        citation=path_or_none(citation), licence=licence, text_licence=text_licence, title=title,
        languages=tuple(languages), tag=tag,
        most_words=most_words, mirror=text_or_none(mirror), cache_dir=path_or_none(cache_dir),
        offline=offline,
    )  # fmt: skip
    return publishing.publish(settings, dry_run=dry_run, out=path_or_none(out), progress=progress)
