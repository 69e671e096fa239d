"""`create`: from character lists to an annotated data set in one go."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..common import (
    CacheDir,
    Jobs,
    JsonFlag,
    Mirror,
    Offline,
    Replace,
    emit_json,
    emit_table,
    progress,
    say,
)

FAILED = 1


def register(app: typer.Typer) -> None:
    app.command()(create)
    # The name of this verb until 0.2; kept so that scripts go on working.
    app.command("build", hidden=True)(create)


def create(
    recipe: Annotated[
        Path | None, typer.Option(help="Recipe instead of bookcoref.toml: a file, or a name.")
    ] = None,
    casts: Annotated[
        list[Path] | None, typer.Option("--casts", help="Cast table of `harvest`; repeatable.")
    ] = None,
    names: Annotated[
        list[Path] | None, typer.Option("--names", help="Name list (LiSCU's TSV); repeatable.")
    ] = None,
    wikidata: Annotated[
        list[Path] | None, typer.Option("--wikidata", help="Raw Wikidata answers to replay; repeatable.")
    ] = None,
    matched: Annotated[
        Path | None, typer.Option(help="casts.jsonl of `match`: skip harvest and match.")
    ] = None,
    overrides: Annotated[
        Path | None,
        typer.Option(help="Your decisions about matches (TOML of the review page, or works.tsv)."),
    ] = None,
    catalogue: Annotated[Path | None, typer.Option(help="Gutenberg's rdf-files.tar.bz2.")] = None,
    mirror: Mirror = None,
    book: Annotated[
        list[str] | None, typer.Option("--book", "-b", help="Only this Gutenberg id or doc_key; repeatable.")
    ] = None,
    no_annotation: Annotated[
        bool, typer.Option("--no-annotation", help="Write clean, tokenised books without clusters.")
    ] = False,
    out: Annotated[Path, typer.Option("--out", "-o", help="Data set folder to write.")] = Path("silver"),
    replace: Replace = False,
    jobs: Jobs = 0,
    offline: Offline = False,
    cache_dir: CacheDir = None,
    json: JsonFlag = False,
) -> None:
    """Harvest (from files), match, clean, tokenise, annotate, and write one data set folder.

    The tables to review stand beside the folder (OUT-matches). Finished books are kept in the cache: an
    interrupted run goes on, and a book that fails stops no other.
    """
    from ...api import create as run
    from ...workflows.plausibility import summary_line

    with progress() as listener:
        report = run(
            out, recipe=recipe, casts=casts or (), names=names or (), wikidata=wikidata or (),
            matched=matched, overrides=overrides, catalogue=catalogue, mirror=mirror, books=book or (),
            annotation=not no_annotation, replace=replace, jobs=jobs, offline=offline, cache_dir=cache_dir,
            progress=listener,
        )  # fmt: skip
    if json:
        emit_json(report.to_dict())
    else:
        columns = ["doc_key", "tokens", "characters", "clusters", "mentions"]
        emit_table(columns, [[facts[c] for c in columns] for facts in report.books])
        for name, error in report.failed.items():
            say(f"{name}: {error}")
        say(
            f"{len(report.built)} built, {len(report.reused)} from the cache, {len(report.failed)} failed; "
            + (f"wrote {report.out}/" if report.record else "nothing was written")
        )
        for name, reason in report.left_out.items():
            say(f"left out: {name}: {reason}")
        for facts in report.books:
            if facts["plausibility"]:
                say(f"{facts['doc_key']}: {summary_line(facts['plausibility'])}")
                for warning in facts["plausibility"]["warnings"]:
                    say(f"{facts['doc_key']}: warning: {warning}")
    if report.failed:
        codes = {error.exit_code for error in report.failed.values()}
        raise typer.Exit(codes.pop() if len(codes) == 1 and not report.record else FAILED)
