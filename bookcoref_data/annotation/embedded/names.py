"""Explicit mentions: which stretches of words are names of the cast, and of whom.

Every name is taken apart (titles, first names, surname), every way to say it becomes a `Form`, and the
book is searched for the longest forms. A form that fits several characters is settled by rank (a full
name beats a surname), by the gender of its title, by who was named last and by how often each is named.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cache, lru_cache, partial
from typing import NamedTuple

from ...words import calendar, honorifics, word_set
from ..cast import Cast, Entry, split_range
from . import lexicon as lex

FULL, ALIAS, TITLED, LAST_TITLED, NICK, FIRST, LAST, SHORT = range(8)
"""Ranks of forms: a lower one is a surer way to name a character."""
RULES = (
    "name", "alias", "title + name", "title + surname", "nickname", "first name", "surname", "short form",
)  # fmt: skip
RECENT_TOKENS = 1500
_WELL_KNOWN = 10
"""Least names of somebody from which it is told how the book calls him."""


@dataclass(slots=True)
class Person:
    """A cast entry taken apart; words are lower case. `gender` is "m", "f", "n", "group" or ""."""

    entry: Entry
    titles: tuple[str, ...]
    first: tuple[str, ...]
    last: str
    gender: str
    sure: bool
    group: bool = False
    common: bool = False

    @property
    def family(self) -> str:
        """The surname, also where only another name has it ("Anne; Anne Elliot", "Margaret; Miss Schlegel");
        "" where none is known."""
        if self.last or self.common:
            return self.last
        aliases = [name_words(split_range(alias)[0]) for alias in self.entry.aliases]
        for alias in aliases:
            words = [w for w in alias if w not in lex.TITLES]
            if len(words) > 1 and words[0] in self.first:
                return words[-1]
        # "Evie; Miss Wilcox; Mrs. Cahill": the name that she was born with.
        titled = [
            a for a in aliases if len(a) == 2 and a[0] in _SURNAME_TITLES and a[1] not in lex.FIRST_NAMES
        ]
        titled.sort(key=lambda a: a[0] in honorifics.MARRIED)
        return titled[0][1] if titled else ""

    @property
    def given(self) -> tuple[str, ...]:
        """The words of the first name: two in "Jean-Luc", which is no "Jean"."""
        hyphened = (tuple(word.split("-")) for word in self.entry.name.lower().split() if "-" in word)
        return next((words for words in hyphened if words == self.first[: len(words)]), self.first[:1])


class Hit(NamedTuple):
    """A form found in the text: tokens (both inclusive), the characters it may name, rank and title."""

    start: int
    end: int
    candidates: tuple[int, ...]
    rank: int
    title: str


@dataclass(slots=True)
class Word:
    """The words of a book that names are made of: lower-cased text, token index, capital or not."""

    text: list[str] = field(default_factory=list)
    token: array[int] = field(default_factory=partial(array, "l"))
    capital: list[bool] = field(default_factory=list)


def take_apart(entry: Entry) -> Person:
    """Titles, first names, surname and gender of one cast entry."""
    name = _without_praise(entry.name)
    words = name_words(name)
    group = entry.gender == "group" or _is_plural(words)
    common = words[:1] == ["the"] or is_anybody(name) or (words[:1] and name[:1].islower())
    body = words[1:] if words[:1] in (["the"], ["a"], ["an"]) else words
    titles, rest = _without_titles(body)
    gender, sure = _gender_of(titles, rest, entry)
    first, last = ((), "") if common else _first_and_last(titles, rest)
    return Person(entry, tuple(titles), first, last, "group" if group else gender, sure, group, bool(common))


def _without_praise(name: str) -> str:
    """A name without the words that describe its bearer: "old Cotter", "that scurrilous Gordon Hallock". "The
    Claytons" and "the Artful Dodger" are left as they are, as are "van Dam" and "aunt Shaw"."""
    words = name.split()
    said = next((n for n, word in enumerate(words) if not word[:1].islower()), len(words))
    proper = [word.strip(".,").lower() for word in words[said:]]
    whole = not said or not proper or not _PARTS.isdisjoint(words[:said]) or _is_plural(name_words(name))
    if whole or not all(word[:1].isupper() for word in words[said:]):
        return name
    named = proper[0] in lex.FIRST_NAMES or (proper[0] in lex.TITLES and len(proper) > 1)
    bare = words[0] not in _DETERMINERS and proper[-1] not in lex.TITLES | lex.PERSON_NOUNS
    return " ".join(words[said:]) if named or bare else name


