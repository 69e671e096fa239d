"""Who is the subject of a verb of saying: its own subject, or that of a verb above or beside it."""

from bisect import bisect_left
from dataclasses import dataclass

from ...books import Book
from . import lexicon as lex
from .markables import OTHER, POSSESSIVE, SUBJECT, Markable
from .parsing import Parse
from .quotes import Speech

_CLIMB = 6
"""Most words climbed from a verb of saying to the verb that has its subject."""
_JOINED = frozenset(["conj", "advcl", "xcomp", "pcomp", "prep", "dobj", "pobj", "acl", "acomp"])
"""Ties to the word above: "he rose and said", "she took the opportunity of saying"."""
_OBJECT_FORMS = frozenset(["him", "her", "me", "us", "them", "himself", "herself", "myself", "themselves"])
_RELATIVE = frozenset(["who", "that", "which"])
_ASIDES = ("VBG", "VBN", "IN", "RB", "JJ", "RBR", "JJR", "DT", "WP", "PRP$")
"""Tags of words that begin an aside between a subject and its verb: "Anna, rising at last, said"."""
_BEFORE_NOUNS = ("DT", "PRP$", "JJ", "IN", "POS")
"""Tags of words after which "order", "reply" and "remark" are nouns."""
_CAUSES = lex.words("CAUSES")
"""Verbs whose object then speaks: "it moved her son to rejoin"."""
LEADS = {",", ":", "--", "\n", ":--"}
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
        noun = self.parse.tag[i][:2] == "NN" and self.parse.tag[i - 1] not in _BEFORE_NOUNS
        return self.is_verb(i) or noun or participle in LEADS

    def of_what(self, k: int) -> int:
        """What a markable belongs to by "of": "voice" for Anna in "the voice of Anna"; -1 for nothing."""
        of = int(self.parse.head[self.markables[k].head])
        return int(self.parse.head[of]) if self.book.tokens[of].lower() == "of" else -1

    def relative_of(self, v: int) -> int:
        """The markable that "who" stands for, where that is the subject of verb `v`; -1 for none."""
        relative = any(self.is_relative(i, v) for i in self.subjects_of(v))
        return self.by_head.get(int(self.parse.head[v]), -1) if relative else -1

    def is_relative(self, i: int, v: int) -> bool:
        """Whether subject `i` of verb `v` is the "who" of a relative clause."""
        return i < v and self.book.tokens[i].lower() in _RELATIVE and self.parse.dep[v] == "relcl"


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
    return book.tokens[i].lower().strip("-_")


def lead_of(book: Book, a: int) -> int:
    """The token before a quote at token `a`, over the end of a line."""
    return a - 2 if a > 1 and book.tokens[a - 1] == "\n" else a - 1


def subject_before_quote(place: Surroundings, inside: range, v: int) -> int:
    """The subject of a verb of saying that leads to a quote: its own, that of the verb it is joined to ("he
    rose and said"), the noun that "who" stands for, or whoever is named right before it. `inside` are the
    markables of the clause; -1 for none."""
    at, subject = _subject_above(place, inside, v)
    if place.book.tokens[v - 1] == "," and place.relative_of(v) < 0:
        subject = next((k for k in reversed(inside) if _has_an_aside(place, k, v)), subject)
    return _subject_named_before(place, inside, v) if subject < 0 <= at else subject


def _has_an_aside(place: Surroundings, k: int, v: int) -> bool:
    """Whether markable `k` is a subject that an aside between commas parts from verb `v`: "Anna, going to the
    door where he stood, said"; "Anna soon after, rising, said". The parser often sees another subject."""
    tag, tokens, m = place.parse.tag, place.book.tokens, place.markables[k]
    comma = m.end + 1
    while comma < v and tag[comma] == "RB":
        comma += 1
    if tokens[comma] != "," or comma + 1 >= v - 1 or tag[comma + 1] not in _ASIDES:
        return False
    if tokens[comma + 1].lower() in _RELATIVE and tokens[comma + 2] == ",":
        return True
    no_subject = m.kind == "plural" or m.role == POSSESSIVE or m.text in _OBJECT_FORMS
    apposed = m.kind == "nominal" and tokens[m.start - 1] == ","
    return not (no_subject or apposed) and tag[m.start - 1][:2] not in ("VB", "IN", "TO")


def _subject_above(place: Surroundings, inside: range, v: int) -> tuple[int, int]:
    """The last verb that was climbed to, and the subject found on the way; a verb of -1 where "who" is
    nobody who could speak, so that no other subject is looked for."""
    parse, ms = place.parse, place.markables
    at = v
    for _ in range(_CLIMB):
        for i in place.subjects_of(at):
            if i < at and speaks(place, i):
                return at, place.by_head[i]
            if place.is_relative(i, at):
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
    # "Approached Anna and said": not Anna.
    before = [k for k in before if not place.is_verb(ms[k].start - 1)]
    adjoining = [k for k in before if ms[k].end >= v - 2 and speaks(place, ms[k].head)]
    named = [k for k in before if ms[k].kind == "name" and ms[k].role in (SUBJECT, OTHER)]
    return adjoining[0] if adjoining else named[-1] if named else -1


def speaks(place: Surroundings, i: int) -> bool:
    """Whether token `i` heads a subject outside quotes."""
    k = place.by_head.get(i, -1)
    if k < 0 or place.speech.quote[i] >= 0:
        return False
    return place.markables[k].role == SUBJECT and place.markables[k].text not in _OBJECT_FORMS
