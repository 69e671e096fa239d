"""Every test file on disk is collected: a room once hid behind a default of pytest."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def test_every_test_file_on_disk_is_collected():
    listed = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-n", "0", "-p", "no:cacheprovider"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    collected = {line.partition("::")[0] for line in listed.stdout.splitlines() if "::" in line}
    on_disk = {str(path.relative_to(ROOT)) for path in (ROOT / "tests").rglob("test_*.py")}
    # Files that need an optional package say so when they are imported: they are collected as skipped.
    optional = {f for f in on_disk - collected if "importorskip" in (ROOT / f).read_text(encoding="utf-8")}
    assert on_disk - collected - optional == set(), listed.stdout[-2000:] + listed.stderr[-2000:]
