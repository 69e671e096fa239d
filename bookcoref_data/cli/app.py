"""The typer application: which verbs there are, in what order, and how the program ends.

A verb is built when it is looked up: `--help` of all verbs reads only the first lines of their docstrings.
"""

import io
import os
import re
import signal
import sys
import threading
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from .. import __version__
from ..errors import BookcorefError, SourceError, UsageError
from .declared import Command, command_of, summary_of, take_lightly

HELP = """Rebuild, verify, annotate, score and explain book-scale coreference data.

First steps without network: `bookcoref-data rebuild --sample`, then `bookcoref-data verify bookcoref`.

With any verb, -q prints only results and errors, and -v shows where an error comes from.

Exit codes: 0 done and matched, 1 something differs, 2 wrong usage, 3 source unavailable,
4 checksum mismatch, 130 interrupted.
"""

PANELS = {
    "Data set": ("dataset", "rebuild verify list show cite manifest pack cache"),
    "Scores": ("scores", "evaluate stats"),
    "Your own novel": ("novel", "sample annotate view edits report export convert align"),
    "Casts and corrections by people": ("people", "cast review audit"),
    "Making data": ("making", "clean harvest match create regenerate link-train import publish"),
    "Sister tasks": ("tasks", "merge questions contexts"),
}
"""The verbs by panel of --help, and the module of `cli/verbs` in which those of a panel are."""
GROUPS = {
    "manifest": ("Record a build, so that two people can compare.", "write show"),
    "pack": ("Make small text-free packs of a release, and inspect them.", "inspect"),
    "cache": ("Show or clear the cache of texts and finished work.", "path size clear"),
    "edits": ("Apply corrections, derive them from two annotations, merge two people's.", "apply diff merge"),
    "harvest": (
        "Collect lists of characters per book, from Wikidata and from study guides.", "wikidata liscu"
    ),
    "questions": ("Questions about who a mention refers to (IdentifyMe).", "build evaluate"),
    "contexts": (
        "Contexts of characters, for describing them (BookWorm).",
        "build ask score compare novelty tables collect references identify",
    ),
}  # fmt: skip
"""Verbs that are groups of verbs."""
_INNER = {name: inner.split() for name, (_, inner) in GROUPS.items()}
_FIRST = [name for _, names in PANELS.values() for name in names.split()]
VERBS = [words for n in _FIRST for words in (n, *(f"{n} {inner}" for inner in _INNER.get(n, ())))]
"""All that can be typed, groups before what is in them."""
OLD_NAMES = {"build": "create"}
"""Verbs that had another name until 0.2; hidden, so that scripts go on working."""

INTERRUPTED = 130

# Newer versions of typer carry a click of their own: take the class from what typer hands out.
ClickException: Any = next(c for c in typer.BadParameter.__mro__ if c.__name__ == "ClickException")


def _print_version(value: bool) -> None:
    if value:
        typer.echo(f"bookcoref-data {__version__}")
        raise typer.Exit()


def make_app() -> typer.Typer:
    """The application; its verbs are built when they are looked up."""
    app = typer.Typer(
        name="bookcoref-data", help=HELP, no_args_is_help=True, rich_markup_mode=None, cls=_Group,
        context_settings={"help_option_names": ["-h", "--help"]},
    )  # fmt: skip

    @app.callback()
    def root(
        version: Annotated[
            bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
        ] = False,
    ) -> None:
        pass

    return app


def program() -> Any:
    """The application as one command."""
    return take_lightly(get_command(make_app()), {})


class _Group(TyperGroup):
    """The verbs, or those of a group of verbs."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.commands: Any = _Commands(given["name"])

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the verbs with the first line of their help, in panels."""
        for title, names in self.commands.panels():
            with formatter.section(title):
                formatter.write_dl([(f"{name:10}", self.commands.summary(name)) for name in names])


