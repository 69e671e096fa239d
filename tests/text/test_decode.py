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
    assert decode("naïve café".encode("latin-1")) == ("naïve café", "latin-1", ())
    assert decode("“naïve” — café".encode("cp1252")) == ("“naïve” — café", "cp1252", ())
    assert decode(b"plain") == ("plain", "utf-8", ())


def test_utf8_with_a_stray_byte_stays_utf8_and_says_so():
    good = "Ántonia saw the café. " * 40
    data = good.encode() + b"Jos\xe9\x20left\x92s.\r\nHe \xe2\x80 went."
    found = decode(data)
    assert found.text == good + "José left’s.\nHe \ufffd went."
    assert found.encoding == "utf-8"
    assert [data[m.start : m.end] for m in found.mended] == [b"\xe9", b"\x92", b"\xe2\x80"]
    assert [m.text for m in found.mended] == ["é", "’", "\ufffd"]
    assert found.note("x.txt").startswith("x.txt: 3 broken UTF-8 sequences, read as 'é' at byte")
    assert decode(b"\xef\xbb\xbf" + data).text == found.text


def test_a_file_with_more_broken_than_sound_sequences_is_another_encoding():
    assert decode("é ô".encode() + b" \xe9 \xe8 \xe0").encoding == "latin-1"
    many = "Ántonia. ".encode() * 1000 + b"caf\xe9 " * 20
    assert decode(many).encoding == "latin-1"
    assert decode("Ántonia. ".encode() * 1000 + b"caf\xe9 " * 3).encoding == "utf-8"


def test_binary_files_are_refused():
    with pytest.raises(DataError, match="not a text file"):
        decode(b"PK\x03\x04\x00\x00 zip")
    with pytest.raises(DataError, match="byte order mark") as error:
        decode(b"\xef\xbb\xbfgo\r\nod\xff")
    assert error.value.found == "byte 0xff at 9"


def test_real_numbered_files_equal_their_utf8_edition(shared_data):
    mirror = shared_data / "gutenberg"
    plain = decode((mirror / "2/5/0/2500/2500-8.txt").read_bytes())
    marked = decode((mirror / "1/3/4/1342/1342-0.txt").read_bytes())
    assert plain.encoding == "latin-1"
    assert marked.encoding == "utf-8"
    assert marked.text == decode((mirror / "cache/epub/1342/pg1342.txt").read_bytes()).text
