"""The pronoun table of the public code of IdentifyMe, which decides the published scores."""

from __future__ import annotations

_CLASSES = (
    "i i. me my mine myself",
    "you your yours yourself yourselves thou thee thy thine thyself ye",
    "he him his himself",
    "she her hers herself",
    "it its itself",
    "we us our ours ourselves",
    "they them their theirs themselves",
    "that this",
)
PRONOUN_CLASS = {word: number for number, words in enumerate(_CLASSES) for word in words.split()}
"""The pronoun table of the public code; a word that is not in it has class -1."""
PLURAL_CLASSES = (5, 6)
SINGULAR_CLASSES = (0, 2, 3, 4)
