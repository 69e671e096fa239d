"""`export`: annotated books as tables, networks, TEI and files of other tools."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..common import JsonFlag, emit_json, say


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
    json: JsonFlag = False,
) -> None:
    """Export an annotation to other tools. Offsets are characters of the file that annotate read."""
    from ...export import export as write
    from ...formats.annotated import read_annotations
    from ...workflows.correct import one_annotation

    annotations = read_annotations(source)
    if book:
        annotations = [one_annotation(annotations, book, source)]
    files = write(annotations, to, out)
    if json:
        emit_json({"to": to, "books": len(annotations), "files": [str(f) for f in files]})
        return
    for file in files:
        say(f"wrote {file}")
