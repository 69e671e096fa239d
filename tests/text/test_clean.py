"""Cleaning: the map back to the file, every kind of cut, the guard, the recipe, real books."""

from __future__ import annotations

import sys
import time
import tracemalloc
from itertools import accumulate
from unittest import mock

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import bookcoref_data.text.clean as cleaning
from bookcoref_data.errors import DataError, UsageError
from bookcoref_data.text.clean import CleanSettings, clean, settings_from
from bookcoref_data.text.clean.edges import find_edges
from bookcoref_data.text.decode import decode
from bookcoref_data.text.read_book import drop_released_breaks
from bookcoref_data.text.tokens import Tokenized
from tests.drawing import drawn

PROSE = (
    "Ada Brook baked the bread of the village before the sun was up, and\n"
    "nobody who came to her door in the morning went away without a loaf.\n"
)
STORY = "\n\n".join([PROSE.replace("loaf", f"loaf of the year {n}").strip() for n in range(30)])


def ebook(body: str, title: str = "The Lamp Road", author: str = "Mira Holt") -> str:
    return (
        f"The Project Gutenberg EBook of {title}, by {author}\n\nTitle: {title}\n\nAuthor: {author}\n\n"
        f"*** START OF THIS PROJECT GUTENBERG EBOOK {title.upper()} ***\n\n\n\n{body}\n\n\n\n"
        f"End of the Project Gutenberg EBook of {title}\n\n"
        f"*** END OF THIS PROJECT GUTENBERG EBOOK {title.upper()} ***\n\nlicence " + "words " * 300
    )


def book(front: str = "", back: str = "", inside: str = "") -> str:
    body = f"{front}\n\n\n\nCHAPTER I\n\n\n{STORY}\n\n{inside}\n\n{STORY}\n\n\n\n{back}"
    return ebook(body)


def places_of(result) -> list[int]:
    """The place in the file of every kept character."""
    lengths = (run.length for run in result.runs[:-1])
    assert [run.out for run in result.runs] == [*accumulate(lengths, initial=0)][: len(result.runs)]
    return [run.file + i for run in result.runs for i in range(run.length)]


def kinds(result) -> set[str]:
    return {cut.kind for cut in result.cuts} - {"header", "footer"}


# -- the contract ------------------------------------------------------------------------------------

PIECES = [
    "CHAPTER I", "CONTENTS", "PREFACE", "[Illustration: a lamp]", "[Footnote 1: so]", "word[1] word",
    "* note", "_em_ =b= +s+ ____", "Produced by Ada", "[Transcriber's Note: x", "12)", "NOTES", "I.",
    " \t ", "", "", PROSE, "read.23", "{1}", "THE END", "\u00a0x", "By Mira Holt", "Project Gutenberg",
    "*** START OF THIS PROJECT GUTENBERG EBOOK", "End of Project Gutenberg's",
]  # fmt: skip
pieces = st.sampled_from(PIECES)


@drawn(150)
@given(lines=st.lists(pieces, max_size=25))
@example(lines=[PROSE, "[Illustration: never closed", PROSE])
def test_every_kept_character_comes_from_the_file_and_nothing_is_counted_twice(lines):
    text = "\n".join(lines) + "\n\n" + PROSE
    try:
        result = clean(text, CleanSettings(guard=False))
    except DataError:
        return
    places = places_of(result)
    assert "".join(text[place] for place in places) == result.text
    assert places == sorted(set(places))
    taken = set(places)
    for cut in result.cuts:
        assert not taken & set(range(cut.start, cut.end))
        taken |= set(range(cut.start, cut.end))
    assert not "".join(c for i, c in enumerate(text) if i not in taken).strip()


@drawn(60)
@given(lines=st.lists(pieces, max_size=25), size=st.integers(1, 90))
@example(lines=["", " \t ", "word", "", " \t ", "", "", "word \t"], size=1)
def test_the_size_of_the_pieces_that_are_read_at_once_changes_nothing(lines, size):
    text = "\n".join(lines) + "\n\n" + PROSE + " \n\n \n"
    try:
        whole = clean(text, CleanSettings(guard=False))
    except DataError:
        return
    with mock.patch.object(cleaning, "_PIECE", size):
        assert clean(text, CleanSettings(guard=False)) == whole


