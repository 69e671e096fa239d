"""A book that is read anew after every batch of answers, so that each answer teaches the next questions; and
the likely errors of somebody else's annotation, which our own reading shows."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..annotation.cast import Cast, Entry, make_cast
from ..annotation.embedded.backend import EmbeddedBackend
from ..annotation.given import NOBODY, Given
from ..annotation.language import not_english
from ..annotation.plan import Plan, default_plan
from ..annotation.steps import Backend
from ..asking import KINDS, ReviewQuestion, make_queue, settled
from ..asking.answers import taught
from ..asking.flags import Flag, find_flags, names_of_chains
from ..asking.questions import Key, doubted, likely_right, speakers_of
from ..books.annotation import Annotation, Marked
from ..books.layout import Layout, lay_out
from ..edits import Conflict, Edit
from ..scoring.mention_types import TypeRules
from .annotate import Source, annotate_book
from .casts import propose_with
from .correct import kept_edits, signed, write_edits
from .given import corrections_of

FIRST_DRAWN, MOST_DRAWN = 4, 6
"""Readings that draw their choices: in the first round of questions (in later ones one more), and how many
of the latest count."""
Drawn = tuple[dict[Key, str], dict[Key, str]]
"""The speakers of a reading, and of one of the same time that draws its choices (`speakers_of`)."""


@dataclass
class ReviewSession:
    """Questions about one book; answers are kept in the file `edits`.

    `about` are the kinds of questions that are asked, `first` keys of questions that come before all else.
    `share` is the part of all mentions and speakers that is likely right, `conflicts` the corrections that
    need a person, `aliases` the other names of the people.
    """

    source: Source
    cast: Cast | None
    plan: Plan
    backend: Backend
    edits: Path
    narrators: Sequence[str] = ()
    author: str = ""
    about: Sequence[str] = KINDS
    first: frozenset[Key] = frozenset()
    share: float = field(default=0.0, init=False)
    conflicts: tuple[Conflict, ...] = field(default=(), init=False)
    aliases: dict[str, tuple[str, ...]] = field(default_factory=dict, init=False)
    annotation: Annotation | None = field(default=None, init=False)
    drawn: list[Drawn] = field(default_factory=list, init=False)

    def read(self, backend: Backend) -> Annotation:
        """The book, read with all corrections but those of mentions that two people see differently."""
        self.cast = self.cast or propose_with(backend, self.source.book).cast
        found = corrections_of(kept_edits(self.edits), self.source.book, self.cast)
        self.conflicts, self.aliases = found.conflicts, {e.name: e.aliases for e in found.cast.entries}
        links = {s: m for s, m in found.given.links.items() if ("mention", *s) not in self.first}
        nobody = frozenset(s for s in found.given.nobody if ("mention", *s) not in self.first)
        given = replace(found.given, links=links, nobody=nobody)
        return annotate_book(
            self.source, found.cast, self.plan, narrators=self.narrators, given=given, backend=backend
        ).annotation()

    def ask(self, most: int) -> tuple[list[ReviewQuestion], Layout]:
        """Read the book, and make the best questions for what is known now."""
        self.annotation, self.share = (a := self.read(self.backend)), likely_right(a)
        # An answer that cannot be kept any more, since the cast has changed, decides nothing.
        lost = {conflict.number for conflict in self.conflicts if not conflict.applied}
        numbered = enumerate(kept_edits(self.edits), 1)
        kept = [e for n, e in numbered if n not in lost and e.doc_key in ("", a.doc_key)]
        done, teaches = {*settled(kept)} - self.first, taught(kept)
        doubts = doubts_of(a, self.backend, self.read, self.drawn) if "speaker" in self.about else {}
        free = self.backend.nobodys(a) if isinstance(self.backend, EmbeddedBackend) else ()
        return make_queue(a, done, self.first, teaches, doubts, free, most=most, about=self.about), lay_out(a)

    def keep(self, made: Iterable[Edit]) -> None:
        """Write down an answer, with who gave it and when."""
        answered = signed(made, self.author)
        self.first -= {*settled(answered)}
        write_edits([*kept_edits(self.edits), *answered], self.edits)


def doubts_of(
    a: Annotation, backend: Backend, read: Callable[[Backend], Annotation], drawn: list[Drawn]
) -> dict[Key, float]:
    """How often readings that draw their choices have a speaker of `a` otherwise, as turns depend on each
    other; nothing where `backend` does not know how sure it is. `read` reads the book with a backend; the
    readings of the rounds before are in `drawn`, and those of now are added. What is said of mentions so
    finds more that is wrong, but less that repairs other places."""
    if isinstance(backend, EmbeddedBackend):
        mine = speakers_of(a)
        for _ in range(1 if drawn else FIRST_DRAWN):
            drawn.append((mine, speakers_of(read(backend.wavering(len(drawn))))))
    return doubted(a, drawn[-MOST_DRAWN:])


_FOLDS = 3
"""In how many parts an annotation is read anew, each with the others as given."""


def flags_of(a: Annotation, *, read: bool = True) -> list[Flag]:
    """The likely errors of an annotation; with `read` also those that our own reading and parse of an
    English text show."""
    if not read or not_english(a.book.tokens):
        return find_flags(a)
    with closing(EmbeddedBackend(default_plan("embedded"))) as backend:
        return find_flags(a, list(_read_otherwise(a, backend)), backend.parse(a.book).tag)


def _read_otherwise(a: Annotation, backend: EmbeddedBackend) -> Iterator[Marked]:
    """Mentions of a named character that we read as another's where most others are taken as given."""
    names = names_of_chains(a)
    if not any(names):
        return
    cast = make_cast(Entry(first, tuple(more)) for first, *more in filter(None, names))
    rows = {name.casefold(): row for row, name in enumerate(cast.names)}
    row_of = [rows[n[0].casefold()] if n else NOBODY for n in names]
    rules = TypeRules(a.book.tokens, a.book.sentence_ends, cast.names)
    said = [m._replace(character=row_of[m.character], kind=rules.type_of(*m.mention)) for m in a.mentions]
    for fold in range(_FOLDS):
        kept = [m for n, m in enumerate(said) if n % _FOLDS != fold]
        links = {(m.start, m.end): m for m in kept if m.character != NOBODY}
        given = Given(links, frozenset((m.start, m.end) for m in kept) - links.keys())
        ours = annotate_book(
            Source(a.book, origin=a.source), cast, backend.plan, given=given, backend=backend
        )
        found = {m.mention: m for m in ours.annotation().mentions}
        for m in said[fold::_FOLDS]:
            if (read := found.get(m.mention)) and NOBODY != m.character != read.character:
                yield read._replace(character=row_of.index(read.character))
