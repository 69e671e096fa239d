"""Small randomly initialised models of the real architectures, saved in the hub's own layout."""

from __future__ import annotations

import dataclasses
import io
import json
import os
import random
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from bookcoref_data.annotation.cast import make_cast
from bookcoref_data.annotation.plan import Plan, default_plan
from bookcoref_data.annotation.steps import STEP_NAMES, Job
from bookcoref_data.books import Book

SKIP = "the extra gpu is not installed"
# What the tests of whole answers run on; `cuda` holds a GPU to what is written down for the CPU.
DEVICE = os.environ.get("BOOKCOREF_DEVICE", "cpu")
SIZE = 16
WORDS = (
    *("the", "old", "fox", "and", "young", "hare", "met", "at", "mill", "Anna", "Brown", "said", "to"),
    *("that", "she", "was", "tired", "he", "I", "you", "his", "her"),
)
PROMPT = (
    *("Yes", "No", "Does", "mention", "correspond", "character", "book", "excerpt"),
    *(":", "?", ".", "(", ")", "/", "[", "]"),
)
ENCODER = {
    "model_type": "deberta-v2",
    "hidden_size": SIZE,
    "intermediate_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "hidden_act": "gelu",
    "relative_attention": True,
    "position_buckets": 16,
    "norm_rel_ebd": "layer_norm",
    "share_att_key": True,
    "pos_att_type": "p2c|c2p",
    "max_position_embeddings": 512,
    "position_biased_input": False,
    "type_vocab_size": 0,
    "layer_norm_eps": 1e-7,
}
SENTENCES = [
    ["the", "old", "fox", "\n", "met", "Anna", "Brown"],
    ["she", "was", "tired"],
    ["\n"],
    ["Anna", "said", "that", "he", "was", "young"],
    ["he", "and", "she", "met", "the", "hare", "at", "the", "mill"],
] * 3
MODELS = {
    "link": "tiny/reader",
    "filter": "tiny/judge",
    "windows": "tiny/maverick",
    "groups": "tiny/maverick",
}
READER = {
    "model_type": "relik-reader",
    "transformer_model": "tiny/encoder",
    "additional_special_symbols": 4,
    "num_layers": None,
    "activation": "gelu",
    "linears_hidden_size": 8,
    "use_last_k_layers": 1,
    "binary_end_logits": False,
}
CHAT = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


@pytest.fixture(scope="session")
def hub(tmp_path_factory) -> SimpleNamespace:
    """A hub cache with tiny/encoder, reader (safetensors), reader-bin, maverick (a checkpoint), judge."""
    for package in ("transformers", "sentencepiece"):
        pytest.importorskip(package, reason=SKIP)
    torch = pytest.importorskip("torch", reason=SKIP)
    cache = tmp_path_factory.mktemp("hub")
    torch.manual_seed(7)
    encoder = _encoder(_repository(cache, "tiny/encoder"))
    reader = _reader(_repository(cache, "tiny/reader"), encoder)
    old = _repository(cache, "tiny/reader-bin")
    _reader(old, encoder, READER | {"binary_end_logits": True}, pickled=True)
    maverick = _maverick(_repository(cache, "tiny/maverick"), encoder)
    judge = _judge(_repository(cache, "tiny/judge"))
    return SimpleNamespace(
        cache=cache, encoder=encoder, reader=reader, reader_bin=old, maverick=maverick, judge=judge
    )


@pytest.fixture(scope="session")
def device():
    """The device BOOKCOREF_DEVICE, else the CPU."""
    return pytest.importorskip("torch", reason=SKIP).device(DEVICE)


@pytest.fixture
def offline_hub(hub, monkeypatch) -> SimpleNamespace:
    """The hub's cache is that of the tiny models, and the network is switched off."""
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(hub.cache))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    return hub


@pytest.fixture
def job() -> Job:
    return Job(Book.make("small_1", SENTENCES), make_cast(["Anna Brown", "old fox", "hare"]))


@pytest.fixture
def plan() -> Plan:
    """The published recipe with tiny models and stretches as small as the book."""
    published = default_plan("hub")
    small = {"window_words": 30, "words": 30, "windows": 2, "mention_window": 40, "dtype": "float32"}
    small |= {"revision": "", "encoder_revision": "", "device": DEVICE}
    settings = {
        step: {k: small.get(k, v) for k, v in published.of(step).items()}
        | {"model": MODELS[step], "encoder": "tiny/encoder" if step != "link" else ""}
        for step in STEP_NAMES
    }
    return dataclasses.replace(published, settings=settings)


def _repository(cache: Path, name: str) -> Path:
    """An empty snapshot in the layout of the hub's cache."""
    root = cache / f"models--{name.replace('/', '--')}"
    revision = "0" * 40
    (root / "refs").mkdir(parents=True)
    (root / "refs" / "main").write_text(revision)
    folder = root / "snapshots" / revision
    folder.mkdir(parents=True)
    return folder


def _sentences() -> Iterator[str]:
    chance = random.Random(1)
    for _ in range(600):
        yield " ".join(chance.choice(WORDS) for _ in range(8))


