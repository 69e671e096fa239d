"""Which names of a book mean the same person: full names, surnames with their titles, first names, nicknames.

A person is known by a full name ("Emma Woodhouse"), a man by a surname ("Mr. Knightley", "Knightley",
"Captain Harville"), a married and an unmarried woman by one ("Mrs. Weston", "Miss Woodhouse"), anybody by a
first name alone. These are first kept apart, and then joined where only one reading is left.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..books import Book
from ..words import honorifics, word_set
from .embedded import lexicon as lex
from .embedded.names import gender_of_first_name
from .embedded.parsing import Parse
from .identity import Scenes, Somebody, Traces, bearers, evidence, same_people
from .sightings import Sighting, Words, epithets, is_person, name_runs, sightings

MAN, WIFE, MISS, KNIGHT, ANY = "man", "wife", "miss", "knight", "any"
_WITH_FIRST_NAMES = honorifics.UNMARRIED | lex.words("WITH_FIRST_NAMES")
"""Titles that stand before a first name: "Sir Thomas", "Miss Eliza"."""
_BEFORE_FIRST_NAMES_ONLY = lex.ADJECTIVES_OF_NAMES | lex.words("BEFORE_FIRST_NAMES_ONLY")
"""What stands before "Juley" shows that it is her first name."""
_HIS = (honorifics.MALE_HONORIFICS | honorifics.OFFICES) - honorifics.FEMALE_HONORIFICS
_PEERESSES = word_set("lady countess duchess marchioness baroness")
_WIVES = honorifics.MARRIED | _PEERESSES | word_set("madam mistress")
_RANKS = lex.words("RANKS")
_PLAIN, _PEERS = word_set("mr mister monsieur m"), word_set("lord lady")
_SURE_SHARE, _REGULAR = 0.3, 8
"""Share of "Mr. John Knightley" among all uses of "John Knightley", and the least number of these uses, that
set him apart from "Mr. Knightley"."""
_LEAST_VOTES, _TITLE_VOTES, _MALE_SHARE, _FEMALE_SHARE = 4, 3, 0.75, 0.55
"""Least pronouns that tell the gender of a first name, what a title counts, and the shares that are needed:
"she" is rarer than "he" in most books, and "he" behind her name is often somebody else."""
_LEAST_HE, _MOST_HE = 0.35, 0.85
"""Bounds of the share of "he" that a name is held against: books about girls or sailors."""
_HE_OF_MEN, _HE_OF_WOMEN, _LEAST_LEAN = 0.8, 0.4, 6.0
"""Share of "he" among the pronouns behind the names of men and of women, and how much likelier one of the two
must be (a logit; the votes are not independent)."""
LEAST_EPITHETS = 10
"""Times that an epithet must be used."""
_PLURAL_SHARE, _MISS_SHARE = 0.25, 0.1
"""Share of "the Bertrams" and of plural tags that makes a name a family's; share of "Miss" before her first
name that makes a woman unmarried (or twice)."""
_NICKNAME_SHARE, _UNKNOWN_SHARE, _ONCE, _TOGETHER = 0.1, 0.25, 1, 0.04
"""Least share of the full name against its nickname, and against a word that is on no list. Sentences that
two names of one person may share: so many, or this share of the rarer name, or as many as by chance."""
_ELDER, _ELDER_SHARE = 3, 0.08
"""How many times more often than others of the surname the one whom "Mr." and the surname mean is written
with both names, and the least share of that among all uses of the surname."""
_TWO_PEOPLE = -4.0
"""Evidence of the places below which "Mr." or "Mrs." with a surname is not the one whose surname it is. Of 40
men of 25 novels one person came to -3.5 at least, Mr. Vincy and Fred to -16; of 24 women to -2.5, Thomasin
and her aunt to -16. Of a "Miss" the places do not tell it: others say "Miss Price" where Fanny stands."""
_HEROINE, _HEROINE_WEIGHT = 10, 0.5
"""How many times more often than "Mrs. Bergson" Alexandra must be named to be somebody else, unless there is
this evidence for one person: Lady Ashley stands where Brett does."""
_RANKED, _CALLED = 8, 3
"""Times that "Captain Tilney" and "Mr. Tilney" must both be used to be two men, "Captain" to be a name."""
_PET_LISTED, _PET, _PET_RARE, _PET_OF_PEER = -0.4, 0.0, 0.5, 2.0
"""Least evidence of the places that a name is his pet name: one of the list, one only spelt alike, one whose
full name is far rarer, a lord's. Of 30 novels right ones came to 0.3 at least, Katia and Eva to 0.6; wrong
ones mostly to less than 0, Maria and Polly to -0.9. In the sample Meg and Margaret come to -0.4."""
_FIRST_NAME, _KNOWN = 3, 5
"""How many times more often Ned must be named than "Mr. Ned"; times that a full name must be used for its
places to say whom the first name means."""
_HARDLY = 0.05
"""Least share of "the Countess" that somebody called Countess is named, to be one who may be meant."""
_SELDOM, _HIMSELF = 10, 1.0
"""How many times more often "Mr. Tupman" must be used than "Mr. Tracy Tupman", and the least evidence that
they are one: of nine in 47 novels it was 1.4 at least, of John Knightley and Mr. Knightley 0.8."""
_YOUNGER, _YOUNGER_SHARE = 3, 0.1
"""Times of "Miss Marianne", and their share of "Miss Dashwood", that tell her from Miss Dashwood."""


@dataclass
class Group:
    """The names of one person: each as it is written ("Mr. Knightley") with its count, and the token of
    every occurrence. `first` and `last` are "" where the book does not say; `role` as above. `by_places` are
    those of the names that share no word with the others and were joined by where they stand; `gender` is
    "m", "f", or "" where neither titles nor first name nor pronouns say it."""

    first: str
    last: str
    role: str
    names: Counter[str] = field(default_factory=Counter)
    places: list[int] = field(default_factory=list)
    person: float = 0.0
    other: float = 0.0
    set_apart: bool = False
    titles: set[str] = field(default_factory=set)
    other_firsts: set[str] = field(default_factory=set)
    husband: str = ""
    by_places: set[str] = field(default_factory=set)
    gender: str = ""
    taken_by: Group | None = None

    def take(self, other: Group) -> None:
        """Join another group of names of the same person."""
        self.names.update(other.names)
        self.places += other.places
        self.titles |= other.titles
        self.person += other.person
        self.other += other.other
        self.other_firsts |= other.other_firsts | {other.first} - {self.first, ""}
        self.first = self.first or other.first
        self.last = self.last or other.last
        other.names.clear()
        other.taken_by = self

    @property
    def count(self) -> int:
        return self.names.total()

    @property
    def has_name(self) -> bool:
        """Whether the names are somebody's own: neither "the General" nor "Mrs. John Dashwood"."""
        return not self.husband and not all(name.startswith("the ") for name in self.names)

    @property
    def gender_of_titles(self) -> str:
        """ "m" or "f" where a title says it, else ""."""
        return next((g for g in map(honorifics.honorific_gender, sorted(self.titles)) if g), "")

    @property
    def with_surname(self) -> int:
        """How often first name and surname stand together."""
        return sum(n for name, n in self.names.items() if name.endswith(f" {self.last}"))


