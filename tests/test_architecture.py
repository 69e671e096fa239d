"""The house rules: imports go one way, pure rooms stay pure, heavy packages load late."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "bookcoref_data"

FLOORS = [
    {
        "errors",
        "late",
        "progress",
        "guard",
        "files",
        "outputs",
        "resources",
        "shapes",
        "spacy_model",
        "chat_server",
        "words",
        "alignment",
        "books",
    },
    {"text", "stitch", "scoring", "formats", "edits"},
    {
        "sources",
        "characters",
        "annotation",
        "asking",
        "reports",
        "reading_page",
        "exports",
        "tasks",
        "sample_story",
        "publishing",
    },
    {"workflows"},
    {"api"},
    {"cli", "spacy_plugin"},
    {"__main__"},
]
FLOOR = {room: level for level, rooms in enumerate(FLOORS) for room in rooms}
# On the ground floor, `books` rests on errors, shapes and word lists, and the lists on the files of facts.
GROUND = {
    "books": {"errors", "late", "shapes", "words"},
    "guard": {"errors"},
    "files": {"errors", "guard"},
    "outputs": {"errors", "guard", "files"},
    "resources": {"errors", "files"},
    "shapes": {"errors", "files", "resources"},
    "spacy_model": {"errors", "files", "late", "resources"},
    "chat_server": {"errors", "late"},
    "errors": set(),
    "late": set(),
    "words": {"resources"},
    "alignment": {"errors"},
    "progress": set(),
}
HEAVY = {"datasets", "spacy", "polars", "pyarrow", "torch", "SPARQLWrapper", "gutenbergpy", "transformers",
         "matplotlib", "huggingface_hub", "scipy", "pandas", "onnxruntime", "datatrove"}  # fmt: skip
PURE = {"words", "alignment", "books", "text", "stitch", "scoring", "edits"}
IMPURE_MODULES = {
    "requests",
    "urllib",
    "socket",
    "http",
    "subprocess",
    "shutil",
    "tempfile",
    "time",
    "pathlib",
}

MODULES = sorted(PACKAGE.rglob("*.py"))


@cache
def tree_of(path: Path) -> ast.Module:
    """A module, parsed once for all rules."""
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    """All nodes of a module, walked once for all rules."""
    return tuple(ast.walk(tree_of(path)))


def room_of(path: Path) -> str:
    part = path.relative_to(PACKAGE).parts[0]
    return part.removesuffix(".py")


@cache
def imports(path: Path, *, top_level_only: bool = False) -> tuple[str, ...]:
    """The modules that a file imports, by their absolute names, looked up once for all rules."""
    return tuple(_imports(path, top_level_only))


def _imports(path: Path, top_level_only: bool):
    package = ["bookcoref_data", *path.relative_to(PACKAGE).parts[:-1]]
    nodes = _top_level(tree_of(path)) if top_level_only else nodes_of(path)
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                base = package[: len(package) - node.level + 1]
                module = ".".join([*base, *([node.module] if node.module else [])])
            else:
                module = node.module
            if module == "bookcoref_data":
                yield from (f"{module}.{alias.name}" for alias in node.names)
            else:
                yield module


def _top_level(node: ast.AST):
    """Import statements that run when the module is imported: not those inside functions."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test):
            continue
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child
        elif not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from _top_level(child)


def own_rooms(path: Path):
    for module in imports(path):
        parts = module.split(".")
        if parts[0] == "bookcoref_data" and len(parts) > 1 and parts[1] != "__version__":
            yield parts[1]


def upward(path: Path) -> list[str]:
    """Imports of a module that do not go down: to its own floor, to a floor above, or to no floor at all."""
    room = room_of(path)
    if room == "__init__":
        # The names of the front door, for type checkers; at run time they are imported when first used.
        return sorted(set(own_rooms(path)) - {"api"})
    assert room in FLOOR, f"{room} is in no floor: add it to docs/design.md and to this test"
    below = GROUND.get(room, {other for other, floor in FLOOR.items() if floor < FLOOR[room]})
    return sorted(set(own_rooms(path)) - below - {room})


def offenders(rule, paths=MODULES) -> dict[str, object]:
    """What breaks a rule, by module."""
    return {str(path.relative_to(PACKAGE)): broken for path in paths if (broken := rule(path))}


def test_imports_go_one_way():
    assert offenders(upward) == {}


