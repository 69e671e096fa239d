"""Rebuild the data set: texts from Gutenberg, offsets from a release, one dataset folder.

Each book is finished on its own, under a key of everything that went into it, and kept in the cache;
the folder is put together at the end. So a second run does nothing, an interrupted one goes on, and a
book that fails does not stop the others.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from ..books import Book, Character, Record, Window, split_book
from ..books.facts import BookFacts, facts_of
from ..errors import (
    BookcorefError,
    BookError,
    ChecksumError,
    DataError,
    EditionError,
    SourceError,
    UsageError,
)
from ..files import sha256_bytes, sha256_file
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
from ..formats.jsonl import parse_record
from ..formats.lines import read_lines
from ..progress import Progress, Silent
from ..sources.store import Store
from ..stitch.official import cut_sentences, delta_from_bytes
from ..stitch.pack import Pack
from ..text.decode import decode
from ..text.tokens import available_engines, tokenize_official
from .align import holds_edition, old_of_pack, old_of_record
from .finished import exact_record, finished_book, remember_exact, store_book, was_begun
from .ingest import SPLIT_MARK, BookPart
from .packed import exact_book, remap_notes, remapped_book
from .pool import run_jobs, worker_count

# Part of every content key: raise it when the same inputs would give another result.
BUILD_RULES = 3
# spaCy loads torch wherever it is installed: 200 MiB and a second per worker, for tokens that need none.
_NOT_NEEDED = ("torch",)


@dataclass(frozen=True, slots=True)
class SourceText:
    """A text file that may be the one a book was made from."""

    path: Path
    sha256: str
    name: str
    address: str = ""

    def read(self) -> str:
        """The decoded text. Raises ChecksumError when the file has changed since it was found."""
        data = self.path.read_bytes()
        if (found := sha256_bytes(data)) != self.sha256:
            raise ChecksumError(
                f"{self.path} has changed while it was used", expected=self.sha256, found=found,
                hint="run the same command again",
            )  # fmt: skip
        return decode(data, str(self.path)).text

    def facts(self) -> dict[str, Any]:
        return {"name": self.name, "address": self.address, "sha256": self.sha256}


@dataclass(frozen=True, slots=True)
class BookJob:
    """Everything a worker needs to build one book; small, so that it can be sent to a process.

    With `remap` set, no edition was exact and the annotation is carried over if at least that share of its
    mentions is kept: from the released pack, else from the book as an earlier run built it exactly.
    """

    part: BookPart
    folder: Path
    target: Path
    text: SourceText | None
    tokenised: Path | None
    expected: Mapping[str, Any] | None
    instructions: str = ""
    remap: float | None = None

    def __str__(self) -> str:
        return self.part.doc_key

    def key(self) -> str:
        """The content key: sha256 of all inputs and of the rules."""
        inputs = [
            BUILD_RULES, self.part.doc_key, self.part.gutenberg_key, self.part.split, self.part.key,
            self.text.sha256 if self.text else "", sha256_file(self.tokenised) if self.tokenised else "",
            self.expected, self.remap,
        ]  # fmt: skip
        return sha256_bytes(json.dumps(inputs, sort_keys=True).encode())


@dataclass(frozen=True, slots=True)
class Built:
    """A finished book in the cache. `repaired`: it was there, but damaged, so it was built again."""

    facts: BookFacts
    folder: Path
    fresh: bool
    repaired: bool = False


@dataclass(slots=True)
class RebuildReport:
    """What a rebuild did. `failed` maps doc_keys to errors; `unchanged` means the folder was left alone, as
    it holds just this; `kept` names what the folder holds and would have lost, so it was left alone, too:
    `record` is then the record of the folder as it was and stays."""

    record: BuildRecord | None
    out: Path
    built: list[str] = field(default_factory=list)
    reused: list[str] = field(default_factory=list)
    failed: dict[str, BookcorefError] = field(default_factory=dict)
    unchanged: bool = False
    kept: dict[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        return {
            "out": str(self.out),
            "digest": self.record.digest if self.record else None,
            "unchanged": self.unchanged,
            "kept": self.kept,
            "built": self.built,
            "reused": self.reused,
            "failed": {k: {"error": str(e), "exit_code": e.exit_code} for k, e in self.failed.items()},
            "books": [b.to_dict() for b in self.record.books] if self.record else [],
        }


Candidates = Callable[[str], Iterator[SourceText]]


@dataclass(frozen=True, slots=True)
class Plan:
    """One rebuild: which books of which ingested release, with which texts, to where.

    `candidates(gutenberg_id)` yields the texts to try for a book, best first, fetching as it goes;
    `tokenised` maps doc_keys to tokenised files given by the user; `expected` maps doc_keys to facts
    known beforehand ({"tokens", "sentences", "tokens_sha256"}). When no edition gives the released tokens
    and the release is a pack or an earlier run has built the book, the annotation is carried over to the
    first edition in which at least `min_kept` of the mentions survive; None forbids it.
    """

    parts: list[BookPart]
    folder: Path
    books_cache: Path
    out: Path
    candidates: Candidates
    min_kept: float | None = None
    title: str = "BookCoref"
    source: Mapping[str, Any] = field(default_factory=dict)
    tokenised: Mapping[str, Path] = field(default_factory=dict)
    expected: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    instructions: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    licences: tuple[tuple[str, str], ...] = BOOKCOREF_LICENCES
    citation: str | None = None
    replace: bool = False


def rebuild(plan: Plan, *, jobs: int = 0, progress: Progress | None = None) -> RebuildReport:
    """Build all books of a plan and write the dataset folder, unless it already holds just that.

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
        _check_asked(plan)
    with Store(plan.books_cache.parent).working():
        return _rebuild(plan, worker_count(jobs), progress)


