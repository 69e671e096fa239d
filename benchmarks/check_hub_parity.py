"""Are the answers of the backend `hub` those of the public code, on the same weights? It can write them down.

    pip download --no-deps --no-binary :all: maverick-coref==1.0.7 && tar xzf maverick_coref-1.0.7.tar.gz
    pip download --no-deps relik==1.0.7 && unzip relik-1.0.7-py3-none-any.whl -d relik-1.0.7
    python benchmarks/check_hub_parity.py --maverick maverick-coref-1.0.7 --relik relik-1.0.7

The models and documents are those of `benchmarks/hub_models.py`: full structure, small width, fixed
weights. The public classes are imported from their sources, with empty modules in the place of training
frameworks that they import and do not need here; the judge is transformers' own class. `--write
tests/annotation/hub/golden.json` keeps the public answers, which a test compares with ours. The public
Maverick leaves special tokens to its tokenizer call: the lines on it say whether [CLS] and [SEP] are added
with this version of transformers. A class that transformers 5 no longer has is defined below.
"""

from __future__ import annotations

import argparse
import importlib
import itertools
import json
import random
import sys
import tempfile
import types
import zlib
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from benchmarks import hub_models as made

NEAR = 1e-5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--maverick", type=Path, required=True, help="unpacked source of maverick-coref")
    parser.add_argument("--relik", type=Path, required=True, help="unpacked wheel of relik")
    parser.add_argument("--write", type=Path, help="keep the public answers in this file")
    given = parser.parse_args()
    import torch
    import transformers

    print(f"torch {torch.__version__}, transformers {transformers.__version__}, {made.DOCUMENTS} documents")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        encoder = made.make_encoder(folder / "encoder")
        public = {
            "maverick": maverick(given.maverick, folder, encoder),
            "reader": reader(given.relik, folder, encoder),
            "judge": judge(folder),
        }
    if given.write:
        rows = ",\n".join(
            f' "{kind}": [\n'
            + ",\n".join(f"  {json.dumps(row, separators=(',', ':'))}" for row in answers)
            + "\n ]"
            for kind, answers in public.items()
        )
        given.write.write_text(f"{{\n{rows}\n}}\n")
        print(f"wrote {given.write}")


def report(what: str, public: list[Any], ours: list[Any]) -> None:
    """Whether every number of every document is the same to `NEAR`, and the largest difference."""
    apart = [difference(a, b) for a, b in zip(public, ours, strict=True)]
    same = sum(d <= NEAR for d in apart)
    print(f"{what}: {same} of {len(apart)} documents equal to {NEAR:g}; largest difference {max(apart):.1e}")


def difference(a: Any, b: Any) -> float:
    """The largest difference of two numbers at one place; infinite where the structure differs."""
    if isinstance(a, dict):
        return max((difference(a[k], b[k]) for k in a), default=0.0) if a.keys() == b.keys() else float("inf")
    if isinstance(a, list | tuple):
        return (
            max((difference(x, y) for x, y in zip(a, b, strict=True)), default=0.0)
            if len(a) == len(b)
            else float("inf")
        )
    if isinstance(a, int) and isinstance(b, int):
        return 0.0 if a == b else float("inf")
    return abs(a - b)


def told(ids: list[int]) -> list[int]:
    """Subwords as their number and a checksum."""
    return [len(ids), zlib.crc32(json.dumps(ids).encode())]


def package(name: str, folder: Path) -> None:
    """Make `name` importable from `folder` without running its __init__."""
    module = types.ModuleType(name)
    module.__path__ = [str(folder)]
    sys.modules[name] = module


# -- ReLiK reader --------------------------------------------------------------------------------------


