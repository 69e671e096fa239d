"""What each rule of the embedded annotator is worth on novels with gold dialogue.

    python -m benchmarks.bench_rules --scorer pdnc_score.py --data PDNC [NOVEL ...]
        [--rule NAME ...] [--read] [--jobs 2] [--cache FOLDER]

Every rule is left out in turn: its function answers what it answers where it does not apply. The table says
in how many novels, and for how many quotes, the words around are then read otherwise (speaker, addressee,
stranger), and how many names mean somebody else. A rule that moves fewer than one quote in two thousand
cannot be worth 0.05 points of the speakers. With `--read` the novels are also read (twice, as always), and
the last columns are the change of speakers and of all mentions in quotes when the rule is left out, in
points: below zero, the rule helps. Rules of the reader move no words, so they need `--read`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

from benchmarks.bench_dialogue import cast_of, figures, load_scorer, novel_options, predictions, source_of
from bookcoref_data.annotation.embedded import aliases, linking
from bookcoref_data.annotation.embedded.backend import EmbeddedBackend
from bookcoref_data.annotation.embedded.tags import find_tags
from bookcoref_data.annotation.embedded.text import Text, make_text
from bookcoref_data.annotation.plan import default_plan
from bookcoref_data.annotation.steps import Job, run_steps
from bookcoref_data.workflows.annotate import annotate_book
from training.parses import parse_with_cache

_ROOM = "bookcoref_data.annotation.embedded"


class Rule(NamedTuple):
    """A function or a table of a module, and what stands for it when it is left out."""

    module: str
    name: str
    instead: Any

    @property
    def title(self) -> str:
        return f"{self.module}.{self.name}"


_OF_TAGS = ("tags", "saying")


def _always(value: Any) -> Any:
    """A function that answers the same to everything."""
    return lambda *_, **__: value


_NO = {"tags": "_goes_on _is_reported _owns _is_one_sentence", "markables": "_is_number_one"}
"""Module -> rules that say yes or no."""
_NOTHING = {"tags": "_tag_that_leads _tag_by_sentence_before _tag_by_noun"}
_NOBODY = {"saying": "_subject_named_before"}
_OTHERS = (
    Rule("tags", "_tag_of_another_verb", _always((-1, -1))),
    Rule("text", "tag_subjects", _always(set())),
    Rule("text", "with_letters", lambda book, speech, names: speech),
    Rule("markables", "_which", _always("")),
    Rule("antecedents", "Antecedents.spouse", _always(-1)),
    Rule("antecedents", "Antecedents._find_unmarried", _always(set())),
    Rule("kinship", "Kin.fits_title", _always(False)),
    Rule("antecedents", "fits_age", _always(True)),
    Rule("conversation", "Conversation.teller", _always(-1)),
    Rule("outsiders", "_called_by_title", _always([])),
    Rule("aliases", "_spelt_otherwise", _always({})),
    Rule("aliases", "_names_of_the_described", _always({})),
    Rule("backend", "name_the_missing", lambda book, known, parse: known),
    Rule("aliases", "_names_that_tell", _always({})),
)


def rules() -> list[Rule]:
    """All rules that can be left out; of a table of reasons each for itself."""
    found = [
        Rule(module, name, _always(value))
        for table, value in ((_NO, False), (_NOTHING, None), (_NOBODY, -1))
        for module, names in table.items() for name in names.split()
    ]  # fmt: skip
    for module, table in (("linking", linking._DOUBTS), ("aliases", aliases._VETOES)):
        name = "_DOUBTS" if module == "linking" else "_VETOES"
        found += [Rule(module, f"{name}: {why}", tuple(r for r in table if r[0] != why)) for why, _ in table]
    found += _OTHERS
    return sorted(found, key=lambda rule: rule.module not in _OF_TAGS)


@contextmanager
def left_out(rule: Rule) -> Iterator[None]:
    """The annotator without a rule."""
    *path, name = rule.name.partition(":")[0].split(".")
    place = import_module(f"{_ROOM}.{rule.module}")
    for part in path:
        place = getattr(place, part)
    with mock.patch.object(place, name, rule.instead):
        yield


_Around = dict[tuple[int, int], tuple[int, int, bool]]


def words_of(text: Text) -> tuple[_Around, set[tuple[int, int, int]]]:
    """What the words around each quote say, as tokens, and the names with those whom they mean."""
    heads = [*(m.head for m in text.markables), -1]
    tags = ((heads[t.subject], heads[t.object], t.stranger) for t in text.tags)
    names = {(m.start, m.end, m.character) for m in text.markables if m.kind == "name"}
    return dict(zip(text.speech.spans, tags, strict=True)), names


def worth(novel: str, chosen: list[str], read: bool, scorer_path: Path, data: Path, cache: Path | None,
          work: Path, cast: str) -> dict[str, tuple[int, int, int, Any]]:  # fmt: skip
    """Rule -> (quotes, those whose words are read otherwise, names that mean somebody else, counts)."""
    scorer = load_scorer(scorer_path)
    gold = scorer.load(data, novel, None)
    source, listed, plan = source_of(gold, work), cast_of(gold, cast), default_plan("embedded")
    parse = parse_with_cache(source.book, cache)
    found: dict[str, tuple[int, int, int, Any]] = {}
    text: Text | None = None
    before: Any = None
    for rule in [None, *(r for r in rules() if not chosen or r.title in chosen)]:
        counts = None
        with left_out(rule) if rule else nullcontext():
            backend = EmbeddedBackend(plan)
            backend.hold(source.book, parse)
            if read:
                done = annotate_book(source, listed, plan, backend=backend)
                counts = scorer.score(gold, predictions(scorer, gold.text, done)[0])
                text = backend._read[1].text if backend._read else None
            elif rule and text and rule.module in _OF_TAGS:
                # The text of the rule before has the same quotes and names.
                text = replace(text, tags=find_tags(source.book, parse, text.speech, text.markables))
            else:
                job = Job(source.book, listed)
                state = run_steps(backend, job, ("link", "filter"))
                text = make_text(source.book, backend.known(job).cast, parse, list(state.mentions))
        if text is None:
            raise AssertionError("the novel was not read")
        tags, names = words_of(text)
        if rule is None:
            before = tags, names
        moved = sum(tags.get(span) != before[0].get(span) for span in {*tags, *before[0]})
        found[rule.title if rule else ""] = len(tags), moved, len(names ^ before[1]), counts
    return found


def main() -> None:
    """Leave out each rule, print what moves."""
    parser = novel_options(__doc__)
    parser.add_argument("--rule", action="append", default=[], help="only these (module.name); default: all")
    parser.add_argument("--read", action="store_true", help="read the novels as well: some minutes a rule")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--cast", choices=("aliases", "names"), default="aliases")
    options = parser.parse_args()
    scorer = load_scorer(options.scorer)
    novels = options.novels or scorer.novels(options.data)
    work = partial(
        worth, chosen=options.rule, read=options.read, scorer_path=options.scorer, data=options.data,
        cache=options.cache, work=options.work, cast=options.cast,
    )  # fmt: skip
    with ProcessPoolExecutor(options.jobs) as pool:
        results = list(pool.map(work, novels))
    pooled: dict[str, dict[str, Counter[str]]] = {}
    for title in results[0]:
        pooled[title] = defaultdict(Counter)
        for result in results:
            for key, count in (result[title][3] or {}).items():
                pooled[title][key].update(count)
    base = figures(scorer.measures(pooled[""])) if options.read else {}
    print(f"{sum(r[''][0] for r in results):,} parts of quotes in {len(novels)} novels")
    print(f"{'left out':56}{'novels':>8}{'quotes':>8}{'names':>8}{'speakers':>10}{'all':>8}")
    for title in list(results[0])[1:]:
        rows = [r[title] for r in results]
        novels_moved = sum(r[1] + r[2] > 0 for r in rows)
        line = f"{title:56}{novels_moved:8}{sum(r[1] for r in rows):8}{sum(r[2] for r in rows):8}"
        if base:
            new = figures(scorer.measures(pooled[title]))
            line += f"{new['speakers'] - base['speakers']:+10.2f}{new['all'] - base['all']:+8.2f}"
        print(line)


if __name__ == "__main__":
    main()
