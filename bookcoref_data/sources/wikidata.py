"""Works, their characters and authors from a SPARQL endpoint in Wikidata's shape.

All works that have a character (P674) are listed by the index of that property. Classes are never walked: one
human with a mistaken P674 would ask for all humans. The subjects of P674 are tens of thousands; whether they
have an author is looked up item by item, and their classes come later with their other facts. A list that is
too heavy is divided by the last digits of the items. The service is asked first how many there are: an answer
of fewer is half an answer. It is asked for again, and not kept.

`FACTS` asks for the values of a few properties of a batch of items: one row per value, so that several
authors, titles and characters of a work never multiply, as they do in one wide query; `POINTING` asks in the
same way which items point to them. A batch that is too heavy is divided, down to the single item, which is
then reported as failed.

Both use plain labels instead of Wikidata's label service, and so run on any SPARQL 1.1 endpoint.
"""

from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain

from ..errors import OfflineError, SourceError
from ..progress import Progress, begun
from ..resources import load_toml, resource
from .sparql import CUT_OFF, Row, SparqlEndpoint, Term, TooHeavyError

_QUERIES = load_toml(resource("manifests", "wikidata.toml"))["queries"]
PREFIXES: str = _QUERIES["prefixes"]
FACTS, POINTING = PREFIXES + _QUERIES["facts"], PREFIXES + _QUERIES["pointing"]
SUBJECTS: str = _QUERIES["subjects"]
_ENDING = '\n    FILTER(STRENDS(STR(?work), "{digits}"))'
_AUTHOR = "\n  FILTER EXISTS { ?work wdt:P50 ?author }"
_MOST_DIGITS = 2  # a part may be a hundredth of all works
_LIMITS = 1000  # services that answer with so many rows at most have a multiple of it as their limit
_SURE = 50  # items of which one at least has what is asked for
_LEAST_SHARE = 0.99  # of the works counted; some come and go between two queries

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

