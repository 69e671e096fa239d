"""Mutation testing of the pure rooms: change one operator or constant, run the room's tests, count survivors.

    python benchmarks/mutants.py --count 200 --seed 1                  # a sample over all pure rooms
    python benchmarks/mutants.py --room stitch --count 40 --seed 2     # one room

Each mutant turns one comparison, moves one integer by one, exchanges `and` and `or`, `+` and `-`, negates a
condition, or drops a `not`. The package is copied to a temporary folder; the checkout is never changed. A
mutant that no test notices is a survivor: either a test is missing or the code does not matter.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("words", "align", "books", "text", "stitch", "evaluate", "edits")
SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add,
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """One change of one file: which node (by its place in `ast.walk`), what it does, the line."""

    path: Path
    node: int
    change: str
    line: int


def mutants_of(path: Path) -> Iterator[Mutant]:
    """Every single change that this script knows to make in a file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    types = {id(n) for d in ast.walk(tree) for n in _annotations(d) for n in ast.walk(n)}
    for i, node in enumerate(ast.walk(tree)):
        line = getattr(node, "lineno", 0)
        if id(node) in types:
            continue
        if isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPS:
            yield Mutant(path, i, "comparison", line)
        elif isinstance(node, ast.BoolOp):
            yield Mutant(path, i, "and/or", line)
        elif isinstance(node, ast.BinOp) and type(node.op) in SWAPS:
            yield Mutant(path, i, "plus/minus", line)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            yield Mutant(path, i, "not", line)
        elif isinstance(node, ast.Constant) and type(node.value) is int:
            yield Mutant(path, i, "constant", line)
        elif isinstance(node, ast.If | ast.IfExp | ast.While):
            yield Mutant(path, i, "condition", line)


def _annotations(node: ast.AST) -> list[ast.AST]:
    found = [getattr(node, "annotation", None), getattr(node, "returns", None)]
    return [n for n in found if isinstance(n, ast.AST)]


def mutated(mutant: Mutant) -> str:
    """The source of the file with the change made."""
    tree = ast.parse(mutant.path.read_text(encoding="utf-8"))
    node = list(ast.walk(tree))[mutant.node]
    if isinstance(node, ast.Compare):
        node.ops[0] = SWAPS[type(node.ops[0])]()  # type: ignore[call-overload]
    elif isinstance(node, ast.BoolOp | ast.BinOp):
        node.op = SWAPS[type(node.op)]()  # type: ignore[assignment]
    elif isinstance(node, ast.UnaryOp):
        node.operand = ast.UnaryOp(ast.Not(), node.operand)
    elif isinstance(node, ast.Constant):
        node.value += 1  # type: ignore[operator]
    elif isinstance(node, ast.If | ast.IfExp | ast.While):
        node.test = ast.UnaryOp(ast.Not(), node.test)
    return ast.unparse(ast.fix_missing_locations(tree))


def sample(rooms: list[str], count: int, seed: int) -> list[Mutant]:
    """A sample of mutants: the same number from every file as far as it has so many."""
    chance = random.Random(seed)
    files = [p for room in rooms for p in sorted((ROOT / "bookcoref_data" / room).rglob("*.py"))]
    piles = [list(mutants_of(path)) for path in files]
    for pile in piles:
        chance.shuffle(pile)
    chosen: list[Mutant] = []
    while len(chosen) < count and any(piles):
        for pile in piles:
            if pile and len(chosen) < count:
                chosen.append(pile.pop())
    return chosen


def survives(mutant: Mutant, work: Path, seconds: int) -> bool:
    """Whether the tests of the mutant's room pass with the change."""
    target = work / mutant.path.relative_to(ROOT)
    original = target.read_text(encoding="utf-8")
    target.write_text(mutated(mutant), encoding="utf-8")
    room = mutant.path.relative_to(ROOT / "bookcoref_data").parts[0]
    tests = [f"tests/{room}", *(["tests/report", "tests/cli/test_evaluate.py"] if room == "evaluate" else [])]
    tests += ["tests/formats"] if room == "align" else []
    tests += ["tests/workflows/test_align.py", "tests/workflows/test_pack.py"] if room == "stitch" else []
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-n", "0", "-p", "no:cacheprovider", *tests]
    shared = os.environ.get("BOOKCOREF_SHARED", str(ROOT.parent / "shared"))
    environment = {**os.environ, "PYTHONPATH": str(work), "BOOKCOREF_SHARED": shared}
    try:
        done = subprocess.run(
            command, cwd=work, env=environment, capture_output=True, timeout=seconds, check=False
        )
        return done.returncode == 0
    except subprocess.TimeoutExpired:
        return False
    finally:
        target.write_text(original, encoding="utf-8")


def main() -> None:
    """Print each survivor and the share of mutants killed."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--room", action="append", choices=ROOMS)
    options.add_argument("--count", type=int, default=200)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--seconds", type=int, default=300, help="a mutant that runs longer is killed")
    given = options.parse_args()
    rooms = [room for room in given.room or ROOMS if (ROOT / "bookcoref_data" / room).is_dir()]
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        for name in ("bookcoref_data", "tests", "training", "benchmarks", "manifests", "recipes", "docs"):
            shutil.copytree(ROOT / name, work / name, ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("pyproject.toml", "README.md", "bookcoref.py"):
            shutil.copy(ROOT / name, work / name)
        chosen = sample(rooms, given.count, given.seed)
        alive = []
        for number, mutant in enumerate(chosen, 1):
            if survives(mutant, work, given.seconds):
                alive.append(mutant)
                print(f"survived: {mutant.path.relative_to(ROOT)}:{mutant.line} {mutant.change}", flush=True)
            if number % 10 == 0:
                print(f"{number} of {len(chosen)}, {len(alive)} survived", file=sys.stderr, flush=True)
    killed = len(chosen) - len(alive)
    print(f"{killed} of {len(chosen)} mutants killed ({killed / max(len(chosen), 1):.0%})")


if __name__ == "__main__":
    main()
