"""Corpora in columns: OntoNotes, FantasyCoref (CoNLL-2012), GUM, CorefUD (CoNLL-U), BookNLP's output."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from .. import booknlp, conll, corefud
from ..conversion_report import ConversionReport
from .reading import DEFAULT_SPLIT, Found, Tokenise, files_below, split_of

IN_PARTS = "stories in parts of which the whole is there too (the whole is taken)"


def read_ontonotes(path: Path, report: ConversionReport, tokenise: Tokenise) -> Iterator[Found]:
    """Each part as a document, as its chains count within a part; the key is `<document>_part<number>`."""
    for file in files_below(path, "gold_conll", ".conll"):
        for record in conll.read(file, report=report, parts="apart"):
            yield Found(split_of(file, path), record)


def read_fantasycoref(path: Path, report: ConversionReport, tokenise: Tokenise) -> Iterator[Found]:
    """Each story whole; one that comes in parts is joined, and equal ids in its parts are one cluster."""
    stories: dict[str, Found] = {}
    for file in files_below(path, ".conll", "gold_conll"):
        for record in conll.read(file, report=report, parts="merge"):
            before = stories.get(record.doc_key)
            if before is not None:
                report.add(IN_PARTS, record.doc_key)
            if before is None or ("parts" in before.record.extra and "parts" not in record.extra):
                stories[record.doc_key] = Found(split_of(file, path), record)
    yield from stories.values()


def read_conllu(path: Path, report: ConversionReport, tokenise: Tokenise) -> Iterator[Found]:
    """Each document of each `.conllu` file."""
    for file in files_below(path, ".conllu"):
        for record in corefud.read(file, report=report):
            yield Found(split_of(file, path), record)


def read_booknlp(path: Path, report: ConversionReport, tokenise: Tokenise) -> Iterator[Found]:
    """Each book of which there is a `.tokens` file; the others have no tokens and are left out."""
    for file in files_below(path, ".tokens"):
        for record in booknlp.read(file, report=report):
            yield Found(DEFAULT_SPLIT, record)
