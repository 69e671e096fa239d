"""Other names of the cast that the book itself gives."""

from __future__ import annotations

from collections import Counter

import pytest

from bookcoref_data.annotation.cast import parse_cast
from bookcoref_data.annotation.embedded.aliases import _doubt, learn_aliases, name_the_missing
from bookcoref_data.annotation.embedded.names import take_apart
from bookcoref_data.annotation.embedded.parsing import parse_book
from bookcoref_data.annotation.grouping import Group


@pytest.fixture(scope="module")
def learned(book_of):
    """Sentences, each said six times, and the names of a cast -> the names learned by character."""

    def learn(sentences: str, *cast: str) -> dict[str, set[str]]:
        book = book_of("\n\n".join([sentences] * 6))
        given = parse_cast("\n".join(cast))
        known = learn_aliases(book, given, parse_book(book)).cast
        assert known.names == given.names
        pairs = zip(known.entries, given.entries, strict=True)
        return {new.name: set(new.aliases) - set(old.aliases) for new, old in pairs}

    return learn


@pytest.mark.parametrize(
    ("sentences", "cast", "new"),
    [
        ("Nancy spoke. Nancy said so. Nance ran.", ["Nance"], {"Nancy"}),
        ("Ellen Hart sang. Countess Hart smiled. Ellen ran.", ["Countess Hart"], {"Ellen Hart", "Ellen"}),
        ("Mr. Hill left. Tom Hill spoke. Tom sat. Tommy ran.", ["Mr. Hill"], {"Tommy"}),
        # A woman is not called by her bare surname, nor "Mr.".
        ("Anna Hill sang. Miss Hill spoke. Hill sat.", ["Anna Hill"], set()),
        # Somebody else of the family is somebody else, also where the cast has the bare surname.
        ("William Price ran. William sat. Price spoke. Price said so.", ["Fanny Price; Price"], set()),
        # What the cast gives somebody else stays his.
        ("John Hill sang. John ran. Johnny sat.", ["John Hill", "Johnny"], set()),
    ],
)
def test_names_are_learned(learned, sentences, cast, new):
    assert learned(sentences, *cast)[cast[0].split(";")[0]] == new


def test_a_surname_means_the_one_whom_the_book_calls_so(learned):
    """Both have the surname; who is written with it is meant."""
    text = (
        "Maurice Oakes spoke. Maurice Oakes sat. Frank Oakes ran. Maurice Oakes read. Oakes slept. Frank sat."
    )
    assert "Oakes" in learned(text, "Frank Oakes", "Maurice Oakes")["Maurice Oakes"]


def test_a_surname_that_several_have_stays_open(learned):
    """ "Mr. Hart" may be Tom Hart as well as the one whom the cast calls Hart."""
    found = learned("Mr. Hart spoke. Hart sat. Tom Hill ran. Mr. Hart sang.", "Hart", "Tom Hart", "Max Hart")
    assert found["Hart"] == set()


def test_two_characters_in_one_group_teach_nothing_unless_one_is_named_far_more(learned):
    sentences = "Meg Hart spoke. Meg Hart sang. Peggy Hart ran. Maggie sat. Peggy Hart said so."
    found = learned(sentences, "Meg Hart", "Peggy Hart")
    assert not any("Maggie" in names for names in found.values())


@pytest.mark.parametrize(
    ("person", "name", "why"),
    [
        ("Miss Hill", "Mrs. Hill", "Mrs. and Miss are two people"),
        ("Miss Hill", "Anna Hill", ""),
        ("Mrs. Hill", "Mrs. Hart", ""),
        ("Mr. Hill", "Aunt Hill", "of the other gender"),
        ("Mr. Hill", "Anna", "of the other gender"),
        ("Mr. Hill", "Tom", ""),
        ("Mr. Hill", "Uncle Tom", ""),
        ("Anna Hill [f]", "Hill", "a surname alone rarely means a woman"),
        ("Lady Hill", "Hill Lodge", "a place"),
        ("Reggie Hill", "Reggie Hills", "a family"),
        ("Mary Hill", "Mary King", "another surname"),
        ("Mrs. Hill", "Mrs. Hill Anna", "another surname"),
        ("Mr. Hill", "Tom Hill", ""),
        ("Catherine Hill", "Lady Catherine", "the title of somebody else"),
        ("King Frederick William", "King Frederick", "the name of another king or queen"),
        ("Mr. Hill", "the Colonel", ""),
        ("Madame Hill", "Countess Hill", ""),
        ("Lady Hill", "Miss Hill", "Mrs. and Miss are two people"),
        ("William Price", "Price", "it usually means somebody else"),
    ],
)
def test_a_name_that_does_not_suit_is_not_learned(person, name, why):
    group = Group("", "Hill", "", Counter({name: 1, "Somebody": 9}))
    (entry,) = parse_cast(person).entries
    assert _doubt(name, group, take_apart(entry), frozenset(["price"])) == why


