"""The table `works.tsv` that `match` writes and a person fills in: its one reader."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from ..errors import FormatError, SourceError


def read_works_table(path: Path, columns: Sequence[str]) -> Iterator[tuple[int, dict[str, str]]]:
    """(line number, row) of every work; a short line has "" in the columns that it lacks.

    Raises:
        SourceError: the file cannot be read. FormatError: it is no text in UTF-8, or lacks one of `columns`.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")  # spreadsheets write a mark of byte order
    except OSError as error:
        raise SourceError(f"cannot read {path}", found=error.strerror) from error
    except UnicodeDecodeError as error:
        raise FormatError(
            f"{path} is not a text in UTF-8",
            found=f"byte {error.object[error.start]:#04x} at {error.start}",
            hint="save the table as UTF-8 with tabs between the columns (not as an .xlsx file)",
        ) from error
    head, *lines = text.split("\n")
    names = head.split("\t")
    if not set(columns) <= set(names):
        raise FormatError(
            f"{path} is not a works.tsv of `bookcoref-data match`",
            expected=f"columns {', '.join(columns)}", found=", ".join(names[:8]).strip() or "nothing",
        )  # fmt: skip
    for number, line in enumerate(lines, start=2):
        if line.strip():
            yield number, dict.fromkeys(names, "") | dict(zip(names, line.split("\t"), strict=False))
