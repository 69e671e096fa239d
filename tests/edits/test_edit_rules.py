"""Corrections, rule by rule: where a place is found, what each operation changes and says."""

from __future__ import annotations

import pytest

from bookcoref_data.books import Book
from bookcoref_data.books.annotation import Annotation, Marked, Quote
from bookcoref_data.edits import Edit, anchor_of, apply, diff, parse_edits
from bookcoref_data.edits.locate import Finder, plain
from bookcoref_data.edits.naming import MAKE
from bookcoref_data.edits.operations import Anchor
from bookcoref_data.errors import FormatError

# -- places ------------------------------------------------------------------------------------------


def found(text, anchor):
    return Finder(text.split(" ")).find(anchor)


def test_words_are_compared_without_case_quotes_dashes_and_blanks():
    assert plain("“Anna’s” – _Mill_\u00a0—X--Y") == '"anna\'s"-mill-x-y'


def test_an_anchor_holds_six_words_on_either_side_and_no_line_ends():
    tokens = [str(i) for i in range(20)]
    tokens[9] = "\n"
    assert anchor_of(tokens, 10, 11) == Anchor(10, 11, "10 11", "4 5 6 7 8", "12 13 14 15 16 17")
    assert anchor_of(tokens, 0, 0).before == ""
    assert anchor_of(tokens, 19, 19).after == ""


@pytest.mark.parametrize(
    ("before", "after", "place"),
    [
        ("", "", 4), ("c d", "", 4), ("x d", "", 9), ("", "f g", 4), ("", "f x", 9), ("x x", "f g", 4),
        ("c d", "x x", 4), ("x d", "f x", 9), ("y c d", "f g y", 4),
    ],
)  # fmt: skip
def test_words_at_their_own_tokens_need_two_right_words_on_one_side(before, after, place):
    assert found("a b c d e f g x d e f x", Anchor(4, 4, "e", before, after)) == (place, place)


def test_an_anchor_behind_the_end_of_the_text_is_looked_for():
    assert found("a b c", Anchor(7, 8, "b c", "a", "")) == (1, 2)
    assert found("a b c", Anchor(2, 3, "b c", "a", "")) == (1, 2)
    assert found("a b c", Anchor(7, 7, "x", "a", "")) is None
    assert found("a b c", Anchor(7, 7, " ", "", "")) is None


def test_a_place_begins_and_ends_with_a_token():
    assert found("the cat", Anchor(5, 5, "he", "", "cat")) is None
    assert found("a her cat", Anchor(5, 5, "he", "a", "")) is None
    assert found("did n't go", Anchor(5, 5, "didn't", "", "go")) == (0, 1)
    assert found("so he", Anchor(5, 5, "he", "so", "")) == (1, 1)


def test_less_context_is_asked_for_until_a_place_fits():
    text = "one two three x four five six . y x z"
    assert found(text, Anchor(20, 20, "x", "one two three", "4 5 6")) == (3, 3)
    assert found(text, Anchor(20, 20, "x", "1 2 3", "four five six")) == (3, 3)
    assert found(text, Anchor(20, 20, "x", "1 three", "four 5")) == (3, 3)
    assert found(text, Anchor(20, 20, "x", "1 2 3", "4 5 6")) is None


@pytest.mark.parametrize(
    ("before", "after"), [(6, 6), (6, 0), (0, 6), (4, 2), (2, 4), (3, 3), (3, 0), (0, 3), (2, 2), (1, 1)]
)
def test_so_much_context_is_enough(before, after):
    """One place has just these words of the anchor around it; others, as far away, have one word less."""
    left, right = [f"l{i}" for i in range(7, 0, -1)], [f"r{i}" for i in range(1, 8)]

    def around(before, after):
        return [*["?"] * (7 - before), *left[7 - before :], "x", *right[:after], *["!"] * (7 - after)]

    less = [(before - 1, after)] * (before > 0) + [(before, after - 1)] * (after > 0)
    tokens = [token for words in [(before, after), *less] for token in around(*words)]
    anchor = Anchor(1000, 1000, "x", " ".join(left), " ".join(right))
    assert Finder(tokens).find(anchor) == (7, 7)


def spread(*places, size=60):
    tokens = ["."] * size
    for place in places:
        tokens[place - 1 : place + 2] = ["a", "x", "b"]
    return " ".join(tokens)


