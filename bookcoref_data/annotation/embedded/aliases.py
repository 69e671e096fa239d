"""Names of the cast that the cast does not give: which other names of the book mean one of its characters.

The names of the book are joined as for `--propose-cast` (`grouping.py`). A group of names of one person that
has a name of the cast teaches the other names of the group. Whom the cast only describes may learn his name
from where it stands.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import NamedTuple

from ...books import Book
from ...words import honorifics, word_set
from ..cast import Cast, Entry
from ..grouping import LEAST_EPITHETS, Group, group_names, somebody, written
from ..identity import Scenes, Somebody, Span, Traces, bearers, of_the_cast
from ..sightings import name_runs
from . import lexicon as lex
from .linking import link_hits
from .names import (
    ALIAS,
    LAST_TITLED,
    WITHOUT_SURNAME,
    NameTable,
    Person,
    Word,
    book_words,
    gender_of_first_name,
    is_another_woman,
    learned_table,
    name_words,
    nicknames_of,
    take_apart,
)
from .parsing import Parse
from .phrases import find_callings, living

_KnownNames = dict[int, Counter[str]]
"""Character -> his names, with the times that they occur."""
_ALIKE = 0.75
"""Least likeness of two spellings of a first name: "Charly" and "Charley"."""
_MISSPELT, _LONG = 0.8, 5
"""The same for words of a name of which the book has only the other, and their least length."""
_WHY = ", from where the names stand"
_SERVANTS = {living(word) for word in lex.words("SERVANTS")}
"""Who is called so has the name himself: "James, the coachman", is not his master."""
_OFTEN = 20
"""Times that somebody must be named to be surely in a cast that has nearly everybody."""
_CLEAR = 2
"""Times more often that a group must be called by names of one character than by those of any other."""


@dataclass(frozen=True, slots=True)
class Learned:
    """The cast with the names that the book gives its characters beside those of the cast; notes on them; all
    names of the book, by person; and the scenes in which they were looked up."""

    cast: Cast
    notes: tuple[str, ...]
    groups: tuple[Group, ...]
    scenes: Scenes

    def with_names(self, found: _KnownNames, why: str) -> Learned:
        """With more names by character, most frequent first; `why` goes into the notes."""
        entries, notes = list(self.cast.entries), []
        for who, counts in found.items():
            names = [name for name, _ in counts.most_common()]
            entries[who] = replace(entries[who], aliases=(*entries[who].aliases, *names))
            notes.append(f"{entries[who].name}: also called {', '.join(names)}{why}")
        return replace(self, cast=replace(self.cast, entries=tuple(entries)), notes=(*self.notes, *notes))


def learn_aliases(book: Book, cast: Cast, parse: Parse) -> Learned:
    """Give the characters of a cast the names that the book joins with theirs."""
    words = book_words(book.tokens)
    scenes = Scenes(book, parse)
    groups = group_names(book, parse, scenes)
    known = Learned(cast, (), tuple(groups), scenes)
    known = known.with_names(_spelt_otherwise(cast, words), ", as the book spells it")
    table, _ = learned_table(known.cast, book.tokens)
    by_words: _KnownNames = defaultdict(Counter)
    by_places: _KnownNames = defaultdict(Counter)
    refused: dict[int, dict[str, str]] = defaultdict(dict)
    owners = {id(group): _owner(group, table) for group in groups}
    named: Counter[int] = Counter()
    for group in groups:
        named[owners[id(group)]] += group.count
    for group in groups:
        who = owners[id(group)]
        if who >= 0 and not _has_another_first_name(group, table.people[who]):
            own = {name for name in group.names if who in _known(name, table)}
            new = _new_names(group, who, table) | _names_that_tell(group, who, groups, table)
            doubts = _doubts(new, group, who, named, table)
            refused[who].update(doubts)
            for name in (n for n in new if n not in doubts):
                shares_words = any((name in group.by_places) == (other in group.by_places) for other in own)
                (by_words if shares_words else by_places)[who][name] = new[name]
    known = known.with_names(by_words, "").with_names(by_places, _WHY)
    known = known.with_names(_names_of_the_described(book, known, parse), _WHY)
    entries = known.cast.entries
    notes = (
        f"{entries[who].name}: names not used: {', '.join(f'{n} ({why})' for n, why in names.items())}"
        for who, names in refused.items() if names
    )  # fmt: skip
    return replace(known, notes=(*known.notes, *notes))


def _names_of_the_described(book: Book, known: Learned, parse: Parse) -> _KnownNames:
    """Names of those whom the cast only describes ("The Invisible Man" is Griffin): a description is weighed
    by its places against names that nobody of the cast has, as an epithet of the book is."""
    described = {who for who, entry in enumerate(known.cast.entries) if _is_only_described(entry)}
    if not described:
        return {}
    table = NameTable(known.cast, book_words(book.tokens))
    free = [g for g in known.groups if g.names and g.has_name and not any(_known(n, table) for n in g.names)]
    places = _places_of(described, book, table, parse)
    places = {who: spans for who, spans in places.items() if len(spans) >= LEAST_EPITHETS}
    if not places or not free:
        return {}
    ends = dict(name_runs(book, parse))

    def nameless(gender: str, spans: list[Span]) -> Somebody:
        return Somebody(frozenset(), "", gender, len(spans), known.scenes.traces(spans))

    epithets = [nameless(_sure_gender(table.people[who]), spans) for who, spans in places.items()]
    people = [nameless(g.gender_of_titles, [(at, ends.get(at, at)) for at in g.places]) for g in free]
    found = [(list(places)[pair.one], free[pair.other]) for pair in bearers(epithets, people)]
    times = Counter(id(group) for _, group in found)
    return {who: Counter(group.names) for who, group in found if times[id(group)] == 1}


def name_the_missing(book: Book, known: Learned, parse: Parse) -> Learned:
    """With names of those whom the book names often, and whom the cast must have by a rarer name: "Cynthia
    Hart" is its "Miss Hart", "Dr. Kemp" its "The Doctor". Only where the cast has most of those who are named
    often: then everybody of them is likely in it."""
    table = NameTable(known.cast, book_words(book.tokens))
    table.learn(book_words(book.tokens))
    often = [g for g in known.groups if g.count >= _OFTEN]
    free = [g for g in often if g.has_name and _owner(g, table) < 0]
    if not free or 2 * sum(g.count for g in free) > sum(g.count for g in often):
        return known
    ends = dict(name_runs(book, parse))
    spans = ((at, ends.get(at, at), n) for n, group in enumerate(free) for at in group.places)
    called = find_callings(book, parse, spans)
    free = [group for n, group in enumerate(free) if _SERVANTS.isdisjoint(called[n])]
    found: _KnownNames = {}
    for who, person in enumerate(table.people):
        title = _bare_title(person)
        titles = {title, lex.TITLE_NOUNS.get(title, title)} - {""}
        bearers = [g for g in known.groups if g.has_name and not g.titles.isdisjoint(titles)]
        if len(bearers) == 1 and bearers[0] in free:
            found[who] = Counter(bearers[0].names)
            free.remove(bearers[0])
    places = _places_of({*range(len(table.people))}, book, table, parse)
    traces = known.scenes.traces
    people = [somebody(g, traces((at, ends.get(at, at)) for at in g.places)) for g in free]
    cast = [_entry(person, traces(places[who])) for who, person in enumerate(table.people)]
    for pair in of_the_cast(people, cast):
        found[pair.other] = Counter(_new_names(free[pair.one], pair.other, table))
    return known.with_names(found, _WHY)


def _bare_title(person: Person) -> str:
    """The title of somebody whom the cast calls by it alone: "doctor" for "The Doctor"; "" for others."""
    words = name_words(person.entry.name)
    return words[1] if person.common and len(words) == 2 and words[1] in lex.TITLES else ""


def _entry(person: Person, traces: Traces) -> Somebody:
    """Somebody of the cast as he is weighed against the people of the book."""
    nameless = person.common or not WITHOUT_SURNAME.isdisjoint(person.titles)
    firsts, last = (frozenset[str](), "") if nameless else (frozenset(person.first[:1]), person.family)
    weighed = not person.group and (not person.common or bool(_bare_title(person)))
    count = len(traces.sentences) if weighed else 0
    married = not WIVES.isdisjoint(person.titles)
    return Somebody(firsts, last, _sure_gender(person), count, traces, married)


def _places_of(characters: set[int], book: Book, table: NameTable, parse: Parse) -> dict[int, list[Span]]:
    """Where the book has the names of these characters."""
    places: dict[int, list[Span]] = defaultdict(list)
    for hit in link_hits(book, table, parse, "link"):
        if hit.character in characters:
            places[hit.character].append((hit.start, hit.end))
    return places


def _is_only_described(entry: Entry) -> bool:
    """Whether the cast gives no name of somebody, only descriptions."""
    people = [take_apart(Entry(name)) for name in (entry.name, *entry.aliases)]
    return all(person.common and not person.group for person in people)


def _sure_gender(person: Person) -> str:
    """ "m" or "f" where that is a person's gender, else ""."""
    return person.gender if person.gender in ("m", "f") else ""


