"""Names of the cast in the text: titles, nicknames, relatives of one surname, and whom to distrust."""

from __future__ import annotations

import pytest

from bookcoref_data.annotation.cast import Entry, make_cast, parse_cast
from bookcoref_data.annotation.embedded.backend import EmbeddedBackend
from bookcoref_data.annotation.embedded.names import (
    NameTable,
    book_words,
    gender_by_aliases,
    learned_table,
    take_apart,
)
from bookcoref_data.annotation.embedded.parsing import with_small_letters
from bookcoref_data.annotation.plan import default_plan


def linked(text: str, cast: list[str]) -> list[tuple[str, str]]:
    """(words, character) of every name in a text of tokens separated by blanks."""
    tokens = text.split()
    table = NameTable(make_cast(cast))
    words = book_words(tuple(tokens))
    table.learn(words)
    hits = table.find(words)
    known, _ = learned_table(make_cast(cast), tuple(tokens))
    assert known.settle(known.find(words)) == table.settle(hits)
    return [
        (" ".join(tokens[h.start : h.end + 1]), cast[c])
        for h, (c, _) in zip(hits, table.settle(hits), strict=True)
    ]


BENNETS = ["Mr. Bennet", "Mrs. Bennet", "Jane Bennet", "Elizabeth Bennet", "Mary Bennet"]


@pytest.mark.parametrize(
    ("words", "who"),
    [
        ("Mr. Bennet", "Mr. Bennet"),
        ("MR. BENNET", "Mr. Bennet"),
        ("Mrs. Bennet", "Mrs. Bennet"),
        ("Elizabeth", "Elizabeth Bennet"),
        ("Lizzy", "Elizabeth Bennet"),
        ("Eliza Bennet", "Elizabeth Bennet"),
        ("Miss Elizabeth", "Elizabeth Bennet"),
        ("Miss Mary Bennet", "Mary Bennet"),
        ("Bennet", "Mr. Bennet"),
    ],
)
def test_a_family_is_told_apart(words, who):
    assert linked(f"Then {words} came .", BENNETS) == [(words, who)]


@pytest.mark.parametrize(
    ("entry", "text", "found"),
    [
        ("old Cotter", "Then old Cotter came .", "old Cotter"),
        ("old Cotter", "Then Cotter came .", "Cotter"),
        ("that scurrilous Gordon Hallock", "Gordon Hallock came .", "Gordon Hallock"),
        ("the late Charlotte Temple", "Miss Temple came .", "Miss Temple"),
        ("old Mr Pontifex", "Mr Pontifex came .", "Mr Pontifex"),
        ("Miss Jemima", "Then Jemima came .", "Jemima"),
    ],
)
def test_a_name_is_found_without_what_the_cast_says_of_its_bearer(entry, text, found):
    assert linked(text, [entry]) == [(found, entry)]


@pytest.mark.parametrize("text", ["“ It is d’Artagnan .", "It is d'Artagnan .", "D’Artagnan came ."])
@pytest.mark.parametrize("entry", ["D’Artagnan", "d'Artagnan"])
def test_a_name_that_begins_with_a_small_letter_and_an_apostrophe_is_found(text, entry):
    assert [name for _, name in linked(text, [entry])] == [entry]


@pytest.mark.parametrize(
    "entry", ["the old woman", "the Claytons", "the Artful Dodger", "van Dam", "aunt Shaw"]
)
def test_a_description_is_no_name_with_praise(entry):
    assert take_apart(Entry(entry)).common


@pytest.mark.parametrize("entry", ["old Cotter", "this Hester Prynne"])
def test_a_name_with_praise_is_a_name(entry):
    assert not take_apart(Entry(entry)).common


def test_miss_and_surname_is_the_eldest_daughter():
    text = "Jane sat . Jane spoke . Miss Elizabeth laughed . Elizabeth rose . Miss Mary read . Miss Bennet smiled ."  # noqa: E501
    assert linked(text, BENNETS)[-1] == ("Miss Bennet", "Jane Bennet")


def test_a_title_of_two_tokens_is_one_name():
    assert linked("Mr . Jones slept . Mrs . Jones snored .", ["Mr. Jones", "Mrs. Jones"]) == [
        ("Mr . Jones", "Mr. Jones"),
        ("Mrs . Jones", "Mrs. Jones"),
    ]


