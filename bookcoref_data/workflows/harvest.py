"""Harvest casts into one table: from Wikidata, from published lists of names, from archived study guides.

A guide's list pages come first. Pages of single persons are fetched only when no list could be read, since
they repeat one name each (LiSCU's 4,970 Shmoop person pages stand for 1,010 guides).
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from ..characters.guide_files import GuideAddress, NameTally, join_authors, read_names, rows_of_names
from ..characters.guides import parse_page
from ..characters.guides.addresses import GuidePlace, is_list, list_addresses, place_of
from ..characters.guides.page import KINDS, LIST, GuideEntry, GuidePage
from ..characters.names import read_name
from ..characters.table import CastRow, group_casts, read_table, write_table
from ..characters.wikidata_cast import CastReport, cast_rows
from ..errors import BookcorefError, OfflineError, SourceError, UsageError, require_choice
from ..files import read_regular, utf8, write_text
from ..progress import Progress, followed
from ..resources import load_toml, resource
from ..shapes import check, settings_of
from ..sources.http import Fetcher, Pace, agent_string
from ..sources.sparql import Archive, SparqlEndpoint, require_contact
from ..sources.wayback import OK, FetchedPage, PageStore, parse_address
from ..sources.wikidata import WikidataSettings, harvest, is_item
from ..words import fold

Found = TypeVar("Found")
MANIFEST = "manifest.tsv"
"""In the folder of kept pages: one line per page of the last run."""
_MOST_FURTHER_PAGES = 20


@dataclass(frozen=True)
class GuidesPlan:
    """The `[study_guides]` table of a harvest recipe.

    `strict` refuses every snapshot but the one asked for; `ceiling` (14 digits) refuses snapshots from that
    moment on. `complete` adds the list pages of each guide to the addresses given, so that minor characters
    are found too; `person_pages` is "if-needed", "always" or "never". `archive` is another address of the
    archive ("http://localhost:8080/web/"), "" for the one in the list.
    """

    contact: str = ""
    per_second: float = 1.0
    attempts: int = 6
    strict: bool = False
    ceiling: str = ""
    complete: bool = True
    person_pages: str = "if-needed"
    archive: str = ""

    def __post_init__(self) -> None:
        require_choice("person_pages", self.person_pages, ("if-needed", "always", "never"))


def read_guides_plan(
    recipe: Path | None = None, contact: str | None = None, *, over: Mapping[str, Any] | None = None
) -> GuidesPlan:
    """The `[study_guides]` table of a recipe, by default of the one that ships, with `over` above it."""
    table = recipe_table(recipe, "study_guides") | dict(over or {})
    return settings_of(GuidesPlan, table | ({"contact": contact} if contact else {}), "[study_guides]")


@dataclass
class Guide:
    """One study guide: where it stands, what is known of it beforehand, and the addresses to read.

    Where its texts are wanted: of which kinds, and the Gutenberg book it is about where that is known.
    """

    place: GuidePlace
    title: str = ""
    author: str = ""
    lists: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    kinds: frozenset[str] = frozenset()
    gutenberg_key: str = ""
    doc_key: str = ""
    split: str = ""


PageOutcome = tuple[FetchedPage, str, str, int]
"""A line of the manifest: a page and how it was had, its site, the problem, and what could be read on it."""


def guides_of(addresses: Sequence[GuideAddress], *, complete: bool) -> list[Guide]:
    """The guides that a list of archived addresses belongs to, in order of appearance."""
    guides: dict[tuple[str, str], Guide] = {}
    for given in addresses:
        archived = parse_address(given.address)
        place = place_of(archived.original) if archived else None
        if archived is None or place is None:
            expected = "an archived page (<archive>/web/<stamp>/<address>) of one of the five study guides"
            raise UsageError(f"cannot harvest {given.address!r}", expected=expected)
        guide = guides.setdefault((place.site, place.id), Guide(place, given.title, given.author))
        (guide.lists if is_list(archived.original) else guide.others).append(given.address)
        if complete:
            # A guide's front page or a person's page says in which snapshot its lists are to be looked for.
            known = {_key(address) for address in guide.lists}
            lists = [str(replace(archived, original=o)) for o in list_addresses(archived.original)]
            guide.lists += [address for address in lists if _key(address) not in known]
    return list(guides.values())


def _key(address: str) -> str:
    return original_of(address).lower().rstrip("/")


def harvest_guides(
    plan: GuidesPlan, addresses: Sequence[GuideAddress], pages: Path, out: Path, *, offline: bool = False,
    progress: Progress | None = None,
) -> "HarvestReport":  # fmt: skip
    """Read all guides and write the cast table and `<pages>/manifest.tsv`.

    A page that cannot be had or read is a problem in the report and is asked for again by the next run;
    the rest of the harvest goes on.
    """
    guides = guides_of(addresses, complete=plan.complete)
    read = partial(_read_guide, plan)
    rows, statuses, problems = read_guides(guides, read, plan, pages, offline=offline, progress=progress)
    written, shrunk = write_harvest(out, rows, MOST_LOST)
    counts = {"guides asked for": len(guides), "minor": sum(row.minor for row in rows)}
    counts |= sorted(Counter(flag for row in rows for flag in row.flags).items())
    works, asked = len({(row.source, row.work_id) for row in rows}), {"pages": sum(statuses.values())}
    problems = [*shrunk, *problems]
    return HarvestReport("study guides", str(written), works, len(rows), counts, statuses, problems, asked)


def read_guides(
    guides: Sequence[Guide], read: "Callable[[PageReader], list[Found]]", plan: GuidesPlan, pages: Path, *,
    offline: bool = False, progress: Progress | None = None,
) -> tuple[list[Found], dict[str, int], list[tuple[str, str]]]:  # fmt: skip
    """What `read` finds in each guide, how many pages had which outcome, and problems as (what, why).
    `<pages>/manifest.tsv` says what became of each page."""
    fetcher = Fetcher(Pace(plan.per_second, plan.attempts), offline=offline, contact=plan.contact or None)
    store = PageStore(pages, fetcher, plan.strict, plan.ceiling, plan.archive)
    outcomes: list[PageOutcome] = []
    problems: list[tuple[str, str]] = []
    found: list[Found] = []
    try:
        for guide in followed(guides, progress, "study guides", len(guides), "guides"):
            found += read(PageReader(store, guide, outcomes, problems))
    finally:
        lines = ["status\tproblem\tentries\tsite\tstamp\tsha256\tretrieved\taddress"]
        for page, site, problem, entries in outcomes:
            cells = (page.status, problem, str(entries), site, page.stamp, page.sha256, page.retrieved)
            lines.append("\t".join((*cells, page.address)))
        write_text(pages / MANIFEST, "\n".join(lines) + "\n")
    counts = Counter(problem or page.status for page, _, problem, _ in outcomes)
    return found, dict(sorted(counts.items())), problems


@dataclass
class PageReader:
    """Fetches and reads the pages of one guide, and notes the outcome of each."""

    store: PageStore
    guide: Guide
    outcomes: list[PageOutcome]
    problems: list[tuple[str, str]]

    def read(self, address: str) -> tuple[FetchedPage, GuidePage | None]:
        """The record and the content of a page; None when it could not be had."""
        site, page = self.guide.place.site, None
        try:
            for anew in (False, True):  # a page that cannot be read may be the archive's own
                record, body = self.store.get(address, anew=anew)
                page = parse_page(site, body, original_of(address)) if record.status == OK else None
                if not page or not page.problem:
                    break
            cut = re.search(rb"<body", body, re.I) and not re.search(rb"</(?:body|html)", body, re.I)
            read_badly = (page.problem or "the page has no end" * bool(cut)) if page else None
            problem = (f"{record.status} {record.detail}" if read_badly is None else read_badly).strip()
        except OfflineError as error:
            record, problem = FetchedPage(address, "not kept"), error.what
        read = (problem, len(page.entries)) if page else ("", 0)
        self.outcomes.append((record, site, *read))
        if problem:
            self.problems.append((address, problem))
        return record, page

    def read_list(self, address: str) -> Iterator[tuple[FetchedPage, GuidePage]]:
        """A list page and the pages that go on with it."""
        waiting: list[str] = [address]
        seen: set[str] = set()
        while waiting and len(seen) < _MOST_FURTHER_PAGES:
            current = waiting.pop(0)
            if _key(current) in seen:
                continue
            seen.add(_key(current))
            record, page = self.read(current)
            if page:
                yield record, page
                archived = parse_address(current)
                waiting += [str(archived.at(link)) for link in page.more] if archived else []


def original_of(address: str) -> str:
    """The address of an archived page before it was archived; any other address as it is."""
    return archived.original if (archived := parse_address(address)) else address


def _read_guide(plan: GuidesPlan, reader: PageReader) -> list[CastRow]:
    """The rows of one guide: its lists, then what else is needed for names, title and author."""
    guide, problems = reader.guide, reader.problems
    read: list[tuple[FetchedPage, GuidePage]] = []
    for address in guide.lists:
        read += reader.read_list(address)
    listed = any(page.kind == LIST and page.entries for _, page in read)
    for address in guide.others:
        # Whether a page that is no list has to be read: for persons, or for title and author.
        place = place_of(original_of(address))
        if place and original_of(address).rstrip("/").endswith(place.root):
            continue
        if original_of(address).rstrip("/").lower().endswith("summary"):
            wanted = not any(page.title and page.author for _, page in read)
        else:
            wanted = plan.person_pages == "if-needed" and not listed
        if wanted or plan.person_pages == "always":
            record, page = reader.read(address)
            read += [(record, page)] if page else []
    # Title and author: from the address list, else from the first page that has them.
    titles = list(dict.fromkeys(page.title for _, page in read if page.title))
    title = guide.title or (titles[0] if titles else "")
    for record, page in read:
        if page.title and title and not _alike(page.title, title):
            problems.append((record.address, f"page of another book: {page.title!r} instead of {title!r}"))
    author = guide.author or next((page.author for _, page in read if page.author), "")
    flags = (() if title else ("no-title",)) + (() if author else ("no-author",))
    title = title or guide.place.id
    others = tuple(other for other in titles if other != title and _alike(other, title))
    # Entries of all pages, each name once, lists before single persons, minor ones last
    named: dict[str, tuple[FetchedPage, GuideEntry]] = {}
    for record, found in sorted(read, key=lambda pair: KINDS.index(pair[1].kind)):
        for entry in found.entries:
            named.setdefault(fold(entry.name) or entry.name, (record, entry))
    entries = list(named.values())
    if not entries:
        problems.append((f"{guide.place.site}: {guide.place.id}", "no character found"))
    rows: list[CastRow] = []
    for record, entry in entries:
        for person in read_name(entry.name, author=author).people:
            rows.append(
                CastRow(
                    source=guide.place.site, work_id=guide.place.id, title=title, titles=others,
                    author=author, authors=(author,) if author else (), character=person.name,
                    character_aliases=person.aliases, raw_character=entry.name, order=len(rows),
                    minor=entry.minor, flags=flags + person.flags, address=record.address,
                    retrieved=record.retrieved[:10],
                )
            )  # fmt: skip
    return rows


def _alike(one: str, other: str) -> bool:
    first, second = (set(fold(title).split()) - {"the", "a", "an"} for title in (one, other))
    return first <= second or second <= first


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
    """Ask Wikidata (or replay the kept answers) and write the cast table. Raises UsageError: no contact for a
    harvest over the network. SourceError: the endpoint is down or refuses; what it answered is kept in
    `archive`."""
    contact = plan.contact if offline else require_contact(plan.contact)
    pace = Pace(plan.per_second, plan.attempts)
    fetcher = Fetcher(pace, offline=offline, contact=contact, progress=progress)
    endpoint = SparqlEndpoint(
        plan.endpoint, agent_string(contact, "SPARQLWrapper"), Archive(archive), fetcher,
        timeout=plan.timeout, max_age_days=plan.max_age_days,
    )  # fmt: skip
    found = harvest(endpoint, plan.settings, works, progress)
    cast, tally = CastReport(), endpoint.tally
    rows = list(cast_rows(found.works, found.of, found.current, tally.last_retrieved, cast))
    if not rows and not out.exists():
        given = f"{len(found.works):,} works; no answer for {len(found.failed):,} items"
        hint = "run the same command again later; what the service answered is kept"
        raise SourceError("the harvest found no character, so there is no table", found=given, hint=hint)
    written, shrunk = write_harvest(out, rows, plan.most_lost)
    told, asked = {*found.facts, *found.redirects, *found.failed}, dict.fromkeys(works or ())
    unknown = [(item, "the endpoint says nothing of it") for item in asked if item not in told]
    return HarvestReport(
        "wikidata", str(written), cast.works_with_cast, cast.rows,
        {"works asked for": len(asked) or cast.works, "redirected items": len(found.redirects),
         "without any name": len(cast.nameless), **dict(sorted(cast.counts.items()))},
        problems=[*shrunk, *((item, "the endpoint has no answer for it") for item in found.failed), *unknown],
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
    """The Wikidata items in a file, separated by white space."""
    items = utf8(read_regular(path, 64 << 20), path).split()
    odd = [item for item in items if not is_item(item)]
    if odd:
        raise UsageError(f"{path} holds something else than items", expected="Q and a number", found=odd[0])
    return items


def harvest_name_lists(paths: Sequence[Path], out: Path, *, most_lost: float = MOST_LOST) -> HarvestReport:
    """Clean published lists of names (tab-separated or the scraper's .jsonl) into a cast table."""
    tally = NameTally()
    rows = list(rows_of_names(join_authors(name for path in paths for name in read_names(path)), tally))
    written, shrunk = write_harvest(out, rows, most_lost)
    counts = {"entries read": tally.read, "entries changed": tally.changed} | dict(tally.rules.most_common())
    problems, works = [*shrunk, *((name, "names nobody") for name in tally.rejected)], len(group_casts(rows))
    return HarvestReport("name lists", str(written), works, len(rows), counts, problems=problems)
