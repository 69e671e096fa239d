"""Are the answers of the backend `hub` those of the published code, on the same random weights?

    pip download --no-deps --no-binary :all: maverick-coref==1.0.7 && tar xzf maverick_coref-1.0.7.tar.gz
    pip download --no-deps relik==1.0.7 && unzip relik-1.0.7-py3-none-any.whl -d relik-1.0.7
    python benchmarks/check_hub_parity.py --maverick maverick-coref-1.0.7 --relik relik-1.0.7

The published classes are imported from their sources, with empty modules in the place of training
frameworks they import and do not need here. Both sides read the same files and the same random texts.
Needs the extra `gpu`; a class that transformers 5 no longer has is defined below.
"""

from __future__ import annotations

import argparse
import importlib
import io
import json
import random
import sys
import tempfile
import types
from pathlib import Path

TEXTS = 60
WORDS = (
    *("the", "old", "fox", "and", "young", "hare", "met", "at", "mill", "Anna", "Brown", "said", "to"),
    *("that", "she", "was", "tired", "he", "I", "you", "his", "her"),
)
ENCODER = {
    "model_type": "deberta-v2", "hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2,
    "num_attention_heads": 2, "relative_attention": True, "position_buckets": 16,
    "norm_rel_ebd": "layer_norm", "share_att_key": True, "pos_att_type": "p2c|c2p",
    "position_biased_input": False, "type_vocab_size": 0, "layer_norm_eps": 1e-7,
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--maverick", type=Path, help="unpacked source of maverick-coref")
    parser.add_argument("--relik", type=Path, help="unpacked wheel of relik")
    given = parser.parse_args()
    import torch

    torch.manual_seed(0)
    random.seed(0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_encoder(folder / "encoder")
        if given.relik:
            for binary in (False, True):
                check_reader(given.relik, folder, binary)
        if given.maverick:
            check_maverick(given.maverick, folder)


def make_encoder(folder: Path) -> None:
    """A small encoder in which every word is one subword: both sides then speak of the same spans."""
    import sentencepiece as spm
    from transformers import AutoConfig, AutoModel, AutoTokenizer

    folder.mkdir()
    model = io.BytesIO()
    text = (" ".join(random.choice(WORDS) for _ in range(8)) for _ in range(600))
    spm.SentencePieceTrainer.train(
        sentence_iterator=text, model_writer=model, vocab_size=70, hard_vocab_limit=False, minloglevel=2,
        pad_id=0, bos_id=1, eos_id=2, unk_id=3,
        pad_piece="[PAD]", bos_piece="[CLS]", eos_piece="[SEP]", unk_piece="[UNK]",
    )  # fmt: skip
    (folder / "spm.model").write_bytes(model.getvalue())
    (folder / "tokenizer_config.json").write_text('{"do_lower_case": false}')
    (folder / "config.json").write_text(json.dumps(ENCODER | {"vocab_size": 128}))
    tokenizer = AutoTokenizer.from_pretrained(folder)
    (folder / "config.json").write_text(json.dumps(ENCODER | {"vocab_size": len(tokenizer)}))
    AutoModel.from_config(AutoConfig.from_pretrained(folder)).save_pretrained(folder)


def randomise(model, scale: float) -> None:
    import torch

    for parameter in model.parameters():
        if parameter.dim() > 1:
            torch.nn.init.normal_(parameter, std=scale)


def package(name: str, folder: Path) -> None:
    """Make `name` importable from `folder` without running its __init__."""
    module = types.ModuleType(name)
    module.__path__ = [str(folder)]
    sys.modules[name] = module


def report(what: str, shapes, state, prefix: str, same: int, texts: int) -> None:
    published = {k: tuple(v.shape) for k, v in state.items() if not k.startswith(prefix)}
    print(
        f"{what}: {len(published)} tensors beside the encoder, names and shapes equal: {published == shapes}"
    )
    print(f"{what}: the same answers on {same} of {texts} random texts")


# -- ReLiK reader --------------------------------------------------------------------------------------


def check_reader(source: Path, folder: Path, binary: bool) -> None:
    import torch
    import transformers.modeling_utils
    from safetensors.torch import save_file
    from transformers import AutoTokenizer

    from bookcoref_data.annotation.hub.reader import Reader, ReaderSettings, reader_shapes

    transformers.modeling_utils.PoolerEndLogits = end_pooler()
    package("published_reader", source / "relik/reader/pytorch_modules/hf")
    modeling = importlib.import_module("published_reader.modeling_relik")
    settings = importlib.import_module("published_reader.configuration_relik")
    encoder, out = folder / "encoder", folder / f"reader-{binary}"
    tokenizer = AutoTokenizer.from_pretrained(encoder)
    symbols = ["--NME--", *(f"[E-{i}]" for i in range(9))]
    tokenizer.add_tokens(symbols, special_tokens=True)
    tokenizer.save_pretrained(out)
    values = {"transformer_model": str(encoder), "linears_hidden_size": 8, "binary_end_logits": binary}
    theirs = modeling.RelikReaderSpanModel(
        settings.RelikReaderConfig(**values, additional_special_symbols=0)
    ).eval()
    theirs.transformer_model.resize_token_embeddings(len(tokenizer), mean_resizing=False)
    randomise(theirs, 0.4)
    with torch.no_grad():
        theirs.ned_start_classifier[4].bias.copy_(torch.tensor([0.0, 0.8]))
    state = theirs.state_dict()
    save_file({k: v.contiguous() for k, v in state.items()}, out / "model.safetensors")
    config = values | {"model_type": "relik-reader", "additional_special_symbols": len(symbols)}
    (out / "config.json").write_text(json.dumps(config))
    ours = Reader.load(str(out), device=torch.device("cpu"))
    same = 0
    for _ in range(TEXTS):
        words = [random.choice(WORDS) for _ in range(random.randint(1, 25))]
        names = [" ".join(random.sample(WORDS, random.randint(1, 3))) for _ in range(random.randint(1, 7))]
        expected = published_links(theirs, tokenizer, symbols, words, names)
        found = {link[:3]: link.score for link in ours.read(words, names)}
        same += found.keys() == expected.keys() and all(abs(found[k] - expected[k]) < 2e-4 for k in expected)
    shapes = reader_shapes(16, ReaderSettings("", hidden=8, binary_ends=binary))
    report(f"reader, binary ends {binary}", shapes, state, "transformer_model.", same, TEXTS)


def published_links(model, tokenizer, symbols, words, names) -> dict[tuple[int, int, int], float]:
    """(start, end, name) -> probability, the best name per span, from the published forward pass."""
    import torch

    parts = [tokenizer(w, add_special_tokens=False).input_ids for w in words]
    ids, word_of = [i for p in parts for i in p], [w for w, p in enumerate(parts) for _ in p]
    named = ["--NME--", *(f"[E-{i}] {name}" for i, name in enumerate(names))]
    tail = [i for text in named for i in tokenizer(text, add_special_tokens=False).input_ids[:22]]
    row = [tokenizer.cls_token_id, *ids, tokenizer.sep_token_id, *tail, tokenizer.sep_token_id]
    given = torch.tensor([row])
    mask = torch.tensor([[1] + [0] * len(ids) + [1] * (len(row) - len(ids) - 1)])
    special = given >= len(tokenizer) - len(symbols)
    special[0, 0] = True
    with torch.no_grad():
        out = model(
            input_ids=given, attention_mask=torch.ones_like(given), prediction_mask=mask,
            special_symbols_mask=special,
        )  # fmt: skip
    starts = out["ned_start_predictions"][0].nonzero().flatten().tolist()
    if not starts or out["ed_logits"] is None:
        return {}
    best: dict[tuple[int, int], tuple[int, float]] = {}
    number = 0
    for start, ends in zip(starts, out["ned_end_predictions"][0], strict=True):
        for end in ends.nonzero().flatten().tolist():
            name = out["ed_predictions"][0][number].item() - 2
            score = out["ed_probabilities"][0][number].max().item()
            number += 1
            span = (word_of[start - 1], word_of[end - 1])
            if name >= 0 and start <= end and score > best.get(span, (0, 0.0))[1]:
                best[span] = (name, score)
    return {(*span, name): score for span, (name, score) in best.items()}


def end_pooler():
    """The end scorer of transformers 4, which transformers 5 dropped and the published reader extends."""
    import torch
    from torch import nn

    class PoolerEndLogits(nn.Module):
        def __init__(self, config) -> None:
            super().__init__()
            self.dense_0 = nn.Linear(2 * config.hidden_size, config.hidden_size)
            self.LayerNorm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
            self.dense_1 = nn.Linear(config.hidden_size, 1)

        def forward(self, hidden_states, start_states=None, start_positions=None, p_mask=None):
            rows = torch.arange(len(hidden_states))
            start = hidden_states[rows, start_positions].unsqueeze(1).expand_as(hidden_states)
            x = self.dense_0(torch.cat([hidden_states, start], dim=-1)).tanh()
            x = self.dense_1(self.LayerNorm(x)).squeeze(-1)
            return x if p_mask is None else x * (1 - p_mask) - 1e30 * p_mask

    return PoolerEndLogits


# -- Maverick ------------------------------------------------------------------------------------------


def check_maverick(source: Path, folder: Path) -> None:
    import torch

    from bookcoref_data.annotation.hub.maverick import SPEAKER, Maverick, maverick_shapes

    wrapper, model_class = published_maverick(source)
    encoder, out = folder / "encoder", folder / "maverick"
    out.mkdir()
    options = {"freeze_encoder": False, "span_representation": "concat_start_end"}
    theirs = model_class(huggingface_model_name=str(encoder), **options).eval()
    randomise(theirs, 0.37)
    from transformers import AutoTokenizer

    published = wrapper.__new__(wrapper)
    published.device, published.model = "cpu", theirs
    published.tokenizer = AutoTokenizer.from_pretrained(encoder, add_prefix_space=True)
    published.tokenizer.add_special_tokens({"additional_special_tokens": list(SPEAKER)})
    same = texts = skipped = 0
    for number in range(2 * TEXTS):
        with torch.no_grad():
            theirs.start_token_classifier.layer.dense.bias.fill_(number % 5 - 1.0)
            theirs.start_end_classifier.layer.dense.bias.fill_(number % 5 - 2.0)
        torch.save(
            {"state_dict": {f"model.{k}": v for k, v in theirs.state_dict().items()}}, out / "weights.ckpt"
        )
        ours = Maverick.load(str(out), encoder=str(encoder), device=torch.device("cpu"))
        sentences = [
            [random.choice(WORDS) for _ in range(random.randint(2, 10))] for _ in range(random.randint(1, 6))
        ]
        mentions, special = published_mentions(published, sentences, len(ours._head))
        if special:
            skipped += 1
            continue
        texts += 1
        expected = sorted(sorted(set(c)) for c in published.predict(sentences)["clusters_token_offsets"])
        spans = ours.spans(sentences)
        same += len(spans.words) == mentions and clusters_of(ours, spans, sentences) == expected
    report("maverick", maverick_shapes(16), theirs.state_dict(), "encoder.", same, texts)
    print(f"maverick: {skipped} texts left out, in which the published model links its own special tokens")


def published_maverick(source: Path):
    """(wrapper, network) of the published package."""
    import torch

    for name in ("hydra", "pytorch_lightning", "omegaconf", "torchmetrics", "nltk", "pandas"):
        try:
            importlib.import_module(name)
        except ImportError:
            sys.modules[name] = types.ModuleType(name)
    sys.modules["pytorch_lightning"].LightningModule = torch.nn.Module
    sys.modules["nltk"].sent_tokenize = None
    package("maverick", source / "maverick")
    package("maverick.models", source / "maverick/models")
    network = importlib.import_module("maverick.models.model_mes").Maverick_mes
    lightning = types.ModuleType("maverick.models.pl_modules")
    lightning.BasePLModule = None
    sys.modules["maverick.models.pl_modules"] = lightning
    return importlib.import_module("maverick.models.maverick_model").Maverick, network


def published_mentions(published, sentences, head: int) -> tuple[int, int]:
    """How many mentions the published network finds, and how many of them begin in its special tokens."""
    import torch

    tokens, ends, speakers, _ = published.preprocess(sentences)
    given = published.tokenize(tokens, ends, speakers)
    tensors = {k: torch.tensor(given[k]).unsqueeze(0) for k in ("input_ids", "attention_mask", "eos_mask")}
    lists = {k: [given[k]] for k in ("tokens", "subtoken_map", "new_token_map")}
    with torch.no_grad():
        found = published.model(stage="test", **tensors, **lists)["pred_dict"]["mention_idxs"][0]
    return len(found), int((found[:, 0] < head).sum()) if len(found) else 0


def clusters_of(model, spans, sentences) -> list[list[tuple[int, int]]]:
    """Mentions joined by antecedents."""
    words = [w for s in sentences for w in s]
    texts = [words[a : b + 1] for a, b in spans.words]
    cluster: dict[int, set[int]] = {}
    for link in model.antecedents(spans.starts, spans.ends, texts):
        joined = cluster.get(link.antecedent, {link.antecedent}) | cluster.get(link.mention, {link.mention})
        for member in joined:
            cluster[member] = joined
    return sorted(sorted(spans.words[i] for i in c) for c in {frozenset(c) for c in cluster.values()})


if __name__ == "__main__":
    main()
