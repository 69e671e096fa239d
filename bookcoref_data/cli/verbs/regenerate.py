"""`bookcoref-data regenerate`: an annotation recipe over the books of a data set, compared with it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..common import CacheDir, Jobs, JsonFlag, Replace, emit_json, emit_markdown, emit_table, progress, say

if TYPE_CHECKING:
    from ...api.regenerating import Regenerated


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
        from ...api import regenerate as run

        with progress() as listener:
            done = run(
                folder, backend=backend, recipe=recipe, books=book or (), splits=split or (), out=out,
                examples=examples, jobs=jobs, replace=replace, cache_dir=cache_dir, progress=listener,
            )  # fmt: skip
        for note in done.notes:
            say(f"note: {note}")
        if json:
            emit_json(done.to_dict())
        else:
            _print(done, folder, top, markdown)
        for path in done.files:
            say(f"wrote {path}")
        raise typer.Exit(done.result.work.exit_code or int(done.differs))


def _print(done: Regenerated, folder: Path, top: int, markdown: bool) -> None:
    emit = emit_markdown if markdown else emit_table
    tables = {
        "against the annotation there": done.table,
        "most different characters": done.characters(top),
        "examples": done.examples,
    }
    print(f"{folder} annotated again by {done.result.plan.name}")
    for title, table in tables.items():
        if len(table):
            print(f"\n{title}\n")
            emit(table.columns, [list(row.values()) for row in table])
