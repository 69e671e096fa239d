"""`publish`: put a data set on the Hub in the form that its rights allow."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..common import CacheDir, JsonFlag, Mirror, Offline, emit_json, emit_table, progress, say

if TYPE_CHECKING:
    from ...workflows.publish import PublishReport


def register(app: typer.Typer) -> None:
    app.command()(publish)


def publish(
    folder: Annotated[Path, typer.Argument(help="A folder written by rebuild, create, import or annotate.")],
    repo: Annotated[str, typer.Option("--repo", help="Where to on the Hub: USER/NAME.")],
    private: Annotated[bool, typer.Option("--private", help="Make the repository private.")] = False,
    standoff: Annotated[
        bool, typer.Option("--standoff", help="Publish packs and a card, no text; others rebuild it.")
    ] = False,
    licence: Annotated[str | None, typer.Option(help="Licence of your annotation, e.g. CC-BY-4.0.")] = None,
    text_licence: Annotated[
        str | None, typer.Option(help="Licence of texts that are not from Gutenberg, as you know it.")
    ] = None,
    citation: Annotated[
        Path | None, typer.Option(help="What to cite: a .bib file or a CITATION.cff.")
    ] = None,
    title: Annotated[str | None, typer.Option(help="Title of the data set, else the folder's.")] = None,
    language: Annotated[
        list[str] | None, typer.Option(help="Language code of the texts; repeatable (default: en).")
    ] = None,
    tag: Annotated[
        str | None, typer.Option(help="Name of this version, e.g. v1.0.0 (default: the content digest).")
    ] = None,
    most_words: Annotated[
        int, typer.Option(min=1, help="With --standoff: longest run of a text's words in any file.")
    ] = 12,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would go up; open no connection to the Hub.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Keep a copy of all files in this new folder.")
    ] = None,
    mirror: Mirror = None,
    offline: Offline = False,
    cache_dir: CacheDir = None,
    json: JsonFlag = False,
) -> None:
    """Publish a data set on the Hugging Face Hub, in the form that its rights allow.

    Texts in the public domain with an open annotation licence go up whole. Everything else needs
    --standoff: packs, card and checksums, but no text. Texts with unknown rights are refused. The card
    states licences, sources, counts, plausibility and limits; Croissant metadata, CITATION.cff and
    .zenodo.json go with it. One commit is made and tagged. An interrupted upload resumes when the same
    command is run again. The token is that of `hf auth login` or HF_TOKEN.
    """
    from ...api import publish as run

    with progress() as listener:
        report = run(
            folder, repo, private=private, standoff=standoff, licence=licence, text_licence=text_licence,
            citation=citation, title=title, languages=tuple(language or ("en",)), tag=tag,
            most_words=most_words, dry_run=dry_run, out=out, mirror=mirror, offline=offline,
            cache_dir=cache_dir, progress=listener,
        )  # fmt: skip
    if json:
        emit_json(report.to_dict())
    else:
        _print(report)


def _print(report: PublishReport) -> None:
    made = report.publication
    emit_table(("file", "bytes", "sha256"), ((p, f.bytes, f.sha256[:16]) for p, f in report.files.items()))
    form = "packs and card, no text" if made.standoff else "the whole data set"
    print(f"form:        {form}")
    print(f"books:       {len(made.books)}")
    states = Counter(rights.state for rights in made.texts.values())
    print("texts:       " + ", ".join(f"{number} {state}" for state, number in states.most_common()))
    print(f"annotation:  {made.licence.id} ({made.annotation.evidence})")
    for reason in made.annotation.closed:
        print(f"             {reason}")
    if report.longest is not None:
        where = f" ({report.longest.file})" if report.longest.words else ""
        print(f"text check:  longest run of a book's words in any file: {report.longest.words}{where}")
    for key, reason in made.left_out.items():
        say(f"left out: {key}: {reason}")
    if report.copied:
        say(f"a copy of the files is in {report.copied}/")
    done = report.uploaded
    if done is None:
        print(f"nothing was uploaded; {report.bytes:,} bytes would go to {made.page} as {made.tag}")
        return
    verb = "holds just this already" if done.unchanged else f"{done.sent:,} bytes sent in one commit"
    print(f"{done.url}: {verb}, tag {done.tag}")
    print(f"check it with: bookcoref-data verify hf:{made.repository}@{done.tag}")
