"""The cast table: what is written is read back, and a broken line is named."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bookcoref_data.characters.table import CastRow, group_casts, read_table, write_table
from bookcoref_data.errors import FormatError, SourceError
from tests.drawing import drawn

words = st.text(min_size=1, max_size=12)
names = st.lists(words, max_size=3).map(tuple)
rows = st.builds(
    CastRow,
    source=st.sampled_from(["wikidata", "shmoop"]),
    work_id=words,
    title=words,
    character=words,
    author=st.text(max_size=8),
    titles=names,
    character_aliases=names,
    order=st.none() | st.integers(0, 99),
    minor=st.booleans(),
    flags=names,
)


@pytest.mark.parametrize("name", ["cast.jsonl", "cast.jsonl.gz"])
@drawn(40)
@given(table=st.lists(rows, max_size=5))
def test_rows_come_back_as_they_were_written(tmp_path_factory, name, table):
    path = tmp_path_factory.mktemp("table") / name
    assert write_table(path, table) == len(table)
    assert list(read_table(path)) == table


def test_writing_twice_gives_the_same_bytes(tmp_path):
    table = [CastRow("wikidata", "Q1", "Émile", "Sophie")]
    write_table(tmp_path / "a.gz", table)
    write_table(tmp_path / "b.gz", table)
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()


@pytest.mark.parametrize(("line", "said"), [
    ("{", "not valid JSON"),
    ("[1]", "a row of a cast table"),
    ('{"source": "shmoop", "work_id": "x", "title": "T"}', "character"),
    ('{"source": "s", "work_id": "x", "title": "T", "character": "A", "colour": 1}', "colour"),
    ('{"source": "s", "work_id": "x", "title": "T", "character": "A", "titles": "T"}', "titles"),
    ('{"source": "s", "work_id": "x", "title": "T", "character": "A", "order": -1}', "order"),
    ('{"source": "s", "work_id": "x", "title": "T", "character": "A", "order": true}', "order"),
])  # fmt: skip
def test_a_broken_line_is_named_with_file_line_and_field(tmp_path, line, said):
    path = tmp_path / "cast.jsonl"
    path.write_text('{"source": "s", "work_id": "x", "title": "T", "character": "A"}\n\n' + line + "\n")
    with pytest.raises(FormatError, match=said) as caught:
        list(read_table(path))
    assert "cast.jsonl:3" in str(caught.value)


def test_a_truncated_gzip_file_is_refused(tmp_path):
    path = tmp_path / "cast.jsonl.gz"
    write_table(path, [CastRow("wikidata", f"Q{n}", "T", "A") for n in range(500)])
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(FormatError):
        list(read_table(path))


def test_a_missing_table_says_how_to_make_one(tmp_path):
    with pytest.raises(SourceError, match="harvest wikidata") as caught:
        list(read_table(tmp_path / "none.jsonl"))
    assert "No such file" in str(caught.value)


def test_a_failed_write_leaves_the_old_table(tmp_path):
    path = tmp_path / "cast.jsonl"
    write_table(path, [CastRow("wikidata", "Q1", "T", "A")])

    def breaking():
        yield CastRow("wikidata", "Q2", "T", "B")
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write_table(path, breaking())
    assert [row.work_id for row in read_table(path)] == ["Q1"]


def test_casts_group_by_source_and_work_and_keep_order():
    table = [
        CastRow("shmoop", "emma", "Emma", "Emma Woodhouse", author="Jane Austen"),
        CastRow("wikidata", "Q1", "Emma", "Emma"),
        CastRow("shmoop", "emma", "Emma", "Mr. Knightley", author="Jane Austen"),
    ]
    shmoop, wikidata = group_casts(table)
    assert shmoop.characters == ("Emma Woodhouse", "Mr. Knightley")
    assert (shmoop.work.source, shmoop.work.work_id, shmoop.work.title, shmoop.work.author) == (
        "shmoop",
        "emma",
        "Emma",
        "Jane Austen",
    )
    assert wikidata.characters == ("Emma",)


def test_a_person_who_is_listed_twice_in_a_work_counts_once():
    """Two harvests in one file made a cast of three pass as one of six, above the least of five."""
    people = [
        CastRow("shmoop", "emma", "Emma", name, order=i) for i, name in enumerate(("Ann", "Bob", "Cid"))
    ]
    again = [CastRow("shmoop", "emma", "Emma", row.character, order=9) for row in people]
    other = CastRow("litcharts", "emma", "Emma", "Ann", order=0)
    assert [c.rows for c in group_casts([*people, *again, other])] == [tuple(people), (other,)]
