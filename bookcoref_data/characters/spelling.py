"""One spelling for titles that are spelt in several ways, and a title without what stands around it.

"20,000 Leagues Under the Sea" and "Twenty Thousand Leagues under the Seas", "Dr. Thorne" and "Doctor
Thorne", "Journey to the Center" and "... Centre", "Tom Jones" and "The History of Tom Jones, a Foundling".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from ..words import word_set
from ..words.numbers import TENS, UNITS
from .titles import Tokens, main_title, tokens, without_article

_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}\b)")
_MOST = 1_000_000  # larger numbers are no words in a title
_SHORT = {
    "dr": "doctor", "mr": "mister", "st": "saint", "ste": "saint", "mt": "mount", "no": "number",
    "grey": "gray", "waggon": "wagon", "defence": "defense", "licence": "license", "till": "until",
}  # fmt: skip
_BRITISH = (
    (re.compile(r"(?<=..[a-z])our(s?)$"), r"or\1"),  # colour, harbours; "hours" and "your" are too short
    (re.compile(r"(?<=.[btg])re(s?)$"), r"er\1"),  # centre, theatres, meagre
    (re.compile(r"(?<=...)ll(er|ers|ed|ing)$"), r"l\1"),  # traveller
    (re.compile(r"is(e|ed|ing|ation)$"), r"iz\1"),  # realise
)
_FRAME_WORDS = word_set(
    """
    the a an and true strange famous personal surprising tragical whole life lives adventure adventures
    history histories opinions story fortune fortunes misfortune misfortunes memoir memoirs tale romance
    tragedy comedy case travels voyages narrative legend confessions letters exploits experience expedition
    """
)
_PRAISED = word_set("famous celebrated renowned ingenious notorious unfortunate")
_BRACKET = re.compile(r"\s*[\[(]([^\])]*)[\])]\s*")


@lru_cache(maxsize=1 << 17)
def spelled(title: str) -> Tokens:
    """The words of a title in one spelling, without a leading article: numbers in words, no abbreviation."""
    words = without_article(tokens(_THOUSANDS.sub("", title)))
    return tuple(part for word in words for part in _one_spelling(word))


def singular(words: Tokens) -> Tokens:
    """The words without the "s" of a plural: "seas" and "sea" are the same."""
    return tuple(w[:-1] if len(w) > 3 and w[-1] == "s" and w[-2] not in "sui" else w for w in words)


@lru_cache(maxsize=1 << 16)
def _one_spelling(word: str) -> Tokens:
    if word.isdigit() and word.isascii() and int(word) < _MOST:
        return tuple(number_words(int(word)))
    word = _SHORT.get(word, word)
    for pattern, other in _BRITISH:
        word = pattern.sub(other, word)
    return (word,)


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
        if plain not in _FRAME_WORDS:
            return ""
    return ""
