"""Merging of parts and windows: unmerged, greedy, our linker, equal ids; links and CoNLL F1.

    python benchmarks/bench_merge.py PARTS.conll WHOLE.conll                     # stories in parts
    python benchmarks/bench_merge.py WINDOWS.jsonl GOLD [FULL.jsonl] [--cast CAST]  # windows of a system

Of windows the merged books are scored against the gold, beside the system's own run on whole books.
`--chains N` makes a book of N chains (our own words) and prints how long the linker takes.
"""

from __future__ import annotations

import argparse
import resource
import time
from pathlib import Path

import numpy as np

from bookcoref_data.books import Mention, Record
from bookcoref_data.formats import read_documents
from bookcoref_data.scoring import evaluate
from bookcoref_data.tasks.merging import (
    SplitDocument,
    decide_with_linker,
    decisions_from_whole,
    documents_of,
    merge,
    score_decisions,
    score_merged,
)
from bookcoref_data.workflows.merge import DECIDERS, read_parts, with_cast


def stories(parts: Path, gold: Path) -> None:
    documents = read_parts(parts)
    whole = {record.doc_key: record for record in read_documents(gold)}
    key = {d.doc_key: decisions_from_whole(d, whole[d.doc_key]) for d in documents}
    print(f"{len(documents)} stories, {sum(len(d.questions) for d in documents)} decisions")
    print(f"{'':8}  links  right  of     P     R     F1    accuracy  CoNLL  CPU s")
    for name in ("new", "greedy", "linker", "id"):
        start = time.process_time()
        made = [(d, key[d.doc_key], DECIDERS[name](d)) for d in documents]
        used = time.process_time() - start
        counts = [score_decisions(*item) for item in made]
        s = sum(counts[1:], start=counts[0])
        conll = 100 * score_merged(made).conll.f1
        print(f"{name:8}  {s.links:5}  {s.right_links:5}  {s.key_links:5}  {100 * s.precision:5.1f} "
              f"{100 * s.recall:5.1f} {100 * s.f1:5.1f}  {100 * s.accuracy:5.1f}     {conll:5.2f}  "
              f"{used:.2f}")  # fmt: skip


def windows(file: Path, gold: Path, full: Path | None, cast: Path | None) -> None:
    """CoNLL F1 of every book of the gold."""
    keys = list(read_documents(gold))
    tokens = {tuple(token for s in key.sentences or [] for token in s) for key in keys}
    documents = [d for d in read_parts(file) if d.tokens in tokens]
    rows = {}
    if full:
        rows["the system on whole books"] = [r for r in read_documents(full) if r.to_book().tokens in tokens]
    for name in ("new", "greedy", "linker"):
        rows[name] = [merge(d, DECIDERS[name](d)).to_record() for d in documents]
    if cast:
        named = with_cast(documents, cast)
        rows["linker, with a cast"] = [merge(d, decide_with_linker(d)).to_record() for d in named]
    print("| | MUC | B3 | CEAF-e | CoNLL |\n|---|---|---|---|---|")
    for name, records in rows.items():
        s = evaluate(keys, records).pooled
        values = (s.muc.f1, s.b_cubed.f1, s.ceaf_e.f1, s.conll.f1)
        print(f"| {name} | " + " | ".join(f"{100 * v:.2f}" for v in values) + " |")


def book_of(chains: int) -> SplitDocument:
    """A hundred windows of people and things; a chain has four mentions, two of them pronouns."""
    rng = np.random.default_rng(0)
    records = []
    for number in range(100):
        sentences: list[list[str]] = []
        clusters = []
        for _ in range(chains // 100):
            who = int(rng.integers(chains // 4))
            name = f"Name{who}" if who % 3 else f"thing{who % 97}"
            start = sum(map(len, sentences))
            sentences.append([name, "came", "and", "he", "saw", name, ",", "said", "he", "."])
            clusters.append([Mention(start + i, start + i) for i in (0, 3, 5, 8)])
        records.append(Record(f"book_window{number}", "", sentences, clusters))
    (document,) = documents_of(records)
    return document


def speed(chains: int) -> None:
    document = book_of(chains)
    start = time.process_time()
    decide_with_linker(document)
    used = time.process_time() - start
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{len(document.chains):,} chains: {used:.1f} CPU s, at most {memory:,.0f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", type=Path, nargs="?")
    parser.add_argument("gold", type=Path, nargs="?")
    parser.add_argument("full", type=Path, nargs="?")
    parser.add_argument("--cast", type=Path)
    parser.add_argument("--chains", type=int)
    a = parser.parse_args()
    if a.chains:
        speed(a.chains)
    elif a.parts.suffix == ".jsonl":
        windows(a.parts, a.gold, a.full, a.cast)
    else:
        stories(a.parts, a.gold)


if __name__ == "__main__":
    main()
