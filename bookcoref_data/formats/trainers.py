"""Files that trainable coreference systems read, each with the keys of that system's public reader.

One document a line. `jsonlines`, for maverick-coref, s2e, LingMess and fastcoref: `doc_key`, `sentences`,
`speakers` (one name a token, "-" where nobody is named) and `clusters` of [first token, last token]. s2e
stops without `speakers`, so they are always there. Such files are read as any JSON lines.

fastcoref's trainer counts in tokens, its predictions count in characters. `fastcoref` is what the trainer
reads: `doc_key`, `tokens` (flat), `clusters`, and `speakers` where there are any (the trainer puts every
name it is given into the text). `fastcoref-text` is the shape of its predictions: `text`, and `clusters`
of [first character, end), the end exclusive. The trainer reads this, too, but cuts the text into tokens
by spaCy and stops at a mention that begins or ends inside one of these; the first form has no such risk.

`wl-coref`: what its `convert_to_jsonlines.py` and `convert_to_heads.py` make of OntoNotes: `document_id`,
`part_id`, `cased_words`, `sent_id`, `speaker`, `pos`, `deprel`, `head`, all flat; spans are [first word,
end), the end exclusive; `span_clusters`, `word_clusters` (each mention as its head word) and `head2span`.
The head of a mention is the word in it that is governed from outside; where there is none, or several, or
no syntax at all, it is the last word (the rule of convert_to_heads.py). Two mentions cannot share a head:
the shortest keeps it, the others are not in `word_clusters`. The system looks its genre up by the first
two letters of `document_id`, so keys that begin with none of OntoNotes' genres get `pt_` (pivot text, its
one genre of long prose) in front. White-space tokens are left out: the system cannot represent a word
without subwords. So are the spans of mentions that cross the end of a sentence: the span predictor looks
for both ends in the sentence of the head, and where one lies outside its loss is infinite. Their heads
stay in `word_clusters`.

`longdoc` (fast-coref) and `dual-cache` read subwords in segments: `doc_key`, `sentences` (segments: lists
of subword ids without special ones), `clusters` of [first subword, last subword], `sentence_map` (the
sentence of each subword), `subtoken_map` (the token of each subword). Both systems look for files named
`train.2048.jsonlines`, `dev.2048.jsonlines`, `test.2048.jsonlines`, where 2048 is the length of a segment
with its two special subwords.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, Protocol
from unicodedata import category

from ..books import Mention, Record
from ..errors import UsageError, needing
from ..shapes import together
from .base import FIELDS, GUTENBERG_KEYS, NAMES, inside, sentences_of
from .compressed import packing
from .conversion_report import ConversionReport, Note
from .layers import flat, heads_of, layers_of, note_layers, speakers_of
from .lines import json_line

BLANK_MENTIONS = "mentions of white space alone"
BLANK_ENDS = "ends of mentions on white-space tokens (the mention is cut to its words)"
CHANGING_SPEAKERS = "mentions in which the speaker changes (all of it is given to the first)"
NOBODY = "-"

LineOf = Callable[[Record, ConversionReport, Note], dict[str, Any]]


def writer(line_of: LineOf) -> Callable[..., None]:
    """The writer of a format: `line_of(record, report, note)`, a JSON object, for each record."""

    def write(records: Iterable[Record], path: Path, *, report: ConversionReport | None = None) -> None:
        report = report or ConversionReport()
        with packing(path) as stream:
            for record in records:
                stream.write(json_line(line_of(record, report, report.note(record.doc_key))) + b"\n")

    return write


def note_fields(record: Record, report: ConversionReport, held: Iterable[str] = ()) -> None:
    """Count what trainers' files have no place for: names, keys, other fields, layers not in `held`."""
    note, key = report.note(record.doc_key), record.gutenberg_key
    note_layers(record, report, set(held))
    note(NAMES, count=len(record.characters))
    note(GUTENBERG_KEYS, key, bool(key))
    note(FIELDS, ", ".join(sorted(record.extra)), len(record.extra))


def named_speakers(record: Record) -> list[list[str]]:
    """One name a token, "-" where nobody is named."""
    speakers = speakers_of(record) or [[""] * len(sentence) for sentence in sentences_of(record)]
    return [[name or NOBODY for name in row] for row in speakers]


def steady_speakers(record: Record, clusters: Sequence[Sequence[Mention]], note: Note) -> list[list[str]]:
    """`named_speakers`, with one speaker all through every mention: that of its first token.

    maverick-coref, LingMess and fastcoref put the name of the speaker into the text wherever it changes, and
    stop where that is inside a mention. What is changed is counted.
    """
    rows = named_speakers(record)
    names = [name for row in rows for name in row]
    changed = 0
    # In the order of their beginnings: what a mention has changed no later one changes back.
    for start, end in sorted(mention for cluster in clusters for mention in cluster):
        if any(name != names[start] for name in names[start : end + 1]):
            names[start : end + 1] = [names[start]] * (end + 1 - start)
            changed += 1
    note(CHANGING_SPEAKERS, count=changed)
    return [names[a:b] for a, b in pairwise([0, *accumulate(map(len, rows))])]