def _spelt_otherwise(cast: Cast, words: Word) -> _KnownNames:
    """Names of the cast with one word that the book does not have, as the book spells them: "Nawab Bahadur"
    for "Nawab Badahur"."""
    capitals = {word for word, capital in zip(words.text, words.capital, strict=True) if capital}
    text = f" {' '.join(words.text)} "
    said = {*text.split(" ")}
    taken = {
        word for entry in cast.entries for name in (entry.name, *entry.aliases) for word in name_words(name)
    }
    free: dict[str, list[str]] = defaultdict(list)
    for word in sorted(capitals - taken):
        free[word[:1]].append(word)
    found: _KnownNames = defaultdict(Counter)
    for who, entry in enumerate(cast.entries):
        for name in (entry.name, *entry.aliases):
            own = [word for word in name_words(name) if word != "the"]
            strange = [word for word in own if word not in said]
            if len(own) < 2 or len(strange) != 1 or len(strange[0]) < _LONG:
                continue
            near = [word for word in free[strange[0][0]] if _is_misspelt(strange[0], word)]
            spelt = [[word if w == strange[0] else w for w in own] for word in near]
            counts = {" ".join(w): text.count(f" {' '.join(w)} ") for w in spelt}
            best = max(counts, key=lambda name: counts[name], default="")
            if best and counts[best]:
                found[who][" ".join(map(written, best.split()))] = counts[best]
    return found


