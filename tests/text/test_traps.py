"""Forty texts in which story looks like apparatus: nothing of the story may be cut without a word.

Every trap is a small book of our own with one passage (`{...}` marks nothing: the passage is the trap) that a
rule could take for apparatus. A trap is passed when the passage stays, or when the book is refused.
"""

from __future__ import annotations

import itertools
import re

import pytest

from bookcoref_data.errors import DataError
from bookcoref_data.text.clean import clean

NAMES = ("Ada", "Tom", "Brook", "Reed", "Tam")
PROSE = [
    "“I shall go,” said {0}, “when the lamps are lit,” and with that {1} took the road to the mill, where "
    "the water was low and the boats lay in the mud.",
    "The old house stood where {0} had left it, and {1} could see that nobody had lived in it, "
    "since the shutters hung as they had hung that winter.",
    "So {0} waited, and {1} waited too, until the bell rang twice and the village came down, "
    "for no boat had crossed the river since the flood.",
]


def wrapped(text: str) -> str:
    words, lines, line = text.split(), [], ""
    for word in words:
        if len(line) + len(word) > 70:
            lines.append(line.strip())
            line = ""
        line += f" {word}"
    return "\n".join([*lines, line.strip()])


def story(paragraphs: int) -> str:
    pairs = [(NAMES[n % 5], NAMES[(n + 2) % 5]) for n in range(paragraphs)]
    return "\n\n".join(wrapped(PROSE[n % 3].format(*pair)) for n, pair in enumerate(pairs))


def ebook(body: str) -> str:
    return (
        "The Project Gutenberg EBook of The Lamp Road, by Mira Holt\n\nTitle: The Lamp Road\n\n"
        "Author: Mira Holt\n\n*** START OF THIS PROJECT GUTENBERG EBOOK THE LAMP ROAD ***\n\n\n\n"
        f"{body}\n\n\n\nEnd of the Project Gutenberg EBook of The Lamp Road\n\n"
        "*** END OF THIS PROJECT GUTENBERG EBOOK THE LAMP ROAD ***\nlicence\n"
    )


CHAPTER = "\n\n\n\nCHAPTER {}\n\n\n"
BODY = "".join(CHAPTER.format(n) + story(30) for n in ("I", "II", "III"))
EPILOGUE = wrapped(
    "Seven years ago we all went through the flood; and the happiness of some of us since then is, we think, "
    "well worth the pain we endured. Ada and Tom were married in the spring. In the summer of this year we "
    "went to the mill again, and Reed took our boy upon his knee and said that he would some day know how "
    "brave his mother was."
)
FRAME = wrapped(
    "I had known Ada when we were children, and when I met Tom again upon the train we talked of "
    "her the whole night, and before we parted he had promised to write down what he remembered of her, and "
    "so had I; but only he kept his word, and here is what he brought me."
)
VERSE = (
    "The lamp upon the road is low,\n  the road is long and white,\nand nobody that I may know\n"
    "  will walk with me to-night,\nbut still the water sings below\n  and still the boats go by."
)
FRONT = {
    "introduction that is the frame of the story": f"INTRODUCTION\n\n\n{FRAME}",
    "preface by the hero": f"PREFACE\n\n\n{wrapped('I, Tom Reed, wrote this. ' + EPILOGUE)}",
    "a long introductory sketch": f"THE MILL\n\nINTRODUCTORY TO THE LAMP ROAD\n\n\n{story(20)}",
    "prologue in verse": VERSE,
    "prologue with its title": f"PROLOGUE\n\n\n{EPILOGUE}",
    "letter before the first chapter": wrapped("My dear Ada,--When you read this I shall be gone. " + FRAME),
    "diary before the first chapter": f"TOM REED'S JOURNAL\n\n{EPILOGUE}",
    "a note to the reader by the hero": f"TO THE READER\n\n\n{FRAME}",
    "an advertisement by the hero": f"ADVERTISEMENT\n\n\n{FRAME}",
    "a heading of its own before the prose": f"A WHISPER TO THE READER\n\n{FRAME}",
    "a heading with a line in brackets": f"ETYMOLOGY.\n\n(Supplied by a late usher)\n\n{FRAME}",
    "prepared by, in the story": wrapped("Prepared by the long winter for the worst, Ada went on. " + FRAME),
    "produced by, in the story": wrapped("Produced by the clock, a sound went through the house. " + FRAME),
    "contents of a box": f"Contents of the box were these.\n{EPILOGUE}",
    "an introduction that names the author in passing": (
        "INTRODUCTION\n\n\n" + wrapped(f"My neighbour Holt knew them all. {FRAME}")
    ),
    "a short first paragraph of speech": "“Who is there?” said Ada.",
    "the day of a diary": f"March 3rd, 1840.\n\n{EPILOGUE}",
    "the day of a letter": f"THE MILL HOUSE, MERE, 3 May 1840.\n\nDear Tom,\n\n{EPILOGUE}",
    "a foreword by a friend of the hero": (
        "FOREWORD\n\n\n"
        + wrapped(
            "When Tom Reed died he left me these papers. I knew Ada too, and changed "
            "nothing but the names of two farms; Tam has put his mark below."
        )
        + "\n\n     HUGH MARSH."
    ),
}
INSIDE = {
    "a chapter called notes": f"NOTES\n\n{EPILOGUE}",
    "contents inside the story": f"CONTENTS\n\n{EPILOGUE}",
    "a list in the story": f"ILLUSTRATIONS of her kindness were many.\n{EPILOGUE}",
    "a number in brackets": "They slept in room [12] of the inn by the river.",
    "a star that is a star": "He had seen it in the sky,\n\n* * * * *\n\nand nobody else had.",
    "a formula": "He wrote C_{2}HCl_{3}O upon the wall of the mill.",
    "a blank for a name": "Lord ____ of H---- came down to the mill that day.",
    "a sum": "She wrote 1 + 1 = 2 and a=b upon the slate.",
    "a transcriber in the story": wrapped("Transcribers sat in the room, Ada among them. " + EPILOGUE),
    "a transcription in the story": f"Transcription of what Tam said upon the mill stairs.\n\n{EPILOGUE}",
    "a page in the story": "Page 12\n\nwas all that was left of the letter that Ada wrote.",
    "a line like a page number": "7)",
    "an index finger": f"INDEX FINGER\n\n{EPILOGUE}",
    "verse in brackets": "[Tom sings: the lamp upon the road is low]",
    "a note handed over": f"NOTE\n\n{EPILOGUE}",
    "a letter of the editor": f"FROM THE EDITOR OF THE FERRY NEWS\n\n{EPILOGUE}",
}
BACK = {
    "an epilogue called note": f"NOTE\n\n\n{EPILOGUE}",
    "an epilogue called notes": f"NOTES\n\n\n{EPILOGUE}",
    "an appendix that is a letter": f"APPENDIX\n\n\n{EPILOGUE}\n\n{story(3)}",
    "an index that is a chapter": f"INDEX\n\n\n{story(6)}",
    "an advertisement that is the last word": f"ADVERTISEMENT\n\n\n{EPILOGUE}",
    "the story goes on behind a transcriber's note": (
        f"[Transcriber's Note: a page is torn.]\n\n{CHAPTER.format('IV')}{story(4)}"
    ),
    "the author's own note": f"AUTHOR'S NOTE\n\n\n{EPILOGUE}",
    "the last line names an end": "So came the end of the road for Ada and for Tom.",
}


