"""`export`: annotated books as tables, networks, TEI and files of other tools."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..common import JsonFlag, Overwrite, emit_json, say


def register(app: typer.Typer) -> None:
    app.command()(export)


def export(
    source: Annotated[
        Path, typer.Argument(help="Folder of annotate, data set folder, or a file in any format.")
    ],
    to: Annotated[
        str,
        typer.Option(
            help="csv, tsv, parquet (tables); graphml, gexf (network); tei, tei-standoff, webannotation, "
            "inception, booknlp, spacy; replaced-text, audiobook."
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder, or a file for one book.")],
    book: Annotated[str, typer.Option("--book", "-b", help="Only this document key.")] = "",
    replace: Overwrite = False,
    json: JsonFlag = False,
) -> None:
    """Export an annotation to other tools. Offsets are characters of the file that annotate read."""
    from ...api import export as run
    from ...api.reading import annotations_of

    annotations = annotations_of(source)
    files = run(annotations, to, out, book=book, replace=replace)
    if json:
        books = 1 if book else len(annotations)
        emit_json({"to": to, "books": books, "files": [str(f) for f in files]})
        return
    for file in files:
        say(f"wrote {file}")
