"""The steps of the paper with tiny networks of drawn weights: every decision of each step, written down.

What the networks say is nonsense; that it is the same nonsense shows that nothing of the way from words to
scores and back to mentions has changed.
"""

from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="the extra gpu is not installed")

from bookcoref_data.annotation.hub.backend import HubBackend  # noqa: E402
from bookcoref_data.annotation.steps import run_steps  # noqa: E402

WRITTEN = Path(__file__).parent / "whole_run.txt"


def lines_of(state, step):
    """The mentions that a step made and dropped: first and last token, character, score."""
    made = [m for m in state.mentions if m.step == step]
    yield f"{step}: {len(made)} made, {len(state.dropped)} dropped so far, {len(state.mentions)} in all"
    yield from (f"  {m.start}-{m.end} {m.character} {m.kind or '-'} {m.rule} {m.score:.2f}" for m in made)
    yield from (f"  dropped {d.start}-{d.end} {d.reason} {d.score:.2f}" for d in state.dropped)


def test_every_decision_of_the_steps(offline_hub, job, plan, as_written):
    states = []
    backend = HubBackend(plan)
    run_steps(backend, job, after_step=states.append)
    backend.close()
    as_written(WRITTEN, "\n".join(line for state in states for line in lines_of(state, state.done[-1])))
