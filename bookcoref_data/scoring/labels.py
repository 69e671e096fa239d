"""Names for clusters, snippets of text around mentions, and how well each character of the key was found."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..books.book import text_of
from ..shapes import AsFields, together
from .clustering import Members
from .evaluation import Evaluation, book_overlaps
from .mention_types import TYPES, TypeRules
from .metrics import ceaf_e_parts
from .modes import BookPair
from .scores import Score


class Labels:
    """Names the clusters of one book: by character where the key says so, else by a typical mention."""

    def __init__(self, book: BookPair) -> None:
        self._book = book
        self._rules: TypeRules | None = None

    def of_key(self, key: Members) -> list[str]:
        """One label per key cluster. Two clusters of a unit share one only where the key names them alike."""
        given = [self._book.name_of(i, key) for i in range(key.cluster_unit.size)]
        taken = Counter(set(zip(key.cluster_unit.tolist(), given, strict=True)))
        labels: list[str] = []
        for unit, name in zip(key.cluster_unit.tolist(), given, strict=True):
            label = name or self.guess(key, len(labels))
            taken[unit, label] += name is None
            times = taken[unit, label] if name is None else 1
            labels.append(f"{label} ({times})" if times > 1 else label)
        return labels

    def guess(self, side: Members, cluster: int) -> str:
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


def snippet(tokens: Sequence[str] | None, start: int, end: int, width: int = 8) -> str | None:
    """The mention in square brackets with `width` words on either side; None without text."""
    if tokens is None or not 0 <= start <= end < len(tokens):
        return None
    before, after = tokens[max(start - width, 0) : start], tokens[end + 1 : end + 1 + width]
    parts = [text_of(before, 0, width), f"[{text_of(tokens, start, end)}]", text_of(after, 0, width)]
    return " ".join(part for part in parts if part)


@dataclass(frozen=True, slots=True)
class CharacterScore(AsFields):
    """One character of one book.

    `score` compares its clusters with the response clusters that CEAF-e aligns them with, over all units:
    shared mentions over its mentions and over theirs. `found` counts its mentions that are anywhere in
    the response; `pieces` the response clusters that hold some of them (the sum over units); `partner`
    is a label of the response cluster aligned in the unit that shares most.
    """

    doc_key: str
    name: str
    mentions: int
    found: int
    pieces: int
    partner: str | None
    score: Score


def character_scores(evaluation: Evaluation) -> tuple[CharacterScore, ...]:
    """Every character (or unnamed key cluster) of every book, the most frequent first."""
    listed: list[CharacterScore] = []
    for book in (scored.book for scored in evaluation.books):
        both = book_overlaps(book, evaluation.rules).once
        labels = Labels(book)
        names = labels.of_key(both.key)
        partner = ceaf_e_parts(both).aligned
        sizes, response_sizes = both.key.sizes, both.response.sizes
        found = np.bincount(both.key.owner, weights=both.key_partner >= 0, minlength=sizes.size)
        pieces = np.bincount(both.recall.rows, minlength=sizes.size)
        shared = np.zeros(sizes.size)
        aligned = partner[both.recall.rows] == both.recall.columns
        shared[both.recall.rows[aligned]] = both.recall.counts[aligned]
        clusters_of = together((name, i) for i, name in enumerate(names))
        scores = []
        for name, clusters in clusters_of.items():
            with_partner = [i for i in clusters if partner[i] >= 0]
            best = max(with_partner, key=lambda i: float(shared[i]), default=None)
            label = None if best is None else labels.guess(both.response, int(partner[best]))
            common, total = float(shared[clusters].sum()), float(sizes[clusters].sum())
            theirs = float(response_sizes[partner[with_partner]].sum())
            scores.append(
                CharacterScore(book.doc_key, name, int(total), int(found[clusters].sum()),
                int(pieces[clusters].sum()), label, Score(common, total, common, theirs))
            )  # fmt: skip
        listed += sorted(scores, key=lambda s: (-s.mentions, s.name))
    return tuple(listed)
