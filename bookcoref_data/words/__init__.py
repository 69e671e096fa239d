"""Closed word lists, one of each for all rooms: honorifics, pronouns, kin, months, numbers. Data, no rules.

All words are in lower case and without full stops.
"""

from __future__ import annotations


def word_set(text: str) -> frozenset[str]:
    """The words of a list written as one string."""
    return frozenset(text.split())
