"""Annotate many books: in parallel, each finished on its own and kept, so that any end can be a pause.

A book's work is kept in the cache under a content key (text, cast, plan, code and weights of the
annotator):

    annotations/<key>/             a finished book: record, provenance, quotes, last state
    annotations-unfinished/<key>/  the states of the steps done so far, taken up by the next run

So a second run does nothing, an interrupted or killed one goes on, and changed settings never reuse old
work. Books are read, sent and written one by one: memory holds those that are being worked on.
"""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..annotate.backends import make_backend
from ..annotate.cast import Cast, Entry
from ..annotate.plan import Plan
from ..annotate.state import State
from ..annotate.steps import Backend
from ..books import Book
from ..books.annotation import SourceText
from ..errors import BookcorefError, DataError, UsageError
from ..files import sha256_bytes, write_bytes, write_text, writing
from ..formats.annotated import TEXTS
from ..formats.folder import writing_folder
from ..formats.jsonl import format_record, parse_record
from ..progress import Progress, Silent
from ..sources.store import Store
from .annotate import LICENCES, Annotated, Source, annotate_book, write_annotations
from .pool import Outcome, run_jobs, worker_count

PART = "annotations"
UNFINISHED = "annotations-unfinished"
# Part of every content key: raise it when the same inputs would give another annotation.
SCALE_RULES = 2
PIECES = ("annotation.jsonl", "provenance.jsonl", "quotes.jsonl")
# Backends whose models fill a machine: books follow each other, and all pass a step before the next one
# begins, so that each model is loaded once.
STEP_BY_STEP = frozenset({"hub"})


@dataclass(frozen=True, slots=True)
class BookJob:
    """One book to annotate and how; can be sent to a process.

    `steps` are those wanted in the end (default: the plan's), `until` those of this phase; `channel`
    carries progress back.
    """

    source: Source
    cast: Cast
    plan: Plan
    cache: Path
    narrator: str = ""
    steps: tuple[str, ...] = ()
    channel: Any = None
    until: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.source.book.doc_key

    def key(self) -> str:
        """The content key: sha256 of everything that can change the annotation."""
        book = self.source.book
        inputs = [
            SCALE_RULES, annotator_version(), self.plan.key(), self.steps or self.plan.steps, self.narrator,
            book.doc_key, book.gutenberg_key, book.tokens_sha256(), book.sentence_ends, self._origin_key(),
            [(e.name, e.aliases, e.gender) for e in self.cast.entries],
        ]  # fmt: skip
        return sha256_bytes(json.dumps(inputs, sort_keys=True).encode("utf-8", "surrogatepass"))[:40]

    def _origin_key(self) -> list[str]:
        """The file, which the offsets count: another file of the same words has other offsets."""
        origin = self.source.origin
        return [origin.file, origin.sha256] if origin else []

    def finished(self) -> Path:
        """Where the finished book is, or will be."""
        return Store(self.cache).path(PART, self.key())

    def to_json(self) -> str:
        """All but channel and cache as text, for engines that start processes elsewhere."""
        book = self.source.book
        value = {
            "book": format_record(book.to_record()).decode("utf-8"),
            "names": self.source.names,
            "origin": astuple(self.source.origin) if self.source.origin else None,
            "chapters": self.source.chapters,
            "notes": self.source.notes,
            "cast": [[e.name, e.aliases, e.gender] for e in self.cast.entries],
            "cast_notes": self.cast.notes,
            "plan": [
                self.plan.name,
                self.plan.backend,
                self.plan.steps,
                dict(self.plan.settings),
                self.plan.least,
            ],
            "narrator": self.narrator,
            "steps": self.steps,
        }
        return json.dumps(value, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str, cache: Path) -> BookJob:
        """Read what `to_json` wrote."""
        v = json.loads(text)
        book = parse_record(v["book"], "job", bare=True).to_book()
        cast = Cast(tuple(Entry(n, tuple(a), g) for n, a, g in v["cast"]), tuple(v["cast_notes"]))
        name, backend, steps, settings, least = v["plan"]
        plan = Plan(name, backend, tuple(steps), settings, least=least)
        origin = None
        if v["origin"]:
            file, digest, text, starts, ends = v["origin"]
            origin = SourceText(file, digest, text, tuple(starts), tuple(ends))
        chapters = tuple((title, token) for title, token in v["chapters"])
        source = Source(book, tuple(v["names"]), tuple(v["notes"]), origin, chapters)
        return cls(source, cast, plan, cache, v["narrator"], tuple(v["steps"]))


