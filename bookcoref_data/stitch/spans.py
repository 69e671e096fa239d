"""Standoff annotation as bytes: clusters and characters of one document, in the order given.

Mentions of all groups are merged in order of their start, so that their distances are small numbers.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..books import Book, Mention
from ..errors import DataError
from .varint import pack_numbers, unpack_numbers

Span = Sequence[int]

MentionGroup = tuple[Mention, ...]


@dataclass(frozen=True, slots=True)
class Standoff:
    """Clusters, and characters as (name, mentions); offsets count the tokens of their document."""

    clusters: tuple[MentionGroup, ...] = ()
    characters: tuple[tuple[str, MentionGroup], ...] = ()

    @classmethod
    def of(cls, book: Book) -> "Standoff":
        return cls(book.clusters, tuple((c.name, c.mentions) for c in book.characters))

    @classmethod
    def make(
        cls, clusters: Iterable[Iterable[Span]], characters: Iterable[tuple[str, Iterable[Span]]]
    ) -> "Standoff":
        """From any pairs of ints."""
        return cls(
            tuple(tuple(Mention(*m) for m in cluster) for cluster in clusters),
            tuple((name, tuple(Mention(*m) for m in mentions)) for name, mentions in characters),
        )

    def groups(self) -> tuple[list[MentionGroup], list[int]]:
        """(clusters, then the mentions of characters that are no cluster; the group of each character)."""
        groups = list(self.clusters)
        numbers = {cluster: i for i, cluster in reversed(list(enumerate(groups)))}
        links = []
        for _, mentions in self.characters:
            if mentions not in numbers:
                numbers[mentions] = len(groups)
                groups.append(mentions)
            links.append(numbers[mentions])
        return groups, links

    def __bool__(self) -> bool:
        return bool(self.clusters or self.characters)


def pack_annotation(annotation: Standoff) -> tuple[bytes, bytes]:
    """(numbers, names as JSON). A character whose mentions are a cluster is stored as its number."""
    groups, links = annotation.groups()
    names = json.dumps([name for name, _ in annotation.characters], ensure_ascii=False, separators=(",", ":"))
    header = [len(annotation.clusters), len(groups), len(links), *links, *map(len, groups)]
    flat = sorted((m.start, m.end, g, place) for g, own in enumerate(groups) for place, m in enumerate(own))
    table = np.array(flat, dtype=np.int64).reshape(-1, 4)
    if table.size and (table[:, 0].min() < 0 or (table[:, 1] < table[:, 0]).any()):
        raise DataError("a mention of the annotation is no span", expected="0 <= start <= end")
    # Distances of starts, lengths, groups; then per mention its place in its group as given, or nothing when
    # every group lists its mentions in order already
    starts, lengths = np.diff(table[:, 0], prepend=0), table[:, 1] - table[:, 0]
    owner, places = table[:, 2], table[:, 3]
    in_order = [place for size in np.bincount(owner).tolist() for place in range(size)]
    if places[np.argsort(owner, kind="stable")].tolist() == in_order:
        places = places[:0]
    columns = (starts, lengths, owner, places)
    numbers = pack_numbers([*header, *(value for column in columns for value in column.tolist())])
    return numbers, names.encode("utf-8", "surrogatepass")


def unpack_annotation(numbers: bytes, names: bytes, tokens: int) -> Standoff:
    """Inverse of `pack_annotation`; `tokens` bounds every offset. Raises DataError: the numbers do not add
    up, or an offset lies outside the document."""
    values = unpack_numbers(numbers, "annotation of the pack")
    if values.size < 3 or values.size < 3 + values[1] + values[2]:
        raise _broken("its beginning")
    clusters, groups, linked = (int(v) for v in values[:3])
    links, sizes = values[3 : 3 + linked], values[3 + linked : 3 + linked + groups]
    rest = values[3 + linked + groups :]
    count = int(sizes.sum())
    if rest.size not in (3 * count, 4 * count) or clusters > groups or (linked and links.max() >= groups):
        raise _broken("the number of mentions")
    starts = np.cumsum(rest[:count])
    ends = starts + rest[count : 2 * count]
    owner = rest[2 * count : 3 * count]
    if count and (ends.max() >= tokens or owner.max() >= groups):
        raise _broken("a mention")
    order = np.argsort(owner, kind="stable")
    if not np.array_equal(np.bincount(owner, minlength=groups), sizes):
        raise _broken("the size of a cluster")
    if rest.size == 4 * count:
        order = np.lexsort((rest[3 * count :], owner))
    spans = list(map(Mention._make, zip(starts[order].tolist(), ends[order].tolist(), strict=True)))
    bounds = np.concatenate(([0], np.cumsum(sizes))).tolist()
    parts = [tuple(spans[a:b]) for a, b in pairwise(bounds)]
    try:
        titles = json.loads(names.decode("utf-8", "surrogatepass")) if names else []
    except (ValueError, RecursionError) as error:
        raise _broken("the names") from error
    if not (isinstance(titles, list) and len(titles) == linked and all(isinstance(n, str) for n in titles)):
        raise _broken("the names")
    named = tuple((name, parts[g]) for name, g in zip(titles, links.tolist(), strict=True))
    return Standoff(tuple(parts[:clusters]), named)


def _broken(part: str) -> DataError:
    what = f"the annotation in the pack is broken: {part} does not fit"
    return DataError(what, hint="fetch or make the pack again (bookcoref-data pack)")