def reader(source: Path, folder: Path, encoder: Path) -> list[dict[str, Any]]:
    import torch
    import transformers.modeling_utils
    from safetensors.torch import save_file
    from transformers import AutoTokenizer

    from bookcoref_data.annotation.hub.reader import Reader

    if not hasattr(transformers.modeling_utils, "PoolerEndLogits"):
        transformers.modeling_utils.PoolerEndLogits = end_pooler()
    package("published_reader", source / "relik/reader/pytorch_modules/hf")
    modeling = importlib.import_module("published_reader.modeling_relik")
    settings = importlib.import_module("published_reader.configuration_relik")
    where = made.make_reader(folder / "reader", encoder)
    save_file(made.encoder_state(encoder, 0, 1), encoder / "model.safetensors", metadata={"format": "pt"})
    config = json.loads((where / "config.json").read_text())
    theirs = modeling.RelikReaderSpanModel(settings.RelikReaderConfig(**config)).eval()
    # Strict: every name and shape is that of the public class.
    theirs.load_state_dict(torch.load(where / "pytorch_model.bin", weights_only=True))
    tokenizer = AutoTokenizer.from_pretrained(where)
    ours = Reader.load(str(where), device=torch.device("cpu"))
    public, mine = [], []
    for number, sentences in enumerate(made.documents()):
        names = made.names_of(number)
        public.append(public_links(theirs, tokenizer, [w for s in sentences for w in s], names))
        answer = made.our_reader(ours, sentences, names)
        mine.append(answer | {"ids": told(answer["ids"])})
    report("reader (relik 1.0.7)", public, mine)
    print(f"reader: {sum(len(p['links']) for p in public)} links")
    report("training loss of the reader", *losses(theirs, ours, tokenizer))
    return public


def losses(theirs: Any, ours: Any, tokenizer: Any) -> tuple[list[float], list[float]]:
    """The loss of every document with made-up links: the public class in training, and ours; no dropout."""
    import torch

    theirs.train()
    for module in theirs.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
    public, mine, chance = [], [], random.Random(5)
    for number, sentences in enumerate(made.documents()):
        words, names = [w for s in sentences for w in s], made.names_of(number)
        starts = sorted(chance.sample(range(len(words)), min(6, len(words))))
        # Two mentions that begin together, and one of somebody who is not in the list.
        links = [(a, min(a + chance.randint(0, 3), len(words) - 1), chance.randrange(len(names)))
                 for a in [*starts, starts[0]]]  # fmt: skip
        links = sorted({(a, b): (a, b, name) for a, b, name in links}.values())
        links[-1] = (*links[-1][:2], -1)
        (row,) = ours.rows(words, names)
        mine.append(ours.loss(row, links).item())
        ids = torch.tensor([row.ids])
        classes = ours._classes(row, links)
        begins = sorted({a for a, _ in classes})
        mask = torch.ones_like(ids)
        mask[0, 1 : 1 + len(row.text.ids)] = 0
        start_labels, end_labels = torch.zeros_like(ids), torch.zeros(1, len(begins), ids.shape[1])
        for (a, b), kind in classes.items():
            start_labels[0, a] = end_labels[0, begins.index(a), b] = kind
        start_labels[mask == 1] = -100
        end_labels[:, :, mask[0] == 1] = -100
        special = torch.zeros_like(ids, dtype=torch.bool)
        special[0, row.symbols] = True
        out = theirs(
            input_ids=ids, attention_mask=torch.ones_like(ids), prediction_mask=mask,
            special_symbols_mask=special, start_labels=start_labels, end_labels=end_labels.long(),
        )  # fmt: skip
        public.append(out["loss"].item())
    theirs.eval()
    return public, mine


