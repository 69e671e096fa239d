"""How well each character of the key was found."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..shapes import AsFields
from .evaluation import Evaluation, book_overlaps
from .labels import Labels
from .metrics import ceaf_e_parts
from .scores import Score


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
        partner = ceaf_e_parts(both.contingency).aligned
        sizes, response_sizes = both.key.sizes, both.response.sizes
        found = np.bincount(both.key.owner, weights=both.key_partner >= 0, minlength=sizes.size)
        pieces = np.bincount(both.recall.rows, minlength=sizes.size)
        shared = np.zeros(sizes.size)
        aligned = partner[both.recall.rows] == both.recall.columns
        shared[both.recall.rows[aligned]] = both.recall.counts[aligned]
        clusters_of: dict[str, list[int]] = {}
        for i, name in enumerate(names):
            clusters_of.setdefault(name, []).append(i)
        scores = []
        for name, clusters in clusters_of.items():
            with_partner = [i for i in clusters if partner[i] >= 0]
            best = max(with_partner, key=lambda i: float(shared[i]), default=None)
            label = None
            if best is not None:
                label = labels.of_response(both.response, [int(partner[best])])[int(partner[best])]
            common, total = float(shared[clusters].sum()), float(sizes[clusters].sum())
            theirs = float(response_sizes[partner[with_partner]].sum())
            scores.append(
                CharacterScore(book.doc_key, name, int(total), int(found[clusters].sum()),
                int(pieces[clusters].sum()), label, Score(common, total, common, theirs))
            )  # fmt: skip
        listed += sorted(scores, key=lambda s: (-s.mentions, s.name))
    return tuple(listed)
