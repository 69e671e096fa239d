"""`rebuild`: texts from Gutenberg, offsets from a release, one folder that `load_dataset` reads."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ...errors import UsageError, plural
from ..common import (
    Books,
    CacheDir,
    Jobs,
    JsonFlag,
    Mirror,
    NoExpect,
    Offline,
    Replace,
    TextsOnly,
    emit_json,
    emit_table,
    progress,
    say,
)

DIFFERS = 1


def register(app: typer.Typer) -> None:
    app.command()(rebuild)


def rebuild(
    from_gutenberg: Annotated[
        bool, typer.Option("--from-gutenberg", help="Rebuild the real data set from Gutenberg texts.")
    ] = False,
    sample: Annotated[
        bool, typer.Option("--sample", help="Rebuild the embedded sample story; needs no network.")
    ] = False,
    out: Annotated[Path, typer.Option("--out", "-o", help="Data set folder to write.")] = Path("bookcoref"),
    release: Annotated[
        Path | None,
        typer.Option(
            help="Folder of a release or of packs, or hf:USER/NAME[@TAG] (default: the official release)."
        ),
    ] = None,
    mirror: Mirror = None,
    book: Books = None,
    text: Annotated[
        list[str] | None,
        typer.Option(help="DOC_KEY=FILE: tokenised text (JSONL, CoNLL) of a book that Gutenberg lacks."),
    ] = None,
    texts_only: TextsOnly = False,
    no_expect: NoExpect = False,
    min_kept: Annotated[
        float,
        typer.Option(
            min=0,
            max=1,
            help="Where only another edition of a text is to be had and a pack can follow it: "
            "share of mentions that must survive.",
        ),
    ] = 0.9,
    exact: Annotated[
        bool, typer.Option("--exact", help="Never carry annotations over to another edition.")
    ] = False,
    annotations: Annotated[str | None, typer.Option(help="Name of the release's annotation folder.")] = None,
    delta: Annotated[str | None, typer.Option(help="Name of the release's delta file.")] = None,
    lengths: Annotated[str | None, typer.Option(help="Name of its file of sentence lengths.")] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="List what would be downloaded from where; write nothing.")
    ] = False,
    replace: Replace = False,
    jobs: Jobs = 0,
    offline: Offline = False,
    cache_dir: CacheDir = None,
    json: JsonFlag = False,
) -> None:
    """Rebuild the data set and write a folder that `datasets.load_dataset` reads.

    The tokens of every book are verified by count and checksum before offsets are attached, finished books
    are kept in the cache, and a book that fails does not stop the others. Where Gutenberg has another
    edition by now, a pack of the book carries its annotation over: such a book is marked "remapped" and
    the card says what was kept and lost. A folder that would lose books is left as it is, unless
    --replace is given. Exits with 1 when a book failed or was remapped.
    """
    if from_gutenberg == sample:
        raise UsageError(
            "say what to rebuild", expected="either --from-gutenberg or --sample",
            hint="bookcoref-data rebuild --sample needs no network",
        )  # fmt: skip
    from ...api import rebuild as run
    from ...api import rebuild_plan

    texts = _texts(text or [])
    if dry_run:
        plan = rebuild_plan(
            sample=sample, release=release, mirror=mirror, books=book or (), annotations=annotations,
            delta=delta, lengths=lengths, offline=offline, cache_dir=cache_dir,
        )  # fmt: skip
        _print_plan(plan.to_dicts(), json)
        return
    with progress() as listener:
        done = run(
            out, sample=sample, release=release, mirror=mirror, books=book or (), texts=texts,
            texts_only=texts_only, expect=not no_expect, min_kept=None if exact else min_kept,
            annotations=annotations, delta=delta, lengths=lengths, replace=replace, jobs=jobs,
            offline=offline, cache_dir=cache_dir, progress=listener,
        )  # fmt: skip
    if json:
        emit_json(done.to_dict())
    else:
        _print(done.report)
    if not done.ok:
        raise typer.Exit(DIFFERS)


def _texts(pairs: list[str]) -> dict[str, Path]:
    texts = {}
    for pair in pairs:
        key, mark, path = pair.partition("=")
        if not mark or not key or not path:
            raise UsageError(f"--text {pair!r} cannot be read", expected="DOC_KEY=FILE")
        texts[key] = Path(path)
    return texts


def _print_plan(rows: list[dict[str, Any]], json: bool) -> None:
    if json:
        emit_json(rows)
        return
    emit_table(
        ("id", "title", "action", "bytes", "from"),
        ([row[c] for c in ("gutenberg_id", "title", "action", "bytes", "address")] for row in rows),
    )
    fetch = [row for row in rows if row["action"] == "fetch"]
    known = sum(row["bytes"] or 0 for row in fetch)
    print(f"{len(fetch)} downloads, about {known / 1e6:.1f} MB; nothing was fetched or written")


def _print(report) -> None:
    from ...guard import listed

    record = report.record
    emit_table(
        ("book", "split", "tokens", "sentences", "characters", "mentions", "windows", "verified by"),
        (
            (b.doc_key, b.split, b.tokens, b.sentences, b.characters, b.mentions, b.windows, b.check)
            for b in record.books
        ),
    )
    for book in record.books:
        if book.check == "remapped":
            say(f"{book.doc_key}: {book.notes[0]}")
    if report.kept:
        say(
            f"{report.out} was left as it is: this run would lose {listed(report.kept)}; "
            "add --replace to lose them, or write to another folder with --out"
        )
    state = "is up to date" if report.unchanged else "left as it was" if report.kept else "written"
    print(
        f"{report.out} {state}: {plural(len(record.books), 'book')}, {len(report.failed)} failed, "
        f"digest sha256:{record.digest[:16]}"
    )
    print(f'load it with: datasets.load_dataset("{report.out}", "split")   (from {Path.cwd().name or "/"}/)')
