"""Rebuild the data set: texts from Gutenberg, offsets from a release, one data set folder.

Each book is finished on its own, under a key of everything that went into it, and kept in the cache;
the folder is put together at the end. So a second run does nothing, an interrupted one goes on, and a
book that fails does not stop the others.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..books.facts import books_called
from ..errors import BookcorefError, DataError, EditionError, SourceError, UsageError
from ..files import sha256_bytes, sha256_file
from ..formats.card import CITATION
from ..formats.folder import (
    BOOKCOREF_LICENCES,
    BuildRecord,
    check_losses,
    check_replaceable,
    losses,
    read_build,
    read_card_digest,
    writing_folder,
)
from ..formats.reasons import read_line
from ..progress import Progress, Silent
from ..publishing.publication import read_publication
from ..sample_story.story import TITLE as SAMPLE_TITLE
from ..sample_story.story import sample_path
from ..shapes import attributes, plain
from ..sources import hub
from ..sources.gutenberg import PlanRow, TextFile, Texts
from ..sources.release import Release, ReleaseLayout
from ..sources.store import Store
from .engine import Finished, FolderReport, JobResults, Outcome, run
from .ingest import BookPart, ingest, records_of
from .packed import ATTRIBUTION, LICENCE, is_pack_release, makers_of_packs, pack_parts
from .rebuild_book import BUILD_RULES, RebuildJob, build_book, read_facts, read_tables
from .verify import known_facts, published_books

# spaCy loads torch wherever it is installed: 200 MiB and a second per worker, for tokens that need none.
_NOT_NEEDED = ("torch",)


@dataclass(slots=True)
class RebuildReport(FolderReport):
    """What a rebuild did. `unchanged` means the folder was left alone, as it holds just this; `kept` names
    what the folder holds and would have lost, so it was left alone, too: `record` is then the record of the
    folder as it was and stays."""

    unchanged: bool = False
    kept: dict[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        books = plain(self.record.books) if self.record else []
        return FolderReport.to_dict(self) | attributes(self, "unchanged kept") | {"books": books}


TextCandidates = Callable[[str], Iterator[TextFile]]


@dataclass(frozen=True, slots=True)
class RebuildSettings:
    """What was asked for: the arguments of `rebuild` for Python; `min_kept` is its `least_kept`."""

    out: Path
    sample: bool = False
    release: Path | None = None
    mirror: str | None = None
    cache_dir: Path | None = None
    offline: bool = False
    books: tuple[str, ...] = ()
    texts: dict[str, Path] = field(default_factory=dict)
    texts_only: bool = False
    expect: bool = True
    min_kept: float | None = 0.9
    layout: ReleaseLayout = field(default_factory=ReleaseLayout)
    replace: bool = False


@dataclass(frozen=True, slots=True)
class RebuildPlan:
    """One rebuild: what was asked for, which books of which ingested release, with which texts.

    `candidates(gutenberg_id)` yields the texts to try for a book, best first, fetching as it goes; `expected`
    maps doc_keys to facts known beforehand ({"tokens", "sentences", "tokens_sha256"}). When no edition gives
    the released tokens and the release is a pack or an earlier run has built the book, the annotation is
    carried over to the first edition in which at least `settings.min_kept` of the mentions survive; None
    forbids it.
    """

    settings: RebuildSettings
    parts: list[BookPart]
    folder: Path
    store: Store
    candidates: TextCandidates
    source: Mapping[str, Any]
    expected: Mapping[str, Mapping[str, Any]]
    instructions: Mapping[str, str]
    notes: tuple[str, ...]
    title: str
    licences: tuple[tuple[str, str], ...]
    citation: str


def rebuild(plan: RebuildPlan, *, jobs: int = 0, progress: Progress | None = None) -> RebuildReport:
    """Build all books of a plan and write the data set folder, unless it already holds just that.

    A folder that holds books which this run cannot build is left as it is; the report says so.
    """
    progress, out, replace_ = progress or Silent(), plan.settings.out, plan.settings.replace
    # Said before hours of fetching, not after.
    check_replaceable(out, replace=True)
    if not replace_:
        # Refuse before any work when the folder holds books that nobody asked for now
        asked = {part.doc_key for part in plan.parts}
        check_losses(out, {key: what for key, what in losses(out, ()).items() if key not in asked})
    with plan.store.working():
        report = RebuildReport(out=out)
        _build_books(plan, report, jobs, progress)
        if not report.finished:
            errors = list(report.failed.values())
            if len(errors) == 1:
                raise errors[0]
            codes = {e.exit_code for e in errors}
            kind = SourceError if codes == {SourceError.exit_code} else DataError
            what = f"none of the {len(errors)} books could be built"
            found = "; ".join(str(e).splitlines()[0] for e in errors[:5])
            raise kind(what, found=found, hint=errors[0].hint if errors else None)
        missing = report.missing
        keys = [folder.name for folder in report.finished.values()]
        inputs = sha256_bytes(json.dumps([BUILD_RULES, plan.title, keys, missing, list(plan.notes)]).encode())
        report.record = _up_to_date(out, inputs)
        if report.record:
            report.unchanged = True
            return report
        books = [read_facts(folder) for folder in report.finished.values()]
        if not replace_:
            report.kept = losses(out, books)
        if report.kept:
            report.record = read_build(out)
        else:
            with writing_folder(out, replace=replace_) as writer:
                for facts, folder in zip(books, report.finished.values(), strict=True):
                    full, split = read_tables(folder)
                    writer.add(facts, full, split, read_line(folder))
                own = [f"`{facts.doc_key}`: {note}" for facts in books for note in facts.notes]
                report.record = writer.finish(
                    plan.title, licences=plan.licences, notes=[*plan.notes, *own], missing=missing,
                    inputs=inputs, source=plan.source, citation=plan.citation,
                )  # fmt: skip
        return report


def _build_books(plan: RebuildPlan, work: JobResults, jobs: int, progress: Progress) -> None:
    """Build or find every book; failures go into the report."""

    def tries(part: BookPart) -> Iterator[RebuildJob]:
        """Every edition for the released tokens; then, where that is allowed and a pack can follow, every
        edition once more to carry the annotation over."""
        key, tried = part.doc_key, list[RebuildJob]()
        job = RebuildJob(
            part, plan.folder, plan.store.root, None, plan.settings.texts.get(key),
            plan.expected.get(key), plan.instructions.get(key, ""),
        )  # fmt: skip
        needs_text = not job.tokenised and bool(part.delta or part.pack)
        for text in plan.candidates(part.gutenberg_key) if needs_text else ():
            tried.append(replace(job, text=text))
            yield tried[-1]
        if not tried:
            yield job
        # The worker says whether anything is known of the released tokens to compare with.
        if (least := plan.settings.min_kept) is not None:
            yield from (replace(job, remap=least) for job in tried)

    editions = {part.doc_key: tries(part) for part in plan.parts}

    def size(part: BookPart) -> int:
        """Bytes of a book's part of the release, as a measure of its work."""
        paths = [plan.folder / name for name in (part.annotation, part.delta, part.pack) if name]
        return sum(path.stat().st_size for path in paths if path.is_file())

    def first_jobs() -> Iterator[RebuildJob | Outcome[str, Finished]]:
        # The largest first, so that no core is left alone with a long book at the end.
        for part in sorted(plan.parts, key=size, reverse=True):
            try:
                yield next(editions[part.doc_key])
            except BookcorefError as error:
                yield Outcome(part.doc_key, error=error)

    def next_edition(job: RebuildJob, error: BookcorefError) -> RebuildJob | None:
        """Another edition of the same book may fit."""
        if not (isinstance(error, EditionError) and job.text):
            return None
        try:
            return next(editions[str(job)], None)
        except BookcorefError:
            return None

    run(
        build_book, first_jobs(), work, progress, bar=("books", len(plan.parts), "books"), workers=jobs,
        retry=next_edition, order=[part.doc_key for part in plan.parts], without=_NOT_NEEDED,
    )  # fmt: skip


