"""Annotate many books: in parallel, each finished on its own and kept, so that any end can be a pause.

A book's work is kept in the cache under a content key (text, cast, plan, code and weights of the
annotator):

    annotations/<key>/             a finished book: record, provenance, quotes, last state
    annotations-unfinished/<key>/  the states of the steps done so far, taken up by the next run

So a second run does nothing, an interrupted or killed one goes on, and changed settings never reuse old
work. Books are read, sent and written one by one: memory holds those that are being worked on. A text is
read by the process that annotates it, so that one which cannot be read stops no other.
"""

import json
import shutil
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

from ..annotation.backends import device_count, make_backend
from ..annotation.cast import Cast
from ..annotation.plan import Plan
from ..annotation.state import State
from ..annotation.steps import Backend, Job
from ..books import Book
from ..errors import BookcorefError, DataError, UsageError, plural
from ..files import check_input, key_of, read_some, sha256_bytes, write_bytes, write_text, writing
from ..formats.annotated import DATASET, KIND, TEXTS, check_kept, read_annotations
from ..formats.folder import is_folder, iter_folder, read_build, writing_folder
from ..formats.jsonl import parse_record
from ..formats.jsonl import read as read_records
from ..formats.lines import read_lines
from ..formats.reasons import format_reasons
from ..outputs import whole
from ..progress import Progress, Silent, begun
from ..shapes import attributes
from ..sources.store import Store
from ..text.ebook import MOST_BYTES
from . import engine
from .annotate import (
    LICENCES,
    Annotated,
    Source,
    annotate_book,
    check_language,
    prepared,
    read_sources,
    source_of,
    write_annotations,
)
from .casts import AUTO, read_cast
from .code_version import annotator_version, reader_version
from .engine import CachedJob, Finished, JobResults, Outcome, intact, run, run_jobs, worker_count

UNFINISHED = "annotations-unfinished"
# Part of every content key: raise it when the same inputs would give another annotation.
SCALE_RULES = 2
PIECES = ("annotation.jsonl", "provenance.jsonl", "quotes.jsonl")
BYTES_PER_TOKEN = {".txt": 5.3, ".text": 5.3, ".jsonl": 8.0}
"""Size of a plain text and of a tokenised record per token, over the 52 texts of BookCoref."""
TOKENS_PER_SECOND = {"embedded": 4_500.0}
"""What a plan expects of one process of a backend: less than was measured (docs/results.md)."""
_PACKED = 3.0
# Backends whose models fill a machine: books follow each other, and all pass a step before the next one
# begins, so that each model is loaded once.
TEXT_SUFFIXES = (".txt", ".text", ".epub", ".html", ".htm", ".xhtml", ".docx")
STEP_BY_STEP = frozenset({"hub"})
TOGETHER = 16, 1_000_000
"""Books, and tokens, that ask a model together; fewer books where many devices share the work."""


@dataclass(frozen=True, slots=True)
class ReadingJob(CachedJob):
    """One book to annotate and how. Without a `cast` one is proposed from the book.

    `source` is None for the text in the file `path`, which is read when it is annotated. `steps` are those
    wanted in the end (default: the plan's), `until` those of this phase; `channel` carries progress back.
    """

    PART: ClassVar[str] = "annotations"
    source: Source | None
    cast: Cast | None
    plan: Plan
    cache: Path
    narrators: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    path: Path = Path()
    channel: Any = None
    until: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.source.book.doc_key if self.source else key_of(self.path)

    def inputs(self) -> list[Any]:
        how = [
            SCALE_RULES, annotator_version(self.plan.backend), self.plan.key(), self.steps or self.plan.steps,
            [(e.name, e.aliases, e.gender) for e in self.cast.entries] if self.cast else AUTO, self.narrators,
        ]  # fmt: skip
        if self.source is None:
            data = b""
            with suppress(BookcorefError):  # which shows when it is annotated
                data = read_some(self.path, MOST_BYTES)
            return [*how, reader_version(), self.path.name, sha256_bytes(data)]
        book, origin = self.source.book, self.source.origin
        return [
            *how, self.source.narrators, book.doc_key, book.gutenberg_key, book.tokens_sha256(),
            book.sentence_ends, self.source.chapters,
            # The file, which the offsets count: another file of the same words has other offsets.
            [origin.file, origin.sha256] if origin else [],
        ]  # fmt: skip

    def read(self) -> Source:
        """The book. Raises: as `read_sources`."""
        return self.source or next(iter(sources_in(self.path)))

    def unfinished(self) -> Path:
        """Where the states of its steps wait for the next phase, or the next run."""
        return Store(self.cache).path(UNFINISHED, self.key())

    def to_dict(self) -> dict[str, Any]:
        """All but the channel, ready for JSON, for engines that start processes elsewhere (`made_of`)."""
        return attributes(self, "source cast plan cache narrators steps path")


