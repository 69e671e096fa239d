"""Workers end with the process that started them, and what a killed run leaves is cleared by the next one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bookcoref_data.books import Book
from bookcoref_data.formats.folder import writing_folder
from bookcoref_data.guard import WORK
from bookcoref_data.outputs import _host
from bookcoref_data.sources.store import Store

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")

RUN = """
import os, signal, sys, time
for name in ("SIGTERM", "SIGHUP"):  # as a shell starts it, not as nohup does
    signal.signal(getattr(signal, name), signal.SIG_DFL)
from pathlib import Path
from bookcoref_data.cli import app
from bookcoref_data.sources.store import Store
from bookcoref_data.workflows.engine import JobResults, finished, run
from bookcoref_data.progress import Silent

store = Store(Path(sys.argv[1]))

def wait(folder):
    (folder / "half").write_text("half-made")
    os.write(1, f"{os.getpid()}\\n".encode())  # in one piece: two workers write here
    time.sleep(60)

def job(name):
    return finished(store, "books", name, wait)

def work():
    with store.working():
        run(job, ["a", "b"], JobResults(), Silent(), bar=("b", 2, "books"), workers=2)

app.program = lambda: lambda **options: work()
app.main()
"""


def alive(number: int) -> bool:
    try:
        state = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks into /proc")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGKILL"])
def test_workers_end_with_their_parent_and_the_next_run_clears_up(tmp_path, name):
    store = Store(tmp_path / "cache")
    words = [sys.executable, "-c", RUN, str(store.root)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        workers = [int(parent.stdout.readline()) for _ in range(2)]
        assert all(map(alive, workers))
        parent.send_signal(getattr(signal, name))
        parent.wait(120)
        deadline = time.monotonic() + 120
        while any(map(alive, workers)) and time.monotonic() < deadline:
            time.sleep(0.1)
        assert not any(map(alive, workers))
        assert parent.returncode == (-signal.SIGKILL if name == "SIGKILL" else 130)
    assert len(list((store.root / "books").glob(".making-*"))) == 2
    with store.working():
        assert list((store.root / "books").iterdir()) == []


def test_another_run_keeps_what_is_in_the_making(tmp_path):
    store = Store(tmp_path / "cache")
    with store.working():
        half = store.root / "books/.making-x"
        half.mkdir(parents=True)
        with store.working():
            assert half.is_dir()
    with store.working():
        assert not half.exists()


def test_what_killed_runs_left_beside_the_output_is_removed(tmp_path):
    out, work = tmp_path / "d", tmp_path / WORK
    with subprocess.Popen([sys.executable, "-c", "pass"]) as ended:
        pass
    dead, mine, other = (
        work / name for name in (f"{_host()}-{ended.pid}-ab", f"{_host()}-{os.getpid()}-ab", "elsewhere-1-ab")
    )
    for path in (dead, mine, other):
        path.mkdir(parents=True)
    with writing_folder(out) as writer:
        writer.add_book(Book.make("b_1", [["a"]]), "test")
        writer.finish("T", licences=[])
    assert [path.exists() for path in (dead, mine, other)] == [False, True, True]
