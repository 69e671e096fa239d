"""Merging of FantasyCoref's parts: unmerged, greedy, our linker, equal ids; links and CoNLL F1.

python benchmarks/bench_merge.py PARTS.conll WHOLE.conll
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from bookcoref_data.formats import read_documents
from bookcoref_data.tasks.merging import decisions_from_whole, score_decisions, score_merged
from bookcoref_data.workflows.merge import DECIDERS, read_parts


def main() -> None:
    documents = read_parts(Path(sys.argv[1]))
    whole = {record.doc_key: record for record in read_documents(sys.argv[2])}
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


if __name__ == "__main__":
    main()
