"""The examples run, and print what they promise."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
PROMISES = {
    "score_two_systems.py": ["forgetful: CoNLL F1", "confused: CoNLL F1", "| metric | P | R | F1 |"],
    "annotate_a_story.py": ["Captain Thorne:", "says"],
    "follow_a_changed_edition.py": ["795 mentions before", "remapped"],
}


def run(path: Path, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    """Run a script in an empty folder, with a cache of its own and no network."""
    environment = {
        **os.environ,
        "BOOKCOREF_DATA_HOME": str(tmp_path / "cache"),
        "HF_HOME": str(tmp_path / "hf"),
        "HF_HUB_OFFLINE": "1",
    }
    return subprocess.run(
        [sys.executable, str(path)],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_every_example_is_tested():
    assert {path.name for path in EXAMPLES.glob("*.py")} == set(PROMISES)


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(PROMISES))
def test_an_example_runs(name, tmp_path):
    done = run(EXAMPLES / name, tmp_path)
    assert done.returncode == 0, done.stderr
    assert [promise for promise in PROMISES[name] if promise not in done.stdout] == []


@pytest.mark.long
def test_the_tutorial_runs_cell_by_cell(tmp_path):
    cells = json.loads((EXAMPLES / "tutorial.ipynb").read_text(encoding="utf-8"))["cells"]
    code = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    (tmp_path / "tutorial.py").write_text(code + "\nassert scores.conll_f1 == 1.0\n", encoding="utf-8")
    done = run(tmp_path / "tutorial.py", tmp_path)
    assert done.returncode == 0, done.stderr
