"""Project Gutenberg's own words: how far they are looked for, and what they say."""

from __future__ import annotations

import pytest

from bookcoref_data.text.markers import START as START_LINE
from bookcoref_data.text.markers import (
    ebook_numbers,
    field,
    footer_start,
    is_cut_off,
    is_gutenberg,
    markup_of,
)

NAME = "Project Gutenberg"
START = "*** START OF THIS PROJECT GUTENBERG EBOOK X ***\n"
END = "*** END OF THIS PROJECT GUTENBERG EBOOK X ***\n"


def test_the_project_is_named_in_the_first_6000_or_the_last_30000_characters():
    assert is_gutenberg("x" * (6000 - len(NAME)) + NAME + "x" * 30_000)
    assert is_gutenberg("x" * 9000 + NAME + "x" * (30_000 - len(NAME)))
    assert not is_gutenberg("x" * (6001 - len(NAME)) + NAME + "x" * 30_000)
    assert not is_gutenberg("x" * 9000 + NAME + "x" * (30_001 - len(NAME)))
    assert is_gutenberg("PROJECT\n  GUTENBERG")
    assert not is_gutenberg("x" * 20)


OPENING = "*** START OF THE PROJECT GUTENBERG EBOOK"


@pytest.mark.parametrize(
    "line", [f"{OPENING} X ***", f"{OPENING}X***", f"{OPENING} X *** ", f"{OPENING} * X ***"]
)
@pytest.mark.parametrize(
    "text", ["*****", "* * * ***", "A word\n* * * ***", "a\nb\n*** ***", "PREFACE ***", ""]
)
def test_a_line_that_is_closed_ends_the_header(line, text):
    """A line of the book that ends with stars is the book's, also right below the header."""
    assert START_LINE.search(f"Title: X\n{line}\n{text}\n\nwords ***\n")[0] == line


@pytest.mark.parametrize("more", ["Y ***", "Y\nZ ***", "Y\nZ\nBY A ***"])
def test_a_long_title_takes_up_to_four_lines(more):
    assert START_LINE.search(f"{OPENING} X\n{more}\n*****\n\nwords")[0] == f"{OPENING} X\n{more}"
    assert START_LINE.search(f"{OPENING} X\n\n{more}\n")[0] == f"{OPENING} X"
    assert START_LINE.search(f"{OPENING} X\n1\n2\n3\n4 ***\n")[0] == f"{OPENING} X"


@pytest.mark.parametrize(
    "line", [END, "End of the Project Gutenberg EBook of X\n", "End of this etext of Gutenberg\n",
             "***START: FULL LICENSE***\n", "  THE FULL PROJECT GUTENBERG LICENSE\n",
             "** This file should be named x.txt\n"],
)  # fmt: skip
def test_a_footer_begins_with_the_first_of_its_lines(line):
    found = footer_start("words\n" + line + "words\n" + END)
    assert found == (6 if "this etext" not in line else len("words\n" + line + "words\n"))


def test_a_footer_is_looked_for_behind_a_place():
    text = END + "words\n" + END + "words\n"
    second = len(END + "words\n")
    assert footer_start(text) == 0
    assert footer_start(text, 1) == second
    assert footer_start(text, second) == second
    assert footer_start(text, second + 1) is None
    assert footer_start("He read of Project Gutenberg, and of the end of it.") is None
    # A line that only names the project does not hide the footer below it.
    assert footer_start("about Project Gutenberg\n" + END) == len("about Project Gutenberg\n")


def test_a_field_of_the_header_has_continuation_lines():
    header = "Title: The Lamp\n  Road\n\tand More\nAuthor: Mira Holt\nXTitle: No\n"
    assert field(header, "Title") == "The Lamp Road and More"
    assert field(header, "Author") == "Mira Holt"
    assert field(header, "Language") == ""


def test_numbers_are_read_in_the_head():
    assert ebook_numbers("[EBook #1342] and [eText # 7]") == ["1342", "7"]
    number = "[EBook #1342]"
    assert ebook_numbers("x " * 2993 + " " + number) == ["1342"]
    assert ebook_numbers("x " * 3000 + number) == []


def test_a_file_is_cut_off_when_it_has_a_start_and_no_footer_behind_it():
    assert is_cut_off(START + "\nwords\n")
    assert not is_cut_off(START + "\nwords\n\n" + END)
    assert is_cut_off(END + "\n" + START + "\nwords\n")
    assert not is_cut_off("words\n")


@pytest.mark.parametrize(
    ("text", "markup"),
    [
        ("{\\rtf1 words", "RTF"), ("words {\\rtf1", ""), ("<!DOCTYPE html>", "HTML"),
        ("\n<html lang=en>", "HTML"),
        ("<p>word</p>\n" * 6, "HTML"), ("<p>word</p>\n" * 5 + "<br>", ""), ("2 < 3 and 5 > 4\n" * 20, ""),
        ("x" * 6000 + "<html>", ""), (" " * 11_990 + "<p>word</p>\n" * 6, ""),
    ],
)  # fmt: skip
def test_files_written_in_a_markup(text, markup):
    assert markup_of(text) == markup
