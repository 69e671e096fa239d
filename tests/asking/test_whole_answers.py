"""Questions and answers written out: who is offered, which text is shown, what an answer decides."""

from __future__ import annotations

import pytest

from bookcoref_data.asking.answers import (
    NO,
    NOBODY,
    UNSURE,
    YES,
    agreement,
    answer_with,
    answers_to,
    as_dict,
    passage,
    settled,
)
from bookcoref_data.asking.questions import ReviewQuestion, likely_right, make_queue, pair_key
from bookcoref_data.books import Book
from bookcoref_data.books.annotation import Annotation, Marked, Quote
from bookcoref_data.books.layout import lay_out
from bookcoref_data.edits import Edit, anchor_of

NAMES = ("Anna Grey", "Tom Hill", "Hill", "Zoe", "Eve", "Cid", "Dan")
WORDS = [f"w{i}" for i in range(700)]
BOOK = Book.make("b", [WORDS])


def annotation(mentions=(), quotes=()):
    return Annotation(BOOK, NAMES, tuple(sorted(mentions)), tuple(quotes))


def named(at, who):
    return Marked(at, at, who, "link", "name", 0.99, "name")


def asked(*mentions, quotes=(), others=()):
    """The people offered for a doubtful "she" at token 400."""
    she = Marked(400, 400, 0, "windows", "ranker: he, she, they", 0.6, "pronoun", others)
    (question,) = [
        q for q in make_queue(annotation([she, *mentions], quotes), about=["pronoun"]) if q.start == 400
    ]
    return question.people


@pytest.mark.parametrize(
    ("mentions", "quotes", "others", "people"),
    [
        ([], [], (), ("Anna Grey",)),
        ([named(399, 1)], [], (), ("Anna Grey", "Tom Hill")),
        ([named(100, 1)], [], (), ("Anna Grey", "Tom Hill")),
        ([named(99, 1)], [], (), ("Anna Grey",)),
        ([named(460, 1)], [], (), ("Anna Grey", "Tom Hill")),
        ([named(461, 1)], [], (), ("Anna Grey",)),
        ([named(390, 2), named(399, 1)], [], (), ("Anna Grey", "Tom Hill", "Hill")),
        ([named(399, 1)], [], ((2, 0.3),), ("Anna Grey", "Hill", "Tom Hill")),
        ([], [Quote(380, 390, 3, (4, -1), "r", 1.0)], (), ("Anna Grey", "Zoe", "Eve")),
        ([], [Quote(650, 660, 3, (), "r", 1.0)], (), ("Anna Grey", "Zoe")),
        ([], [Quote(651, 660, 3, (), "r", 1.0)], (), ("Anna Grey",)),
        ([named(399 - i, i) for i in range(1, 7)], [], (), ("Anna Grey", "Tom Hill", "Hill", "Zoe", "Eve")),
    ],
)
def test_at_most_five_people_around_a_place_are_offered(mentions, quotes, others, people):
    assert asked(*mentions, quotes=quotes, others=others) == people


@pytest.mark.parametrize(
    ("start", "end", "first", "last"),
    [
        (0, 0, 0, 45),
        (90, 90, 0, 135),
        (91, 92, 1, 137),
        (300, 300, 210, 345),
        (654, 654, 564, 699),
        (655, 660, 565, 699),
        (699, 699, 609, 699),
    ],
)
def test_a_passage_has_ninety_tokens_before_and_some_behind(start, end, first, last):
    layout = lay_out(annotation())
    found = passage(layout, WORDS, start, end)
    assert (found["start"], found["end"], found["words"]) == (start, end, " ".join(WORDS[start : end + 1]))
    assert found["before"].split() == WORDS[first:start]
    assert found["after"].split() == WORDS[end + 1 : last + 1]


def question(kind="pronoun", people=("Anna Grey", "Tom Hill"), places=(), now="Anna Grey"):
    return ReviewQuestion(kind, 3, 4, now, people, 0.12345, 2.25, places)


def edits_of(found):
    return [
        (
            a.key,
            a.says,
            [(e.op, e.at and (e.at.start, e.at.end), e.character, e.name, e.group) for e in a.edits],
        )
        for a in found
    ]


def test_the_answers_about_a_mention():
    assert edits_of(answers_to(question(), WORDS, "b")) == [
        ("1", "Anna Grey", [("link", (3, 4), "Anna Grey", "", "")]),
        ("2", "Tom Hill", [("link", (3, 4), "Tom Hill", "", "")]),
        ("n", NOBODY, [("unlink", (3, 4), "", "", "")]),
        ("c", UNSURE, [("seen", (3, 4), "", UNSURE, "")]),
    ]
    several = answer_with(question("name", places=((3, 4), (8, 9))), "Tom Hill", WORDS, "b")
    assert [(e.op, e.at.start, e.group, e.was) for e in several] == [
        ("link", 3, "q3", "Anna Grey"),
        ("link", 8, "q3", "Anna Grey"),
    ]
    assert [e.group for e in answer_with(question("name", places=((3, 4),)), "x", WORDS, "b")] == [""]


