"""Who says "I": narrators by chapter and range, headings that name them, letters."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bookcoref_data.annotation.cast import format_cast, make_cast, parse_cast
from bookcoref_data.annotation.embedded.names import NameTable, book_words
from bookcoref_data.annotation.narration import Narration, chapter_number, names_in_place, narration_of
from bookcoref_data.annotation.plan import default_plan
from bookcoref_data.books import Book
from bookcoref_data.errors import UsageError
from bookcoref_data.workflows.annotate import Source, annotate_book

CAST = make_cast(["Jim Hawkins", "Dr. Livesey", "Ben Gunn"])
BOOK = Book.make("b_0", [["word"] * 10] * 10)
CHAPTERS = (("I. The Inn", 0), ("II", 20), ("CHAPTER THREE", 40), ("Chapter 4: The End", 80))


@pytest.mark.parametrize(
    ("title", "number"),
    [
        ("XVI. The Stockade", 16), ("16", 16), ("CHAPTER TWENTY-ONE", 21), ("Chapter the Third", 3),
        ("Letter IV", 4), ("PART FOUR", 0), ("Civil War", 0), ("The Inn", 0), ("CHAPTER xl", 40), ("", 0),
    ],
)  # fmt: skip
def test_the_number_of_a_chapter_is_read_from_its_heading(title, number):
    assert chapter_number(title) == number


def test_a_range_goes_before_the_narrator_of_the_book():
    jim, livesey = 0, 1
    for lines in (["Jim Hawkins", "Dr. Livesey:2-3"], ["Dr. Livesey: 2-3", "Jim Hawkins"]):
        assert narration_of(lines, CAST, BOOK, CHAPTERS) == (
            Narration(0, 20, jim), Narration(20, 80, livesey), Narration(80, 100, jim),
        )  # fmt: skip


@pytest.mark.parametrize(
    ("line", "ranges"),
    [
        ("Ben Gunn:4", [(80, 100)]),
        ("Ben Gunn:1,3-", [(0, 20), (40, 100)]),
        ("Ben Gunn:@5-9", [(5, 10)]),
        ("Ben Gunn:@95-", [(95, 100)]),
    ],
)
def test_ranges(line, ranges):
    assert [(n.start, n.end) for n in narration_of([line], CAST, BOOK, CHAPTERS)] == ranges


def test_chapters_that_count_anew_go_by_their_place():
    chapters = (("I", 0), ("II", 20), ("I", 40), ("II", 80))
    assert narration_of(["Ben Gunn:3"], CAST, BOOK, chapters) == (Narration(40, 80, 2),)


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (["Jim Hawkins", "Ben Gunn"], "two narrators for the whole book"),
        (["Jim Hawkins:1-2", "Ben Gunn:2"], "two narrators for one place"),
        (["Ben Gunn:9"], "chapters 1 to 4"),
        (["Ben Gunn:@90-200"], "tokens 0 to 99"),
        (["Ahab:2"], "no character is called 'Ahab'"),
    ],
)
def test_what_cannot_be_is_refused(lines, words):
    with pytest.raises(UsageError, match=words):
        narration_of(lines, CAST, BOOK, CHAPTERS)


VOYAGE = "\n\n".join(
    [
        "CHAPTER I", "I am Jim Hawkins, and I kept my inn. I saw Dr. Livesey, who came to me.",
        "CHAPTER II", "I left Jim Hawkins behind. I took my gun with me.",
        "CHAPTER III", "I saw the doctor come back. I ran, and my heart beat in me.",
    ]
)  # fmt: skip


def first_person(done, name: str) -> list[int]:
    """Tokens of the words for "I" that are mentions of somebody."""
    words = {"I", "my", "me"}
    return [
        m.start
        for c in done.book.characters
        if c.name == name
        for m in c.mentions
        if m.start == m.end and done.book.tokens[m.start] in words
    ]


def test_each_narrator_has_the_first_person_of_his_chapters(annotate):
    done = annotate(VOYAGE, ["Jim Hawkins", "Dr. Livesey"], narrators=["Jim Hawkins", "Dr. Livesey:2"])
    second, third = (i for i, t in enumerate(done.book.tokens) if t in ("II", "III"))
    his = first_person(done, "Dr. Livesey")
    assert len(his) == 4
    assert all(second < at < third for at in his)
    others = first_person(done, "Jim Hawkins")
    assert len(others) == 9
    assert not [at for at in others if second < at < third]
    assert [n for n in done.state.notes if n.startswith("narrator: Dr. Livesey, tokens")]


def test_who_tells_a_long_story_in_quotes_need_not_be_named_in_it(book_of):
    story = "\n\n".join(f"“I took my lamp and went to room {n}, and I saw nothing near me." for n in range(8))
    text = f"“Listen,” said Anna Hill.\n\n{story}”\n\n“Well,” said Martin Ford.\n"
    settings = {"windows": {"words": 20}, "groups": {"windows": 2}}
    plan = replace(default_plan("embedded"), settings=settings)
    done = annotate_book(Source(book_of(text)), make_cast(["Anna Hill", "Martin Ford"]), plan)
    by_speaker = [m for m in done.state.mentions if m.rule == "speaker of the quote"]
    spoken = [q for q in done.state.quotes if q.speaker >= 0]
    assert len(spoken) == len(done.state.quotes)
    assert len(by_speaker) == sum(t in ("I", "my", "me") for t in done.book.tokens) == 32


LINES = "I took my lamp and went out. I saw nothing near me. My heart was still. I came back to my room."
JOURNALS = "\n\n".join(
    [
        "Anna Hill's Journal", LINES, LINES, LINES,
        "The story of Martin Ford begins here.", "2. Narrative Continued by the Doctor", LINES, LINES, LINES,
        "The Narrative of Martin Ford", "He took his lamp. Martin Ford was tired.",
    ]
)  # fmt: skip


def test_headings_name_the_narrators(annotate):
    done = annotate(JOURNALS, ["Anna Hill", "Dr. Stone", "Martin Ford"])
    assert len(first_person(done, "Anna Hill")) == len(first_person(done, "Dr. Stone")) == 18
    assert not first_person(done, "Martin Ford")


@pytest.mark.long
def test_a_sentence_about_a_letter_is_no_heading(annotate):
    third = "He took his lamp and went out. He saw nothing near him. His heart was still. He came back."
    text = "\n\n".join(["This was Anna Hill's letter.", LINES, LINES, LINES, "CHAPTER II", *[third] * 150])
    cast = ["Anna Hill", "Martin Ford"]
    assert "narrator: told in the third person" in annotate(text, cast).state.notes
    titled = annotate(text.replace("This was Anna Hill's letter.", "Anna Hill's Letter."), cast).state.notes
    assert [note for note in titled if note.startswith("narrator: Anna Hill")]


def test_a_letter_from_a_daughter_is_not_told_by_her_father(annotate):
    """ "Little Ford", whom no cast lists, is not Martin Ford; "Mr. Ford" may be."""
    cast = ["Martin Ford", "Anna Hill"]
    text = "The little lamp was out. The captain saw it.\n\nCHAPTER IV. A Letter from {} Ford\n\n" + LINES
    text += f"\n\n{LINES}\n\n{LINES}\n\nCHAPTER V\n\nMr. Ford was tired. He went out."
    assert not first_person(annotate(text.format("Little"), cast), "Martin Ford")
    for name in ("Martin", "Mr."):
        assert first_person(annotate(text.format(name), cast), "Martin Ford"), name


LETTER = """Martin Ford read the letter to his sister.

