"""Regression trees of the rankers: what they learn, and that they answer as they were grown."""

from __future__ import annotations

import numpy as np
import pytest

from bookcoref_data.annotation.embedded.network import LEAVES, Forest, Ranker, load_rankers
from bookcoref_data.errors import FormatError
from training.train import Question, accuracy, mix
from training.trees import fit_forest
from training.weights import save_rankers

WIDTH = 6


def questions(count: int, seed: int = 0) -> list[Question]:
    """Questions whose right candidate is the only one with a first feature between 1 and 2."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        x = rng.normal(size=(4, WIDTH)).astype(np.float32)
        x[:, 0] = rng.choice([0.5, 2.5], 4)
        right = int(rng.integers(4))
        x[right, 0] = 1.5
        found.append(Question(x, right))
    return found


def grow(asked: list[Question], trees: int = 60, seed: int = 1) -> Forest:
    right, weight = np.array([q.right for q in asked]), np.array([q.weight for q in asked])
    return fit_forest([q.x for q in asked], right, weight, seed, trees)


@pytest.fixture(scope="module")
def forest() -> Forest:
    return grow(questions(300))


def by_hand(forest: Forest, row: np.ndarray) -> float:
    """The score of a row, tree by tree and split by split."""
    total = 0.0
    for t in range(len(forest.value)):
        open_ = set(range(LEAVES))
        for k in range(LEAVES - 1):
            if row[forest.feature[k, t]] > forest.threshold[k, t]:
                open_ -= {leaf for leaf in range(LEAVES) if forest.out[k, t] >> leaf & 1}
        total += float(forest.value[t, min(open_)])
    return total


def nothing(width: int = WIDTH) -> Ranker:
    """A network that scores every row 0."""
    return Ranker(
        np.zeros(width, np.float32),
        np.ones(width, np.float32),
        np.zeros((width, 1), np.float32),
        np.zeros(1, np.float32),
        np.zeros(1, np.float32),
    )


def test_trees_learn_what_lies_between_two_thresholds(forest):
    new = questions(200, seed=5)
    assert accuracy(mix(nothing(), forest, 1.0), new) == 1.0
    assert accuracy(nothing(), new) < 0.5


def test_all_splits_asked_at_once_give_what_each_gives_by_itself(forest):
    x = np.random.default_rng(3).normal(1.5, 1.0, size=(50, WIDTH)).astype(np.float32)
    np.testing.assert_allclose(forest.scores(x), [by_hand(forest, row) for row in x], rtol=1e-4, atol=1e-6)


def test_a_question_that_weighs_nothing_teaches_nothing():
    asked = questions(100)
    wrong = [Question(q.x, (q.right + 1) % 4, 0.0) for q in questions(300, seed=2)]
    new = questions(100, seed=9)
    assert accuracy(mix(nothing(), grow([*asked, *wrong]), 1.0), new) == 1.0


def test_the_same_seed_grows_the_same_trees(forest):
    again, other = grow(questions(300)), grow(questions(300), seed=2)
    assert np.array_equal(again.value, forest.value)
    assert np.array_equal(again.feature, forest.feature)
    assert not np.array_equal(other.feature, forest.feature)


def test_a_mixed_score_has_both_shares(forest):
    asked = questions(100)
    network = nothing()
    network = Ranker(network.mean, network.scale, np.ones((WIDTH, 1), np.float32), network.b1, np.ones(1))
    mixed = mix(network, forest, 0.7)
    for q in asked:
        expected = 0.3 * network.scores(q.x) + 0.7 * forest.scores(q.x)
        np.testing.assert_allclose(mixed.scores(q.x), expected, rtol=1e-4, atol=1e-5)


def test_hidden_units_taken_some_at_a_time_give_what_all_give_at_once():
    chance = np.random.default_rng(4)
    mean, scale, w1, b1, w2 = (
        chance.normal(size=size).astype(np.float32) for size in (WIDTH, WIDTH, (WIDTH, 250), 250, 250)
    )
    x = chance.normal(size=(6, WIDTH)).astype(np.float32)
    expected = np.maximum((x - mean) * scale @ w1 + b1, 0) @ w2
    np.testing.assert_allclose(Ranker(mean, scale, w1, b1, w2).scores(x), expected, rtol=1e-4, atol=1e-3)


def test_trees_alone_keep_no_network(forest):
    alone = mix(nothing(), forest, 1.0)
    assert alone.w1.shape == (WIDTH, 0)
    for q in questions(20):
        np.testing.assert_array_equal(alone.scores(q.x), forest.scores(q.x))


@pytest.mark.parametrize("share", [0.5, 1.0])
def test_trees_are_stored_with_their_ranker(forest, tmp_path, share):
    path = tmp_path / "w.npz"
    mixed = mix(nothing(), forest, share)
    save_rankers(path, {"third": mixed, "speaker": nothing()})
    loaded = load_rankers(path)
    x = questions(1)[0].x
    assert np.array_equal(loaded["third"].scores(x), mixed.scores(x))
    assert loaded["speaker"].forest is None
    first = path.read_bytes()
    save_rankers(path, loaded)
    assert path.read_bytes() == first


@pytest.mark.parametrize(
    ("part", "wrong"),
    [
        ("feature", lambda a: a + WIDTH),
        ("feature", lambda a: a - WIDTH),
        ("threshold", lambda a: a[:-1]),
        ("out", lambda a: a[:, :-1]),
        ("value", lambda a: a[:, :-1]),
    ],
)
def test_trees_of_another_shape_are_refused(forest, tmp_path, part, wrong):
    path = tmp_path / "w.npz"
    save_rankers(path, {"third": mix(nothing(), forest, 0.5)})
    with np.load(path) as stored:
        arrays = dict(stored)
    arrays[f"third.forest.{part}"] = wrong(arrays[f"third.forest.{part}"])
    np.savez(path, **arrays)
    with pytest.raises(FormatError, match=r"(?s)w.npz does not hold the rankers.*'third'"):
        load_rankers(path)


def test_a_ranker_without_one_array_of_its_trees_is_refused(forest, tmp_path):
    path = tmp_path / "w.npz"
    save_rankers(path, {"third": mix(nothing(), forest, 0.5)})
    with np.load(path) as stored:
        arrays = {name: a for name, a in stored.items() if name != "third.forest.value"}
    np.savez(path, **arrays)
    with pytest.raises(FormatError, match=r"w.npz does not hold the rankers"):
        load_rankers(path)


def test_numbers_below_the_normal_range_are_taken_for_nothing(tmp_path):
    w1 = np.array([[1e-40, 0.5], [2.0, -1e-40]], dtype=np.float32)
    ranker = Ranker(np.zeros(2), np.ones(2), w1, np.zeros(2), np.ones(2))
    path = tmp_path / "weights.npz"
    save_rankers(path, {"third": ranker})
    known = load_rankers(path)["third"]
    assert known.w1.tolist() == [[0, 0.5], [2, 0]]
    x = np.array([[1, 2], [3, 4]], dtype=np.float32)
    assert known.scores(x).tolist() == ranker.scores(x).tolist()
