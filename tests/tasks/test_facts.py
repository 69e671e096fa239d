"""Facts drawn and judged by a model (PRISMA), questions made and answered: reading, counting, asking."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from bookcoref_data.books import Record
from bookcoref_data.cli.app import make_app
from bookcoref_data.errors import UsageError
from bookcoref_data.formats import write_documents
from bookcoref_data.tasks.contexts.facts import (
    FACT_KINDS,
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

LISTED = """Here are the facts:
1. Meg is the teacher of the village. (Role)
2) Meg is Ned's sister | Relationship
- **Personality**: Meg is patient.
Event: Meg breaks the lamp.
Mental state:
• Meg is afraid of the river
Facts:
* Other Fact - Meg has a red scarf
Meg keeps a diary: she writes at night.
2) Meg is Ned's sister | Relationship
None
"""


def test_a_list_of_facts_is_read_with_its_kinds():
    found = facts_in(LISTED)
    assert [f.kind for f in found] == [
        "Role", "Relationship", "Personality", "Event", "Mental State", "Other Fact", "Mental State",
    ]  # fmt: skip
    assert [f.text for f in found[:3]] == [
        "Meg is the teacher of the village.", "Meg is Ned's sister", "Meg is patient.",
    ]  # fmt: skip
    assert found[-1].text == "Meg keeps a diary: she writes at night."


@pytest.mark.parametrize(
    "reply", ["", "No facts.", "There are no facts in this sentence.", "- None", "N/A", "The facts are:"]
)
def test_a_reply_without_facts_has_none(reply):
    assert facts_in(reply) == []


def test_a_word_of_a_kind_inside_a_fact_is_no_kind():
    said = [
        "Meg plays a role in the events of May.",
        "No other friend came to Meg.",
        "None of them helps Meg.",
    ]
    assert [(f.text, f.kind) for f in facts_in("\n".join(said))] == [(text, "") for text in said]


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        ("Category: Event.", "Event"), ("mental-state", "Mental State"), ("Relationships", "Relationship"),
        ("It is a personality trait, no event", "Personality"), ("Other", "Other Fact"), ("?", "Other Fact"),
    ],
)  # fmt: skip
def test_kinds_of_replies(reply, kind):
    assert kind_of(reply) == kind


@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        ("True", True), ("**False**, since Meg is away.", False), ("This is not true.", False),
        ("The fact is not supported.", False), ("Yes.", True), ("I know not", None), ("", None),
    ],
)  # fmt: skip
def test_verdicts_of_replies(reply, verdict):
    assert verdict_in(reply) is verdict


def test_one_sentence_is_marked_and_braces_stay():
    prompt = fact_prompt("About {character}: {text}", ["Meg {sings}.", "Ned runs."], 1, "Meg")
    assert prompt == "About Meg: Meg {sings}. <SOS>Ned runs.<EOS>"
    assert filled("{fact} {unknown}", fact="{text}") == "{text} {unknown}"


def test_precision_recall_and_the_table_by_kind():
    answer = [Fact("a", "Role", True), Fact("b", "Event", False), Fact("c", "Event", None)]
    reference = [Fact("d", "Role", True), Fact("e", "", True)]
    assert prisma(answer, reference) == {
        "fact_precision": pytest.approx(1 / 3), "fact_recall": 1.0, "fact_f1": pytest.approx(0.5),
    }  # fmt: skip
    assert prisma([], reference)["fact_f1"] == 0.0
    assert prisma(answer, [])["fact_f1"] is None
    rows = {row["kind"]: row for row in by_kind([(answer, reference), (answer, [])])}
    assert list(rows) == list(FACT_KINDS)
    assert (rows["Role"]["answer_facts"], rows["Role"]["fact_precision"], rows["Role"]["fact_recall"]) == (
        2,
        1,
        1,
    )
    assert (rows["Event"]["answer_facts"], rows["Event"]["reference_facts"]) == (4, 0)
    assert rows["Other Fact"]["reference_facts"] == 1


def test_kappa_of_two_judges():
    one = [True] * 25 + [False] * 25
    other = [True] * 20 + [False] * 5 + [True] * 10 + [False] * 15
    assert kappa(one, other) == pytest.approx(0.4)
    assert kappa(one, one) == 1.0
    assert kappa([True, True], [True, True]) == kappa([], []) == 1.0


def test_questions_are_read():
    reply = "Q1: Who is Meg?\nA1: the teacher\n**Question 2:** Where?\n\n**Answer:** at home\n"
    reply += "Q: unanswered\nQ: x? \nA: y"
    assert questions_in(reply) == [("Who is Meg?", "the teacher"), ("Where?", "at home"), ("x?", "y")]


REFERENCE = "Meg is the teacher. Meg is Ned's sister. Meg is brave. " + "She teaches on. " * 8
ANSWER = "Meg is the teacher. Meg is Ned's aunt."


def script(body):
    """A model that copies sentences as facts and finds them word for word."""
    prompt = body["messages"][-1]["content"]
    if "<SOS>" in prompt:
        said = prompt.rsplit("<SOS>", 1)[1].split("<EOS>")[0]
        return f"- {said}" if said.startswith("Meg") else "None"
    if prompt.startswith("Classify the following fact as either"):
        context, fact = prompt.split("Context: ")[1].split("\n\nFact: ")
        if body["model"] == "lenient" and "aunt" in fact:
            return "True"
        return str(fact in context)
    if prompt.startswith("Classify"):
        return "Relationship" if "Ned" in prompt else "Role" if "teacher" in prompt else "Personality"
    if prompt.startswith("Write five"):
        return "Q: What is Meg?\nA: the teacher\nQ: Whose sister?\nA: Ned's\nQ: How old?\nA: ten"
    words = {"What": "teacher", "Whose": "Ned's", "How": "unknown"}[prompt.split("Question: ")[1].split()[0]]
    text = prompt.split("Text: ")[1].split("\n\nQuestion")[0]
    return words if words in text and (words != "Ned's" or "sister" in text) else "unknown"


def score(folder, chat, *words):
    row = {"doc_key": "b", "character": "Meg"}
    (folder / "r.jsonl").write_text(json.dumps(row | {"text": REFERENCE}) + "\n")
    (folder / "a.jsonl").write_text(json.dumps(row | {"text": ANSWER, "strategy": "coref"}) + "\n")
    chat.answer = script
    given = ["score", folder / "r.jsonl", "-a", folder / "a.jsonl", "--out", folder / "f.jsonl"]
    asked = ["--endpoint", chat.url, "--model", "m", *words]
    return CliRunner().invoke(make_app(), ["contexts", *map(str, [*given, *asked])])


def test_facts_and_questions_are_scored_and_kept(chat, tmp_path, fits_schema):
    done = score(tmp_path, chat, "--facts", "--qa", "--second-judge", "lenient", "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    fits_schema("contexts-score", found)
    scores = found["coref"]
    assert (scores["fact_precision"], scores["fact_recall"]) == (0.5, pytest.approx(1 / 3))
    kinds = {row["kind"]: (row["answer_facts"], row["reference_facts"]) for row in scores["kinds"]}
    assert {kind: counts for kind, counts in kinds.items() if any(counts)} == {
        "Role": (1, 1), "Relationship": (1, 1), "Personality": (0, 1),
    }  # fmt: skip
    # Two of five verdicts are true for the first judge; the second calls the aunt true, too.
    assert scores["kappa"] == pytest.approx((0.8 - 0.48) / (1 - 0.48))
    assert (scores["questions"], scores["qa_exact"]) == (2, 0.5)
    rows = [json.loads(line) for line in (tmp_path / "f.jsonl").read_text().splitlines()]
    assert [(r["side"], r["kind"], r["verdicts"]) for r in rows] == [
        ("answer", "Role", [True, True]), ("answer", "Relationship", [False, True]),
        ("reference", "Role", [True, True]), ("reference", "Relationship", [False, False]),
        ("reference", "Personality", [False, False]),
    ]  # fmt: skip
    asked = len(chat.bodies)
    again = score(tmp_path, chat, "--facts", "--qa", "--second-judge", "lenient")
    assert len(chat.bodies) == asked, "kept replies are not asked again"
    assert "kappa of the two judges 0.615" in again.stdout
    assert "Relationship" in again.stdout


def test_the_judge_is_not_asked_about_baselines(chat, tmp_path):
    book = Record("b", "", [["Meg", "is", "kind", "."], ["Ned", "saw", "Meg", "."]], [[(0, 0), (6, 6)]],
                  [("Meg", [(0, 0), (6, 6)])])  # fmt: skip
    write_documents([book], tmp_path / "b.jsonl")
    done = score(tmp_path, chat, "--facts", "--qa", "--books", str(tmp_path / "b.jsonl"), "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert {"coref", "baseline lead", "baseline random", "baseline oracle"} <= found.keys()
    assert [name for name, scores in found.items() if "fact_f1" in scores or "qa_exact" in scores] == [
        "coref"
    ]
    assert not [body for body in chat.bodies if "Meg is kind ." in json.dumps(body)]
    alone = ["contexts", "score", str(tmp_path / "r.jsonl"), "--books", str(tmp_path / "b.jsonl"), "--facts",
             "--out", str(tmp_path / "x.jsonl"), "--endpoint", chat.url, "--model", "m"]  # fmt: skip
    refused = CliRunner().invoke(make_app(), alone)
    assert isinstance(refused.exception, UsageError)
    assert "no descriptions to judge" in str(refused.exception)


def test_facts_need_a_model_and_a_place(chat, tmp_path):
    score(tmp_path, chat)
    given = ["contexts", "score", str(tmp_path / "r.jsonl"), "-a", str(tmp_path / "a.jsonl"), "--facts"]
    assert "go together" in str(CliRunner().invoke(make_app(), given).exception)
    alone = [word for word in given if word != "--facts"]
    refused = CliRunner().invoke(make_app(), [*alone, "--out", str(tmp_path / "x.jsonl")])
    assert "go together" in str(refused.exception), "a file that would stay empty is refused"
    named = CliRunner().invoke(make_app(), [*given, "--out", str(tmp_path / "x.jsonl")])
    assert isinstance(named.exception, UsageError)
    assert "no model is named" in str(named.exception)
