"""LitBank as lessons of the link reader (BookCoref, Appendix B): people with a name, and who names them.

Clusters whose mentions are all people are kept, without their pronouns, and called after their proper nouns.
The paper named them by hand; here the name is found by `cluster_name`, so a cluster without a proper noun has
none and is left out. The names of a document are its cast.
"""

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from ...books import Book, Mention, Record
from ..windowing import annotation_windows

SPLIT_SEED = 2025
SPLIT_SIZE = 10
WINDOW_WORDS = 400
"""Words that the reader sees at once, as in the recipe of the paper's pipeline."""


class Lesson(NamedTuple):
    """A window of a document with the names of its cast; a link is (first word, last word, name)."""

    document: str
    number: int
    words: Sequence[str]
    names: Sequence[str]
    links: Sequence[tuple[int, int, int]]


def parts_of(names: Sequence[str]) -> dict[str, list[str]]:
    """Documents by part ("train", "dev", "test"): of LitBank's 100, ten each are drawn for dev and test."""
    names = sorted(names)
    size = min(SPLIT_SIZE, len(names) // 3)
    drawn = random.Random(SPLIT_SEED).sample(names, 2 * size)
    left = sorted(set(names) - set(drawn))
    return {"train": left, "dev": sorted(drawn[size:]), "test": sorted(drawn[:size])}


def cluster_name(names: Sequence[Sequence[str]]) -> str:
    """The longest among a cluster's frequent names (those at least half as frequent as the top one)."""
    counts = Counter(" ".join(name) for name in names)
    top = max(counts.values())
    frequent = [name for name, count in counts.items() if 2 * count >= top]
    return max(frequent, key=lambda name: (len(name.split()), len(name)))


def with_cast(record: Record) -> Book:
    """A document of LitBank whose characters are its named people, by the mentions that are no pronouns."""
    book = record.to_book()
    types = {Mention(start, end): kind for start, end, kind in record.extra.get("mention_types", ())}
    named: list[tuple[str, list[Mention]]] = []
    taken: Counter[str] = Counter()
    for cluster in book.clusters:
        kinds = [types.get(mention, "") for mention in cluster]
        proper = [m for m, kind in zip(cluster, kinds, strict=True) if kind == "PROP_PER"]
        if not proper or not all(kind.endswith("_PER") for kind in kinds):
            continue
        name = cluster_name([book.tokens[m.start : m.end + 1] for m in proper])
        taken[name.casefold()] += 1
        # Two people of one name stay two: the network has to choose one of different entries.
        name += f" ({taken[name.casefold()]})" if taken[name.casefold()] > 1 else ""
        named.append((name, [m for m, k in zip(cluster, kinds, strict=True) if k != "PRON_PER"]))
    return Book.make(book.doc_key, book.sentences, clusters=[spans for _, spans in named], characters=named)


def lessons_of(book: Book, words: int = WINDOW_WORDS) -> Iterator[Lesson]:
    """The windows of a document, each with the whole cast; links that a window cuts are left out."""
    names = [character.name for character in book.characters]
    for number, window in enumerate(annotation_windows(book.sentence_ends, words)):
        links = sorted(
            (m.start - window.start, m.end - window.start, name)
            for name, character in enumerate(book.characters)
            for m in character.mentions
            if window.start <= m.start and m.end < window.end
        )
        yield Lesson(book.doc_key, number, book.tokens[window.start : window.end], names, links)


def as_sample(lesson: Lesson) -> dict[str, Any]:
    """A lesson in the training format of the public reader (relik 1.0.7); ends of characters exclusive."""
    starts = [0, *accumulate(len(word) + 1 for word in lesson.words[:-1])]
    ends = [start + len(word) for start, word in zip(starts, lesson.words, strict=True)]
    return {
        "doc_id": lesson.document,
        "window_id": lesson.number,
        "text": " ".join(lesson.words),
        "tokens": list(lesson.words),
        "token2char_start": {str(i): at for i, at in enumerate(starts)},
        "token2char_end": {str(i): at for i, at in enumerate(ends)},
        "char2token_start": {str(at): i for i, at in enumerate(starts)},
        "char2token_end": {str(at): i for i, at in enumerate(ends)},
        "span_candidates": list(lesson.names),
        "window_labels": [[starts[a], ends[b], lesson.names[name]] for a, b, name in lesson.links],
    }
