"""The hard cases of benchmarks/match_hard.py, and the rules that they need, one by one."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

pytest.importorskip("polars")

from bookcoref_data.characters.spelling import bracketed, cores, number_words, singular, spelled
from bookcoref_data.characters.titles import generation, main_title, tokens

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks/match_hard.py"


@pytest.fixture(scope="module")
def hard():
    spec = importlib.util.spec_from_file_location("match_hard", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.long
@pytest.mark.parametrize("name", ["a", "b"])
def test_nineteen_of_twenty_hard_works_are_right_and_no_wrong_record_is_silent(hard, name):
    found = hard.outcomes(name)
    assert len(found) >= 30
    assert [o for o in found if o.result == "silent"] == []
    assert sum(o.result == "right" for o in found) >= 0.95 * len(found)


def test_a_work_whose_author_is_missing_in_the_catalogue_shows_the_records_of_its_title(hard):
    case = next(c for c in hard.cases("a") if c.cast.work.author == "Acton Bell")
    work = hard.match([case.cast], hard.catalogue_frame()).works[0]
    assert (work.gutenberg_id, work.review) == (None, "near miss")
    assert [(c.gutenberg_id, c.refused) for c in work.considered] == [(767, "the same title by Brontë, Anne")]


@pytest.mark.parametrize(("number", "words"), [
    (0, "zero"), (19, "nineteen"), (39, "thirty nine"), (80, "eighty"), (100, "one hundred"),
    (1001, "one thousand one"), (20_000, "twenty thousand"), 
    (413_215, "four hundred thirteen thousand two hundred fifteen"),
])  # fmt: skip
def test_numbers_in_words(number, words):
    assert " ".join(number_words(number)) == words


@pytest.mark.parametrize(("one", "other"), [
    ("20,000 Leagues", "Twenty Thousand Leagues"), ("Dr. Thorne", "Doctor Thorne"),
    ("The Centre of Colour", "Center of Color"), ("St. Ives", "Saint Ives"),
    ("The Theatre Travellers", "Theater Travelers"),
])  # fmt: skip
def test_one_spelling(one, other):
    assert spelled(one) == spelled(other)


def test_short_words_keep_their_letters():
    assert spelled("Our Four Hours, Your Acre") == ("our", "four", "hours", "your", "acre")
    assert singular(tokens("seas is this glass opus")) == ("sea", "is", "this", "glass", "opus")


def test_titles_without_frame_comma_and_bracket():
    assert "Tom Jones" in cores("The History of Tom Jones, a Foundling")
    assert "Moll Flanders" in cores("The Fortunes and Misfortunes of the Famous Moll Flanders")
    assert cores("Emma") == ["Emma"]
    assert "Chance" not in cores("The House of Chance")  # a house is no frame
    assert bracketed("Camille (La Dame aux Camilias)") == ["Camille", "La Dame aux Camilias"]


def test_main_titles_of_whole_editions_and_of_several_works():
    assert main_title("Rob Roy, Complete") == "Rob Roy"
    assert main_title("The Divine Comedy, Illustrated, Complete") == "The Divine Comedy"
    several = "A Christmas Carol; The Chimes; The Cricket on the Hearth"
    assert main_title(several) == several


def test_two_authors_of_one_name():
    assert generation("Dumas, Alexandre (père)") == "elder"
    assert generation("Oliver Wendell Holmes Jr.") == "younger"
    assert generation("Junius Henri Browne") == ""
