"""Typed scores: the worked examples of the specification come out to the digit."""

from __future__ import annotations

from collections import Counter
from functools import partial

import pytest

from bookcoref_data.errors import UsageError
from bookcoref_data.resources import load_toml, resource
from bookcoref_data.scoring import evaluate
from bookcoref_data.scoring.scores import Score
from bookcoref_data.scoring.typed import (
    TYPED_METRICS,
    Coverage,
    Labelled,
    LabelScores,
    TypedScores,
    TypedSpan,
    assign_labels,
    best,
    class_weights,
    jaccard,
    passages,
    propagate,
    score_labels,
    typed_scores,
)
from bookcoref_data.workflows.typed_labels import in_classes, noun_label, noun_spans


@pytest.mark.parametrize(("mention", "spans", "label"), [
    ((0, 2), [(1, 2, "PER")], "PER"),
    ((0, 1), [(1, 1, "PER")], None),
    ((1, 2), [(0, 2, "PER")], "PER"),
    ((0, 3), [(0, 1, "PER"), (2, 3, "LOC")], None),
    ((0, 4), [(2, 2, "PER"), (4, 4, "LOC")], None),
    ((5, 6), [(5, 6, "LOC"), (5, 7, "PER")], "LOC"),
    ((5, 6), [(5, 6, "PER"), (5, 6, "LOC")], "LOC"),
])  # fmt: skip
def test_assignment_wants_more_than_half(mention, spans, label):
    found = assign_labels([mention], [TypedSpan(*span) for span in spans])
    assert (found.get(mention) or (None,))[0] == label


def test_overlap_is_that_of_token_sets():
    assert jaccard((0, 2), (1, 2)) == pytest.approx(2 / 3)
    assert jaccard((0, 0), (1, 1)) == 0
    assert jaccard((3, 1), (0, 4)) == 0


MOBY = {(0, 1): ("PER", 1.0), (10, 12): ("ANIMAL", 2 / 3), (20, 23): ("ANIMAL", 3 / 4)}
WHALE = [(0, 1), (10, 12), (20, 23), (30, 31), (40, 40), (50, 50)]


def test_the_majority_labels_the_unlabelled():
    whale = propagate([WHALE], MOBY)
    assert whale.cluster_labels == ("ANIMAL",)
    assert [whale.mentions[span] for span in WHALE] == ["PER", *["ANIMAL"] * 5]
    assert whale.direct == 3


def test_disagreeing_labels_may_be_overridden():
    assert set(propagate([WHALE], MOBY, disagreeing="override").mentions.values()) == {"ANIMAL"}
    with pytest.raises(UsageError, match="keep, override"):
        propagate([], {}, disagreeing="maybe")


def test_a_tie_goes_to_the_better_overlap_then_to_the_alphabet():
    two = WHALE[:2]
    assert propagate([two], {s: MOBY[s] for s in two}).cluster_labels == ("PER",)
    assert propagate([two], {two[0]: ("PER", 1.0), two[1]: ("ANIMAL", 1.0)}).cluster_labels == ("ANIMAL",)
    assert propagate([two], {}).cluster_labels == (None,)


def labelled(clusters):
    """Clusters of one-token mentions, each with one label for all."""
    groups = tuple(tuple((m, m) for m in members) for members, _ in clusters)
    labels = tuple(label for _, label in clusters)
    mentions = {span: label for group, label in zip(groups, labels, strict=True) for span in group}
    return Labelled(groups, labels, mentions, 0)


KEY = labelled([([1, 2, 3, 4], "PER"), ([5, 6], "LOC")])
RESPONSE = labelled([([1, 2, 5], "PER"), ([3, 4], "PER"), ([6, 7], "LOC")])


def macro(scores, metric):
    return sum(getattr(one, metric).f1 for one in scores.values()) / len(scores)


def test_the_worked_example_of_mentions_and_links():
    found = score_labels(KEY, RESPONSE)
    per, loc = found["PER"], found["LOC"]
    assert (per.mentions.precision, per.mentions.recall) == (4 / 5, 1.0)
    assert round(per.mentions.f1, 3) == 0.889
    assert loc.mentions.f1 == 0.5
    assert round(macro(found, "mentions"), 3) == 0.694
    for metric in ("shared_links", "gold_links"):
        assert (getattr(per, metric).precision, round(getattr(per, metric).recall, 3)) == (0.5, 0.333)
        assert round(getattr(per, metric).f1, 3) == 0.4
        assert getattr(loc, metric).f1 == 0
        assert round(macro(found, metric), 3) == 0.2


