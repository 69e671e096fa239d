"""Whose kin is whose: by what phrases like "her brother" meant so far, and by the names of the cast."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from ...words import honorifics, kin, word_set
from ..cast import Entry, split_range
from .names import Person, take_apart

_FADES = 0.8
"""What a vote on somebody's kin weighs after the next one."""
_STRANGER = 0.3
"""What a vote for somebody outside the cast weighs: that is often one of the cast who was not recognised."""
_KEPT, _LEAST = 0.5, 0.2
"""Share of its votes that a tie keeps in the next reading, and the least votes that it must have."""
_LORDS = word_set("sir lord count duke baron earl marquis viscount")
_LADIES = word_set("lady countess duchess baroness marchioness viscountess")
_PAIRS = ((_LADIES, _LORDS), (honorifics.MARRIED, honorifics.MALE_HONORIFICS | honorifics.OFFICES))
"""Titles of wives, and those of their husbands."""


class Kin:
    """`votes` says how surely an entity is the mother, brother ... of another: (owner, noun) -> entity ->
    votes, of which the last one counts most. The cast are the first entities."""

    def __init__(self, people: Sequence[Person], male: np.ndarray) -> None:
        self.votes: dict[tuple[int, str], dict[int, float]] = defaultdict(dict)
        self._people, self._male = people, male
        self._couples = find_couples(people)
        self._relatives: dict[str, list[int]] = defaultdict(list)
        for e, person in enumerate(people):
            self._relatives[person.family].append(e)

    def take_over(self, earlier: Kin) -> None:
        """Know from the start whose kin was whose in an earlier reading: one vote for the best of each, which
        what is read now can outvote."""
        for (owner, noun), votes in earlier.votes.items():
            who = max(votes, key=lambda e: votes[e])
            if max(owner, who) < len(self._people) and votes[who] >= _LEAST:
                self.votes[owner, noun][who] = _KEPT * votes[who]

    def note(self, owner: int, noun: str, e: int, score: float) -> None:
        """Remember that `e` is the `noun` of `owner`; where both are of the cast, also the converse."""
        cast = len(self._people)
        self._vote(owner, kin.plain(noun), e, score if e < cast else _STRANGER * score)
        if max(owner, e) < cast and (back := kin.converse(noun, self._male[owner] > 0.5)):
            self._vote(e, back, owner, score)

    def _vote(self, owner: int, noun: str, e: int, weight: float) -> None:
        votes = self.votes[owner, noun]
        for other in votes:
            votes[other] *= _FADES
        votes[e] = votes.get(e, 0.0) + weight

    def who_is(self, owner: int, noun: str) -> int:
        """Who the `noun` of `owner` is, by what was read before; -1 where that is not known."""
        votes = self.votes.get((owner, kin.plain(noun)))
        return max(votes, key=lambda e: votes[e]) if votes else -1

    def spouse_of(self, owner: int) -> int:
        """Husband or wife by the names of the cast; -1 where these do not say."""
        return self._couples.get(owner, -1)

    def family_of(self, owner: int, noun: str) -> list[int]:
        """Characters with the surname of the one whose kin a noun names."""
        if not 0 <= owner < len(self._people) or noun not in kin.KIN:
            return []
        surname = self._people[owner].family
        return [e for e in self._relatives[surname] if e != owner] if surname else []

    def fits_title(self, e: int, noun: str) -> bool:
        """Whether a title fits the kin: Mrs. Hale is the mother and the wife, Mr. Hale father and husband."""
        person = self._people[e]
        if noun in kin.MOTHERS or noun == "wife":
            return bool(honorifics.MARRIED & {*person.titles})
        if noun in kin.FATHERS or noun == "husband":
            return person.gender == "m" and bool(person.titles) and not person.first
        return False


def find_couples(people: Sequence[Person]) -> dict[int, int]:
    """Character -> husband or wife, both ways, where the names of a family leave one answer: "Mrs. John Hill"
    is the wife of John Hill, "Mrs. Hill" of Mr. Hill or the only man with a title, "Lady Hill" of a lord."""
    families: dict[str, list[tuple[int, Person]]] = defaultdict(list)
    for e, person in enumerate(people):
        for name in (person.entry.name, *person.entry.aliases):
            form = take_apart(Entry(split_range(name)[0]))
            if form.last and not form.group:
                families[form.last].append((e, form))
    found: dict[int, int] = {}
    for family in families.values():
        for titles, of_men in _PAIRS:
            free = [(e, form) for e, form in family if e not in found]
            wives = {e for e, form in free if titles.intersection(form.titles) and people[e].gender != "m"}
            men = [(e, form) for e, form in free if e not in wives and people[e].gender != "f"]
            pairs = {
                w: m for w, hers in free for m, his in men if w in wives and {*hers.first} & {*his.first}
            }
            titled = {e for e, form in men if of_men.intersection(form.titles)}.difference(pairs.values())
            if len(titled) > 1:
                titled &= {e for e, form in men if form.titles and not form.first}
            if len(titled) == len(left := wives - pairs.keys()) == 1:
                pairs[left.pop()] = titled.pop()
            found |= pairs | {man: wife for wife, man in pairs.items()}
    return found
