"""Titles and authors reduced to what can be compared: tokens, main titles, names as sets of words.

Gutenberg writes "Tolstoy, Leo, graf", Wikidata "Leo Tolstoy", a study guide "Count Leo Tolstoy"; Gutenberg
writes "Ivanhoe: A Romance", the others "Ivanhoe". Every function here is one step between such spellings.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from ..words import word_set
from ..words.honorifics import HONORIFICS, NAME_SUFFIXES

Tokens = tuple[str, ...]

_BRACKETS = re.compile(r"[\[(][^\])]*[\])]")
_YEARS = re.compile(r"\b\d{3,4}\??(?:\s?[-–]\s?\d{0,4}\??)?(?:\s?(?:BCE?|AD))?")
_APOSTROPHE = re.compile(r"['’‘`´]")
_WORD = re.compile(r"[^\W_]+")
LETTERS = {"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th"}
"""Letters that are not taken apart into a letter and an accent, as they are compared."""
_LETTERS = str.maketrans(LETTERS)


ARTICLES = word_set(
    """
    the a an le la les l un une der die das ein eine el los las il lo i gli uno una de het een o os as
    """
)
# Authors: "Dumas, Alexandre (père)" and "Dumas fils" are told apart by dates, not by these words.
_NOT_THE_NAME = HONORIFICS | NAME_SUFFIXES | {"fils"}
PARTICLES = word_set(
    """
    de du des la le van von der den di da del della saavedra y e d l
    """
)
_SUBTITLE = re.compile(
    r"\s*[:;]\s+|\s*[\r\n]+\s*|\s+[—–]\s+|\s+--\s*|,?\s+\bor,?\s+(?=[A-Z\"“'])|,\s+or\b,?\s+|,\s+being\s+"
)
_EDITION_WORDS = re.compile(
    r"[\s,;:.—–-]+[\[(]?(?:complete|unabridged|illustrated(?: edition)?)[.)\]]*$", re.I
)
_WORKS_IN_ONE = re.compile(r";(?!\s+or\b)[^;]+;(?!\s+or\b)", re.I)
_COMPANION = re.compile(r",?\s+(?:and|&|with)\s+(?:selected|other|others|twelve|some|more)\b.*", re.I | re.S)


def fold(text: str) -> str:
    """Lower case, no accents, no apostrophes, one spelling of ligatures."""
    if text.isascii():
        return text.lower().replace("'", "").replace("`", "")
    plain = unicodedata.normalize("NFKD", _APOSTROPHE.sub("", text).casefold().translate(_LETTERS))
    return "".join(c for c in plain if not unicodedata.combining(c))


def plain_tokens(text: str) -> Tokens:
    """Words in lower case without punctuation; accents stay ("exact" in the paper's sense)."""
    return tuple(_WORD.findall(_APOSTROPHE.sub("", unicodedata.normalize("NFC", text)).casefold()))


@lru_cache(maxsize=1 << 16)
def tokens(text: str) -> Tokens:
    """Words in lower case without punctuation and accents."""
    return tuple(_WORD.findall(fold(text.replace("&", " and "))))


def without_article(words: Tokens) -> Tokens:
    """Without a leading article; a title that is only an article stays."""
    return words[1:] if len(words) > 1 and words[0] in ARTICLES else words


@lru_cache(maxsize=1 << 17)
def main_title(title: str) -> str:
    """The part before a subtitle: before ":", ";", a line break, a dash, ", or"; without ", Complete".

    "A; B; C" is a volume of three works and has no main title.
    """
    title = title.strip()
    if _WORKS_IN_ONE.search(title):
        return title
    while (shorter := _EDITION_WORDS.sub("", title)) != title and shorter:
        title = shorter
    return _SUBTITLE.split(title, maxsplit=1)[0].strip()


def second_title(title: str) -> str:
    """The part behind "or": "Virtue Rewarded" of "Pamela, or Virtue Rewarded"; "" when there is none."""
    parts = re.split(r"[,;:]?\s*[\r\n]*\s*\bor,?[:;]?\s+", title.strip(), maxsplit=1, flags=re.I)
    return parts[1].strip() if len(parts) == 2 and parts[0] else ""


def without_companions(title: str) -> str:
    """Of "The Awakening, and Selected Short Stories" the named work, of "A; B; C" the first."""
    if _WORKS_IN_ONE.search(title):
        title = title.partition(";")[0]
    return _COMPANION.sub("", title).strip()


def squeezed(words: Tokens) -> str:
    """All words in one: "box-car children" and "boxcar children" are the same."""
    return "".join(words)


_ELDER = word_set("père pere sr senior aîné aine elder")
_YOUNGER = word_set("fils jr junior jeune younger ii")


def generation(name: str) -> str:
    """ "elder" or "younger" where a name says so ("Dumas, Alexandre (père)", "Holmes, Jr."), else ""."""
    words = set(tokens(name))
    return "elder" if words & _ELDER else "younger" if words & _YOUNGER else ""


# -- authors -----------------------------------------------------------------------------------------


def exact_author(name: str) -> str:
    """The words of a name as a set: "Austen, Jane" and "Jane Austen" are the same, accents count."""
    return _as_set(plain_tokens(_YEARS.sub("", _BRACKETS.sub(" ", name))))


def folded_author(name: str) -> str:
    """As `exact_author`, without accents, ranks and courtesy titles ("Tolstoy, Leo, graf")."""
    return _as_set(_name_tokens(name))


@lru_cache(maxsize=1 << 16)
def initial_authors(name: str) -> tuple[str, ...]:
    """Every reading of a name as family name and initial: "cervantes m", "saavedra m".

    The family name is what stands before the comma, else the last word; of a family name of several
    words every one counts. Nothing for a name of one word.
    """
    return tuple(_initial_authors(name))


def _initial_authors(name: str) -> Iterator[str]:
    clean = _YEARS.sub("", _BRACKETS.sub(" ", name))
    head, comma, rest = clean.partition(",")
    if comma:
        family, given = _drop_ranks(tokens(head)), _drop_ranks(tokens(rest.split(",")[0]))
    else:
        words = _drop_ranks(tokens(clean))
        given, family = words[:1], words[1:]
        # "Miguel de Cervantes Saavedra": behind a particle everything is family name, else the last word is.
        if not any(word in PARTICLES for word in family[:-1]):
            family = family[-1:]
    initials = [word[0] for word in given if word not in PARTICLES][:1]
    for word in family:
        if word not in PARTICLES or len(family) == 1:
            for initial in initials:
                yield f"{word} {initial}"


def single_author(name: str) -> str:
    """A name of one word, such as "Stendhal", "Voltaire", "Homer"; "" for others."""
    words = _name_tokens(name)
    return words[0] if len(words) == 1 else ""


@lru_cache(maxsize=1 << 16)
def _name_tokens(name: str) -> Tokens:
    return _drop_ranks(tokens(_YEARS.sub("", _BRACKETS.sub(" ", name))))


def _drop_ranks(words: Tokens) -> Tokens:
    kept = tuple(word for word in words if word not in _NOT_THE_NAME)
    return kept or words


def _as_set(words: Tokens) -> str:
    return " ".join(sorted(set(words)))
