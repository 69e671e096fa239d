"""The one road from a file to tokens: places in the file, paragraphs, headings, what is refused."""

from __future__ import annotations

import re
import textwrap
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bookcoref_data.annotation.cast import parse_cast
from bookcoref_data.books import Book
from bookcoref_data.errors import DataError, UsageError
from bookcoref_data.text.clean import CleanRecipe
from bookcoref_data.text.read_book import (
    ReadSettings,
    TokenisedText,
    gutenberg_id_of,
    read_book,
    with_soft_hyphens,
)
from tests.drawing import drawn

PARAGRAPH = (
    "“Ada _Brook_ baked the bread[1] of the village before the sun was up,\r\n"
    "and nobody,” said Tom, “went away   without a loaf.”\r\n\r\n"
)
NOTE = "[Footnote 1: In an oven.]\r\n\r\n"


def ebook(body: str, number: int = 4321) -> bytes:
    return (
        f"The Project Gutenberg EBook of The Lamp Road [EBook #{number}]\r\n\r\nAuthor: Mira Holt\r\n\r\n"
        f"*** START OF THIS PROJECT GUTENBERG EBOOK THE LAMP ROAD ***\r\n\r\n\r\n{body}\r\n\r\n"
        "*** END OF THIS PROJECT GUTENBERG EBOOK THE LAMP ROAD ***\r\nlicence\r\n"
    ).encode()


GAP = "\r\n\r\n\r\n"
BODY = f"CHAPTER I\r\n\r\nThe Baker{GAP}{PARAGRAPH * 12}{NOTE}\r\n\r\nCHAPTER II{GAP}{PARAGRAPH * 12}"


def original(text: TokenisedText, start: int, end: int) -> str:
    """The words of tokens `start` to `end` as the file has them."""
    return text.file.source.text[text.starts[start] : text.ends[end]]


@pytest.mark.parametrize("wrap", [ebook, str.encode])
def test_a_file_with_doubled_line_ends_is_refused_and_not_read_as_paragraphs_of_one_line(wrap):
    body = BODY * 4
    assert read_book(wrap(body), "road.txt").tokens
    for doubled in ("\r\r\n", "\r\n\r\n"):
        with pytest.raises(DataError, match="double-spaced"):
            read_book(wrap(body).replace(b"\r\n", doubled.encode()), "road.txt")
    lines = body.replace(",\r\n", ", ")  # a line is a whole paragraph: nothing is lost
    assert read_book(wrap(lines), "road.txt").tokens


def test_marks_of_direction_and_of_no_width_part_words_and_are_counted():
    plain = read_book(BODY.encode(), "road.txt")
    marked = read_book(
        BODY.replace("Ada ", "Ada\u200b").replace("Tom, “", "Tom,\u200e“").encode(), "road.txt"
    )
    assert marked.tokens == plain.tokens
    assert "road.txt: 48 marks of direction or of no width read as a space" in marked.file.notes


@pytest.mark.parametrize("wrap", [ebook, str.encode])
@pytest.mark.parametrize(
    "mark", ["\xad", "\u200b", "\ufeff", "\u2060", "\u200d", "\u200b\ufeff", "\xad\r\n", "\xad \r\n "]
)
def test_what_nobody_sees_inside_a_word_leaves_the_word_whole(wrap, mark):
    plain = read_book(wrap(BODY), "road.txt")
    marked = read_book(wrap(BODY.replace("vil", f"vil{mark}").replace("Bro", f"Bro{mark}")), "road.txt")
    assert (marked.tokens, marked.chapters) == (plain.tokens, plain.chapters)
    assert "road.txt: 48 places mended where an unseen mark parted a word" in marked.file.notes
    place = marked.tokens.index("Brook")
    assert original(marked, place, place) == f"Bro{mark}ok".replace("\r", "")
    assert marked.file.body.shares() == pytest.approx(plain.file.body.shares(), rel=0.1)


@pytest.mark.parametrize("wrap", [ebook, str.encode])
def test_the_letters_of_a_ligature_are_those_of_a_name(wrap):
    set_, typed = (BODY.replace("Ada", name) for name in ("Griﬃn", "Griffin"))
    found, plain = (read_book(wrap(body), "road.txt") for body in (set_, typed))
    assert (found.tokens, found.starts) == (plain.tokens, plain.starts)


