"""`bookcoref-data convert`: between file formats."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...errors import plural
from ..common import JsonFlag, emit_json, say

if TYPE_CHECKING:
    from ...formats import ConversionReport

FORMAT_NAMES = "jsonl, conll, corefud, brat, booknlp"
TRAINER_NAMES = "jsonlines, wl-coref, fastcoref, fastcoref-text, longdoc, dual-cache"


def register(app: typer.Typer) -> None:
    @app.command()
    def convert(
        source: Annotated[
            Path,
            typer.Argument(
                metavar="IN", help="A file, a folder of files, a data set folder, a pipe, or - for stdin."
            ),
        ],
        target: Annotated[
            Path,
            typer.Argument(
                metavar="OUT", help="The file to write; for brat and booknlp a folder. .gz and .zst pack it."
            ),
        ],
        read_as: Annotated[
            str | None,
            typer.Option("--from", help=f"Format of IN: {FORMAT_NAMES}, folder (default: detected)."),
        ] = None,
        write_as: Annotated[
            str | None,
            typer.Option(
                "--to",
                help=f"Format of OUT: {FORMAT_NAMES}; for trainers {TRAINER_NAMES}. Default: from its name.",
            ),
        ] = None,
        key: Annotated[
            Path | None, typer.Option(help="Move all mentions onto the tokens of these documents.")
        ] = None,
        config: Annotated[
            str | None, typer.Option(help="Config of a data set folder: full (default) or split.")
        ] = None,
        parts: Annotated[
            str | None,
            typer.Option(help="Parts of CoNLL documents: join (default), merge (equal ids are one), apart."),
        ] = None,
        doc_key: Annotated[
            str | None, typer.Option(help="Key of JSON lines that have none (fastcoref's).")
        ] = None,
        tokenizer: Annotated[
            str | None,
            typer.Option(help="For longdoc and dual-cache: tokenizer on the Hub, or a folder with one."),
        ] = None,
        segment_length: Annotated[
            int | None, typer.Option(help="For longdoc and dual-cache: subwords of a segment (2048).")
        ] = None,
        strict: Annotated[
            bool, typer.Option("--strict", help="Exit with 1 if anything was left out.")
        ] = False,
        json: JsonFlag = False,
    ) -> None:
        """Convert between file formats, and count what the target cannot hold.

        Example: `bookcoref-data convert predictions.jsonl predictions.conll`
        """
        from ...api import convert as run

        done = run(
            source,
            target,
            read_as=read_as,
            write_as=write_as,
            config=config,
            key=key,
            parts=parts,
            doc_key=doc_key,
            tokenizer=tokenizer,
            segment_length=segment_length,
        )
        if json:
            emit_json({**done.to_dict(), "target": str(target)})
        else:
            _tell(done, target)
        if strict and not done.complete:
            raise typer.Exit(1)


def _tell(done: ConversionReport, target: Path) -> None:
    say(
        f"{done.read_as} -> {done.written_as}: wrote {plural(done.documents, 'document')}, "
        f"{plural(done.mentions, 'mention')} in {plural(done.clusters, 'cluster')} to {target}"
    )
    for item in done.not_kept:
        say(f"not kept: {item.count:,} {item.what}, in {plural(len(item.documents), 'document')}")
        for example in item.examples:
            say(f"    {example}")
