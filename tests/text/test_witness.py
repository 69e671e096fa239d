"""Another edition beside the text: it helps to tell notes from story, and never decides alone."""

from __future__ import annotations

import pytest

from bookcoref_data.text.clean import Witness, clean
from bookcoref_data.text.ebook import read_html
from tests.text.test_traps import BODY, story, wrapped

MARK = "“I saw him there,” said Ada to Tom, and shut the gate.*"
NOTE = "* Here the author speaks of his own brother, who had died at sea in the same year."
INTRODUCTION = wrapped(
    "It was in the year of the great frost that the pages which follow were found behind a wall of the old "
    "mill by two boys, who took them to the priest, and he kept them in a box until the box was sold."
)


def page(*pieces: str) -> Witness:
    found = read_html("".join(pieces))
    return Witness(found.text, found.apart)


def book(*pieces: str) -> str:
    return "\n\n\n".join(["CHAPTER I", story(12), *pieces, story(12), "CHAPTER II", story(12)]) + "\n"


def paragraphs(text: str) -> str:
    return "".join(f"<p>{part.strip()}</p>" for part in text.split("\n\n"))


ELSEWHERE = '<p class="footnote">[1] A note of another page, with words of its own.</p>'


def test_a_note_to_which_no_mark_points_goes_when_the_html_sets_it_apart():
    text = book("(1) It is not known who built the old weir below the mill.")
    assert "old weir" in clean(text).text
    html = paragraphs(text).replace("<p>(1)", '<p class="footnote">(1)')
    assert "old weir" not in clean(text, witness=page(html)).text
    assert "old weir" in clean(text, witness=page(paragraphs(text))).text


def test_what_looks_like_a_note_stays_when_the_html_has_it_in_its_text():
    text = book(MARK, NOTE)
    assert "died at sea" not in clean(text).text
    body = clean(text, witness=page(paragraphs(text), ELSEWHERE))
    assert "died at sea" in body.text
    assert any(s.reason == "another edition has it in its text" and not s.cut for s in body.sections)
    # Where the page marks no notes at all, it says nothing of them.
    assert "died at sea" not in clean(text, witness=page(paragraphs(text))).text
    # A note that is named by its form is one, whatever the page does with it.
    named = book("[Footnote 1: The weir was built by the monks of the valley.]")
    assert "monks" not in clean(named, witness=page(paragraphs(named), ELSEWHERE)).text


def test_a_page_alone_takes_no_long_paragraph():
    text = book(INTRODUCTION + "\n" + INTRODUCTION)
    html = paragraphs(text).replace("<p>It was", '<p class="footnote">It was')
    body = clean(text, witness=page(html))
    assert "great frost" in body.text
    assert "only another edition" in body.sections[0].reason


def test_an_introduction_with_one_sign_goes_when_another_edition_lacks_it():
    text = f"INTRODUCTION BY THE EDITOR\n\n{INTRODUCTION}\n\n\n\n{BODY}"
    assert "great frost" in clean(text).text
    assert "great frost" in clean(text, witness=Witness(text)).text
    body = clean(text, witness=Witness(BODY))
    assert "great frost" not in body.text
    assert "another edition lacks it" in body.sections[0].reason
    own = text.replace("INTRODUCTION BY THE EDITOR", "PREFACE")
    assert "great frost" in clean(own, witness=Witness(BODY)).text


@pytest.mark.parametrize("where", ["cache/epub/1342/pg1342-images.html", "1/3/4/1342/1342-h/1342-h.htm"])
def test_the_html_of_a_mirror_is_asked(tmp_path, where):
    import bookcoref_data as bc

    text = book("(1) It is not known who built the old weir below the mill.")
    whole = (
        f"Title: X\n\n*** START OF THE PROJECT GUTENBERG EBOOK 1342 ***\n\n{text}\n\n*** END OF THE PROJECT "
    )
    plain = tmp_path / "cache/epub/1342/pg1342.txt"
    plain.parent.mkdir(parents=True)
    plain.write_text(f"The Project Gutenberg eBook, [eBook #1342]\n{whole}GUTENBERG EBOOK 1342 ***\n")
    cache = {"mirror": tmp_path, "cache_dir": tmp_path / "cache_dir", "offline": True}
    assert "old weir" in bc.clean(1342, **cache).text
    (tmp_path / where).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / where).write_text(paragraphs(text).replace("<p>(1)", '<p class="footnote">(1)'))
    cleaned = bc.clean(1342, **cache)
    assert "old weir" not in cleaned.text
    assert any("was asked as a witness" in note for note in cleaned.notes)
