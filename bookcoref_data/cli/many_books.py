"""`annotate` for many books at once: which engine, and what is printed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import UsageError
from .common import emit_json, emit_table, progress, say

if TYPE_CHECKING:
    from ..annotate.plan import Plan
    from ..workflows.annotate_many import ManyBooks
    from ..workflows.engine import Work

ENGINES = ("local", "datatrove")


@dataclass(frozen=True, slots=True)
class Many:
    """What the command line says about many books. `slurm` is "partition" or "partition:time"."""

    out: Path
    plan: Plan
    characters: Path | None = None
    narrators: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    jobs: int = 0
    engine: str = "local"
    tasks: int = 0
    slurm: str = ""
    cache_dir: Path | None = None
    replace: bool = False


def holds_many(book: Path) -> bool:
    """Whether `book` is a folder, or a file of more than one tokenised book."""
    from ..workflows.annotate_many import holds_many

    return holds_many(book)


def annotate_many(book: Path, wanted: Many, json: bool) -> int:
    """Annotate all books in `book` and write them to one folder; returns the exit code."""
    from ..sources.store import Store
    from ..workflows.annotate_many import ManyBooks, annotate_books, collect
    from ..workflows.engine import worker_count
    from ..workflows.workload import workload

    if wanted.engine not in ENGINES:
        raise UsageError(f"unknown engine {wanted.engine!r}", expected=" or ".join(ENGINES))
    if wanted.slurm and wanted.engine != "datatrove":
        raise UsageError("--slurm needs --engine datatrove")
    cache = Store.open(wanted.cache_dir).root
    books = ManyBooks(book, wanted.plan, cache, wanted.characters, wanted.narrators, wanted.steps)
    books.check_casts()
    say(str(workload(books, worker_count(wanted.jobs))))
    if wanted.slurm:
        return _submit(books, wanted)
    with progress() as listener:
        if wanted.engine == "datatrove":
            from ..workflows.datatrove_engine import run_local

            workers = worker_count(wanted.jobs)
            report = run_local(
                books, wanted.out / "work", cache, tasks=wanted.tasks or workers, workers=workers
            )
        else:
            report = annotate_books(books.jobs, books.count(), workers=wanted.jobs, progress=listener)
    for key, error in report.failed.items() if wanted.engine == "datatrove" else ():
        say(f"failed: {key}: {error}")
    files = collect(report, wanted.out, replace=wanted.replace) if report.finished else []
    show(report, files, json)
    return report.exit_code


def _submit(books: ManyBooks, wanted: Many) -> int:
    """Hand the books to Slurm; when they are done, the same command without --slurm collects them."""
    from ..workflows.datatrove_engine import Slurm, submit_slurm

    partition, _, limit = wanted.slurm.partition(":")
    slurm = Slurm(partition, limit or Slurm.TIME, gpus_per_task=int(wanted.plan.backend == "hub"))
    work, tasks = wanted.out.absolute() / "work", wanted.tasks or books.count()
    done = submit_slurm(books, work, books.cache, slurm, tasks=tasks, workers=wanted.jobs or -1)
    say(f"Slurm job {done.number}: {done.tasks} tasks, script {done.script}")
    say("when it has ended, run the same command without --slurm: finished books are taken from the cache")
    return 0


def show(report: Work, files: list[Path], json: bool) -> None:
    """Print what was done: a row per book."""
    from ..workflows.annotate_many import read_state

    states = {key: read_state(folder) for key, folder in report.finished.items()}
    if json:
        books = [
            {"doc_key": k, "steps": list(s.done), "mentions": len(s.mentions), "notes": list(s.notes)}
            for k, s in states.items()
        ]
        emit_json(report.to_dict() | {"books": books, "files": [str(f) for f in files]})
        return
    # The books that a person should look at come first: failed ones, then those with most remarks.
    rows: list[tuple[str, int | None, int | None, int | None, str]] = [
        (key, None, None, None, "failed") for key in report.failed
    ]
    troubled = sorted(states.items(), key=lambda item: -len(item[1].notes))
    rows += [
        (
            key, len(state.names), len(state.mentions), len(state.notes),
            "kept" if key in report.reused else "made now",
        )
        for key, state in troubled
    ]  # fmt: skip
    emit_table(("book", "cast", "mentions", "remarks", "work"), rows)
    for file in files:
        say(f"wrote {file}")
