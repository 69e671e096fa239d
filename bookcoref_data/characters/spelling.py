"""One spelling for titles that are spelt in several ways, and a title without what stands around it.

"20,000 Leagues Under the Sea" and "Twenty Thousand Leagues under the Seas", "Dr. Thorne" and "Doctor
Thorne", "Journey to the Center" and "... Centre", "Tom Jones" and "The History of Tom Jones, a Foundling".
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from ..words import word_set
from ..words.honorifics import HONORIFICS
from ..words.numbers import ORDINALS, ROMAN, TENS, UNITS, roman_value
from .titles import WORDS, WORKS_IN_ONE, Tokens, fold, main_title, tokens, without_article

_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}\b)")
_MOST = 1_000_000  # larger numbers are no words in a title
_SHORT: dict[str, str] = WORDS["spellings"]
_BRITISH = [(re.compile(ending), other) for ending, other in WORDS["british"].items()]
_FRAME_WORDS, _PRAISED = word_set(WORDS["frame"]["words"]), word_set(WORDS["frame"]["praised"])
_FRAME_RANKS = word_set(WORDS["frame"]["ranks"])
_ROMAN = re.compile(
    rf"(?=..|[vx])(?=[ivx]+$){ROMAN}"
)  # "i" is a pronoun more often, "c" and "l" are initials
_BRACKET = re.compile(r"\s*[\[(]([^\])]*)[\])]\s*")


@lru_cache(maxsize=1 << 17)
def spelled(title: str) -> Tokens:
    """The words of a title in one spelling: numbers in words, nothing short, no "the", no leading article."""
    words = without_article(tokens(_THOUSANDS.sub("", title)))
    return tuple(part for word in words if word != "the" for part in _one_spelling(word)) or words


def singular(words: Tokens) -> Tokens:
    """The words without the "s" of a plural: "seas" and "sea" are the same."""
    return tuple(w[:-1] if len(w) > 3 and w[-1] == "s" and w[-2] not in "sui" else w for w in words)


@lru_cache(maxsize=1 << 16)
def _one_spelling(word: str) -> Tokens:
    if (value := number_value(word)) is not None and value < _MOST:
        return tuple(number_words(value))
    word = _SHORT.get(word, word)
    for pattern, other in _BRITISH:
        word = pattern.sub(other, word)
    return (word,)


def number_value(word: str) -> int | None:
    """The number that a folded word is: "12", "xii", "twelfth"; "twelve" and other words are none."""
    if word.isdigit() and word.isascii():
        return int(word)
    if word in ORDINALS:
        return ORDINALS.index(word) + 1
    return roman_value(word) if _ROMAN.fullmatch(word) else None


def number_words(number: int) -> Iterator[str]:
    """A number from 0 to 999,999 in English words, without "and"."""
    if number < len(UNITS):
        yield UNITS[number]
        return
    for size, name in ((1000, "thousand"), (100, "hundred")):
        if number >= size:
            yield from number_words(number // size)
            yield name
            number %= size
    if number >= len(UNITS):
        yield TENS[number // 10 - 2]
        number %= 10
    if number:
        yield UNITS[number]


def bracketed(title: str) -> list[str]:
    """What stands before a bracket and what stands in it: "Camille (La Dame aux Camilias)" has two names."""
    found = _BRACKET.search(title)
    if not found:
        return []
    return [part for part in (title[: found.start()].strip(), found.group(1).strip()) if part]


def cores(title: str) -> list[str]:
    """A title without its frame ("The Life and Adventures of"), what a comma adds, or both."""
    before = main_title(title).split(", ")[0].strip()
    return [text for text in (before, _unframed(before), _unframed(main_title(title))) if text]


def _unframed(title: str) -> str:
    words = title.split()
    for place, word in enumerate(words[:-1]):
        plain = word.lower().strip(",;")
        if place and plain == "of":
            rest = words[place + 1 :]
            praised = len(rest) > 2 and rest[0].lower() == "the" and rest[1].lower() in _PRAISED
            return " ".join(rest[2:] if praised else rest)
        if plain in _FRAME_RANKS and not place and len(words) > 2:
            return " ".join(words[1:])  # "King Henry V" is "Henry V"
        if plain not in _FRAME_WORDS:
            return ""
    return ""


_POSSESSIVE = re.compile(r"^(?:the )?([^\s,:;]+(?: [^\s,:;]+){0,2}?)(?:['’]s|s['’]) (.+)$", re.I | re.S)
_OF_NAME = re.compile(r"^(.+?),? (?:of|by) ((?:(?:[^\W\d_]+\.?|de|von|of) ?){1,5})$", re.S)


def without_names(title: str, names: frozenset[str]) -> list[str]:
    """A title without the author's own name: "Confessions of St. Augustine", "Aesop's Fables".

    `names` are the folded words of all names of the author; more than half of the words must be among them.
    """
    found = []
    for pattern, rest, name in ((_OF_NAME, 1, 2), (_POSSESSIVE, 2, 1)):
        match = pattern.match(main_title(title))
        words = [w for w in tokens(match[name]) if w not in HONORIFICS] if match else []
        plurals = {f"{word}s" for word in names} if pattern is _POSSESSIVE else frozenset()
        if match and 2 * sum(w in names or w in plurals for w in words) > len(words):
            found.append(match[rest])
    return found


def nearly_same(one: str, other: str) -> bool:
    """Whether two titles differ in the letters of one word only: "Thérèse Raquin", "Theresa Raquin"."""
    mine, theirs = one.split(), other.split()
    apart = [pair for pair in zip(mine, theirs, strict=False) if pair[0] != pair[1]]
    if len(mine) != len(theirs) or len(apart) != 1:
        return False
    a, b = apart[0]
    if min(len(a), len(b)) < 5 or {a, b} & {*UNITS, *TENS}:
        return False
    # How many letters must be changed, added or left out (Levenshtein's distance)
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, start=1):
        before, row[0] = row[0], i
        for j, y in enumerate(b, start=1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (x != y))
    return row[-1] <= (2 if min(len(a), len(b)) >= 7 else 1)


_AFFIX = {name: word_set(words) for name, words in WORDS["affix"].items()}
_ELSEWHERE, _WORDINGS, _COLLECTED = (_AFFIX[name] for name in ("elsewhere", "wordings", "collected"))


def begins_or_ends(work: str, record: str) -> bool:
    """Whether the shorter title, of two words or more, begins or ends the longer.

    A work must not be longer and begin like the record: "Pride and Prejudice and Zombies" has Jane Austen
    among its authors. A record that is longer is mostly a sequel or a piece ("The Second Jungle Book", "Mrs
    Dalloway in Bond Street"): it must end in a collection's title, or go on as one of an edition does.
    """
    mine, theirs = work.split(), record.split()
    if min(len(mine), len(theirs)) < 2:
        return False
    if len(mine) <= len(theirs):
        if theirs[: len(mine)] == mine:
            beyond = theirs[len(mine) :]
            return not _ELSEWHERE.intersection(beyond[:1]) or bool(_WORDINGS.intersection(beyond[1:2]))
        return theirs[-len(mine) :] == mine and not _COLLECTED.isdisjoint(theirs[:2])
    # "Daisy Miller and Washington Square" are two works.
    return mine[-len(theirs) :] == theirs and mine[-len(theirs) - 1 :][:1] != ["and"]


def segments(title: str) -> list[str]:
    """What stands behind a colon, a comma or a bracket: "Inferno" of "The Divine Comedy: Inferno".

    A volume of several works ("A; B; C") is none of them.
    """
    if WORKS_IN_ONE.search(title):
        return []
    return [part for text in re.split(r"[:;,(\r\n]\s*", title)[1:] if (part := text.strip(" ).\n\r"))]


def part_number(title: str) -> tuple[int, str] | None:
    """(number, what follows) of "Part II", "(Vol. 1)", "Second Part"; None when the title names no part."""
    found = _PART.search(fold(title))
    if not found:
        return None
    word = next(group for group in found.groups() if group)
    number = number_value(word) if word not in UNITS else UNITS.index(word)
    return (1 if word == "i" else number or 0), fold(title)[found.end() :]


_NUMBER = rf"\d+|{ROMAN}(?<=[ivxlc])|{'|'.join(UNITS[1:])}"
_PART = re.compile("|".join(WORDS["editions"]["part"]).format(number=_NUMBER, ordinal="|".join(ORDINALS)))
