"""Questions to people: which come first, what an answer does, and what becomes of it in the next reading."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from typer.testing import CliRunner

import bookcoref_data as bc
from bookcoref_data.annotation.cast import Entry, make_cast
from bookcoref_data.annotation.embedded.network import Ranker, Wavering
from bookcoref_data.asking import ReviewQuestion, agreement, answers_to, make_queue, settled
from bookcoref_data.asking.answers import answer_with, as_dict, taught
from bookcoref_data.asking.questions import OUTSIDERS, Asking, doubted, likely_right, speakers_of
from bookcoref_data.books import Book
from bookcoref_data.books.annotation import Annotation, Marked, Quote
from bookcoref_data.books.layout import lay_out
from bookcoref_data.cli.app import make_app
from bookcoref_data.cli.verbs.people import _ask_all, _ask_batch, _show, _show_passage, _somebody
from bookcoref_data.edits import UNSURE, Edit, anchor_of, apply, format_edits, merge_edits, parse_edits
from bookcoref_data.errors import DataError, SourceError, UsageError
from bookcoref_data.resources import resource
from bookcoref_data.workflows.correct import read_edits
from bookcoref_data.workflows.given import corrections_of

NAMES = ("Anna Grey", "Tom Hill", "Hill")


def annotation(quotes=(), mentions=(), tokens=600):
    book = Book.make("b", [[f"w{i}" for i in range(tokens)]])
    return Annotation(book, NAMES, tuple(sorted(mentions)), tuple(quotes))


def pronoun(at, score, who=0, **more):
    return Marked(at, at, who, "windows", "ranker: he, she, they", score, "pronoun", **more)


def turns(*scores, at=0):
    return [Quote(at + 30 * n, at + 30 * n + 9, n % 2, (), "turn", score) for n, score in enumerate(scores)]


def test_a_turn_among_doubtful_turns_is_worth_more_than_one_that_stands_alone():
    a = annotation([*turns(0.6, 0.6, 0.6, 0.6), *turns(0.5, at=550)])
    (first,) = make_queue(a, about=["speaker"], most=1)
    assert first.start in (30, 60)
    alone = next(q for q in [*Asking(a).questions()] if q.start == 550)
    assert alone.hangs == 1
    assert alone.worth < first.worth < alone.chance * first.hangs


def test_how_far_an_error_reaches_is_a_guess_and_counts_less_than_places_that_are_known():
    a = annotation([*turns(0.7, 0.7, 0.7, 0.7), *turns(0.5, at=550)])
    among, alone = (next(q for q in [*Asking(a).questions()] if q.start == at) for at in (30, 550))
    assert among.chance * among.hangs > alone.chance * alone.hangs
    assert make_queue(a, about=["speaker"], most=1)[0].start == 550
    places = ((1, 1), (9, 9), (20, 20))
    for kind, now in (("name", "Hill"), ("words", "Hill"), ("same person", "Hill"), ("phrase", None)):
        assert ReviewQuestion(kind, 1, 1, now, ("Hill", "Tom Hill"), 0.5, 6.0, places).worth == 3.0


def test_what_other_readings_have_otherwise_is_doubted_while_it_is_as_it_was():
    a = annotation(turns(0.9, 0.9, 0.6))
    mine = speakers_of(a)
    first, second, third = mine
    drawn = [(mine, mine | {second: "Anna Grey"}), (mine, mine)]
    assert doubted(a, []) == {}
    assert doubted(a, drawn) == {first: 0.0, second: 0.5, third: 0.0}
    # An answer has made it what it is: what was read before does not speak of it.
    earlier = [(m | {first: "Hill"}, d | {first: "Tom Hill"}) for m, d in drawn]
    assert first not in doubted(a, earlier)
    chances = {q.key: q.chance for q in make_queue(a, doubts={second: 1.0, third: 0.0})}
    assert [round(chances[k], 2) for k in (first, second, third)] == [0.1, 0.55, 0.2]
    assert make_queue(a, doubts={second: 1.0}, most=1)[0].key == second


def test_a_ranker_that_wavers_keeps_what_it_is_sure_of_and_is_drawn_by_its_seed():
    one = np.ones(1, np.float32)
    ranker = Ranker(np.zeros(1), one, np.ones((1, 1), np.float32), np.zeros(1, np.float32), one)
    chosen = {}
    for apart in (0.0, 0.5, 9.0):
        x = np.array([[0.0], [apart]], np.float32)
        wavering = Wavering(*(getattr(ranker, f.name) for f in fields(ranker)), draw=np.random.default_rng(3))
        rows = [int(wavering.probabilities(x).argmax()) for _ in range(400)]
        again = Wavering(*(getattr(ranker, f.name) for f in fields(ranker)), draw=np.random.default_rng(3))
        assert rows == [int(again.probabilities(x).argmax()) for _ in range(400)]
        chosen[apart] = sum(rows) / 400
    square = np.exp(2 * 0.5) / (1 + np.exp(2 * 0.5))
    assert chosen[9.0] == 1.0
    assert abs(chosen[0.0] - 0.5) < 0.08
    assert abs(chosen[0.5] - square) < 0.08


def test_a_sure_turn_stops_an_error_and_the_rest_of_a_turn_goes_with_it():
    stopped = annotation(turns(0.6, 0.99, 0.6))
    assert next(Asking(stopped).questions(["speaker"])).hangs == 1
    q = Quote(0, 9, 0, (), "turn", 0.6)
    told = q._replace(start=15, end=20, rule="same paragraph")
    said = Marked(3, 3, 0, "groups", "speaker of the quote", 0.6, "pronoun")
    (one,) = [*Asking(annotation([q, told], [said])).questions(["speaker"])]
    assert (one.start, one.hangs) == (0, 3)


def test_the_second_question_is_not_beside_the_first():
    a = annotation([*turns(0.6, 0.6, 0.6), *turns(0.62, 0.62, 0.62, at=500)])
    first, second = make_queue(a, about=["speaker"], most=2)
    assert abs(first.start - second.start) > 300


def test_questions_of_one_scene_follow_the_text_and_what_must_come_first_stays_there():
    a = annotation([*turns(0.6, 0.5, 0.6), *turns(0.6, 0.4, 0.6, at=500)])
    order = [500, 530, 560, 0, 30, 60]
    assert [q.start for q in make_queue(a, about=["speaker"])] == order
    (last,) = (q for q in [*Asking(a).questions(["speaker"])] if q.start == 60)
    queue = make_queue(a, about=["speaker"], first=[last.key])
    assert [q.start for q in queue] == [60, *order[:-1]]


def test_pronouns_of_a_chain_hang_on_its_first_until_a_name():
    chain = [*(pronoun(at, 0.6) for at in (10, 20, 30, 50)), Marked(40, 41, 0, "link", "name", 0.98, "name")]
    hangs = {q.start: q.hangs for q in [*Asking(annotation(mentions=chain)).questions(["pronoun"])]}
    assert hangs[10] > hangs[20] > hangs[30] == 1 == hangs[50]


def test_one_answer_settles_all_places_of_a_name_and_pairs_are_asked_once():
    book = Book.make("b", [["Hill"], ["x", "Hill"], ["Tom", "Hill"]])
    marked = [Marked(i, i, 1, "link", "surname, named most", 0.83, "name") for i in (0, 2)]
    a = Annotation(book, NAMES, (*marked, Marked(3, 4, 2, "link", "name", 0.98, "name")))
    (question,) = make_queue(a, about=["name"])
    assert question.people == ("Tom Hill", "Hill")
    edits = answer_with(question, "Hill", book.tokens, "b")
    done = apply(a, edits).annotation
    assert [done.names[m.character] for m in done.mentions] == ["Hill", "Hill", "Hill"]
    (pair,) = make_queue(a, about=["same person"])
    yes, no, unsure = answers_to(pair, book.tokens, "b")
    joined = apply(a, yes.edits).annotation
    assert len({m.character for m in joined.mentions}) == 1
    for answer in (no, unsure):
        assert make_queue(a, about=["same person"], settled=settled(answer.edits)) == []
        assert apply(a, answer.edits).changed == 0


def test_one_answer_says_whether_a_word_before_a_name_belongs_to_it():
    sentences = [
        ["Comrade", "Hill"],
        ["Hill"],
        ["Comrade", "Hill"],
        ["Mr.", "Grey"],
        ["Grey"],
        ["Ed", "Grey"],
    ]
    book = Book.make("b", [*sentences, ["comrade"]])
    spans = {(0, 1): 1, (2, 2): 1, (3, 4): 1, (5, 6): 0, (7, 7): 0, (8, 9): 0}
    a = Annotation(book, ("Grey", "Hill"), tuple(Marked(*s, c, kind="name") for s, c in spans.items()))
    (question,) = make_queue(a, about=["words"])  # "Ed", which is never written small, is a name
    assert as_dict(question, lay_out(a), book.tokens, "b")["now"] == "Comrade Hill"
    assert (question.people, len(question.places)) == (("Comrade Hill", "Hill"), 2)
    whole, rest, unsure = answers_to(question, book.tokens, "b")
    done = apply(a, parse_edits(format_edits(rest.edits))).annotation
    assert [(m.start, m.end) for m in done.by_character[1]] == [(1, 1), (2, 2), (4, 4)]
    for answer in (whole, rest, unsure):
        assert make_queue(a, about=["words"], settled=settled(answer.edits)) == []
    assert apply(a, whole.edits).changed == 0


def test_a_name_that_begins_with_only_is_asked_for_as_other_names_are():
    book = Book.make("b", [["Comrade", "only", "Hill"], ["only", "Hill"], ["comrade"]])
    a = Annotation(book, ("Hill",), (Marked(0, 2, 0, kind="name"), Marked(3, 4, 0, kind="name")))
    question = next(q for q in make_queue(a, about=["words"]) if q.people[1] == "only Hill")
    _, rest, _ = answers_to(question, book.tokens, "b")
    done = apply(a, rest.edits).annotation
    assert [(m.start, m.end) for m in done.mentions] == [(1, 2), (3, 4)]


def test_one_answer_says_whether_himself_behind_a_name_is_a_mention_of_its_own():
    book = Book.make("b", [["Hill", "himself"], ["Hill", "himself"], ["Hill", "saw", "himself"]])
    spans = [(i, i) for i in (0, 1, 2, 3, 4, 6)]
    a = Annotation(book, ("Hill",), tuple(Marked(*s, 0) for s in spans))
    (question,) = make_queue(a, about=["words"])
    assert (question.people, question.places) == (("himself", "Hill"), ((1, 1), (3, 3)))
    whole, rest, unsure = answers_to(question, book.tokens, "b")
    assert (whole.says, rest.says) == ("himself, as a mention of its own", "only Hill")
    done = apply(a, parse_edits(format_edits(rest.edits))).annotation
    assert [m.start for m in done.mentions] == [0, 2, 4, 6]
    assert apply(a, whole.edits).changed == 0
    for answer in (whole, rest, unsure):
        assert make_queue(a, about=["words"], settled=settled(answer.edits)) == []


def test_what_was_wrong_more_often_than_usual_is_asked_first():
    book = Book.make("b", [["he"]] * 20)
    he = [Marked(i, i, i % 2, "windows", "ranker: he", 0.5 + i / 100, "pronoun") for i in range(20)]
    a = Annotation(book, ("Tom Hill", "Grey"), tuple(he))
    assert make_queue(a, about=["pronoun"], most=1)[0].now == "Tom Hill"
    edits = [
        Edit("link", at=anchor_of(book.tokens, i, i), was=a.names[i % 2], character="Grey") for i in range(8)
    ]
    assert taught(edits)["mention", "Tom Hill"] > 1 > taught(edits)["mention", "Grey"]
    turned = [replace(e, was="Grey", character="Tom Hill") if e.was == "Grey" else e for e in edits]
    turned = [replace(e, character="Tom Hill") for e in turned]
    assert [q.now for q in make_queue(a, about=["pronoun"], taught=taught(turned), most=10)] == ["Grey"] * 10
    chances = {q.now: q.chance for q in make_queue(a, about=["pronoun"], taught=taught(turned))}
    assert chances["Grey"] > chances["Tom Hill"]


def test_answers_about_speakers_teach_about_speakers_alone():
    at = anchor_of(["“", "No", "”"], 0, 2)
    wrong = Edit("speaker", at=at, was="Grey", speaker=None)
    right = Edit("speaker", at=at, was="Tom Hill", speaker="Tom Hill")
    assert taught([wrong, right]) == {("quote", "Grey"): 1.2, ("quote", "Tom Hill"): 0.8, OUTSIDERS: 1.0}
    assert taught([replace(wrong, was=None), Edit("seen", at=at)]) == {OUTSIDERS: 1.0}


def test_what_may_be_missed_of_a_group_is_asked_and_they_of_one_sentence_together():
    book = Book.make("b", [["The", "dogs", "ran"], ["They", "and", "their", "dogs"], ["x"] * 60, ["They"]])
    a = Annotation(book, ("The Dogs", "Tom Hill"), (Marked(0, 1, 0, kind="name"),))
    they, noun = make_queue(a, about=["pronoun", "phrase"])
    assert (they.start, they.now, they.people, they.places) == (3, None, ("The Dogs",), ((3, 3), (5, 5)))
    assert (noun.kind, noun.start, noun.places) == ("phrase", 6, ())
    done = apply(a, answer_with(they, "The Dogs", book.tokens, "b")).annotation
    assert [m.start for m in done.by_character[0]] == [0, 3, 5]
    assert make_queue(Annotation(book, ("Tom Hill",), ()), about=["pronoun", "phrase"]) == []


def test_what_nobody_has_is_asked_at_all_its_places_with_those_who_may_be_meant():
    sentences = [["He", "took", "his", "hat"], ["The", "child", "ran"], ["Her", "child"], ["the", "child"]]
    book = Book.make("b", sentences)
    free = [
        Marked(0, 0, -1, score=0.6, kind="pronoun", others=((1, 0.6),)),
        Marked(2, 2, -1, score=0.4, kind="pronoun", others=((1, 0.4),)),
        Marked(4, 5, -1, score=0.3, kind="nominal"),
        Marked(7, 8, -1, score=0.0, kind="nominal"),
        Marked(9, 10, -1, score=0.0, kind="nominal", others=((0, 0.02),)),
    ]
    a = Annotation(book, NAMES)
    he, child, hers = sorted(make_queue(a, nobodys=free), key=lambda q: q.start)
    assert (he.kind, he.places, he.now, he.people) == ("pronoun", ((0, 0), (2, 2)), None, ("Tom Hill",))
    assert (child.kind, child.places) == ("phrase", ((4, 5), (9, 10)))
    assert (hers.start, hers.places) == (7, ())
    # A phrase that nobody has is less often somebody's than it seems, and never surely nobody's.
    assert [round(q.chance, 3) for q in (he, child, hers)] == [0.5, 0.1, 0.05]
    assert [q.worth for q in (he, child, hers)] == [he.chance * 2, child.chance * 2, hers.chance]
    assert as_dict(child, lay_out(a), book.tokens, "b")["places"] == 2
    told = answer_with(child, "Anna Grey", book.tokens, "b")
    assert [(m.start, m.end) for m in apply(a, told).annotation.by_character[0]] == [(4, 5), (9, 10)]
    assert make_queue(a, about=["speaker", "name"], nobodys=free) == []
    assert [q.kind for q in make_queue(a, about=["phrase"], nobodys=free)] == ["phrase", "phrase"]


def test_she_of_a_sentence_is_asked_apart_from_he():
    book = Book.make("b", [["He", "saw", "her"]])
    free = [Marked(i, i, -1, score=0.5, kind="pronoun") for i in (0, 2)]
    assert [q.start for q in make_queue(Annotation(book, NAMES), nobodys=free)] == [0, 2]
    sure = [m._replace(score=0.0) for m in free]
    assert [q.chance for q in make_queue(Annotation(book, NAMES), nobodys=sure)] == [0.1, 0.1]


def test_a_scene_is_no_longer_than_two_thousand_tokens():
    book = Book.make("b", [["the", "child", *["x"] * 1996, "the", "child"], ["the", "child"]])
    free = [Marked(i, i + 1, -1, score=0.5, kind="nominal") for i in (0, 1998, 2000)]
    asked = make_queue(Annotation(book, NAMES), nobodys=free)
    assert [q.places for q in asked] == [((0, 1), (1998, 1999)), ()]


def test_all_names_of_somebody_outside_the_cast_are_one_question():
    book = Book.make("b", [["Jack", "Dawkins", "sat"], ["Lucy", "saw", "Dawkins"], ["lucy", "and", "Ben"]])
    spans = {(0, 1): 2, (5, 5): 2, (3, 3): -1, (6, 6): -1, (8, 8): 3}
    free = [Marked(*span, who, kind="name") for span, who in spans.items()]
    a = Annotation(book, NAMES)
    asked = {q.start: q for q in make_queue(a, nobodys=free, about=["name"])}
    assert {at: q.places for at, q in asked.items()} == {0: ((0, 1), (5, 5)), 3: ((3, 3), (6, 6)), 8: ()}
    # Who is named once is seldom somebody of the cast.
    assert {at: (q.now, q.chance, q.hangs) for at, q in asked.items()} == {
        0: (None, 0.23, 4), 3: (None, 0.23, 4), 8: (None, 0.07, 2)
    }  # fmt: skip
    named = answer_with(asked[0], "Tom Hill", book.tokens, "b")
    left = make_queue(a, settled(named), nobodys=free, about=["name"])
    assert {q.start for q in left} == {3, 8}
    assert make_queue(a, nobodys=free, about=["speaker", "phrase"]) == []


def test_names_that_nobody_has_are_asked_less_when_the_first_were_nobody():
    """A cast that lists everybody and all aliases has no use for these questions."""
    book = Book.make("b", [[f"Jack{i % 20}", "saw", "him", *["x"] * 297] for i in range(40)])
    free = [Marked(300 * i, 300 * i, -1, kind="name") for i in range(40)]
    sure = [pronoun(300 * i + 2, 0.6, i % 3) for i in range(40)]
    a = Annotation(book, NAMES, tuple(sure))
    first = make_queue(a, nobodys=free, about=["name", "pronoun"], most=10)
    asked = [q for q in first if q.kind == "name"]
    # In one round some are tried, and not all though each seems worth more than a pronoun.
    assert 2 < len(asked) < 8 < len({*range(20)})
    nobody = [e for q in asked for e in answer_with(q, None, book.tokens, "b")]
    somebody = [e for q in asked for e in answer_with(q, "Hill", book.tokens, "b")]
    chances = {}
    for told in (nobody, somebody, nobody[:2]):
        teaches = taught(told)
        left = make_queue(a, settled(told), nobodys=free, about=["name"], taught=teaches)
        (chances[len(told), told is nobody],) = {round(q.chance, 3) for q in left}
    assert chances[len(nobody), True] < chances[2, False] < 0.23 < chances[len(nobody), False]
    # "He" and "the child" are no names, and what somebody had is another matter.
    for words, was in ((["He"], None), (["the", "child"], None), (["Jack"], "Hill")):
        at = anchor_of(words, 0, len(words) - 1)
        assert taught([Edit("unlink", at=at, was=was)])[OUTSIDERS] == 1.0


def test_a_passage_begins_where_the_likely_people_are_named():
    named = [Marked(at, at, who, kind="name") for at, who in ((300, 0), (330, 1), (490, 2))]
    a = annotation(mentions=[*named, pronoun(500, 0.5, others=((1, 0.4),))], tokens=700)
    (question,) = make_queue(a, about=["pronoun"])
    assert (question.people[:2], question.since) == (("Anna Grey", "Tom Hill"), 300)
    shown = as_dict(question, lay_out(a), a.book.tokens, "b")["before"]
    assert shown.split()[0] == "w300"
    near = annotation(mentions=[pronoun(500, 0.5)], tokens=700)
    (question,) = make_queue(near, about=["pronoun"])
    assert question.since == -1
    assert as_dict(question, lay_out(near), near.book.tokens, "b")["before"].split()[0] == "w410"


def test_the_question_about_two_people_names_both_and_shows_a_name(capsys):
    book = Book.make("b", [["he", "saw", "Hill"], ["Tom", "Hill"]])
    marked = (Marked(0, 0, 2), Marked(2, 2, 2, kind="name"), Marked(3, 4, 1, kind="name"))
    a = Annotation(book, NAMES, marked)
    (question,) = make_queue(a, about=["same person"])
    assert (question.start, question.end) == (2, 2)
    _show(as_dict(question, lay_out(a), book.tokens, "b"), 1)
    assert "Hill and Tom Hill: one person, or two?" in capsys.readouterr().out


def test_paragraphs_stay_apart_in_a_terminal(capsys):
    _show_passage({"before": "“Yes,”\nsaid he.\n\n“No,” ", "words": "she", "after": " said."}, 3)
    assert capsys.readouterr().out == "\n3. ... “Yes,” said he.\n“No,” >>>she<<< said. ...\n"


def test_a_passage_is_as_wide_as_the_terminal_and_no_word_is_cut(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "35")
    _show_passage({"before": "one two three four ", "words": "five", "after": " six seven eight."}, 3)
    shown = capsys.readouterr().out
    assert shown == "\n3. ... one two three four\n>>>five<<< six seven eight. ...\n"


def test_what_was_answered_or_cannot_be_told_is_not_asked_again():
    a = annotation(turns(0.6, 0.6))
    first = make_queue(a, about=["speaker"])[0]
    unsure = answers_to(first, a.book.tokens, "b")[-1]
    assert unsure.says == UNSURE
    edits = parse_edits(format_edits(unsure.edits))
    assert [q.start for q in make_queue(a, about=["speaker"], settled=settled(edits))] != [first.start]
    assert first.key not in {q.key for q in make_queue(a, settled=settled(edits))}


def test_the_likely_share_is_the_mean_of_the_probabilities():
    assert likely_right(annotation(turns(0.6, 0.8), [pronoun(3, 1.0)])) == pytest.approx(0.8)
    assert likely_right(annotation()) == 1.0


def test_agreement_counts_what_both_decided():
    tokens = [f"w{i}" for i in range(40)]

    def said(at, who, op="link"):
        if who == UNSURE:
            return Edit("seen", at=anchor_of(tokens, at, at), name=UNSURE)
        return Edit(op, at=anchor_of(tokens, at, at), character=who)

    ada = [said(1, "Anna"), said(5, "Tom"), said(9, "Anna"), said(12, UNSURE), said(20, "Tom")]
    ben = [said(1, "Anna"), said(5, "Anna"), said(9, "Anna"), said(12, "Tom")]
    found = agreement(ada, ben)
    assert (found.both, found.same, found.differ) == (3, 2, (("mention", 5, 5),))
    assert found.kappa == pytest.approx((2 / 3 - 2 / 3) / (1 - 2 / 3))
    merged = merge_edits([ada, ben])
    assert len(merged.disagreements) == 1


@pytest.fixture(scope="module")
def short(tmp_path_factory):
    """A scene of 300 words with lines of whom nobody says who speaks, annotated."""
    world = Path(__file__).parent.parent / "cli/sessions/world"
    folder = tmp_path_factory.mktemp("short")
    bc.annotate(world / "people.txt", world / "people.cast.txt", out=folder / "annotated")
    return folder


@pytest.fixture(scope="module")
def story(tmp_path_factory):
    folder = tmp_path_factory.mktemp("review")
    bc.sample(folder)
    bc.annotate(folder / "lamp.txt", folder / "cast.txt", out=folder / "annotated")
    return folder


def test_the_book_is_read_again_with_the_recipe_that_is_given(short, tmp_path):
    recipe = resource("recipes", "embedded-encoder.toml").read_text(encoding="utf-8")
    nowhere = (tmp_path / "nowhere").as_posix()
    mine = tmp_path / "mine.toml"
    mine.write_text(recipe.replace("sentence-transformers/all-MiniLM-L6-v2", nowhere), encoding="utf-8")
    with pytest.raises(SourceError, match=r"there is no folder .*nowhere with a model"):
        bc.review(short / "annotated", recipe=mine)


def test_answers_become_edits_and_the_next_reading_knows_them(short, tmp_path):
    edits = tmp_path / "mine.jsonl"
    asked = bc.review(short / "annotated", edits=edits, about=["speaker"], most=5, author="Ada")
    before, (first, second, *_) = asked.likely_right, asked.questions
    assert asked.to_dict()["likely_right"] == round(before, 4)
    other = next(name for name in first.people if name != first.now)
    asked.answer(first, other)
    asked.answer(second, "c")
    with pytest.raises(UsageError):
        asked.answer(first, "Nobody of this name")
    assert {e.author for e in parse_edits(edits.read_text())} == {"Ada"}
    assert len(asked._session.drawn) == 4
    again = asked.next()
    assert len(asked._session.drawn) == 5
    assert len({tuple(theirs.items()) for _, theirs in asked._session.drawn}) > 1
    assert {first.key, second.key}.isdisjoint({q.key for q in again})
    assert not bc.review(short / "annotated", edits=edits, about=["pronoun"])._session.drawn
    # Read anew: an answer that contradicts the reading makes others less sure, too.
    assert asked.likely_right != before
    # What others say, and what is said of other books, is not taken back.
    last = json.loads(edits.read_text().splitlines()[-1])
    theirs = [json.dumps(last | {"author": "Ben"}), json.dumps(last | {"doc_key": "other_0"})]
    edits.write_text("\n".join([*edits.read_text().splitlines(), *theirs]) + "\n")
    assert [asked.take_back(), asked.take_back(), asked.take_back()] == [True, True, False]
    assert [(e.author, e.doc_key) for e in parse_edits(edits.read_text())] == [
        ("Ben", last["doc_key"]), ("Ada", "other_0")
    ]  # fmt: skip


def test_what_the_reading_left_without_a_person_is_asked_until_it_is_answered(tmp_path):
    (tmp_path / "post.txt").write_text(
        "Anna Grey came in. The postman knocked, and he gave her a letter.\n\n"
        'Tom Hill laughed. "The postman is early," said Anna. The postman sat down. He took off his hat.\n'
    )
    (tmp_path / "cast.txt").write_text("Anna Grey\nTom Hill\n")
    asked = bc.review(tmp_path / "post.txt", tmp_path / "cast.txt", about=["phrase", "pronoun"])
    told = asked.to_dict()["questions"]
    words = {t["words"]: (t["places"], q) for t, q in zip(told, asked.questions, strict=True)}
    assert words["The postman"][0] == 3
    assert words["He"][0] == 2  # with "his"
    assert all(q.now is None for _, q in (words["The postman"], words["He"]))
    asked.answer(words["The postman"][1], "n")
    asked.answer(words["He"][1], "Tom Hill")
    left = {t["words"] for t in (asked.next() and asked.to_dict()["questions"])}
    assert left.isdisjoint({"The postman", "He", "his"})
    found = asked._session.annotation
    assert [found.names[m.character] for m in found.mentions[-2:]] == ["Tom Hill", "Tom Hill"]


_BY_THE_SEA = """Anna Grey and Tom Hill came home on Monday from Paris. The Captain waited in London.

