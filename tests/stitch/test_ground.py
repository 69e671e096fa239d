"""What packs and remapping stand on: visible characters, where a body lies, codes of tokens."""

from __future__ import annotations

import random
import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bookcoref_data.errors import DataError, FormatError
from bookcoref_data.shapes import check
from bookcoref_data.stitch.chars import (
    DIGIT,
    LETTER,
    UPPER,
    WHITE,
    WORD,
    classes_of,
    codes_of,
    symbols_of,
    text_of,
    visible,
)
from bookcoref_data.stitch.fingerprint import EXACT, Fingerprint, codes_for, fold, make_fingerprint
from bookcoref_data.stitch.pack import MOST_PLACES, PROBE, Landmarks, find_body, landmarks_of


@pytest.mark.parametrize(
    ("text", "characters", "after"),
    [
        ("", "", []), (" \n\n ", "", []), ("a", "a", [0]), ("a ", "a", [1]), ("ab", "ab", [0, 0]),
        ("a b", "ab", [1, 0]), (" ab", "ab", [0, 0]), ("a\nb", "ab", [1, 0]), ("a\n\nb", "ab", [2, 0]),
        ("a\n \t\nb", "ab", [2, 0]), ("a\n\n\nb", "ab", [2, 0]), ("\n\na\nb\n\n", "ab", [1, 2]),
        ("a\nb\nc", "abc", [1, 1, 0]), ("a\n\nb\n\nc", "abc", [2, 2, 0]), ("ab\n", "ab", [0, 1]),
    ],
)  # fmt: skip
def test_a_text_is_its_visible_characters_and_what_follows_each(text, characters, after):
    stream = visible(text)
    assert (text_of(stream.codes), stream.after.tolist(), len(stream)) == (characters, after, len(characters))


@given(st.text(st.characters(exclude_categories=()), max_size=20))
def test_any_text_comes_back_from_its_codes(text):
    assert text_of(codes_of(text)) == text
    assert "".join(text.split()) == text_of(visible(text).codes)


@pytest.mark.parametrize(
    ("character", "classes", "symbol"),
    [
        ("a", WORD | LETTER, 1), ("z", WORD | LETTER, 1), ("A", WORD | LETTER | UPPER, 2),
        ("0", WORD | DIGIT, 3),
        ("9", WORD | DIGIT, 3), ("é", WORD | LETTER, 1), ("À", WORD | LETTER | UPPER, 2),
        ("Ö", WORD | LETTER | UPPER, 2), ("Ø", WORD | LETTER | UPPER, 2), ("Þ", WORD | LETTER | UPPER, 2),
        ("ß", WORD | LETTER, 1), ("×", 0, 0xD7), ("÷", 0, 0xF7), ("@", 0, 64), ("[", 0, 91), ("`", 0, 96),
        ("{", 0, 123), ("/", 0, 47), (":", 0, 58), ("¿", 0, 0xBF), ("’", 0, 0x2019), ("⯿", 0, 0x2BFF),
        ("Ⰰ", WORD | LETTER, 1), ("ῼ", WORD | LETTER, 1), (" ", WHITE, 32),
        ("\u2003", WHITE, 0x2003), ("😀", WORD | LETTER, 1),
    ],
)  # fmt: skip
def test_the_class_of_a_character(character, classes, symbol):
    codes = codes_of(character)
    assert (classes_of(codes).tolist(), symbols_of(codes).tolist()) == ([classes], [symbol])


def test_white_space_is_what_python_says():
    codes = np.arange(0xD800, dtype=np.uint16)
    white = [c for c in range(0xD800) if chr(c).isspace()]
    assert np.flatnonzero(classes_of(codes) == WHITE).tolist() == white
    assert all(unicodedata.category(chr(c)) in ("Zs", "Zl", "Zp", "Cc") for c in white)


CODES = codes_of("".join(random.Random(1).choices("abcdefghij", k=400)))


def test_a_body_is_found_where_it_lay_and_where_it_went():
    marks = landmarks_of(CODES, 50, 300)
    assert list(find_body(CODES, marks)) == [50]
    assert (marks.start, marks.length, marks.first > 0, marks.last > 0) == (50, 300, True, True)
    shifted = codes_of("preface" + text_of(CODES[50:350]) + "end")
    assert list(find_body(shifted, marks)) == [7]
    assert list(find_body(CODES[50:350], marks)) == [0]
    assert list(find_body(CODES[50:349], marks)) == []
    assert list(find_body(np.concatenate([CODES[:350], CODES[50:350]]), marks)) == [50, 350]


