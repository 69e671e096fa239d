"""Works, their characters and authors from a SPARQL endpoint in Wikidata's shape.

`wikidata_works.py` lists all works that have a character (P674). `FACTS` asks for the values of a few
properties of a batch of items: one row per value, so that several authors, titles and characters of a work
never multiply, as they do in one wide query; `POINTING` asks in the same way which items point to
them. A batch that is too heavy is divided, down to the single item, which is then reported as failed.

Both use plain labels instead of Wikidata's label service, and so run on any SPARQL 1.1 endpoint.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from ..errors import SourceError
from ..progress import Progress, Silent
from ..resources import load_toml, resource
from .sparql import Row, SparqlEndpoint, Term, TooHeavyError
from .wikidata_works import list_works

_QUERIES = load_toml(resource("manifests", "wikidata.toml"))["queries"]
PREFIXES: str = _QUERIES["prefixes"]
FACTS, POINTING = PREFIXES + _QUERIES["facts"], PREFIXES + _QUERIES["pointing"]

# Titles are kept in every language, labels only in those asked for: an item may have hundreds.
LANGUAGE_FILTER = (
    "\n  FILTER(isIRI(?value) || ?property IN (wdt:P1476, wdt:P2034) || LCASE(LANG(?value)) IN ({languages}))"
)

ENTITY = "http://www.wikidata.org/entity/"
_SHORT = {
    "http://www.wikidata.org/prop/direct/": "wdt:",
    "http://www.w3.org/2000/01/rdf-schema#": "rdfs:",
    "http://www.w3.org/2004/02/skos/core#": "skos:",
    "http://www.w3.org/2002/07/owl#": "owl:",
}
CHARACTER, AUTHOR, TITLE, CLASS = "wdt:P674", "wdt:P50", "wdt:P1476", "wdt:P31"
SUBCLASS, BASED_ON, SERIES, GUTENBERG = "wdt:P279", "wdt:P144", "wdt:P179", "wdt:P2034"
PRESENT_IN = "wdt:P1441"
POINTING_PROPERTIES = (PRESENT_IN, SERIES)
LABEL, ALIAS, SAME = "rdfs:label", "skos:altLabel", "owl:sameAs"
WORK_PROPERTIES = (CHARACTER, AUTHOR, TITLE, CLASS, BASED_ON, SERIES, GUTENBERG, LABEL, ALIAS, SAME)
PERSON_PROPERTIES = (LABEL, ALIAS, CLASS, SAME)
CLASS_PROPERTIES = (LABEL, SUBCLASS)
_CLASS_LEVELS = 6  # from "literary character in a novel" up to "character" are three

Facts = dict[str, dict[str, list[Term]]]
"""item -> property -> values; items and properties are short ("Q170583", "wdt:P674").

