#!/usr/bin/env python3
"""How much the answers to questions repair, in the order of `review` and in others.

    python -m benchmarks.bench_review PDNC/TheSportOfTheGods ... [--about speaker] [--orders worth,certain]
    python -m benchmarks.bench_review RELEASE/full/test.jsonl --orders worth,certain,pairs --wrong 0.05
    python -m benchmarks.bench_review LITBANK --part dev --points 5,10,20,40

PDNC marks, in every quotation of a novel, its speaker and who is meant by the mentions inside. A novel is
read with its list of characters; a person who knows the gold answers questions that the gold has an answer
for; after every batch the novel is read again with all answers. Printed are, by novel and as the median, the
share of quotes whose speaker is right, and of he and she inside quotes that are right, after 25 ... answers.
Of released records with their text (*Animal Farm*) and of LitBank, whose gold has every mention of a
character, the CoNLL F1 and all he and she count; a mention that the gold does not have is answered "nobody".

With `--names` a novel is read with the main names alone. A name that the cast does not have is answered with
the one whose name the gold says it is, or "nobody".

Orders: "worth" (`review`), "certain" (least certain first), "pairs" (least certain first, asked by yes-or-no
questions on one person at a time, as in Li et al. 2020: a question that is answered no costs one answer
and is followed by the next person), "random", "oracle" (by worth, but nothing is asked that is right:
about the most that an order can reach with these questions). --wrong 0.05 gives that share of answers to
another person.

--calibration asks nothing: it compares the share that is likely right by the probabilities of `review` with
the share that is right, over the speakers and over the mentions inside quotes that the gold has.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from statistics import median

from bookcoref_data.annotation.backends import make_backend
from bookcoref_data.annotation.cast import Cast, make_cast
from bookcoref_data.annotation.plan import default_plan
from bookcoref_data.annotation.steps import Backend
from bookcoref_data.asking import ReviewQuestion, make_queue, settled
from bookcoref_data.asking.answers import NOBODY, answer_with, answers_to, taught
from bookcoref_data.asking.questions import Asking, likely_right
from bookcoref_data.books import Book, Mention
from bookcoref_data.books.annotation import Annotation
from bookcoref_data.edits import Edit
from bookcoref_data.formats.jsonl import read as read_jsonl
from bookcoref_data.scoring import score_clusters
from bookcoref_data.words import fold
from bookcoref_data.workflows.annotate import Source, annotate_book, read_sources
from bookcoref_data.workflows.given import corrections_of
from bookcoref_data.workflows.review import Drawn, doubts_of
from training.litbank import parts, read_excerpt
from training.parses import parse_with_cache

from .bench_corrections import Gold, answers, read_gold

Span = tuple[int, int]
HE_SHE = frozenset(["he", "she", "him", "her", "his", "hers", "himself", "herself"])


class Novel:
    """A novel with its gold, and a reader that keeps the parse."""

    what = ("speakers", "he, she", "likely right")

    def __init__(self, folder: Path, *, short: bool = False) -> None:
        self.name = folder.name
        self.gold: Gold = read_gold(folder)
        self.cast = self.gold.cast
        if short:
            self.cast = Cast(tuple(replace(e, aliases=()) for e in self.cast.entries))
        with tempfile.TemporaryDirectory() as place:
            path = Path(place) / f"{self.name}.txt"
            path.write_text(self.gold.text, encoding="utf-8")
            (self.source,) = read_sources(path)
        self._begin()

    def _begin(self) -> None:
        self.plan = default_plan("embedded")
        self.backend = make_backend(self.plan)

    def read(self, edits: list[Edit], backend: Backend | None = None) -> Annotation:
        found, backend = corrections_of(edits, self.source.book, self.cast), backend or self.backend
        done = annotate_book(self.source, found.cast, self.plan, given=found.given, backend=backend)
        return done.annotation()

    def truth(self, a: Annotation) -> dict[tuple[str, Span], str]:
        """The gold answer of everything that has one: {("quote" or "mention", tokens): name}."""
        links, quotes = answers(self.gold, a)
        found = {("mention", s): told[0] for s, told in links.items()}
        whose = {fold(name): e.name for e in self.gold.cast.entries for name in (e.name, *e.aliases)}
        for q in Asking(a, self.backend.nobodys(a)).questions(("name",)):
            if q.now is None:
                places = q.places or ((q.start, q.end),)
                names = (fold(" ".join(a.book.tokens[i : k + 1])).removeprefix("the ") for i, k in places)
                said = Counter(found.get(("mention", s)) for s in places) + Counter(map(whose.get, names))
                del said[None]
                who = said.most_common(1)[0][0] if said else NOBODY
                found |= {("mention", s): str(who) for s in places}
        return found | {("quote", s): told[0] for s, told in quotes.items()}

    def words(self, q: ReviewQuestion) -> str | None:
        """Which words the gold marks where a word stands before a name; None where it does not say."""
        return None

    def scores(self, a: Annotation) -> tuple[float, float]:
        """Percent of speakers, and of he and she, that are right."""
        links, quotes = answers(self.gold, a)
        tokens = a.book.tokens
        he = [s for s in links if s[0] == s[1] and tokens[s[0]].lower() in HE_SHE]
        said = sum(one == found for one, found, _ in quotes.values())
        meant = sum(links[s][0] == links[s][1] for s in he)
        return 100 * said / len(quotes), 100 * meant / max(len(he), 1)


class Whole(Novel):
    """A book of which every mention of its people is known: a released record, or a document of LitBank.

    A question about a mention that the gold does not have is answered "nobody". LitBank has speakers.
    """

    what = ("CoNLL", "he, she", "likely right")

    def __init__(
        self, book: Book, cast: Cast, key: Sequence[Sequence[Mention]], quotes: dict[Span, str]
    ) -> None:
        self.name, self.cast, self.quotes = book.doc_key, cast, quotes
        self.key = [[tuple(m) for m in mentions] for mentions in key]
        self.who = {m: e.name for e, mentions in zip(cast.entries, self.key, strict=True) for m in mentions}
        self.source = Source(Book(book.doc_key, book.gutenberg_key, book.tokens, book.sentence_ends))
        self._begin()

    def truth(self, a: Annotation) -> dict[tuple[str, Span], str]:
        found = {("mention", (m.start, m.end)): NOBODY for m in a.mentions}
        for q in Asking(a, self.backend.nobodys(a)).questions(("pronoun", "phrase", "name")):
            found |= {("mention", s): NOBODY for s in q.places or ((q.start, q.end),)}
        found |= {("mention", m): name for m, name in self.who.items()}
        return found | {("quote", span): name for span, name in self.quotes.items()}

    def words(self, q: ReviewQuestion) -> str | None:
        whole = sum(place in self.who for place in q.places)
        if q.stress:
            return q.people[2 * whole <= len(q.places)]
        rest = sum((start + 1, end) in self.who for start, end in q.places)
        return q.people[rest > whole] if whole or rest else None

    def clusters(self, a: Annotation) -> list[list[Span]]:
        """Those of the annotation."""
        return [[(m.start, m.end) for m in group] for group in a.by_character if group]

    def scores(self, a: Annotation) -> tuple[float, float]:
        named = {(m.start, m.end): a.names[m.character] for m in a.mentions}
        he = [s for s in self.who if s[0] == s[1] and a.book.tokens[s[0]].lower() in HE_SHE]
        meant = sum(named.get(s) == self.who[s] for s in he)
        told = score_clusters(self.key, self.clusters(a)).conll.f1
        return 100 * told, 100 * meant / max(len(he), 1)


def books_of(path: Path, part: str, *, short: bool = False) -> list[Novel]:
    """What a path holds: a novel of PDNC, a file of records with their text, or the folder of LitBank."""
    if path.is_file():
        found: list[Novel] = []
        for record in read_jsonl(path):
            if record.sentences is not None:
                book = record.to_book()
                cast = make_cast(c.name for c in book.characters)
                found.append(Whole(book, cast, [c.mentions for c in book.characters], {}))
        return found
    if not (path / "coref").is_dir():
        return [Novel(path, short=short)]
    excerpts = [e for name in parts(path)[part] if (e := read_excerpt(path, name))]
    return [
        Whole(
            e.job.book, e.job.cast, e.key,
            {(q.start, q.end): [*e.job.cast.names, NOBODY][q.speaker] for q in e.quotes if q.cluster},
        )
        for e in excerpts
    ]  # fmt: skip


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
    drawn: list[Drawn] = field(default_factory=list)
    answers: int = 0
    offered: int = 0
    choices: int = 0


def run(
    novel: Novel, order: str, about: list[str], wrong: float, points: Sequence[int], seed: int = 32
) -> list[tuple[float, ...]]:
    """(answers, speakers, he and she, likely right) at every point."""
    draw = random.Random(seed)
    asked, rows = Asked(), []
    a = novel.read([])
    rows.append((0, *novel.scores(a), likely_right(a)))
    for point in points:
        while asked.answers < point:
            batch = min(25, point - asked.answers)
            if not ask(novel, a, order, about, wrong, asked, batch, draw):
                break
            a = novel.read(asked.edits)
        rows.append((asked.answers, *novel.scores(a), likely_right(a)))
    print(f"<!-- {novel.name} {order}: offered {asked.offered} of {asked.choices} -->", flush=True)
    return rows


def ask(
    novel: Novel, a: Annotation, order: str, about: list[str], wrong: float, asked: Asked, batch: int,
    draw: random.Random,
) -> bool:  # fmt: skip
    """Ask a batch; False where nothing is left to ask."""
    truth, done, before = novel.truth(a), settled(asked.edits), asked.answers
    # What the gold has no answer for is not asked.
    free = novel.backend.nobodys(a)
    book = Asking(a, free)
    every = [*book.questions(about)]
    skipped = {q.key for q in every if known_of(q, truth, novel) is None} | {*done}
    if order == "oracle":
        skipped |= {q.key for q in every if known_of(q, truth, novel) == now_of(q)}
    most = 3000 if order == "random" else batch
    teaches = taught(asked.edits)
    worth, read = order in ("worth", "oracle"), partial(novel.read, asked.edits)
    doubts = doubts_of(a, novel.backend, read, asked.drawn) if worth and "speaker" in about else {}
    if worth:
        queue = make_queue(a, skipped, (), teaches, doubts, free, most=most, about=about)
    else:
        left = [q for q in every if q.key not in skipped and q.chance > 0]
        left.sort(key=lambda q: (-q.chance, q.start))
        queue = [book.with_people(q) for q in left[:most]]
    if order == "random":
        draw.shuffle(queue)
    goal, people = asked.answers + batch, [e.name for e in novel.cast.entries]
    for q in queue:
        if asked.answers >= goal:
            break
        known = known_of(q, truth, novel)
        said = draw.choice([p for p in q.people or people if p != known] or people) if (
            draw.random() < wrong) else known  # fmt: skip
        cost = 1
        if order == "pairs":
            cost = q.people.index(said) + 1 if said in q.people else max(len(q.people), 1)
            said = said if said in q.people else NOBODY
        asked.answers += cost
        asked.choices += 1
        asked.offered += known in q.people
        if q.kind == "words":
            told = answers_to(q, novel.source.book.tokens, "")
            asked.edits += told[q.people.index(said)].edits
            continue
        asked.edits += answer_with(q, None if said == NOBODY else said, novel.source.book.tokens, "")
    return asked.answers > before


def known_of(q: ReviewQuestion, truth: dict[tuple[str, Span], str], novel: Novel) -> str | None:
    """The gold answer of a question, of a form of name that of most of its places; None without one."""
    if q.kind == "words":
        return novel.words(q)
    places = (q.places if q.kind != "speaker" else ()) or ((q.start, q.end),)
    what = "quote" if q.kind == "speaker" else "mention"
    said = Counter(truth[what, span] for span in places if (what, span) in truth)
    return said.most_common(1)[0][0] if said else None


def now_of(q: ReviewQuestion) -> str:
    """The answer of the annotation."""
    return q.people[0] if q.kind == "words" else q.now or NOBODY


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("novels", nargs="+", type=Path)
    parser.add_argument("--about", default="speaker,pronoun,phrase,name,words")
    parser.add_argument("--orders", default="worth,certain")
    parser.add_argument("--wrong", type=float, default=0.0)
    parser.add_argument("--points", default="25,50,100,200,300")
    parser.add_argument("--part", default="dev", help="part of LitBank")
    parser.add_argument("--names", action="store_true", help="read novels with the main names alone")
    parser.add_argument("--cache", type=Path, help="folder that keeps the parses for the next time")
    parser.add_argument("--calibration", action="store_true")
    given = parser.parse_args()
    if given.calibration:
        return calibration(given.novels)
    about, orders = given.about.split(","), given.orders.split(",")
    points = [int(p) for p in given.points.split(",")]
    told = " | ".join(map(str, (0, *points)))
    print(f"| novel | order | what | {told} |\n|---|---|---|{'---|' * (len(points) + 1)}")
    rows: dict[str, list[list[tuple[float, ...]]]] = {order: [] for order in orders}
    novels = [novel for path in given.novels for novel in books_of(path, given.part, short=given.names)]
    for novel in novels:
        novel.backend.hold(novel.source.book, parse_with_cache(novel.source.book, given.cache))
        for order in orders:
            made = run(novel, order, about, given.wrong, points)
            rows[order].append(made)
            show(novel.name, order, made, novel.what)
        novel.backend.close()
    for order in orders:
        middle = [
            tuple(median(one[k][c] for one in rows[order]) for c in range(4)) for k in range(len(points) + 1)
        ]
        show(f"median of {len(novels)}", order, middle, novels[0].what)


def show(name: str, order: str, rows: list[tuple[float, ...]], kinds: Sequence[str]) -> None:
    for column, what in enumerate(kinds, 1):
        values = " | ".join(f"{row[column] * (100 if column == 3 else 1):.1f}" for row in rows)
        print(f"| {name} | {order} | {what} | {values} |", flush=True)


if __name__ == "__main__":
    main()
