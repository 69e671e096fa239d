"""What a Python user types first. The list was written before the front door was built."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import bookcoref_data as bc
from bookcoref_data.books import Record
from bookcoref_data.errors import UsageError
from bookcoref_data.sample_story.story import gutenberg_text

CAST = ["Captain Thorne; the Captain", "Martha Pell; Martha", "Silas Grout; Silas"]


@pytest.fixture(scope="module")
def world(tmp_path_factory) -> Path:
    """A folder with the built sample, a CoNLL file of it, and the story as a text file."""
    folder = tmp_path_factory.mktemp("guesses")
    bc.rebuild(folder / "bookcoref", sample=True, cache_dir=folder / "cache")
    bc.load(folder / "bookcoref").save(folder / "system.conll")
    (folder / "lamp.txt").write_text(gutenberg_text(), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def books(world):
    return bc.load(world / "bookcoref")


@pytest.fixture(scope="module")
def annotated(world):
    """The story annotated with a cast of three; one parse serves all tests."""
    return bc.annotate(world / "lamp.txt", cast=CAST, out=world / "annotated")


def test_the_version_is_there():
    assert bc.__version__.count(".") == 2


def test_names_are_listed_and_an_unknown_one_is_an_attribute_error():
    assert {"load", "read", "annotate", "evaluate", "rebuild", "verify", "stats", "align"} <= set(dir(bc))
    with pytest.raises(AttributeError, match="no attribute 'anotate'"):
        bc.anotate  # noqa: B018


def test_a_verb_is_a_function_whatever_was_imported_before():
    import bookcoref_data.annotation.backends
    import bookcoref_data.reading_page
    import bookcoref_data.scoring  # noqa: F401

    for name in bc.__all__:
        if name[0].islower():
            assert inspect.isfunction(getattr(bc, name)), name
            assert inspect.getdoc(getattr(bc, name)), name
    assert "mode" in inspect.signature(bc.evaluate).parameters
    rooms = {path.name for path in Path(bc.__file__).parent.iterdir()}
    assert not rooms & set(bc.__all__), "a room and a verb of one name cannot both be attributes"


def test_dir_shows_only_what_is_public():
    assert {name for name in dir(bc) if not name.startswith("__")} == set(bc.__all__)


def test_importing_costs_nothing():
    code = (
        "import sys, bookcoref_data; print(len([m for m in sys.modules if m.startswith('bookcoref_data.')]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "0"


def test_load_gives_books_by_number_and_by_name(books):
    assert len(books) == 1
    assert books[0] is books[books.keys[0]]
    with pytest.raises(KeyError, match="no book 'emma'"):
        books["emma"]


def test_load_gives_windows(world, books):
    windows = bc.load(world / "bookcoref", "split")
    assert len(windows) > 1
    assert sum(len(w.tokens) for w in windows) == len(books[0].tokens)


def test_load_of_nothing_says_how_to_build():
    with pytest.raises(bc.BookcorefError, match=r"bc.rebuild\(sample=True\)"):
        bc.load("nowhere")


@pytest.mark.parametrize("kind", [str, Path])
def test_read_takes_strings_and_paths(world, books, kind):
    assert bc.read(kind(world / "system.conll"))[0].tokens == books[0].tokens


def test_read_of_a_missing_file_is_our_error():
    with pytest.raises(bc.BookcorefError):
        bc.read("nowhere.jsonl")


def test_reprs_are_short(books):
    for value in (books, books[0], books[0].book, books[0].record, books[0].mentions):
        assert len(repr(value)) < 200
    assert "5,445 tokens" in repr(books[0])


def test_notebooks_show_tables(books):
    assert "<table>" in books._repr_html_()
    assert "<li>" in books[0]._repr_html_()
    assert books[0].mentions._repr_html_().count("<tr>") == 11


def test_two_characters_of_one_name_are_two():
    """The second one stood in the place of the first."""
    both = [("Ann", [(0, 0), (2, 2)]), ("Ann", [(1, 1)])]
    record = Record("b", "", [["Ann", "Ann", "she"]], [spans for _, spans in both], both)
    book = bc.AnnotatedBook(record)
    assert {name: len(c) for name, c in book.characters.items()} == {"Ann": 2, "Ann (2)": 1}
    assert [row["character"] for row in book.mentions] == ["Ann", "Ann (2)", "Ann"]


def test_characters_are_a_dict_by_name(books):
    characters = books[0].characters
    assert len(characters["Captain Thorne"]) > 10
    assert list(map(len, characters.values())) == sorted(map(len, characters.values()), reverse=True)


def test_sentences_and_clusters_are_there(books):
    assert sum(map(len, books[0].sentences)) == len(books[0].tokens)
    assert sum(map(len, books[0].clusters)) == 795


def test_mentions_are_a_table(books):
    mentions = books[0].mentions
    assert len(mentions) == 795
    assert mentions.columns[:5] == ("start", "end", "text", "character", "kind")
    first = mentions[0]
    assert first["text"] == " ".join(books[0].tokens[first["start"] : first["end"] + 1])
    assert {row["kind"] for row in mentions} == {"name", "nominal", "pronoun"}


def test_tables_become_arrow_pandas_and_polars(books):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    table = books[0].mentions
    assert table.to_arrow().num_rows == len(table)
    assert isinstance(table.to_pandas(), pandas.DataFrame)
    assert isinstance(table.to_polars(), polars.DataFrame)
    assert table.to_dicts()[0] == table[0]
    assert table["text"] == table.to_dict()["text"]


def test_a_table_of_uneven_columns_is_refused():
    with pytest.raises(ValueError, match="different lengths"):
        bc.Table({"a": [1, 2], "b": [1]})


def test_save_writes_by_suffix(books, tmp_path):
    path = books[0].save(tmp_path / "book.jsonl")
    assert bc.read(path)[0].to_dict() == books[0].to_dict()
    assert bc.write(books, str(tmp_path / "all.conll.gz")).is_file()


def test_evaluate_takes_books_and_paths(world, books):
    scores = bc.evaluate(books, str(world / "system.conll"))
    assert scores.conll_f1 == pytest.approx(1.0)
    assert scores.pooled.muc.f1 == pytest.approx(1.0)
    assert scores.to_markdown().startswith("| metric | P | R | F1 |")
    assert scores.to_dict()["rules"]["mode"] == "full"
    assert "100.00" in repr(scores)
    assert len(scores.books) == 1


def test_evaluate_of_something_else_says_what_it_takes():
    with pytest.raises(bc.BookcorefError, match="cannot read books from int"):
        bc.evaluate(1, 2)


def test_stats_are_a_table(world, books):
    table = bc.stats(books, world / "system.conll")
    assert table["tokens"] == [5445, 5445]
    assert table["mentions"] == [795, 795]


def test_verify_says_whether_all_is_right(world):
    found = bc.verify(str(world / "bookcoref"))
    assert found.ok
    assert found.problems == []
    assert len(found.digest) == 64


def test_verify_names_what_is_wrong(world, tmp_path):
    import shutil

    shutil.copytree(world / "bookcoref", tmp_path / "copy")
    card = tmp_path / "copy" / "README.md"
    card.write_text(card.read_text(encoding="utf-8") + "one more line\n", encoding="utf-8")
    found = bc.verify(tmp_path / "copy")
    assert not found.ok
    assert found.problems


def test_rebuild_reports_books(world):
    again = bc.rebuild(str(world / "bookcoref"), sample=True, cache_dir=world / "cache")
    assert again.ok
    assert again.books["tokens"] == [5445]
    assert again.failed == {}


def test_align_carries_a_book_over(world, books, tmp_path):
    text = (world / "lamp.txt").read_text(encoding="utf-8")
    (tmp_path / "other.txt").write_text(text.replace("lantern", "great lantern"), encoding="utf-8")
    carried = bc.align(books[0], tmp_path / "other.txt")
    assert not carried.exact
    assert sum(map(len, carried.book.clusters)) > 780
    assert carried.to_dict()["documents"][0]["result"] == "remapped"
    several = type(carried)([*carried.results, *carried.results])
    with pytest.raises(UsageError, match="2 books"):
        _ = several.book


def test_convert_says_what_was_written(world, tmp_path):
    done = bc.convert(str(world / "system.conll"), str(tmp_path / "system.jsonl"))
    assert done.mentions == 795
    assert (tmp_path / "system.jsonl").is_file()


def test_annotate_takes_names(annotated):
    assert annotated.mentions["rule"][0] is not None
    assert set(annotated.characters) <= {"Captain Thorne", "Martha Pell", "Silas Grout"}
    assert {row["character"] for row in annotated.mentions} == set(annotated.characters)


def test_mentions_of_an_annotated_file_have_places_in_it(world, annotated):
    text = (world / "lamp.txt").read_text(encoding="utf-8")
    for row in annotated.mentions:
        found = " ".join(text[row["char_start"] : row["char_end"]].split())
        assert found.replace(" ", "") == row["text"].replace(" ", "")


def test_quotes_have_speakers(annotated):
    assert {"start", "end", "text", "speaker", "addressees"} <= set(annotated.quotes.columns)
    assert any(row["speaker"] for row in annotated.quotes)


def test_cast_auto_is_the_default(tmp_path):
    story = gutenberg_text().partition("CHAPTER I")[2][:8000]
    (tmp_path / "part.txt").write_text(story, encoding="utf-8")
    book = bc.annotate(tmp_path / "part.txt")
    assert len(book.characters) > 1
    assert len(bc.propose_cast(tmp_path / "part.txt")) >= len(book.characters)


def test_a_cast_file_that_is_missing_is_our_error(world):
    with pytest.raises(bc.BookcorefError, match="pass a list"):
        bc.annotate(world / "lamp.txt", cast="Anna")


@pytest.mark.parametrize("name", ["annotated", "annotated/annotation.jsonl"])
def test_what_annotate_wrote_is_read_with_its_reasons(world, annotated, name):
    (again,) = bc.read(world / name)
    assert again.mentions.to_dict() == annotated.mentions.to_dict()
    assert again.quotes.to_dict() == annotated.quotes.to_dict()
    assert len(again.quotes.to_dict()["start"]) > 50
    assert again.text == annotated.text
    assert again.to_dict() == annotated.to_dict()


def test_a_saved_book_keeps_its_cast(annotated, tmp_path):
    annotated.save(tmp_path / "lamp.jsonl")
    (record,) = bc.read(tmp_path / "lamp.jsonl")
    assert [entry["name"] for entry in record.record.extra["cast"]] == [n.partition(";")[0] for n in CAST]
