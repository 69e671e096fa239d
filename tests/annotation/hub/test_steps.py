"""The whole backend on a small book: the contract holds, and every mention says who made it."""

from __future__ import annotations

import dataclasses
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bookcoref_data.annotation.backends import BACKENDS
from bookcoref_data.annotation.cast import make_cast
from bookcoref_data.annotation.hub.backend import HubBackend
from bookcoref_data.annotation.hub.batching import Batches
from bookcoref_data.annotation.hub.device import choose_device, dtype_of
from bookcoref_data.annotation.hub.maverick import Antecedent
from bookcoref_data.annotation.hub.steps import complete
from bookcoref_data.annotation.state import Marked, State
from bookcoref_data.annotation.steps import STEP_NAMES, Job, run_steps
from bookcoref_data.books import Book, Mention
from bookcoref_data.errors import BookError, UsageError

pytestmark = pytest.mark.slow

torch = pytest.importorskip("torch", reason="the extra gpu is not installed")


def test_all_steps_keep_the_contract_and_can_be_resumed(offline_hub, job, plan):
    states: list[State] = []
    backend = HubBackend(plan)
    final = run_steps(backend, job, after_step=states.append)
    backend.close()
    assert [s.done for s in states] == [STEP_NAMES[: i + 1] for i in range(4)]
    assert [bool(s.mentions) for s in states] == [True] * 4
    assert states[1].dropped
    assert len(states[1].mentions) + len(states[1].dropped) == len(states[0].mentions)
    assert set(states[2].mentions) <= set(final.mentions)
    rules = {
        "link": "relik tiny/reader",
        "windows": "maverick tiny/maverick",
        "groups": "maverick tiny/maverick (xl)",
    }
    for mark in final.mentions:
        assert mark.rule == rules[mark.step]
        assert 0 <= mark.score <= 1
    assert all("answered No to" in d.reason and d.step == "filter" for d in final.dropped)
    assert all("CPU" in note for note in final.notes if "GPU" in note)
    saved = State.from_json(json.dumps(states[2].to_dict()))
    again = run_steps(HubBackend(plan), job, ("groups",), state=saved)
    assert again.mentions == final.mentions


def test_windows_grow_from_the_links_in_them_alone(offline_hub, job, plan):
    """Without a link in the book nothing is added; and a link stays with its character."""
    backend = HubBackend(plan)
    linked = run_steps(backend, job, ("link",))
    none = dataclasses.replace(linked, mentions=())
    assert run_steps(backend, job, ("windows", "groups"), state=none).mentions == ()
    grown = run_steps(backend, job, ("windows",), state=linked)
    assert set(linked.mentions) < set(grown.mentions)
    owner = {m.mention: m.character for m in reversed(linked.mentions)}
    assert all(
        owner.get(m.mention, m.character) == m.character for m in grown.mentions if m.step == "windows"
    )


@pytest.mark.parametrize("place", ["first", "last"])
def test_a_link_at_either_end_of_a_window_is_in_it(offline_hub, job, plan, place):
    backend = HubBackend(plan)
    linked = run_steps(backend, job, ("link",))
    at = 0 if place == "first" else len(job.book.tokens) - 1
    alone = dataclasses.replace(linked, mentions=(linked.mentions[0]._replace(start=at, end=at),))
    ((_, _, given),) = backend.step("windows")._items(job, alone)
    assert [*given] == [Mention(at, at)]


def test_a_link_over_the_end_of_a_window_is_in_none(offline_hub, job, plan):
    step = HubBackend(plan).step("windows")
    first, *others = step._stretches(job.book)
    assert others
    over = Marked(first.end - 1, first.end, 0)
    assert step._items(job, State(job.book.doc_key, "", (), mentions=(over,))) == []


def test_line_ends_take_no_part_but_count_in_offsets(offline_hub, job, plan):
    final = run_steps(HubBackend(plan), job)
    tokens = job.book.tokens
    assert all(tokens[m.start] != "\n" and tokens[m.end] != "\n" for m in final.mentions)
    assert final.to_book(job.book).mention_count == len(
        {(m.start, m.end, m.character) for m in final.mentions}
    )


def test_units_are_what_progress_hears(offline_hub, job, plan):
    from bookcoref_data.progress import Silent

    class Heard(Silent):
        def __init__(self) -> None:
            self.total: dict[str, list[int]] = {}

        def begin(self, key, total, unit) -> None:
            self.unit = unit
            self.total[unit] = [total, 0]

        def advance(self, key, amount=1) -> None:
            self.total[self.unit][1] += amount

    heard = Heard()
    run_steps(HubBackend(plan), job, ("link", "windows", "groups"), progress=heard)
    assert all(told == done for told, done in heard.total.values())
    assert heard.total["groups"][0] < heard.total["windows"][0]


@pytest.mark.long
def test_one_model_is_held_and_shared_by_windows_and_groups(offline_hub, job, plan):
    backend = HubBackend(plan)
    run_steps(backend, job, ("link", "windows"))
    held = backend._held[1]
    run_steps(backend, job, ("groups",), state=run_steps(backend, job, ("link", "windows")))
    assert type(held) is type(backend._held[1])
    backend.close()
    assert backend._held == (None, None)


