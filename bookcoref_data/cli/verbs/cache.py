"""`cache path|size|clear`: where fetched and finished work lies, and how to be rid of it."""

from __future__ import annotations

from typing import Annotated

import typer

from ..common import CacheDir, JsonFlag, emit_json, emit_table, say


def register(app: typer.Typer) -> None:
    """Add the group `cache` to the application."""
    group = typer.Typer(no_args_is_help=True, help="Show or clear the cache of texts and finished work.")
    group.command("path")(path)
    group.command("size")(size)
    group.command("clear")(clear)
    app.add_typer(group, name="cache")


def path(cache_dir: CacheDir = None, json: JsonFlag = False) -> None:
    """Print the folder of the cache."""
    from ...sources.store import Store

    root = str(Store.open(cache_dir).root)
    if json:
        emit_json({"path": root})
    else:
        typer.echo(root)


def size(cache_dir: CacheDir = None, json: JsonFlag = False) -> None:
    """Print how many files and bytes every part of the cache holds."""
    from ...sources.store import Store

    store = Store.open(cache_dir)
    _report(store.root, store.sizes(), json, "parts")


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
    from ...errors import UsageError
    from ...sources.store import Store

    store = Store.open(cache_dir)
    doomed = [entry for entry in store.sizes() if part in (None, entry.part)]
    if doomed and not yes:
        total = sum(entry.bytes for entry in doomed)
        what = f"{part or 'everything'} ({total:,} bytes) in {store.root}"
        if json or not _can_ask():
            raise UsageError(f"will not remove {what} without confirmation", hint="add --yes")
        if not typer.confirm(f"Remove {what}?", err=True):
            say("nothing was removed")
            raise typer.Exit(1)
    _report(store.root, store.clear(part), json, "removed")


def _can_ask() -> bool:
    import sys

    return sys.stdin.isatty()


def _report(root, sizes, json: bool, word: str) -> None:
    """Parts with files and bytes, and their sum."""
    files, total = sum(s.files for s in sizes), sum(s.bytes for s in sizes)
    if json:
        emit_json({"path": str(root), word: [s._asdict() for s in sizes], "files": files, "bytes": total})
    else:
        rows = [[*s] for s in sizes]
        emit_table(["part", "files", "bytes"], [*rows, ["total", files, total]], title=f"{root} ({word})")
