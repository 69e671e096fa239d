"""Train the rankers of the embedded backend on LitBank and on novels, and write their weights.

    python -m training.train path/to/litbank --novels path/to/mirror [--out FILE] [--check]

Pure numpy, about twenty minutes on one core, half of it parsing; the kernels are named (`kernels`), so that
other processors give the same weights. Documents of the development and test parts are never read. Round 1
follows LitBank's answers; later rounds let the rankers read by themselves and learn from the state they get
into (Ross, Gordon and Bagnell 2011). From round 3 on the lessons of the novels (`silver`) are added.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bookcoref_data.annotation.embedded.discourse import FEATURES, INDEX, WIDTH
from bookcoref_data.annotation.embedded.network import LEAVES, WEIGHTS, Forest, Ranker, load_rankers
from bookcoref_data.annotation.embedded.parsing import load_model
from bookcoref_data.annotation.embedded.reader import OneReading
from bookcoref_data.annotation.embedded.text import Text
from bookcoref_data.annotation.narration import throughout
from training.parses import link_text

from .kernels import start_again_with
from .litbank import Excerpt, parts, read_excerpt
from .novels import cast_of, novel_files, paragraphs_of, read_novel, silver_examples
from .oracle import LitBankTeacher
from .parses import parse_with_cache
from .trees import TREES, fit_forest
from .weights import arrays_of, save_rankers

KINDS = ("third", "second", "nominal", "speaker")
QUOTED = {"third": "third in a quote", "nominal": "nominal in a quote"}
"""Kinds of questions -> a second ranker, for those inside quotes. Who is meant there follows other rules (the
speaker and those spoken to are not "he"), but LitBank asks few of them, so it learns from the others, too."""
IN_PLACE, ELSEWHERE = 2.0, 0.5
"""What questions inside and outside quotes weigh for a ranker of quotes, against the first ranker."""
HIDDEN = {
    "third": 24, "third in a quote": 24, "second": 12, "nominal": 20, "nominal in a quote": 20, "speaker": 24,
}  # fmt: skip
SEED, ROUNDS, MEMBERS, EPOCHS = 30, 4, 10, 8
"""The seed is the better one of 8 and 30 on LitBank's development part (docs/results.md)."""
SILVER_FROM = 2
"""The first round (counted from 0) that learns from novels: before, there is nothing to read them with."""
SILVER_WEIGHT = {"blind": 0.1, "third": 0.1, "quoted": 0.1, "speaker": 0.5, "second": 0.3, "nominal": 0.3}
RATE, DECAY, DROPOUT = 0.002, 2e-4, 0.2
FORESTS = 4
"""Forests that are averaged: of 17 novels 11 gain in all mentions, 4 lose (0.1 points together)."""
OF_TREES = {"third": 0.7, "third in a quote": 1.0}
"""Share of the trees in the score of a ranker, the rest is the network's. On PDNC the two together choose
"he" of the narration better than either; in quotes trees alone are as good, and smaller. For the other
rankers the trees bring nothing."""


@dataclass(frozen=True, slots=True)
class Lesson:
    """One training document, prepared."""

    excerpt: Excerpt
    text: Text


class Question(NamedTuple):
    """One decision to learn from: features of the candidates (row by row in memory: sums round by order), the
    right row, and how much it counts."""

    x: np.ndarray
    right: int
    weight: float = 1.0


def prepare_lessons(
    root: Path,
    names: list[str],
    novels: Mapping[str, Path] | None = None,
    cache: Path | None = None,
    jobs: int = 1,
) -> list[Lesson]:
    """Parse, link and filter documents; those without characters are left out.

    Where `novels` (Gutenberg id -> file) has the whole book, the excerpt gets its paragraphs from there.
    """
    prepare = partial(_prepare_lesson, root, dict(novels or {}), cache)
    with ProcessPoolExecutor(jobs) as workers:
        return [lesson for lesson in workers.map(prepare, names) if lesson is not None]


def _prepare_lesson(root: Path, novels: Mapping[str, Path], cache: Path | None, name: str) -> Lesson | None:
    excerpt = read_excerpt(root, name)
    if excerpt is None:
        return None
    novel = novels.get(name.split("_")[0])
    paragraph = paragraphs_of(excerpt, read_novel(novel)) if novel else None
    job = excerpt.job
    parse = parse_with_cache(job.book, cache)
    cast = cast_of(job.book, parse, job.cast)
    return Lesson(excerpt, link_text(job.book, cast, parse, paragraph))