def is_blank(token: str) -> bool:
    """Whether a token has nothing to see: white space, or marks such as a byte order mark or a soft hyphen.

    Many tokenizers give such a token no subword. A trainer then stops, or learns from an empty word.
    """
    return all(c.isspace() or category(c) in ("Cc", "Cf") for c in token)


def trimmed(mention: Mention, blank: Sequence[bool]) -> Mention | None:
    """A span without the blank tokens at its ends; None where it has no others."""
    inside = [i for i in range(mention.start, mention.end + 1) if not blank[i]]
    return Mention(inside[0], inside[-1]) if inside else None


def visible_clusters(record: Record, note: Note) -> list[list[Mention]]:
    """The clusters whose mentions lie on the tokens and begin and end on a word, not on white space.

    BookCoref has tokens that are a line end. Tokenizers give them no subword (`is_blank`), and trainers stop
    where a mention begins or ends on such a token. What is cut or left out is counted.
    """
    blank = [is_blank(token) for sentence in sentences_of(record) for token in sentence]
    clusters = []
    for cluster in inside(record.clusters, len(blank), note):
        kept = []
        for mention in cluster:
            span = trimmed(mention, blank)
            if span is None:
                note(BLANK_MENTIONS, str(tuple(mention)))
            else:
                note(BLANK_ENDS, str(tuple(mention)), span != mention)
                kept.append(span)
        if kept:
            clusters.append(kept)
    return clusters


@writer
def write_jsonlines(record: Record, report: ConversionReport, note: Note) -> dict[str, Any]:
    """Write documents as lines of JSON.

    Left out, and counted in `report`: names of characters, Gutenberg keys, token layers, unknown fields.
    Raises DataError: a document's tokens are not known.
    """
    sentences = sentences_of(record)
    note_fields(record, report, {"speakers"})
    clusters = visible_clusters(record, note)
    report.wrote(sum(map(len, sentences)), clusters)
    return {
        "doc_key": record.doc_key,
        "sentences": sentences,
        "speakers": steady_speakers(record, clusters, note),
        "clusters": clusters,
    }


@writer
def write_fastcoref(record: Record, report: ConversionReport, note: Note) -> dict[str, Any]:
    """Write what fastcoref's trainer reads. Sentences are not kept."""
    tokens = [token for sentence in sentences_of(record) for token in sentence]
    note_fields(record, report, {"speakers"})
    note("sentence boundaries", count=len(sentences_of(record)) - 1)
    clusters = visible_clusters(record, note)
    report.wrote(len(tokens), clusters)
    line: dict[str, Any] = {"doc_key": record.doc_key, "tokens": tokens, "clusters": clusters}
    if speakers_of(record) is not None:
        line["speakers"] = steady_speakers(record, clusters, note)
    return line


@writer
def write_fastcoref_text(record: Record, report: ConversionReport, note: Note) -> dict[str, Any]:
    """Write texts with clusters by characters: a space between tokens, a line end between sentences."""
    pieces: list[tuple[str, str]] = []  # each token, and what stands behind it
    for sentence in sentences_of(record):
        pieces += [(token, " ") for token in sentence[:-1]]
        pieces += [(token, "\n") for token in sentence[-1:]]
    note_fields(record, report)
    starts = [0, *accumulate(len(token) + len(gap) for token, gap in pieces)]
    clusters = visible_clusters(record, note)
    note("white-space tokens", count=sum(not t or t.isspace() for t, _ in pieces))
    report.wrote(len(pieces), clusters)
    return {
        "doc_key": record.doc_key,
        "text": "".join(token + gap for token, gap in pieces),
        "clusters": [[[starts[a], starts[b] + len(pieces[b][0])] for a, b in c] for c in clusters],
    }


# -- wl-coref --------------------------------------------------------------------------------------

GENRES = ("bc", "bn", "mz", "nw", "pt", "tc", "wb")
SHARED_HEADS = "mentions whose head is that of a shorter mention (they are in span_clusters alone)"
CROSSING = "mentions that cross the end of a sentence (their head is kept, their span is not learnt)"
LONE_HEADS = "clusters of which fewer than two heads are left (they are in span_clusters alone)"


@writer
def write_wl_coref(record: Record, report: ConversionReport, note: Note) -> dict[str, Any]:
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


# -- Longdoc, Dual-cache ------------------------------------------------------------------------


class FastTokenizer(Protocol):
    """What is used of a `PreTrainedTokenizerFast`."""

    is_fast: bool

    def __call__(self, text: list[str], **options: Any) -> Any: ...


