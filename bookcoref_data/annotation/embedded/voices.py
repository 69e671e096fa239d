"""How each character talks: the words of the lines that are surely theirs, against those of the whole book.

A naive Bayes model over words and pairs of neighbouring words. It is learned from one reading of a book and
tells the next whose words a turn without a tag are likelier to be, or one whose tag has a pronoun.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from ...books import Book

_WEIGHT = 0.4
"""What the words of a turn weigh against everything else, for one word; of n words each weighs 1/sqrt(n) of
that, because they do not come one by one."""
_SMOOTHING = 2000
"""Words of the whole book that are mixed into those of a character."""
_LEAST_WORDS, _LEAST_TIMES = 300, 2
"""Words and pairs that a character must have said, and times that a word must occur, to count."""
_MARKS = frozenset(["!", "?", ";", ",", ".", "--"])


class Voices:
    """The voices of a book. `lines` says whose each sure quote is (number of the quote -> character)."""

    def __init__(self, book: Book, spans: Sequence[tuple[int, int]], lines: Mapping[int, int]) -> None:
        said = {q: list(_words(book.tokens[a : b + 1])) for q, (a, b) in enumerate(spans)}
        times = Counter(word for q in lines for word in said[q])
        known = {word: n for n, word in enumerate(w for w, count in times.items() if count >= _LEAST_TIMES)}
        self._said = {q: np.array([known[w] for w in words if w in known], dtype=np.intp)
                      for q, words in said.items()}  # fmt: skip
        book_share = np.array([times[word] for word in known], dtype=float)
        book_share /= max(book_share.sum(), 1.0)
        counts: dict[int, np.ndarray] = {}
        for q, who in lines.items():
            own = counts.setdefault(who, np.zeros(len(known)))
            np.add.at(own, self._said[q], 1)
        self._lean = {
            who: np.log((own + _SMOOTHING * book_share) / ((own.sum() + _SMOOTHING) * book_share))
            for who, own in counts.items() if own.sum() >= _LEAST_WORDS
        }  # fmt: skip

    def lean(self, quotes: Iterable[int], people: Sequence[int]) -> np.ndarray:
        """How much likelier (a logarithm) the words of these quotes are in the mouth of each of these people
        than in the book, weighed; 0 for people of whom too little is known."""
        words = np.concatenate([self._said[q] for q in quotes])
        if not len(words):
            return np.zeros(len(people))
        share = _WEIGHT / np.sqrt(len(words))
        return np.array([share * self._lean[e][words].sum() if e in self._lean else 0.0 for e in people])


def _words(tokens: Sequence[str]) -> Iterable[str]:
    """Words and marks in lower case, each alone and with the one before it."""
    last = ""
    for token in tokens:
        word = token.lower()
        if word in _MARKS or word.replace("'", "").isalpha():
            yield word
            if last:
                yield f"{last} {word}"
            last = word