def _rebuild(plan: Plan, workers: int, progress: Progress) -> RebuildReport:
    report = RebuildReport(None, plan.out)
    done = _build_books(plan, workers, progress, report)
    order = [p.doc_key for p in plan.parts if p.doc_key in done]
    if not order:
        raise _nothing_built(report)
    missing = {key: error.what for key, error in report.failed.items()}
    keys = [done[k].folder.name for k in order]
    inputs = sha256_bytes(json.dumps([BUILD_RULES, plan.title, keys, missing, list(plan.notes)]).encode())
    report.record = _up_to_date(plan.out, inputs)
    if report.record:
        report.unchanged = True
        return report
    if not plan.replace:
        report.kept = losses(plan.out, (done[k].facts for k in order))
    if report.kept:
        report.record = read_build(plan.out)
    else:
        report.record = _assemble(plan, [done[k] for k in order], missing, inputs)
    return report


def _check_asked(plan: Plan) -> None:
    """Refuse before any work when the folder holds books that nobody asked for now."""
    asked = {part.doc_key for part in plan.parts}
    lost = losses(plan.out, ())
    check_losses(plan.out, {key: what for key, what in lost.items() if key not in asked})


def select(parts: Iterable[BookPart], wanted: Iterable[str]) -> list[BookPart]:
    """The parts named by doc_key, Gutenberg id or title slug; all when nothing is named.

    Raises:
        UsageError: a name fits no book of the release; the nearest ones are suggested.
    """
    parts, wanted = list(parts), list(wanted)
    if not wanted:
        return parts
    chosen: list[BookPart] = []
    for name in wanted:
        fits = [p for p in parts if name in (p.doc_key, p.gutenberg_key, p.doc_key.rpartition("_")[0])]
        if not fits:
            keys = [p.doc_key for p in parts]
            near = difflib.get_close_matches(name.lower().replace(" ", "_"), keys, n=3, cutoff=0.4)
            raise UsageError(
                f"the release has no book {name!r}",
                expected=f"one of {', '.join(keys[:60])}",
                hint=f"did you mean {' or '.join(near)}?" if near else "bookcoref-data list shows all books",
            )
        chosen += [p for p in fits if p not in chosen]
    return chosen