def collect(
    lessons: list[Lesson], rankers: dict[str, Ranker], follow: bool, jobs: int = 1
) -> dict[str, list[Question]]:
    """Questions by ranker, from one reading of every lesson."""
    found: dict[str, list[Question]] = {kind: [] for kind in KINDS}
    with ProcessPoolExecutor(jobs) as workers:
        for asked in workers.map(partial(_ask, rankers, follow), lessons):
            for kind, x, right in asked:
                found[kind].append(Question(np.ascontiguousarray(x), right))
    return found


def _ask(rankers: dict[str, Ranker], follow: bool, lesson: Lesson) -> list[tuple[str, np.ndarray, int]]:
    """The questions of one document with their answers."""
    teacher = LitBankTeacher(lesson.excerpt, lesson.text, follow)
    narration = throughout(teacher.narrator(lesson.text), lesson.text.book)
    OneReading(lesson.text, rankers, narration=narration, teacher=teacher).read()
    return teacher.examples


def fit(examples: list[Question], hidden: int, epochs: int, seed: int) -> Ranker:
    """Fit one ranker: softmax over the candidates of each example, Adam, dropout on the hidden units."""
    rng = np.random.default_rng(seed)
    rows = np.concatenate([q.x for q in examples])
    mean = rows.mean(axis=0)
    scale = 1.0 / np.maximum(rows.std(axis=0), 0.05)
    mean[0], scale[0] = 0.0, 1.0
    width = max(len(q.x) for q in examples)
    x = np.zeros((len(examples), width, WIDTH), dtype=np.float32)
    mask = np.full((len(examples), width), -1e9, dtype=np.float32)
    right = np.zeros(len(examples), dtype=np.int64)
    weight = np.array([q.weight for q in examples], dtype=np.float32)
    for i, (rows_i, r, _) in enumerate(examples):
        x[i, : len(rows_i)] = (rows_i - mean) * scale
        mask[i, : len(rows_i)] = 0
        right[i] = r
    params = [
        rng.normal(0, 1 / np.sqrt(WIDTH), (WIDTH, hidden)).astype(np.float32),
        np.zeros(hidden, dtype=np.float32),
        rng.normal(0, 1 / np.sqrt(hidden), hidden).astype(np.float32),
    ]
    first = [np.zeros_like(p) for p in params]
    second = [np.zeros_like(p) for p in params]
    step = 0
    batches = max(1, len(examples) // 64)
    for epoch in range(epochs):
        rate = RATE * (1 - epoch / epochs) + RATE * 0.05
        for part in np.array_split(rng.permutation(len(examples)), batches):
            step += 1
            keep = (rng.random(hidden) > DROPOUT).astype(np.float32) / (1 - DROPOUT)
            grads = _gradients(params, x[part], mask[part], right[part], keep, weight[part])
            for k, (p, g) in enumerate(zip(params, grads, strict=True)):
                g = g + DECAY * p * len(part)
                first[k] = 0.9 * first[k] + 0.1 * g
                second[k] = 0.999 * second[k] + 0.001 * g * g
                p -= rate * (first[k] / (1 - 0.9**step)) / (np.sqrt(second[k] / (1 - 0.999**step)) + 1e-8)
    # As they are read (`network.load_rankers`): numbers below the normal range change no sum, and cost time.
    params[0][np.abs(params[0]) < np.finfo(np.float32).tiny] = 0
    return Ranker(mean.astype(np.float32), scale.astype(np.float32), *params)


_lessons: dict[str, list[Question]] = {}
"""What a worker process of `fit_all` learns from."""


def _take_lessons(questions: dict[str, list[Question]]) -> None:
    _lessons.update(questions)


def _fit_member(kind: str, epochs: int, seed: int) -> Ranker:
    return fit(_lessons[kind], HIDDEN[kind], epochs, seed)


def fit_all(
    questions: dict[str, list[Question]], epochs: int, seeds: list[int], jobs: int
) -> dict[str, Ranker]:
    """A ranker for every kind of question, with a member for every seed; `jobs` changes nothing else."""
    tasks = [(kind, epochs, seed) for kind in questions for seed in seeds]
    with ProcessPoolExecutor(jobs, initializer=_take_lessons, initargs=(questions,)) as workers:
        fitted = list(workers.map(_fit_member, *zip(*tasks, strict=True)))
    found: dict[str, Ranker] = {}
    for n, kind in enumerate(questions):
        found[kind] = join(fitted[n * len(seeds) : (n + 1) * len(seeds)])
    return found


def by_ranker(questions: Mapping[str, list[Question]]) -> dict[str, list[Question]]:
    """The questions that each ranker learns from."""
    quoted = INDEX["m quoted"]
    found = dict(questions)
    for kind, name in QUOTED.items():
        found[name] = [
            q._replace(weight=q.weight * (IN_PLACE if q.x[0, quoted] else ELSEWHERE)) for q in questions[kind]
        ]
    return found


def add_trees(
    rankers: Mapping[str, Ranker], questions: dict[str, list[Question]], jobs: int
) -> dict[str, Ranker]:
    """The rankers, with trees for those that profit from them."""
    tasks = [(name, SEED + n) for name in OF_TREES for n in range(FORESTS)]
    with ProcessPoolExecutor(jobs, initializer=_take_lessons, initargs=(questions,)) as workers:
        fitted = list(workers.map(_fit_forest, *zip(*tasks, strict=True)))
    forests = {name: average(fitted[k * FORESTS : (k + 1) * FORESTS]) for k, name in enumerate(OF_TREES)}
    return dict(rankers) | {name: mix(rankers[name], f, OF_TREES[name]) for name, f in forests.items()}


def _fit_forest(name: str, seed: int) -> Forest:
    asked = _lessons[name]
    right, weight = np.array([q.right for q in asked]), np.array([q.weight for q in asked])
    return fit_forest([q.x for q in asked], right, weight, seed)


def average(forests: list[Forest]) -> Forest:
    """One forest whose score is the mean of theirs: their trees side by side."""
    return Forest(
        np.concatenate([f.feature for f in forests], axis=1),
        np.concatenate([f.threshold for f in forests], axis=1),
        np.concatenate([f.out for f in forests], axis=1),
        np.concatenate([f.value for f in forests]) / np.float32(len(forests)),
    )


def mix(ranker: Ranker, forest: Forest, share: float) -> Ranker:
    """The scores of a network and of trees, weighed: `share` is that of the trees; of 1, no units stay."""
    if share == 1:
        ranker = replace(ranker, w1=ranker.w1[:, :0], b1=ranker.b1[:0], w2=ranker.w2[:0])
    weighed = replace(forest, value=(share * forest.value).astype(np.float32))
    return replace(ranker, w2=((1 - share) * ranker.w2).astype(np.float32), forest=weighed)


def join(members: list[Ranker]) -> Ranker:
    """One ranker whose score is the mean of its members' scores: their hidden units side by side."""
    first = members[0]
    return Ranker(
        first.mean,
        first.scale,
        np.concatenate([m.w1 for m in members], axis=1),
        np.concatenate([m.b1 for m in members]),
        np.concatenate([m.w2 for m in members]) / len(members),
    )


def _gradients(params, x, mask, right, keep, weight):
    w1, b1, w2 = params
    n, width, _ = x.shape
    flat = x.reshape(n * width, -1)
    z = flat @ w1 + b1
    h = np.maximum(z, 0) * keep
    s = (h @ w2).reshape(n, width) + mask
    p = np.exp(s - s.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    p[np.arange(n), right] -= 1
    d = (p * weight[:, None]).reshape(-1, 1) / n
    dh = d * w2 * keep * (z > 0)
    return flat.T @ dh, dh.sum(axis=0), (h * d).sum(axis=0)


def accuracy(ranker: Ranker, examples: list[Question]) -> float:
    """Share of examples whose right row scores best."""
    if not examples:
        return 0.0
    return sum(int(ranker.scores(x).argmax() == r) for x, r, _ in examples) / len(examples)


def train(
    root: Path,
    novels: Mapping[str, Path] | None = None,
    epochs: int = EPOCHS,
    jobs: int = 1,
    cache: Path | None = None,
    say=lambda text: None,
) -> dict[str, Ranker]:
    """All rankers from LitBank's training part, and from `novels` (Gutenberg id -> file) where given."""
    lessons = prepare_lessons(root, parts(root)["train"], novels, cache, jobs)
    say(f"{len(lessons)} documents")
    pool: dict[str, list[Question]] = {kind: [] for kind in KINDS}
    silver: dict[str, list[Question]] = {kind: [] for kind in KINDS}
    rankers: dict[str, Ranker] = {}
    for round_ in range(ROUNDS):
        if round_ == SILVER_FROM and novels:
            silver = collect_silver(novels, rankers, jobs, cache)
            say(f"novels: {', '.join(f'{len(silver[k])} {k}' for k in KINDS if silver[k])}")
        fresh = collect(lessons, rankers, round_ == 0, jobs)
        for kind in KINDS:
            pool[kind] += fresh[kind]
        members = MEMBERS if round_ == ROUNDS - 1 else 3
        lessons_by_kind = by_ranker({k: pool[k] + silver[k] for k in KINDS})
        rankers = fit_all(lessons_by_kind, epochs, [SEED + 10 * round_ + n for n in range(members)], jobs)
        if round_ == ROUNDS - 1:
            rankers = add_trees(rankers, lessons_by_kind, jobs)
        for kind in KINDS:
            say(
                f"round {round_ + 1} {kind}: {len(pool[kind])} examples, "
                f"{100 * accuracy(rankers[kind], fresh[kind]):.1f} % right on the new ones"
            )
    return rankers


def collect_silver(
    novels: Mapping[str, Path], rankers: dict[str, Ranker], jobs: int, cache: Path | None = None
) -> dict[str, list[Question]]:
    """What the novels teach, by ranker; in the order of the novels, whatever the number of processes."""
    found: dict[str, list[Question]] = {kind: [] for kind in KINDS}
    with ProcessPoolExecutor(jobs) as pool:
        for examples in pool.map(partial(silver_examples, rankers=rankers, cache=cache), novels.values()):
            for lesson, x, right in examples:
                if len(x) > 2:
                    ranker = "third" if lesson in ("blind", "quoted") else lesson
                    found[ranker].append(Question(np.ascontiguousarray(x), right, SILVER_WEIGHT[lesson]))
    return found


def differences(made: Mapping[str, Ranker], kept: Mapping[str, Ranker]) -> dict[str, float]:
    """The largest difference of a number, by ranker; infinite where one is missing or of another shape."""
    found = dict.fromkeys({*made, *kept}, float("inf"))
    for kind in made.keys() & kept.keys():
        ours, theirs = arrays_of(made[kind]), arrays_of(kept[kind])
        if {n: a.shape for n, a in ours.items()} == {n: a.shape for n, a in theirs.items()}:
            found[kind] = max(_furthest(a, theirs[name]) for name, a in ours.items())
    return found


def _furthest(a: np.ndarray, b: np.ndarray) -> float:
    """The largest difference of two arrays; what is infinite in both is equal."""
    different = a != b
    return float(np.abs(a[different].astype(float) - b[different]).max()) if different.any() else 0.0


def check(rankers: Mapping[str, Ranker], path: Path) -> int:
    """Say how far rankers are from those of a file; 0 if they are the same number by number, else 1."""
    import sys

    found = differences(rankers, load_rankers(path))
    for kind, most in sorted(found.items()):
        sys.stdout.write(f"{kind}: {'the same' if not most else f'differs by up to {most:g}'}\n")
    return int(any(found.values()))


def main() -> int:
    """Train, and write weights and their description or compare with those there are."""
    import sys

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("litbank", type=Path)
    parser.add_argument("--novels", type=Path, help="a folder with Gutenberg files pg<id>.txt, at any depth")
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument(
        "--cache", type=Path, help="a folder for the parses, which later runs take from there"
    )
    parser.add_argument("--out", type=Path, default=WEIGHTS)
    parser.add_argument(
        "--check",
        action="store_true",
        help="write nothing, compare with the weights in --out; exit code 1 if a number differs",
    )
    options = parser.parse_args()
    start_again_with("training.train")
    novels = novel_files(options.novels, options.litbank) if options.novels else {}
    rankers = train(
        options.litbank, novels, options.epochs, options.jobs, options.cache,
        lambda text: sys.stderr.write(text + "\n"),
    )  # fmt: skip
    if options.check:
        return check(rankers, options.out)
    save_rankers(options.out, rankers)
    about = {
        "trained_on": "LitBank coreference and quotations, training part, and the texts of novels in the "
        "public domain (docs/annotator.md)",
        "licence_of_data": "CC BY 4.0, Bamman, Lewke and Mansoor (2020), An Annotated Dataset of Coreference "
        "in English Literature, LREC; the novels are in the public domain in the US",
        "novels": [f"Project Gutenberg {key}" for key in novels],
        "script": "python -m training.train LITBANK --novels MIRROR",
        "seed": SEED, "rounds": ROUNDS, "members": MEMBERS, "epochs": options.epochs, "hidden": HIDDEN,
        "in_place": IN_PLACE, "elsewhere": ELSEWHERE, "rate": RATE,
        "decay": DECAY, "dropout": DROPOUT, "silver": SILVER_WEIGHT, "share of trees": OF_TREES,
        "trees": TREES, "forests": FORESTS, "leaves": LEAVES, "features": list(FEATURES),
        "parser": load_model()[1],
    }  # fmt: skip
    options.out.with_suffix(".json").write_text(json.dumps(about, indent=1, ensure_ascii=False) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
