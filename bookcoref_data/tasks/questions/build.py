"""Make multiple-choice questions about the mentions of annotated books (IdentifyMe, sections 1 to 6).

A question shows a text in which one mention is marked, and asks which of the entities it refers to.
"""

from __future__ import annotations

import random
import sys
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

from ...books import Mention, Record
from ...late import np
from ...shapes import AsFields, attributes
from .entities import Askable, make_document
from .phrases import PLURAL_CLASSES
from .release import distinct, drawn, fault_of
from .scores import SAME_SURFACE, MentionScores, SpokenOf, score_mentions
from .settings import QuestionSettings

NONE_OF_THE_ABOVE = "None of the Above"
CATEGORIES = ("NOM", "PRON")


@dataclass(frozen=True, slots=True)
class Question(AsFields):
    """One multiple-choice question. Offsets are tokens of the document; ends are inclusive for the mention
    and exclusive for the text. `entity` is the right phrase even where `answer` is "None of the Above".

    `overlapping` holds the phrases of entities whose mentions contain the mention or lie in it, `genders` the
    gender of each option ("male", "female", "neutral"); `in_dialogue`: quotation marks surround the mention.
    `evidence` and `evidence_distance` (tokens back to the nearest earlier mention that shows the phrase) are
    -1 where they were not asked for.
    """

    id: str
    dataset: str
    doc_key: str
    mention_ind: int
    start: int
    end: int
    category: str
    mention: str
    text: str
    options: tuple[str, ...]
    answer: str
    entity: str
    fuzzy_score: int
    neighbour_distance: int
    nominal_neighbour_distance: int
    surface_neighbour_distance: int
    pronoun_class: int
    num_helpers: int
    num_dists: int
    fin_dists: int
    is_nested: bool
    overlapping: tuple[str, ...]
    text_start: int
    text_end: int
    genders: tuple[str, ...] = ()
    in_dialogue: bool = False
    evidence: int = -1
    evidence_distance: int = -1
    band: str = ""


