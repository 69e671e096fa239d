"""Metrics, pinned from two sides: published values, and definitions computed the slow way."""

from __future__ import annotations

import csv
from collections import Counter
from itertools import combinations, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bookcoref_data.errors import DataError, UsageError
from bookcoref_data.formats import read_documents
from bookcoref_data.scoring import score_clusters, score_documents
from bookcoref_data.scoring.scores import ratio
from tests.drawing import drawn

WORKED = [
    # key, response, metric, recall, precision, f1: worked by hand from the formulas
    ("a bc def", "a de", "muc", 1 / 3, 1, 0.5),
    ("a bc def", "a de", "b_cubed", 7 / 18, 1, 0.56),
    ("a bc def", "a de", "ceaf_m", 3 / 6, 1, 2 / 3),
    ("a bc def", "a de", "ceaf_e", 0.6, 0.9, 0.72),
    ("a bc def", "a de", "blanc", (1 / 4 + 2 / 11) / 2, 1, (0.4 + 4 / 13) / 2),
    ("a bc def", "a de", "lea", 1 / 3, 1, 0.5),
    ("a bc def", "a bcx dy z", "b_cubed", 5 / 9, 17 / 42, 0.468320),
    ("a bc def", "a bcx dy z", "ceaf_e", 2.2 / 3, 0.55, 0.628571),
    ("a bc def", "a bcx dy z", "lea", 3 / 6, 2 / 7, 0.363636),
    ("ab cde", "bcx de", "blanc", 7 / 24, 7 / 24, 7 / 24),
    ("12345 67 89ABC", "12345 6789ABC", "muc", 1, 0.9, 0.947368),
    ("12345 67 89ABC", "12345 6789ABC", "b_cubed", 1, 16 / 21, 0.864865),
    ("12345 67 89ABC", "12345 6789ABC", "lea", 1, (5 + 7 * 11 / 21) / 12, 0.838710),
    ("12345 67 89ABC", "1234589ABC 67", "b_cubed", 1, 7 / 12, 0.736842),
    ("ABCD", "AB CD", "muc", 2 / 3, 1, 0.8),
    ("BCDEGHJ", "ABC DEF GHI", "muc", 3 / 6, 3 / 6, 0.5),
    ("ABC DEFG", "AB CD FGH", "muc", 2 / 5, 2 / 4, 4 / 9),
    ("a bc def", "a b c d e f", "muc", 0, 0, 0),
    ("a bc def", "a b c d e f", "lea", 1 / 6, 1 / 6, 1 / 6),
    ("a bc def", "abcdef", "b_cubed", 1, 7 / 18, 0.56),
    ("a b c", "a b c", "muc", 0, 0, 0),
    ("a b c", "a b c", "blanc", 1, 1, 1),
    ("a b c", "a b c", "lea", 1, 1, 1),
    ("abc de", "abd", "mentions", 3 / 5, 1, 0.75),
]


@pytest.mark.parametrize(("key", "response", "metric", "recall", "precision", "f1"), WORKED)
def test_worked_examples(letters, key, response, metric, recall, precision, f1):
    score = getattr(score_clusters(letters(key), letters(response)), metric)
    assert (score.recall, score.precision, score.f1) == pytest.approx((recall, precision, f1), abs=1e-6)


def test_all_127_official_rows(reference):
    """Every expected row of the CoNLL reference scorer's test cases, duplicates settled as it does."""
    folder = reference / "conll_cases"
    rows = list(csv.DictReader((folder / "expected.tsv").open(encoding="utf-8"), delimiter="\t"))
    assert len(rows) == 127
    scores = {}
    for row in rows:
        names = row["key_file"], row["response_file"]
        if names not in scores:
            key, response = (read_documents(folder / n, "conll")[0].clusters for n in names)
            scores[names] = score_clusters(key, response, duplicates="first")
        found = getattr(scores[names], row["metric"])
        for value in ("recall", "precision", "f1"):
            assert getattr(found, value) == pytest.approx(float(row[value]), abs=1e-6), (row["case"], value)


def test_an_empty_response_scores_zero(letters):
    scores = score_clusters(letters("abc de"), [])
    assert {s.f1 for s in scores.named().values()} == {0.0}
    assert scores.muc.recall_denominator == 3


def test_nothing_on_both_sides_scores_zero():
    assert score_clusters([], []).conll.f1 == 0.0
    assert score_documents([]).muc.f1 == 0.0


def test_empty_clusters_are_no_clusters(letters):
    with_empty = score_clusters(letters("abc de"), [[], *letters("ab"), []])
    assert with_empty == score_clusters(letters("abc de"), letters("ab"))


