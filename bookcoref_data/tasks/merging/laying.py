"""Parts and windows of documents, laid end to end: sorted by number, none missing, none twice.

Windows may overlap. Where a window starts is what its key says (`book_split1500_S60` starts at sentence 60),
or its field `start` (first token); else the longest run of at least `LEAST_SHARED` tokens that ends what was
laid before and opens the window is taken for its overlap. Chains of both sides that share mentions there
are one chain (`SplitDocument.shared`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from ...books import Mention, Record, read_window_key
from ...errors import BookError, DataError
from ...formats.layers import Layer, layers_of, speakers_of
from .parts import ChainRef, SplitDocument

LEAST_SHARED = 20
"""Fewer equal tokens at the end of one window and the start of the next are taken for chance."""
_KEY = re.compile(r"(.+?)_(part|window|chunk|segment)_?(\w+)", re.DOTALL)


class _Part(NamedTuple):
    """A record and where it stands. `sentence` and `start` are its first in the book, where it says so."""

    document: str
    number: str
    record: Record
    window: bool = False
    sentence: int | None = None
    start: int | None = None


def documents_of(records: Iterable[Record]) -> list[SplitDocument]:
    """Group records of parts (`read(..., parts="apart")`) or windows into documents.

    A record says its document and part (or window) in `extra`, or has a key such as "story_part2",
    "book_window_2" or "book_split1500_S60"; any other record is a document of one part.

    Raises:
        BookError: a record is no sound book. DataError: a part or window is missing, is there twice, or has
            other tokens than the window that it overlaps.
    """
    groups: dict[str, list[_Part]] = {}
    for record in records:
        part = _part_of(record)
        groups.setdefault(part.document, []).append(part)
    return [_document(name, _in_order(name, parts)) for name, parts in groups.items()]


def _part_of(record: Record) -> _Part:
    said = record.extra
    start = said.get("start") if type(said.get("start")) is int else None
    name = said.get("document") if isinstance(said.get("document"), str) else None
    for field in ("part", "window"):
        number = said.get(field)
        if type(number) in (int, str) and (name or field == "window"):
            return _Part(name or record.doc_key, str(number), record, field == "window", None, start)
    if key := read_window_key(record.doc_key):
        return _Part(key.book, str(key.first_sentence), record, True, key.first_sentence)
    match = _KEY.fullmatch(record.doc_key)
    if match:
        return _Part(match[1], match[3], record, match[2] != "part", None, start)
    return _Part(record.doc_key, "0", record)


def _in_order(name: str, parts: Sequence[_Part]) -> list[_Part]:
    """The parts by number. Numbers that are none ("a", "b") stay in the order of the input."""
    numbers = [int(p.number) if p.number.isdecimal() else p.number for p in parts]
    counts = Counter(numbers)
    if twice := [str(n) for n in counts if counts[n] > 1]:
        places = [p.record.source for p, n in zip(parts, numbers, strict=True) if str(n) == twice[0]]
        raise DataError(
            f"{name}: part {twice[0]} is given twice", expected="each part once", found="; ".join(places),
            hint="remove one of the two, or give one another number",
        )  # fmt: skip
    if not all(type(n) is int for n in numbers):
        return list(parts)
    ordered = sorted(parts, key=lambda part: int(part.number))
    if ordered[0].sentence is None:
        found = sorted(int(n) for n in numbers)
        missing = sorted({*range(min(found[0], 1), found[-1])} - {*found} - ({0} if found[0] == 1 else set()))
        if missing and len(parts) > 1:
            raise _gap(name, f"part {missing[0]}", f"parts {', '.join(map(str, found[:20]))}")
    return ordered


def _gap(name: str, what: str, found: str) -> DataError:
    return DataError(
        f"{name}: {what} is missing", expected="all parts, numbered one after the other", found=found,
        hint="text between two parts cannot be left out: give all parts, or each run of them another name",
    )  # fmt: skip


def _document(name: str, parts: Sequence[_Part]) -> SplitDocument:
    sentences: list[tuple[str, ...]] = []
    tokens: list[str] = []
    chains: dict[ChainRef, tuple[Mention, ...]] = {}
    starts, cuts = [], []
    for position, part in enumerate(parts):
        book = part.record.to_book()
        offset = _start_of(part, sentences, tokens)
        starts.append(offset)
        cuts.append(len(tokens) - offset)
        for mentions, i in sorted(
            _chains_of(part.record, offset), key=lambda c: (c[0][0].start, -c[0][0].end, c[1])
        ):
            chains[ChainRef(position, i)] = mentions
        for first, sentence in zip((0, *book.sentence_ends), book.sentences, strict=False):
            rest = sentence[max(cuts[-1] - first, 0) :]
            if rest and len(rest) < len(sentence) and sentences:
                sentences[-1] += tuple(rest)
            elif rest or not sentence:
                sentences.append(tuple(rest))
        tokens += book.tokens[cuts[-1] :]
    keys = {p.record.gutenberg_key for p in parts}
    return SplitDocument(
        name, tuple(p.number for p in parts), tuple(starts), tuple(sentences), chains,
        _layers([p.record for p in parts], cuts, sentences), _shared(chains) if any(cuts) else {},
        gutenberg_key=keys.pop() if len(keys) == 1 else "", overlaps=any(cuts),
        windows=any(p.window for p in parts),
    )  # fmt: skip


def _start_of(part: _Part, sentences: Sequence[Sequence[str]], tokens: list[str]) -> int:
    """The first token of a part in what is laid so far. Raises DataError: a gap, or other tokens."""
    own = [token for sentence in part.record.sentences or [] for token in sentence]
    at = len(tokens) if part.start is None else part.start
    if part.sentence is not None:
        if part.sentence > len(sentences):
            raise _gap(
                part.document, f"sentence {len(sentences)}", f"a window from sentence {part.sentence} on"
            )
        at = sum(map(len, sentences[: part.sentence]))
    elif part.start is None and part.window:
        longest = min(len(tokens), len(own))
        shared = (n for n in range(longest, LEAST_SHARED - 1, -1) if tokens[-n:] == own[:n])
        at -= next(shared, 0)
    if at > len(tokens):
        raise _gap(part.document, f"token {len(tokens)}", f"a window from token {at} on")
    if tokens[at : at + len(own)] != own[: len(tokens) - at]:
        raise DataError(
            f"{part.record.source}: window {part.number} of {part.document} overlaps the one before, "
            "but has other tokens there",
            expected=" ".join(tokens[at : at + 8]), found=" ".join(own[:8]),
        )  # fmt: skip
    return at


def _chains_of(record: Record, offset: int) -> list[tuple[tuple[Mention, ...], str]]:
    ids = record.extra.get("cluster_ids")
    named = ids if isinstance(ids, list) and len(ids) == len(record.clusters) else range(len(record.clusters))
    found = [
        (tuple(sorted(Mention(m[0] + offset, m[1] + offset) for m in cluster)), str(i))
        for i, cluster in zip(named, record.clusters, strict=True)
    ]
    if len({i for _, i in found}) < len(found):
        raise BookError(f"{record.source}: two chains of a part have the same id", hint="mend the file")
    return found


def _shared(chains: dict[ChainRef, tuple[Mention, ...]]) -> dict[ChainRef, ChainRef]:
    """Chains of overlapping windows that share mentions: each joins one earlier chain, most shared first."""
    owners: dict[Mention, list[ChainRef]] = {}
    for ref, mentions in chains.items():
        for mention in mentions:
            owners.setdefault(mention, []).append(ref)
    counts = Counter(
        (later, earlier) for refs in owners.values() for earlier, later in pairwise(refs)
        if earlier.part < later.part
    )  # fmt: skip
    found: dict[ChainRef, ChainRef] = {}
    taken: set[tuple[int, ChainRef]] = set()
    for (later, earlier), _ in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        if later not in found and (later.part, earlier) not in taken:
            found[later] = earlier
            taken.add((later.part, earlier))
    return found


def _layers(
    records: Sequence[Record], cuts: Sequence[int], sentences: Sequence[Sequence[str]]
) -> dict[str, Layer]:
    """The layers of all parts, one behind the other; a part that lacks one says nothing in it."""
    found = [layers_of(record) for record in records]
    for record, layers in zip(records, found, strict=True):
        if (speakers := speakers_of(record)) is not None:
            layers["speakers"] = speakers
    made = {}
    ends = [0, *accumulate(map(len, sentences))]
    for name in dict.fromkeys(name for layers in found for name in layers):
        values: list[str] = []
        for record, layers, cut in zip(records, found, cuts, strict=True):
            rows = layers.get(name) or [[""] * len(s) for s in record.sentences or []]
            values += [value for row in rows for value in row][cut:]
        made[name] = [values[a:b] for a, b in pairwise(ends)]
    return made
