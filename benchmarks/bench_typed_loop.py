"""Typed diagnosis that acts: annotate three documents, learn again, score again, with a paired test.

    python -m benchmarks.bench_typed_loop LITBANK [--base 6] [--draws 3] [--samples 1000]

The system is our merging linker, which learns in seconds on a processor: it joins the chains of LitBank's
documents cut into parts of 300 tokens. It learns from a few documents, the part "dev" is scored by LitBank's
six entity types, and what it does badly gives each class a weight. Of the documents that nobody has annotated
(the rest of the part "train") the three of most worth are annotated: here LitBank's own annotation stands for
the person, and its entity types for the tagger. For comparison three documents are drawn at random, several
times. All are scored on the part "test" and what else of "train" is left: nothing was chosen on either. Tests
are paired, over documents; ten alone would be too few for a p.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bookcoref_data.books import Record
from bookcoref_data.cli.common import emit_table
from bookcoref_data.formats import read_documents
from bookcoref_data.formats.typed_spans import read_typed_spans
from bookcoref_data.scoring import Evaluation, evaluate
from bookcoref_data.scoring.significance import resample
from bookcoref_data.scoring.typed import (
    TypedSpan,
    assign_labels,
    best,
    class_weights,
    passages,
    propagate,
    typed_scores,
)
from bookcoref_data.tasks.merging.linker import Network, decide_with_linker, network_of
from bookcoref_data.tasks.merging.parts import SplitDocument, decide_by_id, merge
from training.litbank import parts
from training.merging import LITBANK_CUTS, SEED, Choice, choices_of, cut, together, train

CHOSEN, PART = 3, 300


@dataclass(frozen=True)
class Excerpt:
    """A document of LitBank in parts, its key, its typed spans, and what the linker learns from it."""

    document: SplitDocument
    key: Record
    spans: list[TypedSpan]
    choices: list[Choice]


def read(litbank: Path, name: str, *, learned: bool) -> Excerpt:
    """One document; without `learned` it is for scoring alone."""
    file = litbank / "coref" / "brat" / f"{name}.ann"
    (record,) = read_documents(file)
    document = cut(record, PART)
    made: list[Choice] = []
    for length, first in LITBANK_CUTS if learned else ():
        made += choices_of(cut(record, length, first=first), np.random.default_rng(SEED))
    (spans,) = read_typed_spans(file).values()
    key = merge(document, decide_by_id(document)).to_record()
    return Excerpt(document, key, [TypedSpan(*span) for span in spans], made)


def linker(excerpts: Sequence[Excerpt]) -> Network:
    """A linker that has learned from these documents."""
    return network_of(together([train([c for e in excerpts for c in e.choices], SEED)], "plain"))


def read_by(network: Network, excerpts: Sequence[Excerpt]) -> list[Record]:
    """What the linker makes of documents."""
    return [merge(e.document, decide_with_linker(e.document, network)).to_record() for e in excerpts]


def worth_of(excerpt: Excerpt, response: Record, weights: dict[str, float]) -> float:
    """What annotating a whole document is worth, by the linker's own output."""
    assigned = assign_labels([m for c in response.clusters for m in c], excerpt.spans)
    labels = propagate(response.clusters, assigned).mentions
    ends = np.cumsum([len(s) for s in response.sentences or []]).tolist()
    return sum(p.worth for p in best(passages(response.doc_key, ends, labels, weights), 99))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("litbank", type=Path)
    parser.add_argument("--base", type=int, default=6)
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--pool", type=int, default=30)
    parser.add_argument("--samples", type=int, default=1000)
    arguments = parser.parse_args()
    names = parts(arguments.litbank)
    order = random.Random(SEED).sample(names["train"], arguments.base + arguments.pool)
    learned = [read(arguments.litbank, name, learned=True) for name in order]
    base, pool = learned[: arguments.base], learned[arguments.base :]
    rest = [n for n in names["train"] if n not in order]
    dev, test = (
        [read(arguments.litbank, n, learned=False) for n in some]
        for some in (names["dev"], names["test"] + rest)
    )

    first = linker(base)
    diagnosis = typed_scores(
        evaluate([e.key for e in dev], read_by(first, dev)), {e.key.doc_key: e.spans for e in dev}
    )
    weights = class_weights(diagnosis)
    rows = [
        (s.label, s.key_mentions, 100 * s.mentions.f1, 100 * s.gold_links.f1, 1000 * weights[s.label])
        for s in diagnosis.labels
    ]
    emit_table(("class", "mentions", "mention F1", "link F1", "worth"), rows, title="diagnosis (dev)")
    made = zip(pool, read_by(first, pool), strict=True)
    worth = {e.key.doc_key: worth_of(e, response, weights) for e, response in made}
    chosen = sorted(pool, key=lambda e: -worth[e.key.doc_key])[:CHOSEN]
    print("\nannotated:", ", ".join(e.key.doc_key for e in chosen), "\n")

    spans = {e.key.doc_key: e.spans for e in test}
    keys = [e.key for e in test]
    before = evaluate(keys, read_by(first, test))
    table: list[list[Any]] = [["before", *_scores(before, spans), None, None]]
    drawn = [random.Random(f"draw {n}").sample(pool, CHOSEN) for n in range(arguments.draws)]
    for name, some in (("chosen", chosen), *((f"drawn {n + 1}", some) for n, some in enumerate(drawn))):
        after = evaluate(keys, read_by(linker([*base, *some]), test))
        tested = resample(after, before, samples=arguments.samples)
        conll = next(m for m in tested.metrics if m.metric == "conll")
        low, high = (conll.difference.low, conll.difference.high) if conll.difference else (0.0, 0.0)
        interval = f"{100 * low:+.2f} to {100 * high:+.2f}"
        table.append([name, *_scores(after, spans), interval, conll.p])
    columns = ("learned from base and", "CoNLL", "link F1 (mean of classes)", "difference, 95%", "p")
    emit_table(columns, table, title="test")
    conll_mean, link_mean = (statistics.fmean(row[i] for row in table[2:]) for i in (1, 2))
    print(f"\nmean of the draws: CoNLL {conll_mean:.2f}, link F1 {link_mean:.2f}")


def _scores(evaluation: Evaluation, spans: dict[str, list[TypedSpan]]) -> tuple[float, float]:
    typed = typed_scores(evaluation, spans)
    return 100 * evaluation.pooled.conll.f1, 100 * (typed.macro_f1("gold_links") or 0)


if __name__ == "__main__":
    main()
