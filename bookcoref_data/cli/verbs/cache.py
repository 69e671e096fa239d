"""`cache path|size|clear`: where fetched and finished work lies, and how to be rid of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ..common import CacheDir, JsonFlag, emit_json, emit_table, say

if TYPE_CHECKING:
    from ...api.housekeeping import CacheSize


def register(app: typer.Typer) -> None:
    """Add the group `cache` to the application."""
    group = typer.Typer(no_args_is_help=True, help="Show or clear the cache of texts and finished work.")
    group.command("path")(path)
    group.command("size")(size)
    group.command("clear")(clear)
    app.add_typer(group, name="cache")


def path(cache_dir: CacheDir = None, json: JsonFlag = False) -> None:
    """Print the folder of the cache."""
    from ...api import cache_path

    root = str(cache_path(cache_dir))
    if json:
        emit_json({"path": root})
    else:
        typer.echo(root)


def size(cache_dir: CacheDir = None, json: JsonFlag = False) -> None:
    """Print how many files and bytes every part of the cache holds."""
    from ...api import cache_size

    _report(cache_size(cache_dir), json)


def clear(
    part: Annotated[str | None, typer.Argument(help="One part (see `cache size`); all without it.")] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    cache_dir: CacheDir = None,
    json: JsonFlag = False,
) -> None:
    """Remove one part of the cache, or all of it, after asking.

    Everything removed can be fetched or made again. Only what this package keeps in a cache is removed,
    only in a folder that was marked as a cache when it was made, and not while a command works in it.
    """
    from ...api import cache_clear, cache_size
    from ...errors import UsageError

    there = cache_size(cache_dir)
    doomed = [entry for entry in there.parts if part in (None, entry.part)]
    if doomed and not yes:
        total = sum(entry.bytes for entry in doomed)
        what = f"{part or 'everything'} ({total:,} bytes) in {there.root}"
        if json or not _can_ask():
            raise UsageError(f"will not remove {what} without confirmation", hint="add --yes")
        if not typer.confirm(f"Remove {what}?", err=True):
            say("nothing was removed")
            raise typer.Exit(1)
    _report(cache_clear(part, cache_dir=cache_dir), json)


def _can_ask() -> bool:
    import sys

    return sys.stdin.isatty()


def _report(found: CacheSize, json: bool) -> None:
    """Parts with files and bytes, and their sum."""
    if json:
        emit_json(found.to_dict())
        return
    rows = [[*part] for part in found.parts]
    word = "removed" if found.removed else "parts"
    columns = ["part", "files", "bytes"]
    emit_table(columns, [*rows, ["total", found.files, found.bytes]], title=f"{found.root} ({word})")
