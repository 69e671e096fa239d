"""`review` for Python: the questions whose answers repair most of an annotation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import UsageError
from ..files import path_of
from ..outputs import ANNOTATION, files_of
from . import options as o
from .annotating import _cast, _names, _plan, _sources
from .options import PathLike
from .tables import Table

if TYPE_CHECKING:
    from ..asking import ReviewQuestion
    from ..asking.answers import ReviewAgreement
    from ..asking.questions import Key
    from ..workflows.review import ReviewSession

EDITS = "edits.jsonl"
AT_ONCE = 25
"""Questions between two readings."""


@files_of("out", reads=("book", "cast", "edits", "agreement"))
def review(
    book: PathLike, cast: o.CastLike = None, *, edits: PathLike | None = None,
    narrator: str | Iterable[str] = (), about: Iterable[str] = (), most: o.Positive = AT_ONCE,
    until: o.Proportion = 0.0, agreement: PathLike | None = None, author: str = "",
    backend: o.BackendName = "embedded", out: PathLike | None = None, replace: o.Overwrite = False,
) -> Review:  # fmt: skip
    """Ask a person the questions whose answers repair most of an annotation.

    What a question is worth is its chance of being wrong times the decisions that hang on it. Every answer is
    a correction in `edits`. After `most` answers the book is read again with all of them, and the next
    questions are made anew.

    Args:
        book: a folder that `annotate` wrote, or a text with its cast.
        cast: as `annotate`; a folder brings its own.
        edits: corrections to begin with; answers are added to them (default: edits.jsonl in the folder, or
            beside the text).
        narrator: who says "I" outside quotations, as `annotate`.
        about: only these kinds: speaker, pronoun, phrase, name, words, "same person"; may be repeated.
        most: questions between two readings.
        until: stop when this share of mentions and speakers is likely right.
        agreement: corrections of a second person: say how far the two agree, ask first where they differ.
        author: name written into each correction.
        out: write the questions into an HTML page, which saves the answers as a file of corrections.

    Returns the questions of the first reading; `answer` and `next` go on.

    Raises:
        UsageError: no text, several books, or an unknown kind of question. SourceError, FormatError: the
            corrections cannot be read.
    """
    from ..annotation.backends import make_backend
    from ..asking import KINDS
    from ..asking import agreement as compared
    from ..files import write_text
    from ..workflows.correct import read_edits
    from ..workflows.review import ReviewSession

    path, kinds = path_of(book), tuple(about) or KINDS
    if unknown := [kind for kind in kinds if kind not in KINDS]:
        raise UsageError(f"unknown kind of question {unknown[0]!r}", expected=", ".join(KINDS))
    sources = _sources(path / ANNOTATION if path.is_dir() else path)
    if len(sources) != 1:
        raise UsageError(f"{book} holds {len(sources)} books", expected="one book")
    kept = path_of(edits) if edits else edits_beside(path)
    found: ReviewAgreement | None = None
    first: frozenset[Key] = frozenset()
    if agreement is not None:
        found = compared(read_edits(kept) if kept.is_file() else [], read_edits(path_of(agreement)))
        first = frozenset(found.differ)
    plan = _plan(None, backend, None, "en")  # what is reviewed was annotated, so its language was decided
    session = ReviewSession(
        sources[0], _cast(cast, sources[0]), plan, make_backend(plan), kept, _names(narrator), author, kinds,
        first,
    )  # fmt: skip
    made = Review(session, most, until, found)
    if out is not None:
        write_text(path_of(out), made.page())
    return made


def edits_beside(source: Path) -> Path:
    """Where corrections of an input are kept: in its folder, or beside the file."""
    return source / EDITS if source.is_dir() else source.with_name(f"{source.stem}.{EDITS}")


class Review:
    """Questions about one book, best first. Answer them, then `next` gives those of a new reading.

    `likely_right` is the share of mentions and speakers that is likely right now, `agreement` how far a
    second person agrees, `conflicts` are corrections that need a person. `ready` says that the wanted share
    is reached.
    """

    def __init__(
        self, session: ReviewSession, most: int, until: float, agreement: ReviewAgreement | None
    ) -> None:
        self._session, self._most, self._until = session, most, until
        self.agreement = agreement
        self.questions: list[ReviewQuestion] = []
        self.next()

    def next(self) -> list[ReviewQuestion]:
        """Read the book with all answers until now; the questions of that reading."""
        self.questions, self._layout = self._session.ask(self._most)
        if self.ready:
            self.questions = []
        return self.questions

    @property
    def ready(self) -> bool:
        """Whether the wanted share is reached."""
        return 0 < self._until <= self.likely_right

    @property
    def likely_right(self) -> float:
        """The share of mentions and speakers that is likely right, in 0..1."""
        return self._session.share

    @property
    def conflicts(self) -> Sequence[Any]:
        """The corrections that need a person."""
        return self._session.conflicts

    @property
    def names(self) -> tuple[str, ...]:
        """The people of the book."""
        assert self._session.annotation is not None
        return self._session.annotation.names

    def answer(self, question: ReviewQuestion, key: str) -> None:
        """Answer a question: "1" to "5" for its people, "n" nobody, "c" cannot tell, or a name of the cast.

        Raises:
            UsageError: it has no such answer.
        """
        from ..asking import OFFERS_NO_PEOPLE
        from ..asking.answers import answer_with, answers_to

        tokens, doc_key = self._session.source.book.tokens, self._session.source.book.doc_key
        offered = {a.key: a.edits for a in answers_to(question, tokens, doc_key)}
        if key not in offered and (key not in self.names or question.kind in OFFERS_NO_PEOPLE):
            raise UsageError(f"{key!r} is no answer", expected=f"a name of the cast, {', '.join(offered)}")
        self._session.keep(offered.get(key) or answer_with(question, key, tokens, doc_key))

    def take_back(self) -> bool:
        """Forget the last answer; False where there is none."""
        return self._session.take_back()

    @property
    def table(self) -> Table:
        """One row per question."""
        rows = [
            [q.kind, t["words"], q.now, list(q.people), t["wrong"], t["hangs"]]
            for q, t in zip(self.questions, self.to_dict()["questions"], strict=True)
        ]
        return Table.of_rows(("kind", "words", "now", "people", "likely wrong", "decisions"), rows)

    def to_dict(self) -> dict[str, Any]:
        """What `review --json` prints."""
        from ..asking.answers import as_dict

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
        """The questions as one page of HTML, which saves a file of corrections, or gives them to a server."""
        from ..reading_page.form import form

        kept = [e.to_dict() for e in self._session.kept()]
        more = {"edits": kept, "author": self._session.author, "until": self._until, "server": server}
        return form("review", self._session.source.book.doc_key, self.to_dict() | more)

    def __repr__(self) -> str:
        return f"<Review: {len(self.questions)} questions, {self.likely_right:.1%} likely right>"
