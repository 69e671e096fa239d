"""`annotate`: full-book character coreference for any novel."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...errors import UsageError
from ..common import CacheDir, Jobs, JsonFlag, Replace, emit_json, emit_table, progress, say

if TYPE_CHECKING:
    from ...api import AnnotatedBook
    from ...api.annotating import AnnotatedMany
    from ...workflows.annotate import Source


def register(app: typer.Typer) -> None:
    app.command()(annotate)


def annotate(
    book: Annotated[
        Path,
        typer.Argument(help="Gutenberg file, plain text, .jsonl of tokenised books, or a folder of these."),
    ],
    characters: Annotated[
        Path | None,
        typer.Option(
            "--characters",
            "--cast",
            "-c",
            help="Cast: one 'Name; alias; alias' per line; a folder for many books; auto: propose it.",
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Folder for the annotation.")] = None,
    propose: Annotated[
        bool,
        typer.Option("--propose-cast", help="Print a cast proposed from the book, or write it to --out."),
    ] = False,
    narrator: Annotated[
        list[str] | None,
        typer.Option(help="Who says 'I' outside quotes: NAME, or for chapters NAME:16-18; may be repeated."),
    ] = None,
    backend: Annotated[str, typer.Option(help="embedded (CPU) or hub (the paper's models).")] = "embedded",
    recipe: Annotated[Path | None, typer.Option(help="Recipe file instead of the backend's own.")] = None,
    steps: Annotated[str, typer.Option(help="Steps to run, by commas: link,filter,windows,groups.")] = "",
    edits: Annotated[
        Path | None,
        typer.Option(help="Corrections (edits.jsonl): kept as given, and used as evidence for the rest."),
    ] = None,
    least: Annotated[
        float | None,
        typer.Option(
            min=0, max=1, help="Keep only links and speakers that are right with at least this probability."
        ),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the steps saved in --out.")] = False,
    report: Annotated[
        Path | None, typer.Option(help="Gold (.jsonl, same tokens): print the scores after each step.")
    ] = None,
    jobs: Jobs = 0,
    engine: Annotated[str, typer.Option(help="Many books: local, or datatrove (extra).")] = "local",
    tasks: Annotated[int, typer.Option(min=0, help="datatrove: number of tasks (0: one per job).")] = 0,
    slurm: Annotated[
        str, typer.Option(help="datatrove: submit to this Slurm partition, as NAME or NAME:TIME.")
    ] = "",
    cache_dir: CacheDir = None,
    replace: Replace = False,
    json: JsonFlag = False,
) -> None:
    """Annotate a book: names of the cast, pronouns, noun phrases, and who speaks each quote.

    Without a cast, start with: annotate novel.txt --propose-cast > cast.txt, then edit it.
    """
    from ...api import annotate as run
    from ...api import annotate_many
    from ...api.annotating import summary_of
    from ...workflows.annotate_many import holds_many

    if propose:
        _propose(book, out, json)
        return
    if out is None and report is None and not json:
        raise UsageError(
            "nowhere to write", expected="--out FOLDER", hint="or --report GOLD.jsonl, or --json"
        )
    several = holds_many(book)
    if edits is not None and several:
        raise UsageError("--edits corrects one book at a time", hint="annotate the corrected book alone")
    in_parallel = several and out is not None and report is None
    sources: Any = book if in_parallel else _sources(book, characters)
    with progress() as listener:
        if several:
            many = annotate_many(
                sources, characters, out=out, narrator=narrator or (), backend=backend, recipe=recipe,
                steps=steps, least=least, resume=resume, report=report, jobs=jobs, engine=engine, tasks=tasks,
                slurm=slurm, cache_dir=cache_dir, replace=replace, progress=listener,
            )  # fmt: skip
        else:
            one = run(
                sources[0], characters, narrator=narrator or (), backend=backend, recipe=recipe, steps=steps,
                edits=edits, least=least, out=out, resume=resume, report=report, replace=replace,
                progress=listener,
            )  # fmt: skip
    if in_parallel:
        show_many(many, json)
        raise typer.Exit(many.exit_code)
    done = list(many.books) if several else [one]
    _notes(done, edits)
    if json:
        emit_json(summary_of(done, done[0].files))
    else:
        _show(done)
    if any(b.conflicts for b in done):
        raise typer.Exit(1)


def _sources(book: Path, characters: Path | None) -> list[Source]:
    """The books of a file. Raises UsageError where there is no cast: the person shall choose one."""
    from ...workflows.annotate import read_sources

    sources = read_sources(book)
    if characters is None and any(source.cast is None for source in sources):
        raise UsageError(
            f"no cast for {book}",
            expected="--cast cast.txt",
            hint=f"--cast auto; or bookcoref-data annotate {book} --propose-cast > cast.txt, then edit it",
        )
    return sources


def _propose(book: Path, out: Path | None, json: bool) -> None:
    from ...api import propose_casts
    from ...workflows.propose_casts import format_proposal

    made = propose_casts(book, out)
    if json:
        for one in made.casts:
            emit_json(one.to_dict())
    elif out is None:
        for one in made.casts:
            typer.echo(format_proposal(one.doc_key, one.proposal), nl=False)
    else:
        rows = [(one.doc_key, len(one.proposal.cast.entries), str(one.file)) for one in made.casts]
        emit_table(("book", "characters", "file"), rows)


def _notes(done: list[AnnotatedBook], edits: Path | None) -> None:
    """What a reader should know, and the corrections that need a person."""
    for book in done:
        for c in book.conflicts:
            say(f"{edits}, edit {c.number} ({c.edit.op}), left out: {c.reason}")
        for note in book.notes:
            say(f"{book.doc_key}: {note}")


def _show(done: list[AnnotatedBook]) -> None:
    scored = [book for book in done if len(book.scores)]
    for book in scored:
        emit_table(book.scores.columns, [list(row.values()) for row in book.scores], title=book.doc_key)
    if not scored:
        columns = ("tokens", "characters", "mentions", "quotes")
        rows = [
            (counts["doc_key"], *(counts[c] if c != "characters" else len(counts[c]) for c in columns))
            for counts in (book.summary() for book in done)
        ]
        emit_table(("book", *columns), rows)
    for file in done[0].files:
        say(f"wrote {file}")


def show_many(many: AnnotatedMany, json: bool) -> None:
    """Print what was done with many books: a row each, those that a person should look at first."""
    if many.submission is not None:
        sent = many.submission
        say(f"Slurm job {sent.number}: {sent.tasks} tasks, script {sent.script}")
        say(
            "when it has ended, run the same command without --slurm: finished books are taken from the cache"
        )
        return
    if json:
        emit_json(many.to_dict())
        return
    table = many.table
    emit_table(table.columns, [list(row.values()) for row in table])
    for file in many.files:
        say(f"wrote {file}")
