"""The rules of cleaning, one by one: what a block is, where a piece ends, how much may go."""

from __future__ import annotations

import pytest

from bookcoref_data.errors import DataError
from bookcoref_data.text.clean import CleanSettings, notes
from bookcoref_data.text.clean import headings as is_a
from bookcoref_data.text.clean.back import cut_back
from bookcoref_data.text.clean.contents import cut_contents
from bookcoref_data.text.clean.evidence import Evidence, Story
from bookcoref_data.text.clean.front import cut_front
from bookcoref_data.text.clean.model import KINDS, Block, Draft, blocks_of
from bookcoref_data.text.clean.notes import cut_emphasis
from bookcoref_data.text.clean.settings import give_back, require_text

PROSE = (
    "Ada Brook baked the bread of the village before the sun was up, and\n"
    "nobody who came to her door in the morning went away without a loaf."
)
STORY = "\n\n".join([PROSE] * 20)


def block(text, gap=2):
    return Block(text, 0, len(text), gap)


def cut_from(text, step, *more):
    """The pieces of `text` that a step of cleaning marks, with their kinds."""
    draft = Draft(text)
    step(draft, *more)
    found = []
    for at, mark in enumerate(draft.marks):
        if mark and (at == 0 or draft.marks[at - 1] != mark):
            found.append([KINDS[mark - 1], ""])
        if mark:
            found[-1][1] += text[at]
    return [tuple(piece) for piece in found]


def texts_cut(text, step, *more):
    return [piece for _, piece in cut_from(text, step, *more)]


# -- blocks ------------------------------------------------------------------------------------------


def test_blocks_are_lines_between_blank_lines_and_count_the_blank_lines_above():
    text = "\n\none\n two \n\n  \n\nthree\n\nfour\n\n"
    found = list(blocks_of(text, 0, len(text)))
    assert [(b.text, b.gap) for b in found] == [("one\n two ", 10), ("three", 3), ("four", 1)]
    assert (found[0].line, found[0].line_count, found[0].lines) == ("one", 2, ["one", " two "])


def test_the_first_line_is_read_without_marks_of_emphasis():
    assert block("  _=CHAPTER I=_  \nnext").line == "CHAPTER I"


@pytest.mark.parametrize(
    "heading",
    ["CHAPTER I", "Chapter 12. The Mill", "FIRST PART", "The Second Book", "XII.", "7", "PROLOGUE",
     "EPILOGUE", "Chapter II in which nothing happens", "LIVRE PREMIER", "Drittes Kapitel",
     "Chapter IV of the mill"],
)  # fmt: skip
def test_headings_of_divisions(heading):
    assert is_a.is_division(block(heading))


@pytest.mark.parametrize(
    "line",
    ["Chapter one was short and nobody read it", "1813", "Charter I", "CHAPTER I" + " A" * 41,
     "Mild.", "Did.",
     "\n".join(["CHAPTER I"] * 7), "CHAPTER I\n" + "A" * 391],
)  # fmt: skip
def test_lines_that_only_look_like_headings_of_divisions(line):
    assert not is_a.is_division(block(line))


def test_a_heading_has_at_most_six_lines_400_characters_and_90_in_its_first_line():
    assert is_a.is_division(block("\n".join(["CHAPTER I"] * 6)))
    assert is_a.is_division(block("CHAPTER I\n" + "A" * 390))
    assert is_a.is_division(block("CHAPTER I" + " A" * 40 + " "))


@pytest.mark.parametrize(
    ("text", "is_titled"),
    [
        ("1. Mr. Holt", True), ("II. The Mail", True), ("XIV The Mail", True), ("12 THE MAIL", True),
        ("12 the mail", False), ("I The Mail", False), ("1. A\nB\nC", True), ("1. A\nB\nC\nD", False),
        ("1. " + PROSE, False),
    ],
)  # fmt: skip
def test_numbers_with_a_title(text, is_titled):
    assert is_a.is_titled_number(block(text)) is is_titled


