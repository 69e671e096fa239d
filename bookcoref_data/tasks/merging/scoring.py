"""How good decisions and merged documents are, and how far annotators agree (LongtoNotes, sections 3 and 4).

A decision is compared by the chain it chooses as that chain stands for its annotator: two annotators agree
strictly when they choose chains with exactly the same mentions, or both New.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from ...books import Mention
from ...errors import UsageError
from ...formats.layers import flat
from ...scoring.mention_types import TypeRules
from ...scoring.scores import AddsUp, harmonic_mean, ratio
from ...shapes import AsFields, attributes
from .parts import ChainRef, Decisions, SplitDocument, merge

Choice = frozenset[Mention] | None
"""The mentions of the chosen chain, or None for New."""


@dataclass(frozen=True, slots=True)
class DecisionAgreement(AsFields):
    """Agreement over some decisions, 0 to 1; alpha may be negative.

    `strict`: same choice. `jaccard`: mean overlap of the chosen chains, 1 when both are New, 0 when one is.
    `new`: both New among those where at least one is. `not_new`: same chain among those where at least one
    is not New (the denominator is not stated in the paper). `alpha`: Krippendorff's, nominal.
    """

    decisions: int
    strict: float
    jaccard: float
    new: float
    not_new: float
    alpha: float


def choices(document: SplitDocument, decisions: Decisions) -> dict[ChainRef, Choice]:
    """What each decision of an annotator chooses, as it stands before the part of the decision."""
    found: dict[ChainRef, Choice] = {}
    for part in range(1, len(document.numbers)):
        merged = merge(document, decisions, parts=part)
        for ref in document.of_part(part):
            target = decisions.get(ref)
            found[ref] = None if target is None else merged.mentions_of(merged.root_of[target])
    return found


def agreement(pairs: Sequence[tuple[Choice, Choice]]) -> DecisionAgreement:
    """All five measures over the choices of two annotators for the same decisions."""
    count = len(pairs)
    strict = sum(a == b for a, b in pairs)
    both_new = sum(a is None and b is None for a, b in pairs)
    any_new = sum(a is None or b is None for a, b in pairs)
    overlaps = (len(a & b) / len(a | b) if a is not None and b is not None else a is b for a, b in pairs)
    return DecisionAgreement(
        count, _ratio(strict, count), _ratio(sum(overlaps), count),
        _ratio(both_new, any_new), _ratio(strict - both_new, count - both_new), krippendorff_alpha(pairs),
    )  # fmt: skip


def _ratio(part: float, whole: float) -> float:
    """1 where there is nothing to disagree about."""
    return part / whole if whole else 1.0


def krippendorff_alpha(pairs: Sequence[tuple[Choice, Choice]]) -> float:
    """Nominal alpha of two coders without gaps; 1 when no disagreement is expected."""
    labels = Counter(label for pair in pairs for label in pair)
    n = sum(labels.values())
    if n < 2:
        return 1.0
    expected = 1 - sum(c * (c - 1) for c in labels.values()) / (n * (n - 1))
    observed = sum(a != b for a, b in pairs) / len(pairs)
    return 1 - observed / expected if expected else 1.0


def kind_of(document: SplitDocument, ref: ChainRef) -> str:
    """What the best mention of a chain is: "names" before "nouns" before "pronouns" (Tables 11 to 13).

    By the tag of its last word, or by rules in a document without tags.
    """
    tags = flat(document.layers.get("xpos"))
    rules = TypeRules(document.tokens, document.sentence_ends)
    found = {
        _TAGGED.get(tags[m.end][:3], _TAGGED.get(tags[m.end][:2], "pronouns"))
        if tags else _RULED[rules.type_of(m.start, m.end)] for m in document.chains[ref]
    }  # fmt: skip
    return next(kind for kind in ("names", "nouns", "pronouns") if kind in found)


_TAGGED = {"NNP": "names", "NN": "nouns", "NNS": "nouns"}
_RULED = {"name": "names", "nominal": "nouns", "pronoun": "pronouns"}


def agreement_by_genre(
    documents: Sequence[SplitDocument], annotators: Mapping[str, Mapping[str, Decisions]]
) -> dict[str, dict[tuple[str, str], DecisionAgreement]]:
    """Agreement of every pair of annotators by genre, by what the chains say, and over "all".

    `annotators` maps a name to {document key: decisions}. Documents that one of a pair lacks are left out.

    Raises UsageError: fewer than two annotators, or no document in common.
    """
    if len(annotators) < 2:
        raise UsageError("agreement needs the decisions of two annotators or more", found=len(annotators))
    pairs: dict[str, dict[tuple[str, str], list[tuple[Choice, Choice]]]] = {}
    for document in documents:
        chosen = {
            name: choices(document, tables[document.doc_key]) for name, tables in annotators.items() if
            document.doc_key in tables
        }  # fmt: skip
        for one, other in combinations([n for n in annotators if n in chosen], 2):
            both = [(chosen[one][ref], chosen[other][ref]) for ref in document.questions]
            for ref, choice in zip(document.questions, both, strict=True):
                for group in dict.fromkeys(("all", document.genre or "all", kind_of(document, ref))):
                    pairs.setdefault(group, {}).setdefault((one, other), []).append(choice)
    if not pairs:
        raise UsageError("no document was decided by two annotators")
    return {genre: {pair: agreement(both) for pair, both in found.items()} for genre, found in pairs.items()}


def vote(document: SplitDocument, annotators: Sequence[Decisions]) -> dict[ChainRef, ChainRef | None]:
    """The majority's decisions; where no choice has a majority, the first annotator's.

    Choices are compared by the chain of the voted document that they join, part by part.
    """
    decided: dict[ChainRef, ChainRef | None] = {}
    for part in range(1, len(document.numbers)):
        merged = merge(document, decided, parts=part)
        for ref in document.of_part(part):
            targets = [decisions.get(ref) for decisions in annotators]
            votes = [None if target is None else merged.root_of[target] for target in targets]
            best, count = Counter(votes).most_common(1)[0]
            decided[ref] = best if 2 * count > len(votes) else votes[0]
    return decided


@dataclass(frozen=True, slots=True)
class DecisionScores(AddsUp):
    """Counts over decisions. A link is right when the chain it chooses holds a chain of the same entity."""

    decisions: int = 0
    right: int = 0
    links: int = 0
    right_links: int = 0
    key_links: int = 0

    @property
    def precision(self) -> float:
        return ratio(self.right_links, self.links)

    @property
    def recall(self) -> float:
        return ratio(self.right_links, self.key_links)

    @property
    def f1(self) -> float:
        return harmonic_mean(self.precision, self.recall)

    @property
    def accuracy(self) -> float:
        """Share of right decisions, New included."""
        return ratio(self.right, self.decisions)

    def to_dict(self) -> dict[str, Any]:
        return attributes(self) | attributes(self, "precision recall f1 accuracy")


def score_decisions(
    document: SplitDocument, key: Decisions, response: Decisions, second: Decisions | None = None
) -> DecisionScores:
    """Compare the decisions of a response with the right ones.

    A link that is right by the decisions `second` alone counts neither as right nor as made.
    """
    entity, joined = merge(document, key).root_of, merge(document, response).root_of
    other = entity if second is None else merge(document, second).root_of
    members: dict[ChainRef, set[tuple[str, ChainRef]]] = {}
    counts = DecisionScores()
    for part in range(len(document.numbers)):
        chains = document.of_part(part)
        for ref in chains if part else ():
            chosen, right = response.get(ref), key.get(ref)
            there = members[joined[chosen]] if chosen is not None else set()
            same = right is not None and ("key", entity[ref]) in there
            made = chosen is not None and (same or second is None or ("second", other[ref]) not in there)
            counts += DecisionScores(
                1, int(same or not (made or right is not None)), int(made), int(same), int(right is not None)
            )
        for ref in chains:
            members.setdefault(joined[ref], set()).update({("key", entity[ref]), ("second", other[ref])})
    return counts
