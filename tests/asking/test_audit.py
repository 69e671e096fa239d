"""Likely errors of gold: one planted error of each kind is found, and what is right is left alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

import bookcoref_data as bc
from bookcoref_data.asking.flags import Flag, called, find_flags, flag_as_dict, names_of_chains
from bookcoref_data.books import Book
from bookcoref_data.books.annotation import Annotation, Marked
from bookcoref_data.books.layout import lay_out
from bookcoref_data.cli.verbs.people import _ask_flags
from bookcoref_data.edits import Edit, anchor_of, apply, merge_edits, parse_edits
from bookcoref_data.workflows.review import flags_of

TEXT = (
    "Anna Grey came . She sat and her dog slept . Anna Grey laughed , she sang . Anna Grey left . "
    "Tom came . He sat and his cat slept . Tom laughed , he sang . Tom left . “ I saw Tom , and I ran , ” "
    "said Anna Grey . The doctor bowed . The doctor sat , and the doctor left . Tom was asked by Anna Grey ."
)
TOKENS = TEXT.split(" ")
ANNA, TOM, DOCTOR = 0, 1, 2
TAGS = ["NNP" if t[:1].isupper() and t not in ("She", "He", "The", "I") else "PRP" if t.lower() in (
    "she", "he", "i") else "PRP$" if t in ("her", "his") else "DT" if t.lower() == "the" else "NN" if t in (
    "doctor", "dog", "cat") else "VBD" if t.isalpha() else "." for t in TOKENS]  # fmt: skip


def gold() -> Annotation:
    spans = {ANNA: [], TOM: [], DOCTOR: []}
    for i, token in enumerate(TOKENS):
        if token == "Anna":
            spans[ANNA].append((i, i + 1))
        elif token.lower() in ("she", "her") or token == "I":
            spans[ANNA].append((i, i))
        elif token in ("Tom", "He", "he", "his"):
            spans[TOM].append((i, i))
        elif token == "doctor":
            spans[DOCTOR].append((i - 1, i))
    marked = [Marked(*span, who) for who, found in spans.items() for span in found]
    return Annotation(Book.make("b", [TOKENS]), ("Anna Grey", "Tom", "the doctor"), tuple(sorted(marked)))


def at(word: str, number: int = 0) -> int:
    return [i for i, t in enumerate(TOKENS) if t == word][number]


def changed(a: Annotation, place: int, /, **new) -> Annotation:
    """The annotation with the mention at a token changed; None takes it away."""
    mentions = [m for m in a.mentions if m.start != place]
    if new:
        old = next(m for m in a.mentions if m.start == place)
        mentions.append(old._replace(**new))
    return Annotation(a.book, a.names, tuple(sorted(mentions)))


def test_gold_without_errors_has_no_flags():
    assert find_flags(gold(), tags=TAGS) == []


PLANTED = {
    "gender": lambda a: changed(a, at("he"), character=ANNA),
    "name of another": lambda a: changed(a, at("Tom", 1), character=ANNA),
    "name not marked": lambda a: changed(a, at("Tom", 1)),
    "speaker": lambda a: changed(a, at("I", 1), character=TOM),
}
PLACES = {"gender": at("he"), "name of another": at("Tom", 1), "name not marked": at("Tom", 1),
          "speaker": at("I", 1)}  # fmt: skip


@pytest.mark.parametrize("kind", PLANTED)
def test_a_planted_error_is_found_and_its_correction_mends_it(kind):
    made = PLANTED[kind](gold())
    flags = find_flags(made, tags=TAGS)
    assert (kind, PLACES[kind]) in {(f.kind, f.start) for f in flags}
    flag = next(f for f in flags if f.start == PLACES[kind])
    mended = apply(made, flag.edits).annotation
    spans = {(m.start, m.end, m.character) for m in mended.mentions}
    assert spans == {(m.start, m.end, m.character) for m in gold().mentions}


def test_a_quotation_that_is_somebody_elses_is_one_flag_for_all_its_words():
    a = gold()
    for number in (0, 1):
        a = changed(a, at("I", number), character=TOM)
    (flag,) = (f for f in find_flags(a, tags=TAGS) if f.kind == "speaker")
    assert (flag.start, flag.reason) == (at("I"), "“I” should be who says it, “Anna Grey”; 2 times here")
    mended = apply(a, flag.edits).annotation
    assert [m.character for m in mended.mentions] == [m.character for m in gold().mentions]


def test_boundaries_and_words_that_are_no_mentions_are_found():
    cut = changed(gold(), at("The"), start=at("doctor"))
    (flag,) = find_flags(cut, tags=TAGS)
    assert (flag.kind, flag.edits[0].to.words) == ("boundaries", "The doctor")
    longer = changed(gold(), at("Tom", 1), end=at("Tom", 1) + 1)
    (flag,) = find_flags(longer, tags=TAGS)
    assert (flag.kind, flag.edits[0].to.words) == ("boundaries", "Tom")
    wide = changed(gold(), at("Tom", 2), start=at("Tom", 2) - 1)  # with the full stop before it
    (flag,) = find_flags(wide, tags=TAGS)
    assert (flag.kind, flag.edits[0].to.words) == ("boundaries", "Tom")
    assert flag.reason.startswith("begins with")
    a = gold()
    extra = Annotation(a.book, a.names, tuple(sorted([*a.mentions, Marked(at("slept"), at("slept"), TOM)])))
    (flag,) = find_flags(extra, tags=TAGS)
    assert (flag.kind, flag.edits[0].op) == ("not a person", "unlink")


def test_a_chain_in_two_is_found_by_its_name():
    a = gold()
    half = [m for m in a.mentions if m.character == ANNA and m.end > m.start][2:]
    moved = [m._replace(character=3) if m in half else m for m in a.mentions]
    split = Annotation(a.book, (*a.names, "Anna Grey (2)"), tuple(sorted(moved)))
    flag = next(f for f in find_flags(split, tags=TAGS) if f.kind == "two chains")
    assert {flag.edits[0].character, flag.edits[0].into} == {"Anna Grey", "Anna Grey (2)"}


def test_a_chain_cut_in_two_is_found_though_both_halves_have_several_names():
    text = "Tom Hill came . Tom ran . He sat . Tom Hill left . Tom slept . He woke ."
    tokens = text.split()
    spans = [(0, 1), (4, 4), (7, 7), (10, 11), (14, 14), (17, 17)]
    whole = Annotation(Book.make("b", [tokens]), ("Tom Hill",), tuple(Marked(*s, 0) for s in spans))
    assert find_flags(whole) == []
    halves = tuple(m._replace(character=int(m.start > 7)) for m in whole.mentions)
    (flag,) = find_flags(Annotation(whole.book, ("Tom Hill", "Tom"), halves))
    assert (flag.kind, {flag.edits[0].character, flag.edits[0].into}) == ("two chains", {"Tom Hill", "Tom"})


def test_a_book_that_begins_with_a_mention_is_audited_without_a_parse():
    book = Book.make("b", [["Tom", "ran", "."]])
    assert find_flags(Annotation(book, ("Tom",), (Marked(0, 0, 0),))) == []


def test_halves_of_two_mentions_may_be_two_people():
    """Of two people of one name who are each named once, the other need not be the one who went away."""
    text = "Tom Hill came . Tom ran . Tom Hill left . Tom slept ."
    spans = [((0, 1), 0), ((4, 4), 0), ((7, 8), 1), ((11, 11), 1)]
    book = Book.make("b", [text.split()])
    assert find_flags(Annotation(book, ("Tom Hill", "Tom"), tuple(Marked(*s, c) for s, c in spans))) == []


@pytest.mark.parametrize(("tokens_before", "edit"), [(200, "link"), (201, "unlink")])
def test_who_is_meant_instead_was_mentioned_not_long_before(tokens_before, edit):
    """ "She" in a chain that is "he": Anna, if she was there within 200 tokens."""
    tokens = ["Anna", *["x"] * 299]
    places = {0: ANNA, 250 - tokens_before: ANNA, 240: TOM, 245: TOM, 250: TOM}
    for place, who in places.items():
        tokens[place] = "she" if who == ANNA or place == 250 else "he"
    marked = tuple(sorted(Marked(i, i, who) for i, who in places.items()))
    (flag,) = find_flags(Annotation(Book.make("b", [tokens]), ("Anna", "Tom"), marked))
    assert (flag.kind, flag.start, flag.edits[0].op) == ("gender", 250, edit)
    assert flag.reason == "“she” is Tom here, elsewhere “he” (2 times)"


@pytest.mark.parametrize(("second", "places"), [(60, [[0, 60]]), (61, [[0], [61]])])
def test_places_in_a_row_that_our_reading_has_otherwise_are_one_question(second, places):
    """A person was asked of one matter eighteen times, once for each "he" of a page."""
    book = Book.make("b", [["x"] * 100])
    said = Annotation(book, ("Anna", "Tom"), tuple(Marked(i, i, ANNA) for i in (0, second)))
    flags = find_flags(said, [Marked(i, i, TOM, score=0.9) for i in (0, second)])
    assert [[e.at.start for e in f.edits] for f in flags] == places
    assert {f.reason.endswith("; 2 times here") for f in flags} == {len(places) == 1}


def test_what_is_left_out_of_a_name_is_not_a_name_that_is_not_marked():
    """ "Peter Palfrey" was asked about as a place of Peter Goldthwaite that is not marked."""
    text = "Peter Hill came . Peter ran . Peter sat . Peter slept . Then Peter Palfrey spoke to Peter ."
    tokens = text.split()
    marked = tuple(Marked(*span, 0) for span in ((0, 1), (4, 4), (7, 7), (10, 10)))
    flags = find_flags(Annotation(Book.make("b", [tokens]), ("Peter Hill",), marked))
    assert [(f.kind, f.start) for f in flags] == [("name not marked", tokens.index("to") + 1)]


def test_a_form_of_address_belongs_to_nobody():
    """ "Your Excellency" was a name that another governor may not have."""
    text = (
        "Howe came . Your Excellency is right , Your Excellency . Your Excellency ! Your Excellency , Shute ."
    )
    tokens = text.split()
    places = [i for i, t in enumerate(tokens) if t == "Your"]
    marked = [Marked(0, 0, 0), *(Marked(i, i + 1, int(i == places[-1])) for i in places)]
    assert find_flags(Annotation(Book.make("b", [tokens]), ("Howe", "Shute"), tuple(marked))) == []


def test_a_name_in_a_chain_of_another_is_no_name_of_that_chain_in_our_reading():
    """One "Tom" in Anna's chain made "Tom" a name of hers, and our reading took all his places for her."""
    wrong = changed(gold(), at("Tom", 1), character=ANNA)
    assert names_of_chains(wrong) == [["Anna Grey"], ["Tom"], []]


