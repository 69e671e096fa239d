"""What a verb writes goes in as one: two writers, a mix, a damaged record, odd names, rights, leftovers."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
import traceback
from contextvars import Context
from pathlib import Path

import pytest

import bookcoref_data as bc
from bookcoref_data import outputs as outputs_module
from bookcoref_data.books import Book
from bookcoref_data.errors import BookcorefError, ChecksumError, DataError, FormatError, Unproved, UsageError
from bookcoref_data.files import safe_name, write_text
from bookcoref_data.formats.annotated import write_annotations
from bookcoref_data.guard import WORK
from bookcoref_data.outputs import check, locked, outputs, settle, whole
from bookcoref_data.reading_page.serve import EditServer, version_of
from tests.faults.faulty import FINE, digest, in_child

WRITERS = int(os.environ.get("BOOKCOREF_WRITERS", "20"))
"""How often two writers meet on one folder; 1000 for the figure in docs/results.md."""
posix = pytest.mark.skipif(os.name != "posix", reason="forks")
ANN = {"doc_key": "a_1", "sentences": [["Ann", "ran"]], "clusters": [[[0, 0]]]}


def annotation(folder: Path, name: str = "Ann") -> None:
    book = Book.make("a_1", [[name, "ran"]], clusters=[[(0, 0)]], characters=[(name, [(0, 0)])])
    from bookcoref_data.books.annotation import annotation_of

    write_annotations([annotation_of(book.to_record())], folder)


@pytest.fixture
def ann(tmp_path) -> Path:
    annotation(tmp_path / "ann")
    return tmp_path / "ann"


READERS = {
    "view": lambda path: bc.view(path),
    "export": lambda path: bc.export(path, "csv", path.parent / "csv"),
    "stats": lambda path: bc.stats(path),
    "read": lambda path: bc.read(path),
    "report": lambda path: bc.report(path, path.parent / "r.md", plots=False),
    "evaluate": lambda path: bc.evaluate(path / "annotation.jsonl", path / "annotation.jsonl"),
    "edits apply": lambda path: bc.apply_edits(path, [], path),
    "edits diff": lambda path: bc.diff(path, path),
    "convert": lambda path: bc.convert(path / "annotation.jsonl", path.parent / "t.conll"),
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("name", ["annotation.jsonl", "provenance.jsonl", "quotes.jsonl"])
def test_a_folder_that_is_not_as_it_was_written_is_refused(ann, reader, name):
    before = (ann / name).read_bytes()
    (ann / name).write_bytes(before + b"\n")
    with pytest.raises(ChecksumError, match="is not as it was written") as refused:
        READERS[reader](ann)
    assert name in str(refused.value)
    assert "files.json" in str(refused.value.hint)
    (ann / name).write_bytes(before)
    READERS[reader](ann)


def test_a_folder_of_an_earlier_version_is_read(ann):
    (ann / "files.json").unlink()
    (ann / "quotes.jsonl").unlink()
    with pytest.warns(Unproved, match="has no files.json: written by an older version or by hand"):
        assert [book.doc_key for book in bc.read(ann)] == ["a_1"]


def test_the_command_says_that_a_folder_has_no_record_and_goes_on(ann, monkeypatch, capsys):
    from bookcoref_data.cli import app

    def said() -> str:
        monkeypatch.setattr("sys.argv", ["bookcoref-data", "stats", str(ann)])
        with pytest.raises(SystemExit) as ended:
            app.main()
        assert ended.value.code == 0
        return capsys.readouterr().err

    assert "files.json" not in said()
    (ann / "files.json").unlink()
    assert said().startswith(f"{ann} has no files.json: written by an older version or by hand")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": 1, "files": []}', "[" * 100_000, "\x00"])
def test_a_damaged_record_is_refused(ann, text):
    (ann / "files.json").write_text(text)
    with pytest.raises(FormatError, match="cannot be read"):
        bc.read(ann)


def test_a_data_set_beside_another_annotation_is_refused(tmp_path):
    for name in ("one", "two"):
        (tmp_path / "b.jsonl").write_text(json.dumps(ANN) + "\n")
        bc.annotate(tmp_path / "b.jsonl", ["Ann"] if name == "one" else ["Ann; Annie"], out=tmp_path / name)
        bc.apply_edits(tmp_path / name, [], tmp_path / name)
    book = Book.make("a_1", [["Ann", "sat"]], clusters=[[(0, 0)]])
    from bookcoref_data.formats.folder import write_folder

    shutil.rmtree(tmp_path / "one" / "dataset")
    write_folder(tmp_path / "one" / "dataset", {"test": [book]}, title="T", licences=[("Text", "ours")])
    for path in ("one", "one/dataset"):
        with pytest.raises(ChecksumError, match="is not as it was written"):
            bc.stats(tmp_path / path)


def test_verify_reads_the_record_of_a_folder(ann):
    assert bc.verify(ann).ok
    (ann / "quotes.jsonl").write_text("{}")
    with pytest.raises(ChecksumError, match="is not as it was written"):
        bc.verify(ann)


# -- two writers -----------------------------------------------------------------------------------------


@pytest.mark.long
@posix
def test_two_writers_never_mix(tmp_path):
    """Each writes its name into every file of the folder; a reader meanwhile sees one name or is refused."""
    out = tmp_path / "o"
    files = [out / f"{i}.txt" for i in range(5)]

    def write(name: str) -> None:
        for i in range(WRITERS):
            with whole(out, "demo"):
                for path in files:
                    write_text(path, f"{name} {i}")

    def read() -> None:
        seen = 0
        while seen < WRITERS or not done.exists():
            seen += 1
            try:
                with outputs(inputs=[out]):
                    content = {path.read_text() for path in files}
            except (BookcorefError, FileNotFoundError):
                continue
            assert len(content) == 1, content

    done = tmp_path / "done"
    readers = [os.fork()]
    if not readers[0]:
        code = 1
        try:
            read()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    writers = []
    for name in ("one", "two"):
        child = os.fork()
        if not child:
            code = 1
            try:
                write(name)
                code = 0
            finally:
                os._exit(code)
        writers.append(child)
    codes = [os.waitpid(child, 0)[1] for child in writers]
    done.touch()
    codes += [os.waitpid(child, 0)[1] for child in readers]
    assert codes == [0, 0, 0]
    check(out)
    assert len({path.read_text() for path in files}) == 1
    assert {path.name for path in out.iterdir()} == {*(path.name for path in files), "files.json"}


@posix
def test_two_corrections_into_one_new_folder_lose_no_book(tmp_path, monkeypatch):
    """Each finds the folder empty when it begins; who ends last must not take the other's book away."""
    from bookcoref_data.workflows import correct

    for key in ("a_1", "b_1"):
        (tmp_path / f"{key}.jsonl").write_text(json.dumps(ANN | {"doc_key": key}) + "\n")
    out, real = tmp_path / "out", correct.apply

    def meanwhile(*given):
        monkeypatch.setattr(correct, "apply", real)
        work = lambda: Context().run(bc.apply_edits, tmp_path / "b_1.jsonl", [], out)  # noqa: E731
        assert in_child(work) == (FINE, "")
        return real(*given)

    monkeypatch.setattr(correct, "apply", meanwhile)
    with pytest.raises(UsageError, match="b_1"):
        bc.apply_edits(tmp_path / "a_1.jsonl", [], out)
    assert [book.doc_key for book in bc.read(out)] == ["b_1"]
    assert bc.apply_edits(tmp_path / "b_1.jsonl", [], out)


