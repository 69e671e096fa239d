"""People whom the book names and the cast does not list.

A cast is often short. A reader who knows the listed characters only takes every "he" for one of them, also
where somebody else is on the scene. So the people that `propose_cast` finds in the book are read along as
silent competitors: they take the pronouns and quotes that are theirs, and are left out of the result.
"""

from collections import Counter
from collections.abc import Sequence, Set

from ...books import Book
from ...words import honorifics
from ..cast import Cast, Entry
from ..grouping import Group
from ..propose import propose_cast
from ..sightings import LONE_TITLES
from ..state import Marked
from . import lexicon as lex
from .linking import link_hits
from .names import NameTable, Person, is_another_woman, learned_table, name_words
from .parsing import Parse

_Listed = tuple[Person, list[set[str]]]
"""Somebody of the cast with the words of each name."""
LEAST_NAMED = 4
"""Times that somebody must be named to be read along."""
LEAST_TITLED = 8
"""Times that the book must write "the Baron" of somebody who has no other name."""
MOST = 120


def find_outsiders(
    book: Book, cast: Cast, parse: Parse, groups: Sequence[Group] | None = None
) -> tuple[Entry, ...]:
    """The people of the book that no name of the cast means, most frequent first; `groups` are all its names
    by person, where they are known."""
    table, _ = learned_table(cast, book.tokens)
    known = [(p, [set(name_words(n)) for n in (p.entry.name, *p.entry.aliases)]) for p in table.people]
    borne = _titles_borne(cast.entries)
    lone = {f"the {word}" for word in borne}
    found = []
    proposal = propose_cast(book, parse=parse, least=LEAST_NAMED, most=MOST, allow_none=True, groups=groups)
    for entry in proposal.cast.entries:
        names = [
            name
            for name in (entry.name, *entry.aliases)
            if not _is_listed(name, table, known) and name.lower() not in lone
        ]
        if entry.name in names:
            found.append(Entry(entry.name, tuple(names[1:])))
    return (*found, *_called_by_title(book, borne | _titles_borne(found)))


def _titles_borne(entries: Sequence[Entry]) -> set[str]:
    """The words of all names, and the nouns for titles among them: "doctor" for Dr. Hill."""
    words = {word for entry in entries for name in (entry.name, *entry.aliases) for word in name_words(name)}
    return words | {noun for noun, title in lex.TITLE_NOUNS.items() if title in words}


def _called_by_title(book: Book, borne: Set[str]) -> list[Entry]:
    """ "The Baron", where the book writes that often and nobody is known to bear the title."""
    written: Counter[str] = Counter()
    for before, word, behind in zip(book.tokens, book.tokens[1:], book.tokens[2:], strict=False):
        alone = behind != "of" and not behind[:1].isupper()
        if before.lower() == "the" and alone and word[:1].isupper() and word.lower() in LONE_TITLES:
            written[word] += 1
    titles = (title for title, times in written.most_common() if times >= LEAST_TITLED)
    return [Entry(f"the {title}") for title in titles if title.lower() not in borne]


def _is_listed(name: str, table: NameTable, known: Sequence[_Listed]) -> bool:
    """Whether a name is a form of somebody in the cast, or made of the words of one of their names."""
    words = tuple(name_words(name))
    content = {word for word in words if word not in honorifics.HONORIFICS}
    if words in table.forms or not content:
        return True
    titles, singular = set(words) - content, {word.removesuffix("s") for word in content}
    return any(
        (content <= own or singular <= own) and not _is_another(titles, person, names)
        for person, names in known
        for own in names
    )


def _is_another(titles: set[str], person: Person, names: Sequence[set[str]]) -> bool:
    """Whether these titles are another's of the same surname: Mrs. Bast is not Leonard Bast, Dr. Grant is not
    Mrs. Grant, and Mrs. Price is not Miss Price."""
    own, gender_of = set().union(*names), honorifics.honorific_gender
    # The doctors and colonels of these books are men.
    genders = {gender_of(t) or ("m" if t in honorifics.OFFICES else "") for t in titles - own} | {
        person.gender
    }
    return genders >= {"m", "f"} or is_another_woman(titles, own)


def link_outsiders(
    book: Book, cast: Cast, outsiders: tuple[Entry, ...], parse: Parse, taken: list[Marked]
) -> list[Marked]:
    """The names of outsiders in the book, outside the names of the cast; numbered after the cast."""
    if not outsiders:
        return []
    named = {i for m in taken for i in range(m.start, m.end + 1)}
    return [
        m._replace(character=m.character + len(cast.entries))
        for m in link_hits(book, NameTable(Cast(outsiders)), parse, "link")
        if named.isdisjoint(range(m.start, m.end + 1))
    ]
