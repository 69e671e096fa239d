#!/usr/bin/env python3
"""Fifty slips of people who correct the sample story, and what becomes of each.

    python benchmarks/bench_slips.py

Ten each: a misspelt name and a part of a name as a new person with one mention, a mention given to a wrong
person, a wrong span, two people joined who are two. A slip is silent if the new annotation is written without
a word although more than 1 % of somebody's mentions or quotes changed at other places than the correction's.
"""

from __future__ import annotations

import random
import tempfile
from collections import Counter
from pathlib import Path

import bookcoref_data as bc
from bookcoref_data.books.annotation import Annotation
from bookcoref_data.edits import Edit, anchor_of, effects, format_edits
from bookcoref_data.errors import BookcorefError
from bookcoref_data.formats.annotated import read_annotations
from bookcoref_data.sample_story import gutenberg_text
from bookcoref_data.sample_story.story import sample_book

KINDS = ("misspelt", "part of a name", "wrong person", "wrong span", "wrong merge")


def slip(kind: str, old: Annotation, draw: random.Random) -> list[Edit]:
    """The edits of one slip."""
    pronouns = [m for m in old.mentions if m.kind == "pronoun" and len(old.by_character[m.character]) > 20]
    m = draw.choice(pronouns)
    was, at = old.names[m.character], anchor_of(old.book.tokens, m.start, m.end)
    other = draw.choice([name for name in old.names if name != was])
    if kind == "wrong merge":
        return [Edit("merge", character=was, into=other)]
    if kind == "wrong span":
        return [Edit("span", at=at, was=was, to=anchor_of(old.book.tokens, m.start, m.end + 1))]
    if kind == "wrong person":
        return [Edit("link", at=at, was=was, character=other)]
    name = draw.choice([n for n in old.names if len(n.split()) > 1])
    if kind == "misspelt":
        k = draw.randrange(1, len(name) - 1)
        typed = draw.choice([name[:k] + name[k + 1 :], name[:k] + name[k + 1] + name[k] + name[k + 2 :]])
    else:
        typed = name.split()[-1]
    return [Edit("new", character=typed), Edit("link", at=at, was=was, character=typed)]


def main() -> None:
    draw = random.Random(32)
    told: dict[str, Counter[str]] = {kind: Counter() for kind in KINDS}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "lamp.txt").write_text(gutenberg_text(), encoding="utf-8")
        cast = [c.name for c in sample_book().characters]
        bc.annotate(folder / "lamp.txt", cast, out=folder / "first")
        (old,) = read_annotations(folder / "first")
        for kind in KINDS:
            for number in range(10):
                out = folder / f"{kind}-{number}"
                bc.annotate(folder / "lamp.txt", cast, out=out)
                edits = slip(kind, old, draw)
                (folder / "edits.jsonl").write_text(format_edits(edits), encoding="utf-8")
                try:
                    done = bc.annotate(folder / "lamp.txt", cast, edits=folder / "edits.jsonl", out=out)
                except BookcorefError:
                    told[kind]["asked first"] += 1
                    continue
                (new,) = read_annotations(out)
                places = {(a.start, a.end) for e in edits for a in (e.at, e.to) if a}
                much = any(e.much for e in effects(old, new, edits, places))
                word = "conflict" if done.conflicts else "changes little"
                told[kind]["silent" if much and not done.conflicts else word] += 1
    for kind, counts in told.items():
        print(f"{kind:15}", ", ".join(f"{n} {word}" for word, n in counts.most_common()))
    print("silent:", sum(counts["silent"] for counts in told.values()), "of", 10 * len(KINDS))


if __name__ == "__main__":
    main()
