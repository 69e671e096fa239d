"""Where speech begins and ends, mark by mark."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.bench_dialogue import without_line_ends
from bookcoref_data.annotation.embedded.quotes import (
    LONGEST_QUOTE,
    find_speech,
    marked_speech,
    with_marks_alike,
)
from bookcoref_data.books import Book
from bookcoref_data.workflows.annotate import Source


def speech(*paragraphs: str, names=None, real=True):
    """The speech of paragraphs of tokens; a token "\\n" ends each where the book has `real` line ends."""
    sentences = [[*p.split(), *(["\n"] if real else [])] for p in paragraphs]
    numbers = np.repeat(np.arange(len(sentences)), [len(s) for s in sentences])
    return find_speech(Book.make("d", sentences), numbers, names or {})


@pytest.mark.parametrize(
    ("paragraphs", "style", "spans"),
    [
        ([], "none", []),
        (["He ran ."], "none", []),
        (["“ Run , ” he said . “ Run ! ”"], "double", [(0, 3), (7, 10)]),
        (['" Run , " he said .'], "double", [(0, 3)]),
        (["“ Run . ", "“ Again . ”"], "double", [(0, 2), (4, 7)]),
        (["“ Run .", "He ran ."], "double", [(0, 2)]),
        (["“ Run . “ again . ”"], "double", [(0, 2), (3, 6)]),
        (["“ “ again ”"], "double", [(1, 3)]),
        (["He ” ran"], "none", []),
        (["“ Run", "He ran ."], "double", [(0, 1)]),
        (["‘ Run , ’ he said ."], "single", [(0, 3)]),
        (["‘ Tom ’ s hat , ’ he said ."], "single", [(0, 6)]),
        (["' Run , ' he said ."], "single", [(0, 3)]),
        (["Tom ' s hat ."], "none", []),
        (["“ Run ” “ Go ”"], "double", [(0, 2), (3, 5)]),
        (['" Run', '" Go "'], "double", [(0, 1), (3, 5)]),
        (["` ` Run , '' he said . ` ` Run ! ''"], "double", [(0, 4), (8, 12)]),
        (["` Run , ' he said . ` Run ! '"], "single", [(0, 3), (7, 10)]),
        (["„ Run , “ he said . „ Run ! “"], "double", [(0, 3), (7, 10)]),
        (["« Run , » he said ."], "double", [(0, 3)]),
        (["“ Run -- “", "“ Stay . ”"], "double", [(0, 3), (5, 8)]),
        (["« Run -- «", "« Stay . »"], "double", [(0, 3), (5, 8)]),
        (["‘ Run -- ‘", "‘ Stay . ’"], "single", [(0, 3), (5, 8)]),
        (["“ Run . ” The “ strangers ’ room ” was his “ home ” ."], "double", [(0, 3)]),
        (["“ Run . ” He said “ Run ” and ran , and “ Run ” it was ."], "double", [(0, 3), (6, 8)]),
        (["“ Run . ” A “ word or two or three more ” of it"], "double", [(0, 3), (5, 12)]),
        (
            ["“ Run . ” He ran , “ home ” , “ home . ”", "“ Run ” it was ."],
            "double",
            [(0, 3), (7, 9), (11, 14), (16, 18)],
        ),
    ],
)
def test_quotes_between_marks(paragraphs, style, spans):
    found = speech(*paragraphs)
    assert (found.style, found.spans) == (style, spans)
    inside = {i: n for n, (a, b) in enumerate(spans) for i in range(a, b + 1)}
    assert found.quote.tolist() == [inside.get(i, -1) for i in range(len(found.quote))]


@pytest.mark.parametrize(
    "marks",
    ["“ ” ‘ ’ — …", "‘ ’ “ ” – ...", "\" \" ' ' -- …", "' ' “ ” — …", "„ “ ‘ ’ ― ...", "« » ‘ ’ -- ..."],
)
def test_every_edition_has_the_same_marks_when_it_is_read(marks):
    opens, closes, opens_inside, closes_inside, dash, ellipsis = marks.split()
    apostrophe = "'" if "'" in marks else "’"
    words = (
        f"{opens} Run {dash} ran he {opens_inside} so {closes_inside} , {closes} said Tom {ellipsis} \n "
        f"{opens} Don{apostrophe}t , {closes} said she , the boys {apostrophe} aunt . \n"
    ).split(" ")
    spans = marked_speech(words, np.zeros(len(words), dtype=int))
    alike = with_marks_alike(words, spans)
    assert " ".join(alike) == (
        "\" Run -- ran he ' so ' , \" said Tom ... \n \" Don't , \" said she , the boys ' aunt . \n"
    )
    assert with_marks_alike(alike, marked_speech(alike, np.zeros(len(words), dtype=int))) == alike


def test_what_is_no_speech_keeps_no_mark_of_speech():
    words = ["—", "Run", ",", "said", "Tom", ".", "\n"]
    assert marked_speech(words, np.zeros(len(words), dtype=int)) == []
    assert with_marks_alike(words, []) == ("--", *words[1:])


@pytest.mark.parametrize(("words", "spans"), [(LONGEST_QUOTE, 1), (LONGEST_QUOTE + 1, 0)])
def test_a_quote_without_an_end_is_given_up(words, spans):
    assert len(speech("“ " + "w " * words + "”").spans) == spans


def test_paragraphs_are_those_of_line_ends_or_of_sentences():
    found = speech("He ran .", "She ran .")
    assert (found.paragraph.tolist(), found.real_paragraphs) == ([0] * 4 + [1] * 4, True)
    bare = speech("He ran .", "She ran .", real=False)
    assert (bare.paragraph.tolist(), bare.real_paragraphs) == ([0] * 3 + [1] * 3, False)
    for words, real in ((399, True), (400, False)):
        assert speech("w " * words).real_paragraphs is real


@pytest.mark.parametrize(
    ("sentences", "numbers"),
    [
        (["“ Run ! ”", "He ran ."], [1, 1, 1, 1, 2, 2, 2]),
        (["He ran .", "“ Run ! ” he said .", "He ran ."], [1] * 3 + [2] * 7 + [2] * 3),
        (["“ Run ! ”", "“ Go ! ”"], [1] * 4 + [2] * 4),
        (["“ Run ! ” “ Go ! ”", "He ran ."], [1] * 4 + [2] * 4 + [3] * 3),
        # What says who spoke belongs to the quote, and so does the next quote, unless it has its own.
        (["“ Run ! ”", "he said ."], [1] * 7),
        (["“ Run ! ”", "Tom said no ."], [1] * 8),
        (["“ Run ! ” said Tom .", "“ Go ! ”"], [1] * 11),
        (["“ Run ! ”", "said Tom .", "“ Go ! ”"], [1] * 11),
        (["“ Run ! ” said Tom .", "“ Go ! ” said Anna ."], [1] * 7 + [2] * 7),
        (["“ Run ! ” said Tom .", "“ Go . ” He said no ."], [1] * 15),
        (["“ Run ! ” said Tom " + "now " * 23 + ".", "“ Go ! ”"], [1] * 30 + [2] * 4),
        (["“ Run ! ” he said .", "w " * 60 + ".", "w " * 60 + ".", "He ran ."], [1] * 129 + [2] * 3),
    ],
)
def test_paragraphs_are_guessed_around_quotes(sentences, numbers):
    found = speech(*sentences, real=False).paragraph
    assert (np.diff(found) != 0).tolist() == (np.diff(numbers) != 0).tolist()


def test_dashes_open_speech_where_there_are_many_of_them():
    many = ["— Run , said Tom .", "— Stay — quickly .", "— Stay . — He ran .", "He ran ."] + ["— Yes ."] * 3
    found = speech(*many)
    assert found.style == "dash"
    assert found.spans[:3] == [(0, 2), (7, 11), (13, 15)]
    assert speech(*(["— Yes ."] * 5), "He ran .").style == "none"


@pytest.mark.parametrize(
    ("paragraph", "quotes"),
    [
        ("— Good morning , Tom , she said .", ["— Good morning , Tom ,"]),
        (
            "— I was , Tom said with energy . Out there with a man I fear .",
            ["— I was ,", "Out there with a man I fear ."],
        ),
        ("— Yes , said Anna , I know the place .", ["— Yes ,", "I know the place ."]),
        ("— No ! the old man cried , shaking his fist . Never !", ["— No !", "Never !"]),
        ("— Stop ! cried Mr. Ford . She ran to the gate .", ["— Stop !"]),
        (
            "— It is late , he said softly , looking up . She will not come .",
            ["— It is late ,", "She will not come ."],
        ),
        ("— Well , he said he would come .", ["— Well , he said he would come ."]),
        ("— Come in , tell me , go on .", ["— Come in , tell me , go on ."]),
        ("— Late , said Tom", ["— Late ,"]),
    ],
)
def test_tags_are_taken_out_of_speech_that_dashes_open(paragraph, quotes):
    text = [paragraph, *["— Yes ."] * 7]
    words = " / ".join(text).split()
    assert [" ".join(words[a : b + 1]) for a, b in speech(*text).spans][:-7] == quotes


def test_speaker_lines_make_a_play():
    names = {"HAMLET": 0, "THE GHOST": 1, "TOM J": 2}
    lines = [
        "HAMLET . To be .",
        "Hamlet : Or not .",
        "THE GHOST . Mark me .",
        "Hamlet . He ran .",
        "TOM J. Go .",
        "HAMLET :",
        "HAMLET . Yes .",
    ]
    found = speech(*lines, names=names)
    assert found.style == "play"
    said = [
        " ".join(" ".join([*line.split(), "/"]) for line in lines).split()[a : b + 1] for a, b in found.spans
    ]
    assert [" ".join(words) for words in said] == ["To be .", "Or not .", "Mark me .", "Go .", "Yes ."]
    assert found.spoken_by == {0: 0, 1: 0, 2: 1, 3: 2, 4: 0}
    assert speech(*lines[:4], names=names).style == "none"


def test_a_speaker_line_that_names_nobody_of_the_cast_is_speech_of_nobody_of_the_cast():
    lines = [
        "HAMLET . To be .",
        "MR. HILL . Not I .",
        "ACT I .",
        "SCENE . A hall .",
        "OLD HAMLET . Mark me .",
    ] * 3
    found = speech(*lines, names={"HAMLET": 0})
    assert found.style == "play"
    assert [found.spoken_by.get(q) for q in range(len(found.spans))] == [0, -1, None] * 3
    assert set(speech(*lines).spoken_by.values()) == {-1}


def test_the_benchmark_without_paragraphs_keeps_all_but_line_ends(book_of):
    book = book_of("“Run,” he said.\n\nHe ran.")
    assert "\n" in book.tokens
    bare = without_line_ends(Source(book)).book
    assert list(bare.tokens) == [token for token in book.tokens if token != "\n"]
    assert len(bare.sentences) == 2
