"""Apply corrections to an annotation, one after the other. What cannot be done is listed, never dropped."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from ..books.annotation import Annotation, Marked, Quote
from ..shapes import attributes
from ..words import fold
from .locate import Finder, not_found
from .naming import CONFIRM, MAKE, Callings
from .operations import Anchor, Edit

STEP = "edit"
"""The step that corrected mentions carry."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """Edit number `number` (from 1) and why it needs a person.

    `applied` says whether it was done all the same (it overrides an earlier edit) or left out.
    """

    number: int
    edit: Edit
    reason: str
    applied: bool = False

    def to_dict(self) -> dict[str, Any]:
        return attributes(self, "number reason applied edit")


@dataclass(frozen=True, slots=True)
class Applied:
    """The corrected annotation; how many edits changed it, how many said what it said already; conflicts.

    `moved` counts places that were found by their words at other tokens than the edit names.
    """

    annotation: Annotation
    changed: int
    unchanged: int
    moved: int
    conflicts: tuple[Conflict, ...]

    @property
    def unmentioned(self) -> list[str]:
        """Characters that no mention, quote or drop is about: a file of the annotation does not hold them."""
        a = self.annotation
        about = {m.character for m in a.mentions} | {d.character for d in a.dropped} | a.heard
        return [name for i, name in enumerate(a.names) if i not in about]

    def to_dict(self) -> dict[str, Any]:
        told = attributes(self, "changed unchanged moved conflicts unmentioned")
        return {"doc_key": self.annotation.doc_key, **told}


def apply(annotation: Annotation, edits: Iterable[Edit]) -> Applied:
    """The annotation with the edits applied in their order; edits of other documents are passed over."""
    work = _Editing(annotation)
    for number, edit in enumerate(edits, 1):
        if edit.doc_key in ("", annotation.doc_key):
            work.do(number, edit)
    return work.result()


def aliases_of(annotation: Annotation) -> dict[str, list[str]]:
    """The other names in the cast that came with an annotation."""
    given = annotation.extra.get("cast")
    rows = [row for row in given if isinstance(row, dict)] if isinstance(given, list) else []
    known = {str(row.get("name")): row.get("aliases") for row in rows}
    listed = ((k, names) for k, names in known.items() if isinstance(names, list))
    return {k: [name for name in names if isinstance(name, str)] for k, names in listed}


class EditRefused(Exception):
    """The edit cannot be done; the message is the reason."""


class Said:
    """What edits said of mentions and quotes, to find the later one of two that contradict each other."""

    def __init__(self) -> None:
        self._earlier: dict[tuple[bool, int, int], tuple[int, str | None, str | None]] = {}

    def otherwise(self, number: int, edit: Edit, span: tuple[int, int]) -> list[Conflict]:
        """The conflict of an edit with an earlier one that says something else and is not known to it."""
        if edit.op not in ("link", "unlink", "speaker") or edit.also:
            return []
        now = {"link": edit.character, "speaker": edit.speaker}.get(edit.op)
        key = (edit.op == "speaker", *span)
        earlier, before, old = self._earlier.get(key, (0, None, None))
        self._earlier[key] = number, now, edit.was
        other = edit.op == "unlink" and edit.was not in (None, old)  # a mention of two people loses one
        if not earlier or other or fold(before or "") in (fold(now or ""), fold(edit.was or "")):
            return []
        told = f"edit {earlier} says that this is {before or 'nobody'}; the later one is taken"
        return [Conflict(number, edit, told, True)]


class _Editing:
    """The annotation while it is being corrected."""

    def __init__(self, annotation: Annotation) -> None:
        self.annotation = annotation
        self.names = list(annotation.names)
        self.number = dict(annotation.index)
        self.callings = Callings()
        aliases = aliases_of(annotation)
        for i, name in enumerate(self.names):
            self.callings.add(i, name, aliases.get(name, ()))
        self.guessed = set(annotation.guessed)
        self.links: dict[tuple[int, int], dict[int, Marked]] = {}
        for m in annotation.mentions:
            self.links.setdefault((m.start, m.end), {})[m.character] = m
        self.quotes = {(q.start, q.end): q for q in annotation.quotes}
        self.finder = Finder(annotation.book.tokens)
        self.said, self.overridden = Said(), list[Conflict]()
        self.changed = self.unchanged = self.moved = 0
        self.conflicts: list[Conflict] = []

    def do(self, number: int, edit: Edit) -> None:
        try:
            span = self._place(edit.at) if edit.at is not None else (-1, -1)
            span, shared = self._quote(span) if edit.op == "speaker" else (span, "")
            self.overridden = self.said.otherwise(number, edit, span)
            if shared:
                told = f"it shares words with the quote of tokens {shared}; both stand now"
                self.overridden.append(Conflict(number, edit, told, True))
            did = getattr(self, f"_{edit.op}")(edit, span)
        except EditRefused as refused:
            self.conflicts.append(Conflict(number, edit, str(refused)))
            return
        self.conflicts += self.overridden
        self.changed += did
        self.unchanged += not did

    def result(self) -> Applied:
        mentions = [m for group in self.links.values() for m in group.values()]
        done = replace(
            self.annotation, names=tuple(self.names), mentions=tuple(sorted(mentions)),
            quotes=tuple(sorted(self.quotes.values())), guessed=frozenset(self.guessed),
        )  # fmt: skip
        return Applied(done, self.changed, self.unchanged, self.moved, tuple(self.conflicts))

    # --- places and names

    def _place(self, anchor: Anchor) -> tuple[int, int]:
        found = self.finder.find(anchor)
        if found is None:
            raise EditRefused(not_found(anchor, self.annotation.book.tokens))
        self.moved += found != (anchor.start, anchor.end)
        return found

    def _quote(self, span: tuple[int, int]) -> tuple[tuple[int, int], str]:
        """The quote that shares half of the tokens; else the place, and the quotes that have a part of it."""
        shared = {(a, b): min(b, span[1]) - max(a, span[0]) + 1 for a, b in self.quotes}
        shared = {q: n for q, n in shared.items() if n > 0}
        halves = (q for q, n in shared.items() if 2 * n >= max(q[1] - q[0], span[1] - span[0]) + 1)
        key = span if span in shared else next(halves, span)
        return key, "" if key in shared else ", ".join(f"{a} to {b}" for a, b in sorted(shared))

    def _known(self, name: str | None) -> int:
        """Who has exactly this name; -1 for nobody."""
        return self.callings.final(self.number.get(name or "", -1))

    def _character(self, name: str) -> int:
        if (known := self._known(name)) >= 0:
            return known
        if len(called := self.callings.called(name)) == 1:
            return next(iter(called))
        raise EditRefused(f"no character is called {name!r}{self.callings.offered(name, self.names) or MAKE}")

    def _corrected(self, edit: Edit, span: tuple[int, int], character: int, kind: str) -> Marked:
        rule = f"corrected by {edit.author}" if edit.author else "corrected"
        return Marked(*span, character, STEP, rule, 1.0, kind)

    # --- operations: each returns whether it changed anything

    def _link(self, edit: Edit, span: tuple[int, int]) -> bool:
        character = self._character(edit.character)
        here = self.links.setdefault(span, {})
        if character in here and (edit.was in (None, edit.character) or edit.was not in self.number):
            same = here[character].step == STEP
            here[character] = self._corrected(edit, span, character, here[character].kind)
            return not same
        was = self._known(edit.was)
        old = here.pop(was, None) if was >= 0 else None
        if edit.also:
            here[character] = self._corrected(edit, span, character, "")
            return True
        if old is None and len(here) == 1:
            _, old = here.popitem()
        elif old is None and len(here) > 1 and edit.was is not None:
            told = " and ".join(self.names[c] for c in here)
            raise EditRefused(f"the mention is not {edit.was} but {told}: which of them is {edit.character}?")
        here[character] = self._corrected(edit, span, character, old.kind if old else "")
        return True

    def _unlink(self, edit: Edit, span: tuple[int, int]) -> bool:
        here = self.links.get(span, {})
        every = edit.was is None or self.overridden
        gone = [c for c in here if every or c == self._character(edit.was or "")]
        if here and not gone:
            told = " and ".join(self.names[c] for c in here)
            raise EditRefused(f"the mention is not {edit.was} but {told}")
        for character in gone:
            del here[character]
        return bool(gone)

    def _span(self, edit: Edit, span: tuple[int, int]) -> bool:
        assert edit.to is not None
        to = self._place(edit.to)
        here, there = self.links.get(span, {}), self.links.setdefault(to, {})
        was = self._known(edit.was)
        if was not in here:
            if was in there:
                return False
            if len(here) != 1:
                raise EditRefused(f"there is no mention of {edit.was or 'one character'} with these words")
            was = next(iter(here))
        there[was] = self._corrected(edit, to, was, here.pop(was).kind)
        return True

    def _speaker(self, edit: Edit, span: tuple[int, int]) -> bool:
        speaker = -1 if edit.speaker is None else self._character(edit.speaker)
        addressees = tuple(self._character(name) for name in edit.addressees)
        rule = self._corrected(edit, span, speaker, "").rule
        old, self.quotes[span] = self.quotes.get(span), Quote(*span, speaker, addressees, rule, 1.0)
        return old is None or (old.speaker, old.addressees) != (speaker, addressees)

    def _new(self, edit: Edit, span: tuple[int, int]) -> bool:
        if edit.character in self.number:
            return False
        if not edit.confirmed and (may_be := self.callings.offered(edit.character, self.names)):
            raise EditRefused(f"{edit.character!r} would be a new person{may_be}{CONFIRM}")
        self.callings.add(len(self.names), edit.character)
        self.number[edit.character] = len(self.names)
        self.names.append(edit.character)
        return True

    def _rename(self, edit: Edit, span: tuple[int, int]) -> bool:
        if edit.character not in self.number and edit.name in self.number:
            return False
        place = self._character(edit.character)
        if edit.name in self.number and edit.name != edit.character:
            raise EditRefused(f"there is a {edit.name!r} already; to join them, merge")
        if not edit.confirmed and (may_be := self.callings.offered(edit.name, self.names, place)):
            raise EditRefused(f"{edit.name!r} may be another's name{may_be}{CONFIRM}")
        self.callings.add(place, edit.name)
        self.names[place] = edit.name
        self.number = {name: i for name, i in self.number.items() if i != place} | {edit.name: place}
        self.guessed.discard(place)
        return edit.name != edit.character

    def _seen(self, edit: Edit, span: tuple[int, int]) -> bool:
        return False

    def _merge(self, edit: Edit, span: tuple[int, int]) -> bool:
        into = self._character(edit.into)
        if edit.character not in self.number and not self.callings.offered(edit.character, self.names, into):
            return False  # they were joined before
        gone = self._character(edit.character)
        if gone == into:
            return False
        self.callings.joined[gone] = into
        changed = False
        for place, here in self.links.items():
            if (old := here.pop(gone, None)) is not None:
                here.setdefault(into, self._corrected(edit, place, into, old.kind))
                changed = True
        for key, q in self.quotes.items():
            if gone in (q.speaker, *q.addressees):
                named = dict.fromkeys(into if a == gone else a for a in q.addressees)
                speaker = into if q.speaker == gone else q.speaker
                self.quotes[key] = q._replace(speaker=speaker, addressees=tuple(named))
                changed = True
        return changed
