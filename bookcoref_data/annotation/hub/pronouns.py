"""Words that the Maverick models treat apart when they compare two mentions: pronouns and stop words.

The lists are part of the published models (Maverick, Martinelli et al. 2024; after LingMess, Otmazgin et
al. 2023): other lists would give other categories than the weights were trained with.
"""

from __future__ import annotations

PRONOUN_GROUPS = (
    ("i", "me", "my", "mine", "myself"),
    ("you", "your", "yours", "yourself", "yourselves"),
    ("he", "him", "his", "himself"),
    ("she", "her", "hers", "herself"),
    ("it", "its", "itself"),
    ("we", "us", "our", "ours", "ourselves"),
    ("they", "them", "their", "themselves"),
    ("that", "this"),
)
GROUP_OF = {word: group for group, words in enumerate(PRONOUN_GROUPS) for word in words}
STOPWORDS = frozenset((
    "'s", "a", "all", "an", "and", "at", "for", "from", "in", "into",
    "more", "of", "on", "or", "some", "the", "these", "those",
))  # fmt: skip


def pronoun_group(words: frozenset[str]) -> int:
    """The group of a mention whose lower-cased words are `words`; -1 unless it is one pronoun."""
    return GROUP_OF.get(next(iter(words)), -1) if len(words) == 1 else -1


def kind_of(words: list[str]) -> str:
    """ "pronoun" for a mention that is one pronoun, "" (not known) otherwise."""
    return "pronoun" if len(words) == 1 and words[0].lower() in GROUP_OF else ""