@pytest.mark.parametrize("wrap", [ebook, str.encode])
def test_letters_whose_accents_stand_apart_are_the_letters_of_the_cast(wrap):
    body = BODY.replace("Ada", "Zoë").replace("Tom", "André").replace("Brook", "Å̈ngström")
    apart, plain = (read_book(wrap(normalize(form, body)), "road.txt") for form in ("NFD", "NFC"))
    assert (apart.tokens, apart.starts, apart.chapters) == (plain.tokens, plain.starts, plain.chapters)
    (note,) = {*apart.file.notes} - {*plain.file.notes}
    assert note == "road.txt: accents joined to letters, ligatures parted; places count what is read"
    assert apart.file.source.text == plain.file.source.text
    lines = "Zoë Brook; Zoë\nAndré [m]\n"
    assert parse_cast(normalize("NFD", lines)) == parse_cast(lines)


def test_a_cast_with_commas_between_people_is_told():
    """Four people on one line were one character, and every name was his."""
    cast = parse_cast("Ann, Tom, Li Wei\nZoë,Queen\nAndré Müller, Jr.\nZoë, the Queen, and Li\n")
    told = "other names stand behind semicolons, other people on other lines"
    assert cast.notes == (f"the cast has as one name 'Ann, Tom, Li Wei', 'Zoë,Queen': {told}",)
    with pytest.raises(UsageError, match="names nobody"):
        parse_cast('["Ann", "Tom"]')


def test_the_line_ends_of_word_processors_end_lines():
    plain = read_book(BODY.encode(), "road.txt")
    for end in ("\u2028", "\u2029", "\v"):
        assert read_book(BODY.replace("\r\n", end).encode(), "road.txt").tokens == plain.tokens


def test_what_a_page_left_in_a_plain_text_is_read_as_on_the_page():
    """&quot;No&quot; was no quote, and <i>Zoë</i> and Andr&eacute; were nobody."""
    text = '"No," said Zoë. "I & Ann saw it."\n\nAndré saw \xa0 2 < 3.\n'
    page = '&quot;No,&quot; said <i class="x">Zo&euml;</i>. &#34;I & Ann saw it.&#x22;'
    page += "<p>Andr&eacute; saw &nbsp; 2 < 3.\n"
    found, plain = (read_book(one.encode(), "road.txt") for one in (page, text))
    assert found.tokens == plain.tokens
    told = "tags and signs of HTML (<i>, &quot;) read as on a page; places count what is read"
    assert found.file.notes == (f"road.txt: {told}",)


@pytest.mark.parametrize("gap", ["\n", " ", " \n  "])
def test_words_that_the_end_of_a_line_parts_are_joined(gap):
    """In a text set for print every name at the end of a line was lost, and nothing said so."""
    story = "Harlow met the doctor at the ill-famed ferry. The doctor, Harlow and Margaret laughed. " * 3
    parted = "Mar-\ngaret saw the doc-\n  tor and Har¬\nlow by the ill-\nfamed house, pas-\nsing to-\nday.\n"
    plain = "Margaret saw the doctor and Harlow by the ill-\nfamed house, passing to-\nday.\n"
    other = "\nWe go to and fro day by day; to-day."
    parted, plain = (
        words[:-1].replace("-\n", f"-{gap}").replace("¬\n", f"¬{gap}") for words in (parted, plain)
    )
    found, wanted = (read_book((story + words + other).encode(), "road.txt") for words in (parted, plain))
    assert found.tokens == wanted.tokens
    assert found.file.notes == ("road.txt: 4 words joined that the end of a line parts",)
    at = found.tokens.index("passing")
    assert original(found, at, at) == f"pas-{gap}sing"
    rare = "He came to-\nday, to-\nmorrow, a bare-\nfoot boy. Barefoot, to-day, to-morrow."
    assert with_soft_hyphens(rare) == rare


