"""Our tokens against spaCy's own, on all texts of the mirror.

    python benchmarks/bench_tokens.py [--shared FOLDER] [--books N]

Prints for all books together how many tokens were compared, in how many sentences they differ (the exit code
is 1 when one does), and CPU seconds of spaCy and of ours.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

from bookcoref_data.text.decode import decode
from bookcoref_data.text.tokens import WordSplitter, sentence_spans

SHARED = Path(os.environ.get("BOOKCOREF_SHARED", Path(__file__).resolve().parent.parent.parent / "shared"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shared", type=Path, default=SHARED, help="folder that holds data/")
    parser.add_argument("--books", type=int, help="only the first N books")
    args = parser.parse_args()
    import spacy

    tokenizer = spacy.blank("en").tokenizer
    splitter = WordSplitter(spacy.blank("en").tokenizer)
    sentence_spans("Warm up.")
    paths = sorted((args.shared / "data/gutenberg/cache/epub").glob("*/pg*.txt"))[: args.books]
    spent = dict.fromkeys(("spaCy", "our tokens"), 0.0)
    sentences = tokens = different = 0
    for path in paths:
        text = decode(path.read_bytes()).text
        pieces = [text[a:b] for a, b in sentence_spans(text)]
        clock = time.process_time()
        theirs = [[token.text for token in tokenizer(piece)] for piece in pieces]
        clock = _add(spent, "spaCy", clock)
        ours = [splitter.split(piece) for piece in pieces]
        _add(spent, "our tokens", clock)
        sentences, tokens = sentences + len(pieces), tokens + sum(map(len, ours))
        for one, other in zip(theirs, ours, strict=True):
            if one != other:
                different += 1
                print(f"{path.name}: spaCy {one}, ours {other}")
    print(f"{len(paths)} books, {sentences:,} sentences, {tokens:,} tokens: {different} sentences differ")
    one, other = spent.values()
    print(f"spaCy {one:.1f} CPU s, ours {other:.1f} ({one / other:.1f}x)")
    return 1 if different else 0


def _add(spent: dict[str, float], name: str, since: float) -> float:
    now = time.process_time()
    spent[name] += now - since
    return now


if __name__ == "__main__":
    sys.exit(main())
