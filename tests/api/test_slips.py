"""Slips of people who correct a book: none changes much of somebody else without a word."""

from __future__ import annotations

import pytest

from benchmarks.bench_slips import KINDS, SILENT, TOLD, outcomes


@pytest.mark.slow
@pytest.mark.long
def test_none_of_fifty_slips_is_silent(tmp_path):
    told = outcomes(tmp_path, each=5)
    assert sum(counts.total() for counts in told.values()) == 5 * len(KINDS) == 50
    assert {kind: counts[SILENT] for kind, counts in told.items()} == dict.fromkeys(KINDS, 0)
    assert told["part of a name"][TOLD] == told["renamed"][TOLD] == 5
