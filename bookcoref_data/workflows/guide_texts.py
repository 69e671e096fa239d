"""Texts of archived study guides as a data set: BookWorm's two tasks and LiSCU's.

    OUT/{description,analysis,summary}/<split>.jsonl   what guides say, one row a text
    OUT/identification/<split>.jsonl                   masked descriptions with options (LiSCU)

Pages come through the harvest of casts: the same store (polite, kept, with a status for each page) and the
same parsers. A page that cannot be had or read is a problem in the report; the rest goes on, and the next
run asks for that page again.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ..characters.guide_files import GuideAddress, ListedName, read_addresses, read_names
from ..characters.guides.addresses import is_summary, summary_address
from ..characters.guides.page import KINDS as PAGES
from ..characters.guides.page import PERSON, SUMMARY, GuidePage
from ..characters.names import read_name
from ..errors import SourceError, UsageError
from ..progress import Progress
from ..resources import load_toml, resource
from ..shapes import AsFields
from ..sources.wayback import FetchedPage, parse_address
from ..tasks.contexts.splits import Tables, leakless_splits, read_tables
from ..tasks.folder import TaskFolder, write_task_folder
from ..tasks.guides.identification import IDENTIFICATION, questions_of
from ..tasks.guides.texts import FEATURES, KINDS, GuideText, keep_long, rows_of, split_by_title
from ..words import fold
from . import harvest as harvesting
from .contexts import ContextPlan
from .match import read_works_table
from .verify import published_books

NOTES = (
    "The texts are the study guides' own and under copyright: use them, do not pass them on.",
    "Pages are those of the Wayback Machine; `address` says which.",
)
_SPLITS = {"val": "validation"}


@dataclass
class GuideTextsReport(AsFields):
    """What came of a run: texts by kind, what was left out and why, pages by status, problems."""

    out: str
    guides: int
    texts: dict[str, int] = field(default_factory=dict)
    left_out: dict[str, int] = field(default_factory=dict)
    splits: dict[str, int] = field(default_factory=dict)
    pages: dict[str, int] = field(default_factory=dict)
    problems: list[tuple[str, str]] = field(default_factory=list)


# --- which guides -----------------------------------------------------------------------------------------


def bookworm_guides(tables: Tables) -> list[harvesting.Guide]:
    """The guides of BookWorm's tables, each with the kinds of text that its tables want from it.

    Gutenberg ids are those of the tables; the split is one per book, without leaks between tasks. The
    document key is BookCoref's where the book is one of its own.
    """
    splits = leakless_splits(tables)
    known = {book["gutenberg_key"]: book["doc_key"] for book in published_books()}
    found: dict[tuple[str, str, str], harvesting.Guide] = {}
    for task, rows in tables.data.items():
        for row in rows:
            (guide,) = harvesting.guides_of([GuideAddress(row.url, row.title, row.author)], complete=True)
            key = (guide.place.site, guide.place.id, row.book)
            before, doc_key = found.get(key, guide), known.get(row.book, f"gutenberg_{row.book}")
            others = list(dict.fromkeys([*before.others, *guide.others]))
            kinds = before.kinds | {task, "summary"}
            split = _SPLITS.get(splits[row.book], splits[row.book])
            found[key] = replace(guide, others=others, kinds=kinds, gutenberg_key=row.book, doc_key=doc_key,
                                 split=split)  # fmt: skip
    return list(found.values())


def guides_plan(
    source: Path, recipe: Path | None = None, harvest: Path | None = None, contact: str | None = None
) -> harvesting.GuidesPlan:
    """How pages are asked for: the harvest's recipe, and for BookWorm's tables their own recipe above it."""
    own = load_toml(recipe or resource("recipes", "bookworm.toml")).get("study_guides", {})
    return harvesting.read_guides_plan(harvest, contact, over=own if source.is_dir() else None)


def listed_guides(paths: Iterable[Path], works: Mapping[tuple[str, str], str]) -> list[harvesting.Guide]:
    """The guides of lists of addresses (LiSCU's kind, site, url): their descriptions and summaries.

    `works` gives the Gutenberg id of a (source, guide) that `match` has found (`read_works`).
    """
    addresses = [address for path in paths for address in read_addresses(path)]
    kinds = frozenset({"description", "summary"})
    known = {book["gutenberg_key"]: book["doc_key"] for book in published_books()}
    guides = harvesting.guides_of(addresses, complete=True)
    for guide in guides:
        guide.kinds, guide.gutenberg_key = kinds, works.get((guide.place.site, guide.place.id), "")
        if book := guide.gutenberg_key:
            guide.doc_key = known.get(book, f"gutenberg_{book}")
    return guides


def read_works(path: Path) -> dict[tuple[str, str], str]:
    """The Gutenberg id of every matched (source, work_id), from `works.tsv` of `bookcoref-data match`."""
    rows = [row for _, row in read_works_table(path, ("source", "work_id", "gutenberg_id"))]
    return {(row["source"], row["work_id"]): row["gutenberg_id"] for row in rows if row["gutenberg_id"]}


# --- reading ----------------------------------------------------------------------------------------------


def texts_of(reader: harvesting.PageReader) -> list[GuideText]:
    """The wanted texts of one guide: its lists, the pages of persons that they link to, its summary."""
    guide = reader.guide
    # The pages of a guide that the wanted kinds of text need.
    read: list[tuple[FetchedPage, GuidePage]] = []
    if guide.kinds & {"description", "analysis"}:
        for address in guide.lists:
            read += reader.read_list(address)
        # Pages of single persons that hold what is wanted: given ones, and those that the lists link to.
        described_alone = "description" in guide.kinds and guide.place.site in ("litcharts", "shmoop")
        needed: list[str] = []
        if "analysis" in guide.kinds or described_alone:
            for given in guide.others:
                # No person's page: the front page of the guide, an overview of CliffsNotes, a summary
                path = urlsplit(harvesting.original_of(given)).path.rstrip("/")
                last = path.rpartition("/")[2].lower()
                front = path == guide.place.root.rstrip("/") or last.endswith("-at-a-glance")
                if not front and not last.startswith("about-") and not is_summary(path):
                    needed.append(given)
            for fetched, listed in read:
                archived = parse_address(fetched.address)
                links = [*(entry.link for entry in listed.entries if entry.link), *listed.analyses]
                needed += [str(archived.at(link)) for link in links] if archived else []
        seen: dict[str, str] = {}
        for given in needed:
            seen.setdefault(harvesting.original_of(given).lower().rstrip("/"), given)
        for address in seen.values():
            record, page = reader.read(address)
            read += [(record, page)] if page else []
    if "summary" in guide.kinds:
        for address in _summary_pages(guide):
            read += reader.read_list(address)
    title = guide.title or next((page.title for _, page in read if page.title), "") or guide.place.id
    author = guide.author or next((page.author for _, page in read if page.author), "")
    blank = GuideText(
        "", guide.place.site, guide.place.id, title, author, "", doc_key=guide.doc_key or guide.place.id,
        gutenberg_key=guide.gutenberg_key,
    )  # fmt: skip
    found = _texts_of_people(blank, read)
    # The summary of the book, of all its pages
    if pages := [(record, page.text) for record, page in read if page.kind == SUMMARY and page.text]:
        text = "\n\n".join(part for _, part in pages)
        found.append(replace(blank, kind="summary", text=text, address=pages[0][0].address))
    wanted = [text for text in found if text.kind in guide.kinds]
    if not wanted:
        reader.problems.append((f"{guide.place.site}: {guide.place.id}", "no text found"))
    return wanted


def _summary_pages(guide: harvesting.Guide) -> list[str]:
    """The guide's summary: a given address that is one, else where its site keeps it."""
    known = [*guide.others, *guide.lists]
    if given := [address for address in known if is_summary(harvesting.original_of(address))]:
        return given[:1]
    for address in known:
        archived = parse_address(address)
        derived = summary_address(archived.original) if archived else None
        if archived and derived:
            return [str(replace(archived, original=derived))]
    return []


def _texts_of_people(blank: GuideText, read: Sequence[tuple[FetchedPage, GuidePage]]) -> list[GuideText]:
    """Descriptions and analyses by person, in the order of the guide; a longer text of a kind wins."""
    found: dict[tuple[str, str], GuideText] = {}
    order: dict[str, int] = {}
    for record, page in sorted(read, key=lambda pair: PAGES.index(pair[1].kind)):
        for entry in page.entries:
            people = read_name(entry.name, author=blank.author).people
            if not people:
                continue
            # An entry about several people keeps its name as it stands.
            alone = people[0] if len(people) == 1 else None
            name, aliases = (alone.name, alone.aliases) if alone else (entry.name, ())
            place = order.setdefault(fold(name), len(order))
            # Lists describe, a person's own page analyses; those of Shmoop and LitCharts describe, too.
            person = page.kind == PERSON
            describes = not person or blank.source in ("litcharts", "shmoop")
            description, analysis = entry.text if describes else "", entry.analysis if person else ""
            for kind, text in (("description", description), ("analysis", analysis)):
                known = found.get((kind, fold(name)))
                if text and (known is None or len(known.text) < len(text)):
                    found[kind, fold(name)] = replace(
                        blank, kind=kind, text=text, character=known.character if known else name,
                        aliases=aliases, minor=entry.minor, order=place, address=record.address,
                    )  # fmt: skip
    return sorted(found.values(), key=lambda text: (text.kind, text.order))


# --- LiSCU's keys -----------------------------------------------------------------------------------------


def keep_listed(
    texts: Sequence[GuideText], names: Sequence[ListedName]
) -> tuple[list[GuideText], dict[str, str], int]:
    """Only the characters of a published list: texts under its names, their splits, and keys not found.

    A key is (source, title, character) as scraped; capitals, accents and punctuation do not count. A summary
    is kept, in the split of its guide's characters.
    """
    scraped = ((n.scraped_title or n.title, n.scraped_character or n.character, n) for n in names)
    wanted = {(n.source, fold(title), fold(character)): n for title, character, n in scraped}
    kept: list[GuideText] = []
    placed: dict[str, str] = {}
    by_guide: dict[tuple[str, str], str] = {}
    found: set[tuple[str, str, str]] = set()
    for text in texts:
        raw = [fold(name) for name in (text.character, *text.aliases)] if text.character else []
        keys = [(text.source, fold(text.title), name) for name in raw]
        key = next((k for k in keys if k in wanted), None)
        if key is None or text.kind == "summary":
            continue
        name = wanted[key]
        found.add(key)
        renamed = replace(text, title=name.title, character=name.character)
        kept.append(renamed)
        split = _SPLITS.get(name.split, name.split) or split_by_title(name.title)
        placed[renamed.id] = by_guide[text.source, text.guide] = split
    for text in texts:
        if text.kind == "summary" and (text.source, text.guide) in by_guide:
            kept.append(text)
            placed[text.id] = by_guide[text.source, text.guide]
    return kept, placed, len(wanted) - len(found)


# --- writing ----------------------------------------------------------------------------------------------


def write_guide_texts(
    texts: Sequence[GuideText], splits: Mapping[str, str], plan: ContextPlan, out: Path,
    settings: Mapping[str, Any], report: GuideTextsReport,
) -> None:  # fmt: skip
    """Write the folder and count it in `report`."""
    kept, short = keep_long(texts, plan.least_words, strictly=plan.strictly, tokens=plan.tokens)
    tables: dict[tuple[str, str], Sequence[Mapping[str, Any]]] = dict(rows_of(kept, splits))
    # The filter of length is BookWorm's; LiSCU asks about every description.
    for question in questions_of(texts):
        if split := splits.get(question["id"], ""):
            place = ("identification", split)
            tables[place] = [*tables.get(place, ()), question]
    if not tables:
        hint = "shorter texts pass with another recipe (--recipe), table [filters]"
        told = f"{len(texts)} texts, {len(short)} too short"
        raise UsageError("no text is left to write", found=told, hint=hint)
    filters = {"least_words": plan.least_words, "strictly": plan.strictly, "tokens": plan.tokens}
    content = TaskFolder(
        "guides", "Texts of study guides", FEATURES, tables, {**filters, **settings}, NOTES,
        {"identification": IDENTIFICATION},
    )  # fmt: skip
    write_task_folder(out, content)
    counts = Counter(text.kind for text in kept)
    report.texts = {kind: counts[kind] for kind in KINDS if counts[kind]}
    report.left_out |= {f"too short: {kind}": n for kind, n in Counter(text.kind for text in short).items()}
    if outside := sum(text.id not in splits for text in kept):
        report.left_out["in no split"] = outside
    report.splits = {f"{config} {split}": len(some) for (config, split), some in tables.items()}


def build_guide_texts(
    source: Path, names: Path | None, works: Path | None, plan: ContextPlan,
    guides: harvesting.GuidesPlan, pages: Path, out: Path, *, offline: bool = False,
    progress: Progress | None = None,
) -> GuideTextsReport:  # fmt: skip
    """The whole way: guides of a folder of BookWorm's tables, or of a list of addresses, to a folder.

    With `names` only the characters of that published list (LiSCU's) are kept, in its splits. `works` says
    which Gutenberg book a guide of a list is about; BookWorm's tables say so themselves.
    """
    if source.is_dir():
        asked = bookworm_guides(read_tables(source))
    else:
        asked = listed_guides([source], read_works(works) if works else {})
    texts, statuses, problems = harvesting.read_guides(
        asked, texts_of, guides, pages, offline=offline, progress=progress
    )
    if not texts:
        raise SourceError(
            "no page of a guide could be read",
            found=", ".join(f"{count:,} {status}" for status, count in statuses.items()),
            hint=f"{pages / harvesting.MANIFEST} has a line for every page; "
            "another run asks for the missing ones again",
        )
    report = GuideTextsReport(str(out), len(asked), pages=statuses, problems=problems)
    if names is not None:
        kept, splits, missing = keep_listed(texts, list(read_names(names)))
        report.left_out["characters of the list not found"] = missing
        if unlisted := len(texts) - len(kept):
            report.left_out["texts about nobody of the list"] = unlisted
        texts = kept
    else:
        # The split of its guide, else by the hash of the title
        known = {(a.place.site, a.place.id, a.gutenberg_key): a.split for a in asked}
        splits = {t.id: known[t.source, t.guide, t.gutenberg_key] or split_by_title(t.title) for t in texts}
    settings = {"source": source.name, "names": names.name if names else ""}
    write_guide_texts(texts, splits, plan, out, settings, report)
    return report
