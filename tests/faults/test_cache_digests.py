"""What lies in the cache is checked when it is used; what was altered is fetched or made again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bookcoref_data.errors import OfflineError
from bookcoref_data.files import sha256_bytes
from bookcoref_data.progress import Silent
from bookcoref_data.sources.editions import Address, Edition, EditionFile, Editions, KnownEditions
from bookcoref_data.sources.gutenberg import Texts
from bookcoref_data.workflows.engine import intact
from bookcoref_data.workflows.rebuild import RebuildSettings, prepare, rebuild

LAYOUT = ("cache/epub/{id}/pg{id}.txt",)


class Heard(Silent):
    """A listener that keeps the notes."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, message: str) -> None:
        self.notes.append(message)


def flip(path: Path, at: int = -40) -> None:
    """Turn one bit of a file round."""
    data = bytearray(path.read_bytes())
    data[at % len(data)] ^= 1
    path.write_bytes(bytes(data))


def known(data: bytes) -> Edition:
    text = sha256_bytes(data.decode("utf-8").replace("\r\n", "\n").encode())
    file = EditionFile(LAYOUT[0].replace("{id}", "4321"), sha256_bytes(data), len(data), "utf-8")
    return Edition(text, "first", (file,))


@pytest.fixture
def texts(server, store, make_fetcher):
    """Make a finder of book 4321 on the fault server; its listener is `.fetcher.progress`."""

    def make(*editions: Edition, **options) -> Texts:
        fetcher = make_fetcher(offline=options.get("offline", False))
        fetcher.progress = Heard()
        book = KnownEditions("The Lamp at Hollow Ferry", editions)
        addresses = (Address(f"{server.url}/pg{{id}}.txt", "current"),)
        return Texts(store, fetcher=fetcher, editions=Editions(addresses, LAYOUT, {"4321": book}), **options)

    return make


@pytest.mark.parametrize("is_known", [True, False])
def test_a_flipped_bit_in_a_cached_text_is_noticed_and_repaired(texts, server, reply, make_book, is_known):
    data = make_book()
    editions = [known(data)] if is_known else []
    server.script("/pg4321.txt", reply(data))
    flip(texts(*editions).get(4321).path)
    again = texts(*editions)
    assert again.get(4321).path.read_bytes() == data
    assert len(server.requests) == 2
    assert any("it is not what was fetched" in note for note in again.fetcher.progress.notes)


def test_offline_a_damaged_text_is_named_and_not_served(texts, server, reply, make_book):
    server.script("/pg4321.txt", reply(make_book()))
    path = texts().get(4321).path
    flip(path)
    with pytest.raises(OfflineError, match="damaged since it was fetched"):
        texts(offline=True).get(4321)
    assert not path.exists()


def test_a_damaged_note_costs_nothing_but_its_address(texts, server, reply, make_book):
    data = make_book()
    server.script("/pg4321.txt", reply(data))
    first = texts(known(data)).get(4321)
    flip(first.path.with_suffix(".json"), 20)
    again = texts(known(data)).get(4321)
    assert (again.path, again.text_sha256, len(server.requests)) == (first.path, first.text_sha256, 1)


def test_the_plan_neither_writes_nor_trusts_a_damaged_text(texts, server, reply, make_book):
    server.script("/pg4321.txt", reply(make_book()))
    path = texts().get(4321).path
    flip(path)
    assert [row.action for row in texts().plan([4321])] == ["fetch"]
    assert path.exists()


def test_a_transfer_that_was_damaged_is_asked_for_again(texts, server, reply, make_book):
    """One wrong letter, then the server heals: whoever cannot use the text gets the right one."""
    data = make_book()
    wrong = data.replace(b"lamp", b"lomp", 1)
    server.script("/pg4321.txt", reply(wrong, etag=None), reply(data, etag=None))
    assert texts(known(data)).get(4321).path.read_bytes() == wrong
    again = texts(known(data))
    offered = [text.path.read_bytes() for text in again.candidates(4321)]
    assert offered == [wrong, data]
    assert any("arrived damaged" in note for note in again.fetcher.progress.notes)
    # The wrong one is gone, and the right one is known: nothing is asked any more.
    assert [text.path.read_bytes() for text in texts(known(data)).candidates(4321)] == [data]
    assert len(server.requests) == 2


