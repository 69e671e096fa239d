"""What a new Python user tries, line by line. The list was written before any line of it was tried."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import bookcoref_data as bc
from bookcoref_data.sample_story.story import gutenberg_text, sample_path
from tests.faults.workplace import write_litbank

TRIES = """
bc.load("bookcoref")[0].text.startswith("CHAPTER I.")
len(bc.load("bookcoref")) == 1
[book.doc_key for book in bc.load("bookcoref")][0].startswith("the_lamp")
bc.load("bookcoref", config="split")[0].doc_key.endswith("_S0")
bc.load("bookcoref").to_pandas().loc[0, "mentions"] == 795
bc.load("bookcoref")["lamp"].doc_key.startswith("the_lamp")
bc.read("system.conll")[0].characters["Captain Thorne"][0].start >= 0
bc.read("system.conll").save("again.jsonl").name == "again.jsonl"
bc.write(bc.read("system.conll"), "written.conllu").name == "written.conllu"
bc.convert("system.conll", "converted.jsonl").documents == 1
bc.evaluate("bookcoref", "system.conll").conll_f1 == 1
bc.evaluate("bookcoref", "system.conll").to_pandas().shape[0] > 3
bc.stats("bookcoref").to_pandas().loc[0, "documents"] == 1
bc.verify("bookcoref").ok
bc.align("system.conll", "lamp.txt").book.doc_key.startswith("the_lamp")
bc.view("bookcoref", "page.html").name == "page.html"
"csv" in str(bc.export("bookcoref", to="csv", out="tables")[0])
bc.report("bookcoref", "report.md", plots=False)[0].name == "report.md"
bc.clean("lamp.txt").text.lstrip().startswith("CHAPTER I.")
bc.diff("system.conll", "system.conll") == []
bc.import_corpus("fantasycoref", "corpus", out="imported").splits["test"] == 1
len(bc.list_books("nowhere")) == 53
"martinelli" in bc.cite()
bc.publish("bookcoref", "me/lamp", dry_run=True).to_dict()["form"] == "whole"
bc.sample("story").name == "story"
""".strip().splitlines()


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """A folder with the built sample, a CoNLL file of it, the story as a text, and a corpus of one story."""
    folder = tmp_path_factory.mktemp("new_user")
    bc.rebuild(folder / "bookcoref", sample=True, cache_dir=folder / "cache", jobs=1)
    bc.load(folder / "bookcoref").save(folder / "system.conll")
    (folder / "lamp.txt").write_text(gutenberg_text(), encoding="utf-8")
    (folder / "corpus").mkdir()
    (folder / "corpus" / "lamp.conll").write_text(
        (folder / "system.conll").read_text(encoding="utf-8"), encoding="utf-8"
    )
    return folder


def test_there_are_twenty_five():
    assert len(TRIES) == 25


@pytest.mark.parametrize("line", TRIES)
def test_it_works(world, monkeypatch, line):
    monkeypatch.chdir(world)
    monkeypatch.setenv("BOOKCOREF_DATA_HOME", str(world / "cache"))
    assert eval(line, {"bc": bc})


def test_a_page_in_a_file_serves_as_its_path_and_one_in_memory_says_why_not(world):
    page = bc.view(world / "system.conll", world / "kept.html")
    assert Path(page).read_text(encoding="utf-8") == page.html
    assert (page.name, page.to_dict()["file"]) == ("kept.html", str(world / "kept.html"))
    page = bc.view(world / "system.conll")
    assert (page.name, page.to_dict()["file"]) == ("", None)
    with pytest.raises(TypeError, match="was not written to a file"):
        Path(page)


# What every other function returns: one short line, a table, and a document for JSON.
RESULTS = """
bc.annotate_many(["tiny.jsonl"], ["Anna"])
bc.annotate_many("two.jsonl", "names.txt", out="many", jobs=1)
bc.propose_casts("lamp.jsonl")
bc.evaluate("bookcoref", ["system.conll", "lamp.jsonl"], errors=True, compare="all", few_units=True)
bc.stats("bookcoref", "system.conll", per_book=True)
bc.align("system.conll", "lamp.txt", out="aligned.jsonl", report="aligned.json")
bc.clean("lamp.txt", out="clean.txt", map="clean.json")
bc.convert("system.conll", "again.jsonl")
bc.import_corpus("fantasycoref", "corpus", out="imported")
bc.link_train("litbank", "reader", data_only=True)
bc.list_books("nowhere")
bc.show("lamp", character="Thorne")
bc.show("lamp", at=410)
bc.show("lamp")
bc.rebuild(sample=True, out="rebuilt", jobs=1)
bc.rebuild_plan(sample=True)
bc.verify("bookcoref")
bc.pack("bookcoref", "packs", mirror=MIRROR, licence="CC0-1.0", jobs=1)
bc.pack_inspect("packs")
bc.manifest_write("bookcoref", "manifest.json")
bc.manifest_show("bookcoref")
bc.cache_size()
bc.cache_clear("books")
bc.publish("bookcoref", "me/lamp", dry_run=True)
bc.view("bookcoref")
bc.diff("system.conll", "system.conll")
bc.merge("parts.conll", "long.conll", by="id", key_ids=True, save="a.tsv")
bc.merge("parts.conll", by="new", save="b.tsv")
bc.merge_agreement("parts.conll", ["a.tsv", "b.tsv"])
bc.apply_edits("system.conll", "edits.jsonl", "corrected")
bc.cast("tiny.jsonl")
bc.merge_edits(["edits.jsonl", "edits.jsonl"])
bc.questions_build("system.conll", "questions", test=3, dev=0, draws=0)
bc.questions_evaluate("questions", annotation="system.conll", books="system.conll")
bc.questions_evaluate("questions", annotator=True, books="system.conll")
bc.questions_evaluate("questions", dry_run=2)
bc.contexts_build(bc.load("bookcoref"), "contexts", strategies=["lead"], budget=100)
bc.contexts_ask("contexts", dry_run=1)
bc.contexts_compare("bookcoref", budgets=[300])
bc.harvest_liscu("casts.jsonl", names=["names.tsv"])
bc.regenerate("many/dataset", jobs=1)
""".strip().splitlines()
PARTS = """#begin document (bc/demo/1); part 000
d\t0\t0\tJohn\tNNP\t*\t-\t-\t-\t-\t*\t(0)

