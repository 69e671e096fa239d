"""Where the book names its people, and what that says of "he" in a quote."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from bookcoref_data.annotation.cast import parse_cast
from bookcoref_data.annotation.embedded.markables import OTHER, Markable
from bookcoref_data.annotation.embedded.namings import FEATURES, Namings
from bookcoref_data.annotation.embedded.parsing import parse_book
from training.parses import link_text

FORD, HILL = 0, 1
COLUMN = {name: k for k, name in enumerate(FEATURES)}


def name(at: int, who: int) -> Markable:
    return Markable(at, at, at, "name", 3, "", OTHER, character=who, text="ford" if who == FORD else "hill")


def drawn(seed: int, size: int = 20_000) -> tuple[list[Markable], np.ndarray]:
    """Names at random places, and which tokens lie in a quote."""
    rng = np.random.default_rng(seed)
    places = np.sort(rng.choice(size, 400, replace=False))
    return [name(int(at), int(rng.integers(2))) for at in places], (np.arange(size) // 50) % 2 - 1


def namings_of(markables: list[Markable], quote: np.ndarray) -> Namings:
    return Namings(SimpleNamespace(quote=quote), markables, called=())


def counted(markables: list[Markable], quote: np.ndarray, at: int) -> np.ndarray:
    """The features, counted the slow way."""
    rows = []
    for who in (FORD, HILL):
        talked = [m.at for m in markables if m.character == who and quote[m.at] >= 0]
        narrated = [m.at for m in markables if m.character == who and quote[m.at] < 0]
        rows.append(
            [
                len(talked),
                np.log1p(sum(at - 8000 <= p < at + 8000 for p in talked)),
                np.log1p(sum(at - 500 <= p < at + 500 for p in talked)),
                sum(at - 500 <= p < at for p in talked),
                np.log1p(sum(at + 1 <= p < at + 2000 for p in talked)),
                sum(at + 1 <= p < at + 500 for p in narrated),
            ]
        )
    x = np.array(rows, dtype=float)
    for column in (0, 3, 5):
        x[:, column] /= x[:, column].sum() + 1
    return x


@pytest.mark.parametrize("seed", range(3))
def test_names_are_counted_around_a_place(seed):
    markables, quote = drawn(seed)
    namings = namings_of(markables, quote)
    for at in (0, 499, 7_777, 12_000, len(quote) - 1):
        found = namings.features([FORD, HILL], at)
        np.testing.assert_allclose(found, counted(markables, quote, at), rtol=1e-6)
        after = [m.at for m in markables if m.character == FORD and m.at > at]
        assert namings.next_after(FORD, at) == min(after, default=-1)


def test_a_hidden_name_counts_nowhere_until_it_is_shown():
    markables, quote = drawn(5)
    namings = namings_of(markables, quote)
    before = namings.features([FORD, HILL], 7_000)
    for k in (100, 150, 151):
        namings.hide(markables[k])
    left = [m for k, m in enumerate(markables) if k not in (100, 150, 151)]
    np.testing.assert_allclose(namings.features([FORD, HILL], 7_000), counted(left, quote, 7_000), rtol=1e-6)
    for k in (151, 100, 150):
        namings.show(markables[k])
    assert (namings.features([FORD, HILL], 7_000) == before).all()


def test_somebody_who_is_never_named_has_no_features_but_the_others_have():
    markables, quote = drawn(2)
    found = namings_of(markables, quote).features([FORD, "nobody"], 7_000)
    assert not found[1].any()
    assert found[0].all()


def test_a_name_that_calls_somebody_does_not_talk_of_him(book_of):
    book = book_of("“Mr. Ford, I saw Anna Hill,” said Clara Dale. “Anna Hill is ill, Mr. Ford.”\n")
    cast = parse_cast("Mr. Ford\nAnna Hill\nClara Dale")
    text = link_text(book, cast, parse_book(book))
    found = Namings(text.speech, text.markables, text.called).features([0, 1, 2], 0)
    assert found[:, COLUMN["share talked of"]].tolist() == pytest.approx([0, 2 / 3, 0])
    assert found[:, COLUMN["share narrated ahead"]].tolist() == pytest.approx([0, 0, 1 / 2])
    called = {text.markables[k].character for k in text.called}
    assert called == {0}
