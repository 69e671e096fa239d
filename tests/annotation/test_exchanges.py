"""What an exchange of two people without tags gives away: who is called, and who was asked."""

from __future__ import annotations

import numpy as np
import pytest

from bookcoref_data.annotation.cast import parse_cast
from bookcoref_data.annotation.embedded.discourse import INDEX
from bookcoref_data.annotation.embedded.parsing import parse_book
from bookcoref_data.annotation.embedded.reader import OneReading
from training.parses import link_text

CAST = "Tom Hill [m]\nAnna Ford [f]\nClara Ford [f]"
TOM, ANNA, CLARA = range(3)


class Shown(OneReading):
    """A reading by rule of thumb (whoever was mentioned last) that keeps what the rankers would be shown."""

    def __init__(self, text) -> None:
        self.shown: list[tuple[str, object, list[int], np.ndarray]] = []
        super().__init__(text, {})
        self.kin.votes[ANNA, "mother"][CLARA] = 1.0

    def _decide(self, kind, ids, x, key, name="", somebody=False, lean=None, pointed=None):
        self.shown.append((kind, key, list(ids), x.copy()))
        return 0, np.ones(len(ids) + 1)

    def of(self, kind: str, n: int, feature: str) -> dict[int, float]:
        """What the `n`th question of a kind was shown of a feature, by candidate."""
        _, _, ids, x = [asked for asked in self.shown if asked[0] == kind][n]
        return {e: round(float(x[row, INDEX[feature]]), 2) for row, e in enumerate(ids)}


@pytest.fixture
def shown(book_of):
    def read(words: str) -> Shown:
        book = book_of(words)
        reading = Shown(link_text(book, parse_cast(CAST), parse_book(book)))
        reading.read()
        return reading

    return read


BEGIN = "Tom Hill met Anna Ford and Clara Ford in the garden of the old house.\n\n"


def test_who_is_called_in_the_next_turns_speaks_at_odd_distances(shown):
    reading = shown(BEGIN + "“Well?”\n\n“It rained.”\n\n“So it did.”\n\n“It always does, Anna.”\n\n“Aye.”")
    odd, even = "called odd turns away", "called even turns away"
    assert [reading.of("speaker", n, odd)[ANNA] for n in range(5)] == [0.25, 0, 0.5, 0, 0.5]
    assert [reading.of("speaker", n, even)[ANNA] for n in range(5)] == [0, 0.33, 0, 1, 0]
    assert reading.of("speaker", 0, odd)[CLARA] == 0


def test_an_exchange_ends_where_narration_stands_between(shown):
    reading = shown(BEGIN + "“Well?”\n\n“It rained.”\n\nThe wind blew over the hills.\n\n“Aye, Anna.”")
    assert reading.of("speaker", 1, "called odd turns away")[ANNA] == 0
    assert set(reading.of("speaker", 1, "exchange before").values()) == {1}
    assert set(reading.of("speaker", 2, "exchange before").values()) == {0}


def test_sir_is_said_to_a_man_and_a_question_is_asked(shown):
    reading = shown(BEGIN + "“Is it late, sir?”\n\n“It is.”")
    fits = reading.of("speaker", 1, "odd call fits")
    assert fits[TOM] > 0 > fits[ANNA]
    assert set(reading.of("speaker", 1, "asked").values()) == {1}
    assert set(reading.of("speaker", 0, "asked").values()) == {0}


def test_who_says_mother_is_her_child(shown):
    reading = shown(BEGIN + "“Good night, mother.”\n\n“I will.”")
    called = reading.of("speaker", 1, "called as kin")
    assert (called[CLARA], called[TOM]) == (0.5, 0)


@pytest.mark.parametrize(
    ("said", "flag", "who"),
    [("continued", "tag goes on and last speaker", ANNA), ("replied", "tag replies and last speaker", ANNA)],
)
def test_he_continued_is_not_he_replied(shown, said, flag, who):
    reading = shown(BEGIN + f"“It rained,” said Anna Ford.\n\nThe wind blew.\n\n“So it did,” she {said}.")
    assert [e for e, seen in reading.of("third", 0, flag).items() if seen] == [who]


@pytest.mark.parametrize("tag", ["she said", "said the girl"])
@pytest.mark.parametrize(("sure", "speaker"), [(0.6, CLARA), (0.9, ANNA)])
def test_whom_she_means_where_she_said_so_speaks(book_of, tag, sure, speaker):
    """One ranker says Anna, and how surely, that of speakers says Clara with 0.8: both count, and a page that
    names two people for one "she" is wrong."""

    class Torn(OneReading):
        def _decide(self, kind, ids, x, key, name="", somebody=False, lean=None, pointed=None):
            wanted, share = (CLARA, 0.8) if kind == "speaker" else (ANNA, sure)
            p = np.array(
                [(share if e == wanted else 1 - share if e in (ANNA, CLARA) else 0) for e in (*ids, -1)]
            )
            return int(p.argmax()), p

    book = book_of(f"{BEGIN}“It rained,” {tag}.")
    reading = Torn(link_text(book, parse_cast(CAST), parse_book(book)), {})
    decisions = reading.read()
    assert [s.speaker for s in reading.spoken] == [speaker]
    said = reading.t.tags[0].subject
    assert [d.character for d in decisions if d.index == said] == [speaker]
    assert reading.entity[said] == speaker
