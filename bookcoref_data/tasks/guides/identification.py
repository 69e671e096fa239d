"""LiSCU's character identification: who is masked in this description, given the summary of the book?

(Brahman et al. 2021, "Let Your Characters Tell Their Story".) The options are all characters of the guide.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from ...shapes import attributes, together
from ..contexts.scores import words_in
from ..folder import Feature
from ..questions.grading import Row, Share, answer_of, last_answers
from ..runner.run import AskedModel, Request
from .texts import MASK, GuideText, mask_name

IDENTIFICATION: dict[str, Feature] = {
    "id": "string", "doc_key": "string", "title": "string", "source": "string", "summary": "string",
    "masked_description": "string", "masks": "int32", "options": ["string"], "answer": "string",
    "prompt": "string",
}  # fmt: skip


def questions_of(texts: Sequence[GuideText]) -> list[dict[str, Any]]:
    """One question per description, of guides that have a summary and two characters or more, as a row."""
    found: list[dict[str, Any]] = []
    for some in together(((text.source, text.guide), text) for text in texts).values():
        summary = next((t.text for t in some if t.kind == "summary"), "")
        people = sorted((t for t in some if t.kind == "description"), key=lambda t: t.order)
        options = list(dict.fromkeys(p.character for p in people))
        for person in people if summary and len(people) > 1 else ():
            others = [(p.character, *p.aliases) for p in people if p is not person]
            masked, count = mask_name(person.text, (person.character, *person.aliases), others)
            found.append({
                **attributes(person, "id doc_key title source"), "summary": summary,
                "masked_description": masked, "masks": count, "options": options, "answer": person.character,
                "prompt": identification_prompt(summary, masked, options),
            })  # fmt: skip
    return found


def identification_prompt(summary: str, masked: str, options: Sequence[str]) -> str:
    """What a model is asked. The wording is ours: the paper trains models and has no prompt."""
    listed = "\n".join(f"- {name}" for name in options)
    return (
        f"The description below is about one character of a book; the name is replaced by {MASK}. Read the "
        f"summary of the book and say which character it is. Answer with one name of the list and nothing "
        f"else.\nSummary: {summary}\nDescription: {masked}\nCharacters:\n{listed}"
    )


def requests_of(questions: Sequence[Row]) -> list[Request]:
    """The prompts, with the options as the only answers wanted."""
    found = []
    for q in questions:
        options = tuple(map(str, q["options"]))
        found.append(Request(str(q["id"]), str(q["prompt"]), "|".join(map(re.escape, options)), options))
    return found


def option_in(reply: str, options: Sequence[str]) -> str:
    """The option that a reply names: the whole reply, else the first in it, the longest of several there.

    Options are whole words; capitals count where one is named with them.
    """
    plain = reply.strip().strip("*\"'.").strip()
    if plain in options:
        return plain
    for case in (0, re.IGNORECASE):
        found = ((re.search(rf"(?<!\w){re.escape(o)}(?!\w)", reply, case), o) for o in options)
        if places := [(match.start(), -len(option), option) for match, option in found if match]:
            return min(places)[2]
    return ""


def identify_with(rows: Sequence[Row], model: AskedModel) -> list[dict[str, str]]:
    """Ask a model who is masked; returns and writes rows {id, answer}.

    Of a reply that says more than a name, the option that it names first is the answer.
    """
    replies = model.replies(requests_of(rows))
    said = ((str(row["id"]), row["options"]) for row in rows)
    answers = [{"id": key, "answer": option_in(replies[key].text, options)} for key, options in said]
    model.write(answers)
    return answers


def grade_identification(questions: Sequence[Row], answers: Iterable[Row]) -> dict[str, Any]:
    """Accuracy of `answers` ({id, answer}), in all, by source and for names that occur in the description.

    An answer is right when it is the name, blanks at its ends aside. No answer is wrong. Raises DataError:
    two questions have the same id.
    """
    rows, unknown, replaced = last_answers(questions, answers)
    given = {key: answer_of(row) for key, row in rows.items()}
    right = {str(q["id"]): given.get(str(q["id"])) == q["answer"] for q in questions}
    masked = {True: "name masked", False: "no name in the text"}
    named = ((name, q) for q in questions for name in (str(q["source"]), masked[bool(q["masks"])]))
    groups = {"all": list(questions)} | together(named)
    shares = {name: Share(sum(right[str(q["id"])] for q in some), len(some)) for name, some in groups.items()}
    return {
        "groups": {name: share.to_dict() for name, share in shares.items()},
        "random_baseline": sum(1 / len(q["options"]) for q in questions) / max(1, len(questions)),
        "unanswered": sum(not given.get(str(q["id"])) for q in questions),
        "answers_to_unknown_questions": unknown,
        "answers_replaced": replaced,
    }


def baselines(questions: Sequence[Row]) -> dict[str, list[dict[str, str]]]:
    """Answers that need no model.

    `frequency`: the option that the summary names most often. `overlap`: the option whose sentences in the
    summary share most words with the masked description, rarer words counting more. Ties go to the order of
    the guide's list.
    """
    by_frequency, by_overlap = [], []
    for question in questions:
        options, summary = list(question["options"]), str(question["summary"])
        counts = {name: mask_name(summary, [name])[1] for name in options}
        by_frequency.append({"id": str(question["id"]), "answer": max(options, key=lambda n: counts[n])})
        raw = re.split(r"(?<=[.!?])\s+", summary)
        sentences = [set(words_in(sentence)) for sentence in raw]
        spread = Counter(word for sentence in sentences for word in sentence)
        wanted = set(words_in(str(question["masked_description"]).replace(MASK, " ")))
        shared: dict[str, float] = {}
        for name in options:
            about = [words for text, words in zip(raw, sentences, strict=True) if mask_name(text, [name])[1]]
            together = set().union(*about) & wanted if about else set()
            shared[name] = sum(1 / spread[word] for word in together)
        by_overlap.append({"id": str(question["id"]), "answer": max(options, key=lambda n: shared[n])})
    return {"frequency": by_frequency, "overlap": by_overlap}
