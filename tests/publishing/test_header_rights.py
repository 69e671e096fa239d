"""Whose text is free: what headers and catalogue records say, and a hundred that only seem to."""

from datetime import date
from pathlib import Path

import pytest

from bookcoref_data.publishing.rights import header_says_free, record_says_free
from bookcoref_data.text.decode import decode
from bookcoref_data.workflows.pack import record_says

GRANT = """\
This eBook is for the use of anyone anywhere at no cost and with
almost no restrictions whatsoever.  You may copy it, give it away or
re-use it under the terms of the Project Gutenberg License included
with this eBook or online at www.gutenberg.org"""
START = "*** START OF THIS PROJECT GUTENBERG EBOOK THE FERRY ***"
TRICKS = (Path(__file__).parent / "header_tricks.txt").read_text(encoding="utf-8").split("\n%%\n")


def header(grant=GRANT, more=""):
    return (
        "The Project Gutenberg EBook of The Ferry, by Mira Holt\n\n"
        f"{grant}\n\n\nTitle: The Ferry\n\nAuthor: Mira Holt\n{more}\n"
        f"Language: English\n\n{START}\n\n\nChapter 1\n"
    )


@pytest.mark.parametrize("text", [
    header(), header(GRANT + "."), header(GRANT.replace("org", "net")),
    header(GRANT.replace("anywhere at", "anywhere in the United States and most other parts of the world at")
           + ". If you are not located in the United States, you will have to check the laws of the country\n"
           "where you are located before using this eBook."),
    header(more="Credits: Produced by two people from images of the Internet Archive\n"),
    "Welcome\n\n*END*THE SMALL PRINT! FOR PUBLIC DOMAIN ETEXTS*Ver.04.29.93*END*\n\nChapter 1",
])  # fmt: skip
def test_a_header_that_gives_the_text_to_everybody(text):
    assert header_says_free(text) is True


@pytest.mark.parametrize(
    "notice",
    [
        "Copyright (C) 2003 by Mira Holt.",
        "THE FERRY\n\n(c) 1999 Mira Holt",
        "© Mira Holt, 2011\n\nAll rights reserved.",
        "Translated by Isaac Smith\n\nTranslation copyright 2002 Isaac Smith",
        "Copyright renewed 1965 by Ada Holt",
        "Mira Holt holds the copyright to this novel.",
        "Posted at Project Gutenberg with the kind permission of the author.",
    ],
)
def test_a_notice_of_today_on_the_title_page_leaves_a_grant_open(notice):
    told = header().replace("Chapter 1", f"{notice}\n\n\nChapter 1")
    assert header_says_free(told) is not True


@pytest.mark.parametrize(
    "notice",
    [
        "Copyright, 1905, by Holt & Sons\n\nAll rights reserved",
        "Copyright, 1963, by Mira Holt",
        "[Transcriber's note: (c) stands for a mark.]\n\n1905",
        "Her copyright was sold in 1905; it is 2041 years since.",
    ],
)
def test_a_notice_of_old_does_not(notice):
    assert header_says_free(header().replace("Chapter 1", f"{notice}\n\n\nChapter 1")) is True


def test_there_are_a_hundred_tricks():
    assert len(TRICKS) == len(set(TRICKS)) == 100


@pytest.mark.parametrize("number", range(len(TRICKS)))
def test_no_trick_makes_a_text_free(number):
    trick = TRICKS[number].replace("{GRANT}", GRANT).replace("{START}", START)
    assert header_says_free(trick) is not True


@pytest.mark.parametrize("more", [
    "*** This is a COPYRIGHTED Project Gutenberg eBook, Details Below ***\n",
    "This work is licensed under a Creative Commons Attribution-NonCommercial licence.\n",
    "Posted with permission of the copyright holder.\n",
])  # fmt: skip
def test_a_header_that_says_whose_the_text_is(more):
    assert header_says_free(header(more=more)) is False


WORDS = """
For use in Canada and Australia.
Public domain in Australia (the writer died in 1950).
Life+50 countries only.
This text is the property of the heirs of Mira Holt.
The rights belong to the translator.
Translated in 2015 by A. B.; all rights belong to A. B.
Reprinted by arrangement with a publisher.
By courtesy of the writer.
In the public domain in the United States from 2041.
Public domain in 2031.
Free in life+70 countries from 2028.
Protected by law.
The heirs ask you to buy the book.
Published posthumously in 1999.
Not free in the European Union.
All rights with the publisher
Alle Rechte vorbehalten.
Tous droits réservés.
Derechos reservados
Copyleft
Text Ⓒ A. B.
Rights: see below
Urheberrechtlich geschützt.
Subject to the laws of your country.
Private scan.
An orphan work.
Leased to readers of a library
Made available under a grant to schools.
A Project Gutenberg of Australia eBook
Found at gutenberg.net.au
A Faded Page eBook
CC0?
""".strip().splitlines()


