"""A release of questions: rules, even draws, what silver is sure of, baselines, and how it is published."""

from __future__ import annotations

import itertools
import json
import random
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from bookcoref_data.books import Record
from bookcoref_data.cli.app import make_app
from bookcoref_data.errors import DataError, UsageError
from bookcoref_data.tasks.questions.build import build_questions
from bookcoref_data.tasks.questions.entities import make_document
from bookcoref_data.tasks.questions.release import (
    distinct,
    drawn,
    fault_of,
    may_be_one,
    names_together,
    said_by_the_words,
)
from bookcoref_data.tasks.questions.scores import SpokenOf, score_mentions
from bookcoref_data.tasks.questions.settings import read_settings

BOOK = names_together(["Then", "Jane", "Eyre", "met", "Mr.", "Edward", "Rochester", "and", "Tom", "."])


@pytest.mark.parametrize(("one", "other", "same"), [
    ("Darcy", "Fitzwilliam Darcy", True), ("Mr. Darcy", "Darcy", True), ("Mr. Darcy", "Miss Darcy", False),
    ("Miss Bates", "Mrs. Bates", False), ("Georgiana Darcy", "Mr. Darcy", False), ("Jane", "Miss Eyre", True),
    ("Jane", "Mr. Eyre", False), ("Tom", "Edward", False), ("the old sailor", "the sailor", True),
    ("Colonel Brandon", "Colonel Forster", False),
])  # fmt: skip
def test_whether_two_phrases_may_be_one_person(one, other, same):
    genders = {"Jane": "female", "Georgiana Darcy": "female"}
    assert may_be_one(one, other, genders, BOOK) is same
    assert may_be_one(other, one, genders, BOOK) is same


def test_options_that_may_be_one_person_leave_the_first():
    phrases = ["Miss Eyre", "Jane", "Mr. Rochester", "he", "Edward", "Adele ,", "Tom"]
    genders = {"Jane": "female", "Edward": "male"}
    assert list(distinct(phrases, genders, BOOK)) == ["Miss Eyre", "Mr. Rochester", "Tom"]


@pytest.mark.parametrize(("mention", "said"), [
    ("the old sailor", "Jack the sailor"), ("her", None), ("the man", None), ("my dear Tom 's", "Tom"),
])  # fmt: skip
def test_what_the_words_of_a_mention_say(mention, said):
    assert said_by_the_words(mention, ["Jack the sailor", "Tom", "Miss Eyre"]) == said


def row(*options, mention="he", answer="Tom", genders=()):
    return {
        "mention": mention,
        "options": [*options, "None of the Above"],
        "answer": answer,
        "entity": answer,
        "genders": genders,
        "category": "NOM",
        "evidence_distance": 40,
    }


def test_what_is_wrong_with_a_question():
    assert fault_of(row("Tom", "Ann"), BOOK) is None
    assert fault_of(row("Tom", "the servants , quarters"), BOOK) == "a malformed option, or a pronoun"
    assert fault_of(row("Tom", 'the " young " lady'), BOOK) == "a malformed option, or a pronoun"
    assert fault_of(row("Tom", "She"), BOOK) == "a malformed option, or a pronoun"
    assert fault_of(row("Tom", "Jane", "Miss Eyre"), BOOK) == "two options that may be one person"
    assert fault_of(row("Tom", "Ann", mention="poor Tom"), BOOK).startswith("the words of the mention")
    none = row("Tom", "Ann", mention="poor Tom", answer="None of the Above")
    assert fault_of(none, BOOK, silver=False) is None
    # Silver errs on these, gold does not.
    for kin in ("her father", "His young wife", "Edna's father", "grandfather", "the boy", "the bride"):
        assert fault_of(row("Tom", "Ann", mention=kin), BOOK) == "a word for a relative"
        assert fault_of(row("Tom", "Ann", mention=kin), BOOK, silver=False) is None
    lady = row("Tom", "Mr. Palmer", "Ann", mention="the lady of Jack Palmer", answer="Ann")
    assert fault_of(lady, BOOK) == "the words of the mention name somebody else"
    assert fault_of(lady, BOOK, silver=False) is None
    for word in ("dear", "Dear , dear"):
        assert fault_of(row("Tom", "Ann", mention=word), BOOK) == "an exclamation"
    far = row("Tom", "Ann", mention="the doctor") | {"evidence_distance": 501}
    assert fault_of(far, BOOK) == "a nominal far from any name"
    assert fault_of(far, BOOK, silver=False) is fault_of(far | {"category": "PRON"}, BOOK) is None
    for other in ("my dear sir", "my dear", "the old lady", "her"):
        assert fault_of(row("Tom", "Ann", mention=other), BOOK) is None


