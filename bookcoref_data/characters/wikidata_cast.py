"""From Wikidata's facts to rows of a cast table: which title, which names, what a reviewer should know.

Facts come as item -> property -> values, a value being (text or IRI, language), in any order; rows come
out in the order of item numbers, so that two harvests can be compared line by line.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..resources import load_toml, resource
from ..shapes import together
from ..words import fold, word_set
from .names import read_name
from .table import CastRow

CHARACTER, AUTHOR, TITLE, CLASS = "wdt:P674", "wdt:P50", "wdt:P1476", "wdt:P31"
LABEL, ALIAS = "rdfs:label", "skos:altLabel"
ENGLISH = ("en", "en-gb", "en-us", "en-ca")
FALLBACKS = ("mul", "fr", "de", "es", "it")
"""Languages tried for a name without English label, in this order; then any, by the name of the language."""

SUBCLASS, GUTENBERG, BASED_ON, SERIES = "wdt:P279", "wdt:P2034", "wdt:P144", "wdt:P179"
PRESENT_IN = "^wdt:P1441"
"""Who says to be present in a work, without being listed there."""
SERIES_CAST, PRESENT, ADAPTATION = "series-cast", "present-in-work", "adaptation"
"""Flags of rows: listed on the work's series; known by P1441 alone; a work based on one of the same title."""
_LEVELS = 6
_CLASSES = load_toml(resource("manifests", "wikidata.toml"))


def _by_class(words: Mapping[str, str]) -> dict[str, str]:
    return {item: word for word, items in words.items() for item in items.split()}


def _any_of(words: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(words.split())})\b", re.I)


_BEINGS, _THINGS = word_set(_CLASSES["beings"]), _by_class(_CLASSES["things"])
_BEING_WORDS, _THING_WORDS = _any_of(_CLASSES["being_words"]), _any_of(_CLASSES["thing_words"])
_GROUP_WORDS = re.compile(r"\b(?:group|duo|trio|family|couple|siblings|band|gang|team)\b", re.I)
_LIST = re.compile(r"(?:list|index|catalogue) of .*|characters (?:of|in|from) .*", re.I)
_ITEM = re.compile(r"Q\d+")
_BRACKET_END = re.compile(r"\s*\(([^()]*)\)\s*$")
_ABOUT_THE_WORK = re.compile(
    r"characters?|novel|book|fiction(?:al)?|film|series|play|story|franchise|human|literary", re.I
)

OTHER_MEDIA = _by_class(_CLASSES["other_media"])
"""Classes of works that are not books, with the flag they give. Nothing is dropped for it here."""

_BOOKS = ("Q7725634", "Q47461344", "Q571", "Q8261", "Q49084", "Q149537")
"""Classes of what is read: literary work, written work, book, novel, short story, novella."""

Value = tuple[str, str]
ItemFacts = Mapping[str, Sequence[Value]]
FactsOf = Callable[[str], ItemFacts]
"""The facts of an item by its short name ("Q42")."""
Current = Callable[[str], str]
"""The item that an item redirects to, else itself."""


@dataclass
class CastReport:
    """What became of the works: counts, and examples of what a person may want to look at."""

    works: int = 0
    works_with_cast: int = 0
    rows: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    nameless: list[str] = field(default_factory=list)