def public_links(model: Any, tokenizer: Any, words: list[str], names: list[str]) -> dict[str, Any]:
    """Scores of starts, and the best name per span, from the public forward pass."""
    import torch

    parts = [tokenizer(w, add_special_tokens=False).input_ids for w in words]
    ids, word_of = [i for p in parts for i in p], [w for w, p in enumerate(parts) for _ in p]
    named = ["--NME--", *(f"[E-{i}] {name}" for i, name in enumerate(names))]
    tail = [i for text in named for i in tokenizer(text, add_special_tokens=False).input_ids[:22]]
    row = [tokenizer.cls_token_id, *ids, tokenizer.sep_token_id, *tail, tokenizer.sep_token_id]
    given = torch.tensor([row])
    mask = torch.tensor([[1] + [0] * len(ids) + [1] * (len(row) - len(ids) - 1)])
    special = given >= tokenizer.convert_tokens_to_ids(made.SYMBOLS[0])
    special[0, 0] = True
    with torch.no_grad():
        out = model(
            input_ids=given, attention_mask=torch.ones_like(given), prediction_mask=mask,
            special_symbols_mask=special,
        )  # fmt: skip
    best: dict[tuple[int, int], tuple[float, int]] = {}
    starts = out["ned_start_predictions"][0].nonzero().flatten().tolist()
    number = 0
    for start, ends in (
        zip(starts, out["ned_end_predictions"][0], strict=True) if out["ed_logits"] is not None else ()
    ):
        for end in ends.nonzero().flatten().tolist():
            name = out["ed_predictions"][0][number].item() - 2
            score = out["ed_probabilities"][0][number].max().item()
            number += 1
            span = (word_of[start - 1], word_of[end - 1])
            if name >= 0 and start <= end and score > best.get(span, (0.0, 0))[0]:
                best[span] = (score, name)
    links = sorted([a, b, name, round(score, 7)] for (a, b), (score, name) in best.items())
    logits = out["ned_start_logits"][0][1 : 1 + len(ids)]
    return {"ids": told(row), "starts": made.some(logits), "links": links}


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


def maverick(source: Path, folder: Path, encoder: Path) -> list[dict[str, Any]]:
    import torch
    from safetensors.torch import save_file
    from transformers import AutoTokenizer

    from bookcoref_data.annotation.hub.maverick import Maverick

    wrapper, model_class = published_maverick(source)
    where = made.make_maverick(folder / "maverick", encoder)
    save_file(made.encoder_state(encoder, 0, 1), encoder / "model.safetensors", metadata={"format": "pt"})
    theirs = model_class(
        huggingface_model_name=str(encoder), freeze_encoder=False, span_representation="concat_start_end"
    ).eval()
    state = torch.load(where / "weights.ckpt", weights_only=True)["state_dict"]
    theirs.load_state_dict({name.removeprefix("model."): value for name, value in state.items()})
    published = wrapper.__new__(wrapper)
    published.device, published.model = "cpu", theirs
    published.tokenizer = AutoTokenizer.from_pretrained(encoder, use_fast=True, add_prefix_space=True)
    published.tokenizer.add_special_tokens({"additional_special_tokens": made.SPEAKER})
    ours = Maverick.load(str(where), encoder=str(encoder), device=torch.device("cpu"))
    # Documents in which the public model takes its own special tokens for a mention are left out.
    documents = made.documents(1000, cut=False)
    answered = (
        {"document": i} | found for i, s in enumerate(documents) if (found := public_clusters(published, s))
    )
    public, mine = list(itertools.islice(answered, made.DOCUMENTS)), []
    for number in (answer["document"] for answer in public):
        answer = made.our_maverick(ours, documents[number])
        mine.append({"document": number} | answer | {"ids": told(answer["ids"])})
    report("maverick (maverick-coref 1.0.7)", public, mine)
    print(f"maverick: {sum(len(p['mentions']) for p in public)} mentions, "
          f"{sum(len(p['clusters']) for p in public)} clusters")  # fmt: skip
    whole_words(published, ours)
    ids = published.tokenizer(["the", "fox"], is_split_into_words=True)["input_ids"]
    whole = [ids[0], ids[-1]] == [published.tokenizer.cls_token_id, published.tokenizer.sep_token_id]
    print(f"maverick: the public tokenizer call {'adds' if whole else 'LEAVES OUT'} [CLS] and [SEP] here")
    return public


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


