"""Passages about characters: `contexts_build`, `contexts_ask`, `contexts_score` and their siblings."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..books import Book
from ..errors import UsageError, plural
from ..files import path_of, write_bytes, write_text
from ..outputs import files_of
from ..progress import Progress
from ..shapes import together
from ..sources.store import Store
from ..tasks.contexts.splits import Defect, find_defects, leakless_splits, overlap, read_tables
from ..tasks.folder import jsonl_bytes, read_rows
from ..tasks.guides.identification import baselines, grade_identification, identify_with, requests_of
from ..tasks.guides.texts import References, references_for
from ..tasks.runner.run import RunReport
from ..workflows import contexts as work
from ..workflows import guide_texts, judged_scores
from ..workflows import verify as verifying
from . import options as o
from .books import records_of
from .models import Asked, GradedRun, asking_of, preview_of
from .options import PathLike, grouped, path_or_none, paths_of, renamed
from .tables import Reported, Result, Table

if TYPE_CHECKING:
    from typing_extensions import Unpack


Rows = list[dict[str, Any]]


@dataclass(eq=False, repr=False)
class Contexts(Result):
    """Passages about the characters of books: `rows` in order, `files` those written. `nameless` are the keys
    of the books without characters, about which there are none; `others` of the books that summaries are
    of, but that were not given."""

    rows: Rows
    files: list[Path]
    nameless: list[str]
    others: list[str]

    @property
    def figures(self) -> Rows:
        """Per strategy: contexts, characters, pieces and tokens."""
        return [
            {
                "strategy": strategy, "contexts": len(some),
                "characters": len({(r["doc_key"], r["character"]) for r in some}),
                "pieces": sum(len(r["pieces"]) for r in some), "tokens": sum(r["tokens"] for r in some),
            }
            for strategy, some in together((row["strategy"], row) for row in self.rows).items()
        ]  # fmt: skip

    @property
    def table(self) -> Table:
        """One row per strategy."""
        return Table.of_dicts(self.figures)

    def to_dict(self) -> dict[str, Any]:
        files = [str(file) for file in self.files]
        return {"contexts": self.figures, "files": files, "nameless": self.nameless, "others": self.others}

    def _line(self) -> str:
        return plural(len(self.rows), "context")


@files_of("out", reads=("books", "summaries", "recipe"))
def contexts_build(
    books: o.NamedBooks, out: PathLike, *, strategies: Sequence[o.Strategy] = (),
    characters: Sequence[str] = (), budget: o.Positive | None = None, kind: o.Kind = "description",
    summaries: PathLike | None = None, joint: bool = False, truncate: bool = False, seed: int | None = None,
    recipe: o.Recipe = None, format: o.Format = None, replace: o.Overwrite = False,
    progress: Progress | None = None,
) -> Contexts:  # fmt: skip
    """Find passages about every character of annotated books.

    Args:
        out: folder for the contexts.
        strategies: how passages are chosen; repeatable (default: the recipe's).
        characters: only this character; repeatable.
        budget: tokens of a context.
        summaries: JSON lines with doc_key and text: add contexts of the summary alone.
        joint: prompts about up to five characters.
        truncate: where the paragraphs of "coref" or "bm25" do not fit, cut the end off, as published.
        seed: seed of the strategy "random".

    Raises:
        UsageError: no named characters, an unknown character or strategy.
    """
    plan = work.read_plan(path_or_none(recipe), strategies, budget, seed, truncate)
    found = _books(books, format)
    rows = work.build(found, plan, characters=characters, kind=kind, joint=joint, progress=progress)
    texts = [] if summaries is None else read_rows(path_of(summaries), "book_text")
    rows = work.add_summaries(rows, texts, found, kind)
    nameless = [book.doc_key for book in found if not book.characters]
    others = sorted({str(text["doc_key"]) for text in texts} - {book.doc_key for book in found})
    return Contexts(rows, work.write_contexts(rows, plan, path_of(out)), nameless, others)


@renamed(limit="most")
@o.only_with("endpoint dry_run", "model key_variable parallel")
@files_of("out", reads=("contexts",))
@grouped
def contexts_ask(
    contexts: PathLike, out: o.AnswersOut = None, *, kind: o.Kind = "description", most: o.Count = 0,
    temperature: o.Temperature = None, top_p: o.TopP = 1.0, seed: o.DrawSeed = None,
    most_tokens: o.MostTokens | None = None, dry_run: o.DryRun = 0, recipe: o.Recipe = None,
    replace: o.Overwrite = False, progress: Progress | None = None, **given: Unpack[o.ModelOptions],
) -> Asked:  # fmt: skip
    """Ask a model to describe the characters; the same call again asks only what is missing.

    Args:
        contexts: folder of contexts, or its file.
        most: only so many contexts, from the first (0: all).

    Temperature and longest reply are those of the recipe, the published ones, where they are not given.

    Raises:
        UsageError: no model, or nowhere to write. SourceError: the model does not answer.
    """
    rows = work.read_contexts(path_of(contexts))
    rows = rows[:most] if most else rows
    if dry_run:
        return Asked([], None, None, preview_of(work.requests_of(rows), dry_run, given))
    sampling = work.read_plan(path_or_none(recipe)).sampling
    model = asking_of(
        given, out, progress, most_tokens or sampling.get(kind, 512), top_p=top_p,
        temperature=sampling.get("temperature", 0.0) if temperature is None else temperature, seed=seed,
    )  # fmt: skip
    return Asked(work.answer_with(rows, model, kind), model.report, model.out)


class SystemScores(Result):
    """Mean scores of descriptions by system, 0 to 1; `facts` has one row per judged fact."""

    def __init__(
        self, scores: dict[str, dict[str, Any]], facts: Rows | None = None, report: RunReport | None = None
    ) -> None:
        self.scores, self.facts, self.report = scores, facts or [], report

    @property
    def table(self) -> Table:
        """One row per system."""
        rows = [{"system": name, **values} for name, values in self.scores.items()]
        return Table.of_dicts({n: v for n, v in row.items() if n != "kinds"} for row in rows)

    @property
    def kinds(self) -> Table:
        """One row per system and kind of facts: how many, and precision, recall and F1."""
        found = self.scores.items()
        return Table.of_dicts({"system": n, **row} for n, values in found for row in values.get("kinds", ()))

    def to_dict(self) -> dict[str, Any]:
        return dict(self.scores)

    def _line(self) -> str:
        return plural(len(self.scores), "system")


@o.only_with("bert_score", "bert_layers")
@o.only_with("facts qa", "endpoint local second_judge temperature most_tokens prompt_price reply_price")
@o.only_with("endpoint", "model key_variable parallel")
@files_of("out", reads=("references", "answers", "books"))
@grouped
def contexts_score(
    references: PathLike, *, answers: PathLike | None = None, books: Any = None, kind: o.Kind = "description",
    bert_score: str = "", bert_layers: o.Positive | None = None, entailment: str = "", facts: bool = False,
    qa: bool = False, out: PathLike | None = None, second_judge: str = "", temperature: o.Temperature = 0.0,
    most_tokens: o.MostTokens = 512, recipe: o.Recipe = None, replace: o.Overwrite = False,
    progress: Progress | None = None, **model: Unpack[o.ModelOptions],
) -> SystemScores:  # fmt: skip
    """Score descriptions and baselines: ROUGE, recall of named entities, new bigrams, and what models judge.

    Args:
        references: JSON lines: doc_key, character, text.
        answers: JSON lines: doc_key, character, text, strategy.
        books: annotated books, for the baselines.
        bert_score: a model: also BERTScore with it (extra `task-models`).
        bert_layers: the layer that BERTScore compares.
        entailment: an NLI model: also the share of sentences that the book entails. It is asked about every
            sentence with every paragraph of the book, so it needs `books` and time (extra `gpu`).
        facts: also precision and recall of facts (PRISMA) of the answers, which a model draws and judges.
        qa: also questions about the reference, made by a model and answered by it from the answers.
        out: with `facts` or `qa`: file for the facts and their verdicts; replies of the model are kept
            beside it.
        second_judge: another model (at the endpoint, or local) judges the same facts: their kappa.

    Raises:
        UsageError: nothing to score, or no model to ask. SourceError: the model does not answer.
    """
    target = path_or_none(out)
    if answers is None and books is None:
        raise UsageError("nothing to score", expected="--answers, or --books for the baselines")
    if entailment and books is None:
        raise UsageError("entailment by the book needs the book", expected="--books")
    if (facts or qa) != (target is not None):
        raise UsageError("a model's judgement and its file go together", expected="--facts or --qa; --out")
    if (facts or qa) and answers is None:
        raise UsageError("no descriptions to judge: baselines are not asked about", expected="--answers")
    plan = work.read_plan(path_or_none(recipe))
    given = [] if books is None else _books(books, None)
    said = work.by_system(read_rows(path_of(answers), "character_text") if answers else [])
    gold = work.long_references(read_rows(path_of(references), "character_text"), plan, kind)
    groups, alone = work.matched(said, gold, given, plan, kind)
    found = work.score(groups, given, bert=bert_score, bert_layers=bert_layers, entailment=entailment)
    found = {name: values | alone.get(name, {}) for name, values in found.items()}
    if target is None:
        return SystemScores(found)
    models = [model]
    if second_judge:
        models.append({**model, "model": second_judge, "local": second_judge if model["local"] else None})
    how = (target, progress, most_tokens)
    asking = (asking_of(one, *how, temperature=temperature or 0.0) for one in models)
    judges = [judged_scores.FactJudge(one, plan.prompts) for one in asking]
    asked = {name: some for name, some in groups.items() if some and not name.startswith(work.BASELINE)}
    judged, rows = judged_scores.judged_scores(asked, judges, facts=facts, qa=qa)
    found = {name: values | judged.get(name, {}) for name, values in found.items()}
    return SystemScores(found, rows, judges[0].model.report)


@files_of(reads=("texts", "books"))
def contexts_novelty(texts: PathLike | Iterable[PathLike], *, books: Any, format: o.Format = None) -> Table:
    """Show how much of the wording of descriptions and analyses is not that of the book (Table 6).

    Args:
        texts: JSON lines: doc_key, character, text; repeatable, one row each.
        books: the books, with the same doc_key.

    Returns one row per file: texts about these books and about others, and shares of n-grams from 0 to 1
    that the book lacks; no shares where no text is about one of the books.

    Raises:
        UsageError: no file of texts.
    """
    given = _books(books, format)
    read = [(path.stem, read_rows(path, "book_text")) for path in paths_of(texts)]
    if not read:
        raise UsageError("no texts to look at", expected="files of texts about the books")
    return Table.of_dicts([{"texts of": name, **work.novelty(rows, given)} for name, rows in read])


@files_of(reads=("books",))
def contexts_compare(books: o.NamedBooks, *, budgets: Sequence[int] = (), format: o.Format = None) -> Table:
    """Compare strategies on whole books: company, mentions and precision of contexts.

    Args:
        budgets: tokens of a context; repeatable (default: 2,000 and 7,600).

    Returns one row per book, budget and strategy; shares from 0 to 1.
    """
    wanted = list(budgets) or [2000, 7600]
    return Table.of_dicts([row for b in _books(books, format) for row in work.retrieval_table(b, wanted)])


class TableDefects(Result):
    """Defects of BookWorm's tables; where each book is `placed` so that nothing leaks; the number of books
    in each of these `splits`."""

    def __init__(self, defects: Sequence[Defect], placed: dict[str, str]) -> None:
        self.defects, self.placed = list(defects), placed
        self.splits = {split: list(placed.values()).count(split) for split in ("train", "val", "test")}

    @property
    def table(self) -> Table:
        """One row per defect."""
        return Table.of_dicts([defect.to_dict() for defect in self.defects])

    def to_dict(self) -> dict[str, Any]:
        return {"defects": [defect.to_dict() for defect in self.defects], "splits": self.splits}

    def _line(self) -> str:
        return plural(len(self.defects), "defect")


@files_of("out", reads=("folder",))
def contexts_tables(
    folder: PathLike, out: PathLike | None = None, *, replace: o.Overwrite = False
) -> TableDefects:
    """Report defects of BookWorm's tables and their overlap with BookCoref; make splits that do not leak.

    Args:
        folder: BookWorm's tables: books.tsv, *_data.tsv, splits/.
        out: file for one split per book, without leaks.
    """
    found = read_tables(path_of(folder))
    defects = [*find_defects(found), *overlap(found, verifying.published_books())]
    placed = leakless_splits(found)
    if (target := path_or_none(out)) is not None:
        rows = sorted(placed.items(), key=lambda item: (item[1], item[0]))
        write_text(target, "BookId\tSplit\n" + "".join(f"{book}\t{split}\n" for book, split in rows))
    return TableDefects(defects, placed)


class GuideTexts(Reported):
    """Texts of study guides: what was written, left out, and could not be read."""

    report: guide_texts.GuideTextsReport

    @property
    def table(self) -> Table:
        """One row per kind of text."""
        return Table({"texts": list(self.report.texts), "number": list(self.report.texts.values())})

    def _line(self) -> str:
        texts = sum(self.report.texts.values())
        return f"{plural(texts, 'text')} of {plural(self.report.guides, 'guide')} in {self.report.out}"


@files_of("out", reads=("source", "names", "works", "recipe"))
def contexts_collect(
    source: PathLike, out: PathLike, *, names: PathLike | None = None, works: PathLike | None = None,
    contact: o.Contact = None, archive: o.ArchiveDir = None, recipe: o.Recipe = None,
    harvest_recipe: PathLike | None = None, cache_dir: o.CacheDir = None, offline: o.Offline = False,
    replace: o.Overwrite = False, progress: Progress | None = None,
) -> GuideTexts:  # fmt: skip
    """Collect descriptions, analyses and summaries from archived study guides, and LiSCU's masked task.

    Args:
        source: folder of BookWorm's tables, or a list of archived pages (LiSCU's).
        out: folder for the texts.
        names: LiSCU's list of characters: keep only these, in its splits.
        works: works.tsv of `match`: the Gutenberg books of the guides in a list.
        harvest_recipe: recipe of the harvest, instead of harvest.toml.

    Raises:
        SourceError: not one page could be read.
    """
    place, settings = path_of(source), path_or_none(recipe)
    pages = path_or_none(archive) or Store.open(path_or_none(cache_dir)).path("harvest", "study-guides")
    guides = guide_texts.guides_plan(place, settings, path_or_none(harvest_recipe), contact)
    report = guide_texts.build_guide_texts(
        place, path_or_none(names), path_or_none(works), work.read_plan(settings), guides, pages,
        path_of(out), offline=offline, progress=progress,
    )  # fmt: skip
    return GuideTexts(report)


class NamedReferences(Result):
    """Texts of guides under the names of annotated books."""

    def __init__(self, found: References) -> None:
        self.found = found

    @property
    def table(self) -> Table:
        """One row per reference: doc_key, character, text."""
        return Table.of_dicts(self.found.rows)

    def to_dict(self) -> dict[str, Any]:
        return self.found.to_dict()

    def _line(self) -> str:
        return plural(len(self.found.rows), "reference")


@files_of("out", reads=("texts", "books"))
def contexts_references(
    texts: o.TextsFolder, books: o.NamedBooks, out: PathLike, *, kind: o.Kind = "description",
    split: o.GuideSplit = "test", replace: o.Overwrite = False,
) -> NamedReferences:  # fmt: skip
    """Give the texts of guides the names that annotated books use, as references for `contexts_score`.

    Args:
        out: file for the references.
    """
    rows = read_rows(path_of(texts) / kind / f"{split}.jsonl", "guide_text")
    found = references_for(rows, _books(books, None))
    write_bytes(path_of(out), jsonl_bytes(found.rows))
    return NamedReferences(found)


class Identified(GradedRun):
    """Grades of who is masked, by the name of the answers."""

    @property
    def table(self) -> Table:
        """One row per answers and group: how many are right."""
        groups = ((name, *one) for name, grades in self.grades.items() for one in grades["groups"].items())
        return Table.of_dicts({"answers": name, "group": group, **share} for name, group, share in groups)

    def _graded(self) -> str:
        return f"grades of {', '.join(self.grades)}"


@o.only_with("endpoint dry_run", "model key_variable parallel constrain")
@o.only_with("endpoint local dry_run", "out most_tokens prompt_price reply_price")
@files_of("out", reads=("texts", "answers"))
@grouped
def contexts_identify(
    texts: o.TextsFolder, *, answers: PathLike | None = None, out: o.AnswersOut = None,
    split: o.GuideSplit = "test", constrain: o.Constrain = "none", most_tokens: o.MostTokens = 32,
    dry_run: o.DryRun = 0, replace: o.Overwrite = False, progress: Progress | None = None,
    **model: Unpack[o.ModelOptions],
) -> Identified:  # fmt: skip
    """Say who is masked in a description (LiSCU): grade answers, ask a model, or run the baselines.

    Args:
        answers: JSON lines with id and answer: grade these.

    Raises:
        UsageError: answers and a model, or nowhere to write. SourceError: the model does not answer.
    """
    rows = read_rows(path_of(texts) / "identification" / f"{split}.jsonl", "masked_row")
    asked = model["endpoint"] is not None or model["local"] is not None
    if dry_run:
        return Identified({}, preview=preview_of(requests_of(rows), dry_run, model))
    given = path_or_none(answers)
    if given is not None and asked:
        raise UsageError("answers are given and a model is named", expected="--answers or a model")
    if asked:
        run = asking_of(model, out, progress, most_tokens, constrain)
        grades = grade_identification(rows, identify_with(rows, run))
        return Identified({run.report.model: grades}, run.report)
    if given is not None:
        return Identified({given.stem: grade_identification(rows, read_rows(given, "answer_row"))})
    return Identified({name: grade_identification(rows, one) for name, one in baselines(rows).items()})


def _books(source: Any, format: str | None) -> list[Book]:
    """Annotated books with named characters. Raises UsageError: a file without any."""
    if isinstance(source, str | os.PathLike):
        return work.read_books(path_of(source), format)
    return [record.to_book() for record in records_of(source)]
