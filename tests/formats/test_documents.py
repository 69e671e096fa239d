"""The front door: formats told from names and contents, folders, the built data set folder."""

from __future__ import annotations

import dataclasses
import os
import threading

import pytest

from bookcoref_data.books import Book, Mention, Record
from bookcoref_data.errors import FormatError, SourceError, UsageError
from bookcoref_data.formats import FORMATS, ConversionReport, read_documents, write_documents
from bookcoref_data.formats.documents import detect
from bookcoref_data.formats.folder import write_folder

ANN = [Mention(0, 0), Mention(3, 3)]
DOCUMENT = Record("a", "1", [["Ann", "\n", "ran"], ["She", "fell"]], [ANN], [("Ann", ANN)])
SUFFIX = {"jsonl": "jsonl", "conll": "conll", "corefud": "conllu", "brat": "ann", "booknlp": "tokens"}


@pytest.mark.parametrize("packed", ["", ".gz", ".zst"])
@pytest.mark.parametrize("format", FORMATS)
def test_the_name_tells_the_format(format, packed, tmp_path):
    path = tmp_path / f"a.{SUFFIX[format]}{packed}"
    write_documents([DOCUMENT], path)
    assert detect(path) == format
    assert dataclasses.replace(read_documents(path)[0], source="") == DOCUMENT


@pytest.mark.parametrize("format", ["jsonl", "conll", "corefud"])
def test_the_content_tells_it_where_the_name_does_not(format, tmp_path):
    path = tmp_path / "a.txt"
    write_documents([DOCUMENT], path, format)
    assert detect(path) == format
    assert read_documents(path)[0].clusters == [ANN]


@pytest.mark.parametrize(
    ("format", "suffixes"), [("brat", [".ann", ".txt"]), ("booknlp", [".tokens", ".entities", ".book"])]
)
def test_any_file_of_a_document_leads_to_the_others(format, suffixes, tmp_path):
    write_documents([DOCUMENT], tmp_path, format)
    for suffix in suffixes:
        (record,) = read_documents(tmp_path / f"a{suffix}")
        assert dataclasses.replace(record, source="") == DOCUMENT


def test_one_pretty_printed_document_gets_a_hint(tmp_path):
    (tmp_path / "a.json").write_text('{\n  "doc_key": "a"\n}\n')
    with pytest.raises(FormatError, match="pretty-printed"):
        read_documents(tmp_path / "a.json")


@pytest.mark.parametrize("content", ["", "Chapter 1\n", "\x00\x01", "a\tb\tc\n"])
def test_what_is_none_of_them_is_refused(content, tmp_path):
    path = tmp_path / "a.txt"
    path.write_text(content)
    with pytest.raises(FormatError, match=r"a\.txt:1: the format is not recognised"):
        read_documents(path)


def test_a_file_that_is_not_what_its_name_says_is_refused(tmp_path):
    write_documents([DOCUMENT], tmp_path / "a.conll")
    (tmp_path / "a.conll").rename(tmp_path / "a.jsonl")
    with pytest.raises(FormatError, match=r"a\.jsonl:1"):
        read_documents(tmp_path / "a.jsonl")


def test_a_folder_of_files_is_read_whole_and_in_order(tmp_path):
    for key in "cab":
        write_documents([dataclasses.replace(DOCUMENT, doc_key=key)], tmp_path / f"{key}.conll")
    (tmp_path / ".hidden.conll").write_text("junk")
    (tmp_path / "notes.md").write_text("junk")
    assert [r.doc_key for r in read_documents(tmp_path)] == ["a", "b", "c"]


def test_the_same_document_in_two_files_is_reported(tmp_path):
    for name in "ab":
        write_documents([DOCUMENT], tmp_path / f"{name}.conll")
    with pytest.raises(FormatError, match=r"b\.conll.*'a' is given twice") as caught:
        read_documents(tmp_path)
    assert "a.conll" in caught.value.found