@pytest.mark.long
def test_memory_stays_below_five_times_the_file():
    """The text and its clean copy take two bytes a character each, as there are curly quotes."""
    text = book(inside="“Good morning,” she said.\n\n" + f"{STORY}\n\n" * 70)
    size = len(text.encode())
    clean(book())  # what the first run sets up is no memory of the book
    # Where coverage traces every line, `text += piece` makes a copy each time.
    tracer = sys.gettrace()
    sys.settrace(None)
    tracemalloc.start()
    try:
        with mock.patch.object(cleaning, "_PIECE", 1 << 12):
            clean(text)
        beyond = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        sys.settrace(tracer)
    assert 4 * size < beyond + 2 * len(text) < 5 * size


def test_shares_are_the_characters_that_each_kind_took():
    front, inside = "Produced by Ada Brook\n\n_so_ it was", "[Illustration: a lamp]\n\n_so_"
    result = clean(book(front=front, inside=inside))
    sizes = [(cut.kind, cut.end - cut.start) for cut in result.cuts]
    taken = {kind: sum(size for other, size in sizes if other == kind) for kind, _ in sizes}
    assert result.shares() == {kind: size / result.file_length for kind, size in taken.items()}
    assert taken.keys() >= {"header", "footer", "illustration", "credits", "emphasis"}


def test_runs_and_cuts_are_sequences():
    result = clean(book(front="Produced by Ada Brook\n\n_so_ it was"))
    assert list(result.cuts) == [result.cuts[n] for n in range(len(result.cuts))]
    assert result.cuts[0].kind == "header"
    assert result.cuts[-1] == list(result.cuts[-2:])[1]
    assert result == clean(book(front="Produced by Ada Brook\n\n_so_ it was"))
    assert result != clean(book(front="Produced by Ada Brook\n\nso it was"))
    assert hash(result) == hash(clean(book(front="Produced by Ada Brook\n\n_so_ it was")))


def test_runs_cover_the_text():
    result = clean(book())
    assert result.runs[0].out == 0
    assert sum(run.length for run in result.runs) == len(result.text)


def test_paragraphs_stay_apart_by_one_blank_line_and_chapters_are_found():
    result = clean(book())
    assert result.text.startswith("CHAPTER I\n\nAda Brook")
    assert "\n\n\n" not in result.text
    assert [c.title for c in result.chapters] == ["CHAPTER I"]
    chapter = result.chapters[0]
    assert result.text[chapter.start : chapter.end] == "CHAPTER I"


def test_a_title_below_a_number_belongs_to_the_chapter():
    text = ebook(f"CHAPTER I\n\nThe Silent Baker\n\n\n{STORY}\n\n\n\nII.\n\nA Loaf\n\n{STORY}")
    assert [c.title for c in clean(text).chapters] == ["CHAPTER I The Silent Baker", "II. A Loaf"]


def test_one_blank_line_is_enough_above_chapter_and_its_number():
    """In a text of one's own chapters often stand behind a single blank line; the second one was lost."""
    told = "Anna went to the river in the rain, and Tom waved at her from the old boat of his father."
    text = f"CHAPTER I\n\n{told}\n\nCHAPTER II\n\n{told}\n\nChapter 3.\n\n{told}\n\nPART TWO\n\n{told}\n"
    assert [c.title for c in clean(text).chapters] == ["CHAPTER I", "CHAPTER II", "Chapter 3."]
    assert len(clean(f"{told}\n\nChapter 3 was read by him.\n\n{told}\n").chapters) == 0


# -- header and footer -------------------------------------------------------------------------------