def test_of_several_places_one_is_taken_when_all_others_are_more_than_five_times_as_far():
    assert found(spread(22, 40), Anchor(19, 19, "x", "a", "b")) == (22, 22)  # 3 and 21
    assert found(spread(22, 34), Anchor(19, 19, "x", "a", "b")) is None  # 3 and 15
    assert found(spread(22, 35), Anchor(19, 19, "x", "a", "b")) == (22, 22)  # 3 and 16


def test_places_that_were_found_tell_where_the_next_ones_are():
    tokens = spread(22, 40).split(" ")
    tokens[5] = "only"
    finder = Finder(tokens)
    assert finder.find(Anchor(30, 30, "x", "a", "b")) is None
    # Everything stands ten tokens earlier than the anchors say: so does the second of two places.
    assert finder.find(Anchor(15, 15, "only", ".", ".")) == (5, 5)
    assert finder.find(Anchor(50, 50, "x", "a", "b")) == (40, 40)


def test_a_word_of_200_places_is_not_looked_for_among_them():
    far = Anchor(900, 900, "x", "", "")
    assert found(" ".join(["x", "."] * 199 + [".", "."] * 251 + ["x"]), Anchor(901, 901, "x", "", "")) is None
    assert Finder(["x", "."] * 100).find(far) is None


# -- operations --------------------------------------------------------------------------------------

TEXT = "Anna met Tom . “ I saw you , ” she said . He laughed ."
TOKENS = TEXT.split(" ")
SAID = (Quote(4, 9, 0, (1,)),)


def story(mentions=((0, 0, 0), (2, 2, 1), (10, 10, 0), (13, 13, 1)), quotes=SAID, **more):
    marked = tuple(sorted(m if isinstance(m, Marked) else Marked(*m) for m in mentions))
    return Annotation(Book.make("b", [TOKENS]), ("Anna", "Tom", "Eve"), marked, quotes, **more)


def at(start, end=None):
    return anchor_of(TOKENS, start, start if end is None else end)


def outcome(edit, annotation=None):
    """(links by place, changed, unchanged, reasons) of one edit."""
    done = apply(annotation or story(), [edit])
    rows = {(m.start, m.end): set() for m in done.annotation.mentions}
    for m in done.annotation.mentions:
        rows[m.start, m.end].add(done.annotation.names[m.character])
    return rows, done.changed, done.unchanged, [c.reason for c in done.conflicts]


def test_a_link_says_who_did_it_and_keeps_the_kind():
    old = story(mentions=[Marked(13, 13, 1, "link", "rule", 0.4, "pronoun")])
    done = apply(old, [Edit("link", at=at(13), was="Tom", character="Anna", author="mira")])
    assert done.annotation.mentions == (Marked(13, 13, 0, "edit", "corrected by mira", 1.0, "pronoun"),)
    same = apply(old, [Edit("link", at=at(13), character="Tom")])
    assert same.annotation.mentions == (Marked(13, 13, 1, "edit", "corrected", 1.0, "pronoun"),)
    assert (same.changed, same.unchanged) == (1, 0)
    again = apply(same.annotation, [Edit("link", at=at(13), character="Tom")])
    assert (again.annotation.mentions, again.changed, again.unchanged) == (same.annotation.mentions, 0, 1)


def test_a_link_replaces_the_one_there_is_or_the_one_it_names():
    assert outcome(Edit("link", at=at(13), character="Eve"))[0][13, 13] == {"Eve"}
    both = story(mentions=[(13, 13, 0), (13, 13, 1)])
    assert outcome(Edit("link", at=at(13), was="Tom", character="Eve"), both)[0][13, 13] == {"Anna", "Eve"}
    rows, changed, unchanged, reasons = outcome(Edit("link", at=at(13), was="Bob", character="Tom"), both)
    assert (rows[13, 13], changed, unchanged, reasons) == ({"Anna", "Tom"}, 1, 0, [])
    three = story(mentions=[(13, 13, 0), (13, 13, 1)])
    rows, changed, unchanged, reasons = outcome(Edit("link", at=at(13), was="Bob", character="Eve"), three)
    assert (rows[13, 13], changed, unchanged) == ({"Anna", "Tom"}, 0, 0)
    assert reasons == ["the mention is not Bob but Anna and Tom: which of them is Eve?"]
    assert outcome(Edit("link", at=at(13), character="Eve"), three)[0][13, 13] == {"Anna", "Tom", "Eve"}


