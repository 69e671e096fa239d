"""The quotes of an annotation, and places in the reader's file, in BookNLP's files."""

from __future__ import annotations

import json

import pytest

from bookcoref_data.api.scoring import convert
from bookcoref_data.errors import FormatError
from bookcoref_data.exports import export
from bookcoref_data.formats import read_documents
from bookcoref_data.formats.annotated import read_annotations, write_annotations
from tests.exports.test_export import TEXT, annotation

__all__ = ["annotation"]


@pytest.fixture
def folder(annotation, tmp_path):
    from dataclasses import replace
    from hashlib import sha256

    source = replace(annotation.source, sha256=sha256(TEXT.encode()).hexdigest())
    write_annotations([replace(annotation, source=source)], tmp_path / "annotated")
    return tmp_path / "annotated"


@pytest.mark.parametrize("way", ["convert", "export"])
def test_booknlp_has_the_quotes_and_the_places_of_the_file(way, folder, tmp_path):
    if way == "convert":
        convert(folder, tmp_path / "out", write_as="booknlp")
    else:
        export(read_annotations(folder), "booknlp", tmp_path / "out")
    rows = [row.split("\t") for row in (tmp_path / "out/key.quotes").read_text("utf-8").splitlines()[1:]]
    (record,) = read_documents(tmp_path / "out")
    anna = {tuple(c): str(i) for i, c in enumerate(record.clusters)}[tuple(dict(record.characters)["Anna"])]
    assert [row[5] for row in rows] == [anna, anna]
    assert [q["addressees"] for q in record.extra["quotations"]] == [["Tom & Co <x>"]] * 2
    for row in (tmp_path / "out/key.tokens").read_text("utf-8").splitlines()[1:]:
        cells = row.split("\t")
        if cells[4] != "&#10;":
            assert TEXT[int(cells[6]) : int(cells[7])] == cells[4]


def test_what_conversion_leaves_of_an_annotation_is_counted_and_strict_says_so(folder, tmp_path):
    from typer.testing import CliRunner

    from bookcoref_data.cli.app import make_app

    report = convert(folder, tmp_path / "x.jsonl")
    assert {item.what: item.count for item in report.not_kept} == {
        "reasons of mentions (step, rule, score)": 12
    }
    assert len(json.loads((tmp_path / "x.jsonl").read_text("utf-8"))["quotations"]) == 2
    for words in (["convert", str(folder), str(tmp_path / "y.jsonl")],
                  ["export", str(folder), "--to", "tei", "--out", str(tmp_path / "z.xml")]):  # fmt: skip
        assert CliRunner().invoke(make_app(), words).exit_code == 0
        assert CliRunner().invoke(make_app(), [*words, "--strict"]).exit_code == 1


@pytest.mark.parametrize("name", ["quotes.jsonl", "provenance.jsonl"])
def test_quotes_and_reasons_of_another_document_are_not_passed_over(name, folder):
    """A document that was given another key would lose its speakers without a word."""
    (folder / "files.json").unlink()
    path = folder / name
    path.write_text(path.read_text("utf-8").replace('"doc_key": "key"', '"doc_key": "old"'), "utf-8")
    with pytest.raises(FormatError, match=name) as caught:
        read_annotations(folder)
    assert caught.value.found == "old"
