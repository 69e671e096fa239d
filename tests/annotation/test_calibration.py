"""Scores as probabilities, and links that are certain enough."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bookcoref_data.annotation.cast import parse_cast
from bookcoref_data.annotation.embedded.calibration import SCALES, calibrated
from bookcoref_data.annotation.plan import default_plan, read_plan
from bookcoref_data.annotation.state import Dropped, Marked, Quote, State
from bookcoref_data.errors import UsageError
from bookcoref_data.workflows.annotate import Source, annotate_book


@pytest.mark.parametrize("kind", sorted(SCALES))
def test_a_scale_keeps_the_order_and_gives_probabilities(kind):
    scores = [calibrated(kind, n / 20) for n in range(21)]
    assert scores == sorted(scores)
    assert all(0 < score < 1 for score in scores)
    assert scores[-1] - scores[5] > 0.2


def test_a_score_without_a_scale_stays():
    assert calibrated("name", 0.93) == 0.93


STATE = State(
    "story_0", "0" * 64, ("Anna", "Ford"),
    mentions=(
        Marked(0, 0, 0, "link", "name", 0.98, "name"),
        Marked(3, 3, 1, "windows", "turn", 0.6, "pronoun"),
    ),
    quotes=(Quote(5, 9, 0, (1,), "turn", 0.95), Quote(11, 14, 1, (0,), "turn", 0.5)),
)  # fmt: skip


def test_only_certain_links_and_speakers_are_kept():
    state = STATE.certain(0.9)
    assert [m.start for m in state.mentions] == [0]
    assert state.dropped == (Dropped(3, 3, 1, "windows", "less certain than 0.9", 0.6),)
    assert [(q.speaker, q.addressees) for q in state.quotes] == [(0, (1,)), (-1, ())]
    assert STATE.certain(0) == STATE


def test_the_least_certainty_of_a_plan_is_kept_to(book_of):
    text = "Anna Hill met Mr. Ford in the lane. She smiled, and he took off his hat.\n"
    cast = parse_cast("Anna Hill [f]\nMr. Ford\n")
    source, plan = Source(book_of(text)), default_plan("embedded")
    everything = annotate_book(source, cast, plan).state
    certain = annotate_book(source, cast, replace(plan, least=0.97)).state
    assert min(m.score for m in everything.mentions) < 0.97 <= min(m.score for m in certain.mentions)
    assert len(certain.mentions) + len(certain.dropped) == len(everything.mentions) + len(everything.dropped)


def test_a_recipe_may_say_how_certain_links_must_be(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('backend = "embedded"\nleast = 0.9\n', encoding="utf-8")
    plan = read_plan(path)
    assert plan.least == 0.9
    assert plan.key() != replace(plan, least=0.0).key()
    path.write_text('backend = "embedded"\nleast = 9\n', encoding="utf-8")
    with pytest.raises(UsageError, match="a number from 0 to 1"):
        read_plan(path)
