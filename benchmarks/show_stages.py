"""What each step of the pipeline made of the same sentences, side by side: the paper's Table 7 for any run.

    python benchmarks/show_stages.py OUT [--gold GOLD] [--character NAME] [--examples 5] [--book DOC_KEY]

OUT is a folder written by `annotate --out` (its `states/` hold the state after each step, its
`annotation.jsonl` or --text FILE the tokens). Sentences are chosen in which the steps differ most, or which
mention --character. Mentions stand in brackets with the character's initials; `GOLD` (same tokens) adds a
last row. The steps are those of the run: link, filter, windows, groups.
"""

from __future__ import annotations

import argparse
import sys
from itertools import pairwise
from pathlib import Path

from bookcoref_data.annotation.state import State
from bookcoref_data.books import Book, Record
from bookcoref_data.errors import BookcorefError, UsageError
from bookcoref_data.formats import read_documents

Named = dict[tuple[int, int], str]


def read_states(folder: Path, doc_key: str) -> list[tuple[str, State]]:
    """The saved states of one book with the step they follow, in the order of the run."""
    states = [
        State.from_json(path.read_text(encoding="utf-8"), str(path))
        for path in folder.glob("states/*.json")
        if path.name.startswith(f"{doc_key}.")
    ]
    return [(state.done[-1], state) for state in sorted(states, key=lambda s: len(s.done)) if state.done]


def named_mentions(state: State) -> Named:
    return {(m.start, m.end): state.names[m.character] for m in state.mentions}


def gold_mentions(record: Record) -> Named:
    named = record.characters or [(f"cluster {i}", c) for i, c in enumerate(record.clusters)]
    return {(start, end): name for name, spans in named for start, end in spans}


def bracketed(book: Book, start: int, end: int, mentions: Named) -> str:
    """A sentence with its mentions in brackets."""
    inside = [(span, name) for span, name in mentions.items() if start <= span[0] and span[1] < end]
    opened: dict[int, int] = {}
    closed: dict[int, list[str]] = {}
    for span, name in sorted(inside, key=lambda item: (item[0][0], -item[0][1])):
        opened[span[0]] = opened.get(span[0], 0) + 1
        closed.setdefault(span[1], []).insert(0, initials(name))
    words = []
    for i in range(start, end):
        if book.tokens[i] == "\n":
            continue
        close = "".join(f"]{name}" for name in closed.get(i, ()))
        words.append("[" * opened.get(i, 0) + book.tokens[i] + close)
    return " ".join(words)


def initials(name: str) -> str:
    return "".join(word[0] for word in name.replace(".", " ").split()) or name


def chosen_sentences(
    book: Book, rows: list[tuple[str, Named]], character: str, examples: int
) -> list[tuple[int, int]]:
    """The sentences in which neighbouring rows differ by most mentions, in the order of the text."""
    scored = []
    for start, end in pairwise((0, *book.sentence_ends)):
        here = [{(s, n) for s, n in m.items() if start <= s[0] and s[1] < end} for _, m in rows]
        if character and not any(name == character for row in here for _, name in row):
            continue
        change = sum(len(a ^ b) for a, b in pairwise(here))
        if change:
            scored.append((change / (10 + end - start), start, end))
    best = sorted(scored, key=lambda item: (-item[0], item[1]))[:examples]
    return sorted((start, end) for _, start, end in best)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path)
    parser.add_argument("--text", type=Path, help="file with the tokens (default: OUT/annotation.jsonl)")
    parser.add_argument("--gold", type=Path)
    parser.add_argument("--book", default="")
    parser.add_argument("--character", default="")
    parser.add_argument("--examples", type=int, default=5)
    arguments = parser.parse_args()
    try:
        show(arguments)
    except BookcorefError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(error.exit_code)


def show(arguments: argparse.Namespace) -> None:
    records = read_documents(arguments.text or arguments.out / "annotation.jsonl")
    record = next((r for r in records if arguments.book in ("", r.doc_key)), None)
    if record is None:
        raise UsageError(f"there is no book {arguments.book!r}", found=", ".join(r.doc_key for r in records))
    book = record.to_book()
    rows = [(step, named_mentions(state)) for step, state in read_states(arguments.out, book.doc_key)]
    if not rows:
        raise UsageError(f"no saved states of {book.doc_key} in {arguments.out}/states")
    if arguments.gold:
        gold = read_documents(arguments.gold)
        rows.append(("gold", gold_mentions(next(r for r in gold if r.doc_key == book.doc_key))))
    width = max(len(step) for step, _ in rows)
    for start, end in chosen_sentences(book, rows, arguments.character, arguments.examples):
        print(f"tokens {start} to {end - 1}")
        for step, mentions in rows:
            print(f"  {step:{width}}  {bracketed(book, start, end, mentions)}")
        print()


if __name__ == "__main__":
    main()
