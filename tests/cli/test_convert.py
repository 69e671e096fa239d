"""`bookcoref-data convert` as a user runs it."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest
from typer.testing import CliRunner

import bookcoref_data as bc
from bookcoref_data.cli.app import make_app
from bookcoref_data.errors import UsageError
from bookcoref_data.formats import read_documents
from tests.faults.workplace import PARTS

RECORD = {
    "doc_key": "a",
    "gutenberg_key": "",
    "sentences": [["Ann", "\n", "saw"], ["her", "friend"]],
    "clusters": [[[0, 0], [3, 3]], [[2, 3]]],
    "characters": [{"name": "Ann", "mentions": [[0, 0], [3, 3]]}],
}


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(RECORD) + "\n", encoding="utf-8")
    return path


def run(*arguments):
    return CliRunner().invoke(make_app(), ["convert", *map(str, arguments)], catch_exceptions=False)


def test_there_and_back_keeps_the_bytes(file, tmp_path):
    for step, target in ((file, "a.conll.zst"), ("a.conll.zst", "b.jsonl")):
        assert run(tmp_path / step, tmp_path / target).exit_code == 0
    assert (tmp_path / "b.jsonl").read_text() == file.read_text()


def test_what_is_lost_is_said_on_stderr_and_counted_when_strict(file, tmp_path):
    result = run(file, tmp_path / "a.conllu")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "jsonl -> corefud: wrote 1 document, 2 mentions in 1 cluster to" in result.stderr
    assert "not kept: 1 mention that reaches over a sentence end" in result.stderr
    assert "a: (2, 3)" in result.stderr
    assert run(file, tmp_path / "a.conllu", "--strict").exit_code == 1
    assert run(file, tmp_path / "a.conll", "--strict").exit_code == 0


def test_the_account_as_json(file, tmp_path):
    value = json.loads(run(file, tmp_path / "a.conllu", "--json").stdout)
    (item,) = value.pop("not_kept")
    assert value == {"documents": 1, "tokens": 5, "mentions": 2, "clusters": 1, "read_as": "jsonl",
                     "written_as": "corefud", "target": str(tmp_path / "a.conllu")}  # fmt: skip
    assert (item["count"], item["documents"], item["examples"]) == (1, ["a"], ["a: (2, 3)"])


def test_formats_can_be_named(file, tmp_path):
    odd = tmp_path / "odd.data"
    odd.write_bytes(file.read_bytes())
    assert run(odd, tmp_path / "out", "--from", "jsonl", "--to", "brat").exit_code == 0
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["a.ann", "a.txt", "files.json"]


def test_booknlp_onto_the_tokens_of_a_key(file, tmp_path):
    (tmp_path / "run").mkdir()
    tokens = (
        "sentence_ID\ttoken_ID_within_document\tword\n0\t0\tAnn\n0\t1\tsaw\n0\t2\ther\n0\t3\tfri\n0\t4\tend\n"
    )
    (tmp_path / "run/a.tokens").write_text(tokens)
    (tmp_path / "run/a.entities").write_text("COREF\tstart_token\tend_token\n7\t0\t0\n7\t2\t4\n")
    assert run(tmp_path / "run", tmp_path / "r.jsonl", "--key", file).exit_code == 0
    (record,) = read_documents(tmp_path / "r.jsonl")
    assert record.sentences == RECORD["sentences"]
    assert record.clusters == [[(0, 0), (3, 4)]]


def test_a_fault_is_one_message_and_an_exit_code(tmp_path):
    (tmp_path / "a.conll").write_text("#begin document (a); part 000\na\t0\t0\tAnn\t-\t(5\n")
    code = "from bookcoref_data.cli import main; main()"
    command = [sys.executable, "-c", code, "convert", "a.conll", "a.jsonl"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.startswith("error: a.conll:2: the bracket (5 opens here and never closes")
    assert "Traceback" not in done.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["a.conll"]


def test_standard_input_is_a_source(file, tmp_path):
    words = ["convert", "-", str(tmp_path / "b.conll")]
    ran = CliRunner().invoke(make_app(), words, input=file.read_text(), catch_exceptions=False)
    assert ran.exit_code == 0
    assert "jsonl -> conll: wrote 1 document, 3 mentions in 2 clusters" in ran.stderr
    empty = CliRunner().invoke(make_app(), words, input="")
    assert "an empty file" in str(empty.exception)


def test_parts_need_conll(file, tmp_path):
    with pytest.raises(UsageError, match="--parts"):
        run(file, tmp_path / "b.jsonl", "--parts", "merge")


def test_parts_of_conll_are_told_how_to_be_read(tmp_path):
    (tmp_path / "parts.conll").write_text(PARTS, encoding="utf-8")
    for parts, clusters in (("merge", 1), ("join", 2)):
        assert run(tmp_path / "parts.conll", tmp_path / f"{parts}.jsonl", "--parts", parts).exit_code == 0
        (record,) = read_documents(tmp_path / f"{parts}.jsonl")
        assert len(record.clusters) == clusters
    with pytest.raises(UsageError, match="--parts sideways"):
        bc.convert(tmp_path / "parts.conll", tmp_path / "x.jsonl", parts="sideways")


@pytest.mark.parametrize(
    "option", [("--config", "split"), ("--parts", "join"), ("--tokenizer", "some/model")]
)
def test_an_option_of_another_input_or_target_is_refused(file, tmp_path, option):
    """--config was ignored where there is no data set folder."""
    result = CliRunner().invoke(make_app(), ["convert", str(file), str(tmp_path / "b.conll"), *option])
    assert isinstance(result.exception, UsageError)
    assert re.search(r"do(es)? not fit", str(result.exception))