@dataclass(frozen=True, slots=True)
class Shelf:
    """Many books to annotate: `path` is a folder of texts and records, a file of records, or a data set.

    `characters` is a cast file for all of them, or a folder with `<file or document key>.txt` for each, or
    "auto" for casts proposed from the books; without it, records bring their cast along.
    """

    path: Path
    plan: Plan
    cache: Path
    characters: Path | None = None
    narrators: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()

    def count(self) -> int:
        """The number of books."""
        if is_folder(self.path):
            return len(read_build(self.path).books)
        files = book_files(self.path)
        return sum(sum(map(bool, map(str.strip, read_lines(p)))) if _holds_records(p) else 1 for p in files)

    def check_casts(self) -> None:
        """A cast that is missing shall not show after hours. Raises UsageError."""
        for path in book_files(self.path):
            if path.suffix in TEXT_SUFFIXES:
                self._cast(path, key_of(path), None)

    def jobs(self) -> Iterator[ReadingJob]:
        """A job per book, each made when it is asked for."""
        for path, key, source in books_below(self.path):
            cast = self._cast(path, key, source.cast if source else None)
            told = self.narrators or (cast.narrators if cast else ())
            yield ReadingJob(source, cast, self.plan, self.cache, told, self.steps, path)

    def cast_file(self, path: Path, key: str = "") -> Path | None:
        """The cast file of a book: the one for all, or its own of the folder; None where there is none."""
        file = self.characters
        if file is None or str(file) == AUTO or not file.is_dir():
            return None if str(file) == AUTO else file
        found = (file / f"{name}.txt" for name in (key or key_of(path), path.stem))
        return next((p for p in found if p.is_file()), None)

    def _cast(self, path: Path, key: str, own: Cast | None) -> Cast | None:
        """The cast of one book; None where it is to be proposed."""
        if str(self.characters) == AUTO:
            return None
        file = self.cast_file(path, key)
        if file is None and own is not None:
            return own
        if file is None:
            raise UsageError(
                f"no cast for {key}",
                expected=f"{(self.characters or Path('casts')) / key}.txt",
                hint="--cast auto, or --cast FOLDER with a file per book: annotate BOOKS --propose-cast "
                "--out FOLDER makes them",
            )
        return read_cast(file)


def workload(books: Shelf, processes: int) -> str:
    """The work of annotating all books, in words, from the sizes of their files alone; an estimate of hours
    where the speed of the backend is known. Raises UsageError: there are no books."""
    path = books.path
    if is_folder(path):
        tokens = sum(book.tokens for book in read_build(path).books)
    else:
        tokens = round(sum(map(_tokens_in, book_files(path))))
    line = f"{books.count():,} books, about {round(tokens, -3):,} tokens"
    if (speed := TOKENS_PER_SECOND.get(books.plan.backend)) is None:
        return line
    hours = tokens / speed / 3600 / max(1, processes)
    return f"{line}, about {hours:,.1f} hours with {processes} process{'es' * (processes != 1)}"


def _tokens_in(file: Path) -> float:
    """About how many tokens a file of books holds, by its size."""
    suffixes = [suffix for suffix in file.suffixes if suffix in BYTES_PER_TOKEN]
    packed = _PACKED if file.suffix in (".gz", ".zst") else 1.0
    return check_input(file) * packed / BYTES_PER_TOKEN[suffixes[-1] if suffixes else ".txt"]


def holds_many(path: Path) -> bool:
    """Whether `path` is a folder, or a file of more than one tokenised book."""
    if path.is_dir():
        return True
    if not _holds_records(path) or not path.is_file():
        return False
    return sum(1 for _, line in zip(range(2), filter(str.strip, read_lines(path)), strict=False)) > 1


def _holds_records(path: Path) -> bool:
    return ".jsonl" in path.suffixes


def book_files(path: Path) -> list[Path]:
    """The files of a folder that hold books, in order; a data set folder or a file stands for itself."""
    if not path.is_dir() or is_folder(path):
        return [path]
    paths = sorted(p for p in path.iterdir() if p.suffix in TEXT_SUFFIXES or _holds_records(p))
    if not paths:
        expected = "texts (*.txt, *.epub, *.html, *.docx), *.jsonl, or a data set folder"
        raise UsageError(f"{path} holds no books", expected=expected)
    return paths


def sources_below(path: Path) -> Iterator[tuple[Path, Source]]:
    """Each book of a folder or file, with its file. Raises UsageError: two books of one key."""
    for file, _, source in books_below(path):
        yield file, source or next(iter(sources_in(file)))