def _up_to_date(out: Path, inputs: str) -> BuildRecord | None:
    """The record of `out` if it was built from just these inputs and its files are as they were."""
    try:
        record = read_build(out)
    except DataError:
        return None
    if record.inputs != inputs or read_card_digest(out) != record.digest:
        return None
    for name, facts in record.files.items():
        path = out / name
        if not path.is_file() or sha256_file(path) != facts["sha256"]:
            return None
    return record


# -- from what a person asks for to a plan ---------------------------------------------------------------


SAMPLE_NOTE = (
    "This is the embedded sample of bookcoref-data, one short story written for it: it shows the layout "
    "and is no part of BookCoref."
)
SAMPLE_LICENCES = (
    ("Text", "written for bookcoref-data, CC0 1.0"),
    ("Annotations", "made by hand for bookcoref-data, CC0 1.0"),
)
# Of the files that a rebuild needs of the official release, as the Hub lists them at the pinned commit.
RELEASE_BYTES = 208_000_000
_TEXTS_OF_PACKS = ("Texts", "as those from which the packs were made; check the law where you are")
TEXTS_ONLY_NOTE = "This build holds texts only: the release it was made from has no annotations."


def prepare(settings: RebuildSettings, progress: Progress | None = None) -> RebuildPlan:
    """Find the release and split it into the cache, and lay out the rebuild."""
    store = Store.open(settings.cache_dir, progress)
    with store.working():
        if settings.release is not None and hub.is_hub_address(settings.release):
            folder = hub.fetch_published(store, settings.release, offline=settings.offline)
            if not is_pack_release(folder):
                what = f"{settings.release} holds a whole data set, which needs no rebuild"
                name = str(settings.release).removeprefix("hf:").partition("@")[0]
                raise UsageError(what, hint=f'load_dataset("{name}")')
            settings = replace(settings, release=folder)
        return _lay_out(settings, store)


