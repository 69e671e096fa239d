"""What a new reading changes beside the corrections it was made with: mentions and quotes by character."""

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from ..books.annotation import Annotation
from ..words import fold
from .operations import Edit

Span = tuple[int, int]
MOST = 0.01
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
        mentions = self.elsewhere > MOST * self.before > 0
        return mentions or self.quotes_elsewhere > MOST * self.quotes_before > 0


def effects(
    before: Annotation, after: Annotation, edits: Iterable[Edit], said: Collection[Span]
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
        (mentions, quotes), (mentions_now, quotes_now) = old[name], new[name]
        found.append(Effect(
            name, len(mentions), len(mentions_now), len((mentions ^ mentions_now).difference(said)),
            len(quotes), len(quotes_now), len((quotes ^ quotes_now).difference(said)),
        ))  # fmt: skip
    changed = [e for e in found if e.elsewhere or e.quotes_elsewhere or e.before != e.after]
    return sorted(changed, key=lambda e: (-e.elsewhere - e.quotes_elsewhere, e.character))


def _places(annotation: Annotation, called: dict[str, str]) -> dict[str, tuple[set[Span], set[Span]]]:
    """Name -> the places of the character's mentions and quotes."""
    found: dict[str, tuple[set[Span], set[Span]]] = defaultdict(lambda: (set(), set()))
    names = [called.get(name, name) for name in annotation.names]
    for m in annotation.mentions:
        found[names[m.character]][0].add((m.start, m.end))
    for q in annotation.quotes:
        if q.speaker >= 0:
            found[names[q.speaker]][1].add((q.start, q.end))
    return found
