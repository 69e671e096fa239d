"""`bookcoref-data contexts`: passages about characters, answers of models, scores, published tables."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ...errors import UsageError
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
    from ...tasks.folder import read_rows
    from ...workflows import contexts as work

    plan = work.read_plan(recipe, strategy or (), budget, seed)
    found = work.read_books(books, format)
    with progress() as listener:
        rows = work.build(found, plan, characters=character or (), kind=kind, joint=joint, progress=listener)
    if summaries is not None:
        texts = read_rows(summaries, needed=("doc_key", "text"))
        rows = work.add_summaries(rows, texts, found, kind)
    files = work.write_contexts(rows, plan, out)
    strategies = dict.fromkeys(row["strategy"] for row in rows)
    by_strategy = {s: [r for r in rows if r["strategy"] == s] for s in strategies}
    figures = [
        {"strategy": s, "contexts": len(some),
         "characters": len({(r["doc_key"], r["character"]) for r in some}),
         "pieces": sum(len(r["pieces"]) for r in some), "tokens": sum(r["tokens"] for r in some)}
        for s, some in by_strategy.items()
    ]  # fmt: skip
    if json:
        emit_json({"contexts": figures, "files": [str(f) for f in files]})
        return
    emit_table(tuple(figures[0]), [tuple(f.values()) for f in figures])
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
    from ...tasks.runner import Prices
    from ...workflows import contexts as work

    rows = work.read_contexts(contexts)
    rows = rows[:limit] if limit else rows
    if dry_run:
        options.show_prompts(work.requests_of(rows), dry_run, prompt_price, json)
        return
    if out is None:
        raise UsageError("nowhere to write the answers", expected="--out ANSWERS.jsonl")
    asked = options.ModelOptions(endpoint, model, local, "none", key_variable, most_tokens, parallel)
    with progress() as listener:
        _, report = work.answer_with(
            rows, asked.make(), out, kind, prices=Prices(prompt_price, reply_price), progress=listener
        )
    if json:
        emit_json(report.to_dict())
        return
    options.say_run(report, out)


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
    from ...tasks.folder import read_rows
    from ...workflows import contexts as work

    if answers is None and books is None:
        raise UsageError("nothing to score", expected="--answers, or --books for the baselines")
    if entailment and books is None:
        raise UsageError("entailment by the book needs the book", expected="--books")
    needed = ("doc_key", "character", "text")
    found = work.score(
        read_rows(answers, needed=needed) if answers else [],
        read_rows(references, needed=needed),
        work.read_books(books) if books else [],
        work.read_plan(recipe),
        kind,
        work.ScoreModels(bert_score, bert_layers, entailment),
    )
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
    from ...workflows import contexts as work

    rows = [
        row
        for book in work.read_books(books, format)
        for row in work.retrieval_table(book, budget or [2000, 7600])
    ]
    if json:
        emit_json(rows)
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
                *(100 * r[m] if m in r else None for m in measures),
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
    from ...files import write_text
    from ...tasks.contexts.splits import find_defects, leakless_splits, overlap, read_tables
    from ...workflows.verify import published_books

    found = read_tables(folder)
    defects = [*find_defects(found), *overlap(found, published_books())]
    placed = leakless_splits(found)
    if out is not None:
        rows = sorted(placed.items(), key=lambda item: (item[1], item[0]))
        write_text(out, "BookId\tSplit\n" + "".join(f"{book}\t{split}\n" for book, split in rows))
        say(f"wrote {out}")
    counts = {split: list(placed.values()).count(split) for split in ("train", "val", "test")}
    if json:
        emit_json({"defects": [d.to_dict() for d in defects], "splits": counts})
        return
    listed: list[list[Any]] = [
        [d.table, d.what, len(d.books), ", ".join(d.books[:6]) + (", ..." if len(d.books) > 6 else "")]
        for d in defects
    ]
    emit_table(("table", "what", "books", "ids"), listed)
    say("splits without leaks: " + ", ".join(f"{split} {count}" for split, count in counts.items()))


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
    from ...sources.store import Store
    from ...workflows import contexts as work
    from ...workflows.guide_texts import build_guide_texts, guides_plan

    pages = archive or Store.open(cache_dir).path("harvest", "study-guides")
    plan = work.read_plan(recipe)
    with progress() as listener:
        report = build_guide_texts(
            source, names, works, plan, guides_plan(source, recipe, harvest_recipe, contact), pages, out,
            offline=offline, progress=listener,
        )  # fmt: skip
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
    from ...files import write_bytes
    from ...tasks.folder import jsonl_bytes, read_rows
    from ...workflows import contexts as work
    from ...workflows.guide_tasks import references_for

    needed = ("doc_key", "gutenberg_key", "character", "text")
    rows = read_rows(texts / kind / f"{split}.jsonl", needed=needed)
    found = references_for(rows, work.read_books(books))
    write_bytes(out, jsonl_bytes(found.rows))
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
    from ...tasks.folder import read_rows
    from ...tasks.guides.identification import NEEDED, baselines, grade_identification, requests_of
    from ...workflows.guide_tasks import identify_with

    rows = read_rows(texts / "identification" / f"{split}.jsonl", needed=NEEDED)
    asked = options.ModelOptions(endpoint, model, local, constrain, key_variable, most_tokens, parallel)
    if dry_run:
        options.show_prompts(requests_of(rows), dry_run, prompt_price, json)
        return
    if answers is not None and asked.given:
        raise UsageError("answers are given and a model is named", expected="--answers or a model")
    if asked.given:
        from ...tasks.runner import Prices

        if out is None:
            raise UsageError("nowhere to write the answers", expected="--out ANSWERS.jsonl")
        prices = Prices(prompt_price, reply_price)
        with progress() as listener:
            given, report = identify_with(rows, asked.make(), out, prices=prices, progress=listener)
        options.say_run(report, out)
        found = {report.model: grade_identification(rows, given)}
    elif answers is not None:
        found = {answers.stem: grade_identification(rows, read_rows(answers, needed=("id", "answer")))}
    else:
        found = {name: grade_identification(rows, given) for name, given in baselines(rows).items()}
    if json:
        emit_json(found)
        return
    for name, grades in found.items():
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
