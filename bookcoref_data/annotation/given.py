"""What a person has said about a book beforehand: taken as given, and used as evidence for the rest."""

from collections.abc import Mapping, Set
from dataclasses import dataclass, field, replace

from .state import Marked, State

Span = tuple[int, int]
NOBODY = -1


@dataclass(frozen=True)
class Given:
    """Corrections of one book. Spans are first and last token; characters are indices into the cast.

    `links` are mentions whose character is known, `nobody` spans that mean nobody of the cast; `quotes` have
    the speaker (-1: somebody else) and the addressees of a quote.
    """

    links: Mapping[Span, Marked] = field(default_factory=dict)
    nobody: frozenset[Span] = frozenset()
    quotes: Mapping[Span, tuple[int, tuple[int, ...]]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.links or self.nobody or self.quotes)

    @property
    def spans(self) -> Set[Span]:
        """What is known of a mention: whose it is, or nobody's."""
        return self.links.keys() | self.nobody

    def key(self) -> str:
        """A text that is the same for the same corrections."""
        parts = (sorted(self.links.values()), sorted(self.nobody), sorted(self.quotes.items()))
        return repr(parts) if self else ""

    def applied(self, state: State) -> State:
        """The state with the given links in place of what a step found at these spans."""
        if not (said := self.spans):
            return state
        kept = [m for m in state.mentions if (m.start, m.end) not in said]
        return replace(state, mentions=tuple(sorted([*kept, *self.links.values()])))

    def quote_at(self, start: int, end: int) -> tuple[int, tuple[int, ...]] | None:
        """Speaker and addressees of the given quote that shares at least half of its tokens with this one."""
        if (start, end) in self.quotes:
            return self.quotes[start, end]
        for (a, b), told in self.quotes.items():
            if 2 * (min(b, end) - max(a, start) + 1) > max(b - a, end - start) + 1:
                return told
        return None
