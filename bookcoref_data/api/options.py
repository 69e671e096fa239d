"""Types of arguments, and those arguments that mean the same in many verbs.

A function of the front door is the declaration of its verb: its signature and the `Args:` of its docstring
make the command, its `--help` and its page in the reference. An argument that many verbs share has a type
here, which says what it means.
"""

from __future__ import annotations

import functools
import inspect
import os
import typing
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, ParamSpec, TypedDict, TypeVar, get_type_hints

from ..errors import UsageError, require_choice
from ..files import path_of

P = ParamSpec("P")
Made = TypeVar("Made")


@dataclass(frozen=True, slots=True)
class Meaning:
    """What is known of an argument besides its type: its meaning, its short flag, its bounds."""

    help: str = ""
    flag: str = ""
    least: float | None = None
    most: float | None = None
    text: bool = False
    """Whether a path is passed on as it was typed, because it may be an address, too."""
    default: Any = None
    """Of an option of a group: what it is where nobody gives it."""


PathLike = str | os.PathLike[str]

CastLike = PathLike | Iterable[str] | None
Switch = Annotated[bool, Meaning(default=False)]
Count = Annotated[int, Meaning(least=0)]
Positive = Annotated[int, Meaning(least=1)]
Bits = Annotated[
    int, Meaning("bits per token by which other editions are followed; 0 for none.", least=0, most=8)
]
Port = Annotated[int, Meaning("port for `serve` (0: any free one).", least=0, most=65535)]
OpenPage = Annotated[bool, Meaning("open the page in the browser.", "--open")]
Strict = Annotated[bool, Meaning("exit with 1 if anything was left out.")]
Proportion = Annotated[float, Meaning(least=0, most=1)]

Jobs = Annotated[int, Meaning("processes; 0 means one per core.", "-j", least=0)]
CacheDir = Annotated[
    PathLike | None,
    Meaning("cache folder (else BOOKCOREF_DATA_HOME, else the platform's cache folder).", "--cache-dir"),
]
Offline = Annotated[bool, Meaning("open no network connection at all.")]
Mirror = Annotated[
    PathLike | None,
    Meaning("folder or address of a Gutenberg mirror (default: several addresses are tried).", text=True),
]
_ONE_BOOK = "only this book: doc_key, Gutenberg id, title, or a part of its doc_key"
BookNames = Annotated[Iterable[str], Meaning(f"{_ONE_BOOK}; repeatable.", "-b")]
OneBook = Annotated[str, Meaning(f"{_ONE_BOOK}.", "-b")]
TextsOnly = Annotated[bool, Meaning("accept a release without annotations; take texts alone.")]
Expect = Annotated[bool, Meaning("compare tokens with the published ones.")]
Replace = Annotated[bool, Meaning("allow the folder to lose books; your own files in it are kept.")]
Overwrite = Annotated[bool, Meaning("overwrite files that are there and were not written by this verb.")]
Format = Annotated[str | None, Meaning("format of the input, where its name does not say.")]

# What verbs read and write.
AnyBooks = Annotated[
    Any, Meaning("folder of `annotate`, data set folder, or a file in any format (JSONL, CoNLL ...).")
]
NamedBooks = Annotated[Any, Meaning("annotated books with named characters.")]
BooksFolder = Annotated[PathLike, Meaning("the data set folder, or another folder or file of books.")]
MadeFolder = Annotated[PathLike, Meaning("a folder written by `rebuild`, `annotate` or `create`.")]
DataSetOut = Annotated[PathLike, Meaning("the data set folder to write.")]
CastsOut = Annotated[PathLike, Meaning("the table to write (.jsonl or .jsonl.gz).")]
EditsOut = Annotated[PathLike | None, Meaning("file to write (else they are printed, or only returned).")]
AnswersOut = Annotated[
    PathLike | None, Meaning("file for the answers of a model; replies are kept beside it.")
]
TextsFolder = Annotated[PathLike, Meaning("folder of texts that `contexts_collect` wrote.")]
MadeBy = Annotated[str, Meaning("name written into each correction.")]
AskOnPage = Annotated[bool, Meaning("ask on a page on this machine, which saves the answers in `edits`.")]

