"""The public architectures at full structure and small width, with fixed weights in the public layout.

All layers, heads and kinds of attention are those of the published models; only the width is small. Weights
are drawn from a generator that gives the same numbers everywhere, so what the public code makes of 50
documents can be kept as numbers (`tests/annotation/hub/golden.json`) and compared with any version of any
package.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

DOCUMENTS = 50
SYMBOLS = ["--NME--", *(f"[E-{i}]" for i in range(100))]
SPEAKER = ["[SPEAKER_START]", "[SPEAKER_END]"]
STEMS = [
    "the",
    "old",
    "fox",
    "and",
    "young",
    "hare",
    "met",
    "at",
    "mill",
    "Anna",
    "Brown",
    "Lady",
    "Ruth",
    "said",
    "to",
    "that",
    "she",
    "was",
    "tired",
    "he",
    "I",
    "you",
    "his",
    "her",
    "they",
    "Mr.",
    "Hill",
    "walk",
    "farm",
    "dog",
    "night",
    "him",
    "it",
    "we",
    ".",
]
ENDINGS = ("s", "ing", "'s", "er", "ly")
ENCODER = {
    "model_type": "deberta-v2", "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 24,
    "num_attention_heads": 16, "hidden_act": "gelu", "relative_attention": True, "position_buckets": 256,
    "norm_rel_ebd": "layer_norm", "share_att_key": True, "pos_att_type": "p2c|c2p",
    "max_relative_positions": -1,
    "max_position_embeddings": 512, "position_biased_input": False, "type_vocab_size": 0,
    "layer_norm_eps": 1e-7,
    "pooler_hidden_size": 32, "pooler_hidden_act": "gelu", "pooler_dropout": 0,
}  # fmt: skip
JUDGE = {
    "model_type": "qwen2", "hidden_size": 112, "intermediate_size": 224, "num_hidden_layers": 28,
    "num_attention_heads": 28, "num_key_value_heads": 4, "rms_norm_eps": 1e-6, "rope_theta": 1000000.0,
    "max_position_embeddings": 32768, "tie_word_embeddings": False, "architectures": ["Qwen2ForCausalLM"],
}  # fmt: skip
CHAT = (
    "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}"
    "{{ '<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n' }}{% endif %}"
    "{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


def documents(count: int = DOCUMENTS, *, cut: bool = True) -> list[list[list[str]]]:
    """Sentences of words; with `cut` some of them are of two subwords."""
    chance = np.random.RandomState(11)

    def word() -> str:
        stem, ending = STEMS[chance.randint(len(STEMS))], ENDINGS[chance.randint(len(ENDINGS))]
        return stem + ending if chance.randint(4) == 0 and cut else stem

    return [
        [[word() for _ in range(chance.randint(3, 14))] for _ in range(chance.randint(1, 6))]
        for _ in range(count)
    ]


def names_of(number: int) -> list[str]:
    """The names among which the reader chooses in document `number`."""
    chance = np.random.RandomState(1000 + number)
    return [" ".join(STEMS[i] for i in chance.randint(0, len(STEMS), chance.randint(1, 4))) for _ in range(6)]


def fill(shapes: dict[str, Any], seed: int, scale: float) -> dict[str, Any]:
    """Fixed weights by name: matrices are drawn, norms are 1, the rest is drawn small."""
    import torch

    chance, state = np.random.RandomState(seed), {}
    for name in sorted(shapes):
        shape = tuple(shapes[name])
        norm = "norm" in name.lower() or name.endswith(".5.weight")
        # Words stay apart through all layers only when a layer adds little to what comes in.
        wide = 1.0 if "word_embeddings" in name or "embed_tokens" in name else scale
        values = chance.standard_normal(shape) * (wide if len(shape) > 1 else 0.1)
        if norm and name.endswith("weight") and len(shape) == 1:
            values = 1.0 + values
        state[name] = torch.tensor(values, dtype=torch.float32)
    return state


def make_encoder(folder: Path) -> Path:
    """Configuration and tokenizer as in microsoft/deberta-v3-large: spm.model, and no tokenizer.json."""
    from sentencepiece import sentencepiece_model_pb2 as pb
    from transformers import AutoTokenizer

    folder.mkdir(parents=True)
    model = pb.ModelProto()
    special = [("[PAD]", 3), ("[CLS]", 3), ("[SEP]", 3), ("[UNK]", 2)]
    letters = sorted({c for text in (*STEMS, *ENDINGS) for c in text} | {"▁", "-"})
    plain = [*(f"▁{w}" for w in dict.fromkeys(STEMS)), *ENDINGS, *letters]
    for piece, kind in [*special, *((piece, 1) for piece in dict.fromkeys(plain))]:
        score = 0.0 if kind != 1 else -2.0 if len(piece) > 1 else -9.0
        model.pieces.add(piece=piece, score=score, type=kind)
    trainer = model.trainer_spec
    trainer.model_type, trainer.vocab_size = 1, len(model.pieces)
    trainer.pad_id, trainer.bos_id, trainer.eos_id, trainer.unk_id = 0, 1, 2, 3
    trainer.pad_piece, trainer.bos_piece = "[PAD]", "[CLS]"
    trainer.eos_piece, trainer.unk_piece = "[SEP]", "[UNK]"
    model.normalizer_spec.name = "identity"
    model.normalizer_spec.add_dummy_prefix = True
    (folder / "spm.model").write_bytes(model.SerializeToString())
    (folder / "tokenizer_config.json").write_text('{"do_lower_case": false, "vocab_type": "spm"}')
    (folder / "config.json").write_text(json.dumps(ENCODER | {"vocab_size": 128}))
    size = len(AutoTokenizer.from_pretrained(folder))
    (folder / "config.json").write_text(json.dumps(ENCODER | {"vocab_size": size}))
    return folder


def encoder_state(folder: Path, extra: int, seed: int) -> dict[str, Any]:
    """Weights of the encoder with `extra` more tokens."""
    import torch
    from transformers import AutoConfig, AutoModel

    config = AutoConfig.from_pretrained(folder)
    config.vocab_size += extra
    with torch.device("meta"):
        model = AutoModel.from_config(config)
    return fill({name: p.shape for name, p in model.named_parameters()}, seed, 0.09)


def make_reader(folder: Path, encoder: Path) -> Path:
    """A reader as published: pytorch_model.bin, config.json, the tokenizer with its symbols."""
    import torch
    from transformers import AutoTokenizer

    from bookcoref_data.annotation.hub.reader import ReaderSettings, reader_shapes

    folder.mkdir(parents=True)
    tokenizer = AutoTokenizer.from_pretrained(encoder)
    tokenizer.add_tokens(SYMBOLS, special_tokens=True)
    tokenizer.save_pretrained(folder)
    config = {
        "model_type": "relik-reader", "transformer_model": str(encoder), "activation": "gelu",
        "additional_special_symbols": len(SYMBOLS), "linears_hidden_size": 512, "num_layers": None,
        "use_last_k_layers": 1, "training": False, "binary_end_logits": False,
    }  # fmt: skip
    (folder / "config.json").write_text(json.dumps(config))
    state = {f"transformer_model.{k}": v for k, v in encoder_state(encoder, len(SYMBOLS), 21).items()}
    heads = fill(reader_shapes(ENCODER["hidden_size"], ReaderSettings.of(config)), 22, 0.15)
    for side in ("start", "end"):  # answers between 0 and 1, not at one of them
        heads[f"ed_{side}_projector.5.weight"] *= 0.1
    heads["ned_start_classifier.4.bias"] = torch.tensor([0.0, -0.3])
    torch.save(state | heads, folder / "pytorch_model.bin")
    return folder


def make_maverick(folder: Path, encoder: Path) -> Path:
    """A Maverick as published: weights.ckpt of Lightning, names with `model.`."""
    import torch

    from bookcoref_data.annotation.hub.maverick import maverick_shapes

    folder.mkdir(parents=True)
    state = {f"model.encoder.{k}": v for k, v in encoder_state(encoder, 3, 31).items()}
    heads = fill(maverick_shapes(ENCODER["hidden_size"]), 32, 0.3)
    heads["start_token_classifier.layer.dense.bias"] = torch.tensor([-0.6])
    heads["start_end_classifier.layer.dense.bias"] = torch.tensor([-0.2])
    state |= {f"model.{name}": value for name, value in heads.items()}
    torch.save({"state_dict": state, "epoch": 1}, folder / "weights.ckpt")
    return folder


def make_judge(folder: Path) -> Path:
    """A chat model as published: safetensors, Qwen2's chat template, bytes as tokens."""
    import torch
    from safetensors.torch import save_file
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
    from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedTokenizerFast

    folder.mkdir(parents=True)
    merges = [("Y", "e"), ("Ye", "s"), ("N", "o")]
    pieces = [*sorted(pre_tokenizers.ByteLevel.alphabet()), *(a + b for a, b in merges)]
    core = Tokenizer(models.BPE({piece: i for i, piece in enumerate(pieces)}, merges))
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = decoders.ByteLevel()
    special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    core.add_special_tokens([AddedToken(token, special=True) for token in special])
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=core, eos_token="<|im_end|>", pad_token="<|endoftext|>", chat_template=CHAT
    )
    tokenizer.save_pretrained(folder)
    config = JUDGE | {"vocab_size": len(tokenizer)}
    (folder / "config.json").write_text(json.dumps(config))
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(AutoConfig.from_pretrained(folder))
    shapes = {name: p.shape for name, p in model.named_parameters()}
    save_file(fill(shapes, 41, 0.25), folder / "model.safetensors", metadata={"format": "pt"})
    return folder


