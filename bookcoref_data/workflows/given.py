"""From a file of corrections to what `annotate` takes as given: a changed cast, links, quotes."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from ..annotation.cast import MOST_PEOPLE, Cast, Entry
from ..annotation.given import Given, Span
from ..annotation.state import Marked
from ..asking.answers import NOBODY
from ..books import Book
from ..edits import Anchor, Conflict, Edit
from ..edits.apply import EditRefused, Said
from ..edits.locate import Finder, not_found
from ..edits.naming import CONFIRM, MAKE, Callings
from ..errors import UsageError
from ..scoring.mention_types import TypeRules
from ..words import honorifics

_NEAR = 1000
"""Tokens before and behind a place in which somebody is named who may be meant there."""
_NO_NAMES = honorifics.HONORIFICS | {"the", "of", "and"}


@dataclass(frozen=True)
class CorrectedInput:
    """The cast with renamed, joined and new characters; what is given; edits that need a person; and how many
    of the edits were taken over."""

    cast: Cast
    given: Given
    conflicts: tuple[Conflict, ...]
    kept: int


def corrections_of(edits: Iterable[Edit], book: Book, cast: Cast) -> CorrectedInput:
    """What a person's edits say of a book before it is annotated; characters go by any name of the cast."""
    work = _Correcting(book, cast)
    for number, edit in enumerate(edits, 1):
        if edit.doc_key in ("", book.doc_key):
            work.do(number, edit)
    return work.result()


