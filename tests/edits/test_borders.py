"""Finding places again, names that may be meant, edits of several people: at their borders."""

from __future__ import annotations

import pytest

from bookcoref_data.api.reading import MergedCorrections
from bookcoref_data.cli.verbs.novel import edits_merge
from bookcoref_data.edits import Anchor, Edit, anchor_of, merge_edits
from bookcoref_data.edits.diff import Effect
from bookcoref_data.edits.locate import Finder, plain
from bookcoref_data.edits.merging import decision, subject
from bookcoref_data.edits.naming import Callings, offered


@pytest.mark.parametrize(
    ("typed", "called", "fitting"),
    [
        ("Anna Hill", {0}, {0}),
        ("anna hill", {0}, {0}),
        ("Ánna Hill!", {0}, {0}),
        ("Annie", {0}, {0}),
        ("Hill", set(), {0, 1}),
        ("Tom", set(), {1}),
        ("Hill Tom", set(), {1}),
        ("Ana", set(), set()),
        ("Hil", set(), set()),
        ("Hall", set(), {0, 1}),
        ("Hlil", set(), {0, 1}),
        ("Hilly", set(), {0, 1}),
        ("Anna Hlil", set(), {0}),
        ("Anna Zoe", set(), set()),
        ("Anna Tom", set(), set()),
        ("Hxxl", set(), set()),
        ("", set(), set()),
        ("!", set(), set()),
        ("Bo", {2}, {2}),
        ("Bob", set(), set()),
        ("Hille", set(), {0, 1}),
        ("Hillex", set(), set()),
    ],
)
def test_whom_a_typed_name_may_mean(typed, called, fitting):
    known = Callings()
    known.add(0, "Anna Hill", ["Annie"])
    known.add(1, "Tom Hill")
    known.add(2, "Bo")
    assert known.called(typed) == called
    assert known.fitting(typed) == fitting


def test_a_name_counts_before_another_name():
    known = Callings()
    known.add(0, "Anna", ["Tom"])
    known.add(1, "Tom")
    assert known.called("tom") == {1}


@pytest.mark.parametrize(
    ("names", "told"),
    [
        ([], ""),
        (["A"], "; is it A?"),
        (["A", "B"], "; is it A or B?"),
        (list("ABCDE"), "; is it A or B or C or D or E?"),
        (list("ABCDEFG"), "; is it A or B or C or D or E or 2 others?"),
    ],
)
def test_who_may_be_meant_is_offered(names, told):
    assert offered(names) == told


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("“Don’t!” ", '"don\'t!"'),
        ("a—b", "a-b"),
        ("a--b", "a-b"),
        ("_A_\u00a0b", "ab"),
        ("A – B", "a-b"),
        ("ß", "ss"),
    ],
)
def test_words_are_compared_plain(text, bare):
    assert plain(text) == bare


OLD = [
    "He",
    "saw",
    "Anna",
    "and",
    "she",
    "saw",
    "him",
    ".",
    "Then",
    "Anna",
    "left",
    "the",
    "hall",
    "and",
    "Tom",
    "saw",
    "Anna",
    "again",
]


@pytest.mark.parametrize(
    ("new", "start", "end", "found"),
    [
        (OLD, 2, 2, (2, 2)),
        (["But", *OLD], 2, 2, (3, 3)),
        (["But", *OLD], 9, 9, (10, 10)),
        (["He", "saw", "Ann", "and", "she", "saw", "him", "."], 2, 2, None),
        (["He", "saw", "An", "na", "and", "she", "saw", "him"], 2, 3, (2, 4)),
        (["Annaand", "she"], 2, 3, None),
        (["Anna"], 2, 2, None),
        ([], 2, 2, None),
        (OLD[:3], 2, 2, (2, 2)),
        # The words stand there, but among others: looked for by their neighbours.
        (["x"] * 2 + ["Anna"] + ["x"] * 20 + OLD, 2, 2, (25, 25)),
    ],
)
def test_a_place_is_found_again(new, start, end, found):
    assert Finder(new).find(anchor_of(OLD, start, end)) == found


@pytest.mark.parametrize(
    ("anchor", "found"),
    [
        (Anchor(2, 2, "Anna"), (2, 2)),
        (Anchor(3, 3, "Anna"), None),
        (Anchor(2, 2, "Anna", "she saw", ""), (2, 2)),
        (Anchor(2, 2, "Anna", "he saw", "nobody here"), (2, 2)),
        (Anchor(2, 2, "Anna", "nobody", "and she"), (2, 2)),
        (Anchor(99, 99, "left", "", "the hall"), (10, 10)),
        (Anchor(2, 2, "ANNA", "", "AND"), (2, 2)),
        (Anchor(2, 2, ""), None),
    ],
)
def test_an_anchor_stands_with_one_neighbour(anchor, found):
    assert Finder(OLD).find(anchor) == found