def questions() -> list[str]:
    """The paper's question on one word of each document."""
    from bookcoref_data.annotation.hub.questions import question
    from bookcoref_data.annotation.plan import default_plan
    from bookcoref_data.books import Mention

    template = default_plan("hub").of("filter")["question"]
    asked = []
    for number, sentences in enumerate(documents()):
        words = [w for sentence in sentences for w in sentence]
        place = Mention(number % len(words), number % len(words))
        asked.append(question(template, words, place, names_of(number)[0], 40))
    return asked


def some(values: Any, count: int = 12) -> list[float]:
    """So many of the values (a list, or a tensor on any device), from all over, as plain numbers."""
    # numpy itself reads no tensor that lies on a GPU.
    plain = values.tolist() if hasattr(values, "tolist") else values
    flat = np.asarray(plain, dtype=np.float64).ravel()
    places = np.linspace(0, len(flat) - 1, min(count, len(flat))).astype(int) if len(flat) else []
    return [round(float(flat[i]), 7) for i in places]


# -- what our code makes of them ------------------------------------------------------------------------


def our_maverick(model: Any, sentences: list[list[str]]) -> dict[str, Any]:
    """Subwords, scores of starts, mentions, best antecedents and clusters of one document."""
    import torch

    from bookcoref_data.annotation.hub.encoder import encode, split_words
    from bookcoref_data.annotation.hub.layers import two_layers

    words = [w for s in sentences for w in s]
    ids = [*model._head, *split_words(model._tokenizer, words).ids, model._tokenizer.sep_token_id]
    with torch.inference_mode():
        hidden = encode(model._encoder, [ids], model.device)[0]
        starts = two_layers(model._heads, "start_token_classifier", hidden).squeeze(-1)
    spans = model.spans(sentences)
    links = model.antecedents(spans.starts, spans.ends, [words[a : b + 1] for a, b in spans.words])
    cluster: dict[int, set[int]] = {}
    for link in links:
        joined = cluster.get(link.antecedent, {link.antecedent}) | cluster.get(link.mention, {link.mention})
        for member in joined:
            cluster[member] = joined
    found = sorted(sorted(spans.words[i] for i in c) for c in {frozenset(c) for c in cluster.values()})
    return {
        "ids": ids, "starts": some(starts), "mentions": sorted(spans.words),
        "scores": some([link.score for link in links]),
        "clusters": [[list(m) for m in c] for c in found],
    }  # fmt: skip


def our_reader(model: Any, sentences: list[list[str]], names: list[str]) -> dict[str, Any]:
    """Subwords, scores of starts, and links of one document."""
    import torch

    from bookcoref_data.annotation.hub.encoder import encode

    words = [w for s in sentences for w in s]
    row = next(model._rows(0, words, 0, model._encode_names(names)))
    with torch.inference_mode():
        hidden = encode(model._encoder, [row.ids], model.device)[0]
        starts = model._project("ned_start_classifier", hidden)[1 : row.head - 1]
    links = [[k.start, k.end, k.name, round(k.score, 7)] for k in model.read(words, names)]
    return {"ids": row.ids, "starts": some(starts), "links": links}
