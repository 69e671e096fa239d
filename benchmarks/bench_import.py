"""What `import bookcoref_data` costs: fresh interpreters, beside one that imports nothing.

    python benchmarks/bench_import.py [--runs 15]

The three commands take turns, so that a busy machine slows down all of them alike. Printed are medians in
milliseconds of wall time and of processor time, and what each import adds to a bare interpreter (the honest
figure on a busy machine is processor time). "the front
door" also looks up every public name, which loads the modules that define them.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
import time

COMMANDS = {
    "pass": "pass",
    "import bookcoref_data": "import bookcoref_data",
    "the front door": "import bookcoref_data as bc; [getattr(bc, name) for name in bc.__all__]",
}


def measure(code: str) -> tuple[float, float]:
    """Wall and processor milliseconds of one fresh interpreter."""
    before, start = processor_seconds(), time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True)
    return 1000 * (time.perf_counter() - start), 1000 * (processor_seconds() - before)


def processor_seconds() -> float:
    """What all children of this process have used so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=15)
    runs = parser.parse_args().runs
    for code in COMMANDS.values():
        measure(code)  # the first run of each writes byte code
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in COMMANDS}
    for _ in range(runs):
        for name, code in COMMANDS.items():
            times[name].append(measure(code))
    wall = {name: statistics.median(w for w, _ in found) for name, found in times.items()}
    processor = {name: statistics.median(p for _, p in found) for name, found in times.items()}
    print(f"{'':24}{'wall ms':>10}{'processor ms':>14}{'adds (wall)':>13}{'adds (processor)':>18}")
    for name in COMMANDS:
        print(
            f"{name:24}{wall[name]:10.1f}{processor[name]:14.1f}{wall[name] - wall['pass']:13.1f}"
            f"{processor[name] - processor['pass']:18.1f}"
        )


if __name__ == "__main__":
    main()