def test_words_that_a_book_says_of_others_too():
    text = "“ Yes , sir . ” said Tom . The old man and the old man and the cook saw the sir . “ Sir ! ”"
    spans = {(3, 3): 0, (7, 7): 0, (9, 11): 0, (17, 18): 0, (23, 23): 1}
    groups = [[span for span, group in spans.items() if group == number] for number in (0, 1)]
    record = Record("b", "", [text.split(" ")], groups)
    document = make_document(record, least_mentions=1, phrases=["Tom", "Ann"])
    said = {s.text.casefold(): s for s in score_mentions(document)}
    counted = SpokenOf(document)
    assert counted.are_of_others(said["the old man"], quoted=False) is False, "one place of two"
    assert counted.are_of_others(said["the cook"], quoted=False) is False
    sir = next(s for s in score_mentions(document) if s.mention == (3, 3))
    assert counted.are_of_others(sir, quoted=True) is False, "he is spoken to"
    assert counted.are_of_others(sir, quoted=False) is True, "one place of three"


def candidate(book, start, category="PRON", text="he"):
    said = SimpleNamespace(mention=SimpleNamespace(start=start), category=category, text=text)
    return SimpleNamespace(document=SimpleNamespace(book=SimpleNamespace(doc_key=book)), scores=said)


def test_questions_are_drawn_evenly_from_cells_and_books_and_lie_apart():
    many = [candidate("a", 10 * i) for i in range(90)] + [candidate("b", 10 * i) for i in range(10)]
    few = [candidate("c", 1000)]
    found = drawn([many, few], 7, 0, random.Random(1), lambda cell, c: (cell, c))
    assert [len(cell) for cell in found] == [6, 1], "what a cell lacks the others make up for"
    assert sorted(c.document.book.doc_key for _, c in found[0]) == ["a"] * 3 + ["b"] * 3
    (apart,) = drawn([many], 20, 40, random.Random(1), lambda cell, c: c)
    for book in "ab":
        places = sorted(c.scores.mention.start for c in apart if c.document.book.doc_key == book)
        assert len(places) > 1
        assert all(b - a >= 40 for a, b in itertools.pairwise(places))
    assert drawn([many], 5, 0, random.Random(1), lambda cell, c: None) == [[]]
    alike = [candidate("a", i, "NOM", "the Squire" if i % 2 else "The squire") for i in range(20)]
    alike += [candidate("b", i, "NOM", "the Squire") for i in range(3)]
    (some,) = drawn([alike], 20, 0, random.Random(1), lambda cell, c: c)
    assert sorted(c.document.book.doc_key for c in some) == ["a"] * 5 + ["b"] * 3


def test_a_release_of_gold_is_whole_and_the_same_each_time(story):
    settings = read_settings("release", questions=40, least_tokens=100, least=0.0, apart=5, least_mentions=3)
    made = build_questions([("sample", [story])], settings)
    questions = made.tables["default", "test"]
    assert len({q.id for q in questions}) == len(questions) == 40
    assert {q.category for q in questions} == {"NOM", "PRON"}
    together = names_together(story.to_book().tokens)
    assert not [q.id for q in questions if fault_of(q.to_dict(), together, silver=False)]
    assert 1 <= sum(q.answer != q.entity for q in questions) <= 6
    places = sorted(q.start for q in questions)
    assert all(b - a >= 5 for a, b in itertools.pairwise(places))
    again = build_questions([("sample", [story])], settings).tables["default", "test"]
    assert [q.to_dict() for q in again] == [q.to_dict() for q in questions]
    some = {(q.start, q.end) for q in questions[:10]}
    sure = build_questions([("sample", [story])], settings, sure=lambda _: some).tables["default", "test"]
    assert {(q.start, q.end) for q in sure} == some


