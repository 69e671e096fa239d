"""The lines of a text file as text, numbered from 1: UTF-8, any line end, with or without a BOM."""

from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from ..errors import FormatError
from ..files import utf8
from ..shapes import check, parse_json
from .compressed import reading

LONGEST_LINE = 64 << 20
"""Bytes of one line: twenty times the longest book, and little enough for any memory."""


def read_lines(path: Path, *, again: bool = False) -> Iterator[str]:
    """Yield each line without its line end (`\\n`, `\\r\\n`, or the `\\r` of old Macintosh files).

    Only these end a line: other characters that Python counts as line ends (U+2028, U+0085, form feed)
    occur inside tokens. `again`: see `compressed.reading`.

    Raises SourceError: the file cannot be read. FormatError: as `utf8`, or a line beyond `LONGEST_LINE`.
    """
    with reading(path, again=again) as stream:
        begins = stream.peek(512)[:512]
        for number, raw in enumerate(_split(stream, path), 1):
            yield utf8(raw, path, number, begins)


def json_lines(path: Path, shape: str = "row") -> Iterator[tuple[str, dict[str, Any]]]:
    """("file:line", object) of each line that is not blank; `shape` is one of `manifests/inputs.json`.

    Raises SourceError: the file cannot be read. FormatError: a line is no such object.
    """
    for number, line in enumerate(read_lines(path), 1):
        if line.strip():
            value: dict[str, Any] = parse_json(line, f"{path}:{number}")
            check(value, shape, f"{path}:{number}")
            yield f"{path}:{number}", value


def _split(stream: IO[bytes], path: Path) -> Iterator[bytes]:
    """The lines of a stream without their ends."""
    while raw := stream.readline(LONGEST_LINE + 1):
        if len(raw) > LONGEST_LINE:
            raise FormatError(
                f"{path}: a line is too long", expected=f"at most {LONGEST_LINE:,} bytes", found="more",
                hint="each document must be a line of its own; is this the right file?",
            )  # fmt: skip
        if b"\r" not in raw:
            yield raw.removesuffix(b"\n")
        else:
            pieces = raw.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
            # What stands behind the last line end is a line only if it is not empty.
            yield from pieces if pieces[-1] else pieces[:-1]
