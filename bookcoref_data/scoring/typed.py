"""Coreference scores by semantic class: people, animals, places, ...

After "Interpretable Coreference Resolution Evaluation Using Explicit Semantics" (ACL 2026), of which a
summary was read and not the code; choices that the summary leaves open are marked (ours).

1. *Assignment.* A mention takes the label of the typed span that overlaps it best, when the Jaccard index
   of their tokens is above 0.5. Exactly 0.5 stays empty. Equal overlaps: the first span (ours).
2. *Propagation.* A cluster has the label that most of its labelled mentions carry; ties go to the label
   with the higher mean overlap, then to the first in the alphabet (ours). Unlabelled mentions take it. A
   mention whose own label disagrees keeps it, or is overridden: `disagreeing`.
3. *Scores.* Mention F1 of a label compares the spans that carry it. Link F1 compares pairs of mentions in
   one cluster, by the label of the cluster; on the gold mentions (as the paper), or on the mentions that
   key and response share (ours: detached from mention detection). The macro average is the plain mean of
   the F1s of all labels that occur on either side.

Key and response are labelled apart, each by its own clusters and the same spans (ours).
"""

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from itertools import chain, islice, pairwise, zip_longest
from typing import Any, NamedTuple

from ..books import Mention, Record
from ..errors import UsageError, require_choice
from ..shapes import AsFields, attributes
from .evaluation import Evaluation
from .labels import snippet
from .modes import BookPair
from .scores import NOTHING, AddsUp, Score

Span = tuple[int, int]
DISAGREEING = ("keep", "override")
THRESHOLD = Fraction(1, 2)
"""The Jaccard index above which a mention takes the label of a span."""
_MOST_EXAMPLES = 3


class TypedSpan(NamedTuple):
    """A labelled span of tokens; `start` and `end` 0-based, both inclusive."""

    start: int
    end: int
    label: str


def jaccard(a: Span, b: Span) -> Fraction:
    """Tokens in both spans over tokens in either; 0 for a span that ends before it starts."""
    if a[1] < a[0] or b[1] < b[0]:
        return Fraction(0)
    common = max(min(a[1], b[1]) - max(a[0], b[0]) + 1, 0)
    return Fraction(common, a[1] - a[0] + 1 + b[1] - b[0] + 1 - common)


def assign_labels(mentions: Iterable[Span], spans: Iterable[TypedSpan]) -> dict[Span, tuple[str, Fraction]]:
    """The label and overlap of every mention that some span overlaps by more than `THRESHOLD`."""
    ordered = sorted(spans)
    starts = [span.start for span in ordered]
    # No span that overlaps enough is longer than this, so the search can begin there.
    longest = max((span.end - span.start + 1 for span in ordered), default=0)
    found: dict[Span, tuple[str, Fraction]] = {}
    for mention in set(mentions):
        size = mention[1] - mention[0] + 1
        first = bisect_left(starts, mention[0] - min(longest, int(size / THRESHOLD)))
        best, label = THRESHOLD, ""
        for span in ordered[first : bisect_right(starts, mention[1])]:
            overlap = jaccard(mention, (span.start, span.end))
            if overlap > best:
                best, label = overlap, span.label
        if label:
            found[mention] = label, best
    return found


@dataclass(frozen=True, slots=True)
class Labelled:
    """One side of one document with its labels.

    `cluster_labels[i]`: label of `clusters[i]`, None for none. `mentions`: final label of every mention
    (None for none); a span in several clusters has the label it got in the first. `direct`: how many
    mentions had a label of their own.
    """

    clusters: tuple[tuple[Span, ...], ...]
    cluster_labels: tuple[str | None, ...]
    mentions: Mapping[Span, str | None]
    direct: int


