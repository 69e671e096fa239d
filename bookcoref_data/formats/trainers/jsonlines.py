"""OntoNotes-style `.jsonlines`, as the trainers of maverick-coref, s2e, LingMess and fastcoref read them.

One document a line: `doc_key`, `sentences`, `speakers` (one name a token, "-" where nobody is named) and
`clusters` of [first token, last token]. s2e stops without `speakers`, so they are always there. Such files
are read as any JSON lines.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ...books import Record
from ..base import sentences_of
from ..conversion_report import ConversionReport, Note
from ..jsonl import read
from .common import note_fields, steady_speakers, visible_clusters, write_lines

__all__ = ["read", "write"]


def write(records: Iterable[Record], path: Path, *, report: ConversionReport | None = None) -> int:
    """Write documents as lines of JSON; returns how many.

    Left out, and counted in `report`: names of characters, Gutenberg keys, token layers, unknown fields.

    Raises:
        DataError: a document's tokens are not known.
    """
    return write_lines(records, path, _line_of, report)


def _line_of(record: Record, report: ConversionReport, note: Note) -> dict[str, Any]:
    sentences = sentences_of(record)
    note_fields(record, report, {"speakers"})
    clusters = visible_clusters(record, note)
    report.wrote(sum(map(len, sentences)), clusters)
    return {
        "doc_key": record.doc_key,
        "sentences": sentences,
        "speakers": steady_speakers(record, clusters, note),
        "clusters": clusters,
    }
