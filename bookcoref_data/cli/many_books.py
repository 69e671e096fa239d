"""`annotate` for many books at once: which books, which cast for each, which engine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import UsageError
from .common import emit_json, emit_table, progress, say

if TYPE_CHECKING:
    from ..annotate.plan import Plan
    from ..workflows.annotate_many import BookJob, ScaleReport

ENGINES = ("local", "datatrove")
TEXTS = (".txt", ".text")


@dataclass(frozen=True, slots=True)
class Many:
    """What the command line says about many books. `slurm` is "partition" or "partition:time"."""

    out: Path
    plan: Plan
    characters: Path | None = None
    narrator: str = ""
    steps: tuple[str, ...] = ()
    jobs: int = 0
    engine: str = "local"
    tasks: int = 0
    slurm: str = ""
    cache_dir: Path | None = None


def holds_many(book: Path) -> bool:
    """Whether `book` is a folder, or a file of more than one tokenised book."""
    if book.is_dir():
        return True
    if ".jsonl" not in book.suffixes or not book.is_file():
        return False
    from ..formats.lines import read_lines

    return sum(1 for _, line in zip(range(2), filter(str.strip, read_lines(book)), strict=False)) > 1


def annotate_many(book: Path, wanted: Many, json: bool) -> int:
    """Annotate all books in `book` and write them to one folder; returns the exit code."""
    from ..workflows.annotate_many import annotate_books, collect

    if wanted.engine not in ENGINES:
        raise UsageError(f"unknown engine {wanted.engine!r}", expected=" or ".join(ENGINES))
    if wanted.slurm and wanted.engine != "datatrove":
        raise UsageError("--slurm needs --engine datatrove")
    paths = _paths(book)
    for path in paths:
        if path.suffix in TEXTS:  # a cast that is missing shall not show after hours
            _cast(wanted.characters, path, path.stem, ())

    def jobs() -> Iterator[BookJob]:
        return _jobs(book, paths, wanted)

    count = _count(book, paths)
    if wanted.slurm:
        return _submit(jobs, wanted, count)
    with progress() as listener:
        if wanted.engine == "datatrove":
            from ..workflows.datatrove_engine import run_local
            from ..workflows.pool import worker_count

            workers = worker_count(wanted.jobs)
            work, cache = wanted.out / "work", _cache(wanted)
            report = run_local(jobs(), work, cache, tasks=wanted.tasks or workers, workers=workers)
        else:
            report = annotate_books(jobs, count, workers=wanted.jobs, progress=listener)
    for key, error in report.failed.items() if wanted.engine == "datatrove" else ():
        say(f"{key} failed: {error}")
    files = collect(report, wanted.out) if report.finished else []
    show(report, files, json)
    return report.exit_code


def _cache(wanted: Many) -> Path:
    from ..sources.store import Store

    return Store.open(wanted.cache_dir).root


def _paths(book: Path) -> list[Path]:
    """The text files of a folder, in order; a dataset folder or a file of books stands for itself."""
    from ..formats.folder import is_folder

    if not book.is_dir() or is_folder(book):
        return [book]
    paths = sorted(p for p in book.iterdir() if p.suffix in TEXTS or ".jsonl" in p.suffixes)
    if not paths:
        raise UsageError(f"{book} holds no books", expected="*.txt, *.jsonl, or a dataset folder")
    return paths


def _count(book: Path, paths: list[Path]) -> int:
    from ..formats.folder import is_folder, read_build
    from ..formats.lines import read_lines

    if book.is_dir() and is_folder(book):
        return len(read_build(book).books)
    return sum(
        sum(1 for line in read_lines(p) if line.strip()) if ".jsonl" in p.suffixes else 1 for p in paths
    )


def _jobs(book: Path, paths: list[Path], wanted: Many) -> Iterator[BookJob]:
    from ..workflows.annotate_many import BookJob

    cache, seen = _cache(wanted), {}
    for path in paths:
        for source in _sources(path):
            key = source.book.doc_key
            if key in seen:
                raise UsageError(
                    f"two books have the key {key!r}", found=f"{seen[key]} and {path}", hint="rename one"
                )
            seen[key] = path
            cast = _cast(wanted.characters, path, key, source.names)
            yield BookJob(source, cast, wanted.plan, cache, wanted.narrator, wanted.steps)


def _sources(path: Path):
    """The books of one file or dataset folder, one at a time."""
    from ..formats.folder import is_folder, iter_folder
    from ..formats.jsonl import read
    from ..workflows.annotate import read_sources, source_of

    if path.is_dir() and is_folder(path):
        return (source_of(record) for _, record in iter_folder(path))
    if ".jsonl" in path.suffixes:
        return (source_of(record) for record in read(path, bare=True))
    return read_sources(path)


def _cast(characters: Path | None, path: Path, key: str, names: tuple[str, ...]):
    """The cast of one book: `<characters>/<file or document key>.txt`, one file for all, or the record's."""
    from ..annotate.cast import make_cast, parse_cast

    file = characters
    if characters is not None and characters.is_dir():
        found = (characters / f"{name}.txt" for name in (key, path.stem))
        file = next((p for p in found if p.is_file()), None)
    if file is None and names:
        return make_cast(names)
    if file is None:
        raise UsageError(
            f"no cast for {key}",
            expected=f"{(characters or Path('casts')) / key}.txt",
            hint="--characters FOLDER with a cast file per book; annotate BOOK --propose-cast makes one",
        )
    try:
        return parse_cast(file.read_bytes().decode("utf-8-sig"), str(file))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read the cast file {file}", found=error, hint="save it as UTF-8") from error


def _submit(jobs, wanted: Many, count: int) -> int:
    """Hand the books to Slurm; when they are done, the same command without --slurm collects them."""
    from ..workflows.datatrove_engine import Slurm, submit_slurm

    partition, _, limit = wanted.slurm.partition(":")
    slurm = Slurm(partition, *([limit] if limit else []), gpus_per_task=int(wanted.plan.backend == "hub"))
    work = wanted.out.absolute() / "work"
    done = submit_slurm(
        jobs(), work, _cache(wanted), slurm, tasks=wanted.tasks or count, workers=wanted.jobs or -1
    )
    say(f"Slurm job {done.number}: {done.tasks} tasks, script {done.script}")
    say("when it has ended, run the same command without --slurm: finished books are taken from the cache")
    return 0


def show(report: ScaleReport, files: list[Path], json: bool) -> None:
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
    rows = [
        (key, len(state.names), len(state.mentions), "kept" if key in report.reused else "made now")
        for key, state in states.items()
    ]
    rows += [(key, None, None, "failed") for key in report.failed]
    emit_table(("book", "cast", "mentions", "work"), rows)
    for file in files:
        say(f"wrote {file}")
