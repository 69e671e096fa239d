"""Commands from declarations: the signature and docstring of a function of the front door make its verb.

A verb is a function in a file of `cli/verbs`, marked with `@verb`, which prints what the function of the
front door returned; with --json that is printed as a document instead, and the verb is asked only if it has
an argument `json`: it says then what else is to be said. A verb whose first argument is `given` does all of
this itself: it gets a `Given`, which calls the function with the options that a person gave. The other
arguments are values of such options, or options that only a terminal has.
"""

from __future__ import annotations

import builtins
import inspect
import re
import sys
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import typer

from .. import api
from ..api import options
from ..errors import UsageError, require_choice

Function = Callable[..., Any]
_PLURALS = ("books", "budgets", "characters", "languages", "models", "splits", "texts")
SINGULAR = {"strategies": "strategy", **{word: word[:-1] for word in _PLURALS}}
"""An option that is repeated for each of several values is called after one of them."""
ENTRY = re.compile(r"    ((?:\w+)(?:, \w+)*): (.+)")


API_NAMES = {
    "edits apply": "apply_edits", "edits diff": "diff", "edits merge": "merge_edits",
    "import": "import_corpus", "list": "list_books",  # these are words of Python itself
}  # fmt: skip
"""Functions that are not called after their verb."""
_WORDS = {function: words for words, function in API_NAMES.items()} | {
    "annotate_many": "annotate", "link_train": "link-train", "merge_agreement": "merge --agreement",
    "propose_casts": "annotate --propose-cast", "rebuild_plan": "rebuild --dry-run",
    "regenerate_check": "regenerate --check",
}  # fmt: skip


Json = Annotated[bool, options.Meaning("print one JSON document instead of tables.")]
Markdown = Annotated[bool, options.Meaning("print Markdown tables.")]


class _OnlyPython:
    """A type of the front door that cannot be typed in a terminal: a book, a dict, a listener."""


class _Names(dict[str, Any]):
    def __missing__(self, name: str) -> Any:
        return _OnlyPython


_NAMES = _Names(vars(builtins) | vars(typing) | vars(options), o=options, Json=Json, Markdown=Markdown)


def words_of(function: Function) -> tuple[str, dict[str, str]]:
    """What the docstring of a function says, and of each argument. What stands behind these is for Python."""
    text, arguments, section, names = [], {}, "", [""]
    for line in (inspect.getdoc(function) or "").split("\n"):
        if line in ("Args:", "Raises:"):
            section = line
        elif section == "Args:" and (entry := ENTRY.fullmatch(line)):
            names = entry[1].split(", ")
            arguments.update(dict.fromkeys(names, entry[2]))
        elif section == "Args:" and line.startswith("        "):
            arguments.update({name: f"{arguments[name]} {line.strip()}" for name in names})
        elif not section:
            text.append(line)
    return "\n".join(text).strip(), arguments


@dataclass(frozen=True, slots=True)
class Declared:
    """An argument of a function as an option of a command. `kind` is bool, int, float, str or Path."""

    name: str
    kind: type
    many: bool
    mapping: bool
    choices: tuple[str, ...]
    optional: bool
    option: options.Meaning
    default: Any
    positional: bool


def declared(parameter: inspect.Parameter) -> Declared | None:
    """An argument by its annotation; None for one that only Python can give."""
    found, option = _flat(eval(str(parameter.annotation), {"__builtins__": {}}, _NAMES))
    iterables = [one for one in found if get_origin(one) in _ITERABLES]
    inner = {member for one in iterables for member in _flat(get_args(one)[0])[0]}
    choices = tuple(c for one in (*found, *inner) if get_origin(one) is Literal for c in get_args(one))
    mapping = any(get_origin(one) is _MAPPING for one in found)
    single = [one for one in found if one in _PLAIN or one in _PATHS]
    path = any(one in _PATHS for one in (*single, *inner)) or Any in found
    many = mapping or parameter.kind is inspect.Parameter.VAR_POSITIONAL
    many = many or bool(inner & _PATHS or (inner and not path and (choices or inner & _PLAIN)))
    plain = next((kind for kind in (bool, int, float) if kind in {*single, *inner}), None)
    if plain is None and not (path or choices or mapping or str in {*single, *inner}):
        return None
    kind = str if mapping or choices or option.text else plain or (Path if path else str)
    return Declared(
        parameter.name, kind, many, mapping, choices, NoneType in found, option, parameter.default,
        parameter.kind in (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.VAR_POSITIONAL),
    )  # fmt: skip