def book(place: str, passage: str) -> str:
    middle = story(30)
    return ebook(
        {
            "front": f"THE LAMP ROAD\n\nby\n\nMira Holt\n\nLONDON\n1871\n\n\n\n{passage}{BODY}",
            "inside": f"{CHAPTER.format('I')}{middle}\n\n\n{passage}\n\n\n{middle}" + BODY,
            "back": f"{BODY}\n\n\n\n{passage}",
        }[place]
    )


TRAPS = [
    (place, name, passage)
    for place, traps in (("front", FRONT), ("inside", INSIDE), ("back", BACK))
    for name, passage in traps.items()
]


def outcome(place: str, passage: str) -> str:
    """ "kept", "refused", or "cut: ..." with the words that are gone."""
    try:
        result = clean(book(place, passage))
    except DataError:
        return "refused"
    wanted = [word for word in re.findall(r"\w+", passage.replace("_", " ")) if not word.isdigit()]
    kept = set(re.findall(r"\w+", result.text.replace("_", " ")))
    place_of = result.text.find(" ".join(passage.split("\n")[-1].split()[-6:]))
    gone = [word for word in wanted if word not in kept and "Transcriber" not in passage.split("\n")[0]]
    return "kept" if not gone and place_of >= 0 else f"cut: {gone[:5]}"


def test_of_forty_traps_none_is_cut_and_at_most_two_are_refused():
    assert len(TRAPS) >= 40
    found = {(place, name): outcome(place, passage) for place, name, passage in TRAPS}
    assert {trap: what for trap, what in found.items() if what.startswith("cut")} == {}
    assert sum(what == "refused" for what in found.values()) <= 2


def test_the_guard_refuses_two_books_in_one_file_and_half_a_footer():
    two = ebook(BODY) + "\n\n" + ebook(BODY.replace("Ada", "Meg"))
    with pytest.raises(DataError, match="holds 2 books"):
        clean(two)
    early = ebook(BODY + BODY).replace(
        "CHAPTER II", "End of the Project Gutenberg EBook of The Lamp Road, part one", 1
    )
    long = early.replace(CHAPTER.format("III"), CHAPTER.format("III") + story(400))
    with pytest.raises(DataError, match=r"too much \(footer\)"):
        clean(long)


@pytest.mark.parametrize(
    ("heading", "text", "goes"),
    [
        ("NOTES", "\n\n".join(f"{n}. A river of the country." for n in range(1, 9)), True),
        ("NOTE", "This edition follows the first, published in 1871 by the author.", True),
        ("GLOSSARY", "lamp  a light\n\nroad  a way\n\nmill  a house", True),
        ("ANMERKUNGEN", "\n\n".join(f"[{n}] Ein Fluss des Landes." for n in range(1, 9)), True),
        ("DU MÊME AUTEUR", "La route\n\nLe moulin", True),
        ("NOTE", EPILOGUE, False),
    ],
)
def test_what_is_back_matter_goes_and_the_reason_is_given(heading, text, goes):
    result = clean(book("back", f"{heading}\n\n\n{text}"))
    (section,) = [s for s in result.sections if s.kind == "back-matter"]
    assert section.cut is goes
    assert (heading in result.text) is not goes
    assert heading in str(section)
    assert section.to_dict()["reason"]