def _build_books(plan: Plan, workers: int, progress: Progress, report: RebuildReport) -> dict[str, Built]:
    """Build or find every book; failures go into the report."""
    done: dict[str, Built] = {}
    texts = {part.doc_key: _Editions(plan, part) for part in plan.parts}
    progress.begin("books", len(plan.parts), "books")
    # The largest first, so that no core is left alone with a long book at the end.
    now = sorted(plan.parts, key=lambda part: _size(plan.folder, part), reverse=True)
    while now:
        again: list[BookPart] = []
        jobs = _jobs(plan, now, texts, report)
        for outcome in run_jobs(build_book, jobs, workers, without=_NOT_NEEDED):
            part = outcome.job.part
            if outcome.error is None:
                done[part.doc_key] = outcome.result
                report.failed.pop(part.doc_key, None)
                (report.built if outcome.result.fresh else report.reused).append(part.doc_key)
                if outcome.result.repaired:
                    progress.note(f"{part.doc_key}: the finished book in the cache was damaged; built again")
                progress.advance("books")
                continue
            report.failed.setdefault(part.doc_key, outcome.error)
            if isinstance(outcome.error, EditionError) and outcome.job.text:
                # Another edition of the same book may fit: try the next one.
                again.append(part)
            else:
                progress.advance("books")
        now = again
    progress.end("books")
    order = [part.doc_key for part in plan.parts]
    report.built.sort(key=order.index)
    report.reused.sort(key=order.index)
    return done


def _size(folder: Path, part: BookPart) -> int:
    """Bytes of a book's part of the release, as a measure of its work."""
    names = filter(None, (part.annotation, part.delta, part.pack))
    return sum(path.stat().st_size for name in names if (path := folder / name).is_file())


class _Editions:
    """The texts to try for one book: every edition for the released tokens, then, where that is allowed
    and a pack can follow, every edition once more to carry the annotation over."""

    def __init__(self, plan: Plan, part: BookPart) -> None:
        self._plan, self._part = plan, part
        self._tries: Iterator[tuple[SourceText, float | None]] | None = None

    def next_job(self) -> BookJob | None:
        """The next job, or None when every edition was tried. Raises as `Plan.candidates`."""
        plan, part = self._plan, self._part
        job = BookJob(
            part, plan.folder, plan.books_cache, None, plan.tokenised.get(part.doc_key),
            plan.expected.get(part.doc_key), plan.instructions.get(part.doc_key, ""),
        )  # fmt: skip
        if job.tokenised or not (part.delta or part.pack):
            return job
        if self._tries is None:
            self._tries = self._all(job)
        text, share = next(self._tries, (None, None))
        return replace(job, text=text, remap=share) if text else None

    def _all(self, job: BookJob) -> Iterator[tuple[SourceText, float | None]]:
        tried = []
        for text in self._plan.candidates(self._part.gutenberg_key):
            tried.append(text)
            yield text, None
        # The worker says whether anything is known of the released tokens to compare with.
        if self._plan.min_kept is not None:
            yield from ((text, self._plan.min_kept) for text in tried)


def _jobs(
    plan: Plan, parts: list[BookPart], texts: Mapping[str, _Editions], report: RebuildReport
) -> Iterator[BookJob]:
    """The next job of each part; a part whose text cannot be had becomes a failure."""
    for part in parts:
        try:
            job = texts[part.doc_key].next_job()
        except BookcorefError as error:
            report.failed.setdefault(part.doc_key, error)
            continue
        if job is not None:
            yield job


def build_book(job: BookJob) -> Built:
    """Build one book, or find it finished under its content key. Runs in a worker process.

    Raises:
        EditionError: the text or the release does not fit.
        DataError: the annotation is broken.
    """
    folder = job.target / job.key()
    if facts := finished_book(folder):
        return Built(facts, folder, fresh=False)
    damaged = was_begun(folder)
    book, parts, check, notes = _remapped(job) if job.remap is not None else _exact(job)
    found = facts_of(book, parts, job.part.split, text=_text_facts(job), check=check, notes=notes)
    store_book(folder, found, book, parts)
    if job.remap is None and job.part.delta:
        remember_exact(folder, job.part.key)
    return Built(found, folder, fresh=True, repaired=damaged)


_Result = tuple[Book, tuple[Book, ...], str, list[str]]


def _exact(job: BookJob) -> _Result:
    """Book, windows, what verified its tokens, and notes: the released tokens."""
    if job.part.pack and job.text:
        book, windows = exact_book(_released_pack(job), job.text.read())
        _, check = _proved(job, book.sentences, "pack")
        return book, windows, check, []
    record, released = _read_annotation(job)
    sentences, check = _sentences(job, record)
    book = _attach(job, record, sentences)
    parts, notes = _windows(book, released)
    return book, parts, check, notes


