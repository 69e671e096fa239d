"""Corrections: applied in order, found again in other editions, taken from differences, never lost."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from bookcoref_data.books import Book
from bookcoref_data.books.annotation import Annotation, Marked, Quote
from bookcoref_data.edits import (
    Edit,
    anchor_of,
    apply,
    diff,
    effects,
    format_edits,
    merge_edits,
    parse_edits,
)  # fmt: skip
from bookcoref_data.edits.locate import Finder
from bookcoref_data.errors import FormatError

TEXT = (
    "Anna met Tom in the garden . “ I saw you , ” she said to him . \n He laughed , and Tom Hill gave her "
    "the key . Anna kept the key . She never used it . \n Tom was sorry , for he had lost his way ."
)
TOKENS = TEXT.split(" ")


def annotation(tokens=TOKENS, doc_key="garden"):
    at = {word: [i for i, t in enumerate(tokens) if t == word] for word in tokens}
    anna = [(i, i) for i in sorted([*at["Anna"], *at["she"], *at["her"], *at["She"]])]
    tom = [(i, i) for i in sorted([*at["Tom"], *at["him"], *at["He"], *at["he"], *at["his"]])]
    mentions = [Marked(a, b, 0, "link", "name") for a, b in anna] + [Marked(a, b, 1) for a, b in tom]
    book = Book.make(doc_key, [tokens])
    said = tokens.index("I")
    return Annotation(book, ("Anna", "Tom"), tuple(sorted(mentions)), (Quote(said - 1, said + 4, 0, (1,)),))


def links(a):
    return {(m.start, m.end, a.names[m.character]) for m in a.mentions}


def place(word, number=0):
    i = [i for i, t in enumerate(TOKENS) if t == word][number]
    return anchor_of(TOKENS, i, i)


def test_every_operation_does_what_it_says():
    a, hill = annotation(), TOKENS.index("Hill")
    edits = [
        Edit("new", character="Mr. Hill"),
        Edit("link", at=place("He"), was="Tom", character="Mr. Hill"),
        Edit("unlink", at=place("his"), was="Tom"),
        Edit(
            "span", at=anchor_of(TOKENS, hill - 1, hill - 1), was="Tom", to=anchor_of(TOKENS, hill - 1, hill)
        ),
        Edit("link", at=place("you"), character="Tom"),
        Edit("speaker", at=anchor_of(TOKENS, *a.quotes[0][:2]), speaker="Tom", addressees=("Anna",)),
        Edit("rename", character="Anna", name="Anna Grey"),
    ]
    done = apply(a, parse_edits(format_edits(edits)))
    assert (done.changed, done.unchanged, done.conflicts) == (7, 0, ())
    b = done.annotation
    at = {word: i for i, word in reversed(list(enumerate(TOKENS)))}
    assert (at["He"], at["He"], "Mr. Hill") in links(b)
    assert not [row for row in links(b) if row[0] == at["his"]]
    assert (hill - 1, hill, "Tom") in links(b)
    assert (hill - 1, hill - 1, "Tom") not in links(b)
    assert (at["you"], at["you"], "Tom") in links(b)
    assert (at["Anna"], at["Anna"], "Anna Grey") in links(b)
    assert (b.quotes[0].speaker, b.quotes[0].addressees) == (b.index["Tom"], (b.index["Anna Grey"],))
    assert {m.step for m in b.mentions if m.start in (at["He"], at["you"])} == {"edit"}
    again = apply(b, edits[:2])
    assert again.annotation == b


def test_a_merge_takes_mentions_and_quotes_along():
    done = apply(annotation(), [Edit("merge", character="Tom", into="Anna")]).annotation
    assert {name for *_, name in links(done)} == {"Anna"}
    assert done.quotes[0].addressees == (0,)


@pytest.mark.parametrize(("edit", "reason"), [
    (Edit("link", at=place("He"), character="Nobody"), "no character is called 'Nobody'"),
    (Edit("rename", character="Anna", name="Tom"), "to join them, merge"),
    (Edit("span", at=place("garden"), was="Tom", to=place("the")), "no mention of Tom"),
    (Edit("link", at=anchor_of(["a", "wholly", "other"], 1, 2), character="Tom"), "is not found"),
])  # fmt: skip
def test_what_cannot_be_done_is_listed_with_its_reason(edit, reason):
    done = apply(annotation(), [edit])
    assert [reason in c.reason for c in done.conflicts] == [True]
    assert not done.conflicts[0].applied
    assert links(done.annotation) == links(annotation())


def test_two_people_who_disagree_are_listed_and_the_later_one_is_taken():
    mine = Edit("link", at=place("He"), was="Tom", character="Anna")
    yours = Edit("unlink", at=place("He"), was="Tom")
    done = apply(annotation(), [mine, yours])
    assert [(c.number, c.applied, "edit 1 says" in c.reason) for c in done.conflicts] == [(2, True, True)]
    assert not [
        m for m in done.annotation.mentions if m.start == mine.at.start
    ]  # as said: the later is taken
    changed_my_mind = Edit("link", at=place("He"), was="Anna", character="Tom")
    assert apply(annotation(), [mine, changed_my_mind]).conflicts == ()


def other_edition():
    """The same story with a preface, another tokenisation, straight quotes and one changed sentence."""
    text = " ".join(TOKENS).replace("“", '"').replace("”", '"').replace("She never used", "She had used")
    return f"A PREFACE that was not there before , with Anna and Tom . \n {text}".split(" ")


def test_places_are_found_again_in_another_edition():
    tokens = other_edition()
    finder = Finder(tokens)
    for m in annotation().mentions:
        anchor = anchor_of(TOKENS, m.start, m.end)
        found = finder.find(anchor)
        assert found is not None, anchor
        assert tokens[found[0]] == TOKENS[m.start]
    done = apply(annotation(tokens), [Edit("link", at=place("He"), was="Tom", character="Anna")])
    assert (done.changed, done.moved) == (1, 1)


def test_a_place_that_could_be_two_is_not_guessed():
    tokens = ["he", "came", ".", "he", "went", "."] * 30
    assert Finder(["x", *tokens]).find(anchor_of(["and", "he"], 1, 1)) is None


def test_a_few_words_that_stand_elsewhere_too_are_not_the_place():
    """One of ten corrections of a place that a text lacks was made somewhere else in it."""
    told = "the sailor laughed loudly ; “ Nobody comes , ” said he . “ Captain Thorne sleeps below ”"
    another = "my dear Margaret wept again . “ Father is here , ” said he . “ Perhaps another evening ”"
    gone, other = told.split(), another.split()
    anchor = anchor_of(gone, gone.index("he"), gone.index("he"))
    assert Finder(["so"] * 50 + other).find(anchor) is None
    assert Finder(["so"] * 50 + gone).find(anchor) == (61, 61)


def test_differences_lead_from_one_annotation_to_the_other():
    draw = random.Random(7)
    for _ in range(60):
        old, new = random_annotation(draw), random_annotation(draw)
        found = diff(old, new)
        assert found.lost == ()
        done = apply(old, parse_edits(format_edits(found.edits)))
        assert links(done.annotation) == links(new)
        assert [c for c in done.conflicts if not c.applied] == []
        told = {q[:2]: (done.annotation.names[q.speaker], len(q.addressees)) for q in done.annotation.quotes}
        for q in new.quotes:
            assert told[q[:2]] == (new.names[q.speaker], len(q.addressees))


def random_annotation(draw: random.Random) -> Annotation:
    names = tuple(draw.sample(["Anna", "Tom", "Eve", "Mr. Hill", "the cat"], 3))
    rows = {(draw.randrange(30), draw.randrange(3), draw.randrange(3)) for _ in range(14)}
    mentions = tuple(sorted(Marked(a, min(a + n, 31), c) for a, n, c in rows))
    quotes = (Quote(7, 12, draw.randrange(3), (draw.randrange(3),)),)
    return Annotation(Book.make("garden", [TOKENS]), names, mentions, quotes)


def test_a_changed_name_is_one_rename_and_a_joined_character_one_merge():
    old = annotation()
    renamed = Annotation(old.book, ("Anna Grey", "Tom"), old.mentions, old.quotes)
    assert [e.op for e in diff(old, renamed).edits] == ["rename"]
    joined = apply(old, [Edit("merge", character="Tom", into="Anna")]).annotation
    assert [e.op for e in diff(old, joined).edits] == ["merge"]


def test_another_speaker_is_found_in_another_edition_of_the_text():
    old, other = annotation(), annotation(other_edition())
    assert diff(old, other).edits == ()
    turned = tuple(q._replace(speaker=1 - q.speaker) for q in other.quotes)
    edits = diff(old, replace(other, quotes=turned)).edits
    assert [(e.op, e.at.start, e.at.end) for e in edits] == [("speaker", q.start, q.end) for q in old.quotes]
    found = apply(old, edits).annotation.quotes
    assert [q.speaker for q in found] == [1 - q.speaker for q in old.quotes]


@pytest.mark.parametrize("line", [
    "[]", "{", '{"op": "fly"}', '{"op": "link", "character": "A"}', '{"op": "new", "character": 3}',
    '{"op": "link", "at": 3, "character": "A"}',
    '{"op": "link", "at": {"tokens": [2, 1], "words": ""}, "character": "A"}',
    '{"op": "speaker", "at": {"tokens": [0, 1], "words": "x"}, "speaker": "A", "addressees": "B"}',
])  # fmt: skip
def test_a_line_that_is_no_correction_is_named(line):
    with pytest.raises(FormatError, match=r"mine\.jsonl:2"):
        parse_edits('{"op": "new", "character": "A"}\n' + line, "mine.jsonl")


def test_fields_that_we_do_not_know_are_kept():
    line = '{"op": "new", "character": "A", "remark": "chapter 3"}'
    assert format_edits(parse_edits(line)).strip() == line


# -- names ------------------------------------------------------------------------------------------

CAST = [
    {"name": "Captain Thorne", "aliases": ["Josiah"]}, {"name": "Élise Marchand"}, {"name": "Anna Hill"},
    {"name": "Tom Hill"},
]  # fmt: skip


def people():
    names = tuple(row["name"] for row in CAST)
    book = Book.make("garden", [TOKENS])
    return Annotation(book, names, tuple(Marked(i, i, i) for i in range(4)), extra={"cast": CAST})


@pytest.mark.parametrize(("typed", "meant"), [
    ("captain thorne", "Captain Thorne"), ("Captain Thórne", "Captain Thorne"), ("Josiah", "Captain Thorne"),
    ("Elise Marchand", "Élise Marchand"), ("JOSIAH", "Captain Thorne"),
])  # fmt: skip
def test_a_name_in_other_case_or_accents_or_an_alias_is_the_one_it_fits(typed, meant):
    done = apply(people(), [Edit("link", at=place("Tom"), character=typed)])
    assert done.conflicts == ()
    spot = place("Tom").start
    assert (spot, spot, meant) in links(done.annotation)


@pytest.mark.parametrize(("typed", "offered"), [
    ("Thorne", "is it Captain Thorne"), ("Hill", "is it Anna Hill or Tom Hill"),
    ("Throne", "is it Captain Thorne"), ("Captin Thorne", "is it Captain Thorne"),
    ("Marchant", "is it Élise Marchand"), ("Zoë", ""),
])  # fmt: skip
def test_a_part_or_a_slip_is_a_conflict_that_says_whom_you_may_mean(typed, offered):
    for edit in (
        Edit("link", at=place("Tom"), character=typed),
        Edit("merge", character=typed, into="Tom Hil"),
    ):
        (conflict,) = apply(people(), [edit]).conflicts
        assert offered in conflict.reason or edit.op == "merge"
        assert not conflict.applied


@pytest.mark.parametrize("typed", ["Thorne", "thorne", "Josiah", "Captian Thorne", "HILL", "Elise"])
def test_somebody_new_who_could_be_listed_must_be_confirmed(typed):
    (conflict,) = apply(people(), [Edit("new", character=typed)]).conflicts
    assert "confirmed" in conflict.reason
    done = apply(people(), [Edit("new", character=typed, confirmed=True)])
    assert (done.conflicts, done.annotation.names[-1]) == ((), typed)
    renamed = apply(people(), [Edit("rename", character="Anna Hill", name=typed)])
    assert "confirmed" in renamed.conflicts[0].reason


def test_effects_begin_with_whom_most_changes():
    old = annotation()
    gone = {place("Tom").start, place("Anna").start}
    new = replace(old, mentions=tuple(m for m in old.mentions if m.start not in gone), quotes=())
    found = effects(old, new, [], ())
    assert [(e.character, e.elsewhere, e.quotes_elsewhere) for e in found] == [("Anna", 1, 1), ("Tom", 1, 0)]
    later = effects(replace(old, names=("Zoe", "Tom")), replace(new, names=("Zoe", "Tom")), [], ())
    assert [e.character for e in later] == ["Zoe", "Tom"]


@pytest.mark.parametrize(("gone", "later"), [
    ("Anna Hill", "Anna Hill"), ("Anna Hill", "anna hill"), ("Captain Thorne", "Josiah"),
    ("Josiah", "Captain Thorne"), ("Josiah", "JOSIAH"),
])  # fmt: skip
def test_a_joined_character_stays_joined_for_later_edits(gone, later):
    edits = [
        Edit("merge", character=gone, into="Tom Hill"), Edit("link", at=place("garden"), character=later),
        Edit("speaker", at=place("I"), speaker=later, addressees=(later,)),
        Edit("unlink", at=place("garden"), was=later),
    ]  # fmt: skip
    done = apply(people(), edits[:3])
    spot = place("garden").start
    assert (spot, spot, "Tom Hill") in links(done.annotation)
    (quote,) = done.annotation.quotes
    assert {done.annotation.names[c] for c in (quote.speaker, *quote.addressees)} == {"Tom Hill"}
    assert links(apply(people(), edits).annotation) == links(done.annotation) - {(spot, spot, "Tom Hill")}


def test_in_which_order_other_places_are_corrected_changes_nothing():
    draw = random.Random(3)
    for _ in range(60):
        a = random_annotation(draw)
        spans = draw.sample(range(0, len(a.book.tokens) - 2, 3), 8)
        edits = [
            Edit(op, at=anchor_of(a.book.tokens, i, i + draw.randrange(2)),
                 **({"character": draw.choice(a.names)} if op == "link" else {}),
                 **({"speaker": draw.choice(a.names)} if op == "speaker" else {}))
            for i in spans for op in [draw.choice(["link", "unlink", "speaker"])]
        ]  # fmt: skip
        first, again = apply(a, edits), apply(a, draw.sample(edits, len(edits)))
        assert (first.annotation, first.changed) == (again.annotation, again.changed)


# -- what a new reading changes, and two people -----------------------------------------------------------


def test_effects_count_what_changed_beside_the_corrections():
    old = annotation()
    he, his = place("He").start, place("his").start
    mentions = [m._replace(character=0) if m.start in (he, his) else m for m in old.mentions]
    new = replace(old, mentions=tuple(sorted(mentions)))
    (anna, tom) = sorted(effects(old, new, [], {(he, he)}), key=lambda e: e.character)
    assert (anna.character, anna.before, anna.after, anna.elsewhere, anna.much) == ("Anna", 5, 7, 1, True)
    assert (tom.before, tom.after, tom.elsewhere, tom.quotes_elsewhere) == (7, 5, 1, 0)
    assert not any(e.much for e in effects(old, new, [], {(he, he), (his, his)}))
    assert effects(old, old, [], ()) == []
    renamed = apply(old, [Edit("rename", character="Anna", name="Eve")]).annotation
    assert effects(old, renamed, [Edit("rename", character="Anna", name="Eve")], ()) == []
    joined = [Edit("merge", character="Tom", into="Anna")]
    assert not any(e.elsewhere for e in effects(old, apply(old, joined).annotation, joined, ()))


def test_what_two_people_agree_on_is_kept_once_and_the_rest_is_listed():
    mine = [
        Edit("link", at=place("He"), character="Tom", author="a", date="2026-01-01"),
        Edit("link", at=place("He"), character="Anna", author="a", date="2026-01-03"),
        Edit("unlink", at=place("his"), author="a", date="2026-01-04"),
        Edit("new", character="Eve", author="a", date="2026-01-05"),
    ]  # fmt: skip
    yours = [
        Edit("link", at=place("He"), character="Anna", author="b", date="2026-01-02", group="x"),
        Edit("link", at=place("his"), character="Tom", author="b", date="2026-01-02"),
        Edit("new", character="Eve", author="b", date="2026-01-06"),
        Edit("rename", character="Tom", name="Thomas", author="b", date="2026-01-07"),
    ]  # fmt: skip
    merged = merge_edits([mine, yours])
    assert [(e.op, e.character, e.author) for e in merged.edits] == [
        ("link", "Anna", "a"), ("new", "Eve", "a"), ("rename", "Tom", "b"),
    ]  # fmt: skip
    (bad,) = merged.disagreements
    assert (bad.one.op, bad.other.op) == ("unlink", "link")
    assert "his" in bad.what
    assert merge_edits([mine, mine]).edits == tuple(mine[1:])
    assert merge_edits([yours, mine]).disagreements[0].one.op == "link"