@pytest.mark.parametrize("times", [2, 3])
def test_a_table_of_contents_is_cut_however_many_blank_lines_part_paragraphs(times):
    names = ("Baker", "Miller", "Smith", "Ferry")
    parts = [f"BOOK {part}\r\n\r\n" + "\r\n".join(f"The {name}" for name in names) for part in ("I", "II")]
    table = "CONTENTS\r\n\r\n" + "\r\n\r\n\r\n".join(parts)
    tale = "".join(f"{GAP}The {name}{GAP}{PARAGRAPH * 4}" for name in names)
    chapters = "".join(f"{GAP}\r\nBOOK {part}{tale}" for part in ("I", "II"))
    book = f"THE LAMP ROAD{GAP}{table}{GAP}{chapters}"
    plain = read_book(ebook(book), "road.txt")
    wider = re.sub("(?<=\r\n)(\r\n)+", lambda found: found[0] * times, book)
    wide = read_book(ebook(wider), "road.txt")
    assert "CONTENTS" not in plain.tokens
    assert (wide.tokens, [c.title for c in wide.chapters]) == (
        plain.tokens,
        [c.title for c in plain.chapters],
    )


def test_every_token_lies_where_it_says_in_the_decoded_file():
    text = read_book(ebook(BODY), "road.txt")
    assert text.file.source.text == ebook(BODY).decode().replace("\r\n", "\n")
    assert len(text.tokens) == len(text.starts) == len(text.ends) == text.sentence_ends[-1]
    for token, start, end in zip(text.tokens, text.starts, text.ends, strict=True):
        assert text.file.source.text[start:end] == ("" if token == "\n" else token)
    assert list(text.starts) == sorted(text.starts)
    assert all(a <= b for a, b in zip(text.ends, text.starts[1:], strict=False))
    first = text.tokens.index("“")
    assert original(text, first, first + 6) == "“Ada _Brook_ baked the bread[1] of"


def test_paragraphs_and_headings_are_kept_as_data():
    text = read_book(ebook(BODY), "road.txt")
    assert [h.title for h in text.chapters] == ["CHAPTER I The Baker", "CHAPTER II"]
    for heading in text.chapters:
        words = [t for t in text.tokens[heading.start : heading.end + 1] if t != "\n"]
        assert " ".join(words) == heading.title
    assert len(text.paragraphs) == 3 + 24
    assert {text.tokens[i] for i in text.paragraphs} == {"CHAPTER", "The", "“"}
    assert text.tokens[text.paragraphs[1] - 1] == "\n"


def test_the_paragraphs_of_the_release_are_the_same_paragraphs():
    text, fewer = (read_book(ebook(BODY), "x.txt", ReadSettings(paragraphs=p)) for p in ("all", "released"))
    assert len(fewer.paragraphs) == len(text.paragraphs)
    assert len(fewer.tokens) <= len(text.tokens)
    assert [t for t in fewer.tokens if t != "\n"] == [t for t in text.tokens if t != "\n"]
    assert fewer.file.source.text[fewer.starts[-1] : fewer.ends[-1]] == fewer.tokens[-1]


def test_tokens_and_sentences_make_a_book():
    text = read_book(ebook(BODY), "pg4321.txt")
    book = Book("road_4321", "4321", text.tokens, text.sentence_ends)
    assert book.sentences == text.sentences


@drawn(60)
@given(st.lists(st.sampled_from(["Ada", "_ran_", "home.", "\r\n", "\r\n\r\n", "\t", "\u00a0", "“Oh,”", "[1]",
                                 "CHAPTER I", "\r\n\r\n\r\n", "\x0c", "Mr."]), max_size=40))  # fmt: skip
def test_places_hold_for_any_text(pieces):
    data = " ".join([*pieces, "End"]).encode()
    try:
        text = read_book(data, "x.txt", ReadSettings(apparatus="cut", guard=False))
    except DataError:  # nothing but notes
        return
    for i, token in enumerate(text.tokens):
        assert original(text, i, i).replace("_", "") == ("" if token == "\n" else token.replace("_", ""))
    assert all(text.tokens[i] != "\n" for i in text.paragraphs)


def test_a_text_of_ones_own_is_kept_whole_unless_asked():
    data = f"PREFACE\r\n\r\nTold by _me_.\r\n\r\nTRANSCRIBER'S NOTE: x\r\n\r\n{PARAGRAPH * 9}".encode()
    kept = read_book(data, "mine.txt")
    assert kept.tokens[0] == "PREFACE"
    assert "TRANSCRIBER'S" in original(kept, 0, 12)
    assert kept.file.gutenberg_id == ""
    assert "Transcriber" not in read_book(data, "mine.txt", ReadSettings(apparatus="cut")).file.body.text
    assert "licence" in read_book(ebook(BODY), "x.txt", ReadSettings(apparatus="keep")).tokens


