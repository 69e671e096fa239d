"""`sample`: the embedded story as a text file with a cast, to try everything on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..common import JsonFlag, Overwrite, emit_json, say


def register(app: typer.Typer) -> None:
    app.command()(sample)


def sample(
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder to write.")] = Path("story"),
    replace: Overwrite = False,
    json: JsonFlag = False,
) -> None:
    """Write the sample story as a Gutenberg file, with its cast: a book to try annotate and view on."""
    from ...api import sample as run

    run(out, replace=replace)
    if json:
        emit_json({"text": str(out / "lamp.txt"), "cast": str(out / "cast.txt")})
    say(f"wrote {out / 'lamp.txt'} and {out / 'cast.txt'}")
