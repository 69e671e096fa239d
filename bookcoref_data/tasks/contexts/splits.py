"""BookWorm's tables of books and splits: what is wrong with them, and splits that do not leak.

The published splits of the two tasks are independent, so that a model trained on both has seen test books.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from ...errors import FormatError
from ...formats.lines import read_lines
from ...shapes import AsFields, together

TASKS = ("description", "analysis")
SPLITS = ("train", "val", "test")


class TableRow(NamedTuple):
    """One row of a table: Gutenberg id, title, author and, in data tables, the address of a guide."""

    book: str
    title: str
    author: str
    url: str = ""


@dataclass(frozen=True, slots=True)
class Tables:
    """The published tables: books, addresses by task, splits by task."""

    books: Sequence[TableRow]
    data: Mapping[str, Sequence[TableRow]]
    splits: Mapping[str, Mapping[str, Sequence[TableRow]]]


def read_tables(folder: Path) -> Tables:
    """Read books.tsv, <task>_data.tsv and splits/<task>/<split>.tsv of a folder.

    Raises SourceError: a table is missing. FormatError: `file:line` of a row with too few columns.
    """
    data = {task: _rows(folder / f"{task}_data.tsv", 4) for task in TASKS}
    own = {task: folder / "splits" / task for task in TASKS}
    splits = {task: {split: _rows(own[task] / f"{split}.tsv", 3) for split in SPLITS} for task in TASKS}
    return Tables(_rows(folder / "books.tsv", 3), data, splits)


def _rows(path: Path, columns: int) -> list[TableRow]:
    found = []
    for number, line in enumerate(read_lines(path), 1):
        if number == 1 or not line.strip():
            continue
        cells = line.split("\t")
        if len(cells) != columns:
            what = f"{path}:{number}: the row has {len(cells)} columns"
            raise FormatError(what, expected=str(columns), found=repr(line[:80]))
        found.append(TableRow(*(cell.strip() for cell in cells)))
    return found


@dataclass(frozen=True, slots=True)
class Defect(AsFields):
    """Something wrong with the published tables: where, what, and the books concerned."""

    table: str
    what: str
    books: tuple[str, ...]


def find_defects(tables: Tables) -> list[Defect]:
    """Everything that a join of the tables would lose, double or leak."""
    known = {row.book: row for row in tables.books}
    found: list[Defect] = []

    def add(table: str, what: str, books: Iterable[str]) -> None:
        if listed := tuple(books):
            found.append(Defect(table, what, listed))

    for task in TASKS:
        addressed = {row.book for row in tables.data[task]}
        listed = [row.book for rows in tables.splits[task].values() for row in rows]
        add(f"splits/{task}", "listed, but without any address", sorted({*listed} - addressed))
        add(f"{task}_data", "has addresses, but is in no split", sorted(addressed - {*listed}))
        add(f"{task}_data", "is not in books.tsv", sorted(addressed - set(known)))
        add(f"splits/{task}", "listed twice", sorted(b for b, n in Counter(listed).items() if n > 1))
        data = [row for row in tables.data[task] if row.book in known]
        other = [row.book for row in data if row.title != known[row.book].title]
        add(f"{task}_data", "rows whose title differs from books.tsv: join on the id", other)
        placed = (row for rows in tables.splits[task].values() for row in rows)
        ids = together((plain_title(row.title), row.book) for row in placed)
        same_titles = sorted(book for books in map(set, ids.values()) if len(books) > 1 for book in books)
        add(f"splits/{task}", "one title under several ids", same_titles)
    for one, other_task in (TASKS, TASKS[::-1]):
        for split in ("test", "val"):
            inside = {row.book for row in tables.splits[one][split]}
            for leak in SPLITS:
                both = inside & {row.book for row in tables.splits[other_task][leak]}
                if leak != split:
                    what = f"in {leak} of {other_task}: a leak between tasks"
                    add(f"splits/{one}/{split}", what, sorted(both))
    return found


def overlap(tables: Tables, books: Iterable[Mapping[str, Any]]) -> list[Defect]:
    """Books of another corpus ({gutenberg_key, title}) that are in the tables: by id, by title, and where.

    Titles count without punctuation, case and leading articles, so that other editions are found. What a
    model trained on one corpus has read of the other is no defect of either, but has to be known.
    """
    own = list(books)
    ids = {str(book["gutenberg_key"]) for book in own}
    titles = {plain_title(str(book["title"])) for book in own}
    found = [
        Defect("books", "in BookCoref by Gutenberg id", tuple(r.book for r in tables.books if r.book in ids)),
        Defect(
            "books", "in BookCoref by title, another edition",
            tuple(r.book for r in tables.books if r.book not in ids and plain_title(r.title) in titles),
        ),
    ]  # fmt: skip
    for task, splits in tables.splits.items():
        for split, rows in splits.items():
            same = [r.book for r in rows if r.book in ids or plain_title(r.title) in titles]
            found.append(Defect(f"splits/{task}/{split}", "in BookCoref, any edition", tuple(same)))
    return [entry for entry in found if entry.books]


def plain_title(title: str) -> str:
    """A title without punctuation, articles at its beginning and case, as guides are matched to books."""
    words = "".join(c if c.isalnum() or c.isspace() else "" for c in title.casefold()).split()
    return " ".join(words[1:] if words[:1] in (["the"], ["a"], ["an"]) and len(words) > 1 else words)


def leakless_splits(tables: Tables) -> dict[str, str]:
    """One split for every book that has an address in any task, so that no book is in two.

    A book that is test in either published task is test, else validation if it is that in either, else
    train; a book in no split is placed by the hash of its id, 80/10/10. Editions of one title stay together,
    in the strictest of their splits.
    """
    order = ("test", "val", "train")
    titles = {row.book: row.title for rows in tables.data.values() for row in rows}
    groups = together((plain_title(title), book) for book, title in titles.items())
    listed = ((split, rows) for splits in tables.splits.values() for split, rows in splits.items())
    published = together((row.book, split) for split, rows in listed for row in rows)
    placed = {}
    for title, books in groups.items():
        named = {split for book in books for split in published.get(book, ())}
        split = next((s for s in order if s in named), None) or split_by_hash(title)
        placed.update(dict.fromkeys(books, split))
    return placed


def split_by_hash(title: str) -> str:
    """ "train", "val" or "test" of a plain title: 80/10/10 by its hash."""
    share = int(hashlib.sha256(title.encode()).hexdigest()[:8], 16) % 10
    return "test" if share == 0 else "val" if share == 1 else "train"


def keep_length(text: str, least: int, *, strictly: bool = False, tokens: str = "words") -> bool:
    """Whether a text is long enough: at least `least` units, or more than that if `strictly` (the repo).

    `tokens`: "words" counts runs between white space; "nltk" counts words and punctuation marks apart, as
    the public code does, by a rule that needs no data.
    """
    count = len(text.split() if tokens == "words" else re.findall(r"\w+(?:['’]\w+)?|[^\w\s]", text))
    return count > least if strictly else count >= least