class _Commands(Mapping[str, Any]):
    """Commands by name, each made when it is looked up."""

    def __init__(self, group: str) -> None:
        self.group = group if group in GROUPS else ""
        old = [] if self.group else OLD_NAMES
        self.names = [name for _, names in self.panels() for name in names] + [*old]

    def __getitem__(self, name: str) -> Any:
        if name not in self.names:
            raise KeyError(name)
        if self.group:
            return _command(f"{self.group} {name}")
        return _command(OLD_NAMES.get(name, name), hidden=name in OLD_NAMES)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def panels(self) -> Iterator[tuple[str, list[str]]]:
        """The title of each panel and its verbs."""
        if self.group:
            yield "Commands", GROUPS[self.group][1].split()
        else:
            yield from ((title, names.split()) for title, (_, names) in PANELS.items())

    def summary(self, name: str) -> str:
        """What a verb does, in a line."""
        words = f"{self.group} {name}".strip()
        return GROUPS[words][0] if words in GROUPS else summary_of(words)


def _command(words: str, *, hidden: bool = False) -> Any:
    """A verb, or a group of verbs, as a command of typer."""
    name, own = words.split()[-1], declared_verb(words)
    app = typer.Typer(name=name, rich_markup_mode=None, add_completion=False)
    told: dict[str, Any] = {"help": own.help if own else GROUPS[words][0], "epilog": own and own.epilog}
    if words in GROUPS:
        alone: dict[str, Any] = {"no_args_is_help": own is None, "invoke_without_command": own is not None}
        app.callback(cls=_Group, **told, **alone)(own.callback if own else lambda: None)
    elif own:
        app.command(name, hidden=hidden, **told)(own.callback)
    return take_lightly(get_command(app), own.declared if own else {})


def declared_verb(words: str) -> Command | None:
    """The declaration of a verb; None of a group that does nothing itself."""
    first, group = words.split()[0], words in GROUPS
    module = next(module for module, names in PANELS.values() if first in names.split())
    found = import_module(f".verbs.{module}", __package__)
    name = re.sub("[ -]", "_", words)
    handler = getattr(found, name, None) or getattr(found, f"{name}_", None)
    if handler is None:
        return None
    return replace(command_of(handler, words, group=group), examples=_examples()[words])


@cache
def _examples() -> dict[str, list[str]]:
    """The examples at the end of each verb's help: lines of `examples.txt`."""
    found: dict[str, list[str]] = {words: [] for words in ("", *VERBS)}
    for line in Path(__file__).with_name("examples.txt").read_text(encoding="utf-8").splitlines():
        found[_verb_of(line.split()[1:])].append(line)
    return found


class Ended(BaseException):
    """A signal asked this process to end: work in the making is cleared away on the way out."""


def main() -> None:
    """Run the command line; errors become a message on stderr and their exit code.

    With --json, an error is one JSON document on stdout, too: {"error": {...}}.
    """
    # A stream that the caller closed leads nowhere; else a file that is opened would get its number.
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115
    # In a locale that has no words for a letter, print its number instead of failing
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    _end_cleanly()
    if _taken("-q", "--quiet"):
        from . import common

        common.quiet = True
    loud = _taken("-v", "--verbose")
    warnings.showwarning = lambda message, *_, **__: import_module(".common", __package__).say(str(message))
    try:
        # Standalone mode would turn Ctrl-C into exit code 1; newer typers return 130 for it, unsaid.
        code = program()(standalone_mode=False, prog_name="bookcoref-data") or 0
        if code == INTERRUPTED:
            raise KeyboardInterrupt
        sys.exit(code)
    except BookcorefError as error:
        if loud:
            import traceback

            traceback.print_exception(error)
        sys.exit(_fail(error))
    except BrokenPipeError:
        # The reader of our output has gone, as `head` does; nothing more can be said to it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:
        what = f"cannot use {error.filename}" if error.filename else "a file cannot be used"
        sys.exit(_fail(SourceError(what, found=error.strerror or str(error))))
    except ClickException as error:
        # What typer found wrong with the words that were typed, said as all errors are
        context: Any = getattr(error, "ctx", None)
        if context is None or type(error).__name__ == "NoArgsIsHelpError":
            error.show()
            sys.exit(int(error.exit_code))
        usage, typed = context.get_usage().removeprefix("Usage: "), " ".join(sys.argv[1:])
        found = f"bookcoref-data {typed}"
        what = error.format_message().replace("Input should", "it must")
        sys.exit(_fail(UsageError(what, expected=usage, found=found)))
    except Ended:
        print("interrupted by a signal; finished work is kept, run the same command again", file=sys.stderr)
        sys.stderr.flush()
        # Not sys.exit: that would wait for the books that workers are at. They end when this process has.
        os._exit(INTERRUPTED)
    except typer.Abort:
        raise KeyboardInterrupt from None


