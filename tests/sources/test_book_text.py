"""Which files are taken for the text of a book, and which are not."""

import re

import pytest

from bookcoref_data.errors import DataError
from bookcoref_data.sources.editions import editions
from bookcoref_data.sources.gutenberg import check_book_text


def test_a_text_passes_in_every_encoding_gutenberg_uses(make_book):
    data = make_book(title="The Café at Hollow Ferry")
    text = data.decode()
    files = {
        "utf-8": data,
        "latin-1": text.encode("latin-1"),
        "mark": b"\xef\xbb\xbf" + data,
        "utf-16": text.encode("utf-16"),
    }
    texts = {check_book_text(content, "4321").text for content in files.values()}
    assert texts == {text.replace("\r\n", "\n")}


CAPTCHA = b"<!DOCTYPE html><html><head><title>Just a moment</title></head><body>" + b"Are you human? " * 5000


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda book: CAPTCHA, "web page"),
        (lambda book: b"\n\n<HTML lang='en'>" + book, "web page"),
        (lambda book: b"You have used Project Gutenberg quite a lot today.", "too short"),
        (lambda book: b"Too many requests from your network. " * 100, "too short"),
        (lambda book: book[: len(book) * 2 // 3], "cut off"),
        (lambda book: book.replace(b"#4321", b"#1342"), "another book"),
        (lambda book: b"\x1f\x8b\x08\x00" + book, "not a text file"),
        (lambda book: b"0123456789 *** " * 4000, "does not read like a book"),
        (lambda book: book + b"a" * (33 << 20), "too large"),
        (lambda book: b"", "too short"),
    ],
)
def test_what_is_not_the_book_is_refused(make_book, spoil, reason):
    check_book_text(make_book(), "4321")
    with pytest.raises(DataError, match=reason):
        check_book_text(spoil(make_book()), "4321")


def test_a_header_may_point_to_other_editions(make_book):
    data = make_book().replace(b"Title:", b"(There is an illustrated edition: eBook #42671)\r\n\r\nTitle:")
    check_book_text(data, "4321")


def test_without_a_number_the_title_must_share_a_word(make_book):
    data = make_book().replace(b"[EBook #4321]", b"")
    check_book_text(data, "4321", "The Lamp of Hollow Ferry")
    with pytest.raises(DataError, match="another book"):
        check_book_text(data, "4321", "The Count of Nowhere")


def test_a_text_without_markers_is_taken_when_it_is_long(make_book):
    story = make_book(paragraphs=400).split(b"***")[2]
    assert check_book_text(story, "4321").text.startswith("\n\nChapter 0")


@pytest.mark.long
def test_all_real_texts_pass(shared_data):
    found = editions()
    files = sorted((shared_data / "gutenberg").rglob("*.txt"))
    assert len(files) >= 52
    for path in files:
        number = re.search(r"(\d+)(?:-\d)?$", path.stem)[1]
        check_book_text(path.read_bytes(), number, found.title_of(number))
