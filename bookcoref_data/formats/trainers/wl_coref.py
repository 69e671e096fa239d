"""Lines for wl-coref: what its `convert_to_jsonlines.py` and `convert_to_heads.py` make of OntoNotes.

`document_id`, `part_id`, `cased_words`, `sent_id`, `speaker`, `pos`, `deprel`, `head`, all flat; spans are
[first word, end), the end exclusive; `span_clusters`, `word_clusters` (each mention as its head word) and
`head2span`. The head of a mention is the word in it that is governed from outside; where there is none, or
several, or no syntax at all, it is the last word (the rule of convert_to_heads.py). Two mentions cannot share
a head: the shortest keeps it, the others are not in `word_clusters`.

The system looks its genre up by the first two letters of `document_id`, so keys that begin with none of
OntoNotes' genres get `pt_` (pivot text, its one genre of long prose) in front.
White-space tokens are left out: the system cannot represent a word without subwords. So are the spans of
mentions that cross the end of a sentence: the span predictor looks for both ends in the sentence of the head,
and where one lies outside its loss is infinite. Their heads stay in `word_clusters`.
"""

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from ...books import Mention, Record
from ...shapes import together
from ..base import sentences_of
from ..conversion_report import ConversionReport, Note
from ..layers import flat, heads_of, layers_of
from .common import NOBODY, is_blank, named_speakers, note_fields, visible_clusters, writer

GENRES = ("bc", "bn", "mz", "nw", "pt", "tc", "wb")
SHARED_HEADS = "mentions whose head is that of a shorter mention (they are in span_clusters alone)"
CROSSING = "mentions that cross the end of a sentence (their head is kept, their span is not learnt)"
LONE_HEADS = "clusters of which fewer than two heads are left (they are in span_clusters alone)"


@writer
def write(record: Record, report: ConversionReport, note: Note) -> dict[str, Any]:
    """Write what wl-coref trains on. Raises DataError: a document's tokens are not known."""
    tokens = [(number, token) for number, sentence in enumerate(sentences_of(record)) for token in sentence]
    kept = [i for i, (_, token) in enumerate(tokens) if not is_blank(token)]
    # The place of each token among the words; that of a left-out token is the next word's.
    place = [0, *accumulate(not is_blank(token) for _, token in tokens)]
    note_fields(record, report, {"speakers", "xpos", "deprel", "head", "document_head"})
    spans = [[Mention(place[a], place[b + 1]) for a, b in own] for own in visible_clusters(record, note)]
    note("white-space tokens", count=len(tokens) - len(kept))
    report.wrote(len(kept), spans)
    layers = layers_of(record)
    of_tokens = heads_of(record) or [None] * len(tokens)
    # Heads as places among the words; None for a root and for a head that is left out
    said = [h if (h := of_tokens[i]) is not None and place[h + 1] > place[h] else None for i in kept]
    heads = [None if head is None else place[head] for head in said]
    # The span of each head, and the clusters as heads; of mentions with one head the shortest stays
    claims = together((head_of(span, heads), (n, span)) for n, own in enumerate(spans) for span in own)
    clusters: list[list[int]] = [[] for _ in spans]
    by_head = {}
    for head, owners in claims.items():
        number, span = min(owners, key=lambda owner: owner[1].end - owner[1].start)
        clusters[number].append(head)
        by_head[head] = span
    note(SHARED_HEADS, count=sum(len(owners) - 1 for owners in claims.values()))
    note(LONE_HEADS, count=sum(len(cluster) < 2 for cluster in clusters))
    word_clusters = [sorted(cluster) for cluster in clusters if len(cluster) > 1]
    sentence_of = [tokens[i][0] for i in kept]
    inside = {h: s for h, s in by_head.items() if sentence_of[s.start] == sentence_of[s.end - 1]}
    note(CROSSING, count=len(by_head) - len(inside))
    speakers = flat(named_speakers(record))
    has_genre = record.doc_key[:2] in GENRES and record.doc_key[2:3] in ("/", "_", "-")
    return {
        "document_id": record.doc_key if has_genre else f"pt_{record.doc_key}",
        "part_id": 0,
        "cased_words": [tokens[i][1] for i in kept],
        "sent_id": sentence_of,
        "speaker": [speakers[i] for i in kept] if record.speakers else [NOBODY] * len(kept),
        "pos": _column(layers.get("xpos"), kept),
        "deprel": _column(layers.get("deprel"), kept),
        "head": heads,
        "head2span": [[head, *span] for head, span in inside.items()],
        "word_clusters": word_clusters,
        "span_clusters": spans,
    }


def _column(layer: list[list[str]] | None, kept: list[int]) -> list[str]:
    values = flat(layer)
    return [values[i] or NOBODY for i in kept] if values else [NOBODY] * len(kept)


def head_of(span: Mention, heads: Sequence[int | None]) -> int:
    """The head word of [start, end): the only word with its head outside, else the last word."""
    start, end = span
    outside = [i for i in range(start, end) if (head := heads[i]) is None or not start <= head < end]
    return outside[0] if len(outside) == 1 else end - 1
