"""Grade answers to questions: accuracy, kinds of errors, confusions of nested mentions (section 8)."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...errors import DataError
from ...late import scipy
from ...shapes import AsFields
from .build import NONE_OF_THE_ABOVE
from .prompts import answer_in, mention_in

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Share:
    """Right answers of a number of questions, with the Wilson interval at 95%. Values are 0 to 1."""

    right: int
    total: int

    @property
    def value(self) -> float:
        return self.right / self.total if self.total else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """(low, high) by Wilson's method; (0, 1) where there is no question."""
        if not self.total:
            return 0.0, 1.0
        found = scipy.stats.binomtest(self.right, self.total).proportion_ci(method="wilson")
        return float(found.low), float(found.high)

    def to_dict(self) -> dict[str, Any]:
        low, high = self.interval
        return {"right": self.right, "total": self.total, "accuracy": self.value, "low": low, "high": high}


@dataclass(slots=True)
class Grades(AsFields):
    """The result for one file of answers.

    `groups` holds a `Share` for "all", each category, "entity" and "none" (what the right answer is), each
    band and data set, and what the public code looks at: nested or not, gender of the right answer, person
    of pronouns, in dialogue or not. `genders` counts wrong answers by "right - chosen" gender.
    `errors`: "entity-entity", "entity-none", "none-entity", "no answer" and "outside the options".
    `mention_extracted`: replies that quote the mention right; None without replies.
    `nested` questions have an `overlapping` entity; `nested_errors_to_overlapping` of their errors name it.
    The last two: as in `last_answers`.
    """

    groups: dict[str, Share] = field(default_factory=dict)
    errors: Counter[str] = field(default_factory=Counter)
    random_baseline: float = 0.0
    mention_extracted: Share | None = None
    mention_extracted_and_right: Share | None = None
    nested: Share = field(default_factory=lambda: Share(0, 0))
    nested_errors_to_overlapping: int = 0
    answers_to_unknown_questions: int = 0
    answers_replaced: int = 0
    genders: Counter[str] = field(default_factory=Counter)


def last_answers(questions: Sequence[Row], answers: Iterable[Row]) -> tuple[dict[str, Row], int, int]:
    """By id the last answer to each question; how many ids are those of no question; and how many answers
    are contradicted by a later one. Raises DataError: two questions have the same id."""
    known, rows = {str(q["id"]) for q in questions}, list(answers)
    if len(known) < len(questions):
        raise DataError("two questions have the same id", hint="grade the splits of a folder one by one")
    given = {str(a["id"]): a for a in rows}
    return given, len(given.keys() - known), sum(answer_of(a) != answer_of(given[str(a["id"])]) for a in rows)


def grade(questions: Sequence[Row], answers: Iterable[Row]) -> Grades:
    """Grade `answers` ({id, answer} or {id, response}) against rows of a question file.

    An answer is right when it equals the right option exactly. No answer, or one outside the options, is
    wrong; it counts as an entity among the errors, as published. Of several answers to a question the last
    one counts. Raises DataError: two questions have the same id.
    """
    given, unknown, replaced = last_answers(questions, answers)
    grades = Grades(answers_to_unknown_questions=unknown, answers_replaced=replaced)
    judged = [(q, given.get(str(q["id"]))) for q in questions]
    right = {str(q["id"]): answer_of(a) == q["answer"] for q, a in judged}
    for name, inside in _groups(questions).items():
        grades.groups[name] = Share(sum(right[str(q["id"])] for q in inside), len(inside))
    for q, answer in ((q, answer_of(a)) for q, a in judged if not right[str(q["id"])]):
        if q.get("genders"):
            own, chosen = (gender_chosen(q, one) for one in (str(q["answer"]), answer))
            grades.genders[f"{own} - {chosen}"] += 1
        if not answer:
            grades.errors["no answer"] += 1
        elif answer not in q["options"]:
            grades.errors["outside the options"] += 1
        sides = ["none" if one == NONE_OF_THE_ABOVE else "entity" for one in (q["answer"], answer)]
        grades.errors["none-entity" if sides[0] == "none" else f"entity-{sides[1]}"] += 1
        if q.get("is_nested") and answer in q.get("overlapping", ()):
            grades.nested_errors_to_overlapping += 1
    grades.random_baseline = sum(1 / len(q["options"]) for q in questions) / max(1, len(questions))
    if replies := [(q, a) for q, a in judged if a is not None and a.get("response")]:
        found = [q for q, a in replies if mention_in(str(a["response"])) == q["mention"]]
        grades.mention_extracted = Share(len(found), len(judged))
        grades.mention_extracted_and_right = Share(sum(right[str(q["id"])] for q in found), len(judged))
    nested = [q for q in questions if q.get("is_nested")]
    grades.nested = Share(sum(right[str(q["id"])] for q in nested), len(nested))
    return grades


def answer_of(answer: Row | None) -> str:
    """The option that an answer names: its `answer`, else what its `response` says; "" for none."""
    if answer is None:
        return ""
    stored = answer.get("answer")
    return str(stored).strip() if stored is not None else answer_in(str(answer.get("response") or ""))


def _groups(questions: Sequence[Row]) -> dict[str, list[Row]]:
    pronouns = [q for q in questions if q["category"] == "PRON"]
    groups = {
        "all": list(questions),
        "NOM": [q for q in questions if q["category"] == "NOM"],
        "PRON": pronouns,
        "entity": [q for q in questions if q["answer"] != NONE_OF_THE_ABOVE],
        "none": [q for q in questions if q["answer"] == NONE_OF_THE_ABOVE],
    }
    if any(q.get("genders") for q in questions):
        genders = [(q, gender_chosen(q, str(q["answer"]))) for q in questions]
        groups |= {
            "nested": [q for q in questions if q["is_nested"]],
            "not nested": [q for q in questions if not q["is_nested"]],
            **{f"{g} answer": [q for q, own in genders if own == g] for g in ("male", "female", "neutral")},
            "I or you": [q for q in pronouns if q["pronoun_class"] in (0, 1)],
            "other pronouns": [q for q in pronouns if q["pronoun_class"] in (2, 3, 4, 7)],
            "PRON in dialogue": [q for q in pronouns if q["in_dialogue"]],
            "PRON outside dialogue": [q for q in pronouns if not q["in_dialogue"]],
        }
    for title in ("band", "dataset"):
        values = dict.fromkeys(str(q.get(title) or "") for q in questions)
        if title == "band" or len(values) > 1:
            groups |= {f"{title} {v}": [q for q in questions if q.get(title) == v] for v in values if v}
    return groups


def gender_chosen(question: Row, answer: str) -> str:
    """The gender of an option; "none" for None of the Above, no option, and rows without genders."""
    genders = dict(zip(question["options"], question.get("genders") or (), strict=False))
    return str(genders.get(answer, "none"))
