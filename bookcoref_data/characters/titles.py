"""Titles and authors reduced to what can be compared: tokens, main titles, names as sets of words.

Gutenberg writes "Tolstoy, Leo, graf", Wikidata "Leo Tolstoy", a study guide "Count Leo Tolstoy"; Gutenberg
writes "Ivanhoe: A Romance", the others "Ivanhoe". Every function here is one step between such spellings.
"""

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from ..resources import load_toml, resource
from ..words import word_set
from ..words.honorifics import HONORIFICS, NAME_SUFFIXES

Tokens = tuple[str, ...]

WORDS: dict[str, Any] = load_toml(resource("manifests", "titles.toml"))
"""The word lists and patterns of titles and names."""

_BRACKETS = re.compile(r"[\[(]([^\])]*)[\])]")
_YEARS = re.compile(r"\b\d{3,4}\??(?:\s?[-–]\s?\d{0,4}\??)?(?:\s?(?:BCE?|AD))?")
_APOSTROPHE = re.compile(r"['’‘`´]")
_WORD = re.compile(r"[^\W_]+")
LETTERS = {"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th"}
"""Letters that are not taken apart into a letter and an accent, as they are compared."""
_LETTERS = str.maketrans(LETTERS)

ARTICLES = word_set(WORDS["articles"])
PARTICLES = word_set(WORDS["particles"])
_ELDER, _YOUNGER = word_set(WORDS["elder"]), word_set(WORDS["younger"])
_BEHIND_NAMES = NAME_SUFFIXES | _ELDER | _YOUNGER
_RANKS = HONORIFICS | _BEHIND_NAMES
_SUBTITLE = re.compile(
    r"\s*[:;]\s+|\s*[\r\n]+\s*|\s+[—–]\s+|\s+--\s*|,?\s+\bor,?\s+(?=[A-Z\"“'])|,\s+or\b,?\s+|,\s+being\s+"
)
_EDITION_TAIL = re.compile(rf"[\s,;:.—–-]+[\[(]?(?:{'|'.join(WORDS['edition_tails'])}).*$", re.I | re.S)
_KIND = re.compile(rf"\s*[\[(](?:{WORDS['kinds']})[\])]\s*$", re.I)
_MOVED = re.compile(r"(.*\w), ([A-Z]\w*)", re.S)
WORKS_IN_ONE = re.compile(r";(?!\s+or\b)[^;]+;(?!\s+or\b)", re.I)
_COMPANION = re.compile(rf",?\s+(?:{WORDS['companions']})\s+(?:{WORDS['companion_words']})\b.*", re.I | re.S)


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


def usual_title(title: str) -> str:
    """Without "(novel)", and "The Moonstone" of "Moonstone, The"."""
    title = _KIND.sub("", title) or title
    moved = _MOVED.fullmatch(title)
    return f"{moved[2]} {moved[1]}" if moved and moved[2].lower() in ARTICLES else title


@lru_cache(maxsize=1 << 17)
def main_title(title: str) -> str:
    """The part before a subtitle: before ":", ";", a line break, a dash, ", or"; without ", Complete".

    "A; B; C" is a volume of three works and has no main title.
    """
    title = title.strip()
    if WORKS_IN_ONE.search(title):
        return title
    while (shorter := _EDITION_TAIL.sub("", title)) != title and shorter:
        title = shorter
    return _SUBTITLE.split(title, maxsplit=1)[0].strip()


def second_title(title: str) -> str:
    """The part behind "or": "Virtue Rewarded" of "Pamela, or Virtue Rewarded"; "" when there is none."""
    parts = re.split(r"[,;:]?\s*[\r\n]*\s*\bor,?[:;]?\s+", title.strip(), maxsplit=1, flags=re.I)
    return parts[1].strip() if len(parts) == 2 and parts[0] else ""


def without_companions(title: str) -> str:
    """Of "The Awakening, and Selected Short Stories" the named work, of "A; B; C" the first."""
    if WORKS_IN_ONE.search(title):
        title = title.partition(";")[0]
    return _COMPANION.sub("", title).strip()


def squeezed(words: Tokens) -> str:
    """All words in one: "box-car children" and "boxcar children" are the same."""
    return "".join(words)


