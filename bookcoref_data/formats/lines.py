"""Text files by line, numbered from 1 (UTF-8, any line end, with or without a BOM), and texts with spans."""

import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import IO, Any

from ..books import Mention
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


def json_line(value: Any) -> bytes:
    """A value as JSON without a line end; half a surrogate pair, which UTF-8 cannot hold, is an escape."""
    try:
        return json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(value).encode("ascii")


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


CUT = "tokens cut where a mention begins or ends inside them"
_TOKEN = re.compile(r"[^ \t\r\n]+")
_WHOLE_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


@dataclass
class CutText:
    """Token i stands at [starts[i], ends[i]) in characters; `cut` counts the runs that were cut."""

    sentences: list[list[str]] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    cut: int = 0

    def span(self, start: int, end: int) -> Mention | None:
        """The tokens of [start, end) in characters; None where that is white space alone."""
        found = Mention(bisect_right(self.ends, start), bisect_left(self.starts, end) - 1)
        return found if found.start <= found.end else None


def cut_text(text: str, places: Iterable[int]) -> CutText:
    """Tokens of a text, cut at `places` (characters), the ends of all spans.

    A line is a sentence, a run without white space a token, cut where a span begins or ends inside it.
    """
    cuts = sorted(set(places))
    found = CutText()
    offset = at = 0
    for line in _WHOLE_LINE.findall(text):
        sentence = []
        for match in _TOKEN.finditer(line):
            start, end = match.start() + offset, match.end() + offset
            while at < len(cuts) and cuts[at] <= start:
                at += 1
            if at == len(cuts) or cuts[at] >= end:  # as nearly all
                sentence.append(match.group())
                found.starts.append(start)
                found.ends.append(end)
                continue
            found.cut += 1
            for a, b in pairwise((start, *cuts[at : bisect_left(cuts, end, at)], end)):
                sentence.append(text[a:b])
                found.starts.append(a)
                found.ends.append(b)
        if sentence:
            found.sentences.append(sentence)
        offset += len(line)
    return found