def test_both_ends_of_a_body_must_fit():
    marks = landmarks_of(CODES, 50, 300)
    for place in (50, 349):
        changed = CODES.copy()
        changed[place] = 35
        assert list(find_body(changed, marks)) == []
    inside = CODES.copy()
    inside[50 + PROBE : 350 - PROBE] = 35
    assert list(find_body(inside, marks)) == [50]


def test_a_short_body_lies_where_it_lay():
    marks = landmarks_of(CODES, 10, PROBE - 1)
    assert marks == Landmarks(10, PROBE - 1, 0, 0)
    assert list(find_body(CODES, marks)) == [10]
    assert list(find_body(CODES[: 9 + PROBE], marks)) == [10]
    assert list(find_body(CODES[: 8 + PROBE], marks)) == []
    assert landmarks_of(CODES, 10, PROBE).first > 0
    assert list(find_body(CODES[: 10 + PROBE], landmarks_of(CODES, 10, PROBE))) == [10]


def test_of_a_text_of_one_character_not_every_place_is_tried():
    same = codes_of("a" * 1000)
    found = list(find_body(same, landmarks_of(same, 500, 100)))
    assert len(found) == MOST_PLACES + 1
    assert found[0] == 500
    assert 500 not in found[1:]


@pytest.mark.parametrize("change", [
    {"start": -1}, {"start": 1 << 32}, {"length": True}, {"length": -1}, {"first": "-1"},
    {"last": "1" + "0" * 16},
    {"first": "g"}, {"first": None},
])  # fmt: skip
def test_landmarks_out_of_range_are_refused(change):
    good = Landmarks(0, (1 << 32) - 1, 0, (1 << 64) - 1).to_dict()
    assert Landmarks.from_dict(good).to_dict() == good
    check(good, "landmarks", "x")
    with pytest.raises(FormatError, match="x: "):
        check({**good, **change}, "landmarks", "x")


def test_codes_of_a_fingerprint_fit_their_bits_and_only_ignored_tokens_have_none():
    tokens = [f"word{i}" for i in range(2000)] + ["", "\n", "The", "the"]
    for bits in (2, 3, 8):
        codes = codes_for(tokens, bits)
        assert set(codes[:2000].tolist()) == set(range(1, 1 << bits))
        assert codes[2001] == 0
        assert codes[2002] == codes[2003]
    assert codes_for([], 4).tolist() == []


def test_bits_of_a_fingerprint():
    for bits in (1, 9):
        with pytest.raises(DataError, match=f"{bits} bits"):
            make_fingerprint(["a"], bits)
    kept = make_fingerprint(["a", "b", "\n"], 8)
    assert Fingerprint.from_bytes(kept.to_bytes(), 3).codes.tolist() == kept.codes.tolist()
    assert make_fingerprint(["a"], 2).bits == 2


@pytest.mark.parametrize(
    ("data", "tokens"),
    [(b"\x02\x04", 1), (b"\x02\x01", 2), (b"\x01\x01", 1), (b"\x09\x01", 1), (b"\x07\x80", 1)],
)
def test_a_broken_fingerprint_is_refused(data, tokens):
    with pytest.raises(FormatError, match="fingerprint"):
        Fingerprint.from_bytes(data, tokens)
    assert Fingerprint.from_bytes(b"\x02\x03", 1).codes.tolist() == [3]
    assert Fingerprint.from_bytes(b"\x08", 0).bits == 8


def test_exact_codes_differ_where_folded_words_do():
    codes = codes_for(["The", "the", "cat", "\n", "cats"], EXACT)
    assert codes[0] == codes[1]
    assert len({*codes.tolist()}) == 4
    assert codes[3] == 0
    assert (codes[[0, 2, 4]] > 0).all()


@pytest.mark.parametrize(
    ("token", "folded"),
    [
        ("\n", ""), (".", ""), ("...", ""), ("*", ""), ("**", ""), ("_", ""), (",", ","),
        ("--", "-"), ("“", '"'),
        ("Mr.", "mr"), ("_The_", "the"), ("CAFÉ", "cafe"), ("Æther", "aether"), ("don’t", "don't"),
        ("-by-", "by"), ("to-day", "to-day"), ("!!", "!!"), ("''", "'"), ("ﬁne", "fine"),
        ("rise", "rize"), ("wise", "wize"), ("our", "our"), ("hour", "hour"),
        ("colour", "color"), ("aye", "ay"),
        ("oh", "o"), ("stopt", "stopped"), ("grey", "gray"), ("plough", "plow"), ("1st", "1st"), ("£5", "£5"),
    ],
)  # fmt: skip
def test_a_token_is_folded_to_what_editions_agree_on(token, folded):
    assert fold(token) == folded
