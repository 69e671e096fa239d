"""LitBank: coreference in brat or CoNLL, and the quotations of the same documents.

`quotations/tsv/<document>.ann` has two kinds of rows: `QUOTE id sentence token sentence token words` (first
and last token, both inclusive, counted in their sentences) and `ATTRIB id cluster`.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import accumulate
from pathlib import Path
from typing import Any

from ...books import Record
from ...errors import FormatError
from .. import brat, conll
from ..conversion_report import ConversionReport
from ..layers import by_sentence
from ..lines import read_lines
from .reading import DEFAULT_SPLIT, Found, Tokenise, files_below, going_on

LACKING = "documents without a file of quotations beside their file in brat"
MISFITS = "quotations whose places are not in the text"


def read(path: Path, report: ConversionReport, tokenise: Tokenise) -> Iterator[Found]:
    """The documents of the brat files (which name the clusters and have types), else of the CoNLL files."""
    quotations = _folder(path, "quotations/tsv", "tsv")
    brat_folder = _folder(path, "coref/brat", "brat")
    if brat_folder is None and next(files_below(path, ".conll"), None) is None:
        brat_folder = path
    files = list(files_below(brat_folder, ".ann")) if brat_folder is not None else []
    if not files:
        folder = _folder(path, "coref/conll", "conll") or path
        for file in files_below(folder, ".conll"):
            for record in going_on(conll.read(file, report=report), report):
                report.add(LACKING, record.doc_key, count=int(quotations is not None))
                yield Found(DEFAULT_SPLIT, _with_gutenberg_key(record))
        return
    for file in files:
        for record in going_on(brat.read(file, report=report), report):
            quotes = None if quotations is None else quotations / file.name
            if quotes is not None and quotes.is_file():
                record = _with_quotations(record, quotes, report)
            report.add(LACKING, record.doc_key, count=int(quotes is not None and not quotes.is_file()))
            yield Found(DEFAULT_SPLIT, _with_gutenberg_key(record))


def _with_gutenberg_key(record: Record) -> Record:
    """The documents are named after the ids of their books: `1342_pride_and_prejudice_brat`."""
    number = record.doc_key.partition("_")[0]
    return replace(record, gutenberg_key=number) if number.isdigit() else record


def _folder(path: Path, *names: str) -> Path | None:
    return next((path / name for name in names if (path / name).is_dir()), None)


def _with_quotations(record: Record, path: Path, report: ConversionReport) -> Record:
    """The record with its quotations, and with the cluster of the speaker as speaker of each token."""
    sentences = record.sentences or []
    first = [0, *accumulate(map(len, sentences))]
    quotes: dict[str, dict[str, Any]] = {}
    for number, line in enumerate(read_lines(path), 1):
        cells = line.split("\t")
        if cells[0] == "QUOTE" and len(cells) >= 6 and all(cell.isdigit() for cell in cells[2:6]):
            start_sentence, start, end_sentence, end = map(int, cells[2:6])
            inside = max(start_sentence, end_sentence) < len(sentences)
            span = (first[start_sentence] + start, first[end_sentence] + end) if inside else (1, 0)
            if not span[0] <= span[1] < first[-1]:
                report.add(MISFITS, record.doc_key, f"{path.name}:{number}")
                continue
            quotes[cells[1]] = {"start": span[0], "end": span[1], "mention": None, "cluster": None}
        elif cells[0] == "ATTRIB" and len(cells) >= 3:
            if cells[1] in quotes:
                quotes[cells[1]]["cluster"] = cells[2]
        elif line.strip():
            raise FormatError(
                f"{path}:{number}: the row is no quotation of LitBank",
                expected="QUOTE, id, sentence, token, sentence, token, words; or ATTRIB, id, cluster",
                found=repr(line[:60]),
            )
    if not quotes:
        return record
    speakers = [""] * first[-1]
    for quote in quotes.values():
        if quote["cluster"] is not None:
            span_size = quote["end"] + 1 - quote["start"]
            speakers[quote["start"] : quote["end"] + 1] = [quote["cluster"]] * span_size
    return replace(
        record,
        extra={**record.extra, "quotations": list(quotes.values())},
        speakers=by_sentence(speakers, sentences) if any(speakers) else None,
    )
