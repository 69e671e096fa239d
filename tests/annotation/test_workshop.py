"""What the cast workshop shows: names with their places and reasons, who may be one, who may be two."""

from __future__ import annotations

import json

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


@pytest.fixture(scope="module")
def story(tmp_path_factory):
    folder = tmp_path_factory.mktemp("story")
    bc.sample(folder)
    source = read_sources(folder / "lamp.txt")[0]
    return source, parse_book(source.book)


@pytest.mark.long
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


@pytest.mark.long
def test_questions_say_who_may_be_one_and_who_two(story):
    source, parse = story
    made = make_workshop(source.book, parse, CAST, source.chapters)
    asked = {(made.people[a][0].name, made.people[b][0].name) for a, b, _, why in made.partners if why}
    assert ("Ned", "Edmund") in asked
    doubts = {made.names[k].text for ks, _ in made.doubts for k in ks}
    assert "Mrs. Harlow" in doubts
    assert "Meg" not in doubts


@pytest.mark.parametrize("times", [2, 3])
def test_names_that_stand_together_thrice_look_like_two_people(book_of, times):
    book = book_of("Hill ran.\n\nStone sat.\n\nStone ate.\n\n" * 9 + "Stone saw Hill.\n\n" * times)
    made = make_workshop(book, parse_book(book), "Stone; Hill\nAnna", ())
    told = [([made.names[k].text for k in names], why) for names, why in made.doubts]
    assert told == [(["Hill"], "it stands in one sentence with Stone 3 times")] * (times == 3)


@pytest.mark.long
def test_a_damaged_cast_is_named_with_its_line(story):
    source, parse = story
    with pytest.raises(UsageError, match=r"mine\.txt:2: unknown hint"):
        make_workshop(source.book, parse, "Anna\nBen [x]", (), "mine.txt")


@pytest.mark.parametrize(
    "text",
    ["Meg:2-\n", "Meg [narrator 3-2]\n", "Meg [narrator]\nSam Tully [narrator]\n", "Meg [narrator 99]\n"],
)
def test_what_annotate_would_refuse_is_no_workshop(story, text):
    source, parse = story
    with pytest.raises(UsageError):
        make_workshop(source.book, parse, text, source.chapters)


def test_a_workshop_gives_the_notes_that_annotate_gives(story):
    source, parse = story
    made = make_workshop(source.book, parse, "Sam\nMargaret Harlow; Sam\nSam; Tully\nZeb\n", source.chapters)
    assert made.notes == (
        "the cast names 'Sam' more than once; taken as one character",
        "the name 'Zeb' does not occur in the text",
    )


@pytest.mark.long
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


@pytest.mark.long
def test_a_book_without_chapters_has_a_workshop(tmp_path):
    text = tmp_path / "tale.txt"
    text.write_text(
        "Anna met Tom. Tom laughed. “Anna!” said Tom. Anna went home with Tom.\n", encoding="utf-8"
    )
    found = bc.cast(text).to_dict()
    assert not found["chapters"]
    assert {person["names"][0] for person in found["people"]} == {"Anna", "Tom"}


