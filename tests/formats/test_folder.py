"""The data set folder: what is written is what is read, whole or not at all, and the card says so."""

import ast
import importlib
import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bookcoref_data.books import Book, split_book
from bookcoref_data.errors import DataError, FormatError, UsageError
from bookcoref_data.formats import folder as room
from bookcoref_data.formats.card import card_digest
from bookcoref_data.formats.schema import arrow_schema, from_row, to_row, to_table, to_tables
from tests.drawing import drawn

TOKEN = st.text(st.characters(blacklist_categories=["Cs"]), min_size=1, max_size=6)


@st.composite
def books(draw, key="b_1"):
    sentences = draw(st.lists(st.lists(TOKEN, min_size=1, max_size=6), min_size=1, max_size=6))
    last = sum(map(len, sentences)) - 1
    span = st.integers(0, last).flatmap(lambda a: st.integers(a, last).map(lambda b: (a, b)))
    spans = st.lists(span, min_size=1, max_size=4, unique=True)
    return Book.make(
        key, sentences, gutenberg_key=draw(st.sampled_from(["", "7"])),
        clusters=draw(st.lists(spans, max_size=3)),
        characters=draw(st.lists(st.tuples(TOKEN, spans), max_size=3)),
    )  # fmt: skip


def small(key="b_1", extra="x"):
    return Book.make(key, [["a", "b"], [extra, "\n"]], gutenberg_key="1", clusters=[[(0, 0), (1, 2)]],
                     characters=[("Ann", [(0, 0), (1, 2)])])  # fmt: skip


def write(out, *items, split="test"):
    return room.write_folder(out, {split: items}, title="T", licences=[("Text", "ours")])


@given(st.lists(books(), min_size=1, max_size=3))
@drawn(40)  # the first call imports pyarrow
def test_tables_hold_exactly_the_books(items):
    table = to_table(items)
    assert table.schema.equals(arrow_schema())
    assert [from_row(row, "t").to_book() for row in table.to_pylist()] == items
    assert table.to_pylist() == [to_row(b.to_record()) for b in items]


@given(books(), st.integers(1, 9))
@drawn(40)
def test_the_table_of_windows_shares_the_tokens_of_its_book(book, size):
    windows = split_book(book, size=size).books
    full, split = to_tables(book, windows)
    assert full.equals(to_table([book]))
    assert split.equals(to_table(windows))
    assert to_tables(book, windows[1:])[1].equals(to_table(windows[1:]))


def test_a_token_that_is_no_text_is_refused(tmp_path):
    with pytest.raises(DataError, match="a token that is no text"):
        write(tmp_path / "d", Book.make("a_1", [["a", "\ud800"]]))
    assert not any(tmp_path.iterdir())


def test_folder_round_trip_in_both_configs(tmp_path):
    written = [small("a_1"), small("b_2", "y")]
    record = write(tmp_path / "bookcoref", *written)
    assert [r.to_book() for r in room.read_folder(tmp_path / "bookcoref")] == written
    windows = room.read_folder(tmp_path / "bookcoref", "split")
    assert [w.doc_key for w in windows] == ["a_1_split1500_S0", "b_2_split1500_S0"]
    assert room.read_build(tmp_path / "bookcoref") == record


def test_card_states_digest_counts_and_features(tmp_path):
    record = write(tmp_path / "d", small())
    card = (tmp_path / "d" / "README.md").read_text(encoding="utf-8")
    assert card_digest(card) == record.digest
    assert card.count(f'description: "sha256:{record.digest}"') == 2
    assert "num_examples: 1" in card
    assert "sequence:" not in card
    assert "**Text**: ours" in card


def test_other_content_gives_another_digest(tmp_path):
    digests = {write(tmp_path / str(i), b).digest for i, b in enumerate([small(), small(extra="z")])}
    assert len(digests) == 2
    assert write(tmp_path / "again", small()).digest in digests


