"""PRISMA: how many facts of a description its reference supports, and the other way round.

A model draws facts from each sentence of a text, sorts them into six kinds, and judges each by the other
text (BookWorm, section 5). This module has what needs no model: prompts, the reading of replies, counting.
"""

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ...scoring.scores import cohens_kappa

FACT_KINDS = ("Role", "Relationship", "Personality", "Event", "Mental State", "Other Fact")
SIDES = ("answer", "reference")

_KIND = r"roles?|relation(?:ship)?s?|personality(?: traits?)?|events?|mental[ -]states?|other(?: facts?)?"
_ANY_KIND = re.compile(rf"\b({_KIND})\b", re.IGNORECASE)
_HEADING = re.compile(rf"\W*({_KIND})\W*", re.IGNORECASE)
_KIND_FIRST = re.compile(rf"[*\[(]*({_KIND})[*\])]*\s*[:|\t–—-]\s*(.+)", re.IGNORECASE)
_KIND_LAST = re.compile(rf"(.+?)\s*[(\[|\t–—:]\s*({_KIND})\s*[)\]]?\.?", re.IGNORECASE)
_BULLET = re.compile(r"\s*(?:[-*•–]|\(?\d+[.):]|facts?\s*\d*\s*:)\s*", re.IGNORECASE)
_NO_FACT = re.compile(r"\W*(?:none|n/?a|(?:there are )?no (?:self-contained )?facts?\b.*)\W*", re.IGNORECASE)
_VERDICT = re.compile(r"\b(not true|not supported|unsupported|false|no|true|supported|yes)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact that a text states. `supported`: whether the other text says so; None where nobody judged."""

    text: str
    kind: str = ""
    supported: bool | None = None


def fact_prompt(template: str, sentences: Sequence[str], at: int, character: str) -> str:
    """What asks for the facts of one sentence, which is marked in its text with <SOS> and <EOS>."""
    marked = [f"<SOS>{s}<EOS>" if i == at else s for i, s in enumerate(sentences)]
    return filled(template, text=" ".join(marked), character=character)


def filled(template: str, **values: str) -> str:
    """A prompt of the recipe with its {names} replaced; braces in the values stay as they are."""
    return re.sub(r"\{(\w+)\}", lambda m: values.get(m[1], m[0]), template).strip()


def facts_in(reply: str) -> list[Fact]:
    """The facts of a reply, one a line, each once.

    A kind may stand before or behind a fact ("Role: Ann bakes", "Ann bakes (Role)") or head a list of them.
    Other headings and lines that say that there is no fact are passed over.
    """
    found: dict[str, Fact] = {}
    heading = ""
    for line in reply.splitlines():
        text = _BULLET.sub("", line, count=1).strip() if _BULLET.match(line) else line.strip()
        if title := _HEADING.fullmatch(text):
            heading = kind_of(title[1])
        elif text and not text.endswith(":") and not _NO_FACT.fullmatch(text):
            said, kind = text, ""
            if match := _KIND_LAST.fullmatch(text):
                said, kind = match[1].strip(), kind_of(match[2])
            elif match := _KIND_FIRST.fullmatch(text):
                said, kind = match[2].strip(), kind_of(match[1])
            found.setdefault(said.casefold(), Fact(said, kind or heading))
    return list(found.values())


def kind_of(reply: str) -> str:
    """The kind that a reply names first, "Other Fact" where it names none."""
    match = _ANY_KIND.search(reply)
    start = match[1][:3].casefold() if match else ""
    return next((kind for kind in FACT_KINDS if start and kind.casefold().startswith(start)), FACT_KINDS[-1])


def verdict_in(reply: str) -> bool | None:
    """Whether a reply calls a fact true; None where it does not say."""
    match = _VERDICT.search(reply)
    return None if match is None else match[1].casefold() in ("true", "supported", "yes")


def prisma(answer: Sequence[Fact], reference: Sequence[Fact]) -> dict[str, float | None]:
    """Precision: share of the answer's facts that hold by the reference; recall: the other way round; F1.

    A fact without a verdict does not hold. An answer that states nothing has precision 0; a reference that
    states nothing gives None throughout.
    """
    if not reference:
        return dict.fromkeys(("fact_precision", "fact_recall", "fact_f1"))
    precision, recall = (
        (sum(fact.supported is True for fact in facts) / len(facts) if facts else 0.0)
        for facts in (answer, reference)
    )
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return {"fact_precision": precision, "fact_recall": recall, "fact_f1": f1}


def by_kind(pairs: Iterable[tuple[Sequence[Fact], Sequence[Fact]]]) -> list[dict[str, Any]]:
    """One row per kind over all (answer, reference): facts of either, and the shares that hold, pooled."""
    pooled: dict[str, list[list[Fact]]] = {kind: [[], []] for kind in FACT_KINDS}
    for both in pairs:
        for side, facts in enumerate(both):
            for fact in facts:
                pooled[fact.kind or FACT_KINDS[-1]][side].append(fact)
    return [
        {"kind": kind, "answer_facts": len(answer), "reference_facts": len(reference),
         **prisma(answer, reference)}
        for kind, (answer, reference) in pooled.items()
    ]  # fmt: skip


def kappa(one: Sequence[Hashable], other: Sequence[Hashable]) -> float:
    """Cohen's kappa of two judges of the same things; 1 where chance leaves nothing to disagree about."""
    found = cohens_kappa(Counter(zip(one, other, strict=True)))
    return 1.0 if found is None else found


_QUESTION = re.compile(r"\W*(?:\d+\W*)?(?:q|question)\s*\d*\W*[:.)]\W*(.+)", re.IGNORECASE)
_ANSWER = re.compile(r"\W*(?:\d+\W*)?(?:a|answer)\s*\d*\W*[:.)]\s*(.+)", re.IGNORECASE)


def questions_in(reply: str) -> list[tuple[str, str]]:
    """The pairs of question and answer in a reply with lines "Q: ..." and "A: ..."."""
    found, question = [], ""
    for line in reply.replace("*", "").splitlines():
        if match := _QUESTION.match(line):
            question = match[1].strip()
        elif question and (match := _ANSWER.match(line)):
            found.append((question, match[1].strip()))
            question = ""
    return found
