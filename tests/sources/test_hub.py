"""A release from the Hub, against a loopback server that speaks the few endpoints needed."""

import gzip
import hashlib
import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from bookcoref_data.errors import ChecksumError, DataError, OfflineError, SourceError
from bookcoref_data.progress import Silent
from bookcoref_data.sources.hub import HubRelease, cached_release, fetch_release, is_offline
from bookcoref_data.sources.release import HEAD_BYTES, Release, ReleaseLayout, kind_of
from bookcoref_data.workflows.rebuild import RebuildSettings, plan_fetch

REPOSITORY, REVISION = "someone/books", "c" * 40
DELTA = json.dumps({"values": list(range(40_000))}).encode()
FILES = {
    "README.md": b"card",
    "bookcoref.py": b"script",
    "bookcoref_annotations/full/test.jsonl": b"{}\n",
    "bookcoref_annotations/split/test_split.jsonl": b"{}\n{}\n",
    "gutenberg_delta.json": DELTA,
    "sentence_lengths.json": b"{}",
    "images/figure.png": b"picture",
}
NEEDED = sorted(path for path in FILES if path.endswith((".jsonl", ".json")))
TREE = f"/api/datasets/{REPOSITORY}/tree/{REVISION}"


def resolve(path):
    return f"/datasets/{REPOSITORY}/resolve/{REVISION}/{path}"


def git_sha1(data):
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


def entry(path, data):
    """A row of the Hub's index; large files are known by their sha256."""
    row = {"type": "file", "path": path, "size": len(data), "oid": git_sha1(data)}
    if path == "gutenberg_delta.json":
        row["lfs"] = {"oid": hashlib.sha256(data).hexdigest(), "size": len(data), "pointerSize": 134}
    return row


@pytest.fixture
def hub(server, reply, tmp_path, monkeypatch):
    """The release to ask for; its files are on the fault server."""
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    # The library reads the variable when it is imported, which another test may have done before.
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    folders = [{"type": "directory", "path": "bookcoref_annotations", "oid": "0" * 40, "size": 0}]
    index = folders + [entry(path, data) for path, data in FILES.items()]
    server.script(TREE, reply(json.dumps(index).encode(), headers={"Content-Type": "application/json"}))
    for path, data in FILES.items():
        tag = f'"{git_sha1(data)}"'
        server.script(resolve(path), reply(data, etag=tag, headers={"X-Repo-Commit": REVISION}))
    return HubRelease(REPOSITORY, REVISION, endpoint=server.url, cache_dir=tmp_path / "hf")


@pytest.fixture
def no_waiting(monkeypatch):
    """The library waits between its tries; the tests do not."""
    monkeypatch.setattr(time, "sleep", lambda seconds: None)


def test_only_the_files_needed_are_fetched_and_the_reader_takes_them(server, store, hub):
    folder = fetch_release(store, hub)
    assert sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()) == NEEDED
    asked = {path for path, _ in server.requests if "/resolve/" in path}
    assert asked == {resolve(path) for path in NEEDED}
    release = Release.open(folder)
    assert set(release.annotations) == {("full", "test"), ("split", "test")}
    assert release.delta.read_bytes() == DELTA


def test_files_of_other_names_are_known_by_their_first_bytes(server, reply, store, hub):
    changes = json.dumps({"_iterable_opcodes": {"root['1342']": [list(range(20_000))]}}).encode()
    lengths = gzip.compress(json.dumps({"1342": list(range(1, 3000)), "2500": [4, 5]}).encode())
    files = {path: data for path, data in FILES.items() if not path.endswith(".json")}
    files |= {"book_changes.json": changes, "cuts.json.gz": lengths, "dataset_infos.json": b'{"full": {}}'}
    index = [entry(path, data) for path, data in files.items()]
    server.script(TREE, reply(json.dumps(index).encode(), headers={"Content-Type": "application/json"}))
    for path, data in files.items():
        tag = f'"{git_sha1(data)}"'
        server.script(resolve(path), reply(data, etag=tag, headers={"X-Repo-Commit": REVISION}))
    notes = []
    folder = fetch_release(replace(store, progress=type("Notes", (Silent,), {"note": notes.append})()), hub)
    assert [note.split(": ")[1] for note in notes] == [
        "book_changes.json is the delta, by its first bytes",
        "cuts.json.gz is the sentence lengths, by its first bytes",
    ]
    release = Release.open(folder)
    assert (release.delta.name, release.lengths.name) == ("book_changes.json", "cuts.json.gz")
    assert release.sentence_lengths()["2500"] == [4, 5]
    assert not (folder / "dataset_infos.json").exists()


