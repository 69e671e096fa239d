"""Passages about characters: `contexts_build`, `contexts_ask`, `contexts_score` and their siblings."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import UsageError, plural
from ..files import path_of
from .books import PathLike, path_or_none, records_of
from .models import Asked, ModelOptions
from .results import Result
from .tables import Table

if TYPE_CHECKING:
    from ..books import Book
    from ..progress import Progress
    from ..tasks.contexts.splits import Defect
    from ..tasks.runner import RunReport
    from ..workflows.guide_tasks import References
    from ..workflows.guide_texts import GuideTextsReport

Rows = list[dict[str, Any]]


class Contexts(Result):
    """Passages about the characters of books: `rows` in order, `files` those written."""

    def __init__(self, rows: Rows, files: Sequence[Path]) -> None:
        self.rows, self.files = rows, list(files)

    @property
    def figures(self) -> Rows:
        """Per strategy: contexts, characters, pieces and tokens."""
        found = []
        for strategy in dict.fromkeys(row["strategy"] for row in self.rows):
            some = [row for row in self.rows if row["strategy"] == strategy]
            found.append({
                "strategy": strategy, "contexts": len(some),
                "characters": len({(r["doc_key"], r["character"]) for r in some}),
                "pieces": sum(len(r["pieces"]) for r in some), "tokens": sum(r["tokens"] for r in some),
            })  # fmt: skip
        return found

    @property
    def table(self) -> Table:
        """One row per strategy."""
        return Table.of_dicts(self.figures)

    def to_dict(self) -> dict[str, Any]:
        """The same document as `contexts build --json`."""
        return {"contexts": self.figures, "files": [str(file) for file in self.files]}

    def _line(self) -> str:
        return plural(len(self.rows), "context")


def contexts_build(
    books: Any,
    out: PathLike,
    *,
    strategies: Sequence[str] = (),
    characters: Sequence[str] = (),
    budget: int | None = None,
    kind: str = "description",
    summaries: PathLike | None = None,
    joint: bool = False,
    seed: int | None = None,
    recipe: PathLike | None = None,
    format: str | None = None,
    progress: Progress | None = None,
) -> Contexts:
    """Find passages about every character of annotated books and write them to the folder `out`.

    Args:
        books: a path (`format` names its format), a book, or books, with named characters.
        strategies: "coref", "bm25", "lead", "random", "chunks", "none"; None of them: the recipe's.
        characters: only these. budget: tokens of a context. kind: "description" or "analysis".
        summaries: JSON lines with doc_key and text: contexts of the summary alone are added.
        joint: prompts about up to five characters. seed: of the strategy "random".
        recipe: a recipe in place of bookworm.toml.

    Raises:
        UsageError: no named characters, an unknown character or strategy.
    """
    from ..tasks.folder import read_rows
    from ..workflows import contexts as work

    plan = work.read_plan(path_or_none(recipe), strategies, budget, seed)
    found = _books(books, format)
    rows = work.build(found, plan, characters=characters, kind=kind, joint=joint, progress=progress)
    if summaries is not None:
        texts = read_rows(path_of(summaries), needed=("doc_key", "text"))
        rows = work.add_summaries(rows, texts, found, kind)
    return Contexts(rows, work.write_contexts(rows, plan, path_of(out)))


def contexts_ask(
    contexts: PathLike,
    out: PathLike | None = None,
    *,
    kind: str = "description",
    limit: int = 0,
    endpoint: str | None = None,
    model: str | None = None,
    local: str | None = None,
    key_variable: str = "OPENAI_API_KEY",
    most_tokens: int = 512,
    parallel: int = 4,
    prompt_price: float = 0.0,
    reply_price: float = 0.0,
    dry_run: int = 0,
    progress: Progress | None = None,
) -> Asked:
    """Ask a model to describe the characters; the same call again asks only what is missing.

    Args:
        contexts: a folder of contexts, or its file. out: a file for the answers.
        kind: "description" or "analysis". limit: only the first contexts (0: all).
        dry_run: return the first prompts in `preview`, ask nothing.

    The other arguments are those of `questions_evaluate`.

    Raises:
        UsageError: no model, or nowhere to write. SourceError: the model does not answer.
    """
    from ..workflows import contexts as work

    rows = work.read_contexts(path_of(contexts))
    rows = rows[:limit] if limit else rows
    asked = ModelOptions(endpoint, model, local, "none", key_variable, most_tokens, parallel, prompt_price,
                         reply_price)  # fmt: skip
    if dry_run:
        from ..tasks.runner import preview

        return Asked([], None, None, preview(work.requests_of(rows), dry_run, asked.prices))
    target = path_or_none(out)
    if target is None:
        raise UsageError("nowhere to write the answers", expected="--out ANSWERS.jsonl")
    answers, report = work.answer_with(
        rows, asked.make(), target, kind, prices=asked.prices, progress=progress
    )
    return Asked(answers, report, target)


class SystemScores(Result):
    """Mean scores of descriptions by system, 0 to 1."""

    def __init__(self, scores: dict[str, dict[str, float]]) -> None:
        self.scores = scores

    @property
    def table(self) -> Table:
        """One row per system."""
        return Table.of_dicts([{"system": name, **values} for name, values in self.scores.items()])

    def to_dict(self) -> dict[str, Any]:
        """The same document as `contexts score --json`: scores by system."""
        return dict(self.scores)

    def _line(self) -> str:
        return plural(len(self.scores), "system")


def contexts_score(
    references: PathLike,
    *,
    answers: PathLike | None = None,
    books: Any = None,
    kind: str = "description",
    bert_score: str = "",
    bert_layers: int | None = None,
    entailment: str = "",
    recipe: PathLike | None = None,
) -> SystemScores:
    """Score descriptions and baselines: ROUGE, recall of named entities, new bigrams.

    Args:
        references: JSON lines with doc_key, character and text; `answers` likewise, with a strategy.
        books: annotated books, for the baselines.
        kind: "description" or "analysis".
        bert_score: a model for BERTScore (extra `task-models`); `bert_layers` is the layer compared.
        entailment: an NLI model: also the share of sentences that the book entails (needs `books`, and time).
        recipe: a recipe in place of bookworm.toml.

    Raises:
        UsageError: nothing to score.
    """
    from ..tasks.folder import read_rows
    from ..workflows import contexts as work

    if answers is None and books is None:
        raise UsageError("nothing to score", expected="--answers, or --books for the baselines")
    if entailment and books is None:
        raise UsageError("entailment by the book needs the book", expected="--books")
    needed = ("doc_key", "character", "text")
    found = work.score(
        read_rows(path_of(answers), needed=needed) if answers else [],
        read_rows(path_of(references), needed=needed),
        [] if books is None else _books(books, None),
        work.read_plan(path_or_none(recipe)),
        kind,
        work.ScoreModels(bert_score, bert_layers, entailment),
    )
    return SystemScores(found)


def contexts_compare(books: Any, *, budgets: Sequence[int] = (), format: str | None = None) -> Table:
    """Compare strategies on whole books, one row per book, budget and strategy; shares from 0 to 1.

    Args:
        books: a path (`format` names its format), a book, or books.
        budgets: tokens of a context; 2,000 and 7,600 without any.
    """
    from ..workflows import contexts as work

    wanted = list(budgets) or [2000, 7600]
    return Table.of_dicts([row for b in _books(books, format) for row in work.retrieval_table(b, wanted)])


class TableDefects(Result):
    """Defects of BookWorm's tables, and the books of each split that leaks nothing."""

    def __init__(self, defects: Sequence[Defect], placed: dict[str, str]) -> None:
        self.defects, self.placed = list(defects), placed

    @property
    def splits(self) -> dict[str, int]:
        """The number of books by split."""
        return {split: list(self.placed.values()).count(split) for split in ("train", "val", "test")}

    @property
    def table(self) -> Table:
        """One row per defect."""
        return Table.of_dicts([defect.to_dict() for defect in self.defects])

    def to_dict(self) -> dict[str, Any]:
        """The same document as `contexts tables --json`."""
        return {"defects": [defect.to_dict() for defect in self.defects], "splits": self.splits}

    def _line(self) -> str:
        return plural(len(self.defects), "defect")


