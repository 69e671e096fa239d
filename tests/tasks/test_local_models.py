"""Tiny models on disk: a language model that answers, a judge of entailment, BERTScore."""

from __future__ import annotations

import json
import sys
from functools import partial

import pytest
from typer.testing import CliRunner

from bookcoref_data.cli.app import make_app
from bookcoref_data.errors import MissingExtraError, SourceError, UsageError
from bookcoref_data.formats import write_documents
from bookcoref_data.tasks.contexts.scores import bert_scores, nli_judge
from bookcoref_data.tasks.runner.models import LocalModel
from bookcoref_data.tasks.runner.run import Reply, Request

LABELS = ("contradiction", "neutral", "entailment")


@pytest.fixture(scope="module")
def transformers():
    """Imported late: collecting the tests must not cost seconds."""
    pytest.importorskip("torch")
    return pytest.importorskip("transformers")


@pytest.fixture(scope="module")
def tiny_model(tmp_path_factory, transformers):
    """A random model of two layers with a tokenizer of single bytes, saved as transformers does."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    folder = tmp_path_factory.mktemp("model")
    letters = {c: i for i, c in enumerate([*sorted(pre_tokenizers.ByteLevel.alphabet()), "<end>"])}
    tokenizer = Tokenizer(models.BPE(letters, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<end>").save_pretrained(
        folder
    )
    config = transformers.GPT2Config(
        vocab_size=len(letters),
        n_embd=8,
        n_layer=1,
        n_head=1,
        n_positions=4096,
        bos_token_id=256,
        eos_token_id=256,
    )
    transformers.GPT2LMHeadModel(config).save_pretrained(folder)
    return folder


def test_a_local_model_answers_with_a_choice(tiny_model):
    local = LocalModel(str(tiny_model), most_tokens=4)
    request = Request("q", "Who?", choices=("Mr. Gadd", "Mr. Gadd senior", "Meg"), lead="It is ")
    reply = local.reply(request)
    assert reply.text.removeprefix("It is ") in request.choices
    assert isinstance(local.reply(Request("q", "Who?")), Reply)
    with pytest.raises(SourceError, match="cannot be loaded"):
        LocalModel(str(tiny_model / "gone")).reply(request)


@pytest.fixture(scope="module")
def save_bert(transformers):
    """save_bert(folder, certain) -> the folder, with a small BERT in it."""
    return partial(_save_bert, transformers)


def _save_bert(transformers, folder, certain=None):
    """A BERT of one layer over single letters; `certain` is the label that it always gives."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    special = ["[PAD]", "[CLS]", "[SEP]", "[UNK]"]
    vocabulary = {piece: i for i, piece in enumerate([*special, *"abcdefghijklmnopqrstuvwxyz.,"])}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 1), ("[SEP]", 2)],
    )
    names = {"pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]", "unk_token": "[UNK]"}
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=512, **names)
    fast.save_pretrained(folder)
    config = transformers.BertConfig(
        vocab_size=len(vocabulary), hidden_size=8, num_hidden_layers=1, num_attention_heads=1,
        intermediate_size=8, max_position_embeddings=512, id2label=dict(enumerate(LABELS)),
        label2id={label: i for i, label in enumerate(LABELS)},
    )  # fmt: skip
    model = transformers.BertForSequenceClassification(config)
    if certain:
        with torch.no_grad():
            model.classifier.weight.zero_()
            model.classifier.bias.copy_(torch.tensor([9.0 * (label == certain) for label in LABELS]))
    model.save_pretrained(folder)
    return str(folder)


@pytest.mark.parametrize(("certain", "probability"), [("entailment", 1.0), ("neutral", 0.0)])
def test_a_judge_gives_the_probability_of_entailment(save_bert, tmp_path, certain, probability):
    judge = nli_judge(save_bert(tmp_path, certain))
    assert judge("ann bakes bread.", "ann bakes.") == pytest.approx(probability, abs=1e-3)
    assert judge("ann " * 500, "ann bakes.") == pytest.approx(probability, abs=1e-3), "in parts"


def test_bertscore_needs_a_layer_of_models_that_it_does_not_know(save_bert, tmp_path):
    pytest.importorskip("bert_score")
    model = save_bert(tmp_path / "bert")
    same, other = bert_scores(["ann bakes", "ann"], ["ann bakes", "zed."], model, layers=1)
    assert same == pytest.approx(1.0, abs=1e-5)
    assert other < 1
    with pytest.raises(UsageError, match="which layer"):
        bert_scores(["a"], ["a"], model)
    with pytest.raises(UsageError, match="cannot be loaded"):
        bert_scores(["a"], ["a"], str(tmp_path / "gone"), layers=1)


def test_every_measure_runs_with_models_on_disk_and_nothing_replaced(save_bert, tiny_model, story, tmp_path):
    """ROUGE, entities by spaCy, new bigrams, BERTScore, entailment by all paragraphs; facts, questions."""
    pytest.importorskip("bert_score")
    write_documents([story], tmp_path / "books.jsonl")
    text = "Dr. Pike of London is brave and kind, and " + "he has a dog that likes the river. " * 4
    row = {"doc_key": story.doc_key, "character": "Dr. Pike", "text": text.strip()}
    given = tmp_path / "r.jsonl"
    given.write_text(json.dumps(row) + "\n")
    model = save_bert(tmp_path / "bert", "entailment")
    words = ("score", given, "--answers", given, "--books", tmp_path / "books.jsonl",
             "--out", tmp_path / "f.jsonl", "--bert-score", model, "--bert-layers", 1,
             "--entailment", model, "--facts", "--qa", "--local", tiny_model,
             "--second-judge", tiny_model, "--most-tokens", 8, "--json")  # fmt: skip
    result = CliRunner().invoke(make_app(), ["contexts", *map(str, words)])
    assert result.exit_code == 0, result.output
    scores = json.loads(result.stdout)
    found = scores["answers"]
    for name in ("rouge1", "rouge2", "rougeL", "entity_recall", "bert_score", "entailment"):
        assert found[name] == pytest.approx(1.0, abs=1e-5), name
    assert 0 < found["novel_bigrams"] < 1
    # What random weights reply is no fact; that the same judge asked twice agrees, and what is counted, is.
    assert found["kappa"] == 1.0
    facts = [json.loads(line) for line in (tmp_path / "f.jsonl").read_text().splitlines()]
    counted = sum(kind["answer_facts"] + kind["reference_facts"] for kind in found["kinds"])
    assert (len(facts), found["questions"]) == (counted, 0)
    assert "entailment" in scores["baseline oracle"]


def test_missing_extras_are_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "bert_score", None)
    with pytest.raises(MissingExtraError, match="bert-score"):
        bert_scores(["a"], ["a"], "model")
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(MissingExtraError, match="transformers"):
        nli_judge("model")


def test_entailment_needs_the_book(tmp_path):
    (tmp_path / "r.jsonl").write_text('{"doc_key": "b", "character": "c", "text": "t"}\n')
    words = [
        "contexts",
        "score",
        str(tmp_path / "r.jsonl"),
        "-a",
        str(tmp_path / "r.jsonl"),
        "--entailment",
        "m",
    ]
    assert isinstance(CliRunner().invoke(make_app(), words).exception, UsageError)
