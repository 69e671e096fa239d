"""`align`: carry an annotation from one text to another edition of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..common import JsonFlag, emit_json, emit_table, say

if TYPE_CHECKING:
    from ...workflows.align import Aligned


def register(app: typer.Typer) -> None:
    app.command()(align)


def align(
    old: Annotated[Path, typer.Argument(help="Annotated documents (any of our formats), or a pack.")],
    new: Annotated[Path, typer.Argument(help="The other text: plain (.txt) or tokenised documents.")],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Write the transferred annotation here (JSONL, CoNLL)."),
    ] = None,
    report: Annotated[Path | None, typer.Option(help="Write the full report here as JSON.")] = None,
    min_kept: Annotated[
        float, typer.Option(min=0, max=1, help="Fail when a smaller share of the mentions is kept.")
    ] = 0.0,
    least_matched: Annotated[
        float, typer.Option(min=0, max=1, help="Refuse a text in which fewer of the tokens are found.")
    ] = 0.75,
    doc_key: Annotated[str | None, typer.Option(help="Take only this document of OLD.")] = None,
    old_format: Annotated[str | None, typer.Option(help="Format of OLD, if its name does not say.")] = None,
    new_format: Annotated[str | None, typer.Option(help="Format of NEW, if its name does not say.")] = None,
    to: Annotated[str | None, typer.Option(help="Format of --out, if its name does not say.")] = None,
    json: JsonFlag = False,
) -> None:
    """Transfer standoff annotation from OLD to NEW and report what was kept, moved, changed and lost.

    A pack applied to the text it was made from is exact: the released tokens, verified by checksum.
    Everything else is remapped: the tokens of NEW, the offsets moved. Another book is refused.
    """
    from ...api import align as run

    carried = run(
        old, new, report=report, least_matched=least_matched, doc_key=doc_key, old_format=old_format,
        new_format=new_format,
    )  # fmt: skip
    if json:
        emit_json(carried.to_dict()["documents"])
    else:
        _print(carried.results)
    # The report is printed even where too little was kept to write anything.
    carried.require(min_kept)
    if out:
        carried.save(out, to)
        say(f"written: {out}")


def _print(results: list[Aligned]) -> None:
    for result in results:
        report = result.report
        if report is None:
            mentions = sum(map(len, result.record.clusters))
            print(f"{result.record.doc_key}: exact, all {mentions:,} mentions in the released tokens")
            continue
        emit_table(
            ("character", "mentions", "kept", "moved", "changed", "lost", "kept %"),
            (
                (t.name, t.total, t.kept, t.moved, t.changed, t.lost, 100 * t.kept_share)
                for t in (*report.characters, report.total)
            ),
            title=f"{report.doc_key}: remapped, {report.tokens_matched:.2%} of the tokens found",
        )
        for example in report.examples:
            old, new = example.old_text or f"tokens {example.old.start}-{example.old.end}", example.new_text
            print(f"{example.status:8} {example.character}: {old}{' -> ' + new if new else ''}")
        for warning in report.warnings:
            say(f"note: {report.doc_key}: {warning}")
