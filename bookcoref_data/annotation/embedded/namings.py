"""Where the whole book names somebody: in the narration, calling them, or talking of them.

A reader of a novel has an idea of who is talked about in it. "He" inside a quote is mostly somebody whom
other quotes name, near or far, and who is not on the scene.
"""

from bisect import bisect_left, bisect_right, insort
from collections import defaultdict
from collections.abc import Container, Sequence
from math import log1p

import numpy as np

from .markables import Markable
from .quotes import Speech

FEATURES = (
    "share talked of", "talked of around", "talked of about here", "share talked of before",
    "talked of ahead", "share narrated ahead",
)  # fmt: skip
"""Of the names inside quotes that call nobody: the candidate's share of all; how many within `_FAR` and
within `_NEAR` tokens; the share within `_NEAR` tokens before, and how many within `_AHEAD` after. Of the
names outside quotes: the share within `_NEAR` tokens after."""
_NEAR, _AHEAD, _FAR = 500, 2000, 8000
_ByPerson = dict[object, list[int]]


class Namings:
    """The names of a text by whom they name, as first tokens in order: all, those in quotes that talk of
    somebody, and those outside quotes. `called` are the markables that call somebody. Training hides single
    names while it asks for them."""

    def __init__(self, speech: Speech, markables: Sequence[Markable], called: Container[int]) -> None:
        self._all: _ByPerson = defaultdict(list)
        self._talked: _ByPerson = defaultdict(list)
        self._narrated: _ByPerson = defaultdict(list)
        self._of: dict[tuple[int, int], list[_ByPerson]] = {}
        for k, m in enumerate(markables):
            if m.kind != "name":
                continue
            lists: list[_ByPerson] = [self._all]
            if speech.quote[m.at] < 0:
                lists.append(self._narrated)
            elif k not in called:
                lists.append(self._talked)
            self._of[m.start, m.end] = lists
            for places in lists:
                places[identity(m)].append(m.at)

    def hide(self, m: Markable) -> None:
        """Forget a name until it is shown again."""
        for places in self._of[m.start, m.end]:
            places[identity(m)].remove(m.at)

    def show(self, m: Markable) -> None:
        """Know a name again that was hidden."""
        for places in self._of[m.start, m.end]:
            insort(places[identity(m)], m.at)

    def next_after(self, who: object, at: int) -> int:
        """The first token of the next name of somebody after token `at`; -1 for none."""
        places = self._all.get(who, ())
        k = bisect_right(places, at)
        return places[k] if k < len(places) else -1

    def features(self, whom: Sequence[object], at: int) -> np.ndarray:
        """What the names around token `at` and in the whole text say of the candidates. Shape
        (candidates, FEATURES)."""
        x = np.array([self._row(who, at) for who in whom], dtype=np.float32)
        for column in _SHARES:
            x[:, column] /= x[:, column].sum() + 1
        return x

    def _row(self, who: object, at: int) -> tuple[float, ...]:
        talked, narrated = self._talked.get(who, ()), self._narrated.get(who, ())
        if not talked:
            return 0.0, 0.0, 0.0, 0.0, 0.0, float(_between(narrated, at + 1, at + _NEAR))
        here = bisect_left(talked, at)
        before = here - bisect_left(talked, at - _NEAR)
        after = bisect_left(talked, at + _NEAR) - here
        return (
            float(len(talked)),
            log1p(_between(talked, at - _FAR, at + _FAR)),
            log1p(before + after),
            float(before),
            log1p(_between(talked, at + 1, at + _AHEAD)),
            float(_between(narrated, at + 1, at + _NEAR)),
        )


_SHARES = [k for k, name in enumerate(FEATURES) if name.startswith("share")]


def _between(places: Sequence[int], first: int, end: int) -> int:
    """How many places lie in [first, end)."""
    return bisect_left(places, end) - bisect_left(places, first)


def identity(m: Markable) -> object:
    """What a name names: a character of the cast, or somebody else of this surname."""
    return m.character if m.character >= 0 else m.text.split()[-1]
