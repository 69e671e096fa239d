"""CoNLL-2012: one token a line, coreference brackets in the last column, `#begin document` around each.

Read: any number of columns from two up (document and coreference alone, where the position is counted
and there are no words); tabs or spaces; glued brackets `(1(3`; headers without a part number or without
`#end document`; odd document names; documents in several parts. Files with all columns (12 and more) keep
part of speech, parse, predicates, speakers, named entities and arguments. Written: 12 columns with tabs, more
where there are arguments of predicates. Tokens are escaped as `escape` says; names, keys and unknown fields
go into the comment of `metadata_comment`.
"""

from __future__ import annotations

import itertools
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import accumulate, groupby
from pathlib import Path
from typing import Any, Literal

from ..books import Mention, Record
from ..errors import DataError, FormatError
from . import metadata_comment
from .brackets import BracketReader, clusters_of, place_brackets
from .compressed import packing
from .conversion_report import ConversionReport
from .escape import escape, escape_name, unescape
from .layers import Layer, by_sentence, flat, layers_of, note_layers, speakers_of
from .lines import read_lines

PartsRule = Literal["join", "merge", "apart"]
CROSSING_PARTS = "part boundaries (a cluster reaches over them)"
EMPTY_SENTENCE = "empty sentences"

_BEGIN = "#begin document"
_END = "#end document"
_LONGEST_NAME = 1000
_MOST_TOKENS = 10_000_000
_LONGEST_SENTENCE = 10_000
_NONE = {"-", "_", "*"}
# The columns of CoNLL-2012 between the word and the coreference: name of the layer, what stands for nothing.
# Behind them come the arguments, one column for each predicate of the sentence.
_COLUMNS = (
    ("xpos", "-"),
    ("parse", "-"),
    ("predicate_lemma", "-"),
    ("frameset", "-"),
    ("word_sense", "-"),
    ("speakers", "-"),
    ("named_entities", "*"),
)
_HELD = {name for name, _ in _COLUMNS} | {"arguments"}
_WHOLE_ROW = 4 + len(_COLUMNS) + 1
OTHER_COLUMNS = (
    "cells of columns other than word and coreference (the file has not the columns of CoNLL-2012)"
)
_MOST_PREDICATES = 200
TOO_MANY_PREDICATES = f"sentences with arguments of more than {_MOST_PREDICATES} predicates"
NO_VALUE = 'annotations of tokens that read "-", "_" or "*", which here stand for nothing'
_NAMED = re.compile(r"\((.*)\)\s*;?\s*(?:part\s+(\S+))?\s*")
_BARE = re.compile(r"(.+?)\s*(?:;\s*part\s+(\S+)|;)?\s*")
_PIECE = re.compile(r"\(([^()|]+)(\))?|([^()|]+)\)|\|")


@dataclass
class _DocumentBlock:
    """One `#begin document` block."""

    name: str
    number: str
    source: str
    clusters: dict[str, list[Mention]]
    sentences: list[list[str]] | None
    lengths: list[int]
    layers: dict[str, Layer]
    other_cells: int


def read(
    path: Path | str, *, report: ConversionReport | None = None, parts: PartsRule = "join"
) -> Iterator[Record]:
    """Yield the documents of a CoNLL-2012 file (plain, gzip or zstd), one at a time.

    Parts of one document that follow each other are one record. `parts` says how:
    "join" (default): cluster ids count within a part, as in OntoNotes; a later part's clusters are new.
    "merge": equal ids in several parts are one cluster (FantasyCoref's parts).
    "apart": one record a part, key `<document>_part<number>`.
    `extra` keeps what is needed to write it back: "parts" ([number, sentences] of each) where there are
    several or the only one is not 0; "document", "part" and "cluster_ids" of a record apart;
    "sentence_lengths" where a file has no words.

    Raises:
        FormatError: `file:line` of a row or bracket that cannot be, of a part given twice.
    """
    reader = _ConllReader(Path(path))
    for name, group in groupby(reader.parts(), key=lambda part: part.name):
        block = list(group)
        _check_numbers(block)
        if parts == "apart":
            yield from (_apart(part, reader.comments, report) for part in block)
        else:
            yield _joined(name, block, reader.comments, report, merge=parts == "merge")


