"""Files about study guides that others publish: address lists, the public scraper's output, name lists.

All are UTF-8. The tab-separated ones have a header and are never quoted (125 of the 9,499 LiSCU names hold a
double quote, which a quoting reader would swallow together with lines).
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields, replace
from pathlib import Path

from ..errors import FormatError
from ..files import read_some, utf8
from ..formats.lines import json_lines
from ..shapes import together
from ..words import fold
from .names import NameReading, read_name
from .table import CastRow

SITE_CODES = {"cliffnotes": "cliffsnotes"}
"""LiSCU spells one site without its s."""


@dataclass(frozen=True, slots=True)
class GuideAddress:
    """One row of an address list: the archived address, and title and author where the list has them."""

    address: str
    title: str = ""
    author: str = ""


def read_addresses(path: Path) -> list[GuideAddress]:
    """Addresses of study-guide pages, each once, in file order.

    Reads the two public forms: LiSCU's (kind, site, url) and BookWorm's (BookId, Title, Author, Url).
    """
    rows = list(_read_tsv(path, {"url"}))
    found = [GuideAddress(row["url"], row.get("title", ""), row.get("author", "")) for row in rows]
    return list(dict.fromkeys(found))


@dataclass(frozen=True, slots=True)
class ListedName:
    """One character of a published list, under the published and the scraped spelling."""

    source: str
    title: str
    character: str
    scraped_title: str = ""
    scraped_character: str = ""
    author: str = ""
    split: str = ""


def read_names(path: Path) -> Iterator[ListedName]:
    """Names from a tab-separated list (title, source, character, ...) or from the scraper's .jsonl output.

    A line of the scraper's file of books has an author and an empty `character` (see `join_authors`).

    Raises SourceError: the file cannot be opened. FormatError: a line has no title, source or character
    (names file and line).
    """
    rows = _read_jsonl(path) if path.suffix in (".jsonl", ".json") else _read_tsv(path, _NAME_COLUMNS)
    for row in rows:
        source = row["source"].lower()
        known = {one.name: row.get(one.name, "") for one in fields(ListedName)}
        yield ListedName(**known | {"source": SITE_CODES.get(source, source)})


@dataclass
class NameTally:
    """What reading a list of names did: entries read and changed, rules applied, entries rejected."""

    read: int = 0
    changed: int = 0
    rules: Counter[str] = field(default_factory=Counter)
    rejected: list[str] = field(default_factory=list)

    def note(self, raw: str, reading: NameReading) -> None:
        self.read += 1
        self.changed += [person.name for person in reading.people] != [raw]
        self.rules.update(reading.rules)
        if reading.rejected:
            self.rejected.append(raw)


def rows_of_names(names: Iterable[ListedName], tally: NameTally) -> Iterator[CastRow]:
    """Rows of a cast table, one or more for every entry that names someone; `tally` counts.

    Names of one (source, title) are one work; its order is the order of the list.
    """
    for (source, title), listed in together(((n.source, n.title), n) for n in names).items():
        others = tuple({n.scraped_title: None for n in listed if n.scraped_title not in ("", title)})
        author = next((n.author for n in listed if n.author), "")
        order = 0
        for name in listed:
            reading = read_name(name.character, author=author)
            tally.note(name.character, reading)
            for person in reading.people:
                yield CastRow(
                    source=source, work_id=fold(title).replace(" ", "-") or title, title=title, titles=others,
                    author=author, authors=(author,) if author else (), character=person.name,
                    character_aliases=person.aliases, raw_character=name.scraped_character or name.character,
                    order=order, flags=(() if author else ("no-author",)) + person.flags,
                )  # fmt: skip
                order += 1


def join_authors(names: Iterable[ListedName]) -> Iterator[ListedName]:
    """Names with the authors that the book lines of the same scrape give, by source and title.

    Public scrapes come as two files, characters without author and books with one; lines of books name no
    character and are left out here. One source's author is lent to no other.
    """
    listed = list(names)
    authors = {(n.source, fold(n.title)): n.author for n in listed if n.author}
    for name in listed:
        if name.character:
            yield replace(name, author=name.author or authors.get((name.source, fold(name.title)), ""))


_NAME_COLUMNS = frozenset({"title", "source", "character"})
_JSON_NAMES = {"book_title": "title", "character_name": "character", "book_author": "author"}


def _read_tsv(path: Path, needed: Iterable[str]) -> Iterator[dict[str, str]]:
    """Only "\\n" and "\\r\\n" end a line: a cell may hold any other sign."""
    numbered = enumerate(utf8(read_some(path), path).split("\n"), start=1)
    lines = ((number, line.rstrip("\r")) for number, line in numbered if line.strip())
    first = next((line for _, line in lines), "")
    header = [column.strip().lower() for column in first.split("\t")]
    missing = sorted(set(needed) - set(header))
    if missing:
        what = f"{path}:1 has no column {', '.join(missing)}"
        raise FormatError(what, expected="a tab-separated table with a header", found=first[:100])
    for number, line in lines:
        cells = line.split("\t")
        if len(cells) != len(header):
            raise FormatError(
                f"{path}:{number} has {len(cells)} columns", expected=f"{len(header)} tab-separated, unquoted"
            )
        yield _checked(dict(zip(header, cells, strict=True)), needed, f"{path}:{number}")


def _read_jsonl(path: Path) -> Iterator[dict[str, str]]:
    for place, found in json_lines(path):
        texts = {_JSON_NAMES.get(key, key): value for key, value in found.items() if isinstance(value, str)}
        is_book = "author" in texts and not {"character", "character_name"} & set(found)
        yield _checked(texts, _NAME_COLUMNS - {"character"} if is_book else _NAME_COLUMNS, place)


def _checked(row: dict[str, str], needed: Iterable[str], place: str) -> dict[str, str]:
    empty = sorted(column for column in needed if not row.get(column, "").strip())
    if empty:
        raise FormatError(f"{place} has no {', '.join(empty)}", found=str(row)[:150])
    return row
