"""Two names of one person that share no word: what speaks for it, what against it, and what is done."""

from __future__ import annotations

import pytest

from bookcoref_data.annotation.embedded.parsing import parse_book
from bookcoref_data.annotation.identity import (
    Scenes,
    Somebody,
    Traces,
    bearers,
    evidence,
    of_the_cast,
    same_people,
)
from bookcoref_data.annotation.propose import propose_cast


def traces(sentences=(), speaks=(), called=(), quoted=()) -> Traces:
    return Traces(frozenset(sentences), frozenset(speaks), frozenset(called), frozenset(quoted))


BASE = traces(range(0, 100, 5))
BESIDE = traces(range(1, 100, 5))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (BASE, traces([*range(1, 50, 5), *range(50, 100, 5)])),  # in one sentence
        (BASE, traces(range(301, 400, 5))),  # in other scenes
        (traces(BASE.sentences, speaks=[1]), traces(BESIDE.sentences, quoted=[1])),  # speaks of the other
        (traces(BASE.sentences, speaks=[1]), traces(BESIDE.sentences, speaks=[2])),  # in turn
        (traces(BASE.sentences, speaks=[1]), traces(BESIDE.sentences, speaks=[1])),  # in one paragraph
        (traces(BASE.sentences, called=[1]), traces(BESIDE.sentences, called=[1])),
    ],
)
def test_what_speaks_for_two_people(one, other):
    assert evidence(one, other) < evidence(BASE, BESIDE)
    assert evidence(other, one) == evidence(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (traces(BASE.sentences, called=[1]), traces(BESIDE.sentences, speaks=[2])),  # called, and answers
        (traces(BASE.sentences, speaks=[1]), traces(BESIDE.sentences, called=[2])),  # speaks, and is called
    ],
)
def test_what_speaks_for_one_person(one, other):
    assert evidence(one, other) > evidence(BASE, BESIDE)


def test_a_name_right_beside_the_other_counts_more():
    assert evidence(BASE, BESIDE) > evidence(BASE, traces(range(302, 400, 5)))
    near, far = traces(range(1, 100, 20)), traces(range(5, 100, 20))
    assert evidence(traces(range(0, 100, 20)), near) > evidence(traces(range(0, 100, 20)), far)


def test_the_traces_of_a_name(book_of):
    book = book_of(
        "“Come in, Henry,” said Anna.\n\nHenry sat down. “Where is Henry now?” Mr. Wilcox asked Anna.\n"
    )
    scenes = Scenes(book, parse_book(book))
    at = {name: [(i, i) for i, t in enumerate(book.tokens) if t == name] for name in ("Henry", "Wilcox")}
    henry, wilcox = scenes.traces(at["Henry"]), scenes.traces(at["Wilcox"])
    assert (henry.speaks, henry.called, henry.quoted) == (set(), {0}, {0, 1})
    assert (wilcox.speaks, wilcox.called, wilcox.quoted) == ({1}, set(), set())
    assert len(henry.sentences) == 3


def person(first="", last="", gender="m", at=BASE, count=20, **more) -> Somebody:
    return Somebody(frozenset([first] if first else []), last, gender, count, at, **more)


HENRY, WILCOX = person("henry"), person(last="wilcox", at=BESIDE)


@pytest.mark.parametrize(
    ("people", "joined"),
    [
        ([HENRY, WILCOX], True),
        ([HENRY, person(last="wilcox", gender="f", at=BESIDE)], False),
        ([HENRY, person("paul", at=BESIDE)], False),
        ([HENRY, person("paul", "wilcox", at=BESIDE)], False),
        ([HENRY, person(last="wilcox", at=BASE)], False),
        ([HENRY, person(last="wilcox", at=BESIDE, count=4)], False),
        ([person("henry", "wilcox"), WILCOX], True),
        ([person("henry", "wilcox", apart=True), WILCOX], False),
        ([person("henry", "wilcox", "f"), person(last="wilcox", gender="f", at=BESIDE, married=True)], False),
        # Somebody else would do as well.
        ([HENRY, WILCOX, person("paul")], False),
        ([HENRY, WILCOX, person("paul", at=traces(range(2, 100, 20)))], True),
    ],
)
def test_a_first_name_and_a_surname_make_one_person_where_one_reading_is_left(people, joined):
    assert [(p.one, p.other) for p in same_people(people)] == ([(0, 1)] if joined else [])


RARE = traces(range(1, 50, 10))


