"""Mutation testing of all rooms: change one operator or constant, run the tests that reach it.

    python benchmarks/mutants.py --count 200 --seed 1                  # a sample over all rooms
    python benchmarks/mutants.py --count 200 --seed 1 --part 1/2       # half of the same sample
    python benchmarks/mutants.py --room stitch --count 40 --seed 2     # one room
    python benchmarks/mutants.py --at scoring/modes.py:138            # every mutant of one line
    python benchmarks/mutants.py --count 40 --quick 4                 # no map: the four likeliest test files

Each mutant turns one comparison, moves one integer by one, exchanges `and` and `or`, `+` and `-`, negates a
condition, or drops a `not`. The repository is copied to a temporary folder; the checkout is never changed. A
mutant that no test notices is a survivor: either a test is missing or the code does not matter.

The first run measures which test reaches which function and how long it takes. `--map` keeps this in a file;
later runs measure a test file again when it has changed. A mutant then meets the tests that reach its
function, the quickest first, then the others that reach its file or belong to its room, up to `--most`
seconds in all; the first failure ends it. Tests marked `long` stay out. The tests of the networks need the
extra `gpu`; without torch they are skipped, and most mutants of `annotation/hub` survive.
With `--quick` a mutant meets the test files that name its module or function alone: more survive, none is
killed that would not be.
A failure counts where the same tests in the same order pass on the unchanged code.
A test that computes ten times as long as on the unchanged code (and at least ten seconds) counts as failed;
processor time counts, so that a busy machine kills no mutant. One that waits ten times as long as that is
ended; where the unchanged code is ended as well, the mutant is undecided, and the share does not count it.

Mutants that cannot change what the package does are listed with a reason in `equivalent_mutants.toml`. They
are drawn and run like all others and counted apart; one that a test kills is reported as wrongly listed.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import accumulate
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "bookcoref_data"
ROOMS = tuple(sorted(path.name for path in (ROOT / PACKAGE).iterdir() if (path / "__init__.py").is_file()))
PURE = ("words", "alignment", "books", "text", "stitch", "scoring", "edits")
# The tests that may kill: those of the rooms, and their neighbours that assert on the same functions.
NEIGHBOURS = (
    "tests/reports",
    "tests/formats",
    "tests/cli/test_evaluate.py",
    "tests/workflows/test_align.py",
    "tests/workflows/test_pack.py",
)
# Rooms that are not pure are mostly reached through the verbs.
VERBS = ("tests/workflows", "tests/api", "tests/cli")
SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add,
}  # fmt: skip
QUIET = ["-q", "-o", "addopts=", "--import-mode=importlib", "-p", "no:cacheprovider", "-p", "no:xdist"]
QUIET += ["-m", "not long"]
_FEW = 30
# A process that has imported everything but the package, and forks for each run of pytest. In the fork: no
# shrinking of failures (one is enough), and an end for tests that hang.
SERVER = """
import importlib, json, os, signal, sys, time
from contextlib import suppress
from pathlib import Path
import pytest
from hypothesis import HealthCheck, Phase, settings

settings.register_profile(
    "mutants", deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow],
    phases=[Phase.explicit, Phase.generate],
)
for name in ("numpy", "scipy.optimize", "scipy.sparse", "pyarrow.parquet", "yaml", "rich.table", "zstandard",
             "typer.testing", "hypothesis.strategies", "spacy", "requests", "huggingface_hub", "torch",
             "transformers"):
    with suppress(ImportError):
        importlib.import_module(name)

