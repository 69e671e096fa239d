"""Nothing of the user's is replaced or removed: folders, files, caches, and books that a run cannot build."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from bookcoref_data.books import Book
from bookcoref_data.cli.app import make_app
from bookcoref_data.errors import BookcorefError, SourceError, UsageError
from bookcoref_data.files import write_text
from bookcoref_data.formats.folder import check_replaceable, read_build, write_folder
from bookcoref_data.guard import CACHE_TAG, mark_cache
from bookcoref_data.sources.store import Store
from bookcoref_data.workflows.verify import write_manifest

LICENCES = [("Text", "ours")]


def book(key="b_1", token="x", clusters=((0, 0),)):
    return Book.make(key, [["a", "b"], [token]], gutenberg_key="1", clusters=[clusters] if clusters else [])


def write(out: Path, *books: Book, **options: bool):
    return write_folder(out, {"test": books or (book(),)}, title="T", licences=LICENCES, **options)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def command(*words: object) -> int:
    """The exit code of a command line, run in this process."""
    try:
        return make_app()([str(w) for w in words], standalone_mode=False) or 0
    except BookcorefError as error:
        return error.exit_code


# -- folders that are not ours -----------------------------------------------------------------------


def not_json(out):
    (out / "build.json").write_text("{}")


def a_record_of_another_tool(out):
    (out / "build.json").write_text(json.dumps({"format": 1, "files": {"thesis.tex": {}}, "books": []}))


def a_record_that_lists_the_thesis(out):
    write(out / "d")
    value = json.loads((out / "d/build.json").read_text())
    value["files"]["thesis.tex"] = value["files"]["README.md"]
    (out / "build.json").write_text(json.dumps(value))


def a_good_record_among_other_files(out):
    write(out / "d")
    (out / "d/build.json").rename(out / "build.json")


def nothing(out):
    pass


@pytest.mark.parametrize(
    "prepare",
    [nothing, not_json, a_record_of_another_tool, a_record_that_lists_the_thesis,
     a_good_record_among_other_files],
)  # fmt: skip
def test_a_folder_that_is_not_ours_is_refused_with_a_list(tmp_path, prepare, cache_home, capsys):
    out = tmp_path / "p"
    (out / ".git").mkdir(parents=True)
    (out / "thesis.tex").write_text("years of work")
    prepare(out)
    before = contents(out)
    with pytest.raises(UsageError) as error:
        check_replaceable(out)
    assert "thesis.tex" in str(error.value)
    assert ".git/" in str(error.value)
    with pytest.raises(UsageError):
        write(out)
    assert contents(out) == before
    assert (out / ".git").is_dir()
    if prepare is not a_good_record_among_other_files:
        assert command("rebuild", "--sample", "--out", out, "-j", "1", "--replace") == 2
        assert contents(out) == before


def test_files_of_the_user_in_a_data_set_folder_survive(tmp_path):
    out = tmp_path / "d"
    write(out)
    (out / "notes.txt").write_text("mine")
    (out / "full/plot.png").write_bytes(b"mine, too")
    with pytest.raises(UsageError, match=r"did not write: full/plot\.png, notes\.txt"):
        write(out, book(token="y"))
    record = write_folder(out, {"train": [book(token="y")]}, title="T", licences=LICENCES, replace=True)
    assert read_build(out) == record
    found = contents(out)
    assert (found["notes.txt"], found["full/plot.png"]) == (b"mine", b"mine, too")
    assert set(found) == {
        "README.md", "build.json", "full/train.parquet", "split/train.parquet", "notes.txt", "full/plot.png",
    }  # fmt: skip
    assert [p.name for p in tmp_path.iterdir()] == ["d"]


def test_a_cache_inside_a_data_set_folder_survives_and_is_no_obstacle(tmp_path, monkeypatch):
    out = tmp_path / "d"
    Store(out / "cache").make("books", "key", lambda folder: (folder / "a").write_text("work"))
    write(out)
    write(out, book(token="y"))
    assert (out / "cache/books/key/a").read_text() == "work"
    assert read_build(out).books[0].tokens == 3


def test_a_link_is_followed_and_stays_a_link(tmp_path):
    (tmp_path / "disk").mkdir()
    link = tmp_path / "d"
    link.symlink_to(tmp_path / "disk", target_is_directory=True)
    write(link)
    write(link, book(token="y"))
    assert link.is_symlink()
    assert read_build(tmp_path / "disk").title == "T"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["d", "disk"]


@pytest.mark.parametrize("kind", ["file", "pipe"])
def test_what_is_no_folder_is_refused(tmp_path, kind):
    out = tmp_path / "out"
    os.mkfifo(out) if kind == "pipe" else out.write_text("mine")
    with pytest.raises(UsageError, match="not a data set folder"):
        write(out)
    assert out.is_fifo() == (kind == "pipe")


def test_a_path_that_is_too_long_is_named(tmp_path):
    with pytest.raises(SourceError, match="cannot use"):
        write(tmp_path / ("x" * 300))
    assert command("rebuild", "--sample", "-j", "1", "--out", tmp_path / ("x" * 300)) == 3


# -- books that a run would lose ---------------------------------------------------------------------


def test_a_folder_that_would_lose_books_stays(tmp_path):
    out = tmp_path / "d"
    write(out, book("a_1"), book("b_2"))
    before = contents(out)
    with pytest.raises(UsageError, match="would lose the book b_2"):
        write(out, book("a_1", "y"))
    with pytest.raises(UsageError, match="would lose the annotation of a_1"):
        write(out, book("a_1", clusters=()), book("b_2"))
    assert contents(out) == before
    write(out, book("a_1", "y"), replace=True)
    assert [b.doc_key for b in read_build(out).books] == ["a_1"]


def test_a_book_of_another_edition_does_not_replace_the_released_one(tmp_path):
    out = tmp_path / "d"
    write(out, book("a_1"))
    before = contents(out)
    with pytest.raises(UsageError, match="would lose the released tokens of a_1"):
        write(out, book("a_1.remapped"))
    assert contents(out) == before
    write(out, book("a_1.remapped"), replace=True)
    write(out, book("a_1.remapped", "y"))
    write(out, book("a_1"))
    assert [b.doc_key for b in read_build(out).books] == ["a_1"]


def annotated(out, *books):
    from bookcoref_data.books.annotation import annotation_of
    from bookcoref_data.formats.annotated import write_annotations

    write_annotations([annotation_of(b.to_record()) for b in books], out)
    write(out / "dataset", *books, replace=True)


def test_an_annotation_of_other_books_stays(tmp_path):
    from bookcoref_data.formats.annotated import check_kept

    out = tmp_path / "annotated"
    check_kept(out, ["a_1"])
    annotated(out, book("a_1"), book("b_2"))
    check_kept(out, ["a_1", "b_2", "c_3"])
    check_kept(out, ["a_1"], replace=True)
    with pytest.raises(UsageError, match="would lose the annotation of b_2"):
        check_kept(out, ["a_1"])
    annotated(out, book("a_1"))
    write(out / "dataset", book("c_3"), replace=True)
    with pytest.raises(UsageError, match="would lose the book c_3"):
        check_kept(out, ["a_1"])
    (out / "annotation.jsonl").write_text("my notes\n")
    with pytest.raises(UsageError, match="is no annotation"):
        check_kept(out, ["a_1", "c_3"])
    (out / "dataset" / "thesis.tex").write_text("mine")
    with pytest.raises(UsageError, match=r"thesis\.tex"):
        check_kept(out, ["a_1", "c_3"])


def test_annotate_and_regenerate_keep_the_books_of_others(tmp_path):
    text = tmp_path / "story.txt"
    text.write_text("Anna met Tom. She smiled. He left.\n" * 20)
    cast = tmp_path / "cast.txt"
    cast.write_text("Anna\nTom\n")
    out = tmp_path / "out"
    annotated(out, book("b_2"))
    before = contents(out)
    assert command("annotate", text, "-c", cast, "--out", out) == 2
    assert command("rebuild", "--sample", "-j", "1", "--out", tmp_path / "sample") == 0
    assert command("regenerate", tmp_path / "sample", "--out", out, "-j", "1") == 2
    many = tmp_path / "many"
    many.mkdir()
    (many / "story.txt").write_text(text.read_text())
    words = ["annotate", many, "-c", cast, "--out", out, "-j", "1", "--cache-dir", tmp_path / "cache"]
    assert command(*words) == 2
    assert contents(out) == before
    assert command(*words, "--replace") == 0
    assert [b.doc_key for b in read_build(out / "dataset").books] == ["story"]
    assert command("annotate", text, "-c", cast, "--out", out) == 0


def rebuild(world, *words: object) -> int:
    base = ["rebuild", "--from-gutenberg", "--release", world.release, "--mirror", world.mirror]
    return command(*base, "--offline", "-j", "1", "--out", world.root / "d", *words)


def test_a_worse_rebuild_keeps_the_better_folder(world, capsys):
    assert rebuild(world) == 0
    before = contents(world.root / "d")
    assert rebuild(world, "-b", "one_11") == 2
    assert command("rebuild", "--sample", "-j", "1", "--out", world.root / "d") == 2
    world.raw("12").unlink()
    capsys.readouterr()
    assert rebuild(world, "--cache-dir", world.root / "fresh") == 1
    said = capsys.readouterr()
    assert "left as it was" in said.out
    assert "would lose two_12" in said.err
    assert contents(world.root / "d") == before
    assert rebuild(world, "-b", "one_11", "--replace") == 0
    assert [b.doc_key for b in read_build(world.root / "d").books] == ["one_11"]


# -- files -------------------------------------------------------------------------------------------


def test_a_manifest_goes_only_to_a_new_file_or_over_the_same(tmp_path):
    out = tmp_path / "d"
    write(out)
    record = (out / "build.json").read_bytes()
    notes = tmp_path / "notes.txt"
    notes.write_text("mine")
    for path in (out / "build.json", notes, out / "README.md"):
        with pytest.raises(UsageError, match="will not replace"):
            write_manifest(out, path)
    assert ((out / "build.json").read_bytes(), notes.read_text()) == (record, "mine")
    write_manifest(out, tmp_path / "m.json")
    write_manifest(out, tmp_path / "m.json")
    assert command("manifest", "write", out, "--out", out / "build.json") == 2


def test_what_is_no_regular_file_is_never_replaced(tmp_path):
    out, pipe = tmp_path / "d", tmp_path / "pipe"
    write(out)
    os.mkfifo(pipe)
    for target in (pipe, tmp_path):
        with pytest.raises(UsageError, match="will not replace"):
            write_manifest(out, target)
        with pytest.raises(UsageError, match="will not replace"):
            write_text(target, "text")
    assert pipe.is_fifo()
    (tmp_path / "link").symlink_to(pipe)
    with pytest.raises(UsageError, match="a named pipe"):
        write_text(tmp_path / "link", "text")


def test_a_link_to_a_file_is_followed(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "there.txt")
    write_text(tmp_path / "link", "one")
    write_text(tmp_path / "link", "two")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "there.txt").read_text() == "two"


# -- caches ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("names", [("photos", "thesis"), ("photos", "texts", "books")])
def test_a_folder_that_is_no_cache_is_not_cleared(tmp_path, capsys, names):
    for name in names:
        (tmp_path / "v" / name).mkdir(parents=True)
        (tmp_path / "v" / name / "one").write_text("mine")
    before = contents(tmp_path / "v")
    assert command("cache", "clear", "--yes", "--cache-dir", tmp_path / "v") == 2
    # Using it as a cache does not make it ours.
    Store(tmp_path / "v").make("packs", "key", lambda folder: (folder / "a").write_text("work"))
    assert command("cache", "clear", "--yes", "--cache-dir", tmp_path / "v") == 2
    assert before.items() <= contents(tmp_path / "v").items()


def test_a_marked_cache_is_cleared_of_what_we_know_only(tmp_path):
    store = Store(tmp_path / "cache")
    store.make("texts", "key", lambda folder: (folder / "a").write_text("12345"))
    assert (store.root / CACHE_TAG).read_text().startswith("Signature: 8a477f597d28d172789f06886806bc55\n")
    (store.root / "photos").mkdir()
    (store.root / "photos/one").write_text("mine")
    assert [s.part for s in store.sizes()] == ["texts"]
    assert [s.part for s in store.clear()] == ["texts"]
    assert (store.root / "photos/one").read_text() == "mine"


def test_a_tag_of_another_program_is_no_mark_of_ours(tmp_path):
    (tmp_path / "texts").mkdir()
    (tmp_path / CACHE_TAG).write_text("Signature: 8a477f597d28d172789f06886806bc55\n# by cargo\n")
    with pytest.raises(UsageError, match="not marked"):
        Store(tmp_path).clear()
    assert (tmp_path / "texts").is_dir()


WORK = """
import sys, time
from pathlib import Path
from bookcoref_data.sources.store import Store
with Store(Path(sys.argv[1])).working():
    print("working", flush=True)
    time.sleep(60)