"^wdt:P1441" has the items that point to the item by P1441."""


@dataclass(frozen=True)
class WikidataSettings:
    """What to ask for, and how much at once (items per query).

    `languages` are those of labels and aliases, the preferred first; `require_author` leaves out works
    without P50, most of which are films.
    """

    languages: tuple[str, ...] = (
        "en", "mul", "en-gb", "en-us", "en-ca", "fr", "de", "es", "it", "ru", "pl", "la",
    )  # fmt: skip
    require_author: bool = True
    works_batch: int = 500
    persons_batch: int = 2000


@dataclass
class WikidataFacts:
    """The facts of all works, characters and authors, redirects followed.

    `works` are in the order of their item numbers; `redirects` maps an item to the one it was merged into;
    `failed` are items the endpoint could not answer for, even alone.
    """

    works: list[str] = field(default_factory=list)
    facts: Facts = field(default_factory=dict)
    redirects: dict[str, str] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)

    def of(self, item: str) -> dict[str, list[Term]]:
        """The facts of an item, under whatever number it goes now; empty when nothing is known."""
        return self.facts.get(self.current(item), {})

    def current(self, item: str) -> str:
        """The item that `item` was merged into, or itself."""
        seen = {item}
        while (target := self.redirects.get(item)) and target not in seen:
            seen.add(target)
            item = target
        return item


def harvest(
    endpoint: SparqlEndpoint, settings: WikidataSettings, works: Sequence[str] | None = None,
    progress: Progress | None = None,
) -> WikidataFacts:  # fmt: skip
    """Ask for all works with characters (or for `works`), their characters and their authors.

    Raises:
        SourceError, OfflineError: as `SparqlEndpoint.ask`; what was answered before is in the archive.
    """
    progress = progress or Silent()
    found = WikidataFacts()
    listed = list(works) if works is not None else _all_works(endpoint, found, settings, progress)
    _collect(endpoint, found, listed, WORK_PROPERTIES, settings, progress, "works")
    if works is None:
        # They have a character, so an answer without them was half an answer. Smaller batches ask again.
        silent, size = _silent(found, listed), max(1, settings.works_batch // 2)
        _collect(endpoint, found, silent, WORK_PROPERTIES, settings, progress, "works once more", size)
        found.failed += _silent(found, silent)
    # Which characters say that they are in a work (P1441), which books that they are of a series (P179)
    what = "characters present in works"
    items = sorted({work for work in listed if is_item(work)}, key=item_number)
    progress.begin(what, len(items), "works")
    for batch in _batches(items, settings.persons_batch):
        for rows in _dividing(batch, _pointing_query(endpoint), found.failed):
            _add(found.facts, rows, endpoint, mark="^")
        progress.advance(what, len(batch))
    progress.end(what)
    books = _books_of_series(found, listed) if works is None else []
    _collect(endpoint, found, books, WORK_PROPERTIES, settings, progress, "books of series")
    if settings.require_author:
        books = [book for book in books if found.of(book).get(AUTHOR)]
    works_found = {found.current(work) for work in (*listed, *books) if found.of(work)}
    found.works = sorted(works_found, key=item_number)
    series = {
        _short_item(t.value)
        for w in found.works
        if not cast_of(found, w)
        for t in found.of(w).get(SERIES, ())
    }
    _collect(endpoint, found, sorted(series, key=item_number), WORK_PROPERTIES, settings, progress, "series")
    persons = sorted(
        {
            person
            for work in (*found.works, *series)
            for person in (*cast_of(found, work), *_authors_of(found, work))
        },
        key=item_number,
    )
    _collect(endpoint, found, persons, PERSON_PROPERTIES, settings, progress, "characters and authors")
    _label_the_nameless(endpoint, found, persons, settings, progress)
    _collect_classes(endpoint, found, persons, settings, progress)
    return found


def _silent(found: WikidataFacts, items: Sequence[str]) -> list[str]:
    """The items of which nothing came, though no query for them failed."""
    gone = {*found.failed, *found.facts}
    return [item for item in items if is_item(item) and item not in gone]


def cast_of(found: WikidataFacts, work: str) -> list[str]:
    """The characters of a work: those that it lists (P674) and those that say they are in it (P1441)."""
    facts = found.of(work)
    return [_short_item(term.value) for name in (CHARACTER, f"^{PRESENT_IN}") for term in facts.get(name, ())]


def _authors_of(found: WikidataFacts, work: str) -> list[str]:
    return [_short_item(term.value) for term in found.of(work).get(AUTHOR, ())]


def _all_works(
    endpoint: SparqlEndpoint, found: WikidataFacts, settings: WikidataSettings, progress: Progress
) -> list[str]:
    """All works that have a character, each once, by number."""

    def cell(row: Row, name: str) -> str:
        return _cell(row, name, endpoint).value

    works = set(list_works(endpoint, settings.require_author, cell, found.failed, progress))
    return sorted((_short_item(work) for work in works if work.startswith(ENTITY)), key=item_number)


def _pointing_query(endpoint: SparqlEndpoint) -> Callable[[list[str]], list[Row]]:
    def ask(items: list[str]) -> list[Row]:
        pairs = " ".join(f"(wd:{item} {property_})" for item in items for property_ in POINTING_PROPERTIES)
        return endpoint.ask(POINTING.format(pairs=pairs))

    return ask


def _books_of_series(found: WikidataFacts, works: Sequence[str]) -> list[str]:
    """The items that say they are of a series among `works`: its books may have no cast of their own."""
    books = {_short_item(t.value) for work in works for t in found.of(work).get(f"^{SERIES}", ())}
    return sorted((book for book in books if is_item(book)), key=item_number)


def _collect_classes(
    endpoint: SparqlEndpoint, found: WikidataFacts, persons: Sequence[str], settings: WikidataSettings,
    progress: Progress,
) -> None:  # fmt: skip
    """The labels and superclasses of all classes of works and characters, a few levels up."""
    asked: set[str] = set()
    level = {
        _short_item(term.value) for item in (*found.works, *persons) for term in found.of(item).get(CLASS, ())
    }
    for _ in range(_CLASS_LEVELS):
        level = {item for item in level if is_item(item)} - asked
        if not level:
            return
        asked |= level
        _collect(
            endpoint, found, sorted(level, key=item_number), CLASS_PROPERTIES, settings, progress, "classes"
        )
        level = {_short_item(term.value) for item in level for term in found.of(item).get(SUBCLASS, ())}


def _collect(
    endpoint: SparqlEndpoint, found: WikidataFacts, items: Sequence[str], properties: tuple[str, ...],
    settings: WikidataSettings, progress: Progress, what: str, size: int = 0,
) -> None:  # fmt: skip
    """Add the facts of `items` (`size` in one query), and of the items they were merged into."""
    size = size or (settings.works_batch if properties == WORK_PROPERTIES else settings.persons_batch)
    languages = ", ".join(f'"{language.lower()}"' for language in settings.languages)
    filter_ = LANGUAGE_FILTER.format(languages=languages)
    wanted = sorted({item for item in items if is_item(item)} - set(found.facts), key=item_number)
    while wanted:
        progress.begin(what, len(wanted), "items")
        for batch in _batches(wanted, size):
            for rows in _dividing(batch, _facts_query(endpoint, properties, filter_), found.failed):
                _add(found.facts, rows, endpoint)
            progress.advance(what, len(batch))
        progress.end(what)
        wanted = _new_targets(found, wanted)


def _facts_query(
    endpoint: SparqlEndpoint, properties: tuple[str, ...], language: str
) -> Callable[[list[str]], list[Row]]:
    def ask(items: list[str]) -> list[Row]:
        # Pairs, not two lists: engines then look each pair up instead of joining with all statements.
        pairs = " ".join(f"(wd:{item} {property_})" for item in items for property_ in properties)
        return endpoint.ask(FACTS.format(pairs=pairs, language=language))

    return ask


def _dividing(
    batch: list[str], ask: Callable[[list[str]], list[Row]], failed: list[str]
) -> Iterator[list[Row]]:
    """The answers for a batch, in one piece or in eighths; items that fail alone are added to `failed`.

    In eighths, since every refusal may cost the minute that the service tries for.
    """
    try:
        yield ask(batch)
    except TooHeavyError:
        if len(batch) == 1:
            failed.extend(batch)
            return
        for part in _batches(batch, -(-len(batch) // 8)):
            yield from _dividing(part, ask, failed)


def _add(facts: Facts, rows: Iterable[Row], endpoint: SparqlEndpoint, mark: str = "") -> None:
    for row in rows:
        item, property_ = (_cell(row, name, endpoint).value for name in ("item", "property"))
        value = _cell(row, "value", endpoint)
        values = facts.setdefault(_short_item(item), {}).setdefault(mark + _short(property_), [])
        if value not in values:
            values.append(value)


def _cell(row: Row, name: str, endpoint: SparqlEndpoint) -> Term:
    """One cell of a row. Raises SourceError when the service left it out: it answers something else."""
    if name not in row:
        raise SourceError(
            f"{endpoint.address} gave a row without ?{name}", expected=f"a value of ?{name} in every row",
            found=f"?{', ?'.join(sorted(row)) or '(an empty row)'}",
            hint="is this the address of a SPARQL service over Wikidata's data?",
        )  # fmt: skip
    return row[name]


def _new_targets(found: WikidataFacts, asked: Sequence[str]) -> list[str]:
    """Note which of the items asked for were merged into others; return the others not asked for yet."""
    for item in asked:
        facts = found.facts.get(item, {})
        targets = [_short_item(term.value) for term in facts.get(SAME, ()) if term.value.startswith(ENTITY)]
        if targets and not facts.keys() - {SAME}:
            found.redirects[item] = min(targets, key=item_number)
    return sorted(
        {t for t in found.redirects.values() if t not in found.facts and t not in asked}, key=item_number
    )


def _label_the_nameless(
    endpoint: SparqlEndpoint, found: WikidataFacts, persons: Sequence[str], settings: WikidataSettings,
    progress: Progress,
) -> None:  # fmt: skip
    """Ask once more, in all languages, for those who have a label in none of the wanted ones."""
    current = {found.current(person) for person in persons if is_item(person)}
    unlabelled = (p for p in current - set(found.failed) if LABEL not in found.facts.get(p, {}))
    nameless = sorted(unlabelled, key=item_number)
    progress.begin("other languages", len(nameless), "items")
    for batch in _batches(nameless, settings.persons_batch):
        for rows in _dividing(batch, _facts_query(endpoint, (LABEL,), ""), found.failed):
            _add(found.facts, rows, endpoint)
        progress.advance("other languages", len(batch))
    progress.end("other languages")


def _batches(items: Sequence[str], size: int) -> Iterator[list[str]]:
    for start in range(0, len(items), size):
        yield list(items[start : start + size])


def is_item(name: str) -> bool:
    """Whether a short name is an item ("Q42"); values may also be blank nodes ("unknown author")."""
    return name[:1] == "Q" and name[1:].isdigit()


def item_number(item: str) -> tuple[int, str]:
    """Order of items: by number; whatever is no item comes last, by name."""
    return (int(item[1:]), "") if is_item(item) else (1 << 62, item)


def _short_item(value: str) -> str:
    return value.removeprefix(ENTITY)


def _short(value: str) -> str:
    for long, short in _SHORT.items():
        if value.startswith(long):
            return short + value.removeprefix(long)
    return value
