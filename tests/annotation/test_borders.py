"""Rules of the annotator at their borders: windows, languages, certainty, corrections, genders, voices."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from math import exp, log, log1p

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bookcoref_data.annotation.cast import parse_cast
from bookcoref_data.annotation.embedded.calibration import SCALES, calibrated
from bookcoref_data.annotation.embedded.clauses import clause_of, is_heard
from bookcoref_data.annotation.embedded.gender import character_genders, doubted_hints
from bookcoref_data.annotation.embedded.kinship import find_couples
from bookcoref_data.annotation.embedded.markables import OTHER, POSSESSIVE, SUBJECT, Markable
from bookcoref_data.annotation.embedded.names import take_apart
from bookcoref_data.annotation.embedded.namings import FEATURES, Namings
from bookcoref_data.annotation.embedded.network import Forest, Ranker
from bookcoref_data.annotation.embedded.parsing import parse_of_arrays
from bookcoref_data.annotation.embedded.phrases import FEATURES as PHRASE_FEATURES
from bookcoref_data.annotation.embedded.phrases import NounPhrases, find_callings, living
from bookcoref_data.annotation.embedded.quotes import Speech
from bookcoref_data.annotation.embedded.voices import Voices
from bookcoref_data.annotation.given import Given
from bookcoref_data.annotation.identity import Somebody, Traces, evidence, may_be_one, weight
from bookcoref_data.annotation.language import language_of, not_english
from bookcoref_data.annotation.plan import Plan, default_plan
from bookcoref_data.annotation.state import Dropped, Marked, Quote, State
from bookcoref_data.annotation.windowing import annotation_windows, group_windows
from bookcoref_data.books import Book, Window
from bookcoref_data.errors import BookError, FormatError, UsageError


@pytest.mark.parametrize(
    ("ends", "words", "found"),
    [
        ([], 5, []),
        ([3], 5, [(0, 1, 0, 3)]),
        ([3, 5], 5, [(0, 2, 0, 5)]),
        ([3, 6], 5, [(0, 1, 0, 3), (1, 2, 3, 6)]),
        ([6], 5, [(0, 1, 0, 6)]),
        ([6, 12], 5, [(0, 1, 0, 6), (1, 2, 6, 12)]),
        ([2, 8, 10], 5, [(0, 1, 0, 2), (1, 2, 2, 8), (2, 3, 8, 10)]),
        ([2, 5, 7, 10, 11], 5, [(0, 2, 0, 5), (2, 4, 5, 10), (4, 5, 10, 11)]),
    ],
)
def test_windows_hold_whole_sentences(ends, words, found):
    assert annotation_windows(ends, words) == [Window(*window) for window in found]


def test_windows_and_groups_are_as_large_as_the_paper_says():
    windows = annotation_windows([750 * i for i in range(1, 46)])
    assert [w.end - w.start for w in windows] == [1500] * 22 + [750]
    groups = group_windows(windows)
    assert [(g.first_sentence, g.end_sentence, g.start, g.end) for g in groups] == [
        (0, 20, 0, 15000),
        (20, 40, 15000, 30000),
        (40, 45, 30000, 33750),
    ]
    assert group_windows(windows[:4], 2) == [Window(0, 4, 0, 3000), Window(4, 8, 3000, 6000)]
    assert group_windows([]) == []


def text(common: int, of: int, word="xyzzy", well="the"):
    return [well] * common + [word] * (of - common)


@pytest.mark.parametrize(
    ("tokens", "language"),
    [
        ([], ""),
        (["der"] * 49, ""),
        (["der"] * 50, "German"),
        (["."] * 60 + ["der"] * 49, ""),
        (text(4, 50), ""),
        (text(5, 50), "English"),
        (text(5, 50, well="hän"), "Finnish"),
        (text(21, 50, well="ж"), "Russian"),
        (text(20, 50, well="ж"), ""),
        (["THE"] * 50, "English"),
        (text(30, 50, well="Ω"), "Greek"),
        (text(30, 50, well="中"), "Chinese"),
        (text(30, 50, well="か"), "Japanese"),
        (text(30, 50, well="א"), "Hebrew"),
        (text(30, 50, well="ب"), "Arabic"),
    ],
)
def test_the_language_is_that_of_the_commonest_words(tokens, language):
    assert language_of(tokens) == language


@pytest.mark.parametrize(
    ("tokens", "said"),
    [
        (text(0, 299), ""),
        (text(0, 300), "no language we know: 0.0%"),
        (text(8, 300), "no language we know: 2.7%"),
        (text(29, 400), "no language we know: 7.2%"),
        (["der"] * 50, "German: 0.0%"),
        (text(300, 300), ""),
        ([], ""),
    ],
)
def test_a_text_is_refused_only_when_it_is_surely_not_english(tokens, said):
    found = not_english(tokens)
    assert found.startswith(said)
    assert bool(found) == bool(said)
    assert not said or found.endswith(
        "of the words are common English ones (the, and, of, ...), in English books over 40%"
    )


def test_only_the_beginning_of_a_text_is_looked_at():
    assert language_of(["der"] * 20_000 + ["the"] * 40_000) == "German"
    assert language_of(["der"] * 9_999 + ["the"] * 10_001) == "English"


@pytest.mark.parametrize("kind", sorted(SCALES))
@pytest.mark.parametrize("score", [0.0, 0.00005, 0.3, 0.5, 0.97, 1.0])
def test_a_scale_is_a_line_in_logits(kind, score):
    slope, shift = SCALES[kind]
    inside = min(max(score, 0.0001), 0.9999)
    line = slope * log(inside / (1 - inside)) + shift
    assert calibrated(kind, score) == pytest.approx(1 / (1 + exp(-line)))
    assert calibrated("name", score) == score


def marked(start, end, who, score=1.0):
    return Marked(start, end, who, "link", "name", score)


def test_what_was_said_of_a_book_is_taken_in_place_of_what_was_found():
    state = State("d", "x", ("A", "B"), mentions=(marked(0, 0, 0), marked(2, 3, 0), marked(5, 5, 1)))
    said = Given({(2, 3): marked(2, 3, 1)}, frozenset([(5, 5)]))
    assert said.applied(state).mentions == (marked(0, 0, 0), marked(2, 3, 1))
    assert Given({(1, 1): marked(1, 1, 1)}).applied(state).mentions == (
        marked(0, 0, 0),
        marked(1, 1, 1),
        marked(2, 3, 0),
        marked(5, 5, 1),
    )
    assert Given(nobody=frozenset([(0, 0)])).applied(state).mentions == state.mentions[1:]
    assert Given(quotes={(0, 3): (1, ())}).applied(state) is state


def test_corrections_are_true_where_there_are_some_and_keyed_by_all():
    some = [
        Given({(2, 3): marked(2, 3, 1)}),
        Given(nobody=frozenset([(5, 5)])),
        Given(quotes={(0, 3): (1, (0,))}),
    ]
    assert not Given()
    assert Given().key() == ""
    assert all(some)
    assert len({one.key() for one in some}) == 3
    assert all(some_one.key() for some_one in some)


@pytest.mark.parametrize(
    ("start", "end", "found"),
    [
        (10, 19, (1, (0,))),
        (10, 15, (1, (0,))),
        # Half of its tokens are shared: not more than half of the longer one.
        (10, 14, None),
        (15, 24, None),
        (14, 23, (1, (0,))),
        (6, 15, (1, (0,))),
        (5, 14, None),
        (20, 29, None),
        (0, 9, None),
        (5, 24, None),
        (6, 24, (1, (0,))),
    ],
)
def test_a_quote_is_known_by_half_of_its_tokens(start, end, found):
    assert Given(quotes={(10, 19): (1, (0,))}).quote_at(start, end) == found


def state_with(**more):
    return State("d", "digest", ("A", "B"), **more)


def test_the_state_after_a_step_adds_up():
    before = state_with(done=("link",), notes=("n",), memory={"a": 1}, quotes=(Quote(0, 3, 0, (), "r", 1.0),))
    twice = [marked(4, 4, 1), marked(2, 2, 0), marked(2, 2, 0, 0.5), marked(2, 2, 1), marked(2, 3, 0)]
    lost = Dropped(1, 1, 0, "filter", "no", 0.1)
    after = before.after("filter", twice, dropped=[lost], notes=["m"], memory={"b": 2})
    assert after == state_with(
        done=("link", "filter"),
        mentions=(marked(2, 2, 0), marked(2, 2, 1), marked(2, 3, 0), marked(4, 4, 1)),
        dropped=(lost,),
        notes=("n", "m"),
        memory={"a": 1, "b": 2},
        quotes=before.quotes,
    )
    assert before.after("filter", [], quotes=[]).quotes == ()
    assert after.spans() == [[m.mention for m in after.mentions if m.character == who] for who in (0, 1)]
    assert State.from_json(json.dumps(after.to_dict())) == after


@pytest.mark.parametrize(("least", "kept"), [(0.0, 3), (0.5, 3), (0.51, 2), (0.9, 1), (1.0, 0)])
def test_what_is_less_certain_is_dropped(least, kept):
    state = state_with(
        mentions=(marked(0, 0, 0, 0.5), marked(1, 1, 1, 0.6), marked(2, 2, 1, 0.9)),
        quotes=(Quote(0, 2, 1, (0,), "r", 0.5), Quote(4, 5, 0, (1,), "r", 0.95)),
    )
    found = state.certain(least)
    assert len(found.mentions) == kept
    assert [(d.start, d.score, d.reason) for d in found.dropped] == [
        (m.start, m.score, f"less certain than {least:g}") for m in state.mentions[: 3 - kept]
    ]
    assert [q.speaker for q in found.quotes] == [1 if least <= 0.5 else -1, 0 if least <= 0.95 else -1]
    assert [q.addressees for q in found.quotes] == [
        (0,) if least <= 0.5 else (),
        (1,) if least <= 0.95 else (),
    ]


def test_a_state_of_another_text_or_cast_says_both():
    book = Book.make("d", [["a", "b"]])
    state = replace(state_with(), tokens_sha256=book.tokens_sha256())
    state.check_fits(book, ("A", "B"))
    with pytest.raises(BookError, match="of 'd' belongs to another cast") as caught:
        state.check_fits(book, ("C" * 90,))
    assert caught.value.expected == "('A', 'B')"
    assert caught.value.found == f"('{'C' * 78}... (95 letters)"
    with pytest.raises(BookError, match="another text"):
        state.check_fits(Book.make("d", [["a"]]), ("A", "B"))
    with pytest.raises(BookError) as caught:
        state.check_fits(book, ("C" * 75,))
    assert caught.value.found == f"('{'C' * 75}',)"
    for broken in ("[]", '{"format": 2}', "{", '{"format": 1}'):
        with pytest.raises(FormatError, match=r"^here"):
            State.from_json(broken, "here")


def test_a_plan_is_known_by_what_can_change_the_output():
    plan = default_plan("embedded")
    assert replace(plan, sources={"a": "b"}, name="x", language="en").key() == plan.key()
    assert replace(plan, least=0.5).key() != plan.key()
    assert plan.with_models({}).key() == plan.key()
    hub = default_plan("hub").with_models({"link": "m"}, "http://x/v1")
    assert hub.key() != default_plan("hub").with_models({}, "http://x/v1").key()
    assert (hub.of("link")["model"], hub.of("link")["revision"]) == ("m", "")
    assert (hub.of("filter")["endpoint"], hub.of("filter")["revision"]) == ("http://x/v1", "")
    for change in ({"least": -0.1}, {"least": 1.1}, {"language": "fr"}):
        with pytest.raises(UsageError):
            replace(plan, **change)
    assert Plan("p", "embedded", (), {}, least=1.0).of("link") == {}
    with pytest.raises(UsageError, match="no backend 'x'"):
        default_plan("x")


def speech(size, quotes=(), paragraphs=()):
    quote, paragraph = np.full(size, -1), np.zeros(size, dtype=int)
    for number, (start, end) in enumerate(quotes):
        quote[start : end + 1] = number
    for number, start in enumerate(paragraphs):
        paragraph[start:] = number
    return Speech(paragraph, quote, list(quotes), {}, "", True)


def named(at, who, role=OTHER, end=None):
    return Markable(at, at if end is None else end, at, "name", 3, "", role, character=who, text="Hill")


def he(at, gender="m"):
    return Markable(at, at, at, "pronoun", 3, gender, SUBJECT)


PEOPLE = [take_apart(entry) for entry in parse_cast("Anna Hill\nMr. Ford\nXyz\nthe Hills [group]").entries]


@pytest.mark.parametrize(
    ("markables", "votes"),
    [
        ([named(0, 0), he(5)], {0: {"m": 1}}),
        ([named(0, 0, SUBJECT), he(5), he(6, "f")], {0: {"m": 2, "f": 2}}),
        ([named(0, 0), he(30)], {0: {"m": 1}}),
        ([named(0, 0), he(31)], {}),
        ([named(0, 0, end=1), he(31)], {0: {"m": 1}}),
        ([named(0, 0), named(3, 1), he(5)], {}),
        ([named(0, 0), named(4, 1), he(5)], {1: {"m": 1}}),
        ([named(0, 0), named(3, 1), named(8, 2), he(9)], {2: {"m": 1}}),
        ([named(0, -1), he(5)], {}),
        ([named(0, 0), he(5, "p")], {}),
        ([named(0, 0), he(60)], {}),
        ([named(42, 0), he(45)], {}),
        ([named(0, 0), he(42), he(29)], {0: {"m": 1}}),
        ([named(0, 0), Markable(2, 2, 2, "nominal", 3, "m", OTHER), he(5)], {}),
        ([named(0, 0), Markable(2, 2, 2, "nominal", 3, "", OTHER), he(5)], {0: {"m": 1}}),
        ([named(36, 0), he(39, "f"), he(50, "f")], {0: {"f": 1}}),
    ],
)
def test_pronouns_vote_for_the_name_before_them(markables, votes):
    """Tokens 40 to 49 are a quote; a paragraph begins at 50."""
    *_, found = character_genders(PEOPLE, markables, speech(100, [(40, 49)], [0, 50]))
    assert found == [Counter(votes.get(who, {})) for who in range(len(PEOPLE))]


def test_genders_follow_titles_names_and_surprise():
    markables = [m for at in range(0, 400, 40) for m in (named(at, 2), he(at + 5, "f" if at < 320 else "m"))]
    male, female, plural, votes = character_genders(PEOPLE, markables, speech(500))
    assert votes[2] == {"f": 8, "m": 2}
    share = 0.25 + 0.5 * 3 / 12
    surprise = (2 - 10 * share) / np.sqrt(20 * share * (1 - share) + 1)
    logits = [-3.0, 8.0, 0.2 + 1.6 * surprise]
    np.testing.assert_allclose(male[:3], [0.98 / (1 + exp(-logit)) for logit in logits])
    np.testing.assert_allclose(male[:3] + female[:3], 0.98)
    assert plural.tolist() == [0.02, 0.02, 0.02, 0.96]
    assert (male[3], female[3]) == (0.02, 0.02)


@pytest.mark.parametrize(
    ("hint", "votes", "doubted"),
    [
        ("f", (40, 0), True),
        ("m", (0, 40), True),
        ("f", (0, 40), False),
        ("m", (40, 0), False),
        ("f", (2, 0), False),
        ("", (40, 0), False),
    ],
)
def test_a_hint_that_the_pronouns_contradict_is_doubted(hint, votes, doubted):
    (entry,) = parse_cast(f"Xyz [{hint}]" if hint else "Xyz").entries
    other = Counter(m=200, f=200)
    notes = doubted_hints([take_apart(entry), PEOPLE[2]], [Counter(m=votes[0], f=votes[1]), other])
    assert (
        notes
        == [
            f"Xyz: the hint [{hint}] is not what the book says: most pronouns behind the name are of the "
            "other gender"
        ]
        * doubted
    )


@pytest.mark.parametrize(
    ("cast", "found"),
    [
        ("Mr. Hill\nMrs. Hill", {0: 1, 1: 0}),
        ("Lord Hill\nLady Hill", {0: 1, 1: 0}),
        ("Mr. Hill\nLady Hill", {}),
        ("John Hill\nMrs. John Hill", {0: 1, 1: 0}),
        ("Mr. Hill\nDr. Hill\nMrs. Hill", {}),
        ("Mr. Hill\nMiss Hill", {}),
        ("Mr. Ford\nMrs. Hill", {}),
        ("Mr. Hill\nMr. John Hill\nMrs. Hill", {0: 2, 2: 0}),
        ("", {}),
    ],
)
def test_couples_by_their_names(cast, found):
    people = [take_apart(entry) for entry in parse_cast(cast).entries] if cast else []
    assert find_couples(people) == found


def parse(*rows):
    words, heads, tags, deps = zip(*rows, strict=True)
    made = parse_of_arrays(
        np.array(heads, dtype=np.int32), list(tags), list(deps), np.zeros(len(rows), np.int32), "x"
    )
    return words, made


def pronoun(words, word, role=OTHER):
    at = words.index(word)
    return Markable(at, at, at, "pronoun", 3, "f", role, text=word)


def test_a_verb_is_found_through_one_preposition_and_what_is_possessed():
    # He lived with her / in a corner of the house of her aunt
    words, made = parse(
        ("he", 1, "PRP", "nsubj"),
        ("lived", 1, "VBD", "ROOT"),
        ("with", 1, "IN", "prep"),
        ("her", 2, "PRP", "pobj"),
        ("in", 1, "IN", "prep"),
        ("house", 4, "NN", "pobj"),
        ("of", 5, "IN", "prep"),
        ("them", 6, "PRP", "pobj"),
        ("its", 5, "PRP$", "poss"),
        ("friend", 1, "NN", "dobj"),
        ("us", 9, "PRP", "appos"),
    )
    assert clause_of(made, pronoun(words, "he")) == (1, (), (), True)
    assert clause_of(made, pronoun(words, "her")) == (1, (), (), True)
    assert clause_of(made, pronoun(words, "them")).verb == -1
    assert clause_of(made, pronoun(words, "its", POSSESSIVE)).verb == 1
    assert clause_of(made, pronoun(words, "its")).verb == -1
    assert clause_of(made, pronoun(words, "us")).verb == -1


@pytest.mark.parametrize(
    ("word", "dep", "verb_dep", "tag", "heard"),
    [
        ("her", "nsubj", "ccomp", "VBD", True),
        ("her", "nsubj", "xcomp", "VBD", True),
        ("her", "dobj", "ccomp", "VBD", False),
        ("she", "nsubj", "ccomp", "VBD", False),
        ("her", "nsubj", "advcl", "VBD", False),
        ("her", "nsubj", "ccomp", "MD", False),
    ],
)
def test_who_is_heard(word, dep, verb_dep, tag, heard):
    words, made = parse(
        ("Mary", 1, "NNP", "nsubj"),
        ("heard", 1, tag, "ROOT"),
        (word, 3, "PRP", dep),
        ("sing", 1, "VB", verb_dep),
    )
    assert is_heard(made, pronoun(words, word)) is heard
    assert clause_of(made, pronoun(words, word)).verb == (1 if heard else 3)


@pytest.mark.parametrize(
    ("distance", "around", "here", "before", "ahead"),
    [
        (0, 1, 1, 0, 0),
        (1, 1, 1, 0, 1),
        (499, 1, 1, 0, 1),
        (500, 1, 0, 0, 1),
        (1999, 1, 0, 0, 1),
        (2000, 1, 0, 0, 0),
        (7999, 1, 0, 0, 0),
        (8000, 0, 0, 0, 0),
        (-1, 1, 1, 1, 0),
        (-500, 1, 1, 1, 0),
        (-501, 1, 0, 0, 0),
        (-8000, 1, 0, 0, 0),
        (-8001, 0, 0, 0, 0),
    ],
)
def test_how_far_a_name_that_is_talked_of_reaches(distance, around, here, before, ahead):
    at = 10_000
    namings = Namings(speech(20_000, [(0, 19_999)]), [named(at + distance, 0)], called=())
    (row,) = namings.features([0], at)
    assert dict(zip(FEATURES, row.tolist(), strict=True)) == pytest.approx(
        {
            "share talked of": 1 / 2,
            "talked of around": log1p(around),
            "talked of about here": log1p(here),
            "share talked of before": before / (before + 1),
            "talked of ahead": log1p(ahead),
            "share narrated ahead": 0.0,
        },
        rel=1e-6,
    )


@pytest.mark.parametrize(("distance", "share"), [(0, 0), (1, 0.5), (499, 0.5), (500, 0), (-1, 0)])
def test_how_far_a_name_of_the_narration_reaches(distance, share):
    namings = Namings(speech(2_000), [named(1_000 + distance, 0)], called=())
    assert namings.features([0], 1_000)[0].tolist() == [0, 0, 0, 0, 0, share]
    assert namings.next_after(0, 1_000) == (1_000 + distance if distance > 0 else -1)
    assert namings.next_after(7, 0) == -1


def nominal(words, at, which=""):
    return Markable(
        at, at, at, "nominal", 3, "f", OTHER, words.split()[-1], definite="the", text=words, which=which
    )


@pytest.mark.parametrize(
    ("ago", "since"), [(0, 0), (1, 1), (9_999, 9_999), (10_000, 10_000), (10_001, 10_000), (-5, 0)]
)
def test_how_long_ago_somebody_was_so_called_counts_up_to_a_limit(ago, since):
    phrases = NounPhrases()
    phrases.note(nominal("the lady", 20_000), 3)
    row = phrases.features([3, 4], nominal("a lady", 20_000 + ago))
    column = PHRASE_FEATURES.index("since so called")
    assert row[0, column] == pytest.approx(log1p(since))
    assert row[1, column] == pytest.approx(log1p(10_000))
    assert row[:, PHRASE_FEATURES.index("last so called")].tolist() == [1, 0]


def test_a_noun_that_nobody_was_called_by_was_last_used_of_nobody():
    row = NounPhrases().features([0, -1, 1], nominal("the lady", 5))
    assert not row[:, [0, 1]].any()
    assert row[[0, 2], 3].tolist() == [0, 0]


def test_phrases_are_told_apart_by_all_their_words_but_the_determiner():
    phrases = NounPhrases()
    phrases.note(nominal("the old lady", 1, "in white"), 0)
    phrases.note(nominal("the old lady", 2, "in white"), 0)
    phrases.note(nominal("his old lady", 3), 1)
    assert phrases.called_all(nominal("an old lady", 9, "in white")) == {0: 2}
    assert phrases.called_all(nominal("old lady", 9)) == {1: 1}
    assert phrases.called_all(nominal("lady", 9)) == {}
    assert phrases.called("lady") == {0: 2, 1: 1}
    assert (living("doctor"), living("surgeon"), living("poet")) == ("apothecary", "apothecary", "poet")


def test_apposition_and_is_tell_a_living():
    # Hill , the surgeon , saw Ford / Ford was a poet / the clerk Bell
    words, made = parse(
        ("Hill", 5, "NNP", "nsubj"),
        (",", 0, ",", "punct"),
        ("the", 3, "DT", "det"),
        ("surgeon", 0, "NN", "appos"),
        (",", 0, ",", "punct"),
        ("saw", 5, "VBD", "ROOT"),
        ("Ford", 5, "NNP", "dobj"),
        ("Ford", 8, "NNP", "nsubj"),
        ("was", 8, "VBD", "ROOT"),
        ("Poet", 8, "NN", "attr"),
        ("clerk", 8, "NN", "dobj"),
        ("Bell", 10, "NNP", "appos"),
        ("men", 6, "NNS", "appos"),
    )
    book = Book.make("d", [list(words)])
    names = [(0, 0, 0), (6, 6, 1), (7, 7, 1), (11, 11, 2)]
    assert dict(find_callings(book, made, names)) == {0: {living("surgeon")}, 1: {"poet"}, 2: {"clerk"}}
    assert dict(find_callings(book, made, [])) == {}


def test_a_voice_leans_to_the_words_that_somebody_said():
    own, other = ["yes", "indeed"], ["no", "never"]
    tokens = own * 150 + other * 150 + own + other + ["zounds", "5", "—"]
    spans = [(0, 299), (300, 599), (600, 601), (602, 603), (604, 604), (605, 605), (604, 606)]
    book = Book.make("d", [tokens])
    voices = Voices(book, spans, {0: 7, 1: 8})
    assert voices.lean([2], [7, 8, 9])[2] == 0
    yes, no = voices.lean([2], [7, 8]), voices.lean([3], [7, 8])
    assert yes[0] > 0 > yes[1]
    assert no[1] > 0 > no[0]
    # 150 "yes", 150 "indeed", 150 "yes indeed", 149 "indeed yes": 599 of 1,198, and 2,000 are mixed in.
    lean = [log((150 + 2000 * 150 / 1198) / ((599 + 2000) * 150 / 1198)) for _ in range(3)]
    assert yes[0] == pytest.approx(0.4 / np.sqrt(3) * sum(lean))
    # Words that nobody of the sure quotes said, and numbers, say nothing.
    assert voices.lean([4], [7, 8]).tolist() == voices.lean([5], [7, 8]).tolist() == [0, 0]
    assert voices.lean([2, 3], [7])[0] == pytest.approx(
        0.4 / np.sqrt(6) * (yes[0] * np.sqrt(3) / 0.4 + no[0] * np.sqrt(3) / 0.4)
    )


@pytest.mark.parametrize(("words", "known"), [(150, False), (151, True)])
def test_a_voice_needs_three_hundred_words_and_pairs(words, known):
    book = Book.make("d", [["yes"] * words + ["no"] * 400])
    voices = Voices(book, [(0, words - 1), (words, words + 399)], {0: 7, 1: 8})
    assert bool(voices.lean([0], [7])[0]) is known


@pytest.mark.parametrize(
    ("token", "heard"),
    [("Don't", True), ("don't", True), ("!", True), ("--", True), ("x1", False), ("(", False), ("'", False)],
)
def test_which_tokens_are_words_of_a_voice(token, heard):
    book = Book.make("d", [["yes", token] * 200 + ["no"] * 400])
    voices = Voices(book, [(0, 399), (400, 799), (1, 1)], {0: 7, 1: 8})
    assert bool(voices.lean([2], [7])[0]) is heard


def somebody(count=5, firsts=("anna",), last="", gender="", sentences=(), **more):
    empty = frozenset()
    return Somebody(
        frozenset(firsts), last, gender, count, Traces(frozenset(sentences), empty, empty, empty), **more
    )


@pytest.mark.parametrize(
    ("a", "b", "may"),
    [
        (somebody(), somebody(firsts=(), last="hill"), True),
        (somebody(firsts=(), last="hill"), somebody(), True),
        (somebody(4), somebody(firsts=(), last="hill"), False),
        (somebody(), somebody(4, firsts=(), last="hill"), False),
        (somebody(gender="m"), somebody(firsts=(), last="hill", gender="f"), False),
        (somebody(gender="f"), somebody(firsts=(), last="hill", gender="f"), True),
        (somebody(), somebody(), False),
        (somebody(firsts=()), somebody(firsts=()), False),
        (somebody(last="hill"), somebody(firsts=(), last="hill"), True),
        (somebody(last="hill"), somebody(firsts=(), last="ford"), False),
        (somebody(last="hill"), somebody(last="hill"), False),
        (somebody(last="hill", married=True), somebody(firsts=(), last="hill"), False),
        (somebody(last="hill", apart=True), somebody(firsts=(), last="hill"), False),
        (somebody(firsts=(), last="hill"), somebody(firsts=(), last="hill", apart=True), False),
    ],
)
def test_a_first_name_and_a_surname_complete_each_other(a, b, may):
    assert may_be_one(a, b) is may


def slow_evidence(a, b):
    few, many = sorted((a.sentences, b.sentences), key=len)
    alone = [s for s in few if s not in many]
    beside = sum(any(abs(s - t) <= 2 for t in many) for s in alone)
    near = sum(any(abs(s - t) <= 8 for t in many) for s in alone)
    share = near / len(few) if few else 0.0
    told = min(max(share / 0.2 - 1, -1), 1) * len(few) / (len(few) + 5)
    total = -2.3 * len(few & many) + 0.25 * beside + 0.1 * (near - beside) + told
    for x, y in ((a, b), (b, a)):
        total += -2.0 * len(x.speaks & y.quoted)
        for p in x.speaks:
            total += -1.5 * (p + 1 in y.speaks) + 0.8 * (p + 1 in y.called)
        total += 1.2 * sum(p + 1 in y.speaks for p in x.called)
    return total - 1.0 * len(a.speaks & b.speaks) - 1.0 * len(a.called & b.called)


places = st.frozensets(st.integers(0, 40), max_size=8)
traces_of = st.builds(Traces, places, places, places, places)


@given(traces_of, traces_of)
def test_evidence_is_the_sum_of_its_weights(a, b):
    assert evidence(a, b) == pytest.approx(slow_evidence(a, b))


def test_gender_and_surname_speak_for_a_pair():
    none = somebody()
    assert weight(none, none) == 0
    assert weight(somebody(gender="f"), somebody(gender="f")) == pytest.approx(0.7)
    assert weight(somebody(gender="f"), none) == 0
    assert weight(somebody(last="hill"), somebody(last="hill")) == pytest.approx(0.5)
    assert weight(somebody(last="hill"), none) == 0


def test_trees_send_every_row_to_its_leaf():
    """Two trees: feature 0 above 0.5 leaves leaf 0, feature 1 above 1 leaves leaf 1; and no split at all."""
    value = np.zeros((2, 8), dtype=np.float32)
    value[0, :3], value[1, 0] = (1, 2, 4), 100
    forest = Forest(
        np.array([[0, 0], [1, 0]]),
        np.array([[0.5, np.inf], [1.0, np.inf]], dtype=np.float32),
        np.array([[1, 1], [2, 1]], dtype=np.uint8),
        value,
    )
    x = np.array([[0, 0], [0.5, 5], [0.6, 0], [0.6, 1], [0.6, 1.1]], dtype=np.float32)
    assert forest.scores(x).tolist() == [101, 101, 102, 102, 104]
    flat = Ranker(
        np.ones(2, np.float32),
        np.full(2, 2, np.float32),
        np.ones((2, 1), np.float32),
        np.zeros(1, np.float32),
        np.ones(1, np.float32),
    )
    assert flat.scores(x).tolist() == pytest.approx([0, 7, 0, 0, 0])
    both = replace(flat, forest=forest)
    assert both.scores(x).tolist() == pytest.approx([101, 108, 102, 102, 104])
    np.testing.assert_allclose(
        flat.probabilities(x), np.exp(flat.scores(x)) / np.exp(flat.scores(x)).sum(), rtol=1e-6
    )


def test_units_are_added_whatever_their_number():
    rng = np.random.default_rng(1)
    for units in (1, 95, 96, 97, 200):
        w1, b1, w2 = (rng.normal(size=s).astype(np.float32) for s in ((3, units), units, units))
        mean, scale, x = (rng.normal(size=s).astype(np.float32) for s in (3, 3, (4, 3)))
        slow = np.maximum((x - mean) * scale @ w1 + b1, 0) @ w2
        np.testing.assert_allclose(Ranker(mean, scale, w1, b1, w2).scores(x), slow, rtol=2e-4, atol=1e-4)
