"""Making data: `clean`, `harvest`, `match`, `create`, `regenerate`, `link-train`, `import`, `publish`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ... import api
from ...api.options import Count, Strict
from ...errors import BookcorefError, UsageError, counted, plural
from ..common import cells, emit_json, emit_problems, emit_rows, emit_table, listed, say
from ..declared import Given, Json, Markdown, verb

if TYPE_CHECKING:
    from ...workflows.create import SilverReport
    from ...workflows.import_corpus import Imported
    from ...workflows.link_train import LinkTraining
    from ...workflows.publish import PublishReport

FAILED = 1


@verb(without="source")
def clean(
    given: Given, sources: Iterable[str], out: Path | None, map: Path | None, show_cuts: bool = False,
    json: Json = False,
) -> None:  # fmt: skip
    """With neither --out nor --show-cuts nor --json the text of a single book is printed.

    Args:
        sources: files, or numbers of Gutenberg books.
        show_cuts: list every piece that was cut.
    """
    sources = list(sources)
    for folder in (out, map):
        if folder and len(sources) > 1 and folder.suffix:
            raise UsageError(f"{folder} is one file, but there are {len(sources)} books", expected="a folder")
    reports: list[dict[str, Any]] = []
    refused: dict[str, BookcorefError] = {}
    for source in sources:
        try:
            book = given(source=source)
        except BookcorefError as error:
            # One book that is refused stops no other.
            if len(sources) == 1:
                raise
            say(str(error))
            refused[source] = error
            continue
        listed("note:", book.notes)
        if len(sources) == 1 and not (out or show_cuts or json):
            typer.echo(book.text)
            return
        reports.append(book.to_dict() | ({"cuts": book.table.to_dicts()} if show_cuts else {}))
    if json:
        left = [{"name": name, "error": str(e), "exit_code": e.exit_code} for name, e in refused.items()]
        emit_json([*reports, *left])
    else:
        _show_cleaned(reports, show_cuts)
    if refused:
        say(f"{len(reports)} cleaned, {len(refused)} refused: {', '.join(refused)}")
        raise typer.Exit(exit_code_of(refused.values(), reports))


def exit_code_of(errors: Iterable[BookcorefError], done: object) -> int:
    """That of the errors where all are of one kind and nothing was done, else 1; 0 without an error."""
    codes = {error.exit_code for error in errors}
    return codes.pop() if len(codes) == 1 and not done else FAILED if codes else 0


def _show_cleaned(reports: list[dict[str, Any]], show_cuts: bool) -> None:
    if show_cuts:
        for report in reports:
            rows = [[c["kind"], c["start"], c["end"] - c["start"], c["excerpt"]] for c in report["cuts"]]
            emit_table(["kind", "at", "characters", "text"], rows, title=report["name"])
        return
    rows = []
    for report in reports:
        shares = report["cut_shares"].items()
        cut = ", ".join(f"{kind} {share:.2%}" for kind, share in shares if kind not in ("header", "footer"))
        columns = ("name", "file_characters", "kept_characters", "chapters")
        rows.append([*(report[column] for column in columns), cut])
    emit_table(["book", "file", "kept", "chapters", "cut besides header and footer"], rows)
    listed("wrote", (report["written"] for report in reports if "written" in report))


@verb(code=lambda done: bool(done.problems))
def harvest_liscu(done: api.Harvested) -> None:
    report = done.report
    emit_table(("", "number"), [("works", report.works), ("characters", report.rows)])
    tables = {"counts": report.counts, "pages": report.statuses, "requests": report.requests}
    for title, counts in tables.items():
        if counts:
            emit_table((title, "number"), counts.items())
    emit_problems(report.problems)
    say(f"written to {report.out}")


harvest_wikidata = harvest_liscu


@verb()
def match(done: api.Matched, out: Path, json: Json = False) -> None:
    facts = done.to_dict()
    for override in facts["unused_overrides"]:
        say(f"this override names no work of the tables: {override['title'] or override['work_id']}")
    if json:
        return
    columns = ["gutenberg_id", "kept", "author", "title", "source", "characters", "rule", "reason"]
    emit_table(columns, cells(facts["books"], columns))
    rules = ", ".join(f"{rule} {count}" for rule, count in facts["by_rule"].items())
    say(f"{facts['matched']} of {facts['works']} works matched ({rules}); wrote {out}/")


@verb(code=lambda report: exit_code_of(report.failed.values(), report.record))
def create(report: SilverReport) -> None:
    """The tables to review stand beside the folder (OUT-matches). Finished books are kept in the cache: an
    interrupted run goes on, and a book that fails stops no other."""
    from ...workflows.plausibility import summary_line

    columns = ["doc_key", "tokens", "characters", "clusters", "mentions"]
    emit_table(columns, cells(report.books, columns))
    for name, error in report.failed.items():
        say(f"{name}: {error}")
    done = f"{len(report.built)} built, {len(report.reused)} from the cache, {len(report.failed)} failed"
    say(f"{done}; {f'wrote {report.out}/' if report.record else 'nothing was written'}")
    listed("left out:", (f"{name}: {reason}" for name, reason in report.left_out.items()))
    told = (f"{name}: {text.evidence}" for name, text in report.texts.items() if not text.free)
    listed("warning: not known to be free:", told)
    for facts in report.books:
        if facts["plausibility"]:
            say(f"{facts['doc_key']}: {summary_line(facts['plausibility'])}")
            listed(f"{facts['doc_key']}: warning:", facts["plausibility"]["warnings"])


@verb(renamed={"top": "most"})
def regenerate(
    given: Given, folder: Path, most: Count = 10, check: bool = False, markdown: Markdown = False,
    json: Json = False,
) -> None:  # fmt: skip
    """Exit code 1 when the annotation differs, 3 when --check finds that it cannot run here.

    Args:
        most: characters shown, most different first.
        check: say what would be needed, fetched and only approximate, and how long it takes; run nothing.
    """
    if check:
        table = given(api.regenerate_check)
        if json:
            emit_json(table.to_dicts())
        else:
            emit_rows(table, markdown=markdown)
        raise typer.Exit(3 if "cannot run" in table["verdict"] else 0)
    done: api.Regenerated = given()
    listed("note:", done.notes)
    if json:
        emit_json(done.to_dict())
    elif done.result.work.finished:
        tables = {
            "against the annotation there": done.table,
            "most different characters": done.characters(most),
            "examples": done.examples,
        }
        print(f"{folder} annotated again by {done.result.plan.name}")
        for title, table in tables.items():
            if len(table):
                print(f"\n{title}\n")
                emit_rows(table, markdown=markdown)
    listed("wrote", done.files)
    raise typer.Exit(done.result.work.exit_code or int(done.differs))


@verb()
def link_train(done: LinkTraining) -> None:
    emit_table([*done.parts[0]], [list(row.values()) for row in done.parts])
    if done.steps:
        scores = ", ".join(f"{score:.1f}" for score in done.dev_f1)
        say(f"{done.steps} steps on {done.device}; F1 on dev, before and after each epoch: {scores}")
    listed("wrote", (done.out / name for name in done.files))


@verb(code=lambda done, strict: bool(done.report.broken or (strict and not done.report.complete)))
def import_(done: Imported, strict: Strict = False) -> None:
    report = done.report
    by_split = ", ".join(f"{count:,} {split}" for split, count in done.splits.items() if count)
    say(
        f"{done.corpus.name}: wrote {plural(report.documents, 'document')} ({by_split}), "
        f"{report.tokens or 0:,} tokens, {plural(report.mentions, 'mention')} in "
        f"{plural(report.clusters, 'cluster')} to {done.out}"
    )
    if done.records is not None:
        say(f"all that was read: {done.records}")
    for item in report.not_kept:
        say(f"not kept: {counted(item.count, item.what)}, in {plural(len(item.documents), 'document')}")
    listed("cannot be read:", report.broken)
    for name, (published, found) in done.differences.items():
        say(f"published: {published:,} {name}; here: {found:,}")
    for name in ("texts", "annotation"):
        say(f"{name}: {getattr(done.corpus, name)}")
    say(f"cite: {done.corpus.citation}")


@verb(flags={"repo": "--repo"})
def publish(report: PublishReport) -> None:
    """An interrupted upload resumes when the same command is run again. The token is that of `hf auth login`
    or HF_TOKEN."""
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
    listed("left out:", (f"{key}: {reason}" for key, reason in made.left_out.items()))
    if report.copied:
        say(f"a copy of the files is in {report.copied}/")
    done = report.uploaded
    if done is None:
        print(f"nothing was uploaded; {report.bytes:,} bytes would go to {made.page} as {made.tag}")
        return
    verb = "holds just this already" if done.unchanged else f"{done.sent:,} bytes sent in one commit"
    print(f"{done.url}: {verb}, tag {done.tag}")
    print(f"check it with: bookcoref-data verify hf:{made.repository}@{done.tag}")
