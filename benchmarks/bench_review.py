#!/usr/bin/env python3
"""How much the answers to questions repair, in the order of `review` and in others.

    python -m benchmarks.bench_review PDNC/TheSportOfTheGods ... [--about speaker] [--orders worth,certain]

PDNC marks, in every quotation of a novel, its speaker and who is meant by the mentions inside. A novel is
read with its list of characters; a person who knows the gold answers questions that the gold has an answer
for; after every batch the novel is read again with all answers. Printed are, by novel and as the median, the
share of quotes whose speaker is right, and of he and she inside quotes that are right, after 25 ... answers.

Orders: "worth" (`review`), "certain" (least certain first), "pairs" (least certain first, asked by yes-or-no
questions on one person at a time, as in Li et al. 2020: a question that is answered no costs one answer
and is followed by the next person), "random". --wrong 0.05 gives that share of answers to another person.

--calibration asks nothing: it compares the share that is likely right by the probabilities of `review` with
the share that is right, over the speakers and over the mentions inside quotes that the gold has.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from bookcoref_data.annotation.backends import make_backend
from bookcoref_data.annotation.plan import default_plan
from bookcoref_data.asking import ReviewQuestion, likely_right, make_queue, settled
from bookcoref_data.asking.answers import NOBODY, answer_with
from bookcoref_data.asking.questions import all_questions
from bookcoref_data.books.annotation import Annotation
from bookcoref_data.edits import Edit
from bookcoref_data.workflows.annotate import Source, annotate_book, read_sources
from bookcoref_data.workflows.given import corrections_of

from .bench_corrections import Gold, answers, read_gold

Span = tuple[int, int]
POINTS = (25, 50, 100, 200, 300)
HE_SHE = frozenset(["he", "she", "him", "her", "his", "hers", "himself", "herself"])


@dataclass
class Novel:
    """A novel with its gold, and a reader that keeps the parse."""

    folder: Path
    gold: Gold = field(init=False)
    source: Source = field(init=False)

    def __post_init__(self) -> None:
        self.gold = read_gold(self.folder)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"{self.folder.name}.txt"
            path.write_text(self.gold.text, encoding="utf-8")
            (self.source,) = read_sources(path)
        self.plan = default_plan("embedded")
        self.backend = make_backend(self.plan)

    def read(self, edits: list[Edit]) -> Annotation:
        found = corrections_of(edits, self.source.book, self.gold.cast)
        done = annotate_book(self.source, found.cast, self.plan, given=found.given, backend=self.backend)
        return done.annotation()

    def truth(self, a: Annotation) -> dict[tuple[str, Span], str]:
        """The gold answer of everything that has one: {("quote" or "mention", tokens): name}."""
        links, quotes = answers(self.gold, a)
        return {("quote", s): told[0] for s, told in quotes.items()} | {
            ("mention", s): told[0] for s, told in links.items()
        }

    def scores(self, a: Annotation) -> tuple[float, float]:
        """Percent of speakers, and of he and she, that are right."""
        links, quotes = answers(self.gold, a)
        tokens = a.book.tokens
        he = [s for s in links if s[0] == s[1] and tokens[s[0]].lower() in HE_SHE]
        said = sum(one == found for one, found, _ in quotes.values())
        meant = sum(links[s][0] == links[s][1] for s in he)
        return 100 * said / len(quotes), 100 * meant / max(len(he), 1)


def calibration(novels: list[Path]) -> None:
    """Print likely and truly right by novel."""
    print("| novel | speakers: likely | right | number | mentions: likely | right | number |")
    print("|---|---|---|---|---|---|---|")
    for folder in novels:
        novel = Novel(folder)
        a = novel.read([])
        links, quotes = answers(novel.gold, a)
        scores = {(m.start, m.end): m.score for m in a.mentions}
        said = {(q.start, q.end): q.score for q in a.quotes}
        cells: list[str] = []
        for known, score in ((quotes, said), (links, scores)):
            judged = [(score[span], told[0] == told[1]) for span, told in known.items() if span in score]
            n = max(len(judged), 1)
            likely, right = (100 * sum(column) / n for column in zip(*judged, strict=True))
            cells += [f"{likely:.1f}", f"{right:.1f}", f"{len(judged):,}"]
        print(f"| {folder.name} | {' | '.join(cells)} |", flush=True)
        novel.backend.close()


@dataclass
class Asked:
    """What was asked until now: answers given, corrections made, and who was among the people offered."""

    edits: list[Edit] = field(default_factory=list)
    answers: int = 0
    offered: int = 0
    choices: int = 0


def run(novel: Novel, order: str, about: list[str], wrong: float, seed: int = 32) -> list[tuple[float, ...]]:
    """(answers, speakers, he and she, likely right) at every point."""
    draw = random.Random(seed)
    asked, rows = Asked(), []
    a = novel.read([])
    rows.append((0, *novel.scores(a), likely_right(a)))
    for point in POINTS:
        while asked.answers < point:
            batch = min(25, point - asked.answers)
            if not ask(novel, a, order, about, wrong, asked, batch, draw):
                break
            a = novel.read(asked.edits)
        rows.append((asked.answers, *novel.scores(a), likely_right(a)))
    print(f"<!-- {novel.folder.name} {order}: offered {asked.offered} of {asked.choices} -->", flush=True)
    return rows


def ask(
    novel: Novel, a: Annotation, order: str, about: list[str], wrong: float, asked: Asked, batch: int,
    draw: random.Random,
) -> bool:  # fmt: skip
    """Ask a batch; False where nothing is left to ask."""
    truth, done, before = novel.truth(a), settled(asked.edits), asked.answers
    # What the gold has no answer for is not asked.
    every = all_questions(a, about)
    skipped = {q.key for q in every if known_of(q, truth) is None} | {*done}
    most = 3000 if order == "random" else batch
    queue = make_queue(a, settled=skipped, most=most, about=about, by_worth=order == "worth")
    if order == "random":
        draw.shuffle(queue)
    goal, people = asked.answers + batch, [e.name for e in novel.gold.cast.entries]
    for q in queue:
        if asked.answers >= goal:
            break
        known = known_of(q, truth)
        said = draw.choice([p for p in q.people or people if p != known] or people) if (
            draw.random() < wrong) else known  # fmt: skip
        cost = 1
        if order == "pairs":
            cost = q.people.index(said) + 1 if said in q.people else max(len(q.people), 1)
            said = said if said in q.people else NOBODY
        asked.answers += cost
        asked.choices += 1
        asked.offered += known in q.people
        asked.edits += answer_with(q, None if said == NOBODY else said, novel.source.book.tokens, "")
    return asked.answers > before


def known_of(q: ReviewQuestion, truth: dict[tuple[str, Span], str]) -> str | None:
    """The gold answer of a question, of a form of name that of most of its places; None without one."""
    places = q.places if q.kind == "name" else ((q.start, q.end),)
    what = "quote" if q.kind == "speaker" else "mention"
    said = Counter(truth[what, span] for span in places if (what, span) in truth)
    return said.most_common(1)[0][0] if said else None


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("novels", nargs="+", type=Path)
    parser.add_argument("--about", default="speaker,pronoun,phrase,name")
    parser.add_argument("--orders", default="worth,certain")
    parser.add_argument("--wrong", type=float, default=0.0)
    parser.add_argument("--calibration", action="store_true")
    given = parser.parse_args()
    if given.calibration:
        return calibration(given.novels)
    about, orders = given.about.split(","), given.orders.split(",")
    points = " | ".join(str(p) for p in (0, *POINTS))
    print(f"| novel | order | what | {points} |\n|---|---|---|{'---|' * (len(POINTS) + 1)}")
    rows: dict[str, list[list[tuple[float, ...]]]] = {order: [] for order in orders}
    for folder in given.novels:
        novel = Novel(folder)
        for order in orders:
            made = run(novel, order, about, given.wrong)
            rows[order].append(made)
            show(folder.name, order, made)
        novel.backend.close()
    for order in orders:
        middle = [
            tuple(median(one[k][c] for one in rows[order]) for c in range(4)) for k in range(len(POINTS) + 1)
        ]
        show(f"median of {len(given.novels)}", order, middle)


def show(name: str, order: str, rows: list[tuple[float, ...]]) -> None:
    for what, column in (("speakers", 1), ("he, she", 2), ("likely right", 3)):
        values = " | ".join(f"{row[column] * (100 if column == 3 else 1):.1f}" for row in rows)
        print(f"| {name} | {order} | {what} | {values} |", flush=True)


if __name__ == "__main__":
    main()