# Of the annotators.
BackendName = Annotated[str, Meaning('"embedded" (CPU) or "hub" (the paper\'s models).')]
Language = Annotated[str, Meaning('"en": read texts as English that do not look like it.')]
Engine = Literal["local", "datatrove"]
Recipe = Annotated[PathLike | None, Meaning("recipe file instead of the one that ships.")]

# Of study guides and their texts.
Contact = Annotated[str | None, Meaning("mail address or web page for the operators of the service.")]
ArchiveDir = Annotated[PathLike | None, Meaning("folder of raw answers or pages (else in the cache).")]
Kind = Annotated[Literal["description", "analysis"], Meaning("what is written about a character.")]
Strategy = Literal["coref", "bm25", "lead", "random", "chunks", "none"]
Variant = Literal["base", "desc", "coref"]
SplitName = Literal["train", "validation", "test"]
GuideSplit = Annotated[SplitName, Meaning("split of the texts.")]

# Of the verbs that ask a model.
Endpoint = Annotated[
    str | None, Meaning("ask a server with the OpenAI interface, e.g. http://localhost:8000/v1.")
]
ModelName = Annotated[str | None, Meaning("name of the model at the endpoint.")]
Local = Annotated[str | None, Meaning("ask a transformers model: a folder or a name on the Hub.")]
Constrain = Annotated[
    Literal["none", "regex", "choice"],
    Meaning("at an endpoint: hold replies to a form (guided decoding of vLLM)."),
]
KeyVariable = Annotated[
    str, Meaning("environment variable with the API key; no key if it is unset.", default="OPENAI_API_KEY")
]
MostTokens = Annotated[int, Meaning("longest reply in tokens.", least=1)]
Temperature = Annotated[float | None, Meaning("how freely words are drawn; 0: the likeliest.", least=0)]
TopP = Annotated[float, Meaning("draw from the likeliest words that have this share.", least=0, most=1)]
DrawSeed = Annotated[int | None, Meaning("seed of the draws, where the server or model takes one.")]
Parallel = Annotated[int, Meaning("requests to the endpoint at a time.", least=1, default=4)]
PromptPrice = Annotated[float, Meaning("price of a million tokens in prompts.", least=0, default=0.0)]
ReplyPrice = Annotated[float, Meaning("price of a million tokens in replies.", least=0, default=0.0)]
DryRun = Annotated[int, Meaning("give the first N prompts; ask nothing.", least=0)]


class ModelOptions(TypedDict, total=False):
    """Which model is asked, how many requests at a time, and what it costs."""

    endpoint: Endpoint
    model: ModelName
    local: Local
    key_variable: KeyVariable
    parallel: Parallel
    prompt_price: PromptPrice
    reply_price: ReplyPrice


def grouped(function: Callable[P, Made]) -> Callable[P, Made]:
    """Options of a group, which a function takes as `**given: Unpack[Group]`, as parameters of its own.

    A group is a TypedDict. The `Meaning` of an option has its default, and its help, unless that stands in
    the docstring of the group, whose `Args:` become the function's. In the function `given` has a value for
    each option.
    """
    signature = inspect.signature(function)
    *own, given = signature.parameters.values()
    path = str(given.annotation).removeprefix("Unpack[").removesuffix("]").split(".")
    group = functools.reduce(getattr, path[1:], function.__globals__[path[0]])
    hints = get_type_hints(group, include_extras=True)
    meanings = {name: getattr(hint, "__metadata__", (Meaning(),))[-1] for name, hint in hints.items()}
    defaults = {name: meaning.default for name, meaning in meanings.items()}
    kinds = {name: (*typing.get_args(hint), None)[0] for name, hint in hints.items()}
    choices = {name: typing.get_args(k) for name, k in kinds.items() if typing.get_origin(k) is Literal}
    more = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default,
                          annotation=group.__annotations__[name].__forward_arg__)
        for name, default in defaults.items()
    ]  # fmt: skip
    at = next((i for i, one in enumerate(own) if one.name in ("replace", "progress")), len(own))
    signature = signature.replace(parameters=[*own[:at], *more, *own[at:]])

    @functools.wraps(function)
    def called(*args: P.args, **values: P.kwargs) -> Made:
        for name in values.keys() - signature.parameters.keys():
            raise TypeError(f"{function.__name__}() got an unexpected keyword argument {name!r}")
        for name in choices.keys() & values.keys():
            require_choice(name, str(values[name]), choices[name])
        return function(*args, **(defaults | values))

    # Since Python 3.13 the compiler takes the indentation out of docstrings; before, it is there.
    text, more_text = (inspect.cleandoc(one.__doc__ or "") for one in (function, group))
    if arguments := more_text.partition("Args:\n")[2]:
        before, mark, entries = text.partition("Args:\n")
        entries, end, behind = entries.partition("\n\n")
        text = f"{before}{mark}{entries}\n{arguments}{end}{behind}"
    called.__doc__ = text
    vars(called)["__signature__"] = signature
    return called


