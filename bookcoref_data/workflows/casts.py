"""Which cast a book is annotated with: a file, the one that came with the book, or one proposed from it."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..annotation.cast import Cast, Entry, make_cast, parse_cast
from ..annotation.propose import SHORT, Proposal, propose_cast
from ..annotation.steps import Backend
from ..books import Book, Record
from ..errors import DataError, MissingFileError, SourceError, UsageError
from ..files import read_regular, utf8

AUTO = "auto"
"""In place of a cast file: annotate with the cast that the book itself proposes."""
_MOST_BYTES = 64 << 20
CAST, NARRATORS = "cast", "narrators"
"""Fields of an annotated record: everybody in the cast with aliases and hints, and the given narrators."""


def read_cast(path: Path, hint: str = f"{AUTO} annotates with a cast proposed from the book") -> Cast:
    """The cast in a file; `hint` is for whoever names a file that is not there."""
    return parse_cast(cast_text(path, hint), str(path))


def cast_text(path: Path, hint: str = "") -> str:
    """What a cast file says, as it stands. Raises: as `read_cast`, but for what is in it."""
    try:
        return utf8(read_regular(path, _MOST_BYTES), path)
    except MissingFileError as error:
        raise MissingFileError(f"cannot read the cast file {path}", found=error.found, hint=hint) from error
    except (SourceError, DataError) as error:
        hint = error.hint or hint
        raise UsageError(error.what, expected=error.expected, found=error.found, hint=hint) from error


def cast_of_record(record: Record) -> Cast | None:
    """The cast that a record brings along: the one it was annotated with, else its characters' names."""
    stored = record.extra.get(CAST)
    entries: list[Entry] = []
    for value in stored if isinstance(stored, list) else ():
        if isinstance(value, dict) and value.get("name"):
            aliases = value.get("aliases")
            names = tuple(map(str, aliases)) if isinstance(aliases, list) else ()
            entries.append(Entry(str(value["name"]), names, str(value.get("gender", ""))))
    known = {entry.name for entry in entries}
    # Characters that were renamed or added since.
    entries += [Entry(name) for name, _ in record.characters if name.strip() and name not in known]
    return make_cast(entries) if entries else None


def narrators_of_record(record: Record) -> tuple[str, ...]:
    """The narrators that were given when a record was annotated."""
    stored = record.extra.get(NARRATORS)
    return tuple(map(str, stored)) if isinstance(stored, list) else ()


def cast_fields(cast: Cast, narrators: Iterable[str]) -> dict[str, Any]:
    """The fields of an annotated record that let it be annotated again with the same cast and narrators."""
    named = ({"name": e.name, "aliases": list(e.aliases), "gender": e.gender} for e in cast.entries)
    rows = [{key: value for key, value in row.items() if value or key != "gender"} for row in named]
    return {CAST: rows, **({NARRATORS: told} if (told := list(narrators)) else {})}


def propose_with(backend: Backend, book: Book) -> Proposal:
    """A cast proposed from the book; a parse that the backend has made, or will need, is shared. Of a short
    text it may be empty. Raises UsageError: the book names nobody often enough."""
    from ..annotation.embedded.backend import EmbeddedBackend

    parse = backend.parse(book) if isinstance(backend, EmbeddedBackend) else None
    return propose_cast(book, parse=parse, allow_none=len(book.tokens) < SHORT)


@dataclass(frozen=True, slots=True)
class Repair:
    """What a person decided about the proposed cast of a book, and why.

    `join` are names of one person, the one that stays first; `drop` are names of nobody; `add` are names that
    were not proposed, each with its aliases behind it.
    """

    reason: str
    join: tuple[tuple[str, ...], ...] = ()
    drop: tuple[str, ...] = ()
    add: tuple[tuple[str, ...], ...] = ()

    def apply(self, entries: Iterable[Entry]) -> list[Entry]:
        """The cast after the repair. Raises UsageError: it names somebody whom the book does not propose."""
        cast = {entry.name: entry for entry in entries}
        named = [*self.drop, *(name for names in self.join for name in names)]
        if strange := [name for name in dict.fromkeys(named) if name not in cast]:
            owners = {alias: entry.name for entry in cast.values() for alias in entry.aliases}
            now = (f"{name!r} of {owners[name]!r}" if name in owners else f"no {name!r}" for name in strange)
            what = f"a repair names {', '.join(map(repr, strange))}, but the book does not propose them"
            expected = f"names of its proposed cast: {', '.join(cast)}"
            hint = "correct the [[repair]] of this book in the recipe"
            raise UsageError(what, expected=expected, found=", ".join(now), hint=hint)
        if twice := [name for name, *_ in self.add if name in cast and name not in self.drop]:
            what = f"a repair adds {', '.join(map(repr, twice))}, but the book proposes them already"
            found = "; ".join(", ".join((name, *cast[name].aliases)) for name in twice)
            hint = "take them out of the [[repair]] of this book in the recipe, or drop them there, too"
            raise UsageError(what, found=found, hint=hint)
        for kept, *others in self.join:
            names = [name for other in others for name in (other, *cast.pop(other).aliases)]
            first = cast[kept]
            more = tuple(dict.fromkeys(n for n in (*first.aliases, *names) if n != kept))
            cast[kept] = Entry(kept, more, first.gender)
        added = [Entry(name, tuple(aliases)) for name, *aliases in self.add]
        return [*(entry for entry in cast.values() if entry.name not in self.drop), *added]
