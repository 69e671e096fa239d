"""Tables of an annotated book: mentions, quotes, characters, chapters, and who speaks to whom."""

import csv
import io
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..files import write_bytes, write_text
from ..formats import ConversionReport
from ..late import pa, pq
from ..resources import load_toml, resource
from .reading import LaidOutBook

Row = dict[str, Any]


@dataclass(frozen=True)
class Columns:
    """A table by rows; every row has the same columns."""

    name: str
    columns: tuple[str, ...]
    rows: list[Row]


_COLUMNS: dict[str, str] = load_toml(resource("manifests", "tables.toml"))


def all_tables(readings: Iterable[LaidOutBook]) -> list[Columns]:
    """Mentions, quotes, characters, chapters and speech of some books, one table each.

    Tokens are 0-based and both ends count; characters (`char_start`, `char_end`) are those of the source file
    where it is known, the end exclusive. Chapters and paragraphs are numbered from 1.
    """
    done, makers = list(readings), (mentions, quotes, characters, chapters, speech)
    rows = {make.__name__: [row for r in done for row in make(r)] for make in makers}
    return [Columns(name, tuple(_COLUMNS[name].split()), made) for name, made in rows.items()]


def _place(r: LaidOutBook, start: int, end: int) -> Row:
    first, last = r.characters(start, end)
    return {
        "doc_key": r.annotation.doc_key, "start": start, "end": end, "char_start": first, "char_end": last,
        "text": r.words(start, end), "chapter": r.chapter_of(start) + 1,
        "paragraph": r.paragraph_of(start) + 1,
    }  # fmt: skip


def mentions(r: LaidOutBook) -> list[Row]:
    """One row per mention; `quote` is the number of the quote it stands in."""
    return [
        _place(r, m.start, m.end)
        | {
            "character": r.name(m.character), "kind": r.kind(m), "step": m.step, "rule": m.rule,
            "score": m.score, "chapter_title": r.chapters[r.chapter_of(m.start)].title,
            "quote": r.quote_of.get(m.start, -1) + 1 or None,
        }
        for m in r.annotation.mentions
    ]  # fmt: skip


def quotes(r: LaidOutBook) -> list[Row]:
    """One row per quote; several addressees are separated by semicolons."""
    return [
        _place(r, q.start, q.end)
        | {
            "quote": number, "speaker": r.name(q.speaker) or None, "words": r.word_count(q.start, q.end),
            "addressees": "; ".join(r.addressees(q)), "rule": q.rule, "score": q.score,
        }
        for number, q in enumerate(r.annotation.quotes, 1)
    ]  # fmt: skip


def characters(r: LaidOutBook) -> list[Row]:
    """One row per character, the most mentioned first."""
    said, words = r.spoken(lambda q: (q.speaker,))
    heard, _ = r.spoken(lambda q: q.addressees)
    found = []
    for c in r.mentioned():
        group = r.annotation.by_character[c]
        kinds = Counter(r.kind(m) for m in group)
        found.append({
            "doc_key": r.annotation.doc_key, "character": r.name(c), "mentions": len(group),
            "names": kinds["name"], "noun_phrases": kinds["nominal"], "pronouns": kinds["pronoun"],
            "chapters": len({r.chapter_of(m.start) for m in group}),
            "first_token": group[0].start if group else None,
            "first_chapter": r.chapter_of(group[0].start) + 1 if group else None,
            "last_token": group[-1].start if group else None,
            "last_chapter": r.chapter_of(group[-1].start) + 1 if group else None,
            "quotes": said[c], "words_spoken": words[c], "quotes_heard": heard[c],
        })  # fmt: skip
    return sorted(found, key=lambda row: (-row["mentions"], row["character"]))


def chapters(r: LaidOutBook) -> list[Row]:
    here: dict[int, Counter[int]] = defaultdict(Counter)
    for m in r.annotation.mentions:
        here[r.chapter_of(m.start)][m.character] += 1
    said, words = r.spoken(lambda q: (r.chapter_of(q.start),))
    return [
        {
            "doc_key": r.annotation.doc_key, "chapter": n + 1, "title": c.title, "start": c.start,
            "end": c.end - 1, "words": r.word_count(c.start, c.end - 1), "mentions": here[n].total(),
            "characters": len(here[n]), "quotes": said[n], "words_spoken": words[n],
            "most_mentioned": r.name(here[n].most_common(1)[0][0]) if here[n] else None,
        }
        for n, c in enumerate(r.chapters)
    ]  # fmt: skip


def speech(r: LaidOutBook) -> list[Row]:
    """Who speaks to whom, how often and how many words; a quote to several people counts for each."""
    count, words = r.spoken(lambda q: [(q.speaker, to) for to in q.addressees or (-1,)])
    return [
        {
            "doc_key": r.annotation.doc_key, "speaker": r.name(s) or None, "addressee": r.name(to) or None,
            "quotes": n, "words": words[s, to],
        }
        for (s, to), n in count.most_common()
    ]  # fmt: skip


def write_separated(
    tables: Sequence[Columns], out: Path, separator: str, report: ConversionReport, mark: str = ""
) -> list[Path]:
    """One file per table; a cell that a spreadsheet would run as a formula gets a quote mark in front.

    Such cells are counted in `report`. Each file begins with `mark`.
    """
    suffix = "csv" if separator == "," else "tsv"
    files = []
    for table in tables:
        text = io.StringIO()
        # With this end of a line every cell that holds one of its characters is put in quotation marks.
        writer = csv.writer(_Lines(text, "\r\n" if separator == "," else "\n"), delimiter=separator)
        writer.writerow(table.columns)
        for row in table.rows:
            formulas = [c for c in table.columns if str(row.get(c))[:1] in _FORMULA and type(row[c]) is str]
            report.note(row["doc_key"])(FORMULAS, count=len(formulas))
            cells = row | {c: f"'{row[c]}" for c in formulas}
            writer.writerow("" if cells.get(c) is None else cells[c] for c in table.columns)
        files.append(out / f"{table.name}.{suffix}")
        write_text(files[-1], mark + text.getvalue())
    return files


class _Lines:
    """Lines of a table, which end as they should."""

    def __init__(self, text: io.StringIO, end: str) -> None:
        self._text, self._end = text, end

    def write(self, line: str) -> int:
        return self._text.write(line.removesuffix("\r\n") + self._end)


_FORMULA = ("=", "+", "-", "@", "\t", "\r")
FORMULAS = "cells that begin like a formula (a quote mark stands before them)"


def write_parquet(tables: Sequence[Columns], out: Path) -> list[Path]:
    """One parquet file per table."""
    files, texts = [], _COLUMNS["texts"].split()
    for table in tables:
        kinds = {c: pa.string() if c in texts else pa.int64() for c in table.columns}
        kinds["score"] = pa.float64()
        columns = {c: pa.array([row.get(c) for row in table.rows], type=kinds[c]) for c in table.columns}
        buffer = io.BytesIO()
        pq.write_table(pa.table(columns), buffer, compression="zstd")
        files.append(out / f"{table.name}.parquet")
        write_bytes(files[-1], buffer.getvalue())
    return files
