"""Table 1: the closed form equals the naive one, and the paper's figures come out."""

from __future__ import annotations

import json
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bookcoref_data as bc
from bookcoref_data.books import Mention, Record
from bookcoref_data.books.statistics import corpus_statistics, document_statistics, pairwise_distance_sum
from bookcoref_data.errors import DataError


def naive(starts):
    return sum(abs(a - b) for a, b in combinations(starts, 2))


@given(st.lists(st.integers(0, 1000), max_size=60))
def test_closed_form_equals_the_sum_over_all_pairs(starts):
    assert pairwise_distance_sum(starts) == naive(starts)


@given(st.lists(st.integers(2**60, 2**62), min_size=2, max_size=20))
def test_sums_beyond_64_bits_stay_exact(starts):
    assert pairwise_distance_sum(starts) == naive(starts)


@pytest.mark.long
def test_a_chain_of_the_size_of_war_and_peace_does_not_overflow():
    n, step = 30_000, 25
    expected = step * (n - 1) * n * (n + 1) // 6  # sum of |i - j| over all pairs, times the step
    assert pairwise_distance_sum([step * i for i in range(n)]) == expected
    far = [0] * 1_000_000 + [2**31 - 1] * 1_000_000
    assert pairwise_distance_sum(far) == 10**12 * (2**31 - 1)


def spans(*starts):
    return [Mention(s, s) for s in starts]


def test_the_definitions_on_a_small_case():
    one = Record("one", sentences=[["a"] * 10, ["b"] * 2], clusters=[spans(0, 4, 5), spans(7, 9), spans(3)])
    two = Record("two", sentences=[["c"] * 8], clusters=[spans(1, 7), []])
    s = corpus_statistics([document_statistics(one), document_statistics(two)])
    assert (s.documents, s.tokens, s.sentences, s.mentions, s.chains, s.singletons) == (2, 20, 3, 8, 4, 1)
    assert s.mentions_per_chain == (6 / 3 + 2 / 1) / 2
    assert s.mentions_per_chain_pooled == 8 / 4
    means = [(4 + 5 + 1) / 3, 2, 6]
    assert s.mention_distance == pytest.approx((3 * means[0] + 2 * means[1] + 2 * means[2]) / 7)
    assert s.mention_distance_pooled == pytest.approx((10 + 2 + 6) / 5)
    assert s.mention_distance_plain == pytest.approx(sum(means) / 3)


def test_nothing_to_average_is_none_and_missing_tokens_are_not_zero():
    s = corpus_statistics([])
    assert (s.documents, s.tokens, s.mentions_per_chain, s.mention_distance) == (0, 0, None, None)
    no_text = corpus_statistics([document_statistics(Record("x", clusters=[spans(1, 2)]))])
    assert no_text.tokens is None
    assert no_text.tokens_per_document is None
    assert no_text.mention_distance == 1


@pytest.mark.long
def test_the_printed_litbank_row_comes_out(shared_data):
    from bookcoref_data.formats import read_documents

    documents = [document_statistics(r) for r in read_documents(shared_data / "litbank/coref/conll")]
    s = corpus_statistics(documents)
    assert (s.documents, s.tokens, s.mentions, s.chains) == (100, 210_532, 29_103, 7_927)
    assert round(s.mentions_per_chain, 2) == 4.17
    assert round(s.mentions_per_chain_pooled, 2) == 3.67
    assert round(s.mention_distance, 1) == 480.4
    assert round(s.mention_distance_pooled, 1) == 647.0
    assert round(s.mention_distance_plain, 1) == 266.5


def test_animal_farm_comes_out(shared_data):
    from bookcoref_data.formats import read_documents

    (record,) = read_documents(shared_data / "gold/animal_farm.conll")
    s = corpus_statistics([document_statistics(record)])
    assert (s.tokens, s.mentions, s.chains, s.mentions_per_chain) == (34_979, 1_705, 20, 85.25)
    figures = [s.mention_distance, s.mention_distance_pooled, s.mention_distance_plain]
    assert figures == pytest.approx([8658.1, 8839.9, 8469.6], abs=0.06)


def test_mentions_that_are_the_name_of_their_character_word_for_word():
    sentences = [
        ["Mary", "Ann", "saw", "MARY", "ann", "and"],
        ["Maryann", "Mary", "Ann", "Tom", "her", "Tom"],
    ]
    mary = [Mention(0, 1), Mention(3, 4), Mention(6, 6), Mention(7, 7), Mention(10, 10)]
    record = Record("b", sentences=sentences, characters=[("Mary Ann", mary), ("Tom", spans(9, 11))])
    one = document_statistics(record)
    assert (one.named_mentions, one.name_mentions) == (7, 5)
    other = document_statistics(Record("c", sentences=[["Tom", "he"]], characters=[("Tom", spans(0, 1))]))
    assert corpus_statistics([one, other]).exact_name_share == 6 / 9