def test_the_real_files_are_known_by_their_first_bytes(shared_data):
    names = {"gutenberg_delta.json": "delta", "sentence_lengths.json": "sentence lengths"}
    for name, kind in names.items():
        assert kind_of((shared_data / "release" / name).read_bytes()[:HEAD_BYTES]) == kind


def test_a_fetched_release_needs_neither_network_nor_library(server, store, hub, no_network, monkeypatch):
    folder = fetch_release(store, hub)
    no_network()
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    assert cached_release(store, hub) == folder
    assert fetch_release(store, hub) == folder
    assert fetch_release(store, hub, offline=True) == folder


def test_the_plan_opens_nothing(server, store, hub):
    assert cached_release(store, hub) is None
    assert server.requests == []
    folder = fetch_release(store, hub)
    assert cached_release(store, hub) == folder


@pytest.mark.parametrize(("offline", "variable", "found"), [
    (False, "", False), (True, "", True), (False, "1", True), (False, "0", False),
])  # fmt: skip
def test_the_network_is_off_where_the_caller_or_the_environment_says_so(
    offline, variable, found, tmp_path, monkeypatch
):
    """The plan for data sets of others took the word of the caller alone."""
    monkeypatch.setenv("HF_HUB_OFFLINE", variable)
    assert is_offline(offline) is found
    asked = RebuildSettings(out=tmp_path, release=Path("hf:a/b"), cache_dir=tmp_path, offline=offline)
    assert [row.action for row in plan_fetch(asked)] == ["missing" if found else "fetch"]


def test_a_release_with_a_file_gone_is_not_taken_for_whole(store, hub):
    folder = fetch_release(store, hub)
    (folder / "sentence_lengths.json").unlink()
    assert cached_release(store, hub) is None
    assert fetch_release(store, hub) == folder
    assert cached_release(store, hub) == folder


@pytest.mark.parametrize("way", ["argument", "HF_HUB_OFFLINE"])
def test_offline_asks_nobody(server, store, hub, monkeypatch, no_network, way):
    no_network()
    if way != "argument":
        monkeypatch.setenv(way, "1")
    with pytest.raises(OfflineError, match="--release DIR") as caught:
        fetch_release(store, hub, offline=way == "argument")
    assert (caught.value.exit_code, server.requests) == (3, [])


def test_offline_takes_what_another_program_has_fetched(server, store, hub, tmp_path, no_network):
    folder = fetch_release(store, hub)
    store.clear()
    no_network()
    assert fetch_release(store, hub, offline=True) == folder


def test_offline_with_half_a_release_is_told(server, store, hub):
    folder = fetch_release(store, hub)
    store.clear()
    (folder / "gutenberg_delta.json").unlink()
    with pytest.raises(OfflineError, match="network is switched off"):
        fetch_release(store, hub, offline=True)


def test_missing_files_are_told_with_what_was_found(store, hub):
    other = HubRelease(
        REPOSITORY,
        REVISION,
        ReleaseLayout(delta=("changes.json",)),
        endpoint=hub.endpoint,
        cache_dir=hub.cache_dir,
    )
    with pytest.raises(SourceError, match=r"changes\.json") as caught:
        fetch_release(store, other)
    assert "gutenberg_delta.json" in str(caught.value)
    assert "sentence_lengths.json" in str(caught.value)


