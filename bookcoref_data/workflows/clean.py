"""Clean books by id or file, with the recipe's exceptions: the verb `clean`."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..errors import SourceError, UsageError
from ..files import read_some, sha256_bytes, write_bytes, writing
from ..resources import load_toml, resource
from ..sources.editions import fill
from ..sources.gutenberg import Texts
from ..sources.store import Store
from ..text.clean import CleanRecipe, CleanText, Witness, settings_from
from ..text.ebook import MOST_BYTES, decode_book
from ..text.read_book import CleanFile, ReadSettings, clean_file

_PIECE = 1 << 20  # characters written at once


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

    A recipe of one's own extends the shipped one: its settings come before those that ship, and its books
    stand beside them (the same book: key by key, pieces added). With `extends = false` at its top it stands
    alone. Raises UsageError: unknown tables or settings.
    """
    shipped = resource("recipes", "clean.toml")
    base = _recipe_from(load_toml(shipped), CleanRecipe(), str(shipped))
    if path is None:
        return base
    table = load_toml(path)
    extends = table.pop("extends", True)
    if not isinstance(extends, bool):
        raise UsageError(f"{path}: extends = {extends!r}", expected="true or false")
    return _recipe_from(table, base if extends else CleanRecipe(), str(path))


def _recipe_from(table: dict[str, Any], base: CleanRecipe, what: str) -> CleanRecipe:
    unknown = sorted(set(table) - {"settings", "books"})
    if unknown:
        told = f"{what}: unknown tables in the cleaning recipe: {', '.join(unknown)}"
        raise UsageError(told, expected="[settings], [books.<id>] and extends = true or false")
    books = dict(base.books)
    for number, own in table.get("books", {}).items():
        books[number] = _joined(books.get(number, {}), own) if isinstance(own, dict) else own
    return CleanRecipe(settings_from(table.get("settings", {}), base.settings), books)


def _joined(shipped: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """One book's table over another: lists of pieces and tables of limits are joined, the rest replaced."""
    joined = dict(shipped)
    for key, value in own.items():
        old: Any = joined.get(key)
        lists, tables = (isinstance(old, kind) and isinstance(value, kind) for kind in (list, dict))
        joined[key] = [*old, *value] if lists else {**old, **value} if tables else value
    return joined


def read_settings(
    recipe: Path | None = None, *, apparatus: str = "auto", paragraphs: str = "all", guard: bool = True,
    emphasis: str = "cut",
) -> ReadSettings:  # fmt: skip
    """How to read book files with the recipe at `recipe`, else with the one that ships."""
    return ReadSettings(load_recipe(recipe), apparatus, paragraphs, guard, emphasis)


def clean_one(
    source: str, settings: ReadSettings, other: Path | None = None, *, mirror: str | None = None,
    offline: bool = False, cache_dir: Path | None = None,
) -> CleanBook:  # fmt: skip
    """Clean a file, or the text of a Gutenberg id; `other` is another edition (HTML, EPUB, Word, plain
    text), which is asked as a witness.

    A file's exceptions are found by the id in its name ("pg1342.txt", "1342-0.txt") or in its header.
    """
    path = Path(source)
    witness = None
    if other:
        found = decode_book(read_some(other, MOST_BYTES), str(other))
        witness = Witness(found.text, found.apart)
    if source.isdigit() and not path.exists():
        found_text = Texts(Store.open(cache_dir), mirror, offline).get(source)
        text, sha256, name = found_text.read(), found_text.sha256, f"pg{source}"
    else:
        name = source
        # (checksum, text) of a file. Its bytes end here: they need not stay in memory while it is cleaned.
        try:
            data = read_some(path, MOST_BYTES)
        except SourceError as error:
            error.hint = "give a file, or the number of a Gutenberg book"
            raise
        sha256, text = sha256_bytes(data), decode_book(data, source)
    file = clean_file(text, name, settings, witness)
    if other:
        file = replace(file, notes=(*file.notes, f"{other} was asked as a witness"))
    return CleanBook(Path(name).stem if path.exists() else name, sha256, file)


def html_beside(mirror: Path, gutenberg_id: str) -> Path | None:
    """The site's HTML edition of a book in a mirror folder, if it is there."""
    html = "cache/epub/{id}/pg{id}-images.html", "cache/epub/{id}/pg{id}.html", "{numbered}/{id}-h/{id}-h.htm"
    paths = (mirror / fill(template, gutenberg_id) for template in html)
    return next((path for path in paths if path.is_file()), None)


def write_clean(book: CleanBook, out: Path) -> Path:
    """Write the clean text; `out` is a file when it has a suffix, else a folder."""
    path = out if out.suffix else out / f"{book.name}.txt"
    with writing(path, "w") as stream:  # in pieces: encoding a large book at once would double its memory
        for at in range(0, len(book.body.text), _PIECE):
            stream.write(book.body.text[at : at + _PIECE])
        stream.write("\n")
    return path


def write_map(book: CleanBook, out: Path) -> Path:
    """Write the map back to the file: [clean offset, file offset, length] per run, and the chapters.

    Offsets are characters of the decoded file with "\\n" line ends.
    """
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