def test_heavy_packages_are_imported_inside_functions():
    def heavy(path):
        top = {module.split(".")[0] for module in imports(path, top_level_only=True)}
        # spaCy itself imports its plugin, so spaCy is loaded already.
        return top & (HEAVY - {"spacy"} if room_of(path) == "spacy_plugin" else HEAVY)

    assert offenders(heavy) == {}


def calls_of(path: Path, names: set[str]) -> set[str]:
    return names & {n.func.id for n in nodes_of(path)
                    if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}  # fmt: skip


def test_pure_rooms_use_no_disk_network_or_clock():
    pure = [path for path in MODULES if room_of(path) in PURE]
    assert len({room_of(path) for path in pure}) == len(PURE)
    assert offenders(lambda p: {m.split(".")[0] for m in imports(p)} & IMPURE_MODULES, pure) == {}
    assert offenders(lambda p: calls_of(p, {"open", "print"}), pure) == {}


def test_only_the_command_line_prints():
    assert offenders(lambda p: calls_of(p, {"print"}), [p for p in MODULES if room_of(p) != "cli"]) == {}
    assert offenders(lambda p: calls_of(p, {"print"}), [p for p in MODULES if room_of(p) == "cli"])


def runs_what_it_reads(path: Path) -> set[str]:
    """Calls that run code which stands in what they read: pickles, arrays of objects, `eval`."""
    found = calls_of(path, {"eval", "exec"})
    for call in (n for n in nodes_of(path) if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)):
        name = ast.unparse(call.func)
        said = {k.arg: ast.unparse(k.value) for k in call.keywords}
        found |= (
            {name} if re.search(r"(?i)pickler?\.(loads?|Unpickler)$|^(dill|marshal)\.load", name) else set()
        )
        found |= {name} if name == "torch.load" and said.get("weights_only") != "True" else set()
        found |= {name} if name == "np.load" and said.get("allow_pickle", "False") != "False" else set()
    return found


def test_nothing_that_is_read_from_a_disk_can_run_code():
    """A work folder may come from somebody else. What is run was never on a disk: the pickle of a queue, and
    the annotations of our own functions."""
    memory = {"workflows/annotate_many.py": {"ForkingPickler.loads"}, "cli/declared.py": {"eval"}}
    assert offenders(runs_what_it_reads) == memory


def test_the_rules_see_what_breaks_them(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "PACKAGE", tmp_path)
    (tmp_path / "books").mkdir()
    bad = tmp_path / "books" / "bad.py"
    bad.write_text(
        "import torch\nfrom ..workflows import engine\nfrom ..errors import plural\nprint(open('x'))\n"
    )
    assert upward(bad) == ["workflows"]
    assert {m.split(".")[0] for m in imports(bad, top_level_only=True)} & HEAVY == {"torch"}
    assert calls_of(bad, {"open", "print"}) == {"open", "print"}
    worse = tmp_path / "books" / "worse.py"
    worse.write_text(
        "import pickle\npickle.loads(b)\ntorch.load(p)\nnp.load(p, allow_pickle=True)\neval(x)\n"
    )
    assert runs_what_it_reads(worse) == {"pickle.loads", "torch.load", "np.load", "eval"}


def loaded_after(statement: str) -> set[str]:
    code = f"import sys; {statement}; print(' '.join(m.split('.')[0] for m in sys.modules))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(out.stdout.split())


@pytest.mark.parametrize("statement", [
    "import bookcoref_data",
    "import bookcoref_data.cli.app as a; a.make_app()",
    "import bookcoref_data.books, bookcoref_data.scoring, bookcoref_data.stitch, bookcoref_data.text",
])  # fmt: skip
def test_importing_pulls_in_nothing_heavy(statement):
    assert not loaded_after(statement) & HEAVY


