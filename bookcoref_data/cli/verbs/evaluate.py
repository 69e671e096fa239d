"""`bookcoref-data evaluate`: score a response against a key, and explain the score."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..common import JsonFlag, emit_json, emit_markdown, emit_table, say

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
            Path, typer.Option("--key", "-k", help="Gold: a JSONL or CoNLL file, or a built dataset folder.")
        ],
        response: Annotated[
            Path, typer.Option("--response", "-r", help="System output: the same kinds of input.")
        ],
        mode: Annotated[str, typer.Option("--mode", "-m", help=MODES_HELP)] = "full",
        per_book: Annotated[bool, typer.Option("--per-book", help="F1 of every metric by book.")] = False,
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
        compare: Annotated[
            Path | None,
            typer.Option(help="Another system: test whether the difference is real."),
        ] = None,
        bootstrap: Annotated[
            int,
            typer.Option(
                help="Samples for confidence intervals (0: none; 1000 with --compare).",
            ),
        ] = 0,
        unit: Annotated[str, typer.Option(help="What is resampled: window, chapter or book.")] = "window",
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
        split: Annotated[str, typer.Option(help="Split of a dataset folder that is read.")] = "test",
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
        """Score a response against a key: MUC, B3, CEAF-e, CoNLL, CEAF-m, BLANC, LEA, mentions, linking.

        Documents are paired by doc_key and pooled. Scores are in percent; --json has fractions with their
        numerators and denominators, and the rules used.
        """
        from ...evaluate.evaluation import Rules, score_prepared
        from ...evaluate.modes import prepare

        rules = Rules(mode, singletons, duplicates, missing, window_size)
        config = "split" if mode == "split" else "full"
        gold = _read(key, key_format, config, split)

        def score(path: Path):
            system = _read(path, response_format, config, split)
            ready = prepare(gold, system, mode, missing=missing, window_size=window_size)
            return score_prepared(ready, rules)

        result = score(response)
        other = score(compare) if compare is not None else None
        asked = _Asked(per_book, characters, breakdown, errors, top)
        tables, values = asked.show(result)
        samples = bootstrap or (1000 if other is not None else 0)
        if samples:
            from ...evaluate.significance import resample
            from ...report.evaluation_tables import resampling_table

            tested = resample(result, other, samples=samples, seed=seed, unit=unit)
            values["resampling"] = tested.to_dict()
            tables.append(resampling_table(tested))
        if plots is not None:
            from ...report.evaluation_plots import save_plots

            values["plots"] = [str(path) for path in save_plots(result, plots)]
        for note in (*result.notes, *(f"--compare: {n}" for n in (other.notes if other else ()))):
            say(f"note: {note}")
        if json:
            emit_json(values | ({"compare": other.to_dict()} if other is not None else {}))
            return
        _emit(tables, markdown)
        for path in values.get("plots", ()):
            say(f"wrote {path}")


class _Asked:
    """Which parts of the explanation were asked for."""

    def __init__(self, per_book: bool, characters: bool, breakdown: bool, errors: bool, top: int) -> None:
        self.per_book, self.characters, self.breakdown = per_book, characters, breakdown
        self.errors, self.top = errors, top

    def show(self, result) -> tuple[list, dict]:
        """Tables for a person and values for JSON."""
        from ...report import evaluation_tables as tables

        shown, values = [tables.score_table(result)], result.to_dict()
        if self.per_book:
            shown.append(tables.book_table(result))
        if self.characters:
            from ...evaluate.per_character import character_scores

            found = character_scores(result)
            shown.append(tables.character_table(found, self.top))
            values["characters"] = [score.to_dict() for score in found]
        if self.breakdown:
            from ...evaluate.breakdowns import breakdown

            dimensions = breakdown(result)
            shown += tables.breakdown_tables(dimensions)
            values["breakdown"] = [dimension.to_dict() for dimension in dimensions]
        if self.errors:
            from ...evaluate.error_analysis import analyse_errors

            analysis = analyse_errors(result, most=self.top)
            shown += tables.error_tables(analysis)
            values["errors"] = analysis.to_dict()
        return shown, values


def _read(path: Path, format: str | None, config: str, split: str):
    """Documents of a file, or of one split of a dataset folder."""
    from ...formats import read_documents
    from ...formats.detect import detect

    if (format or detect(path)) == "folder":
        from ...formats.folder import read_folder

        return read_folder(path, config, [split])
    return read_documents(path, format)


def _emit(tables: list, markdown: bool) -> None:
    for i, table in enumerate(tables):
        if i:
            print()
        if markdown:
            print(f"**{table.title}**\n")
            emit_markdown(table.columns, table.rows)
        else:
            emit_table(table.columns, table.rows, title=table.title)