def test_a_block_of_the_front_with_one_blank_line_above_opens_no_preface():
    """`gap` counts blank lines: one is a paragraph, two set a heading off."""
    front = f"CHAPTER I\n\n\n{story(2)}\n\nPREFACE\n\n{wrapped('The translator translated it.')}"
    assert "PREFACE" in clean(ebook(f"{front}{BODY}")).text
    two = f"TRANSLATOR'S PREFACE\n\n\n{wrapped('The translator of this edition published it.')}"
    assert "PREFACE" not in clean(ebook(f"{two}{BODY}")).text


@pytest.mark.parametrize(
    ("mark", "note"),
    [
        ("water[3]", "[Note 3: Une rivière.]"),
        ("water[3]", "[Fußnote 3: Ein Fluss.]"),
        ("water[3]", "3 (return) [ A river.]"),
        ("water", "and so on [Footnote: a river] it went."),
    ],
)
def test_footnotes_in_other_forms_go(mark, note):
    passage = f"She saw the {mark} and the mill that day.\n\n{note}"
    text = clean(book("inside", passage)).text
    assert "She saw the water and the mill" in text
    assert not re.search(r"[Rr]ivière|Fluss|A river|a river|\[3\]|\(return\)", text)
    assert ("and so on it went." in text) == note.startswith("and so on")


@pytest.mark.parametrize(
    "front",
    [
        "TABLE DES MATIÈRES\n\n  CHAPITRE I   Le pont\n  CHAPITRE II   Le moulin",
        "Inhaltsverzeichnis\n\n  Erstes Kapitel   Die Brücke\n  Zweites Kapitel   Die Mühle",
        "PRÉFACE DU TRADUCTEUR\n\n\nCette édition, publiée en 1871, est la traduction du roman de l’auteur.",
        "VORWORT DES HERAUSGEBERS\n\n\nDiese Ausgabe von 1871 folgt der ersten Auflage des Romans.",
        "Anmerkungen zur Transkription\n\nDer Text folgt dem Druck.",
        "Note de transcription\n\nLe texte suit l’édition.",
    ],
)
def test_french_and_german_apparatus_goes(front):
    text = clean(book("front", front)).text
    assert text.startswith("CHAPTER I\n")


def test_half_titles_and_the_line_that_names_the_end_go():
    front = f"PREFACE\n\n\n{FRAME}\n\n\n\nTHE LAMP ROAD"
    text = clean(book("front", front)).text
    assert "THE LAMP ROAD" not in text
    assert text.startswith("PREFACE")
    assert "End of" not in clean(book("back", "End of The Lamp Road")).text


def test_the_title_of_the_first_of_two_plays_is_no_end_of_the_introduction():
    """It went with the introduction, which a heading of its rank would have ended."""
    front = f"INTRODUCTION\n\n\n{EDITORS}\n\n     A. B. READER.\n\n\n\n\nTHE WHITE BOAT\n\nA DRAMA IN ONE ACT"
    whole = book("front", front).replace(
        "Title: The Lamp Road", "Title: Two Plays\n       The White Boat; The Mill"
    )
    assert clean(whole).text.startswith("THE WHITE BOAT\n\nA DRAMA IN ONE ACT\n\nCHAPTER I")


@pytest.mark.parametrize("volume", ["v. 1/3", "vol. I", "Volume 1"])
def test_the_first_tale_of_a_volume_keeps_its_title(volume):
    """Behind the half title of the book stands the title of the tale, above the tale's own prologue."""
    front = "The Lamp Road.\n\n\nGREEN LAMPS.\n\n\n\n\nPROLOGUE.\n\nTHE MILLER."
    whole = book("front", f"THE LAMP ROAD\n\nBY\n\nJ. WREN\n\nLONDON: 1872.\n\n\n\n{front}")
    text = clean(whole.replace("Title: The Lamp Road", f"Title: The Lamp Road, {volume}")).text
    assert text.startswith("GREEN LAMPS.\n\nPROLOGUE.")


# -- forty more: whole books, in which some passages must stay and some must go ------------------------

PEOPLE = ("Vera", "Hugh", "Marsh", "Noll", "Edith")


def tale(paragraphs: int, people: tuple[str, ...] = PEOPLE) -> str:
    """Prose of other people than those of `story`."""
    pairs = [(people[n % 5], people[(n + 3) % 5]) for n in range(paragraphs)]
    return "\n\n".join(wrapped(PROSE[n % 3].format(*pair)) for n, pair in enumerate(pairs))