def test_a_line_end_inside_a_name_is_passed_over():
    assert linked("Mr. \n Jones slept .".replace("\n", "_"), ["Mr. Jones"]) == [("Mr. _ Jones", "Mr. Jones")]


def test_a_surname_is_learned_from_the_book():
    text = "Gabriel Oak stood up . Gabriel Oak sat down . Then Oak left ."
    assert linked(text, ["Gabriel"])[-1] == ("Oak", "Gabriel")


def test_common_nouns_are_no_names():
    assert linked("He will come . I will grace it .", ["Will", "Grace"]) == []


def test_a_group_is_matched_in_lower_case():
    assert linked("Then the dogs barked .", ["The Dogs"]) == [("the dogs", "The Dogs")]


@pytest.mark.parametrize(
    ("name", "gender"),
    [("Lady Russell", "f"), ("Sir Walter", "m"), ("Captain Good", "m"), ("Emma", "f"), ("Buck", ""), ("The Hens", "group"),  # noqa: E501
     ("The Sheep", "group"), ("Aunt Polly", "f")],
)  # fmt: skip
def test_gender_is_read_from_the_name(name, gender):
    assert take_apart(Entry(name)).gender == gender


@pytest.mark.parametrize(
    ("line", "gender"),
    [
        ("Aoife Zhang; Miss Zhang", "f"),
        ("Hercule Poirot; Monsieur Poirot", "m"),
        ("Anna Moore; Mr. Moore", "f"),
        ("Mrs. Moore; Mr. Moore", "f"),
        ("Anna Moore; Nan", "f"),
        ("Nkechi; Aunt Nkechi; Nk", "f"),
        ("Henchard; Michael Henchard", "m"),
        ("Zhang; Mr. Zhang; Miss Zhang", ""),
        ("Kit; Mr. Avery's niece", ""),
        ("Kofi; Miss Avery’s friend", ""),
        ("Xiuying; Tom; Anna", ""),
        ("Kofi Moore; Kofi", ""),
    ],
)
def test_gender_is_read_from_what_the_aliases_say_with_one_voice(line, gender):
    assert gender_by_aliases(take_apart(parse_cast(line).entries[0])) == gender


def test_a_hint_beats_a_title():
    assert take_apart(Entry("Captain Good", (), "f")).gender == "f"


def test_an_alias_of_the_cast_is_used(annotate, said):
    done = annotate("The Fox ran. Old Reynard was tired. Reynard slept.", "Reynard; the Fox\n")
    assert said(done) == {"Reynard": ["The Fox", "Old Reynard", "Reynard"]}


@pytest.mark.parametrize(
    ("text", "cast", "reason"),
    [
        ("Anna lived in Darcy Street with Mr. Darcy.", ["Mr. Darcy"], "part of the name of a place"),
        ("The Rosings people met Mrs. Darcy and Mr. Darcy.", ["Mr. Darcy"], "title of another gender"),
        (
            "Then Will slept. Will laughed. Will you come to us, my friend?",
            ["Will"],
            "begins a sentence and is not used as a name",
        ),
        (
            "The doctor left. " + "It rained. " * 700 + "Mr. Dale, a surgeon, came. The doctor sat down.",
            ["Mr. Dale", "The Doctor"],
            "the living of someone who is named nearby",
        ),
    ],
)
def test_a_dropped_name_has_a_reason(annotate, text, cast, reason):
    done = annotate(text, cast, steps=("link", "filter"))
    assert [d.reason for d in done.state.dropped] == [reason]
    assert done.state.mentions


def test_miss_price_is_not_called_mrs_price(annotate, said):
    done = annotate("Mrs. Price met Miss Price. Mrs. Price sat down.", "Fanny Price; Miss Price\n")
    assert said(done)["Fanny Price"] == ["Miss Price"]


def test_a_name_that_may_be_a_verb_is_one_before_a_verb(annotate, said):
    done = annotate("Then Will slept. Will laughed. Will you come?", "Will [m]\n", steps=("link", "filter"))
    assert said(done)["Will"] == ["Will", "Will"]


