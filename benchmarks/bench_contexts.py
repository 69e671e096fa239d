"""Contexts for all characters of whole books: seconds, and what each strategy finds, in one table.

    python benchmarks/bench_contexts.py BOOK...

Each BOOK is an annotated book, e.g. annotation.jsonl as `bookcoref-data annotate` writes it, or TEXT:CAST, a
Gutenberg text and a cast file: there the characters' names are found by pattern matching alone, which times
contexts without an annotation but says nothing about coreference.
"""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from pathlib import Path

from bookcoref_data.annotation.cast import parse_cast
from bookcoref_data.books import Book, Character, Mention
from bookcoref_data.workflows import contexts as work
from bookcoref_data.workflows.annotate import pattern_matching, read_sources


def books_of(argument: str) -> list[Book]:
    text, colon, cast = argument.partition(":")
    if not colon:
        return work.read_books(Path(argument))
    names = [e.name for e in parse_cast(Path(cast).read_text(encoding="utf-8"), cast).entries]
    made = []
    for source in read_sources(Path(text)):
        found = pattern_matching(source.book, names)
        made.append(replace(source.book, characters=tuple(
            Character(name, tuple(Mention(*span) for span in spans)) for name, spans in found.items()
        )))  # fmt: skip
    return made


def main() -> None:
    for argument in sys.argv[1:]:
        for book in books_of(argument):
            print(f"{book.doc_key}: {len(book.tokens):,} tokens, {len(book.characters)} characters, "
                  f"{sum(len(c.mentions) for c in book.characters):,} mentions")  # fmt: skip
            for strategy in ("coref", "bm25", "lead", "random"):
                start, cpu = time.perf_counter(), time.process_time()
                rows = work.build([book], work.read_plan(strategies=[strategy]))
                wall, used = time.perf_counter() - start, time.process_time() - cpu
                right = all(
                    piece["text"]
                    == " ".join(t for t in book.tokens[piece["start"] : piece["end"]] if t.strip())
                    for row in rows
                    for piece in row["pieces"]
                )
                print(f"  {strategy:7} {len(rows):4} contexts  {wall:6.2f} s  {used:6.2f} CPU s  "
                      f"offsets {'all right' if right else 'WRONG'}")  # fmt: skip
            print(f"  {'budget':>6} {'strategy':8}  entities  mentions  precision  (percent)")
            for row in work.retrieval_table(book, [2000, 7600]):
                values = (100 * row[m] for m in ("entity_recall", "mention_recall", "precision"))
                print(f"  {row['budget']:6} {row['strategy']:8}  " + "  ".join(f"{v:8.1f}" for v in values))


if __name__ == "__main__":
    main()
