"""Does a section read like the story or like what editors write around it?

A heading alone is weak evidence: "NOTE" opens the epilogue of *Dracula*, "INTRODUCTION" the frame of *My
Ántonia*. So a section is also read: how often the names of the story occur in it, how much of it is the
wording of editors, how many of its paragraphs are numbered.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

_NAME = re.compile(r"(?<=[a-z,;] )(?!I\b|God\b|Lord\b|Mrs?\b|Miss\b|Sir\b|Lady\b|Dr\b)[A-Z][^\W\d_]{2,}")
_WORD = re.compile(r"[^\W\d_]+")
_EDITORIAL = re.compile(
    r"""\b(?:editions?|editors?|edited|translat\w+|publish\w+|prefaces?|introduction|authors?|readers?
      |manuscripts?|novelists?|literature|literary|critics?|criticism|biograph\w+|footnotes?|ibid|reprint\w*
      |copyright\w*|illustrations?|masterpieces?|prefatory|essays?|printed|printers?|typograph\w+|spellings?
      |appendix|bibliograph\w+|volumes?|chapters?|novels?|works|heroine|protagonist|composition|version
      |[ÉéEe]diteurs?|[ÉéEe]ditions?|traduct\w+|Herausgeber\w*|[ÜüUu]bersetz\w+|Verlag|Ausgaben?|Auflage)\b
      |\bcf\.|\bop\.\ cit|\b1[4-9]\d\d\b""",
    re.X | re.I,
)
_NUMBERED = re.compile(
    r"\W{0,3}(?:\d{1,4}\b[\].):, ]|[ivxlc]{1,7}[.)\]])|[ \t]*\[\w{1,4}\]|[ \t]*(?:P\.|Page|Line|L\.) ?\d"
    r"|[ \t]*[*†‡]",
    re.I,
)
_SPEECH = re.compile(r"[“«„]|(?<!\w)[\"'‘](?=\w)")


# Measured on the 52 books of BookCoref: prefaces and notes by editors have 7 to 130 editorial words in 1,000
# (a long one that tells the story 12), running story below 5, with peaks of 6 in short pieces.
_EDITORIAL_RATE = 6.0
_EDITORIAL_ABOUT_THE_STORY = 10.0
_LEAST_EDITORIAL = 2  # words


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a section shows, per 1,000 words: `names` of the story, `editorial` words, `speech` marks.

    `body_names` is the rate of names in the middle of the book; `numbered` the share of paragraphs that begin
    with a number, a letter in brackets or a star; `words` the length.
    """

    words: int
    names: float
    body_names: float
    editorial: float
    speech: float
    numbered: float

    @property
    def is_editorial(self) -> bool:
        """Whether the wording is that of editors: more so when it also speaks of the story's people."""
        least = _EDITORIAL_ABOUT_THE_STORY if self.names >= self.body_names else _EDITORIAL_RATE
        return self.editorial >= least and self.editorial * self.words >= 1000 * _LEAST_EDITORIAL


@dataclass(frozen=True, slots=True)
class Story:
    """What the middle of a book shows: its most frequent names, and how often they occur in 1,000 words."""

    names: frozenset[str]
    rate: float

    @classmethod
    def of(cls, text: str, start: int, end: int) -> Story:
        """The story between two places, read in its middle three fifths."""
        fifth = (end - start) // 5
        begin, stop = start + fifth, end - fifth
        counts = Counter(found.group() for found in _NAME.finditer(text, begin, stop))
        least = max(3, (stop - begin) // 60_000)
        names = frozenset(name for name, count in counts.most_common(25) if count >= least)
        return cls(names, _rate(sum(counts[name] for name in names), text.count(" ", begin, stop) + 1))

    def evidence(self, section: str, paragraphs: Sequence[str]) -> Evidence:
        """What `section` shows beside this story."""
        words = max(1, len(_WORD.findall(section)))
        found = sum(name in self.names for name in _NAME.findall(section))
        numbered = sum(bool(_NUMBERED.match(p)) for p in paragraphs) / max(1, len(paragraphs))
        return Evidence(
            words, _rate(found, words), self.rate, _rate(len(_EDITORIAL.findall(section)), words),
            _rate(len(_SPEECH.findall(section)), words), numbered,
        )  # fmt: skip


def _rate(count: int, words: int) -> float:
    return 1000 * count / max(1, words)
