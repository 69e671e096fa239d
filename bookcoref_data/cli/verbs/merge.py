"""`bookcoref-data merge`: long documents from documents in parts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...errors import UsageError, plural
from ..common import JsonFlag, Replace, emit_json, emit_table, progress, say

if TYPE_CHECKING:
    from ...api import Table
    from ...api.merging import Merged
    from ...workflows.merge import MergeReport


def register(app: typer.Typer) -> None:
    app.command()(merge)


def merge(
    parts: Annotated[Path, typer.Argument(help="Documents in parts: CoNLL-2012, or any format with parts.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="File (.conll, .conllu, .jsonl) or data set folder.")
    ] = None,
    by: Annotated[
        str | None, typer.Option(help="linker (default), greedy, id (equal ids are one chain) or new.")
    ] = None,
    decisions: Annotated[
        list[Path] | None,
        typer.Option("--decisions", "-d", help="Table of decisions; repeatable, the majority decides."),
    ] = None,
    ask: Annotated[
        bool, typer.Option("--ask", help="Decide in the terminal; answers go to the one --decisions.")
    ] = False,
    annotator: Annotated[str, typer.Option(help="Your name in the table, with --ask.")] = "",
    save: Annotated[Path | None, typer.Option(help="Write the decisions made as a table.")] = None,
    key: Annotated[
        Path | None, typer.Option(help="Whole documents (same tokens): score decisions and chains.")
    ] = None,
    key_ids: Annotated[
        bool, typer.Option("--key-ids", help="Score against equal ids of chains instead of --key.")
    ] = False,
    agree: Annotated[bool, typer.Option("--agreement", help="Agreement of the annotators.")] = False,
    only_merged: Annotated[
        bool, typer.Option("--only-merged", help="Leave out documents with only one part (LongtoNotes_s).")
    ] = False,
    stats: Annotated[bool, typer.Option("--stats", help="Statistics by genre, before and after.")] = False,
    plots: Annotated[Path | None, typer.Option(help="Folder for pictures of lengths and distances.")] = None,
    split: Annotated[str, typer.Option(help="Split of the data set folder.")] = "test",
    replace: Replace = False,
    recipe: Annotated[Path | None, typer.Option(help="Recipe file instead of longtonotes.toml.")] = None,
    format: Annotated[str | None, typer.Option("--format", help="Format of PARTS.")] = None,
    json: JsonFlag = False,
) -> None:
    """Join the parts of documents, and the chains that refer to the same entity.

    Example: `bookcoref-data merge parts.conll --out long.conll`
    """
    from ...api import merge as run
    from ...api import merge_agreement

    tables = decisions or []
    if ask:
        _ask(parts, format, tables, annotator)
    if agree:
        _agreement(merge_agreement(parts, tables, format=format), json)
        return
    with progress() as listener:
        merged = run(
            parts, out, by=by, decisions=tables, save=save, key=key, key_ids=key_ids, only_merged=only_merged,
            plots=plots, split=split, replace=replace, recipe=recipe, format=format, progress=listener,
        )  # fmt: skip
    _tell(merged, out, save)
    if json:
        emit_json(merged.to_dict())
        return
    _show(merged.report)
    if stats:
        _show_statistics(merged.statistics)


def _ask(parts: Path, format: str | None, tables: list[Path], annotator: str) -> None:
    from ...workflows.merge import AnswerFile, read_parts
    from ..merge_round import ask_all

    if len(tables) != 1:
        raise UsageError("--ask needs one table for the answers", expected="--decisions FILE")
    ask_all(read_parts(parts, format), AnswerFile(tables[0], annotator or "annotator"))


def _tell(merged: Merged, out: Path | None, save: Path | None) -> None:
    """Warnings, and what was written where."""
    for warning in merged.warnings:
        say(f"warning: {warning}")
    for item in merged.not_kept:
        say(f"not kept: {item.count:,} {item.what}")
    if out is not None:
        say(f"wrote {out}")
    if save is not None:
        say(f"wrote {merged.saved:,} decisions to {save}")
    for file in merged.plots:
        say(f"wrote {file}")


def _show(report: MergeReport) -> None:
    say(
        f"{plural(len(report.records), 'document')} from {plural(report.parts, 'part')}: "
        f"{report.links:,} chains joined, {report.new:,} new"
    )
    found = report.decision_scores
    if found is None or report.scores is None or report.unmerged is None:
        return
    shares = (found.precision, found.recall, found.f1, found.accuracy)
    emit_table(
        ("decisions", "links", "precision", "recall", "F1", "accuracy"),
        [
            (
                found.decisions,
                found.links,
                *(100 * value for value in shares),
            )
        ],
    )
    rows = []
    for name, scores in (("unmerged", report.unmerged), ("merged", report.scores)):
        parts = (scores.muc, scores.b_cubed, scores.ceaf_e, scores.conll, scores.lea)
        rows.append((name, *(100 * s.f1 for s in parts)))
    emit_table(("F1", "MUC", "B3", "CEAF-e", "CoNLL", "LEA"), rows)
    for what, bins in report.by_size.items():
        emit_table(
            (what, "documents", "CoNLL"), [(b.label, b.documents, 100 * b.scores.conll.f1) for b in bins]
        )


def _show_statistics(found: dict[str, list[dict[str, Any]]]) -> None:
    columns = ("genre", "documents", "tokens_per_document", "chains_per_document", "mentions_per_document",
               "chain_length", "mean_distance", "largest_distance")  # fmt: skip
    headings = ("genre", "docs", "tok/doc", "chains/doc", "ment/doc", "ment/chain", "distance", "largest")
    for name, rows in found.items():
        emit_table(headings, [[row[c] for c in columns] for row in rows], title=name)


def _agreement(found: Table, json: bool) -> None:
    if json:
        emit_json(found.to_dicts())
        return
    columns = ("decisions", "strict", "jaccard", "new", "not_new")
    rows = [
        (r["genre"], " and ".join(r["annotators"]), *(r[c] for c in columns), round(r["alpha"], 4))
        for r in found
    ]
    emit_table(("genre", "annotators", "decisions", "strict", "Jaccard", "New", "not New", "alpha"), rows)
