"""Who is the subject of a verb of saying: its own subject, or that of a verb above or beside it."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

from ...books import Book
from . import lexicon as lex
from .clauses import is_heard
from .markables import OTHER, POSSESSIVE, SUBJECT, Markable
from .parsing import Parse
from .quotes import Speech

_CLIMB = 6
"""Most words climbed from a verb of saying to the verb that has its subject."""
_JOINED = frozenset(["conj", "advcl", "xcomp", "pcomp", "prep", "dobj", "pobj", "acl", "acomp"])
"""Ties to the word above: "he rose and said", "she took the opportunity of saying"."""
_OBJECT_FORMS = frozenset(["him", "her", "me", "us", "them"])
_RELATIVE = frozenset(["who", "that", "which"])
_HEARING = frozenset(["hear", "hears", "heard", "hearing", "make", "makes", "made", "making", "let"])
"""Verbs that one says of somebody's words: "he heard her say", "it made her cry"."""
_CAUSES = lex.words("CAUSES")
"""Verbs whose object then speaks: "it moved her son to rejoin"."""
_WHEN = frozenset(["until", "till", "as", "while", "when", "after", "before"])
_WITHOUT_NOUN = frozenset(["other", "latter", "former", "first", "second", "third"])
"""Adjectives that stand for somebody without a noun."""
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
    the other") the parser may call an object, and "lucidly" a noun in "said the other lucidly"."""
    low, high = int(parse.left[v]), int(parse.right[v])
    tied = [
        i
        for i in range(max(low, v - 12), min(high, v + 8) + 1)
        if int(parse.head[i]) == v and i != v and (speech.quote[i] < 0) == (speech.quote[v] < 0)
    ]
    subjects = [i for i in tied if parse.dep[i] in ("nsubj", "nsubjpass")]
    behind = [i for i in tied if parse.dep[i] == "dobj" and int(parse.left[i]) in (v + 1, v + 2)]
    return [_without_adverb(book, parse, i) for i in subjects or behind]


def _without_adverb(book: Book, parse: Parse, i: int) -> int:
    """The adjective that is the subject where the parser makes a noun of the adverb behind it."""
    alone = book.tokens[i - 1].lower() in _WITHOUT_NOUN and int(parse.head[i - 1]) == i
    return i - 1 if alone and (parse.tag[i] == "RB" or book.tokens[i].endswith("ly")) else i


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
    if subject < 0 and at >= 0:
        subject = _subject_named_before(place, inside, v)
    if subject < 0 and at >= 0 and place.is_verb(v):
        first = _subject_of_first_clause(place, at)
        return first if first in inside else -1
    return subject


def _subject_above(place: Surroundings, inside: range, v: int) -> tuple[int, int]:
    """The last verb that was climbed to, and the subject found on the way; a verb of -1 where "who" is
    nobody who could speak, so that no other subject is looked for."""
    parse, ms = place.parse, place.markables
    at = v
    for _ in range(_CLIMB):
        for i in place.subjects_of(at):
            if i < at and speaks(place, i):
                subject = place.by_head[i]
                return at, subject if at == v else _named_between(place, inside, subject, v)
            if i < at and place.book.tokens[i].lower() in _RELATIVE and parse.dep[at] == "relcl":
                who = _antecedent(place, inside, i, place.by_head.get(int(parse.head[at]), -1))
                return at if who >= 0 else -1, who
        owner = _owner_of_gerund(place, inside, at)
        if owner >= 0:
            return at, owner
        up = int(parse.head[at])
        if up == at or parse.dep[at] not in _JOINED or up > v or place.speech.quote[up] >= 0:
            break
        if at == v and parse.dep[v] == "xcomp" and bare_word(place.book, up) in _CAUSES:
            objects = [k for k in inside if int(parse.head[ms[k].head]) == up and up < ms[k].head < v]
            if objects and not ms[objects[-1]].reflexive:
                return at, objects[-1]
        beside = parse.dep[at] == "conj" and _is_beside_another(place, at, up)
        at = int(parse.head[up]) if beside else up
    return at, -1


def _subject_named_before(place: Surroundings, inside: range, v: int) -> int:
    """Who is named in the clause before a verb, where the parser sees no subject."""
    ms, tokens = place.markables, place.book.tokens
    before = [k for k in inside if ms[k].end < v and place.speech.quote[ms[k].start] < 0]
    adjoining = [k for k in before if ms[k].end >= v - 2 and speaks(place, ms[k].head)]
    names = [k for k in before if ms[k].kind == "name"]
    named = [k for k in names if ms[k].role in (SUBJECT, OTHER) and not _has_own_verb(place, ms[k], v)]
    if adjoining or named:
        return adjoining[0] if adjoining else named[-1]
    # "Until Anna, getting more and more angry, said".
    aside = [k for k in names if tokens[ms[k].end + 1] == "," and _is_no_object(place, ms[k].start - 1)]
    return aside[-1] if aside and tokens[v - 1] == "," else -1


