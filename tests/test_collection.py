"""Every test file on disk is collected: a room once hid behind a default of pytest."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def _collected(config) -> set[str]:
    """Files with tests in a run without arguments: this run, if it is one, else a run that only collects."""
    given = {Path(config.invocation_params.dir, argument).resolve() for argument in config.args}
    if given == {ROOT / "tests"}:
        # Every process of a parallel run collects all files.
        return {str(Path(path).relative_to(ROOT)) for path in config.collected}
    listed = subprocess.run(
        [sys.executable, "-I", "-m", "pytest", "--collect-only", "-n", "0", "-m", ""],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return {line.partition("::")[0] for line in listed.stdout.splitlines() if "::" in line}


def test_every_test_file_on_disk_is_collected(request):
    found = _collected(request.config)
    missing = {str(path.relative_to(ROOT)) for path in (ROOT / "tests").rglob("test_*.py")} - found
    # Files that need an optional package say so when they are imported: they are collected as skipped.
    optional = {f for f in missing if "importorskip" in (ROOT / f).read_text(encoding="utf-8")}
    assert missing - optional == set()


def test_the_long_tests_are_run_by_ci():
    assert "pytest -m long" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_every_mutant_listed_as_equivalent_is_in_the_code():
    from benchmarks.mutants import equivalents

    assert all(equivalents().values())
