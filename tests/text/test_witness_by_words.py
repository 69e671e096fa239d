"""What another edition says of a piece, by its runs of four words."""

from __future__ import annotations

import pytest

from bookcoref_data.text.clean import Witness

STORY = "one two three four five six seven eight nine ten"
NOTE = "a note about the old weir below the mill of Ford"


def witness(text=STORY, kind="notes", piece=NOTE):
    return Witness(text, [(kind, piece)])


@pytest.mark.parametrize(
    ("piece", "kind", "tells"),
    [
        (NOTE, "notes", False),
        (NOTE.upper() + "!", "notes", False),
        (STORY, "", True),
        ("a", "", False),
        ("a note", "", False),
        ("a note about the", "notes", False),
        ("a note about a", "", False),
        # Eight of ten runs are enough, seven are not.
        ("a note about the old weir below the mill of x y", "", False),
        ("a note about the old weir below the mill of Ford x", "notes", False),
        ("two three four five six", "", True),
        ("three four five x", "", False),
        ("", "", False),
    ],
)
def test_a_piece_is_apart_or_in_the_text(piece, kind, tells):
    found = witness()
    assert found.kind_of(piece) == kind
    assert found.tells(piece) is tells


def test_what_is_in_the_text_as_well_is_not_apart():
    both = witness(f"{STORY}\n\n{NOTE}")
    assert (both.kind_of(NOTE), both.tells(NOTE)) == ("", False)
    assert witness(kind="unknown").kind_of(NOTE) == ""


def test_a_short_piece_is_compared_whole():
    small = Witness("x\n\nthe end", [("captions", "the mill")])
    assert (small.kind_of("The Mill"), small.kind_of("mill"), small.tells("the end"), small.tells("end")) == (
        "captions",
        "",
        True,
        False,
    )


def test_what_most_runs_say_counts():
    found = Witness("", [("notes", "a b c d e f"), ("captions", "q r s t u v w x")])
    assert found.kind_of("q r s t u v w x") == "captions"


@pytest.mark.parametrize(
    ("section", "sign"),
    [
        (NOTE, "another edition sets it apart as notes"),
        (STORY, ""),
        ("all of this is not in the other edition", "another edition lacks it"),
        ("one two three four x y", ""),
        ("one two three four v w x y z a b c d e f g h i j k l m", "another edition lacks it"),
    ],
)
def test_what_speaks_against_a_section(section, sign):
    assert witness().sign(section) == sign