def test_a_link_with_also_keeps_those_who_are_there():
    assert outcome(Edit("link", at=at(13), character="Eve", also=True))[0][13, 13] == {"Tom", "Eve"}
    assert outcome(Edit("link", at=at(13), character="Eve", was="Tom", also=True))[0][13, 13] == {"Eve"}


def test_an_unlink_takes_one_link_or_all():
    both = story(mentions=[(13, 13, 0), (13, 13, 1), (0, 0, 0)])
    assert outcome(Edit("unlink", at=at(13), was="Tom"), both)[:3] == (
        {(0, 0): {"Anna"}, (13, 13): {"Anna"}},
        1,
        0,
    )
    assert outcome(Edit("unlink", at=at(13)), both)[:3] == ({(0, 0): {"Anna"}}, 1, 0)
    assert (
        outcome(Edit("unlink", at=at(13), was="TOM"), both)[:3]
        == outcome(Edit("unlink", at=at(13), was="Tom"), both)[:3]
    )
    for was, reason in (("Eve", "the mention is not Eve but Anna and Tom"), ("Bob", f"{NO_BOB}{MAKE}")):
        assert outcome(Edit("unlink", at=at(13), was=was), both)[1:] == (0, 0, [reason])
    assert outcome(Edit("unlink", at=at(5)), both)[1:3] == (0, 1)
    assert outcome(Edit("unlink", at=at(5), was="Bob"), both)[1:3] == (0, 1)


NO_BOB = "no character is called 'Bob'"


def test_a_span_moves_one_link():
    edit = Edit("span", at=at(2), to=at(1, 2))
    assert outcome(edit)[0][1, 2] == {"Tom"}
    assert (2, 2) not in outcome(edit)[0]
    both = story(mentions=[(2, 2, 0), (2, 2, 1)])
    rows, *_, reasons = outcome(edit, both)
    assert (rows, reasons) == (
        {(2, 2): {"Anna", "Tom"}}, ["there is no mention of one character with these words"],
    )  # fmt: skip
    named = Edit("span", at=at(2), to=at(1, 2), was="Tom")
    assert outcome(named, both)[0] == {(2, 2): {"Anna"}, (1, 2): {"Tom"}}
    assert outcome(named, story(mentions=[(1, 2, 1)]))[1:] == (0, 1, [])
    assert outcome(named, story(mentions=[(2, 2, 0)]))[0] == {(1, 2): {"Anna"}}


def quotes_after(edit, **more):
    done = apply(story(**more), [edit])
    return [(q.start, q.end, q.speaker, q.addressees) for q in done.annotation.quotes], done.changed


def test_a_speaker_goes_to_the_quote_that_shares_half_of_its_tokens():
    assert quotes_after(Edit("speaker", at=at(4, 9), speaker="Tom")) == ([(4, 9, 1, ())], 1)
    assert quotes_after(Edit("speaker", at=at(7, 9), speaker="Tom")) == ([(4, 9, 1, ())], 1)
    assert quotes_after(Edit("speaker", at=at(8, 9), speaker="Tom")) == ([(4, 9, 0, (1,)), (8, 9, 1, ())], 1)
    assert quotes_after(Edit("speaker", at=at(4, 15), speaker=None)) == ([(4, 9, -1, ())], 1)
    assert quotes_after(Edit("speaker", at=at(3, 15), speaker=None)) == (
        [(3, 15, -1, ()), (4, 9, 0, (1,))],
        1,
    )
    assert quotes_after(Edit("speaker", at=at(4, 9), speaker="Anna", addressees=("Tom",)))[1] == 0


def test_new_rename_and_merge_say_whether_they_changed_anything():
    assert outcome(Edit("new", character="Bob"))[1:3] == (1, 0)
    assert outcome(Edit("new", character="Tom"))[1:3] == (0, 1)
    assert outcome(Edit("rename", character="Tom", name="Tom"))[1:3] == (0, 1)
    assert outcome(Edit("rename", character="Bob", name="Tom"))[1:3] == (0, 1)
    assert outcome(Edit("rename", character="Bob", name="Bill"))[3] == [f"{NO_BOB}{MAKE}"]
    assert outcome(Edit("merge", character="Tom", into="Tom"))[1:3] == (0, 1)
    assert outcome(Edit("merge", character="Bob", into="Tom"))[1:3] == (0, 1)
    assert outcome(Edit("merge", character="Eve", into="Tom"))[1:3] == (0, 1)
    assert outcome(Edit("merge", character="Tom", into="Eve"))[1:3] == (1, 0)


