"""Lines for fastcoref: its trainer counts in tokens, its predictions in characters.

`fastcoref` is what the trainer reads: `doc_key`, `tokens` (flat), `clusters` of [first token, last token],
and `speakers` where there are any (the trainer puts every name it is given into the text).
`fastcoref-text` is the shape of its predictions: `text`, and `clusters` of [first character, end), the end
exclusive. The trainer reads this, too, but cuts the text into tokens by spaCy and stops at a mention that
begins or ends inside one of these; the first form has no such risk.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate
from pathlib import Path
from typing import Any

from ...books import Record
from ..base import sentences_of
from ..conversion_report import ConversionReport, Note
from ..layers import speakers_of
from .common import note_fields, steady_speakers, visible_clusters, write_lines


def write(records: Iterable[Record], path: Path, *, report: ConversionReport | None = None) -> int:
    """Write what fastcoref's trainer reads; returns how many documents. Sentences are not kept."""
    return write_lines(records, path, _token_line, report)


def write_text(records: Iterable[Record], path: Path, *, report: ConversionReport | None = None) -> int:
    """Write texts with clusters by characters; returns how many documents.

    Tokens are separated by a space, sentences by a line end.
    """
    return write_lines(records, path, _text_line, report)


def _token_line(record: Record, report: ConversionReport, note: Note) -> dict[str, Any]:
    tokens = [token for sentence in sentences_of(record) for token in sentence]
    note_fields(record, report, {"speakers"})
    note("sentence boundaries", count=len(sentences_of(record)) - 1)
    clusters = visible_clusters(record, note)
    report.wrote(len(tokens), clusters)
    line: dict[str, Any] = {"doc_key": record.doc_key, "tokens": tokens, "clusters": clusters}
    if speakers_of(record) is not None:
        line["speakers"] = steady_speakers(record, clusters, note)
    return line


def _text_line(record: Record, report: ConversionReport, note: Note) -> dict[str, Any]:
    pieces: list[tuple[str, str]] = []  # each token, and what stands behind it
    for sentence in sentences_of(record):
        pieces += [(token, " ") for token in sentence[:-1]]
        pieces += [(token, "\n") for token in sentence[-1:]]
    note_fields(record, report)
    starts = [0, *accumulate(len(token) + len(gap) for token, gap in pieces)]
    clusters = visible_clusters(record, note)
    note("white-space tokens", count=sum(not t or t.isspace() for t, _ in pieces))
    report.wrote(len(pieces), clusters)
    return {
        "doc_key": record.doc_key,
        "text": "".join(token + gap for token, gap in pieces),
        "clusters": [[[starts[a], starts[b] + len(pieces[b][0])] for a, b in c] for c in clusters],
    }
