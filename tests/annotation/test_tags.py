"""Who is the subject of the words that lead to a quote or follow it."""

from __future__ import annotations

import pytest

from bookcoref_data.annotation.cast import parse_cast
from bookcoref_data.annotation.embedded.parsing import parse_book
from training.parses import link_text

CAST = parse_cast("Anna Hill [f]\nMr. Ford\nMay Archer [f]\n")


@pytest.fixture(scope="module")
def subject_of(book_of):
    """Text -> the words of the subject of its first tag, None without one."""

    def find(text: str) -> str | None:
        book = book_of(text)
        read = link_text(book, CAST, parse_book(book))
        subjects = [tag.subject for tag in read.tags if tag.subject >= 0]
        m = read.markables[subjects[0]] if subjects else None
        return " ".join(book.tokens[m.start : m.end + 1]) if m else None

    return find


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("“It is late!” he cried.", "he"),
        ("“It is late,” snarled the ex-convict.", "the ex - convict"),
        ("“It is late,” put in Mr. Ford.", "Mr. Ford"),
        ("“It is late,” cried out Mr. Ford.", "Mr. Ford"),
        ("“It is late,” opined Mr. Ford.", "Mr. Ford"),
        ("“It is late,” May Archer brightly agreed.", "May Archer"),
        ("“It is late,” said the other, in a low voice.", "the other"),
        ("“It is late,” said the voice.", "the voice"),
        ("“Just so,” rejoined the other, nodding his head.", "the other"),
        ("“It is late,” drawled the smoker.", "the smoker"),
        ("“It is late!” cried the persevering Anna Hill.", "Anna Hill"),
        ("“Not a word,” replied the other.", "the other"),
        ("“It is late --” he brought out.", "he"),
        ("“Is it late?” he leaned over and whispered to her.", "he"),
        ("He called it “the Thing!” he had always feared.", None),
        ("“It is late,” said Anna Hill’s young man.", "Anna Hill ’s young man"),
        ("“It is late,” said Anna Hill’s benefactress.", "Anna Hill ’s benefactress"),
        ("“It is late,” was Anna Hill’s explanation.", "Anna Hill"),
        ("“It is late”, was Anna Hill’s reply.", "Anna Hill"),
        ("“It is late,” came Anna Hill’s voice.", "Anna Hill"),
        ("Then, after an interval, came Anna Hill’s voice: “It is late.”", "Anna Hill"),
        ("“It is late.” Her voice rose.", None),
        ("“It is late.” Anna Hill said what was proper.", None),
        ("Here they sat.\n\nAnna Hill said what was proper, and asked after him. “It is late.”", None),
        ("Here they sat.\n\nAnna Hill asked after her husband. “It is late.”", None),
        ("Here they sat.\n\nMr. Ford spoke of the sea. “It is late.”", None),
        ("Here they sat.\n\nAnna Hill said it softly. “It is late.”", "Anna Hill"),
        ("“It is late!” Anna Hill said.", "Anna Hill"),
        ("“It is late.” To point his criticism the bell rang.", None),
        ("She, turning her eyes upon Mr. Ford, said, “It is late.”", "She"),
        ("He was unwise enough to reply, “It is late.”", "He"),
        ("Mr. Ford came in, calling out, “It is late.”", "Mr. Ford"),
        ("“It is late,” said one of the men.", None),
        ("Mr. Ford looked at him for a moment, and then said abruptly: “It is late.”", "Mr. Ford"),
        ("They spoke to Anna Hill, who could only exclaim, “It is late.”", "Anna Hill"),
        ("“It is late”; said Mr. Ford.", "Mr. Ford"),
        ("“It is late,” said Mr. Ford looking round.", "Mr. Ford"),
        ("Mr. Ford took the opportunity of saying, “It is late.”", "Mr. Ford"),
        ("Mr. Ford followed him to say, “It is late.”", "Mr. Ford"),
        ("When Mr. Ford said, “It is late,” she had no answer.", "Mr. Ford"),
        ("He asked for it, and Mr. Ford said: “Go, it is late;” and he went away.", "Mr. Ford"),
        ("Here they sat.\n\nMr. Ford began again. “It is late.”", "Mr. Ford"),
        ("“It is late,” said Mr. Ford’s voice behind him.", "Mr. Ford"),
        ("“It is late,” was loudly whispered by Anna Hill.", "Anna Hill"),
        ("“It is late,” said he in the voice of Mr. Ford.", "he"),
        ("“It is late,” said nobody.", None),
        ("“It is late.” Mr. Ford took his hat.", None),
        ("Mr. Ford was angry and muttered, “It is late.”", "Mr. Ford"),
        ("He was determined to see Anna Hill alone, and said in a low voice, “It is late.”", "He"),
        ("“It is late,” from Anna Hill.", "Anna Hill"),
        ("A spirit of pity moved Anna Hill to rejoin: “It is late.”", "Anna Hill"),
        ("He permitted himself to say to Anna Hill: “It is late.”", "He"),
        ("Anna Hill ended her letter with, “It is late.”", "Anna Hill"),
        ("“It is late,” was another of his remarks.", "his"),
        ("Anna Hill sat there, holding her head and moaning, “It is late.”", "Anna Hill"),
        ("“It is late,” said the voice of Mr. Ford.", "Mr. Ford"),
        ("“It is late,” called the shattered voice of Anna Hill.", "Anna Hill"),
        ("Then the voice of Anna Hill was heard saying: “It is late.”", "Anna Hill"),
        ("“It is late!” burst from Mr. Ford, with a nervous laugh.", "Mr. Ford"),
        ("“It is late!” came from Anna Hill’s tight lips.", "Anna Hill"),
        ("“It is late!” from Mr. Ford, who thought it amusing.", "Mr. Ford"),
        ("“It is late!” came from the hall.", None),
        ("“It is late!” from the top of the stairs.", None),
        ("“It is late!” came from his chair.", None),
        ("“It is late!” came", None),
        ("“It is late,” was the firm reply of Mr. Ford.", "Mr. Ford"),
        ("“It is late!” It was Anna Hill who spoke.", "Anna Hill"),
        ("“It is late!” It was Anna Hill who left.", None),
        ("“Oh, is it late?” Before Anna Hill could answer he came in.", None),
        ("“Guess why.” And he looked so pale that Anna Hill could exclaim but one word.", None),
        ("“It is late.” When Mr. Ford replied, the train had left.", None),
        (
            "Anna Hill, going to the gable, where May Archer stood at her door, said gently: “It is late.”",
            "Anna Hill",
        ),
        (
            "And Mr. Ford, leaning back in his chair and pushing the port westward, said, spreading his back "
            "agreeably to the coal fire behind him: “It is late.”",
            "Mr. Ford",
        ),
        (
            "The door was thrown open, and Anna Hill, appearing at it, with a face all aghast, exclaimed, "
            "“It is late.”",
            "Anna Hill",
        ),
        (
            "Nothing would rouse him, until at last Anna Hill, getting more angry, said, “It is late.”",
            "Anna Hill",
        ),
        ("Anna Hill, watching May Archer, who was crying, said, “It is late.”", "Anna Hill"),
        ("After a talk with Anna Hill, May Archer, smiling at last, said, “It is late.”", "May Archer"),
        ("Mr. Ford, in his best coat, came in, and Anna Hill, rising, said, “It is late.”", "Anna Hill"),
        ("Mr. Ford, in his best coat, turned to Anna Hill, who, smiling, said, “It is late.”", "Anna Hill"),
        ("Mr. Ford roused himself to say: “It is late.”", "Mr. Ford"),
        ("She spoke in order that Mr. Ford might follow it: “It is late.”", "She"),
    ],
)
def test_the_subject_of_a_tag_is_found(subject_of, text, subject):
    assert subject_of(text + "\n") == subject


