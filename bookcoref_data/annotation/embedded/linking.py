"""The steps `link` and `filter`: names of the cast in the text, and the reasons to distrust one."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

import numpy as np

from ...books import Book
from ...words import calendar, honorifics, kin, word_set
from ..cast import Cast, Entry, format_cast
from ..sightings import sightings
from ..state import Dropped, Marked
from . import lexicon as lex
from .names import (
    NameTable,
    Person,
    bare_noun,
    book_words,
    is_another_woman,
    is_anybody,
    learned_table,
    name_words,
    nicknames_of,
    nouns_for_names,
    take_apart,
)
from .parsing import Parse
from .phrases import find_callings, living

_SCORE = {"name": 0.98, "alias": 0.97, "title + name": 0.96, "title + surname": 0.93}
_MERE_NOUN = 0.4
"""Score of "Mother" and "the policeman" as names: whoever says so may mean somebody else. Right are 35 of 90
in 13 novels."""


def link_names(book: Book, cast: Cast, parse: Parse, step: str) -> tuple[list[Marked], list[str]]:
    """Every name of the cast in the book with the character it is tied to; and notes on what was learned."""
    table, notes = learned_table(cast, book.tokens)
    return link_hits(book, table, parse, step), [*notes]


def link_hits(book: Book, table: NameTable, parse: Parse, step: str) -> list[Marked]:
    """Every name of a table in the book with the character it is tied to."""
    hits = table.find(book_words(book.tokens))
    marked: list[Marked] = []
    for hit, (who, rule) in zip(hits, table.settle(hits), strict=True):
        start, end = name_span(book, parse, hit.start, hit.end)
        if table.people[who].common:
            start -= start > 0 and book.tokens[start - 1].lower() in ("a", "an")
            if not _definite(book, start, table.people[who]):
                continue
        if marked and (marked[-1].start, marked[-1].end) == (start, end):
            # One phrase means one person.
            continue
        words = {_bare_word(token) for token in book.tokens[hit.start : hit.end + 1]} - {"the", "a", "an"}
        base = _MERE_NOUN if words <= _MERE_NOUNS else _SCORE.get(rule.split(",")[0], 0.9)
        score = round(base - 0.1 * ("," in rule), 3)
        marked.append(Marked(start, end, who, step, rule, score, "name"))
    return marked


def _definite(book: Book, start: int, person: Person) -> bool:
    """Whether a common noun that serves as a name is used as one: "the dogs" or "Dogs", not "many dogs". A
    description is also where it first says who comes: "a sleepy carpenter"."""
    first = book.tokens[start]
    if first.lower() == "the":
        return book.tokens[start + 1].lower() not in ("other", "same")
    if first.lower() in ("a", "an"):
        return is_anybody(person.entry.name) or len(name_words(person.entry.name)) > 2
    return first[:1].isupper()


_LEFT = {"det", "amod", "compound", "nmod", "poss"}
_NO_PART = word_set("poor dear good all last first next only chapter book part ere my your thy")


def name_span(book: Book, parse: Parse, start: int, end: int) -> tuple[int, int]:
    """The maximal span around a name: "the late Lady Belmont", "her cousin Edith", "Sir Luke of the Office".

    To the left whatever hangs on the name as determiner, adjective, title or noun for a person, without a
    gap; to the right words of the same name and an adjoining "of" phrase with a name. LitBank leaves "poor"
    and "my dear" outside, and so do we.
    """
    left = start
    while left > 0 and parse.sentence[left - 1] == parse.sentence[start]:
        if not _joins_left(book, parse, left - 1, end):
            break
        left -= 1
    right = end
    while (
        right + 1 < len(book.tokens)
        and parse.tag[right + 1] == "NNP"
        and int(parse.head[right]) == right + 1
        and parse.dep[right] == "compound"
        and book.tokens[right + 1].lower() not in lex.PLACES
    ):
        right += 1
    of = right + 1
    adjoins = of + 1 < len(book.tokens) and book.tokens[of] == "of" and left <= int(parse.head[of]) <= right
    # "Helena of Malcolm Castle", but not "he informed Helena of the fact".
    if adjoins and parse.right[of] - right <= 8 and book.tokens[int(parse.right[of])][:1].isupper():
        right = max(right, int(parse.right[of]))
    return left, right


def _joins_left(book: Book, parse: Parse, i: int, end: int) -> bool:
    word, tag = book.tokens[i], parse.tag[i]
    low = word.lower().rstrip(".")
    if int(parse.head[i]) not in range(i + 1, end + 1) or parse.dep[i] not in _LEFT or low in _NO_PART:
        return False
    if tag == "NN":
        return low in lex.PERSON_NOUNS or low in lex.TITLES
    if tag == "NNP":
        known = low in lex.TITLES or low in lex.PERSON_NOUNS or low in lex.FIRST_NAMES
        # "Sherlock Holmes" where the cast has Holmes.
        part = parse.dep[i] == "compound" and word.isalpha() and word[1:].islower()
        return word[:1].isupper() and (known or part)
    if tag == "PRP$":
        return i + 1 < end  # "her cousin Edith", but not "her Edith"
    return low == "the" if tag == "DT" else tag in ("JJ", "JJS")


def filter_names(
    book: Book, cast: Cast, parse: Parse, mentions: tuple[Marked, ...], step: str
) -> tuple[list[Marked], list[Dropped]]:
    """Keep each name, or drop it with a reason."""
    table, _ = learned_table(cast, book.tokens)
    written = Counter(token.strip("_") for token in book.tokens)
    livings = _places_of_livings(book, parse, table, mentions)
    nouns = nouns_for_names(table.people, named_people(book, mentions))
    kept, dropped = [], []
    for m in mentions:
        reason = ""
        if m.kind == "name":
            mere = nouns.get(bare_noun([token.lower() for token in book.tokens[m.start : m.end + 1]]))
            reason = _doubt(book, table, parse, m, written, livings)
            reason = reason or (_SAID_OF_MANY if mere == m.character else "")
        if reason:
            dropped.append(Dropped(m.start, m.end, m.character, step, reason, m.score))
        else:
            kept.append(m)
    return kept, dropped


def named_people(book: Book, mentions: Iterable[Marked]) -> set[int]:
    """The characters whom the book names: with a capital at the end, as in "Mr. Hill" and "the Queen"."""
    return {m.character for m in mentions if m.kind == "name" and book.tokens[m.end][:1].isupper()}


def _places_of_livings(
    book: Book, parse: Parse, table: NameTable, mentions: Iterable[Marked]
) -> dict[str, list[int]]:
    """Living -> the tokens at which somebody is named whose living it is, in order; nothing where no name of
    the cast is a common noun, which alone may be a living."""
    if not any(person.common for person in table.people):
        return {}
    named = [m for m in mentions if m.kind == "name" and not table.people[m.character].common]
    known = find_callings(book, parse, ((m.start, m.end, m.character) for m in named))
    for character, person in enumerate(table.people):
        known[character].update(living(n) for n, title in lex.TITLE_NOUNS.items() if title in person.titles)
    found: dict[str, list[int]] = defaultdict(list)
    for m in sorted(named, key=lambda m: m.start):
        for word in known[m.character]:
            found[word].append(m.start)
    return found


@dataclass(frozen=True, slots=True)
class _NamePlace:
    """A linked name in its place: tokens [start, end] are the name itself, without what hangs on it.

    `own` are the words of the person's names in the cast, `nicknames` those that the cast does not give;
    `written` says how often the book has each token, `livings` where people with a living are named.
    """

    book: Book
    parse: Parse
    person: Person
    own: frozenset[str]
    nicknames: frozenset[str]
    written: Mapping[str, int]
    livings: Mapping[str, Sequence[int]]
    start: int
    end: int

    @property
    def bare(self) -> bool:
        return self.start == self.end

    @property
    def first_word(self) -> str:
        return _bare_word(self.book.tokens[self.start])

    @property
    def next(self) -> str:
        """The token after the name, "" at the end of the book."""
        return self.book.tokens[self.end + 1] if self.end + 1 < len(self.book.tokens) else ""

    @property
    def previous(self) -> str:
        return self.book.tokens[self.start - 1] if self.start else ""

    @property
    def title(self) -> str:
        """The word before the name, in lower case; of "Mr ." the title."""
        if self.previous != ".":
            return _bare_word(self.previous)
        before = self.book.tokens[self.start - 2].lower() if self.start > 1 else ""
        return before if before in honorifics.ABBREVIATED else ""

    @property
    def titled(self) -> bool:
        """Whether the word before is a title that the cast does not give."""
        capital = self.previous[:1].isupper() or self.previous == "."
        return capital and self.title in lex.TITLES and self.title not in self.own

    def next_is_part(self) -> bool:
        """Whether the next word is capitalised and governs the name, as surnames and places do."""
        return (
            self.next[:1].isupper() and self.next.isalpha() and int(self.parse.head[self.end]) == self.end + 1
        )


def _begins_a_sentence(at: _NamePlace) -> bool:
    """ "Will you come?" is not Will, "Will laughed" and "Will soon laughed" are. Fielding and Dolly are names
    also where the parser takes them for a verb or an adverb, if the book hardly ever writes them small."""
    tag = at.parse.tag[at.start]
    i, sentence = at.start, at.parse.sentence
    begins = i == 0 or sentence[i] != sentence[i - 1] or not at.book.tokens[i - 1][:1].isalpha()
    if not at.bare or at.person.common or tag in _NAME_TAGS or not begins:
        return False
    if tag == "MD":
        behind = " ".join(at.parse.tag[at.end + 1 : at.end + 3])
        return not behind.startswith(("VB", "RB VBD", "RB VBN", "RB VBZ", ",", ".", "WP"))
    small, capital = at.written[at.first_word], at.written[at.first_word.capitalize()]
    return not tag.startswith(_OPEN_CLASSES) or small > _SELDOM * capital


def _is_a_month(at: _NamePlace) -> bool:
    """ "In May" is not May Welland, "since May had gone" is; Friday and Monday in a cast of anarchists are
    taken as they come."""
    subject = at.parse.dep[at.start] in ("nsubj", "nsubjpass")
    month = at.bare and at.first_word in calendar.NAMES and not subject
    return month and calendar.is_date(at.book.tokens, at.start)


def _goes_on(at: _NamePlace) -> bool:
    """ "Anne Smith" is not Anne Elliot, and "Eliza Smith" is not Elizabeth."""
    known_first = (bool(at.person.last) and at.first_word in at.person.first) or at.first_word in at.nicknames
    return (
        known_first
        and at.next_is_part()
        and at.parse.tag[at.end + 1] in ("NNP", "NNPS")
        and at.next.lower() not in at.own
    )


def _has_a_title_of_another_gender(at: _NamePlace) -> bool:
    if not at.titled or at.person.gender not in ("m", "f"):
        return False
    gender = (
        "m" if at.title in honorifics.MALE_HONORIFICS
        else "f" if at.title in honorifics.FEMALE_HONORIFICS else at.person.gender
    )  # fmt: skip
    return gender != at.person.gender


def _has_another_first_name(at: _NamePlace) -> bool:
    if at.titled or not at.bare or at.parse.tag[at.start - 1] != "NNP":
        return False
    word = at.previous
    named = word[:1].isupper() and word.strip(".").isalpha()
    other = at.title not in at.own | at.nicknames and at.title not in lex.PERSON_NOUNS
    governed = int(at.parse.head[at.start - 1]) in range(at.start, at.end + 1)
    surname = bool(at.person.first) and at.person.last == at.first_word
    return named and other and governed and surname


def _is_another_of_the_living(at: _NamePlace) -> bool:
    """ "The doctor" is not the cast's "The Doctor" where Mr. Hill, a surgeon, is named nearby."""
    if not at.person.common:
        return False
    words = [_bare_word(token) for token in at.book.tokens[at.start : at.end + 1]]
    noun = words[-1]
    if words not in ([noun], ["the", noun]) or noun not in _LIVINGS:
        return False
    places = at.livings.get(living(noun), ())
    k = bisect_left(places, at.start)
    return any(abs(place - at.start) <= _SCENE for place in places[max(k - 1, 0) : k + 1])


