"""Typed spans for `evaluate --typed`: which tokens of which document are a person, a place, ...

Read, told apart by content:

- JSON lines `{"doc_key": ..., "spans": [[start, end, "LABEL"], ...]}`, offsets 0-based, both inclusive;
- the output of CNER, one sentence a line: `{"tokens": [...], "predictions": ["B-PER", "O", ...]}`, the
  sentences of a document one after another, with `doc_key` where the file holds several documents;
- any format that states mention types (brat, BookNLP): `PROP_PER` and the like count as `PER`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import FormatError
from .detect import detect
from .documents import read_documents
from .lines import read_lines

TypedOffsets = tuple[int, int, str]
_VARIANTS = {"PERSON": "PER", "LOCATION": "LOC", "SUPERNATURAL": "SUPER"}
_MENTION_KIND = re.compile(r"(PROP|NOM|PRON)_(?=.)")
_EXPECTED = '{"doc_key": ..., "spans": [[start, end, "LABEL"], ...]}, offsets 0-based, both inclusive'


def read_typed_spans(path: Path, only: str | None = None) -> dict[str, list[TypedOffsets]]:
    """(start, end, label) by doc_key. `only`: the document meant where a CNER file names none.

    Raises:
        SourceError: nothing there. FormatError: no typed spans in it (file and line).
    """
    if detect(path) == "jsonl":
        first = next((line for line in read_lines(path) if line.strip()), "")
        value = _object(first, f"{path}:1")
        if "spans" in value:
            return dict(_own(path))
        if "predictions" in value:
            return _cner(path, only)
    found: dict[str, list[TypedOffsets]] = {}
    for record in read_documents(path):
        types = record.extra.get("mention_types")
        spans = [_offsets(item, record.source) for item in types] if isinstance(types, list) else []
        found[record.doc_key] = [(a, b, _MENTION_KIND.sub("", label)) for a, b, label in spans]
    if not any(found.values()):
        raise FormatError(
            f"{path}: no typed spans in it",
            expected=f"{_EXPECTED}; CNER output; or brat or BookNLP files with mention types",
        )
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


def _own(path: Path) -> Iterator[tuple[str, list[TypedOffsets]]]:
    for source, value in _objects(path):
        key, spans = value.get("doc_key"), value.get("spans")
        if not isinstance(key, str) or not isinstance(spans, list):
            raise FormatError(f"{source}: is not a document with typed spans", expected=_EXPECTED)
        yield key, [_offsets(span, source) for span in spans]


def _offsets(span: object, source: str) -> TypedOffsets:
    if isinstance(span, list | tuple) and len(span) == 3:
        start, end, label = span
        if type(start) is int and type(end) is int and 0 <= start <= end and isinstance(label, str) and label:
            return start, end, _VARIANTS.get(label, label)
    raise FormatError(
        f"{source}: is not a typed span",
        expected='[start, end, "LABEL"], 0-based, both inclusive, start <= end',
        found=json.dumps(span)[:80],
    )


def _cner(path: Path, only: str | None) -> dict[str, list[TypedOffsets]]:
    found: dict[str, list[TypedOffsets]] = {}
    lengths: dict[str, int] = {}
    for source, value in _objects(path):
        key, tags = value.get("doc_key", only), value.get("predictions")
        if not isinstance(key, str):
            raise FormatError(
                f"{source}: says nothing about its document",
                expected='"doc_key" in every line, since the key holds several documents',
            )
        tokens = value.get("tokens")
        if not (isinstance(tags, list) and isinstance(tokens, list)) or not (
            _texts(tags) and _texts(tokens) and len(tags) == len(tokens)
        ):
            raise FormatError(f"{source}: is no sentence of CNER", expected="one prediction for every token")
        start = lengths.get(key, 0)
        found.setdefault(key, []).extend(spans_of_tags(tags, start))
        lengths[key] = start + len(tags)
    return found


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _objects(path: Path) -> Iterable[tuple[str, Mapping[str, Any]]]:
    for number, line in enumerate(read_lines(path), 1):
        if line.strip():
            yield f"{path}:{number}", _object(line, f"{path}:{number}")


def _object(line: str, source: str) -> Mapping[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{source}: is not valid JSON", found=str(error)[:120]) from error
    if not isinstance(value, dict):
        raise FormatError(f"{source}: is not a JSON object", expected=_EXPECTED)
    return value
