"""The guard: a kind of cut that would take more than a book's apparatus can be is not made."""

from __future__ import annotations

from ...errors import DataError
from .model import KINDS, VISIBLE, Draft
from .settings import LIMITS, CleanSettings


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
                _take_back(draft, kind, codes[kind], why)
                sums[kind] = 0


def _take_back(draft: Draft, kind: str, code: int, why: str) -> None:
    first, last = draft.marks.find(code, draft.start), draft.marks.rfind(code, 0, draft.end) + 1
    draft.marks[first:last] = draft.marks[first:last].replace(bytes([code]), b"\0")
    draft.decide(kind, first, last, why, cut=False)


def require_text(draft: Draft) -> None:
    """Raises DataError: nothing visible is left between header and footer."""
    left = draft.marks.find(0, draft.start, draft.end)
    if left < 0 or not VISIBLE.search(draft.text, draft.start, draft.end):
        raise DataError("cleaning leaves nothing", hint="the file has no text between header and footer")
