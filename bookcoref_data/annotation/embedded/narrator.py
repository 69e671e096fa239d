"""Find who says "I" outside quotes where the text makes it plain: for the book, or for parts with a heading
such as "Dr. Seward's Diary" or "Narrative Continued by the Doctor"."""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

import numpy as np

from ...books.layout import find_chapters
from ...words import OWNS, word_set
from ...words.honorifics import HONORIFICS
from ..cast import Entry
from ..narration import Narration, throughout
from . import lexicon as lex
from .markables import SUBJECT, Markable, is_vocative
from .quotes import bounds_of
from .text import Text

_LEAST_RATE = 0.008
"""Least share of "I", "me", "my" among the tokens of the narration of a first-person book."""
_LEAST_FIRST = 10
"""Least number of them."""
_ENOUGH, _OFTEN = 2.0, 400
"""Least points of a narrator, and the number of "I" from which on it takes one more."""
_LETTERS = word_set("letter note telegram memorandum")
"""Papers that end with their chapter; others go on to the next heading that names a narrator."""
_PAPERS = _LETTERS | lex.words("PAPERS")
_TOLD = lex.words("TOLD")
_PREFACES = frozenset(["preface", "foreword", "introduction"])
_NEAR = 6
"""Words before a name that may say that it is the narrator's."""
_STRETCHES, _OF_CHAPTERS, _BESIDE = 20, 5000, 2
"""Parts of a book in each of which calls count once, if it has so many tokens; paragraphs to either side of a
call that show "I"."""
_MANY, _THIRD_PERSON = 20, 0.1
"""Least "I" that a chapter should have by the rate of the others, and the share of it below which the chapter
is told in the third person."""
_TOLD_OF = 1.5
"""Points taken for every time the narration tells what somebody did."""
_MY = frozenset(["my", "me", "myself", "i"])
_FAMILY = frozenset(["family", "father", "mother", "brother", "sister"])
_NAMING = frozenset(["called", "call", "calls", "name", "named", "christened", "baptised", "styled"])
_HEADING_WORDS = 24
_OWNS = {"'s", "'"}
_SHORT_WORD, _RAISED = 3, 0.6
"""Words of a title that may be small have so many letters; least share of the others with a capital."""
_SIGNS_OF_PROSE = frozenset([",", ";", "!", "?"])


def find_narration(text: Text) -> tuple[tuple[Narration, ...], str]:
    """The narrators of the book with their tokens, and why; parts without a known narrator are left out."""
    size = len(text.book.tokens)
    sections = find_sections(text)
    if not sections:
        who, why = find_narrator(text)
        return _without_third_person(text, throughout(who, text.book)), why
    who, _ = find_narrator(text, sections)
    found: list[Narration] = []
    at = 0
    for section in (*sections, Narration(size, size, who)):
        if section.start > at and who >= 0:
            found.append(Narration(at, section.start, who))
        if section.end > section.start:
            found.append(section)
        at = section.end
    return _without_third_person(text, found), "headings name the narrators"


def _without_third_person(text: Text, narration: Sequence[Narration]) -> tuple[Narration, ...]:
    """The narration without the chapters that hardly have an "I" where the others have many ("Esther's
    Narrative" ends where "Lady Dedlock" goes on in the third person), and without the author's preface."""
    if not narration:
        return ()
    size = len(text.book.tokens)
    first, outside = np.zeros(size + 1, dtype=np.int64), np.zeros(size + 1, dtype=np.int64)
    first[1:] = np.bincount([m.at for m in text.markables if text.is_tellers(m)], minlength=size)
    outside[1:] = text.speech.quote < 0
    first, outside = np.cumsum(first), np.cumsum(outside)
    told = sum(int(outside[n.end] - outside[n.start]) for n in narration)
    rate = sum(int(first[n.end] - first[n.start]) for n in narration) / max(told, 1)
    starts = [start for _, start in find_chapters(text.book)]
    found: list[Narration] = []
    for n in narration:
        bounds = [n.start, *(at for at in starts if n.start < at < n.end), n.end]
        for a, b in pairwise(bounds):
            expected = rate * (outside[b] - outside[a])
            third = expected >= _MANY and first[b] - first[a] < _THIRD_PERSON * expected
            if third or (a == 0 and b in starts and _is_anothers_preface(text, b, n.narrator)):
                continue
            if found and found[-1].end == a and a > n.start:
                found[-1] = Narration(found[-1].start, b, n.narrator)
            else:
                found.append(Narration(a, b, n.narrator))
    return tuple(found)


