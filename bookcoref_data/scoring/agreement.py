"""How far two annotators of the same texts agree: clusters, spans, and who is meant.

Nobody is right here. The F1 of every metric is the same whichever of the two is called the key, and that
is what annotation projects report (BookCoref: MUC 96.1 on 2,000 words of its guidelines' trial).
"""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from ..shapes import AsFields
from .clustering import Members
from .evaluation import Evaluation, book_overlaps
from .metrics import ceaf_m_parts
from .scores import Score, cohens_kappa, ratio


@dataclass(frozen=True, slots=True)
class Agreement(AsFields):
    """Agreement over all documents of an evaluation.

    `f1`: every metric's F1. `spans`: mentions with the same start and end. `overlapping`: mentions that
    share a token with one of the other annotator. `same_entity`: of the mentions both have, the share put
    into clusters that belong together (best one-to-one alignment, CEAF-m), and `kappa` the same beyond
    chance (Cohen 1960).
    """

    documents: int
    f1: dict[str, float]
    spans: Score
    overlapping: Score
    shared_mentions: int
    same_entity: float
    kappa: float


def agreement(evaluation: Evaluation) -> Agreement:
    """Read an evaluation of one annotator against the other as agreement."""
    overlapping = Score(0, 0, 0, 0)
    pairs = Counter[tuple[str, str]]()
    for scores in evaluation.books:
        both = book_overlaps(scores.book, evaluation.rules).once
        found = [_touched(both.key, both.response), _touched(both.response, both.key)]
        overlapping += Score(found[0], both.key.start.size, found[1], both.response.start.size)
        # Every mention of both annotators: the cluster of each, aligned clusters under one name
        back = {int(r): k for k, r in enumerate(ceaf_m_parts(both).aligned.tolist()) if r >= 0}
        shared = np.flatnonzero(both.key_partner >= 0)
        for k, r in zip(both.key.owner[shared].tolist(), both.key_partner[shared].tolist(), strict=True):
            theirs = str(back[r]) if r in back else f"other {r}"
            pairs[f"{scores.doc_key} {k}", f"{scores.doc_key} {theirs}"] += 1
    total = sum(pairs.values())
    same = sum(n for (a, b), n in pairs.items() if a == b)
    kappa = cohens_kappa(pairs)
    return Agreement(
        len(evaluation.books), {name: score.f1 for name, score in evaluation.pooled.named().items()},
        evaluation.pooled.mentions, overlapping, total, ratio(same, total),
        (1.0 if total else 0.0) if kappa is None else kappa,
    )  # fmt: skip


def _touched(ours: Members, others: Members) -> int:
    """How many of our mentions share a token with one of the others, within their unit."""
    count = 0
    for u in np.unique(ours.unit).tolist():
        mine, theirs = ours.unit == u, others.unit == u
        # Mentions that begin at or before our end, less those that end before our start.
        began = np.searchsorted(np.sort(others.start[theirs]), ours.end[mine], side="right")
        over = np.searchsorted(np.sort(others.end[theirs]), ours.start[mine], side="left")
        count += int((began > over).sum())
    return count
