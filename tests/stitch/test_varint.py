"""Numbers as bytes and back; damaged ones are refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bookcoref_data.errors import DataError
from bookcoref_data.stitch.varint import (
    LIMIT,
    pack_increasing,
    pack_numbers,
    unpack_increasing,
    unpack_numbers,
)


@given(st.lists(st.integers(0, LIMIT - 1)))
def test_numbers_come_back(numbers):
    assert unpack_numbers(pack_numbers(numbers)).tolist() == numbers


@given(st.sets(st.integers(0, 10_000)))
def test_positions_come_back(positions):
    ordered = np.array(sorted(positions), dtype=np.int64)
    assert unpack_increasing(pack_increasing(ordered), 10_001).tolist() == ordered.tolist()


def test_the_encoding_is_leb128():
    assert pack_numbers([0, 127, 128, 300]) == bytes([0, 0x7F, 0x80, 0x01, 0xAC, 0x02])


@pytest.mark.parametrize("data", [b"\x80", b"\x01\xff", b"\xff" * 9 + b"\x01", b"\xff\xff\xff\xff\xff\x7f"])
def test_damaged_numbers_are_refused(data):
    with pytest.raises(DataError):
        unpack_numbers(data)


def test_positions_beyond_the_end_are_refused():
    with pytest.raises(DataError):
        unpack_increasing(pack_increasing(np.array([3, 10])), 10)
    with pytest.raises(DataError):
        unpack_increasing(b"\x00" * 20, 10)


@pytest.mark.parametrize("number", [-1, LIMIT])
def test_numbers_out_of_range_are_not_written(number):
    with pytest.raises(DataError):
        pack_numbers([number])


@given(st.binary(max_size=200))
def test_any_bytes_are_numbers_or_refused(data):
    try:
        values = unpack_numbers(data)
    except DataError:
        return
    assert ((values >= 0) & (values < LIMIT)).all()
