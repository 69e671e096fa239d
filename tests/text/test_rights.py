"""Whose text may be fingerprinted: what headers and catalogue records say."""

import pytest

from bookcoref_data.text.decode import decode
from bookcoref_data.text.rights import header_says_free, record_says_free

MODERN = (
    "This eBook is for the use of anyone anywhere\nat no cost and with almost no restrictions whatsoever."
)
OLD = "Welcome To The World of Free Plain Texts\nThis is a Project Gutenberg Etext of a public\ndomain"


@pytest.mark.parametrize(
    "head", [MODERN, MODERN.replace(" anyone ", "\nanyone "), OLD, "rights given up (CC0 1.0)"]
)
def test_a_header_that_gives_the_text_to_everybody_is_free(head):
    assert header_says_free(head + "\n\nChapter 1")


@pytest.mark.parametrize(
    "head",
    ["", "Chapter 1", MODERN + "\n*** This is a COPYRIGHTED Project Gutenberg eBook, Details Below ***",
     "x" * 20_000 + MODERN],
)  # fmt: skip
def test_no_word_of_it_or_a_copyright_notice_is_not_free(head):
    assert not header_says_free(head)


def test_records_of_the_catalogue_say_it_too():
    record = "<pgterms:ebook><dcterms:rights>{}</dcterms:rights></pgterms:ebook>"
    assert record_says_free(record.format("Public domain in the USA.")) is True
    assert record_says_free(record.format("Copyrighted. Read the copyright notice.")) is False
    assert record_says_free("<rdf/>") is None


def test_every_text_of_the_mirror_is_known_to_be_free(shared_data):
    texts = sorted((shared_data / "gutenberg/cache/epub").glob("*/pg*.txt"))
    assert len(texts) == 52
    assert [p.name for p in texts if not header_says_free(decode(p.read_bytes()[:20_000]).text)] == []