class Plugin:
    def __init__(self, request):
        self.request, self.seconds, self.failed, self.skipped = request, {}, [], []

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item):
        limit = self.request["limits"].get(item.nodeid, 600)
        for sign, timer, most in ((signal.SIGPROF, signal.ITIMER_PROF, limit),
                                  (signal.SIGALRM, signal.ITIMER_REAL, 10 * limit)):  # for what waits forever
            signal.signal(sign, lambda *_: os._exit(99))
            signal.setitimer(timer, most)
        begin = sum(os.times()[:4])
        yield
        self.seconds[item.nodeid] = sum(os.times()[:4]) - begin
        for timer in (signal.ITIMER_PROF, signal.ITIMER_REAL):
            signal.setitimer(timer, 0)

    def pytest_runtest_logreport(self, report):
        if report.skipped:
            self.skipped.append(report.nodeid)
        if report.failed:
            self.failed.append(report.nodeid)

    def pytest_sessionfinish(self):
        passed = {test: s for test, s in self.seconds.items() if test not in {*self.failed, *self.skipped}}
        Path("seconds.json").write_text(json.dumps([passed, self.failed]))

real = sys.stdout
for line in sys.stdin:
    request = json.loads(line)
    child = os.fork()
    if not child:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        os._exit(int(pytest.main(request["arguments"], plugins=[Plugin(request)])))
    end = time.monotonic() + request["seconds"]
    while not (done := os.waitpid(child, os.WNOHANG))[0] and time.monotonic() < end:
        time.sleep(0.02)
    if not done[0]:
        os.kill(child, signal.SIGKILL)
        done = os.waitpid(child, 0)
    print(os.waitstatus_to_exitcode(done[1]), file=real, flush=True)
