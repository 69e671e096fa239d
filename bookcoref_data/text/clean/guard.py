"""The guard: cleaning stops when more would go than a book's apparatus can be."""

from __future__ import annotations

from collections.abc import Sequence

from ...errors import DataError
from .model import VISIBLE, Cut, Draft
from .settings import CleanSettings

_EDGES = ("header", "footer")


def check(draft: Draft, cuts: Sequence[Cut], settings: CleanSettings) -> None:
    """Refuse when a kind, or all together, takes more than its share of what lies between header and footer.

    Header and footer themselves have a fixed size, so they are not counted.

    Raises:
        DataError: names the kind, the shares and the largest cut.
    """
    body = draft.end - draft.start
    inside = [cut for cut in cuts if cut.kind not in _EDGES]
    sums: dict[str, int] = {}
    for cut in inside:
        sums[cut.kind] = sums.get(cut.kind, 0) + cut.end - cut.start
    total = sum(sums.values())
    if total >= body or not VISIBLE.search(draft.text, draft.start, draft.end):
        raise DataError("cleaning leaves nothing", hint="the file has no text between header and footer")
    if not settings.guard:
        return
    for kind, amount in [*sums.items(), ("total", total)]:
        share = amount / body
        if amount > settings.floor and share > settings.limit(kind):
            worst = max((c for c in inside if kind in (c.kind, "total")), key=lambda c: c.end - c.start)
            raise DataError(
                f"cleaning would take too much ({kind})",
                expected=f"at most {settings.limit(kind):.0%} of the text",
                found=f"{share:.1%}; the largest piece: {worst.kind} at {worst.start}: "
                f"{worst.excerpt(draft.text)}",
                hint="look with `clean --show-cuts --no-guard`; then raise the limit or spare the piece",
            )
