"""Cast tables and the catalogue to a table of matches that a person reviews: the verb `match`."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..characters.candidates import PREPARED_VERSION, PreparedCatalogue, prepare
from ..characters.editions import Considered
from ..characters.match import MatchedBook, MatchReport, MatchSettings, TextOf, WorkDecision, match
from ..characters.match_rules import Override, overrides_from
from ..characters.table import HarvestedCast, group_casts, read_table
from ..errors import BookcorefError, FormatError, UsageError
from ..files import write_bytes, write_text
from ..formats.lines import json_lines, read_lines
from ..late import pl
from ..outputs import whole
from ..progress import Progress, Silent
from ..reading_page.form import match_page
from ..resources import load_toml, resource
from ..shapes import attributes, settings_of
from ..sources.catalogue import PART as CATALOGUE_PART
from ..sources.catalogue import Catalogue, catalogue
from ..sources.gutenberg import Texts
from ..sources.store import Store

BOOKS, WORKS, CASTS, REVIEW = "matches.tsv", "works.tsv", "casts.jsonl", "review.html"
_TAKES = "takes the list of"
_MOST_RECORDS = 12  # of a work on the review page; works.tsv has all


def load_settings(path: Path | None = None) -> MatchSettings:
    """The recipe at `path`, else recipes/match.toml."""
    source = path or resource("recipes", "match.toml")
    return settings_of(MatchSettings, load_toml(source), str(source))


def load_overrides(path: Path | None = None) -> list[Override]:
    """The overrides at `path`, else recipes/match-overrides.toml.

    A `.tsv` is a works.tsv in which a person filled in the column `decision`: a Gutenberg id, or "none".
    """
    if path is not None and path.suffix.lower() == ".tsv":
        # The lines of a reviewed works.tsv that hold a decision, as overrides.
        decided: list[dict[str, Any]] = []
        for number, row in read_works_table(path, ("decision", "source", "work_id")):
            decision = row["decision"].strip()
            if not decision:
                continue
            if decision.lower() != "none" and not (decision.isdigit() and decision.isascii()):
                what = f"{path}:{number}: decision = {decision!r}"
                raise UsageError(what, expected='a Gutenberg id or "none"')
            chosen = {} if decision.lower() == "none" else {"gutenberg_id": int(decision)}
            why = row.get("why", "").strip() or "decided by a person"
            decided.append({"source": row["source"], "work_id": row["work_id"], "reason": why, **chosen})
        return overrides_from({"override": decided})
    return overrides_from(load_toml(path or resource("recipes", "match-overrides.toml")))


def run_match(
    tables: Sequence[Path], store: Store, archive: Path | None, settings: MatchSettings,
    overrides: Sequence[Override], *, mirror: str | None = None, offline: bool = False,
    progress: Progress | None = None,
) -> MatchReport:  # fmt: skip
    """Match the casts of all tables to the catalogue.

    Texts of `mirror` and of the cache are looked into where a title alone decides; none is fetched for it.
    """
    casts = read_casts(tables)
    found = catalogue(store, archive, offline=offline, progress=progress or Silent())
    texts = Texts(store, mirror, offline=True)

    def text_of(number: int) -> str | None:
        try:
            return texts.get(number).read().text
        except BookcorefError:
            return None

    return match_casts(casts, found, store, settings, overrides, text_of)


def match_casts(
    casts: Sequence[HarvestedCast], found: Catalogue, store: Store, settings: MatchSettings | None = None,
    overrides: Sequence[Override] = (), text_of: TextOf | None = None,
) -> MatchReport:  # fmt: skip
    """Match casts to a catalogue; what is prepared of the catalogue is kept in the cache beside it."""
    frame = found.frame()
    name = f"{found.key}-words-v{PREPARED_VERSION}"

    def write(scratch: Path) -> None:
        for part, table in prepare(frame)._asdict().items():
            table.write_parquet(scratch / f"{part}.parquet", compression="zstd")

    folder = store.make(CATALOGUE_PART, name, write)
    tables = [pl.read_parquet(folder / f"{part}.parquet") for part in PreparedCatalogue._fields]
    return match(casts, frame, settings, overrides, PreparedCatalogue(*tables), text_of)


def read_casts(tables: Iterable[Path]) -> list[HarvestedCast]:
    """The casts of all tables, grouped by source and work."""
    casts = group_casts(row for path in tables for row in read_table(path))
    if not casts:
        hint = "make one with `bookcoref-data harvest wikidata`"
        raise UsageError("the cast tables hold no characters", hint=hint)
    return casts


# -- what is written ---------------------------------------------------------------------------------


def write_report(report: MatchReport, folder: Path) -> list[Path]:
    """Write the books, the decisions of all works (a table, a page), and the casts of the books kept."""
    books = [_book_row(book) for book in report.books]
    # What became of a book: which source's list it takes, or why it falls out
    takes = {b.gutenberg_id: f"{_TAKES} {b.work.source} {b.work.work_id}: " * b.kept for b in report.books}
    fates = {b.gutenberg_id: takes[b.gutenberg_id] + b.reason for b in report.books}

    def work_row(work: WorkDecision) -> dict[str, Any]:
        """A line of works.tsv; a person fills in the first two columns."""
        taken = next((c for c in work.considered if c.gutenberg_id == work.gutenberg_id), None)
        kept = ""
        if work.gutenberg_id:  # whether its book is kept, with this list or another
            kept = "yes" if not work.unproved and fates[work.gutenberg_id].startswith(_TAKES) else "no"
        return {
            "decision": "", "why": "",
            **attributes(work, "review source work_id author title link characters"),
            "names": ", ".join(work.names), "left_out": ", ".join(work.left_out),
            "gutenberg_id": work.gutenberg_id or "", "kept": kept, "record": taken.title if taken else "",
            "record_author": taken.author if taken else "",
            "book": book_address(work.gutenberg_id) if work.gutenberg_id else "",
            **attributes(work, "rule reason"), "other_records": _choices(work.considered),
            "fate": fates.get(work.gutenberg_id or 0, ""),
        }  # fmt: skip

    def reviewed(work: WorkDecision) -> dict[str, Any]:
        """A work as the review page shows it."""
        shown, columns = work.considered[:_MOST_RECORDS], "title author downloads refused"
        records = [{"id": c.gutenberg_id} | attributes(c, columns) for c in shown]
        book = fates.get(work.gutenberg_id or 0, "")
        return {
            **attributes(work, "source work_id title author link characters gutenberg_id review reason"),
            **attributes(work, "names left_out"), "book": book, "records": records,
        }  # fmt: skip

    works = list(map(work_row, report.works))
    paths = [folder / BOOKS, folder / WORKS, folder / CASTS, folder / REVIEW]
    lines = []
    for book in (book for book in report.books if book.kept):
        people = zip(book.characters, book.aliases, strict=True)
        told = attributes(book, "gutenberg_id title author")
        told |= attributes(book.work, "source work_id link rule") | {"match_reason": book.work.reason}
        told["characters"] = [{"name": name, "aliases": list(aliases)} for name, aliases in people]
        lines.append(json.dumps(told, ensure_ascii=False))
    with whole(folder):
        _write_tsv(paths[0], books)
        _write_tsv(paths[1], works)
        write_bytes(paths[2], "".join(f"{line}\n" for line in lines).encode())
        write_text(paths[3], match_page(list(map(reviewed, report.works))))
    return paths


def book_address(number: int) -> str:
    """The page of a Gutenberg book."""
    return f"https://www.gutenberg.org/ebooks/{number}"


def _book_row(book: MatchedBook) -> dict[str, Any]:
    work = book.work
    return {
        "gutenberg_id": book.gutenberg_id, "kept": "yes" if book.kept else "no",
        **attributes(book, "author title"), "book": book_address(book.gutenberg_id),
        **attributes(work, "source work_id"), "source_title": work.title, "link": work.link,
        "characters": len(book.characters), "rule": work.rule, "match_reason": work.reason,
        "reason": book.reason,
        "other_lists": "; ".join(f"{source} {work_id}: {count}" for source, work_id, count in book.others),
        "other_records": _choices(work.considered),
    }  # fmt: skip


def _choices(considered: Iterable[Considered]) -> str:
    return "; ".join(f"{c.gutenberg_id} {c.title!r}: {c.refused}" for c in considered if c.refused)


def _write_tsv(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    columns = list(rows[0]) if rows else []
    lines = ["\t".join(columns)]
    lines += ["\t".join(" ".join(str(row[c]).split()) for c in columns) for row in rows]
    write_text(path, "\n".join(lines) + "\n")


def read_matched(path: Path) -> list[dict[str, Any]]:
    """The books of a `casts.jsonl`: gutenberg_id, title, author, source, characters (name, aliases)."""
    return [book for _, book in json_lines(path, "matched_book")]


def summary(report: MatchReport) -> dict[str, Any]:
    """Counts by rule, and every book and unmatched work, as JSON writes it."""
    return {
        "works": len(report.works),
        "matched": sum(w.gutenberg_id is not None for w in report.works),
        "by_rule": dict(Counter(w.rule for w in report.works if w.gutenberg_id is not None)),
        "books": [_book_row(b) | {"others": [list(o) for o in b.others]} for b in report.books],
        "unmatched": [asdict(w) for w in report.works if w.gutenberg_id is None],
        "unused_overrides": [asdict(o) for o in report.unused_overrides],
    }


def read_works_table(path: Path, columns: Sequence[str]) -> Iterator[tuple[int, dict[str, str]]]:
    """(line number, row) of every work; a short line has "" in the columns that it lacks."""
    head, *lines = list(read_lines(path)) or [""]
    names = head.split("\t")
    if not set(columns) <= set(names):
        what = f"{path} is not a works.tsv of `bookcoref-data match`"
        expected = f"columns {', '.join(columns)}"
        raise FormatError(what, expected=expected, found=", ".join(names[:8]).strip() or "nothing")
    for number, line in enumerate(lines, start=2):
        if line.strip():
            yield number, dict.fromkeys(names, "") | dict(zip(names, line.split("\t"), strict=False))
