"""`clean`: a Gutenberg file to the body of the book."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...errors import BookcorefError, UsageError
from ..common import CacheDir, JsonFlag, Mirror, Offline, emit_json, emit_table, say

if TYPE_CHECKING:
    from ...workflows.clean import Refused


def register(app: typer.Typer) -> None:
    app.command()(clean)


def clean(
    sources: Annotated[list[str], typer.Argument(help="Files, or numbers of Gutenberg books.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="File (one book) or folder for the clean text.")
    ] = None,
    map_out: Annotated[
        Path | None, typer.Option("--map", help="Also write the map back to the file (file or folder).")
    ] = None,
    show_cuts: Annotated[bool, typer.Option("--show-cuts", help="List every piece that was cut.")] = False,
    recipe: Annotated[Path | None, typer.Option(help="Recipe that extends recipes/clean.toml.")] = None,
    emphasis: Annotated[
        str, typer.Option(help="Marks of _emphasis_: cut, or left as in the released tokens (released).")
    ] = "cut",
    no_guard: Annotated[
        bool, typer.Option("--no-guard", help="Do not stop when the cuts exceed the limits.")
    ] = False,
    mirror: Mirror = None,
    offline: Offline = False,
    cache_dir: CacheDir = None,
    json: JsonFlag = False,
) -> None:
    """Remove header, licence, notes, contents and other apparatus; keep the book and a map back to the file.

    With neither --out nor --show-cuts nor --json the text of a single book is printed.
    """
    from ...api import clean as run
    from ...workflows.clean import Refused

    for folder in (out, map_out):
        if folder and len(sources) > 1 and folder.suffix:
            raise UsageError(f"{folder} is one file, but there are {len(sources)} books", expected="a folder")
    reports: list[dict[str, Any]] = []
    refused: list[Refused] = []
    for source in sources:
        try:
            book = run(
                source, out=out, map=map_out, recipe=recipe, guard=not no_guard, emphasis=emphasis,
                mirror=mirror, offline=offline, cache_dir=cache_dir,
            )  # fmt: skip
        except BookcorefError as error:
            # One book that is refused stops no other.
            if len(sources) == 1:
                raise
            say(str(error))
            refused.append(Refused(source, error))
            continue
        for note in book.notes:
            say(f"note: {note}")
        if len(sources) == 1 and not (out or show_cuts or json):
            typer.echo(book.text)
            return
        reports.append(book.to_dict() | ({"cuts": book.table.to_dicts()} if show_cuts else {}))
    if json:
        emit_json([*reports, *(book.to_dict() for book in refused)])
    else:
        _show(reports, show_cuts)
    _end(len(reports), refused)


def _end(cleaned: int, refused: list[Refused]) -> None:
    """Say what was refused; the exit code is that of the errors where all are of one kind."""
    if not refused:
        return
    say(f"{cleaned} cleaned, {len(refused)} refused: {', '.join(book.source for book in refused)}")
    codes = {book.error.exit_code for book in refused}
    raise typer.Exit(codes.pop() if not cleaned and len(codes) == 1 else 1)


def _show(reports: list[dict[str, Any]], show_cuts: bool) -> None:
    if show_cuts:
        for report in reports:
            rows = [[c["kind"], c["start"], c["end"] - c["start"], c["excerpt"]] for c in report["cuts"]]
            emit_table(["kind", "at", "characters", "text"], rows, title=report["name"])
        return
    columns = ["book", "file", "kept", "chapters", "cut besides header and footer"]
    rows = []
    for report in reports:
        cut = ", ".join(
            f"{kind} {share:.2%}"
            for kind, share in report["cut_shares"].items()
            if kind not in ("header", "footer")
        )
        rows.append(
            [report["name"], report["file_characters"], report["kept_characters"], report["chapters"], cut]
        )
    emit_table(columns, rows)
    for report in reports:
        if "written" in report:
            say(f"wrote {report['written']}")