def chapters(*insides: str, back: str = "") -> str:
    """Three chapters; each passage stands in the middle of one."""
    middles = [*insides, "", "", ""][:3]
    parts = [
        f"{CHAPTER.format(number)}{story(20)}\n\n{middle}\n\n{story(20)}"
        for number, middle in zip(("I", "II", "III"), middles, strict=True)
    ]
    return "".join(parts) + back


def lines(text: str) -> str:
    return "\n\n".join(wrapped(line) for line in text.strip().split("\n"))


EDITORS = wrapped(
    "The first edition of this novel was published in London in 1871, and the critics of the time read it as "
    "a masterpiece of its author. Mira Holt was born in 1840, and her literary life was short; the "
    "manuscript "
    "was printed by her publishers without her name. Her readers knew three novels before it. The present "
    "edition follows the text of the second volume of the works of 1880, and the editor has corrected its "
    "spelling. Holt’s biography, which was written in 1890, says little of its composition."
)
CATALOGUE = (
    "BOOKS BY MIRA HOLT\n\n\nTHE LAMP ROAD. Illustrated. 12mo, cloth, $1.50.\n\n"
    "THE FERRY NEWS. A Novel. Crown 8vo, cloth extra, gilt top, price 6s.\n\n"
    + wrapped("“A charming book, which every reader will finish at one sitting. The best novel of the "
    "season.”"
              "--_Boston Herald_.")
    + "\n\nHOLT & SONS, PUBLISHERS, NEW YORK\n\nFor sale by all booksellers, or sent postpaid on "
    "receipt of price."
)  # fmt: skip
ADVERTS = "BOOKS BY MIRA HOLT\n\nTHE FERRY SERIES\n\n12mo. Illustrated. Price, 60 cents, postpaid" + "".join(
    f"\n\n{name}\n\n"
    + wrapped(f"The adventures of a party of boys with {what} upon the river, told in a way that will hold "
    "the reader from the first page to the last; those who have the earlier volumes will want this one.")
    for name, what in (("THE FERRY NEWS", "a motor boat"), ("THE LAST LAMP", "a lamp"))
)  # fmt: skip
NUMBERED = "\n\n".join(f"{n}. {what}: an old word of the country." for n, what in enumerate(
    ("Lamp", "Oar", "Reeve", "Sedge", "Withy", "Mere"), 1))  # fmt: skip
SONG = "\n\n".join(
    f"The lamp is low, the lamp is lit,\n  the oar is by the door,\nand {name} that had the heart of it\n"
    "  will come to us no more." for name in ("Vera", "Edith", "Noll")
)  # fmt: skip
END_NOTES = "\n\n\n".join(
    f"NOTE {n}\n\n" + wrapped(
        f"The custom of the ferrymen of the north, to which the text alludes, is described in a volume "
        f"printed "
        f"in 17{n}1. According to the county histories such tolls were levied until the reign of George II., "
        f"and the author had the particulars from a manuscript of the parish; see also the edition of 18{n}0."
    ) for n in range(1, 7)
)  # fmt: skip
CONTENTS = "CONTENTS\n\n   I. The Mill\n  II. The Ferry\n III. The Flood"


def titled(*names: str, gap: str = "\n\n\n\n", each: int = 12, notes: str = "") -> str:
    """A collection without chapters: titles and tales, every tale with people of its own."""
    casts = (
        NAMES,
        PEOPLE,
        ("Ruth", "Giles", "Anne", "Peter", "Joan"),
        ("Karl", "Lise", "Otto", "Minna", "Franz"),
    )
    return gap.join(
        f"{name}\n\n\n{tale(each, casts[n % 4])}{notes if n == 0 else ''}" for n, name in enumerate(names)
    )


