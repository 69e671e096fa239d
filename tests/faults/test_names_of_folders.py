"""Names that some disk or library does not take, or takes for one."""

import os

import pytest

import bookcoref_data as bc
from bookcoref_data.errors import DataError, SourceError
from bookcoref_data.files import write_text
from bookcoref_data.outputs import whole


@pytest.mark.skipif(os.name != "posix", reason="names are bytes on POSIX only")
def test_a_name_that_is_not_utf8_is_refused_before_anything_is_written(tmp_path):
    out = tmp_path / os.fsdecode(b"bad\xff")
    with pytest.raises(SourceError, match="cannot use the folder") as told:
        bc.rebuild(out, sample=True, cache_dir=tmp_path / "cache", jobs=1)
    assert told.value.found == "its name is not UTF-8"
    assert not out.exists()


def test_names_that_differ_in_the_way_an_accent_is_written_are_one_file_on_some_disks(tmp_path):
    out = tmp_path / "out"

    def write() -> None:
        with whole(out, "annotation"):
            write_text(out / "caf\u00e9.txt", "a")
            write_text(out / "cafe\u0301.txt", "b")

    with pytest.raises(DataError, match="are one file on some disks"):
        write()
    assert not out.exists()
