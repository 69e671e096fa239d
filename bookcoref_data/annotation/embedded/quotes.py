"""Paragraphs and direct speech: where it begins and ends, whatever marks a book uses.

Double marks ("...", “...”, „...“, «...» or ``...''), single ones ('...', ‘...’ or `...'), dashes at the
beginning of a paragraph, and the speaker lines of a play. The style is found once for a book, by counting.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ...books import Book
from ...words import QUOTE_MARKS, word_set
from . import lexicon as lex

DASHES = {"—", "--", "–", "―", "-"}
_OPEN_DOUBLE, _CLOSE_DOUBLE = {"“", "„", "``", "«"}, {"”", "''", "»"}
_ENDS = {".", "!", "?", ",", ";", ":", "—", "--", "–", "…", "...", "-", ".--", ",--"}
LONGEST_QUOTE = 1500
_INSERTED, _LONG_PARAGRAPH = 25, 120
"""Most tokens of a tag between two quotes, and of a paragraph of narration, where paragraphs are guessed."""
_ALIKE = str.maketrans({m: "'" for m in QUOTE_MARKS if not m[1:]} | dict.fromkeys("—–―", "--") | {"…": "..."})
_FEW_WORDS, _FEW_WITH_MARK, _LONG_DASHES = 5, 4, DASHES - {"-"}
_TAG_SUBJECTS, _REPORTED = lex.words("TAG_SUBJECTS"), lex.words("REPORTED")
_SPOKEN, _NO_SPEAKERS = lex.words("SPOKEN"), lex.words("NO_SPEAKERS")
_BASES = {v for v in lex.SPEECH_VERBS if {v + "s", v + "d", v + "ed", v + "es"} & lex.SPEECH_VERBS}
_TELLING = lex.SPEECH_VERBS - _BASES - word_set("begin cry reply shake tell think")
"""Verbs of a tag in a book that marks speech with dashes: "go" and "tell" are spoken there."""
_CLOSES_TAG = word_set(". , : ; ! ? — --")
_ASIDES = word_set("with as in while his her")


class Letter(NamedTuple):
    """Who wrote a letter to whom, as indices into the cast; -1 where that is nobody we know."""

    writer: int
    reader: int = -1


@dataclass(frozen=True, slots=True)
class Speech:
    """The quotes of a book. `paragraph` numbers the paragraph of every token, `quote` the quote it is in
    (-1 outside); `spans` are first and last token of each quote; `spoken_by` is a cast index where the
    book says it in a speaker line, -1 where the line names nobody of the cast (`others` counts them);
    `letters` has quotes that are parts of letters; `inner` are first and last token of what somebody cites
    inside a quote ("She said, 'I am tired.'"); `real_paragraphs` is False where they had to be guessed.
    """

    paragraph: np.ndarray
    quote: np.ndarray
    spans: list[tuple[int, int]]
    spoken_by: dict[int, int]
    style: str
    real_paragraphs: bool
    letters: dict[int, Letter] = field(default_factory=dict)
    others: Counter[str] = field(default_factory=Counter)
    inner: tuple[tuple[int, int], ...] = ()


def find_speech(
    book: Book, parse_sentence: np.ndarray, names: dict[str, int], paragraph: np.ndarray | None = None
) -> Speech:
    """Find paragraphs and quotes. `names` maps upper-cased names of the cast to their index (for plays, in
    which others have speaker lines, too); `paragraph` numbers the paragraph of every token where that is
    known from elsewhere.
    """
    tokens = book.tokens
    real = paragraph is not None
    if paragraph is None:
        paragraph, real = _paragraphs(tokens, parse_sentence)
    starts = bounds_of(paragraph)[:-1] if len(paragraph) else []
    names = _others_who_speak(tokens, starts, names) | names
    style = _style(tokens, starts, names)
    spans: list[tuple[int, int]] = []
    spoken_by: dict[int, int] = {}
    others = Counter[str]()
    if style == "play":
        spans, spoken_by, others = _speaker_lines(tokens, starts, names)
    elif style == "dash":
        spans = _dash_quotes(tokens, starts)
    elif style != "none":
        marked = _marked_quotes(tokens, paragraph, style, real)
        spans = [(a, b) for a, b in marked if not _only_cited(tokens, a, b)]
    if not real and spans:
        paragraph = _guess_paragraphs(tokens, parse_sentence, spans)
    quote = np.full(len(tokens), -1, dtype=np.int32)
    for i, (a, b) in enumerate(spans):
        quote[a : b + 1] = i
    inner = _inner_quotes(tokens, spans, paragraph, style)
    return Speech(paragraph, quote, spans, spoken_by, style, real, others=others, inner=inner)


def with_marks_alike(tokens: Sequence[str], spans: Iterable[tuple[int, int]]) -> tuple[str, ...]:
    """The tokens with " around speech, ' for every other mark and apostrophe, -- for a dash and ... for an
    ellipsis: what is read must not hang on the marks of an edition. `spans` as in `Speech`."""
    alike = [token if token.isalpha() else token.translate(_ALIKE) for token in tokens]
    for i in {i for span in spans for i in span if tokens[i] in QUOTE_MARKS}:
        alike[i] = '"'
    return tuple(alike)


def marked_speech(tokens: Sequence[str], sentence: np.ndarray) -> list[tuple[int, int]]:
    """First and last token of what stands between marks of speech; `sentence` numbers the sentences."""
    paragraph, real = _paragraphs(tokens, sentence)
    style = _style(tokens, bounds_of(paragraph)[:-1] if len(paragraph) else [], {})
    return _marked_quotes(tokens, paragraph, style, real) if style in ("double", "single") else []


def _paragraphs(tokens: Sequence[str], sentence: np.ndarray) -> tuple[np.ndarray, bool]:
    """Paragraph numbers from the line-end tokens; sentence numbers when the book has none."""
    ends = np.fromiter((t == "\n" for t in tokens), dtype=bool, count=len(tokens))
    if ends.sum() * 400 < len(tokens) or not len(tokens):
        return sentence.copy(), False
    numbers = np.concatenate(([0], np.cumsum(ends)[:-1]))
    return numbers.astype(np.int32), True


def bounds_of(paragraph: np.ndarray) -> list[int]:
    """The first token of every paragraph, and the token behind the last; `paragraph` as in `Speech`."""
    return [0, *(np.flatnonzero(np.diff(paragraph)) + 1).tolist(), len(paragraph)]


def _style(tokens: Sequence[str], starts: list[int], names: dict[str, int]) -> str:
    counts = Counter(tokens)
    two_ticks = sum(a == b == "`" for a, b in pairwise(tokens)) if counts["`"] else 0
    double = sum(counts[t] for t in _OPEN_DOUBLE) + two_ticks + counts['"'] / 2
    single = counts["‘"] or max(counts["`"] - 2 * two_ticks, _straight_single(tokens))
    first = Counter(tokens[i] for i in starts)
    dashes = sum(first[d] for d in DASHES)
    lines = sum(_speaker_line(tokens, i, names) is not None for i in starts)
    size = max(len(tokens), 1)
    if lines >= 5 and lines > 0.2 * len(starts) and lines > double:
        return "play"
    if dashes > max(5, 2 * double, 2 * single, 0.03 * len(starts)):
        return "dash"
    if double >= single and double * 3000 >= size:
        return "double"
    if single > double and single * 3000 >= size:
        return "single"
    return "double" if double else "none"


def _straight_single(tokens: Sequence[str]) -> float:
    """How often a lone ' stands where speech may begin."""
    around = zip(("", *tokens), tokens, (*tokens[1:], ""), strict=False)
    return sum(t == "'" and after[:1].isupper() and not before.isalpha() for before, t, after in around)


