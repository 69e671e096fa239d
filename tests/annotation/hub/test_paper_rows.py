"""Tables 2, 4 and 7 of the paper by their commands, with its backend and small random models."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the extra gpu is not installed")

from bookcoref_data.annotation.steps import STEP_NAMES
from bookcoref_data.formats import write_documents

from .test_running import _book, _recipe

ROOT = Path(__file__).parents[3]
# The first row and the last: each is a process that loads torch; what lies between is `test_steps`' matter.
ROWS = (STEP_NAMES[0], ",".join(STEP_NAMES))


@pytest.mark.long
def test_rows_run_with_their_cost_and_their_stages(hub, plan, tmp_path):
    write_documents([_book(1).to_record()], tmp_path / "gold.jsonl")
    (tmp_path / "hub.toml").write_text(_recipe(plan, "cpu"), encoding="utf-8")
    environment = os.environ | {
        "HF_HUB_CACHE": str(hub.cache),
        "HF_HUB_OFFLINE": "1",
        "PYTHONPATH": str(ROOT),
    }

    def run(*words):
        done = subprocess.run(
            [sys.executable, *map(str, words)], cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    scored = []
    for steps in ROWS:
        out = f"run-{steps.count(',')}"
        words = ("annotate", "gold.jsonl", "--recipe", "hub.toml", "--steps", steps, "--report", "gold.jsonl")
        cost = run(ROOT / "benchmarks/bench_command.py", "--tokens", 200, "--", sys.executable, "-m",
                   "bookcoref_data", *words, "--out", out)  # fmt: skip
        assert "tokens/s" in cost
        found = run("-m", "bookcoref_data", "evaluate", "-k", "gold.jsonl", "-r", f"{out}/annotation.jsonl",
                    "--macro", "--json")  # fmt: skip
        scored.append(json.dumps(json.loads(found)["systems"]) if "systems" in json.loads(found) else found)
    assert len(set(scored)) > 1, "steps change the scores"
    stages = run(ROOT / "benchmarks/show_stages.py", out, "--gold", "gold.jsonl")
    assert all(step in stages for step in (*STEP_NAMES, "gold"))
