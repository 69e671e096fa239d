"""`bookcoref-data regenerate`: an annotation recipe over the books of a data set, compared with it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..common import CacheDir, Jobs, JsonFlag, Replace, emit_json, emit_markdown, emit_table, progress, say


def register(app: typer.Typer) -> None:
    @app.command()
    def regenerate(
        folder: Annotated[Path, typer.Argument(help="A data set folder that `rebuild` wrote.")],
        backend: Annotated[
            str, typer.Option(help="embedded (CPU) or hub (the paper's models).")
        ] = "embedded",
        recipe: Annotated[Path | None, typer.Option(help="Recipe file instead of the backend's own.")] = None,
        book: Annotated[
            list[str] | None, typer.Option("--book", "-b", help="Document key or Gutenberg id; repeatable.")
        ] = None,
        split: Annotated[
            list[str] | None, typer.Option(help="train, validation or test; repeatable.")
        ] = None,
        out: Annotated[Path | None, typer.Option("--out", "-o", help="Folder for the new data set.")] = None,
        examples: Annotated[int, typer.Option(min=0, help="Differences shown per book and kind.")] = 3,
        top: Annotated[int, typer.Option(min=0, help="Characters shown, most different first.")] = 10,
        jobs: Jobs = 0,
        replace: Replace = False,
        cache_dir: CacheDir = None,
        markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown tables.")] = False,
        json: JsonFlag = False,
    ) -> None:
        """Annotate the books of a data set again and score the result against what is there.

        Tokens are taken as they are, the characters of a book are its cast. Per book: linking on
        (character, span), MUC, B3, CEAF-e and CoNLL (F1, percent), and how many mentions are the same,
        missing, spurious or moved to another character. Finished books are kept and reused. With --backend
        hub this is the paper's silver pipeline; exit code 1 when the annotation differs.
        """
        from ...annotate.plan import default_plan, read_plan
        from ...formats.folder import SPLITS
        from ...sources.store import Store
        from ...workflows import regenerate as work

        plan = read_plan(recipe) if recipe else default_plan(backend)
        with progress() as listener:
            result = work.regenerate(
                folder, plan, Store.open(cache_dir).root, out=out, books=book or (), splits=split or SPLITS,
                workers=jobs, examples=examples, replace=replace, progress=listener,
            )  # fmt: skip
        for note in result.notes:
            say(f"note: {note}")
        if json:
            emit_json(result.to_dict())
        else:
            emit = emit_markdown if markdown else emit_table
            tables = (
                ("against the annotation there", work.COLUMNS, result.rows()),
                ("most different characters", work.CHARACTER_COLUMNS, result.character_rows(top)),
                ("examples", work.EXAMPLE_COLUMNS, result.example_rows()),
            )
            print(f"{folder} annotated again by {plan.name}")
            for title, columns, rows in tables:
                if rows:
                    print(f"\n{title}\n")
                    emit(columns, rows)
        for path in result.files:
            say(f"wrote {path}")
        differs = any(c.missing or c.spurious or c.moved for c in result.comparisons.values())
        raise typer.Exit(result.work.exit_code or int(differs))
