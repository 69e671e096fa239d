"""What to annotate next, by the typed scores: the passages that are richest in what a system does badly.

A class counts by how far its scores are from right, shared out over its mentions, so that all classes count
alike, as in the macro average. After "Interpretable Coreference Resolution Evaluation Using Explicit
Semantics" (ACL 2026), whose authors wrote three documents of about 2,000 words rich in the weak classes.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ..books import Mention, Record
from .modes import BookPair
from .typed import Span, TypedScores, TypedSpan, label_book

PASSAGE = 2000
"""Tokens of a passage, about."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Whole sentences of a document, tokens `start` to `end` (exclusive), mentions by class, worth."""

    doc_key: str
    start: int
    end: int
    classes: Mapping[str, int]
    worth: float


def class_weights(scores: TypedScores) -> dict[str, float]:
    """What one mention of each class is worth: one minus the mean of mention F1 and link F1, by mentions."""
    lacking = ((one, 1 - (one.mentions.f1 + one.gold_links.f1) / 2) for one in scores.labels)
    return {one.label: share / max(1, one.key_mentions) for one, share in lacking}


def passages(
    doc_key: str, sentence_ends: Sequence[int], labels: Mapping[Span, str | None],
    weights: Mapping[str, float], tokens: int = PASSAGE,
) -> Iterator[Suggestion]:  # fmt: skip
    """A document in passages, each with what annotating it is worth; `labels` are those of its mentions."""
    bounds = [0]
    for end in sentence_ends:
        if end - bounds[-1] >= tokens or end == sentence_ends[-1]:
            bounds.append(end)
    inside: list[Counter[str]] = [Counter() for _ in bounds]
    for (start, _), label in labels.items():
        if label is not None:
            inside[bisect_right(bounds, start) - 1][label] += 1
    for (start, end), classes in zip(pairwise(bounds), inside, strict=False):
        worth = sum(weights.get(label, 0.0) * count for label, count in classes.items())
        yield Suggestion(doc_key, start, end, dict(classes.most_common()), worth)


def best(found: Iterable[Suggestion], most: int) -> list[Suggestion]:
    """The passages of most worth, the best first."""
    return sorted(found, key=lambda p: (-p.worth, p.doc_key, p.start))[:most]


def suggested(
    books: Sequence[BookPair], spans: Mapping[str, Iterable[TypedSpan]], scores: TypedScores, most: int
) -> list[tuple[Suggestion, Record]]:
    """Passages of the response of some books, each with its annotation as a document of its own."""
    weights, responses = class_weights(scores), {}
    found: list[Suggestion] = []
    for book in books:
        _, response = label_book(book, spans.get(book.doc_key, ()), disagreeing=scores.disagreeing)
        responses[book.doc_key] = book, response.clusters
        found += passages(book.doc_key, list(book.sentence_ends or ()), response.mentions, weights)
    cut = []
    for passage in best(found, most):
        book, clusters = responses[passage.doc_key]
        first, last = passage.start, passage.end
        tokens, ends = book.tokens or (), [e for e in book.sentence_ends or () if first < e <= last]
        inside = ([Mention(a - first, b - first) for a, b in c if first <= a and b < last] for c in clusters)
        record = Record(
            f"{passage.doc_key}_{first}-{last}", "", [list(tokens[a:b]) for a, b in pairwise([first, *ends])],
            [cluster for cluster in inside if cluster],
        )  # fmt: skip
        cut.append((passage, record))
    return cut
