"""Names that the annotator learns for a cast of main names, against the lists with all names.

    python -m benchmarks.bench_aliases --scorer pdnc_score.py --data PDNC [NOVEL ...] [--cache DIR] [--show]

The lists are those of the Project Dialogism Novel Corpus, which is not part of this project: give your own
copy. Nothing but names is linked, so this takes seconds a novel. Printed by novel and pooled:

    learned     names that the cast does not give and the book adds
    right       of those that the list has, the share that the list gives to the same character
    unlisted    learned names that the list gives to nobody
    named       places at which the list with all names finds a name of somebody
    same        share of them at which the main names alone find the same character
    other       share at which they find somebody else
    more        places at which only the main names find somebody, as a share of `named`

`--show` lists the learned names that are wrong or not listed, and the names that are not found or given to
somebody else most often.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from benchmarks.bench_cast import owners_of, plain, share
from benchmarks.bench_dialogue import cast_of, load_scorer, novel_options, source_of
from bookcoref_data.annotation.cast import Cast
from bookcoref_data.annotation.embedded.aliases import Learned, learn_aliases, name_the_missing
from bookcoref_data.annotation.embedded.linking import filter_names, link_names
from bookcoref_data.annotation.embedded.names import learned_table
from bookcoref_data.annotation.embedded.parsing import Parse
from bookcoref_data.books import Book
from training.parses import parse_with_cache

_MOST_SHOWN = 12


@dataclass
class Judged:
    """What one novel came to: learned names, and places of names by what the main names say of them."""

    right: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    unlisted: list[str] = field(default_factory=list)
    places: Counter[str] = field(default_factory=Counter)
    lost: Counter[tuple[str, str, str]] = field(default_factory=Counter)


def names_in(book: Book, cast: Cast, parse: Parse) -> tuple[Learned, dict[int, tuple[str, str]]]:
    """What is learned of a cast, and token -> (character, words) of every name that is kept."""
    known = name_the_missing(book, learn_aliases(book, cast, parse), parse)
    linked, _ = link_names(book, known.cast, parse, "link")
    kept, _ = filter_names(book, known.cast, parse, tuple(linked), "filter")
    words = ((m, " ".join(book.tokens[m.start : m.end + 1])) for m in kept if m.kind == "name")
    return known, {m.end: (cast.names[m.character], said) for m, said in words}


def learned_names(cast: Cast, known: Learned, book: Book) -> Iterable[tuple[str, str]]:
    """(character, name) of everything that is learned."""
    for entry, more in zip(cast.entries, known.cast.entries, strict=True):
        yield from ((entry.name, alias) for alias in more.aliases if alias not in entry.aliases)
    table, notes = learned_table(known.cast, book.tokens)
    for note in notes:
        name, _, part = note.partition(": ")
        kind, word, _ = part.rsplit(" ", 2)
        person = next(p for p in table.people if p.entry.name == name)
        whole = [*person.first, word] if kind == "surname" else [word, person.last]
        yield name, " ".join(whole).title()


def judge(gold: Any, book: Book, parse: Parse) -> Judged:
    """Compare a cast of main names with the list of a novel."""
    made, owners = Judged(), owners_of(gold)
    cast = cast_of(gold, "names")
    known, found = names_in(book, cast, parse)
    for who, name in learned_names(cast, known, book):
        whose = owners.get(plain(name), set())
        kind = made.right if who in whose else made.wrong if whose else made.unlisted
        kind.append(f"{who}: {name}" + (f"  ({', '.join(sorted(whose))})" if whose - {who} else ""))
    _, wanted = names_in(book, cast_of(gold, "aliases"), parse)
    for at, (who, said) in wanted.items():
        other = found.get(at, ("", ""))[0]
        made.places["same" if other == who else "other" if other else "lost"] += 1
        if other != who:
            made.lost[said, who, other] += 1
    made.places["more"] = len(found.keys() - wanted.keys())
    return made


def row(name: str, made: list[Judged]) -> str:
    right, wrong, unlisted = (sum(len(getattr(m, k)) for m in made) for k in ("right", "wrong", "unlisted"))
    places = sum((m.places for m in made), Counter())
    named = places.total() - places["more"]
    shares = (share(places[kind], named) for kind in ("same", "other", "more"))
    return (
        f"{name:28} {right + wrong + unlisted:7} {share(right, right + wrong)} {unlisted:8} {named:6} "
        + " ".join(shares)
    )


def main() -> None:
    """Learn, compare, print."""
    parser = novel_options(__doc__)
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    scorer = load_scorer(options.scorer)
    done: list[Judged] = []
    print(f"{'':28} learned right unlisted  named  same other  more (percent)")
    for novel in options.novels or scorer.novels(options.data):
        gold = scorer.load(options.data, novel, None)
        book = source_of(gold, options.work).book
        made = judge(gold, book, parse_with_cache(book, options.cache))
        done.append(made)
        print(row(novel, [made]), flush=True)
        if options.show:
            for label in ("wrong", "unlisted"):
                for line in getattr(made, label):
                    print(f"    {label}: {line}")
            for (said, who, other), n in made.lost.most_common(_MOST_SHOWN):
                print(f"    {n:4} {said!r}: {who}" + (f", not {other}" if other else ""))
    print(row("POOLED", done))


if __name__ == "__main__":
    main()
