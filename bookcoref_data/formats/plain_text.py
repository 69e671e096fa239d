"""Plain text with spans by characters as sentences of tokens.

A line is a sentence, a run without white space a token, cut where a span begins or ends inside it.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise

from ..books import Mention

CUT = "tokens cut where a mention begins or ends inside them"
_TOKEN = re.compile(r"[^ \t\r\n]+")
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


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
    """Tokens of a text, cut at `places` (characters), the ends of all spans."""
    cuts = sorted(set(places))
    found = CutText()
    offset = at = 0
    for line in _LINE.findall(text):
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
