"""The targets of `export`, and how each is written: tables of all books together, else a file per book."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..books.annotation import Annotation
from ..errors import DataError, UsageError, require_choice
from ..files import safe_name, write_bytes
from ..formats import ConversionReport
from ..formats.annotated import CANDIDATES, REASONS, REFUSED, whole_record
from ..formats.base import FIELDS, GUTENBERG_KEYS, NAMES
from ..formats.conversion_report import Note
from ..formats.documents import write_documents
from ..words import word_set
from . import network, standards, tables, tei
from .reading import LaidOutBook

REPLACED = "characters that the target cannot hold (U+FFFD stands for each)"
_NO_TEXT = re.compile("[\ud800-\udfff]")
_NO_CELL = re.compile("[\0\ud800-\udfff]")
# The writer of GraphML leaves a carriage return as it is, which readers take for a line end.
_NO_GRAPHML = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# Parts of an annotation by a word for each, which a target names if it has them.
_PARTS = {
    "tokens": "tokens of the text", "sentences": "sentence boundaries", "mentions": "mentions",
    "names": NAMES, "silent": "characters that nothing mentions", "reasons": REASONS,
    "candidates": CANDIDATES, "refused": REFUSED, "quotes": "quotations",
    "addressees": "addressees of quotations", "rules": "reasons of quotations (rule, score)",
    "chapters": "titles of chapters", "places": "places of tokens in the source file",
    "key": GUTENBERG_KEYS, "guessed": "marks of names that were guessed", "fields": FIELDS,
    "kinds": "kinds of mentions",
}  # fmt: skip


UNTITLED = "titles of chapters that do not stand in the text, or share a paragraph"
SEVERAL = "names that an earlier character has, too (a number stands behind them)"


@dataclass(frozen=True)
class Target:
    """`make` gives the content of one book's file, whose name ends in `suffix`. `holds` names the parts of an
    annotation (`_PARTS`) that are in it, `forbidden` finds the characters that cannot be."""

    suffix: str
    holds: frozenset[str]
    make: Callable[[LaidOutBook], bytes] | None = None
    forbidden: re.Pattern[str] = _NO_TEXT


_TABLES = word_set("mentions names kinds reasons quotes addressees rules chapters")
_TEXT = word_set("tokens mentions names kinds quotes addressees")
_NAMES = frozenset({"names"})
_BOOKNLP = frozenset(_PARTS) - word_set("reasons candidates refused silent kinds")
TARGETS: dict[str, Target] = {
    name: Target(*rest)
    for name, *rest in (
        ("csv", ".csv", _TABLES, None, _NO_CELL), ("tsv", ".tsv", _TABLES, None, _NO_CELL),
        ("parquet", ".parquet", _TABLES),
        ("graphml", ".graphml", _NAMES, network.graphml, _NO_GRAPHML),
        ("gexf", ".gexf", _NAMES, network.gexf, _NO_XML),
        ("tei", ".xml", _TEXT | {"chapters"}, tei.tei, _NO_XML),
        ("tei-standoff", ".xml", _TEXT | {"chapters"}, tei.standoff, _NO_XML),
        ("webannotation", ".jsonld", _TEXT - {"tokens"}, standards.web_annotation),
        ("inception", ".zip", _TEXT | {"sentences"}, standards.inception, _NO_XML),
        ("booknlp", ".tokens", _BOOKNLP),
        ("spacy", ".spacy", _TEXT | {"sentences", "places"}, standards.doc_bin),
        ("replaced-text", ".txt", frozenset({"tokens"}), lambda r: standards.replaced_text(r).encode()),
        ("audiobook", ".jsonl", word_set("tokens quotes addressees chapters"), standards.segment_file),
    )
}  # fmt: skip


def export(
    annotations: Sequence[Annotation], to: str, out: Path, *, report: ConversionReport | None = None,
    excel: bool = False,
) -> list[Path]:  # fmt: skip
    """Write annotated books in one target's form; returns the files.

    `report` hears what of the annotations is not in them. Tables go into the folder `out`. Others write one
    file: `out` itself, if it has a suffix and there is one book, else `out/<doc_key><suffix>` for each.
    `excel`: tables of csv and tsv begin with a byte order mark, by which Excel knows UTF-8.
    """
    require_choice("export", to, TARGETS)
    if excel and to not in ("csv", "tsv"):
        raise UsageError(f"a byte order mark for Excel does not go with {to}", expected="csv or tsv")
    if not annotations:
        raise DataError("there is no book to export")
    target, report = TARGETS[to], report or ConversionReport()
    readings = []
    for a in annotations:
        note = report.note(a.doc_key)
        _note_left_out(a, target, note)
        r = LaidOutBook(a if to == "booknlp" else _clean(a, target.forbidden, note))
        if "chapters" in target.holds and to != "booknlp":
            shown = [" ".join(r.headings(c)) if to.startswith("tei") else c.title for c in r.chapters]
            lost = Counter(title for title, _ in r.annotation.chapters if title) - Counter(shown)
            note(UNTITLED, next(iter(lost), ""), lost.total())
        readings.append(r)
    if to in ("csv", "tsv", "parquet"):
        if out.suffix:
            what = f"tables are {len(tables.all_tables([]))} files"
            raise UsageError(what, expected="--out FOLDER", found=str(out))
        made = tables.all_tables(readings)
        if to == "parquet":
            return tables.write_parquet(made, out)
        return tables.write_separated(made, out, "," if to == "csv" else "\t", report, "\ufeff" * excel)
    if out.suffix and len(readings) > 1:
        raise UsageError(f"{out} is one file, but there are {len(readings)} books", expected="--out FOLDER")
    files = []
    for r in readings:
        key = r.annotation.doc_key
        path = out if out.suffix else out / f"{safe_name(key, 'document key')}{target.suffix}"
        if target.make is None:
            write_documents([whole_record(r.annotation)], path, to, report=report)
        else:
            write_bytes(path, target.make(r))
        files.append(path)
    return files


def _note_left_out(a: Annotation, target: Target, note: Note) -> None:
    """Count the parts of an annotation that a target does not hold."""
    silent = sum(not group and i not in a.heard for i, group in enumerate(a.by_character))
    spoken = len(a.heard - {-1}) if "quotes" in target.holds else 0
    counts = {
        "tokens": len(a.book.tokens), "sentences": len(a.book.sentence_ends), "mentions": len(a.mentions),
        "names": len(a.names) - silent - spoken, "silent": silent,
        "kinds": sum(bool(m.kind) for m in a.mentions),
        "reasons": sum(bool(m.step or m.rule) for m in a.mentions),
        "candidates": sum(len(m.others) for m in a.mentions), "refused": len(a.dropped),
        "quotes": len(a.quotes), "addressees": sum(len(q.addressees) for q in a.quotes),
        "rules": sum(bool(q.rule) for q in a.quotes), "chapters": len(a.chapters),
        "places": 0 if a.source is None else len(a.book.tokens), "key": int(bool(a.book.gutenberg_key)),
        "guessed": len(a.guessed), "fields": len(a.extra),
    }  # fmt: skip
    plain = {name: re.sub(r" \(\d+\)$", "", name) for name in a.names}
    again = [name for name, first in plain.items() if name != first and first in plain]
    note(SEVERAL, ", ".join(again[:3]), len(again))
    for part, count in counts.items():
        if part not in target.holds:
            note(_PARTS[part], ", ".join(sorted(a.extra)) if part == "fields" else "", count)


def _clean(a: Annotation, forbidden: re.Pattern[str], note: Note) -> Annotation:
    """The annotation with U+FFFD, one for one, in the place of every character that cannot be written."""
    count = 0

    def clean(text: str) -> str:
        nonlocal count
        text, found = forbidden.subn("\ufffd", text)
        count += found
        return text

    source = a.source and replace(a.source, file=clean(a.source.file), text=clean(a.source.text))
    done = replace(
        a, book=replace(a.book, tokens=tuple(map(clean, a.book.tokens))), names=tuple(map(clean, a.names)),
        mentions=tuple(
            m._replace(step=clean(m.step), rule=clean(m.rule), kind=clean(m.kind)) for m in a.mentions
        ),
        quotes=tuple(q._replace(rule=clean(q.rule)) for q in a.quotes), source=source,
        chapters=tuple((clean(title), token) for title, token in a.chapters),
    )  # fmt: skip
    note(REPLACED, count=count)
    return done