def run(*words):
    return CliRunner().invoke(make_app(), list(map(str, words)))


@pytest.mark.long
def test_one_command_makes_a_release_goes_on_after_a_kill_and_publishes_it(tmp_path, monkeypatch):
    import mlcroissant

    from bookcoref_data.workflows import annotate_many
    from bookcoref_data.workflows import questions as work

    monkeypatch.setenv("BOOKCOREF_CACHE", str(tmp_path / "cache"))
    books = tmp_path / "books"
    assert run("rebuild", "--sample", "--out", books).exit_code == 0
    words = ("questions", "build", books, "--like", "release", "--least-tokens", 100, "--questions", 12,
             "--least", 0.6, "--out", tmp_path / "q", "--cache-dir", tmp_path / "cache")  # fmt: skip
    real = work.annotate_book
    with monkeypatch.context() as cut:
        cut.setattr(work, "from_passages", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt()))
        run(*words, "--judged", 4)
    assert not (tmp_path / "q").exists(), "the folder is written whole or not at all"
    with monkeypatch.context() as cut:
        calls = []
        for room in (work, annotate_many):
            cut.setattr(room, "annotate_book", lambda *a, **k: calls.append(a) or real(*a, **k))
        done = run(*words, "--judged", 4, "--json")
    assert done.exit_code == 0, done.output
    assert len(calls) == 4, "the book is not annotated again, the passages are read"
    found = json.loads(done.stdout)["baselines"]
    assert set(found) == {"nearest name", "most frequent", "our annotator"}
    assert found["our annotator"]["all"][1] == 4
    assert f"our annotator: {25 * found['our annotator']['all'][0]}.0% of 4 right" in (
        tmp_path / "q/README.md").read_text(encoding="utf-8")  # fmt: skip

    shown = run(
        "publish", tmp_path / "q", "--books", books, "--repo", "me/who", "--dry-run", "--out", tmp_path / "up"
    )
    assert shown.exit_code == 0, shown.output
    card = (tmp_path / "up/README.md").read_text(encoding="utf-8")
    for wanted in ("license: cc0-1.0", "- multiple-choice-qa", "path: default/test.jsonl", "## Licences",
                   "our annotator", "## Citation"):  # fmt: skip
        assert wanted in card
    path = tmp_path / "up/croissant.json"
    value = json.loads(path.read_text(encoding="utf-8"))
    for file in value["distribution"]:
        file["contentUrl"] = file["@id"]
    path.write_text(json.dumps(value), encoding="utf-8")
    described = mlcroissant.Dataset(path)
    assert (list(described.metadata.issues.errors), list(described.metadata.issues.warnings)) == ([], [])
    rows = [json.loads(line) for line in (tmp_path / "q/default/test.jsonl").read_text("utf-8").splitlines()]
    read = list(described.records("default_test"))
    assert [r["default_test/answer"].decode() for r in read] == [row["answer"] for row in rows]

    other = tmp_path / "other"
    (other / "default").mkdir(parents=True)
    rows[0]["text"] = rows[0]["text"].replace(" the ", " THE ", 1)
    (other / "default/test.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8"
    )
    task = json.loads((tmp_path / "q/task.json").read_text(encoding="utf-8"))
    (other / "task.json").write_text(json.dumps(task), encoding="utf-8")
    (other / "README.md").write_text("x", encoding="utf-8")
    publishing = ("publish", other, "--books", books, "--repo", "me/who", "--dry-run")
    assert isinstance(run(*publishing).exception, DataError), "a table that was changed"
    from bookcoref_data.files import sha256_file

    task["files"]["default/test.jsonl"] = sha256_file(other / "default/test.jsonl")
    (other / "task.json").write_text(json.dumps(task), encoding="utf-8")
    refused = run(*publishing).exception
    assert isinstance(refused, DataError)
    assert "is not in" in str(refused)
    assert isinstance(
        run("publish", books, "--books", books, "--repo", "me/who", "--dry-run").exception, UsageError
    )
