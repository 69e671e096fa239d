"""Bytes of every era become the same text."""

import pytest

from bookcoref_data.errors import DataError
from bookcoref_data.text.decode import decode

TEXT = "Ántonia’s “prairie” — naïve\nsecond line\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_marks_and_line_ends_vanish(encoding, line_end):
    assert decode(TEXT.replace("\n", line_end).encode(encoding)).text == TEXT


def test_latin1_and_windows_are_told_apart():
    assert decode("naïve café".encode("latin-1")) == ("naïve café", "latin-1")
    assert decode("“naïve” — café".encode("cp1252")) == ("“naïve” — café", "cp1252")
    assert decode(b"plain") == ("plain", "utf-8")


def test_binary_files_are_refused():
    with pytest.raises(DataError, match="not a text file"):
        decode(b"PK\x03\x04\x00\x00 zip")
    with pytest.raises(DataError, match="byte order mark"):
        decode(b"\xef\xbb\xbfgood\xff")


def test_real_numbered_files_equal_their_utf8_edition(shared_data):
    mirror = shared_data / "gutenberg"
    plain = decode((mirror / "2/5/0/2500/2500-8.txt").read_bytes())
    marked = decode((mirror / "1/3/4/1342/1342-0.txt").read_bytes())
    assert plain.encoding == "latin-1"
    assert marked.encoding == "utf-8"
    assert marked.text == decode((mirror / "cache/epub/1342/pg1342.txt").read_bytes()).text
