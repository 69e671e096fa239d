"""The facts of one publication, and the file `publication.json` that says what a repository of ours is."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..books.facts import BookFacts
from ..files import json_page, safe_name
from ..resources import resource
from ..shapes import attributes, check, made_of, read_json
from .citation import Citation
from .rights import Licence, ReuseRights, TextRights

PUBLICATION_FILE = "publication.json"
PUBLICATION_FORMAT = 1
BOOKS_FILE = "books.jsonl"
_MOST_BYTES = 16 << 20

TABLES: dict[str, Any] = json.loads(resource("manifests", "publication.json").read_text(encoding="utf-8"))
"""The context of Croissant, and the columns of a document and of the table of books: name, kind, meaning."""


@dataclass(frozen=True, slots=True)
class FileFacts:
    """Size and checksum of a file."""

    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Publication:
    """Everything that card, citation files and metadata state.

    `page` is the address of the repository, `tag` the name of this version of it, `recipe` how the
    annotation was made, `books` in the order of the data set, `notes` the source of each book's cast and what
    looks implausible in it, `left_out` maps doc_keys to reasons, `yaml` is what `datasets` reads of the card.
    """

    repository: str
    page: str
    tag: str
    date: str
    title: str
    summary: str
    standoff: bool
    digest: str
    made_with: str
    texts: Mapping[str, TextRights]
    annotation: ReuseRights
    citation: Citation
    books: tuple[BookFacts, ...]
    licences: tuple[tuple[str, str], ...]
    recipe: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()
    notes: Mapping[str, tuple[str, Sequence[str]]] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)
    languages: tuple[str, ...] = ("en",)
    yaml: str = ""

    @property
    def name(self) -> str:
        """The name of the repository without its owner."""
        return self.repository.rpartition("/")[2]

    @property
    def licence(self) -> Licence:
        """The licence of the annotation, which `check_publishable` has found to be known."""
        assert self.annotation.licence is not None
        return self.annotation.licence

    @property
    def version(self) -> str:
        """The tag as a version number; 1.0.0 where the tag is not one."""
        number = self.tag.removeprefix("v")
        parts = number.split(".")
        return number if len(parts) == 3 and all(part.isdigit() for part in parts) else "1.0.0"


def render_publication(publication: Publication, files: Iterable[str]) -> str:
    """`publication.json`: title, licences and citation for a rebuild, and which files are ours."""
    value = {
        "format": PUBLICATION_FORMAT, **attributes(publication, "title standoff digest made_with"),
        "licence": publication.licence.id, **attributes(publication, "licences"),
        "citation": publication.citation.bibtex, **attributes(publication, "limits left_out"),
        "files": sorted(files),
    }  # fmt: skip
    return json_page(value)


@dataclass(frozen=True, slots=True)
class Published:
    """What `publication.json` says."""

    title: str
    standoff: bool
    digest: str
    licence: str
    licences: tuple[tuple[str, str], ...]
    citation: str
    limits: tuple[str, ...]
    files: tuple[str, ...]


def read_publication(path: Path) -> Published | None:
    """The publication file in a folder, or at a path; None when there is none."""
    path = path / PUBLICATION_FILE if path.is_dir() else path
    if not path.is_file():
        return None
    value = read_json(path, _MOST_BYTES)
    check(value, "publication", str(path))
    for name in value["files"]:
        for part in name.split("/"):
            safe_name(part.removeprefix("."), "publication.json: file")
    found: Published = made_of(Published, value)
    return found


def render_books(
    books: Iterable[BookFacts], texts: Mapping[str, TextRights], packs: Mapping[str, tuple[str, str, str]]
) -> str:
    """The table of books of a standoff release; `packs` maps doc_keys to (file, sha256, that of the text)."""
    lines = []
    for book in books:
        file, sha256, source_sha256 = packs[book.doc_key]
        row: Sequence[object] = (
            book.doc_key, int(book.gutenberg_key), book.split, book.tokens, book.sentences, book.characters,
            book.mentions, book.windows, book.tokens_sha256, source_sha256,
            texts[book.doc_key].evidence, file, sha256,
        )  # fmt: skip
        names = [name for name, _, _ in TABLES["book_columns"]]
        lines.append(json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=False))
    return "\n".join(lines) + "\n"
