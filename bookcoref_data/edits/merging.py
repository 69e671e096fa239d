"""Corrections of one book by several people as one list: what agrees is kept once, the rest is listed."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from .operations import Edit

Decided = tuple[object, ...]
_OF_MENTIONS = ("link", "unlink", "span")


@dataclass(frozen=True, slots=True)
class Disagreement:
    """What two people say of the same place or name; neither is among the merged edits."""

    what: str
    one: Edit
    other: Edit


@dataclass(frozen=True, slots=True)
class MergedEdits:
    """The edits that nobody contradicts, by time, and those that do not go together."""

    edits: tuple[Edit, ...]
    disagreements: tuple[Disagreement, ...]


def merge_edits(people: Sequence[Sequence[Edit]]) -> MergedEdits:
    """The edits of several people as one list.

    Edits stay in the order of each person, and are joined by their time where they have one. Of one person
    the last word on a place counts, or on each of the people there; what two say of it must be the same.
    """
    said: dict[Decided, dict[tuple[int, str | None], list[tuple[str, int, int, Edit]]]] = defaultdict(dict)
    for person, edits in enumerate(people):
        time = ""
        for number, edit in enumerate(edits):
            time, told = max(time, edit.date), said[subject(edit)]
            whom = edit.character if edit.also else edit.was if edit.op in _OF_MENTIONS else None
            if whom is None:
                told = said[subject(edit)] = {one: line for one, line in told.items() if one[0] != person}
            elif not edit.also:  # of somebody whom an earlier edit put there: one line of edits
                put = (o for (p, o), line in told.items() if p == person and line[-1][-1].character == whom)
                whom = next(put, whom)
            told.setdefault((person, whom), []).append((time, person, number, edit))
    kept, bad = [], []
    for told in said.values():
        # Of a mention of two people, each may be corrected by another person.
        met = [
            (one, other) for one, other in combinations(told, 2)
            if one[0] != other[0] and (one[1] == other[1] or None in (one[1], other[1]))
        ]  # fmt: skip
        both = ((told[one][-1][-1], told[other][-1][-1]) for one, other in met)
        if apart := next((pair for pair in both if decision(pair[0]) != decision(pair[1])), None):
            at, name = apart[0].at, apart[0].character
            bad.append(Disagreement(f"“{at.words}” (token {at.start})" if at else name, *apart))
        else:
            again = {other for _, other in met}
            kept += [row for one, line in told.items() if one not in again for row in line]
    return MergedEdits(tuple(edit for *_, edit in sorted(kept, key=lambda row: row[:3])), tuple(bad))


def subject(edit: Edit) -> Decided:
    """What an edit decides: a mention, a quote, or what becomes of a character."""
    if edit.op == "seen":
        return edit.doc_key, "seen", edit.at.start if edit.at else edit.character, edit.into
    if edit.at is not None:
        return edit.doc_key, "quote" if edit.op == "speaker" else "mention", edit.at.start, edit.at.end
    return edit.doc_key, "new" if edit.op == "new" else "character", edit.character


def decision(edit: Edit) -> Decided:
    """The edit without who made it, when, and with what."""
    plain = replace(edit, author="", date="", group="", was=None, confirmed=False, extra={})
    return (*subject(edit), repr(plain))
