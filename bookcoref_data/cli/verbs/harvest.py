"""`harvest wikidata`, `harvest liscu`: lists of characters per book, in one table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..common import CacheDir, JsonFlag, Offline, emit_json, emit_table, progress, say

if TYPE_CHECKING:
    from ...api.harvesting import Harvested

Out = Annotated[Path, typer.Option("--out", "-o", help="The table to write (.jsonl or .jsonl.gz).")]
RecipeFile = Annotated[
    Path | None, typer.Option("--recipe", help="Settings (default: the shipped harvest.toml).")
]
Contact = Annotated[str | None, typer.Option(help="Mail address or web page for the service's operators.")]
Kept = Annotated[
    Path | None, typer.Option("--archive", help="Folder of raw answers or pages (else in the cache).")
]


def register(app: typer.Typer) -> None:
    group = typer.Typer(
        help="Collect lists of characters per book, from Wikidata and from study guides.",
        no_args_is_help=True,
    )
    group.command()(wikidata)
    group.command()(liscu)
    app.add_typer(group, name="harvest")


def wikidata(
    out: Out = Path("casts/wikidata.jsonl.gz"),
    contact: Contact = None,
    works: Annotated[
        Path | None, typer.Option(help="Ask only for these items (a file, one Q-number per line).")
    ] = None,
    endpoint: Annotated[str | None, typer.Option(help="Address of the SPARQL service.")] = None,
    archive: Kept = None,
    recipe: RecipeFile = None,
    cache_dir: CacheDir = None,
    offline: Offline = False,
    json: JsonFlag = False,
) -> None:
    """Ask Wikidata for works, characters (P674), authors (P50), titles (P1476), labels and aliases.

    Raw answers are kept, so that an interrupted harvest goes on and --offline replays a finished one.
    """
    from ...api import harvest_wikidata

    with progress() as listener:
        done = harvest_wikidata(
            out, contact=contact, works=works, endpoint=endpoint, archive=archive, recipe=recipe,
            cache_dir=cache_dir, offline=offline, progress=listener,
        )  # fmt: skip
    _show(done, json)


def liscu(
    out: Out = Path("casts/liscu.jsonl.gz"),
    names: Annotated[
        list[Path] | None,
        typer.Option(help="A published list: title, source, character (.tsv), or a scraper's .jsonl."),
    ] = None,
    urls: Annotated[
        list[Path] | None, typer.Option(help="A list of archived pages (LiSCU's or BookWorm's columns).")
    ] = None,
    contact: Contact = None,
    archive: Kept = None,
    recipe: RecipeFile = None,
    cache_dir: CacheDir = None,
    offline: Offline = False,
    json: JsonFlag = False,
) -> None:
    """Read study guides (CliffsNotes, GradeSaver, LitCharts, Shmoop, SparkNotes) from archived pages.

    Give --urls to fetch and read pages, or --names for a list that somebody else has made.
    """
    from ...api import harvest_liscu

    with progress() as listener:
        done = harvest_liscu(
            out, names=names or (), urls=urls or (), contact=contact, archive=archive, recipe=recipe,
            cache_dir=cache_dir, offline=offline, progress=listener,
        )  # fmt: skip
    _show(done, json)


def _show(done: Harvested, json: bool) -> None:
    """Print a report; exit code 1 when something could not be read."""
    report = done.report
    if json:
        emit_json(done.to_dict())
    else:
        emit_table(("", "number"), [("works", report.works), ("characters", report.rows)])
        for title, counts in (
            ("counts", report.counts),
            ("pages", report.statuses),
            ("requests", report.requests),
        ):
            if counts:
                emit_table((title, "number"), counts.items())
        for what, why in report.problems[:20]:
            say(f"{why}: {what}")
        if len(report.problems) > 20:
            say(f"and {len(report.problems) - 20} more; --json lists them all")
        say(f"written to {report.out}")
    if report.problems:
        raise typer.Exit(1)
