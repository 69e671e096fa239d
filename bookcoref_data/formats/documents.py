"""One front door to all formats: read a path, write a path."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from ..books import Record
from ..errors import FormatError, UsageError
from . import detect
from .conversion_report import Losses

FORMATS = ("jsonl", "conll", "corefud", "brat", "booknlp")


def read_documents(
    path: Path | str,
    format: str | None = None,
    config: str | None = None,
    *,
    losses: Losses | None = None,
    **options: Any,
) -> list[Record]:
    """All documents of a file, a folder of files, or a built dataset folder, in order.

    `format` is one of `FORMATS` or "folder" (a built dataset folder, of which `config` is read: "full"
    or "split"); by default it is told from name and content. gzip and zstd are unpacked on the way.
    `losses` hears what the records cannot hold. `options` go to the reader of the format.

    Raises:
        SourceError: nothing there. FormatError: not what it claims to be (file and line), or a document
        key given twice. UsageError: an unknown format.
    """
    path = Path(path)
    name = format or detect.detect(path)
    if name == "folder":
        from .folder import read_folder

        return read_folder(path, config or "full")
    return list(_unique(_read_files(_module(name), detect.files_of(path, name), losses, options)))


def write_documents(
    records: Iterable[Record],
    path: Path | str,
    format: str | None = None,
    *,
    losses: Losses | None = None,
) -> int:
    """Write documents whole or not at all, in the format named or told by the suffix; returns how many.

    `losses` hears what the format cannot say.
    """
    path = Path(path)
    return _module(format or detect.for_output(path)).write(records, path, losses=losses)


def _read_files(module: ModuleType, files: list[Path], losses: Losses | None, options) -> Iterator[Record]:
    for file in files:
        yield from module.read(file, losses=losses, **options)


def _unique(records: Iterable[Record]) -> Iterator[Record]:
    seen: dict[str, str] = {}
    for record in records:
        if record.doc_key in seen:
            raise FormatError(
                f"{record.source}: the document key {record.doc_key!r} is given twice",
                expected="each document once",
                found=f"also at {seen[record.doc_key]}",
                hint="remove one of the two, or rename it",
            )
        seen[record.doc_key] = record.source
        yield record


def _module(format: str) -> ModuleType:
    if format not in FORMATS:
        raise UsageError(f"there is no format {format!r}", expected=f"one of {', '.join(FORMATS)}")
    return importlib.import_module(f"{__package__}.{format}")
