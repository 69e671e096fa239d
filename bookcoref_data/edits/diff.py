"""The corrections that lead from one annotation to another, and what a new reading changes beside them."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from ..books.annotation import Annotation
from ..shapes import together
from ..words import fold
from .apply import apply
from .locate import Finder
from .operations import Anchor, Edit, anchor_of

Place = tuple[int, int]
Row = tuple[int, int, str]


@dataclass(frozen=True, slots=True)
class Diff:
    """Edits that make `new` of `old`. `lost` are places of `new` that are not in the text of `old`, `unseen`
    those of `old` that are not in the text of `new`: of these nothing is said."""

    edits: tuple[Edit, ...]
    lost: tuple[Anchor, ...] = ()
    unseen: tuple[Anchor, ...] = ()


def diff(old: Annotation, new: Annotation, *, author: str = "", date: str = "") -> Diff:
    """What a person changed between two annotations of a text, as edits over the old one.

    Characters are paired by name, then by the mentions they share. Where the texts differ, places are found
    in the other one by their words; what only one of them has is listed, and stays as it is.
    """
    lost, unseen = list[Anchor](), list[Anchor]()
    if old.book.tokens != new.book.tokens:
        there = [m for m, _ in _found(old, new, old.mentions, unseen)]
        mentions = [m._replace(start=a, end=b) for m, (a, b) in _found(new, old, new.mentions, lost)]
        quotes = [q._replace(start=a, end=b) for q, (a, b) in _found(new, old, new.quotes, lost)]
        new = replace(new, book=old.book, mentions=tuple(sorted(mentions)), quotes=tuple(quotes))
        old = replace(old, mentions=tuple(there))
    structure = list(_structure(old, new))
    middle = apply(old, structure).annotation
    edits = [*structure, *_links(middle, new), *_speakers(middle, new)]
    told = tuple(replace(e, doc_key=old.doc_key, author=author, date=date) for e in edits)
    return Diff(told, tuple(lost), tuple(unseen))


def _found(one: Annotation, other: Annotation, marked: Iterable[Any], lost: list[Anchor]) -> Iterator[Any]:
    """(what is marked in `one`, its place in the text of `other`); in `lost` goes what is not there.

    From its place the way must lead back: a few words may stand in another part of the book by chance.
    """
    there, back = Finder(other.book.tokens), Finder(one.book.tokens)
    for each in marked:
        anchor = anchor_of(one.book.tokens, each.start, each.end)
        place = there.find(anchor)
        if place and back.find(anchor_of(other.book.tokens, *place)) == (each.start, each.end):
            yield each, place
        else:
            lost.append(anchor)


def _structure(old: Annotation, new: Annotation) -> Iterator[Edit]:
    """New characters, renamed ones, and those that were joined."""
    # Character of old -> character of new: the same name, else the most common mentions
    pairs = {o: new.index[name] for name, o in old.index.items() if name in new.index}
    # A name that lost all its mentions may have been joined with another: it is no pair.
    pairs = {o: n for o, n in pairs.items() if new.by_character[n] or not old.by_character[o]}
    taken = set(pairs.values())
    spans = together(((m.start, m.end), m.character) for m in new.mentions)
    common: Counter[Place] = Counter()
    for m in old.mentions:
        for n in spans.get((m.start, m.end), ()):
            if m.character not in pairs and n not in taken:
                common[m.character, n] += 1
    for (o, n), count in common.most_common():
        if o not in pairs and n not in taken and 2 * count > len(old.by_character[o]):
            pairs[o] = n
            taken.add(n)
    for o, n in pairs.items():
        if old.names[o] != new.names[n]:
            yield Edit("rename", character=old.names[o], name=new.names[n], confirmed=True)
    back = {n: o for o, n in pairs.items()}
    mentioned = {m.character for m in new.mentions} | new.heard
    for n, name in enumerate(new.names):
        if n not in taken and n in mentioned:
            yield Edit("new", character=name, confirmed=True)
    at_new = {(m.start, m.end, m.character) for m in new.mentions}
    for o, group in enumerate(old.by_character):
        if o in pairs or len(group) < 2:
            continue
        for n in back:
            if all((m.start, m.end, n) in at_new for m in group):
                yield Edit("merge", character=old.names[o], into=new.names[n])
                break


def _links(old: Annotation, new: Annotation) -> Iterator[Edit]:
    """Mentions that moved to somebody else, changed their words, came, or went."""
    was = {(m.start, m.end, old.names[m.character]) for m in old.mentions}
    now = {(m.start, m.end, new.names[m.character]) for m in new.mentions}
    gone, come, at = sorted(was - now), sorted(now - was), partial(anchor_of, old.book.tokens)
    moved = _matched(gone, come, lambda g, c: g[:2] == c[:2])
    edits = [Edit("link", at=at(*g[:2]), was=g[2], character=c[2]) for g, c in moved]
    grown = _matched(gone, come, lambda g, c: g[2] == c[2] and g[0] <= c[1] and c[0] <= g[1])
    edits += [Edit("span", at=at(*g[:2]), was=g[2], to=at(*c[:2])) for g, c in grown]
    edits += [Edit("unlink", at=at(*g[:2]), was=g[2]) for g in gone]
    shared = {place for place, names in Counter(row[:2] for row in now).items() if names > 1}
    edits += [Edit("link", at=at(*c[:2]), character=c[2], also=c[:2] in shared) for c in come]
    yield from sorted(edits, key=lambda e: e.at is not None and (e.at.start, e.at.end))


def _matched(gone: list[Row], come: list[Row], fits: Callable[[Row, Row], bool]) -> list[tuple[Row, Row]]:
    """Pairs of a row that went and one that came; both are taken out of their lists."""
    by_near: list[tuple[Row, Row]] = []
    at = 0
    for g in list(gone):
        while at < len(come) and come[at][1] < g[0] - 100:
            at += 1
        for k in range(at, len(come)):
            if come[k][0] > g[1]:
                break
            if fits(g, come[k]):
                by_near.append((g, come.pop(k)))
                gone.remove(g)
                break
    return by_near


def _speakers(old: Annotation, new: Annotation) -> Iterator[Edit]:
    """Quotes whose speaker or addressees changed; nothing where the new annotation has no quotes."""
    before = {(q.start, q.end): q for q in old.quotes}
    for q in new.quotes:
        o = before.get((q.start, q.end))
        speaker = new.names[q.speaker] if q.speaker >= 0 else None
        addressees = tuple(new.names[c] for c in q.addressees)
        was = None if o is None or o.speaker < 0 else old.names[o.speaker]
        if o is None or (was, tuple(old.names[c] for c in o.addressees)) != (speaker, addressees):
            at = anchor_of(old.book.tokens, q.start, q.end)
            yield Edit("speaker", at=at, speaker=speaker, addressees=addressees)


# -- what a new reading changes beside the corrections it was made with -----------------------------

MOST_ELSEWHERE = 0.01
"""A larger share of somebody's mentions or quotes that changes elsewhere is worth a question."""