def test_a_name_that_is_refused_is_noted(annotate):
    text = "Mr. Hill spoke. Tom Hill sat. Tom said so. Tom Bell sang. Tom Bell ran.\n\n" * 6
    notes = annotate(text, "Mr. Hill; Tom Hill\nAnna").state.notes
    assert not [n for n in notes if "also called Tom Bell" in n]


def test_learned_names_are_linked_and_noted(annotate, said):
    text = "Mr. Hart came in. Anna said so to him. Henry sat down. Then Anna left the room.\n\n" * 20
    done = annotate(text, "Mr. Hart\nAnna\n")
    assert said(done)["Mr. Hart"].count("Henry") == 20
    assert "Mr. Hart: also called Henry, from where the names stand" in done.state.notes


def test_a_servant_is_not_his_master(annotate):
    text = (
        "Captain Ross rode out. His brother Alan Ross stayed. The Captain was tall. James, the coachman of "
        "Mr. Thorley, drove him. Mr. Thorley slept. James slept too. Alan laughed.\n\n"
    )
    done = annotate(text * 12, "Captain Ross\nMr. Thorley\nAlan Ross")
    assert not [note for note in done.state.notes if "James" in note]


@pytest.mark.parametrize(
    ("sentences", "cast", "new"),
    [
        ("The Nawab Bahadur sat down. He was old.", "The Nawab Badahur", {"Nawab Bahadur"}),
        ("May Welland sang. She ran.", "May Wellend", {"May Welland"}),
        ("Mr. Ford sat down. He was old.", "Mr. Forde", {"Mr. Ford"}),
        # The word that is given stands in the book, or the other names somebody else.
        ("Anna Hilton sang. Mr. Hilson ran.", "Anna Hilson", set()),
        ("Anna Hilton sang. She ran.", "Anna Barton", set()),
        ("Anna Hilton sang. She ran.", "Anna Milton", set()),
    ],
)
def test_a_misspelt_name_is_found_as_the_book_spells_it(learned, sentences, cast, new):
    assert set().union(*learned(sentences, cast).values()) >= new
    assert new or not set().union(*learned(sentences, cast).values())


def test_a_name_of_somebody_else_in_the_cast_is_no_misspelling(learned):
    found = learned("Anna Hilton sang. She ran. Mr. Ford sat.", "Anna Hilten", "Miss Hilton")
    assert not found["Anna Hilten"]


def test_may_is_a_name_and_a_month(annotate, said):
    story = "May Welland came to New York in May. May smiled. They saw May again last May.\n\n" * 3
    done = annotate(story, "Miss Welland; May Welland")
    found = said(done)["Miss Welland"]
    assert found.count("May") == 6
    assert found.count("May Welland") == 3
    assert "a month, not a name" in {d.reason for d in done.state.dropped}


def test_who_is_called_may_is_a_name_behind_words_that_stand_before_months_too(annotate, said):
    names = (
        "He saw the meaning of May’s blush.", "A flush rose to May’s forehead.", "They sat in May’s room.",
        "He was met by May.", "He had spoken to May.", "He kept a picture of May.",
        "It struck him that May sang.", "He waited, since May had gone to bed.",
    )  # fmt: skip
    months = (
        "It was the first of May.", "They stayed from April to May.", "She left in May.",
        "It rained until May.", "They met at the end of May.", "It was dated the 3rd of May.",
    )  # fmt: skip
    done = annotate("May smiled. " + " ".join((*names, *months)) + " May sang.", "May Welland; May [f]\n")
    assert said(done)["May Welland"].count("May") == len(names) + 2


def test_a_verb_that_is_a_name_is_one_before_an_adverb_and_a_verb(annotate, said):
    text = "They saw May. “So,” May brightly agreed. May suddenly proposed a walk. May soon be the day!"
    done = annotate(text, "May Welland; May [f]\n", steps=("link", "filter"))
    assert said(done)["May Welland"] == ["May"] * 3