@pytest.mark.parametrize(
    ("cast", "found"),
    [
        ([person(last="wilcox", at=RARE, count=5)], [(0, 0)]),
        ([person(at=RARE, count=5)], [(0, 0)]),  # a title alone
        ([person(last="wilcox", at=RARE, count=15)], []),  # the cast would call him by the name used most
        ([person(last="wilcox", at=RARE, count=0)], []),
        ([person(last="wilcox", gender="f", at=RARE, count=5)], []),
        ([person(last="wilcox", gender="", at=RARE, count=5)], []),
        ([person("paul", at=RARE, count=5)], []),
        ([person(last="wilcox", at=traces([0, 5]), count=5)], []),  # in one sentence
        ([person(last="wilcox", at=RARE, count=5), person(at=RARE, count=5)], []),  # either of two
    ],
)
def test_who_is_named_often_is_one_of_a_cast_that_has_everybody(cast, found):
    assert [(p.one, p.other) for p in of_the_cast([person("henry")], cast)] == found


SCENE = "Mr. Hart came in. Anna said so to him. {} sat down. Then Anna left the room.\n\n"


@pytest.mark.parametrize(
    ("sentence", "one"), [("Henry", True), ("Mary", False), ("Henry and Mr. Hart", False)]
)
def test_names_of_one_person_are_joined_by_their_places(book_of, sentence, one):
    cast = propose_cast(book_of(SCENE.format(sentence) * 20)).cast
    names = [{e.name, *e.aliases} for e in cast.entries]
    first = sentence.split()[0]
    assert any({"Mr. Hart", first} <= own for own in names) == one
    assert any("Mr. Hart" in own for own in names)
    assert any(first in own for own in names)


def test_pronouns_tell_a_wife_from_a_husband(book_of):
    """No list has Kim, and some "he" behind her name is another's; still it is she who is Mrs. Bell."""
    scene = (
        "Mrs. Bell came in. Mr. Hall slept. Kim sat down, for {} was tired. It rained. Then it was dark.\n\n"
    )
    text = (scene.format("she") * 2 + scene.format("he")) * 7
    names = [{e.name, *e.aliases} for e in propose_cast(book_of(text)).cast.entries]
    assert {"Mrs. Bell", "Kim"} in names
    assert {"Mr. Hall"} in names


def test_who_is_called_by_a_title_has_no_first_name_beside_it(book_of):
    scene = "Then the General said so. General Hart came in. It rained. Henry sat down. Anna ran.\n\n"
    names = [{e.name, *e.aliases} for e in propose_cast(book_of(scene * 12)).cast.entries]
    assert {"General Hart", "the General"} in names
    assert {"Henry"} in names


ANSWERS = [
    traces(BASE.sentences, called=range(0, 100, 10)),
    traces(BESIDE.sentences, speaks=range(1, 100, 10)),
]


@pytest.mark.parametrize(
    ("people", "found"),
    [
        ([person("moses", at=ANSWERS[0])], True),
        ([person("moses", gender="f", at=ANSWERS[0])], False),
        # Places alone are not enough, nor is much evidence for two.
        ([person("moses", at=BASE)], False),
        ([person("moses", at=traces(called=[0, 10]))], False),
        ([person("moses", at=ANSWERS[0]), person("aaron", at=ANSWERS[0])], False),
        ([person("moses", at=ANSWERS[0]), person("aaron", at=BASE)], True),
    ],
)
def test_an_epithet_means_whom_overwhelming_evidence_says(people, found):
    pairs = bearers([person(at=ANSWERS[1])], people)
    assert [(p.one, p.other) for p in pairs] == ([(0, 0)] if found else [])


def test_an_epithet_joins_the_name_it_answers_for(book_of):
    talk = "“Come in, Moses,” said Anna.\n\n“I come,” said the pilot. He sat down.\n\nAnna Hill smiled.\n\n"
    cast = propose_cast(book_of(talk * 12)).cast
    names = [{e.name, *e.aliases} for e in cast.entries]
    assert {"Moses", "the pilot"} in names
    assert {e.name for e in cast.entries} >= {"Moses"}


def test_an_epithet_that_was_a_person_of_its_own_is_one_no_more(book_of):
    talk = "“Come in, Moses,” said Anna.\n\n“I come,” said the Captain. He sat down.\n\nAnna Hill smiled.\n\n"
    cast = propose_cast(book_of(talk * 12)).cast
    assert sorted(e.name for e in cast.entries) == ["Anna Hill", "Moses"]