def _lay_out(settings: RebuildSettings, store: Store) -> RebuildPlan:
    published = published_books()
    title, licences, citation = "BookCoref", BOOKCOREF_LICENCES, CITATION
    notes: tuple[str, ...] = (SAMPLE_NOTE,) if settings.sample else ()
    if settings.release and is_pack_release(settings.release):
        folder, parts = pack_parts(settings.release)
        source = {"release": "packs"}
        if about := read_publication(folder):
            title, licences, citation = about.title, about.licences, about.citation
            source["licence"] = about.licence
            notes += about.limits
        else:
            # Packs that say nothing of themselves but who annotated them: BookCoref's own have its name,
            # paper and licence, others have none of these.
            makers, ours = makers_of_packs(settings.release), (LICENCE, ATTRIBUTION)
            if others := sorted({maker for maker in makers if any(maker)} - {ours}):
                nothing = "no licence is stated", "nobody is named"
                told = [f"{terms or nothing[0]} ({who or nothing[1]})" for terms, who in others]
                told += [f"{LICENCE} ({ATTRIBUTION})"] if ours in makers else []
                title, citation = "Books rebuilt from packs", ""
                licences = (_TEXTS_OF_PACKS, ("Annotations", "; ".join(told)))
    else:
        release = _open_release(settings, store)
        names = {b["gutenberg_key"]: b["doc_key"] for b in published}
        folder, parts = ingest(release, store, names)
        notes += () if release.annotations else (TEXTS_ONLY_NOTE,)
        name = "sample" if settings.sample else "local" if settings.release else "Hub"
        source = {"release": name, "release_sha256": release.key()}
    parts = books_called(settings.books, parts, "the release")
    keys = {p.doc_key for p in parts}
    for key, path in settings.texts.items():
        if key not in keys:
            what = f"--text names {key!r}, which is not a book of this rebuild"
            raise UsageError(what, expected=", ".join(sorted(keys)[:20]))
        if not path.is_file():
            raise UsageError(f"--text {key}: there is no file {path}")
    if settings.sample:
        title, licences, citation = SAMPLE_TITLE, SAMPLE_LICENCES, ""
    instructions = {b["doc_key"]: b["instructions"] for b in published if "instructions" in b}
    return RebuildPlan(
        settings, parts, folder, store, texts_of(settings, store).candidates, source,
        known_facts() if settings.expect else {}, instructions, notes, title, licences, citation,
    )  # fmt: skip


