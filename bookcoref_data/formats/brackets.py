"""Mentions as brackets on tokens, the notation that CoNLL-2012 and CorefUD share.

A bracket closes the innermost open one of its cluster. So two mentions of one cluster that cross
(overlap without one holding the other) cannot be said; where the first ends on the token on which the
second begins, they can, because closing brackets are written first.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ..books import Mention
from ..errors import FormatError
from .conversion_report import Note

CROSSING = "mentions that cross another mention of their own cluster (brackets cannot say which closes)"


class BracketReader:
    """Turns opening and closing brackets, in the order of the text, into clusters.

    `place` ("file:line") names the bracket in errors. Clusters come in the order of their first opening
    bracket, the mentions of each by start and end.
    """

    def __init__(self) -> None:
        self._open: dict[str, list[tuple[int, str]]] = {}
        self._found: dict[str, list[Mention]] = {}

    def open(self, cluster: str, position: int, place: str) -> None:
        self._found.setdefault(cluster, [])
        self._open.setdefault(cluster, []).append((position, place))

    def close(self, cluster: str, position: int, place: str) -> Mention:
        stack = self._open.get(cluster)
        if not stack:
            raise FormatError(
                f"{place}: a bracket of cluster {cluster!r} closes that was not opened",
                expected=f"({cluster} on this or an earlier line of the document",
                hint="mend the coreference column; is a line missing above?",
            )
        mention = Mention(stack.pop()[0], position)
        self._found[cluster].append(mention)
        return mention

    def single(self, cluster: str, position: int) -> Mention:
        mention = Mention(position, position)
        self._found.setdefault(cluster, []).append(mention)
        return mention

    def finish(self) -> dict[str, list[Mention]]:
        """The clusters by id. Raises FormatError naming the first bracket that never closed."""
        left = [(*stack[0], cluster) for cluster, stack in self._open.items() if stack]
        if left:
            _, place, cluster = min(left, key=lambda item: item[0])
            raise FormatError(
                f"{place}: the bracket ({cluster} opens here and never closes",
                expected=f"{cluster}) on this or a later line of the document",
                hint="mend the coreference column; is the file cut short?",
            )
        return {cluster: sorted(spans) for cluster, spans in self._found.items()}


class Placed(NamedTuple):
    """The brackets of one token, each as (cluster number, mention)."""

    closing: list[tuple[int, Mention]]
    single: list[tuple[int, Mention]]
    opening: list[tuple[int, Mention]]


def place_brackets(clusters: Sequence[Iterable[Mention]], note: Note) -> dict[int, Placed]:
    """The brackets by token for clusters whose mentions lie on the tokens.

    On one token: inner mentions close first, longer ones open first. Mentions that cross one of their own
    cluster are left out and noted.
    """
    spans = [(m, number) for number, cluster in enumerate(clusters) for m in sayable(cluster, note)]
    placed: dict[int, Placed] = {}

    def at(position: int) -> Placed:
        return placed.setdefault(position, Placed([], [], []))

    for mention, number in sorted(spans, key=lambda item: (*_text_order(item[0]), item[1])):
        if mention.start == mention.end:
            at(mention.start).single.append((number, mention))
        else:
            at(mention.start).opening.append((number, mention))
            at(mention.end).closing.append((number, mention))
    for brackets in placed.values():
        brackets.closing.sort(key=lambda item: (-item[1].start, -item[0]))
    return placed


def sayable(cluster: Iterable[Mention], note: Note) -> Iterator[Mention]:
    """The mentions of one cluster that brackets can say, in the order of the text."""
    around: list[Mention] = []
    for mention in sorted(cluster, key=_text_order):
        while around and around[-1].end <= mention.start:
            around.pop()
        if around and around[-1].end < mention.end:
            note(CROSSING, str(tuple(mention)))
            continue
        around.append(mention)
        yield mention


def _text_order(mention: Mention) -> tuple[int, int]:
    return mention.start, -mention.end