def test_gold_links_punish_missed_mentions_and_shared_links_do_not():
    missed = labelled([([1, 2], "PER"), ([5, 6], "LOC")])
    per = score_labels(KEY, missed)["PER"]
    assert (per.gold_links.recall, per.gold_links.precision) == (1 / 6, 1.0)
    assert per.shared_links.f1 == 1.0


def test_lenient_mentions_need_the_span_alone():
    other = labelled([([1, 2, 3, 4], "ANIMAL"), ([5, 6], "LOC")])
    found = score_labels(KEY, other)
    assert (found["PER"].mentions.f1, found["PER"].lenient.recall) == (0.0, 1.0)
    assert (found["ANIMAL"].lenient.precision, found["ANIMAL"].key_mentions) == (1.0, 0)


def test_an_evaluation_is_typed_by_document(record):
    text = [["The", "old", "king", "saw", "Rex", ".", "He", "barked", "."]]
    key = record("b", [[(0, 2)], [(4, 4), (6, 6)]], text)
    response = record("b", [[(0, 2), (6, 6)], [(4, 4)]], text)
    spans = {"b": [TypedSpan(1, 2, "PER"), TypedSpan(4, 4, "ANIMAL")]}
    found = typed_scores(evaluate([key], [response]), spans, name="system")
    by_label = {one.label: one for one in found.labels}
    assert (found.key_coverage.direct, found.key_coverage.propagated, found.key_coverage.mentions) == (
        2,
        3,
        3,
    )
    assert by_label["ANIMAL"].mentions.recall == 0.5
    assert found.macro_f1("shared_links") == 0.0
    assert [(e.kind, e.span) for e in found.examples["ANIMAL"]] == [("labelled PER", (6, 6))]
    assert found.examples["ANIMAL"][0].text == "old king saw Rex . [He] barked ."
    assert found.to_dict()["labels"][0]["label"] == "ANIMAL"


def test_labels_of_several_documents_are_added(record):
    text = [["The", "old", "king", "saw", "Rex", ".", "He", "barked", "."]]
    books = [record(key, [[(0, 2)], [(4, 4), (6, 6)]], text) for key in "ab"]
    answers = [books[0], record("b", [[(0, 2), (6, 6)], [(4, 4)]], text)]
    spans = {key: [TypedSpan(1, 2, "PER"), TypedSpan(4, 4, "ANIMAL")] for key in "ab"}
    alone = [typed_scores(evaluate([k], [r]), spans) for k, r in zip(books, answers, strict=True)]
    both = typed_scores(evaluate(books, answers), spans)
    for first, second, one in zip(alone[0].labels, alone[1].labels, both.labels, strict=True):
        assert one.label == first.label == second.label
        assert one.key_mentions == first.key_mentions + second.key_mentions
        assert one.response_mentions == first.response_mentions + second.response_mentions
        for metric in TYPED_METRICS:
            assert getattr(one, metric) == getattr(first, metric) + getattr(second, metric)


def test_labels_of_other_documents_are_refused(record):
    result = evaluate([record("b", "ab")], [record("b", "ab")])
    with pytest.raises(UsageError, match="no typed spans for any document"):
        typed_scores(result, {"c": [TypedSpan(0, 0, "PER")]})
    windows = evaluate([record("b", "ab")], [record("b", "ab")], "gold-window-blocks")
    with pytest.raises(UsageError, match="--mode full"):
        typed_scores(windows, {"b": []})


@pytest.mark.parametrize(("words", "label"), [
    ("the old king of France", "PER"), ("a white whale", "ANIMAL"), ("Mrs. Bennet", "PER"), ("he", None),
    ("Zanzibar", None), ("her mother 's letter", "MEDIA"), (".", None),
])  # fmt: skip
def test_the_noun_list_goes_by_the_head(words, label):
    tokens = words.split()
    assert noun_label(tokens, 0, len(tokens) - 1) == label


def test_noun_spans_are_the_mentions_themselves():
    assert noun_spans(["a", "dog", "ran"], [(0, 1), (2, 2), (0, 1)]) == [TypedSpan(0, 1, "ANIMAL")]


