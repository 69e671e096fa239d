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
    sides = {
        doc_key: _Sides(key[doc_key], response[doc_key].to_book(), asked)
        for doc_key, asked in together((question["doc_key"], question) for question in questions).items()
        if doc_key in key and doc_key in response
    }
    asked = ((question, sides.get(question["doc_key"])) for question in questions)
    return [{"id": str(q["id"]), "answer": side.answer(q)} for q, side in asked if side]


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

    def __init__(self, key: Record, response: Book, questions: Sequence[Mapping[str, Any]]) -> None:
        # The phrase of an entity is what a question says, else an option that a way of making phrases gives.
        options = {option for question in questions for option in question["options"]}
        made, table = (make_document(key, untyped=way) for way in ("rules", "table"))
        owner = dict(zip(made.mentions, made.owners, strict=True))
        ways = zip(made.phrases, table.phrases, strict=True)
        phrases = [next(filter(options.__contains__, of), None) for of in ways]
        said = {owner.get(Mention(q["start"], q["end"])): q["entity"] for q in questions if "entity" in q}
        self.entity = {mention: said.get(number, phrases[number]) for mention, number in owner.items()}
        named = [(c.name, c.mentions) for c in response.characters]
        covered = {m for _, mentions in named for m in mentions}
        self.clusters = named + [("", c) for c in response.clusters if not covered.issuperset(c)]
        last_first = reversed([*enumerate(self.clusters)])  # of several, the first that lists a mention
        self.owner = {mention: number for number, (_, mentions) in last_first for mention in mentions}

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
        ranked = (phrase for phrase, _ in shared.most_common() if phrase in question["options"])
        return str(next(ranked, NONE_OF_THE_ABOVE))