def renamed(**names: str) -> Callable[[Callable[P, Made]], Callable[P, Made]]:
    """The arguments that a function had under another name before; they go on, with a warning."""

    def wrap(function: Callable[P, Made]) -> Callable[P, Made]:
        @functools.wraps(function)
        def called(*args: P.args, **values: P.kwargs) -> Made:
            for old in names.keys() & values.keys():
                new = names[old]
                warnings.warn(f"{old} is called {new} now", DeprecationWarning, stacklevel=2)
                values[new] = values.pop(old)
            return function(*args, **values)

        vars(called)["renamed"] = names
        return called

    return wrap


def only_with(others: str, names: str) -> Callable[[Callable[P, Made]], Callable[P, Made]]:
    """The options `names` do something only where one of `others` is given, and are refused where none is.

    "engine=datatrove" stands for an option with that value, "!cast" for one that is not given.
    """

    def wrap(function: Callable[P, Made]) -> Callable[P, Made]:
        signature = inspect.signature(function)

        @functools.wraps(function)
        def called(*args: P.args, **values: P.kwargs) -> Made:
            bound = signature.bind_partial(*args, **values).arguments
            defaults = {name: one.default for name, one in signature.parameters.items()}
            require_used([(others, names)], bound, defaults)
            return function(*args, **values)

        vars(called)["only_with"] = [*getattr(function, "only_with", ()), (others, names)]
        return called

    return wrap


def require_used(
    rules: Iterable[tuple[str, str]], values: Mapping[str, Any], defaults: Mapping[str, Any],
    spell: Callable[[str], str] = lambda name: f"--{name.replace('_', '-')}",
) -> None:  # fmt: skip
    """Raises UsageError: an option is given that does nothing here, by the rules of `only_with`."""

    def given(option: str) -> bool:
        name, _, wanted = option.partition("=")
        value = values.get(name)
        return str(value) == wanted if wanted else value not in (None, (), [], defaults.get(name))

    for others, names in rules:
        how, beside = ("with", others[1:]) if others[0] == "!" else ("without", others)
        found = any(map(given, beside.split()))
        for name in names.split() if found == (how == "with") else ():
            if given(name):
                told = [f"{spell(n)} {v}".strip() for n, _, v in (b.partition("=") for b in beside.split())]
                what = f"{spell(name)} does nothing {how} {' or '.join(told)}"
                raise UsageError(what, hint=f"leave {spell(name)} out")


def path_or_none(value: PathLike | None) -> Path | None:
    """A path as the user gave it, "~" expanded; None stays None.

    Raises:
        UsageError: "~name" of somebody who has no home here.
    """
    return None if value is None else path_of(value)


def paths_of(values: PathLike | Iterable[PathLike]) -> list[Path]:
    """Paths from one path or several, "~" expanded."""
    if isinstance(values, str | os.PathLike):
        return [path_of(values)]
    return [path_of(value) for value in values]


def text_or_none(value: Any) -> str | None:
    """A value as text; None stays None."""
    return None if value is None else str(value)
