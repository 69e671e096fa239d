"""Inline coreference markup: `{meg|Meg} took {ned|{meg|her} brother}'s hand.`

A span opens with `{id|` and closes with `}`; spans nest. The two braces and the bar carry meaning only
there: prose that needs them cannot be written in this markup, which keeps it free of escapes.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from difflib import get_close_matches
from typing import NamedTuple

from bookcoref_data.errors import FormatError

_MARK = re.compile(r"\{(?P<id>[^{}|\n]*)\||(?P<close>\})|(?P<stray>[{|])")


class MarkedSpan(NamedTuple):
    """A marked stretch of text: character offsets, `end` exclusive, and the line it opens on (from 1)."""

    start: int
    end: int
    character: str
    line: int


@dataclass(frozen=True, slots=True)
class ParsedMarkup:
    """A text freed of its marks, and the spans in order of their start, longest first."""

    text: str
    spans: tuple[MarkedSpan, ...]

    def text_of(self, span: MarkedSpan) -> str:
        return self.text[span.start : span.end]


def parse_markup(marked: str, known: Collection[str], *, source: str = "markup") -> ParsedMarkup:
    """Take the marks out of a text.

    Args:
        marked: the text with its marks.
        known: the character ids that may be used.
        source: file name for messages.

    Raises:
        FormatError: a span not closed or not opened, a stray mark, an id not in `known`, an empty span,
            or the same span marked twice; the message begins with `source:line`.
    """
    pieces: list[str] = []
    spans: list[MarkedSpan] = []
    still_open: list[tuple[int, str, int]] = []  # start, character, line
    length = at = 0
    line = 1
    for match in _MARK.finditer(marked):
        piece = marked[at : match.start()]
        pieces.append(piece)
        length += len(piece)
        line += piece.count("\n")
        at = match.end()
        if match["stray"]:
            raise FormatError(
                f"{source}:{line}: stray {match['stray']!r}", expected="{id|words} or plain prose"
            )
        if match["close"]:
            if not still_open:
                raise FormatError(f"{source}:{line}: '}}' closes a span that was never opened")
            start, character, opened = still_open.pop()
            if start == length:
                raise FormatError(f"{source}:{opened}: the span of {character!r} is empty")
            spans.append(MarkedSpan(start, length, character, opened))
        else:
            still_open.append((length, _known(match["id"], known, f"{source}:{line}"), line))
    if still_open:
        _, character, opened = still_open[-1]
        raise FormatError(f"{source}:{opened}: the span of {character!r} is never closed", expected="'}'")
    pieces.append(marked[at:])
    return ParsedMarkup("".join(pieces), _in_order(spans, source))


def _known(character: str, known: Collection[str], where: str) -> str:
    if character not in known:
        near = get_close_matches(character, known, 1)
        raise FormatError(
            f"{where}: unknown character id {character!r}",
            expected=", ".join(sorted(known)),
            hint=f"did you mean {near[0]!r}?" if near else None,
        )
    return character


def _in_order(spans: list[MarkedSpan], source: str) -> tuple[MarkedSpan, ...]:
    ordered = sorted(spans, key=lambda s: (s.start, -s.end))
    seen: dict[tuple[int, int], MarkedSpan] = {}
    for span in ordered:
        first = seen.setdefault(span[:2], span)
        if first is not span:
            raise FormatError(
                f"{source}:{span.line}: one span is marked twice, for {first.character!r} and"
                f" {span.character!r}"
            )
    return tuple(ordered)
