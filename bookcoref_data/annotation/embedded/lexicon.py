"""Closed word lists of the embedded backend, written for this project. All lower case; the long ones are in
`lexicon.txt`."""

from pathlib import Path

from ...words import word_lists, word_pairs, word_set
from ...words.honorifics import HONORIFICS

_LISTS = word_lists(Path(__file__).with_suffix(".txt").read_text(encoding="utf-8"))


def words(name: str) -> frozenset[str]:
    """The words of a list of `lexicon.txt`."""
    return word_set(_LISTS[name])


ADJECTIVES_OF_NAMES = word_set("old young little poor dear great")
"""Adjectives that stand before a name as a title does: "poor Anna", "old Martin"."""
TITLES = HONORIFICS | ADJECTIVES_OF_NAMES
PARTICLES = word_set("de du des da di von van der den la le of the d' d’ del della y")
MALE_NOUNS = words("MALE_NOUNS")
FEMALE_NOUNS = words("FEMALE_NOUNS")
NEUTRAL_NOUNS = words("NEUTRAL_NOUNS")
ANIMALS = words("ANIMALS")
"""Animals are characters in some novels, and "he" in many."""
PERSON_NOUNS = MALE_NOUNS | FEMALE_NOUNS | NEUTRAL_NOUNS | ANIMALS
CALLINGS = words("CALLINGS")
"""Livings: "the surgeon" means somebody with a name only if the book says that he is one."""
LIVING = {word: words.split()[0] for words in _LISTS["ALIKE"].split(";") for word in words.split()}
"""Livings that one person may be called by ("Mr. Hill, a surgeon", "the doctor") -> the first of them."""
VOICES = word_set("voice voices tone tones accents")
CHILDREN = word_set("boy girl child lad lass infant baby schoolboy schoolgirl urchin")
GIRLS = word_set("girl lass schoolgirl")
GROWN = word_set("gentleman lady man woman gentlewoman widow widower husband wife")
STYLES = words("STYLES")
"""With "your" they mean the person spoken to."""
TITLE_NOUNS = word_pairs(_LISTS["TITLE_NOUNS"])
"""Nouns by which a bearer of the title is called: "the doctor" for Dr. Manette."""

VOCATIVE_NOUNS = words("VOCATIVE_NOUNS")
PLAIN_VOCATIVES = words("PLAIN_VOCATIVES")
"""Vocatives that say nothing of the one who is spoken to, but that he or she is."""

SPEECH_VERBS = words("SPEECH_VERBS")

SPEECH_NOUNS = words("SPEECH_NOUNS")

PLACES = words("PLACES")

MALE_FIRST = words("MALE_FIRST")
FEMALE_FIRST = words("FEMALE_FIRST")
FIRST_NAMES = MALE_FIRST | FEMALE_FIRST

NICKNAMES = word_pairs(_LISTS["NICKNAMES"])
NICKNAMES_IN_CASTS = NICKNAMES | {
    first: f"{NICKNAMES.get(first, '')} {more}"
    for first, more in word_pairs(_LISTS["NICKNAMES_IN_CASTS"]).items()
}
"""With those that only proposed casts use: the rankers learned with `NICKNAMES`."""
"""First name -> nicknames, as a string of words."""