def test_conll_is_the_mean_of_three_and_not_harmonic(letters):
    scores = score_clusters(letters("abc de f"), letters("ab cdf"))
    three = scores.muc, scores.b_cubed, scores.ceaf_e
    assert scores.conll.f1 == pytest.approx(sum(s.f1 for s in three) / 3)
    assert scores.conll.precision == pytest.approx(sum(s.precision for s in three) / 3)


def test_documents_are_pooled_and_never_matched_with_each_other(letters):
    """The same spans in two documents are different mentions; sums are divided, not averages taken."""
    first, second = (letters("ab cd"), letters("ab cd")), (letters("abcd"), letters("a bcd"))
    pooled = score_documents([first, second])
    assert pooled == sum_of(score_clusters(*first), score_clusters(*second))
    assert pooled.muc.recall == pytest.approx((2 + 2) / (2 + 3))
    swapped = score_documents([(first[0], second[1]), (second[0], first[1])])
    assert swapped != pooled


def sum_of(a, b):
    return a + b


def test_singletons_can_be_dropped_on_both_sides(letters):
    key, response = letters("abc d e"), letters("ab c d")
    assert score_clusters(key, response, singletons="drop") == score_clusters(letters("abc"), letters("ab"))
    assert score_clusters(key, response).b_cubed != score_clusters(key, response, singletons="drop").b_cubed


def test_crossing_mentions_are_ordinary_spans():
    key = [[(0, 3), (2, 5)], [(7, 9)]]
    assert score_clusters(key, key).conll.f1 == pytest.approx((1 + 1 + 1) / 3)


@pytest.mark.parametrize("bad", [[[(1, 2, 3)]], [[(1,)]], [[("a", "b")]], [[(1.5, 2.5)]], [[1, 2]], [[None]]])
def test_spans_that_are_no_spans_are_refused(bad):
    with pytest.raises(DataError, match="token offsets"):
        score_clusters([[(0, 0)]], bad)


def test_offsets_too_far_apart_are_refused():
    with pytest.raises(DataError, match="too far apart"):
        score_clusters([[(0, 0), (2**61, 2**62)]], [[(0, 0)]])


@pytest.mark.parametrize("rules", [{"duplicates": "some"}, {"singletons": "no"}])
def test_unknown_rules_are_refused(rules):
    with pytest.raises(UsageError, match="no rule"):
        score_clusters([], [], **rules)


# --- the slow definitions ---------------------------------------------------------------------------

SPANS = st.tuples(st.integers(0, 5), st.integers(0, 1)).map(lambda p: (p[0], p[0] + p[1]))
LISTS = st.lists(st.lists(SPANS, min_size=1, max_size=5), max_size=5)


@st.composite
def partitions(draw):
    """Clusters without a repeated span."""
    owner = draw(st.dictionaries(SPANS, st.integers(0, 3), max_size=10))
    clusters: dict = {}
    for span, cluster in owner.items():
        clusters.setdefault(cluster, []).append(span)
    return list(clusters.values())


def released(key, response):
    """MUC, B3 and CEAF-e as the released evaluation defines them, repeated spans and all."""
    owner = [{span: i for i, c in enumerate(side) for span in c} for side in (key, response)]
    result = {}
    sides = ((key, owner[1]), (response, owner[0]))
    muc, cubed = [], []
    for clusters, other in sides:
        found = [[other[s] for s in c if s in other] for c in clusters]
        muc += [sum(len(f) - len(set(f)) for f in found), sum(len(c) - 1 for c in clusters)]
        squares = [
            sum(n * n for n in Counter(f).values()) / len(c) for f, c in zip(found, clusters, strict=True)
        ]
        cubed += [sum(squares), sum(map(len, clusters))]
    result["muc"], result["b_cubed"] = muc, cubed
    phi = [[2 * sum(s in r for s in k) / (len(k) + len(r)) for r in response] for k in key]
    total = best_total(phi)
    result["ceaf_e"] = [total, len(key), total, len(response)]
    return result


def best_total(weights):
    """The best one-to-one total by trying every assignment."""
    if not weights or not weights[0]:
        return 0.0
    if len(weights) > len(weights[0]):
        weights = list(zip(*weights, strict=True))
    columns = range(len(weights[0]))
    return max(
        sum(row[j] for row, j in zip(weights, chosen, strict=True))
        for chosen in permutations(columns, len(weights))
    )


