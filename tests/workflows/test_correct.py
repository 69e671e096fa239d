"""Corrections on disk: applied to folders and files, taken from files that were edited elsewhere."""

from __future__ import annotations

import re

import pytest

from bookcoref_data.books import Book
from bookcoref_data.books.annotation import Annotation, Dropped, Marked, Quote
from bookcoref_data.edits import Edit, anchor_of
from bookcoref_data.errors import DataError, FormatError, SourceError, UsageError
from bookcoref_data.formats import read_documents, write_documents
from bookcoref_data.formats.annotated import read_annotations, write_annotations
from bookcoref_data.formats.card import card_says
from bookcoref_data.formats.folder import iter_folder, read_build, write_folder, writing_folder
from bookcoref_data.formats.reasons import format_reasons
from bookcoref_data.workflows.correct import apply_edits, diff_edits, read_edits, write_edits
from bookcoref_data.workflows.verify import verify

STORY = "Anna met Tom . “ I know you , ” said she .  He left ."
TOKENS = [word or "\n" for word in STORY.split(" ")]


@pytest.fixture
def folder(tmp_path):
    others = ((1, 0.2),)
    mentions = (
        Marked(0, 0, 0, "link", "name", 0.98, "name"), Marked(2, 2, 1), Marked(5, 5, 0), Marked(7, 7, 1),
        Marked(11, 11, 0, "windows", "ranker", 0.7, "pronoun", others), Marked(14, 14, 1),
    )  # fmt: skip
    dropped = (Dropped(15, 15, 0, "filter", "no name", 0.3),)
    quotes = (Quote(4, 9, 0, (1,), "turn", 0.6),)
    book = Book.make("meeting", [TOKENS])
    write_annotations([Annotation(book, ("Anna", "Tom"), mentions, quotes, dropped)], tmp_path / "annotated")
    return tmp_path / "annotated"


def edit(start, character):
    return Edit("link", at=anchor_of(TOKENS, start, start), character=character, doc_key="meeting")


def test_a_folder_is_corrected_with_its_reasons_kept(folder, tmp_path):
    write_edits([edit(14, "Anna")], tmp_path / "edits.jsonl")
    (done,) = apply_edits(folder, read_edits(tmp_path / "edits.jsonl"), tmp_path / "out")
    assert (done.changed, done.conflicts) == (1, ())
    (before,), (after,) = read_annotations(folder), read_annotations(tmp_path / "out")
    assert [m.character for m in after.mentions] == [0, 1, 0, 1, 0, 0]
    assert (after.dropped, after.quotes) == (before.dropped, before.quotes)
    assert after.mentions[4] == before.mentions[4]
    assert after.mentions[4].others == ((1, 0.2),)


def test_a_folder_with_other_books_is_not_overwritten(folder, tmp_path):
    """Like every verb that writes a folder: it loses nothing unless --replace is given."""
    other = Book.make("another", [["Anna", "slept"]])
    write_annotations([Annotation(other, ("Anna",), (Marked(0, 0, 0),))], tmp_path / "out")
    before = {p.name: p.read_bytes() for p in (tmp_path / "out").iterdir()}
    with pytest.raises(UsageError, match="another"):
        apply_edits(folder, [edit(14, "Anna")], tmp_path / "out")
    assert {p.name: p.read_bytes() for p in (tmp_path / "out").iterdir()} == before
    apply_edits(folder, [edit(14, "Anna")], tmp_path / "out", replace=True)
    assert [a.doc_key for a in read_annotations(tmp_path / "out")] == ["meeting"]
    apply_edits(folder, [edit(14, "Tom")], tmp_path / "out")  # the same book again


def test_any_format_is_corrected(folder, tmp_path):
    write_documents(read_documents(folder / "annotation.jsonl"), tmp_path / "plain.conll")
    apply_edits(tmp_path / "plain.conll", [edit(14, "Anna")], tmp_path / "out.conll")
    (record,) = read_documents(tmp_path / "out.conll")
    assert sorted(map(len, record.clusters)) == [2, 4]