def test_a_writer_who_ends_while_a_reader_makes_sure_is_seen(tmp_path, monkeypatch):
    """Half of the files are moved when the reader reads; the rest, the record and the journal go right after
    the reader's first look. Whichever it looks at first, it must not take the mix for one state."""
    out = tmp_path / "o"
    with whole(out, "demo"):
        write_text(out / "a.txt", "one")
        write_text(out / "b.txt", "one")
    journal, looks = out / WORK / "journal.json", []

    def end() -> None:
        looks.append(1)
        if len(looks) == 1:
            write_text(out / "b.txt", "two")
            (out / "files.json").write_bytes((out / "files.json").read_bytes())
            os.utime(out / "files.json", (1, 1))
            journal.unlink()

    def spied(owner, name):
        real = getattr(owner, name)

        def look(path):
            found = real(path)
            end()
            return found

        monkeypatch.setattr(owner, name, look)

    def read() -> None:
        with outputs(inputs=[out]):
            journal.parent.mkdir(exist_ok=True)
            journal.write_text("{}")
            (out / "a.txt").write_text("two")
            spied(outputs_module, "_seen")
            spied(os.path, "isfile")

    with pytest.raises(ChecksumError, match="was changed by another process"):
        read()
    assert looks


@posix
def test_a_change_in_place_of_what_another_changed_meanwhile_is_refused(ann):
    def meanwhile() -> None:
        with outputs(ann, inputs=[ann], in_place=[ann]):
            # Another process knows nothing of the outputs of this one.
            assert in_child(lambda: Context().run(annotation, ann, "Ben")) == (FINE, "")
            annotation(ann, "Cy")

    with pytest.raises(ChecksumError, match="was changed by another process"):
        meanwhile()
    assert [book.record.characters[0][0] for book in bc.read(ann)] == ["Ben"]


