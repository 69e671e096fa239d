"""The contract: order, provenance, saving, resuming."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bookcoref_data.annotation.backends import make_backend
from bookcoref_data.annotation.cast import make_cast
from bookcoref_data.annotation.embedded import backend as embedded
from bookcoref_data.annotation.plan import default_plan
from bookcoref_data.annotation.state import Dropped, Marked, Quote, State
from bookcoref_data.annotation.steps import STEP_NAMES, Backend, Job, check_order, run_steps
from bookcoref_data.annotation.windowing import annotation_windows, group_windows
from bookcoref_data.books import Book
from bookcoref_data.errors import BookError, FormatError, UsageError

BOOK = Book.make("b_0", [["Anna", "slept", "."], ["She", "dreamt", "."]])
JOB = Job(BOOK, make_cast(["Anna"]))


class NameStep:
    """A backend of three lines: marks the first token for the first character."""

    def __init__(self, name):
        self.name = name

    def units(self, job):
        return 1

    def run(self, job, state, progress):
        progress.advance(job.book.doc_key)
        return state.after(
            self.name, [*state.mentions, Marked(0, 0, 0, self.name, "first token", 1.0, "name")]
        )


class Toy:
    name = "toy"

    def step(self, name):
        return NameStep(name)

    def close(self):
        pass


def test_a_backend_is_recognised_by_its_shape():
    assert isinstance(Toy(), Backend)


def test_steps_run_in_order_and_each_state_is_shown():
    seen = []
    last = run_steps(Toy(), JOB, after_step=lambda s: seen.append(s.done))
    assert seen == [STEP_NAMES[: i + 1] for i in range(4)]
    assert last.mentions == (Marked(0, 0, 0, "link", "first token", 1.0, "name"),)


@pytest.mark.parametrize(
    ("steps", "done", "words"),
    [
        (("windows",), (), "needs 'link' first"),
        (("link", "groups"), (), "needs 'windows' first"),
        (("windows", "link"), ("link",), "done already"),
        (("filter",), ("link", "windows"), "cannot run after"),
        (("link", "tidy"), (), "no step"),
    ],
)
def test_a_wrong_order_is_refused_before_any_work(steps, done, words):
    with pytest.raises(UsageError, match=words):
        check_order(steps, done)


@pytest.mark.parametrize("steps", [("link",), ("link", "windows"), ("link", "windows", "groups"), STEP_NAMES])
def test_the_rows_of_table_2_are_allowed(steps):
    check_order(steps)


def test_a_step_that_forgets_to_say_it_is_done_is_caught():
    class Lazy(Toy):
        def step(self, name):
            step = NameStep(name)
            step.run = lambda job, state, progress: state
            return step

    with pytest.raises(UsageError, match="does not say it is done"):
        run_steps(Lazy(), JOB)


def test_a_mention_outside_the_book_is_caught():
    class Wild(Toy):
        def step(self, name):
            step = NameStep(name)
            step.run = lambda job, state, progress: state.after(name, [Marked(6, 6, 0, name, "x")])
            return step

    with pytest.raises(UsageError, match="outside book or cast"):
        run_steps(Wild(), JOB)


def test_a_state_of_another_text_or_cast_is_refused():
    state = JOB.empty_state()
    other = Book.make("b_0", [["Ben", "slept", "."]])
    with pytest.raises(BookError, match="another text"):
        run_steps(Toy(), Job(other, JOB.cast), state=state)
    with pytest.raises(BookError, match="another cast"):
        run_steps(Toy(), Job(BOOK, make_cast(["Ben"])), state=state)


spans = st.tuples(st.integers(0, 5), st.integers(0, 5)).map(sorted)


@given(st.lists(spans, max_size=6), st.text(max_size=8), st.floats(0, 1))
def test_a_state_survives_saving(pairs, words, score):
    mentions = [Marked(a, b, 0, "link", words, score, "name") for a, b in pairs]
    state = JOB.empty_state().after(
        "link",
        mentions,
        dropped=[Dropped(0, 1, 0, "filter", words, score)],
        quotes=[Quote(0, 5, 0, (0,), words, score), Quote(1, 2)],
        notes=[words],
        memory={"parser": words},
    )
    assert State.from_json(json.dumps(state.to_dict())) == state


def test_a_damaged_state_is_named():
    with pytest.raises(FormatError, match=r"story.json"):
        State.from_json('{"format": 1}', "story.json")


def test_the_earlier_of_two_equal_mentions_is_kept():
    state = JOB.empty_state().after(
        "link", [Marked(0, 0, 0, "link", "name"), Marked(0, 0, 0, "link", "again")]
    )
    assert [m.rule for m in state.mentions] == ["name"]


def test_a_book_of_a_state_leaves_out_who_is_not_mentioned():
    job = Job(BOOK, make_cast(["Anna", "Ben"]))
    book = job.empty_state().after("link", [Marked(0, 0, 0, "link", "name")]).to_book(BOOK)
    assert [(c.name, c.mentions) for c in book.characters] == [("Anna", ((0, 0),))]
    assert book.tokens == BOOK.tokens


@given(st.lists(st.integers(1, 40), min_size=1, max_size=80), st.integers(1, 60))
def test_windows_are_a_partition_of_at_most_the_given_words(lengths, words):
    ends = [sum(lengths[: i + 1]) for i in range(len(lengths))]
    windows = annotation_windows(ends, words)
    assert windows[0].start == 0
    assert windows[-1].end == ends[-1]
    for a, b in pairwise(windows):
        assert a.end == b.start
        assert a.end_sentence == b.first_sentence
        assert b.end - a.start > words - max(lengths)
    for w in windows:
        assert w.end - w.start <= words or w.end_sentence - w.first_sentence == 1


def test_a_window_has_at_most_1500_words_as_in_the_paper():
    assert [w.end for w in annotation_windows([1500, 3000, 3001])] == [1500, 3000, 3001]
    assert [w.end for w in annotation_windows([750, 1501, 1502])] == [750, 1502]


def test_23_windows_make_groups_of_10_10_and_3():
    windows = annotation_windows(list(range(10, 231, 10)), 10)
    groups = group_windows(windows, 10)
    assert [(g.start, g.end) for g in groups] == [(0, 100), (100, 200), (200, 230)]


def test_groups_take_the_reading_of_the_windows_again(book_of, monkeypatch):
    """Two steps, one reading; and the same mentions as when the second step reads anew."""
    text = (
        "Anna Hill met Mr. Ford. She gave him her book.\n\n"
        "“Is it yours?” he asked her.\n\n“It was,” she said.\n"
    )
    job = Job(book_of(text), make_cast(["Anna Hill", "Mr. Ford"]))
    plan = default_plan("embedded")
    calls = []
    read_text = embedded.read_text

    def counted(*args):
        calls.append(args)
        return read_text(*args)

    monkeypatch.setattr(embedded, "read_text", counted)
    once = run_steps(make_backend(plan), job, plan.steps)
    assert len(calls) == 1
    state = None
    for step in plan.steps:
        state = run_steps(make_backend(plan), job, (step,), state=state)
    assert len(calls) == 3
    assert once.mentions == state.mentions
    assert once.quotes == state.quotes


def test_a_reading_bound_by_others_is_not_taken_for_a_free_one(book_of):
    job = Job(
        book_of("Anna Hill met Mr. Ford. She smiled. He bowed to her.\n"),
        make_cast(["Anna Hill", "Mr. Ford"]),
    )
    plan = default_plan("embedded")
    free = run_steps(make_backend(plan), job, plan.steps)
    backend = make_backend(plan)
    linked = run_steps(backend, job, ("link", "filter"))
    (she,) = [m for m in free.mentions if job.book.tokens[m.start] == "She"]
    bound = linked.after("windows", (*linked.mentions, she))
    run_steps(backend, job, ("groups",), state=bound)
    again = run_steps(backend, job, ("windows", "groups"), state=linked)
    assert again.mentions == free.mentions