def _is_anothers_preface(text: Text, end: int, who: int) -> bool:
    """Whether a preface stands before the first chapter at token `end`, and does not name the narrator: he
    would sign his own."""
    lines = " ".join(text.book.tokens[:end]).lower().split("\n")
    words = [line.split() for line in lines]
    headed = any(w[0] in _PREFACES for w in words if 0 < len(w) <= _HEADING_WORDS)
    return headed and not any(m.character == who and m.at < end for m in text.markables)


def find_sections(text: Text) -> list[Narration]:
    """Parts of a book whose headings say who tells them, and that are told in the first person."""
    if not text.speech.real_paragraphs:
        return []
    size = len(text.book.tokens)
    heads = list(_narrator_headings(text))
    chapters = [start for _, start in find_chapters(text.book)]
    first = np.zeros(size + 1, dtype=np.int32)
    outside = np.concatenate(([0], np.cumsum(text.speech.quote < 0)))
    for m in text.markables:
        if text.is_tellers(m):
            first[m.at + 1] = 1
    first = np.cumsum(first)
    found = []
    for k, (start, who, paper, sure) in enumerate(heads):
        end = heads[k + 1][0] if k + 1 < len(heads) else size
        if paper in _LETTERS:
            after = bisect_left(chapters, start + 1)
            end = min(end, chapters[after] if after < len(chapters) else size)
        often = int(first[end] - first[start])
        told = not sure and any(
            m.character == who and m.kind == "name" and m.role == SUBJECT and start <= m.at < end
            and text.speech.quote[m.at] < 0 for m in text.markables
        )  # fmt: skip
        if not told and often >= 3 and often >= _LEAST_RATE * (outside[end] - outside[start]):
            found.append(Narration(start, end, who))
    return found


def _narrator_headings(text: Text) -> Iterator[tuple[int, int, str, bool]]:
    """(first token, narrator, word for the paper or for telling, whether that is sure) of headings that name
    who tells what follows: "The Story of Anna" may be told by her or about her."""
    tokens, ms = text.book.tokens, text.markables
    starts = [m.at for m in ms]
    for a, b in pairwise(bounds_of(text.speech.paragraph)):
        words = [t for t in tokens[a:b] if t.strip()]
        if not 2 <= len(words) <= _HEADING_WORDS or words[-1] in _SIGNS_OF_PROSE:
            continue
        if text.speech.quote[a] >= 0 or not _is_raised(words):
            continue
        for m in ms[bisect_left(starts, a) : bisect_left(starts, b)]:
            who = _named(text, m)
            paper = _paper(tokens, a, b, m) if who >= 0 else ""
            if paper and not (words[-1] == "." and paper in words):  # "This was Mr. Casaubon's letter.'
                yield a, who, paper, tokens[m.start - 1].lower() != "of" or tokens[m.end + 1] in _OWNS
                break


def _is_raised(words: Sequence[str]) -> bool:
    """Whether the words are written as in a title: "The story of Marian begins here" is prose."""
    long = [w for w in words if len(w) > _SHORT_WORD and w.isalpha()]
    return bool(long) and sum(w[0].isupper() for w in long) >= _RAISED * len(long)


def _named(text: Text, m: Markable) -> int:
    """The character whom a heading names: by name, or by a title that only one bears ("the Doctor").

    "A Letter from Little Dorrit" is not of her father, who has no "Little": a word that none of his names has
    and that the book writes small, too.
    """
    if m.kind == "name":
        who = text.people[m.character].entry if m.character >= 0 else Entry("")
        known = {w.lower() for name in (who.name, *who.aliases) for w in name.split()} | HONORIFICS
        strange = {t.lower() for t in text.book.tokens[m.start : m.end + 1]} - known
        return -1 if any(w in text.book.tokens for w in strange) else m.character
    title = lex.TITLE_NOUNS.get(m.noun, "")
    bearers = [i for i, p in enumerate(text.people) if title and title in p.titles]
    return bearers[0] if len(bearers) == 1 else -1


