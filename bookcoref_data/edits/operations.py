"""One correction is one operation; a file of corrections has one a line (`edits.jsonl`).

    link     the mention `at` is `character` (it is made if it is not there); `was` is whom it had, and
             with `also` it keeps those whom it has
    unlink   the mention `at` is nobody; with `was` only that link is taken away
    span     the mention `at` (of `was`) has the words `to`
    speaker  the quote `at` is spoken by `speaker` (null: not known) to `addressees`
    new      there is a character `character`
    rename   `character` is called `name`
    merge    `character` and `into` are one person, called `into`

A place is held by its tokens and by the words around it, so that it is found again in a changed edition.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..errors import FormatError

OPERATIONS = {
    "link": ("at", "character"),
    "unlink": ("at",),
    "span": ("at", "to"),
    "speaker": ("at", "speaker"),
    "new": ("character",),
    "rename": ("character", "name"),
    "merge": ("character", "into"),
}
"""Every operation and the fields it must have."""

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
        return {
            "tokens": [self.start, self.end], "words": self.words, "before": self.before, "after": self.after,
        }  # fmt: skip


def anchor_of(tokens: Sequence[str], start: int, end: int) -> Anchor:
    """The anchor of tokens `start` to `end` of a book."""

    def words(a: int, b: int) -> str:
        return " ".join(t for t in tokens[max(0, a) : max(0, b)] if t.strip())

    return Anchor(
        start, end, words(start, end + 1), words(start - AROUND, start), words(end + 1, end + 1 + AROUND)
    )


@dataclass(frozen=True, slots=True)
class Edit:
    """One operation. Which fields count is in OPERATIONS; `extra` keeps fields we do not know.

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
    doc_key: str = ""
    author: str = ""
    date: str = ""
    group: str = ""
    extra: dict[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """The fields that this operation has, in a fixed order."""
        value: dict[str, Any] = {"op": self.op}
        if self.doc_key:
            value["doc_key"] = self.doc_key
        for key, place in (("at", self.at), ("to", self.to)):
            if place is not None:
                value[key] = place.to_dict()
        if self.was is not None:
            value["was"] = self.was
        for key, text in (("character", self.character), ("name", self.name), ("into", self.into)):
            if text:
                value[key] = text
        if self.also:
            value["also"] = True
        if self.op == "speaker":
            value |= {"speaker": self.speaker, "addressees": list(self.addressees)}
        for key, text in (("author", self.author), ("date", self.date), ("group", self.group)):
            if text:
                value[key] = text
        return value | self.extra


_KNOWN = {
    "op", "doc_key", "at", "to", "was", "character", "name", "into", "speaker", "addressees", "also",
    "author", "date", "group",
}  # fmt: skip


def parse_edits(text: str, source: str = "edits.jsonl") -> list[Edit]:
    """The operations of a file of corrections.

    Raises:
        FormatError: `file:line` of what is no operation.
    """
    found = []
    for number, line in enumerate(text.lstrip("\ufeff").split("\n"), 1):
        if line.strip():
            place = f"{source}:{number}"
            try:
                value = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise FormatError(f"{place}: is not valid JSON", found=str(error)) from error
            found.append(_edit(value, place))
    return found


def format_edits(edits: Iterable[Edit]) -> str:
    """The text of a file of corrections."""
    return "".join(json.dumps(e.to_dict(), ensure_ascii=False) + "\n" for e in edits)


def _edit(value: Any, place: str) -> Edit:
    if not isinstance(value, dict) or value.get("op") not in OPERATIONS:
        found = value.get("op") if isinstance(value, dict) else value
        raise FormatError(
            f"{place}: is no correction", expected=f"an object with op: {', '.join(OPERATIONS)}", found=found
        )
    missing = [name for name in OPERATIONS[value["op"]] if name not in value]
    if missing:
        raise FormatError(
            f"{place}: the operation {value['op']!r} has no {missing[0]!r}",
            expected=", ".join(OPERATIONS[value["op"]]), found=", ".join(value),
        )  # fmt: skip

    def text(key: str) -> str:
        given = value.get(key, "")
        if not isinstance(given, str):
            raise FormatError(f"{place}: {key!r} is no text", expected="a text", found=given)
        return given

    names = value.get("addressees") or []
    if not isinstance(names, list) or not all(isinstance(n, str) for n in names):
        raise FormatError(f"{place}: 'addressees' is no list of names", found=names)
    return Edit(
        value["op"], _anchor(value, "at", place), _anchor(value, "to", place), text("character"),
        None if value.get("was") is None else text("was"), text("name"), text("into"),
        None if value.get("speaker") is None else text("speaker"), tuple(names),
        value.get("also") is True, text("doc_key"), text("author"), text("date"), text("group"),
        {k: v for k, v in value.items() if k not in _KNOWN},
    )  # fmt: skip


def _anchor(value: dict[str, Any], key: str, place: str) -> Anchor | None:
    given = value.get(key)
    if given is None:
        return None
    try:
        start, end = given["tokens"]
        words, before, after = given["words"], given.get("before", ""), given.get("after", "")
        sound = type(start) is int and type(end) is int and 0 <= start <= end
        if not sound or not all(isinstance(w, str) for w in (words, before, after)):
            raise ValueError("tokens must be two whole numbers, first and last; words must be a text")
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise FormatError(
            f"{place}: {key!r} is no place", expected='{"tokens": [first, last], "words": "...", ...}',
            found=f"{type(error).__name__}: {error}",
        ) from error  # fmt: skip
    return Anchor(start, end, words, before, after)
