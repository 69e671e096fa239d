"""How often do the tests of `--compare` tell two equal systems apart? (It should be 5 % at the 5 % level.)

    python benchmarks/bench_significance.py [--pairs 1000] [--mode full] [--kind noise] [--kept FILE]
    python benchmarks/bench_significance.py --gold gold.conll        # a real key in place of the drawn one
    python benchmarks/bench_significance.py --gold litbank --join 18 # documents joined into one book
    python benchmarks/bench_significance.py --gold pdnc/HowardsEnd   # a novel of PDNC: its quotations
    python benchmarks/bench_significance.py --power                  # 5 points apart, three books
    python benchmarks/bench_significance.py --family                 # ten equal systems, Holm

Every pair of systems is drawn from the same distribution, so no difference between them is real. Printed by
kind of errors, mode and metric, in percent: pairs with p < 0.05 (right: 5), pairs for which no p-value is
given, and pairs whose interval of the difference holds 0 (right: 95). With 1,000 pairs the standard error of
a 5 is 0.7.

The drawn book (our own numbers, no text): 36,000 tokens in sentences of 20; 12 characters with weights
1/rank, 1,500 mentions; which characters are about changes every 600 tokens. Errors, beside noise at a third
of the rate of the kind "noise":

- noise: each mention is lost with 10 %, put into a random cluster with 10 %, one token too long with 5 %.
- skewed: noise on a book whose characters have weights 1/rank^2.
- local: in 30 % of all stretches of 300 tokens one character is taken for another.
- runs, pronouns: runs of 3 to 14 mentions (of mentions that play the pronouns) go to one wrong character.
- episodes: in 30 % of episodes of 400 to 2,500 tokens one character is taken for another, 15 % more are lost.
- cuts: each chain goes on under a new name once per 60 mentions, at random places.
- merges: two characters are merged from the first page to the last.
- drift (ours): one character is taken for another from a random page on.
- missed (ours): how often a system misses a character is its own for every character.

`--kept FILE` keeps every pair as soon as it is done, and a second run with the same file goes on.
"""

from __future__ import annotations

import argparse
import ast
import csv
import gzip
import json
import re
from bisect import bisect_right
from itertools import combinations
from pathlib import Path

import numpy as np

from bookcoref_data.books import Mention, Record, split_book
from bookcoref_data.formats import read_documents
from bookcoref_data.scoring import Evaluation, evaluate
from bookcoref_data.scoring.significance import METRICS, adjusted, resample

KINDS = ("noise", "skewed", "local", "runs", "pronouns", "episodes", "cuts", "merges", "drift", "missed")
MODES = ("full", "gold-window", "gold-window-blocks", "gold-window-released", "split")
TOKENS, SENTENCE, SCENE, LEVEL = 36_000, 20, 600, 0.05