@dataclass(slots=True)
class ScaleReport:
    """What a run did, by document key; `finished` maps to folders in the cache, in the order of input."""

    finished: dict[str, Path] = field(default_factory=dict)
    made: list[str] = field(default_factory=list)
    reused: list[str] = field(default_factory=list)
    failed: dict[str, BookcorefError] = field(default_factory=dict)

    @property
    def exit_code(self) -> int:
        return max((e.exit_code for e in self.failed.values()), default=0)

    def to_dict(self) -> dict[str, Any]:
        return {
            "made": self.made,
            "reused": self.reused,
            "failed": {k: {"error": str(e), "exit_code": e.exit_code} for k, e in self.failed.items()},
        }


def annotate_books(
    jobs: Callable[[], Iterable[BookJob]],
    count: int,
    *,
    workers: int = 0,
    progress: Progress | None = None,
) -> ScaleReport:
    """Annotate all books; errors of single books are reported, the others go on.

    `jobs` gives the books in their order, and may be asked several times: once per phase, see `phases`.
    """
    progress, report = progress or Silent(), ScaleReport()
    order: dict[str, None] = {}
    first = next(iter(jobs()), None)
    if first is None:
        raise UsageError("there is no book to annotate", hint="check the folder, or the books you named")
    steps = first.steps or first.plan.steps
    if first.plan.backend in STEP_BY_STEP:
        workers = workers or 1
    for wanted in phases(first.plan, steps):
        label = "books" if wanted == steps else f"books, {wanted[-1]}"
        progress.begin("all books", count, label)
        with relaying(progress, worker_count(workers)) as channel:
            todo = _unfinished(jobs(), wanted, channel, report, order, progress)
            for outcome in run_jobs(annotate_one, todo, worker_count(workers)):
                _note(outcome, report, progress)
        progress.end("all books")
    release_backends()
    report.finished = {key: report.finished[key] for key in order if key in report.finished}
    return report


def phases(plan: Plan, steps: Sequence[str]) -> list[tuple[str, ...]]:
    """The steps to have done after each pass over the books: one pass, or one per step for large models."""
    if plan.backend not in STEP_BY_STEP:
        return [tuple(steps)]
    return [tuple(steps[: i + 1]) for i in range(len(steps))]


def _unfinished(
    jobs, wanted, channel, report: ScaleReport, order: dict[str, None], progress
) -> Iterator[BookJob]:
    """The jobs that are left to do, as parts of a phase; finished ones are noted on the way."""
    for job in jobs:
        name = str(job)
        if name not in order:
            order[name] = None
        elif name in report.failed or name in report.finished:
            progress.advance("all books")
            continue
        if job.finished().is_dir():
            report.finished[name] = job.finished()
            report.reused.append(name)
            progress.advance("all books")
            continue
        yield replace(job, channel=channel, until=tuple(wanted))


def _note(outcome: Outcome[BookJob, Path | None], report: ScaleReport, progress: Progress) -> None:
    name = str(outcome.job)
    progress.end(name)  # of a worker that was killed, too
    progress.advance("all books")
    if outcome.error:
        report.failed[name] = outcome.error
        progress.note(f"{name} failed: {outcome.error}")
    elif outcome.result:
        report.finished[name] = outcome.result
        report.made.append(name)


def annotate_one(job: BookJob) -> Path | None:
    """Annotate one book, going on from saved steps; its folder in the cache, None when steps are left.

    Raises:
        BookcorefError: the cast, the plan or the cache is at fault.
    """
    unfinished = Store(job.cache).path(UNFINISHED, job.key())
    steps = job.until or job.steps or job.plan.steps
    listener = Relayed(job.channel) if job.channel is not None else Silent()

    def run() -> Annotated:
        return annotate_book(
            job.source, job.cast, job.plan, narrator=job.narrator, steps=steps, states=unfinished,
            resume=True, backend=backend_of(job.plan), progress=listener,
        )  # fmt: skip

    if steps != (job.steps or job.plan.steps):
        run()
        return None

    def fill(folder: Path) -> None:
        done = run()
        write_annotations([done], folder, dataset=False)
        write_text(folder / "state.json", done.state.to_json())

    made = Store(job.cache).make(PART, job.key(), fill)
    shutil.rmtree(unfinished, ignore_errors=True)
    return made


_BACKENDS: dict[str, Backend] = {}