@dataclass(frozen=True, slots=True)
class Effect:
    """One character: mentions and quotes before and after. `elsewhere` counts the mentions,
    `quotes_elsewhere` the quotes that came or went at other places than those of the corrections."""

    character: str
    before: int
    after: int
    elsewhere: int
    quotes_before: int
    quotes_after: int
    quotes_elsewhere: int

    @property
    def much(self) -> bool:
        """Whether more than 1 % of what the character had is changed elsewhere; of new ones nothing is."""
        both = (self.elsewhere, self.before), (self.quotes_elsewhere, self.quotes_before)
        return any(changed > MOST_ELSEWHERE * before > 0 for changed, before in both)


def effects(
    before: Annotation, after: Annotation, edits: Iterable[Edit], said: Collection[Place]
) -> list[Effect]:
    """The characters of whom anything changed, those with most changes elsewhere first.

    `said` are the places that corrections speak of. Characters that were renamed or joined count as one.
    """
    # Name before -> name after, where corrections renamed or joined
    called = {fold(name): name for name in before.names}
    for edit in edits:
        into = edit.name if edit.op == "rename" else edit.into if edit.op == "merge" else ""
        was = called.get(fold(edit.character))
        if into and was is not None:
            new_name = called.get(fold(into), into)
            called = {key: new_name if name == was else name for key, name in called.items()}
            called.setdefault(fold(into), into)
    now = {name: called[fold(name)] for name in before.names if called[fold(name)] in after.index}
    old, new = _places(before, now), _places(after, {})
    found = []
    for name in old.keys() | new.keys():
        both = zip(old[name], new[name], strict=True)
        counts = [(len(a), len(b), len((a ^ b).difference(said))) for a, b in both]
        found.append(Effect(name, *counts[0], *counts[1]))
    changed = [e for e in found if e.elsewhere or e.quotes_elsewhere or e.before != e.after]
    return sorted(changed, key=lambda e: (-e.elsewhere - e.quotes_elsewhere, e.character))


def _places(annotation: Annotation, called: dict[str, str]) -> dict[str, tuple[set[Place], set[Place]]]:
    """Name -> the places of the character's mentions and quotes."""
    found: dict[str, tuple[set[Place], set[Place]]] = defaultdict(lambda: (set(), set()))
    names = [called.get(name, name) for name in annotation.names]
    for m in annotation.mentions:
        found[names[m.character]][0].add((m.start, m.end))
    for q in annotation.quotes:
        if q.speaker >= 0:
            found[names[q.speaker]][1].add((q.start, q.end))
    return found
