"""Typed spans for `evaluate --typed`: which tokens of which document are a person, a place, ...

Read, told apart by content:

- JSON lines `{"doc_key": ..., "spans": [[start, end, "LABEL"], ...]}`, offsets 0-based, both inclusive;
- the output of CNER, one sentence a line: `{"tokens": [...], "predictions": ["B-PER", "O", ...]}`, the
  sentences of a document one after another, with `doc_key` where the file holds several documents;
- any format that states mention types (brat, BookNLP): `PROP_PER` and the like count as `PER`.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..books import Record
from ..errors import DataError, FormatError
from ..shapes import check
from .documents import detect, read_documents
from .layers import flat
from .lines import json_lines
from .projection import project

TypedOffsets = tuple[int, int, str]
Words = Mapping[str, Sequence[str] | None]
_VARIANTS = {"PERSON": "PER", "LOCATION": "LOC", "SUPERNATURAL": "SUPER"}
_MENTION_KIND = re.compile(r"(PROP|NOM|PRON)_(?=.)")
_EXPECTED = '{"doc_key": ..., "spans": [[start, end, "LABEL"], ...]}, offsets 0-based, both inclusive'


def read_typed_spans(
    path: Path, only: str | None = None, words: Words | None = None, notes: list[str] | None = None
) -> dict[str, list[TypedOffsets]]:
    """(start, end, label) by doc_key. `only`: the document meant where a CNER file names none.

    `words` are the tokens on which the spans should stand, by doc_key. Where the file has tokens and they are
    others, its spans are moved by their characters; `notes` get a sentence about it.

    Raises SourceError: nothing there. FormatError: no typed spans in it (file and line). DataError: most
    spans of a document are not in its `words`.
    """
    found: dict[str, list[TypedOffsets]] = {}
    own: dict[str, list[str]] = {}
    for at, row in json_lines(path) if detect(path) == "jsonl" else ():
        if not found and not row.keys() & {"predictions", "spans"}:
            break
        tagged = "predictions" in row
        row = {"doc_key": only, **row} if tagged and only is not None else row
        check(row, "tagged_sentence" if tagged else "typed_document", at)
        tokens = own.setdefault(row["doc_key"], [])
        if not tagged:
            found.setdefault(row["doc_key"], []).extend(_offsets(row["spans"], at))
            own[row["doc_key"]] = tokens or flat(row.get("sentences"))
        elif len(row["predictions"]) != len(row["tokens"]):
            raise FormatError(f"{at}: is no sentence of CNER", expected="one prediction for every token")
        else:
            found.setdefault(row["doc_key"], []).extend(spans_of_tags(row["predictions"], len(tokens)))
            tokens += row["tokens"]
    if not found:
        for record in read_documents(path):
            types = record.extra.get("mention_types")
            spans = _offsets(types, record.source) if isinstance(types, list) else []
            found[record.doc_key] = [(a, b, _MENTION_KIND.sub("", label)) for a, b, label in spans]
            own[record.doc_key] = flat(record.sentences)
        if not any(found.values()):
            expected = f"{_EXPECTED}; CNER output; or brat or BookNLP files with mention types"
            raise FormatError(f"{path}: no typed spans in it", expected=expected)
    for key, asked in (words or {}).items():
        if not asked or not own.get(key) or own[key] == list(asked):
            continue
        there = Record(key, "", [own[key]], [], [], extra={"mention_types": list(map(list, found[key]))})
        moved = project(there, Record(key, "", [list(asked)], [], []), None).extra["mention_types"]
        if 2 * len(moved) < len(found[key]):
            raise DataError(
                f"{key}: most of its typed spans are not in the text of the key",
                expected=f"its words, as {' '.join(asked[:8])!r}", found=repr(" ".join(own[key][:8])),
                hint="label the text of the key",
            )  # fmt: skip
        if notes is not None:
            notes.append(
                f"{key}: its typed spans stand on other tokens than the key ({len(own[key]):,} for "
                f"{len(asked):,}): moved by their characters, {len(found[key]) - len(moved):,} lost"
            )
        found[key] = [(start, end, label) for start, end, label in moved]
    return found


def spans_of_tags(tags: Sequence[str], start: int = 0) -> Iterator[TypedOffsets]:
    """Spans of BIO tags; `start` is the offset of the first. I- after O or another label opens a span."""
    opened: int | None = None
    label = ""
    for i, tag in enumerate([*tags, "O"]):
        goes_on = tag.startswith("I-") and tag[2:] == label and opened is not None
        if goes_on:
            continue
        if opened is not None:
            yield start + opened, start + i - 1, _VARIANTS.get(label, label)
        opened, label = (i, tag[2:]) if tag[:2] in ("B-", "I-") else (None, "")


def _offsets(spans: Sequence[Any], source: str) -> list[TypedOffsets]:
    """Raises FormatError: one of them is no span with a label."""
    for span in spans:
        check(span, "typed_span", source)
        if span[0] > span[1]:
            raise FormatError(f"{source}: a span ends before it begins", found=str(span[:2]))
    return [(start, end, _VARIANTS.get(label, label)) for start, end, label in spans]
