"""Score the pipeline on a part of LitBank: coreference of people, and speakers of quotations."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from bookcoref_data.annotation.plan import Plan
from bookcoref_data.annotation.state import State
from bookcoref_data.annotation.steps import Backend, run_steps
from bookcoref_data.scoring import ClusterScores, score_documents

from .litbank import Excerpt, parts, read_excerpt


@dataclass(frozen=True, slots=True)
class PartScores:
    """`clusters`: pooled over the documents, singletons kept. `speakers`: quotations whose speaker is of
    the cast, of those found how many got a speaker, and how many the right one.
    """

    documents: int
    clusters: ClusterScores
    quotations: int
    found: int
    right: int

    @property
    def speaker_accuracy(self) -> float:
        """Share of all quotations by a character that are given to that character."""
        return self.right / self.quotations if self.quotations else 0.0


def score_part(root: Path, part: str, plan: Plan, backend: Backend) -> PartScores:
    """Annotate every document of a part ("train", "dev" or "test") with a plan and score it."""
    pairs, quotations, found, right = [], 0, 0, 0
    documents = 0
    for name in parts(root)[part]:
        excerpt = read_excerpt(root, name)
        if excerpt is None:
            continue
        documents += 1
        state = run_steps(backend, excerpt.job, plan.steps)
        response = [[tuple(m) for m in spans] for spans in state.spans() if spans]
        pairs.append(([[tuple(m) for m in spans] for spans in excerpt.key], response))
        for gold, given in _speakers(excerpt, state):
            quotations += 1
            found += given is not None
            right += given == gold
    return PartScores(documents, score_documents(pairs), quotations, found, right)


def _speakers(excerpt: Excerpt, state: State):
    """(right speaker, given speaker or None) of each quotation by a character; matched by its last token."""
    given = {q.end: q.speaker for q in state.quotes} | {q.start: q.speaker for q in state.quotes}
    for quote in excerpt.quotes:
        if quote.speaker >= 0:
            yield quote.speaker, given.get(quote.start, given.get(quote.end))