def test_a_phrase_with_a_clause_may_end_with_its_verb():
    text = "He saw those who revelled . In a place like this he sat ."
    tokens = text.split()
    tags = ["PRP", "VBD", "DT", "WP", "VBD", ".", "IN", "DT", "NN", "IN", "DT", "PRP", "VBD", "."]
    a = Annotation(Book.make("b", [tokens]), ("they", "place"), (Marked(2, 4, 0), Marked(7, 10, 1)))
    assert find_flags(a, tags=tags) == []


@pytest.mark.parametrize(
    ("place", "score", "chance"),
    [("She", 0.9, 0.9), ("She", 0.7, 0.4), ("She", 0.69, None), ("I", 0.99, None)],
)
def test_our_reading_contradicts_only_of_a_third_person_and_where_it_is_sure(place, score, chance):
    wrong = changed(gold(), at(place), character=DOCTOR)
    flags = find_flags(wrong, [Marked(at(place), at(place), ANNA, score=score)])
    told = [f.chance for f in flags if f.reason == f"we read Anna Grey here, {score:.0%} certain"]
    assert told == ([chance] if chance else [])


@pytest.mark.long
def test_our_reading_learns_from_what_the_annotation_says_around_a_place():
    """Alone it took every "he" of a page for somebody else, where the annotation was right."""
    text = "Tom and Sam met . Tom laughed . He was old . He was grey . He was weak . He wept . He smiled ."
    tokens, who = text.split(" "), {"Tom": 0, "Sam": 1, "He": 1}
    marked = tuple(Marked(i, i, who[t]) for i, t in enumerate(tokens) if t in who)
    book = Book.make("b", [part.split(" ") for part in text.replace(" . ", " .|").split("|")])
    assert flags_of(Annotation(book, ("Tom", "Sam"), marked)) == []