def _marked_quotes(
    tokens: Sequence[str], paragraph: np.ndarray, style: str, real: bool
) -> list[tuple[int, int]]:
    """Quotes between marks; a quote left open ends with its paragraph (speech that goes on)."""
    spans: list[tuple[int, int]] = []
    begin = -1
    double = style == "double"
    for i in range(len(tokens)):
        if begin >= 0 and real and paragraph[i] != paragraph[begin]:
            end = i - 1
            while end > begin and tokens[end] == "\n":
                end -= 1
            spans.append((begin, end))
            begin = -1
        inside = tokens[begin] if begin >= 0 else ""
        mark = _double_mark(tokens, i, inside, paragraph) if double else _single_mark(tokens, i, begin)
        # “Run—“ at the end of a line: who made the marks curly took the dash for a beginning.
        turned = begin >= 0 and tokens[i] in ("“", "«", "‘") and not "".join(tokens[i + 1 : i + 2]).strip()
        mark = "close" if turned and mark == "open" else mark
        if mark == "open":
            if begin >= 0 and i - 1 > begin:
                spans.append((begin, i - 1))
            begin = i
        elif mark == "close" and begin >= 0:
            spans.append((begin, i))
            begin = -1
        elif begin >= 0 and i - begin > LONGEST_QUOTE:
            begin = -1
    if begin >= 0:
        spans.append((begin, len(tokens) - 1))
    return [(a, b) for a, b in spans if b > a]