_SAID_OF_MANY = "a noun that is said of many, read like one"
_LIVINGS = lex.CALLINGS | lex.TITLE_NOUNS.keys()
_SCENE = 2000
"""Tokens within which somebody who is named may be called by his living."""
_DOUBTS: tuple[tuple[str, Callable[[_NamePlace], bool]], ...] = (
    ("begins a sentence and is not used as a name", _begins_a_sentence),
    ("a month, not a name", _is_a_month),
    (
        "the whole family, not one of them",
        lambda at: at.bare and at.parse.tag[at.end] == "NNPS" and at.previous.lower() == "the",
    ),
    ("part of the name of a place", lambda at: at.next_is_part() and at.next.lower() in lex.PLACES),
    ("part of another name", _goes_on),
    ("title of another gender", _has_a_title_of_another_gender),
    ("Mrs. and Miss are two people", lambda at: at.titled and is_another_woman({at.title}, at.own)),
    ("surname of someone else", _has_another_first_name),
    ("the living of someone who is named nearby", _is_another_of_the_living),
)
"""Reasons to distrust a name; the first that applies is given."""


def _doubt(
    book: Book, table: NameTable, parse: Parse, m: Marked, written: Mapping[str, int],
    livings: Mapping[str, Sequence[int]],
) -> str:  # fmt: skip
    """Why a name does not mean the character, or ""."""
    person = table.people[m.character]
    aliases = (word for alias in person.entry.aliases for word in name_words(alias))
    own = frozenset({*name_words(person.entry.name), *person.first, *person.last.split(), *aliases})
    nicknames = frozenset(nicknames_of(person)) - own
    # The tokens of the name itself inside its maximal span
    span, known = range(m.start, m.end + 1), own | nicknames
    core = [i for i in span if _bare_word(book.tokens[i]).replace("’", "'") in known] or [m.start, m.end]
    place = _NamePlace(book, parse, person, own, nicknames, written, livings, core[0], core[-1])
    return next((reason for reason, applies in _DOUBTS if applies(place)), "")


