"""What people were called before, and by which phrase."""

from __future__ import annotations

import numpy as np
import pytest

from bookcoref_data.annotation.cast import parse_cast
from bookcoref_data.annotation.embedded.markables import OTHER, Markable
from bookcoref_data.annotation.embedded.network import load_rankers
from bookcoref_data.annotation.embedded.parsing import parse_book
from bookcoref_data.annotation.embedded.phrases import FEATURES, NounPhrases
from bookcoref_data.annotation.embedded.reader import OneReading
from training.parses import link_text

COLUMN = {name: k for k, name in enumerate(FEATURES)}
HALE, BELL, FORD = range(3)


def called(text: str, at: int) -> Markable:
    noun = text.split()[-1]
    return Markable(at, at, at, "nominal", 3, "f", OTHER, noun, definite="the", text=text)


@pytest.fixture
def phrases() -> NounPhrases:
    known = NounPhrases()
    known.note(called("the old lady", 10), HALE)
    known.note(called("the young lady", 20), BELL)
    known.note(called("that old lady", 30), HALE)
    known.note(called("a girl", 35), BELL)
    return known


def test_a_phrase_is_known_whatever_its_determiner(phrases):
    x = phrases.features([HALE, BELL, FORD], called("this old lady", 40))
    assert x[:, COLUMN["noun of"]].tolist() == pytest.approx(np.log1p([2, 1, 0]))
    assert x[:, COLUMN["phrase of"]].tolist() == pytest.approx(np.log1p([2, 0, 0]))


def test_who_was_so_called_last_is_known(phrases):
    x = phrases.features([HALE, BELL, FORD], called("the lady", 40))
    assert x[:, COLUMN["last so called"]].tolist() == [1, 0, 0]
    assert x[:, COLUMN["since so called"]].tolist() == pytest.approx(np.log1p([10, 20, 10_000]))
    phrases.note(called("the lady", 50), BELL)
    x = phrases.features([HALE, BELL], called("the lady", 60))
    assert x[:, COLUMN["last so called"]].tolist() == [0, 1]


def test_a_new_noun_says_nothing(phrases):
    x = phrases.features([HALE, BELL], called("the widow", 40))
    assert not x[:, [COLUMN["noun of"], COLUMN["phrase of"], COLUMN["last so called"]]].any()
    assert phrases.features([], called("the lady", 40)).shape == (0, len(FEATURES))


def test_what_was_learned_of_a_noun_can_be_taken_back(phrases):
    before = phrases.features([HALE, BELL], called("the lady", 60))
    known = phrases.of_noun("lady")
    phrases.note(called("the lady", 50), BELL)
    phrases.take_back("lady", known)
    assert (phrases.features([HALE, BELL], called("the lady", 60)) == before).all()
    assert phrases.nouns_of(BELL) == ["girl", "lady"]
    assert phrases.called("lady") == {HALE: 2, BELL: 1}


@pytest.mark.parametrize(
    ("sentence", "may"),
    [
        ("Anna Hill heard her say so.", False),
        ("Anna Hill heard herself say so.", True),
        ("Anna Hill said that her mother was ill.", True),
        ("Anna Hill lost her hat.", True),
    ],
)
def test_whom_somebody_hears_is_somebody_else(book_of, monkeypatch, sentence, may):
    book = book_of(f"Clara Dale came in. {sentence}\n")
    text = link_text(book, parse_cast("Anna Hill [f]\nClara Dale [f]"), parse_book(book))
    asked = {}

    reader = OneReading(text, load_rankers())
    found = reader.antecedents.candidates

    def listen(i: int, kind: str, q: int) -> list[int]:
        asked[text.markables[i].text] = found(i, kind, q)
        return asked[text.markables[i].text]

    monkeypatch.setattr(reader.antecedents, "candidates", listen)
    reader.read()
    (ids,) = [ids for word, ids in asked.items() if word in ("her", "herself")]
    assert (0 in ids) == may
    assert 1 in ids


def test_somebody_new_speaks_after_a_quote_as_well(book_of):
    """ "Interrupted a student" is no subject before its verb, and nobody who is known."""
    book = book_of("Anna Hill came in.\n\n“I am late,” said Anna Hill.\n\n“So you are,” cried a girl.\n")
    text = link_text(book, parse_cast("Anna Hill"), parse_book(book))
    reader = OneReading(text, load_rankers())
    (girl,) = [k for k, m in enumerate(text.markables) if m.noun == "girl"]
    assert girl in {tag.subject for tag in text.tags}
    text.markables[girl].role = OTHER
    assert not reader.antecedents.may_be_called(0, girl)
    text.markables[girl].definite = "the"
    assert reader.antecedents.may_be_called(0, girl)


PARTY = "Anna Hill came in with Mr. Ford.\n\n{}\n"


@pytest.mark.parametrize(
    ("sentence", "which"),
    [
        ("“It is late,” said the gentleman in the white waistcoat.", "in the white waistcoat"),
        ("“It is late,” said the man with the black beard.", "with the black beard"),
        ("“It is late,” said the man who drove the cab.", "who drove the cab"),
        ("“It is late,” said the girl in a low voice.", ""),
        ("“It is late,” said the girl in the former tone.", ""),
        ("“It is late,” said the girl with great earnestness.", ""),
        ("“It is late,” said the man, who was tired.", ""),
        ("“It is late,” said the old man.", ""),
    ],
)
def test_what_tells_one_person_from_others_is_part_of_the_phrase(book_of, sentence, which):
    book = book_of(PARTY.format(sentence))
    text = link_text(book, parse_cast("Anna Hill [f]\nMr. Ford"), parse_book(book))
    (person,) = [m for m in text.markables if m.kind == "nominal" and m.noun in ("gentleman", "man", "girl")]
    assert person.which == which


def test_who_has_a_name_is_not_told_from_others_by_a_waistcoat(book_of):
    book = book_of(PARTY.format("“It is late,” said the gentleman in the white waistcoat."))
    text = link_text(book, parse_cast("Anna Hill [f]\nMr. Ford"), parse_book(book))
    reader = OneReading(text, load_rankers())
    (k,) = [k for k, m in enumerate(text.markables) if m.which]
    assert not reader.antecedents.may_be_called(1, k)
    reader.phrases.note(text.markables[k], 1)
    assert reader.antecedents.may_be_called(1, k)


def test_two_waistcoats_are_two_gentlemen():
    known = NounPhrases()
    white, black = called("the gentleman", 10), called("the gentleman", 20)
    white.which, black.which = "in the white waistcoat", "in the black coat"
    known.note(white, HALE)
    assert known.called_all(white) == {HALE: 1}
    assert known.called_all(black) == {}
    assert known.features([HALE], black)[0, COLUMN["noun of"]] == pytest.approx(np.log1p(1))
