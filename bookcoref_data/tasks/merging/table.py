"""Decisions as a table of tab-separated text: one row per chain of a later part.

    document   part   chain   joins_part   joins_chain   annotator
    story      1      7       0            3             ann
    story      1      9       new          new           ann

Parts and chains are named as in the files. `annotator` may be left out.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from ...errors import FormatError
from ...files import write_text
from ...formats.lines import read_lines
from .parts import ChainRef, Decisions, SplitDocument

COLUMNS = ("document", "part", "chain", "joins_part", "joins_chain", "annotator")
NEW = "new"
DecisionTable = dict[str, dict[str, dict[ChainRef, ChainRef | None]]]
"""{annotator: {document: decisions}}."""
Row = tuple[str, SplitDocument, ChainRef, ChainRef | None]
"""An annotator's answer: the chain of a document, and the one that it joins."""


def read_table(path: Path, documents: Sequence[SplitDocument]) -> DecisionTable:
    """The decisions in a file. A later row about the same chain replaces an earlier one. Raises FormatError:
    `file:line` of a row that is none, or that names an unknown document, part or chain."""
    found: DecisionTable = {}
    for annotator, document, ref, target in rows_of(read_lines(path), documents, str(path)):
        found.setdefault(annotator, {}).setdefault(document.doc_key, {})[ref] = target
    return found


def rows_of(lines: Iterable[str], documents: Sequence[SplitDocument], place: str) -> Iterator[Row]:
    """The rows of a table in their order; `place` names it in errors (those of `read_table`)."""
    known = {document.doc_key: document for document in documents}
    for number, line in enumerate(lines, 1):
        cells = line.split("\t")
        if not line.strip() or cells[: len(COLUMNS) - 1] == list(COLUMNS[:-1]):
            continue
        at = f"{place}:{number}"
        if len(cells) not in (5, 6):
            raise FormatError(f"{at} is no decision", expected=", ".join(COLUMNS), found=repr(line[:80]))
        document = known.get(cells[0])
        if document is None:
            raise FormatError(f"{at}: there is no document {cells[0]!r}", expected=", ".join([*known][:5]))
        ref, new = _ref(document, cells[1], cells[2], at), [c.strip().lower() == NEW for c in cells[3:5]]
        target = None if all(new) else _ref(document, cells[3], cells[4], at)
        if target is not None and target.part >= ref.part:
            what = f"{at}: chain {ref.chain} of part {cells[1]} cannot join chain {target.chain}"
            raise FormatError(what, expected="a chain of an earlier part", found=f"part {cells[3]}")
        yield cells[5].strip() if len(cells) == 6 else "", document, ref, target


def _ref(document: SplitDocument, part: str, chain: str, place: str) -> ChainRef:
    if part not in document.numbers:
        known = ", ".join(document.numbers)
        raise FormatError(f"{place}: document {document.doc_key!r} has no part {part!r}", expected=known)
    ref = ChainRef(document.numbers.index(part), chain)
    if ref not in document.chains:
        what = f"{place}: part {part} of {document.doc_key!r} has no chain {chain!r}"
        raise FormatError(what, hint="chains are named by their ids in the file")
    return ref


def write_table(path: Path, documents: Sequence[SplitDocument], decisions: Mapping[str, Decisions]) -> int:
    """Write the decisions about some documents; returns how many rows."""
    rows = [
        row_of(document, ref, target, "") for document in documents for ref, target in
        decisions.get(document.doc_key, {}).items()
    ]  # fmt: skip
    write_text(path, "\n".join(["\t".join(COLUMNS), *rows]) + "\n")
    return len(rows)


def row_of(document: SplitDocument, ref: ChainRef, target: ChainRef | None, annotator: str) -> str:
    """One row of the table, without its line end."""
    joins = (NEW, NEW) if target is None else (document.numbers[target.part], target.chain)
    return "\t".join([document.doc_key, document.numbers[ref.part], ref.chain, *joins, annotator])
