"""A verb is declared once: by the signature and docstring of its function, and what stands beside it."""

from __future__ import annotations

import inspect
import json
import re
import runpy
import subprocess
import sys
import types
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict

import pytest
import typer
from typer.main import get_command
from typer.testing import CliRunner

import bookcoref_data as bc
from bookcoref_data import api
from bookcoref_data.api import options
from bookcoref_data.api.options import BookNames, Count, Mirror, PathLike, Proportion
from bookcoref_data.cli import declared
from bookcoref_data.cli.app import GROUPS, VERBS, declared_verb, make_app
from bookcoref_data.cli.declared import Given, Json, api_function, command_of, name_in_api, verb, words_of
from bookcoref_data.errors import BookcorefError

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "cli.md"
# Functions of the front door that are no verbs of their own, and why.
PYTHON_ONLY = {
    "load", "read", "write",  # a command reads and writes files anyhow
    "propose_cast",  # as a table; annotate --propose-cast
    # These are options of the verb of the same name:
    "annotate_many", "merge_agreement", "propose_casts", "rebuild_plan", "regenerate_check",
}  # fmt: skip


def test_every_function_of_the_front_door_is_a_verb():
    functions = {name for name in bc.__all__ if isinstance(getattr(bc, name), types.FunctionType)}
    verbs = {name_in_api(words) for words in VERBS if declared_verb(words)}
    assert functions == verbs | PYTHON_ONLY


def test_numbers_have_the_bounds_that_their_meaning_has():
    """Shares lie between 0 and 1; what may be none at all begins at 0, what needs one at 1."""
    found: dict[tuple[float | None, float | None], set[str]] = {}
    for words in filter(declared_verb, VERBS):
        for name, parameter in inspect.signature(api_function(name_in_api(words))).parameters.items():
            one = declared.declared(parameter)
            if one and (bounds := (one.option.least, one.option.most)) != (None, None):
                found.setdefault(bounds, set()).add(name)
    assert {bounds: " ".join(sorted(names)) for bounds, names in found.items()} == {
        (0, 1): "least least_kept least_matched most_text top_p until",
        (0, 8): "fingerprint_bits",
        (0, None): "at band_size bootstrap dev draws dry_run jobs judged least_options least_tokens "
        "longest_text most most_examples most_options prompt_price reply_price seed steps "
        "temperature test",
        (1, None): "bert_layers block_size budget epochs most most_tokens most_words parallel passages "
        "questions window_size",
    }  # fmt: skip


def test_the_front_door_lists_its_names_once():
    listed = Path(api.__file__).read_text(encoding="utf-8").split("PLACE_OF = ")[1].split("}.items()")[0]
    assert all(len(re.findall(rf"\b{name}\b", listed)) == 1 for name in api.__all__)
    assert set(api.__all__) <= set(dir(bc))


@pytest.mark.parametrize("words", [words for words in VERBS if words not in GROUPS or words == "pack"])
def test_arguments_are_described_once(words):
    """A docstring describes the arguments that are there, and none that a shared type describes."""
    function = api_function(name_in_api(words))
    _, described = words_of(function)
    parameters = inspect.signature(function).parameters
    assert described.keys() <= parameters.keys()
    for name, parameter in parameters.items():
        shared = (one := declared.declared(parameter)) is not None and one.option.help
        assert not (shared and name in described), f"{name} is described twice"
        assert shared or one is None or described[name], name
    assert declared.summary_of(words) == declared_verb(words).help.split("\n")[0]


def test_the_reference_is_what_the_declarations_say():
    for name in ("cli", "inputs", "formats"):
        made = runpy.run_path(str(PAGE.with_name(f"make_{name}.py")))["page"]()
        assert made == PAGE.with_name(f"{name}.md").read_text(encoding="utf-8"), f"run: make_{name}.py"


def test_every_option_is_in_the_reference():
    page = PAGE.read_text(encoding="utf-8")
    assert "`-b, --book TEXT`" in page
    for words in VERBS:
        section = page.partition(f"\n### {words}\n")[2].partition("\n### ")[0]
        command = get_command(make_app())
        for word in words.split():
            command = command.commands[word]
        for parameter in command.params:
            if not parameter.hidden and "completion" not in parameter.name and declared_verb(words):
                assert parameter.opts[0] in section or f"`{parameter.name.upper()}`" in section, words


