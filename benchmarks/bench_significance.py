"""How often do the tests of `--compare` tell two equal systems apart? (It should be 5 % at the 5 % level.)

    python benchmarks/bench_significance.py [--pairs 1000] [--mode full] [--kind noise] [--kept FILE]
    python benchmarks/bench_significance.py --gold gold.conll        # a real key in place of the drawn one
    python benchmarks/bench_significance.py --gold litbank --join 18 # documents joined into one book
    python benchmarks/bench_significance.py --gold pdnc/HowardsEnd   # a novel of PDNC: its quotations
    python benchmarks/bench_significance.py --gold A --gold B        # several books, scored together
    python benchmarks/bench_significance.py --power                  # 5 points apart, three books
    python benchmarks/bench_significance.py --family                 # ten equal systems, Holm

Every pair of systems is drawn from the same distribution, so no difference between them is real. Printed by
kind of errors and mode, the lowest and the highest of the metrics in percent: pairs with p < 0.05 (right: 5),
pairs for which no p-value is given, and pairs whose interval of the difference holds 0 (right: 95). With
1,000 pairs the standard error of a 5 is 0.7. `--metrics` prints every metric.

The drawn book (our own numbers, no text): 36,000 tokens in sentences of 20; 12 characters with weights
1/rank, 1,500 mentions; which characters are about changes every 600 tokens. Errors, beside noise at a third
of the rate of the kind "noise":

- noise: each mention is lost with 10 %, put into a random cluster with 10 %, one token too long with 5 %.
- skewed: noise on a book whose characters have weights 1/rank^2; not with `--gold`.
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
from collections.abc import Iterable
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np

from bookcoref_data.books import Mention, Record, split_book
from bookcoref_data.formats import read_documents
from bookcoref_data.scoring import Evaluation
from bookcoref_data.scoring.clustering import Members
from bookcoref_data.scoring.evaluation import Rules, score_prepared
from bookcoref_data.scoring.modes import BookPair, ReadyToScore, prepare
from bookcoref_data.scoring.significance import METRICS, Resampling, adjusted, resample

KINDS = ("noise", "skewed", "local", "runs", "pronouns", "episodes", "cuts", "merges", "drift", "missed")
MODES = ("full", "gold-window", "gold-window-blocks", "gold-window-released", "split")
TOKENS, SENTENCE, SCENE, LEVEL = 36_000, 20, 600, 0.05
WORSE = {"noise": 1.25, "skewed": 1.25, "cuts": 1.85, "pronouns": 1.8}
"""Times the noise of a system that is about 5 points worse; 1.7 for other kinds."""


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

    def __init__(self, rng: np.random.Generator, key: Members) -> None:
        order = np.lexsort((key.end, key.start))
        self.rng, self.count = rng, key.cluster_unit.size
        self.starts, self.ends, self.owner = key.start[order], key.end[order], key.owner[order]
        self.label = self.owner.copy()
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


def make_system(rng: np.random.Generator, key: Members, kind: str, worse: float = 1.0) -> Members:
    """One system of a kind on one book. `worse` multiplies the rate of the noise."""
    errors = Errors(rng, key)
    errors.make(kind)
    rate = worse * (1.0 if kind in ("noise", "skewed") else 1 / 3)
    size = errors.owner.size
    chance = rng.random(size)
    target = np.where(chance < 0.20 * rate, rng.integers(errors.count, size=size), errors.label)
    kept = np.flatnonzero(~errors.lost & (chance >= 0.10 * rate))
    ends = errors.ends + (rng.random(size) < 0.05 * rate)
    spans = np.unique(np.stack([target, errors.starts, ends])[:, kept], axis=1)
    clusters, owner = np.unique(spans[0], return_inverse=True)
    return Members(spans[1], spans[2], owner, np.zeros_like(clusters), clusters)


class Books:
    """Keys of whole books, and the same in the windows of each mode, ready for systems drawn on them."""

    def __init__(self, keys: list[Record]) -> None:
        self._keys, self._cut = keys, dict[str, ReadyToScore]()
        self.whole = [book.key for book in self.of("full").books]

    def of(self, mode: str) -> ReadyToScore:
        if mode not in self._cut:
            keys = self._keys
            if mode == "split":
                keys = [w.to_record() for key in keys for w in split_book(key.to_book()).books]
            ready = prepare(keys, keys, mode)
            # The characters of a release have names, by which the windows of a character belong together.
            books = tuple(self._named(book, mode) for book in ready.books)
            self._cut[mode] = replace(ready, books=books)
        return self._cut[mode]

    def _named(self, book: BookPair, mode: str) -> BookPair:
        if mode != "split":
            return book
        whole = next(b.key for b in self.of("full").books if b.doc_key == book.doc_key)
        of_span = dict(zip(zip(whole.start, whole.end, strict=True), whole.owner, strict=True))
        names: list[dict[int, str]] = [{} for _ in book.bounds]
        key = book.key
        for start, end, cluster in zip(key.start, key.end, key.owner, strict=True):
            names[key.cluster_unit[cluster]][int(key.source_cluster[cluster])] = str(of_span[start, end])
        return replace(book, key_names=tuple(tuple(n.get(i) for i in range(len(n))) for n in names))

    def scored(self, systems: list[Members], mode: str) -> Evaluation:
        """In mode split the windows are predicted alone: here, the windows of the system's whole books."""
        ready = self.of(mode)
        books = tuple(replace(book, response=_windowed(system, book, mode))
                      for book, system in zip(ready.books, systems, strict=True))  # fmt: skip
        return score_prepared(replace(ready, books=books), Rules(mode))