def test_ties_of_mean_overlap_do_not_depend_on_the_order_of_mentions():
    """0.6 + 0.7 + 0.8 is 2.0999999999999996 or 2.1, by the order of the sum."""
    mentions = [(100 * i, 100 * i + 9) for i in range(6)]
    shares = zip(mentions, (6, 7, 8, 8, 7, 6), ["PER"] * 3 + ["ORG"] * 3, strict=True)
    spans = [TypedSpan(start, start + size - 1, label) for (start, _), size, label in shares]
    assigned = assign_labels(mentions, spans)
    for order in (mentions, mentions[::-1]):
        assert propagate([order], assigned).cluster_labels == ("ORG",)


def put(classes, labels):
    """Labels in other classes, and what none stands for."""
    lost = Counter()
    found = in_classes([TypedSpan(i, i, label) for i, label in enumerate(labels.split())], classes, lost)
    return [(span.start, span.label) for span in found], dict(lost)


def test_plain_ner_has_four_classes_and_no_numbers():
    assert put("four", "PERSON GPE CARDINAL DATE NORP ORG FAC CARDINAL") == (
        [(0, "PER"), (1, "LOC"), (4, "MISC"), (5, "ORG"), (6, "LOC")], {"CARDINAL": 2, "DATE": 1},
    )  # fmt: skip


def test_labels_of_ontonotes_litbank_and_gum_have_a_class_of_cner_or_none():
    cner = load_toml(resource("manifests", "classes.toml"))["cner"]
    classes = cner["classes"].split()
    assert len(classes) == len({*classes}) == 29
    assert (classes[0], classes[10], classes[12], classes[28]) == ("ANIMAL", "PER", "LOC", "ASSET")
    sets = {name: table for name, table in cner.items() if isinstance(table, dict)}
    seen = {}
    for name, table in sets.items():
        assert {*table} - {"none"} <= {*classes}, name
        for one, labels in table.items():
            for label in labels.split():
                assert seen.setdefault(label, one) == one, f"{label} has two classes"
                assert label not in classes or label == one, f"{label} of {name} is a class of its own"
    known = {name: sorted(" ".join(sets[name].values()).split()) for name in ("ontonotes", "litbank")}
    assert " ".join(known["ontonotes"]) == (
        "CARDINAL DATE EVENT FAC GPE LANGUAGE LAW LOC MONEY NORP ORDINAL ORG PERCENT PERSON PRODUCT "
        "QUANTITY TIME WORK_OF_ART"
    )
    assert known["litbank"] == ["FAC", "GPE", "LOC", "ORG", "PER", "VEH"]
    assert put("cner", "VEH person NORP SUPERNATURAL ORDINAL abstract DATE") == (
        [(0, "ARTIFACT"), (1, "PER"), (2, "GROUP"), (3, "SUPER"), (6, "DATETIME")],
        {"ORDINAL": 1, "abstract": 1},
    )  # fmt: skip
    with pytest.raises(UsageError, match="knows nothing of the label 'WIZARD'"):
        put("cner", "PER WIZARD")


def test_passages_are_worth_what_their_classes_lack():
    found = list(passages("d", [3, 5, 8, 10], {(0, 1): "PER", (4, 4): "LOC", (6, 7): "LOC", (9, 9): None},
                          {"PER": 0.1, "LOC": 0.4}, tokens=5))  # fmt: skip
    assert [(p.start, p.end, p.classes, p.worth) for p in found] == [
        (0, 5, {"PER": 1, "LOC": 1}, pytest.approx(0.5)), (5, 10, {"LOC": 1}, pytest.approx(0.4)),
    ]  # fmt: skip
    assert [p.start for p in best(reversed(found), 1)] == [0]


def test_a_class_that_is_right_is_worth_nothing_and_a_rare_one_more():
    score = partial(LabelScores, response_mentions=9)
    half, whole = Score(1, 2, 1, 2), Score(2, 2, 2, 2)
    rows = (("A", 10, whole), ("B", 10, half), ("C", 2, half))
    labels = tuple(score(label, count, mentions=of, gold_links=of) for label, count, of in rows)
    weights = class_weights(TypedScores("s", "keep", labels, Coverage(), Coverage(), {}))
    assert weights == {"A": 0.0, "B": pytest.approx(0.05), "C": pytest.approx(0.25)}
