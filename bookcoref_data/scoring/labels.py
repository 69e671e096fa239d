"""Names for clusters, and snippets of text around mentions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from .clustering import Members
from .mention_types import TYPES, TypeRules
from .modes import BookPair


class Labels:
    """Names the clusters of one book: by character where the key says so, else by a typical mention."""

    def __init__(self, book: BookPair) -> None:
        self._book = book
        self._rules: TypeRules | None = None

    def of_key(self, key: Members) -> list[str]:
        """One label per key cluster."""
        given = [self._book.name_of(i, key) for i in range(key.cluster_unit.size)]
        return [name or self._guess(key, i) for i, name in enumerate(given)]

    def of_response(self, response: Members, clusters: Sequence[int]) -> dict[int, str]:
        """Labels of some response clusters."""
        return {cluster: self._guess(response, cluster) for cluster in clusters}

    def _guess(self, side: Members, cluster: int) -> str:
        """The most frequent name in a cluster, else nominal, else pronoun; its number without text."""
        number = f"cluster {int(side.source_cluster[cluster])}"
        if self._book.tokens is None:
            return number
        if self._rules is None:
            self._rules = TypeRules(self._book.tokens, self._book.sentence_ends or ())
        by_type: dict[str, Counter[str]] = {}
        # Positions of the members of a cluster: they lie together, `owner` never decreases
        first, last = side.owner.searchsorted([cluster, cluster + 1])
        for i in range(int(first), int(last)):
            span = int(side.start[i]), int(side.end[i])
            if text := text_of(self._book.tokens, *span):
                by_type.setdefault(self._rules.type_of(*span), Counter())[text] += 1
        texts = next((by_type[kind] for kind in TYPES if kind in by_type), None)
        return texts.most_common(1)[0][0] if texts else number


def text_of(tokens: Sequence[str], start: int, end: int) -> str:
    """The words of a span joined by blanks; line ends become blanks."""
    return " ".join(t for t in tokens[max(start, 0) : end + 1] if t != "\n")


def snippet(tokens: Sequence[str] | None, start: int, end: int, width: int = 8) -> str | None:
    """The mention in square brackets with `width` words on either side; None without text."""
    if tokens is None or not 0 <= start <= end < len(tokens):
        return None
    before, after = tokens[max(start - width, 0) : start], tokens[end + 1 : end + 1 + width]
    parts = [text_of(before, 0, width), f"[{text_of(tokens, start, end)}]", text_of(after, 0, width)]
    return " ".join(part for part in parts if part)
