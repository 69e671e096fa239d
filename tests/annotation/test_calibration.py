"""Scores as probabilities, and links that are certain enough."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from bookcoref_data.annotation.cast import parse_cast
from bookcoref_data.annotation.embedded import pointing
from bookcoref_data.annotation.embedded.calibration import SCALES, calibrated
from bookcoref_data.annotation.embedded.network import WEIGHTS
from bookcoref_data.annotation.plan import default_plan, read_plan
from bookcoref_data.annotation.state import Dropped, Marked, Quote, State
from bookcoref_data.annotation.steps import Job
from bookcoref_data.errors import UsageError
from bookcoref_data.workflows.annotate import Source, annotate_book
from training.calibrate import (
    Link,
    calibration_error,
    excerpts,
    fit_scale,
    least_error,
    narration,
    scaled,
    spread_over_texts,
)


@pytest.mark.parametrize("kind", sorted(SCALES))
def test_a_scale_keeps_the_order_and_gives_probabilities(kind):
    scores = [calibrated(kind, n / 20) for n in range(21)]
    assert scores == sorted(scores)
    assert all(0 < score < 1 for score in scores)
    assert scores[-1] - scores[5] > 0.2


def test_a_score_without_a_scale_stays():
    assert calibrated("name", 0.93) == 0.93


def test_i_is_as_sure_as_the_speaker_of_its_quote(book_of, monkeypatch):
    """Each rule that finds a speaker has a scale of its own, which holds for "I" as well."""
    monkeypatch.setitem(SCALES, "said by name", (0.0, 2.0))
    monkeypatch.setitem(SCALES, "turn", (0.0, -2.0))
    text = "“I am late,” said Anna Hill.\n\n“I am not,” said Mr. Ford.\n\n“But I saw you.”\n"
    state = annotate_book(
        Source(book_of(text)), parse_cast("Anna Hill [f]\nMr. Ford\n"), default_plan("embedded")
    ).state
    assert [(q.rule, q.score) for q in state.quotes] == [("said by name", 0.881)] * 2 + [("turn", 0.119)]
    said = [m.score for m in state.mentions if m.rule == "speaker of the quote"]
    assert said == [0.881, 0.881, 0.119]


def test_a_mere_noun_is_no_sure_name(book_of):
    """ "Mother" may be anybody's, "the Captain" is the one of the cast."""
    text = "Mother sat by the fire. The Captain saw Anna Hill and Mother. “Well,” said the Captain.\n"
    cast = parse_cast("Mother\nThe Captain\nAnna Hill\n")
    state = annotate_book(Source(book_of(text)), cast, default_plan("embedded"), steps=["link"]).state
    scores = {
        name: {m.score for m in state.mentions if m.character == i} for i, name in enumerate(cast.names)
    }
    assert scores == {"Mother": {0.4}, "The Captain": {0.98}, "Anna Hill": {0.98}}


def test_a_scale_makes_probabilities_of_scores():
    rng = np.random.default_rng(3)
    scores = rng.uniform(0.02, 0.98, 4000)
    right = rng.random(4000) < scaled(scores, 0.5, -1.0)
    slope, shift = fit_scale(scores, right)
    assert (slope, shift) == pytest.approx((0.5, -1.0), abs=0.1)
    assert calibration_error(scores, right) > 0.15
    assert calibration_error(scaled(scores, slope, shift), right) < 0.03


def test_true_probabilities_err_by_chance_alone():
    rng = np.random.default_rng(2)
    scores = rng.beta(4, 2, 1000)
    drawn = [calibration_error(scores, rng.random(1000) < scores) for _ in range(400)]
    assert least_error(scores) == pytest.approx(np.mean(drawn), rel=0.05)


def test_what_counts_twice_is_like_two():
    scores, right = [0.2, 0.9, 0.7, 0.4], [False, True, False, True]
    twice = fit_scale([*scores, *scores[:2]], [*right, *right[:2]])
    assert fit_scale(scores, right, [2, 2, 1, 1]) == pytest.approx(twice)
    assert fit_scale(scores, right) != pytest.approx(twice)


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


class AnySpan:
    """Holds everything."""

    def __contains__(self, _: object) -> bool:
        return True


def test_scales_are_fitted_on_raw_scores(tmp_path, book_of, monkeypatch):
    """The scales of the last fit say nothing of the next one."""
    story = "Anna Hill saw Mr. Ford in the street. Mr. Ford saw her there, and he went away. He was late."
    excerpt = SimpleNamespace(
        job=Job(book_of(story), parse_cast("Anna Hill [f]\nMr. Ford [m]\n")),
        kinds=AnySpan(), key=[AnySpan(), AnySpan()],
    )  # fmt: skip
    monkeypatch.setattr("training.calibrate.parts", lambda root: {"dev": ["one"]})
    monkeypatch.setattr("training.calibrate.read_excerpt", lambda root, name: excerpt)
    found = list(narration(excerpts(tmp_path), raw=True))
    monkeypatch.setitem(SCALES, "third", (0.0, -2.0))
    assert "third" in {link.kind for link in found}
    assert list(narration(excerpts(tmp_path), raw=True)) == found
    assert list(narration(excerpts(tmp_path), raw=False)) != found


def test_the_spread_over_texts_takes_them_as_wholes():
    """One text all wrong among four is far off by chance, however many links it has."""
    links = [Link(text, "third", 0.9, text != "d") for text in "abcd" for _ in range(50)]
    assert spread_over_texts(links) == pytest.approx(0.25)
    mixed = [Link(text, "third", 0.9, n % 4 > 0) for text in "abcd" for n in range(48)]
    assert spread_over_texts(mixed) == 0
    assert np.isnan(spread_over_texts(links[:50]))


SCALES_OF = "db4e4d0a75a3ea8bba7b1efc5722d95484a881c6dd6eeb68214cbe061b5f2773"
"""The weights that the scales were fitted with, of rankers and language model, by SHA-256."""


def test_scales_are_those_of_the_weights():
    """New weights have new scores. Then fit the scales: `python -m benchmarks.bench_dialogue --scorer SCORER
    --data PDNC --fit --litbank LITBANK`, write them to calibration.py, and the checksum here."""
    assert hashlib.sha256(WEIGHTS.read_bytes() + pointing.WEIGHTS.read_bytes()).hexdigest() == SCALES_OF