@pytest.mark.parametrize(
    ("who", "guessed", "place", "told"),
    [
        (ANNA, [], "bowed", "yes, it is Anna Grey"),
        (ANNA, [ANNA], "bowed", "yes, it is Anna Grey"),
        (DOCTOR, [], "bowed", "yes, it is the doctor"),
        # A chain without a name is told by its mention nearest to the place.
        (DOCTOR, [DOCTOR], "bowed", "yes, it is “The doctor”"),
        (DOCTOR, [DOCTOR], "asked", "yes, it is “the doctor”"),
    ],
)
def test_a_correction_tells_whom_it_means(who, guessed, place, told):
    a = replace(gold(), guessed=frozenset(guessed))
    anchor = anchor_of(TOKENS, at(place), at(place))
    flag = Flag("gender", at(place), at(place), 0.5, "", (Edit("link", anchor, character=a.names[who]),))
    asked = flag_as_dict(flag, a, lay_out(a))
    assert asked["answers"][0]["says"] == told


def test_a_question_tells_whose_the_place_is_now():
    """ "No, it is right" was to be answered without a word of who the annotation says it is."""
    wrong = changed(gold(), at("he"), character=ANNA)
    (flag,) = find_flags(wrong, tags=TAGS)
    says = [answer["says"] for answer in flag_as_dict(flag, wrong, lay_out(wrong))["answers"]]
    assert says == ["yes, it is Tom", "no, it is Anna Grey", "cannot tell"]


