"""Errors in the sense of Kummerfeld and Klein: each kind on its own, and all together on a real book."""

from __future__ import annotations

import pytest

from bookcoref_data.books import Record
from bookcoref_data.scoring import evaluate
from bookcoref_data.scoring.error_analysis import ERROR_TYPES, analyse_errors
from bookcoref_data.scoring.typed import jaccard

TEXT = "Anna met the old Ben of York . She saw him . The tall queen laughed and Anna wept"
WORDS = TEXT.split(" ")
ANNA, BEN, SHE, HIM, QUEEN, ANNA2 = (0, 0), (2, 6), (8, 8), (10, 10), (12, 14), (17, 17)
KEY = [[ANNA, SHE, ANNA2], [BEN, HIM], [QUEEN]]
NAMES = ["Anna", "Ben", "Queen"]


def analyse(response, key=KEY, words=WORDS):
    sentences = None if words is None else [words]
    gold = Record("b", "", sentences, key, list(zip(NAMES, key, strict=False)))
    return analyse_errors(evaluate([gold], [Record("b", "", sentences, response)]))


def counted(analysis):
    return {c.type: (c.errors, c.mentions) for c in analysis.counts if c.errors}


@pytest.mark.parametrize(("response", "expected"), [
    (KEY, {}),
    ([[ANNA, SHE, ANNA2], [(2, 4), HIM], [QUEEN]], {"span": (1, 1)}),
    ([[ANNA, SHE, ANNA2, (1, 1)], [BEN, HIM], [QUEEN]], {"extra mention": (1, 1)}),
    ([*KEY, [(1, 1), (15, 15)]], {"extra entity": (1, 2)}),
    ([[ANNA, ANNA2], [BEN, HIM], [QUEEN]], {"missing mention": (1, 1)}),
    ([[ANNA, SHE, ANNA2], [BEN, HIM]], {"missing entity": (1, 1)}),
    ([[ANNA, SHE, ANNA2, BEN, HIM], [QUEEN]], {"conflated entity": (1, 2)}),
    ([[ANNA, SHE], [ANNA2], [BEN, HIM], [QUEEN]], {"divided entity": (1, 1)}),
    ([[ANNA, SHE, HIM], [ANNA2], [BEN], [QUEEN]],
     {"conflated entity": (1, 1), "divided entity": (2, 2)}),
    ([], {"missing entity": (3, 6)}),
])  # fmt: skip
def test_each_kind(response, expected):
    analysis = analyse(response)
    assert counted(analysis) == expected
    assert [c.type for c in analysis.counts] == list(ERROR_TYPES)


@pytest.mark.parametrize(("response", "step"), [
    ([[ANNA, SHE, ANNA2], [(2, 4), HIM], [QUEEN]], 1),
    ([[ANNA, SHE, ANNA2, (1, 1)], [BEN, HIM], [QUEEN]], 2),
    ([[ANNA, ANNA2], [BEN, HIM], [QUEEN]], 3),
    ([[ANNA, SHE, ANNA2]], 3),
    ([[ANNA, SHE, ANNA2, BEN, HIM], [QUEEN]], 4),
    ([[ANNA, SHE], [ANNA2], [BEN, HIM], [QUEEN]], 5),
])  # fmt: skip
def test_an_error_costs_what_its_own_correction_gives_back(response, step):
    f1 = [scores.conll.f1 for _, scores in analyse(response).steps]
    assert len(set(f1[:step])) == 1
    assert f1[0] < 1
    assert f1[step:] == [1] * (6 - step)


def test_a_span_error_needs_the_same_head():
    """ "York" lies inside "the old Ben of York", but its head is another word."""
    assert counted(analyse([[ANNA, SHE, ANNA2], [(6, 6), HIM], [QUEEN]])) == {
        "extra mention": (1, 1),
        "missing mention": (1, 1),
    }


def test_spans_are_mended_one_to_one_and_the_closest_wins():
    response = [[ANNA, SHE, ANNA2], [(3, 4), (2, 4), HIM], [QUEEN]]
    analysis = analyse(response)
    assert counted(analysis) == {"span": (1, 1), "extra mention": (1, 1)}
    assert analysis.spurious[0].what == "old ben"


@pytest.mark.parametrize(
    ("length", "offered", "chosen"),
    [(2, (5, 1), 1), (2, (1, 5), 1), (3, (2, 4), 4), (3, (4, 2), 4), (4, (3, 6), 3), (1, (3, 2), 2)],
)
def test_the_closest_span_has_the_most_tokens_in_common_over_those_in_either(length, offered, chosen):
    """The spans end with the same token, which is their head."""
    words = [f"t{i}" for i in range(130)]

    def span(tokens):
        return (101 - tokens, 100)

    analysis = analyse([[*map(span, offered), (120, 120)]], [[span(length), (120, 120)]], words)
    assert counted(analysis) == {"span": (1, 1), "extra mention": (1, 1)}
    start, end = span(sum(offered) - chosen)
    assert [row.what for row in analysis.spurious] == [" ".join(words[start : end + 1])]


