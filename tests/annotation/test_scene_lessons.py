"""Lessons for the language model that points at people: what they hide, and what they ask for."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from bookcoref_data.annotation.cast import parse_cast
from bookcoref_data.annotation.embedded.minilm import WordPieces
from bookcoref_data.annotation.embedded.parsing import parse_book
from bookcoref_data.annotation.embedded.pointing import FIRST, SLOTS, TURN
from tests.faults.workplace import write_litbank
from training.parses import link_text
from training.scene_lessons import (
    IN_QUOTE,
    LESSONS,
    NOBODY,
    OF_PRONOUN,
    OF_TURN,
    SPOKEN_TO,
    Known,
    LessonWindows,
    Vocabulary,
    pack,
    prepare,
)

CAST = "Anna Hill [f]; Anna\nMr. Brown [m]; Brown\nGale"
ANNA, BROWN, GALE = range(3)
STORY = """Mr. Brown came in, and Anna looked up from Anna's book at Gale.

“You are late,” said Anna.

Mr. Brown answered, “The road was long.”

“And where is Brown's horse?” asked Gale.

“In the stable, as you know very well, and as tired as I am,” said Mr. Brown, and he sat down by the fire.
"""


def write_vocabulary(path, more=()) -> Vocabulary:
    """The words of the story as the pieces of a base."""
    spaced = "".join(c if c.isalnum() else f" {c} " for c in STORY.lower()).split()
    marks = ["[UNK]", "[CLS]", "[SEP]", "*", "#"]
    pieces = [*marks, *dict.fromkeys([*spaced, ".", ",", "i", "he", "him", "his", "she", "her", *more])]
    path.write_text("\n".join(pieces) + "\n", encoding="utf-8")
    return Vocabulary(WordPieces(path), 4 + len(pieces))


@pytest.fixture(scope="module")
def network(tmp_path_factory) -> Vocabulary:
    return write_vocabulary(tmp_path_factory.mktemp("base") / "vocab.txt")


@pytest.fixture(scope="module")
def text(book_of):
    book = book_of(STORY)
    return link_text(book, parse_cast(CAST), parse_book(book))


@pytest.fixture(scope="module")
def shown(network):
    """What a lesson shows, as words; a slot is the character's number in brackets."""
    pieces = {piece: word for word, piece in network.words._ids.items()}

    def shown(lesson) -> str:
        slots = {lesson.words[place]: lesson.people[person] for place, person in lesson.named}
        names = {0: "CLS", 1: "|", 2: "?", 3: "/"}
        return " ".join(
            f"<{slots[word]}>" if word in slots else names.get(word) or pieces[word - FIRST]
            for word in lesson.words
        )

    return shown


def lessons_of(text, network, count=20, hide=1.0, rename=0.0, blind=False, **known):
    windows = LessonWindows(Known(text, (), **({"spoken": [], "pronouns": {}} | known)), network)
    return [windows.lesson(0, np.random.default_rng(seed), hide, rename, blind) for seed in range(count)]


def answers(lesson) -> list[tuple[str, int]]:
    return [(q.lesson, lesson.people[q.who]) for q in lesson.asked]


def test_a_tag_that_is_left_out_is_not_in_the_window_and_its_speaker_is_the_answer(text, network, shown):
    seen = set()
    for lesson in lessons_of(text, network):
        words = shown(lesson).split(" / ")
        for n, (who, rest) in {
            1: (ANNA, "? “ you are late . ”"),
            2: (BROWN, "? “ the road was long . ”"),
        }.items():
            (mark,) = [place for place in range(len(lesson.words)) if lesson.words[place] == TURN][n - 1 : n]
            (asked,) = [q for q in lesson.asked if q.place == mark]
            assert (asked.kind, lesson.people[asked.who]) == (OF_TURN, who)
            if asked.lesson == "tag left out":
                seen.add(n)
                assert words[n] == rest
            else:
                assert asked.lesson == "name in the tag hidden"
                assert f"<{who}>" not in words[n]
                assert ("she" if who == ANNA else "he") in words[n].split()
    assert seen == {1, 2}


def test_a_name_in_a_tag_is_a_pronoun_where_much_stands_beside_it(text, network, shown):
    """Nobody knows whether Gale is "he" or "she": that tag can only be left out."""
    for lesson in lessons_of(text, network):
        long, gale = shown(lesson).split(" / ")[4], shown(lesson).split(" / ")[3]
        assert long.endswith("” said he , and he sat down by the fire . /")
        assert gale == "? “ and where is <1> ' s horse ? ”"
        assert ("tag left out", GALE) in answers(lesson)
        assert ("name hidden", BROWN) in answers(lesson)


CALLS = """Mr. Brown came in, and Anna looked up at Gale.

“You are late, Brown, and the tea is cold.”

“Brown, sit down,” said Anna.

“I will not, Brown!” said Mr. Brown.
"""


@pytest.mark.parametrize(("hide", "lesson"), [(1.0, "spoken to"), (0.0, "spoken to, named")])
def test_who_is_called_by_name_is_spoken_to_and_the_name_is_left_out(book_of, tmp_path, hide, lesson):
    network = write_vocabulary(tmp_path / "vocab.txt", CALLS.lower().split())
    book = book_of(CALLS)
    text = link_text(book, parse_cast(CAST), parse_book(book))
    (made,) = lessons_of(text, network, 1, hide=hide)
    turns = [place for place, word in enumerate(made.words) if word == TURN]
    asked = [q for q in made.asked if q.kind == SPOKEN_TO]
    # He does not call himself: that is another Brown.
    assert [(q.place, made.people[q.who], q.lesson) for q in asked] == [(n, BROWN, lesson) for n in turns[:2]]
    comma = network.words.pieces(",")[0] + FIRST
    between = [made.words[a:b] for a, b in pairwise(turns)]
    # One comma goes with the name; another became a full stop, for the tag went, too.
    assert [words.count(comma) for words in between] == ([1, 0] if hide else [2, 2])
    named = {place for place, person in made.named if made.people[person] == BROWN}
    assert bool(named & {*range(turns[0], turns[2])}) == (not hide)
    assert {place for place, kind in made.marks if kind == OF_TURN} == set(turns)


