"""The typer application: one module per group of verbs, each with a `register(app)`.

Verb modules import only typer and `common` at the top; everything heavy is imported inside the command,
so that `--help` stays under half a second.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import signal
import sys
import threading
from types import FrameType
from typing import Annotated

import typer

from .. import __version__
from . import verbs

HELP = """Rebuild, verify, annotate, score and explain book-scale coreference data.

First steps without network: `bookcoref-data rebuild --sample`, then `bookcoref-data verify bookcoref`.

Exit codes: 0 done and matched, 1 something differs, 2 wrong usage, 3 source unavailable,
4 checksum mismatch, 130 interrupted.
"""

INTERRUPTED = 130

# Newer versions of typer carry a click of their own: take the class from what typer hands out.
ClickException: type[Exception] = typer.BadParameter.mro()[2]


def _print_version(value: bool) -> None:
    if value:
        typer.echo(f"bookcoref-data {__version__}")
        raise typer.Exit()


def make_app() -> typer.Typer:
    """The application with every verb of `cli/verbs` registered, in the order of their module names."""
    app = typer.Typer(
        name="bookcoref-data", help=HELP, no_args_is_help=True, add_completion=False, rich_markup_mode=None
    )

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


def _stop_cleanly_on_sigterm() -> None:
    """Let SIGTERM unwind like Ctrl-C, so that temporary files are removed. Worker processes just end."""
    main_process = os.getpid()

    def stop(number: int, frame: FrameType | None) -> None:
        if os.getpid() == main_process:
            raise KeyboardInterrupt
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, stop)


def main() -> None:
    """Run the command line; errors become a message on stderr and their exit code."""
    from ..errors import BookcorefError

    _stop_cleanly_on_sigterm()
    try:
        # Standalone mode would turn Ctrl-C into exit code 1; newer typers return 130 for it, unsaid.
        code = make_app()(standalone_mode=False) or 0
        if code == INTERRUPTED:
            raise KeyboardInterrupt
        sys.exit(code)
    except BookcorefError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except ClickException as error:
        error.show()  # type: ignore[attr-defined]
        sys.exit(error.exit_code)  # type: ignore[attr-defined]
    except (typer.Abort, KeyboardInterrupt):
        print("interrupted; finished work is kept, run the same command again to go on", file=sys.stderr)
        sys.exit(INTERRUPTED)
