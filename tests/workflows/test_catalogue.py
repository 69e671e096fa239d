"""What `list` and `show` tell."""

from hashlib import sha256

import pytest

from bookcoref_data.books import Book
from bookcoref_data.errors import UsageError
from bookcoref_data.formats.folder import write_folder
from bookcoref_data.sources.store import write_note
from bookcoref_data.workflows.catalogue import describe, mentions_of, overview, place_of

SENTENCES = [["Ann", "saw", "Annabel", "."], ["She", "waved", "\n"], ["Ann", "left", "."]]


@pytest.fixture
def folder(tmp_path):
    people = [("Ann", [(0, 0), (4, 4), (7, 7)]), ("Annabel", [(2, 2)])]
    books = [Book.make("siddhartha_2500", SENTENCES, gutenberg_key="2500", clusters=[s for _, s in people],
                       characters=people), Book.make("mine_7", SENTENCES, gutenberg_key="7")]  # fmt: skip
    write_folder(tmp_path / "d", {"test": books}, title="T", licences=[])
    return tmp_path / "d"


def test_overview_has_the_53_books_and_what_is_built(folder, cache_home):
    rows = overview(folder, None)
    assert len(rows) == 54
    built = [r["doc_key"] for r in rows if r["built"]]
    assert built == ["siddhartha_2500", "mine_7"]
    by_key = {r["doc_key"]: r for r in rows}
    assert by_key["siddhartha_2500"]["tokens"] == 47_785
    assert by_key["emma_158"]["counts_from"] == "paper"
    folder_of_texts = cache_home / "texts" / "158"
    folder_of_texts.mkdir(parents=True)
    (folder_of_texts / ".half.txt.part").write_text("x")
    assert not [r for r in overview(folder, None) if r["text_cached"]]
    digest = sha256(b"x").hexdigest()
    (folder_of_texts / f"{digest}.txt").write_text("x")
    note = {"address": "http://x/", "bytes": 1, "text_sha256": digest}
    write_note(folder_of_texts / f"{digest}.json", note)
    assert {r["doc_key"] for r in overview(folder, None) if r["text_cached"]} == {"emma_158"}


def test_a_book_is_found_by_id_or_part_of_its_name(folder):
    for name in ("siddhartha_2500", "2500", "Siddh"):
        assert describe(folder, name)["facts"]["doc_key"] == "siddhartha_2500"
    assert describe(folder, "2500")["characters"] == [("Ann", 3, "Ann"), ("Annabel", 1, "Annabel")]
    with pytest.raises(UsageError, match="no book 'emma'"):
        describe(folder, "emma")
    with pytest.raises(UsageError, match="several books"):
        describe(folder, "_")


def test_mentions_stand_in_context(folder):
    name, rows = mentions_of(folder, "2500", "ann")
    assert name == "Ann"
    assert [r[:2] for r in rows] == [(0, 0), (4, 4), (7, 7)]
    assert rows[1][2] == "Ann saw Annabel . [She] waved   Ann left ."
    with pytest.raises(UsageError, match="no character like 'Bob'"):
        mentions_of(folder, "2500", "Bob")


def test_a_place_is_shown_with_the_mentions_that_hold_it(folder):
    found = place_of(folder, "siddhartha", 2)
    assert found["context"] == "Ann saw [Annabel] . She waved   Ann left ."
    assert [(m["character"], m["start"]) for m in found["mentions"]] == [("Annabel", 2)]
    assert place_of(folder, "siddhartha", 3)["mentions"] == []
    with pytest.raises(UsageError, match="no token 10"):
        place_of(folder, "siddhartha", 10)


def test_a_folder_that_is_no_data_set_and_a_file_are_shown_too(folder, tmp_path):
    from bookcoref_data.formats import read_documents, write_documents

    book = [record for record in read_documents(folder) if record.doc_key == "siddhartha_2500"]
    write_documents(book, tmp_path / "one" / "annotation.jsonl")
    write_documents(book, tmp_path / "one.conll")
    for place in (tmp_path / "one", tmp_path / "one.conll"):
        assert describe(tmp_path / "nowhere", str(place))["facts"]["mentions"] == 4
        assert describe(place, "siddhartha")["facts"]["tokens"] == 10
        assert place_of(place, "", 0)["mentions"][0]["character"] == "Ann"
    with pytest.raises(UsageError, match="holds 2 books"):
        describe(tmp_path / "nowhere", str(folder))


@pytest.fixture
def nicknames(tmp_path):
    """Somebody who is mostly called by another name, and a name that two share."""
    tokens = ["Walter", "wrote", ".", "Walter", "left", ".", "Sir", "saw", "Sir", ".", "Walter"]
    people = [("Mr. Hartright", [(0, 0), (3, 3), (6, 6)]), ("Glyde", [(8, 8), (10, 10)])]
    book = Book.make("woman_583", [tokens], clusters=[s for _, s in people], characters=people)
    write_folder(tmp_path / "n", {"test": [book]}, title="T", licences=[])
    return tmp_path / "n"


def test_a_character_is_found_by_what_the_text_mostly_calls_them(nicknames):
    assert mentions_of(nicknames, "woman", "walter")[0] == "Mr. Hartright"
    with pytest.raises(UsageError, match="several characters like 'Sir'") as error:
        mentions_of(nicknames, "woman", "Sir")
    assert error.value.expected == "Mr. Hartright, Glyde"
    with pytest.raises(UsageError, match="no character like 'Walt'"):
        mentions_of(nicknames, "woman", "Walt")
