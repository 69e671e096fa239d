"""Floors for the quality of the embedded backend, on real data where it is there."""

from __future__ import annotations

import json
import random

import pytest

from bookcoref_data.annotation.backends import make_backend
from bookcoref_data.annotation.cast import make_cast
from bookcoref_data.annotation.embedded.discourse import FEATURES
from bookcoref_data.annotation.embedded.network import WEIGHTS, load_rankers
from bookcoref_data.annotation.plan import default_plan
from bookcoref_data.books import Book
from bookcoref_data.errors import FormatError
from bookcoref_data.formats.jsonl import read
from bookcoref_data.workflows.annotate import Source, annotate_book, table_rows
from tests.sample_story.making import sample_book
from training.litbank import parts, read_excerpt
from training.score import score_part
from training.train import HIDDEN

PLAN = default_plan("embedded")


def bare(book: Book) -> Book:
    return Book(book.doc_key, book.gutenberg_key, book.tokens, book.sentence_ends)


def rows_of(gold: Book) -> dict[str, list]:
    done = annotate_book(Source(bare(gold)), make_cast(c.name for c in gold.characters), PLAN)
    return {row[0].split(" + ")[-1]: row[1:] for row in table_rows(gold, done.states)}


def test_the_sample_story_is_above_its_floor():
    rows = rows_of(sample_book())
    assert rows["groups"][-1] >= 55
    assert rows["link"][0] >= 80
    assert rows["pattern matching"][-1] < rows["link"][-1] < rows["windows"][-1]


@pytest.mark.long
def test_animal_farm_is_above_its_floor(shared_data):
    path = shared_data / "release" / "bookcoref_annotations" / "full" / "test.jsonl"
    gold = next(r for r in read(path) if r.doc_key == "animal_farm_0").to_book()
    rows = rows_of(gold)
    assert rows["groups"][-1] >= 83
    assert rows["link"][0] >= 94


@pytest.mark.long
def test_litbank_test_part_is_above_its_floor(shared_data):
    backend = make_backend(PLAN)
    scores = score_part(shared_data / "litbank", "test", PLAN, backend)
    assert scores.documents == 10
    assert scores.clusters.conll.f1 >= 0.71
    assert scores.speaker_accuracy >= 0.55


def test_the_parts_of_litbank_are_those_written_down(shared_data):
    drawn = parts(shared_data / "litbank")
    assert [len(drawn[p]) for p in ("train", "dev", "test")] == [80, 10, 10]
    assert not set(drawn["train"]) & {*drawn["dev"], *drawn["test"]}
    assert drawn["test"][0] == "1023_bleak_house_brat"
    assert drawn["dev"][0] == "113_the_secret_garden_brat"


def test_the_cast_of_an_excerpt_is_named_after_frequent_names(shared_data):
    excerpt = read_excerpt(shared_data / "litbank", "1342_pride_and_prejudice_brat")
    assert set(excerpt.job.cast.names) >= {"Mr. Bennet", "Mrs. Bennet", "Lizzy", "Mr. Bingley"}
    assert all(len(mentions) >= 2 for mentions in excerpt.key)
    assert {q.speaker for q in excerpt.quotes} <= set(range(-1, len(excerpt.key)))


def test_the_weights_fit_the_features_and_say_what_they_are_made_of():
    rankers = load_rankers()
    assert set(rankers) == set(HIDDEN)
    assert {len(r.mean) for r in rankers.values()} == {len(FEATURES)}
    about = json.loads(WEIGHTS.with_suffix(".json").read_text(encoding="utf-8"))
    assert about["features"] == list(FEATURES)
    assert "CC BY 4.0" in about["licence_of_data"]
    assert WEIGHTS.stat().st_size < 1_000_000


@pytest.mark.parametrize(
    "content", [random.Random(1).randbytes(100), b"", WEIGHTS.read_bytes()[:1000], WEIGHTS.read_bytes()[:-30]]
)
def test_damaged_weights_are_named(tmp_path, content):
    path = tmp_path / "w.npz"
    path.write_bytes(content)
    with pytest.raises(FormatError, match=r"w.npz does not hold the rankers"):
        load_rankers(path)


@pytest.mark.long
def test_annotation_is_the_same_every_time():
    gold = sample_book()
    cast = make_cast(c.name for c in gold.characters)
    first, second = (annotate_book(Source(bare(gold)), cast, PLAN).state for _ in range(2))
    assert first == second