def test_a_name_that_a_person_gave_is_no_guess():
    guessed = story(guessed=frozenset({1, 2}))
    assert apply(guessed, [Edit("rename", character="Tom", name="Tom Hill")]).annotation.guessed == {2}


def test_a_merge_keeps_links_that_are_there_and_names_nobody_twice():
    both = story(
        mentions=[Marked(2, 2, 0, "rule"), (2, 2, 1), (13, 13, 1)],
        quotes=(Quote(4, 9, 1, (0, 1)), Quote(0, 1, 2)),
    )
    done = apply(both, [Edit("merge", character="Tom", into="Anna")]).annotation
    assert [(m.start, m.character, m.step) for m in done.mentions] == [(2, 0, "rule"), (13, 0, "edit")]
    assert [(q.speaker, q.addressees) for q in done.quotes] == [(2, ()), (0, (0,))]


def test_edits_of_other_documents_are_passed_over_and_numbers_count_all():
    edits = [
        Edit("new", character="X", doc_key="other"),
        Edit("link", at=at(0), character="Nobody", doc_key="b"),
    ]
    done = apply(story(), edits)
    assert "X" not in done.annotation.names
    value = done.to_dict()
    assert (value["doc_key"], value["changed"], value["unchanged"], value["moved"]) == ("b", 0, 0, 0)
    assert [(c["number"], c["applied"]) for c in value["conflicts"]] == [(2, False)]


def test_a_contradiction_is_about_one_place_and_one_that_knows_the_other_is_none():
    def reasons(*edits):
        return [(c.number, c.reason) for c in apply(story(), edits).conflicts]

    first = Edit("link", at=at(13), was="Tom", character="Anna")
    assert reasons(first, Edit("link", at=at(13), was="Tom", character="Eve")) == [
        (2, "edit 1 says that this is Anna; the later one is taken")
    ]
    assert reasons(
        Edit("unlink", at=at(13), was="Tom"), Edit("link", at=at(13), was="Tom", character="Eve")
    ) == [(2, "edit 1 says that this is nobody; the later one is taken")]
    assert reasons(first, first) == []
    assert reasons(first, Edit("link", at=at(13), was="Anna", character="Eve")) == []
    assert reasons(first, Edit("link", at=at(2), was="Tom", character="Eve")) == []
    said = Edit("speaker", at=at(4, 9), speaker="Tom")
    for other in (None, "Eve"):
        assert reasons(said, Edit("speaker", at=at(4, 9), speaker=other)) == [
            (2, "edit 1 says that this is Tom; the later one is taken")
        ]
    assert reasons(said, Edit("speaker", at=at(4, 9), was="tom", speaker="Eve")) == []
    assert reasons(said, Edit("speaker", at=at(4, 9), speaker="TOM", addressees=("Eve",))) == []
    assert reasons(said, Edit("link", at=at(4, 9), character="Eve")) == []
    # The same quote, without its marks
    assert reasons(said, Edit("speaker", at=at(5, 9), speaker="Eve")) == [
        (2, "edit 1 says that this is Tom; the later one is taken")
    ]
    both = [Edit("link", at=at(13), character=name, also=True) for name in ("Eve", "Anna")]
    assert reasons(*both) == []


def test_a_quote_that_shares_words_with_another_is_told():
    told = "it shares words with the quote of tokens 4 to 9; both stand now"
    for place in (at(8, 9), at(3, 15)):
        done = apply(story(), [Edit("speaker", at=place, speaker="Tom")])
        assert [(c.reason, c.applied) for c in done.conflicts] == [(told, True)]
        assert len(done.annotation.quotes) == 2
    for place in (at(7, 9), at(10, 12)):
        assert apply(story(), [Edit("speaker", at=place, speaker="Tom")]).conflicts == ()


# -- differences -------------------------------------------------------------------------------------


def ops(old, new):
    return [(e.op, e.at.start if e.at else None, e.was, e.character or e.name) for e in diff(old, new).edits]


def test_a_link_that_moved_came_or_went_is_one_edit():
    old = story()
    changed = story(mentions=[(0, 0, 0), (2, 2, 1), (10, 10, 2), (11, 11, 1)])
    assert ops(old, changed) == [
        ("link", 10, "Anna", "Eve"), ("link", 11, None, "Tom"), ("unlink", 13, "Tom", ""),
    ]  # fmt: skip


