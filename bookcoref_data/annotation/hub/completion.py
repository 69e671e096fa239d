"""Given clusters completed by links of a model: what Maverick found is attached to the characters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ...books import Mention
from .maverick import Antecedent


@dataclass(frozen=True, slots=True)
class Completion:
    """`added`: (mention, character, probability) of the new ones; `without` counts mentions in clusters
    of nobody in the cast, `refused` links that would have joined two characters."""

    added: tuple[tuple[Mention, int, float], ...]
    without: int
    refused: int


def complete(
    mentions: Sequence[Mention], links: Iterable[Antecedent], given: Mapping[Mention, int]
) -> Completion:
    """Follow the links of a model from the given mentions, each of which stays with its character.

    Mentions joined by links are one cluster. A cluster with a given mention takes its character; a link
    that would join clusters of two characters is refused, the later link first: links are followed in
    the order of the text. Clusters without any given mention are dropped, by construction of the task.
    A span given to several characters counts for the first of them.
    """
    parent = list(range(len(mentions)))
    owner: list[int | None] = [given.get(m) for m in mentions]
    score = [0.0] * len(mentions)
    refused = 0

    def root(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    for link in links:
        a, b = root(link.antecedent), root(link.mention)
        if a == b:
            continue
        if owner[a] is not None and owner[b] is not None and owner[a] != owner[b]:
            refused += 1
            continue
        parent[b] = a
        owner[a] = owner[b] if owner[a] is None else owner[a]
        score[link.mention] = max(score[link.mention], link.score)
        score[link.antecedent] = max(score[link.antecedent], link.score)
    added, without = [], 0
    for i, mention in enumerate(mentions):
        character = owner[root(i)]
        if mention in given:
            continue
        if character is None:
            without += score[i] > 0
        else:
            added.append((mention, character, score[i]))
    return Completion(tuple(added), without, refused)
