"""`match`: cast tables to Gutenberg books."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..common import CacheDir, JsonFlag, Offline, emit_json, emit_table, progress, say


def register(app: typer.Typer) -> None:
    app.command()(match)


def match(
    tables: Annotated[list[Path], typer.Argument(help="Cast tables (JSON lines) of `harvest`.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the tables to review.")] = Path(
        "matches"
    ),
    catalogue: Annotated[
        Path | None,
        typer.Option(help="Gutenberg's rdf-files.tar.bz2, or gutenbergpy's cache (default: download)."),
    ] = None,
    recipe: Annotated[Path | None, typer.Option(help="Recipe instead of recipes/match.toml.")] = None,
    overrides: Annotated[
        Path | None,
        typer.Option(
            help="Your decisions (TOML of the review page, or works.tsv) instead of the shipped ones."
        ),
    ] = None,
    offline: Offline = False,
    cache_dir: CacheDir = None,
    json: JsonFlag = False,
) -> None:
    """Find the Gutenberg book of every work, rule by rule, and choose one cast per book.

    Writes matches.tsv (one line per book, with the reason), works.tsv (every work of every source),
    review.html (the same as a page on which you decide) and casts.jsonl (the casts of the books kept, which
    `create` reads). Give your decisions back with --overrides: the file that the page saves, or works.tsv
    with its column "decision" filled in.
    """
    from ...api import match as run

    with progress() as listener:
        done = run(
            tables, out, catalogue=catalogue, recipe=recipe, overrides=overrides, offline=offline,
            cache_dir=cache_dir, progress=listener,
        )  # fmt: skip
    facts = done.to_dict()
    for override in facts["unused_overrides"]:
        say(f"this override names no work of the tables: {override['title'] or override['work_id']}")
    if json:
        emit_json(facts)
        return
    columns = ["gutenberg_id", "kept", "author", "title", "source", "characters", "rule", "reason"]
    emit_table(columns, [[row[c] for c in columns] for row in facts["books"]])
    rules = ", ".join(f"{rule} {count}" for rule, count in facts["by_rule"].items())
    say(f"{facts['matched']} of {facts['works']} works matched ({rules}); wrote {out}/")
