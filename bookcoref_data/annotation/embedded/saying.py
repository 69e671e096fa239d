"""Who is the subject of a verb of saying: its own subject, or that of a verb above or beside it."""

from bisect import bisect_left
from dataclasses import dataclass

from ...books import Book
from . import lexicon as lex
from .markables import OTHER, SUBJECT, Markable
from .parsing import Parse
from .quotes import Speech

_CLIMB = 6
"""Most words climbed from a verb of saying to the verb that has its subject."""
_JOINED = frozenset(["conj", "advcl", "xcomp", "pcomp", "prep", "dobj", "pobj", "acl", "acomp"])
"""Ties to the word above: "he rose and said", "she took the opportunity of saying"."""
_OBJECT_FORMS = frozenset(["him", "her", "me", "us", "them"])
_RELATIVE = frozenset(["who", "that", "which"])
_CAUSES = lex.words("CAUSES")
"""Verbs whose object then speaks: "it moved her son to rejoin"."""
LEADS = {",", ":", "--", "—", "\n", ":--", ":—"}
"""Tokens between words that lead to a quote and the quote."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Everything the search for tags looks at."""

    book: Book
    parse: Parse
    speech: Speech
    markables: list[Markable]
    starts: list[int]
    by_head: dict[int, int]

    def inside(self, low: int, high: int) -> range:
        """The markables that are read in tokens [low, high)."""
        return range(bisect_left(self.starts, low), bisect_left(self.starts, high))

    def subjects_of(self, v: int) -> list[int]:
        """The grammatical subjects of a verb."""
        return subjects_of(self.book, self.parse, self.speech, v)

    def is_verb(self, i: int) -> bool:
        return self.parse.tag[i][:2] == "VB"

    def says(self, i: int) -> bool:
        """Whether token `i` is a verb of saying; the parser takes some for nouns, and for adjectives in "was
        angry and muttered,"."""
        if bare_word(self.book, i) not in lex.SPEECH_VERBS:
            return False
        participle = self.parse.tag[i] == "JJ" and self.book.tokens[min(i + 1, len(self.book.tokens) - 1)]
        return self.parse.tag[i][:2] in ("VB", "NN") or participle in LEADS


def subjects_of(book: Book, parse: Parse, speech: Speech, v: int) -> list[int]:
    """The grammatical subjects of a verb, on its side of the quotation marks; one that follows it ("replied
    the other") the parser may call an object."""
    low, high = int(parse.left[v]), int(parse.right[v])
    tied = [
        i
        for i in range(max(low, v - 12), min(high, v + 8) + 1)
        if int(parse.head[i]) == v and i != v and (speech.quote[i] < 0) == (speech.quote[v] < 0)
    ]
    subjects = [i for i in tied if parse.dep[i] in ("nsubj", "nsubjpass")]
    behind = [i for i in tied if parse.dep[i] == "dobj" and int(parse.left[i]) in (v + 1, v + 2)]
    return subjects or behind


def bare_word(book: Book, i: int) -> str:
    """A token as a word: lower case, without the dash that may hang on it ("spoke--")."""
    return book.tokens[i].lower().strip("-—_")


def lead_of(book: Book, a: int) -> int:
    """The token before a quote at token `a`, over the end of a line."""
    return a - 2 if a > 1 and book.tokens[a - 1] == "\n" else a - 1


def subject_before_quote(place: Surroundings, inside: range, v: int) -> int:
    """The subject of a verb of saying that leads to a quote: its own, that of the verb it is joined to ("he
    rose and said"), the noun that "who" stands for, or whoever is named right before it. `inside` are the
    markables of the clause; -1 for none."""
    at, subject = _subject_above(place, inside, v)
    return _subject_named_before(place, inside, v) if subject < 0 <= at else subject


def _subject_above(place: Surroundings, inside: range, v: int) -> tuple[int, int]:
    """The last verb that was climbed to, and the subject found on the way; a verb of -1 where "who" is
    nobody who could speak, so that no other subject is looked for."""
    parse, ms = place.parse, place.markables
    at = v
    for _ in range(_CLIMB):
        for i in place.subjects_of(at):
            if i < at and speaks(place, i):
                return at, place.by_head[i]
            if i < at and place.book.tokens[i].lower() in _RELATIVE and parse.dep[at] == "relcl":
                who = place.by_head.get(int(parse.head[at]), -1)
                return at if who >= 0 else -1, who
        up = int(parse.head[at])
        if up == at or parse.dep[at] not in _JOINED or up > v or place.speech.quote[up] >= 0:
            break
        if at == v and parse.dep[v] == "xcomp" and bare_word(place.book, up) in _CAUSES:
            objects = [k for k in inside if int(parse.head[ms[k].head]) == up and up < ms[k].head < v]
            if objects and not ms[objects[-1]].reflexive:
                return at, objects[-1]
        at = up
    return at, -1


def _subject_named_before(place: Surroundings, inside: range, v: int) -> int:
    """Who is named in the clause before a verb, where the parser sees no subject."""
    ms = place.markables
    before = [k for k in inside if ms[k].end < v and place.speech.quote[ms[k].start] < 0]
    adjoining = [k for k in before if ms[k].end >= v - 2 and speaks(place, ms[k].head)]
    named = [k for k in before if ms[k].kind == "name" and ms[k].role in (SUBJECT, OTHER)]
    return adjoining[0] if adjoining else named[-1] if named else -1


def speaks(place: Surroundings, i: int) -> bool:
    """Whether token `i` heads a subject outside quotes."""
    k = place.by_head.get(i, -1)
    if k < 0 or place.speech.quote[i] >= 0:
        return False
    return place.markables[k].role == SUBJECT and place.markables[k].text not in _OBJECT_FORMS
