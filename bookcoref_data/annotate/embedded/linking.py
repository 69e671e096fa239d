"""The steps `link` and `filter`: names of the cast in the text, and the reasons to distrust one."""

from __future__ import annotations

from collections import Counter

from ...books import Book
from ...words import honorifics
from ..cast import Cast
from ..state import Dropped, Marked
from . import lexicon as lex
from .names import NameTable, book_words, name_words
from .parsing import Parse

_SCORE = {"name": 0.98, "alias": 0.97, "title + name": 0.96, "title + surname": 0.93}


def link_names(book: Book, cast: Cast, parse: Parse, step: str) -> tuple[list[Marked], list[str]]:
    """Every name of the cast in the book with the character it is tied to; and notes on what was learned."""
    words = book_words(book.tokens)
    table = NameTable(cast)
    notes = table.learn(words)
    hits = table.find(words)
    marked = []
    for hit, (who, rule) in zip(hits, table.settle(hits), strict=True):
        start, end = name_span(book, parse, hit.start, hit.end)
        if table.people[who].common and not _definite(book, start):
            continue
        base = _SCORE.get(rule.split(",")[0], 0.9)
        score = round(base - 0.1 * ("," in rule), 3)
        marked.append(Marked(start, end, who, step, rule, score, "name"))
    return marked, notes


def _definite(book: Book, start: int) -> bool:
    """Whether a common noun that serves as a name is used as one: "the dogs" or "Dogs", not "many dogs"."""
    first = book.tokens[start]
    return (first.lower() == "the" and book.tokens[start + 1].lower() not in ("other", "same")) or (
        first[:1].isupper()
    )


_FIRSTS = lex.MALE_FIRST | lex.FEMALE_FIRST
_LEFT = {"det", "amod", "compound", "nmod", "poss"}
_NO_PART = frozenset(["poor", "dear", "good", "all", "chapter", "book", "part", "ere", "my", "your", "thy"])


def name_span(book: Book, parse: Parse, start: int, end: int) -> tuple[int, int]:
    """The maximal span around a name: "the late Lady Belmont", "her cousin Edith", "Sir Luke of the Office".

    To the left whatever hangs on the name as determiner, adjective, title or noun for a person, without a
    gap; to the right words of the same name and an adjoining "of" phrase. LitBank leaves "poor" and "my
    dear" outside, and so do we.
    """
    left = start
    while left > 0 and parse.sentence[left - 1] == parse.sentence[start]:
        if not _joins_left(book, parse, left - 1, end):
            break
        left -= 1
    right = end
    while (
        right + 1 < len(book.tokens)
        and parse.tag[right + 1] == "NNP"
        and int(parse.head[right]) == right + 1
        and parse.dep[right] == "compound"
        and book.tokens[right + 1].lower() not in lex.PLACES
    ):
        right += 1
    of = right + 1
    adjoins = of + 1 < len(book.tokens) and book.tokens[of] == "of" and left <= int(parse.head[of]) <= right
    if adjoins and parse.right[of] - right <= 8:
        right = max(right, int(parse.right[of]))
    return left, right


def _joins_left(book: Book, parse: Parse, i: int, end: int) -> bool:
    word, tag = book.tokens[i], parse.tag[i]
    low = word.lower().rstrip(".")
    if int(parse.head[i]) not in range(i + 1, end + 1) or parse.dep[i] not in _LEFT or low in _NO_PART:
        return False
    if tag == "NN":
        return low in lex.PERSON_NOUNS or low in lex.TITLES
    if tag == "NNP":
        return word[:1].isupper() and (low in lex.TITLES or low in lex.PERSON_NOUNS or low in _FIRSTS)
    if tag == "PRP$":
        return i + 1 < end  # "her cousin Edith", but not "her Edith"
    return low == "the" if tag == "DT" else tag in ("JJ", "JJS")


def filter_names(
    book: Book, cast: Cast, parse: Parse, mentions: tuple[Marked, ...], step: str
) -> tuple[list[Marked], list[Dropped]]:
    """Keep each name, or drop it with a reason."""
    table = NameTable(cast)
    table.learn(book_words(book.tokens))
    kept, dropped = [], []
    for m in mentions:
        reason = _doubt(book, table, parse, m) if m.kind == "name" else ""
        if reason:
            dropped.append(Dropped(m.start, m.end, m.character, step, reason, m.score))
        else:
            kept.append(m)
    return kept, dropped


def _doubt(book: Book, table: NameTable, parse: Parse, m: Marked) -> str:
    """Why a name does not mean the character, or ""."""
    person = table.people[m.character]
    own = {*name_words(person.entry.name), *person.first, *person.last.split()}
    for alias in person.entry.aliases:
        own.update(name_words(alias))
    start, end = _core(book, m, own)
    words = [book.tokens[i] for i in range(start, end + 1)]
    bare = len(words) == 1
    first_word = words[0].strip("_").lower().rstrip(".")
    if bare and not person.common and parse.tag[start] not in _NAME_TAGS and _begins(book, parse, start):
        return "begins a sentence and is not used as a name"
    if bare and parse.tag[end] == "NNPS" and start and book.tokens[start - 1].lower() == "the":
        return "the whole family, not one of them"
    nxt = book.tokens[end + 1] if end + 1 < len(book.tokens) else ""
    if nxt[:1].isupper() and nxt.isalpha():
        low = nxt.lower()
        if low in lex.PLACES and int(parse.head[end]) == end + 1:
            return "part of the name of a place"
        surname = parse.tag[end + 1] in ("NNP", "NNPS") and int(parse.head[end]) == end + 1
        if surname and person.last and low not in own and first_word in {*person.first}:
            return "part of another name"
    prv = book.tokens[start - 1] if start else ""
    low = prv.strip("_").lower().rstrip(".")
    if prv == "." and start > 1:
        low = book.tokens[start - 2].lower()
    if low in lex.TITLES and low not in own and prv[:1].isupper() | (prv == "."):
        gender = honorifics.honorific_gender(low)
        if gender and person.gender in ("m", "f") and gender != person.gender:
            return "title of another gender"
    elif (
        prv[:1].isupper()
        and prv.strip(".").isalpha()
        and low not in own
        and low not in lex.PERSON_NOUNS
        and bare
        and parse.tag[start - 1] == "NNP"
        and int(parse.head[start - 1]) in range(start, end + 1)
        and person.first
        and person.last == first_word
    ):
        return "surname of someone else"
    return ""


_NAME_TAGS = {"NNP", "NNPS", "NN", "NNS", "JJ", "UH", "FW", "VB", "VBP", "XX"}


def _core(book: Book, m: Marked, own: set[str]) -> tuple[int, int]:
    """The tokens of the name itself inside its maximal span."""
    inside = [
        i
        for i in range(m.start, m.end + 1)
        if book.tokens[i].strip("_").lower().rstrip(".").replace("’", "'") in own
    ]
    return (inside[0], inside[-1]) if inside else (m.start, m.end)


def _begins(book: Book, parse: Parse, i: int) -> bool:
    return i == 0 or parse.sentence[i] != parse.sentence[i - 1] or not book.tokens[i - 1][:1].isalpha()


def never_found(cast: Cast, mentions) -> list[str]:
    """A note per character whose name the text does not have."""
    counts = Counter(m.character for m in mentions)
    return [
        f"the name {entry.name!r} does not occur in the text"
        for i, entry in enumerate(cast.entries)
        if not counts[i]
    ]
