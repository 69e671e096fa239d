"""What two annotations of the same text disagree on, mention by mention.

Characters of one name are paired; of the others, one to one, those that have most mentions in common. Then a
mention is

    missed     only in the first annotation
    spurious   only in the second
    merged     in both, but the second gives it to the pair of another character
    split      in both, but the second gives it to a character that is nobody's pair
"""

from collections import Counter
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..books.annotation import Annotation
from ..errors import EditionError
from ..scoring.assignment import best_alignment
from ..shapes import attributes, together
from ..words import fold

KINDS = ("missed", "spurious", "merged", "split")
_MISSED, _SPURIOUS, _MERGED, _SPLIT = range(4)


class Difference(NamedTuple):
    """Tokens `start` to `end` (inclusive); `kind` is a place in KINDS; characters are indices or -1."""

    start: int
    end: int
    kind: int
    first: int
    second: int


@dataclass(frozen=True)
class Differences:
    """All differences, sorted by place; `names` are those of the second annotation."""

    rows: tuple[Difference, ...]
    names: tuple[str, ...]
    same: int
    first: str = "first"
    second: str = "second"

    def counts(self) -> dict[str, int]:
        """How many differences there are of each kind."""
        found = Counter(row.kind for row in self.rows)
        return {name: found[i] for i, name in enumerate(KINDS)}

    def to_dict(self) -> dict[str, Any]:
        """For the page: `rows` is flat; starts are differences, ends are lengths less one."""
        flat: list[int] = []
        before = 0
        for row in self.rows:
            flat += (row.start - before, row.end - row.start, row.kind, row.first, row.second)
            before = row.start
        return {"rows": flat, **attributes(self, "names same first second")}


def compare(
    first: Annotation, second: Annotation, *, labels: tuple[str, str] = ("first", "second")
) -> Differences:
    """The differences of two annotations.

    Raises:
        EditionError: the two have different tokens.
    """
    a, b = first.book.tokens, second.book.tokens
    if a != b:
        at = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
        raise EditionError(
            f"{first.doc_key!r}: the two annotations have different texts; token {at} is the first to differ",
            expected=f"{' '.join(a[max(at - 3, 0) : at + 3])!r} ({len(a):,} tokens)",
            found=f"{' '.join(b[max(at - 3, 0) : at + 3])!r} ({len(b):,} tokens)",
            hint="compare annotations of the same tokens, or carry one over: bookcoref-data align",
        )
    at_first, at_second = _by_span(first), _by_span(second)
    # Character of the first -> character of the second: of one name, else with most mentions in common.
    by_name = {fold(name): s for s, name in enumerate(second.names) if s not in second.guessed}
    named = {
        f: by_name.pop(fold(name))
        for f, name in enumerate(first.names)
        if f not in first.guessed and fold(name) in by_name
    }
    taken = set(named.values())
    common: Counter[tuple[int, int]] = Counter()
    for m in first.mentions:
        for other in at_second.get((m.start, m.end), ()):
            if m.character not in named and other not in taken:
                common[m.character, other] += 1
    edges = list(common)
    ones, others = (np.array([both[k] for both in edges], dtype=np.int64) for k in (0, 1))
    weights = np.array(list(common.values()), dtype=float)
    pair = named | {edges[i][0]: edges[i][1] for i in best_alignment(ones, others, weights)}
    back = {s: f for f, s in pair.items()}
    rows: list[Difference] = []
    same = 0
    for span in sorted(at_first.keys() | at_second.keys()):
        here, there = at_first.get(span, []), at_second.get(span, [])
        agreed = [(f, pair[f]) for f in here if pair.get(f) in there]
        same += len(agreed)
        left = [f for f in here if f not in {a for a, _ in agreed}]
        right = [s for s in there if s not in {b for _, b in agreed}]
        for f, s in zip(left, right, strict=False):
            rows.append(Difference(*span, _MERGED if s in back else _SPLIT, f, s))
        rows += [Difference(*span, _MISSED, f, -1) for f in left[len(right) :]]
        rows += [Difference(*span, _SPURIOUS, -1, s) for s in right[len(left) :]]
    return Differences(tuple(rows), second.names, same, *labels)


def _by_span(a: Annotation) -> dict[tuple[int, int], list[int]]:
    rows = sorted({(m.start, m.end, m.character) for m in a.mentions})
    return together(((start, end), character) for start, end, character in rows)
