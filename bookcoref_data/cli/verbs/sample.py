"""`sample`: the embedded story as a text file with a cast, to try everything on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..common import JsonFlag, emit_json, say


def register(app: typer.Typer) -> None:
    app.command()(sample)


def sample(
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder to write.")] = Path("story"),
    json: JsonFlag = False,
) -> None:
    """Write the sample story as a Gutenberg file, with its cast: a book to try annotate and view on."""
    from ...files import write_text
    from ...sample.story import cast, gutenberg_text

    write_text(out / "lamp.txt", gutenberg_text())
    write_text(out / "cast.txt", "".join(f"{name}\n" for name in cast().values()))
    if json:
        emit_json({"text": str(out / "lamp.txt"), "cast": str(out / "cast.txt")})
    say(f"wrote {out / 'lamp.txt'} and {out / 'cast.txt'}")
