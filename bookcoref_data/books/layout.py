"""The text of a book as people read it: one string with places of tokens, paragraphs, chapters.

With the source file at hand the string is the file. Else tokens are joined as prose is printed; the line-end
tokens close paragraphs, and a text without them is cut into paragraphs of readable length.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile
from typing import NamedTuple

from ..words.numbers import ROMAN
from .annotation import Annotation
from .book import Book

_NO_SPACE_BEFORE = frozenset([",", ".", ";", ":", "!", "?", ")", "]", "}", "”", "’", "%", "…", "...", "''"])
_NO_SPACE_AFTER = frozenset(["(", "[", "{", "“", "‘", "„", "«", "$", "£", "#", "``"])
_GLUE = frozenset(["-", "–", "—", "--", "---", "/"])
_PAIRED = frozenset(['"', "'", "_"])
_CLITIC = re.compile(r"(?:['’](?:s|d|m|ll|re|ve|t)|n['’]t)\Z", re.IGNORECASE)
_UNIT = r"(?:chapter|book|part|volume|vol|letter|canto|act|scene|stave|section)"
_NUMBER = (
    rf"(?:{ROMAN}|\d+|(?:the )?(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|last)"
    r"|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|twenty\S*|thirty\S*|forty\S*)"
)
_HEADING = re.compile(
    rf"(?:{_UNIT}\b[ .,:—-]*{_NUMBER}\b|(?:the )?{_NUMBER} {_UNIT}\b|(?:prologue|epilogue)\b"
    rf"|(?:{ROMAN}|\d{{1,3}}) ?\.?\Z)",
    re.IGNORECASE,
)
_UNIT_WORD = re.compile(r"CHAPTER|Chapter|BOOK|Book|PART|Part|VOLUME|Volume|LETTER|CANTO|ACT|SCENE|STAVE")
_NUMERAL = re.compile(r"(?:[IVXLCDM]+|\d{1,3})\.?")
_HEADING_WORDS = 14
_LEAST_BREAKS = 400
"""A text has real paragraphs when at least one token in so many is a line end."""
_GUESSED_PARAGRAPH = 120
"""Tokens after which a guessed paragraph ends with its sentence."""
_PART = 6000
"""Most tokens of a part of a text without chapters."""


class TokenRange(NamedTuple):
    """Tokens from `start` to `end`, the end exclusive."""

    start: int
    end: int


class Chapter(NamedTuple):
    """A chapter or part: its title ("" where the book gives none), tokens, and its paragraphs."""

    title: str
    start: int
    end: int
    paragraphs: tuple[TokenRange, ...]


@dataclass(frozen=True)
class Layout:
    """`text` and, per token, the characters [start, end) that are the token; chapters with paragraphs.

    `original` says whether `text` is the reader's own file.
    """

    text: str
    starts: Sequence[int]
    ends: Sequence[int]
    chapters: tuple[Chapter, ...]
    original: bool

    def slice(self, start: int, end: int) -> str:
        """The characters from token `start` to token `end` (inclusive)."""
        return self.text[self.starts[start] : self.ends[end]]

    @property
    def paragraphs(self) -> Iterator[TokenRange]:
        """All paragraphs, in order."""
        for chapter in self.chapters:
            yield from chapter.paragraphs


def lay_out(annotation: Annotation) -> Layout:
    """The layout of an annotated book: from its source text if it has one, else joined from tokens."""
    book, source = annotation.book, annotation.source
    paragraphs = find_paragraphs(book)
    heads = list(annotation.chapters) or list(_headings(book, paragraphs))
    if not heads or heads[0][1] > 0:
        heads.insert(0, ("", 0))
    first = {start: title for title, start in heads}
    groups: list[tuple[str, list[TokenRange]]] = []
    size = 0
    for p in paragraphs:
        title = next((first[i] for i in range(p.start, p.end) if i in first), None) if first else None
        if title is not None or not groups or size >= _PART:
            groups.append((title or "", []))
            size = 0
        groups[-1][1].append(p)
        size += p.end - p.start
    chapters = tuple(Chapter(title, ps[0].start, ps[-1].end, tuple(ps)) for title, ps in groups)
    if source is not None:
        return Layout(source.text, source.starts, source.ends, chapters, True)
    text, starts, ends = join_tokens(book.tokens, paragraphs)
    return Layout(text, starts, ends, chapters, False)


def find_paragraphs(book: Book) -> list[TokenRange]:
    """Paragraphs by line-end tokens; guessed from sentences and quotation marks where there are none."""
    tokens = book.tokens
    if sum(_is_line_end(t) for t in tokens) * _LEAST_BREAKS >= len(tokens):
        # Cut behind every line-end token, and around a heading ("CHAPTER II .") that only opens a sentence
        cuts = {0, len(tokens), *(i + 1 for i, token in enumerate(tokens) if _is_line_end(token))}
        for start, end in pairwise((0, *book.sentence_ends)):
            words = tokens[start:end]
            if len(words) >= 2 and _UNIT_WORD.fullmatch(words[0]) and _NUMERAL.fullmatch(words[1]):
                marks = takewhile(lambda w: w in {".", ":"} or _is_line_end(w), words[2:4])
                cuts |= {start, start + 2 + len(list(marks))}
        return [TokenRange(start, end) for start, end in pairwise(sorted(cuts))]
    # Guess: a new paragraph at a heading, at a sentence that opens a quote, or after enough sentences
    found: list[TokenRange] = []
    start = at = 0
    for end in book.sentence_ends:
        text = " ".join(t for t in tokens[at:end] if t.strip())
        heading = len(text.split()) <= _HEADING_WORDS and _HEADING.match(text) is not None
        opens = text[:1] in {"“", '"', "‘", "`"}
        if at > start and (heading or at - start >= _GUESSED_PARAGRAPH or (opens and at - start >= 20)):
            found.append(TokenRange(start, at))
            start = at
        if heading:
            found.append(TokenRange(start, end))
            start = end
        at = end
    return [*found, TokenRange(start, at)] if start < at else found


def _is_line_end(token: str) -> bool:
    return "\n" in token and not token.strip()


def find_chapters(book: Book) -> tuple[tuple[str, int], ...]:
    """The headings in the text of a book: (title, first token)."""
    return tuple(_headings(book, find_paragraphs(book)))


def _headings(book: Book, paragraphs: Sequence[TokenRange]) -> Iterator[tuple[str, int]]:
    """(title, first token) of paragraphs that are headings; a short one right after belongs to the title."""
    open_title: tuple[str, int] | None = None
    for p in paragraphs:
        words = [t for t in book.tokens[p.start : p.end] if t.strip()]
        text, _, _ = join_tokens(words, [TokenRange(0, len(words))])
        short = 0 < len(words) <= _HEADING_WORDS
        if short and _HEADING.match(text):
            if open_title is not None:
                yield open_title
            open_title = (text, p.start)
        elif open_title is not None:
            if short and text[-1:] not in ".!?”\"'’,;:" and words[0] not in {"“", '"', "‘"}:
                open_title = (f"{open_title[0]} {text}", open_title[1])
            yield open_title
            open_title = None
    if open_title is not None:
        yield open_title


def join_tokens(tokens: Sequence[str], paragraphs: Sequence[TokenRange]) -> tuple[str, list[int], list[int]]:
    """(text, first character of each token, character behind each token), paragraphs a blank line apart."""
    pieces: list[str] = []
    starts, ends = [0] * len(tokens), [0] * len(tokens)
    at = 0
    for number, p in enumerate(paragraphs):
        if number:
            pieces.append("\n\n")
            at += 2
        opened: set[str] = set()  # quotation marks that are the same at both ends
        glued = True
        for i in range(p.start, p.end):
            token, before = tokens[i] if tokens[i].strip() else "", ""
            if token:
                apart = token not in _NO_SPACE_BEFORE and token not in _GLUE and not _CLITIC.match(token)
                before = " " if apart and not glued else ""
                glued = token in _NO_SPACE_AFTER or token in _GLUE
            if token in _PAIRED:
                before, glued = ("", False) if token in opened else (before, True)
                opened ^= {token}
            pieces.append(before + token)
            starts[i] = at + len(before)
            ends[i] = at = starts[i] + len(token)
    return "".join(pieces), starts, ends
