"""`bookcoref-data evaluate`: score responses against a key, and explain the scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..common import JsonFlag, emit_json, emit_markdown, emit_table, progress, say

if TYPE_CHECKING:
    from ...books import Record
    from ...evaluate.evaluation import Evaluation, Rules
    from ...evaluate.significance import Resampling
    from ...report.tables import Table

MODES_HELP = """What is scored against what. full: whole books against whole books (the paper's
BookCoref_gold). split: windows against windows, each predicted alone (Split-BookCoref_gold); whole books
are cut into the released windows first. gold-window: whole-book predictions restricted to windows of
whole sentences, a partition: every mention counts exactly once. gold-window-blocks: the same with blocks
of exactly 1500 tokens. gold-window-released: what the released code computes, so that the paper's figures
come out, though it loses and double-counts some mentions."""

ALL = "all"


def register(app: typer.Typer) -> None:
    @app.command()
    def evaluate(
        key: Annotated[
            Path,
            typer.Option("--key", "-k", help="Gold: a file or folder of any format, or a data set folder."),
        ],
        response: Annotated[
            list[Path],
            typer.Option("--response", "-r", help="System output, likewise; repeat it for several systems."),
        ],
        mode: Annotated[str, typer.Option("--mode", "-m", help=MODES_HELP)] = "full",
        per_book: Annotated[bool, typer.Option("--per-book", help="F1 of every metric by book.")] = False,
        macro: Annotated[
            bool, typer.Option("--macro", help="The mean over books beside the pooled scores.")
        ] = False,
        characters: Annotated[
            bool, typer.Option("--characters", help="P, R, F1 of every character.")
        ] = False,
        breakdown: Annotated[
            bool,
            typer.Option(
                "--breakdown",
                help="By mention type, frequency, distance to previous mention and to a name, position.",
            ),
        ] = False,
        errors: Annotated[
            bool,
            typer.Option(
                "--errors",
                help="Missed, spurious, conflated, divided: counts, costs, worst cases with snippets.",
            ),
        ] = False,
        agreement: Annotated[
            bool,
            typer.Option(
                "--agreement", help="Treat key and response as two annotators and report their agreement."
            ),
        ] = False,
        typed: Annotated[
            str | None,
            typer.Option(
                metavar="LABELS",
                help="Scores by semantic class. LABELS: a file of typed spans, `spacy` (its NER), `nouns` "
                "(a small list of our own) or `hub:MODEL` (a CNER model, extra `gpu`).",
            ),
        ] = None,
        disagreeing: Annotated[
            str,
            typer.Option(help="Mentions whose own label differs from their cluster's: keep or override."),
        ] = "keep",
        compare: Annotated[
            Path | None,
            typer.Option(
                help="Test whether the difference from another system is significant: its file (one of the "
                "-r files or another). `all`: every pair of the -r files."
            ),
        ] = None,
        bootstrap: Annotated[
            int,
            typer.Option(help="Samples for confidence intervals and tests (0: none; 1000 with --compare)."),
        ] = 0,
        unit: Annotated[
            str, typer.Option(help="What is resampled and exchanged: window, chapter or book.")
        ] = "window",
        few_units: Annotated[
            bool, typer.Option("--few-units", help="Resample even with fewer than 10 units.")
        ] = False,
        seed: Annotated[int, typer.Option(help="Seed of the resampling.")] = 0,
        plots: Annotated[
            Path | None,
            typer.Option(help="Folder for pictures (needs the extra `plots`)."),
        ] = None,
        top: Annotated[int, typer.Option(min=1, help="Rows of the longer lists.")] = 10,
        singletons: Annotated[
            str,
            typer.Option(help="keep (as BookCoref) or drop, on both sides."),
        ] = "keep",
        duplicates: Annotated[
            str,
            typer.Option(
                help="Spans in several clusters: released (as BookCoref's code) or first (as CoNLL's).",
            ),
        ] = "released",
        missing: Annotated[
            str,
            typer.Option(help="Key documents the response lacks: error, skip or empty."),
        ] = "error",
        window_size: Annotated[int, typer.Option(min=1, help="Tokens per window.")] = 1500,
        split: Annotated[str, typer.Option(help="Split of a data set folder that is read.")] = "test",
        key_format: Annotated[
            str | None,
            typer.Option(help="Format of the key, where its name does not say."),
        ] = None,
        response_format: Annotated[
            str | None,
            typer.Option(help="Format of the responses."),
        ] = None,
        markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown tables.")] = False,
        json: JsonFlag = False,
    ) -> None:
        """Score responses against a key: MUC, B3, CEAF-e, CoNLL, CEAF-m, BLANC, LEA, mentions, linking.

        Documents are paired by doc_key and pooled. Several responses stand side by side. Scores are in
        percent; --json has fractions with their numerators and denominators, and the rules used.
        """
        from ...evaluate.evaluation import Rules

        rules = Rules(mode, singletons, duplicates, missing, window_size)
        config = "split" if mode == "split" else "full"
        gold = _read(key, key_format, config, split)
        _note_remapped(gold)
        scorer = _Scorer(gold, rules, response_format, config, split)
        names = _names(response)
        systems = [(name, scorer.score(path)) for name, path in zip(names, response, strict=True)]
        asked = _Asked(per_book, macro, characters, breakdown, errors, agreement, top)
        shown = _Shown.of(systems, asked)
        if typed is not None:
            shown.add_typed(systems, typed, disagreeing, top)
        resampler = _Resampler(bootstrap, seed, unit, few_units)
        for pair in _pairs(systems, names, response, compare, scorer):
            shown.add_resampling(*pair, resampler.run(pair[1], pair[3]))
        if compare is None and bootstrap:
            for name, result in systems:
                shown.add_resampling(name, result, None, None, resampler.run(result, None))
        if plots is not None:
            shown.add_plots(systems, plots)
        for note in shown.notes:
            say(f"note: {note}")
        if json:
            emit_json(shown.as_json())
            return
        _emit(shown.tables, markdown)
        for path in shown.plots:
            say(f"wrote {path}")


@dataclass(frozen=True, slots=True)
class _Scorer:
    """Scores files against one key under one set of rules."""

    gold: list[Record]
    rules: Rules
    format: str | None
    config: str
    split: str

    def score(self, path: Path) -> Evaluation:
        from ...evaluate.evaluation import score_prepared
        from ...evaluate.modes import prepare

        system = _read(path, self.format, self.config, self.split)
        rules = self.rules
        ready = prepare(self.gold, system, rules.mode, missing=rules.missing, window_size=rules.window_size)
        return score_prepared(ready, rules)


@dataclass(frozen=True, slots=True)
class _Resampler:
    """The settings of intervals and tests."""

    samples: int
    seed: int
    unit: str
    few_units: bool

    def run(self, first: Evaluation, second: Evaluation | None) -> Resampling:
        from ...evaluate.significance import resample

        with progress() as listener:
            return resample(
                first,
                second,
                samples=self.samples or 1000,
                seed=self.seed,
                unit=self.unit,
                few_units=self.few_units,
                progress=listener,
            )


def _pairs(
    systems: list[tuple[str, Evaluation]],
    names: Sequence[str],
    paths: Sequence[Path],
    compare: Path | None,
    scorer: _Scorer,
) -> Iterator[tuple[str, Evaluation, str, Evaluation]]:
    """The pairs that --compare asks for."""
    from ...errors import UsageError

    if compare is None:
        return
    if str(compare) == ALL and not compare.exists():
        if len(systems) < 2:
            raise UsageError("--compare all needs two responses or more", found=f"{len(systems)}")
        for (first, a), (second, b) in combinations(systems, 2):
            yield first, a, second, b
        return
    if compare in paths and len(paths) > 1:
        name = names[paths.index(compare)]
        other = systems[paths.index(compare)][1]
    else:
        name, other = _names([*paths, compare])[-1], scorer.score(compare)
    for (first, a), path in zip(systems, paths, strict=True):
        if path != compare or len(paths) == 1:
            yield first, a, name, other


def _names(paths: Sequence[Path]) -> list[str]:
    """Short names for files: the name without suffixes where that tells them apart, else the path."""
    short = [path.name.split(".")[0] or path.name for path in paths]
    return [name if short.count(name) == 1 else str(path) for name, path in zip(short, paths, strict=True)]


def _note_remapped(gold: list[Record]) -> None:
    """A key that was moved to another edition is not the published one."""
    moved = [record.doc_key for record in gold if record.extra.get("remapped")]
    if moved:
        say(
            f"note: the key of {', '.join(moved[:8])} was moved to another edition of the text: "
            "its scores cannot be compared with published ones"
        )


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

    def explain(self, result: Evaluation) -> tuple[list[Table], dict[str, Any]]:
        """Tables and JSON of one system, the scores themselves apart."""
        from ...report import evaluation_tables as tables

        shown: list[Table] = []
        values: dict[str, Any] = result.to_dict()
        if self.per_book:
            shown.append(tables.book_table(result))
        if self.agreement:
            from ...evaluate.agreement import agreement

            agreed = agreement(result)
            shown.append(tables.agreement_table(agreed))
            values["agreement"] = agreed.to_dict()
        if self.characters:
            from ...evaluate.per_character import character_scores

            found = character_scores(result)
            shown.append(tables.character_table(found, self.top))
            values["characters"] = [score.to_dict() for score in found]
        if self.breakdown:
            from ...evaluate.breakdowns import breakdown

            dimensions = breakdown(result)
            shown += tables.breakdown_tables(dimensions)
            values["breakdown"] = [dimension.to_dict() for dimension in dimensions]
        if self.errors:
            from ...evaluate.error_analysis import analyse_errors

            analysis = analyse_errors(result, most=self.top)
            shown += tables.error_tables(analysis)
            values["errors"] = analysis.to_dict()
        return shown, values


class _Shown:
    """What is printed in the end: tables, JSON by system, comparisons, notes."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = names
        self.tables: list[Table] = []
        self.values: list[dict[str, Any]] = []
        self.comparisons: list[dict[str, Any]] = []
        self.notes: list[str] = []
        self.plots: list[str] = []
        self.typed: dict[str, Any] | None = None

    @classmethod
    def of(cls, systems: Sequence[tuple[str, Evaluation]], asked: _Asked) -> _Shown:
        """The scores and explanations of all systems: one alone in full, several side by side."""
        from dataclasses import replace

        from ...report import evaluation_tables as tables

        shown = cls([name for name, _ in systems])
        single = len(systems) == 1
        if single:
            shown.tables.append(tables.score_table(systems[0][1]))
        else:
            shown.tables.append(tables.systems_table(systems))
        if asked.macro:
            of_one = tables.macro_table(systems[0][1])
            shown.tables.append(of_one if single else tables.systems_table(systems, macro=True))
        for name, result in systems:
            explained, values = asked.explain(result)
            shown.tables += (
                explained if single else [replace(t, title=f"{name}: {t.title}") for t in explained]
            )
            shown.values.append(values)
            shown.notes += [note if single else f"{name}: {note}" for note in result.notes]
        return shown

    def add_typed(
        self, systems: Sequence[tuple[str, Evaluation]], source: str, disagreeing: str, top: int
    ) -> None:
        """Scores by semantic class, all systems side by side."""
        from ...report.typed_tables import typed_tables
        from ..typed_labels import typed_scores_of

        scores = typed_scores_of(systems, source, disagreeing)
        self.tables += typed_tables(scores, top)
        self.typed = {"labels": source, "systems": [one.to_dict() for one in scores]}

    def add_resampling(
        self, name: str, result: Evaluation, other: str | None, compared: Evaluation | None, found: Resampling
    ) -> None:
        from ...report.evaluation_tables import resampling_table

        self.tables.append(resampling_table(found, name, other or ""))
        self.comparisons.append({"response": name, "other": other, "resampling": found.to_dict()})
        if other is not None and compared is not None and other not in self.names:
            self.comparisons[-1]["scores"] = compared.to_dict()
            self.notes += [f"--compare: {note}" for note in compared.notes]
        self.notes += [note for note in found.notes if note not in self.notes]

    def add_plots(self, systems: Sequence[tuple[str, Evaluation]], folder: Path) -> None:
        from ...report.evaluation_plots import save_plots

        for name, result in systems:
            where = folder if len(systems) == 1 else folder / name.replace("/", "_")
            self.plots += [str(path) for path in save_plots(result, where)]

    def as_json(self) -> dict[str, Any]:
        """One system at the top level; several as a list. `docs/evaluation.md` has the schema."""
        more: dict[str, Any] = {} if self.typed is None else {"typed": self.typed}
        if self.plots:
            more["plots"] = self.plots
        if len(self.values) > 1:
            systems = [{"name": name, **value} for name, value in zip(self.names, self.values, strict=True)]
            return {"systems": systems, "comparisons": self.comparisons, **more}
        if self.comparisons:
            more["resampling"] = self.comparisons[0]["resampling"]
            if "scores" in self.comparisons[0]:
                more["compare"] = self.comparisons[0]["scores"]
        return self.values[0] | more


def _read(path: Path, format: str | None, config: str, split: str) -> list[Record]:
    """Documents of a file, or of one split of a data set folder."""
    from ...formats import read_documents
    from ...formats.detect import detect

    if (format or detect(path)) == "folder":
        from ...formats.folder import read_folder

        return read_folder(path, config, [split])
    return read_documents(path, format)


def _emit(tables: list[Table], markdown: bool) -> None:
    for i, table in enumerate(tables):
        if i:
            print()
        if markdown:
            print(f"**{table.title}**\n")
            emit_markdown(table.columns, table.rows)
        else:
            emit_table(table.columns, table.rows, title=table.title)