def test_a_name_that_may_be_a_verb_is_one_before_a_mark(annotate, said):
    text = (
        "Then Will slept. Will, who was tired, slept. “Will, come!” Will Anna come? Will, Tom and Anna came."
    )
    done = annotate(text, "Will [m]\n", steps=("link", "filter"))
    assert said(done)["Will"] == ["Will"] * 4


def test_the_first_words_of_a_chapter_may_be_in_capitals(annotate, said):
    rest = "Anna Hill often said so. She had some trouble with her wood. "
    text = "ANNA HILL OFTEN SAID that it rained.\n\nSHE HAD some trouble with it.\n\n“ANNA, WHAT is it?”\n\n"
    done = annotate(text + rest, ["Anna Hill"])
    assert said(done)["Anna Hill"] == ["ANNA HILL", "SHE", "ANNA", "Anna Hill", "She", "her"]


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("ANNA HILL OFTEN said \n “ MR. HILL WAS here \n", "Anna Hill often said \n “ Mr. Hill was here \n"),
        ("THE END \n I am GREAT \n THE BBC said so \n", "THE END \n I am GREAT \n The BBC said so \n"),
        ("NATO had it .", "NATO had it ."),
        ("ANNE - MARIE O'BRIEN HAD it", "Anne - Marie O'Brien had it"),
    ],
)
def test_the_model_sees_small_letters_where_the_book_has_them_elsewhere(text, seen):
    book = "Then Anna and Mr. Hill often saw Anne - Marie O'Brien , as it was the one they had ."
    words = [*text.split(" "), *book.split()]
    assert " ".join(with_small_letters(words)) == f"{seen} {book}"


def test_what_is_told_of_somebody_is_no_part_of_the_name(annotate, said):
    text = "Tom informed Lady Anna of the fact. Anna of Malcolm Castle laughed."
    done = said(annotate(text, "Lady Anna\n", steps=("link", "filter")))
    assert done["Lady Anna"] == ["Lady Anna", "Anna of Malcolm Castle"]


def test_mamma_hill_is_no_man(annotate, said):
    text = "Tom Hill slept. Mamma Hill came in. “Mamma Hill!” said Tom. Tom Hill saw Mammy Hill."
    assert said(annotate(text, "Tom Hill [m]\n", steps=("link", "filter")))["Tom Hill"] == [
        "Tom Hill", "Tom", "Tom Hill"
    ]  # fmt: skip


def test_a_name_that_is_never_written_small_is_one_also_where_it_begins_a_sentence(annotate, said):
    text = "They spoke to Dolly, and Dolly heard. Dolly did not answer. “Dolly, are you ill?” Dolly laughed."
    done = annotate(text, "Dolly [f]\nMr. Ford\n", steps=("link", "filter"))
    assert said(done)["Dolly"] == ["Dolly"] * 5


def test_the_end_of_a_sentence_is_no_title(annotate, said):
    text = "She came without her mother. Edmund was alone, and Edmund sat down with his sister. Edmund slept."
    done = annotate(text, "Edmund [m]\n", steps=("link", "filter"))
    assert said(done)["Edmund"] == ["Edmund"] * 3


@pytest.mark.parametrize(
    ("text", "name", "found"),
    [
        ("Here came a student, and the student sat down.", "A Student", ["a student", "the student"]),
        ("A sleepy carpenter spoke.", "The Sleepy Carpenter", ["A sleepy carpenter"]),
        ("Then many sleepy carpenters ran.", "The Sleepy Carpenter", []),
        ("Then the book-stall keeper ran.", "The Book-stall Keeper", ["the book - stall keeper"]),
        ("Then the jailer slept.", "The Jailer At The Trial", ["the jailer"]),
        ("A man came. The man sat.", "A Man", []),
        ("Then the man slept.", "The Hump-backed Man", []),
        ("A. J. Hill came. Then Hill slept.", "A. J. Hill", ["A. J. Hill", "Hill"]),
    ],
)
def test_descriptions_are_found_as_they_are_used(annotate, said, text, name, found):
    done = annotate(text, f"{name}\n", steps=("link", "filter"))
    assert said(done).get(name, []) == found