def is_anybody(name: str) -> bool:
    """Whether a name is a description with "a": "A Student", "An Old Man", but not "A. J. Hill"."""
    first, _, rest = name.strip().partition(" ")
    return first.lower() in ("a", "an") and bool(rest)


def _without_titles(words: list[str]) -> tuple[list[str], list[str]]:
    """The titles before a name, and the name without them and without "junior"."""
    titles, rest = [], list(words)
    while rest and rest[0] in lex.TITLES and len(rest) > 1:
        titles.append(rest.pop(0))
    while len(rest) > 1 and rest[-1] in honorifics.NAME_SUFFIXES:
        rest.pop()
    return titles, rest


def _first_and_last(titles: list[str], rest: list[str]) -> tuple[tuple[str, ...], str]:
    """First names and surname of a name without its titles."""
    if rest[:1] == ["of"]:
        # Wellington is a man, Hearts and St. Andrews are not.
        landed = len(rest) == 2 and bool(titles) and titles[-1] in _CALLED_BY_THEIR_LAND
        return (), rest[-1] if landed else ""
    if len(rest) == 1 and not any(t in _SURNAME_TITLES for t in titles):
        return tuple(rest), ""
    first, last = tuple(rest[:-1]), rest[-1] if rest else ""
    while first and first[-1] in lex.PARTICLES:
        last = f"{first[-1]} {last}"
        first = first[:-1]
    return first, last


_CALLED_BY_THEIR_LAND = lex.words("CALLED_BY_THEIR_LAND")
WITHOUT_SURNAME = word_set("king queen prince princess emperor empress czar tsar sultan pope")
_NOT_BEFORE_FIRST_NAMES = frozenset(["mr", "mrs", "mister", "dr"])
_SURNAME_TITLES = honorifics.MARRIED | honorifics.UNMARRIED | honorifics.BEFORE_SURNAMES
_IRREGULAR = word_set("sheep people men women children mice geese oxen cattle folk fish deer police")


def _is_plural(words: list[str]) -> bool:
    if len(words) < 2:
        return False
    if "and" in words:
        return True
    if words[0] == "the" and words[-1] in _IRREGULAR:
        return True
    return words[0] == "the" and words[-1].endswith("s") and not words[-1].endswith(("ss", "us", "'s"))


def gender_of_first_name(name: str) -> str:
    """ "m" or "f" where a first name is one of the two only, else ""."""
    low = name.lower()
    male, female = low in lex.MALE_FIRST, low in lex.FEMALE_FIRST
    return "" if male == female else "m" if male else "f"


def _gender_of(titles: Sequence[str], rest: Sequence[str], entry: Entry) -> tuple[str, bool]:
    """(gender, whether it is certain): a hint or a title is, a first name is a guess."""
    if entry.gender in ("m", "f", "n"):
        return entry.gender, True
    for title in titles:
        if gender := honorifics.honorific_gender(title):
            return gender, True
    for word in rest:
        if word in lex.MALE_NOUNS:
            return "m", True
        if word in lex.FEMALE_NOUNS:
            return "f", True
    if rest and (gender := gender_of_first_name(rest[0])):
        return gender, False
    if any(t in honorifics.OFFICES for t in titles):
        return "m", False
    return "", False


def gender_by_aliases(person: Person) -> str:
    """The gender of a character; where the name tells none, that of titles, else of first names, of aliases
    that agree: "f" of "Aoife Kelly; Miss Kelly", "" of "Kelly; Mr. Kelly; Miss Kelly"."""
    forms = [split_range(a)[0] for a in person.entry.aliases if "'s " not in a.replace("’", "'")]
    apart = [_without_titles(name_words(_without_praise(form))) for form in forms]
    told = {honorifics.honorific_gender(title) for titles, _ in apart for title in titles} - {""}
    told = told or {gender_of_first_name(words[0]) for _, words in apart if words} - {""}
    return person.gender or (told.pop() if len(told) == 1 else "")


