"""`view`: read an annotated novel in the browser, correct it, compare two annotations."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...errors import UsageError
from ..common import JsonFlag, emit_json, say

if TYPE_CHECKING:
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
    from ...formats.annotated import read_annotations
    from ...view import PageOptions
    from ...view import compare as find_differences
    from ...workflows.correct import one_annotation

    if out is None and not serve:
        raise UsageError("nowhere to write", expected="--out FILE.html", hint="or --serve")
    annotation = one_annotation(read_annotations(source), book, source)
    differences = None
    if compare is not None:
        other = one_annotation(read_annotations(compare), annotation.doc_key, compare)
        labels = (source.stem or "first", compare.stem or "second")
        differences = find_differences(annotation, other, labels=labels)
    options = PageOptions(title=title, author=author, spoiler_safe=spoiler_safe, differences=differences)
    if serve:
        _serve(annotation, options, edits or _beside(source), port, open_page)
    elif out is not None:
        _write(annotation, options, edits, out, open_page, json)


def _beside(source: Path) -> Path:
    """Where corrections of an input are kept: in its folder, or beside the file."""
    return source / "edits.jsonl" if source.is_dir() else source.with_name(f"{source.stem}.edits.jsonl")


def _write(
    annotation: Annotation, options: PageOptions, edits: Path | None, out: Path, open_page: bool, json: bool
) -> None:
    from dataclasses import replace

    from ...files import write_text
    from ...view import render

    write_text(out, render(annotation, replace(options, edits=_kept(edits) if edits else ())))
    differences = options.differences
    if json:
        emit_json(
            {
                "file": str(out), "bytes": out.stat().st_size, "doc_key": annotation.doc_key,
                "mentions": len(annotation.mentions), "characters": len(annotation.names),
                "differences": differences.counts() if differences else None,
            }
        )  # fmt: skip
    else:
        if differences:
            told = ", ".join(f"{count:,} {kind}" for kind, count in differences.counts().items())
            say(f"{differences.same:,} mentions are the same; {told}")
        say(f"wrote {out} ({out.stat().st_size / 1e6:.1f} MB); open it in any browser")
    if open_page:
        _open(out.resolve().as_uri())


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