def _open_release(settings: RebuildSettings, store: Store) -> Release:
    folder = sample_path("release") if settings.sample else settings.release
    if folder is None:
        of_hub = hub.HubRelease(layout=settings.layout)
        folder = hub.fetch_release(store, of_hub, offline=settings.offline)
    release = Release.open(folder, settings.layout)
    if not release.annotations and not settings.texts_only:
        what = f"the release in {release.folder} has no annotations"
        hint = "name the folder with --annotations, or build the texts alone with --texts-only"
        raise UsageError(what, expected=f"{settings.layout.annotations}/full/<split>.jsonl", hint=hint)
    return release


def plan_fetch(settings: RebuildSettings) -> list[PlanRow]:
    """What would be fetched of a release on the Hub, and of the texts for the books asked for, from where and
    how many bytes; opens no connection and writes nothing.

    With a local release these are its books that need a text, else the published ones on Gutenberg. The
    books of a release that others have published are known once it was fetched.
    """
    store, rows = Store.open(settings.cache_dir), list[PlanRow]()

    def release_row(name: str, place: str, there: Path | None, size: int | None) -> PlanRow:
        action = "cached" if there else "missing" if hub.is_offline(settings.offline) else "fetch"
        return PlanRow("release", name, action, str(there or place), 0 if there else size, 0)

    if settings.release and hub.is_hub_address(settings.release):
        name, folder = str(settings.release), hub.cached_published(store, settings.release)
        rows.append(release_row(name, name, folder, None))
        if folder is None:
            return rows
        settings = replace(settings, release=folder)
    elif not (settings.sample or settings.release):
        release = hub.HubRelease(layout=settings.layout)
        place = f"https://huggingface.co/datasets/{release.repository}/tree/{release.revision}"
        rows.append(release_row(str(release), place, hub.cached_release(store, release), RELEASE_BYTES))
    parts = books_called(settings.books, _listed(settings), "the release")
    chosen = [p.gutenberg_key for p in parts if p.gutenberg_key != "0"]
    return rows + texts_of(settings, store).plan(chosen)


def _listed(settings: RebuildSettings) -> list[BookPart]:
    """The books that are in question, read without splitting a release into the cache."""
    published = published_books()
    if not (settings.sample or settings.release):
        return [BookPart(b["doc_key"], b["gutenberg_key"], "", "", "", "") for b in published]
    if settings.release and is_pack_release(settings.release):
        return pack_parts(settings.release)[1]
    release = _open_release(settings, Store.open(settings.cache_dir))
    names = {b["gutenberg_key"]: b["doc_key"] for b in published}
    with_delta = release.sentence_lengths() if release.delta else {}
    if not release.annotations:
        return [BookPart(names.get(gid, f"book_{gid}"), gid, "", "", gid, "") for gid in with_delta]
    parts = []
    for split, _, _, record in records_of(release, "full"):
        gid = record.gutenberg_key or record.doc_key.rpartition("_")[2]
        if record.sentences is None and gid in with_delta:
            parts.append(BookPart(record.doc_key, gid, split, "", gid, ""))
    return parts


def texts_of(settings: RebuildSettings, store: Store) -> Texts:
    """The finder of Gutenberg texts for these settings."""
    mirror = sample_path("mirror") if settings.sample else settings.mirror
    return Texts(store, mirror, settings.offline)
