"""The clause of a pronoun: its verb, the verbs above it, and those beside it, on parses made by hand; and
what the model reads of clauses about nobody in particular."""

from __future__ import annotations

import numpy as np
import pytest

from bookcoref_data.annotation.cast import parse_cast
from bookcoref_data.annotation.embedded.clauses import NO_CLAUSE, Clause, clause_of, is_heard
from bookcoref_data.annotation.embedded.markables import OTHER, POSSESSIVE, Markable
from bookcoref_data.annotation.embedded.network import load_rankers
from bookcoref_data.annotation.embedded.parsing import Parse, parse_book
from bookcoref_data.annotation.embedded.reader import OneReading
from bookcoref_data.books import Book
from training.parses import link_text


def parsed(*rows: tuple[str, int, str, str]) -> tuple[list[str], Parse]:
    """One sentence: (word, token that governs it, tag, relation) for each token."""
    words, head, tag, dep = map(list, zip(*rows, strict=True))
    governs = np.array(head, np.int32)
    none = np.zeros(len(words), np.int32)
    return words, Parse(governs, tag, dep, none, none, none, "by hand")


def clause(sentence: tuple[list[str], Parse], word: str, role: int = OTHER) -> Clause:
    words, parse = sentence
    at = words.index(word)
    return clause_of(parse, Markable(at, at, at, "pronoun", 3, "f", role, text=word))


# She said that he had left and that they wept.
SAID = parsed(
    ("she", 1, "PRP", "nsubj"), ("said", 1, "VBD", "ROOT"), ("that", 5, "IN", "mark"),
    ("he", 5, "PRP", "nsubj"), ("had", 5, "VBD", "aux"), ("left", 1, "VBN", "ccomp"),
    ("and", 5, "CC", "cc"), ("they", 8, "PRP", "nsubj"), ("wept", 5, "VBD", "conj"),
)  # fmt: skip
# Mary heard her sing in his house.
HEARD = parsed(
    ("Mary", 1, "NNP", "nsubj"), ("heard", 1, "VBD", "ROOT"), ("her", 3, "PRP", "nsubj"),
    ("sing", 1, "VB", "ccomp"), ("in", 3, "IN", "prep"),
    ("his", 6, "PRP$", "poss"), ("house", 4, "NN", "pobj"),
)  # fmt: skip


@pytest.mark.parametrize(("word", "found"), [
    ("she", Clause(1, (), (), True)),
    ("he", Clause(5, (1,), (), False)),
    ("they", Clause(8, (1,), (5,), False)),
])  # fmt: skip
def test_verbs_above_and_beside(word, found):
    assert clause(SAID, word) == found


def test_who_is_heard_is_an_object_of_the_verb_above():
    assert is_heard(HEARD[1], Markable(2, 2, 2, "pronoun", 3, "f", OTHER, text="her"))
    assert not is_heard(HEARD[1], Markable(2, 2, 2, "pronoun", 3, "f", OTHER, text="she"))
    assert clause(HEARD, "her") == Clause(1, (), (), True)


def test_an_owner_stands_in_the_clause_of_what_is_owned():
    assert clause(HEARD, "his", POSSESSIVE) == Clause(3, (1,), (), False)
    assert clause(HEARD, "Mary").verb == 1


@pytest.mark.parametrize(("tag", "role", "verb"), [
    ("NN", POSSESSIVE, 1), ("IN", POSSESSIVE, 1), ("JJ", POSSESSIVE, -1), ("NN", OTHER, -1),
])  # fmt: skip
def test_an_owner_of_an_owner_stands_in_the_clause_of_what_is_owned(tag, role, verb):
    """He saw her friend's dog."""
    rows = [("he", 1, "PRP", "nsubj"), ("saw", 1, "VBD", "ROOT"), ("her", 3, "PRP$", "poss"),
            ("friend", 4, "NN", "poss"), ("dog", 1, tag, "dobj")]  # fmt: skip
    assert clause(parsed(*rows), "her", role).verb == verb