def _owner_of_gerund(place: Surroundings, inside: range, v: int) -> int:
    """Who does what a noun in -ing says: "by his calling out to her". The parser joins the second of two such
    nouns to the verb above: "was startled by his turning to her and saying"."""
    parse, tokens, ms = place.parse, place.book.tokens, place.markables
    up = int(parse.head[v])
    joined = parse.tag[v] == "VBG" and parse.dep[v] == "conj" and parse.tag[up] != "VBG"
    owners = [k for k in inside if ms[k].role == POSSESSIVE and tokens[ms[k].end + 1].endswith("ing")]
    own = [k for k in owners if ms[k].end + 1 == v]
    return next(iter(own or [k for k in owners if joined and up < ms[k].start < v]), -1)


def _is_beside_another(place: Surroundings, v: int, other: int) -> bool:
    """Whether verb `v` only seems to be joined to `other`, behind the comma that ends its clause: "he came
    out, and while Anna was writing, called"."""
    parse, tokens = place.parse, place.book.tokens
    low = int(parse.left[other])
    begins = tokens[low].lower() in _WHEN and parse.dep[other] == "advcl"
    return begins and tokens[v - 1] == ","


def _subject_of_first_clause(place: Surroundings, v: int) -> int:
    """The subject of a verb before `v` that the parser takes for what is said: "he rose, went to her, and
    said"."""
    parse = place.parse
    for i in range(int(parse.left[v]), v):
        if int(parse.head[i]) == v and parse.dep[i] == "ccomp" and place.speech.quote[i] < 0:
            subjects = [n for n in place.subjects_of(i) if n < i and speaks(place, n)]
            if subjects:
                return place.by_head[subjects[0]]
    return -1


def _antecedent(place: Surroundings, inside: range, who: int, subject: int) -> int:
    """Whom "who" stands for: the person named last before it, though the parser may go back to the subject:
    "Anna looked at her father for permission, who said"."""
    ms = place.markables
    near = [k for k in inside if ms[k].end < who and ms[k].kind in ("name", "nominal")]
    near = [k for k in near if place.parse.dep[ms[k].head] in ("dobj", "pobj", "dative", "conj", "appos")]
    return near[-1] if near and near[-1] > subject >= 0 else subject


def _is_no_object(place: Surroundings, i: int) -> bool:
    """Whether what follows token `i` may be a subject: "until Anna", not "upon Anna"."""
    return place.parse.tag[i] not in ("IN", "TO") or place.book.tokens[i] in _WHEN


def _named_between(place: Surroundings, inside: range, subject: int, v: int) -> int:
    """The last subject between the one of a verb above and a verb of saying if it is a name, else that
    subject: "they had gone on when Julia, with a pale face, exclaimed"."""
    ms = place.markables
    between = [k for k in inside if ms[subject].end < ms[k].start and ms[k].end < v]
    names = [k for k in between if ms[k].kind == "name" and ms[k].role == SUBJECT]
    names = [k for k in names if not _has_own_verb(place, ms[k], v)]
    return names[-1] if names else subject


def _has_own_verb(place: Surroundings, m: Markable, v: int) -> bool:
    """Whether a name belongs to another verb than `v`, before it: "while Anna was writing, called out", "she
    saw Anna alone and said", "when he heard that it was Anna, said"."""
    parse = place.parse
    verb = int(parse.head[m.head])
    if parse.dep[m.head] in ("attr", "xcomp") and verb < m.start:
        behind = [token.lower() for token in place.book.tokens[m.end + 1 : m.end + 3]]
        return not _RELATIVE & {*behind}
    if not m.end < verb < v:
        return False
    if parse.dep[verb] == "ccomp" and verb == m.end + 1:
        return parse.tag[verb] not in ("VBD", "VBZ", "VBP")
    finite = any(int(parse.head[i]) == verb and parse.dep[i] == "aux" for i in range(m.end + 1, verb))
    return parse.dep[verb] == "advcl" and place.book.tokens[m.start - 1].lower() in _WHEN and finite


def speaks(place: Surroundings, i: int) -> bool:
    """Whether token `i` heads a subject outside quotes."""
    k = place.by_head.get(i, -1)
    outside = k >= 0 and place.speech.quote[i] < 0
    if not outside or place.markables[k].role != SUBJECT:
        return False
    return place.markables[k].text not in _OBJECT_FORMS or _is_heard_to_speak(place, k)


def _is_heard_to_speak(place: Surroundings, k: int) -> bool:
    """Whether an object form is the one who speaks: "she heard him say", not "she followed him to say"."""
    m, parse = place.markables[k], place.parse
    return is_heard(parse, m) and bare_word(place.book, int(parse.head[int(parse.head[m.head])])) in _HEARING