def generation(name: str) -> str:
    """ "elder" or "younger" where a name says so ("Dumas, Alexandre (père)", "Holmes, Jr."), else ""."""
    words = set(tokens(name))
    return "elder" if words & _ELDER else "younger" if words & _YOUNGER else ""


# -- authors -----------------------------------------------------------------------------------------


def exact_author(name: str) -> str:
    """The words of a name as a set: "Austen, Jane" and "Jane Austen" are the same, accents count."""
    return _as_set(plain_tokens(_YEARS.sub("", _BRACKETS.sub(" ", name))))


def folded_authors(name: str) -> frozenset[str]:
    """As `exact_author`, without accents and ranks ("Tolstoy, Leo, graf"); of a name with brackets two."""
    return frozenset(_as_set([*family, *given]).lower() for family, given in _readings(name)) - {""}


def folded_author(name: str) -> str:
    """The first of `folded_authors`: the name without what its brackets say."""
    family, given = _readings(name)[0]
    return _as_set([*family, *given]).lower()


@lru_cache(maxsize=1 << 16)
def initial_authors(name: str) -> tuple[str, ...]:
    """Every reading of a name as family name and initial: "cervantes m", "saavedra m".

    The family name is what stands before the comma, else the last word; of a family name of several
    words every one counts. Nothing for a name of one word.
    """
    found: dict[str, None] = {}
    for family, given in _readings(name):
        initial = next((word[0].lower() for word in given if word not in PARTICLES), "")
        for word in family if initial else ():
            if word not in PARTICLES or len(family) == 1:
                found[f"{word.lower()} {initial}"] = None
    return tuple(found)


def single_author(name: str) -> str:
    """A name of one word, such as "Stendhal", "Voltaire", "Homer"; "" for others."""
    words = folded_author(name)
    return words if " " not in words else ""


@lru_cache(maxsize=1 << 16)
def _readings(name: str) -> tuple[tuple[Tokens, Tokens], ...]:
    """(family name, given names) of a name, and the same with the names that a bracket spells out.

    "Montgomery, L. M. (Lucy Maud)" is read as with L. M. and as with Lucy Maud. Initials stay upper case,
    so that nobody takes the M. for a rank or the L. for a particle.
    """
    clean = _YEARS.sub("", name)
    found = [_reading(_BRACKETS.sub(" ", clean))]
    family, comma, rest = clean.partition(",")
    spelled_out = _BRACKETS.search(rest.split(",")[0]) if comma else None
    initials = [[w[0].lower() for w in _words(s)[:1]] for s in (spelled_out[1] if spelled_out else "", rest)]
    if spelled_out and initials[0] == initials[1]:
        found.append(_reading(f"{_BRACKETS.sub(' ', family)}, {spelled_out[1]}"))
    return tuple(dict.fromkeys(found))


def _reading(name: str) -> tuple[Tokens, Tokens]:
    parts = [words for part in name.split(",") if (words := _words(part))]
    head, *rest = parts or [()]
    rest = [words for part in rest if (words := tuple(w for w in part if w not in _RANKS))]
    if rest:
        return _without_ranks(head), rest[0]
    words = _without_ranks(head)
    given, family = words[:1], words[1:]
    # "Miguel de Cervantes Saavedra": behind a particle everything is family name, else the last word is.
    if not any(word in PARTICLES for word in family[:-1]):
        given, family = words[:-1], words[-1:]
    return family, given


def _without_ranks(words: Tokens) -> Tokens:
    """Without "Count" in front and "fils" at the end; a last word is a name: "Martin Luther King"."""
    while len(words) > 1 and words[-1] in _BEHIND_NAMES:
        words = words[:-1]
    while len(words) > 1 and words[0] in HONORIFICS:
        words = words[1:]
    return words


def _words(text: str) -> Tokens:
    """The folded words of a name; initials are left in upper case."""
    raw = _WORD.findall(_APOSTROPHE.sub("", unicodedata.normalize("NFC", text)))
    return tuple(fold(word).upper() if len(word) == 1 and word.isupper() else fold(word) for word in raw)


def _as_set(words: Iterable[str]) -> str:
    return " ".join(sorted(set(words)))
