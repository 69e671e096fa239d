"""Annotate many books through datatrove's executors, on one machine or on a Slurm cluster.

    <work>/jobs/<number>.json    one book each, or where its text is; what a task reads
    <work>/errors/<number>.json  what went wrong with a book, in words
    <work>/logs/                 datatrove's own

Task r of n annotates the books whose number leaves the remainder r when divided by n. datatrove marks a
task as done by its number alone, so a changed setting would leave stale work: that mark is not used;
every book has its own content key in our cache, and a task passes over books that are there.
"""

import json
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from .. import errors
from ..errors import BookcorefError, SourceError, UsageError, needing
from ..files import write_text
from ..shapes import made_of
from .annotate_many import ReadingJob, Shelf, annotate_one
from .engine import Finished, JobResults


@dataclass(frozen=True, slots=True)
class Submission:
    """A Slurm job that was started. `number` is Slurm's, `script` the file that was submitted."""

    number: str
    script: Path
    tasks: int


def executors() -> Any:
    """datatrove's executors. Raises MissingExtraError with the install line."""
    with needing("datatrove", "datatrove", "--engine datatrove"):
        import datatrove.executor
    return datatrove.executor


def write_jobs(jobs: Iterable[ReadingJob] | Shelf, work: Path) -> list[tuple[str, Path]]:
    """Write a job for each book; gives its name and where it is when finished. Raises UsageError: no book."""
    for name in ("jobs", "errors"):
        for path in (work / name).glob("[0-9]" * 6 + ".json"):
            path.unlink()
    places = []
    for number, job in enumerate(jobs.jobs() if isinstance(jobs, Shelf) else jobs):
        value = replace(job, path=job.path.absolute()).to_dict()
        write_text(work / "jobs" / f"{number:06}.json", json.dumps(value, ensure_ascii=False), at_once=True)
        places.append((str(job), job.finished()))
    if not places:
        raise UsageError("there is no book to annotate", hint="check the folder, or the books you named")
    return places


def annotate_share(data: Any, rank: int = 0, world_size: int = 1, *, work: str) -> None:
    """What one task does: annotate its share of the books; errors of single books are written down."""
    for number, path in enumerate(sorted((Path(work) / "jobs").glob("*.json"))):
        if number % world_size != rank:
            continue
        try:
            annotate_one(made_of(ReadingJob, json.loads(path.read_text(encoding="utf-8"))))
        except BookcorefError as error:
            said = [None if v is None else str(v) for v in (error.expected, error.found)]
            fields = [type(error).__name__, error.what, *said, error.hint]
            write_text(Path(work) / "errors" / path.name, json.dumps(fields), at_once=True)


def run_local(
    jobs: Iterable[ReadingJob] | Shelf, work: Path, *, tasks: int = 1, workers: int = 1
) -> JobResults:
    """Run all tasks on this machine, `workers` at a time, and report as `annotate_books` does."""
    executor = executors().LocalPipelineExecutor
    places = write_jobs(jobs, work)
    known = [name for name, place in places if place.is_dir()]
    executor(
        pipeline=[partial(annotate_share, work=str(work))], tasks=min(tasks, len(places)), workers=workers,
        logging_dir=str(work / "logs"), skip_completed=False,
    ).run()  # fmt: skip
    return report_of(places, work, known)


def submit_slurm(
    jobs: Iterable[ReadingJob] | Shelf, work: Path, partition: str, time: str = "", *, gpus: int = 0,
    tasks: int = 1, workers: int = -1,
) -> Submission:  # fmt: skip
    """Hand all tasks to Slurm as a job array and return; the same command collects when they are done.

    `work` and the cache must be on a file system that the nodes share. `time` is Slurm's limit ("20:00:00").
    """
    slurm = executors().SlurmPipelineExecutor
    if shutil.which("sbatch") is None:
        raise SourceError("this machine has no sbatch", hint="run the command on a login node of the cluster")
    places = write_jobs(jobs, work)
    executor = slurm(
        pipeline=[partial(annotate_share, work=str(work))], tasks=min(tasks, len(places)), workers=workers,
        time=time or "24:00:00", partition=partition, qos="normal", cpus_per_task=1, mem_per_cpu_gb=4,
        gpus_per_task=gpus,
        job_name="bookcoref-data", logging_dir=str(work / "logs"), slurm_logs_folder=str(work / "slurm"),
        skip_completed=False, mail_type="NONE",
    )  # fmt: skip
    try:
        executor.run()
    except (OSError, subprocess.CalledProcessError) as error:
        raise SourceError("sbatch did not take the job", found=error, hint=f"see {work / 'slurm'}") from error
    return Submission(str(executor.job_id), work / "logs" / "launch_script.slurm", executor.tasks)


def report_of(places: Iterable[tuple[str, Path]], work: Path, reused: Iterable[str] = ()) -> JobResults:
    """What the tasks did: finished books, errors they wrote, and books that no task got to."""
    report, known = JobResults(), set(reused)
    for number, (name, place) in enumerate(places):
        error = work / "errors" / f"{number:06}.json"
        if error.is_file():
            # The error that a task wrote down, as an error of the same exit code
            kind, what, expected, found, hint = json.loads(error.read_text(encoding="utf-8"))
            made = getattr(errors, kind, BookcorefError)
            report.failed[name] = made(what, expected=expected, found=found, hint=hint)
        elif place.is_dir():
            report.note(name, Finished(place, name not in known))
        else:
            hint = f"the task was stopped or is still running: see {work / 'logs'}, then run again"
            report.failed[name] = SourceError(f"no task finished {name}", expected=str(place), hint=hint)
    return report