def _is_misspelt(word: str, other: str) -> bool:
    """Whether two words (lower case) are one name: a letter is another, or two have changed places."""
    if word[0] != other[0] or abs(len(word) - len(other)) > 1:
        return False
    return sorted(word) == sorted(other) or _likeness(word, other) >= _MISSPELT


def _likeness(a: str, b: str) -> float:
    return SequenceMatcher(None, a, b, autojunk=False).ratio()


def _known(name: str, table: NameTable) -> dict[int, int]:
    """The characters whom a name may mean, and how surely."""
    return table.forms.get(tuple(name_words(name)), {})


def _owner(group: Group, table: NameTable) -> int:
    """The character whom the names of a group mean, -1 where that is nobody or not clear."""
    votes: Counter[int] = Counter()
    for name, count in group.names.items():
        known = _known(name, table)
        if len(known) == 1 and not _is_described_only(name, group, table):
            votes[next(iter(known))] += count
    if not votes:
        return -1
    (who, most), *others = votes.most_common(2)
    return who if not others or most >= _CLEAR * others[0][1] else -1


def _is_described_only(name: str, group: Group, table: NameTable) -> bool:
    """Whether a name that its places give to a group is in the cast a mere description: "The Painter" beside
    Basil Ward, whom the book calls so."""
    known = _known(name, table)
    return name in group.by_places and all(_is_only_described(table.people[e].entry) for e in known)


def _has_another_first_name(group: Group, person: Person) -> bool:
    """Whether the first names of a group and of a character differ: William Price is not Fanny Price, though
    the cast may call her Price."""
    first = group.first.lower()
    aliases = (name_words(alias) for alias in person.entry.aliases)
    own = {word for word in person.first[:1] if person.last or word in lex.FIRST_NAMES}
    own |= {words[0] for words in aliases if words and words[0] in lex.FIRST_NAMES}
    if not first or not own:
        return False
    names = own.union(nicknames_of(person))
    return max(_likeness(first, name) for name in names) < _ALIKE