WIDE = "\n\n\n\n"
MORE = {
    # what is in the story and looks like notes
    "numbered orders": (
        chapters("(1) No man shall leave the ship.\n\n(2) No lamp shall burn at night.\n\nThat was rule (1), "
                 "and rule (2) was the worse of them."),
        ("No man shall leave", "No lamp shall burn"), ()),
    "a dialogue marked with letters": (
        chapters("\n\n".join(["(H) What do you think of the mill?", "(I) Reasonable men must think you "
        "are right.",
                              "(H) And of the ferry (I mean the old one)?", "(I) So it seems (I) and so "
                              "it was said."])),
        ("Reasonable men", "So it seems", "What do you think of the mill"), ()),
    "choices in letters": (
        chapters("(A) Let him go.\n\n(B) Keep him.\n\nTom chose (A) and was glad of it."), ("Let him "
        "go", "Keep him"), ()),
    "speech behind a star, and a real note": (
        chapters("The reeve* came by.\n\n  * A kind of bailiff.\n\nTwo of them stood there.\n\n"
                 "* “That is my brother,” said Ada.\n\n* “And mine,” said Tom."),
        ("That is my brother", "And mine", "The reeve came by"), ("A kind of bailiff",)),
    "a list in square brackets": (
        chapters("She wrote upon the slate:\n\n[1] A rope for Tom.\n\n[2] A lamp for Reed."),
        ("A rope for Tom", "A lamp for Reed"), ()),
    "a list in square brackets, spoken of": (
        chapters("[1] A rope for Tom.\n\n[2] A lamp for Reed.\n\nAda looked at [1] and at [2] and laughed."),
        ("A rope for Tom", "A lamp for Reed"), ()),
    "a list of things to do": (
        chapters("1. Wake Tom.\n\n2. Feed the cow.\n\n3. Cross the river.\n\n4. Say nothing."),
        ("Wake Tom", "Say nothing"), ()),
    "a chapter called notes on something": (
        chapters() + f"{WIDE}NOTES ON THE FERRY\n\n\n{story(8)}\n\n“That was the last note,” said Reed.{WIDE}"
        f"A Letter\n\n\n{story(8)}",
        ("That was the last note", "NOTES ON THE FERRY"), ()),
    "notes by the hero, numbered": (
        chapters() + WIDE
        + "\n\n\n".join(f"NOTE {n}\n\n{lines(EPILOGUE)} So wrote Tam, number {n}." for n in (1, 2, 3)),
        ("number 1", "number 3"), ()),
    "a chapter called notes": (
        chapters() + f"{WIDE}NOTES\n\n\n{story(3)}\n\n“Read me your notes,” said Ada.\n\n{story(3)}",
        ("Read me your notes",), ()),
    "a chapter called errata": (
        chapters() + f"{WIDE}ERRATA\n\n\n{story(6)}\n\n“We have erred,” said Brook.", ("We have erred",), ()),
    "stage directions": (
        chapters("[Exit Tom.]\n\n[Ada weeps; the lamps go out.]"), ("Exit Tom", "the lamps go out"), ()),
    # notes that are notes, and what stands behind them
    "footnotes in a collection": (
        titled("The Mill[A]", "The Ferry", "The Flood",
               notes="\n\n\nFOOTNOTES:\n\n[A] From an old paper of the county."),
        ("The Ferry", "The Flood", "Hugh", "Giles"), ("From an old paper",)),
    "footnotes with a small gap behind them": (
        titled("The Mill[A]", "The Ferry", "The Flood", gap="\n\n",
               notes="\n\nFOOTNOTES:\n\n[A] From an old paper of the county."),
        ("The Ferry", "The Flood", "Hugh", "Giles"), ("From an old paper",)),
    "notes to a song, and a song with a mark in its title": (
        chapters(f"{WIDE}THE FIRST SONG.\n\n{SONG}\n\n\nNotes to the First Song\n\n\n{NUMBERED}\n\n\n"
                 f"THE SECOND SONG.<1>\n\n\n{SONG.replace('lamp', 'moon')}\n\n"),
        ("THE SECOND SONG", "The moon is low", "The lamp is low"), ("an old word of the country", "Sedge")),
    "footnotes at the ends of chapters": (
        chapters("She saw the reeve[1] and the withy[2] there.\n\n[1] A kind of bailiff.\n\n[2] A willow."),
        ("She saw the reeve and the withy there",), ("A kind of bailiff", "A willow")),
    "end notes with numbers of their own": (
        chapters("And so they paid the toll. [See Note 3.]") + f"{WIDE}NOTES\n\n\n{END_NOTES}",
        ("they paid the toll",), ("the county histories",)),
    "a note of the transcriber in the story": (
        chapters("[Transcriber's Note: a word is missing here.]"), (), ("a word is missing",)),
    "sidenotes": (
        chapters("[Sidenote: Ada comes\nto the mill]\n\nThen the rain began."), ("Then the rain "
        "began",), ("Ada comes",)),
    "notes of the transcriber in several paragraphs": (
        chapters() + f"{WIDE}Transcriber's Notes:\n\nSpelling was kept.\n\nIn chapter two a comma was "
        f"added.\n\n\n"
        "The table was made for this e-text.",
        (), ("Spelling was kept", "a comma was added", "was made for this e-text")),
    # collections and titles
    "a collection named for one tale": (
        "CONTENTS\n\n  The Lamp Road\n  The Ferry\n  The Flood" + WIDE
        + titled("THE LAMP ROAD", "THE FERRY", "THE FLOOD"),
        ("THE FERRY", "THE FLOOD", "Hugh", "Giles"), ("CONTENTS",)),
    "a story with a title page in the story": (
        chapters(f"THE WHITE BOAT\n\nBY TOM REED\n\n{tale(4)}"),
        ("THE WHITE BOAT", "BY TOM REED", "Hugh"), ()),
    "title and first heading behind the contents": (
        f"THE LAMP ROAD\n\nby Mira Holt\n\n\n\n{CONTENTS}\n\n\n\nTHE LAMP ROAD\n\n\n\nCHAPTER I\n\nTHE "
        f"MILL\n\n\n{story(30)}"
        f"{WIDE}CHAPTER II\n\nTHE FERRY\n\n{story(30)}",
        ("CHAPTER I\n\nTHE MILL", "CHAPTER II"), ("III. The Flood",)),
    "first heading close behind the contents": (
        f"{CONTENTS}\n\nI\n\nTHE MILL\n\n{story(30)}\n\nII\n\nTHE FERRY\n\n{story(30)}", ("I\n\nTHE "
        "MILL",), ("III. The Flood",)),
    "a first heading that the contents word otherwise": (
        f"{CONTENTS}{WIDE}THE LAMP ROAD\n\nCHAPTER I\n\nIN WHICH ADA COMES TO THE MILL\n\n\n{story(30)}",
        ("CHAPTER I\n\nIN WHICH ADA COMES",), ("III. The Flood",)),
    "contents of a chest": (
        chapters("CONTENTS\n\na rope\na lamp\na knife\na letter to Ada"), ("a letter to Ada", "a knife"), ()),
    "a play in the story": (
        chapters("DRAMATIS PERSONÆ\n\nTHE MILLER, an old man.\n\nHIS DAUGHTER, whom Tom "
        "played.\n\nMILLER. Who is "
                 "at my door?\n\nDAUGHTER. Only the wind, father.\n\n\nSCENE II\n\n\nMILLER. Then let "
                 "it in."),
        ("whom Tom played", "Only the wind", "Then let it in"), ()),
    "a list of guests": (
        chapters("List of the persons who came to the mill\n\nAda Brook.\n\nTom Reed, with his "
        "dog.\n\n\nThat was all."),
        ("with his dog", "who came to the mill"), ()),
    # the front
    "an introduction that is a chapter": (
        f"INTRODUCTION\n\n\n{story(12)}" + chapters(), ("INTRODUCTION",), ()),
    "adverts in prose before the copyright": (
        f"THE LAMP ROAD\n\nBY\n\nMIRA HOLT\n\nNEW YORK\nHOLT & SONS\n\n\n\n{ADVERTS}\n\n\n\nCopyright, 1907, "
        f"by\nHOLT & SONS\n\nTHE LAMP ROAD\n\nPrinted in U. S. A.\n\n\n\n{CONTENTS}{chapters()}",
        ("CHAPTER I",), ("hold the reader", "FERRY SERIES", "HOLT & SONS", "Copyright", "THE LAMP ROAD")),
    "a copyright below the first page of a tale": (
        f"THE LAMP ROAD\n\nby MIRA HOLT\n\nIllustrated by J. Reed. The romance of the year.\n\n{story(4)}"
        f"\n\nCopyright, 1907, by HOLT & SONS\n\n{story(4)}{chapters()}",
        ("CHAPTER I",), ()),
    "a found manuscript": (
        "EDITOR’S PREFACE\n\n\n" + wrapped("The editor of these papers had the manuscript from Ada in "
        "the winter of the "
        "flood, and Tom, whom he asked, would not have it printed while Reed lived.")
        + f"\n\n{story(5)}" + chapters(),
        ("had the manuscript from Ada",), ()),
    "a note by the publisher who is one of the people": (
        f"PUBLISHER’S NOTE\n\n\n{FRAME}\n\n{EPILOGUE}" + chapters(), ("he had promised to write down",), ()),
    "a letter like a preface": (
        "TO THE READER\n\n\n" + wrapped("You asked me, Holt, what became of them. “Nothing,” said Ada, "
        "when I put it to "
        "her, “became of us,” and Tom laughed.") + f"\n\n{FRAME}\n\n     R. A. REED.{chapters()}",
        ("what became of them", "R. A. REED"), ()),
    "an introduction by an editor": (
        f"INTRODUCTION\n\n\n{EDITORS}\n\n{EDITORS}\n\n     A. B. READER.{chapters()}",
        ("CHAPTER I",), ("first edition",)),
    "an epigraph and a line in capitals": (
        chapters("THE LAMP INN. ROOMS AND BOATS.\n\nSTOP. TOM IS ILL. COME AT ONCE. ADA.").replace(
            "CHAPTER II\n", "CHAPTER II\n\n     “The road is long.”--_Old Play_.\n"),
        ("ROOMS AND BOATS", "COME AT ONCE", "The road is long"), ()),
    # the back
    "the end in the middle": (
        f"{story(60)}\n\n\nTHE END\n\n\n\n“It is not the end,” said Ada.\n\n{story(20)}", ("It is not "
        "the end",), ()),
    "an epilogue behind the end": (
        chapters() + f"\n\n\nTHE END\n\n\n\n“That was all,” said Tom, and Ada laughed.\n\n{EPILOGUE}",
        ("That was all", "how brave his mother was"), ()),
    "a catalogue behind the end": (
        chapters() + f"\n\n\nTHE END\n\n\n\n{CATALOGUE}\n\n\n{CATALOGUE.replace('HOLT', 'MARLOW')}",
        (), ("12mo", "crown 8vo", "charming book", "sent postpaid", "FERRY NEWS")),
    "a catalogue without the end": (
        chapters() + f"{WIDE}{CATALOGUE}", (), ("12mo", "sent postpaid")),
    "other novels behind the end": (
        chapters() + "\n\n\nTHE END\n\n\n\nTHE GREY FERRY\n\nBy HUGH MARLOW\n\n"
        + wrapped("A stirring romance of the border, by the author of “The Two Inns.” The reader who "
        "takes up this novel "
                  "will not lay it down. Illustrated, 320 pages, cloth, $1.25. All booksellers.") + "\n\n\n"
        + wrapped("“Mr. Marlow’s best book.”--_The Times_.") + "\n\nMARLOW & CO., PUBLISHERS, BOSTON",
        (), ("stirring romance", "GREY FERRY", "best book", "MARLOW & CO")),
    "a list of sums at the end": (
        chapters() + f"{WIDE}What Tam left:\n\nTo Ada, 12s.\n\nTo Tom Reed, 5s.\n\nFor the lamp, price "
        "3s. 6d.\n\nFor the boat, 40s.", ("What Tam left", "For the boat, 40s."), ()),
    "accounts at the end": (
        chapters() + f"{WIDE}ACCOUNTS OF THE MILL\n\nRent ........ $3.50\nOil ........ $1.25\nA rope "
        "........ $0.40\nBread ........ $2.00", ("ACCOUNTS", "$2.00"), ()),
    "an advert in the story": (
        chapters("ADVERTISEMENTS\n\nLOST, a lamp of brass. Whoever brings it to Ada Brook at the mill "
        "shall have 5s. for it."
                 "\n\nFOR SALE, a boat, price $2.50. Apply to Tom Reed."), ("LOST, a lamp", "Apply to "
                 "Tom Reed"), ()),
    "a story after part one": (
        f"PART ONE\n\n\n{story(40)}\n\n\nEND OF PART ONE\n\n\n\nPART TWO\n\n\n{story(40)}\n\n\nFINIS",
        ("PART TWO",), ()),
}  # fmt: skip