_DETERMINERS = word_set("the a an this that these those my your his her its our their")
_PRAISE = frozenset(["old", "young", "poor", "little", "dear"])
_JOINING_WORDS = word_set("of the and a an de du des la le van von der den")
_NOT_NAMES = calendar.CALENDAR | lex.words("NOT_NAMES")


def _stands_alone(words: Word, at: int) -> bool:
    """Whether a word stands as in "the Queen": behind "the", and not before "of Spain" or a name."""
    after = words.text[at + 1] if at + 1 < len(words.text) else ""
    named = bool(after) and words.capital[at + 1] and words.token[at + 1] == words.token[at] + 1
    return at > 0 and words.text[at - 1] == "the" and after != "of" and not named


def _short_words(person: Person) -> list[str]:
    """The noun by which somebody with a longer description is called: "queen" for "Queen of Hearts", "hatter"
    for "The Mad Hatter"."""
    words = [w for w in name_words(person.entry.name) if w not in ("the", "a", "an")]
    if person.group or len(words) < 2 or "and" in words:
        return []
    joins = _AFTER_THE_NOUN if person.common else frozenset(["of"])
    end = next((n for n, word in enumerate(words) if n and word in joins), len(words))
    noun = words[end - 1]
    if noun in _ANYBODY or not (person.common or end < len(words)):
        return []
    known = noun in lex.TITLES or noun in lex.PERSON_NOUNS
    return [noun] if known or (end == len(words) and noun.isalpha()) else []


def _is_only_a_noun(person: Person, alias: Sequence[str]) -> bool:
    """Whether an alias is the mere noun of a longer description: not every "man" is "The Man in the Moon"."""
    noun = alias[-1]
    return (
        person.common and len(alias) == 2 and noun in _ANYBODY and noun in name_words(person.entry.name)[:-1]
    )


_AFTER_THE_NOUN = frozenset(["of", "at", "in", "with", "from", "on", "who", "to", "that", "for"])
"""Words with which a description goes on behind its noun: "The Jailer at the Trial"."""
_PARTS = (_AFTER_THE_NOUN | lex.PARTICLES | lex.PERSON_NOUNS | lex.TITLES) - _PRAISE - _DETERMINERS
"""Small words before a name that belong to it."""
_ANYBODY = lex.CHILDREN | lex.GROWN | frozenset(["fellow", "person"])
"""Nouns that are said of too many people to be the short form of a description."""
_MARRIED = frozenset(["husband", "wife", "widow", "widower"])


def nouns_for_names(people: Sequence[Person], named: Collection[int]) -> dict[str, int]:
    """Noun -> the one of the cast who is called "The Lad" or "The Man" and has no name in the book.

    `named` are those who have one. The book may say "the lad" of others, too: the reader decides.
    """
    found: dict[str, int] = {}
    for character, person in enumerate(people):
        for name in (person.entry.name, *person.entry.aliases) if character not in named else ():
            words = name.lower().split()
            noun = bare_noun(words)
            if noun and not _is_only_a_noun(person, words):
                found.setdefault(noun, character)
    return found


def bare_noun(words: Sequence[str]) -> str:
    """The noun of "the lad" (lower case) where it is said of too many people to be a name, else ""."""
    return words[1] if len(words) == 2 and words[0] == "the" and words[1] in _ANYBODY - _MARRIED else ""


def nicknames_of(person: Person) -> tuple[str, ...]:
    """Other forms of somebody's first name, shorter and longer ones."""
    return _nicknames(person.first[0]) if person.first else ()


@cache
def _nicknames(first: str) -> tuple[str, ...]:
    # A cast that says "Lizzy" may meet "Elizabeth" in the text, if only few long names fit.
    long = [name for name, nicks in lex.NICKNAMES.items() if first in nicks.split()]
    return (*lex.NICKNAMES.get(first, "").split(), *(long if len(long) <= _FEW_LONG_NAMES else ()))


