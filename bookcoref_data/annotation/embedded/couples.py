"""Who of the cast is married to whom, as far as their names say so: Mr. Hill and Mrs. Hill."""

from collections import defaultdict
from collections.abc import Sequence

from ...words import honorifics, word_set
from ..cast import Entry, split_range
from .names import Person, take_apart

_LORDS = word_set("sir lord count duke baron earl marquis viscount")
_LADIES = word_set("lady countess duchess baroness marchioness viscountess")
_PAIRS = ((_LADIES, _LORDS), (honorifics.MARRIED, honorifics.MALE_HONORIFICS | honorifics.OFFICES))
"""Titles of wives, and those of their husbands."""


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
