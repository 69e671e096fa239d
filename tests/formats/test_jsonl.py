"""JSON lines: what is accepted, and how a fault is named."""

from __future__ import annotations

import dataclasses
import json

import pytest

from bookcoref_data.books import Mention, Record
from bookcoref_data.errors import FormatError, SourceError
from bookcoref_data.formats import ConversionReport, read_documents, write_documents

GOOD = {
    "doc_key": "a_1",
    "gutenberg_key": "1",
    "sentences": [["Ann", "\n", "ran"], ["She", "fell"]],
    "clusters": [[[0, 0], [3, 3]]],
    "characters": [{"name": "Ann", "mentions": [[0, 0], [3, 3]]}],
}
ANN = [Mention(0, 0), Mention(3, 3)]


@pytest.fixture
def read(tmp_path):
    """Write lines (objects or text) to a file and read it."""

    def run(*lines, raw=None):
        path = tmp_path / "x.jsonl"
        text = "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
        path.write_bytes(text.encode("utf-8") if raw is None else raw)
        return read_documents(path)

    return run


def changed(**fields):
    return {**GOOD, **fields}


def test_the_official_record(read, tmp_path):
    (record,) = read(GOOD)
    assert record == Record(
        "a_1", "1", GOOD["sentences"], [ANN], [("Ann", ANN)], source=f"{tmp_path / 'x.jsonl'}:1"
    )
    assert isinstance(record.clusters[0][0], Mention)


def test_the_record_of_the_readme_with_doc_id_and_cluster(read):
    (record,) = read(
        {"doc_id": "a_1", "clusters": [[[0, 0]]], "characters": [{"name": "Ann", "cluster": [[0, 0]]}]}
    )
    assert (record.doc_key, record.characters, record.sentences) == ("a_1", [("Ann", ANN[:1])], None)
    assert record.extra == {}


@pytest.mark.parametrize("empty", [{}, [], None])
def test_prediction_files_have_empty_characters_in_several_shapes(read, empty):
    (record,) = read(changed(characters=empty))
    assert (record.characters, record.clusters) == ([], [ANN])


def test_characters_as_an_object_of_spans_or_as_two_columns(read):
    (record,) = read(changed(characters={"17": [[0, 0]], "4": []}))
    assert record.characters == [("17", ANN[:1]), ("4", [])]
    (record,) = read(changed(characters={"name": ["Ann"], "mentions": [[[0, 0], [3, 3]]]}))
    assert record.characters == [("Ann", ANN)]


def test_clusters_missing_are_taken_from_the_characters(read):
    record = dict(GOOD)
    del record["clusters"]
    assert read(record)[0].clusters == [ANN]


def test_unknown_fields_come_through_and_are_written_back(read, tmp_path):
    (record,) = read(changed(max_mention_end=None, provenance={"by": "x"}))
    assert record.extra == {"max_mention_end": None, "provenance": {"by": "x"}}
    write_documents([record], tmp_path / "y.jsonl")
    written = json.loads((tmp_path / "y.jsonl").read_text("utf-8"))
    assert list(written) == [*GOOD, "max_mention_end", "provenance"]
    assert written == changed(max_mention_end=None, provenance={"by": "x"})


def test_a_record_without_text_is_written_without_sentences(tmp_path):
    write_documents([Record("a", clusters=[ANN])], tmp_path / "y.jsonl")
    assert "sentences" not in json.loads((tmp_path / "y.jsonl").read_text("utf-8"))


def test_bom_crlf_and_blank_lines_are_no_obstacle(read):
    line = json.dumps(GOOD).encode()
    other = json.dumps(changed(doc_key="b")).encode()
    records = read(raw=b"\xef\xbb\xbf" + line + b"\r\n\r\n" + other)
    assert [r.doc_key for r in records] == ["a_1", "b"]
    assert records[1].source.endswith(":3")


def test_line_separators_of_unicode_end_no_line(read):
    (record,) = read(json.dumps(changed(sentences=[["a\u2028b\u0085c"]]), ensure_ascii=False))
    assert record.sentences == [["a\u2028b\u0085c"]]


