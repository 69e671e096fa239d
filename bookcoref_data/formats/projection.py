"""Move mentions from one tokenisation of a text onto another, by the characters of the tokens.

A system with its own tokenizer (BookNLP) is scored on the tokens of the key. White space and the `_` of
Gutenberg's italics are left out on both sides, typographic quotes and dashes count as plain ones, and the
two character sequences are aligned: at once where they are equal, else on stretches that occur once on
both sides.
"""

from __future__ import annotations

import difflib
import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence

import numpy as np

from ..books import Mention, Record
from ..errors import DataError
from .conversion_report import Losses
from .kinds import mention_types

LOST = "mentions whose text is not in the key"
SNAPPED = "mentions whose ends lie inside tokens of the key (the whole tokens are taken)"

_PLAIN = str.maketrans("‘’‚‛“”„‟‐‑‒–—―−", "''''\"\"\"\"-------", "_")
_STRETCHES = (48, 16)  # lengths of the stretches tried, in characters
_ANY = re.compile(r".*", re.DOTALL)
_RUN = 16  # shorter equal ends may be chance: one letter of a header that the key does not have
_SMALL = 3_000  # gaps up to this long on both sides are compared character by character


def project_all(records: Iterable[Record], keys: Sequence[Record], losses: Losses | None) -> list[Record]:
    """Each record on the tokens of the key with the same document key; one alone goes onto one alone.

    Raises:
        DataError: a record has no key, or one side has no tokens.
    """
    records = list(records)
    by_key = {key.doc_key: key for key in keys}
    if len(records) == len(keys) == 1:
        return [project(records[0], keys[0], losses)]
    missing = [record.doc_key for record in records if record.doc_key not in by_key]
    if missing:
        raise DataError(
            f"the key has no document for {', '.join(missing[:5])}",
            expected=f"one of {', '.join(list(by_key)[:5])}",
            hint="name the files after the document keys, or convert one document at a time",
        )
    return [project(record, by_key[record.doc_key], losses) for record in records]


def project(record: Record, key: Record, losses: Losses | None) -> Record:
    """The record's clusters on the key's tokens; mentions that cannot be placed are told to `losses`."""
    for one in (record, key):
        if one.sentences is None:
            raise DataError(
                f"{one.source or one.doc_key}: document {one.doc_key!r} has no tokens",
                expected="tokens on both sides of a projection",
            )
    move = _Mover(_flat(record), _flat(key), key.doc_key, losses)
    clusters = [_kept(move(m) for m in cluster) for cluster in record.clusters]
    characters = [(name, _kept(map(move.quietly, spans))) for name, spans in record.characters]
    extra = dict(record.extra)
    if extra.pop("mention_types", None) is not None:
        moved = [(move.quietly(m), kind) for m, kind in mention_types(record, _ANY).items()]
        extra["mention_types"] = [[*span, kind] for span, kind in moved if span is not None]
    ids = extra.pop("cluster_ids", None)
    if type(ids) is list and len(ids) == len(clusters):
        extra["cluster_ids"] = [number for number, cluster in zip(ids, clusters, strict=True) if cluster]
    return Record(
        key.doc_key,
        key.gutenberg_key,
        key.sentences,
        [cluster for cluster in clusters if cluster],
        [(name, spans) for name, spans in characters if spans],
        record.source,
        extra,
    )


def align(a: str, b: str) -> np.ndarray:
    """For each character of `a` the index of the same character in `b`, increasing, or -1."""
    matched = np.full(len(a), -1, dtype=np.int64)
    x, y = _codes(a), _codes(b)
    todo = [(0, len(a), 0, len(b), 0)]
    while todo:
        a0, a1, b0, b1, level = todo.pop()
        a0, a1, b0, b1 = _strip_equal_ends(x, y, a0, a1, b0, b1, matched)
        if a0 == a1 or b0 == b1:
            continue
        if max(a1 - a0, b1 - b0) <= _SMALL:
            matcher = difflib.SequenceMatcher(None, a[a0:a1], b[b0:b1], autojunk=False)
            for i, j, n in matcher.get_matching_blocks():
                matched[a0 + i : a0 + i + n] = np.arange(b0 + j, b0 + j + n)
        elif level < len(_STRETCHES):
            size = _STRETCHES[level]
            anchors = _anchors(a, b, (a0, a1, b0, b1), size)
            i, j = a0, b0
            for p, q in anchors:
                if p < i or q < j:  # inside the stretch before it
                    continue
                todo.append((i, p, j, q, level))
                matched[p : p + size] = np.arange(q, q + size)
                i, j = p + size, q + size
            todo.append((i, a1, j, b1, level if anchors else level + 1))
    return matched