@pytest.mark.long
@posix
def test_two_servers_on_one_file_do_not_overwrite_each_other(tmp_path):
    edits = tmp_path / "edits.jsonl"
    lines = {
        c: json.dumps({"op": "rename", "character": c, "name": f"{c} Ford"}) + "\n" for c in ("Ann", "Ben")
    }
    for _ in range(WRITERS):
        write_text(edits, "")
        saved = tmp_path / "saved"
        shutil.rmtree(saved, ignore_errors=True)
        saved.mkdir()
        children = []
        for name, text in lines.items():
            child = os.fork()
            if not child:
                server = EditServer(lambda known: "", edits)
                if server.save(text, version_of("")) is not None:
                    (saved / name).touch()
                os._exit(0)
            children.append(child)
        assert [os.waitpid(child, 0)[1] for child in children] == [0, 0]
        (winner,) = (path.name for path in saved.iterdir())
        assert edits.read_text() == lines[winner]


def test_who_waits_too_long_is_told(tmp_path):
    with locked(tmp_path), pytest.raises(BookcorefError, match="another process is writing"):
        locked(tmp_path, wait=0.1).__enter__()


# -- what is left ----------------------------------------------------------------------------------------


@posix
@pytest.mark.parametrize("mask", [0o022, 0o077])
def test_files_and_folders_have_the_rights_of_the_umask(tmp_path, mask):
    before = os.umask(mask)
    try:
        annotation(tmp_path / "ann")
        bc.sample(tmp_path / "s")
    finally:
        os.umask(before)
    for path in tmp_path.rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) == (0o777 if path.is_dir() else 0o666) & ~mask, path


@posix
def test_a_file_that_is_replaced_keeps_its_rights(ann):
    os.chmod(ann / "annotation.jsonl", 0o640)
    annotation(ann, "Ben")
    assert stat.S_IMODE((ann / "annotation.jsonl").stat().st_mode) == 0o640


@posix
def test_what_a_killed_save_left_is_removed_by_the_next(tmp_path):
    with subprocess.Popen([sys.executable, "-c", "pass"]) as ended:
        pass
    left = tmp_path / f".edits.jsonl.{ended.pid}-ab12.part"
    left.write_text("half")
    write_text(tmp_path / "edits.jsonl", "", at_once=True)
    assert [path.name for path in tmp_path.iterdir()] == ["edits.jsonl"]


