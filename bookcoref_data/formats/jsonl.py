"""JSON lines, one document a line: the official BookCoref record and the prediction files of systems.

Read: `doc_key` or `doc_id`; `characters` as a list of {name, mentions or cluster}, as columns
{"name": [...], "mentions": [...]}, or as an object {name: spans} (prediction files, often empty);
`sentences` may be missing, or be `tokens`, a flat list (fastcoref). Written: always the official names, then
`speakers` and `token_layers` where a record has them. Fields we do not know are kept.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..books import Mention, Record
from ..errors import DataError, FormatError
from ..shapes import GivenTwice, once
from .base import FIELDS
from .compressed import packing
from .conversion_report import ConversionReport
from .layers import SPEAKERS, Layer, by_sentence, flat, is_layer, kept_speakers, layers_of, note_lost
from .lines import CUT, cut_text, json_line, read_lines

KNOWN = {"doc_key", "gutenberg_key", "sentences", "clusters", "characters", "speakers", "token_layers"}
NOBODY = "-"
# Names of fields that may mean another field when the line is read.
_AMBIGUOUS = KNOWN | {"doc_id", "tokens", "text"}
_SPAN = "a span [start, end]: two whole numbers, 0-based, both inclusive, start <= end"
# Offsets beyond this are no book (the longest of BookCoref has 713,710 tokens). Whoever makes an array of a
# document's tokens relies on it: a line of a hundred bytes must not ask for gigabytes.
MAX_OFFSET = 10_000_000 - 1
_FASTCOREF = "fastcoref names no documents in such lines; "


class _Words(str):
    """What was found, already put into words."""


class _LineFault(Exception):
    """A value of the wrong shape; `path` says where in the record, the caller adds file and line."""

    def __init__(self, path: str, expected: str, found: Any, hint: str | None = None) -> None:
        super().__init__(path)
        self.path, self.expected, self.found, self.hint = path, expected, found, hint


def read(
    path: Path | str, *, report: ConversionReport | None = None, bare: bool = False,
    doc_key: str | None = None,
) -> Iterator[Record]:  # fmt: skip
    """Yield the documents of a JSONL file (plain, gzip or zstd), unchecked beyond their shape.

    Blank lines are skipped. `bare` also accepts documents with neither clusters nor characters, and
    characters without mentions (texts that wait for annotation). `report` hears of fields inside a
    character that are not kept. `doc_key` is the key of a document that has none of its own; further ones get
    `<doc_key>_2`, ...

    Raises FormatError: `file:line`, and the place inside the record, of what is not as it should be.
    """
    unnamed = 0
    for number, line in enumerate(read_lines(Path(path)), 1):
        if line and not line.isspace():
            key = None if doc_key is None else doc_key if not unnamed else f"{doc_key}_{unnamed + 1}"
            record = parse_record(line, f"{path}:{number}", report=report, bare=bare, doc_key=key)
            unnamed += record.doc_key == key
            yield record


def parse_record(
    line: str, source: str, *, report: ConversionReport | None = None, bare: bool = False,
    doc_key: str | None = None,
) -> Record:  # fmt: skip
    """One line as a record. `source` ("file:line") opens every error message.

    `doc_key` is the key of a document that names none.
    """
    try:
        value = json.loads(line, object_pairs_hook=once)
    except json.JSONDecodeError as error:
        hint = "each line must be one whole JSON document"
        if line.strip() in ("{", "[") or error.pos >= len(line.rstrip()):
            hint = "each line must be one whole JSON document; is the file cut short, or pretty-printed?"
        raise FormatError(
            f"{source}: not valid JSON (column {error.colno})", found=error.msg, hint=hint
        ) from error
    except GivenTwice as error:
        raise FormatError(f"{source}: a field is given twice", expected="each once", found=error) from None
    except (RecursionError, ValueError) as error:
        raise FormatError(f"{source}: not valid JSON", found=str(error)) from error
    try:
        _expect(type(value) is dict, "", "a JSON object with doc_key, sentences, clusters", value)
        if doc_key is not None and value.keys().isdisjoint({"doc_key", "doc_id"}):
            value = {"doc_key": doc_key, **value}
        return _record(value, source, report, bare)
    except _LineFault as fault:
        place = f" at {fault.path}" if fault.path else ""
        what = f"{source}: the record is not a document{place}"
        raise FormatError(what, expected=fault.expected, found=_show(fault.found), hint=fault.hint) from None


def write(records: Iterable[Record], path: Path, *, report: ConversionReport | None = None) -> None:
    """Write official records, one a line.

    Left out, and counted in `report`: layers that do not fit the tokens, speakers named "-" (nobody), fields
    whose name has another meaning here.

    Raises DataError: a mention that is no span.
    """
    report = report or ConversionReport()
    with packing(path) as stream:
        for record in records:
            note = report.note(record.doc_key)
            # Raises DataError where a span would make the line unreadable
            groups = (*record.clusters, *(spans for _, spans in record.characters))
            for start, end in (span for spans in groups for span in spans):
                if not 0 <= start <= end <= MAX_OFFSET:
                    what = f"{record.source or record.doc_key}: a mention of {record.doc_key!r} cannot be"
                    raise DataError(f"{what} written", expected=_SPAN, found=f"[{start}, {end}]")
            speakers = kept_speakers(record, note)
            kept = replace(record, speakers=speakers, layers=layers_of(record))
            note(SPEAKERS, NOBODY, flat(speakers).count(NOBODY))
            note_lost(record, kept, note)
            line = format_record(kept)
            if kept.extra.keys() & _AMBIGUOUS:
                back = parse_record(line.decode("utf-8"), "").extra
                lost = {k for k, v in kept.extra.items() if k not in back or back[k] != v}
                note(FIELDS, ", ".join(sorted(lost)), len(lost))
                kept = replace(kept, extra={k: v for k, v in kept.extra.items() if k not in lost})
                line = format_record(kept)
            stream.write(line)
            report.wrote(None if kept.sentences is None else sum(map(len, kept.sentences)), kept.clusters)


def format_record(record: Record) -> bytes:
    """One record as a line of UTF-8 JSON; `sentences` is left out where the record has none."""
    value: dict[str, Any] = {"doc_key": record.doc_key, "gutenberg_key": record.gutenberg_key}
    if record.sentences is not None:
        value["sentences"] = record.sentences
    value["clusters"] = record.clusters
    value["characters"] = [{"name": name, "mentions": spans} for name, spans in record.characters]
    if record.speakers is not None:
        value["speakers"] = record.speakers
    if record.layers:
        value["token_layers"] = record.layers
    value |= {k: v for k, v in record.extra.items() if k not in value}
    return json_line(value) + b"\n"


def _record(value: dict[str, Any], source: str, report: ConversionReport | None, bare: bool) -> Record:
    name = "doc_key" if "doc_key" in value else "doc_id"
    doc_key = value.get(name)
    if doc_key is None:
        raise _LineFault(
            "doc_key",
            'the key of the document, a text: "doc_key" (or "doc_id")',
            _Words(f"no doc_key, only {', '.join(value)}"),
            f"{_FASTCOREF if {'tokens', 'clusters'} <= value.keys() else ''}give it with the option "
            "--doc-key NAME of `bookcoref-data convert`, or with read_documents(..., doc_key=NAME)",
        )
    if type(doc_key) is not str or not doc_key:
        raise _LineFault(name, "the key of the document, a text", doc_key)
    # Whether this is a text with clusters by characters, as fastcoref predicts them
    tokens = value.get("sentences"), value.get("tokens")
    if type(value.get("text")) is str and tokens == (None, None) and type(value.get("clusters")) is list:
        value = _by_tokens(value, doc_key, report)
    sentences: list[list[str]] | None = value.get("sentences")
    if sentences is not None:
        _expect(type(sentences) is list, "sentences", "a list of sentences", sentences)
        for i, sentence in enumerate(sentences):
            _expect_tokens(sentence, f"sentences[{i}]")
    elif (flat_tokens := value.get("tokens")) is not None:
        # A flat list is one sentence. Without it the document has offsets only.
        _expect_tokens(flat_tokens, "tokens")
        sentences = [flat_tokens] if flat_tokens else []
    speakers = _layer(value.get("speakers"), sentences)
    # `extra` keeps the layers where any of them has another shape than the sentences.
    layers = value.get("token_layers")
    if type(layers) is not dict or not all(is_layer(layer, sentences) for layer in layers.values()):
        layers = {}
    clusters = value.get("clusters")
    listed = value.get("characters")
    if clusters is None and not listed and not bare:
        raise _LineFault(
            "",
            'clusters (write "clusters": [] for a document without any)',
            _Words(f"only {', '.join(value)}"),
        )
    characters = _characters(listed, doc_key, report, bare)
    if clusters is None:
        groups = [list(spans) for _, spans in characters]
    else:
        _expect(type(clusters) is list, "clusters", "a list of clusters", clusters)
        groups = [_spans(cluster, "clusters", i) for i, cluster in enumerate(clusters)]
    number = value.get("gutenberg_key", "")
    _expect(number is None or type(number) in (str, int), "gutenberg_key", "the Gutenberg id, a text", number)
    # `extra` keeps the fields whose content is in none of the record's own.
    held = {
        "speakers": speakers is not None, "token_layers": bool(layers),
        "tokens": value.get("sentences") is None, "doc_id": value.get("doc_id") == doc_key,
    }  # fmt: skip
    return Record(
        doc_key, "" if number is None else str(number), sentences, groups, characters, source,
        {name: content for name, content in value.items() if not held.get(name, name in KNOWN)},
        speakers if any(map(any, speakers or ())) else None, layers,
    )  # fmt: skip


def _by_tokens(value: dict[str, Any], doc_key: str, report: ConversionReport | None) -> dict[str, Any]:
    """Such a record with sentences; [start, end) of characters become [first token, last token]."""
    text: str = value["text"]
    for i, cluster in enumerate(value["clusters"]):
        _expect(type(cluster) is list, f"clusters[{i}]", "a list of spans", cluster)
        for j, span in enumerate(cluster):
            fits = _is_span(span) and span[0] < span[1] <= len(text)
            _expect(fits, f"clusters[{i}][{j}]", f"[start, end) in a text of {len(text):,} characters", span)
    cut = cut_text(text, (place for cluster in value["clusters"] for span in cluster for place in span))
    clusters = [[cut.span(start, end) for start, end in cluster] for cluster in value["clusters"]]
    if report is not None:
        report.add(CUT, doc_key, count=cut.cut)
        report.add("mentions of white space alone", doc_key, count=sum(c.count(None) for c in clusters))
    others = {k: v for k, v in value.items() if k != "text"}
    return {**others, "sentences": cut.sentences, "clusters": [[list(m) for m in c if m] for c in clusters]}


def _expect_tokens(value: Any, path: str) -> None:
    _expect(type(value) is list, path, "a list of tokens", value)
    if not set(map(type, value)) <= {str}:
        i = next(i for i, token in enumerate(value) if type(token) is not str)
        raise _LineFault(f"{path}[{i}]", "a token, a text", value[i])


def _layer(value: Any, sentences: list[list[str]] | None) -> Layer | None:
    """A text for each token, by sentence or flat, "" for "-"; None where the value is nothing of the kind."""
    if sentences is None or type(value) is not list:
        return None
    if set(map(type, value)) <= {str} and len(value) == sum(map(len, sentences)):
        value = by_sentence(value, sentences)
    if not is_layer(value, sentences):
        return None
    return [["" if name == NOBODY else name for name in row] for row in value]


def _spans(value: Any, path: str, index: int | str, field: str = "") -> list[Mention]:
    """A list of [start, end] as mentions; the quick way first, then, if that fails, where the fault is."""
    place = f"{path}[{index}]{field}"
    _expect(type(value) is list, place, "a list of spans", value)
    try:
        if all(type(a) is int and type(b) is int and 0 <= a <= b <= MAX_OFFSET for a, b in value):
            return list(map(Mention._make, value))
    except (TypeError, ValueError):
        pass
    i = next(i for i, span in enumerate(value) if not _is_span(span))
    raise _LineFault(f"{place}[{i}]", _SPAN, value[i])


def _is_span(value: Any) -> bool:
    return (
        type(value) is list
        and len(value) == 2
        and all(type(v) is int for v in value)
        and 0 <= value[0] <= value[1] <= MAX_OFFSET
    )


def _characters(
    value: Any, doc_key: str, report: ConversionReport | None, bare: bool = False
) -> list[tuple[str, list[Mention]]]:
    if value is None:
        return []
    if type(value) is dict:
        # {name: spans}, as systems write it, or the two columns that `datasets` makes of a list of objects
        spans = value.get("mentions", value.get("cluster"))
        names = value.get("name")
        if len(value) == 2 and type(names) is list and type(spans) is list and set(map(type, names)) <= {str}:
            _expect(len(names) == len(spans), "characters", f"{len(names)} mention lists, one a name", spans)
            return [
                (name, _spans(item, "characters.mentions", i))
                for i, (name, item) in enumerate(zip(names, spans, strict=True))
            ]
        return [(name, _spans(item, "characters", repr(name))) for name, item in value.items()]
    _expect(type(value) is list, "characters", "a list of {name, mentions}", value)
    found = []
    for i, item in enumerate(value):
        _expect(type(item) is dict, f"characters[{i}]", "an object {name, mentions}", item)
        name, field = item.get("name"), "mentions" if "mentions" in item else "cluster"
        _expect(type(name) is str, f"characters[{i}].name", "the name, a text", name)
        spans = item.get(field, [] if bare else None)
        found.append((name, _spans(spans, "characters", i, f".{field}")))
        if report is not None and len(item) > 2:
            unknown = sorted(set(item) - {"name", field})
            report.add("fields of a character beyond name and mentions", doc_key, ", ".join(unknown))
    return found


def _expect(right: bool, path: str, expected: str, found: Any) -> None:
    if not right:
        raise _LineFault(path, expected, found)


def _show(value: Any) -> str:
    text = value if isinstance(value, _Words) else json.dumps(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
