"""`annotate`, `annotate_many` and `propose_cast` for Python."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..annotation.cast import Cast, format_cast, parse_cast
from ..annotation.plan import Plan, default_plan, read_plan
from ..books.facts import one_called
from ..edits import Conflict, Effect, effects
from ..errors import BookcorefError, UsageError, plural, require_choice
from ..files import path_of, safe_name, write_text
from ..formats.annotated import check_kept, has_reasons, read_annotations
from ..formats.jsonl import read as read_jsonl
from ..outputs import files_of
from ..progress import Progress, Silent
from ..resources import resource
from ..shapes import attributes
from ..sources.store import Store
from ..workflows import annotate as work
from ..workflows import annotate_many as many
from ..workflows import casts, correct, datatrove_engine, given
from ..workflows import engine as engines
from . import options as o
from .books import AnnotatedBook, Books, parser_of
from .options import PathLike, path_or_none
from .tables import Result, Table

if TYPE_CHECKING:
    from ..annotation.propose import Proposal
    from ..workflows.annotate import Annotated, Source

AUTO = "auto"
Words = str | None
"""A text itself: only Python can give it."""
ENGINES = ("local", "datatrove")


@o.only_with("edits", "dry_run accept")
@o.only_with("out", "resume")
@files_of("out", reads=("book", "cast", "recipe", "edits", "report"))
def annotate(
    book: PathLike | AnnotatedBook | Source | None = None, cast: o.CastLike = None, *, text: Words = None,
    narrator: str | Iterable[str] = (), backend: o.BackendName = "embedded", recipe: o.Recipe = None,
    steps: str | Iterable[str] = (), edits: PathLike | None = None, dry_run: bool = False,
    accept: bool = False, least: o.Proportion | None = None, language: o.Language = "",
    out: PathLike | None = None, resume: bool = False, report: PathLike | None = None,
    replace: o.Replace = False, progress: Progress | None = None,
) -> AnnotatedBook:  # fmt: skip
    """Annotate a book: names of the cast, pronouns, noun phrases, and who speaks each quotation.

    Args:
        book: a Gutenberg file, a plain text, `.jsonl` of tokenised books, or a folder of these.
        cast: a file with one "Name; alias; alias" per line, a folder of them for many books, or "auto":
            propose it from the book (default: the cast that the book brings along).
        narrator: who says "I" outside quotations: NAME, or for chapters NAME:16-18; may be repeated.
        steps: the steps to run, by commas: "link,filter,windows,groups" (default: all).
        edits: corrections (edits.jsonl): kept as given, and used as evidence for the rest.
        dry_run: show what the corrections change elsewhere, by character; write nothing.
        accept: write it although more than 1 % of somebody's mentions change elsewhere.
        least: keep only links and speakers that are right with at least this probability.
        out: folder for the annotation and for the state after each step.
        resume: go on from the steps saved in `out`.
        report: gold (`.jsonl`, same tokens): give the scores after each step.

    In Python `book` is one book, also one in memory; a string with a line end, or `text`, is the text itself,
    however short. `cast` may be a list of names. Without any, a cast
    is proposed where the book brings none. `conflicts` of the result are the corrections that need a person,
    `effects` what changed beside them: against the annotation in `out`, else against a reading without them.

    Raises:
        SourceError, DataError: the book cannot be read.
        UsageError: the cast, narrator, recipe or steps do not fit; `out` has other books.
        BookcorefError: `edits` change much elsewhere, and `accept` is not given; nothing is written to `out`.
    """
    if text is None and isinstance(book, str) and "\n" in book:
        book, text = None, book
    if (book is None) == (text is None):
        raise UsageError("annotate needs one book", expected="a file, a book in memory, or text=...")
    several = "bc.annotate_many(path, out=...) annotates all of them"
    source = one_source(book, hint=several) if text is None else work.text_source(text.encode(), Path("text"))
    folder = path_or_none(out)
    careful = folder is not None and not (dry_run or accept)
    corrections = None if edits is None else partial(_read_corrected, path_of(edits), folder, careful)
    return _in_turn(
        [source], plan_for(recipe, backend, least, language), cast, folder, path_or_none(report),
        corrections=corrections, dry_run=dry_run, replace=replace, narrators=narrators_of(narrator),
        steps=_steps(steps) or None, resume=resume, progress=progress,
    )[0]  # fmt: skip


@o.only_with("engine=datatrove", "tasks slurm")
@o.only_with("out", "resume")
@files_of("out", reads=("books", "cast", "recipe", "report"))
def annotate_many(
    books: PathLike | Iterable[PathLike | AnnotatedBook | Source], cast: o.CastLike = None, *,
    out: PathLike | None = None, narrator: str | Iterable[str] = (), backend: o.BackendName = "embedded",
    recipe: o.Recipe = None, steps: str | Iterable[str] = (), least: o.Proportion | None = None,
    language: o.Language = "", resume: bool = False, report: PathLike | None = None, jobs: o.Jobs = 0,
    engine: o.Engine = "local", tasks: o.Count = 0, slurm: str = "", cache_dir: o.CacheDir = None,
    replace: o.Replace = False, progress: Progress | None = None,
) -> AnnotatedMany:  # fmt: skip
    """Annotate many books. A book that fails stops no other.

    A path with `out` is worked on in parallel, and finished books are kept in the cache: the same call
    again does only what is missing. Books in memory, and calls without `out` or with `report`, are annotated
    one after the other.

    Args:
        books: a folder of texts or `.jsonl` files, a data set folder, a `.jsonl` file, or a list of books.
        cast: as `annotate`; a folder has a file for each book.
        out: the folder to write.
        engine: what runs many books; "datatrove" needs the extra of that name.
        tasks: with datatrove: number of tasks (0: one per job).
        slurm: with datatrove: submit to this Slurm partition, as NAME or NAME:TIME. The same call without
            it collects the books when the job has ended.

    The other arguments are those of `annotate`.

    Raises:
        UsageError: no books, two of one key, a cast that is missing, or `out` would lose books.
    """
    plan, names = plan_for(recipe, backend, least, language), narrators_of(narrator)
    folder, wanted = path_or_none(out), _steps(steps)
    if isinstance(books, str | os.PathLike) and folder is not None and report is None:
        root = Store.open(path_or_none(cache_dir)).root
        if not (cast is None or isinstance(cast, str | os.PathLike)):
            expected = "a cast file, a folder of them, or 'auto'"
            raise UsageError("many books take no list of names", expected=expected)
        shelf = many.Shelf(path_of(books), plan, root, path_or_none(cast), names, wanted)
        return _in_parallel(shelf, folder, engine, jobs, tasks, slurm, replace, progress)
    given: Any = books
    if isinstance(books, str | os.PathLike | AnnotatedBook) or not isinstance(books, Iterable):
        given = [books]
    sources = [source for book in given for source in sources_of(book)]
    done = _in_turn(
        sources, plan, cast, folder, path_or_none(report), replace=replace, narrators=names,
        steps=wanted or None, resume=resume, progress=progress,
    )  # fmt: skip
    return AnnotatedMany(None, done[0].files if done else (), books=done)


class AnnotatedMany(Result):
    """Many annotated books: `failed` has reasons by book, `files` what was written. `exit_code` is 0 when all
    went well, else that of the worst error, as the command line returns it."""

    def __init__(
        self, work: engines.JobResults | None, files: Sequence[Path] = (), *,
        books: Sequence[AnnotatedBook] | None = None, submission: datatrove_engine.Submission | None = None,
    ) -> None:  # fmt: skip
        self.work, self.files, self.submission = work, tuple(files), submission
        self._books, self._finished = books, work.finished if work else {}
        self.failed = {key: str(error) for key, error in work.failed.items()} if work else {}
        self.exit_code = work.exit_code if work else 0

    @property
    def books(self) -> Books:
        """The finished books. Those of a folder are read when you ask for them."""
        if self._books is None:
            folders = self._finished.values()
            self._books = [AnnotatedBook(many.read_book(folder).to_record()) for folder in folders]
        return Books(self._books)

    @property
    def table(self) -> Table:
        """One row per book: failed ones first, then those with most remarks."""
        columns = ("book", "cast", "mentions", "remarks", "work")
        rows: list[list[Any]] = [[key, None, None, None, "failed"] for key in self.failed]
        made: list[list[Any]]
        if self.work is None:
            made = [[b.doc_key, len(b.characters), len(b.mentions), len(b.notes)] for b in self._books or ()]
        else:
            made = [[k, len(s.names), len(s.mentions), len(s.notes)] for k, s in self._states().items()]
        kept = self.work.reused if self.work else ()
        finished = [[*row, "kept" if row[0] in kept else "made now"] for row in made]
        return Table.of_rows(columns, rows + sorted(finished, key=lambda row: -row[3]))

    def to_dict(self) -> dict[str, Any]:
        if self.work is None:
            return summary_of(self._books or (), self.files)
        books = [
            {
                "doc_key": k, "steps": list(s.done), **parser_of(s), "mentions": len(s.mentions),
                "notes": list(s.notes),
            }
            for k, s in self._states().items()
        ]  # fmt: skip
        return self.work.to_dict() | {"books": books, "files": [str(f) for f in self.files]}

    def _states(self) -> dict[str, Any]:
        return {key: many.read_state(folder) for key, folder in self._finished.items()}

    def _line(self) -> str:
        if self.submission is not None:
            return f"Slurm job {self.submission.number}, {plural(self.submission.tasks, 'task')}"
        return f"{plural(len(self._finished or self._books or ()), 'book')}, {len(self.failed)} failed"


def summary_of(books: Iterable[AnnotatedBook], files: Iterable[Path] = ()) -> dict[str, Any]:
    """Of books annotated one after the other: what `annotate --json` prints."""
    books = list(books)
    return {
        "books": [book.summary() for book in books],
        "files": [str(file) for file in files],
        "report": {book.doc_key: book.scores.to_dicts() for book in books if len(book.scores)},
        "effects": {book.doc_key: [asdict(e) for e in book.effects] for book in books if book.effects},
    }


def propose_cast(book: PathLike | AnnotatedBook) -> Table:
    """The characters that a book seems to have: name, aliases, and a remark for whoever checks them."""
    from ..annotation.propose import propose_cast as propose

    proposal = propose(one_source(book, hint="bc.propose_casts").book)
    return Table.of_rows(("name", "aliases", "remark"), _people(proposal))


def _people(proposal: Proposal) -> list[list[Any]]:
    pairs = zip(proposal.cast.entries, proposal.characters, strict=True)
    return [[entry.name, list(entry.aliases), c.remark] for entry, c in pairs]


@dataclass(frozen=True, slots=True)
class ProposedCast:
    """The cast proposed from one book, and the file that it was written to."""

    doc_key: str
    proposal: Proposal
    file: Path | None = None

    def to_dict(self) -> dict[str, Any]:
        """The book and one value per character: names, counts, and passages that name them."""
        return attributes(self, "doc_key file") | attributes(self.proposal, "characters")

    def text(self) -> str:
        """The text of a cast file: one line per character, behind it how often each name occurs and where."""
        told = "check names and aliases, join or delete lines, then use --cast."
        head = f"# Proposed cast of {self.doc_key}: {told}\n"
        return head + format_cast(self.proposal.cast, (c.remark for c in self.proposal.characters))


class ProposedCasts(Result):
    """Casts proposed from books. `casts` are in the order of the books, each with its file."""

    def __init__(self, casts: Sequence[ProposedCast]) -> None:
        self.casts = list(casts)

    @property
    def table(self) -> Table:
        """One row per character."""
        rows = [[one.doc_key, *row] for one in self.casts for row in _people(one.proposal)]
        return Table.of_rows(("doc_key", "name", "aliases", "remark"), rows)

    def to_dict(self) -> dict[str, Any]:
        """`casts`: one document per book, as `annotate --propose-cast --json` prints them."""
        return {"casts": [one.to_dict() for one in self.casts]}

    def _line(self) -> str:
        characters = sum(len(one.proposal.cast.entries) for one in self.casts)
        return f"{plural(len(self.casts), 'book')}, {plural(characters, 'character')}"


@files_of("out", reads=("books",))
def propose_casts(
    books: PathLike, out: PathLike | None = None, *, language: o.Language = "", replace: o.Overwrite = False
) -> ProposedCasts:
    """Propose a cast for every book in a file or folder; with `out` each is written as a cast file.

    The file of a book is `out`/<document key>.txt, where `annotate` with `cast=out` looks for it.

    Raises:
        UsageError: a book names nobody often enough, its file is there with another content, or its key.
    """
    from ..annotation.propose import propose_cast as propose

    folder, made = path_or_none(out), list[ProposedCast]()
    for _, source in many.sources_below(path_of(books)):
        key = source.book.doc_key
        work.check_language(source.book, language)
        file = folder and folder / f"{safe_name(key, 'document key')}.txt"
        one = ProposedCast(key, propose(source.book), file)
        if one.file is not None:
            write_text(one.file, one.text())
        made.append(one)
    return ProposedCasts(made)


# -- one after the other -----------------------------------------------------------------------------


_Read = tuple["Annotated", tuple[Conflict, ...], tuple[Effect, ...]]
"""A book that was read, the corrections that need a person, and what the others changed elsewhere."""


def _in_turn(
    sources: Sequence[Source], plan: Plan, cast: o.CastLike, out: Path | None, report: Path | None, *,
    corrections: Callable[..., _Read] | None = None, dry_run: bool = False, replace: bool, **how: Any,
) -> list[AnnotatedBook]:  # fmt: skip
    """Annotate books one after the other in this process; `how` are arguments of `annotate_book`."""
    from ..annotation.backends import make_backend

    if out is not None:
        check_kept(out, [source.book.doc_key for source in sources], replace=replace)
    written = None if dry_run else out
    how["states"] = written / "states" if written else None
    done: list[_Read] = []
    for source in sources:
        people = cast_for(cast, source)
        with closing(make_backend(plan)) as backend:
            how["backend"] = backend
            if corrections is None:
                done.append((work.annotate_book(source, people, plan, **how), (), ()))
            else:
                done.append(corrections(source, people, plan, how))
    made = [annotated for annotated, *_ in done]
    files = work.write_annotations(made, written, replace=replace) if written is not None else ()
    scores: dict[str, Table] = {}
    gold = {} if report is None else {record.doc_key: record.to_book() for record in read_jsonl(report)}
    for one in made if report is not None else ():
        key = one.state.doc_key
        if key not in gold:
            hint = "the key must be the tokenised book that was annotated"
            keys = ", ".join(sorted(gold)[:5])
            raise UsageError(f"{report} has no document {key!r}", expected=keys, hint=hint)
        scores[key] = Table.of_rows(work.COLUMNS, work.table_rows(gold[key], one.states or (one.state,)))
    return [
        AnnotatedBook(
            a.annotation().to_record(), run=a, files=tuple(files), conflicts=conflicts, effects=changes,
            scores=scores.get(a.state.doc_key),
        )
        for a, conflicts, changes in done
    ]  # fmt: skip


def _read_corrected(
    edits: Path, folder: Path | None, careful: bool, source: Source, cast: Cast | None, plan: Plan,
    how: dict[str, Any],
) -> _Read:  # fmt: skip
    """The book with the corrections in the file `edits`, and what they change elsewhere. In `folder` an
    earlier annotation of it may lie. A cast is proposed from the same parse; `how` are arguments of
    `annotate_book`.
    Raises BookcorefError: they change much elsewhere, and care is taken."""
    wanted, cast = correct.read_edits(edits), cast or casts.propose_with(how["backend"], source.book).cast
    found = given.corrections_of(wanted, source.book, cast)
    left = {conflict.number for conflict in found.conflicts if not conflict.applied}
    note = f"{plural(found.kept, 'correction')} kept, {len(left):,} left out"
    noted = replace(source, notes=(*source.notes, note))
    aside = how | {"states": None, "resume": False}
    there = read_annotations(folder) if folder and has_reasons(folder) else []
    same = source.book.tokens_sha256()
    earlier = next((a for a in there if a.book.tokens_sha256() == same), None)
    before = earlier or work.annotate_book(source, cast, plan, **aside).annotation()
    done = work.annotate_book(noted, found.cast, plan, given=found.given, **(aside if careful else how))
    said = found.given.spans | found.given.quotes.keys()
    taken = (edit for number, edit in enumerate(wanted, 1) if number not in left)
    changes = tuple(effects(before, done.annotation(), taken, said))
    if careful:
        _require_little(changes)
        for state in done.states:
            work.write_state(state, how["states"])
    return replace(done, corrections=found.kept), found.conflicts, changes


def _require_little(effects: Iterable[Effect]) -> None:
    """Raises BookcorefError: corrections change much of somebody at other places than their own."""
    if much := [e for e in effects if e.much]:
        told = [f"{e.character}: {e.elsewhere} of {e.before} mentions" for e in much[:5]]
        what = "the corrections change more than 1 % of somebody's mentions or quotes elsewhere"
        found = "; ".join(told) + (f" and {len(much) - 5} others" if len(much) > 5 else "")
        hint = "look at it with --dry-run, then add --accept; nothing was written"
        raise BookcorefError(what, found=found, hint=hint)


def plan_for(recipe: PathLike | None, backend: str, least: float | None, language: str) -> Plan:
    """The plan of a recipe, else of a backend, with what a caller asks for."""
    path = path_or_none(recipe)
    if path and not path.suffix and not path.exists():  # the name of a recipe that ships
        path = resource("recipes", f"{path.name}.toml")
    plan = read_plan(path) if path else default_plan(backend)
    return replace(plan, least=plan.least if least is None else least, language=language)


def narrators_of(value: str | Iterable[str]) -> tuple[str, ...]:
    """The narrators that a caller names: one, or several."""
    return (value,) if isinstance(value, str) and value else tuple(value)


def _steps(value: str | Iterable[str]) -> tuple[str, ...]:
    steps = ",".join([value] if isinstance(value, str) else value).split(",")
    return tuple(step.strip() for step in steps if step.strip())


def sources_of(book: PathLike | AnnotatedBook | Source | None) -> list[Source]:
    """The books of a path, or the one that is given."""
    if isinstance(book, work.Source):
        return [book]
    if isinstance(book, AnnotatedBook):
        return [work.source_of(book.record)]
    if book is None:
        raise UsageError("there is no book", expected="a path or a book")
    return work.read_sources(path_of(book))


def one_source(book: Any, name: str | None = None, *, hint: str = "give the text of one book") -> Source:
    """The one book that `book` is, or of several that which `name` ("": the user gave none) calls. Raises
    UsageError: there is none, or more than one."""
    sources = sources_of(book)
    if name is not None:
        books = [source.book for source in sources]
        return sources[books.index(one_called(books, name, book))]
    if len(sources) != 1:
        raise UsageError(f"{book} holds {len(sources)} books", expected="one book", hint=hint)
    return sources[0]


def cast_for(cast: o.CastLike, source: Source) -> Cast | None:
    """The cast, None where it is to be proposed from the book."""
    if cast is None:
        return source.cast
    if str(cast) == AUTO:
        return None
    if isinstance(cast, Iterable) and not isinstance(cast, str):
        lines = list(cast)
        if not lines:
            raise UsageError("the cast is empty", expected="at least one name, or cast='auto'")
        return parse_cast("\n".join(lines), "cast")
    hint = "--cast auto proposes a cast from the book; in Python pass a list: cast=['Anna', 'Mr. Hill']"
    return casts.read_cast(path_of(cast), hint)


# -- a folder, in parallel ---------------------------------------------------------------------------


def _in_parallel(
    books: many.Shelf, out: Path, engine: str, jobs: int, tasks: int, slurm: str, replace: bool,
    progress: Progress | None,
) -> AnnotatedMany:  # fmt: skip
    """A folder of books, by processes here, by datatrove, or by Slurm."""
    require_choice("engine", engine, ENGINES)
    if os.path.realpath(out) == os.path.realpath(books.path):
        why = "another folder: the next run would read the annotation as a book"
        raise UsageError(f"{out} is the folder of the books", expected=why)
    books.check_casts()
    listener, workers = progress or Silent(), engines.worker_count(jobs)
    listener.note(many.workload(books, workers))
    if slurm:
        # When the books are done, the same call without `slurm` collects them.
        partition, _, limit = slurm.partition(":")
        sent = datatrove_engine.submit_slurm(
            books, out.absolute() / "work", partition, limit, gpus=int(books.plan.backend == "hub"),
            tasks=tasks or books.count(), workers=jobs or -1,
        )  # fmt: skip
        return AnnotatedMany(None, submission=sent)
    if engine == "datatrove":
        done = datatrove_engine.run_local(books, out / "work", tasks=tasks or workers, workers=workers)
        for key, error in done.failed.items():
            listener.note(f"failed: {key}: {error}")
    else:
        done = many.annotate_books(books.jobs, books.count(), workers=jobs, progress=listener)
    return AnnotatedMany(done, many.collect(done, out, replace=replace) if done.finished else ())