def test_without_a_verb_there_is_no_clause():
    assert clause(parsed(("oh", 1, "UH", "intj"), ("he", 1, "PRP", "ROOT")), "he") == NO_CLAUSE


def pronouns_that_refer(sentence: str) -> list[str]:
    """The pronouns for one person that may mean somebody, in a sentence that is read with the model."""
    book = Book.make("b", [sentence.split()])
    text = link_text(book, parse_cast("Anna Hill\nMartin Hill"), parse_book(book))
    return [m.text for m in text.markables if m.kind == "pronoun" and m.person == 3]


@pytest.mark.parametrize("sentence", [
    "Every animal followed Martin to his stall .",
    "Each girl has to read her story .",
    "No servant should speak of his master .",
    "Any man who sells his horse is a fool .",
    "Every soldier rose and drew his sword .",
    "A man must defend his house .",
    "A woman never forgets her children .",
    "A man should look before he leaps .",
    "Anybody may deceive himself .",
    "One deceives himself .",
    "Man trusts his reason .",
])  # fmt: skip
def test_a_pronoun_may_mean_nobody_in_particular(sentence):
    assert pronouns_that_refer(sentence) == []


@pytest.mark.parametrize(("sentence", "pronouns"), [
    ("Anna said that every animal followed him .", ["him"]),
    ("Nobody knew his name .", ["his"]),
    ("Everybody admired her eyes .", ["her"]),
    ("A man came and took off his hat .", ["his"]),
    ("The man trusts his reason .", ["his"]),
    ("No woman had looked so in her bonnet .", ["her"]),
    ("Every servant obeyed her brother , and every man loved her .", ["her", "her"]),
    ("One could see his face .", ["his"]),
    ("Martin must defend his house .", ["his"]),
    ("Every letter was burned by his order .", ["his"]),
])  # fmt: skip
def test_a_pronoun_beside_everybody_may_mean_somebody(sentence, pronouns):
    assert pronouns_that_refer(sentence) == pronouns


NEWCOMER = "Anna Hill sat by the fire with Tom Ford. Anna laughed. A woman came in. "


@pytest.mark.parametrize(
    "told",
    [
        "She took Anna's hand.", "She looked at Anna, and laughed.", "She wished that Anna would go.",
        "She laughed when Anna saw the fire.", "Anna spoke to her.", "Anna saw her at once.",
        "Anna gave her a chair.", "“Good evening,” said Anna to her.", "“She likes Anna,” said Tom.",
    ],
)  # fmt: skip
def test_who_is_named_in_the_clause_is_not_she(book_of, told):
    book = book_of(NEWCOMER + told)
    text = link_text(book, parse_cast("Anna Hill [f]\nTom Ford [m]"), parse_book(book))
    reading = OneReading(text, load_rankers())
    reading.read()
    (she,) = (i for i, m in enumerate(text.markables) if m.text in ("she", "her"))
    assert reading.entity[she] >= reading.state.cast
    assert reading.state.nouns[reading.entity[she]] == {"woman"}


@pytest.mark.parametrize(
    "told",
    [
        "Anna looked about her.", "Anna hurt herself.", "Anna took her hat.", "When she came, Anna laughed.",
        "Anna was glad, and she laughed.",
    ],
)  # fmt: skip
def test_who_is_named_in_the_clause_may_be_she(book_of, told):
    book = book_of("Anna Hill sat by the fire with Clara Dale. Clara slept. " + told)
    text = link_text(book, parse_cast("Anna Hill [f]\nClara Dale [f]"), parse_book(book))
    reading = OneReading(text, load_rankers())
    reading.read()
    (she,) = (i for i, m in enumerate(text.markables) if m.text in ("she", "her", "herself"))
    assert 0 in reading.antecedents.candidates(she, "third", -1)
