"""`Mention`, `Character` and `Book`, checked once when made; `Record`, what a file merely claims."""

import hashlib
from abc import abstractmethod
from collections.abc import Iterable, Sequence, Sized
from dataclasses import dataclass, field
from itertools import accumulate, chain, pairwise
from operator import ge
from typing import Any, NamedTuple

from ..errors import BookError


class Mention(NamedTuple):
    """A span of book tokens; `start` and `end` are 0-based and both inclusive.

    A named tuple, not a dataclass: books hold hundreds of thousands of them, and hashing, ordering and
    conversion to arrays must run at the speed of plain tuples.
    """

    start: int
    end: int


def text_of(tokens: Sequence[str], start: int, end: int) -> str:
    """The words of a span joined by blanks; line ends are left out."""
    return " ".join(t for t in tokens[max(start, 0) : end + 1] if t != "\n")


Cluster = tuple[Mention, ...]


@dataclass(frozen=True, slots=True)
class Character:
    """A named cluster."""

    name: str
    mentions: Cluster


@dataclass(frozen=True, slots=True)
class Record:
    """One document as a file states it, unchecked: the edge between files and `Book`.

    `sentences` is None where a file has offsets only. `source` says where it was read ("file.jsonl:3").
    `speakers` has who says each token, shaped as `sentences`, "" where nobody is named; None where the file
    knows no speakers. `layers` are further annotations of tokens by name ("lemma", "xpos", "parse", ...),
    shaped the same; this package carries them along and reads nothing out of them.
    `extra` keeps fields this package does not know, so that nothing is lost on the way through.
    """

    doc_key: str
    gutenberg_key: str = ""
    sentences: list[list[str]] | None = None
    clusters: list[list[Mention]] = field(default_factory=list)
    characters: list[tuple[str, list[Mention]]] = field(default_factory=list)
    source: str = ""
    extra: dict[str, Any] = field(default_factory=dict)
    speakers: list[list[str]] | None = None
    layers: dict[str, list[list[str]]] = field(default_factory=dict)

    def __repr__(self) -> str:
        tokens = "no text" if self.sentences is None else f"{sum(map(len, self.sentences)):,} tokens"
        mentions = sum(map(len, self.clusters))
        return f"<Record {self.doc_key!r}: {tokens}, {len(self.clusters):,} clusters, {mentions:,} mentions>"

    def to_book(self) -> "Book":
        """The checked book. Raises BookError when there is no text or a rule is broken."""
        if self.sentences is None:
            what = f"{self.source or self.doc_key}: document {self.doc_key!r} has no sentences"
            raise BookError(what, hint="stitch the annotation onto its text first (bookcoref-data rebuild)")
        return Book.make(
            self.doc_key, self.sentences, gutenberg_key=self.gutenberg_key, clusters=self.clusters,
            characters=self.characters, speakers=self.speakers,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Counted:
    """The fields of a book, checked when made, and what can be counted of it without reading its words."""

    doc_key: str
    gutenberg_key: str
    tokens: Sized
    sentence_ends: tuple[int, ...]
    clusters: tuple[Cluster, ...] = ()
    characters: tuple[Character, ...] = ()
    speakers: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        # Raises BookError for a document that breaks a rule of `Book`, with the first ten breaches
        problems = list(_problems(self))
        if problems:
            what = f"book {self.doc_key!r} breaks {len(problems)} rule(s): " + "; ".join(problems[:10])
            hint = "mend the annotation; `bookcoref-data evaluate` reads flawed responses as they are"
            raise BookError(what, hint=hint)

    @abstractmethod
    def tokens_sha256(self) -> str: ...

    @property
    def token_count(self) -> int:
        return len(self.tokens)

    @property
    def mention_count(self) -> int:
        return sum(map(len, self.clusters))


@dataclass(frozen=True, slots=True)
class Book(Counted):
    """A tokenised book with its coreference clusters, checked when made.

    `tokens` is the truth, flat; `sentence_ends` are exclusive token offsets, increasing, the last one
    equal to `len(tokens)`. The token "\\n" is real data: a line end inside a sentence counts in every
    offset. `characters` are the named clusters; they may be absent while `clusters` are not. `speakers`
    says who speaks each token ("" for nobody); it is empty where no speaker is known.
    """

    tokens: tuple[str, ...]

    @classmethod
    def make(
        cls, doc_key: str, sentences: Sequence[Sequence[str]], *, gutenberg_key: str = "",
        clusters: Iterable[Iterable[tuple[int, int]]] = (),
        characters: Iterable[tuple[str, Iterable[tuple[int, int]]]] = (),
        speakers: Sequence[Sequence[str]] | None = None,
    ) -> "Book":  # fmt: skip
        """Build a book from sentences and spans given as any pairs of ints (both ends inclusive).

        `speakers` is shaped as `sentences`.
        """
        return cls(
            doc_key,
            gutenberg_key,
            tuple(chain.from_iterable(sentences)),
            tuple(accumulate(map(len, sentences))),
            tuple(tuple(Mention(*span) for span in cluster) for cluster in clusters),
            tuple(Character(name, tuple(Mention(*span) for span in spans)) for name, spans in characters),
            tuple(name for sentence in speakers or () for name in sentence),
        )

    def __repr__(self) -> str:
        # The generated one holds every token: 2.3 MB for a novel.
        counts = (
            f"{len(self.tokens):,} tokens, {len(self.clusters):,} clusters, {self.mention_count:,} mentions"
        )
        return f"<Book {self.doc_key!r}: {counts}>"

    @property
    def sentences(self) -> list[list[str]]:
        """The tokens by sentence (a new list of lists)."""
        return self._by_sentence(self.tokens)

    def _by_sentence(self, values: Sequence[str]) -> list[list[str]]:
        return [list(values[a:b]) for a, b in pairwise((0, *self.sentence_ends))]

    def text_of(self, mention: Mention) -> str:
        """The words of a mention joined by one space, line-end tokens left out."""
        return text_of(self.tokens, mention.start, mention.end)

    def tokens_sha256(self) -> str:
        """Hex sha256 of the token sequence, see `tokens_sha256`."""
        return tokens_sha256(self.tokens)

    def to_record(self) -> Record:
        """The same document as a plain record."""
        return Record(
            self.doc_key, self.gutenberg_key, self.sentences, [list(cluster) for cluster in self.clusters],
            [(c.name, list(c.mentions)) for c in self.characters],
            speakers=self._by_sentence(self.speakers) if self.speakers else None,
        )  # fmt: skip


def tokens_sha256(tokens: Iterable[str]) -> str:
    """Hex sha256 over the UTF-8 tokens, each followed by a zero byte."""
    digest = hashlib.sha256()
    digest.update("\0".join([*tokens, ""]).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def spans_sha256(clusters: Iterable[Iterable[tuple[int, int]]]) -> str:
    """Hex sha256 of a clustering, independent of the order of clusters and of mentions in them."""
    lines = sorted(" ".join(f"{a},{b}" for a, b in sorted(cluster)) for cluster in clusters)
    return hashlib.sha256("\n".join(lines).encode("ascii")).hexdigest()


def _problems(book: Counted) -> Iterable[str]:
    size = book.token_count
    ends = book.sentence_ends
    if (ends[-1] if ends else 0) != size:
        yield f"sentences cover {ends[-1] if ends else 0} of {size} tokens"
    if any(map(ge, (0, *ends), ends)):
        yield "a sentence is empty"
    if len(book.speakers) not in (0, size):
        yield f"{len(book.speakers)} speakers are given for {size} tokens"
    named = [(f"character {c.name!r}", c.mentions) for c in book.characters]
    for label, cluster in [*((f"cluster {i}", c) for i, c in enumerate(book.clusters)), *named]:
        if not cluster:
            yield f"{label} has no mention"
        elif len(set(cluster)) < len(cluster):
            twice = next(m for i, m in enumerate(cluster) if m in cluster[:i])
            yield f"{label} holds the mention {tuple(twice)} twice"
        bad = next((m for m in cluster if not 0 <= m.start <= m.end < size), None)
        if bad is not None:
            yield f"{label} has the mention {tuple(bad)} outside the {size} tokens"