@pytest.mark.parametrize(
    ("rule", "heading"),
    [
        (is_a.is_preface, "THE AUTHOR'S PREFACE"), (is_a.is_preface, "To the Reader"),
        (is_a.is_list, "LIST OF ILLUSTRATIONS"), (is_a.is_notes, "FOOTNOTES:"),
        (is_a.is_back, "GLOSSARY"), (is_a.is_contents, "TABLE OF CONTENTS"),
    ],
)  # fmt: skip
def test_names_of_apparatus(rule, heading):
    assert rule(block(heading))
    assert not rule(block("The mill stood still"))
    assert not rule(block(heading + " " + PROSE))


def test_the_name_of_an_apparatus_has_four_short_lines_at_most():
    four = "PREFACE\n" + "\n".join(["A"] * 3)
    assert is_a.is_preface(block(four))
    assert not is_a.is_preface(block(four + "\nA"))
    assert is_a.is_preface(block("PREFACE " + "A" * 72))
    assert not is_a.is_preface(block("PREFACE " + "A" * 73))
    assert is_a.is_preface(block("PREFACE\n" + "A" * 392))
    assert not is_a.is_preface(block("PREFACE\n" + "A" * 393))


def test_contents_are_raised_and_no_sentence():
    assert not is_a.is_contents(block("contents"))
    assert not is_a.is_contents(block("Contents of the old chest in the attic were"))


@pytest.mark.parametrize(
    ("text", "prose"),
    [
        (PROSE, True),
        ("one two three four five six seven eight nine ten eleven twelve thirteen fourteen.", True),
        ("one two three four five six seven eight nine ten eleven twelve thirteen.", False),
        ("one two three four five six seven eight nine ten eleven twelve thirteen fourteen", False),
        ("Lamps and Roads\n" * 6, False),
        ("THE LAMP ROAD and THE MILL ROAD and THE INN ROAD and THE END OF IT ALL.", False),
        ("short lines of verse\nthat never fill\nthe page at all\nbut run on and on", False),
        ("word " * 10 + "more\nthe end", True),
        ("word " * 9 + "more\nthe", False),
    ],
)
def test_prose_is_wrapped_lines_of_lower_case_words(text, prose):
    assert is_a.is_prose(block(text)) is prose


def test_half_the_words_of_prose_are_lower_case_and_seven_in_ten_lines_are_full():
    half = " ".join(["Word", "word"] * 8) + "."
    assert is_a.is_prose(block(half))
    assert not is_a.is_prose(block("Word " + half))
    full, short = "word " * 10 + "x", "word"
    assert is_a.is_prose(block("\n".join([full] * 7 + [short] * 4)))
    assert not is_a.is_prose(block("\n".join([full] * 6 + [short] * 5)))
    assert is_a.is_prose(block("\n".join(["w" * 50, *["word " * 12] * 2])))
    assert not is_a.is_prose(block("\n".join(["w" * 49, *["word " * 12] * 2])))


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("  I. The _Mill_ ..... 12 ", "i the mill"),
        ("The Mill    7", "the mill"),
        ("The Mill 7", "the mill 7"),
    ],
)
def test_an_entry_and_its_heading_have_the_same_words(line, words):
    assert is_a.words_of(line) == words


def test_headings_stand_apart():
    assert is_a.is_heading(block("CHAPTER I", 2))
    assert is_a.is_heading(block("CHAPTER I", 1))
    assert not is_a.is_heading(block("CHAPTER I", 0))
    assert not is_a.is_heading(block("CHAPTER I\nThe Mill", 1))
    assert not is_a.is_heading(block("PART I", 1))
    assert is_a.is_heading(block("The Mill Road", 3))
    assert not is_a.is_heading(block("The Mill Road", 2))
    assert is_a.is_heading(block("\n".join(["1. The Mill"] * 3), 2))
    assert is_a.is_heading(block("\n".join(["CHAPTER I"] * 4), 2))
    assert not is_a.is_heading(block("\n".join(["CHAPTER I"] * 5), 2))
    assert is_a.is_heading(block("CHAPTER I\n" + "A" * 290, 2))
    assert not is_a.is_heading(block("CHAPTER I\n" + "A" * 291, 2))


def test_a_title_below_a_bare_number():
    assert is_a.is_bare_number(block("CHAPTER I."))
    assert not is_a.is_bare_number(block("CHAPTER I\nThe Mill"))
    assert not is_a.is_bare_number(block("CHAPTER I. The Mill"))
    assert is_a.is_subtitle(block("The Mill\nRoad\nAgain", 3))
    assert not is_a.is_subtitle(block("The Mill Road", 4))
    assert not is_a.is_subtitle(block("The Mill\nRoad\nAgain\nOnce", 3))


