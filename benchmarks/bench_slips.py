#!/usr/bin/env python3
"""Fifty slips of people who correct the sample story, and what becomes of each.

    python -m benchmarks.bench_slips [--each 5] [--seed 32]

Five each of ten kinds: a misspelt name and a part of a name as a new person with one mention, the same said
to be meant, a name in other case, a mention given to a wrong person or to nobody, a quote given to a wrong
speaker, a wrong span, two people joined who are two, somebody renamed to a part of another's name. A slip is
silent if the new annotation is written without a word although more than 1 % of somebody's mentions or quotes
are others than before, at other places than the correction's and beside the people whom it renames or joins.
"""

from __future__ import annotations

import argparse
import random
import shutil
import tempfile
from collections import Counter
from pathlib import Path

import bookcoref_data as bc
from bookcoref_data.books.annotation import Annotation
from bookcoref_data.edits import Edit, anchor_of, format_edits
from bookcoref_data.errors import BookcorefError
from bookcoref_data.formats.annotated import read_annotations
from bookcoref_data.sample_story.story import gutenberg_text
from tests.sample_story.making import sample_book

KINDS = (
    "misspelt", "part of a name", "meant as new", "other case", "wrong person", "nobody", "wrong speaker",
    "wrong span", "wrong merge", "renamed",
)  # fmt: skip
ASKED, TOLD, LITTLE, SILENT = "asked first", "conflict", "changes little", "silent"


def slip(kind: str, old: Annotation, draw: random.Random) -> list[Edit]:
    """The edits of one slip."""
    pronouns = [m for m in old.mentions if m.kind == "pronoun" and len(old.by_character[m.character]) > 20]
    m = draw.choice(pronouns)
    was, at = old.names[m.character], anchor_of(old.book.tokens, m.start, m.end)
    other = draw.choice([name for name in old.names if name != was])
    name = draw.choice([n for n in old.names if len(n.split()) > 1])
    if kind == "wrong merge":
        return [Edit("merge", character=was, into=other)]
    if kind == "renamed":
        return [
            Edit("rename", character=draw.choice([n for n in old.names if n != name]), name=name.split()[-1])
        ]
    if kind == "nobody":
        return [Edit("unlink", at=at, was=was)]
    if kind == "wrong speaker":
        quote = draw.choice([q for q in old.quotes if q.speaker >= 0])
        said = draw.choice([name for c, name in enumerate(old.names) if c != quote.speaker])
        return [Edit("speaker", at=anchor_of(old.book.tokens, quote.start, quote.end), speaker=said)]
    if kind == "wrong span":
        return [Edit("span", at=at, was=was, to=anchor_of(old.book.tokens, m.start, m.end + 1))]
    if kind in ("wrong person", "other case"):
        typed = draw.choice([other.upper(), other.lower()]) if kind == "other case" else other
        return [Edit("link", at=at, was=was, character=typed)]
    if kind == "misspelt":
        k = draw.randrange(1, len(name) - 1)
        typed = draw.choice([name[:k] + name[k + 1 :], name[:k] + name[k + 1] + name[k] + name[k + 2 :]])
    else:
        typed = name.split()[-1]
    new = Edit("new", character=typed, confirmed=kind == "meant as new")
    return [new, Edit("link", at=at, was=was, character=typed)]


def harmed(old: Annotation, new: Annotation, edits: list[Edit]) -> list[str]:
    """Who has more than 1 % other mentions or quotes than before, beside what the edits speak of."""
    said = {(a.start, a.end) for e in edits for a in (e.at, e.to) if a}
    named = {name for e in edits if e.op in ("merge", "rename") for name in (e.character, e.into, e.name)}
    found = []
    for who, name in enumerate(old.names):
        if name in named:
            continue
        now = new.index.get(name, -1)
        places = [
            ({(m.start, m.end) for m in a.mentions if m.character == c},
             {(q.start, q.end) for q in a.quotes if q.speaker == c})
            for a, c in ((old, who), (new, now))
        ]  # fmt: skip
        for before, after in zip(*places, strict=True):
            if before and len((before ^ after) - said) > 0.01 * len(before):
                found.append(name)
    return found


def outcomes(folder: Path, each: int, seed: int = 32) -> dict[str, Counter[str]]:
    """What became of the slips, by kind; files are written into the folder."""
    draw = random.Random(seed)
    (folder / "lamp.txt").write_text(gutenberg_text(), encoding="utf-8")
    cast = [c.name for c in sample_book().characters]
    bc.annotate(folder / "lamp.txt", cast, out=folder / "first")
    (old,) = read_annotations(folder / "first")
    told: dict[str, Counter[str]] = {kind: Counter() for kind in KINDS}
    for kind in KINDS:
        for _ in range(each):
            shutil.rmtree(folder / "again", ignore_errors=True)
            shutil.copytree(folder / "first", folder / "again")
            edits = slip(kind, old, draw)
            (folder / "edits.jsonl").write_text(format_edits(edits), encoding="utf-8")
            try:
                done = bc.annotate(
                    folder / "lamp.txt", cast, edits=folder / "edits.jsonl", out=folder / "again"
                )
            except BookcorefError:
                told[kind][ASKED] += 1
                continue
            (new,) = read_annotations(folder / "again")
            word = TOLD if done.conflicts else SILENT if harmed(old, new, edits) else LITTLE
            told[kind][word] += 1
    return told


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--each", type=int, default=5)
    parser.add_argument("--seed", type=int, default=32)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        told = outcomes(Path(name), given.each, given.seed)
    for kind, counts in told.items():
        print(f"{kind:15}", ", ".join(f"{n} {word}" for word, n in counts.most_common()))
    print("silent:", sum(counts[SILENT] for counts in told.values()), "of", given.each * len(KINDS))


if __name__ == "__main__":
    main()