def test_parquet_carries_no_library_metadata_and_one_book_per_row_group(tmp_path):
    write(tmp_path / "d", small("a_1"), small("b_2"))
    file = pq.ParquetFile(tmp_path / "d" / "full" / "test.parquet")
    assert file.num_row_groups == 2
    assert not (file.schema_arrow.metadata or {}).get(b"huggingface")


def test_a_failure_leaves_the_old_folder_and_nothing_else(tmp_path):
    out = tmp_path / "d"
    record = write(out, small())
    with pytest.raises(DataError, match="unknown split"), room.writing_folder(out) as writer:
        writer.add_book(small("n_2"), "tset")
    assert room.read_build(out) == record
    assert [p.name for p in tmp_path.iterdir()] == ["d"]


def test_replacing_leaves_no_trace_of_the_old(tmp_path):
    out = tmp_path / "d"
    write(out, small(), split="train")
    write(out, small(), split="test")
    assert sorted(p.name for p in (out / "full").iterdir()) == ["test.parquet"]
    assert [p.name for p in tmp_path.iterdir()] == ["d"]


def test_a_folder_of_somebody_else_is_not_touched(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(UsageError, match="not a data set folder"):
        write(tmp_path, small())
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_twice_the_same_book_and_no_book_are_refused(tmp_path):
    with pytest.raises(DataError, match="comes twice"):
        write(tmp_path / "d", small(), small())
    with pytest.raises(DataError, match="no book to write"):
        write(tmp_path / "d")
    assert list(tmp_path.iterdir()) == []


def test_damage_is_named(tmp_path):
    out = tmp_path / "d"
    write(out, small())
    with pytest.raises(UsageError, match="no config"):
        room.read_folder(out, "windows")
    (out / "full" / "test.parquet").write_bytes(b"PAR1 no")
    with pytest.raises(FormatError, match="cannot be read as parquet"):
        room.read_folder(out)
    (out / "build.json").write_text(json.dumps({"format": 99}))
    with pytest.raises(FormatError, match="another version"):
        room.read_build(out)
    (out / "build.json").write_text("{")
    with pytest.raises(FormatError, match="cannot be read"):
        room.read_build(out)


def test_other_columns_are_refused(tmp_path):
    import pyarrow as pa

    out = tmp_path / "d"
    write(out, small())
    pq.write_table(pa.table({"x": [1]}), out / "full" / "test.parquet")
    with pytest.raises(FormatError, match="other columns"):
        room.read_folder(out)


def test_a_folder_that_another_writer_replaces_just_now_is_looked_at_again(tmp_path, monkeypatch):
    out, aside = tmp_path / "out", tmp_path / "aside"
    write(out, small())
    read, moves = room.read_build, [(out, aside), (aside, out)]

    def read_between_two_moves(folder):
        if not moves:
            return read(folder)
        old, new = moves.pop(0)
        old.rename(new)
        try:
            return read(folder)
        finally:
            old, new = moves.pop(0)
            old.rename(new)

    monkeypatch.setattr(room, "read_build", read_between_two_moves)
    assert room.BUILD_FILE in room.check_replaceable(out).files
    assert not moves


def test_many_writers_at_once_leave_one_whole_folder(tmp_path):
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(4) as pool:
        records = list(pool.map(lambda i: write(tmp_path / "out", small(extra=f"by {i}")), range(24)))
    assert room.read_build(tmp_path / "out") in records
    assert len(list(room.iter_folder(tmp_path / "out"))) == 1
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_the_loading_script_finds_every_name_that_it_imports():
    """It is run by `datasets`, in an environment of somebody else, and by no other test here."""
    script = Path(__file__).parents[2] / "bookcoref.py"
    imports = [
        (node.module, alias.name)
        for node in ast.walk(ast.parse(script.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("bookcoref_data")
        for alias in node.names
    ]
    assert imports
    assert not [pair for pair in imports if not hasattr(importlib.import_module(pair[0]), pair[1])]