_FEW_LONG_NAMES = 3
_BLANKS = str.maketrans(dict.fromkeys(",()-", " "))


def name_words(name: str) -> list[str]:
    """The words of a name as they are compared: lower case, no points, straight apostrophes."""
    return [*_name_words(name)]


@lru_cache(maxsize=1 << 15)
def _name_words(name: str) -> tuple[str, ...]:
    cleaned = name.replace("’", "'").translate(_BLANKS)
    return tuple(w for w in (part.strip("._\"“”‘'`«»„").lower() for part in cleaned.split()) if w)


@lru_cache(maxsize=1)
def book_words(tokens: tuple[str, ...]) -> Word:
    """The words of the book that can be part of a name, without line ends and the points of titles. Those of
    the last book are kept: eight places ask for them while it is annotated. Do not change them."""
    words = Word()
    last = ""
    # One object for each word: a novel has fifty times as many.
    same: dict[str, str] = {}
    for i, token in enumerate(tokens):
        if token in ("\n", "_"):
            continue
        if token == "." and last in honorifics.ABBREVIATED:
            last = ""
            continue
        if token == "-" and last.isalpha() and tokens[i + 1 : i + 2] and tokens[i + 1][0].isalpha():
            continue
        # "Jean-Luc" is one token in some books and three in others.
        for bare in token.strip("_").split("-") if _HYPHENED(token) else (token.strip("_"),):
            last = bare.rstrip(".").replace("’", "'").lower() if len(bare) > 1 else bare.lower()
            words.text.append(same.setdefault(last, last))
            words.token.append(i)
            words.capital.append(bare[:1].isupper() or bool(_ELIDED(bare)))
    return words


_ELIDED = re.compile(r"[^\W\d_]{1,2}['’][A-Z\u00c0-\u00de]").match
"""The d' of "d'Artagnan" is small but where a sentence begins."""
_HYPHENED = re.compile(r"[^\W\d_]+(-[^\W\d_]+)+").fullmatch


def is_another_woman(titles: Set[str], own: Set[str]) -> bool:
    """Whether titles are another woman's of the same surname: Mrs. Price is not Miss Price. `own` are all the
    words of her names."""
    married, unmarried = honorifics.MARRIED, honorifics.UNMARRIED
    pairs = ((married, unmarried), (unmarried, married))
    return any(titles & these and own & those and not own & these for these, those in pairs)


def _telling_words(person: Person) -> set[str]:
    """Words of which every form of somebody has one, apart from the short ones ("the Queen")."""
    told = {*person.first, *person.last.split(), *nicknames_of(person)}
    for name in (person.entry.name, *person.entry.aliases):
        words = name_words(split_range(name)[0])
        told.update({*_without_titles(words)[1]} - _JOINING_WORDS or words)
    return told


@lru_cache(maxsize=2)
def learned_table(cast: Cast, tokens: tuple[str, ...]) -> tuple[NameTable, tuple[str, ...]]:
    """The names of a cast with what a book adds to them (`NameTable.learn`), and notes on that. The last ones
    are kept: four places ask for them while a book is annotated. Do not change them."""
    table = NameTable(cast, book_words(tokens))
    return table, tuple(table.learn(book_words(tokens)))


