"""Data set folders and caches that are damaged, tampered with, or at odd places: named, never a traceback."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bookcoref_data.books import Book
from bookcoref_data.errors import FormatError, SourceError
from bookcoref_data.formats.folder import read_build, write_folder
from bookcoref_data.sources.store import Store
from bookcoref_data.workflows.engine import finished, intact
from bookcoref_data.workflows.packed import pack_parts
from bookcoref_data.workflows.verify import read_manifest, verify, write_manifest

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("built") / "d"
    book = Book.make("b_1", [["a", "b"], ["x"]], gutenberg_key="1", clusters=[[(0, 0)]])
    write_folder(out, {"test": [book]}, title="T", licences=[("Text", "ours")])
    return out


@pytest.fixture
def copy(built, tmp_path) -> Path:
    return Path(shutil.copytree(built, tmp_path / "d"))


def damaged(path: tuple[str | int, ...], value: object):
    """A change of one place in the record to a value of another kind."""

    def change(record):
        place = record
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = value

    return change


SHAPES = {
    "books is a table": damaged(("books",), {}),
    "books is empty": damaged(("books",), []),
    "a book is a number": damaged(("books", 0), 5),
    "tokens is text": damaged(("books", 0, "tokens"), "5"),
    "tokens is true": damaged(("books", 0, "tokens"), True),
    "tokens is beyond all bounds": damaged(("books", 0, "tokens"), 10**30),
    "notes is text": damaged(("books", 0, "notes"), "abc"),
    "a note is a number": damaged(("books", 0, "notes"), [1]),
    "text is a list": damaged(("books", 0, "text"), []),
    "a key has half a letter": damaged(("books", 0, "doc_key"), "\ud800"),
    "an unknown fact": damaged(("books", 0, "more"), 1),
    "digest is a number": damaged(("digest",), 1),
    "digest is short": damaged(("digest",), "ab"),
    "title is missing": lambda record: record.pop("title"),
    "missing is a list": damaged(("missing",), ["x"]),
    "a reason is a number": damaged(("missing",), {"a": 1}),
    "files is a list": damaged(("files",), []),
    "a file without size": damaged(("files", "README.md"), {}),
    "a file outside": damaged(("files", "../x"), {"bytes": 1, "sha256": "0" * 64}),
    "source is text": damaged(("source",), "x"),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_damaged_record_is_refused_by_name(copy, shape):
    record = json.loads((copy / "build.json").read_text())
    SHAPES[shape](record)
    (copy / "build.json").write_text(json.dumps(record))
    with pytest.raises(FormatError, match=r"build\.json"):
        read_build(copy)


@pytest.mark.parametrize("text", ["", "[]", "7", "null", "{", '{"format": 1}', "[" * 100_000, "\x00", "\xff"])
def test_a_record_that_is_none_is_refused(copy, text):
    (copy / "build.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(FormatError):
        read_build(copy)


@pytest.mark.parametrize(
    "text", ["", "[]", "null", "[" * 100_000, '{"format": 1, "digest": "x"}', '{"books": 1}']
)
def test_a_manifest_that_is_none_is_refused(tmp_path, text):
    (tmp_path / "m.json").write_text(text)
    with pytest.raises(FormatError):
        read_manifest(tmp_path / "m.json")


def test_a_manifest_that_contradicts_itself_is_refused(copy, tmp_path):
    from bookcoref_data.errors import ChecksumError

    write_manifest(copy, tmp_path / "m.json")
    value = json.loads((tmp_path / "m.json").read_text())
    value["books"]["b_1"]["document_sha256"] = "0" * 64
    (tmp_path / "m.json").write_text(json.dumps(value))
    with pytest.raises(ChecksumError, match="contradicts itself"):
        verify(copy, manifest=tmp_path / "m.json")


def test_mentions_that_a_manifest_states_are_compared_even_where_the_digest_is_equal(copy, tmp_path):
    write_manifest(copy, tmp_path / "m.json")
    value = json.loads((tmp_path / "m.json").read_text())
    value["books"]["b_1"]["mentions"] += 1
    (tmp_path / "m.json").write_text(json.dumps(value))
    assert verify(copy, manifest=tmp_path / "m.json").exit_code == 4


# -- finished work in the cache ----------------------------------------------------------------------


def fill(folder: Path) -> None:
    (folder / "a").write_bytes(b"finished work")


@pytest.mark.parametrize("damage", ["flip", "cut", "gone", "added", "sums gone", "sums broken"])
def test_finished_work_is_checked_on_use_and_made_again(tmp_path, damage):
    store = Store(tmp_path / "cache")
    first = finished(store, "books", "key", fill)
    assert (first.fresh, finished(store, "books", "key", fill).fresh) == (True, False)
    path, sums = first.folder / "a", first.folder / "sha256.json"
    if damage == "flip":
        path.write_bytes(b"finished wosk")
    elif damage == "cut":
        path.write_bytes(b"finished")
    elif damage == "gone":
        path.unlink()
    elif damage == "added":
        (first.folder / "b").write_text("more")
    elif damage == "sums gone":
        sums.unlink()
    else:
        sums.write_text("[1]")
    again = finished(store, "books", "key", fill)
    assert (again.fresh, again.repaired) == (True, True)
    assert path.read_bytes() == b"finished work"
    assert intact(again.folder)
    assert [p.name for p in (store.root / "books").iterdir()] == ["key"]


@pytest.mark.long
def test_a_damaged_finished_book_is_repaired_and_reported(world, capsys):
    from bookcoref_data.workflows.rebuild import RebuildSettings, prepare, rebuild

    def run(out: str):
        return rebuild(prepare(RebuildSettings(out=world.root / out, release=world.release, offline=True,
                                        mirror=str(world.mirror))), jobs=1)  # fmt: skip

    first = run("one")
    path = first.finished["one_11"] / "full.arrow"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))
    second = run("two")
    assert second.repaired == ["one_11"]
    assert second.record.digest == first.record.digest
    assert second.to_dict()["repaired"] == ["one_11"]


# -- packs -------------------------------------------------------------------------------------------


@pytest.mark.long
def test_one_missing_or_damaged_pack_stops_no_other_book(world):
    from bookcoref_data.workflows.pack import pack_plan
    from bookcoref_data.workflows.rebuild import RebuildSettings, prepare, rebuild

    packs = world.root / "packs"
    asked = RebuildSettings(
        out=world.root / "d", release=world.release, offline=True, mirror=str(world.mirror)
    )
    pack_plan(prepare(asked), packs, world.root / "work", jobs=1)

    def run(*books: str):
        wanted = RebuildSettings(out=world.root / "e", release=packs, offline=True, mirror=str(world.mirror),
                          books=books, replace=True, cache_dir=world.root / "fresh")  # fmt: skip
        return rebuild(prepare(wanted), jobs=1)

    whole = (packs / "two_12.pack").read_bytes()
    (packs / "two_12.pack").write_bytes(whole[:-9] + b"X" + whole[-8:])
    report = run()
    assert report.built == ["one_11"]
    assert report.failed["two_12"].exit_code == 4
    (packs / "two_12.pack").unlink()
    assert list(run().failed) == ["two_12"]
    assert run("one_11").failed == {}
    (packs / "index.json").unlink()
    (packs / "two_12.pack").write_bytes(whole[:40])
    assert [p.doc_key for p in pack_parts(packs)[1]] == ["one_11", "two_12"]
    assert list(run().failed) == ["two_12"]


# -- the command line --------------------------------------------------------------------------------


def run_command(*words: object, **variables: str) -> subprocess.CompletedProcess[bytes]:
    code = "from bookcoref_data.cli import main; main()"
    env = {k: v for k, v in os.environ.items() if k not in ("LC_ALL", "LANG")} | variables
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, words)], env=env, capture_output=True, check=False
    )


def test_errors_are_json_on_stdout_when_json_is_asked_for(tmp_path):
    ran = run_command("verify", tmp_path, "--json")
    assert ran.returncode == 1
    assert json.loads(ran.stdout)["error"]["exit_code"] == 1
    assert b"not a built data set folder" in ran.stderr


@pytest.mark.parametrize("words", [
    ("cache", "size", "--cache-dir", "~nosuchuser/x"), ("stats", "~nosuchuser/x"),
    ("verify", "~nosuchuser/x"), ("merge", "~nosuchuser/x", "--out", "m"),
    ("evaluate", "-k", "~nosuchuser/x", "-r", "~nosuchuser/y"), ("pack", "inspect", "~nosuchuser/x"),
    ("export", "~nosuchuser/x", "--to", "csv", "--out", "o"), ("view", "~nosuchuser/x", "--out", "o.html"),
    ("annotate", "~nosuchuser/x"), ("rebuild", "--from-gutenberg", "--mirror", "~nosuchuser/x"),
    ("verify", "x" * 300),
    ("manifest", "write", "--out", "x" * 300),
    ("verify", "--manifest", "/dev/zero/x"),
])  # fmt: skip
def test_odd_paths_make_no_traceback(words, capsys, monkeypatch):
    from bookcoref_data.cli import app

    monkeypatch.setattr(sys, "argv", ["bookcoref-data", *words])
    with pytest.raises(SystemExit) as ended:
        app.main()
    assert ended.value.code in (1, 2, 3)
    assert "error: " in capsys.readouterr().err


@pytest.mark.long
def test_a_locale_without_letters_changes_no_exit_code(copy, tmp_path):
    tiny = tmp_path / "tiny.jsonl"
    spans = {"clusters": [[[0, 0]]], "characters": [{"name": "\u00c9mile", "mentions": [[0, 0]]}]}
    tiny.write_text(json.dumps({"doc_key": "tiny", "sentences": [["\u00c9mile", "came"]], **spans}) + "\n")
    data = bytearray((copy / "full/test.parquet").read_bytes())
    data[10] ^= 4
    (copy / "full/test.parquet").write_bytes(bytes(data))
    ran = run_command("verify", copy, LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    assert ran.returncode == 4
    assert b"Traceback" not in ran.stderr
    # Standard error writes numbers for letters in any case; standard output must be told to.
    ran = run_command("show", tiny, LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    assert ran.returncode == 0, ran.stderr
    assert b"\\xc9" in ran.stdout


def test_a_dry_run_lists_everything_and_writes_nothing(world, cache_home):
    from bookcoref_data.workflows.rebuild import RebuildSettings, plan_fetch

    local = RebuildSettings(
        out=world.root / "x", release=world.release, mirror=str(world.mirror), offline=True
    )
    assert [(r.gutenberg_id, r.action) for r in plan_fetch(local)] == [("11", "mirror"), ("12", "mirror")]
    official, *texts = plan_fetch(RebuildSettings(out=world.root / "x", offline=False))
    assert len(texts) == 52
    assert official.action in ("fetch", "missing")  # missing where HF_HUB_OFFLINE is set
    assert official.bytes > 100_000_000
    assert not cache_home.exists()


def test_a_fully_cached_run_needs_no_writable_cache(world, monkeypatch):
    from bookcoref_data.sources import store as room
    from bookcoref_data.workflows.rebuild import RebuildSettings, prepare, rebuild

    asked = RebuildSettings(
        out=world.root / "d", release=world.release, mirror=str(world.mirror), offline=True
    )
    first = rebuild(prepare(asked), jobs=1)

    def read_only(*args: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(room.Store, "_acquire", read_only)
    monkeypatch.setattr(room.tempfile, "mkdtemp", read_only)
    assert rebuild(prepare(asked), jobs=1).unchanged
    assert first.record is not None


def test_a_manifest_that_is_a_pipe_is_refused(copy, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(SourceError, match="a pipe, a device or a socket"):
        verify(copy, manifest=tmp_path / "pipe")


@pytest.mark.parametrize("stream", [0, 1, 2])
def test_a_stream_that_the_caller_closed_leads_nowhere(tmp_path, stream):
    """A file that was opened later had the number of the stream, or nothing was there to ask or to say."""
    (tmp_path / "tiny.jsonl").write_text('{"doc_key": "a", "sentences": [["Ann"]], "clusters": [[[0, 0]]]}\n')
    code = "from bookcoref_data.cli import main; main()"
    words = [sys.executable, "-c", code, "convert", "-" if stream == 0 else "tiny.jsonl", "out.conll"]
    command = shlex.join([*words, "--from", "jsonl"])
    ran = subprocess.run(
        ["sh", "-c", f"{command} {stream}>&-"], cwd=tmp_path, capture_output=True, check=False
    )
    assert b"Traceback" not in ran.stderr
    assert (b"- holds no document" in ran.stderr) == (stream == 0)
    assert (ran.returncode, (tmp_path / "out.conll").exists()) == ((1, False) if stream == 0 else (0, True))


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no disk that is always full")
def test_a_full_disk_behind_the_output_is_said_in_words():
    with open("/dev/full", "wb") as full:
        ran = subprocess.run(
            [sys.executable, "-c", "from bookcoref_data.cli import main; main()", "list", "--json"],
            stdout=full, stderr=subprocess.PIPE, check=False,
        )  # fmt: skip
    assert ran.returncode == 3
    assert b"No space left" in ran.stderr
    assert b"Traceback" not in ran.stderr
