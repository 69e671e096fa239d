"""What study guides say: one record per text, filters of length, splits by book, rows of the folder."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...shapes import attributes
from ..contexts.splits import keep_length, plain_title
from ..folder import Feature

KINDS = ("description", "analysis", "summary")
SPLITS = ("train", "validation", "test")
Rows = list[dict[str, Any]]

FEATURES: dict[str, Feature] = {
    "id": "string", "doc_key": "string", "gutenberg_key": "string", "title": "string", "author": "string",
    "source": "string", "guide": "string", "character": "string", "aliases": ["string"], "minor": "bool",
    "order": "int32", "text": "string", "words": "int32", "address": "string",
}  # fmt: skip
"""Columns of the configs description, analysis and summary; a summary is about no character ("")."""


@dataclass(frozen=True, slots=True)
class GuideText:
    """One text of a guide: about a character, or (`kind` "summary") about the book.

    `source` is the site and `guide` the guide's path there; `gutenberg_key` is "" where no Gutenberg book is
    known. `order` is the place in the guide's list.
    """

    kind: str
    source: str
    guide: str
    title: str
    author: str
    text: str
    character: str = ""
    aliases: tuple[str, ...] = ()
    minor: bool = False
    order: int = 0
    doc_key: str = ""
    gutenberg_key: str = ""
    address: str = ""

    @property
    def id(self) -> str:
        """Names the text for good: site, guide, kind, character, and the Gutenberg book if one is known."""
        parts = (self.source, self.guide, self.kind, self.character, self.gutenberg_key)
        return "|".join(part for part in parts if part)

    def to_dict(self) -> dict[str, Any]:
        """The row of the folder."""
        names = "id doc_key gutenberg_key title author source guide character aliases minor order text"
        return {**attributes(self, names), "words": len(self.text.split()), "address": self.address}


def keep_long(
    texts: Iterable[GuideText], least: Mapping[str, int], *, strictly: bool, tokens: str
) -> tuple[list[GuideText], list[GuideText]]:
    """Texts that are long enough, and those that are not; `least` by kind (none for a kind it lacks)."""
    kept: list[GuideText] = []
    short: list[GuideText] = []
    for text in texts:
        long = keep_length(text.text, least.get(text.kind, 0), strictly=strictly, tokens=tokens)
        (kept if long else short).append(text)
    return kept, short


def split_by_title(title: str) -> str:
    """The split of a book that no published split knows: 80/10/10 by the hash of its plain title.

    All guides and editions of one title fall into one split.
    """
    share = int(hashlib.sha256(plain_title(title).encode()).hexdigest()[:8], 16) % 10
    return "test" if share == 0 else "validation" if share == 1 else "train"


def rows_of(
    texts: Sequence[GuideText], splits: Mapping[str, str], kinds: Sequence[str] = KINDS
) -> dict[tuple[str, str], Rows]:
    """Rows by (kind, split), empty ones left out; `splits` maps the id of a text to its split.

    A text that `splits` lacks is in none.
    """
    tables: dict[tuple[str, str], Rows] = {(kind, split): [] for kind in kinds for split in SPLITS}
    for text in texts:
        if (text.kind, splits.get(text.id, "")) in tables:
            tables[text.kind, splits[text.id]].append(text.to_dict())
    return {place: rows for place, rows in tables.items() if rows}