@pytest.mark.parametrize(
    ("start", "found"), [(10, (10, 10)), (13, (10, 10)), (14, None), (20, None), (27, (30, 30))]
)
def test_of_several_places_the_clearly_nearest_is_taken(start, found):
    """Every other place must be more than five times further."""
    tokens = ["x"] * 10 + ["Anna"] + ["x"] * 19 + ["Anna"] + ["x"] * 30
    assert Finder(tokens).find(Anchor(start, start, "Anna", "x", "x")) == found


def edit(op="link", at=3, **more):
    return Edit(op, at=anchor_of(OLD, at, at), **more)


def test_edits_of_two_people_are_joined_and_disagreements_listed():
    same = [edit(at=2, character="A", date="2"), edit(at=2, character="A", date="1", author="x")]
    one = [edit(at=9, character="B", date="3"), same[0], edit(at=5, character="C", date="4")]
    two = [
        same[1],
        edit(at=5, character="D", date="5"),
        edit(at=9, character="Z", date="6"),
        edit(at=9, character="B", date="6"),
    ]
    found = merge_edits([one, two])
    assert [(e.character, e.at.start) for e in found.edits] == [("B", 9), ("A", 2)]
    assert [(d.what, d.one.character, d.other.character) for d in found.disagreements] == [
        ("“saw” (token 5)", "C", "D")
    ]
    assert merge_edits([]) == merge_edits([[], []])
    renames = merge_edits(
        [[Edit("rename", character="A", name="B")], [Edit("rename", character="A", name="C")]]
    )
    assert [d.what for d in renames.disagreements] == ["A"]


def joins(*pairs):
    return [Edit("merge", character=a, into=b, date=str(i)) for i, (a, b) in enumerate(pairs, 1)]


@pytest.mark.parametrize(
    ("one", "two", "kept", "apart"),
    [
        (joins("AB"), joins("BA"), [], ["A"]),
        (joins("AB", "BC"), joins("CA"), [], ["A"]),
        (joins("AB", "DA", "DE"), joins("BA", "FB"), ["DE", "FB"], ["A"]),
        (joins("AB", "BC"), joins("AB", "DC"), ["AB", "BC", "DC"], []),
        (joins("AB", "BA"), joins("CA"), ["AB", "BA", "CA"], []),  # one person's own: the first counts
        (joins("AB", "CD"), [Edit("seen", character="B", into="A", name="two people")], ["BA", "CD"], ["A"]),
        (joins("AB"), [Edit("seen", character="A", into="B", name="cannot tell")], ["AB", "AB"], []),
    ],
)
def test_two_people_who_join_two_characters_each_to_the_other_disagree(one, two, kept, apart):
    found = merge_edits([one, two])
    assert sorted(e.character + e.into for e in found.edits) == kept
    assert [d.what for d in found.disagreements] == apart


UNLINKS = [edit("unlink", was=name) for name in "AB"]
ALSO = [edit(character=name, also=True) for name in "AB"]
AGAIN = edit(was="B", character="B")
MOVED = [edit(was="A", character="C"), edit("span", was="C", to=anchor_of(OLD, 3, 4))]


@pytest.mark.parametrize(
    ("one", "two", "kept", "apart"),
    [
        (UNLINKS, [], UNLINKS, 0),  # a mention of two people loses both
        (ALSO, [], ALSO, 0),
        (MOVED, [], MOVED, 0),  # whom it means, then its words: not the last alone
        (UNLINKS[:1], UNLINKS[1:], UNLINKS, 0),
        (UNLINKS, UNLINKS, UNLINKS, 0),
        (ALSO[:1], [edit("unlink")], [], 1),
        (ALSO[:1], UNLINKS[:1], [], 1),
        (ALSO[:1], UNLINKS[1:], [*ALSO[:1], *UNLINKS[1:]], 0),
        (MOVED[:1], [edit(character="C")], MOVED[:1], 0),
        (MOVED[:1], [edit(character="D")], [], 1),
        # Asked again after another reading, one comes round to the other.
        (
            [edit(was="A", character="A"), AGAIN],
            [edit(was="A", character="B")],
            [edit(was="A", character="A"), AGAIN],
            0,
        ),
        ([edit(was="A", character="C"), AGAIN], [edit(was="A", character="D"), AGAIN], [], 1),
        ([*MOVED[:1], edit(was="C", character="D")], [edit(was="A", character="E")], [], 1),
        ([edit("speaker", was="A", speaker="B")], [edit("speaker", was="A", speaker="C")], [], 1),
    ],
)
def test_each_of_the_people_of_a_mention_is_merged_for_itself(one, two, kept, apart):
    found = merge_edits([one, two])
    assert (list(found.edits), len(found.disagreements)) == (kept, apart)


