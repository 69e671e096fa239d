"""How often do the tests of `--compare` tell two equal systems apart? (It should be 5 % at the 5 % level.)

    python benchmarks/bench_significance.py [--pairs 1000] [--samples 100] [--mode full] [--kind noise]

Every pair of systems is drawn from the same distribution, so no difference between them is real. A test
at the 5 % level is right when it still finds one in 5 % of the pairs. With 1,000 pairs the standard error
of each figure is 0.7 points; the range 3 to 7 % is marked when it is left.

The book (our own numbers, no text): 36,000 tokens in sentences of 20, 24 windows of 1,500; 12 characters
with weights 1/rank, 1,500 mentions; which characters are about changes every 600 tokens. Three kinds of
systems, each with `random` errors of its own:

- noise: each mention is lost with 10 %, put into a random cluster with 10 %, one token too long with 5 %.
- local: noise at a third of these rates, and in 30 % of all stretches of 300 tokens (placed at random,
  across window ends too) all mentions of one character are taken for another.
- merges: noise at a third of these rates, and two characters are merged from the first page to the last.

`merges` on one book is the case that no test can handle: the error is one decision, not many. The line is
there to show it. With 12 small books (`unit book`) every book has merges of its own, and the test holds.

Columns: p of approximate randomisation; p of the paired bootstrap where it applies; and how often the
interval of the difference leaves out 0 (jackknife in mode full, bootstrap elsewhere).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from multiprocessing import Pool
from typing import Any

import numpy as np

from bookcoref_data.books import Mention, Record, split_book
from bookcoref_data.evaluate import Evaluation, evaluate
from bookcoref_data.evaluate.significance import METRICS, resample

KINDS = ("noise", "local", "merges")
MODES = ("full", "gold-window", "gold-window-blocks", "gold-window-released", "split")
SENTENCE, STRETCH, SCENE = 20, 300, 600
LEVEL = 0.05


def make_key(rng: np.random.Generator, name: str, tokens: int, characters: int, mentions: int) -> Record:
    """One book: characters come and go by scene, mentions start at distinct tokens."""
    starts = np.sort(rng.choice(tokens - 2, mentions, replace=False))
    weights = 1 / np.arange(1, characters + 1)
    present = rng.gamma(0.7, size=(tokens // SCENE + 1, characters)) * weights
    clusters: list[list[Mention]] = [[] for _ in range(characters)]
    for start in starts.tolist():
        share = present[start // SCENE]
        owner = int(rng.choice(characters, p=share / share.sum()))
        clusters[owner].append(Mention(start, start + int(rng.random() < 0.3)))
    sentences = [["x"] * SENTENCE] * (tokens // SENTENCE)
    return Record(name, "", sentences, [c for c in clusters if c])


def make_system(rng: np.random.Generator, key: Record, kind: str) -> Record:
    """One system of a kind on one book."""
    tokens, count = sum(map(len, key.sentences or [])), len(key.clusters)
    rate = 1.0 if kind == "noise" else 1 / 3
    taken_for = np.tile(np.arange(count), (tokens // STRETCH + 2, 1))
    offset = int(rng.integers(STRETCH))
    if kind == "local":
        for stretch in np.flatnonzero(rng.random(len(taken_for)) < 0.3).tolist():
            who, whom = rng.integers(count, size=2)
            taken_for[stretch, who] = whom
    elif kind == "merges" and count > 1:
        who, whom = rng.choice(count, 2, replace=False)
        taken_for[:, who] = whom
    clusters: list[list[Mention]] = [[] for _ in range(count)]
    for owner, cluster in enumerate(key.clusters):
        for start, end in cluster:
            chance = rng.random()
            if chance < 0.10 * rate:
                continue
            target = int(taken_for[(start + offset) // STRETCH, owner])
            if chance < 0.20 * rate:
                target = int(rng.integers(count))
            clusters[target].append(Mention(start, end + int(rng.random() < 0.05 * rate)))
    return Record(key.doc_key, "", key.sentences, [c for c in clusters if c])


def scored(keys: list[Record], systems: list[Record], mode: str) -> Evaluation:
    """In mode split the windows are predicted alone: here, the windows of the system's whole books."""
    if mode != "split":
        return evaluate(keys, systems, mode)
    cut = ([w.to_record() for book in side for w in split_book(book.to_book()).books]
           for side in (keys, systems))  # fmt: skip
    return evaluate(*cut, mode)