class _Correcting:
    """The corrections while they are read; people keep their number when the cast changes."""

    def __init__(self, book: Book, cast: Cast) -> None:
        self.book, self.cast = book, cast
        self.people: list[Entry] = list(cast.entries)
        self.links: dict[Span, int] = {}
        self.nobody: set[Span] = set()
        self.quotes: dict[Span, tuple[int, tuple[int, ...]]] = {}
        self.callings = Callings()
        for i, entry in enumerate(self.people):
            self.callings.add(i, entry.name, entry.aliases)
        self.finder = Finder(book.tokens)
        self.conflicts: list[Conflict] = []
        self.kept, self.said = 0, Said()
        self.first = Edit("seen")
        self.last: dict[tuple[bool, Span], tuple[int, Edit, set[str] | None]] = {}

    def do(self, number: int, edit: Edit) -> None:
        if not edit.group or edit.group != self.first.group:
            self.first = edit
        try:
            getattr(self, f"_{edit.op}")(edit)
            if edit.at is not None:
                span = self._place(edit.at)
                self.conflicts += self.said.otherwise(number, edit, span)
                if edit.op != "seen":
                    # The first edit of an answer has those who were listed when it was given.
                    cast, new = self.first.extra.get("cast"), self.people[len(self.cast.entries) :]
                    listed = {*map(str, cast), *(e.name for e in new)} if isinstance(cast, list) else None
                    self.last[edit.op == "speaker", span] = number, edit, listed
            self.kept += 1
        except EditRefused as refused:
            self.conflicts.append(Conflict(number, edit, str(refused)))

    def _ask_again(self) -> None:
        """Leave out "nobody of the cast" where it may be somebody who was not listed when it was said."""
        for (speech, span), (number, edit, listed) in self.last.items():
            nobody = edit.op == "unlink" or (speech and edit.speaker is None)
            if nobody and edit.at and (new := self._unlisted(edit, edit.at.words, span, listed)):
                what = "the speaker" if speech else f"“{edit.at.words}”"
                told = f"{what} was nobody of the cast when this was said; now it may be {' or '.join(new)}"
                self.conflicts.append(Conflict(number, edit, told))
                self.kept -= 1
                (self.quotes.pop if speech else self.nobody.discard)(span)
        self.conflicts.sort(key=lambda c: c.number)

    def _unlisted(self, edit: Edit, words: str, span: Span, listed: set[str] | None) -> list[str]:
        """Who was not listed then, and is called so now or named near."""
        called = self.callings.called(words) if edit.extra.get("why") == NOBODY else set()
        if listed is None or len(called) == 1:
            return [self.people[i].name for i in called if len(called) == 1]
        near = {t.lower() for t in self.book.tokens[max(0, span[0] - _NEAR) : span[1] + _NEAR]} - _NO_NAMES
        people = [(p.name, *p.aliases) for i, p in enumerate(self.people) if i not in self.callings.joined]
        new = [names for names in people if listed.isdisjoint(names)]
        return [names[0] for names in new if near.intersection(" ".join(names).lower().split())]

    def result(self) -> CorrectedInput:
        self._ask_again()
        left = [i for i in range(len(self.people)) if i not in self.callings.joined]
        place = {person: k for k, person in enumerate(left)}

        def index(person: int) -> int:
            return place[self.callings.final(person)] if person >= 0 else -1

        rules = TypeRules(self.book.tokens, self.book.sentence_ends, [e.name for e in self.people])
        people = {span: (index(person), rules.type_of(*span)) for span, person in self.links.items()}
        links = {s: Marked(*s, who, "edit", "corrected", 1.0, kind) for s, (who, kind) in people.items()}
        quotes = {span: (index(s), tuple(map(index, to))) for span, (s, to) in self.quotes.items()}
        cast = replace(self.cast, entries=tuple(self.people[i] for i in left))
        if len(left) > MOST_PEOPLE:
            raise UsageError(f"with the corrections the cast has more than {MOST_PEOPLE:,} characters")
        given = Given(links, frozenset(self.nobody), quotes)
        return CorrectedInput(cast, given, tuple(self.conflicts), self.kept)

    def _who(self, name: str) -> int:
        found = self.callings.called(name)
        exact = {i for i in found if self.people[i].name == name}
        if len(exact or found) == 1:
            return next(iter(exact or found))
        raise EditRefused(f"no character is called {name!r}{self._offered(name) or MAKE}")

    def _offered(self, name: str, but: int = -1) -> str:
        """Who may be meant by a name, as the end of a message; "" where nobody may."""
        return self.callings.offered(name, [person.name for person in self.people], but)

    def _place(self, anchor: Anchor | None) -> Span:
        found = self.finder.find(anchor) if anchor is not None else None
        if found is None:
            raise EditRefused(not_found(anchor, self.book.tokens) if anchor else "the edit has no place")
        return found

    # --- operations

    def _link(self, edit: Edit) -> None:
        span, person = self._place(edit.at), self._who(edit.character)
        if edit.also and span in self.links:
            raise EditRefused("the annotation takes one character per mention; the first one is kept")
        self.links[span] = person
        self.nobody.discard(span)

    def _unlink(self, edit: Edit) -> None:
        span = self._place(edit.at)
        self.links.pop(span, None)
        self.nobody.add(span)

    def _span(self, edit: Edit) -> None:
        span, to = self._place(edit.at), self._place(edit.to)
        person = self._who(edit.was) if edit.was is not None else self.links.get(span, -1)
        if person < 0:
            raise EditRefused("the edit does not say whose mention it is ('was')")
        self.links.pop(span, None)
        self.nobody.add(span)
        self.links[to] = person
        self.nobody.discard(to)

    def _speaker(self, edit: Edit) -> None:
        speaker = -1 if edit.speaker is None else self._who(edit.speaker)
        self.quotes[self._place(edit.at)] = (speaker, tuple(self._who(name) for name in edit.addressees))

    def _new(self, edit: Edit) -> None:
        if self._is_called(edit.character):
            return
        if not edit.confirmed and (may_be := self._offered(edit.character)):
            raise EditRefused(f"{edit.character!r} would be a new person{may_be}{CONFIRM}")
        self.callings.add(len(self.people), edit.character)
        self.people.append(Entry(edit.character))

    def _is_called(self, name: str) -> bool:
        """Whether this is exactly somebody's name in the output."""
        return any(self.people[i].name == name for i in self.callings.called(name))

    def _rename(self, edit: Edit) -> None:
        person = self._who(edit.character)
        if self._is_called(edit.name) and self.people[person].name != edit.name:
            raise EditRefused(f"there is a {edit.name!r} already; to join them, merge")
        if not edit.confirmed and (may_be := self._offered(edit.name, but=person)):
            raise EditRefused(f"{edit.name!r} may be another's name{may_be}{CONFIRM}")
        self.callings.add(person, edit.name)
        old = self.people[person]
        aliases = [n for n in dict.fromkeys((*old.aliases, old.name)) if n != edit.name]
        self.people[person] = Entry(edit.name, tuple(aliases), old.gender)

    def _seen(self, edit: Edit) -> None:
        """Nothing changes."""

    def _merge(self, edit: Edit) -> None:
        gone, into = self._who(edit.character), self._who(edit.into)
        if gone == into:
            return
        a, b = self.people[into], self.people[gone]
        names = [n for n in dict.fromkeys((*a.aliases, b.name, *b.aliases)) if n != a.name]
        self.people[into] = Entry(a.name, tuple(names), a.gender or b.gender)
        self.callings.joined[gone] = into
