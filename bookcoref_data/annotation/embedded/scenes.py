"""The book as a small language model reads it: windows in which people are slots, and whom it points at.

A window is as many paragraphs as fit. Every name of the cast in it is a slot that stands for its bearer, the
same one in the whole window: the model knows who is who, and whether they are men or women, but no names. So
is what a person has decided: "her father", or a "she". In front stand the people who were named last, and the
narrator. Each turn has a mark that asks who speaks it, and to whom; "he" and "she" ask for themselves.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise

import numpy as np

from ..narration import Narration
from .pointing import (
    CLS,
    IN_QUOTE,
    KINDS,
    OF_PRONOUN,
    OF_TURN,
    PARAGRAPH,
    SEP,
    SLOTS,
    SPOKEN_TO,
    TURN,
    Pointer,
)
from .quotes import bounds_of
from .text import Text

_PEOPLE, _RECENT, _REACH = 24, 10, 1200
"""Most people of a window; those named last who stand in front, and the tokens where they are looked for."""
_BEFORE, _BEHIND, _REACHED = 60, 45, 160
"""Tokens that a window has before the first place that it is for, if they are in no more than `_REACHED`; and
behind the last."""
_APART = 160
"""Tokens between two places that are read in two windows, even if one would do."""
_SURELY = 0.85
"""Least probability of a gender that a slot shows."""
_WINDOWS = 4096
"""Windows whose answers are kept, some 16 kB each: enough for the longest novels."""
_SELF = frozenset(["i", "me", "my", "myself", "i."])
NOBODY = -1
"""In the answers: nobody of the cast."""
Guess = dict[int, float]
"""Character, or `NOBODY` of the cast for a pronoun -> the logarithm of the probability that this is meant."""


@dataclass
class Guesses:
    """What the model says of a book: who speaks and who is spoken to by first quote of a turn, whom a pronoun
    means by markable."""

    turns: dict[int, Guess] = field(default_factory=dict)
    spoken_to: dict[int, Guess] = field(default_factory=dict)
    pronouns: dict[int, Guess] = field(default_factory=dict)


@dataclass
class Scene:
    """Words of a window, and the token of each (-1: none): `people` are the characters in it, `named` (place,
    person), `asks` (place, kind, key), where `key` is a quote for a turn and else a markable. A slot is -1 -
    person. `end` is the paragraph behind it.
    """

    words: list[int]
    tokens: list[int]
    people: list[int] = field(default_factory=list)
    named: list[tuple[int, int]] = field(default_factory=list)
    asks: list[tuple[int, int, int]] = field(default_factory=list)
    end: int = 0

    def add(self, words: Iterable[int], token: int = -1) -> None:
        """Add words that stand for a token."""
        for word in words:
            self.words.append(word)
            self.tokens.append(token)


class Windows:
    """Cuts a text into windows; `known` are the decisions of a person, as `fixed` in `OneReading`."""

    def __init__(
        self, text: Text, narration: Sequence[Narration], network: Pointer,
        known: Mapping[int, int] | None = None,
    ) -> None:  # fmt: skip
        self._text, self._ids, self._longest = text, network.ids, network.longest
        speech, ms = text.speech, text.markables
        self._narrator = narration[0].narrator if len(narration) == 1 else -1
        self.paragraphs = list(pairwise(bounds_of(speech.paragraph)))
        self._starts = [start for start, _ in self.paragraphs]
        self._names: dict[int, tuple[int, int]] = {}
        known, last = known or {}, -1
        for i, m in enumerate(ms):
            # Of "her father in the garden" the slot is the father.
            end, who = (m.end, m.character) if m.kind == "name" else (m.head, known.get(i, -1))
            if who >= 0 and m.at > last:
                self._names[m.at] = end, who
                last = end
        self._named_at = list(self._names)
        self._turns: dict[int, int] = {}
        for q, (a, _) in enumerate(speech.spans):
            if not q or speech.paragraph[a] != speech.paragraph[speech.spans[q - 1][0]]:
                self._turns[a] = q
        pronouns = [(i, m) for i, m in enumerate(ms) if m.kind == "pronoun"]
        self._asking = {
            m.start: i for i, m in pronouns if m.person == 3 and m.gender in ("m", "f") and i not in known
        }
        subjects = [tag.subject for tag in text.tags]
        named = {i for i in subjects if i >= 0 and ms[i].kind == "name"}
        tagged = set(subjects)
        turns = [a for a, q in self._turns.items() if subjects[q] not in named]
        said = [a for a, i in self._asking.items() if i in tagged or speech.quote[a] >= 0]
        self._needed = sorted({*turns, *said})
        self._selves = {m.start for _, m in pronouns if m.text in _SELF and text.is_tellers(m)}
        self._marks = {a: "“" for a, _ in speech.spans if text.book.tokens[a] == '"'}
        self._marks |= {b: "”" for a, b in speech.spans if b > a and text.book.tokens[b] == '"'}
        self._set_grammar(network)

    def _set_grammar(self, network: Pointer) -> None:
        """What the parser says of every token. A name and a pronoun have no tag: one may stand for the other;
        and all words of a name are its last."""
        parse, ms = self._text.parse, self._text.markables
        number = [{name: n for n, name in enumerate(names)} for names in (network.tags, network.relations)]
        plain = [number[0].get(tag, 0) for tag in parse.tag]
        relation = np.array([number[1].get(dep, 0) for dep in parse.dep], np.int32)
        self._one = np.arange(len(plain), dtype=np.int32)
        governs = parse.head.copy()
        for start, (end, _) in self._names.items():
            inside = (parse.head[start : end + 1] >= start) & (parse.head[start : end + 1] <= end)
            root = start + int(np.argmin(inside))
            self._one[start : end + 1] = end
            relation[end], governs[end], plain[end] = relation[root], parse.head[root], 0
        for m in ms:
            if m.kind == "pronoun":
                plain[m.start] = 0
        quoted = (np.asarray(self._text.speech.quote) >= 0).astype(np.int32)
        self._grammar = np.stack([np.array(plain, np.int32), relation, quoted])
        self._head = self._one[governs]
        self._place = np.full(len(plain), -1, np.int32)

    def grammar(self, tokens: Sequence[int]) -> np.ndarray:
        """For words that stand for tokens: tag, relation, whether in a quote, and the place of the word that
        governs it (its own where that is not among them), shape (4, words)."""
        at = np.array(tokens)
        found = np.zeros((4, len(at)), np.int32)
        known = at >= 0
        found[:3, known] = self._grammar[:, at[known]]
        found[3] = np.arange(len(at))
        self._place[self._one[at[known]]] = np.flatnonzero(known)
        heads = self._place[self._head[at[known]]]
        found[3, known] = np.where(heads < 0, found[3, known], heads)
        self._place[self._one[at[known]]] = -1
        return found

    def gender(self, character: int) -> int:
        """The pool of a character's slots."""
        male, female, _ = self._text.genders
        return 0 if male[character] > _SURELY else 1 if female[character] > _SURELY else 2

    def all(self) -> Iterator[Scene]:
        """The windows with somebody to find: turns that name no speaker, "he" in tags and in quotes."""
        runs = [*np.flatnonzero(np.diff(self._needed) > _APART), len(self._needed) - 1]
        done = 0
        while done < len(self._needed):
            last = runs[bisect_left(runs, done)]
            end = bisect_left(self._starts, self._needed[last] + _BEHIND)
            window = self.window(self._begin(self._needed[done]), end)
            yield window
            # What stands near the end of a window that was too short is read again, with more behind it.
            behind = self.paragraphs[window.end - 1][1] - (_BEHIND if window.end < end else 0)
            done = max(done + 1, bisect_left(self._needed, behind))

    def _begin(self, place: int) -> int:
        """The paragraph with which a window for a place begins."""
        at = bisect_right(self._starts, place) - 1
        while at and place - self._starts[at] < _BEFORE and place - self._starts[at - 1] <= _REACHED:
            at -= 1
        return at

    def window(self, at: int, end: int | None = None) -> Scene:
        """The window that begins with paragraph `at` and ends before `end`, or earlier where it is full."""
        w = Scene([CLS], [-1])
        for character in self._in_front(self.paragraphs[at][0]):
            self._add_person(w, character)
            if character == self._narrator:
                w.add(self._ids("i"))
        w.add([SEP])
        w.end = at
        for a, b in self.paragraphs[at:end]:
            size = sum(len(self._ids(token)) for token in self._text.book.tokens[a:b])
            if w.end > at and len(w.words) + size + 6 > self._longest - 2:
                break
            self._add_paragraph(w, a, b)
            w.add([PARAGRAPH])
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

    def _add_person(self, w: Scene, character: int, token: int = -1) -> bool:
        """A slot for a character; False where there are too many people."""
        if character not in w.people:
            if len(w.people) == _PEOPLE:
                return False
            w.people.append(character)
        person = w.people.index(character)
        w.named.append((len(w.words), person))
        w.add([-1 - person], token)
        return True

    def _add_paragraph(self, w: Scene, a: int, b: int) -> None:
        i = a
        while i < b and len(w.words) < self._longest - 2:
            if i in self._turns:
                w.asks.append((len(w.words), OF_TURN, self._turns[i]))
                w.add([TURN])
            end, character = self._names.get(i, (i, -1))
            if character >= 0 and self._add_person(w, character, end):
                i = end + 1
                continue
            if i in self._asking:
                kind = IN_QUOTE if self._text.speech.quote[i] >= 0 else OF_PRONOUN
                w.asks.append((len(w.words), kind, self._asking[i]))
            if i in self._selves and self._narrator in w.people:
                w.named.append((len(w.words), w.people.index(self._narrator)))
            w.add(self._ids(self._marks.get(i, self._text.book.tokens[i])), i)
            i += 1


