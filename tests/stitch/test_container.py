"""The parts of a pack: limits are part of the format, and a reader says what it found."""

from __future__ import annotations

import struct

import pytest

from bookcoref_data.errors import DataError, FormatError
from bookcoref_data.stitch.chars import visible
from bookcoref_data.stitch.container import (
    MAGIC,
    is_container,
    read_container,
    read_directory,
    write_container,
)
from bookcoref_data.stitch.edits import Edits
from bookcoref_data.stitch.pack import dissect
from bookcoref_data.stitch.spans import Standoff, unpack_annotation
from bookcoref_data.stitch.token_boundaries import encode_cuts
from bookcoref_data.stitch.varint import pack_numbers
from bookcoref_data.text.tokens import tokenize_official

MIB = 1 << 20


def directory(*sizes, room=0):
    """The front of a pack with sections of these unpacked sizes, stored in no bytes at all."""
    entries = [struct.pack("<4sBII", f"S{i:03}".encode(), 1, size, 0) for i, size in enumerate(sizes)]
    return MAGIC + bytes([len(entries)]) + b"".join(entries) + b"\0" * (room + 32)


def test_a_section_has_eight_mebibytes_and_all_have_24_at_most():
    for sizes in ((8 * MIB,), (8 * MIB,) * 3):
        found, at = read_directory(directory(*sizes))
        assert [size for _, _, size, _ in found] == list(sizes)
        assert at == len(MAGIC) + 1 + 13 * len(sizes)
    for sizes in ((8 * MIB + 1,), (8 * MIB, 8 * MIB, 8 * MIB, 1)):
        with pytest.raises(FormatError, match="unpacked size") as error:
            read_directory(directory(*sizes))
        assert (error.value.expected, error.value.found) == (
            f"at most {24 * MIB:,} bytes", f"{sum(sizes):,} bytes",
        )  # fmt: skip


def test_what_a_reader_would_refuse_is_not_written():
    assert read_container(write_container({"DATA": b"\0" * (8 * MIB)})) == {"DATA": b"\0" * (8 * MIB)}
    with pytest.raises(DataError, match="section DATA has 8,388,609 bytes"):
        write_container({"DATA": b"\0" * (8 * MIB + 1)})


def test_a_pack_has_32_sections_at_most():
    assert len(read_directory(directory(*[1] * 32))[0]) == 32
    with pytest.raises(FormatError, match="whole directory"):
        read_directory(directory(*[1] * 33))


def test_a_directory_that_is_cut_or_too_long_is_refused():
    whole = directory(5, 6)
    with pytest.raises(FormatError, match="whole directory"):
        read_directory(whole[:-1])
    with pytest.raises(FormatError, match="length of its sections") as error:
        read_directory(directory(5, 6, room=3))
    assert (error.value.expected, error.value.found) == (0, 3)
    with pytest.raises(FormatError, match="whole directory"):
        read_directory(MAGIC)


def test_empty_sections_are_left_out_and_small_ones_are_stored_as_they_are():
    made = write_container({"NONE": b"", "TINY": b"ab", "LONG": b"a" * 1000})
    found, _ = read_directory(made)
    assert [(name, method, raw) for name, method, raw, _ in found] == [("TINY", 0, 2), ("LONG", 1, 1000)]
    assert read_container(made) == {"TINY": b"ab", "LONG": b"a" * 1000}


def test_a_pack_of_any_version_is_known_by_its_first_bytes():
    assert is_container(MAGIC[:-1] + b"\x09")
    assert is_container(MAGIC[:-1])
    assert not is_container(MAGIC[:-2])
    assert not is_container(b"x" + MAGIC)


def test_edits_that_do_not_fit_their_count_say_what_is_missing():
    with pytest.raises(DataError) as error:
        Edits.from_bytes(pack_numbers([2, 1, 1, 0, 0, 0]), b"")
    assert (error.value.expected, error.value.found) == (7, 6)
    with pytest.raises(DataError) as error:
        Edits.from_bytes(b"", b"")
    assert (error.value.expected, error.value.found) == (1, 0)
    with pytest.raises(DataError) as error:
        Edits.from_bytes(pack_numbers([1, 1, 0, 3]), b"ab")
    assert (error.value.expected, error.value.found) == (3, 2)
    assert Edits.from_bytes(pack_numbers([1, 1, 0, 2]), b"ab").literals == "ab"


def test_the_longest_literal_and_the_characters_that_are_visible():
    edits = Edits.from_bytes(pack_numbers([2, 1, 1, 0, 0, 3, 2]), b"a bcd")
    assert (edits.longest_literal, edits.literal_characters) == (3, 4)
    none = Edits.from_bytes(pack_numbers([0]), b"")
    assert (none.longest_literal, none.literal_characters) == (0, 0)


def test_an_annotation_of_nothing_is_read_and_one_cut_short_is_not():
    assert unpack_annotation(pack_numbers([0, 0, 0]), b"[]", 5) == Standoff()
    for numbers in ([], [0], [0, 0], [1, 1, 0], [0, 0, 1], [0, 1, 1, 0]):
        with pytest.raises(DataError, match="its beginning"):
            unpack_annotation(pack_numbers(numbers), b"[]", 5)


@pytest.mark.parametrize(
    ("numbers", "names", "part"),
    [
        ([1, 1, 0, 1, 4], "[]", "the number of mentions"),
        ([2, 1, 0, 1, 4, 0, 0], "[]", "the number of mentions"),
        ([0, 1, 1, 1, 1, 4, 0, 0], "[]", "the number of mentions"),
        ([1, 1, 0, 1, 5, 0, 0], "[]", "a mention"),
        ([1, 1, 0, 1, 4, 1, 0], "[]", "a mention"),
        ([1, 1, 0, 1, 4, 0, 1], "[]", "a mention"),
        ([1, 2, 0, 1, 0, 4, 0, 1], "[]", "the size of a cluster"),
        ([1, 1, 0, 1, 4, 0, 0], '["A"]', "the names"),
    ],
)
def test_numbers_of_an_annotation_that_do_not_fit_are_named(numbers, names, part):
    whole = unpack_annotation(pack_numbers([1, 1, 1, 0, 1, 4, 0, 0]), b'["A"]', 5)
    assert whole == Standoff.make([[(4, 4)]], [("A", [(4, 4)])])
    with pytest.raises(DataError, match=f"broken: {part} does not fit"):
        unpack_annotation(pack_numbers(numbers), names.encode(), 5)


@pytest.mark.parametrize("text", ["it's I'm", "a--", "so... so.", "He didn't. “Go!”"])
def test_what_stands_behind_the_last_character_changes_no_cut(text):
    _, cuts = dissect(tokenize_official(text))
    assert encode_cuts(visible(text), cuts) == encode_cuts(visible(text + "\n"), cuts)