def write(records: Iterable[Record], path: Path, *, report: ConversionReport | None = None) -> int:
    """Write documents as CoNLL-2012; returns how many.

    The comments of all documents stand before the first `#begin document`, where every reader skips
    them. Not sayable, and told to `report`: mentions that cross one of their own cluster, mentions outside
    the tokens, empty clusters and sentences, characters whose mentions are no cluster.

    Raises:
        DataError: a document has no tokens and no sentence lengths.
    """
    records = list(records)
    with packing(path) as stream:
        for record in records:
            comment = metadata_comment.describe(record, _ids(record), report, drop=_said_elsewhere(record))
            stream.write(metadata_comment.to_line(comment).encode("utf-8") + b"\n")
        for record in records:
            for line in _lines_of(record, report):
                stream.write(line.encode("utf-8"))
    return len(records)


@dataclass
class _ConllReader:
    """Walks the lines of one file; `comments` holds our comment of each document key met so far."""

    path: Path
    comments: dict[str, dict[str, Any]] = field(default_factory=dict)

    def parts(self) -> Iterator[_DocumentBlock]:
        block: _Block | None = None
        for number, line in enumerate(read_lines(self.path), 1):
            if line.startswith("#") and (block is None or not block.is_row(line)):
                if line.startswith(_BEGIN):
                    if block is not None:
                        yield block.finish()
                    block = _Block(line, self.path, number)
                elif line.startswith(_END) and block is not None:
                    yield block.finish()
                    block = None
                elif line.startswith(metadata_comment.MARK):
                    comment = metadata_comment.parse(
                        line[len(metadata_comment.MARK) :], f"{self.path}:{number}"
                    )
                    self.comments[comment["doc_key"]] = comment
            elif block is not None:
                block.add(line, number)
            elif line.strip():
                raise FormatError(
                    f"{self.path}:{number}: a row stands outside any document",
                    expected="'#begin document (name); part 000' before the first row",
                    found=repr(line[:60]),
                    hint="is this a CoNLL-2012 file?",
                )
        if block is not None:
            yield block.finish()


