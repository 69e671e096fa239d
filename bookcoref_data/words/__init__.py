"""Closed word lists, one of each for all rooms: honorifics, pronouns, kin, months, numbers. Data, no rules.

All words are in lower case and without full stops.
"""


def word_set(text: str) -> frozenset[str]:
    """The words of a list written as one string."""
    return frozenset(text.split())


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