def _bare_word(token: str) -> str:
    """A token as names are compared: lower case, without emphasis marks and final points."""
    return token.strip("_").lower().rstrip(".")


_MERE_NOUNS = (lex.PERSON_NOUNS - lex.TITLES - lex.ANIMALS) | kin.KIN
_SELDOM = 0.1
"""Times that a word may be written small for one with a capital, and still be no word of the language."""
_OPEN_CLASSES = ("VB", "RB", "JJ")
_NAME_TAGS = {"NNP", "NNPS", "NN", "NNS", "JJ", "UH", "FW", "VB", "VBP", "XX"}


_NEAR, _NEAREST, _LEAST_TIMES = 0.7, 3, 2
"""Least likeness of a near name, most that are listed, and least times that one occurs."""


def never_found(book: Book, cast: Cast, parse: Parse, mentions: Iterable[Marked]) -> list[str]:
    """A note per character whose name the text does not have, with the nearest names that it has, or with the
    one whom it means."""
    mentions = list(mentions)
    counts = Counter(m.character for m in mentions)
    missing = [entry for i, entry in enumerate(cast.entries) if not counts[i]]
    if not missing:
        return []
    taken = {name.casefold() for e in cast.entries for name in (e.name, *e.aliases)}
    known: Counter[str] = Counter()
    for words, seen in sightings(book, parse).items():
        if seen.count >= _LEAST_TIMES and " ".join(words).casefold() not in taken:
            known[" ".join(words)] += seen.count
    said = {_as_words(" ".join(book.tokens[m.start : m.end + 1])): m.character for m in mentions}
    bearers = (said.get(_as_words(entry.name), -1) for entry in missing)
    likeness = _Likeness(known)
    return [
        _never_found(entry, known, cast.entries[who].name if who >= 0 else "", likeness)
        for entry, who in zip(missing, bearers, strict=True)
    ]


