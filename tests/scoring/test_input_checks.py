"""Flawed responses are scored as the rules say, and named; nonsense is refused with the way out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bookcoref_data.books import Record
from bookcoref_data.errors import DataError
from bookcoref_data.scoring import evaluate
from bookcoref_data.scoring.clustering import members
from bookcoref_data.scoring.input_checks import check_input
from tests.drawing import drawn


def flaws(clusters, tokens=None):
    return check_input(clusters, members([clusters]), tokens)


def test_every_kind_is_counted_with_examples():
    clusters = [[(0, 0), (0, 0), (3, 4)], [(3, 4), (4, 6)], [], [(50, 60)], [(9, 8)]]
    found = flaws(clusters, 40)
    assert (found.repeated, found.shared, found.empty, found.singletons) == (1, 1, 1, 2)
    assert (found.outside, found.reversed, found.crossing) == (1, 1, 1)
    assert found.examples["crossing"] == ((4, 6),)
    assert found.examples["outside"] == ((50, 60),)


def test_three_examples_of_a_kind_are_shown():
    found = flaws([[(4, 3), (6, 5), (8, 7), (10, 9)]], 40)
    assert (found.reversed, found.examples["reversed"]) == (4, ((4, 3), (6, 5), (8, 7)))


def test_a_clean_clustering_has_no_flaws():
    assert flaws([[(0, 0), (1, 3)], [(2, 2), (2, 3)]], 10) == check_input([], members([[]]), 10)


@drawn(200)
@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 5)), max_size=12, unique=True))
def test_crossing_is_overlap_without_nesting(pairs):
    spans = [(a, a + n) for a, n in pairs]
    expected = {b for a in spans for b in spans if a[0] < b[0] <= a[1] < b[1]}
    assert flaws([spans] if spans else []).crossing == len(expected)


def text(n=40):
    return [["w"] * n]


def score(clusters, **rules):
    key = Record("b", sentences=text(), clusters=[[(0, 0), (3, 4), (7, 7)], [(10, 12), (20, 20)]])
    return evaluate([key], [Record("b", clusters=clusters)], **rules)


def test_a_mention_in_two_clusters_is_named_with_its_treatment():
    clusters = [[(0, 0), (3, 4)], [(3, 4), (10, 12)]]
    released, first = score(clusters), score(clusters, duplicates="first")
    assert "1 span in several clusters: counted for each" in released.notes[0]
    assert "kept once, in the cluster that opens first" in first.notes[0]
    assert "(3, 4)" in released.notes[0]
    assert released.pooled.b_cubed != first.pooled.b_cubed
    assert first.pooled == score([[(0, 0), (3, 4)], [(10, 12)]]).pooled


def test_mentions_out_of_range_match_nothing_and_are_named():
    result = score([[(0, 0), (3, 4)], [(10, 12), (90, 91)]])
    assert "1 mention outside the text" in result.notes[0]
    assert result.pooled.mentions.precision == 3 / 4


def test_metrics_the_release_lacks_always_count_a_span_once():
    twice = [[(0, 0), (0, 0), (3, 4)], [(3, 4), (10, 12)]]
    released, first = score(twice).pooled, score(twice, duplicates="first").pooled
    for name in ("ceaf_m", "blanc", "lea", "mentions"):
        assert getattr(released, name) == getattr(first, name), name


def test_offsets_of_characters_are_refused():
    clusters = [[(i * 50, i * 50 + 4) for i in range(30)]]
    with pytest.raises(DataError, match=r"lie past the end of the text[\s\S]*counted in characters"):
        score(clusters)


SHIFTS = [
    ((0, 1), "ends look exclusive"),
    ((1, 1), "look 1-based: subtract 1 from every start and end"),
    ((1, 2), "1-based with exclusive ends"),
]


@pytest.mark.parametrize(("shift", "message"), SHIFTS)
def test_other_offset_conventions_are_recognised(shift, message):
    # Mentions 3 tokens apart, so that no shifted mention meets another one by chance.
    key = [[(i * 4, i * 4 + i % 3) for i in range(30)]]
    moved = [[(a + shift[0], b + shift[1]) for a, b in key[0]]]
    with pytest.raises(DataError, match=message):
        evaluate([Record("b", sentences=text(200), clusters=key)], [Record("b", clusters=moved)])


def test_a_bad_system_is_not_taken_for_another_convention():
    key = [[(i * 4, i * 4) for i in range(30)]]
    bad = [[(i * 4 + 2, i * 4 + 3) for i in range(30)]]
    result = evaluate([Record("b", sentences=text(200), clusters=key)], [Record("b", clusters=bad)])
    assert result.pooled.conll.f1 == 0.0
