"""Recipes: every number of the paper is a setting and says where it is from."""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import replace
from types import ModuleType

import pytest

from bookcoref_data.annotation.backends import device_count, findings, make_backend
from bookcoref_data.annotation.plan import DEFAULT_RECIPES, default_plan, read_plan
from bookcoref_data.annotation.steps import STEP_NAMES
from bookcoref_data.errors import UsageError


@pytest.mark.parametrize("backend", sorted(DEFAULT_RECIPES))
def test_every_setting_says_where_it_is_from(backend):
    plan = default_plan(backend)
    settings = {f"{step}.{name}" for step in STEP_NAMES for name in plan.of(step)}
    assert settings == set(plan.sources)
    assert all(plan.sources.values())


def test_the_published_recipe_has_the_numbers_of_the_paper():
    plan = default_plan("hub")
    assert plan.of("filter")["context_words"] == 400
    assert plan.of("windows")["words"] == 1500
    assert plan.of("groups")["windows"] == 10
    assert plan.of("groups")["mention_window"] == 4000
    assert (
        "Does the mention [$mention] correspond to the character $character? (Yes/No)"
        in (plan.of("filter")["question"])
    )


def test_the_key_changes_with_a_setting_and_not_with_a_source(tmp_path):
    text = 'backend = "embedded"\n[windows]\nwords = {}\n[sources]\n"windows.words" = "{}"\n'
    plans = []
    for i, (words, source) in enumerate([(1500, "paper"), (1500, "elsewhere"), (1000, "paper")]):
        path = tmp_path / f"{i}.toml"
        path.write_text(text.format(words, source))
        plans.append(read_plan(path))
    assert plans[0].key() == plans[1].key() != plans[2].key()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('backend = "embedded"\n[window]\nwords = 3', "window cannot be used"),
        ("[windows]\nwords = 3", "a field 'backend'"),
        ('backend = "embedded"\nsteps = ["windows"]', "needs 'link' first"),
        ("backend = ", "not valid TOML"),
    ],
)
def test_a_wrong_recipe_is_refused(tmp_path, text, words):
    path = tmp_path / "r.toml"
    path.write_text(text)
    with pytest.raises(UsageError, match=words):
        read_plan(path)


def test_unknown_backends_and_settings_are_refused(tmp_path):
    path = tmp_path / "r.toml"
    path.write_text('backend = "oracle"')
    with pytest.raises(UsageError, match="no backend 'oracle'"):
        make_backend(read_plan(path))
    path.write_text('backend = "embedded"\n[windows]\nwodrs = 3')
    with pytest.raises(UsageError, match="wodrs"):
        read_plan(path)


@pytest.mark.parametrize("asked", [({"link": "m"}, None), ({}, "http://localhost:1/v1")])
def test_the_backend_without_large_models_takes_neither_a_model_nor_a_server(asked):
    """When the plan is made: it would fail for each book, one after the other, else."""
    with pytest.raises(UsageError, match=r"has no setting '(model|endpoint)'") as refused:
        default_plan("embedded").with_models(*asked)
    assert "hub" in refused.value.hint
    assert default_plan("hub").with_models(*asked)


@pytest.mark.parametrize(("here", "verdict"), [(object(), "fine"), (None, "cannot run")])
def test_what_a_run_on_the_cpu_needs_is_looked_for(monkeypatch, here, verdict):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: here)
    ((what, found, said),) = findings(default_plan("embedded"), 1000)
    assert (what, said) == ("backend", verdict)
    assert ("pip install 'bookcoref-data[annotate]'" in found) == (here is None)


def test_as_many_processes_as_the_step_with_most_devices_names(monkeypatch):
    published = default_plan("hub")
    first, second = published.steps[:2]
    devices = {first: {"device": "cuda:0"}, second: {"device": "cuda:0 cuda:1 cuda:2"}}
    plan = replace(published, steps=(first, second), settings=devices)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert device_count(plan) == 1
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name)
    monkeypatch.setitem(sys.modules, "torch", ModuleType("torch"))  # devices that are named need none
    assert device_count(plan) == 3
