"""Names of one person that share no word: "Henry" and "Mr. Wilcox", "Aunt Juley" and "Mrs. Munt".

A first name alone and a surname alone complete each other. Every such pair of one gender is weighed by the
places of its names (`identity.py`), and a pair is taken where no other comes near it. "The Jew" may be
anybody: only overwhelming evidence makes him Fagin.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from .identity import Traces, answers, evidence

_LEAST, _MARGIN = 2.0, 0.9
"""Least evidence for a pair, and how far every other pair of the two must stay behind."""
_LEAST_EPITHET, _EPITHET_MARGIN = 5.0, 2.5
"""The same for an epithet and a person."""
_LEAST_ANSWERS = 2
"""Times that one of them must be called and the other answer."""
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


def bearers(epithets: Sequence[Somebody], people: Sequence[Somebody]) -> list[Pair]:
    """Who is meant by an epithet: pairs of numbers in the two lists, where one person stands out."""
    found = []
    for i, epithet in enumerate(epithets):
        weighed = sorted(
            (
                Pair(i, k, evidence(epithet.traces, person.traces))
                for k, person in enumerate(people)
                if {epithet.gender, person.gender} != {"m", "f"}
                and answers(epithet.traces, person.traces) >= _LEAST_ANSWERS
            ),
            key=lambda pair: -pair.weight,
        )
        second = weighed[1].weight if len(weighed) > 1 else 0.0
        if weighed and weighed[0].weight >= max(_LEAST_EPITHET, second + _EPITHET_MARGIN):
            found.append(weighed[0])
    return found


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
