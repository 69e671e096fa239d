"""One correction is one operation; a file of corrections has one a line (`edits.jsonl`). What each operation
says, and which fields it must have, stands in `manifests/inputs.json`.

A place is held by its tokens and by the words around it, so that it is found again in a changed edition.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from ..errors import FormatError
from ..shapes import attributes, check, parse_json

UNSURE = "cannot tell"
AROUND = 6
"""Words kept before and after a place."""


@dataclass(frozen=True, slots=True)
class Anchor:
    """A place: tokens `start` to `end` (inclusive), its words, and the words before and after.

    Words are tokens joined by blanks; tokens of white space are left out.
    """

    start: int
    end: int
    words: str
    before: str = ""
    after: str = ""

    def to_dict(self) -> dict[str, Any]:
        return {"tokens": [self.start, self.end], **attributes(self, "words before after")}


def anchor_of(tokens: Sequence[str], start: int, end: int) -> Anchor:
    """The anchor of tokens `start` to `end` of a book."""

    def words(a: int, b: int) -> str:
        return " ".join(t for t in tokens[max(0, a) : max(0, b)] if t.strip())

    before, after = words(start - AROUND, start), words(end + 1, end + 1 + AROUND)
    return Anchor(start, end, words(start, end + 1), before, after)


_IN_ORDER = "op doc_key at to was character name into also confirmed speaker addressees author date group"


@dataclass(frozen=True, slots=True)
class Edit:
    """One operation; `extra` keeps fields we do not know. `confirmed` says that a name is meant, though it
    looks like another.

    `author` and `date` (ISO 8601) say who and when; edits with the same `group` were made at once.
    """

    op: str
    at: Anchor | None = None
    to: Anchor | None = None
    character: str = ""
    was: str | None = None
    name: str = ""
    into: str = ""
    speaker: str | None = None
    addressees: tuple[str, ...] = ()
    also: bool = False
    confirmed: bool = False
    doc_key: str = ""
    author: str = ""
    date: str = ""
    group: str = ""
    extra: dict[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """The fields that this operation has, in a fixed order."""
        speaks = self.op == "speaker"
        told = {"was": self.was is not None, "speaker": speaks, "addressees": speaks}
        return {name: v for name, v in attributes(self, _IN_ORDER).items() if told.get(name, v)} | self.extra


_KNOWN = {part.name for part in fields(Edit)} - {"extra"}


def parse_edits(text: str, source: str = "edits.jsonl") -> list[Edit]:
    """The operations of a file of corrections. Raises FormatError: `file:line` of what is no operation."""
    found = []
    for number, line in enumerate(text.lstrip("\ufeff").split("\n"), 1):
        if line.strip():
            place = f"{source}:{number}"
            value: Any = parse_json(line, place)
            check(value, "edit", place)
            known = {k: v for k, v in value.items() if k in _KNOWN}
            known |= {key: _anchor(value, key, place) for key in ("at", "to")}
            known["addressees"] = tuple(value.get("addressees") or ())
            found.append(Edit(**known, extra={k: v for k, v in value.items() if k not in _KNOWN}))
    return found


def format_edits(edits: Iterable[Edit]) -> str:
    """The text of a file of corrections."""
    return "".join(json.dumps(e.to_dict(), ensure_ascii=False) + "\n" for e in edits)


def checked_edits(edits: Iterable[Edit], source: str = "edit") -> list[Edit]:
    """Edits that were made by a program, held to what a file may say. Raises as `parse_edits`."""
    return parse_edits(format_edits(edits), source)


def _anchor(value: dict[str, Any], key: str, place: str) -> Anchor | None:
    if key not in value:
        return None
    given = value[key]
    start, end = given["tokens"]
    if start > end:
        what = f"{place}: {key!r} ends before it begins"
        raise FormatError(what, expected="[first, last]", found=given["tokens"])
    return Anchor(start, end, given["words"], given.get("before", ""), given.get("after", ""))
