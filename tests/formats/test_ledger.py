"""The ledger: what a format does not give back is in its report with its count, whatever a record holds."""

from __future__ import annotations

import os

import pytest

from benchmarks.check_losses import Maker, check, check_many, losses, reported
from bookcoref_data.books import Mention, Record
from bookcoref_data.formats import FORMATS, ConversionReport, read_documents, write_documents

RECORDS = int(os.environ.get("BOOKCOREF_LEDGER_RECORDS", "20"))


def test_nothing_is_lost_in_silence_in_any_two_formats(tmp_path):
    maker = Maker(3)
    _, faults, examples = check_many((maker.record() for _ in range(RECORDS)), tmp_path, 3)
    assert not faults, "\n".join(examples)


@pytest.mark.slow
@pytest.mark.long
def test_litbank_keeps_its_speakers_in_corefud(shared_data, tmp_path):
    from bookcoref_data.formats.corpora import read_corpus

    records = [
        f.record for f in read_corpus("litbank", shared_data / "litbank", ConversionReport(), lambda *_: None)
    ]
    report = ConversionReport()
    write_documents(records, tmp_path / "x.conllu", report=report)
    back = read_documents(tmp_path / "x.conllu")
    spoken = sum(name != "" for r in records for row in r.speakers or [] for name in row)
    assert spoken == 38_014
    assert sum(sum(losses(a, b).values()) for a, b in zip(records, back, strict=True)) == sum(
        reported(report).values()
    )
    assert [r.speakers for r in back] == [r.speakers for r in records]


MIXED = [["Ann", "", "Bell"], ["Ann", "Ann", "Ann"]]
WORDS = [["a", "b", "c"], ["d", "e", "f"]]


@pytest.mark.parametrize("format", FORMATS)
def test_a_uniform_sentence_hides_no_other_speakers(format, tmp_path):
    wrong, back = check(Record("d", "", WORDS, [[Mention(0, 0)]], speakers=MIXED), format, tmp_path)
    assert (wrong, back.speakers) == ({}, MIXED)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("layers", [
    {"head": [["0", "1", "1"], ["2", "0", "x"]], "document_head": [["0", "0", "0"], ["4", "4", "0"]]},
    {"document_head": [["0", "5", "0"], ["4", "4", ""]]}, {"head": [["0"] * 3] * 2}, {"head": [["0"]]},
    {"lemma": [["_", "-", "*"], ["a b", "", "\ud800"]]},
    {"misc": [["Entity=(e1", "A=B", "_"], ["", "x|y", "z"]]},
])  # fmt: skip
def test_heads_blanks_and_odd_shapes_are_kept_or_counted(format, layers, tmp_path):
    assert check(Record("d", "", WORDS, [[Mention(0, 0)]], layers=layers), format, tmp_path)[0] == {}


@pytest.mark.parametrize("format", FORMATS)
def test_fields_by_cluster_and_by_sentence_move_with_what_is_gone(format, tmp_path):
    record = Record(
        "d", "", [["a"], [], ["b"]], [[Mention(7, 7)], [Mention(1, 1)]],
        extra={
            "entity_types": ["x", "y"], "comments": [[1, "gone"], [2, "kept"]], "parts": [["0", 2], ["1", 1]],
        },
    )  # fmt: skip
    wrong, back = check(record, format, tmp_path)
    assert wrong == {}
    if format != "jsonl":
        assert back.extra["entity_types"] == ["y"]
        assert back.extra["comments"] == [[1, "kept"]]
        assert back.extra["parts"] == [["0", 1], ["1", 1]]


@pytest.mark.parametrize("layers", [{"offsets": [["1 2"]]}, {"paragraph": [["1", "1", "1"]]}])
def test_a_layer_of_another_shape_is_not_made_up_from_what_the_rows_say(layers, tmp_path):
    extra = {"token_starts": [9] * 6, "token_ends": [10] * 6, "comments": [[1, "newpar"]]}
    wrong, back = check(
        Record("d", "", WORDS, [[Mention(0, 0)]], extra=extra, layers=layers), "booknlp", tmp_path
    )
    assert (wrong, back.layers) == ({}, {})


@pytest.mark.parametrize("format", ["brat", "booknlp"])
def test_the_key_of_a_document_outlives_the_name_of_its_file(format, tmp_path):
    target = tmp_path / ("x.ann" if format == "brat" else "x.tokens")
    write_documents([Record("d/1", "", WORDS, [[Mention(0, 0)]])], target)
    assert read_documents(target)[0].doc_key == "d/1"


@pytest.mark.parametrize("format", ["brat", "booknlp"])
def test_no_file_is_written_where_one_document_cannot_be(format, tmp_path):
    from bookcoref_data.errors import DataError

    for bad in (Record("b"), Record("x" * 300, "", WORDS)):
        with pytest.raises(DataError):
            write_documents([Record("a", "", WORDS), bad], tmp_path / "out", format)
        assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("name", ["parts", "comments"])
def test_an_empty_list_of_places_is_a_field_that_can_be_lost(format, name, tmp_path):
    """A document without tokens or mentions: brat has no place for the field, and says so."""
    empty = Record("d", "", [[]], [[Mention(3, 3)]], extra={name: [], "tokens": ["x"]})
    assert check(empty, format, tmp_path)[0] == {}
