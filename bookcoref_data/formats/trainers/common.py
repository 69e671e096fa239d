"""What all exports for trainers share: writing lines, speakers, and the tokens that tokenizers drop."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any
from unicodedata import category

from ...books import Mention, Record
from ...errors import DataError
from .. import metadata_comment
from ..brackets import OUTSIDE
from ..compressed import packing
from ..conversion_report import ConversionReport
from ..layers import note_layers, speakers_of

NAMES = "names of characters"
GUTENBERG_KEYS = "Gutenberg keys"
OTHER_FIELDS = "other fields of documents"
BLANK_MENTIONS = "mentions of white space alone"
BLANK_ENDS = "ends of mentions on white-space tokens (the mention is cut to its words)"
CHANGING_SPEAKERS = "mentions in which the speaker changes (all of it is given to the first)"
NOBODY = "-"

LineOf = Callable[[Record, "ConversionReport | None"], dict[str, Any]]


def write_lines(
    records: Iterable[Record], path: Path, line_of: LineOf, report: ConversionReport | None
) -> int:
    """Write `line_of(record, report)`, a JSON object, for each record; returns how many."""
    count = 0
    with packing(path) as stream:
        for record in records:
            value = line_of(record, report)
            try:
                line = json.dumps(value, ensure_ascii=False).encode("utf-8")
            except UnicodeEncodeError:  # half a surrogate pair in a token
                line = json.dumps(value).encode("ascii")
            stream.write(line + b"\n")
            count += 1
    return count


def sentences_of(record: Record) -> list[list[str]]:
    """The sentences of a record. Raises DataError where there are none to write."""
    if record.sentences is None:
        raise DataError(
            f"{record.source or record.doc_key}: document {record.doc_key!r} has no tokens to write",
            expected="a record with sentences",
            hint="stitch the annotation onto its text first (bookcoref-data rebuild)",
        )
    return record.sentences


def note_fields(record: Record, report: ConversionReport | None, held: Iterable[str] = ()) -> None:
    """Count what trainers' files have no place for: names, keys, other fields, layers not in `held`."""
    note_layers(record, report, set(held))
    if report is not None:
        key = record.gutenberg_key
        report.add(NAMES, record.doc_key, count=len(record.characters))
        report.add(GUTENBERG_KEYS, record.doc_key, key, count=int(bool(key)))
        report.add(OTHER_FIELDS, record.doc_key, ", ".join(sorted(record.extra)), count=len(record.extra))
        empty = sum(not cluster for cluster in record.clusters)
        report.add(metadata_comment.EMPTY_CLUSTER, record.doc_key, count=empty)


def named_speakers(record: Record) -> list[list[str]]:
    """One name a token, "-" where nobody is named."""
    speakers = speakers_of(record) or [[""] * len(sentence) for sentence in sentences_of(record)]
    return [[name or NOBODY for name in row] for row in speakers]


def steady_speakers(
    record: Record, clusters: Sequence[Sequence[Mention]], report: ConversionReport | None
) -> list[list[str]]:
    """`named_speakers`, with one speaker all through every mention: that of its first token.

    maverick-coref, LingMess and fastcoref put the name of the speaker into the text wherever it changes, and
    stop where that is inside a mention. What is changed is counted.
    """
    rows = named_speakers(record)
    names = [name for row in rows for name in row]
    changed = 0
    # In the order of their beginnings: what a mention has changed no later one changes back.
    for start, end in sorted(mention for cluster in clusters for mention in cluster):
        if any(name != names[start] for name in names[start : end + 1]):
            names[start : end + 1] = [names[start]] * (end + 1 - start)
            changed += 1
    if report is not None:
        report.add(CHANGING_SPEAKERS, record.doc_key, count=changed)
    ends = [0, *accumulate(map(len, rows))]
    return [names[a:b] for a, b in pairwise(ends)]


def is_blank(token: str) -> bool:
    """Whether a token has nothing to see: white space, or marks such as a byte order mark or a soft hyphen.

    Many tokenizers give such a token no subword. A trainer then stops, or learns from an empty word.
    """
    return all(c.isspace() or category(c) in ("Cc", "Cf") for c in token)


def visible_clusters(record: Record, report: ConversionReport | None) -> list[list[Mention]]:
    """The clusters whose mentions lie on the tokens and begin and end on a word, not on white space.

    BookCoref has tokens that are a line end. Tokenizers give them no subword (`is_blank`), and trainers stop
    where a mention begins or ends on such a token. What is cut or left out is counted.
    """
    blank = [is_blank(token) for sentence in sentences_of(record) for token in sentence]
    clusters = []
    for cluster in record.clusters:
        kept = []
        for mention in cluster:
            start, end = mention
            if not 0 <= start <= end < len(blank):
                _add(report, OUTSIDE, record, mention)
                continue
            while start <= end and blank[start]:
                start += 1
            while start <= end and blank[end]:
                end -= 1
            if start > end:
                _add(report, BLANK_MENTIONS, record, mention)
                continue
            if (start, end) != mention:
                _add(report, BLANK_ENDS, record, mention)
            kept.append(Mention(start, end))
        if kept:
            clusters.append(kept)
    return clusters


def _add(report: ConversionReport | None, what: str, record: Record, mention: Mention) -> None:
    if report is not None:
        report.add(what, record.doc_key, str(tuple(mention)))
