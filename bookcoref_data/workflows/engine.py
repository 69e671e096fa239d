"""One engine for work that is done book by book: job -> content key -> cache -> outcome -> report.

A job is small, can be sent to a process, and `str(job)` is its name in reports. A job that fails or kills
its worker stops no other. Workers end with the process that started them.
"""

import json
import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from importlib.abc import MetaPathFinder
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from ..errors import BookcorefError, SourceError
from ..files import sha256_bytes, sha256_file, write_text
from ..formats.folder import BuildRecord
from ..progress import Progress
from ..shapes import attributes
from ..sources.store import Store

Job = TypeVar("Job")
Result = TypeVar("Result")

# The checksums of a finished job's files, beside them.
CHECKSUMS = "sha256.json"
# How often a worker looks whether the process that started it is still there, in seconds.
_LOOK_FOR_PARENT = 1.0


@dataclass(frozen=True, slots=True)
class Outcome(Generic[Job, Result]):
    """What became of one job: a result, or the error that it met."""

    job: Job
    result: Result | None = None
    error: BookcorefError | None = None


@dataclass(frozen=True, slots=True)
class Finished:
    """A finished job: its folder in the cache, whether it was made just now, and whether that was because
    the files that were there are not what was written."""

    folder: Path
    fresh: bool
    repaired: bool = False


class CachedJob:
    """The work on one book: small, so that it can be sent to a process; `str(job)` is its name in reports.

    It makes a folder in a part of the cache at `cache`, under a key of all that can change what is made.
    """

    __slots__ = ()
    PART: ClassVar[str]
    cache: Path

    def inputs(self) -> list[Any]:
        """All that can change what is made."""
        raise NotImplementedError

    def key(self) -> str:
        """The content key: sha256 of the inputs."""
        return sha256_bytes(json.dumps(self.inputs(), sort_keys=True).encode())

    def finished(self) -> Path:
        """Where the finished book is, or will be."""
        return Store(self.cache).path(self.PART, self.key())

    def made(self, fill: Callable[[Path], None]) -> Finished:
        """The finished book, from the cache or made now by `fill(folder)`."""
        return finished(Store(self.cache), self.PART, self.key(), fill)


@dataclass(slots=True)
class JobResults:
    """What a run did, by the names of the jobs, in the order of input.

    `finished` maps to folders in the cache; `made` and `reused` divide its names; `repaired` are those of
    `made` whose files in the cache were damaged; `failed` maps to errors.
    """

    finished: dict[str, Path] = field(default_factory=dict)
    made: list[str] = field(default_factory=list)
    reused: list[str] = field(default_factory=list)
    repaired: list[str] = field(default_factory=list)
    failed: dict[str, BookcorefError] = field(default_factory=dict)

    @property
    def exit_code(self) -> int:
        """The worst exit code of a failed job, 0 when all went well."""
        return max((e.exit_code for e in self.failed.values()), default=0)

    @property
    def missing(self) -> dict[str, str]:
        """What failed and why, for the record of a folder."""
        return {name: error.what for name, error in self.failed.items()}

    def note(self, name: str, result: Finished) -> None:
        """Take up the result of a job; an error that it met before is forgotten."""
        self.failed.pop(name, None)
        self.finished[name] = result.folder
        (self.made if result.fresh else self.reused).append(name)
        if result.repaired:
            self.repaired.append(name)

    def sort(self, names: Iterable[str]) -> None:
        """Put everything in the order of `names`."""
        order = {name: i for i, name in enumerate(names)}
        for listed in (self.made, self.reused, self.repaired):
            listed.sort(key=order.__getitem__)
        self.finished = {name: self.finished[name] for name in order if name in self.finished}
        self.failed = {name: self.failed[name] for name in order if name in self.failed}

    def to_dict(self) -> dict[str, Any]:
        failed = {k: {"error": str(e), "exit_code": e.exit_code} for k, e in self.failed.items()}
        return attributes(self, "made reused repaired") | {"failed": failed}


@dataclass(slots=True)
class FolderReport(JobResults):
    """What a run that writes the data set folder `out` did; `record` is that of the folder, None as long as
    there is none."""

    out: Path = Path()
    record: BuildRecord | None = None

    @property
    def built(self) -> list[str]:
        return self.made

    def to_dict(self) -> dict[str, Any]:
        work, digest = JobResults.to_dict(self), self.record.digest if self.record else None
        return {"out": str(self.out), "digest": digest, "built": work.pop("made"), **work}