def _inner_quotes(
    tokens: Sequence[str], spans: Sequence[tuple[int, int]], paragraph: np.ndarray, style: str
) -> tuple[tuple[int, int], ...]:
    """What is cited inside quotes, between marks of the other kind that are closed."""
    found = []
    for a, b in spans if style in ("double", "single") else ():
        begin = -1
        for i in range(a + 1, b):
            if style == "double":
                mark = _single_mark(tokens, i, begin)
            else:
                mark = _double_mark(tokens, i, tokens[begin] if begin >= 0 else "", paragraph)
            if mark == "open":
                begin = i
            elif mark == "close" and begin >= 0:
                found.append((begin, i))
                begin = -1
    return tuple((a, b) for a, b in found if not _only_cited(tokens, a, b))


def _only_cited(tokens: Sequence[str], a: int, b: int) -> bool:
    """Whether marks are around words of a sentence that nobody says: 'the “strangers’ room” of the house',
    'this strange “exploration,” as'. Of 600 such quotes in 17 novels of PDNC 30 were speech."""
    before, words = tokens[max(a - 4, 0) : a], tokens[a + 1 : b]
    if tokens[b] not in QUOTE_MARKS or not words or not "".join(before[-1:])[-1:].isalpha():
        return False
    told = not lex.SPEECH_VERBS.isdisjoint(word.lower() for word in before)
    if words[-1] in (",", "."):
        return len(words) <= _FEW_WITH_MARK and not told
    return len(words) <= _FEW_WORDS and words[-1][-1:].isalpha() and not (told and words[0][:1].isupper())


def _double_mark(tokens: Sequence[str], i: int, inside: str, paragraph: np.ndarray) -> str:
    """What a token does to a quote that the double mark `inside` opened ("" outside): "open", "close", ""."""
    token = tokens[i]
    if token == "“" and inside == "„":
        return "close"
    if token in _OPEN_DOUBLE or (token == "`" and [*tokens[i : i + 2]] == ["`", "`"]):
        return "open"
    if token in _CLOSE_DOUBLE:
        return "close"
    if token != '"':
        return ""
    new = i == 0 or paragraph[i] != paragraph[i - 1]
    return "open" if new or not inside else "close"


def _single_mark(tokens: Sequence[str], i: int, begin: int) -> str:
    """What a token does to a quote between single marks that began there (-1: none); apostrophes nothing."""
    token = tokens[i]
    if token in ("‘", "`"):
        return "open"
    if token not in ("’", "'"):
        return ""
    before = tokens[i - 1] if i else ""
    after = tokens[i + 1] if i + 1 < len(tokens) else ""
    if begin >= 0:
        # "the grain ‘elevator’ at the north end"
        word = begin and i - begin <= _FEW_WORDS and tokens[begin - 1].isalpha()
        curly = token == "’" and (after in ("", "\n") or after in _LONG_DASHES or word)
        return "close" if before in _ENDS or curly else ""
    begins = not before.isalpha() and (after[:1].isupper() or not before or before in _ENDS)
    return "open" if token == "'" and begins else ""


def _guess_paragraphs(
    tokens: Sequence[str], sentence: np.ndarray, spans: Sequence[tuple[int, int]]
) -> np.ndarray:
    """Where a text has no line ends: which sentences and quotes begin a paragraph.

    In 83 novels whose paragraphs are known, that is right at 98 of 100 places between two quotes, at 82
    behind a quote, at 80 before one; what goes on between sentences of narration, nothing tells.
    """
    opens, ends = dict(spans), {b + 1 for _, b in spans}
    inside = np.zeros(len(tokens) + 1, dtype=bool)
    for a, b in spans:
        inside[a + 1 : b + 1] = True
    begins = np.zeros(len(tokens), dtype=np.int32)
    before = last = 0
    for i in sorted({*(np.flatnonzero(np.diff(sentence)) + 1).tolist(), *(ends & opens.keys())}):
        if inside[i]:
            continue
        if i in opens:
            # A tag between two quotes: the second goes on, unless it has a tag of its own.
            told = next((b for b in range(i, max(before, i - _INSERTED) - 1, -1) if b in ends), -1)
            goes_on = 0 <= told < i and (told > before or _is_tag(tokens, told))
            begins[i] = not goes_on or (tokens[opens[i] - 1] != "." and _is_tag(tokens, opens[i] + 1))
        else:
            begins[i] = not _is_tag(tokens, i) if i in ends else i - last > _LONG_PARAGRAPH
        before, last = i, i if begins[i] else last
    return np.cumsum(begins).astype(np.int32)


def _is_tag(tokens: Sequence[str], i: int) -> bool:
    """Whether words behind a quote go on with its sentence, or say who spoke."""
    words = "".join(tokens[i : i + 1]), *tokens[i + 1 : i + 3]
    return words[0][:1].islower() or not lex.SPEECH_VERBS.isdisjoint(word.lower() for word in words)