def test_a_folder_of_two_formats_asks_which(tmp_path):
    write_documents([DOCUMENT], tmp_path / "a.conll")
    write_documents([DOCUMENT], tmp_path / "a.jsonl")
    with pytest.raises(FormatError, match="which format") as caught:
        read_documents(tmp_path)
    assert caught.value.found == "conll, jsonl"
    assert len(read_documents(tmp_path, "conll")) == 1


def test_an_empty_folder_and_no_folder(tmp_path):
    with pytest.raises(FormatError, match="which format"):
        read_documents(tmp_path)
    with pytest.raises(SourceError, match="nowhere"):
        read_documents(tmp_path / "nowhere")


def test_unknown_formats_and_names(tmp_path):
    with pytest.raises(UsageError, match="there is no format 'xml'"):
        read_documents(tmp_path, "xml")
    with pytest.raises(UsageError, match="which format to write"):
        write_documents([DOCUMENT], tmp_path / "a.docx")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("format", FORMATS)
def test_a_built_dataset_folder_becomes_any_format(format, tmp_path):
    book = Book.make("a_1", DOCUMENT.sentences, gutenberg_key="1", clusters=[ANN], characters=[("Ann", ANN)])
    write_folder(tmp_path / "bookcoref", {"test": [book]}, title="T", licences=[("Text", "ours")])
    records = read_documents(tmp_path / "bookcoref")
    assert [(r.doc_key, r.clusters, r.characters) for r in records] == [("a_1", [ANN], [("Ann", ANN)])]
    report = ConversionReport()
    target = tmp_path / f"out.{SUFFIX[format]}"
    write_documents(records, target, report=report)
    (back,) = read_documents(target)
    assert (back.sentences, back.clusters) == (DOCUMENT.sentences, [ANN])
    assert back.characters == [("Ann", ANN)]
    assert report.complete
    (window,) = read_documents(tmp_path / "bookcoref", config="split")
    assert window.doc_key == "a_1_split1500_S0"


def test_a_pipe_is_told_by_its_content_and_read_whole(tmp_path):
    for format, name in (("jsonl", "one"), ("conll", "two")):
        fifo = tmp_path / name
        os.mkfifo(fifo)
        plain = tmp_path / f"{name}.file"
        write_documents([DOCUMENT], plain, format)
        writer = threading.Thread(target=fifo.write_bytes, args=(plain.read_bytes(),))
        writer.start()
        (record,) = read_documents(fifo)
        writer.join()
        assert record.clusters == [ANN]


def test_packed_content_of_a_pipe_is_unpacked_and_read_once_more(tmp_path):
    fifo = tmp_path / "pipe"
    os.mkfifo(fifo)
    for key in ("a", "b"):
        write_documents([dataclasses.replace(DOCUMENT, doc_key=key)], tmp_path / "x.jsonl.gz")
        writer = threading.Thread(target=fifo.write_bytes, args=((tmp_path / "x.jsonl.gz").read_bytes(),))
        writer.start()
        assert [r.doc_key for r in read_documents(fifo)] == [key], "nothing of the first is left"
        writer.join()


def test_of_a_folder_of_annotate_the_annotation_is_meant(tmp_path):
    write_documents([DOCUMENT], tmp_path / "annotation.jsonl")
    for name in ("provenance.jsonl", "quotes.jsonl"):
        (tmp_path / name).write_text('{"no": "document"}\n')
    assert [r.clusters for r in read_documents(tmp_path)] == [[ANN]]


@pytest.mark.parametrize("format", FORMATS)
def test_what_is_counted_is_what_was_written(format, tmp_path):
    outside = Record("a", "", DOCUMENT.sentences, [[*ANN, Mention(7, 9)], [Mention(50, 50)], []])
    report = ConversionReport()
    target = tmp_path / f"a.{SUFFIX[format]}"
    write_documents([outside], target, report=report)
    (back,) = read_documents(target)
    assert report.documents == 1
    assert report.tokens == 5
    assert report.mentions == sum(map(len, back.clusters))
    assert report.clusters == sum(map(bool, back.clusters))