def _paper(tokens: Sequence[str], a: int, b: int, m: Markable) -> str:
    """The word that makes a heading with this name the heading of a narrator: "X's Journal", "told by X",
    "the Narrative of X", "Letter from X to Y", "Letter, X to Y"; "" where there is none."""
    before = [t.lower() for t in tokens[a : m.start]]
    after = [t.lower() for t in tokens[m.end + 1 : b]]
    if _OWNS & {*after[:1]}:
        return next((w for w in after[1:4] if w in _PAPERS), "")
    link = before[-1:] or [""]
    if link[0] in ("by", "of", "from"):
        said = [w for w in before[:-1] if w in _PAPERS or (w in _TOLD and link[0] == "by")]
        return said[0] if said else ""
    if link[0] in (",", "--", ":", ".") and after[:1] == ["to"]:
        return next((w for w in before if w in _LETTERS), "")
    return ""


def find_narrator(text: Text, sections: Sequence[Narration] = ()) -> tuple[int, str]:
    """(cast index, why), or (-1, why not).

    Someone narrates if "I" is frequent outside quotes. Who: a name that others say to the narrator and
    that the narration itself does not use of a third person. Points are given for being addressed, for
    "my name is X", "called me X", "I, X" and headings such as "X's Journal", and taken for every time the
    narration tells what X did. `sections` are parts with a narrator of their own; they do not count.
    """
    elsewhere = text.speech.quote < 0
    for section in sections:
        elsewhere[section.start : section.end] = False
    ms = [m for m in text.markables if not any(s.start <= m.at < s.end for s in sections)]
    outside = int(elsewhere.sum())
    first = sum(text.is_tellers(m) for m in ms)
    if not outside or first < _LEAST_FIRST or first < _LEAST_RATE * outside:
        return -1, "told in the third person"
    points, told = _points(text, ms)
    points -= _TOLD_OF * told
    if not len(points) or points.max() < _ENOUGH - 1.0 * (told.sum() == 0) + (first >= _OFTEN):
        return -1, "told in the first person, but the text does not make plain by whom"
    order = np.argsort(-points)
    if len(order) > 1 and points[order[1]] >= points[order[0]]:
        return -1, "told in the first person, but more than one character could be meant"
    return int(order[0]), "addressed by others and never told of in the third person"


def _points(text: Text, ms: Sequence[Markable]) -> tuple[np.ndarray, np.ndarray]:
    """What speaks for each character as the narrator, and how often the narration tells what each did.

    Calls count where "I" stands near, and in each of `_STRETCHES` parts of a book with chapters once: others
    are called, too, and somebody whom one chapter visits is called in that chapter only.
    """
    points = np.zeros(len(text.people))
    told = np.zeros(len(text.people))
    mine = {int(text.speech.paragraph[m.at]) for m in ms if text.is_tellers(m)}
    called, size = set(), len(text.book.tokens)
    for m in ms:
        if m.kind != "name" or m.character < 0:
            continue
        quoted = bool(text.speech.quote[m.at] >= 0)
        at = int(text.speech.paragraph[m.at])
        called_here = quoted and is_vocative(text.book, m)
        if called_here and not mine.isdisjoint(range(at - _BESIDE, at + _BESIDE + 1)):
            called.add((m.character, _STRETCHES * m.at // size if size >= _OF_CHAPTERS else m.at))
        points[m.character] += sum(n for n, speaks in _SIGNS if speaks(text, m, quoted))
        told[m.character] += not quoted and m.role == SUBJECT
    for who, _ in called:
        points[who] += 1
    return points, told


def _words_before(text: Text, m: Markable) -> list[str]:
    return [t.lower() for t in text.book.tokens[max(0, m.start - _NEAR) : m.start]]


def _is_own_name(text: Text, m: Markable, quoted: bool) -> bool:
    """ "My name is X", "they called me X"; not "my brother, called X"."""
    near = set(_words_before(text, m))
    return not quoted and bool(near & _NAMING and near & _MY) and not near & _FAMILY


def _is_apposed(text: Text, m: Markable, quoted: bool) -> bool:
    """ "I, X", "I am X"."""
    return not quoted and _words_before(text, m)[-2:] in (["i", ","], ["i", "am"], ["i", "'m"])


def _is_author(text: Text, m: Markable, quoted: bool) -> bool:
    """ "X's Journal", as in a heading; "X's letter" is in anybody's story."""
    owns, paper = [*text.book.tokens[m.end + 1 : m.end + 3], "", ""][:2]
    return owns.lower() in OWNS and paper[:1].isupper() and paper.lower() in _PAPERS


_SIGNS: tuple[tuple[int, Callable[[Text, Markable, bool], bool]], ...] = (
    (3, _is_own_name),
    (3, _is_apposed),
    (5, _is_author),
)
"""Points for signs that a name is the narrator's."""
