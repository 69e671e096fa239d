"""PDNC: quotations of whole novels with speakers and addressees, and the characters mentioned inside them.

Each novel has a folder: `novel_text.txt`, `quotation_info.csv`, `character_info.csv`. Spans count
characters of the text, the end exclusive; a quotation may have several parts. Names are main names or
aliases; those that begin with `_` (`_group`, `_unknowable`) mean no character. Only what stands inside
quotations is annotated.
"""

import ast
import csv
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ...books import Mention, Record
from ...errors import FormatError
from ...shapes import together
from ..compressed import bare_stem, read_bytes
from ..conversion_report import ConversionReport
from ..layers import by_sentence
from ..lines import read_lines
from .reading import DEFAULT_SPLIT, Found, Tokenise, beside, files_below, going_on

SEVERAL = "mentions that mean several characters or none"
UNKNOWN = "names that no character has"
CUT = "spans that begin or end inside a token (the whole token is taken)"
_COLUMNS = {
    "character_info": {"Main Name", "Aliases"},
    "quotation_info": {
        "quoteID", "quoteType", "quoteByteSpans", "speaker", "addressees", "mentionSpansList",
        "mentionEntitiesList",
    },
}  # fmt: skip
TWICE = "mentions given twice in one cluster"
NO_CHARACTER = "quotations whose speaker is no character"


def read(path: Path, report: ConversionReport, tokenise: Tokenise) -> Iterator[Found]:
    """Each novel: clusters of its characters, speakers of the tokens in quotations, `extra["quotations"]`."""
    for file in files_below(path, "quotation_info.csv"):
        novel = (_Novel(folder, report, tokenise).record() for folder in [file.parent])
        for record in going_on(novel, report):
            yield Found(DEFAULT_SPLIT, record)


class _Novel:
    def __init__(self, folder: Path, report: ConversionReport, tokenise: Tokenise) -> None:
        self._folder, self._report, self._key = folder, report, folder.name
        self._tokens = tokenise(read_bytes(beside(folder, "novel_text.txt")), self._key)
        # Main name by name; an alias that two characters share means neither
        path = beside(folder, "character_info.csv")
        main = [row["Main Name"] for _, row in _rows(path)]
        owners = together(
            (str(alias), row["Main Name"])
            for number, row in _rows(path)
            for alias in _literal(row["Aliases"], f"{path}:{number}")
        )
        names = {alias: own[0] for alias, own in owners.items() if len({*own}) == 1}
        self._names = {**names, **{name: name for name in main}}
        self._mentions: dict[str, set[Mention]] = {}
        self._speakers = [""] * len(self._tokens.starts)

    def record(self) -> Record:
        path = beside(self._folder, "quotation_info.csv")
        quotations = [q for number, row in _rows(path) for q in self._quotation(row, f"{path}:{number}")]
        clusters = {name: sorted(spans) for name, spans in self._mentions.items()}
        return Record(
            self._key, "", self._tokens.sentences, list(clusters.values()), list(clusters.items()),
            str(self._folder), {"quotations": quotations},
            by_sentence(self._speakers, self._tokens.sentences),
        )  # fmt: skip

    def _quotation(self, row: dict[str, str], place: str) -> Iterator[dict[str, Any]]:
        """One item for each part of a quotation; its mentions and speaker go to the novel."""
        speaker = self._known(row["speaker"])
        if speaker is None:
            self._report.add(NO_CHARACTER, self._key, row["speaker"])
        addressees = [str(name) for name in _literal(row["addressees"], place)]
        columns = (row["mentionSpansList"], row["mentionEntitiesList"])
        listed = zip(*(_literal(cell, place) for cell in columns), strict=False)
        for spans, entities in listed:
            if type(spans) is not list or type(entities) is not list:
                raise FormatError(f"{place}: the mentions of a part are no list", found=repr(spans)[:60])
            for span, owners in zip(spans, entities, strict=False):
                name = self._known(str(owners[0])) if type(owners) is list and len(owners) == 1 else None
                if name is None:
                    self._report.add(SEVERAL, self._key, str(owners))
                elif (mention := self._span(span, place)) is not None:
                    own = self._mentions.setdefault(name, set())
                    if mention in own:
                        self._report.add(TWICE, self._key, f"{name} {tuple(mention)}")
                    own.add(mention)
        for span in _literal(row["quoteByteSpans"], place):
            found = self._span(span, place)
            if found is None:
                continue
            if speaker is not None:
                self._speakers[found.start : found.end + 1] = [speaker] * (found.end + 1 - found.start)
            yield {
                "start": found.start, "end": found.end, "speaker": row["speaker"], "addressees": addressees,
                "type": row["quoteType"], "quotation": row["quoteID"],
            }  # fmt: skip

    def _known(self, name: str) -> str | None:
        if name.startswith("_"):
            return None
        if name not in self._names:
            self._report.add(UNKNOWN, self._key, name)
        return self._names.get(name)

    def _span(self, span: Any, place: str) -> Mention | None:
        """The tokens of [first character, end)."""
        starts, ends = self._tokens.starts, self._tokens.ends
        if type(span) is not list or list(map(type, span)) != [int, int]:
            raise FormatError(f"{place}: a span is no pair of numbers", found=repr(span)[:60])
        start = span[0]
        end = span[1]
        first, last = bisect_right(ends, start), bisect_left(starts, end) - 1
        # The tokens that close paragraphs are empty stretches; they are no part of what was annotated.
        while first <= last and starts[first] == ends[first]:
            first += 1
        while first <= last and starts[last] == ends[last]:
            last -= 1
        if first > last:
            self._report.add("spans without a token", self._key, f"{start} to {end}")
            return None
        if starts[first] < start or ends[last] > end:
            self._report.add(CUT, self._key, f"{start} to {end}")
        return Mention(first, last)


def _rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """(line number, row) of a CSV file whose fields may hold line ends."""
    csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    reader = csv.DictReader(line + "\n" for line in read_lines(path))
    needed = _COLUMNS[bare_stem(path)]
    try:
        if missing := sorted(needed - set(reader.fieldnames or ())):
            raise FormatError(f"{path}: has no column {missing[0]!r}", expected=", ".join(sorted(needed)))
        for row in reader:
            yield reader.line_num, {key: value or "" for key, value in row.items() if key is not None}
    except csv.Error as error:
        raise FormatError(f"{path}:{reader.line_num}: is not CSV", found=str(error)) from error


def _literal(text: str, place: str) -> list[Any]:
    """A Python list or set literal as a list; "" and nan are empty. Nothing is run."""
    if text in ("", "nan"):
        return []
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError) as error:
        raise FormatError(f"{place}: a list cannot be read", found=repr(text[:60])) from error
    if not isinstance(value, (list, tuple, set)):
        raise FormatError(f"{place}: is no list", found=repr(text[:60]))
    return sorted(value, key=str) if isinstance(value, set) else list(value)