@pytest.mark.parametrize(
    ("entry", "found"),
    [
        ("The Man In The Moon; The Man", ["the Man in the Moon"]),
        ("The Man", ["the Man", "the man"]),
        ("Bob; the man", ["the Man", "the man"]),
    ],
)
def test_the_mere_noun_of_a_longer_description_is_nobodys_name(annotate, said, entry, found):
    done = annotate(
        "Then the Man in the Moon came. Then the man slept.", f"{entry}\n", steps=("link", "filter")
    )
    assert said(done)[entry.split(";")[0]] == found


@pytest.mark.parametrize("text", ["Then Jean - Luc slept .", "Then Jean-Luc slept ."])
def test_a_name_with_a_hyphen_may_be_three_tokens_or_one(text):
    assert [who for _, who in linked(text, ["Jean-Luc"])] == ["Jean-Luc"]


def test_jean_is_not_jean_luc_where_the_cast_has_both():
    cast = ["Jean-Luc Dubois", "Jean Dubois", "Anne-Marie Dubois", "Mr. O'Brien"]
    text = "Jean Dubois and Jean-Luc came . Jean slept . Jean-Luc Dubois saw Anne and Miss Anne-Marie ."
    assert linked(text, cast) == [
        ("Jean Dubois", "Jean Dubois"), ("Jean-Luc", "Jean-Luc Dubois"), ("Jean", "Jean Dubois"),
        ("Jean-Luc Dubois", "Jean-Luc Dubois"), ("Anne", "Anne-Marie Dubois"),
        ("Miss Anne-Marie", "Anne-Marie Dubois"),
    ]  # fmt: skip


def test_other_first_names_go_with_the_surname_too():
    text = "Then Miss Eliza Bennet sat . Mr. Bennet rose . Beth Bennet spoke ."
    tokens = text.split()
    table = NameTable(parse_cast("Elizabeth Bennet; Eliza [f]\nMr. Bennet [m]\nBethesda Bennet; Beth [f]\n"))
    words = book_words(tuple(tokens))
    hits = table.find(words)
    found = [tokens[h.start : h.end + 1] for h in hits]
    assert found == [["Miss", "Eliza", "Bennet"], ["Mr.", "Bennet"], ["Beth", "Bennet"]]
    assert [who for who, _ in table.settle(hits)] == [0, 1, 2]


def test_a_text_may_end_with_part_of_a_name():
    assert linked("Then came Miss Elizabeth", BENNETS) == [("Miss Elizabeth", "Elizabeth Bennet")]
    assert linked("Then came Miss", BENNETS) == []


def test_particles_alone_are_no_name():
    text = "The Bishop of St. Andrews was fond of his house , and of tea ."
    assert linked(text, ["Bishop of St. Andrews"]) == [("Bishop of St. Andrews", "Bishop of St. Andrews")]


@pytest.mark.parametrize(
    ("text", "cast", "expected"),
    [
        (
            "the Queen shouted . then the Queen of Hearts laughed at the queen and the Queen of Spain .",
            ["Queen of Hearts", "Alice"],
            [("Queen", "Queen of Hearts"), ("Queen of Hearts", "Queen of Hearts")],
        ),
        ("then the Hatter ran after a hatter .", ["The Mad Hatter"], [("Hatter", "The Mad Hatter")]),
        ("then the Prince left .", ["Prince of Wales", "Prince Hal"], []),
        (
            "then the Bishop of St. Andrews left St. Andrews and the heart of town .",
            ["Bishop of St. Andrews"],
            [("Bishop of St. Andrews", "Bishop of St. Andrews")],
        ),
        ("then Wellington rode .", ["Duke of Wellington"], [("Wellington", "Duke of Wellington")]),
    ],
)
def test_short_forms_of_long_descriptions(text, cast, expected):
    assert linked(text, cast) == expected


