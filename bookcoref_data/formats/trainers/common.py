"""What all exports for trainers share: writing lines, speakers, and the tokens that tokenizers drop."""

import json
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any
from unicodedata import category

from ...books import Mention, Record
from ..base import FIELDS, GUTENBERG_KEYS, NAMES, inside, sentences_of
from ..compressed import packing
from ..conversion_report import ConversionReport, Note
from ..layers import note_layers, speakers_of

BLANK_MENTIONS = "mentions of white space alone"
BLANK_ENDS = "ends of mentions on white-space tokens (the mention is cut to its words)"
CHANGING_SPEAKERS = "mentions in which the speaker changes (all of it is given to the first)"
NOBODY = "-"

LineOf = Callable[[Record, ConversionReport, Note], dict[str, Any]]


def writer(line_of: LineOf) -> Callable[..., None]:
    """The writer of a format: `line_of(record, report, note)`, a JSON object, for each record."""

    def write(records: Iterable[Record], path: Path, *, report: ConversionReport | None = None) -> None:
        report = report or ConversionReport()
        with packing(path) as stream:
            for record in records:
                value = line_of(record, report, report.note(record.doc_key))
                try:
                    line = json.dumps(value, ensure_ascii=False).encode("utf-8")
                except UnicodeEncodeError:  # half a surrogate pair in a token
                    line = json.dumps(value).encode("ascii")
                stream.write(line + b"\n")

    return write


def note_fields(record: Record, report: ConversionReport, held: Iterable[str] = ()) -> None:
    """Count what trainers' files have no place for: names, keys, other fields, layers not in `held`."""
    note, key = report.note(record.doc_key), record.gutenberg_key
    note_layers(record, report, set(held))
    note(NAMES, count=len(record.characters))
    note(GUTENBERG_KEYS, key, bool(key))
    note(FIELDS, ", ".join(sorted(record.extra)), len(record.extra))


def named_speakers(record: Record) -> list[list[str]]:
    """One name a token, "-" where nobody is named."""
    speakers = speakers_of(record) or [[""] * len(sentence) for sentence in sentences_of(record)]
    return [[name or NOBODY for name in row] for row in speakers]


def steady_speakers(record: Record, clusters: Sequence[Sequence[Mention]], note: Note) -> list[list[str]]:
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
    note(CHANGING_SPEAKERS, count=changed)
    return [names[a:b] for a, b in pairwise([0, *accumulate(map(len, rows))])]


def is_blank(token: str) -> bool:
    """Whether a token has nothing to see: white space, or marks such as a byte order mark or a soft hyphen.

    Many tokenizers give such a token no subword. A trainer then stops, or learns from an empty word.
    """
    return all(c.isspace() or category(c) in ("Cc", "Cf") for c in token)


def visible_clusters(record: Record, note: Note) -> list[list[Mention]]:
    """The clusters whose mentions lie on the tokens and begin and end on a word, not on white space.

    BookCoref has tokens that are a line end. Tokenizers give them no subword (`is_blank`), and trainers stop
    where a mention begins or ends on such a token. What is cut or left out is counted.
    """
    blank = [is_blank(token) for sentence in sentences_of(record) for token in sentence]
    clusters = []
    for cluster in inside(record.clusters, len(blank), note):
        kept = []
        for mention in cluster:
            start, end = mention
            while start <= end and blank[start]:
                start += 1
            if start > end:
                note(BLANK_MENTIONS, str(tuple(mention)))
                continue
            while blank[end]:
                end -= 1
            if (start, end) != mention:
                note(BLANK_ENDS, str(tuple(mention)))
            kept.append(Mention(start, end))
        if kept:
            clusters.append(kept)
    return clusters
