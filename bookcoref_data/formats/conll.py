"""CoNLL-2012: one token a line, coreference brackets in the last column, `#begin document` around each.

Read: any number of columns from two up (document and coreference alone, where the position is counted
and there are no words); tabs or spaces; glued brackets `(1(3`; headers without a part number or without
`#end document`; odd document names; documents in several parts. Files with all columns (12 and more) keep
part of speech, parse, predicates, speakers, named entities and arguments. Written: 12 columns with tabs, more
where there are arguments of predicates. Tokens are escaped as `escape` says; names, keys and unknown fields
go into our comment (`base`).
"""

import re
import shutil
import tempfile
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, groupby, repeat
from pathlib import Path
from typing import Any, Literal

from ..books import Mention, Record
from ..errors import DataError, FormatError
from . import base
from .base import BracketReader, place_brackets
from .compressed import bare_stem, packing
from .conversion_report import ConversionReport, Note
from .escape import escape, escape_name, unescape
from .layers import Column, Layer, by_sentence, columns_of, flat, layers_of, speakers_of, table_of
from .lines import read_lines

PartsRule = Literal["join", "merge", "apart"]

_BEGIN = "#begin document"
_END = "#end document"
_SPACED = re.compile(r"# (?=(?:begin|end) document)")
"""GUM writes a blank behind the mark."""
_LONGEST_NAME = 1000
_MOST_TOKENS = 10_000_000
_LONGEST_SENTENCE = 10_000
_NONE = {"-", "_", "*"}
# The columns of CoNLL-2012 between the word and the coreference; `key` fills one that the record has not.
# Behind them come the arguments, one column for each predicate of the sentence.
_COLUMNS = table_of("conll")
_ARGUMENT = Column("arguments", "", ("*", "-", "_"))
_WHOLE_ROW = 4 + len(_COLUMNS) + 1
OTHER_COLUMNS = "cells of columns other than word and coreference (the columns are not those of CoNLL-2012)"
LOST_LINES = "words that the numbers of the rows leave out (are lines lost?)"
NO_END = "last lines '#end document' (is the file cut short?)"
_MOST_PREDICATES = 200
_PART = re.compile(r"[^\s()&#]{1,40}")
_NAMED = re.compile(r"\((.*)\)\s*;?\s*(?:part\s+(\S+))?\s*")
_BARE = re.compile(r"(.+?)\s*(?:;\s*part\s+(\S+)|;)?\s*")
_PIECE = re.compile(r"\(([^()|]+)(\))?|([^()|]+)\)|\|")


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

    Raises FormatError: `file:line` of a row or bracket that cannot be, of a part given twice.
    """
    report = report or ConversionReport()
    reader = _ConllReader(read_lines(Path(path)), str(path))
    for _, group in groupby(reader.parts(), key=lambda part: part.name):
        block, seen = list(group), dict[str, str]()
        for part in block:
            if part.number in seen:
                what = f"{part.source}: part {part.number} of document {part.name!r} is given twice"
                raise FormatError(what, expected="each part once", found=f"also at {seen[part.number]}")
            seen[part.number] = part.source
        documents = map(_apart, block) if parts == "apart" else [_joined(block, merge=parts == "merge")]
        for document in documents:
            note = report.note(document.doc_key)
            own = block if parts != "apart" else [p for p in block if _apart_key(p) == document.doc_key]
            note(OTHER_COLUMNS, count=sum(part.other_cells for part in own))
            note(LOST_LINES, count=sum(part.lost for part in own))
            note(NO_END, count=sum(not part.ended for part in own))
            yield document.record(reader.comments.get(document.doc_key), note)


def write(records: Iterable[Record], path: Path, *, report: ConversionReport | None = None) -> None:
    """Write documents as CoNLL-2012.

    The comments of all documents stand before the first `#begin document`, where every reader skips
    them. Not sayable, and told to `report`: mentions that cross one of their own cluster, mentions outside
    the tokens, empty clusters and sentences, characters whose mentions are no cluster.

    Raises DataError: a document has no tokens and no sentence lengths.
    """
    report = report or ConversionReport()
    with packing(path) as stream, tempfile.TemporaryFile() as bodies:
        for record in records:
            note = report.note(record.doc_key)
            ids = base.cluster_ids(record, digits=True)
            lines = list(_lines_of(record, ids, note))
            # What the lines of one document say
            block = list(_ConllReader((line[:-1] for line in lines), "").parts())
            parsed = _apart(block[0]) if _is_apart(record) else _joined(block, merge=False)
            comment = base.comment_for(record, parsed, ids, note)
            tokens = None if record.sentences is None else sum(map(len, record.sentences))
            report.wrote(tokens, parsed.clusters.values())
            stream.write(base.to_line(comment).encode("utf-8") + b"\n")
            bodies.write("".join(lines).encode("utf-8"))
        bodies.seek(0)
        shutil.copyfileobj(bodies, stream)


@dataclass
class _ConllReader:
    """Walks the lines of a file; `comments` holds our comment of each document key met so far."""

    lines: Iterable[str]
    path: str
    comments: dict[str, dict[str, Any]] = field(default_factory=dict)

    def parts(self) -> "Iterator[_Block]":
        block: _Block | None = None
        for number, line in enumerate(self.lines, 1):
            if line.startswith("# "):
                line = _SPACED.sub("#", line, count=1)
                # A file of GUM is one document, whose header may lack the name.
                line += f"({bare_stem(Path(self.path))})" if line.strip() == _BEGIN else ""
            if line.startswith("#") and (block is None or not block.is_row(line)):
                if line.startswith(_BEGIN):
                    if block is not None:
                        yield block.finish()
                    block = _Block(line, self.path, number)
                elif line.startswith(_END) and block is not None:
                    block.ended = True
                    yield block.finish()
                    block = None
                elif line.startswith(base.MARK):
                    comment = base.parse(line[len(base.MARK) :], f"{self.path}:{number}")
                    self.comments[comment["doc_key"]] = comment
            elif block is not None:
                block.add(line, number)
            elif line.strip():
                what = f"{self.path}:{number}: a row stands outside any document"
                expected = "'#begin document (name); part 000' before the first row"
                hint = "is this a CoNLL-2012 file?"
                raise FormatError(what, expected=expected, found=repr(line[:60]), hint=hint)
        if block is not None:
            yield block.finish()


class _Block:
    """One document part (`#begin document` to `#end document`) while its rows come in, and whole."""

    clusters: dict[str, list[Mention]]
    layers: dict[str, Layer]

    def __init__(self, header: str, path: str, line: int) -> None:
        rest = header[len(_BEGIN) :].strip()
        match = (_NAMED.fullmatch(rest) or _BARE.fullmatch(rest)) if len(rest) <= _LONGEST_NAME else None
        if match is None:
            what = f"{path}:{line}: the document has no name"
            raise FormatError(what, expected="#begin document (name); part 000", found=repr(header[:60]))
        self.name, self.number = unescape(match[1]), match[2] or "0"
        self.source, self._raw_name, self._path = f"{path}:{line}", match[1], path
        self._brackets = BracketReader()
        self.sentences: list[list[str]] | None = None
        self._sentences: list[list[str]] = []
        self._sentence: list[str] = []
        self._rows: list[tuple[str, ...]] = []
        # Rows repeat themselves: one object for equal ones keeps a novel's columns small.
        self._known: dict[tuple[str, ...], tuple[str, ...]] = {}
        self.other_cells = self.lost = self._number = 0
        self.ended = False
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
            what = f"{self._path}:{number}: the row has one column"
            expected = "at least two (document, coreference), twelve in CoNLL-2012"
            raise FormatError(what, expected=expected, found=repr(line[:60]))
        word = cells[3] if len(cells) > 4 else cells[-2]
        if self._wordless and (len(cells) > 2 or word != self._raw_name):
            self._wordless = False
        if len(cells) > 4 and cells[2].isdecimal() and len(cells[2]) < 10:
            before, self._number = self._number, int(cells[2])
            self.lost += max(0, self._number - before - 1) if self._sentence else 0
        self._sentence.append(unescape(word))
        row: tuple[str, ...] = ()
        if len(cells) >= _WHOLE_ROW:
            row = tuple(cells[4:-1])
        elif len(cells) > 5:
            self.other_cells += sum(cell not in _NONE for cell in cells[4:-1])
        self._rows.append(self._known.setdefault(row, row))
        if cells[-1] not in _NONE:
            brackets = cells[-1]
            place, end = f"{self._path}:{number}", 0
            for piece in _PIECE.finditer(brackets):
                if piece.start() != end:
                    break
                end = piece.end()
                if piece[3]:
                    self._brackets.close(piece[3], self._position, place)
                elif piece[2]:
                    self._brackets.single(piece[1], self._position)
                elif piece[1]:
                    self._brackets.open(piece[1], self._position, place)
            if end != len(brackets):
                what = f"{place}: the last column is no coreference cell"
                expected = "'-', or brackets such as (5, 5), (5), (1|(3)"
                hint = "coreference must be the last column of every row"
                raise FormatError(what, expected=expected, found=repr(brackets[:60]), hint=hint)
        self._position += 1

    def finish(self) -> "_Block":
        """The part, once its last line is read. Raises FormatError for brackets left open."""
        self._end_sentence()
        width = len(_COLUMNS)
        # The layers that say anything; rows repeat themselves, so each is read once.
        known = {
            column.layer: {row: column.value(row[i]) if row else "" for row in self._known}
            for i, column in enumerate(_COLUMNS)
        }
        # A blank argument column is `*`.
        known["arguments"] = {
            row: "" if _NONE.issuperset(row[width:]) else "\t".join(map(unescape, row[width:]))
            for row in self._known
        }
        self.layers = {
            name: by_sentence([values[row] for row in self._rows], self._sentences)
            for name, values in known.items()
            if any(values.values())
        }
        self.clusters = self._brackets.finish()
        self.lengths = list(map(len, self._sentences))
        self.sentences = None if self._wordless and self._sentences else self._sentences
        return self

    def _end_sentence(self) -> None:
        if self._sentence:
            self._sentences.append(self._sentence)
            self._sentence = []


def _apart_key(part: _Block) -> str:
    return f"{part.name}_part{part.number}"


def _is_apart(record: Record) -> bool:
    """Whether a record is one part of a document, as `read` gives it with `parts="apart"`."""
    document, part = record.extra.get("document"), record.extra.get("part")
    texts = type(document) is str and type(part) is str and _PART.fullmatch(part) is not None
    return texts and record.doc_key == f"{document}_part{part}"


def _apart(part: _Block) -> base.Parsed:
    found = _joined([part], merge=False)
    found.doc_key, found.keep_ids = _apart_key(part), True
    found.extra = {"document": part.name, "part": part.number, **found.extra}
    found.extra.pop("parts", None)
    return found


def _joined(block: list[_Block], *, merge: bool) -> base.Parsed:
    extra: dict[str, Any] = {}
    if len(block) > 1 or block[0].number.strip("0"):
        extra["parts"] = [[part.number, len(part.lengths)] for part in block]
    wordless = any(part.sentences is None for part in block if part.lengths)
    if wordless:
        extra["sentence_lengths"] = [length for part in block for length in part.lengths]
    # The layers of all parts, one behind the other; a part that lacks one says nothing in it
    layers = {
        name: [row for part in block for row in part.layers.get(name) or [[""] * n for n in part.lengths]]
        for name in dict.fromkeys(name for part in block for name in part.layers if not wordless)
    }
    # The clusters over the joined tokens; ids that name two clusters get the part's number
    clusters: dict[str, list[Mention]] = block[0].clusters if len(block) == 1 else {}
    offset = 0
    for part in block if len(block) > 1 else ():
        for number, spans in part.clusters.items():
            moved = [Mention(start + offset, end + offset) for start, end in spans]
            key = number if merge or number not in clusters else f"{number}/{part.number}"
            clusters.setdefault(key, []).extend(moved)
        offset += sum(part.lengths)
    return base.Parsed(
        block[0].name, None if wordless else [s for part in block for s in part.sentences or []],
        clusters, block[0].source, extra, layers.pop("speakers", None), layers,
    )  # fmt: skip


def _lines_of(record: Record, ids: Sequence[str], note: Note) -> Iterator[str]:
    rows = _rows(record)
    note(base.EMPTY_SENTENCE, count=(record.sentences or []).count([]))
    placed = place_brackets(base.inside(record.clusters, sum(map(len, rows)), note), note)
    cells = {
        position: "|".join(
            [f"{ids[n]})" for n, _ in at.closing]
            + [f"({ids[n]}" for n, _ in at.opening]
            + [f"({ids[n]})" for n, _ in at.single]
        )
        for position, at in placed.items()
    }
    name = escape_name(record.extra["document"] if _is_apart(record) else record.doc_key)
    middle = _middle_columns(record)
    # (part number, first sentence, end sentence); one part unless the record came in several
    written = [(record.extra["part"] if _is_apart(record) else "000", 0, len(rows))]
    parts: Any = record.extra.get("parts")
    stated = parts and not _is_apart(record) and base.are_parts(parts, len(rows))
    if stated and all(_PART.fullmatch(number) for number, _ in parts):
        ends = list(accumulate(count for _, count in parts))
        tokens = [0, *accumulate(map(len, rows))]
        bounds = [tokens[end] for end in ends]
        # Parts are not written where a cluster has mentions in two, or a mention over a part's end.
        if len(parts) == 1 or all(
            len({bisect_right(bounds, place) for span in cluster for place in span}) < 2
            for cluster in record.clusters
        ):
            written = [(parts[i][0], ends[i] - parts[i][1], ends[i]) for i in range(len(parts))]
    position = 0
    for number, first, end in written:
        part = number.lstrip("0") or "0"
        yield f"{_BEGIN} ({name}); part {number}\n"
        for row in rows[first:end]:
            for i, token in enumerate(row):
                cell = cells.get(position, "-")
                if token is None:
                    yield f"{name}\t{cell}\n"
                else:
                    yield f"{name}\t{part}\t{i}\t{escape(token)}\t{next(middle)}\t{cell}\n"
                position += 1
            if row:
                yield "\n"
        yield f"{_END}\n"


def _middle_columns(record: Record) -> Iterator[str]:
    """For each token its cells between word and coreference, from the layers that the record has."""
    layers = columns_of(record)
    layers["speakers"] = flat(speakers_of(record))
    if not any(layers.values()):
        return repeat("\t".join(column.key for column in _COLUMNS))
    columns: list[Iterable[str]] = [
        c.cells(layers[c.layer]) if layers.get(c.layer) else repeat(c.key) for c in _COLUMNS
    ]
    if "arguments" in layers:
        arguments = []
        for row in layers_of(record)["arguments"]:
            # As many columns in all rows of a sentence, as the format wants; but a table of width times
            # length, from a line of width plus length, is not written.
            width = max((value.count("\t") for value in row if value), default=-1) + 1
            for value in row:
                cells = [_ARGUMENT.cell(item) for item in value.split("\t")] if value else []
                fits = width <= _MOST_PREDICATES
                arguments.append("\t".join([*cells, *["*"] * (width - len(cells))]) if fits else "")
        columns.append(arguments)
    # A sentence without a predicate has no argument columns: its cell is empty, and no column is written.
    return ("\t".join(filter(None, cells)) for cells in zip(*columns, strict=False))


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
    return base.sentences_of(record)
