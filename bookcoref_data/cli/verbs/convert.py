"""`bookcoref-data convert`: between JSONL, CoNLL-2012, CorefUD, brat and BookNLP."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..common import JsonFlag, emit_json, say

FORMAT_NAMES = "jsonl, conll, corefud, brat, booknlp"


def register(app: typer.Typer) -> None:
    @app.command()
    def convert(
        source: Annotated[
            Path, typer.Argument(metavar="IN", help="A file, a folder of files, or a built dataset folder.")
        ],
        target: Annotated[
            Path,
            typer.Argument(
                metavar="OUT", help="The file to write; for brat and booknlp a folder. .gz and .zst pack it."
            ),
        ],
        read_as: Annotated[
            str | None,
            typer.Option("--from", help=f"Format of IN: {FORMAT_NAMES}, folder. Else told from it."),
        ] = None,
        write_as: Annotated[
            str | None, typer.Option("--to", help=f"Format of OUT: {FORMAT_NAMES}. Else told from its name.")
        ] = None,
        key: Annotated[
            Path | None, typer.Option(help="Move all mentions onto the tokens of these documents.")
        ] = None,
        config: Annotated[
            str | None, typer.Option(help="Config of a dataset folder: full (default) or split.")
        ] = None,
        parts: Annotated[
            str | None,
            typer.Option(help="Parts of CoNLL documents: join (default), merge (equal ids are one), apart."),
        ] = None,
        strict: Annotated[
            bool, typer.Option("--strict", help="Exit with 1 if anything could not be said.")
        ] = False,
        json: JsonFlag = False,
    ) -> None:
        """Convert between file formats, and say what the target cannot hold.

        Example: `bookcoref-data convert predictions.jsonl predictions.conll`
        """
        from ...formats.convert import convert as run

        done = run(source, target, read_as=read_as, write_as=write_as, config=config, key=key, parts=parts)
        if json:
            emit_json(done.to_json())
        else:
            _tell(done, target)
        if strict and done.losses:
            raise typer.Exit(1)


def _tell(done, target: Path) -> None:
    say(
        f"{done.read_as} -> {done.written_as}: {done.documents:,} documents, {done.mentions:,} mentions in "
        f"{done.clusters:,} clusters, written to {target}"
    )
    for loss in done.losses:
        say(f"not kept: {loss.count:,} {loss.what}, in {len(loss.documents):,} documents")
        for example in loss.examples:
            say(f"    {example}")
