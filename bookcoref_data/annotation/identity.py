"""Whether names of a book are one person's: what their places say, and the pairs that follow.

Somebody with two names is called by one of them at a time, and both turn up in the same scenes. Two people
who are near each other stand in one sentence every now and then, they talk to each other in turn, and they
speak of each other. If one name is called in a quote and the other answers, they are one person. Each of
these is counted and weighed. The weights were set on eight novels of PDNC.

A first name alone and a surname alone complete each other ("Henry" and "Mr. Wilcox", "Aunt Juley" and "Mrs.
Munt"). Every such pair of one gender is weighed, and taken where no other comes near it. "The Jew" may be
anybody: only overwhelming evidence makes him Fagin.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ..books import Book
from ..shapes import together
from ..words import QUOTE_MARKS, word_set
from .embedded import lexicon as lex
from .embedded.parsing import Parse
from .embedded.quotes import find_speech

Span = tuple[int, int]

_NEXT, _NEAR = 2, 8
"""Sentences to either side in which two names are neighbours, and in which they belong to one scene."""
_TOGETHER, _NEIGHBOURS, _ONE_SCENE = -2.3, 0.25, 0.1
"""Weights of a sentence with both names, and of a name with the other in the next sentences, or in the scene.
Of two people who are near each other about one sentence in seven has both, of two names of one person one in
seventy: ln(0.014 / 0.14) is the first, ln(0.986 / 0.86) what a place counts that has one name only. It counts
more where the other is next to it."""
_IN_HIS_SCENES, _FEW = 0.2, 5
"""Share of the rarer name's sentences that lie in scenes of the other: more of it speaks for one person, up
to twice that, less against; half as much where there are only five of these sentences."""
_SPEAKS_OF, _TURNS, _ANSWERS, _CALLS, _BOTH_SPEAK, _BOTH_CALLED = -2.0, -1.5, 1.2, 0.8, -1.0, -1.0
"""Weights of a paragraph in which one name speaks and says the other, of two paragraphs one behind the other
that they speak, of a call that the other answers, of one who speaks and is then called by the other name, of
paragraphs in which both speak, or both are called."""
_BESIDE_A_CALL = word_set(", . ! ? ; : -- —") | QUOTE_MARKS - {"‘", "’", "'"}

_LEAST, _LEAST_UNKNOWN, _MARGIN = 2.0, 4.0, 0.9
"""Least evidence for a pair, for one whose first name is on no list ("Gurth" may be anything), and how far
every other pair of the two must stay behind. Of 37 pairs of 28 novels the second number took five of six
wrong ones with unknown first names, and two of seven right ones."""
_LEAST_EPITHET, _EPITHET_MARGIN = 5.0, 2.5
"""The same for an epithet and a person."""
_LEAST_ANSWERS = 2
"""Times that one of them must be called and the other answer."""
_ONE_GENDER, _SAME_SURNAME = 0.7, 0.5
"""What it says for a pair that both are known to be of one gender, and that both have the same surname."""
_RARER = 0.67
"""Most that the name of the cast may occur for each time that the book has the other."""
_LEAST_TIMES = 5
"""Times that both must be named: of rarer names too little is known."""


@dataclass(frozen=True, slots=True)
class Traces:
    """Where a person is named: the numbers of the sentences, and of the paragraphs in which a tag gives a
    quote to the name, a quote calls it, a quote has it at all."""

    sentences: frozenset[int]
    speaks: frozenset[int]
    called: frozenset[int]
    quoted: frozenset[int]


class Scenes:
    """The sentences, paragraphs and quotes of a book, to look names up in."""

    def __init__(self, book: Book, parse: Parse) -> None:
        self._book, self._parse = book, parse
        self._speech = find_speech(book, parse.sentence, {})
        words = np.fromiter((t != "\n" for t in book.tokens), dtype=bool, count=len(book.tokens))
        # Numbers without gaps: an empty line is no paragraph.
        numbers = np.unique(self._speech.paragraph[words])
        self._paragraph = np.searchsorted(numbers, self._speech.paragraph)
        self._with_quotes = {int(self._paragraph[a]) for a, _ in self._speech.spans}

    def traces(self, spans: Iterable[Span]) -> Traces:
        """What is to be known of a person by the places (first and last token) of his names."""
        sentences, speaks, called, quoted = set(), set(), set(), set()
        tokens = self._book.tokens
        for start, end in spans:
            paragraph = int(self._paragraph[start])
            sentences.add(int(self._parse.sentence[start]))
            if self._speech.quote[start] >= 0:
                quoted.add(paragraph)
                beside = {*tokens[max(start - 1, 0) : start], *tokens[end + 1 : end + 2]}
                inside = start > 0 and end + 1 < len(tokens)
                if inside and beside <= _BESIDE_A_CALL and self._parse.dep[end] != "nsubj":
                    called.add(paragraph)
            elif paragraph in self._with_quotes and self._parse.dep[end] == "nsubj":
                verb = tokens[int(self._parse.head[end])].lower()
                speaks |= {paragraph} if verb in lex.SPEECH_VERBS else set()
        return Traces(frozenset(sentences), frozenset(speaks), frozenset(called), frozenset(quoted))


def evidence(a: Traces, b: Traces) -> float:
    """The logit by which the places speak for one person with both names (above 0) or for two (below)."""
    few, many = sorted((a.sentences, b.sentences), key=len)
    alone = few - many
    neighbours = sum(_has_near(many, s, _NEXT) for s in alone)
    near = sum(_has_near(many, s, _NEAR) for s in alone)
    share = near / max(len(few), 1)
    return (
        _TOGETHER * len(few & many)
        + _NEIGHBOURS * neighbours
        + _ONE_SCENE * (near - neighbours)
        + min(max(share / _IN_HIS_SCENES - 1, -1.0), 1.0) * len(few) / (len(few) + _FEW)
        + _SPEAKS_OF * (len(a.speaks & b.quoted) + len(b.speaks & a.quoted))
        + _TURNS * (_followed(a.speaks, b.speaks) + _followed(b.speaks, a.speaks))
        + _ANSWERS * answers(a, b)
        + _CALLS * (_followed(a.speaks, b.called) + _followed(b.speaks, a.called))
        + _BOTH_SPEAK * len(a.speaks & b.speaks)
        + _BOTH_CALLED * len(a.called & b.called)
    )


def answers(a: Traces, b: Traces) -> int:
    """How often one name is called and the other answers."""
    return _followed(a.called, b.speaks) + _followed(b.called, a.speaks)


def _has_near(sentences: frozenset[int], at: int, reach: int) -> bool:
    return any(at + step in sentences for step in range(-reach, reach + 1))


def _followed(first: frozenset[int], then: frozenset[int]) -> int:
    """How many paragraphs of the one are followed by one of the other."""
    return sum(p + 1 in then for p in first)


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
    weighed = [
        Pair(j, i, weight(a, b))
        for i, a in enumerate(people)
        for j, b in enumerate(people[:i])
        if may_be_one(a, b)
    ]
    listed = [bool(person.firsts & lex.FIRST_NAMES) for person in people]
    return [
        pair
        for pair in _clear(weighed)
        if pair.weight >= (_LEAST if listed[pair.one] or listed[pair.other] else _LEAST_UNKNOWN)
    ]


def of_the_cast(people: Sequence[Somebody], cast: Sequence[Somebody]) -> list[Pair]:
    """Pairs of somebody whom a book names often, and one of a cast that has everybody: he must be one of
    them, so less evidence is needed, but the name of the cast is the rarer one. Numbers in the two lists."""
    weighed = [
        Pair(i, len(people) + k, weight(a, b))
        for i, a in enumerate(people)
        for k, b in enumerate(cast)
        if a.gender == b.gender != ""
        and 0 < b.count <= _RARER * a.count
        and (not (b.firsts or b.last) or _complete(a, b))
    ]
    return [Pair(p.one, p.other - len(people), p.weight) for p in _clear(weighed) if p.weight >= _LEAST]


def _clear(pairs: Iterable[Pair]) -> list[Pair]:
    """The pairs, surest first, that stand out among all of each of the two."""
    weighed = sorted(pairs, key=lambda p: -p.weight)
    rivals = together((k, pair.weight) for pair in weighed for k in (pair.one, pair.other))
    second = {k: weights[1] for k, weights in rivals.items() if len(weights) > 1}
    return [
        pair
        for pair in weighed
        if all(pair.weight - second.get(k, -_MARGIN) >= _MARGIN for k in (pair.one, pair.other))
    ]


def bearers(epithets: Sequence[Somebody], people: Sequence[Somebody]) -> list[Pair]:
    """Who is meant by an epithet: pairs of numbers in the two lists, where one person stands out."""
    found = []
    for i, epithet in enumerate(epithets):
        weighed = [
            Pair(i, k, evidence(epithet.traces, person.traces))
            for k, person in enumerate(people)
            if {epithet.gender, person.gender} != {"m", "f"}
            and answers(epithet.traces, person.traces) >= _LEAST_ANSWERS
        ]
        # A pair of nobody stands for the second where there is only one
        first, second, *_ = sorted([*weighed, *[Pair(i, -1, 0.0)] * 2], key=lambda pair: -pair.weight)
        if first.weight >= max(_LEAST_EPITHET, second.weight + _EPITHET_MARGIN):
            found.append(first)
    return found


def may_be_one(a: Somebody, b: Somebody) -> bool:
    """Whether two people are named often enough, and complete each other."""
    return min(a.count, b.count) >= _LEAST_TIMES and {a.gender, b.gender} != {"m", "f"} and _complete(a, b)


def _complete(a: Somebody, b: Somebody) -> bool:
    """Whether two people complete each other: a first name and a surname."""
    if a.last and b.last:
        alike = a.last == b.last and a.married == b.married
        return alike and not (a.firsts and b.firsts) and not (a.apart or b.apart)
    one, other = (a, b) if a.firsts else (b, a)
    return bool(one.firsts and other.last) and not one.last and not other.firsts


def weight(a: Somebody, b: Somebody) -> float:
    same_gender = a.gender == b.gender != ""
    same_surname = a.last == b.last != ""
    known = _ONE_GENDER * same_gender + _SAME_SURNAME * same_surname
    return known + evidence(a.traces, b.traces)