def finished(store: Store, part: str, key: str, fill: Callable[[Path], None]) -> Finished:
    """The finished job `key`; when it is not in the cache, `fill(folder)` makes it, once.

    Every file has its sha256 beside it, which is compared on each use: damaged work is made again. Raises: as
    `fill` and `Store.make`.
    """
    there, made = store.path(part, key).is_dir(), list[Path]()

    def filled(folder: Path) -> None:
        fill(folder)
        sums = {p.relative_to(folder).as_posix(): sha256_file(p) for p in _files(folder)}
        write_text(folder / CHECKSUMS, json.dumps(sums, sort_keys=True))
        made.append(folder)

    folder = store.make(part, key, filled, intact)
    return Finished(folder, bool(made), there and bool(made))


def intact(folder: Path) -> bool:
    """Whether the files of a finished job are just those that were written."""
    try:
        sums = json.loads((folder / CHECKSUMS).read_text(encoding="utf-8"))
        found = {p.relative_to(folder).as_posix(): p for p in _files(folder) if p.name != CHECKSUMS}
        same = all(sha256_file(path) == sums.get(name) for name, path in found.items())
        return same and bool(found.keys() == sums.keys())
    except (OSError, ValueError, AttributeError, RecursionError):
        return False


def _files(folder: Path) -> list[Path]:
    return [p for p in folder.rglob("*") if p.is_file()]


def run(
    function: Callable[[Job], Finished | None], jobs: Iterable[Job | Outcome[str, Finished]],
    work: JobResults, progress: Progress, *, bar: tuple[str, int, str], workers: int = 0,
    retry: Callable[[Job, BookcorefError], Job | None] | None = None, order: Iterable[str] | None = None,
    without: tuple[str, ...] = (),
) -> None:  # fmt: skip
    """Do all jobs and write into `work` what became of each; errors of ours stop no other job.

    `jobs` may yield outcomes of names, too: of jobs that are known to be finished, or that could not be made.
    A job whose function returns None is not finished yet. `bar` is (key, number of jobs, unit) of the
    progress; `retry(job, error)` may give another job in place of one that failed, whose error is then
    reported if that fails, too; `order` are names in the order for the report, by default that of `jobs`.
    """
    key, total, unit = bar
    names: dict[str, None] = {}
    progress.begin(key, total, unit)

    def note(name: str, result: Finished | None, error: BookcorefError | None) -> None:
        if error:
            work.failed.setdefault(name, error)
            progress.note(f"failed: {name}: {work.failed[name]}")
        elif result:
            work.note(name, result)
            if result.repaired:
                progress.note(f"{name}: its finished work in the cache was damaged and was made again")
        progress.advance(key)

    def left() -> Iterator[Job]:
        for job in jobs:
            if isinstance(job, Outcome):
                names[job.job] = None
                note(job.job, job.result, job.error)
            else:
                names[str(job)] = None
                yield job

    todo: Iterable[Job] = left()
    while todo:
        again: list[Job] = []
        for outcome in run_jobs(function, todo, worker_count(workers), without=without):
            name = str(outcome.job)
            progress.end(name)  # of a worker that was killed, too
            other = retry(outcome.job, outcome.error) if retry and outcome.error else None
            if other is None:
                note(name, outcome.result, outcome.error)
            elif outcome.error:
                work.failed.setdefault(name, outcome.error)
                again.append(other)
        todo = again
    progress.end(key)
    work.sort(dict.fromkeys([*(order or names), *work.finished, *work.failed]))


