"""The word lists agree with each other."""

from __future__ import annotations

import pytest

from bookcoref_data.words import calendar, honorifics, kin, pronouns
from bookcoref_data.words.honorifics import honorific_gender


def test_every_honorific_stands_in_one_row():
    forms = [word for row in honorifics._ROWS for word in row[0].split()]
    assert sorted(set(forms)) == sorted(forms)
    assert set(forms) == honorifics.HONORIFICS


@pytest.mark.parametrize(
    ("word", "gender"),
    [("mr", "m"), ("mrs", "f"), ("colonel", ""), ("aunt", "f"), ("père", "m"), ("anna", "")],
)
def test_the_gender_of_an_honorific(word, gender):
    assert honorific_gender(word) == gender


def test_married_and_unmarried_women_have_different_titles():
    assert not honorifics.MARRIED & honorifics.UNMARRIED
    assert (
        honorifics.MARRIED | honorifics.UNMARRIED <= honorifics.FEMALE_HONORIFICS & honorifics.BEFORE_SURNAMES
    )
    assert "dr" in honorifics.OFFICES & honorifics.BEFORE_SURNAMES
    assert not honorifics.OFFICES & (honorifics.MALE_HONORIFICS | honorifics.FEMALE_HONORIFICS)


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("In May she left", True),
        ("If you may go", False),
        ("on May 3", True),
        ("the 3rd May was", True),
        ("since last May she", True),
        ("from April to May", True),
        ("by the end of May", True),
        ("the meaning of May", False),
        ("he spoke to May", False),
        ("from May ’s room", False),
        ("the March hare", True),
        ("in Anna 3", False),
    ],
)
def test_a_month_is_a_date_where_it_stands_in_one(text, date):
    tokens = text.split()
    at = next(i for i, word in enumerate(tokens) if word.lower() in ("may", "march", "anna"))
    assert calendar.is_date(tokens, at) is date


def test_the_lists_of_pronouns_do_not_overlap():
    parts = [pronouns.FIRST, pronouns.FIRST_PLURAL, pronouns.SECOND, pronouns.MALE, pronouns.FEMALE,
             pronouns.NEUTER, pronouns.PLURAL, pronouns.RELATIVE, pronouns.DEMONSTRATIVE]  # fmt: skip
    assert sum(map(len, parts)) == len(frozenset().union(*parts))
    assert pronouns.POSSESSIVE | pronouns.REFLEXIVE <= pronouns.PERSONAL


def test_kin_and_calendar_are_in_lower_case():
    for words in (kin.KIN, kin.MOTHERS, kin.FATHERS, calendar.CALENDAR, honorifics.HONORIFICS):
        assert all(word == word.lower() and not word.endswith(".") for word in words)


@pytest.mark.parametrize(
    ("word", "male", "back"),
    [
        ("sister", True, "brother"),
        ("sister", False, "sister"),
        ("mamma", False, "daughter"),
        ("wife", True, "husband"),
        ("aunt", True, "nephew"),
        ("granny", True, "grandson"),
        ("grandson", False, "grandmother"),
        ("friend", True, ""),
    ],
)
def test_kin_is_mutual(word, male, back):
    assert kin.converse(word, male) == back
