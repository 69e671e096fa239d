"""Lists of characters from Python: `harvest_wikidata`, `harvest_liscu`, `match`."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ..errors import UsageError, plural
from ..files import path_of
from .books import PathLike, path_or_none, paths_of
from .results import Result
from .tables import Table

if TYPE_CHECKING:
    from ..characters.match import MatchReport
    from ..progress import Progress
    from ..workflows.harvest import HarvestReport

Made = TypeVar("Made")


class Harvested(Result):
    """A table of casts: where it is, how many works and characters it has, what could not be read."""

    def __init__(self, report: HarvestReport) -> None:
        self.report = report

    @property
    def out(self) -> Path:
        """The table that was written."""
        return Path(self.report.out)

    @property
    def problems(self) -> list[tuple[str, str]]:
        """What could not be read, and why."""
        return list(self.report.problems)

    @property
    def table(self) -> Table:
        """One row per count: works, characters, and what was counted on the way."""
        report = self.report
        counts = {"works": report.works, "characters": report.rows, **report.counts}
        return Table({"what": list(counts), "number": list(counts.values())})

    def to_dict(self) -> dict[str, Any]:
        """The same document as `harvest --json`."""
        report = self.report
        return {**dataclasses.asdict(report), "mean_characters": round(report.mean_characters, 2)}

    def _line(self) -> str:
        report = self.report
        return f"{plural(report.works, 'work')}, {plural(report.rows, 'character')} in {report.out}"


def harvest_wikidata(
    out: PathLike = "casts/wikidata.jsonl.gz",
    *,
    contact: str | None = None,
    works: PathLike | None = None,
    endpoint: str | None = None,
    archive: PathLike | None = None,
    recipe: PathLike | None = None,
    cache_dir: PathLike | None = None,
    offline: bool = False,
    progress: Progress | None = None,
) -> Harvested:
    """Ask Wikidata for works with their characters, authors, titles, labels and aliases.

    Args:
        out: the table to write (`.jsonl` or `.jsonl.gz`).
        contact: mail address or web page for the service's operators.
        works: ask only for these items (a file, one Q-number per line).
        endpoint: address of the SPARQL service.
        archive: a folder for the raw answers, so that an interrupted harvest goes on; None: the cache.
        recipe: settings in place of the shipped harvest.toml.
        offline: replay the kept answers.

    Raises:
        UsageError: no contact for a harvest over the network. SourceError: the service is down or refuses.
    """
    from ..sources.wikidata import WikidataSettings
    from ..workflows.harvest import WikidataPlan, read_items
    from ..workflows.harvest import harvest_wikidata as run

    table = _recipe_table(recipe, "wikidata", {"contact": contact, "endpoint": endpoint})
    names = {field.name for field in dataclasses.fields(WikidataSettings)}
    settings = _made(WikidataSettings, {k: _tupled(v) for k, v in table.items() if k in names}, "wikidata")
    rest = {k: v for k, v in table.items() if k not in names}
    plan = _made(WikidataPlan, {**rest, "settings": settings}, "wikidata")
    wanted = read_items(path_of(works)) if works else None
    kept = path_or_none(archive) or _cache(cache_dir, "wikidata")
    return Harvested(run(plan, kept, path_of(out), offline=offline, works=wanted, progress=progress))


def harvest_liscu(
    out: PathLike = "casts/liscu.jsonl.gz",
    *,
    names: Iterable[PathLike] = (),
    urls: Iterable[PathLike] = (),
    contact: str | None = None,
    archive: PathLike | None = None,
    recipe: PathLike | None = None,
    cache_dir: PathLike | None = None,
    offline: bool = False,
    progress: Progress | None = None,
) -> Harvested:
    """Read study guides from archived pages, or a list of names that somebody else has made.

    Args:
        out: the table to write (`.jsonl` or `.jsonl.gz`).
        names: published lists: title, source, character (`.tsv`), or a scraper's `.jsonl`.
        urls: lists of archived pages (LiSCU's or BookWorm's columns).
        contact, archive, recipe, offline: as `harvest_wikidata`.

    Raises:
        UsageError: neither `names` nor `urls`, or both.
    """
    from ..characters.guide_files import read_addresses
    from ..workflows.harvest import harvest_name_lists
    from ..workflows.harvest_guides import harvest_guides, read_guides_plan

    lists, pages, target = paths_of(names), paths_of(urls), path_of(out)
    if bool(lists) == bool(pages):
        raise UsageError(
            "nothing to harvest", expected="either --urls FILE or --names FILE, several times if need be"
        )
    if lists:
        return Harvested(harvest_name_lists(lists, target))
    plan = read_guides_plan(path_or_none(recipe), contact)
    addresses = [address for path in pages for address in read_addresses(path)]
    kept = path_or_none(archive) or _cache(cache_dir, "study-guides")
    return Harvested(harvest_guides(plan, addresses, kept, target, offline=offline, progress=progress))


class Matched(Result):
    """The Gutenberg book of every work; `files` are the tables and the page to review."""

    def __init__(self, report: MatchReport, files: Sequence[Path]) -> None:
        self.report, self.files = report, list(files)

    @property
    def table(self) -> Table:
        """One row per book: its work, its list of characters, the rule and the reason."""
        return Table.of_dicts(self.to_dict()["books"])

    def to_dict(self) -> dict[str, Any]:
        """The same document as `match --json`."""
        from ..workflows.match import summary

        return summary(self.report) | {"written": [str(path) for path in self.files]}

    def _line(self) -> str:
        found = sum(work.gutenberg_id is not None for work in self.report.works)
        return f"{found:,} of {plural(len(self.report.works), 'work')} matched"


def match(
    tables: PathLike | Iterable[PathLike],
    out: PathLike = "matches",
    *,
    catalogue: PathLike | None = None,
    recipe: PathLike | None = None,
    overrides: PathLike | None = None,
    offline: bool = False,
    cache_dir: PathLike | None = None,
    progress: Progress | None = None,
) -> Matched:
    """Find the Gutenberg book of every work, and choose one cast per book.

    Args:
        tables: cast tables of `harvest_wikidata` and `harvest_liscu`.
        out: a folder for matches.tsv, works.tsv, review.html and casts.jsonl, which `create` reads.
        catalogue: Gutenberg's rdf-files.tar.bz2, or gutenbergpy's cache; None downloads it.
        recipe: settings in place of recipes/match.toml.
        overrides: your decisions: the file that the review page saves, or works.tsv with its column
            "decision" filled in.

    Raises:
        SourceError, FormatError: a table or the catalogue cannot be had or read.
        UsageError: the tables hold no cast.
    """
    from ..sources.store import Store
    from ..workflows.match import load_overrides, load_settings, run_match, write_report

    settings, decided = load_settings(path_or_none(recipe)), load_overrides(path_or_none(overrides))
    report = run_match(
        paths_of(tables), Store.open(path_or_none(cache_dir)), path_or_none(catalogue),
        settings, decided, offline=offline, progress=progress,
    )  # fmt: skip
    return Matched(report, write_report(report, path_of(out)))


def _recipe_table(recipe: PathLike | None, name: str, given: dict[str, Any]) -> dict[str, Any]:
    """One table of the recipe, with what the caller gives on top."""
    from ..resources import load_toml, resource

    table = load_toml(path_or_none(recipe) or resource("recipes", "harvest.toml")).get(name, {})
    return {**table, **{key: value for key, value in given.items() if value is not None}}


def _made(kind: type[Made], values: dict[str, Any], table: str) -> Made:
    """A settings object; an unknown key of the recipe is named."""
    known = {field.name for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    unknown = sorted(set(values) - known)
    if unknown:
        raise UsageError(
            f"unknown settings in [{table}]: {', '.join(unknown)}", expected=", ".join(sorted(known))
        )
    return kind(**values)


def _tupled(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _cache(cache_dir: PathLike | None, name: str) -> Path:
    from ..sources.store import Store

    return Store.open(path_or_none(cache_dir)).path("harvest", name)
