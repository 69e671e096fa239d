"""Throughput and memory of the backend `hub` over one novel at the real sizes, with random weights.

    python -m benchmarks.bench_hub                     every step; a GPU of 24 GiB or more
    python -m benchmarks.bench_hub --batch 0 4 --dtype float32 bfloat16 --steps link windows
    python -m benchmarks.bench_hub --steps link windows --device cpu --words 3000 --encoder tiny

Needs the extra `gpu`, no downloads: networks of the published shapes are filled with random numbers, which
take as long as trained ones. The text is random subwords at the density of English novels, cut as the steps
cut a novel; rows run together as in a real run (batch 0: as many as fit). The last columns extrapolate to a
whole novel and to the 53 books of BookCoref: 11.06M tokens (Table 8), about 346,000 links to filter (968,000
silver and 24,000 gold mentions times recall 30.9 over precision 88.6 of the paper's Table 2).
Loading is not counted. Answers mean nothing here, but that of the judge is compared between batches.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from bookcoref_data.annotation.hub.backend import batches_for
from bookcoref_data.annotation.hub.batching import Batches

BOOKS_TOKENS = 11_062_086
BOOKS_LINKS = round((968_000 + 24_000) * 0.309 / 0.886)
SUBWORDS_PER_WORD = 1.25  # DeBERTa-v3 on novels; what the stand-in tokenizer gives
MENTIONS_PER_WORD = 291 / 2105  # LitBank, the paper's Table 1
NAMES = 28  # characters per book, Table 1
PROMPT_TOKENS = 640  # 400 words, question and chat header in Qwen2's tokens
SHARED_TOKENS = 75  # chat header and first sentence of the question

DEBERTA = {
    "tiny": {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 2},
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
    "tiny": {
        "vocab_size": 151936, "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2,
        "num_attention_heads": 2, "num_key_value_heads": 1, "max_position_embeddings": 32768,
        "rope_theta": 1e6, "tie_word_embeddings": True,
    },
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
    """One measurement: `rate` is units a second, `at_once` the rows of the largest batch, `differs` how far
    an answer is from that of the first batch size, at the most; minutes and hours by extrapolation."""

    step: str
    model: str
    at_once: int
    unit: str
    rate: float
    peak_gib: float
    differs: float
    novel_minutes: float
    all_hours: float


class Noting(Batches):
    """Batches that note how many rows the largest one had that was answered."""

    largest = 0

    def run(self, rows: Any, length: Any, work: Any, told: Any) -> None:
        def noted(part: Any) -> Any:
            answers = work(part)
            self.largest = max(self.largest, len(part))
            return answers

        super().run(rows, length, noted, told)


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
    parser.add_argument("--steps", nargs="+", default=["link", "windows", "groups", "filter"])
    parser.add_argument("--device", default="auto")
    parser.add_argument("--dtype", nargs="+", default=["float32"], help="of the encoders")
    parser.add_argument("--judge-dtype", default="bfloat16")
    parser.add_argument("--encoder", default="large", choices=sorted(DEBERTA))
    parser.add_argument("--judge", default="7b", choices=sorted(QWEN))
    parser.add_argument("--batch", type=int, nargs="+", default=[0], help="most rows at once; 0: what fits")
    parser.add_argument("--words", type=int, default=150_000, help="length of the novel")
    parser.add_argument("--questions", type=int, default=512, help="links of it that the judge is asked for")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    from bookcoref_data.annotation.hub.device import choose_device

    device = choose_device(given.device)
    rows: list[Row] = []
    for step in given.steps:
        for row in MEASURES[step](given, device):
            rows.append(row)
            print(
                f"{row.step} {row.model}, {row.at_once} at once: {row.rate:,.1f} {row.unit}/s, "
                f"peak {row.peak_gib:.1f} GiB",
                file=sys.stderr, flush=True,
            )  # fmt: skip
    if given.json:
        print(json.dumps([row._asdict() for row in rows], indent=2))
        return
    print(f"{_machine(device)}; random weights; {given.words:,} words, {given.questions:,} questions\n")
    print("| step | network | at once | speed | peak memory | answers differ | novel | 53 books |")
    print("|---|---|---|---|---|---|---|---|")
    for row in rows:
        differs = f"{row.differs:.1e}" if row.step == "filter" else "-"
        cells = (
            row.step, row.model, row.at_once, f"{row.rate:,.1f} {row.unit}/s",
            f"{row.peak_gib:.1f} GiB" if row.peak_gib else "-", differs,
            f"{row.novel_minutes:.1f} min", f"{row.all_hours:.2f} h",
        )  # fmt: skip
        print(f"| {' | '.join(map(str, cells))} |")


def measure_link(given, device):
    """Windows of 400 words with a cast of average size."""
    from bookcoref_data.annotation.hub.reader import Reader, ReaderSettings, reader_shapes

    for name in given.dtype:
        encoder, dtype = _encoder(given, device, name)
        settings = ReaderSettings(given.encoder)
        heads = _heads(reader_shapes(encoder.config.hidden_size, settings), device, dtype)
        # Random weights see a start at every second token; in novels about 4 words in 100 start a name.
        heads["ned_start_classifier.4.bias"].copy_(_tensor([3.0, 0.0], device, dtype))
        reader = Reader(encoder, StandInTokenizer(), heads, settings, 1000)
        texts = [(["w"] * 400, ["n"] * NAMES)] * (given.words // 400)
        yield from _over("link", given, name, reader, texts, lambda part, r=reader: r.read_all(part, _ignore))


def measure_windows(given, device):
    """Windows of 1500 words."""
    yield from _expand("windows", given, device, parts=1, words=1500)


def measure_groups(given, device):
    """Groups of 10 windows: 15,000 words, mentions from parts of about 4000 subwords, clustered at once."""
    yield from _expand("groups", given, device, parts=5, words=3000)


def _expand(step: str, given, device, parts: int, words: int) -> Iterator[Row]:
    import torch

    from bookcoref_data.annotation.hub.maverick import Maverick, maverick_shapes

    every = round(1 / MENTIONS_PER_WORD)
    text = [["w"] * 20] * (words // 20), [(i, i) for i in range(0, words, every)]
    for name in given.dtype:
        encoder, dtype = _encoder(given, device, name)
        heads = _heads(maverick_shapes(encoder.config.hidden_size), device, dtype)
        # Mentions are given at the density of LitBank: what random weights find is no measure.
        heads["start_token_classifier.layer.dense.bias"].fill_(-1e3)
        model = Maverick(encoder, StandInTokenizer(), heads)

        def compare(found, model=model) -> None:
            texts = [[f"w{i % 300}"] for spans in found for i, _ in enumerate(spans.words)]
            model.antecedents(torch.cat([s.starts for s in found]), torch.cat([s.ends for s in found]), texts)

        def run(stretches, model=model, compare=compare) -> None:
            if step == "windows":
                model.spans_all([text] * len(stretches), lambda _, spans: compare([spans]))
                return
            for _ in stretches:
                found: list[Any] = []
                model.spans_all([text] * parts, lambda _, spans, found=found: found.append(spans))
                compare(found)

        stretches = range(max(1, given.words // (parts * words)))
        yield from _over(step, given, name, model, stretches, run, parts * words)


def _over(
    step: str, given, dtype: str, model, stretches: Sequence[Any], run: Callable, words: int = 400
) -> Iterator[Row]:  # fmt: skip
    """A row for each batch size: `run` over all stretches of the novel, of so many words each."""
    for batch in given.batch:
        _set_batches(model, dtype, batch)
        run(stretches[:2])
        seconds, peak = _timed(lambda: run(stretches), model.device)
        rate = words * len(stretches) / seconds
        network = f"DeBERTa-v3-{given.encoder} {dtype}"
        yield Row(
            step, network, model.batches.largest, "tokens", rate, peak, 0.0, given.words / rate / 60,
            BOOKS_TOKENS / rate / 3600,
        )  # fmt: skip


def _set_batches(model, dtype: str, batch: int) -> None:
    """Batches as the backend makes them, when nothing but the weights is in memory."""
    import torch

    torch.cuda.empty_cache()
    made = batches_for(model.config, dtype, model.device, batch)
    model.batches = Noting(made.most, made._room)


def measure_filter(given, device):
    """Questions that share header and instruction, with and without sharing their cache."""
    import torch
    from transformers import Qwen2Config, Qwen2ForCausalLM

    from bookcoref_data.annotation.hub.device import dtype_of
    from bookcoref_data.annotation.hub.judge import Judge

    dtype = dtype_of(given.judge_dtype)
    config = Qwen2Config(**QWEN[given.judge], dtype=dtype)
    torch.set_default_dtype(dtype)
    with torch.device(device):
        network = Qwen2ForCausalLM(config).eval()
    torch.set_default_dtype(torch.float32)

    class Words:
        """Yes and No are one token each."""

        def __call__(self, text, add_special_tokens=False):
            return {"input_ids": [len(text)]}

    chance = random.Random(0)
    shared = [chance.randrange(100_000) for _ in range(SHARED_TOKENS)]
    rows = [
        shared + [chance.randrange(100_000) for _ in range(PROMPT_TOKENS - SHARED_TOKENS)]
        for _ in range(given.questions)
    ]
    first: dict[int, float] = {}
    for batch in given.batch:
        for share in (True, False):
            judge = Judge(network, Words(), share_prefix=share)
            _set_batches(judge, given.judge_dtype, batch)
            judge.ask_tokens(rows[:2])
            answers: dict[int, float] = {}

            def run(judge=judge, answers=answers) -> None:
                judge.batches.run(rows, len, judge.ask_tokens, answers.__setitem__)

            seconds, peak = _timed(run, device)
            first = first or answers
            rate = len(rows) / seconds
            yield Row(
                "filter",
                f"Qwen2-{given.judge} {given.judge_dtype}" + (", shared prefix" if share else ""),
                judge.batches.largest,
                "links",
                rate,
                peak,
                max(abs(answers[i] - first[i]) for i in first),
                given.words * BOOKS_LINKS / BOOKS_TOKENS / rate / 60,
                BOOKS_LINKS / rate / 3600,
            )


MEASURES: dict[str, Callable] = {
    "link": measure_link,
    "filter": measure_filter,
    "windows": measure_windows,
    "groups": measure_groups,
}


def _encoder(given, device, name: str):
    import torch
    from transformers import DebertaV2Config, DebertaV2Model

    from bookcoref_data.annotation.hub.device import dtype_of

    dtype = dtype_of(name)
    with torch.device(device):
        model = DebertaV2Model(DebertaV2Config(**DEBERTA_COMMON, **DEBERTA[given.encoder]))
    return model.to(dtype).eval(), dtype


def _heads(shapes, device, dtype):
    import torch

    return {name: torch.randn(shape, device=device, dtype=dtype) * 0.02 for name, shape in shapes.items()}


def _tensor(values, device, dtype):
    import torch

    return torch.tensor(values, device=device, dtype=dtype)


def _ignore(number: int, answer: object) -> None:
    """Hears an answer."""


def _timed(run: Callable[[], object], device) -> tuple[float, float]:
    """(seconds of one run, peak GiB on the GPU; 0.0 on a CPU)."""
    import torch

    gpu = device.type == "cuda"
    if gpu:
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
    started = time.perf_counter()
    run()
    if gpu:
        torch.cuda.synchronize()
    return time.perf_counter() - started, torch.cuda.max_memory_allocated() / 2**30 if gpu else 0.0


def _machine(device) -> str:
    import torch
    import transformers

    name = (
        torch.cuda.get_device_name() if device.type == "cuda" else f"CPU, {torch.get_num_threads()} threads"
    )
    return f"{name}; torch {torch.__version__}, transformers {transformers.__version__}"


if __name__ == "__main__":
    main()