@drawn(150)
@given(LISTS, LISTS)
def test_repeated_spans_count_as_in_the_released_code(key, response):
    scores = score_clusters(key, response)
    for metric, expected in released(key, response).items():
        score = getattr(scores, metric)
        found = [
            score.recall_numerator,
            score.recall_denominator,
            score.precision_numerator,
            score.precision_denominator,
        ]
        assert found == pytest.approx(expected), metric


@drawn(150)
@given(partitions(), partitions())
def test_other_metrics_equal_their_definitions(key, response):
    scores = score_clusters(key, response)
    sets = [[frozenset(c) for c in side] for side in (key, response)]
    shared = [[len(k & r) for r in sets[1]] for k in sets[0]]
    mentions = [sum(map(len, side)) for side in sets]
    best = best_total(shared)
    assert scores.ceaf_m.recall == pytest.approx(ratio(best, mentions[0]))
    assert scores.lea.recall == pytest.approx(lea_recall(*sets))
    assert scores.lea.precision == pytest.approx(lea_recall(*sets[::-1]))
    links = [{frozenset(p) for c in side for p in combinations(c, 2)} for side in sets]
    pairs = [{frozenset(p) for p in combinations(sorted(frozenset().union(*side)), 2)} for side in sets]
    others = [p - linked for p, linked in zip(pairs, links, strict=True)]
    for part, (k, r) in ((scores.blanc.link, links), (scores.blanc.non_link, others)):
        assert (part.recall_numerator, part.recall_denominator) == (len(k & r), len(k))
        assert (part.precision_numerator, part.precision_denominator) == (len(k & r), len(r))


def lea_recall(key, response):
    def links(n):
        return n * (n - 1) / 2

    total = 0.0
    for k in key:
        if len(k) == 1:
            total += k in response
        else:
            total += len(k) * sum(links(len(k & r)) for r in response) / links(len(k))
    return ratio(total, sum(map(len, key)))


@drawn(100)
@given(partitions(), partitions())
def test_swapping_the_sides_swaps_recall_and_precision(key, response):
    one, other = score_clusters(key, response), score_clusters(response, key)
    for metric in ("muc", "b_cubed", "ceaf_e", "ceaf_m", "lea", "mentions"):
        a, b = getattr(one, metric), getattr(other, metric)
        assert (a.recall, a.precision) == pytest.approx((b.precision, b.recall)), metric


@drawn(60)
@given(LISTS.filter(bool), st.sampled_from(["released", "first"]), st.integers(0, 9))
def test_order_of_clusters_does_not_matter_without_duplicates(clusters, rule, seed):
    import random

    once = {span: i for i, c in enumerate(clusters) for span in c}
    clusters = [[s for s, owner in once.items() if owner == i] for i in range(len(clusters))]
    mixed = [random.Random(seed).sample(c, len(c)) for c in clusters]
    random.Random(seed).shuffle(mixed)
    key = [[(0, 0), (1, 1), (2, 3)], [(4, 4), (5, 6)]]
    a, b = (score_clusters(key, r, duplicates=rule) for r in (clusters, mixed))
    for name, score in a.named().items():
        assert score.f1 == pytest.approx(b.named()[name].f1), name


def test_a_shared_span_stays_in_the_cluster_that_opens_first():
    """Rule "first": by first start, then the longer first mention, then the order given."""
    key = [[(0, 0), (5, 5)], [(2, 2), (7, 7)]]
    response = [[(2, 2), (5, 5)], [(0, 0), (5, 5)]]
    scores = score_clusters(key, response, duplicates="first")
    assert scores == score_clusters(key, [[(2, 2)], [(0, 0), (5, 5)]])
    assert scores != score_clusters(key, response, duplicates="released")


def test_of_clusters_that_open_together_the_longer_opening_wins():
    key = [[(0, 3), (5, 5)]]
    response = [[(0, 0), (5, 5)], [(0, 3), (5, 5)]]
    assert score_clusters(key, response, duplicates="first") == score_clusters(key, [[(0, 0)], response[1]])


def test_results_carry_numerators_and_denominators(letters):
    values = score_clusters(letters("abc"), letters("ab")).to_dict()
    assert values["muc"] == {
        "precision": 1.0,
        "recall": 0.5,
        "f1": pytest.approx(2 / 3),
        "recall_numerator": 1.0,
        "recall_denominator": 2.0,
        "precision_numerator": 1.0,
        "precision_denominator": 1.0,
    }
    assert set(values) == {"muc", "b_cubed", "ceaf_e", "conll", "ceaf_m", "blanc", "lea", "mentions"}
