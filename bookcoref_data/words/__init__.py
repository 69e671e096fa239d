"""Closed word lists, one of each for all rooms: honorifics, pronouns, kin, months, numbers. Data, no rules.

All words are in lower case and without full stops.
"""

import re
import unicodedata
from functools import cache


def word_set(text: str) -> frozenset[str]:
    """The words of a list written as one string."""
    return frozenset(text.split())


QUOTE_MARKS = word_set("“ ” „ « » ‘ ’ ` `` '' \" '")
OWNS = word_set("'s ’s")
"""The token behind a name that stands in the possessive."""


def word_lists(text: str) -> dict[str, str]:
    """The lists of a text by name: lines "[NAME]", each with its words below; "#" begins a comment line."""
    sections = "\n".join(line for line in text.splitlines() if not line.startswith("#")).split("\n[")[1:]
    return {name: words for name, _, words in (section.partition("]\n") for section in sections)}


def word_pairs(text: str) -> dict[str, str]:
    """A list of "word: other words;" as a dictionary."""
    rows = (row.partition(":") for row in text.split(";"))
    return {word.strip(): " ".join(others.split()) for word, _, others in rows}


def fold(name: str) -> str:
    """A name as it is compared: no accents, no case, other punctuation to spaces ("O’Brien" -> "obrien")."""
    plain = unicodedata.normalize("NFKD", name.replace("’", "'"))
    plain = "".join(c for c in plain if not unicodedata.combining(c)).lower().replace("'", "")
    return " ".join(re.findall(r"[^\W_]+", plain))


def letters_of(text: str) -> str:
    """Letters and digits alone, in lower case: what two ways to print one name or heading have in common."""
    return "".join(filter(str.isalnum, text.casefold()))


@cache
def long_lists() -> dict[str, str]:
    """The lists of manifests/words.toml, by name, as they are written; the file is read once."""
    from ..resources import load_toml, resource

    return load_toml(resource("manifests", "words.toml"))
