"""Answers without a language model: what an annotation of the same text says."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ...books import Book, Mention, Record
from ...shapes import together
from .build import NONE_OF_THE_ABOVE
from .entities import make_document


def annotation_answers(
    questions: Sequence[Mapping[str, Any]], key: Mapping[str, Record], response: Mapping[str, Record]
) -> list[dict[str, str]]:
    """The answer that the annotation `response` gives to each question, as rows {id, answer}.

    The mention is looked up in the response: the same span, else the shortest mention that contains it.
    Its cluster answers with the name of its character when that is an option, else with the option whose
    entity in the key shares most mentions with the cluster (the mention asked about does not count). A
    mention the response lacks, or a cluster that fits no option, answers "None of the Above". A document that
    one of the two lacks answers nothing.
    """
    sides: dict[str, _Sides] = {}
    answers = []
    for question in questions:
        doc_key = question["doc_key"]
        if doc_key in key and doc_key in response:
            if doc_key not in sides:
                sides[doc_key] = _Sides(key[doc_key], response[doc_key].to_book())
            answers.append({"id": str(question["id"]), "answer": sides[doc_key].answer(question)})
    return answers


def text_answers(questions: Sequence[Mapping[str, Any]]) -> dict[str, list[dict[str, str]]]:
    """Answers from words alone: the option said last before the mention, and the one said most often."""
    found: dict[str, list[dict[str, str]]] = {"nearest name": [], "most frequent": []}
    for question in questions:
        before, _, after = str(question["text"]).partition("{{")
        phrases = [str(o) for o in question["options"] if o != NONE_OF_THE_ABOVE]
        counts = {p: before.count(p) + after.count(p) for p in phrases}
        places = {p: before.rfind(p) for p in phrases}
        for name, values, least in (("nearest name", places, 0), ("most frequent", counts, 1)):
            best = max(phrases, key=values.__getitem__, default="")
            said = values.get(best, -1) >= least
            found[name].append({"id": str(question["id"]), "answer": best if said else NONE_OF_THE_ABOVE})
    return found


def evenly(questions: Sequence[dict[str, Any]], most: int) -> list[dict[str, Any]]:
    """At most so many questions, in their order: in turn from each data set, category, band."""
    names = ("dataset", "category", "band")
    groups = together((tuple(str(q.get(n) or "") for n in names), i) for i, q in enumerate(questions))
    ranks = sorted((rank, i) for group in groups.values() for rank, i in enumerate(group))
    return [questions[i] for i in sorted(i for _, i in ranks[:most])]


class _Sides:
    """A document and an annotation of it."""

    def __init__(self, key: Record, response: Book) -> None:
        made = make_document(key)
        self.entity = {m: made.phrases[o] for m, o in zip(made.mentions, made.owners, strict=True)}
        named = [(c.name, c.mentions) for c in response.characters]
        covered = {m for _, mentions in named for m in mentions}
        self.clusters = named + [("", c) for c in response.clusters if not covered.issuperset(c)]
        self.owner: dict[Mention, int] = {}
        for number, (_, mentions) in enumerate(self.clusters):
            for mention in mentions:
                self.owner.setdefault(mention, number)

    def answer(self, question: Mapping[str, Any]) -> str:
        mention = Mention(question["start"], question["end"])
        around = [m for m in self.owner if m.start <= mention.start and mention.end <= m.end]
        if not around:
            return NONE_OF_THE_ABOVE
        found = min(around, key=lambda m: (m.end - m.start, m))
        name, mentions = self.clusters[self.owner[found]]
        if name in question["options"]:
            return name
        shared = Counter(self.entity[m] for m in mentions if m != mention and m in self.entity)
        for phrase, _ in shared.most_common():
            if phrase in question["options"]:
                return str(phrase)
        return NONE_OF_THE_ABOVE