class _Block:
    """One document part while its rows come in."""

    def __init__(self, header: str, path: Path, line: int) -> None:
        rest = header[len(_BEGIN) :].strip()
        match = (_NAMED.fullmatch(rest) or _BARE.fullmatch(rest)) if len(rest) <= _LONGEST_NAME else None
        if match is None:
            raise FormatError(
                f"{path}:{line}: the document has no name",
                expected="#begin document (name); part 000",
                found=repr(header[:60]),
            )
        self.name, self.number = unescape(match[1]), match[2] or "0"
        self._raw_name, self._path, self._line = match[1], path, line
        self._brackets = BracketReader()
        self._sentences: list[list[str]] = []
        self._sentence: list[str] = []
        self._rows: list[tuple[str, ...]] = []
        # Rows repeat themselves: one object for equal ones keeps a novel's columns small.
        self._known: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._other_cells = 0
        self._position = 0
        self._wordless = True

    def is_row(self, line: str) -> bool:
        """Whether a line that begins with # is a row all the same: a document name may begin so."""
        return self._raw_name.startswith("#") and line.startswith(
            (f"{self._raw_name}\t", f"{self._raw_name} ")
        )

    def add(self, line: str, number: int) -> None:
        """Take one line: a row, or the blank line that ends a sentence."""
        line = line.rstrip(" \t")
        cells = line.split("\t") if "\t" in line else re.split(" +", line.lstrip(" "))
        if len(cells) < 2:
            if not line:
                self._end_sentence()
                return
            raise FormatError(
                f"{self._path}:{number}: the row has one column",
                expected="at least two (document, coreference), twelve in CoNLL-2012",
                found=repr(line[:60]),
            )
        word = cells[3] if len(cells) > 4 else cells[-2]
        if self._wordless and (len(cells) > 2 or word != self._raw_name):
            self._wordless = False
        self._sentence.append(unescape(word))
        row: tuple[str, ...] = ()
        if len(cells) >= _WHOLE_ROW:
            row = tuple(cells[4:-1])
        elif len(cells) > 5:
            self._other_cells += sum(cell not in _NONE for cell in cells[4:-1])
        self._rows.append(self._known.setdefault(row, row))
        if cells[-1] not in _NONE:
            self._read_brackets(cells[-1], number)
        self._position += 1

    def finish(self) -> _DocumentBlock:
        """The part, once its last line is read. Raises FormatError for brackets left open."""
        self._end_sentence()
        return _DocumentBlock(
            self.name,
            self.number,
            f"{self._path}:{self._line}",
            self._brackets.finish(),
            None if self._wordless and self._sentences else self._sentences,
            list(map(len, self._sentences)),
            self._layers(),
            self._other_cells,
        )

    def _layers(self) -> dict[str, Layer]:
        """The layers that say anything, by name; "speakers" is one of them."""
        width = len(_COLUMNS)
        columns = {
            name: [row[i] if row else "" for row in self._rows] for i, (name, _) in enumerate(_COLUMNS)
        }
        columns["arguments"] = ["\t".join(row[width:]) for row in self._rows]
        if not any(cell not in _NONE for row in self._known for cell in row[width:]):
            del columns["arguments"]
        return {
            name: by_sentence(["" if cell in _NONE else unescape(cell) for cell in cells], self._sentences)
            for name, cells in columns.items()
            if not set(cells) <= _NONE | {""}
        }

    def _end_sentence(self) -> None:
        if self._sentence:
            self._sentences.append(self._sentence)
            self._sentence = []

    def _read_brackets(self, cell: str, number: int) -> None:
        place, end = f"{self._path}:{number}", 0
        for piece in _PIECE.finditer(cell):
            if piece.start() != end:
                break
            end = piece.end()
            if piece[3]:
                self._brackets.close(piece[3], self._position, place)
            elif piece[2]:
                self._brackets.single(piece[1], self._position)
            elif piece[1]:
                self._brackets.open(piece[1], self._position, place)
        if end != len(cell):
            raise FormatError(
                f"{place}: the last column is no coreference cell",
                expected="'-', or brackets such as (5, 5), (5), (1|(3)",
                found=repr(cell[:60]),
                hint="coreference must be the last column of every row",
            )


def _check_numbers(block: list[_DocumentBlock]) -> None:
    seen: dict[str, str] = {}
    for part in block:
        if part.number in seen:
            raise FormatError(
                f"{part.source}: part {part.number} of document {part.name!r} is given twice",
                expected="each part once",
                found=f"also at {seen[part.number]}",
            )
        seen[part.number] = part.source


def _apart(
    part: _DocumentBlock, comments: dict[str, dict[str, Any]], report: ConversionReport | None
) -> Record:
    key = f"{part.name}_part{part.number}"
    extra: dict[str, Any] = {"document": part.name, "part": part.number}
    if part.sentences is None:
        extra["sentence_lengths"] = part.lengths
    if report is not None:
        report.add(OTHER_COLUMNS, key, count=part.other_cells)
    layers = dict(part.layers)
    return metadata_comment.record_of(
        comments.get(key),
        key,
        part.sentences,
        part.clusters,
        part.source,
        extra,
        report,
        keep_ids=True,
        speakers=layers.pop("speakers", None),
        layers=layers,
    )


def _joined(
    name: str,
    block: list[_DocumentBlock],
    comments: dict[str, dict[str, Any]],
    report: ConversionReport | None,
    *,
    merge: bool,
) -> Record:
    lengths = [length for part in block for length in part.lengths]
    clusters = _shifted(block, merge=merge)
    extra: dict[str, Any] = {}
    if len(block) > 1 or block[0].number.strip("0"):
        extra["parts"] = [[part.number, len(part.lengths)] for part in block]
    wordless = [part.sentences is None for part in block if part.lengths]
    if any(wordless):
        extra["sentence_lengths"] = lengths
    sentences = None if any(wordless) else [s for part in block for s in part.sentences or []]
    if report is not None:
        report.add(OTHER_COLUMNS, name, count=sum(part.other_cells for part in block))
    layers = {} if any(wordless) else _joined_layers(block)
    return metadata_comment.record_of(
        comments.get(name),
        name,
        sentences,
        clusters,
        block[0].source,
        extra,
        report,
        speakers=layers.pop("speakers", None),
        layers=layers,
    )


