"""Names of cast lists: real entries, the rules they show, and promises that hold for any text."""

from __future__ import annotations

import csv
from collections import Counter

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bookcoref_data.characters.names import read_name, same_person
from bookcoref_data.words import fold
from tests.drawing import drawn


def said(raw, author=""):
    """{name: aliases} of an entry."""
    return {person.name: list(person.aliases) for person in read_name(raw, author=author).people}


@pytest.mark.parametrize(("raw", "people"), [
    # one person, nothing to do
    ("Mr. Darcy", {"Mr. Darcy": []}),
    ("Macon Dead, Jr.", {"Macon Dead, Jr.": []}),
    ("Monsieur G—", {"Monsieur G—": []}),
    ("D-503", {"D-503": []}),
    ("Husband #4", {"Husband #4": []}),
    # separators and footnote marks
    ("Edward Hyde:", {"Edward Hyde": []}),
    ("Tom Jones %", {"Tom Jones": []}),
    ("Rahim-", {"Rahim": []}),
    ("Roxane (Madeleine Robin)*", {"Roxane": ["Madeleine Robin"]}),
    (", later Darnay", {"Darnay": []}),
    ("  Ada\u00a0\n Brook ", {"Ada Brook": []}),
    ("O’Brien", {"O'Brien": []}),
    ("\"Tom Jones", {"Tom Jones": []}),
    ("Tom Jones\"", {"Tom Jones": []}),
    ("Tom Jones)", {"Tom Jones": []}),
    # a surname and what stands about it is shared
    ("Tom and Henry Delany Jr.", {"Tom Delany Jr.": [], "Henry Delany Jr.": []}),
    ("Mr. and Mrs. Captain Ross", {"Mr. Ross": [], "Mrs. Captain Ross": []}),
    # brackets
    ("Benjamin (a donkey)", {"Benjamin": []}),
    ("Henry Beard Delany (1858–1928)", {"Henry Beard Delany": []}),
    ("Paul Bäumer (BOY-muhr)", {"Paul Bäumer": []}),
    ("Yelena Andreevna (yeléna andréevna)", {"Yelena Andreevna": []}),
    ("Annie Jones (Sam's Mom)", {"Annie Jones": []}),
    ("Bertilak (or Bercilak) of Hautdesert", {"Bertilak of Hautdesert": ["Bercilak"]}),
    ("Alastor (Mad-Eye) Moody", {"Alastor Moody": ["Mad-Eye", "Mad-Eye Moody"]}),
    ("Sergeant David (Dime) Dime", {"Sergeant David Dime": ["Dime"]}),
    ("Quentin Compson (Jr.)", {"Quentin Compson Jr.": []}),
    ("Fanny Dashwood (née Ferrars)", {"Fanny Dashwood": ["Fanny Ferrars"]}),
    ("Soda(pop) Patrick Curtis", {"Sodapop Patrick Curtis": ["Soda Patrick Curtis"]}),
    ("(Philip Pirrip, Handel)", {"Philip Pirrip": ["Handel"]}),
    ("Ántonia (ANN-toe-knee-uh) (\"Tony\") Shimerda", {"Ántonia Shimerda": ["Tony", "Tony Shimerda"]}),
    ("Rodion Raskolnikov (“Rodya,” “Rodka”)", {"Rodion Raskolnikov": ["Rodya", "Rodka"]}),
    ("Hank Morgan (a.k.a. The Yankee, a.k.a. The Boss)", {"Hank Morgan": ["The Yankee", "The Boss"]}),
    ("Margaret \"Margot\" Macomber (a.k.a. \"Memsahib,\" the Indian word for the wife of a white official)",
     {"Margaret Macomber": ["Memsahib", "Margot", "Margot Macomber"]}),
    ("Edmond Dantès (alias the Count of Monte Cristo; his other aliases are Sinbad the Sailor, Abbé Busoni, "
     "and Lord Wilmore)",
     {"Edmond Dantès": ["the Count of Monte Cristo", "Sinbad the Sailor", "Abbé Busoni", "Lord Wilmore"]}),
    # quotes
    ("Huckleberry “Huck” Finn", {"Huckleberry Finn": ["Huck", "Huck Finn"]}),
    ("\"I\"", {"I": []}),
    ("The \"Other\" a.k.a. Graveyard Guy, Boat Man", {"The Other": ["Graveyard Guy", "Boat Man"]}),
    ("The Narrator of \"The Piazza\"", {"The Narrator of The Piazza": []}),
    # commas, colons, dashes, slashes
    ("Henry Percy, Earl of Northumberland", {"Henry Percy": ["Earl of Northumberland"]}),
    ("Fenton, a Young Gentleman", {"Fenton": []}),
    ("Slender, Nephew to Shallow", {"Slender": []}),
    ("Quee Long—Virgo", {"Quee Long": []}),
    ("Viola/Cesario", {"Viola": ["Cesario"]}),
    ("Puck, or Robin Goodfellow", {"Puck": ["Robin Goodfellow"]}),
    ("Sam: the sailor", {"Sam": []}),
    ("Husband: The Banker", {"The Banker": []}),
    # several people
    ("Mr. and Mrs. Jones (humans)", {"Mr. Jones": [], "Mrs. Jones": []}),
    ("Mrs. and Miss Eynsford Hill", {"Mrs. Eynsford Hill": [], "Miss Eynsford Hill": []}),
    ("Hawthorne and Caroline Abendsen", {"Hawthorne Abendsen": [], "Caroline Abendsen": []}),
    ("Henry and Louisa van der Luyden", {"Henry van der Luyden": [], "Louisa van der Luyden": []}),
    ("The Duke and Duchess of York", {"The Duke of York": [], "Duchess of York": []}),
    ("Karellen and the Overlords", {"Karellen": [], "the Overlords": []}),
    ("Widow Douglas and Miss Watson", {"Widow Douglas": [], "Miss Watson": []}),
    ("Mr. and Mrs. Morland and family", {"Mr. Morland": [], "Mrs. Morland": []}),
    ("Pistol, Bardolph, and Nim", {"Pistol": [], "Bardolph": [], "Nim": []}),
    ("The Vicario Brothers, Pablo and Pedro", {"Pablo": [], "Pedro": []}),
    ("The Detectives: Ear, Eye, Arm", {"Ear": [], "Eye": [], "Arm": []}),
    # one being whose name holds "and" or commas
    ("The Stitch and B**** Club", {"The Stitch and B**** Club": []}),
    ("Manuel O'Kelly-Davis, a.k.a. Mannie and Man", {"Manuel O'Kelly-Davis": ["Mannie", "Man"]}),
    ("Monsieur Morrel, a shipbuilder and shipowner", {"Monsieur Morrel": []}),
    ("The Dukes of Exeter, Westmorland, Salisbury, and Warwick",
     {"The Dukes of Exeter, Westmorland, Salisbury, and Warwick": []}),
])  # fmt: skip
def test_real_entries(raw, people):
    assert said(raw) == people


