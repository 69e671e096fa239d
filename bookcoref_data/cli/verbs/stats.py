"""`bookcoref-data stats`: the paper's Table 1 for any input."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..common import JsonFlag, emit_json, emit_markdown, emit_table, say

if TYPE_CHECKING:
    from ...books.statistics import Statistics

# (heading, field); the paper's own columns first, then what the two disputed ones can also mean.
TABLE_1 = [
    ("docs", "documents"),
    ("tokens", "tokens"),
    ("mentions", "mentions"),
    ("tok/doc", "tokens_per_document"),
    ("ment/doc", "mentions_per_document"),
    ("chains/doc", "chains_per_document"),
    ("ment/chain", "mentions_per_chain"),
    ("ment. dist.", "mention_distance"),
]
BESIDE = [
    ("chains", "chains"),
    ("singletons", "singletons"),
    ("longest", "longest_chain"),
    ("ment/chain pooled", "mentions_per_chain_pooled"),
    ("dist. pooled pairs", "mention_distance_pooled"),
    ("dist. plain", "mention_distance_plain"),
    ("names %", "exact_name_percent"),
]


def register(app: typer.Typer) -> None:
    @app.command()
    def stats(
        sources: Annotated[
            list[Path],
            typer.Argument(metavar="PATH...", help="Files, folders of files, or built data set folders."),
        ],
        format: Annotated[
            str | None, typer.Option("--format", help="Format of the input, where its name does not say.")
        ] = None,
        config: Annotated[str, typer.Option(help="Config of a data set folder: full or split.")] = "full",
        per_book: Annotated[bool, typer.Option("--per-book", help="One row per document too.")] = False,
        plots: Annotated[
            Path | None,
            typer.Option(help="Folder for a picture of length and distance (Figure 1; extra `plots`)."),
        ] = None,
        markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown tables.")] = False,
        json: JsonFlag = False,
    ) -> None:
        """Table 1 of the BookCoref paper for any input, one row per PATH.

        `ment/chain` (mean over documents) and `ment. dist.` (mean pairwise distance of a chain in tokens,
        weighted by its mentions) are the paper's definitions: they reproduce its LitBank row. The plain
        ones stand in the second table. `names %`: mentions of characters that are the character's name.
        """
        from ...api import stats as run

        found = run(*sources, format=format, config=config, per_book=per_book, plots=plots)
        for path in found.plots:
            say(f"wrote {path}")
        if json:
            emit_json(found.documents())
            return
        emit = emit_markdown if markdown else emit_table
        rows = [*found.totals, *(pair for pairs in found.of_books for pair in pairs)]
        for i, columns in enumerate((TABLE_1, BESIDE)):
            if i:
                print()
            emit(
                ["data set", *(heading for heading, _ in columns)],
                [[name, *(_cell(s, field) for _, field in columns)] for name, s in rows],
            )


def _cell(statistics: Statistics, field: str) -> int | float | None:
    if field == "exact_name_percent":
        share = statistics.exact_name_share
        return None if share is None else 100 * share
    value: int | float | None = getattr(statistics, field)
    return value
