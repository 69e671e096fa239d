"""The examples run, and print what they promise."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import bookcoref_data as bc
from bookcoref_data.formats import read_documents
from bookcoref_data.sample_story.story import gutenberg_text

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
PROMISES = {
    "score_two_systems.py": ["forgetful: CoNLL F1", "confused: CoNLL F1", "| metric | P | R | F1 |"],
    "annotate_a_story.py": ["Captain Thorne:", "says"],
    "follow_a_changed_edition.py": ["795 mentions before", "remapped"],
}
WITH_ARGUMENTS = {"annotate_with_ray.py", "cut_into_parts.py"}


def run(path: Path, tmp_path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a script in an empty folder, with a cache of its own and no network."""
    environment = {
        **os.environ,
        "BOOKCOREF_DATA_HOME": str(tmp_path / "cache"),
        "HF_HOME": str(tmp_path / "hf"),
        "HF_HUB_OFFLINE": "1",
    }
    return subprocess.run(
        [sys.executable, str(path), *arguments],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_every_example_is_tested():
    assert {path.name for path in EXAMPLES.glob("*.py")} == {*PROMISES, *WITH_ARGUMENTS}


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(PROMISES))
def test_an_example_runs(name, tmp_path):
    done = run(EXAMPLES / name, tmp_path)
    assert done.returncode == 0, done.stderr
    assert [promise for promise in PROMISES[name] if promise not in done.stdout] == []


@pytest.mark.long
def test_parts_of_the_sample_are_merged_to_what_they_were(tmp_path):
    bc.rebuild(sample=True, out=tmp_path / "data")
    done = run(EXAMPLES / "cut_into_parts.py", tmp_path, "data", "parts.jsonl")
    assert done.returncode == 0, done.stderr
    bc.merge(tmp_path / "parts.jsonl", tmp_path / "merged.jsonl", by="id")
    parts, merged, wholes = (
        list(read_documents(tmp_path / name)) for name in ("parts.jsonl", "merged.jsonl", "data")
    )
    assert len(parts) > len(wholes) == len(merged)
    for record, whole in zip(merged, wholes, strict=True):
        assert record.sentences == whole.sentences
        assert {frozenset(c) for c in record.clusters} == {frozenset(c) for c in whole.clusters}


@pytest.mark.long
def test_what_ray_sends_to_its_workers_annotates(tmp_path):
    """Ray itself is not a dependency: the function that it calls is called here."""
    spec = importlib.util.spec_from_file_location("annotate_with_ray", EXAMPLES / "annotate_with_ray.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    (tmp_path / "lamp.txt").write_text(gutenberg_text(), encoding="utf-8")
    script.annotate({"path": [str(tmp_path / "lamp.txt")]}, str(tmp_path))
    (record,) = read_documents(tmp_path / "lamp.jsonl")
    assert "Captain Thorne" in [name for name, mentions in record.characters if mentions]


@pytest.mark.long
def test_the_tutorial_runs_cell_by_cell(tmp_path):
    cells = json.loads((EXAMPLES / "tutorial.ipynb").read_text(encoding="utf-8"))["cells"]
    code = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    (tmp_path / "tutorial.py").write_text(code + "\nassert scores.conll_f1 == 1.0\n", encoding="utf-8")
    done = run(tmp_path / "tutorial.py", tmp_path)
    assert done.returncode == 0, done.stderr