# -- the guard ---------------------------------------------------------------------------------------


def left(cuts, *, size=1000, start=0, floor=0, **settings):
    """Characters of each kind that are still cut, and the reasons why others are not."""
    draft = Draft("x" * (size + start))
    draft.start = start
    for kind, begin, end in cuts:
        draft.cut(kind, begin, end)
    give_back(draft, CleanSettings(floor=floor, **settings))
    sums = {kind: draft.marks.count(KINDS.index(kind) + 1) for kind, _, _ in cuts}
    assert all(not section.cut for section in draft.sections)
    return sums, [section.reason for section in draft.sections]


def test_a_kind_may_take_its_share_and_not_a_character_more():
    assert left([("footnote", 0, 150)]) == ({"footnote": 150}, [])
    sums, reasons = left([("footnote", 0, 100), ("footnote", 200, 251), ("credits", 300, 310)])
    assert sums == {"footnote": 0, "credits": 10}
    assert reasons == ["footnote would take 15.1% of the text, 15% may go"]


def test_the_share_is_that_of_the_text_between_header_and_footer():
    assert left([("header", 0, 500), ("footnote", 500, 650)], start=500)[0] == {
        "header": 500,
        "footnote": 150,
    }
    assert left([("header", 0, 500), ("footnote", 500, 651)], start=500)[0] == {"header": 500, "footnote": 0}


def test_all_kinds_together_take_at_most_three_tenths_and_the_largest_goes_back():
    cuts = [("footnote", 0, 150), ("back-matter", 851, 1000)]
    assert left(cuts)[1] == []
    sums, reasons = left([*cuts, ("contents", 200, 202)])
    assert sums == {"footnote": 0, "back-matter": 149, "contents": 2}
    assert reasons == ["total would take 30.1% of the text, 30% may go"]


def test_small_cuts_limits_of_the_user_recipes_and_no_guard_are_let_through():
    over = [("footnote", 0, 151)]
    assert (
        left(over, limits={"footnote": 0.2})[1]
        == left(over, guard=False)[1]
        == left(over, floor=151)[1]
        == []
    )
    assert left(over, floor=150)[0] == {"footnote": 0}
    assert left([("recipe", 0, 900)])[1] == []
    assert left([("footnote", 0, 3000)], size=6000, floor=CleanSettings().floor)[1] == []
    assert left([("footnote", 0, 3001)], size=6000, floor=CleanSettings().floor)[1] != []


def test_a_text_of_which_nothing_is_left_is_refused():
    draft = Draft("x" * 1000)
    draft.cut("footnote", 0, 999)
    require_text(draft)
    draft.cut("footnote", 999, 1000)
    with pytest.raises(DataError, match="nothing is left between header and footer"):
        require_text(draft)


# -- evidence ----------------------------------------------------------------------------------------


def test_the_names_of_a_story_are_read_in_its_middle():
    middle = "and then Wolff came, " * 10
    text = "by the way Outis left, " * 20 + middle * 6 + "by the way Outis left, " * 20
    assert Story.of(text, 0, len(text)).names == {"Wolff"}


def test_the_rate_of_names_is_that_of_the_middle_three_fifths():
    text = "so Ann went " * 50
    assert Story.of(text, 0, 600).rate == 1000 * 30 / 91  # 90 blanks stand between 91 words
    assert Story.of("so  Ann", 0, 0).rate == 0.0


def test_a_name_counts_from_three_times_on_and_god_and_titles_do_not():
    text = "so Ann went. " * 3 + "so Bea went. " * 2 + "so God and Sir went. " * 9
    padded = "some words of no name at all. " * 5 + text + "some words of no name at all. " * 5
    assert Story.of(padded, 0, len(padded)).names == {"Ann"}


