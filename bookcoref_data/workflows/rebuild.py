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

from ..errors import BookcorefError, DataError, EditionError, SourceError
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
from ..shapes import attributes, plain
from ..sources.store import Store
from .engine import Finished, FolderReport, JobResults, Outcome, run
from .ingest import BookPart
from .rebuild_book import BUILD_RULES, CandidateText, RebuildJob, build_book, read_facts, read_tables

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


TextCandidates = Callable[[str], Iterator[CandidateText]]


@dataclass(frozen=True, slots=True)
class RebuildPlan:
    """One rebuild: which books of which ingested release, with which texts, to where.

    `candidates(gutenberg_id)` yields the texts to try for a book, best first, fetching as it goes;
    `tokenised` maps doc_keys to tokenised files given by the user; `expected` maps doc_keys to facts
    known beforehand ({"tokens", "sentences", "tokens_sha256"}). When no edition gives the released tokens
    and the release is a pack or an earlier run has built the book, the annotation is carried over to the
    first edition in which at least `min_kept` of the mentions survive; None forbids it.
    """

    parts: list[BookPart]
    folder: Path
    store: Store
    out: Path
    candidates: TextCandidates
    min_kept: float | None = None
    title: str = "BookCoref"
    source: Mapping[str, Any] = field(default_factory=dict)
    tokenised: Mapping[str, Path] = field(default_factory=dict)
    expected: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    instructions: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    licences: tuple[tuple[str, str], ...] = BOOKCOREF_LICENCES
    citation: str = CITATION
    replace: bool = False


def rebuild(plan: RebuildPlan, *, jobs: int = 0, progress: Progress | None = None) -> RebuildReport:
    """Build all books of a plan and write the data set folder, unless it already holds just that.

    A folder that holds books which this run cannot build is left as it is; the report says so.

    Raises:
        DataError: not one book could be built.
        UsageError, SourceError: the output folder cannot be replaced or written; or it holds books that
            the plan does not ask for.
    """
    progress = progress or Silent()
    # Said before hours of fetching, not after.
    check_replaceable(plan.out, replace=True)
    if not plan.replace:
        # Refuse before any work when the folder holds books that nobody asked for now
        asked = {part.doc_key for part in plan.parts}
        lost = losses(plan.out, ())
        check_losses(plan.out, {key: what for key, what in lost.items() if key not in asked})
    with plan.store.working():
        work = _build_books(plan, jobs, progress)
        report = RebuildReport(plan.out, work)
        if not work.finished:
            errors = list(work.failed.values())
            if len(errors) == 1:
                raise errors[0]
            codes = {e.exit_code for e in errors}
            kind = SourceError if codes == {SourceError.exit_code} else DataError
            raise kind(
                f"none of the {len(errors)} books could be built",
                found="; ".join(str(e).splitlines()[0] for e in errors[:5]),
                hint=errors[0].hint if errors else None,
            )
        missing = {key: error.what for key, error in work.failed.items()}
        keys = [folder.name for folder in work.finished.values()]
        inputs = sha256_bytes(json.dumps([BUILD_RULES, plan.title, keys, missing, list(plan.notes)]).encode())
        report.record = _up_to_date(plan.out, inputs)
        if report.record:
            report.unchanged = True
            return report
        books = [read_facts(folder) for folder in work.finished.values()]
        if not plan.replace:
            report.kept = losses(plan.out, books)
        if report.kept:
            report.record = read_build(plan.out)
        else:
            with writing_folder(plan.out, replace=plan.replace) as writer:
                for facts, folder in zip(books, work.finished.values(), strict=True):
                    full, split = read_tables(folder)
                    writer.add(facts, full, split, read_line(folder))
                notes = [
                    *plan.notes,
                    *(f"`{facts.doc_key}`: {note}" for facts in books for note in facts.notes),
                ]
                report.record = writer.finish(
                    plan.title, licences=plan.licences, notes=notes, missing=missing, inputs=inputs,
                    source=plan.source, citation=plan.citation,
                )  # fmt: skip
        return report


def _build_books(plan: RebuildPlan, jobs: int, progress: Progress) -> JobResults:
    """Build or find every book; failures go into the report."""
    work = JobResults()

    def tries(part: BookPart) -> Iterator[RebuildJob]:
        """Every edition for the released tokens; then, where that is allowed and a pack can follow, every
        edition once more to carry the annotation over."""
        key, tried = part.doc_key, list[RebuildJob]()
        job = RebuildJob(
            part, plan.folder, Store(plan.store.root), None, plan.tokenised.get(key), plan.expected.get(key),
            plan.instructions.get(key, ""),
        )  # fmt: skip
        needs_text = not job.tokenised and bool(part.delta or part.pack)
        for text in plan.candidates(part.gutenberg_key) if needs_text else ():
            tried.append(replace(job, text=text))
            yield tried[-1]
        if not tried:
            yield job
        # The worker says whether anything is known of the released tokens to compare with.
        if plan.min_kept is not None:
            yield from (replace(job, remap=plan.min_kept) for job in tried)

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
    return work


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
