#!/usr/bin/env python3
"""Plant errors in gold, and count how many of the flags of `audit` are planted ones.

    python -m benchmarks.bench_audit SHARED [--part dev] [--farm] [--seed 32] [--errors 200] [--no-reading]

SHARED/litbank/coref/conll has the documents of LitBank, SHARED/gold/animal_farm.conll the gold of *Animal
Farm*. Eight kinds of errors are planted by a seed, as annotators and models make them: a pronoun given to
somebody near of the same gender, or of the other, a name given to somebody else, a mention with a word more
or less, a name that is not marked, a chain in two, two chains in one, a word marked that is no mention.
Printed are precision at 50, 100, 200, and recall by kind; with --list the first flags of the untouched
documents.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

from bookcoref_data.books.annotation import Annotation, Marked
from bookcoref_data.formats.annotated import read_annotations
from bookcoref_data.words import pronouns
from bookcoref_data.workflows.review import flags_of
from training.litbank import parts

KINDS = (
    "near person",
    "other gender",
    "name elsewhere",
    "boundary",
    "not marked",
    "split",
    "merged",
    "no mention",
)
Span = tuple[int, int]


@dataclass(frozen=True)
class Planted:
    """A planted error: flags that begin in `places` find it."""

    kind: str
    places: frozenset[Span]


def plant(a: Annotation, kind: str, draw: random.Random) -> tuple[Annotation, Planted] | None:
    """The annotation with one error of this kind; None where there is no place for it."""
    tokens = a.book.tokens
    mentions = list(a.mentions)
    single = [m for m in mentions if m.start == m.end]
    if kind in ("near person", "other gender"):
        wanted = pronouns.MALE | pronouns.FEMALE
        found = [
            m for m in single if tokens[m.start].lower() in wanted and len(a.by_character[m.character]) > 3
        ]
        draw.shuffle(found)
        for m in found:
            female = tokens[m.start].lower() in pronouns.FEMALE
            near = {o.character for o in mentions if 0 < abs(o.start - m.start) < 80} - {m.character}
            fits = [c for c in near if _female(a, c) is (female if kind == "near person" else not female)]
            if fits:
                new = m._replace(character=draw.choice(sorted(fits)))
                return _changed(a, [m], [new]), Planted(kind, frozenset([(m.start, m.end)]))
        return None
    if kind in ("name elsewhere", "not marked"):
        names = [m for m in mentions if m.end - m.start < 3 and tokens[m.start][:1].isupper()
                 and tokens[m.end][:1].isupper() and tokens[m.end].lower() not in pronouns.ALL_PRONOUNS
                 and len(a.by_character[m.character]) > 3]  # fmt: skip
        if not names:
            return None
        m = draw.choice(names)
        if kind == "not marked":
            return _changed(a, [m], []), Planted(kind, frozenset([(m.start, m.end)]))
        others = sorted({o.character for o in mentions if 0 < abs(o.start - m.start) < 200} - {m.character})
        if not others:
            return None
        new = m._replace(character=draw.choice(others))
        return _changed(a, [m], [new]), Planted(kind, frozenset([(m.start, m.end)]))
    if kind == "boundary":
        long = [m for m in mentions if 0 < m.end - m.start < 6]
        m = draw.choice(long or mentions)
        new = draw.choice(
            [m._replace(start=m.start + 1), m._replace(end=m.end - 1), m._replace(end=m.end + 1)]
        )
        if (
            new.start > new.end
            or new.end >= len(tokens)
            or any((o.start, o.end) == (new.start, new.end) for o in mentions)
        ):
            return None
        return _changed(a, [m], [new]), Planted(kind, frozenset([(new.start, new.end)]))
    if kind == "no mention":
        inside = {i for m in mentions for i in range(m.start, m.end + 1)}
        free = [i for i, t in enumerate(tokens) if i not in inside and t.isalpha()]
        i = draw.choice(free)
        new = Marked(i, i, draw.choice(mentions).character)
        return _changed(a, [], [new]), Planted(kind, frozenset([(i, i)]))
    large = [c for c, group in enumerate(a.by_character) if len(group) >= 6]
    if kind == "split" and large:
        group = a.by_character[draw.choice(large)]
        half = group[len(group) // 2 :]
        made = replace(a, names=(*a.names, f"{a.names[group[0].character]} (part)"))
        new = [m._replace(character=len(a.names)) for m in half]
        return _changed(made, half, new), Planted(kind, frozenset((m.start, m.end) for m in group))
    if kind == "merged" and len(large) > 1:
        one, other = draw.sample(large, 2)
        new = [m._replace(character=one) for m in a.by_character[other]]
        places = frozenset((m.start, m.end) for c in (one, other) for m in a.by_character[c])
        return _changed(a, a.by_character[other], new), Planted(kind, places)
    return None


def _female(a: Annotation, who: int) -> bool | None:
    """Whether a chain is a woman's by its pronouns; None where they do not say."""
    words = Counter(a.book.tokens[m.start].lower() for m in a.by_character[who] if m.start == m.end)
    she, he = sum(words[w] for w in pronouns.FEMALE), sum(words[w] for w in pronouns.MALE)
    return None if she + he < 2 else she > he


