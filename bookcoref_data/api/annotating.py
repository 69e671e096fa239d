"""`annotate`, `annotate_many` and `propose_cast` for Python."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import UsageError, plural
from ..files import path_of
from .books import AnnotatedBook, Books, PathLike, path_or_none
from .results import Result
from .tables import Table

if TYPE_CHECKING:
    from ..annotate.cast import Cast
    from ..annotate.plan import Plan
    from ..edits import Conflict
    from ..progress import Progress
    from ..workflows.annotate import Annotated, Source
    from ..workflows.annotate_many import ManyBooks
    from ..workflows.datatrove_engine import Submission
    from ..workflows.engine import JobResults
    from ..workflows.given import CorrectedInput
    from ..workflows.propose_casts import ProposedCast

AUTO = "auto"
ENGINES = ("local", "datatrove")
CastLike = str | PathLike | Iterable[str] | None


def annotate(
    book: PathLike | AnnotatedBook | Source,
    cast: CastLike = None,
    *,
    narrator: str | Iterable[str] = (),
    backend: str = "embedded",
    recipe: PathLike | None = None,
    steps: str | Iterable[str] = (),
    edits: PathLike | None = None,
    least: float | None = None,
    out: PathLike | None = None,
    resume: bool = False,
    report: PathLike | None = None,
    replace: bool = False,
    progress: Progress | None = None,
) -> AnnotatedBook:
    """Annotate one book: its characters' names, pronouns and noun phrases, and who speaks each quotation.

    Args:
        book: a Gutenberg file, a plain text, a `.jsonl` file with one tokenised book, or a book in memory.
        cast: "auto" (proposed from the book), the path of a cast file, or names; a name may be followed by
            aliases: "Elizabeth Bennet; Lizzy; Eliza". None: the cast that the book brings along, else "auto".
        narrator: who says "I" outside quotations: a name of the cast, or several with chapters or tokens:
            ["Jim Hawkins", "Dr. Livesey:16-18"].
        backend: "embedded" (CPU) or "hub" (the paper's models).
        recipe: a recipe file in place of the backend's own.
        steps: the steps to run, for instance "link,filter"; all of the recipe's without it.
        edits: a file of corrections: kept as given, and used as evidence for the rest. Those that need a
            person are in `conflicts` of the result.
        least: keep only links and speakers that are right with at least this probability.
        out: a folder for the annotation and for the state after each step.
        resume: go on from the states saved in `out`.
        report: gold of the same tokens (`.jsonl`): `scores` of the result has a row per step.
        replace: allow `out` to lose other books; your own files in it are kept.

    Raises:
        SourceError, DataError: the book cannot be read.
        UsageError: the cast, narrator, recipe or steps do not fit; `out` has other books.
    """
    sources = _sources(book)
    if len(sources) != 1:
        raise UsageError(
            f"{book} holds {len(sources)} books", expected="one book",
            hint="bc.annotate_many(path, out=...) annotates all of them",
        )  # fmt: skip
    run = _BooksInTurn(
        _plan(recipe, backend, least), cast, _names(narrator), _steps(steps), path_or_none(edits),
        path_or_none(out), resume, path_or_none(report), replace, progress,
    )  # fmt: skip
    return run.annotate(sources)[0]


def annotate_many(
    books: PathLike | Iterable[PathLike | AnnotatedBook | Source],
    cast: CastLike = None,
    *,
    out: PathLike | None = None,
    narrator: str | Iterable[str] = (),
    backend: str = "embedded",
    recipe: PathLike | None = None,
    steps: str | Iterable[str] = (),
    least: float | None = None,
    resume: bool = False,
    report: PathLike | None = None,
    jobs: int = 0,
    engine: str = "local",
    tasks: int = 0,
    slurm: str = "",
    cache_dir: PathLike | None = None,
    replace: bool = False,
    progress: Progress | None = None,
) -> AnnotatedMany:
    """Annotate many books. A book that fails stops no other.

    A path with `out` is worked on in parallel, and finished books are kept in the cache: the same call
    again does only what is missing. Books in memory, and calls without `out` or with `report`, are annotated
    one after the other.

    Args:
        books: a folder of texts or `.jsonl` files, a data set folder, a `.jsonl` file, or a list of books.
        cast: as `annotate`; a folder has a file for each book.
        out: the folder to write.
        jobs: processes; 0 means one per core.
        engine: "local", or "datatrove" (extra `datatrove`) with this number of `tasks` (0: one per job).
        slurm: with datatrove, submit to this Slurm partition: "NAME" or "NAME:TIME". The same call without
            it collects the books when the job has ended.
        cache_dir: the cache folder.

    The other arguments are those of `annotate`.

    Raises:
        UsageError: no books, two of one key, a cast that is missing, or `out` would lose books.
    """
    plan = _plan(recipe, backend, least)
    folder, wanted = path_or_none(out), _steps(steps)
    if isinstance(books, str | os.PathLike) and folder is not None and report is None:
        settings = _Engine(engine, jobs, tasks, slurm)
        many = _many(path_of(books), plan, cache_dir, _cast_path(cast), _names(narrator), wanted)
        return settings.run(many, folder, replace, progress)
    sources = [source for book in _each(books) for source in _sources(book)]
    run = _BooksInTurn(plan, cast, _names(narrator), wanted, None, folder, resume, path_or_none(report),
                       replace, progress)  # fmt: skip
    done = run.annotate(sources)
    return AnnotatedMany(None, done[0].files if done else (), books=done)


class AnnotatedMany(Result):
    """Many annotated books: `failed` has errors by book, `files` what was written."""

    def __init__(
        self,
        work: JobResults | None,
        files: Sequence[Path] = (),
        *,
        books: Sequence[AnnotatedBook] | None = None,
        submission: Submission | None = None,
    ) -> None:
        self.work, self.files, self.submission = work, tuple(files), submission
        self._books = books

    @property
    def books(self) -> Books:
        """The finished books. Those of a folder are read when you ask for them."""
        from ..workflows.annotate_many import read_book

        if self._books is None:
            finished = self.work.finished.values() if self.work else ()
            self._books = [AnnotatedBook(read_book(folder).to_record()) for folder in finished]
        return Books(self._books)

    @property
    def failed(self) -> dict[str, str]:
        """Books that could not be annotated, with the reason."""
        return {key: str(error) for key, error in self.work.failed.items()} if self.work else {}

    @property
    def exit_code(self) -> int:
        """0 when all went well, else that of the worst error, as the command line returns it."""
        return self.work.exit_code if self.work else 0

    @property
    def table(self) -> Table:
        """One row per book: failed ones first, then those with most remarks."""
        columns = ("book", "cast", "mentions", "remarks", "work")
        rows: list[list[Any]] = [[key, None, None, None, "failed"] for key in self.failed]
        return Table.of_rows(columns, rows + self._finished_rows())

    def to_dict(self) -> dict[str, Any]:
        """The same document as `annotate --json`."""
        if self.work is None:
            return summary_of(self._books or (), self.files)
        books = [
            {"doc_key": k, "steps": list(s.done), "mentions": len(s.mentions), "notes": list(s.notes)}
            for k, s in self._states().items()
        ]
        return self.work.to_dict() | {"books": books, "files": [str(f) for f in self.files]}

    def _finished_rows(self) -> list[list[Any]]:
        if self.work is None:
            made = [(b.doc_key, len(b.characters), len(b.mentions), len(b.notes)) for b in self._books or ()]
            rows: list[list[Any]] = [[*row, "made now"] for row in made]
        else:
            rows = [
                [key, len(s.names), len(s.mentions), len(s.notes),
                 "kept" if key in self.work.reused else "made now"]
                for key, s in self._states().items()
            ]  # fmt: skip
        return sorted(rows, key=lambda row: -row[3])

    def _states(self) -> dict[str, Any]:
        from ..workflows.annotate_many import read_state

        return {key: read_state(folder) for key, folder in self.work.finished.items()} if self.work else {}

    def _line(self) -> str:
        if self.submission is not None:
            return f"Slurm job {self.submission.number}, {plural(self.submission.tasks, 'task')}"
        count = len(self.work.finished) if self.work else len(self._books or ())
        return f"{plural(count, 'book')}, {len(self.failed)} failed"


def summary_of(books: Iterable[AnnotatedBook], files: Iterable[Path] = ()) -> dict[str, Any]:
    """Of books annotated one after the other: what `annotate --json` prints."""
    books = list(books)
    return {
        "books": [book.summary() for book in books],
        "files": [str(file) for file in files],
        "report": {book.doc_key: book.scores.to_dicts() for book in books if len(book.scores)},
    }


def propose_cast(book: PathLike | AnnotatedBook) -> Table:
    """The characters that a book seems to have: name, aliases, and a remark for whoever checks them."""
    from ..annotate.propose import propose_cast as propose

    sources = _sources(book)
    if len(sources) != 1:
        raise UsageError(f"{book} holds {len(sources)} books", expected="one book", hint="bc.propose_casts")
    proposal = propose(sources[0].book)
    entries = proposal.cast.entries
    return Table({
        "name": [e.name for e in entries],
        "aliases": [list(e.aliases) for e in entries],
        "remark": list(proposal.remarks),
    })  # fmt: skip


class ProposedCasts(Result):
    """Casts proposed from books. `casts` are in the order of the books, each with its file."""

    def __init__(self, casts: Sequence[ProposedCast]) -> None:
        self.casts = list(casts)

    @property
    def table(self) -> Table:
        """One row per character."""
        rows = [
            [one.doc_key, entry.name, list(entry.aliases), remark]
            for one in self.casts
            for entry, remark in zip(one.proposal.cast.entries, one.proposal.remarks, strict=True)
        ]
        return Table.of_rows(("doc_key", "name", "aliases", "remark"), rows)

    def to_dict(self) -> dict[str, Any]:
        """`casts`: one document per book, as `annotate --propose-cast --json` prints them."""
        return {"casts": [one.to_dict() for one in self.casts]}

    def _line(self) -> str:
        characters = sum(len(one.proposal.cast.entries) for one in self.casts)
        return f"{plural(len(self.casts), 'book')}, {plural(characters, 'character')}"


def propose_casts(books: PathLike, out: PathLike | None = None) -> ProposedCasts:
    """Propose a cast for every book in a file or folder; with `out` each is written as a cast file.

    Raises:
        UsageError: a book names nobody often enough, or its file exists with another content.
    """
    from ..workflows.propose_casts import propose_casts as run

    return ProposedCasts(list(run(path_of(books), path_or_none(out))))


# -- one after the other -----------------------------------------------------------------------------


@dataclass(frozen=True)
class _BooksInTurn:
    """How to annotate books one after the other in this process."""

    plan: Plan
    cast: CastLike
    narrators: tuple[str, ...]
    steps: tuple[str, ...]
    edits: Path | None
    out: Path | None
    resume: bool
    report: Path | None
    replace: bool
    progress: Progress | None

    def annotate(self, sources: Sequence[Source]) -> list[AnnotatedBook]:
        from ..formats.annotated import check_kept
        from ..workflows.annotate import write_annotations

        if self.out is not None:
            check_kept(self.out, [source.book.doc_key for source in sources], replace=self.replace)
        done = [self._one(source) for source in sources]
        files = (
            write_annotations([a for a, _ in done], self.out, replace=self.replace)
            if self.out is not None
            else ()
        )
        scores = self._scores([a for a, _ in done])
        return [
            AnnotatedBook(
                a.annotation().to_record(), run=a, files=tuple(files), conflicts=conflicts,
                scores=scores.get(a.state.doc_key),
            )
            for a, conflicts in done
        ]  # fmt: skip

    def _one(self, source: Source) -> tuple[Annotated, tuple[Conflict, ...]]:
        from ..workflows.annotate import annotate_book

        cast, found = _cast(self.cast, source), None
        if self.edits is not None:
            found = self._corrected(self.edits, source, cast)
            note = f"{plural(found.kept, 'correction')} kept, {len(found.conflicts):,} left out"
            source = replace(source, notes=(*source.notes, note))
        states = self.out / "states" if self.out else None
        done = annotate_book(
            source, found.cast if found else cast, self.plan, narrators=self.narrators,
            steps=self.steps or None, given=found.given if found else None, states=states, resume=self.resume,
            progress=self.progress,
        )  # fmt: skip
        return done, found.conflicts if found else ()

    def _corrected(self, edits: Path, source: Source, cast: Cast | None) -> CorrectedInput:
        """What the corrections make of the cast and of the links."""
        from ..annotate.propose import propose_cast
        from ..workflows.correct import read_edits
        from ..workflows.given import corrections_of

        return corrections_of(read_edits(edits), source.book, cast or propose_cast(source.book).cast)

    def _scores(self, done: Sequence[Annotated]) -> dict[str, Table]:
        """The scores after each step, by book. Raises UsageError: the gold lacks a book."""
        from ..formats.jsonl import read
        from ..workflows.annotate import COLUMNS, table_rows

        if self.report is None:
            return {}
        keys = {record.doc_key: record.to_book() for record in read(self.report)}
        tables = {}
        for one in done:
            key = one.state.doc_key
            if key not in keys:
                raise UsageError(
                    f"{self.report} has no document {key!r}", expected=", ".join(sorted(keys)[:5]),
                    hint="the key must be the tokenised book that was annotated",
                )  # fmt: skip
            tables[key] = Table.of_rows(COLUMNS, table_rows(keys[key], one.states or (one.state,)))
        return tables


def _plan(recipe: PathLike | None, backend: str, least: float | None) -> Plan:
    from ..annotate.plan import default_plan, read_plan

    path = path_or_none(recipe)
    plan = read_plan(path) if path else default_plan(backend)
    return plan if least is None else replace(plan, least=least)


def _names(value: str | Iterable[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) and value else tuple(value)


def _steps(value: str | Iterable[str]) -> tuple[str, ...]:
    steps = value.split(",") if isinstance(value, str) else value
    return tuple(step.strip() for step in steps if step.strip())


def _each(books: Any) -> list[Any]:
    one = isinstance(books, str | os.PathLike | AnnotatedBook)
    return [books] if one or not isinstance(books, Iterable) else list(books)


def _sources(book: PathLike | AnnotatedBook | Source) -> list[Source]:
    from ..workflows.annotate import Source, read_sources, source_of

    if isinstance(book, Source):
        return [book]
    if isinstance(book, AnnotatedBook):
        return [source_of(book.record)]
    return read_sources(path_of(book))


def _cast(cast: CastLike, source: Source) -> Cast | None:
    """The cast, None where it is to be proposed from the book."""
    from ..annotate.cast import parse_cast
    from ..workflows.casts import read_cast

    if cast is None:
        return source.cast
    if str(cast) == AUTO:
        return None
    if isinstance(cast, Iterable) and not isinstance(cast, str):
        lines = list(cast)
        if not lines:
            raise UsageError("the cast is empty", expected="at least one name, or cast='auto'")
        return parse_cast("\n".join(lines), "cast")
    return read_cast(path_of(cast), "pass a list for names: cast=['Anna', 'Mr. Hill; Hill']")


# -- a folder, in parallel ---------------------------------------------------------------------------


@dataclass(frozen=True)
class _Engine:
    """Who does the work of a folder. `slurm` is "partition" or "partition:time"."""

    name: str
    jobs: int
    tasks: int
    slurm: str

    def run(self, books: ManyBooks, out: Path, replace: bool, progress: Progress | None) -> AnnotatedMany:
        from ..progress import Silent
        from ..workflows.annotate_many import annotate_books, collect
        from ..workflows.engine import worker_count
        from ..workflows.workload import workload

        if self.name not in ENGINES:
            raise UsageError(f"unknown engine {self.name!r}", expected=" or ".join(ENGINES))
        if self.slurm and self.name != "datatrove":
            raise UsageError("--slurm needs --engine datatrove")
        books.check_casts()
        listener = progress or Silent()
        listener.note(str(workload(books, worker_count(self.jobs))))
        if self.slurm:
            return AnnotatedMany(None, submission=self._submitted(books, out))
        if self.name == "datatrove":
            from ..workflows.datatrove_engine import run_local

            workers = worker_count(self.jobs)
            work = run_local(books, out / "work", books.cache, tasks=self.tasks or workers, workers=workers)
            for key, error in work.failed.items():
                listener.note(f"failed: {key}: {error}")
        else:
            work = annotate_books(books.jobs, books.count(), workers=self.jobs, progress=listener)
        return AnnotatedMany(work, collect(work, out, replace=replace) if work.finished else ())

    def _submitted(self, books: ManyBooks, out: Path) -> Submission:
        """Hand the books to Slurm; when they are done, the same call without `slurm` collects them."""
        from ..workflows.datatrove_engine import Slurm, submit_slurm

        partition, _, limit = self.slurm.partition(":")
        slurm = Slurm(partition, limit or Slurm.TIME, gpus_per_task=int(books.plan.backend == "hub"))
        work, tasks = out.absolute() / "work", self.tasks or books.count()
        return submit_slurm(books, work, books.cache, slurm, tasks=tasks, workers=self.jobs or -1)


def _many(
    path: Path, plan: Plan, cache_dir: PathLike | None, cast: Path | None, narrators: tuple[str, ...],
    steps: tuple[str, ...],
) -> ManyBooks:  # fmt: skip
    from ..sources.store import Store
    from ..workflows.annotate_many import ManyBooks

    return ManyBooks(path, plan, Store.open(path_or_none(cache_dir)).root, cast, narrators, steps)


def _cast_path(cast: CastLike) -> Path | None:
    """The cast of a folder of books: a file, a folder, or "auto"."""
    if cast is None or isinstance(cast, str | os.PathLike):
        return path_or_none(cast)
    raise UsageError("many books take no list of names", expected="a cast file, a folder of them, or 'auto'")