def backend_of(plan: Plan) -> Backend:
    """The backend of a plan, made once per process: it loads a parser or models."""
    if plan.key() not in _BACKENDS:
        release_backends()
        _BACKENDS[plan.key()] = make_backend(plan)
    return _BACKENDS[plan.key()]


def release_backends() -> None:
    """Free the models that this process holds."""
    while _BACKENDS:
        _BACKENDS.popitem()[1].close()


@lru_cache(maxsize=1)
def annotator_version() -> str:
    """sha256 over the code and weights of the annotation: old work must not hide a better annotator."""
    folder = Path(__file__).resolve().parent.parent / "annotate"
    files = sorted(p for p in folder.rglob("*") if p.is_file() and "__pycache__" not in p.parts)
    return sha256_bytes(b"".join(p.read_bytes() for p in files))


# -- progress across processes -----------------------------------------------------------------------


class Relayed:
    """A listener in a worker: puts what it hears on a queue. A listener gone does not stop the work."""

    def __init__(self, queue: Any) -> None:
        self._queue = queue

    def begin(self, key: str, total: int | None, unit: str) -> None:
        self._put("begin", key, total, unit)

    def advance(self, key: str, amount: int = 1) -> None:
        self._put("advance", key, amount)

    def end(self, key: str) -> None:
        self._put("end", key)

    def note(self, message: str) -> None:
        self._put("note", message)

    def _put(self, *message: Any) -> None:
        try:
            self._queue.put(message)
        except (OSError, EOFError):
            return


@contextmanager
def relaying(progress: Progress, workers: int) -> Iterator[Any]:
    """A channel whose messages reach `progress`: a queue served by a thread, or with one worker directly."""
    if workers == 1:
        yield _Direct(progress)
        return
    import multiprocessing

    with multiprocessing.Manager() as manager:
        queue = manager.Queue()
        thread = threading.Thread(target=_serve, args=(queue, progress), daemon=True)
        thread.start()
        try:
            yield queue
        finally:
            queue.put(None)
            thread.join(timeout=5)


class _Direct:
    """A queue of no length: messages reach the listener at once."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def put(self, message: tuple) -> None:
        getattr(self._progress, message[0])(*message[1:])


def _serve(queue: Any, progress: Progress) -> None:
    while (message := queue.get()) is not None:
        if message[0] == "begin":
            progress.end(message[1])  # a book tried again after its worker was killed
        getattr(progress, message[0])(*message[1:])


# -- output ------------------------------------------------------------------------------------------


def collect(
    report: ScaleReport,
    out: Path,
    *,
    title: str = "",
    splits: Mapping[str, str] | None = None,
    licences: Sequence[tuple[str, str]] = LICENCES,
    source: Mapping[str, Any] | None = None,
) -> list[Path]:
    """Put the finished books together in `out`, as `write_annotations` does for few; returns the files.

    Raises:
        DataError: no book was finished.
    """
    if not report.finished:
        raise DataError("no book was annotated", hint="every book failed; see the messages above")
    for name in PIECES:
        with writing(out / name) as stream:
            for folder in report.finished.values():
                stream.write((folder / name).read_bytes())
    for folder in report.finished.values():
        for text in sorted((folder / TEXTS).glob("*.txt")):
            write_bytes(out / TEXTS / text.name, text.read_bytes())
    files = [out / name for name in PIECES]
    splits = splits or {}
    with writing_folder(out / "dataset") as writer:
        for wanted in ("train", "validation", "test"):
            for key, folder in report.finished.items():
                if splits.get(key, "test") == wanted:
                    writer.add_book(read_book(folder), wanted, check="built")
        writer.finish(
            title or "Annotated books",
            licences=licences,
            notes=[f"{k}: {n}" for k, folder in report.finished.items() for n in read_state(folder).notes],
            missing={key: error.what for key, error in report.failed.items()},
            source=source,
        )
    return [*files, out / "dataset"]


def read_book(folder: Path) -> Book:
    """The annotated book of a finished entry."""
    path = folder / PIECES[0]
    return parse_record(path.read_text(encoding="utf-8"), str(path), bare=True).to_book()


def read_state(folder: Path) -> State:
    """The last state of a finished entry."""
    path = folder / "state.json"
    return State.from_json(path.read_text(encoding="utf-8"), str(path))


def write_job(job: BookJob, path: Path) -> None:
    """Save a job as a file that another process can take up."""
    write_bytes(path, job.to_json().encode("utf-8"))
