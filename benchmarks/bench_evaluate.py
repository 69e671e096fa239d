"""Score the same clusterings with this package, with the official code and with scorch, side by side.

    python benchmarks/bench_evaluate.py --predictions maverick_xl.jsonl [--gold animal_farm.conll] [--slow]

`--predictions`: the released predictions of a system on the test books (JSONL). The official metrics are
taken from the PyPI package maverick-coref 1.0.7 (module maverick/common/metrics.py), which is downloaded
without its dependencies into a temporary folder; scorch comes from PyPI (extra `bench`).

All times are CPU times of one process (all three are single-threaded, and other work on the machine does
not count), from Python lists of spans to the scores: what each side needs first (arrays here, tuples and
dictionaries there, sets for scorch) is counted. Ours is the best of 7 runs, scorch the
best of 3, the official code one run. "ours, 3" computes MUC, B3 and CEAF-e as the others do; "ours, all"
adds CEAF-m, BLANC, LEA and mention detection. "difference" is the largest between ours and the official
P, R, F1 of MUC, B3, CEAF-e and CoNLL (or scorch's, where the official code was not run).

Synthetic cases (seed 0 of `random.Random`; real mentions would be copyrighted or too few):
- perturbed P&P: of the real clusters, each mention is dropped with 10%, moved to a random cluster with
  10%, shifted by one token with 10%; a span that lands on another is kept once.
- P&P against many: the real clusters, each mention moved to one of 2,300 small clusters with 20%.
- War and Peace size: 60,000 mentions at random places of 675,000 tokens; a key of 32 characters drawn
  with Zipf weights 1/rank; the response drops 10%, puts 20% in 5,000 small clusters, confuses 5%.
- thousands: the War and Peace mentions; 3,000 key clusters with weights 1/rank, a response that moves
  30% of the mentions to a random cluster.
- giant component: 3,000 clusters on both sides, 45,000 mentions, every assignment random: the worst case
  of the alignment, which no system produces.
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import json
import os
import random
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

from bookcoref_data.formats import read_documents
from bookcoref_data.scoring import score_clusters
from bookcoref_data.scoring.clustering import members
from bookcoref_data.scoring.metrics import RELEASED_METRICS, overlaps

PEER = "maverick-coref==1.0.7"
NAMES = {"muc": "muc", "b_cubed": "b_cubed", "ceafe": "ceaf_e", "conll2012": "conll"}


def load_official(folder: Path):
    """The official metrics module out of the source distribution, alone."""
    pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(folder), PEER]
    subprocess.run(pip, check=True, stderr=subprocess.DEVNULL)
    archive = next(folder.glob("maverick*.tar.gz"))
    with tarfile.open(archive) as tar:
        member = next(m for m in tar.getmembers() if m.name.endswith("maverick/common/metrics.py"))
        source = folder / "official_metrics.py"
        source.write_bytes(tar.extractfile(member).read())
    spec = importlib.util.spec_from_file_location("official_metrics", source)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def official_scores(module, key, response):
    """{metric: (P, R, F1)} the way the released evaluation calls the module."""
    gold, system = ([tuple(map(tuple, cluster)) for cluster in side] for side in (key, response))
    evaluator = module.OfficialCoNLL2012CorefEvaluator()
    to_system, to_gold = ({m: c for c in side for m in c} for side in (system, gold))
    evaluator.update(system, gold, to_system, to_gold)
    return {name: evaluator.get_prf(name) for name in NAMES}


def scorch_scores(scores, key, response):
    """{metric: (P, R, F1)} of scorch, which returns R, P, F."""
    gold, system = ([set(map(tuple, cluster)) for cluster in side] for side in (key, response))
    found = {}
    for name, function in (("muc", scores.muc), ("b_cubed", scores.b_cubed), ("ceafe", scores.ceaf_e)):
        r, p, f = function(gold, system)
        found[name] = p, r, f
    return found


def three_metrics(key, response):
    both = overlaps(members([key]), members([response]))
    return [both.parts(name).total() for name in RELEASED_METRICS]


def timed(runs: int, function, *arguments):
    """(best CPU seconds, result)."""
    best, result = float("inf"), None
    for _ in range(runs):
        start = time.process_time()
        result = function(*arguments)
        best = min(best, time.process_time() - start)
    return best, result


def difference(ours, theirs) -> float:
    pairs = ((getattr(ours, NAMES[name]), values) for name, values in theirs.items())
    return max(abs(a - b) for s, v in pairs for a, b in zip((s.precision, s.recall, s.f1), v, strict=True))


def grouped(pairs) -> list[list[tuple[int, int]]]:
    clusters: dict = {}
    for cluster, mention in pairs:
        clusters.setdefault(cluster, []).append(mention)
    return list(clusters.values())


def perturbed(clusters, rng) -> list:
    moved = []
    for i, cluster in enumerate(clusters):
        for start, end in cluster:
            chance = rng.random()
            if chance < 0.1:
                continue
            target = rng.randrange(len(clusters)) if chance < 0.2 else i
            shift = 1 if chance > 0.9 else 0
            moved.append((target, (start + shift, end + shift)))
    once = {mention: target for target, mention in moved}
    return grouped((target, mention) for mention, target in once.items())


def scattered(clusters, rng, small: int = 2300) -> list:
    return grouped(
        (("small", rng.randrange(small)) if rng.random() < 0.2 else i, tuple(mention))
        for i, cluster in enumerate(clusters)
        for mention in cluster
    )


def zipf_owners(rng, mentions: int, clusters: int) -> list[int]:
    weights = [1 / rank for rank in range(1, clusters + 1)]
    return rng.choices(range(clusters), weights, k=mentions)


def synthetic_mentions(rng, count: int, tokens: int) -> list[tuple[int, int]]:
    starts = sorted(rng.sample(range(tokens), count))
    return [(start, start + rng.choice((0, 0, 0, 1, 2))) for start in starts]


def war_and_peace(rng):
    mentions = synthetic_mentions(rng, 60_000, 675_000)
    owners = zipf_owners(rng, len(mentions), 32)
    response = []
    for owner, mention in zip(owners, mentions, strict=True):
        chance = rng.random()
        if chance < 0.1:
            continue
        if chance < 0.3:
            owner = ("small", rng.randrange(5000))
        elif chance < 0.35:
            owner = rng.randrange(32)
        response.append((owner, mention))
    return grouped(zip(owners, mentions, strict=True)), grouped(response)


def thousands(rng):
    mentions = synthetic_mentions(rng, 60_000, 675_000)
    owners = zipf_owners(rng, len(mentions), 3000)
    moved = [rng.randrange(3000) if rng.random() < 0.3 else owner for owner in owners]
    return grouped(zip(owners, mentions, strict=True)), grouped(zip(moved, mentions, strict=True))


def giant(rng):
    mentions = synthetic_mentions(rng, 45_000, 675_000)
    sides = [[(rng.randrange(3000), mention) for mention in mentions] for _ in range(2)]
    return tuple(grouped(side) for side in sides)


def cases(predictions: Path, gold: Path | None):
    """(name, key, response, whether the official code takes minutes)."""
    systems = {record.doc_key: record.clusters for record in read_documents(predictions)}
    novel = next(clusters for key, clusters in systems.items() if key.startswith("pride"))
    if gold is not None:
        farm = next(clusters for key, clusters in systems.items() if key.startswith("animal"))
        yield "Animal Farm, gold", read_documents(gold)[0].clusters, farm, False
    yield "P&P, perturbed copy", novel, perturbed(novel, random.Random(0)), False
    yield "P&P, many clusters", novel, scattered(novel, random.Random(0)), False
    yield "War and Peace size", *war_and_peace(random.Random(0)), True
    yield "thousands, both sides", *thousands(random.Random(0)), True
    yield "giant component", *giant(random.Random(0)), True


def measure(official, scorch, name, key, response, slow: bool) -> dict:
    key, response = ([list(map(list, cluster)) for cluster in side] for side in (key, response))
    ours3, _ = timed(7, three_metrics, key, response)
    ours, scores = timed(7, score_clusters, key, response)
    row = {
        "case": name,
        "clusters": f"{len(key):,}/{len(response):,}",
        "mentions": f"{sum(map(len, key)):,}/{sum(map(len, response)):,}",
        "ours, 3 ms": 1e3 * ours3,
        "ours, all ms": 1e3 * ours,
    }
    theirs, result = timed(3 if not slow else 1, scorch_scores, scorch, key, response)
    row |= {"scorch ms": 1e3 * theirs, "scorch/ours, 3": theirs / ours3}
    if not slow:
        seconds, result = timed(1, official_scores, official, key, response)
        row |= {"official ms": 1e3 * seconds, "official/ours, 3": seconds / ours3}
        row |= {"official/ours, all": seconds / ours}
    return row | {"difference": difference(scores, result)}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    shared = Path(os.environ.get("BOOKCOREF_SHARED", "shared")) / "data"
    parser.add_argument("--predictions", type=Path, default=shared / "systems/finetuned/maverick_xl.jsonl")
    parser.add_argument("--gold", type=Path, default=shared / "gold/animal_farm.conll")
    parser.add_argument("--slow", action="store_true", help="run the official code on every case (minutes)")
    parser.add_argument("--case", default="", help="only cases whose name contains this")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    from scorch import scores as scorch

    with tempfile.TemporaryDirectory() as folder:
        official = load_official(Path(folder))
    gold = arguments.gold if arguments.gold.exists() else None
    rows = []
    for name, key, response, slow in cases(arguments.predictions, gold):
        if arguments.case.lower() not in name.lower():
            continue
        rows.append(measure(official, scorch, name, key, response, slow and not arguments.slow))
    if arguments.json:
        print(json.dumps(rows, indent=2))
        return
    columns = list(dict.fromkeys(itertools.chain.from_iterable(rows)))
    cells = [columns, *([_cell(row.get(c)) for c in columns] for row in rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(columns))]
    for row in cells:
        print("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)))


def _cell(value) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.1e}" if value < 1e-6 else f"{value:,.1f}"
    return str(value)


if __name__ == "__main__":
    main()