def _changed(a: Annotation, gone: list[Marked], new: list[Marked]) -> Annotation:
    left = [m for m in a.mentions if m not in set(gone)]
    return replace(a, mentions=tuple(sorted([*left, *new])))


def planted(
    documents: list[Annotation], errors: int, draw: random.Random
) -> tuple[list[Annotation], list[list[Planted]]]:
    """The documents with errors, and what was planted in each; long documents get more."""
    made, truth = list(documents), [[] for _ in documents]
    weights = [len(a.mentions) for a in documents]
    touched: list[set[Span]] = [set() for _ in documents]
    count = tries = 0
    while count < errors and tries < 50 * errors:
        tries += 1
        k = draw.choices(range(len(documents)), weights)[0]
        kind = KINDS[tries % len(KINDS)]
        one = plant(made[k], kind, draw)
        if one is None or (
            any(p.kind in ("split", "merged") for p in truth[k]) and kind in ("split", "merged")
        ):
            continue
        if touched[k] & one[1].places and kind not in ("split", "merged"):
            continue
        made[k] = one[0]
        truth[k].append(one[1])
        touched[k] |= one[1].places if kind not in ("split", "merged") else set()
        count += 1
    return made, truth


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("shared", type=Path)
    parser.add_argument("--part", default="dev", help="parts of LitBank, by commas")
    parser.add_argument("--documents", type=int, default=20)
    parser.add_argument("--farm", action="store_true")
    parser.add_argument("--errors", type=int, default=200)
    parser.add_argument("--seed", type=int, default=32)
    parser.add_argument("--no-reading", action="store_true")
    parser.add_argument("--list", type=int, default=0)
    given = parser.parse_args()
    draw = random.Random(given.seed)
    documents = []
    if given.documents:
        listed = parts(given.shared / "litbank")
        names = [name for part in given.part.split(",") for name in listed[part]]
        names = draw.sample(names, min(given.documents, len(names)))
        files = [given.shared / "litbank" / "coref" / "conll" / f"{n}.conll" for n in sorted(names)]
        documents = [a for file in files for a in read_annotations(file)]
    if given.farm:
        documents += read_annotations(given.shared / "gold" / "animal_farm.conll")

    read = not given.no_reading
    if given.list:
        ranked = sorted(
            ((f, a) for a in documents for f in flags_of(a, read=read)), key=lambda pair: -pair[0].chance
        )
        for f, a in ranked[: given.list]:
            words = a.book.tokens
            told = " ".join(
                [
                    *words[max(0, f.start - 12) : f.start],
                    ">>",
                    *words[f.start : f.end + 1],
                    "<<",
                    *words[f.end + 1 : f.end + 8],
                ]
            )
            print(f"{a.doc_key} {f.start} {f.kind} {f.chance:.2f}: {f.reason}\n    {told}")
        return
    clean = {(k, f.start, f.end, f.kind) for k, a in enumerate(documents) for f in flags_of(a, read=read)}
    made, truth = planted(documents, given.errors, draw)
    ranked = sorted(
        ((f, k) for k, a in enumerate(made) for f in flags_of(a, read=read)), key=lambda pair: -pair[0].chance
    )
    hits = [(f, k, next((p for p in truth[k] if (f.start, f.end) in p.places), None)) for f, k in ranked]
    # A flag that the untouched gold has as well may be an error of the gold: it counts as a miss here.
    total = sum(map(len, truth))
    print(
        f"{len(documents)} documents, {total} planted, {len(ranked)} flags, "
        f"{len(clean)} on the untouched gold\n"
    )
    print("| | 50 | 100 | 200 | all |\n|---|---|---|---|---|")
    points = (50, 100, 200, len(hits))
    told = [100 * sum(h[2] is not None for h in hits[:n]) / max(1, min(n, len(hits))) for n in points]
    fresh = [h for h in hits if h[2] is not None or (h[1], h[0].start, h[0].end, h[0].kind) not in clean]
    new = [100 * sum(h[2] is not None for h in fresh[:n]) / max(1, min(n, len(fresh))) for n in points]
    found = [len({id(h[2]) for h in hits[:n] if h[2] is not None}) for n in points]
    print(f"| precision | {' | '.join(f'{v:.0f} %' for v in told)} |")
    print(f"| the same without flags of the untouched gold | {' | '.join(f'{v:.0f} %' for v in new)} |")
    print(f"| recall | {' | '.join(f'{100 * v / total:.0f} %' for v in found)} |\n")
    seen = {id(h[2]) for h in hits if h[2] is not None}
    every, caught = (
        Counter(p.kind for t in truth for p in t),
        Counter(p.kind for t in truth for p in t if id(p) in seen),
    )
    print("planted and found:", ", ".join(f"{kind} {caught[kind]} of {every[kind]}" for kind in KINDS))
    by_rule = Counter((h[0].kind, h[2] is not None) for h in hits)
    rules = sorted({kind for kind, _ in by_rule})
    print(
        "flags by rule:",
        ", ".join(f"{r} {by_rule[r, True]} of {by_rule[r, True] + by_rule[r, False]}" for r in rules),
    )


if __name__ == "__main__":
    main()
