"""Casts proposed from the book alone, against the character lists of whole novels.

    python benchmarks/bench_cast.py --scorer pdnc_score.py --data PDNC [NOVEL ...] [--booknlp FOLDER]
        [--cache FOLDER] [--show]

The lists are those of the Project Dialogism Novel Corpus, which is not part of this project: give your own
copy. They have everybody who speaks or is spoken of in quotes, with all names, and say who is a main
character ("major"). Printed by novel and pooled:

    found       main characters that an entry of the cast names, by any name of the list
    twice       entries for a character whom an earlier entry names, of all entries that are matched
    merged      entries that name two or more characters of the list by names that only these have
    no person   entries that no character of the list matches and that BookNLP's output (`--booknlp`, 12 of
                the novels) never takes for a person, of all entries of these novels

`--show` lists every entry of the last three kinds, and all that are on no list.
"""

from __future__ import annotations

import csv
import gzip
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.bench_dialogue import load_scorer, novel_options, source_of
from bookcoref_data.annotation.cast import Entry
from bookcoref_data.annotation.propose import propose_cast
from training.parses import parse_with_cache

NOT_A_PART = {"mr", "mrs", "miss", "dr", "sir", "lady", "the", "de", "von"}


@dataclass
class Judged:
    """What the cast of one novel came to."""

    entries: int = 0
    main: int = 0
    found: int = 0
    matched: int = 0
    twice: list[str] = field(default_factory=list)
    merged: list[str] = field(default_factory=list)
    unlisted: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    judged: int = 0
    no_person: list[str] = field(default_factory=list)


def plain(name: str) -> str:
    """A name as names are compared: lower case, no points, straight apostrophes."""
    return " ".join(name.replace(".", " ").replace("’", "'").replace("_", " ").lower().split())


def owners_of(gold: Any) -> dict[str, set[str]]:
    """Name in the list -> the characters who have it."""
    owners: dict[str, set[str]] = defaultdict(set)
    for name in gold.names:
        for alias in {name, *gold.aliases[name]}:
            owners[plain(alias)].add(name)
    return owners


def who_is(entry: Entry, owners: dict[str, set[str]]) -> list[str]:
    """The characters of the list that an entry names, surest first: those who alone have one of its names,
    and each further one only by a name that is his alone; else whoever shares most words with it."""
    names = [plain(n) for n in (entry.name, *entry.aliases)]
    sure = [next(iter(owners[n])) for n in names if len(owners.get(n, ())) == 1]
    if sure:
        return [name for name, _ in Counter(sure).most_common()]
    shared = [who for n in names for who in owners.get(n, ())]
    if shared:
        return [Counter(shared).most_common(1)[0][0]]
    words = set(names[0].split()) - NOT_A_PART
    near = {who for alias, whose in owners.items() for who in whose if words and words <= set(alias.split())}
    return sorted(near)[:1] if len(near) == 1 or len(words) > 1 else []


def persons_of(folder: Path | None, novel: str) -> Counter[str] | None:
    """How often BookNLP takes a name for a person, by lower-cased text; None without its output."""
    path = folder / novel / f"{novel}.entities.gz" if folder else None
    if path is None or not path.is_file():
        return None
    found: Counter[str] = Counter()
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        for row in csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE):
            if row["prop"] == "PROP" and row["cat"] == "PER":
                found[plain(row["text"])] += 1
    return found


def judge(entries: tuple[Entry, ...], gold: Any, main: set[str], persons: Counter[str] | None) -> Judged:
    """Compare a proposed cast with the list of a novel."""
    owners = owners_of(gold)
    made = Judged(entries=len(entries), main=len(main))
    seen: set[str] = set()
    for entry in entries:
        label = "; ".join((entry.name, *entry.aliases))
        matches = who_is(entry, owners)
        if len(matches) > 1:
            made.merged.append(f"{label}  = {', '.join(matches)}")
        if matches:
            made.matched += 1
            if matches[0] in seen:
                made.twice.append(f"{label}  = {matches[0]}")
            seen.update(matches)
        else:
            made.unlisted.append(label)
            if persons is not None and not any(persons[plain(n)] for n in (entry.name, *entry.aliases)):
                made.no_person.append(label)
    made.judged = len(entries) if persons is not None else 0
    made.found = len(main & seen)
    made.missing = sorted(main - seen)
    return made


def share(part: int, whole: int) -> str:
    return f"{100 * part / whole:5.1f}" if whole else "    -"


def row(name: str, made: list[Judged]) -> str:
    def total(key: str) -> int:
        values = [getattr(m, key) for m in made]
        return sum(v if isinstance(v, int) else len(v) for v in values)

    return (
        f"{name:28} {total('entries'):7} {total('main'):5} {share(total('found'), total('main'))} "
        f"{share(total('twice'), total('matched'))} {share(total('merged'), total('matched'))} "
        f"{share(total('no_person'), total('judged')):>9} {share(total('unlisted'), total('entries')):>9}"
    )


def main() -> None:
    """Propose, compare, print."""
    parser = novel_options(__doc__)
    parser.add_argument("--booknlp", type=Path)
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    scorer = load_scorer(options.scorer)
    done: list[Judged] = []
    print(f"{'':28} entries  main found twice merged no person on no list (percent)")
    for novel in options.novels or scorer.novels(options.data):
        gold = scorer.load(options.data, novel, None)
        main_names = set(scorer.load(options.data, novel, {"major"}).scored)
        source = source_of(gold, options.work)
        parse = parse_with_cache(source.book, options.cache)
        entries = propose_cast(source.book, parse=parse).cast.entries
        made = judge(entries, gold, main_names, persons_of(options.booknlp, novel))
        done.append(made)
        print(row(novel, [made]), flush=True)
        if options.show:
            for label in ("missing", "twice", "merged", "no_person", "unlisted"):
                for line in getattr(made, label):
                    print(f"    {label.replace('_', ' ')}: {line}")
    print(row("POOLED", done))


if __name__ == "__main__":
    main()
