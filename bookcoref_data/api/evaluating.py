"""`evaluate` for Python: the scores of one system or several, and what explains them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypedDict

from ..errors import UsageError, plural
from ..files import path_of
from ..formats import read_documents, write_documents
from ..formats.documents import detect
from ..formats.folder import read_folder
from ..outputs import files_of
from ..progress import Progress, Silent
from ..reports import evaluation_plots as pictures
from ..reports import evaluation_tables as tables
from ..scoring import agreement, breakdowns, error_analysis, evaluation, labels, modes, significance
from ..shapes import plain
from ..workflows import typed_labels
from . import options as o
from .books import records_of
from .options import Meaning, PathLike, grouped, path_or_none, renamed
from .tables import Result, Table

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ..books import Record
    from ..scoring import ClusterScores, Evaluation

ALL = "all"
EXPLAINED = ("per_book", "agreement", "characters", "breakdown", "errors", "macro")
Systems = list[tuple[str, "Evaluation"]]
SystemPair = tuple[str, "Evaluation", str, "Evaluation"]
"""Name and scores of a system and of the one that it is compared with."""


class EvaluateOptions(TypedDict, total=False):
    """What `evaluate` shows beside the pooled scores, what it tests, and the rules by which it counts.

    Args:
        per_book: F1 of every metric by book.
        macro: the mean over books beside the pooled scores.
        characters: P, R, F1 of every character.
        breakdown: by mention type, frequency, distance to previous mention and to a name, position.
        errors: missed, spurious, conflated, divided: counts, costs, worst cases with snippets.
        agreement: treat key and response as two annotators and report their agreement.
        typed: scores by semantic class, with labels of: a file of typed spans, "spacy" (its NER), "four"
            (the same in four classes, without numbers and dates), "nouns" (a small list of our own) or
            hub:MODEL (a CNER model, extra `gpu`).
        classes: put the labels of OntoNotes, LitBank or GUM into other classes: the 29 of CNER, or four.
        disagreeing: mentions whose own label differs from their cluster's.
        suggest: with `typed`: a file for the passages that are richest in what the first response does badly,
            with its annotation, to be corrected.
        passages: how many, of about 2,000 tokens.
        compare: test whether the difference from another system is significant: its file (one of the
            responses or another), or "all": every pair of the responses.
        bootstrap: samples for confidence intervals and tests (0: none; 10000 with `compare`).
        unit: what is exchanged; auto lets the data choose between blocks and characters.
        block_size: tokens of a block.
        few_units: resample even with fewer than 10 units.
        seed: seed of the resampling.
        singletons: clusters of one mention, on both sides: keep (as BookCoref) or drop.
        duplicates: spans in several clusters: released (as BookCoref's code) or first (as CoNLL's).
        missing: key documents that the response lacks.
        window_size: tokens per window.
    """

    per_book: o.Switch
    macro: o.Switch
    characters: o.Switch
    breakdown: o.Switch
    errors: o.Switch
    agreement: o.Switch
    typed: PathLike | None
    classes: Annotated[Literal["own", "cner", "four"], Meaning(default="own")]
    disagreeing: Annotated[Literal["keep", "override"], Meaning(default="keep")]
    suggest: PathLike | None
    passages: Annotated[int, Meaning(least=1, default=3)]
    compare: Any
    bootstrap: Annotated[int, Meaning(least=0, default=0)]
    unit: Annotated[Literal["auto", "block", "character", "chapter", "book"], Meaning(default="auto")]
    block_size: Annotated[int, Meaning(least=1, default=3500)]
    few_units: o.Switch
    seed: Annotated[int, Meaning(default=0)]
    singletons: Annotated[Literal["keep", "drop"], Meaning(default="keep")]
    duplicates: Annotated[Literal["released", "first"], Meaning(default="released")]
    missing: Annotated[Literal["error", "skip", "empty"], Meaning(default="error")]
    window_size: Annotated[int, Meaning(least=1, default=1500)]


class Scores(Result):
    """The scores of one response, or of several side by side: pooled, per book, as tables.

    `tables` has everything that was asked for, by title; `plots` are the pictures written.
    """

    def __init__(self, systems: Systems) -> None:
        self.systems: dict[str, Evaluation] = dict(systems)
        self.notes: list[str] = []
        self.plots: list[Path] = []
        self.shown: list[tables.ReportTable] = []
        self._values: list[dict[str, Any]] = []
        self._comparisons: list[dict[str, Any]] = []
        self._typed: dict[str, Any] | None = None
        self._groups: dict[str, list[list[str]]] = {}
        self._intervals: dict[str, significance.Interval] = {}

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
        several = list(self.systems.items())
        made = tables.systems_table(several) if len(several) > 1 else tables.score_table(self.evaluation)
        return Table.of_rows(made.columns, made.rows)

    @property
    def books(self) -> Table:
        """One row per book."""
        made = tables.book_table(self.evaluation)
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
            more |= {"groups": self._groups} if self._groups else {}
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

    def _explain(self, asked: set[str], most: int) -> None:
        """The scores and explanations of all systems: one alone in full, several side by side."""
        kinds: tuple[tuple[str, Callable[..., Any], Callable[..., list[tables.ReportTable]]], ...] = (
            ("agreement", agreement.agreement, lambda found: [tables.agreement_table(found)]),
            ("characters", labels.character_scores, lambda found: [tables.character_table(found, most)]),
            ("breakdown", breakdowns.breakdown, tables.breakdown_tables),
            ("errors", partial(error_analysis.analyse_errors, most=most), tables.error_tables),
        )
        systems = list(self.systems.items())
        single = len(systems) == 1
        self.shown.append(tables.score_table(systems[0][1]) if single else tables.systems_table(systems))
        if "macro" in asked:
            of_one = tables.score_table(systems[0][1], macro=True)
            self.shown.append(of_one if single else tables.systems_table(systems, macro=True))
        for name, result in systems:
            shown = [tables.book_table(result)] if "per_book" in asked else []
            values: dict[str, Any] = result.to_dict()
            for kind, explain, tell in kinds:
                if kind in asked:
                    shown += tell(found := explain(result))
                    values[kind] = plain(found)
            self.shown += shown if single else [replace(t, title=f"{name}: {t.title}") for t in shown]
            self._values.append(values)
            self.notes += [note if single else f"{name}: {note}" for note in result.notes]

    def _add_typed(self, asked: EvaluateOptions, top: int) -> None:
        """Scores by semantic class, all systems side by side, where they are asked for."""
        if asked["typed"] is None:
            return
        out = path_or_none(asked["suggest"])
        source, classes = str(asked["typed"]), asked["classes"]
        most = asked["passages"] if out else 0
        how = source, asked["disagreeing"], most, classes
        scores, found, notes = typed_labels.typed_scores_of(list(self.systems.items()), *how)
        self.notes += notes
        self.shown += tables.typed_tables(scores, top)
        self._typed = {"labels": source, "classes": classes, "systems": [one.to_dict() for one in scores]}
        if out is not None:
            write_documents([record for _, record in found], out, "jsonl")
            self.shown.append(tables.suggestion_table([passage for passage, _ in found]))
            self._typed["suggested"] = [plain(passage) for passage, _ in found]

    def _add_resampling(
        self, name: str, other: str | None, compared: Evaluation | None, found: significance.Resampling
    ) -> None:
        self.shown.append(tables.resampling_table(found, name, other or ""))
        conll = next(m for m in found.metrics if m.metric == "conll")
        self._intervals |= {name: conll.response} | ({other: conll.other} if other and conll.other else {})
        self._comparisons.append({"response": name, "other": other, "resampling": found.to_dict()})
        if other is not None and compared is not None and other not in self.systems:
            self._comparisons[-1]["scores"] = compared.to_dict()
            self.notes += [f"--compare: {note}" for note in compared.notes]
        self.notes += [note for note in found.notes if note not in self.notes]

    def _add_tests(
        self, pairs: Sequence[SystemPair], asked: EvaluateOptions, progress: Progress | None
    ) -> None:
        """The tests of some pairs; several are adjusted for their number, and groups of systems are shown.

        Where nothing is to be compared, the confidence intervals of each system, if they are asked for.
        """

        def tested(first: Evaluation, second: Evaluation | None) -> significance.Resampling:
            return significance.resample(
                first, second, samples=asked["bootstrap"] or 10_000, seed=asked["seed"], unit=asked["unit"],
                block_size=asked["block_size"], few_units=asked["few_units"], progress=progress or Silent(),
            )  # fmt: skip

        if asked["compare"] is None and asked["bootstrap"]:
            for name, scores in self.systems.items():
                self._add_resampling(name, None, None, tested(scores, None))
        found = [tested(one, compared) for _, one, _, compared in pairs]
        several = len(pairs) > 1
        named = [(name, other) for name, _, other, _ in pairs]
        found = significance.adjusted(found, named) if several else found
        for (name, _, other, compared), result in zip(pairs, found, strict=True):
            self._add_resampling(name, other, compared, result)
        if several and len(pairs) == len(self.systems) * (len(self.systems) - 1) // 2:
            self._groups = significance.groups_alike(list(self.systems), named, found)
            self.shown.append(tables.groups_table(self._groups))

    def _add_plots(self, folder: Path) -> None:
        if len(self._intervals) > 1:
            self.plots += pictures.save_intervals(self._intervals, folder)
        for name, result in self.systems.items():
            where = folder if len(self.systems) == 1 else folder / name.replace("/", "_")
            self.plots += pictures.save_plots(result, where)


@renamed(top="most")
@o.only_with("typed", "classes disagreeing suggest")
@o.only_with("suggest", "passages")
@o.only_with("compare bootstrap", "unit block_size few_units seed")
@o.only_with("mode", "window_size")
@files_of("plots", "suggest", reads=("key", "response", "compare", "typed"))
@grouped
def evaluate(
    key: Any, response: Any | Iterable[PathLike], mode: str = "full", *, plots: PathLike | None = None,
    most: o.Positive = 10, split: o.SplitName = "test", key_format: str | None = None,
    response_format: str | None = None, replace: o.Overwrite = False, progress: Progress | None = None,
    **asked: Unpack[EvaluateOptions],
) -> Scores:  # fmt: skip
    """Score responses against a key: MUC, B3, CEAF-e, CoNLL, CEAF-m, BLANC, LEA, mentions, linking.

    Documents are paired by doc_key and pooled. Several responses stand side by side.

    Args:
        key: gold: a file or folder of any format, or a data set folder.
        response: system output, likewise; repeat it for several systems.
        mode: what is scored against what. full: whole books against whole books (the paper's
            BookCoref_gold). split: windows against windows, each predicted alone (Split-BookCoref_gold);
            whole books are cut into the released windows first. gold-window: whole-book predictions
            restricted to windows of whole sentences, a partition: every mention counts exactly once.
            gold-window-blocks: the same with blocks of exactly 1500 tokens. gold-window-released: what the
            released code computes, so that the paper's figures come out, though it loses and double-counts
            some mentions.
        plots: folder for pictures (needs the extra "plots").
        most: rows of the longer lists.
        split: split of a data set folder that is read.
        key_format: format of the key, where its name does not say.
        response_format: format of the responses.

    In Python key and response are a path, a book, or books; several responses are a list of these, or a dict
    of responses by name. What was asked for is in `Scores.tables`.

    Raises:
        UsageError, DataError: the two do not fit; the message says why.
    """
    missing, size = asked["missing"], asked["window_size"]
    rules = evaluation.Rules(mode, asked["singletons"], asked["duplicates"], missing, size)
    read = partial(_records, config="split" if mode == "split" else "full", split=split)
    gold = read(key, key_format)

    def score(source: Any) -> Evaluation:
        system = read(source, response_format)
        return evaluation.score_prepared(
            modes.prepare(gold, system, mode, missing=missing, window_size=size), rules
        )

    responses = _responses(response)
    scores = Scores([(name, score(one)) for name, one in responses])
    if moved := [record.doc_key for record in gold if record.extra.get("remapped")]:
        told = f"the key of {', '.join(moved[:8])} was moved to another edition of the text"
        scores.notes.append(f"{told}: its scores cannot be compared with published ones")
    scores._explain({name for name in EXPLAINED if dict(asked)[name]}, most)
    scores._add_typed(asked, most)
    scores._add_tests(list(_pairs(scores, responses, asked["compare"], score)), asked, progress)
    if (folder := path_or_none(plots)) is not None:
        scores._add_plots(folder)
    return scores


def _records(source: Any, format: str | None, *, config: str, split: str) -> list[Record]:
    """The documents of a source: a file, one split of a data set folder, or books in memory."""
    if not isinstance(source, str | os.PathLike):
        return records_of(source)
    path = path_of(source)
    if (format or detect(path)) == "folder":
        return read_folder(path, config, [split])
    return read_documents(path, format)


def _responses(response: Any) -> list[tuple[str, Any]]:
    """The systems by name: one, or several in a dict or a list of paths, of books, or of one book."""
    if isinstance(response, Mapping):
        return list(response.items())
    response = [response] if isinstance(response, str | os.PathLike) else response
    # Each is a system: paths or lists of books, or one book that several have annotated.
    several = list(response) if isinstance(response, Sequence) else []
    if several and all(isinstance(one, str | os.PathLike) for one in several):
        paths = [Path(one) for one in several]
        return list(zip(_names(paths), paths, strict=True))
    keys = [getattr(one, "doc_key", None) for one in several]
    if len(keys) > 1 and (None in keys or len({*keys}) < len(keys)):
        return [(f"response {number}", one) for number, one in enumerate(several, 1)]
    return [("response", response)]


def _names(paths: Sequence[Path]) -> list[str]:
    """Short names for files: the name without suffixes where that tells them apart, else the path."""
    short = [path.name.split(".")[0] or path.name for path in paths]
    return [name if short.count(name) == 1 else str(path) for name, path in zip(short, paths, strict=True)]


def _pairs(
    scores: Scores, responses: Sequence[tuple[str, Any]], compare: Any, score: Callable[[Any], Evaluation]
) -> Iterator[SystemPair]:
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
    paths = [source for source in sources if isinstance(source, Path)]
    same = (source is compare or (source in paths and source == compare) for source in sources)
    among = next((i for i, found in enumerate(same) if found), None)
    if among is not None and len(systems) > 1:
        name, other = systems[among]
    else:
        name = _names([*paths, compare])[-1] if isinstance(compare, Path) else "other"
        other = score(compare)
    for i, (first, a) in enumerate(systems):
        if i != among or len(systems) == 1:
            yield first, a, name, other
