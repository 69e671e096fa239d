"""`bookcoref-data stats` as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bookcoref_data.cli.app import make_app
from bookcoref_data.errors import FormatError

RECORD = {
    "doc_key": "a",
    "sentences": [["He", "saw", "him"], ["."]],
    "clusters": [[[0, 0], [2, 2]]],
    "characters": [],
}


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(RECORD) + "\n", encoding="utf-8")
    return path


def run(*arguments):
    return CliRunner().invoke(make_app(), ["stats", *map(str, arguments)])


def test_a_table_with_the_papers_columns(file):
    result = run(file)
    assert result.exit_code == 0
    head = result.stdout.splitlines()[0].split("  ")
    assert [h.strip() for h in head if h.strip()][1:] == [
        "docs", "tokens", "mentions", "tok/doc", "ment/doc", "chains/doc", "ment/chain", "ment. dist.",
    ]  # fmt: skip


def test_json_is_one_document_with_books_when_asked(file):
    (whole,) = json.loads(run(file, "--json", "--per-book").stdout)
    assert (whole["tokens"], whole["mentions"], whole["mention_distance"]) == (4, 2, 2.0)
    assert [b["doc_key"] for b in whole["books"]] == ["a"]
    assert "books" not in json.loads(run(file, "--json").stdout)[0]


def test_markdown_has_one_row_per_path_and_per_book(file):
    lines = run(file, "--markdown", "--per-book").stdout.splitlines()
    assert lines[0].startswith("| data set | docs |")
    assert [line.split(" | ")[0] for line in lines[2:4]] == [f"| {file}", "| a"]


def test_a_broken_file_names_itself_and_its_line(tmp_path):
    bad = tmp_path / "bad.jsonl"
    bad.write_text(json.dumps(RECORD) + "\n{]\n", encoding="utf-8")
    result = run(bad)
    assert isinstance(result.exception, FormatError)
    assert f"{bad}:2" in str(result.exception)


def test_the_json_is_as_documented(file):
    jsonschema = pytest.importorskip("jsonschema")
    text = (Path(__file__).parents[2] / "docs" / "schemas" / "stats.json").read_text(encoding="utf-8")
    validator = jsonschema.Draft202012Validator(json.loads(text))
    for options in (["--json", "--per-book"], ["--json"]):
        assert list(validator.iter_errors(json.loads(run(file, *options).stdout))) == []


def test_the_share_of_exact_names(tmp_path):
    characters = [
        {"name": "Mr. Knightley", "mentions": [[0, 1], [3, 3]]},
        {"name": "Emma", "mentions": [[2, 2]]},
    ]
    path = tmp_path / "n.jsonl"
    record = {"doc_key": "n", "sentences": [["Mr.", "Knightley", "EMMA", "he"]], "clusters": [],
              "characters": characters}  # fmt: skip
    path.write_text(json.dumps(record) + "\n", encoding="utf-8")
    (found,) = json.loads(run(path, "--json").stdout)
    assert found["exact_name_share"] == pytest.approx(2 / 3)
    assert "66.67" in run(path).stdout


@pytest.mark.long
def test_the_picture_of_length_and_distance(file, tmp_path):
    pytest.importorskip("matplotlib")
    result = run(file, "--plots", str(tmp_path / "p"))
    assert sorted(p.name for p in (tmp_path / "p").glob("*.*g")) == [
        "length_and_distance.png",
        "length_and_distance.svg",
    ]
    assert "length_and_distance.png" in result.stderr
