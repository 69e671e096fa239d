"""Where corrections are kept when nobody names a file."""

from __future__ import annotations

from pathlib import Path

import bookcoref_data as bc
from bookcoref_data.api.reviewing import edits_beside


def test_corrections_of_a_data_set_stand_beside_it(tmp_path, monkeypatch):
    """`audit bookcoref` kept them inside, and the data set failed `verify` with exit code 4."""
    folder = tmp_path / "books.v1"
    bc.rebuild(folder, sample=True)
    assert edits_beside(folder) == tmp_path / "books.v1.edits.jsonl"
    monkeypatch.chdir(folder)
    assert edits_beside(Path()).resolve() == tmp_path / "books.v1.edits.jsonl"


def test_those_of_an_annotation_stand_in_its_folder_and_those_of_a_file_beside_it(tmp_path):
    assert edits_beside(tmp_path) == tmp_path / "edits.jsonl"
    assert edits_beside(tmp_path / "gold.conll") == tmp_path / "gold.edits.jsonl"