def test_help_calls_values_by_what_a_person_types():
    shown = CliRunner().invoke(make_app(), ["questions", "evaluate", "--help"]).output
    for value in ("QUESTIONS", "--books PATH", "--model TEXT", "--parallel N", "--prompt-price X"):
        assert value in shown
    assert not re.search(r"<list|--[a-z-]+ <", shown)


# -- the rules ---------------------------------------------------------------------------------------


def build(
    source: PathLike,
    level: int = 3,
    *,
    books: BookNames = (),
    names: PathLike | Iterable[PathLike] = (),
    texts: Mapping[str, PathLike] | None = None,
    mirror: Mirror = None,
    unit: Literal["window", "book"] = "window",
    least_kept: Proportion = 0.5,
    guard: bool = True,
    joint: bool = False,
    listener: Listener | None = None,  # noqa: F821
) -> dict[str, Any]:
    """Build a thing. With `joint` it is one.

    Args:
        source: a file.
        level: how high, below `least_kept`.
        names: a list
            of names.
        texts: texts by key.
        unit: what is counted.
        least_kept: the least share.
        guard: stop in time.
        joint: all in one.

    Only Python has this.

    Raises:
        UsageError: never.
    """
    return dict(locals())


build.renamed = {"min_kept": "least_kept"}


@verb(flags={"level": "-l", "names": "-n"}, renamed={"top": "most"})
def build_(given: Given, joint: bool, most: Count = 4, json: Json = False) -> None:
    """Exit code 0.

    Args:
        most: lines to print.
    """
    print(repr({**given(), "most": most, "json": json, "its joint": joint}))


@pytest.fixture
def run(monkeypatch):
    monkeypatch.setattr(declared, "api_function", lambda name: build)
    made = replace(command_of(build_, "build"), examples=["bookcoref-data build x"])
    app = typer.Typer(rich_markup_mode=None)
    app.command(help=made.help, epilog=made.epilog)(made.callback)

    def invoke(line: str) -> Any:
        return CliRunner().invoke(app, line.split())

    return invoke


def test_what_was_not_typed_is_left_to_the_function(run):
    assert eval(run("x").stdout, {"PosixPath": Path, "WindowsPath": Path}) == {
        "source": Path("x"), "level": 3, "books": (), "names": (), "texts": None, "mirror": None,
        "unit": "window", "least_kept": 0.5, "guard": True, "joint": False, "listener": None, "most": 4,
        "json": False, "its joint": False,
    }  # fmt: skip


def test_types_become_options_by_rule(run):
    typed = run(
        "x -l 5 -b one --book two -n a --names b --text k=f --mirror https://m//x --unit book --joint "
        "--least-kept 0.7 --no-guard --most 2 --json"
    )
    found = eval(typed.stdout, {"PosixPath": Path, "WindowsPath": Path})
    assert found == {
        "source": Path("x"), "level": 5, "books": ["one", "two"], "names": [Path("a"), Path("b")],
        "texts": {"k": Path("f")}, "mirror": "https://m//x", "unit": "book", "least_kept": 0.7,
        "guard": False, "joint": True, "listener": None, "most": 2, "json": True, "its joint": True,
    }  # fmt: skip
    assert run("x --most=-1").exit_code == run("x --least-kept 1.1").exit_code == run("").exit_code == 2
    assert run("x --listener y").exit_code == 2
    assert "DOC_KEY=FILE" in str(run("x --text nothing").exception)


def test_old_names_go_on_with_a_note(run):
    old = run("x --min-kept 0.9 --top 7")
    assert "'least_kept': 0.9" in old.stdout
    assert "'most': 7" in old.stdout
    assert old.stderr == "note: --min-kept is called --least-kept now\nnote: --top is called --most now\n"
    assert "--min-kept" not in run("--help").stdout


def test_help_has_the_words_of_the_docstrings(run):
    told = run("--help").stdout
    assert "With --joint it is one." in told
    assert "How high, below --least-kept." in " ".join(told.split())
    assert "A list of names." in " ".join(told.split())
    assert "Only this book" in told
    assert "[window|book]" in told
    assert "Exit code 0." in told
    assert "Only Python" not in told
    assert "UsageError" not in told
    assert told.rstrip().endswith("Examples:\n    bookcoref-data build x")


