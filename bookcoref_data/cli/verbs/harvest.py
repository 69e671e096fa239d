"""`harvest wikidata`, `harvest liscu`: lists of characters per book, in one table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ..common import CacheDir, JsonFlag, Offline, emit_json, emit_table, progress, say

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
    from ...sources.wikidata import Settings
    from ...workflows.harvest import WikidataPlan, harvest_wikidata, read_items

    table = _table(recipe, "wikidata", {"contact": contact, "endpoint": endpoint})
    names = set(Settings.__dataclass_fields__)
    settings = _made(Settings, {k: _tupled(v) for k, v in table.items() if k in names}, "wikidata")
    rest = {k: v for k, v in table.items() if k not in names}
    plan = _made(WikidataPlan, {**rest, "settings": settings}, "wikidata")
    wanted = read_items(works) if works else None
    with progress() as listener:
        report = harvest_wikidata(
            plan,
            archive or _cache(cache_dir, "wikidata"),
            out,
            offline=offline,
            works=wanted,
            progress=listener,
        )
    _show(report, json)


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
    from ...errors import UsageError

    if bool(names) == bool(urls):
        raise UsageError(
            "nothing to harvest", expected="either --urls FILE or --names FILE, several times if need be"
        )
    if names:
        from ...workflows.harvest import harvest_name_lists

        _show(harvest_name_lists(names, out), json)
        return
    from ...characters.guide_files import read_addresses
    from ...workflows.harvest_guides import harvest_guides, read_guides_plan

    plan = read_guides_plan(recipe, contact)
    addresses = [address for path in urls or () for address in read_addresses(path)]
    with progress() as listener:
        report = harvest_guides(
            plan,
            addresses,
            archive or _cache(cache_dir, "study-guides"),
            out,
            offline=offline,
            progress=listener,
        )
    _show(report, json)


def _table(recipe: Path | None, name: str, given: dict[str, Any]) -> dict[str, Any]:
    """One table of the recipe, with what the command line gives on top."""
    from ...resources import load_toml, resource

    table = load_toml(recipe or resource("recipes", "harvest.toml")).get(name, {})
    return {**table, **{key: value for key, value in given.items() if value is not None}}


def _made(kind: type, fields: dict[str, Any], table: str) -> Any:
    """A settings object; an unknown key of the recipe is named."""
    from dataclasses import fields as dataclass_fields

    from ...errors import UsageError

    known = {field.name for field in dataclass_fields(kind)}
    unknown = sorted(set(fields) - known)
    if unknown:
        raise UsageError(
            f"unknown settings in [{table}]: {', '.join(unknown)}",
            expected=", ".join(sorted(known)),
        )
    return kind(**fields)


def _tupled(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _cache(cache_dir: Path | None, name: str) -> Path:
    from ...sources.store import Store

    return Store.open(cache_dir).path("harvest", name)


def _show(report: Any, json: bool) -> None:
    """Print a report; exit code 1 when something could not be read."""
    import dataclasses

    if json:
        emit_json({**dataclasses.asdict(report), "mean_characters": round(report.mean_characters, 2)})
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
