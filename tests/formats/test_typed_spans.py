"""Typed spans are read from three kinds of files, and nothing else is taken for them."""

from __future__ import annotations

import json

import pytest

from bookcoref_data.errors import DataError, FormatError
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


def test_spans_on_other_tokens_than_those_asked_for_are_moved_and_it_is_said(tmp_path):
    """Their labels lay on the wrong words, each further off than the one before, and nobody was told."""
    words = {"b": ["Dear", "Anna-Lise", "saw", "the", "old", "dog", "."]}
    cut = ["Dear", "Anna", "-", "Lise", "saw", "the", "cat", "and", "dog", "."]
    tags = ["O", "B-PER", "I-PER", "I-PER", "O", "O", "B-ANIMAL", "O", "B-ANIMAL", "O"]
    rows = [{"doc_key": "b", "tokens": cut, "predictions": tags}]
    rows_of_spans = [
        {"doc_key": "b", "spans": [[1, 3, "PER"], [6, 6, "ANIMAL"], [8, 8, "ANIMAL"]], "sentences": [cut]}
    ]
    for file in (write(tmp_path / "c.jsonl", *rows), write(tmp_path / "s.jsonl", *rows_of_spans)):
        notes: list[str] = []
        assert read_typed_spans(file, None, words, notes) == {"b": [(1, 1, "PER"), (5, 5, "ANIMAL")]}
        assert notes == [
            "b: its typed spans stand on other tokens than the key (10 for 7): moved by their characters, "
            "1 lost"
        ]
    same = {"b": cut}
    assert read_typed_spans(file, None, same, notes) == {
        "b": [(1, 3, "PER"), (6, 6, "ANIMAL"), (8, 8, "ANIMAL")]
    }
    with pytest.raises(DataError, match="b: most of its typed spans are not in the text of the key"):
        read_typed_spans(file, None, {"b": ["Quite", "another", "text"]}, notes)
    assert len(notes) == 1


@pytest.mark.parametrize("row", [
    {"doc_key": "a", "spans": [[1, 0, "PER"]]}, {"doc_key": "a", "spans": [[0, 1]]}, {"spans": []},
    {"doc_key": "a", "clusters": []}, {"tokens": ["x"], "predictions": ["O", "O"]},
    [1], {"doc_key": "a", "spans": [[0, 1, ""]]}, {"doc_key": "a", "spans": [[0, -1, "PER"]]},
    {"tokens": ["x"], "predictions": [None]}, {"doc_key": 1, "spans": []},
])  # fmt: skip
def test_what_holds_no_typed_spans_is_refused_with_its_place(tmp_path, row):
    with pytest.raises(FormatError, match=r"l\.jsonl"):
        read_typed_spans(write(tmp_path / "l.jsonl", row), "a")