def test_a_title_that_changes_is_an_alias():
    cast = parse_cast("Mrs. Weston; Miss Taylor\nMr. Weston\nMiss Weston")
    table = NameTable(cast)
    text = "Miss Taylor came . Mrs. Weston smiled at Miss Weston and Mr. Weston ."
    settled = table.settle(table.find(book_words(tuple(text.split()))))
    assert [cast.names[who] for who, _ in settled] == [
        "Mrs. Weston", "Mrs. Weston", "Miss Weston", "Mr. Weston",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("line", "family"),
    [
        ("Margaret; Meg; Miss Schlegel", "schlegel"),
        ("Evie; Mrs. Cahill; Miss Wilcox", "wilcox"),
        ("Aunt Juley; Mrs. Munt", "munt"),
        ("Anne; Anne Elliot; Miss Anne", "elliot"),
        ("Anne; Miss Anne", ""),
    ],
)
def test_the_surname_may_stand_in_another_name_only(line, family):
    (entry,) = parse_cast(line).entries
    assert take_apart(entry).family == family


def test_a_nickname_before_another_surname_is_somebody_else(annotate, said):
    text = (
        "Queen Elizabeth was dead. Eliza Michelson spoke to Mrs. Pole. Mrs. Pole heard Eliza Michelson. "
        "Then Eliza Michelson went home."
    )
    assert said(annotate(text, "Queen Elizabeth\nMrs. Pole\n"))["Queen Elizabeth"] == ["Queen Elizabeth"]
    text = (
        "Elizabeth Bennet ran. Lizzy Bennet laughed. Then Lizzy Smith came, and Lizzy smiled at Jane Bennet."
    )
    found = said(annotate(text, "Elizabeth Bennet\nJane Bennet\n"))["Elizabeth Bennet"]
    assert found == ["Elizabeth Bennet", "Lizzy Bennet", "Lizzy"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Then Sherlock Holmes laughed.", "Sherlock Holmes"),
        ("They sent for poor Holmes.", "Holmes"),
        ("At last Holmes peeped out.", "Holmes"),
        ("It was blue when first Holmes saw it.", "Holmes"),
        ("They sent for the late Mr. Holmes.", "the late Mr. Holmes"),
    ],
)
def test_a_name_reaches_over_all_its_words(annotate, said, text, found):
    assert said(annotate(f"{text} He was tired.", "Holmes [m]\n"))["Holmes"][0] == found


def test_people_of_whose_names_the_book_has_no_word_have_no_forms():
    cast = make_cast([*BENNETS, "Hugo Brandt", "The Old Ferryman", "Princess of Thule"])
    words = book_words(("Miss", "Lizzy", "met", "an", "old", "man", "of", "Thule", "."))
    here = {who for ranks in NameTable(cast, words).forms.values() for who in ranks}
    assert here == {3, 6, 7}
    assert {who for ranks in NameTable(cast).forms.values() for who in ranks} == {*range(8)}


def test_the_words_of_a_book_are_shared_and_go_when_the_backend_is_closed():
    """A novel of 700,000 tokens kept as many small texts, also while its annotation was written."""
    words = book_words(("Ann", "met", "Ann", "."))
    assert words.text[0] is words.text[2]
    EmbeddedBackend(default_plan("embedded")).close()
    assert book_words.cache_info().currsize == 0


@pytest.mark.parametrize(("dave", "who"), [("Dave", "Dunston Porter"), ("Dave Porter", "Dave Porter")])
def test_mr_and_a_surname_is_not_who_goes_by_a_first_name_in_the_same_family(dave, who):
    """The uncle was the boy at 8 of 10 places of one novel, where the boy is named all the time."""
    text = f"Dunston Porter sat . {(dave + ' ran . ') * 12}Then Mr. Porter came ."
    assert linked(text, ["Dave Porter", "Dunston Porter"])[-1] == ("Mr. Porter", who)


def test_a_name_that_begins_with_the_gives_way_to_one_that_goes_on_behind_it(annotate):
    """Two people had one and the same phrase."""
    cast = "Alexander Semple; Elder Semple; the Elder\nNeil Semple; Neil; Mr. Semple\nAnna Hill"
    text = "Neil Semple met Anna Hill. She wrote to the Elder Semple. Semple went. The Elder laughed."
    done = annotate(text, cast)
    spans = [(m.start, m.end) for m in done.state.mentions]
    assert len(spans) == len({*spans})
    assert [done.book.text_of(m) for m in done.book.characters[0].mentions] == [
        "the Elder Semple",
        "The Elder",
    ]