def test_in_a_long_story_a_name_counts_once_in_60000_characters_of_the_middle():
    filler = "some words of no name at all. "
    names = "so Ann went. " * 3

    def names_in(size):
        half = filler * (size // 2 // len(filler))
        return Story.of(half + names + half, 0, len(half) * 2 + len(names)).names

    assert names_in(390_000) == {"Ann"}  # 234,000 in the middle three fifths
    assert names_in(410_000) == set()


STORY_SHOWN = Story(frozenset({"Ann"}), 5.0, 80.0, 5.0)


def shown(**values):
    base = {
        "words": 1000,
        "names": 0.0,
        "editorial": 0.0,
        "trade": 0.0,
        "people": 80.0,
        "told": 0.0,
        "numbered": 0.0,
    }
    return Evidence(**{**base, "story": STORY_SHOWN, **values})


def test_the_wording_of_editors_is_asked_for_more_where_the_names_of_the_story_occur():
    assert shown(editorial=6.0).is_editorial
    assert not shown(editorial=5.9).is_editorial
    assert shown(names=5.0, editorial=10.0).is_editorial
    assert not shown(names=5.0, editorial=9.9).is_editorial
    assert shown(words=20, editorial=100.0).is_editorial
    assert not shown(words=19, editorial=100.0).is_editorial


def test_the_signs_of_apparatus():
    assert shown().signs == []
    assert shown(trade=12.0).is_trade
    assert not shown(trade=11.9).is_trade
    assert not shown(trade=29.0, words=100).is_trade
    assert shown(people=51.9).lacks_people
    assert not shown(people=52.0).lacks_people
    assert not shown(people=0.0, words=59).lacks_people
    assert not shown(people=0.0, story=Story(frozenset(), 0.0, 29.0)).lacks_people
    assert len(shown(trade=12.0, editorial=6.0, people=1.0, numbered=0.3).signs) == 4


def test_a_tale_is_known_by_its_people_and_their_talk():
    assert shown(told=2.0).is_tale
    assert not shown(told=1.9).is_tale
    assert shown(names=2.5).is_tale
    assert not shown(names=2.4).is_tale
    assert not shown(told=2.0, people=59.0).is_tale
    assert not shown(told=2.0, numbered=0.3).is_tale
    assert not shown(told=2.0, editorial=30.0).is_tale
    assert not shown(names=9.0, story=Story(frozenset(), 0.0)).is_tale


def test_a_section_of_one_word_is_all_that_word():
    found = Story(frozenset(), 0.0).evidence("editor", ["editor"])
    assert (found.words, found.editorial) == (1, 1000.0)
    assert Story(frozenset(), 0.0).evidence("", []).words == 1


def test_evidence_counts_in_a_thousand_words():
    story = Story(frozenset({"Ann"}), 7.0)
    section = "12. The editor met Ann, and Ann, said he, paid the bookseller so.\n\nNo more of it here"
    found = story.evidence(section, section.split("\n\n"))
    assert (found.words, found.story.rate, found.numbered) == (17, 7.0, 0.5)
    assert found.names == pytest.approx(2000 / 17)
    assert found.editorial == found.trade == found.told == found.people == pytest.approx(1000 / 17)
    assert "59 of editors, 59 of catalogues, 118 names" in str(found)


def test_sums_count_as_words_of_the_trade_as_often_as_others_do():
    """Alone they are a bill, a will, the accounts of a house."""
    story = Story(frozenset(), 0.0)
    assert story.evidence("Rent $3, oil 5s. and the price of bread", []).trade == 0.0
    assert story.evidence("Rent $3, oil 5s. and 2s. by booksellers now", []).trade == 250.0


# -- marks and notes ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("a _big_ dog", "a big dog"), ("a =big= dog", "a big dog"), ("a +big+ dog", "a big dog"),
        ("Lord ____ came", "Lord ____ came"), ("C_{2}H", "C_{2}H"), ("1 + 1 = 2", "1 + 1 = 2"),
        ("2+2 and 3+3", "2+2 and 3+3"), ("__init__", "__init__"),
        # inside a word they are letters of a name, unless they come in pairs there or close what was opened
        ("in lamp_road_1840.txt it stands", "in lamp_road_1840.txt it stands"),
        ("see _lamp_road_1840.txt_ there", "see lamp_road_1840.txt there"),
        ("<tom_reed@mill.org>", "<tom_reed@mill.org>"), ("_tom_reed@mill.org", "tom_reed@mill.org"),
        ("at http://mill.org/old_road here", "at http://mill.org/old_road here"),
        ("call lamp_road now", "call lamp_road now"), ("call __lamp_road__", "call __lamp_road__"),
        ("the word _a_b_ is", "the word a_b is"), ("CO_2; and H_2", "CO_2; and H_2"),
        ("lamp_road_1840", "lamp_road_1840"), ("as f_riends and foes_;", "as friends and foes;"),
        ("_im_portant", "important"), ("sure_ly_?", "surely?"), ("rept_y_les", "reptyles"),
        ("myself--_my_self,", "myself--myself,"), ("_of May_228", "of May228"),
        ("_of it_\n\nold_road", "of it\n\nold_road"), ("_of\n\nold_road", "of\n\nold_road"),
        ("_He_ said so in old_road.", "He said so in old_road."),
    ],
)  # fmt: skip
def test_marks_of_emphasis_go_and_other_signs_stay(text, left):
    draft = Draft(text)
    cut_emphasis(draft)
    assert "".join(c for c, mark in zip(text, draft.marks, strict=True) if not mark) == left


