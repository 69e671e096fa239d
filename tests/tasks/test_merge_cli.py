"""`bookcoref-data merge` as a user runs it."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from bookcoref_data.cli.app import make_app
from bookcoref_data.errors import UsageError
from bookcoref_data.formats import read_documents

PARTS = """#begin document (bc/demo/1); part 000
d\t0\t0\tJohn\tNNP\t*\t-\t-\t-\t-\t*\t(0)
d\t0\t1\tsaw\tVBD\t*\t-\t-\t-\t-\t*\t-
d\t0\t2\tMary\tNNP\t*\t-\t-\t-\t-\t*\t(1)

#end document
#begin document (bc/demo/1); part 001
d\t1\t0\tMary\tNNP\t*\t-\t-\t-\t-\t*\t(1)
d\t1\t1\tsaw\tVBD\t*\t-\t-\t-\t-\t*\t-
d\t1\t2\thim\tPRP\t*\t-\t-\t-\t-\t*\t(0)

#end document
"""


def run(*words, **options):
    return CliRunner().invoke(make_app(), ["merge", *map(str, words)], **options)


@pytest.fixture
def parts(tmp_path):
    path = tmp_path / "parts.conll"
    path.write_text(PARTS, encoding="utf-8")
    return path


def test_chains_without_a_name_can_be_left_out(parts, tmp_path):
    result = run(parts, "--by", "new", "--named", "--out", tmp_path / "long.jsonl")
    assert result.exit_code == 0, result.output
    (record,) = read_documents(tmp_path / "long.jsonl")
    assert sorted(map(sorted, record.clusters)) == [[(0, 0)], [(2, 2)], [(3, 3)]]


@pytest.mark.parametrize("name", ["long.conll", "long.conllu", "long.jsonl", "long"])
def test_long_documents_in_every_format(parts, tmp_path, name):
    result = run(parts, "--by", "id", "--out", tmp_path / name)
    assert result.exit_code == 0, result.output
    (record,) = read_documents(tmp_path / name)
    assert record.doc_key == "bc/demo/1"
    assert sorted(map(sorted, record.clusters)) == [[(0, 0), (5, 5)], [(2, 2), (3, 3)]]


def test_tags_decide_what_is_a_noun_and_stay_in_the_file(parts, tmp_path):
    """A chain of a verb is New for the greedy baseline, as in the paper."""
    text = parts.read_text(encoding="utf-8").replace(
        "saw\tVBD\t*\t-\t-\t-\t-\t*\t-", "saw\tVBD\t*\t-\t-\t-\tMeg\t*\t(5)"
    )
    parts.write_text(text, encoding="utf-8")
    result = run(parts, "--by", "greedy", "--save", tmp_path / "d.tsv", "--out", tmp_path / "long.conll")
    assert result.exit_code == 0, result.output
    rows = [line.split("\t")[2:5] for line in (tmp_path / "d.tsv").read_text("utf-8").splitlines()[1:]]
    assert rows == [["1", "000", "1"], ["5", "new", "new"], ["0", "new", "new"]]
    (record,) = read_documents(tmp_path / "long.conll")
    assert record.layers["xpos"] == [["NNP", "VBD", "NNP"], ["NNP", "VBD", "PRP"]]
    assert record.speakers == [["", "Meg", ""], ["", "Meg", ""]]


def test_scores_statistics_and_saved_decisions(parts, tmp_path, fits_schema):
    result = run(parts, "--by", "greedy", "--key-ids", "--save", tmp_path / "d.tsv", "--json")
    found = json.loads(result.stdout)
    fits_schema("merge", found)
    assert found["decisions"] == {"link": 1, "new": 1}
    assert found["decisions_against_key"]["recall"] == 0.5
    assert found["statistics"]["merged"][-1]["chains"] == 3
    again = run(parts, "--decisions", tmp_path / "d.tsv", "--stats", "--key-ids")
    assert again.exit_code == 0, again.output
    assert "chains/doc" in again.stdout


def test_a_round_is_asked_revised_stopped_and_taken_up(parts, tmp_path):
    answers = tmp_path / "ann.tsv"
    words = (parts, "--ask", "--decisions", answers, "--annotator", "ann")
    stopped = run(*words, input="?\nn\nq\n")
    assert stopped.exit_code == 130
    done = run(*words, "--key-ids", "--json", input="s\n2\n1\n1\ny\n")
    assert done.exit_code == 0, done.output
    assert "chain 2 of 2" in done.stdout
    assert "summary of part 001" in done.stdout
    rows = [line.split("\t") for line in answers.read_text(encoding="utf-8").splitlines()[1:]]
    assert [row[2] for row in rows] == ["1", "0", "1"]
    assert {row[5] for row in rows} == {"ann"}


def test_windows_of_one_key_may_say_only_where_they_start(tmp_path):
    """docs/merging.md says so; the reader refused the second one as the same document again."""
    path = tmp_path / "windows.jsonl"
    rows = [{"doc_key": "b", "start": n, "sentences": [["a", "b"]], "clusters": [[[0, 0]]]} for n in (2, 0)]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    result = run(path, "--by", "new", "--out", tmp_path / "long.jsonl")
    assert result.exit_code == 0, result.output
    (record,) = read_documents(tmp_path / "long.jsonl")
    assert sorted(map(sorted, record.clusters)) == [[(0, 0)], [(2, 2)]]


def test_agreement_of_two_tables(parts, tmp_path, fits_schema):
    for name, how in (("a.tsv", "id"), ("b.tsv", "greedy")):
        assert run(parts, "--by", how, "--save", tmp_path / name).exit_code == 0
    result = run(parts, "-d", tmp_path / "a.tsv", "-d", tmp_path / "b.tsv", "--agreement", "--json")
    rows = json.loads(result.stdout)
    fits_schema("merge-agreement", rows)
    assert [(r["genre"], r["decisions"], r["strict"]) for r in rows] == [
        ("all", 2, 0.5), ("bc", 2, 0.5), ("names", 1, 1.0), ("pronouns", 1, 0.0),
    ]  # fmt: skip


@pytest.mark.long
def test_pictures_are_drawn(parts, tmp_path):
    pytest.importorskip("matplotlib")
    assert run(parts, "--plots", tmp_path / "p").exit_code == 0
    assert sorted(p.name for p in (tmp_path / "p").iterdir()) == [
        "antecedent_distances.png", "chain_lengths.png",
    ]  # fmt: skip


def test_mistakes_are_named(parts, tmp_path):
    assert isinstance(run(parts, "--ask").exception, UsageError)
    assert isinstance(run(parts, "--by", "luck").exception, UsageError)
    half = tmp_path / "half.tsv"
    half.write_text("bc/demo/1\t001\t1\tnew\tnew\n")
    result = run(parts, "--decisions", half)
    assert isinstance(result.exception, UsageError)
    assert "has not decided document" in str(result.exception)


def test_documents_of_one_part_are_said_to_be_so(tmp_path):
    path = tmp_path / "books.jsonl"
    path.write_text(
        "".join(
            json.dumps({"doc_key": f"book_{n}", "sentences": [["a"]], "clusters": []}) + "\n" for n in (0, 1)
        ),
        encoding="utf-8",
    )
    assert "nothing is joined" in run(path).output
