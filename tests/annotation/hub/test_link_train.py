"""The link reader is trained on LitBank: what it learns from, what it learns, what is written."""

from __future__ import annotations

import json
import random

import pytest

import bookcoref_data as bc
from bookcoref_data.annotation.hub.lessons import as_sample, cluster_name, lessons_of, parts_of
from bookcoref_data.errors import UsageError
from bookcoref_data.workflows.link_train import read_parts
from tests.faults.workplace import write_litbank

torch = pytest.importorskip("torch", reason="the extra gpu is not installed")

from bookcoref_data.annotation.hub.reader import Reader  # noqa: E402
from bookcoref_data.annotation.hub.training import _groups, varied  # noqa: E402

CPU = torch.device("cpu")


@pytest.fixture
def litbank(tmp_path):
    return write_litbank(tmp_path / "litbank")


def test_people_with_a_name_are_the_cast_without_pronouns_and_places(litbank):
    book = read_parts(litbank)["train"][0]
    found = {c.name: [book.text_of(m) for m in c.mentions] for c in book.characters}
    assert found == {"Anna Brown": ["Anna Brown", "Anna"], "Brown": ["Brown", "the hare", "Brown"]}
    assert cluster_name([["Tom"], ["Tom"], ["Tom", "Sawyer"]]) == "Tom Sawyer"
    assert cluster_name([["Tom"], ["Tom"], ["Tom"], ["Mr.", "Tom", "Sawyer"]]) == "Tom"


def test_a_sample_has_the_fields_that_the_public_reader_trains_on(litbank):
    sample = as_sample(next(lessons_of(read_parts(litbank)["dev"][0])))
    text = sample["text"]
    assert [(text[a:b], name) for a, b, name in sample["window_labels"]] == [
        ("Anna Brown", "Anna Brown"), ("Anna", "Anna Brown"), ("Brown", "Brown"), ("the hare", "Brown"),
        ("Brown", "Brown"),
    ]  # fmt: skip
    starts, ends = sample["token2char_start"], sample["token2char_end"]
    assert [text[starts[str(i)] : ends[str(i)]] for i in range(len(sample["tokens"]))] == sample["tokens"]
    assert all(sample["char2token_start"][str(at)] == int(i) for i, at in starts.items())
    assert sample["span_candidates"] == ["Anna Brown", "Brown"]


def test_windows_cover_the_document_and_cut_no_sentence(litbank):
    book = read_parts(litbank)["dev"][0]
    lessons = list(lessons_of(book, 10))
    assert [word for lesson in lessons for word in lesson.words] == list(book.tokens)
    assert len(lessons) > 1
    assert sum(len(lesson.links) for lesson in lessons) == 5


def test_ten_documents_each_are_kept_for_dev_and_test(litbank):
    parts = parts_of([f"{i:03}" for i in range(100)])
    assert {part: len(names) for part, names in parts.items()} == {"train": 80, "dev": 10, "test": 10}
    assert len({name for names in parts.values() for name in names}) == 100
    with pytest.raises(UsageError, match="too few documents"):
        read_parts(write_litbank(litbank.parent / "two", 2))


@pytest.mark.parametrize("model", ["tiny/reader", "tiny/reader-bin"])
def test_the_loss_falls_and_links_are_learned(offline_hub, litbank, model, device):
    reader = Reader.load(model, device=device)
    lesson = next(lessons_of(read_parts(litbank)["train"][0]))
    (row,) = reader.rows(lesson.words, lesson.names)
    weights = reader.weights()
    optimizer = torch.optim.Adam(weights.values(), lr=1e-2)
    reader.learn(True)
    reader._encoder.eval()
    reader._dropout, losses = 0.0, []
    for _ in range(150):
        optimizer.zero_grad()
        loss = reader.loss(row, lesson.links)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    reader.learn(False)
    assert losses[-1] < 0.5 < losses[0]
    found = {link[:3] for link in reader.read(lesson.words, lesson.names)}
    assert found == set(lesson.links)
    assert not any(weight.requires_grad for weight in weights.values())


def test_names_that_are_missing_stand_for_somebody_else(litbank):
    lesson = next(lessons_of(read_parts(litbank)["train"][0]))
    spans = [link[:2] for link in lesson.links]
    missed = 0
    for seed in range(200):
        other = varied(lesson, random.Random(seed))
        assert [link[:2] for link in other.links] == spans
        for (*_, old), (*_, new) in zip(lesson.links, other.links, strict=True):
            assert new == -1 or other.names[new] == lesson.names[old]
        missed += len(other.names) < len(lesson.names)
    assert 0 < missed < 30


def test_deeper_layers_learn_more_slowly(offline_hub):
    reader = Reader.load("tiny/reader", device=CPU)
    groups = _groups(reader.weights())
    assert [group["lr"] for group in groups] == pytest.approx([1e-4, 0.9e-4, 0.81e-4, 0.729e-4])
    assert sum(len(group["params"]) for group in groups) == len(reader.weights())


def test_two_steps_give_a_reader_that_the_pipeline_loads(offline_hub, litbank, tmp_path, fits_schema):
    """Also the written scores are those of the written reader."""
    before = Reader.load("tiny/reader", device=CPU).weights()
    done = bc.link_train(litbank, tmp_path / "out", model="tiny/reader", steps=2, epochs=1)
    fits_schema("link-train", json.loads(json.dumps(done.to_dict())))
    assert (done.steps, len(done.losses), done.device) == (2, 2, "cpu")
    assert all(loss > 0 for loss in done.losses)
    written = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"train.jsonl", "dev.jsonl", "test.jsonl", "model.safetensors", "config.json"} <= written
    after = Reader.load(str(tmp_path / "out"), device=CPU)
    moved = [name for name, weight in after.weights().items() if not weight.equal(before[name])]
    assert len(moved) > 10
    row = done.parts[2]
    assert row["part"] == "test"
    assert 0 <= row["f1"] <= 100
    again = bc.link_train(litbank, tmp_path / "again", model="tiny/reader", steps=2, epochs=1)
    assert again.losses == done.losses
    other = bc.link_train(litbank, tmp_path / "other", model="tiny/reader", steps=2, seed=1)
    assert other.losses != done.losses
