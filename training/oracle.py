"""A teacher for the rankers: LitBank's answers to the questions that a `OneReading` asks."""

from __future__ import annotations

from collections import Counter

import numpy as np

from bookcoref_data.annotation.embedded.markables import _head_in
from bookcoref_data.annotation.embedded.text import Text

from .litbank import Excerpt


class LitBankTeacher:
    """Collects (ranker, features, right row) while a reader reads.

    With `follow=True` the reader goes on with the right answers, else with its own, so that the rankers
    also see the state that their own mistakes leave behind.
    """

    def __init__(self, excerpt: Excerpt, text: Text, follow: bool) -> None:
        self.follow = follow
        self.examples: list[tuple[str, np.ndarray, int]] = []
        self._cast = len(excerpt.key)
        self._entity: dict[str | int, int] = {}
        labels = {m: i for i, ms in enumerate(excerpt.key) for m in ms} | excerpt.others
        by_head = {}
        for m, label in sorted(labels.items(), key=lambda item: item[0].start - item[0].end):
            by_head[_head_in(text.parse, m.start, m.end)] = label
        self._labels = {}
        self._pronouns = {i for i, m in enumerate(text.markables) if m.kind == "pronoun"}
        for i, m in enumerate(text.markables):
            label = labels.get((m.start, m.end))
            if label is None and m.kind != "pronoun":
                label = by_head.get(m.head)
            if label is not None:
                self._labels[i] = label
        self._quotes = {}
        said = {q.end: q for q in excerpt.quotes} | {q.start: q for q in excerpt.quotes}
        for q, (a, b) in enumerate(text.speech.spans):
            found = said.get(a) or said.get(b)
            if found is not None and (found.speaker >= 0 or found.cluster):
                self._quotes["quote", q] = found.speaker if found.speaker >= 0 else found.cluster

    def narrator(self, text: Text) -> int:
        """The character who says "I" outside quotes, -1 for nobody of the cast."""
        counts = Counter(
            self._labels.get(i)
            for i, m in enumerate(text.markables)
            if m.person == 1 and text.speech.quote[m.at] < 0
        )
        who = counts.most_common(1)[0][0] if counts else None
        return who if isinstance(who, int) else -1

    def _label(self, key):
        return self._quotes.get(key) if isinstance(key, tuple) else self._labels.get(key)

    def choose(self, kind: str, ids: list[int], x: np.ndarray, key, model: int) -> int:
        label = self._label(key)
        entity = label if isinstance(label, int) and label in ids else self._entity.get(label, -1)
        right = ids.index(entity) if entity in ids else len(ids)
        known = label is not None or key in self._pronouns
        if known and ids:
            self.examples.append((kind, x, right))
        if self.follow:
            return right if known else (len(ids) if kind == "nominal" else model)
        return model

    def settled(self, key, entity: int) -> None:
        label = self._label(key)
        if isinstance(label, str) and entity >= 0:
            self._entity[label] = entity
        elif isinstance(label, int) and entity >= self._cast:
            # "A small boy" who is named later: until then a stranger stands for the character.
            self._entity[label] = entity
