"""Labels of mentions from the list of noun classes: by their head word, without a tagger.

The head word of a mention is on the list, or one of its words up to the head is an honorific (a person), or
it has no label; so has a pronoun, which is neither. The head is that of `mention_types`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..words.honorifics import HONORIFICS
from ..words.noun_classes import CLASS_OF
from .mention_types import head_of
from .typed import Span, TypedSpan


def noun_spans(tokens: Sequence[str], mentions: Iterable[Span]) -> list[TypedSpan]:
    """A typed span for every mention that the list knows."""
    found = []
    for start, end in sorted(set(mentions)):
        label = noun_label(tokens, start, end)
        if label is not None:
            found.append(TypedSpan(start, end, label))
    return found


def noun_label(tokens: Sequence[str], start: int, end: int) -> str | None:
    """The class of one mention, None where the list does not say."""
    first = max(start, 0)
    words = [token.lower().rstrip(".") for token in tokens[first : end + 1]]
    head = head_of(tokens, start, end)
    if head is None:
        return None
    label = CLASS_OF.get(tokens[head].lower())
    if label is None and any(word in HONORIFICS for word in words[: head - first + 1]):
        return "PER"
    return label
