"""The network of the package is taught with torch: numpy reads what was learned."""

from __future__ import annotations

import numpy as np
import pytest

from bookcoref_data.annotation.cast import parse_cast
from bookcoref_data.annotation.embedded import minilm
from bookcoref_data.annotation.embedded.minilm import MiniLM
from bookcoref_data.annotation.embedded.parsing import parse_book
from bookcoref_data.annotation.embedded.pointing import FIRST, KINDS, LONGEST, SLOTS, OwnPointer, Stored
from tests.annotation.test_scene_lessons import CAST, STORY, write_vocabulary
from tests.annotation.test_scenes import tensors
from training.parses import link_text
from training.scene_lessons import NOBODY, Known, LessonWindows, Library

torch = pytest.importorskip("torch", reason="the extra gpu is not installed")
pytestmark = pytest.mark.usefixtures("one_thread")

from training import pointing, scenes  # noqa: E402

SIZE = 32


@pytest.fixture(scope="module")
def types() -> pointing.Types:
    return pointing.Types()


@pytest.fixture(scope="module")
def library(book_of, types) -> Library:
    book = book_of(STORY)
    text = link_text(book, parse_cast(CAST), parse_book(book))
    he = {i: 1 for i, token in enumerate(book.tokens) if token == "he"}
    windows = LessonWindows(Known(text, (), [], he), types)
    return Library([windows], [windows], [windows])


@pytest.fixture(scope="module")
def words(tmp_path_factory) -> minilm.WordPieces:
    path = tmp_path_factory.mktemp("base") / "vocab.txt"
    return write_vocabulary(path, [*scenes.NAMES.split(), "look", "##ed"]).words


@pytest.fixture
def known(library, types, monkeypatch) -> list[str]:
    monkeypatch.setattr(pointing, "LEAST_COUNT", 4)  # the story is there three times
    monkeypatch.setattr(pointing, "LEAST_BOOKS", 1)
    monkeypatch.setattr(pointing, "LEAST_OF_ENDING", 3)
    for token in pointing._MUST:
        types.ids(token)
    return pointing.vocabulary_of(library, types)


@pytest.fixture
def tables(types, known, words) -> pointing.Tables:
    return pointing.Tables.of(types, known, words)


@pytest.fixture
def net(types, known) -> pointing.Net:
    torch.manual_seed(1)
    count = FIRST + len(known) + 3 * SLOTS
    return pointing.Net(
        count, len(types.tags), len(types.relations), size=SIZE, inner=48, layers=2, of_teacher=8
    )


@pytest.fixture
def teacher(words) -> scenes.Pupil:
    """A teacher with random numbers, and the model in numpy that it was made of."""
    base, taught = tensors(np.random.default_rng(5))
    pieces, of_base = len(words._ids), np.random.default_rng(6)
    base["embeddings.word_embeddings.weight"] = of_base.normal(0, 0.5, (pieces, 8)).astype(np.float32)
    model = MiniLM(words, base, taught, heads=2)
    places = {"embeddings.position_embeddings.weight": np.zeros((512, 8), np.float32)}
    model._places = np.concatenate([model._places, np.zeros((64, 8), np.float32)])
    norms = {
        f"{of}.LayerNorm.{kind}": np.zeros(8, np.float32)
        for of in (
            "embeddings",
            *(f"encoder.layer.{n}.{at}" for n in (0, 1) for at in scenes._NORMS.values()),
        )
        for kind in ("weight", "bias")
    }
    norms = {name.replace("LayerNorm.LayerNorm", "LayerNorm"): part for name, part in norms.items()}
    biases = {
        name.replace("weight", "bias"): np.zeros(len(part), np.float32)
        for name, part in base.items()
        if name.startswith("encoder")
    }
    found = pointing.teacher_of(model, base | places | norms | biases, words)
    found.model = model
    return found


def drawn(library, tables, count=6):
    return pointing.doubled([library.draw(np.random.default_rng(seed)) for seed in range(count)], tables)


def as_tensors(given) -> pointing.Doubled:
    batch, *rest = given
    return pointing.Doubled(type(batch)(*map(torch.from_numpy, batch)), *map(torch.from_numpy, rest))


def test_rare_words_are_known_by_how_they_end(library, types, known, tables):
    assert {"he", "said", "mr.", "“"} <= set(known)
    assert "horse" not in known  # once in the story
    assert "~" in known
    horse = FIRST + types.number["horse"]
    assert known[tables.ours[horse] - FIRST] in ("~", "~rse", "~se")
    slots = tables.ours[-3 * SLOTS :]
    assert slots.tolist() == list(range(FIRST + len(known), FIRST + len(known) + 3 * SLOTS))


