"""`verify` and `manifest`: check a folder, record a build."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ...errors import plural
from ..common import CacheDir, JsonFlag, Offline, emit_json, emit_table, progress, say

Folder = Annotated[Path, typer.Argument(help="A folder written by rebuild, annotate or create.")]
Place = Annotated[
    Path,
    typer.Argument(help="A folder written by rebuild, annotate or create, or hf:USER/NAME[@TAG] on the Hub."),
]


def register(app: typer.Typer) -> None:
    app.command()(verify)
    manifest = typer.Typer(no_args_is_help=True, help="Record a build, so that two people can compare.")
    manifest.command("write")(write)
    manifest.command("show")(show)
    app.add_typer(manifest, name="manifest")


def verify(
    folder: Place = Path("bookcoref"),
    manifest: Annotated[
        Path | None, typer.Option(help="Compare with this file of `manifest write`, too.")
    ] = None,
    complete: Annotated[
        bool, typer.Option("--complete", help="Require all 53 books of the published data set.")
    ] = False,
    accept_remapped: Annotated[
        bool, typer.Option("--accept-remapped", help="Accept books carried over to another edition.")
    ] = False,
    offline: Offline = False,
    cache_dir: CacheDir = None,
    json: JsonFlag = False,
) -> None:
    """Verify that a data set folder is correct and complete.

    Reads every row, recomputes all counts and checksums and compares them with the folder's build
    record, with the published facts and, if given, with a recorded manifest. The table says for tokens and
    spans apart what they were compared with. Exits with 0 when all is right, 1 when something is missing or
    a book is of another edition, 4 when some content is not what its checksum says.

    `hf:USER/NAME` fetches what somebody has published and verifies it; a release without text is verified
    by its packs and its manifest.
    """
    from ...api import verify as run

    with progress() as listener:
        result = run(
            folder, manifest=manifest, complete=complete, accept_remapped=accept_remapped, offline=offline,
            cache_dir=cache_dir, progress=listener,
        ).result  # fmt: skip
    if json:
        emit_json(result.to_dict())
    else:
        _print(result)
    raise typer.Exit(result.exit_code)


def _print(result) -> None:
    rows = []
    for check in sorted(result.books, key=lambda b: b.status == "ok"):
        f = check.facts
        counts = (f.split, f.tokens, f.sentences, f.clusters, f.mentions, f.windows) if f else (None,) * 6
        rows.append((check.doc_key, check.status, *counts, check.tokens_by or None, check.spans_by or None))
    columns = ("book", "status", "split", "tokens", "sentences", "clusters", "mentions", "windows",
               "tokens verified by", "spans verified by")  # fmt: skip
    emit_table(columns, rows)
    same: dict[str, list[str]] = {}
    for check in result.books:
        for problem in check.problems:
            same.setdefault(problem, []).append(check.doc_key)
    for problem, keys in same.items():
        # The table names the books; what many have in common is said once.
        print(f"{keys[0]}: {problem}" if len(keys) == 1 else f"{plural(len(keys), 'book')}: {problem}")
    for problem in result.problems:
        print(problem)
    if result.remapped:
        print(
            f"of another edition, not the released tokens: {', '.join(result.remapped)}"
            + ("" if result.accept_remapped else " (accept them with --accept-remapped)")
        )
    good = sum(b.status == "ok" for b in result.books)
    verdict = {0: "verified", 1: "INCOMPLETE OR REMAPPED", 4: "CHECKSUM MISMATCH"}[result.exit_code]
    print(f"{verdict}: {good} of {len(result.books)} books, digest sha256:{result.digest[:16]}")


def write(
    folder: Folder = Path("bookcoref"),
    out: Annotated[Path, typer.Option(help="File to write.")] = Path("bookcoref-manifest.json"),
    json: JsonFlag = False,
) -> None:
    """Verify a folder and record its facts; prints the digest, the one string to compare."""
    from ...api import manifest_write

    made = manifest_write(folder, out)
    if json:
        emit_json(made.to_dict())
        return
    say(f"wrote {out}")
    print(f"sha256:{made.digest[:16]}")


def show(folder: Folder = Path("bookcoref"), json: JsonFlag = False) -> None:
    """Print the digest of a folder as its build record states it, without reading the data."""
    from ...api import manifest_show

    found = manifest_show(folder)
    if json:
        emit_json(found.to_dict())
    else:
        print(f"sha256:{found.digest[:16]}")
