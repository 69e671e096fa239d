"""Build, bring in and look at books from Python, and lists of their characters: `create`, `import_corpus`,
`clean`, `list_books`, `show`, `harvest_wikidata`, `harvest_liscu`, `match`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from dataclasses import replace as changed
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..characters.guide_files import read_addresses
from ..errors import UsageError, plural
from ..files import path_of, write_text
from ..formats.card import CITATION
from ..outputs import files_of
from ..progress import Progress
from ..sample_story.story import cast, gutenberg_text
from ..shapes import settings_of
from ..sources.store import Store
from ..workflows import catalogue
from ..workflows import clean as cleaning
from ..workflows import create as creating
from ..workflows import harvest as harvesting
from ..workflows import import_corpus as importing
from ..workflows import match as matching
from . import options as o
from .options import PathLike, path_or_none, paths_of, text_or_none
from .tables import Reported, Result, Table

if TYPE_CHECKING:
    from ..characters.match import MatchReport
    from ..workflows.clean import CleanBook


@o.only_with("!matched", "casts names wikidata overrides catalogue")
@files_of("out", reads=("recipe", "casts", "names", "wikidata", "matched", "overrides", "catalogue"))
def create(
    out: o.DataSetOut = "silver", *, recipe: PathLike | None = None, casts: Iterable[PathLike] = (),
    names: Iterable[PathLike] = (), wikidata: Iterable[PathLike] = (), matched: PathLike | None = None,
    overrides: PathLike | None = None, catalogue: PathLike | None = None, mirror: o.Mirror = None,
    books: o.BookNames = (), annotation: bool = True, replace: o.Replace = False, jobs: o.Jobs = 0,
    offline: o.Offline = False, cache_dir: o.CacheDir = None, progress: Progress | None = None,
) -> creating.SilverReport:  # fmt: skip
    """Harvest (from files), match, clean, tokenise, annotate, and write one data set folder.

    Args:
        recipe: recipe instead of bookcoref.toml: a file, or the name of one that ships (open-silver.toml).
        casts: cast table of `harvest_liscu` or `harvest_wikidata`; repeatable.
        names: name list (LiSCU's TSV); repeatable.
        wikidata: raw Wikidata answers to replay; repeatable.
        matched: casts.jsonl of `match`: skip harvest and match.
        overrides: your decisions about matches (TOML of the review page, or works.tsv).
        catalogue: Gutenberg's rdf-files.tar.bz2.
        annotation: annotate the books; without it they are written clean and tokenised, without clusters.

    Raises:
        UsageError: nothing to build from, or `out` is not ours. Errors of single books are in the report.
    """
    plan = creating.load_plan(path_or_none(recipe))
    plan = changed(
        plan, casts=(*plan.casts, *paths_of(casts)), names=(*plan.names, *paths_of(names)),
        wikidata=(*plan.wikidata, *paths_of(wikidata)),
        annotate_recipe=plan.annotate_recipe if annotation else None,
        overrides=path_or_none(overrides) or plan.overrides,
    )  # fmt: skip
    return creating.build_silver(
        plan, path_of(out), cache_dir=path_or_none(cache_dir), mirror=text_or_none(mirror),
        catalogue=path_or_none(catalogue), matched=path_or_none(matched), books=tuple(map(str, books)),
        offline=offline, jobs=jobs, replace=replace, progress=progress,
    )  # fmt: skip


@files_of("out", "records", reads=("source",))
def import_corpus(
    kind: str, source: PathLike, out: o.DataSetOut, *, records: PathLike | None = None,
    split: o.SplitName | None = None, replace: o.Overwrite = False, progress: Progress | None = None,
) -> importing.Imported:  # fmt: skip
    """Read another corpus in its public layout and write it as a data set folder.

    Args:
        kind: the corpus: litbank, fantasycoref, ontonotes, preco, gum, corefud, pdnc or booknlp.
        source: your copy of it, in its public layout.
        records: also write all that was read (speakers, quotations, ...) as JSON lines here.
        split: put all documents into this split (default: from the names train, dev, test).

    Raises:
        UsageError: an unknown corpus or split. SourceError, FormatError: files that are missing or wrong.
    """
    files = path_of(source), path_of(out)
    return importing.import_corpus(
        kind, *files, records=path_or_none(records), split=split, progress=progress
    )


class Cleaned(Result):
    """A cleaned book: its `name` ("pg1342", or that of the file) and `text`, what was cut of the file, the
    `notes` of the reading, and the files `written` and `map`."""

    def __init__(self, book: CleanBook, written: Path | None = None, map: Path | None = None) -> None:
        self.book, self.written, self.map = book, written, map
        self.name, self.text, self.notes = book.name, book.body.text, tuple(book.file.notes)

    @property
    def table(self) -> Table:
        """One row per piece that was cut: kind, start and end (characters of the file), an excerpt."""
        text, cuts = self.book.file.source.text, self.book.body.cuts
        rows = [(cut.kind, cut.start, cut.end, cut.excerpt(text)) for cut in cuts]
        return Table.of_rows(("kind", "start", "end", "excerpt"), rows)

    def to_dict(self) -> dict[str, Any]:
        file, body = self.book.file, self.book.body
        told = {
            "name": self.name, "gutenberg_id": file.gutenberg_id, "sha256": self.book.sha256,
            "encoding": file.source.encoding, "file_characters": body.file_length,
            "kept_characters": len(body.text), "chapters": len(body.chapters),
            "cut_shares": {kind: round(share, 6) for kind, share in body.shares().items()},
            "sections": [section.to_dict() for section in body.sections], "notes": list(self.notes),
        }  # fmt: skip
        files = {"written": self.written, "map": self.map}
        return told | {name: str(path) for name, path in files.items() if path is not None}

    def _line(self) -> str:
        kept, length = len(self.text), self.book.body.file_length
        return f"{self.name}, {kept:,} of {length:,} characters kept"


@files_of("out", "map", reads=("source", "recipe", "witness"))
def clean(
    source: PathLike | int, *, out: PathLike | None = None, map: PathLike | None = None,
    recipe: o.Recipe = None, guard: bool = True, emphasis: str = "cut", witness: PathLike | None = None,
    mirror: o.Mirror = None, offline: o.Offline = False, cache_dir: o.CacheDir = None,
    replace: o.Overwrite = False,
) -> Cleaned:  # fmt: skip
    """Remove header, licence, notes, contents and other apparatus of a Gutenberg book.

    The body of the book is kept, with a map back to the file.

    Args:
        source: a file, or the number of a Gutenberg book.
        out: file (one book; with a suffix) or folder for the clean text.
        map: also write the map back to the file (file or folder).
        guard: do not make cuts that exceed the limits.
        emphasis: marks of _emphasis_: "cut", or left as in the released tokens ("released").
        witness: another edition of the book (HTML, EPUB, text) that helps to tell what is not the story;
            with a mirror folder, the site's HTML there.

    Raises:
        SourceError: the text cannot be had. DataError: too much would be cut.
    """
    where, other = text_or_none(mirror), path_or_none(witness)
    if other is None and where and "://" not in where and str(source).isdigit():
        other = cleaning.html_beside(path_of(where), str(source))
    settings = cleaning.read_settings(path_or_none(recipe), apparatus="cut", guard=guard, emphasis=emphasis)
    kept = path_or_none(cache_dir)
    book = cleaning.clean_one(str(source), settings, other, mirror=where, offline=offline, cache_dir=kept)
    text_file, map_file = path_or_none(out), path_or_none(map)
    written = None if text_file is None else cleaning.write_clean(book, text_file)
    return Cleaned(book, written, None if map_file is None else cleaning.write_map(book, map_file))


class Shown(Result):
    """A book at a glance, the mentions of a character, or what stands at a token."""

    def __init__(self, headline: str, document: dict[str, Any], table: Table) -> None:
        self.headline, self._document, self._table = headline, document, table

    @property
    def table(self) -> Table:
        """One row per character of the book, or per mention."""
        return self._table

    def to_dict(self) -> dict[str, Any]:
        return self._document

    def _line(self) -> str:
        return self.headline


@o.only_with("!at", "character")
@files_of(reads=("book", "folder"))
def show(
    book: str, folder: o.BooksFolder = "bookcoref", *, at: o.Count | None = None, character: str | None = None
) -> Shown:
    """Show one book: counts, origin of its text, its characters; the mentions of one, or one place.

    Args:
        book: doc_key, Gutenberg id, title, or a part of its doc_key; or a folder or file with one book.
        at: show what stands at this token.
        character: list the mentions of this character, by its name or part of it.

    Raises:
        UsageError: no such book, token or character.
    """
    path = path_of(folder)
    if at is not None:
        place = catalogue.place_of(path, book, at)
        columns = ("character", "start", "end", "text")
        rows = [[mention[c] for c in columns] for mention in place["mentions"]]
        return Shown(f"{place['doc_key']}, token {at:,}: {place['context']}", place,
                     Table.of_rows(columns, rows))  # fmt: skip
    if character is not None:
        name, found = catalogue.mentions_of(path, book, character)
        mentions = Table.of_rows(("start", "end", "text"), found)
        document = {"character": name, "mentions": mentions.to_dicts()}
        return Shown(f"{name}: {plural(len(found), 'mention')}", document, mentions)
    value = catalogue.describe(path, book)
    people = Table.of_rows(("character", "mentions", "most frequent"), value["characters"])
    return Shown(f"{value['facts']['doc_key']}, {plural(len(people), 'character')}", value, people)


@files_of(reads=("folder",))
def list_books(folder: o.BooksFolder = "bookcoref", cache_dir: o.CacheDir = None) -> Table:
    """List the 53 books: split, counts, which texts are cached and which books are built here."""
    return Table.of_dicts(catalogue.overview(path_of(folder), path_or_none(cache_dir)))


def cite() -> str:
    """Give the BibTeX entry of the BookCoref paper."""
    return CITATION


@files_of("out")
def sample(out: PathLike = "story", *, replace: o.Overwrite = False) -> Path:
    """Write the sample story as a Gutenberg file, with its cast: a book to try `annotate` and `view` on.

    Args:
        out: the folder to write lamp.txt and cast.txt in.

    Returns the folder.

    Raises:
        UsageError: one of the files is there and is another one, or was changed; not with `replace`.
    """
    folder = path_of(out)
    names = "".join(f"{name}\n" for name in cast().values())
    write_text(folder / "lamp.txt", gutenberg_text())
    write_text(folder / "cast.txt", names)
    return folder


# -- lists of characters ---------------------------------------------------------------------------


class Harvested(Reported):
    """A table of casts: where it is, how many works and characters it has, what could not be read."""

    report: harvesting.HarvestReport

    @property
    def table(self) -> Table:
        """One row per count: works, characters, and what was counted on the way."""
        report = self.report
        counts = {"works": report.works, "characters": report.rows, **report.counts}
        return Table({"what": list(counts), "number": list(counts.values())})

    def to_dict(self) -> dict[str, Any]:
        report = self.report
        return {**asdict(report), "mean_characters": round(report.mean_characters, 2)}

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
    given = {"contact": contact, "endpoint": endpoint}
    table = harvesting.recipe_table(path_or_none(recipe), "wikidata")
    table |= {name: value for name, value in given.items() if value is not None}
    plan = settings_of(harvesting.WikidataPlan, table, "[wikidata]")
    wanted = harvesting.read_items(path_of(works)) if works else None
    kept = path_or_none(archive) or _cache(cache_dir, "wikidata")
    found = harvesting.harvest_wikidata(
        plan, kept, path_of(out), offline=offline, works=wanted, progress=progress
    )
    return Harvested(found)


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
    lists, pages, target = paths_of(names), paths_of(urls), path_of(out)
    if bool(lists) == bool(pages):
        expected = "either --urls FILE or --names FILE, several times if need be"
        raise UsageError("nothing to harvest", expected=expected)
    if lists:
        return Harvested(harvesting.harvest_name_lists(lists, target))
    plan = harvesting.read_guides_plan(path_or_none(recipe), contact)
    addresses = [address for path in pages for address in read_addresses(path)]
    kept = path_or_none(archive) or _cache(cache_dir, "study-guides")
    found = harvesting.harvest_guides(plan, addresses, kept, target, offline=offline, progress=progress)
    return Harvested(found)


class Matched(Result):
    """The Gutenberg book of every work; `files` are the tables and the page to review."""

    def __init__(self, report: MatchReport, files: Sequence[Path]) -> None:
        self.report, self.files = report, list(files)

    @property
    def table(self) -> Table:
        """One row per book: its work, its list of characters, the rule and the reason."""
        return Table.of_dicts(self.to_dict()["books"])

    def to_dict(self) -> dict[str, Any]:
        return matching.summary(self.report) | {"written": [str(path) for path in self.files]}

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
    settings = matching.load_settings(path_or_none(recipe))
    decided = matching.load_overrides(path_or_none(overrides))
    report = matching.run_match(
        paths_of(tables), Store.open(path_or_none(cache_dir)), path_or_none(catalogue),
        settings, decided, mirror=text_or_none(mirror), offline=offline, progress=progress,
    )  # fmt: skip
    return Matched(report, matching.write_report(report, path_of(out)))


def _cache(cache_dir: PathLike | None, name: str) -> Path:
    return Store.open(path_or_none(cache_dir)).path("harvest", name)