HEADERS = {
    "2008": ("The Project Gutenberg EBook of X\n\n"
             "*** START OF THIS PROJECT GUTENBERG EBOOK X ***\n",
             "End of the Project Gutenberg EBook of X\n\n"
             "*** END OF THIS PROJECT GUTENBERG EBOOK X ***\nlicence"),
    "2021": ("The Project Gutenberg eBook of X\n\n*** START OF THE PROJECT GUTENBERG EBOOK X ***\n",
             "*** END OF THE PROJECT GUTENBERG EBOOK X ***\nUpdated editions will replace"),
    "2006, no blanks": ("***START OF THE PROJECT GUTENBERG EBOOK X***\n",
                        "***END OF THE PROJECT GUTENBERG EBOOK X***\n"),
    "two lines": ("*** START OF THIS PROJECT GUTENBERG EBOOK THE TRAGEDY OF\nX ***\n",
                  "*** END OF THIS PROJECT GUTENBERG EBOOK THE TRAGEDY OF\nX ***\n"),
    "1994": ("Project Gutenberg Etext of X\n\n"
             "***START**THE SMALL PRINT!**FOR PUBLIC DOMAIN ETEXTS**START***\nWhy?\n\n"
             "*END*THE SMALL PRINT! FOR PUBLIC DOMAIN ETEXTS*Ver.04.29.93*END*\n",
             "End of Project Gutenberg's Etext of X\n"),
    "1991": ("**The Project Gutenberg Etext of X**\n\nThis etext was typed by hand.\n\n",
             "End of the Project Gutenberg Etext of X\n"),
    "e-text": ("*END*THE SMALL PRINT! FOR PUBLIC DOMAIN ETEXTS*Ver.04.29.93*END*\n",
               "The end of the Project Gutenberg e-text of X\n"),
}  # fmt: skip


@pytest.mark.parametrize("era", HEADERS)
def test_header_and_footer_of_every_era_go(era):
    head, foot = HEADERS[era]
    text = f"{head}\n\n\nCHAPTER I\n\n\n{STORY}\n\n\n\n{foot}"
    result = clean(text)
    assert result.text == f"CHAPTER I\n\n{STORY}"


def test_a_file_without_header_is_kept_whole():
    assert find_edges(STORY) == (0, len(STORY))
    assert clean(STORY).text == STORY


def test_the_start_line_of_the_licence_is_no_header():
    text = ebook(STORY) + "\n*** START: FULL LICENSE ***\n\nTHE FULL PROJECT GUTENBERG LICENSE\n"
    assert clean(text).text == STORY


# -- kinds of cuts -----------------------------------------------------------------------------------

FRONTS = {
    "credits": "Produced by Ada Brook and the\nOnline Distributed Proofreading Team at http://www.pgdp.net",
    "transcriber-note": "[Transcriber's Note: Spelling was kept.\n\nAlso the commas.]",
    "title-page": "THE LAMP ROAD\n\nby\n\nMira Holt\n\nLONDON\nBroad & Sons\n1871",
    "contents": "CONTENTS\n\n  CHAPTER I      The Baker      1\n  CHAPTER II     The Loaf       9\n",
    "illustration": "[Illustration: Ada at her\ndoor]",
    "preface": "TRANSLATOR'S PREFACE\n\n\n" + PROSE + "\nA. B. READER",
}


@pytest.mark.parametrize("kind", FRONTS)
def test_what_stands_before_the_story_goes(kind):
    result = clean(book(front=FRONTS[kind]))
    assert kind in kinds(result)
    assert result.text.startswith("CHAPTER I\n\nAda")


def test_a_list_of_illustrations_with_captions_like_prose_goes():
    front = f"ILLUSTRATIONS\n\n  THE OVEN    26\n\n  {PROSE}\n\n  THE LOAF    66\n\n  {PROSE}"
    assert clean(book(front=front)).text.startswith("CHAPTER I\n\nAda")


def test_a_catalogue_without_a_heading_goes_unless_it_is_too_much_of_the_text():
    praise = "says the Times; the best book of the season. Publishers, Broad & Sons, New York."
    lines = [f"THE RED MILL {n}. Cloth, 12mo, illustrated, price $1.50. A novel, {praise}" for n in range(9)]
    text = book(back="\n\n\n\n".join(lines))
    result = clean(text)
    (found,) = result.sections
    assert (found.kind, found.cut) == ("back-matter", True)
    assert found.reason.startswith("a catalogue closes the file; ")
    assert result.text.endswith("year 29.")
    for floor, cut in ((10_000, True), (100, False)):
        rules = CleanSettings(limits={"back-matter": 0.0}, floor=floor, guard=False)
        (found,) = clean(text, rules).sections
        assert (found.cut, found.reason.endswith("of the text is more than back matter has")) == (
            cut,
            not cut,
        )


