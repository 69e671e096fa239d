"""Words that stand before a name: courtesy titles, ranks, offices, kin.

One table, manifests/honorifics.toml, holds every word with its gender and its traits; the sets below are
views of it. Look a word up in lower case and without its full stop: "Mrs." is `mrs`.
"""

from ..resources import load_toml, resource
from . import long_lists, word_set

_TABLE: str = load_toml(resource("manifests", "honorifics.toml"))["table"]
_ROWS = [[cell.strip() for cell in line.split("|")] for line in _TABLE.splitlines()]


def _with_gender(gender: str) -> frozenset[str]:
    return frozenset(word for forms, g, _ in _ROWS if g == gender for word in forms.split())


def _with_trait(trait: str) -> frozenset[str]:
    return frozenset(word for forms, _, traits in _ROWS if trait in traits.split() for word in forms.split())


HONORIFICS = frozenset(word for forms, _, _ in _ROWS for word in forms.split())
"""Every word of the table."""
MALE_HONORIFICS = _with_gender("m")
FEMALE_HONORIFICS = _with_gender("f")
MARRIED = _with_trait("married")
UNMARRIED = _with_trait("unmarried")
BEFORE_SURNAMES = _with_trait("surname")
OFFICES = _with_trait("office")

NAME_SUFFIXES = word_set("jr junior sr senior esq esquire ii iii iv")
"""Words that stand behind a name and are no part of it."""
ABBREVIATED = word_set(long_lists()["ABBREVIATED"])
"""Words that are written with a full stop which ends no sentence."""


def honorific_gender(word: str) -> str:
    """ "m" or "f" for a title that only men or only women bear, else ""; `word` as in the table."""
    return "m" if word in MALE_HONORIFICS else "f" if word in FEMALE_HONORIFICS else ""
