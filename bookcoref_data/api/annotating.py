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
    narrator: str = "",
    backend: str = "embedded",
    recipe: PathLike | None = None,
    out: PathLike | None = None,
) -> AnnotatedBook:
    """Annotate one book: its characters' names, pronouns and noun phrases, and who speaks each quotation.

    Args:
        book: a Gutenberg file, a plain text, a `.jsonl` file with one tokenised book, or a book in memory.
        cast: "auto" (a cast proposed from the book), the path of a cast file, or names; a name may be
            followed by aliases: "Elizabeth Bennet; Lizzy; Eliza".
        narrator: who says "I" outside quotations.
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
    done = annotate_book(source, _cast(cast, source), plan, narrator=narrator, states=states)
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


def _cast(cast: str | PathLike | Iterable[str], source: Source) -> Cast:
    from ..annotate.cast import make_cast, parse_cast
    from ..annotate.propose import propose_cast as propose

    if cast == AUTO:
        return make_cast(source.names) if source.names else propose(source.book).cast
    if isinstance(cast, Iterable) and not isinstance(cast, str):
        lines = list(cast)
        if not lines:
            raise UsageError("the cast is empty", expected="at least one name, or cast='auto'")
        return parse_cast("\n".join(lines), "cast")
    path = Path(cast).expanduser()
    try:
        return parse_cast(path.read_text(encoding="utf-8-sig"), str(path))
    except OSError as error:
        raise UsageError(
            f"cannot read the cast file {path}", found=error.strerror,
            hint="pass a list for names: cast=['Anna', 'Mr. Hill; Hill']",
        ) from error  # fmt: skip
    except UnicodeDecodeError as error:
        raise UsageError(f"the cast file {path} is not UTF-8", hint="save it as UTF-8") from error
