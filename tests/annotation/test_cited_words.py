"""Words that somebody cites inside a quote, roles that names tell, God, and kin beside a name."""

from __future__ import annotations

import pytest

from bookcoref_data.annotation.cast import Entry
from bookcoref_data.annotation.embedded.antecedents import roles_of
from bookcoref_data.annotation.embedded.names import take_apart

CAST = "Tom Hill; Elder Hill [m]\nAnna Ford [f]\nClara Ford [f]\nPeter Low; Chief Low [m]"
MET = "Tom Hill met Anna Ford in the garden of the old house.\n\n"
CITED = "Clara Ford came, and she said, {}I am tired, and I go home.{} I could not help it."


@pytest.mark.parametrize(("outer", "inner"), [("“”", "‘’"), ("‘’", "“”"), ('""', "''")])
def test_i_in_cited_words_is_whoever_said_them(annotate, said, outer, inner):
    """All of them went to Anna Ford, who cites them."""
    words = outer[0] + CITED.format(*inner) + outer[1]
    done = annotate(f"{MET}{words} said Anna Ford.\n\n{outer[0]}It is a pity,{outer[1]} said Tom Hill.", CAST)
    assert said(done)["Clara Ford"].count("I") == 2
    assert said(done)["Anna Ford"].count("I") == 1


def test_nobody_is_guessed_for_cited_words_that_nobody_is_said_to_have_said(annotate, said):
    done = annotate(f"{MET}“There it stood: ‘I shall find you.’ I read it twice,” said Anna Ford.", CAST)
    assert [said(done)[name].count("I") for name in ("Anna Ford", "Tom Hill")] == [1, 0]
    assert not any("you" in texts for texts in said(done).values())


def test_a_title_among_the_names_says_who_is_called_by_it(annotate, said, quotes_of):
    seen = "The chief looked at the elder.\n\n“He will come,” said the elder.\n\n“When?” said the old chief."
    done = annotate(f"Peter Low and {MET}{seen}", CAST)
    assert "The chief" in said(done)["Peter Low"]
    assert "the elder" in said(done)["Tom Hill"]
    assert [speaker for _, speaker, _ in quotes_of(done)] == ["Tom Hill", "Peter Low"]


@pytest.mark.parametrize(
    ("name", "aliases", "roles"),
    [
        ("Umatilla", ("Chief Umatilla",), {"chief"}),
        ("Alexander Semple", ("Elder Semple", "the Elder"), {"elder"}),
        ("Mrs. Baker", ("Baker", "Anna Baker"), {"mrs"}),
        ("Jack King", ("King",), set()),
        ("Aunt Polly", ("the lady", "Master Polly"), {"aunt"}),
    ],
)
def test_roles_stand_before_names(name, aliases, roles):
    assert roles_of(take_apart(Entry(name, aliases))) == roles


def test_he_with_a_capital_inside_a_sentence_is_god(annotate, said):
    done = annotate(
        f"{MET}“We must do as He wills, and trust in His mercy. He knows,” said Anna Ford to Tom Hill.", CAST
    )
    assert not {"He wills", "His"} & {*said(done)["Tom Hill"]}
    assert said(done)["Tom Hill"].count("He") <= 1


@pytest.mark.parametrize(
    ("words", "called"), [("That was my cousin, Peter Low.", False), ("You are my cousin, Peter Low.", True)]
)
def test_a_name_behind_kin_calls_nobody_unless_it_is_you(annotate, quotes_of, words, called):
    done = annotate(f"{MET}“{words} He went,” said Tom Hill to Anna Ford.", CAST)
    assert (quotes_of(done)[0][2] == ("Peter Low",)) == called
