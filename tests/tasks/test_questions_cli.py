"""`bookcoref-data questions` as a user runs it."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from bookcoref_data.cli.app import make_app
from bookcoref_data.errors import DataError, FormatError, UsageError
from bookcoref_data.formats import write_documents
from bookcoref_data.tasks.questions.baselines import evenly, text_answers
from bookcoref_data.tasks.questions.build import NONE_OF_THE_ABOVE as NONE
from bookcoref_data.tasks.questions.entities import gender_of, quoted


def run(*words):
    return CliRunner().invoke(make_app(), ["questions", *map(str, words)])


@pytest.fixture(scope="module")
def place(tmp_path_factory, story):
    """A folder with the sample story and questions about it."""
    folder = tmp_path_factory.mktemp("questions")
    write_documents([story], folder / "books.jsonl")
    words = ("build", folder / "books.jsonl", "--out", folder / "q", "--test", 10, "--dev", 5, "--draws", 1)
    assert run(*words, "--json").exit_code == 0
    return folder


def test_a_folder_of_questions_loads_with_datasets(place):
    from datasets import load_dataset

    found = load_dataset(str(place / "q"), cache_dir=str(place / "cache"))
    assert {name: len(rows) for name, rows in found.items()} == {"test": 20, "validation": 10}
    rows = [json.loads(line) for line in (place / "q/default/test.jsonl").read_text("utf-8").splitlines()]
    assert found["test"].to_list() == rows
    assert len(load_dataset(str(place / "q"), "random", cache_dir=str(place / "cache"))["draw_01"]) == 300


@pytest.mark.long
def test_building_again_replaces_its_own_folder_and_no_other(place, tmp_path):
    words = ("build", place / "books.jsonl", "--test", 3, "--dev", 0, "--draws", 0, "--out")
    out = tmp_path / "q"
    assert (
        run("build", place / "books.jsonl", "--test", 3, "--dev", 3, "--draws", 1, "--out", out).exit_code
        == 0
    )
    assert run(*words, out).exit_code == 0
    assert sorted(str(p.relative_to(out)) for p in out.rglob("*.jsonl")) == ["default/test.jsonl"]
    assert list(json.loads((out / "task.json").read_text())["files"]) == ["default/test.jsonl"]
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/README.md").write_text("mine")
    result = run(*words, tmp_path / "mine")
    assert isinstance(result.exception, UsageError)
    assert [p.name for p in (tmp_path / "mine").iterdir()] == ["README.md"]


def test_some_questions_are_drawn_evenly():
    rows = [{"id": i, "category": "NOM" if i < 8 else "PRON", "dataset": "a"} for i in range(12)]
    assert [q["id"] for q in evenly(rows, 4)] == [0, 1, 8, 9]
    assert [q["id"] for q in evenly(rows, 10)] == [0, 1, 2, 3, 4, 5, 8, 9, 10, 11]


def test_words_alone_answer_with_the_nearest_and_the_commonest():
    text = "Ann saw Ann . Ann saw Ben . {{She}} (#This is the marked mention) left Cid ."
    row = {"id": "q", "text": text, "options": ["Cid", "Ben", "Ann", NONE]}
    nearest, commonest = text_answers([row]).values()
    assert (nearest[0]["answer"], commonest[0]["answer"]) == ("Ben", "Ann")
    assert {a[0]["answer"] for a in text_answers([row | {"options": ["Dan", NONE]}]).values()} == {NONE}
    _, commonest = text_answers([row | {"text": "Ann saw Ben . {{She}} left Ben . Ben slept ."}]).values()
    assert commonest[0]["answer"] == "Ben"  # what is said after the mention counts, too


@pytest.mark.parametrize(
    ("text", "options", "nearest", "commonest"),
    [
        ("Ben saw Anna , Annie and Bandann . {{She}} left .", ["Ann", "Ben"], "Ben", "Ben"),
        ("Jane saw Jane Bennet and Jane Bennet . {{She}} left .", ["Jane", "Jane Bennet"], "Jane Bennet",
         "Jane Bennet"),
        ("The cook saw Tom 's aunt . Tom ’s aunt left . {{She}} left .", ["Tom", "Tom's aunt", "the cook"],
         "Tom's aunt", "Tom's aunt"),
        ("Ann saw the cook . {{She}} left the cook 's coat .", ["Ann", "the cook"], "the cook", "the cook"),
        ("Tom saw Ann . The cook came . {{The old cook}} left , the old cook .", ["Ann", "the cook"],
         "the cook", "Ann"),
        ("Will will go , and will will stay with the cook . {{He}} left .", ["the cook", "Will"], "the cook",
         "the cook"),
        ("Ann saw {{the cook}} with the cook", ["Ann", "the cook"], "Ann", "Ann"),
    ],
)  # fmt: skip
def test_baselines_count_whole_names_and_not_the_mention_asked_about(text, options, nearest, commonest):
    row = {"id": "q", "text": text, "options": [*options, NONE]}
    assert [a[0]["answer"] for a in text_answers([row]).values()] == [nearest, commonest]


@pytest.mark.parametrize(
    ("phrase", "he", "she", "gender"),
    [
        ("Pip", 5, 0, "male"), ("Mrs. Hall", 0, 0, "female"), ("the old man", 1, 1, "male"),
        ("Mr. Hall's wife", 0, 0, "neutral"), ("Mr. Hall's wife", 1, 6, "female"), (None, 0, 0, "neutral"),
    ],
)  # fmt: skip
def test_the_gender_of_an_entity(phrase, he, she, gender):
    assert gender_of(phrase, he, she) == gender


def test_quotation_marks_tell_dialogue():
    tokens = [
        "“",
        "I",
        "am",
        ",",
        "”",
        "he",
        "said",
        ".",
        '"',
        "You",
        "are",
        '"',
        ",",
        "he",
        "thinks",
        ".",
        "``",
        "We",
        "''",
        "went",
    ]
    inside = [t for t, one in zip(tokens, quoted(tokens), strict=True) if one and t.isalpha()]
    assert inside == ["I", "am", "You", "are", "We"]
    assert list(quoted(["“", "a", "“", "b", "”", "c"])) == [True, True, True, True, False, False]


def test_texts_and_options_keep_within_their_limits(place, tmp_path):
    out = tmp_path / "q"
    words = ("build", place / "books.jsonl", "--like", "books", "--least-tokens", 100, "--out", out)
    assert run(*words, "--longest-text", 400, "--least-options", 5, "--most-options", 6).exit_code == 0
    rows = [json.loads(line) for line in (out / "default/test.jsonl").read_text("utf-8").splitlines()]
    assert rows
    for row in rows:
        assert row["end"] - row["evidence"] < 400
        assert 5 <= len(row["options"]) - 1 + (row["answer"] == NONE) <= 6
        assert row["answer"] == NONE or row["answer"] in row["options"]
        assert len(row["genders"]) == len(row["options"]) - 1
        assert len({*row["options"]}) == len(row["options"])


def test_the_published_wording_comes_with_its_system_message(place, chat, tmp_path):
    chat.answer = lambda body: "- The mention refers to: None of the Above"
    asked = ("--endpoint", chat.url, "--model", "m", "--out", tmp_path / "a.jsonl", "--most", 2)
    done = run("evaluate", place / "q", *asked, "--wording", "published", "--variant", "base")
    assert done.exit_code == 0, done.output
    system, user = chat.bodies[0]["messages"]
    assert (system["role"], system["content"][:40]) == ("system", "You are a question answering system. You")
    assert user["content"].startswith("Instruction:\nRead the text given below.")
    assert user["content"].endswith("Follow the below format:\n- Mention:\n- The mention refers to:")
    assert isinstance(run("evaluate", place / "q", *asked, "--wording", "best").exception, UsageError)
    shown = run("evaluate", place / "q", "--baselines").stdout
    assert "PRON in dialogue" in shown
    rows = [json.loads(line) for line in (place / "q/default/test.jsonl").read_text("utf-8").splitlines()]
    guess = 100 * sum(1 / len(row["options"]) for row in rows) / len(rows)
    assert {line.split()[3] for line in shown.splitlines() if line.startswith("guess")} == {f"{guess:.2f}"}


def test_a_model_is_asked_and_graded_and_asked_again_for_nothing(place, chat, tmp_path, fits_schema):
    rows = [json.loads(line) for line in (place / "q/default/test.jsonl").read_text("utf-8").splitlines()]
    right = {q["text"]: q["answer"] for q in rows}

    def answer(body):
        prompt = body["messages"][0]["content"]
        return "- The mention refers to: " + next(a for text, a in right.items() if text in prompt)

    chat.answer = answer
    words = ("evaluate", place / "q", "--endpoint", chat.url, "--model", "m", "--out", tmp_path / "a.jsonl")
    result = run(*words, "--json")
    assert result.exit_code == 0, result.output
    fits_schema("questions-evaluate", json.loads(result.stdout))
    assert json.loads(result.stdout)["m"]["groups"]["all"]["accuracy"] == 1.0
    again = run(*words)
    assert len(chat.bodies) == 20
    assert "20 from earlier replies" in again.stderr
    graded = run("evaluate", place / "q", "--answers", tmp_path / "a.jsonl")
    assert "100.00" in graded.stdout
    assert "nested mentions" in graded.stdout


def test_a_dry_run_prints_prompts_and_asks_nothing(place):
    result = run("evaluate", place / "q", "--dry-run", 1)
    assert result.exit_code == 0
    assert result.stdout.count("Instruction:") == 1
    assert "20 prompts" in result.stderr


def test_the_books_answer_their_own_questions(place):
    books = place / "books.jsonl"
    result = run("evaluate", place / "q", "--annotation", books, "--books", books, "--json")
    (grades,) = json.loads(result.stdout).values()
    assert grades["groups"]["entity"]["accuracy"] == 1.0


def test_mistakes_are_named(place, tmp_path):
    assert isinstance(run("evaluate", place / "q").exception, UsageError)
    assert isinstance(run("evaluate", place / "q", "--split", "train", "--dry-run", 1).exception, UsageError)
    bad = tmp_path / "a.jsonl"
    bad.write_text('{"id": "1"}\n{"answer": "x"}\n')
    result = run("evaluate", place / "q", "--answers", bad)
    assert isinstance(result.exception, FormatError)
    assert f"{bad}:2" in str(result.exception)
    (tmp_path / "p.tsv").write_text("nobody\t0\tRex\n")
    result = run("build", place / "books.jsonl", "--out", tmp_path / "q", "--phrases", tmp_path / "p.tsv")
    assert "phrases for 'nobody'" in str(result.exception)
    (tmp_path / "p.tsv").write_text("a\tb\n")
    result = run("build", place / "books.jsonl", "--out", tmp_path / "q", "--phrases", tmp_path / "p.tsv")
    assert isinstance(result.exception, FormatError)


def test_a_release_of_no_questions_is_refused(place, tmp_path):
    """It made every question, without the rules of a release."""
    result = run(
        "build", place / "books.jsonl", "--out", tmp_path / "r", "--like", "release", "--questions", 0
    )
    assert result.exit_code == 2
    assert "--questions" in result.output


def test_a_document_in_two_data_sets_is_named(place, tmp_path):
    (tmp_path / "again").mkdir()
    other = shutil.copy(place / "books.jsonl", tmp_path / "again" / "books.jsonl")
    done = run("build", place / "books.jsonl", other, "--out", tmp_path / "q")
    assert isinstance(done.exception, DataError)
    assert "the_lamp_at_the_ferry_house_99000001' is in two data sets" in str(done.exception)
    assert not (tmp_path / "q").exists()


def test_an_annotation_of_another_book_answers_nothing(place, tmp_path, story):
    write_documents([replace(story, doc_key="other")], tmp_path / "other.jsonl")
    words = ("--annotation", tmp_path / "other.jsonl", "--books", place / "books.jsonl", "--json")
    (found,) = json.loads(run("evaluate", place / "q", *words).stdout).values()
    assert (found["groups"]["all"]["right"], found["errors"]["no answer"]) == (0, 20)
