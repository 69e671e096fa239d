"""People whom the book names and the cast does not list.

A cast is often short. A reader who knows the listed characters only takes every "he" for one of them, also
where somebody else is on the scene. So the people that `propose_cast` finds in the book are read along as
silent competitors: they take the pronouns and quotes that are theirs, and are left out of the result.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...books import Book
from ...words import honorifics
from ..cast import Cast, Entry
from ..grouping import Group
from ..propose import propose_cast
from ..state import Marked
from .linking import link_hits
from .names import NameTable, Person, book_words, is_another_woman, name_words
from .parsing import Parse

_Listed = tuple[Person, list[set[str]]]
"""Somebody of the cast with the words of each name."""
LEAST_NAMED = 4
"""Times that somebody must be named to be read along."""
MOST = 120


def find_outsiders(
    book: Book, cast: Cast, parse: Parse, groups: Sequence[Group] | None = None
) -> tuple[Entry, ...]:
    """The people of the book that no name of the cast means, most frequent first; `groups` are all its names
    by person, where they are known."""
    table = NameTable(cast)
    table.learn(book_words(book.tokens))
    known = [(person, _words_of_names(person)) for person in table.people]
    found = []
    proposal = propose_cast(book, parse=parse, least=LEAST_NAMED, most=MOST, allow_none=True, groups=groups)
    for entry in proposal.cast.entries:
        names = [name for name in (entry.name, *entry.aliases) if not _is_listed(name, table, known)]
        if entry.name in names:
            found.append(Entry(entry.name, tuple(names[1:])))
    return tuple(found)


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


def _words_of_names(person: Person) -> list[set[str]]:
    return [set(name_words(name)) for name in (person.entry.name, *person.entry.aliases)]


def _is_another(titles: set[str], person: Person, names: Sequence[set[str]]) -> bool:
    """Whether these titles are another's of the same surname: Mrs. Bast is not Leonard Bast, Dr. Grant is not
    Mrs. Grant, and Mrs. Price is not Miss Price."""
    own = set().union(*names)
    genders = {_gender(title) for title in titles - own} | {person.gender}
    return genders >= {"m", "f"} or is_another_woman(titles, own)


def _gender(title: str) -> str:
    """Whom a title belongs to; the doctors and colonels of these books are men."""
    return honorifics.honorific_gender(title) or ("m" if title in honorifics.OFFICES else "")


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