WHY = {"why": "gender: “he” in a chain that is “she” 9 times"}
RIGHT = edit("seen", name="right as it is", extra=WHY)
TWO = edit("seen", name="right as it is", character="A", into="B", extra=WHY)
WHOLE = edit("seen", name="Tom himself")
REST = edit("seen", name="Tom", group="q3")
SPANS = [edit("span", at=at, was="A", to=anchor_of(OLD, 4, 4)) for at in (3, 5)]


@pytest.mark.parametrize(
    ("one", "two", "kept", "apart"),
    [
        ([RIGHT], [edit(was="A", character="B")], [], 1),
        ([edit("unlink", was="A")], [RIGHT], [], 1),
        ([RIGHT], [edit("span", was="A", to=anchor_of(OLD, 3, 4))], [], 1),
        ([RIGHT], [edit(was="A", character="A")], [edit(was="A", character="A"), RIGHT], 0),
        ([RIGHT], [edit(at=5, was="A", character="B")], [RIGHT, edit(at=5, was="A", character="B")], 0),
        ([RIGHT], [edit("speaker", speaker="B")], [RIGHT, edit("speaker", speaker="B")], 0),
        (
            [edit("seen", name="cannot tell")],
            UNLINKS[:1],
            [edit("seen", name="cannot tell"), *UNLINKS[:1]],
            0,
        ),
        # Who corrected it, too, before or after, has said more than "right".
        ([RIGHT, *UNLINKS[:1]], UNLINKS[:1], [RIGHT, *UNLINKS[:1]], 0),
        ([TWO], joins("AB"), [TWO], 1),
        # Of words one answer stands for all places with them.
        ([WHOLE], SPANS, SPANS[1:], 1),
        ([WHOLE], [REST, *UNLINKS[:1]], [], 2),
    ],
)
def test_what_one_calls_right_another_does_not_correct(one, two, kept, apart):
    for people in ([one, two], [two, one]):
        found = merge_edits(people)
        assert sorted(map(repr, found.edits)) == sorted(map(repr, kept))
        assert len(found.disagreements) == apart


def test_a_disagreement_is_told_in_words(capsys):
    found = merge_edits([[RIGHT], [edit("span", was="A", to=anchor_of(OLD, 3, 4), author="Ben")]])
    edits_merge(MergedCorrections(found.edits, found.disagreements), None)
    told = capsys.readouterr().err
    assert told.endswith("(token 3): one of them says right as it is, Ben says “and she”\n")
    place = anchor_of(['"', "Look", ",", '"', "I", "said"], 0, 3)
    two = [[Edit("speaker", at=place, speaker=who, author=by)] for who, by in (("A", "Ada"), (None, "Ben"))]
    found = merge_edits(two)
    edits_merge(MergedCorrections(found.edits, found.disagreements), None)
    assert capsys.readouterr().err.endswith("left out: “Look,” (token 0): Ada says A, Ben says nobody\n")


@pytest.mark.parametrize(
    ("one", "decides"),
    [
        (edit(character="A"), ("", "mention", 3, 3)),
        (edit(character="A", also=True), ("", "mention", 3, 3)),
        (edit("speaker", speaker="A"), ("", "quote", 3, 3)),
        (edit("unlink"), ("", "mention", 3, 3)),
        (Edit("new", character="A", doc_key="d"), ("d", "new", "A")),
        (Edit("merge", character="A", into="B"), ("", "character", "A")),
        (edit("seen"), ("", "seen", 3, "")),
        (Edit("seen", character="A", into="B"), ("", "seen", "A", "B")),
    ],
)
def test_what_an_edit_decides(one, decides):
    assert subject(one) == decides
    assert decision(one)[: len(decides)] == decides
    assert decision(one) == decision(
        Edit(**{f: getattr(one, f) for f in one.__slots__} | {"author": "x", "date": "y"})
    )


@pytest.mark.parametrize(
    ("before", "elsewhere", "quotes", "quotes_elsewhere", "much"),
    [
        (100, 1, 0, 0, False),
        (100, 2, 0, 0, True),
        (0, 5, 0, 0, False),
        (0, 0, 100, 1, False),
        (0, 0, 100, 2, True),
        (0, 0, 0, 3, False),
        (99, 1, 0, 0, True),
    ],
)
def test_more_than_one_in_a_hundred_is_much(before, elsewhere, quotes, quotes_elsewhere, much):
    assert Effect("A", before, before, elsewhere, quotes, quotes, quotes_elsewhere).much is much
