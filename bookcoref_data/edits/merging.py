"""Corrections of one book by several people as one list: what agrees is kept once, the rest is listed."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from ..books.layout import TokenRange, join_tokens
from .operations import UNSURE, Edit

Decided = tuple[object, ...]
Row = tuple[str, int, int, Edit]
"""The time of an edit, whose it is, its number among theirs, and the edit."""
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
    said: dict[Decided, list[Row]] = defaultdict(list)
    for person, edits in enumerate(people):
        time = ""
        for number, edit in enumerate(edits):
            time = max(time, edit.date)
            said[subject(edit)].append((time, person, number, edit))
    kept, bad = list[Row](), list[Disagreement]()
    for rows in said.values():
        agreed, apart = _of_one_subject(rows)
        kept += agreed
        bad += apart
    pairs = _called_right(said, kept)
    bad += {seen[1:3]: _apart(seen[-1], other[-1]) for seen, other in pairs}.values()
    left = {row[1:3] for pair in pairs for row in pair}
    kept = [row for row in kept if row[1:3] not in left]
    # Whom one joins to a person, another may join the other way round: which name stays would be chance.
    joins = {(row[-1].doc_key, row[-1].character): row for row in kept if row[-1].op == "merge"}
    # Nor does anybody join those whom another has looked at and found to be two.
    two = {_pair(row[-1]): row for row in kept if row[-1].op == "seen" and row[-1].name != UNSURE}
    for row in list(joins.values()):
        ring = [row]
        while (after := joins.get((row[-1].doc_key, ring[-1][-1].into))) and after not in ring:
            ring.append(after)
        closed = ring if ring[-1][-1].into == row[-1].character else [two.get(_pair(row[-1]), row)]
        if other := next((one for one in closed if one[1] != row[1]), None):
            bad.append(Disagreement(row[-1].character, row[-1], other[-1]))
            joins = {key: one for key, one in joins.items() if one not in (row, *closed)}
    kept = [row for row in kept if row[-1].op != "merge" or row in joins.values()]
    return MergedEdits(tuple(edit for *_, edit in sorted(kept, key=lambda row: row[:3])), tuple(bad))


def _of_one_subject(rows: Sequence[Row]) -> tuple[list[Row], list[Disagreement]]:
    """What is agreed of one mention, quote or character, and the two that do not agree; `rows` person by
    person."""
    told: dict[tuple[int, str | None], list[Row]] = {}
    for row in rows:
        person, edit = row[1], row[-1]
        whom = edit.character if edit.also else edit.was if edit.op in _OF_MENTIONS else None
        if whom is None:  # of all who are there: this person's earlier word is taken back
            told = {one: line for one, line in told.items() if one[0] != person}
        elif not edit.also:  # of somebody whom an earlier edit put there: one line of edits
            put = (o for (p, o), line in told.items() if p == person and line[-1][-1].character == whom)
            whom = next(put, whom)
        told.setdefault((person, whom), []).append(row)
    # Of a mention of two people, each may be corrected by another person.
    met = [
        (one, other) for one, other in combinations(told, 2)
        if one[0] != other[0] and (one[1] == other[1] or None in (one[1], other[1]))
    ]  # fmt: skip
    final, lines = {row[1]: decision(row[-1]) for row in rows}, Counter(person for person, _ in told)
    for one, other in met:
        last, theirs = told[one][-1][-1], told[other][-1][-1]
        # Who was asked again, after another reading, said it of somebody else (`was`), but of one mention.
        again = final[one[0]] == final[other[0]] and 1 in (lines[one[0]], lines[other[0]])
        if not again and decision(last) != decision(theirs):
            return [], [_apart(last, theirs)]
    twice = {other for _, other in met}
    return [row for one, line in told.items() if one not in twice for row in line], []


def _called_right(said: Mapping[Decided, Sequence[Row]], kept: Iterable[Row]) -> list[tuple[Row, Row]]:
    """What one has found right and another corrects: at one place, or at all with its words."""
    made = defaultdict[Decided, list[Row]](list)
    for row in kept:
        e = row[-1]
        if e.at and e.op in _OF_MENTIONS and (e.op, e.character) != ("link", e.was):
            for about in (subject(e), (e.doc_key, e.at.words)):
                made[about].append(row)
    found = []
    for seen in (row for rows in said.values() for row in rows if row[-1].op == "seen"):
        e = seen[-1]
        if e.at and ("why" in e.extra or not e.group) and not e.into and e.name != UNSURE:
            place = e.doc_key, "mention", e.at.start, e.at.end
            about = place if "why" in e.extra else (e.doc_key, e.at.words)
            if all(row[1] != seen[1] for row in said.get(place, ())):  # else it has corrected it, too
                found += [(seen, row) for row in made[about] if row[1] != seen[1]]
    return found


def _apart(one: Edit, other: Edit) -> Disagreement:
    words = one.at.words.split() if one.at else []
    text = join_tokens(words, [TokenRange(0, len(words))])[0].strip('“”"')
    return Disagreement(f"“{text}” (token {one.at.start})" if one.at else one.character, one, other)


def _pair(edit: Edit) -> Decided:
    return edit.doc_key, *sorted((edit.character, edit.into))


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
