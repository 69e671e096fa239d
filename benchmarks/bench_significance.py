"""How often do the tests of `--compare` tell two equal systems apart? (It should be 5 % at the 5 % level.)

    python benchmarks/bench_significance.py [--pairs 1000] [--samples 100] [--mode full] [--kind noise]
                                            [--kept pairs.jsonl]

Every pair of systems is drawn from the same distribution, so no difference between them is real. A test
at the 5 % level is right when it still finds one in 5 % of the pairs. With 1,000 pairs the standard error
of each figure is 0.7 points. `*` marks a figure outside 3 to 7 %, `!` one that is outside beyond chance
(its 95 % interval does not reach 3 to 7 %).

`--kept FILE` keeps every pair as soon as it is done. A second run with the same file goes on where the
first stopped, and more `--pairs` add to those that are there; `--table` prints what the file holds.

The book (our own numbers, no text): 36,000 tokens in sentences of 20, 24 windows of 1,500; 12 characters
with weights 1/rank, 1,500 mentions; which characters are about changes every 600 tokens. Three kinds of
systems, each with `random` errors of its own:

- noise: each mention is lost with 10 %, put into a random cluster with 10 %, one token too long with 5 %.
- local: noise at a third of these rates, and in 30 % of all stretches of 300 tokens (placed at random,
  across window ends too) all mentions of one character are taken for another.
- merges: noise at a third of these rates, and two characters are merged from the first page to the last.

`merges` on one book is the case that no test can handle: the error is one decision, not many. The line is
there to show it (200 pairs do). With 12 small books (`unit book`) every book has merges of its own, and
the test holds.
(In the windowed modes each window is scored alone, so that a unit `book` adds nothing new: full only.)

Columns: p of approximate randomisation; p of the paired bootstrap where it applies; and how often the
interval of the difference leaves out 0 (jackknife in mode full, bootstrap elsewhere).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from multiprocessing import Pool
from pathlib import Path
from typing import Any

import numpy as np

from bookcoref_data.books import Mention, Record, split_book
from bookcoref_data.evaluate import Evaluation, evaluate
from bookcoref_data.evaluate.significance import METRICS, resample

Case = tuple[str, str, str]
"""Kind of errors, mode, unit."""
Job = tuple[str, str, str, int, int]
"""A case, samples, seed."""

KINDS = ("noise", "local", "merges")
MODES = ("full", "gold-window", "gold-window-blocks", "gold-window-released", "split")
SENTENCE, STRETCH, SCENE = 20, 300, 600
LEVEL = 0.05
ROUND, SHOWN = 100, 200
"""Pairs of a case before the next one has its turn; pairs of a case that is shown and not promised."""


def make_key(rng: np.random.Generator, name: str, tokens: int, characters: int, mentions: int) -> Record:
    """One book: characters come and go by scene, mentions start at distinct tokens."""
    starts = np.sort(rng.choice(tokens - 2, mentions, replace=False))
    weights = 1 / np.arange(1, characters + 1)
    present = rng.gamma(0.7, size=(tokens // SCENE + 1, characters)) * weights
    # The owner of each mention: where a random number falls among the characters of its scene.
    reach = np.cumsum(present / present.sum(axis=1, keepdims=True), axis=1)[starts // SCENE]
    owners = (rng.random(mentions)[:, None] > reach[:, :-1]).sum(axis=1)
    longer = rng.random(mentions) < 0.3
    clusters: list[list[Mention]] = [[] for _ in range(characters)]
    for start, owner, more in zip(starts.tolist(), owners.tolist(), longer.tolist(), strict=True):
        clusters[owner].append(Mention(start, start + int(more)))
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


def one_pair(job: Job) -> list[list[bool]]:
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


def cases(modes: Sequence[str], kinds: Sequence[str]) -> list[Case]:
    """(kind, mode, unit) of every line."""
    found = [(kind, mode, "window") for mode in modes for kind in kinds]
    return found + [(kind, "full", "book") for kind in kinds if "full" in modes]


def key_of(case: Case, samples: int, seed: int) -> str:
    """The name of one pair in the kept file: everything that its outcome depends on."""
    return " ".join((*case, str(samples), str(seed)))


def run(case: Case, pairs: int, samples: int, pool: Any, kept: Kept) -> None:
    """Draw the pairs of one case that are not kept yet."""
    jobs = [(*case, samples, seed) for seed in seeds(pairs) if key_of(case, samples, seed) not in kept.found]
    for job, found in pool.imap_unordered(one_job, jobs, chunksize=2):
        kept.add(key_of(job[:3], samples, job[4]), found)


def one_job(job: Job) -> tuple[Job, list[list[bool]]]:
    """A job with its outcome, since jobs end in any order."""
    return job, one_pair(job)


def seeds(pairs: int) -> list[int]:
    """The seed of every pair."""
    return [1000 * number + 7 for number in range(pairs)]


class Kept:
    """Outcomes of pairs, in memory and, where a file is given, on disk: one JSON line per pair."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.found: dict[str, list[list[bool]]] = {}
        if path is not None and path.exists():
            # An interrupted run may have left half a line at the end: that pair is drawn again.
            whole = path.read_text("utf-8").rpartition("\n")[0]
            for line in whole.splitlines():
                row = json.loads(line)
                self.found[row["pair"]] = row["found"]
            path.write_text("".join(map(_kept_line, self.found.items())), "utf-8")

    def add(self, name: str, found: list[list[bool]]) -> None:
        self.found[name] = found
        if self.path is not None:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(_kept_line((name, found)))

    def lines(self, case: Case, pairs: int, samples: int) -> list[dict[str, Any]]:
        """The lines of one case: shares in percent by metric, over the pairs that are done."""
        names = [key_of(case, samples, seed) for seed in seeds(pairs)]
        results = [self.found[name] for name in names if name in self.found]
        lines = []
        for i, figure in enumerate(("p randomisation", "p bootstrap", "interval without 0")):
            rows = [result[i] for result in results if result[i]]
            if rows:
                share = 100 * np.mean(rows, axis=0)
                shares = {
                    metric: round(float(value), 1) for metric, value in zip(METRICS, share, strict=True)
                }
                about = dict(zip(("kind", "mode", "unit"), case, strict=True))
                lines.append(about | {"pairs": len(rows), "figure": figure} | shares)
        return lines