@pytest.mark.parametrize(
    ("status", "code", "message"),
    [
        (404, "RevisionNotFound", "no revision"),
        (404, "RepoNotFound", "does not show"),
        (401, "RepoNotFound", "log in"),
        (403, "GatedRepo", "agree"),
        (500, "", "cannot fetch"),
    ],
)
def test_refusals_of_the_hub_come_with_a_next_step(
    server, reply, store, hub, no_waiting, status, code, message
):
    server.script(TREE, reply(b"{}", status, {"X-Error-Code": code} if code else {}))
    with pytest.raises(SourceError, match=message) as caught:
        fetch_release(store, hub)
    assert "--release DIR" in caught.value.hint
    assert caught.value.exit_code == 3
    assert cached_release(store, hub) is None


def test_no_hub_at_all(server, store, hub, no_waiting):
    server.close()
    with pytest.raises(SourceError, match="cannot fetch"):
        fetch_release(store, hub)


def test_a_broken_download_goes_on_where_it_stopped(server, reply, store, hub, no_waiting):
    """The library keeps whole pieces of 10 MB."""
    large = bytes(range(256)) * 90_000
    index = [entry(path, data) for path, data in {**FILES, "gutenberg_delta.json": large}.items()]
    server.script(TREE, reply(json.dumps(index).encode(), headers={"Content-Type": "application/json"}))
    whole = {"body": large, "etag": f'"{git_sha1(large)}"', "headers": {"X-Repo-Commit": REVISION}}
    delta = resolve("gutenberg_delta.json")
    server.script(delta, reply(**whole), reply(stop=21 << 20, **whole), reply(**whole))
    folder = fetch_release(store, hub)
    assert (folder / "gutenberg_delta.json").read_bytes() == large
    assert [h["range"] for h in server.asked(delta) if "range" in h] == [f"bytes={20 << 20}-"]


def test_a_file_with_another_sum_is_refused_and_fetched_anew(server, reply, store, hub):
    damaged = DELTA[:-10] + b"0123456789"
    tag = {"etag": f'"{git_sha1(DELTA)}"', "headers": {"X-Repo-Commit": REVISION}}
    delta = resolve("gutenberg_delta.json")
    server.script(delta, reply(damaged, **tag))
    with pytest.raises(ChecksumError, match=hashlib.sha256(DELTA).hexdigest()) as caught:
        fetch_release(store, hub)
    assert caught.value.exit_code == 4
    assert cached_release(store, hub) is None
    server.script(delta, reply(DELTA, **tag))
    assert (fetch_release(store, hub) / "gutenberg_delta.json").read_bytes() == DELTA


def test_a_name_in_the_index_cannot_leave_the_cache(server, reply, store, hub, tmp_path):
    for name in ("bookcoref_annotations/full/..", "bookcoref_annotations/full/ x"):
        index = [entry(path, data) for path, data in {**FILES, f"{name}.jsonl": b"x"}.items()]
        server.script(TREE, reply(json.dumps(index).encode(), headers={"Content-Type": "application/json"}))
        with pytest.raises(DataError, match="the file name"):
            fetch_release(store, hub)
    assert list(tmp_path.rglob("*.jsonl")) == []


@pytest.mark.long
def test_hf_home_and_hf_endpoint_are_honoured(server, hub, tmp_path):
    code = (
        "import sys; from bookcoref_data.sources.hub import HubRelease, fetch_release;"
        "from bookcoref_data.sources.store import Store;"
        f"print(fetch_release(Store.open(sys.argv[1]), HubRelease({REPOSITORY!r}, {REVISION!r})))"
    )
    home = tmp_path / "home"
    variables = {**os.environ, "HF_HOME": str(home), "HF_ENDPOINT": server.url}
    variables.pop("HF_HUB_CACHE", None)
    out = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "ours")], env=variables, capture_output=True, text=True
    )
    assert out.returncode == 0, out.stderr
    assert out.stdout.startswith(str(home))
