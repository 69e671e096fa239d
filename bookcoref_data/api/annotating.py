"""`annotate` and `propose_cast` for Python."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import UsageError
from .books import AnnotatedBook, PathLike
from .tables import Table

if TYPE_CHECKING:
    from ..annotate.cast import Cast
    from ..workflows.annotate import Source

AUTO = "auto"


def annotate(
    book: PathLike | AnnotatedBook,
    cast: str | PathLike | Iterable[str] = AUTO,
    *,
    narrator: str | Iterable[str] = (),
    backend: str = "embedded",
    recipe: PathLike | None = None,
    out: PathLike | None = None,
) -> AnnotatedBook:
    """Annotate one book: its characters' names, pronouns and noun phrases, and who speaks each quotation.

    Args:
        book: a Gutenberg file, a plain text, a `.jsonl` file with one tokenised book, or a book in memory.
        cast: "auto" (the cast that the book brings along, else one proposed from it), the path of a cast
            file, or names; a name may be followed by aliases: "Elizabeth Bennet; Lizzy; Eliza".
        narrator: who says "I" outside quotations: a name of the cast, or several with chapters or tokens:
            ["Jim Hawkins", "Dr. Livesey:16-18"].
        backend: "embedded" (CPU) or "hub" (the paper's models).
        recipe: a recipe file in place of the backend's own.
        out: a folder for everything that the command line writes.

    Raises:
        SourceError, DataError: the book cannot be read.
        UsageError: the cast, narrator or recipe does not fit.
    """
    from ..annotate.plan import default_plan, read_plan
    from ..workflows.annotate import annotate_book, write_annotations

    source = _source(book)
    plan = read_plan(Path(recipe)) if recipe else default_plan(backend)
    states = Path(out) / "states" if out else None
    narrators = (narrator,) if isinstance(narrator, str) and narrator else tuple(narrator)
    done = annotate_book(source, _cast(cast, source), plan, narrators=narrators, states=states)
    if out:
        write_annotations([done], Path(out))
    return AnnotatedBook(done.book.to_record(), state=done.state, text=source.origin)


def propose_cast(book: PathLike | AnnotatedBook) -> Table:
    """The characters that a book seems to have: name, aliases, and a remark for whoever checks them."""
    from ..annotate.propose import propose_cast as propose

    proposal = propose(_source(book).book)
    entries = proposal.cast.entries
    return Table({
        "name": [e.name for e in entries],
        "aliases": [list(e.aliases) for e in entries],
        "remark": list(proposal.remarks),
    })  # fmt: skip


def _source(book: PathLike | AnnotatedBook) -> Source:
    from ..workflows.annotate import read_sources, source_of

    if isinstance(book, AnnotatedBook):
        return source_of(book.record)
    sources = read_sources(Path(book).expanduser())
    if len(sources) != 1:
        raise UsageError(
            f"{book} holds {len(sources)} books", expected="one book",
            hint="[bc.annotate(b) for b in bc.read(path)] annotates each of them",
        )  # fmt: skip
    return sources[0]


def _cast(cast: str | PathLike | Iterable[str], source: Source) -> Cast | None:
    """The cast, None where it is to be proposed from the book."""
    from ..annotate.cast import parse_cast
    from ..workflows.casts import read_cast

    if cast == AUTO:
        return source.cast
    if isinstance(cast, Iterable) and not isinstance(cast, str):
        lines = list(cast)
        if not lines:
            raise UsageError("the cast is empty", expected="at least one name, or cast='auto'")
        return parse_cast("\n".join(lines), "cast")
    return read_cast(Path(cast).expanduser(), "pass a list for names: cast=['Anna', 'Mr. Hill; Hill']")