def one_pair(job: tuple[str, str, str, int, int]) -> list[list[bool]]:
    """By kind of figure (randomisation, bootstrap, interval) and metric: was a difference found?"""
    kind, mode, unit, samples, seed = job
    rng = np.random.default_rng(seed)
    books, tokens, mentions = (12, 6_000, 250) if unit == "book" else (1, 36_000, 1_500)
    keys = [make_key(rng, f"book_{i}", tokens, 12, mentions) for i in range(books)]
    first, second = (scored(keys, [make_system(rng, key, kind) for key in keys], mode) for _ in range(2))
    # Where counts add up, samples cost next to nothing, and percentiles need many.
    if mode != "full" or unit == "book":
        samples *= 10
    found = resample(first, second, unit=unit, samples=samples, seed=seed).metrics
    boot = [m.p_bootstrap is not None and m.p_bootstrap < LEVEL for m in found]
    return [
        [m.p_randomisation is not None and m.p_randomisation < LEVEL for m in found],
        boot if found[0].p_bootstrap is not None else [],
        [m.difference is not None and not m.difference.low <= 0 <= m.difference.high for m in found],
    ]


def cases(modes: Sequence[str], kinds: Sequence[str]) -> list[tuple[str, str, str]]:
    """(kind, mode, unit) of every line."""
    found = [(kind, mode, "window") for mode in modes for kind in kinds]
    return found + [(kind, "full", "book") for kind in kinds if "full" in modes]


def run(case: tuple[str, str, str], pairs: int, samples: int, pool: Any) -> list[dict[str, Any]]:
    """The lines of one case: shares in percent by metric."""
    jobs = [(*case, samples, 1000 * seed + 7) for seed in range(pairs)]
    results = list(pool.imap_unordered(one_pair, jobs, chunksize=4))
    lines = []
    for i, figure in enumerate(("p randomisation", "p bootstrap", "interval without 0")):
        rows = [result[i] for result in results if result[i]]
        if rows:
            share = 100 * np.mean(rows, axis=0)
            shares = {metric: round(float(value), 1) for metric, value in zip(METRICS, share, strict=True)}
            lines.append(dict(zip(("kind", "mode", "unit"), case, strict=True)) | {"figure": figure} | shares)
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=1000)
    parser.add_argument("--samples", type=int, default=100, help="in mode full; ten times as many elsewhere")
    parser.add_argument("--mode", action="append", choices=MODES)
    parser.add_argument("--kind", action="append", choices=KINDS)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    lines = []
    with Pool(arguments.jobs) as pool:
        for case in cases(arguments.mode or MODES, arguments.kind or KINDS):
            for line in run(case, arguments.pairs, arguments.samples, pool):
                lines.append(line)
                if not arguments.json:
                    show(line, header=len(lines) == 1)
    if arguments.json:
        print(json.dumps(lines, indent=2))
    # Merges on one book are shown, not promised.
    promised = [line for line in lines if line["kind"] != "merges" or line["unit"] == "book"]
    outside = [m for line in promised for m in METRICS if not 3 <= line[m] <= 7]
    print(
        f"{len(outside)} of {len(promised) * len(METRICS)} promised figures outside 3 to 7 %", file=sys.stderr
    )


def show(line: dict[str, Any], *, header: bool) -> None:
    """One line of the table; `*` marks figures outside 3 to 7 %."""
    if header:
        names = "".join(f"{metric:>10}" for metric in METRICS)
        print(f"{'kind':8}{'mode':22}{'unit':8}{'figure':20}{names}")
    cells = "".join(f"{line[m]:9.1f}{' ' if 3 <= line[m] <= 7 else '*'}" for m in METRICS)
    print(f"{line['kind']:8}{line['mode']:22}{line['unit']:8}{line['figure']:20}{cells}", flush=True)


if __name__ == "__main__":
    main()