def _new_names(group: Group, who: int, table: NameTable) -> dict[str, int]:
    """The names of a group that the table does not give to this one character, and to nobody surely.

    A surname that several have is nobody's as long as the group has no first name.
    """
    new = {}
    for name, count in group.names.items():
        known = _known(name, table)
        free = set(known) != {who} and all(rank > ALIAS for rank in known.values())
        free = free or _is_described_only(name, group, table)
        if free and (group.first or not known):
            new[name] = count
    return new


def _names_that_tell(group: Group, who: int, groups: Sequence[Group], table: NameTable) -> dict[str, int]:
    """ "Miss Hill", where the book has a Mrs. Hill as well whom the cast does not list: it tells Anna Hill,
    of whom the cast gives no title, from her mother. The converse for a wife."""
    sure = any(_known(name, table).get(who, LAST_TITLED) <= ALIAS for name in group.names)
    if not sure or not honorifics.FEMALE_HONORIFICS.isdisjoint(table.people[who].titles):
        return {}
    found: dict[str, int] = {}
    for own, other in (
        (honorifics.UNMARRIED, honorifics.MARRIED),
        (honorifics.MARRIED, honorifics.UNMARRIED),
    ):
        titled = _with_title(group, own)
        rivals = (_with_title(g, other) for g in groups if g is not group and not _with_title(g, own))
        alike = any(set(_known(name, table)) == {who} for names in rivals for name in names)
        if titled and not _with_title(group, other) and alike:
            found |= titled
    return found


def _with_title(group: Group, titles: Collection[str]) -> dict[str, int]:
    """The names of a group that are one of these titles with the surname."""
    split = ((name, name_words(name)) for name in group.names)
    return {
        name: group.names[name] for name, words in split if len(words) == 2 and words[0] in titles
        and words[1] == group.last.lower()
    }  # fmt: skip


def _doubts(
    names: Iterable[str], group: Group, who: int, named: Mapping[int, int], table: NameTable
) -> dict[str, str]:
    """Those of the names that are not taken for a character's, each with the reason. `named` says how often
    the book names each of the cast."""
    ahead = {e for e, count in named.items() if e not in (who, -1) and count > named[who]}
    others = frozenset(word for e in ahead for word in (*table.people[e].first[:1], table.people[e].family))
    person = table.people[who]
    found = {
        name: _doubt(name, group, person, others, not ahead.isdisjoint(_known(name, table))) for name in names
    }
    return {name: why for name, why in found.items() if why}


def _doubt(
    name: str, group: Group, person: Person, others: frozenset[str] = frozenset(), shared: bool = False
) -> str:
    """Why a name that the book joins with somebody's names is not taken for one of his; "" where nothing
    speaks against it."""
    if name.startswith("the "):
        return ""
    words = name_words(name)
    begins = next((n for n, word in enumerate(words) if word not in lex.TITLES), len(words) - 1)
    titles, content = set(words[:begins]), words[begins:]
    names = (name_words(own) for own in (person.entry.name, *person.entry.aliases))
    own = {word for known in names for word in known} | {*person.first, *person.last.split()}
    claim = _Claim(name, titles, content, own, group, person, others, shared)
    return next((why for why, speaks in _VETOES if speaks(claim)), "")


class _Claim(NamedTuple):
    """A name that a group of names claims for a person: its titles, its other words, and all words of the
    names that the person has already; `others` are the first names and surnames of those in the cast whom the
    book names more often; `shared` says whether the name itself may mean one of these."""

    name: str
    titles: set[str]
    content: list[str]
    own: set[str]
    group: Group
    person: Person
    others: frozenset[str]
    shared: bool