def _windowed(system: Members, book: BookPair, mode: str) -> Members:
    """A system's whole book, cut into the windows of a key."""
    if mode == "full":
        return system
    first, end = np.array(book.bounds).T[:, :, None]
    there = (system.start >= first + (mode == "gold-window-released")) & (system.start < end)
    if mode == "split":
        there &= system.end < end
    unit, index = np.nonzero(there)
    return system.take(index, unit)


def read_gold(path: Path, join: int) -> list[Record]:
    """The books of a file or folder, the chains of `join` documents as one book; or one novel of PDNC."""
    if (path / "quotation_info.csv.gz").exists():
        return [read_novel(path)]
    records = list(read_documents(path))
    if join < 2:
        return records
    sentences, clusters = [], []
    for record in records[:join]:
        shift = sum(map(len, sentences))
        sentences += record.sentences
        chains = [c for c in record.clusters if len(c) > 1]
        clusters += [[Mention(m[0] + shift, m[1] + shift) for m in c] for c in chains]
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


def draw(
    books: Books | None, kind: str, seed: int, count: int = 1, worse: Iterable[float] = (1, 1)
) -> tuple[Books, list[list[Members]]]:
    """The books, drawn where none are given, and systems on them: one for each number of `worse`."""
    rng = np.random.default_rng(seed)
    books = books or Books(
        [make_key(rng, f"book_{i}", 2.0 if kind == "skewed" else 1.0) for i in range(count)]
    )
    return books, [[make_system(rng, key, kind, rate) for key in books.whole] for rate in worse]


class Kept:
    """Results by name, each written to a file as soon as it is there."""

    def __init__(self, path: Path | None) -> None:
        self._path, self.found = path, dict[str, Any]()
        if path and path.exists():
            self.found = dict(map(json.loads, path.read_text(encoding="utf-8").splitlines()))

    def add(self, name: str, value: Any) -> None:
        self.found[name] = value
        if self._path:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps([name, value]) + "\n")


def one_pair(found: Resampling) -> list[list[int]]:
    """By metric: p below the level, no p, 0 in the interval."""
    return [[int(m.p is not None and m.p < LEVEL), int(m.p is None),
             int(m.difference.low <= 0 <= m.difference.high)] for m in found.metrics]  # fmt: skip


def pairs(arguments: argparse.Namespace, books: Books | None, kept: Kept) -> None:
    """False positives and coverage, by kind of errors and mode."""
    modes, kinds = arguments.mode or MODES, arguments.kind
    name = "+".join(gold.name for gold in arguments.gold) if arguments.gold else "drawn"
    results: dict[tuple[str, str], list[list[list[int]]]] = {(k, m): [] for k in kinds for m in modes}
    for seed in range(arguments.pairs):
        for kind in kinds:
            keys = {mode: f"{name} {kind} {mode} {seed}" for mode in modes}
            if missing := [mode for mode in modes if keys[mode] not in kept.found]:
                there, systems = draw(books, kind, seed)
                for mode in missing:
                    both = [there.scored(system, mode) for system in systems]
                    found = resample(*both, samples=1_000, seed=seed, few_units=True)
                    kept.add(keys[mode], one_pair(found))
            for mode in modes:
                results[kind, mode].append(kept.found[keys[mode]])
    print(f"{name}, {arguments.pairs} pairs: p < {LEVEL} / interval holds 0 / no p, in percent\n")
    if arguments.metrics:
        modes = [f"{mode}: {metric}" for mode in modes for metric in METRICS]
    print("| | " + " | ".join(modes) + " |\n|" + "---|" * (len(modes) + 1))
    for kind in kinds:
        cells = []
        for mode in arguments.mode or MODES:
            shares = 100 * np.mean(results[kind, mode], axis=0)
            if arguments.metrics:
                cells += [f"{p:.1f} / {held:.1f} / {none:.0f}" for p, none, held in shares]
            else:
                low, high = shares.min(axis=0), shares.max(axis=0)
                cells.append(
                    " / ".join(f"{low[i]:.{d}f} to {high[i]:.{d}f}" for i, d in ((0, 1), (2, 1), (1, 0)))
                )
        print(f"| {kind} | " + " | ".join(cells) + " |", flush=True)