VERSES = "\n\n".join(
    f"The lamp upon the road is low,\n  the road is long and white,\nand {name} whom I used to know\n"
    "  will walk with me to-night." for name in ("Vera", "Edith", "Noll") * 4
)  # fmt: skip
POEMS = f"{WIDE}\n".join(f"{title}\n\n{VERSES}" for title in ("THE MOON", "THE MERE", "THE FERRY"))
MORE |= {
    "a collection of poems and its contents": (
        f"CONTENTS\n\nThe Moon ...... 3\nThe Mere ...... 9\nThe Ferry ..... 12{WIDE}\n{POEMS}",
        ("THE MOON The lamp upon", "THE MERE The lamp upon", "THE FERRY The lamp upon"),
        ("CONTENTS", "....")),
    "a collection of poems without contents": (
        POEMS, ("THE MOON The lamp upon", "THE FERRY The lamp upon"), ()),
    "a poem to somebody before the contents": (
        f"TO EDITH\n\n{VERSES}{WIDE}\nCONTENTS\n\nThe Moon\nThe Mere\nThe Ferry{WIDE}\n{POEMS}",
        ("TO EDITH The lamp upon", "THE MOON The lamp upon"), ("CONTENTS",)),
    "a diary without a title page": (
        f"January 1, 1840.\n\n{story(3)}\n\n\nJanuary 2.\n\n{story(60)}",
        ("January 1, 1840.", "January 2."), ()),
    "notes of the transcriber inside a paragraph": (
        chapters("She saw [TN: a word is torn off] the boat, and [Transcriber's Note: sic] the mil."),
        ("She saw the boat, and the mil.",), ("torn off", "sic]")),
    "a page without print": (chapters("[Blank Page]\n\nSo she went."), ("So she went.",), ("Blank",)),
    "the line of the printer": (
        chapters() + "\n\n\nPrinted by R. & R. CLARK, LIMITED, _Edinburgh_.", (), ("CLARK",)),
    "a last line about print": (
        chapters() + "\n\n\nPrinted by Tam upon the wall stood: she is gone.",
        ("upon the wall stood: she is gone",), ()),
}  # fmt: skip


