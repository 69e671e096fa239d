"""Are the people of a cast in this text? Their names are looked for; nothing else is read of it."""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from ..words.honorifics import HONORIFICS, NAME_SUFFIXES
from ..words.kin import KIN
from .name_lists import ADJECTIVES, ROLES
from .titles import ARTICLES, PARTICLES, fold

_WORD = re.compile(r"[^\W\d_]+")
_STRETCH = re.compile(r"[^\W\d_]+|[.,;:!?—]")
_NO_NAMES = HONORIFICS | NAME_SUFFIXES | ARTICLES | PARTICLES | ADJECTIVES | ROLES | KIN | {"of", "and"}
_FIRST_NAME = 0.4
_LEAST_TIMES = 3  # a single name must be there that often, and mostly with a capital


class Presence:
    """The names of one text, searchable for the people of casts."""

    def __init__(self, text: str) -> None:
        words = _STRETCH.findall(text)  # a stop keeps the words around it apart
        folded = [fold(word) for word in words]
        capital = [word[0].isupper() for word in words]
        self._times = Counter(folded)
        self._capital = Counter(w for w, c in zip(folded, capital, strict=True) if c)
        names = [w if c else "" for w, c in zip(folded, capital, strict=True)]
        self._pairs = {pair for pair in pairwise(names) if all(pair)}

    def share(self, people: Sequence[Sequence[str]]) -> float:
        """Which share of the people is in the text, from 0 to 1.

        A person is there by two words of a name side by side, or by the last word of a name alone, which
        counts for one of those who share it. A first name alone counts for less than half: it says little.
        """
        seen: set[str] = set()
        weights = (max((self._weight(name, seen) for name in names), default=0.0) for names in people)
        return sum(weights) / max(1, len(people))

    def _weight(self, name: str, seen: set[str]) -> float:
        words = name_words(name)
        if not words:
            return 0.0
        if not self._pairs.isdisjoint(pairwise(words)):
            return 1.0
        if self._is_name(words[-1]) and words[-1] not in seen:
            seen.add(words[-1])
            return 1.0
        return _FIRST_NAME if self._is_name(words[0]) and words[0] not in seen else 0.0

    def _is_name(self, word: str) -> bool:
        return self._capital[word] >= _LEAST_TIMES and 2 * self._capital[word] > self._times[word]


def name_words(name: str) -> list[str]:
    """The folded words of a name with a capital, without titles, kin and the like."""
    words = [fold(word) for word in _WORD.findall(name) if word[0].isupper()]
    return [word for word in words if word not in _NO_NAMES and len(word) > 1]


def names_shared(people: Sequence[Sequence[str]], others: Sequence[Sequence[str]]) -> float:
    """Which share of the people has a word of a name in common with somebody of the other cast.

    1 where the names of `people` say nothing ("the Narrator").
    """
    theirs = {word for names in others for name in names for word in name_words(name)}
    told = [words for names in people if (words := {w for name in names for w in name_words(name)})]
    return sum(bool(words & theirs) for words in told) / len(told) if told else 1.0
