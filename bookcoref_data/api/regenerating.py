"""`regenerate` for Python."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import plural
from ..files import path_of
from .books import PathLike, path_or_none
from .results import Result
from .tables import Table

if TYPE_CHECKING:
    from ..progress import Progress
    from ..workflows.regenerate import Regeneration


class Regenerated(Result):
    """A data set annotated again, compared with the annotation that was there."""

    def __init__(self, result: Regeneration) -> None:
        self.result = result

    @property
    def differs(self) -> bool:
        """Whether any mention is missing, spurious, or moved to another character."""
        return any(c.missing or c.spurious or c.moved for c in self.result.comparisons.values())

    @property
    def failed(self) -> dict[str, str]:
        """Books that could not be annotated, with the reason."""
        return {key: str(error) for key, error in self.result.work.failed.items()}

    @property
    def files(self) -> list[Path]:
        """What was written."""
        return list(self.result.files)

    @property
    def notes(self) -> list[str]:
        """Books left out, and notes on the scores."""
        return list(self.result.notes)

    @property
    def table(self) -> Table:
        """One row per book and one for all: linking and metrics in percent, counts of mentions."""
        from ..workflows.regenerate import COLUMNS

        return Table.of_rows(COLUMNS, self.result.rows())

    @property
    def examples(self) -> Table:
        """The differences that were kept as examples."""
        from ..workflows.regenerate import EXAMPLE_COLUMNS

        return Table.of_rows(EXAMPLE_COLUMNS, self.result.example_rows())

    def characters(self, most: int = 10) -> Table:
        """The characters with most differences."""
        from ..workflows.regenerate import CHARACTER_COLUMNS

        return Table.of_rows(CHARACTER_COLUMNS, self.result.character_rows(most))

    def to_dict(self) -> dict[str, Any]:
        """The same document as `regenerate --json`."""
        return self.result.to_dict()

    def _line(self) -> str:
        state = "differs" if self.differs else "the same"
        return f"{plural(len(self.result.comparisons), 'book')}, {state}, {len(self.failed)} failed"


def regenerate(
    folder: PathLike,
    *,
    backend: str = "embedded",
    recipe: PathLike | None = None,
    books: Iterable[str] = (),
    splits: Iterable[str] = (),
    out: PathLike | None = None,
    examples: int = 3,
    jobs: int = 0,
    replace: bool = False,
    cache_dir: PathLike | None = None,
    progress: Progress | None = None,
) -> Regenerated:
    """Annotate the books of a data set again and score the result against what is there.

    Args:
        folder: a data set folder; tokens are taken as they are, the characters of a book are its cast.
        backend: "embedded" (CPU) or "hub" (the paper's models); `recipe` is a file in place of its own.
        books: document keys or Gutenberg ids; all without it.
        splits: "train", "validation", "test"; all without it.
        out: a folder for the new annotation, in the splits of the old one.
        examples: differences kept per book and kind.
        jobs: processes; 0 means one per core.
        replace: let `out` lose other books.

    Raises:
        UsageError: no data set folder, a book that is not in it, or none with named characters.
    """
    from ..annotate.plan import default_plan, read_plan
    from ..formats.folder import SPLITS
    from ..sources.store import Store
    from ..workflows.regenerate import regenerate as run

    path = path_or_none(recipe)
    plan = read_plan(path) if path else default_plan(backend)
    return Regenerated(
        run(
            path_of(folder), plan, Store.open(path_or_none(cache_dir)).root, out=path_or_none(out),
            books=list(books), splits=list(splits) or SPLITS, workers=jobs, examples=examples,
            replace=replace, progress=progress,
        )
    )  # fmt: skip
