"""Resampling: exact point estimates, repeatable, and right about clear cases."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bookcoref_data.books import Record
from bookcoref_data.errors import UsageError
from bookcoref_data.scoring import evaluate
from bookcoref_data.scoring.clustering import members
from bookcoref_data.scoring.exchange import COUNTED, Blocks, Chains, Crossings, ExchangeParts, block_starts
from bookcoref_data.scoring.metrics import overlaps, score_clusters
from bookcoref_data.scoring.significance import (
    METRICS,
    Comparison,
    Interval,
    Resampling,
    _Effects,
    adjusted,
    groups_alike,
    resample,
)
from tests.drawing import drawn

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(("mode", "unit", "units"), [
    ("full", "block", 10), ("full", "auto", 10), ("full", "chapter", 10), ("gold-window", "block", 10),
    ("gold-window-released", "auto", 10), ("gold-window", "chapter", 10), ("split", "block", 10),
    ("full", "character", 20), ("gold-window", "character", 20),
])  # fmt: skip
def test_the_value_is_the_score_printed(farm, real, mode, unit, units):
    key, response = ("key windows", "system windows") if mode == "split" else ("key", "system")
    result = evaluate(farm[key], real[response], mode)
    for found in (resample(result, unit=unit, samples=200), resample(result, result, unit=unit, samples=200)):
        assert abs(found.units - units) <= 1
        for metric in found.metrics:
            assert metric.response.value == pytest.approx(getattr(result.pooled, metric.metric).f1)
            assert metric.response.low <= metric.response.value <= metric.response.high


def test_the_same_seed_gives_the_same_result(farm, real):
    one, two = (evaluate(farm["key"], [damaged(farm["key"][0], 0.1, seed)]) for seed in (1, 2))
    assert resample(one, two, seed=7, samples=200) == resample(one, two, seed=7, samples=200)
    assert resample(one, two, seed=7, samples=200) != resample(one, two, seed=8, samples=200)


def test_a_system_does_not_differ_from_itself(farm, real):
    for mode in ("full", "gold-window"):
        result = evaluate(farm["key"], real["system"], mode)
        for metric in resample(result, result, samples=200).metrics:
            assert (metric.difference.value, metric.difference.low, metric.difference.high) == (0, 0, 0)
            assert (metric.p, metric.books_needed) == (1.0, None)


def damaged(record, share, seed=0):
    """A copy that lacks a share of its mentions."""
    rng = np.random.default_rng(seed)
    clusters = [[m for m in c if rng.random() >= share] for c in record.clusters]
    return Record(record.doc_key, "", record.sentences, [c for c in clusters if c])


@pytest.mark.parametrize("mode", ["full", "gold-window"])
def test_a_clear_difference_is_significant(farm, mode):
    key = farm["key"]
    good, bad = (evaluate(key, [damaged(key[0], share)], mode) for share in (0.02, 0.4))
    found = {m.metric: m for m in resample(good, bad, samples=200).metrics}
    for name in ("muc", "conll", "mentions"):
        assert found[name].difference.low > 0
        assert found[name].p < 0.03
    swapped = {m.metric: m for m in resample(bad, good, samples=200).metrics}
    assert swapped["conll"].difference.value == pytest.approx(-found["conll"].difference.value)


def test_damage_of_the_same_size_is_not_significant(farm):
    key = farm["key"]
    a, b = (evaluate(key, [damaged(key[0], 0.1, seed)]) for seed in (1, 2))
    mentions = next(m for m in resample(a, b, samples=200).metrics if m.metric == "mentions")
    assert mentions.difference.low < 0 < mentions.difference.high
    assert mentions.p > 0.05


def cut(key, rng):
    """Each chain goes on under another name from some place on: two errors or so in a chain."""
    clusters = []
    for cluster in key:
        places = sorted(rng.choice(len(cluster), rng.poisson(2), replace=False)) if len(cluster) > 4 else []
        clusters += [cluster[a:b] for a, b in pairwise([0, *places, len(cluster)])]
    return [c for c in clusters if c]


def pieces(key, rng):
    """Mentions move to other clusters in a stretch of ten tokens, the same in a fifth of all stretches."""
    confused = rng.random(61) < 0.2
    clusters = [[] for _ in key]
    for owner, cluster in enumerate(key):
        for span in cluster:
            if rng.random() > 0.1:
                clusters[(owner + confused[span[0] // 10]) % len(key)].append(span)
    return [c for c in clusters if c]


@pytest.mark.long
@pytest.mark.parametrize(("errors", "unit"), [(cut, "character"), (pieces, "block")])
def test_equal_systems_are_not_told_apart_too_often(errors, unit):
    """Errors that stay in a place, and errors that last: p < 0.1 in about a tenth of 40 pairs.

    Exchanging blocks alone finds a difference of chains that were cut in more than half of them.
    """
    sentences = [["x"] * 10] * 60
    key = [[(i, i) for i in range(first, 600, 9)] for first in range(9)]
    gold = Record("b", "", sentences, key)
    small, units = {"b_cubed": 0, "lea": 0, "muc": 0}, []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        a, b = (evaluate([gold], [Record("b", "", sentences, errors(key, rng))]) for _ in range(2))
        found = {m.metric: m for m in resample(a, b, samples=200, block_size=40).metrics}
        units.append(found["conll"].unit)
        for name in small:
            small[name] += found[name].p is not None and found[name].p < 0.1
    assert units.count(unit) > 24
    assert all(count <= 9 for count in small.values()), small


@pytest.mark.parametrize(("errors", "mode"), [
    (cut, "full"), pytest.param(pieces, "gold-window", marks=pytest.mark.long),
    pytest.param(cut, "gold-window", marks=pytest.mark.long),
    pytest.param(pieces, "full", marks=pytest.mark.long),
])  # fmt: skip
def test_an_interval_holds_0_just_where_p_tells_nothing_apart(errors, mode):
    """No p below 0.05 beside an interval with 0 in it, and none above, or missing, beside one without."""
    sentences = [["x"] * 10] * 60
    key = [[(i, i) for i in range(first, 600, 9)] for first in range(9)]
    gold = Record("b", "", sentences, key)
    told = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        worse = [c[: len(c) - len(c) * seed // 60] for c in errors(key, rng)]
        both = (Record("b", "", sentences, of) for of in (errors(key, rng), worse))
        a, b = (evaluate([gold], [system], mode, window_size=40) for system in both)
        for m in resample(a, b, samples=300, block_size=40).metrics:
            apart = not m.difference.low <= 0 <= m.difference.high
            assert apart == (m.p is not None and m.p < 0.05), (seed, m)
            told += apart
    assert told > 5


@given(st.lists(st.integers(-3, 9), min_size=2, max_size=30), st.booleans(), st.integers(0, 5))
def test_an_interval_and_p_of_any_effects_are_one_test(values, blocks, lacking):
    """Ties, neighbours that go together, a large unit, effects that do not add up to the difference."""
    effects = np.array(values, float)[:, None] * np.ones(len(METRICS)) / 300
    weights = np.arange(1, len(values) + 1.0) ** 2
    total = effects.sum(axis=0) + lacking / 300
    made = _Effects("block" if blocks else "character", effects, weights / weights.sum())
    p, low, high = made.tested(total, np.random.default_rng(0), 400, 0.95)
    for at in range(len(METRICS)):
        assert low[at] <= total[at] <= high[at]
        assert (p[at] < 0.05) == (not low[at] <= 0 <= high[at])


def test_the_interval_of_plain_effects_is_as_wide_as_student_t_makes_it():
    """40 units alike in size with a spread of 1: mean 0.2 a unit, standard error 1 / sqrt(40)."""
    effects = np.random.default_rng(1).normal(size=40)
    effects = 0.2 + (effects - effects.mean()) / effects.std()
    made = _Effects("book", effects[:, None] * np.ones(len(METRICS)) / 40, np.full(40, 1 / 40))
    _, low, high = made.tested(np.full(len(METRICS), 0.2), np.random.default_rng(0), 10_000, 0.95)
    assert (low[0], high[0]) == pytest.approx((0.2 - 2.02 / 40**0.5, 0.2 + 2.02 / 40**0.5), abs=0.02)


def test_two_characters_that_are_merged_do_not_drown_what_all_others_say():
    """30 characters for one system and two, of whom a system makes one, far on either side."""
    effects = np.random.default_rng(2).normal(0.001, 0.001, 32)
    effects[:2] = 0.06, -0.05
    total = np.full(len(METRICS), effects.sum())
    columns = effects[:, None] * np.ones(len(METRICS))
    found = {}
    for unit in ("character", "chapter"):
        made = _Effects(unit, columns, np.full(32, 1 / 32))
        p, low, high = made.tested(total, np.random.default_rng(0), 2_000, 0.95)
        assert low[0] <= total[0] <= high[0]
        found[unit] = p[0]
    assert found["character"] < 0.01
    assert found["chapter"] > 0.3


@pytest.mark.parametrize("unit", ["character", "block", "book"])
def test_units_that_two_systems_treat_alike_speak_for_neither(unit):
    """Three of 30 units differ, all one way: a quarter of all exchanges says as much, whatever is lacking."""
    effects = np.zeros((30, len(METRICS)))
    effects[[3, 13, 23]] = 0.001
    made = _Effects(unit, effects, np.full(30, 1 / 30))
    for lacking in (0.0, 1e-6, 1e-4):
        total = np.full(len(METRICS), 0.003 + lacking)
        p, low, high = made.tested(total, np.random.default_rng(0), 2_000, 0.95)
        assert 0.2 < p[0] < 0.3
        assert low[0] <= 0
        assert high[0] > 0.005


def test_a_pair_whose_interval_says_more_than_its_adjusted_p_is_named():
    """Four pairs at p 0.03: each interval leaves out 0, all adjusted p are 0.12."""
    found = adjusted(comparisons(0.03, 0.03, 0.03, 0.03), PAIRS)
    assert found[1].notes[-1].startswith("A and C: told apart in MUC, B3")
    assert found[1].notes[-1].endswith("by their own interval, not by p adjusted for 4 pairs")
    assert not any(one.notes for one in adjusted(comparisons(0.001, 0.001, 0.001), PAIRS[:3]))


def test_no_p_value_where_one_error_makes_the_difference():
    """Two characters merged from the first page to the last: one error, of which one book cannot judge."""
    key = [[(i, i) for i in range(first, 900, 9)] for first in range(9)]
    gold = Record("b", "", [["x"] * 10] * 90, key)
    merged = Record("b", "", gold.sentences, [key[0] + key[1], *key[2:]])
    found = resample(evaluate([gold], [gold]), evaluate([gold], [merged]), block_size=60)
    b_cubed = next(m for m in found.metrics if m.metric == "b_cubed")
    assert (b_cubed.p, b_cubed.unit) == (None, "character")
    assert b_cubed.books_needed >= 2
    assert any("no p-value for" in note and "books like these" in note for note in found.notes)


def comparisons(*p_values):
    """Resamplings of which every metric has the same p."""
    interval = Interval(0.5, 0.4, 0.6)
    rows = [tuple(Comparison(m, interval, interval, interval, p) for m in METRICS) for p in p_values]
    return [Resampling("auto", 10, 1, 100, 0, 0.95, row, ()) for row in rows]


PAIRS = [("A", "B"), ("A", "C"), ("B", "C"), ("A", "D")]


def test_a_note_about_missing_p_values_names_its_pair_among_several():
    with_note, without = comparisons(0.5, 0.5)
    shared = "intervals and tests are about this book, not about others"
    with_note = replace(with_note, notes=(shared, "no p-value for B3: the difference rests on errors"))
    found = adjusted([with_note, without], PAIRS[:2])
    assert found[0].notes == (shared, "A and B: no p-value for B3: the difference rests on errors")


def test_p_values_of_a_family_are_adjusted_by_holm():
    found = adjusted(comparisons(0.01, 0.04, None, 0.03), PAIRS)
    assert [one.metrics[0].p_adjusted for one in found] == [0.04, 0.09, None, 0.09]


def test_systems_stand_in_groups_that_are_not_told_apart():
    """A and C differ, B from neither: two groups, with B in both."""
    found = adjusted(comparisons(0.5, 0.001, 0.5), PAIRS[:3])
    groups = groups_alike(["A", "B", "C"], PAIRS[:3], found)
    assert groups["conll"] == [["A", "B"], ["B", "C"]]


SPANS = st.tuples(st.integers(0, 11), st.integers(0, 1)).map(lambda p: (p[0], p[0] + p[1]))
LISTS = st.lists(st.lists(SPANS, min_size=1, max_size=5), max_size=5)


def rows_of(scores):
    """Numerators and denominators in the order of a count matrix."""
    named = {name: getattr(scores, name) for name in COUNTED if hasattr(scores, name)}
    blanc = scores.blanc
    parts = [*named.values(), blanc.link, blanc.non_link, blanc.mention]
    return [list(score.to_dict().values())[3:] for score in parts]


@drawn(100)
@given(LISTS, LISTS, LISTS, st.sampled_from(["released", "first"]))
def test_an_unmixed_mixture_is_the_system_itself(key, first, second, duplicates):
    """Also with spans in several clusters, under either rule."""
    sides = [overlaps(members([key]), members([r]), duplicates=duplicates) for r in (first, second)]
    parts = ExchangeParts(sides, Blocks(np.array([0, 4, 8])), drop_singletons=False)
    for system, response in enumerate((first, second)):
        chosen = np.zeros((2, 3), bool)
        chosen[system] = True
        whole = score_clusters(key, response, duplicates=duplicates)
        assert parts.counts(chosen[None]).ravel().tolist() == pytest.approx(np.ravel(rows_of(whole)).tolist())


@drawn(100)
@given(LISTS, LISTS, st.sampled_from(["keep", "drop"]))
def test_a_part_left_out_is_a_shorter_book(key, response, singletons):
    """Spans once, so that the clusters left over can be written down by hand."""
    key, response = (unique(side) for side in (key, response))
    sides = overlaps(members([key]), members([response]))
    parts = ExchangeParts([sides], Blocks(np.array([0, 4, 8])), drop_singletons=singletons == "drop")
    kept = np.array([True, False, True])
    shorter = [[[s for s in c if not 4 <= s[0] < 8] for c in side] for side in (key, response)]
    whole = score_clusters(*shorter, singletons=singletons)
    found = parts.counts(kept[None, None], kept[None]).ravel().tolist()
    assert found == pytest.approx(np.ravel(rows_of(whole)).tolist())


def unique(clusters):
    seen = set()
    return [[s for s in c if not (s in seen or seen.add(s))] for c in clusters]


def test_a_mixture_joins_the_clusters_that_the_systems_share():
    """Two copies of one system that list their clusters in another order: every mixture is that system."""
    key = [[(i, i) for i in range(first, 12, 3)] for first in range(3)]
    sides = [overlaps(members([key]), members([response])) for response in (key, key[::-1])]
    parts = ExchangeParts(sides, Blocks(np.array([0, 4, 8])), drop_singletons=False)
    mixed = parts.counts(np.array([[[True, False, True], [False, True, False]]]))
    assert mixed[0, 0].tolist() == pytest.approx(np.array(rows_of(score_clusters(key, key))))


@pytest.mark.parametrize("mode", ["full", "gold-window", "gold-window-released", "split"])
def test_units_changed_together_are_changed_alone(mode):
    """In windows one mixture exchanges a character in all stretches; each stretch has its own share of it."""
    key = [[(i, i) for i in range(first, 180, 3)] for first in range(3)]
    rng = np.random.default_rng(3)
    gold, *both = (Record("b", "", [["x"] * 5] * 36, c) for c in (key, pieces(key, rng), pieces(key, rng)))
    books = [evaluate([gold], [system], mode, window_size=30).books[0].book for system in both]
    sides = [overlaps(book.key, book.response) for book in books]
    units = Crossings(Blocks(block_starts(books[0], "block", 45, whole=mode == "full")), Chains(books[0], 2))
    parts = ExchangeParts(sides, units, drop_singletons=False, windows=[a for a, _ in books[0].bounds])

    def mixed(swap):
        return parts.counts(np.stack([~swap, swap], axis=1))

    whole, changes = parts.changes(mixed)
    alone = mixed(np.eye(parts.parts, dtype=bool)).sum(axis=1)
    assert np.abs(changes).max() > 0
    np.testing.assert_allclose(whole + changes, alone)


def test_effects_of_neighbouring_blocks_that_go_together_widen_the_interval():
    """The same effects in another order: two by two, and each beside its opposite."""
    effects = np.array([1.0, 1, -1, -1, 1, 1, -1, -1])[:, None] * np.ones(len(METRICS))
    total, weights = np.zeros(len(METRICS)), np.full(8, 1 / 8)
    apart = _Effects("block", effects[[0, 2, 1, 3, 4, 6, 5, 7]], weights)
    beside = _Effects("block", effects, weights)
    assert (beside.variance(total) > apart.variance(total)).all()
    by_character = _Effects("character", effects, weights)
    assert (by_character.variance(total) == apart.variance(total)).all()


def test_spans_in_several_clusters_and_dropped_singletons_do_not_go_together(record):
    key, twice = record("b", "abcdefghij"), record("b", "abc cde f")
    result = evaluate([key], [twice], singletons="drop")
    with pytest.raises(UsageError, match="--duplicates first"):
        resample(result, block_size=1)


def test_systems_scored_on_other_books_are_not_compared(record):
    a = evaluate([record("a", "ab")], [record("a", "ab")])
    b = evaluate([record("b", "abc")], [record("b", "abc")])
    with pytest.raises(
        UsageError, match=r"same documents[\s\S]*only in the scores of the first: a;"
    ) as error:
        resample(a, b, unit="book")
    assert "(" not in error.value.found


def test_systems_scored_under_other_rules_are_not_compared(record):
    a, b = (evaluate([record("a", "ab")], [record("a", "ab")], singletons=s) for s in ("keep", "drop"))
    with pytest.raises(UsageError, match="other values of singletons"):
        resample(a, b)


def books(record, count):
    pairs = [record(f"b{i}", "ab cd") for i in range(count)]
    return evaluate(pairs, pairs)


def test_books_can_be_the_units(record):
    assert resample(books(record, 12), unit="book").units == 12
    for other in (None, books(record, 10)):
        found = resample(books(record, 10), other)
        assert (found.units, found.metrics[0].unit) == (10, "book")


def test_few_units_are_refused_unless_forced(record):
    with pytest.raises(UsageError, match=r"4 books[\s\S]*at least 10[\s\S]*--few-units"):
        resample(books(record, 4), unit="book")
    forced = resample(books(record, 4), books(record, 4), unit="book", few_units=True)
    assert forced.units == 4
    assert any("mean little" in note for note in forced.notes)


def test_one_unit_cannot_be_forced(record):
    with pytest.raises(UsageError, match="1 book"):
        resample(books(record, 1), unit="book", few_units=True)


@pytest.mark.parametrize("arguments", [
    {"unit": "page"}, {"samples": 5}, {"confidence": 1.5}, {"unit": "chapter"}, {"unit": "book"},
    {"unit": "block"}, {"unit": "character"}, {"block_size": 0},
])  # fmt: skip
def test_what_cannot_be_resampled_is_refused(record, arguments):
    with pytest.raises(UsageError):
        resample(books(record, 1), **arguments)


def test_text_without_chapters_is_refused_with_the_way_out():
    plain = Record("b", "", [["one", "two"]] * 3, [[(0, 0), (2, 2)]])
    with pytest.raises(UsageError, match=r"found 0 chapter headings[\s\S]*--unit block"):
        resample(evaluate([plain], [plain]), unit="chapter")


def test_chapters_of_pride_and_prejudice(real):
    novel = [r for r in real["system"] if r.doc_key.startswith("pride")]
    assert resample(evaluate(novel, novel), unit="chapter", samples=100).units == 61


def test_every_metric_is_there(farm, real):
    result = resample(evaluate(farm["key"], real["system"]), samples=100)
    assert [m.metric for m in result.metrics] == list(METRICS)
    assert result.to_dict()["metrics"][0]["other"] is None
