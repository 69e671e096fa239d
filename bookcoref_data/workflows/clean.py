"""Clean books by id or file, with the recipe's exceptions: the verb `clean`."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..errors import BookcorefError, SourceError, UsageError
from ..files import sha256_bytes, write_bytes, write_text
from ..resources import load_toml, resource
from ..text.clean import CleanSettings, CleanText, clean, settings_from
from ..text.decode import Decoded, decode

Read = Callable[[str], tuple[Decoded, str]]
"""Reads a Gutenberg id: the decoded text and the sha256 of its file."""

_ID_IN_NAME = re.compile(r"(?:pg)?(\d{1,7})(?:-\d)?(?:\.txt)?(?:\.utf-?8)?", re.I)


@dataclass(frozen=True, slots=True)
class CleanRecipe:
    """Settings for every book, and the tables of single books by Gutenberg id."""

    settings: CleanSettings
    books: dict[str, dict[str, Any]]

    def for_book(self, gutenberg_id: str) -> CleanSettings:
        try:
            return settings_from(self.books.get(gutenberg_id, {}), self.settings)
        except UsageError as error:
            raise UsageError(
                f"the cleaning recipe for book {gutenberg_id}: {error.what}",
                expected=error.expected,
                found=error.found,
            ) from error


@dataclass(frozen=True, slots=True)
class CleanBook:
    """A cleaned book: its file's name and checksum, the decoded file, and the clean text."""

    name: str
    gutenberg_id: str
    sha256: str
    file: Decoded
    body: CleanText


def load_recipe(path: Path | None = None) -> CleanRecipe:
    """The recipe at `path`, else the one that ships (recipes/clean.toml).

    Raises:
        UsageError: unknown tables or settings.
    """
    table = load_toml(path or resource("recipes", "clean.toml"))
    unknown = sorted(set(table) - {"settings", "books"})
    if unknown:
        raise UsageError(f"unknown tables in the cleaning recipe: {', '.join(unknown)}",
                         expected="[settings] and [books.<id>]")  # fmt: skip
    return CleanRecipe(settings_from(table.get("settings", {})), table.get("books", {}))


def clean_one(source: str, recipe: CleanRecipe, read: Read, *, guard: bool = True) -> CleanBook:
    """Clean a file, or the text of a Gutenberg id.

    A file's exceptions are found by the id in its name ("pg1342.txt", "1342-0.txt").

    Raises:
        SourceError: no such file, or the text cannot be had.
        DataError: the guard stopped; UsageError: the recipe does not fit the text.
    """
    path = Path(source)
    if source.isdigit() and not path.exists():
        gutenberg_id, name = source, f"pg{source}"
        text, sha256 = read(source)
    else:
        data = _bytes(path)
        text, sha256, name = decode(data, source), sha256_bytes(data), path.stem
        found = _ID_IN_NAME.fullmatch(path.name)
        gutenberg_id = found.group(1) if found else ""
    settings = recipe.for_book(gutenberg_id)
    try:
        body = clean(text.text, settings if guard else replace(settings, guard=False))
    except BookcorefError as error:
        error.what = f"{source}: {error.what}"
        raise
    return CleanBook(name, gutenberg_id, sha256, text, body)


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise SourceError(
            f"cannot read {path}", found=error.strerror, hint="give a file, or the number of a Gutenberg book"
        ) from error


def summary(book: CleanBook) -> dict[str, Any]:
    """What was kept and cut of a book, as JSON writes it."""
    body = book.body
    return {
        "name": book.name,
        "gutenberg_id": book.gutenberg_id,
        "sha256": book.sha256,
        "encoding": book.file.encoding,
        "file_characters": body.file_length,
        "kept_characters": len(body.text),
        "chapters": len(body.chapters),
        "cut_shares": {kind: round(share, 6) for kind, share in body.shares().items()},
    }


def cuts_of(book: CleanBook) -> list[dict[str, Any]]:
    """Every cut of a book with its place in the file and an excerpt."""
    text = book.file.text
    return [
        {"kind": cut.kind, "start": cut.start, "end": cut.end, "excerpt": cut.excerpt(text)}
        for cut in book.body.cuts
    ]


def write_clean(book: CleanBook, out: Path) -> Path:
    """Write the clean text; `out` is a file when it has a suffix, else a folder."""
    path = out if out.suffix else out / f"{book.name}.txt"
    write_text(path, book.body.text + "\n")
    return path


def write_map(book: CleanBook, out: Path) -> Path:
    """Write the map back to the file: [clean offset, file offset, length] per run, and the chapters.

    Offsets are characters of the decoded file with "\\n" line ends.
    """
    import json

    path = out if out.suffix else out / f"{book.name}.map.json"
    content = {
        "sha256": book.sha256,
        "encoding": book.file.encoding,
        "file_characters": book.body.file_length,
        "runs": [list(run) for run in book.body.runs],
        "chapters": [list(chapter) for chapter in book.body.chapters],
    }
    write_bytes(path, json.dumps(content, ensure_ascii=False).encode())
    return path
