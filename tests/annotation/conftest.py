"""Small stories and helpers for the annotation tests."""

from __future__ import annotations

import pytest

from bookcoref_data.annotation.cast import make_cast, parse_cast
from bookcoref_data.annotation.plan import default_plan
from bookcoref_data.books import Book
from bookcoref_data.text.tokens import tokenize_body
from bookcoref_data.workflows.annotate import Source, annotate_book


@pytest.fixture(scope="session")
def book_of():
    """Text (paragraphs by blank lines) -> Book."""

    def make(text: str, doc_key: str = "story_0") -> Book:
        return Book.make(doc_key, tokenize_body(text).sentences, gutenberg_key="0")

    return make


@pytest.fixture(scope="session")
def annotate(book_of):
    """Text and cast (names or the text of a cast file) -> Annotated, by the embedded backend."""

    def run(text: str, cast, **options):
        people = parse_cast(cast) if isinstance(cast, str) else make_cast(cast)
        return annotate_book(Source(book_of(text)), people, default_plan("embedded"), **options)

    return run


@pytest.fixture(scope="session")
def said():
    """Annotated -> {character: [texts of its mentions]}."""

    def texts(done) -> dict[str, list[str]]:
        return {c.name: [done.book.text_of(m) for m in c.mentions] for c in done.book.characters}

    return texts


@pytest.fixture(scope="session")
def quotes_of():
    """Annotated -> [(first words of the quote, speaker, addressees)] by name."""

    def quotes(done) -> list[tuple[str, str | None, tuple[str, ...]]]:
        names = done.state.names
        return [
            (
                " ".join(done.book.tokens[q.start + 1 : q.start + 4]),
                names[q.speaker] if q.speaker >= 0 else None,
                tuple(names[e] for e in q.addressees),
            )
            for q in done.state.quotes
        ]

    return quotes