class NameTable:
    """All forms of a cast. `find` searches a book; `settle` decides between characters of one form.

    Where the `words` of the book are given, people of whose names it has no word have no forms: most of a
    long cast costs nothing then.
    """

    def __init__(self, cast: Cast, words: Word | None = None) -> None:
        self.people = [take_apart(e) for e in cast.entries]
        everybody = range(len(self.people))
        said = {*words.text} if words else set()
        self._here = [i for i in everybody if not words or said & _telling_words(self.people[i])]
        self._build()

    def _build(self) -> None:
        self.forms: dict[tuple[str, ...], dict[int, int]] = defaultdict(dict)
        self.placed: dict[tuple[str, ...], list[tuple[int, int, int]]] = defaultdict(list)
        self.lower: set[tuple[str, ...]] = set()
        for i, person in ((i, self.people[i]) for i in self._here):
            for words, rank in self._forms_of(person):
                self._add(words, i, rank)
            for alias in person.entry.aliases:
                alias, places = split_range(alias)
                words = name_words(alias)
                if places.startswith("@"):
                    first, _, last = places[1:].partition("-")
                    self.placed[tuple(words)].append((int(first), int(last), i))
                    continue
                if _is_only_a_noun(person, words):
                    continue
                self._add(words, i, ALIAS)
                if words[:1] in (["the"], ["a"]) or alias[:1].islower():
                    self.lower.add(tuple(words))
        self._add_short_forms()
        self._prune()
        by_length: dict[str, set[int]] = defaultdict(set)
        for form in (*self.forms, *self.placed):
            by_length[form[0]].add(len(form))
        self.lengths = {word: sorted(sizes, reverse=True) for word, sizes in by_length.items()}

    def _add_short_forms(self) -> None:
        """ "The Queen" for "Queen of Hearts", "the Hatter" for "The Mad Hatter": where one of the cast only
        can be called so, and nobody by a surer form."""
        bearers: dict[str, set[int]] = defaultdict(set)
        for i, person in enumerate(self.people):
            for word in {*person.titles, *_short_words(person)}:
                bearers[word].add(i)
        for i, person in enumerate(self.people):
            for word in _short_words(person):
                if bearers[word] == {i} and (word,) not in self.forms:
                    self._add([word], i, SHORT)
                    self.lower.update({(word,)} if person.common else ())

    def _add(self, words: Sequence[str], character: int, rank: int) -> None:
        form = tuple(words)
        # "Bishop of St. Andrews" is not called "of".
        if not all(word in _JOINING_WORDS for word in form):
            known = self.forms[form]
            known[character] = min(rank, known.get(character, 99))

    def _forms_of(self, p: Person) -> Iterator[tuple[Sequence[str], int]]:
        """(words, rank) of every way to say a name."""
        words = name_words(p.entry.name)
        if is_anybody(p.entry.name) and len(words) == 2 and words[1] in _ANYBODY:
            # Not every "man" is "A Man" of the cast.
            return
        yield words, FULL
        if p.common:
            body = tuple(words[1:] if words[0] in ("the", "a", "an") else words)
            self.lower.update({tuple(words), body})
            yield body, ALIAS
        elif "and" not in words:
            titles = {*p.titles, *self._courtesy(p)}
            if p.first and p.last:
                yield [*p.first, *p.last.split()], FULL
                yield [*p.given, *p.last.split()], FULL
            yield from self._titled_forms(p, titles)
            yield from self._nick_forms(p, titles & (honorifics.UNMARRIED | {"sir"}))
            yield from self._bare_forms(p)

    @staticmethod
    def _titled_forms(p: Person, titles: Iterable[str]) -> Iterator[tuple[Sequence[str], int]]:
        """ "Miss Bennet", "Miss Jane Bennet", "Miss Jane"."""
        first, last = list(p.first), p.last.split()
        for title in titles:
            if last:
                yield [title, *last], LAST_TITLED if title not in p.titles or first else TITLED
            if first and last:
                yield [title, *first, *last], FULL
                yield [title, *p.given, *last], FULL
            if first and (title not in _NOT_BEFORE_FIRST_NAMES or not last):
                yield [title, *p.given], TITLED

    def _nick_forms(self, p: Person, titles: Iterable[str]) -> Iterator[tuple[Sequence[str], int]]:
        """ "Lizzy", "Lizzy Bennet", "Miss Lizzy". Other first names that the cast gives ("Eliza") are as sure
        as the name itself, nicknames are not."""
        first, last = list(p.first), p.last.split()
        own = [a for a in map(str.lower, p.entry.aliases) if first and last and a.isalpha() and a not in last]
        for nick, rank in [*((a, ALIAS) for a in own), *((n, NICK) for n in nicknames_of(p))]:
            yield [nick], rank
            if last:
                yield [nick, *last], rank
            for title in titles:
                yield [title, nick], rank
                if last:
                    yield [title, nick, *last], rank

    @staticmethod
    def _bare_forms(p: Person) -> Iterator[tuple[Sequence[str], int]]:
        """ "Jane", "Knightley"."""
        first, last = list(p.first), p.last.split()
        if first:
            yield p.given, FIRST
        if len(first) > 1:
            yield first, FIRST
            for word in first[1:]:
                if len(word) > 2:
                    yield [word], LAST
        if len(p.given) > 1:
            # "Elizabeth" may be Elizabeth-Jane, where nobody else of the cast is.
            yield first[:1], NICK
        # A woman is hardly ever called by her bare surname in these books; it means a man of her family.
        woman = (p.gender == "f" and p.titles) or set(p.titles) & honorifics.FEMALE_HONORIFICS
        if woman and not first and gender_of_first_name(p.last) == "f":
            # "Miss Jemima" is Jemima.
            yield last, FIRST
        if last and not woman:
            yield last, LAST
            if len(last) > 1 and len(last[-1]) > 3:
                yield last[-1:], LAST

    @staticmethod
    def _courtesy(p: Person) -> tuple[str, ...]:
        """Titles that anyone of that gender may be given, though the cast does not say so."""
        male = ("mr", "mister", "master", "monsieur", "uncle", "old", "young")
        female: tuple[str, ...] = ("miss", "mrs", "madame", "aunt", "mademoiselle", "lady")
        names = (p.entry.name, *p.entry.aliases)
        given = {*p.titles}.union(*(name_words(name)[:1] for name in names))
        if given & honorifics.MARRIED:
            female = ("mrs", "madame", "aunt")
        elif given & honorifics.UNMARRIED:
            female = ("miss", "mademoiselle", "aunt")
        by_gender: dict[str, tuple[str, ...]] = {"m": male, "f": female}
        return by_gender.get(p.gender, (*male, *female))

    def learn(self, words: Word) -> list[str]:
        """Take surnames and first names that the cast does not give from the book itself.

        "Gabriel Oak" teaches the surname of a cast entry "Gabriel", "George Wickham" the first name of
        "Mr. Wickham", when the book says it more than once or nothing else follows. A nickname teaches
        nothing where the name itself occurs: Eliza Michelson is not the Elizabeth of the cast. Returns notes.
        """
        lasts: dict[int, Counter[str]] = defaultdict(Counter)
        by_nickname: dict[int, Counter[str]] = defaultdict(Counter)
        firsts: dict[int, Counter[str]] = defaultdict(Counter)
        named: set[int] = set()
        for at, word in enumerate(words.text):
            known = self.forms.get((word,))
            if not known or len(known) > 1 or not words.capital[at]:
                continue
            who, rank = next(iter(known.items()))
            if rank not in (LAST, NICK):
                named.add(who)
            if rank != LAST and (name := self._surname_after(words, at, self.people[who])):
                (by_nickname if rank == NICK else lasts)[who][name] += 1
            if name := self._first_name_before(words, at, self.people[who]):
                firsts[who][name] += 1
        lasts |= {who: counts for who, counts in by_nickname.items() if who not in named}
        surnames = self._learned(lasts, "last")
        notes = surnames + self._learned(firsts, "first")
        if notes:
            self._build()
        return notes

    @staticmethod
    def _surname_after(words: Word, at: int, p: Person) -> str:
        """The surname that follows the name at a place, "" where none does."""
        crowned = not WITHOUT_SURNAME.isdisjoint(p.titles)
        if p.last or p.common or crowned or at + 1 >= len(words.text) or not words.capital[at + 1]:
            return ""
        name = words.text[at + 1]
        joined = words.token[at + 1] == words.token[at] + 1
        namelike = name.isalpha() and len(name) > 2 and name not in _NOT_NAMES and name not in lex.TITLES
        return name if joined and namelike and name not in lex.FIRST_NAMES else ""

    @staticmethod
    def _first_name_before(words: Word, at: int, p: Person) -> str:
        """The first name before a surname at a place, "" where there is none or of the other gender."""
        name = words.text[at - 1] if at and words.capital[at - 1] else ""
        if name not in lex.FIRST_NAMES or p.first or p.last != words.text[at]:
            return ""
        fits = {"": True, "m": name in lex.MALE_FIRST, "f": name in lex.FEMALE_FIRST}
        return name if fits.get(p.gender, False) else ""

    def _learned(self, found: Mapping[int, Counter[str]], part: str) -> list[str]:
        """Give everybody the first name or surname that was found most, if it was found often; notes."""
        notes = []
        for who, counts in found.items():
            (word, count), *rest = counts.most_common(2)
            least = 2 * rest[0][1] + 1 if rest else 2
            if count < least or (part == "first" and (word,) in self.forms):
                continue
            p = self.people[who]
            if part == "last":
                p.last = word
            else:
                p.first = (word,)
            kind = {"last": "surname", "first": "first name"}[part]
            notes.append(f"{p.entry.name}: {kind} {word.title()} learned")
        return notes

    def _prune(self) -> None:
        """A form keeps only its characters of best rank class; guesses give way to what the cast says."""
        for form, ranks in self.forms.items():
            best = min(ranks.values())
            if best <= ALIAS:
                keep = {c: r for c, r in ranks.items() if r <= ALIAS}
            elif any(r != NICK for r in ranks.values()):
                keep = {c: r for c, r in ranks.items() if r != NICK}
            else:
                keep = ranks
            self.forms[form] = keep

    def find(self, words: Word) -> list[Hit]:
        """The longest forms, left to right, without overlap."""
        hits: list[Hit] = []
        text, size = words.text, len(words.text)
        at = 0
        while at < size:
            lengths = self.lengths.get(text[at])
            hit = self._match(words, at, lengths) if lengths else None
            if hit is None:
                at += 1
                continue
            found, length = hit
            if text[at] == "the" and length > 1:
                further = self._match(words, at + 1, self.lengths.get(text[at + 1], []))
                if further and further[1] >= length:
                    # "The Elder" is a name, but here it is "the Elder Semple".
                    at += 1
                    continue
            hits.append(found)
            at += length
        return hits

    def _match(self, words: Word, at: int, lengths: list[int]) -> tuple[Hit, int] | None:
        for length in lengths:
            form = tuple(words.text[at : at + length])
            placed = self.placed.get(form, ())
            here = {who: ALIAS for first, last, who in placed if first <= words.token[at] <= last}
            ranks = here or self.forms.get(form)
            if not ranks or len(form) < length:
                continue
            capital = all(
                words.capital[at + k]
                for k, word in enumerate(form)
                if word not in lex.PARTICLES and word != "and" and word not in _PRAISE
            )
            if not capital and form not in self.lower:
                continue
            if words.token[at + length - 1] - words.token[at] > 3 * length:
                continue
            if min(ranks.values()) == SHORT and not _stands_alone(words, at):
                continue
            title = form[0] if form[0] in lex.TITLES and length > 1 else ""
            end = words.token[at + length - 1]
            return Hit(words.token[at], end, tuple(ranks), min(ranks.values()), title), length
        return None

    def rank(self, words: tuple[str, ...], character: int) -> int:
        return self.forms.get(words, {}).get(character, LAST)

    def settle(self, hits: list[Hit]) -> list[tuple[int, str]]:
        """(character, rule) for every hit; -1 where it cannot be said who is meant."""
        eldest, familiar = self._eldest(hits), self._familiar(hits)
        sure: dict[int, list[int]] = defaultdict(list)
        counts: Counter[int] = Counter()
        for hit in hits:
            if len(hit.candidates) == 1:
                sure[hit.candidates[0]].append(hit.start)
                counts[hit.candidates[0]] += 1
        return [self._decide(hit, sure, counts, eldest, familiar) for hit in hits]

    def _decide(
        self, hit: Hit, sure: Mapping[int, list[int]], counts: Mapping[int, int], eldest: set[int],
        familiar: set[int],
    ) -> tuple[int, str]:  # fmt: skip
        """The character whom a form means, and the rule that says so."""
        rule = RULES[hit.rank]
        if len(hit.candidates) == 1:
            return hit.candidates[0], rule
        choices = self._narrowed(hit)
        if hit.title in honorifics.UNMARRIED and hit.rank == LAST_TITLED:
            known = [c for c in choices if c in eldest]
            if known:
                return known[0], f"{rule}, eldest daughter"
        if hit.rank == LAST_TITLED and hit.title not in honorifics.FEMALE_HONORIFICS:
            choices = [c for c in choices if c not in familiar] or choices
        if len(choices) == 1:
            return choices[0], f"{rule}, by title"
        recent = [(self._last_before(sure.get(c, []), hit.start), c) for c in choices]
        when, who = max(recent)
        if when >= 0 and hit.start - when <= RECENT_TOKENS:
            return who, f"{rule}, named last"
        best = max(choices, key=lambda c: (counts.get(c, 0), -c))
        return best, f"{rule}, named most"

    def _narrowed(self, hit: Hit) -> list[int]:
        """The characters of a form whom its title fits; all where it fits nobody."""
        choices = list(hit.candidates)
        gender = honorifics.honorific_gender(hit.title)
        if gender:
            choices = self._preferred(choices, lambda p: p.gender in (gender, ""))
        if hit.title in honorifics.UNMARRIED:
            return self._preferred(choices, lambda p: not set(p.titles) & honorifics.MARRIED)
        if hit.title in honorifics.MARRIED:
            return self._preferred(choices, lambda p: bool(set(p.titles) & honorifics.MARRIED))
        if hit.title:
            return self._preferred(choices, lambda p: hit.title in p.titles)
        return self._men_of(choices) if hit.rank == LAST else choices

    def _preferred(self, choices: list[int], fits: Callable[[Person], bool]) -> list[int]:
        return [c for c in choices if fits(self.people[c])] or choices

    def _men_of(self, choices: list[int]) -> list[int]:
        """A bare surname is how men are called; a woman only if no man bears it."""
        men = [c for c in choices if self.people[c].gender == "m"]
        bare = [c for c in men if not self.people[c].first or self.people[c].titles]
        return bare if len(bare) == 1 else men or choices

    @staticmethod
    def _last_before(places: list[int], at: int) -> int:
        i = bisect_left(places, at)
        return places[i - 1] if i else -1

    def _familiar(self, hits: list[Hit]) -> set[int]:
        """Whom the book mostly calls by a first name alone: Dave, whose uncle is "Mr. Porter"."""
        named, alone = Counter[int](), Counter[int]()
        for hit in hits:
            if len(hit.candidates) == 1:
                named[hit.candidates[0]] += 1
                alone[hit.candidates[0]] += hit.rank in (NICK, FIRST) and not hit.title
        return {c for c, times in named.items() if times >= _WELL_KNOWN and alone[c] > times / 2}

    def _eldest(self, hits: list[Hit]) -> set[int]:
        """Among unmarried women of one surname, the one whom "Miss" + surname means.

        The eldest daughter is "Miss Bennet", her sisters are "Miss Elizabeth" and "Miss Mary": of those
        who are named at all, she is the one whose first name follows "Miss" most rarely.
        """
        families: dict[str, list[int]] = defaultdict(list)
        for i, p in enumerate(self.people):
            if p.last and p.gender in ("f", "") and not set(p.titles) & honorifics.MARRIED:
                families[p.last].append(i)
        named: Counter[int] = Counter()
        with_miss: Counter[int] = Counter()
        for hit in hits:
            if len(hit.candidates) == 1:
                c = hit.candidates[0]
                named[c] += 1
                with_miss[c] += hit.title in honorifics.UNMARRIED and hit.rank != LAST_TITLED
        chosen = set()
        for members in families.values():
            spoken = [c for c in members if named[c]]
            if len(spoken) > 1:
                chosen.add(min(spoken, key=lambda c: ((with_miss[c] + 0.5) / (named[c] + 2), -named[c])))
        return chosen
