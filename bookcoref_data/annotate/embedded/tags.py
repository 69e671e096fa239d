"""The words around a quote that say who speaks ("said Mr. Bennet", "she cried to him"), and vocatives."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

from ...books import Book
from ...words import honorifics
from . import lexicon as lex
from .markables import POSSESSIVE, SUBJECT, Markable
from .parsing import Parse
from .quotes import Speech

_STOPS = {".", "!", "?", ";", "\n"}
_REACH_AFTER, _REACH_BEFORE = 10, 24
_LEADS = {",", ":", "--", "—", "\n", ":--", ":—"}
_PAUSES = {",", "!", "?", ".", ";", "—", "--", "–", "”", '"', "’", "'", "''", "“", "‘", "``", "...", "…"}


@dataclass(slots=True)
class Tag:
    """What surrounds one quote: indices of markables, -1 for none.

    `subject` of the speech verb, `object` whom it is said to, `before` and `after` the nearest subjects of
    narration in the same paragraph, `vocatives` those addressed inside, `inside` all names inside.
    `position` is "after", "before" or "". `stranger` is set where the verb has a subject that is no
    markable ("said someone").
    """

    subject: int = -1
    object: int = -1
    before: int = -1
    after: int = -1
    position: str = ""
    vocatives: tuple[int, ...] = ()
    stranger: bool = False


def find_tags(book: Book, parse: Parse, speech: Speech, markables: list[Markable]) -> list[Tag]:
    """One `Tag` per quote."""
    starts = [m.at for m in markables]
    tags = []
    for number, (a, b) in enumerate(speech.spans):
        tag = Tag()
        _tag_after(book, parse, speech, markables, starts, b, tag)
        if tag.subject < 0:
            _tag_before(book, parse, speech, markables, starts, a, tag)
        tag.before = _subject_before(speech, markables, starts, a)
        tag.after = _subject_after(speech, markables, starts, b)
        tag.vocatives = tuple(
            k
            for k in range(bisect_left(starts, a), bisect_left(starts, b))
            if speech.quote[markables[k].at] == number and is_vocative(book, markables[k])
        )
        tags.append(tag)
    return tags


def _tag_after(book, parse, speech, markables, starts, b: int, tag: Tag) -> None:
    size = len(book.tokens)
    stop = b + 1
    while stop < min(size, b + 1 + _REACH_AFTER) and speech.quote[stop] < 0:
        if book.tokens[stop] in _STOPS and book.tokens[stop - 1].lower() not in honorifics.ABBREVIATED:
            break
        stop += 1
    _match(book, parse, markables, starts, b + 1, stop, tag, "after")


def _tag_before(book, parse, speech, markables, starts, a: int, tag: Tag) -> None:
    first = a
    while first > 0 and a - first < _REACH_BEFORE and speech.quote[first - 1] < 0:
        token = book.tokens[first - 1]
        if (
            token in _STOPS
            and book.tokens[first - 2].lower() not in honorifics.ABBREVIATED
            and (first < a - 1 or token != "\n")
        ):
            break
        first -= 1
    if first == a or speech.quote[a - 1] >= 0:
        return
    lead = book.tokens[a - 2] if book.tokens[a - 1] == "\n" and a > 1 else book.tokens[a - 1]
    if book.tokens[a - 1] in _LEADS or lead.endswith(("--", "—")) or _word(book, a - 1) in lex.SPEECH_VERBS:
        _match(book, parse, markables, starts, first, a, tag, "before")
    if tag.subject < 0 and not tag.stranger and (lead.endswith(("--", "—")) or lead[:1] == ":"):
        # "She turned to him:" leads to her words without saying so.
        inside = range(bisect_left(starts, first), bisect_left(starts, a))
        subjects = [k for k in inside if markables[k].role == SUBJECT]
        if subjects:
            tag.subject, tag.position = subjects[-1], "before"


def _word(book: Book, i: int) -> str:
    """A token as a word: lower case, without the dash that may hang on it ("spoke--")."""
    return book.tokens[i].lower().strip("-—_")


def _match(book, parse, markables, starts, low: int, high: int, tag: Tag, position: str) -> None:
    """The first speech verb in [low, high) that has a subject among the markables."""
    inside = range(bisect_left(starts, low), bisect_left(starts, high))
    verbs = [
        v for v in range(low, high) if _word(book, v) in lex.SPEECH_VERBS and parse.tag[v][:2] in ("VB", "NN")
    ]
    if position == "before":
        verbs.reverse()
    for v in verbs:
        subject = _subject_of(parse, markables, inside, v, low, position)
        if subject < 0:
            if v == low and position == "after":
                tag.stranger = parse.tag[v][:2] == "VB" and _has_subject(parse, v)
            continue
        tag.subject, tag.position, tag.stranger = subject, position, False
        for k in inside:
            m = markables[k]
            up = int(parse.head[m.head])
            direct = up == v and parse.dep[m.head] in ("dobj", "dative", "iobj") and k != subject
            if direct or (book.tokens[up].lower() in ("to", "with") and int(parse.head[up]) == v):
                tag.object = k
        return
    if tag.subject < 0:
        # "was her husband's answer"
        for k in inside:
            m = markables[k]
            owned = parse.dep[m.head] == "poss" or m.role == POSSESSIVE
            if owned and _word(book, int(parse.head[m.head])) in lex.SPEECH_NOUNS:
                tag.subject, tag.position, tag.stranger = k, position, False
                return


def _has_subject(parse: Parse, v: int) -> bool:
    return any(
        int(parse.head[i]) == v and parse.dep[i] == "nsubj" for i in range(v + 1, min(v + 6, len(parse.head)))
    )


def _subject_of(parse, markables, inside, v: int, low: int, position: str) -> int:
    for k in inside:
        m = markables[k]
        if int(parse.head[m.head]) == v and m.role == SUBJECT:
            return k
    for k in inside:
        m = markables[k]
        if m.start == v + 1 and position == "after" and not (m.kind == "pronoun" and m.role != SUBJECT):
            return k
        if m.end in (v - 1, v - 2) and (position == "before" or m.start == low) and m.role == SUBJECT:
            return k
    return -1


def _subject_before(speech, markables, starts, a: int) -> int:
    k = bisect_left(starts, a) - 1
    while k >= 0 and speech.paragraph[markables[k].at] == speech.paragraph[a]:
        if speech.quote[markables[k].at] < 0 and markables[k].role == SUBJECT:
            return k
        k -= 1
    return -1


def _subject_after(speech, markables, starts, b: int) -> int:
    k = bisect_left(starts, b + 1)
    while k < len(markables) and speech.paragraph[markables[k].at] == speech.paragraph[b]:
        if speech.quote[markables[k].at] >= 0:
            return -1
        if markables[k].role == SUBJECT:
            return k
        k += 1
    return -1


def is_vocative(book: Book, m: Markable) -> bool:
    """Whether a name or noun inside a quote addresses someone: set off by pauses, at least one a comma."""
    if m.kind == "pronoun" or (m.kind == "nominal" and m.noun not in lex.VOCATIVE_NOUNS):
        return False
    if m.kind == "nominal" and m.definite not in ("", "own"):
        return False
    start = m.start
    while start > 0 and book.tokens[start - 1].lower() in (
        "my",
        "dear",
        "dearest",
        "o",
        "oh",
        "ah",
        "poor",
        "good",
    ):
        start -= 1
    before = book.tokens[start - 1] if start else ""
    after = book.tokens[m.end + 1] if m.end + 1 < len(book.tokens) else ""
    if before not in _PAUSES or after not in _PAUSES:
        return False
    return before == "," or after in (",", "!") or start < m.start
