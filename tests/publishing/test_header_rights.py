"""Whose text is free: what headers and catalogue records say, and a hundred that only seem to."""

from pathlib import Path

import pytest

from bookcoref_data.publishing.rights import header_says_free, record_says_free
from bookcoref_data.text.decode import decode

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


def test_records_of_the_catalogue_say_it_too():
    record = "<pgterms:ebook><dcterms:rights>{}</dcterms:rights></pgterms:ebook>"
    assert record_says_free(record.format("Public domain in the USA.")) is True
    assert record_says_free(record.format("Copyrighted. Read the copyright notice.")) is False
    assert record_says_free(record.format("Public domain is not what this book is in.")) is False
    assert record_says_free("<rdf/>") is None


@pytest.mark.long
def test_every_text_of_the_mirror_is_known_to_be_free(shared_data):
    texts = sorted((shared_data / "gutenberg/cache/epub").glob("*/pg*.txt"))
    assert len(texts) == 52
    assert [p.name for p in texts if not header_says_free(decode(p.read_bytes()).text)] == []
