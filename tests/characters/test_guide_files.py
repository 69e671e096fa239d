"""Files that others publish: read as they are, refused by line when they are not what they seem."""

from __future__ import annotations

import json

import pytest

from bookcoref_data.characters.guide_files import NameTally, read_addresses, read_names, rows_of_names
from bookcoref_data.characters.guides.addresses import is_list, list_addresses, place_of, site_of
from bookcoref_data.errors import FormatError, SourceError

HEADER = "title\tsource\tcharacter\tsplit\tscraped_title\tscraped_character\n"


def rows(path):
    return list(rows_of_names(read_names(path), NameTally()))


def test_a_name_list_becomes_rows_per_title_and_source(tmp_path):
    path = tmp_path / "names.tsv"
    path.write_text(
        HEADER
        + "Animal Farm\tcliffnotes\tMr. and Mrs. Jones (humans)\ttrain\tAnimal Farm\tMr. and Mrs. Jones\n"
        + "Animal Farm\tcliffnotes\tBenjamin (a donkey)\ttrain\tAnimal Farm!\tBenjamin (a donkey)\n"
        + 'Animal Farm\tshmoop\t"Snowball"\ttrain\tAnimal Farm\t"Snowball"\n'
    )
    found = rows(path)
    assert [(r.source, r.character, r.order) for r in found] == [
        ("cliffsnotes", "Mr. Jones", 0), ("cliffsnotes", "Mrs. Jones", 1), ("cliffsnotes", "Benjamin", 2),
        ("shmoop", "Snowball", 0)]  # fmt: skip
    assert {r.work_id for r in found} == {"animal-farm"}
    assert found[0].titles == ("Animal Farm!",)
    assert found[2].raw_character == "Benjamin (a donkey)"
    assert "no-author" in found[0].flags


def test_the_scrapers_output_is_read_by_its_own_field_names(tmp_path):
    path = tmp_path / "all.jsonl"
    row = {
        "book_title": "Emma",
        "source": "sparknotes",
        "character_name": "Miss Bates",
        "summary": "S",
        "description": "D",
    }
    path.write_text(json.dumps(row) + "\n\n")
    (found,) = rows(path)
    assert (found.source, found.title, found.character) == ("sparknotes", "Emma", "Miss Bates")


@pytest.mark.parametrize(("name", "text", "said"), [
    ("a.tsv", "title\tsource\nEmma\tshmoop\n", "no column character"),
    ("a.tsv", "title\tsource\tcharacter\nEmma\tshmoop\n", "a.tsv:2 has 2 columns"),
    ("a.tsv", "title\tsource\tcharacter\nEmma\tshmoop\t \n", "a.tsv:2 has no character"),
    ("a.tsv", "", "no column"),
    ("a.jsonl", "{\n", "a.jsonl:1: not valid JSON"),
    ("a.jsonl", "[1]\n", "a JSON object"),
    ("a.jsonl", '{"book_title": "Emma", "source": "shmoop", "character_name": 3}\n', "no character"),
])  # fmt: skip
def test_what_is_no_list_is_refused_with_file_and_line(tmp_path, name, text, said):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(FormatError, match=said):
        list(read_names(path))


def test_bytes_that_are_no_text_and_files_that_are_not_there(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_bytes(b"title\tsource\tcharacter\nEmma\tshmoop\t\xff\n")
    with pytest.raises(FormatError, match="UTF-8"):
        list(read_names(path))
    with pytest.raises(SourceError):
        list(read_names(tmp_path / "none.tsv"))


@pytest.mark.long
def test_the_published_list_reads_whole(reference):
    names = list(read_names(reference / "liscu_characters.tsv"))
    assert len(names) == 9499
    assert {name.source for name in names} == {"cliffsnotes", "litcharts", "shmoop", "sparknotes"}
    assert len({(name.source, name.title) for name in names}) == 1708
    assert sum('"' in name.character for name in names) > 100
    tally = NameTally()
    found = list(rows_of_names(names, tally))
    assert (tally.read, len(tally.rejected)) == (9499, 6)
    assert tally.changed < 850
    assert tally.rules["several-people"] == 181
    assert (
        len({(row.source, row.work_id) for row in found}) == 1707
    )  # one list names only "The Minor Characters"


def test_every_published_address_belongs_to_a_guide(reference):
    liscu = read_addresses(reference / "liscu_urls.tsv")
    assert len(liscu) == 7471  # 7,472 rows, one of them twice
    bookworm = read_addresses(reference / "bookworm" / "description_data.tsv")
    assert len(bookworm) == 602
    assert all(row.title and row.author for row in bookworm)
    originals = [row.address.split("/", 5)[5] for row in liscu + bookworm]
    assert all(place_of(original) for original in originals)
    guides = {(place_of(o).site, place_of(o).id) for o in originals[: len(liscu)]}
    assert len(guides) == 1708


@pytest.mark.parametrize(("original", "site", "guide", "lists"), [
    ("https://www.cliffsnotes.com/Literature/g/the-Great-Gatsby/Book-Summary", "cliffsnotes",
     "literature/g/the-great-gatsby", ["https://www.cliffsnotes.com/Literature/g/the-Great-Gatsby/character-list"]),
    ("https://www.gradesaver.com/emma/", "gradesaver", "emma",
     ["https://www.gradesaver.com/emma/study-guide/character-list"]),
    ("https://www.litcharts.com/lit/emma/characters/mr-knightley", "litcharts", "lit/emma",
     ["https://www.litcharts.com/lit/emma/characters"]),
    ("https://www.shmoop.com/study-guides/literature/emma/summary", "shmoop", "study-guides/literature/emma",
     ["https://www.shmoop.com/study-guides/literature/emma/characters",
      "https://www.shmoop.com/study-guides/literature/emma/minor-characters"]),
    ("https://www.sparknotes.com/shakespeare/hamlet/summary/", "sparknotes", "shakespeare/hamlet",
     ["https://www.sparknotes.com/shakespeare/hamlet/characters/"]),
])  # fmt: skip
def test_guides_and_their_lists(original, site, guide, lists):
    assert site_of(original) == site
    assert place_of(original).id == guide
    assert list_addresses(original) == lists
    assert not is_list(original)
    assert all(is_list(address.upper().replace("HTTPS", "https")) for address in lists)


@pytest.mark.parametrize("original", ["https://example.com/lit/emma", "https://www.shmoop.com/about", "x"])
def test_other_addresses_belong_to_no_guide(original):
    assert place_of(original) is None
    assert list_addresses(original) == []


def test_the_two_files_of_a_scrape_are_joined_by_source_and_title(tmp_path):
    from bookcoref_data.characters.guide_files import join_authors

    people, books = tmp_path / "characters.jsonl", tmp_path / "books.jsonl"
    people.write_text(
        "".join(
            json.dumps({"book_title": "Emma", "source": source, "character_name": "Miss Bates"}) + "\n"
            for source in ("shmoop", "sparknotes")
        )
    )
    books.write_text(json.dumps({"book_title": "Emma!", "source": "shmoop", "book_author": "Jane Austen"}))
    names = [name for path in (people, books) for name in read_names(path)]
    found = list(rows_of_names(join_authors(names), NameTally()))
    assert [(row.source, row.author) for row in found] == [("shmoop", "Jane Austen"), ("sparknotes", "")]
