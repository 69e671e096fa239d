"""Many books through datatrove on one machine: books per hour, memory, cost of a restart after a kill.

    python benchmarks/bench_scale.py MIRROR --books 10000 --minutes 30

The texts of a Gutenberg mirror are repeated under other names (hard links), each with a cast proposed from
it. `annotate --engine datatrove` runs with one worker, is killed (SIGKILL, all its processes) after the given
time and started again. Printed are, as JSON: the time until the first book was finished, finished books an
hour after that, the memory of all processes each minute, the processor time of a book, how busy the machine
was, the size of what waits on disk, and the time that the second run needs until it has finished a new book.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from bookcoref_data.annotation.embedded.parsing import kernel

SAMPLE_SECONDS = 5.0


def repeat(mirror: Path, books: int, folder: Path) -> list[str]:
    """Link the texts of a mirror into `folder` until there are `books` of them; returns their names."""
    texts = sorted(mirror.glob("cache/epub/*/pg*.txt"), key=lambda path: path.stat().st_size)
    folder.mkdir(parents=True)
    names = []
    for number in range(books):
        source = texts[number % len(texts)]
        name = f"copy{number:05}_{source.stem}"
        try:
            os.link(source, folder / f"{name}.txt")
        except OSError:
            shutil.copyfile(source, folder / f"{name}.txt")
        names.append(name)
    return names


def use_of(leader: int) -> tuple[int, float]:
    """Bytes of resident memory and processor seconds of a session's processes together (Linux)."""
    memory = ticks = 0
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text().rpartition(")")[2].split()
            if int(fields[3]) == leader:
                memory += int(fields[21]) * os.sysconf("SC_PAGE_SIZE")
                # Its own time and that of children that have ended, in user and system mode.
                ticks += sum(map(int, fields[11:15]))
        except (OSError, ValueError, IndexError):
            continue
    return memory, ticks / os.sysconf("SC_CLK_TCK")


def finished(cache: Path) -> int:
    """Books that are finished in the cache."""
    return sum(1 for _ in (cache / "annotations").glob("*/annotation.jsonl"))


def watch(command: list[str], cache: Path, seconds: float, until_new: bool) -> dict[str, Any]:
    """Run for some time, or until a book more is finished, and kill everything."""
    start, before, first = time.monotonic(), finished(cache), None
    process = subprocess.Popen(
        command, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    memory: list[int] = []
    loads: list[float] = []
    processor = processor_at_first = 0.0
    while process.poll() is None and time.monotonic() - start < seconds:
        time.sleep(SAMPLE_SECONDS)
        used, processor = use_of(process.pid)
        memory.append(used)
        loads.append(os.getloadavg()[0])
        if first is None and finished(cache) > before:
            first, processor_at_first = time.monotonic() - start, processor
            if until_new:
                break
    ended = process.poll() is not None
    if not ended:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    per_minute = memory[:: max(1, round(60 / SAMPLE_SECONDS))]
    done = finished(cache) - before
    return {
        "seconds": round(time.monotonic() - start, 1),
        "seconds_to_first_book": None if first is None else round(first, 1),
        "finished": done,
        "processor_seconds": round(processor, 1),
        "processor_seconds_to_first_book": round(processor_at_first, 1),
        "processor_seconds_per_book": round((processor - processor_at_first) / (done - 1), 1)
        if done > 1
        else None,
        "mean_load_of_the_machine": round(sum(loads) / len(loads), 2) if loads else None,
        "ended_by_itself": ended,
        "megabytes_each_minute": [round(m / 1e6) for m in per_minute],
        "most_megabytes": round(max(memory, default=0) / 1e6),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("mirror", type=Path)
    parser.add_argument("--books", type=int, default=10_000)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--work", type=Path, default=Path("scale-work"), help="a new folder")
    options = parser.parse_args()
    work = options.work.absolute()
    work.mkdir()
    repeat(options.mirror, options.books, work / "texts")
    command = [
        str(Path(sys.executable).parent / "bookcoref-data"), "annotate", str(work / "texts"),
        "--cast", "auto", "--out", str(work / "out"), "--cache-dir", str(work / "cache"),
        "--engine", "datatrove", "--tasks", str(min(100, options.books)), "--jobs", "1",
    ]  # fmt: skip
    first = watch(command, work / "cache", options.minutes * 60, until_new=False)
    waiting = sum(path.stat().st_size for path in (work / "out" / "work").rglob("*") if path.is_file())
    again = watch(command, work / "cache", options.minutes * 60, until_new=True)
    after = first["seconds"] - (first["seconds_to_first_book"] or first["seconds"])
    print(
        json.dumps(
            {
                "books": options.books,
                "kernel": kernel(),
                "first_run": first,
                "books_per_hour": round(3600 * max(0, first["finished"] - 1) / after, 1) if after else None,
                "megabytes_of_job_files": round(waiting / 1e6, 1),
                "after_the_kill": again,
            },
            indent=1,
        )
    )


if __name__ == "__main__":
    main()