def group_names(book: Book, parse: Parse, scenes: Scenes) -> list[Group]:
    """The people of a book, whose scenes are given, in no particular order."""
    seen = sightings(book, parse)
    genders = _Genders(seen)
    groups = _joined_by_words(seen, genders, parse, scenes)
    return _ByPlaces(genders, book, parse, scenes).joined(groups)


def _joined_by_words(
    seen: Mapping[Words, Sighting], genders: _Genders, parse: Parse, scenes: Scenes
) -> list[Group]:
    """The groups as their first names, surnames and titles join them."""
    people = _People(genders, parse.sentence, scenes)
    for words, sighting in seen.items():
        if words[0] == "the":
            if is_person(sighting):
                people.add_lone_title(sighting)
            alone = sighting.places.get(title := words[1].lower(), [])
            if title in honorifics.OFFICES | _RANKS and len(alone) >= _CALLED:
                people.called.append(Group("", title, ANY, Counter({written(title): len(alone)}), alone))
        elif len(words) > 1 and ("-".join(words),) not in seen:
            people.add_full_name(sighting, _is_evidence(sighting, seen))
    for words, sighting in seen.items():
        if len(words) == 1 and is_person(sighting) and not _is_plural(sighting, seen):
            people.add_single(sighting)
    people.join()
    return people.left()