def test_the_answers_about_a_speaker_take_the_pronouns_along():
    alone = answer_with(question("speaker"), "Tom Hill", WORDS, "b")
    assert [(e.op, e.speaker, e.group) for e in alone] == [("speaker", "Tom Hill", "")]
    along = answer_with(question("speaker", places=((3, 3),)), None, WORDS, "b")
    assert [(e.op, e.speaker, e.group) for e in along] == [("speaker", None, "q3"), ("unlink", None, "q3")]


def test_the_answers_about_words_and_about_two_people():
    found = answers_to(question("words", ("Comrade Hill", "Hill"), ((3, 4), (8, 9)), "Hill"), WORDS, "b")
    assert [(a.key, a.says, [e.op for e in a.edits]) for a in found] == [
        ("1", "Comrade Hill", ["seen"]),
        ("2", "Hill", ["span", "span"]),
        ("c", UNSURE, ["seen"]),
    ]
    assert [(e.at.start, e.at.end, e.to.start, e.to.end, e.group, e.was) for e in found[1].edits] == [
        (3, 4, 4, 4, "q3", "Hill"),
        (8, 9, 9, 9, "q3", "Hill"),
    ]
    two = answers_to(question("same person", ("Hill", "Tom Hill")), WORDS, "b")
    assert [(a.key, a.says, a.edits[0].op, a.edits[0].character, a.edits[0].into) for a in two] == [
        ("1", YES, "merge", "Hill", "Tom Hill"),
        ("2", NO, "seen", "Hill", "Tom Hill"),
        ("c", UNSURE, "seen", "Hill", "Tom Hill"),
    ]


@pytest.mark.parametrize(
    ("kind", "places", "typed"),
    [("pronoun", 2, 1), ("name", 2, 2), ("words", 2, 0), ("same person", 1, 0), ("speaker", 1, 3)],
)
def test_a_question_as_a_page_reads_it(kind, places, typed):
    layout = lay_out(annotation())
    found = as_dict(question(kind, places=((3, 4), (8, 9))), layout, WORDS, "b")
    assert {name: found[name] for name in ("kind", "now", "people", "wrong", "hangs", "places")} == {
        "kind": kind,
        "now": NO if kind == "same person" else "Anna Grey",
        "people": ["Anna Grey", "Tom Hill"],
        "wrong": 0.123,
        "hangs": 2.2,
        "places": places,
    }
    assert len(found["typed"]) == (typed if kind != "pronoun" else 2)
    assert [a["key"] for a in found["answers"]] == (
        ["1", "2", "n", "c"] if kind in ("pronoun", "name", "speaker") else ["1", "2", "c"]
    )


def at(start, end=None):
    return anchor_of(WORDS, start, start if end is None else end)


@pytest.mark.parametrize(
    ("edit", "decided"),
    [
        (Edit("link", at=at(3), character="A"), {("mention", 3, 3): "A"}),
        (Edit("unlink", at=at(3)), {("mention", 3, 3): NOBODY}),
        (Edit("speaker", at=at(3, 5), speaker="A"), {("quote", 3, 5): "A"}),
        (Edit("speaker", at=at(3, 5)), {("quote", 3, 5): NOBODY}),
        (
            Edit("seen", at=at(3), name=UNSURE),
            {("words", "w3"): UNSURE, ("quote", 3, 3): UNSURE, ("mention", 3, 3): UNSURE},
        ),
        (Edit("span", at=at(3, 4), to=at(4)), {("words", "w3 w4"): "w4"}),
        (Edit("merge", character="B", into="A"), {("pair", "A", "B"): YES}),
        (Edit("seen", character="A", into="B", name=NO), {("pair", "A", "B"): NO}),
        (Edit("rename", character="A", name="B"), {}),
        (Edit("new", character="A"), {}),
    ],
)
def test_what_a_correction_settles(edit, decided):
    assert settled([edit]) == decided


def test_two_people_agree_where_both_can_tell():
    mine = [Edit("link", at=at(i), character="A") for i in range(4)] + [Edit("seen", at=at(9), name=UNSURE)]
    theirs = [
        Edit("link", at=at(0), character="A"),
        Edit("link", at=at(1), character="B"),
        Edit("link", at=at(9), character="A"),
        Edit("unlink", at=at(3)),
        Edit("seen", at=at(2), name=UNSURE),
    ]
    found = agreement(mine, theirs)
    assert (found.both, found.same, found.differ) == (3, 1, (("mention", 1, 1), ("mention", 3, 3)))
    assert agreement([], theirs).kappa is None
    assert pair_key("b", "a") == pair_key("a", "b") == ("pair", "a", "b")


def test_what_is_likely_right_is_a_mean():
    she = Marked(4, 4, 0, "windows", "r", 0.5, "pronoun")
    assert likely_right(
        annotation([she, named(1, 0)], [Quote(0, 2, 0, (), "r", 0.7), Quote(5, 6, 0, (), "", 0.1)])
    ) == pytest.approx((0.5 + 0.99 + 0.7) / 3)
    assert likely_right(annotation()) == 1.0
