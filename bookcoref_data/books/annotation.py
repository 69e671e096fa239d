"""An annotated book with its reasons: who is mentioned where, who speaks to whom, why, and where in the file.

A `Record` holds clusters alone. An `Annotation` also holds what `annotate` knows of every mention and quote,
so that a page can show it, a person can correct it, and an export can carry it elsewhere.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

from ..words import word_set
from .book import Book, Mention, Record


class Marked(NamedTuple):
    """A mention of a character and where it came from.

    `start` and `end` are book tokens, 0-based, both inclusive; `character` is an index into the names.
    `step` is the step that made it, `rule` the rule or model inside that step, `score` its confidence in
    0..1 (1.0 for rules that give none). `kind` is "name", "nominal" or "pronoun", "" when not known.
    `others` are the next best candidates as (character, score), where a ranker chose.
    """

    start: int
    end: int
    character: int
    step: str = ""
    rule: str = ""
    score: float = 1.0
    kind: str = ""
    others: tuple[tuple[int, float], ...] = ()

    @property
    def mention(self) -> Mention:
        return Mention(self.start, self.end)


class Dropped(NamedTuple):
    """A mention that a step took away or refused, and why (`reason`, in words a person can read)."""

    start: int
    end: int
    character: int
    step: str
    reason: str
    score: float = 0.0


class Quote(NamedTuple):
    """A stretch of direct speech: first and last token (the quotation marks), who speaks to whom.

    `speaker` and `addressees` are indices into the names; -1 and () where not known.
    """

    start: int
    end: int
    speaker: int = -1
    addressees: tuple[int, ...] = ()
    rule: str = ""
    score: float = 0.0


@dataclass(frozen=True)
class SourceText:
    """The file a book was read from, and where each token stands in it.

    `text` is the decoded file: without byte order mark, every line end one "\\n". `starts` and `ends` count
    its characters (Unicode code points), 0-based, the end exclusive, one pair per token of the book.
    `file` is the name of the file and `sha256` the checksum of `text` in UTF-8.
    """

    file: str
    sha256: str
    text: str
    starts: tuple[int, ...]
    ends: tuple[int, ...]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Characters of the tokens `start` to `end` (inclusive): first, and the one behind the last."""
        return self.starts[start], self.ends[end]


@dataclass(frozen=True)
class Annotation:
    """One book and all that is known of its characters.

    `book` carries the text; its clusters are ignored. `names` are distinct. `guessed` are the indices of
    names that the data did not give (clusters without a name). `chapters` are (title, first token) where
    they are known; `extra` keeps unknown fields of the record.
    """

    book: Book
    names: tuple[str, ...] = ()
    mentions: tuple[Marked, ...] = ()
    quotes: tuple[Quote, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    guessed: frozenset[int] = frozenset()
    source: SourceText | None = None
    chapters: tuple[tuple[str, int], ...] = ()
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def doc_key(self) -> str:
        return self.book.doc_key

    @property
    def gutenberg_key(self) -> str:
        return self.book.gutenberg_key

    @cached_property
    def index(self) -> dict[str, int]:
        """Name -> place in `names`."""
        return {name: i for i, name in enumerate(self.names)}

    @cached_property
    def by_character(self) -> list[list[Marked]]:
        """The mentions of every character, in the order of `names`."""
        found: list[list[Marked]] = [[] for _ in self.names]
        for m in self.mentions:
            found[m.character].append(m)
        return found

    @cached_property
    def heard(self) -> set[int]:
        """Who speaks or is spoken to; with -1 for a speaker who is not known."""
        return {person for q in self.quotes for person in (q.speaker, *q.addressees)}

    def to_book(self) -> Book:
        """The book with these mentions as clusters; characters are those whose name is not a guess."""
        spans = [[m.mention for m in group] for group in self.by_character]
        known = [i for i, group in enumerate(spans) if group]
        return Book.make(
            self.book.doc_key,
            self.book.sentences,
            gutenberg_key=self.book.gutenberg_key,
            clusters=[spans[i] for i in known],
            characters=[(self.names[i], spans[i]) for i in known if i not in self.guessed],
        )

    def to_record(self) -> Record:
        """The official record, with the fields that were not ours."""
        return replace(self.to_book().to_record(), extra=self.extra)


def annotation_of(record: Record) -> Annotation:
    """What a plain record says: mentions without reasons, clusters without a name named by a mention. Raises
    BookError: the record has no text or breaks a rule."""
    full = record.to_book()
    bare = Book(full.doc_key, full.gutenberg_key, full.tokens, full.sentence_ends)
    named = [(c.name, c.mentions) for c in full.characters]
    groups = {frozenset(mentions) for _, mentions in named}
    rest = [c for c in full.clusters if frozenset(c) not in groups]
    guesses = [typical_mention(bare, cluster) for cluster in rest]
    names = distinct([*(name for name, _ in named), *guesses])
    every = [*(spans for _, spans in named), *rest]
    mentions = [Marked(m.start, m.end, i) for i, spans in enumerate(every) for m in spans]
    guessed = frozenset(range(len(named), len(names)))
    return Annotation(bare, names, tuple(sorted(mentions)), guessed=guessed, extra=dict(record.extra))


def distinct(names: Iterable[str]) -> tuple[str, ...]:
    """The names, with a number behind every one that was there before ("Mary", "Mary (2)")."""
    found: dict[str, None] = {}
    for name in names:
        known, number = name, 1
        while known in found:
            number += 1
            known = f"{name} ({number})"
        found[known] = None
    return tuple(found)


_NAME = re.compile(r"[A-ZÀ-ÖØ-Þ][\w.’'-]+(?: [\w.’'-]+){0,4}")
_NOT_NAMES = word_set("He She I You They We It His Her My Your Their Our The A An This That Him Me")


def typical_mention(book: Book, mentions: Sequence[Mention]) -> str:
    """What a cluster is called most often: the most frequent capitalised mention, else any mention."""
    texts = Counter(book.text_of(m) for m in mentions)
    named = {t: n for t, n in texts.items() if _NAME.fullmatch(t) and t.split()[0] not in _NOT_NAMES}
    pool = named or texts
    return max(pool, key=lambda t: (pool[t], len(t), t))[:80] or "nameless"
