"""`bookcoref-data import`: other corpora, in their public layouts, as a data set folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...errors import plural
from ..common import JsonFlag, emit_json, progress, say

if TYPE_CHECKING:
    from ...workflows.import_corpus import Imported

KINDS = "litbank, fantasycoref, ontonotes, preco, gum, corefud, pdnc, booknlp"


def register(app: typer.Typer) -> None:
    @app.command("import")
    def import_(
        kind: Annotated[str, typer.Argument(metavar="KIND", help=f"The corpus: {KINDS}.")],
        source: Annotated[Path, typer.Argument(metavar="DIR", help="Your copy of it, in its public layout.")],
        out: Annotated[Path, typer.Option("--out", "-o", help="The data set folder to write.")],
        records: Annotated[
            Path | None,
            typer.Option(help="Also write all that was read (speakers, quotations, ...) as JSON lines here."),
        ] = None,
        split: Annotated[
            str | None,
            typer.Option(
                help="Put all documents into this split (default: from the names train, dev, test)."
            ),
        ] = None,
        strict: Annotated[
            bool, typer.Option("--strict", help="Exit with 1 if anything was left out.")
        ] = False,
        json: JsonFlag = False,
    ) -> None:
        """Read another corpus in its public layout and write it as a data set folder.

        Example: `bookcoref-data import litbank litbank-master --out litbank`
        """
        from ...api import import_corpus

        with progress() as bars:
            done = import_corpus(kind, source, out, records=records, split=split, progress=bars)
        if json:
            emit_json(done.to_dict())
        else:
            _tell(done)
        if strict and not done.report.complete:
            raise typer.Exit(1)


def _tell(done: Imported) -> None:
    report = done.report
    by_split = ", ".join(f"{count:,} {split}" for split, count in done.splits.items() if count)
    say(
        f"{done.corpus.name}: wrote {plural(report.documents, 'document')} ({by_split}), "
        f"{report.tokens or 0:,} tokens, {plural(report.mentions, 'mention')} in "
        f"{plural(report.clusters, 'cluster')} to {done.out}"
    )
    if done.records is not None:
        say(f"all that was read: {done.records}")
    for item in report.not_kept:
        say(f"not kept: {item.count:,} {item.what}, in {plural(len(item.documents), 'document')}")
    say(f"texts: {done.corpus.texts}")
    say(f"annotation: {done.corpus.annotation}")
    say(f"cite: {done.corpus.citation}")
