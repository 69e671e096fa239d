"""Resampling: exact point estimates, repeatable, and right about clear cases."""

from __future__ import annotations

import numpy as np
import pytest

from bookcoref_data.books import Record
from bookcoref_data.errors import UsageError
from bookcoref_data.evaluate import evaluate
from bookcoref_data.evaluate.significance import METRICS, resample, unit_counts


@pytest.mark.parametrize(("mode", "unit", "units"), [
    ("full", "window", 24), ("full", "chapter", 10), ("gold-window", "window", 24),
    ("gold-window-released", "window", 24), ("split", "window", 24),
])  # fmt: skip
def test_the_value_is_the_score_printed(farm, real, mode, unit, units):
    key, response = ("key windows", "system windows") if mode == "split" else ("key", "system")
    result = evaluate(farm[key], real[response], mode)
    found = resample(result, unit=unit, samples=200)
    assert found.units == units
    for metric in found.metrics:
        assert metric.response.value == pytest.approx(getattr(result.pooled, metric.metric).f1)
        assert metric.response.low <= metric.response.value <= metric.response.high


def test_units_add_up_to_the_scores(farm, real):
    result = evaluate(farm["key"], real["system"])
    total = unit_counts(result, "window").sum(axis=0)
    assert total[0].tolist() == pytest.approx(list(result.pooled.muc.to_dict().values())[3:])


def test_the_same_seed_gives_the_same_result(farm, real):
    result = evaluate(farm["key"], real["system"])
    assert resample(result, seed=7, samples=200) == resample(result, seed=7, samples=200)
    assert resample(result, seed=7, samples=200) != resample(result, seed=8, samples=200)


def test_a_system_does_not_differ_from_itself(farm, real):
    result = evaluate(farm["key"], real["system"])
    for metric in resample(result, result, samples=200).metrics:
        assert (metric.difference.value, metric.difference.low, metric.difference.high) == (0, 0, 0)
        assert (metric.p_bootstrap, metric.p_randomisation) == (1.0, 1.0)


def damaged(record, share, seed=0):
    """A copy that lacks a share of its mentions."""
    rng = np.random.default_rng(seed)
    clusters = [[m for m in c if rng.random() >= share] for c in record.clusters]
    return Record(record.doc_key, "", record.sentences, [c for c in clusters if c])


def test_a_clear_difference_is_significant_in_both_tests(farm, real):
    key = farm["key"]
    good, bad = (evaluate(key, [damaged(key[0], share)]) for share in (0.02, 0.4))
    found = {m.metric: m for m in resample(good, bad, samples=500).metrics}
    for name in ("muc", "conll", "mentions"):
        assert found[name].difference.low > 0
        assert found[name].p_bootstrap < 0.01
        assert found[name].p_randomisation < 0.01
    swapped = {m.metric: m for m in resample(bad, good, samples=500).metrics}
    assert swapped["conll"].difference.value == pytest.approx(-found["conll"].difference.value)


def test_damage_of_the_same_size_is_not_significant(farm):
    key = farm["key"]
    a, b = (evaluate(key, [damaged(key[0], 0.1, seed)]) for seed in (1, 2))
    mentions = next(m for m in resample(a, b, samples=500).metrics if m.metric == "mentions")
    assert mentions.p_bootstrap > 0.05
    assert mentions.p_randomisation > 0.05


def test_p_values_of_equal_systems_are_not_small_too_often():
    """Two systems that drop mentions at the same rate: p < 0.1 in about a tenth of the cases."""
    sentences = [["x"] * 10] * 60
    key = Record("b", "", sentences, [[(i, i) for i in range(0, 600, 2)], [(i, i) for i in range(1, 600, 2)]])
    small = 0
    for seed in range(60):
        a, b = (evaluate([key], [damaged(key, 0.2, 2 * seed + side)], window_size=20) for side in (0, 1))
        mentions = next(m for m in resample(a, b, samples=200).metrics if m.metric == "mentions")
        small += mentions.p_randomisation < 0.1
    assert small <= 15


def test_systems_scored_on_other_books_are_not_compared(record):
    a = evaluate([record("a", "ab")], [record("a", "ab")])
    b = evaluate([record("b", "abc")], [record("b", "abc")])
    with pytest.raises(UsageError, match="same documents"):
        resample(a, b, unit="book")


def books(record, count):
    pairs = [record(f"b{i}", "ab cd") for i in range(count)]
    return evaluate(pairs, pairs)


def test_books_can_be_the_units(record):
    assert resample(books(record, 4), unit="book").units == 4


@pytest.mark.parametrize("arguments", [
    {"unit": "page"}, {"samples": 5}, {"confidence": 1.5}, {"unit": "chapter"}, {"unit": "book"},
])  # fmt: skip
def test_what_cannot_be_resampled_is_refused(record, arguments):
    with pytest.raises(UsageError):
        resample(books(record, 1), **arguments)


def test_text_without_chapters_is_refused_with_the_way_out():
    plain = Record("b", "", [["one", "two"]] * 3, [[(0, 0), (2, 2)]])
    with pytest.raises(UsageError, match=r"found 0 chapter headings[\s\S]*--unit window"):
        resample(evaluate([plain], [plain]), unit="chapter")


def test_chapters_of_pride_and_prejudice(real):
    novel = [r for r in real["system"] if r.doc_key.startswith("pride")]
    assert resample(evaluate(novel, novel), unit="chapter", samples=100).units == 61


def test_every_metric_that_is_a_sum_is_there(farm, real):
    result = resample(evaluate(farm["key"], real["system"]), samples=100)
    assert [m.metric for m in result.metrics] == list(METRICS)
    assert result.to_dict()["metrics"][0]["other"] is None
