"""`evaluate` for Python: the scores of one system or several, and what explains them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import UsageError, plural
from ..files import path_of
from .books import PathLike, path_or_none, records_of
from .results import Result
from .tables import Table

if TYPE_CHECKING:
    from ..books import Record
    from ..evaluate import ClusterScores, Evaluation
    from ..evaluate.evaluation import Rules
    from ..evaluate.significance import Resampling
    from ..progress import Progress
    from ..report.tables import ReportTable

ALL = "all"
Systems = list[tuple[str, "Evaluation"]]


class Scores(Result):
    """The scores of one response, or of several side by side: pooled, per book, as tables.

    `tables` has everything that was asked for, by title; `plots` are the pictures written.
    """

    def __init__(self, systems: Systems, notes: Sequence[str] = ()) -> None:
        self.systems: dict[str, Evaluation] = dict(systems)
        self.notes: list[str] = list(notes)
        self.plots: list[Path] = []
        self.shown: list[ReportTable] = []
        self._values: list[dict[str, Any]] = []
        self._comparisons: list[dict[str, Any]] = []
        self._typed: dict[str, Any] | None = None

    @property
    def evaluation(self) -> Evaluation:
        """The scores of the only system. Raises UsageError when there are several: see `systems`."""
        if len(self.systems) > 1:
            raise UsageError("these are the scores of several systems", expected="scores.systems[name]",
                             found=", ".join(self.systems))  # fmt: skip
        return next(iter(self.systems.values()))

    @property
    def pooled(self) -> ClusterScores:
        """The pooled scores by metric, for instance `pooled.conll.f1`."""
        return self.evaluation.pooled

    @property
    def conll_f1(self) -> float:
        """Mean F1 of MUC, B3 and CEAF-e, from 0 to 1."""
        return self.evaluation.pooled.conll.f1

    @property
    def table(self) -> Table:
        """One row per metric: precision, recall and F1 in percent. Of several systems, a row for each."""
        from ..report.evaluation_tables import score_table, systems_table

        several = list(self.systems.items())
        made = systems_table(several) if len(several) > 1 else score_table(self.evaluation)
        return Table.of_rows(made.columns, made.rows)

    @property
    def books(self) -> Table:
        """One row per book."""
        from ..report.evaluation_tables import book_table

        made = book_table(self.evaluation)
        return Table.of_rows(made.columns, made.rows)

    @property
    def tables(self) -> dict[str, Table]:
        """Everything that was asked for, by title."""
        return {shown.title: Table.of_rows(shown.columns, shown.rows) for shown in self.shown}

    def to_dict(self) -> dict[str, Any]:
        """The same document as `evaluate --json`: one system at the top level, several as a list."""
        more: dict[str, Any] = {} if self._typed is None else {"typed": self._typed}
        if self.plots:
            more["plots"] = [str(path) for path in self.plots]
        if len(self.systems) > 1:
            named = zip(self.systems, self._values, strict=True)
            systems = [{"name": name, **value} for name, value in named]
            return {"systems": systems, "comparisons": self._comparisons, **more}
        if self._comparisons:
            more["resampling"] = self._comparisons[0]["resampling"]
            if "scores" in self._comparisons[0]:
                more["compare"] = self._comparisons[0]["scores"]
        return self._values[0] | more

    def _line(self) -> str:
        scores = ", ".join(f"{100 * e.pooled.conll.f1:.2f}" for e in self.systems.values())
        books = len(next(iter(self.systems.values())).books)
        systems = f" of {len(self.systems)} systems" if len(self.systems) > 1 else ""
        return f"CoNLL F1 {scores}{systems} over {plural(books, 'book')}"

    # -- what was asked for -------------------------------------------------------------------------

    def _explain(self, asked: _Asked) -> None:
        """The scores and explanations of all systems: one alone in full, several side by side."""
        from ..report import evaluation_tables as tables

        systems = list(self.systems.items())
        single = len(systems) == 1
        self.shown.append(tables.score_table(systems[0][1]) if single else tables.systems_table(systems))
        if asked.macro:
            of_one = tables.macro_table(systems[0][1])
            self.shown.append(of_one if single else tables.systems_table(systems, macro=True))
        for name, result in systems:
            explained, values = asked.explain(result)
            self.shown += explained if single else [replace(t, title=f"{name}: {t.title}") for t in explained]
            self._values.append(values)
            self.notes += [note if single else f"{name}: {note}" for note in result.notes]

    def _add_typed(self, source: str, disagreeing: str, top: int) -> None:
        """Scores by semantic class, all systems side by side."""
        from ..report.typed_tables import typed_tables
        from .typed_labels import typed_scores_of

        scores = typed_scores_of(list(self.systems.items()), source, disagreeing)
        self.shown += typed_tables(scores, top)
        self._typed = {"labels": source, "systems": [one.to_dict() for one in scores]}

    def _add_resampling(
        self, name: str, other: str | None, compared: Evaluation | None, found: Resampling
    ) -> None:
        from ..report.evaluation_tables import resampling_table

        self.shown.append(resampling_table(found, name, other or ""))
        self._comparisons.append({"response": name, "other": other, "resampling": found.to_dict()})
        if other is not None and compared is not None and other not in self.systems:
            self._comparisons[-1]["scores"] = compared.to_dict()
            self.notes += [f"--compare: {note}" for note in compared.notes]
        self.notes += [note for note in found.notes if note not in self.notes]

    def _add_plots(self, folder: Path) -> None:
        from ..report.evaluation_plots import save_plots

        for name, result in self.systems.items():
            where = folder if len(self.systems) == 1 else folder / name.replace("/", "_")
            self.plots += save_plots(result, where)


def evaluate(
    key: Any,
    response: Any,
    mode: str = "full",
    *,
    per_book: bool = False,
    macro: bool = False,
    characters: bool = False,
    breakdown: bool = False,
    errors: bool = False,
    agreement: bool = False,
    typed: PathLike | None = None,
    disagreeing: str = "keep",
    compare: Any = None,
    bootstrap: int = 0,
    unit: str = "window",
    few_units: bool = False,
    seed: int = 0,
    plots: PathLike | None = None,
    top: int = 10,
    singletons: str = "keep",
    duplicates: str = "released",
    missing: str = "error",
    window_size: int = 1500,
    split: str = "test",
    key_format: str | None = None,
    response_format: str | None = None,
    progress: Progress | None = None,
) -> Scores:
    """Score a response against a key. Both are a path, a book, or books; they are paired by doc_key.

    Args:
        response: for several systems, a list of paths, or a dict of responses by name.
        mode: "full", "split", "gold-window", "gold-window-blocks" or "gold-window-released", see
            docs/evaluation.md.
        per_book, macro, characters, breakdown, errors, agreement: add these tables, see `Scores.tables`.
        typed: scores by semantic class: a file of typed spans, "spacy", "nouns" or "hub:MODEL".
        disagreeing: with `typed`, mentions whose own label differs from their cluster's: "keep", "override".
        compare: another response to test for a significant difference, or "all" for every pair.
        bootstrap: samples for confidence intervals and tests (0: none; 1000 with `compare`).
        unit: what is resampled: "window", "chapter" or "book"; `few_units` allows fewer than 10 of them.
        seed: seed of the resampling.
        plots: a folder for pictures (extra `plots`).
        top: rows of the longer tables.
        singletons: "keep" or "drop" clusters of one mention.
        duplicates: "released" (as BookCoref's code) or "first" (as the CoNLL scorer).
        missing: "error", "skip" or "empty", for key books that the response lacks.
        window_size: tokens per window in the modes with windows.
        split: the split of a data set folder that is read.
        key_format, response_format: formats, where the names of the files do not say.

    Raises:
        UsageError, DataError: the two do not fit; the message says why.
    """
    from ..evaluate.evaluation import Rules

    rules = Rules(mode, singletons, duplicates, missing, window_size)
    reader = _SourceReader("split" if mode == "split" else "full", split)
    gold = reader.records(key, key_format)
    scorer = _Scorer(gold, rules, reader, response_format)
    responses = _responses(response)
    scores = Scores([(name, scorer.score(one)) for name, one in responses], _remapped(gold))
    scores._explain(_Asked(per_book, macro, characters, breakdown, errors, agreement, top))
    if typed is not None:
        scores._add_typed(str(typed), disagreeing, top)
    resampler = _Resampler(bootstrap, seed, unit, few_units, progress)
    for name, one, other, compared in _pairs(scores, responses, compare, scorer):
        scores._add_resampling(name, other, compared, resampler.run(one, compared))
    if compare is None and bootstrap:
        for name, result in scores.systems.items():
            scores._add_resampling(name, None, None, resampler.run(result, None))
    if (folder := path_or_none(plots)) is not None:
        scores._add_plots(folder)
    return scores


@dataclass(frozen=True, slots=True)
class _SourceReader:
    """Reads the documents of a source: a file, one split of a data set folder, or books in memory."""

    config: str
    split: str

    def records(self, source: Any, format: str | None) -> list[Record]:
        from ..formats import read_documents
        from ..formats.detect import detect
        from ..formats.folder import read_folder

        if not isinstance(source, str | os.PathLike):
            return records_of(source)
        path = path_of(source)
        if (format or detect(path)) == "folder":
            return read_folder(path, self.config, [self.split])
        return read_documents(path, format)


@dataclass(frozen=True, slots=True)
class _Scorer:
    """Scores responses against one key under one set of rules."""

    gold: list[Record]
    rules: Rules
    reader: _SourceReader
    format: str | None

    def score(self, source: Any) -> Evaluation:
        from ..evaluate.evaluation import score_prepared
        from ..evaluate.modes import prepare

        rules, system = self.rules, self.reader.records(source, self.format)
        ready = prepare(self.gold, system, rules.mode, missing=rules.missing, window_size=rules.window_size)
        return score_prepared(ready, rules)


@dataclass(frozen=True, slots=True)
class _Resampler:
    """The settings of intervals and tests."""

    samples: int
    seed: int
    unit: str
    few_units: bool
    progress: Progress | None

    def run(self, first: Evaluation, second: Evaluation | None) -> Resampling:
        from ..evaluate.significance import resample
        from ..progress import Silent

        return resample(
            first, second, samples=self.samples or 1000, seed=self.seed, unit=self.unit,
            few_units=self.few_units, progress=self.progress or Silent(),
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Asked:
    """Which parts of the explanation were asked for."""

    per_book: bool
    macro: bool
    characters: bool
    breakdown: bool
    errors: bool
    agreement: bool
    top: int

    def explain(self, result: Evaluation) -> tuple[list[ReportTable], dict[str, Any]]:
        """Tables and JSON of one system, the scores themselves apart."""
        from ..report import evaluation_tables as tables

        shown: list[ReportTable] = []
        values: dict[str, Any] = result.to_dict()
        if self.per_book:
            shown.append(tables.book_table(result))
        if self.agreement:
            from ..evaluate.agreement import agreement

            agreed = agreement(result)
            shown.append(tables.agreement_table(agreed))
            values["agreement"] = agreed.to_dict()
        if self.characters:
            from ..evaluate.per_character import character_scores

            found = character_scores(result)
            shown.append(tables.character_table(found, self.top))
            values["characters"] = [score.to_dict() for score in found]
        if self.breakdown:
            from ..evaluate.breakdowns import breakdown

            dimensions = breakdown(result)
            shown += tables.breakdown_tables(dimensions)
            values["breakdown"] = [dimension.to_dict() for dimension in dimensions]
        if self.errors:
            from ..evaluate.error_analysis import analyse_errors

            analysis = analyse_errors(result, most=self.top)
            shown += tables.error_tables(analysis)
            values["errors"] = analysis.to_dict()
        return shown, values


def _responses(response: Any) -> list[tuple[str, Any]]:
    """The systems by name: one, or several in a dict or a list of paths."""
    if isinstance(response, Mapping):
        return list(response.items())
    several = isinstance(response, Sequence) and not isinstance(response, str)
    if several and response and all(isinstance(one, str | os.PathLike) for one in response):
        paths = [Path(one) for one in response]
        return list(zip(_names(paths), paths, strict=True))
    if isinstance(response, str | os.PathLike):
        return [(_names([Path(response)])[0], Path(response))]
    return [("response", response)]


def _names(paths: Sequence[Path]) -> list[str]:
    """Short names for files: the name without suffixes where that tells them apart, else the path."""
    short = [path.name.split(".")[0] or path.name for path in paths]
    return [name if short.count(name) == 1 else str(path) for name, path in zip(short, paths, strict=True)]


def _remapped(gold: Sequence[Record]) -> list[str]:
    """A note where the key was moved to another edition: it is not the published one."""
    moved = [record.doc_key for record in gold if record.extra.get("remapped")]
    if not moved:
        return []
    return [
        f"the key of {', '.join(moved[:8])} was moved to another edition of the text: "
        "its scores cannot be compared with published ones"
    ]


def _pairs(
    scores: Scores, responses: Sequence[tuple[str, Any]], compare: Any, scorer: _Scorer
) -> Iterator[tuple[str, Evaluation, str, Evaluation]]:
    """The pairs that `compare` asks for: name and scores of each side."""
    if compare is None:
        return
    systems = list(scores.systems.items())
    if isinstance(compare, str | os.PathLike):
        compare = Path(compare)
        if str(compare) == ALL and not compare.exists():
            if len(systems) < 2:
                raise UsageError("--compare all needs two responses or more", found=f"{len(systems)}")
            for (first, a), (second, b) in combinations(systems, 2):
                yield first, a, second, b
            return
    sources = [source for _, source in responses]
    among = next((i for i, source in enumerate(sources) if source is compare or _same(source, compare)), None)
    if among is not None and len(systems) > 1:
        name, other = systems[among]
    else:
        name, other = _other_name(sources, compare), scorer.score(compare)
    for i, (first, a) in enumerate(systems):
        if i != among or len(systems) == 1:
            yield first, a, name, other


def _same(one: Any, other: Any) -> bool:
    return isinstance(one, Path) and isinstance(other, Path) and one == other


def _other_name(sources: Sequence[Any], compare: Any) -> str:
    """What a response is called that is compared with, but is none of those scored."""
    if not isinstance(compare, Path):
        return "other"
    return _names([*(source for source in sources if isinstance(source, Path)), compare])[-1]
