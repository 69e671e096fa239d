"""Letters in a book: from "My dear Anna," to the signature, they are speech of whoever signs.

A letter is found by its signature: a short paragraph with a name alone, after a greeting some paragraphs
before. Its paragraphs are quotes of the writer, to whom the greeting names. Paragraphs of a letter that hold
quotes themselves are left as they are.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from ...books import Book
from ...words import word_set
from ..state import Marked
from . import lexicon as lex
from .quotes import Letter, Speech, bounds_of

_REACH = 60
"""Most paragraphs of a letter."""
_SHORT = 12
"""Most words of a signature with what stands before the name ("I am, dear Sir, yours truly, ...")."""
_GREETING_WORDS = 9
_MARKS = {'"', "'", "_", "\n", "(", ")", "["}
_GREETS = word_set("dear dearest sir madam beloved honoured respected")
_CLOSES = lex.words("CLOSES")
_ENDS_GREETING = word_set(", : -- ! . ,-- -")


def with_letters(book: Book, speech: Speech, names: Sequence[Marked]) -> Speech:
    """The speech of a book with its letters as quotes of their writers; `names` are the linked names."""
    if not speech.real_paragraphs:
        return speech
    paragraphs = list(pairwise(bounds_of(speech.paragraph)))
    found = list(_letters(book, speech, paragraphs, names))
    return _with_quotes(book, speech, found) if found else speech


def _letters(
    book: Book, speech: Speech, paragraphs: Sequence[tuple[int, int]], names: Sequence[Marked]
) -> Iterator[tuple[Sequence[tuple[int, int]], Letter]]:
    """(paragraphs, writer and reader) of each letter. The writer is -1 where the signature is nobody's we
    know."""
    by_start = {m.start: m for m in names}
    greeting, reader = -1, -1
    for k, (a, b) in enumerate(paragraphs):
        words = [i for i in range(a, b) if book.tokens[i] not in _MARKS]
        if not words:
            continue
        outside = greeting >= 0 and speech.quote[paragraphs[greeting][0]] >= 0
        if outside and (speech.quote[list(words)] < 0).any():
            # Narration follows on a greeting between marks: that is talk, or a letter that is broken off.
            greeting = -1
        if _greets(book, words):
            named = (by_start[i].character for i in words[:_GREETING_WORDS] if i in by_start)
            greeting, reader = k, next(named, -1)
            continue
        writer = _signer(book, words, by_start) if greeting >= 0 and k - greeting <= _REACH else None
        if writer is not None:
            yield paragraphs[greeting : k + 1], Letter(writer, reader if reader != writer else -1)
        if writer is not None or k - greeting > _REACH:
            greeting = -1


def _signer(book: Book, words: Sequence[int], by_start: Mapping[int, Marked]) -> int | None:
    """The character who signs in a paragraph; None where it is no signature."""
    signed = [m for i in words if (m := by_start.get(i)) is not None and m.end >= words[-1] - 1]
    return signed[-1].character if signed and _signs(book, words, signed[-1]) else None


def _greets(book: Book, words: Sequence[int]) -> bool:
    """Whether a paragraph begins as letters do: "My dear Mr. Hill,", "Sir:", "Dearest Anna --"."""
    first = [book.tokens[i] for i in words[:_GREETING_WORDS]]
    low = [t.lower() for t in first]
    at = 1 if low[0] == "my" else 0
    if len(low) <= at + 1 or low[at] not in _GREETS or not first[0][:1].isupper():
        return False
    if low[at] in ("sir", "madam"):
        # "Sir, you are mistaken" is no letter.
        return (at == 0 and low[1] in (":", ",--", "--")) or len(words) <= 3
    end = next((n for n, t in enumerate(first) if n > at and t in _ENDS_GREETING and low[n - 1] != "mr"), -1)
    capitals = all(t[:1].isupper() or t in ("and", ".", "of") for t in first[at + 1 : end])
    return end > at + 1 and capitals


def _signs(book: Book, words: Sequence[int], name: Marked) -> bool:
    """Whether a paragraph is a signature: it ends in a name, alone or after words that close a letter."""
    before = [book.tokens[i].lower() for i in words if i < name.start]
    if len(words) > _SHORT + 3:
        return False
    closing = any(word in _CLOSES for word in before)
    alone = all(not word.isalpha() or word in lex.TITLES for word in before)
    return closing or (alone and len(words) <= 5 and book.tokens[words[-1]] not in ("!", "?", ","))


def _with_quotes(
    book: Book, speech: Speech, letters: Sequence[tuple[Sequence[tuple[int, int]], Letter]]
) -> Speech:
    """Letters that stand between quotation marks get their writer; others become quotes of their own."""
    spans = list(speech.spans)
    written: dict[tuple[int, int], Letter] = {}
    for paragraphs, letter in letters:
        low, high = paragraphs[0][0], paragraphs[-1][1]
        inside = [span for span in speech.spans if low <= span[0] < high]
        marked = speech.quote[low] >= 0
        if marked:
            written |= dict.fromkeys(inside, letter)
            continue
        for a, b in paragraphs:
            words = [i for i in range(a, b) if book.tokens[i] != "\n"]
            if words and (speech.quote[words[0] : words[-1] + 1] < 0).all():
                span = words[0], words[-1]
                spans.append(span)
                written[span] = letter
    spans.sort()
    quote = np.full(len(speech.quote), -1, dtype=np.int32)
    for i, (a, b) in enumerate(spans):
        quote[a : b + 1] = i
    number = {span: i for i, span in enumerate(spans)}
    old = [number[span] for span in speech.spans]
    return replace(
        speech, spans=spans, quote=quote,
        spoken_by={old[q]: who for q, who in speech.spoken_by.items()},
        letters={number[span]: letter for span, letter in written.items()},
    )  # fmt: skip
