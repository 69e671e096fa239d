"""The pages in docs/ and the README read well in a terminal and in a diff."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
LONGEST = 120


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_no_line_outside_a_table_is_too_long(page):
    lines = enumerate(page.read_text(encoding="utf-8").splitlines(), start=1)
    assert [n for n, line in lines if len(line) > LONGEST and not line.lstrip().startswith("|")] == []


def how_to_pages() -> list[str]:
    """The pages that the site lists under "How to" and "Sister tasks": one task each."""
    nav = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]
    parts = {title: pages for part in nav for title, pages in part.items()}
    return [place for part in ("How to", "Sister tasks") for page in parts[part] for place in page.values()]


@pytest.mark.parametrize("page", how_to_pages())
def test_a_how_to_page_is_read_in_five_minutes(page):
    assert len((ROOT / "docs" / page).read_text(encoding="utf-8").split()) <= 1200


def test_a_section_of_results_takes_the_place_of_the_one_before():
    from benchmarks.results import put, section

    first = section("speed", "Speed", "run it", "abc1234", "2026-01-01", "| a |\n|---|\n| 1 |")
    page = put("# Results\n", "speed", first) + "\nText of a person.\n"
    again = put(page, "speed", section("speed", "Speed", "run it", "def5678", "2026-01-02", "as it stands"))
    assert "abc1234" not in again
    assert "commit def5678, 2026-01-02\n\n```\nas it stands\n```" in again
    assert again.endswith("Text of a person.\n")
    assert put(again, "size", section("size", "Size", "x", "1", "2", "# y")).count("<!-- begin") == 2


def test_every_section_of_results_names_its_command_and_commit():
    page = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
    sections = re.findall(r"<!-- begin (\S+) -->\n(.*?)<!-- end \1 -->", page, re.DOTALL)
    assert len(sections) == page.count("<!-- begin")
    assert [key for key, text in sections if not re.search(r"`[^`]+`.*, commit\s[0-9a-f]{7}", text)] == []
