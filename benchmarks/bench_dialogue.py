"""Speakers, pronouns and addressees inside quotes in whole novels, one version against another.

    python benchmarks/bench_dialogue.py --scorer pdnc_score.py --data PDNC [NOVEL ...]
        [--cast aliases|names|short|auto] [--no-paragraphs] [--jobs 2] [--weights FILE] [--cache FOLDER]
        [--out FILE.json] [--against OLD.json] [--errors FILE] [--reliability] [--fit [--litbank LITBANK]]

The gold is the Project Dialogism Novel Corpus, which is not part of this project: give your own copy. The
scorer is the given file, loaded by path; its help text defines every number. `--cast aliases` lists every
character with all names, `names` the main names only, `short` only the major and intermediate characters,
scored on these. `auto` takes the cast that is proposed from the book; an entry counts as the character of the
list whom its names mean (`bench_cast.who_is`), and whoever is missed or mixed with others is an error.
`--no-paragraphs` takes the line ends away, as in data sets of sentences: paragraphs are guessed then.
`--cache` keeps the parses of the novels between runs. `--out` writes the measures, `--against` compares them
with those of an earlier run: the difference of every novel, and how many novels went up and down.
`--reliability` compares the scores of links and speakers with the share that is right, in ten bins, and
prints the expected calibration error (ECE): the mean distance between the two, weighted by the number of
links in each bin. `--fit` takes the scores of the rankers as they are, prints the scales that fit them best,
and what they come to where each novel is left out in turn: the calibration error, and of what has 0.9 or
more the share that is right and the share that is kept. The corpus marks nobody outside quotes, but "he" and
"the old man" in a tag mean the speaker; from these and, with `--litbank`, from the narration of LitBank's
development part come the scales of the narration.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import mock

import numpy as np

from bookcoref_data.annotation.cast import Cast, parse_cast
from bookcoref_data.annotation.embedded.backend import RULE_NAMES, Reading
from bookcoref_data.annotation.embedded.calibration import SCALES
from bookcoref_data.annotation.embedded.network import Ranker, load_rankers
from bookcoref_data.annotation.propose import propose_cast
from bookcoref_data.annotation.state import Quote
from bookcoref_data.api.annotating import plan_for
from bookcoref_data.books import Book
from bookcoref_data.workflows.annotate import Annotated, Source, annotate_book, read_sources
from training.calibrate import (
    BINS,
    LEAST,
    bin_of,
    calibration_error,
    excerpts,
    fit_scale,
    least_error,
    narration,
    scaled,
)
from training.parses import Remembering, parse_with_cache

MAIN_CATEGORIES = {"major", "intermediate"}
MEASURES = (
    "speakers",
    "Explicit",
    "Anaphoric",
    "Implicit",
    "addressee",
    "he/she",
    "you",
    "nominal",
    "name",
    "I",
    "all",
)
FOLLOWS = frozenset(["same paragraph", "speech goes on"])
"""Rules that give a quote the speaker of another."""
_NEAR = 12
"""Quotes on each side among which that other is looked for."""
_NARRATED = "narration: "
"""How the kinds of links outside quotes begin."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A link or a speaker: its kind, its score, and whether it is right."""

    kind: str
    score: float
    right: bool
    rule: str


@dataclass(frozen=True, slots=True)
class Result:
    """What one novel came to: the scorer's counts, the judged links, CPU seconds and tokens."""

    novel: str
    counts: dict[str, Counter[str]]
    judged: list[Judged]
    errors: list[dict[str, Any]]
    seconds: float
    tokens: int


