"""Tags and dependency heads of every token, from spaCy's small English model, as plain arrays."""

from __future__ import annotations

import ctypes
import getpass
import platform
import re
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from itertools import tee
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ...books import Book
from ...files import sha256_bytes
from ...progress import Progress, Silent
from ...spacy_model import load_spacy_model
from ...words import QUOTE_MARKS
from .quotes import marked_speech, with_marks_alike

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc
    from spacy.vocab import Vocab

CHUNK_TOKENS = 4000
LONGEST_SENTENCE = 600
_CHUNKS_TOGETHER = 4
"""Chunks that the parser takes in step. The vectors of the words are made chunk by chunk: four at once took
most of the memory of a parse, and were no faster."""
_DASHED = re.compile(r"^([a-z]{2,})(?:--|—)$")
_NOT_PARSED = {"\n", "_"}
_PRODUCT, _ROUNDS, _MARGIN = (800, 288, 288), 5, 1.1
"""Rows, width and depth of a product like those of the model, how often it is tried with each kernel, and how
many times faster the one that the pipeline comes with must be to be kept."""


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
    """Parse the tokens of a book in its own sentences, `as_the_model_sees` them.

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

    places, chunks = tee(_chunks(book))
    words = as_the_model_sees(book)
    docs = (_doc(nlp.vocab, words, chunk) for chunk in chunks)
    parsed = nlp.pipe(docs, batch_size=1, component_cfg={"parser": {"batch_size": _CHUNKS_TOGETHER}})
    for chunk, doc in zip(places, parsed, strict=True):
        index = np.array([i for sentence in chunk for i in sentence], dtype=np.int32)
        values = doc.to_array(["HEAD", "TAG", "DEP"])
        offsets = values[:, 0].astype(np.int64)
        head[index] = index[np.arange(len(index)) + offsets]
        for i, t, d in zip(index.tolist(), values[:, 1].tolist(), values[:, 2].tolist(), strict=True):
            tag[i], dep[i] = text(t), text(d)
    with suppress(OSError, AttributeError, TypeError):
        # Freed memory goes back to the system (glibc): a parse leaves holes that Python's objects never fill.
        ctypes.CDLL(None).malloc_trim(0)
    return parse_of_arrays(head, tag, dep, _sentences(book), model)


def _sentences(book: Book) -> np.ndarray:
    """The number of the sentence of every token."""
    return np.repeat(np.arange(len(book.sentence_ends), dtype=np.int32), np.diff((0, *book.sentence_ends)))


def parse_of_arrays(
    head: np.ndarray, tag: list[str], dep: list[str], sentence: np.ndarray, model: str
) -> Parse:
    """A parse from heads, tags, relations and sentence numbers, one per token."""
    return Parse(head, tag, dep, sentence, *_edges(head), model)


def as_the_model_sees(book: Book) -> list[str]:
    """The tokens of a book with small letters in raised words, with marks of one kind, and no dash that hangs
    on a word: "Anna spoke--" is else a name of two words."""
    seen = with_small_letters(with_marks_alike(book.tokens, marked_speech(book.tokens, _sentences(book))))
    return [_DASHED.sub(r"\1", token) for token in seen]


def with_small_letters(tokens: Sequence[str]) -> list[str]:
    """The tokens as the model should see them: "ANNA HILL OFTEN said" at the beginning of a paragraph, as
    books are set, is "Anna Hill often said". Words that the book writes in no other way stay."""
    raised: set[int] = set()
    for begin in [0, *(i + 1 for i, token in enumerate(tokens[:-1]) if token == "\n")]:
        start = begin + (tokens[begin] in QUOTE_MARKS) if tokens else 0
        end = start
        while end < len(tokens) and (tokens[end].isupper() or (tokens[end] == "-" and end > start)):
            end += 1
        if any(len(word) > 1 for word in tokens[start:end]) and "".join(tokens[end : end + 1]).islower():
            raised.update(range(start, end))
    seen, forms = list(tokens), defaultdict[str, Counter[str]](Counter)
    for token in tokens if raised else ():
        forms[token.upper()][token] += not token.isupper()
    for i in raised:
        written, small = forms[tokens[i]], tokens[i].lower()
        capitals = (word for word in written if word[:1].isupper() and written[word])  # "O'Brien"
        capital = max(capitals, key=written.__getitem__, default=small.capitalize())
        if written.total() and len(small) > 1:
            seen[i] = capital if i - 1 not in raised or written[capital] > written[small] else small
    return seen


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


def _doc(vocab: Vocab, tokens: Sequence[str], chunk: list[list[int]]) -> Doc:
    from spacy.tokens import Doc

    words = [tokens[i] for sentence in chunk for i in sentence]
    starts = [k == 0 for sentence in chunk for k in range(len(sentence))]
    return Doc(vocab, words=words, sent_starts=starts)


@cache
def kernel() -> str:
    """Which library multiplies matrices faster here, "numpy" or "blis"; measured once per machine.

    thinc's blis has no code of its own for some processors, where numpy is up to 1.5 times as fast in the
    whole parse. The parse is the same with both. The choice is noted in the folder for temporary files,
    which is the machine's own: caches may be shared by machines of several kinds.
    """
    machine = (getpass.getuser(), platform.node(), platform.machine(), version("numpy"), version("blis"))
    note = Path(tempfile.gettempdir(), f"bookcoref-data-kernel-{sha256_bytes(repr(machine).encode())[:16]}")
    with suppress(OSError, ValueError):
        if (known := note.read_text("ascii")) in ("numpy", "blis"):
            return known
    found = _faster_kernel()
    with suppress(OSError), note.open("x") as file:
        file.write(found)
    return found


def _faster_kernel() -> str:
    """The faster library by CPU time on a product of a millisecond or two."""
    from thinc.api import NumpyOps

    rows, width, depth = _PRODUCT
    rng = np.random.default_rng(0)
    a = rng.random((rows, depth), dtype=np.float32)
    b = rng.random((width, depth), dtype=np.float32)
    taken: dict[str, float] = {}
    for name in ("blis", "numpy") * _ROUNDS:
        ops = NumpyOps(use_blis=name == "blis")
        start = time.process_time()
        ops.gemm(a, b, trans2=True)
        taken[name] = min(taken.get(name, np.inf), time.process_time() - start)
    return "blis" if taken["blis"] * _MARGIN < taken["numpy"] else "numpy"


def use_faster_kernel(nlp: Language) -> None:
    """Let a pipeline on the CPU multiply with the faster `kernel`; one with ops of its own (a GPU, Apple's
    library) is left as it is."""
    from thinc.api import NumpyOps

    if kernel() == "blis":
        return
    ops = NumpyOps(use_blis=False)
    for _, pipe in nlp.pipeline:
        model = getattr(pipe, "model", None)
        for node in model.walk() if model is not None else ():
            if type(node.ops) is NumpyOps:
                node.ops = ops


@cache
def load_model() -> tuple[Language, str]:
    """(pipeline, "package version") of the first model that is installed."""
    nlp, name = load_spacy_model("annotate", without=["ner", "lemmatizer", "attribute_ruler", "senter"])
    use_faster_kernel(nlp)
    return nlp, name
