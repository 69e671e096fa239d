"""Move mentions from one tokenisation of a text onto another, by the characters of the tokens.

A system with its own tokenizer (BookNLP) is scored on the tokens of the key. White space and the `_` of
Gutenberg's italics are left out on both sides, typographic quotes and dashes count as plain ones, and the
two character sequences are aligned: at once where they are equal, else by `align`.
"""

import re
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from ..alignment.sequence import align, codes_of, join_runs
from ..books import Mention, Record
from ..errors import DataError
from .base import BY_CLUSTER, kept_by_cluster
from .conversion_report import ConversionReport
from .layers import attributes_of, flat, mention_types, note_layers

LOST = "mentions whose text is not in the key"
SNAPPED = "mentions whose ends lie inside tokens of the key (the whole tokens are taken)"

_PLAIN = str.maketrans("‘’‚‛“”„‟‐‑‒–—―−", "''''\"\"\"\"-------", "_")
IntArray = npt.NDArray[np.int64]
Report = ConversionReport | None
# Anchor lengths in characters. Shorter stretches that occur once on both sides may do so by chance.
_STRETCHES = (48, 16)
# Fields that count sentences or tokens of the record's own tokenisation in ways that do not carry over.
_BY_PLACE = (
    *("comments", "multiword_tokens", "quotations", "parts", "sentence_lengths"),
    *("token_starts", "token_ends", "chapters"),
)
_ANY = re.compile(r".*", re.DOTALL)


def project_all(records: Iterable[Record], keys: Sequence[Record], report: Report) -> list[Record]:
    """Each record on the tokens of the key with the same document key; one alone goes onto one alone. Raises
    DataError: a record has no key, or one side has no tokens."""
    records = list(records)
    by_key = {key.doc_key: key for key in keys}
    if len(records) == len(keys) == 1:
        return [project(records[0], keys[0], report)]
    missing = [record.doc_key for record in records if record.doc_key not in by_key]
    if missing:
        what = f"the key has no document for {', '.join(missing[:5])}"
        hint = "name the files after the document keys, or convert one document at a time"
        raise DataError(what, expected=f"one of {', '.join(list(by_key)[:5])}", hint=hint)
    return [project(record, by_key[record.doc_key], report) for record in records]


def project(record: Record, key: Record, report: Report) -> Record:
    """The record's clusters on the key's tokens; mentions that cannot be placed are counted in `report`."""
    for one in (record, key):
        if one.sentences is None:
            what = f"{one.source or one.doc_key}: document {one.doc_key!r} has no tokens"
            raise DataError(what, expected="tokens on both sides of a projection")
    move = _Mover(flat(record.sentences), flat(key.sentences), key.doc_key, report)
    clusters = [_kept(move(m) for m in cluster) for cluster in record.clusters]
    characters = [(name, _kept(map(move.quietly, spans))) for name, spans in record.characters]
    note_layers(record, report)
    full = [bool(cluster) for cluster in clusters]
    fields = dict(record.extra)
    if fields.pop("mention_types", None) is not None:
        moved = [(move.quietly(m), kind) for m, kind in mention_types(record, _ANY).items()]
        fields["mention_types"] = [[*span, kind] for span, kind in moved if span is not None]
    if fields.pop("mention_attributes", None) is not None:
        attributed = [(move.quietly(m), a) for m, items in attributes_of(record).items() for a in items]
        fields["mention_attributes"] = [[*span, a] for span, a in attributed if span is not None]
    for name in _BY_PLACE:
        if fields.pop(name, None) is not None and report is not None:
            report.add(f"fields {name!r} of documents whose tokens are replaced", record.doc_key)
    wrong = {n for n in BY_CLUSTER if type(fields.get(n)) is not list or len(fields[n]) != len(full)}
    return Record(
        key.doc_key, key.gutenberg_key, key.sentences, [cluster for cluster in clusters if cluster],
        [(name, spans) for name, spans in characters if spans], record.source,
        {name: value for name, value in kept_by_cluster(fields, full).items() if name not in wrong},
        key.speakers,
    )  # fmt: skip


class _Mover:
    """Moves mentions of `source` tokens onto `target` tokens."""

    def __init__(self, source: list[str], target: list[str], doc_key: str, report: Report) -> None:
        self._doc_key, self._report, self._source = doc_key, report, source
        text, self._first = _characters(source)
        key_text, self._key_first = _characters(target)
        # For each character the index of the same character in the key, increasing, or -1
        self._matched = np.arange(len(text))
        if text != key_text:
            old, new = codes_of(text), codes_of(key_text)
            self._matched = join_runs(align(old, new, _STRETCHES), old, new)
        self._token_of = np.repeat(np.arange(len(target)), np.diff(self._key_first))

    def __call__(self, mention: Mention) -> Mention | None:
        """The mention on the key's tokens, or None; one that is lost or moved goes into the report."""
        moved, exact = self._move(mention)
        if self._report is not None and not exact:
            words = " ".join(self._source[mention.start : mention.end + 1])[:60]
            self._report.add(LOST if moved is None else SNAPPED, self._doc_key, f"{tuple(mention)} {words!r}")
        return moved

    def quietly(self, mention: Mention) -> Mention | None:
        """The same without a report."""
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


def _characters(tokens: list[str]) -> tuple[str, IntArray]:
    """All visible characters in one text, and where each token begins in it (one more for the end)."""
    visible = ["".join(token.translate(_PLAIN).split()) for token in tokens]
    return "".join(visible), np.concatenate(([0], np.cumsum([len(v) for v in visible], dtype=np.int64)))


def _kept(spans: Iterable[Mention | None]) -> list[Mention]:
    return sorted({span for span in spans if span is not None})