@lru_cache(maxsize=_WINDOWS)
def answers_of(network: Pointer, *window: bytes) -> np.ndarray:
    """What the network says of a window: words, grammar, places and people of the names, places that ask, as
    bytes of int32. Shape (kinds, places that ask, people and nobody). It is kept: `review` reads a book again
    and again, and a new answer changes few windows."""
    ids, grammar, named, asking = (np.frombuffer(part, np.int32) for part in window)
    places, owner = named.reshape(-1, 2).T
    x = network.read(ids.tolist(), grammar.reshape(4, -1), np.append(places, asking))
    people, asks = x[: len(places)], x[len(places) :]
    return np.stack([network.points(asks, kind, people, owner) for kind in range(KINDS)])


def read_scenes(
    text: Text, narration: Sequence[Narration], network: Pointer, known: Mapping[int, int] | None = None
) -> Guesses:
    """Read a book window by window; each turn and pronoun is answered where it stands best inside one."""
    windows = Windows(text, narration, network, known)
    found = Guesses()
    best: dict[tuple[int, int], float] = {}
    for w in windows.all():
        if not w.asks or not w.people:
            continue
        pools = [windows.gender(c) for c in w.people]
        slots = [network.first_slot + SLOTS * pool + pools[:n].count(pool) for n, pool in enumerate(pools)]
        ids = [slots[-1 - word] if word < 0 else word for word in w.words]
        window = ids, windows.grammar(w.tokens), w.named, [place for place, _, _ in w.asks]
        guesses = answers_of(network, *(np.array(part, np.int32).tobytes() for part in window)).tolist()
        for n, (place, kind, key) in enumerate(w.asks):
            inside = min(place / 2, len(w.words) - place)
            if inside > best.get((kind, key), -1):
                best[kind, key] = inside
                if kind == OF_TURN:
                    for answers, of in ((found.turns, OF_TURN), (found.spoken_to, SPOKEN_TO)):
                        answers[key] = dict(zip(w.people, guesses[of][n], strict=False))
                else:
                    found.pronouns[key] = dict(zip((*w.people, NOBODY), guesses[kind][n], strict=True))
    return found