def subwords_of(tokens: Sequence[str], tokenizer: FastTokenizer) -> tuple[list[int], list[int]]:
    """The ids of the subwords of a document without special ones, and the token of each.

    Each token is cut on its own, and none is left out for length. White space is the trap: BookCoref has
    tokens that are a line end (1,281 in *Pride and Prejudice*), and most tokenizers give these no subword.

    Raises UsageError: the tokenizer is not a fast one (it cannot say which subword belongs to which token).
    """
    if not getattr(tokenizer, "is_fast", False):
        what = f"{type(tokenizer).__name__} cannot say which subwords belong to which token"
        hint = "load it with AutoTokenizer.from_pretrained(name, use_fast=True)"
        raise UsageError(what, expected="a fast tokenizer", hint=hint)
    encoded = tokenizer(
        list(tokens), is_split_into_words=True, add_special_tokens=False, truncation=False, verbose=False
    )
    return list(encoded["input_ids"]), list(encoded.word_ids())


def load_tokenizer(name: str) -> FastTokenizer:
    """The fast tokenizer of a model, by its name on the Hub or its folder. No code of the model is run.

    Raises MissingExtraError: transformers is not installed. UsageError: it cannot be loaded.
    """
    with needing("gpu", "transformers", "writing subwords"):
        from transformers import AutoTokenizer
    try:
        # Byte-level tokenizers (RoBERTa, Longformer) take words one by one only with this.
        tokenizer: FastTokenizer = AutoTokenizer.from_pretrained(
            name, use_fast=True, add_prefix_space=True, trust_remote_code=False
        )
    except (OSError, ValueError) as error:
        raise UsageError(
            f"the tokenizer {name!r} cannot be loaded",
            found=str(error).splitlines()[0][:200],
            hint="give the name of a model on the Hub (for Longdoc: allenai/longformer-large-4096), or a "
            "folder with its tokenizer.json",
        ) from error
    return tokenizer


SEGMENT_LENGTH = 2048
_SPECIAL = 2  # one before a segment, one behind it: the systems add them
NO_SUBWORD = "mentions for which the tokenizer has no subword"


def write_longdoc(
    records: Iterable[Record], path: Path, *, report: ConversionReport | None = None,
    tokenizer: str | FastTokenizer | None = None, segment_length: int = SEGMENT_LENGTH,
) -> None:  # fmt: skip
    """Write documents in subwords of `tokenizer` (a name, a folder, or a fast tokenizer).

    Raises UsageError: no tokenizer, one that is not fast, or segments of fewer than 3 subwords. DataError: a
    document's tokens are not known.
    """
    if tokenizer is None:
        expected = "--tokenizer NAME (for Longdoc and Dual-cache: allenai/longformer-large-4096)"
        raise UsageError("this format is written in subwords, so it needs a tokenizer", expected=expected)
    if segment_length <= _SPECIAL:
        raise UsageError(f"--segment-length {segment_length} is too short", expected="at least 3")
    loaded = load_tokenizer(tokenizer) if isinstance(tokenizer, str) else tokenizer
    room = segment_length - _SPECIAL

    def line_of(record: Record, report: ConversionReport, note: Note) -> dict[str, Any]:
        sentences = sentences_of(record)
        note_fields(record, report)
        tokens = [token for sentence in sentences for token in sentence]
        sentence_of = [number for number, sentence in enumerate(sentences) for _ in sentence]
        ids, owners = subwords_of(tokens, loaded)
        # The last and the first subword of each token that has any
        last = {owner: i for i, owner in enumerate(owners)}
        first = {owner: i for i, owner in reversed([*enumerate(owners)])}
        bare = [i not in last for i in range(len(tokens))]
        clusters: list[list[Mention]] = []
        for cluster in visible_clusters(record, note):
            moved = [trimmed(mention, bare) for mention in cluster]
            note(NO_SUBWORD, count=moved.count(None))
            clusters.append([Mention(first[span.start], last[span.end]) for span in moved if span])
        clusters = [cluster for cluster in clusters if cluster]
        note("white-space tokens", count=sum(bare))
        report.wrote(len(tokens), clusters)
        ends = segment_ends(owners, [sentence_of[owner] for owner in owners], room)
        return {
            "doc_key": record.doc_key,
            "sentences": [ids[a:b] for a, b in zip([0, *ends], ends, strict=False)],
            "clusters": clusters,
            "sentence_map": [sentence_of[owner] for owner in owners],
            "subtoken_map": owners,
        }

    writer(line_of)(records, path, report=report)


def segment_ends(owners: list[int], sentences: list[int], room: int) -> list[int]:
    """Where segments of at most `room` subwords end (exclusive): after a sentence, else after a token.

    `owners` and `sentences` are the token and the sentence of each subword. A token longer than a segment is
    cut.
    """
    size = len(owners)
    ends: list[int] = []
    start = 0
    while start < size:
        furthest = min(start + room, size)
        end = _boundary(sentences, start, furthest) or _boundary(owners, start, furthest) or furthest
        ends.append(end)
        start = end
    return ends


def _boundary(units: list[int], start: int, furthest: int) -> int | None:
    """The last place behind `start`, up to `furthest`, at which a unit ends; None if there is none."""
    end = furthest
    while start < end < len(units) and units[end - 1] == units[end]:
        end -= 1
    return end if end > start else None
