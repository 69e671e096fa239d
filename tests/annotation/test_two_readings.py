"""What the second reading of a book knows from the first: how people talk, and who is whose kin."""

from __future__ import annotations

import numpy as np
import pytest

from bookcoref_data.annotation.cast import parse_cast
from bookcoref_data.annotation.embedded import voices
from bookcoref_data.annotation.embedded.network import load_rankers
from bookcoref_data.annotation.embedded.parsing import parse_book
from bookcoref_data.annotation.embedded.reader import OneReading
from bookcoref_data.annotation.embedded.voices import Voices
from training.parses import link_text

TOM, ANNA = 0, 1
SEA = "“Aye, the ship and the sea and the wind, by thunder.”"
TEA = "“Oh dear, my gown is torn, and the tea is cold, alas.”"
UNDECIDED = "“By thunder, the wind and the sea.”"


@pytest.fixture(scope="module")
def heard(book_of):
    """Voices of forty lines of two people and one line of nobody; the number of that line."""
    book = book_of("\n\n".join([SEA, TEA] * 40 + [UNDECIDED]))
    begins = [i for i, token in enumerate(book.tokens) if token == "“"]
    ends = [i for i, token in enumerate(book.tokens) if token == "”"]
    lines = {q: (TOM, ANNA)[q % 2] for q in range(80)}
    return Voices(book, list(zip(begins, ends, strict=True)), lines)


def test_words_lean_to_the_one_who_talks_so(heard):
    tom, anna, stranger = heard.lean([80], [TOM, ANNA, 7])
    assert tom > 0 > anna
    assert stranger == 0
    assert np.allclose(heard.lean([80], [ANNA, TOM]), [anna, tom])


def test_more_words_say_more_and_no_words_say_nothing(heard):
    assert heard.lean([0, 2, 4], [TOM])[0] > heard.lean([0], [TOM])[0]
    assert heard.lean([0], []).tolist() == []


def test_of_few_words_nothing_is_learned(heard, book_of, monkeypatch):
    book = book_of("\n\n".join([SEA] * 2))
    ends = [i for i, token in enumerate(book.tokens) if token == "”"]
    few = Voices(book, [(0, ends[0]), (ends[0] + 2, ends[1])], {0: TOM})
    assert few.lean([1], [TOM]).tolist() == [0.0]
    monkeypatch.setattr(voices, "_LEAST_WORDS", 1)
    monkeypatch.setattr(voices, "_LEAST_TIMES", 1)
    assert Voices(book, [(0, ends[0]), (ends[0] + 2, ends[1])], {0: TOM}).lean([1], [TOM]).tolist() == [0.0]


def _read_twice(book, cast: str) -> tuple[OneReading, OneReading]:
    text = link_text(book, parse_cast(cast), parse_book(book))
    first = OneReading(text, load_rankers())
    first.read()
    second = OneReading(text, load_rankers(), earlier=first)
    second.read()
    return first, second


AT_HOME = (
    "“You are late, my dear Mr. Hill,” said his lady.\n\n“I am,” said he.\n\n"
    "“It rained, my dear,” replied his wife.\n\n"
)
LATER = (
    "Clara came in. Mr. Hill looked at his wife. “Come here,” said Mr. Hill to his wife, Clara.\n\n"
    "“I will,” said Clara. She sat down beside her husband, and Mr. Hill was glad.\n\n"
)


def test_kin_that_is_known_at_the_end_is_known_from_the_start(book_of):
    first, second = _read_twice(book_of(AT_HOME + LATER * 4), "Mr. Hill\nClara [f]\nMr. Ford")
    assert [s.speaker for s in first.spoken[:3]] != [1, 0, 1]
    assert [s.speaker for s in second.spoken[:3]] == [1, 0, 1]


BROTH = "“Lie still,” said the old lady, and gave him some broth.\n\n"
RAIN = "Tom slept a long time in the great bed, and the rain fell on the roof and on the garden.\n\n" * 9
NAMED = (
    "Mrs. Bedwin, the old lady, brought the tea and sat down by the fire. “Drink,” said the old lady.\n\n"
    "“I will,” said Tom.\n\n"
)


def test_who_is_described_before_she_is_named_is_known_from_the_start(book_of):
    first, second = _read_twice(
        book_of(BROTH + RAIN + NAMED * 4), "Tom Ford; Tom [m]\nMrs. Bedwin\nMary Hill"
    )
    assert first.spoken[0].speaker >= first.state.cast
    assert second.spoken[0].speaker == 1
    # From the apposition on, the first reading knows her as well.
    assert [s.speaker for s in first.spoken[1:]] == [1, 0] * 4


