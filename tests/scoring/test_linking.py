"""Linking on (character, span), spans alone, and results by character."""

from __future__ import annotations

import pytest

from bookcoref_data.scoring import evaluate
from bookcoref_data.scoring.evaluation import score_linking
from bookcoref_data.scoring.labels import character_scores

KEY = [("Anna", [(0, 0), (3, 3)]), ("Ben", [(5, 5), (6, 6)])]


def test_a_span_under_another_name_counts_only_as_a_span():
    found = score_linking(KEY, [("Anna", [(0, 0), (5, 5)]), ("Ben", [(6, 6), (9, 9)])])
    assert (found.linked.precision, found.linked.recall) == (2 / 4, 2 / 4)
    assert (found.spans.precision, found.spans.recall) == (3 / 4, 3 / 4)
    assert found.common_names == 2


def test_a_span_under_two_names_is_two_links_and_one_span():
    found = score_linking(KEY, [("Anna", [(0, 0)]), ("Ben", [(0, 0)])])
    assert (found.linked.precision_denominator, found.spans.precision_denominator) == (2, 1)


def test_a_name_is_one_however_its_accents_marks_and_blanks_are_written():
    """Two files of one cast by different programs: linking was 0 for a character that looks the same."""
    found = score_linking([("Émile O’Brien", [(0, 0)])], [("E\u0301mile  O'Brien ", [(0, 0)])])
    assert (found.linked.f1, found.common_names) == (1.0, 1)
    assert score_linking([("Emile", [(0, 0)])], [("Émile", [(0, 0)])]).linked.f1 == 0.0


def test_scores_of_books_are_added():
    found = score_linking(KEY, [("Anna", [(0, 0), (5, 5)]), ("Ben", [(6, 6), (9, 9)])])
    total = (found + score_linking(KEY, [("Anna", [(0, 0)])])).to_dict()
    assert total["common_names"] == 3
    assert (total["linked"]["precision"], total["linked"]["recall"]) == (3 / 5, 3 / 8)
    assert (total["spans"]["precision"], total["spans"]["recall"]) == (4 / 5, 4 / 8)


def test_books_in_which_the_response_names_nobody_count_as_missed(record):
    named = [record("a", "ab cd", names=["X", "Y"]), record("b", "ef", names=["X"])]
    unnamed = record("b", "ef")
    assert evaluate(named, named).linking.linked.recall_denominator == 6
    partly = evaluate(named, [named[0], unnamed])
    assert (partly.linking.linked.recall_numerator, partly.linking.linked.recall_denominator) == (4, 6)
    assert partly.linking.linked.precision == 1.0
    assert partly.books[1].linking.linked.f1 == 0.0


def test_linking_is_scored_only_where_somebody_is_named(record):
    named, unnamed = record("b", "ef", names=["X"]), record("b", "ef")
    assert evaluate([unnamed], [unnamed]).linking is None
    assert evaluate([unnamed], [named]).linking is None
    assert evaluate([named], [unnamed]).linking is None


def test_numbered_clusters_are_said_to_have_no_names(record):
    """BookNLP's predictions name clusters "0", "1", ...: the spans can be scored, the links cannot."""
    result = evaluate([record("b", "ab cd", names=["X", "Y"])], [record("b", "ab cd", names=["0", "1"])])
    assert (result.linking.linked.f1, result.linking.spans.f1) == (0.0, 1.0)
    assert "no character name in common" in result.notes[0]


def test_each_character_meets_its_aligned_cluster(record):
    key = record("b", "abcd efg h", names=["Anna", "Ben", "Cid"])
    response = record("b", "abcx d ef")
    found = {s.name: s for s in character_scores(evaluate([key], [response]))}
    anna = found["Anna"]
    assert (anna.mentions, anna.found, anna.pieces) == (4, 4, 2)
    assert (anna.score.precision, anna.score.recall) == (3 / 4, 3 / 4)
    assert (found["Ben"].score.precision, found["Ben"].score.recall) == (1, pytest.approx(2 / 3))
    assert (found["Cid"].partner, found["Cid"].score.f1) == (None, 0.0)


def test_a_character_is_summed_over_windows(farm, real):
    result = evaluate(farm["key windows"], real["system windows"], "split")
    found = character_scores(result)
    assert sum(s.mentions for s in found) == 1705
    assert len(found) == 20
    assert found[0].name == "Napoleon"
    assert found[0].score.recall == pytest.approx(282 / 313)
