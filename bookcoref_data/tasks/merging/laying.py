"""Parts and windows of documents, laid end to end: sorted by number, none missing, none twice.

Windows may overlap. Where a window starts is what its key says (`book_split1500_S60` starts at sentence 60),
or its field `start` (first token); else the longest run of at least `LEAST_SHARED` tokens (`LEAST_EVERYWHERE`
where every window has one) that ends what was laid before and opens the window is taken for its overlap.
Chains of both sides that share mentions there are one chain (`SplitDocument.shared`).
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from ...books import Mention, Record, read_window_key
from ...errors import BookError, DataError
from ...formats.layers import Layer, flat, layers_of, speakers_of
from ...shapes import together
from ...words.numbers import ROMAN, roman_value
from .parts import ChainRef, SplitDocument

_READ = {"document", "part", "window", "start", "cluster_ids", "parts"}  # where a part belongs; its chains
LEAST_SHARED, LEAST_EVERYWHERE = 20, 4
"""Fewer equal tokens at the end of one window and the start of the next are taken for chance."""
_KEY = re.compile(
    rf"(?si)(.+?)(?:[-–—_.,:;#/\s]+|[\W_])(part|window|chunk|segment)(?:[\W_]*(\d+)|[\W_]+([a-z]|{ROMAN}))(?:[\W_]*of[\W_]*(\d+))?"
)
_COUNTED: tuple[tuple[str, Callable[[str], int]], ...] = (
    (r"-?\d+", int), (ROMAN, roman_value), ("[a-z]", lambda letter: ord(letter) - ord("a") + 1)
)  # fmt: skip
"""How the parts of a document may be numbered, and which number a numeral in lower case is."""


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

    A record says its document and part (or window, or where a window starts) in `extra`, or has a key such as
    "story_part2", "book-window-II", "book.chunk2of9" or "book_split1500_S60", of whose numbers the last is
    the part's; any other record is a document of one part.

    Raises BookError: a record is no sound book. DataError: a part or window is missing, is there twice, has
    no sound number, or has other tokens than the window that it overlaps.
    """
    groups: dict[str, list[_Part]] = {}
    found = [_part_of(record) for record in records]
    counts = Counter(part.document for part in found)
    for part in found:
        # "story_part2" may have a part 0 of its own, in a file of one part, and "x_split1500_S60" a number.
        own = part.record.doc_key, None if part.window else part.record.extra.get("document")
        keyed = _by_key(part.record, part.document) if counts[part.document] == 1 else None
        if keyed and part.document in own:
            part = keyed._replace(start=part.start)
        groups.setdefault(part.document, []).append(part)
    return [_document(name, _in_order(name, parts)) for name, parts in groups.items()]


def _part_of(record: Record) -> _Part:
    said = record.extra
    start = _whole(said.get("start"))
    if start is not None and start < 0:
        raise DataError(f"{record.source}: a window starts at token {start}", expected="0 or more")
    name = said.get("document") if isinstance(said.get("document"), str) else None
    for field in ("part", "window"):
        number = said[field] if isinstance(said.get(field), str) else _whole(said.get(field))
        if number is not None and (name or field == "window"):
            return _Part(name or record.doc_key, str(number), record, field == "window", None, start)
    if keyed := _by_key(record, record.doc_key):
        return keyed._replace(start=start)
    if start is None:
        return _Part(record.doc_key, "0", record)
    return _Part(name or record.doc_key, str(start), record, True, None, start)


def _by_key(record: Record, name: str) -> _Part | None:
    """What the name of a part says, None where it is a whole document's."""
    if key := read_window_key(name):
        return _Part(key.book, str(key.first_sentence), record, True, key.first_sentence)
    match = _KEY.fullmatch(name)
    return _Part(match[1], match[3] or match[4], record, match[2].lower() != "part") if match else None


def _whole(value: object) -> int | None:
    """The whole number that a field says, also as "2", or as 2.0, which tables write."""
    if isinstance(value, str):
        return int(value) if value.isdecimal() else None
    if not isinstance(value, int | float) or isinstance(value, bool) or value != value // 1:
        return None
    return int(value)