def test_the_recipe_of_a_book_is_found_by_name_or_header():
    recipe = CleanRecipe(books={"4321": {"cut": [{"first": "CHAPTER II"}]}})
    for name in ("pg4321.txt", "folder/4321-0.txt", "C:\\x\\4321.txt", "road.txt"):
        text = read_book(ebook(BODY), name, ReadSettings(recipe))
        assert [h.title for h in text.chapters] == ["CHAPTER I The Baker"]
    assert gutenberg_id_of("x/pg42.txt.utf-8") == "42"
    assert gutenberg_id_of("my novel 7.txt", "no number") == ""


def test_a_stray_byte_is_reported_with_its_file():
    data = ebook(BODY).replace(b"village", b"vill\xe9ge", 1)
    text = read_book(data, "road.txt")
    assert "villége" in text.tokens
    assert text.tokens[text.paragraphs[2]] == "“"
    assert text.file.notes == (f"road.txt: 1 broken UTF-8 sequence, read as 'é' at byte {data.index(0xE9)}",)


@pytest.mark.parametrize(("data", "reason"), [
    (b"{\\rtf1\\ansi Ada went to the mill.}", "RTF"),
    (b" \r\n\r\n", "holds no text"),
    (ebook(BODY)[:-90], "cut off"),
])  # fmt: skip
def test_what_is_no_plain_text_or_only_half_is_refused(data, reason):
    with pytest.raises(DataError, match=f"road.txt .*{reason}"):
        read_book(data, "road.txt")


def test_half_a_file_is_read_as_far_as_it_goes_when_asked():
    text = read_book(ebook(BODY)[:-90], "road.txt", ReadSettings(guard=False))
    assert text.tokens[0] == "CHAPTER"
    assert "cut off" in text.file.notes[0]


def test_unknown_settings_are_refused():
    with pytest.raises(UsageError, match="paragraphs"):
        ReadSettings(paragraphs="some")
    with pytest.raises(UsageError, match="apparatus"):
        ReadSettings(apparatus="some")


SPEECH = [
    "Anna came down the road in the early morning, before anybody else in the village was awake at all.",
    "“Is he there?” she asked, and looked at the house behind the trees, where a lamp was still burning.",
    "“He is,” said Tom.",
    "CHAPTER II",
    "Nobody said a word for a long time, and the lamp went out, and then the dog began to bark at them.",
] * 8


def wrapped(paragraph: str, indent: str = "") -> str:
    return textwrap.fill(paragraph, 40, initial_indent=indent)


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("\n".join(SPEECH), "every line was taken for a paragraph"),
        ("\r\n".join("\t" + p for p in SPEECH), "every line was taken for a paragraph"),
        ("\n".join(wrapped(p, "    ") for p in SPEECH), "begin where a line is indented"),
        ("\n".join(f"Anna: come {n}" for n in range(40)), "every line was taken for a paragraph"),
        ("\n".join(SPEECH[:10]), "every line was taken for a paragraph"),
        (
            "\n".join(SPEECH).replace("\nCHAPTER II\n", "\n\n\nCHAPTER II\n\n"),
            "every line was taken for a paragraph",
        ),
    ],
)
def test_paragraphs_without_blank_lines_are_found_by_their_lines(text, note):
    found = read_book(text.encode(), "road.txt")
    wanted = [line for line in text.split("\n") if line.strip()] if "    " not in text else SPEECH
    assert len(found.paragraphs) == len(wanted)
    assert any(note in said for said in found.file.notes)


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("\n".join(wrapped(p) for p in SPEECH), "they are guessed"),
        ("\n".join(f"The road went up the hill and number {n}" for n in range(40)), "they are guessed"),
        ("\n\n".join(wrapped(p) for p in SPEECH), ""),
        (wrapped(" ".join(SPEECH[:10])), ""),
        ("\n\n".join([*map(wrapped, SPEECH), "Dear Tom,\nCome.\nNow.\nYours,\nAnna."]), ""),
    ],
)
def test_lines_that_are_no_paragraphs_stay_together(text, note):
    said = " ".join(read_book(text.encode(), "road.txt").file.notes)
    assert "taken" not in said
    assert note in said