_ITERABLES = {get_origin(kind) for kind in (Iterable[str], Sequence[str], tuple[str, ...], list[str])}
_PLAIN = {bool, int, float, str}
_CALLED = {Path: "PATH", str: "TEXT", int: "N", float: "X"}
_MAPPING = get_origin(Mapping[str, str])
_PATHS = {Path, *(one for one in get_args(options.PathLike) if one is not str)}


def _flat(annotation: Any) -> tuple[list[Any], options.Meaning]:
    """The members of a union, and what is known of the argument besides."""
    option = options.Meaning()
    if get_origin(annotation) is Annotated:
        annotation, option = get_args(annotation)
    if get_origin(annotation) not in (Union, UnionType):
        return [annotation], option
    found = []
    for member in get_args(annotation):
        members, inner = _flat(member)
        found += members
        option = option if inner == options.Meaning() else inner
    return found, option


# -- verbs -------------------------------------------------------------------------------------------


def document_of(result: Any) -> Any:
    """A result as a document; a table as its rows."""
    return result.to_dicts() if isinstance(result, api.Table) else result.to_dict()


@dataclass(frozen=True, slots=True)
class verb:
    """Marks a function as a verb.

    `also`: other functions of the front door whose arguments are options, too; `without`: arguments of these
    that are none. `flags`: how options are spelled that have a short or another name, {"key": "-k"}; an
    argument before the `*` of a function that has no flag is typed without one. `renamed`: options of the
    terminal that had another name before. `code`: the exit code that a result stands for, by the verb's other
    arguments, too; of a verb that does not end by itself. `document`: what --json prints of a result.
    """

    also: str = ""
    without: str = ""
    flags: Mapping[str, str] = field(default_factory=dict)
    renamed: Mapping[str, str] = field(default_factory=dict)
    code: Callable[..., int] | None = None
    document: Callable[[Any], Any] = document_of

    def __call__(self, function: Function) -> Function:
        vars(function)["verb"] = self
        return function


def name_in_api(words: str) -> str:
    """The function of the front door that a verb calls."""
    return API_NAMES.get(words, re.sub("[ -]", "_", words))


def api_function(name: str) -> Function:
    """A function of the front door; no other file of it is imported."""
    found: Function = getattr(api, name)
    return found


def summary_of(words: str) -> str:
    """The first line of the docstring of a verb's function, read without importing it."""
    name = name_in_api(words)
    text = Path(options.__file__).with_name(f"{api.PLACE_OF[name][1:]}.py").read_text(encoding="utf-8")
    doc = text[text.index(f"\ndef {name}(") :].split('"""', 2)[1]
    return _tidy(doc.split("\n", 1)[0], {})


class Given:
    """What a person gave to a verb: calling it calls the function of the front door with it."""

    def __init__(self, function: Function, values: dict[str, Any]) -> None:
        self.function, self.values = function, values

    def __call__(self, function: Function | None = None, /, **more: Any) -> Any:
        """Call the verb's function, or another of the front door, with the options that it knows.

        `more` goes before what was typed. Long work shows how far it is.
        """
        from .common import progress

        function = function or self.function
        known = inspect.signature(function).parameters
        values = {name: value for name, value in (self.values | more).items() if name in known}
        starred = next((n for n, p in known.items() if p.kind is inspect.Parameter.VAR_POSITIONAL), "")
        several = values.pop(starred, ())
        if "progress" not in known:
            return function(*several, **values)
        with progress() as listener:
            return function(*several, **values, progress=listener)


