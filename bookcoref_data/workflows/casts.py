"""Which cast a book is annotated with: a file, the one that came with the book, or one proposed from it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ..annotation.cast import Cast, Entry, make_cast, parse_cast
from ..annotation.propose import SHORT, Proposal, propose_cast
from ..annotation.steps import Backend
from ..books import Book, Record
from ..errors import DataError, MissingFileError, SourceError, UsageError
from ..files import read_regular

AUTO = "auto"
"""In place of a cast file: annotate with the cast that the book itself proposes."""
MOST_BYTES = 64 << 20
CAST, NARRATORS = "cast", "narrators"
"""Fields of an annotated record: everybody in the cast with aliases and hints, and the given narrators."""


def read_cast(path: Path, hint: str = f"{AUTO} annotates with a cast proposed from the book") -> Cast:
    """The cast in a file; `hint` is for whoever names a file that is not there.

    Raises:
        UsageError: no such file, no UTF-8, or nobody in it.
    """
    try:
        text = read_regular(path, MOST_BYTES).decode("utf-8-sig")
    except MissingFileError as error:
        raise MissingFileError(f"cannot read the cast file {path}", found=error.found, hint=hint) from error
    except (SourceError, DataError) as error:
        raise UsageError(f"cannot read the cast file {path}", found=error.found, hint=hint) from error
    except UnicodeDecodeError as error:
        raise UsageError(f"the cast file {path} is not UTF-8", hint="save it as UTF-8") from error
    return parse_cast(text, str(path))


def cast_of_record(record: Record) -> Cast | None:
    """The cast that a record brings along: the one it was annotated with, else its characters' names."""
    stored = record.extra.get(CAST)
    if isinstance(stored, list):
        entries = [_entry(value) for value in stored if isinstance(value, dict) and value.get("name")]
        known = {entry.name for entry in entries}
        # Characters that were renamed or added since.
        entries += [Entry(name) for name, _ in record.characters if name.strip() and name not in known]
    else:
        entries = [Entry(name) for name, _ in record.characters if name.strip()]
    return make_cast(entries) if entries else None


def narrators_of_record(record: Record) -> tuple[str, ...]:
    """The narrators that were given when a record was annotated."""
    stored = record.extra.get(NARRATORS)
    return tuple(map(str, stored)) if isinstance(stored, list) else ()


def _entry(value: Mapping[str, Any]) -> Entry:
    aliases = value.get("aliases")
    return Entry(
        str(value["name"]), tuple(map(str, aliases)) if isinstance(aliases, list) else (),
        str(value.get("gender", "")),
    )  # fmt: skip


def cast_fields(cast: Cast, narrators: Iterable[str]) -> dict[str, Any]:
    """The fields of an annotated record that let it be annotated again with the same cast and narrators."""
    rows = [
        {"name": e.name, "aliases": list(e.aliases), **({"gender": e.gender} if e.gender else {})}
        for e in cast.entries
    ]
    told = list(narrators)
    return {CAST: rows, **({NARRATORS: told} if told else {})}


def propose_with(backend: Backend, book: Book) -> Proposal:
    """A cast proposed from the book; a parse that the backend has made, or will need, is shared. Of a short
    text it may be empty.

    Raises:
        UsageError: the book names nobody often enough.
    """
    from ..annotation.embedded.backend import EmbeddedBackend

    parse = backend.parse(book) if isinstance(backend, EmbeddedBackend) else None
    return propose_cast(book, parse=parse, allow_none=len(book.tokens) < SHORT)