def listed_twice(cast: Cast) -> list[str]:
    """A note, with the line that joins them, for two entries that are probably one person: "Ford" beside
    "Tom Ford; Mr. Ford", where no other Ford comes into question."""
    people = [take_apart(entry) for entry in cast.entries]
    called: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for j, person in enumerate(people):
        for words in {*_aliases_in_words(person), (person.last,), person.first[:1]}:
            called[words].append(j)
    found = []
    for i, one in enumerate(people):
        words = tuple(name_words(one.entry.name))
        rivals = [j for j in called.get(words, ()) if j != i and _may_be_called(words, one, people[j])]
        men = [j for j in rivals if people[j].gender == "m"] if len(rivals) > 1 else rivals
        if len(men) == 1:
            entry = people[men[0]].entry
            aliases = dict.fromkeys((*entry.aliases, one.entry.name, *one.entry.aliases))
            joined = replace(entry, aliases=tuple(aliases), gender=entry.gender or one.entry.gender)
            line = format_cast(Cast((joined,))).strip()
            found.append(
                f"the cast may name one person twice, {one.entry.name!r} and {entry.name!r}: "
                f"one line joins them: {line}"
            )
    return found


def _may_be_called(words: tuple[str, ...], one: Person, other: Person) -> bool:
    """Whether the name of one entry (its words) is a name of another entry as well."""
    if one.common or one.group or other.common or other.group or {one.gender, other.gender} == {"m", "f"}:
        return False
    if words in _aliases_in_words(other):
        return True
    whole = bool(other.first and other.last) and not one.titles
    return whole and words in ((other.last,), other.first[:1])


