"""The clause a markable stands in: its verb, the verbs above and beside it in the sentence, and whether its
subject means nobody in particular."""

from typing import NamedTuple

from ...books import Book
from ...words import word_set
from .markables import POSSESSIVE, SUBJECT, Markable, gender_of_noun, is_person_noun
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


_NOBODY = frozenset(["nobody", "none", "one"])
_ANYBODY = frozenset(["everybody", "everyone", "anybody", "anyone", "whoever", "each", "body"])
_EVERY, _A = frozenset(["every", "any", "each"]), frozenset(["a", "an", "no"])
_MAY = word_set("must should can could may might will would shall ought need has have ca wo 'll")
_LENT = frozenset(["conj", "xcomp", "advcl", "pcomp", "prep", "aux"])
"""Relations of a verb without a subject to the verb that lends it its own."""


def is_anybodys(book: Book, parse: Parse, m: Markable) -> bool:
    """Whether a pronoun is bound by a subject that means nobody in particular: "every man drew his sword",
    "anybody may deceive himself", "a man must look before he leaps"."""
    verb = _verb(parse, m) if m.kind == "pronoun" and m.person == 3 else -1
    leaps = m.role == SUBJECT and parse.dep[verb] == "advcl"
    if verb < 0 or not (leaps or m.reflexive or m.role == POSSESSIVE):
        return False
    who, verb, relative = _subject_of(parse, int(parse.head[verb]) if leaps else verb)
    if not 0 <= who < m.head or (m.head <= parse.right[who] and not relative):
        return False
    word = book.tokens[who].lower()
    if m.gender != (gender_of_noun(word) or "m"):
        # "Every servant obeyed her": somebody's.
        return False
    before = {book.tokens[i].lower() for i in range(int(parse.left[who]), who) if int(parse.head[i]) == who}
    may = any(book.tokens[i].lower() in _MAY for i in range(who, verb) if int(parse.head[i]) == verb)
    if word in _NOBODY:
        return m.reflexive and not relative
    if word in _ANYBODY:
        return m.reflexive or (may and not leaps)
    if not is_person_noun(word):
        return False
    if not leaps and not before.isdisjoint(_EVERY):
        return True
    general = not relative and (may or parse.tag[verb] in ("VBZ", "VBP"))
    return general and (not before.isdisjoint(_A) or (word == "man" and not before))


def _subject_of(parse: Parse, verb: int) -> tuple[int, int, bool]:
    """The subject of a verb (-1 none) or of the verb that lends it one, that verb, and whether the subject is
    the noun before a relative clause."""
    for _ in range(_UP):
        for i in range(int(parse.left[verb]), verb):
            if int(parse.head[i]) == verb and parse.dep[i] in ("nsubj", "nsubjpass"):
                relative = parse.dep[verb] == "relcl" and parse.tag[i] in ("WP", "WDT")
                return (int(parse.head[verb]) if relative else i), verb, relative
        if parse.dep[verb] not in _LENT:
            break
        verb = int(parse.head[verb])
    return -1, verb, False