def test_an_illustration_goes_from_the_start_of_its_line_to_its_bracket():
    text = f"{PROSE}\n\n  [Illustration: a [small] lamp]\n\n{PROSE}"
    assert texts_cut(text, notes.cut_illustrations) == ["  [Illustration: a [small] lamp]"]
    inside = PROSE + " [Illustration: lamp] " + PROSE
    assert texts_cut(inside, notes.cut_illustrations) == [" [Illustration: lamp]"]
    assert texts_cut(PROSE + " [Map] " + PROSE, notes.cut_illustrations) == []
    first = "[Illustration: lamp]\n\n" + PROSE
    assert texts_cut(first, notes.cut_illustrations) == ["[Illustration: lamp]"]


def test_an_illustration_that_is_never_closed_goes_to_the_end_of_its_block():
    text = f"[Illustration: a lamp\nof old\n\n{PROSE}"
    assert texts_cut(text, notes.cut_illustrations) == ["[Illustration: a lamp\nof old"]


def test_a_piece_that_breaks_a_paragraph_leaves_one_line_end():
    text = "The baker went\n\n[Illustration: lamp]\n\nhome at last."
    assert texts_cut(text, notes.cut_illustrations) == ["\n[Illustration: lamp]\n\n"]
    for whole in (
        "The baker went.\n\n[Illustration: lamp]\n\nhome",
        "The baker\n\n[Illustration: lamp]\n\nHome",
    ):
        assert texts_cut(whole, notes.cut_illustrations) == ["[Illustration: lamp]"]


def pages(values):
    return "\n\n".join(f"Some words of the story.\n\n{value})" for value in values)


@pytest.mark.parametrize("end", ["", "\n", " ", "\n  "])
@pytest.mark.parametrize("first", ["[Pg 1] ", "[Pg 1]\n"])
def test_a_page_number_at_the_very_beginning_goes_whatever_the_end(first, end):
    text = f"{first}The rain fell on the mill.\n\nAnna went home.{end}"
    assert texts_cut(text, notes.cut_page_numbers) == ["[Pg 1]"]


def test_page_numbers_in_lines_of_their_own_go_when_ten_rise():
    assert len(texts_cut(pages(range(1, 11)), notes.cut_page_numbers)) == 10
    assert texts_cut(pages(range(1, 10)), notes.cut_page_numbers) == []
    # Nine rises in ten are enough: one step back among eleven numbers, not two.
    assert len(texts_cut(pages([1, 2, 3, 4, 5, 4, 7, 8, 9, 10, 11]), notes.cut_page_numbers)) == 11
    assert texts_cut(pages([1, 2, 3, 4, 3, 6, 5, 8, 9, 10, 11]), notes.cut_page_numbers) == []
    assert texts_cut(pages([7] * 12), notes.cut_page_numbers) == []


def test_page_marks_in_a_line_go_with_the_blanks_before_them():
    assert texts_cut("of the \t[Pg 12] mill {p. 3}", notes.cut_page_numbers) == [" \t[Pg 12]", " {p. 3}"]
    assert texts_cut("[Pg 12] mill", notes.cut_page_numbers) == ["[Pg 12]"]


