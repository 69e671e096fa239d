"""Propose a cast from the book itself, for a person who has none: names, other names, counts.

The proposal is meant to be read and mended; it is written in the format of a cast file.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field

from ..books import Book
from ..words import calendar, honorifics, word_set
from .cast import Cast, Entry, make_cast
from .embedded import lexicon as lex
from .embedded.parsing import Parse, parse_book

_FIRSTS = lex.MALE_FIRST | lex.FEMALE_FIRST
_PLACE_WORDS = frozenset(["in", "at", "to", "from", "near", "into", "towards", "toward", "through", "of"])
_NOBODY = calendar.CALENDAR | word_set(
    "god lord heaven chapter christmas easter english french german england france london paris bible sir "
    "madam mr mrs miss dr mr. mrs. dr. oh ah well yes no good american italian latin greek roman "
    "christian volume book part project gutenberg illustration copyright etext ebook god's"
)


@dataclass(slots=True)
class _Name:
    """A name as it occurs: words (original case), how often, and what speaks for or against a person."""

    words: tuple[str, ...]
    count: int = 0
    person: float = 0.0
    place: float = 0.0
    titles: Counter = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class Proposal:
    """A proposed cast, most frequent first, and a remark per character ("312 mentions")."""

    cast: Cast
    remarks: tuple[str, ...]


def propose_cast(
    book: Book, *, parse: Parse | None = None, least: int = 5, most: int = 80, allow_none: bool = False
) -> Proposal:
    """Names that occur at least `least` times and behave like people: titles, first names, they speak.

    The book is parsed unless its `parse` is given.

    Raises:
        UsageError: the book has no such name, unless `allow_none`.
    """
    names = _collect(book, parse or parse_book(book))
    people = {w: n for w, n in names.items() if n.person > n.place and n.person >= 1}
    groups = _merge(people)
    ranked = sorted(groups, key=lambda g: (-sum(people[w].count for w in g), g[0]))
    entries: list[Entry] = []
    remarks: list[str] = []
    for group in ranked:
        total = sum(people[w].count for w in group)
        if total < least or len(entries) == most:
            continue
        spoken = sorted(group, key=lambda w: (-len(w), -people[w].count))
        name = max(spoken, key=lambda w: (people[w].count >= 0.15 * total, len(w), people[w].count))
        titles: Counter[str] = Counter()
        for w in group:
            titles.update(people[w].titles)
        entries.append(
            Entry(_display(name, titles, people[name].count), tuple(" ".join(w) for w in spoken if w != name))
        )
        remarks.append(f"{total} times by name")
    cast = make_cast(entries) if entries or not allow_none else Cast(())
    return Proposal(cast, tuple(remarks[: len(cast.entries)]))


_EPITHETS = frozenset(["old", "young", "little", "poor", "dear", "great"])


def _display(name: tuple[str, ...], titles: Counter, alone: int) -> str:
    """A lone surname carries its usual title: "Mr. Darcy"; a lone first name one that it mostly has."""
    borne = Counter({t: n for t, n in titles.items() if t.lower() not in _EPITHETS})
    title, often = borne.most_common(1)[0] if borne else ("", 0)
    if len(name) > 1 or not title or (name[0].lower() in _FIRSTS and 2 * often < alone):
        return " ".join(name)
    return f"{title} {name[0]}"


def _collect(book: Book, parse: Parse) -> dict[tuple[str, ...], _Name]:
    tokens = book.tokens
    found: dict[tuple[str, ...], _Name] = {}
    i = 0
    while i < len(tokens):
        if parse.tag[i] not in ("NNP", "NNPS") or not tokens[i][:1].isupper() or tokens[i].isupper():
            i += 1
            continue
        end = i
        while end + 1 < len(tokens) and _goes_on(book, parse, end):
            end += 1
        _add(found, book, parse, i, end)
        i = end + 1
    return found


def _goes_on(book: Book, parse: Parse, end: int) -> bool:
    token = book.tokens[end + 1]
    if token == "." and book.tokens[end].lower() in honorifics.ABBREVIATED:
        return True
    return (
        parse.tag[end + 1] == "NNP"
        and token[:1].isupper()
        and token[:2].isalpha()
        and parse.sentence[end + 1] == parse.sentence[end]
    )


def _add(found, book: Book, parse: Parse, start: int, end: int) -> None:
    words = [book.tokens[k].strip("_") for k in range(start, end + 1) if book.tokens[k] != "."]
    title = ""
    while words and words[0].lower().rstrip(".") in lex.TITLES and words[0].lower() != "young":
        title = words.pop(0)
    if not words or len(words) > 3 or any(w.lower() in _NOBODY or len(w) < 2 for w in words):
        return
    if words[-1].lower() in lex.PLACES and not title and words[0].lower() not in _FIRSTS:
        return
    low = title.lower().rstrip(".")
    first_name = words[0].lower() in lex.FEMALE_FIRST and low not in honorifics.MARRIED
    if low in honorifics.FEMALE_HONORIFICS and len(words) == 1 and not first_name:
        # "Mrs. Barrymore" is not the one who is called "Barrymore".
        words.insert(0, title if title.endswith(".") or low not in honorifics.ABBREVIATED else f"{title}.")
    name = found.setdefault(tuple(words), _Name(tuple(words)))
    name.count += 1
    if title:
        name.titles[title] += 1
        name.person += 1
    first = words[0].lower() in _FIRSTS
    before = book.tokens[start - 1].lower() if start else ""
    verb = int(parse.head[end])
    if parse.dep[end] == "nsubj" and parse.tag[verb][:2] == "VB":
        name.person += 1.0 if book.tokens[verb].lower() in lex.SPEECH_VERBS or first else 0.4
    elif before in _PLACE_WORDS and not title:
        name.place += 0.3 if first else 0.8
    elif before == "the":
        name.place += 0.5
    elif first:
        name.person += 0.6


def _at_odds(surname: _Name, full: tuple[str, ...]) -> bool:
    """Whether the one who is called by the surname alone is a man ("Captain Harville") and the full name a
    woman's ("Fanny Harville")."""
    first = full[0].lower()
    titles = {t.lower().rstrip(".") for t in surname.titles}
    return (
        bool(titles & (honorifics.MALE_HONORIFICS | honorifics.OFFICES))
        and first in lex.FEMALE_FIRST
        and first not in lex.MALE_FIRST
    )


def _merge(people: dict[tuple[str, ...], _Name]) -> list[list[tuple[str, ...]]]:
    """Join a full name with its first name or surname where only one full name has it."""
    owners: dict[str, set[tuple[str, ...]]] = defaultdict(set)
    for words in people:
        if len(words) > 1 and words[0].lower().rstrip(".") not in lex.TITLES:
            owners[words[0]].add(words)
            owners[words[-1]].add(words)
    groups = {words: [words] for words in people if len(words) > 1}
    alone = []
    for words in people:
        if len(words) > 1:
            continue
        full = owners.get(words[0], set())
        fits = [w for w in full if w[0] == words[0]] or list(full)
        if len(fits) == 1 and (fits[0][0] == words[0] or not _at_odds(people[words], fits[0])):
            groups[fits[0]].append(words)
        else:
            alone.append([words])
    return [*groups.values(), *alone]