def test_half_a_surrogate_pair_survives(read, tmp_path):
    (record,) = read(changed(sentences=[["\ud83d"]]))
    write_documents([record], tmp_path / "y.jsonl")
    assert read_documents(tmp_path / "y.jsonl")[0].sentences == [["\ud83d"]]


def test_a_dropped_field_of_a_character_is_told(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text(json.dumps(changed(characters=[{"name": "A", "mentions": [], "gender": "f"}])))
    report = ConversionReport()
    read_documents(path, report=report)
    assert [(item.count, item.examples) for item in report.not_kept] == [(1, ["a_1: gender"])]


@pytest.mark.parametrize(("fields", "place"), [
    ({"clusters": [[[0, 0], ["1", 2]]]}, "clusters[0][1]"),
    ({"clusters": [[[0, 0]], [[0.0, 1]]]}, "clusters[1][0]"),
    ({"clusters": [[[0, 0, 7]]]}, "clusters[0][0]"),
    ({"clusters": [[[0]]]}, "clusters[0][0]"),
    ({"clusters": [[[-1, 0]]]}, "clusters[0][0]"),
    ({"clusters": [[[3, 1]]]}, "clusters[0][0]"),
    ({"clusters": [[[True, True]]]}, "clusters[0][0]"),
    ({"clusters": [[[0, 99999999999999]]]}, "clusters[0][0]"),
    ({"clusters": [[None]]}, "clusters[0][0]"),
    ({"clusters": [[3]]}, "clusters[0][0]"),
    ({"clusters": [{"a": 1}]}, "clusters[0]"),
    ({"clusters": "none"}, "clusters"),
    ({"characters": [{"name": "A", "mentions": [[0, 0], [1, "x"]]}]}, "characters[0].mentions[1]"),
    ({"characters": [{"name": "A", "cluster": [[0, 0], 5]}]}, "characters[0].cluster[1]"),
    ({"characters": [{"name": None, "mentions": []}]}, "characters[0].name"),
    ({"characters": [{"name": "A"}]}, "characters[0].cluster"),
    ({"characters": ["A"]}, "characters[0]"),
    ({"characters": {"A": 3}}, "characters['A']"),
    ({"characters": {"name": ["A"], "mentions": []}}, "characters"),
    ({"sentences": [["a"], ["b", 3]]}, "sentences[1][1]"),
    ({"sentences": [["a"], "b c"]}, "sentences[1]"),
    ({"sentences": "a b"}, "sentences"),
    ({"doc_key": 3}, "doc_key"),
    ({"doc_key": ""}, "doc_key"),
    ({"gutenberg_key": ["1"]}, "gutenberg_key"),
])  # fmt: skip
def test_a_wrong_value_is_named_by_file_line_and_place(read, fields, place):
    with pytest.raises(FormatError) as caught:
        read(changed(doc_key="first"), changed(**fields))
    assert str(caught.value).splitlines()[0].endswith(f"x.jsonl:2: the record is not a document at {place}")
    assert caught.value.expected
    assert caught.value.found


@pytest.mark.parametrize("line", [
    '{"doc_key": "b", "clusters": [[[0, 0]]', "{", "[1, 2]", '"text"', "null", "doc_key\tclusters", "<html>",
    '{"doc_key": "b", "clusters": [], "clusters": []}', "[" * 200_000, '{"a": ' + "9" * 5000 + "}",
])  # fmt: skip
def test_a_line_that_is_no_document_is_named(read, line):
    with pytest.raises(FormatError, match=r"x\.jsonl:2"):
        read(GOOD, line)


def test_a_document_without_clusters_is_refused_because_it_would_score_zero(read):
    with pytest.raises(FormatError, match="clusters"):
        read({"doc_key": "a", "sentences": [["x"]]})
    assert read({"doc_key": "a", "sentences": [["x"]], "clusters": []})[0].clusters == []


def test_a_text_that_waits_for_annotation_can_be_asked_for(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text(json.dumps({"doc_key": "a", "sentences": [["x"]]}))
    assert read_documents(path, bare=True)[0].sentences == [["x"]]


def test_a_key_given_twice_is_reported_with_both_places(read):
    with pytest.raises(FormatError, match=r"x\.jsonl:3.*'a_1' is given twice") as caught:
        read(GOOD, changed(doc_key="b"), GOOD)
    assert caught.value.found.endswith("x.jsonl:1")


@pytest.mark.parametrize(("data", "word"), [
    (b'{"doc_key": "\xe9"}', "UTF-8"),
    ("{}".encode("utf-16"), "UTF-16"),
])  # fmt: skip
def test_another_encoding_is_named(read, data, word):
    with pytest.raises(FormatError, match=word):
        read(raw=data)


def test_a_missing_file_is_a_missing_source(tmp_path):
    with pytest.raises(SourceError, match=r"nowhere\.jsonl"):
        read_documents(tmp_path / "nowhere.jsonl")


def test_an_empty_file_holds_no_document(read):
    assert read(raw=b"") == []


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "x.jsonl.gz"
    write_documents([Record("a", clusters=[ANN])], path)
    before = path.read_bytes()

    def breaks():
        yield Record("b", clusters=[])
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write_documents(breaks(), path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["x.jsonl.gz"]


def test_the_released_predictions(shared_data):
    records = read_documents(shared_data / "systems/finetuned/maverick_xl.jsonl")
    assert [r.doc_key for r in records] == ["siddhartha_2500", "pride_and_prejudice_1342", "animal_farm_0"]
    assert [sum(map(len, r.sentences)) for r in records] == [47_785, 142_742, 34_979]
    assert sum(len(c) for r in records for c in r.clusters) == 23_722
    assert sum(len(r.clusters) for r in records) == 55
    split = read_documents(shared_data / "systems/finetuned/maverick_xl_splitted.jsonl")
    assert (len(split), sum(len(c) for r in split for c in r.clusters)) == (152, 23_354)


def test_speakers_and_layers_go_there_and_back(tmp_path):
    record = Record("a", "", [["Hi", "."], ["Bye"]], [], speakers=[["Ann", "Ann"], [""]],
                    layers={"xpos": [["UH", "."], ["UH"]]})  # fmt: skip
    write_documents([record], tmp_path / "x.jsonl")
    assert dataclasses.replace(read_documents(tmp_path / "x.jsonl")[0], source="") == record


@pytest.mark.parametrize(("value", "kept"), [
    (["Ann", "-", "Ann"], [["Ann", ""], ["Ann"]]),  # flat, as wl-coref has them
    ([["-", "-"], ["-"]], None),
])  # fmt: skip
def test_other_ways_to_write_speakers(value, kept, tmp_path):
    line = {"doc_key": "a", "sentences": [["Hi", "."], ["Bye"]], "clusters": [], "speakers": value}
    (tmp_path / "x.jsonlines").write_text(json.dumps(line))
    (record,) = read_documents(tmp_path / "x.jsonlines")
    assert (record.speakers, record.extra) == (kept, {})


def test_speakers_of_another_shape_stay_as_they_are(tmp_path):
    line = {"doc_key": "a", "sentences": [["Hi", "."]], "clusters": [], "speakers": [["Ann"]]}
    (tmp_path / "x.jsonl").write_text(json.dumps(line))
    (record,) = read_documents(tmp_path / "x.jsonl")
    assert (record.speakers, record.extra) == (None, {"speakers": [["Ann"]]})


def test_lines_of_fastcoref_need_a_key_and_the_message_says_how(tmp_path):
    line = json.dumps({"tokens": ["Ann", "ran"], "clusters": [[[0, 0]]]})
    (tmp_path / "x.jsonl").write_text(f"{line}\n{line}\n")
    with pytest.raises(FormatError) as caught:
        read_documents(tmp_path / "x.jsonl")
    for words in ("x.jsonl:1", "doc_key", "--doc-key NAME", "fastcoref"):
        assert words in str(caught.value)
    records = read_documents(tmp_path / "x.jsonl", doc_key="novel")
    assert [(r.doc_key, r.sentences, r.extra) for r in records] == [
        ("novel", [["Ann", "ran"]], {}), ("novel_2", [["Ann", "ran"]], {})]  # fmt: skip


def test_offsets_beyond_any_book_are_refused(tmp_path):
    (tmp_path / "x.jsonl").write_text('{"doc_key": "a", "clusters": [[[0, 2147483647]]]}')
    with pytest.raises(FormatError, match="not a document at clusters"):
        read_documents(tmp_path / "x.jsonl")
