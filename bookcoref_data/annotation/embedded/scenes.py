"""The book as a small language model reads it: windows in which people are slots, and whom it points at.

A window is as many paragraphs as fit. Every name of the cast in it is a slot that stands for its bearer, the
same one in the whole window: the model knows who is who, and whether they are men or women, but no names. In
front stand the people who were named last, and the narrator. Each turn has a mark that asks who speaks it;
"he" and "she" in the narration ask for themselves.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..narration import Narration
from .conversation import CLOSING, OPENING
from .minilm import CLS, PARAGRAPH, SEP, SLOTS, TURN, PointingModel
from .reader import Text

LONGEST = 448
"""Words of a window; the model has places for 512."""
_PEOPLE, _RECENT, _REACH = 24, 10, 1200
"""Most people of a window; those named last who stand in front, and the tokens where they are looked for."""
_READ_AGAIN = 0.55
"""Part of a window after which the next begins: what stands near an edge is read with more around it."""
_SURELY = 0.85
"""Least probability of a gender that a slot shows."""
_SELF = frozenset(["i", "me", "my", "myself", "i."])
Guess = dict[int, float]
"""Character -> the logarithm of the probability that he or she is meant."""


@dataclass
class Guesses:
    """What the model says of a book: by first quote of a turn, and by markable."""

    turns: dict[int, Guess] = field(default_factory=dict)
    pronouns: dict[int, Guess] = field(default_factory=dict)


@dataclass
class Scene:
    """Words of a window: `people` are the characters in it, `named` (place, person), `asks` (place, kind,
    key) with kind 0 for the turn and 1 for the markable `key`. A slot is -1 - person. `end` is the paragraph
    behind it.
    """

    words: list[int]
    people: list[int] = field(default_factory=list)
    named: list[tuple[int, int]] = field(default_factory=list)
    asks: list[tuple[int, int, int]] = field(default_factory=list)
    end: int = 0


class Windows:
    """Cuts a text into windows."""

    def __init__(self, text: Text, narration: Sequence[Narration], network: PointingModel) -> None:
        self._text, self._pieces, self._first = text, network.words.pieces, network.FIRST
        speech, ms = text.speech, text.markables
        self._narrator = narration[0].narrator if len(narration) == 1 else -1
        edges = (np.flatnonzero(np.diff(speech.paragraph)) + 1).tolist()
        self.paragraphs = list(zip([0, *edges], [*edges, len(speech.paragraph)], strict=True))
        self._names: dict[int, tuple[int, int]] = {}
        last = -1
        for m in ms:
            if m.kind == "name" and m.character >= 0 and m.start > last:
                self._names[m.start] = m.end, m.character
                last = m.end
        self._named_at = list(self._names)
        self._turns: dict[int, int] = {}
        for q, (a, _) in enumerate(speech.spans):
            if not q or speech.paragraph[a] != speech.paragraph[speech.spans[q - 1][0]]:
                self._turns[a] = q
        outside = [(i, m) for i, m in enumerate(ms) if m.kind == "pronoun" and speech.quote[m.at] < 0]
        self._asking = {m.start: i for i, m in outside if m.person == 3 and m.gender in ("m", "f")}
        self._selves = {m.start for _, m in outside if m.person == 1 and m.text in _SELF}
        self._marks = {a: "“" for a, _ in speech.spans if text.book.tokens[a] in OPENING}
        self._marks |= {b: "”" for a, b in speech.spans if b > a and text.book.tokens[b] in CLOSING}

    def gender(self, character: int) -> int:
        """The pool of a character's slots."""
        male, female, _ = self._text.genders
        return 0 if male[character] > _SURELY else 1 if female[character] > _SURELY else 2

    def all(self) -> Iterator[Scene]:
        """The windows of the whole book."""
        at = 0
        while at < len(self.paragraphs):
            window = self.window(at)
            yield window
            if window.end >= len(self.paragraphs):
                return
            size = self.paragraphs[window.end - 1][1] - self.paragraphs[at][0]
            again = self.paragraphs[at][0] + _READ_AGAIN * size
            behind = range(at + 1, window.end)
            at = next((k for k in behind if self.paragraphs[k][0] >= again), window.end)

    def window(self, at: int) -> Scene:
        """The window that begins with paragraph `at`."""
        w = Scene([CLS])
        for character in self._in_front(self.paragraphs[at][0]):
            self._add_person(w, character)
            if character == self._narrator:
                w.words += self._ids("i")
        w.words.append(SEP)
        w.end = at
        while w.end < len(self.paragraphs):
            a, b = self.paragraphs[w.end]
            size = sum(len(self._pieces(token)) for token in self._text.book.tokens[a:b])
            if w.end > at and len(w.words) + size + 6 > LONGEST - 2:
                break
            self._add_paragraph(w, a, b)
            w.words.append(PARAGRAPH)
            w.end += 1
        return w

    def _in_front(self, start: int) -> list[int]:
        k = bisect_left(self._named_at, start)
        near = (
            self._names[self._named_at[n]][1]
            for n in range(k - 1, bisect_left(self._named_at, start - _REACH) - 1, -1)
        )
        recent = list(dict.fromkeys(near))[:_RECENT]
        first = [self._narrator] if self._narrator >= 0 else []
        return [*first, *(c for c in recent if c != self._narrator)]

    def _add_person(self, w: Scene, character: int) -> bool:
        """A slot for a character; False where there are too many people."""
        if character not in w.people:
            if len(w.people) == _PEOPLE:
                return False
            w.people.append(character)
        person = w.people.index(character)
        w.named.append((len(w.words), person))
        w.words.append(-1 - person)
        return True

    def _add_paragraph(self, w: Scene, a: int, b: int) -> None:
        i = a
        while i < b and len(w.words) < LONGEST - 2:
            if i in self._turns:
                w.asks.append((len(w.words), 0, self._turns[i]))
                w.words.append(TURN)
            end, character = self._names.get(i, (i, -1))
            if character >= 0 and self._add_person(w, character):
                i = end + 1
                continue
            if i in self._asking:
                w.asks.append((len(w.words), 1, self._asking[i]))
            if i in self._selves and self._narrator in w.people:
                w.named.append((len(w.words), w.people.index(self._narrator)))
            w.words += self._ids(self._marks.get(i, self._text.book.tokens[i]))
            i += 1

    def _ids(self, token: str) -> list[int]:
        return [self._first + piece for piece in self._pieces(token)]


def read_scenes(text: Text, narration: Sequence[Narration], network: PointingModel) -> Guesses:
    """Read a book window by window; each turn and pronoun is answered where it stands best inside one."""
    windows = Windows(text, narration, network)
    found = Guesses()
    best: dict[tuple[int, int], float] = {}
    for w in windows.all():
        if not w.asks or not w.people:
            continue
        pools = [windows.gender(c) for c in w.people]
        slots = [network.first_slot + SLOTS * pool + pools[:n].count(pool) for n, pool in enumerate(pools)]
        x = network.read([slots[-1 - word] if word < 0 else word for word in w.words])
        places, owner = (np.array(part) for part in zip(*w.named, strict=True))
        for kind, answers in ((0, found.turns), (1, found.pronouns)):
            asks = [(place, key) for place, of, key in w.asks if of == kind]
            if not asks:
                continue
            guesses = network.points(x, np.array([place for place, _ in asks]), kind, places, owner)
            for (place, key), guess in zip(asks, guesses.tolist(), strict=True):
                inside = min(place / 2, len(w.words) - place)
                if inside > best.get((kind, key), -1):
                    best[kind, key] = inside
                    answers[key] = dict(zip(w.people, guess, strict=True))
    return found
