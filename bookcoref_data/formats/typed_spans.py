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

from ..errors import FormatError
from ..shapes import check, parse_json
from .detect import detect
from .documents import read_documents
from .lines import json_lines, read_lines

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
        value = parse_json(first, f"{path}:1")
        check(value, "row", f"{path}:1")
        if "spans" in value:
            stated: dict[str, list[TypedOffsets]] = {}
            for at, value in _lines(path, "typed_document"):
                stated.setdefault(value["doc_key"], []).extend(_offsets(value["spans"], at))
            return stated
        if "predictions" in value:
            tagged: dict[str, list[TypedOffsets]] = {}
            lengths: dict[str, int] = {}
            unsaid = {} if only is None else {"doc_key": only}
            for source, sentence in _lines(path, "tagged_sentence", unsaid):
                key, tags = sentence["doc_key"], sentence["predictions"]
                if len(tags) != len(sentence["tokens"]):
                    raise FormatError(
                        f"{source}: is no sentence of CNER", expected="one prediction for every token"
                    )
                start = lengths.get(key, 0)
                tagged.setdefault(key, []).extend(spans_of_tags(tags, start))
                lengths[key] = start + len(tags)
            return tagged
    found: dict[str, list[TypedOffsets]] = {}
    for record in read_documents(path):
        types = record.extra.get("mention_types")
        spans = _offsets(types, record.source) if isinstance(types, list) else []
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


def _offsets(spans: Sequence[Any], source: str) -> list[TypedOffsets]:
    """Raises FormatError: one of them is no span with a label."""
    for span in spans:
        check(span, "typed_span", source)
        if span[0] > span[1]:
            raise FormatError(f"{source}: a span ends before it begins", found=str(span[:2]))
    return [(start, end, _VARIANTS.get(label, label)) for start, end, label in spans]


def _lines(path: Path, shape: str, unsaid: Mapping[str, str] = {}) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """(place, object) of every line that is not blank, with what it leaves `unsaid`."""
    for place, said in json_lines(path):
        value = {**unsaid, **said}
        check(value, shape, place)
        yield place, value
