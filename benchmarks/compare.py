"""Two versions side by side: the same command in turns, in two equal installs, with its median ratio.

    python benchmarks/compare.py OLD NEW --pairs 9 -- list
    python benchmarks/compare.py OLD NEW --setup "rebuild --sample" -- verify bookcoref
    python benchmarks/compare.py OLD NEW -- annotate /path/novel.txt --cast auto --out {out}

OLD and NEW are commits. Each is checked out into a folder of its own, and both run once before anything
is counted, so that both have their `.pyc` files. Then they take turns, and who begins changes from pair to
pair: what disturbs the machine disturbs both. Printed are CPU seconds of user and system, and the ratio
new / old of every pair as median with quartiles and range; with `--instructions`, what `perf` counts.
`differs` is true when the quartiles of the ratio leave out 1. `{out}` in the command is a new folder for
each run. The kernel that the parser multiplies with is named.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KERNEL = "from bookcoref_data.annotation.embedded.parsing import kernel; print(kernel())"


def install(commit: str, folder: Path) -> Path:
    """The tree of a commit in a new folder."""
    packed = subprocess.run(["git", "-C", str(ROOT), "archive", commit], capture_output=True, check=True)
    folder.mkdir()
    subprocess.run(["tar", "-x", "-C", str(folder)], input=packed.stdout, check=True)
    return folder


class Version:
    """One install, with a cache and a working folder of its own."""

    def __init__(self, name: str, folder: Path) -> None:
        self.folder, self.work = install(name, folder), folder.with_name(f"{folder.name}-work")
        self.work.mkdir()
        self.env = {
            **os.environ, "PYTHONPATH": str(folder), "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0",
            "BOOKCOREF_DATA_HOME": str(self.work / "cache"),
        }  # fmt: skip

    def run(self, words: list[str], *, count: bool = False) -> tuple[float, int | None]:
        """CPU seconds of one run, and its instructions where they are counted."""
        out = self.work / "out"
        shutil.rmtree(out, ignore_errors=True)
        command = [
            sys.executable,
            "-m",
            "bookcoref_data",
            *(word.replace("{out}", str(out)) for word in words),
        ]
        counter = ["perf", "stat", "-x,", "-e", "instructions:u"] if count else []
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(
            [*counter, *command], cwd=self.work, env=self.env, capture_output=True, text=True, check=False
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode not in (0, 1):
            raise SystemExit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr}")
        counted = [line.split(",")[0] for line in done.stderr.splitlines() if "instructions" in line]
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return seconds, int(counted[0]) if counted and counted[0].isdigit() else None

    def kernel(self) -> str:
        """What the parser multiplies with; "" for a version that does not say."""
        done = subprocess.run(
            [sys.executable, "-c", KERNEL], env=self.env, capture_output=True, text=True, check=False
        )
        return done.stdout.strip()


def spread(values: list[float]) -> dict[str, float]:
    """Median, quartiles and range."""
    low, middle, high = (
        statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else values * 3
    )
    named = {"median": middle, "lower": low, "upper": high, "least": min(values), "most": max(values)}
    return {name: round(value, 4) for name, value in named.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument(
        "--setup", action="append", default=[], help="command that both run first; repeatable"
    )
    parser.add_argument("--instructions", action="store_true", help="count them once with perf")
    at = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    options, words = parser.parse_args(sys.argv[1:at]), sys.argv[at + 1 :]
    if not words:
        parser.error("say the command behind --")
    with tempfile.TemporaryDirectory() as folder:
        both = [
            Version(name, Path(folder) / side) for side, name in (("old", options.old), ("new", options.new))
        ]
        for version in both:
            for line in options.setup:
                version.run(shlex.split(line))
            version.run(words)
        seconds: tuple[list[float], list[float]] = ([], [])
        for pair in range(options.pairs):
            for side in (0, 1) if pair % 2 == 0 else (1, 0):
                seconds[side].append(both[side].run(words)[0])
        ratio = spread([new / old for old, new in zip(*seconds, strict=True)])
        counted = [version.run(words, count=True)[1] for version in both] if options.instructions else None
        found = {
            "command": " ".join(words), "old": options.old, "new": options.new, "pairs": options.pairs,
            "cpu_seconds": {"old": spread(seconds[0]), "new": spread(seconds[1])}, "ratio": ratio,
            "differs": not ratio["lower"] <= 1 <= ratio["upper"], "instructions": counted,
            "kernel": both[1].kernel(),
        }  # fmt: skip
        print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
