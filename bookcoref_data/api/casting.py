"""`cast` for Python: the workshop in which a person repairs the cast of a book."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import UsageError, plural
from ..files import path_of
from ..outputs import files_of
from . import options as o
from .annotating import _sources
from .options import PathLike, path_or_none
from .tables import Result, Table

if TYPE_CHECKING:
    from ..annotation.workshop import CastWorkshop
    from ..workflows.annotate import Source


@files_of("out", reads=("book", "cast"))
def cast(
    book: PathLike, cast: PathLike | None = None, *, out: PathLike | None = None, language: o.Language = "",
    replace: o.Overwrite = False,
) -> Casting:  # fmt: skip
    """Show who is in a book, and repair its cast: which names are whose, who is one person, who is two.

    Args:
        book: a text, or one tokenised book, as `annotate`.
        cast: the cast file to repair (default: BOOK.cast.txt beside the book); where there is none, a cast
            is proposed from the book.
        out: write the workshop as an HTML page, which saves a cast file.

    Raises:
        SourceError, DataError: the book cannot be read.
        UsageError: several books, a damaged cast file, or a book that names nobody.
    """
    from ..files import write_text
    from ..workflows.annotate import check_language

    sources = _sources(book)
    if len(sources) != 1:
        raise UsageError(f"{book} holds {len(sources)} books", expected="one book")
    check_language(sources[0].book, language)
    made = Casting(sources[0], path_or_none(cast) or cast_beside(path_of(book)))
    if out is not None:
        write_text(path_of(out), made.page())
    return made


def cast_beside(book: Path) -> Path:
    """Where the cast of a book is kept: beside it."""
    return book.with_name(f"{book.name.split('.')[0]}.cast.txt")


class Casting(Result):
    """The cast of a book as it is in `file`, or is proposed, and what the book says of it: `workshop`."""

    def __init__(self, source: Source, file: Path) -> None:
        from ..annotation.embedded.parsing import parse_book

        self.source, self.file = source, file
        self._parse = parse_book(source.book)
        self.read()

    def read(self) -> CastWorkshop:
        """The workshop of what is in the file now."""
        from ..annotation.cast import format_cast
        from ..annotation.propose import propose_cast
        from ..annotation.workshop import make_workshop
        from ..workflows.casts import cast_text

        if self.file.exists():
            text = cast_text(self.file)
        else:
            text = format_cast(propose_cast(self.source.book, parse=self._parse).cast)
        self.workshop = make_workshop(
            self.source.book, self._parse, text, self.source.chapters, str(self.file)
        )
        return self.workshop

    def page(self, server: dict[str, str] | None = None) -> str:
        """The workshop as one page of HTML, which saves a cast file, or gives it to a server."""
        from ..reading_page.form import form

        made = self.read() if server else self.workshop
        data = made.to_dict() | {"server": server, "file": self.file.name}
        return form("cast", f"Cast of {self.source.book.doc_key}", data)

    @property
    def table(self) -> Table:
        """One row per character, most frequent first: name, times named, its names in the book, doubts."""
        work = self.workshop
        rows: list[list[Any]] = []
        for i, (entry, _, _) in enumerate(work.people):
            mine = [n for n in work.names if n.owner == i]
            asked = [why for a, b, _, why in work.partners if why and i in (a, b)]
            doubts = [why for names, why in work.doubts if work.names[names[0]].owner == i]
            told = ", ".join(f"{n.text} {len(n.starts)}" for n in mine)
            rows.append([entry.name, sum(len(n.starts) for n in mine), told, len(asked) + len(doubts)])
        rows.sort(key=lambda row: -row[1])
        return Table.of_rows(("name", "times", "names in the book", "questions"), rows)

    def to_dict(self) -> dict[str, Any]:
        """What `cast --json` prints."""
        return {"file": str(self.file), **self.workshop.to_dict()}

    def _line(self) -> str:
        return f"{self.source.book.doc_key}, {plural(len(self.workshop.people), 'character')}"
