"""Packed files: bounded, and damage is noticed."""

from __future__ import annotations

import gzip

import pytest
import zstandard

from bookcoref_data.errors import FormatError, SourceError
from bookcoref_data.formats import compressed
from bookcoref_data.formats.compressed import packing, read_bytes
from bookcoref_data.formats.lines import read_lines

TEXT = b"".join(b"line %d\n" % i for i in range(50_000))
PACKERS = {".gz": gzip.compress, ".zst": zstandard.ZstdCompressor().compress}


@pytest.mark.parametrize("suffix", PACKERS)
def test_the_bytes_decide_not_the_name(suffix, tmp_path):
    path = tmp_path / "plain.txt"
    path.write_bytes(PACKERS[suffix](TEXT))
    assert read_bytes(path) == TEXT


@pytest.mark.parametrize("suffix", PACKERS)
def test_several_members_are_one_text(suffix, tmp_path):
    path = tmp_path / "two"
    path.write_bytes(PACKERS[suffix](TEXT) + PACKERS[suffix](b"end\n"))
    assert list(read_lines(path))[-2:] == ["line 49999", "end"]


@pytest.mark.parametrize("suffix", PACKERS)
def test_a_cut_file_is_noticed_not_read_short(suffix, tmp_path):
    path = tmp_path / "cut"
    packed = PACKERS[suffix](TEXT)
    for size in (len(packed) - 1, len(packed) // 2):
        path.write_bytes(packed[:size])
        with pytest.raises(FormatError, match=r"cut.*(damaged|cut short)"):
            read_bytes(path)


@pytest.mark.parametrize("suffix", PACKERS)
def test_a_bomb_is_refused_before_it_fills_the_memory(suffix, tmp_path, monkeypatch):
    monkeypatch.setattr(compressed, "ALWAYS_ALLOWED", 1 << 20)
    path = tmp_path / "bomb"
    path.write_bytes(PACKERS[suffix](bytes(32 << 20)))
    with pytest.raises(FormatError, match="unpacks to far more"):
        read_bytes(path)


@pytest.mark.parametrize("suffix", ["", *PACKERS])
def test_equal_content_gives_equal_bytes(suffix, tmp_path):
    for name in ("one", "two"):
        with packing(tmp_path / f"{name}{suffix}") as stream:
            stream.write(TEXT)
    assert (tmp_path / f"one{suffix}").read_bytes() == (tmp_path / f"two{suffix}").read_bytes()
    assert read_bytes(tmp_path / f"one{suffix}") == TEXT


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(SourceError):
        read_bytes(tmp_path)


def test_line_feeds_and_carriage_returns_end_lines_and_nothing_else(tmp_path):
    path = tmp_path / "x"
    path.write_bytes("\ufeffa\u2028b\x0bc\r\nd\re\n\nf".encode())
    assert list(read_lines(path)) == ["a\u2028b\x0bc", "d", "e", "", "f"]


def test_the_line_of_a_wrong_byte_is_named(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"a\nb\xe9\n")
    with pytest.raises(FormatError, match=r"x:2: is not UTF-8") as caught:
        list(read_lines(path))
    assert "0xe9 at byte 2" in caught.value.found