def _remapped(job: BookJob) -> _Result:
    """The same for another edition: its tokens, the released annotation carried over."""
    text = job.text.read()
    if job.part.pack:
        pack = _released_pack(job)
        old, same = old_of_pack(pack), holds_edition(pack, text)
    else:
        earlier = exact_record(job.target, job.part.key)
        if earlier is None:
            raise EditionError(
                f"{job.part.doc_key}: no earlier run has built this book, so it cannot be carried over",
                hint="give the edition of the release once with --mirror DIR, or a release of packs",
            )
        facts, record = earlier
        old, same = old_of_record(record), facts.text.get("sha256") == job.text.sha256
    if same:
        raise EditionError(
            f"{job.part.doc_key}: this text holds the released tokens; nothing is carried over"
        )
    book, windows, report = remapped_book(old, text, job.remap)
    return book, windows, "remapped", remap_notes(report)


def _released_pack(job: BookJob) -> Pack:
    from .pack import read_listed_pack

    return read_listed_pack(job.folder / job.part.pack, job.part.key)[0]


def _read_annotation(job: BookJob) -> tuple[Record, list[Record]]:
    if not job.part.annotation:
        return Record(job.part.doc_key, job.part.gutenberg_key), []
    path = job.folder / job.part.annotation
    records = [parse_record(line, f"{path}:{i}") for i, line in enumerate(read_lines(path), 1)]
    return records[0], records[1:]


def _sentences(job: BookJob, record: Record) -> tuple[list[list[str]], str]:
    """The released sentences of a book and how they were proved."""
    if job.tokenised:
        return _proved(job, _from_tokenised(job), "given")
    if record.sentences is not None:
        return _proved(job, record.sentences, "release")
    if not job.part.delta or job.text is None:
        raise SourceError(
            f"{job.part.doc_key}: the release has neither a text nor a delta for this book",
            hint=job.instructions or f"give a tokenised text with --text {job.part.doc_key}=FILE",
        )
    delta, lengths = delta_from_bytes((job.folder / job.part.delta).read_bytes())
    text = job.text.read()
    failure: EditionError | None = None
    for engine in available_engines():
        base = [token for sentence in tokenize_official(text, engine) for token in sentence]
        try:
            return _proved(job, cut_sentences(delta.apply(base), lengths, job.part.doc_key), "counts")
        except EditionError as error:
            failure = failure or error
    raise EditionError(
        f"{job.part.doc_key}: {failure.what}",
        expected=failure.expected,
        found=f"{failure.found} in {job.text.name} (sha256 {job.text.sha256[:16]}…)",
        hint=failure.hint,
    )


def _proved(job: BookJob, sentences: list[list[str]], otherwise: str) -> tuple[list[list[str]], str]:
    """Compare tokens with what is known of them, before any offset is attached."""
    expected = job.expected
    if not expected:
        return sentences, otherwise
    book = Book.make(job.part.doc_key, sentences)
    found = {
        "tokens": len(book.tokens),
        "sentences": len(book.sentence_ends),
        "tokens_sha256": book.tokens_sha256(),
    }
    wanted = {name: expected[name] for name in found if name in expected}
    if all(found[name] == value for name, value in wanted.items()):
        return sentences, "manifest"
    if not job.part.annotation:
        return sentences, "other release"
    raise EditionError(
        f"{job.part.doc_key}: these are not the published tokens",
        expected=_counts(wanted),
        found=_counts(found),
        hint="the text is of another edition, or the release is not the published one "
        "(then say so with --no-expect)",
    )


def _counts(facts: Mapping[str, Any]) -> str:
    return (
        f"{facts.get('tokens', 0):,} tokens, {facts.get('sentences', 0):,} sentences, "
        f"sha256 {str(facts.get('tokens_sha256', '-'))[:16]}…"
    )


def _from_tokenised(job: BookJob) -> list[list[str]]:
    from ..formats import read_documents

    records = [r for r in read_documents(job.tokenised) if r.sentences is not None]
    fits = [r for r in records if r.doc_key == job.part.doc_key] or records
    if len(fits) != 1:
        raise DataError(
            f"{job.tokenised} does not hold the text of {job.part.doc_key}",
            expected="one tokenised document, or one of that name",
            found=f"{len(fits)} documents",
        )
    return fits[0].sentences


