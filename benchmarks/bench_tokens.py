"""Our sentences and tokens against Punkt's and spaCy's own, on all texts of the mirror.

    python benchmarks/bench_tokens.py [--shared FOLDER] [--books N]

Prints for all books together how many sentences and tokens were compared, how many differ (the exit code
is 1 when one does), and CPU seconds of the packages and of ours.
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
    import punkt
    import spacy

    package = punkt.PunktSentenceTokenizer(punkt.load_model("english"))
    tokenizer = spacy.blank("en").tokenizer
    splitter = WordSplitter(spacy.blank("en").tokenizer)
    sentence_spans("Warm up.")
    paths = sorted((args.shared / "data/gutenberg/cache/epub").glob("*/pg*.txt"))[: args.books]
    spent = dict.fromkeys(("Punkt", "our sentences", "spaCy", "our tokens"), 0.0)
    sentences = tokens = moved = different = 0
    for path in paths:
        text = decode(path.read_bytes()).text
        clock = time.process_time()
        wanted = list(package.span_tokenize(text))
        clock = _add(spent, "Punkt", clock)
        spans = sentence_spans(text)
        clock = _add(spent, "our sentences", clock)
        moved += len({*wanted} ^ {*spans})
        pieces = [text[a:b] for a, b in spans]
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
    print(f"{len(paths)} books, {sentences:,} sentences: {moved} begin or end elsewhere than Punkt's")
    print(f"{tokens:,} tokens: in {different} sentences they are not spaCy's")
    for theirs_name, ours_name in (("Punkt", "our sentences"), ("spaCy", "our tokens")):
        one, other = spent[theirs_name], spent[ours_name]
        print(f"{theirs_name} {one:.1f} CPU s, {ours_name} {other:.1f} ({one / other:.1f}x)")
    return 1 if different or moved else 0


def _add(spent: dict[str, float], name: str, since: float) -> float:
    now = time.process_time()
    spent[name] += now - since
    return now


if __name__ == "__main__":
    sys.exit(main())