class _Mover:
    """Moves mentions of `source` tokens onto `target` tokens."""

    def __init__(self, source: list[str], target: list[str], doc_key: str, losses: Losses | None) -> None:
        self._doc_key, self._losses, self._source = doc_key, losses, source
        text, self._first = _characters(source)
        self._key_text, self._key_first = _characters(target)
        same = text == self._key_text
        self._matched = np.arange(len(text)) if same else align(text, self._key_text)
        self._token_of = np.repeat(np.arange(len(target)), np.diff(self._key_first))

    def __call__(self, mention: Mention) -> Mention | None:
        """The mention on the key's tokens, or None; both outcomes that surprise are told to the losses."""
        moved, exact = self._move(mention)
        if self._losses is not None and not exact:
            words = " ".join(self._source[mention.start : mention.end + 1])[:60]
            self._losses.add(LOST if moved is None else SNAPPED, self._doc_key, f"{tuple(mention)} {words!r}")
        return moved

    def quietly(self, mention: Mention) -> Mention | None:
        """The same without telling."""
        return self._move(mention)[0]

    def _move(self, mention: Mention) -> tuple[Mention | None, bool]:
        if not 0 <= mention.start <= mention.end < len(self._first) - 1:
            return None, False
        whole = self._matched[self._first[mention.start] : self._first[mention.end + 1]]
        found = whole[whole >= 0]
        if len(found) * 2 < len(whole) or not len(found):
            return None, False
        span = Mention(int(self._token_of[found[0]]), int(self._token_of[found[-1]]))
        covered = int(self._key_first[span.end + 1] - self._key_first[span.start])
        if covered > 2 * len(whole) + 20:  # its two halves were found in different places
            return None, False
        return span, covered == len(found)


def _flat(record: Record) -> list[str]:
    return [token for sentence in record.sentences or [] for token in sentence]


def _characters(tokens: list[str]) -> tuple[str, np.ndarray]:
    """All visible characters in one text, and where each token begins in it (one more for the end)."""
    visible = ["".join(token.translate(_PLAIN).split()) for token in tokens]
    return "".join(visible), np.concatenate(([0], np.cumsum([len(v) for v in visible], dtype=np.int64)))


def _codes(text: str) -> np.ndarray:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)


def _strip_equal_ends(
    x: np.ndarray, y: np.ndarray, a0: int, a1: int, b0: int, b1: int, matched: np.ndarray
) -> tuple[int, int, int, int]:
    """Match long equal runs at the beginning and at the end of two stretches; return what is left."""
    n = min(a1 - a0, b1 - b0)
    differ = np.flatnonzero(x[a0 : a0 + n] != y[b0 : b0 + n])
    head = int(differ[0]) if len(differ) else n
    head = head if head >= _RUN else 0
    matched[a0 : a0 + head] = np.arange(b0, b0 + head)
    a0, b0, n = a0 + head, b0 + head, n - head
    differ = np.flatnonzero(x[a1 - n : a1] != y[b1 - n : b1])
    tail = n - 1 - int(differ[-1]) if len(differ) else n
    tail = tail if tail >= _RUN else 0
    matched[a1 - tail : a1] = np.arange(b1 - tail, b1)
    return a0, a1 - tail, b0, b1 - tail


def _anchors(a: str, b: str, box: tuple[int, int, int, int], size: int) -> list[tuple[int, int]]:
    """Positions of stretches of `size` characters that occur once in both, the longest rising chain."""
    a0, a1, b0, b1 = box
    once = _once(b, b0, b1, size)
    pairs = sorted((p, once[s]) for s, p in _once(a, a0, a1, size).items() if s in once)
    return _rising(pairs)


def _once(text: str, start: int, end: int, size: int) -> dict[str, int]:
    seen: dict[str, int] = {}
    for i in range(start, end - size + 1):
        stretch = text[i : i + size]
        seen[stretch] = -1 if stretch in seen else i
    return {stretch: i for stretch, i in seen.items() if i >= 0}


def _rising(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest subsequence of pairs, sorted by their first, whose second members rise."""
    ends: list[int] = []
    at: list[int] = []
    before = [-1] * len(pairs)
    for i, (_, q) in enumerate(pairs):
        length = bisect_left(ends, q)
        before[i] = at[length - 1] if length else -1
        if length == len(ends):
            ends.append(q)
            at.append(i)
        else:
            ends[length], at[length] = q, i
    chain = []
    i = at[-1] if at else -1
    while i >= 0:
        chain.append(pairs[i])
        i = before[i]
    return chain[::-1]


def _kept(spans: Iterable[Mention | None]) -> list[Mention]:
    return sorted({span for span in spans if span is not None})