def test_contents_at_the_end_and_notes_behind_the_last_chapter_go():
    notes = f"NOTES\n\n\n1. {PROSE}"
    assert clean(book(back=notes)).text.endswith("year 29.")
    contents = "CONTENTS\n\n  CHAPTER I   The Baker\n  CHAPTER II  The Loaf"
    assert clean(book(back=contents)).text.endswith("year 29.")


def test_the_authors_preface_stays_unless_the_settings_say_otherwise():
    own = book(front=f"PREFACE\n\n\n{PROSE}")
    assert clean(own).text.startswith("PREFACE")
    assert clean(own, CleanSettings(prefaces="none")).text.startswith("CHAPTER I")
    other = book(
        front=f"INTRODUCTION\n\n\n{PROSE}\nHolt, the author, was born in 1801; few knew how Holt lived."
    )
    assert clean(other).text.startswith("CHAPTER I")
    assert clean(other, CleanSettings(prefaces="all")).text.startswith("INTRODUCTION")


@pytest.mark.parametrize(("paragraphs", "stays"), [(1, False), (4, True)])
def test_of_the_authors_prefaces_the_long_ones_can_be_kept_alone(paragraphs, stays):
    """The book has 60 such paragraphs: one of them is 1.6% of it, four are 6%."""
    text = book(front="PREFACE\n\n\n" + f"{PROSE}\n" * paragraphs)
    result = clean(text, CleanSettings(prefaces="long"))
    assert result.text.startswith("PREFACE" if stays else "CHAPTER I")
    assert [section.reason for section in result.sections] == ["short prefaces go (settings)"] * (not stays)