def _in_order(name: str, parts: Sequence[_Part]) -> list[_Part]:
    """The parts by number, or by first token where all say it. Numbers that are none ("intro", "end") stay in
    the order of the input."""
    written = [p.number.lower() for p in parts]
    fit = (value for form, value in _COUNTED if all(re.fullmatch(form, n) for n in written))
    value = next(fit, None)
    values = [value(n) for n in written] if value else None
    numbers = values or written
    counts = Counter[int | str](numbers)
    if twice := [n for n in counts if counts[n] > 1]:
        same = [p for p, n in zip(parts, numbers, strict=True) if n == twice[0]]
        what = f"{name}: part {same[0].number} is given twice"
        sources = "; ".join(p.record.source for p in same)
        hint = "remove one of the two, or give one another number in the field part or window"
        raise DataError(what, expected="each part once", found=sources, hint=hint)
    shown = ", ".join(p.number for p in parts[:20])
    if values is None:
        if any(n.isdecimal() for n in written):
            raise DataError(f"{name}: some parts have numbers, others have none", found=shown)
        return list(parts)
    if all(p.start is not None for p in parts):
        return sorted(parts, key=lambda part: part.start or 0)
    of_nine = [int(match[5] or 0) for part in parts if (match := _KEY.fullmatch(part.record.doc_key))]
    found = sorted(values)
    last = found[-1] + (2 if len(parts) < max(of_nine, default=0) else 1)
    gap = next((a + 1 for a, b in pairwise([min(found[0], 1) - 1, *found, last]) if b > a + 1), None)
    if gap is not None and len(parts) > 1 and parts[0].sentence is None:
        raise _gap(name, f"part {gap}", f"parts {shown}")
    return [parts[i] for i in sorted(range(len(parts)), key=values.__getitem__)]


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
    own = [flat(part.record.sentences) for part in parts if part.window]
    everywhere = len(own) > 2 and all(_overlap(*both, LEAST_EVERYWHERE) for both in pairwise(own))
    least = LEAST_EVERYWHERE if everywhere else LEAST_SHARED
    for position, part in enumerate(parts):
        book = part.record.to_book()
        offset = _start_of(part, sentences, tokens, least)
        starts.append(offset)
        cuts.append(len(tokens) - offset)
        clusters, ids = part.record.clusters, part.record.extra.get("cluster_ids")
        named = ids if isinstance(ids, list) and len(ids) == len(clusters) else range(len(clusters))
        moved = [tuple(sorted(Mention(a + offset, b + offset) for a, b in cluster)) for cluster in clusters]
        own_chains = dict(zip(map(str, named), moved, strict=True))
        if len(own_chains) < len(clusters):
            raise BookError(f"{part.record.source}: two chains have the same id", hint="mend the file")
        for i, spans in sorted(own_chains.items(), key=lambda c: (c[1][0].start, -c[1][0].end, c[0])):
            chains[ChainRef(position, i)] = spans
        for first, sentence in zip((0, *book.sentence_ends), book.sentences, strict=False):
            rest = sentence[max(cuts[-1] - first, 0) :]
            if rest and len(rest) < len(sentence) and sentences:
                sentences[-1] += tuple(rest)
            elif rest or not sentence:
                sentences.append(tuple(rest))
        tokens += book.tokens[cuts[-1] :]
    keys = {p.record.gutenberg_key for p in parts}
    left_out = Counter(field for p in parts for field in p.record.extra if field not in _READ)
    left_out["characters"] = sum(len(p.record.characters) for p in parts)
    left_out["gutenberg_key"] = len(keys) * (len(keys) > 1)
    return SplitDocument(
        name, tuple(p.number for p in parts), tuple(starts), tuple(sentences), chains,
        _layers([p.record for p in parts], cuts, map(len, sentences)), _shared(chains) if any(cuts) else {},
        gutenberg_key=keys.pop() if len(keys) == 1 else "", overlaps=any(cuts),
        windows=any(p.window for p in parts), left_out=+left_out,
    )  # fmt: skip


def _overlap(before: Sequence[str], own: Sequence[str], least: int) -> int:
    """The longest run of tokens, `least` or more, that ends what was laid before and opens a window; or 0."""
    sizes = range(min(len(before), len(own)), least - 1, -1)
    return next((n for n in sizes if before[-n] == own[0] and before[-n:] == own[:n]), 0)


def _start_of(part: _Part, sentences: Sequence[Sequence[str]], tokens: list[str], least: int) -> int:
    """The first token of a part in what is laid so far. Raises DataError: a gap, or other tokens."""
    own = flat(part.record.sentences)
    at = len(tokens) if part.start is None else part.start
    if part.sentence is not None:
        if part.sentence > len(sentences):
            raise _gap(part.document, f"sentence {len(sentences)}", f"a window from {part.sentence} on")
        at = sum(map(len, sentences[: part.sentence]))
    elif part.start is None and part.window:
        at -= _overlap(tokens, own, least)
    if at > len(tokens):
        raise _gap(part.document, f"token {len(tokens)}", f"a window from token {at} on")
    if tokens[at : at + len(own)] != own[: len(tokens) - at]:
        raise DataError(
            f"{part.record.source}: window {part.number} of {part.document} overlaps the one before, "
            "but has other tokens there",
            expected=" ".join(tokens[at : at + 8]), found=" ".join(own[:8]),
        )  # fmt: skip
    return at


def _shared(chains: dict[ChainRef, tuple[Mention, ...]]) -> dict[ChainRef, ChainRef]:
    """Chains of overlapping windows that share mentions: each joins one earlier chain, most shared first."""
    owners = together((mention, ref) for ref, mentions in chains.items() for mention in mentions)
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


def _layers(records: Sequence[Record], cuts: Sequence[int], sizes: Iterable[int]) -> dict[str, Layer]:
    """The layers of all parts, one behind the other; a part that lacks one says nothing in it."""
    found = [layers_of(record) for record in records]
    for record, layers in zip(records, found, strict=True):
        if (speakers := speakers_of(record)) is not None:
            layers["speakers"] = speakers
    made = {}
    ends = [0, *accumulate(sizes)]
    for name in dict.fromkeys(name for layers in found for name in layers):
        values: list[str] = []
        for record, layers, cut in zip(records, found, cuts, strict=True):
            rows = layers.get(name) or [[""] * len(s) for s in record.sentences or []]
            values += flat(rows)[cut:]
        made[name] = [values[a:b] for a, b in pairwise(ends)]
    return made
