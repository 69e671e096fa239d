"""`verify` notices flipped bits of the record, the card and the tables, and files that do not belong."""

from __future__ import annotations

import json
import os
import random
import shutil
from pathlib import Path

import pytest

from bookcoref_data.books import Book
from bookcoref_data.errors import FormatError
from bookcoref_data.formats.folder import BuildRecord, read_build, read_folder, write_folder
from bookcoref_data.workflows.verify import verify

TIMES = int(os.environ.get("BOOKCOREF_FAULTS", "1"))


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("built") / "d"
    books = [
        Book.make(key, [["a", "b"], ["x", key]], gutenberg_key=key[-1], clusters=[[(0, 0), (1, 2)]],
                  characters=[("Ann", [(0, 0)])])
        for key in ("a_1", "b_2")
    ]  # fmt: skip
    write_folder(out, {"test": books}, title="T", licences=[("Text", "ours")], source={"release": "x"})
    return out


@pytest.fixture
def copy(built, tmp_path) -> Path:
    return Path(shutil.copytree(built, tmp_path / "d"))


def noticed(folder: Path) -> bool:
    try:
        return verify(folder).exit_code == 4
    except FormatError:
        return True


@pytest.mark.parametrize(("name", "count"), [
    ("build.json", 150), ("README.md", 30), ("full/test.parquet", 40), ("split/test.parquet", 40),
])  # fmt: skip
def test_no_flipped_bit_passes(copy, name, count):
    pick = random.Random(f"bits of {name}")
    data = (copy / name).read_bytes()
    assert verify(copy).exit_code == 0
    passed = []
    for place in pick.choices(range(len(data)), k=count * TIMES):
        flipped = bytearray(data)
        flipped[place] ^= 1 << pick.randrange(8)
        (copy / name).write_bytes(bytes(flipped))
        if not noticed(copy):
            passed.append(place)
    assert passed == []


def seal(folder: Path, change) -> None:
    """Change the build record and give it a checksum of its own that is right."""
    record = read_build(folder)
    value = record.to_dict()
    change(value)
    files = value["files"]
    made = BuildRecord(
        value["digest"], value["title"], record.books, value["missing"], files, value["inputs"],
        value["made_with"], value["source"],
    )  # fmt: skip
    (folder / "build.json").write_text(made.to_text(), encoding="utf-8")


def test_a_card_that_points_elsewhere_is_noticed_even_when_nobody_lists_it(copy):
    card = (copy / "README.md").read_text(encoding="utf-8")
    (copy / "README.md").write_text(card.replace("path: full/test", "path: full/other"), encoding="utf-8")
    seal(copy, lambda value: value["files"].pop("README.md"))
    said = " | ".join(verify(copy).problems)
    assert "README.md is not in the build record" in said
    assert "points to other files" in said


@pytest.mark.parametrize(
    "name", ["bookcoref.py", "full/more/train.parquet", "extra/x.py", "dataset_infos.json"]
)
def test_files_that_a_library_would_read_or_run_are_noticed(copy, name):
    (copy / name).parent.mkdir(parents=True, exist_ok=True)
    (copy / name).write_text("x")
    result = verify(copy)
    assert result.exit_code == 4
    assert f"{name} is not in the build record" in result.problems


def test_notes_of_the_user_are_no_business_of_verify(copy):
    (copy / "notes.txt").write_text("mine")
    assert verify(copy).exit_code == 0


def test_a_damaged_table_is_a_checksum_mismatch(copy):
    (copy / "full/test.parquet").write_bytes(b"PAR1 no parquet")
    result = verify(copy)
    assert result.exit_code == 4
    assert "full/test.parquet was changed since it was written" in result.problems


def test_a_table_whose_numbers_point_nowhere_is_damaged(copy, monkeypatch):
    """Arrow's own errors are of many kinds, and not all of them are ValueErrors."""
    import pyarrow as pa

    def fails(batch):
        raise pa.lib.ArrowIndexError("index out of bounds")

    monkeypatch.setattr("bookcoref_data.formats.folder._token_bytes", fails)
    assert noticed(copy)
    monkeypatch.undo()
    monkeypatch.setattr("pyarrow.parquet.ParquetFile.read_row_group", lambda self, group: fails(group))
    with pytest.raises(FormatError, match="cannot be read as parquet"):
        read_folder(copy)


def test_an_annotation_without_a_record_is_said_to_be_unproved(tmp_path):
    from bookcoref_data.books.annotation import Annotation
    from bookcoref_data.formats.annotated import write_annotations

    write_annotations([Annotation(Book.make("b", [["Anna"]]), ("Anna",), ())], tmp_path / "ann")
    assert verify(tmp_path / "ann").exit_code == 0
    (tmp_path / "ann" / "files.json").unlink()
    assert verify(tmp_path / "ann").problems[0].startswith("there is no files.json")


def test_tokens_and_spans_are_verified_apart(copy):
    check = verify(copy).books[0].to_dict()
    assert (check["tokens_verified_by"], check["spans_verified_by"]) == ("built", "build record")


# -- books of another edition ------------------------------------------------------------------------


def test_a_remapped_book_carries_its_mark_everywhere(world, capsys):
    from dataclasses import replace

    from bookcoref_data.formats.folder import read_folder
    from bookcoref_data.workflows.rebuild import RebuildSettings, prepare, rebuild
    from bookcoref_data.workflows.verify import write_manifest

    asked = RebuildSettings(
        out=world.root / "d", release=world.release, mirror=str(world.mirror), offline=True
    )
    rebuild(prepare(asked), jobs=1)
    text = world.raw("11").read_bytes().decode()
    head, mark, body = text.partition("CHAPTER")
    later = f"{head}This edition was mended by hand.\r\n\r\n{mark}{body.replace('lamp', 'zanthern', 1)}"
    world.raw("11").write_bytes(later.encode())
    assert rebuild(prepare(asked), jobs=1).kept == {"one_11": "the released tokens of"}
    out = rebuild(prepare(replace(asked, replace=True)), jobs=1).out
    assert [r.doc_key for r in read_folder(out)] == ["one_11.remapped", "two_12"]
    assert read_folder(out, "split")[0].doc_key == "one_11.remapped_split1500_S0"
    head = (out / "README.md").read_text(encoding="utf-8").split("\n---\n")[0]
    assert head.count("REMAPPED onto another edition, not the released tokens: one_11") == 2
    result = verify(out)
    assert (result.exit_code, result.remapped) == (1, ["one_11.remapped"])
    assert verify(out, accept_remapped=True).exit_code == 0
    assert result.to_dict()["books"][0]["facts"]["check"] == "remapped"
    write_manifest(out, world.root / "m.json")
    assert "one_11.remapped" in json.loads((world.root / "m.json").read_text())["books"]
    # With the right text again, the released book is back.
    world.raw("11").write_bytes(text.encode())
    assert [b.doc_key for b in rebuild(prepare(asked), jobs=1).record.books] == ["one_11", "two_12"]


def test_datasets_shows_the_mark(tmp_path):
    datasets = pytest.importorskip("datasets")
    from bookcoref_data.formats.folder import writing_folder

    book = Book.make("a_1.remapped", [["a", "b"]], gutenberg_key="1", clusters=[[(0, 0)]])
    with writing_folder(tmp_path / "d") as writer:
        writer.add_book(book, "test", check="remapped")
        writer.finish("T", licences=[("Text", "ours")])
    loaded = datasets.load_dataset(str(tmp_path / "d"), "full", split="test", cache_dir=str(tmp_path / "c"))
    assert loaded[0]["doc_key"] == "a_1.remapped"
    assert "REMAPPED" in loaded.info.description