@pytest.mark.parametrize("heading", [
    "Major Characters", "minor", "The Minor Characters", "Note:", "A Note on Characters", "Russian Names:",
    "Characters in \"Ylla\"", "Character List", "-", "", "…", "123",
])  # fmt: skip
def test_headings_and_empty_entries_name_nobody_and_say_why(heading):
    reading = read_name(heading)
    assert reading.people == ()
    assert reading.rejected in {"heading", "no letter"}


@pytest.mark.parametrize("name", ["Major Tom", "Old Major", "The Other Mother", "Minor Canon Crisparkle"])
def test_names_that_resemble_headings_stay(name):
    assert list(said(name)) == [name]


@pytest.mark.parametrize(
    ("raw", "rules"),
    [('"Tom Jones', ("edge-punctuation",)), ('Tom Jones"', ("edge-punctuation",)), ("Tom Jones", ())],
)
def test_a_lone_quotation_mark_at_an_edge_is_cut_and_told(raw, rules):
    assert said(raw) == {"Tom Jones": []}
    assert read_name(raw).rules == rules


def test_a_shared_surname_is_flagged_for_the_reviewer():
    left, right = read_name("Ivy and Sairy Wilson").people
    assert left.flags == ("shared-surname",)
    assert right.flags == ()


@pytest.mark.parametrize(("name", "group"), [
    ("The Proles", True), ("The Dedalus Sisters", True), ("Three French Girls", True), ("Chorus", True),
    ("Mr. Jones", False), ("Marcus", False), ("The Narrator", False),
    ("The Princess", False), ("James", False),
])  # fmt: skip
def test_groups_are_flagged(name, group):
    assert ("group" in read_name(name).people[0].flags) == group


