"""Where to cut a stream of characters into tokens and sentences: a frozen rule, and what departs from it.

The rule (pack format 1) looks at a few characters on both sides of every gap and reduces them to one of
65,536 contexts. For each context that occurs, a pack says what usually happens there in this book; for
each gap where something else happens, it says what. So the rule needs no model of English and no
tokenizer, and adapts to any tokenizer that behaves regularly.

A *gap* follows a character. What can happen in a gap after a token's last character is written as a
*pattern* over `n` (a token "\\n") and `|` (the end of a sentence), in order; patterns are stored as whole
numbers: a leading 1 bit, then one bit each, 0 for `n`, 1 for `|`.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..errors import DataError
from .chars import BLANK_LINE, WORD, CharStream, classes_of, symbols_of
from .varint import pack_increasing, pack_numbers, unpack_increasing, unpack_numbers

CONTEXTS = 1 << 16
NONE, END, NEWLINE = 1, 3, 2
"""The patterns "", "|" and "n"."""
LONGEST_PATTERN = 37

_APOSTROPHES = (0x27, 0x2019)
_QUOTES = (0x22, 0x27, 0x29, 0x5F, 0x2019, 0x201D)
_M = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, slots=True)
class Cuts:
    """`token_ends`: index of the last character of every token that is not "\\n", increasing;
    `patterns`: one per gap, len(token_ends) + 1 of them, the first before the first token."""

    token_ends: np.ndarray
    patterns: np.ndarray


class _View:
    """A stream seen as symbols, with the reading of neighbours that stops at gaps with white space."""

    def __init__(self, stream: CharStream) -> None:
        pad = 4
        self.size = len(stream)
        self.pad = pad
        self.word = (classes_of(stream.codes) & WORD) > 0
        self.after = stream.after
        self.codes = np.zeros(self.size + 2 * pad, dtype=stream.codes.dtype)
        self.codes[pad : pad + self.size] = stream.codes
        self.open = np.zeros(self.size + 2 * pad, dtype=bool)
        self.open[pad : pad + self.size] = stream.after == 0
        if self.size:
            self.open[pad + self.size - 1] = False

    def code(self, at: np.ndarray) -> np.ndarray:
        codes: np.ndarray = self.codes[at + self.pad]
        return codes

    def joined(self, at: np.ndarray) -> np.ndarray:
        """No white space between character `at` and the next."""
        open_gaps: np.ndarray = self.open[at + self.pad]
        return open_gaps

    def symbol(self, at: np.ndarray) -> np.ndarray:
        return symbols_of(self.code(at))

    def word_before(self, at: np.ndarray, where: np.ndarray) -> np.ndarray:
        """A number for the word that ends at `at`, exact up to four characters; 1 for longer ones, 0 where
        there is none or `where` is false."""
        result = np.zeros(len(at), dtype=np.uint64)
        at = at[where]
        value = np.zeros(len(at), dtype=np.uint64)
        inside = np.ones(len(at), dtype=bool)
        for back in range(5):
            spot = np.maximum(at - back, -self.pad)
            if back:
                inside &= self.joined(spot)
            inside &= (classes_of(self.code(spot)) & WORD) > 0
            value = np.where(inside, value * np.uint64(0x10001) + self.code(spot), value)
        result[where] = np.where(inside, np.uint64(1), value)
        return result


def _context(*parts: np.ndarray) -> np.ndarray:
    key = np.zeros(len(parts[0]), dtype=np.uint64)
    for part in parts:
        key = (key ^ part.astype(np.uint64)) * _M
        key ^= key >> np.uint64(29)
    context: np.ndarray = ((key * _M) >> np.uint64(48)).astype(np.int64)
    return context


def _open_candidates(view: _View) -> np.ndarray:
    """Gaps without white space at which a token may end by rule: not between two word characters,
    except before "n't" and inside "cannot"."""
    if view.size < 2:
        return np.zeros(0, dtype=np.int64)
    joined = view.after[:-1] == 0
    chosen = joined & ~(view.word[:-1] & view.word[1:])
    marks = np.flatnonzero(~view.word)
    marks = marks[np.isin(view.code(marks), _APOSTROPHES)]
    letters = _is(view, marks - 1, "nN") & _is(view, marks + 1, "tT")
    not_ending = letters & view.joined(marks - 1) & view.joined(marks)
    gaps = marks[not_ending] - 2
    chosen[gaps[(gaps >= 0) & view.joined(gaps)]] = True
    is_n = view.codes[4 : 4 + view.size] == 110
    double = np.flatnonzero(joined & is_n[:-1] & is_n[1:])
    spelled = np.ones(len(double), dtype=bool)
    for offset, letters in ((-2, "cC"), (-1, "a"), (2, "o"), (3, "t")):
        spelled &= _is(view, double + offset, letters)
        spelled &= view.joined(double + offset - (offset > 0))
    chosen[double[spelled]] = True
    return np.flatnonzero(chosen)


def _is(view: _View, at: np.ndarray, letters: str) -> np.ndarray:
    return np.isin(view.code(np.clip(at, -view.pad, view.size + view.pad - 1)), [ord(c) for c in letters])


def _token_contexts(view: _View, gaps: np.ndarray) -> np.ndarray:
    left, right = view.symbol(gaps), view.symbol(gaps + 1)
    left2 = np.where(view.joined(gaps - 1), view.symbol(gaps - 1), 0)
    right2 = np.where(view.joined(gaps + 1), view.symbol(gaps + 2), 0)
    detail = view.word_before(gaps, right == 0x2E)
    near = np.isin(left, _APOSTROPHES) | np.isin(right, _APOSTROPHES)
    exact = view.code(gaps + 2).astype(np.uint64) * np.uint64(131) + view.code(gaps + 1)
    exact = exact * np.uint64(131) + view.code(gaps)
    detail = np.where(near, np.where(view.joined(gaps + 1), exact, view.code(gaps + 1)), detail)
    both = view.word[gaps] & view.word[np.minimum(gaps + 1, view.size - 1)]
    return _context(left2, left, right, right2, detail, both)


def _sentence_contexts(view: _View, gaps: np.ndarray) -> np.ndarray:
    last = view.symbol(gaps)
    before = np.where(view.joined(gaps - 1), view.symbol(gaps - 1), 0)
    before2 = np.where(view.joined(gaps - 1) & view.joined(gaps - 2), view.symbol(gaps - 2), 0)
    # What a quotation mark closes matters, what stands before a plain mark does not.
    before2 = np.where(np.isin(last, _QUOTES) & ~view.word[np.maximum(gaps - 1, 0)], before2, 0)
    before = np.where((before < 4) & (before > 0), 1, before)
    before2 = np.where((before2 < 4) & (before2 > 0), 1, before2)
    following = view.symbol(gaps + 1)
    following2 = np.where(view.joined(gaps + 1) & (following > 3), view.symbol(gaps + 2), 0)
    detail = view.word_before(gaps - 1, last == 0x2E)
    return _context(last, before, before2, following, following2, detail, view.after[gaps])


def _sentence_candidates(view: _View, token_ends: np.ndarray) -> np.ndarray:
    """Indices into `token_ends` (never the last): white space follows, after a mark or by a blank line."""
    inner = token_ends[:-1]
    after = view.after[inner]
    return np.flatnonzero((after == BLANK_LINE) | ((after > 0) & ~view.word[inner]))


def _seen(contexts: np.ndarray) -> np.ndarray:
    flags = np.zeros(CONTEXTS, dtype=bool)
    flags[contexts] = True
    return np.flatnonzero(flags)


def encode_cuts(stream: CharStream, cuts: Cuts) -> dict[str, bytes]:
    """The parts of a pack that say where `cuts` fall in `stream`; see docs/pack-format.md. Raises DataError:
    a gap holds more than `LONGEST_PATTERN` line ends and sentence ends."""
    view = _View(stream)
    ends = np.zeros(len(stream), dtype=bool)
    ends[cuts.token_ends] = True
    open_gaps = _open_candidates(view)
    contexts = _token_contexts(view, open_gaps)
    actual = ends[open_gaps]
    usual = np.bincount(contexts, weights=np.where(actual, 1, -1), minlength=CONTEXTS) > 0
    spaced = np.flatnonzero(stream.after[:-1] > 0)
    hidden = ends.copy()
    hidden[open_gaps] = False
    hidden[spaced] = False
    hidden[-1:] = False
    if int(cuts.patterns.max(initial=1)).bit_length() > LONGEST_PATTERN:
        raise DataError("too many line ends in a row as tokens", expected=f"at most {LONGEST_PATTERN - 1}")
    chosen = _sentence_candidates(view, cuts.token_ends)
    gaps = _sentence_contexts(view, cuts.token_ends[chosen])
    there = cuts.patterns[chosen + 1]
    counts = np.stack([np.bincount(gaps, there == kind, minlength=CONTEXTS) for kind in (NONE, END, NEWLINE)])
    likely = counts.argmax(axis=0)
    predicted = _predicted(len(cuts.token_ends), chosen, likely[gaps])
    wrong = np.flatnonzero(predicted != cuts.patterns)
    return {
        "token_contexts": np.packbits(usual[_seen(contexts)]).tobytes(),
        "token_flips": pack_increasing(np.flatnonzero(actual != usual[contexts])),
        "token_joins": pack_increasing(np.flatnonzero(~ends[spaced])),
        "token_splits": pack_increasing(np.flatnonzero(hidden)),
        "sentence_contexts": likely[_seen(gaps)].astype(np.uint8).tobytes(),
        "pattern_places": pack_increasing(wrong),
        "patterns": pack_numbers(cuts.patterns[wrong]),
    }


def _predicted(tokens: int, chosen: np.ndarray, outcomes: np.ndarray) -> np.ndarray:
    patterns = np.full(tokens + 1, NONE, dtype=np.int64)
    patterns[chosen + 1] = np.array([NONE, END, NEWLINE])[outcomes]
    if tokens:
        patterns[-1] = END
    return patterns


def decode_cuts(stream: CharStream, parts: Mapping[str, bytes]) -> Cuts:
    """Inverse of `encode_cuts`. Raises DataError: the parts do not fit the stream."""
    view = _View(stream)
    open_gaps = _open_candidates(view)
    contexts = _token_contexts(view, open_gaps)
    seen = _seen(contexts)
    bits = np.frombuffer(parts["token_contexts"], dtype=np.uint8)
    if bits.size != (seen.size + 7) // 8:
        raise _misfit("token contexts", (seen.size + 7) // 8, bits.size)
    usual = np.zeros(CONTEXTS, dtype=bool)
    usual[seen] = np.unpackbits(bits, count=seen.size)
    at_open = usual[contexts]
    flips = unpack_increasing(parts["token_flips"], open_gaps.size, "token flips")
    at_open[flips] ^= True
    ends = stream.after > 0
    spaced = np.flatnonzero(ends[:-1])
    ends[open_gaps] = at_open
    ends[spaced[unpack_increasing(parts["token_joins"], spaced.size, "token joins")]] = False
    ends[unpack_increasing(parts["token_splits"], len(stream), "token splits")] = True
    ends[-1:] = True
    token_ends = np.flatnonzero(ends)
    chosen = _sentence_candidates(view, token_ends)
    contexts = _sentence_contexts(view, token_ends[chosen])
    seen = _seen(contexts)
    outcomes = np.frombuffer(parts["sentence_contexts"], dtype=np.uint8)
    if outcomes.size != seen.size or (outcomes.size and outcomes.max() > 2):
        raise _misfit("sentence contexts", seen.size, outcomes.size)
    usual = np.zeros(CONTEXTS, dtype=np.uint8)
    usual[seen] = outcomes
    patterns = _predicted(len(token_ends), chosen, usual[contexts])
    places = unpack_increasing(parts["pattern_places"], patterns.size, "pattern places")
    values = unpack_numbers(parts["patterns"], "patterns")
    if values.size != places.size:
        raise _misfit("patterns", places.size, values.size)
    if values.size and (values.min() < 1 or int(values.max()).bit_length() > LONGEST_PATTERN):
        raise _misfit("pattern", f"1 to {LONGEST_PATTERN} bits", int(values.max()))
    patterns[places] = values
    return Cuts(token_ends, patterns)


def _misfit(what: str, expected: object, found: object) -> DataError:
    return DataError(
        f"the {what} of the pack do not fit the text", expected=expected, found=found,
        hint="the text is another edition than the pack was made from, or the pack is damaged",
    )  # fmt: skip
