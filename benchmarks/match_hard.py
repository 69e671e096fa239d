"""Hard cases of matching: works and records that look alike, each with the right answer.

    python benchmarks/match_hard.py [--set a] [--all]

`match_hard_works.tsv` holds works as Wikidata and the study guides write them, by class of difficulty, with
the records that are right ("-": none is); `match_hard_records.tsv` the records of one catalogue, with
titles and authors as Project Gutenberg writes them. Downloads are made up, so that a tempting record often
has more. A work counts as wrong when it goes to a record that is not right, and as silent when nothing
asks a person to look at it.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from bookcoref_data.characters.match import WorkDecision, match
from bookcoref_data.characters.table import CastRow, HarvestedCast

HERE = Path(__file__).resolve().parent


class Case(NamedTuple):
    """One work with its class of difficulty and the records that are right; none when there is none."""

    kind: str
    cast: HarvestedCast
    right: frozenset[int]


class Outcome(NamedTuple):
    """What became of a case: "right", "missed" (nothing taken), "flagged" or "silent" (a wrong record)."""

    case: Case
    decision: WorkDecision
    result: str


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--set", choices=("a", "b", "c"), help="only one set of works")
    parser.add_argument("--all", action="store_true", help="print every case, not only the faults")
    args = parser.parse_args()
    for name in [args.set] if args.set else sets():
        print(f"set {name}")
        show(outcomes(name), args.all)
    return 0


def sets() -> list[str]:
    """The names of the sets of works."""
    return sorted({row["set"] for row in _rows("match_hard_works.tsv")})


def outcomes(name: str) -> list[Outcome]:
    """Every case of a set, matched alone: no case helps another."""
    frame = catalogue_frame()
    found = []
    for case in cases(name):
        decision = match([case.cast], frame).works[0]
        found.append(Outcome(case, decision, _result(case, decision)))
    return found


def _result(case: Case, decision: WorkDecision) -> str:
    number = decision.gutenberg_id
    if number in case.right or (number is None and not case.right):
        return "right"
    if number is None:
        return "missed"
    return "flagged" if decision.review else "silent"


def cases(name: str) -> list[Case]:
    found = []
    for place, row in enumerate(_rows("match_hard_works.tsv")):
        if row["set"] == name:
            work = CastRow(
                row["source"], f"{name}-{place}", row["title"], "",
                author=row["author"], authors=(row["author"],) if row["author"] else (),
                titles=_split(row["titles"]), author_aliases=_split(row["aliases"]),
                kinds=_split(row["kinds"]),
            )  # fmt: skip
            rows = tuple(replace(work, character=f"Person {n}") for n in range(6))
            right = frozenset() if row["right"] == "-" else frozenset(map(int, _split(row["right"])))
            found.append(Case(row["class"], HarvestedCast(rows), right))
    return found


def catalogue_frame():
    """The records as the table that `sources/catalogue.py` describes."""
    import polars as pl

    person = pl.Struct({"role": pl.String, "name": pl.String, "aliases": pl.List(pl.String)})
    schema = {
        "id": pl.Int64, "titles": pl.List(pl.String), "authors": pl.List(pl.String),
        "aliases": pl.List(pl.String), "subjects": pl.List(pl.String), "form": pl.String,
        "downloads": pl.Int64, "languages": pl.List(pl.String), "people": pl.List(person),
        "text_bytes": pl.Int64, "issued": pl.String,
    }  # fmt: skip
    return pl.DataFrame([_record(row) for row in _rows("match_hard_records.tsv")], schema=schema)


def _record(row: dict[str, str]) -> dict[str, object]:
    people = []
    for text in filter(None, row["authors"].split(" & ")):
        name, *aliases = text.split("=")
        people.append({"role": "cre", "name": name, "aliases": aliases})
    return {
        "id": int(row["id"]),
        "titles": [row["title"]],
        "authors": [person["name"] for person in people],
        "aliases": [alias for person in people for alias in person["aliases"]],
        "subjects": [subject for subject in [row["subjects"]] if subject],
        "form": row["form"],
        "downloads": int(row["downloads"]),
        "languages": row["languages"].split("|"),
        "people": people,
        "text_bytes": 400_000,
        "issued": "",
    }


def show(found: Iterable[Outcome], every: bool) -> None:
    """Print the table by class, then the faults (or every case)."""
    found = list(found)
    results = ("right", "missed", "flagged", "silent")
    print("| class | works | right | missed | wrong, flagged | wrong, silent | right and flagged |")
    print("|---|---|---|---|---|---|---|")
    for kind in [*dict.fromkeys(o.case.kind for o in found), ""]:
        rows = [o for o in found if kind in ("", o.case.kind)]
        counts = [sum(o.result == result for o in rows) for result in results]
        looked_at = sum(o.result == "right" and bool(o.decision.review) for o in rows)
        print(f"| {kind or 'all'} | {len(rows)} | {' | '.join(map(str, counts))} | {looked_at} |")
    print(f"right: {100 * sum(o.result == 'right' for o in found) / max(1, len(found)):.1f}%")
    for outcome in found:
        if every or outcome.result != "right":
            print(_line(outcome))


def _line(outcome: Outcome) -> str:
    work, decision = outcome.case.cast.work, outcome.decision
    wanted = ", ".join(map(str, sorted(outcome.case.right))) or "none"
    review = f" [{decision.review}]" if decision.review else ""
    return (
        f"{outcome.result}: {outcome.case.kind}: {work.title} ({work.author}): wanted {wanted}, "
        f"found {decision.gutenberg_id}{review}: {decision.reason}"
    )


def _rows(name: str) -> list[dict[str, str]]:
    with open(HERE / name, encoding="utf-8") as stream:
        return list(csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))


def _split(text: str) -> tuple[str, ...]:
    return tuple(part for part in text.split("|") if part)


if __name__ == "__main__":
    sys.exit(main())