@dataclass(frozen=True, slots=True)
class Command:
    """A verb ready for typer: its callback with a signature, its help, its examples."""

    callback: Function
    declared: Mapping[str, Declared]
    help: str
    examples: Sequence[str] = ()

    @property
    def epilog(self) -> str:
        """What its help ends with."""
        return "\n".join(("\b\nExamples:", *(f"  {example}" for example in self.examples)))


def command_of(handler: Function, words: str, *, group: bool = False) -> Command:
    """The command of a verb, from the declarations of its functions and its own arguments.

    Of a group that does something itself, nothing is required: its subcommands do not want it.
    """
    marks: verb = vars(handler)["verb"]
    functions = [api_function(name) for name in (name_in_api(words), *marks.also.split())]
    own = dict(list(inspect.signature(handler).parameters.items())[1:])
    json = inspect.Parameter("json", inspect.Parameter.KEYWORD_ONLY, default=False, annotation="Json")
    here = {**own, "json": json}
    texts, arguments = zip(*map(words_of, (*functions, handler)), strict=True)
    found: dict[str, Declared] = {}
    for function in (*functions, handler):
        parameters = inspect.signature(function).parameters if function is not handler else here
        for name, parameter in parameters.items():
            if name in found or name in marks.without.split() or name == "progress":
                continue
            if parameter.annotation is not parameter.empty and (one := declared(parameter)):
                # What Python may leave out and the verb's function takes without None is required here.
                mine = str(own[name].annotation) if name in own else "None"
                needed = one.default is parameter.empty or (one.default is None and "None" not in mine)
                if function is handler:
                    one = replace(one, positional=needed)
                found[name] = replace(one, default=None, optional=True) if group and needed else one
    help_of = {name: text for told in reversed(arguments) for name, text in told.items()}
    spelled = {name: _decls(one, marks.flags.get(name, "")) for name, one in found.items()}
    made = [
        _parameter(one, spelled[name], _tidy(one.option.help or help_of.get(name, ""), spelled))
        for name, one in found.items()
    ]
    old_names = {**getattr(functions[0], "renamed", {}), **marks.renamed}
    for old, new in old_names.items():
        hidden = replace(found[new], name=f"old_{old}", default=None, optional=True)
        flag = f"--{old.replace('_', '-')}"
        made.append(_parameter(hidden, (flag,), f"Now {spelled[new][-1]}.", hide=True))
    defaults = {name: one.default for name, one in found.items()}

    def run(context: typer.Context, **values: Any) -> None:
        if context.invoked_subcommand is not None:
            return
        for old, new in old_names.items():
            if (value := values.pop(f"old_{old}")) not in (None, ()):
                print(f"note: --{old.replace('_', '-')} is called {spelled[new][-1]} now", file=sys.stderr)
                values[new] = value
        values = {name: _value(found[name], value) for name, value in values.items()}
        for one in (*functions, handler):
            options.require_used(getattr(one, "only_with", ()), values, defaults, lambda n: _long(n, spelled))
        mine = {name: values[name] for name in own if name in values}
        call = Given(functions[0], {n: v for n, v in values.items() if v is not None or defaults[n] is None})
        if next(iter(inspect.signature(handler).parameters)) == "given":
            handler(call, **mine)
        else:
            _print(handler, call(), values["json"], mine)

    run.__name__ = handler.__name__
    made.append(inspect.Parameter("context", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context))
    vars(run)["__signature__"] = inspect.Signature(made)
    run.__annotations__ = {one.name: one.annotation for one in made}
    text = "\n\n".join(filter(None, (_tidy(texts[i], spelled) for i in (0, -1))))
    return Command(run, found, text)


def _print(handler: Function, result: Any, json: bool, values: dict[str, Any]) -> None:
    """Print a result as its verb does, or as a document. End with its exit code."""
    from .common import emit_json

    marks: verb = vars(handler)["verb"]
    if json:
        emit_json(marks.document(result))
    if not json or "json" in values:
        handler(result, **values)
    if marks.code and (code := marks.code(result, **values)):
        raise typer.Exit(int(code))


