"""`bookcoref-data evaluate`: score responses against a key, and explain the scores."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..common import JsonFlag, emit_json, emit_markdown, emit_table, progress, say

if TYPE_CHECKING:
    from ...report.tables import ReportTable

MODES_HELP = """What is scored against what. full: whole books against whole books (the paper's
BookCoref_gold). split: windows against windows, each predicted alone (Split-BookCoref_gold); whole books
are cut into the released windows first. gold-window: whole-book predictions restricted to windows of
whole sentences, a partition: every mention counts exactly once. gold-window-blocks: the same with blocks
of exactly 1500 tokens. gold-window-released: what the released code computes, so that the paper's figures
come out, though it loses and double-counts some mentions."""


def register(app: typer.Typer) -> None:
    @app.command()
    def evaluate(
        key: Annotated[
            Path,
            typer.Option("--key", "-k", help="Gold: a file or folder of any format, or a data set folder."),
        ],
        response: Annotated[
            list[Path],
            typer.Option("--response", "-r", help="System output, likewise; repeat it for several systems."),
        ],
        mode: Annotated[str, typer.Option("--mode", "-m", help=MODES_HELP)] = "full",
        per_book: Annotated[bool, typer.Option("--per-book", help="F1 of every metric by book.")] = False,
        macro: Annotated[
            bool, typer.Option("--macro", help="The mean over books beside the pooled scores.")
        ] = False,
        characters: Annotated[
            bool, typer.Option("--characters", help="P, R, F1 of every character.")
        ] = False,
        breakdown: Annotated[
            bool,
            typer.Option(
                "--breakdown",
                help="By mention type, frequency, distance to previous mention and to a name, position.",
            ),
        ] = False,
        errors: Annotated[
            bool,
            typer.Option(
                "--errors",
                help="Missed, spurious, conflated, divided: counts, costs, worst cases with snippets.",
            ),
        ] = False,
        agreement: Annotated[
            bool,
            typer.Option(
                "--agreement", help="Treat key and response as two annotators and report their agreement."
            ),
        ] = False,
        typed: Annotated[
            str | None,
            typer.Option(
                metavar="LABELS",
                help="Scores by semantic class. LABELS: a file of typed spans, `spacy` (its NER), `nouns` "
                "(a small list of our own) or `hub:MODEL` (a CNER model, extra `gpu`).",
            ),
        ] = None,
        disagreeing: Annotated[
            str,
            typer.Option(help="Mentions whose own label differs from their cluster's: keep or override."),
        ] = "keep",
        compare: Annotated[
            Path | None,
            typer.Option(
                help="Test whether the difference from another system is significant: its file (one of the "
                "-r files or another). `all`: every pair of the -r files."
            ),
        ] = None,
        bootstrap: Annotated[
            int,
            typer.Option(help="Samples for confidence intervals and tests (0: none; 1000 with --compare)."),
        ] = 0,
        unit: Annotated[
            str, typer.Option(help="What is resampled and exchanged: window, chapter or book.")
        ] = "window",
        few_units: Annotated[
            bool, typer.Option("--few-units", help="Resample even with fewer than 10 units.")
        ] = False,
        seed: Annotated[int, typer.Option(help="Seed of the resampling.")] = 0,
        plots: Annotated[
            Path | None,
            typer.Option(help="Folder for pictures (needs the extra `plots`)."),
        ] = None,
        top: Annotated[int, typer.Option(min=1, help="Rows of the longer lists.")] = 10,
        singletons: Annotated[
            str,
            typer.Option(help="keep (as BookCoref) or drop, on both sides."),
        ] = "keep",
        duplicates: Annotated[
            str,
            typer.Option(
                help="Spans in several clusters: released (as BookCoref's code) or first (as CoNLL's).",
            ),
        ] = "released",
        missing: Annotated[
            str,
            typer.Option(help="Key documents the response lacks: error, skip or empty."),
        ] = "error",
        window_size: Annotated[int, typer.Option(min=1, help="Tokens per window.")] = 1500,
        split: Annotated[str, typer.Option(help="Split of a data set folder that is read.")] = "test",
        key_format: Annotated[
            str | None,
            typer.Option(help="Format of the key, where its name does not say."),
        ] = None,
        response_format: Annotated[
            str | None,
            typer.Option(help="Format of the responses."),
        ] = None,
        markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown tables.")] = False,
        json: JsonFlag = False,
    ) -> None:
        """Score responses against a key: MUC, B3, CEAF-e, CoNLL, CEAF-m, BLANC, LEA, mentions, linking.

        Documents are paired by doc_key and pooled. Several responses stand side by side. Scores are in
        percent; --json has fractions with their numerators and denominators, and the rules used.
        """
        from ...api import evaluate as run

        with progress() as listener:
            scores = run(
                key, response, mode, per_book=per_book, macro=macro, characters=characters,
                breakdown=breakdown, errors=errors, agreement=agreement, typed=typed, disagreeing=disagreeing,
                compare=compare, bootstrap=bootstrap, unit=unit, few_units=few_units, seed=seed, plots=plots,
                top=top, singletons=singletons, duplicates=duplicates, missing=missing,
                window_size=window_size, split=split, key_format=key_format, response_format=response_format,
                progress=listener,
            )  # fmt: skip
        for note in scores.notes:
            say(f"note: {note}")
        if json:
            emit_json(scores.to_dict())
            return
        _emit(scores.shown, markdown)
        for path in scores.plots:
            say(f"wrote {path}")


def _emit(tables: Sequence[ReportTable], markdown: bool) -> None:
    for i, table in enumerate(tables):
        if i:
            print()
        if markdown:
            print(f"**{table.title}**\n")
            emit_markdown(table.columns, table.rows)
        else:
            emit_table(table.columns, table.rows, title=table.title)