FEATURES: dict[str, Any] = {
    name: "bool" if kind == "bool" else ["string"] if kind.startswith("tuple") else
    "int32" if kind == "int" else "string"
    for name, kind in Question.__annotations__.items()
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Candidate:
    """A mention of a labelled entity that may be asked about."""

    dataset: str
    document: Askable
    scores: MentionScores
    evidence: int = -1

    @property
    def order(self) -> tuple[str, int]:
        return self.document.book.doc_key, self.scores.index

    @property
    def evidence_distance(self) -> int:
        return self.scores.mention.start - self.evidence if self.evidence >= 0 else -1


@dataclass(slots=True)
class QuestionSet:
    """The questions by (config, split), and what was counted on the way."""

    tables: dict[tuple[str, str], list[Question]] = field(default_factory=dict)
    documents: int = 0
    rejected: dict[str, str] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    baselines: dict[str, dict[str, tuple[int, int]]] = field(default_factory=dict)
    """Of a release: right answers and questions of each baseline, in all and by category and band."""

    @property
    def random_baseline(self) -> float:
        """Expected accuracy of a guess: the mean of 1 / options over the questions of the first table."""
        first = next(iter(self.tables.values()), [])
        return sum(1 / len(q.options) for q in first) / len(first) if first else 0.0

    def to_dict(self) -> dict[str, Any]:
        return attributes(self, "documents rejected") | {
            "mentions": dict(self.counts),
            "questions": {f"{c}/{s}": len(rows) for (c, s), rows in self.tables.items()},
            **attributes(self, "random_baseline baselines"),
        }


def build_questions(
    datasets: Iterable[tuple[str, Sequence[Record]]], settings: QuestionSettings, *,
    phrases: Callable[[Record], Sequence[str | None] | None] = lambda record: None,
    sure: Callable[[Record], Container[Mention] | None] = lambda record: None,
    listen: Callable[[str], None] = lambda doc_key: None,
) -> QuestionSet:  # fmt: skip
    """The question set of some data sets, each a name and its annotated records.

    `phrases` may name the groups of a record by hand; `sure` has the mentions that may be asked about, None
    for all; `listen` hears of every document that is done.

    Raises BookError: a record is no sound book.
    """
    made = QuestionSet()
    groups: list[list[Candidate]] = []
    for name, records in datasets:
        found: list[Candidate] = []
        for record in records:
            document = make_document(
                record, least_mentions=settings.least_mentions, untyped=settings.untyped,
                phrases=phrases(record),
            )  # fmt: skip
            known = sure(record)
            candidates = _candidates(name, document, settings, made)
            found += [c for c in candidates if known is None or c.scores.mention in known]
            listen(record.doc_key)
        groups += [[c for c in found if c.scores.category == category] for category in CATEGORIES]
    if settings.bands:
        made.tables["default", "test"] = _banded(groups, settings, made)
    else:
        test, dev = [], []
        for group in groups:
            hard = sorted((c for c in group if is_hard(c.scores, settings)), key=lambda c: c.order)
            made.counts["hard enough"] += len(hard)
            points = copeland_counts([criteria(c.scores) for c in hard])
            ranked = sorted(range(len(hard)), key=lambda i: (-points[i], hard[i].order))
            chosen = [hard[i] for i in ranked[: settings.test + settings.dev]]
            rng = random.Random(settings.seed)
            rng.shuffle(chosen)
            test += _questions(chosen[: settings.test], settings, rng)
            dev += _questions(chosen[settings.test :], settings, rng)
        made.tables["default", "test"] = test
        if dev:
            made.tables["default", "validation"] = dev
        for number in range(1, settings.draws + 1):
            rng = random.Random(f"{settings.seed} draw {number}")
            drawn = [rng.sample(group, min(settings.draw, len(group))) for group in groups]
            rows = [q for some in drawn for q in _questions(some, settings, rng)]
            made.tables["random", f"draw_{number:02}"] = rows
    return made


def _candidates(
    dataset: str, document: Askable, settings: QuestionSettings, made: QuestionSet
) -> list[Candidate]:
    made.documents += 1
    key, tokens = document.book.doc_key, len(document.book.tokens)
    if tokens < settings.least_tokens:
        made.rejected[key] = f"{tokens:,} tokens, fewer than {settings.least_tokens:,}"
    elif document.unlabelled_share > settings.most_unlabelled and not settings.bands:
        made.rejected[key] = f"{document.unlabelled_share:.0%} of its mentions are of unlabelled entities"
    if key in made.rejected:
        return []
    scores = score_mentions(document)
    # The start of the nearest earlier mention that shows the phrase of its entity, by mention index
    evidence: dict[int, int] = {}
    last: dict[int, int] = {}
    for s in scores if settings.bands else ():
        if s.entity in last:
            evidence[s.index] = last[s.entity]
        if s.category != "PRON" and s.fuzzy > SAME_SURFACE:
            last[s.entity] = s.mention.start
    found = []
    for s in scores:
        # The rules that hold for every question, hard or drawn at random
        if s.category not in CATEGORIES:
            made.counts["names, never asked"] += 1
        elif s.category == "PRON" and s.pronoun_class in PLURAL_CLASSES and not settings.plural_pronouns:
            made.counts["plural pronouns"] += 1
        elif s.category == "NOM" and 0 < settings.longest_mention < len(s.text):
            made.counts["longer than the limit"] += 1
        else:
            made.counts["may be asked"] += 1
            length = s.mention.end - evidence.get(s.index, 0)
            far = bool(evidence) and 0 < settings.longest_text <= length
            made.counts["further from the evidence than the longest text"] += far
            if not far:
                found.append(Candidate(dataset, document, s, evidence.get(s.index, -1)))
    return found


def is_hard(s: MentionScores, settings: QuestionSettings) -> bool:
    """Whether a mention passes the limits of difficulty."""
    if s.category == "PRON":
        return s.net_distractors >= settings.net_distractor_limit
    return s.fuzzy < settings.fuzzy_limit + settings.fuzzy_limit_included


def _banded(groups: list[list[Candidate]], settings: QuestionSettings, made: QuestionSet) -> list[Question]:
    """As many questions from every band of evidence distance, category and data set."""
    questions: list[Question] = []
    cells: list[tuple[str, list[Candidate]]] = []
    limits = (0, *settings.bands)
    for group in groups:
        hard = [c for c in group if is_hard(c.scores, settings) and c.evidence >= 0]
        made.counts["hard enough, with evidence before"] += len(hard)
        for low, high in zip_longest(limits, settings.bands):
            label = f"{low}-{high}" if high else f"{low}+"
            cells.append((label, [c for c in hard if low < c.evidence_distance <= (high or sys.maxsize)]))
    if settings.questions:
        return _released(cells, settings, made)
    for label, inside in cells:
        rng = random.Random(f"{settings.seed} {label}")
        chosen = rng.sample(inside, min(settings.band_size, len(inside)))
        questions += _questions(chosen, settings, rng, band=label)
    return questions


def _released(
    cells: Sequence[tuple[str, list[Candidate]]], settings: QuestionSettings, made: QuestionSet
) -> list[Question]:
    """Questions that pass every rule of a release, evenly from cells and books."""
    rng, silver = random.Random(settings.seed), settings.least > 0
    words: dict[str, SpokenOf] = {}

    def ask(cell: int, candidate: Candidate) -> Question | None:
        none = rng.random() < settings.none_share
        question = _question(candidate, settings, rng, none=none, band=cells[cell][0])
        fault = fault_of(question.to_dict(), candidate.document.together, silver=silver)
        if silver and not fault:
            if question.doc_key not in words:
                words[question.doc_key] = SpokenOf(candidate.document)
            if words[question.doc_key].are_of_others(candidate.scores, quoted=question.in_dialogue):
                fault = "words that stand for others, too"
        if fault:
            made.counts[f"refused: {fault}"] += 1
        return None if fault else question

    found = drawn([c for _, c in cells], settings.questions, settings.apart, rng, ask)
    return [question for cell in found for question in cell]


def _questions(
    candidates: Sequence[Candidate], settings: QuestionSettings, rng: random.Random, *, band: str = ""
) -> list[Question]:
    """Questions about candidates of one group; for a share of them no option is right."""
    without = set(rng.sample(range(len(candidates)), int(settings.none_share * len(candidates))))
    return [_question(c, settings, rng, none=i in without, band=band) for i, c in enumerate(candidates)]


def _question(
    candidate: Candidate, settings: QuestionSettings, rng: random.Random, *, none: bool, band: str
) -> Question:
    document, s = candidate.document, candidate.scores
    # The tokens shown: the document, or in a whole book whole sentences from the evidence to the mention
    start, end = 0, len(document.book.tokens)
    if candidate.evidence >= 0:
        ends = (0, *document.book.sentence_ends)
        start = ends[bisect_right(ends, max(candidate.evidence - settings.passage_margin, 0)) - 1]
        last = bisect_right(ends, s.mention.end + settings.passage_margin)
        end = ends[min(last, len(ends) - 1)]
    entity = document.phrases[s.entity] or ""
    text = mark(document.book.tokens, s.mention, start, end)
    # The phrases of all labelled entities with a mention in the passage, in order of first mention.
    inside: dict[str, None] = {}
    near: dict[str, int] = {}
    for other, owner in zip(document.mentions, document.owners, strict=True):
        if (phrase := document.phrases[owner]) is not None:
            away = abs(other.start - s.mention.start)
            near[phrase] = min(near.get(phrase, len(document.book.tokens)), away)
            if start <= other.start and other.end < end:
                inside.setdefault(phrase)
    near[entity] = -1
    order: Iterable[str] = sorted(near, key=lambda phrase: (phrase not in inside, near[phrase]))
    genders = {p: g for p, g in zip(document.phrases, document.genders, strict=False) if p is not None}
    if settings.checked:
        order = distinct(order, genders, document.together)
    kept: list[str] = []
    for phrase in order:
        least, most = settings.least_options, settings.most_options or len(inside)
        if len(kept) >= (most if phrase in inside else least):
            break
        kept.append(phrase)
    options = [*(phrase for phrase in inside if phrase in kept), *(p for p in kept if p not in inside)]
    if none:
        options.remove(entity)
    rng.shuffle(options)
    others = (document.phrases[owner] for i in s.around if (owner := document.owners[i]) != s.entity)
    around = dict.fromkeys(phrase for phrase in others if phrase is not None)
    return Question(
        f"{document.book.doc_key}:{s.index}", candidate.dataset, document.book.doc_key,
        s.index, s.mention.start, s.mention.end, s.category, s.text, text,
        (*options, NONE_OF_THE_ABOVE), NONE_OF_THE_ABOVE if none else entity, entity,
        s.fuzzy, s.neighbour, s.nominal_neighbour, s.surface_neighbour,
        s.pronoun_class, s.helpers, s.distractors, s.net_distractors, bool(s.around), tuple(around),
        start, end, tuple(genders[option] for option in options), document.quoted[s.mention.start],
        candidate.evidence, candidate.evidence_distance, band,
    )  # fmt: skip


def mark(tokens: Sequence[str], mention: Mention, start: int, end: int) -> str:
    """The tokens from `start` to `end` joined by one space, with the mention marked as published."""
    words = list(tokens[start:end])
    words[mention.start - start] = "{{" + words[mention.start - start]
    words[mention.end - start] += "}} (#This is the marked mention)"
    return " ".join(words)


def criteria(scores: MentionScores) -> tuple[int, int, int, int]:
    """Four values, larger is harder: minus the fuzzy score or the net distractor score, then distances."""
    first = scores.net_distractors if scores.category == "PRON" else -scores.fuzzy
    return first, scores.neighbour, scores.nominal_neighbour, scores.surface_neighbour


def copeland_counts(values: Sequence[Sequence[float]]) -> list[float]:
    """The Copeland count of each row of `values` (rows are mentions, columns are criteria; section 6).

    For every pair of mentions and every criterion the larger value gets one point, equal values half a point
    each. Comparing all pairs is quadratic; the same counts follow from ranks.
    """
    table = np.asarray(values, dtype=float)
    if not table.size:
        return [0.0] * len(table)
    total = np.zeros(len(table))
    for column in table.T:
        ordered = np.sort(column)
        smaller = np.searchsorted(ordered, column, side="left")
        total += smaller + (np.searchsorted(ordered, column, side="right") - smaller - 1) / 2
    return [float(value) for value in total]