def test_who_is_described_in_a_tag_has_no_name_there(book_of):
    """ "The Captain" is a noun phrase, also with a capital: whom it means is asked of the ranker."""
    book = book_of("“It is late,” said the Captain.\n")
    read = link_text(book, CAST, parse_book(book))
    subject = read.markables[read.tags[0].subject]
    assert (subject.text, subject.kind, subject.definite) == ("the captain", "nominal", "the")


@pytest.fixture(scope="module")
def subjects_of(book_of):
    """Text -> the words of the subject of each of its tags, None where a quote has none."""

    def find(text: str) -> list[str | None]:
        read = link_text(book := book_of(text), CAST, parse_book(book))
        subjects = [read.markables[t.subject] if t.subject >= 0 else None for t in read.tags]
        return [" ".join(book.tokens[m.start : m.end + 1]) if m else None for m in subjects]

    return find


@pytest.mark.parametrize(
    ("text", "subjects"),
    [
        ("“May,” cried Mr. Ford, from the other table, “we want you.”", ["Mr. Ford", None]),
        ("“I hope,” said Mr. Ford, when Anna Hill returned, “that you are well.”", ["Mr. Ford", None]),
        ("“My dear May,” added Anna Hill, “I have no time.”", ["Anna Hill", None]),
        ("“Sit down,” said Mr. Ford, and Anna Hill said, “Thank you.”", ["Mr. Ford", "Anna Hill"]),
        ("“Sit down,” said Mr. Ford. Then Anna Hill said, “Thank you.”", ["Mr. Ford", "Anna Hill"]),
    ],
)
def test_a_sentence_that_a_tag_breaks_into_has_one_tag(subjects_of, text, subjects):
    assert subjects_of(f"Here they sat.\n\n{text}\n") == subjects


