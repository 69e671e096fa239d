"""Gender and number of the characters over the whole book: titles, first names, and nearby pronouns."""

from collections import Counter

import numpy as np

from .markables import SUBJECT, Markable
from .names import Person
from .quotes import Speech

_DOUBTED = 4.0
"""How far the pronouns must move the logit to contradict a hint."""
_CERTAIN, _GUESS, _STEP, _MOST, _REACH = 8.0, 3.0, 1.6, 5.0, 30


def character_genders(
    people: list[Person], markables: list[Markable], speech: Speech
) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[Counter[str]]]:
    """Probabilities (male, female, plural) per character, and the pronouns counted as evidence.

    A "he" or "she" of the narration votes for the last name of the cast before it, if that stands in the
    same paragraph, no more than 30 tokens back, with no other name between. A title is certain, a first
    name a guess that votes can overrule.
    """
    votes = _votes(len(people), markables, speech)
    # Around a woman in a book full of men most pronouns are "he": votes count against what the book as a
    # whole would lead one to expect, half way to an even share.
    total = sum(votes, Counter())
    share = 0.25 + 0.5 * (total["m"] + 1) / (total["m"] + total["f"] + 2)
    male, female, plural = (np.zeros(len(people)) for _ in range(3))
    for i, (person, seen) in enumerate(zip(people, votes, strict=True)):
        if person.group:
            male[i], female[i], plural[i] = 0.02, 0.02, 0.96
            continue
        prior = {"m": 1.0, "f": -1.0}.get(person.gender, 0.0) * (_CERTAIN if person.sure else _GUESS)
        logit = (prior or 0.2) + _surprise(seen, share)
        male[i] = 0.98 / (1 + np.exp(-logit))
        female[i] = 0.98 - male[i]
        plural[i] = 0.02
    return male, female, plural, votes


def _votes(people: int, markables: list[Markable], speech: Speech) -> list[Counter[str]]:
    """How many pronouns of each gender speak for each of the people."""
    votes: list[Counter[str]] = [Counter() for _ in range(people)]
    last: Markable | None = None
    for m in markables:
        if speech.quote[m.at] >= 0:
            continue
        if m.kind == "name":
            crowded = last is not None and m.start - last.end < 4
            last = None if crowded else m
        elif m.kind == "nominal" and m.gender:
            last = None
        elif last is None or last.character < 0 or m.kind != "pronoun" or m.gender not in ("m", "f"):
            continue
        elif m.start - last.end <= _REACH and speech.paragraph[m.start] == speech.paragraph[last.start]:
            votes[last.character][m.gender] += 2 if last.role == SUBJECT else 1
    return votes


def _surprise(seen: Counter[str], share: float) -> float:
    """How far the votes move the logit, where `share` of all pronouns are "he"."""
    n = seen["m"] + seen["f"]
    surprise = (seen["m"] - n * share) / np.sqrt(2 * n * share * (1 - share) + 1.0)
    return float(np.clip(_STEP * surprise, -_MOST, _MOST))


def doubted_hints(people: list[Person], votes: list[Counter[str]]) -> list[str]:
    """A note for everybody whose hint in the cast the pronouns of the book contradict."""
    total = sum(votes, Counter())
    share = (total["m"] + 1) / (total["m"] + total["f"] + 2)
    found = []
    for person, seen in zip(people, votes, strict=True):
        hint, said = person.entry.gender, _surprise(seen, share)
        if (hint == "f" and said >= _DOUBTED and seen["m"] > seen["f"]) or (
            hint == "m" and said <= -_DOUBTED and seen["f"] > seen["m"]
        ):
            found.append(
                f"{person.entry.name}: the hint [{hint}] is not what the book says: most pronouns behind the "
                "name are of the other gender"
            )
    return found