CALLED = (
    "“Are you ill, Griffin?” asked Dr. Kemp.\n\n“I am,” said the Pale Man. The Pale Man sat by the fire.\n\n"
    "{more}\n\nMr. Griffin slept there. It rained all night, and nobody came to the house."
)


@pytest.mark.parametrize(
    ("more", "entry", "new"),
    [
        ("Dr. Kemp went out.", "The Pale Man", {"Griffin", "Mr. Griffin"}),
        # Two people stand in one sentence.
        ("Mr. Griffin saw the Pale Man. Then Mr. Griffin spoke to the Pale Man.", "The Pale Man", set()),
        # He has a name.
        ("Dr. Kemp went out.", "The Pale Man; Jack Marvel", set()),
    ],
)
def test_whom_the_cast_only_describes_learns_his_name_from_where_it_stands(learned, more, entry, new):
    assert learned(CALLED.format(more=more), entry, "Dr. Kemp")["The Pale Man"] == new


PAINTER = (
    "“Are you ill, Basil?” asked Dr. Kemp.\n\n“I am,” said the painter. The painter sat by the fire.\n\n"
    "{more}\n\nBasil Ward slept there. It rained all night, and nobody came to the house."
)


@pytest.mark.parametrize(
    ("more", "new"),
    [
        ("Dr. Kemp went out.", {"the painter"}),
        # Two people stand in one sentence.
        ("Basil Ward saw the painter. Then Basil spoke to the painter.", set()),
    ],
)
def test_a_description_of_the_cast_may_be_somebody_whom_it_names(learned, more, new):
    """A cast may list "The Painter" beside the name of the one whom the book calls so."""
    assert learned(PAINTER.format(more=more), "Basil Ward", "Dr. Kemp", "The Painter")["Basil Ward"] == new


def test_a_description_that_is_somebody_else_is_noted(annotate, said):
    story = "\n\n".join([PAINTER.format(more="Dr. Kemp went out.")] * 6)
    done = annotate(story, "Basil Ward\nDr. Kemp\nThe Painter\n")
    assert said(done)["Basil Ward"].count("the painter") == 6
    note = "'The Painter' is another name of Basil Ward in this text; its mentions are counted there"
    assert note in done.state.notes
    assert not any("does not occur" in n for n in done.state.notes)


NAMED_OFTEN = "Anna Hart came in. Anna sat by the fire. It rained. She slept. It was late.\n\n"
ANNA = {"Anna", "Anna Hart", "Miss Anna"}
DOCTOR = "Dr. Kemp came in. Kemp sat by the fire. It rained. He slept. It was late.\n\n"
OTHERS = "Tom Ford left the house. Tom was cold. Ford ran. He never came back to the house.\n\n"


def test_an_only_girl_is_known_by_her_surname(book_of):
    book = book_of(NAMED_OFTEN * 12 + "Miss Anna left.\n\n" * 4 + "Miss Hart spoke.\n\n" * 3 + OTHERS * 20)
    learned = learn_aliases(book, parse_cast("Miss Hart\nTom Ford"), parse_book(book))
    assert {*learned.cast.entries[0].aliases} >= ANNA


@pytest.mark.parametrize(
    ("text", "entry", "new"),
    [
        (DOCTOR * 12 + "The doctor spoke.\n\n" * 4, "The Doctor", {"Kemp", "Dr. Kemp"}),
        # Whom the book names seldom may be in no cast.
        (DOCTOR * 8 + "The doctor spoke.\n\n" * 4, "The Doctor", set()),
        # Two doctors, and a wife and her daughter.
        ((DOCTOR + DOCTOR.replace("Kemp", "Cuss")) * 12 + "The doctor spoke.", "The Doctor", set()),
        (NAMED_OFTEN * 12 + "Mrs. Hart spoke. Miss Anna left.\n\n" * 4, "Mrs. Hart", set()),
    ],
)
def test_who_is_named_often_is_found_under_a_rare_name_of_the_cast(book_of, text, entry, new):
    """Only if the cast has most of those who are named often."""
    book = book_of(text + OTHERS * 20)
    parse = parse_book(book)
    for cast, wanted in ((f"{entry}\nTom Ford", new), (f"{entry}\nJack Bell", set())):
        learned = learn_aliases(book, parse_cast(cast), parse)
        known = name_the_missing(book, learned, parse).cast.entries[0]
        assert {*known.aliases} - {*learned.cast.entries[0].aliases} == wanted
