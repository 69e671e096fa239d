"""What people decide, from Python: `cast`, the workshop in which a cast is repaired; `review`, the questions
whose answers repair most of an annotation; `audit`, the likely errors of one that somebody else made."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace as changed
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..annotation.cast import format_cast
from ..asking import KINDS, ReviewQuestion, settled
from ..asking import agreement as compared
from ..asking.answers import ReviewAgreement, answer_with, answers_to, as_dict
from ..asking.flags import Flag, flag_as_dict
from ..asking.questions import OFFERS_NO_PEOPLE, Key
from ..books.annotation import Annotation
from ..books.layout import lay_out
from ..edits import parse_edits
from ..edits.merging import decision
from ..errors import DataError, UsageError, plural
from ..files import path_of, write_text
from ..outputs import ANNOTATION, files_of
from ..workflows import annotate as work
from ..workflows import casts, correct
from ..workflows import review as reviews
from . import options as o
from .annotating import cast_for, narrators_of, one_source, plan_for
from .options import PathLike, path_or_none
from .reading import chosen
from .tables import Result, Table

if TYPE_CHECKING:
    from ..annotation.workshop import CastWorkshop

EDITS = "edits.jsonl"
AT_ONCE = 25
"""Questions between two readings."""


@files_of("out", reads=("book", "cast"), page=True)
def cast(
    book: PathLike, cast: PathLike | None = None, *, out: PathLike | None = None, language: o.Language = "",
    replace: o.Overwrite = False,
) -> Casting:  # fmt: skip
    """Show who is in a book, and repair its cast: which names are whose, who is one person, who is two.

    Args:
        book: a text, or one tokenised book, as `annotate`.
        cast: the cast file to repair (default: BOOK.cast.txt beside the book); where there is none, a cast
            is proposed from the book.
        out: write the workshop as an HTML page, which saves a cast file.

    Raises:
        SourceError, DataError: the book cannot be read.
        UsageError: several books, a damaged cast file, or a book that names nobody.
    """
    source = one_source(book)
    work.check_language(source.book, language)
    path = path_of(book)
    made = Casting(source, path_or_none(cast) or path.with_name(f"{path.name.split('.')[0]}.cast.txt"))
    if out is not None:
        write_text(path_of(out), made.page())
    return made


class Casting(Result):
    """The cast of a book as it is in `file`, or is proposed, and what the book says of it: `workshop`."""

    def __init__(self, source: work.Source, file: Path) -> None:
        from ..annotation.embedded.parsing import parse_book

        self.source, self.file = source, file
        self._parse = parse_book(source.book)
        self.read()

    def read(self) -> CastWorkshop:
        """The workshop of what is in the file now."""
        from ..annotation.propose import propose_cast
        from ..annotation.workshop import make_workshop

        if self.file.exists():
            text = casts.cast_text(self.file)
        else:
            text = format_cast(propose_cast(self.source.book, parse=self._parse).cast)
        book, chapters = self.source.book, self.source.chapters
        self.workshop = make_workshop(book, self._parse, text, chapters, str(self.file))
        return self.workshop

    def check(self, text: str, source: str = "cast") -> None:
        """Raises UsageError: `annotate` could not use a cast file with this text."""
        from ..annotation.workshop import check_cast

        check_cast(self.source.book, text, self.source.chapters, source)

    def page(self, server: dict[str, str] | None = None) -> str:
        """The workshop as one page of HTML, which saves a cast file, or gives it to a server."""
        from ..reading_page.form import form

        made = self.read() if server else self.workshop
        data = made.to_dict() | {"server": server, "file": self.file.name}
        return form("cast", f"Cast of {self.source.book.doc_key}", data)

    @property
    def table(self) -> Table:
        """One row per character, most frequent first: name, times named, its names in the book, doubts."""
        work = self.workshop
        rows: list[list[Any]] = []
        for i, (entry, _, _) in enumerate(work.people):
            mine = [n for n in work.names if n.owner == i]
            asked = [why for a, b, _, why in work.partners if why and i in (a, b)]
            doubts = [why for names, why in work.doubts if work.names[names[0]].owner == i]
            told = ", ".join(f"{n.text} {len(n.starts)}" for n in mine)
            rows.append([entry.name, sum(len(n.starts) for n in mine), told, len(asked) + len(doubts)])
        rows.sort(key=lambda row: -row[1])
        return Table.of_rows(("name", "times", "names in the book", "questions"), rows)

    def to_dict(self) -> dict[str, Any]:
        return {"file": str(self.file), **self.workshop.to_dict()}

    def _line(self) -> str:
        return f"{self.source.book.doc_key}, {plural(len(self.workshop.people), 'character')}"


@files_of("out", reads=("source", "cast", "edits", "agreement", "recipe"), page=True)
def review(
    source: PathLike, cast: o.CastLike = None, *, book: o.OneBook = "", edits: PathLike | None = None,
    narrator: str | Iterable[str] = (), about: Iterable[str] = (), most: o.Positive = AT_ONCE,
    until: o.Proportion = 0.0, agreement: PathLike | None = None, author: o.MadeBy = "",
    backend: o.BackendName = "embedded", recipe: o.Recipe = None, out: PathLike | None = None,
    replace: o.Overwrite = False,
) -> Review:  # fmt: skip
    """Ask a person the questions whose answers repair most of an annotation.

    What a question is worth is its chance of being wrong times the decisions that depend on it. Every answer
    is a correction in `edits`. After `most` answers the book is read again with all of them, and the next
    questions are made anew.

    Args:
        source: a folder that `annotate` wrote, or a text with its cast.
        cast: as `annotate`; a folder brings its own.
        edits: corrections to begin with; answers are added to them (default: edits.jsonl in the folder, or
            beside the text).
        narrator: who says "I" outside quotations, as `annotate`.
        about: only these kinds: speaker, pronoun, phrase, name, words, "same person"; may be repeated.
        most: questions between two readings.
        until: stop when this share of mentions and speakers is likely right.
        agreement: corrections of a second person: say how far the two agree, ask first where they differ.
        out: write the questions into an HTML page, which saves the answers as a file of corrections.

    Returns the questions of the first reading; `answer` and `next` go on.

    Raises:
        UsageError: no text, several books of which none is named, or an unknown kind of question.
        SourceError, FormatError: the corrections cannot be read.
    """
    from ..annotation.backends import make_backend

    path, kinds = path_of(source), tuple(about) or KINDS
    if unknown := [kind for kind in kinds if kind not in KINDS]:
        raise UsageError(f"unknown kind of question {unknown[0]!r}", expected=", ".join(KINDS))
    text = one_source(path / ANNOTATION if path.is_dir() else path, book)
    kept = path_of(edits) if edits else edits_beside(path)
    found: ReviewAgreement | None = None
    first: frozenset[Key] = frozenset()
    if agreement is not None:
        mine = correct.kept_edits(kept)
        found = compared(mine, correct.read_edits(path_of(agreement)))
        first = frozenset(found.differ)
    plan = plan_for(recipe, backend, None, "en")  # what was annotated had a language
    session = reviews.ReviewSession(
        text, cast_for(cast, text), plan, make_backend(plan), kept, narrators_of(narrator), author, kinds,
        first,
    )  # fmt: skip
    made = Review(session, most, until, found)
    if out is not None:
        write_text(path_of(out), made.page())
    return made


def edits_beside(source: Path) -> Path:
    """Where corrections of an input are kept: in its folder; beside a file, and beside a data set folder,
    which with another file in it would fail `verify`."""
    if source.is_dir() and not (source / "build.json").is_file():
        return source / EDITS
    place = source if source.name else source.resolve()
    return place.with_name(f"{place.name if place.is_dir() else place.stem}.{EDITS}")


class Review:
    """The best questions about one book, by scene. Answer them, then `next` gives those of a new reading.

    `likely_right` is the share (0..1) of mentions and speakers that is likely right, `agreement` how far a
    second person agrees, `conflicts` are corrections that need a person, `names` the people, `aliases` their
    other names. `ready` says that the wanted share is reached.
    """

    def __init__(
        self, session: reviews.ReviewSession, most: int, until: float, agreement: ReviewAgreement | None
    ) -> None:
        self._session, self._most, self._until, self._served = session, most, until, False
        self.agreement = agreement
        self.questions: list[ReviewQuestion] = []
        self.next()

    def next(self) -> list[ReviewQuestion]:
        """Read the book with all answers until now; the questions of that reading."""
        self.questions, self._layout = self._session.ask(self._most)
        a, self.likely_right = self._session.annotation, self._session.share
        assert a is not None
        self.names, self.aliases, self.conflicts = a.names, self._session.aliases, self._session.conflicts
        if not (a.mentions or a.quotes):
            hint = "is it the right text, and does the cast name its people?"
            what = f"there is nothing to review in {a.doc_key}"
            raise DataError(what, expected="a mention or a quotation", found="neither", hint=hint)
        self.ready = 0 < self._until <= self.likely_right
        self.questions = [] if self.ready else self.questions
        return self.questions

    def answer(self, question: ReviewQuestion, key: str) -> None:
        """Answer a question: "1" to "5" for its people, "n" nobody, "c" cannot tell, or a name of the cast.

        Raises:
            UsageError: it has no such answer.
        """
        tokens, doc_key = self._session.source.book.tokens, self._session.source.book.doc_key
        offered = {a.key: a.edits for a in answers_to(question, tokens, doc_key)}
        if key not in offered and (key not in self.names or question.kind in OFFERS_NO_PEOPLE):
            raise UsageError(f"{key!r} is no answer", expected=f"a name of the cast, {', '.join(offered)}")
        self._session.keep(offered.get(key) or answer_with(question, key, tokens, doc_key))

    def take_back(self) -> bool:
        """Forget the last answer; False where there is none."""
        return correct.take_back(self._session.edits, self._session.author, self._session.source.book.doc_key)

    @property
    def table(self) -> Table:
        """One row per question."""
        pairs = zip(self.questions, self.to_dict()["questions"], strict=True)
        rows = [[q.kind, t["words"], q.now, list(q.people), t["wrong"], t["hangs"]] for q, t in pairs]
        return Table.of_rows(("kind", "words", "now", "people", "likely wrong", "decisions"), rows)

    def to_dict(self) -> dict[str, Any]:
        """What `review --json` prints."""
        book = self._session.source.book
        made = {
            "doc_key": book.doc_key, "likely_right": round(self.likely_right, 4), "ready": self.ready,
            "names": list(self.names),
            "questions": [as_dict(q, self._layout, book.tokens, book.doc_key) for q in self.questions],
        }  # fmt: skip
        if self.agreement:
            a = self.agreement
            made["agreement"] = {"both": a.both, "same": a.same, "kappa": a.kappa, "differ": len(a.differ)}
        return made

    def page(self, server: dict[str, str] | None = None) -> str:
        """The questions as one page of HTML, which saves a file of corrections, or gives them to a server.
        One that asks for the page again gets questions of a new reading."""
        from ..reading_page.form import form

        if server and self._served:
            self.next()
        self._served = server is not None
        kept = [e.to_dict() for e in correct.kept_edits(self._session.edits)]
        more = {"edits": kept, "author": self._session.author, "until": self._until, "server": server}
        more |= {"aliases": self.aliases}
        return form("review", self._session.source.book.doc_key, self.to_dict() | more)

    def __repr__(self) -> str:
        return f"<Review: {len(self.questions)} questions, {self.likely_right:.1%} likely right>"


@files_of("out", reads=("source", "edits"), page=True)
def audit(
    source: Any, *, book: o.OneBook = "", read: bool = True, most: o.Count = 60,
    edits: PathLike | None = None, author: o.MadeBy = "", out: PathLike | None = None,
    replace: o.Overwrite = False,
) -> Audit:  # fmt: skip
    """List the likely errors of an annotation, most likely first, with reason, passage and correction.

    Args:
        source: data set folder, or a file in any format: gold, silver, a system's output.
        read: read the books, too, with the names of the chains as the cast: finds more, takes minutes for a
            novel.
        most: flags that are listed (0: all); the counts are those of all.
        edits: corrections that were made before: what they decide is not listed again.
        out: write a page that asks of each flag whether it is an error, and saves the corrections.

    A correction has the reason in its field `why`. In Python `source` may be books in memory.

    Raises:
        UsageError: there is no such book. SourceError, DataError: a file cannot be read.
    """
    kept = correct.kept_edits(path_of(edits)) if edits is not None else []
    found = []
    for a in chosen(source, book):
        mine = [changed(e, doc_key=a.doc_key) for e in kept if e.doc_key in ("", a.doc_key)]
        said, mended = settled(mine), set(map(decision, mine))
        left = (f for f in reviews.flags_of(a, read=read) if mended.isdisjoint(map(decision, f.edits)))
        found += [(flag, a) for flag in left if ("mention", flag.start, flag.end) not in said]
    found.sort(key=lambda pair: -pair[0].chance)
    made = Audit(found, most or len(found), [e.to_dict() for e in kept], author)
    if out is not None:
        write_text(path_of(out), made.page())
    return made


class Audit(Result):
    """The likely errors of annotations, most likely first: `flags` with the annotation of each."""

    def __init__(
        self, flags: Sequence[tuple[Flag, Annotation]], most: int, kept: list[dict[str, Any]], author: str
    ) -> None:
        self.flags, self._all, self._kept, self._author = list(flags[:most]), flags, kept, author

    @property
    def counts(self) -> dict[str, int]:
        """How many flags there are of each kind."""
        return dict(Counter(flag.kind for flag, _ in self._all).most_common())

    @property
    def table(self) -> Table:
        """One row per flag."""
        columns = ("doc_key", "token", "kind", "likely wrong", "passage", "reason")
        rows = []
        for f, a in self.flags:
            parts = (f.start - 6, f.start), (f.start, f.end + 1), (f.end + 1, f.end + 5)
            before, words, after = (" ".join(a.book.tokens[max(0, i) : j]) for i, j in parts)
            passage = " ".join(f"{before} [{words}] {after}".split())
            rows.append([a.doc_key, f.start, f.kind, round(f.chance, 2), passage, f.reason])
        return Table.of_rows(columns, rows)

    def to_dict(self) -> dict[str, Any]:
        layouts = {id(a): lay_out(a) for _, a in self.flags}
        return {"counts": self.counts, "flags": [flag_as_dict(f, a, layouts[id(a)]) for f, a in self.flags]}

    def keep(self, answer: list[dict[str, Any]], file: PathLike) -> None:
        """Add the corrections of an answer to a file."""
        path = path_of(file)
        made = parse_edits("\n".join(json.dumps(edit) for edit in answer))
        kept = correct.kept_edits(path)
        correct.write_edits([*kept, *correct.signed(made, self._author)], path)

    def take_back(self, file: PathLike) -> bool:
        """Take the last answer out of a file; False where there is none."""
        return correct.take_back(path_of(file), self._author)

    def page(self, server: dict[str, str] | None = None) -> str:
        """A page that asks of each flag whether it is an error."""
        from ..reading_page.form import form

        told = self.to_dict()
        more = {"edits": self._kept, "names": [], "author": self._author, "server": server}
        return form("review", "Likely errors", {"questions": told["flags"], "counts": told["counts"], **more})

    def _line(self) -> str:
        return plural(len(self._all), "flag")