"""


@dataclass(frozen=True)
class Mutant:
    """One change of one file of a repository: which node (by its place in `ast.walk`), what, and where.

    `function` is the function whose call runs the code ("Book.make"), "" for code that runs at import.
    """

    file: str
    node: int
    change: str
    line: int
    function: str


@dataclass
class Reach:
    """Which tests reach which functions of a file, and the seconds of each test on the unchanged code."""

    seconds: dict[str, float] = field(default_factory=dict)
    functions: dict[str, dict[str, set[str]]] = field(default_factory=dict)

    def tests_for(self, mutant: Mutant, most: float) -> list[str]:
        """The tests to run, those that reach the function first, the quickest first in each part.

        What goes beyond `most` seconds is left out, which can add a survivor but never a mutant killed.
        """
        of_file = self.functions.get(mutant.file, {})
        near = of_file.get(mutant.function, set())
        # The tests of the room come along: what a function leaves behind, another test may see, and code that
        # runs at import is reached by none.
        room = mutant.file.split("/")[1]
        far = {test for tests in of_file.values() for test in tests}
        far |= {test for test in self.seconds if test.startswith(f"tests/{room}/")}

        def speed(test: str) -> float:
            return self.seconds.get(test, 0)

        near = near & self.seconds.keys()
        ordered = sorted(near, key=speed) + sorted((far & self.seconds.keys()) - near, key=speed)
        spent = accumulate(map(speed, ordered))
        return [test for test, so_far in zip(ordered, spent, strict=True) if so_far <= most]


@dataclass
class Likely:
    """Without a map: the test files that name the module of a mutant or its function, the likeliest first."""

    texts: dict[str, str]
    most_files: int
    seconds: defaultdict[str, float] = field(default_factory=lambda: defaultdict(lambda: 30.0))

    @classmethod
    def of(cls, folder: Path, most_files: int) -> Likely:
        """All test files of a repository but those that run every verb."""
        paths = sorted((folder / "tests").rglob("test_*.py"))
        names = {path: path.relative_to(folder).as_posix() for path in paths}
        return cls({n: p.read_text("utf-8") for p, n in names.items() if "faults" not in n}, most_files)

    def tests_for(self, mutant: Mutant, most: float) -> list[str]:
        """At most so many files; of equally likely ones the shortest first."""
        module = mutant.file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        room, stem = mutant.file.split("/")[1], module.rpartition(".")[2]
        function = re.compile(rf"\b{re.escape(mutant.function.split('.')[0].lstrip('_'))}\b")

        def likely(name: str) -> int:
            text = self.texts[name]
            said = 4 * (module in text) + 3 * (f"{module.rpartition('.')[0]} import" in text)
            said += 3 * (bool(mutant.function) and bool(function.search(text))) + 4 * (f"test_{stem}" in name)
            return said + 3 * name.startswith(f"tests/{room}/") if said else 0

        found = sorted((-likely(name), len(self.texts[name]), name) for name in self.texts)
        return [name for less, _, name in found[: self.most_files] if less]


def mutants_of(root: Path, file: str) -> Iterator[Mutant]:
    """Every single change that this script knows to make in a file."""
    tree = ast.parse((root / file).read_text(encoding="utf-8"))
    ignored = {id(n) for d in ast.walk(tree) for n in _no_behaviour(d) for n in ast.walk(n)}
    functions = _functions(tree)
    for i, node in enumerate(ast.walk(tree)):
        change = None if id(node) in ignored else _change(node)
        if change is not None:
            yield Mutant(file, i, change, getattr(node, "lineno", 0), functions[id(node)])


def _change(node: ast.AST) -> str | None:
    if isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPS:
        return "comparison"
    if isinstance(node, ast.BoolOp):
        return "and/or"
    if isinstance(node, ast.BinOp) and type(node.op) in SWAPS:
        return "plus/minus"
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return "not"
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return "constant"
    return "condition" if isinstance(node, ast.If | ast.IfExp | ast.While) else None


def _no_behaviour(node: ast.AST) -> list[ast.AST]:
    """Parts of a node that only type checkers read: annotations, and the test of `if TYPE_CHECKING`."""
    found = [getattr(node, "annotation", None), getattr(node, "returns", None)]
    if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
        found.append(node)
    return [n for n in found if isinstance(n, ast.AST)]


def _functions(tree: ast.Module) -> dict[int, str]:
    """For each node the outermost function whose call runs it, "" for code that runs at import."""
    found: dict[int, str] = {}

    def visit(node: ast.AST, scope: str, function: str) -> None:
        found[id(node)] = function
        body: list[ast.stmt] = []
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            scope = f"{scope}.{node.name}".lstrip(".")
            body = [] if isinstance(node, ast.ClassDef) else node.body
        for child in ast.iter_child_nodes(node):
            visit(child, scope, function or (scope if child in body else ""))

    visit(tree, "", "")
    return found


@cache
def _functions_of_lines(source: str) -> dict[int, str]:
    """For each line the function that holds it; lines that run at import are left out."""
    tree = ast.parse(source)
    functions = _functions(tree)
    statements = [node for node in ast.walk(tree) if isinstance(node, ast.stmt) and functions[id(node)]]
    return {
        line: functions[id(node)]
        for node in statements
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }


def mutated(mutant: Mutant, source: str) -> str:
    """The source of the file with the change made."""
    tree = ast.parse(source)
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


def sample(root: Path, rooms: list[str], count: int, seed: int) -> list[Mutant]:
    """A sample of mutants: the same number from every file as far as it has so many."""
    chance = random.Random(seed)
    paths = [path for room in rooms for path in sorted((root / PACKAGE / room).rglob("*.py"))]
    piles = [list(mutants_of(root, path.relative_to(root).as_posix())) for path in paths]
    for pile in piles:
        chance.shuffle(pile)
    # There are more files than mutants: in the order of their names half of the rooms would never be drawn.
    chance.shuffle(piles)
    chosen: list[Mutant] = []
    while len(chosen) < count and any(piles):
        for pile in piles:
            if pile and len(chosen) < count:
                chosen.append(pile.pop())
    return chosen


def mutants_at(root: Path, places: list[str]) -> list[Mutant]:
    """All mutants of given lines, each written `room/module.py:line`, or of a whole file without a line."""
    chosen = []
    for place in places:
        name, _, line = place.partition(":")
        found = mutants_of(root, f"{PACKAGE}/{name}")
        chosen += [m for m in found if not line or m.line == int(line)]
    return chosen


class Undecided(Exception):
    """The tests end before their time on the unchanged code, too: the machine is too busy."""


class Workshop:
    """A copy of the repository in which mutants are made and tests run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in (PACKAGE, "tests", "training", "benchmarks", "manifests", "recipes", "docs"):
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("pyproject.toml", "README.md", "bookcoref.py"):
            shutil.copy(ROOT / name, folder / name)
        shared = os.environ.get("BOOKCOREF_SHARED", str(ROOT.parent / "shared"))
        environment = {**os.environ, "PYTHONPATH": str(folder), "BOOKCOREF_SHARED": shared}
        self.server = subprocess.Popen(
            [sys.executable, "-c", SERVER], cwd=folder, env=environment, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def pytest(self, arguments: list[str], seconds: float, limits: dict[str, float] | None = None) -> int:
        """Run pytest on the copy and return its exit code (99: a test hung; below 0: it was ended)."""
        assert self.server.stdin is not None
        assert self.server.stdout is not None
        all_arguments = [*QUIET, "--hypothesis-profile=mutants", *arguments]
        request = {"arguments": all_arguments, "seconds": seconds, "limits": limits or {}}
        print(json.dumps(request), file=self.server.stdin, flush=True)
        return int(self.server.stdout.readline())

    def close(self) -> None:
        """End the process that runs pytest."""
        assert self.server.stdin is not None
        self.server.stdin.close()
        self.server.wait()

    def kills(self, mutant: Mutant, tests: list[str], seconds: dict[str, float]) -> bool:
        """Whether a test fails with the change made, and passes in the same order without it.

        Most mutants fall to the first tests, so these run before the files of all others are imported.
        """
        few = tests[:_FEW]
        return self._is_noticed(mutant, few, seconds) or (
            len(few) < len(tests) and self._is_noticed(mutant, tests, seconds)
        )

    def _is_noticed(self, mutant: Mutant, tests: list[str], seconds: dict[str, float]) -> bool:
        target = self.folder / mutant.file
        original = target.read_text(encoding="utf-8")
        while tests:
            self._write(target, mutated(mutant, original))
            try:
                code = self._run(tests, seconds)
            finally:
                self._write(target, original)
            if code == 4:
                # The mutant breaks the import of a test file, or the names of the tests cannot be read.
                return self.pytest(["--co", *self._arguments(tests)], 120) == 0
            if code in (0, 5):
                return False
            said = json.loads((self.folder / "seconds.json").read_text())[1] if code == 1 else []
            failed = next(iter(said), "")
            again = tests[: tests.index(failed) + 1] if failed in tests else tests
            self._write(target, ast.unparse(ast.parse(original)))  # laid out like the mutant
            try:
                plain = self._run(again, seconds)
            finally:
                self._write(target, original)
            if plain == 0:
                return True
            if code != 1:
                raise Undecided
            print(f"left out, fails on the unchanged code behind others: {failed}", file=sys.stderr)
            left = [test for test in tests if test not in (failed, failed.partition("::")[0])]
            tests = left if len(left) < len(tests) else []
        return False

    def _arguments(self, tests: list[str]) -> list[str]:
        chosen = self.folder / "chosen.txt"
        chosen.write_text("\n".join(tests), encoding="utf-8")
        return ["-x", "-p", "no:cov", f"@{chosen}"]

    def _run(self, tests: list[str], seconds: dict[str, float]) -> int:
        """The exit code of pytest on the copy as it stands, up to the first failure."""
        limits = {test: max(10, 10 * seconds[test]) for test in tests}
        return self.pytest(self._arguments(tests), 120 + 10 * sum(limits.values()), limits)

    @staticmethod
    def _write(target: Path, source: str) -> None:
        """Write a module; two versions may have the same size and second, so its compiled form goes."""
        target.write_text(source, encoding="utf-8")
        for compiled in (target.parent / "__pycache__").glob(f"{target.stem}.*.pyc"):
            compiled.unlink()

    def measure(self, test_file: str) -> tuple[dict[str, float], dict[str, dict[str, list[str]]]]:
        """Run one test file: the seconds of its tests, and by module the functions that each reaches."""
        data = self.folder / ".coverage"
        data.unlink(missing_ok=True)
        arguments = [f"--cov={PACKAGE}", "--cov-context=test", "--cov-report=", test_file]
        code = self.pytest(arguments, 3600)
        if code not in (0, 1, 5):
            sys.exit(f"{test_file} cannot be run on the unchanged code (pytest ends with {code})")
        seconds, failed = json.loads((self.folder / "seconds.json").read_text())
        for test in failed:
            print(f"left out, fails on the unchanged code while it is measured: {test}", file=sys.stderr)
        return seconds, _functions_reached(data, self.folder)

    @staticmethod
    def digest_of(test_file: Path) -> str:
        """A digest of a test file and its fixtures."""
        paths = [test_file, test_file.parent / "conftest.py"]
        joined = b"".join(hashlib.sha256(path.read_bytes()).digest() for path in paths if path.exists())
        return hashlib.sha256(joined).hexdigest()


def _functions_reached(data: Path, folder: Path) -> dict[str, dict[str, list[str]]]:
    from coverage import CoverageData

    measured = CoverageData(str(data))
    measured.read()
    reached: dict[str, dict[str, list[str]]] = {}
    for name in measured.measured_files():
        file = Path(name).resolve().relative_to(folder.resolve()).as_posix()
        if file.split("/")[1] not in ROOMS:
            continue
        functions = _functions_of_lines(Path(name).read_text(encoding="utf-8"))
        tests: dict[str, set[str]] = {}
        for line, contexts in measured.contexts_by_lineno(name).items():
            for context in contexts:
                # "test|run", and "test|setup" for its fixtures; lines reached at import have no context.
                if context and line in functions:
                    tests.setdefault(context.rsplit("|", 1)[0], set()).add(functions[line])
        for test, of_test in tests.items():
            reached.setdefault(test, {})[file] = sorted(of_test)
    return reached


def tests_of(folder: Path, rooms: list[str]) -> list[Path]:
    """The test files that may notice a change in one of the rooms, each once."""
    verbs = VERBS if set(rooms) - set(PURE) else ()
    names = [*(f"tests/{room}" for room in rooms), *NEIGHBOURS, *verbs]
    places = [folder / name for name in names]
    found = [t for place in places for t in ([place] if place.suffix else sorted(place.rglob("test_*.py")))]
    return list(dict.fromkeys(found))


def measured_reach(shop: Workshop, rooms: list[str], kept: Path) -> Reach:
    """Which tests reach which functions: from the file of an earlier run where the tests are the same.

    The code may have changed since. A test that reaches a function only now may then run late or not at
    all, which can add a survivor but never a mutant killed.
    """
    old = json.loads(kept.read_text()) if kept.exists() else {}
    reach = Reach()
    tests = tests_of(shop.folder, rooms)
    for number, path in enumerate(tests, 1):
        name = path.relative_to(shop.folder).as_posix()
        if name not in old or old[name]["digest"] != shop.digest_of(path):
            print(f"measuring {name} ({number} of {len(tests)})", file=sys.stderr, flush=True)
            seconds, reached = shop.measure(name)
            old[name] = {"digest": shop.digest_of(path), "seconds": seconds, "reached": reached}
            kept.write_text(json.dumps(old))
        reach.seconds.update(old[name]["seconds"])
        for test, modules in old[name]["reached"].items():
            for file, functions in modules.items():
                for function in functions:
                    reach.functions.setdefault(file, {}).setdefault(function, set()).add(test)
    return reach


def equivalents() -> dict[tuple[str, str, str], str]:
    """The reason of each listed mutant, by file, text of the line and change; all are in the code."""
    listed = tomllib.loads((Path(__file__).parent / "equivalent_mutants.toml").read_text(encoding="utf-8"))
    reasons = {
        (f"{PACKAGE}/{m['file']}", m["line"], change): m["reason"]
        for m in listed.get("mutant", [])
        for change in m["changes"]
    }
    here = set()
    for file in {file for file, _, _ in reasons if (ROOT / file).is_file()}:
        lines = (ROOT / file).read_text(encoding="utf-8").splitlines()
        here |= {(file, lines[m.line - 1].strip(), m.change) for m in mutants_of(ROOT, file)}
    if gone := sorted(reasons.keys() - here):
        sys.exit(f"equivalent_mutants.toml lists what is no longer in the code: {gone}")
    return reasons


def run(shop: Workshop, chosen: list[Mutant], reach: Reach | Likely, most: float) -> dict[str, Counter[str]]:
    """Run the tests against every mutant, print those that live, and count the outcomes by room."""
    listed = equivalents()
    by_room: dict[str, Counter[str]] = defaultdict(Counter)
    for number, mutant in enumerate(chosen, 1):
        text = (shop.folder / mutant.file).read_text(encoding="utf-8").splitlines()[mutant.line - 1].strip()
        is_listed = (mutant.file, text, mutant.change) in listed
        try:
            killed = shop.kills(mutant, reach.tests_for(mutant, most), reach.seconds)
            outcome = "killed" if killed else "equivalent" if is_listed else "survived"
            if killed and is_listed:
                outcome = "wrongly listed as equivalent"
        except Undecided:
            outcome = "undecided"
        by_room[mutant.file.split("/")[1]][outcome] += 1
        if outcome != "killed":
            print(f"{outcome}: {mutant.file}:{mutant.line} {mutant.change} | {text}", flush=True)
        if number % 10 == 0:
            print(f"{number} of {len(chosen)}: {dict(_all(by_room))}", file=sys.stderr, flush=True)
    return by_room


def _all(by_room: dict[str, Counter[str]]) -> Counter[str]:
    return sum(by_room.values(), Counter())


def share(outcomes: Counter[str]) -> str:
    """How many mutants were killed, of those that are decided and not listed as equivalent."""
    counted = outcomes.total() - outcomes["equivalent"] - outcomes["undecided"]
    killed = counted - outcomes["survived"]
    return f"{killed} of {counted} mutants killed ({killed / max(counted, 1):.1%})"


def main() -> None:
    """Print each survivor and the share of mutants killed."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--room", action="append", choices=ROOMS)
    options.add_argument("--count", type=int, default=200)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--at", action="append", help="all mutants of room/module.py or room/module.py:line")
    options.add_argument("--map", type=Path, default=ROOT / ".mutation-map.json", help="kept between runs")
    options.add_argument("--most", type=float, default=60, help="seconds of tests for each mutant")
    options.add_argument("--part", default="1/1", help="2/3: the second of three equal parts of the sample")
    options.add_argument(
        "--quick", type=int, metavar="FILES", help="no map: so many test files for each mutant"
    )
    given = options.parse_args()
    part, parts = map(int, given.part.split("/"))
    with tempfile.TemporaryDirectory() as folder:
        shop = Workshop(Path(folder))
        rooms = [room for room in given.room or ROOMS if (shop.folder / PACKAGE / room).is_dir()]
        if given.at:
            chosen = mutants_at(shop.folder, given.at)
            rooms = sorted({place.partition("/")[0] for place in given.at})
        else:
            chosen = sample(shop.folder, rooms, given.count, given.seed)
        quick = given.quick and Likely.of(shop.folder, given.quick)
        reach = quick or measured_reach(shop, rooms, given.map)
        by_room = run(shop, chosen[part - 1 :: parts], reach, given.most)
        shop.close()
    for room, outcomes in sorted(by_room.items()):
        print(f"{room}: {share(outcomes)}")
    outcomes = _all(by_room)
    print(share(outcomes))
    print(f"{outcomes['survived']} survived; {outcomes['equivalent']} more are listed as equivalent")


if __name__ == "__main__":
    main()
