"""The command line is thin: a verb calls the function of the same name, which has the same options."""

from __future__ import annotations

import ast
import importlib
import inspect
from typing import Any

import pytest
from typer.main import get_command

import bookcoref_data as bc
from bookcoref_data.cli.app import make_app

# A verb of two words has a function with an underscore between them, for instance `cache_size`. These differ:
OTHER_NAMES = {
    "build": ("create",),  # the old name of the verb
    "edits apply": ("apply_edits",),
    "edits diff": ("diff",),
    "import": ("import_corpus",),  # `import` and `list` are words of Python itself
    "list": ("list_books",),
    # Verbs whose result depends on an option have a function for each result.
    "annotate": ("annotate", "annotate_many", "propose_casts"),
    "merge": ("merge", "merge_agreement"),
    "rebuild": ("rebuild", "rebuild_plan"),
}
PRINTING = {"json", "markdown", "help"}
"""How a result is printed: in Python it is a table, and `to_dict()` is what --json prints."""
# Options of a verb without a parameter of the same name, and why.
ONLY_OPTIONS = {
    "annotate": {"propose_cast"},  # a function of its own: propose_casts
    "cache clear": {"yes"},  # the question whether to remove; a function does not ask
    "clean": {"show_cuts"},  # printing: the table of the result
    "convert": {
        "strict",  # the exit code
        "from", "to",  # `from` is a word of Python: read_as, write_as
    },
    "import": {"strict"},  # the exit code
    "merge": {
        "ask", "annotator",  # a conversation in the terminal
        "agreement",  # a function of its own: merge_agreement
        "stats",  # printing: `statistics` of the result
    },
    "rebuild": {
        "from_gutenberg",  # the default of the function
        "exact",  # min_kept=None
        "dry_run",  # a function of its own: rebuild_plan
    },
    "regenerate": {"top"},  # printing: `characters(most)` of the result
    "show": {"most"},  # printing
    "view": {"open", "serve", "port"},  # a server and a browser
}  # fmt: skip
# Parameters of a function without an option of the same name, and why.
ONLY_PARAMETERS = {
    "annotate": {"books"},  # annotate_many and propose_casts: the verb's argument `book`
    "convert": {"read_as", "write_as"},  # --from and --to
}


def commands() -> dict[str, Any]:
    found = {}

    def walk(command, name):
        if command.callback is not None and name:
            found[name] = command
        for sub, child in getattr(command, "commands", {}).items():
            walk(child, f"{name} {sub}".strip())

    walk(get_command(make_app()), "")
    return found


COMMANDS = commands()


def functions_of(verb: str) -> tuple[str, ...]:
    return OTHER_NAMES.get(verb, (verb.replace(" ", "_"),))


def imported_from_api(function) -> set[str]:
    """The names that the module of a function imports from the front door, inside its functions."""
    tree = ast.parse(inspect.getsource(inspect.getmodule(inspect.unwrap(function))))
    return {
        alias.name
        for outer in ast.walk(tree)
        if isinstance(outer, ast.FunctionDef)
        for node in ast.walk(outer)
        if isinstance(node, ast.ImportFrom) and node.module == "api" and node.level
        for alias in node.names
    }


def options_of(verb: str) -> dict[str, bool]:
    """The options and arguments of a verb as a person types them; whether they take several values.

    Of an option with several long names each counts as one that may have a parameter.
    """
    found = {}
    for parameter in COMMANDS[verb].params:
        long = [o.lstrip("-").replace("-", "_") for o in parameter.opts if o.startswith("--")]
        names = long or [parameter.name]
        several = parameter.nargs == -1 or getattr(parameter, "multiple", False)
        found["|".join(names)] = several
    return found


def fits(option: str, several: bool, parameters: set[str]) -> set[str]:
    """The parameter that an option stands for: of the same name, of its plural, or without "no"."""
    wanted = set()
    for name in option.split("|"):
        wanted.add(name)
        if several:
            wanted |= {f"{name}s", f"{name.removesuffix('y')}ies", name.removesuffix("s")}
        wanted.add(name.removeprefix("no_"))
    return wanted & parameters


@pytest.mark.parametrize("verb", COMMANDS)
def test_the_verb_calls_the_public_functions(verb):
    for name in functions_of(verb):
        assert name in bc.__all__
        assert name in imported_from_api(COMMANDS[verb].callback)


def test_a_verb_calls_no_room_below_the_front_door_for_its_work():
    """The workflows that verbs still import are there for types, formats and conversations."""
    allowed = {
        "annotate": {"annotate", "annotate_many", "propose_casts"},
        "clean": {"clean"},
        "merge": {"merge"},
        "view": {"correct"},
        "create": {"plausibility"},
    }
    for verb, command in COMMANDS.items():
        module = inspect.getmodule(inspect.unwrap(command.callback))
        tree = ast.parse(inspect.getsource(module))
        functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        used = {
            node.module.removeprefix("workflows.")
            for function in functions
            for node in ast.walk(function)
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("workflows")
        }
        assert used <= allowed.get(module.__name__.rpartition(".")[2].rstrip("_"), set()), verb


@pytest.mark.parametrize("verb", COMMANDS)
def test_the_options_have_the_same_names(verb):
    api = importlib.import_module("bookcoref_data.api")
    parameters = {
        name
        for function in functions_of(verb)
        for name in inspect.signature(getattr(api, function)).parameters
    } - {"progress"}
    left = set(parameters)
    for option, several in options_of(verb).items():
        if set(option.split("|")) & (PRINTING | ONLY_OPTIONS.get(verb, set())):
            continue
        found = fits(option, several, parameters)
        assert found, f"--{option} of `{verb}` has no parameter"
        left -= found
    assert left == ONLY_PARAMETERS.get(verb, set()), f"parameters of {verb} without an option"


def test_exceptions_are_needed():
    """An exception for an option that is gone, or that has a parameter now, is to be taken off the list."""
    for verb, names in ONLY_OPTIONS.items():
        options = {name for option in options_of(verb) for name in option.split("|")}
        assert names <= options, verb


@pytest.mark.parametrize("verb", COMMANDS)
def test_defaults_are_the_same(verb):
    """An option that is not given means the same as an argument that is not given."""
    api = importlib.import_module("bookcoref_data.api")
    function = inspect.signature(getattr(api, functions_of(verb)[0])).parameters
    for parameter in COMMANDS[verb].params:
        if parameter.name not in function or function[parameter.name].default is inspect.Parameter.empty:
            continue
        here, there = parameter.default, function[parameter.name].default
        if parameter.required or (here is None and there in ((), "", None)):
            continue
        assert str(here) == str(there) or (not here and not there), f"{verb}: {parameter.name}"


def test_what_counts_as_the_same_name():
    assert fits("book", True, {"books"}) == {"books"}
    assert fits("no_guard", False, {"guard"}) == {"guard"}
    assert fits("strategy", True, {"strategies"}) == {"strategies"}
    assert not fits("book", False, {"books"})
    assert not fits("seed", False, {"seeds", "sed"})
