"""Regenerating: the differences are exactly those there are, and the scores are those of `evaluate`."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from bookcoref_data.annotation import backends
from bookcoref_data.annotation.plan import Plan
from bookcoref_data.annotation.state import Marked
from bookcoref_data.api.building import Regenerated
from bookcoref_data.books import Book, Mention
from bookcoref_data.cli.app import make_app
from bookcoref_data.errors import DataError, UsageError
from bookcoref_data.formats.folder import read_build, read_folder, write_folder
from bookcoref_data.formats.jsonl import read as read_jsonl
from bookcoref_data.scoring import evaluate
from bookcoref_data.workflows import annotate_many
from bookcoref_data.workflows.regenerate import _spread, compare, regenerate

SENTENCES = [["Anna", "met", "Mr.", "Brown"], ["\n", "She", "saw", "him"], ["Brown", "smiled"]]
THERE = [("Anna", [(0, 0), (5, 5)]), ("Mr. Brown", [(2, 3), (7, 7), (8, 8)])]


def book(key: str, characters, gutenberg_key: str = "7") -> Book:
    clusters = [spans for _, spans in characters]
    return Book.make(key, SENTENCES, gutenberg_key=gutenberg_key, clusters=clusters, characters=characters)


def test_every_difference_is_counted_once_and_shown_in_its_context():
    here = book("a", [("Anna", [(0, 0), (7, 7)]), ("Mr. Brown", [(2, 3), (6, 6), (8, 8)])])
    found = compare(book("a", THERE), here)
    assert (found.same, found.missing, found.spurious, found.moved) == (3, 1, 1, 1)
    anna, brown = found.characters
    assert (anna.same, anna.missing, anna.spurious, anna.moved_away, anna.moved_in) == (1, 1, 0, 0, 1)
    assert (brown.same, brown.missing, brown.spurious, brown.moved_away, brown.moved_in) == (2, 0, 1, 1, 0)
    shown = {d.kind: d for d in found.examples}
    assert (shown["moved"].there, shown["moved"].here) == ("Mr. Brown", "Anna")
    assert shown["missing"].text == "Anna met Mr. Brown [She] saw him Brown smiled"
    assert (shown["spurious"].mention, shown["spurious"].here) == (Mention(6, 6), "Mr. Brown")


def test_equal_annotations_do_not_differ():
    found = compare(book("a", THERE), book("a", THERE))
    assert (found.same, found.missing, found.spurious, found.moved, found.examples) == (5, 0, 0, 0, ())


spans = st.sets(
    st.sampled_from([(i, j) for i in range(9) for j in range(i, min(i + 2, 9))]), min_size=1, max_size=6
)
sides = st.dictionaries(st.sampled_from(["A", "B", "C"]), spans, max_size=3)


@given(sides, sides)
def test_counts_add_up_to_the_sizes_of_both_sides(there, here):
    found = compare(*(book("a", [(n, sorted(s)) for n, s in side.items()]) for side in (there, here)))
    assert found.same + found.missing + found.moved == sum(map(len, there.values()))
    assert found.same + found.spurious + found.moved == sum(map(len, here.values()))
    for c in found.characters:
        assert c.same + c.missing + c.moved_away == c.there == len(there.get(c.name, ()))
        assert c.same + c.spurious + c.moved_in == c.here == len(here.get(c.name, ()))
    kinds = Counter(d.kind for d in found.examples)
    assert all(kinds[k] == min(3, getattr(found, k)) for k in ("missing", "spurious", "moved"))


@given(st.lists(st.integers(), max_size=40), st.integers(0, 5))
def test_examples_come_from_all_over_the_book(items, count):
    numbered = list(enumerate(items))
    picked = _spread(numbered, count)
    assert len(picked) == min(count, len(items))
    assert picked == sorted(set(picked))
    if len(items) > count >= 2:
        assert picked[0][0] < len(items) / 2 <= picked[-1][0]


class _Names:
    """A backend whose link step tags every token that is the last word of a name; other steps pass."""

    name = "names"

    def __init__(self, plan) -> None:
        pass

    def step(self, name):
        self.name = name
        return self

    def units(self, job) -> int:
        return 1

    def run(self, job, state, progress):
        last = {n.split()[-1]: i for i, n in enumerate(job.cast.names)}
        found = [
            Marked(i, i, last[t], "link", "names", 1.0, "name")
            for i, t in enumerate(job.book.tokens)
            if t in last
        ]
        return state.after(self.name, found if self.name == "link" else state.mentions)

    def close(self) -> None:
        pass


@pytest.fixture
def plan(monkeypatch) -> Plan:
    monkeypatch.setattr(backends, "BACKENDS", dict(backends.BACKENDS))
    backends.register_backend("names", "names_backend:make")
    monkeypatch.setitem(__import__("sys").modules, "names_backend", type("M", (), {"make": _Names}))
    monkeypatch.setattr(annotate_many, "_BACKENDS", {})
    return Plan("names", "names", ("link", "windows"), {})


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "old"
    books = {
        "train": [book("one_1", THERE, "1")],
        "test": [book("two_2", THERE[:1], "2"), book("nobody_3", [], "3")],
    }
    write_folder(path, books, title="old", licences=[("Texts", "free")])
    return path


def test_a_data_set_is_annotated_scored_and_written_in_its_splits(tmp_path, folder, plan):
    out = tmp_path / "new"
    result = regenerate(folder, plan, tmp_path / "cache", out=out, workers=1)
    table = Regenerated(result).table
    assert table["book"] == ["one_1", "two_2", "all"]
    assert any("nobody_3" in note for note in result.notes)
    assert [r.doc_key for r in read_folder(out / "dataset", "full", ["train"])] == ["one_1"]
    assert {b.doc_key: b.split for b in read_build(out / "dataset").books} == {
        "one_1": "train",
        "two_2": "test",
    }
    assert read_build(out / "dataset").source["recipe"] == "names"
    old = {r.doc_key: r for r in read_folder(folder)}
    new = list(read_jsonl(out / "annotation.jsonl"))
    assert all(r.sentences == old[r.doc_key].sentences for r in new)
    expected = evaluate([old[r.doc_key] for r in new], new)
    row = table[-1]
    assert row["CoNLL"] == pytest.approx(100 * expected.pooled.conll.f1)
    assert row["link F1"] == pytest.approx(100 * expected.linking.linked.f1)
    one = table[0]
    # Anna, Brown twice are found; "Mr. Brown" is missing (its last word alone is spurious), as are pronouns.
    assert (one["same"], one["missing"], one["spurious"], one["moved"]) == (2, 3, 1, 0)
    assert one["link P"] == pytest.approx(100 * 2 / 3)


def test_the_card_of_other_books_has_nothing_of_bookcoref(tmp_path, folder, plan):
    """Neither its licences nor its paper: the sample's card once said that Animal Farm is in copyright."""
    regenerate(folder, plan, tmp_path / "cache", out=tmp_path / "new", workers=1)
    card = (tmp_path / "new/dataset/README.md").read_text(encoding="utf-8")
    assert "BOOKCOREF" not in card
    assert "NC-SA" not in card
    assert "**Texts**: as the texts that were annotated" in card