def books_below(path: Path) -> Iterator[tuple[Path, str, Source | None]]:
    """The file and the key of each book of a folder or file, and the book unless it is a text to be read.
    Raises UsageError: two books of one key."""
    seen: dict[str, Path] = {}
    for file in book_files(path):
        several = is_folder(file) or _holds_records(file)
        for source in sources_in(file) if several else (None,):
            key = source.book.doc_key if source else key_of(file)
            if key in seen:
                what = f"two books have the key {key!r}"
                raise UsageError(what, found=f"{seen[key]} and {file}", hint="rename one")
            seen[key] = file
            yield file, key, source


def sources_in(path: Path) -> Iterable[Source]:
    """The books of one file or data set folder, one at a time."""
    if is_folder(path):
        return (source_of(record) for _, record in iter_folder(path))
    if _holds_records(path):
        return (source_of(record, path.parent) for record in read_records(path, bare=True))
    return read_sources(path)


def annotate_books(
    jobs: Callable[[], Iterable[ReadingJob]], count: int, *, workers: int = 0,
    progress: Progress | None = None,
) -> JobResults:  # fmt: skip
    """Annotate all books; errors of single books are reported, the others go on.

    `jobs` gives the books in their order, and may be asked several times: once per phase, see `phases`.
    """
    progress, work = progress or Silent(), JobResults()
    first = next(iter(jobs()), None)
    if first is None:
        raise UsageError("there is no book to annotate", hint="check the folder, or the books you named")
    steps = first.steps or first.plan.steps
    if first.plan.backend in STEP_BY_STEP:
        workers = workers or device_count(first.plan)
    together = min(TOGETHER[0], -(-count // (4 * worker_count(workers))))
    with Store(first.cache).working():
        for wanted in phases(first.plan, steps):
            label = "books" if wanted == steps else f"books, {wanted[-1]}"
            with relaying(progress, worker_count(workers)) as channel:
                if first.plan.backend in STEP_BY_STEP and together > 1:
                    todo = _unfinished(jobs(), wanted, channel, work)
                    shelves = _shelves((job for job in todo if isinstance(job, ReadingJob)), together)
                    for _ in run_jobs(ask_ahead, shelves, worker_count(workers)):
                        pass  # whatever went wrong shows when the book is annotated
                todo = _unfinished(jobs(), wanted, channel, work)
                run(annotate_one, todo, work, progress, bar=("all books", count, label), workers=workers)
    release_backends()
    return work


def phases(plan: Plan, steps: Sequence[str]) -> list[tuple[str, ...]]:
    """The steps to have done after each pass over the books: one pass, or one per step for large models."""
    if plan.backend not in STEP_BY_STEP:
        return [tuple(steps)]
    return [tuple(steps[: i + 1]) for i in range(len(steps))]


def _unfinished(
    jobs: Iterable[ReadingJob], wanted: Sequence[str], channel: Any, work: JobResults
) -> Iterator[ReadingJob | Outcome[str, Finished]]:
    """The jobs that are left to do, as parts of a phase; of the others, what became of them."""
    for job in jobs:
        name = str(job)
        if name in work.failed or name in work.finished:
            yield Outcome(name)
        elif intact(place := job.finished()):
            yield Outcome(name, result=Finished(place, fresh=False))
        else:
            yield replace(job, channel=channel, until=tuple(wanted))


def _shelves(jobs: Iterable[ReadingJob], together: int) -> Iterator[tuple[ReadingJob, ...]]:
    """Jobs with a cast in groups of at most `together` books and not much more than TOGETHER's tokens."""
    shelf: list[ReadingJob] = []
    for job in jobs:
        if job.cast is not None:
            shelf.append(job)
        sizes = (len(j.source.book.tokens) if j.source else _tokens_in(j.path) for j in shelf)
        if len(shelf) == together or sum(sizes) >= TOGETHER[1]:
            yield tuple(shelf)
            shelf = []
    if shelf:
        yield tuple(shelf)


def ask_ahead(shelf: Sequence[ReadingJob]) -> None:
    """Ask what several books need of the last step of this phase, in batches over all of them."""
    step: Any = backend_of(shelf[0].plan).step(shelf[0].until[-1])
    if not hasattr(step, "ask_ahead"):
        return
    found: list[tuple[Job, State]] = []
    for job in shelf:
        cast, states = job.cast or Cast(()), job.unfinished()
        with suppress(BookcorefError):
            source = job.read()
            check_language(source.book, job.plan.language)
            told = job.narrators or cast.narrators or source.narrators
            given, state, left = prepared(source, cast, job.plan, job.until, told, states=states, resume=True)
            found += [(given, state)] if left == [step.name] else []
    name, units = f"{shelf[0]} and {plural(len(shelf) - 1, 'other')}", sum(step.units(j) for j, _ in found)
    with begun(Relayed(shelf[0].channel), name, units, step.name) as advance:
        step.ask_ahead(found, advance)


def annotate_one(job: ReadingJob) -> Finished | None:
    """Annotate one book, going on from saved steps; None when steps are left for another phase."""
    unfinished = job.unfinished()
    steps = job.until or job.steps or job.plan.steps
    listener = Relayed(job.channel) if job.channel is not None else Silent()

    def annotated() -> Annotated:
        return annotate_book(
            job.read(), job.cast, job.plan, narrators=job.narrators, steps=steps, states=unfinished,
            resume=True, backend=backend_of(job.plan), progress=listener,
        )  # fmt: skip

    if steps != (job.steps or job.plan.steps):
        annotated()
        return None

    def fill(folder: Path) -> None:
        done = annotated()
        write_annotations([done], folder, dataset=False)
        write_text(folder / "state.json", json.dumps(done.state.to_dict(), ensure_ascii=False))

    done = job.made(fill)
    shutil.rmtree(unfinished, ignore_errors=True)
    return done


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


# -- progress across processes -----------------------------------------------------------------------


class Relayed:
    """A listener in a worker: puts what it hears on a queue. A listener gone does not stop the work."""

    def __init__(self, queue: Any) -> None:
        def put(*message: Any) -> None:
            with suppress(OSError, EOFError):
                queue.put(message)

        calls = (partial(put, name) for name in ("begin", "advance", "end", "note"))
        self.begin, self.advance, self.end, self.note = calls


@contextmanager
def relaying(progress: Progress, workers: int) -> Iterator[Any]:
    """A channel whose messages reach `progress`: a queue served by a thread, or with one worker directly."""
    if workers == 1:
        yield SimpleNamespace(put=lambda message: getattr(progress, message[0])(*message[1:]))
        return
    from multiprocessing.managers import SyncManager

    manager = SyncManager()
    with engine.interrupts_held():
        manager.start(engine.settle)
    with manager:
        queue = manager.Queue()

        def serve() -> None:
            with suppress(OSError, EOFError):  # a signal to all processes ends the queue first
                while (message := queue.get()) is not None:
                    if message[0] == "begin":
                        progress.end(message[1])  # a book tried again after its worker was killed
                    getattr(progress, message[0])(*message[1:])

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield _Channel(queue)
        finally:
            with suppress(OSError, EOFError):
                queue.put(None)
            thread.join(timeout=5)


class _Channel:
    """A queue of another process that is looked up when something is first put on it. After a Ctrl-C a worker
    may still be handed a book; to unpack the queue itself it would need the process that is gone."""

    def __init__(self, queue: Any) -> None:
        self._packed = bytes(ForkingPickler.dumps(queue))
        self._queue: Any = None

    def put(self, message: tuple[Any, ...]) -> None:
        if self._queue is None:
            self._queue = ForkingPickler.loads(self._packed)
        self._queue.put(message)


# -- output ------------------------------------------------------------------------------------------


def collect(
    report: JobResults, out: Path, *, title: str = "", splits: Mapping[str, str] | None = None,
    licences: Sequence[tuple[str, str]] = LICENCES, source: Mapping[str, Any] | None = None,
    citation: str = "", replace: bool = False,
) -> list[Path]:  # fmt: skip
    """Put the finished books together in `out`, as `write_annotations` does for few; returns the files.
    Raises DataError: no book was finished. UsageError: `out` has books that were not finished now, and
    `replace` is not given."""
    if not report.finished:
        raise DataError("no book was annotated", hint="every book failed; see the messages above")
    check_kept(out, report.finished, replace=replace)
    with whole(out, KIND):
        for name in PIECES:
            with writing(out / name) as stream:
                for folder in report.finished.values():
                    stream.write((folder / name).read_bytes())
        for folder in report.finished.values():
            for text in sorted((folder / TEXTS).glob("*.txt")):
                write_bytes(out / TEXTS / text.name, text.read_bytes())
        files = [out / name for name in PIECES]
        splits = splits or {}
        with writing_folder(out / DATASET, replace=replace) as writer:
            for wanted in ("train", "validation", "test"):
                for key, folder in report.finished.items():
                    if splits.get(key, "test") == wanted:
                        (a,) = read_annotations(folder)
                        writer.add_book(a.to_book(), wanted, check="built", reasons=format_reasons(a))
            states = ((key, read_state(folder)) for key, folder in report.finished.items())
            writer.finish(
                title or "Annotated books", licences=licences,
                notes=[f"{key}: {note}" for key, state in states for note in state.notes],
                missing=report.missing,
                source=source, citation=citation,
            )  # fmt: skip
    return [*files, out / DATASET]


def read_book(folder: Path) -> Book:
    """The annotated book of a finished entry."""
    path = folder / PIECES[0]
    return parse_record(path.read_text(encoding="utf-8"), str(path), bare=True).to_book()


def read_state(folder: Path) -> State:
    """The last state of a finished entry."""
    path = folder / "state.json"
    return State.from_json(path.read_text(encoding="utf-8"), str(path))
