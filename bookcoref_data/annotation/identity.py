"""Whether two names of a book are one person: what their places say for it and against it.

Somebody with two names is called by one of them at a time, and both turn up in the same scenes. Two people
who are near each other stand in one sentence every now and then, they talk to each other in turn, and they
speak of each other. If one name is called in a quote and the other answers, they are one person. Each of
these is counted and weighed; nothing is decided here. The weights were set on eight novels of PDNC.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ..books import Book
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
_BESIDE_A_CALL = frozenset([",", ".", "!", "?", ";", ":", "--", "—", '"', "“", "”", "``", "''"])


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
        for start, end in spans:
            paragraph = int(self._paragraph[start])
            sentences.add(int(self._parse.sentence[start]))
            if self._speech.quote[start] >= 0:
                quoted.add(paragraph)
                if self._is_called(start, end):
                    called.add(paragraph)
            elif paragraph in self._with_quotes and self._says(end):
                speaks.add(paragraph)
        return Traces(frozenset(sentences), frozenset(speaks), frozenset(called), frozenset(quoted))

    def _is_called(self, start: int, end: int) -> bool:
        tokens = self._book.tokens
        before, after = tokens[start - 1] if start else "", tokens[end + 1] if end + 1 < len(tokens) else ""
        return before in _BESIDE_A_CALL and after in _BESIDE_A_CALL and self._parse.dep[end] != "nsubj"

    def _says(self, end: int) -> bool:
        verb = int(self._parse.head[end])
        return self._parse.dep[end] == "nsubj" and self._book.tokens[verb].lower() in lex.SPEECH_VERBS


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
