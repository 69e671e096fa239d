"""Packs of whole releases: from the official layout and from a built folder, and back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import bookcoref_data as bc
from bookcoref_data.cli.app import make_app
from bookcoref_data.errors import BookcorefError, DataError, EditionError, FormatError, UsageError
from bookcoref_data.formats.folder import read_folder
from bookcoref_data.sources.store import Store
from bookcoref_data.stitch.pack import read_pack
from bookcoref_data.text.decode import decode
from bookcoref_data.workflows.pack import pack_folder, pack_plan
from bookcoref_data.workflows.packed import describe, pack_book, pack_files
from bookcoref_data.workflows.rebuild import RebuildSettings, prepare, rebuild, texts_of


def settings(world, **more) -> RebuildSettings:
    return RebuildSettings(out=world.root / "out", release=world.release, mirror=str(world.mirror), **more)


@pytest.fixture
def packed(world):
    report = pack_plan(prepare(settings(world)), world.root / "packs", world.root / "work", jobs=1)
    return world, report


def test_every_book_of_a_release_comes_back_with_its_windows(packed):
    world, report = packed
    assert [p.doc_key for p in report.packs] == list(world.keys)
    assert not report.failed
    full = {r.doc_key: r for r in read_folder(world.root / "work", "full")}
    split = [r.to_book() for r in read_folder(world.root / "work", "split")]
    made = []
    for entry in report.packs:
        pack = read_pack((world.root / "packs" / entry.file).read_bytes())
        book = pack.book(decode(world.raw(entry.gutenberg_key).read_bytes()).text)
        assert book == full[entry.doc_key].to_book()
        made += pack.window_books(book)
    assert made == split


def test_the_index_states_what_lies_beside_it(packed):
    world, _ = packed
    index = json.loads((world.root / "packs/index.json").read_text())
    assert index["format"] == 1
    for entry, path in zip(index["packs"], pack_files(world.root / "packs"), strict=True):
        assert path.stat().st_size == entry["bytes"]
        assert describe(path)["doc_key"] == entry["doc_key"]
        assert describe(path)["tokens"] == entry["tokens"]


def test_packing_twice_gives_the_same_files(packed, world):
    _, first = packed
    again = pack_plan(prepare(settings(world)), world.root / "again", world.root / "work2", jobs=1)
    assert [p.sha256 for p in first.packs] == [p.sha256 for p in again.packs]


def test_a_built_folder_and_its_texts_give_the_same_packs(packed):
    world, first = packed
    asked = settings(world)
    rebuild(prepare(asked), jobs=1)
    candidates = texts_of(asked, Store.open(None)).candidates
    report = pack_folder(world.root / "out", candidates, world.root / "again", jobs=1)
    assert [p.sha256 for p in report.packs] == [p.sha256 for p in first.packs]


def test_only_the_books_of_a_built_folder_that_are_named_are_packed(world):
    asked = settings(world)
    rebuild(prepare(asked), jobs=1)
    where = {"mirror": world.mirror, "fingerprint_bits": 0, "jobs": 1}
    for name in world.keys:
        made = bc.pack(world.root / "out", world.root / name, books=[name], **where)
        assert [p.doc_key for p in made.report.packs] == [name]
    with pytest.raises(UsageError, match="no book 'nobody'"):
        bc.pack(world.root / "out", world.root / "none", books=["nobody"], **where)


def test_a_folder_whose_text_is_gone_is_told_by_book(packed, tmp_path):
    world, _ = packed

    def candidates(number):
        return iter(())

    with pytest.raises(DataError, match="no book could be packed"):
        pack_folder(world.root / "work", candidates, tmp_path / "none", jobs=1)


def test_one_file_for_several_books_is_refused(world):
    with pytest.raises(UsageError, match="one file"):
        pack_plan(prepare(settings(world)), world.root / "all.pack", world.root / "work", jobs=1)


def test_one_book_may_be_one_file(world):
    plan = prepare(settings(world, books=("11",)))
    report = pack_plan(plan, world.root / "one.pack", world.root / "work", jobs=1)
    assert read_pack((world.root / "one.pack").read_bytes()).doc_key == report.packs[0].doc_key


def test_settings_reach_the_pack(world):
    plan, out = prepare(settings(world, books=("11",))), world.root / "a.pack"
    pack_plan(plan, out, world.root / "work", settings={"fingerprint_bits": 0}, jobs=1)
    assert describe(out)["fingerprint_bits"] == 0


def test_windows_that_are_no_partition_are_refused(packed):
    world, _ = packed
    book = read_folder(world.root / "work", "full")[0].to_book()
    windows = [r.to_book() for r in read_folder(world.root / "work", "split")][:1]
    with pytest.raises(DataError, match="partition"):
        pack_book(book, [*windows, *windows], "text")


@pytest.mark.parametrize("name", ["../evil.pack", "/etc/passwd", "a/b.pack", ""])
def test_an_index_cannot_name_files_outside_its_folder(tmp_path, name):
    (tmp_path / "index.json").write_text(json.dumps({"format": 1, "packs": [{"file": name}]}))
    with pytest.raises(BookcorefError):
        pack_files(tmp_path)


@pytest.mark.parametrize("index", ["", "[]", '{"packs": 3}', '{"packs": [{}]}', '{"packs": [3]}'])
def test_a_broken_index_is_named(tmp_path, index):
    (tmp_path / "index.json").write_text(index)
    with pytest.raises(FormatError, match="index"):
        pack_files(tmp_path)


def run(*args: object):
    return CliRunner().invoke(make_app(), [str(a) for a in args])


def test_the_verb_packs_and_inspects(world):
    out = world.root / "packs"
    done = run("pack", "--release", world.release, "--mirror", world.mirror, "--out", out, "-j", 1, "--json")
    assert done.exit_code == 0, done.output
    facts = json.loads(done.stdout)
    assert [p["doc_key"] for p in facts["packs"]] == list(world.keys)
    shown = run("pack", "inspect", out, "--json")
    assert [f["doc_key"] for f in json.loads(shown.stdout)] == list(world.keys)
    assert "made from" in run("pack", "inspect", out).stdout
    single = run("pack", "inspect", next(Path(out).glob("*.pack")))
    assert "META" in single.stdout


def test_the_verb_wants_to_know_what_and_where():
    result = run("pack")
    assert isinstance(result.exception, UsageError)


def test_a_file_that_is_no_pack_is_told(tmp_path):
    (tmp_path / "x.pack").write_text("not a pack")
    result = run("pack", "inspect", tmp_path / "x.pack")
    assert isinstance(result.exception, FormatError)


def test_the_wrong_text_for_a_book_is_an_edition_error(packed):
    world, report = packed
    pack = read_pack((world.root / "packs" / report.packs[0].file).read_bytes())
    with pytest.raises(EditionError):
        pack.book("Some other book altogether. " * 2000)
