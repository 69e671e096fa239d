"""Which matches are believed: those among others, not those that stand alone where text was rewritten."""

from __future__ import annotations

import numpy as np
import pytest

from bookcoref_data.errors import DataError, FormatError
from bookcoref_data.stitch.alignment import align_tokens, lone, span_of_matches, supported
from bookcoref_data.stitch.fingerprint import EXACT, Fingerprint, codes_for, make_fingerprint

NONE = -1


def running(size: int, start: int = 1) -> np.ndarray:
    return np.arange(start, start + size)


def test_a_chance_match_in_a_rewritten_passage_is_not_believed():
    """Thirty tokens were replaced; two pairs in them agree by chance."""
    old, new = running(200), running(200)
    new[80:110] = running(30, 900)
    new[90], new[100] = old[92], old[101]
    found = align_tokens(old, new)
    assert (found.partner[80:110] == NONE).all()
    assert found.partner[79] == 79
    assert found.partner[110] == 110


def test_a_word_alone_between_replaced_words_is_not_believed():
    partner = np.array([0, 1, 2, NONE, 4, NONE, 6, 7, 8])
    assert np.flatnonzero(lone(partner)).tolist() == [4]


def test_a_word_between_insertions_or_between_omissions_is_believed():
    inserted = np.array([0, 1, 3, 5, 6, 7])
    assert not lone(inserted).any()
    dropped = np.array([0, 1, NONE, 2, NONE, 3, 4])
    assert not lone(dropped).any()


def test_matches_beside_a_long_insertion_keep_their_support():
    """A caption of twenty tokens after every few: the text around it is still the text."""
    partner = np.concatenate([running(6, at * 26) for at in range(20)])
    assert supported(partner).all()


def test_a_short_text_needs_no_more_support_than_it_can_give():
    assert supported(np.array([0, 1, 2])).all()
    assert supported(np.array([NONE, NONE])).sum() == 0


def test_one_word_for_another_is_a_stand_in():
    old, new = running(30), running(30)
    new[15] = 999
    found = align_tokens(old, new)
    assert found.stand_in[15] == 15
    assert (found.stand_in >= 0).sum() == 1


def test_ignored_tokens_have_no_partner_and_break_no_run():
    old = np.insert(running(20), 10, 0)
    found = align_tokens(old, running(20))
    assert found.partner[10] == NONE
    assert found.partner[11] == 10
    assert found.matched_share == 1.0


def test_a_moved_passage_is_marked_as_moved():
    old = running(400)
    new = np.concatenate([old[:100], old[140:300], old[100:140], old[300:]])
    found = align_tokens(old, new)
    assert found.moved[100:140].all()
    assert found.moved.sum() == 40
    assert found.partner[100:140].tolist() == list(range(260, 300))


def test_a_passage_moved_to_the_very_front_is_marked_whole():
    old = running(400)
    new = np.concatenate([old[100:140], old[:100], old[140:]])
    found = align_tokens(old, new)
    assert np.flatnonzero(found.moved).tolist() == list(range(100, 140))
    assert found.partner[100:140].tolist() == list(range(40))


def test_a_stray_match_does_not_stretch_the_span():
    partner = np.concatenate(([3], running(500, 4000), [9000]))
    assert span_of_matches(partner, 10_000) == (4000, 4500)


def test_wide_codes_tell_words_apart_and_fold_alike():
    made = codes_for(["Mr.", "MR", "her", "she", "_", "\n", "."], EXACT)
    assert made[0] == made[1]
    assert made[2] != made[3]
    assert made[4:].tolist() == [0, 0, 0]


@pytest.mark.parametrize("bits", range(2, 9))
def test_codes_stay_within_their_bits(bits, story):
    made = make_fingerprint(story.book.tokens, bits)
    assert made.codes.max() < 1 << bits
    assert Fingerprint.from_bytes(made.to_bytes(), len(story.book.tokens)).bits == bits
    assert np.array_equal(made.codes == 0, codes_for(story.book.tokens, 8) == 0)


def test_codes_are_frozen():
    """Packs are read for years: a change of folding or hashing needs a new format version."""
    assert codes_for(["Elizabeth", "she", ",", "Mr.", "colour", "\n"], 8).tolist() == [
        237,
        45,
        227,
        221,
        53,
        0,
    ]


def test_sizes_that_do_not_exist_are_refused():
    for bits in (0, 1, 9):
        with pytest.raises(DataError):
            make_fingerprint(["a"], bits)
    for data in (b"\x08\x01", b"\x09\x01\x01", b"\x02\x01\x04"):
        with pytest.raises(FormatError):
            Fingerprint.from_bytes(data, 2)
