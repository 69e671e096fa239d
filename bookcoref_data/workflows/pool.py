"""Run one function over many books in parallel; a book that fails or kills its worker stops no other."""

from __future__ import annotations

import os
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.abc import MetaPathFinder
from typing import Generic, TypeVar

from ..errors import BookcorefError, SourceError

Job = TypeVar("Job")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Outcome(Generic[Job, Result]):
    """What became of one job: a result, or the error that it met."""

    job: Job
    result: Result | None = None
    error: BookcorefError | None = None


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
        for job in jobs:
            yield _in_process(function, job)
        return
    yield from _in_pool(function, iter(jobs), workers, without)


def _in_process(function: Callable[[Job], Result], job: Job) -> Outcome[Job, Result]:
    try:
        return Outcome(job, result=function(job))
    except BookcorefError as error:
        return Outcome(job, error=error)


def _in_pool(
    function: Callable[[Job], Result], jobs: Iterator[Job], workers: int, without: tuple[str, ...]
) -> Iterator[Outcome[Job, Result]]:
    pool = _pool(workers, without)
    running: dict[Future, Job] = {}
    again: deque[Job] = deque()
    try:
        while True:
            while len(running) < workers + 1 and (job := next(jobs, None)) is not None:
                try:
                    with _interrupts_held():
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
                    yield Outcome(job, result=future.result())
                except BookcorefError as error:
                    yield Outcome(job, error=error)
                except BrokenProcessPool:
                    again.append(job)
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
    return ProcessPoolExecutor(workers, initializer=_settle, initargs=(without,))


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Keep a Ctrl-C waiting while a process may be started: it must not meet a worker half made.

    The worker inherits that it is blocked; this process hears of it as soon as the block ends.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _settle(without: tuple[str, ...]) -> None:
    """Make a new worker one of ours.

    Ctrl-C reaches every process of a terminal: the main one stops, a worker finishes its book.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
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
            with _interrupts_held():
                future = pool.submit(function, job)
            return Outcome(job, result=future.result())
        except BookcorefError as error:
            return Outcome(job, error=error)
        except BrokenProcessPool:
            return Outcome(
                job,
                error=SourceError(
                    f"the process that worked on {job} was killed twice",
                    hint="it probably ran out of memory: use fewer --jobs, then run the command again",
                ),
            )
