"""Where header and footer end, and how long they may be."""

from __future__ import annotations

import pytest

from bookcoref_data.errors import DataError
from bookcoref_data.text.clean import CleanSettings
from bookcoref_data.text.clean.edges import cut_edges, find_edges
from bookcoref_data.text.clean.model import Draft

START = "*** START OF THIS PROJECT GUTENBERG EBOOK X ***"
END = "*** END OF THIS PROJECT GUTENBERG EBOOK X ***"
SMALL_PRINT = "*END*THE SMALL PRINT! FOR PUBLIC DOMAIN ETEXTS*Ver.04.29.93*END*"


def between(text):
    start, end = find_edges(text)
    return text[start:end]


@pytest.mark.parametrize("line", [START, SMALL_PRINT])
def test_the_last_line_that_ends_a_header_counts(line):
    assert between(f"x\n{line}\n\ny\n\n{line}\n\nstory\n\n{END}\n") == "\n\nstory\n\n"


def test_a_file_without_either_is_all_text():
    assert find_edges("a story\n\nof old") == (0, 15)


def test_a_header_of_the_first_years_ends_with_the_last_paragraph_that_speaks_of_the_project():
    text = "A Gutenberg Etext\n\nTitle: X\n\nThis etext is free.\n\nThe story.\n\nIt goes on."
    assert between(text) == "\n\nThe story.\n\nIt goes on."


def test_a_colophon_that_names_the_project_ends_no_header():
    """A short story with such a line at its end was cut as a whole, and "100 of 23,859" was kept."""
    story = "The story goes on and on.\n\n" * 300
    text = f"Made from a Project Gutenberg text.\n\n{story}Colophon\n\nBased on a Project Gutenberg etext."
    assert between(text).strip().startswith("The story")
    assert "Colophon" in between(text)


def test_such_a_header_is_looked_for_in_25000_characters_and_a_footer_is_none():
    words = "The story.\n\n"
    free = words * 400 + "This etext is free.\n\n"
    far = free * 5 + "This etext is dear.\n\n" + words
    assert far.index("This etext is dear") < 25_000
    assert far[: find_edges(far)[0]].endswith("This etext is dear.")
    far = free * 5 + words * 100 + "This etext is dear.\n\n" + words
    assert far.index("This etext is dear") > 25_000
    assert far[: find_edges(far)[0]].endswith("This etext is free.")
    footer = f"{words}End of the Project Gutenberg Etext of X\n"
    assert between(footer) == words


def refused(text, **settings):
    draft = Draft(text)
    try:
        cut_edges(draft, CleanSettings(**settings))
    except DataError as error:
        return error.what
    return ""


def test_a_header_may_have_25000_characters_or_a_tenth_of_the_file():
    head = "h" * (25_000 - len(START) - 1) + "\n" + START
    story = "\n\n" + "s" * 1000 + "\n\n"
    assert refused(head + story + END) == ""
    assert refused("h" + head + story + END) == "cleaning would take too much (header)"
    assert refused("h" + head + "\n\n" + "s" * 250_000 + "\n\n" + END) == ""
    assert refused("h" + head + story + END, guard=False) == ""


def test_a_footer_may_have_60000_characters_or_a_tenth_of_the_file():
    opening = START + "\n\n" + "s" * 1000 + "\n\n"
    footer = END + "\n" + "f" * (60_000 - len(END) - 1)
    assert refused(opening + footer) == ""
    assert refused(opening + footer + "f") == "cleaning would take too much (footer)"
    assert refused(START + "\n\n" + "s" * 600_000 + "\n\n" + footer + "f") == ""


@pytest.mark.parametrize("gap", [" ", "\u2028", "\n"])
def test_a_file_whose_paragraphs_were_lost_is_refused(gap):
    """Its header has no end: the first 25,000 characters of the tale would go with it."""
    whole = "\n\n".join([START, *["So Ada went down to the mill that day."] * 2000, END])
    lost = whole.replace("\n\n", gap).replace("*** START", "The *** START")
    assert refused(lost) == "the header does not end"
    assert refused(lost, guard=False) == ""


def test_two_books_are_named_by_seventy_characters_of_their_headers():
    lines = [f"*** START OF THIS PROJECT GUTENBERG EBOOK {'X' * n} ***" for n in (24, 25, 60)]
    for line in lines:
        with pytest.raises(DataError) as caught:
            cut_edges(Draft(f"{line}\n\none\n\n{END}\n\n{line}\n\ntwo\n\n{END}"), CleanSettings())
        assert caught.value.found.startswith(f"{line[:70]!r} at 0; {line[:70]!r} at ")
    assert [len(line) for line in lines[:2]] == [70, 71]


def test_two_headers_far_apart_are_two_books():
    def two(gap):
        return f"{START}\n\n{'s' * gap}\n\n{START}\n\n{'m' * 300_000}\n\n{END}"

    assert refused(two(24_996)) == ""
    assert refused(two(24_997)) == "the file holds 2 books"
    assert refused(f"{START}\n\none\n\n{END}\n\n{START}\n\ntwo\n\n{END}") == "the file holds 2 books"


def test_a_file_of_two_books_shows_where_they_begin():
    draft = Draft(f"{START}\n\none\n\n{END}\n\n{START}\n\ntwo\n\n{END}")
    with pytest.raises(DataError) as caught:
        cut_edges(draft, CleanSettings())
    second = draft.text.rindex(START)
    assert caught.value.found == f"{START!r} at 0; {START!r} at {second}"


def test_without_the_guard_the_doubt_is_noted_and_the_text_behind_the_last_header_is_kept():
    draft = Draft(f"{START}\n\none\n\n{END}\n\n{START}\n\ntwo\n\n{END}")
    cut_edges(draft, CleanSettings(guard=False))
    assert draft.text[draft.start : draft.end] == "\n\ntwo\n\n"
    assert [(s.kind, s.cut) for s in draft.sections] == [("header", True)]
