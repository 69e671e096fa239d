"""The table of works that a person fills in: one reader for overrides and for texts of guides."""

from __future__ import annotations

from pathlib import Path

import pytest

from bookcoref_data.errors import FormatError, SourceError, UsageError
from bookcoref_data.workflows.guide_texts import read_works
from bookcoref_data.workflows.match import load_overrides

HEAD = "decision\twhy\tsource\twork_id\tgutenberg_id\n"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return tmp_path / "works.tsv"


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_both_readers_take_what_a_spreadsheet_writes(table, ends):
    rows = '8\t"so" it is\tshmoop\tferry\t7\n\t\tshmoop\tinn\n\n'
    table.write_bytes(("\ufeff" + HEAD + rows).replace("\n", ends).encode())
    (one,) = load_overrides(table)
    assert (one.work_id, one.gutenberg_id, one.reason) == ("ferry", 8, '"so" it is')
    assert read_works(table) == {("shmoop", "ferry"): "7"}


@pytest.mark.parametrize("read", [load_overrides, read_works])
@pytest.mark.parametrize("content", [HEAD.encode("utf-16"), b"PK\x03\x04\xe9", b"", b"title\tauthor\n"])
def test_another_file_is_refused_with_a_message(table, read, content):
    table.write_bytes(content)
    with pytest.raises(FormatError, match=r"works\.tsv"):
        read(table)


@pytest.mark.parametrize("read", [load_overrides, read_works])
def test_a_missing_table_is_named(table, read):
    with pytest.raises(SourceError, match="cannot read"):
        read(table)


def test_a_decision_that_is_none_is_named_with_its_line(table):
    table.write_text(HEAD + "8\t\tshmoop\tinn\t\n\nperhaps\t\tshmoop\tferry\t7\n")
    with pytest.raises(UsageError, match=r"works\.tsv:4: decision = 'perhaps'"):
        load_overrides(table)
