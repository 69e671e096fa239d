"""Your own novel: `sample`, `annotate`, `view`, `edits`, `report`, `export`, `convert`, `align`."""

from __future__ import annotations

import sys
import webbrowser
from collections.abc import Callable, Iterable, Sequence
from dataclasses import astuple
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import typer

from ... import api
from ...api.options import OpenPage, Port, Strict, only_with
from ...errors import UsageError, counted, plural
from ..common import cells, emit_json, emit_rows, emit_table, listed, say
from ..declared import Given, Json, verb

if TYPE_CHECKING:
    from ...edits import Conflict, Edit
    from ...formats import ConversionReport
    from ...workflows.annotate import Source


@verb(document=lambda made: {"text": str(made / "lamp.txt"), "cast": str(made / "cast.txt")})
def sample(made: Path, json: Json = False) -> None:
    say(f"wrote {made / 'lamp.txt'} and {made / 'cast.txt'}")


@verb(also="annotate_many", without="books", flags={"cast": "--characters --cast -c"})
@only_with("!propose_cast", "cast narrator steps edits report least resume")
def annotate(
    given: Given, book: Path, cast: Path | None, out: Path | None, report: Path | None, edits: Path | None,
    dry_run: bool, propose_cast: bool = False, json: Json = False,
) -> None:  # fmt: skip
    """A folder or file of many books is worked on in parallel with --out; finished books are kept in the
    cache, and a book that fails stops no other. Without a cast, start with --propose-cast and edit the list.

    Args:
        propose_cast: print a cast proposed from the book, or write it to `out`.
    """
    if propose_cast:
        _propose(given, book, out, json)
        return
    from ...api.annotating import summary_of
    from ...workflows.annotate_many import holds_many

    if out is None and report is None and not json and not dry_run:
        hint = "or --report GOLD.jsonl, or --json"
        raise UsageError("nowhere to write", expected="--out FOLDER", hint=hint)
    several = holds_many(book)
    if edits is not None and several:
        raise UsageError("--edits corrects one book at a time", hint="annotate the corrected book alone")
    if several and out is not None and report is None:
        many: api.AnnotatedMany = given(api.annotate_many, books=book)
        show_many(many, json)
        raise typer.Exit(many.exit_code)
    if given.values["engine"] != "local" or given.values["slurm"]:
        what = "--engine and --slurm are for many books with --out, and without --report"
        raise UsageError(what, expected="a folder or file of books", found=str(book))
    sources = _sources(book, cast)
    done = [*given(api.annotate_many, books=sources).books] if several else [given(book=sources[0])]
    for one in done:
        say_conflicts(edits, one.conflicts)
        if one.effects and not json:
            change = ("now", "changed elsewhere")
            heads = ("character", "mentions", *change, "quotes", *change)
            emit_table(heads, map(astuple, one.effects), title="What the corrections change")
        listed(f"{one.doc_key}:", one.notes)
    if json:
        emit_json(summary_of(done, done[0].files))
    else:
        _show(done)
    if any(one.conflicts for one in done):
        raise typer.Exit(1)


def _sources(book: Path, cast: Path | None) -> list[Source]:
    """The books of a file. Raises UsageError where there is no cast: the person shall choose one."""
    from ...workflows.annotate import read_sources

    sources = read_sources(book)
    if cast is None and any(source.cast is None for source in sources):
        hint = f"--cast auto; or bookcoref-data annotate {book} --propose-cast > cast.txt, then edit it"
        raise UsageError(f"no cast for {book}", expected="--cast cast.txt", hint=hint)
    return sources


def _propose(given: Given, book: Path, out: Path | None, json: bool) -> None:
    made = given(api.propose_casts, books=book)
    if json:
        for one in made.casts:
            emit_json(one.to_dict())
    elif out is None:
        for one in made.casts:
            typer.echo(one.text(), nl=False)
    else:
        rows = [(one.doc_key, len(one.proposal.cast.entries), str(one.file)) for one in made.casts]
        emit_table(("book", "characters", "file"), rows)


