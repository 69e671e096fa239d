"""Files whose names a verb chooses itself never take the place of a user's files of the same name."""

from __future__ import annotations

import pytest

import bookcoref_data as bc
from bookcoref_data.books import Book
from bookcoref_data.errors import UsageError

PARTS = """#begin document (bc/demo/1); part 000
d\t0\t0\tJohn\tNNP\t*\t-\t-\t-\t-\t*\t(0)

#end document
#begin document (bc/demo/1); part 001
d\t1\t0\tHe\tPRP\t*\t-\t-\t-\t-\t*\t(0)

#end document
"""
ANN = Book.make("a_1", [["Ann", "ran"]], clusters=[[(0, 0)]], characters=[("Ann", [(0, 0)])])
BEN = Book.make("b_2", [["Ben", "ran"]], clusters=[[(0, 0)]], characters=[("Ben", [(0, 0)])])


@pytest.mark.parametrize("to", ["csv", "tsv", "parquet"])
def test_an_export_leaves_other_tables_alone(tmp_path, to):
    mine = tmp_path / f"characters.{to}"
    mine.write_bytes(b"name,age\nAnn,40\n")
    with pytest.raises(UsageError, match="not a table of an earlier export"):
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
    with pytest.raises(UsageError, match="not the file of the sample"):
        bc.sample(tmp_path)
    assert (cast.read_text(), len(list(tmp_path.iterdir()))) == ("Ann\n", 1)
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