def power(number: int, books: Books | None, kinds: Iterable[str], kept: Kept) -> None:
    """How often a difference of about 5 points CoNLL on three books is seen.

    "Could be seen": by a test that knew how far equal systems lie apart, which no test does.
    """
    at = METRICS.index("conll")
    print("| | points apart | seen, % | could be seen, % | no p-value, % |\n|---|---|---|---|---|")
    for kind in kinds:
        for seed in range(number):
            if (name := f"power {kind} {seed}") in kept.found:
                continue
            there, systems = draw(books, kind, seed, 3, (1, WORSE.get(kind, 1.7), 1))
            better, worse, equal = (there.scored(system, "full") for system in systems)
            conll = resample(better, worse, samples=1_000, seed=seed).metrics[at]
            apart = better.pooled.conll.f1 - equal.pooled.conll.f1
            kept.add(name, [conll.difference.value, apart, conll.p])
        values, null, p_values = zip(
            *(kept.found[f"power {kind} {seed}"] for seed in range(number)), strict=True
        )
        error = float(np.sqrt(np.mean(np.square(null))))
        could = NormalDist().cdf(np.mean(values) / error - NormalDist().inv_cdf(1 - LEVEL / 2))
        seen = np.mean([p is not None and p < LEVEL for p in p_values])
        shares = np.mean(values), seen, could, np.mean([p is None for p in p_values])
        print(f"| {kind} | " + " | ".join(f"{100 * share:.1f}" for share in shares) + " |", flush=True)


def family(number: int, books: Books | None, kinds: tuple[str, ...], kept: Kept) -> None:
    """How often ten equal systems on three books give any adjusted p below the level, by metric."""
    for seed in range(number):
        if (name := f"family {seed}") in kept.found:
            continue
        there, drawn = draw(books, kinds[seed % len(kinds)], seed, 3, [1.0] * 10)
        systems = [there.scored(system, "full") for system in drawn]
        pairs = list(combinations(systems, 2))
        tests = [resample(a, b, samples=5_000, seed=seed) for a, b in pairs]
        found = adjusted(tests, [("one", "other")] * len(tests))
        small = [[m.p_adjusted is not None and m.p_adjusted < LEVEL for m in one.metrics] for one in found]
        kept.add(name, np.any(small, axis=0).tolist())
    shares = 100 * np.mean([kept.found[f"family {seed}"] for seed in range(number)], axis=0)
    print(f"families of ten equal systems: {number}, with a difference found in %\n")
    print("| " + " | ".join(METRICS) + " |\n|" + "---|" * len(METRICS))
    print("| " + " | ".join(f"{share:.1f}" for share in shares) + " |")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=1000)
    parser.add_argument("--mode", action="append", choices=MODES)
    parser.add_argument("--kind", action="append", choices=KINDS)
    parser.add_argument("--gold", type=Path, action="append")
    parser.add_argument("--join", type=int, default=1)
    parser.add_argument(
        "--kept", type=Path, help="file that keeps every result; a second run goes on with it"
    )
    parser.add_argument("--metrics", action="store_true", help="every metric, not the lowest and highest")
    parser.add_argument("--power", action="store_true")
    parser.add_argument("--family", action="store_true")
    arguments = parser.parse_args()
    keys = [key for path in arguments.gold or () for key in read_gold(path, arguments.join)]
    books = Books(keys) if keys else None
    if books and "skewed" in (arguments.kind or ()):
        parser.error("--gold has its own sizes of chains: the kind skewed is for drawn books alone")
    arguments.kind = arguments.kind or [kind for kind in KINDS if not books or kind != "skewed"]
    kinds = tuple(arguments.kind)
    kept = Kept(arguments.kept)
    if arguments.power:
        power(arguments.pairs, books, kinds, kept)
    elif arguments.family:
        family(arguments.pairs, books, kinds, kept)
    else:
        pairs(arguments, books, kept)


if __name__ == "__main__":
    main()