def _show(done: list[api.AnnotatedBook]) -> None:
    scored = [book for book in done if len(book.scores)]
    for book in scored:
        emit_rows(book.scores, title=book.doc_key)
    if not scored:
        columns = ("tokens", "characters", "mentions", "quotes")
        counts = [(one := book.summary()) | {"characters": len(one["characters"])} for book in done]
        emit_table(("book", *columns), cells(counts, ("doc_key", *columns)))
    listed("wrote", done[0].files)


def show_many(many: api.AnnotatedMany, json: bool) -> None:
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
    emit_rows(many.table)
    listed("wrote", many.files)


@verb()
@only_with("serve", "port")
def view(
    given: Given, source: Path, out: Path | None, edits: Path | None, title: str, author: str,
    spoiler_safe: bool, open_page: OpenPage = False, serve: bool = False, port: Port = 0, json: Json = False,
) -> None:  # fmt: skip
    """Click a character and walk its mentions, ask why a link was made, correct it, save the corrections as
    edits.jsonl. The file works in any browser, from disk.

    Args:
        serve: show it on this machine and save corrections straight to disk, in the file of `edits`.
    """
    from ...api.reviewing import edits_beside
    from ...reading_page import PageOptions, render
    from ...workflows.correct import kept_edits

    if out is None and not serve:
        raise UsageError("nowhere to write", expected="--out FILE.html", hint="or --serve")
    # While serving, corrections come from the file that they are kept in, each time anew.
    page: api.Page = given(edits=None if serve else edits)
    if out is not None and json:
        emit_json(page.to_dict())
    elif out is not None:
        if differences := page.differences:
            counts = ", ".join(f"{count:,} {kind}" for kind, count in differences.counts().items())
            say(f"{differences.same:,} mentions are the same; {counts}")
        say(f"wrote {page.path} ({len(page.html.encode()) / 1e6:.1f} MB); open it in any browser")
    if serve:
        kept = edits or edits_beside(source)

        def make_page(server: dict[str, str]) -> str:
            made = [e.to_dict() for e in kept_edits(kept)]
            options = PageOptions(
                title=title, author=author, spoiler_safe=spoiler_safe, differences=page.differences,
                edits=made, server=server,
            )  # fmt: skip
            return render(page.annotation, options)

        serve_page(make_page, kept, port, open_page)
    elif open_page and page.path is not None:
        _open(page.path.resolve().as_uri())


def say_conflicts(edits: Path | None, conflicts: Iterable[Conflict]) -> None:
    for c in conflicts:
        say(f"{edits}, edit {c.number} ({c.edit.op}), {'done' if c.applied else 'left out'}: {c.reason}")


def serve_page(
    make_page: Callable[[dict[str, str]], str], file: Path, port: int, open_page: bool, **more: Any
) -> None:
    """Show a page on this machine until Ctrl-C; what is made on it is saved in `file`."""
    from ...reading_page.serve import EditServer

    server = EditServer(make_page, file, port, **more)
    say(f"what you do is saved in {file}; stop with Ctrl-C")
    typer.echo(server.address)
    if open_page:
        _open(server.address)
    try:
        server.run()
    except KeyboardInterrupt:
        say(f"stopped; it is in {file}" if file.is_file() else "stopped; nothing was saved")


def _open(address: str) -> None:
    if not webbrowser.open(address):
        say(f"no browser was found; open {address}")


@verb(
    flags={"edits": "-e"}, code=lambda done, **_: bool(done.conflicts),
    document=lambda done: done.to_dict()["documents"],
)  # fmt: skip
def edits_apply(done: api.Corrected, edits: Path, out: Path) -> None:
    """Exit code 1 when an edit needs a person: it is listed, with the reason."""
    columns = ("book", "changed", "so already", "found elsewhere", "conflicts")
    emit_table(columns, [list(row.values()) for row in done.table])
    say_conflicts(edits, done.conflicts)
    for name in (name for one in done for name in one.unmentioned):
        say(f"nothing mentions {name}, so {out} does not hold this character")
    say(f"wrote {out}")


