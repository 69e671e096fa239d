"""`bookcoref-data contexts`: passages about characters, answers of models, scores, published tables."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from .. import model_options as options
from ..common import CacheDir, JsonFlag, Offline, emit_json, emit_table, progress, say

Books = Annotated[Path, typer.Argument(metavar="BOOKS", help="Annotated books with named characters.")]
Kind = Annotated[str, typer.Option(help="description or analysis.")]
Recipe = Annotated[Path | None, typer.Option(help="Recipe file instead of bookworm.toml.")]
Format = Annotated[str | None, typer.Option("--format", help="Format of BOOKS.")]


def register(app: typer.Typer) -> None:
    verbs = typer.Typer(
        help="Contexts of characters, for describing them (BookWorm).",
        no_args_is_help=True,
        rich_markup_mode=None,
    )
    verbs.command("build")(build)
    verbs.command("ask")(ask)
    verbs.command("score")(score)
    verbs.command("compare")(compare)
    verbs.command("tables")(tables)
    verbs.command("collect")(collect)
    verbs.command("references")(references)
    verbs.command("identify")(identify)
    app.add_typer(verbs, name="contexts")


def build(
    books: Books,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the contexts.")],
    strategy: Annotated[
        list[str] | None,
        typer.Option("--strategy", "-s", help="coref, bm25, lead, random, chunks, none; repeatable."),
    ] = None,
    character: Annotated[
        list[str] | None, typer.Option("--character", "-c", help="Only this character; repeatable.")
    ] = None,
    budget: Annotated[int | None, typer.Option(min=1, help="Tokens of a context.")] = None,
    kind: Kind = "description",
    summaries: Annotated[
        Path | None, typer.Option(help="JSON lines doc_key, text: add contexts of the summary alone.")
    ] = None,
    joint: Annotated[bool, typer.Option("--joint", help="Prompts about up to five characters.")] = False,
    seed: Annotated[int | None, typer.Option(help="Seed of the strategy random.")] = None,
    recipe: Recipe = None,
    format: Format = None,
    json: JsonFlag = False,
) -> None:
    """Find passages about every character of annotated books.

    Example: `bookcoref-data contexts build bookcoref --out contexts --strategy coref --strategy bm25`
    """
    from ...api import contexts_build

    with progress() as listener:
        made = contexts_build(
            books, out, strategies=strategy or (), characters=character or (), budget=budget, kind=kind,
            summaries=summaries, joint=joint, seed=seed, recipe=recipe, format=format, progress=listener,
        )  # fmt: skip
    if json:
        emit_json(made.to_dict())
        return
    emit_table(made.table.columns, [list(row.values()) for row in made.table])
    say(f"wrote {out}")


def ask(
    contexts: Annotated[Path, typer.Argument(help="Folder of contexts.")],
    out: Annotated[Path | None, typer.Option("--out", "-o", help="File for the answers.")] = None,
    kind: Kind = "description",
    limit: Annotated[int, typer.Option(min=0, help="Only the first N contexts (0: all).")] = 0,
    endpoint: options.Endpoint = None,
    model: options.ModelName = None,
    local: options.Local = None,
    key_variable: options.KeyVariable = "OPENAI_API_KEY",
    most_tokens: options.MostTokens = 512,
    parallel: options.Parallel = 4,
    prompt_price: options.PromptPrice = 0.0,
    reply_price: options.ReplyPrice = 0.0,
    dry_run: options.DryRun = 0,
    json: JsonFlag = False,
) -> None:
    """Ask a model to describe the characters. Replies are kept; a second run asks only what is missing."""
    from ...api import contexts_ask

    with progress() as listener:
        done = contexts_ask(
            contexts, out, kind=kind, limit=limit, endpoint=endpoint, model=model, local=local,
            key_variable=key_variable, most_tokens=most_tokens, parallel=parallel, prompt_price=prompt_price,
            reply_price=reply_price, dry_run=dry_run, progress=listener,
        )  # fmt: skip
    options.print_run(done, out, json)


def score(
    references: Annotated[Path, typer.Argument(help="JSON lines: doc_key, character, text.")],
    answers: Annotated[
        Path | None, typer.Option("--answers", "-a", help="JSON lines: doc_key, character, text, strategy.")
    ] = None,
    books: Annotated[Path | None, typer.Option(help="Annotated books, for the baselines.")] = None,
    kind: Kind = "description",
    bert_score: Annotated[
        str, typer.Option(metavar="MODEL", help="Also BERTScore with this model (extra task-models).")
    ] = "",
    bert_layers: Annotated[int | None, typer.Option(min=1, help="Layer that BERTScore compares.")] = None,
    entailment: Annotated[
        str, typer.Option(metavar="MODEL", help="Also the share of sentences that the book entails (gpu).")
    ] = "",
    recipe: Recipe = None,
    json: JsonFlag = False,
) -> None:
    """Score descriptions and baselines: ROUGE, recall of named entities, new bigrams, in percent.

    --entailment asks an NLI model about every sentence with every paragraph of the book, so it needs --books
    and time.
    """
    from ...api import contexts_score

    found = contexts_score(
        references, answers=answers, books=books, kind=kind, bert_score=bert_score, bert_layers=bert_layers,
        entailment=entailment, recipe=recipe,
    ).scores  # fmt: skip
    if json:
        emit_json(found)
        return
    columns = ["rouge1", "rouge2", "rougeL", "entity_recall", "novel_bigrams"]
    titles = ["system", "texts", "R-1", "R-2", "R-L", "entities", "new bigrams"]
    for column, title, asked in (
        ("bert_score", "BERTScore", bert_score),
        ("entailment", "entailed", entailment),
    ):
        if asked:
            columns.append(column)
            titles.append(title)
    rows = [
        [name, int(s["texts"]), *(100 * s[c] if c in s else None for c in columns)]
        for name, s in found.items()
    ]
    emit_table(titles, rows)


def compare(
    books: Books,
    budget: Annotated[
        list[int] | None, typer.Option("--budget", "-b", help="Tokens of a context; repeatable.")
    ] = None,
    format: Format = None,
    json: JsonFlag = False,
) -> None:
    """Compare strategies on whole books: company, mentions and precision of contexts, in percent."""
    from ...api import contexts_compare

    rows = contexts_compare(books, budgets=budget or (), format=format).to_dicts()
    if json:
        emit_json([{name: value for name, value in row.items() if value is not None} for row in rows])
        return
    measures = ("entity_recall", "mention_recall", "precision")
    emit_table(
        ("book", "budget", "strategy", "characters", "entities", "mentions", "precision"),
        [
            [
                r["book"],
                r["budget"],
                r["strategy"],
                r["characters"],
                *(None if r.get(m) is None else 100 * r[m] for m in measures),
            ]
            for r in rows
        ],
    )


def tables(
    folder: Annotated[Path, typer.Argument(help="BookWorm's tables: books.tsv, *_data.tsv, splits/.")],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="File for one split per book, without leaks."),
    ] = None,
    json: JsonFlag = False,
) -> None:
    """Report defects of BookWorm's tables and their overlap with BookCoref; make splits that do not leak."""
    from ...api import contexts_tables

    found = contexts_tables(folder, out)
    if out is not None:
        say(f"wrote {out}")
    if json:
        emit_json(found.to_dict())
        return
    listed: list[list[Any]] = [
        [d.table, d.what, len(d.books), ", ".join(d.books[:6]) + (", ..." if len(d.books) > 6 else "")]
        for d in found.defects
    ]
    emit_table(("table", "what", "books", "ids"), listed)
    say("splits without leaks: " + ", ".join(f"{split} {count}" for split, count in found.splits.items()))


