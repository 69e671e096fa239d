"""Facts about Gutenberg's texts (`manifests/editions.json`): where they lie and which editions are known.

An edition is one wording of a book, known by the sha256 of its decoded text (UTF-8, "\\n" line ends, no
byte order mark). The same edition may lie in several files: with a mark, in latin-1, under other paths.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from ..errors import DataError
from ..resources import resource
from ..shapes import check, made_of, read_json

_MOST_BYTES = 16 << 20
# Up to nine digits: the embedded sample has an id far above those of Gutenberg.
_ID = re.compile(r"[1-9][0-9]{0,8}\Z")


@dataclass(frozen=True, slots=True)
class EditionFile:
    """One file of an edition: path in Gutenberg's layout, sha256 and length of its bytes, encoding."""

    path: str
    sha256: str
    bytes: int
    encoding: str


@dataclass(frozen=True, slots=True)
class Edition:
    """One wording of a book; `note` says which, in the dates of its own header."""

    text_sha256: str
    note: str
    files: tuple[EditionFile, ...]


@dataclass(frozen=True, slots=True)
class KnownEditions:
    """A book of Gutenberg with its known editions."""

    title: str
    editions: tuple[Edition, ...]


@dataclass(frozen=True, slots=True)
class Address:
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
        return [replace(a, url=fill(a.url, gutenberg_id)) for a in self.addresses]

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
    """A Gutenberg id as text: digits only, so that it is safe in paths and addresses. Raises DataError:
    anything else, and 0, which marks a book that is not on Gutenberg."""
    text = str(gutenberg_id)
    if not _ID.match(text):
        expected = "a whole number from 1, without leading zeros"
        hint = "0 marks a book that is not on Project Gutenberg" if text == "0" else None
        raise DataError(f"{text!r} is not the id of a Gutenberg book", expected=expected, hint=hint)
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
    """Read and check a manifest of editions.

    Raises SourceError: it cannot be read. DataError: the id of a book that is none. FormatError: not JSON,
    not this format, a path that is not safe, an address that is not http(s), a sum that is not a sha256.
    """
    value = read_json(path, _MOST_BYTES)
    check(value, "editions", str(path))
    for number in value["books"]:
        check_id(number)
    found: Editions = made_of(Editions, value)
    return found
