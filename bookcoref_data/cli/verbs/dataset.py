"""The data set: `rebuild`, `verify`, `list`, `show`, `cite`, `manifest`, `pack`, `cache`."""

from __future__ import annotations

import sys
from pathlib import Path

import typer

from ... import api
from ...api.options import Positive
from ...errors import UsageError, plural
from ...errors import listed as named
from ...shapes import together
from ..common import cells, emit_json, emit_table, listed, say
from ..declared import Given, Json, verb

FAILED = 1


@verb()
def rebuild(
    given: Given, sample: bool, release: Path | None, from_gutenberg: bool = False, exact: bool = False,
    dry_run: bool = False, json: Json = False,
) -> None:  # fmt: skip
    """A folder that would lose books is left as it is, unless --replace is given. Exits with 1 when a book
    failed or was remapped.

    Args:
        from_gutenberg: rebuild the real data set from Gutenberg texts (as any `release`).
        exact: never carry annotations over to another edition.
        dry_run: list what would be downloaded from where; write nothing.
    """
    if (from_gutenberg or release is not None) == sample:
        hint = "bookcoref-data rebuild --sample needs no network"
        raise UsageError("say what to rebuild", expected="either --from-gutenberg or --sample", hint=hint)
    if dry_run:
        rows = given(api.rebuild_plan).to_dicts()
        if json:
            emit_json(rows)
            return
        columns = ("gutenberg_id", "title", "action", "bytes", "address")
        emit_table(("id", "title", "action", "bytes", "from"), cells(rows, columns))
        fetch = [row for row in rows if row["action"] == "fetch"]
        known = sum(row["bytes"] or 0 for row in fetch)
        print(f"{plural(len(fetch), 'download')}, about {known / 1e6:.1f} MB; nothing was fetched or written")
        return
    done: api.Rebuilt = given(least_kept=None) if exact else given()
    report, books = done.report, done.books.to_dicts()
    if json:
        emit_json(done.to_dict())
    else:
        shown = done.books.columns
        emit_table(("book", *shown[1:-1], "verified by"), cells(books, shown))
        for book in report.record.books if report.record else ():
            if book.check == "remapped":
                say(f"{book.doc_key}: {book.notes[0]}")
        if report.kept:
            say(
                f"{report.out} was left as it is: this run would lose {named(report.kept)}; "
                "add --replace to lose them, or write to another folder with --out"
            )
        state = "is up to date" if report.unchanged else "left as it was" if report.kept else "written"
        digest = report.record.digest[:16] if report.record else "none"
        told = f"{plural(len(books), 'book')}, {len(report.failed)} failed, digest sha256:{digest}"
        print(f"{report.out} {state}: {told}")
        there = f"(from {Path.cwd().name or '/'}/)"
        print(f'load it with: datasets.load_dataset("{report.out}", "split")   {there}')
    if not done.ok:
        raise typer.Exit(FAILED)


@verb(code=lambda done: done.result.exit_code)
def verify(done: api.Verified) -> None:
    """The table says for tokens and spans apart what they were compared with. Exits with 0 when all is right,
    1 when something is missing or a book is of another edition, 4 when some content is not what its checksum
    says."""
    result = done.result
    rows = []
    for check in sorted(result.books, key=lambda b: b.status == "ok"):
        f = check.facts
        counts = (f.split, f.tokens, f.sentences, f.clusters, f.mentions, f.windows) if f else (None,) * 6
        rows.append((check.doc_key, check.status, *counts, check.tokens_by or None, check.spans_by or None))
    columns = ("book", "status", "split", "tokens", "sentences", "clusters", "mentions", "windows",
               "tokens verified by", "spans verified by")  # fmt: skip
    if not result.files:
        emit_table(columns, rows)
    same = together((problem, check.doc_key) for check in result.books for problem in check.problems)
    for problem, keys in same.items():
        # The table names the books; what many have in common is said once.
        print(f"{keys[0]}: {problem}" if len(keys) == 1 else f"{plural(len(keys), 'book')}: {problem}")
    for problem in result.problems:
        print(problem)
    if result.remapped:
        more = "" if result.accept_remapped else " (accept them with --accept-remapped)"
        print(f"of another edition, not the released tokens: {', '.join(result.remapped)}{more}")
    good = sum(b.status == "ok" for b in result.books)
    verdict = {0: "verified", 1: "INCOMPLETE OR REMAPPED", 4: "CHECKSUM MISMATCH"}[result.exit_code]
    what = f"{good} of {len(result.books)} books, digest sha256:{result.digest[:16]}"
    if result.files:
        what = f"{plural(result.files, 'file')} as written; {result.folder} holds no data set"
    print(f"{verdict}: {what}")