#end document
#begin document (bc/demo/1); part 001
d\t1\t0\tHe\tPRP\t*\t-\t-\t-\t-\t*\t(0)

#end document
"""
TINY = {"gutenberg_key": "0", "sentences": [["Anna", "saw", "Mr.", "Ford", "."], ["She", "smiled", "."]]}


@pytest.fixture(scope="module")
def desk(world):
    """The world above, and small inputs of the other functions. Lines build on the files of those before."""
    bc.load(world / "bookcoref").save(world / "lamp.jsonl")
    (world / "names.txt").write_text("Anna\nMr. Ford\n", encoding="utf-8")
    write_litbank(world / "litbank")
    rows = [json.dumps({"doc_key": key, **TINY}) + "\n" for key in ("tiny", "other")]
    (world / "tiny.jsonl").write_text(rows[0], encoding="utf-8")
    (world / "two.jsonl").write_text("".join(rows), encoding="utf-8")
    (world / "edits.jsonl").write_text("", encoding="utf-8")
    (world / "parts.conll").write_text(PARTS, encoding="utf-8")
    (world / "names.tsv").write_text("title\tsource\tcharacter\nFarm\tcliffnotes\tBen\n", encoding="utf-8")
    return world


@pytest.mark.long
def test_results_are_one_line_a_table_and_a_document(desk, monkeypatch):
    monkeypatch.chdir(desk)
    monkeypatch.setenv("BOOKCOREF_DATA_HOME", str(desk / "cache"))
    for line in RESULTS:
        found = eval(line, {"bc": bc, "MIRROR": sample_path("mirror")})
        shown = repr(found)
        assert len(shown) < 300, line
        assert "\n" not in shown, line
        assert json.loads(json.dumps(found.to_dict())), line
        table = found if isinstance(found, bc.Table) else getattr(found, "table", None)
        if table is not None:
            assert table.to_pandas().shape == (len(table), len(table.columns)), line
            assert table.to_markdown().count("\n") == len(table) + 1, line
    many = bc.annotate_many("two.jsonl", "names.txt", out="many", jobs=1)
    assert [book.doc_key for book in many.books] == ["tiny", "other"]
    assert "Anna" in many.books["tiny"].characters
    assert many.books["tiny"].text == many.books["other"].text
    tried = set(re.findall(r"bc\.(\w+)", "\n".join([*RESULTS, *TRIES])))
    untried = {name for name in bc.__all__ if name[0].islower()} - tried
    # Tried with a cast, a person's edits, a mirror, or a service, in the tests of their rooms.
    assert untried == {
        "annotate", "audit", "cache_path", "contexts_collect", "contexts_identify", "contexts_novelty",
        "contexts_references", "contexts_score", "contexts_tables", "create", "harvest_wikidata", "match",
        "propose_cast", "regenerate_check", "review",
    }  # fmt: skip


def test_a_book_in_memory_is_taken_like_its_file(world, monkeypatch, tmp_path):
    monkeypatch.chdir(world)
    (book,) = bc.load("bookcoref")
    record = book.record
    sources = {
        "folder": "bookcoref", "book": book, "books": [book], "annotation": book.annotation,
        "record": record, "plain": record.to_book(),
    }  # fmt: skip
    made = {}
    for name, source in sources.items():
        files = bc.export(source, to="csv", out=tmp_path / name)
        made[name] = {file.name: file.read_text(encoding="utf-8") for file in files}
    assert len(made["folder"]) == 5
    assert all(one == made["folder"] for one in made.values())
    counted = [
        bc.stats(source).to_dict() | {"source": ""}
        for name, source in sources.items()
        if name != "annotation"
    ]
    assert all(one == counted[0] for one in counted)


def test_the_package_offers_just_the_names_of_its_front_door():
    from bookcoref_data import api

    assert bc.__all__ == api.__all__
    assert all(getattr(api, name) is not None for name in bc.__all__)


def test_several_systems_have_their_own_scores(desk, monkeypatch):
    monkeypatch.chdir(desk)
    scores = bc.evaluate("bookcoref", {"ours": "system.conll", "theirs": bc.load("bookcoref")})
    assert {name: one.pooled.conll.f1 for name, one in scores.systems.items()} == {"ours": 1.0, "theirs": 1.0}
    assert scores.table.columns == ("metric", "ours", "theirs")
    with pytest.raises(bc.BookcorefError, match=r"systems\[name\]"):
        _ = scores.conll_f1