def test_a_workshop_says_of_a_small_book_all_that_it_knows(tmp_path):
    text = tmp_path / "tale.txt"
    text.write_text(
        "Anna met Tom. Mary Hill laughed. “Anna!” said Tom, “here is Ned.”\n\nMrs. Hill went home with Tom. "
        "Mary sat down. Edmund came back. The sea-side was cold. Mrs. Hill said “Edmund!” and wept. Joe saw "
        "it all.\n", encoding="utf-8",
    )  # fmt: skip
    lines = ["# mine", "Anna Hill [f]", "Mary Hill [f]", "Tom [narrator]", "Ned", "Edmund", "Ben"]
    (tmp_path / "tale.cast.txt").write_text("\n".join(lines), encoding="utf-8")
    made = bc.cast(text)
    assert [tuple(row.values()) for row in made.table.to_dicts()] == [
        ("Mary Hill", 4, "Mrs. Hill 2, Mary Hill 1, Mary 1", 0), ("Tom", 3, "Tom 3", 0),
        ("Anna Hill", 2, "Anna 2", 0), ("Edmund", 2, "Edmund 2", 1), ("Ned", 1, "Ned 1", 1),
        ("Ben", 0, "", 0),
    ]  # fmt: skip
    found = json.loads(json.dumps(made.to_dict()))
    assert (found["doc_key"], found["size"], found["lines"]) == ("tale", 59, lines)
    assert [list(person.values()) for person in found["people"]] == [
        [["Anna Hill"], "f", [1], ""], [["Mary Hill"], "f", [2], ""], [["Tom"], "", [3], "all"],
        [["Ned"], "", [4], ""], [["Edmund"], "", [5], ""], [["Ben"], "", [6], ""],
    ]  # fmt: skip
    assert [(n["text"], n["owner"], n["why"], n["at"], n["person"]) for n in found["names"]] == [
        ("Tom", 2, "", [2, 13, 27], True), ("Anna", 0, "first name", [0, 9], True),
        ("Mrs. Hill", 1, "title + surname", [22, 44], True), ("Edmund", 4, "", [33, 48], False),
        ("Mary Hill", 1, "", [4], True), ("Ned", 3, "", [18], True), ("Mary", 1, "first name", [29], True),
        ("Joe", -1, "", [54], True),
    ]  # fmt: skip
    assert found["names"][0]["passages"] == [
        [
            "Anna met Tom. Mary Hill laughed. “Anna!” said ",
            "Tom",
            ", “here is Ned.” Mrs. Hill went home with Tom",
        ],
        [
            "Tom, “here is Ned.” Mrs. Hill went home with ",
            "Tom",
            ". Mary sat down. Edmund came back. The sea-side was",
        ],
    ]
    assert [n["passages"][0][0] for n in found["names"][1:4]] == [
        "Anna met Tom. Mary Hill laughed. “", "sat down. Edmund came back. The sea-side was cold. ",
        "came back. The sea-side was cold. Mrs. Hill said “",
    ]  # fmt: skip
    assert found["partners"][0] == [3, 4, 1.97, "first names that may be one"]
    assert [pair[:2] for pair in found["partners"]] == [
        [3, 4],
        [2, 4],
        [0, 1],
        [2, 3],
        [0, 4],
        [0, 3],
        [1, 3],
        [1, 4],
        [0, 2],
        [1, 2],
    ]
    assert (found["doubts"], found["chapters"]) == ([], [])


def test_a_passage_that_begins_inside_a_quotation_knows_opening_from_closing_marks(tmp_path):
    text = tmp_path / "tale.txt"
    said = '"You have had the interest every quarter, and more than that, as you know well," said Tom.'
    text.write_text(f'{said}\n\n"I have not," said Anna.\n', encoding="utf-8")
    (tmp_path / "tale.cast.txt").write_text("Tom\nAnna\n", encoding="utf-8")
    shown = {n["text"]: "".join(n["passages"][0]) for n in bc.cast(text).to_dict()["names"]}
    assert shown["Tom"].endswith('that, as you know well," said Tom. "I have not," said Anna.')
    assert shown["Anna"].endswith('well," said Tom. "I have not," said Anna.')


@pytest.mark.parametrize("surname", ["Perlmutter", "Stone"])
def test_two_first_names_of_one_surname_are_asked_about_where_one_is_called_and_the_other_answers(
    book_of, surname
):
    talk = "“Come, Mawruss, it rains,” said Abe.\n\n“It does,” Morris said.\n\n" * 9
    book = book_of(f"{talk}Morris Perlmutter ran.\n\nMawruss {surname} sat.\n")
    cast = f"Morris Perlmutter; Morris\nMawruss {surname}; Mawruss\nAbe"
    made = make_workshop(book, parse_book(book), cast, ())
    told = [why for *_, why in made.partners if why]
    assert told == ["one surname, and one answers when the other is called"] * (surname == "Perlmutter")
