"""Lists of characters from Python: `harvest_wikidata`, `harvest_liscu`, `match`."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import UsageError, plural
from ..files import path_of
from ..outputs import files_of
from ..shapes import settings_of
from ..sources.store import Store
from . import options as o
from .options import PathLike, path_or_none, paths_of, text_or_none
from .tables import Reported, Result, Table

if TYPE_CHECKING:
    from ..characters.match import MatchReport
    from ..progress import Progress
    from ..workflows.harvest import HarvestReport


class Harvested(Reported):
    """A table of casts: where it is, how many works and characters it has, what could not be read."""

    report: HarvestReport

    @property
    def table(self) -> Table:
        """One row per count: works, characters, and what was counted on the way."""
        report = self.report
        counts = {"works": report.works, "characters": report.rows, **report.counts}
        return Table({"what": list(counts), "number": list(counts.values())})

    def to_dict(self) -> dict[str, Any]:
        report = self.report
        return {**dataclasses.asdict(report), "mean_characters": round(report.mean_characters, 2)}

    def _line(self) -> str:
        report = self.report
        return f"{plural(report.works, 'work')}, {plural(report.rows, 'character')} in {report.out}"


@files_of("out", reads=("works", "recipe"))
def harvest_wikidata(
    out: o.CastsOut = "casts/wikidata.jsonl.gz", *, contact: o.Contact = None, works: PathLike | None = None,
    endpoint: str | None = None, archive: o.ArchiveDir = None, recipe: o.Recipe = None,
    cache_dir: o.CacheDir = None, offline: o.Offline = False, replace: o.Overwrite = False,
    progress: Progress | None = None,
) -> Harvested:  # fmt: skip
    """Ask Wikidata for works, characters (P674), authors (P50), titles (P1476), labels and aliases.

    Raw answers are kept, so that an interrupted harvest goes on and `offline` replays a finished one.

    Args:
        works: ask only for these items (a file, one Q-number per line).
        endpoint: address of the SPARQL service.

    Raises:
        UsageError: no contact for a harvest over the network. SourceError: the service is down or refuses.
    """
    from ..workflows.harvest import WikidataPlan, read_items, recipe_table
    from ..workflows.harvest import harvest_wikidata as run

    given = {"contact": contact, "endpoint": endpoint}
    table = recipe_table(path_or_none(recipe), "wikidata") | {k: v for k, v in given.items() if v is not None}
    plan = settings_of(WikidataPlan, table, "[wikidata]")
    wanted = read_items(path_of(works)) if works else None
    kept = path_or_none(archive) or _cache(cache_dir, "wikidata")
    return Harvested(run(plan, kept, path_of(out), offline=offline, works=wanted, progress=progress))


@o.only_with("urls", "contact archive")
@files_of("out", reads=("names", "urls", "recipe"))
def harvest_liscu(
    out: o.CastsOut = "casts/liscu.jsonl.gz", *, names: Iterable[PathLike] = (),
    urls: Iterable[PathLike] = (), contact: o.Contact = None, archive: o.ArchiveDir = None,
    recipe: o.Recipe = None, cache_dir: o.CacheDir = None, offline: o.Offline = False,
    replace: o.Overwrite = False, progress: Progress | None = None,
) -> Harvested:  # fmt: skip
    """Read study guides (CliffsNotes, GradeSaver, LitCharts, Shmoop, SparkNotes) from archived pages.

    Give `urls` to fetch and read pages, or `names` for a list that somebody else has made.

    Args:
        names: a published list: title, source, character (.tsv), or a scraper's .jsonl; repeatable.
        urls: a list of archived pages (LiSCU's or BookWorm's columns); repeatable.

    Raises:
        UsageError: neither `names` nor `urls`, or both.
    """
    from ..characters.guide_files import read_addresses
    from ..workflows.harvest import harvest_guides, harvest_name_lists, read_guides_plan

    lists, pages, target = paths_of(names), paths_of(urls), path_of(out)
    if bool(lists) == bool(pages):
        expected = "either --urls FILE or --names FILE, several times if need be"
        raise UsageError("nothing to harvest", expected=expected)
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
        from ..workflows.match import summary

        return summary(self.report) | {"written": [str(path) for path in self.files]}

    def _line(self) -> str:
        found = sum(work.gutenberg_id is not None for work in self.report.works)
        return f"{found:,} of {plural(len(self.report.works), 'work')} matched"


@files_of("out", reads=("tables", "catalogue", "recipe", "overrides"))
def match(
    tables: PathLike | Iterable[PathLike], out: PathLike = "matches", *, catalogue: PathLike | None = None,
    recipe: o.Recipe = None, overrides: PathLike | None = None, mirror: o.Mirror = None,
    offline: o.Offline = False, cache_dir: o.CacheDir = None, replace: o.Overwrite = False,
    progress: Progress | None = None,
) -> Matched:  # fmt: skip
    """Find the Gutenberg book of every work, rule by rule, and choose one cast per book.

    Writes matches.tsv (one line per book, with the reason), works.tsv (every work of every source),
    review.html (the same as a page on which you decide) and casts.jsonl (the casts of the books kept, which
    `create` reads). Where a title alone decides, the text of the mirror or the cached one must have the names
    of the cast, or the book is not kept.

    Args:
        tables: cast tables (JSON lines) of `harvest_wikidata` and `harvest_liscu`.
        out: folder for the tables to review.
        catalogue: Gutenberg's rdf-files.tar.bz2, or gutenbergpy's cache (default: download).
        overrides: your decisions instead of the shipped ones: the file that the review page saves, or
            works.tsv with its column "decision" filled in.

    Raises:
        SourceError, FormatError: a table or the catalogue cannot be had or read.
        UsageError: the tables hold no cast.
    """
    from ..workflows.match import load_overrides, load_settings, run_match, write_report

    settings, decided = load_settings(path_or_none(recipe)), load_overrides(path_or_none(overrides))
    report = run_match(
        paths_of(tables), Store.open(path_or_none(cache_dir)), path_or_none(catalogue),
        settings, decided, mirror=text_or_none(mirror), offline=offline, progress=progress,
    )  # fmt: skip
    return Matched(report, write_report(report, path_of(out)))


def _cache(cache_dir: PathLike | None, name: str) -> Path:
    return Store.open(path_or_none(cache_dir)).path("harvest", name)