def cast_rows(
    works: Iterable[str], facts_of: FactsOf, current: Current, retrieved: str, report: CastReport
) -> Iterator[CastRow]:
    """Rows for all works; `facts_of` and `current` (follow redirects) answer for items by short name.

    A character without a label in any language has no name to look for and is reported as nameless; so is
    a work. Flags of a row: "no-title" (no P1476, the label stands in), "no-author", "several-authors",
    "unknown-author" (a blank value), "no-english-label" and the flags of `names.read_name` for the
    character, what `OTHER_MEDIA` says of the work, "adaptation", "series-cast" (a work without characters of
    its own has those of its series), "present-in-work" (the character names the work, not the reverse) and
    "same-name" (another item of the work is called alike: two people, or one who is listed twice).
    """
    for work in works:
        report.works += 1
        facts = facts_of(work)
        base = _work_row(work, facts, facts_of, current, retrieved)
        if base is None:
            report.nameless.append(work)
            continue
        # Its own characters, else those that are listed on its series
        series = _items(facts.get(SERIES, ()), current)
        sources = ((facts, ()), *((facts_of(one), (SERIES_CAST,)) for one in series))
        casts = (
            (_items((*known.get(CHARACTER, ()), *known.get(PRESENT_IN, ())), current), flags)
            for known, flags in sources
        )
        listed, cast_flags = next((found for found in casts if found[0]), ([], ()))
        base = replace(base, flags=base.flags + cast_flags)
        stated = set(_items(facts.get(CHARACTER, ()), current))
        rows: list[CastRow] = []
        for character in listed:
            present = () if cast_flags or character in stated else (PRESENT,)
            rows += _character_rows(character, present, base, facts_of, report)
        called = Counter(fold(row.character) for row in rows)
        shared = [("same-name",) * (called[fold(row.character)] > 1) for row in rows]
        rows = [replace(row, order=n, flags=row.flags + shared[n]) for n, row in enumerate(rows)]
        report.works_with_cast += bool(rows)
        report.rows += len(rows)
        report.counts.update(flag for row in rows for flag in set(row.flags))
        yield from rows


def _work_row(work: str, facts: ItemFacts, facts_of: FactsOf, current: Current, when: str) -> CastRow | None:
    """What all rows of a work share; None when the work has no title."""
    titles, flags = _titles(facts)
    if not titles:
        return None
    # The authors in the order of their item numbers
    stated = facts.get(AUTHOR, ())
    people = list(map(facts_of, _items(stated, current)))
    named = [name for name, _ in map(best_label, people) if name]
    others = dict.fromkeys(alias for person in people for alias in _aliases(person) if alias not in named)
    unknown = "unknown-author" if stated else "no-author"
    author_flags = () if len(named) == 1 else ("several-authors" if named else unknown,)
    authors = tuple(dict.fromkeys(named))
    kinds = tuple(sorted({_item(value) for value, _ in facts.get(CLASS, ())}))
    above = _ancestors(kinds, facts_of)
    media = tuple(sorted({OTHER_MEDIA[kind] for kind in above if kind in OTHER_MEDIA}))
    # Whether it is based on a work of the same title (P144) and no class says that it is a book
    originals = [] if any(kind in above for kind in _BOOKS) else _items(facts.get(BASED_ON, ()), current)
    mine = {title.casefold() for title in titles}
    same = any(mine & {title.casefold() for title in _titles(facts_of(one))[0]} for one in originals)
    adapted = (ADAPTATION,) if same else ()
    numbers = {value for value, _ in facts.get(GUTENBERG, ()) if value.isdigit()}
    return CastRow(
        source="wikidata", work_id=work, title=titles[0], titles=titles[1:],
        author=authors[0] if authors else "", authors=authors, author_aliases=tuple(others), character="",
        kinds=kinds, gutenberg_ids=tuple(sorted(numbers, key=int)),
        flags=flags + author_flags + media + adapted, address=f"https://www.wikidata.org/wiki/{work}",
        retrieved=when[:10],
    )  # fmt: skip


def _character_rows(
    character: str, present: tuple[str, ...], base: CastRow, facts_of: FactsOf, report: CastReport
) -> Iterator[CastRow]:
    """One row for each person whom the name of a character names; none when it is no character."""
    facts = facts_of(character)
    titles = (base.title, *base.titles)
    label, english = best_label(facts)
    name = _without_work(label, titles)
    if not name or _ITEM.fullmatch(name):
        report.nameless.append(character)
        return
    what, kind_flags = _kind_of(facts, name, facts_of)
    if what:
        report.counts[f"dropped, {what}"] += 1
        return
    reading = read_name(name, author=base.author)
    if reading.rejected:
        report.counts["rejected-name"] += 1
    known_as = _aliases(facts) if len(reading.people) == 1 else ()
    aliases = [_without_work(alias, titles) for alias in known_as]
    flags = (*base.flags, *(() if english else ("no-english-label",)), *present, *kind_flags)
    for person in reading.people:
        known = dict.fromkeys((*person.aliases, *aliases))
        known.pop(person.name, None)
        yield replace(
            base, character=person.name, raw_character=label, character_id=character,
            character_aliases=tuple(known), flags=(*flags, *person.flags),
        )  # fmt: skip


