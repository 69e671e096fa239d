"""What the pipeline knows of a book after some of its steps: mentions, drops and quotes with reasons.

A `State` is a value. Steps take one and return another, it can be written after every step and read
again, and whoever made a mention, or took it away, stands beside it.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from typing import Any

from ..books import Book, Mention
from ..books.annotation import Annotation
from ..books.annotation import Dropped as Dropped
from ..books.annotation import Marked as Marked
from ..books.annotation import Quote as Quote
from ..errors import BookError, FormatError
from ..shapes import shortened

STATE_FORMAT = 1


@dataclass(frozen=True, slots=True)
class State:
    """One book between two steps.

    `tokens_sha256` ties it to the text, `names` to the cast; `done` lists the finished steps in order;
    `mentions` are sorted, and no two of them share both span and character. `notes` are warnings for the
    person who reads the output. `memory` holds what a backend wants to hand to its own next step
    (JSON values only: gender of characters, settings in force).
    """

    doc_key: str
    tokens_sha256: str
    names: tuple[str, ...]
    done: tuple[str, ...] = ()
    mentions: tuple[Marked, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    quotes: tuple[Quote, ...] = ()
    notes: tuple[str, ...] = ()
    memory: dict[str, Any] = field(default_factory=dict)

    def after(
        self,
        step: str,
        mentions: Iterable[Marked],
        *,
        dropped: Iterable[Dropped] = (),
        quotes: Iterable[Quote] | None = None,
        notes: Iterable[str] = (),
        memory: dict[str, Any] | None = None,
    ) -> "State":
        """The state when `step` is done: `mentions` replace the old ones, drops and notes add up.

        A span given twice to one character is kept once: the earlier one (first step, first rule).
        """
        kept: dict[tuple[int, int, int], Marked] = {}
        for m in mentions:
            kept.setdefault((m.start, m.end, m.character), m)
        return replace(
            self,
            done=(*self.done, step),
            mentions=tuple(sorted(kept.values())),
            dropped=(*self.dropped, *dropped),
            quotes=self.quotes if quotes is None else tuple(quotes),
            notes=(*self.notes, *notes),
            memory=self.memory | (memory or {}),
        )

    def certain(self, least: float) -> "State":
        """The state without links and speakers whose score is below `least`; such links count as dropped."""
        if not least:
            return self
        low = (m for m in self.mentions if m.score < least)
        dropped = (Dropped(*m[:3], m.step, f"less certain than {least:g}", m.score) for m in low)
        kept = tuple(m for m in self.mentions if m.score >= least)
        quotes = tuple(q if q.score >= least else q._replace(speaker=-1, addressees=()) for q in self.quotes)
        return replace(self, mentions=kept, dropped=(*self.dropped, *dropped), quotes=quotes)

    def spans(self) -> list[list[Mention]]:
        """Mentions by character, in the order of `names`; characters without any have an empty list."""
        found: list[list[Mention]] = [[] for _ in self.names]
        for m in self.mentions:
            found[m.character].append(m.mention)
        return found

    def to_book(self, book: Book) -> Book:
        """`book` with this annotation as clusters and characters; unmentioned characters are left out."""
        return Annotation(book, self.names, self.mentions).to_book()

    def check_fits(self, book: Book, names: tuple[str, ...]) -> None:
        """Raises BookError when this state was made on another text or for another cast."""
        for what, expected, found in (
            ("text", self.tokens_sha256, book.tokens_sha256()),
            ("cast", self.names, names),
        ):
            if expected != found:
                raise BookError(
                    f"the saved state of {self.doc_key!r} belongs to another {what}",
                    expected=shortened(expected),
                    found=shortened(found),
                    hint="run all steps again, or give the text and cast it was made with",
                )

    def to_dict(self) -> dict[str, Any]:
        """Everything, ready for JSON; mentions, drops and quotes are rows of plain values."""
        return {"format": STATE_FORMAT, **{part.name: getattr(self, part.name) for part in fields(self)}}

    @classmethod
    def from_json(cls, text: str, source: str = "state") -> "State":
        """Read `to_dict` as JSON. Raises FormatError naming `source`."""
        try:
            value = json.loads(text)
            if value["format"] != STATE_FORMAT:
                raise FormatError(f"{source}: another format", expected=STATE_FORMAT, found=value["format"])
            known = {part.name: value[part.name] for part in fields(cls)}
            known |= {name: tuple(value[name]) for name in ("names", "done", "notes")}
            known["mentions"] = tuple(
                Marked(*row[:7], *(tuple((c, p) for c, p in others) for others in row[7:]))
                for row in value["mentions"]
            )
            known["dropped"] = tuple(Dropped(*row) for row in value["dropped"])
            known["quotes"] = tuple(Quote(a, b, c, tuple(d), e, f) for a, b, c, d, e, f in value["quotes"])
            return cls(**known)
        except (ValueError, KeyError, TypeError, IndexError) as error:
            what = f"{source}: not a saved state of the annotation pipeline"
            hint = "remove the file and run the step again"
            raise FormatError(what, found=f"{type(error).__name__}: {error}", hint=hint) from error
