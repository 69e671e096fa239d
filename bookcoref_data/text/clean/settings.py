"""What to cut and how much may go: general settings, and the exceptions of one book."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ...errors import DataError, UsageError, require_choice
from ...shapes import check
from .model import KINDS, VISIBLE, Draft

PREFACES = ("all", "own", "long", "none")
"""Which prefaces stay: all, the author's own, of these the ones longer than `LONG_PREFACE`, none."""

LONG_PREFACE = 0.02
"""Share of the text from which on a preface is long."""

LIMITS: Mapping[str, float] = {
    "credits": 0.02, "transcriber-note": 0.06, "illustration": 0.10, "page-number": 0.03, "footnote": 0.15,
    "contents": 0.08, "preface": 0.25, "title-page": 0.02, "back-matter": 0.15, "advertisement": 0.10,
    "emphasis": 0.03, "total": 0.30,
}  # fmt: skip
"""Share of the text between header and footer above which a kind is not cut; "total" is all of them."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of one book that a recipe cuts or keeps.

    It runs from the first line that starts with `first` to the line before the next one that starts with
    `until`, or to the end of the body when `until` is ""; or it is every match of the regular expression
    `pattern` (in which ^ and $ are the ends of lines). `optional` says
    that other editions may lack it; else a text without it is refused. `reason` is for the reader.
    """

    first: str = ""
    until: str = ""
    pattern: str = ""
    optional: bool = False
    reason: str = ""


@dataclass(frozen=True, slots=True)
class CleanSettings:
    """How to clean.

    `prefaces` is one of `PREFACES`. `keep` names kinds of cuts that are not made. `limits` overrides entries
    of `LIMITS`; a kind below `floor` characters is never too much (a title draft is a fixed amount, not
    a share). `cut` and `spare` are a book's own pieces, from a recipe; `title` and `author` override what the
    header of the file says. `guard` False cuts what exceeds the limits, too.
    """

    prefaces: str = "own"
    keep: tuple[str, ...] = ()
    limits: Mapping[str, float] = field(default_factory=dict)
    floor: int = 3000
    cut: tuple[Piece, ...] = ()
    spare: tuple[Piece, ...] = ()
    title: str = ""
    author: str = ""
    guard: bool = True

    def __post_init__(self) -> None:
        require_choice("prefaces", self.prefaces, PREFACES)
        for name, allowed in ((self.keep, KINDS), (self.limits, LIMITS)):
            unknown = sorted(set(name) - set(allowed))
            if unknown:
                known, told = ", ".join(allowed), ", ".join(unknown)
                raise UsageError(f"unknown kind of cut: {told}", expected=f"among {known}")

    def limit(self, kind: str) -> float:
        return self.limits.get(kind, LIMITS[kind])


def settings_from(table: Mapping[str, Any], base: CleanSettings | None = None) -> CleanSettings:
    """Settings from a table of a recipe; what it does not name comes from `base`. Raises UsageError: unknown
    keys, wrong types, pieces without `first`."""
    base = base or CleanSettings()
    check(table, "clean_settings", "the recipe of cleaning", UsageError)
    values: dict[str, Any] = {key: value for key, value in table.items() if key != "reason"}
    for name in {"cut", "spare"} & values.keys():
        for item in values[name]:
            if bool(item.get("first")) == bool(item.get("pattern")):
                expected = "first (and until) or pattern, and reason"
                raise UsageError(f"an entry of `{name}` is wrong", expected=expected, found=item)
            try:
                re.compile(item.get("pattern", ""))
            except re.error as error:
                raise UsageError(f"the pattern {item['pattern']!r} cannot be read", found=error) from error
        values[name] = getattr(base, name) + tuple(Piece(**item) for item in values[name])
    if "keep" in values:
        values["keep"] = tuple(values["keep"])
    if "limits" in values:
        values["limits"] = {**base.limits, **values["limits"]}
    return replace(base, **values)


@dataclass(frozen=True, slots=True)
class CleanRecipe:
    """Settings for every book, and the tables of single books by Gutenberg id."""

    settings: CleanSettings = field(default_factory=CleanSettings)
    books: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def for_book(self, gutenberg_id: str) -> CleanSettings:
        """The settings of one book. Raises UsageError when its table is wrong."""
        try:
            return settings_from(self.books.get(gutenberg_id, {}), self.settings)
        except UsageError as error:
            error.what = f"the cleaning recipe for book {gutenberg_id}: {error.what}"
            raise


def give_back(draft: Draft, settings: CleanSettings) -> None:
    """Take back every kind that takes more than its share of what lies between header and footer, and say so.

    All kinds together have a limit as well: the largest go back first. Header and footer have a fixed size,
    and what a recipe names a person has decided; so neither is counted.
    """
    body = max(1, draft.end - draft.start)
    codes = {kind: KINDS.index(kind) + 1 for kind in LIMITS if kind in KINDS}
    sums = {kind: draft.marks.count(code, draft.start, draft.end) for kind, code in codes.items()}
    for kind in sorted(sums, key=lambda kind: -sums[kind]) if settings.guard else ():
        for name, amount in ((kind, sums[kind]), ("total", sum(sums.values()))):
            if amount > settings.floor and sums[kind] and amount > settings.limit(name) * body:
                why = f"{name} would take {amount / body:.1%} of the text, {settings.limit(name):.0%} may go"
                code = codes[kind]
                first, last = draft.marks.find(code, draft.start), draft.marks.rfind(code, 0, draft.end) + 1
                draft.marks[first:last] = draft.marks[first:last].replace(bytes([code]), b"\0")
                draft.decide(kind, first, last, why, cut=False)
                sums[kind] = 0


def require_text(draft: Draft) -> None:
    """Raises DataError: nothing visible is left between header and footer."""
    left = draft.marks.find(0, draft.start, draft.end)
    if left < 0 or not VISIBLE.search(draft.text, draft.start, draft.end):
        raise DataError("nothing is left between header and footer", hint="give the whole file of the book")
