"""Questions about who a mention refers to: `questions_build`, `questions_evaluate`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import UsageError, plural
from ..files import path_of
from .books import PathLike, path_or_none, paths_of
from .models import ModelOptions
from .results import Result
from .tables import Table

if TYPE_CHECKING:
    from ..progress import Progress
    from ..tasks.questions import Grades, QuestionSet
    from ..tasks.runner import RunReport

Rows = list[dict[str, Any]]


class Questions(Result):
    """The questions that were made; `files` are those written, `rejected` the documents left out."""

    def __init__(self, made: QuestionSet, files: Sequence[Path]) -> None:
        self.made, self.files = made, list(files)

    @property
    def rejected(self) -> dict[str, str]:
        """Documents without questions, with the reason."""
        return dict(self.made.rejected)

    @property
    def random_baseline(self) -> float:
        """Expected accuracy of a guess."""
        return self.made.random_baseline

    @property
    def table(self) -> Table:
        """One row per config and split: numbers of questions, and the mean number of options."""
        rows = [[*name, *_counts(questions)] for name, questions in self.made.tables.items()]
        return Table.of_rows(("config", "split", "questions", "NOM", "PRON", "none", "options"), rows)

    def to_dict(self) -> dict[str, Any]:
        """The same document as `questions build --json`."""
        return self.made.to_dict() | {"files": [str(file) for file in self.files]}

    def _line(self) -> str:
        questions = sum(len(rows) for rows in self.made.tables.values())
        return f"{plural(questions, 'question')} from {plural(self.made.documents, 'document')}"


def _counts(questions: Sequence[Any]) -> list[Any]:
    kinds = [q.category for q in questions]
    none = sum(q.answer != q.entity for q in questions)
    mean = sum(len(q.options) for q in questions) / len(questions) if questions else 0.0
    return [len(questions), kinds.count("NOM"), kinds.count("PRON"), none, mean]


def questions_build(
    books: PathLike | Iterable[PathLike],
    out: PathLike,
    *,
    like: str = "repo",
    recipe: PathLike | None = None,
    format: str | None = None,
    phrases: PathLike | None = None,
    test: int | None = None,
    dev: int | None = None,
    draws: int | None = None,
    least_tokens: int | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
) -> Questions:
    """Make multiple-choice questions from annotated books and write them to the folder `out`.

    Args:
        books: annotated books in any format; each path is one data set.
        like: "repo" (the published benchmark), "paper", or "books" (whole books, in bands).
        recipe: a recipe in place of identifyme.toml.
        format: format of the books, where their names do not say.
        phrases: phrases by hand: doc_key, number of the group, phrase (tabs).
        test, dev: test and development questions per data set and category.
        draws: random draws. least_tokens: leave out shorter documents. seed: of shuffles and draws.

    Raises:
        UsageError: unknown settings. SourceError, FormatError: a file cannot be read.
    """
    from ..tasks.questions import read_settings
    from ..workflows import questions as work

    settings = read_settings(
        like, path_or_none(recipe), test=test, dev=dev, draws=draws, least_tokens=least_tokens, seed=seed
    )
    named = work.read_phrases(path_of(phrases)) if phrases else None
    made = work.build(paths_of(books), settings, format=format, phrases=named, progress=progress)
    return Questions(made, work.write_questions(made, settings, path_of(out)))


class Graded(Result):
    """Grades by the name of the answers. `report` is of a model that was asked, `preview` of a dry run."""

    def __init__(
        self,
        grades: dict[str, Grades],
        report: RunReport | None = None,
        preview: dict[str, Any] | None = None,
    ) -> None:
        self.grades, self.report, self.preview = grades, report, preview

    @property
    def table(self) -> Table:
        """One row per answers and group of questions: how many are right, in percent with an interval."""
        rows = [
            [name, group, share.total, share.right, 100 * share.value if share.total else None,
             *((100 * end for end in share.interval) if share.total else (None, None))]
            for name, grades in self.grades.items()
            for group, share in grades.groups.items()
        ]  # fmt: skip
        return Table.of_rows(("answers", "questions", "n", "right", "accuracy", "low", "high"), rows)

    def to_dict(self) -> dict[str, Any]:
        """The same document as `questions evaluate --json`: grades by the name of the answers."""
        if self.preview is not None:
            return self.preview
        return {name: grades.to_dict() for name, grades in self.grades.items()}

    def _line(self) -> str:
        if self.preview is not None:
            return f"{self.preview['requests']:,} prompts, nothing was asked"
        found = (f"{name} {100 * g.groups['all'].value:.1f} %" for name, g in self.grades.items())
        return ", ".join(found)


def questions_evaluate(
    questions: PathLike,
    *,
    answers: PathLike | Iterable[PathLike] = (),
    annotation: PathLike | None = None,
    annotator: bool = False,
    books: PathLike | None = None,
    split: str = "test",
    variant: str = "desc",
    out: PathLike | None = None,
    limit: int = 0,
    endpoint: str | None = None,
    model: str | None = None,
    local: str | None = None,
    constrain: str = "none",
    key_variable: str = "OPENAI_API_KEY",
    most_tokens: int = 512,
    parallel: int = 4,
    prompt_price: float = 0.0,
    reply_price: float = 0.0,
    dry_run: int = 0,
    progress: Progress | None = None,
) -> Graded:
    """Grade answers, or ask a model or an annotation first.

    Args:
        questions: a folder of questions, or one `.jsonl` of it; `split` is "test", "validation", ...
        answers: JSON lines with id and answer (or response).
        annotation: answer from this annotation of the books; needs `books`.
        annotator: answer with our own annotator; needs `books`.
        books: the books that the questions were made from.
        variant: the prompt: "base", "desc" or "coref".
        out: a file for the answers; replies of a model are kept beside it.
        limit: only the first questions (0: all).
        endpoint, model: a server with the OpenAI interface, and the model's name there.
        local: a transformers model: a folder or a name on the Hub.
        constrain: "none", "regex" or "choice" (guided decoding of vLLM).
        key_variable: the environment variable with the API key.
        most_tokens: longest reply. parallel: requests at a time.
        prompt_price, reply_price: prices of a million tokens.
        dry_run: return the first prompts in `preview`, ask nothing.

    Raises:
        UsageError: nothing to grade, or what is needed is missing. SourceError: the model does not answer.
    """
    from ..tasks.questions import grade
    from ..workflows import questions as work

    rows = work.read_questions(path_of(questions), split)
    rows = rows[:limit] if limit else rows
    asked = ModelOptions(endpoint, model, local, constrain, key_variable, most_tokens, parallel, prompt_price,
                         reply_price)  # fmt: skip
    if dry_run:
        from ..tasks.runner import preview

        return Graded({}, preview=preview(work.requests_of(rows, variant), dry_run, asked.prices))
    graded = Graded({str(path): grade(rows, work.read_answers(path)) for path in paths_of(answers)})
    target = path_or_none(out)
    if annotation is not None or annotator:
        by = _Annotations(path_or_none(books), path_or_none(annotation), annotator, progress)
        graded.grades |= by.grades(rows, None if asked.given else target)
    if asked.given:
        if target is None:
            raise UsageError("nowhere to write the answers", expected="--out ANSWERS.jsonl")
        given, graded.report = work.answer_with(
            work.requests_of(rows, variant), asked.make(), target, prices=asked.prices, progress=progress
        )
        graded.grades[graded.report.model] = grade(rows, given)
    if not graded.grades:
        expected = "--answers, --annotation, --annotator, --endpoint or --local"
        raise UsageError("nothing to grade", expected=expected)
    return graded


class _Annotations:
    """Answers from an annotation of the books, from our annotator, or both."""

    def __init__(
        self, books: Path | None, annotation: Path | None, annotator: bool, progress: Progress | None
    ) -> None:
        self.books, self.annotation, self.annotator, self.progress = books, annotation, annotator, progress

    def grades(self, rows: Rows, out: Path | None) -> dict[str, Grades]:
        """Grades by name; the last answers go to `out`. Raises UsageError without the books."""
        from ..files import write_bytes
        from ..tasks.folder import jsonl_bytes
        from ..tasks.questions import grade
        from ..workflows import questions as work

        if self.books is None:
            raise UsageError("the books are missing", expected="--books, what the questions were made from")
        found, given = {}, rows
        if self.annotation is not None:
            given = work.from_annotation(rows, self.books, self.annotation)
            found[str(self.annotation)] = grade(rows, given)
        if self.annotator:
            given = work.from_annotator(rows, self.books, progress=self.progress)
            found["our annotator"] = grade(rows, given)
        if out is not None:
            write_bytes(out, jsonl_bytes(given))
        return found