def test_a_mended_mention_of_the_wrong_character_is_conflated():
    analysis = analyse([[ANNA, SHE, ANNA2, (2, 4)], [HIM], [QUEEN]])
    assert counted(analysis) == {"span": (1, 1), "conflated entity": (1, 1), "divided entity": (1, 1)}


def test_corrections_end_in_the_key():
    analysis = analyse([[ANNA, HIM, (1, 1)], [(2, 4), ANNA2], [(15, 15)]])
    f1 = [scores.conll.f1 for _, scores in analysis.steps]
    assert f1[-1] == pytest.approx(1.0)
    assert f1 == sorted(f1)


def test_confusions_name_both_characters_and_show_the_text():
    conflated = analyse([[ANNA, SHE, ANNA2, HIM], [BEN], [QUEEN]]).conflated
    assert [(c.home, c.other, c.mentions, c.wrong_links) for c in conflated] == [("Anna", "Ben", 1, 3)]
    assert conflated[0].snippets == (
        "the old Ben of York . She saw [him] . The tall queen laughed and Anna wept",
    )


def test_divisions_count_the_links_lost():
    divided = analyse([[ANNA, SHE], [ANNA2], [BEN, HIM], [QUEEN]]).divided
    assert [(d.name, d.parts, d.mentions, d.lost_links) for d in divided] == [("Anna", 1, 1, 2)]


def test_missed_and_spurious_mentions_are_listed():
    analysis = analyse([[ANNA, ANNA2, (5, 5)], [BEN, HIM]])
    assert [(m.what, m.mentions) for m in analysis.missed] == [("Anna", 1), ("Queen", 1)]
    assert [(s.what, s.mentions) for s in analysis.spurious] == [("of", 1)]


def test_the_matrix_counts_every_key_mention_once():
    names, counts, _ = analyse([[ANNA, SHE, HIM], [BEN], [ANNA2]]).matrix["b"]
    assert names == ("Anna", "Ben", "Queen")
    # Ben's home is the cluster {Ben}; him lies in Anna's; the queen is missed.
    assert counts.tolist() == [[3, 0, 0, 0], [1, 1, 0, 0], [0, 0, 0, 1]]


def test_offsets_without_text_are_enough():
    analysis = analyse([[ANNA, SHE, ANNA2, HIM], [BEN], [(13, 14)]], words=None)
    assert counted(analysis) == {"span": (1, 1), "conflated entity": (1, 1), "divided entity": (1, 1)}
    assert analysis.conflated[0].snippets == ()


def test_unnamed_characters_are_called_by_their_names_in_the_text():
    key = Record("b", "", [WORDS], KEY)
    response = Record("b", "", [WORDS], [[ANNA, SHE, ANNA2, BEN, HIM]])
    found = analyse_errors(evaluate([key], [response])).conflated[0]
    assert (found.home, found.other) == ("Anna", "the old Ben of York")


def test_a_real_book(farm, real):
    """The fine-tuned system takes Boxer for Napoleon and Clover for Snowball all through Animal Farm."""
    analysis = analyse_errors(evaluate(farm["key"], real["system"]))
    assert [(c.home, c.other) for c in analysis.conflated[:2]] == [
        ("Napoleon", "Boxer"),
        ("Snowball", "Clover"),
    ]
    found = counted(analysis)
    _, matrix, mended = analysis.matrix["animal_farm_0"]
    assert matrix.sum() == 1705
    assert mended == found["span"][1] > 0
    assert matrix[:, -1].sum() == found["missing mention"][1] + found["missing entity"][1]
    assert analysis.steps[0][1].conll.f1 == pytest.approx(0.6275, abs=5e-5)
    assert analysis.steps[-1][1].conll.f1 == pytest.approx(1.0)


def test_windows_are_analysed_apart(farm, real):
    """In split mode a character in two windows is not divided: no cluster can span windows."""
    key = [farm["key windows"][i] for i in (3, 4)]
    assert counted(analyse_errors(evaluate(key, key, "split"))) == {}


def test_spans_are_paired_by_the_share_of_tokens_in_common():
    spans = [(a, b) for a in range(4) for b in range(a, 5)]
    for a, b in spans:
        for c, d in spans:
            one, two = set(range(a, b + 1)), set(range(c, d + 1))
            assert float(jaccard((a, b), (c, d))) == len(one & two) / len(one | two)
