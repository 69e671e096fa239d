"""What a long cast costs: the same tokens annotated with casts of 50 to 5,000 names.

    python -m benchmarks.bench_names BOOK [--tokens 12000] [--names 50 500 2000 5000] [--rounds 3]

The first tokens of a Gutenberg file are annotated with the cast that is proposed from them, to which made-up
people are added. Sizes take turns; the least CPU seconds of each count. The parse is made before.
"""

from __future__ import annotations

import argparse
import random
import time
from pathlib import Path

from bookcoref_data.annotation.cast import Cast, Entry, make_cast
from bookcoref_data.annotation.embedded import lexicon
from bookcoref_data.annotation.embedded.backend import EmbeddedBackend
from bookcoref_data.annotation.embedded.parsing import kernel, parse_book
from bookcoref_data.annotation.plan import default_plan
from bookcoref_data.annotation.propose import propose_cast
from bookcoref_data.books import Book
from bookcoref_data.workflows.annotate import Source, annotate_book, read_sources

SYLLABLES = ("ba", "ke", "lo", "mi", "ru", "sta", "ven", "dor", "wick", "ham", "ley", "ford", "ton", "gar")


def long_cast(known: Cast, names: int) -> Cast:
    """A cast of so many names: those that are known, and made-up ones."""
    rng, first_names = random.Random(0), sorted(lexicon.FIRST_NAMES)
    entries: dict[str, Entry] = {entry.name: entry for entry in known.entries[:names]}
    while len(entries) < names:
        surname = "".join(rng.choices(SYLLABLES, k=3)).title()
        name = f"{rng.choice(first_names).title()} {surname}"
        entries.setdefault(name, Entry(name))
    return make_cast(entries.values())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("book", type=Path)
    parser.add_argument("--tokens", type=int, default=12_000)
    parser.add_argument("--names", type=int, nargs="+", default=[50, 500, 2000, 5000])
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    whole = read_sources(options.book)[0].book
    ends = tuple(end for end in whole.sentence_ends if end <= options.tokens)
    book = Book("start", whole.gutenberg_key, whole.tokens[: ends[-1]], ends)
    plan, parse = default_plan("embedded"), parse_book(book)
    proposed = propose_cast(book, parse=parse).cast
    seconds: dict[int, list[float]] = {names: [] for names in options.names}
    mentions: dict[int, int] = {}
    for _ in range(options.rounds):
        for names, taken in seconds.items():
            cast, backend = long_cast(proposed, names), EmbeddedBackend(plan)
            backend.hold(book, parse)
            start = time.process_time()
            done = annotate_book(Source(book), cast, plan, backend=backend)
            taken.append(time.process_time() - start)
            mentions[names] = len(done.state.mentions)
    least = {names: min(taken) for names, taken in seconds.items()}
    print(f"{len(book.tokens):,} tokens; parsed before, with {kernel()}\n")
    print("| names | mentions | CPU s | ratio |\n|---|---|---|---|")
    for names, taken in least.items():
        print(f"| {names:,} | {mentions[names]:,} | {taken:.2f} | {taken / least[options.names[0]]:.2f} |")


if __name__ == "__main__":
    main()
