"""Tables and results as they are printed, cut and shown."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from bookcoref_data.api.building import CacheSize, Digest, Packed, Verified
from bookcoref_data.api.contexts import (
    Contexts,
    GuideTexts,
    Identified,
    NamedReferences,
    SystemScores,
    TableDefects,
)
from bookcoref_data.api.corpora import Harvested, Matched, Shown
from bookcoref_data.api.models import Asked, asking_of, preview_of
from bookcoref_data.api.options import renamed
from bookcoref_data.api.questions import Merged, Questions
from bookcoref_data.api.tables import Table
from bookcoref_data.errors import UsageError
from bookcoref_data.sources.store import PartSize
from bookcoref_data.tasks.contexts.splits import Defect
from bookcoref_data.tasks.guides.texts import References
from bookcoref_data.tasks.runner.models import EndpointModel, LocalModel
from bookcoref_data.tasks.runner.run import Prices, Request, RunReport

SMALL = Table.of_rows(("a", "b"), [[1, "x|y"], [2000, None], [3, "<z>"]])


def test_a_table_is_cut_by_number_name_and_slice():
    assert SMALL.columns == ("a", "b")
    assert SMALL["a"] == [1, 2000, 3]
    assert SMALL[0] == {"a": 1, "b": "x|y"}
    assert SMALL[-1] == SMALL[2] == {"a": 3, "b": "<z>"}
    assert SMALL[-3] == SMALL[0]
    assert SMALL[1:] == Table({"a": [2000, 3], "b": [None, "<z>"]})
    assert list(SMALL) == SMALL.to_dicts()
    assert SMALL.to_dict() == {"a": [1, 2000, 3], "b": ["x|y", None, "<z>"]}
    for number in (3, -4):
        with pytest.raises(IndexError, match=f"row {number} of a table of 3"):
            SMALL[number]
    assert SMALL.to_dict() != SMALL
    assert (len(SMALL), len(Table({}))) == (3, 0)


def test_rows_that_lack_a_column_have_none_there():
    assert Table.of_dicts([{"a": 1}, {"b": 2}]).to_dict() == {"a": [1, None], "b": [None, 2]}
    with pytest.raises(ValueError, match=r"columns of different lengths: \[1, 2\]"):
        Table({"a": [1], "b": [1, 2]})


def test_a_table_is_printed_whole_in_markdown():
    assert SMALL.to_markdown() == "| a | b |\n|---|---|\n| 1 | x\\|y |\n| 2,000 | - |\n| 3 | <z> |"


@pytest.mark.parametrize(("columns", "more"), [(10, ""), (11, " and 1 more columns")])
def test_ten_columns_are_named(columns, more):
    shown = ", ".join(f"c{i}" for i in range(10))
    assert (
        repr(Table({f"c{i}": [1] * 1000 for i in range(columns)})) == f"<Table of 1,000 rows: {shown}{more}>"
    )


@pytest.mark.parametrize(("rows", "more"), [(10, ""), (11, "<p>11 rows, the first 10 shown</p>")])
def test_ten_rows_are_shown(rows, more):
    table = Table({"<a>": list(range(rows))})
    body = "".join(f"<tr><td>{i}</td></tr>" for i in range(10))
    head = "<table><thead><tr><th>&lt;a&gt;</th></tr></thead><tbody>"
    assert table._repr_html_() == f"{head}{body}</tbody></table>{more}"


def test_a_digest_is_a_line_a_table_and_a_document():
    made = Digest("0123456789abcdef0123", ["a", "b"])
    assert repr(made) == "<Digest: sha256:0123456789abcdef, 2 books>"
    assert made.table == Table({"doc_key": ["a", "b"]})
    assert made.to_dict() == {"digest": "0123456789abcdef0123", "books": ["a", "b"]}
    assert Digest("0123", [], Path("m.json")).to_dict() == {"manifest": "m.json", "digest": "0123"}


@pytest.mark.parametrize(("removed", "word", "said"), [(False, "parts", ""), (True, "removed", " removed")])
def test_the_size_of_a_cache_is_told(removed, word, said):
    parts = [PartSize("hub", 1, 1000), PartSize("texts", 2, 234)]
    made = CacheSize(Path("c"), parts, removed=removed)
    assert repr(made) == f"<CacheSize: 3 files, 1,234 bytes{said}>"
    rows = [{"part": "hub", "files": 1, "bytes": 1000}, {"part": "texts", "files": 2, "bytes": 234}]
    assert made.to_dict() == {"path": "c", word: rows, "files": 3, "bytes": 1234}
    assert made.table.to_dicts() == rows


def test_answers_are_told_with_what_they_cost():
    asked = Asked([{"id": 1}], RunReport("m", 1, cost=0.25), Path("x"))
    assert repr(asked) == "<Asked: 1 answers of m, cost 0.2500>"
    assert asked.table == Table({"id": [1]})
    assert asked.to_dict()["asked"] == 1
    dry = Asked([], None, None, {"requests": 1000, "prompts": [{"key": "a"}]})
    assert repr(dry) == "<Asked: 1,000 prompts, nothing was asked>"
    assert dry.table == Table({"key": ["a"]})
    assert dry.to_dict()["requests"] == 1000
    assert Asked([], None, None).to_dict() == {}


MODEL = {
    "endpoint": None,
    "model": None,
    "local": None,
    "key_variable": "K",
    "parallel": 2,
    "prompt_price": 1.0,
    "reply_price": 2.0,
}


def test_exactly_one_model_is_named():
    local = asking_of(MODEL | {"local": "folder"}, "a.jsonl", None, 5, seed=3)
    assert isinstance(local._model, LocalModel)
    assert (local._model.name, local._model.most_tokens, local._model.seed) == ("folder", 5, 3)
    named = MODEL | {"endpoint": "http://x/v1", "model": "m"}
    server = asking_of(named, "a.jsonl", None, 7, "regex", temperature=0.5)._model
    assert isinstance(server, EndpointModel)
    assert (server.name, server.most_tokens, server.constrain, server.parallel) == ("m", 7, "regex", 2)
    for named, message in (
        ({}, "no model is named"),
        ({"endpoint": "http://x/v1"}, "no model is named"),
        ({"model": "m"}, "no model is named"),
        ({"endpoint": "http://x/v1", "local": "f"}, "two models are named"),
    ):
        with pytest.raises(UsageError, match=message):
            asking_of(MODEL | named, "a.jsonl", None, 5)
    assert local._prices == Prices(1.0, 2.0)
    asked = [Request("k", "x" * 4_000_000)]
    assert preview_of(asked, 1, MODEL)["prompt_cost_about"] == Prices(1.0, 2.0).cost(1_000_000, 0)


def test_a_renamed_argument_goes_on_with_a_warning_where_it_is_used():
    @renamed(old="new")
    def verb(a, new=0):
        return a, new

    assert verb(1, new=2) == (1, 2)
    with pytest.warns(DeprecationWarning, match="old is called new now") as caught:
        assert verb(1, old=3) == (1, 3)
    assert [one.filename for one in caught] == [__file__]


def told(kind, **report):
    """The line of a result whose report says this."""
    return repr(kind(SimpleNamespace(**report)))


def test_reports_are_told_in_a_line():
    assert told(Harvested, works=1, rows=2000, out="t") == "<Harvested: 1 work, 2,000 characters in t>"
    assert told(Packed, packs=[1], out="p", failed={"x": 1}, left_out={}) == "<Packed: 1 pack in p, 1 failed>"
    assert (
        told(GuideTexts, texts={"a": 1, "b": 2}, guides=1, out="g") == "<GuideTexts: 3 texts of 1 guide in g>"
    )
    works = [SimpleNamespace(gutenberg_id=number) for number in (None, "5", "0")]
    assert repr(Matched(SimpleNamespace(works=works), [])) == "<Matched: 2 of 3 works matched>"
    report = SimpleNamespace(records=[1, 2], parts=1, links=1000, new=3, decisions={}, warnings=[])
    assert repr(Merged(report, [])) == "<Merged: 2 documents from 1 part, 1,000 chains joined, 3 new>"
    assert repr(Contexts([{}], [], [], [])) == "<Contexts: 1 context>"
    assert repr(Shown("Emma", {}, SMALL)) == "<Shown: Emma>"
    assert repr(TableDefects([1, 2], {})) == "<TableDefects: 2 defects>"


def test_results_about_passages_are_a_line_and_a_table():
    kinds = [{"kind": "birth", "facts": 2}]
    scores = SystemScores({"lead": {"rouge1": 0.5, "kinds": kinds}, "m": {"rouge1": 1.0}})
    assert scores.table.to_dicts() == [{"system": "lead", "rouge1": 0.5}, {"system": "m", "rouge1": 1.0}]
    assert scores.kinds.to_dicts() == [{"system": "lead", "kind": "birth", "facts": 2}]
    assert repr(scores) == "<SystemScores: 2 systems>"
    defects = TableDefects([Defect("books.tsv", "twice", ("1",))], {})
    assert defects.table.to_dicts() == [{"table": "books.tsv", "what": "twice", "books": ["1"]}]
    texts = GuideTexts(SimpleNamespace(texts={"summary": 3}))
    assert texts.table.to_dicts() == [{"texts": "summary", "number": 3}]
    named = NamedReferences(References([{"doc_key": "a", "character": "Ann", "text": "x"}], 0, []))
    assert named.table.to_dicts() == named.found.rows
    assert repr(named) == "<NamedReferences: 1 reference>"
    right = {"groups": {"all": {"right": 1, "asked": 2}, "main": {"right": 0, "asked": 1}}}
    graded = Identified({"m": right, "overlap": {"groups": {}}})
    assert graded.table.to_dicts() == [
        {"answers": "m", "group": "all", "right": 1, "asked": 2},
        {"answers": "m", "group": "main", "right": 0, "asked": 1},
    ]
    assert repr(graded) == "<Identified: grades of m, overlap>"


@pytest.mark.parametrize(
    ("exit_code", "line"),
    [
        (0, "<Verified: ok, 2 books, sha256 0123456789abcdef>"),
        (4, "<Verified: 3 problems, 2 books, sha256 0123456789abcdef>"),
    ],
)
def test_what_was_verified_is_told_in_a_line(exit_code, line):
    books = [SimpleNamespace(doc_key="a", problems=["x", "y"]), SimpleNamespace(doc_key="b", problems=[])]
    made = Verified(
        SimpleNamespace(exit_code=exit_code, digest="0123456789abcdef01", books=books, problems=["z"])
    )
    assert repr(made) == line
    assert made.ok is (exit_code == 0)
    assert made.problems == ["a: x", "a: y", "z"]


def test_questions_are_counted_by_split():
    def question(category, answer, options):
        return SimpleNamespace(category=category, answer=answer, entity="A", options=["x"] * options)

    made = SimpleNamespace(
        tables={
            ("d", "test"): [question("NOM", "A", 2), question("PRON", "B", 5), question("PRON", "A", 2)],
            ("d", "dev"): [],
        },
        documents=1,
        rejected={},
        random_baseline=0.5,
    )
    questions = Questions(made, [])
    assert questions.table.to_dicts() == [
        {"config": "d", "split": "test", "questions": 3, "NOM": 1, "PRON": 2, "none": 1, "options": 3.0},
        {"config": "d", "split": "dev", "questions": 0, "NOM": 0, "PRON": 0, "none": 0, "options": 0.0},
    ]
    assert repr(questions) == "<Questions: 3 questions from 1 document>"
