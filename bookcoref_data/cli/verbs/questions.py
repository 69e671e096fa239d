"""`bookcoref-data questions`: multiple-choice questions about who a mention refers to."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...errors import UsageError
from .. import model_options as options
from ..common import JsonFlag, emit_json, emit_table, progress, say

if TYPE_CHECKING:
    from ...tasks.questions import Grades


def register(app: typer.Typer) -> None:
    verbs = typer.Typer(
        help="Questions about who a mention refers to (IdentifyMe).",
        no_args_is_help=True,
        rich_markup_mode=None,
    )
    verbs.command("build")(build)
    verbs.command("evaluate")(evaluate)
    app.add_typer(verbs, name="questions")


def build(
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="BOOKS...", help="Annotated books, any format; each path is one data set."),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the questions.")],
    like: Annotated[
        str, typer.Option(help="repo (the published benchmark), paper, or books (whole books, in bands).")
    ] = "repo",
    recipe: Annotated[Path | None, typer.Option(help="Recipe file instead of identifyme.toml.")] = None,
    format: Annotated[
        str | None, typer.Option("--format", help="Format of the input, where its name does not say.")
    ] = None,
    phrases: Annotated[
        Path | None, typer.Option(help="Phrases by hand: doc_key, number of the group, phrase (tabs).")
    ] = None,
    test: Annotated[int | None, typer.Option(min=0, help="Test questions per data set and category.")] = None,
    dev: Annotated[int | None, typer.Option(min=0, help="Development questions, likewise.")] = None,
    draws: Annotated[int | None, typer.Option(min=0, help="Random draws.")] = None,
    least_tokens: Annotated[int | None, typer.Option(min=0, help="Leave out shorter documents.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of shuffles and draws.")] = None,
    json: JsonFlag = False,
) -> None:
    """Make questions from annotated books.

    Example: `bookcoref-data questions build litbank/coref/brat --out questions`
    """
    from ...tasks.questions import read_settings
    from ...workflows import questions as work

    settings = read_settings(
        like, recipe, test=test, dev=dev, draws=draws, least_tokens=least_tokens, seed=seed
    )
    named = work.read_phrases(phrases) if phrases else None
    with progress() as listener:
        made = work.build(paths, settings, format=format, phrases=named, progress=listener)
    files = work.write_questions(made, settings, out)
    if json:
        emit_json(made.to_dict() | {"files": [str(f) for f in files]})
        return
    for key, reason in made.rejected.items():
        say(f"left out: {key}: {reason}")
    emit_table(
        ("config", "split", "questions", "NOM", "PRON", "none", "options"),
        [_row(name, rows) for name, rows in made.tables.items()],
    )
    say(f"a guess is right in {made.random_baseline:.2%} of {next(iter(made.tables), ('', ''))[1]} questions")
    say(f"wrote {out}")


def _row(name: tuple[str, str], rows: Any) -> list[Any]:
    kinds = [q.category for q in rows]
    none = sum(q.answer != q.entity for q in rows)
    mean = sum(len(q.options) for q in rows) / len(rows) if rows else 0.0
    return [*name, len(rows), kinds.count("NOM"), kinds.count("PRON"), none, mean]


def evaluate(
    questions: Annotated[Path, typer.Argument(help="Folder of questions, or one .jsonl of it.")],
    answers: Annotated[
        list[Path] | None,
        typer.Option("--answers", "-a", help="JSON lines with id and answer (or response); repeatable."),
    ] = None,
    annotation: Annotated[
        Path | None, typer.Option(help="Answer from this annotation of the books; needs --books.")
    ] = None,
    annotator: Annotated[
        bool, typer.Option("--annotator", help="Answer with our own annotator; needs --books.")
    ] = False,
    books: Annotated[Path | None, typer.Option(help="The books that the questions were made from.")] = None,
    split: Annotated[
        str, typer.Option(help="Split of the folder: test, validation, random/draw_01.")
    ] = "test",
    variant: Annotated[str, typer.Option(help="Prompt: base, desc or coref.")] = "desc",
    out: Annotated[Path | None, typer.Option("--out", "-o", help="File for the answers.")] = None,
    limit: Annotated[int, typer.Option(min=0, help="Only the first N questions (0: all).")] = 0,
    endpoint: options.Endpoint = None,
    model: options.ModelName = None,
    local: options.Local = None,
    constrain: options.Constrain = "none",
    key_variable: options.KeyVariable = "OPENAI_API_KEY",
    most_tokens: options.MostTokens = 512,
    parallel: options.Parallel = 4,
    prompt_price: options.PromptPrice = 0.0,
    reply_price: options.ReplyPrice = 0.0,
    dry_run: options.DryRun = 0,
    json: JsonFlag = False,
) -> None:
    """Grade answers, or ask a model or an annotation first.

    Replies of a model are kept beside --out; the same command again asks only what is missing.
    """
    from ...tasks.questions import grade
    from ...workflows import questions as work

    rows = work.read_questions(questions, split)
    rows = rows[:limit] if limit else rows
    asked = options.ModelOptions(endpoint, model, local, constrain, key_variable, most_tokens, parallel)
    if dry_run:
        options.show_prompts(work.requests_of(rows, variant), dry_run, prompt_price, json)
        return
    found = {str(path): grade(rows, work.read_answers(path)) for path in answers or ()}
    if annotation is not None or annotator:
        found |= _from_annotations(rows, books, annotation, annotator, None if asked.given else out)
    if asked.given:
        found |= _from_model(rows, variant, asked, out, prompt_price, reply_price)
    if not found:
        expected = "--answers, --annotation, --annotator, --endpoint or --local"
        raise UsageError("nothing to grade", expected=expected)
    if json:
        emit_json({name: grades.to_dict() for name, grades in found.items()})
        return
    _show(found)


def _from_annotations(
    rows: list[dict[str, Any]], books: Path | None, annotation: Path | None, annotator: bool, out: Path | None
) -> dict[str, Grades]:
    """Grades of the answers of an annotation, of our annotator, or both; the last answers go to `out`."""
    from ...files import write_bytes
    from ...tasks.folder import jsonl_bytes
    from ...tasks.questions import grade
    from ...workflows import questions as work

    if books is None:
        raise UsageError("the books are missing", expected="--books, what the questions were made from")
    found, given = {}, rows
    if annotation is not None:
        given = work.from_annotation(rows, books, annotation)
        found[str(annotation)] = grade(rows, given)
    if annotator:
        with progress() as listener:
            given = work.from_annotator(rows, books, progress=listener)
        found["our annotator"] = grade(rows, given)
    if out is not None:
        write_bytes(out, jsonl_bytes(given))
    return found


def _from_model(
    rows: list[dict[str, Any]],
    variant: str,
    asked: options.ModelOptions,
    out: Path | None,
    prompt_price: float,
    reply_price: float,
) -> dict[str, Grades]:
    from ...tasks.questions import grade
    from ...tasks.runner import Prices
    from ...workflows import questions as work

    if out is None:
        raise UsageError("nowhere to write the answers", expected="--out ANSWERS.jsonl")
    with progress() as listener:
        given, report = work.answer_with(
            work.requests_of(rows, variant),
            asked.make(),
            out,
            prices=Prices(prompt_price, reply_price),
            progress=listener,
        )
    options.say_run(report, out)
    return {report.model: grade(rows, given)}


def _show(found: dict[str, Grades]) -> None:
    for name, grades in found.items():
        rows: list[list[Any]] = []
        for label, share in grades.groups.items():
            low, high = share.interval
            interval = f"{100 * low:.1f} to {100 * high:.1f}" if share.total else None
            rows.append(
                [label, share.total, share.right, 100 * share.value if share.total else None, interval]
            )
        rows.append(["guess", grades.groups["all"].total, None, 100 * grades.random_baseline, None])
        emit_table(("questions", "n", "right", "accuracy", "95% interval"), rows, title=name)
        errors = ", ".join(f"{kind} {count:,}" for kind, count in sorted(grades.errors.items())) or "none"
        typer.echo(f"errors: {errors}")
        nested = grades.nested
        typer.echo(
            f"nested mentions: {nested.right:,} of {nested.total:,} right; of the errors "
            f"{grades.nested_confusions:,} name an entity of an overlapping mention"
        )
        if grades.extracted and grades.extracted_and_right:
            typer.echo(
                f"mention quoted right: {grades.extracted.right:,}; and answered right: "
                f"{grades.extracted_and_right.right:,}"
            )
        if grades.unknown:
            say(f"{name}: {grades.unknown:,} answers are to other questions and were left out")