def flat(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("name", MORE)
def test_forty_more_traps(name):
    """Nothing that stays is lost, what goes is gone, and of the running story no paragraph is missing."""
    body, stays, goes = MORE[name]
    source = ebook(body)
    if "collection" in name:
        source = source.replace("Title: The Lamp Road", "Title: The Lamp Road and Other Stories")
    text = clean(source).text
    assert [words for words in stays if flat(words) not in flat(text)] == []
    assert [words for words in goes if flat(words).lower() in flat(text).lower()] == []
    for telling in ("when the lamps are lit", "shutters hung as they", "no boat had crossed"):
        assert flat(text).count(telling) == flat(body).count(telling)


def test_there_are_forty_more_traps():
    assert len(MORE) >= 40


# -- forms that other transcribers use -----------------------------------------------------------------


def broken(number: str) -> str:
    """Pages in running text: forty paragraphs, every second one broken in two by the number of a page."""
    passage = wrapped(f"So {NAMES[0]} waited, and {NAMES[1]} waited too, until the bell rang twice")
    return "\n\n".join(
        f"{passage}\n\n{number.format(n)}\n\n"
        + wrapped("and the village came down to the water.")
        + f"\n\n{wrapped(PROSE[1].format('Tam', 'Reed'))}"
        for n in range(3, 23)
    )


@pytest.mark.parametrize("number", ["{}", "[{}]", "({})", "- {} -", "-{}-", "{:>40}", "[Pg {}]"])
def test_a_page_number_between_the_halves_of_a_paragraph_goes_and_they_are_joined(number):
    text = clean(ebook(BODY + CHAPTER.format("IV") + broken(number))).text
    assert len(re.findall(r"rang\stwice\nand the village", text)) == 20
    assert text.count("CHAPTER") == 4


def test_numbers_of_chapters_and_of_sections_are_no_pages():
    numbered = "".join(f"\n\n\n{n}\n\n\n{story(5)}" for n in range(1, 13))
    assert [chapter.title for chapter in clean(ebook(numbered)).chapters] == [str(n) for n in range(1, 13)]
    sections = "\n\n".join(f"{n}\n\n{story(2)}" for n in range(1, 30))
    assert len(re.findall(r"(?m)^\d+$", clean(ebook(BODY + CHAPTER.format("IV") + sections)).text)) == 29
    mixed = "".join(f"\n\n\n{n}\n\n\n{broken('{}').replace('3', str(n))}" for n in range(1, 4))
    assert [chapter.title for chapter in clean(ebook(mixed)).chapters] == ["1", "2", "3"]


def test_page_numbers_in_brackets_inside_the_lines_go_where_they_rise():
    pages = "\n\n".join(wrapped(f"So Ada waited, [{n}] and Tom waited too.") for n in range(7, 40))
    text = clean(ebook(BODY + CHAPTER.format("IV") + pages)).text
    assert text.count("So Ada waited, and Tom waited too.") == 33


BOX = (
    "+--------------------------------------------------+\n"
    "| Transcriber's Note:                              |\n"
    "|                                                  |\n"
    "| The words of the box were mended without a word. |\n"
    "+--------------------------------------------------+"
)
CORRECTED = "\n\n".join(f"p. {n}\n\n  said teh man\n  said the man" for n in range(3, 9))
BY_CHAPTER = "\n\n\n".join(
    f"CHAPTER {n}\n\n1. Lamp: an old word of the country.\n\n2. Oar: so the stone has it."
    for n in ("I", "II", "III")
)


@pytest.mark.parametrize(
    ("place", "passage", "gone"),
    [
        ("front", BOX, "mended without"),
        ("inside", BOX, "mended without"),
        ("back", BOX, "mended without"),
        ("back", f"Corrections\n\n\nThe first line is the original.\n\n{CORRECTED}", "teh"),
        ("back", f"NOTES\n\n\n{BY_CHAPTER}", "so the stone"),
        ("back", "LIST OF SUBSCRIBERS\n\n\nAbel Hobb, Esq.\nCarl Pike, Esq.\nThe Vicar of Mere", "Pike"),
        ("back", "PRESS OPINIONS OF\nTHE LAMP ROAD\n\n'To be read.'--_Globe_.\n\n'Good.'--_Sun_.", "Globe"),
        ("inside", "She saw [Illustration: the lamp\non the road] the mill.", "on the road"),
    ],
)  # fmt: skip
def test_apparatus_in_other_forms_goes_and_the_story_stays(place, passage, gone):
    text = clean(book(place, passage)).text
    assert gone not in text
    whole = clean(book(place, "She saw the mill." if "She saw" in passage else "")).text
    assert re.sub(r"\s+", " ", text) == re.sub(r"\s+", " ", whole)


def test_numbered_notes_below_a_plain_heading_in_a_chapter_go_where_a_mark_points_to_them():
    passage = wrapped("She saw the water[1] and the mill[2] that day.")
    notes = "\n\n\nNOTES\n\n\n1. A river of the north.\n\n2. Of Reed's uncle."
    text = clean(book("inside", passage + notes)).text
    assert "She saw the water and the mill that day." in text
    assert "A river" not in text
    assert "NOTES" not in text
    kept = clean(book("inside", passage.replace("[1]", "").replace("[2]", "") + notes)).text
    assert "A river of the north." in kept


def test_verse_behind_the_line_that_names_the_end_is_part_of_the_book():
    text = clean(book("back", f"THE END\n\n\n\nL'ENVOI\n\n{SONG}")).text
    assert text.count("come to us no more") == 3


PLATES = chapters("She saw the water.\n\n[Plate IV: the mill]\n\nThen it rained.")
NOTED = chapters(
    "She saw the reeve[*] there.\n\n[*] A kind of bailiff.\n\nTom saw the withy [1] too.\n\n[1] A willow."
)


def unmoved(bodies: list[str]) -> list[str]:
    """The bodies whose story changes when blanks stand at the ends of their lines."""
    ends = itertools.cycle(("  \n", "\t\n", "\xa0\n", "\x0c\n"))
    texts = [ebook(body) if "START OF" not in body else body for body in bodies]
    return [t for t in texts if clean(re.sub("\n", lambda _: next(ends), t)).text != clean(t).text]


def test_blanks_at_the_ends_of_lines_change_nothing():
    """A line of blanks was no blank line to half of the rules."""
    assert unmoved([PLATES, NOTED, MORE["end notes with numbers of their own"][0]]) == []


@pytest.mark.long
def test_blanks_at_the_ends_of_lines_change_nothing_in_any_trap():
    assert (
        unmoved([body for body, _, _ in MORE.values()] + [book(p, passage) for p, _, passage in TRAPS]) == []
    )
