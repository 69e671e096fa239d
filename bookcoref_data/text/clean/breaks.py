"""Which ends of paragraphs are tokens: all of them, or those that the release keeps.

In the released tokens a paragraph's end is a token "\\n" only where their sentence splitter saw no end of
a sentence: behind a closing quotation mark, a colon, a heading; between two sentences it is gone. That
rule gives exactly the 268 of Siddhartha and brings the counts of all books to those of the paper's Table 8
(docs/cleaning.md). For corpora of our own every paragraph keeps its token.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..tokens import Tokenized

_ENDS = frozenset(".!?)") | {"..."}


def drop_released_breaks(found: Tokenized) -> Tokenized:
    """The same tokens without those closing "\\n" that stand behind the end of a sentence."""
    sentences: list[list[str]] = []
    starts: list[int] = []
    at = 0
    for sentence in found.sentences:
        kept = len(sentence) - _closes(sentence)
        sentences.append(sentence[:kept])
        starts += found.starts[at : at + kept]
        at += len(sentence)
    return Tokenized(sentences, starts)


def count_as_released(sentences: Sequence[Sequence[str]]) -> int:
    """The number of tokens with the release's paragraph tokens, as the paper counts."""
    return sum(len(sentence) - _closes(sentence) for sentence in sentences)


def _closes(sentence: Sequence[str]) -> bool:
    return len(sentence) > 1 and sentence[-1] == "\n" and sentence[-2] in _ENDS
