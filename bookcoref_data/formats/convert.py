"""From one format to another, with an account of what was written and what was left out."""

from __future__ import annotations

from pathlib import Path

from ..errors import UsageError
from . import detect
from .annotated import has_reasons, note_reasons, read_with_reasons, whole_record
from .conversion_report import ConversionReport
from .documents import SYSTEMS, read_documents, require_known, write_documents
from .projection import project_all


def convert(
    source: Path,
    target: Path,
    *,
    read_as: str | None = None,
    write_as: str | None = None,
    config: str | None = None,
    key: Path | None = None,
    parts: str | None = None,
    doc_key: str | None = None,
    tokenizer: str | None = None,
    segment_length: int | None = None,
) -> ConversionReport:
    """Read `source`, write `target`; formats are detected from names and content where not given.

    `key` names documents onto whose tokens the mentions are moved. `config` chooses the config of a
    data set folder, `parts` how parts of CoNLL documents are joined (join, merge, apart). `doc_key` names
    JSON lines that have no key of their own. `tokenizer` and `segment_length` are for the formats in
    subwords (longdoc, dual-cache).

    Raises:
        UsageError: settings that do not fit. FormatError, DataError, SourceError: as the readers raise.
    """
    read_as = read_as or detect.detect(source)
    write_as = SYSTEMS.get((write_as or "").lower(), write_as) or detect.for_output(target)
    report = ConversionReport(read_as, write_as)
    require_known(write_as)
    if parts is not None and (read_as != "conll" or parts not in ("join", "merge", "apart")):
        raise UsageError(
            f"--parts {parts} does not fit", expected="join, merge or apart, and an input in CoNLL-2012"
        )
    if doc_key is not None and read_as not in ("jsonl", "jsonlines"):
        raise UsageError("--doc-key does not fit", expected="an input in JSON lines", found=read_as)
    subwords = {"tokenizer": tokenizer, "segment_length": segment_length}
    subwords = {name: value for name, value in subwords.items() if value is not None}
    if subwords and write_as not in ("longdoc", "dual-cache"):
        raise UsageError(
            "--tokenizer and --segment-length do not fit",
            expected="--to longdoc or dual-cache",
            found=write_as,
        )
    options = {name: value for name, value in (("parts", parts), ("doc_key", doc_key)) if value is not None}
    if read_as == "jsonl" and has_reasons(source):
        found = read_with_reasons(source)
        records = [whole_record(annotation, record) for record, annotation in found]
        for _, annotation in found:
            note_reasons(annotation, report.note(annotation.doc_key))
    else:
        records = read_documents(source, read_as, config, report=report, **options)
    if key is not None:
        records = project_all(records, read_documents(key), report)
    write_documents(records, target, write_as, report=report, **subwords)
    return report
