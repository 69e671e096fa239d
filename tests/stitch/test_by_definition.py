"""Alignments and landmarks against the slow way."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bookcoref_data.errors import DataError, FormatError
from bookcoref_data.stitch.alignment import FAR_REACH, LEAST_SUPPORT, REACH, lone, span_of_matches, supported
from bookcoref_data.stitch.fingerprint import Fingerprint, codes_for, make_fingerprint
from bookcoref_data.stitch.pack import (
    MOST_PLACES,
    PROBE,
    Landmarks,
    dissect,
    find_body,
    join_tokens,
    landmarks_of,
)
from bookcoref_data.stitch.varint import (
    LIMIT,
    pack_increasing,
    pack_numbers,
    unpack_increasing,
    unpack_numbers,
)


@st.composite
def partners(draw):
    """An alignment that keeps the order: the partner of each token, -1 for none."""
    steps = draw(st.lists(st.tuples(st.booleans(), st.integers(1, 4)), max_size=40))
    at, found = -1, []
    for matched, step in steps:
        at += step
        found.append(at if matched else -1)
    return np.array(found, dtype=np.int64)


def slow_lone(partner):
    pairs = [(i, p) for i, p in enumerate(partner.tolist()) if p >= 0]
    alone = np.zeros(len(partner), dtype=bool)
    for k, (i, p) in enumerate(pairs):
        old_before = i - (pairs[k - 1][0] if k else -1) - 1
        old_after = (pairs[k + 1][0] if k + 1 < len(pairs) else len(partner)) - i - 1
        new_before = p - pairs[k - 1][1] - 1 if k else 0
        new_after = pairs[k + 1][1] - p - 1 if k + 1 < len(pairs) else 0
        both = old_before + new_before > 0 and old_after + new_after > 0
        alone[i] = both and old_before + old_after > 0 and new_before + new_after > 0
    return alone


def slow_supported(partner):
    pairs = [(i, p) for i, p in enumerate(partner.tolist()) if p >= 0]
    good = np.zeros(len(partner), dtype=bool)
    for i, p in pairs:
        near = [
            sum(abs(i - j) <= one and abs(p - q) <= other for j, q in pairs) - 1
            for one, other in ((REACH, FAR_REACH), (FAR_REACH, REACH))
        ]
        good[i] = max(near) >= min(LEAST_SUPPORT, len(pairs) - 1)
    return good


@given(partners())
def test_lone_and_supported_matches_are_their_definitions(partner):
    np.testing.assert_array_equal(lone(partner), slow_lone(partner))
    np.testing.assert_array_equal(supported(partner), slow_supported(partner))


@pytest.mark.parametrize("count", range(1, LEAST_SUPPORT + 3))
def test_matches_in_one_place_support_each_other(count):
    scattered = np.full(5000, -1)
    scattered[:count] = np.arange(count)
    assert supported(scattered)[:count].all()
    scattered[4000] = 4000
    assert supported(scattered)[:count].all() == (count - 1 >= min(LEAST_SUPPORT, count))


@pytest.mark.parametrize(
    ("partner", "size", "span"),
    [
        ([], 9, (0, 0)),
        ([-1, -1], 9, (0, 0)),
        ([3], 9, (3, 4)),
        ([3, 4, 5], 9, (3, 6)),
        ([8, -1, 2], 9, (2, 9)),
        ([*range(100, 300), 5000], 6000, (100, 300)),
        ([0, *range(1000, 1200)], 6000, (1000, 1200)),
        ([0, 1000, 3000], 6000, (0, 3001)),
    ],
)
def test_the_span_of_dense_matches(partner, size, span):
    assert span_of_matches(np.array(partner, dtype=np.int64), size) == span


@pytest.mark.parametrize(("gap", "start"), [(83, 0), (84, 84)])
def test_how_dense_matches_must_be(gap, start):
    """Fifty matches on in 50 / 0.6 = 83.3 tokens."""
    to = np.array([0, *range(gap - 49, gap + 300)])
    assert span_of_matches(to, 10_000)[0] == (0 if start == 0 else gap - 49)


def test_a_body_is_found_where_it_was_then_elsewhere():
    rng = np.random.default_rng(3)
    text = rng.integers(97, 123, 500).astype(np.uint8)
    marks = landmarks_of(text, 100, 200)
    assert list(find_body(text, marks)) == [100]
    assert (marks.start, marks.length) == (100, 200)
    moved = np.concatenate([text[:7], text])
    assert list(find_body(moved, marks)) == [107]
    assert list(find_body(text[100:300], marks)) == [0]
    assert list(find_body(text[101:300], marks)) == []
    twice = np.concatenate([text] * 7)
    assert list(find_body(twice, marks)) == [100 + 500 * i for i in range(MOST_PLACES + 1)]
    changed = text.copy()
    changed[299] ^= 1
    assert list(find_body(changed, marks)) == []
    changed = text.copy()
    changed[200] ^= 1
    assert list(find_body(changed, marks)) == [100]
    assert Landmarks.from_dict(marks.to_dict()) == marks


@pytest.mark.parametrize(("length", "known"), [(PROBE - 1, False), (PROBE, True)])
def test_a_short_body_has_no_hash(length, known):
    text = np.arange(200, dtype=np.uint8)
    marks = landmarks_of(text, 10, length)
    assert (marks.first != 0, marks.last != 0) == (known, known)
    assert list(find_body(text, marks)) == [10]
    assert list(find_body(text[: 10 + length], marks)) == [10]
    assert list(find_body(text[: 9 + length], marks)) == []


@pytest.mark.parametrize(
    ("number", "data"),
    [
        (0, "00"),
        (1, "01"),
        (127, "7f"),
        (128, "8001"),
        (16383, "ff7f"),
        (16384, "808001"),
        (LIMIT - 1, "ffffffffff07"),
    ],
)
def test_numbers_are_these_bytes(number, data):
    assert pack_numbers([number]).hex() == data
    assert unpack_numbers(bytes.fromhex(data)).tolist() == [number]
    assert unpack_numbers(bytes.fromhex(data + "05" + data)).tolist() == [number, 5, number]


@pytest.mark.parametrize("data", ["80", "0580", "ffffffffffff01", "808080808008", "ffffffffff08"])
def test_what_is_no_number(data):
    with pytest.raises(DataError):
        unpack_numbers(bytes.fromhex(data))


def test_numbers_have_a_limit():
    for number in (-1, LIMIT):
        with pytest.raises(DataError) as caught:
            pack_numbers([number])
        assert caught.value.expected == f"0 to {2**38 - 1}"
    assert pack_increasing(np.array([0, 1, 5])).hex() == "000003"
    assert unpack_increasing(bytes.fromhex("000003"), 6).tolist() == [0, 1, 5]
    with pytest.raises(DataError, match="points outside its text") as caught:
        unpack_increasing(bytes.fromhex("000003"), 5)
    assert (caught.value.expected, caught.value.found) == ("below 5", 5)
    with pytest.raises(DataError, match="holds 3 positions"):
        unpack_increasing(bytes.fromhex("000003"), 2)
    assert unpack_increasing(b"", 0).tolist() == []


@pytest.mark.parametrize(("bits", "sound"), [(1, False), (2, True), (8, True), (9, False)])
def test_a_fingerprint_has_two_to_eight_bits(bits, sound):
    if not sound:
        with pytest.raises(DataError) as caught:
            make_fingerprint(["a"], bits)
        assert caught.value.expected == "2 to 8"
        with pytest.raises(FormatError):
            Fingerprint.from_bytes(bytes([bits, 1]), 1)
        return
    made = make_fingerprint(["a", "B", "\n", "b", ""], bits)
    assert Fingerprint.from_bytes(made.to_bytes(), 5).codes.tolist() == made.codes.tolist()
    assert made.codes[2] == made.codes[4] == 0
    assert made.codes[1] == made.codes[3] == codes_for(["b"], bits)[0]
    assert {*codes_for([f"w{i}" for i in range(3000)], bits).tolist()} == set(range(1, 2**bits))
    for data, tokens in (([bits, 1, 1], 1), ([bits, 1, 2**bits], 2)):
        if max(data) < 256:
            with pytest.raises(FormatError, match="fingerprint of the pack is broken"):
                Fingerprint.from_bytes(bytes(data), tokens)


@given(st.lists(st.lists(st.sampled_from(["a", "bc", "\n", "é"]), min_size=1, max_size=5), max_size=5))
def test_sentences_come_back_from_characters_and_cuts(sentences):
    if max([0, *(sum(t == "\n" for t in s) for s in sentences)]) + len(sentences) > 40:
        return
    text, ends = join_tokens(*dissect(sentences))
    assert text.split("\0")[:-1] == [t for s in sentences for t in s]
    assert ends.tolist() == np.cumsum([len(s) for s in sentences]).tolist()


@pytest.mark.parametrize("sentences", [[[]], [[""]], [["a"], []], [["a\0"]]])
def test_sentences_that_cannot_be_packed(sentences):
    with pytest.raises(DataError, match="these sentences cannot be packed"):
        dissect(sentences)
