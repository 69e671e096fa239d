"""Harvest casts: from Wikidata, or from lists of names that others publish, into one table."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..characters.guide_files import NameTally, join_authors, read_names, rows_of_names
from ..characters.table import CastRow, group_casts, read_table, write_table
from ..characters.wikidata_cast import CastReport, cast_rows
from ..errors import BookcorefError, SourceError, UsageError
from ..progress import Progress
from ..resources import load_toml, resource
from ..shapes import check
from ..sources.http import Fetcher, agent_string
from ..sources.pace import Pace
from ..sources.sparql import Archive, SparqlEndpoint, require_contact
from ..sources.wikidata import WikidataSettings, harvest, is_item

MOST_LOST = 0.1
"""Share of the rows of an existing table that a new harvest may lack and still replace it."""


@dataclass
class HarvestReport:
    """What a harvest brought. `problems` are (what, why); empty when everything could be read."""

    source: str
    out: str
    works: int = 0
    rows: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    statuses: dict[str, int] = field(default_factory=dict)
    problems: list[tuple[str, str]] = field(default_factory=list)
    requests: dict[str, Any] = field(default_factory=dict)

    @property
    def mean_characters(self) -> float:
        """Characters per work."""
        return self.rows / self.works if self.works else 0.0


@dataclass(frozen=True)
class WikidataPlan:
    """The `[wikidata]` table of a harvest recipe: whom to ask, how politely, and for what."""

    endpoint: str = "https://query.wikidata.org/sparql"
    contact: str = ""
    per_second: float = 1.0
    attempts: int = 5
    timeout: float = 75.0
    max_age_days: float | None = None
    most_lost: float = MOST_LOST
    settings: WikidataSettings = field(default_factory=WikidataSettings)


def recipe_table(recipe: Path | None, name: str) -> dict[str, Any]:
    """One table of a harvest recipe (else of the one that ships), over its table [agent]."""
    tables = load_toml(recipe or resource("recipes", "harvest.toml"))
    check(tables, "tables", str(recipe or "harvest.toml"), UsageError)
    return {**tables.get("agent", {}), **tables.get(name, {})}


def harvest_wikidata(
    plan: WikidataPlan, archive: Path, out: Path, *, offline: bool = False,
    works: Sequence[str] | None = None, progress: Progress | None = None,
) -> HarvestReport:  # fmt: skip
    """Ask Wikidata (or replay the kept answers) and write the cast table.

    Raises:
        UsageError: no contact for a harvest over the network.
        SourceError: the endpoint is down or refuses; what it answered is kept in `archive`.
    """
    contact = plan.contact if offline else require_contact(plan.contact)
    fetcher = Fetcher(
        Pace(plan.per_second, plan.attempts), offline=offline, contact=contact, progress=progress
    )
    endpoint = SparqlEndpoint(
        plan.endpoint, agent_string(contact, "SPARQLWrapper"), Archive(archive), fetcher,
        timeout=plan.timeout, max_age_days=plan.max_age_days,
    )  # fmt: skip
    found = harvest(endpoint, plan.settings, works, progress)
    cast = CastReport()
    tally = endpoint.tally
    rows = list(cast_rows(found.works, found.of, found.current, tally.last_retrieved, cast))
    if not rows and not out.exists():
        raise SourceError(
            "the harvest found no character, so there is no table",
            found=f"{len(found.works):,} works; no answer for {len(found.failed):,} items",
            hint="run the same command again later; what the service answered is kept",
        )
    written, shrunk = write_harvest(out, rows, plan.most_lost)
    return HarvestReport(
        "wikidata",
        str(written),
        works=cast.works_with_cast,
        rows=cast.rows,
        counts={
            "works asked for": cast.works,
            "redirected items": len(found.redirects),
            "without any name": len(cast.nameless),
            **dict(sorted(cast.counts.items())),
        },
        problems=[*shrunk, *((item, "the endpoint has no answer for it") for item in found.failed)],
        requests={
            "asked": tally.asked, "replayed": tally.replayed, "retried": tally.retried,
            "too heavy": tally.too_heavy, "first": tally.first_retrieved, "last": tally.last_retrieved,
        },
    )  # fmt: skip


def write_harvest(out: Path, rows: Sequence[CastRow], most_lost: float) -> tuple[Path, list[tuple[str, str]]]:
    """Write a table; (where it is, problems).

    A harvest that lost more than the share `most_lost` of the rows of the table that is there (or found
    nothing) is written beside it, so that an outage or an empty answer never replaces good work.
    """
    try:
        before = sum(1 for _ in read_table(out)) if out.exists() else 0
    except BookcorefError:
        before = 0
    if before and len(rows) < (1 - most_lost) * before:
        suffix = ".jsonl.gz" if out.name.endswith(".jsonl.gz") else out.suffix
        beside = out.with_name(f"{out.name.removesuffix(suffix)}.smaller{suffix}")
        write_table(beside, rows)
        reason = f"only {len(rows):,} characters, {before:,} before: kept the old table, wrote {beside.name}"
        return beside, [(str(out), reason)]
    write_table(out, rows)
    return out, []


def read_items(path: Path) -> list[str]:
    """The Wikidata items in a file, separated by white space.

    Raises:
        UsageError: the file cannot be read, or holds something else than items.
    """
    try:
        items = path.read_text(encoding="utf-8").split()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {path}", found=str(error)) from error
    odd = [item for item in items if not is_item(item)]
    if odd:
        raise UsageError(f"{path} holds something else than items", expected="Q and a number", found=odd[0])
    return items


def harvest_name_lists(paths: Sequence[Path], out: Path, *, most_lost: float = MOST_LOST) -> HarvestReport:
    """Clean published lists of names (tab-separated or the scraper's .jsonl) into a cast table."""
    tally = NameTally()
    rows = list(rows_of_names(join_authors(name for path in paths for name in read_names(path)), tally))
    written, shrunk = write_harvest(out, rows, most_lost)
    return HarvestReport(
        "name lists",
        str(written),
        works=len(group_casts(rows)),
        rows=len(rows),
        counts={
            "entries read": tally.read,
            "entries changed": tally.changed,
            **dict(tally.rules.most_common()),
        },
        problems=[*shrunk, *((name, "names nobody") for name in tally.rejected)],
    )