def collect(
    source: Annotated[
        Path, typer.Argument(help="Folder of BookWorm's tables, or a list of archived pages (LiSCU's).")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the texts.")],
    names: Annotated[
        Path | None,
        typer.Option(help="LiSCU's list of characters: keep only these, in its splits."),
    ] = None,
    works: Annotated[
        Path | None, typer.Option(help="works.tsv of `match`: the Gutenberg books of the guides in a list.")
    ] = None,
    contact: Annotated[str | None, typer.Option(help="Your address, sent with every request.")] = None,
    archive: Annotated[Path | None, typer.Option(help="Folder of kept pages, instead of the cache.")] = None,
    recipe: Recipe = None,
    harvest_recipe: Annotated[
        Path | None, typer.Option(help="Recipe of the harvest, instead of harvest.toml.")
    ] = None,
    cache_dir: CacheDir = None,
    offline: Offline = False,
    json: JsonFlag = False,
) -> None:
    """Collect descriptions, analyses and summaries from archived study guides, and LiSCU's masked task.

    Example: `bookcoref-data contexts collect bookworm --out guides --contact you@example.org`
    """
    from ...api import contexts_collect

    with progress() as listener:
        report = contexts_collect(
            source, out, names=names, works=works, contact=contact, archive=archive, recipe=recipe,
            harvest_recipe=harvest_recipe, cache_dir=cache_dir, offline=offline, progress=listener,
        ).report  # fmt: skip
    if json:
        emit_json(report.to_dict())
    else:
        for title, counts in (
            ("texts", report.texts), ("rows", report.splits), ("left out", report.left_out),
            ("pages", report.pages),
        ):  # fmt: skip
            emit_table((title, "number"), counts.items())
        for what, why in report.problems[:20]:
            say(f"{why}: {what}")
        if len(report.problems) > 20:
            say(f"and {len(report.problems) - 20} more; --json lists them all")
        say(f"wrote {out}")
    if report.problems:
        raise typer.Exit(1)


def references(
    texts: Annotated[Path, typer.Argument(help="Folder of texts that `contexts collect` wrote.")],
    books: Annotated[Path, typer.Argument(metavar="BOOKS", help="Annotated books with named characters.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="File for the references.")],
    kind: Kind = "description",
    split: Annotated[str, typer.Option(help="train, validation or test.")] = "test",
    json: JsonFlag = False,
) -> None:
    """Give the texts of guides the names of annotated books, as references for `contexts score`."""
    from ...api import contexts_references

    found = contexts_references(texts, books, out, kind=kind, split=split).found
    if json:
        emit_json(found.to_dict())
        return
    say(
        f"wrote {len(found.rows):,} references to {out}; {found.without_book:,} texts are about other books, "
        f"{len(found.without_character):,} about characters that are not annotated"
    )
    for name in found.without_character[:10]:
        say(f"not annotated: {name}")


def identify(
    texts: Annotated[Path, typer.Argument(help="Folder of texts that `contexts collect` wrote.")],
    answers: Annotated[
        Path | None, typer.Option("--answers", "-a", help="JSON lines: id, answer. Grade these.")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="File for the answers of a model.")] = None,
    split: Annotated[str, typer.Option(help="train, validation or test.")] = "test",
    endpoint: options.Endpoint = None,
    model: options.ModelName = None,
    local: options.Local = None,
    constrain: options.Constrain = "none",
    key_variable: options.KeyVariable = "OPENAI_API_KEY",
    most_tokens: options.MostTokens = 32,
    parallel: options.Parallel = 4,
    prompt_price: options.PromptPrice = 0.0,
    reply_price: options.ReplyPrice = 0.0,
    dry_run: options.DryRun = 0,
    json: JsonFlag = False,
) -> None:
    """Say who is masked in a description (LiSCU): grade answers, ask a model, or run the baselines."""
    from ...api import contexts_identify

    with progress() as listener:
        done = contexts_identify(
            texts, answers=answers, out=out, split=split, endpoint=endpoint, model=model, local=local,
            constrain=constrain, key_variable=key_variable, most_tokens=most_tokens, parallel=parallel,
            prompt_price=prompt_price, reply_price=reply_price, dry_run=dry_run, progress=listener,
        )  # fmt: skip
    if not options.print_run(done, out, json):
        return
    for name, grades in done.grades.items():
        groups = grades["groups"].items()
        emit_table(
            (name, "right", "of", "accuracy", "95 %"),
            [
                (group, share["right"], share["total"], 100 * share["accuracy"],
                 f"{100 * share['low']:.1f} to {100 * share['high']:.1f}")
                for group, share in groups
            ],
        )  # fmt: skip
        say(f"at random: {100 * grades['random_baseline']:.2f} %; without an answer: {grades['unanswered']}")
