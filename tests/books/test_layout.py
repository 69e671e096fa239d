"""Paragraphs, chapters and printed text of a book: every rule on its smallest case and one step beyond."""

from __future__ import annotations

import pytest

from bookcoref_data.books import Book
from bookcoref_data.books.annotation import Annotation, SourceText
from bookcoref_data.books.layout import TokenRange, find_chapters, find_paragraphs, join_tokens, lay_out


def book(*sentences):
    return Book.make("b", [s.split(" ") if isinstance(s, str) else list(s) for s in sentences])


def words(count, last="."):
    """A sentence of `count` tokens."""
    return ["word"] * (count - 1) + [last]


def cut(*sentences):
    return [tuple(p) for p in find_paragraphs(book(*sentences))]


def test_line_ends_close_paragraphs_where_one_token_in_400_is_one():
    assert cut(words(300, "\n"), words(100)) == [(0, 300), (300, 400)]
    # One in 401 is an accident: paragraphs are then guessed, and end after 120 tokens.
    assert cut(words(100, "\n"), words(50), words(251)) == [(0, 150), (150, 401)]


def test_only_a_token_of_nothing_but_white_space_is_a_line_end():
    assert cut(["One", "\n", "two", "a\nb", "\n\n", "three"]) == [(0, 2), (2, 5), (5, 6)]


@pytest.mark.parametrize(
    ("sentence", "heading"),
    [
        ("CHAPTER II . Alice slept .", 3),
        ("Chapter 12 Alice slept .", 2),
        ("LETTER IV. Alice slept .", 2),
        ("BOOK I : . . Alice slept .", 4),
        ("CHAPTER two . Alice slept .", 0),
        ("Chapters II . Alice slept .", 0),
        ("CHAPTER 1234 . Alice slept .", 0),
        ("Alice II . slept .", 0),
    ],
)
def test_a_heading_that_only_opens_a_sentence_is_a_paragraph_of_its_own(sentence, heading):
    tokens = [*sentence.split(" "), "\n"]
    whole = [(0, len(tokens))]
    assert cut(tokens) == ([(0, heading), (heading, len(tokens))] if heading else whole)


def test_a_heading_inside_the_text_is_cut_off_on_both_sides():
    before, inside = ["Alice", "slept", ".", "\n"], ["PART", "I", ".", "She", "woke", "."]
    assert cut(before, ["And", "on", "."], inside) == [(0, 4), (4, 7), (7, 10), (10, 13)]


def test_a_sentence_of_two_words_may_be_all_heading():
    assert cut(["CHAPTER", "II"], ["She", "\n"]) == [(0, 2), (2, 4)]
    assert cut(["CHAPTER"], ["II", "\n"]) == [(0, 3)]


def test_a_guessed_paragraph_ends_with_the_sentence_that_reaches_120_tokens():
    assert cut(words(119), words(1), words(5)) == [(0, 120), (120, 125)]
    assert cut(words(119), words(5)) == [(0, 124)]


@pytest.mark.parametrize("mark", ["“", '"', "‘", "`"])
def test_a_guessed_paragraph_begins_with_speech_once_20_tokens_stand_before_it(mark):
    speech = [mark, "Yes", "."]
    assert cut(words(20), speech) == [(0, 20), (20, 23)]
    assert cut(words(19), speech) == [(0, 22)]
    assert cut(words(20), ["Yes", mark, "."]) == [(0, 23)]
    assert cut(speech, words(4)) == [(0, 7)]


def test_a_guessed_paragraph_ends_before_and_after_a_heading_of_at_most_14_words():
    heading = ["Chapter", "II", *["word"] * 12]
    assert cut(words(5), heading, words(5)) == [(0, 5), (5, 19), (19, 24)]
    assert cut(words(5), [*heading, "word"], words(5)) == [(0, 25)]


def test_no_token_no_paragraph():
    assert cut() == []


TITLES = [
    ("CHAPTER I", True), ("Chapter the First", True), ("The Second Book", True), ("Chapter One", True),
    ("Letter 4", True), ("XIV", True), ("XIV .", True), ("12", True), ("Prologue", True),
    ("Third Part", True), ("Chapter", False), ("Bookends I", False), ("Mild", False), ("Did .", False),
    ("Chapter mild", False), ("VIIII", True), ("cclxxxiv", True), ("I am here", False),
]  # fmt: skip


@pytest.mark.parametrize(("line", "is_title"), TITLES)
def test_what_is_a_heading(line, is_title):
    found = find_chapters(book([*line.split(" "), "\n"], ["She", "came", ".", "\n"]))
    assert [start for _, start in found] == ([0] if is_title else [])


def lines(*texts):
    return book(*([*text.split(" "), "\n"] for text in texts))


def test_a_short_line_below_a_heading_belongs_to_its_title():
    assert find_chapters(lines("CHAPTER I", "The Pool of Tears", "She came .")) == (
        ("CHAPTER I The Pool of Tears", 0),
    )


