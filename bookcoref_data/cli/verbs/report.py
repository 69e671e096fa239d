"""`report`: a page about an annotated book, for a paper."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..common import JsonFlag, emit_json, say


def register(app: typer.Typer) -> None:
    app.command()(report)


def report(
    source: Annotated[
        Path, typer.Argument(help="Folder of annotate, data set folder, or a file in any format.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Page to write: .html or .md.")],
    book: Annotated[str, typer.Option("--book", "-b", help="Only this document key.")] = "",
    plots: Annotated[bool, typer.Option(help="Draw presence and network (extras plots and export).")] = True,
    json: JsonFlag = False,
) -> None:
    """Write a page with the cast, counts, shares of speech, presence by chapter, and the network."""
    from ...api import report as run

    files = [str(file) for file in run(source, out, book=book, plots=plots)]
    if json:
        emit_json({"files": files})
    for file in files:
        say(f"wrote {file}")