@pytest.mark.parametrize(
    ("record", "counts"),
    [(Record("b", sentences=[["Tom"]]), (0, 0)), (Record("b", characters=[("Tom", spans(0))]), (1, None))],
)
def test_without_text_or_characters_there_is_no_share_of_names(record, counts):
    one = document_statistics(record)
    assert (one.named_mentions, one.name_mentions) == counts
    assert corpus_statistics([one]).exact_name_share is None


def test_counts_of_one_document():
    record = Record(
        "b",
        sentences=[["a", "b"], ["c"]],
        clusters=[spans(0, 2), spans(1), []],
        characters=[("A", spans(0, 2))],
    )
    one = document_statistics(record)
    assert (one.tokens, one.sentences, one.mentions, one.chains) == (3, 2, 3, 2)
    assert (one.singletons, one.characters, one.longest_chain) == (1, 1, 2)
    table = corpus_statistics([one, document_statistics(Record("c", sentences=[["x"]]))])
    assert (table.characters, table.longest_chain, table.singletons) == (1, 2, 1)
    assert (table.tokens_per_document, table.mentions_per_document, table.chains_per_document) == (2, 1.5, 1)


def test_characters_without_clusters_are_the_chains():
    """They are scored; `stats` said that there was no mention."""
    spans = [(0, 0), (2, 2)]
    both = document_statistics(Record("b", "", [["Ann", "saw", "her"]], [spans], [("Ann", spans)]))
    assert document_statistics(Record("b", "", [["Ann", "saw", "her"]], [], [("Ann", spans)])) == both


def test_mentions_outside_the_text_are_counted_and_said(tmp_path):
    clusters = [[[0, 0], [2, 3]], [[1, 1], [3, 3]], [[3, 3]]]
    row = {"doc_key": "d", "sentences": [["a", "b"], ["c"]], "clusters": clusters}
    path = tmp_path / "x.jsonl"
    path.write_text(json.dumps(row) + "\n")
    found = bc.stats(path)
    twice = f"{path}: 1 span in several clusters, counted for each as `evaluate` does"
    assert found.notes == [f"{path}: 2 mentions outside the text, counted with the others", twice]
    assert found.documents()[0]["outside"] == 2
    row["clusters"][1:] = []
    path.write_text(json.dumps(row | {"characters": [{"name": "A", "mentions": [[7, 7]]}]}) + "\n")
    assert bc.stats(path).documents()[0]["outside"] == 2
    path.write_text(json.dumps({"doc_key": "d", "clusters": clusters}) + "\n")
    assert bc.stats(path).notes == []  # without a text nothing tells
    clusters = [[[0, 0], [0, 0], [1, 1], [1, 1], [1, 1]], [[1, 1], [2, 2]], [[2, 2]]]
    path.write_text(json.dumps(row | {"clusters": clusters}) + "\n")
    found = bc.stats(path)
    assert [found.documents()[0][of] for of in ("mentions", "repeated", "shared")] == [8, 3, 2]
    assert found.notes == [
        f"{path}: 3 spans listed again in the same cluster, counted for each as `evaluate` does",
        f"{path}: 2 spans in several clusters, counted for each as `evaluate` does",
    ]
    notes = " ".join(bc.evaluate(path, path).notes)
    assert "3 spans listed again in the same cluster: counted for each" in notes
    assert "2 spans in several clusters: counted for each" in notes
    path.write_text("\n")
    with pytest.raises(DataError, match="holds no document"):
        bc.stats(path)


def test_what_the_picture_cannot_show_is_said(tmp_path):
    pytest.importorskip("matplotlib")
    far = Record("t", "", [["Ann", "and", "Ann"]], [spans(0, 2)])
    found = bc.stats([far], [Record("u", "", None, [spans(0, 5)])], [far], plots=tmp_path / "p")
    assert [note for note in found.notes if "picture" in note] == [
        "source 2: not in the picture, which needs a text and two mentions of somebody"
    ]
    assert found.plots


def test_the_share_of_names_is_of_all_documents_or_not_known():
    with_text = Record("t", "", [["Ann"]], [spans(0)], [("Ann", spans(0))])
    without = Record("u", "", None, [spans(0, 1)], [("Ben", spans(0, 1))])
    assert bc.stats([with_text]).documents()[0]["exact_name_share"] == 1
    assert bc.stats([with_text, Record("n", "", [["x"]])]).documents()[0]["exact_name_share"] == 1
    assert bc.stats([with_text, without]).documents()[0]["exact_name_share"] is None
