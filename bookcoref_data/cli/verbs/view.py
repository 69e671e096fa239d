"""`view`: read an annotated novel in the browser, correct it, compare two annotations."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...errors import UsageError
from ..common import JsonFlag, emit_json, say

if TYPE_CHECKING:
    from ...api.reading import Page
    from ...books.annotation import Annotation
    from ...view import PageOptions


def register(app: typer.Typer) -> None:
    app.command()(view)


def view(
    source: Annotated[
        Path,
        typer.Argument(
            help="Folder of annotate, data set folder, or a file in any format (JSONL, CoNLL ...)."
        ),
    ],
    out: Annotated[Path | None, typer.Option("--out", "-o", help="HTML file to write.")] = None,
    open_page: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
    book: Annotated[
        str, typer.Option("--book", "-b", help="The document key, where there are several.")
    ] = "",
    compare: Annotated[
        Path | None, typer.Option(help="A second annotation of the same text: show what differs.")
    ] = None,
    edits: Annotated[
        Path | None, typer.Option(help="Corrections to begin with; with --serve the file to keep them in.")
    ] = None,
    serve: Annotated[
        bool, typer.Option("--serve", help="Show it on this machine and save corrections straight to disk.")
    ] = False,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port for --serve (0: any free one).")] = 0,
    title: Annotated[str, typer.Option(help="Title of the page (else the document key).")] = "",
    author: Annotated[str, typer.Option(help="Name written into each correction.")] = "",
    spoiler_safe: Annotated[
        bool,
        typer.Option("--spoiler-safe", help="Begin without names and places beyond the page being read."),
    ] = False,
    json: JsonFlag = False,
) -> None:
    """Write one HTML file that shows an annotated book: no network, no other file.

    Click a character and walk its mentions, ask why a link was made, correct it, save the corrections as
    edits.jsonl. The file works in any browser, from disk.
    """
    from ...api import view as run
    from ...view import PageOptions

    if out is None and not serve:
        raise UsageError("nowhere to write", expected="--out FILE.html", hint="or --serve")
    # While serving, corrections come from the file that they are kept in, each time anew.
    page = run(
        source, out, book=book, compare=compare, edits=None if serve else edits, title=title, author=author,
        spoiler_safe=spoiler_safe,
    )  # fmt: skip
    if out is not None:
        _print(page, json)
    if serve:
        options = PageOptions(
            title=title, author=author, spoiler_safe=spoiler_safe, differences=page.differences
        )
        _serve(page.annotation, options, edits or _beside(source), port, open_page)
    elif open_page and page.path is not None:
        _open(page.path.resolve().as_uri())


def _beside(source: Path) -> Path:
    """Where corrections of an input are kept: in its folder, or beside the file."""
    return source / "edits.jsonl" if source.is_dir() else source.with_name(f"{source.stem}.edits.jsonl")


def _print(page: Page, json: bool) -> None:
    if json:
        emit_json(page.to_dict())
        return
    if differences := page.differences:
        counts = ", ".join(f"{count:,} {kind}" for kind, count in differences.counts().items())
        say(f"{differences.same:,} mentions are the same; {counts}")
    say(f"wrote {page.path} ({len(page.html.encode()) / 1e6:.1f} MB); open it in any browser")


def _kept(edits: Path) -> list[dict[str, Any]]:
    from ...workflows.correct import read_edits

    return [e.to_dict() for e in read_edits(edits)]


def _serve(annotation: Annotation, options: PageOptions, edits: Path, port: int, open_page: bool) -> None:
    from dataclasses import replace

    from ...view import render
    from ...view.serve import EditServer

    def make_page(server: dict[str, str]) -> str:
        kept = _kept(edits) if edits.is_file() else []
        return render(annotation, replace(options, edits=kept, server=server))

    server = EditServer(make_page, edits, port)
    say(f"corrections are saved in {edits}; stop with Ctrl-C")
    typer.echo(server.address)
    if open_page:
        _open(server.address)
    try:
        server.run()
    except KeyboardInterrupt:
        say(f"stopped; corrections are in {edits}" if edits.is_file() else "stopped; nothing was corrected")


def _open(address: str) -> None:
    import webbrowser

    if not webbrowser.open(address):
        say(f"no browser was found; open {address}")