def make_key(rng: np.random.Generator, name: str, skew: float = 1.0) -> Record:
    """One book: characters come and go by scene, mentions start at distinct tokens."""
    starts = np.sort(rng.choice(TOKENS - 2, 1_500, replace=False))
    present = rng.gamma(0.7, size=(TOKENS // SCENE + 1, 12)) / np.arange(1, 13) ** skew
    reach = np.cumsum(present / present.sum(axis=1, keepdims=True), axis=1)[starts // SCENE]
    owners = (rng.random(starts.size)[:, None] > reach[:, :-1]).sum(axis=1)
    clusters: list[list[Mention]] = [[] for _ in range(12)]
    for start, owner in zip(starts.tolist(), owners.tolist(), strict=True):
        clusters[owner].append(Mention(start, start + int(rng.random() < 0.3)))
    return Record(name, "", [["x"] * SENTENCE] * (TOKENS // SENTENCE), [c for c in clusters if c])


class Errors:
    """The mentions of a key in order, with the cluster that a system puts each into (`label`)."""

    def __init__(self, rng: np.random.Generator, key: Record) -> None:
        self.rng, self.count = rng, len(key.clusters)
        self.mentions, owner = zip(
            *sorted((m, o) for o, c in enumerate(key.clusters) for m in c), strict=True
        )
        self.owner = np.array(owner)
        self.label = self.owner.copy()
        self.starts = np.array([m[0] for m in self.mentions])
        self.lost = np.zeros(self.owner.size, bool)

    def confuse(self, where: np.ndarray) -> None:
        """Take one character for another."""
        who, whom = self.rng.choice(self.count, 2, replace=False)
        self.label[where & (self.owner == who)] = whom

    def run_on(self, among: np.ndarray, every: int) -> None:
        """Runs of mentions go to one character."""
        for _ in range(self.rng.poisson(among.size / every)):
            at = int(self.rng.integers(among.size))
            self.label[among[at : at + int(self.rng.integers(3, 15))]] = self.rng.integers(self.count)

    def make(self, kind: str) -> None:
        rng, end = self.rng, int(self.starts[-1]) + 1
        everywhere = np.ones(self.owner.size, bool)
        if kind == "local":
            stretches = (self.starts + int(rng.integers(300))) // 300
            for stretch in np.flatnonzero(rng.random(stretches.max() + 1) < 0.3):
                self.confuse(stretches == stretch)
        elif kind == "runs":
            self.run_on(np.arange(self.owner.size), 60)
        elif kind == "pronouns":
            self.run_on(np.flatnonzero(self.starts * 7919 % 10 < 6), 40)
        elif kind == "episodes":
            at = -int(rng.integers(2_500))
            while at < end:
                size = int(rng.integers(400, 2_500))
                if rng.random() < 0.3:
                    inside = (self.starts >= at) & (self.starts < at + size)
                    self.confuse(inside)
                    self.lost |= inside & (rng.random(inside.size) < 0.15)
                at += size
        elif kind == "cuts":
            for owner in range(self.count):
                own = np.flatnonzero(self.owner == owner)
                for place in np.sort(rng.integers(1, max(own.size, 2), rng.binomial(own.size, 1 / 60))):
                    self.label[own[place:]] = self.label.max() + 1
        elif kind == "merges":
            self.confuse(everywhere)
        elif kind == "drift":
            self.confuse(self.starts >= rng.integers(end))
        elif kind == "missed":
            self.lost |= rng.random(self.owner.size) < rng.beta(1, 9, self.count)[self.owner]


def make_system(rng: np.random.Generator, key: Record, kind: str, worse: float = 1.0) -> Record:
    """One system of a kind on one book. `worse` multiplies the rate of the noise."""
    errors = Errors(rng, key)
    errors.make(kind)
    rate = worse * (1.0 if kind in ("noise", "skewed") else 1 / 3)
    clusters: dict[int, list[Mention]] = {}
    for (start, end), label, lost in zip(
        errors.mentions, errors.label.tolist(), errors.lost.tolist(), strict=True
    ):
        chance = rng.random()
        if lost or chance < 0.10 * rate:
            continue
        target = int(rng.integers(errors.count)) if chance < 0.20 * rate else label
        clusters.setdefault(target, []).append(Mention(start, end + int(rng.random() < 0.05 * rate)))
    return Record(key.doc_key, "", key.sentences, [sorted(set(c)) for c in clusters.values()])


def read_gold(path: Path, join: int) -> list[Record]:
    """The books of a file or folder, `join` documents as one book; or one novel of PDNC."""
    if (path / "quotation_info.csv.gz").exists():
        return [read_novel(path)]
    records = list(read_documents(path))
    if join < 2:
        return records
    sentences, clusters = [], []
    for record in records[:join]:
        shift = sum(map(len, sentences))
        sentences += record.sentences
        clusters += [[Mention(m[0] + shift, m[1] + shift) for m in c] for c in record.clusters]
    return [Record(f"{join} documents", "", sentences, clusters)]


def read_novel(path: Path) -> Record:
    """The mentions in quotations and the "I" of speakers, over words between blanks."""
    with gzip.open(path / "novel_text.txt.gz", "rt", encoding="utf-8", newline="") as file:
        words = [(m.start(), m.end()) for m in re.finditer(r"\S+", file.read())]
    starts = [a for a, _ in words]
    clusters: dict[str, set[Mention]] = {}
    with gzip.open(path / "quotation_info.csv.gz", "rt", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            spans, names = (ast.literal_eval(row[f"mention{x}List"]) for x in ("Spans", "Entities"))
            pairs = ((s, n) for ss, ns in zip(spans, names, strict=True) for s, n in zip(ss, ns, strict=True))
            for (start, end), who in pairs:
                if len(who) == 1:
                    at = [bisect_right(starts, place) - 1 for place in (start, end - 1)]
                    clusters.setdefault(who[0], set()).add(Mention(*at))
    tokens = ["x"] * len(words)
    sentences = [tokens[i : i + SENTENCE] for i in range(0, len(tokens), SENTENCE)]
    taken: set[Mention] = set()
    apart = []
    for found in clusters.values():
        apart.append(sorted(found - taken))
        taken |= found
    return Record(path.name, "", sentences, [c for c in apart if c])


def scored(keys: list[Record], systems: list[Record], mode: str) -> Evaluation:
    """In mode split the windows are predicted alone: here, the windows of the system's whole books."""
    if mode != "split":
        return evaluate(keys, systems, mode)
    cut = ([w.to_record() for book in side for w in split_book(book.to_book()).books]
           for side in (keys, systems))  # fmt: skip
    return evaluate(*cut, mode)


def one_pair(gold: list[Record], kind: str, mode: str, seed: int) -> list[list[int]]:
    """By metric: p below the level, no p, 0 in the interval."""
    rng = np.random.default_rng(seed)
    keys = gold or [make_key(rng, "book", 2.0 if kind == "skewed" else 1.0)]
    first, second = (scored(keys, [make_system(rng, k, kind) for k in keys], mode) for _ in range(2))
    found = resample(first, second, samples=1_000, seed=seed, few_units=True).metrics
    return [[int(m.p is not None and m.p < LEVEL), int(m.p is None),
             int(m.difference.low <= 0 <= m.difference.high)] for m in found]  # fmt: skip


def power(pairs: int) -> None:
    """How often a difference of about 5 points CoNLL on three books is seen."""
    seen, differences = 0, []
    for seed in range(pairs):
        rng = np.random.default_rng(seed)
        keys = [make_key(rng, f"book_{i}") for i in range(3)]
        better, worse = (
            scored(keys, [make_system(rng, k, "local", w) for k in keys], "full") for w in (1, 1.6)
        )
        conll = resample(better, worse, samples=1_000, seed=seed).metrics[METRICS.index("conll")]
        differences.append(conll.difference.value)
        seen += conll.p is not None and conll.p < LEVEL
    print(
        f"power: {100 * seen / pairs:.1f} % of {pairs} pairs, {100 * np.mean(differences):.1f} points apart"
    )


def family(families: int) -> None:
    """How often ten equal systems on three books give any adjusted p below the level, by metric."""
    wrong = np.zeros(len(METRICS))
    for seed in range(families):
        rng = np.random.default_rng(seed)
        keys = [make_key(rng, f"book_{i}") for i in range(3)]
        systems = [scored(keys, [make_system(rng, k, "local") for k in keys], "full") for _ in range(10)]
        found = adjusted([resample(a, b, samples=2_000, seed=seed) for a, b in combinations(systems, 2)])
        small = [[m.p_adjusted is not None and m.p_adjusted < LEVEL for m in one.metrics] for one in found]
        wrong += np.any(small, axis=0)
    print(f"families of ten equal systems: {families}, with a difference found in %")
    print("  ".join(f"{m} {100 * w / families:.1f}" for m, w in zip(METRICS, wrong, strict=True)))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=1000)
    parser.add_argument("--mode", action="append", choices=MODES)
    parser.add_argument("--kind", action="append", choices=KINDS)
    parser.add_argument("--gold", type=Path)
    parser.add_argument("--join", type=int, default=1)
    parser.add_argument("--kept", type=Path, help="file that keeps every pair; a second run goes on with it")
    parser.add_argument("--power", action="store_true")
    parser.add_argument("--family", action="store_true")
    arguments = parser.parse_args()
    if arguments.power or arguments.family:
        (power if arguments.power else family)(arguments.pairs)
        return
    gold = read_gold(arguments.gold, arguments.join) if arguments.gold else []
    rows = map(json.loads, arguments.kept.open()) if arguments.kept and arguments.kept.exists() else ()
    kept = {row["pair"]: row["found"] for row in rows}
    print(f"{'kind':9} {'mode':21} pairs  figure   " + " ".join(f"{m:>8}" for m in METRICS))
    for mode in arguments.mode or MODES:
        for kind in arguments.kind or KINDS:
            results = []
            for seed in range(arguments.pairs):
                name = f"{arguments.gold or 'drawn'} {kind} {mode} {seed}"
                if name not in kept:
                    kept[name] = one_pair(gold, kind, mode, seed)
                    if arguments.kept:
                        with arguments.kept.open("a", encoding="utf-8") as file:
                            file.write(json.dumps({"pair": name, "found": kept[name]}) + "\n")
                results.append(kept[name])
            for figure, row in zip(("p < 0.05", "no p", "holds 0"), np.mean(results, axis=0).T, strict=True):
                cells = " ".join(f"{100 * share:8.1f}" for share in row)
                print(f"{kind:9} {mode:21} {len(results):5}  {figure:8} {cells}", flush=True)


if __name__ == "__main__":
    main()
