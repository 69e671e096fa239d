"""Slips of people who correct a book: none changes much of somebody else without a word."""

from __future__ import annotations

import json

import pytest

import bookcoref_data as bc
from benchmarks.bench_slips import KINDS, SILENT, TOLD, outcomes


@pytest.mark.slow
@pytest.mark.long
def test_no_slip_is_silent(tmp_path):
    """Two of each kind; `benchmarks/bench_slips.py` makes five, fifty in all."""
    told = outcomes(tmp_path, each=2)
    assert {kind: counts.total() for kind, counts in told.items()} == dict.fromkeys(KINDS, 2)
    assert {kind: counts[SILENT] for kind, counts in told.items()} == dict.fromkeys(KINDS, 0)
    assert told["part of a name"][TOLD] == told["renamed"][TOLD] == 2


@pytest.mark.long
def test_a_correction_that_is_left_out_changes_nothing_elsewhere(tmp_path):
    """It was counted as if it had been done: two people were one in the table, and nothing was written."""
    bc.sample(tmp_path)
    edits = tmp_path / "edits.jsonl"
    edits.write_text(json.dumps({"op": "rename", "character": "Abel Tully", "name": "Sam Tully"}) + "\n")
    done = bc.annotate(tmp_path / "lamp.txt", tmp_path / "cast.txt", edits=edits, dry_run=True)
    assert [c.reason for c in done.conflicts] == ["there is a 'Sam Tully' already; to join them, merge"]
    assert done.effects == ()


@pytest.mark.long
def test_an_answer_about_words_is_one_decision_of_two_people(tmp_path):
    """Each counted as three, so that kappa said too much."""
    from bookcoref_data.asking import agreement
    from bookcoref_data.edits import parse_edits

    at = {"tokens": [3, 4], "words": "old Sam"}
    whole, other = ({"op": "seen", "at": at, "name": name} for name in ("old Sam", "cannot tell"))
    (said,), (unsure,) = (parse_edits(json.dumps(edit)) for edit in (whole, other))
    assert agreement([said], [said]).both == 1
    assert agreement([said], [unsure]).both == 0
    audited = parse_edits(json.dumps(whole | {"name": "right as it is", "why": "gender: he"}))
    link = parse_edits(json.dumps({"op": "link", "at": at, "character": "Sam"}))
    assert (agreement(audited, link).both, agreement(audited, link).same) == (1, 0)