def _dash_quotes(tokens: Sequence[str], starts: list[int]) -> list[tuple[int, int]]:
    """From a dash that opens a paragraph to its end, without the words that name the speaker.

    "—I was, Tom said with energy. You know it." has two quotes. What follows a tag is speech again, as in
    Joyce, unless it tells in the past of a third person. A dash behind a mark closes speech for good.
    """
    spans = []
    for begin, stop in pairwise([*starts, len(tokens)]):
        if tokens[begin] not in DASHES:
            continue
        stop = next((i for i in range(begin, stop) if tokens[i] == "\n"), stop)
        while begin + 1 < stop:
            end, after = stop, stop
            for i in range(begin + 1, stop):
                behind = tokens[i - 1] in _ENDS and (
                    stop if tokens[i] in DASHES else _behind_tag(tokens, i, stop)
                )
                if behind:
                    end, after = i, behind
                    break
            if end - 1 > begin:
                spans.append((begin, end - 1))
            begin, rest = after, tokens[after:stop]
            if rest and rest[0] in ("He", "She", "They") and not _SPOKEN & {word.lower() for word in rest}:
                break
    return spans


def _behind_tag(tokens: Sequence[str], i: int, stop: int) -> int:
    """The token behind a tag ("said Tom,", "the old man cried, laughing.") that begins here; 0 where none."""
    words = [token.lower() for token in tokens[i:stop]]
    verb = next((n for n, word in enumerate(words[:6]) if word in _TELLING), -1)
    subject, behind = words[: max(verb, 0)], words[verb + 1 : verb + 2]
    names = not subject or subject[0] in _TAG_SUBJECTS or tokens[i].istitle()
    reported = subject and {*behind} & _REPORTED
    if verb < 0 or reported or not names or not all(word.rstrip(".").isalpha() for word in subject):
        return 0
    for n in range(verb + 1, len(words)):
        after = words[n + 1 : n + 2]
        on = words[n] == "," and after and (after[0] in _ASIDES or after[0].endswith("ing"))
        if words[n] in _CLOSES_TAG and not on:
            return i + n + 1
    return stop


def _speaker_line(tokens: Sequence[str], i: int, names: dict[str, int]) -> tuple[int, int] | None:
    """(cast index, first token of the speech) when a paragraph begins "HAMLET." or "Hamlet:"."""
    for name, point, after in _first_names(tokens, i):
        who = names.get(name.upper())
        if who is not None and (point == ":" or (point == "." and name.isupper())):
            return who, after
    return None


def _first_names(tokens: Sequence[str], i: int) -> Iterator[tuple[str, str, int]]:
    """What may be the name of a speaker line, longest first: words, mark, and the first token behind it."""
    for length in (3, 2, 1):
        name = " ".join(tokens[i : i + length])
        if name.endswith("."):
            yield name[:-1].rstrip(), ".", i + length
        else:
            yield name, tokens[i + length] if i + length < len(tokens) else "", i + length + 1


def _others_who_speak(tokens: Sequence[str], starts: list[int], names: dict[str, int]) -> dict[str, int]:
    """Names in capitals of at least three speaker lines that are nobody's of the cast: -1, or -2 where
    somebody of the cast shares a word with it."""
    known = {word for name in names for word in name.replace(".", "").split()}
    found = Counter[str]()
    for i in starts:
        for name, point, _ in _first_names(tokens, i):
            words = name.replace(".", "").split()
            if point in (".", ":") and name.isupper() and len(name) > 2 and all(w.isalpha() for w in words):
                found[name] += not _NO_SPEAKERS & {*words}
                break
    often = [name for name, times in found.items() if times > 2]
    return {name: -2 if known & {*name.replace(".", "").split()} else -1 for name in often}


def _speaker_lines(
    tokens: Sequence[str], starts: list[int], names: dict[str, int]
) -> tuple[list[tuple[int, int]], dict[int, int], Counter[str]]:
    spans: list[tuple[int, int]] = []
    spoken_by: dict[int, int] = {}
    others = Counter[str]()
    for begin, stop in pairwise([*starts, len(tokens)]):
        found = _speaker_line(tokens, begin, names)
        while stop > begin and tokens[stop - 1] == "\n":
            stop -= 1
        if found and found[1] < stop:
            if found[0] >= -1:
                spoken_by[len(spans)] = found[0]
            if found[0] == -1:
                others[" ".join(tokens[begin : found[1]]).replace(" .", ".").rstrip(".: ")] += 1
            spans.append((found[1], stop - 1))
    return spans, spoken_by, others