class _ByPlaces:
    """Joins the names of one person that share no word, where their places say so."""

    def __init__(self, genders: _Genders, book: Book, parse: Parse, scenes: Scenes) -> None:
        self._genders = genders
        self._ends = dict(name_runs(book, parse))
        self._scenes = scenes
        self._epithets = epithets(book, parse)
        self._tokens = book.tokens

    def joined(self, groups: list[Group]) -> list[Group]:
        """The groups that are left when those of one person are joined."""
        # Who is called "the General" is not called by a first name as well.
        named = [g for g in groups if g.has_name and not any(name.startswith("the ") for name in g.names)]
        for pair in same_people([self._somebody(g) for g in named]):
            one, other = named[pair.one], named[pair.other]
            one.by_places |= set(other.names)
            one.take(other)
        self._join_epithets([g for g in groups if g.names])
        left = [g for g in groups if g.names]
        for group in left:
            group.gender = self._gender_of(group)
        return left

    def _join_epithets(self, groups: list[Group]) -> None:
        """ "The Jew" is Fagin; what a title says already ("the Professor") is left."""
        people = [g for g in groups if g.has_name]
        known = {name.lower() for g in people for name in g.names}
        found, weighed = list[Group](), list[Somebody]()
        for noun, places in self._epithets.items():
            if len(places) >= LEAST_EPITHETS and f"the {noun}" not in known:
                written_as = Counter(self._tokens[at + 1] for at in places)
                name = f"the {written_as.most_common(1)[0][0]}"
                group = Group("", noun, ANY, Counter({name: len(places)}), places, person=1.0)
                gender = "m" if noun in lex.MALE_NOUNS else "f" if noun in lex.FEMALE_NOUNS else ""
                traces = self._scenes.traces((at, at + 1) for at in places)
                found.append(group)
                weighed.append(Somebody(frozenset(), "", gender, group.count, traces))
        for pair in bearers(weighed, [self._somebody(g) for g in people]):
            epithet, person = found[pair.one], people[pair.other]
            for other in groups:
                if not other.has_name and set(other.names) & set(epithet.names):
                    other.names.clear()
            person.by_places |= set(epithet.names)
            person.take(epithet)

    def _somebody(self, group: Group) -> Somebody:
        """A group as it is weighed against others."""
        traces = self._scenes.traces((start, self._ends.get(start, start)) for start in group.places)
        group.gender = self._gender_of(group)
        return somebody(group, traces)

    def _gender_of(self, group: Group) -> str:
        """ "m", "f", or "" where neither titles nor first name nor pronouns say it."""
        by_role = {MAN: "m", KNIGHT: "m", WIFE: "f", MISS: "f"}.get(group.role, "")
        word = group.first or group.last or min(group.names)
        return group.gender_of_titles or by_role or self._genders.of(word) or self._genders.likely(word)


def somebody(group: Group, traces: Traces) -> Somebody:
    """A group as it is weighed against others, with its places."""
    firsts, last = {group.first, *group.other_firsts} - {""}, group.last
    if not firsts and (not last or (group.titles and group.titles <= _BEFORE_FIRST_NAMES_ONLY)):
        firsts, last = {last or min(group.names)}, ""
    lower = frozenset(first.lower() for first in firsts)
    married = group.role == WIFE
    return Somebody(lower, last.lower(), group.gender, group.count, traces, married, group.set_apart)


def _is_evidence(sighting: Sighting, seen: Mapping[Words, Sighting]) -> bool:
    """Whether a name of two or three words is a person's, however rare: it begins with a first name, or its
    parts are persons' names for themselves."""
    if is_person(sighting) or sighting.words[0].lower() in lex.FIRST_NAMES:
        return True
    parts = [seen.get((sighting.words[0],)), seen.get((sighting.words[-1],))]
    return all(part is not None and is_person(part) for part in parts)


