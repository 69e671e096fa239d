"""What small commands cost: CPU seconds, of several checkouts in turns.

    python -m benchmarks.bench_start [--runs 10] CHECKOUT ...

The sample is rebuilt, then each command runs as its own process, with compiled bytecode as an installed
package has it. Printed are medians. CPU time grows with the load: only columns of one run compare. The
last rows import, and do nothing with, what no small command can do without.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

OURS = ("-m", "bookcoref_data")
COMMANDS = {
    "list": (*OURS, "list"), "show": (*OURS, "show", "lamp"),
    "evaluate, JSONL": (*OURS, "evaluate", "-k", "s.jsonl", "-r", "s.jsonl"),
    "evaluate, folders": (*OURS, "evaluate", "-k", "bookcoref", "-r", "bookcoref"),
    "verify": (*OURS, "verify", "bookcoref"), "`import typer`": ("-c", "import typer"),
    "`import typer, pyarrow.parquet`": ("-c", "import typer, pyarrow.parquet"),
}  # fmt: skip


def cpu(words: tuple[str, ...], checkout: Path, folder: Path) -> float:
    """CPU seconds of a Python process."""
    own = {"PYTHONPATH": str(checkout), "PYTHONPYCACHEPREFIX": str(folder / "bytecode")}
    env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"} | own
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *words], cwd=folder, env=env, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("checkouts", nargs="+", type=lambda text: Path(text).resolve())
    parser.add_argument("--runs", type=int, default=10)
    given = parser.parse_args()
    print(f"| CPU seconds | {' | '.join(c.name for c in given.checkouts)} |")
    print(f"|---|{'---|' * len(given.checkouts)}")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        last = given.checkouts[-1]
        cpu((*OURS, "rebuild", "--sample"), last, folder)
        cpu((*OURS, "convert", "bookcoref", "s.jsonl"), last, folder)
        for name, words in COMMANDS.items():
            for one in given.checkouts:
                cpu(words, one, folder)  # bytecode is written
            rounds = [[cpu(words, one, folder) for one in given.checkouts] for _ in range(given.runs)]
            told = " | ".join(f"{median(column):.3f}" for column in zip(*rounds, strict=True))
            print(f"| {name} | {told} |", flush=True)


if __name__ == "__main__":
    main()
