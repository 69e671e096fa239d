"""`bookcoref-data questions` as a user runs it."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from bookcoref_data.cli.app import make_app
from bookcoref_data.errors import FormatError, UsageError
from bookcoref_data.formats import write_documents
from bookcoref_data.tasks.folder import read_record


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


def test_building_again_replaces_its_own_folder_and_no_other(place, tmp_path):
    words = ("build", place / "books.jsonl", "--test", 3, "--dev", 0, "--draws", 0, "--out")
    out = tmp_path / "q"
    assert (
        run("build", place / "books.jsonl", "--test", 3, "--dev", 3, "--draws", 1, "--out", out).exit_code
        == 0
    )
    assert run(*words, out).exit_code == 0
    assert sorted(str(p.relative_to(out)) for p in out.rglob("*.jsonl")) == ["default/test.jsonl"]
    assert list(read_record(out)["files"]) == ["default/test.jsonl"]
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/README.md").write_text("mine")
    result = run(*words, tmp_path / "mine")
    assert isinstance(result.exception, UsageError)
    assert [p.name for p in (tmp_path / "mine").iterdir()] == ["README.md"]


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
    (tmp_path / "p.tsv").write_text("a\tb\n")
    result = run("build", place / "books.jsonl", "--out", tmp_path / "q", "--phrases", tmp_path / "p.tsv")
    assert isinstance(result.exception, FormatError)
