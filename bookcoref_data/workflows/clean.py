"""Clean books by id or file, with the recipe's exceptions: the verb `clean`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import SourceError, UsageError
from ..files import sha256_bytes, write_bytes, write_text
from ..resources import load_toml, resource
from ..text.clean import CleanRecipe, CleanText, settings_from
from ..text.decode import Decoded, decode
from ..text.read_book import CleanFile, ReadSettings, clean_file

Read = Callable[[str], tuple[Decoded, str]]
"""Reads a Gutenberg id: the decoded text and the sha256 of its file."""


@dataclass(frozen=True, slots=True)
class CleanBook:
    """A cleaned book: the name of what is written for it, its file's checksum, and the cleaned file."""

    name: str
    sha256: str
    file: CleanFile

    @property
    def body(self) -> CleanText:
        return self.file.body


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


def read_settings(
    recipe: Path | None = None, *, apparatus: str = "auto", paragraphs: str = "all", guard: bool = True
) -> ReadSettings:
    """How to read book files with the recipe at `recipe`, else with the one that ships."""
    return ReadSettings(load_recipe(recipe), apparatus, paragraphs, guard)


def clean_one(source: str, settings: ReadSettings, read: Read) -> CleanBook:
    """Clean a file, or the text of a Gutenberg id.

    A file's exceptions are found by the id in its name ("pg1342.txt", "1342-0.txt") or in its header.

    Raises:
        SourceError: no such file, or the text cannot be had.
        DataError: no plain text, half a file, or the guard stopped; UsageError: the recipe does not fit.
    """
    path = Path(source)
    if source.isdigit() and not path.exists():
        text, sha256 = read(source)
        name = f"pg{source}"
        return CleanBook(name, sha256, clean_file(text, name, settings))
    data = _bytes(path)
    return CleanBook(path.stem, sha256_bytes(data), clean_file(decode(data, source), source, settings))


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
        "gutenberg_id": book.file.gutenberg_id,
        "sha256": book.sha256,
        "encoding": book.file.source.encoding,
        "file_characters": body.file_length,
        "kept_characters": len(body.text),
        "chapters": len(body.chapters),
        "cut_shares": {kind: round(share, 6) for kind, share in body.shares().items()},
        "notes": list(book.file.notes),
    }


def cuts_of(book: CleanBook) -> list[dict[str, Any]]:
    """Every cut of a book with its place in the file and an excerpt."""
    text = book.file.source.text
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
        "encoding": book.file.source.encoding,
        "file_characters": book.body.file_length,
        "runs": [list(run) for run in book.body.runs],
        "chapters": [list(chapter) for chapter in book.body.chapters],
    }
    write_bytes(path, json.dumps(content, ensure_ascii=False).encode())
    return path
