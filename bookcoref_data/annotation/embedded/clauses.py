"""The clause a markable stands in: its verb, and the verbs above and beside it in the sentence."""

from __future__ import annotations

from typing import NamedTuple

from .markables import POSSESSIVE, Markable
from .parsing import Parse

_ACCUSATIVE = frozenset(["me", "him", "her", "us", "them", "thee", "himself", "herself", "themselves"])
_UP = 4


class Clause(NamedTuple):
    """`verb` governs the markable (-1 none); `above` are the verbs whose clauses contain that clause,
    `beside` those it is coordinated with; `main` says whether `verb` heads the sentence."""

    verb: int = -1
    above: tuple[int, ...] = ()
    beside: tuple[int, ...] = ()
    main: bool = False


NO_CLAUSE = Clause()


def clause_of(parse: Parse, m: Markable) -> Clause:
    """The clause of a markable. "Her" in "Mary heard her say" counts as an object of "heard"."""
    verb = _verb(parse, m)
    if verb < 0:
        return NO_CLAUSE
    if is_heard(parse, m):
        verb = int(parse.head[verb])
    above: list[int] = []
    beside: list[int] = []
    at, coordinated = verb, True
    for _ in range(2 * _UP):
        up = int(parse.head[at])
        if up == at:
            break
        coordinated = coordinated and parse.dep[at] == "conj"
        if parse.tag[up][:2] in ("VB", "MD"):
            (beside if coordinated else above).append(up)
        at = up
    return Clause(verb, tuple(above), tuple(beside), not above)


def is_heard(parse: Parse, m: Markable) -> bool:
    """Whether a pronoun is both an object and a subject: "her" in "Mary heard her say"."""
    if m.text not in _ACCUSATIVE or parse.dep[m.head] != "nsubj":
        return False
    verb = _verb(parse, m)
    if verb < 0 or parse.dep[verb] not in ("ccomp", "xcomp"):
        return False
    return parse.tag[int(parse.head[verb])][:2] == "VB"


def _verb(parse: Parse, m: Markable) -> int:
    """The verb that governs a markable directly, through a preposition, or through what it possesses."""
    at = m.head
    if m.role == POSSESSIVE:
        at = int(parse.head[at])
    for _ in range(3):
        up = int(parse.head[at])
        if parse.tag[up][:2] in ("VB", "MD"):
            return up
        through = parse.tag[up] in ("IN", "TO", "RP") or (m.role == POSSESSIVE and parse.tag[up][:2] == "NN")
        if up == at or not through:
            return -1
        at = up
    return -1