def test_references_in_braces_go_from_three_on():
    assert texts_cut("so {1} it {2} went", notes.cut_footnotes) == []
    assert texts_cut("so {1} it<2> went {3}", notes.cut_footnotes) == [" {1}", "<2>", " {3}"]


def test_glued_numbers_go_from_twenty_on_when_they_rise():
    def glued(numbers):
        return " ".join(f"read.{n} So" for n in numbers)

    assert len(texts_cut(glued(range(1, 21)), notes.cut_footnotes)) == 20
    assert texts_cut(glued(range(1, 20)), notes.cut_footnotes) == []
    assert texts_cut(glued([3, 2, 1] * 10), notes.cut_footnotes) == []


def test_a_label_goes_only_when_it_has_a_body():
    text = f"He read[1] and wrote [2] and sang[3].\n\n{PROSE}\n\n[1] A book.\n\n[2] A letter.\n"
    assert texts_cut(text, notes.cut_footnotes) == ["[1]", " [2]", "[1] A book.", "[2] A letter."]


def test_a_footnote_in_a_paragraph_goes_with_the_blank_before_it():
    text = "He read [Footnote 1: A book.] all day.[1]"
    assert texts_cut(text, notes.cut_footnotes) == [" [Footnote 1: A book.]", "[1]"]


def test_a_section_of_footnotes_ends_at_the_next_heading():
    text = f"{PROSE}[1]\n\n\nFOOTNOTES\n\n[1] One.\n\nmore of it\n\n\nCHAPTER II\n\n{PROSE}"
    assert texts_cut(text, notes.cut_footnotes) == ["[1]", "FOOTNOTES", "[1] One.", "more of it"]


def test_a_titled_note_goes_to_the_next_wide_gap_or_heading():
    note = "Transcriber's Note\n\nThe spelling is kept."
    wide = f"{note}\n\nAnd so on.\n\n\n\n{STORY}"
    assert texts_cut(wide, notes.cut_transcriber_notes) == [f"{note}\n\nAnd so on."]
    assert texts_cut(f"{note}\n\nCHAPTER I\n\n{STORY}", notes.cut_transcriber_notes) == [note]
    # The first block below the title belongs to it, however far below.
    far = note.replace("\n\n", "\n\n\n\n\n")
    assert texts_cut(f"{far}\n\n\n\n{STORY}", notes.cut_transcriber_notes) == [far]


def test_a_note_at_the_end_goes_to_the_end_unless_a_chapter_follows():
    note = "Transcriber's Note: kept.\n\nMore\n\n\n\n\nand more"
    assert texts_cut(f"{STORY}\n\n{note}", notes.cut_transcriber_notes) == [note]
    chapter = f"{STORY}\n\nTranscriber's Note: kept.\n\n\nCHAPTER II\n\nend"
    assert texts_cut(chapter, notes.cut_transcriber_notes) == ["Transcriber's Note: kept."]


def test_credits_name_producers_and_stand_at_the_ends():
    credit = "Produced by Ada Brook and Mira Holt"
    assert texts_cut(f"{credit}\n\n{STORY}", notes.cut_credits) == [credit]
    assert texts_cut(f"{STORY}\n\n{credit}\n\n{STORY}", notes.cut_credits) == []
    prose = "Prepared by long years of bread and work, she rose at once"
    assert texts_cut(f"{prose}\n\n{STORY}", notes.cut_credits) == []
    # Half of the words raised are enough.
    assert texts_cut(f"Produced by Ada junior\n\n{STORY}", notes.cut_credits) == ["Produced by Ada junior"]
    assert texts_cut(f"Produced by Ada the baker\n\n{STORY}", notes.cut_credits) == []


def test_the_line_that_names_the_end_goes_only_at_the_end():
    assert texts_cut(f"{STORY}\n\nEnd of The Lamp Road", notes.cut_credits) == ["End of The Lamp Road"]
    assert texts_cut(f"End of The Lamp Road\n\n{STORY}", notes.cut_credits) == []


# -- front and back ----------------------------------------------------------------------------------

OWN = CleanSettings()


def test_a_table_runs_to_the_headings_of_the_first_prose():
    table = "CONTENTS\n\nI. The Mill\n\nII. The Road"
    text = f"{table}\n\n\n\nTHE LAMP ROAD\n\nCHAPTER I\n\n{STORY}"
    assert texts_cut(text, cut_contents, OWN) == [table]


