"""Short stories whose every decision is written down: who each mention is, by which rule and how surely.

`stories/NAME.txt` has the cast (or "*": proposed), a line of dashes, and the text;
`stories/NAME.decisions.txt` what the annotator says of it, sentence by sentence. It is not right everywhere:
where a reader would say something else, the line ends in "# wrong" and what he would say. `as_written`
(tests/conftest.py) tells how to write the files anew.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from bookcoref_data.annotation.cast import parse_cast
from bookcoref_data.annotation.embedded.backend import EmbeddedBackend
from bookcoref_data.annotation.embedded.parsing import parse_book
from bookcoref_data.annotation.plan import default_plan
from bookcoref_data.annotation.propose import propose_cast
from bookcoref_data.workflows.annotate import Source, annotate_book

STORIES = Path(__file__).parent / "stories"
NAMES = sorted(p.name.removesuffix(".txt") for p in STORIES.glob("*.txt") if ".decisions" not in p.name)


@pytest.fixture(scope="module")
def read(book_of):
    """Name of a story -> (its cast file, its book, its parse)."""
    known = {}

    def story(name):
        if name not in known:
            cast, _, text = (STORIES / f"{name}.txt").read_text(encoding="utf-8").partition("----\n")
            book = book_of(text)
            known[name] = cast, book, parse_book(book)
        return known[name]

    return story


def shown(book, first, last):
    return " ".join(t for t in book.tokens[first : last + 1] if t.strip())


def decisions(done):
    """Every sentence with the decisions that begin in it, then what is known of the whole text."""
    book, state = done.book, done.state
    names = (*state.names, "nobody")
    lines = []
    for first, end in pairwise([0, *book.sentence_ends]):
        last = end - 1
        lines.append(f"# {shown(book, first, last)}")
        for q in state.quotes:
            if first <= q.start <= last:
                whom = " and ".join(names[e] for e in q.addressees) or "?"
                words = shown(book, q.start, min(q.end, q.start + 4))
                lines.append(f"  {words} ...: {names[q.speaker]} to {whom} | {q.rule} {q.score:.2f}")
        for m in state.mentions:
            if first <= m.start <= last:
                others = "".join(f", {names[c]} {p:.2f}" for c, p in m.others)
                what = f"{m.kind} | {m.step}: {m.rule} {m.score:.2f}{others}"
                lines.append(f"  {shown(book, m.start, m.end)} = {names[m.character]} | {what}")
        for d in state.dropped:
            if first <= d.start <= last:
                what = f"{names[d.character]} | {d.step}: {d.reason} {d.score:.2f}"
                lines.append(f"  dropped {shown(book, d.start, d.end)} = {what}")
    lines += ["", *(f"note: {note}" for note in state.notes)]
    counts = Counter(m.character for m in state.mentions)
    lines += [f"{name}: {counts[i]} mentions" for i, name in enumerate(state.names)]
    lines += [f"{key}: {state.memory[key]}" for key in ("narrator", "quote_style")]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("name", NAMES)
def test_every_decision_of_a_story(read, as_written, name):
    cast, book, parse = read(name)
    people = propose_cast(book, parse=parse).cast if cast == "*\n" else parse_cast(cast)
    plan = default_plan("embedded")
    backend = EmbeddedBackend(plan)
    backend.hold(book, parse)
    done = annotate_book(Source(book), people, plan, backend=backend)
    as_written(STORIES / f"{name}.decisions.txt", decisions(done))