@verb(code=lambda found, **_: bool({**found.lost, **found.unseen}), document=lambda f: f.to_dict()["edits"])
def edits_diff(found: api.Corrections, old: Path, new: Path, out: Path | None, json: Json = False) -> None:
    """Places are found by their words where the two texts are not the same; exit code 1 when some are not
    found."""
    _tell_edits(found, out, json)
    for which, lacks, has, places in (("old", old, new, found.lost), ("new", new, old, found.unseen)):
        lost = [(key, anchor) for key, anchors in places.items() for anchor in anchors]
        for key, anchor in lost[:20]:
            say(f"{key}: not found in the {which} text: {anchor.before} [{anchor.words}] {anchor.after}")
        if lost:
            say(f"not in {lacks}: {plural(len(lost), 'place')} of {has}, of which nothing is said")


def _tell_edits(found: Sequence[Edit], out: Path | None, json: bool) -> None:
    """Say where corrections were written, or print them."""
    from ...edits import format_edits

    if out is not None:
        say(f"wrote {plural(len(found), 'correction')} to {out}")
    elif not json:
        typer.echo(format_edits(found), nl=False)


@verb(code=lambda done, **_: bool(done.disagreements))
def edits_merge(done: api.MergedCorrections, out: Path | None, json: Json = False) -> None:
    """Exit code 1 when two people disagree."""
    if not json:
        _tell_edits(done, out, json)

    def says(e: Edit) -> str:
        what = e.name or (e.to and f"“{e.to.words}”") or e.character or e.speaker or "nobody"
        what = f"one with {e.into}" if e.op == "merge" else what
        return f"{e.author or 'one of them'} says {what}"

    for d in done.disagreements:
        say(f"left out: {d.what}: {says(d.one)}, {says(d.other)}")


@verb(document=lambda files: {"files": [str(file) for file in files]})
def report(files: list[Path], json: Json = False) -> None:
    listed("wrote", files)


@verb(flags={"to": "--to"}, code=lambda done, strict: strict and bool(done.not_kept))
def export(done: api.Exported, strict: Strict = False) -> None:
    listed("wrote", done)
    for item in done.not_kept:
        say(f"not kept: {counted(item.count, item.what)}")


@verb(flags={"read_as": "--from", "write_as": "--to"})
def convert(given: Given, target: Path, strict: Strict = False, json: Json = False) -> None:
    done: ConversionReport
    if str(target) == "-":
        with TemporaryDirectory() as folder:
            done = given(target=(made := Path(folder, target)))
            if not made.is_file() or json:
                raise UsageError("standard output takes one file", expected="--to jsonl, conll or corefud")
            sys.stdout.buffer.write(made.read_bytes())
    else:
        done = given()
    if json:
        emit_json({**done.to_dict(), "target": str(target)})
    else:
        kept = f"{plural(done.mentions, 'mention')} in {plural(done.clusters, 'cluster')}"
        told = f"wrote {plural(done.documents, 'document')}, {kept} to {target}"
        say(f"{done.read_as} -> {done.written_as}: {told}")
        for item in done.not_kept:
            say(f"not kept: {counted(item.count, item.what)}, in {plural(len(item.documents), 'document')}")
            for example in item.examples:
                say(f"    {example}")
    if strict and not done.complete:
        raise typer.Exit(1)


@verb()
def align(given: Given, out: Path | None, least_kept: float, to: str | None, json: Json = False) -> None:
    """The report is printed even where too little was kept to write anything."""
    carried: api.Carried = given(out=None, to=None, least_kept=0.0)
    if json:
        emit_json(carried.to_dict()["documents"])
    else:
        for result in carried.results:
            report = result.report
            if report is None:
                mentions = sum(map(len, result.record.clusters))
                print(f"{result.record.doc_key}: exact, all {mentions:,} mentions in the released tokens")
                continue
            every = (*report.characters, report.total)
            rows = [(t.name, t.total, t.kept, t.moved, t.changed, t.lost, 100 * t.kept_share) for t in every]
            title = f"{report.doc_key}: remapped, {report.tokens_matched:.2%} of the tokens found"
            columns = ("character", "mentions", "kept", "moved", "changed", "lost", "kept %")
            emit_table(columns, rows, title=title)
            for e in report.examples:
                was, now = e.old_text or f"tokens {e.old.start}-{e.old.end}", e.new_text
                print(f"{e.status:8} {e.character}: {was}{' -> ' + now if now else ''}")
            listed(f"note: {report.doc_key}:", report.warnings)
    carried.require(least_kept)
    if out:
        carried.save(out, to, replace=given.values["replace"])
        say(f"written: {out}")