@pytest.mark.long
def test_over_many_books_every_model_is_loaded_once(offline_hub, job, plan, tmp_path, monkeypatch):
    from bookcoref_data.annotation.hub import backend as module
    from bookcoref_data.workflows.annotate import Source
    from bookcoref_data.workflows.annotate_many import ReadingJob, annotate_books, read_state

    loads = []
    load = module._load
    monkeypatch.setattr(module, "_load", lambda kind, given: loads.append(kind) or load(kind, given))
    books = [Book.make(f"book_{i}", job.book.sentences[i:]) for i in range(3)]

    def jobs():
        return (ReadingJob(Source(b), job.cast, plan, tmp_path) for b in books)

    done = annotate_books(jobs, 3)
    assert done.failed == {}
    assert loads == ["link", "filter", "expand"]
    alone = run_steps(HubBackend(plan), Job(books[0], job.cast))
    assert read_state(done.finished["book_0"]).mentions == alone.mentions


def test_books_ask_together_and_get_what_each_alone_would_get(offline_hub, job, plan, tmp_path, monkeypatch):
    """Texts of several books share batches; a book that fails does not hinder the others."""
    from bookcoref_data.workflows import annotate_many as many
    from bookcoref_data.workflows.annotate import Source

    books = [Book.make(f"book_{i}", [[*s, *s[: i + 1]] for s in job.book.sentences[i:]]) for i in range(5)]
    casts = [make_cast(["Anna Brown", "old fox", "hare"][: 1 + i % 3]) for i in range(5)]
    run, batches = Batches.run, []

    def counted(self, rows, length, work, told):
        def once(part):
            batches.append(sorted(map(length, part)))
            return work(part)

        run(self, rows, length, once, told)

    def results(name):
        def jobs():
            return (
                many.ReadingJob(Source(b), c, plan, tmp_path / name)
                for b, c in zip(books, casts, strict=True)
            )

        batches.clear()
        done = many.annotate_books(jobs, 5, workers=1)
        assert done.failed == {}
        assert not list((tmp_path / name).rglob("*.part.jsonl"))
        return [many.read_state(done.finished[b.doc_key]) for b in books], len(batches)

    monkeypatch.setattr(Batches, "run", counted)
    monkeypatch.setattr(many, "TOGETHER", (1, 10))
    alone, separate = results("alone")
    monkeypatch.setattr(many, "TOGETHER", (16, 10_000))
    together, shared = results("together")
    assert shared < separate
    for a, b in zip(alone, together, strict=True):
        assert [m[:5] for m in a.mentions] == [m[:5] for m in b.mentions]
        assert [m.score for m in a.mentions] == pytest.approx([m.score for m in b.mentions], abs=1e-5)
        assert [d[:4] for d in a.dropped] == [d[:4] for d in b.dropped]
        assert a.notes == b.notes


def test_an_empty_book_has_no_mentions(offline_hub, plan):
    empty = Job(Book.make("empty", []), make_cast(["Anna"]))
    assert run_steps(HubBackend(plan), empty).mentions == ()


@pytest.mark.parametrize(("step", "change", "words"), [
    ("link", {"model": ""}, "names no model"),
    ("windows", {"encoder": ""}, "names no encoder"),
    ("link", {"dtype": "float12"}, "no dtype"),
    ("link", {"device": "cuda:99"}, "cannot be used"),
])  # fmt: skip
def test_recipes_that_cannot_run_say_why(offline_hub, job, plan, step, change, words):
    broken = dataclasses.replace(plan, settings=dict(plan.settings) | {step: dict(plan.of(step)) | change})
    state = run_steps(HubBackend(plan), job, ("link",)) if step == "windows" else None
    with pytest.raises(UsageError, match=words):
        run_steps(HubBackend(broken), job, (step,), state=state)


def test_a_state_of_another_cast_is_refused(offline_hub, job, plan):
    state = run_steps(HubBackend(plan), job, ("link",))
    other = Job(job.book, make_cast(["Nobody"]))
    with pytest.raises(BookError, match="another cast"):
        run_steps(HubBackend(plan), other, ("filter",), state=state)


def test_devices_and_dtypes_by_name():
    assert choose_device("cpu").type == "cpu"
    assert choose_device("auto").type == ("cuda" if torch.cuda.is_available() else "cpu")
    assert dtype_of("bfloat16") is torch.bfloat16


def test_the_backend_is_known_by_name():
    assert re.fullmatch(r"bookcoref_data\.annotation\.hub\.backend:HubBackend", BACKENDS["hub"])


def test_clusters_without_a_given_mention_are_dropped():
    mentions = [Mention(i, i) for i in range(5)]
    links = [Antecedent(1, 0, 0.9), Antecedent(3, 2, 0.8)]
    assert complete(mentions, links, {Mention(2, 2): 7}) == ([(Mention(3, 3), 7, 0.8)], 0)


def test_a_cluster_of_nobody_joins_the_character_it_is_linked_to_later():
    mentions = [Mention(i, i) for i in range(3)]
    added, _ = complete(mentions, [Antecedent(1, 0, 0.6), Antecedent(2, 1, 0.7)], {Mention(2, 2): 1})
    assert [(m.start, c) for m, c, _ in added] == [(0, 1), (1, 1)]


@given(st.data())
def test_characters_never_merge_and_given_mentions_stay(data):
    count = data.draw(st.integers(1, 12))
    mentions = [Mention(i, i) for i in range(count)]
    given_mentions = data.draw(st.dictionaries(st.sampled_from(mentions), st.integers(0, 2), max_size=5))
    links = [
        Antecedent(i, data.draw(st.integers(0, i - 1)), 0.9)
        for i in range(1, count)
        if data.draw(st.booleans())
    ]
    added, refused = complete(mentions, links, given_mentions)
    character = dict(given_mentions) | {m: c for m, c, _ in added}
    assert len(character) == len(given_mentions) + len(added)
    broken = sum(character.get(mentions[k.mention]) != character.get(mentions[k.antecedent]) for k in links)
    assert broken == refused
