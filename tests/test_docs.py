"""The pages in docs/ and the README read well in a terminal and in a diff."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
LONGEST = 120


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_no_line_outside_a_table_is_too_long(page):
    lines = enumerate(page.read_text(encoding="utf-8").splitlines(), start=1)
    assert [n for n, line in lines if len(line) > LONGEST and not line.lstrip().startswith("|")] == []