def _is_plural(sighting: Sighting, seen: Mapping[Words, Sighting]) -> bool:
    """ "Bertrams", where somebody is called Bertram."""
    (word,) = sighting.words
    several = sighting.plural >= _PLURAL_SHARE * sighting.count and 20 * sighting.speaks < sighting.count
    return word[-1:] == "s" and (word[:-1],) in seen and several


class _Genders:
    """The gender of first names: by the lists where they say it, else by titles and by the pronouns that
    follow a name, against the share of "he" in the book."""

    def __init__(self, seen: Mapping[Words, Sighting]) -> None:
        self._votes: dict[str, Counter[str]] = defaultdict(Counter)
        everybody: Counter[str] = Counter()
        for words, sighting in seen.items():
            own = self._votes[words[0].lower()]
            for title, n in sighting.titles.items():
                votes = sighting.pronouns.get(title, Counter())
                everybody += votes
                before_first = len(words) > 1 or not title or title in _WITH_FIRST_NAMES
                if before_first and title not in honorifics.MARRIED:
                    own += votes
                    if gender := honorifics.honorific_gender(title):
                        own[gender] += _TITLE_VOTES * n
        share = (everybody["m"] + 1) / (everybody.total() + 2)
        self._he = min(max(share, _LEAST_HE), _MOST_HE)

    def of(self, first: str) -> str:
        """ "m", "f", or "" where neither is likely."""
        low = first.lower()
        if known := gender_of_first_name(low):
            return known
        votes = self._votes.get(low, Counter())
        n = votes.total()
        if n < _LEAST_VOTES:
            return ""
        surprise = (votes["m"] - n * self._he) / np.sqrt(n * self._he * (1 - self._he) + 1)
        if votes["m"] >= _MALE_SHARE * n and surprise > 0:
            return "m"
        return "f" if votes["f"] >= _FEMALE_SHARE * n and surprise < -1 else ""

    def likely(self, first: str) -> str:
        """ "m" or "f" where the pronouns behind a name are much likelier for one, else ""; for single pairs,
        of which other evidence is to be had."""
        votes = self._votes.get(first.lower(), Counter())
        lean = votes["m"] * np.log(_HE_OF_MEN / _HE_OF_WOMEN)
        lean += votes["f"] * np.log((1 - _HE_OF_MEN) / (1 - _HE_OF_WOMEN))
        return "" if abs(lean) < _LEAST_LEAN else "m" if lean > 0 else "f"


