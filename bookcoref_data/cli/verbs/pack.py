"""`pack`: make packs of a release, and look into them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...errors import UsageError
from ..common import (
    Books,
    CacheDir,
    Jobs,
    JsonFlag,
    Mirror,
    NoExpect,
    Offline,
    TextsOnly,
    emit_json,
    emit_table,
    progress,
    say,
)

if TYPE_CHECKING:
    from ...workflows.pack import PackReport

FAILED = 1


def register(app: typer.Typer) -> None:
    group = typer.Typer(
        help="Make small text-free packs of a release, and inspect them.",
        rich_markup_mode=None,
        invoke_without_command=True,
    )
    group.callback()(pack)
    group.command()(inspect)
    app.add_typer(group, name="pack")


def pack(
    context: typer.Context,
    release: Annotated[
        Path | None, typer.Option(help="A release in the official layout, or a built data set folder.")
    ] = None,
    mirror: Mirror = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Folder for the packs, or one file NAME.pack.")
    ] = None,
    book: Books = None,
    fingerprint_bits: Annotated[
        int,
        typer.Option(min=0, max=8, help="Bits per token by which other editions are followed; 0 for none."),
    ] = 8,
    most_text: Annotated[
        float, typer.Option(min=0, max=1, help="Refuse a pack that holds more of the book's characters.")
    ] = 0.05,
    licence: Annotated[
        str | None, typer.Option(help="Licence of the annotation (default: that of BookCoref).")
    ] = None,
    attribution: Annotated[
        str | None, typer.Option(help="Who made the annotation (default: the authors of BookCoref).")
    ] = None,
    texts_only: TextsOnly = False,
    no_expect: NoExpect = False,
    jobs: Jobs = 0,
    offline: Offline = False,
    cache_dir: CacheDir = None,
    json: JsonFlag = False,
) -> None:
    """Turn a release and the Gutenberg texts it belongs to into one small file per book and an index.

    A pack holds what must be changed in the text, where it is cut, the annotation and checks, but not
    the text. It is read without a tokenizer: `rebuild` uses packs, `align` follows other editions by them.
    """
    if context.invoked_subcommand:
        return
    if release is None or out is None:
        raise UsageError("say what to pack and where to", expected="--release DIR --out DIR")
    from ...api import pack as run

    with progress() as listener:
        made = run(
            release, out, mirror=mirror, books=book or (), fingerprint_bits=fingerprint_bits,
            most_text=most_text, licence=licence, attribution=attribution, texts_only=texts_only,
            expect=not no_expect, jobs=jobs, offline=offline, cache_dir=cache_dir, progress=listener,
        )  # fmt: skip
    _print(made.report, json)
    if made.failed:
        raise typer.Exit(FAILED)


def _print(report: PackReport, json: bool) -> None:
    if json:
        emit_json(report.to_dict())
        return
    emit_table(
        ("book", "split", "tokens", "bytes", "held as text", "file"),
        ((p.doc_key, p.split, p.tokens, p.bytes, p.literal_characters, p.file) for p in report.packs),
    )
    for note in report.notes:
        say(f"note: {note}")
    for reason in report.left_out.values():
        say(f"left out: {reason}")
    for key, error in report.failed.items():
        say(f"failed: {key}: {error}")
    total = sum(p.bytes for p in report.packs)
    print(f"{report.out}: {len(report.packs)} packs, {total:,} bytes")


def inspect(
    packs: Annotated[list[Path], typer.Argument(help="Packs, or folders of packs.")],
    json: JsonFlag = False,
) -> None:
    """Show the contents of a pack: counts, checksums, the text it belongs to, bytes per section."""
    from ...api import pack_inspect

    facts = pack_inspect(*packs).to_dicts()
    if json:
        emit_json(facts)
        return
    emit_table(
        ("book", "tokens", "mentions", "windows", "edits", "held as text", "text %", "bytes", "made from"),
        (
            (
                f["doc_key"], f["tokens"], f["mentions"], f["windows"], f["edits"], f["literal_characters"],
                100 * f["literal_share"], f["bytes"], f["source"]["name"],
            )
            for f in facts
        ),
    )  # fmt: skip
    if len(facts) == 1:
        emit_table(("section", "bytes"), facts[0]["sections"].items())