def whole_words(published: Any, ours: Any) -> None:
    """Where words have several subwords, ours widens a mention to whole words: how much that changes."""
    same = total = 0
    for sentences in made.documents(200):
        if answer := public_clusters(published, sentences):
            theirs, mine = (
                {tuple(m) for m in a["mentions"]} for a in (answer, made.our_maverick(ours, sentences))
            )
            same, total = same + len(theirs & mine), total + len(theirs | mine)
    print(f"maverick: words of several subwords: {same} of {total} mentions are the same in words")


def public_clusters(published: Any, sentences: list[list[str]]) -> dict[str, Any]:
    """Scores, mentions and clusters by the public network; {} where it takes special tokens for a mention."""
    import torch

    model = published.model
    tokens, ends, speakers, _ = published.preprocess(sentences)
    given = published.tokenize(tokens, ends, speakers)
    tensors = {k: torch.tensor(given[k]).unsqueeze(0) for k in ("input_ids", "attention_mask", "eos_mask")}
    lists = {k: [given[k]] for k in ("tokens", "subtoken_map", "new_token_map")}
    seen: dict[str, Any] = {}
    antecedents = model.create_mention_to_antecedent_singletons

    def noted(starts: Any, stops: Any, logits: Any) -> Any:
        seen["logits"] = logits[0]
        return antecedents(starts, stops, logits)

    model.create_mention_to_antecedent_singletons = noted
    with torch.no_grad():
        hidden = model.encoder(tensors["input_ids"], tensors["attention_mask"])["last_hidden_state"]
        starts = model.start_token_classifier(hidden[0]).squeeze(-1)
        found = model(stage="test", **tensors, **lists)["pred_dict"]["mention_idxs"][0]
    model.create_mention_to_antecedent_singletons = antecedents
    words, back = given["subtoken_map"], given["new_token_map"]
    spans = [
        [words[a] is not None and back[words[a]], words[b] is not None and back[words[b]]]
        for a, b in found.tolist()
    ]
    if any(place is False or place is None for span in spans for place in span):
        return {}
    clusters = published.predict(sentences)["clusters_token_offsets"] if spans else []
    best = seen["logits"].max(dim=-1).values if spans else torch.zeros(0)
    scores = best[best > 0].sigmoid().tolist()
    return {
        "ids": told(given["input_ids"]), "starts": made.some(starts), "mentions": sorted(spans),
        "scores": made.some(scores), "clusters": sorted(sorted(set(map(tuple, c))) for c in clusters),
    }  # fmt: skip


# -- judge ---------------------------------------------------------------------------------------------


def judge(folder: Path) -> list[dict[str, Any]]:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from bookcoref_data.annotation.hub.judge import Judge

    where = made.make_judge(folder / "judge")
    theirs = AutoModelForCausalLM.from_pretrained(where, dtype=torch.float32).eval()
    tokenizer = AutoTokenizer.from_pretrained(where)
    answers = [tokenizer(word, add_special_tokens=False)["input_ids"][0] for word in ("Yes", "No")]
    public = []
    for asked in made.questions():
        messages = [{"role": "user", "content": asked}]
        text = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        ids = tokenizer([text], return_tensors="pt")["input_ids"]
        with torch.no_grad():
            yes = theirs(input_ids=ids).logits[0, -1, answers].softmax(-1)[0].item()
        public.append({"ids": told(ids[0].tolist()), "yes": round(yes, 7)})
    ours = Judge.load(str(where), device=torch.device("cpu"), dtype="float32")
    ours.batches.most = 8
    mine: dict[int, float] = {}
    ours.ask_all(made.questions(), mine.__setitem__)
    rows = [{"ids": told(list(ours.tokens(q))), "yes": mine[i]} for i, q in enumerate(made.questions())]
    report("judge (transformers' Qwen2ForCausalLM)", public, rows)
    shares = [row["yes"] for row in public]
    print(f"judge: probability of Yes from {min(shares):.3f} to {max(shares):.3f}")
    return public


if __name__ == "__main__":
    main()