def _kept_line(row: tuple[str, list[list[bool]]]) -> str:
    name, found = row
    return json.dumps({"pair": name, "found": [[int(f) for f in figure] for figure in found]}) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=1000)
    parser.add_argument("--samples", type=int, default=100, help="in mode full; ten times as many elsewhere")
    parser.add_argument("--mode", action="append", choices=MODES)
    parser.add_argument("--kind", action="append", choices=KINDS)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--kept", type=Path, help="file that keeps every pair; a second run goes on with it")
    parser.add_argument("--table", action="store_true", help="draw nothing, print what --kept holds")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    kept = Kept(arguments.kept)
    lines = []
    wanted = cases(arguments.mode or MODES, arguments.kind or KINDS)
    if not arguments.table:
        with Pool(arguments.jobs) as pool:
            # In rounds over all cases, so that a run that is stopped has about as many pairs of each.
            for done in range(ROUND, arguments.pairs + ROUND, ROUND):
                for case in wanted:
                    pairs = min(done, arguments.pairs if promised(case) else SHOWN)
                    run(case, min(pairs, arguments.pairs), arguments.samples, pool, kept)
    for case in wanted:
        for line in kept.lines(case, arguments.pairs, arguments.samples):
            lines.append(line)
            if not arguments.json:
                show(line, header=len(lines) == 1)
    if arguments.json:
        print(json.dumps(lines, indent=2))
    held = [line for line in lines if promised((line["kind"], line["mode"], line["unit"]))]
    marks = [mark(line[m], line["pairs"]) for line in held for m in METRICS]
    print(
        f"of {len(marks)} promised figures {len(marks) - marks.count(' ')} are outside 3 to 7 %, "
        f"{marks.count('!')} beyond chance",
        file=sys.stderr,
    )


def promised(case: Case) -> bool:
    """Whether the test should hold: merges all through one book are drawn to show that it cannot."""
    kind, _, unit = case
    return kind != "merges" or unit == "book"


def mark(share: float, pairs: int) -> str:
    """`*` for a share outside 3 to 7 %, `!` where 1.96 standard errors do not bring it back inside."""
    if 3 <= share <= 7:
        return " "
    border = 3 if share < 3 else 7
    reach = 1.96 * (border * (100 - border) / pairs) ** 0.5
    return "!" if abs(share - border) > reach else "*"


def show(line: dict[str, Any], *, header: bool) -> None:
    """One line of the table."""
    if header:
        names = "".join(f"{metric:>10}" for metric in METRICS)
        print(f"{'kind':8}{'mode':22}{'unit':8}{'pairs':7}{'figure':20}{names}")
    cells = "".join(f"{line[m]:9.1f}{mark(line[m], line['pairs'])}" for m in METRICS)
    about = f"{line['kind']:8}{line['mode']:22}{line['unit']:8}{line['pairs']:<7}{line['figure']:20}"
    print(about + cells, flush=True)


if __name__ == "__main__":
    main()
