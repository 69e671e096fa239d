"""How long the text formats take to write a novel, in two versions by turns: what the ledger of losses costs.

    python -m benchmarks.bench_formats OLD NEW [--tokens 100000] [--pairs 5]

OLD and NEW are commits. The novel is made up (the same in both): words, speakers, characters with many
mentions, types and parts of speech. Printed are CPU seconds of one writing with its report, the median of
the pairs, and the median ratio new / old. 010c417 is the last commit without a ledger.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.compare import install

MEASURED = """
import json, random, sys, tempfile, time
from pathlib import Path
from bookcoref_data.books import Mention, Record
from bookcoref_data.formats import ConversionReport, write_documents

tokens, draw = int(sys.argv[1]), random.Random(1)
words = "Ann she her . left the door , Bell said".split()
sentences = [[draw.choice(words) for _ in range(20)] for _ in range(tokens // 20)]
layer = lambda values: [[draw.choice(values) for _ in s] for s in sentences]
def cluster():
    places = draw.sample(range(tokens - 2), tokens // 400)
    return sorted({Mention(p, p + draw.choice((0, 0, 1))) for p in places})
clusters = [cluster() for _ in range(30)]
record = Record("novel", "1342", sentences, clusters, [(f"C{i}", c) for i, c in enumerate(clusters)], "",
                {}, layer(["", "", "Ann"]), {"xpos": layer(["NN", "VB"]), "lemma": layer(["go", "she"])})
found = {}
for name, target in (("jsonl", "x.jsonl"), ("conll", "x.conll"), ("corefud", "x.conllu"), ("brat", "brat"),
                     ("booknlp", "booknlp")):
    with tempfile.TemporaryDirectory() as folder:
        started = time.process_time()
        write_documents([record], Path(folder) / target, name, report=ConversionReport())
        found[name] = time.process_time() - started
print(json.dumps(found))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--tokens", type=int, default=100_000)
    parser.add_argument("--pairs", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        trees = [install(getattr(options, side), Path(folder) / side) for side in ("old", "new")]

        def run(tree: Path) -> dict[str, float]:
            environment = {**os.environ, "PYTHONPATH": str(tree), "OMP_NUM_THREADS": "1"}
            command = [sys.executable, "-c", MEASURED, str(options.tokens)]
            done = subprocess.run(
                command, cwd=tree, env=environment, capture_output=True, text=True, check=True
            )
            return dict(json.loads(done.stdout))

        run(trees[0]), run(trees[1])
        pairs = []
        for number in range(options.pairs):
            order = (0, 1) if number % 2 == 0 else (1, 0)
            got = {side: run(trees[side]) for side in order}
            pairs.append((got[0], got[1]))
    print(f"| {options.tokens:,} tokens written as | {options.old} | {options.new} | new / old |")
    print("|---|---|---|---|")
    for name in pairs[0][0]:
        old, new = (statistics.median(pair[side][name] for pair in pairs) for side in (0, 1))
        ratio = statistics.median(new[name] / old[name] for old, new in pairs)
        print(f"| {name} | {old:.2f} s | {new:.2f} s | {ratio:.2f} |")


if __name__ == "__main__":
    main()
