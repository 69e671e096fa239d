"""The network of characters, edge by edge."""

from __future__ import annotations

import pytest

from bookcoref_data.books import Book
from bookcoref_data.books.annotation import Annotation, Marked, Quote
from bookcoref_data.exports.network import network
from bookcoref_data.exports.reading import LaidOutBook

pytest.importorskip("networkx")


def laid_out(mentions, quotes=(), tokens=None):
    words = tokens or [f"w{i}" for i in range(200)]
    marked = tuple(sorted(Marked(at, end, who) for at, end, who in mentions))
    return LaidOutBook(Annotation(Book.make("d", [words]), ("Anna", "Tom", "Eve"), marked, tuple(quotes)))


@pytest.mark.parametrize(
    ("mentions", "near"),
    [
        ([(0, 0, 0), (30, 30, 1)], {(0, 1): 1}),
        ([(0, 0, 0), (31, 31, 1)], {(0, 1): 0}),
        ([(0, 2, 0), (32, 32, 1)], {(0, 1): 1}),
        ([(0, 0, 0), (5, 5, 0), (9, 9, 1)], {(0, 1): 1}),
        ([(0, 0, 0), (5, 5, 1), (9, 9, 0)], {(0, 1): 2}),
        ([(0, 0, 0), (5, 5, 1), (9, 9, 2)], {(0, 1): 1, (0, 2): 1, (1, 2): 1}),
        ([(0, 0, 0), (5, 5, 1), (6, 6, 1), (9, 9, 2)], {(0, 1): 1, (0, 2): 1, (1, 2): 1}),
    ],
)
def test_who_is_mentioned_near_whom(mentions, near):
    graph = network(laid_out(mentions))
    assert {(int(a[1:]), int(b[1:])): edge["near"] for a, b, edge in graph.edges(data=True)} == near
    assert all(edge["weight"] == edge["near"] + edge["spoken"] for *_, edge in graph.edges(data=True))


def test_who_speaks_to_whom_and_how_much():
    tokens = ["“", "I", "ran", "!", "”", *[f"w{i}" for i in range(195)]]
    quotes = [
        Quote(0, 4, 0, (1, 0), "r", 1.0),
        Quote(5, 6, 1, (0,), "r", 1.0),
        Quote(8, 9, -1, (0,), "r", 1.0),
        Quote(11, 12, 1, (-1,), "r", 1.0),
        Quote(14, 15, 0, (1, 1, -1), "r", 1.0),
    ]
    graph = network(laid_out([(1, 1, 0), (60, 60, 1)], quotes, tokens))
    assert dict(graph.nodes(data=True)) == {
        "c0": {"label": "Anna", "mentions": 1, "words_spoken": 4},
        "c1": {"label": "Tom", "mentions": 1, "words_spoken": 4},
    }, "nobody stands for those who are not known"
    assert graph.edges["c0", "c1"] == {"near": 0, "spoken": 3, "chapters": 1, "weight": 3}
    assert graph.graph == {"doc_key": "d"}


def test_places_of_a_laid_out_book():
    book = laid_out([(1, 1, 0)], [Quote(2, 4, 0, (1, -1), "r", 1.0)])
    assert (book.name(-1), book.name(1), book.addressees(book.annotation.quotes[0])) == (
        "",
        "Tom",
        ["Tom", ""],
    )
    assert book.quote_of == {2: 0, 3: 0, 4: 0}
    assert book.words(2, 4) == "w2 w3 w4"
    assert book.characters(0, 1) == (0, 5)
    assert (book.chapter_of(0), book.paragraph_of(199)) == (0, len(book.paragraphs) - 1)
    assert book.word_count(0, 4) == 5