def test_nothing_is_hidden_where_nothing_shall_be(text, network, shown):
    (lesson,) = lessons_of(text, network, 1, hide=0.0)
    assert "said <0> . /" in shown(lesson)
    assert answers(lesson) == [("tag shown", who) for who in (ANNA, BROWN, GALE, BROWN)]


def test_names_become_pronouns_only_after_they_were_read(text, network, shown):
    (lesson,) = lessons_of(text, network, 1, hide=0.0, rename=1.0)
    first, *_, gales, last = (part for part in shown(lesson).split(" / ") if part)
    assert first == "CLS | <1> came in , and <0> looked up from her book at <2> ."
    assert "where is his horse" in gales
    assert "asked <2>" in gales
    hidden = [q for q in lesson.asked if q.lesson == "name hidden"]
    assert [(lesson.people[q.who], q.kind) for q in hidden] == [
        *[(ANNA, OF_PRONOUN)] * 2,
        (BROWN, OF_PRONOUN),
        (BROWN, IN_QUOTE),
        (BROWN, OF_PRONOUN),
    ]
    assert last.endswith("said he , and he sat down by the fire . /")


def test_slots_are_drawn_anew_and_show_gender_unless_it_is_hidden(text, network):
    def pools(lesson):
        slots = {lesson.people[person]: lesson.words[place] for place, person in lesson.named}
        return slots, {who: (slot - network.first_slot) // SLOTS for who, slot in slots.items()}

    drawn = [pools(lesson) for lesson in lessons_of(text, network)]
    assert all(pool == {BROWN: 0, ANNA: 1, GALE: 2} for _, pool in drawn)
    assert len({slots[ANNA] for slots, _ in drawn}) > 5
    hidden = [pools(lesson) for lesson in lessons_of(text, network, blind=True)]
    assert all(set(pool.values()) == {2} for _, pool in hidden)
    assert all(len(set(slots.values())) == 3 for slots, _ in hidden)


def test_what_was_read_counts_where_it_is_sure_and_nothing_names_the_speaker(book_of, network):
    story = "Anna saw Mr. Brown.\n\n“You are late.”\n\n“Am I?” he asked.\n\n“You are,” said a boy.\n"
    book = book_of(story)
    text = link_text(book, parse_cast(CAST), parse_book(book))
    he = book.tokens.index("he")

    def asked(sure: float):
        spoken = [(ANNA, sure), (BROWN, sure), (BROWN, 0.5)]
        return answers(lessons_of(text, network, 1, 0.0, spoken=spoken, pronouns={he: BROWN})[0])

    tag, pronoun = ("tag shown", BROWN), ("pronoun as read", BROWN)
    assert asked(0.96) == [("speaker as read", ANNA), tag, pronoun]
    assert asked(0.92) == [tag, pronoun]
    assert asked(0.8) == [pronoun]


def test_people_may_have_said_that_a_pronoun_is_nobodys(text, network):
    he = [i for i, token in enumerate(text.book.tokens) if token == "he"]
    (judged,) = lessons_of(text, network, 1, 0.0, pronouns={he[0]: -1}, judged=True)
    assert [q.who for q in judged.asked if q.lesson == "pronoun of LitBank"] == [NOBODY]
    (read,) = lessons_of(text, network, 1, 0.0, pronouns={he[0]: -1})
    assert {q.lesson for q in read.asked} == {"tag shown"}


def test_lessons_are_packed_with_the_number_of_each(text, network):
    batch = pack(lessons := lessons_of(text, network, 3, hide=0.5))
    assert batch.words.shape == (3, max(len(lesson.words) for lesson in lessons))
    for n, lesson in enumerate(lessons):
        assert batch.words[n][batch.words[n] >= 0].tolist() == lesson.words
        rows = batch.asked[n][batch.asked[n, :, 0] >= 0].tolist()
        assert rows == [[q.place, q.kind, q.who, list(LESSONS).index(q.lesson)] for q in lesson.asked]
        assert batch.named[n][batch.named[n, :, 0] >= 0].tolist() == [list(pair) for pair in lesson.named]


def test_novels_and_litbank_are_read_for_lessons(tmp_path, network):
    root = write_litbank(tmp_path / "litbank")
    mirror = tmp_path / "mirror"
    for key in ("98", "161", "7001", "1342"):
        (mirror / key).mkdir(parents=True)
        (mirror / key / f"pg{key}.txt").write_text(STORY * 3, encoding="utf-8")
    library = prepare(root, mirror, network)
    assert len(library.novels) == len(library.held_back) == 1
    drawn = [library.draw(np.random.default_rng(seed)) for seed in range(4)]
    assert all(lesson.asked and len(lesson.people) > 1 for lesson in drawn)
    checked = library.draw(np.random.default_rng(1), check=True)
    assert checked.asked


def test_a_lesson_where_the_package_asks_nothing_is_packed(text, network):
    lesson = lessons_of(text, network, count=1)[0]
    bare = replace(lesson, marks=[])
    batch = pack([bare, lesson])
    assert (batch.marks[0] == -1).all()
    assert batch.marks[1, 0].tolist() == list(lesson.marks[0])
    assert batch.words[0].tolist() == batch.words[1].tolist()
