"""Wives and husbands: "cried his wife" is Mrs. Thorley, not Mr. Thorley, from the first page on."""

from __future__ import annotations

import pytest

from bookcoref_data.annotation.cast import parse_cast
from bookcoref_data.annotation.embedded.kinship import find_couples
from bookcoref_data.annotation.embedded.names import take_apart


@pytest.mark.parametrize(
    ("cast", "couples"),
    [
        (["Mr. Thorley", "Mrs. Thorley", "Miss Thorley"], {0: 1, 1: 0}),
        (["Captain Ross", "Mrs. Ross"], {0: 1, 1: 0}),
        (["Sir Hugh Marle", "Lady Marle", "Mrs. Marle"], {0: 1, 1: 0}),
        (["John Thorley", "Mrs. John Thorley", "Mrs. Thorley", "Mr. Thorley"], {0: 1, 1: 0, 2: 3, 3: 2}),
        (["Mr. Thorley", "Mrs. Thorley", "Mr. George Thorley"], {0: 1, 1: 0}),
        (["Alice; Mrs. Thorley", "Edmund; Mr. Thorley"], {0: 1, 1: 0}),
        # A son is not the husband of Mrs. Thorley, and of two gentlemen nobody knows.
        (["Mrs. Thorley", "Edmund Thorley"], {}),
        (["Mrs. Thorley", "Mr. George Thorley", "Mr. Edmund Thorley"], {}),
        (["Mr. Thorley", "Mrs. Brade"], {}),
        (["the Thorleys", "Mrs. Thorley"], {}),
    ],
)
def test_whose_names_say_that_they_are_married(cast, couples):
    people = [take_apart(entry) for entry in parse_cast("\n".join(cast)).entries]
    assert find_couples(people) == couples


COUPLE = "Mr. Thorley\nMrs. Thorley\nMiss Lyle\nColonel Brade"
CALM = "He liked his garden, and he liked the long road that went down by the mill to the sea.\n\n"


@pytest.mark.parametrize(
    ("text", "cast", "speakers"),
    [
        (
            "Mr. Thorley came in.\n\n“The hens are gone,” he said.\n\n“Gone!” cried his wife. “All of them?”",
            COUPLE, "Mr. Thorley, Mrs. Thorley, Mrs. Thorley",
        ),
        (
            f"Mr. Thorley was a man of fifty.\n\n{CALM * 6}“Wipe your boots,” said his lady.\n\n"
            "“I have wiped them,” said he.",
            COUPLE, "Mrs. Thorley, Mr. Thorley",
        ),
        (
            "Mr. Thorley and Miss Lyle came up the path. “Where is your garden?” asked Miss Lyle.\n\n“Behind "
            "the house,” said Mr. Thorley.\n\n“And full of weeds,” added his wife.\n\nMiss Lyle laughed.",
            COUPLE, "Miss Lyle, Mr. Thorley, Mrs. Thorley",
        ),
        (
            "Mrs. Thorley poured the tea for Colonel Brade. “There is no sugar,” said her husband.\n\n"
            "“I take none,” said Colonel Brade.",
            COUPLE, "Mr. Thorley, Colonel Brade",
        ),
        (
            "“I will not have it,” said Mr. Thorley’s wife.\n\n“My dear,” said Mr. Thorley, “you must.”",
            COUPLE, "Mrs. Thorley, Mr. Thorley, Mr. Thorley",
        ),
        (
            "“Not in here,” said the wife of Captain Ross.\n\n“No, my love,” said Captain Ross.",
            "Captain Ross\nMrs. Ross", "Mrs. Ross, Captain Ross",
        ),
        (
            "Mr. Thorley smoked.\n\n“Somebody is at the door,” whispered his better half.\n\n“Let them "
            "knock,” said Mr. Thorley.",
            COUPLE, "Mrs. Thorley, Mr. Thorley",
        ),
        (
            "Mrs. Thorley pulled off her boots.\n\n“They want mending,” observed her spouse.\n\n“They do,” "
            "said Mrs. Thorley.",
            COUPLE, "Mr. Thorley, Mrs. Thorley",
        ),
        (
            "Lord Marle was reading.\n\n“Put out the light,” commanded his wife.\n\n“One page more,” begged "
            "Lord Marle.",
            "Lord Marle\nLady Marle", "Lady Marle, Lord Marle",
        ),
        (
            "Mr. John Thorley drove home.\n\n“You have been long,” said his wife.\n\n“The roads are bad,” "
            "said Mr. John Thorley.\n\nMrs. Thorley, his mother, lived at Upton.",
            "Mr. John Thorley\nMrs. John Thorley\nMrs. Thorley", "Mrs. John Thorley, Mr. John Thorley",
        ),
        # Nobody is his own mother, and a wife whom the cast does not have is nobody of it.
        (
            "Lucy ran down to the hall.\n\n“Is he come?” asked Lucy.\n\n“He is not,” said her mother.",
            "Lucy", "Lucy, None",
        ),
        (
            "Mr. Thorley came in.\n\n“The hens are gone,” he said.\n\n“Gone!” cried his wife.",
            "Mr. Thorley\nColonel Brade", "Mr. Thorley, None",
        ),
    ],
)  # fmt: skip
def test_his_wife_and_her_husband_are_those_of_the_name(annotate, quotes_of, text, cast, speakers):
    found = [str(speaker) for _, speaker, _ in quotes_of(annotate(text + "\n", cast))]
    assert ", ".join(found) == speakers


def test_who_married_again_is_believed_before_the_title(annotate, quotes_of):
    text = (
        "Mr. Thorley was a widower now. Harriet Brade, his wife, was young. Harriet Brade loved him.\n\n“It "
        "is cold,” said Mr. Thorley.\n\n“It is,” said Harriet Brade, his wife.\n\n“Is there no fire?” he "
        "asked.\n\n“There is none,” said his wife.\n"
    )
    done = annotate(text, "Mr. Thorley\nMrs. Thorley\nHarriet Brade")
    assert [speaker for _, speaker, _ in quotes_of(done)][-1] == "Harriet Brade"