def _taken(*flags: str) -> bool:
    """Whether one of the flags was typed; it is taken out of what the verb sees."""
    there = [word for word in sys.argv[1:] if word in flags]
    sys.argv[1:] = [word for word in sys.argv[1:] if word not in flags]
    return bool(there)


def _fail(error: BookcorefError) -> int:
    error.hint = hint_for(error.hint or "", sys.argv[1:]) or None
    if error.exit_code == 2 and not error.hint:
        words = ("bookcoref-data", _verb_of(sys.argv[1:]), "--help lists what there is")
        error.hint = " ".join(filter(None, words))
    elif type(error).__name__ == "FormatError" and not error.hint:
        error.hint = "mend the file at this place, or make it again"
    print(f"error: {error}", file=sys.stderr)
    if "--json" in sys.argv[1:]:
        import json

        fields = {"what": error.what, "expected": error.expected, "found": error.found, "hint": error.hint}
        texts = {name: None if value is None else str(value) for name, value in fields.items()}
        value = {"kind": type(error).__name__, "exit_code": error.exit_code, **texts}
        with suppress(OSError):  # a full disk, which was the error
            print(json.dumps({"error": value}, ensure_ascii=False, indent=2))
    return error.exit_code


_CLAUSE = re.compile(r"; |, or |, (?=with --)| (?=\(or )| (?=\(in Python)")
_COMMAND = re.compile(r"(?:^|[ `])(?:bookcoref-data|pip) ")


def hint_for(hint: str, arguments: Sequence[str]) -> str:
    """A hint without what the verb that was typed cannot do: options of others, and advice for Python."""
    words = _verb_of(arguments)
    if not words or words in GROUPS:
        return hint
    known = {name for one in _command(words).params for name in (*one.opts, *one.secondary_opts)}
    parts = re.split(f"({_CLAUSE.pattern})", hint)
    kept = []
    for mark, part in zip(["", *parts[1::2]], parts[::2], strict=True):
        # What names a command in full, or only options that the verb has
        named = _COMMAND.search(part) or known.issuperset(re.findall(r"(?<!\S)--[a-z][\w-]*", part))
        if named and not re.search(r"\(or \w+=|in Python|\bbc\.\w", part):
            kept.append((mark, part))
    return "".join(mark + part for mark, part in [("", kept[0][1]), *kept[1:]]) if kept else ""


def _verb_of(arguments: Sequence[str]) -> str:
    """The verb that was typed, "" where there is none."""
    return next((words for n in (2, 1) if (words := " ".join(arguments[:n])) in VERBS), "")


def _end_cleanly() -> None:
    """Let SIGTERM and SIGHUP unwind the stack, as Ctrl-C does: half-made files and workers go.

    Processes that are forked later just end.
    """
    main_process = os.getpid()

    def end(number: int, frame: FrameType | None) -> None:
        if os.getpid() == main_process:
            raise Ended
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    if threading.current_thread() is not threading.main_thread():
        return
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, end)
