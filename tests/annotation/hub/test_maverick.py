"""Maverick: mentions inside sentences, antecedents by category, whatever the size of the blocks."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bookcoref_data.annotation.hub import maverick as module
from bookcoref_data.annotation.hub.categories import STOPWORDS, MentionWords, pronoun_group
from bookcoref_data.annotation.hub.layers import two_layers
from bookcoref_data.annotation.hub.maverick import Maverick

torch = pytest.importorskip("torch", reason="the extra gpu is not installed")

SENTENCES = [
    ["the", "old", "fox", "met", "Anna"],
    ["she", "was", "tired"],
    ["I", "said", "that", "he", "was"],
]


def biased(model: Maverick, value: float) -> Maverick:
    """The same model, more or less willing to see mentions."""
    names = ("start_token_classifier", "start_end_classifier")
    more = {f"{name}.layer.dense.bias": torch.tensor([value]) for name in names}
    model._heads = dict(model._heads) | more
    return model


@pytest.fixture
def model(offline_hub) -> Maverick:
    loaded = Maverick.load("tiny/maverick", encoder="tiny/encoder", device=torch.device("cpu"))
    return biased(loaded, 2.0)


# A block reaches from the last word of a sentence to the last word of the next.
BLOCK_SPANS = {
    (a, b)
    for low, high in [(0, 4), (4, 7), (7, 12)]
    for a in range(low, high + 1)
    for b in range(a, high + 1)
}


def words_of(spans):
    flat = [w for s in SENTENCES for w in s]
    return [flat[a : b + 1] for a, b in spans.words]


def test_mentions_lie_inside_the_published_blocks(model):
    assert set(biased(model, 1e3).spans(SENTENCES).words) == BLOCK_SPANS


def test_given_mentions_are_kept_even_when_the_model_finds_nothing(model):
    spans = biased(model, -1e3).spans(SENTENCES, [(4, 4), (5, 5)])
    assert spans.words == [(4, 4), (5, 5)]
    assert spans.starts.shape == (2, 16)


@pytest.mark.parametrize("layer", ["start_token_classifier", "start_end_classifier"])
def test_mention_scores_follow_the_definition(model, layer):
    """Every span of a block, scored one pair at a time in the published order of the two layers.

    The bias of one layer is set to the middle of its scores, so that it decides, and the other to yes.
    """
    states = biased(model, 1e3).spans(SENTENCES, sorted(BLOCK_SPANS))
    assert set(states.words) == BLOCK_SPANS
    heads = model._heads = dict(model._heads) | {f"{layer}.layer.dense.bias": torch.zeros(1)}
    if layer == "start_token_classifier":
        scores = two_layers(heads, layer, states.starts)
    else:
        tail = two_layers(heads, "start_token_representation", states.ends)
        head = two_layers(heads, "end_token_representation", states.starts)
        scores = torch.stack(
            [two_layers(heads, layer, torch.cat(pair)) for pair in zip(tail, head, strict=True)]
        )
    middle = (scores.max() + scores.min()) / 2
    heads[f"{layer}.layer.dense.bias"] = -middle.reshape(1)
    expected = {span for span, score in zip(states.words, scores.flatten(), strict=True) if score > middle}
    assert 0 < len(expected) < len(BLOCK_SPANS)
    assert set(model.spans(SENTENCES).words) == expected


def test_antecedents_follow_the_definition(model):
    """The best earlier mention by the sum of category scorer and common scorer, written out in loops."""
    spans = model.spans(SENTENCES, [(0, 2), (4, 4), (5, 5), (8, 8), (11, 11)])
    words = words_of(spans)
    heads, categories = model._heads, MentionWords(words).categories(0, len(words))
    project = {
        side: two_layers(heads, f"coref_{side}_all_mlps", states).view(len(words), 7, 16)
        for side, states in (("start", spans.starts), ("end", spans.ends))
    }
    letter = {"s": "start", "e": "end"}
    expected = {}
    for i in range(len(words)):
        scores = []
        for j in range(i):
            total = 0.0
            for c in (categories[i, j], 6):
                for a, b in itertools.product("se", "se"):
                    left, right = project[letter[a]][i, c], project[letter[b]][j, c]
                    total += (left @ heads[f"antecedent_{a}2{b}_all_weights"][c] @ right).item()
                for pair in ("s2s", "e2e", "s2e", "e2s"):
                    side = {"s2s": "start", "e2s": "start", "e2e": "end", "s2e": "end"}[pair]
                    total += (project[side][j, c] @ heads[f"antecedent_{pair}_all_biases"][c]).item()
            scores.append(total)
        if scores and max(scores) > 0:
            expected[i] = scores.index(max(scores))
    found = model.antecedents(spans.starts, spans.ends, words)
    assert {a.mention: a.antecedent for a in found} == expected
    assert expected
    assert all(0.5 < a.score <= 1 for a in found)


def test_comparing_in_blocks_changes_nothing(model, monkeypatch):
    spans = model.spans(SENTENCES)
    whole = model.antecedents(spans.starts, spans.ends, words_of(spans))
    monkeypatch.setattr(module, "ROWS", 3)
    assert [a[:2] for a in model.antecedents(spans.starts, spans.ends, words_of(spans))] == [
        a[:2] for a in whole
    ]


mention = st.lists(
    st.sampled_from(["he", "his", "she", "it", "the", "The", "old", "fox", "Anna"]), min_size=1, max_size=4
)


@given(st.lists(mention, min_size=1, max_size=8))
def test_categories_are_those_of_sets_of_words(mentions):
    def category(a, b):
        p, q = (pronoun_group(frozenset(w.lower() for w in m)) for m in (a, b))
        if p >= 0 and q >= 0:
            return 0 if p == q else 1
        if p >= 0 or q >= 0:
            return 2
        x, y = ({w.lower() for w in m} - STOPWORDS for m in (a, b))
        if x == y:
            return 3
        return 4 if x <= y or y <= x else 5

    found = MentionWords(mentions).categories(0, len(mentions))
    assert np.array_equal(found, [[category(a, b) for b in mentions] for a in mentions])
