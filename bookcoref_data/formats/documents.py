"""One front door to all formats: read a path, write a path."""

import importlib
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

from ..books import Record
from ..errors import FormatError, UsageError
from . import detect
from .conversion_report import ConversionReport

FORMATS = ("jsonl", "conll", "corefud", "brat", "booknlp")
"""Formats that are read and written, and give back what they hold."""
TRAINERS = ("jsonlines", "wl-coref", "fastcoref", "fastcoref-text", "longdoc", "dual-cache")
"""Formats that are written for trainable systems. `jsonlines` is read, too, as any JSON lines."""
SYSTEMS = {
    "maverick": "jsonlines", "maverick-coref": "jsonlines", "s2e": "jsonlines", "lingmess": "jsonlines",
}  # fmt: skip
"""Systems by name whose format is called otherwise."""


def read_documents(
    path: Path | str, format: str | None = None, config: str | None = None, *,
    report: ConversionReport | None = None, **options: Any,
) -> list[Record]:  # fmt: skip
    """All documents of a file, a folder of files, or a built data set folder, in order.

    `format` is one of `FORMATS` or "folder" (a built data set folder, of which `config` is read: "full"
    or "split"); by default it is detected from name and content. gzip and zstd are unpacked on the way, pipes
    and "-" (standard input) are read, and of a folder that `annotate` wrote the annotation is meant.
    `report` hears what the records cannot hold. `options` go to the reader of the format, but for
    `windows=True`, which allows several records of one document key that state a `window` or `start`.

    Raises SourceError: nothing there. FormatError: not what it claims to be (file and line), or a document
    key given twice. UsageError: an unknown format.
    """
    path = Path(path)
    name, windows = format or detect.detect(path), options.pop("windows", False)
    if name == "folder":
        from .folder import read_folder

        return read_folder(path, config or "full")
    if name in TRAINERS and name != "jsonlines":
        raise UsageError(f"the format {name!r} is written, not read", expected=f"one of {', '.join(FORMATS)}")
    module = _module("jsonl" if name == "jsonlines" else name)
    found, seen = list[Record](), dict[str, str]()
    for file in detect.files_of(path, name):
        for record in module.read(file, report=report, **options):
            found.append(record)
            if windows and not {"window", "start"}.isdisjoint(record.extra):
                continue
            if record.doc_key in seen:
                what = f"{record.source}: the document key {record.doc_key!r} is given twice"
                expected = "each document once"
                hint = "remove one of the two, or rename it"
                raise FormatError(what, expected=expected, found=f"also at {seen[record.doc_key]}", hint=hint)
            seen[record.doc_key] = record.source
    return found


def write_documents(
    records: Iterable[Record], path: Path | str, format: str | None = None, *,
    report: ConversionReport | None = None, **options: Any,
) -> None:  # fmt: skip
    """Write documents whole or not at all, in the format named or told by the suffix.

    `report` hears what the format cannot hold. `options` go to the writer ("tokenizer" and "segment_length"
    for longdoc and dual-cache).
    """
    path = Path(path)
    named = SYSTEMS.get(format or "", format) or detect.for_output(path)
    name = {"dual-cache": "longdoc"}.get(named, named).replace("-", "_")
    function = f"write_{name}" if named in TRAINERS else "write"
    getattr(_module(named), function)(records, path, report=report, **options)


def require_known(format: str) -> None:
    """Raises UsageError where there is no such format."""
    if format not in (*FORMATS, *TRAINERS):
        raise UsageError(
            f"there is no format {format!r}", expected=f"one of {', '.join((*FORMATS, *TRAINERS))}",
            found=format, hint=f"jsonlines is for {', '.join(SYSTEMS)}: these names are understood, too",
        )  # fmt: skip


def _module(format: str) -> ModuleType:
    require_known(format)
    return importlib.import_module(f"{__package__}.{'trainers' if format in TRAINERS else format}")
