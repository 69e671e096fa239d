"""The table every harvest writes and the matcher reads: one row per (source, work, character).

A file is JSON lines (UTF-8, one object per row, gzip when the name ends in .gz). Lists stay lists, so a
name may hold any character. Empty fields are left out of the file.
"""

import dataclasses
import gzip
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ..errors import SourceError
from ..files import check_input, writing
from ..formats.lines import json_lines

SOURCES = ("wikidata", "cliffsnotes", "gradesaver", "litcharts", "shmoop", "sparknotes")
"""Names of the sources; study guides are one source each, because their lists are never merged."""


@dataclass(frozen=True, slots=True)
class CastRow:
    """One character of one work as one source lists it.

    `source` is one of `SOURCES`, `work_id` names the work within the source (a Wikidata item such as
    "Q170583", or the path of a guide such as "lit/emma"). `author` is the first author, "" when the source
    does not say; `authors` are all of them, `author_aliases` other spellings of any of them. `title` is the
    preferred title, `titles` the others (languages, labels, aliases). `character` is the cleaned name,
    `raw_character` the name as found; `order` is the 0-based place in the source's list. `gutenberg_ids`
    are the books that the source itself names for the work (P2034); `kinds` are the work's Wikidata classes
    (instance of), `flags` what a reviewer should know about the row ("author",
    "group", "no-english-label", ...). `retrieved` is an ISO date, "" when the source has none.
    """

    source: str
    work_id: str
    title: str
    character: str
    author: str = ""
    titles: tuple[str, ...] = ()
    authors: tuple[str, ...] = ()
    author_aliases: tuple[str, ...] = ()
    character_aliases: tuple[str, ...] = ()
    raw_character: str = ""
    character_id: str = ""
    order: int | None = None
    minor: bool = False
    gutenberg_ids: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    address: str = ""
    retrieved: str = ""


@dataclass(frozen=True, slots=True)
class HarvestedCast:
    """All characters one source lists for one work; `rows` are in the source's order and never empty."""

    rows: tuple[CastRow, ...]

    @property
    def work(self) -> CastRow:
        """A row that stands for the work (its title, authors, kinds; the same in every row)."""
        return self.rows[0]

    @property
    def characters(self) -> tuple[str, ...]:
        """The cleaned names."""
        return tuple(row.character for row in self.rows)


def group_casts(rows: Iterable[CastRow]) -> list[HarvestedCast]:
    """The casts of a table, one per (source, work_id), in the order of their first rows.

    A row that comes again, apart from its `order`, is the same person, who counts once."""
    groups: dict[tuple[str, str], dict[CastRow, CastRow]] = {}
    for row in rows:
        groups.setdefault((row.source, row.work_id), {}).setdefault(dataclasses.replace(row, order=0), row)
    return [HarvestedCast(tuple(group.values())) for group in groups.values()]


_FIELDS = {field.name: field for field in dataclasses.fields(CastRow)}


def write_table(path: Path, rows: Iterable[CastRow]) -> int:
    """Write rows to `path`, whole or not at all; return how many.

    Equal rows give equal bytes (also under gzip), so a harvest that changed nothing shows no difference.
    """
    count = 0
    with writing(path) as stream:
        packed = gzip.GzipFile("", "wb", 6, stream, 0) if path.suffix == ".gz" else None
        for row in rows:
            full = {name: getattr(row, name) for name in _FIELDS}
            kept = {name: value for name, value in full.items() if value != _FIELDS[name].default}
            (packed or stream).write(json.dumps(kept, ensure_ascii=False).encode("utf-8") + b"\n")
            count += 1
        if packed:
            packed.close()
    return count


def read_table(path: Path) -> Iterator[CastRow]:
    """The rows of a table, streamed.

    Raises SourceError: the file cannot be opened. FormatError: as `json_lines`.
    """
    try:
        check_input(path)
        for _, row in json_lines(path, "cast_row"):
            row.update({name: tuple(value) for name, value in row.items() if isinstance(value, list)})
            yield CastRow(**row)
    except SourceError as error:
        hint = "make one with `bookcoref-data harvest wikidata` or `harvest liscu`"
        raise SourceError(f"cannot read the cast table {path}", found=error.found, hint=hint) from error
