"""The commands of docs/paper.md for Tables 2, 4 and 7 run from beginning to end, with our own steps."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bookcoref_data.annotation.plan import read_plan

ROOT = Path(__file__).parents[2]
ROWS = ("link", "link,filter", "link,windows", "link,filter,windows", "link,filter,windows,groups")


def run(here, *words):
    done = subprocess.run([sys.executable, *map(str, words)], cwd=here, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.long
def test_the_pipeline_step_by_step_its_cost_and_its_stages(place, tmp_path):
    shutil.copy(place / "gold.jsonl", tmp_path)
    command = (
        ROOT / "benchmarks/bench_command.py",
        "--tokens",
        1000,
        "--",
        sys.executable,
        "-m",
        "bookcoref_data",
    )
    found = []
    for number, steps in enumerate(ROWS):
        words = ("annotate", "gold.jsonl", "--steps", steps, "--out", f"run{number}")
        run(tmp_path, "-m", "bookcoref_data", *words)
        scores = ("evaluate", "-k", "gold.jsonl", "-r", f"run{number}/annotation.jsonl", "--macro", "--json")
        found.append(json.loads(run(tmp_path, "-m", "bookcoref_data", *scores)))
    assert len({json.dumps(scores) for scores in found}) > 2, "steps change the scores"
    cost = run(tmp_path, *command, "stats", "gold.jsonl")
    assert "tokens/s" in cost
    stages = run(tmp_path, ROOT / "benchmarks/show_stages.py", "run4", "--gold", "gold.jsonl")
    assert all(step in stages for step in ("link", "filter", "windows", "groups", "gold"))


def test_the_variant_of_the_filter_prompt_differs_in_its_question_alone():
    one, other = (
        read_plan(ROOT / "recipes" / f"silver-{name}.toml") for name in ("as-published", "unsure-no")
    )
    assert one.steps == other.steps
    differing = [
        (step, name)
        for step, settings in one.settings.items()
        for name, value in settings.items()
        if other.settings[step][name] != value
    ]
    assert differing == [("filter", "question")]
    assert "answer No" in other.settings["filter"]["question"]