def _joined_layers(block: list[_DocumentBlock]) -> dict[str, Layer]:
    """The layers of all parts, one behind the other; a part that lacks one says nothing in it."""
    names = dict.fromkeys(name for part in block for name in part.layers)
    return {
        name: [row for part in block for row in part.layers.get(name) or [[""] * n for n in part.lengths]]
        for name in names
    }


def _shifted(block: list[_DocumentBlock], *, merge: bool) -> dict[str, list[Mention]]:
    """The clusters of all parts over the joined tokens; ids that name two clusters get the part's number."""
    if len(block) == 1:
        return block[0].clusters
    clusters: dict[str, list[Mention]] = {}
    offset = 0
    for part in block:
        for number, spans in part.clusters.items():
            moved = [Mention(start + offset, end + offset) for start, end in spans]
            key = number if merge or number not in clusters else f"{number}/{part.number}"
            clusters.setdefault(key, []).extend(moved)
        offset += sum(part.lengths)
    return clusters


def _said_elsewhere(record: Record) -> list[str]:
    """The extra fields that rows and headers say themselves."""
    ids = ["cluster_ids"] if record.extra.get("cluster_ids") == _ids(record) else []
    return ["parts", "document", "part", "sentence_lengths", *ids]


def _ids(record: Record) -> list[str]:
    return metadata_comment.cluster_ids(record, digits=True)


def _lines_of(record: Record, report: ConversionReport | None) -> Iterator[str]:
    rows = _rows(record)
    if report is not None:
        note_empties(record, report)
    size = sum(map(len, rows))
    ids = _ids(record)
    placed = place_brackets(record.clusters, size, record.doc_key, report)
    cells = {
        position: "|".join(
            [f"{ids[n]})" for n, _ in at.closing]
            + [f"({ids[n]}" for n, _ in at.opening]
            + [f"({ids[n]})" for n, _ in at.single]
        )
        for position, at in placed.items()
    }
    if report is not None:
        report.wrote(None if record.sentences is None else size, clusters_of(placed, len(ids)))
    document = record.extra.get("document")
    name = escape_name(document if type(document) is str and "part" in record.extra else record.doc_key)
    middle = _middle_columns(record, report)
    position = 0
    for number, first, end in _parts_of(record, len(rows), report):
        part = number.lstrip("0") or "0"
        yield f"{_BEGIN} ({name}); part {number}\n"
        for row in rows[first:end]:
            if not row:
                continue
            for i, token in enumerate(row):
                cell = cells.get(position, "-")
                if token is None:
                    yield f"{name}\t{cell}\n"
                else:
                    yield f"{name}\t{part}\t{i}\t{escape(token)}\t{next(middle)}\t{cell}\n"
                position += 1
            yield "\n"
        yield f"{_END}\n"


def _middle_columns(record: Record, report: ConversionReport | None) -> Iterator[str]:
    """For each token its cells between word and coreference, from the layers that the record has."""
    note_layers(record, report, _HELD)
    layers = layers_of(record)
    speakers = speakers_of(record)
    if speakers is not None:
        layers["speakers"] = speakers
    if not layers.keys() & _HELD:
        return itertools.repeat("\t".join(blank for _, blank in _COLUMNS))
    columns = [
        [_cell(value, blank) for value in flat(layers[name])] if name in layers else itertools.repeat(blank)
        for name, blank in _COLUMNS
    ]
    if "arguments" in layers:
        columns.append(_arguments(layers["arguments"], record.doc_key, report))
    if report is not None:
        unsaid = sum(value in _NONE for name, _ in _COLUMNS for value in flat(layers.get(name)))
        report.add(NO_VALUE, record.doc_key, count=unsaid)
    # A sentence without a predicate has no argument columns: its cell is empty, and no column is written.
    return ("\t".join(filter(None, cells)) for cells in zip(*columns, strict=False))


