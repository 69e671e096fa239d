"""`cast` in a terminal: the table, and a server that saves only what is a cast, and stops with Ctrl-C."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request

import pytest

import bookcoref_data as bc

pytestmark = pytest.mark.long


def posted(address: str, text: str, version: str) -> tuple[int, str]:
    token = address.rstrip("/").rsplit("/", 1)[-1]
    asked = urllib.request.Request(
        f"{address}edits", text.encode("utf-8"), {"X-Token": token, "If-Match": version}, method="POST"
    )
    try:
        with urllib.request.urlopen(asked, timeout=30) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def test_the_server_saves_casts_alone_sees_changes_on_disk_and_stops_with_ctrl_c(tmp_path):
    bc.sample(tmp_path)
    words = [sys.executable, "-m", "bookcoref_data", "cast", "lamp.txt", "--serve"]
    process = subprocess.Popen(
        words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True, env=dict(os.environ, PYTHONUNBUFFERED="1"),
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    try:
        address = process.stdout.readline().strip()
        page = urllib.request.urlopen(address, timeout=60).read().decode()
        version = re.search(r'"version":"(\w+)"', page)[1]
        kept = tmp_path / "lamp.cast.txt"
        code, told = posted(address, "Anna\nBen [x]\n", version)
        assert (code, kept.exists()) == (400, False)
        assert "unknown hint" in told
        code, version = posted(address, "Anna # she\n", version)
        assert (code, kept.read_text()) == (200, "Anna # she\n")
        kept.write_text("Somebody else\n", encoding="utf-8")
        assert posted(address, "Anna\n", version)[0] == 412
        assert kept.read_text() == "Somebody else\n"
        assert "Somebody else" in urllib.request.urlopen(address, timeout=60).read().decode()
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode == 0
    assert "stopped; it is in lamp.cast.txt" in errors
    assert "Traceback" not in errors
