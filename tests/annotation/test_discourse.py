"""What the reader knows of the people of a discourse."""

from __future__ import annotations

import numpy as np
import pytest

from bookcoref_data.annotation.embedded.clauses import NO_CLAUSE, Clause
from bookcoref_data.annotation.embedded.discourse import INDEX, Discourse
from bookcoref_data.annotation.embedded.markables import OBJECT, SUBJECT, Markable

MAIN = Clause(verb=3, main=True)


def named(at: int, role: int = SUBJECT) -> Markable:
    return Markable(at, at, at, "name", 3, "", role)


def test_mentions_inside_and_outside_quotes_are_counted_apart():
    state = Discourse(2, np.full(2, 0.9), np.full(2, 0.1), np.zeros(2))
    state.mention(0, named(5), 0, 0, -1, MAIN)
    state.mention(1, named(20, OBJECT), 1, 1, 0, NO_CLAUSE)
    state.mention(1, named(25, OBJECT), 1, 1, 0, NO_CLAUSE)
    x = state.features([0, 1], named(30), 2, 1, -1, NO_CLAUSE)
    heard = x[:, INDEX["quoted lately"]]
    told = x[:, INDEX["narrated lately"]]
    assert heard[0] == 0 < np.log1p(1) < heard[1]
    assert told[1] == 0 < told[0] < np.log1p(1.0) + 1e-6
    assert x[1, INDEX["since quoted"]] == np.float32(np.log1p(5)) < x[0, INDEX["since quoted"]]


def test_the_last_subject_of_the_narration_is_known_also_after_quotes():
    state = Discourse(2, np.full(2, 0.9), np.full(2, 0.1), np.zeros(2))
    state.mention(0, named(5), 0, 0, -1, MAIN)
    state.mention(1, named(8, OBJECT), 0, 0, -1, NO_CLAUSE)
    state.mention(1, named(20), 1, 1, 0, MAIN)
    subject, beside = INDEX["narrated subject"], INDEX["narrated subject beside"]
    near = state.features([0, 1], named(30), 2, 1, -1, NO_CLAUSE)
    assert near[:2, subject].tolist() == near[:2, beside].tolist() == [1, 0]
    far = state.features([0, 1], named(30), 2, 2, -1, NO_CLAUSE)
    assert far[:2, subject].tolist() == [1, 0]
    assert not far[:2, beside].any()


def test_who_is_talked_of_is_not_on_the_scene():
    state = Discourse(2, np.full(2, 0.9), np.full(2, 0.1), np.zeros(2))
    state.mention(0, named(5), 0, 0, -1, MAIN)
    state.mention(0, named(10), 0, 0, 0, MAIN, talked_of=True)
    state.mention(1, named(15), 0, 0, 0, MAIN, talked_of=True)
    state.mention(1, named(20), 0, 0, 0, MAIN, talked_of=True)
    x = state.features([0, 1], named(30), 2, 1, 1, NO_CLAUSE)
    lately = x[:2, INDEX["talked of lately"]]
    assert 0 < lately[0] < np.log1p(1) < lately[1]
    assert x[:2, INDEX["since on the scene"]].tolist() == pytest.approx([np.log1p(25), np.log1p(10_000)])
