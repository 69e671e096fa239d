"""Facts about Gutenberg's texts (`manifests/editions.json`): where they lie and which editions are known.

An edition is one wording of a book, known by the sha256 of its decoded text (UTF-8, "\\n" line ends, no
byte order mark). The same edition may lie in several files: with a mark, in latin-1, under other paths.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import DataError, FormatError
from ..files import safe_name
from ..resources import resource
from .http import check_address

# Up to nine digits: the embedded sample has an id far above those of Gutenberg.
_ID = re.compile(r"[1-9][0-9]{0,8}\Z")
_SHA256 = re.compile(r"[0-9a-f]{64}\Z")


class EditionFile(NamedTuple):
    """One file of an edition: path in Gutenberg's layout, sha256 and length of its bytes, encoding."""

    path: str
    sha256: str
    bytes: int
    encoding: str


@dataclass(frozen=True, slots=True)
class Edition:
    """One wording of a book; `note` says which, in the dates of its own header."""

    gutenberg_id: str
    text_sha256: str
    note: str
    files: tuple[EditionFile, ...]


@dataclass(frozen=True, slots=True)
class KnownEditions:
    """A book of Gutenberg with its known editions."""

    gutenberg_id: str
    title: str
    editions: tuple[Edition, ...]


class Address(NamedTuple):
    """Where a text can be fetched; addresses that `serve` the same are copies of one file.

    `right_on` is the day (ISO) on which the address was last known to be right, "" for one's own.
    """

    url: str
    serves: str
    right_on: str = ""


@dataclass(frozen=True)
class Editions:
    """The manifest: address templates once for all books, paths of a mirror, facts per book."""

    addresses: tuple[Address, ...]
    layout: tuple[str, ...]
    books: Mapping[str, KnownEditions]

    def addresses_of(self, gutenberg_id: str | int) -> list[Address]:
        """All addresses of a book, in the order in which they should be tried."""
        return [a._replace(url=fill(a.url, gutenberg_id)) for a in self.addresses]

    def paths_of(self, gutenberg_id: str | int) -> list[str]:
        """The paths a text may have below the root of a mirror, best first."""
        return [fill(template, gutenberg_id) for template in self.layout]

    def title_of(self, gutenberg_id: str) -> str | None:
        """The title, for the books of the manifest."""
        book = self.books.get(gutenberg_id)
        return book.title if book else None

    def known(self, gutenberg_id: str, sha256: str) -> Edition | None:
        """The edition that a sha256 stands for: of a file's bytes or of a decoded text."""
        book = self.books.get(gutenberg_id)
        for edition in book.editions if book else ():
            if sha256 == edition.text_sha256 or any(sha256 == f.sha256 for f in edition.files):
                return edition
        return None


def check_id(gutenberg_id: str | int) -> str:
    """A Gutenberg id as text: digits only, so that it is safe in paths and addresses.

    Raises:
        DataError: anything else, and 0, which marks a book that is not on Gutenberg.
    """
    text = str(gutenberg_id)
    if not _ID.match(text):
        raise DataError(
            f"{text!r} is not the id of a Gutenberg book",
            expected="a whole number from 1, without leading zeros",
            hint="0 marks a book that is not on Project Gutenberg" if text == "0" else None,
        )
    return text


def numbered_folder(gutenberg_id: str | int) -> str:
    """The folder of an id in Gutenberg's numbered layout: 1342 -> 1/3/4/1342, 24 -> 2/24, 7 -> 0/7."""
    text = check_id(gutenberg_id)
    return "/".join([*(text[:-1] or "0"), text])


def fill(template: str, gutenberg_id: str | int) -> str:
    """Put an id into a template: `{id}`, and `{numbered}` for its folder in the numbered layout."""
    text = check_id(gutenberg_id)
    return template.replace("{id}", text).replace("{numbered}", numbered_folder(text))


@cache
def editions() -> Editions:
    """The manifest that ships with the package."""
    return load_editions(resource("manifests", "editions.json"))


def load_editions(path: Path) -> Editions:
    """Read and check a manifest of editions; all faults are reported at once.

    Raises:
        FormatError: not JSON, not this format, an id or path that is not safe, an address that is not
            http(s), a sum that is not a sha256.
    """
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise FormatError(f"{path}: cannot be read", found=str(error)) from error
    if not isinstance(value, dict) or value.get("format") != 1:
        found = value.get("format") if isinstance(value, dict) else type(value).__name__
        raise FormatError(f"{path}: not a manifest of editions", expected='"format": 1', found=found)
    try:
        faults = list(_faults(value))
        if not faults:
            return Editions(
                tuple(Address(a["url"], a["serves"], a["right_on"]) for a in value["addresses"]),
                tuple(value["layout"]),
                {book_id: _book(book_id, book) for book_id, book in value["books"].items()},
            )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        faults = [f"a field is missing or of another type: {error!r}"]
    raise FormatError(f"{path}: {len(faults)} faults", found="; ".join(faults[:10]))


def _book(book_id: str, book: Mapping[str, Any]) -> KnownEditions:
    found = tuple(
        Edition(
            book_id,
            edition["text_sha256"],
            edition["note"],
            tuple(EditionFile(f["path"], f["sha256"], f["bytes"], f["encoding"]) for f in edition["files"]),
        )
        for edition in book["editions"]
    )
    return KnownEditions(book_id, book["title"], found)


def _faults(value: Mapping[str, Any]) -> Iterator[str]:
    """Everything in a manifest that must not be used, in words."""
    for address in value["addresses"]:
        yield from _refusal(check_address, address["url"])
        if "{id}" not in address["url"]:
            yield f"the address {address['url']!r} has no {{id}}"
        if not re.fullmatch(r"\d{4}-\d\d-\d\d", address["right_on"]):
            yield f"the address {address['url']!r} has no day on which it was right"
    for template in value["layout"]:
        yield from _path_faults(template.replace("{numbered}", "{id}").replace("{id}", "1"))
    for book_id, book in value["books"].items():
        yield from _refusal(check_id, book_id)
        for edition in book["editions"]:
            sums = [edition["text_sha256"], *(f["sha256"] for f in edition["files"])]
            yield from (f"book {book_id}: {s!r} is not a sha256" for s in sums if not _SHA256.match(s))
            for file in edition["files"]:
                yield from _path_faults(file["path"])
                if type(file["bytes"]) is not int or file["bytes"] <= 0:
                    yield f"book {book_id}: {file['bytes']!r} is not a length in bytes"


def _path_faults(path: str) -> Iterator[str]:
    for name in path.split("/"):
        yield from _refusal(lambda part: safe_name(part, f"in the path {path!r} the name"), name)


def _refusal(check: Callable[[str], object], value: str) -> Iterator[str]:
    from ..errors import BookcorefError

    try:
        check(value)
    except BookcorefError as error:
        yield error.what
