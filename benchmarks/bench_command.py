"""Time and memory of any command, for a table like the paper's Table 4.

    python benchmarks/bench_command.py [--runs 3] [--tokens 225506] -- COMMAND [ARGUMENT ...] [-- COMMAND ...]

Each command runs as its own process (without a shell), one after another; separate commands with `--`. Wall
and CPU seconds are the least of the runs, memory is the peak of the process and its children that were waited
for. Where `nvidia-smi` is there, the peak memory in use on the GPU is sampled ten times a second (that of
everybody on it, less what was in use before). `--tokens` adds tokens per second.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import threading
import time

from bookcoref_data.cli.common import emit_json, emit_table

COLUMNS = ("command", "wall s", "CPU s", "memory GiB", "GPU GiB", "tokens/s", "exit")


def gpu_mebibytes() -> int | None:
    """Memory in use on all GPUs, None without any."""
    if shutil.which("nvidia-smi") is None:
        return None
    query = ["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"]
    found = subprocess.run(query, capture_output=True, text=True, check=False)
    values = [int(line) for line in found.stdout.split() if line.isdigit()]
    return sum(values) if found.returncode == 0 and values else None


class GpuWatch:
    """Samples the GPU's memory while a command runs."""

    def __init__(self) -> None:
        self.before = gpu_mebibytes()
        self.peak = self.before
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)

    def __enter__(self) -> GpuWatch:
        if self.before is not None:
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        if self.before is not None:
            self._thread.join()

    def _sample(self) -> None:
        while not self._stop.wait(0.1):
            now = gpu_mebibytes()
            if now is not None and self.peak is not None:
                self.peak = max(self.peak, now)

    @property
    def gibibytes(self) -> float | None:
        return None if self.before is None or self.peak is None else (self.peak - self.before) / 1024


def measure(command: list[str]) -> dict[str, float | int | None]:
    """One run: seconds, peak memory, exit status."""
    with GpuWatch() as gpu:
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        # wait4 tells of this child and the children it waited for, not of earlier ones.
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
    unit = 1 if sys.platform == "darwin" else 1024
    return {
        "wall s": wall,
        "CPU s": usage.ru_utime + usage.ru_stime,
        "memory GiB": usage.ru_maxrss * unit / 2**30,
        "GPU GiB": gpu.gibibytes,
        "exit": process.returncode,
    }


def best(runs: list[dict[str, float | int | None]]) -> dict[str, float | int | None]:
    """The least time and the greatest memory of several runs."""
    least = {name: min(run[name] or 0 for run in runs) for name in ("wall s", "CPU s")}
    most = {
        name: max((run[name] for run in runs if run[name] is not None), default=None)
        for name in ("memory GiB", "GPU GiB", "exit")
    }
    return least | most


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--tokens", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    at = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    arguments = parser.parse_args(sys.argv[1:at])
    commands: list[list[str]] = [[]]
    for word in sys.argv[at + 1 :]:
        if word == "--":
            commands.append([])
        else:
            commands[-1].append(word)
    rows = []
    for command in filter(None, commands):
        found = best([measure(command) for _ in range(arguments.runs)])
        rate = arguments.tokens / found["wall s"] if arguments.tokens and found["wall s"] else None
        rows.append({"command": " ".join(command)} | found | {"tokens/s": rate})
    if not rows:
        parser.error("give a command after --")
    if arguments.json:
        emit_json(rows)
        return
    emit_table(COLUMNS, [[row[column] for column in COLUMNS] for row in rows])


if __name__ == "__main__":
    main()
