"""Where `evaluate --typed LABELS` takes its labels from: a file, spaCy, our noun list, or a model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import UsageError

if TYPE_CHECKING:
    from ..evaluate.evaluation import Evaluation
    from ..evaluate.modes import BookPair
    from ..evaluate.typed import TypedScores, TypedSpan

HUB = "hub:"


def typed_scores_of(
    systems: Sequence[tuple[str, Evaluation]], source: str, disagreeing: str
) -> list[TypedScores]:
    """Typed scores of every system with the labels that `source` names."""
    from ..evaluate.typed import typed_scores

    # Labels belong to the text, so one tagging serves all systems; the noun list labels their mentions.
    shared = None if source == "nouns" else _labels(systems[0][1], source)
    return [
        typed_scores(
            result,
            _nouns(result) if shared is None else shared,
            name=name,
            disagreeing=disagreeing,
        )
        for name, result in systems
    ]


def _labels(evaluation: Evaluation, source: str) -> dict[str, list[TypedSpan]]:
    from ..evaluate.typed import TypedSpan

    books = [scores.book for scores in evaluation.books]
    if source == "spacy":
        from ..annotate.typed_spans import entity_spans

        return {
            book.doc_key: [TypedSpan(*span) for span in entity_spans(*_text_of(book, source))]
            for book in books
        }
    if source.startswith(HUB):
        return {book.doc_key: _from_hub(book, source) for book in books}
    from ..formats.typed_spans import read_typed_spans

    only = books[0].doc_key if len(books) == 1 else None
    found = read_typed_spans(Path(source), only)
    return {key: [TypedSpan(*span) for span in spans] for key, spans in found.items()}


def _from_hub(book: BookPair, source: str) -> list[TypedSpan]:
    from itertools import pairwise

    from ..annotate.typed_spans import hub_tags
    from ..evaluate.typed import TypedSpan
    from ..formats.typed_spans import spans_of_tags

    tokens, ends = _text_of(book, source)
    starts = (0, *ends)
    tagged = hub_tags(source.removeprefix(HUB), [tokens[a:b] for a, b in pairwise(starts)])
    return [
        TypedSpan(*span)
        for start, tags in zip(starts, tagged, strict=False)
        for span in spans_of_tags(tags, start)
    ]


def _nouns(evaluation: Evaluation) -> dict[str, list[TypedSpan]]:
    from ..evaluate.noun_labels import noun_spans

    found = {}
    for scores in evaluation.books:
        book = scores.book
        tokens, _ = _text_of(book, "nouns")
        sides = (book.key, book.response)
        mentions = (m for s in sides for m in zip(s.start.tolist(), s.end.tolist(), strict=True))
        found[book.doc_key] = noun_spans(tokens, mentions)
    return found


def _text_of(book: BookPair, source: str) -> tuple[Sequence[str], Sequence[int]]:
    """The tokens and sentence ends of a book."""
    if book.tokens is None or book.sentence_ends is None:
        raise UsageError(
            f"{book.doc_key}: --typed {source} needs the text, and neither side has any",
            hint="give a file with sentences, or labels as a file of typed spans",
        )
    return book.tokens, book.sentence_ends