"You are late," said the Captain. Tom laughed. "Paris is far," said Tom.

"Sit down," said the Captain. Anna sat. On Monday they had seen the tomb of Napoleon.

"Napoleon was short," said Tom. "He never slept," said the Captain. "Not on a Monday," said Anna.

The Captain looked at London. "Napoleon lost," said the Captain. "Napoleon went from Paris," said Tom.

The Captain sat down. The Captain smiled.
"""


def test_whom_a_name_means_that_nobody_has_is_asked_once_and_what_follows_is_read_from_it(tmp_path):
    (tmp_path / "sea.txt").write_text(_BY_THE_SEA)
    (tmp_path / "cast.txt").write_text("Anna Grey\nTom Hill\nRobert Vale\n")
    asked = bc.review(tmp_path / "sea.txt", tmp_path / "cast.txt", about=["name"])
    words = {
        t["words"]: (t["places"], q)
        for t, q in zip(asked.to_dict()["questions"], asked.questions, strict=True)
    }
    # No day and no place is asked about. Napoleon is, though he is no part of the story.
    assert {name: n for name, (n, _) in words.items()} == {"The Captain": 8, "Napoleon": 4}
    assert words["The Captain"][1].worth > words["Napoleon"][1].worth
    asked.answer(words["The Captain"][1], "Robert Vale")
    asked.answer(words["Napoleon"][1], "n")
    assert asked.next() == []
    found = asked._session.annotation
    said = [(*found.names, "")[q.speaker].split()[0] for q in found.quotes]
    assert said.count("Robert") == 4
    assert {found.names[m.character] for m in found.mentions} == {"Anna Grey", "Tom Hill", "Robert Vale"}
    assert not any("Napoleon" in found.book.tokens[m.start : m.end + 1] for m in found.mentions)


def test_answers_that_another_cast_cannot_keep_are_told_and_asked_again(tmp_path):
    book, cast, other = (tmp_path / name for name in ("sea.txt", "cast.txt", "other.txt"))
    book.write_text(_BY_THE_SEA)
    cast.write_text("Anna Grey\nTom Hill\nRobert Vale\n")
    asked = bc.review(book, cast, about=["name"])
    captain, napoleon = sorted(asked.questions, key=lambda q: q.start)
    asked.answer(captain, "Robert Vale")
    asked.answer(napoleon, "n")
    # Robert Vale was dropped, Napoleon added: of neither is anything known, and nothing is given to others.
    other.write_text("Anna Grey\nTom Hill\nNapoleon\n")
    again = bc.review(book, other, about=["name"])
    assert [q.key for q in again.questions] == [captain.key]
    assert {c.reason.split(";")[0] for c in again.conflicts} == {
        "no character is called 'Robert Vale'", "“Napoleon” was nobody of the cast when this was said",
    }  # fmt: skip
    assert len(again.conflicts) == 12
    assert len(bc.annotate(book, other, edits=tmp_path / "sea.edits.jsonl").characters["Napoleon"]) >= 4
    # Another book with the same file of answers is not taken for answered.
    twin = tmp_path / "twin.txt"
    twin.write_text(_BY_THE_SEA)
    edits = tmp_path / "sea.edits.jsonl"
    assert len(bc.review(twin, cast, about=["name"], edits=edits).questions) == 2


_STRANGER = (
    """Anna Grey came home. The stranger waited, and he smiled at her.

