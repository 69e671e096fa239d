"""Scores of descriptions that a model judges: facts (PRISMA), and questions answered from them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from ..tasks.contexts.facts import (
    SIDES,
    Fact,
    by_kind,
    fact_prompt,
    facts_in,
    filled,
    kappa,
    kind_of,
    prisma,
    questions_in,
    verdict_in,
)
from ..tasks.contexts.scores import mean_scores, qa_scores
from ..tasks.runner.run import AskedModel, Request
from ..text.tokens import sentence_spans

Rows = list[dict[str, Any]]
About = tuple[str, str]
"""A character, and a text about it."""


@dataclass(frozen=True, slots=True)
class Compared:
    """A text about a character, and the reference that it is compared with."""

    doc_key: str
    character: str
    text: str
    reference: str


class FactJudge:
    """A model that draws facts, judges them, makes and answers questions, by the prompts of a recipe."""

    def __init__(self, model: AskedModel, prompts: Mapping[str, str]) -> None:
        self.model, self._prompts = model, prompts

    def replies(self, prompts: Iterable[str]) -> dict[str, str]:
        """The reply to every prompt."""
        wanted = list(dict.fromkeys(prompts))
        found = self.model.replies([Request(str(i), prompt) for i, prompt in enumerate(wanted)])
        return {prompt: found[str(i)].text for i, prompt in enumerate(wanted)}

    def facts(self, texts: Iterable[About]) -> dict[About, list[Fact]]:
        """The facts of every text with their kinds, each fact once."""
        prompts = {}
        for about in texts:
            said = [about[1][a:b] for a, b in sentence_spans(about[1])]
            asked = self._prompts["facts"]
            prompts[about] = [fact_prompt(asked, said, i, about[0]) for i in range(len(said))]
        replies = self.replies(chain.from_iterable(prompts.values()))
        found = {about: facts_in("\n".join(replies[p] for p in some)) for about, some in prompts.items()}
        unknown = ((about[0], f.text) for about, some in found.items() for f in some if not f.kind)
        kinds = self._asked("classify", unknown, "character", "fact")
        return {
            about: [f if f.kind else replace(f, kind=kind_of(kinds[about[0], f.text])) for f in facts]
            for about, facts in found.items()
        }

    def verdicts(self, pairs: Iterable[tuple[str, str]]) -> dict[tuple[str, str], bool | None]:
        """Whether each fact holds by a text: {(fact, text): verdict}."""
        said = self._asked("verify", pairs, "fact", "text")
        return {pair: verdict_in(reply) for pair, reply in said.items()}

    def questions(self, texts: Iterable[About]) -> dict[About, list[tuple[str, str]]]:
        """Pairs of question and answer made from every text."""
        said = self._asked("questions", texts, "character", "text")
        return {about: questions_in(reply) for about, reply in said.items()}

    def answers(self, pairs: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
        """The answer to each question from a text: {(question, text): answer}."""
        said = self._asked("answer", pairs, "question", "text")
        return {pair: reply.strip() for pair, reply in said.items()}

    def _asked(self, name: str, things: Iterable[About], *fields: str) -> dict[About, str]:
        """The reply to a prompt of the recipe about each pair of things, which stand in its two fields."""
        named = {pair: dict(zip(fields, pair, strict=True)) for pair in things}
        prompts = {pair: filled(self._prompts[name], **values) for pair, values in named.items()}
        said = self.replies(prompts.values())
        return {pair: said[prompt] for pair, prompt in prompts.items()}


def judged_scores(
    groups: Mapping[str, Sequence[Compared]], judges: Sequence[FactJudge], *, facts: bool, qa: bool
) -> tuple[dict[str, dict[str, Any]], Rows]:
    """Scores of facts and of questions by system, as asked for, and a row per judged fact, which are written.

    `judges` are one or two; the first one's report counts in the end what both did.
    """
    first, *others = judges
    found, rows = fact_scores(groups, *judges) if facts else ({}, [])
    if qa:
        answered = question_scores(groups, first)
        found = {name: found.get(name, {}) | values for name, values in answered.items()}
    for other in others:
        first.model.report.add(other.model.report)
    first.model.write(rows)
    return found, rows


def fact_scores(
    groups: Mapping[str, Sequence[Compared]], judge: FactJudge, second: FactJudge | None = None
) -> tuple[dict[str, dict[str, Any]], Rows]:
    """Precision, recall and F1 of facts by system, with a table by kind; and one row per judged fact.

    Scores are means over texts, those by kind are pooled. A second judge is asked about the same facts; both
    judges' kappa is over all facts of a system; a fact without a verdict counts as one that does not hold.
    """
    pairs = list(chain.from_iterable(groups.values()))
    facts = judge.facts(dict.fromkeys((p.character, t) for p in pairs for t in (p.text, p.reference)))
    asked = [(fact.text, by) for p in pairs for text, by in ((p.text, p.reference), (p.reference, p.text))
             for fact in facts[p.character, text]]  # fmt: skip
    judges = [one.verdicts(asked) for one in (judge, second) if one is not None]
    rows: Rows = []
    found: dict[str, dict[str, Any]] = {}
    for system, some in groups.items():
        judged, verdicts = [], []
        for p in some:
            sides: list[list[Fact]] = []
            for side, text, by in zip(SIDES, (p.text, p.reference), (p.reference, p.text), strict=True):
                sides.append([replace(f, supported=judges[0][f.text, by]) for f in facts[p.character, text]])
                for fact in sides[-1]:
                    verdicts.append([one[fact.text, by] is True for one in judges])
                    rows.append({
                        "doc_key": p.doc_key, "character": p.character, "system": system, "side": side,
                        "fact": fact.text, "kind": fact.kind,
                        "verdicts": [one[fact.text, by] for one in judges],
                    })  # fmt: skip
            judged.append((sides[0], sides[1]))
        found[system] = {**mean_scores([prisma(*both) for both in judged]), "kinds": by_kind(judged)}
        if second is not None:
            found[system]["kappa"] = kappa(*zip(*verdicts, strict=True)) if verdicts else 1.0
    return found, rows


def question_scores(
    groups: Mapping[str, Sequence[Compared]], judge: FactJudge
) -> dict[str, dict[str, float]]:
    """Exact match and F1 of questions about the reference, answered from a text: means over texts by system.

    Questions that the reference does not answer as it was said are left out (round trip).
    """
    pairs = list(chain.from_iterable(groups.values()))
    made = judge.questions(dict.fromkeys((p.character, p.reference) for p in pairs))
    answers = judge.answers((question, text) for p in pairs for text in (p.reference, p.text)
                            for question, _ in made[p.character, p.reference])  # fmt: skip
    found = {}
    for system, some in groups.items():
        scored = [
            qa_scores(made[p.character, p.reference], p.reference, p.text, lambda q, text: answers[q, text])
            for p in some
        ]
        kept = [one for one in scored if one is not None]
        means = {f"qa_{name}": value for name, value in mean_scores(kept).items() if name != "questions"}
        found[system] = {**means, "questions": sum(one["questions"] for one in kept)}
    return found
