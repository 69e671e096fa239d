"""`bookcoref-data questions`: multiple-choice questions about who a mention refers to."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

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
    books: Annotated[
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
    from ...api import questions_build

    with progress() as listener:
        made = questions_build(
            books, out, like=like, recipe=recipe, format=format, phrases=phrases, test=test, dev=dev,
            draws=draws, least_tokens=least_tokens, seed=seed, progress=listener,
        )  # fmt: skip
    if json:
        emit_json(made.to_dict())
        return
    for key, reason in made.rejected.items():
        say(f"left out: {key}: {reason}")
    emit_table(made.table.columns, [list(row.values()) for row in made.table])
    first = next(iter(made.made.tables), ("", ""))
    say(f"a guess is right in {made.random_baseline:.2%} of {first[1]} questions")
    say(f"wrote {out}")


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
    from ...api import questions_evaluate

    with progress() as listener:
        graded = questions_evaluate(
            questions, answers=answers or (), annotation=annotation, annotator=annotator, books=books,
            split=split, variant=variant, out=out, limit=limit, endpoint=endpoint, model=model, local=local,
            constrain=constrain, key_variable=key_variable, most_tokens=most_tokens, parallel=parallel,
            prompt_price=prompt_price, reply_price=reply_price, dry_run=dry_run, progress=listener,
        )  # fmt: skip
    if options.print_run(graded, out, json):
        _show(graded.grades)


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
