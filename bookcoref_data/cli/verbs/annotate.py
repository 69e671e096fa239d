"""`annotate`: full-book character coreference for any novel."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...errors import UsageError
from ..common import CacheDir, Jobs, JsonFlag, Replace, emit_json, emit_table, progress, say

if TYPE_CHECKING:
    from ...annotate.cast import Cast
    from ...annotate.given import Given
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
    from ...annotate.plan import default_plan, read_plan
    from ...formats.annotated import check_kept
    from ...workflows.annotate import annotate_book, read_sources, write_annotations
    from ..many_books import Many, annotate_many, holds_many

    if propose:
        _propose(book, out, json)
        return
    plan = read_plan(recipe) if recipe else default_plan(backend)
    if least is not None:
        plan = dataclasses.replace(plan, least=least)
    wanted = tuple(s.strip() for s in steps.split(",") if s.strip()) or None
    narrators = tuple(narrator or ())
    if out is None and report is None and not json:
        raise UsageError(
            "nowhere to write", expected="--out FOLDER", hint="or --report GOLD.jsonl, or --json"
        )
    if edits is not None and holds_many(book):
        raise UsageError("--edits corrects one book at a time", hint="annotate the corrected book alone")
    if out is not None and report is None and holds_many(book):
        many = Many(
            out, plan, characters, narrators, wanted or (), jobs, engine, tasks, slurm, cache_dir, replace
        )
        raise typer.Exit(annotate_many(book, many, json))
    sources = read_sources(book)
    if out is not None:
        check_kept(out, [source.book.doc_key for source in sources], replace=replace)
    done, left = [], 0
    with progress() as listener:
        for source in sources:
            cast, given = _cast(characters, source.cast, book), None
            if edits is not None:
                cast, given, conflicts = _corrected(edits, source, cast)
                left += conflicts
            done.append(
                annotate_book(
                    source, cast, plan, narrators=narrators, steps=wanted, given=given,
                    states=out / "states" if out else None, resume=resume, progress=listener,
                )
            )  # fmt: skip
    for a in done:
        for note in a.state.notes:
            say(f"{a.state.doc_key}: {note}")
    files = write_annotations(done, out, replace=replace) if out else []
    tables = _tables(done, report) if report else {}
    _show(done, files, tables, json)
    if left:
        raise typer.Exit(1)


def _corrected(edits: Path, source: Source, cast: Cast | None) -> tuple[Cast, Given, int]:
    """The cast and what is given after the corrections; those that need a person are listed and counted."""
    from ...annotate.propose import propose_cast
    from ...workflows.correct import read_edits
    from ...workflows.given import corrections_of

    found = corrections_of(read_edits(edits), source.book, cast or propose_cast(source.book).cast)
    for c in found.conflicts:
        say(f"{edits}, edit {c.number} ({c.edit.op}), left out: {c.reason}")
    return found.cast, found.given, len(found.conflicts)


def _cast(path: Path | None, own: Cast | None, book: Path) -> Cast | None:
    """The cast file, else the cast that the record itself brings; None where it is to be proposed."""
    from ...workflows.casts import AUTO, read_cast

    if path is None and own is None:
        raise UsageError(
            f"no cast for {book}",
            expected="--cast cast.txt",
            hint=f"--cast auto; or bookcoref-data annotate {book} --propose-cast > cast.txt, then edit it",
        )
    if path is None:
        return own
    return None if str(path) == AUTO else read_cast(path)


def _propose(book: Path, out: Path | None, json: bool) -> None:
    from ...workflows.propose_casts import format_proposal, propose_casts

    files = []
    for made in propose_casts(book, out):
        if json:
            emit_json(made.to_dict())
        elif made.file is None:
            typer.echo(format_proposal(made.doc_key, made.proposal), nl=False)
        else:
            files.append((made.doc_key, len(made.proposal.cast.entries), str(made.file)))
    if files and not json:
        emit_table(("book", "characters", "file"), files)


def _tables(done, gold: Path) -> dict[str, list[list]]:
    from ...formats.jsonl import read
    from ...workflows.annotate import table_rows

    keys = {record.doc_key: record.to_book() for record in read(gold)}
    tables = {}
    for a in done:
        if a.state.doc_key not in keys:
            raise UsageError(
                f"{gold} has no document {a.state.doc_key!r}", expected=", ".join(sorted(keys)[:5]),
                hint="the key must be the tokenised book that was annotated",
            )  # fmt: skip
        tables[a.state.doc_key] = table_rows(keys[a.state.doc_key], a.states or (a.state,))
    return tables


def _show(done, files, tables, json: bool) -> None:
    from ...workflows.annotate import COLUMNS

    if json:
        emit_json(
            {
                "books": [_summary(a) for a in done],
                "files": [str(f) for f in files],
                "report": {
                    k: [dict(zip(COLUMNS, row, strict=True)) for row in rows] for k, rows in tables.items()
                },
            }
        )
        return
    for key, rows in tables.items():
        emit_table(COLUMNS, rows, title=key)
    if not tables:
        rows = [
            (
                a.state.doc_key,
                len(a.book.tokens),
                len(a.book.clusters),
                len(a.state.mentions),
                len(a.state.quotes),
            )
            for a in done
        ]
        emit_table(("book", "tokens", "characters", "mentions", "quotes"), rows)
    for file in files:
        say(f"wrote {file}")


def _summary(a) -> dict:
    from collections import Counter

    return {
        "doc_key": a.state.doc_key,
        "tokens": len(a.book.tokens),
        "characters": {c.name: len(c.mentions) for c in a.book.characters},
        "steps": list(a.state.done),
        "mentions": len(a.state.mentions),
        "by_kind": dict(Counter(m.kind for m in a.state.mentions)),
        "dropped": dict(Counter(d.reason for d in a.state.dropped)),
        "quotes": len(a.state.quotes),
        "quotes_with_speaker": sum(q.speaker >= 0 for q in a.state.quotes),
        "notes": list(a.state.notes),
    }