@pytest.mark.parametrize(("name", "author", "same"), [
    ("Mark Twain", "Mark Twain", True),
    ("Mark Twain", "Twain, Mark", True),
    ("William Goldman", "William Goldman", True),
    ("Hank Morgan", "Mark Twain", False),
    ("Mark", "Mark Twain", False),
    ("Miss Brontë", "Charlotte Brontë", False),
    ("Mark Twain", "", False),
])  # fmt: skip
def test_an_author_listed_as_character_is_flagged(name, author, same):
    assert ("author" in read_name(name, author=author).people[0].flags) == same
    assert same_person(name, author) == same


def test_fold_ignores_accents_case_and_quotes():
    assert fold("Ántonia O’Brien-Smith") == fold("antonia o'brien smith") == "antonia obrien smith"


PIECES = [
    *"Aab É'’\"“”()/,:;.-–—&*%[]#1",
    " and ",
    " or ",
    " a.k.a. ",
    " Mr. ",
    " the ",
    "The ",
    "Jr.",
    " (",
    ") ",
]
entries = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)


@drawn(300)
@given(raw=entries | st.text(max_size=20))
@example(raw='"')
@example(raw="(a)")
@example(raw="a/")
@example(raw="A, and")
@example(raw="2, Mrs. two")
@example(raw="The son or the of baker's alias King")
@example(raw='Brook "& son, Tom (of')
@example(raw="/ alias Tom")
@example(raw="later \tof")
def test_any_text_names_someone_for_good_or_is_rejected_with_a_reason(raw):
    reading = read_name(raw)
    assert reading.raw == raw
    assert read_name(" ".join(raw.split())).people == reading.people
    assert bool(reading.people) != bool(reading.rejected)
    for person in reading.people:
        assert any(c.isalnum() for c in person.name)
        assert person.name == " ".join(person.name.split())
        assert person.name not in person.aliases
        assert len(set(person.aliases)) == len(person.aliases)
        assert [again.name for again in read_name(person.name).people] == [person.name]
    assert len({person.name for person in reading.people}) == len(reading.people)


@drawn(200)
@given(
    raw=st.lists(
        st.sampled_from(["Ada", "Brook", "Mr.", "Old", "von", "Reed", "Lady"]), min_size=1, max_size=4
    )
)
def test_a_plain_name_is_left_alone(raw):
    name = " ".join(raw)
    assert [person.name for person in read_name(name).people] == [name]


@pytest.fixture(scope="module")
def readings(reference):
    """The published names, read."""
    with open(reference / "liscu_characters.tsv", encoding="utf-8", newline="") as stream:
        rows = list(csv.reader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [read_name(row[5]) for row in rows[1:]]


@pytest.mark.long
def test_the_9499_published_names_all_read_and_few_change(readings):
    assert len(readings) == 9499
    rejected = Counter(reading.rejected for reading in readings if reading.rejected)
    assert rejected == {"heading": 5, "no letter": 1}
    assert 9600 < sum(len(reading.people) for reading in readings) < 9800
    changed = sum([p.name for p in r.people] != [r.raw] for r in readings)
    assert changed < 900
    assert sum("several-people" in reading.rules for reading in readings) < 200


def test_reading_a_clean_published_name_again_changes_nothing(readings):
    known = {reading.raw: reading for reading in readings}
    for name in {person.name for reading in readings for person in reading.people}:
        again = known.get(name) or read_name(name)
        assert [person.name for person in again.people] == [name]


def test_no_leftovers_in_the_published_names(readings):
    left = [p.name for reading in readings for p in reading.people
            if set(p.name) & set('()"“”/;%*:') and "B****" not in p.name]  # fmt: skip
    assert left == []