@pytest.mark.parametrize("more", WORDS)
@pytest.mark.parametrize("apart", ["", "\n"])
def test_a_word_about_rights_beside_the_grant_leaves_it_open(more, apart):
    assert header_says_free(header(more=f"{apart}{more}\n")) is None


YEARS = (
    """
Release Date: March 3, 2131 [EBook #20728]
Release Date: May, 1950
Posting Date: 1.1.2131
Most recently updated: July 2, 2131
Author: Holt, Mira, 1970-
Translator: Tom Reed (born 1985)
Author: Ann Low (1850-1901) and
  Ben Low (1990\N{EN DASH})
Original publication: London: A House, 1999
""".strip()
    .replace("\n  ", "|")
    .splitlines()
)


@pytest.mark.parametrize("more", [line.replace("|", "\n  ") for line in YEARS])
def test_years_that_no_free_text_has_leave_it_open(more):
    assert header_says_free(header(more=f"{more}\n")) is None


@pytest.mark.parametrize("more", [
    "Release Date: June, 1998 [EBook #2131]\nLast updated: January 23, 2013\n",
    "Translator: Tom Reed (1890 - 1985)\nIllustrator: Ann Low, 1850-1931\n",
    "Original publication: United States: A House, 1953\n",
])  # fmt: skip
def test_years_of_old_texts_say_nothing_against_them(more):
    assert header_says_free(header(more=more)) is True


NOW = date.today().year


@pytest.mark.parametrize(("line", "year", "step"), [
    ("Release Date: {}", 1971, -1), ("Release Date: {}", NOW, 1),
    ("Author: Holt, Mira, {}-", NOW - 110, 1), ("Original publication: A House, {}", 1963, 1),
])  # fmt: skip
def test_which_is_the_first_year_that_no_free_text_has(line, year, step):
    assert header_says_free(header(more=line.format(year) + "\n")) is True
    assert header_says_free(header(more=line.format(year + step) + "\n")) is None


def test_a_record_that_names_somebody_who_may_live_says_nothing():
    record = (
        "<dcterms:rights>Public domain in the USA.</dcterms:rights><pgterms:agent>"
        "<pgterms:birthdate>1775</pgterms:birthdate></pgterms:agent><pgterms:agent>{}</pgterms:agent>"
    )
    born = '<pgterms:birthdate rdf:datatype="x">1970</pgterms:birthdate>'
    assert record_says_free(record.format(born)) is None
    dead = f"{born}<pgterms:deathdate>1999</pgterms:deathdate>"
    assert record_says_free(record.format(dead)) is True
    assert record_says_free(record.format(born).replace("Public domain in the USA", "Copyrighted")) is False


def test_titles_and_names_may_have_such_words():
    text = header().replace("The Ferry", "The Rights of Man, and the Heirs of Private Country")
    assert header_says_free(text) is True


def test_records_of_the_catalogue_say_it_too():
    record = "<pgterms:ebook><dcterms:rights>{}</dcterms:rights></pgterms:ebook>"
    assert record_says_free(record.format("Public domain in the USA.")) is True
    assert record_says_free(record.format("Copyrighted. Read the copyright notice.")) is False
    assert record_says_free(record.format("Public domain is not what this book is in.")) is False
    assert record_says_free("<rdf/>") is None
    one = record.format("Public domain in the USA.")
    assert record_says_free(one + record.format("Copyrighted.")) is False
    assert record_says_free(one + "<dcterms:rights xml:lang='en'>Copyrighted.</dcterms:rights>") is False
    assert record_says_free(f"<!--{one}-->" + record.format("Copyrighted.")) is False


def test_the_record_of_another_book_gives_nothing(tmp_path):
    record = '<pgterms:ebook rdf:about="ebooks/{}"><dcterms:rights>{}</dcterms:rights></pgterms:ebook>'
    for number, said, wanted in (
        (12, "Public domain", True),
        (13, "Public domain", None),
        (13, "Copyrighted", False),
    ):
        (tmp_path / "pg12.rdf").write_text(record.format(number, said))
        assert record_says(tmp_path / "pg12.txt") is wanted


@pytest.mark.long
def test_every_text_of_the_mirror_is_known_to_be_free(shared_data):
    texts = sorted((shared_data / "gutenberg/cache/epub").glob("*/pg*.txt"))
    assert len(texts) == 52
    assert [p.name for p in texts if not header_says_free(decode(p.read_bytes()).text)] == []