class _People:
    """The groups while they are joined."""

    def __init__(self, genders: _Genders, sentence: np.ndarray, scenes: Scenes) -> None:
        self._gender_of, self._likely_gender = genders.of, genders.likely
        self._sentence = sentence
        self._scenes = scenes
        self.full: list[Group] = []
        self.by_surname: dict[str, dict[str, Group]] = defaultdict(dict)
        self.by_first: dict[str, Group] = {}
        self.bare: dict[str, Group] = {}
        self.lone: list[Group] = []
        self.called: list[Group] = []
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
        his = wives if gender_of_first_name(words[0]) != "f" else 0
        if his:
            group = Group("", words[-1], WIFE)
            self._fill(group, sighting, {f"Mrs. {' '.join(words)}": his}, honorifics.MARRIED)
            group.husband = words[0]
            self.full.append(group)
        rest = sighting.count - his
        if not rest or not sure:
            return
        if his or sighting.times(_HIS) or self._gender_of(words[0]) == "m":
            role = MAN
        elif sighting.times(_WIVES):
            role = WIFE
        else:
            role = MISS if sighting.times(honorifics.FEMALE_HONORIFICS) else ANY
        group = Group(words[0], words[-1], role)
        left = set(sighting.titles) - (honorifics.MARRIED if his else frozenset())
        self._fill(group, sighting, {" ".join(words): rest}, left)
        titled = sighting.times(honorifics.BEFORE_SURNAMES) - his
        group.set_apart = rest >= _REGULAR and titled >= _SURE_SHARE * rest
        for known in self.full:
            if self._is_same_full_name(known, group):
                return known.take(group)
        self.full.append(group)

    @staticmethod
    def _is_same_full_name(a: Group, b: Group) -> bool:
        """ "Lizzy Bennet" and "Elizabeth Bennet"; "John Smith" and "John Henry Smith"."""
        if not a.first or a.last.lower() != b.last.lower() or {a.role, b.role} == {MAN, MISS}:
            return False
        knights = ("sir" in a.titles) != ("sir" in b.titles)
        # John and John-Henry of one surname are two, Elizabeth alone may be Elizabeth-Jane.
        alike = are_one_name(a.first, b.first) and ("-" in a.first) == ("-" in b.first)
        return a.first == b.first or (alike and not knights)

    def add_single(self, sighting: Sighting) -> None:
        """One word: a first name, or a surname with the titles of a man, a wife, a daughter."""
        (word,) = sighting.words
        titled = sighting.times(honorifics.HONORIFICS)
        is_first = self._is_first_name(word, sighting, titled)
        parts: dict[str, dict[str, int]] = defaultdict(dict)
        titles: dict[str, set[str]] = defaultdict(set)
        # The titles that set a man apart from the other bearers of his surname: Captain Tilney and General
        # Tilney are not Mr. Tilney.
        often = {title for title, n in sighting.titles.items() if n >= _RANKED}
        ranks = often & _RANKS if len(often & _RANKS) > 1 or often & _PLAIN else set()
        for title, n in sighting.titles.items():
            kind = title if title in ranks and not is_first else self._kind(title, is_first)
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
        firsts = sum(g.count for g in self.full if word in (g.first, g.husband, *g.other_firsts))
        lasts = sum(g.count for g in self.full if g.last == word)
        if word.lower() in lex.FIRST_NAMES:
            before_surnames = sighting.times(honorifics.BEFORE_SURNAMES)
            return firsts > lasts or (bool(firsts or not lasts) and 2 * before_surnames < sighting.count)
        return firsts > lasts + sighting.times(honorifics.BEFORE_SURNAMES - _WITH_FIRST_NAMES)

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
        # "Anna Sergievna" is Anna Sergievna Odintsov, "Colin Roy" is Colin Roy Campbell.
        for group in self.full:
            begins = f"{group.first} {group.last} "
            surnames = (g for g in self.full if g.last.lower() not in honorifics.NAME_SUFFIXES)
            longer = [g for g in surnames if any(name.startswith(begins) for name in g.names)]
            if len(longer) == 1 and longer[0] is not group:
                longer[0].take(group)
        # "Sir John" is Sir John Middleton rather than John Dashwood; "Sir Edmund" may be said in jest.
        for group in self.knights:
            titled = [g for g in self.full if g.first == group.first and "sir" in g.titles]
            alone = self.by_first.get(group.first)
            if titled:
                max(titled, key=lambda g: g.count).take(group)
            elif alone and (alone.count > 3 * group.count or self._evidence(alone, group) >= _HIMSELF):
                alone.take(group)
        # A first name alone means the one who bears it most often with a surname.
        for word, group in self.by_first.items():
            bearers = [g for g in self.full if g.first == word or word in g.other_firsts]
            # Beside Charles Hayter "Charles" is Charles Musgrove.
            others = [g for g in bearers if g.count >= _KNOWN and not self._are_two(g, group)]
            if bearers:
                max(others or bearers, key=lambda g: g.count).take(group)
        for group in self.full:
            misses = self._with_miss[group.first]
            if group.role == ANY and misses >= min(2, _MISS_SHARE * group.count) > 0:
                group.role = MISS
        # "Captain John" goes last: then it is known that John Mangles is called Captain Mangles.
        firsts = {g.first for g in self.full}
        for surname in sorted(self.by_surname, key=firsts.__contains__):
            self._join_surname(surname)
        # "Monsieur de Mazarin" is Cardinal Mazarin.
        for surname, kinds in self.by_surname.items():
            man, other = kinds.get(MAN), self._with_particle(surname).get(MAN)
            if man and other and other.names and not self._are_two(man := man.taken_by or man, other):
                man.take(other)
        self._join_bare()
        self._join_nicknames()
        # "The Colonel", and "Yes, Colonel", is Colonel Brandon where he is the only one.
        people = [*self.full, *(g for kinds in self.by_surname.values() for g in kinds.values())]
        for group in (*self.lone, *self.called):
            bearers = [g for g in people if g.names and group.last in g.titles]
            known = [g for g in bearers if g.count >= _HARDLY * group.count]
            if len(bearers) == 1 and not self._are_two(bearers[0], group):
                bearers[0].take(group)
            elif len(bearers) > 1 and known:
                group.names.clear()

    def _bearers(self, surname: str, kind: str, often: int) -> list[Group]:
        """Those with a full name who may be meant by a surname with the title of a man, wife, daughter."""
        bearers = [g for g in self.full if g.last == surname and g.names]
        if kind in _RANKS:
            return [g for g in bearers if kind in g.titles]
        if kind == MAN:
            him = self.by_surname[surname][MAN]
            apart = (g for g in bearers if g.set_apart and 2 * often >= 3 * g.count)
            # "Mr. Tracy Tupman" is Mr. Tupman, Mr. John Knightley is not Mr. Knightley.
            others = [g for g in apart if _SELDOM * g.count > often or self._evidence(g, him) < _HIMSELF]
            men = [g for g in bearers if g not in others]
            return [g for g in men if g.role == MAN or (g.role == ANY and self._gender_of(g.first) != "f")]
        women = [g for g in bearers if g.role in (WIFE, MISS) or self._gender_of(g.first) == "f"]
        return self._wives(women, surname, often) if kind == WIFE else self._girls(women, surname, often)

    def _girls(self, women: Sequence[Group], surname: str, often: int) -> list[Group]:
        """The woman whom "Miss" and a surname mean: no younger sister, who is called "Miss" with her first
        name, nor one who stands in one sentence with "Miss Bennet" more often than by chance."""
        times, her = self._with_miss, self.by_surname[surname][MISS]
        younger, girls = max(_YOUNGER, _YOUNGER_SHARE * often), [g for g in women if g.role != WIFE]
        # Jane Eyre has no sister, whatever the servants call her.
        only = len(girls) == 1 and not (self._stand_together(girls[0], her) or self._are_two(girls[0], her))
        eldest = [g for g in girls if only or times[g.first] < younger]

        def against(g: Group) -> float:
            shared, chance = self._shared(g, her)
            return (times[g.first] + 1) / (g.count + 5) * max(1, (shared + 1) / (chance + 1))

        return sorted(eldest, key=against)[:1]

    def _wives(self, women: Sequence[Group], surname: str, often: int) -> list[Group]:
        """The women whom "Mrs." and a surname may mean. Mrs. John Dashwood is called so because Mrs. Dashwood
        is somebody else; where a daughter is called "Miss Hale", the one who is not the daughter."""
        wives = [g for g in women if g.role == WIFE and (g.first or often <= 2 * g.count)]
        if wives:
            return wives
        kinds = self.by_surname[surname]
        her = kinds[WIFE]
        if "lady" in her.titles <= _PEERESSES:
            # Cassandra Otway is the daughter of Lady Otway.
            return []
        others = [g for g in women if g.role == ANY and not self._stand_together(g, her)]
        if MISS not in kinds:
            return others
        daughter = any(g.role == MISS for g in women)
        return others if daughter and len(others) == 1 and not self._with_miss[others[0].first] else []

    def _join_surname(self, surname: str) -> None:
        """The mother goes first: the others are daughters. If it cannot be said who she is, she is tried
        again when the eldest daughter is known."""
        kinds = self.by_surname[surname]
        for kind in (WIFE, *sorted(_RANKS & kinds.keys()), MAN, ANY, MISS, WIFE):
            group = kinds.get(kind)
            if group is None or not group.names:
                continue
            bearers = self._bearers(surname, kind, group.count)
            if len(bearers) > 1 and kind == WIFE:
                bearers = [max(bearers, key=lambda g: g.count)]
            elif len(bearers) > 1 and kind == MAN:
                bearers = self._elder(bearers, group)
            elif not bearers and kind == WIFE:
                # "Mrs. Lemuel" for "Mrs. Lemuel Struthers", "Mrs. Rachel" for Rachel Lynde.
                bearers = [g for g in self.full if g.husband == surname]
                if not bearers and gender_of_first_name(surname) == "f":
                    bearers = [g for g in self.full if g.first == surname]
            elif not bearers and kind == MAN:
                bearers = self._by_first_name(surname, group)
            if len(bearers) == 1 and not (kind in (MAN, WIFE) and self._are_two(bearers[0], group, kind)):
                bearers[0].take(group)
                if bearers[0].role == ANY and kind in (WIFE, MISS):
                    bearers[0].role = kind

    def _by_first_name(self, first: str, called: Group) -> list[Group]:
        """Whom "Mr. Ned" or, of a captain, "Captain Ned" means: Ned, mostly called that, if places agree."""
        men = [g for g in (*self.full, *self.by_first.values()) if g.names and g.first == first]
        man = max(men, key=lambda g: g.count, default=called)
        fits = called.titles <= _PLAIN | man.titles and man.count >= _FIRST_NAME * called.count
        return [man] if fits and self._evidence(man, called) >= 0 else []

    def _elder(self, men: Sequence[Group], called: Group) -> list[Group]:
        """Of several men the one whom a surname means: he is written with both names far more often than each
        other, whose brothers and sons go by their first names."""
        first, second, *_ = sorted(men, key=lambda g: -g.with_surname)
        least = max(_ELDER * second.with_surname, _ELDER_SHARE * called.count)
        return [first] if first.with_surname >= least and not self._stand_together(first, called) else []

    def _join_bare(self) -> None:
        """A bare surname is how men are called; a woman only if no man bears it."""
        for word, group in self.bare.items():
            kinds = self.by_surname.get(word) or self._with_particle(word)
            man = kinds.get(MAN)
            if man is not None and (man := man.taken_by or man).names:
                man.take(group)
                continue
            bearers = [g for g in self.full if g.last == word and g.names]
            men = [g for g in bearers if g.role == MAN or self._gender_of(g.first) == "m"]
            # "Peter Lygia" may be two names side by side: she is not Peter.
            rare = group.count > _HEROINE * sum(g.with_surname for g in men)
            chosen = [] if men and rare and self._likely_gender(word) == "f" else men or bearers
            titled = [g for g in kinds.values() if g.names]
            women = [g for g in titled if g.count > 3 * group.count]
            same = [g for g in titled if g.count < 2 * group.count and self._evidence(group, g) >= 0]
            if len(women) == 1 and women[0].count > _HEROINE * sum(g.count for g in chosen):
                women[0].take(group)
            elif chosen:
                max(chosen, key=lambda g: (g.with_surname, g.count)).take(group)
            elif len(same) == 1 and self._gender_of(word) == "f":
                # "Mademoiselle Mathilde" is Mathilde.
                group.take(same[0])
                group.first, group.last = word, ""
            elif word[-1:] == "y" and (man := self.by_surname.get(word[:-1], {}).get(MAN)) and man.names:
                # "Skaggsy" is Mr. Skaggs.
                man.take(group)

    def _with_particle(self, word: str) -> Mapping[str, Group]:
        """The bearers of "de Worms", where a book has "Worms", too."""
        longer = [kinds for surname, kinds in self.by_surname.items() if surname.endswith(f" {word}")]
        return longer[0] if len(longer) == 1 else {}

    def _join_nicknames(self) -> None:
        """ "Meg" is Margaret where there is one Margaret and no Meg with another surname."""
        first_names = [(g.first, g) for g in self.by_first.values() if g.names and not g.last]
        unknown = [
            (word, g) for word, g in self.bare.items() if g.names and not g.titles - lex.ADJECTIVES_OF_NAMES
        ]
        titled = (g for kinds in self.by_surname.values() for g in kinds.values())
        lords = [g for g in titled if g.titles & _PEERS]
        people = [*self.full, *self.by_first.values(), *lords]
        for nickname, group in sorted((*first_names, *unknown), key=lambda item: item[1].count):
            share = _NICKNAME_SHARE if group.first else _UNKNOWN_SHARE
            near = [g for g in people if g is not group and g.names and self._may_be_one(g, nickname)]
            near.sort(key=lambda g: -g.count)
            second = near[1].count if len(near) > 1 else 0
            if near and near[0].count >= 3 * second and not self._stand_together(near[0], group):
                # Lord Henry may be called Harry, but Lady Catherine is not Kitty Bennet, nor Sam Sambo.
                rare = near[0].count < share * group.count
                sure = group.first and _are_listed(near[0].first or near[0].last, nickname)
                usual = -np.inf if group.count < _REGULAR else _PET_LISTED if sure else _PET
                needed = _PET_OF_PEER if near[0].titles & _PEERS else _PET_RARE if rare else usual
                if self._evidence(near[0], group) >= needed:
                    near[0].take(group)

    def _may_be_one(self, g: Group, nickname: str) -> bool:
        """Whether somebody may have this nickname: one of his first names fits, and so does the gender."""
        firsts = {g.first or g.last, *g.other_firsts}
        genders = {self._gender_of(g.first or g.last), self._gender_of(nickname)}
        fits = any(are_one_name(first, nickname) for first in firsts - {""})
        return fits and genders != {"m", "f"}

    def _shared(self, a: Group, b: Group) -> tuple[int, float]:
        """Sentences in which the names of both stand, and how many there were by chance."""
        here, there = ({*self._sentence[g.places].tolist()} for g in (a, b))
        return len(here & there), len(here) * len(there) / (self._sentence[-1] + 1)

    def _stand_together(self, a: Group, b: Group) -> bool:
        """Whether two names stand in one sentence more than once in a while: then they are two people."""
        shared, by_chance = self._shared(a, b)
        fewer = min(len({*self._sentence[g.places].tolist()}) for g in (a, b))
        return shared > max(_ONCE, _TOGETHER * fewer, by_chance)

    def _are_two(self, one: Group, called: Group, kind: str = MAN) -> bool:
        """Whether the places say that "Mr. Vincy" is not Fred Vincy, the only man with that surname."""
        heroine = kind == WIFE and one.role != WIFE and one.count > _HEROINE * called.count
        least = _HEROINE_WEIGHT if heroine else _TWO_PEOPLE
        return self._evidence(one, called) < least

    def _evidence(self, *groups: Group) -> float:
        """What the places of two groups say for one person (`identity.evidence`)."""
        return evidence(*(self._scenes.traces((at, at) for at in g.places) for g in groups))

    def left(self) -> list[Group]:
        """All groups that have names, and that behave as persons."""
        singles: Iterable[Group] = (g for kinds in self.by_surname.values() for g in kinds.values())
        alone = (*self.by_first.values(), *self.bare.values(), *self.lone, *self.knights)
        return [g for g in (*self.full, *singles, *alone) if g.names and g.person > g.other]