def test_brat_files_edited_elsewhere_come_back_as_edits(folder, tmp_path):
    write_documents(read_documents(folder / "annotation.jsonl"), tmp_path / "meeting.ann")
    assert [one.edits for one in diff_edits(folder, tmp_path / "meeting.ann").values()] == [()]
    text = (tmp_path / "meeting.ann").read_text(encoding="utf-8")
    number = re.search(r"^(T\d+)\t.*\tHe$", text, re.M).group(1)
    text = re.sub(rf"^{number}\t.*\n", "", text, flags=re.M)
    text = re.sub(rf"^(\*\t.*?) {number}(?= |$)", r"\1", text, flags=re.M)
    (tmp_path / "meeting.ann").write_text(text, encoding="utf-8")
    ((found,),) = (one.edits for one in diff_edits(folder, tmp_path / "meeting.ann", author="Ada").values())
    assert (found.op, found.was, found.author, found.at.start) == ("unlink", "Tom", "Ada", 14)


def test_faults_are_named(folder, tmp_path):
    with pytest.raises(SourceError, match="cannot read"):
        read_edits(tmp_path / "none.jsonl")
    (tmp_path / "latin.jsonl").write_bytes(b"\xe9")
    with pytest.raises(DataError, match="UTF-8"):
        read_edits(tmp_path / "latin.jsonl")
    with pytest.raises(UsageError, match="edit 1 is for the document 'other'"):
        apply_edits(folder, [Edit("new", character="X", doc_key="other")], tmp_path / "out")
    with open(folder / "provenance.jsonl", "a", encoding="utf-8") as stream:
        stream.write('{"doc_key": "meeting", "start": 1}\n')
    with pytest.raises(FormatError, match=r"provenance\.jsonl:8"):
        read_annotations(folder)


@pytest.mark.parametrize("where", ["annotated", "elsewhere"])
def test_the_data_set_beside_an_annotation_is_corrected_too(folder, tmp_path, where):
    """`load_dataset` must not go on reading what a person has corrected."""
    (before,) = read_annotations(folder)
    write_folder(folder / "dataset", {"train": [before.to_book()]}, title="Mine", licences=[])
    out = tmp_path / where
    apply_edits(folder, [edit(14, "Anna")], out)
    (after,) = read_annotations(out)
    ((split, record),) = iter_folder(out / "dataset")
    assert split == "train"
    assert record.to_book() == after.to_book() != before.to_book()
    assert read_build(out / "dataset").title == "Mine"


def test_an_annotation_without_a_data_set_gets_none(folder, tmp_path):
    apply_edits(folder, [edit(14, "Anna")], tmp_path / "out")
    assert not (tmp_path / "out/dataset").exists()


def test_a_data_set_is_corrected_to_a_data_set_with_its_licences_texts_and_reasons(folder, tmp_path):
    (before,) = read_annotations(folder)
    mine, cited = (
        [("Texts", "public domain"), ("Annotation", "CC BY 4.0")],
        '@misc{x,\n  title = "A\\\\B",\n}',
    )
    with writing_folder(tmp_path / "data") as writer:
        writer.add_book(before.to_book(), "train", reasons=format_reasons(before), text={"sha256": "a" * 64})
        writer.finish("Mine", licences=mine, source={"corpus": "litbank"}, citation=cited)
    apply_edits(tmp_path / "data", [edit(14, "Anna")], tmp_path / "out")
    found, was = read_build(tmp_path / "out/dataset"), read_build(tmp_path / "data")
    assert verify(tmp_path / "out").exit_code == 0
    assert (found.title, found.books[0].text) == (was.title, was.books[0].text)
    assert found.source == {**was.source, "corrections": 1}
    (after,), (again,) = read_annotations(tmp_path / "out"), read_annotations(tmp_path / "out/dataset")
    assert again.quotes == after.quotes == before.quotes
    assert again.to_book() == after.to_book() != before.to_book()
    cards = [(tmp_path / name / "README.md").read_text() for name in ("data", "out/dataset")]
    assert card_says(cards[0]) == card_says(cards[1]) == (mine, cited)