def worker_count(jobs: int) -> int:
    """`jobs`, or one per core that this process may use when it is 0."""
    if jobs > 0:
        return jobs
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def run_jobs(
    function: Callable[[Job], Result], jobs: Iterable[Job], workers: int, *, without: tuple[str, ...] = ()
) -> Iterator[Outcome[Job, Result]]:
    """Yield an outcome per job, in the order in which they finish.

    `jobs` may be a generator: it is asked for the next job only when a worker is free or nearly so, so
    that fetching a text overlaps with working on the one before. Errors of ours become outcomes; any
    other exception is a defect and passes through. With one worker everything runs in this process.

    A worker that dies (out of memory, killed) takes the pool with it: the jobs that were running are
    tried again one by one in a process of their own, and the one that dies again is reported.

    `without` names packages that worker processes shall take for not installed.
    """
    if workers == 1:
        yield from (_outcome(job, partial(function, job)) for job in jobs)
    else:
        yield from _in_pool(function, iter(jobs), workers, without)


def _outcome(job: Job, result: Callable[[], Result]) -> Outcome[Job, Result]:
    try:
        return Outcome(job, result=result())
    except BookcorefError as error:
        return Outcome(job, error=error)


def _in_pool(
    function: Callable[[Job], Result], jobs: Iterator[Job], workers: int, without: tuple[str, ...]
) -> Iterator[Outcome[Job, Result]]:
    pool = _pool(workers, without)
    running: dict[Future[Any], Job] = {}
    again: deque[Job] = deque()
    try:
        while True:
            while len(running) < workers + 1 and (job := next(jobs, None)) is not None:
                try:
                    with interrupts_held():
                        running[pool.submit(function, job)] = job
                except BrokenProcessPool:
                    again.append(job)
                    break
            if not running and not again:
                # Wait for its threads: the next pool may be forked from this process.
                pool.shutdown()
                return
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                job = running.pop(future)
                try:
                    outcome = _outcome(job, future.result)
                except BrokenProcessPool:
                    again.append(job)
                else:
                    yield outcome
            if again:
                again.extend(running.values())
                running.clear()
                pool.shutdown()
                while again:
                    yield _alone(function, again.popleft(), without)
                pool = _pool(workers, without)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _pool(workers: int, without: tuple[str, ...]) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(workers, initializer=settle, initargs=(without,))


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Keep a Ctrl-C waiting while a process may be started: neither it nor its start must be left half made.

    The new process inherits that the signal is blocked. Here another thread may be handed it all the same,
    and Python would raise KeyboardInterrupt in the middle of the start: it is kept till the block ends.
    """
    came: list[int] = []
    before: Any = None
    if main := threading.current_thread() is threading.main_thread():
        before = signal.signal(signal.SIGINT, lambda number, _: came.append(number))
    mask = getattr(signal, "pthread_sigmask", lambda *_: ())
    blocked = mask(getattr(signal, "SIG_BLOCK", 0), {signal.SIGINT})
    try:
        yield
    finally:
        mask(getattr(signal, "SIG_SETMASK", 0), blocked)
        if main:
            signal.signal(signal.SIGINT, before)
        if came:
            signal.raise_signal(signal.SIGINT)


def settle(without: tuple[str, ...] = ()) -> None:
    """Make a new process one of ours.

    Ctrl-C reaches every process of a terminal: the main one stops, a worker finishes its book. A parent
    that is killed cannot stop its workers, so they look for it themselves.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_DFL)
    parent = os.getppid()

    def end_with_parent() -> None:
        """Files in the making are swept by the next run."""
        while os.getppid() == parent:
            time.sleep(_LOOK_FOR_PARENT)
        os._exit(1)

    threading.Thread(target=end_with_parent, daemon=True).start()
    if without:
        sys.meta_path.insert(0, _Without(without))


class _Without(MetaPathFinder):
    """Makes `import` say that packages are not installed; they do not even appear in `sys.modules`."""

    def __init__(self, packages: tuple[str, ...]) -> None:
        self._packages = packages

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> None:
        if fullname.partition(".")[0] in self._packages:
            raise ModuleNotFoundError(f"{fullname} is not needed here", name=fullname)


def _alone(function: Callable[[Job], Result], job: Job, without: tuple[str, ...]) -> Outcome[Job, Result]:
    """Run one job in a process of its own, so that its death is known to be its own."""
    with _pool(1, without) as pool:
        try:
            with interrupts_held():
                future = pool.submit(function, job)
            return _outcome(job, future.result)
        except BrokenProcessPool:
            what = f"the process that worked on {job} was killed twice"
            hint = "it probably ran out of memory: use fewer --jobs, then run the command again"
            return Outcome(job, error=SourceError(what, hint=hint))
