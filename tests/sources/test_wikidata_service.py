"""A harvest from the emulated service of benchmarks/bench_harvest.py, which has a clock of its own."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks/bench_harvest.py"


@pytest.fixture(scope="module")
def bench():
    spec = importlib.util.spec_from_file_location("bench_harvest", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.long
@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_kills_faults_and_an_empty_first_answer_give_the_same_table(bench, seed):
    made = bench.killed_and_resumed(works=3000, each=3, kills=5, seed=seed)
    assert made["same"]
    assert made["works"] == 2400
    assert made["rows"] == 7200
    assert made["failed"] == ["Q666"]  # the class that is never answered for, and nothing else
    assert made["minutes"] < 10