def test_the_old_annotation_is_not_looked_at(tmp_path, folder, plan):
    """Other mentions of the same names give the same result, from the same cache entry."""
    regenerate(folder, plan, tmp_path / "cache", workers=1)
    other = tmp_path / "other"
    moved = [("Anna", [(1, 1)]), ("Mr. Brown", [(4, 4)])]
    write_folder(other, {"train": [book("one_1", moved, "1")]}, title="x", licences=[("Texts", "free")])
    again = regenerate(other, plan, tmp_path / "cache", workers=1)
    assert again.work.reused == ["one_1"]


@pytest.mark.long
def test_books_are_chosen_by_key_or_number_and_must_exist(tmp_path, folder, plan):
    cache = tmp_path / "cache"
    assert list(regenerate(folder, plan, cache, books=["2"]).comparisons) == ["two_2"]
    assert list(regenerate(folder, plan, cache, books=["one_1"]).comparisons) == ["one_1"]
    with pytest.raises(UsageError, match="no book 'none'"):
        regenerate(folder, plan, cache, books=["none"])
    with pytest.raises(UsageError, match="named characters"):
        regenerate(folder, plan, cache, books=["nobody_3"])
    with pytest.raises(UsageError, match="not a built data set"):
        regenerate(tmp_path, plan, cache)


def verb(tmp_path, folder):
    """`regenerate` with the recipe of these tests, as words of a command line."""
    recipe = tmp_path / "names.toml"
    recipe.write_text('name = "names"\nbackend = "names"\nsteps = ["link"]\n')
    cache = str(tmp_path / "c")
    return ["regenerate", str(folder), "--recipe", str(recipe), "--cache-dir", cache, "-j", "1"]


def test_the_verb_prints_tables_and_json_and_says_that_they_differ(tmp_path, folder, plan, fits_schema):
    words = verb(tmp_path, folder)
    runner = CliRunner()
    text = runner.invoke(make_app(), [*words, "--markdown", "--out", str(tmp_path / "n")])
    assert text.exit_code == 1, text.output
    assert "| one_1 |" in text.stdout
    assert "most different characters" in text.stdout
    value = json.loads(runner.invoke(make_app(), [*words, "--json", "--book", "1"]).stdout)
    fits_schema("regenerate", value)
    assert value["recipe"] == "names"
    assert value["differences"]["one_1"]["missing"] == 3
    assert [row["book"] for row in value["scores"]] == ["one_1", "all"]


def test_where_every_book_failed_nothing_is_said_to_be_annotated_again(tmp_path, folder, plan, monkeypatch):
    def broken(self, job, state, progress):
        raise DataError("no model")

    monkeypatch.setattr(_Names, "run", broken)
    words = verb(tmp_path, folder)
    told = CliRunner().invoke(make_app(), words)
    assert told.exit_code
    assert "failed: one_1: no model" in told.stderr
    assert told.stdout == ""
