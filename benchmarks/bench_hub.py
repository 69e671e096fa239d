"""Throughput and memory of the backend `hub` at the real sizes, with random weights.

    python benchmarks/bench_hub.py                     every step; a GPU of 24 GiB or more
    python benchmarks/bench_hub.py --steps link windows --device cpu --repeat 1

Needs the extra `gpu`, no downloads: networks of the published shapes are filled with random numbers, which
take as long as trained ones. Texts are random subwords at the density of English novels. The last columns
extrapolate to the 53 books of BookCoref: 11.06M tokens (Table 8), about 346,000 links to filter (968,000
silver and 24,000 gold mentions times recall 30.9 over precision 88.6 of the paper's Table 2).
Loading is not counted. Answers mean nothing here; only times and memory do.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Callable
from typing import NamedTuple

BOOKS_TOKENS = 11_062_086
BOOKS_LINKS = round((968_000 + 24_000) * 0.309 / 0.886)
SUBWORDS_PER_WORD = 1.25  # DeBERTa-v3 on novels; what the stand-in tokenizer gives
MENTIONS_PER_WORD = 291 / 2105  # LitBank, the paper's Table 1
NAMES = 28  # characters per book, Table 1
PROMPT_TOKENS = 640  # 400 words, question and chat header in Qwen2's tokens
SHARED_TOKENS = 75  # chat header and first sentence of the question

DEBERTA = {
    "base": {
        "hidden_size": 768, "intermediate_size": 3072, "num_hidden_layers": 12, "num_attention_heads": 12,
    },
    "large": {
        "hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers": 24, "num_attention_heads": 16,
    },
}  # fmt: skip
DEBERTA_COMMON = {
    "vocab_size": 128100, "relative_attention": True, "position_buckets": 256, "norm_rel_ebd": "layer_norm",
    "share_att_key": True, "pos_att_type": "p2c|c2p", "position_biased_input": False, "type_vocab_size": 0,
    "layer_norm_eps": 1e-7, "max_relative_positions": -1, "max_position_embeddings": 512,
}  # fmt: skip
QWEN = {
    "7b": {
        "vocab_size": 152064, "hidden_size": 3584, "intermediate_size": 18944, "num_hidden_layers": 28,
        "num_attention_heads": 28, "num_key_value_heads": 4, "max_position_embeddings": 32768,
        "rope_theta": 1e6, "tie_word_embeddings": False,
    },
    "0.5b": {
        "vocab_size": 151936, "hidden_size": 896, "intermediate_size": 4864, "num_hidden_layers": 24,
        "num_attention_heads": 14, "num_key_value_heads": 2, "max_position_embeddings": 32768,
        "rope_theta": 1e6, "tie_word_embeddings": True,
    },
}  # fmt: skip


class Row(NamedTuple):
    """One measurement. `rate` is units a second, `all_hours` the extrapolation to the 53 books."""

    step: str
    model: str
    unit: str
    rate: float
    peak_gib: float
    all_hours: float


class StandInTokenizer:
    """As many subwords as a real tokenizer gives, of random numbers; knows the special tokens by number."""

    cls_token_id, sep_token_id, unk_token_id = 1, 2, 3

    def __init__(self) -> None:
        self._chance = random.Random(0)
        self._special: dict[str, int] = {}

    def __call__(self, words, add_special_tokens=False):
        return {"input_ids": [self._word() for _ in words]}

    def _word(self) -> list[int]:
        size = 1 + (self._chance.random() < SUBWORDS_PER_WORD - 1)
        return [self._chance.randrange(1000, 100_000) for _ in range(size)]

    def convert_tokens_to_ids(self, token: str) -> int:
        return self._special.setdefault(token, 127_000 + len(self._special))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", nargs="+", default=["link", "filter", "windows", "groups"])
    parser.add_argument("--device", default="auto")
    parser.add_argument("--dtype", default="", help="default: float32 for encoders, bfloat16 for the judge")
    parser.add_argument("--encoder", default="large", choices=sorted(DEBERTA))
    parser.add_argument("--judge", default="7b", choices=sorted(QWEN))
    parser.add_argument("--batch", type=int, nargs="+", default=[16])
    parser.add_argument("--repeat", type=int, default=5, help="texts (windows, groups, batches) timed")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    from bookcoref_data.annotation.hub.device import choose_device

    device = choose_device(given.device)
    rows: list[Row] = []
    for step in given.steps:
        for row in MEASURES[step](given, device):
            rows.append(row)
            print(f"{row.step} {row.model}: {row.rate:,.1f} {row.unit}/s", file=sys.stderr, flush=True)
    if given.json:
        print(json.dumps([row._asdict() for row in rows], indent=2))
        return
    print(f"{_machine(device)}; random weights; {given.repeat} texts each, the best of them\n")
    print("| step | network | speed | peak memory | 53 books |\n|---|---|---|---|---|")
    for row in rows:
        memory = f"{row.peak_gib:.1f} GiB" if row.peak_gib else "-"
        print(
            f"| {row.step} | {row.model} | {row.rate:,.1f} {row.unit}/s | {memory} | {row.all_hours:.2f} h |"
        )


def measure_link(given, device):
    """400-word windows with a cast of average size."""
    from bookcoref_data.annotation.hub.reader import Reader, ReaderSettings, reader_shapes

    encoder, dtype = _encoder(given, device)
    settings = ReaderSettings(given.encoder)
    heads = _heads(reader_shapes(encoder.config.hidden_size, settings), device, dtype)
    # Random weights see a start at every second token; in novels about 4 words in 100 start a name.
    heads["ned_start_classifier.4.bias"].copy_(_tensor([3.0, 0.0], device, dtype))
    reader = Reader(encoder, StandInTokenizer(), heads, settings, 2000)
    words, names = ["w"] * 400, ["n"] * NAMES
    seconds, peak = _time(lambda: reader.read(words, names), given.repeat, device)
    yield Row("link", _name(given, dtype), "tokens", 400 / seconds, peak, BOOKS_TOKENS / 400 * seconds / 3600)


def measure_windows(given, device):
    """One window of 1500 words."""
    yield _expand("windows", given, device, [1500])


def measure_groups(given, device):
    """A group of 10 windows: 15,000 words, mentions from parts of 4000 subwords, clustered at once."""
    yield _expand("groups", given, device, [3000] * 5)


def _expand(step: str, given, device, parts: list[int]) -> Row:
    import torch

    from bookcoref_data.annotation.hub.maverick import Maverick, maverick_shapes

    encoder, dtype = _encoder(given, device)
    heads = _heads(maverick_shapes(encoder.config.hidden_size), device, dtype)
    # Mentions are given at the density of LitBank: what random weights find is no measure.
    heads["start_token_classifier.layer.dense.bias"].fill_(-1e3)
    model = Maverick(encoder, StandInTokenizer(), heads)

    def run() -> None:
        found = []
        for words in parts:
            sentences = [["w"] * 20] * (words // 20)
            every = round(1 / MENTIONS_PER_WORD)
            found.append(model.spans(sentences, [(i, i) for i in range(0, words, every)]))
        texts = [[f"w{i % 300}"] for spans in found for i, _ in enumerate(spans.words)]
        model.antecedents(torch.cat([s.starts for s in found]), torch.cat([s.ends for s in found]), texts)

    seconds, peak = _time(run, given.repeat, device)
    words = sum(parts)
    return Row(
        step, _name(given, dtype), "tokens", words / seconds, peak, BOOKS_TOKENS / words * seconds / 3600
    )


def measure_filter(given, device):
    """Batches of questions that share header and instruction, with and without sharing their cache."""
    import torch
    from transformers import Qwen2Config, Qwen2ForCausalLM

    from bookcoref_data.annotation.hub.device import dtype_of
    from bookcoref_data.annotation.hub.judge import Judge

    dtype = dtype_of(given.dtype or "bfloat16")
    config = Qwen2Config(**QWEN[given.judge], dtype=dtype)
    torch.set_default_dtype(dtype)
    with torch.device(device):
        model = Qwen2ForCausalLM(config).eval()
    torch.set_default_dtype(torch.float32)

    class Words:
        """Yes and No are one token each."""

        def __call__(self, text, add_special_tokens=False):
            return {"input_ids": [len(text)]}

    chance = random.Random(0)
    shared = [chance.randrange(100_000) for _ in range(SHARED_TOKENS)]
    for batch in given.batch:
        rows = [
            shared + [chance.randrange(100_000) for _ in range(PROMPT_TOKENS - SHARED_TOKENS)]
            for _ in range(batch)
        ]
        for share in (True, False):
            judge = Judge(model, Words(), share_prefix=share)
            seconds, peak = _time(lambda judge=judge, rows=rows: judge.ask_tokens(rows), given.repeat, device)
            rate = batch / seconds
            label = f"Qwen2-{given.judge} {_short(dtype)}, batch {batch}" + (
                ", shared prefix" if share else ""
            )
            yield Row("filter", label, "mentions", rate, peak, BOOKS_LINKS / rate / 3600)


MEASURES: dict[str, Callable] = {
    "link": measure_link,
    "filter": measure_filter,
    "windows": measure_windows,
    "groups": measure_groups,
}


def _encoder(given, device):
    import torch
    from transformers import DebertaV2Config, DebertaV2Model

    from bookcoref_data.annotation.hub.device import dtype_of

    dtype = dtype_of(given.dtype or "float32")
    with torch.device(device):
        model = DebertaV2Model(DebertaV2Config(**DEBERTA_COMMON, **DEBERTA[given.encoder]))
    return model.to(dtype).eval(), dtype


def _heads(shapes, device, dtype):
    import torch

    return {name: torch.randn(shape, device=device, dtype=dtype) * 0.02 for name, shape in shapes.items()}


def _tensor(values, device, dtype):
    import torch

    return torch.tensor(values, device=device, dtype=dtype)


def _time(run: Callable[[], object], repeat: int, device) -> tuple[float, float]:
    """(seconds of the fastest run after one to warm up, peak GiB on the GPU; 0.0 on a CPU)."""
    import torch

    gpu = device.type == "cuda"
    if gpu:
        torch.cuda.reset_peak_memory_stats()
    best = float("inf")
    for turn in range(repeat + 1):
        started = time.perf_counter()
        run()
        if gpu:
            torch.cuda.synchronize()
        if turn or repeat == 1:
            best = min(best, time.perf_counter() - started)
    return best, torch.cuda.max_memory_allocated() / 2**30 if gpu else 0.0


def _name(given, dtype) -> str:
    return f"DeBERTa-v3-{given.encoder} {_short(dtype)}"


def _short(dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _machine(device) -> str:
    import torch
    import transformers

    name = (
        torch.cuda.get_device_name() if device.type == "cuda" else f"CPU, {torch.get_num_threads()} threads"
    )
    return f"{name}; torch {torch.__version__}, transformers {transformers.__version__}"


if __name__ == "__main__":
    main()