def contexts_tables(folder: PathLike, out: PathLike | None = None) -> TableDefects:
    """Defects of BookWorm's tables and their overlap with BookCoref; splits that do not leak go to `out`.

    Args:
        folder: BookWorm's tables: books.tsv, *_data.tsv, splits/.
        out: a file for one split per book.
    """
    from ..files import write_text
    from ..tasks.contexts.splits import find_defects, leakless_splits, overlap, read_tables
    from ..workflows.verify import published_books

    found = read_tables(path_of(folder))
    defects = [*find_defects(found), *overlap(found, published_books())]
    placed = leakless_splits(found)
    if (target := path_or_none(out)) is not None:
        rows = sorted(placed.items(), key=lambda item: (item[1], item[0]))
        write_text(target, "BookId\tSplit\n" + "".join(f"{book}\t{split}\n" for book, split in rows))
    return TableDefects(defects, placed)


class GuideTexts(Result):
    """Texts of study guides: what was written, left out, and could not be read."""

    def __init__(self, report: GuideTextsReport) -> None:
        self.report = report

    @property
    def problems(self) -> list[tuple[str, str]]:
        """What could not be read, and why."""
        return list(self.report.problems)

    @property
    def table(self) -> Table:
        """One row per kind of text."""
        return Table({"texts": list(self.report.texts), "number": list(self.report.texts.values())})

    def to_dict(self) -> dict[str, Any]:
        """The same document as `contexts collect --json`."""
        return self.report.to_dict()

    def _line(self) -> str:
        texts = sum(self.report.texts.values())
        return f"{plural(texts, 'text')} of {plural(self.report.guides, 'guide')} in {self.report.out}"


