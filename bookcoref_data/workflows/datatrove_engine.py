"""Annotate many books through datatrove's executors, on one machine or on a Slurm cluster.

    <work>/jobs/<number>.json    one book each: text, cast, plan; what a task reads
    <work>/errors/<number>.json  what went wrong with a book, in words
    <work>/logs/                 datatrove's own

Task r of n annotates the books whose number leaves the remainder r when divided by n. datatrove marks a
task as done by its number alone, so a changed setting would leave stale work: that mark is not used;
every book has its own content key in our cache, and a task passes over books that are there.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from ..errors import BookcorefError, MissingExtraError, SourceError, UsageError
from ..files import write_text
from .annotate_many import AnnotateJob, annotate_one, write_job
from .engine import Work


@dataclass(frozen=True, slots=True)
class Slurm:
    """What Slurm must be told. `time` is its limit ("20:00:00"), `env_command` sets up Python on a node."""

    TIME: ClassVar[str] = "24:00:00"

    partition: str
    time: str = TIME
    cpus_per_task: int = 1
    mem_per_cpu_gb: int = 4
    gpus_per_task: int = 0
    env_command: str = ""
    qos: str = "normal"


@dataclass(frozen=True, slots=True)
class Submission:
    """A Slurm job that was started. `number` is Slurm's, `script` the file that was submitted."""

    number: str
    script: Path
    tasks: int


def need_datatrove() -> None:
    """Raises MissingExtraError with the install line."""
    try:
        import datatrove.executor  # noqa: F401
    except ImportError as error:
        raise MissingExtraError.of("datatrove", "datatrove", "--engine datatrove") from error


def write_jobs(jobs: Iterable[AnnotateJob], work: Path) -> list[tuple[str, Path]]:
    """Write all books for the tasks to read; (document key, place in the cache when finished) of each.

    Raises:
        UsageError: no book.
    """
    for name in ("jobs", "errors"):
        for path in (work / name).glob("[0-9]" * 6 + ".json"):
            path.unlink()
    places = []
    for number, job in enumerate(jobs):
        write_job(job, work / "jobs" / f"{number:06}.json")
        places.append((str(job), job.finished()))
    if not places:
        raise UsageError("there is no book to annotate", hint="check the folder, or the books you named")
    return places


def annotate_share(data: Any, rank: int = 0, world_size: int = 1, *, work: str, cache: str) -> None:
    """What one task does: annotate its share of the books; errors of single books are written down."""
    for number, path in enumerate(sorted((Path(work) / "jobs").glob("*.json"))):
        if number % world_size != rank:
            continue
        try:
            annotate_one(AnnotateJob.from_json(path.read_text(encoding="utf-8"), Path(cache)))
        except BookcorefError as error:
            fields = [type(error).__name__, error.what, _text(error.expected), _text(error.found), error.hint]
            write_text(Path(work) / "errors" / path.name, json.dumps(fields))


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def run_local(
    jobs: Iterable[AnnotateJob], work: Path, cache: Path, *, tasks: int = 1, workers: int = 1
) -> Work:
    """Run all tasks on this machine, `workers` at a time, and report as `annotate_books` does."""
    need_datatrove()
    from datatrove.executor import LocalPipelineExecutor

    places = write_jobs(jobs, work)
    reused = [name for name, place in places if place.is_dir()]
    LocalPipelineExecutor(
        pipeline=_pipeline(work, cache),
        tasks=min(tasks, len(places)),
        workers=workers,
        logging_dir=str(work / "logs"),
        skip_completed=False,
    ).run()
    return report_of(places, work, reused)


def submit_slurm(
    jobs: Iterable[AnnotateJob], work: Path, cache: Path, slurm: Slurm, *, tasks: int = 1, workers: int = -1
) -> Submission:
    """Hand all tasks to Slurm as a job array and return; the same command collects when they are done.

    `work` and `cache` must be on a file system that the nodes share.

    Raises:
        SourceError: sbatch is not there or refuses.
    """
    need_datatrove()
    import subprocess

    from datatrove.executor import SlurmPipelineExecutor

    if shutil.which("sbatch") is None:
        raise SourceError("this machine has no sbatch", hint="run the command on a login node of the cluster")
    places = write_jobs(jobs, work)
    executor = SlurmPipelineExecutor(
        pipeline=_pipeline(work, cache),
        tasks=min(tasks, len(places)),
        workers=workers,
        time=slurm.time,
        partition=slurm.partition,
        cpus_per_task=slurm.cpus_per_task,
        mem_per_cpu_gb=slurm.mem_per_cpu_gb,
        gpus_per_task=slurm.gpus_per_task,
        env_command=slurm.env_command or None,
        qos=slurm.qos,
        job_name="bookcoref-data",
        logging_dir=str(work / "logs"),
        slurm_logs_folder=str(work / "slurm"),
        skip_completed=False,
        mail_type="NONE",
    )
    try:
        executor.run()
    except (OSError, subprocess.CalledProcessError) as error:
        raise SourceError("sbatch did not take the job", found=error, hint=f"see {work / 'slurm'}") from error
    return Submission(str(executor.job_id), work / "logs" / "launch_script.slurm", executor.tasks)


def report_of(places: Iterable[tuple[str, Path]], work: Path, reused: Iterable[str] = ()) -> Work:
    """What the tasks did: finished books, errors they wrote, and books that no task got to."""
    report, known = Work(), set(reused)
    for number, (name, place) in enumerate(places):
        error = work / "errors" / f"{number:06}.json"
        if place.is_dir():
            report.finished[name] = place
            (report.reused if name in known else report.made).append(name)
        elif error.is_file():
            report.failed[name] = _revived(json.loads(error.read_text(encoding="utf-8")))
        else:
            report.failed[name] = SourceError(
                f"no task finished {name}",
                expected=str(place),
                hint=f"the task was stopped or is still running: see {work / 'logs'}, then run again",
            )
    return report


def _revived(fields: list) -> BookcorefError:
    """The error that a task wrote down, as an error of the same exit code."""
    from .. import errors

    kind, what, expected, found, hint = fields
    made = getattr(errors, kind, BookcorefError)
    return made(what, expected=expected, found=found, hint=hint)


def _pipeline(work: Path, cache: Path) -> list:
    return [partial(annotate_share, work=str(work), cache=str(cache))]
