"""What cleaning takes and gives: blocks of a file, cuts, the kept text and its map back to the file."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from .evidence import Evidence, Story

KINDS = (
    "header", "footer", "credits", "transcriber-note", "illustration", "page-number", "footnote", "contents",
    "preface", "title-page", "back-matter", "advertisement", "emphasis", "recipe",
)  # fmt: skip
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


class Section(NamedTuple):
    """What was decided about a whole section: [start, end) of the decoded file, its heading, and why.

    `cut` False says that its heading looks like apparatus but that it was kept.
    """

    kind: str
    start: int
    end: int
    heading: str
    cut: bool
    reason: str

    def to_dict(self) -> dict[str, Any]:
        return {**self._asdict(), "characters": self.end - self.start}

    def __str__(self) -> str:
        done = f"cut as {self.kind}" if self.cut else f"kept, though it looks like {self.kind}"
        size = self.end - self.start
        return f"{self.heading!r} ({size:,} characters at {self.start:,}) {done}: {self.reason}"


class KeptRun(NamedTuple):
    """`length` kept characters: at `out` in the clean text, at `file` in the decoded file."""

    out: int
    file: int
    length: int


class ChapterHeading(NamedTuple):
    """A heading of the clean text; [start, end) is the heading itself, `title` its words on one line."""

    title: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class CleanText:
    """The body of a book. Every character comes from the file, in the file's order; nothing is added.

    `runs` cover `text` without gap or overlap; `cuts` are the rest of the file, without the blank lines,
    trailing blanks and unseen marks inside words that fall away. `sections` say why whole sections were cut
    or kept.
    """

    text: str
    runs: tuple[KeptRun, ...]
    cuts: tuple[Cut, ...]
    chapters: tuple[ChapterHeading, ...]
    file_length: int
    sections: tuple[Section, ...] = ()

    def shares(self) -> dict[str, float]:
        """Share of the file's characters that each kind of cut took."""
        sums: dict[str, int] = {}
        for cut in self.cuts:
            sums[cut.kind] = sums.get(cut.kind, 0) + cut.end - cut.start
        return {kind: sums[kind] / self.file_length for kind in KINDS if kind in sums}


@dataclass(slots=True, eq=False)
class Block:
    """Consecutive lines that are not blank: [start, end) of the file, and the blank lines before it.

    It holds no copy of its text, because a book is all blocks.
    """

    source: str = field(repr=False)
    start: int
    end: int
    gap: int

    @property
    def text(self) -> str:
        return self.source[self.start : self.end]

    @property
    def lines(self) -> list[str]:
        return self.text.split("\n")

    @property
    def line_count(self) -> int:
        return self.source.count("\n", self.start, self.end) + 1

    @property
    def line(self) -> str:
        """The first line without surrounding blanks and emphasis marks."""
        stop = self.source.find("\n", self.start, self.end)
        return self.source[self.start : self.end if stop < 0 else stop].strip().strip("_*=+~ ").strip()


VISIBLE = re.compile(r"\S")
"""Any character that is not white space."""
BLANK_LINE = re.compile(r"\n[^\S\n]*\n")
NO_WIDTH = "[\u061c\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]"
INSIDE_WORDS = re.compile(
    r"\u2060|\xad+(?:[^\S\n]*\n[^\S\n]*(?=[^\W\d_]))?"
    rf"|(?<=[^\W_])(?:{NO_WIDTH}|[\u200c\u200d])+(?=[^\W_])(?:(?![A-Z])|(?<![a-z].))"
)
"""Soft hyphens, with the line end that one stands at, and marks of no width between two letters, but not
where a word begins behind them."""
_ENOUGH = 20
"""Blocks whose gaps say how many blank lines part paragraphs."""
_BLANKS = re.compile(r"\n(?:[^\S\n]*\n)+")


def blocks_of(text: str, start: int, end: int) -> Iterator[Block]:
    """The blocks of text[start:end]; offsets are those of `text`."""
    at, gap = start, 9
    for blank in _BLANKS.finditer(text, start, end):
        if VISIBLE.search(text, at, blank.start()):
            yield Block(text, at, blank.start(), gap)
            gap = 0
        gap += blank.group().count("\n") - 1
        at = blank.end()
    if VISIBLE.search(text, at, end):
        while text[end - 1] == "\n":
            end -= 1
        yield Block(text, at, end, gap)


class Draft:
    """A file being cleaned: its text, the body between header and footer, and what is marked for cutting.

    The first mark on a character stays. `sections` collect the decisions about whole sections.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.marks = bytearray(len(text))
        self.start, self.end = 0, len(text)
        self.sections: list[Section] = []
        self.sign: Callable[[str], str] = lambda section: ""  # what another edition says of a section
        self.blank = 1  # lines that part two paragraphs: more than one where all blank lines were doubled
        self._blocks: list[Block] | None = None

    @cached_property
    def story(self) -> Story:
        """What the middle of the body shows of the story: the names that occur in it."""
        return Story.of(self.text, self.start, self.end)

    def decide(self, kind: str, start: int, end: int, reason: str, *, cut: bool) -> None:
        """Cut a whole section, or keep it though it looks like apparatus; either way with a reason."""
        heading = " ".join(BLANK_LINE.split(self.text[start : start + 80].strip())[0].split())[:60]
        self.sections.append(Section(kind, start, end, heading, cut, reason))
        if cut:
            self.cut(kind, start, end)

    def evidence(self, start: int, end: int) -> Evidence:
        """What the section [start, end) shows beside the story."""
        section = self.text[start:end]
        paragraphs = [p for p in BLANK_LINE.split(section) if p.strip()]
        return self.story.evidence(section, paragraphs, self.sign(section))

    def cut(self, kind: str, start: int, end: int) -> None:
        """Mark [start, end) as `kind`, except what is marked already."""
        code = KINDS.index(kind) + 1
        self.marks[start:end] = bytes(mark or code for mark in self.marks[start:end])

    def blocks(self) -> list[Block]:
        """The blocks of what is left of the body; a block whose first lines are cut begins behind them."""
        if self._blocks is None:
            self._blocks = list(blocks_of(self.text, self.start, self.end))
            if len(gaps := sorted(block.gap for block in self._blocks)) >= _ENOUGH:
                self.blank = gaps[len(gaps) // 2]
                for block in self._blocks:
                    block.gap = -(-block.gap // self.blank)
        found = []
        for block in self._blocks:
            if self.marks.count(0, block.start, block.end) == block.end - block.start:
                found.append(block)
                continue
            places = range(block.start, block.end)
            left = next((at for at in places if not self.marks[at] and not self.text[at].isspace()), -1)
            if left >= 0 and any(self.marks[block.start : left]):
                begin = self.text.rfind("\n", block.start, left) + 1
                found.append(Block(self.text, max(block.start, begin), block.end, block.gap))
            elif left >= 0:
                found.append(block)
        return found

    def forget(self) -> None:
        """Give back marks and blocks, which are no longer needed."""
        self.marks = bytearray()
        self._blocks = None
