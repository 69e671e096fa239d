"""Which names of a book mean the same person: full names, surnames with their titles, first names, nicknames.

A person is known by a full name ("Emma Woodhouse"), a man by a surname ("Mr. Knightley", "Knightley",
"Captain Harville"), a married and an unmarried woman by one ("Mrs. Weston", "Miss Woodhouse"), anybody by a
first name alone. These are first kept apart, and then joined where only one reading is left.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ..words import honorifics, word_set
from .embedded import lexicon as lex
from .sightings import FIRST_NAMES, Sighting, Words, is_person

MAN, WIFE, MISS, KNIGHT, ANY = "man", "wife", "miss", "knight", "any"
_WITH_FIRST_NAMES = word_set(
    "sir lady miss master aunt uncle cousin brother sister king queen prince princess"
)
"""Titles that stand before a first name: "Sir Thomas", "Miss Eliza"."""
_HIS = (honorifics.MALE_HONORIFICS | honorifics.OFFICES) - honorifics.FEMALE_HONORIFICS
_WIVES = honorifics.MARRIED | word_set("madam mistress lady countess duchess marchioness baroness")
_SURE_SHARE, _REGULAR = 0.3, 8
"""Share of "Mr. John Knightley" among all uses of "John Knightley", and the least number of these uses, that
set him apart from "Mr. Knightley"."""
_YOUNGER, _YOUNGER_SHARE = 3, 0.1
"""Times of "Miss Marianne", and their share of "Miss Dashwood", that tell her from Miss Dashwood."""


@dataclass
class Group:
    """The names of one person: each as it is written ("Mr. Knightley") with its count, and the token of
    every occurrence. `first` and `last` are "" where the book does not say; `role` as above."""

    first: str
    last: str
    role: str
    names: Counter[str] = field(default_factory=Counter)
    places: list[int] = field(default_factory=list)
    person: float = 0.0
    other: float = 0.0
    set_apart: bool = False
    titles: set[str] = field(default_factory=set)

    def take(self, other: Group) -> None:
        """Join another group of names of the same person."""
        self.names.update(other.names)
        self.places += other.places
        self.titles |= other.titles
        self.person += other.person
        self.other += other.other
        self.first = self.first or other.first
        self.last = self.last or other.last
        other.names.clear()

    @property
    def count(self) -> int:
        return self.names.total()


def group_names(seen: Mapping[Words, Sighting]) -> list[Group]:
    """The people of a book, in no particular order."""
    people = _People()
    for words, sighting in seen.items():
        if words[0] == "the":
            if is_person(sighting):
                people.add_lone_title(sighting)
        elif len(words) > 1:
            people.add_full_name(sighting, _is_evidence(sighting, seen))
    for words, sighting in seen.items():
        if len(words) == 1 and is_person(sighting):
            people.add_single(sighting)
    people.join()
    return people.left()


def _is_evidence(sighting: Sighting, seen: Mapping[Words, Sighting]) -> bool:
    """Whether a name of two or three words is a person's, however rare: it begins with a first name, or its
    parts are persons' names for themselves."""
    if is_person(sighting) or sighting.words[0].lower() in FIRST_NAMES:
        return True
    parts = [seen.get((sighting.words[0],)), seen.get((sighting.words[-1],))]
    return all(part is not None and is_person(part) for part in parts)


def gender_of(first: str) -> str:
    """ "m" or "f" where a first name is one of the two only."""
    low = first.lower()
    male, female = low in lex.MALE_FIRST, low in lex.FEMALE_FIRST
    return "" if male == female else "m" if male else "f"


