"""`audit` for Python: the likely errors of an annotation that somebody else made."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..books import Mention
from ..errors import plural
from ..files import path_of
from ..outputs import files_of
from . import options as o
from .options import PathLike
from .reading import _chosen
from .tables import Result, Table

if TYPE_CHECKING:
    from ..asking.flags import Flag
    from ..books.annotation import Annotation


@files_of("out", reads=("source", "edits"))
def audit(
    source: Any, *, book: o.OneBook = "", read: bool = True, most: o.Count = 60,
    edits: PathLike | None = None, author: str = "", out: PathLike | None = None,
    replace: o.Overwrite = False,
) -> Audit:  # fmt: skip
    """List the likely errors of an annotation, most likely first, with reason, passage and correction.

    Args:
        source: data set folder, or a file in any format: gold, silver, a system's output.
        read: read the books, too, with the names of the chains as the cast: finds more, takes a minute for a
            novel.
        most: flags that are listed (0: all); the counts are those of all.
        edits: corrections that were made before: what they decide is not listed again.
        author: name written into each correction.
        out: write a page that asks of each flag whether it is an error, and saves the corrections.

    A correction has the reason in its field `why`. In Python `source` may be books in memory.

    Raises:
        UsageError: there is no such book. SourceError, DataError: a file cannot be read.
    """
    from ..asking import settled
    from ..files import write_text
    from ..workflows.correct import read_edits
    from ..workflows.review import flags_of

    kept = read_edits(path_of(edits)) if edits is not None and path_of(edits).is_file() else []
    found = []
    for a in _chosen(source, book):
        said = settled(e for e in kept if e.doc_key in ("", a.doc_key))
        flags = flags_of(a, read=read)
        found += [(flag, a) for flag in flags if ("mention", flag.start, flag.end) not in said]
    found.sort(key=lambda pair: -pair[0].chance)
    made = Audit(found, most or len(found), [e.to_dict() for e in kept], author)
    if out is not None:
        write_text(path_of(out), made.page())
    return made


class Audit(Result):
    """The likely errors of annotations, most likely first: `flags` with the annotation of each."""

    def __init__(
        self, flags: Sequence[tuple[Flag, Annotation]], most: int, kept: list[dict[str, Any]], author: str
    ) -> None:
        self.flags, self._all, self._kept, self._author = list(flags[:most]), flags, kept, author

    @property
    def counts(self) -> dict[str, int]:
        """How many flags there are of each kind."""
        return dict(Counter(flag.kind for flag, _ in self._all).most_common())

    @property
    def table(self) -> Table:
        """One row per flag."""
        columns = ("doc_key", "token", "kind", "likely wrong", "words", "reason")
        rows = []
        for f, a in self.flags:
            words = a.book.text_of(Mention(f.start, f.end))
            rows.append([a.doc_key, f.start, f.kind, round(f.chance, 2), words, f.reason])
        return Table.of_rows(columns, rows)

    def to_dict(self) -> dict[str, Any]:
        """What `audit --json` prints."""
        from ..asking.flags import flag_as_dict
        from ..books.layout import lay_out

        layouts = {id(a): lay_out(a) for _, a in self.flags}
        return {"counts": self.counts, "flags": [flag_as_dict(f, a, layouts[id(a)]) for f, a in self.flags]}

    def keep(self, answer: list[dict[str, Any]], file: PathLike) -> None:
        """Add the corrections of an answer to a file."""
        from ..edits import parse_edits
        from ..workflows.correct import read_edits, signed, write_edits

        path = path_of(file)
        made = parse_edits("\n".join(json.dumps(edit) for edit in answer))
        kept = read_edits(path) if path.is_file() else []
        write_edits([*kept, *signed(made, self._author)], path)

    def page(self, server: dict[str, str] | None = None) -> str:
        """A page that asks of each flag whether it is an error."""
        from ..reading_page.form import form

        told = self.to_dict()
        data = {"questions": told["flags"], "counts": told["counts"], "edits": self._kept, "names": [],
                "author": self._author, "server": server}  # fmt: skip
        return form("review", "Likely errors", data)

    def _line(self) -> str:
        return plural(len(self._all), "flag")
