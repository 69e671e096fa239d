"""Which window rule fits the silver split? Number of windows by rule, beside the 7,942 that are published.

    python benchmarks/check_silver_windows.py LENGTHS.json BOOKS.tsv

LENGTHS.json: {gutenberg id: [tokens per sentence]} of the 50 silver books. The released lengths cannot be had
here; ours come from a simulated release (same editions, Punkt and spaCy). BOOKS.tsv: Table 8 of the paper
(`gutenberg_id`, `tokens`, `gold`). Each book's sentence ends are scaled so that it has the tokens of Table
8, and rounded. Another way of rounding moves the count by up to four windows.
"""

from __future__ import annotations

import argparse
import csv
import json
from itertools import accumulate
from pathlib import Path

from bookcoref_data.books.windows import RULES, cut_windows

PUBLISHED = 7_942  # data set card: train 7,544 and validation 398 windows
SIZES = (1350, 1500)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("lengths", type=Path)
    parser.add_argument("books", type=Path)
    arguments = parser.parse_args()
    lengths = json.loads(arguments.lengths.read_text(encoding="utf-8"))
    with arguments.books.open(encoding="utf-8", newline="") as stream:
        rows = [row for row in csv.DictReader(stream, delimiter="\t") if row["gold"] != "1"]
    ends = []
    for row in rows:
        sentences, tokens = lengths[row["gutenberg_id"]], int(row["tokens"].replace(",", ""))
        scale = tokens / sum(sentences)
        ends.append([round(end * scale) for end in accumulate(sentences)])
    total = sum(book[-1] for book in ends)
    mean = total / PUBLISHED
    print(f"{len(ends)} books, {total:,} tokens; published: {PUBLISHED:,} windows, mean {mean:,.0f}")
    for size in SIZES:
        for rule in RULES:
            count = sum(len(cut_windows(book, size, rule)) for book in ends)
            print(f"{size} {rule:10} {count:6,} windows ({count - PUBLISHED:+,})")


if __name__ == "__main__":
    main()
