"""Books in Python: read them, look at their mentions as tables, write them in any format."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from ..books import Book, Record
from ..books import Mention as Span
from ..books.annotation import Annotation, SourceText, annotation_of, distinct
from ..errors import MissingFileError, SourceError, UsageError, plural
from ..files import path_of
from ..formats import read_documents
from ..formats.annotated import has_reasons, read_with_reasons
from ..formats.documents import write_documents
from ..formats.folder import is_folder, read_folder
from ..formats.reasons import read_reasons, with_reasons
from ..formats.schema import to_row
from ..late import spacy
from ..outputs import files_of
from ..scoring.mention_types import TypeRules
from ..workflows import spacy_docs
from . import options as o
from .options import PathLike
from .tables import Table, TypedRow

if TYPE_CHECKING:
    import pandas

    from ..annotation.state import State
    from ..edits import Conflict, Effect
    from ..workflows.annotate import Annotated

_SHOWN_CHARACTERS = 5


@dataclass(frozen=True, slots=True, eq=False)
class _Stretch(TypedRow):
    """Tokens of a book: `start` and `end` are 0-based and both inclusive."""

    start: int
    end: int
    text: str
    char_start: int | None = field(default=None, kw_only=True)
    char_end: int | None = field(default=None, kw_only=True)

    @property
    def chars(self) -> tuple[int, int] | None:
        """Characters of the source file, the end exclusive; None where the book came as tokens."""
        return None if self.char_start is None or self.char_end is None else (self.char_start, self.char_end)

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True, eq=False)
class Mention(_Stretch):
    """A mention: who is meant (`character`, the name or the number of a cluster), and how we know.

    `kind` is name, nominal or pronoun; `rule` and `score` are None where we did not annotate the book.
    """

    character: str
    kind: str
    rule: str | None = None
    score: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Quote(_Stretch):
    """A quotation: who says it (None where that is not known), to whom, and how we know."""

    speaker: str | None
    addressees: tuple[str, ...]
    rule: str
    score: float


@dataclass(frozen=True)
class Character:
    """A named character: a sequence of its mentions, in the order of the text. `spans` are their tokens."""

    name: str
    spans: tuple[Span, ...]
    _book: AnnotatedBook = field(repr=False, compare=False)

    @cached_property
    def mentions(self) -> Table[Mention]:
        """A row per mention. Raises BookError for a file that has offsets only."""
        return self._book.mentions.where("character", self.name)

    @cached_property
    def quotes(self) -> Table[Quote]:
        """What the character says, in a book that we annotated."""
        return self._book.quotes.where("speaker", self.name)

    @overload
    def __getitem__(self, key: int) -> Mention: ...
    @overload
    def __getitem__(self, key: slice) -> Table[Mention]: ...
    def __getitem__(self, key: int | slice) -> Mention | Table[Mention]:
        return self.mentions[key]

    def __iter__(self) -> Iterator[Mention]:
        return iter(self.mentions)

    def __len__(self) -> int:
        return len(self.spans)


def parser_of(state: State) -> dict[str, str]:
    """What parsed a book, and the kernel that multiplied for it here; nothing for other backends."""
    if not (model := state.memory.get("parser")):
        return {}
    from ..annotation.embedded.parsing import kernel

    return {"parser": model, "kernel": kernel()}


class AnnotatedBook:
    """A book with its characters: what `read`, `load` and `annotate` return.

    `doc_key` is its name in file and data set, `gutenberg_key` its number at Project Gutenberg (or "", "0").
    Offsets are book tokens, 0-based, both ends inclusive. Of a book that `annotate` made, `files` are what
    it wrote, `conflicts` the corrections that need a person, `effects` what corrections changed elsewhere,
    and `scores` has a row per step (with `report`).
    """

    def __init__(
        self, record: Record, *, run: Annotated | None = None, annotation: Annotation | None = None,
        files: tuple[Path, ...] = (), conflicts: tuple[Conflict, ...] = (), effects: tuple[Effect, ...] = (),
        scores: Table | None = None, reasons: str = "",
    ) -> None:  # fmt: skip
        self.record, self.doc_key, self.gutenberg_key = record, record.doc_key, record.gutenberg_key
        self.files, self.conflicts, self.effects = files, conflicts, effects
        self.scores = Table({}) if scores is None else scores
        self._run, self._read, self._line = run, annotation, reasons

    @property
    def sentences(self) -> list[list[str]]:
        """The tokens by sentence. Raises BookError for a file that has offsets only."""
        return self.book.sentences

    @property
    def tokens(self) -> tuple[str, ...]:
        """All tokens. Raises BookError for a file that has offsets only."""
        return self.book.tokens

    @property
    def text(self) -> str:
        """The text of the file that the book was read from; of a book that came as tokens, these with spaces.

        Raises BookError for a file that has offsets only.
        """
        return " ".join(self.tokens) if self._origin is None else self._origin.text

    @property
    def annotation(self) -> Annotation:
        """Everything that is known of the book, with the reason of each mention where we annotated it."""
        return self._reasoned or annotation_of(self.record)

    @cached_property
    def _reasoned(self) -> Annotation | None:
        """The annotation with its reasons, made here or read from a folder of ours; else None."""
        if self._line:
            return with_reasons(annotation_of(self.record), self._line, f"the reasons of {self.doc_key}")
        return self._read if self._run is None else self._run.annotation()

    @property
    def _origin(self) -> SourceText | None:
        """The file that the book was read from, where it is known."""
        return self._reasoned.source if self._reasoned else None

    @property
    def clusters(self) -> list[list[Span]]:
        """The mentions of each cluster."""
        return self.record.clusters

    @property
    def characters(self) -> dict[str, Character]:
        """Each named character with its mentions, the most mentioned first; a second "Ann" is "Ann (2)"."""
        names = distinct(name for name, _ in self.record.characters)
        named = zip(names, (tuple(spans) for _, spans in self.record.characters), strict=True)
        return {name: Character(name, s, self) for name, s in sorted(named, key=lambda pair: -len(pair[1]))}

    @cached_property
    def book(self) -> Book:
        """The checked book. Raises BookError when the record has no text or breaks a rule."""
        return self.record.to_book()

    @cached_property
    def mentions(self) -> Table[Mention]:
        """One row per mention, in the order of the text; see `Mention`."""
        book = self.book
        kinds = TypeRules(book.tokens, book.sentence_ends, [name for name, _ in self.record.characters])
        known = self._reasoned
        ours_here = [(m, known.names[m.character]) for m in known.mentions if m.step] if known else []
        made = {(m.start, m.end, name): m for m, name in ours_here}
        # Every mention with the name of its character, else the number of its cluster
        spans: list[tuple[int, int, Any]] = [(*s, n) for n, c in self.characters.items() for s in c.spans]
        named = {(start, end) for start, end, _ in spans}
        for number, cluster in enumerate(self.record.clusters):
            spans += [(*span, number) for span in cluster if tuple(span) not in named]
        rows: list[list[Any]] = []
        for start, end, character in sorted(spans, key=lambda row: (row[0], row[1], str(row[2]))):
            ours = made.get((start, end, character)) if isinstance(character, str) else None
            rows.append([
                start, end, book.text_of(Span(start, end)), str(character),
                ours.kind if ours and ours.kind else kinds.type_of(start, end),
                ours.rule if ours else None, ours.score if ours else None, *self._characters_of(start, end),
            ])  # fmt: skip
        columns = ("start", "end", "text", "character", "kind", "rule", "score", "char_start", "char_end")
        return Table.of_rows(columns, rows, Mention)

    @cached_property
    def quotes(self) -> Table[Quote]:
        """One row per quotation of our own annotation; see `Quote`."""
        known = self._reasoned
        columns = ("start", "end", "text", "speaker", "addressees", "rule", "score", "char_start", "char_end")
        rows = [
            [q.start, q.end, self.book.text_of(Span(q.start, q.end)),
             known.names[q.speaker] if q.speaker >= 0 else None, tuple(known.names[a] for a in q.addressees),
             q.rule, q.score, *self._characters_of(q.start, q.end)]
            for q in known.quotes
        ] if known else []  # fmt: skip
        return Table.of_rows(columns, rows, Quote)

    @property
    def notes(self) -> tuple[str, ...]:
        """What the annotator wants a reader to know."""
        return () if self._run is None else self._run.state.notes

    def summary(self) -> dict[str, Any]:
        """Counts of our own annotation, as `annotate --json` prints them. Raises UsageError without one."""
        if self._run is None:
            raise UsageError(f"{self.doc_key} was not annotated here", hint="bc.stats(book) counts any book")
        state = self._run.state
        return {
            "doc_key": state.doc_key, "tokens": len(self.tokens),
            "characters": {c.name: len(c.mentions) for c in self.book.characters}, "steps": list(state.done),
            **parser_of(state), "mentions": len(state.mentions),
            "by_kind": dict(Counter(m.kind for m in state.mentions)),
            "dropped": dict(Counter(d.reason for d in state.dropped)), "quotes": len(state.quotes),
            "quotes_with_speaker": sum(q.speaker >= 0 for q in state.quotes), "notes": list(state.notes),
        }  # fmt: skip

    def save(self, path: PathLike, format: str | None = None, *, replace: o.Overwrite = False) -> Path:
        """Write the book; the format is chosen by the suffix unless it is named."""
        return write([self], path, format, replace=replace)

    def to_spacy(self, nlp: spacy.language.Language | None = None) -> spacy.tokens.Doc:
        """The book as a `Doc` of spaCy, token for token; clusters are span groups `coref_clusters_1`, ...

        `nlp` gives the vocabulary; a blank English one without it.
        """
        return spacy_docs.to_doc(self.record, (nlp or spacy.blank("en")).vocab)

    @classmethod
    def from_spacy(cls, doc: spacy.tokens.Doc, doc_key: str = "doc") -> AnnotatedBook:
        """The tokens, sentences and clusters of a `Doc`. Raises DataError when it has no sentences."""
        return cls(spacy_docs.from_doc(doc, doc_key))

    def to_dict(self) -> dict[str, Any]:
        """The book as one record of the data set's JSONL, with plain lists."""
        return to_row(self.record)

    def __repr__(self) -> str:
        size = "no text" if self.record.sentences is None else f"{len(self.tokens):,} tokens"
        counts = f"{plural(len(self.clusters), 'cluster')}, {plural(sum(map(len, self.clusters)), 'mention')}"
        return f"<AnnotatedBook {self.doc_key!r}: {size}, {counts}>"

    def _repr_html_(self) -> str:
        names = list(self.characters.items())[:_SHOWN_CHARACTERS]
        listed = "".join(f"<li>{escape(name)}: {plural(len(spans), 'mention')}</li>" for name, spans in names)
        return f"<p>{escape(repr(self)[1:-1])}</p><ul>{listed}</ul>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AnnotatedBook):
            return NotImplemented
        return self.to_dict() == other.to_dict() and self._reasoned == other._reasoned

    def __hash__(self) -> int:
        return hash(self.doc_key)

    def _characters_of(self, start: int, end: int) -> tuple[int | None, int | None]:
        return (None, None) if self._origin is None else self._origin.span(start, end)


