"""Where `evaluate --typed LABELS` takes its labels from: a file, spaCy, our noun list, or a model."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import chain, pairwise
from pathlib import Path

from ..annotation.typed_spans import entity_spans, hub_tags
from ..books import Record
from ..errors import UsageError, listed
from ..formats.typed_spans import read_typed_spans, spans_of_tags
from ..resources import load_toml, resource
from ..scoring.evaluation import Evaluation
from ..scoring.mention_types import head_of
from ..scoring.modes import BookPair
from ..scoring.typed import Suggestion, TypedScores, TypedSpan, suggested, typed_scores
from ..words.honorifics import HONORIFICS

HUB, OWN, NONE = "hub:", "own", "none"


def typed_scores_of(
    systems: Sequence[tuple[str, Evaluation]], source: str, disagreeing: str, most: int = 0,
    classes: str = OWN,
) -> tuple[list[TypedScores], list[tuple[Suggestion, Record]], list[str]]:  # fmt: skip
    """Typed scores of every system with the labels that `source` names, put into `classes`; what to annotate
    next: at most so many passages of the first; and how many labels no class stands for."""
    if source == "four":
        source, classes = "spacy", "four"
    # Labels belong to the text, so one tagging serves all systems; the noun list labels their mentions.
    notes: list[str] = []
    shared = None if source == "nouns" else _labels(systems[0][1], source, notes)
    spans = [_nouns(result) if shared is None else shared for _, result in systems]
    lost: Counter[str] = Counter()
    if classes != OWN:
        spans = [{key: in_classes(of, classes, lost) for key, of in one.items()} for one in spans]
    both = zip(systems, spans, strict=True)
    found = [typed_scores(one, of, name=name, disagreeing=disagreeing) for (name, one), of in both]
    books = [scores.book for scores in systems[0][1].books]
    for book in books if most else ():
        _text_of(book, "with --suggest")
    # Labels that meet nothing of the key, and documents that no labels meet
    ends = {book.doc_key: book.sentence_ends or (book.length,) for book in books}
    # Spans of a text that was cut into other tokens end in the wrong sentence here and there.
    outside = sum(
        not bisect_right(ends[key], span.start) == bisect_right(ends[key], span.end) < len(ends[key])
        for key in ends.keys() & spans[0].keys() for span in spans[0][key]
    )  # fmt: skip
    told = {
        f"labels that no class of {classes} stands for, left out":
            ", ".join(f"{label} {count:,}" for label, count in lost.most_common()),
        "documents of the key without typed spans": listed(sorted(ends.keys() - spans[0])),
        "typed spans of documents that are not in the key": listed(sorted(spans[0].keys() - ends)),
        "typed spans that are not inside one sentence of their document": f"{outside:,}" if outside else "",
    }  # fmt: skip
    notes += [f"{what}: {which}" for what, which in told.items() if which]
    return found, suggested(books, spans[0], found[0], most) if most else [], notes


def _labels(evaluation: Evaluation, source: str, notes: list[str]) -> dict[str, list[TypedSpan]]:
    books = [scores.book for scores in evaluation.books]
    if source == "spacy":
        found = {book.doc_key: entity_spans(*_text_of(book, source)) for book in books}
    elif source.startswith(HUB):
        found = {}
        for book in books:
            tokens, ends = _text_of(book, source)
            starts = (0, *ends)
            tagged = hub_tags(source.removeprefix(HUB), [tokens[a:b] for a, b in pairwise(starts)])
            spans = (spans_of_tags(tags, start) for start, tags in zip(starts, tagged, strict=False))
            found[book.doc_key] = list(chain.from_iterable(spans))
    elif Path(source).exists():
        words = {book.doc_key: book.tokens for book in books}
        found = read_typed_spans(Path(source), books[0].doc_key if len(books) == 1 else None, words, notes)
    else:
        expected = "a file of typed spans, spacy, four, nouns, or hub:MODEL"
        raise UsageError(f"there are no labels {source!r}", expected=expected)
    return {key: [TypedSpan(*span) for span in spans] for key, spans in found.items()}


def in_classes(spans: Iterable[TypedSpan], classes: str, lost: Counter[str]) -> list[TypedSpan]:
    """Spans with labels of `manifests/classes.toml`; what has no class there is counted in `lost`."""
    table = _classes(classes)
    found = []
    for span in spans:
        if span.label not in table:
            what = f"--classes {classes} knows nothing of the label {span.label!r}"
            hint = "add it to manifests/classes.toml, or leave --classes out"
            raise UsageError(what, expected=", ".join(table), hint=hint)
        if label := table[span.label]:
            found.append(span._replace(label=label))
        else:
            lost[span.label] += 1
    return found


@cache
def _classes(name: str) -> dict[str, str]:
    """Label -> class, "" for none."""
    value = load_toml(resource("manifests", "classes.toml"))[name]
    found = {label: label for label in value["classes"].split()}
    for labels_by_class in (table for table in value.values() if isinstance(table, dict)):
        for one, labels in labels_by_class.items():
            found |= dict.fromkeys(labels.split(), "" if one == NONE else one)
    return found


def _nouns(evaluation: Evaluation) -> dict[str, list[TypedSpan]]:
    found = {}
    for book in (scores.book for scores in evaluation.books):
        sides = (zip(s.start.tolist(), s.end.tolist(), strict=True) for s in (book.key, book.response))
        found[book.doc_key] = noun_spans(_text_of(book, "nouns")[0], chain.from_iterable(sides))
    return found


def _text_of(book: BookPair, source: str) -> tuple[Sequence[str], Sequence[int]]:
    """The tokens and sentence ends of a book."""
    if book.tokens is None or book.sentence_ends is None:
        what = f"{book.doc_key}: --typed {source} needs the text, and neither side has any"
        raise UsageError(what, hint="give a file with sentences, or labels as a file of typed spans")
    return book.tokens, book.sentence_ends


@cache
def _noun_classes() -> dict[str, str]:
    """Noun -> class: common nouns of novels, for quick looks without a download."""
    classes = load_toml(resource("manifests", "nouns.toml"))
    return {word: name for name, words in classes.items() for word in words.split()}


def noun_spans(tokens: Sequence[str], mentions: Iterable[tuple[int, int]]) -> list[TypedSpan]:
    """A typed span for every mention that the list knows."""
    labels = ((start, end, noun_label(tokens, start, end)) for start, end in sorted(set(mentions)))
    return [TypedSpan(start, end, label) for start, end, label in labels if label is not None]


def noun_label(tokens: Sequence[str], start: int, end: int) -> str | None:
    """The class of one mention by its head word (that of `mention_types`), None where the list does not say.

    The head word is on the list, or one of the words up to the head is an honorific (a person); a pronoun is
    neither.
    """
    head = head_of(tokens, start, end)
    if head is None:
        return None
    first = max(start, 0)
    titled = any(token.lower().rstrip(".") in HONORIFICS for token in tokens[first : head + 1])
    return _noun_classes().get(tokens[head].lower(), "PER" if titled else None)