@verb(flags={"folder": "--folder"})
def list_(books: api.Table, folder: Path) -> None:
    rows = books.to_dicts()
    columns = ("doc_key", "title", "splits", "tokens", "characters", "counts_from", "text_cached", "built")
    emit_table(columns, [[_word(cell) for cell in row] for row in cells(rows, columns)])
    built, cached = (sum(bool(r[c]) for r in rows) for c in ("built", "text_cached"))
    print(f"{plural(len(rows), 'book')}, {plural(cached, 'text')} in the cache, {built} built in {folder}")


@verb(flags={"folder": "--folder"})
def show(found: api.Shown, at: int | None, character: str | None, most: Positive = 20) -> None:
    """`show annotated` shows the book in a folder of `annotate`. Any file that `convert` reads will do.

    Args:
        most: lines to print of mentions or characters.
    """
    if at is None and character is None:
        value = found.to_dict()
        for name, entry in value["facts"].items():
            print(f"{name:16} {_word(entry)}")
        print(f"{'begins':16} {value['begins']}")
        people = value["characters"]
        emit_table(found.table.columns, people[:most])
        if len(people) > most:
            print(f"… and {len(people) - most} more (--most {len(people)})")
    else:
        print(found.headline)
        columns = ("start", "end", "in context") if at is None else found.table.columns
        rows = [list(row.values()) for row in found.table]
        emit_table(columns, rows[:most] if at is None else rows)


def _word(value: object) -> object:
    if isinstance(value, bool):
        return "yes" if value else "-"
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "-"
    if isinstance(value, dict):
        return ", ".join(f"{k} {v}" for k, v in value.items() if v) or "-"
    return value


@verb(document=lambda text: {"bibtex": text})
def cite(text: str) -> None:
    print(text)


@verb()
def manifest_write(made: api.Digest, out: Path) -> None:
    say(f"wrote {out}")
    print(f"sha256:{made.digest[:16]}")


@verb()
def manifest_show(found: api.Digest) -> None:
    print(f"sha256:{found.digest[:16]}")


@verb(flags={"release": "--release"})
def pack(given: Given, release: Path | None, out: Path | None, json: Json = False) -> None:
    if release is None or out is None:
        raise UsageError("say what to pack and where to", expected="--release DIR --out DIR")
    made = given()
    report = made.report
    if json:
        emit_json(report.to_dict())
    else:
        rows = ((p.doc_key, p.split, p.tokens, p.bytes, p.literal_characters, p.file) for p in report.packs)
        emit_table(("book", "split", "tokens", "bytes", "held as text", "file"), rows)
        listed("note:", report.notes)
        listed("left out:", report.left_out.values())
        listed("failed:", (f"{key}: {error}" for key, error in report.failed.items()))
        total = sum(p.bytes for p in report.packs)
        print(f"{report.out}: {plural(len(report.packs), 'pack')}, {total:,} bytes")
    if made.failed:
        raise typer.Exit(FAILED)


@verb()
def pack_inspect(packs: api.Table) -> None:
    facts = packs.to_dicts()
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


@verb(document=lambda root: {"path": str(root)})
def cache_path(root: Path) -> None:
    typer.echo(str(root))


@verb()
def cache_size(found: api.CacheSize) -> None:
    rows = [[*part] for part in found.parts]
    word = "removed" if found.removed else "parts"
    columns = ["part", "files", "bytes"]
    emit_table(columns, [*rows, ["total", found.files, found.bytes]], title=f"{found.root} ({word})")


@verb(flags={"yes": "-y"})
def cache_clear(given: Given, part: str | None, yes: bool = False, json: Json = False) -> None:
    """Asks first. Only what this package keeps in a cache is removed, only in a folder that was marked as a
    cache when it was made, and not while a command works in it.

    Args:
        yes: do not ask.
    """
    there: api.CacheSize = given(api.cache_size)
    doomed = [entry for entry in there.parts if part in (None, entry.part)]
    if doomed and not yes:
        what = f"{part or 'everything'} ({sum(entry.bytes for entry in doomed):,} bytes) in {there.root}"
        if json or not _can_ask():
            raise UsageError(f"will not remove {what} without confirmation", hint="add --yes")
        if not typer.confirm(f"Remove {what}?", err=True):
            say("nothing was removed")
            raise typer.Exit(1)
    removed: api.CacheSize = given()
    if json:
        emit_json(removed.to_dict())
    else:
        cache_size(removed)


def _can_ask() -> bool:
    return sys.stdin.isatty()
