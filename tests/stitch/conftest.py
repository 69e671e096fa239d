"""The sample story and, where they are, the real books, with ways to make other editions of them."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass

import pytest

from bookcoref_data.books import Book
from bookcoref_data.sample_story.story import gutenberg_text
from bookcoref_data.text.decode import decode
from tests.sample_story.making import sample_book

REAL = {"1342": "pride_and_prejudice_1342", "2500": "siddhartha_2500"}


@dataclass(frozen=True)
class Case:
    """A released book and the Gutenberg text it belongs to."""

    text: str
    book: Book


@pytest.fixture(scope="session")
def story() -> Case:
    """The embedded sample."""
    return Case(gutenberg_text(), sample_book())


@pytest.fixture(scope="session", params=[pytest.param("1342", marks=pytest.mark.long), "2500"])
def real(request, shared_data) -> Case:
    """Pride and Prejudice (long), Siddhartha: released tokens, predicted clusters, the 2018 text."""
    return _real(shared_data, request.param)


@pytest.fixture(scope="session")
def siddhartha(shared_data) -> Case:
    return _real(shared_data, "2500")


def _real(data, number: str) -> Case:
    key = REAL[number]
    tokens = _line(data / "systems/finetuned/maverick_xl.jsonl", key)["sentences"]
    row = _line(data / "release/bookcoref_annotations/full/test.jsonl", key)
    book = Book.make(
        key, tokens, gutenberg_key=number, clusters=row["clusters"],
        characters=[(c["name"], c["mentions"]) for c in row["characters"]],
    )  # fmt: skip
    text = decode((data / f"gutenberg/cache/epub/{number}/pg{number}.txt").read_bytes()).text
    return Case(text, book)


def _line(path, key: str) -> dict:
    with open(path, encoding="utf-8") as stream:
        return next(row for row in map(json.loads, stream) if row["doc_key"] == key)


Numbered = list[list[tuple[str, int]]]


class Editor:
    """Makes another edition of a book, knowing for every new token which old one it is (-1: none)."""

    def __init__(self, sentences: list[list[str]], seed: int) -> None:
        self.random = random.Random(seed)
        self.words = [t for s in sentences for t in s if t.isalpha()]
        self.sentences: Numbered = []
        at = 0
        for sentence in sentences:
            self.sentences.append([(t, at + i) for i, t in enumerate(sentence)])
            at += len(sentence)

    def replace_words(self, share: float) -> Editor:
        """Replace a share of the tokens by other words of the same book."""
        swap = self.random.random
        self.sentences = [
            [(self.random.choice(self.words), -1) if swap() < share else pair for pair in sentence]
            for sentence in self.sentences
        ]
        return self

    def drop_words(self, share: float) -> Editor:
        kept = ([p for p in s if self.random.random() >= share] for s in self.sentences)
        self.sentences = [s for s in kept if s]
        return self

    def insert_words(self, share: float) -> Editor:
        out = []
        for sentence in self.sentences:
            out.append([])
            for pair in sentence:
                out[-1].append(pair)
                if self.random.random() < share:
                    out[-1].append((self.random.choice(self.words), -1))
        self.sentences = out
        return self

    def drop_sentences(self, share: float) -> Editor:
        self.sentences = [s for s in self.sentences if self.random.random() >= share]
        return self

    def repeat_sentences(self, share: float) -> Editor:
        """Insert copies of sentences from elsewhere: the hardest foreign text there is."""
        out = []
        for sentence in self.sentences:
            out.append(sentence)
            if self.random.random() < share:
                out.append([(t, -1) for t, _ in self.random.choice(self.sentences)])
        self.sentences = out
        return self

    def move_passage(self, size: int) -> Editor:
        """Take `size` sentences out and put them in somewhere else."""
        at = self.random.randrange(max(len(self.sentences) - size, 1))
        passage = self.sentences[at : at + size]
        del self.sentences[at : at + size]
        to = self.random.randrange(len(self.sentences))
        self.sentences[to:to] = passage
        return self

    @property
    def tokens(self) -> list[list[str]]:
        return [[t for t, _ in s] for s in self.sentences]

    @property
    def origin(self) -> list[int]:
        return [i for s in self.sentences for _, i in s]


@pytest.fixture(scope="session")
def editor():
    """`editor(book, seed)` makes an `Editor`."""
    return lambda book, seed=0: Editor(book.sentences, seed)