class _People:
    """The groups while they are joined."""

    def __init__(self) -> None:
        self.full: list[Group] = []
        self.by_surname: dict[str, dict[str, Group]] = defaultdict(dict)
        self.by_first: dict[str, Group] = {}
        self.bare: dict[str, Group] = {}
        self.lone: list[Group] = []
        self.knights: list[Group] = []
        self._with_miss: Counter[str] = Counter()

    def add_lone_title(self, sighting: Sighting) -> None:
        """ "The General" without a name."""
        group = Group("", sighting.words[1].lower(), ANY)
        self._fill(group, sighting, {" ".join(sighting.words): sighting.count})
        self.lone.append(group)

    @staticmethod
    def _fill(
        group: Group, sighting: Sighting, names: Mapping[str, int], titles: Iterable[str] | None = None
    ) -> None:
        """Give a group the names, and of the sighting what occurs with these titles (default: all)."""
        chosen = set(sighting.titles) if titles is None else set(titles)
        group.names.update({name: n for name, n in names.items() if n})
        group.places += [at for title in chosen for at in sighting.places.get(title, ())]
        group.titles |= chosen - {""}
        share = sum(names.values()) / sighting.count
        group.person += share * sighting.person
        group.other += share * sighting.other

    def add_full_name(self, sighting: Sighting, sure: bool) -> None:
        """ "Emma Woodhouse"; "Mrs. Lemuel Struthers" is not Lemuel Struthers."""
        words = sighting.words
        wives = sighting.times(honorifics.MARRIED)
        his = wives if gender_of(words[0]) != "f" else 0
        if his:
            group = Group("", words[-1], WIFE)
            self._fill(group, sighting, {f"Mrs. {' '.join(words)}": his}, honorifics.MARRIED)
            self.full.append(group)
        rest = sighting.count - his
        if not rest or not sure:
            return
        if his or sighting.times(_HIS) or gender_of(words[0]) == "m":
            role = MAN
        elif sighting.times(_WIVES):
            role = WIFE
        else:
            role = MISS if sighting.times(honorifics.FEMALE_HONORIFICS) else ANY
        group = Group(words[0], words[-1], role)
        left = set(sighting.titles) - (honorifics.MARRIED if his else frozenset())
        self._fill(group, sighting, {" ".join(words): rest}, left)
        titled = sighting.times(honorifics.BEFORE_SURNAMES)
        group.set_apart = sighting.count >= _REGULAR and titled >= _SURE_SHARE * sighting.count
        same = next((g for g in self.full if self._is_same_full_name(g, group)), None)
        if same is not None:
            same.take(group)
        else:
            self.full.append(group)

    @staticmethod
    def _is_same_full_name(a: Group, b: Group) -> bool:
        """ "Lizzy Bennet" and "Elizabeth Bennet"; "John Smith" and "John Henry Smith"."""
        if not a.first or a.last != b.last or {a.role, b.role} == {MAN, MISS}:
            return False
        knights = ("sir" in a.titles) != ("sir" in b.titles)
        return a.first == b.first or (are_one_name(a.first, b.first) and not knights)

    def add_single(self, sighting: Sighting) -> None:
        """One word: a first name, or a surname with the titles of a man, a wife, a daughter."""
        (word,) = sighting.words
        titled = sighting.times(honorifics.HONORIFICS)
        is_first = self._is_first_name(word, sighting, titled)
        parts: dict[str, dict[str, int]] = defaultdict(dict)
        titles: dict[str, set[str]] = defaultdict(set)
        for title, n in sighting.titles.items():
            kind = self._kind(title, is_first)
            name = f"{written(title)} {word}" if kind != ANY and title else word
            if kind in ("first", KNIGHT):
                self._with_miss[word] += n * (title in honorifics.UNMARRIED)
                name = f"{written(title)} {word}" if title in honorifics.HONORIFICS else word
            parts[kind][name] = parts[kind].get(name, 0) + n
            titles[kind].add(title)
        for kind, names in parts.items():
            own = kind in ("first", KNIGHT)
            group = Group(word if own else "", "" if own or kind == ANY else word, kind)
            self._fill(group, sighting, names, titles[kind])
            if kind == "first":
                self.by_first[word] = group
            elif kind == KNIGHT:
                self.knights.append(group)
            elif kind == ANY:
                self.bare[word] = group
            else:
                self.by_surname[word][kind] = group

    def _is_first_name(self, word: str, sighting: Sighting, titled: int) -> bool:
        if any(g.first == word for g in self.full):
            return True
        surname = any(g.last == word for g in self.full)
        known = word.lower() in FIRST_NAMES
        before_surnames = sighting.times(honorifics.BEFORE_SURNAMES)
        return known and not surname and 2 * before_surnames < sighting.count

    @staticmethod
    def _kind(title: str, is_first: bool) -> str:
        if is_first and title == "sir":
            return KNIGHT
        if is_first and (not title or title in _WITH_FIRST_NAMES or title not in honorifics.BEFORE_SURNAMES):
            return "first"
        if title in honorifics.UNMARRIED:
            return MISS
        if title in _WIVES or title in honorifics.FEMALE_HONORIFICS:
            return WIFE
        return MAN if title in _HIS else ANY

    # --- joining ------------------------------------------------------------------------------------------

    def join(self) -> None:
        self._join_knights()
        self._join_first_names()
        for group in self.full:
            if group.role == ANY and self._with_miss[group.first]:
                group.role = MISS
        for surname in list(self.by_surname):
            self._join_surname(surname)
        self._join_bare()
        self._join_nicknames()
        self._join_lone_titles()

    def _join_knights(self) -> None:
        """ "Sir John" is Sir John Middleton rather than John Dashwood; "Sir Edmund" may be said in jest."""
        for group in self.knights:
            bearers = [g for g in self.full if g.first == group.first]
            titled = [g for g in bearers if "sir" in g.titles]
            alone = self.by_first.get(group.first)
            if titled:
                max(titled, key=lambda g: g.count).take(group)
            elif alone is not None and alone.count > 3 * group.count:
                alone.take(group)

    def _join_lone_titles(self) -> None:
        """ "The Colonel" is Colonel Brandon where he is the only one."""
        people = [*self.full, *(g for kinds in self.by_surname.values() for g in kinds.values())]
        for group in self.lone:
            bearers = [g for g in people if g.names and group.last in g.titles]
            if len(bearers) == 1:
                bearers[0].take(group)
            elif bearers:
                group.names.clear()

    def _join_first_names(self) -> None:
        """A first name alone means the one who bears it most often with a surname."""
        for word, group in self.by_first.items():
            bearers = [g for g in self.full if g.first == word]
            if bearers:
                max(bearers, key=lambda g: g.count).take(group)

    def _bearers(self, surname: str, kind: str, often: int) -> list[Group]:
        """Those with a full name who may be meant by a surname with the title of a man, wife, daughter."""
        bearers = [g for g in self.full if g.last == surname and g.names]
        if kind == MAN:
            fits = [g for g in bearers if g.role == MAN or (g.role == ANY and gender_of(g.first) != "f")]
            return [g for g in fits if not (g.set_apart and 2 * often >= 3 * g.count)]
        fits = [g for g in bearers if g.role in (WIFE, MISS) or gender_of(g.first) == "f"]
        if kind == WIFE:
            return self._wives(fits, MISS in self.by_surname[surname], often)
        return [g for g in fits if g.role != WIFE and not self._is_younger(g, often)]

    @staticmethod
    def _wives(women: Sequence[Group], misses: bool, often: int) -> list[Group]:
        """The women whom "Mrs." and a surname may mean. Mrs. John Dashwood is called so because Mrs. Dashwood
        is somebody else."""
        wives = [g for g in women if g.role == WIFE and (g.first or often <= 2 * g.count)]
        return wives or ([] if misses else [g for g in women if g.role == ANY])

    def _is_younger(self, g: Group, often: int) -> bool:
        """Whether a woman is called "Miss" with her first name: the eldest sister has the surname."""
        times = self._with_miss[g.first]
        return times >= _YOUNGER and times >= _YOUNGER_SHARE * often

    def _join_surname(self, surname: str) -> None:
        for kind, group in self.by_surname[surname].items():
            bearers = self._bearers(surname, kind, group.count)
            if len(bearers) > 1 and kind == MISS:
                bearers = [min(bearers, key=lambda g: (self._with_miss[g.first] + 1) / (g.count + 5))]
            elif len(bearers) > 1 and kind == WIFE:
                bearers = [max(bearers, key=lambda g: g.count)]
            if len(bearers) == 1:
                bearers[0].take(group)

    def _join_bare(self) -> None:
        """A bare surname is how men are called; a woman only if no man bears it."""
        for word, group in self.bare.items():
            kinds = self.by_surname.get(word, {})
            man = kinds.get(MAN)
            if man is not None and man.names:
                man.take(group)
                continue
            bearers = [g for g in self.full if g.last == word and g.names]
            men = [g for g in bearers if g.role == MAN or gender_of(g.first) == "m"]
            chosen = men if men else bearers
            women = [g for g in kinds.values() if g.names and g.count > 3 * group.count]
            if chosen:
                max(chosen, key=lambda g: g.count).take(group)
            elif len(women) == 1:
                women[0].take(group)

    def _join_nicknames(self) -> None:
        """ "Meg" is Margaret where there is one Margaret and no Meg with another surname."""
        alone = [g for g in self.by_first.values() if g.names and not g.last]
        for group in sorted(alone, key=lambda g: g.count):
            near = [
                g
                for g in (*self.full, *self.by_first.values())
                if g is not group and g.names and g.first and are_one_name(g.first, group.first)
            ]
            near.sort(key=lambda g: -g.count)
            second = near[1].count if len(near) > 1 else 0
            if near and near[0].count >= max(group.count / 4, 3 * second):
                near[0].take(group)

    def left(self) -> list[Group]:
        """All groups that have names, and that behave as persons."""
        singles: Iterable[Group] = (g for kinds in self.by_surname.values() for g in kinds.values())
        every = [
            *self.full,
            *singles,
            *self.by_first.values(),
            *self.bare.values(),
            *self.lone,
            *self.knights,
        ]
        return [g for g in every if g.names and g.person > g.other]


def written(title: str) -> str:
    """A title as it is written in a name: "Mr.", "Captain"."""
    return f"{title.capitalize()}." if title in honorifics.ABBREVIATED else title.capitalize()


def are_one_name(a: str, b: str) -> bool:
    """Whether two first names may be one name and its nickname."""
    x, y = a.lower(), b.lower()
    short, long = sorted((x, y), key=len)
    if 3 <= len(short) < len(long) and long.startswith(short):
        return True
    return y in lex.NICKNAMES.get(x, "").split() or x in lex.NICKNAMES.get(y, "").split()