def _cell(value: str, blank: str) -> str:
    return escape(value) if value and value not in _NONE else blank


def _arguments(layer: Layer, doc_key: str, report: ConversionReport | None) -> list[str]:
    """The argument columns of each token: as many in all rows of a sentence, as the format wants."""
    cells: list[str] = []
    for row in layer:
        width = max((value.count("\t") for value in row if value), default=-1) + 1
        if width > _MOST_PREDICATES:  # a table of width times length, from a line of width plus length
            cells += [""] * len(row)
            if report is not None:
                report.add(TOO_MANY_PREDICATES, doc_key)
            continue
        for value in row:
            own = [_cell(item, "*") for item in value.split("\t")] if value else []
            cells.append("\t".join([*own, *["*"] * (width - len(own))]))
    return cells


def _rows(record: Record) -> list[list[str]] | list[list[None]]:
    """The tokens by sentence; None for each token where only sentence lengths are known."""
    if record.sentences is not None:
        return record.sentences
    lengths = record.extra.get("sentence_lengths")
    if type(lengths) is list and all(type(n) is int and n >= 0 for n in lengths):
        # A short list must not ask for more rows than a file of its size can stand for.
        if sum(lengths) <= min(_MOST_TOKENS, _LONGEST_SENTENCE * max(len(lengths), 1)):
            return [[None] * n for n in lengths]
        raise DataError(
            f"{record.source or record.doc_key}: the sentence lengths of {record.doc_key!r} cannot be",
            expected=f"at most {_LONGEST_SENTENCE:,} tokens a sentence on average, {_MOST_TOKENS:,} in all",
            found=f"{sum(lengths):,} tokens in {len(lengths):,} sentences",
        )
    raise DataError(
        f"{record.source or record.doc_key}: document {record.doc_key!r} has no tokens to write",
        expected="a record with sentences",
        hint="stitch the annotation onto its text first (bookcoref-data rebuild)",
    )


def note_empties(record: Record, report: ConversionReport) -> None:
    """Tell of clusters and sentences without content, which no column format can hold."""
    for cluster in record.clusters:
        if not cluster:
            report.add(metadata_comment.EMPTY_CLUSTER, record.doc_key)
    for sentence in record.sentences or []:
        if not sentence:
            report.add(EMPTY_SENTENCE, record.doc_key)


def _parts_of(record: Record, sentences: int, report: ConversionReport | None) -> list[tuple[str, int, int]]:
    """(part number, first sentence, end sentence) to write; one part unless the record came in several."""
    if type(record.extra.get("part")) is str:
        return [(escape(record.extra["part"]), 0, sentences)]
    parts: Any = record.extra.get("parts")
    if not _are_parts(parts, sentences):
        return [("000", 0, sentences)]
    ends = list(accumulate(count for _, count in parts))
    if len(parts) > 1 and _crosses(record, ends):
        if report is not None:
            report.add(CROSSING_PARTS, record.doc_key, count=len(parts) - 1)
        return [("000", 0, sentences)]
    return [(escape(parts[i][0]), ends[i] - parts[i][1], ends[i]) for i in range(len(parts))]


def _are_parts(value: object, sentences: int) -> bool:
    return (
        type(value) is list
        and all(type(p) is list and len(p) == 2 and type(p[0]) is str and type(p[1]) is int for p in value)
        and len({p[0] for p in value}) == len(value)
        and sum(p[1] for p in value) == sentences
        and min((p[1] for p in value), default=-1) >= 0
    )


def _crosses(record: Record, sentence_ends: list[int]) -> bool:
    """Whether a cluster has mentions in two parts, or a mention over a part's end."""
    tokens = [0, *accumulate(map(len, _rows(record)))]
    bounds = [tokens[end] for end in sentence_ends]

    return any(
        len({bisect_right(bounds, position) for span in cluster for position in span}) > 1
        for cluster in record.clusters
    )
