"""Typed spans are read from three kinds of files, and nothing else is taken for them."""

from __future__ import annotations

import json

import pytest

from bookcoref_data.errors import FormatError
from bookcoref_data.formats.typed_spans import read_typed_spans, spans_of_tags


def write(path, *rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_spans_by_document(tmp_path):
    rows = [{"doc_key": "a", "spans": [[0, 1, "PERSON"]]}, {"doc_key": "b", "spans": []}]
    assert read_typed_spans(write(tmp_path / "l.jsonl", *rows)) == {"a": [(0, 1, "PER")], "b": []}


def test_tags_open_spans():
    tags = ["I-PER", "I-PER", "B-PER", "O", "I-LOC", "I-PER"]
    assert list(spans_of_tags(tags, 10)) == [
        (10, 11, "PER"),
        (12, 12, "PER"),
        (14, 14, "LOC"),
        (15, 15, "PER"),
    ]


def test_the_output_of_cner(tmp_path):
    rows = [{"sentence_id": i, "tokens": ["x", "y"], "predictions": ["O", "B-PER"]} for i in range(2)]
    path = write(tmp_path / "cner.jsonl", *rows)
    assert read_typed_spans(path, "book") == {"book": [(1, 1, "PER"), (3, 3, "PER")]}
    with pytest.raises(FormatError, match="doc_key"):
        read_typed_spans(path)


def test_entity_types_of_brat(tmp_path):
    (tmp_path / "a.txt").write_text("Anna saw a dog .", encoding="utf-8")
    (tmp_path / "a.ann").write_text("T1\tPROP_PER 0 4\tAnna\nT2\tNOM_VEH 9 14\ta dog\n", encoding="utf-8")
    assert read_typed_spans(tmp_path / "a.ann") == {"a": [(0, 0, "PER"), (2, 3, "VEH")]}


@pytest.mark.parametrize("row", [
    {"doc_key": "a", "spans": [[1, 0, "PER"]]}, {"doc_key": "a", "spans": [[0, 1]]}, {"spans": []},
    {"doc_key": "a", "clusters": []}, {"tokens": ["x"], "predictions": ["O", "O"]},
    [1], {"doc_key": "a", "spans": [[0, 1, ""]]}, {"doc_key": "a", "spans": [[0, -1, "PER"]]},
    {"tokens": ["x"], "predictions": [None]}, {"doc_key": 1, "spans": []},
])  # fmt: skip
def test_what_holds_no_typed_spans_is_refused_with_its_place(tmp_path, row):
    with pytest.raises(FormatError, match=r"l\.jsonl"):
        read_typed_spans(write(tmp_path / "l.jsonl", row), "a")
