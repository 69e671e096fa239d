"""Questions about who a mention refers to: `questions_build`, `questions_evaluate`; and long documents from
documents in parts: `merge`, `merge_agreement`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ..books import Record
from ..errors import UsageError, plural
from ..files import path_of, write_bytes
from ..formats import NotKept
from ..formats.documents import by_name
from ..outputs import files_of
from ..progress import Progress
from ..tasks.folder import jsonl_bytes, read_rows
from ..tasks.merging.parts import SplitDocument
from ..tasks.merging.parts import merge as join
from ..tasks.merging.scoring import agreement_by_genre
from ..tasks.merging.table import write_table
from ..tasks.questions.baselines import evenly, text_answers
from ..tasks.questions.grading import Grades, grade
from ..tasks.questions.prompts import request_of
from ..tasks.questions.settings import read_settings
from ..workflows import merge as merging
from ..workflows import questions as work
from . import options as o
from .books import AnnotatedBook, Books
from .models import GradedRun, asking_of, preview_of
from .options import PathLike, grouped, path_or_none, paths_of, renamed
from .tables import Result, Table

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ..tasks.questions.build import QuestionSet

Rows = list[dict[str, Any]]


class Questions(Result):
    """The questions that were made. `files` are those written, `rejected` the documents left out with the
    reason, `random_baseline` the expected accuracy of a guess."""

    def __init__(self, made: QuestionSet, files: Sequence[Path]) -> None:
        self.made, self.files, self.rejected = made, list(files), dict(made.rejected)
        self.random_baseline = made.random_baseline

    @property
    def table(self) -> Table:
        """One row per config and split: numbers of questions, and the mean number of options."""
        rows: list[list[Any]] = []
        for name, questions in self.made.tables.items():
            kinds = [q.category for q in questions]
            none = sum(q.answer != q.entity for q in questions)
            mean = sum(len(q.options) for q in questions) / len(questions) if questions else 0.0
            rows.append([*name, len(questions), kinds.count("NOM"), kinds.count("PRON"), none, mean])
        return Table.of_rows(("config", "split", "questions", "NOM", "PRON", "none", "options"), rows)

    def to_dict(self) -> dict[str, Any]:
        return self.made.to_dict() | {"files": [str(file) for file in self.files]}

    def _line(self) -> str:
        questions = sum(len(rows) for rows in self.made.tables.values())
        return f"{plural(questions, 'question')} from {plural(self.made.documents, 'document')}"


@o.only_with("like=books like=release recipe", "band_size longest_text questions")
@o.only_with("like=release questions recipe", "least judged")
@files_of("out", reads=("books", "recipe", "phrases"))
def questions_build(
    books: PathLike | Iterable[PathLike], out: PathLike, *, like: str = "repo", recipe: o.Recipe = None,
    format: o.Format = None, phrases: PathLike | None = None, test: o.Count | None = None,
    dev: o.Count | None = None, draws: o.Count | None = None, least_tokens: o.Count | None = None,
    band_size: o.Count | None = None, longest_text: o.Count | None = None,
    least_options: o.Count | None = None, most_options: o.Count | None = None,
    questions: o.Positive | None = None, least: o.Proportion | None = None, judged: o.Count | None = None,
    seed: int | None = None, replace: o.Overwrite = False, cache_dir: o.CacheDir = None,
    progress: Progress | None = None,
) -> Questions:  # fmt: skip
    """Make multiple-choice questions from annotated books.

    Args:
        books: annotated books in any format; each path is one data set.
        out: folder for the questions.
        like: "repo" (the published benchmark), "paper", "books" (whole books, in bands), or "release"
            (the same, each question checked by rules).
        phrases: phrases by hand: doc_key, number of the group, phrase (tabs).
        test: test questions per data set and category.
        dev: development questions, likewise.
        draws: random draws.
        least_tokens: leave out shorter documents.
        band_size: with "books": questions per band, category and data set.
        longest_text: with "books": the longest passage in tokens (0: any).
        least_options: fill up fewer with the nearest entities of the document (0: as they are).
        most_options: of more keep the nearest (0: all, as published).
        questions: with "release": at most so many in all.
        least: with "release": ask only what our annotator finds again with this probability (0: all, for
            gold).
        judged: with "release": our annotator answers so many, from the passage alone.
        seed: seed of shuffles and draws.

    Raises:
        UsageError: unknown settings. SourceError, FormatError: a file cannot be read.
    """
    changes = {
        "test": test, "dev": dev, "draws": draws, "least_tokens": least_tokens, "seed": seed,
        "band_size": band_size, "longest_text": longest_text, "least_options": least_options,
        "most_options": most_options, "questions": questions, "least": least, "judged": judged,
    }  # fmt: skip
    settings = read_settings(like, path_or_none(recipe), **changes)
    named = work.read_phrases(path_of(phrases)) if phrases else None
    made = work.build(
        paths_of(books), settings, format=format, phrases=named, cache_dir=path_or_none(cache_dir),
        progress=progress,
    )  # fmt: skip
    return Questions(made, work.write_questions(made, settings, path_of(out)))


class Graded(GradedRun):
    """Grades of questions by the name of the answers."""

    grades: dict[str, Grades]

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

    def _graded(self) -> str:
        return ", ".join(f"{name} {100 * g.groups['all'].value:.1f} %" for name, g in self.grades.items())


@renamed(limit="most")
@o.only_with("endpoint dry_run", "model key_variable parallel constrain")
@o.only_with("endpoint local dry_run", "most_tokens prompt_price reply_price variant wording")
@o.only_with("annotation annotator endpoint local dry_run", "out")
@files_of("out", reads=("questions", "answers", "annotation", "books"))
@grouped
def questions_evaluate(
    questions: PathLike, *, answers: PathLike | Iterable[PathLike] = (), annotation: PathLike | None = None,
    annotator: bool = False, baselines: bool = False, books: PathLike | None = None, split: str = "test",
    variant: o.Variant = "desc", wording: Literal["ours", "published"] = "ours",
    out: PathLike | None = None, most: o.Count = 0, constrain: o.Constrain = "none",
    most_tokens: o.MostTokens = 512, dry_run: o.DryRun = 0, replace: o.Overwrite = False,
    progress: Progress | None = None, **model: Unpack[o.ModelOptions],
) -> Graded:  # fmt: skip
    """Grade answers, or ask a model or an annotation first.

    Args:
        questions: folder of questions, or one `.jsonl` of it.
        answers: JSON lines with id and answer (or response); repeatable.
        annotation: answer from this annotation of the books; needs `books`.
        annotator: answer with our own annotator; needs `books`.
        baselines: answer with the option that is said last before the mention, and most often in the text.
        books: the books that the questions were made from.
        split: split of the folder: "test", "validation", "random/draw_01".
        variant: besides the answer the prompt asks for nothing, a reason, or one by the chains ("coref").
        wording: of the prompt; the published one has its system message.
        out: file for the answers; replies of a model are kept beside it, and the same call again asks only
            what is missing.
        most: only so many questions, evenly from data sets, categories and bands (0: all).

    Raises:
        UsageError: nothing to grade, or what is needed is missing. SourceError: the model does not answer.
    """
    rows = work.read_questions(path_of(questions), split)
    rows = evenly(rows, most) if most else rows
    asked = model["endpoint"] is not None or model["local"] is not None
    requests = [request_of(row, variant, wording) for row in rows] if dry_run or asked else []
    if dry_run:
        return Graded({}, preview=preview_of(requests, dry_run, model))
    graded = Graded({str(path): grade(rows, read_rows(path, "answer_row")) for path in paths_of(answers)})
    if baselines:
        graded.grades |= {name: grade(rows, given) for name, given in text_answers(rows).items()}
    if annotation is not None or annotator:
        where = None if asked else path_or_none(out)
        by = (path_or_none(annotation), annotator)
        graded.grades |= _from_annotations(rows, path_or_none(books), *by, where, progress)
    if asked:
        run = asking_of(model, out, progress, most_tokens, constrain)
        graded.report = run.report
        graded.grades[run.report.model] = grade(rows, work.answer_with(requests, run))
    if not graded.grades:
        expected = "--answers, --annotation, --annotator, --endpoint or --local"
        raise UsageError("nothing to grade", expected=expected)
    return graded


def _from_annotations(
    rows: Rows, books: Path | None, annotation: Path | None, annotator: bool, out: Path | None,
    progress: Progress | None,
) -> dict[str, Grades]:  # fmt: skip
    """Grades of answers from an annotation of the books, from our annotator, or both; the last go to `out`.
    Raises UsageError: the books are missing."""
    if books is None:
        raise UsageError("the books are missing", expected="--books, what the questions were made from")
    found, given = {}, rows
    if annotation is not None:
        given = work.from_annotation(rows, books, annotation)
        found[str(annotation)] = grade(rows, given)
    if annotator:
        given = work.from_annotator(rows, books, progress=progress)
        found["our annotator"] = grade(rows, given)
    if out is not None:
        write_bytes(out, jsonl_bytes(given))
    return found


# -- documents in parts -----------------------------------------------------------------------------


class Merged(Result):
    """The long documents. `warnings` is what was noticed, `not_kept` what the format of `out` cannot hold,
    `plots` the pictures written, `saved` the number of decisions in the table that was asked for."""

    def __init__(self, report: merging.MergeReport, documents: Sequence[SplitDocument]) -> None:
        self.report, self.warnings = report, list(report.warnings)
        self.not_kept: list[NotKept] = []
        self.plots: list[Path] = []
        self.saved = 0
        self._documents = [d for d in documents if d.doc_key in report.decisions]

    @property
    def books(self) -> Books:
        """The merged documents."""
        return Books(AnnotatedBook(record) for record in self.report.records)

    @property
    def statistics(self) -> dict[str, list[dict[str, Any]]]:
        """Counts by genre, of the parts and of the merged documents."""
        from ..tasks.merging.statistics import statistics

        both = {"parts": as_parts(self._documents), "merged": self.report.records}
        return {name: [s.to_dict() for s in statistics(records)] for name, records in both.items()}

    @property
    def table(self) -> Table:
        """One row per merged document."""
        return self.books.table

    def to_dict(self) -> dict[str, Any]:
        return self.report.to_dict() | {"statistics": self.statistics}

    def _line(self) -> str:
        report = self.report
        read = f"{plural(len(report.records), 'document')} from {plural(report.parts, 'part')}"
        return f"{read}, {plural(report.links, 'chain')} joined, {report.new:,} new"


@o.only_with("!decisions", "by least cast")
@o.only_with("!key_ids", "key")
@o.only_with("out", "split")
@files_of("out", "save", "plots", reads=("parts", "cast", "decisions", "key", "recipe"))
def merge(
    parts: PathLike, out: PathLike | None = None, *, by: str | None = None, least: o.Proportion | None = None,
    cast: PathLike | None = None, decisions: PathLike | Iterable[PathLike] = (), save: PathLike | None = None,
    key: PathLike | None = None, key_ids: bool = False, only_merged: bool = False, named: bool = False,
    plots: PathLike | None = None, split: o.SplitName = "test", replace: o.Replace = False,
    recipe: o.Recipe = None, format: o.Format = None, progress: Progress | None = None,
) -> Merged:  # fmt: skip
    """Join the parts of documents, and the chains that refer to the same entity.

    Args:
        parts: documents in parts or windows, in any format.
        out: file (.conll, .conllu, .jsonl) or data set folder.
        by: "linker", "greedy", "id" (equal ids are one chain) or "new" (default: what the recipe says).
        least: least probability of a link that the linker makes (default: what the recipe says).
        cast: list of characters, one a line: chains with the names of one become that character's, and so
            does each of its names in the text.
        decisions: table of decisions to take in place of `by`; repeatable, the majority decides.
        save: write the decisions made as a table.
        key: whole documents of the same tokens: score decisions and chains.
        key_ids: score against equal ids of chains instead of `key`.
        only_merged: leave out documents with only one part (LongtoNotes_s).
        named: leave out chains without a name, as where a key has characters alone (BookCoref).
        plots: folder for pictures of lengths and distances.
        split: split of the data set folder.

    Raises:
        UsageError: no such way to decide, a cast beside tables, a document not decided in whole, or none
            like it in the key; a folder that is not ours, or that would lose documents.
    """
    from ..tasks.merging.statistics import save_plots

    target = path_or_none(out)
    if split != "test" and target is not None and by_name(target) is not None:
        raise UsageError("--split does nothing where --out is a file", expected="a folder", found=target)
    plan = merging.read_plan(path_or_none(recipe), by, least)
    documents, tables = merging.read_parts(path_of(parts), format), paths_of(decisions)
    if (names := path_or_none(cast)) is not None:
        documents = merging.with_cast(documents, names)
    if tables:
        chosen = merging.voted(documents, merging.read_tables(tables, documents))
    else:
        chosen = merging.decide(documents, plan.decide, progress, plan.least)
    report = merging.merge_documents(documents, chosen, only_merged=only_merged, named=named)
    if key is not None or key_ids:
        merging.score(report, documents, path_or_none(key), plan)
    merged = Merged(report, documents)
    if target is not None:
        merged.not_kept = merging.write(report, target, split, replace=replace)
    if (file := path_or_none(save)) is not None:
        merged.saved = write_table(file, documents, report.decisions)
    if (folder := path_or_none(plots)) is not None:
        merged.plots = list(save_plots({"parts": as_parts(documents), "merged": report.records}, folder))
    return merged


@files_of(reads=("parts", "decisions"))
def merge_agreement(
    parts: PathLike, decisions: PathLike | Iterable[PathLike], *, format: o.Format = None
) -> Table:
    """The agreement of annotators, one row per genre and pair of them.

    Columns: genre, annotators, decisions, strict, jaccard, new, not_new, alpha (Krippendorff's).
    """
    documents = merging.read_parts(path_of(parts), format)
    found = agreement_by_genre(documents, merging.read_tables(paths_of(decisions), documents)).items()
    rows = ((genre, pair, values) for genre, pairs in found for pair, values in pairs.items())
    return Table.of_dicts({"genre": genre, "annotators": list(p), **v.to_dict()} for genre, p, v in rows)


def as_parts(documents: Iterable[SplitDocument]) -> list[Record]:
    """Each part's chains on their own, over the tokens of the whole document."""
    return [join(document, {}).to_record() for document in documents]
