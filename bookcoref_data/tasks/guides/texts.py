"""What study guides say: one record per text, filters of length, splits by book, rows of the folder; and the
same texts as references for annotated books."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...books import Book
from ...shapes import attributes
from ...words import fold
from ...words.honorifics import HONORIFICS
from ..contexts.splits import keep_length, plain_title, split_by_hash
from ..folder import Feature
from ..questions.release import may_be_one

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
    split = split_by_hash(plain_title(title))
    return "validation" if split == "val" else split


def rows_of(texts: Sequence[GuideText], splits: Mapping[str, str]) -> dict[tuple[str, str], Rows]:
    """Rows by (kind, split), empty ones left out; `splits` maps the id of a text to its split.

    A text that `splits` lacks is in none.
    """
    tables: dict[tuple[str, str], Rows] = {(kind, split): [] for kind in KINDS for split in SPLITS}
    for text in texts:
        if (text.kind, splits.get(text.id, "")) in tables:
            tables[text.kind, splits[text.id]].append(text.to_dict())
    return {place: rows for place, rows in tables.items() if rows}


MASK = "[MASK]"
_SMALL = frozenset({"the", "a", "an", "of", "de", "la", "le", "von", "van", "du", "des"})
_PART = re.compile(r"[^\W\d_][\w'’-]*\.?")


def mask_name(text: str, names: Sequence[str], others: Iterable[Sequence[str]] = ()) -> tuple[str, int]:
    """The text with a person's names replaced by `MASK`, and how many were replaced.

    It is LiSCU's identification task. LiSCU publishes its masks as lists of changes to its own texts; this
    rule is ours. The longest name of anybody in the guide is read first, so that "Jane Brook" in a text about
    Ada Brook stays as it is.

    `names` are the person's name and aliases; each is hidden whole, and so is every part of it that is no
    title or small word. `others` are the names of the other persons: a full name of theirs is left alone,
    and what is only theirs, too. A part that several persons share ("Brook") is hidden where it stands alone.
    """
    mine = _forms(names)
    theirs = {form for other in others for form in _forms(other)} - mine
    if not mine:
        return text, 0
    forms = sorted(mine | theirs, key=lambda form: (-len(form), form))
    # With any white space and either apostrophe
    loose = [r"\s+".join(map(re.escape, form.split())).replace("'", "['’]") for form in forms]
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(loose)})(?!\w)")
    count = 0

    def hide(match: re.Match[str]) -> str:
        nonlocal count
        if " ".join(match.group().replace("’", "'").split()) not in mine:
            return match.group()
        count += 1
        return MASK

    return pattern.sub(hide, text), count


def _forms(names: Sequence[str]) -> set[str]:
    """What may stand for the person: every name, the name without its titles, and its single parts."""
    found: set[str] = set()
    for name in names:
        words = name.replace("’", "'").split()
        # A capitalised word that is no title names somebody alone.
        plain = [word.rstrip(".,").casefold() for word in words]
        parts = [
            word for word, small in zip(words, plain, strict=True)
            if _PART.fullmatch(word) and word[:1].isupper() and len(small) > 1
            and not {small, f"{small}."} & HONORIFICS and small not in _SMALL
        ]  # fmt: skip
        found |= {" ".join(words), *parts} - {""}
        if parts:
            found.add(" ".join(parts))
    return found


# -- references for annotated books ------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class References:
    """References under the names of annotated books, and the texts whose book or character is not there."""

    rows: list[dict[str, str]]
    without_book: int
    without_character: list[str]

    def to_dict(self) -> dict[str, Any]:
        return {"references": len(self.rows), **attributes(self, "without_book without_character")}


def references_for(rows: Sequence[Mapping[str, Any]], books: Sequence[Book]) -> References:
    """References {doc_key, character, text} for annotated books, from rows of a folder of guide texts.

    A book is found by its document key or Gutenberg id; texts about other editions do not fit, since the
    annotation is of this one. A character is found by name or alias, as `named_in` says.
    """
    found: list[dict[str, str]] = []
    unknown: list[str] = []
    without_book = 0
    by_key = {key: b for b in books for key in (b.doc_key, b.gutenberg_key) if key not in ("", "0")}
    for row in rows:
        book = by_key.get(str(row["doc_key"])) or by_key.get(str(row["gutenberg_key"]))
        if book is None:
            without_book += 1
            continue
        names = [str(row["character"]), *map(str, row.get("aliases") or ())]
        name = named_in((character.name for character in book.characters), names)
        if name:
            found.append({"doc_key": book.doc_key, "character": name, "text": str(row["text"])})
        else:
            unknown.append(f"{book.doc_key}: {row['character']}")
    return References(found, without_book, unknown)


def named_in(cast: Iterable[str], names: Sequence[str]) -> str:
    """Who of a cast goes by one of these names; "" for nobody, or for several.

    Capitals, accents and punctuation aside, else by all words of the shorter name, titles aside, where
    nothing speaks against it (`may_be_one`).
    """
    folded = {one: fold(one) for one in cast}
    sayable = [name for name in names if not {*fold(name).split()} <= HONORIFICS]
    for some, alike in ((names, str.__eq__), (sayable, lambda one, other: may_be_one(one, other, {}))):
        for name in some:
            found = [name] if name in folded else [one for one in folded if alike(folded[one], fold(name))]
            if len(found) == 1:
                return found[0]
    return ""