def contexts_collect(
    source: PathLike,
    out: PathLike,
    *,
    names: PathLike | None = None,
    works: PathLike | None = None,
    contact: str | None = None,
    archive: PathLike | None = None,
    recipe: PathLike | None = None,
    harvest_recipe: PathLike | None = None,
    cache_dir: PathLike | None = None,
    offline: bool = False,
    progress: Progress | None = None,
) -> GuideTexts:
    """Collect descriptions, analyses and summaries from archived study guides, and LiSCU's masked task.

    Args:
        source: a folder of BookWorm's tables, or a list of archived pages (LiSCU's).
        out: a folder for the texts.
        names: LiSCU's list of characters: keep only these, in its splits.
        works: works.tsv of `match`: the Gutenberg books of the guides in a list.
        contact: your address, sent with every request.
        archive: a folder of kept pages; None: the cache.
        recipe, harvest_recipe: recipes in place of bookworm.toml and harvest.toml.

    Raises:
        SourceError: not one page could be read.
    """
    from ..sources.store import Store
    from ..workflows import contexts as work
    from ..workflows.guide_texts import build_guide_texts, guides_plan

    place, settings = path_of(source), path_or_none(recipe)
    pages = path_or_none(archive) or Store.open(path_or_none(cache_dir)).path("harvest", "study-guides")
    guides = guides_plan(place, settings, path_or_none(harvest_recipe), contact)
    return GuideTexts(
        build_guide_texts(
            place, path_or_none(names), path_or_none(works), work.read_plan(settings), guides, pages,
            path_of(out), offline=offline, progress=progress,
        )
    )  # fmt: skip


class NamedReferences(Result):
    """Texts of guides under the names of annotated books."""

    def __init__(self, found: References) -> None:
        self.found = found

    @property
    def table(self) -> Table:
        """One row per reference: doc_key, character, text."""
        return Table.of_dicts(self.found.rows)

    def to_dict(self) -> dict[str, Any]:
        """The same document as `contexts references --json`."""
        return self.found.to_dict()

    def _line(self) -> str:
        return plural(len(self.found.rows), "reference")


