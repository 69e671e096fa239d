"""What is done with the texts of guides: models say who is masked, and references for annotated books."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..books import Book
from ..files import write_bytes
from ..progress import Progress
from ..shapes import attributes
from ..tasks.folder import jsonl_bytes
from ..tasks.guides.identification import option_in, requests_of
from ..tasks.runner.requests import Model
from ..tasks.runner.run import Prices, RunReport, ask
from ..words.folding import fold
from ..words.honorifics import HONORIFICS


def identify_with(
    rows: Sequence[Mapping[str, Any]], model: Model, out: Path, *, prices: Prices | None = None,
    progress: Progress | None = None,
) -> tuple[list[dict[str, str]], RunReport]:  # fmt: skip
    """Ask a model who is masked; writes rows {id, answer} to `out`, replies are kept in `out`.replies.jsonl.

    Of a reply that says more than a name, the option that it names first is the answer.
    """
    cache = out.with_name(f"{out.name}.replies.jsonl")
    replies, report = ask(requests_of(rows), model, cache, prices=prices, progress=progress)
    answers = [
        {"id": str(row["id"]), "answer": option_in(replies[str(row["id"])].text, row["options"])}
        for row in rows
    ]
    write_bytes(out, jsonl_bytes(answers))
    return answers, report


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
    annotation is of this one. A character is found by name or alias (capitals, accents, punctuation aside),
    else by the one name that shares all its words, titles aside, with the guide's.
    """
    found: list[dict[str, str]] = []
    unknown: list[str] = []
    without_book = 0
    by_key = {
        key: book for book in books for key in (book.doc_key, book.gutenberg_key) if key not in ("", "0")
    }
    for row in rows:
        book = by_key.get(str(row["doc_key"])) or by_key.get(str(row["gutenberg_key"]))
        if book is None:
            without_book += 1
            continue
        name = _named_in(book, [str(row["character"]), *map(str, row.get("aliases") or ())])
        if name:
            found.append({"doc_key": book.doc_key, "character": name, "text": str(row["text"])})
        else:
            unknown.append(f"{book.doc_key}: {row['character']}")
    return References(found, without_book, unknown)


def _named_in(book: Book, names: Sequence[str]) -> str:
    """The character of the book that goes by one of these names; "" for none, or for several."""
    folded = {fold(character.name): character.name for character in book.characters}
    for name in names:
        if fold(name) in folded:
            return folded[fold(name)]
    words = {name: _family(name) for name in folded.values()}
    for wanted in map(_family, names):
        alike = [name for name, own in words.items() if own and wanted and (own <= wanted or wanted <= own)]
        if len(alike) == 1:
            return alike[0]
    return ""


def _family(name: str) -> set[str]:
    return {word for word in fold(name).split() if word not in HONORIFICS} - {"the", "a", "an"}