def propagate(
    clusters: Iterable[Sequence[Span]], assigned: Mapping[Span, tuple[str, float | Fraction]], *, disagreeing:
    str = "keep"
) -> Labelled:  # fmt: skip
    """Label clusters by majority and hand the label down to their mentions.

    Raises UsageError: there is no such treatment of disagreeing labels.
    """
    require_choice("treatment of disagreeing labels", disagreeing, DISAGREEING)
    kept = tuple(tuple(cluster) for cluster in clusters)
    cluster_labels: list[str | None] = []
    mentions: dict[Span, str | None] = {}
    for cluster in kept:
        # Fractions: sums of floats depend on their order, and would decide ties by the order of the mentions.
        overlaps: dict[str, list[Fraction]] = defaultdict(list)
        for span in dict.fromkeys(cluster):
            if span in assigned:
                overlaps[assigned[span][0]].append(Fraction(assigned[span][1]))
        # The label of most mentions, then of the largest mean overlap, then the first by name
        ranked = [(-len(found), -sum(found) / len(found), label) for label, found in overlaps.items()]
        label = min(ranked)[2] if ranked else None
        cluster_labels.append(label)
        for span in cluster:
            own = assigned[span][0] if span in assigned and disagreeing == "keep" else None
            mentions.setdefault(span, own or label)
    return Labelled(kept, tuple(cluster_labels), mentions, sum(span in assigned for span in mentions))


@dataclass(frozen=True, slots=True)
class LabelScores(AsFields):
    """The scores of one label. `mentions` wants span and label right; `lenient` the span alone."""

    label: str
    key_mentions: int
    response_mentions: int
    mentions: Score = NOTHING
    lenient: Score = NOTHING
    gold_links: Score = NOTHING
    shared_links: Score = NOTHING

    def __add__(self, other: "LabelScores") -> "LabelScores":
        added = (getattr(self, f.name) + getattr(other, f.name) for f in fields(self)[1:])
        return LabelScores(self.label, *added)


TYPED_METRICS = ("mentions", "lenient", "gold_links", "shared_links")


def score_labels(key: Labelled, response: Labelled) -> dict[str, LabelScores]:
    """The scores of every label that occurs in one document."""
    labels = {label for side in (key, response) for label in side.mentions.values() if label is not None}
    labels |= {label for side in (key, response) for label in side.cluster_labels if label is not None}
    both = key.mentions.keys() & response.mentions.keys()
    in_gold = _links(key, response, key.mentions.keys())
    in_both = _links(key, response, both)
    key_of, response_of = Counter(key.mentions.values()), Counter(response.mentions.values())
    right = Counter(key.mentions[span] for span in both if key.mentions[span] == response.mentions[span])
    key_found = Counter(key.mentions[span] for span in both)
    response_found = Counter(response.mentions[span] for span in both)
    return {
        label: LabelScores(label, key_of[label], response_of[label], Score(right[label], key_of[label],
        right[label], response_of[label]), Score(key_found[label], key_of[label], response_found[label],
        response_of[label]), in_gold.get(label, NOTHING), in_both.get(label, NOTHING)) for label in
        sorted(labels)
    }  # fmt: skip


def _links(key: Labelled, response: Labelled, universe: Iterable[Span]) -> dict[str, Score]:
    """Pairs in one cluster, by the cluster's label, among the mentions of `universe`."""
    allowed = set(universe)
    counts = [Counter[str](), Counter[str]()]
    places: list[dict[Span, int]] = [{}, {}]
    for side, pairs, place in zip((key, response), counts, places, strict=True):
        for i, (cluster, label) in enumerate(zip(side.clusters, side.cluster_labels, strict=True)):
            kept = [span for span in dict.fromkeys(cluster) if span in allowed and span not in place]
            place.update(dict.fromkeys(kept, i))
            if label is not None:
                pairs[label] += len(kept) * (len(kept) - 1) // 2
    cells = Counter((i, places[1][span]) for span, i in places[0].items() if span in places[1])
    common = Counter[str]()
    for (i, j), n in cells.items():
        label = key.cluster_labels[i]
        if label is not None and label == response.cluster_labels[j]:
            common[label] += n * (n - 1) // 2
    return {
        label: Score(common[label], counts[0][label], common[label], counts[1][label])
        for label in counts[0].keys() | counts[1].keys()
    }


@dataclass(frozen=True, slots=True)
class Coverage(AsFields, AddsUp):
    """How many mentions of one side have a label, before and after propagation."""

    mentions: int = 0
    direct: int = 0
    propagated: int = 0


@dataclass(frozen=True, slots=True)
class Example(AsFields):
    """Something wrong with a label: `kind` is missed, spurious or "labelled X"; with its text."""

    doc_key: str
    kind: str
    span: Span
    text: str | None


Examples = dict[str, dict[str, list[Example]]]


