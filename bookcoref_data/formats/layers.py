"""Annotations of single tokens (`Record.speakers`, `Record.layers`): shapes, and what a target cannot hold.

A layer has a text for each token, "" where the file says nothing. The names are the same in all formats, so
that a part of speech read from CoNLL is written to CorefUD and BookNLP.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from itertools import accumulate, chain, groupby, islice, pairwise
from typing import Any, NamedTuple

from ..books import Mention, Record
from ..resources import load_toml, resource
from ..shapes import together
from .conversion_report import ConversionReport, Note
from .escape import escape, unescape

Layer = list[list[str]]

SPEAKERS = "speakers of tokens"
FACTS = load_toml(resource("manifests", "formats.toml"))
LAYER_WORDS: dict[str, str] = FACTS["layers"]
"""What each layer is called in a report."""
HEADS = {"head", "document_head"}


class Column(NamedTuple):
    """A column of a table that holds a layer: its place or name, and the cells that stand for nothing.

    The first of `nothing` is what is written where there is nothing.
    """

    layer: str
    key: str
    nothing: tuple[str, ...]

    def cell(self, value: str) -> str:
        """What is written for a value; a value that would be read as nothing is not written."""
        return escape(value) if value and value not in self.nothing else self.nothing[0]

    def cells(self, values: Iterable[str]) -> Iterable[str]:
        """What is written for each of many values; few of them differ."""
        values = list(values)
        written = {value: self.cell(value) for value in set(values)}
        return map(written.__getitem__, values)

    def value(self, cell: str) -> str:
        return "" if cell in self.nothing else unescape(cell)


def table_of(format: str) -> tuple[Column, ...]:
    """The columns of the table of a format that hold layers, in their order."""
    told = ((layer, *said.split()) for layer, said in FACTS[format]["layers"].items())
    return tuple(Column(layer, key, tuple(nothing)) for layer, key, *nothing in told)


def is_layer(value: object, sentences: Sequence[Sequence[str]] | None) -> bool:
    """Whether `value` has a text for each token of `sentences`."""
    return (
        sentences is not None
        and type(value) is list
        and set(map(type, value)) <= {list}
        and list(map(len, value)) == list(map(len, sentences))
        and set(map(type, chain.from_iterable(value))) <= {str}
    )


def layers_of(record: Record) -> dict[str, Layer]:
    """The layers of a record that have its shape."""
    return {name: layer for name, layer in record.layers.items() if is_layer(layer, record.sentences)}


def speakers_of(record: Record) -> Layer | None:
    """The speakers of a record, None where there are none or they have another shape than its sentences."""
    return record.speakers if is_layer(record.speakers, record.sentences) else None


def kept_speakers(record: Record, note: Note) -> Layer | None:
    """`speakers_of`; those that have another shape are counted."""
    speakers = speakers_of(record)
    note(SPEAKERS, count=0 if speakers is not None else texts_in(record.speakers))
    return speakers


def by_sentence(values: Iterable[str], sentences: Sequence[Sequence[str]]) -> Layer:
    """A flat row of values, one a token, cut into sentences."""
    flat = iter(values)
    return [list(islice(flat, len(sentence))) for sentence in sentences]


def flat(layer: Layer | None) -> list[str]:
    """The values of a layer in one row."""
    return list(chain.from_iterable(layer or []))


def columns_of(record: Record) -> dict[str, list[str]]:
    """The layers of a record, each as one row of values."""
    return {name: flat(layer) for name, layer in layers_of(record).items()}


def note_layers(record: Record, report: ConversionReport | None, held: Collection[str] = ()) -> None:
    """Report every layer of a record that is not among the names in `held`, or does not fit its tokens.

    "speakers" is one of the names.
    """
    if report is None:
        return
    if record.speakers is not None and ("speakers" not in held or speakers_of(record) is None):
        report.add(SPEAKERS, record.doc_key, count=texts_in(record.speakers))
    for name, layer in record.layers.items():
        if name not in held or not is_layer(layer, record.sentences):
            report.add(LAYER_WORDS.get(name, f"{name} of tokens"), record.doc_key, count=texts_in(layer))


def heads_of(record: Record) -> list[int | None] | None:
    """For each token the position of its syntactic head in the document, None for a root; or None.

    Two layers tell of heads: "head" counts from 1 in the sentence, 0 is a root (CoNLL-U); "document_head"
    is a position in the document, and a root is its own head (BookNLP, where a head may stand in another
    sentence).
    """
    layers = layers_of(record)
    heads: list[int | None] = []
    if "document_head" in layers:
        size = sum(map(len, record.sentences or []))
        for i, value in enumerate(flat(layers["document_head"])):
            at = int(value) if value.isascii() and value.isdigit() else i
            heads.append(at if at != i and at < size else None)
    elif "head" in layers:
        for row in layers["head"]:
            first = len(heads)
            for i, value in enumerate(row, 1):
                at = int(value) if value.isascii() and value.isdigit() else 0
                heads.append(first + at - 1 if 0 < at <= len(row) and at != i else None)
    else:
        return None
    return heads


def heads_as(name: str, heads: Sequence[int | None], sentences: Sequence[Sequence[str]]) -> list[str]:
    """Heads as the layer "head" or "document_head" writes them; "" for one in another sentence in "head"."""
    if name == "document_head":
        return [str(i if head is None else head) for i, head in enumerate(heads)]
    cells: list[str] = []
    for sentence in sentences:
        first = len(cells)
        for head in heads[first : first + len(sentence)]:
            within = head is not None and first <= head < first + len(sentence)
            cells.append("0" if head is None else str(head - first + 1) if within else "")
    return cells


def note_lost(record: Record, back: Record, note: Note) -> None:
    """Count the values of layers that are not in `back`, the record as it is read again.

    Of heads that come back in the other of their two layers the meaning counts.
    """
    sentences = record.sentences or []
    heads = heads_of(back)
    for name, layer in record.layers.items():
        words, found = LAYER_WORDS.get(name, f"{name} of tokens"), flat(back.layers.get(name))
        if not is_layer(layer, sentences):
            note(words, count=texts_in(layer))
            continue
        values = flat(layer)
        if not found and heads is not None and name in HEADS:
            again = heads_as(name, heads, sentences)
            found = [b if a else "" for a, b in zip(values, again, strict=True)]
        if values != found:
            lost = [a or b for a, b in zip(values, found or [""] * len(values), strict=True) if a != b]
            note(words, repr(lost[0]) if lost else "", len(lost))


def runs_of(layer: Layer) -> list[list[Any]]:
    """Who speaks as [first token, last token, name], for files that have no place for it at each token."""
    runs = [(name, len(list(group))) for name, group in groupby(flat(layer))]
    ends = accumulate((size for _, size in runs), initial=0)
    return [[a, b - 1, name] for (name, _), (a, b) in zip(runs, pairwise(ends), strict=True) if name]


def from_runs(runs: object, sentences: Sequence[Sequence[str]] | None) -> Layer | None:
    """The layer that `runs_of` was given; None where `runs` is nothing of the kind."""
    if sentences is None or type(runs) is not list or not runs:
        return None
    row = [""] * sum(map(len, sentences))
    for run in runs:
        if type(run) is not list or list(map(type, run)) != [int, int, str]:
            return None
        first, last, name = run
        if not 0 <= first <= last < len(row):
            return None
        row[first : last + 1] = [name] * (last + 1 - first)
    return by_sentence(row, sentences)


def texts_in(value: object) -> int:
    """How many texts that say anything are in a layer of whatever shape."""
    return sum(map(texts_in, value)) if type(value) is list else int(type(value) is str and value != "")


def stated(record: Record, name: str, *kinds: type) -> list[list[Any]]:
    """The items of a field. It comes from files: what is no list of values of these types is passed over."""
    listed = record.extra.get(name)
    items = listed if type(listed) is list else []
    return [item for item in items if type(item) is list and list(map(type, item)) == [*kinds]]


def mention_types(record: Record, pattern: re.Pattern[str]) -> dict[Mention, str]:
    """The type of each mention whose type matches `pattern` whole; the first where there are several."""
    types: dict[Mention, str] = {}
    for start, end, kind in stated(record, "mention_types", int, int, str):
        if pattern.fullmatch(kind):
            types.setdefault(Mention(start, end), kind)
    return types


def attributes_of(record: Record) -> dict[Mention, list[dict[str, Any]]]:
    """The attributes of mentions by span; a span that several mentions share has several items."""
    rows = stated(record, "mention_attributes", int, int, dict)
    return together((Mention(start, end), attributes) for start, end, attributes in rows)
