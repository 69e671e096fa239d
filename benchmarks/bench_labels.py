"""What labels are worth: rankers trained on novels with labels, each novel left out in turn.

    python -m benchmarks.bench_labels --scorer pdnc_score.py --data PDNC [NOVEL ...]
        [--litbank LITBANK] [--folds 4] [--members 3] [--jobs 1] [--cache FOLDER] [--out FILE.json]
        [--questions]

The rankers of the package have never seen a label of the Project Dialogism Novel Corpus. Here all are trained
on its labels: every novel is read with the rankers of the package, and the gold answers every question about
a speaker, an addressee, and a pronoun or noun phrase in quotes and tags. The novels are dealt into folds;
those of a fold are annotated with rankers that learned from the other folds, and scored by the given scorer.
With `--litbank`, the rankers learn from the questions of LitBank's training part as well, which also ask of
people who are in no cast. The difference to `bench_dialogue.py` says how much better labels could make the
same features. The weights are thrown away: the corpus states no licence.

`--questions` scores the questions themselves, not whole annotations: by ranker, the share that the package
answers rightly, and the share after learning from the other folds. So it is soon seen whether a new feature
helps. The second pair of shares takes "nobody of these" out of the choice. The corpus only marks phrases that
mean one of its people: that somebody is meant is soon learned from it, and is not true of a whole book.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.bench_dialogue import (
    annotate_novel,
    cast_of,
    figures,
    load_scorer,
    novel_options,
    print_table,
    source_of,
)
from bookcoref_data.annotation.embedded.backend import EmbeddedBackend, HowToRead, read_text
from bookcoref_data.annotation.embedded.discourse import INDEX
from bookcoref_data.annotation.embedded.network import Ranker, load_rankers
from bookcoref_data.annotation.embedded.text import Text
from bookcoref_data.annotation.plan import default_plan
from bookcoref_data.annotation.steps import Job, run_steps
from training.litbank import parts
from training.parses import parse_with_cache
from training.train import (
    EPOCHS,
    KINDS,
    QUOTED,
    SEED,
    Question,
    add_trees,
    by_ranker,
    collect,
    fit_all,
    prepare_lessons,
)

Lessons = dict[str, list[Question]]


class LabelTeacher:
    """Collects the questions of a reader, with the answers of the gold; the reader goes on by itself."""

    def __init__(self, labels: Mapping[object, int]) -> None:
        self.labels = labels
        self.questions: Lessons = {kind: [] for kind in KINDS}

    def choose(self, kind: str, ids: list[int], x: np.ndarray, key: object, model: int) -> int:
        right = self.labels.get(key)
        if right is not None and ids:
            self.questions[kind].append(Question(x, ids.index(right) if right in ids else len(ids)))
        return model

    def settled(self, key: object, entity: int) -> None:
        """Nothing is learned from what needs no choice."""


def labels_of(
    text: Text, gold: Any, places: Sequence[tuple[int, int]], names: Sequence[str]
) -> dict[object, int]:
    """The character of every quote, of the subject of its tag, and of every mention inside quotes.

    `places` are the first and the last character of every token in the text of the gold.
    """
    index = {name.strip(): i for i, name in enumerate(names)}
    speakers = {s[0]: q.speaker for q in gold.quotes for s in q.spans}
    found: dict[object, int] = {}
    for i, m in enumerate(text.markables):
        who = gold.mentions.get((places[m.start][0], places[m.end][1]))
        if who in index:
            found[i] = index[who]
    for q, (a, _) in enumerate(text.speech.spans):
        start = places[a][0]
        who = speakers.get(start, speakers.get(start + 1))
        if who in index:
            found["quote", q] = index[who]
            if text.tags[q].subject >= 0:
                found[text.tags[q].subject] = index[who]
    return found


def lessons_of(novel: str, scorer_path: Path, data: Path, cache: Path | None, work: Path) -> Lessons:
    """The questions of one novel, read with the rankers of the package."""
    scorer = load_scorer(scorer_path)
    gold = scorer.load(data, novel, None)
    source, cast = source_of(gold, work), cast_of(gold, "aliases")
    parse = parse_with_cache(source.book, cache)
    backend = EmbeddedBackend(default_plan("embedded"))
    backend.hold(source.book, parse)
    job = Job(source.book, cast)
    names = [m for m in run_steps(backend, job, ("link", "filter")).mentions if m.kind == "name"]
    places, _ = scorer.offsets(gold.text, list(source.book.tokens))
    teachers = []

    def teach(text: Text) -> LabelTeacher:
        teachers.append(LabelTeacher(labels_of(text, gold, places, cast.names)))
        return teachers[0]

    read_text(parse, job, backend.known(job), names, {}, HowToRead(), load_rankers(), teach)
    return teachers[0].questions


def train(lessons: Sequence[Lessons], more: Lessons, members: int, jobs: int) -> dict[str, Ranker]:
    """Rankers of all kinds from the labels, and from `more` questions of other sources."""
    questions = {k: [q for lesson in lessons for q in lesson[k]] + more.get(k, []) for k in KINDS}
    asked = by_ranker(questions)
    rankers = fit_all(asked, EPOCHS, [SEED + n for n in range(members)], jobs)
    return dict(load_rankers()) | add_trees(rankers, asked, jobs)


def print_answers(learned: Mapping[str, Lessons], more: Lessons, folds: int, members: int, jobs: int) -> None:
    """By ranker, the share of questions that the package answers rightly, and rankers of the other folds."""
    right: dict[str, np.ndarray] = defaultdict(lambda: np.zeros(5))
    novels, package, quoted = list(learned), load_rankers(), INDEX["m quoted"]
    for fold in range(folds):
        left_out = novels[fold::folds]
        rankers = train([learned[n] for n in novels if n not in left_out], more, members, jobs)
        both = package, rankers
        asked = by_ranker({kind: [q for n in left_out for q in learned[n][kind]] for kind in KINDS})
        for name, questions in asked.items():
            inside = name in QUOTED.values()
            own = [
                q for q in questions if name not in (*QUOTED, *QUOTED.values()) or q.x[0, quoted] == inside
            ]
            answers = [_right(ranker[name], own, somebody) for somebody in (False, True) for ranker in both]
            right[name] += np.array([len(own), *answers])
    for name, (count, *counted) in right.items():
        ours, theirs, chosen, learned_to_choose = (100 * part / count for part in counted)
        print(f"{name:20}{count:8,.0f} questions: package {ours:.1f} %, labels {theirs:.1f} %", end="; ")
        print(f"somebody: package {chosen:.1f} %, labels {learned_to_choose:.1f} %")


def _right(ranker: Ranker, questions: Sequence[Question], somebody: bool) -> int:
    """How many questions are answered rightly; `somebody` takes the last row, nobody, out of the choice."""
    scores = ((ranker.scores(q.x)[: -1 if somebody else None], q.right) for q in questions)
    return sum(int(found.argmax() == right) for found, right in scores)


def main() -> None:
    """Collect the questions, train and score fold by fold, print a table."""
    parser = novel_options(__doc__)
    parser.add_argument("--litbank", type=Path)
    parser.add_argument("--folds", type=int, default=4)
    parser.add_argument("--members", type=int, default=3, help="networks per ranker")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--questions", action="store_true")
    options = parser.parse_args()
    scorer = load_scorer(options.scorer)
    novels = options.novels or scorer.novels(options.data)
    given = {
        "scorer_path": options.scorer,
        "data": options.data,
        "cache": options.cache,
        "work": options.work,
    }
    more: Lessons = {}
    if options.litbank:
        prepared = prepare_lessons(options.litbank, parts(options.litbank)["train"], cache=options.cache)
        more = collect(prepared, load_rankers(), False, options.jobs)
    with ProcessPoolExecutor(options.jobs) as pool:
        learned = dict(zip(novels, pool.map(partial(lessons_of, **given), novels), strict=True))
    for kind in KINDS:
        print(f"{sum(len(lesson[kind]) for lesson in learned.values()):,} questions about {kind}")
    if options.questions:
        print_answers(learned, more, options.folds, options.members, options.jobs)
        return
    annotate = partial(annotate_novel, cast="aliases", **given)
    pooled: dict[str, Counter[str]] = defaultdict(Counter)
    rows: dict[str, dict[str, float]] = {}
    for fold in range(options.folds):
        left_out = novels[fold :: options.folds]
        others = [learned[n] for n in novels if n not in left_out]
        rankers = train(others, more, options.members, options.jobs)
        with ProcessPoolExecutor(options.jobs) as pool:
            results = list(pool.map(partial(annotate, rankers=rankers), left_out))
        for result in results:
            for key, count in result.counts.items():
                pooled[key].update(count)
            rows[result.novel] = figures(scorer.measures(result.counts))
    rows = {novel: rows[novel] for novel in novels} | {"POOLED": figures(scorer.measures(pooled))}
    print_table(rows)
    if options.out:
        options.out.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