def test_a_chain_of_pronouns_is_told_with_the_words_behind_one():
    tokens = ["He", "came", "in", ".", "Then", "he", "sat", "down", "again", "."]
    a = Annotation(
        Book.make("b", [tokens]), ("he",), (Marked(0, 0, 0), Marked(5, 5, 0)), guessed=frozenset([0])
    )
    assert called(a, 0, 8) == "“he sat down again .”"


def test_the_cast_of_the_reading_has_the_names_of_the_chains():
    assert names_of_chains(gold()) == [["Anna Grey"], ["Tom"], []]


def test_what_was_mended_or_left_is_not_asked_again(tmp_path):
    a = changed(gold(), at("Tom", 2), start=at("Tom", 2) - 1)
    half = [m for m in a.mentions if m.character == ANNA and m.end > m.start][2:]
    moved = [m._replace(character=3) if m in half else m for m in a.mentions]
    book = Annotation(a.book, (*a.names, "Anna Grey (2)"), tuple(sorted(moved))).to_book()
    found = bc.audit(book, read=False)
    assert {"boundaries", "two chains"} <= {*found.counts}
    for answer in (0, 1, 2):
        kept = tmp_path / f"{answer}.jsonl"
        for flag in found.to_dict()["flags"]:
            found.keep(flag["answers"][answer]["edits"], kept)
        assert bc.audit(book, read=False, edits=kept).flags == []
    # Who calls two chains right says it of the pair, so that `edits merge` knows what it is about.
    said = {answer: parse_edits((tmp_path / f"{answer}.jsonl").read_text()) for answer in (0, 1)}
    assert {(e.character, e.into) for e in said[1]} - {("", "")} == {
        (e.character, e.into) for e in said[0] if e.op == "merge"
    }
    merged = merge_edits([said[0], said[1]])
    assert not any(e.op != "seen" for e in merged.edits)
    assert len(merged.disagreements) == len(said[0])


@pytest.mark.long
def test_gold_of_the_sample_is_audited_from_python(tmp_path):
    bc.sample(tmp_path)
    bc.rebuild(sample=True, out=tmp_path / "bookcoref")
    found = bc.audit(tmp_path / "bookcoref", read=False, out=tmp_path / "flags.html")
    assert sum(found.counts.values()) == len(found.to_dict()["flags"])
    assert "Likely errors" in (tmp_path / "flags.html").read_text(encoding="utf-8")
    flag = found.to_dict()["flags"][0]
    found.keep(flag["answers"][1]["edits"], tmp_path / "kept.jsonl")
    again = bc.audit(tmp_path / "bookcoref", read=False, edits=tmp_path / "kept.jsonl")
    assert len(again.flags) < len(found.flags)


def test_an_answer_about_several_places_is_taken_back_whole(tmp_path):
    """`audit --review` had no undo; an answer may be several corrections."""
    a = gold()
    for number in (0, 1):
        a = changed(a, at("I", number), character=TOM)
    found, kept = bc.audit(a.to_book(), read=False, author="Ada"), tmp_path / "kept.jsonl"
    found.flags.insert(0, found.flags[0])
    keys = iter("z2z1q")
    _ask_flags(found, kept, lambda: next(keys))
    told = [(e.op, e.character, e.author) for e in parse_edits(kept.read_text())]
    assert told == [("link", "Anna Grey", "Ada")] * 2


def test_what_is_no_mention_and_what_is_missing_are_told_apart():
    """Both "yes" to a word that is no mention and "no" to a missing one said "it is not marked"."""
    a = gold()
    extra = replace(a, mentions=tuple(sorted([*a.mentions, Marked(at("slept"), at("slept"), TOM)])))
    for made, says in (
        (extra, ["yes, it is no mention", "no, it is right"]),
        (changed(a, at("Tom", 1)), ["yes, it is Tom", "no, it is rightly left out"]),
    ):
        (flag,) = find_flags(made, tags=TAGS)
        told = flag_as_dict(flag, made, lay_out(made))["answers"]
        assert [answer["says"] for answer in told[:2]] == says
