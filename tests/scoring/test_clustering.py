"""Mentions as arrays: equal spans have equal codes, whatever offsets a flawed file holds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bookcoref_data.errors import DataError
from bookcoref_data.scoring.clustering import members, span_codes

SPANS = st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9)), min_size=1, max_size=6)


@given(st.lists(SPANS, min_size=1, max_size=3), st.lists(SPANS, min_size=1, max_size=3))
def test_codes_are_equal_exactly_when_unit_start_and_end_are(key, response):
    units = max(len(key), len(response))
    sides = [members([[c] for c in side] + [[]] * (units - len(side))) for side in (key, response)]
    codes = [code for side in span_codes(*sides) for code in side.tolist()]
    spans = [
        (unit, *span)
        for side in sides
        for unit, *span in zip(side.unit.tolist(), side.start.tolist(), side.end.tolist(), strict=True)
    ]
    for a, one in zip(codes, spans, strict=True):
        for b, other in zip(codes, spans, strict=True):
            assert (a == b) == (one == other)


def far(units):
    """Starts over 2**31 tokens and lengths over 2**30: 2**61 codes in each unit, and a few more."""
    one = [[(0, 0), (0, 2**30), (2**31 - 1, 2**31 - 1)]]
    return members([one, *([[(0, 0)]] for _ in range(units - 1))])


def test_offsets_may_be_as_far_apart_as_their_codes_fit_64_bits():
    codes, _ = span_codes(far(1), members([[]]))
    assert len(set(codes.tolist())) == 3
    with pytest.raises(DataError, match="too far apart"):
        span_codes(far(2), members([[], []]))
    with pytest.raises(DataError, match="too far apart"):
        span_codes(members([[], []]), far(2))


def test_no_mentions_have_no_codes():
    assert [codes.tolist() for codes in span_codes(members([[]]), members([[]]))] == [[], []]