SAT = "Mrs. Bedwin, the old lady, brought the tea and sat down by the fire.\n\n“I will,” said Tom.\n\n"
DRINK = "“Drink,” said the old lady.\n\n"


@pytest.mark.parametrize(("later", "known"), [(SAT, False), (SAT + DRINK, True)], ids=["once", "twice"])
def test_a_phrase_that_meant_somebody_twice_may_mean_her_here(book_of, later, known):
    """Once may be chance: there she is not even a candidate."""
    _, second = _read_twice(book_of(BROTH + RAIN + later), "Tom Ford; Tom [m]\nMrs. Bedwin\nMary Hill")
    assert (second.spoken[0].speaker == 1) is known


def test_a_phrase_of_another_time_is_somebody_else(book_of):
    _, second = _read_twice(
        book_of(BROTH + RAIN * 30 + NAMED * 4), "Tom Ford; Tom [m]\nMrs. Bedwin\nMary Hill"
    )
    assert second.spoken[0].speaker != 1


def test_who_is_called_beside_a_phrase_is_not_meant_by_it(book_of):
    text = "Anna came in. “There goes the old lady, Anna,” said Tom. “It is late.”\n\n" * 2
    _, second = _read_twice(book_of(text), "Tom Ford; Tom [m]\nAnna Hill; Anna [f]")
    ladies = [e for m, e in zip(second.t.markables, second.entity, strict=True) if m.noun == "lady"]
    assert len(ladies) == 2
    assert 1 not in ladies


def test_sure_lines_are_those_with_a_tag(book_of):
    first, _ = _read_twice(book_of(LATER * 2 + "“Well?”\n\n“No.”\n\n"), "Mr. Hill\nClara [f]")
    assert first.sure_lines() == {0: 0, 1: 1, 2: 0, 3: 1}


def test_ties_outside_the_cast_are_not_carried_over(book_of):
    first, _ = _read_twice(book_of(LATER * 2), "Mr. Hill")
    assert any(owner == 0 for owner, _ in first.kin.votes)
    assert not OneReading(first.t, load_rankers(), earlier=first).kin.votes


SAILOR = "“Aye, the ship and the sea and the wind, by thunder,” said Tom.\n\n"
TAILOR = "“Oh dear, my gown is torn, and the tea is cold, alas,” said Ned.\n\n"
COLD = "Oh dear, alas, my gown, my tea is cold, alas! " * 4
WHO = f"Tom sat by the fire. Ned stood at the door with Tom.\n\n“{COLD}” he said.\n\n"


def test_his_words_tell_whom_he_said_means(book_of):
    first, second = _read_twice(book_of((SAILOR + TAILOR) * 25 + WHO), "Tom [m]\nNed [m]")
    said = first.t.tags[-1].subject
    assert first.t.markables[said].text == "he"
    # It would be Tom's turn.
    assert (first.spoken[-1].speaker, second.spoken[-1].speaker) == (0, 1)
    assert (first.entity[said], second.entity[said]) == (0, 1)


FAMILY = "Mr. Hill [m]\nAnna [f]\nClara [f]"
HILL, ANNA_HILL, CLARA = range(3)


@pytest.mark.parametrize(
    ("said", "likelier", "less"),
    [
        # Anna has a father in the book, and he is not the one who says "papa".
        ("“Cook was late, papa.”", ANNA_HILL, CLARA),
        ("“Cook was late, papa.”", CLARA, HILL),
        ("“Cook was late, daddy.”", ANNA_HILL, CLARA),
        # One man and one woman talk: the woman says "sir".
        ("“Cook was late, sir.”", ANNA_HILL, HILL),
        ("“Cook was late, madam.”", HILL, ANNA_HILL),
    ],
)
def test_who_says_papa_is_a_child_and_who_says_sir_no_man_alone(book_of, said, likelier, less):
    book = book_of(f"Mr. Hill came in.\n\n“It is cold,” said Anna.\n\n“Aye,” said Mr. Hill.\n\n{said}\n")
    text = link_text(book, parse_cast(FAMILY), parse_book(book))
    reading = OneReading(text, load_rankers())
    reading.read()
    reading.kin.votes.clear()
    reading.kin.votes[ANNA_HILL, "father"][HILL] = 1.0
    lean = reading.speakers.lean_of_calls([2], [HILL, ANNA_HILL, CLARA])
    assert lean[likelier] > lean[less]
