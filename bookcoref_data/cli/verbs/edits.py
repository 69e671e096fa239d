"""`edits`: apply corrections, make them from differences."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..common import JsonFlag, Replace, emit_json, emit_table, say


def register(app: typer.Typer) -> None:
    group = typer.Typer(
        help="Apply corrections from a file, or derive them from two annotations.", no_args_is_help=True
    )
    group.command("apply")(apply)
    group.command("diff")(diff)
    app.add_typer(group, name="edits")


def apply(
    annotation: Annotated[Path, typer.Argument(help="Folder of annotate, or a file in any format.")],
    edits: Annotated[Path, typer.Option("--edits", "-e", help="File of corrections (edits.jsonl).")],
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Folder to write, or a file in .jsonl, .conll, .conllu, .ann.")
    ],
    replace: Replace = False,
    json: JsonFlag = False,
) -> None:
    """Correct an annotation. Exit code 1 when an edit needs a person: it is listed, with the reason."""
    from ...api import apply_edits

    done = apply_edits(annotation, edits, out, replace=replace)
    conflicts = done.conflicts
    if json:
        emit_json(done.to_dict()["documents"])
    else:
        emit_table(
            ("book", "changed", "so already", "found elsewhere", "conflicts"),
            [(d.annotation.doc_key, d.changed, d.unchanged, d.moved, len(d.conflicts)) for d in done],
        )
        for c in conflicts:
            say(f"{edits}, edit {c.number} ({c.edit.op}), {'done' if c.applied else 'left out'}: {c.reason}")
        say(f"wrote {out}")
    if conflicts:
        raise typer.Exit(1)


def diff(
    old: Annotated[Path, typer.Argument(help="The annotation before.")],
    new: Annotated[Path, typer.Argument(help="The annotation after, in any format: brat files, too.")],
    out: Annotated[Path | None, typer.Option("--out", "-o", help="File to write (else stdout).")] = None,
    author: Annotated[str, typer.Option(help="Who made the changes.")] = "",
    json: JsonFlag = False,
) -> None:
    """The corrections that lead from one annotation to another, one a line.

    Places are found by their words where the two texts are not the same; exit code 1 when some are not found.
    """
    from ...api import diff as run
    from ...edits import format_edits

    found = run(old, new, author=author, out=out)
    if json:
        emit_json(found.to_dict()["edits"])
    if out is None:
        if not json:
            typer.echo(format_edits(found), nl=False)
    else:
        say(f"wrote {len(found):,} corrections to {out}")
    lost = [(key, anchor) for key, places in found.lost.items() for anchor in places]
    for key, anchor in lost[:20]:
        say(f"{key}: not found in the old text: {anchor.before} [{anchor.words}] {anchor.after}")
    if lost:
        say(f"{len(lost):,} places of {new} are not in {old}")
        raise typer.Exit(1)