def _ancestors(kinds: Iterable[str], facts_of: FactsOf) -> set[str]:
    """The classes and all that they are subclasses of, as far as the harvest asked."""
    found: set[str] = set()
    level = set(kinds)
    for _ in range(_LEVELS):
        found |= level
        level = {_item(value) for kind in level for value, _ in facts_of(kind).get(SUBCLASS, ())} - found
    return found | level


def _kind_of(facts: ItemFacts, name: str, facts_of: FactsOf) -> tuple[str, tuple[str, ...]]:
    """(what it is when it is no character, else ""; flags).

    A being in any of its classes stays; else a place, ship, species, list and the like is dropped. Who has no
    class, or one that says neither, stays with a flag.
    """
    if _LIST.fullmatch(name):
        return "list", ()
    kinds = [_item(value) for value, _ in facts.get(CLASS, ())]
    if not kinds:
        return "", ("no-class",)
    above = _ancestors(kinds, facts_of)
    labels = [best_label(facts_of(kind))[0] for kind in kinds]
    group = ("group",) if any(_GROUP_WORDS.search(label) for label in labels) else ()
    if above & _BEINGS or any(_BEING_WORDS.search(label) for label in labels):
        return "", group
    things = [_THINGS[kind] for kind in sorted(above) if kind in _THINGS]
    if things:
        return things[0], ()
    named = [label for label in labels if _THING_WORDS.search(label)]
    return (named[0], ()) if named else ("", ("unknown-class", *group))


def _without_work(label: str, titles: Sequence[str]) -> str:
    """A label without a closing bracket that names the work or says "character": it is no other name."""
    found = _BRACKET_END.search(label)
    if not found:
        return label
    inside = found.group(1).casefold()
    about = _ABOUT_THE_WORK.search(inside) or any(inside == title.casefold() for title in titles)
    return label[: found.start()].strip() or label if about else label


def best_label(facts: ItemFacts) -> tuple[str, bool]:
    """The name to use and whether it is English: label, then alias, in English, `FALLBACKS`, any language."""
    known = [_by_language(facts.get(property_, ())) for property_ in (LABEL, ALIAS)]
    tried = [(named, language) for named in known for language in ENGLISH]
    tried += [(named, language) for named in known for language in (*FALLBACKS, *sorted(named))]
    # "mul" is Wikidata's mark for names written alike in many languages, English among them.
    found = ((names[code][0], code in (*ENGLISH, "mul")) for names, code in tried if code in names)
    return next(found, ("", False))


def _titles(facts: ItemFacts) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """All titles, the preferred first: P1476 in English, English label, other P1476, any label."""
    stated = _by_language(facts.get(TITLE, ()))
    english = [title for language in ENGLISH for title in stated.get(language, ())]
    foreign = [title for language in sorted(stated) if language not in ENGLISH for title in stated[language]]
    label, is_english = best_label({LABEL: facts.get(LABEL, ())})
    labels = [label] if label else []
    other = _aliases(facts)
    ordered = [*english, *labels, *foreign, *other] if is_english else [*english, *foreign, *labels, *other]
    return tuple(dict.fromkeys(" ".join(t.split()) for t in ordered)), () if stated else ("no-title",)


def _aliases(facts: ItemFacts) -> tuple[str, ...]:
    """Other English names, sorted; labels of English varieties count."""
    both = (_by_language(facts.get(property_, ())) for property_ in (LABEL, ALIAS))
    named = {text for known in both for language in (*ENGLISH, "mul") for text in known.get(language, ())}
    return tuple(sorted(named))


def _by_language(values: Sequence[Value]) -> dict[str, list[str]]:
    """language -> texts, sorted, so that the choice does not depend on the order of an answer."""
    # "Q42" stands where a service has no label
    named = ((text, code) for text, code in sorted(values) if text.strip() and not _ITEM.fullmatch(text))
    return together((code.lower(), " ".join(text.split())) for text, code in named)


def _items(values: Sequence[Value], current: Current) -> list[str]:
    """The items among values, redirects followed, each once, in the order of their numbers."""
    items = {current(_item(value)) for value, _ in values}
    return sorted((i for i in items if i[:1] == "Q" and i[1:].isdigit()), key=lambda i: int(i[1:]))


def _item(iri: str) -> str:
    return iri.rsplit("/", 1)[-1]
