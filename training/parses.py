"""Parses of books, kept in a folder between runs; their texts, as a reader takes them; and a backend that
keeps its last reading."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from bookcoref_data.annotation.cast import Cast
from bookcoref_data.annotation.embedded.backend import EmbeddedBackend, HowToRead, Reading
from bookcoref_data.annotation.embedded.linking import filter_names, link_names
from bookcoref_data.annotation.embedded.parsing import Parse, as_the_model_sees, load_model, parse_book
from bookcoref_data.annotation.embedded.text import Text, make_text
from bookcoref_data.annotation.state import Marked
from bookcoref_data.annotation.steps import Job
from bookcoref_data.books import Book
from bookcoref_data.books.book import tokens_sha256


class Remembering(EmbeddedBackend):
    """A backend that keeps its last reading for whoever asks what the reader took for tags."""

    last: Reading

    def read(
        self, job: Job, names: list[Marked], fixed: Mapping[tuple[int, int], int], how: HowToRead
    ) -> Reading:
        self.last = super().read(job, names, fixed, how)
        return self.last


def parse_with_cache(book: Book, folder: Path | None) -> Parse:
    """The parse of a book, kept in `folder` (plain arrays, one file a book) for the next time.

    The file's name has the tokens that the model sees and the model, so a parse of another text is never
    taken.
    """
    if folder is None:
        return parse_book(book)
    model = load_model()[1]
    seen = tokens_sha256(as_the_model_sees(book))
    path = folder / f"{seen[:24]}.{model.replace(' ', '-')}.npz"
    if not path.exists():
        made = parse_book(book)
        folder.mkdir(parents=True, exist_ok=True)
        arrays = {name: getattr(made, name) for name in _ARRAYS}
        partial = path.with_suffix(f".{os.getpid()}.npz")
        np.savez_compressed(partial, tag=np.array(made.tag), dep=np.array(made.dep), **arrays)
        partial.replace(path)
        return made
    with np.load(path, allow_pickle=False) as data:
        head, sentence, left, right = (data[name] for name in _ARRAYS)
        return Parse(head, data["tag"].tolist(), data["dep"].tolist(), sentence, left, right, model)


_ARRAYS = ("head", "sentence", "left", "right")


def link_text(book: Book, cast: Cast, parse: Parse, paragraph: np.ndarray | None = None) -> Text:
    """The text of a book whose names, those of the cast alone, are linked and filtered here."""
    linked, _ = link_names(book, cast, parse, "link")
    names, _ = filter_names(book, cast, parse, tuple(linked), "filter")
    return make_text(book, cast, parse, names, paragraph)