def test_other_words_for_the_same_mention_are_a_span():
    changed = story(mentions=[(0, 0, 0), (1, 2, 1), (10, 10, 0), (13, 14, 1)])
    found = diff(story(), changed).edits
    assert [(e.op, e.at.start, e.at.end, e.to.start, e.to.end, e.was) for e in found] == [
        ("span", 2, 2, 1, 2, "Tom"), ("span", 13, 13, 13, 14, "Tom"),
    ]  # fmt: skip


def test_a_character_with_half_of_its_mentions_elsewhere_is_not_renamed():
    def named(names, *characters):
        places = (0, 2, 10, 13)
        marked = tuple(Marked(p, p, c) for p, c in zip(places, characters, strict=True))
        return Annotation(Book.make("b", [TOKENS]), names, marked)

    old = named(("Anna", "Tom"), 0, 1, 1, 1)
    renamed = named(("Anna", "Thomas"), 0, 1, 1, 0)
    assert [e.op for e in diff(old, renamed).edits] == ["rename", "link"]
    old_half = named(("Anna", "Tom"), 0, 0, 1, 1)
    half = named(("Anna", "Thomas"), 0, 0, 1, 0)
    assert [e.op for e in diff(old_half, half).edits] == ["new", "link", "link"]


def test_quotes_that_changed_are_told_and_others_are_not():
    assert ops(story(), story(quotes=(Quote(4, 9, 0, (1,), "rule"),))) == []
    assert ops(story(), story(quotes=())) == []
    assert ops(story(), story(quotes=(Quote(4, 9, -1),))) == [("speaker", 4, None, "")]
    assert ops(story(quotes=()), story()) == [("speaker", 4, None, "")]


def test_places_that_are_not_in_the_old_text_are_listed():
    other = Annotation(
        Book.make("b", [["Quite", "another", "text"]]), ("Anna",), (Marked(1, 1, 0),), (Quote(0, 2),)
    )
    found = diff(story(), other)
    assert [a.words for a in found.lost] == ["another", "Quite another text"]


def test_of_places_that_the_new_text_lacks_nothing_is_said():
    """A corrected chapter: every mention of the other chapters was to be unlinked."""
    words = [f"w{i}" if i % 5 else "he" for i in range(80)]
    old = Annotation(
        Book.make("b", [words]), ("Anna", "Tom"), tuple(Marked(i, i, i % 2) for i in range(0, 80, 5))
    )
    part = [Marked(i, i, i % 2) for i in range(0, 30, 5)]
    part[2] = Marked(10, 10, 1)
    chapter = Annotation(Book.make("b", [words[:30]]), ("Anna", "Tom"), tuple(part))
    found = diff(old, chapter)
    assert [(e.op, e.at.start, e.character) for e in found.edits] == [("link", 10, "Tom")]
    assert ([a.start for a in found.unseen], found.lost) == ([*range(30, 80, 5)], ())
    back = diff(chapter, old)
    assert [(e.op, e.at.start, e.character) for e in back.edits] == [("link", 10, "Anna")]
    assert ([a.start for a in back.lost], back.unseen) == ([*range(30, 80, 5)], ())


# -- files -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tokens", "sound"),
    [("[0, 0]", True), ("[0, 3]", True), ("[-1, 0]", False), ("[1, 0]", False), ("[0]", False),
     ("[0, true]", False), ("[0.0, 1]", False)],
)  # fmt: skip
def test_an_anchor_is_two_whole_numbers_in_order(tokens, sound):
    line = f'{{"op": "unlink", "at": {{"tokens": {tokens}, "words": "x"}}}}'
    if sound:
        assert parse_edits("\ufeff\n" + line + "\n")[0].at.words == "x"
    else:
        with pytest.raises(FormatError, match=r"e\.jsonl:3: .*at"):
            parse_edits("\n\n" + line, "e.jsonl")


def test_only_what_an_operation_has_is_written():
    edit = Edit("link", at=Anchor(1, 2, "x"), character="A", was="", also=True, author="m", doc_key="b")
    assert list(edit.to_dict()) == ["op", "doc_key", "at", "was", "character", "also", "author"]
    assert Edit("speaker", at=Anchor(1, 2, "x")).to_dict()["speaker"] is None
