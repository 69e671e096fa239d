"""The command line is thin: a verb calls the function of the same name in `bookcoref_data`."""

from __future__ import annotations

import ast
import importlib
import inspect
import textwrap

import pytest
from typer.main import get_command

import bookcoref_data as bc
from bookcoref_data.cli.app import make_app

CALLS = {
    "cite": "cite", "convert": "convert", "create": "create", "edits apply": "apply_edits",
    "edits diff": "diff", "export": "export", "import": "import_corpus", "list": "list_books",
    "publish": "publish", "report": "report", "sample": "sample", "verify": "verify", "view": "view",
}  # fmt: skip
# Verbs with more to print or to ask than their function returns; they call the workflows below it.
OTHERS = {
    "align", "annotate", "build", "cache clear", "cache path", "cache size", "clean", "contexts ask",
    "contexts build", "contexts collect", "contexts compare", "contexts identify", "contexts references",
    "contexts score", "contexts tables", "evaluate", "harvest liscu", "harvest wikidata", "manifest show",
    "manifest write", "match", "merge", "pack", "pack inspect", "questions build", "questions evaluate",
    "rebuild", "regenerate", "show", "stats",
}  # fmt: skip


def commands() -> dict[str, object]:
    found = {}

    def walk(command, name):
        if command.callback is not None and name:
            found[name] = command.callback
        for sub, child in getattr(command, "commands", {}).items():
            walk(child, f"{name} {sub}".strip())

    walk(get_command(make_app()), "")
    return found


def imported_from_api(function) -> set[str]:
    """The names that a function imports from the front door."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(function))))
    return {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "api" and node.level
        for alias in node.names
    }


def test_every_verb_is_listed():
    assert set(commands()) == CALLS.keys() | OTHERS


@pytest.mark.parametrize("verb", CALLS)
def test_the_verb_calls_the_public_function(verb):
    name = CALLS[verb]
    assert name in bc.__all__
    assert name in imported_from_api(commands()[verb])


@pytest.mark.parametrize("verb", [verb for verb in CALLS if verb not in ("cite", "list", "sample")])
def test_the_options_have_the_same_names(verb):
    """Options of the function that the command line gives another name, or none, are listed here."""
    other = {"progress", "languages", "books"} | ({"annotation"} if verb == "create" else set())
    function = getattr(importlib.import_module("bookcoref_data.api"), CALLS[verb])
    wanted = set(inspect.signature(function).parameters) - other
    given = set(inspect.signature(inspect.unwrap(commands()[verb])).parameters)
    assert wanted <= given
