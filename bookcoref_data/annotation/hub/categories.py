"""The kind of comparison between two mentions, which chooses the scorer in Maverick's clustering.

The lists of pronouns and stop words are part of the published models (Maverick, Martinelli et al. 2024; after
LingMess, Otmazgin et al. 2023): other lists would give other categories than the weights were trained with.
"""

from collections.abc import Sequence

import numpy as np

from ...resources import load_toml, resource

_TABLES = load_toml(resource("manifests", "pronouns.toml"))
PRONOUN_GROUPS = tuple(tuple(words.split()) for words in _TABLES["maverick"])
GROUP_OF = {word: group for group, words in enumerate(PRONOUN_GROUPS) for word in words}
STOPWORDS = frozenset(_TABLES["maverick_stopwords"].split())
CATEGORIES = (
    "two pronouns that agree",
    "two pronouns that do not",
    "pronoun and noun phrase",
    "same words",
    "words of one contain the other's",
    "other",
)
COUNT = len(CATEGORIES) + 1
"""One scorer per category, and a last one for all pairs."""


def pronoun_group(words: frozenset[str]) -> int:
    """The group of a mention whose lower-cased words are `words`; -1 unless it is one pronoun."""
    return GROUP_OF.get(next(iter(words)), -1) if len(words) == 1 else -1


def kind_of(words: list[str]) -> str:
    """ "pronoun" for a mention that is one pronoun, "" (not known) otherwise."""
    return "pronoun" if len(words) == 1 and words[0].lower() in GROUP_OF else ""


class MentionWords:
    """The words of all mentions of a text, ready to be compared: a table mentions x words, in bits."""

    def __init__(self, mentions: Sequence[Sequence[str]]) -> None:
        lowered = [frozenset(w.lower() for w in words) for words in mentions]
        self.group = np.array([pronoun_group(words) for words in lowered], dtype=np.int64)
        content = [words - STOPWORDS for words in lowered]
        number = {w: i for i, w in enumerate(sorted(set().union(*content)))} if content else {}
        self.table = np.zeros((len(content), max(len(number), 1)), dtype=np.float32)
        for i, words in enumerate(content):
            self.table[i, [number[w] for w in words]] = 1.0
        self.size = self.table.sum(axis=1)

    def categories(self, start: int, end: int) -> np.ndarray:
        """Category of mentions start..end-1 (rows) with every mention (columns), as int8."""
        rows = slice(start, end)
        pronoun = self.group >= 0
        common = self.table[rows] @ self.table.T
        larger = np.maximum(self.size[rows, None], self.size[None, :])
        union = self.size[rows, None] + self.size[None, :] - common
        found = np.full(common.shape, 5, dtype=np.int8)
        found[union == larger] = 4
        found[(union == larger) & (common == larger)] = 3
        found[pronoun[rows, None] | pronoun[None, :]] = 2
        both = pronoun[rows, None] & pronoun[None, :]
        same = self.group[rows, None] == self.group[None, :]
        found[both & ~same] = 1
        found[both & same] = 0
        return found
