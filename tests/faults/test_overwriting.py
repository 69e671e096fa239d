"""No output takes the place of an input, or of a file that somebody else made, without being told to."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

import bookcoref_data as bc
from bookcoref_data.books import Book
from bookcoref_data.errors import BookcorefError, UsageError
from bookcoref_data.sample_story.story import sample_path
from tests.faults.faulty import digest
from tests.faults.workplace import PARTS, fill

ANN = Book.make("a_1", [["Ann", "ran"]], clusters=[[(0, 0)]], characters=[("Ann", [(0, 0)])])
BEN = Book.make("b_2", [["Ben", "ran"]], clusters=[[(0, 0)]], characters=[("Ben", [(0, 0)])])


@pytest.mark.parametrize("to", ["csv", "tsv", "parquet"])
def test_an_export_leaves_other_tables_alone(tmp_path, to):
    mine = tmp_path / f"characters.{to}"
    mine.write_bytes(b"name,age\nAnn,40\n")
    with pytest.raises(UsageError, match="will not replace"):
        bc.export(ANN, to, tmp_path)
    assert (mine.read_bytes(), list(tmp_path.iterdir())) == (b"name,age\nAnn,40\n", [mine])
    files = bc.export(ANN, to, tmp_path, replace=True)
    before = mine.read_bytes()
    assert bc.export(BEN, to, tmp_path) == files  # our own tables are written again
    assert mine.read_bytes() != before


def test_the_sample_leaves_a_changed_cast_alone(tmp_path):
    bc.sample(tmp_path)
    bc.sample(tmp_path)
    cast = tmp_path / "cast.txt"
    cast.write_text("Ann\n")
    (tmp_path / "lamp.txt").unlink()
    with pytest.raises(UsageError, match="will not replace"):
        bc.sample(tmp_path)
    assert (cast.read_text(), {p.name for p in tmp_path.iterdir()}) == ("Ann\n", {"cast.txt", "files.json"})
    bc.sample(tmp_path, replace=True)
    assert cast.read_text() != "Ann\n"


def test_merging_into_a_folder_keeps_other_documents_unless_told(tmp_path):
    parts, out = tmp_path / "parts.conll", tmp_path / "merged"
    parts.write_text(PARTS)
    bc.merge(parts, out, by="id")
    bc.merge(parts, out, by="id")
    other = tmp_path / "other.conll"
    other.write_text(PARTS.replace("bc/demo/1", "bc/demo/2"))
    with pytest.raises(UsageError, match="would lose"):
        bc.merge(other, out, by="id")
    (out / "notes.txt").write_text("mine")
    bc.merge(other, out, by="id", replace=True)
    assert [book.doc_key for book in bc.load(out)] == ["bc/demo/2"]
    assert (out / "notes.txt").read_text() == "mine"


# -- every verb that writes, over a file that must not be lost -------------------------------------------


@dataclass(frozen=True)
class Over:
    """A command that would write over `victim`: a file that is there, or made with `content`."""

    victim: str
    run: Callable[..., object]
    content: str | None = None
    is_input: bool = False


def changed(folder: Path, name: str) -> None:
    """Somebody corrects a file that we wrote."""
    path = folder / name
    path.write_bytes(path.read_bytes() + b"# checked by hand\n")


MINE = "what I wrote\n"
BOOKS = (ANN,)
CASES = {
    "corrections, in place of the corrected": Over(
        "edits.jsonl",
        lambda **o: bc.apply_edits("ann", "edits.jsonl", "edits.jsonl", **o),
        is_input=True,
    ),
    "corrections, by convert": Over("edits.jsonl", lambda **o: bc.convert("ann", "edits.jsonl", **o)),
    "corrections, by another spelling": Over(
        "edits.jsonl",
        lambda **o: bc.apply_edits("ann", "edits.jsonl", "ann/../edits.jsonl", **o),
        is_input=True,
    ),
    "corrections, by diff": Over("edits.jsonl", lambda **o: bc.diff("ann", "ann", out="edits.jsonl", **o)),
    "corrections, by write": Over("edits.jsonl", lambda **o: bc.write(BOOKS, "edits.jsonl", **o)),
    "a page, by view": Over("x/page.html", lambda **o: bc.view("ann", "x/page.html", **o), MINE),
    "the input of convert": Over(
        "tiny.jsonl",
        lambda **o: bc.convert("tiny.jsonl", "tiny.jsonl", read_as="jsonl", **o),
        "", True,
    ),
    "the novel, by clean": Over(
        "lamp.txt",
        lambda **o: bc.clean("lamp.txt", out="lamp.txt", **o),
        is_input=True,
    ),
    "the novel, by a hard link": Over(
        "lamp.txt",
        lambda **o: bc.clean("lamp.txt", out="hard", **o),
        is_input=True,
    ),
    "the novel, by a link": Over(
        "lamp.txt",
        lambda **o: bc.clean("lamp.txt", out="soft", **o),
        is_input=True,
    ),
    "the novel, by export": Over(
        "lamp.txt", lambda **o: bc.export("ann", "replaced-text", "lamp.txt", **o)
    ),
    "a cast, by clean": Over("names.txt", lambda **o: bc.clean("lamp.txt", out="names.txt", **o)),
    "a cast, by the map of clean": Over(
        "names.txt", lambda **o: bc.clean("lamp.txt", map="names.txt", out="new.txt", **o)
    ),
    "TEI made by hand": Over(
        "x/lamp.xml",
        lambda **o: bc.export("ann", "tei", "x/lamp.xml", **o),
        MINE,
    ),
    "TEI in a folder": Over(
        "x/tiny.xml",
        lambda **o: bc.export("ann", "tei-standoff", "x", **o),
        MINE,
    ),
    "tables of somebody": Over(
        "x/mentions.csv",
        lambda **o: bc.export("ann", "csv", "x", **o),
        MINE,
    ),
    "tables corrected by hand": Over("csv/mentions.csv", lambda **o: bc.export("ann", "csv", "csv", **o)),
    "a network": Over(
        "x/n.gexf",
        lambda **o: bc.export("ann", "gexf", "x/n.gexf", **o),
        MINE,
    ),
    "a file beside the one that is named": Over(
        "x/t.quotes",
        lambda **o: bc.export("ann", "booknlp", "x/t.tokens", **o),
        MINE,
    ),
    "the annotation, by view": Over(
        "ann/annotation.jsonl",
        lambda **o: bc.view("ann", "ann/annotation.jsonl", **o),
        is_input=True,
    ),
    "the annotation, by export": Over(
        "ann/quotes.jsonl",
        lambda **o: bc.export("ann", "audiobook", "ann/quotes.jsonl", **o),
        "x", True,
    ),
    "the annotation, by an annotation of the same book": Over(
        "ann/annotation.jsonl", lambda **o: bc.annotate("tiny.jsonl", ["Anna"], out="ann", **o)
    ),
    "an annotation, by convert": Over(
        "system.conll", lambda **o: bc.convert("tiny.jsonl", "system.conll", **o)
    ),
    "notes, by report": Over(
        "x/notes.md",
        lambda **o: bc.report("ann", "x/notes.md", plots=False, **o),
        MINE,
    ),
    "a page, by report": Over(
        "x/p.html",
        lambda **o: bc.report("ann", "x/p.html", plots=False, **o),
        MINE,
    ),
    "an input of diff": Over(
        "system.conll",
        lambda **o: bc.diff("system.conll", "bookcoref", out="system.conll", **o),
        is_input=True,
    ),
    "the parts, by merge": Over(
        "parts.conll",
        lambda **o: bc.merge("parts.conll", "parts.conll", by="id", **o),
        is_input=True,
    ),
    "decisions, by merge": Over(
        "x/d.tsv",
        lambda **o: bc.merge("parts.conll", save="x/d.tsv", by="id", **o),
        MINE,
    ),
    "the old text, by align": Over(
        "system.conll",
        lambda **o: bc.align("system.conll", "lamp.txt", out="system.conll", **o),
        is_input=True,
    ),
    "a cast, by the report of align": Over(
        "names.txt", lambda **o: bc.align("system.conll", "lamp.txt", report="names.txt", **o)
    ),
    "corrections, by the records of import": Over(
        "edits.jsonl", lambda **o: bc.import_corpus("fantasycoref", "corpus", "y", records="edits.jsonl", **o)
    ),
    "a page of mine, by questions": Over(
        "x/README.md",
        lambda **o: bc.questions_build("system.conll", "x", test=3, dev=0, draws=0, **o),
        MINE,
    ),
    "a page of mine, by contexts": Over(
        "x/README.md",
        lambda **o: bc.contexts_build("bookcoref", "x", budget=100, strategies=["lead"], **o),
        MINE,
    ),
    "a cast, by references": Over(
        "names.txt", lambda **o: bc.contexts_references("guides", "bookcoref", "names.txt", **o)
    ),
    "tables that were reviewed": Over(
        "matched/works.tsv", lambda **o: bc.match("casts.jsonl", "matched", catalogue="rdf.tar.bz2", **o)
    ),
    "a list of characters, by harvest": Over(
        "x/list.jsonl",
        lambda **o: bc.harvest_liscu("x/list.jsonl", names=["guide.tsv"], **o),
        '{"source": "me", "work_id": "w", "title": "T", "character": "Zed"}\n',
    ),
    "a proposed cast that was corrected": Over(
        "proposed/the_lamp_at_the_ferry_house_99000001.txt",
        lambda **o: bc.propose_casts("bookcoref", "proposed", **o),
    ),
    "the build record, by manifest": Over(
        "bookcoref/build.json", lambda **o: bc.manifest_write("bookcoref", "bookcoref/build.json", **o),
        is_input=True,
    ),
    "an index of mine, by pack": Over(
        "x/index.json",
        lambda **o: bc.pack("bookcoref", "x", mirror=sample_path("mirror"), licence="CC0-1.0", jobs=1, **o),
        MINE,
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """What all cases begin with; of some folders a file was changed by hand."""
    folder = tmp_path_factory.mktemp("filled")
    fill(folder)
    bc.export(folder / "ann", "csv", folder / "csv")
    changed(folder, "csv/mentions.csv")
    bc.match(folder / "casts.jsonl", folder / "matched", catalogue=folder / "rdf.tar.bz2")
    changed(folder, "matched/works.tsv")
    bc.propose_casts(folder / "bookcoref", folder / "proposed")
    changed(folder, "proposed/the_lamp_at_the_ferry_house_99000001.txt")
    return folder


def without_cache(folder: Path) -> dict[str, str]:
    return {name: sha for name, sha in digest(folder).items() if not name.startswith("cache/")}


@pytest.mark.long
@pytest.mark.parametrize("name", CASES)
def test_nothing_is_lost(filled, tmp_path, monkeypatch, name):
    case, folder = CASES[name], tmp_path / "w"
    shutil.copytree(filled, folder)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("BOOKCOREF_DATA_HOME", str(folder / "cache"))
    if case.content:
        (folder / case.victim).parent.mkdir(exist_ok=True)
        (folder / case.victim).write_text(case.content)
    if name == "the annotation, by an annotation of the same book":
        changed(folder, "ann/annotation.jsonl")
    os.link(folder / "lamp.txt", folder / "hard")
    (folder / "soft").symlink_to("lamp.txt")
    before, content = without_cache(folder), (folder / case.victim).read_bytes()
    with pytest.raises(BookcorefError):
        case.run()
    assert without_cache(folder) == before
    if case.is_input:
        with pytest.raises(BookcorefError):
            case.run(replace=True)
        assert without_cache(folder) == before
    else:
        case.run(replace=True)
        assert (folder / case.victim).read_bytes() != content
        assert (folder / f"{case.victim}.~1~").read_bytes() == content


def test_the_folder_of_the_books_is_no_output(tmp_path):
    """Beside the books an annotation is a book of the next run."""
    (tmp_path / "lamp.txt").write_text("Ann walked. She sang.\n")
    with pytest.raises(UsageError, match="is the folder of the books"):
        bc.annotate_many(tmp_path, "auto", out=tmp_path / ".." / tmp_path.name)
    assert [path.name for path in tmp_path.iterdir()] == ["lamp.txt"]
