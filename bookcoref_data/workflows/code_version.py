"""A checksum of the code, facts and weights that can change an annotation, and of nothing else.

Finished work is kept under it: old work must not hide a better annotator, and a comment must not throw away
weeks of work. So docstrings, comments and layout do not count, nor do the other backends, nor rooms that
only move data.
"""

import ast
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from ..files import sha256_bytes
from ..resources import resource

_PACKAGE = Path(__file__).resolve().parent.parent
# The rooms whose code decides what is a mention of whom.
_DECIDING = frozenset({"alignment", "annotation", "books", "characters", "text", "words"})
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@lru_cache(maxsize=8)
def annotator_version(backend: str) -> str:
    """sha256 over what the backend can run: its folder, the shared code of the room, and what they import."""
    room = _PACKAGE / "annotation"
    start = [p for p in room.iterdir() if p.is_file()]
    start += [p for p in (room / backend).rglob("*") if p.is_file() and "__pycache__" not in p.parts]
    return _version([*start, *(room / "weights").glob(f"{backend}.*")])


@lru_cache(maxsize=1)
def reader_version() -> str:
    """sha256 over what makes tokens of a text: the code, and the recipe of cleaning that ships."""
    return _version([_PACKAGE / "text" / "read_book.py", resource("recipes", "clean.toml")])


def _version(start: list[Path]) -> str:
    """sha256 over files, the modules of deciding rooms that they import, and the facts that these load."""
    found: dict[Path, bytes] = {}
    while start:
        path = start.pop()
        if path in found:
            continue
        if path.suffix != ".py":
            found[path] = path.read_bytes()
            continue
        tree = ast.parse(path.read_bytes())
        for other in _imported(tree, path):
            # Not the modules of a backend (its own are here), nor rooms that decide nothing
            place, *rest = other.relative_to(_PACKAGE).parts
            ours = place != "annotation" or len(rest) == 1
            start += [other] if ours and place in _DECIDING and other not in found else []
        for node in ast.walk(tree):
            match node:
                case ast.Call(ast.Name("resource"), [ast.Constant(str(kind)), ast.Constant(str(name))]):
                    start.append(resource(kind, name))
            if not isinstance(node, _DOCUMENTED) or not node.body:
                continue
            first = node.body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                node.body = node.body[1:]
        found[path] = ast.dump(tree).encode()
    return sha256_bytes("".join(sorted(map(sha256_bytes, found.values()))).encode())


def _imported(tree: ast.Module, path: Path) -> Iterator[Path]:
    """The files of our own modules that a module imports, anywhere in it."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom) or not node.level:
            continue
        folder = path.parents[node.level - 1].joinpath(*(node.module or "").split("."))
        for name in ("", *(alias.name for alias in node.names)):
            base = folder / name if name else folder
            for file in (base.with_suffix(".py"), base / "__init__.py"):
                if file.is_file():
                    yield file
