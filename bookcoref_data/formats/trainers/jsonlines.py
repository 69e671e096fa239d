"""OntoNotes-style `.jsonlines`, as the trainers of maverick-coref, s2e, LingMess and fastcoref read them.

One document a line: `doc_key`, `sentences`, `speakers` (one name a token, "-" where nobody is named) and
`clusters` of [first token, last token]. s2e stops without `speakers`, so they are always there. Such files
are read as any JSON lines.

fastcoref's trainer counts in tokens, its predictions count in characters. `fastcoref` is what the trainer
reads: `doc_key`, `tokens` (flat), `clusters`, and `speakers` where there are any (the trainer puts every name
it is given into the text). `fastcoref-text` is the shape of its predictions: `text`, and `clusters` of [first
character, end), the end exclusive. The trainer reads this, too, but cuts the text into tokens by spaCy and
stops at a mention that begins or ends inside one of these; the first form has no such risk.
"""

from itertools import accumulate
from typing import Any

from ...books import Record
from ..base import sentences_of
from ..conversion_report import ConversionReport, Note
from ..jsonl import read
from ..layers import speakers_of
from .common import note_fields, steady_speakers, visible_clusters, writer

__all__ = ["read", "write", "write_texts", "write_tokens"]


@writer
def write(record: Record, report: ConversionReport, note: Note) -> dict[str, Any]:
    """Write documents as lines of JSON.

    Left out, and counted in `report`: names of characters, Gutenberg keys, token layers, unknown fields.
    Raises DataError: a document's tokens are not known.
    """
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


@writer
def write_tokens(record: Record, report: ConversionReport, note: Note) -> dict[str, Any]:
    """Write what fastcoref's trainer reads. Sentences are not kept."""
    tokens = [token for sentence in sentences_of(record) for token in sentence]
    note_fields(record, report, {"speakers"})
    note("sentence boundaries", count=len(sentences_of(record)) - 1)
    clusters = visible_clusters(record, note)
    report.wrote(len(tokens), clusters)
    line: dict[str, Any] = {"doc_key": record.doc_key, "tokens": tokens, "clusters": clusters}
    if speakers_of(record) is not None:
        line["speakers"] = steady_speakers(record, clusters, note)
    return line


@writer
def write_texts(record: Record, report: ConversionReport, note: Note) -> dict[str, Any]:
    """Write texts with clusters by characters: a space between tokens, a line end between sentences."""
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