def test_the_share_of_a_preface_is_of_the_body_not_of_the_file():
    """Two paragraphs of 60 are 3%; a header as long as the book takes nothing from that."""
    text = book(front="PREFACE\n\n\n" + f"{PROSE}\n" * 2)
    long = text.replace("Title:", "Please keep this header.\n" * (len(text) // 20) + "\nTitle:", 1)
    assert len(long) > 2 * len(text)
    assert clean(long, CleanSettings(prefaces="long")).text.startswith("PREFACE")


def test_a_preface_trips_the_limit_when_it_is_longer_than_the_floor():
    own = book(front=f"PREFACE\n\n\n{PROSE}")
    (found,) = clean(own, CleanSettings(prefaces="none")).sections
    size = found.end - found.start

    def starts(floor):
        rules = CleanSettings(prefaces="none", limits={"preface": 0.0}, floor=floor, guard=False)
        return clean(own, rules).text.split()[0]

    assert (starts(size), starts(size - 1)) == ("CHAPTER", "PREFACE")


@pytest.mark.parametrize(
    ("signature", "stays"), [("R. A. READER.", False), ("M. HOLT", True), ("London", True)]
)
def test_a_preface_signed_by_another_goes(signature, stays):
    """Who knows the people may be one of them: such a preface stays, and is told."""
    others = PROSE.replace("Ada Brook", "Some baker")
    result = clean(book(front=f"PREFACE\n\n\n{others}\n     {signature}"))
    assert result.text.startswith("PREFACE" if stays else "CHAPTER I")
    knowing = clean(book(front=f"PREFACE\n\n\n{PROSE}\n     {signature}"))
    assert knowing.text.startswith("PREFACE")
    assert [section.cut for section in knowing.sections] == [False] * (not stays)


@pytest.mark.parametrize(("signature", "place", "stays"), [
    ("Ada Brook.", 0, False), ("Ada Brook", 1, False), ("Ada Brook", 2, True),
    ("Ada Brook,", 9, False), ("Ada Brook", 6, False), ("Ada Brook", 5, True),
    ("Ada of the Brook and Sea", 9, False), ("Ada of the Brook and the Sea", 9, True),
])  # fmt: skip
def test_a_preface_is_the_translators_if_a_short_line_near_an_end_names_him(signature, place, stays):
    lines = ["The edition of 1850 is a good one."] * 9
    lines.insert(place, signature)
    text = book(front="PREFACE\n\n\n" + "\n\n".join(lines))
    text = text.replace("*** START", f"Translator: {signature.strip('.,')}\n\n*** START", 1)
    assert clean(text).text.startswith("PREFACE" if stays else "CHAPTER I")


@pytest.mark.parametrize("lines", range(1, 8))
def test_one_signature_is_one_sign_however_short_the_preface_is(lines):
    """The first two lines of a preface and its last four are looked at: in a short one some are both."""
    said = ["The edition of 1850 is a good one."] * lines
    said.insert(min(1, lines), "Ada Brook")
    text = book(front="PREFACE\n\n\n" + "\n\n".join(said))
    text = text.replace("*** START", "Translator: Ada Brook\n\n*** START", 1)
    (found,) = clean(text).sections
    assert found.reason.count("one whom the title page names signs it") == 1


@pytest.mark.parametrize(("line", "blank", "one"), [
    ("CHAPTER II", 1, True), ("CHAPTER II", 2, False), ("INTRODUCTION", 1, True), ("INTRODUCTION", 2, False),
    ("The edition of 1851 is better.", 3, True),
])  # fmt: skip
def test_a_preface_ends_at_a_heading_with_room_above_it(line, blank, one):
    """Only if the signature below the line is in the preface, the preface is the translator's."""
    said = "The edition of 1850 is a good one."
    above = "\n" * (blank + 1)
    text = book(front=f"PREFACE\n\n\n{said}\n\n{said}{above}{line}\n\n{said}\n\nAda Brook")
    text = text.replace("*** START", "Translator: Ada Brook\n\n*** START", 1)
    assert clean(text).text.startswith("CHAPTER I\n" if one else "PREFACE")


def test_a_paragraph_that_begins_like_a_heading_is_none():
    verse = "\n".join(["Part one of the song is over and done", "And part two is to come"] * 5)
    result = clean(book(inside=f"\n\n{verse}\n\n"))
    assert [chapter.title for chapter in result.chapters] == ["CHAPTER I"]
    assert "to come" in result.text


def test_a_surname_inside_another_word_is_no_mention_of_the_author():
    text = book(
        front=f"PREFACE\n\n\n{PROSE}\nThe Holtish hills are high and the roads of Holtland are long indeed."
    )
    assert clean(text).text.startswith("PREFACE")


def test_footnotes_go_with_their_marks_and_broken_paragraphs_are_joined():
    inside = (
        "She baked[1] and sang while the lamps of the long road went out one by\none, and "
        "the men who carried\n\n"
        "[Footnote 1: In an oven. [Of stone.]\n\nAnd not alone.]\n\n"
        "the flour came down to the river[2] at last.\n\n"
        "[2] A small one."
    )
    result = clean(book(inside=inside))
    assert "men who carried\nthe flour came down to the river at last." in result.text
    assert "oven" not in result.text
    assert "small one" not in result.text
    assert "She baked and sang" in result.text


def test_a_bracketed_number_without_a_note_stays():
    assert "room [12] of the inn" in clean(book(inside="They slept in room [12] of the inn.")).text


def test_a_star_note_goes_only_when_a_star_points_to_it():
    result = clean(book(inside="He read a grammar,* slowly.\n\n     * By Lindley Murray."))
    assert "a grammar, slowly" in result.text
    assert "Murray" not in result.text
    assert "* All this is true." in clean(book(inside="Here it ends.\n\n* All this is true.")).text


def test_page_numbers_go_only_when_they_rise_through_the_book():
    paged = "\n\n".join(f"{PROSE}\n{n})\n" for n in range(1, 15))
    result = clean(ebook(f"CHAPTER I\n\n\n{paged}"))
    assert "page-number" in kinds(result)
    assert ")" not in result.text
    assert "3)" in clean(book(inside="3)")).text
    assert "[Pg 12]" not in clean(book(inside="the long road[Pg 12] went on")).text


def test_emphasis_marks_go_and_blanks_stay():
    result = clean(book(inside="_You_ want =this= and +that+, Lord ____ of H_m_, 1 + 1 = 2, a=b."))
    assert "You want this and that, Lord ____ of Hm, 1 + 1 = 2, a=b." in result.text


def test_contents_in_parts_end_where_their_first_entry_returns():
    entries = "BOOK ONE\n\nCHAPTER I\n\nCHAPTER II\n\nBOOK TWO\n\nCHAPTER I\n\nCHAPTER II"
    text = ebook(f"CONTENTS\n\n\n{entries}\n\n\n\n\nBOOK ONE\n\n\n\nCHAPTER I\n\n\n{STORY}")
    assert clean(text).text.startswith("BOOK ONE\n\nCHAPTER I\n\nAda")


def test_a_paragraph_that_names_the_project_never_stays():
    result = clean(book(inside="Project Gutenberg also has\nan HTML version of this file."))
    assert "Gutenberg" not in result.text


# -- guard, settings, recipes ------------------------------------------------------------------------


def test_a_kind_that_would_take_too_much_stays_and_is_reported():
    text = book(inside=f"[Illustration: {STORY}]")
    result = clean(text)
    (kept,) = result.sections
    assert (kept.kind, kept.cut) == ("illustration", False)
    assert kept.heading.startswith("[Illustration: Ada Brook")
    assert "[Illustration" in result.text
    assert "[Illustration" not in clean(text, CleanSettings(guard=False)).text
    assert (
        "[Illustration"
        not in clean(text, settings_from({"limits": {"illustration": 0.5, "total": 0.5}})).text
    )


def test_a_file_with_nothing_between_header_and_footer_is_refused():
    with pytest.raises(DataError, match="nothing"):
        clean(ebook(""))


def test_kinds_can_be_kept():
    text = book(inside="_You_[1] there.\n\n[Footnote 1: so.]")
    result = clean(text, CleanSettings(keep=("emphasis", "footnote")))
    assert "_You_[1] there." in result.text


def test_a_recipe_cuts_and_spares_by_words_or_pattern():
    text = book(inside="A WORD FROM THE BAKER\n\nIt is nothing.\n\nEND OF THE WORD\n\n[Illustration: a lamp]")
    recipe = settings_from({
        "reason": "test",
        "cut": [{"first": "A WORD  FROM THE", "until": "END OF THE", "reason": "not hers"},
                {"pattern": r"of the year \d+"}],
        "spare": [{"first": "[Illustration", "until": "Ada Brook"}],
    })  # fmt: skip
    result = clean(text, recipe)
    assert "nothing" not in result.text
    assert "of the year" not in result.text
    assert "[Illustration: a lamp]" in result.text


@pytest.mark.parametrize("table", [
    {"prefaces": "some"}, {"keep": ["emphases"]}, {"limits": {"footnotes": 0.1}}, {"colour": 1},
    {"cut": [{"until": "x"}]}, {"cut": [{"first": "x", "pattern": "y"}]}, {"cut": [{"pattern": "("}]},
    {"cut": ["x"]}, {"cut": [""]}, {"cut": [{"first": "x", "colour": 1}]}, {"spare": [{}]},
    {"cut": 3}, {"keep": 5}, {"keep": [1]}, {"limits": 3}, {"limits": {"total": "x"}}, {"floor": "x"},
    {"floor": True}, {"title": 3}, {"guard": 1}, {"prefaces": ["own"]},
    {"cut": [{"first": 3}]}, {"cut": [{"pattern": 3}]}, {"cut": [{"first": "x", "optional": "yes"}]},
])  # fmt: skip
def test_a_wrong_recipe_is_refused(table):
    with pytest.raises(UsageError):
        settings_from(table)


def test_the_entries_of_a_recipe_are_added_to_those_of_its_base():
    base = settings_from(
        {"cut": [{"first": "A"}], "limits": {"preface": 0.2, "total": 0.4}, "keep": ["credits"]}
    )
    more = settings_from({"cut": [{"first": "B"}], "limits": {"total": 0.5}, "floor": 10}, base)
    assert [piece.first for piece in more.cut] == ["A", "B"]
    assert (more.limit("preface"), more.limit("total"), more.limit("footnote")) == (0.2, 0.5, 0.15)
    assert (more.keep, more.floor, more.spare) == (("credits",), 10, ())


def test_a_piece_that_is_not_in_the_text_is_refused():
    with pytest.raises(UsageError, match="A FERRY"):
        clean(book(), settings_from({"cut": [{"first": "A FERRY"}]}))
    optional = settings_from({"cut": [{"first": "A FERRY", "optional": True}]})
    assert clean(book(), optional).text == clean(book()).text


# -- the release's paragraph tokens ------------------------------------------------------------------


def test_only_breaks_behind_the_end_of_a_sentence_are_dropped():
    sentences = [
        ["CHAPTER", "I", "\n"],
        ["“", "Come", ".", "”", "\n"],
        ["She", "came", ".", "\n"],
        ["Then", ":", "\n"],
    ]
    found = drop_released_breaks(Tokenized(sentences, list(range(15))))
    assert found.sentences[2] == ["She", "came", "."]
    assert found.starts == [i for i in range(15) if i != 11]
    assert sum(map(len, found.sentences)) == 14


# -- real books --------------------------------------------------------------------------------------

REAL = {
    # id: (first words, last words, chapters where the count is known, kinds that must have been cut)
    "2500": ("FIRST PART", "holy to\nhim in his life.", None, {"credits", "title-page"}),
    "1342": ("Chapter 1", "means of uniting them.", 61, {"credits", "title-page", "emphasis"}),
    "160": ("THE AWAKENING\n\nI\n\nA green", "wait by the roadside.", None, {"title-page", "contents"}),
    "44747": ("CHAPTER I", "where he has\nnever been.", None, {"preface", "contents", "footnote"}),
    "42": ("STORY OF THE DOOR", "Henry Jekyll to an end.", None, {"page-number", "credits"}),
}


@pytest.mark.parametrize("book_id", REAL)
def test_real_books_begin_and_end_with_the_story(shared_data, book_id):
    first, last, chapters, must = REAL[book_id]
    path = shared_data / "gutenberg/cache/epub" / book_id / f"pg{book_id}.txt"
    text = decode(path.read_bytes()).text
    result = clean(text)
    assert result.text.startswith(first)
    assert result.text.endswith(last)
    assert must <= kinds(result)
    assert chapters is None or len(result.chapters) == chapters
    assert "Gutenberg" not in result.text
    assert "".join(text[place] for place in places_of(result)) == result.text


def test_a_half_title_ends_a_preface_where_the_story_has_no_chapters():
    preface = "THE AUTHOR'S PREFACE\n\n" + "The world is taken up with novels, and readers may doubt.\n\n" * 8
    tale = "\n\n\n\nMOLL BROOK\n\n" + "My true name is well known at the mill, and so I tell it.\n\n" * 300
    start = "Title: The Fortunes and Misfortunes of the Famous Moll Brook &c.\n\nAuthor: Mira Holt\n\n"
    start += "*** START OF THIS PROJECT GUTENBERG EBOOK MOLL BROOK ***\n\n\n"
    text = f"{start}{preface}{tale}\n\n*** END OF THIS PROJECT GUTENBERG EBOOK MOLL BROOK ***\n"
    assert "novels" in clean(text, CleanSettings()).text  # the author's own
    without = clean(text, CleanSettings(prefaces="none")).text
    assert "novels" not in without
    assert without.startswith("MOLL BROOK")


@pytest.mark.parametrize(
    "line", ["CONTENTS", "Contents of Part {}", "ILLUSTRATIONS", "[Illustration: {}]", "[{}] See.", "* See *"]
)
def test_thousands_of_pieces_in_a_row_are_each_looked_at_once(line):
    many = "\n\n".join(line.format(n) for n in range(3000))
    began = time.process_time()
    left = clean(book(back=many), CleanSettings(guard=False)).text
    assert time.process_time() - began < 4
    assert "Ada Brook" in left