@dataclass(frozen=True, slots=True)
class TypedScores:
    """All typed scores of one system, pooled over documents. `examples[label]`: some of its errors."""

    name: str
    disagreeing: str
    labels: tuple[LabelScores, ...]
    key_coverage: Coverage
    response_coverage: Coverage
    examples: Mapping[str, tuple[Example, ...]]

    def macro_f1(self, metric: str) -> float | None:
        """The plain mean of the F1s of the labels that occur; None when none does."""
        scores: list[Score] = [getattr(one, metric) for one in self.labels]
        there = [s.f1 for s in scores if s.recall_denominator or s.precision_denominator]
        return sum(there) / len(there) if there else None

    def to_dict(self) -> dict[str, Any]:
        macro = {metric: self.macro_f1(metric) for metric in TYPED_METRICS}
        told = attributes(self, "name disagreeing labels key_coverage response_coverage examples")
        return told | {"macro_f1": macro}


def typed_scores(
    evaluation: Evaluation, spans: Mapping[str, Iterable[TypedSpan]], *, name: str = "response",
    disagreeing: str = "keep",
) -> TypedScores:  # fmt: skip
    """Score an evaluation of mode full by the labels of `spans` (by doc_key of the key).

    Raises UsageError: another mode, an unknown treatment, or no spans for any document.
    """
    if evaluation.rules.mode != "full":
        raise UsageError("typed scores need whole books", expected="--mode full", found=evaluation.rules.mode)
    if not any(book.doc_key in spans for book in evaluation.books):
        what = "there are no typed spans for any document of the key"
        expected = f"spans of {', '.join(book.doc_key for book in evaluation.books[:8])}"
        hint = "spans are paired with documents by doc_key"
        raise UsageError(what, expected=expected, found=", ".join(list(spans)[:8]) or "none", hint=hint)
    totals: dict[str, LabelScores] = {}
    coverage = [Coverage(), Coverage()]
    examples: Examples = defaultdict(lambda: defaultdict(list))
    for book in (scores.book for scores in evaluation.books):
        sides = label_book(book, spans.get(book.doc_key, ()), disagreeing=disagreeing)
        for label, found in score_labels(*sides).items():
            totals[label] = totals[label] + found if label in totals else found
        for i, side in enumerate(sides):
            labelled = sum(label is not None for label in side.mentions.values())
            coverage[i] += Coverage(len(side.mentions), side.direct, labelled)
        _collect_examples(book, *sides, examples)
    kept: dict[str, tuple[Example, ...]] = {}
    for label, by_kind in sorted(examples.items()):
        in_turns = chain.from_iterable(zip_longest(*by_kind.values()))
        kept[label] = tuple(islice(filter(None, in_turns), _MOST_EXAMPLES))
    made = tuple(totals[label] for label in sorted(totals))
    return TypedScores(name, disagreeing, made, coverage[0], coverage[1], kept)


def label_book(
    book: BookPair, spans: Iterable[TypedSpan], *, disagreeing: str = "keep"
) -> tuple[Labelled, Labelled]:
    """Key and response of one book, each labelled by its own clusters and the same spans."""
    clusters = []
    for side in (book.key, book.response):
        grouped: list[list[Span]] = [[] for _ in range(side.cluster_unit.size)]
        places = (column.tolist() for column in (side.owner, side.start, side.end))
        for owner, start, end in zip(*places, strict=True):
            grouped[owner].append((start, end))
        clusters.append(grouped)
    mentions = (span for side in clusters for cluster in side for span in cluster)
    assigned = assign_labels(mentions, spans)
    key, response = (propagate(side, assigned, disagreeing=disagreeing) for side in clusters)
    return key, response


def _collect_examples(book: BookPair, key: Labelled, response: Labelled, examples: Examples) -> None:
    """The first errors of each label and kind, in the order of the text."""

    def add(label: str | None, kind: str, span: Span) -> None:
        if label is not None and len(own := examples[label][kind]) < _MOST_EXAMPLES:
            own.append(Example(book.doc_key, kind, span, snippet(book.tokens, *span, width=5)))

    for span, label in sorted(key.mentions.items()):
        if span not in response.mentions:
            add(label, "missed", span)
        elif response.mentions[span] != label:
            add(label, f"labelled {response.mentions[span] or 'nothing'}", span)
    for span, label in sorted(response.mentions.items()):
        if span not in key.mentions:
            add(label, "spurious", span)


# -- what to annotate next: the passages that are richest in what a system does badly -----------------

# A class counts by how far its scores are from right, shared out over its mentions, so that all classes count
# alike, as in the macro average. The paper's authors wrote three documents of about 2,000 words rich in the
# weak classes.
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
