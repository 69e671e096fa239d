"""`align` on files: packs and annotated documents, plain and tokenised texts, exact and remapped."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from bookcoref_data.books import Book
from bookcoref_data.cli.app import make_app
from bookcoref_data.errors import DataError, EditionError, FormatError, SourceError, UsageError
from bookcoref_data.formats import read_documents, write_documents
from bookcoref_data.sample_story.story import gutenberg_text
from bookcoref_data.workflows.align import EXACT, REMAPPED, align_files
from bookcoref_data.workflows.packed import pack_book
from tests.sample_story.making import sample_book


@pytest.fixture(scope="module")
def pack():
    """The sample, packed against its text."""
    return pack_book(sample_book(), [], gutenberg_text())


@pytest.fixture
def files(pack, tmp_path):
    """old.jsonl and old.pack (the sample), same.txt (its text), new.txt (another edition of it)."""
    book, text = sample_book(), gutenberg_text()
    write_documents([book.to_record()], tmp_path / "old.jsonl")
    (tmp_path / "old.pack").write_bytes(pack)
    (tmp_path / "same.txt").write_text(text, encoding="utf-8")
    new = text.replace('"', "”").replace(" said", " exclaimed")
    (tmp_path / "new.txt").write_bytes(("\ufeff" + new.replace("\n", "\r\n")).encode("utf-8"))
    return tmp_path


def test_a_pack_on_its_own_text_is_exact(files):
    (result,) = align_files(files / "old.pack", files / "same.txt")
    assert result.result == EXACT
    assert result.report is None
    assert result.record.to_book() == sample_book()


@pytest.mark.parametrize("old", ["old.pack", "old.jsonl"])
def test_another_edition_is_remapped_and_never_called_exact(files, old):
    (result,) = align_files(files / old, files / "new.txt")
    assert result.result == REMAPPED
    total = result.report.total
    assert total.total == sample_book().mention_count
    assert total.kept_share > 0.97
    book = result.record.to_book()
    assert "exclaimed" in book.tokens
    assert [c.name for c in book.characters] == [c.name for c in sample_book().characters]


@pytest.mark.parametrize(
    "encode",
    [
        lambda t: t.encode("utf-8-sig"),
        lambda t: t.replace("\n", "\r\n").encode("utf-8"),
        lambda t: t.replace("\n", "\r").encode("utf-16"),
        lambda t: t.encode("cp1252"),
    ],
    ids=["byte order mark", "CRLF", "UTF-16 and CR", "Windows-1252"],
)
def test_the_same_text_in_any_encoding_is_exact(files, encode):
    (files / "coded.txt").write_bytes(encode(gutenberg_text()))
    (result,) = align_files(files / "old.pack", files / "coded.txt")
    assert result.result == EXACT


def test_an_edition_in_capitals_is_cut_like_any_other(files):
    (files / "capitals.txt").write_text(gutenberg_text().upper(), encoding="utf-8")
    (result,) = align_files(files / "old.jsonl", files / "capitals.txt")
    assert result.report.total.kept_share > 0.98
    tokens = result.record.to_book().tokens
    assert not [t for t in tokens if len(t) > 2 and t.upper().endswith(("'S", "’S", "'LL", "’LL"))]
    assert all(t == t.upper() for t in tokens)


def test_tokenised_documents_are_paired_by_key(files):
    book = sample_book()
    other = Book.make("other", [["Nothing", "of", "it", "."]])
    write_documents([other.to_record(), book.to_record()], files / "target.jsonl")
    (result,) = align_files(files / "old.jsonl", files / "target.jsonl")
    assert result.record.to_book() == replace(book, doc_key=f"{book.doc_key}.remapped")
    write_documents([other.to_record(), Book.make("b", [["x"]]).to_record()], files / "foreign.jsonl")
    with pytest.raises(UsageError, match="no document for"):
        align_files(files / "old.jsonl", files / "foreign.jsonl")


def test_several_documents_need_a_choice_for_a_plain_text(files):
    book = sample_book()
    write_documents([book.to_record(), Book.make("b", [["x"]]).to_record()], files / "two.jsonl")
    with pytest.raises(UsageError, match="2 annotated documents"):
        align_files(files / "two.jsonl", files / "same.txt")
    (result,) = align_files(files / "two.jsonl", files / "same.txt", doc_key=book.doc_key)
    assert result.report.total.kept_share > 0.97
    with pytest.raises(UsageError, match="no document"):
        align_files(files / "two.jsonl", files / "same.txt", doc_key="nobody")


def test_a_document_without_text_cannot_be_a_target(files):
    bare = {"doc_key": "d", "gutenberg_key": "1", "clusters": [], "characters": []}
    (files / "bare.jsonl").write_text(json.dumps(bare) + "\n")
    with pytest.raises(DataError, match="has no text"):
        align_files(files / "old.jsonl", files / "bare.jsonl")


def test_missing_and_damaged_files_are_named(files):
    with pytest.raises(SourceError):
        align_files(files / "none.pack", files / "same.txt")
    with pytest.raises(SourceError):
        align_files(files / "old.pack", files / "none.txt")
    damaged = (files / "old.pack").read_bytes()[:-1]
    (files / "cut.pack").write_bytes(damaged)
    with pytest.raises(FormatError, match=r"cut\.pack"):
        align_files(files / "cut.pack", files / "same.txt")


def run(*args: object):
    return CliRunner().invoke(make_app(), [str(a) for a in args])


def test_the_verb_writes_annotation_and_report(files):
    result = run("align", files / "old.pack", files / "new.txt", "--out", files / "out.jsonl",
                 "--report", files / "report.json")  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "remapped" in result.stdout
    (record,) = read_documents(files / "out.jsonl")
    (report,) = json.loads((files / "report.json").read_text())
    assert report["result"] == "remapped"
    assert (
        sum(map(len, record.clusters))
        == report["total"]["mentions"] - report["total"]["lost"] - report["merged"]
    )


def test_min_kept_fails_the_verb_and_writes_no_annotation(files):
    result = run(
        "align", files / "old.pack", files / "new.txt", "--least-kept", 1, "--out", files / "out.jsonl"
    )
    assert isinstance(result.exception, EditionError)
    assert not (files / "out.jsonl").exists()


def test_replace_goes_for_the_annotation_but_not_for_what_was_read(files):
    """The report was replaced, the annotation was refused with the advice to add --replace."""
    for text in ("same.txt", "new.txt"):
        result = run("align", files / "old.pack", files / text, "--out", files / "out.jsonl", "--replace")
        assert result.exit_code == 0, result.exception
    (record,) = read_documents(files / "out.jsonl")
    assert record.doc_key.endswith(".remapped")
    before = (files / "old.jsonl").read_bytes()
    result = run("align", files / "old.jsonl", files / "new.txt", "--out", files / "old.jsonl", "--replace")
    assert isinstance(result.exception, UsageError)
    assert (files / "old.jsonl").read_bytes() == before


def test_exact_is_said_in_json(files):
    result = run("align", files / "old.pack", files / "same.txt", "--json")
    (report,) = json.loads(result.stdout)
    assert report["result"] == "exact"
    assert report["mentions"] == sample_book().mention_count


def test_another_book_is_refused(files):
    (files / "other.txt").write_text("It was a dark and stormy night; the rain fell in torrents. " * 500)
    result = run("align", files / "old.pack", files / "other.txt")
    assert isinstance(result.exception, EditionError)