def test_network_and_teacher_see_the_same_window(library, types, words, known, tables):
    given = drawn(library, tables)
    word = {number: name for name, number in types.number.items()}
    piece = {number: name for name, number in words._ids.items()}
    lesson = library.draw(np.random.default_rng(0))
    row = given.pieces[0]
    for place, number in enumerate(lesson.words):
        at = given.begins[0, place]
        if FIRST <= number < pointing._SLOT:
            expected = words.pieces(word[number - FIRST]) or (words._ids["[UNK]"],)
            assert tuple(row[at : at + len(expected)] - FIRST) == expected
        else:
            assert row[at] == (
                number if number < FIRST else number - pointing._SLOT + FIRST + len(words._ids)
            )
    assert piece[row[given.begins[0, lesson.words.index(FIRST + types.number["up"])]] - FIRST] == "up"
    assert given.batch.words.shape == (6, LONGEST)
    assert np.array_equal(given.grammar[0, :, : len(lesson.words)], lesson.grammar)


def test_a_window_that_is_too_long_for_the_teacher_is_cut(library, tables, monkeypatch):
    monkeypatch.setattr(pointing, "_PIECES", 40)
    given = drawn(library, tables)
    assert given.pieces.shape[1] == 40
    for n in range(6):
        size = int((given.batch.words[n] >= 0).sum())
        assert size <= 40
        for places in (given.batch.named, given.batch.asked, given.batch.marks):
            assert places[n, :, 0].max() < size
        assert given.grammar[n, 3, :size].max() < size


def test_the_teacher_in_torch_is_the_model_in_numpy(teacher, library, tables):
    given = drawn(library, tables)
    row = given.pieces[0][given.pieces[0] >= 0]
    with torch.no_grad():
        found = teacher.read(torch.from_numpy(row[None]))[0].numpy()
    expected = teacher.model.read(row, np.zeros((4, 0)), np.arange(len(row)))
    assert np.abs(found - expected).max() < 0.01


def test_what_is_learned_is_written_and_read_by_the_package(
    net, teacher, library, types, known, tables, tmp_path
):
    given = as_tensors(drawn(library, tables))
    before = float(pointing.loss_of(net.eval(), teacher, given, 0.5).detach())
    pointing.teach(net, teacher, library, tables, steps=60, size=4)
    assert float(pointing.loss_of(net.eval(), teacher, given, 0.5).detach()) < 0.9 * before
    np.savez_compressed(tmp_path / "own.npz", **pointing.stored(net, known, types))
    with np.load(tmp_path / "own.npz", allow_pickle=False) as data:
        own = OwnPointer(Stored(data))
    assert own.tags == types.tags
    assert [own.ids(word) for word in ("he", "Said")] == [
        (FIRST + known.index(word),) for word in ("he", "said")
    ]
    batch, grammar = given.batch, given.grammar
    with torch.no_grad():
        x = net.read(batch.words, grammar)
        theirs = torch.log_softmax(net.ask(x, batch.named, batch.marks), -1).exp().numpy()
    for n in range(6):
        size = int((batch.words[n] >= 0).sum())
        ours = own.read(batch.words[n, :size].tolist(), grammar[n, :, :size].numpy(), np.arange(size))
        assert np.abs(ours - x[n, :size].numpy()).max() < 0.15  # 8-bit numbers
        places, owner = batch.named[n][batch.named[n, :, 0] >= 0].numpy().T
        for kind in range(KINDS):
            rows = np.flatnonzero((batch.marks[n, :, 1] == kind).numpy())
            says = np.exp(own.points(ours[batch.marks[n, rows, 0].numpy()], kind, ours[places], owner))
            people = [*range(says.shape[1] - 1), NOBODY]
            assert np.abs(says - theirs[n][np.ix_(rows, people)]).max(initial=0) < 0.05


def test_steps_of_muon_are_of_one_length_in_every_direction():
    matrix = torch.randn(3, 12, 5, generator=torch.manual_seed(3)) * torch.tensor([9.0, 3.0, 1.0, 0.5, 0.2])
    values = torch.linalg.svdvals(pointing.whitened(matrix))
    assert values.min() > 0.5
    assert values.max() < 1.4