def _is_of_another_gender(claim: _Claim) -> bool:
    """No woman is "Mr.", no man "Augusta"."""
    first = claim.content[0]
    named = "" if first in claim.own or claim.titles - _BEFORE_FIRST_NAMES else gender_of_first_name(first)
    genders = {honorifics.honorific_gender(title) for title in claim.titles} | {named}
    return {"m": "f", "f": "m"}.get(claim.person.gender, "-") in genders


def _is_married_and_not(claim: _Claim) -> bool:
    titles = {*claim.person.titles}
    wife = bool(claim.titles & honorifics.UNMARRIED) and bool(titles & WIVES - honorifics.UNMARRIED)
    return wife or is_another_woman(claim.titles, titles)


def _is_a_bare_surname(claim: _Claim) -> bool:
    """A woman is not called "Hill" in these books: that is a man of her family."""
    alone = not claim.titles and len(claim.content) == 1 and claim.person.gender == "f"
    return alone and claim.content[0] in (claim.group.last.lower(), claim.person.family)


def _has_another_surname(claim: _Claim) -> bool:
    """Robert Bell is not Robert Spencer; "Mrs. Allan Anne" is two people side by side. Elizabeth is Eliza,
    but not Eliza with a surname that is not known to be hers."""
    family, last = claim.person.family, claim.content[-1]
    if len(claim.content) > 1 and claim.content[0] in nicknames_of(claim.person) and last != family:
        return True
    return bool(family) and len(claim.content) > 1 and _likeness(last, family.split()[-1]) < _ALIKE


def _has_a_title_of_others(claim: _Claim) -> bool:
    """ "King Charles" and "Lady Catherine", where the person is mostly called otherwise."""
    noble = claim.titles & _NOBLE - claim.own
    his = sum(n for name, n in claim.group.names.items() if _NOBLE.isdisjoint(name_words(name)))
    lasts = {name_words(name)[-1] for name in claim.group.names}
    rarely = claim.group.names[claim.name] < his or not lasts <= claim.own | {*nicknames_of(claim.person)}
    first = len(claim.content) == 1 and claim.content[0] != claim.person.family
    return bool(noble) and first and rarely


def _is_another_king(claim: _Claim) -> bool:
    """ "King Frederick" is not Frederick William: kings are told by their names."""
    crowned = claim.titles & _CROWNED and len(claim.content) == 1
    return bool(crowned) and claim.person.last in lex.FIRST_NAMES and claim.content[0] != claim.person.last


def _is_said_of_sisters(claim: _Claim) -> bool:
    """ "Miss Hill" is one of several sisters, mostly the eldest: their places tell which (`names.py`)."""
    miss = not claim.titles.isdisjoint(honorifics.UNMARRIED)
    return miss and claim.shared and claim.content[-1] == claim.person.family


def _is_mostly_anothers(claim: _Claim) -> bool:
    """ "Price", where Fanny Price is named more often than William."""
    return not claim.titles and len(claim.content) == 1 and claim.content[0] in claim.others


def _is_a_family(claim: _Claim) -> bool:
    last = claim.content[-1]
    stem = last.removesuffix("es") if last.endswith("ses") else last.removesuffix("s")
    return last not in claim.own and stem != last and stem.removesuffix("an") in claim.own


_BEFORE_FIRST_NAMES = lex.ADJECTIVES_OF_NAMES | word_set("aunt uncle cousin sister brother miss")
WIVES = honorifics.MARRIED | word_set("lady countess duchess baroness marchioness")
_NOBLE, _CROWNED = lex.words("NOBLE"), word_set("king queen emperor empress")
_VETOES: tuple[tuple[str, Callable[[_Claim], bool]], ...] = (
    ("of the other gender", _is_of_another_gender),
    ("Mrs. and Miss are two people", _is_married_and_not),
    ("a surname alone rarely means a woman", _is_a_bare_surname),
    ("a place", lambda claim: claim.content[-1] in lex.PLACES - claim.own),
    ("a family", _is_a_family),
    ("another surname", _has_another_surname),
    ("the title of somebody else", _has_a_title_of_others),
    ("the name of another king or queen", _is_another_king),
    ("used for several sisters", _is_said_of_sisters),
    ("it usually means somebody else", _is_mostly_anothers),
)
"""What speaks against a learned name; the first that applies is given."""
