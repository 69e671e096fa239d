"""`bookcoref-data merge`: long documents from documents in parts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...errors import UsageError
from ..common import JsonFlag, emit_json, emit_table, progress, say

if TYPE_CHECKING:
    from ...tasks.merging import Document
    from ...workflows.merge import MergePlan, MergeReport


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
    recipe: Annotated[Path | None, typer.Option(help="Recipe file instead of longtonotes.toml.")] = None,
    format: Annotated[str | None, typer.Option("--format", help="Format of PARTS.")] = None,
    json: JsonFlag = False,
) -> None:
    """Join the parts of documents, and the chains that refer to the same entity.

    Example: `bookcoref-data merge parts.conll --out long.conll`
    """
    from ...workflows import merge as work

    plan = work.read_plan(recipe, by)
    documents = work.read_parts(parts, format)
    if ask:
        _ask(documents, decisions or [], annotator)
    if agree:
        _agreement(documents, decisions or [], json)
        return
    report = _decide(documents, decisions, plan, only_merged)
    if key is not None or key_ids:
        work.score(report, documents, key, plan)
    _write(report, documents, out, save, split)
    if json:
        emit_json(report.to_dict() | _statistics(report, documents))
        return
    _show(report)
    if stats:
        _show_statistics(_statistics(report, documents)["statistics"])
    if plots is not None:
        _draw(report, documents, plots)


def _ask(documents: list[Document], tables: list[Path], annotator: str) -> None:
    from ...workflows.merge import AnswerFile
    from ..merge_round import ask_all

    if len(tables) != 1:
        raise UsageError("--ask needs one table for the answers", expected="--decisions FILE")
    ask_all(documents, AnswerFile(tables[0], annotator or "annotator"))


def _draw(report: MergeReport, documents: list[Document], folder: Path) -> None:
    from ...tasks.merging.plots import save_plots

    for file in save_plots({"parts": _as_parts(documents), "merged": report.records}, folder):
        say(f"wrote {file}")


def _decide(
    documents: list[Document], tables: list[Path] | None, plan: MergePlan, only_merged: bool
) -> MergeReport:
    from ...workflows import merge as work

    if tables:
        chosen = work.voted(documents, work.read_tables(tables, documents))
    else:
        with progress() as listener:
            chosen = work.decide(documents, plan.decide, listener)
    return work.merge_documents(documents, chosen, only_merged=only_merged)


def _write(
    report: MergeReport, documents: list[Document], out: Path | None, save: Path | None, split: str
) -> None:
    from ...tasks.merging import write_table
    from ...workflows import merge as work

    for warning in report.warnings:
        say(f"warning: {warning}")
    if out is not None:
        for item in work.write(report, out, split):
            say(f"not kept: {item.count:,} {item.what}")
        say(f"wrote {out}")
    if save is not None:
        count = write_table(save, documents, report.decisions)
        say(f"wrote {count:,} decisions to {save}")


def _show(report: MergeReport) -> None:
    say(
        f"{len(report.records):,} documents from {report.parts:,} parts: "
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


def _as_parts(documents: list[Document]) -> list[Any]:
    """Each part's chains on their own, over the tokens of the whole document."""
    from ...tasks.merging import merge as join

    return [join(document, {}).to_record() for document in documents]


def _statistics(report: MergeReport, documents: list[Document]) -> dict[str, Any]:
    from ...tasks.merging import statistics

    kept = [d for d in documents if d.doc_key in report.decisions]
    return {
        "statistics": {
            "parts": [s.to_dict() for s in statistics(_as_parts(kept))],
            "merged": [s.to_dict() for s in statistics(report.records)],
        }
    }


def _show_statistics(found: dict[str, list[dict[str, Any]]]) -> None:
    columns = ("genre", "documents", "tokens_per_document", "chains_per_document", "mentions_per_document",
               "chain_length", "mean_distance", "largest_distance")  # fmt: skip
    headings = ("genre", "docs", "tok/doc", "chains/doc", "ment/doc", "ment/chain", "distance", "largest")
    for name, rows in found.items():
        emit_table(headings, [[row[c] for c in columns] for row in rows], title=name)


def _agreement(documents: list[Document], tables: list[Path], json: bool) -> None:
    from ...tasks.merging import agreement_by_genre
    from ...workflows import merge as work

    found = agreement_by_genre(documents, work.read_tables(tables, documents))
    if json:
        emit_json(
            [
                {"genre": genre, "annotators": list(pair), **values.to_dict()}
                for genre, pairs in found.items()
                for pair, values in pairs.items()
            ]
        )
        return
    rows = [
        (genre, " and ".join(pair), v.decisions, v.strict, v.jaccard, v.new, v.not_new, round(v.alpha, 4))
        for genre, pairs in found.items()
        for pair, v in pairs.items()
    ]
    emit_table(("genre", "annotators", "decisions", "strict", "Jaccard", "New", "not New", "alpha"), rows)
