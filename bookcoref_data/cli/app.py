"""The typer application: one module per group of verbs, each with a `register(app)`.

Verb modules import only typer and `common` at the top; everything heavy is imported inside the command,
so that `--help` stays under half a second.
"""

from __future__ import annotations

import importlib
import io
import os
import pkgutil
import signal
import sys
import threading
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .. import __version__
from . import verbs

if TYPE_CHECKING:
    from ..errors import BookcorefError

HELP = """Rebuild, verify, annotate, score and explain book-scale coreference data.

First steps without network: `bookcoref-data rebuild --sample`, then `bookcoref-data verify bookcoref`.

Exit codes: 0 done and matched, 1 something differs, 2 wrong usage, 3 source unavailable,
4 checksum mismatch, 130 interrupted.
"""

INTERRUPTED = 130

# Newer versions of typer carry a click of their own: take the class from what typer hands out.
ClickException: Any = next(c for c in typer.BadParameter.__mro__ if c.__name__ == "ClickException")


def _print_version(value: bool) -> None:
    if value:
        typer.echo(f"bookcoref-data {__version__}")
        raise typer.Exit()


def make_app() -> typer.Typer:
    """The application with every verb of `cli/verbs` registered, in the order of their module names."""
    app = typer.Typer(
        name="bookcoref-data", help=HELP, no_args_is_help=True, rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )  # fmt: skip

    @app.callback()
    def root(
        version: Annotated[
            bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
        ] = False,
    ) -> None:
        pass

    for module in sorted(m.name for m in pkgutil.iter_modules(verbs.__path__)):
        importlib.import_module(f"{verbs.__name__}.{module}").register(app)
    return app


class Ended(BaseException):
    """A signal asked this process to end: work in the making is cleared away on the way out."""


def main() -> None:
    """Run the command line; errors become a message on stderr and their exit code.

    With --json, an error is one JSON document on stdout, too: {"error": {...}}.
    """
    from ..errors import BookcorefError, SourceError

    _print_anything()
    _end_cleanly()
    try:
        # Standalone mode would turn Ctrl-C into exit code 1; newer typers return 130 for it, unsaid.
        code = make_app()(standalone_mode=False) or 0
        if code == INTERRUPTED:
            raise KeyboardInterrupt
        sys.exit(code)
    except BookcorefError as error:
        sys.exit(_fail(error))
    except BrokenPipeError:
        # The reader of our output has gone, as `head` does; nothing more can be said to it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:
        what = f"cannot use {error.filename}" if error.filename else "a file cannot be used"
        sys.exit(_fail(SourceError(what, found=error.strerror or str(error))))
    except ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except Ended:
        print("interrupted by a signal; finished work is kept, run the same command again", file=sys.stderr)
        sys.stderr.flush()
        # Not sys.exit: that would wait for the books that workers are at. They end when this process has.
        os._exit(INTERRUPTED)
    except (typer.Abort, KeyboardInterrupt):
        print("interrupted; finished work is kept, run the same command again to go on", file=sys.stderr)
        sys.exit(INTERRUPTED)


def _fail(error: BookcorefError) -> int:
    print(f"error: {error}", file=sys.stderr)
    if "--json" in sys.argv[1:]:
        import json

        fields = {"what": error.what, "expected": error.expected, "found": error.found, "hint": error.hint}
        texts = {name: None if value is None else str(value) for name, value in fields.items()}
        value = {"kind": type(error).__name__, "exit_code": error.exit_code, **texts}
        print(json.dumps({"error": value}, ensure_ascii=False, indent=2))
    return error.exit_code


def _print_anything() -> None:
    """In a locale that has no words for a letter, print its number instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


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
