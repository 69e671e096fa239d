"""What a person decided against the rules; kept in a recipe, so that a new run decides the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import UsageError
from ..shapes import check, settings_of
from .table import HarvestedCast
from .titles import folded_author, initial_authors, tokens, without_article


@dataclass(frozen=True, slots=True)
class Override:
    """A work, named by title (and author) or by its id in a source, goes to a book, or nowhere (None)."""

    reason: str
    title: str = ""
    author: str = ""
    source: str = ""
    work_id: str = ""
    gutenberg_id: int | None = None


def overrides_from(table: Mapping[str, Any]) -> list[Override]:
    """The overrides of a recipe: `[[override]]` tables with a reason and a title or a work_id.

    Raises:
        UsageError: unknown keys, no reason, nothing that names the work, an id that is no number.
    """
    found = []
    check(table, "overrides", "overrides", UsageError)
    for number, entry in enumerate(table.get("override", ())):
        one = settings_of(Override, entry, f"override.{number}")
        if not one.title and not one.work_id:
            raise UsageError("an override names no work", expected="a title or a work_id", found=entry)
        found.append(one)
    return found


def find_override(overrides: Sequence[Override], cast: HarvestedCast) -> Override | None:
    """The first override that names the work."""
    return next((o for o in overrides if _names(o, cast)), None)


def _names(override: Override, cast: HarvestedCast) -> bool:
    if override.source and override.source != cast.work.source:
        return False
    if override.work_id:
        return override.work_id == cast.work.work_id
    wanted = without_article(tokens(override.title))
    if wanted not in {without_article(tokens(t)) for t in (cast.work.title, *cast.work.titles)}:
        return False
    theirs = [cast.work.author, *cast.work.authors, *cast.work.author_aliases]
    return not override.author or bool(_keys([override.author]) & _keys(theirs))


def _keys(names: Sequence[str]) -> set[str]:
    return {key for name in names if name for key in (folded_author(name), *initial_authors(name))}