My dear Anna,

I have found the house, and I like it. You will laugh at me.

Your loving brother,

{name}

Martin Ford put it down. He sighed.
"""


def test_a_letter_is_speech_of_the_one_who_signs_it(annotate, said):
    cast = ["Martin Ford", "Anna Hill", "Philip Stone"]
    done = annotate(LETTER.format(name="PHILIP STONE"), cast)
    assert [t for t in said(done)["Philip Stone"] if t in ("I", "me")] == ["I", "I", "me"]
    letters = [q for q in done.state.quotes if q.rule == "letter"]
    assert {done.state.names[q.speaker] for q in letters} == {"Philip Stone"}
    assert {done.state.names[a] for q in letters for a in q.addressees} == {"Anna Hill"}


@pytest.mark.parametrize(
    ("signature", "signed"),
    [
        ("PHILIP STONE", True),
        ("Dr. Philip Stone.", True),
        ("I am, dear Anna, with all love, yours truly, Philip Stone", True),  # fifteen words and commas
        ("I am, my dear Anna, with all love, yours truly, Philip Stone", False),
        ("They sent for Philip Stone", False),  # nothing that closes a letter
        ("Philip Stone!", False),
        ("Yours truly, the friend of Philip Stone and of all", False),
    ],
)
def test_a_signature_is_a_name_alone_or_behind_a_few_words_that_close_a_letter(annotate, signature, signed):
    text = LETTER.replace("Your loving brother,\n\n", "").format(name=signature)
    done = annotate(text, ["Martin Ford", "Anna Hill", "Philip Stone"])
    writers = {done.state.names[q.speaker] for q in done.state.quotes if q.rule == "letter"}
    assert writers == ({"Philip Stone"} if signed else set())


def test_a_letter_between_quotation_marks_is_not_of_the_one_who_reads_it(annotate, said):
    text = (
        "“Listen,” said Martin Ford.\n\n“MY DEAR ANNA,\n\n“I have found the house, and I like it.\n\n"
        "“PHILIP STONE.”\n\n“Well!” said Anna Hill. “I am glad.”\n"
    )
    done = annotate(text, ["Martin Ford", "Anna Hill", "Philip Stone"])
    assert [t for t in said(done)["Philip Stone"] if t == "I"] == ["I", "I"]
    assert "I" in said(done)["Anna Hill"]


def test_dear_in_talk_is_no_letter(annotate):
    text = "“My dear Anna, you are late,” said Martin Ford.\n\n“I am not,” said Anna Hill.\n\nMARTIN FORD\n"
    done = annotate(text, "Martin Ford\nAnna Hill")
    assert not [q for q in done.state.quotes if q.rule == "letter"]


GLUED = (
    "“Come here,” said I. “We two must talk.”\n\n“Why?” said Anna Hill. She looked at me.\n\nAnna Hill and I."
)


def test_the_narrator_is_known_with_a_full_stop_or_a_dash_glued_to_him(annotate, quotes_of):
    done = annotate(
        GLUED + "\n\n“I--” said Anna Hill, “I went.”", ["Anna Hill", "Tom Ford"], narrators=["Tom Ford"]
    )
    speakers = [speaker for _, speaker, _ in quotes_of(done)]
    assert speakers == ["Tom Ford", "Tom Ford", "Anna Hill", "Anna Hill", "Anna Hill"]
    mine = next(c for c in done.book.characters if c.name == "Tom Ford").mentions
    assert [done.book.text_of(m) for m in mine].count("I.") == 2
    hers = next(c for c in done.book.characters if c.name == "Anna Hill").mentions
    assert "I--" in [done.book.text_of(m) for m in hers]


RIDERS = (
    "“Where are we?” I said.\n\n“In the forest,” said Clara Dale.\n\n“Who can these be?” I said.\n\n"
    "I lay close to the earth and heard six or seven men cross the stream. I rose to my feet just in time to "
    "face the leader as he stopped his horse within a yard of me.\n\n"
    "He gazed over the neck of his steed at me, and at Clara Dale. He was a tall, handsome man.\n\n"
    "“Good evening,” said he.\n\n“I do not understand you,” said I.\n\n"
    "“You are not to blame for that,” he replied.\n\n“So it appears,” replied the horseman. The horseman "
    "eyed me. He twirled his moustaches; then he said:\n\n“Good night.”\n"
)


def test_he_is_not_who_tells_the_story(annotate, quotes_of):
    done = annotate(RIDERS, "Tom Ford [m]\nClara Dale [f]", narrators=["Tom Ford"])
    tom = next(c for c in done.book.characters if c.name == "Tom Ford")
    assert {done.book.text_of(m).lower() for m in tom.mentions} == {"i", "i.", "my", "me", "you"}
    assert [speaker for _, speaker, _ in quotes_of(done)].count("Tom Ford") == 3


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("CHAPTER I\n\nI came home. I slept.", 2),
        ("PART I.\n\nI came home. I slept.", 2),
        ("I\n\nI came home.", 1),
        ("I.\n\nI came home.", 1),
        ("I. THE SEA\n\nI came home.", 1),
        ("I THE RIVER\n\nI came home.", 1),
        ("In Act I the king dies. I laughed.", 1),
        ("We read of Henry I, and I laughed.", 1),
        ("It was the time of Charles I. I laughed.", 1),
        ("PHASE I\n\nI came home.", 1),
        ("Part One: I\n\nI came home.", 1),
        ("(I)\n\nI came home.", 1),
        ("§ I\n\nI came home.", 1),
        ("King James I was dead. I laughed.", 1),
        ("Napoleon I fled, and I laughed.", 1),
        ("I laughed when Napoleon I fled.", 1),
        ("Napoleon, I fled.", 1),
        ("When I met Henry I ran.", 2),
        ("I had read the Letter I wrote.", 2),
        ("I WAS alone. I slept.", 2),
        ("I WAS alone, and I slept.", 2),
    ],
)
def test_the_numeral_is_nobody(annotate, text, times):
    done = annotate(text + "\n\nTom Ford was my name.", ["Tom Ford"], narrators=["Tom Ford"])
    assert len([i for i in first_person(done, "Tom Ford") if done.book.tokens[i] == "I"]) == times


@pytest.mark.parametrize(
    "title", ["Strange Story", "History", "Confession", "Account", "Adventure", "Statement"]
)
def test_a_heading_that_names_the_subject_names_no_narrator(annotate, title):
    told = (
        "I met Anna Hill in May. Anna Hill showed me her house, and I liked it. I told her, and she left me."
    )
    done = annotate(f"The {title} of Anna Hill\n\n{told}", ["Anna Hill", "Tom Ford"])
    assert not first_person(done, "Anna Hill")
    if title in ("History", "Adventure"):
        return
    own = "I was born in May. My house was small, and I liked it. I told my friends so, and they came to me."
    done = annotate(f"The {title} of Anna Hill\n\n{own}", ["Anna Hill", "Tom Ford"])
    assert first_person(done, "Anna Hill")


def test_a_cast_file_says_who_narrates_and_which_name_is_whose_in_which_chapters():
    text = "Anna [f] [narrator]\nDr. Hill [narrator 2-3] [m]  # a doctor\nCathy Linton; Catherine:3-\n"
    cast = parse_cast(text)
    assert cast.narrators == ("Anna", "Dr. Hill:2-3")
    assert [e.gender for e in cast.entries] == ["f", "m", ""]
    assert parse_cast(format_cast(cast)) == cast
    with pytest.raises(UsageError, match="unknown hint"):
        parse_cast("Anna [narrator x]")


def test_a_name_of_two_people_goes_by_the_chapter():
    words = ["Catherine", "ran", ".", "Catherine", "Linton", "ran", ".", "Catherine", "slept", "."]
    book = Book("b", "b", tuple(words), (3, 7, 10))
    cast = parse_cast("Catherine Earnshaw; Catherine\nCathy Linton; Catherine:2-; Catherine Linton")
    placed = names_in_place(cast, book, (("I", 0), ("II", 3)))
    assert placed.entries[1].aliases == ("Catherine:@3-9", "Catherine Linton")
    table = NameTable(placed, book_words(book.tokens))
    hits = table.find(book_words(book.tokens))
    assert [(hit.start, who) for hit, (who, _) in zip(hits, table.settle(hits), strict=True)] == [
        (0, 0), (3, 1), (7, 1)
    ]  # fmt: skip
    with pytest.raises(UsageError, match="chapters"):
        names_in_place(cast, book, (("I", 0),))


I_WENT = "I took my lamp and went out. I saw nothing near me. My heart was still."
HE_WENT = "He took his lamp and went out. He saw nothing near him. His heart was still. " * 20
PLAIN = [
    line for _ in range(30) for line in (I_WENT, "Then it rained. The road was long and the house was far.")
]


def told_by(done) -> list[str]:
    return [note for note in done.state.notes if note.startswith("narrator: ") and "told in" not in note]


@pytest.mark.long
@pytest.mark.parametrize(
    "there",
    [
        ["“Anna Hill,” says Martin Ford, “you are late.”", "“Sit, Anna Hill,” he said."] * 6,
        ["Anna Hill’s account was short.", "Then Anna Hill's letter came."],
        ["“My name is Anna Hill,” said the woman to Martin Ford.", "“They call me Anna Hill,” she said."] * 3,
    ],
    ids=["called in one chapter, and not by us", "her account in prose", "her own name in her own speech"],
)  # fmt: skip
def test_who_is_called_in_one_chapter_is_not_the_narrator(annotate, there):
    """Mrs. Thompson does not tell "The Way of All Flesh", nor Lady Betty "Pamela"; better nobody."""
    text = "\n\n".join([*PLAIN, "Martin Ford was tired. He went out.", *there, *PLAIN * 4])
    assert not told_by(annotate(text, ["Anna Hill", "Martin Ford"]))


def test_who_is_called_here_and_there_is_the_narrator(annotate):
    calls = [f"“Well, {name},” said Martin Ford to me." for name in ("Miss Hill", "Anna Hill", "Anna")]
    text = "\n\n".join(line for call in calls for line in (*PLAIN[:20], call))
    assert told_by(annotate(text, ["Anna Hill", "Martin Ford"]))


def test_in_one_scene_every_call_counts(annotate):
    """A short text has no chapters that somebody visits."""
    calls = ["“Anna Hill!” said Martin Ford to me.", "“Quick, Anna Hill,” said he.", "He looked at me."]
    assert told_by(annotate("\n\n".join([*PLAIN, *calls, *PLAIN[:50]]), ["Anna Hill", "Martin Ford"]))


@pytest.mark.parametrize("heading", ["Anna Hill's Narrative", "The Road"])
def test_a_chapter_in_the_third_person_has_no_narrator(annotate, heading):
    """Every second chapter of "Bleak House" is told by nobody, though the last heading was Esther's."""
    mine = ["I am Anna Hill. “Well, Anna Hill,” said Martin Ford to me.", *PLAIN[:12]]
    text = "\n\n".join(
        ["CHAPTER I", heading, *mine, "CHAPTER II", "The House", HE_WENT, "I wonder, he thought.", HE_WENT,
         "CHAPTER III", heading, *mine]
    )  # fmt: skip
    done = annotate(text, ["Anna Hill", "Martin Ford"])
    second, third = (i for i, t in enumerate(done.book.tokens) if t in ("II", "III"))
    hers = first_person(done, "Anna Hill")
    assert len(hers) > 40
    assert not [at for at in hers if second < at < third]


@pytest.mark.parametrize(("signed", "hers"), [("", False), ("\n\nANNA HILL.", True)])
def test_a_preface_is_the_narrators_if_she_signs_it(annotate, signed, hers):
    """That of "Bleak House" is of the author, not of Miss Summerson."""
    mine = ["I am Anna Hill. “Well, Anna Hill,” said Martin Ford to me.", *PLAIN[:12]]
    preface = f"PREFACE\n\nI wrote this book in London. I thank my readers.{signed}"
    text = "\n\n".join([preface, "CHAPTER I", *mine, "CHAPTER II", *mine])
    done = annotate(text, ["Anna Hill", "Martin Ford"])
    first = first_person(done, "Anna Hill")
    assert len(first) > 40
    assert (first[0] < done.book.tokens.index("CHAPTER")) == hers


def test_a_journal_without_chapters_is_his_whose_name_is_above_it(annotate):
    """Dracula begins so; there, nobody calls him."""
    assert told_by(
        annotate(
            "\n\n".join(["ANNA HILL'S JOURNAL", "It rained. " + I_WENT * 6]), ["Anna Hill", "Martin Ford"]
        )
    )
