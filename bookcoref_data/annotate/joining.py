"""Names of one person that share no word: "Henry" and "Mr. Wilcox", "Aunt Juley" and "Mrs. Munt".

A first name alone and a surname alone complete each other. Every such pair of one gender is weighed by the
places of its names (`identity.py`), and a pair is taken where no other comes near it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from .identity import Traces, evidence

_LEAST, _MARGIN = 2.0, 0.9
"""Least evidence for a pair, and how far every other pair of the two must stay behind."""
_ONE_GENDER, _SAME_SURNAME = 0.7, 0.5
"""What it says for a pair that both are known to be of one gender, and that both have the same surname."""
_LEAST_TIMES = 5
"""Times that both must be named: of rarer names too little is known."""


@dataclass(frozen=True, slots=True)
class Somebody:
    """Names that are known to be one person's: first names and surname (empty where the book does not say),
    gender ("m", "f" or ""), how often they occur, and where.

    `married` is set for "Mrs. Munt"; `apart` for a man whom the book calls "Mr. John Knightley", to tell him
    from Mr. Knightley.
    """

    firsts: frozenset[str]
    last: str
    gender: str
    count: int
    traces: Traces
    married: bool = False
    apart: bool = False


@dataclass(frozen=True, slots=True)
class Pair:
    """Two of a list of people who are one, by their numbers, and the evidence (a logit)."""

    one: int
    other: int
    weight: float


def same_people(people: Sequence[Somebody]) -> list[Pair]:
    """The pairs that are one person, surest first, nobody in two of them."""
    weighed: list[Pair] = []
    rivals: dict[int, list[float]] = defaultdict(list)
    for i, a in enumerate(people):
        for j, b in enumerate(people[:i]):
            if _may_be_one(a, b):
                pair = Pair(j, i, _weight(a, b))
                weighed.append(pair)
                rivals[i].append(pair.weight)
                rivals[j].append(pair.weight)
    second = {k: sorted(weights, reverse=True)[1] for k, weights in rivals.items() if len(weights) > 1}
    return [
        pair
        for pair in sorted(weighed, key=lambda p: -p.weight)
        if pair.weight >= _LEAST
        and all(pair.weight - second.get(k, -_MARGIN) >= _MARGIN for k in (pair.one, pair.other))
    ]


def _may_be_one(a: Somebody, b: Somebody) -> bool:
    """Whether two people complete each other, a first name and a surname, and nothing speaks against it."""
    if min(a.count, b.count) < _LEAST_TIMES or {a.gender, b.gender} == {"m", "f"}:
        return False
    if a.last and b.last:
        alike = a.last == b.last and a.married == b.married
        return alike and not (a.firsts and b.firsts) and not (a.apart or b.apart)
    one, other = (a, b) if a.firsts else (b, a)
    return bool(one.firsts and other.last) and not one.last and not other.firsts


def _weight(a: Somebody, b: Somebody) -> float:
    same_gender = a.gender == b.gender != ""
    same_surname = a.last == b.last != ""
    known = _ONE_GENDER * same_gender + _SAME_SURNAME * same_surname
    return known + evidence(a.traces, b.traces)