"You are late," said the stranger. Anna sat down.

Robert Vale had come from Paris.
"""
    + "Nothing else was said that day. " * 250
    + """

Anna Grey went out. The postman waited, and he smiled at her.
"""
)


def test_nobody_is_asked_again_where_somebody_listed_later_is_named_near(tmp_path):
    book, cast, more = (tmp_path / name for name in ("sea.txt", "cast.txt", "more.txt"))
    book.write_text(_STRANGER)
    cast.write_text("Anna Grey\n")
    more.write_text("Anna Grey\nRobert Vale\n")
    asked = bc.review(book, cast, about=["pronoun", "speaker"])
    near, speaker, far = (q for q in asked.questions if q.now is None)
    for question in (near, speaker, far):
        asked.answer(question, "n")
    assert {near.key, speaker.key, far.key}.isdisjoint({q.key for q in asked.next()})
    again = bc.review(book, more, about=["pronoun", "speaker"])
    assert [c.reason for c in again.conflicts] == [
        f"{what} was nobody of the cast when this was said; now it may be Robert Vale"
        for what in ("“he”", "the speaker")
    ]
    keys = {q.key for q in again.questions}
    assert near.key in keys
    assert speaker.key in keys
    assert far.key not in keys
    again.answer(next(q for q in again.questions if q.key == near.key), "n")
    again.next()
    assert [c.edit.op for c in again.conflicts] == ["speaker"]
    # Somebody who is added among the answers was known to those behind it.
    said, source = parse_edits((tmp_path / "sea.edits.jsonl").read_text())[:2], asked._session.source.book
    new = Edit("new", character="Robert Vale")
    for edits, lost in (([new, *said], []), ([said[0], new, said[1]], [1]), ([*said, new], [1, 2])):
        found = corrections_of(edits, source, make_cast([Entry("Anna Grey")]))
        assert [c.number for c in found.conflicts] == lost
        left = found.kept, len(found.given.nobody), len(found.given.quotes)
        assert left == (3 - len(lost), 1 not in lost, len(lost) < 2)


@pytest.mark.long
def test_in_a_terminal_only_answers_of_this_round_are_taken_back(short, tmp_path, monkeypatch, capsys):
    edits = tmp_path / "mine.jsonl"
    asked = bc.review(short / "annotated", edits=edits, most=3, about=["speaker"])
    asked.answer(asked.questions[0], "c")
    earlier = edits.read_text()
    asked.next()
    monkeypatch.setattr("typer.prompt", lambda *_, **__: "the man")
    keys = iter(["z", "n", "o", "z", "z", "1", "q"])
    assert not _ask_batch(asked, lambda: next(keys))
    told = capsys.readouterr().err
    assert told.count("nothing to undo") == 2
    assert told.count("the man") == 1
    assert edits.read_text().startswith(earlier)
    made = parse_edits(edits.read_text())
    assert made[len(parse_edits(earlier))].speaker == asked.questions[0].people[0]


@pytest.mark.parametrize("typed", ["Meg", "harlow margaret", "Margarit"])
def test_a_typed_name_is_completed_and_told_in_a_terminal(typed, monkeypatch, capsys):
    people = SimpleNamespace(names=("Tom Hill", "Margaret Harlow"), aliases={"Margaret Harlow": ("Meg",)})
    monkeypatch.setattr("typer.prompt", lambda *_, **__: typed)
    assert _somebody(people) == "Margaret Harlow"
    assert capsys.readouterr().err == "Margaret Harlow\n"


@pytest.mark.long
def test_the_end_in_a_terminal_is_a_command_that_runs_or_says_there_is_no_answer(short, tmp_path, capsys):
    edits = tmp_path / "mine.jsonl"
    asked = bc.review(short / "annotated", edits=edits, most=2, about=["speaker"])
    _ask_all(asked, f"annotate {short / 'annotated' / 'annotation.jsonl'}", edits, lambda: "q")
    assert capsys.readouterr().err.endswith("no answers yet\n")
    keys = iter("nq")
    _ask_all(asked, f"annotate {short / 'annotated' / 'annotation.jsonl'}", edits, lambda: next(keys))
    told = "".join(capsys.readouterr().err.splitlines()).partition("over with: bookcoref-data ")[2]
    words = told.replace("NEW", str(tmp_path / "new")).split()
    assert CliRunner().invoke(make_app(), words).exit_code == 0
    assert (tmp_path / "new" / "annotation.jsonl").is_file()


@pytest.mark.long
@pytest.mark.parametrize(("kind", "ada"), [("speaker", "Bosun"), ("pronoun", "Bosun"), ("pronoun", None)])
def test_the_wanted_share_stops_and_disagreements_come_first(story, tmp_path, kind, ada):
    assert bc.review(story / "annotated", until=0.1).ready
    asked = bc.review(story / "annotated", most=3, about=[kind])
    late = [*Asking(asked._session.annotation).questions([kind])][-1]
    tokens = asked._session.source.book.tokens
    for name, who in (("ada", ada), ("ben", "Mr. Gadd")):
        (tmp_path / f"{name}.jsonl").write_text(format_edits(answer_with(late, who, tokens, "lamp")))
    both = bc.review(
        story / "annotated", edits=tmp_path / "ada.jsonl", agreement=tmp_path / "ben.jsonl", most=3
    )
    assert both.questions[0].key == late.key
    assert json.loads(json.dumps(both.to_dict()))["agreement"]["differ"] >= 1


def test_of_a_text_without_a_mention_there_is_nothing_to_review(tmp_path):
    (tmp_path / "list.txt").write_text("Two pounds of flour.\n\nA jug of milk, and the salt.\n")
    (tmp_path / "cast.txt").write_text("Anna Grey\n")
    with pytest.raises(DataError, match="nothing to review in list"):
        bc.review(tmp_path / "list.txt", tmp_path / "cast.txt")


def test_one_book_of_a_folder_of_many_is_named_as_elsewhere(tmp_path):
    for name in ("sea", "shore"):
        (tmp_path / f"{name}.txt").write_text(_BY_THE_SEA)
    annotated = tmp_path / "annotated"
    cast = ["Anna Grey", "Tom Hill", "Robert Vale"]
    bc.annotate_many([tmp_path / "sea.txt", tmp_path / "shore.txt"], cast, out=annotated)
    with pytest.raises(UsageError, match="holds 2 books") as refused:
        bc.review(annotated)
    assert (refused.value.found, refused.value.hint) == ("sea, shore", "name one of these; --book KEY")
    asked = bc.review(annotated, book="shore", about=["name"])
    asked.answer(asked.questions[0], "n")
    assert {edit.doc_key for edit in read_edits(annotated / "edits.jsonl")} == {"shore"}
    # What was said of one book decides nothing in another of the same words
    assert len(bc.review(annotated, book="sea", about=["name"]).questions) == len(asked.questions)