class Books(Sequence[AnnotatedBook]):
    """Books in order; one is found by its number or by its `doc_key`."""

    def __init__(self, books: Iterable[AnnotatedBook]) -> None:
        self._books = list(books)

    @property
    def keys(self) -> list[str]:
        """The doc_keys, in order."""
        return [book.doc_key for book in self._books]

    def __len__(self) -> int:
        return len(self._books)

    def __contains__(self, book: object) -> bool:
        return book in (self.keys if isinstance(book, str) else self._books)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Books) and self._books == other._books

    __hash__ = None  # type: ignore[assignment]

    @overload
    def __getitem__(self, key: int | str) -> AnnotatedBook: ...
    @overload
    def __getitem__(self, key: slice) -> Books: ...
    def __getitem__(self, key: int | str | slice) -> AnnotatedBook | Books:
        if isinstance(key, slice):
            return Books(self._books[key])
        if isinstance(key, int):
            return self._books[key]
        for book in self._books:
            if book.doc_key == key:
                return book
        parts = [book for book in self._books if key and key in book.doc_key]
        if len(parts) == 1:
            return parts[0]
        raise KeyError(f"no book {key!r}; there are: {', '.join(self.keys[:20])}")

    @property
    def table(self) -> Table:
        """One row per book: doc_key, tokens, clusters, mentions."""
        rows = [
            [b.doc_key, len(b.tokens) if b.record.sentences is not None else None, len(b.clusters),
             sum(map(len, b.clusters))]
            for b in self._books
        ]  # fmt: skip
        return Table.of_rows(("doc_key", "tokens", "clusters", "mentions"), rows)

    def to_pandas(self) -> pandas.DataFrame:
        """One row per book, as a data frame of pandas (which must be installed)."""
        return self.table.to_pandas()

    def save(self, path: PathLike, format: str | None = None, *, replace: o.Overwrite = False) -> Path:
        """Write all books to one file; the format is chosen by the suffix unless it is named."""
        return write(self, path, format, replace=replace)

    def __repr__(self) -> str:
        shown = ", ".join(self.keys[:3]) + (", ..." if len(self) > 3 else "")
        return f"<Books: {len(self)} ({shown})>"

    def _repr_html_(self) -> str:
        return self.table._repr_html_()


