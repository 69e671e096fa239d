"""What a new Python user tries, line by line. The list was written before any line of it was tried."""

from __future__ import annotations

import pytest

import bookcoref_data as bc
from bookcoref_data.sample import gutenberg_text

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