def written(title: str) -> str:
    """A title as it is written in a name: "Mr.", "Captain"."""
    return f"{title.capitalize()}." if title in honorifics.ABBREVIATED else title.capitalize()


def are_one_name(a: str, b: str) -> bool:
    """Whether two first names may be one name and its nickname."""
    return are_spelt_alike(a, b) or _are_listed(a, b)


def _are_listed(a: str, b: str) -> bool:
    """Whether the list has one of two first names as a nickname of the other."""
    x, y = a.lower(), b.lower()
    return any(b in lex.NICKNAMES_IN_CASTS.get(a, "").split() for a, b in ((x, y), (y, x)))


def are_spelt_alike(a: str, b: str) -> bool:
    """Whether a first name is another cut short ("Phil", "Philip"; "Roxy", "Roxana"), or ends otherwise
    ("Nance", "Nancy")."""
    x, y = a.lower(), b.lower()
    short, long = sorted((x, y), key=len)
    pet = short not in lex.FIRST_NAMES and short.endswith(("y", "ey", "ie"))
    stems = (short, _without_ending(short) if pet else short)
    if any(3 <= len(stem) < len(long) and long.startswith(stem) for stem in stems):
        return True
    return _without_ending(x) == _without_ending(y)


def _without_ending(first: str) -> str:
    """ "Fannie", "Fanny", "Fan" and "Nance", "Nancy" without what may change at the end."""
    stem = re.sub("(ie|ey|y|e|i)$", "", first)
    if len(stem) > 3 and stem[-1] == stem[-2]:
        stem = stem[:-1]
    return stem if len(stem) >= 3 else first
