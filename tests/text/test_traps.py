"""Forty texts in which story looks like apparatus: nothing of the story may be cut without a word.

Every trap is a small book of our own with one passage (`{...}` marks nothing: the passage is the trap) that a
rule could take for apparatus. A trap is passed when the passage stays, or when the book is refused.
"""

from __future__ import annotations

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
        (
            "NOTE",
            "This edition follows the first, published in 1871 by the author.",
            True,
        ),
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
