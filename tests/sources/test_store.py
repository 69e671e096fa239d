"""One cache: where it is, whole entries, locks between processes, sizes, clearing."""

import multiprocessing
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bookcoref_data.errors import DataError, SourceError, UsageError
from bookcoref_data.sources.store import CacheError, Store


def test_the_argument_wins_over_the_variable_and_that_over_the_platform(tmp_path, monkeypatch):
    monkeypatch.setenv("BOOKCOREF_DATA_HOME", str(tmp_path / "variable"))
    assert Store.open(tmp_path / "argument").root == tmp_path / "argument"
    assert Store.open().root == tmp_path / "variable"
    monkeypatch.delenv("BOOKCOREF_DATA_HOME")
    assert Store.open().root.name == "bookcoref-data"
    assert not (tmp_path / "argument").exists()


@pytest.mark.parametrize("name", ["../up", "a/b", "", ".hidden", "x\0y", "/etc"])
def test_names_from_data_cannot_leave_the_cache(store, name):
    with pytest.raises(DataError):
        store.path("texts", name)
    with pytest.raises(DataError):
        store.path(name)
    with pytest.raises(DataError):
        store.make("delta", name, lambda folder: None)


def test_an_entry_appears_whole_or_not_at_all(store):
    def half(folder):
        (folder / "a").write_text("half")
        raise RuntimeError("killed")

    with pytest.raises(RuntimeError):
        store.make("delta", "key", half)
    assert list((store.root / "delta").iterdir()) == []
    made = store.make("delta", "key", lambda folder: (folder / "a").write_text("whole"))
    assert made == store.make("delta", "key", half)
    assert (made / "a").read_text() == "whole"


def _make_and_count(root, log, barrier):
    def fill(folder):
        with open(log, "a") as stream:
            stream.write(f"{os.getpid()}\n")
        time.sleep(0.2)
        (folder / "a").write_text("made")

    barrier.wait(30)
    made = Store(Path(root)).make("delta", "key", fill)
    assert (made / "a").read_text() == "made"


def test_two_processes_asking_at_once_work_once(store, tmp_path):
    context = multiprocessing.get_context("fork")
    barrier, log = context.Barrier(2), tmp_path / "log"
    workers = [
        context.Process(target=_make_and_count, args=(str(store.root), str(log), barrier)) for _ in range(2)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert [worker.exitcode for worker in workers] == [0, 0]
    assert len(log.read_text().splitlines()) == 1


HOLD = """
import sys, time
from pathlib import Path
from bookcoref_data.sources.store import Store
with Store(Path(sys.argv[1])).lock("work"):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def holder(store):
    """Another process that holds the lock `work`."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(store.root)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.wait()


def test_a_lock_held_elsewhere_is_waited_for_and_told(store, holder):
    with pytest.raises(SourceError, match="another process"), store.lock("work", wait=0.1):
        pass
    with store.lock("other", wait=5):  # an error if it is not had by then
        pass


def test_a_killed_process_leaves_no_stale_lock(store, holder):
    holder.kill()
    holder.wait()
    with store.lock("work", wait=5):  # an error if it is not had by then
        pass


def test_a_file_system_without_locks_gets_lock_files(store, monkeypatch):
    import filelock

    class Unsupported(filelock.FileLock):
        def _acquire(self):
            raise NotImplementedError("this file system has no flock")

    monkeypatch.setattr(filelock, "FileLock", Unsupported)
    with (
        store.lock("work"),
        pytest.raises(SourceError, match="another process"),
        store.lock("work", wait=0.1),
    ):
        pass
    with store.lock("work", wait=0.1):
        pass


def test_nothing_is_cleared_under_a_process_that_works(store, holder):
    store.make("delta", "key", lambda folder: (folder / "a").write_text("x"))
    with pytest.raises(SourceError, match="another process"):
        store.clear()
    assert store.sizes()[0].files == 1


def test_sizes_and_clearing_by_part(store):
    assert store.sizes() == []
    store.make("delta", "key", lambda folder: (folder / "a").write_text("12345"))
    store.make("texts", "key", lambda folder: (folder / "b").write_text("123"))
    assert [tuple(s) for s in store.sizes()] == [("delta", 1, 5), ("texts", 1, 3)]
    with pytest.raises(UsageError, match="delta, texts"):
        store.clear("text")
    assert [s.part for s in store.clear("delta")] == ["delta"]
    assert store.parts() == ["texts"]
    store.clear()
    assert store.sizes() == []


def test_an_unwritable_cache_names_the_variable_that_moves_it(tmp_path):
    (tmp_path / "file").write_text("a file where the cache should be")
    store = Store(tmp_path / "file")
    with pytest.raises(CacheError, match="BOOKCOREF_DATA_HOME") as caught:
        store.make("delta", "key", lambda folder: None)
    assert caught.value.exit_code == 3
    with pytest.raises(CacheError, match="BOOKCOREF_DATA_HOME"), store.lock("work"):
        pass
