"""`list`, `show` and `cite`: what there is, what a book looks like, what to cite."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...errors import plural
from ..common import CacheDir, JsonFlag, emit_json, emit_table

if TYPE_CHECKING:
    from ...api.corpora import Shown

Folder = Annotated[Path, typer.Option(help="The data set folder, or another folder or file of books.")]


def register(app: typer.Typer) -> None:
    app.command("list")(list_books)
    app.command()(show)
    app.command()(cite)


def list_books(
    folder: Folder = Path("bookcoref"), cache_dir: CacheDir = None, json: JsonFlag = False
) -> None:
    """List the 53 books: split, counts, which texts are cached and which books are built here."""
    from ...api import list_books as run

    rows = run(folder, cache_dir).to_dicts()
    if json:
        emit_json(rows)
        return
    columns = ("doc_key", "title", "splits", "tokens", "characters", "counts_from", "text_cached", "built")
    emit_table(columns, ([_word(row[c]) for c in columns] for row in rows))
    built, cached = (sum(bool(r[c]) for r in rows) for c in ("built", "text_cached"))
    print(f"{plural(len(rows), 'book')}, {plural(cached, 'text')} in the cache, {built} built in {folder}")


def show(
    book: Annotated[
        str, typer.Argument(help="doc_key, Gutenberg id, part of either; or a folder or file with one book.")
    ],
    folder: Folder = Path("bookcoref"),
    at: Annotated[int | None, typer.Option(min=0, help="Show what stands at this token.")] = None,
    character: Annotated[str | None, typer.Option(help="List the mentions of this character.")] = None,
    most: Annotated[int, typer.Option(min=1, help="Lines to print of mentions or characters.")] = 20,
    json: JsonFlag = False,
) -> None:
    """Show one book: counts, origin of its text, its characters, the mentions of one, or one place.

    `show annotated` shows the book in a folder of `annotate`. Any file that `convert` reads will do.
    """
    from ...api import show as run

    found = run(book, folder, at=at, character=character)
    if json:
        emit_json(found.to_dict())
    elif at is None and character is None:
        _print_book(found, most)
    else:
        print(found.headline)
        columns = ("start", "end", "in context") if at is None else found.table.columns
        rows = [list(row.values()) for row in found.table]
        emit_table(columns, rows[:most] if at is None else rows)


def _print_book(found: Shown, most: int) -> None:
    value = found.to_dict()
    for name, entry in value["facts"].items():
        print(f"{name:16} {_word(entry)}")
    print(f"{'begins':16} {value['begins']}")
    people = value["characters"]
    emit_table(found.table.columns, people[:most])
    if len(people) > most:
        print(f"… and {len(people) - most} more (--most {len(people)})")


def cite(json: JsonFlag = False) -> None:
    """Print the BibTeX entry of the BookCoref paper."""
    from ...api import cite as run

    if json:
        emit_json({"bibtex": run()})
    else:
        print(run())


def _word(value: object) -> object:
    if isinstance(value, bool):
        return "yes" if value else "-"
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "-"
    if isinstance(value, dict):
        return ", ".join(f"{k} {v}" for k, v in value.items() if v) or "-"
    return value
