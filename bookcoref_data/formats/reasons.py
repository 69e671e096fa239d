"""Who speaks, and why each mention is where it is: `reasons.jsonl` of a data set folder, a line per book.

A line is kept and compared as it stands: a pack has the same bytes (fields: docs/reference/inputs.md).
"""

import json
from collections import Counter
from dataclasses import replace
from itertools import accumulate
from pathlib import Path
from typing import Any

from ..books.annotation import Annotation, Quote, annotation_of
from ..errors import FormatError
from ..shapes import check, parse_json, together
from .lines import read_lines

REASONS = "reasons.jsonl"


def format_reasons(known: Annotation) -> str:
    """The line of a book, without its end, for the record that `known.to_record` makes."""
    plain = annotation_of(known.to_record())
    index = dict(plain.index)

    def number(character: int) -> int:
        return index.setdefault(known.names[character], len(index)) if character >= 0 else -1

    found = {(m.start, m.end, known.names[m.character]): m for m in known.mentions}
    mentions = [found.get((m.start, m.end, plain.names[m.character]), m) for m in plain.mentions]
    scores = together(((m.kind, m.step, m.rule), m.score) for m in mentions)
    places = {reason: place for place, reason in enumerate(scores)}
    quotes = sorted(known.quotes, key=lambda quote: quote[:2])
    starts, rules = [q.start for q in quotes], list(dict.fromkeys(q.rule for q in quotes))
    spoken = {
        "steps": [after - before for before, after in zip([0, *starts], starts, strict=False)],
        "lengths": [q.end - q.start for q in quotes],
        "speakers": [number(q.speaker) for q in quotes],
        "addressees": [list(map(number, q.addressees)) for q in quotes],
        "rules": [rules.index(q.rule) for q in quotes],
        "scores": [q.score for q in quotes],
    }
    value = {
        "doc_key": known.doc_key, "others": [*index][len(plain.names) :],
        "reasons": [[*reason, given] for reason, given in scores.items()],
        "mentions": [places[m.kind, m.step, m.rule] for m in mentions], "rules": rules, "quotes": spoken,
    }  # fmt: skip
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def with_reasons(plain: Annotation, line: str, place: str) -> Annotation:
    """The annotation of a record with what the line of its book says ("": nothing); `place` begins an error.
    Raises FormatError: the line is of another shape or another book, or counts what is not there."""
    if not line:
        return plain
    value = _parsed(line, place)
    names = (*plain.names, *value["others"])
    left = [(kind, step, rule, iter(scores)) for kind, step, rule, scores in value["reasons"]]
    counts = {i: len(scores) for i, (*_, scores) in enumerate(value["reasons"]) if scores}
    try:
        columns = (value["quotes"][name] for name in ("lengths", "speakers", "addressees", "rules", "scores"))
        rows = zip(accumulate(value["quotes"]["steps"]), *columns, strict=True)
        quotes = tuple(
            Quote(start, start + length, speaker, tuple(to), value["rules"][rule], score)
            for start, length, speaker, to, rule, score in rows
        )
        people = {-1, *(n for q in quotes for n in (q.speaker, *q.addressees))}
        fits = value["doc_key"] == plain.doc_key and len(set(names)) == len(names) > max(people)
        fits = fits and Counter(value["mentions"]) == counts and sum(counts.values()) == len(plain.mentions)
        fits = fits and max((q.end for q in quotes), default=-1) < len(plain.book.tokens)
    except (ValueError, IndexError):
        fits = False
    if not fits:
        raise FormatError(
            f"{place}: these are not the reasons of {plain.doc_key!r}",
            expected=f"{len(plain.mentions):,} mentions, and quotes in {len(plain.book.tokens):,} tokens",
            found=f"{len(value['mentions']):,} mentions of {value['doc_key'][:80]!r}, or numbers beyond it",
            hint="the file is damaged, or of another book: get or build it again",
        )
    mentions = []
    for m, which in zip(plain.mentions, value["mentions"], strict=True):
        kind, step, rule, scores = left[which]
        mentions.append(m._replace(kind=kind, step=step, rule=rule, score=next(scores)))
    return replace(plain, names=names, mentions=tuple(mentions), quotes=quotes)


def _parsed(line: str, place: str) -> dict[str, Any]:
    value: dict[str, Any] = parse_json(line, place)
    check(value, "book_reasons", place)
    return value


def read_line(folder: Path) -> str:
    """The line of a finished book in its folder of the cache, "" for none."""
    path = folder / REASONS
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def read_reasons(folder: Path) -> dict[str, str]:
    """The line of each book of a data set folder by its key; nothing where the folder has none. Raises
    FormatError: a line is not of that shape."""
    path = folder / REASONS
    lines = read_lines(path) if path.is_file() else ()
    return {_parsed(line, f"{path}:{number}")["doc_key"]: line for number, line in enumerate(lines, 1)}