@pytest.mark.parametrize(
    "line",
    ["She came .", "She came !", "“ Who", '" Who', "‘ Who", "Who ”", "Dear me ,", " ".join(["Who"] * 15)],
)
def test_a_line_of_prose_below_a_heading_does_not(line):
    assert find_chapters(lines("CHAPTER I", line)) == (("CHAPTER I", 0),)


def test_a_title_takes_one_line_and_14_words_at_most():
    fourteen = " ".join(["Who"] * 14)
    assert find_chapters(lines("CHAPTER I", fourteen, "A Second Line")) == ((f"CHAPTER I {fourteen}", 0),)


def test_two_headings_in_a_row_and_one_at_the_end_are_all_found():
    found = find_chapters(lines("BOOK I", "CHAPTER I", "She came .", "CHAPTER II"))
    assert found == (("BOOK I", 0), ("CHAPTER I", 3), ("CHAPTER II", 10))


def test_chapters_hold_the_paragraphs_up_to_the_next_heading_and_text_before_the_first_has_no_title():
    made = lay_out(Annotation(lines("She slept .", "CHAPTER I", "She woke .", "CHAPTER II")))
    assert [(c.title, c.start, c.end, len(c.paragraphs)) for c in made.chapters] == [
        ("", 0, 4, 1), ("CHAPTER I", 4, 11, 2), ("CHAPTER II", 11, 14, 1),
    ]  # fmt: skip
    assert list(made.paragraphs) == [
        TokenRange(0, 4),
        TokenRange(4, 7),
        TokenRange(7, 11),
        TokenRange(11, 14),
    ]


def test_chapters_that_are_given_are_taken_instead_of_headings():
    made = lay_out(Annotation(lines("One", "CHAPTER I", "Two"), chapters=(("Morning", 0), ("Noon", 6))))
    assert [(c.title, c.start, c.end) for c in made.chapters] == [("Morning", 0, 5), ("Noon", 5, 7)]


def test_a_long_text_without_chapters_is_cut_into_parts_of_6000_tokens():
    text = [words(100, "\n") for _ in range(61)]
    assert [(c.title, c.start, c.end) for c in lay_out(Annotation(book(*text))).chapters] == [
        ("", 0, 6000), ("", 6000, 6100),
    ]  # fmt: skip
    shorter = [words(100, "\n") for _ in range(59)] + [words(99, "\n"), words(100, "\n")]
    assert [(c.start, c.end) for c in lay_out(Annotation(book(*shorter))).chapters] == [(0, 6099)]


@pytest.mark.parametrize(
    ("tokens", "printed"),
    [
        ("Yes , he said ; \" No ! \" she said .", 'Yes, he said; "No!" she said.'),
        ("( an aside ) [ note ] { x }", "(an aside) [note] {x}"),
        ("“ I do n't ” , it 's Ann ’s , we 'll", "“I don't”, it's Ann’s, we'll"),
        ("mother - in - law and / or a -- b — c", "mother-in-law and/or a--b—c"),
        ("_ never _ again", "_never_ again"),
        ("it cost $ 5 or £ 6 , 7 % of # 3 …", "it cost $5 or £6, 7% of #3…"),
        ("' Tis ' he", "'Tis' he"),
        ("sink or swim 'd", "sink or swim'd"),
    ],
)  # fmt: skip
def test_tokens_are_joined_as_prose_is_printed(tokens, printed):
    parts = tokens.split(" ")
    text, starts, ends = join_tokens(parts, [TokenRange(0, len(parts))])
    assert text == printed
    assert [text[a:b] for a, b in zip(starts, ends, strict=True)] == parts


def test_paragraphs_stand_a_blank_line_apart_and_line_ends_print_nothing():
    tokens = ["One", "\n", '"', "Two", "\n\n", "Three", '"']
    text, starts, ends = join_tokens(tokens, [TokenRange(0, 2), TokenRange(2, 5), TokenRange(5, 7)])
    # A mark that a paragraph leaves open is open in this paragraph only.
    assert text == 'One\n\n"Two\n\nThree "'
    assert [text[a:b] for a, b in zip(starts, ends, strict=True)] == ["One", "", '"', "Two", "", "Three", '"']
    assert (starts[1], ends[1]) == (3, 3)


def test_the_source_text_is_shown_where_there_is_one():
    plain = book("Ann came .")
    source = SourceText("a.txt", "0" * 64, "  Ann   came.", (2, 8, 12), (5, 12, 13))
    assert (source.span(0, 1), lay_out(Annotation(plain)).original) == ((2, 12), False)
    made = lay_out(Annotation(plain, source=source))
    assert (made.original, made.slice(0, 1), made.slice(2, 2)) == (True, "Ann   came", ".")
    assert lay_out(Annotation(plain)).slice(1, 2) == "came."
