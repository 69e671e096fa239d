"""Forms of apparatus that are rare, each with a passage of a story that looks like it and stays."""

from __future__ import annotations

import pytest

from bookcoref_data.books import Book
from bookcoref_data.books.layout import find_chapters
from bookcoref_data.text.clean import clean
from bookcoref_data.text.decode import decode

PROSE = (
    "It was a cold morning when Anna Grey walked down to the harbour and looked for the boat that her\n"
    "brother had promised to bring back before the winter, but there was nothing on the water at all,\n"
    "and she said to herself that she would wait until the evening bell was rung by old Tom Hill."
)
HEAD = (
    "The Project Gutenberg EBook of The Boat, by M. Holt\n\nTitle: The Boat\n\nAuthor: M. Holt\n\n"
    "*** START OF THIS PROJECT GUTENBERG EBOOK THE BOAT ***\n\nTHE BOAT\n\nby M. Holt\n\n"
)
TOOK = "She took the coble{} and went out to sea with it in the grey dawn, and the men looked after her."


def cleaned(passage: str) -> str:
    chapters = (f"\n\n\nCHAPTER {n}\n\n\n" + "\n\n".join([PROSE] * 4) for n in ("I", "II", "III"))
    first, *others = chapters
    body = "\n\n".join([first, passage, PROSE, *others])
    return clean(f"{HEAD}{body}\n\n*** END OF THIS PROJECT GUTENBERG EBOOK THE BOAT ***\n").text


def marked(least: int, step: int) -> str:
    words = (TOOK.format(f" (p. {least + step * n})") for n in range(12))
    return "\n\n".join(words)


@pytest.mark.parametrize(("passage", "left"), [
    (TOOK.format("[1]") + "\n\nFootnote 1: A boat of the coast.", TOOK.format("")),
    (TOOK.format("(1)") + "\n\nFOOTNOTE 1: A boat of the coast.", TOOK.format("")),
    (TOOK.format("[1]") + "\n\nFootnote 1:\n\n  A boat of the coast.", TOOK.format("")),
    ("[Plate IV]", ""),
    ("[Plate 4: The coble]", ""),
    ("[PLATE XII.]", ""),
    (marked(12, 1), "\n\n".join([TOOK.format("")] * 12)),
])  # fmt: skip
def test_what_is_no_story_goes(passage, left):
    assert cleaned(passage) == cleaned(left)


@pytest.mark.parametrize("passage", [
    "Footnote 1: nobody had ever seen the coble but old Tom Hill, and he was not one to speak of it.",
    TOOK.format("[2]") + "\n\nFootnote 1: so the paper began, and she read it to the end.",
    "Footnotes were all that he ever read in a book.",
    "He opened the book at [Plate IV] and looked for a long while at the picture of the harbour.",
    "It stood in the book, and she had coloured it with her own hand:\n[Plate IV] and below it a name.",
    "[Plates and cups stood about.]",
    "“As the vicar says in his book (p. 12), the sea is a cruel mistress,” he wrote.",
    marked(12, 3),  # a scholar cites
    "* Anna came back in the evening and sat down by the fire, and she did not say a word.",
    "*\n\nAnna came back in the evening.",
])  # fmt: skip
def test_what_only_looks_like_it_stays(passage):
    assert passage in cleaned(passage)


def test_the_line_ends_of_mainframes_are_line_ends_where_there_are_no_others():
    assert decode("One.\x85\x85Two.\x85".encode()).text == "One.\n\nTwo.\n"
    assert decode("Wait\x85 he said.\nTwo.\n".encode()).text == "Wait\x85 he said.\nTwo.\n"


def test_a_year_on_a_line_of_its_own_is_no_chapter():
    lines = ["CHAPTER I", "1807", "It began .", "1815 .", "It ended .", "12", "So it was ."]
    book = Book.make("b", [[*line.split(), "\n"] for line in lines])
    assert [title for title, _ in find_chapters(book)] == ["CHAPTER I 1807", "12"]