@files_of(reads=("name",))
def load(name: PathLike = "bookcoref", config: str = "full") -> Books:
    """Read a data set folder that `rebuild` wrote; `config` is "full" (books) or "split" (windows).

    Raises:
        SourceError: there is no built data set at `name`; the message says how to build one.
    """
    path = path_of(name)
    if not is_folder(path):
        what = f"there is no built data set at {path.resolve()}"
        expected = "a folder that bookcoref_data.rebuild or `bookcoref-data rebuild` wrote"
        hint = "bc.rebuild(sample=True) builds the sample; bc.read() reads files of other formats"
        kind = SourceError if path.exists() else MissingFileError
        raise kind(what, expected=expected, hint=hint)
    lines = read_reasons(path) if config == "full" else {}
    records = read_folder(path, config)
    return Books(AnnotatedBook(record, reasons=lines.get(record.doc_key, "")) for record in records)


@files_of(reads=("path",))
def read(path: PathLike, format: str | None = None, config: str | None = None) -> Books:
    """Read books from a file, a folder of files or a data set folder, in any format we know.

    The format is recognised from name and content unless it is named: jsonl, conll, corefud, brat, booknlp.
    Books of a folder of `annotate` bring rules, scores, quotes and the places in the source file along.

    Raises:
        SourceError: nothing there. FormatError: not what it claims to be (file and line).
        UsageError: an unknown format.
    """
    path = path_of(path)
    if format is None and config is None and has_reasons(path):
        return Books(AnnotatedBook(record, annotation=known) for record, known in read_with_reasons(path))
    return Books(AnnotatedBook(record) for record in read_documents(path, format, config))


@files_of("path")
def write(
    books: Iterable[AnnotatedBook | Book | Record], path: PathLike, format: str | None = None, *,
    replace: o.Overwrite = False,
) -> Path:  # fmt: skip
    """Write books to one file, whole or not at all; returns its path.

    Raises:
        UsageError: the format is not known. DataError: the format cannot hold a book.
    """
    target = path_of(path)
    write_documents(records_of(books), target, format)
    return target


def records_of(source: Any) -> list[Record]:
    """Records from whatever a caller has: a path, one book, or many.

    Raises:
        UsageError: none of these.
    """
    if isinstance(source, str | os.PathLike):
        return list(read_documents(path_of(source)))
    books, found = [source] if isinstance(source, AnnotatedBook | Book | Record) else source, []
    if not isinstance(books, Iterable):
        what = f"cannot read books from {type(source).__name__}"
        raise UsageError(what, expected="a path, a book, or books")
    for item in books:
        if not isinstance(item, AnnotatedBook | Book | Record):
            raise UsageError(f"{type(item).__name__} is not a book", expected="AnnotatedBook, Book or Record")
        record = item.to_record() if isinstance(item, Book) else item
        found.append(record.record if isinstance(record, AnnotatedBook) else record)
    return found
