"""What the cast workshop shows: names with their places and reasons, who may be one, who may be two."""

from __future__ import annotations

import pytest

import bookcoref_data as bc
from bookcoref_data.annotation.embedded.parsing import parse_book
from bookcoref_data.annotation.workshop import make_workshop
from bookcoref_data.errors import UsageError
from bookcoref_data.workflows.annotate import read_sources

CAST = """# ours
Margaret Harlow; Meg [f]
Sam; Sam Tully; Mrs. Harlow

Tully [narrator 2]
Tully
Ned
Edmund
"""

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def story(tmp_path_factory):
    folder = tmp_path_factory.mktemp("story")
    bc.sample(folder)
    source = read_sources(folder / "lamp.txt")[0]
    return source, parse_book(source.book)


def test_every_name_has_an_owner_a_reason_and_its_places(story):
    source, parse = story
    made = make_workshop(source.book, parse, CAST, source.chapters)
    assert [(e.name, lines, told) for e, lines, told in made.people] == [
        ("Margaret Harlow", (1,), ""), ("Sam", (2,), ""), ("Tully", (4, 5), "2"), ("Ned", (6,), ""),
        ("Edmund", (7,), ""),
    ]  # fmt: skip
    meg = next(n for n in made.names if n.text == "Meg")
    assert (meg.owner, meg.why) == (0, "nickname")
    assert all(source.book.tokens[at] == "Meg" for at in meg.starts)
    assert meg.passages[0][1] == "Meg"
    assert {n.text for n in made.names if n.owner < 0} >= {"Mr. Gadd", "Hannah"}
    places = [at for n in made.names for at in n.starts]
    assert len(places) == len(set(places))
    assert made.lines == tuple(CAST.splitlines())
    assert [n for n, _, _ in made.chapters] == [1, 2, 3]


def test_questions_say_who_may_be_one_and_who_two(story):
    source, parse = story
    made = make_workshop(source.book, parse, CAST, source.chapters)
    asked = {(made.people[a][0].name, made.people[b][0].name) for a, b, _, why in made.partners if why}
    assert ("Ned", "Edmund") in asked
    doubts = {made.names[k].text for ks, _ in made.doubts for k in ks}
    assert "Mrs. Harlow" in doubts
    assert "Meg" not in doubts


def test_a_damaged_cast_is_named_with_its_line(story):
    source, parse = story
    with pytest.raises(UsageError, match=r"mine\.txt:2: unknown hint"):
        make_workshop(source.book, parse, "Anna\nBen [x]", (), "mine.txt")


def test_the_table_and_the_page_come_from_the_file_beside_the_book(tmp_path):
    bc.sample(tmp_path)
    book = tmp_path / "lamp.txt"
    assert bc.cast(book).table.to_dicts()[0]["name"] == "Miss Harlow"
    (tmp_path / "lamp.cast.txt").write_text("Hannah\nBosun\n", encoding="utf-8")
    made = bc.cast(book, out=tmp_path / "page.html")
    assert [row["name"] for row in made.table.to_dicts()] == ["Hannah", "Bosun"]
    assert "Hannah" in (tmp_path / "page.html").read_text(encoding="utf-8")
    (tmp_path / "lamp.cast.txt").write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="UTF-8"):
        bc.cast(book)


def test_a_book_without_chapters_has_a_workshop(tmp_path):
    text = tmp_path / "tale.txt"
    text.write_text(
        "Anna met Tom. Tom laughed. “Anna!” said Tom. Anna went home with Tom.\n", encoding="utf-8"
    )
    found = bc.cast(text).to_dict()
    assert not found["chapters"]
    assert {person["names"][0] for person in found["people"]} == {"Anna", "Tom"}