"""


def test_clearing_during_a_run_is_refused_and_a_killed_run_is_forgotten(tmp_path):
    store = Store(tmp_path / "cache")
    store.make("texts", "key", lambda folder: (folder / "a").write_text("12345"))
    words = [sys.executable, "-c", WORK, str(store.root)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "working\n"
        with pytest.raises(SourceError, match="another process"):
            store.clear()
        with store.working():  # runs do not exclude each other
            pass
        process.kill()
    with store.working():
        assert len(list((store.root / ".locks").glob("run-*.lock"))) == 1
    assert [s.part for s in store.clear()] == ["texts"]


def test_a_rebuild_holds_the_cache(world, cache_home, monkeypatch):
    from bookcoref_data.workflows import rebuild as room

    refused = []
    build = room.build_book

    def cleared_meanwhile(job):
        with pytest.raises(SourceError) as error:
            Store(cache_home).clear()
        refused.append(error.value.what)
        return build(job)

    monkeypatch.setattr(room, "build_book", cleared_meanwhile)
    assert rebuild(world) == 0
    assert len(refused) == 2


def test_a_mark_is_set_once_and_only_in_an_empty_folder(tmp_path):
    mark_cache(tmp_path / "new")
    assert (tmp_path / "new" / CACHE_TAG).is_file()
    (tmp_path / "old").mkdir()
    (tmp_path / "old/mine").write_text("x")
    mark_cache(tmp_path / "old")
    assert not (tmp_path / "old" / CACHE_TAG).exists()
