"""What a whole book costs against its windows: the length penalty, and what the step `groups` adds.

    python -m benchmarks.bench_length GOLD.jsonl [--words 1500]

For every book of the gold that has text, three ways to read it with the same cast and weights:

    windows alone   each window of at most --words words is a book of its own; a character's mentions in all
                    windows are joined by name afterwards
    windows         one reading of the whole book; a character grows in windows where it is named
    groups          one reading of the whole book; a character grows in groups of ten windows

The length penalty is the score of the whole book minus the score of the windows alone. The windows know no
more than their own words, but they are joined by the right names: what is lost is what other windows tell.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from pathlib import Path

from bookcoref_data.annotation.backends import make_backend
from bookcoref_data.annotation.cast import Cast, make_cast
from bookcoref_data.annotation.plan import default_plan
from bookcoref_data.annotation.windowing import annotation_windows
from bookcoref_data.books import Book
from bookcoref_data.formats.jsonl import read
from bookcoref_data.scoring import score_clusters
from bookcoref_data.scoring.evaluation import score_linking
from bookcoref_data.workflows.annotate import Source, annotate_book

Named = dict[str, list[tuple[int, int]]]


def windows_alone(book: Book, cast: Cast, words: int) -> Named:
    """The mentions of all windows, each read as a book of its own, joined by name."""
    plan = default_plan("embedded")
    backend = make_backend(plan)
    found: Named = defaultdict(list)
    ends = [0, *book.sentence_ends]
    for number, window in enumerate(annotation_windows(book.sentence_ends, words)):
        low, high = window.first_sentence, window.end_sentence
        sentences = [list(book.tokens[ends[k] : ends[k + 1]]) for k in range(low, high)]
        part = Book.make(f"{book.doc_key}.{number}", sentences, gutenberg_key=book.gutenberg_key)
        state = annotate_book(Source(part), cast, plan, backend=backend).state
        for name, spans in zip(state.names, state.spans(), strict=True):
            found[name] += [(m.start + window.start, m.end + window.start) for m in spans]
    return found


def main() -> None:
    """Read, score, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("gold", type=Path)
    parser.add_argument("--words", type=int, default=1500)
    options = parser.parse_args()
    for record in read(options.gold):
        if record.sentences is None:
            continue
        key = record.to_book()
        cast = make_cast(c.name for c in key.characters)
        book = Book(key.doc_key, key.gutenberg_key, key.tokens, key.sentence_ends)
        done = annotate_book(Source(book), cast, default_plan("embedded"))
        readings: dict[str, Named] = {"windows alone": windows_alone(book, cast, options.words)}
        for state in done.states[-2:]:
            readings[state.done[-1]] = {
                name: [(m.start, m.end) for m in spans]
                for name, spans in zip(state.names, state.spans(), strict=True)
            }
        right = {c.name: list(c.mentions) for c in key.characters}
        print(f"{key.doc_key:20} {'link P':>7} {'R':>6} {'F1':>6} {'CoNLL':>7}")
        conll: dict[str, float] = {}
        for label, named in readings.items():
            spans = {name: sorted(set(found)) for name, found in named.items() if found}
            link = score_linking(right.items(), spans.items()).linked
            conll[label] = 100 * score_clusters(list(key.clusters), list(spans.values())).conll.f1
            shares = " ".join(f"{100 * v:6.1f}" for v in (link.precision, link.recall, link.f1))
            print(f"  {label:18} {shares} {conll[label]:7.1f}")
        print(f"  length penalty: {conll['groups'] - conll['windows alone']:+.1f} CoNLL F1")


if __name__ == "__main__":
    main()