_COLUMNS = ("item", "property", "value")

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

    Raises SourceError, OfflineError: as `SparqlEndpoint.ask`; what was answered before is in the archive.
    """
    return _Harvest(endpoint, settings, progress).run(works)


class _Harvest:
    """One harvest: what was found so far, and the queries for more."""

    def __init__(self, source: SparqlEndpoint, settings: WikidataSettings, progress: Progress | None) -> None:
        self._endpoint, self._settings, self._progress = source, settings, progress
        self._found, self._again = WikidataFacts(), False

    def run(self, works: Sequence[str] | None) -> WikidataFacts:
        """All facts of the works with characters, or of `works`."""
        found, settings = self._found, self._settings
        listed = list(works) if works is not None else self._all_works()
        self._collect(listed, WORK_PROPERTIES, "works")
        if works is None:
            # They have a character, so an answer without them was half an answer. Smaller batches ask again.
            # Where such a batch is the one of before, the answer that was kept is not taken for a second one.
            silent, self._again = self._silent(listed), True
            self._collect(silent, WORK_PROPERTIES, "works once more", halved=True)
            self._again = False
            found.failed += self._silent(silent)
        # Which characters say that they are in a work (P1441), which books that they are of a series (P179)
        items = _in_order({work for work in listed if is_item(work)})
        what = "characters present in works"
        self._ask_all(items, POINTING_PROPERTIES, what, POINTING, unit="works", mark="^")
        # Books of the series among the works: these books may have no cast of their own
        books = [book for book in self._items(listed, f"^{SERIES}") if works is None and is_item(book)]
        self._collect(books, WORK_PROPERTIES, "books of series")
        if settings.require_author:
            books = [book for book in books if found.of(book).get(AUTHOR)]
        found.works = _in_order({found.current(work) for work in (*listed, *books) if found.of(work)})
        series = self._items([work for work in found.works if not cast_of(found, work)], SERIES)
        self._collect(series, WORK_PROPERTIES, "series")
        sources = (*found.works, *series)
        cast = {person for work in sources for person in cast_of(found, work)}
        persons = _in_order({*cast, *self._items(sources, AUTHOR)})
        self._collect(persons, PERSON_PROPERTIES, "characters and authors")
        with suppress(OfflineError):  # answers kept by older versions lack this question
            self._collect(self._silent(persons), PERSON_PROPERTIES, "characters once more", halved=True)
        # Ask once more, in all languages, for those who have a label in none of the wanted ones
        current = {found.current(person) for person in persons if is_item(person)}
        nameless = [p for p in current - set(found.failed) if LABEL not in found.facts.get(p, {})]
        self._ask_all(_in_order(nameless), (LABEL,), "other languages", FACTS)
        # The labels and superclasses of all classes of works and characters, a few levels up
        asked: set[str] = set()
        level = self._items((*found.works, *persons), CLASS)
        for _ in range(_CLASS_LEVELS):
            level = [item for item in level if is_item(item) and item not in asked]
            asked.update(level)
            self._collect(level, CLASS_PROPERTIES, "classes")
            level = self._items(level, SUBCLASS)
        return found

    def _silent(self, items: Sequence[str]) -> list[str]:
        """The items of which nothing came, though no query for them failed."""
        gone = {*self._found.failed, *self._found.facts}
        return [item for item in items if is_item(item) and item not in gone]

    def _items(self, items: Collection[str], name: str) -> list[str]:
        """The values of a property of all items, each once, in order."""
        return _in_order({_short_item(t.value) for item in items for t in self._found.of(item).get(name, ())})

    def _all_works(self) -> list[str]:
        """All works that have a character (and an author, P50, if it is required), each once, by number.

        A part that the service cannot answer for, however small, is named in `failed`. Raises SourceError:
        the service lists no work at all.
        """
        failed = self._found.failed
        author = _AUTHOR if self._settings.require_author else ""
        query = SUBJECTS.format(what="(COUNT(*) AS ?works)", ending="", author=author)
        try:
            rows = self._endpoint.ask(query, lambda rows: "" if self._number(rows) else "an empty answer")
            counted = self._number(rows)
        except TooHeavyError:
            counted = 0
        works: list[str] = []
        with begun(self._progress, "list of works", None, "works") as advance:
            for rows in self._by_digits(author, int(counted * _LEAST_SHARE)):
                advance(len(rows))
                works += [self._cells(row, "work")[0].value for row in rows]
        if not works:
            what = f"{self._endpoint.address} lists no work with characters"
            hint = "is this a service over Wikidata's data? Run the same command again later"
            raise SourceError(what, expected="tens of thousands", hint=hint)
        if not failed and len(works) < counted * _LEAST_SHARE:
            failed.append(f"{counted - len(works):,} works that the service counts but does not list")
        return _in_order({_short_item(work) for work in works if work.startswith(ENTITY)})

    def _number(self, rows: list[Row]) -> int:
        text = self._cells(rows[0], "works")[0].value if rows else "0"
        if not (text.isdigit() and text.isascii()):
            raise SourceError("the service gave no number of works", expected="a number", found=text)
        return int(text)

    def _by_digits(self, author: str, least: int, digits: str = "") -> Iterator[list[Row]]:
        """The works, in one piece of at least so many rows, or by the last digits of their numbers."""
        ending = _ENDING.format(digits=digits) if digits else ""
        query = SUBJECTS.format(what="?work", ending=ending, author=author)
        try:
            yield self._endpoint.ask(query, lambda rows: "half an answer" if len(rows) < least else "")
        except TooHeavyError:
            if len(digits) == _MOST_DIGITS:
                self._found.failed.append(f"works that end in {digits}")
                return
            for digit in "0123456789":
                yield from self._by_digits(author, 0, digit + digits)

    def _collect(
        self, items: Collection[str], properties: tuple[str, ...], what: str, halved: bool = False
    ) -> None:
        """Add the facts of `items`, `halved`: half as many at once, and of those they were merged into."""
        size = self._settings.works_batch if properties == WORK_PROPERTIES else self._settings.persons_batch
        size = max(1, size // 2) if halved else size
        languages = ", ".join(f'"{language.lower()}"' for language in self._settings.languages)
        language, found = LANGUAGE_FILTER.format(languages=languages), self._found
        wanted = _in_order({item for item in items if is_item(item)} - set(found.facts))
        while wanted:
            self._ask_all(wanted, properties, what, FACTS, size=size, language=language)
            # Note which of the items asked for were merged into others; the others are asked for next
            for item in wanted:
                facts = found.facts.get(item, {})
                same = [t.value for t in facts.get(SAME, ()) if t.value.startswith(ENTITY)]
                if same and not facts.keys() - {SAME}:
                    found.redirects[item] = min(map(_short_item, same), key=item_number)
            wanted = _in_order({*found.redirects.values()} - {*found.facts, *wanted})

    def _ask_all(
        self, items: Sequence[str], properties: tuple[str, ...], what: str, query: str, *, size: int = 0,
        language: str = "", unit: str = "items", mark: str = "",
    ) -> None:  # fmt: skip
        """Add what the service answers for the properties of `items`, batch by batch."""
        with begun(self._progress, what, len(items), unit) as advance:
            for batch in _batches(items, size or self._settings.persons_batch):
                for row in chain.from_iterable(self._dividing(batch, properties, query, language)):
                    item, property_, value = self._cells(row, *_COLUMNS)
                    facts = self._found.facts.setdefault(_short_item(item.value), {})
                    cut = max(map(property_.value.rfind, "/#")) + 1
                    space, name = property_.value[:cut], property_.value[cut:]
                    values = facts.setdefault(f"{mark}{_SHORT.get(space, space)}{name}", [])
                    if value not in values:
                        values.append(value)
                advance(len(batch))

    def _dividing(
        self, batch: list[str], properties: tuple[str, ...], query: str, language: str
    ) -> Iterator[list[Row]]:
        """The answers for a batch, in one piece or in eighths; items that fail alone are added to `failed`.

        In eighths, since every refusal may cost the minute that the service tries for.
        """
        # Pairs, not two lists: engines then look each pair up instead of joining with all statements.
        pairs = " ".join(f"(wd:{item} {property_})" for item in batch for property_ in properties)
        text, least = query.format(pairs=pairs, language=language), _LIMITS if len(batch) > 1 else 1 << 62
        try:
            rows = self._endpoint.ask(text, lambda rows: self._complaint(rows, least), anew=self._again)
            # To so many items somebody answers: an empty answer is not believed at once.
            yield rows or self._endpoint.ask(text, anew=len(batch) >= _SURE)
        except TooHeavyError:
            if len(batch) == 1:
                self._found.failed.extend(batch)
                return
            for part in _batches(batch, -(-len(batch) // 8)):
                yield from self._dividing(part, properties, query, language)

    def _complaint(self, rows: list[Row], limits: int) -> str:
        """Raises SourceError, before the answer is kept: a row lacks a column."""
        for row in rows:
            self._cells(row, *_COLUMNS)
        return CUT_OFF if rows and not len(rows) % limits else ""

    def _cells(self, row: Row, *names: str) -> list[Term]:
        """Cells of a row. Raises SourceError when the service left one out: it answers something else."""
        for name in sorted({*names} - row.keys()):
            what = f"{self._endpoint.address} gave a row without ?{name}"
            found = f"?{', ?'.join(sorted(row)) or '(an empty row)'}"
            hint = "is this the address of a SPARQL service over Wikidata's data?"
            raise SourceError(what, expected=f"a value of ?{name} in every row", found=found, hint=hint)
        return [row[name] for name in names]


def cast_of(found: WikidataFacts, work: str) -> list[str]:
    """The characters of a work: those that it lists (P674) and those that say they are in it (P1441)."""
    facts = found.of(work)
    return [_short_item(term.value) for name in (CHARACTER, f"^{PRESENT_IN}") for term in facts.get(name, ())]


def _batches(items: Sequence[str], size: int) -> Iterator[list[str]]:
    for start in range(0, len(items), size):
        yield list(items[start : start + size])


def _in_order(items: Collection[str]) -> list[str]:
    return sorted(items, key=item_number)


def is_item(name: str) -> bool:
    """Whether a short name is an item ("Q42"); values may also be blank nodes ("unknown author")."""
    return name[:1] == "Q" and name[1:].isdigit()


def item_number(item: str) -> tuple[int, str]:
    """Order of items: by number; whatever is no item comes last, by name."""
    return (int(item[1:]), "") if is_item(item) else (1 << 62, item)


def _short_item(value: str) -> str:
    return value.removeprefix(ENTITY)