def _attach(job: BookJob, record: Record, sentences: list[list[str]]) -> Book:
    try:
        return Book.make(
            job.part.doc_key, sentences, gutenberg_key=job.part.gutenberg_key,
            clusters=record.clusters, characters=record.characters,
        )  # fmt: skip
    except BookError as error:
        raise BookError(
            f"annotation of {error.what}", found=record.source,
            hint="the release is damaged, or it belongs to other tokens",
        ) from error  # fmt: skip


def _windows(book: Book, records: list[Record]) -> tuple[tuple[Book, ...], list[str]]:
    """The rows of the split config, and what is to be said of them.

    Where the release has windows of its own, their keys say where they begin and their spans are taken
    as released; otherwise the rule of `cut_windows` decides.
    """
    if not records:
        split = split_book(book)
        notes = [f"{len(split.lost)} mention(s) cross the end of a window"] if split.lost else []
        return split.books, notes
    made = split_book(book, windows=_released_cuts(book, records)).books
    books = tuple(_released_window(record, part) for record, part in zip(records, made, strict=True))
    given, ours = (sum(b.mention_count for b in parts) for parts in (books, made))
    if given == ours:
        return books, []
    return books, [f"its released windows hold {given:,} mentions, its own spans give {ours:,}"]


def _released_window(record: Record, cut: Book) -> Book:
    """The tokens of a window with its spans as released."""
    characters = tuple(Character(name, tuple(mentions)) for name, mentions in record.characters)
    try:
        return replace(
            cut,
            doc_key=record.doc_key,
            clusters=tuple(map(tuple, record.clusters)),
            characters=characters,
        )
    except BookError as error:
        raise BookError(f"window annotation of {error.what}", found=record.source) from error


def _released_cuts(book: Book, records: list[Record]) -> list[Window]:
    """Windows from the sentence numbers in the released keys.

    Raises:
        EditionError: numbers that do not start at 0, do not rise, or lie beyond the book.
    """
    firsts = [int(r.doc_key.rpartition(SPLIT_MARK)[2]) for r in records]
    size = len(book.sentence_ends)
    rising = all(a < b for a, b in pairwise(firsts))
    if firsts[0] != 0 or not rising or firsts[-1] >= size:
        raise EditionError(
            f"{book.doc_key}: the released windows do not fit the book",
            expected=f"window keys that start at S0 and rise, below S{size}",
            found=", ".join(f"S{n}" for n in firsts[:12]),
            hint="full and split annotations must come from the same release",
        )
    starts = (0, *book.sentence_ends)
    return [
        Window(first, last, starts[first], starts[last])
        for first, last in zip(firsts, [*firsts[1:], size], strict=True)
    ]


def _text_facts(job: BookJob) -> dict[str, Any]:
    if job.tokenised:
        return {"name": job.tokenised.name, "sha256": sha256_file(job.tokenised)}
    return job.text.facts() if job.text else {"name": "embedded in the release"}


def _assemble(plan: Plan, books: list[Built], missing: Mapping[str, str], inputs: str) -> BuildRecord:
    import pyarrow.parquet as pq

    with writing_folder(plan.out, replace=plan.replace) as writer:
        for built in books:
            tables = (pq.read_table(built.folder / f"{c}.parquet") for c in ("full", "split"))
            writer.add(built.facts, *tables)
        notes = [*plan.notes, *(f"`{b.facts.doc_key}`: {n}" for b in books for n in b.facts.notes)]
        return writer.finish(
            plan.title, licences=plan.licences, notes=notes, missing=missing, inputs=inputs,
            source=plan.source, citation=plan.citation,
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


def _nothing_built(report: RebuildReport) -> BookcorefError:
    errors = list(report.failed.values())
    if len(errors) == 1:
        return errors[0]
    codes = {e.exit_code for e in errors}
    kind = SourceError if codes == {SourceError.exit_code} else DataError
    return kind(
        f"none of the {len(errors)} books could be built",
        found="; ".join(str(e).splitlines()[0] for e in errors[:5]),
        hint=errors[0].hint if errors else None,
    )
