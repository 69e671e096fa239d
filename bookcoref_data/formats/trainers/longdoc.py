"""Lines for Longdoc (fast-coref) and Dual-cache, which read subwords in segments.

`doc_key`, `sentences` (segments: lists of subword ids without special ones), `clusters` of [first subword,
last subword], `sentence_map` (the sentence of each subword), `subtoken_map` (the token of each subword).
Both systems look for files named `train.2048.jsonlines`, `dev.2048.jsonlines`, `test.2048.jsonlines`, where
2048 is the length of a segment with its two special subwords.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from ...books import Mention, Record
from ...errors import UsageError, needing
from ..base import sentences_of
from ..conversion_report import ConversionReport, Note
from .common import note_fields, visible_clusters, writer


class FastTokenizer(Protocol):
    """What is used of a `PreTrainedTokenizerFast`."""

    is_fast: bool

    def __call__(self, text: list[str], **options: Any) -> Any: ...


@dataclass(frozen=True)
class SubwordMap:
    """The subwords of a document: `ids`, and the token of each (`tokens[i]`, None for special ones).

    White space is the trap: BookCoref has tokens that are a line end (1,281 in *Pride and Prejudice*), and
    most tokenizers give these no subword. A span that begins or ends on one is cut to the subwords there are.

    `first[t]` and `last[t]` are the subwords of token t; a token without any has first -1.
    """

    ids: list[int]
    tokens: list[int | None]
    first: list[int]
    last: list[int]

    def to_subwords(self, mention: Mention) -> Mention | None:
        """The subwords of a span of tokens, both ends inclusive; None if it has none."""
        start, end = mention
        while start <= end and self.first[start] < 0:
            start += 1
        while start <= end and self.first[end] < 0:
            end -= 1
        return None if start > end else Mention(self.first[start], self.last[end])


def map_subwords(tokens: Sequence[str], tokenizer: FastTokenizer, *, special: bool = False) -> SubwordMap:
    """Tokenize the tokens of a document, each on its own, without cutting the document short.

    `special` adds the tokenizer's special subwords at both ends, as its model wants them.

    Raises UsageError: the tokenizer is not a fast one (it cannot say which subword belongs to which token).
    """
    if not getattr(tokenizer, "is_fast", False):
        raise UsageError(
            f"{type(tokenizer).__name__} cannot say which subwords belong to which token",
            expected="a fast tokenizer",
            hint="load it with AutoTokenizer.from_pretrained(name, use_fast=True)",
        )
    encoded = tokenizer(
        list(tokens), is_split_into_words=True, add_special_tokens=special, truncation=False, verbose=False
    )
    owners: list[int | None] = encoded.word_ids()
    first, last = [-1] * len(tokens), [-1] * len(tokens)
    for i, token in enumerate(owners):
        if token is not None:
            first[token] = i if first[token] < 0 else first[token]
            last[token] = i
    return SubwordMap(list(encoded["input_ids"]), owners, first, last)


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


def write(
    records: Iterable[Record], path: Path, *, report: ConversionReport | None = None,
    tokenizer: str | FastTokenizer | None = None, segment_length: int = SEGMENT_LENGTH,
) -> None:  # fmt: skip
    """Write documents in subwords of `tokenizer` (a name, a folder, or a fast tokenizer).

    Raises:
        UsageError: no tokenizer, one that is not fast, or segments of fewer than 3 subwords.
        DataError: a document's tokens are not known.
    """
    if tokenizer is None:
        raise UsageError(
            "this format is written in subwords, so it needs a tokenizer",
            expected="--tokenizer NAME (for Longdoc and Dual-cache: allenai/longformer-large-4096)",
        )
    if segment_length <= _SPECIAL:
        raise UsageError(f"--segment-length {segment_length} is too short", expected="at least 3")
    loaded = load_tokenizer(tokenizer) if isinstance(tokenizer, str) else tokenizer
    room = segment_length - _SPECIAL

    def line_of(record: Record, report: ConversionReport, note: Note) -> dict[str, Any]:
        sentences = sentences_of(record)
        note_fields(record, report)
        tokens = [token for sentence in sentences for token in sentence]
        sentence_of = [number for number, sentence in enumerate(sentences) for _ in sentence]
        subwords = map_subwords(tokens, loaded)
        owners = [owner for owner in subwords.tokens if owner is not None]
        clusters: list[list[Mention]] = []
        for cluster in visible_clusters(record, note):
            moved = [subwords.to_subwords(mention) for mention in cluster]
            note(NO_SUBWORD, count=moved.count(None))
            clusters.append([span for span in moved if span is not None])
        clusters = [cluster for cluster in clusters if cluster]
        note("white-space tokens", count=subwords.first.count(-1))
        report.wrote(len(tokens), clusters)
        ends = segment_ends(owners, [sentence_of[owner] for owner in owners], room)
        return {
            "doc_key": record.doc_key,
            "sentences": [subwords.ids[a:b] for a, b in zip([0, *ends], ends, strict=False)],
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