def test_a_table_ends_where_its_first_entry_is_repeated():
    table = "CONTENTS\nThe Mill\nThe Road\n\nThe End"
    text = f"{table}\n\nThe Mill\n\nA Song\n\n{STORY}"
    assert texts_cut(text, cut_contents, OWN) == [table]


def test_contents_without_entries_or_of_two_inside_the_story_stay():
    assert texts_cut(f"CONTENTS\n\n{STORY}", cut_contents, OWN) == []
    chapter = f"CHAPTER I\n\n{STORY}"
    for table, goes in (
        ("CONTENTS\n1 Mill\n2 Road", False), ("CONTENTS\n1 Mill\n2 Road\n3 Inn", True),
        ("CONTENTS\na rope\na lamp\n3 inns", False), ("CONTENTS\na rope\na lamp\n3 inns\nI. oar", True),
        ("CONTENTS\nThe Mill\nA rope\nA Road", True),
    ):  # fmt: skip
        text = f"{chapter}\n\n{table}\n\n{STORY}\n\n  The Mill.\n\n[Illustration: A road]\n\n{STORY}"
        assert texts_cut(text, cut_contents, OWN) == [table] * goes
    front = f"CONTENTS\none\n\n{STORY}"
    assert texts_cut(front, cut_contents, OWN) == ["CONTENTS\none"]


def test_a_list_of_illustrations_ends_at_a_wide_gap_or_a_heading():
    def listed(behind):
        return f"ILLUSTRATIONS\n\nA lamp\n\nA mill{behind}{STORY}"

    assert texts_cut(listed("\n\n\n\n\n"), cut_contents, OWN) == ["ILLUSTRATIONS\n\nA lamp\n\nA mill"]
    assert texts_cut(listed("\n\n\nCHAPTER I\n\n"), cut_contents, OWN) == [
        "ILLUSTRATIONS\n\nA lamp\n\nA mill"
    ]
    assert texts_cut(listed("\n\nCHAPTER I\n\n\n\n\n"), cut_contents, OWN) == [
        "ILLUSTRATIONS\n\nA lamp\n\nA mill\n\nCHAPTER I"
    ]


def test_the_title_page_goes_up_to_the_first_heading():
    text = f"THE LAMP ROAD\n\nby Mira Holt\n\n\nCHAPTER I\n\n{STORY}"
    assert texts_cut(text, cut_front, OWN, "Mira Holt", "The Lamp Road") == ["THE LAMP ROAD", "by Mira Holt"]
    near = f"THE LAMP ROAD\n\nby Mira Holt\n\nCHAPTER I\n\n{STORY}"
    assert texts_cut(near, cut_front, OWN, "Mira Holt", "The Lamp Road") == ["THE LAMP ROAD", "by Mira Holt"]


def test_verse_and_speech_above_the_first_chapter_are_story():
    stanza = "\n".join(["the lamp was lit and all was well"] * 4)
    for opening in (stanza, "“Go!” said Ada"):
        text = f"THE LAMP ROAD\n\n{opening}\n\n{STORY}"
        assert texts_cut(text, cut_front, OWN, "Mira Holt", "The Lamp Road") == ["THE LAMP ROAD"]


def test_back_matter_stands_in_the_last_part_and_behind_the_last_chapter():
    back = "\n\n\nGLOSSARY\n\nLAMP. A light.\n\nMILL. A house."
    assert texts_cut(STORY + back, cut_back, OWN) == [back.strip()]
    assert texts_cut(back.strip() + "\n\n\nCHAPTER II\n\n" + STORY, cut_back, OWN) == []
    assert texts_cut(f"{STORY}{back}\n\n\nCHAPTER II\n\nend", cut_back, OWN) == []
    near = back.replace("\n\n\nGLOSSARY", "\n\nGLOSSARY")
    assert texts_cut(STORY + near, cut_back, OWN) == []


def test_ornaments_at_the_very_end_go():
    assert texts_cut(f"{STORY}\n\n* * *\n\n---", cut_back, OWN) == ["* * *", "---"]
    assert texts_cut(f"{STORY}\n\n* * *\n\n{PROSE}", cut_back, OWN) == []