def contexts_references(
    texts: PathLike, books: Any, out: PathLike, *, kind: str = "description", split: str = "test"
) -> NamedReferences:
    """Give the texts of guides the names of annotated books, as references for `contexts_score`.

    Args:
        texts: a folder that `contexts_collect` wrote; `kind` and `split` say which of its texts.
        books: a path, a book, or books, with named characters.
        out: a file for the references.
    """
    from ..files import write_bytes
    from ..tasks.folder import jsonl_bytes, read_rows
    from ..workflows.guide_tasks import references_for

    needed = ("doc_key", "gutenberg_key", "character", "text")
    rows = read_rows(path_of(texts) / kind / f"{split}.jsonl", needed=needed)
    found = references_for(rows, _books(books, None))
    write_bytes(path_of(out), jsonl_bytes(found.rows))
    return NamedReferences(found)


class Identified(Result):
    """Grades by the name of the answers; `report` is of a model that was asked, `preview` of a dry run."""

    def __init__(
        self,
        grades: dict[str, Any],
        report: RunReport | None = None,
        preview: dict[str, Any] | None = None,
    ) -> None:
        self.grades, self.report, self.preview = grades, report, preview

    @property
    def table(self) -> Table:
        """One row per answers and group: how many are right."""
        rows = [
            {"answers": name, "group": group, **share}
            for name, grades in self.grades.items()
            for group, share in grades["groups"].items()
        ]
        return Table.of_dicts(rows)

    def to_dict(self) -> dict[str, Any]:
        """The same document as `contexts identify --json`."""
        return dict(self.grades) if self.preview is None else self.preview

    def _line(self) -> str:
        if self.preview is not None:
            return f"{self.preview['requests']:,} prompts, nothing was asked"
        return f"grades of {', '.join(self.grades)}"


def contexts_identify(
    texts: PathLike,
    *,
    answers: PathLike | None = None,
    out: PathLike | None = None,
    split: str = "test",
    endpoint: str | None = None,
    model: str | None = None,
    local: str | None = None,
    constrain: str = "none",
    key_variable: str = "OPENAI_API_KEY",
    most_tokens: int = 32,
    parallel: int = 4,
    prompt_price: float = 0.0,
    reply_price: float = 0.0,
    dry_run: int = 0,
    progress: Progress | None = None,
) -> Identified:
    """Say who is masked in a description (LiSCU): grade answers, ask a model, or run the baselines.

    Args:
        texts: a folder that `contexts_collect` wrote; `split` says which of its texts.
        answers: JSON lines with id and answer, to be graded.
        out: a file for the answers of a model.

    The other arguments are those of `questions_evaluate`.

    Raises:
        UsageError: answers and a model, or nowhere to write. SourceError: the model does not answer.
    """
    from ..tasks.folder import read_rows
    from ..tasks.guides.identification import NEEDED, baselines, grade_identification, requests_of
    from ..workflows.guide_tasks import identify_with

    rows = read_rows(path_of(texts) / "identification" / f"{split}.jsonl", needed=NEEDED)
    asked = ModelOptions(endpoint, model, local, constrain, key_variable, most_tokens, parallel, prompt_price,
                         reply_price)  # fmt: skip
    if dry_run:
        from ..tasks.runner import preview

        return Identified({}, preview=preview(requests_of(rows), dry_run, asked.prices))
    given, target = path_or_none(answers), path_or_none(out)
    if given is not None and asked.given:
        raise UsageError("answers are given and a model is named", expected="--answers or a model")
    if asked.given:
        if target is None:
            raise UsageError("nowhere to write the answers", expected="--out ANSWERS.jsonl")
        replies, report = identify_with(rows, asked.make(), target, prices=asked.prices, progress=progress)
        return Identified({report.model: grade_identification(rows, replies)}, report)
    if given is not None:
        return Identified({given.stem: grade_identification(rows, read_rows(given, needed=("id", "answer")))})
    return Identified({name: grade_identification(rows, one) for name, one in baselines(rows).items()})


def _books(source: Any, format: str | None) -> list[Book]:
    """Annotated books with named characters. Raises UsageError: a file without any."""
    from ..workflows.contexts import read_books

    if isinstance(source, str | os.PathLike):
        return read_books(path_of(source), format)
    return [record.to_book() for record in records_of(source)]
