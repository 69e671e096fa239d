"""The targets of `export`, and how each is written: tables of all books together, else a file per book."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..books.annotation import Annotation
from ..errors import DataError, UsageError
from ..files import safe_name, write_bytes
from ..formats.documents import write_documents
from . import network, standards, tables, tei, texts
from .reading import LaidOutBook


@dataclass(frozen=True)
class Target:
    """`make` gives the content of one book's file, whose name ends in `suffix`; `what` is for --help."""

    suffix: str
    what: str
    make: Callable[[LaidOutBook], bytes] | None = None


TARGETS: dict[str, Target] = {
    "csv": Target(".csv", "tables of mentions, quotes, characters, chapters, speech"),
    "tsv": Target(".tsv", "the same, separated by tabs"),
    "parquet": Target(".parquet", "the same as parquet files"),
    "graphml": Target(".graphml", "network of characters", lambda r: network.graph_file(r, "graphml")),
    "gexf": Target(".gexf", "network of characters, for Gephi", lambda r: network.graph_file(r, "gexf")),
    "tei": Target(".xml", "TEI with mentions and speech in the text", tei.tei),
    "tei-standoff": Target(
        ".xml", "TEI with mentions and speech beside the text", lambda r: tei.tei(r, standoff=True)
    ),
    "webannotation": Target(".jsonld", "W3C Web Annotation", standards.web_annotation),
    "inception": Target(".zip", "UIMA CAS XMI for INCEpTION", standards.inception),
    "booknlp": Target(".tokens", "BookNLP's files"),
    "spacy": Target(".spacy", "DocBin of spaCy", standards.doc_bin),
    "replaced-text": Target(
        ".txt",
        "the text with names for pronouns",
        lambda r: texts.replaced_text(r).encode("utf-8", "replace"),
    ),
    "audiobook": Target(
        ".jsonl",
        "segments of narration and speech, in order",
        lambda r: texts.segment_lines(r).encode("utf-8", "replace"),
    ),
}


def export(annotations: Sequence[Annotation], to: str, out: Path, *, replace: bool = False) -> list[Path]:
    """Write annotated books in one target's form; returns the files.

    Tables go into the folder `out`; with `replace` also over files there that are no tables of an earlier
    export. Other targets write one file: `out` itself, if it has a suffix and there is one book, else
    `out/<doc_key><suffix>` for every book.

    Raises:
        UsageError: unknown target, a file for several books, or files in the folder that are not ours.
        DataError: no book.
        MissingExtraError: the target needs a package that is not installed.
    """
    if to not in TARGETS:
        raise UsageError(f"there is no export {to!r}", expected=", ".join(TARGETS))
    if not annotations:
        raise DataError("there is no book to export")
    readings = [LaidOutBook(a) for a in annotations]
    if to in ("csv", "tsv", "parquet"):
        return _tables(readings, to, out, replace)
    target = TARGETS[to]
    if out.suffix and len(readings) > 1:
        raise UsageError(f"{out} is one file, but there are {len(readings)} books", expected="--out FOLDER")
    files = []
    for r in readings:
        name = f"{safe_name(r.annotation.doc_key, 'document key')}{target.suffix}"
        path = out if out.suffix else out / name
        if target.make is None:
            write_documents([r.annotation.to_record()], path, to)
        else:
            write_bytes(path, target.make(r))
        files.append(path)
    return files


def _tables(readings: Sequence[LaidOutBook], to: str, out: Path, replace: bool) -> list[Path]:
    if out.suffix:
        raise UsageError(
            f"tables are {len(tables.all_tables([]))} files", expected="--out FOLDER", found=str(out)
        )
    made = tables.all_tables(readings)
    if to == "parquet":
        return tables.write_parquet(made, out, replace=replace)
    return tables.write_separated(made, out, "," if to == "csv" else "\t", replace=replace)