def _aliases_in_words(person: Person) -> list[tuple[str, ...]]:
    return [tuple(name_words(alias)) for alias in person.entry.aliases]


def _as_words(name: str) -> str:
    return " ".join(name_words(name))


def _never_found(entry: Entry, known: Counter[str], bearer: str, likeness: _Likeness) -> str:
    if bearer:
        return f"{entry.name!r} is another name of {bearer} in this text; its mentions are counted there"
    near = {name: n for own in (entry.name, *entry.aliases) for name, n in likeness.near(own)}
    best = sorted(near, key=lambda name: (-near[name], -known[name], name))[:_NEAREST]
    listed = ", ".join(f"{name} ({known[name]} times)" for name in best)
    return f"the name {entry.name!r} does not occur in the text" + (
        f"; the nearest: {listed}" if best else ""
    )


class _Likeness:
    """The names of a book by their words: which share a word with another name or are spelt much like it."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names: dict[str, list[str]] = defaultdict(list)
        for name in names:
            for word in {*name_words(name)}:
                self._names[word].append(name)
        self._letters = np.array([_letters(word) for word in self._names]).reshape(-1, _BINS)
        self._words = [*self._names]
        self._alike: dict[str, list[tuple[str, float]]] = {}

    def near(self, name: str) -> Iterator[tuple[str, float]]:
        """The names that are near one, and how near they are (0 to 1)."""
        best: dict[str, float] = {}
        for word in name_words(name):
            if word not in lex.TITLES and word not in lex.PARTICLES:
                for other, likeness in self._alike_to(word):
                    for known in self._names[other]:
                        best[known] = max(likeness, best.get(known, 0.0))
        return ((known, round(likeness, 2)) for known, likeness in best.items())

    def _alike_to(self, word: str) -> list[tuple[str, float]]:
        """The words of the book's names that are spelt much like one. Two words cannot be more alike than
        their letters: what has too few in common is not compared."""
        if word not in self._alike:
            own = _letters(word)
            common = np.minimum(self._letters, own).sum(axis=1)
            rows = np.flatnonzero(2 * common >= _NEAR * (self._letters.sum(axis=1) + len(word)))
            pairs = ((self._words[row], _likeness(word, self._words[row])) for row in rows.tolist())
            self._alike[word] = [(other, likeness) for other, likeness in pairs if likeness >= _NEAR]
        return self._alike[word]


_BINS = 32
"""Letters that are told apart when words are compared; letters of other alphabets share places."""


def _letters(word: str) -> np.ndarray:
    """How often a word has each letter."""
    return np.bincount([ord(letter) % _BINS for letter in word], minlength=_BINS)


def _likeness(a: str, b: str) -> float:
    if abs(len(a) - len(b)) > 3 or not a or not b:
        return 0.0
    return 1.0 if a == b else SequenceMatcher(None, a, b, autojunk=False).ratio()
