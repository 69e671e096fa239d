"""Corrections that `annotate` takes as given, and what it makes of them."""

from __future__ import annotations

import pytest

from bookcoref_data.annotation.cast import parse_cast
from bookcoref_data.annotation.plan import default_plan
from bookcoref_data.books import Book
from bookcoref_data.edits import Edit, anchor_of
from bookcoref_data.text.tokens import tokenize_body
from bookcoref_data.workflows.annotate import Source, annotate_book
from bookcoref_data.workflows.given import corrections_of

STORY = """Anna and Mary Hill were sisters, and both had been told to wait for the doctor in the hall.

"I will not go," said Anna.

"You will go when you are told," said Mary. She took her coat and went to the door. She opened it.

"I said that I will not."

"Then I shall tell our father."

"Do so. I am not afraid of him."

Tom came in. He was wet, and he was laughing. He had lost his hat in the river.
"""
CAST = "Anna\nMary Hill; Mary\nTom\n"


@pytest.fixture(scope="module")
def book():
    return Book.make("hall", tokenize_body(STORY).sentences)


@pytest.fixture(scope="module")
def annotate(book):
    plan = default_plan("embedded")

    def run(edits=(), **options):
        found = corrections_of(edits, book, parse_cast(CAST))
        assert found.conflicts == ()
        return annotate_book(Source(book), found.cast, plan, given=found.given, **options)

    return run


@pytest.fixture(scope="module")
def before(annotate):
    return annotate().annotation()


def at(book, word, number=0):
    return [i for i, t in enumerate(book.tokens) if t == word][number]


def who(annotation, i):
    return [annotation.names[m.character] for m in annotation.mentions if m.start == m.end == i]


def test_corrections_stay_as_they_are(annotate, before, book):
    hat, coat = at(book, "his"), at(book, "her")
    edits = [
        Edit("new", character="The Stranger"),
        Edit("link", at=anchor_of(book.tokens, hat, hat), character="The Stranger"),
        Edit("unlink", at=anchor_of(book.tokens, coat, coat)),
        Edit("rename", character="Mary", name="Miss Hill"),
    ]
    done = annotate(edits).annotation()
    assert who(done, hat) == ["The Stranger"]
    assert who(done, coat) == []
    assert "Miss Hill" in done.names
    assert "Mary Hill" not in done.names
    mary = at(book, "Mary")
    assert [done.names[m.character] for m in done.mentions if m.start == mary] == ["Miss Hill"]
    step = next(m.step for m in done.mentions if m.start == hat)
    assert step == "edit"


def test_a_corrected_pronoun_changes_the_chain_after_it(annotate, before, book):
    first, second = at(book, "She"), at(book, "She", 1)
    assert who(before, first) == who(before, second) == ["Mary Hill"]
    edit = Edit("link", at=anchor_of(book.tokens, first, first), was="Mary Hill", character="Anna")
    after = annotate([edit]).annotation()
    assert who(after, first) == ["Anna"]
    assert who(after, second) == ["Anna"]


def test_a_corrected_speaker_changes_the_turns_after_it(annotate, before, book):
    names = before.names

    def speakers(a):
        return [a.names[q.speaker] if q.speaker >= 0 else None for q in a.quotes]

    told = speakers(before)
    third = before.quotes[2]
    other = "Mary Hill" if told[2] == "Anna" else "Anna"
    edit = Edit(
        "speaker", at=anchor_of(book.tokens, third.start, third.end), speaker=other, addressees=("Tom",)
    )
    after = annotate([edit]).annotation()
    assert speakers(after)[:2] == told[:2]
    assert speakers(after)[2] == other
    assert after.quotes[2].addressees == (names.index("Tom"),)
    assert speakers(after)[3] != told[3]
    inside = at(book, "I", 1)
    assert who(after, inside) == [other]


LATE = """Anna came into the hall with Mary Hill and Tom.

"It is late," said Anna to Mary Hill.

"It rained," she said.

She sat down by the fire.
"""


@pytest.mark.parametrize(
    ("speaker", "meant"), [("Anna", ["Anna"]), ("Mary Hill", ["Mary Hill"]), ("Tom", None), ("", [])]
)
def test_who_speaks_a_corrected_quote_is_she_in_its_tag(speaker, meant):
    """And is the one who sat down. Tom is not "she": there the tag was misread, and nothing follows."""
    book = Book.make("late", tokenize_body(LATE).sentences)

    def read(*edits: Edit):
        given = corrections_of(edits, book, parse_cast("Anna\nMary Hill; Mary\nTom [m]\n"))
        return annotate_book(
            Source(book), given.cast, default_plan("embedded"), given=given.given
        ).annotation()

    before = read()
    quote = before.quotes[1]
    place = anchor_of(book.tokens, quote.start, quote.end)
    after = read(Edit("speaker", at=place, speaker=speaker or None, addressees=()))
    said, sat = at(book, "she"), at(book, "She")
    assert who(after, said) == (who(before, said) if meant is None else meant)
    if speaker:
        assert who(after, sat) == (who(before, sat) if meant is None else meant)


def test_steps_after_link_take_given_links_as_its_result(book, before):
    tom = at(book, "Tom")
    source = Source(
        book, ("Anna", "Tom", "Nobody here"), links=(("Tom", ((tom, tom),)), ("Stranger", ((0, 0),)))
    )
    source = Source(book, source.names, links=tuple((n, _mentions(s)) for n, s in source.links))
    done = annotate_book(
        source, parse_cast("Anna\nTom\n"), default_plan("embedded"), steps=("windows", "groups")
    )
    names = {(m.start, done.state.names[m.character]) for m in done.state.mentions if m.kind == "name"}
    assert names == {(tom, "Tom")}
    assert done.state.done == ("link", "windows", "groups")
    assert any("Stranger" in note for note in done.state.notes)
    assert who(done.annotation(), at(book, "his")) == ["Tom"]


def _mentions(spans):
    from bookcoref_data.books import Mention

    return tuple(Mention(*s) for s in spans)


def test_an_edit_that_cannot_be_understood_is_listed(book):
    found = corrections_of(
        [
            Edit("link", at=anchor_of(["a", "b"], 1, 1), character="Anna"),
            Edit("merge", character="Tom", into="Nobody"),
        ],
        book,
        parse_cast(CAST),
    )
    assert [c.number for c in found.conflicts] == [1, 2]
    assert not found.given