def _run(node: ast.AST):
    """All nodes but those that are there for types alone."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test):
            continue
        yield child
        yield from _run(child)


def modules_imported(path: Path, names: dict[str, Path]) -> set[str]:
    """Our own modules that a file imports anywhere when it runs, inside functions, too."""
    package = list(path.relative_to(PACKAGE.parent).with_suffix("").parts[:-1])
    found = set()
    for node in _run(tree_of(path)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            for alias in node.names:
                inner = f"{module}.{alias.name}"
                found.add(inner if inner in names else module)
    return found & names.keys()


def circles(graph: dict[str, set[str]]) -> list[str]:
    import graphlib

    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        return list(error.args[1])
    return []


def test_no_module_imports_itself_in_a_circle():
    names = {
        ".".join(p.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): p for p in MODULES
    }
    # The package itself is the front door: it offers all verbs, and the rooms take only the version from it.
    names.pop("bookcoref_data")
    graph = {name: modules_imported(path, names) - {name} for name, path in names.items()}
    assert len(graph["bookcoref_data.workflows.rebuild"]) > 5  # the imports are seen
    assert circles(graph) == []
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a"}})


MOST_LINES = 60


def lines_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return function.end_lineno - function.lineno + 1


def test_no_function_is_longer_than_a_page():
    long = [
        f"{path.relative_to(PACKAGE)} {node.name}: {size} lines"
        for path in MODULES
        for node in nodes_of(path)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and (size := lines_of(node)) > MOST_LINES
    ]
    assert long == []
    assert lines_of(ast.parse("def f():" + "\n x" * 60).body[0]) == MOST_LINES + 1


# The same concept in two places: the steps of the two ways to annotate have the names that the paper gives.
# And in `annotation/hub/weights.py`, which reads files of PyTorch, "state" is PyTorch's word for all weights.
SHARED_NAMES = {"LinkStep", "FilterStep", "State", "Mention", "Character", "Quote"}


def places_of_classes(sources: dict[str, ast.Module]) -> dict[str, list[str]]:
    """For each class the places that define it, or that use its name as a shorthand (`Row = dict[...]`)."""
    classes: dict[str, list[str]] = {}
    short: dict[str, list[str]] = {}
    for place, tree in sources.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                classes.setdefault(node.name, []).append(place)
        for node in tree.body:
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Subscript | ast.BinOp):
                for name in (target.id for target in node.targets if isinstance(target, ast.Name)):
                    short.setdefault(name, []).append(place)
    return {name: [*places, *short.get(name, [])] for name, places in classes.items()}


def test_classes_that_speak_of_a_book_stand_in_the_glossary():
    glossary = (ROOT / "docs" / "design.md").read_text(encoding="utf-8").split("\n## Decisions")[0]
    sources = {p.relative_to(PACKAGE).as_posix(): tree_of(p) for p in MODULES}
    found = {
        name
        for name in places_of_classes(sources)
        if re.search("Book|Record|Document|Source|Annotat", name) and not name.startswith("_")
    }
    assert {name for name in found if f"`{name}`" not in glossary} == set()
    assert {"Book", "Record", "Annotation"} <= found  # the classes are seen


def test_the_name_of_a_class_has_one_meaning():
    """Commands are left out: their options are called by what they hold."""
    sources = {p.relative_to(PACKAGE).as_posix(): tree_of(p) for p in MODULES}
    places = places_of_classes({place: s for place, s in sources.items() if not place.startswith("cli/")})
    twice = {name: found for name, found in places.items() if len(found) > 1 and name not in SHARED_NAMES}
    assert twice == {}
    assert places["Table"] == ["api/tables.py"]  # the classes are seen
    example = {"a": "class Span: ...", "b": "def f():\n class Span: ...", "c": "Span = tuple[int]"}
    assert places_of_classes({place: ast.parse(source) for place, source in example.items()}) == {
        "Span": ["a", "b", "c"]
    }


def names_in(path: Path) -> set[str]:
    """Every name that a module defines or imports."""
    found = set()
    for node in nodes_of(path):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.alias):
            found.add(node.asname or node.name)
    return found


@pytest.mark.parametrize("folder", ["benchmarks", "training", "examples"])
def test_what_stands_beside_the_package_imports_names_that_are_there(folder):
    """A benchmark could not start: it imported a function that had gone."""
    wrong = []
    for path in sorted((ROOT / folder).rglob("*.py")):
        for node in nodes_of(path):
            if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith("bookcoref_data."):
                continue
            place = ROOT.joinpath(*node.module.split("."))
            file = place.with_suffix(".py") if place.with_suffix(".py").is_file() else place / "__init__.py"
            beside = {inner.stem for inner in place.glob("*")} if place.is_dir() else set()
            lacks = {alias.name for alias in node.names} - names_in(file) - beside
            wrong += [f"{path.name}: {node.module}.{name}" for name in sorted(lacks)]
    assert wrong == []
