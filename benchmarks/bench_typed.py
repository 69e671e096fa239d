"""Typed scores on LitBank with its six entity types as labels: our embedded annotator and a perturbed key.

    python benchmarks/bench_typed.py LITBANK [--part test] [--json]

LITBANK is the corpus folder (`coref/conll`, `coref/brat`). The key is all of LitBank's coreference, people or
not; labels are the types of its entity layer. Systems, side by side:

- embedded: our annotator, which is told the names of the characters and annotates people only. Its
  classes other than PER show that it leaves them alone.
- perturbed: the key with 10 % of the mentions lost, 10 % moved to a random cluster of the document, and
  5 % one token too long (seed 0).

The models of the paper that introduced these scores (ACL 2026) are not public, so its figures cannot be
repeated here. LitBank is also what our annotator's rankers learned from, the parts "dev" and "test" apart.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bookcoref_data.annotation.backends import make_backend
from bookcoref_data.annotation.plan import default_plan
from bookcoref_data.annotation.steps import run_steps
from bookcoref_data.books import Mention, Record
from bookcoref_data.cli.common import emit_table
from bookcoref_data.formats import read_documents
from bookcoref_data.formats.typed_spans import read_typed_spans
from bookcoref_data.reports.evaluation_tables import typed_tables
from bookcoref_data.scoring import evaluate
from bookcoref_data.scoring.typed import TypedSpan, typed_scores
from training.litbank import parts, read_excerpt


def embedded(litbank: Path, keys: list[Record]) -> list[Record]:
    """The annotator's output on every document; one without a character stays empty."""
    plan = default_plan("embedded")
    backend = make_backend(plan)
    found = []
    for key in keys:
        excerpt = read_excerpt(litbank, key.doc_key)
        spans = [] if excerpt is None else run_steps(backend, excerpt.job, plan.steps).spans()
        clusters = [[Mention(*m) for m in cluster] for cluster in spans if cluster]
        found.append(Record(key.doc_key, "", key.sentences, clusters))
    return found


def perturbed(keys: list[Record]) -> list[Record]:
    """The key with random errors."""
    rng = random.Random(0)
    found = []
    for key in keys:
        clusters: list[list[Mention]] = [[] for _ in key.clusters]
        for i, cluster in enumerate(key.clusters):
            for start, end in cluster:
                chance = rng.random()
                if chance >= 0.1:
                    target = rng.randrange(len(clusters)) if chance < 0.2 else i
                    clusters[target].append(Mention(start, end + (chance > 0.95)))
        found.append(Record(key.doc_key, "", key.sentences, [c for c in clusters if c]))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("litbank", type=Path)
    parser.add_argument("--part", default="test", choices=("train", "dev", "test"))
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    coreference = arguments.litbank / "coref"
    names = parts(arguments.litbank)[arguments.part]
    keys = [read_documents(coreference / "conll" / f"{name}.conll")[0] for name in names]
    labels = {
        key: [TypedSpan(*span) for span in spans]
        for name in names
        for key, spans in read_typed_spans(coreference / "brat" / f"{name}.ann").items()
    }
    scores = [
        typed_scores(evaluate(keys, system), labels, name=name)
        for name, system in (("embedded", embedded(arguments.litbank, keys)), ("perturbed", perturbed(keys)))
    ]
    if arguments.json:
        print(json.dumps([one.to_dict() for one in scores], indent=2))
        return
    for table in typed_tables(scores, 10):
        emit_table(table.columns, table.rows, title=table.title)
        print()


if __name__ == "__main__":
    main()
