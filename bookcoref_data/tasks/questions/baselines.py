"""Answers without a language model: what an annotation of the same text says."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ...books import Book, Mention, Record
from ...shapes import together
from .build import NONE_OF_THE_ABOVE
from .entities import Askable, make_document
from .phrases import closed_up


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
    """Answers from words alone: the option said last before the mention, and the one said most often.

    Said is an option where it stands whole and in no longer one; the mention asked about does not count.
    """
    found: dict[str, list[dict[str, str]]] = {"nearest name": [], "most frequent": []}
    for question in questions:
        before, _, behind = str(question["text"]).partition("{{")
        phrases = [str(o) for o in question["options"] if o != NONE_OF_THE_ABOVE]
        said, later = (_said(phrases, text) for text in (before, behind.partition("}}")[2]))
        counts = Counter(said + later)
        commonest = max(phrases, key=counts.__getitem__) if counts else NONE_OF_THE_ABOVE
        for name, answer in (("nearest name", [NONE_OF_THE_ABOVE, *said][-1]), ("most frequent", commonest)):
            found[name].append({"id": str(question["id"]), "answer": answer})
    return found


def _said(phrases: Sequence[str], text: str) -> list[str]:
    """The phrases that a text of tokens says, in order; a noun phrase may begin a sentence."""
    longest = sorted(filter(None, phrases), key=len, reverse=True)
    first = (f"(?i:{re.escape(p[0])})" if p[0].islower() else re.escape(p[0]) for p in longest)
    ways = (rf"(?<!\w)({a}{re.escape(p[1:])})(?!\w)" for a, p in zip(first, longest, strict=True))
    plain = "|".join(ways).replace("’", "'")
    found = re.finditer(plain, closed_up(text).replace("’", "'")) if longest else ()
    return [longest[(match.lastindex or 0) - 1] for match in found]


def evenly(questions: Sequence[dict[str, Any]], most: int) -> list[dict[str, Any]]:
    """At most so many questions, in their order: in turn from each data set, category, band."""
    names = ("dataset", "category", "band")
    groups = together((tuple(str(q.get(n) or "") for n in names), i) for i, q in enumerate(questions))
    ranks = sorted((rank, i) for group in groups.values() for rank, i in enumerate(group))
    return [questions[i] for i in sorted(i for _, i in ranks[:most])]


class _Sides:
    """A document and an annotation of it."""

    def __init__(self, key: Record, response: Book, questions: Sequence[Mapping[str, Any]]) -> None:
        # The phrases are made as the questions' were: in the first way that gives theirs, or most of them.
        asked = {Mention(q["start"], q["end"]): q["entity"] for q in questions if "entity" in q}
        ways: list[tuple[int, Askable]] = []
        for untyped in ("rules", "table"):
            made = make_document(key, untyped=untyped)
            owner = dict(zip(made.mentions, made.owners, strict=True))
            same = (m in owner and made.phrases[owner[m]] == phrase for m, phrase in asked.items())
            ways.append((sum(same), made))
            if ways[-1][0] == len(asked):
                break
        phrases = max(ways, key=lambda way: way[0])[1].phrases
        said = {owner.get(mention): phrase for mention, phrase in asked.items()}
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