def test_where_paragraphs_are_guessed_both_parts_of_a_sentence_have_its_tag(subjects_of):
    text = "“May,” cried Mr. Ford, from the other table, “we want you.”\n"
    assert subjects_of(text) == ["Mr. Ford", "Mr. Ford"]


@pytest.mark.parametrize(
    ("text", "subjects"),
    [
        ("He began. “It is late.”", ["He"]),  # the very first words of a book
        ("Here. “It is late.”", [None]),
        ("“It is late.”", [None]),
        ("He began. “It is late.”\n\nAnna Hill sat down.\n\n“It is.”", ["He", None]),
        # The sentence before stands in another paragraph.
        ("He began.\n\n“It is late.”", [None]),
    ],
)
def test_a_short_sentence_before_a_quote_in_the_same_paragraph_is_its_tag(subjects_of, text, subjects):
    assert subjects_of(f"{text}\n\nHere they sat.\n") == subjects


def test_you_is_never_the_one_who_says_it(annotate, said):
    text = (
        "Anna Hill sat alone in the room, and Anna Hill spoke to her glass.\n\n"
        "“You are late, and you know it,” said Anna Hill.\n"
    )
    texts = said(annotate(text, "Anna Hill [f]\nMr. Ford\n"))
    assert not {"You", "you"} & set(texts["Anna Hill"])


def test_you_in_dialect_is_whoever_is_spoken_to(annotate, said):
    text = "Anna Hill and Mr. Ford sat there.\n\n“Anna Hill, are yer ill? Yer hand is cold,” said Mr. Ford.\n"
    assert {"yer", "Yer"} <= set(said(annotate(text, "Anna Hill [f]\nMr. Ford\n"))["Anna Hill"])


@pytest.mark.parametrize("word", ["sir", "lady", "mistress"])
def test_plain_vocatives_mean_you(book_of, word):
    book = book_of(f"“Sit down, {word},” said Mr. Ford.\n")
    read = link_text(book, CAST, parse_book(book))
    assert [m.person for m in read.markables if m.noun == word] == [2]