def test_renamed_arguments_of_python_go_on_with_a_warning():
    @options.renamed(top="most")
    def count(most: int = 3) -> int:
        """Count."""
        return most

    with pytest.warns(DeprecationWarning, match="top is called most now"):
        assert count(top=5) == 5
    assert count(most=2) == count(2) == 2
    assert list(inspect.signature(count).parameters) == ["most"]
    assert bc.evaluate.renamed == {"top": "most"}


@pytest.mark.parametrize("name", [n for n in bc.__all__ if hasattr(getattr(bc, n), "renamed")])
def test_old_names_of_the_front_door_go_on(name, tmp_path):
    """The function is called with them; that the files are not there is what it finds first."""
    function = getattr(bc, name)
    needed = [n for n, p in inspect.signature(function).parameters.items() if p.default is p.empty]
    for old in function.renamed:
        with pytest.warns(DeprecationWarning, match=f"{old} is called"), pytest.raises(BookcorefError):
            function(**{n: tmp_path / n for n in needed}, **{old: 1})


def test_the_list_of_verbs_loads_no_verb():
    code = (
        "import sys, io, contextlib\nfrom bookcoref_data.cli.app import make_app\n"
        "with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):\n"
        "    make_app()(['-h'])\n"
        "import json; print(json.dumps([m for m in sys.modules if m.startswith('bookcoref_data.')]))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.removeprefix("bookcoref_data.") for name in json.loads(ran.stdout)}
    assert loaded <= {
        "api",
        "api.options",
        "cli",
        "cli.app",
        "cli.declared",
        "errors",
        "files",
        "guard",
        "progress",
    }


# -- options of a group ------------------------------------------------------------------------------


class Painting(TypedDict, total=False):
    """How a thing is painted.

    Args:
        colour: red, unless
            somebody says another.
        coats: how often.
    """

    colour: Annotated[str, options.Meaning(default="red")]
    coats: Annotated[int, options.Meaning(default=1, least=1)]


def plain_thing(size: int, *, replace: bool = False, **given: Unpack[Painting]) -> dict[str, Any]:  # noqa: F821
    """Make a thing.

    Args:
        size: its size
            in metres.
        replace: in place of an old one.

    Only Python has this.

    Raises:
        UsageError: never.
    """
    return {"size": size, "replace": replace, **given}


@pytest.fixture(params=["as it was written", "without indentation"])
def thing(request, monkeypatch):
    """A function with a group of options; Python 3.13 takes the indentation out of docstrings."""
    function = types.FunctionType(plain_thing.__code__, globals(), "thing", plain_thing.__defaults__)
    function.__kwdefaults__, function.__annotations__ = (
        plain_thing.__kwdefaults__,
        plain_thing.__annotations__,
    )
    cut = inspect.cleandoc if request.param == "without indentation" else lambda doc: indent_all(doc)
    function.__doc__ = cut(plain_thing.__doc__)
    monkeypatch.setattr(Painting, "__doc__", cut(Painting.__doc__))
    return options.grouped(function)


def indent_all(doc: str) -> str:
    """A docstring as Python 3.12 keeps it."""
    first, *rest = inspect.cleandoc(doc).split("\n")
    return "\n".join([first, *(f"    {line}" if line else "" for line in rest), "    "])


def test_a_group_of_options_is_documented_with_or_without_indentation(thing):
    assert list(inspect.signature(thing).parameters) == ["size", "colour", "coats", "replace"]
    told, arguments = words_of(thing)
    assert told == "Make a thing."
    assert arguments == {
        "size": "its size in metres.", "replace": "in place of an old one.",
        "colour": "red, unless somebody says another.", "coats": "how often.",
    }  # fmt: skip
    assert thing.__doc__.endswith("how often.\n\nOnly Python has this.\n\nRaises:\n    UsageError: never.")


def test_a_group_refuses_an_option_that_it_does_not_know(thing):
    assert thing(2) == {"size": 2, "replace": False, "colour": "red", "coats": 1}
    assert thing(2, coats=3)["coats"] == 3
    with pytest.raises(TypeError, match=r"thing\(\) got an unexpected keyword argument 'color'"):
        thing(2, color="blue")
    with pytest.raises(TypeError, match=r"got an unexpected keyword argument 'per_boook'"):
        bc.evaluate("a", "b", per_boook=True)


def test_no_extra_is_called_by_the_name_of_an_option():
    """ "Needs the extra `plots`" was printed as "needs the extra --plots"."""
    assert re.findall(r".*extras? --.*", PAGE.read_text(encoding="utf-8")) == []