def _tidy(text: str, spelled: Mapping[str, tuple[str, ...]]) -> str:
    """Words for Python as words for a terminal: `out` is --out there, `contexts_build` is contexts build."""

    def word(found: re.Match[str]) -> str:
        name = found[1]
        if name in spelled:
            return _long(name, spelled)
        return f"`{_WORDS.get(name, name.replace('_', ' '))}`" if name in api.PLACE_OF else found[0]

    told = re.sub(r"`(\w+)`", word, text)
    return told if re.match(r"\w+_", told) else told[:1].upper() + told[1:]


def _long(name: str, spelled: Mapping[str, tuple[str, ...]]) -> str:
    """How an argument is called in a sentence."""
    return next((d for d in spelled[name] if d.startswith("--")), name.upper())


def _decls(one: Declared, flags: str) -> tuple[str, ...]:
    """How an option is spelled; () for an argument that is typed without a name."""
    flags = flags or ("-o" if one.name == "out" else one.option.flag)
    if one.positional and not flags:
        return ()
    spelled = flags.split()
    if not any(word.startswith("--") for word in spelled):
        name = SINGULAR.get(one.name, one.name) if one.many else one.name
        long = name.replace("_", "-")
        spelled.append(f"--{long}/--no-{long}" if one.kind is bool and one.default is True else f"--{long}")
    return tuple(spelled)


def _parameter(one: Declared, decls: tuple[str, ...], help: str, *, hide: bool = False) -> inspect.Parameter:
    kind: Any = list[one.kind] if one.many else one.kind  # type: ignore[name-defined]
    default = one.default
    if one.many and default is not inspect.Parameter.empty:
        default = None
    elif one.kind is Path and isinstance(default, str):
        default = Path(default)
    if default is None or one.optional:
        kind = kind | None
    limits = {"min": one.option.least, "max": one.option.most} if one.kind in (int, float) else {}
    if one.kind is int:
        limits = {name: None if value is None else int(value) for name, value in limits.items()}
    metavar = _CALLED.get(one.kind) if decls else one.name.upper()
    if one.mapping or one.choices:
        metavar = "KEY=FILE" if one.mapping else f"[{'|'.join(one.choices)}]"
    make: Any = typer.Option if decls else typer.Argument
    told: Any = Annotated[kind, make(*decls, help=help, metavar=metavar, hidden=hide, **limits)]
    return inspect.Parameter(one.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=told)


def take_lightly(command: Any, found: Mapping[str, Declared]) -> Any:
    """A command that takes words and paths as they are; typer loads pydantic to check even a None."""
    parameters_of, done = command.get_params, dict[int, Any]()

    def parameters(context: Any) -> list[Any]:
        given: list[Any] = parameters_of(context)
        for parameter in given:
            if id(parameter) not in done:
                done[id(parameter)] = parameter
                _take_lightly(parameter, found.get(parameter.name))
        return given

    command.get_params = parameters
    return command


def _take_lightly(parameter: Any, one: Declared | None) -> None:
    check = parameter.process_value

    def process(context: Any, value: Any) -> Any:
        several = parameter.multiple or parameter.nargs == -1
        # Click has a sign of its own for what was not given
        typed = value and isinstance(value, list | tuple if several else str | Path)
        if value is None and not parameter.required:
            value = () if several else None
        elif typed and one and one.kind in (str, Path):
            value = [one.kind(word) for word in value] if several else one.kind(value)
        elif one is None or several or type(value) is not one.kind or value != one.default:
            return check(context, value)
        return parameter.callback(context, parameter, value) if parameter.callback else value

    parameter.process_value = process


def _value(one: Declared, value: Any) -> Any:
    """A typed value as the function takes it. Raises UsageError: a word that is none of its choices."""
    for word in value if one.many and value else (value,):
        if one.choices and word is not None:
            require_choice(SINGULAR.get(one.name, one.name).replace("_", " "), word, one.choices)
    if not one.mapping or value is None:
        return value
    pairs = {}
    for pair in value:
        key, mark, path = pair.partition("=")
        if not mark or not key or not path:
            option = SINGULAR.get(one.name, one.name)
            raise UsageError(f"--{option} {pair!r} cannot be read", expected="DOC_KEY=FILE")
        pairs[key] = Path(path)
    return pairs