def load_scorer(path: Path) -> ModuleType:
    """The scorer as a module."""
    spec = importlib.util.spec_from_file_location("dialogue_scorer", path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules["dialogue_scorer"] = module
    spec.loader.exec_module(module)
    return module


def novel_options(description: str | None) -> argparse.ArgumentParser:
    """The options of every script that reads the novels of the corpus."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("novels", nargs="*", help="default: all in the folder")
    parser.add_argument("--scorer", type=Path, required=True)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--cache", type=Path)
    parser.add_argument(
        "--work", type=Path, default=Path("/tmp/bench_dialogue"), help="for the texts (%(default)s)"
    )
    return parser


def cast_of(gold: Any, cast: str) -> Cast:
    """The characters to score, with all names or with their main names only."""
    lines = []
    for name in dict.fromkeys(n for n in gold.names if n in gold.scored):
        aliases = [] if cast == "names" else sorted(gold.aliases[name] - {name, ""})
        lines.append("; ".join([name, *aliases]))
    return parse_cast("\n".join(lines))


def source_of(gold: Any, work: Path) -> Source:
    """The text of a novel, read as a user's file is."""
    work.mkdir(parents=True, exist_ok=True)
    text = work / f"{gold.novel}.txt"
    text.write_text(gold.text, encoding="utf-8", newline="")
    (source,) = read_sources(text)
    return source


def without_line_ends(source: Source) -> Source:
    """A text as data sets have it: sentences without paragraphs."""
    sentences = ([token for token in words if token.strip()] for words in source.book.sentences)
    return Source(Book.make(source.book.doc_key, list(filter(None, sentences))))


def annotate_novel(
    novel: str,
    scorer_path: Path,
    data: Path,
    cast: str,
    cache: Path | None,
    work: Path,
    rankers: Mapping[str, Ranker] | None = None,
    raw: bool = False,
    recipe: Path | None = None,
    no_paragraphs: bool = False,
) -> Result:
    """Annotate and score one novel, with the rankers of the package unless others are given; `raw` leaves the
    scores as the rankers give them. `recipe` takes the place of the one that ships."""
    scorer = load_scorer(scorer_path)
    gold = scorer.load(data, novel, MAIN_CATEGORIES if cast == "short" else None)
    source = source_of(gold, work)
    source = without_line_ends(source) if no_paragraphs else source
    plan = plan_for(recipe, "embedded", None, "")
    backend = Remembering(plan, rankers)
    parse = parse_with_cache(source.book, cache)
    backend.hold(source.book, parse)
    start = time.process_time()
    auto = cast == "auto"
    with mock.patch.dict(SCALES, clear=raw):
        given = propose_cast(source.book, parse=parse).cast if auto else cast_of(gold, cast)
        done = annotate_book(source, given, plan, backend=backend)
    seconds = time.process_time() - start
    if auto:
        done = with_names_of(gold, done, given)
    predicted, links, quotes = predictions(scorer, gold.text, done)
    errors: list[dict[str, Any]] = []
    counts = scorer.score(gold, predicted, errors)
    return Result(
        novel,
        dict(counts),
        judge(scorer, gold, predicted, links, quotes) + judge_tags(scorer, gold, done, backend.last),
        errors,
        seconds,
        len(source.book.tokens),
    )


def with_names_of(gold: Any, done: Annotated, proposed: Cast) -> Annotated:
    """An annotation with a proposed cast, its characters under the names of the list."""
    from benchmarks.bench_cast import owners_of, who_is

    owners = owners_of(gold)
    names = {entry.name: next(iter(who_is(entry, owners)), entry.name) for entry in proposed.entries}
    renamed = tuple(names[name] for name in done.state.names)
    return replace(done, state=replace(done.state, names=renamed))


def predictions(
    scorer: ModuleType, text: str, done: Annotated
) -> tuple[Any, dict[Any, tuple[float, str]], list[tuple[float, str]]]:
    """The scorer's form of an annotation, and score and rule of every mention and of every quote."""
    at, lost = scorer.offsets(text, list(done.book.tokens))
    names = done.state.names
    mentions: dict[tuple[int, int], str] = {}
    links: dict[tuple[int, int], tuple[float, str]] = {}
    for m in sorted(done.state.mentions, key=lambda m: (m.character, m.start)):
        span = at[m.start][0], at[m.end][1]
        if span not in mentions:
            mentions[span], links[span] = names[m.character].strip(), (m.score, m.rule)
    quotes = [
        (
            at[q.start][0], at[q.end][1], names[q.speaker] if q.speaker >= 0 else None,
            [names[e] for e in q.addressees],
        )
        for q in done.state.quotes
    ]  # fmt: skip
    return scorer.Predicted(mentions, quotes, lost), links, scores_of(done.state.quotes)


def scores_of(quotes: Sequence[Quote]) -> list[tuple[float, str]]:
    """Score and rule of every quote; where it takes its speaker from another, the rule of the nearest quote
    that has this speaker."""
    found = []
    for n, q in enumerate(quotes):
        near = sorted(range(max(n - _NEAR, 0), min(n + _NEAR + 1, len(quotes))), key=lambda k: abs(k - n))
        same = (quotes[k].rule for k in near if quotes[k].speaker == q.speaker)
        found.append((q.score, next((rule for rule in same if rule not in FOLLOWS), q.rule)))
    return found


def judge(
    scorer: ModuleType,
    gold: Any,
    predicted: Any,
    links: dict[Any, tuple[float, str]],
    quotes: list[tuple[float, str]],
) -> list[Judged]:
    """Every link on a span of the gold, and every quote with a speaker, right or wrong."""
    found = []
    for group in gold.groups:
        span = next((s for s in group if s in predicted.mentions), None)
        if span is not None and scorer.kind_of(gold.text[span[0] : span[1]]) in scorer.KINDS:
            right = predicted.mentions[span] == gold.mentions[group[0]]
            score, rule = links[span]
            found.append(Judged(gold.kind(group[0]), score, right, rule))
    by_start = quotes_by_start(gold)
    for (a, _, speaker, _), (score, rule) in zip(predicted.quotes, quotes, strict=True):
        if a in by_start and speaker is not None:
            quote = by_start[a]
            found.append(Judged(f"speaker {quote.kind}", score, speaker == quote.speaker, rule))
    return found


def quotes_by_start(gold: Any) -> dict[int, Any]:
    """The quotes of the gold by the place of their first letter, and by that of the mark before it."""
    starts = [(s[0], q) for q in gold.quotes for s in q.spans]
    return {a - 1: q for a, q in starts} | dict(starts)


def judge_tags(scorer: ModuleType, gold: Any, done: Annotated, reading: Reading) -> list[Judged]:
    """Every pronoun and noun phrase of a tag that a ranker decided: right if it means the speaker."""
    at, _ = scorer.offsets(gold.text, list(done.book.tokens))
    by_start, text = quotes_by_start(gold), reading.text
    links = {(m.start, m.end): m for m in done.state.mentions if m.rule in RULE_NAMES.values()}
    found = []
    for (a, _), tag in zip(text.speech.spans, text.tags, strict=True):
        subject = text.markables[tag.subject] if tag.subject >= 0 else None
        if at[a][0] not in by_start or subject is None or text.speech.quote[subject.at] >= 0:
            continue
        if link := links.get((subject.start, subject.end)):
            right = done.state.names[link.character].strip() == by_start[at[a][0]].speaker
            found.append(Judged(f"{_NARRATED}{link.kind} in a tag", link.score, right, link.rule))
    return found


def figures(measures: dict[str, Any]) -> dict[str, float]:
    """The figures that are compared, in percent, from the scorer's measures of one novel or of all."""
    speakers = measures.get("speakers", {})
    found = {"speakers" if key == "all" else key: part["right"] for key, part in speakers.items()}
    found |= {kind: measures[kind]["f1"] for kind in ("he/she", "you", "nominal", "name", "I", "all")}
    for key in ("addressee", "stray", "stray quotes"):
        if key in measures:
            found[key] = measures[key]["share"]
    return found


def print_table(rows: dict[str, dict[str, float]], signed: bool = False) -> None:
    width = max(map(len, rows))
    columns = [*MEASURES, *(k for k in ("stray", "stray quotes") if any(k in row for row in rows.values()))]
    print(f"{'':{width}}" + "".join(f"{name:>11}" for name in columns))
    form = ">+11.1f" if signed else ">11.1f"
    for name, row in rows.items():
        print(f"{name:{width}}" + "".join(f"{row[c]:{form}}" if c in row else f"{'-':>11}" for c in columns))


def compare(new: dict[str, dict[str, float]], old: dict[str, dict[str, float]]) -> None:
    """Print new minus old for every novel in both, and how many novels went up and down by 0.05 or more."""
    both = [name for name in new if name in old]
    change = {
        name: {key: new[name][key] - old[name][key] for key in new[name] if key in old[name]} for name in both
    }
    print("\nchange against the earlier run")
    print_table(change, signed=True)
    columns = [key for key in MEASURES if any(key in row for row in change.values())]
    novels = [row for name, row in change.items() if name != "POOLED"]
    for label, sign in (("up", 1), ("down", -1)):
        counts = (f"{key} {sum(sign * row.get(key, 0.0) >= 0.05 for row in novels)}" for key in columns)
        print(f"novels {label}: " + ", ".join(counts))


def with_totals(judged: list[Judged]) -> dict[str, list[Judged]]:
    """What was judged by kind, and all mentions and all speakers together."""
    kinds: dict[str, list[Judged]] = defaultdict(list)
    for j in judged:
        kinds[j.kind].append(j)
        if j.kind.startswith(_NARRATED):
            kinds["all in the narration"].append(j)
        else:
            kinds["speakers" if j.kind.startswith("speaker") else "all mentions"].append(j)
    return kinds


def print_reliability(judged: list[Judged]) -> None:
    """Mean score and share right, by bin of the score; the expected calibration error of each kind."""
    print("\nreliability: share right (number) by bin of the score; expected calibration error in points")
    print(f"{'':18}" + "".join(f"{b / BINS:>12.1f}-" for b in range(BINS)) + f"{'ECE':>8}")
    for kind, members in with_totals(judged).items():
        score = np.array([j.score for j in members])
        right = np.array([j.right for j in members])
        bins = bin_of(score)
        cells = [
            f"{100 * right[bins == b].mean():.0f} ({(bins == b).sum()})" if (bins == b).any() else "-"
            for b in range(BINS)
        ]
        error = calibration_error(score, right, BINS)
        print(f"{kind:18}" + "".join(f"{cell:>13}" for cell in cells) + f"{100 * error:>8.1f}")


def scale_of(j: Judged) -> str:
    """The scale of a judged score, as the backend chooses it."""
    if j.kind == "nominal" and j.rule == RULE_NAMES["second"]:
        return "called in a quote"
    if j.kind.startswith(_NARRATED):
        return next(kind for kind, rule in RULE_NAMES.items() if j.rule == rule)
    return next((f"{kind} in a quote" for kind, rule in RULE_NAMES.items() if j.rule == rule), j.rule)


def print_fit(results: list[Result]) -> None:
    """Slope and shift of the logit that fit raw scores best, for `annotation/embedded/calibration.py`, and
    what such scales come to on novels that are left out of the fit in turn."""
    by_scale: dict[str, dict[str, list[Judged]]] = defaultdict(lambda: defaultdict(list))
    for result in results:
        for j in result.judged:
            by_scale[scale_of(j)][result.novel].append(j)
    print("\nscales of the raw scores, each novel weighs the same (narration: each link): slope, shift")
    said: list[Judged] = [j for name, novels in by_scale.items() if name not in SCALES for j in _all(novels)]
    for name, novels in by_scale.items():
        if name not in SCALES:
            continue
        slope, shift = _fit(novels)
        print(f'    "{name}": ({slope:.3f}, {shift:.3f}),  # {len(_all(novels))}')
        for novel, members in novels.items():
            scale = _fit({n: js for n, js in novels.items() if n != novel})
            scores = scaled([j.score for j in members], *scale)
            said += [replace(j, score=float(p)) for j, p in zip(members, scores, strict=True)]
    print(f"\nnovels left out in turn{'':18}error  by chance{'':6}right and kept of what has {LEAST} or more")
    for kind, members in with_totals(said).items():
        score, right = np.array([j.score for j in members]), np.array([j.right for j in members])
        sure = score >= LEAST
        error, by_chance = calibration_error(score, right, BINS), least_error(score, BINS)
        print(
            f"{kind:32}{100 * error:14.1f}{100 * by_chance:11.1f}"
            + (f"{100 * right[sure].mean():12.1f}{100 * sure.mean():10.1f}" if sure.any() else f"{'-':>12}")
        )


def _all(novels: Mapping[str, list[Judged]]) -> list[Judged]:
    return [j for members in novels.values() for j in members]


def _fit(novels: Mapping[str, list[Judged]]) -> tuple[float, float]:
    """The scale of the judged scores of some novels, each of which weighs the same. Of the narration each
    link does: beside whole novels there are excerpts with a few."""
    members = _all(novels)
    share = len(members) / max(len(novels), 1)
    narrated = any(j.kind.startswith(_NARRATED) for j in members)
    weight = [1.0 if narrated else share / len(js) for js in novels.values() for _ in js]
    return fit_scale([j.score for j in members], [j.right for j in members], weight)


def excerpts_of(litbank: Path, rankers: Mapping[str, Ranker] | None) -> list[Result]:
    """The links in the narration of LitBank's development part, with raw scores, by document."""
    judged = defaultdict(list)
    for text, kind, score, right in narration(excerpts(litbank), True, rankers):
        judged[text].append(Judged(f"{_NARRATED}{kind} in LitBank", score, right, RULE_NAMES[kind]))
    return [Result(text, {}, links, [], 0.0, 0) for text, links in judged.items()]


def print_rules(judged: list[Judged]) -> None:
    """How often the speaker of a part of a quotation is right, by the rule that found it."""
    rules = defaultdict(list)
    for j in judged:
        if j.kind.startswith("speaker"):
            rules[j.rule].append(j.right)
    print("\nspeakers by rule: share right (parts of quotations)")
    for rule, right in sorted(rules.items(), key=lambda item: -len(item[1])):
        print(f"{rule:24}{100 * np.mean(right):6.1f} ({len(right)})")


def main() -> None:
    """Annotate, score, print, compare."""
    parser = novel_options(__doc__)
    parser.add_argument("--cast", choices=("aliases", "names", "short", "auto"), default="aliases")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--weights", type=Path, help="rankers in place of those of the package")
    parser.add_argument("--recipe", type=Path, help="in place of the one that ships")
    parser.add_argument("--no-paragraphs", action="store_true", help="without the line ends of the texts")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--against", type=Path)
    parser.add_argument("--errors", type=Path)
    parser.add_argument("--fit", action="store_true", help="fit the scales of the scores on these novels")
    parser.add_argument(
        "--litbank", type=Path, help="for --fit: LitBank, whose development part is read, too"
    )
    parser.add_argument("--reliability", action="store_true")
    options = parser.parse_args()
    scorer = load_scorer(options.scorer)
    novels = options.novels or scorer.novels(options.data)
    rankers = load_rankers(options.weights) if options.weights else None
    work = partial(
        annotate_novel, scorer_path=options.scorer, data=options.data, cast=options.cast, cache=options.cache,
        work=options.work, rankers=rankers, raw=options.fit, recipe=options.recipe,
        no_paragraphs=options.no_paragraphs,
    )  # fmt: skip
    pooled: dict[str, Counter[str]] = defaultdict(Counter)
    rows: dict[str, dict[str, float]] = {}
    results = []
    with ProcessPoolExecutor(options.jobs) as pool:
        for result in pool.map(work, novels):
            results.append(result)
            for key, count in result.counts.items():
                pooled[key].update(count)
            rows[result.novel] = figures(scorer.measures(result.counts))
    rows["POOLED"] = figures(scorer.measures(pooled))
    print_table(rows)
    seconds, tokens = sum(r.seconds for r in results), sum(r.tokens for r in results)
    print(f"\n{tokens:,} tokens, {seconds:.0f} CPU seconds after the parse")
    if options.reliability:
        print_reliability([j for r in results for j in r.judged])
        print_rules([j for r in results for j in r.judged])
    if options.fit:
        print_fit(results + (excerpts_of(options.litbank, rankers) if options.litbank else []))
    if options.out:
        options.out.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    if options.errors:
        lines = (json.dumps(e, ensure_ascii=False) + "\n" for r in results for e in r.errors)
        options.errors.write_text("".join(lines), encoding="utf-8")
    if options.against:
        compare(rows, json.loads(options.against.read_text(encoding="utf-8")))


if __name__ == "__main__":
    main()
