"""What cleaning takes and gives: blocks of a file, cuts, the kept text and its map back to the file."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

KINDS = (
    "header",
    "footer",
    "credits",
    "transcriber-note",
    "illustration",
    "page-number",
    "footnote",
    "contents",
    "other-works",
    "preface",
    "title-page",
    "back-matter",
    "advertisement",
    "emphasis",
    "recipe",
)
"""Kinds of cuts, in the order in which they are made; a character belongs to the first that takes it."""


class Cut(NamedTuple):
    """A span of the file that was left out: [start, end) in characters of the decoded file."""

    kind: str
    start: int
    end: int

    def excerpt(self, text: str, width: int = 100) -> str:
        """The cut text on one line, shortened in the middle to about `width` characters."""
        line = " ".join(text[self.start : self.end].split())
        half = width // 2
        return line if len(line) <= width else f"{line[:half]} ... {line[-half:]}"


class Run(NamedTuple):
    """`length` kept characters: at `out` in the clean text, at `file` in the decoded file."""

    out: int
    file: int
    length: int


class Chapter(NamedTuple):
    """A heading of the clean text; [start, end) is the heading itself, `title` its words on one line."""

    title: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class CleanText:
    """The body of a book. Every character comes from the file, in the file's order; nothing is added.

    `runs` cover `text` without gap or overlap; `cuts` are the rest of the file, without the blank lines
    and trailing blanks that fall away beside them.
    """

    text: str
    runs: tuple[Run, ...]
    cuts: tuple[Cut, ...]
    chapters: tuple[Chapter, ...]
    file_length: int

    def to_file(self, offset: int) -> int:
        """The place in the decoded file of character `offset` of the clean text."""
        if not 0 <= offset < len(self.text):
            raise IndexError(f"offset {offset} is outside the text of {len(self.text)} characters")
        run = self.runs[bisect_right(self.runs, offset, key=lambda r: r.out) - 1]
        return run.file + offset - run.out

    def shares(self) -> dict[str, float]:
        """Share of the file's characters that each kind of cut took."""
        sums: dict[str, int] = {}
        for cut in self.cuts:
            sums[cut.kind] = sums.get(cut.kind, 0) + cut.end - cut.start
        return {kind: sums[kind] / self.file_length for kind in KINDS if kind in sums}


class Block(NamedTuple):
    """Consecutive lines that are not blank: [start, end) of the file, and the blank lines before it."""

    text: str
    start: int
    end: int
    gap: int

    @property
    def lines(self) -> list[str]:
        return self.text.split("\n")

    @property
    def line(self) -> str:
        """The first line without surrounding blanks and emphasis marks."""
        return self.lines[0].strip().strip("_*=+~ ").strip()


_KEPT = re.compile(rb"\0+")
_BLANKS = re.compile(r"\n(?:[^\S\n]*\n)+")


def blocks_of(text: str, start: int, end: int) -> Iterator[Block]:
    """The blocks of text[start:end]; offsets are those of `text`."""
    at, gap = start, 9
    for blank in _BLANKS.finditer(text, start, end):
        if text[at : blank.start()].strip():
            yield Block(text[at : blank.start()], at, blank.start(), gap)
            gap = 0
        gap += blank.group().count("\n") - 1
        at = blank.end()
    if text[at:end].strip():
        piece = text[at:end].rstrip("\n")
        yield Block(piece, at, at + len(piece), gap)


class Page:
    """A file under the knife: its text, the body between header and footer, and what is marked for cutting.

    The first mark on a character stays.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.marks = bytearray(len(text))
        self.start, self.end = 0, len(text)

    def cut(self, kind: str, start: int, end: int) -> None:
        """Mark [start, end) as `kind`, except what is marked already."""
        code = KINDS.index(kind) + 1
        piece = self.marks[start:end]
        if any(piece):
            self.marks[start:end] = bytes(mark or code for mark in piece)
        else:
            self.marks[start:end] = bytes([code]) * (end - start)

    def blocks(self) -> list[Block]:
        """The blocks of what is left of the body; a block whose first lines are cut begins behind them."""
        found = []
        for block in blocks_of(self.text, self.start, self.end):
            left = _KEPT.search(self.marks, block.start, block.end)
            while left and self.text[left.start() : left.end()].isspace():
                left = _KEPT.search(self.marks, left.end(), block.end)
            if left:
                line = self.text.rfind("\n", block.start, left.start()) + 1
                begin = max(block.start, line) if any(self.marks[block.start : left.start()]) else block.start
                found.append(Block(self.text[begin : block.end], begin, block.end, block.gap))
        return found
