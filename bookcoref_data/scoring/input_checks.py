"""What is wrong with the mentions of one document: named and counted, never silently repaired."""

from bisect import bisect_left, insort
from collections.abc import Mapping
from dataclasses import dataclass, field, fields

import numpy as np

from ..errors import DataError, counted
from ..shapes import AsFields
from .clustering import Clusters, Members, span_codes


@dataclass(frozen=True, slots=True)
class InputChecks(AsFields):
    """Counts of odd mentions in one clustering, with up to three examples of each kind.

    `repeated`: listings of a span beyond the first in one cluster. `shared`: spans in several clusters.
    `outside`: mentions not inside the text. `reversed`: end before start. `crossing`: mentions that
    overlap another without nesting. `singletons`: clusters of one mention. `empty`: clusters of none.
    Singletons and crossing mentions are legal; the rest is not, and is scored as the rules say.
    """

    empty: int = 0
    singletons: int = 0
    repeated: int = 0
    shared: int = 0
    outside: int = 0
    reversed: int = 0
    crossing: int = 0
    examples: Mapping[str, tuple[tuple[int, int], ...]] = field(default_factory=dict)

    def __add__(self, other: "InputChecks") -> "InputChecks":
        counts = {f.name: getattr(self, f.name) + getattr(other, f.name) for f in fields(self)[:-1]}
        kinds = dict.fromkeys((*self.examples, *other.examples))
        found = {k: (*self.examples.get(k, ()), *other.examples.get(k, ()))[:3] for k in kinds}
        return InputChecks(**counts, examples=found)

    def notes(self, side: str, doc_key: str, duplicates: str) -> list[str]:
        """One sentence per kind that can change a number."""
        treated = {
            "released": "counted for each, as in the released evaluation",
            "first": "kept once, in the cluster that opens first",
        }[duplicates]
        said = {
            "empty": f"{counted(self.empty, 'empty clusters')}: left out",
            "repeated": f"{counted(self.repeated, 'spans')} listed again in the same cluster: {treated}",
            "shared": f"{counted(self.shared, 'spans')} in several clusters: {treated}",
            "outside": f"{counted(self.outside, 'mentions')} outside the text, matching nothing",
            "reversed": f"{counted(self.reversed, 'mentions')} ending before the start, matching nothing",
        }
        shown = {kind: f" (such as {', '.join(map(str, spans))})" for kind, spans in self.examples.items()}
        return [
            f"{doc_key}: the {side} has {text}{shown.get(kind, '')}"
            for kind, text in said.items()
            if getattr(self, kind)
        ]


def check_input(clusters: Clusters, mentions: Members, tokens: int | None) -> InputChecks:
    """Count the flaws of one document of `tokens` tokens (None: length unknown).

    `mentions` are the same clusters as arrays, of one unit.
    """
    start, end = mentions.start, mentions.end
    empty = sum(1 for cluster in clusters if not len(cluster))
    if not start.size:
        return InputChecks(empty=empty)
    codes = span_codes(mentions, mentions)[0]
    order = np.lexsort((mentions.owner, codes))
    same_span = codes[order][1:] == codes[order][:-1]
    same_cluster = mentions.owner[order][1:] == mentions.owner[order][:-1]
    again = order[1:][same_span & same_cluster]
    shared = order[1:][same_span & ~same_cluster]
    outside = np.flatnonzero((start < 0) | (end < 0) | (False if tokens is None else (end >= tokens)))
    turned = np.flatnonzero(end < start)
    # Mentions b with some a such that a.start < b.start <= a.end < b.end
    longer = np.flatnonzero(end > start)
    order = longer[np.lexsort((-end[longer], start[longer]))]
    crossing: list[int] = []
    open_ends: list[int] = []  # sorted ends of the mentions seen that reach the current start
    for i, a, b in zip(order.tolist(), start[order].tolist(), end[order].tolist(), strict=True):
        del open_ends[: bisect_left(open_ends, a)]
        if open_ends and open_ends[0] < b:
            crossing.append(i)
        insort(open_ends, b)
    found = {
        "repeated": again, "shared": shared, "outside": outside, "reversed": turned,
        "crossing": np.array(crossing, np.int64),
    }  # fmt: skip
    shown = {kind: index[:3] for kind, index in found.items() if index.size}
    examples = {kind: tuple((int(start[i]), int(end[i])) for i in index) for kind, index in shown.items()}
    return InputChecks(
        empty=empty, singletons=int((mentions.sizes == 1).sum()), repeated=int(again.size),
        shared=len(set(codes[shared].tolist())), outside=int(outside.size), reversed=int(turned.size),
        crossing=len(set(codes[crossing].tolist())), examples=examples,
    )  # fmt: skip


_SHIFTS = {
    (0, -1): "its ends look exclusive: subtract 1 from every end",
    (-1, -1): "its offsets look 1-based: subtract 1 from every start and end",
    (-1, -2): "its offsets look 1-based with exclusive ends: subtract 1 from starts and 2 from ends",
}


def refuse_nonsense(doc_key: str, key: Members, response: Members, tokens: int | None) -> None:
    """Refuse offsets that cannot be about this text.

    Raises DataError: most response mentions lie past the text (characters counted, or another text), or
    hardly any mention matches while most would after a constant shift (other offset convention).
    """
    count = response.start.size
    if not count or not key.start.size:
        return
    length = int(key.end.max()) + 1 if tokens is None else tokens
    outside = int((response.end >= length).sum()) if tokens is not None else 0
    if outside * 2 > count:
        raise DataError(
            f"{doc_key}: {outside:,} of {count:,} response mentions lie past the end of the text",
            expected=f"0-based token offsets below {length:,}",
            found=f"offsets up to {int(response.end.max()):,}",
            hint="are the offsets counted in characters, or those of a whole book against a window of it? "
            "Whole books against windows: --mode split",
        )
    if count < 20 or _found(key, response, 0, 0) * 20 > count:
        return
    for (by_start, by_end), cure in _SHIFTS.items():
        if _found(key, response, by_start, by_end) * 2 > count:
            what = f"{doc_key}: hardly any response mention is in the key, but {cure}"
            hint = "mend the response, or write it with this package's formats"
            raise DataError(what, expected="0-based token offsets, both ends inclusive", hint=hint)


def _found(key: Members, response: Members, by_start: int, by_end: int) -> int:
    base = min(int(key.start.min()), int(response.start.min())) - 2
    width = max(int(key.end.max()), int(response.end.max())) - base + 3
    known, asked = (
        np.sort((start - base) * width + (end - base))
        for start, end in ((key.start, key.end), (response.start + by_start, response.end + by_end))
    )
    # Not `np.isin`: it imports masked arrays, which costs more than small files do.
    place = np.searchsorted(known, asked)
    return int((known[np.minimum(place, known.size - 1)] == asked).sum())
