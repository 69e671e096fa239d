"""Find the first-person narrator where the text makes it plain."""

from __future__ import annotations

import numpy as np

from .markables import SUBJECT
from .reader import Text
from .tags import is_vocative

_LEAST_RATE = 0.008
"""Least share of "I", "me", "my" among the tokens of the narration of a first-person book."""
_ENOUGH = 2.0
_PAPERS = frozenset(
    ["journal", "diary", "narrative", "story", "memoirs", "autobiography", "confession", "letter", "account"]
)
_FAMILY = frozenset(["family", "father", "mother", "brother", "sister"])
_NAMING = frozenset(["called", "call", "calls", "name", "named", "christened", "baptised", "styled"])


def find_narrator(text: Text) -> tuple[int, str]:
    """(cast index, why), or (-1, why not).

    Someone narrates if "I" is frequent outside quotes. Who: a name that others say to the narrator and
    that the narration itself does not use of a third person. Points are given for being addressed, for
    "my name is X", "called me X", "I, X" and headings such as "X's Journal", and taken for every time the
    narration tells what X did.
    """
    speech, ms, tokens = text.speech, text.markables, text.book.tokens
    outside = int((speech.quote < 0).sum())
    first = sum(m.kind == "pronoun" and m.person == 1 and speech.quote[m.at] < 0 for m in ms)
    if not outside or first < 10 or first < _LEAST_RATE * outside:
        return -1, "told in the third person"
    points = np.zeros(len(text.people))
    told = np.zeros(len(text.people))
    for m in ms:
        if m.kind != "name" or m.character < 0:
            continue
        near = [t.lower() for t in tokens[max(0, m.start - 6) : m.start]]
        after = [t.lower() for t in tokens[m.end + 1 : m.end + 3]]
        quoted = speech.quote[m.at] >= 0
        if quoted and is_vocative(text.book, m):
            points[m.character] += 1
        if set(near) & _NAMING and set(near) & {"my", "me", "myself", "i"} and not set(near) & _FAMILY:
            points[m.character] += 3
        if not quoted and near[-2:] in (["i", ","], ["i", "am"], ["i", "'m"]):
            points[m.character] += 3
        if after[:1] in (["'s"], ["’s"]) and after[1:2] and after[1] in _PAPERS:
            points[m.character] += 5
        if not quoted and m.role == SUBJECT:
            told[m.character] += 1
    points -= 1.5 * told
    if not len(points) or points.max() < _ENOUGH - 1.0 * (told.sum() == 0):
        return -1, "told in the first person, but the text does not make plain by whom"
    order = np.argsort(-points)
    if len(order) > 1 and points[order[1]] >= points[order[0]]:
        return -1, "told in the first person, but more than one character could be meant"
    return int(order[0]), "addressed by others and never told of in the third person"