def _encoder(folder: Path) -> Path:
    """Configuration and tokenizer as in microsoft/deberta-v3-large: spm.model, and no tokenizer.json."""
    import sentencepiece as spm
    from transformers import AutoTokenizer

    model = io.BytesIO()
    spm.SentencePieceTrainer.train(
        sentence_iterator=_sentences(),
        model_writer=model,
        vocab_size=70,
        hard_vocab_limit=False,
        pad_id=0,
        bos_id=1,
        eos_id=2,
        unk_id=3,
        pad_piece="[PAD]",
        bos_piece="[CLS]",
        eos_piece="[SEP]",
        unk_piece="[UNK]",
        minloglevel=2,
    )
    (folder / "spm.model").write_bytes(model.getvalue())
    (folder / "tokenizer_config.json").write_text(json.dumps({"do_lower_case": False, "vocab_type": "spm"}))
    (folder / "config.json").write_text(json.dumps(ENCODER | {"vocab_size": 128}))
    size = len(AutoTokenizer.from_pretrained(folder))
    (folder / "config.json").write_text(json.dumps(ENCODER | {"vocab_size": size}))
    return folder


def _encoder_state(folder: Path, extra: int) -> dict:
    """Random weights of the encoder whose vocabulary grew by `extra` tokens."""
    from transformers import AutoConfig, AutoModel

    config = AutoConfig.from_pretrained(folder)
    config.vocab_size += extra
    model = AutoModel.from_config(config)
    return {k: _random(v.shape) if v.dim() > 1 else v for k, v in model.state_dict().items()}


def _random(shape):
    import torch

    return torch.randn(tuple(shape)) * 0.4


def _reader(folder: Path, encoder: Path, config=READER, *, pickled: bool = False) -> Path:
    """A reader as published: its tokenizer carries the symbols; safetensors or pytorch_model.bin."""
    import torch
    from safetensors.torch import save_file
    from transformers import AutoTokenizer

    from bookcoref_data.annotation.hub.reader import ReaderSettings, reader_shapes

    tokenizer = AutoTokenizer.from_pretrained(encoder)
    symbols = ["--NME--", *(f"[E-{i}]" for i in range(config["additional_special_symbols"] - 1))]
    tokenizer.add_tokens(symbols, special_tokens=True)
    tokenizer.save_pretrained(folder)
    state = {f"transformer_model.{k}": v for k, v in _encoder_state(encoder, len(symbols)).items()}
    shapes = reader_shapes(SIZE, ReaderSettings.of(config))
    state |= {name: _random(shape) for name, shape in shapes.items()}
    state["ned_start_classifier.4.bias"] = torch.tensor([0.0, 1.0])  # finds something, not everything
    (folder / "config.json").write_text(json.dumps(config))
    if pickled:
        torch.save(state, folder / "pytorch_model.bin")
    else:
        save_file(state, folder / "model.safetensors")
    return folder


def _maverick(folder: Path, encoder: Path) -> Path:
    """A Maverick as published: a Lightning checkpoint with settings of a package that is not installed."""
    import torch

    from bookcoref_data.annotation.hub.maverick import maverick_shapes

    state = {f"model.encoder.{k}": v for k, v in _encoder_state(encoder, 3).items()}
    state |= {f"model.{name}": _random(shape) for name, shape in maverick_shapes(SIZE).items()}
    for name in ("start_token_classifier", "start_end_classifier"):
        state[f"model.{name}.layer.dense.bias"] = torch.tensor([2.0])
    with _foreign_settings() as settings:
        checkpoint = {"state_dict": state, "epoch": 3, "hyper_parameters": {"model": settings}}
        torch.save(checkpoint, folder / "weights.ckpt")
    return folder


class _foreign_settings:
    """An object of a class in a module `settingslib.config` that exists only while the file is written."""

    def __enter__(self):
        module = types.ModuleType("settingslib.config")
        module.Settings = type("Settings", (), {"__module__": "settingslib.config"})
        sys.modules |= {"settingslib": types.ModuleType("settingslib"), "settingslib.config": module}
        value = module.Settings()
        value.content = {"name": "deberta", "freeze": False}
        return value

    def __exit__(self, *_) -> None:
        del sys.modules["settingslib"], sys.modules["settingslib.config"]


def _judge(folder: Path) -> Path:
    """A Qwen2 of two layers with a chat template and bytes as tokens."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM

    core = Tokenizer(models.BPE())
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    corpus = [f"{word} {word}" for word in (*WORDS, *PROMPT, "user", "assistant")] * 3
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=700, special_tokens=special, initial_alphabet=alphabet, show_progress=False
    )
    core.train_from_iterator(corpus, trainer)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=core,
        eos_token="<|im_end|>",
        additional_special_tokens=special[:2],
        chat_template=CHAT,
    )
    tokenizer.save_pretrained(folder)
    config = Qwen2Config(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=2048,
    )
    model = Qwen2ForCausalLM(config)
    for parameter in model.parameters():
        if parameter.dim() > 1:
            torch.nn.init.normal_(parameter, std=0.3)
    model.save_pretrained(folder)
    return folder


@pytest.fixture
def one_thread():
    """The matrices are too small to share the work, and threads that wait for each other take long."""
    torch = pytest.importorskip("torch", reason="the extra gpu is not installed")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