@pytest.mark.parametrize("changed", [True, False])
def test_a_mirror_file_that_differs_is_reported(texts, tmp_path, make_book, changed):
    data = make_book()
    path = tmp_path / "mirror/cache/epub/4321/pg4321.txt"
    path.parent.mkdir(parents=True)
    path.write_bytes(data.replace(b"lamp", b"lomp", 1) if changed else data)
    finder = texts(known(data), mirror=tmp_path / "mirror")
    finder.get(4321)
    notes = finder.fetcher.progress.notes
    assert len(notes) == changed
    if changed:
        assert sha256_bytes(data)[:16] in notes[0]
        assert sha256_bytes(path.read_bytes())[:16] in notes[0]


# -- rebuilds --------------------------------------------------------------------------------------------


def run(world, heard: Heard, **more):
    asked = {
        "release": world.release,
        "mirror": str(world.mirror),
        "out": world.root / "out",
        "offline": True,
    }
    plan = prepare(RebuildSettings(**asked | more), heard)
    return rebuild(plan, jobs=1, progress=heard)


def test_every_part_of_the_cache_is_checked_and_repaired(world, cache_home):
    """A flipped bit in each file of a split release and of the finished books changes no row."""
    first = run(world, Heard())
    assert first.failed == {}
    parts = [p for p in sorted((cache_home / "release").rglob("*")) if p.is_file()]
    books = [p for p in sorted((cache_home / "books").rglob("*")) if p.is_file()]
    assert len(parts) == 6
    assert len(books) >= 6
    for path in parts:
        flip(path)
        assert not intact(path.parent)
        heard = Heard()
        prepare(RebuildSettings(release=world.release, mirror=str(world.mirror), out=world.root / "o"), heard)
        assert any("split again" in note for note in heard.notes)
        assert intact(path.parent)
    for path in books:
        flip(path)
    heard = Heard()
    again = run(world, heard, out=world.root / "again")
    assert (again.failed, again.record.digest) == ({}, first.record.digest)
    assert set(again.built) == set(world.keys)
    assert sum("damaged" in note for note in heard.notes) == 2


def test_a_wrong_span_in_a_cached_part_never_reaches_the_data_set(world, cache_home):
    first = run(world, Heard())
    (part,) = (cache_home / "release").rglob("one_11.jsonl")
    part.write_text(part.read_text().replace("[3, 4]", "[3, 8]"))
    again = run(world, Heard(), out=world.root / "again")
    assert again.record.digest == first.record.digest


def test_a_cached_run_writes_no_lock_into_a_cache_that_cannot_be_written(world, cache_home, monkeypatch):
    """As root no folder is read-only, so the lock itself is made to fail."""
    from bookcoref_data.sources.store import CacheError, Store

    first = run(world, Heard())

    def refuse(self, name, wait=0.0):
        raise CacheError("no right to write")

    monkeypatch.setattr(Store, "lock", refuse)
    again = run(world, Heard(), out=world.root / "again")
    assert again.record.digest == first.record.digest


def test_a_damaged_pack_stops_only_its_own_book(world):
    from bookcoref_data.workflows.pack import pack_plan

    folder = world.root / "packs"
    asked = RebuildSettings(
        release=world.release, mirror=str(world.mirror), out=world.root / "p", offline=True
    )
    pack_plan(prepare(asked), folder, world.root / "work", jobs=1)
    index = json.loads((folder / "index.json").read_text())
    assert {entry["licence"] for entry in index["packs"]} == {"CC BY-NC-SA 4.0"}
    for fault in (lambda p: flip(p, 300), lambda p: p.unlink(), lambda p: p.write_bytes(b"")):
        kept = (folder / "one_11.pack").read_bytes()
        fault(folder / "one_11.pack")
        report = run(world, Heard(), release=folder, out=world.root / "from-packs", replace=True)
        assert list(report.failed) == ["one_11"]
        assert [b.doc_key for b in report.record.books] == ["two_12"]
        (folder / "one_11.pack").write_bytes(kept)
    # Another book under the right name is whole, but not what the index states.
    (folder / "one_11.pack").write_bytes((folder / "two_12.pack").read_bytes())
    report = run(world, Heard(), release=folder, out=world.root / "from-packs", replace=True)
    assert "not the pack that its index names" in str(report.failed["one_11"])
