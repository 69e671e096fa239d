"""Find the place of an anchor again: at its tokens if the words still stand there, else by its words.

Words are compared without case, typographic marks and white space, as one string, so that neither another
tokenisation nor other quotation marks hide a place.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import accumulate
from statistics import median

from .operations import Anchor

_PLAIN = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "—": "-", "–": "-", "_": "", "\u00a0": ""})
_CONTEXTS = ((6, 6), (6, 0), (0, 6), (4, 2), (2, 4), (3, 3), (3, 0), (0, 3), (2, 2), (1, 1))
"""How many words before and after are asked for, in the order in which they are tried."""
_MOST_PLACES = 200
_CLEARLY_NEAREST = 5
"""A place is taken among several when every other is so many times further from where it should be."""
_RECENT = 25
_NEAR, _LONG = 12, 4
"""Tokens before and behind a place that are asked for the words of an anchor; letters of a longer word."""


def plain(text: str) -> str:
    """A text without case, white space and the ways of printing quotes and dashes."""
    return "".join(text.translate(_PLAIN).casefold().split()).replace("--", "-")


def not_found(anchor: Anchor, tokens: Sequence[str]) -> str:
    """Why a place is none, with the words that stand there now."""
    place = f"{anchor.before} [{anchor.words}] {anchor.after}".strip()
    now = " ".join(tokens[anchor.start : anchor.end + 1])
    return f"the place is not found, or not the only one: {place}; at its tokens stands “{now}”"


class Finder:
    """Finds anchors in the tokens of one book. What it found tells where the next ones should be."""

    def __init__(self, tokens: Sequence[str]) -> None:
        self._tokens = tokens
        self._text = ""
        self._ends: list[int] = []
        self._shifts: list[int] = []

    def find(self, anchor: Anchor) -> tuple[int, int] | None:
        """(first, last) token of the place; None where it is not there, or more than one place fits."""
        if self._stands(anchor):
            return anchor.start, anchor.end
        if not self._ends:
            pieces = [plain(token) for token in self._tokens]
            self._text = "".join(pieces)
            self._ends = list(accumulate(map(len, pieces)))
        expected = anchor.start + (int(median(self._shifts[-_RECENT:])) if self._shifts else 0)
        for before, after in _CONTEXTS:
            places = list(self._places(anchor, before, after))
            if len(places) >= _MOST_PLACES:
                continue
            # The only place, or the one that is clearly nearest to where it should be
            apart = sorted((abs(place[0] - expected), i) for i, place in enumerate(places))[:2]
            if apart and (len(apart) == 1 or apart[0][0] * _CLEARLY_NEAREST < apart[1][0]):
                chosen = places[apart[0][1]]
                if not self._fits(anchor, *chosen):
                    return None
                self._shifts.append(chosen[0] - anchor.start)
                return chosen
        return None

    def _fits(self, anchor: Anchor, first: int, last: int) -> bool:
        """Whether half of the longer words around an anchor stand near a place: a few may stand anywhere."""
        around = plain("".join(self._tokens[max(0, first - _NEAR) : last + 1 + _NEAR]))
        words = [plain(word) for word in f"{anchor.before} {anchor.after}".split() if len(word) >= _LONG]
        return 2 * sum(word in around for word in words) >= len(words)

    def _stands(self, anchor: Anchor) -> bool:
        """Whether the words stand at the anchor's own tokens, with a neighbour that is right."""
        words = plain("".join(self._tokens[anchor.start : anchor.end + 1]))
        if anchor.end >= len(self._tokens) or words != plain(anchor.words):
            return False
        before = plain("".join(self._tokens[max(0, anchor.start - 4) : anchor.start]))
        after = plain("".join(self._tokens[anchor.end + 1 : anchor.end + 5]))
        sides = (before.endswith, anchor.before.split()[-2:]), (after.startswith, anchor.after.split()[:2])
        stand = [fits(near) for fits, around in sides if (near := plain("".join(around)))]
        return any(stand) or not stand

    def _places(self, anchor: Anchor, before: int, after: int) -> Iterator[tuple[int, int]]:
        """Places with so much context that begin and end with a token."""
        left = plain("".join(anchor.before.split()[-before:])) if before else ""
        right = plain("".join(anchor.after.split()[:after])) if after else ""
        words = plain(anchor.words)
        if not words or ((before or after) and not (left or right)):
            return
        at = self._text.find(left + words + right)
        for _ in range(_MOST_PLACES):
            if at < 0:
                return
            first, last = at + len(left), at + len(left) + len(words)
            end, start = bisect_left(self._ends, last), bisect_left(self._ends, first + 1)
            if self._ends[end] == last and first == (self._ends[start - 1] if start else 0):
                yield start, end
            at = self._text.find(left + words + right, at + 1)