def test_an_edit_in_place_keeps_the_old_files_under_a_number(ann):
    before = (ann / "annotation.jsonl").read_bytes()
    for name in ("Anna", "Annie"):
        old = next(iter(bc.read(ann))).record.characters[0][0]
        bc.apply_edits(ann, _renaming(old, name), ann)
    assert (ann / "annotation.jsonl.~1~").read_bytes() == before
    assert (ann / "annotation.jsonl.~2~").exists()
    assert [book.record.characters[0][0] for book in bc.read(ann)] == ["Annie"]


def _renaming(old: str, new: str):
    from bookcoref_data.edits import parse_edits

    return parse_edits(json.dumps({"op": "rename", "character": old, "name": new}), "test")


def test_a_failing_verb_leaves_no_empty_folder(tmp_path):
    def failing() -> None:
        with outputs(tmp_path / "o"):
            write_text(tmp_path / "o" / "a.txt", "a")
            raise KeyError

    with pytest.raises(KeyError):
        failing()
    assert list(tmp_path.iterdir()) == []


def test_a_link_out_of_the_folder_is_not_written_through(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    (tmp_path / "o").mkdir()
    (tmp_path / "o" / "a.txt").symlink_to(tmp_path / "deep" / "a.txt")
    with pytest.raises(UsageError, match="through the link"), outputs(tmp_path / "o"):
        write_text(tmp_path / "o" / "a.txt", "a")


# -- names -----------------------------------------------------------------------------------------------


def test_names_that_differ_in_case_only_are_refused(tmp_path):
    def two() -> None:
        with outputs(tmp_path / "o"):
            for name in ("Book_0", "book_0"):
                write_text(tmp_path / "o" / f"{name}.txt", name)

    with pytest.raises(DataError, match="one file on some disks"):
        two()
    assert digest(tmp_path) == {}


@pytest.mark.parametrize("name", ["CON", "aux.txt", "abc.", "nul", "com1.jsonl", "LPT9"])
def test_names_that_some_systems_cannot_write_are_refused(name):
    with pytest.raises(DataError, match="cannot be used as a file name"):
        safe_name(name, "document key")


@pytest.mark.parametrize("name", ["CONAN", "auxiliary.txt", "a.con", "com10", "pride_and_prejudice_1342"])
def test_names_like_these_are_fine(name):
    assert safe_name(name, "document key") == name


@posix
def test_a_build_record_that_is_a_pipe_does_not_hang(tmp_path):
    (tmp_path / "d").mkdir()
    os.mkfifo(tmp_path / "d" / "build.json")
    with pytest.raises(FormatError, match="not a built data set folder"):
        bc.verify(tmp_path / "d")


def test_a_killed_move_is_taken_back_by_whoever_looks(tmp_path):
    """The journal of a process that is gone: one file moved in, one moved away, one waiting."""
    (tmp_path / "a.txt").write_text("new a")
    scratch = tmp_path / WORK / "elsewhere-1-ab"
    (scratch / "old").mkdir(parents=True)
    (scratch / "new").mkdir()
    (scratch / "old" / "b.txt").write_text("old b")
    (scratch / "new" / "b.txt").write_text("new b")
    told = {"scratch": scratch.name, "old": ["b.txt"], "new": ["a.txt", "b.txt"], "made": []}
    (tmp_path / WORK / "journal.json").write_text(json.dumps(told))
    settle(tmp_path)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"b.txt": "old b"}


@pytest.mark.parametrize("verb", ["view", "cast", "review", "audit"])
def test_a_page_has_the_name_of_one(ann, tmp_path, verb):
    """`cast novel.txt --out cast.txt` wrote HTML where people and `annotate -c` expect a cast."""
    with pytest.raises(UsageError, match="what is written is a page"):
        getattr(bc, verb)(ann, out=tmp_path / "cast.txt")
    assert not (tmp_path / "cast.txt").exists()


def test_a_page_may_be_called_htm(ann, tmp_path):
    bc.view(ann, tmp_path / "page.HTM")
    assert (tmp_path / "page.HTM").is_file()
