"""Corrections of one book by several people as one list: what agrees is kept once, the rest is listed."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from .operations import Edit

Decided = tuple[object, ...]


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
    the last word on a place counts; what two say of it must be the same.
    """
    said: dict[Decided, dict[int, tuple[str, int, Edit]]] = defaultdict(dict)
    for person, edits in enumerate(people):
        time = ""
        for number, edit in enumerate(edits):
            time = max(time, edit.date)
            said[subject(edit)][person] = (time, number, edit)
    kept, bad = [], []
    for words in said.values():
        (time, number, one), *others = words.values()
        other = next((edit for *_, edit in others if decision(edit) != decision(one)), None)
        if other is None:
            kept.append((time, min(words), number, one))
        else:
            at = one.at
            told = f"“{at.words}” (token {at.start})" if at is not None else one.character
            bad.append(Disagreement(told, one, other))
    return MergedEdits(tuple(edit for *_, edit in sorted(kept, key=lambda row: row[:3])), tuple(bad))


def subject(edit: Edit) -> Decided:
    """What an edit decides: a mention, a quote, or what becomes of a character."""
    if edit.op == "seen":
        return edit.doc_key, "seen", edit.at.start if edit.at else edit.character, edit.into
    if edit.at is not None:
        what = "quote" if edit.op == "speaker" else edit.character if edit.also else "mention"
        return edit.doc_key, what, edit.at.start, edit.at.end
    return edit.doc_key, "new" if edit.op == "new" else "character", edit.character


def decision(edit: Edit) -> Decided:
    """The edit without who made it, when, and with what."""
    plain = replace(edit, author="", date="", group="", was=None, confirmed=False, extra={})
    return (*subject(edit), repr(plain))
